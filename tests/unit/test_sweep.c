/* SPDX-License-Identifier: MIT */
/* Sweep files: expansion, pairs, ranges, trees of points, and the messages of bad ones. */
#include <stdarg.h>

#include "conf/costs.h"
#include "study/quantity.h"
#include "study/sweep.h"
#include "study_fake.h"

TestSuite(sweep, .init = fake_dir_make, .fini = fake_dir_remove);

#define BASE                                                                                       \
    "base: {machine: flat-8, duration: 200ms, warmup: 50ms, vms: [{name: web, vcpus: 2, "          \
    "workload: "                                                                                   \
    "busy-service}]}\n"

static struct sweep *read_good(const char *text)
{
    struct conf_errors e = {0};
    struct sweep *s = sweep_read(fake_file("s.yaml", text), &e);

    cr_assert(s, "%s", e.n ? e.list[0].text : "no message");
    cr_expect(e.n == 0);
    conf_errors_free(&e);
    return s;
}

/* All labels of all points: "1,a 1,b 2,a". */
static char *all_labels(const struct sweep *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t p = 0; p < s->npoints; p++)
        for (size_t a = 0; a < s->naxes; a++)
            fprintf(out, "%s%s", a ? "," : p ? " " : "", sweep_label(s, p, a));
    fclose(out);
    return text;
}

static void expect_labels(const char *text, const char *labels)
{
    struct sweep *s = read_good(text);
    char *got = all_labels(s);

    cr_expect_str_eq(got, labels);
    free(got);
    sweep_free(s);
}

Test(sweep, row_major)
{
    expect_labels(BASE "axes:\n  seed_x: [1, 2]\n  b: [p, q, {label: deep, value: {k: {t: 2}}}]\n",
                  "1,p 1,q 1,deep 2,p 2,q 2,deep");
    expect_labels(BASE, "");
    expect_labels(BASE "axes: {a: [{cps-load: {threshold: 2}}]}\n",
                  "{\"cps-load\":{\"threshold\":2}}");
    struct sweep *s = read_good(BASE "axes: {a: [1, 2], b: [1, 2, 3]}\nreplications: 4\n"
                                     "metrics: [p99, throughput_per_s]\nseed: 9\n");

    cr_expect(s->npoints == 6 && s->replications == 4 && s->nmetrics == 2);
    cr_expect(s->metrics[0] == metric_find("latency_p99_us") && !s->metrics[2]);
    cr_expect_str_eq(s->seed, "9");
    cr_expect_str_eq(s->name, "s");
    sweep_free(s);
}

Test(sweep, pairs)
{
    /* a and c move together, at the place of a; b is slower than nothing else. */
    expect_labels(BASE "axes: {a: [1, 2], b: [x, y], c: [p, q]}\npair: [[c, a]]\n",
                  "1,x,p 1,y,p 2,x,q 2,y,q");
    expect_labels(BASE "axes: {a: [1, 2], b: [x, y], c: [p, q], d: [7, 8]}\n"
                       "pair: [[a, d], [b, c]]\n",
                  "1,x,p,7 1,y,q,7 2,x,p,8 2,y,q,8");
}

Test(sweep, ranges)
{
    expect_labels(BASE "axes: {a: {from: 1, to: 4, steps: 4}}\n", "1 2 3 4");
    expect_labels(BASE "axes: {a: {from: 1ms, to: 16ms, steps: 5, scale: log}}\n",
                  "1ms 2ms 4ms 8ms 16ms");
    expect_labels(BASE "axes: {a: {from: 500us, to: 2ms, steps: 4, scale: linear}}\n",
                  "500us 1000us 1500us 2000us");
    expect_labels(BASE "axes: {a: {from: 0, to: 1ms, steps: 3}}\n", "0ms 0.5ms 1ms");
    expect_labels(BASE "axes: {a: {from: 1, to: 1000, steps: 4, scale: log}}\n", "1 10 100 1000");
    expect_labels(BASE "axes: {a: {from: 10%, to: 30%, steps: 3}}\n", "10% 20% 30%");
    expect_labels(BASE "axes: {a: {from: 4, to: 1, steps: 4}}\n", "4 3 2 1");
    /* A third of a ms is no whole number of ns: rounded, and the label says what is run. */
    expect_labels(BASE "axes: {a: {from: 0ms, to: 1ms, steps: 4}}\n",
                  "0ms 0.333333ms 0.666667ms 1ms");
}

