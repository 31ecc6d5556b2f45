/* SPDX-License-Identifier: MIT */
/* See rows.h. */
#include "study/rows.h"

#include "obs/text.h"

static void put_csv(struct rows *r, const char *const *text)
{
    for (size_t i = 0; r->column[i]; i++) {
        if (i)
            fputc(',', r->out);
        if (text[i])
            text_put_csv(r->out, text[i]);
    }
    fputc('\n', r->out);
}

void rows_begin(struct rows *r, FILE *out, bool as_json, const char *const *column)
{
    *r = (struct rows){.out = out, .as_json = as_json, .column = column, .numbers = SIZE_MAX};
    if (!as_json) {
        put_csv(r, column);
        return;
    }
    json_init(&r->json, out, false);
    json_array(&r->json, NULL, false);
}

void rows_put(struct rows *r, const char *const *text)
{
    if (!r->as_json) {
        put_csv(r, text);
        return;
    }
    json_object(&r->json, NULL, true);
    for (size_t i = 0; r->column[i]; i++)
        if (i >= r->numbers)
            json_raw(&r->json, r->column[i], text[i]);
        else
            json_string(&r->json, r->column[i], text[i]);
    json_close(&r->json);
}

void rows_end(struct rows *r)
{
    if (!r->as_json)
        return;
    json_close(&r->json);
    fputc('\n', r->out);
}
