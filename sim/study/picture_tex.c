/* SPDX-License-Identifier: MIT */
/*
 * Pictures for LaTeX. gnuplot's cairolatex writes each text as it is behind \strut{} at the end of
 * a line, so that LaTeX would run what is in it: here its characters become literal ones. A text
 * that starts with '[' or '{' is one that gnuplot itself takes for a command: in the script it
 * starts with a mark, a space without width.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "study/picture.h"

#define MARK  "\xe2\x80\x8b"
#define STRUT "\\strut{}"

bool picture_tex_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    const size_t n = strlen(name) < 4 ? 0 : strlen(name) - 4; /* without .tex */

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-_+", name[i]))
            return false;
    return n > 0;
}

char *picture_guard_tex(const char *script)
{
    static const char *const starts[] = {"= '[", "= '{"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (const char *p = script; *p; p++) {
        const bool guarded = strncmp(p, starts[0], 4) == 0 || strncmp(p, starts[1], 4) == 0;

        fputc(*p, out);
        if (guarded) {
            fputs(" '" MARK, out);
            p += 2;
        }
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Literal in any encoding of fonts; what stands in for ASCII needs no package. */
static const struct {
    const char *from, *to;
} literal[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "\\texttt{\\char34}"},
    {"'", "\\texttt{\\char13}"},
    {"`", "\\texttt{\\char18}"},
    {"-", "-{}"}, /* two of them are no dash */
    {"\xc2\xb5", "\\textmu{}"},
    {"\xc2\xb3", "\\textsuperscript{3}"},
    {"\xe2\x81\xb6", "\\textsuperscript{6}"},
    {"\xe2\x89\xa4", "\\ensuremath{\\leq}"},
    {MARK, ""},
};

/* The first `what` in the n bytes at `text`; NULL when it is not there. */
static const char *find(const char *text, size_t n, const char *what)
{
    const size_t len = strlen(what);

    for (size_t i = 0; i + len <= n; i++)
        if (strncmp(text + i, what, len) == 0)
            return text + i;
    return NULL;
}

static void put_literal(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t k = 0, len = 0;

        for (; k < sizeof(literal) / sizeof(literal[0]); k++) {
            len = strlen(literal[k].from);
            if (len <= n - i && strncmp(text + i, literal[k].from, len) == 0)
                break;
        }
        if (k < sizeof(literal) / sizeof(literal[0])) {
            fputs(literal[k].to, out);
            i += len;
        } else {
            fputc(text[i++], out);
        }
    }
}

/* The braces after the text belong to gnuplot: one of \makebox, one of \put, and one more where it
 * is rotated. */
static void put_line(FILE *out, const char *line, size_t n)
{
    const char *strut = find(line, n, STRUT);
    const size_t head = strut ? (size_t)(strut - line) + strlen(STRUT) : n;
    const size_t tail = find(line, head, "\\rotatebox") ? 4 : 3;

    if (!strut || n < head + tail) {
        fwrite(line, 1, n, out);
        return;
    }
    fwrite(line, 1, head, out);
    put_literal(out, line + head, n - head - tail);
    fwrite(line + n - tail, 1, tail, out);
}

/* gnuplot names the folder that it drew in. */
static void put_include(FILE *out, const char *line, size_t n, const char *part)
{
    const char *name = find(line, n, "]{");
    const char *end = name ? find(name, n - (size_t)(name - line), "}") : NULL;

    if (!end) {
        fwrite(line, 1, n, out);
        return;
    }
    fwrite(line, 1, (size_t)(name - line), out);
    fprintf(out, "]{%s", part);
    fwrite(end, 1, n - (size_t)(end - line), out);
}

void picture_put_tex(FILE *out, const char *data, const char *part, const char *origin)
{
    static const char begin[] = "\\begingroup", include[] = "\\put(0,0){\\includegraphics[";

    fprintf(out, "%% %s\n%% needs the packages graphicx and color\n", origin);
    while (*data) {
        const size_t n = strcspn(data, "\n");

        if (find(data, n, include))
            put_include(out, data, n, part);
        else
            put_line(out, data, n);
        fputc('\n', out);
        if (find(data, n, begin) == data)
            fputs("  \\fontsize{7}{8.4}\\selectfont\n", out);
        data += n + (data[n] == '\n');
    }
}
