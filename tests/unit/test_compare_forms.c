/* SPDX-License-Identifier: MIT */
/* All ways of writing a comparison say the same. */
#include "compare_fake.h"

static char *written(int (*write)(FILE *, const struct compare *), const struct compare *c)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert(write(out, c) == 0);
    fclose(out);
    return text;
}

/* The text between `from` and `to` behind `key`; "" when it is not there. malloc'ed. */
static char *between(const char *text, const char *key, const char *from, const char *to)
{
    const char *at = strstr(text, key);

    at = at ? strstr(at + strlen(key), from) : NULL;
    if (!at)
        return strdup("");
    at += strlen(from);
    return strndup(at, (size_t)(strstr(at, to) - at));
}

static void agree(const char *form, const char *metric, bool says, bool fails, const char *text)
{
    cr_expect_eq(says, fails, "%s says of %s that it %s:\n%s", form, metric,
                 says ? "fails" : "passes", text);
}

static void check_row(const struct compare *c, const struct compare_row *r, char *const form[6])
{
    const bool fails = compare_fails(c, r);
    char key[80], *part;
    cJSON *root = cJSON_Parse(form[0]);
    const cJSON *item, *rows = cJSON_GetObjectItemCaseSensitive(root, "rows");
    size_t found = 0;

    cJSON_ArrayForEach(item, rows)
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "metric"));

        if (strcmp(name, r->metric->key) != 0)
            continue;
        found++;
        agree("JSON", name, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "fails")), fails,
              form[0]);
        cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "verdict")),
                         verdict_name(r->verdict));
    }
    cr_expect_eq(found, 1u);
    cJSON_Delete(root);
    snprintf(key, sizeof(key), "\n,%s,", r->metric->key);
    part = between(form[1], key, ",", "\n");
    cr_expect(strncmp(part, verdict_name(r->verdict), strlen(verdict_name(r->verdict))) == 0,
              "CSV: %s", part);
    agree("CSV", r->metric->key,
          strstr(part, ",yes,paired") != NULL || strstr(part, ",yes,equal") ||
              strstr(part, ",yes,welch"),
          fails, form[1]);
    free(part);
    snprintf(key, sizeof(key), "name=\"%s\"", r->metric->key);
    part = between(form[2], key, ">", "</testcase>");
    agree("JUnit", r->metric->key, strstr(part, "<failure") != NULL, fails, form[2]);
    cr_expect_eq(strstr(part, "<skipped") != NULL, !fails && r->verdict == VERDICT_UNDECIDED);
    free(part);
    snprintf(key, sizeof(key), "::error title=%s::", r->metric->key);
    agree("annotations", r->metric->key, strstr(form[3], key) != NULL, fails, form[3]);
    char *words = compare_words(c, r);

    snprintf(key, sizeof(key), "| **%s** |", words);
    agree("Markdown", r->metric->key, strstr(form[4], key) != NULL, fails, form[4]);
    cr_expect(strstr(form[5], words), "table: no '%s' in\n%s", words, form[5]);
    free(words);
}

static void check_forms(const struct compare *c)
{
    char *form[6] = {written(compare_write_json, c),     written(compare_write_csv, c),
                     written(compare_write_junit, c),    written(compare_write_annotations, c),
                     written(compare_write_markdown, c), written(compare_write_table, c)};
    char *summary = compare_summary(c);
    char *failures = between(form[2], "<testsuite ", "failures=\"", "\"");
    cJSON *root = cJSON_Parse(form[0]);
    size_t fails = c->rules.strict ? c->nwarnings : 0;

    for (size_t i = 0; i < c->nrows; i++) {
        check_row(c, &c->row[i], form);
        fails += compare_fails(c, &c->row[i]);
    }
    cr_expect_eq(strtoul(failures, NULL, 10), fails, "JUnit counts %s failures", failures);
    cr_expect_eq(fails > 0, c->failed);
    cr_expect_eq(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "failed")), c->failed);
    cr_expect_eq(strstr(form[3], "::error title=tandem compare::") != NULL, c->failed);
    cr_expect_eq(strstr(form[4], "tandem compare: failed") != NULL, c->failed);
    for (int i = 2; i < 6; i++)
        cr_expect(strstr(form[i], summary), "form %d has no '%s':\n%s", i, summary, form[i]);
    free(failures);
    free(summary);
    cJSON_Delete(root);
    for (int i = 0; i < 6; i++)
        free(form[i]);
}

Test(compare_forms, one_verdict_in_every_form)
{
    struct pair p;
    struct fake noisy = new;
    static const struct fake *const sides[][2] = {{&base, &new}, {&base, &base}, {&new, &base}};

    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < 3; i++) {
            compare_fakes(&p, sides[i][0], sides[i][1], (struct compare_rules){.strict = strict});
            check_forms(&p.c);
            release(&p);
        }
    noisy.n = 3;
    compare_fakes(&p, &base, &noisy, (struct compare_rules){.strict = true});
    check_forms(&p.c);
    release(&p);
}

/* Text from users does not break out of a form. */
Test(compare_forms, text_of_users)
{
    struct pair p;
    struct fake a = base, b = base;

    a.scenario = "{\"x|<y>&\\\"z\\\"\": 1}";
    b.scenario = "{\"x|<y>&\\\"z\\\"\": 10}";
    b.fingerprint = "h";
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    char *junit = written(compare_write_junit, &p.c);
    char *json = written(compare_write_json, &p.c);
    cJSON *root = cJSON_Parse(json);

    cr_expect(strstr(junit, "x|&lt;y&gt;&amp;&quot;z&quot; differs"), "%s", junit);
    cr_expect(root != NULL, "%s", json);
    cJSON_Delete(root);
    free(junit);
    free(json);
    release(&p);
}

/* A value is shown up to a length, which may end within a character; lines and bars stay in theirs. */
Test(compare_forms, text_that_is_cut)
{
    struct pair p;
    struct fake a = base, b = base;
    char scenario[200];

    snprintf(scenario, sizeof(scenario), "{\"x\": \"%079d\u00e9z\", \"y\": \"1\\n# |<b>\"}", 0);
    b.scenario = scenario;
    b.fingerprint = "h";
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    char *junit = written(compare_write_junit, &p.c);
    char *markdown = written(compare_write_markdown, &p.c);

    cr_expect(strstr(junit, "0? in NEW"), "half a character: %s", junit);
    cr_expect(strchr(junit, '\xc3') == NULL);
    cr_expect(strstr(markdown, "1 # \\|\\<b\\> in NEW"), "%s", markdown);
    free(junit);
    free(markdown);
    release(&p);
}
