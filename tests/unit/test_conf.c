/* SPDX-License-Identifier: MIT */
/* Trees, scalars, overrides and nearest names: what they give for good input. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct conf_tree *read_good(const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("t.yaml", text, strlen(text), &e);
    cr_assert(t != NULL && e.n == 0, "%s: %s", text, e.n > 0 ? e.list[0].text : "no tree");
    return t;
}

static void expect_text(const struct conf_node *n, const char *want, const char *what)
{
    char *text = conf_text(n);
    cr_expect_str_eq(text, want, "%s: got %s, want %s", what, text, want);
    free(text);
}

/* Everything printed about `e`, malloc'ed; `e` is emptied. */
static char *printed(struct conf_errors *e)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    conf_errors_print(e, f);
    fclose(f);
    conf_errors_free(e);
    return text;
}

Test(conf, tree_keeps_order_positions_and_quotes)
{
    const char *text = "\xef\xbb\xbf# comment\r\n"
                       "zeta: 2ms\r\n"
                       "alpha:\r\n"
                       "  - name: \"w\xc3\xa9"
                       "b\"\r\n"
                       "    pin: '0-3'\r\n"
                       "  - {name: db, count: 4}\r\n"
                       "empty:\r\n";
    struct conf_tree *t = read_good(text);
    const struct conf_node *root = conf_root(t);
    cr_assert(root->kind == CONF_MAP && root->n == 3);
    cr_expect_str_eq(root->child[0]->key, "zeta");
    cr_expect_str_eq(root->child[1]->key, "alpha");
    cr_expect_str_eq(root->file, "t.yaml");

    const struct conf_node *z = conf_get(root, "zeta");
    cr_expect(z->line == 2 && z->column == 7 && z->key_line == 2 && z->key_column == 1);
    cr_expect(!z->quoted);
    const struct conf_node *list = conf_get(root, "alpha");
    cr_assert(list->kind == CONF_SEQ && list->n == 2 && list->key != NULL);
    const struct conf_node *pin = conf_get(list->child[0], "pin");
    cr_expect(pin->quoted && pin->line == 5 && pin->column == 10 && pin->key_column == 5);
    cr_expect_null(list->child[0]->key);
    const struct conf_node *count = conf_get(list->child[1], "count");
    cr_expect(count->line == 6 && count->column == 23, "%d:%d", count->line, count->column);
    const struct conf_node *empty = conf_get(root, "empty");
    cr_expect(empty->kind == CONF_SCALAR && empty->text[0] == '\0' && !empty->quoted);

    cr_expect_null(conf_get(root, "beta"));
    cr_expect_null(conf_get(NULL, "beta"));
    cr_expect_null(conf_get(z, "beta"));
    expect_text(root,
                "{\"zeta\":2ms,\"alpha\":[{\"name\":\"w\xc3\xa9"
                "b\",\"pin\":\"0-3\"},"
                "{\"name\":db,\"count\":4}],\"empty\":\"\"}",
                "whole tree");
    conf_free(t);
}

Test(conf, text_reads_back_the_same)
{
    static const char *const texts[] = {"hlt",
                                        "2ms",
                                        "-5",
                                        "'5'",
                                        "\"a \\\"b\\\" \\\\ \\n \\x07 \\L \\uFFFE\"",
                                        "{a: 1}",
                                        "[]",
                                        "{}",
                                        "{a: on, b: 'on', c: [1, '1', x y, ./p, '%', -, a:b]}",
                                        "|\n  two\n  lines\n",
                                        "{\"k \\t\": {deep: [[[1]]]}}",
                                        "\xf0\x9f\x98\x80 smile",
                                        "-1.5e-3",
                                        "20%"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct conf_tree *t = read_good(texts[i]);
        char *once = conf_text(conf_root(t));
        struct conf_tree *again = read_good(once);
        expect_text(conf_root(again), once, texts[i]);
        struct conf_tree *copy = conf_clone(t);
        expect_text(conf_root(copy), once, texts[i]);
        if (conf_root(t)->kind == CONF_SCALAR)
            cr_expect_str_eq(conf_root(t)->text, conf_root(again)->text);
        conf_free(t);
        expect_text(conf_root(copy), once, "a copy outlives its original");
        conf_free(copy);
        conf_free(again);
        free(once);
    }
}