static const char *text_at(const struct conf_tree *t, const char *a, const char *b, const char *c)
{
    const struct conf_node *n = conf_get(conf_root(t), a);

    n = b && n ? conf_get(n, b) : n;
    n = c && n ? conf_get(n, c) : n;
    return n && n->kind == CONF_SCALAR ? n->text : NULL;
}

Test(sweep, trees)
{
    struct conf_errors e = {0};
    struct sweep *s;
    struct conf_tree *t;

    fake_file("base.yaml", "duration: 1s\nhost: {tick: 250}\n");
    /* The short form stands first in the file and still means the scheduler of its point. */
    s = read_good("base: base.yaml\nseed: 5\naxes:\n  host.slice: [2ms]\n"
                  "  host.scheduler: [rr, eevdf]\n  a.b: [{c: 1}]\n  a.b.c: [3]\n");
    t = sweep_tree(s, 1, &e);
    cr_assert(t && e.n == 0, "%s", e.n ? e.list[0].text : "");
    cr_expect_str_eq(text_at(t, "seed", NULL, NULL), "5");
    cr_expect_str_eq(text_at(t, "duration", NULL, NULL), "1s");
    cr_expect_str_eq(text_at(t, "host", "tick", NULL), "250");
    const struct conf_node *sched = conf_get(conf_get(conf_root(t), "host"), "scheduler");

    cr_expect_str_eq(conf_get(conf_get(sched, "eevdf"), "slice")->text, "2ms");
    cr_expect_str_eq(text_at(t, "a", "b", "c"), "3");
    cr_expect(!conf_get(conf_root(s->base), "seed"), "the base changed");
    conf_free(t);
    sweep_free(s);
}

static void expect_errors(const char *text, int n, ...)
{
    struct conf_errors e = {0};
    struct sweep *s = sweep_read(fake_file("bad.yaml", text), &e);
    va_list ap;

    cr_expect(!s);
    cr_expect(e.n == (size_t)n, "%zu messages, not %d, for:\n%s", e.n, n, text);
    va_start(ap, n);
    for (int i = 0; i < n; i++) {
        const char *part = va_arg(ap, const char *);
        bool found = false;

        for (size_t k = 0; k < e.n; k++)
            found = found || strstr(e.list[k].text, part);
        cr_expect(found, "no message with: %s (first: %s)", part, e.n ? e.list[0].text : "none");
    }
    va_end(ap);
    conf_errors_free(&e);
    sweep_free(s);
}

Test(sweep, all_errors_at_once)
{
    expect_errors(BASE
                  "axes:\n  oversubscription: [1, 2, 1]\n  slice: {from: 1ms, to: 4, steps: 3}\n"
                  "  log: {from: 0, to: 4, steps: 3, scale: log}\n  replications: [1]\n  e: []\n"
                  "pair: [[oversubscripton, slice]]\nreplications: 0\nmetrics: [throughpt]\n"
                  "axis: 1\n",
                  9, "bad.yaml:3:28: '1' stands twice", "bad.yaml:4:10: 'from' and 'to'",
                  "bad.yaml:5:8: a range with scale: log", "'replications' is no axis",
                  "the axis 'e' has no values", "did you mean 'oversubscription'?",
                  "bad.yaml:9:15:", "did you mean 'throughput'?", "did you mean 'axes'?");
    expect_errors("axes: {a: [1]}\n", 1, "needs 'base'");
    expect_errors("[1, 2]\n", 1, "a sweep is a mapping");
    expect_errors("base: nowhere.yaml\n", 1, "nowhere.yaml");
    expect_errors(BASE "axes: {a: [1, 2], b: [1, 2, 3]}\npair: [[a, b]]\n", 1,
                  "'a' has 2, 'b' has 3");
    expect_errors(BASE "axes: {a: [1, 2], b: [1, 2], c: [1, 2]}\npair: [[a, b], [b, c], [a]]\n", 2,
                  "'b' is paired twice", "a pair is a list of two or more");
    expect_errors(BASE "axes: {a: {from: 1, to: 2}, b: {from: x, to: 2, steps: 2}, c: 5}\n", 3,
                  "needs 'steps'", "'from' is 'x'", "must be a list of values");
    expect_errors(BASE "axes: {a: {from: 1, to: 1000, steps: 1000},"
                       " b: {from: 1, to: 1000, steps: 1000}, c: [1, 2]}\n",
                  1, "more than 1000000 points");
}

