/* SPDX-License-Identifier: MIT */
/*
 * The timeline and the lanes of whole runs, read back and held against the accounts of the run: what a picture
 * shows of steal, held idle and unseen wait is what the metrics count. Times are taken from the text, as integers.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <unistd.h>

#include "cross/world.h"
#include "obs/lanes.h"
#include "record.h"
#include "tests/support/run_text.h"

#define MOST 40 /* pCPUs, and vCPUs of all VMs */

struct slice {
    ns_t from, to;
    char name[40];
};

struct track {
    struct slice *slice;
    size_t n, room;
    int pid;
};

struct arrow {
    ns_t at;
    int pid, tid;
    bool there; /* its slice stands before it in the file: of equal times viewers keep this order */
};

/* A timeline as it was written. */
struct picture {
    struct track pcpu[MOST], vcpu[MOST];
    struct arrow *begin, *end; /* by id */
    size_t narrows, room;
    int processes, threads, counts;
    ns_t last;
};

/* The run, with a look at its accounts before they go. */
struct watched {
    struct record record;
    struct run_watch inner;
    struct account vcpu[MOST];
    int nvcpus;
    ns_t end, began;
};

static struct trace_sink *watched_begin(void *arg, const struct world *w)
{
    struct watched *t = arg;

    cr_assert(w->nvcpus <= MOST && w->host->npcpus <= MOST);
    return t->inner.begin(t->inner.arg, w);
}

static int watched_end(void *arg, ns_t now)
{
    struct watched *t = arg;
    const struct world *w = t->record.world;
    int n = 0;

    for (int i = 0; i < w->nvms; i++)
        for (int j = 0; j < w->vm[i].nvcpus; j++)
            t->vcpu[n++] = w->vm[i].vcpu[j].g->acct;
    t->nvcpus = n;
    t->end = now;
    t->began = w->accounted_from;
    return t->inner.end(t->inner.arg, now);
}

/* Runs it; both files are there then. */
static void run_recorded(struct watched *t, const char *text, ns_t from, ns_t to)
{
    struct run_watch watch = {.begin = watched_begin, .end = watched_end, .arg = t};
    struct scenario *s = scenario_of_text(text);
    struct run_values *v = NULL;
    char error[256] = "";
    const char *which;

    t->record = (struct record){.from = from, .to = to, .scenario = s, .step = NS_MS};
    t->record.name[RECORD_TIMELINE] = "timeline.json";
    t->record.name[RECORD_GANTT] = "lanes.csv";
    t->inner = record_watch(&t->record);
    cr_assert(record_open(&t->record, &which) == 0, "%s", which);
    cr_assert(run_watched(s, s->seed, 0, &watch, &v, error, sizeof(error)) == 0, "%s", error);
    cr_assert(record_close(&t->record, 0, &which) == 0, "%s", which);
    run_values_free(v);
    scenario_free(s);
}

/* Microseconds with three decimals, as nanoseconds. */
static ns_t time_in(const char *line, const char *key)
{
    const char *p = strstr(line, key);
    long long whole;
    int decimals, n = 0;

    cr_assert(p, "no %s in %s", key, line);
    p += strlen(key);
    cr_assert(sscanf(p, "%lld.%3d%n", &whole, &decimals, &n) == 2 && whole >= 0, "%s", line);
    cr_assert(p[n - 4] == '.' && !isdigit((unsigned char)p[n]), "not three decimals: %s", line);
    return (ns_t)whole * 1000 + decimals;
}

static int int_in(const cJSON *e, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(e, key);

    cr_assert(cJSON_IsNumber(item), "no %s", key);
    return item->valueint;
}

static const char *text_in(const cJSON *e, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(e, key);

    cr_assert(cJSON_IsString(item), "no %s", key);
    return item->valuestring;
}

static struct track *track_of(struct picture *p, const cJSON *e)
{
    const int tid = int_in(e, "tid");

    return int_in(e, "pid") == 1 ? &p->pcpu[tid] : &p->vcpu[tid];
}

