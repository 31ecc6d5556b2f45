/* SPDX-License-Identifier: MIT */
/* What tells two runs apart: the values at which their scenarios, written out with all defaults, differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/gantt.h"
#include "study/plot_label.h"

#define MOST 3 /* differences that still make a title */

struct differences {
    size_t n;
    char text[2][MOST][LABEL_SIZE];
};

/* A policy is an object of one member, its parameters: its name says more than these. */
static const char *only_name(const cJSON *v)
{
    return cJSON_IsObject(v) && v->child && !v->child->next ? v->child->string : NULL;
}

static void describe(const cJSON *v, const char *key, char out[LABEL_SIZE])
{
    const char *name = only_name(v);
    char *text = name                ? NULL
                 : cJSON_IsString(v) ? strdup(v->valuestring)
                                     : cJSON_PrintUnformatted(v);
    char word[LABEL_SIZE];

    label_shorten(name ? name : text ? text : "none", 24, word);
    snprintf(out, LABEL_SIZE, "%.60s: %.160s", key, word);
    free(text);
}

static void note(struct differences *d, const char *key, const cJSON *a, const cJSON *b)
{
    if (d->n < MOST) {
        describe(a, key, d->text[0][d->n]);
        describe(b, key, d->text[1][d->n]);
    }
    d->n++;
}

static bool same_members(const cJSON *a, const cJSON *b)
{
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return false;
    for (a = a->child; a; a = a->next)
        if (!cJSON_GetObjectItemCaseSensitive(b, a->string))
            return false;
    return true;
}

static void compare(struct differences *d, const char *key, const cJSON *a, const cJSON *b)
{
    if (cJSON_Compare(a, b, true))
        return;
    if (cJSON_IsObject(a) && cJSON_IsObject(b) && same_members(a, b)) {
        for (const cJSON *v = a->child; v; v = v->next)
            compare(d, v->string, v, cJSON_GetObjectItemCaseSensitive(b, v->string));
    } else if (cJSON_IsArray(a) && cJSON_IsArray(b) &&
               cJSON_GetArraySize(a) == cJSON_GetArraySize(b)) {
        for (a = a->child, b = b->child; a; a = a->next, b = b->next)
            compare(d, key, a, b);
    } else {
        note(d, key, a, b);
    }
}

void gantt_titles(struct gantt_chart *g)
{
    struct differences d = {.n = 0};

    if (g->n < 2)
        return;
    compare(&d, "scenario", cJSON_GetObjectItemCaseSensitive(g->run[0].origin, "scenario"),
            cJSON_GetObjectItemCaseSensitive(g->run[1].origin, "scenario"));
    for (size_t i = 0; i < 2; i++) {
        char *title = g->run[i].title;
        const size_t size = sizeof(g->run[i].title);

        if (d.n == 0 || d.n > MOST)
            snprintf(title, size, "%s", g->run[i].name);
        for (size_t k = 0; d.n <= MOST && k < d.n; k++)
            snprintf(title + strlen(title), size - strlen(title), "%s%s", k ? ", " : "",
                     d.text[i][k]);
    }
}