Test(sweep, points_are_checked)
{
    struct conf_errors e = {0};
    struct sweep *s = read_good(BASE "axes:\n  vms.web.guest.policy: [bare, nopolicy]\n"
                                     "  vms.web.vcpus: [1, 2, 0]\n  durations: [1s]\n");
    struct study *st = study_new(s, "1", "", &e);
    size_t policy = 0, count = 0, key = 0;

    cr_expect(!st);
    for (size_t i = 0; i < e.n; i++) {
        policy += strstr(e.list[i].text, "nopolicy") && strstr(e.list[i].text, ":3:32:") &&
                  strstr(e.list[i].text, "(at vms.web.guest.policy=nopolicy, vms.web.vcpus=1");
        count += strstr(e.list[i].text, "vms.web.vcpus=0") != NULL;
        key += strstr(e.list[i].text, "did you mean 'duration'?") != NULL;
    }
    cr_expect(e.n == 3 && policy == 1 && count == 1 && key == 1, "%zu: %s", e.n, e.list[0].text);
    conf_errors_free(&e);
    sweep_free(s);

    e = (struct conf_errors){0};
    s = read_good(BASE "axes: {duration: [1s, 1000ms]}\n");
    cr_expect(!study_new(s, "1", "", &e));
    cr_expect(e.n == 1 && strstr(e.list[0].text, "(duration=1s) and (duration=1000ms)"), "%s",
              e.n ? e.list[0].text : "none");
    conf_errors_free(&e);
    sweep_free(s);

    e = (struct conf_errors){0};
    s = read_good(BASE "axes: {vms.web.vcpus: [1, 2]}\nreplications: 3\nseed: 12\n");
    st = study_new(s, "1", "", &e);
    cr_assert(st && st->npoints == 2, "%s", e.n ? e.list[0].text : "none");
    cr_expect(st->point[1].seed == 12 && st->point[1].replications == 3);
    struct store_point row;

    cr_assert(study_row(st, 1, &row));
    cr_expect_str_eq(row.labels, "{\"vms.web.vcpus\":\"2\"}");
    cr_expect(!strstr(row.echo, "\"replications\"") && strstr(row.echo, "\"duration\""));
    cr_expect_str_eq(row.hash, st->point[1].row.hash);
    study_row_free(&row);
    study_free(st);
    sweep_free(s);
}

/* A study is not freed before its test ends: neither are the rows that are looked at. */
static struct store_point row_of(const struct study *st, size_t i)
{
    static struct store_point rows[1000];

    cr_assert(i < 1000);
    if (!rows[i].hash || strcmp(rows[i].hash, st->point[i].row.hash) != 0) {
        study_row_free(&rows[i]);
        cr_assert(study_row(st, i, &rows[i]));
    }
    return rows[i];
}

/* The echo of the point whose `vary` has this label. */
static const char *echo_of(const struct study *st, const char *label)
{
    for (size_t i = 0; i < st->npoints; i++) {
        const struct store_point row = row_of(st, i);
        const char *at = strstr(row.labels, label);

        if (at && at[strlen(label)] == '"')
            return row.echo;
    }
    cr_assert_fail("no point '%s'", label);
    return "";
}

/* How many parts between commas differ in two echoes of the same keys. */
static int differences(const char *a, const char *b)
{
    int n = 0;

    while (*a && *b) {
        const size_t x = strcspn(a, ","), y = strcspn(b, ",");

        n += x != y || strncmp(a, b, x) != 0;
        a += x + (a[x] == ',');
        b += y + (b[y] == ',');
    }
    return n + (*a || *b);
}

#define VARIED                                                                                     \
    "base: {machine: flat-8, duration: 200ms, warmup: 50ms, host: {scheduler: eevdf, tick: 1000}," \
    " vms: [{name: web, vcpus: 5, workload: busy-service, idle: mwait-sched, weight: 1000,"        \
    " guest: {policy: {cps-load: {threshold: 2}}}}]}\n"