static void take_begin(struct picture *p, const char *line, const cJSON *e)
{
    struct track *t = track_of(p, e);
    struct slice s = {.from = time_in(line, "\"ts\":"), .to = -1};

    snprintf(s.name, sizeof(s.name), "%s", text_in(e, "name"));
    cr_assert(t->n == 0 || (t->slice[t->n - 1].to >= 0 && s.from >= t->slice[t->n - 1].to &&
                            t->pid == int_in(e, "pid")),
              "overlap: %s", line);
    cr_assert(t->n == 0 || s.from > t->slice[t->n - 1].to ||
                  strcmp(s.name, t->slice[t->n - 1].name) != 0,
              "the same again: %s", line);
    if (t->n == t->room) {
        t->room = 2 * t->room + 64;
        t->slice = realloc(t->slice, t->room * sizeof(*t->slice));
        cr_assert(t->slice);
    }
    t->pid = int_in(e, "pid");
    t->slice[t->n++] = s;
}

static void take_end(struct picture *p, const char *line, const cJSON *e)
{
    struct track *t = track_of(p, e);
    const ns_t at = time_in(line, "\"ts\":");

    cr_assert(t->n > 0 && t->slice[t->n - 1].to < 0 && at > t->slice[t->n - 1].from, "%s", line);
    cr_assert_str_eq(t->slice[t->n - 1].name, text_in(e, "name"));
    t->slice[t->n - 1].to = at;
    p->last = at > p->last ? at : p->last;
}

static const struct slice *slice_at(const struct track *t, ns_t at)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;

        if (t->slice[mid].to <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->n && t->slice[lo].from <= at ? &t->slice[lo] : NULL;
}

static void take_arrow(struct picture *p, const char *line, const cJSON *e)
{
    const size_t id = (size_t)int_in(e, "id");
    const bool begins = *text_in(e, "ph") == 's';
    struct arrow a = {time_in(line, "\"ts\":"), int_in(e, "pid"), int_in(e, "tid"),
                      slice_at(track_of(p, e), time_in(line, "\"ts\":")) != NULL};

    while (id >= p->room) {
        const size_t room = 2 * p->room + 64;

        p->begin = realloc(p->begin, room * sizeof(a));
        p->end = realloc(p->end, room * sizeof(a));
        cr_assert(p->begin && p->end);
        for (; p->room < room; p->room++)
            p->begin[p->room].at = p->end[p->room].at = -1;
    }
    cr_assert((begins ? p->begin : p->end)[id].at == -1, "twice: %s", line);
    cr_assert(begins || strcmp(text_in(e, "bp"), "e") == 0);
    (begins ? p->begin : p->end)[id] = a;
    p->narrows = id > p->narrows ? id : p->narrows;
}

static void take_event(struct picture *p, const char *line)
{
    cJSON *e = cJSON_ParseWithOpts(line, NULL, true);
    const char *ph;

    cr_assert(cJSON_IsObject(e), "not an event: %s", line);
    ph = text_in(e, "ph");
    if (*ph == 'B') {
        take_begin(p, line, e);
    } else if (*ph == 'E') {
        take_end(p, line, e);
    } else if (*ph == 's' || *ph == 'f') {
        take_arrow(p, line, e);
    } else if (*ph == 'C') {
        const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");

        cr_assert(cJSON_IsNumber(args->child) && args->child->valueint >= 0, "%s", line);
        time_in(line, "\"ts\":");
        p->counts++;
    } else {
        cr_assert(*ph == 'M', "%s", line);
        p->processes += strcmp(text_in(e, "name"), "process_name") == 0;
        p->threads += strcmp(text_in(e, "name"), "thread_name") == 0;
    }
    cJSON_Delete(e);
}