Test(conf, times_are_exact)
{
    static const struct {
        const char *text;
        ns_t ns;
        const char *canonical;
    } cases[] = {
        {"0", 0, "0"},
        {"0s", 0, "0"},
        {"1ns", 1, "1ns"},
        {"1.5us", 1500, "1500ns"},
        {"2ms", 2000000, "2ms"},
        {"2.8ms", 2800000, "2800us"},
        {"'3ms'", 3000000, "3ms"},
        {"1.0ns", 1, "1ns"},
        {"0.000000001s", 1, "1ns"},
        {"1.50000000000000s", 1500000000, "1500ms"},
        {"0.1s", 100000000, "100ms"},
        {"007us", 7000, "7us"},
        {"9007199254740993ns", 9007199254740993, "9007199254740993ns"},
        {"9007199.254740993s", 9007199254740993, "9007199254740993ns"},
        {"9223372036854775806ns", INT64_MAX - 1, "9223372036854775806ns"},
        {"9223372036.854775806s", INT64_MAX - 1, "9223372036854775806ns"},
        {"3600s", 3600 * NS_SEC, "3600s"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        struct conf_tree *t = read_good(cases[i].text);
        ns_t v = -1;
        cr_expect(conf_ns(conf_root(t), &v, &e), "%s", cases[i].text);
        cr_expect(v == cases[i].ns && e.n == 0, "%s: %lld", cases[i].text, (long long)v);
        char text[32];
        conf_ns_text(v, text);
        cr_expect_str_eq(text, cases[i].canonical, "%s: %s", cases[i].text, text);
        conf_free(t);
    }
}

static void expect_reals(const char *where)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {{"0", 0.0},       {"1.5", 1.5},    {"20%", 0.2},     {"33.3%", 0.333},
                 {"-0.25", -0.25}, {"1e3", 1000.0}, {"2.5E-1", 0.25}, {"0.1", 0.1},
                 {"100%", 1.0},    {"7.08", 7.08}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        struct conf_tree *t = read_good(cases[i].text);
        double v = NAN;
        cr_expect(conf_real(conf_root(t), -1e9, 1e9, &v, &e) && v == cases[i].want,
                  "%s: %s gives %.17g", where, cases[i].text, v);
        conf_errors_free(&e);
        conf_free(t);
    }
}

Test(conf, numbers_and_words)
{
    static const struct {
        const char *text;
        int64_t want;
    } ints[] = {{"0", 0},
                {"-7", -7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"250", 250}};
    static const char *const bools[] = {"false", "true", "off", "on", "no", "yes"};
    struct conf_errors e = {0};
    for (size_t i = 0; i < COUNT(ints); i++) {
        struct conf_tree *t = read_good(ints[i].text);
        int64_t v = 1;
        cr_expect(conf_int(conf_root(t), INT64_MIN, INT64_MAX, &v, &e) && v == ints[i].want);
        conf_free(t);
    }
    for (size_t i = 0; i < COUNT(bools); i++) {
        struct conf_tree *t = read_good(bools[i]);
        bool v = i % 2 == 0;
        cr_expect(conf_bool(conf_root(t), &v, &e) && v == (i % 2 == 1), "%s", bools[i]);
        cr_expect_str_eq(conf_str(conf_root(t), &e), bools[i]);
        conf_free(t);
    }
    cr_expect(e.n == 0);
    expect_reals("locale C");
}

Test(conf, numbers_ignore_the_locale)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        cr_skip_test("no locale de_DE.UTF-8");
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    cr_assert_str_eq(text, "0,5", "the locale has no decimal comma");
    expect_reals("locale de_DE");
    struct conf_errors e = {0};
    struct conf_tree *t = read_good("2.5");
    double v;
    cr_expect(!conf_real(conf_root(t), 0.25, 1.5, &v, &e));
    char *out = printed(&e);
    cr_expect_str_eq(out, "t.yaml:1:1: the value is '2.5', expected a number from 0.25 to 1.5\n");
    free(out);
    conf_free(t);
}

