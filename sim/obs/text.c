/* SPDX-License-Identifier: MIT */
/* See text.h. */
#include "obs/text.h"

#include <string.h>

int text_width(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void text_put(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

/* Bytes of the character that begins here; 0 when none does: not UTF-8, or one that XML has not. */
static size_t character(const unsigned char *p)
{
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = *p < 0x80   ? 1
                     : *p < 0xc2 ? 0
                     : *p < 0xe0 ? 2
                     : *p < 0xf0 ? 3
                     : *p < 0xf5 ? 4
                                 : 0;
    unsigned long c = n == 1 ? *p : *p & (0xffu >> (n + 1));

    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (n == 0 || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
        c == 0xffff)
        return 0;
    return n;
}

void text_repair(char *text)
{
    for (char *p = text; *p;) {
        const size_t n = character((const unsigned char *)p);

        if (n == 0)
            *p = '?';
        p += n ? n : 1;
    }
}

void text_put_csv(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
