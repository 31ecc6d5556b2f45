/* SPDX-License-Identifier: MIT */
/* The worker's side of the pool, and the pipes between it and its parent. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "study/worker.h"

#define HEAD         8
#define MAX_FRAME    ((size_t)1 << 30)
#define MESSAGE_SIZE 4096

static bool write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(fd, data, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        n -= (size_t)done;
    }
    return true;
}

static bool read_all(int fd, char *data, size_t n)
{
    while (n > 0) {
        const ssize_t done = read(fd, data, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        n -= (size_t)done;
    }
    return true;
}

static bool send_frame(int fd, const char *head, const char *body)
{
    const size_t nhead = strlen(head), nbody = strlen(body);
    char length[24];

    snprintf(length, sizeof(length), "%08zx", nhead + nbody);
    return write_all(fd, length, HEAD) && write_all(fd, head, nhead) && write_all(fd, body, nbody);
}

static bool parse_length(const char *head, size_t *n)
{
    *n = 0;
    for (int i = 0; i < HEAD; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = head[i] ? strchr(digits, head[i]) : NULL;

        if (!at)
            return false;
        *n = *n * 16 + (size_t)(at - digits);
    }
    return *n <= MAX_FRAME;
}

static bool receive_job(int fd, struct pool_job *job)
{
    char head[HEAD], text[64];
    size_t n;

    if (!read_all(fd, head, HEAD) || !parse_length(head, &n) || n >= sizeof(text) ||
        !read_all(fd, text, n))
        return false;
    text[n] = '\0';
    return sscanf(text, "%zu %" SCNd64, &job->point, &job->replication) == 2;
}

static int64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Ends with the parent's pipe: no other way out but a crash. */
static _Noreturn void work(int in, int out, const struct pool_ops *ops, void *arg)
{
    struct pool_job job;

    while (receive_job(in, &job)) {
        char error[MESSAGE_SIZE] = "";
        char head[64];
        char *text = NULL;
        const int64_t begin = clock_ms();
        const int status = ops->run(arg, job, &text, error, sizeof(error));
        bool sent;

        if (status == 0)
            snprintf(head, sizeof(head), "ok %" PRId64 "\n", clock_ms() - begin);
        else
            snprintf(head, sizeof(head), "error %d\n", status);
        sent = send_frame(out, head, status == 0 ? text : error);
        free(text);
        if (!sent)
            break;
    }
    _exit(0);
}

static _Noreturn void child(int in, int out, int err, pid_t parent, const struct pool_ops *ops,
                            void *arg)
{
    /* Ctrl-C goes to the whole group: the parent decides what it means. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(0); /* it died before we could ask to be told */
    dup2(err, STDERR_FILENO);
    close(err);
    work(in, out, ops, arg);
}

static int open_pipes(int p[3][2])
{
    for (int i = 0; i < 3; i++) {
        if (pipe(p[i]) == 0)
            continue;
        while (i-- > 0) {
            close(p[i][0]);
            close(p[i][1]);
        }
        return -1;
    }
    return 0;
}

static void close_pipes_of(const struct worker *w)
{
    if (w->pid == 0)
        return;
    close(w->to);
    close(w->from);
    close(w->err);
}

int worker_start(struct worker *w, const struct worker *others, int nothers,
                 const struct pool_ops *ops, void *arg)
{
    const pid_t parent = getpid();
    int p[3][2];

    if (open_pipes(p) != 0)
        return -1;
    fflush(NULL); /* or the child would write our buffers again */
    w->pid = fork();
    if (w->pid == 0) {
        for (int i = 0; i < nothers; i++)
            if (&others[i] != w)
                close_pipes_of(&others[i]);
        close(p[0][1]);
        close(p[1][0]);
        close(p[2][0]);
        child(p[0][0], p[1][1], p[2][1], parent, ops, arg);
    }
    const int why = errno;

    close(p[0][0]);
    close(p[1][1]);
    close(p[2][1]);
    w->to = p[0][1];
    w->from = p[1][0];
    w->err = p[2][0];
    w->busy = false;
    w->answer.n = w->report.n = 0;
    if (w->pid > 0) {
        fcntl(w->from, F_SETFL, O_NONBLOCK);
        fcntl(w->err, F_SETFL, O_NONBLOCK);
        return 0;
    }
    w->pid = 1; /* the pipes are open */
    close_pipes_of(w);
    w->pid = 0;
    errno = why;
    return -1;
}

int worker_give(struct worker *w, struct pool_job job)
{
    char text[64];

    snprintf(text, sizeof(text), "%zu %" PRId64, job.point, job.replication);
    w->job = job;
    w->busy = true;
    w->report.n = 0;
    return send_frame(w->to, text, "") ? 0 : -1;
}

int worker_read(int fd, struct inbox *in)
{
    ssize_t n;

    if (in->n + 65536 > in->room) {
        const size_t room = in->room ? 2 * in->room : 131072;
        char *data = realloc(in->data, room);

        if (!data)
            return -1;
        in->data = data;
        in->room = room;
    }
    do
        n = read(fd, in->data + in->n, 65536);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        in->n += (size_t)n;
    return n > 0 ? 1 : n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

bool inbox_frame(struct inbox *in, char **text)
{
    size_t n;

    *text = NULL;
    if (in->n < HEAD)
        return true;
    if (!parse_length(in->data, &n))
        return false;
    if (in->n < HEAD + n)
        return true;
    *text = malloc(n + 1);
    if (!*text)
        return false;
    memcpy(*text, in->data + HEAD, n);
    (*text)[n] = '\0';
    in->n -= HEAD + n;
    memmove(in->data, in->data + HEAD + n, in->n);
    return strlen(*text) == n;
}

int worker_end(struct worker *w, bool kill_it)
{
    int status = 0;

    if (w->pid == 0)
        return 0;
    if (kill_it)
        kill(w->pid, SIGKILL);
    close_pipes_of(w);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    w->pid = 0;
    w->busy = false;
    return status;
}
