/* SPDX-License-Identifier: MIT */
/* Which points of two sets of results belong together. */
#include <stdlib.h>
#include <string.h>

#include "obs/text.h"
#include "parts.h"
#include "study/compare_internal.h"

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot ? dot + 1 : path;
}

/* The end of an axis' path, or all of it where another axis ends so. */
static const char *short_name(const cJSON *labels, const cJSON *axis)
{
    const char *name = last_part(axis->string);
    const cJSON *item;

    cJSON_ArrayForEach(item, labels)
    {
        if (item != axis && strcmp(last_part(item->string), name) == 0)
            return axis->string;
    }
    return name;
}

/* "a.b=1, c=x" to match by, or "b=1, c=x" to show. */
static char *label_text(const struct data_point *p, bool shortened)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const cJSON *item;
    const char *between = "";

    if (!out)
        return parts_copy("");
    cJSON_ArrayForEach(item, p->labels)
    {
        fprintf(out, "%s%s=%s", between, shortened ? short_name(p->labels, item) : item->string,
                cJSON_IsString(item) ? item->valuestring : "?");
        between = ", ";
    }
    fclose(out);
    text_repair(text);
    return text;
}

static int by_name(const void *a, const void *b)
{
    const cJSON *const *x = a, *const *y = b;

    return strcmp((*x)->string, (*y)->string);
}

/* The order in which a sweep names its axes does not matter. */
static char *label_of(const struct data_point *p)
{
    const int n = cJSON_GetArraySize(p->labels);
    const cJSON **axis = parts_alloc((size_t)n + 1, sizeof(*axis)), *item;
    struct data_point sorted = {.labels = cJSON_CreateObject()};
    char *text;
    size_t k = 0;

    cJSON_ArrayForEach(item, p->labels) axis[k++] = item;
    qsort(axis, k, sizeof(*axis), by_name);
    for (size_t i = 0; i < k; i++)
        cJSON_AddItemToObject(sorted.labels, axis[i]->string, cJSON_Duplicate(axis[i], true));
    text = label_text(&sorted, false);
    cJSON_Delete(sorted.labels);
    free(axis);
    return text;
}

/* The points of a dataset by label. */
struct labelled {
    char *label;
    const struct data_point *point;
};

static int by_label(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;

    return strcmp(x->label, y->label);
}

static struct labelled *labelled_points(const struct dataset *d)
{
    struct labelled *list = parts_alloc(d->n + 1, sizeof(*list));

    for (size_t i = 0; i < d->n; i++)
        list[i] = (struct labelled){label_of(&d->point[i]), &d->point[i]};
    qsort(list, d->n, sizeof(*list), by_label);
    return list;
}

static void labelled_free(struct labelled *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].label);
    free(list);
}

static const struct data_point *find_label(const struct labelled *list, size_t n, char *label)
{
    const struct labelled wanted = {.label = label};
    const struct labelled *found = bsearch(&wanted, list, n, sizeof(*list), by_label);

    return found ? found->point : NULL;
}

static void add_point(struct compare *c, const struct data_point *base,
                      const struct data_point *new)
{
    c->point = parts_grow(c->point, c->npoints, sizeof(*c->point));
    c->point[c->npoints++] = (struct compare_point){
        .label = label_text(base ? base : new, true), .base = base, .new = new};
}

/* A point that a side has more than once, or NULL. */
static const char *twice(const struct labelled *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(list[i - 1].label, list[i].label) == 0)
            return list[i].label;
    return NULL;
}

static int refuse(struct compare *c, const char *name, const char *label, struct store_error *err)
{
    err->status = 2;
    if (label)
        snprintf(err->text, sizeof(err->text),
                 "%s: the point (%.200s) is there more than once: by several versions of the "
                 "program, loaded policies or sweeps",
                 name, label);
    else
        snprintf(err->text, sizeof(err->text), "%s and %s have no point in common", c->base_name,
                 c->new_name);
    return -1;
}

/* The base's points in its own order, then those that only the new side has. */
static size_t join(struct compare *c, const struct dataset *base, const struct labelled *bases,
                   const struct dataset *new, const struct labelled *news)
{
    size_t matched = 0;

    for (size_t i = 0; i < base->n; i++) {
        char *label = label_of(&base->point[i]);

        add_point(c, &base->point[i], find_label(news, new->n, label));
        matched += c->point[c->npoints - 1].new != NULL;
        free(label);
    }
    for (size_t i = 0; i < new->n; i++) {
        char *label = label_of(&new->point[i]);

        if (!find_label(bases, base->n, label))
            add_point(c, NULL, &new->point[i]);
        free(label);
    }
    return matched;
}

int compare_match(struct compare *c, const struct dataset *base, const struct dataset *new,
                  struct store_error *err)
{
    struct labelled *bases, *news;
    int failed = 0;

    if (base->n == 1 && new->n == 1) {
        add_point(c, &base->point[0], &new->point[0]);
        return 0;
    }
    bases = labelled_points(base);
    news = labelled_points(new);
    if (twice(bases, base->n))
        failed = refuse(c, c->base_name, twice(bases, base->n), err);
    else if (twice(news, new->n))
        failed = refuse(c, c->new_name, twice(news, new->n), err);
    else if (join(c, base, bases, new, news) == 0)
        failed = refuse(c, NULL, NULL, err);
    labelled_free(bases, base->n);
    labelled_free(news, new->n);
    return failed;
}
