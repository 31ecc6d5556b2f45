/* SPDX-License-Identifier: MIT */
/* The origin of a picture, and putting it into the file. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "obs/json.h"
#include "study/plot.h"

#define PNG_HEAD 33 /* signature and IHDR, which comes first in every PNG */

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

static void put_versions(struct json *j, const struct plot_grid *g, const struct dataset *d,
                         const char **list)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        if (g->used[i] && is_new(list, n, d->point[i].version))
            list[n++] = d->point[i].version;
    json_array(j, "versions", true);
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, list[i]);
    json_close(j);
}

static void put_scenarios(struct json *j, const struct plot_grid *g, const struct dataset *d,
                          const char **list)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        if (g->used[i])
            list[n++] = d->point[i].hash;
    qsort(list, n, sizeof(*list), by_text);
    json_array(j, "scenarios", true);
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, list[i]);
    json_close(j);
}

static void put_seeds(struct json *j, const struct plot_grid *g, const struct dataset *d)
{
    uint64_t seen[64];
    size_t n = 0;

    json_array(j, "seeds", true);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; g->used[i] && k < d->point[i].nruns && n < 64; k++) {
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

/* Chunks of a PNG hold Latin-1, and a version could be anything. */
static void make_ascii(char *text)
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
    put_versions(&j, g, d, list);
    put_seeds(&j, g, d);
    put_scenarios(&j, g, d, list);
    json_close(&j);
    free(list);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    make_ascii(text);
    return text;
}

static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else
            fputc(*text, out);
}

static void put_svg(FILE *out, const char *data, size_t size, const char *origin)
{
    const char *mark = strstr(data, "</desc>");
    const size_t head = mark ? (size_t)(mark - data) + strlen("</desc>") : 0;

    fwrite(data, 1, head, out);
    if (mark) {
        fputs("\n<metadata>", out);
        put_xml(out, origin);
        fputs("</metadata>", out);
    }
    fwrite(data + head, 1, size - head, out);
}

static void put_u32(FILE *out, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(v >> shift & 0xff), out);
}

static int put_png(FILE *out, const char *data, size_t size, const char *origin)
{
    static const char keyword[] = "tEXtDescription"; /* type and keyword, NUL included */
    const size_t n = sizeof(keyword) + strlen(origin);
    unsigned char *chunk;

    if (size < PNG_HEAD || memcmp(data + 12, "IHDR", 4) != 0) {
        fwrite(data, 1, size, out);
        return 0;
    }
    chunk = malloc(n);
    if (!chunk)
        return -1;
    memcpy(chunk, keyword, sizeof(keyword));
    memcpy(chunk + sizeof(keyword), origin, n - sizeof(keyword));
    fwrite(data, 1, PNG_HEAD, out);
    put_u32(out, (uint32_t)(n - 4));
    fwrite(chunk, 1, n, out);
    put_u32(out, (uint32_t)crc32(0, chunk, (uInt)n));
    fwrite(data + PNG_HEAD, 1, size - PNG_HEAD, out);
    free(chunk);
    return 0;
}

int picture_write(const char *file, enum picture_format format, const char *data, size_t size,
                  const char *origin)
{
    FILE *out = fopen(file, "wb");
    int failed = 0;

    if (!out)
        return -1;
    if (format == PICTURE_SVG)
        put_svg(out, data, size, origin);
    else if (format == PICTURE_PNG)
        failed = put_png(out, data, size, origin);
    else
        fwrite(data, 1, size, out);
    if (fflush(out) != 0 || ferror(out))
        failed = -1;
    const int why = errno;

    if (fclose(out) != 0)
        return -1;
    errno = why;
    return failed;
}
