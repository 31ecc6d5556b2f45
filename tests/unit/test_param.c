/* SPDX-License-Identifier: MIT */
/* Parameter tables: defaults, reading, canonical text, listing, and the price list as a table. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "conf/costs.h"
#include "conf/param.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct knobs {
    ns_t slice;
    int64_t tick;
    bool nohz;
    double ratio;
    int wake;
    ns_t delay;
    int64_t offset;
    double open;
};

static const char *const wakes[] = {"all", "chain", "off", NULL};

#define ROW(field, kind, d, lo, hi, h)                                                             \
    {                                                                                              \
        .name = #field, .type = kind, .offset = offsetof(struct knobs, field), .def = d,           \
        .min = lo, .max = hi, .help = h, .source = "assumed"                                       \
    }

static const struct param knobs[] = {
    ROW(slice, PARAM_NS, "2.8ms", NS_US, NS_SEC, "how long a vCPU runs"),
    ROW(tick, PARAM_INT, "250", 0, 10000, "in Hz"),
    ROW(nohz, PARAM_BOOL, "on", 0, 0, "stop the tick"),
    ROW(ratio, PARAM_REAL, "20%", 0, 1, "share"),
    {.name = "wake",
     .type = PARAM_ENUM,
     .offset = offsetof(struct knobs, wake),
     .def = "chain",
     .values = wakes,
     .help = "who is woken",
     .source = "assumed"},
    ROW(delay, PARAM_NS, "0", 0, 0, "any time"),
    ROW(offset, PARAM_INT, "-3", -5, 5, "either side"),
    ROW(open, PARAM_REAL, "0.1", 0, 0, "any number"),
    PARAM_END,
};

static struct conf_tree *read_good(const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("t.yaml", text, strlen(text), &e);
    cr_assert(t != NULL && e.n == 0, "%s: %s", text, e.n > 0 ? e.list[0].text : "no tree");
    return t;
}

static void expect_texts(const struct knobs *k, const char *const want[])
{
    for (size_t i = 0; knobs[i].name != NULL; i++) {
        char *text = param_text(&knobs[i], k);
        cr_expect_str_eq(text, want[i], "%s: %s, want %s", knobs[i].name, text, want[i]);
        free(text);
    }
}

Test(param, defaults_and_canonical_text)
{
    static const char *const want[] = {"2800us", "250", "on", "0.2", "chain", "0", "-3", "0.1"};
    struct knobs k;
    memset(&k, 0xff, sizeof k);
    params_default(knobs, &k);
    cr_expect(k.slice == 2800000 && k.tick == 250 && k.nohz && k.ratio == 0.2 && k.wake == 1);
    cr_expect(k.delay == 0 && k.offset == -3 && k.open == 0.1);
    expect_texts(&k, want);
    params_default(NULL, NULL);
    cr_expect(param_find(knobs, "ratio") == &knobs[3]);
    cr_expect_null(param_find(knobs, "rati"));
    cr_expect_null(param_find(NULL, "ratio"));

    /* What is written reads back as the same value. */
    struct conf_errors e = {0};
    for (size_t i = 0; knobs[i].name != NULL; i++) {
        struct knobs again;
        memset(&again, 0, sizeof again);
        char *text = param_text(&knobs[i], &k);
        struct conf_node n = {.kind = CONF_SCALAR, .text = text, .file = "t"};
        cr_expect(param_read(&knobs[i], &again, &n, &e), "%s", text);
        char *once_more = param_text(&knobs[i], &again);
        cr_expect_str_eq(once_more, text);
        free(once_more);
        free(text);
    }
    cr_expect(e.n == 0);
}

Test(param, values_replace_defaults)
{
    static const char *const want[] = {"3ms", "0",     "off", "1", "off", "9223372036854775806ns",
                                       "5",   "1e+300"};
    static const char *const defaults[] = {"2800us", "250", "on", "0.2", "chain", "0", "-3", "0.1"};
    struct conf_errors e = {0};
    struct knobs k;
    struct conf_tree *t = read_good("{slice: 3ms, tick: 0, nohz: no, ratio: 100%, wake: off,"
                                    " delay: 9223372036854775806ns, offset: 5, open: 1e300}");
    cr_assert(params_read(knobs, &k, conf_root(t), "knobs", &e) && e.n == 0);
    expect_texts(&k, want);
    conf_free(t);

    t = read_good("eevdf:\nother: {}\n");
    cr_expect(params_read(knobs, &k, NULL, "knobs", &e));
    expect_texts(&k, defaults);
    cr_expect(params_read(knobs, &k, conf_get(conf_root(t), "eevdf"), "knobs", &e));
    cr_expect(params_read(NULL, NULL, conf_get(conf_root(t), "other"), "nothing", &e));
    cr_expect(e.n == 0);
    conf_free(t);
}