Test(conf, cpu_lists_are_ascending_sets)
{
    static const struct {
        const char *text, *want;
    } cases[] = {{"0", "0 "},
                 {"'0-3,8,10-11'", "0 1 2 3 8 10 11 "},
                 {"0-3, 8", "0 1 2 3 8 "},
                 {"[5, 1, 5]", "1 5 "},
                 {"[0-2, '7']", "0 1 2 7 "},
                 {"4,2-5,3", "2 3 4 5 "},
                 {"127", "127 "}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        struct conf_tree *t = read_good(cases[i].text);
        int *list = NULL;
        size_t n = 0;
        cr_assert(conf_cpulist(conf_root(t), 128, &list, &n, &e), "%s", cases[i].text);
        char got[256] = "";
        for (size_t k = 0; k < n; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", list[k]);
        cr_expect_str_eq(got, cases[i].want, "%s: %s", cases[i].text, got);
        free(list);
        conf_free(t);
    }
}

static const char scenario[] = "duration: 2s\n"
                               "host: {scheduler: {eevdf: {slice: 3ms}}}\n"
                               "load: high\n"
                               "none:\n"
                               "vms:\n"
                               "  - name: web\n"
                               "    guest: {policy: cps-load}\n"
                               "    idle: {hlt: {}}\n"
                               "  - name: db\n"
                               "    guest: {policy: {cps-load: {degree: 1}}}\n"
                               "  - plain\n";

Test(conf, overrides_reach_what_their_path_says)
{
    static const struct {
        const char *path, *value, *look, *want;
    } cases[] = {
        {"duration", "4s", "duration", "4s"},
        {"seed", "7", "seed", "7"},
        {"vms.0.idle", "mwait-sched", "vms.0", /* by index */
         "{\"name\":web,\"guest\":{\"policy\":cps-load},\"idle\":mwait-sched}"},
        {"vms.db.idle", "{halt-poll: {max: 2us}}", "vms.1", /* by name, and a new key */
         "{\"name\":db,\"guest\":{\"policy\":{\"cps-load\":{\"degree\":1}}},"
         "\"idle\":{\"halt-poll\":{\"max\":2us}}}"},
        {"vms.web.guest.policy.threshold", "2", "vms.0.guest", /* through a name */
         "{\"policy\":{\"cps-load\":{\"threshold\":2}}}"},
        {"vms.web.guest.policy.cps-load.threshold", "2", "vms.0.guest", /* which may be repeated */
         "{\"policy\":{\"cps-load\":{\"threshold\":2}}}"},
        {"vms.db.guest.policy.threshold", "2", "vms.1.guest", /* into the only choice */
         "{\"policy\":{\"cps-load\":{\"degree\":1,\"threshold\":2}}}"},
        {"vms.db.guest.policy.degree", "2", "vms.1.guest",
         "{\"policy\":{\"cps-load\":{\"degree\":2}}}"},
        {"vms.db.guest.policy.cps-load", "{threshold: 3}", "vms.1.guest",
         "{\"policy\":{\"cps-load\":{\"threshold\":3}}}"},
        {"vms.web.idle.slice", "1us", "vms.0.idle", "{\"hlt\":{\"slice\":1us}}"},
        {"vms.db.guest.policy", "bare", "vms.1.guest", "{\"policy\":bare}"},
        {"vms.db.guest.nohz", "off", "vms.1.guest", /* a section is no choice */
         "{\"policy\":{\"cps-load\":{\"degree\":1}},\"nohz\":off}"},
        {"host.tick", "250", "host", "{\"scheduler\":{\"eevdf\":{\"slice\":3ms}},\"tick\":250}"},
        {"host.scheduler.slice", "4ms", "host", "{\"scheduler\":{\"eevdf\":{\"slice\":4ms}}}"},
        {"host.scheduler.tick", "4ms", "host",
         "{\"scheduler\":{\"eevdf\":{\"slice\":3ms,\"tick\":4ms}}}"},
        {"none.a.b", "[1, 2]", "none", "{\"a\":{\"b\":[1,2]}}"},
        {"channel.delay", "5us", "channel", "{\"delay\":5us}"},
        {"vms.2.threads", "8", "vms.2", "{\"plain\":{\"threads\":8}}"},
        {"vms.2", "{name: x}", "vms.2", "{\"name\":x}"},
        {"load", "'5'", "load", "\"5\""},
    };
    struct conf_tree *base = read_good(scenario);
    char *before = conf_text(conf_root(base));
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        struct conf_tree *t = conf_clone(base);
        cr_assert(conf_set(t, cases[i].path, cases[i].value, &e), "%s: %s", cases[i].path,
                  e.n > 0 ? e.list[0].text : "no error");
        const struct conf_node *n = conf_root(t);
        char *look = strdup(cases[i].look);
        for (char *save, *part = strtok_r(look, ".", &save); part != NULL;
             part = strtok_r(NULL, ".", &save))
            n = n->kind == CONF_SEQ ? n->child[atoi(part)] : conf_get(n, part);
        expect_text(n, cases[i].want, cases[i].path);
        free(look);
        conf_free(t);
    }
    expect_text(conf_root(base), before, "the original of all these copies");
    free(before);
    conf_free(base);
}

