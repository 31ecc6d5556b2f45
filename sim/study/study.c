/* SPDX-License-Identifier: MIT */
/* From a sweep to checked points. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "scenario.h"
#include "study/study.h"

/* Past a JSON value or member name: strings are skipped whole, brackets are counted. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

static const char *skip_value(const char *p)
{
    int depth = 0;

    while (*p) {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        if (depth == 0 && (*p == ',' || *p == '}' || *p == ']'))
            return p;
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    }
    return p;
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Takes the member `name`, given with its quotes, out of the object in `text`. */
static void drop_member(char *text, const char *name)
{
    const char *p = skip_space(text);

    p = *p == '{' ? skip_space(p + 1) : "";
    while (*p == '"') {
        const char *end = skip_value(p); /* name, colon and value hold no comma of this level */
        const char *next = *end == ',' ? skip_space(end + 1) : end;

        if (strncmp(p, name, strlen(name)) == 0) {
            char *from = text + (p - text);

            /* One comma goes with it: the one behind, or for the last member the one before. */
            while (*end != ',' && from > text && (from[-1] == ',' || isspace(from[-1])))
                from--;
            memmove(from, next, strlen(next) + 1);
            return;
        }
        p = next;
    }
}

char *study_echo(const char *echo)
{
    char *out = strdup(echo);

    if (!out)
        return NULL;
    drop_member(out, "\"seed\"");
    drop_member(out, "\"replications\"");
    return out;
}

char *study_labels(const struct study *st, size_t point)
{
    const struct sweep *s = st->sweep;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json j;

    if (!s) {
        if (out)
            fclose(out);
        free(text);
        return strdup(st->point[point].row.labels);
    }
    if (!out)
        return NULL;
    json_init(&j, out, true);
    json_object(&j, NULL, true);
    for (size_t i = 0; i < s->naxes; i++)
        json_string(&j, s->axis[i].path, sweep_label(s, point, i));
    json_close(&j);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

bool study_row(const struct study *st, size_t i, struct store_point *row)
{
    const struct study_point *p = &st->point[i];
    const struct scenario *sc = st->sweep ? study_scenario(st, i) : NULL;

    *row = (struct store_point){.position = p->row.position};
    row->hash = strdup(p->row.hash);
    row->labels = study_labels(st, i);
    if (sc) {
        row->echo = study_echo(sc->echo);
        row->machine = strdup(sc->machine.name ? sc->machine.name : "");
        study_give_back(st, i, sc);
    } else if (!st->sweep) {
        row->echo = strdup(p->row.echo);
        row->machine = strdup(p->row.machine);
    }
    return row->hash && row->labels && row->echo && row->machine;
}

void study_row_free(struct store_point *row)
{
    free(row->hash);
    free(row->labels);
    free(row->echo);
    free(row->machine);
    *row = (struct store_point){0};
}

const struct scenario *study_scenario(const struct study *st, size_t point)
{
    const struct study_point *p = &st->point[point];
    struct conf_errors ignored = {0};
    struct conf_tree *t;
    struct scenario *s = NULL;

    if (p->scenario)
        return p->scenario;
    t = sweep_tree(st->sweep, point, &ignored);
    if (t)
        s = scenario_from_tree_with(t, st->sweep->base_file, st->sweep->files, &ignored);
    conf_free(t);
    conf_errors_free(&ignored);
    /* What is not kept in `files`, as lists of measured values, can have changed meanwhile. */
    if (s && strcmp(s->hash, p->row.hash) != 0) {
        scenario_free(s);
        s = NULL;
    }
    return s;
}

void study_give_back(const struct study *st, size_t point, const struct scenario *s)
{
    if (s && s != st->point[point].scenario)
        scenario_free((struct scenario *)s);
}

static bool fill_point(struct study_point *p, const struct sweep *s, size_t i,
                       const struct scenario *sc)
{
    p->seed = sc->seed;
    p->replications = s->replications ? s->replications : sc->replications;
    p->duration = sc->duration;
    p->row.position = (int64_t)i;
    p->row.hash = strdup(sc->hash);
    return p->row.hash;
}

/* Messages already reported, so that a fault of the base does not come once per point. */
struct seen {
    char **text;
    size_t n;
};

static bool seen_before(struct seen *seen, const char *text)
{
    char **more;

    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->text[i], text) == 0)
            return true;
    more = realloc(seen->text, (seen->n + 1) * sizeof(*more));
    if (!more)
        return true;
    seen->text = more;
    if ((more[seen->n] = strdup(text)))
        seen->n++;
    return false;
}

