/* SPDX-License-Identifier: MIT */
/* A comparison for programs: JSON, CSV, JUnit, annotations of GitHub. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "study/compare.h"
#include "study/rows.h"

static const char *method_of(const struct compare_row *r)
{
    if (r->equal)
        return "equal";
    return r->paired ? (r->tail ? "paired bootstrap-t" : "paired t")
                     : (r->tail ? "bootstrap-t" : "welch");
}

static void put_texts(struct json *j, const char *key, char *const *text, size_t n)
{
    json_array(j, key, false);
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, text[i]);
    json_close(j);
}

static void put_row(struct json *j, const struct compare *c, const struct compare_row *r)
{
    char *words = compare_words(c, r);

    json_object(j, NULL, true);
    json_string(j, "point", c->point[r->point].label);
    json_string(j, "metric", r->metric ? r->metric->key : NULL);
    json_string(j, "unit", r->metric ? r->metric->unit : NULL);
    json_string(j, "better", r->metric ? better_name(r->metric->better) : NULL);
    json_string(j, "verdict", verdict_name(r->verdict));
    json_raw(j, "fails", compare_fails(c, r) ? "true" : "false");
    json_string(j, "words", words);
    json_string(j, "method", r->metric ? method_of(r) : NULL);
    json_count(j, "n_base", (uint64_t)r->nbase);
    json_count(j, "n_new", (uint64_t)r->nnew);
    json_number(j, "base", r->base);
    json_number(j, "new", r->new);
    json_raw(j, "relative", r->relative ? "true" : "false");
    json_number(j, "effect", r->effect);
    json_number(j, "low", r->low);
    json_number(j, "high", r->high);
    json_number(j, "p_differs", r->p_differs);
    json_number(j, "p_within", r->p_within);
    if (r->needed > 0)
        json_count(j, "replications_needed", r->needed);
    else
        json_raw(j, "replications_needed", NULL);
    json_close(j);
    free(words);
}

int compare_write_json(FILE *out, const struct compare *c)
{
    struct c_numbers numbers;
    char *summary = compare_summary(c);
    struct json j;

    if (c_numbers_begin(&numbers) != 0) {
        free(summary);
        return -1;
    }
    json_init(&j, out, false);
    json_object(&j, NULL, false);
    json_string(&j, "schema", "tandem.compare/1");
    json_string(&j, "base", c->base_name);
    json_string(&j, "new", c->new_name);
    json_number(&j, "margin", c->rules.margin);
    json_number(&j, "confidence", c->rules.confidence);
    json_raw(&j, "strict", c->rules.strict ? "true" : "false");
    json_string(&j, "correction", "holm");
    json_count(&j, "tests", c->tests);
    json_string(&j, "verdict", verdict_name(c->verdict));
    json_raw(&j, "failed", c->failed ? "true" : "false");
    json_string(&j, "summary", summary);
    put_texts(&j, "warnings", c->warning, c->nwarnings);
    put_texts(&j, "notes", c->note, c->nnotes);
    json_array(&j, "rows", false);
    for (size_t i = 0; i < c->nrows; i++)
        put_row(&j, c, &c->row[i]);
    json_close(&j);
    json_close(&j);
    fputc('\n', out);
    free(summary);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}

/* "" where there is no number. */
static const char *number(double v, char text[40])
{
    if (!isfinite(v))
        return NULL;
    snprintf(text, 40, "%.17g", v);
    return text;
}

static void put_csv_row(struct rows *rows, const struct compare *c, const struct compare_row *r)
{
    char base[40], new[40], effect[40], low[40], high[40], differs[40], within[40], nb[16], nn[16];
    char needed[24];
    char *words = compare_words(c, r);

    snprintf(nb, sizeof(nb), "%d", r->nbase);
    snprintf(nn, sizeof(nn), "%d", r->nnew);
    snprintf(needed, sizeof(needed), "%zu", r->needed);
    rows_put(rows, (const char *[]){c->point[r->point].label, r->metric ? r->metric->key : NULL,
                                    r->metric ? r->metric->unit : NULL, verdict_name(r->verdict),
                                    compare_fails(c, r) ? "yes" : "no",
                                    r->metric ? method_of(r) : NULL, nb, nn, number(r->base, base),
                                    number(r->new, new), r->relative ? "yes" : "no",
                                    number(r->effect, effect), number(r->low, low),
                                    number(r->high, high), number(r->p_differs, differs),
                                    number(r->p_within, within), r->needed ? needed : NULL, words});
    free(words);
}

int compare_write_csv(FILE *out, const struct compare *c)
{
    static const char *const columns[] = {"point",    "metric", "unit",  "verdict", "fails",
                                          "method",   "n_base", "n_new", "base",    "new",
                                          "relative", "effect", "low",   "high",    "p_differs",
                                          "p_within", "needed", "words", NULL};
    struct c_numbers numbers;
    struct rows rows;

    if (c_numbers_begin(&numbers) != 0)
        return -1;
    rows_begin(&rows, out, false, columns);
    for (size_t i = 0; i < c->nrows; i++)
        put_csv_row(&rows, c, &c->row[i]);
    rows_end(&rows);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}