/* A file of one event per line, and one value of JSON as a whole. */
static void read_timeline(struct picture *p)
{
    FILE *in = fopen("timeline.json", "r");
    char *line = NULL, *all = NULL;
    size_t size = 0, n = 0, len;
    FILE *copy = open_memstream(&all, &len);
    cJSON *whole;

    *p = (struct picture){.last = 0};
    cr_assert(in && copy);
    while (getline(&line, &size, in) >= 0) {
        fputs(line, copy);
        line[strcspn(line, "\n")] = '\0';
        if (*line && line[strlen(line) - 1] == ',')
            line[strlen(line) - 1] = '\0';
        if (n++ == 0)
            cr_assert_str_eq(line, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        else if (*line != ']')
            take_event(p, line);
    }
    fclose(in);
    fclose(copy);
    free(line);
    whole = cJSON_ParseWithOpts(all, NULL, true);
    cr_assert(cJSON_IsObject(whole));
    cJSON_Delete(whole);
    free(all);
}

static void picture_free(struct picture *p)
{
    for (int i = 0; i < MOST; i++) {
        free(p->pcpu[i].slice);
        free(p->vcpu[i].slice);
    }
    free(p->begin);
    free(p->end);
}

static ns_t sum_of(const struct track *t, const char *name)
{
    ns_t sum = 0;

    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->slice[i].name, name) == 0)
            sum += t->slice[i].to - t->slice[i].from;
    return sum;
}

static void check_arrows(const struct picture *p)
{
    for (size_t i = 1; i <= p->narrows; i++) {
        const struct arrow *b = &p->begin[i], *e = &p->end[i];
        const struct slice *s;

        cr_assert(b->at >= 0 && e->at >= b->at, "arrow %zu from %lld to %lld", i, (long long)b->at,
                  (long long)e->at);
        cr_assert(b->pid == p->vcpu[b->tid].pid && e->pid == b->pid);
        s = slice_at(&p->vcpu[b->tid], b->at);
        cr_assert(s && (b->there || s->from < b->at), "arrow %zu begins nowhere", i);
        s = slice_at(&p->vcpu[e->tid], e->at);
        cr_assert(s && e->there && s->from == e->at && strcmp(s->name, "steal") != 0,
                  "arrow %zu ends at no beginning", i);
    }
}

static void check_accounts(const struct watched *t, const struct picture *p)
{
    static const struct {
        const char *name;
        enum term term;
    } same[] = {{"steal", TERM_STEAL},
                {"unseen wait", TERM_UNSEEN},
                {"held idle", TERM_HELD},
                {"idle spin", TERM_IDLESPIN},
                {"lock spin", TERM_LOCKSPIN}};

    for (int v = 0; v < t->nvcpus; v++)
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            const ns_t shown = sum_of(&p->vcpu[v], same[i].name);

            cr_expect(shown == t->vcpu[v].term[same[i].term], "vcpu %d, %s: %lld ns, not %lld", v,
                      same[i].name, (long long)shown, (long long)t->vcpu[v].term[same[i].term]);
        }
}

/* Off its pCPU a vCPU shows steal, unseen wait or nothing, so the rest is the time of all pCPUs. */
static void check_levels(const struct watched *t, const struct picture *p)
{
    ns_t above = 0, below = 0;

    for (int i = 0; i < MOST; i++)
        for (size_t k = 0; k < p->pcpu[i].n; k++)
            above += p->pcpu[i].slice[k].to - p->pcpu[i].slice[k].from;
    for (int v = 0; v < t->nvcpus; v++)
        for (size_t k = 0; k < p->vcpu[v].n; k++)
            below += p->vcpu[v].slice[k].to - p->vcpu[v].slice[k].from;
    for (int v = 0; v < t->nvcpus; v++)
        below -= sum_of(&p->vcpu[v], "steal") + sum_of(&p->vcpu[v], "unseen wait");
    cr_expect(above == below, "%lld ns on pCPUs, %lld ns in vCPUs", (long long)above,
              (long long)below);
}

