/* SPDX-License-Identifier: MIT */
/* The life of a workload ends here; how one is built is the affair of its reader. */
#include "guest/program.h"

#include <stdlib.h>

static void free_task(struct task_spec *t)
{
    for (int i = 0; i < t->nops; i++)
        dist_free(&t->op[i].amount);
    dist_free(&t->start_dist);
    free(t->op);
    free(t->name);
}

static void free_names(char **name, int n)
{
    for (int i = 0; i < n; i++)
        free(name[i]);
    free(name);
}

static void free_objects(struct workload *w)
{
    for (int i = 0; i < w->nlocks; i++)
        free(w->lock[i].name);
    for (int i = 0; i < w->nbarriers; i++)
        free(w->barrier[i].name);
    for (int i = 0; i < w->nqueues; i++)
        free(w->queue[i].name);
    for (int i = 0; i < w->ndevices; i++) {
        free(w->device[i].name);
        dist_free(&w->device[i].service);
    }
    for (int i = 0; i < w->nspreads; i++)
        free(w->spread[i].name);
    for (int i = 0; i < w->nlines; i++)
        free(w->line[i].name);
    free(w->line);
    free(w->spread);
    free(w->lock);
    free(w->barrier);
    free(w->queue);
    free(w->device);
    free_names(w->cond, w->nconds);
    free_names(w->mark, w->nmarks);
}

void workload_free(struct workload *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->ntasks; i++)
        free_task(&w->task[i]);
    free(w->task);
    free_objects(w);
    free(w->name);
    free(w->summary);
    free(w->source);
    free(w->file);
    free(w);
}
