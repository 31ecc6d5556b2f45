/* SPDX-License-Identifier: MIT */
/* Spans as rows of CSV. */
#include "obs/lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "obs/json.h"
#include "obs/text.h"

struct lanes {
    FILE *out;
    struct lanes_conf conf;
    struct spans *spans;
};

/* `,VM,VCPU`, or two empty fields. */
static void put_vm(struct lanes *l, int vcpu)
{
    fputc(',', l->out);
    if (vcpu < 0) {
        fputc(',', l->out);
        return;
    }
    text_put_csv(l->out, l->conf.vm(l->conf.arg, vcpu));
    fprintf(l->out, ",%d", l->conf.index(l->conf.arg, vcpu));
}

static void put_times(struct lanes *l, int task, ns_t from, ns_t to)
{
    fputc(',', l->out);
    if (task >= 0)
        text_put_csv(l->out, l->conf.task(l->conf.arg, task));
    fprintf(l->out, ",%" PRId64 ",%" PRId64 "\n", from, to);
}

static void put_pcpu(void *arg, int pcpu, int vcpu, ns_t from, ns_t to)
{
    struct lanes *l = arg;

    fprintf(l->out, "pcpu,%d", pcpu);
    put_vm(l, vcpu);
    fprintf(l->out, ",,%s", vcpu < 0 ? "idle" : "vcpu");
    put_times(l, -1, from, to);
}

static void put_vcpu(void *arg, int vcpu, enum span_state s, int task, ns_t from, ns_t to)
{
    struct lanes *l = arg;

    fputs("vcpu,", l->out);
    put_vm(l, vcpu);
    fprintf(l->out, ",,%s", span_state_name(s));
    put_times(l, task, from, to);
}

static void put_wake(void *arg, int task, int waker, ns_t at, int vcpu, ns_t runs)
{
    struct lanes *l = arg;

    fputs("wake,", l->out);
    put_vm(l, waker);
    fprintf(l->out, ",%d,", l->conf.index(l->conf.arg, vcpu));
    put_times(l, task, at, runs);
}

/* VMs in the order of their vCPUs. */
static void put_vms(struct lanes *l, struct json *j)
{
    json_array(j, "vms", true);
    for (int v = 0; v < l->conf.nvcpus;) {
        int n = 1;

        while (v + n < l->conf.nvcpus && l->conf.index(l->conf.arg, v + n) > 0)
            n++;
        json_object(j, NULL, true);
        json_string(j, "name", l->conf.vm(l->conf.arg, v));
        json_count(j, "vcpus", (uint64_t)n);
        json_close(j);
        v += n;
    }
    json_close(j);
}

static void put_head(struct lanes *l)
{
    struct json j;

    fputs("# ", l->out);
    json_init(&j, l->out, true);
    json_object(&j, NULL, true);
    json_string(&j, "schema", "tandem.gantt/1");
    json_u64(&j, "from_ns", (uint64_t)l->conf.from);
    json_u64(&j, "to_ns", (uint64_t)l->conf.to);
    json_count(&j, "pcpus", (uint64_t)l->conf.npcpus);
    put_vms(l, &j);
    if (l->conf.origin)
        l->conf.origin(l->conf.arg, &j);
    json_close(&j);
    fputs("\nlane,pcpu,vm,vcpu,to_vcpu,state,task,from_ns,to_ns\n", l->out);
}

struct lanes *lanes_open(FILE *out, const struct lanes_conf *conf)
{
    struct lanes *l = calloc(1, sizeof(*l));
    const struct spans_conf spans = {.npcpus = conf->npcpus,
                                     .nvcpus = conf->nvcpus,
                                     .from = conf->from,
                                     .to = conf->to,
                                     .probe = conf->probe,
                                     .arg = l,
                                     .pcpu = put_pcpu,
                                     .vcpu = put_vcpu,
                                     .wake = put_wake};

    if (!l)
        return NULL;
    *l = (struct lanes){.out = out, .conf = *conf, .spans = spans_new(&spans)};
    if (!l->spans) {
        free(l);
        return NULL;
    }
    put_head(l);
    return l;
}

struct trace_sink *lanes_sink(struct lanes *l)
{
    return spans_sink(l->spans);
}

int lanes_close(struct lanes *l, ns_t end)
{
    const bool missing = spans_end(l->spans, end) != 0;
    const bool bad = fflush(l->out) != 0 || ferror(l->out);
    const int why = missing ? ENOMEM : errno != 0 ? errno : EIO;

    spans_free(l->spans);
    free(l);
    if (bad || missing)
        errno = why;
    return bad || missing ? -1 : 0;
}
