/* SPDX-License-Identifier: MIT */
/* Nonsense in files, values and overrides: refused with exactly these messages, in this order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/costs.h"
#include "conf/param.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

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

static void expect_printed(struct conf_errors *e, const char *want, const char *about)
{
    char *got = printed(e);
    cr_expect_str_eq(got, want, "%s\n got: %s\nwant: %s", about, got, want);
    free(got);
}

/* A text with its length, NUL bytes included. */
struct text_case {
    const char *text;
    size_t len;
    const char *want;
};

#define TEXT(t, w)                                                                                 \
    {                                                                                              \
        t, sizeof(t) - 1, w                                                                        \
    }

Test(conf_reject, texts_that_are_no_yaml)
{
    static const struct text_case cases[] = {
        TEXT("", "a.yaml:1:1: empty, expected YAML text\n"),
        TEXT("\xef\xbb\xbf", "a.yaml:1:1: empty, expected YAML text\n"),
        TEXT("# only\n\n", "a.yaml:1:1: only blanks and comments, expected YAML text\n"),
        TEXT("---\n", "a.yaml:1:1: only blanks and comments, expected YAML text\n"),
        TEXT("a: 1\nb\0: 2", "a.yaml:2:2: a NUL byte, expected YAML text: not a text file\n"),
        TEXT("\x7f"
             "ELF\x02\0",
             "a.yaml:1:6: a NUL byte, expected YAML text: not a text file\n"),
        TEXT("\xff\xfe"
             "a\0",
             "a.yaml:1:1: text in UTF-16 or UTF-32, expected UTF-8\n"),
        TEXT("\xfe\xff\0a", "a.yaml:1:1: text in UTF-16 or UTF-32, expected UTF-8\n"),
        TEXT("a: 1\r\nb\xc3\xa9\xff: 2",
             "a.yaml:2:3: not UTF-8 text: invalid leading UTF-8 octet\n"),
        TEXT("a: 1\rb: \xc3", "a.yaml:2:4: not UTF-8 text: incomplete UTF-8 octet sequence\n"),
        TEXT("a: \xed\xa0\x80", "a.yaml:1:4: not UTF-8 text: invalid Unicode character\n"),
        TEXT("a: 1\nb: \x07", "a.yaml:2:4: control character 0x07, expected YAML text\n"),
        TEXT("a: b: c\n", "a.yaml:1:5: not valid YAML: an unexpected ':' (wrong indentation, or a "
                          "text that needs quotes)\n"),
        TEXT("a: 1\n\tb: 2\n", "a.yaml:2:1: not valid YAML: a tab cannot indent, use spaces; see "
                               "what starts on line 1\n"),
        TEXT("a:\n\tb: 2\n", "a.yaml:2:1: not valid YAML: a tab cannot indent, use spaces\n"),
        TEXT("\xc3\xa9: @x\n",
             "a.yaml:1:4: not valid YAML: a text that starts with '@' needs quotes\n"),
        TEXT("a: [1, 2\nb: 3\n",
             "a.yaml:2:2: not valid YAML: expected ',' or ']'; see what starts on line 1\n"),
        TEXT("a: 'x\nb: 3\n", "a.yaml:3:1: not valid YAML: the text ends inside an open quote; see "
                              "what starts on line 1\n"),
        /* A syntax error is reported alone: what came before it may have been read wrongly. */
        TEXT("a: 1\na: 2\nb: [\n",
             "a.yaml:4:1: not valid YAML: did not find expected node content\n"),
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        cr_expect_null(conf_read_text("a.yaml", cases[i].text, cases[i].len, &e));
        expect_printed(&e, cases[i].want, cases[i].text);
    }
}

