/* SPDX-License-Identifier: MIT */
/*
 * Hold model: what an event costs when the number of pending events stays the same.
 *
 * Each event that runs arms itself again (hold); in the second column it also moves another,
 * randomly chosen event (hold + re-arm), as schedulers do with their timers all the time. The
 * yardstick is a bare 4-ary heap compiled into this program: 16-byte entries, the smallest child
 * found without branches, the top replaced in place, and no handles, so it could neither cancel nor
 * move anything. Columns are measured in turn, round by round, and the table shows the medians.
 *
 * Usage: bench_hold [--csv] [--rounds N]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/rng.h"

#define DELAYS     4096 /* power of two; 16 kB */
#define ROUNDS_MAX 99

enum column { HOLD, REARM, HEAP, COLUMNS, HOLD_RATIO = COLUMNS, REARM_RATIO, RESULTS };

struct row {
    const char *delays;
    size_t pending;
    uint64_t events; /* per measurement */
    void (*fill)(uint32_t *delay, struct rng *r);
};

struct entry {
    ns_t time;
    uint64_t id;
};

struct bench {
    uint32_t delay[DELAYS];
    double mean;
    size_t next;
    uint64_t random;
    size_t n;
    struct engine *engine;
    struct event *events;
    struct entry *heap;
    ns_t heap_end;
};

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill_exponential(uint32_t *delay, struct rng *r)
{
    for (size_t i = 0; i < DELAYS; i++) {
        double u = ((double)(rng_u64(r) >> 11) + 0.5) * 0x1p-53;
        delay[i] = (uint32_t)(-1e6 * log(u)) + 1;
    }
}

/* Timers of a scheduler: 10 us to 4 ms, each scale as frequent as the others. */
static void fill_scales(uint32_t *delay, struct rng *r)
{
    for (size_t i = 0; i < DELAYS; i++) {
        double u = (double)(rng_u64(r) >> 11) * 0x1p-53;
        delay[i] = (uint32_t)(1e4 * pow(400.0, u));
    }
}

static inline ns_t next_delay(struct bench *b)
{
    return b->delay[b->next++ % DELAYS];
}

static void on_hold(struct engine *e, struct event *ev)
{
    engine_arm(e, ev, e->now + next_delay(e->owner));
}

static void on_rearm(struct engine *e, struct event *ev)
{
    struct bench *b = e->owner;

    engine_arm(e, ev, e->now + next_delay(b));
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    size_t other = (size_t)((b->random >> 32) * b->n >> 32);
    engine_arm(e, &b->events[other], e->now + next_delay(b));
}

/* The child that is earliest of four, decided by conditional moves. */
static inline size_t earliest_of_four(const struct entry *h, size_t c)
{
    size_t a = c + (h[c + 1].time < h[c].time);
    size_t b = c + 2 + (h[c + 3].time < h[c + 2].time);

    return h[b].time < h[a].time ? b : a;
}

/* The array ends in entries that are never due, so that every parent has four children. */
static void heap_replace_top(struct entry *h, size_t n, struct entry x)
{
    size_t i = 0;

    for (size_t c = 1; c < n; c = 4 * i + 1) {
        c = earliest_of_four(h, c);
        if (h[c].time >= x.time)
            break;
        h[i] = h[c];
        i = c;
    }
    h[i] = x;
}

static uint64_t heap_hold(struct bench *b, ns_t until)
{
    uint64_t events = 0;

    while (b->heap[0].time <= until) {
        struct entry x = b->heap[0];
        x.time += next_delay(b);
        heap_replace_top(b->heap, b->n, x);
        events++;
    }
    return events;
}

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

