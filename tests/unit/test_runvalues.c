/* SPDX-License-Identifier: MIT */
/* The text form of a run: exact round trips, every kind of damage, contradictions. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/result.h"
#include "obs/runvalues.h"

static uint64_t state = 1;

static uint64_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ (state >> 29);
}

static double any_double(void)
{
    static const double odd[] = {0.1,     -0.0,   DBL_MAX,           DBL_MIN, 5e-324,
                                 1.0 / 3, 0x1p53, 9007199254740993., 1e-7,    123456789.123456789};
    const uint64_t bits = draw();
    double v;

    if (bits % 2)
        return odd[bits / 2 % (sizeof(odd) / sizeof(odd[0]))];
    memcpy(&v, &bits, sizeof(v));
    return isfinite(v) ? v : NAN;
}

static struct run_values *any_run(void)
{
    static const char *const name[] = {"web0", "", "q\"\\/\b\n\x7f", "d\xc3\xbc", "{[,:]}"};
    const int nvms = (int)(draw() % 4);
    struct run_values *r = run_values_new(nvms);
    char counter[48];

    r->seed = draw();
    r->replication = draw() % 100;
    r->fingerprint = draw();
    r->events = draw() >> (draw() % 64);
    r->simulated = (ns_t)(draw() >> 1);
    for (int v = 0; v < nvms; v++)
        if (draw() % 5)
            run_values_name(r, v, name[draw() % 5]);
    for (int i = 0; i < (nvms + 1) * METRIC_COUNT; i++)
        if (draw() % 2)
            r->value[i] = any_double();
    for (int i = 0; i < (nvms + 1) * HIST_COUNT; i++)
        for (uint64_t k = draw() % 20; k > 0; k--)
            hist_add_n(&r->hist[i], (ns_t)((draw() >> 1) >> (draw() % 63)),
                       draw() % 9 ? draw() % 1000 : draw() >> 8);
    for (uint64_t k = draw() % 8; k > 0; k--) {
        sprintf(counter, "fallback-%d", (int)(draw() % 50));
        run_count(r, counter, draw() >> 8);
    }
    return r;
}

static void assert_same_run(const struct run_values *a, const struct run_values *b)
{
    cr_assert(a->seed == b->seed && a->replication == b->replication);
    cr_assert(a->fingerprint == b->fingerprint && a->events == b->events);
    cr_assert(a->simulated == b->simulated && a->nvms == b->nvms);
    cr_assert_eq(a->ncounters, b->ncounters);
    for (int i = 0; i < a->nvms; i++)
        cr_assert(a->vm[i] && b->vm[i] ? !strcmp(a->vm[i], b->vm[i]) : a->vm[i] == b->vm[i]);
    for (int i = 0; i < (a->nvms + 1) * METRIC_COUNT; i++)
        cr_assert((isnan(a->value[i]) && isnan(b->value[i])) ||
                      memcmp(&a->value[i], &b->value[i], sizeof(double)) == 0,
                  "%.17g became %.17g", a->value[i], b->value[i]);
    for (int i = 0; i < (a->nvms + 1) * HIST_COUNT; i++) {
        const struct hist *g = &a->hist[i], *h = &b->hist[i];

        cr_assert(g->count == h->count && g->sum == h->sum && g->min == h->min && g->max == h->max);
        cr_assert_eq(memcmp(g->bucket, h->bucket, HIST_BUCKETS * sizeof(*g->bucket)), 0);
    }
    for (int i = 0; i < a->ncounters; i++)
        cr_assert(!strcmp(a->counter[i].name, b->counter[i].name) &&
                  a->counter[i].n == b->counter[i].n);
}

Test(run_values, text_gives_back_every_bit)
{
    for (int i = 0; i < 200; i++) {
        struct run_values *r = any_run();
        char *text = run_values_write(r);

        cr_assert(text && !strchr(text, '\n'));
        struct run_values *back = run_values_parse(text);

        cr_assert(back != NULL, "not accepted: %s", text);
        assert_same_run(r, back);
        char *again = run_values_write(back);

        cr_assert_str_eq(again, text);
        cJSON *json = cJSON_Parse(text);
        cr_assert(cJSON_IsObject(json), "not JSON: %s", text);
        cJSON_Delete(json);
        free(text);
        free(again);
        run_values_free(r);
        run_values_free(back);
    }
}

/* Gives a changed text a valid checksum, so that the reader has to find out by itself. */
static void seal(char *text, size_t len)
{
    if (len >= RUN_CHECK_LEN)
        snprintf(text + len - RUN_CHECK_LEN, RUN_CHECK_LEN + 1, RUN_CHECK_FORMAT,
                 run_checksum(text, len - RUN_CHECK_LEN));
}