Test(conf_reject, all_faults_of_a_file_at_once)
{
    static const struct text_case cases[] = {
        TEXT("a: 1\nb: 2\na: 3\nc: {x: 1, y: 2, x: 3}\nb: 4\na: 5\n",
             "a.yaml:3:1: key 'a' is given twice, first on line 1\n"
             "a.yaml:4:17: key 'x' is given twice, first on line 4\n"
             "a.yaml:5:1: key 'b' is given twice, first on line 2\n"
             "a.yaml:6:1: key 'a' is given twice, first on line 1\n"),
        TEXT("a: &x [*x]\nb: !!int 5\n\"d\": \"\\0\"\n",
             "a.yaml:1:4: anchor '&x': anchors and aliases are not supported\n"
             "a.yaml:1:8: alias '*x': anchors and aliases are not supported\n"
             "a.yaml:2:4: tag 'tag:yaml.org,2002:int': tags are not supported\n"
             "a.yaml:3:6: a NUL character (\\0) in a text\n"),
        TEXT("? [1]\n: 2\n? {b: 1}\n: 3\n'': 4\n",
             "a.yaml:1:3: a key must be a word, not a list\n"
             "a.yaml:3:3: a key must be a word, not a mapping\n"
             "a.yaml:5:1: an empty key\n"),
        TEXT("\"a\\nb\": 1\n\"a\\nb\": 2\n",
             "a.yaml:2:1: key 'a\\nb' is given twice, first on line 1\n"),
        TEXT("%TAG !a! tag:x\n---\na: 1\n", "a.yaml:1:1: directive %TAG: tags are not supported\n"),
        TEXT("a: 1\na: 2\n---\nb: [\n",
             "a.yaml:2:1: key 'a' is given twice, first on line 1\n"
             "a.yaml:3:1: a second document starts here, expected one only\n"),
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct conf_errors e = {0};
        cr_expect_null(conf_read_text("a.yaml", cases[i].text, cases[i].len, &e));
        expect_printed(&e, cases[i].want, cases[i].text);
    }
}

Test(conf_reject, depth_length_and_long_texts)
{
    size_t big = (4u << 20) + 1;
    char *text = malloc(big);
    struct conf_errors e = {0};

    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    struct conf_tree *t = conf_read_text("a.yaml", text, 128, &e);
    cr_expect(t != NULL && e.n == 0, "64 levels are fine");
    cr_expect_not(conf_set(t, "0.a", "1", &e));
    expect_printed(&e,
                   "command line:1:1: path '0.a': '0' has no element 'a'; its only element is 0\n",
                   "no name in a list");
    cr_expect_not(
        conf_set(t, "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0", "1", &e));
    conf_errors_free(&e);
    conf_free(t);

    memset(text, '[', 300000);
    cr_expect_null(conf_read_text("a.yaml", text, 300000, &e));
    expect_printed(&e, "a.yaml:1:65: nested deeper than 64 levels\n", "300000 brackets");

    memset(text, 'x', big);
    cr_expect_null(conf_read_text("a.yaml", text, big, &e));
    expect_printed(&e, "a.yaml:1:1: larger than 4 MB, the most that is read\n", "4 MB + 1");

    t = conf_read_text("a.yaml", text, 5000, &e);
    ns_t ns;
    cr_expect_not(conf_ns(conf_root(t), &ns, &e));
    expect_printed(&e,
                   "a.yaml:1:1: the value is "
                   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...', expected a "
                   "time such as 10us, 2ms or 1.5s\n",
                   "a long text is cut");
    conf_free(t);

    memcpy(text + 129, ": 1", 4);
    cr_expect_null(conf_read_text("a.yaml", text, 132, &e));
    expect_printed(&e, "a.yaml:1:1: a key of 129 bytes, at most 128 are allowed\n", "a long key");

    for (size_t i = 0; i < 60000; i += 6)
        memcpy(text + i, "a: 1\n\n", 6);
    cr_expect_null(conf_read_text("a.yaml", text, 60000, &e));
    cr_assert(e.n == 1001, "ten thousand of them are not listed: %zu", e.n);
    cr_expect_str_eq(e.list[1000].text,
                     "a.yaml:20001:1: 1000 faults so far, the rest is not listed");
    conf_errors_free(&e);
    free(text);
}