/* Each lane is filled from one end of the window to the other. */
static void check_lanes(ns_t from, ns_t to, int lanes)
{
    static ns_t upto[2 * MOST];
    static char name[2 * MOST][64];
    FILE *in = fopen("lanes.csv", "r");
    char *line = NULL;
    size_t size = 0;
    int rows = 0, n = 0;

    cr_assert(in);
    while (getline(&line, &size, in) >= 0) {
        char lane[64], *last = strrchr(line, ',');
        long long a, b;
        int commas = 0, i = 0, end = 0;

        if (rows++ < 2)
            continue;
        cr_assert(last);
        b = atoll(last + 1);
        *last = '\0';
        a = atoll(strrchr(line, ',') + 1);
        if (strncmp(line, "wake,", 5) == 0) {
            cr_assert(a >= from && b >= a && b < to, "%s", line);
            continue;
        }
        /* pcpu,N or vcpu,,VM,N */
        for (; commas < (*line == 'p' ? 2 : 4); end++)
            commas += line[end] == ',';
        snprintf(lane, sizeof(lane), "%.*s", end, line);
        while (i < n && strcmp(name[i], lane) != 0)
            i++;
        if (i == n) {
            strcpy(name[n], lane);
            upto[n++] = from;
        }
        cr_assert(a == upto[i] && b > a && b <= to, "%s: from %lld to %lld after %lld", lane, a, b,
                  (long long)upto[i]);
        upto[i] = b;
    }
    fclose(in);
    free(line);
    cr_expect(n == lanes, "%d lanes, not %d", n, lanes);
    for (int i = 0; i < n; i++)
        cr_expect(upto[i] == to, "%s ends at %lld", name[i], (long long)upto[i]);
}

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/tandem-test-XXXXXX");
    cr_assert(mkdtemp(dir) && chdir(dir) == 0);
}

static void remove_dir(void)
{
    cr_expect(unlink("timeline.json") == 0 && unlink("lanes.csv") == 0 && rmdir(dir) == 0);
}

TestSuite(timeline_run, .init = make_dir, .fini = remove_dir, .timeout = 120);

#define HEAD(machine, host)                                                                        \
    "{machine: " machine ", duration: 60ms, warmup: 0, allow_cold: true, host: " host ", vms: ["
#define NEIGHBOUR                                                                                  \
    "{name: n, role: background, vcpus: 6, workload: {tasks: [{name: t, count: 6, program: "       \
    "[{loop: {count: forever, body: [{run: {exponential: 700us}}, "                                \
    "{sleep: {exponential: 300us}}]}}]}]}}]}"
#define BARRIER                                                                                    \
    "{objects: {barriers: {b: {}}}, tasks: [{name: worker, count: vcpus, program: "                \
    "[{loop: {count: forever, body: [{run: {exponential: 200us}}, {barrier: b}]}}]}]}"
#define LOCKS                                                                                      \
    "{objects: {locks: {s: {kind: spin, kernel: on}, m: {kind: sleep}}}, tasks: [{name: worker, "  \
    "count: 12, program: [{loop: {count: forever, body: [{run: {exponential: 50us}}, {lock: s}, "  \
    "{run: 8us}, {unlock: s}, {lock: m}, {run: 5us}, {unlock: m}, "                                \
    "{sleep: {exponential: 100us}}]}}]}]}"
#define VM(idle, guest, work)                                                                      \
    "{name: a, vcpus: 8, idle: " idle ", guest: {" guest "}, workload: " work "}, " NEIGHBOUR

static const char *const runs[] = {
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("hlt", "policy: bare", BARRIER),
    HEAD("flat-8", "{scheduler: cfs, tick: 1000}") VM("hlt", "policy: cps-load", BARRIER),
    HEAD("flat-8", "{scheduler: cfs, tick: 1000}")
        VM("mwait-passthrough", "policy: cps-load", BARRIER),
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("mwait-sched", "policy: bare", BARRIER),
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("mwait-proxy", "policy: bare", BARRIER),
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("mwait-nop", "policy: bare", BARRIER),
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("mwait-vmonitor", "policy: bare", LOCKS),
    HEAD("flat-8", "{scheduler: eevdf, tick: 250}") VM("halt-poll", "policy: bare", LOCKS),
    HEAD("x86-32", "{scheduler: eevdf, tick: 250}") VM("guest-poll", "policy: bare", LOCKS),
    HEAD("flat-8", "{scheduler: rr, tick: 0}")
        VM("hlt", "policy: preempted-bit, spinlock: paravirt", LOCKS),
    HEAD("flat-8", "{scheduler: credit2}")
        VM("hlt", "policy: preempted-bit, spinlock: unfair", LOCKS),
    HEAD("flat-8-zero", "{scheduler: cfs, tick: 0}") VM("hlt", "policy: bare", BARRIER),
    HEAD("flat-8-zero", "{scheduler: eevdf, tick: 0}")
        VM("mwait-passthrough", "policy: bare", LOCKS),
};
#define RUNS ((int)(sizeof(runs) / sizeof(runs[0])))

