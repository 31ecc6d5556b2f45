/* SPDX-License-Identifier: MIT */
/* The description of published facts: keys, columns, renames, what is derived from the rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "study/facts_internal.h"
#include "study/quantity.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const char *const top_keys[] = {"source", "facts", "change", "metric",     "axes",  "rename",
                                       "policy", "group", "ratio",  "predictors", "claims"};

bool facts_one_of(const struct conf_node *at, const char *what, const char *const *names, size_t n,
                  size_t *out, struct conf_errors *e)
{
    const char *text = conf_str(at, e), *near;
    char all[300] = "";

    if (!text)
        return false;
    for (*out = 0; *out < n; ++*out)
        if (strcmp(names[*out], text) == 0)
            return true;
    near = conf_nearest(text, names, n);
    for (size_t i = 0; !near && i < n; i++)
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "", names[i]);
    conf_error(e, at, "unknown %s '%s'; %s%s%s", what, text, near ? "did you mean '" : "there are ",
               near ? near : all, near ? "'?" : "");
    return false;
}

bool facts_column(const struct facts *f, const struct conf_node *at, size_t *out,
                  struct conf_errors *e)
{
    return facts_one_of(at, "column", (const char *const *)f->column, f->ncolumns, out, e);
}

/* A child that must be there, of this kind. */
static const struct conf_node *need(const struct conf_node *map, const char *key,
                                    enum conf_kind kind, struct conf_errors *e)
{
    static const char *const kinds[] = {
        [CONF_SCALAR] = "a word or a number", [CONF_MAP] = "a mapping", [CONF_SEQ] = "a list"};
    const struct conf_node *n = conf_get(map, key);

    if (n && n->kind == kind)
        return n;
    if (n)
        conf_error(e, n, "'%s' must be %s", key, kinds[kind]);
    else if (map)
        conf_error(e, map, "'%s' is missing", key);
    return NULL;
}

static char *copy(const struct conf_node *map, const char *key, struct conf_errors *e)
{
    const struct conf_node *n = need(map, key, CONF_SCALAR, e);
    const char *text = n ? conf_str(n, e) : NULL;

    return text ? strdup(text) : NULL;
}

static bool read_axes(struct facts *f, const struct conf_node *map, struct conf_errors *e)
{
    f->axis = calloc((map ? map->n : 0) + 1, sizeof(*f->axis));
    for (size_t i = 0; f->axis && map && i < map->n; i++) {
        f->axis[i].path = strdup(map->child[i]->key);
        facts_column(f, map->child[i], &f->axis[i].column, e);
        f->naxes++;
    }
    return f->axis != NULL;
}

/* The column that is the key of a mapping's child. */
static bool key_column(const struct facts *f, const struct conf_node *at, size_t *out,
                       struct conf_errors *e)
{
    const struct conf_node name = {
        .text = at->key, .file = at->file, .line = at->key_line, .column = at->key_column};

    return facts_column(f, &name, out, e);
}

static bool is_value(const struct facts *f, size_t column, const char *text)
{
    for (size_t i = 0; i < f->nrows; i++)
        if (strcmp(f->row[i].text[column], text) == 0)
            return true;
    return false;
}

static bool read_rename(struct facts *f, const struct conf_node *of, struct conf_errors *e)
{
    size_t column;

    if (of->kind != CONF_MAP) {
        conf_error(e, of, "'%s' must be a mapping of values", of->key);
        return true;
    }
    if (!key_column(f, of, &column, e))
        return true;
    for (size_t i = 0; i < of->n; i++) {
        struct facts_rename *more = realloc(f->rename, (f->nrenames + 1) * sizeof(*more));
        const char *to = conf_str(of->child[i], e);

        if (!more)
            return false;
        f->rename = more;
        if (!is_value(f, column, of->child[i]->key))
            conf_error_key(e, of->child[i], "no row has %s = %s", of->key, of->child[i]->key);
        f->rename[f->nrenames++] =
            (struct facts_rename){column, strdup(of->child[i]->key), strdup(to ? to : "")};
    }
    return true;
}

static bool read_renames(struct facts *f, const struct conf_node *map, struct conf_errors *e)
{
    bool ok = true;

    if (map && map->kind != CONF_MAP)
        conf_error(e, map, "'rename' must be a mapping");
    for (size_t i = 0; ok && map && map->kind == CONF_MAP && i < map->n; i++)
        ok = read_rename(f, map->child[i], e);
    return ok;
}

static void read_policy(struct facts *f, const struct conf_node *map, struct conf_errors *e)
{
    static const char *const keys[] = {"axis", "base", "new"};

    conf_only_keys(map, keys, LENGTH(keys), "policy", e);
    f->policy = copy(map, "axis", e);
    f->base = copy(map, "base", e);
    f->new = copy(map, "new", e);
}

static void read_metric(struct facts *f, const struct conf_node *n, struct conf_errors *e)
{
    const char *names[METRIC_COUNT];
    size_t at;

    for (size_t i = 0; i < METRIC_COUNT; i++)
        names[i] = metrics[i].key;
    if (n && facts_one_of(n, "metric", names, METRIC_COUNT, &at, e))
        f->metric = &metrics[at];
}

