/* SPDX-License-Identifier: MIT */
/*
 * Whole simulations: what an event costs on average, and how much memory a run needs.
 *
 * Each case is one replication of a shipped scenario, shortened, in a process of its own, so that
 * its memory is its own. CPU time is that of run_replication: building the world, simulating and
 * collecting, but not reading files. Cases are measured in turn, round by round; the output has the
 * medians, and the best round. The number of events of a case is the same in every round, or the program fails.
 *
 * Usage: bench_sim [--rounds N], from the top of the source. CSV on stdout.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define ROUNDS_MAX 99
#define SETS_MAX   2

static const struct bench_case {
    const char *name, *file;
    const char *set[SETS_MAX];
} cases[] = {
    {"barrier", "configs/cps-overcommit.yaml", {"duration=1200ms", "warmup=200ms"}},
    {"barrier-4x", "configs/cps-overcommit.yaml", {"duration=4800ms", "warmup=200ms"}},
    {"scale-32", "configs/scale-32.yaml", {"duration=5s", "warmup=50ms"}},
    {"scale-4096", "configs/scale-4096.yaml", {"duration=300ms", "warmup=50ms"}},
};

#define NCASES (sizeof(cases) / sizeof(*cases))

struct sample {
    uint64_t events;
    double ns_per_event;
    long rss_kib;
    int64_t pcpus, vcpus;
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_case(const struct bench_case *c, struct sample *out)
{
    struct conf_errors errors = {0};
    struct scenario *s = scenario_load(c->file, c->set, SETS_MAX, &errors);
    struct run_values *v = NULL;
    struct rusage usage;
    char error[256] = "";
    double start;
    int status;

    if (!s) {
        conf_errors_print(&errors, stderr);
        return STATUS_USAGE;
    }
    start = cpu_seconds();
    status = run_replication(s, s->seed, 0, &v, error, sizeof(error));
    if (status != 0) {
        fprintf(stderr, "bench_sim: %s: %s\n", c->file, error);
        return status;
    }
    out->events = v->events;
    out->ns_per_event = (cpu_seconds() - start) * 1e9 / (double)v->events;
    getrusage(RUSAGE_SELF, &usage);
    out->rss_kib = usage.ru_maxrss;
    out->pcpus = (int64_t)s->npool;
    out->vcpus = scenario_total_vcpus(s);
    run_values_free(v);
    scenario_free(s);
    return 0;
}

/* The child's end of a measurement; never returns. */
static void child(const struct bench_case *c, int to)
{
    struct sample s;
    int status = run_case(c, &s);

    if (status == 0 && write(to, &s, sizeof(s)) != sizeof(s))
        status = STATUS_IO;
    _exit(status);
}

static int measure(const struct bench_case *c, struct sample *out)
{
    int ends[2], status = 0;
    ssize_t got;
    pid_t pid;

    if (pipe(ends) != 0 || (pid = fork()) < 0) {
        perror("bench_sim");
        return STATUS_IO;
    }
    if (pid == 0)
        child(c, ends[1]);
    close(ends[1]);
    got = read(ends[0], out, sizeof(*out));
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (got == sizeof(*out) && status == 0)
        return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : STATUS_BUG;
}

static int by_cost(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->ns_per_event > y->ns_per_event) - (x->ns_per_event < y->ns_per_event);
}

static int measure_all(struct sample sample[NCASES][ROUNDS_MAX], size_t rounds)
{
    for (size_t r = 0; r < rounds; r++) {
        for (size_t c = 0; c < NCASES; c++) {
            int status = measure(&cases[c], &sample[c][r]);

            if (status != 0)
                return status;
            if (sample[c][r].events != sample[c][0].events) {
                fprintf(stderr, "bench_sim: %s: %" PRIu64 " events, then %" PRIu64 "\n",
                        cases[c].name, sample[c][0].events, sample[c][r].events);
                return STATUS_BUG;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct sample sample[NCASES][ROUNDS_MAX];
    size_t rounds = 5;
    int status;

    if (argc == 3 && strcmp(argv[1], "--rounds") == 0)
        rounds = strtoul(argv[2], NULL, 10);
    if ((argc != 1 && argc != 3) || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_sim [--rounds N], N from 1 to %d\n", ROUNDS_MAX);
        return STATUS_USAGE;
    }
    status = measure_all(sample, rounds);
    if (status != 0)
        return status;
    printf("case,pcpus,vcpus,events,ns_per_event,best_ns_per_event,rss_kib\n");
    for (size_t c = 0; c < NCASES; c++) {
        struct sample m;

        qsort(sample[c], rounds, sizeof(sample[c][0]), by_cost);
        m = sample[c][rounds / 2];
        printf("%s,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%.1f,%.1f,%ld\n", cases[c].name, m.pcpus,
               m.vcpus, m.events, m.ns_per_event, sample[c][0].ns_per_event, m.rss_kib);
    }
    return 0;
}