Test(sweep, vary_changes_one_number)
{
    /* Defaults, short forms, a named machine and its C-states, a name that gets a parameter, the
     * only choice, ratios, whole numbers; the named machine and workload also change their names.
     */
    static const struct {
        const char *path, *less, *more; /* 12.5 % less, 50 % more */
        int ndiffer;
    } cases[] = {
        {"warmup", "\"warmup\":\"43750us\"", "\"warmup\":\"75ms\"", 1},
        {"machine.costs.look", "\"look\":\"438ns\"", "\"look\":\"750ns\"", 2},
        {"machine.power.active", "\"active\":4.375", "\"active\":7.5", 2},
        {"machine.cstates.C6.exit", "\"exit\":\"116375ns\"", "\"exit\":\"199500ns\"", 2},
        {"machine.cstates.1.power", "\"power\":0.875", "\"power\":1.5}", 2},
        {"host.tick", "\"tick\":875", "\"tick\":1500", 1},
        {"host.slice", "\"slice\":\"2450us\"", "\"slice\":\"4200us\"", 1},
        {"vms.web.vcpus", "\"vcpus\":4", "\"vcpus\":8", 1},
        {"vms.0.weight", "\"weight\":875", "\"weight\":1500", 1},
        {"vms.web.idle.mwait-sched.sample-len", "\"sample-len\":\"8750us\"",
         "\"sample-len\":\"15ms\"", 1},
        {"vms.web.idle.slice", "\"slice\":\"43750ns\"", "\"slice\":\"75us\"", 1},
        {"vms.web.guest.hz", "\"hz\":219", "\"hz\":375", 1},
        {"vms.web.workload.tasks.server.start.uniform", "inline", "inline", 2},
        {"vms.web.workload.tasks.0.program.0.loop.body.0.sleep.gamma.shape", "inline", "inline", 2},
    };
    const size_t n = sizeof(cases) / sizeof(cases[0]);
    struct conf_errors e = {0};
    char text[3000] = VARIED "vary:\n  by: [-12.5%, 50%]\n  paths:\n";

    for (size_t i = 0; i < n; i++)
        sprintf(text + strlen(text), "    - %s\n", cases[i].path);
    struct sweep *s = read_good(text);
    struct study *st = study_new(s, "1", "", &e);

    cr_assert(st, "%s", e.n ? e.list[0].text : "none");
    cr_expect(st->npoints == 1 + 2 * n);
    cr_expect_str_eq(row_of(st, 0).labels, "{\"vary\":\"none\"}");
    for (size_t i = 0; i < 2 * n; i++) {
        const char *want = i % 2 ? cases[i / 2].more : cases[i / 2].less;
        const char *echo = row_of(st, i + 1).echo;
        char label[200];

        snprintf(label, sizeof(label), "%s %s", cases[i / 2].path, i % 2 ? "+50%" : "-12.5%");
        cr_expect(echo_of(st, label) == echo, "%s is not point %zu", label, i + 1);
        cr_expect(strstr(echo, want), "%s: no %s in %s", label, want, echo);
        cr_expect(differences(row_of(st, 0).echo, echo) == cases[i / 2].ndiffer,
                  "%s: %d differences", label, differences(row_of(st, 0).echo, echo));
    }
    study_free(st);
    sweep_free(s);
}

/* What varies is the value that the other axes gave, in a workload that they chose. */
Test(sweep, vary_comes_after_the_axes)
{
    struct conf_errors e = {0};
    struct sweep *s =
        read_good(VARIED "axes:\n  vms.web.workload: [redis-get, ping]\n"
                         "  machine.costs.look: [200ns, {value: 600ns, label: slow}]\n"
                         "vary:\n  by: [50%]\n"
                         "  paths: [machine.costs.look, vms.web.workload.objects.devices.wire."
                         "service.uniform]\n");
    static const char *const want[][2] = {{"120000ns", "180000ns"}, {"1470000ns", "1530000ns"}};

    cr_assert(s->npoints == 12 && s->naxes == 3);
    for (size_t p = 0; p < 12; p++) {
        struct conf_tree *t = sweep_tree(s, p, &e);
        const struct conf_node *look =
            conf_get(conf_get(conf_get(conf_root(t), "machine"), "costs"), "look");
        const struct conf_node *web = conf_get(conf_root(t), "vms")->child[0];
        const struct conf_node *range = conf_get(
            conf_get(conf_get(conf_get(conf_get(conf_get(web, "workload"), "objects"), "devices"),
                              "wire"),
                     "service"),
            "uniform");
        const char *looks[] = {p % 6 < 3 ? "200ns" : "600ns", p % 6 < 3 ? "300ns" : "900ns"};

        cr_expect_str_eq(look->text, looks[p % 3 == 1], "point %zu", p);
        cr_expect(!range == (p % 3 != 2), "point %zu: only this one opens its workload", p);
        if (range) {
            cr_expect_str_eq(range->child[0]->text, p < 6 ? want[0][0] : want[1][0], "%zu", p);
            cr_expect_str_eq(range->child[1]->text, p < 6 ? want[0][1] : want[1][1], "%zu", p);
        }
        conf_free(t);
    }
    cr_expect(e.n == 0, "%s", e.n ? e.list[0].text : "");
    sweep_free(s);
}