Test(conf, overrides_say_where_they_come_from)
{
    struct conf_errors e = {0};
    struct conf_tree *t = read_good(scenario);
    struct conf_tree *axis = read_good("x:\n  - {a: 5}\n");
    cr_assert(conf_set(t, "duration", "5", &e));
    cr_assert(conf_set_node(t, "vms.db.count", conf_root(axis)->child[0]->child[0], &e));
    conf_free(axis);

    ns_t ns;
    int64_t count;
    const struct conf_node *db = conf_get(conf_root(t), "vms")->child[1];
    cr_expect_not(conf_ns(conf_get(conf_root(t), "duration"), &ns, &e));
    cr_expect_not(conf_int(conf_get(db, "count"), 1, 9, &count, &e));
    cr_expect_not(conf_ns(conf_get(conf_root(t), "load"), &ns, &e));
    cr_expect_not(conf_ns(conf_get(conf_root(t), "load"), &ns, &e));
    char *out = printed(&e);
    cr_expect_str_eq(
        out, "command line:1:1: 'duration' is '5': a unit is required, one of ns, us, ms, s\n"
             "t.yaml:2:5: 'count' is a mapping, expected a whole number from 1 to 9\n"
             "t.yaml:3:7: 'load' is 'high', expected a time such as 10us, 2ms or 1.5s\n");
    free(out);
    conf_free(t);
}

Test(conf, a_failed_override_changes_nothing)
{
    static const char *const paths[] = {"vms.9.idle", "vms.wbe.idle", "duration.x",      "new.0.x",
                                        "load.a.0",   "none.0.b",     "vms.web.new.a.1", "vms..a",
                                        "",           "vms.name",     "load.0",          "vms.2.0"};
    struct conf_tree *t = read_good(scenario);
    char *before = conf_text(conf_root(t));
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct conf_errors e = {0};
        cr_expect(!conf_set(t, paths[i], "1", &e) && e.n == 1, "%s", paths[i]);
        conf_errors_free(&e);
        expect_text(conf_root(t), before, paths[i]);
    }
    cr_expect_not(conf_set(t, "duration", "[", NULL));
    cr_expect_not(conf_set(t, "duration", "", NULL));
    expect_text(conf_root(t), before, "broken values");
    free(before);
    conf_free(t);
}

Test(conf, nearest_names)
{
    static const char *const names[] = {"threshold", "slice", "rr", "gang", "eevdf", "credit2"};
    static const struct {
        const char *name, *want;
    } cases[] = {{"treshold", "threshold"},
                 {"threhsold", "threshold"},
                 {"slcie", "slice"},
                 {"SLICE", "slice"},
                 {"eevfd", "eevdf"},
                 {"credit", "credit2"},
                 {"rt", "rr"},
                 {"x", NULL},
                 {"quux", NULL},
                 {"", NULL},
                 {"gan", "gang"},
                 {"slice", "slice"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *got = conf_nearest(cases[i].name, names, COUNT(names));
        cr_expect(got == cases[i].want || (got && cases[i].want && !strcmp(got, cases[i].want)),
                  "%s: %s", cases[i].name, got ? got : "none");
    }
    char *longest = malloc(5000);
    memset(longest, 'a', 4999);
    longest[4999] = '\0';
    cr_expect_null(conf_nearest(longest, names, COUNT(names)));
    cr_expect_null(conf_nearest("slice", names, 0));
    free(longest);
}
