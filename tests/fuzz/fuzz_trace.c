/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target of the trace reader: whatever the bytes, both readings end, agree on whether the file
 * is usable, and give a program or one line of reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "traces/trace.h"

static void check(bool fine)
{
    if (!fine)
        abort();
}

static enum trace_status import(FILE *in, enum trace_mode mode, int max_ops,
                                const struct trace_read_options *r)
{
    struct trace_import_options o;
    struct trace_import_counts n;
    char *text, *error;
    rewind(in);
    trace_import_defaults(&o);
    o.read = *r;
    o.mode = mode;
    o.loop = mode == TRACE_CLOSED;
    o.max_ops = max_ops;
    enum trace_status s = trace_import_stream(in, "fuzz", &o, &text, &n, NULL, &error);
    check((s == TRACE_OK) == (text != NULL) && (s == TRACE_OK) == (error == NULL));
    check(!text || (n.tasks_written > 0 && n.length >= 0 && strlen(text) < 8000000));
    free(text);
    free(error);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_read_options o = {0};
    struct trace_counts c;
    char *error;
    if (size < 2)
        return 0;
    o.strict = data[0] % 4 == 0;
    o.clock_hz = data[0] % 3 ? 0 : 1 + data[1] * 1000003;
    FILE *in = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
    check(in != NULL);
    enum trace_status s = trace_info_stream(in, "fuzz", &o, &c, &error);
    check((s == TRACE_OK) == (error == NULL) && c.switches <= c.events && c.events <= c.lines);
    free(error);
    enum trace_status closed = import(in, TRACE_CLOSED, 2000, &o);
    check(closed == s || (s == TRACE_OK && closed == TRACE_REFUSED));
    check(import(in, TRACE_OPEN, 1 + data[0] % 8, &o) == closed);
    fclose(in);
    return 0;
}
