/* SPDX-License-Identifier: MIT */
/*
 * Sweeps: what a run costs beside being simulated, how long it takes to see that nothing is left to do,
 * and how the memory of the parent grows with the number of points.
 *
 * A sweep over a scenario of 60 ms, with one worker, into a store in a folder of its own. What is not
 * spent in run_replication is overhead: making the scenario, pipes, text, the store. Then the same sweep
 * once more, in a process of its own: reading and checking all points, and finding their runs. The number
 * of runs is the same every time, or the program fails.
 *
 * Usage: bench_sweep [POINTS]..., default 1000 10000, from the top of the source. CSV on stdout.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "study/study.h"

static char folder[] = "/tmp/tandem-bench-XXXXXX";
static double *simulating; /* s, of all workers */

struct sample {
    double checked, done; /* s */
    struct study_counts n;
    long rss_kib;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *in_folder(const char *name)
{
    static char path[2][100];
    static int next;

    next = !next;
    snprintf(path[next], sizeof(path[next]), "%s/%s", folder, name);
    return path[next];
}

static int timed_run(const struct scenario *s, uint64_t seed, int64_t replication,
                     struct run_values **out, char *error, size_t error_size)
{
    const double begin = seconds();
    const int status = run_replication(s, seed, replication, out, error, error_size);

    *simulating += seconds() - begin;
    return status;
}

/* Two axes, one of them with 100 values. */
static bool write_sweep(long points)
{
    FILE *out = fopen(in_folder("sweep.yaml"), "w");

    if (!out)
        return false;
    fprintf(out,
            "base:\n  machine: flat-8\n  duration: 60ms\n  warmup: 50ms\n  vms:\n"
            "    - {name: web, vcpus: 1, workload: ping}\n"
            "axes:\n  vms.web.weight: {from: 10, to: 1000, steps: 100}\n"
            "  host.tick: {from: 1, to: %ld, steps: %ld}\n",
            points / 100, points / 100);
    return fclose(out) == 0;
}

static int session(struct sample *out)
{
    const struct study_options o = {.workers = 1, .shard = 1, .shards = 1};
    const double begin = seconds();
    struct conf_errors e = {0};
    struct store_error err = {0};
    struct rusage usage;
    struct sweep *s = sweep_read(in_folder("sweep.yaml"), &e);
    struct study *st = s ? study_new(s, run_version(), "", &e) : NULL;
    struct store *store = st ? store_open(in_folder("sweep.db"), STORE_CREATE, &err) : NULL;
    int status = 3;

    conf_errors_print(&e, stderr);
    out->checked = seconds() - begin;
    if (store)
        status = study_run(st, store, &o, timed_run, &out->n, &err);
    store_close(store);
    out->done = seconds() - begin;
    if (status)
        fprintf(stderr, "bench_sweep: %s\n", err.text);
    getrusage(RUSAGE_SELF, &usage);
    out->rss_kib = usage.ru_maxrss;
    study_free(st);
    sweep_free(s);
    conf_errors_free(&e);
    return status;
}

static int measure(struct sample *out)
{
    int ends[2], status = 0;
    ssize_t got;
    pid_t pid;

    fflush(stdout);
    if (pipe(ends) != 0 || (pid = fork()) < 0) {
        perror("bench_sweep");
        return STATUS_IO;
    }
    if (pid == 0) {
        struct sample s = {0};

        status = session(&s);
        if (status == 0 && write(ends[1], &s, sizeof(s)) != sizeof(s))
            status = STATUS_IO;
        _exit(status);
    }
    close(ends[1]);
    got = read(ends[0], out, sizeof(*out));
    close(ends[0]);
    waitpid(pid, &status, 0);
    return got == sizeof(*out) && status == 0 ? 0 : STATUS_FAILED;
}

static int run_size(long points)
{
    struct sample first, again;
    struct stat st;

    unlink(in_folder("sweep.db"));
    *simulating = 0;
    if (!write_sweep(points) || measure(&first) != 0)
        return STATUS_FAILED;

    const double overhead = (first.done - first.checked - *simulating) / (double)points;

    if (measure(&again) != 0)
        return STATUS_FAILED;
    if (first.n.done != points || again.n.before != points || again.n.done != 0 ||
        stat(in_folder("sweep.db"), &st) != 0) {
        fprintf(stderr, "bench_sweep: %ld points, %" PRId64 " runs, %" PRId64 " found again\n",
                points, first.n.done, again.n.before);
        return STATUS_FAILED;
    }
    printf("sweep,%ld,%.3f,%.0f,%ld,%ld,%.1f\n", points, 1e3 * overhead, 1e3 * again.done,
           first.rss_kib, again.rss_kib, (double)st.st_size / (double)points / 1024);
    return 0;
}

static bool share_time(void)
{
    FILE *f = tmpfile();

    if (!f || ftruncate(fileno(f), sizeof(*simulating)) != 0)
        return false;
    simulating = mmap(NULL, sizeof(*simulating), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    fclose(f);
    return simulating != MAP_FAILED;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"", "1000", "10000"};
    char **size = argc > 1 ? argv : defaults;
    const int n = argc > 1 ? argc : 3;
    int status = 0;

    if (!share_time() || !mkdtemp(folder)) {
        perror("bench_sweep");
        return STATUS_IO;
    }
    printf("case,points,overhead_ms_per_run,resume_ms,rss_kib,resume_rss_kib,kib_per_run\n");
    for (int i = 1; status == 0 && i < n; i++) {
        const long points = atol(size[i]);

        if (points < 200 || points > 1000000 || points % 100) {
            fprintf(stderr, "usage: bench_sweep [POINTS]..., whole hundreds from 200 on\n");
            status = STATUS_USAGE;
        } else {
            status = run_size(points);
        }
    }
    unlink(in_folder("sweep.db"));
    unlink(in_folder("sweep.yaml"));
    rmdir(folder);
    return status;
}