static bool read_ratio(struct facts *f, const struct conf_node *map, struct conf_errors *e)
{
    static const char *const keys[] = {"sold", "of", "split"};
    const struct conf_node *sold = map ? need(map, "sold", CONF_SEQ, e) : NULL;
    const struct conf_node *of = map ? need(map, "of", CONF_SCALAR, e) : NULL;

    conf_only_keys(map, keys, LENGTH(keys), "ratio", e);
    f->split = 1;
    if (conf_get(map, "split"))
        conf_real(conf_get(map, "split"), 0, 1e6, &f->split, e);
    f->sold = calloc((sold ? sold->n : 0) + 1, sizeof(*f->sold));
    for (size_t i = 0; f->sold && sold && i < sold->n; i++)
        if (facts_column(f, sold->child[i], &f->sold[f->nsold], e))
            f->nsold++;
    if (of)
        facts_column(f, of, &f->of, e);
    return f->sold != NULL;
}

/* The groups, and what can be computed from a row alone. */
static bool derive(struct facts *f, struct conf_errors *e)
{
    f->group = calloc(f->nrows + 1, sizeof(*f->group));
    for (size_t i = 0; f->group && i < f->nrows; i++) {
        struct facts_row *r = &f->row[i];
        double of = 0, sold = 1, factor;

        while (r->group < f->ngroups && strcmp(f->group[r->group], r->text[f->group_column]) != 0)
            r->group++;
        if (r->group == f->ngroups)
            f->group[f->ngroups++] = r->text[f->group_column];
        facts_number(f, r, f->change, &r->change, e);
        facts_number(f, r, f->of, &of, e);
        for (size_t k = 0; k < f->nsold; k++)
            if (facts_number(f, r, f->sold[k], &factor, e))
                sold *= factor;
        r->ratio = of > 0 ? sold / of : NAN;
        if (of <= 0)
            conf_error(e, &(struct conf_node){.file = f->table, .line = r->line, .column = 1},
                       "'%s' must be above 0", f->column[f->of]);
        for (size_t k = 0; k < i; k++) {
            bool same = true;

            for (size_t a = 0; same && a < f->naxes; a++)
                same = strcmp(f->row[k].text[f->axis[a].column], r->text[f->axis[a].column]) == 0;
            if (same)
                conf_error(e, &(struct conf_node){.file = f->table, .line = r->line, .column = 1},
                           "the same cell as in line %d", f->row[k].line);
        }
    }
    return f->group != NULL;
}

/* A number for all groups, or a mapping with one for each. */
static void read_null_side(struct facts *f, const struct conf_node *map, enum facts_side side,
                           struct conf_errors *e)
{
    static const char *const names[] = {"below", "above"};
    const struct conf_node *n = map ? conf_get(map, names[side]) : NULL;

    if (!n || n->kind == CONF_SEQ) {
        if (map)
            conf_error(e, n ? n : map, "'%s' must be a number, or one for each group", names[side]);
        return;
    }
    conf_only_keys(n, (const char *const *)f->group, f->ngroups, names[side], e);
    for (size_t g = 0; g < f->ngroups; g++) {
        const struct conf_node *own =
            n->kind == CONF_MAP ? need(n, f->group[g], CONF_SCALAR, e) : n;

        if (own)
            conf_real(own, -1e6, 1e6, &f->null[side][g], e);
        if (own == n)
            for (; g + 1 < f->ngroups; g++)
                f->null[side][g + 1] = f->null[side][0];
    }
}

static bool read_predictors(struct facts *f, const struct conf_node *map, struct conf_errors *e)
{
    static const char *const keys[] = {"null", "oracle"};
    static const char *const oracles[] = {"group-means"};
    static const char *const sides[] = {"below", "above"};
    const struct conf_node *null = map ? need(map, "null", CONF_MAP, e) : NULL;
    const struct conf_node *oracle = map ? need(map, "oracle", CONF_SCALAR, e) : NULL;
    size_t only;

    conf_only_keys(map, keys, LENGTH(keys), "predictors", e);
    conf_only_keys(null, sides, LENGTH(sides), "null", e);
    if (oracle)
        facts_one_of(oracle, "oracle", oracles, LENGTH(oracles), &only, e);
    for (int side = SIDE_BELOW; side < SIDE_ALL; side++) {
        f->null[side] = calloc(f->ngroups + 1, sizeof(*f->null[side]));
        if (!f->null[side])
            return false;
        read_null_side(f, null, (enum facts_side)side, e);
    }
    return true;
}

