/* SPDX-License-Identifier: MIT */
/* Where a picture comes from. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/result.h"
#include "study/plot.h"

#define LISTED 64 /* scenarios and seeds that are named one by one */

static bool is_new(const char **list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0)
            return false;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The different texts of the used points, in order, and how many there are. */
static size_t texts_of(const char **list, const struct plot_grid *g, const struct dataset *d,
                       const char *(*text)(const struct data_point *))
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        if (g->used[i] && is_new(list, n, text(&d->point[i])))
            list[n++] = text(&d->point[i]);
    qsort(list, n, sizeof(*list), by_text);
    return n;
}

static const char *version_of(const struct data_point *p)
{
    return p->version;
}

static const char *source_of(const struct data_point *p)
{
    return p->source;
}

static const char *hash_of(const struct data_point *p)
{
    return p->hash;
}

static void put_texts(struct json *j, const char *key, const char **list, size_t n)
{
    json_array(j, key, true);
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, list[i]);
    json_close(j);
}

void origin_put_scenarios(struct json *j, const char **list, size_t n)
{
    char *all = malloc(32 * n + 1), hash[33];
    size_t size = 0;

    for (size_t i = 0; all && i < n; i++)
        size += (size_t)snprintf(all + size, 32 * n + 1 - size, "%.32s", list[i]);
    if (all && n > 1)
        hash_hex(all, size, hash);
    free(all);
    json_string(j, "scenario", n == 1 ? list[0] : all ? hash : NULL);
    json_count(j, "points", n);
    if (n > 1 && n <= LISTED)
        put_texts(j, "scenarios", list, n);
}

static void put_seeds(struct json *j, const struct plot_grid *g, const struct dataset *d)
{
    uint64_t seen[LISTED];
    size_t n = 0;

    json_array(j, "seeds", true);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; g->used[i] && k < d->point[i].nruns && n < LISTED; k++) {
            size_t s = 0;

            while (s < n && seen[s] != d->point[i].run[k].seed)
                s++;
            if (s < n)
                continue;
            seen[n++] = d->point[i].run[k].seed;
            json_u64(j, NULL, seen[s]);
        }
    json_close(j);
}

void picture_make_ascii(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x7f || (unsigned char)*text < 0x20)
            *text = '?';
}

/* One as it is, several split by ','. */
static void put_metrics(struct json *j, const struct plot_grid *g)
{
    char list[64 * PLOT_METRICS] = "";

    for (size_t i = 0; i < g->nmetrics; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? "," : "",
                 g->metric[i]->key);
    json_string(j, "metric", list);
}

char *picture_origin(const struct plot_grid *g, const struct plot_request *r,
                     const struct dataset *d)
{
    const char **list = calloc(d->n + 1, sizeof(*list));
    char *text = NULL;
    size_t size;
    FILE *out = list ? open_memstream(&text, &size) : NULL;
    struct json j;

    if (!out) {
        free(list);
        return NULL;
    }
    json_init(&j, out, true);
    json_object(&j, NULL, true);
    json_string(&j, "schema", "tandem.figure/1");
    json_string(&j, "figure", r->figure->name);
    put_metrics(&j, g);
    put_texts(&j, "sources", list, texts_of(list, g, d, source_of));
    put_texts(&j, "versions", list, texts_of(list, g, d, version_of));
    put_seeds(&j, g, d);
    origin_put_scenarios(&j, list, texts_of(list, g, d, hash_of));
    json_close(&j);
    free(list);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    picture_make_ascii(text);
    return text;
}