Test(conf_reject, files_that_cannot_be_read)
{
    char dir[] = "/tmp/tandem-conf-XXXXXX";
    cr_assert(mkdtemp(dir) != NULL && chdir(dir) == 0 && mkdir("d.yaml", 0700) == 0);
    FILE *f = fopen("big.yaml", "w");
    for (size_t i = 0; i <= 4u << 20; i++)
        putc('#', f);
    fclose(f);
    fclose(fopen("empty.yaml", "w"));
    f = fopen("secret.yaml", "w");
    fputs("a: 1\n", f);
    fclose(f);
    chmod("secret.yaml", 0);

    static const char *const want[][2] = {
        {"none.yaml", "none.yaml: cannot be opened: No such file or directory\n"},
        {"empty.yaml/x", "empty.yaml/x: cannot be opened: Not a directory\n"},
        {"d.yaml", "d.yaml: is a directory, expected a YAML file\n"},
        {"empty.yaml", "empty.yaml:1:1: empty, expected YAML text\n"},
        {"big.yaml", "big.yaml:1:1: larger than 4 MB, the most that is read\n"},
        {"", "cannot be opened: No such file or directory\n"},
        {"a\nb", "a\\nb: cannot be opened: No such file or directory\n"},
        {"secret.yaml", "secret.yaml: cannot be opened: Permission denied\n"},
    };
    for (size_t i = 0; i < COUNT(want); i++) {
        struct conf_errors e = {0};
        if (strcmp(want[i][0], "secret.yaml") == 0 && geteuid() == 0)
            continue; /* root may read everything */
        cr_expect_null(conf_read_file(want[i][0], &e));
        expect_printed(&e, want[i][1], want[i][0]);
    }
    unlink("big.yaml");
    unlink("empty.yaml");
    unlink("secret.yaml");
    rmdir("d.yaml");
    rmdir(dir);
}

enum reader { NS, INT, REAL, BOOL, STR, CPUS };

static bool read_as(enum reader r, const struct conf_node *n, struct conf_errors *e)
{
    ns_t ns = -77;
    int64_t i = -77;
    double d = -77;
    bool b, good = true;
    int *list = NULL;
    size_t count = 77;
    switch (r) {
    case NS:
        good = conf_ns(n, &ns, e);
        break;
    case INT:
        good = conf_int(n, 1, 128, &i, e);
        break;
    case REAL:
        good = conf_real(n, 0, 1, &d, e);
        break;
    case BOOL:
        good = conf_bool(n, &b, e);
        break;
    case STR:
        good = conf_str(n, e) != NULL;
        break;
    case CPUS:
        good = conf_cpulist(n, 32, &list, &count, e);
        break;
    }
    cr_expect(good || (ns == -77 && i == -77 && d == -77 && list == NULL && count == 77),
              "a fault leaves the output alone");
    free(list);
    return good;
}

#define TIME "expected a time such as 10us, 2ms or 1.5s"
#define UNIT ": a unit is required, one of ns, us, ms, s"