static bool read_all(struct facts *f, const struct conf_node *root, struct conf_errors *e)
{
    const struct conf_node *n = need(root, "facts", CONF_SCALAR, e);
    bool ok;

    conf_only_keys(root, top_keys, LENGTH(top_keys), "published facts", e);
    f->source = copy(root, "source", e);
    read_metric(f, need(root, "metric", CONF_SCALAR, e), e);
    read_policy(f, need(root, "policy", CONF_MAP, e), e);
    if (!n || !facts_read_table(f, n, e))
        return false;
    if ((n = need(root, "change", CONF_SCALAR, e)) != NULL)
        facts_column(f, n, &f->change, e);
    if ((n = need(root, "group", CONF_SCALAR, e)) != NULL)
        facts_column(f, n, &f->group_column, e);
    ok = read_axes(f, need(root, "axes", CONF_MAP, e), e) &&
         read_renames(f, conf_get(root, "rename"), e) &&
         read_ratio(f, need(root, "ratio", CONF_MAP, e), e);
    /* Columns that are not known would only bring more messages. */
    return ok && e->n == 0 && derive(f, e) &&
           read_predictors(f, need(root, "predictors", CONF_MAP, e), e) &&
           facts_read_claims(f, conf_get(root, "claims"), e);
}

struct facts *facts_read(const char *path, struct conf_errors *e)
{
    struct conf_tree *t = conf_read_file(path, e);
    struct facts *f = t ? calloc(1, sizeof(*f)) : NULL;
    const struct conf_node *root = t ? conf_root(t) : NULL;
    const size_t before = e->n;

    if (f && root->kind != CONF_MAP)
        conf_error(e, root,
                   "no description of published facts: a mapping with the keys facts, "
                   "axes, policy, ratio and claims");
    else if (f && (f->file = strdup(path)) != NULL && !read_all(f, root, e) && e->n == before)
        conf_error_file(e, path, "out of memory");
    conf_free(t);
    if (!f || e->n == before)
        return f;
    facts_free(f);
    return NULL;
}

struct facts *facts_open(const char *name, struct conf_errors *e, int *status)
{
    const struct conf_node at = {.text = name, .file = "--facts"};
    char *path = find_or_report(FIND_FACTS, ".", &at, e);
    struct facts *f = path ? facts_read(path, e) : NULL;

    *status = f ? 0 : path || !strpbrk(name, "/.") ? 2 : 3;
    free(path);
    return f;
}

void facts_free(struct facts *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nrows; i++) {
        for (size_t k = 0; f->row[i].text && k < f->ncolumns; k++)
            free(f->row[i].text[k]);
        free(f->row[i].text);
    }
    for (size_t k = 0; f->column && k < f->ncolumns; k++)
        free(f->column[k]);
    for (size_t i = 0; i < f->naxes; i++)
        free(f->axis[i].path);
    for (size_t i = 0; i < f->nrenames; i++) {
        free(f->rename[i].from);
        free(f->rename[i].to);
    }
    char *const texts[] = {f->file, f->table, f->source, f->policy, f->base, f->new};
    void *const lists[] = {f->row,   f->column, f->axis,    f->rename, f->sold,
                           f->group, f->claim,  f->null[0], f->null[1]};

    for (size_t i = 0; i < LENGTH(texts); i++)
        free(texts[i]);
    for (size_t i = 0; i < LENGTH(lists); i++)
        free(lists[i]);
    free(f);
}

const char *facts_value(const struct facts *f, size_t row, size_t column)
{
    const char *text = f->row[row].text[column];

    for (size_t i = 0; i < f->nrenames; i++)
        if (f->rename[i].column == column && strcmp(f->rename[i].from, text) == 0)
            return f->rename[i].to;
    return text;
}

enum facts_side facts_side_of(const struct facts *f, size_t row)
{
    return f->row[row].ratio > f->split ? SIDE_ABOVE : SIDE_BELOW;
}

/* Numbers by size, as 4 is 4.0. */
static bool same_value(const char *a, const char *b)
{
    const struct quantity x = quantity_parse(a), y = quantity_parse(b);

    if (x.kind == QUANTITY_NONE || x.kind != y.kind)
        return strcmp(a, b) == 0;
    return x.value <= y.value && x.value >= y.value;
}

size_t facts_row_of(const struct facts *f, const struct data_point *p)
{
    char **value = calloc(f->naxes + 1, sizeof(*value));
    size_t row = value ? 0 : f->nrows;

    for (size_t a = 0; value && a < f->naxes; a++)
        value[a] = data_value(p, f->axis[a].path);
    for (; row < f->nrows; row++) {
        size_t a = 0;

        while (a < f->naxes && value[a] &&
               same_value(value[a], facts_value(f, row, f->axis[a].column)))
            a++;
        if (a == f->naxes)
            break;
    }
    for (size_t a = 0; value && a < f->naxes; a++)
        free(value[a]);
    free(value);
    return row;
}

bool facts_label(const struct facts *f, struct dataset *d)
{
    bool ok = true;

    for (size_t i = 0; ok && i < d->n; i++) {
        const size_t row = facts_row_of(f, &d->point[i]);
        char ratio[48];

        if (row == f->nrows)
            continue;
        quantity_exact(f->row[row].ratio, ratio);
        ok = cJSON_AddStringToObject(d->point[i].labels, FACTS_RATIO, ratio) &&
             cJSON_AddStringToObject(d->point[i].labels, FACTS_PUBLISHED,
                                     f->row[row].text[f->change]);
    }
    return ok;
}
