/* SPDX-License-Identifier: MIT */
/* Reads series. Always true: a file that is not one is refused with its line, nothing is guessed. */
#include "study/course.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/csv_line.h"
#include "study/plot_axes.h"

#define COLUMNS (2 + COURSE_VALUES)

static const char head[] =
    "time_s,vm,preferred_vcpus,busy_vcpus,steal_vcpus,throughput_per_s,idle_pcpus";

static bool read_number(const char *text, double *v)
{
    char *end;

    *v = NAN;
    if (*text == '\0')
        return true;
    *v = strtod(text, &end);
    return *end == '\0' && isfinite(*v) && *v >= 0;
}

/* The number of the VM called so, a new one if there is none; nvms + 1 without memory. */
static size_t vm_called(struct course *c, const char *name)
{
    char **more;

    for (size_t i = 0; i < c->nvms; i++)
        if (strcmp(c->vm[i], name) == 0)
            return i;
    more = realloc(c->vm, (c->nvms + 1) * sizeof(*more));
    if (!more)
        return c->nvms + 1;
    c->vm = more;
    c->vm[c->nvms] = strdup(name);
    return c->vm[c->nvms] ? c->nvms++ : c->nvms + 1;
}

#define MACHINE SIZE_MAX

static int read_row(struct course *c, char *line)
{
    struct course_row *r = &c->row[c->n];
    char *field[COLUMNS];

    if (csv_split(line, field, COLUMNS) != COLUMNS || !read_number(field[0], &r->time) ||
        isnan(r->time))
        return -1;
    for (size_t i = 0; i < COURSE_VALUES; i++)
        if (!read_number(field[2 + i], &r->value[i]))
            return -1;
    r->vm = *field[1] ? vm_called(c, field[1]) : MACHINE;
    c->n++;
    return 0;
}

static int read_rows(struct course *c, FILE *in, const char *file, struct store_error *err)
{
    char *line = NULL;
    size_t size = 0, room = 0;
    ssize_t len;
    int number = 0, bad = 0;

    while (!bad && (len = getline(&line, &size, in)) >= 0) {
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        number++;
        if (c->n == room) {
            void *more = realloc(c->row, (room = 2 * room + 256) * sizeof(*c->row));

            bad = more ? 0 : plot_fail(err, 4, "out of memory");
            c->row = more ? more : c->row;
        }
        if (!bad && (number == 1 ? strcmp(line, head) != 0 : read_row(c, line) != 0))
            bad = plot_fail(err, 2, "%s:%d: this is not what 'tandem run --series' writes", file,
                            number);
    }
    free(line);
    if (!bad && ferror(in))
        bad = plot_fail(err, 3, "%s: %s", file, strerror(errno));
    if (!bad && c->n == 0)
        bad = plot_fail(err, 2, "%s: no steps in it", file);
    return bad;
}

int course_read(struct course *c, const char *file, struct store_error *err)
{
    FILE *in = fopen(file, "r");
    int bad;

    if (!in)
        return plot_fail(err, 3, "%s: %s", file, strerror(errno));
    bad = read_rows(c, in, file, err);
    fclose(in);
    for (size_t i = 0; i < c->n; i++)
        c->row[i].vm = c->row[i].vm == MACHINE ? c->nvms : c->row[i].vm;
    return bad;
}

void course_free(struct course *c)
{
    for (size_t i = 0; i < c->nvms; i++)
        free(c->vm[i]);
    free(c->vm);
    free(c->row);
}

static bool listed(const char *const *list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

int course_keep(struct course *c, const char *const *vm, size_t n, struct store_error *err)
{
    size_t *to = calloc(c->nvms + 1, sizeof(*to)), kept = 0, rows = 0;
    const size_t before = c->nvms;

    if (!to)
        return plot_fail(err, 4, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (!listed((const char *const *)c->vm, c->nvms, vm[i])) {
            free(to);
            return plot_no_vm(err, NULL, vm[i], (const char *const *)c->vm, c->nvms);
        }
    for (size_t i = 0; i < before; i++) {
        to[i] = SIZE_MAX;
        if (listed(vm, n, c->vm[i])) {
            to[i] = kept;
            c->vm[kept++] = c->vm[i];
        } else {
            free(c->vm[i]);
        }
    }
    to[before] = c->nvms = kept;
    for (size_t i = 0; i < c->n; i++) {
        c->row[rows] = c->row[i];
        c->row[rows].vm = to[c->row[i].vm];
        rows += c->row[rows].vm != SIZE_MAX;
    }
    c->n = rows;
    free(to);
    return 0;
}