Test(sweep, vary_leaves_out_what_is_not_there)
{
    struct conf_errors e = {0};
    struct sweep *s =
        read_good(VARIED "axes: {vms.web.idle: [hlt, mwait-sched], vms.web.start: [0, 1ms]}\n"
                         "pair: [[vms.web.idle, vms.web.start]]\n"
                         "vary: {by: [50%], paths: [vms.web.idle.slice, vms.web.start, "
                         "{label: both, paths: [vms.web.weight, vms.web.idle.slice]}]}\n");
    char *labels = all_labels(s);

    cr_expect_str_eq(labels, "hlt,0,none hlt,0,both +50% mwait-sched,1ms,none "
                             "mwait-sched,1ms,vms.web.idle.slice +50% "
                             "mwait-sched,1ms,vms.web.start +50% mwait-sched,1ms,both +50%");
    cr_expect(s->axis[2].value[1].nleft == 1 && s->axis[2].value[2].nleft == 1);
    for (size_t p = 0; p < s->npoints; p++) {
        struct conf_tree *t = sweep_tree(s, p, &e);
        const struct conf_node *web = conf_get(conf_root(t), "vms")->child[0];
        const struct conf_node *slice =
            conf_get(conf_get(conf_get(web, "idle"), "mwait-sched"), "slice");

        cr_expect_str_eq(conf_get(web, "weight")->text, p == 1 || p == 5 ? "1500" : "1000");
        cr_expect(!slice == (p != 3 && p != 5), "point %zu", p);
        cr_expect(!slice || strcmp(slice->text, "75000ns") == 0, "%s", slice->text);
        conf_free(t);
    }
    cr_expect(e.n == 0, "%s", e.n ? e.list[0].text : "");
    free(labels);
    sweep_free(s);

    /* A table of C-states by name is spelled out before one of its numbers changes. */
    s = read_good("base: {machine: {base: flat-8, cstates: icx}, duration: 1s, warmup: 50ms, vms: "
                  "[{vcpus: 1, workload: ping}]}\n"
                  "vary: {by: [50%], paths: [machine.cstates.C6.exit]}\n");
    struct study *st = study_new(s, "1", "", &e);

    cr_assert(st, "%s", e.n ? e.list[0].text : "none");
    cr_expect(differences(row_of(st, 0).echo, row_of(st, 1).echo) == 1);
    study_free(st);
    sweep_free(s);
}