Test(param, list_is_aligned_and_complete)
{
    static const char want[] = "  slice   2.8ms  1us..1s        how long a vCPU runs [assumed]\n"
                               "  tick    250    0..10000       in Hz [assumed]\n"
                               "  nohz    on     on|off         stop the tick [assumed]\n"
                               "  ratio   20%    0..1           share [assumed]\n"
                               "  wake    chain  all|chain|off  who is woken [assumed]\n"
                               "  delay   0      >= 0           any time [assumed]\n"
                               "  offset  -3     -5..5          either side [assumed]\n"
                               "  open    0.1    >= 0           any number [assumed]\n";
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    params_list(knobs, "  ", f);
    fclose(f);
    cr_expect_str_eq(text, want, "got:\n%s", text);
    free(text);
}

static void expect_broken(struct param bad, const char *want)
{
    const struct param table[] = {knobs[0], bad, PARAM_END};
    struct conf_errors e = {0};
    cr_expect_not(params_check(table, "policy x", &e), "%s", want);
    cr_assert(e.n == 1, "%s: %zu faults", want, e.n);
    cr_expect_str_eq(e.list[0].text, want, "got %s", e.list[0].text);
    conf_errors_free(&e);
}

Test(param, broken_tables_are_refused)
{
    struct conf_errors e = {0};
    cr_expect(params_check(knobs, "knobs", &e) && e.n == 0);
    cr_expect(params_check(NULL, "none", &e) && e.n == 0);

    struct param p = knobs[0];
    expect_broken(p, "policy x: parameter 'slice' stands in the table twice");
    p = knobs[1];
    p.help = NULL;
    expect_broken(p, "policy x: parameter 'tick' has no help");
    p = knobs[1];
    p.def = "20000";
    expect_broken(p, "policy x: 'tick' is '20000', expected a whole number from 0 to 10000");
    p = knobs[1];
    p.min = 9;
    p.max = 8;
    expect_broken(p, "policy x: parameter 'tick' has a range that is empty");
    p = knobs[4];
    p.values = NULL;
    expect_broken(p, "policy x: parameter 'wake' has no values");
    p = knobs[5];
    p.min = -1;
    expect_broken(p, "policy x: parameter 'delay' has a range with negative times");
    p = knobs[5];
    p.type = (enum param_type)77;
    expect_broken(p, "policy x: parameter 'delay' has an unknown type");
}

/* Each member of struct costs has exactly one row: all are 8 bytes wide. */
Test(param, price_list_covers_every_cost)
{
    struct conf_errors e = {0};
    cr_expect(params_check(costs_params, "costs", &e), "%s", e.n > 0 ? e.list[0].text : "");
    bool seen[sizeof(struct costs) / 8] = {false};
    size_t rows = 0;
    for (const struct param *p = costs_params; p->name != NULL; p++, rows++) {
        cr_assert(p->offset % 8 == 0 && p->offset / 8 < COUNT(seen), "%s", p->name);
        cr_expect_not(seen[p->offset / 8], "%s shares its place", p->name);
        seen[p->offset / 8] = true;
        cr_expect(p->type == PARAM_NS || p->type == PARAM_INT);
    }
    cr_expect(rows == COUNT(seen), "%zu rows for %zu members", rows, COUNT(seen));
}

Test(param, price_list_defaults_and_zeros)
{
    struct costs c;
    params_default(costs_params, &c);
    cr_expect(c.exit + c.entry == 520, "1300 cycles at 2.5 GHz");
    cr_expect(c.ipi_send == 1417 && c.ipi_send + c.ipi_latency == 2092, "5230 cycles");
    cr_expect(c.wake_mark * 48 / 1000 == 20, "48 vCPUs in 20 us");
    cr_expect(c.ple_window == 1638 && c.ple_grow == 2 && c.ple_max == NS_SEC);
    cr_expect(c.select_base + 3 * c.select_examine == 103);
    cr_expect(c.refill_core == 0 && c.refill_machine == 16 * NS_US && c.timer_floor == NS_US);

    char text[4096] = "{";
    for (const struct param *p = costs_params; p->name != NULL; p++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s: 0",
                 p == costs_params ? "" : ", ", p->name);
    strcat(text, "}");
    struct conf_tree *t = read_good(text);
    struct conf_errors e = {0};
    struct costs zero;
    memset(&zero, 0, sizeof zero);
    cr_expect(params_read(costs_params, &c, conf_root(t), "costs", &e), "%s",
              e.n > 0 ? e.list[0].text : "");
    cr_expect(memcmp(&c, &zero, sizeof c) == 0, "a machine without costs");
    conf_free(t);
}