Test(conf_reject, scalars)
{
    static const struct {
        enum reader reader;
        const char *text, *want; /* want: what follows "'key'" */
    } cases[] = {
        {NS, "2 s", " is '2 s', " TIME},
        {NS, "5", " is '5'" UNIT},
        {NS, "1.5", " is '1.5'" UNIT},
        {NS, "0.0", " is '0.0'" UNIT},
        {NS, "1,5", " is '1,5': use a point as decimal mark"},
        {NS, "1,5ms", " is '1,5ms': use a point as decimal mark"},
        {NS, "-2ms", " is '-2ms': a time cannot be negative"},
        {NS, "-2", " is '-2': a time cannot be negative"},
        {NS, "+2ms", " is '+2ms', " TIME},
        {NS, ".5s", " is '.5s', " TIME},
        {NS, "1.s", " is '1.s', " TIME},
        {NS, "1e3us", " is '1e3us', " TIME},
        {NS, "2m", " is '2m', " TIME},
        {NS, "2MS", " is '2MS', " TIME},
        {NS, "0x10ns", " is '0x10ns', " TIME},
        {NS, "ms", " is 'ms', " TIME},
        {NS, "1.5ns", " is '1.5ns': finer than a nanosecond"},
        {NS, "1.2345us", " is '1.2345us': finer than a nanosecond"},
        {NS, "9223372036854775807ns", " is '9223372036854775807ns': too long, at most 9223372036s"},
        {NS, "9223372036.854775807s", " is '9223372036.854775807s': too long, at most 9223372036s"},
        {NS, "99999999999999999999999s",
         " is '99999999999999999999999s': too long, at most 9223372036s"},
        {NS, "", " has no value, " TIME},
        {NS, "''", " is an empty text, " TIME},
        {NS, "{a: 1}", " is a mapping, " TIME},
        {NS, "[1ms]", " is a list, " TIME},
        {INT, "0", " is '0', expected a whole number from 1 to 128"},
        {INT, "129", " is '129', expected a whole number from 1 to 128"},
        {INT, "-1", " is '-1', expected a whole number from 1 to 128"},
        {INT, "4.0", " is '4.0', expected a whole number from 1 to 128"},
        {INT, "1e1", " is '1e1', expected a whole number from 1 to 128"},
        {INT, "99999999999999999999",
         " is '99999999999999999999', expected a whole number from 1 to 128"},
        {INT, "four", " is 'four', expected a whole number from 1 to 128"},
        {INT, "010", " is '010': a number cannot start with 0"},
        {INT, "'4'", " is '4': in quotes, expected a number without quotes"},
        {INT, "-", " is a list, expected a whole number from 1 to 128"},
        {REAL, "1.5", " is '1.5', expected a number from 0 to 1"},
        {REAL, "-0.5", " is '-0.5', expected a number from 0 to 1"},
        {REAL, "120%", " is '120%', expected a number from 0 to 1"},
        {REAL, "0,5", " is '0,5': use a point as decimal mark"},
        {REAL, ".5", " is '.5', expected a number such as 0.5 or 20%"},
        {REAL, "nan", " is 'nan', expected a number such as 0.5 or 20%"},
        {REAL, "inf", " is 'inf', expected a number such as 0.5 or 20%"},
        {REAL, "0x1p-1", " is '0x1p-1', expected a number such as 0.5 or 20%"},
        {REAL, "20 %", " is '20 %', expected a number such as 0.5 or 20%"},
        {REAL, "1e999", " is '1e999', expected a number from 0 to 1"},
        {REAL, "'0.5'", " is '0.5': in quotes, expected a number without quotes"},
        {BOOL, "maybe", " is 'maybe', expected on or off (or true, false, yes, no)"},
        {BOOL, "1", " is '1', expected on or off (or true, false, yes, no)"},
        {BOOL, "'on'", " is 'on': in quotes, expected on or off without quotes"},
        {STR, "", " has no value, expected a name or a text"},
        {STR, "[a]", " is a list, expected a name or a text"},
        {CPUS, "0-32", " is '0-32': there is no CPU 32, the last one is 31"},
        {CPUS, "40-99", " is '40-99': there is no CPU 40, the last one is 31"},
        {CPUS, "5-3", " is '5-3': the range 5-3 goes backwards"},
        {CPUS, "0,,1", " is '0,,1', expected CPUs such as 0-3,8,10-11"},
        {CPUS, "0-", " is '0-', expected CPUs such as 0-3,8,10-11"},
        {CPUS, "-1", " is '-1', expected CPUs such as 0-3,8,10-11"},
        {CPUS, "all", " is 'all', expected CPUs such as 0-3,8,10-11"},
        {CPUS, "99999999999", " is '99999999999', expected CPUs such as 0-3,8,10-11"},
        {CPUS, "[]", " is a list, expected CPUs such as 0-3,8,10-11"},
        {CPUS, "{a: 1}", " is a mapping, expected CPUs such as 0-3,8,10-11"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128], want[256];
        struct conf_errors e = {0};
        int len = snprintf(text, sizeof text, "# c\nkey: %s\n", cases[i].text);
        bool none = cases[i].text[0] == '\0';
        if (strcmp(cases[i].text, "-") == 0)
            len = snprintf(text, sizeof text, "\nkey:\n   - 4\n");
        struct conf_tree *t = conf_read_text("a.yaml", text, (size_t)len, &e);
        cr_assert(t != NULL, "%s", text);
        const struct conf_node *n = conf_get(conf_root(t), "key");
        cr_expect_not(read_as(cases[i].reader, n, &e), "%s", text);
        snprintf(want, sizeof want, "a.yaml:%d:%d: 'key'%s\n", n->line, none ? 5 : n->column,
                 cases[i].want);
        expect_printed(&e, want, text);
        cr_expect(n->line == (strcmp(cases[i].text, "-") == 0 ? 3 : 2));
        cr_expect(none || n->column == (n->line == 3 ? 4 : 6));
        conf_free(t);
    }
}