/* Overwrites, removes or repeats a few bytes. Returns the new length; `text` has room for `room`.
 */
static size_t mutate(char *text, size_t len, size_t room)
{
    static const char alphabet[] = "0123456789{}[]\",:.-+eEnulx \\\n\xff";

    for (uint64_t k = 1 + draw() % 3; k > 0 && len > 40; k--) {
        const size_t at = draw() % (len - 20), n = 1 + draw() % 20;

        switch (draw() % 4) {
        case 0:
            memmove(text + at, text + at + n, len - at - n + 1);
            len -= n;
            break;
        case 1:
            if (len + n >= room)
                break;
            memmove(text + at + n, text + at, len - at + 1);
            len += n;
            break;
        case 2:
            text[at] = (char)(text[at] ^ (1 << draw() % 7));
            text[at] = (char)(text[at] ? text[at] : '0');
            break;
        default:
            text[at] = alphabet[draw() % (sizeof(alphabet) - 1)];
        }
    }
    return len;
}

Test(run_values, damage_is_found)
{
    struct run_values *r = any_run();
    char *text = run_values_write(r);
    const size_t len = strlen(text), room = len + 200;
    char *copy = malloc(room);

    for (size_t cut = 0; cut < len; cut++) {
        memcpy(copy, text, cut);
        copy[cut] = '\0';
        cr_assert_null(run_values_parse(copy), "accepted the first %zu bytes", cut);
    }
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, text, len + 1);
        mutate(copy, len, room);
        if (strcmp(copy, text) == 0)
            continue;
        cr_assert_null(run_values_parse(copy), "accepted %s", copy);
    }
    for (int i = 0; i < 2000; i++) { /* bytes that are no text at all */
        const size_t n = draw() % 200;

        for (size_t k = 0; k < n; k++)
            copy[k] = (char)(1 + draw() % 255);
        copy[n] = '\0';
        cr_assert_null(run_values_parse(copy));
    }
    free(copy);
    free(text);
    run_values_free(r);
}

Test(run_values, a_sealed_mutant_is_refused_or_consistent)
{
    int accepted = 0;

    for (int round = 0; round < 20; round++) {
        struct run_values *r = any_run();
        char *text = run_values_write(r);
        const size_t len = strlen(text), room = len + 200;
        char *copy = malloc(room);

        for (int i = 0; i < 1000; i++) {
            memcpy(copy, text, len + 1);
            seal(copy, mutate(copy, len, room));
            struct run_values *m = run_values_parse(copy);

            if (!m)
                continue;
            char *again = run_values_write(m);
            struct run_values *back = run_values_parse(again);

            cr_assert(back != NULL, "accepted, but not once rewritten: %s", copy);
            assert_same_run(m, back);
            free(again);
            run_values_free(m);
            run_values_free(back);
            accepted++;
        }
        free(copy);
        free(text);
        run_values_free(r);
    }
    cr_assert_gt(accepted, 100, "no mutant got past the syntax: the test tests nothing");
}

/* One VM's worth of known values, to be contradicted. */
static struct run_values *known_run(void)
{
    struct run_values *r = run_values_new(1);

    cr_assert(r && run_values_name(r, 0, "web") == 0);
    r->seed = 7;
    r->fingerprint = 0xabc;
    r->simulated = 2 * NS_SEC;
    *run_value(r, 0, METRIC_THROUGHPUT) = 10;
    hist_add_n(&r->hist[HIST_SELECTION], 42, 3);
    run_count(r, "nothing", 0);
    run_count(r, "zebra", 2);
    return r;
}

