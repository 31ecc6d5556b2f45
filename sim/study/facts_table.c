/* SPDX-License-Identifier: MIT */
/* The table of published values: lines of fields split by commas, `#` before a comment. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/facts_internal.h"
#include "study/quantity.h"

#define MAX_LINE    1024
#define MAX_COLUMNS 32
#define MAX_ROWS    10000

/* A place in the table, for messages. */
static struct conf_node place(const char *table, int line, int column)
{
    return (struct conf_node){.file = table, .line = line, .column = column};
}

/* Cuts the line at its commas and takes blanks off; the number of fields, -1: too many. */
static int split(char *line, char *field[MAX_COLUMNS])
{
    int n = 0;

    for (char *p = line; p; n++) {
        char *comma = strchr(p, ','), *end;

        if (n == MAX_COLUMNS)
            return -1;
        if (comma)
            *comma++ = '\0';
        p += strspn(p, " \t\r\n");
        end = p + strlen(p);
        while (end > p && strchr(" \t\r\n", end[-1]))
            *--end = '\0';
        field[n] = p;
        p = comma;
    }
    return n;
}

static char **copies(char *const *field, size_t n)
{
    char **all = calloc(n + 1, sizeof(*all));

    for (size_t i = 0; all && i < n; i++)
        all[i] = strdup(field[i]);
    return all;
}

static bool add_header(struct facts *f, char *const *field, size_t n, const struct conf_node *at,
                       struct conf_errors *e)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(field[i], field[k]) == 0)
                conf_error(e, at, "two columns are called '%s'", field[i]);
    f->column = copies(field, n);
    f->ncolumns = n;
    return f->column != NULL;
}

static bool add_row(struct facts *f, char *const *field, size_t n, const struct conf_node *at,
                    struct conf_errors *e)
{
    struct facts_row *more;

    if (n != f->ncolumns) {
        conf_error(e, at, "%zu fields, expected %zu as in the line of names", n, f->ncolumns);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        if (!*field[i])
            conf_error(e, at, "no value of '%s'", f->column[i]);
    more = realloc(f->row, (f->nrows + 1) * sizeof(*more));
    if (!more)
        return false;
    f->row = more;
    f->row[f->nrows] = (struct facts_row){.text = copies(field, n), .line = at->line};
    return f->row[f->nrows++].text != NULL;
}

static bool add_line(struct facts *f, char *line, int number, struct conf_errors *e)
{
    const struct conf_node at = place(f->table, number, 1);
    char *field[MAX_COLUMNS];
    const char *first = line + strspn(line, " \t\r\n");
    int n;

    if (!*first || *first == '#')
        return true;
    n = strlen(line) >= MAX_LINE - 1 ? -1 : split(line, field);
    if (n < 0 || f->nrows >= MAX_ROWS) {
        conf_error(e, &at, "%s", n < 0 ? "the line is too long" : "too many lines");
        return false;
    }
    return f->column ? add_row(f, field, (size_t)n, &at, e)
                     : add_header(f, field, (size_t)n, &at, e);
}

/* As seen from the folder of the description. */
static char *beside(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    const size_t folder = *name == '/' || !slash ? 0 : (size_t)(slash - file) + 1;
    char *joined = malloc(folder + strlen(name) + 1);

    if (joined) {
        memcpy(joined, file, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

bool facts_read_table(struct facts *f, const struct conf_node *at, struct conf_errors *e)
{
    const char *name = conf_str(at, e);
    char line[MAX_LINE];
    bool good = true;
    FILE *in;

    f->table = name ? beside(f->file, name) : NULL;
    in = f->table ? fopen(f->table, "rb") : NULL;
    if (!in) {
        if (f->table)
            conf_error(e, at, "cannot read '%s': %s", f->table, strerror(errno));
        return false;
    }
    for (int number = 1; good && fgets(line, sizeof(line), in); number++)
        good = add_line(f, line, number, e);
    if (ferror(in)) {
        conf_error(e, at, "cannot read '%s'", f->table);
        good = false;
    }
    fclose(in);
    if (good && f->nrows == 0 && e->n == 0)
        conf_error(e, at, "'%s' has no rows", f->table);
    return good && f->nrows > 0;
}

bool facts_number(const struct facts *f, const struct facts_row *r, size_t column, double *out,
                  struct conf_errors *e)
{
    const struct conf_node at = place(f->table, r->line, 1);
    const struct quantity q = quantity_parse(r->text[column]);

    *out = q.value;
    if (q.kind == QUANTITY_PLAIN && isfinite(q.value))
        return true;
    conf_error(e, &at, "'%s' is '%s', expected a number", f->column[column], r->text[column]);
    return false;
}
