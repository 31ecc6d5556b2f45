/* SPDX-License-Identifier: MIT */
/*
 * Which tasks and which part of the recording go into the program.
 */
#include "traces/select.h"

#include <stdlib.h>
#include <string.h>

/* `list` is "name,TID,...": a whole name or a whole TID. */
static bool in_list(const struct model_task *t, const char *list)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        struct slice item = {p, n};
        size_t at = 0;
        int tid;
        if (n == t->comm_len && memcmp(p, t->comm, n) == 0)
            return true;
        if (slice_int(item, &at, &tid) && at == n && tid == t->tid)
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

static bool wanted(const struct model_task *t, const struct trace_import_options *o)
{
    if (o->comm) {
        size_t n = strlen(o->comm);
        if (t->comm_len < n || memcmp(t->comm, o->comm, n) != 0)
            return false;
    }
    return (!o->tasks || in_list(t, o->tasks)) && t->run_total >= o->min_run;
}

struct rank {
    ns_t run;
    int index;
};

static int by_run(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->run != y->run)
        return x->run > y->run ? -1 : 1;
    return x->index - y->index;
}

bool select_tasks(struct selection *s, const struct model *m, const struct trace_import_options *o,
                  struct trace_import_counts *c)
{
    memset(s, 0, sizeof(*s));
    s->in = calloc(m->tasks + 1, sizeof(*s->in));
    s->index = calloc(m->tasks + 1, sizeof(*s->index));
    struct rank *rank = calloc(m->tasks + 1, sizeof(*rank));
    if (!s->in || !s->index || !rank) {
        free(rank);
        select_free(s);
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->tasks; i++) {
        c->tasks_seen++;
        if (m->task[i].run_total == 0)
            c->never_ran++;
        else if (!wanted(&m->task[i], o))
            c->not_selected++;
        else
            rank[n++] = (struct rank){m->task[i].run_total, (int)i};
    }
    qsort(rank, n, sizeof(*rank), by_run);
    for (size_t i = 0; i < n; i++) {
        if (i < (size_t)o->max_tasks)
            s->in[rank[i].index] = true;
        else
            c->not_selected++;
    }
    for (size_t i = 0; i < m->tasks; i++)
        if (s->in[i])
            s->index[s->n++] = (int)i;
    free(rank);
    return true;
}

void select_free(struct selection *s)
{
    free(s->in);
    free(s->index);
    memset(s, 0, sizeof(*s));
}

void select_window(struct selection *s, const struct model *m, size_t max_ops)
{
    s->start = s->cut = NS_NEVER;
    s->end = 0;
    for (size_t k = 0; k < s->n; k++) {
        const struct model_task *t = &m->task[s->index[k]];
        ns_t full = t->ops > max_ops ? t->op[max_ops].end : t->full_at;
        if (full < s->cut)
            s->cut = full;
        if (t->start < s->start)
            s->start = t->start;
    }
    for (size_t k = 0; k < s->n; k++) {
        const struct model_task *t = &m->task[s->index[k]];
        struct model_op op;
        for (size_t i = 0; i < t->ops; i++)
            if (t->op[i].kind == MODEL_RUN && select_op(s, &t->op[i], &op) && op.end > s->end)
                s->end = op.end;
    }
    if (s->end < s->start)
        s->end = s->start;
}

bool select_op(const struct selection *s, const struct model_op *op, struct model_op *kept)
{
    *kept = *op;
    if (op->end < s->cut)
        return true;
    if (op->kind != MODEL_RUN || op->start >= s->cut)
        return false;
    kept->end = s->cut;
    if (kept->run > kept->end - kept->start)
        kept->run = kept->end - kept->start;
    return kept->run > 0;
}