Test(timeline_run, slices_are_the_accounts)
{
    static struct watched t;
    static struct picture p;
    ns_t seen[TERM_COUNT] = {0};

    for (int i = 0; i < RUNS; i++) {
        run_recorded(&t, runs[i], 0, 0);
        read_timeline(&p);
        check_accounts(&t, &p);
        check_levels(&t, &p);
        check_arrows(&p);
        check_lanes(0, t.end, (strstr(runs[i], "x86-32") ? 32 : 8) + 14);
        cr_expect(p.processes == 3 && p.threads == (strstr(runs[i], "x86-32") ? 32 : 8) + 14);
        cr_expect(p.narrows > 200 && p.counts > 200 && p.last == t.end, "run %d: %zu arrows", i,
                  p.narrows);
        for (int v = 0; v < t.nvcpus; v++)
            for (int k = 0; k < TERM_COUNT; k++)
                seen[k] += t.vcpu[v].term[k];
        picture_free(&p);
    }
    /* All of them were there to be compared. */
    cr_expect(seen[TERM_STEAL] > 50 * NS_MS && seen[TERM_UNSEEN] > NS_MS);
    cr_expect(seen[TERM_HELD] > 50 * NS_MS && seen[TERM_IDLESPIN] > 50 * NS_MS);
    cr_expect(seen[TERM_LOCKSPIN] > NS_MS);
}

/* A window is the same as what is left of the whole when the rest is cut off. */
Test(timeline_run, a_window_is_a_part_of_the_whole)
{
    static struct watched t;
    static struct picture whole, part;
    const ns_t from = 20 * NS_MS + 123, to = 31 * NS_MS + 457;

    for (int i = 0; i < RUNS; i += 4) {
        run_recorded(&t, runs[i], 0, 0);
        read_timeline(&whole);
        run_recorded(&t, runs[i], from, to);
        read_timeline(&part);
        check_lanes(from, to, (strstr(runs[i], "x86-32") ? 32 : 8) + 14);
        check_arrows(&part);
        cr_expect(part.last <= to && part.narrows > 20 && part.narrows < whole.narrows);
        for (int v = 0; v < t.nvcpus; v++) {
            const struct track *a = &whole.vcpu[v], *b = &part.vcpu[v];
            size_t k = 0, n = 0;

            for (; k < a->n; k++) {
                const struct slice *s = &a->slice[k];

                if (s->to <= from || s->from >= to)
                    continue;
                cr_assert(n < b->n && strcmp(s->name, b->slice[n].name) == 0);
                cr_assert(b->slice[n].from == (s->from > from ? s->from : from));
                cr_assert(b->slice[n].to == (s->to < to ? s->to : to));
                n++;
            }
            cr_expect(n == b->n, "run %d, vcpu %d: %zu slices, not %zu", i, v, b->n, n);
        }
        picture_free(&whole);
        picture_free(&part);
    }
}

/* Accounts begin again after the warm-up: a span over that instant is shown whole. */
Test(timeline_run, warm_up)
{
    static struct watched t;
    static struct picture p;
    static char text[2000];
    const char *rest = strstr(runs[2], "allow_cold");

    snprintf(text, sizeof(text), "{machine: flat-8, duration: 60ms, warmup: 15ms, %s", rest);
    run_recorded(&t, text, 0, 0);
    read_timeline(&p);
    cr_expect_eq(t.began, 15 * NS_MS);
    check_levels(&t, &p);
    check_arrows(&p);
    for (int v = 0; v < t.nvcpus; v++) {
        ns_t held = 0, over = 0;

        for (size_t k = 0; k < p.vcpu[v].n; k++) {
            const struct slice *s = &p.vcpu[v].slice[k];

            if (strcmp(s->name, "held idle") == 0 && s->from >= t.began)
                held += s->to - s->from;
            else if (strcmp(s->name, "held idle") == 0 && s->to > t.began)
                over += s->to - t.began;
        }
        cr_expect(held <= t.vcpu[v].term[TERM_HELD] && held + over >= t.vcpu[v].term[TERM_HELD]);
    }
    picture_free(&p);
}
