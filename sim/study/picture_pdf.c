/* SPDX-License-Identifier: MIT */
/*
 * Document information of a PDF, by an update at its end, as the format has it: a new object, the
 * place of it, and a trailer that names it and the table before. Readers that know such updates are
 * all of them. The date of the old information is blanked.
 */
#include <stdlib.h>
#include <string.h>

#include "study/picture.h"

/* The last place of a text; NULL when it is not there. */
static const char *last(const char *data, size_t size, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = size < n ? 0 : size - n + 1; i > 0; i--)
        if (memcmp(data + i - 1, text, n) == 0)
            return data + i - 1;
    return NULL;
}

/* A number behind the last such key; 0 when there is none. */
static unsigned long number(const char *data, size_t size, const char *key)
{
    const char *at = last(data, size, key);

    return at ? strtoul(at + strlen(key), NULL, 10) : 0; /* the data ends in a NUL */
}

static void put_blanked(FILE *out, const char *data, size_t size)
{
    static const char key[] = "/CreationDate";
    const char *date = last(data, size, key);
    const char *end = date ? memchr(date, ')', size - (size_t)(date - data)) : NULL;

    if (!end) {
        fwrite(data, 1, size, out);
        return;
    }
    fwrite(data, 1, (size_t)(date - data), out);
    fprintf(out, "%*s", (int)(end + 1 - date), "");
    fwrite(end + 1, 1, size - (size_t)(end + 1 - data), out);
}

static void put_string(FILE *out, const char *text)
{
    fputc('(', out);
    for (; *text; text++) {
        if (strchr("()\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc(')', out);
}

/* The new information as object `n`. malloc'ed, NULL without memory. */
static char *information(unsigned long n, const char *origin, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    if (!out)
        return NULL;
    fprintf(out, "%lu 0 obj\n<< /Producer (Tandem, gnuplot, cairo)\n   /Subject ", n);
    put_string(out, origin);
    fputs("\n>>\nendobj\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int picture_put_pdf(FILE *out, const char *data, size_t size, const char *origin)
{
    const unsigned long objects = number(data, size, "/Size "), root = number(data, size, "/Root ");
    const unsigned long table = number(data, size, "startxref\n");
    size_t length = 0;
    char *object;

    put_blanked(out, data, size);
    /* A table of another form cannot be continued by this one: the origin is a comment then. */
    if (!objects || !root || !table || table + 4 > size || memcmp(data + table, "xref", 4) != 0) {
        fprintf(out, "%% %s\n", origin);
        return 0;
    }
    object = information(objects, origin, &length);
    if (!object)
        return -1;
    fprintf(out, "\n%sxref\n%lu 1\n%010zu 00000 n \ntrailer\n", object, objects, size + 1);
    fprintf(out, "<< /Size %lu\n   /Root %lu 0 R\n   /Info %lu 0 R\n   /Prev %lu\n>>\n",
            objects + 1, root, objects, table);
    fprintf(out, "startxref\n%zu\n%%%%EOF\n", size + 1 + length);
    free(object);
    return 0;
}