/* Prices of the list are assumed or not by their last source, those of 0 have nothing to vary. */
Test(sweep, assumed_costs)
{
    struct conf_errors e = {0};
    bool seen[200] = {false};
    size_t n = 0;

    fake_file("near.yaml", "base: flat-8\ncosts: {exit: {value: 1us, source: assumed}, "
                           "look: {value: 1us, source: measured}, wake: {value: 0, source: "
                           "assumed}}\n");
    struct sweep *s = read_good(
        "base: {machine: {base: ./near.yaml, costs: {entry: 300ns, ipi_send: {value: 1us, source: "
        "assumed; a guess}}}, duration: 1s, warmup: 50ms, vms: [{vcpus: 1, workload: ping}]}\n"
        "vary: {by: [-50%, 20%], paths: assumed-costs}\n");

    for (size_t i = 0; costs_params[i].name; i++) {
        const char *name = costs_params[i].name;
        const bool listed = strncmp(costs_params[i].source, "assumed", 7) == 0;
        const bool want = strcmp(name, "exit") == 0 || strcmp(name, "entry") == 0 ||
                          strcmp(name, "ipi_send") == 0 ||
                          (listed && strcmp(name, "look") != 0 && strcmp(name, "wake") != 0 &&
                           strcmp(costs_params[i].def, "0") != 0);
        char label[100];

        snprintf(label, sizeof(label), "machine.costs.%s -50%%", name);
        for (size_t k = 1; k < s->npoints; k += 2)
            seen[i] = seen[i] || strcmp(sweep_label(s, k, 0), label) == 0;
        cr_expect(seen[i] == want, "%s", name);
        n += want;
    }
    cr_expect(n > 20 && s->npoints == 1 + 2 * n, "%zu of %zu", n, s->npoints);
    struct study *st = study_new(s, "1", "", &e);

    cr_assert(st, "%s", e.n ? e.list[0].text : "none");
    cr_expect(strstr(echo_of(st, "machine.costs.exit +20%"), "\"exit\":\"1200ns\""));
    study_free(st);
    sweep_free(s);

    s = read_good("base: {machine: {base: flat-8, costs: {all_zero: on, look: 1us}}}\n"
                  "vary: {by: [20%], paths: [assumed-costs]}\n");
    /* What is no time is not made 0 by all_zero. */
    cr_expect(s->npoints == 2 && strcmp(sweep_label(s, 1, 0), "machine.costs.look +20%") == 0);
    sweep_free(s);
}

/* Points are left out before anything is made of them: what would be no scenario may stand in the axes. */
Test(sweep, only_and_except)
{
    expect_labels(BASE "axes: {a: [1, 2, 3], b: [x, y]}\nexcept: [{a: 2}, {a: 3, b: y}]\n",
                  "1,x 1,y 3,x");
    expect_labels(BASE "axes: {a: [1, 2, 3], b: [x, y]}\nonly: [{a: [1, 3], b: x}, {a: 2}]\n",
                  "1,x 2,x 2,y 3,x");
    expect_labels(BASE "axes: {k.a: [1, 2, 3], b: [x, {label: long one, value: {k: 1}}]}\n"
                       "only: [{a: [1, 2]}]\nexcept: [{a: 1, b: long one}]\n",
                  "1,x 2,x 2,long one");
    expect_labels(BASE "axes: {a: [1, 2], b: [x, y], c: [p, q]}\npair: [[a, c]]\n"
                       "except: [{c: p, b: y}]\n",
                  "1,x,p 2,x,q 2,y,q");
    expect_labels(BASE "axes: {a: [{c: 1}, 'two words'], b: {from: 1, to: 4, steps: 4}}\n"
                       "only: [{a: [{c: 1}]}, {a: two words, b: 4}]\n",
                  "{\"c\":1},1 {\"c\":1},2 {\"c\":1},3 {\"c\":1},4 \"two words\",4");

    struct conf_errors e = {0};
    struct sweep *s = read_good(BASE "axes:\n  vms.web.guest.policy: [bare, nopolicy]\n"
                                     "  vms.web.vcpus: [1, 2, 0]\n"
                                     "except: [{policy: nopolicy}, {vcpus: 0}]\n");
    struct study *st = study_new(s, "1", "", &e);

    cr_assert(st && st->npoints == 2 && st->point[1].row.position == 1, "%s",
              e.n ? e.list[0].text : "none");
    struct store_point row;

    cr_assert(study_row(st, 1, &row));
    cr_expect_str_eq(row.labels, "{\"vms.web.guest.policy\":\"bare\",\"vms.web.vcpus\":\"2\"}");
    study_row_free(&row);
    study_free(st);
    sweep_free(s);

    /* Also of the points that `vary` makes. */
    s = read_good(VARIED "axes: {vms.web.weight: [10, 1000]}\n"
                         "vary: {by: [50%], paths: [duration, warmup]}\n"
                         "except: [{weight: 10, vary: [duration +50%, warmup +50%]}]\n");
    char *labels = all_labels(s);

    cr_expect_str_eq(labels, "10,none 1000,none 1000,duration +50% 1000,warmup +50%");
    free(labels);
    sweep_free(s);
}