/* `text` with the first `from` replaced by `to`, sealed. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *copy = malloc(strlen(text) + strlen(to) + 1);

    cr_assert(at != NULL, "no %s in %s", from, text);
    sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    seal(copy, strlen(copy));
    return copy;
}

Test(run_values, contradictions_are_refused)
{
    static const char *const edit[][2] = {
        {"tandem.run/1", "tandem.run/2"},
        {"\"seed\":\"7\"", "\"seed\":7"},
        {"\"seed\":\"7\"", "\"seed\":\"07\""},
        {"\"seed\":\"7\"", "\"seed\":\"18446744073709551616\""},
        {"\"seed\":\"7\"", "\"seed\":\"-1\""},
        {"\"seed\":\"7\",", ""},
        {"\"seed\":\"7\"", "\"seed\":\"7\",\"seed\":\"7\""},
        {"\"simulated_ns\":\"2", "\"simulated_ns\":\"9223372036854775808"},
        {"0000000000000abc", "0000000000000ABC"},
        {"0000000000000abc", "abc"},
        {"[\"web\"", "[\"web\",\"more\""},
        {"[\"web\"", "[1"},
        {"\"throughput_per_s\":10", "\"no_such_metric\":10"},
        {"\"throughput_per_s\":10", "\"throughput_per_s\":1e999"},
        {"\"throughput_per_s\":10", "\"throughput_per_s\":null"},
        {"\"throughput_per_s\":10", "\"throughput_per_s\":10,\"throughput_per_s\":10"},
        {"\"count\":\"3\"", "\"count\":\"4\""},
        {"\"count\":\"3\"", "\"count\":\"0\""},
        {"\"sum\":\"126\"", "\"sum\":\"127\""},
        {"\"min\":\"42\"", "\"min\":\"41\""},
        {"\"max\":\"42\"", "\"max\":\"43\""},
        {"[[42,3]]", "[]"},
        {"[[42,3]]", "[[42,1],[42,2]]"},
        {"[[42,3]]", "[[42,3,1]]"},
        {"[[42,3]]", "[[42,3]],\"extra\":1"},
        {"[[42,3]]", "[[42.5,3]]"},
        {"[[42,3]]", "[[42,\"3\"]]"},
        {"[[42,3]]", "[[42,3],[99999,0]]"},
        {"\"nothing\":\"0\"", "\"zzz\":\"0\""},
        {"\"nothing\":\"0\"", "\"zebra\":\"0\""},
        {"\"nothing\":", "\"a name that is far too long for a counter, really\":"},
        {"null]}],\"counters\"", "null],\"extra\":1}],\"counters\""},
        {"\"counters\"", "\"extra\":1,\"counters\""},
    };
    struct run_values *r = known_run();
    char *text = run_values_write(r);
    char *same = edited(text, "\"seed\":\"7\"", "\"seed\":\"8\"");
    struct run_values *back = run_values_parse(same);

    cr_assert(back && back->seed == 8, "a good edit is refused: the others prove nothing");
    run_values_free(back);
    free(same);
    for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++) {
        char *bad = edited(text, edit[i][0], edit[i][1]);

        cr_assert_null(run_values_parse(bad), "accepted %s as %s", edit[i][0], edit[i][1]);
        free(bad);
    }
    free(text);
    run_values_free(r);
}

Test(run_values, counters_are_sorted_and_added_up)
{
    struct run_values *r = run_values_new(0);

    run_count(r, "b", 1);
    run_count(r, "c", 2);
    run_count(r, "a", 0);
    run_count(r, "b", 3);
    cr_assert_eq(r->ncounters, 3);
    cr_assert(!strcmp(r->counter[0].name, "a") && r->counter[0].n == 0);
    cr_assert(!strcmp(r->counter[1].name, "b") && r->counter[1].n == 4);
    cr_assert(!strcmp(r->counter[2].name, "c") && r->counter[2].n == 2);
    run_values_free(r);
}

Test(run_values, one_counter_too_many_is_a_bug, .exit_code = 70)
{
    struct run_values *r = run_values_new(0);
    char name[16];

    for (int i = 0; i <= RUN_COUNTERS; i++) {
        sprintf(name, "c%d", i);
        run_count(r, name, 1);
        if (r->ncounters != i + 1)
            exit(1);
    }
}
