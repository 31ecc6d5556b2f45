/* SPDX-License-Identifier: MIT */
/*
 * Counting one file, the names of the counters, and opening files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/reader.h"

static const struct {
    const char *name, *text;
} oddities[ODD_COUNT] = {
    [ODD_SWITCH_UNPARSED] = {"switch_unparsed", "sched_switch whose fields cannot be read"},
    [ODD_WAKE_UNPARSED] = {"wake_unparsed", "wake-up whose fields cannot be read"},
    [ODD_NOT_MATCHED] = {"sched_or_kvm_lines_not_matched",
                         "scheduler or KVM event without readable task, CPU and time"},
    [ODD_TIME_BACK] = {"time_goes_back", "time before that of the line above, taken as equal"},
    [ODD_CONTINUITY] = {"cpu_continuity_breaks",
                        "the task switched out is not the one switched in before: the timeline of "
                        "the CPU is incomplete"},
    [ODD_PREFIX_COMM] = {"prefix_comm_differs_from_prev_comm",
                         "the line names its task otherwise than the event does"},
    [ODD_LOST] = {"lost_lines", "events were lost while recording"},
    [ODD_OVERWRITTEN] = {"overwritten_headers", "the ring buffer was overwritten"},
    [ODD_CUT_LAST_LINE] = {"cut_last_line", "the last line does not end with a newline"},
    [ODD_TASK_NAME] = {"odd_task_names",
                       "task with a name that is empty, unprintable or imitates a trace"},
    [ODD_JOINED_LINES] = {"joined_lines", "line that continues an event: a newline in a name"},
    [ODD_LONG_LINE] = {"long_lines", "line of more than 64 KiB, cut there"},
    [ODD_FAILED_TO_PARSE] = {"failed_to_parse", "event that trace-cmd could not read"},
};

const char *trace_oddity_name(enum trace_oddity o)
{
    return oddities[o].name;
}

const char *trace_oddity_text(enum trace_oddity o)
{
    return oddities[o].text;
}

enum trace_status trace_open(const char *path, FILE **in, char **error)
{
    *error = NULL;
    *in = fopen(path, "rb");
    if (*in)
        return TRACE_OK;
    *error = trace_format("%s: cannot open: %s", path, strerror(errno));
    return TRACE_UNREADABLE;
}

enum trace_status trace_info_stream(FILE *in, const char *name, const struct trace_read_options *o,
                                    struct trace_counts *c, char **error)
{
    return reader_run(in, name, o, c, NULL, NULL, error);
}

enum trace_status trace_info(const char *path, const struct trace_read_options *o,
                             struct trace_counts *c, char **error)
{
    FILE *in;
    memset(c, 0, sizeof(*c));
    c->form = "unknown";
    enum trace_status status = trace_open(path, &in, error);
    if (status != TRACE_OK)
        return status;
    status = trace_info_stream(in, path, o, c, error);
    fclose(in);
    return status;
}

bool trace_recognise(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct line_source *s = in ? malloc(sizeof(*s)) : NULL;
    bool found = false;
    if (s) {
        line_init(s, in);
        size_t limit = s->have;
        size_t seen = 0;
        const struct line *l;
        struct prefix p;
        while (!found && seen < limit && (l = line_peek(s, 0)) != NULL) {
            struct slice text = {l->buf, l->len};
            found = slice_starts(text, "# tracer:") || prefix_parse(l->buf, l->len, &p);
            seen += l->len + 1;
            line_skip(s);
        }
        line_fini(s);
        free(s);
    }
    if (in)
        fclose(in);
    return found;
}
