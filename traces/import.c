/* SPDX-License-Identifier: MIT */
/*
 * Making a program file of a trace: reader -> model -> text.
 */
#include <stdlib.h>
#include <string.h>

#include "traces/program.h"

void trace_import_defaults(struct trace_import_options *o)
{
    *o = (struct trace_import_options){
        .mode = TRACE_CLOSED, .loop = true, .max_tasks = TRACE_MAX_TASKS, .max_ops = TRACE_MAX_OPS};
}

static enum trace_status write_program(struct model *m, const char *name, const char *form,
                                       const struct trace_import_options *o, char **text,
                                       struct trace_import_counts *n, char **error)
{
    if (m->last - m->first > PROGRAM_MAX_SPAN) {
        *error = trace_format("%s: the recording spans %lld s, more than the %lld s of a program; "
                              "is the clock rate right?",
                              name, (long long)((m->last - m->first) / NS_SEC),
                              (long long)(PROGRAM_MAX_SPAN / NS_SEC));
        return TRACE_REFUSED;
    }
    bool fine = model_finish(m);
    if (fine)
        *text = program_text(m, o, name, form, n);
    if (*text)
        return TRACE_OK;
    if (fine && n->tasks_seen == n->never_ran + n->not_selected) {
        *error = trace_format("%s: no task left to import: %lld seen, %lld never ran, %lld not "
                              "selected by --tasks, --comm or --min-run",
                              name, (long long)n->tasks_seen, (long long)n->never_ran,
                              (long long)n->not_selected);
        return TRACE_REFUSED;
    }
    *error = trace_format("%s: out of memory", name);
    return TRACE_UNREADABLE;
}

enum trace_status trace_import_stream(FILE *in, const char *name,
                                      const struct trace_import_options *o, char **text,
                                      struct trace_import_counts *n, struct trace_counts *c,
                                      char **error)
{
    struct trace_import_counts own_n;
    struct trace_counts own_c;
    struct model m;
    n = n ? n : &own_n;
    c = c ? c : &own_c;
    memset(n, 0, sizeof(*n));
    *text = NULL;
    model_init(&m, (size_t)o->max_ops);
    enum trace_status status = reader_run(in, name, &o->read, c, model_event, &m, error);
    if (status == TRACE_OK)
        status = write_program(&m, name, c->form, o, text, n, error);
    model_free(&m);
    return status;
}

enum trace_status trace_import(const char *path, const struct trace_import_options *o, char **text,
                               struct trace_import_counts *n, struct trace_counts *c, char **error)
{
    FILE *in;
    *text = NULL;
    enum trace_status status = trace_open(path, &in, error);
    if (status != TRACE_OK)
        return status;
    status = trace_import_stream(in, path, o, text, n, c, error);
    fclose(in);
    return status;
}

char *trace_import_text(const char *path, const struct trace_import_options *o, char **error)
{
    struct trace_import_options defaults;
    char *text;
    if (!o) {
        trace_import_defaults(&defaults);
        o = &defaults;
    }
    trace_import(path, o, &text, NULL, NULL, error);
    return text;
}