static void seen_free(struct seen *seen)
{
    for (size_t i = 0; i < seen->n; i++)
        free(seen->text[i]);
    free(seen->text);
}

/* "file:line:column: message" comes apart at its first ": ", and goes out with the coordinates. */
static void report_point(const struct sweep *s, size_t point, const struct conf_errors *from,
                         struct seen *seen, struct conf_errors *to)
{
    char *where = sweep_where(s, point);

    for (size_t i = 0; i < from->n; i++) {
        const char *text = from->list[i].text;
        const char *cut = strstr(text, ": ");

        if (seen_before(seen, text))
            continue;
        if (!cut || !where || s->naxes == 0)
            conf_error_file(to, s->file, "%s", text);
        else {
            char *position = strndup(text, (size_t)(cut - text));

            conf_error_file(to, position ? position : s->file, "%s (at %s)", cut + 2, where);
            free(position);
        }
    }
    free(where);
}

static void make_point(struct study *st, const struct sweep *s, size_t i, struct seen *seen,
                       struct conf_errors *e)
{
    struct conf_errors mine = {0};
    struct conf_tree *t = sweep_tree(s, i, &mine);
    struct scenario *sc =
        t ? scenario_from_tree_with(t, s->base_file, st->sweep->files, &mine) : NULL;

    if (mine.n > 0)
        report_point(s, i, &mine, seen, e);
    else if (!sc || !fill_point(&st->point[i], s, i, sc))
        conf_error_file(e, s->file, "out of memory");
    scenario_free(sc);
    conf_free(t);
    conf_errors_free(&mine);
}

struct by_hash {
    const char *hash;
    size_t point;
};

static int compare_hash(const void *a, const void *b)
{
    const struct by_hash *x = a, *y = b;
    const int c = strcmp(x->hash, y->hash);

    return c ? c : x->point < y->point ? -1 : x->point > y->point;
}

/* An axis that changes nothing would run everything twice and hide one of the two results. */
static void check_distinct(const struct study *st, const struct sweep *s, struct conf_errors *e)
{
    struct by_hash *list = calloc(st->npoints, sizeof(*list));

    if (!list) {
        conf_error_file(e, s->file, "out of memory");
        return;
    }
    for (size_t i = 0; i < st->npoints; i++)
        list[i] = (struct by_hash){st->point[i].row.hash, i};
    qsort(list, st->npoints, sizeof(*list), compare_hash);
    for (size_t i = 1; i < st->npoints; i++) {
        char *a, *b;

        if (strcmp(list[i - 1].hash, list[i].hash) != 0)
            continue;
        a = sweep_where(s, list[i - 1].point);
        b = sweep_where(s, list[i].point);
        conf_error_file(e, s->file,
                        "two points are the same scenario: (%s) and (%s); an axis has no effect "
                        "there",
                        a ? a : "?", b ? b : "?");
        free(a);
        free(b);
        break;
    }
    free(list);
}

struct study *study_new(const struct sweep *s, const char *version, const char *policy,
                        struct conf_errors *e)
{
    struct study *st = calloc(1, sizeof(*st));
    struct seen seen = {0};
    const size_t before = e->n;

    if (!st || !(st->point = calloc(s->npoints, sizeof(*st->point)))) {
        conf_error_file(e, s->file, "out of memory");
        free(st);
        return NULL;
    }
    st->version = version;
    st->policy = policy;
    st->name = s->name;
    st->sweep = s;
    st->until = s->until.metric ? &s->until : NULL;
    st->npoints = s->npoints;
    for (size_t i = 0; i < s->npoints; i++)
        make_point(st, s, i, &seen, e);
    seen_free(&seen);
    if (e->n == before)
        check_distinct(st, s, e);
    if (e->n > before) {
        study_free(st);
        return NULL;
    }
    return st;
}

void study_free(struct study *st)
{
    if (!st)
        return;
    for (size_t i = 0; i < st->npoints; i++) {
        struct study_point *p = &st->point[i];

        scenario_free(p->scenario);
        free(p->row.hash);
        free(p->row.labels);
        free(p->row.echo);
        free(p->row.machine);
        free(p->first_failure);
    }
    free(st->point);
    free(st);
}
