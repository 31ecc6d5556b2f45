/* SPDX-License-Identifier: MIT */
/* One worker process as its parent sees it, and the frames that both ends speak. */
#ifndef SIM_STUDY_WORKER_H
#define SIM_STUDY_WORKER_H

#include <stdio.h>
#include <sys/types.h>

#include "study/pool.h"

/* Bytes that arrived and are not used up. */
struct inbox {
    char *data;
    size_t n, room;
};

struct worker {
    pid_t pid; /* 0: no process */
    int to, from, err;
    bool busy;
    struct pool_job job;
    struct inbox answer, report;
};

/* Forks. `others` are the workers whose pipes the child must not keep open, or a dead parent would
 * go unnoticed. 0, or -1 with errno. */
int worker_start(struct worker *w, const struct worker *others, int nothers,
                 const struct pool_ops *ops, void *arg);
/* 0, or -1 when the worker is gone. */
int worker_give(struct worker *w, struct pool_job job);
/* Reads what is there without waiting: 1 something, 0 nothing, -1 end of file. */
int worker_read(int fd, struct inbox *in);
/* Takes a whole frame out of the inbox: malloc'ed text in *text, or NULL when it is not complete.
 * False when what arrived is no frame. */
bool inbox_frame(struct inbox *in, char **text);
/* Kills if asked to, closes, waits; the wait status. */
int worker_end(struct worker *w, bool kill_it);

#endif