/* Text in an attribute or element of XML 1.0, which has no control characters. */
static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputs("&#10;", out);
            break;
        default:
            fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
        }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    put_xml(out, text);
    fputc('"', out);
}

static const char *label_or_all(const struct compare *c, const struct compare_row *r)
{
    return c->point[r->point].label[0] ? c->point[r->point].label : "comparison";
}

static void put_case(FILE *out, const struct compare *c, const struct compare_row *r)
{
    char *words = compare_words(c, r);

    fputs("    <testcase", out);
    put_attribute(out, "classname", label_or_all(c, r));
    put_attribute(out, "name", r->metric ? r->metric->key : "runs");
    fputs(" time=\"0\"", out);
    if (compare_fails(c, r)) {
        fputs(">\n      <failure", out);
        put_attribute(out, "type", verdict_name(r->verdict));
        put_attribute(out, "message", words);
        fputs("/>\n    </testcase>\n", out);
    } else {
        const char *element = r->verdict == VERDICT_UNDECIDED ? "skipped" : "system-out";

        fprintf(out, ">\n      <%s>", element);
        put_xml(out, words);
        fprintf(out, "</%s>\n    </testcase>\n", element);
    }
    free(words);
}

/* A warning is a test of its own, which fails when warnings do. */
static void put_warning(FILE *out, const struct compare *c, const char *text)
{
    fputs("    <testcase classname=\"comparison\" name=\"parameters\" time=\"0\">\n", out);
    if (c->rules.strict) {
        fputs("      <failure type=\"warning\"", out);
        put_attribute(out, "message", text);
        fputs("/>\n", out);
    } else {
        fputs("      <system-out>warning: ", out);
        put_xml(out, text);
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

int compare_write_junit(FILE *out, const struct compare *c)
{
    struct c_numbers numbers;
    size_t failures = c->rules.strict ? c->nwarnings : 0, skipped = 0;
    const size_t tests = c->nrows + c->nwarnings;
    char *summary = compare_summary(c);

    if (c_numbers_begin(&numbers) != 0) {
        free(summary);
        return -1;
    }
    for (size_t i = 0; i < c->nrows; i++) {
        failures += compare_fails(c, &c->row[i]);
        skipped += !compare_fails(c, &c->row[i]) && c->row[i].verdict == VERDICT_UNDECIDED;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tandem compare\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"0\" time=\"0\">\n",
            tests, failures);
    fprintf(out,
            "  <testsuite name=\"tandem compare\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"0\" skipped=\"%zu\" time=\"0\">\n    <properties>\n      <property "
            "name=\"verdict\"",
            tests, failures, skipped);
    put_attribute(out, "value", verdict_name(c->verdict));
    fputs("/>\n      <property name=\"summary\"", out);
    put_attribute(out, "value", summary);
    fputs("/>\n    </properties>\n", out);
    for (size_t i = 0; i < c->nrows; i++)
        put_case(out, c, &c->row[i]);
    for (size_t i = 0; i < c->nwarnings; i++)
        put_warning(out, c, c->warning[i]);
    fputs("  </testsuite>\n</testsuites>\n", out);
    free(summary);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}

/* Text of a workflow command; in a property, `,` and `:` as well. */
static void put_command_text(FILE *out, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ',' || *text == ':')))
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
}

static void put_annotation(FILE *out, const char *kind, const char *title, const char *text)
{
    fprintf(out, "::%s title=", kind);
    put_command_text(out, title, true);
    fputs("::", out);
    put_command_text(out, text, false);
    fputc('\n', out);
}

int compare_write_annotations(FILE *out, const struct compare *c)
{
    struct c_numbers numbers;
    char *summary;

    if (c_numbers_begin(&numbers) != 0)
        return -1;
    for (size_t i = 0; i < c->nrows; i++) {
        const struct compare_row *r = &c->row[i];
        char *words;

        if (r->verdict != VERDICT_WORSE && r->verdict != VERDICT_UNDECIDED)
            continue;
        words = compare_words(c, r);
        fprintf(out, "::%s title=", compare_fails(c, r) ? "error" : "warning");
        put_command_text(out, r->metric ? r->metric->key : "runs", true);
        if (c->point[r->point].label[0]) {
            fputc(' ', out);
            put_command_text(out, c->point[r->point].label, true);
        }
        fputs("::", out);
        put_command_text(out, words, false);
        fputc('\n', out);
        free(words);
    }
    for (size_t i = 0; i < c->nwarnings; i++)
        put_annotation(out, c->rules.strict ? "error" : "warning", "parameters", c->warning[i]);
    summary = compare_summary(c);
    put_annotation(out, c->failed ? "error" : "notice", "tandem compare", summary);
    free(summary);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}
