/* SPDX-License-Identifier: MIT */
/* Puts a picture and its origin into the file. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "study/outfile.h"
#include "study/picture.h"

#define PNG_HEAD 33 /* signature and IHDR, which comes first in every PNG */

int picture_format(const char *file)
{
    static const char *const endings[] = {".svg", ".pdf", ".png", ".tex"};

    for (int i = 0; i < 4; i++) {
        const size_t n = strlen(file);

        if (n > 4 && strcmp(file + n - 4, endings[i]) == 0)
            return i;
    }
    return -1;
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

/* A viewer without the font takes one of the same widths, or any. */
static void put_svg(FILE *out, const char *data, const char *origin)
{
    static const char font[] = "font-family=\"DejaVu Sans", desc[] = "</desc>";
    const char *mark = strstr(data, desc);

    while (*data) {
        const char *next = strstr(data, font);
        const char *end = next ? next + strlen(font) : data + strlen(data);

        if (mark && mark < end) {
            end = mark + strlen(desc);
            next = mark = NULL;
            fwrite(data, 1, (size_t)(end - data), out);
            fputs("\n<metadata>", out);
            put_xml(out, origin);
            fputs("</metadata>", out);
        } else {
            fwrite(data, 1, (size_t)(end - data), out);
        }
        if (next)
            fputs(", Verdana, sans-serif", out);
        data = end;
    }
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

static int write_part(const char *file, const struct picture *p, const char *origin)
{
    struct outfile o;

    if (outfile_open(&o, file) != 0)
        return -1;
    return outfile_close(&o, picture_put_pdf(o.file, p->part, p->part_size, origin));
}

/* FILE.tex and FILE-inc.pdf. */
static int put_tex(FILE *out, const char *file, const struct picture *p, const char *origin)
{
    const char *slash = strrchr(file, '/');
    const size_t n = strlen(file) + 16;
    char *part = malloc(n);
    int failed = -1;

    if (part) {
        snprintf(part, n, "%.*s-inc.pdf", (int)(strlen(file) - strlen(".tex")), file);
        failed = write_part(part, p, origin);
        part[strlen(part) - strlen(".pdf")] = '\0';
        picture_put_tex(out, p->data, part + (slash ? slash + 1 - file : 0), origin);
    }
    free(part);
    return failed;
}

int picture_write(const char *file, enum picture_format format, const struct picture *p,
                  const char *origin)
{
    struct outfile o;
    int failed = 0;

    if (outfile_open(&o, file) != 0)
        return -1;
    if (format == PICTURE_SVG)
        put_svg(o.file, p->data, origin);
    else if (format == PICTURE_PNG)
        failed = put_png(o.file, p->data, p->size, origin);
    else if (format == PICTURE_PDF)
        failed = picture_put_pdf(o.file, p->data, p->size, origin);
    else
        failed = put_tex(o.file, file, p, origin);
    return outfile_close(&o, failed || ferror(o.file));
}

void picture_free(struct picture *p)
{
    free(p->data);
    free(p->part);
    *p = (struct picture){0};
}