Test(sweep, until)
{
    struct conf_errors e = {0};
    struct sweep *s = read_good(BASE "until: {metric: p99, half_width: 2.5%, max: 50}\n");
    struct study *st = study_new(s, "1", "", &e);

    cr_expect(s->until.metric == metric_find("latency_p99_us") && s->until.half_width == 0.025 &&
              s->until.max == 50 && s->until.min == 0);
    cr_assert(st && st->until == &s->until);
    study_free(st);
    sweep_free(s);
    s = read_good(
        BASE "replications: 7\nuntil: {metric: throughput, half_width: 0.1, max: 9, min: 3}\n");
    cr_expect(s->until.min == 3 && s->replications == 7);
    sweep_free(s);
}

/* A scenario that is made again out of files that were kept is the one that was checked. */
Test(sweep, points_stay_what_they_were)
{
    struct conf_errors e = {0};
    struct sweep *s;
    struct study *st;
    struct store_point row;
    char *before, *whole;

    fake_file("near.yaml", "base: flat-8\ncosts: {exit: 1us}\n");
    fake_file("work.yaml", "tasks: [{name: t, program: [{run: 1ms}, {sleep: 1ms}]}]\n");
    s = read_good("base: {machine: ./near.yaml, duration: 1s, warmup: 200ms, vms: [{name: web, "
                  "vcpus: 1, workload: ./work.yaml}]}\naxes: {vms.web.vcpus: [1, 2]}\n");
    st = study_new(s, "1", "", &e);
    cr_assert(st, "%s", e.n ? e.list[0].text : "none");
    cr_assert(study_row(st, 1, &row));
    before = strdup(row.echo);
    study_row_free(&row);
    fake_file("near.yaml", "base: flat-8\ncosts: {exit: 9us}\n");
    fake_file("work.yaml", "tasks: [{name: t, program: [{run: 7ms}]}]\n");
    cr_assert(study_row(st, 1, &row));
    cr_expect_str_eq(row.echo, before);
    /* The same as when it is read alone. */
    fake_file("near.yaml", "base: flat-8\ncosts: {exit: 1us}\n");
    fake_file("work.yaml", "tasks: [{name: t, program: [{run: 1ms}, {sleep: 1ms}]}]\n");
    struct conf_tree *t = sweep_tree(s, 1, &e);
    struct scenario *alone = scenario_from_tree(t, s->base_file, &e);

    cr_assert(alone, "%s", e.n ? e.list[0].text : "none");
    cr_expect_str_eq(alone->hash, st->point[1].row.hash);
    whole = study_echo(alone->echo);
    cr_expect_str_eq(whole, before);
    cr_expect(strstr(alone->echo, "\"seed\":\"1\",\"replications\":1,\"pool\""), "%s", alone->echo);
    free(whole);
    free(before);
    scenario_free(alone);
    conf_free(t);
    study_row_free(&row);
    study_free(st);
    sweep_free(s);
}

Test(sweep, echo_without_samples)
{
    static const char *const cases[][2] = {
        {"{\"seed\":1,\"a\":2,\"replications\":5}", "{\"a\":2}"},
        {"{\"a\":{\"seed\":1,\"x\":[1,2,\",\"]},\"seed\":\"1\",\"b\":3}",
         "{\"a\":{\"seed\":1,\"x\":[1,2,\",\"]},\"b\":3}"},
        {"{ \"replications\": 3 }", "{}"},
        {"{\"a\":\"\\\"seed\\\":1,\"}", "{\"a\":\"\\\"seed\\\":1,\"}"},
        {"{}", "{}"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *got = study_echo(cases[i][0]);

        cr_expect(strcmp(got, cases[i][1]) == 0, "%s gives %s", cases[i][0], got);
        free(got);
    }
}

Test(sweep, order_of_labels)
{
    static const char *const order[] = {"-1",  "0",   "0.5",   "1",    "1.5",  "2",   "10", "20%",
                                        "5us", "1ms", "1e3ms", "0x10", "bare", "cps", "nan"};
    const size_t n = sizeof(order) / sizeof(order[0]);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const int c = quantity_compare(order[i], order[k]);

            cr_expect((c > 0) - (c < 0) == (i > k) - (i < k), "%s %s: %d", order[i], order[k], c);
        }
    cr_expect(quantity_compare("1", "1.0") != 0 && quantity_compare("1", "1") == 0);
}
