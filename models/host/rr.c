/* SPDX-License-Identifier: MIT */
/*
 * Round robin: every vCPU runs for the same slice, in order of arrival. The clean axis for slice
 * sweeps. A directed yield puts its target at the head of the target's queue. A waking vCPU never
 * preempts.
 */
#include "host/host_ops.h"
#include "host/runq.h"

struct rr_params {
    ns_t slice;
};

static const struct param rr_params[] = {{.name = "slice",
                                          .type = PARAM_NS,
                                          .offset = offsetof(struct rr_params, slice),
                                          .def = "1ms",
                                          .min = NS_US,
                                          .max = 10 * NS_SEC,
                                          .help = "how long a vCPU runs while others wait",
                                          .source = "assumed"},
                                         PARAM_END};

static void rr_vcpu_init(struct hyp *h, struct vcpu *v)
{
    struct runq_node *n = hyp_vcpu(v);

    (void)h;
    n->vcpu = v;
}

static void rr_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    (void)h;
    (void)why;
    runq_push_tail(hyp_pcpu(p), hyp_vcpu(v));
}

static void rr_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    (void)h;
    (void)why;
    runq_remove(hyp_pcpu(p), hyp_vcpu(v));
}

static struct host_pick rr_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    const struct rr_params *params = h->params;
    struct runq *q = hyp_pcpu(p);
    struct vcpu *v = runq_first(q);

    (void)prev;
    if (v)
        runq_remove(q, hyp_vcpu(v));
    return (struct host_pick){.vcpu = v, .slice = params->slice};
}

static bool rr_boost(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)h;
    runq_remove(hyp_pcpu(p), hyp_vcpu(v));
    runq_push_head(hyp_pcpu(p), hyp_vcpu(v));
    return true;
}

static bool rr_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    (void)from;
    return to && rr_boost(h, &h->host->pcpu[to->pcpu], to);
}

const struct host_ops host_policy_rr = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "rr",
            .summary = "round robin with a fixed slice",
            .params = rr_params,
            .params_size = sizeof(struct rr_params),
            .cpu_size = sizeof(struct runq),
            .unit_size = sizeof(struct runq_node),
        },
    .vcpu_init = rr_vcpu_init,
    .enqueue = rr_enqueue,
    .dequeue = rr_dequeue,
    .pick = rr_pick,
    .yield = rr_yield,
    .boost = rr_boost,
};