Test(conf_reject, overrides)
{
    static const char base[] = "duration: 2s\nvms:\n  - {name: web, idle: hlt}\n"
                               "  - {name: db}\n  - {name: db}\nlist: []\n";
    static const struct {
        const char *path, *value, *want;
    } cases[] = {
        {"vms.7.idle", "hlt",
         "path 'vms.7.idle': 'vms' has no element '7'; its elements are 0 to 2"},
        {"vms.wbe.idle", "hlt",
         "path 'vms.wbe.idle': 'vms' has no element 'wbe'; did you mean 'web'?"},
        {"vms.mail.idle", "hlt",
         "path 'vms.mail.idle': 'vms' has no element 'mail'; names are web, db, db"},
        {"vms.db.idle", "hlt",
         "path 'vms.db.idle': 'vms' has two elements named 'db', use an index"},
        {"list.0", "hlt", "path 'list.0': 'list' has no element '0'; the list is empty"},
        {"duration.x", "1", "path 'duration.x': 'duration' is '2s' and has no 'x'"},
        {"new.0.x", "1", "path 'new.0.x': there is no list 'new', and a path cannot make one"},
        {"vms..idle", "hlt", "path 'vms..idle' has an empty part"},
        {"", "1", "path '' has an empty part"},
        {"seed", "", "no value for 'seed'"},
        {"seed", "[1", "not valid YAML: expected ',' or ']' (in the value for 'seed')"},
        {"seed", "*x",
         "alias '*x': anchors and aliases are not supported (in the value for 'seed')"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[256];
        struct conf_errors e = {0};
        struct conf_tree *t = conf_read_text("a.yaml", base, sizeof base - 1, &e);
        cr_assert(t != NULL);
        cr_expect_not(conf_set(t, cases[i].path, cases[i].value, &e), "%s", cases[i].path);
        snprintf(want, sizeof want, "command line:1:%d: %s\n",
                 strcmp(cases[i].value, "[1") == 0 ? 3 : 1, cases[i].want);
        expect_printed(&e, want, cases[i].path);
        conf_free(t);
    }
}

Test(conf_reject, keys_and_parameters)
{
    static const char text[] = "threshold: 1\ntreshold: 2\nzzz: 3\n";
    static const char *const names[] = {"threshold", "degree", "fallback"};
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("a.yaml", text, sizeof text - 1, &e);
    conf_only_keys(conf_root(t), names, 3, "guest policy cps-load", &e);
    conf_only_keys(conf_root(t), names, 1, NULL, &e);
    conf_only_keys(conf_get(conf_root(t), "zzz"), names, 3, "a number", &e);
    conf_only_keys(conf_root(t), names, 0, "bare", &e);
    expect_printed(
        &e,
        "a.yaml:1:1: unknown key 'threshold' in bare; it has no keys\n"
        "a.yaml:2:1: unknown key 'treshold' in guest policy cps-load; did you mean 'threshold'?\n"
        "a.yaml:2:1: unknown key 'treshold'; did you mean 'threshold'?\n"
        "a.yaml:2:1: unknown key 'treshold' in bare; it has no keys\n"
        "a.yaml:3:1: unknown key 'zzz' in guest policy cps-load; keys are threshold, degree, "
        "fallback\n"
        "a.yaml:3:1: unknown key 'zzz'; the only key is threshold\n"
        "a.yaml:3:1: unknown key 'zzz' in bare; it has no keys\n",
        "keys");
    conf_free(t);

    static const char *const wake[] = {"all", "chain", NULL};
    static const struct param table[] = {
        {.name = "slice",
         .type = PARAM_NS,
         .offset = 0,
         .def = "3ms",
         .min = 1000,
         .max = 1000000000},
        {.name = "skew",
         .type = PARAM_NS,
         .offset = 8,
         .def = "3ms",
         .min = 1500,
         .max = INT64_MAX},
        {.name = "tick", .type = PARAM_INT, .offset = 16, .def = "250"},
        {.name = "share", .type = PARAM_REAL, .offset = 24, .def = "1"},
        {.name = "wake", .type = PARAM_ENUM, .offset = 32, .def = "all", .values = wake},
        PARAM_END,
    };
    static const char bad[] = "slcie: 3ms\nslice: 0.5us\nskew: 1us\ntick: -1\nshare: -0.5\n"
                              "wake: chian\n";
    int64_t dst[8];
    t = conf_read_text("b.yaml", bad, sizeof bad - 1, &e);
    cr_expect_not(params_read(table, dst, conf_root(t), "policy gang", &e));
    cr_expect(dst[0] == 3000000 && dst[2] == 250, "a fault leaves the default");
    cr_expect_not(params_read(table, dst, conf_get(conf_root(t), "tick"), "policy gang", &e));
    expect_printed(&e,
                   "b.yaml:1:1: unknown key 'slcie' in policy gang; did you mean 'slice'?\n"
                   "b.yaml:2:8: 'slice' is '0.5us', expected a time from 1us to 1s\n"
                   "b.yaml:3:7: 'skew' is '1us', expected a time of at least 1500ns\n"
                   "b.yaml:4:7: 'tick' is '-1', expected a whole number of at least 0\n"
                   "b.yaml:4:7: 'tick' is '-1', expected a mapping of parameters such as {name: "
                   "value}\n"
                   "b.yaml:5:8: 'share' is '-0.5', expected a number of at least 0\n"
                   "b.yaml:6:7: 'wake' is 'chian', expected one of all, chain; did you mean "
                   "'chain'?\n",
                   "parameters");
    conf_free(t);
}

Test(conf_reject, messages_are_sorted_and_single)
{
    struct conf_errors e = {0};
    struct conf_node b9 = {.file = "b.yaml", .line = 9, .column = 2};
    struct conf_node b10 = {.file = "b.yaml", .line = 10, .column = 1};
    struct conf_node a1 = {.file = "a.yaml", .line = 1, .column = 1};
    conf_error(&e, &b10, "ten");
    conf_error(&e, &a1, "one");
    conf_error(&e, &b9, "nine");
    conf_error(&e, &b10, "ten");
    conf_error(&e, &b10, "again");
    conf_error(&e, &b10, "ten");
    conf_error_file(&e, "b.yaml", "whole file");
    conf_error_key(&e, &a1, "tab\tbell\x07 c1\xc2\x9b 100%%");
    conf_error(&e, NULL, "nowhere");
    conf_error(NULL, &a1, "to nobody");
    expect_printed(&e,
                   "b.yaml: whole file\nb.yaml:9:2: nine\nb.yaml:10:1: ten\nb.yaml:10:1: again\n"
                   "a.yaml:1:1: one\na.yaml:1:1: tab\\tbell\\x07 c1\\x9b 100%\nnowhere\n",
                   "order");
    cr_expect(e.n == 0 && e.list == NULL);
}