static void build(struct bench *b, const struct row *row)
{
    struct rng r;

    rng_init(&r, 1, RNG_TEST, row->pending, RNG_PROGRAM);
    row->fill(b->delay, &r);
    b->mean = 0;
    for (size_t i = 0; i < DELAYS; i++)
        b->mean += b->delay[i] / (double)DELAYS;
    b->n = row->pending;
    b->engine = engine_new();
    b->events = calloc(b->n, sizeof(*b->events));
    b->heap = calloc(b->n + 4, sizeof(*b->heap));
    if (!b->engine || !b->events || !b->heap) {
        fprintf(stderr, "bench_hold: out of memory\n");
        exit(3);
    }
    b->engine->owner = b;
    for (size_t i = 0; i < b->n; i++) {
        ns_t at = (ns_t)rng_below(&r, 2 * (uint64_t)b->mean);
        event_init(&b->events[i], PHASE_TIMER, (uint32_t)i, on_hold);
        engine_arm(b->engine, &b->events[i], at);
        b->heap[i] = (struct entry){at, i};
    }
    for (size_t i = b->n; i < b->n + 4; i++)
        b->heap[i].time = NS_NEVER;
    qsort(b->heap, b->n, sizeof(*b->heap), by_time); /* a sorted array is a heap */
    b->heap_end = 0;
}

static void destroy(struct bench *b)
{
    engine_free(b->engine);
    free(b->events);
    free(b->heap);
}

/* Runs about `events` events; returns ns per event. */
static double measure(struct bench *b, enum column what, uint64_t events)
{
    ns_t span = (ns_t)((double)events * b->mean / (double)b->n);
    double start, seconds;
    uint64_t done;

    if (what == HEAP) {
        b->heap_end += span;
        start = now_seconds();
        done = heap_hold(b, b->heap_end);
        seconds = now_seconds() - start;
    } else {
        for (size_t i = 0; i < b->n; i++)
            b->events[i].fn = what == HOLD ? on_hold : on_rearm;
        done = b->engine->events;
        start = now_seconds();
        engine_run(b->engine, b->engine->now + span);
        seconds = now_seconds() - start;
        done = b->engine->events - done;
    }
    return seconds * 1e9 / (double)done;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof(*x), by_value);
    return x[n / 2];
}

/* Ratios are taken within a round, so that a machine that slows down for a while does not skew
 * them. */
static void measure_row(const struct row *row, size_t rounds, double result[RESULTS])
{
    static struct bench b;
    double sample[RESULTS][ROUNDS_MAX];

    build(&b, row);
    for (enum column c = HOLD; c < COLUMNS; c++)
        measure(&b, c, row->events);
    for (size_t r = 0; r < rounds; r++) {
        for (enum column c = HOLD; c < COLUMNS; c++)
            sample[c][r] = measure(&b, c, row->events);
        sample[HOLD_RATIO][r] = sample[HOLD][r] / sample[HEAP][r];
        sample[REARM_RATIO][r] = sample[REARM][r] / sample[HEAP][r];
    }
    destroy(&b);
    for (size_t i = 0; i < RESULTS; i++)
        result[i] = median(sample[i], rounds);
}

static const struct row ROWS[] = {
    {"exp", 32, 500000, fill_exponential},    {"exp", 1000, 500000, fill_exponential},
    {"exp", 30000, 500000, fill_exponential}, {"exp", 1000000, 1000000, fill_exponential},
    {"mix", 32, 500000, fill_scales},         {"mix", 1000, 500000, fill_scales},
    {"mix", 30000, 500000, fill_scales},
};

int main(int argc, char **argv)
{
    bool csv = false;
    size_t rounds = 5;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0) {
            csv = true;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = strtoul(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: bench_hold [--csv] [--rounds N]\n");
            return 2;
        }
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench_hold: rounds must be 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    if (csv) {
        printf("delays,pending,hold_ns,rearm_ns,heap_ns,hold_ratio,rearm_ratio\n");
    } else {
        printf(
            "ns per event, medians of %zu interleaved rounds; exp: mean 1 ms, mix: 10 us .. 4 ms\n"
            "delays   pending     hold  +re-arm  4-ary heap  hold/heap  re-arm/heap\n",
            rounds);
    }
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        double m[RESULTS];

        measure_row(&ROWS[i], rounds, m);
        printf(csv ? "%s,%zu,%.1f,%.1f,%.1f,%.2f,%.2f\n"
                   : "%-6s %9zu %8.1f %8.1f %11.1f %10.2f %12.2f\n",
               ROWS[i].delays, ROWS[i].pending, m[HOLD], m[REARM], m[HEAP], m[HOLD_RATIO],
               m[REARM_RATIO]);
        fflush(stdout);
    }
    return 0;
}
