/* SPDX-License-Identifier: MIT */
/* The parent's side of the pool: who has which job, what came back, who died. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/worker.h"

#define TICK_MS    100
#define MAX_REPORT ((size_t)64 << 10)

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
    caught = sig;
}

struct signals {
    struct sigaction interrupt, terminate, pipe;
};

static void catch_signals(struct signals *old)
{
    struct sigaction sa = {.sa_handler = on_signal};

    caught = 0;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGINT, &sa, &old->interrupt);
    sigaction(SIGTERM, &sa, &old->terminate);
    sa.sa_handler = SIG_IGN; /* a worker that died is seen by its end of file */
    sigaction(SIGPIPE, &sa, &old->pipe);
}

static void restore_signals(const struct signals *old)
{
    sigaction(SIGINT, &old->interrupt, NULL);
    sigaction(SIGTERM, &old->terminate, NULL);
    sigaction(SIGPIPE, &old->pipe, NULL);
}

struct pool {
    const struct pool_ops *ops;
    void *arg;
    struct worker *worker;
    struct pollfd *fds; /* two per worker */
    int n;
    int status; /* why we stop, 0 while we do not */
    char *error;
    size_t error_size;
};

static int finish_job(struct pool *p, struct worker *w, const char *answer)
{
    const char *body = strchr(answer, '\n');
    int64_t wall_ms;
    int status;

    w->busy = false;
    if (body && sscanf(answer, "ok %" SCNd64, &wall_ms) == 1)
        return p->ops->done(p->arg, w->job, body + 1, wall_ms);
    if (body && sscanf(answer, "error %d", &status) == 1)
        return p->ops->failed(p->arg, w->job, status, body + 1);
    return p->ops->failed(p->arg, w->job, 70, "the worker's answer cannot be understood");
}

/* What the worker said on stderr, then how it ended. */
static char *obituary(struct worker *w, int status)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    if (w->report.n > 0) {
        fwrite(w->report.data, 1, w->report.n, out);
        if (w->report.data[w->report.n - 1] != '\n')
            fputc('\n', out);
    }
    if (WIFSIGNALED(status))
        fprintf(out, "the worker was ended by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(out, "the worker ended with status %d\n", WEXITSTATUS(status));
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return text;
}

static void bury(struct pool *p, struct worker *w)
{
    const bool busy = w->busy;
    int status;
    char *report;

    while (worker_read(w->err, &w->report) > 0 && w->report.n < MAX_REPORT)
        ;
    status = worker_end(w, true);
    if (!busy)
        return;
    /* A worker that gets here alive broke the protocol; SIGKILL is then ours. */
    report = obituary(w, status);
    p->status = p->ops->failed(p->arg, w->job,
                               WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                               report ? report : "out of memory");
    free(report);
}

/* Takes what has arrived from a worker. Data before the end of file counts. */
static void listen_to(struct pool *p, struct worker *w)
{
    int got;

    while ((got = worker_read(w->err, &w->report)) > 0)
        if (w->report.n > MAX_REPORT)
            w->report.n = MAX_REPORT;
    if (got < 0) { /* it closed its stderr; poll overlooks -1 */
        close(w->err);
        w->err = -1;
    }
    do {
        char *answer;

        got = worker_read(w->from, &w->answer);
        if (!inbox_frame(&w->answer, &answer))
            got = -1;
        else if (answer)
            p->status = finish_job(p, w, answer);
        free(answer);
    } while (got > 0 && p->status == 0);
    if (got < 0 && p->status == 0)
        bury(p, w);
}

static bool start(struct pool *p, struct worker *w)
{
    if (worker_start(w, p->worker, p->n, p->ops, p->arg) == 0)
        return true;
    snprintf(p->error, p->error_size, "cannot start a worker: %s", strerror(errno));
    p->status = 3;
    return false;
}

static void hand_out(struct pool *p)
{
    for (int i = 0; i < p->n && p->status == 0; i++) {
        struct worker *w = &p->worker[i];
        struct pool_job job;

        if (w->busy)
            continue;
        if (!p->ops->next(p->arg, &job))
            return;
        if (!w->pid && !start(p, w))
            return;
        if (worker_give(w, job) != 0)
            bury(p, w);
    }
}

static int watch(struct pool *p)
{
    int n = 0;

    for (int i = 0; i < p->n; i++) {
        if (!p->worker[i].pid)
            continue;
        p->fds[n++] = (struct pollfd){.fd = p->worker[i].from, .events = POLLIN};
        p->fds[n++] = (struct pollfd){.fd = p->worker[i].err, .events = POLLIN};
    }
    return n;
}

static bool any_busy(const struct pool *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->worker[i].busy)
            return true;
    return false;
}

static void listen_to_all(struct pool *p)
{
    for (int i = 0; i < p->n && p->status == 0; i++)
        if (p->worker[i].pid)
            listen_to(p, &p->worker[i]);
}

static void loop(struct pool *p)
{
    hand_out(p);
    while (p->status == 0 && (any_busy(p) || (p->ops->more && p->ops->more(p->arg)))) {
        poll(p->fds, (nfds_t)watch(p), TICK_MS);
        listen_to_all(p);
        if (p->status == 0 && caught)
            p->status = 128 + caught;
        if (p->ops->tick)
            p->ops->tick(p->arg);
        hand_out(p);
    }
}

int pool_run(const struct pool_ops *ops, void *arg, int workers, char *error, size_t error_size)
{
    struct pool p = {
        .ops = ops, .arg = arg, .n = workers, .error = error, .error_size = error_size};
    struct signals old;

    p.worker = calloc((size_t)workers, sizeof(*p.worker));
    p.fds = calloc(2 * (size_t)workers, sizeof(*p.fds));
    if (!p.worker || !p.fds) {
        snprintf(error, error_size, "out of memory");
        p.status = 3;
    } else {
        catch_signals(&old);
        loop(&p);
        for (int i = 0; i < workers; i++) {
            worker_end(&p.worker[i], p.status != 0);
            free(p.worker[i].answer.data);
            free(p.worker[i].report.data);
        }
        restore_signals(&old);
    }
    free(p.worker);
    free(p.fds);
    return p.status;
}
