/* SPDX-License-Identifier: MIT */
/*
 * What is known of a pCPU from its curr and nr_ready: membership in the idle and overloaded masks
 * and its share in the sums of the domains. Kept up to date at every change, at a cost that does
 * not depend on the size of the machine.
 */
#include <stdio.h>

#include "host/internal.h"
#include "host/ops.h"

const char *pcpu_name(const struct pcpu *p)
{
    static char text[32];

    snprintf(text, sizeof(text), "pcpu %d", p->id);
    return text;
}

void pcpu_init(struct host *h, struct pcpu *p, int id)
{
    p->id = id;
    p->host = h;
    p->told_idle = true;
    p->idle_since = h->engine->now;
    p->avg_idle = 2 * h->conf.migration_cost;
    dispatch_init(p);
    slice_init(p);
    cpumask_set(h->idle, id);
}

void pcpu_changed(struct host *h, struct pcpu *p)
{
    const int load = pcpu_load(p);

    if (load == 0)
        cpumask_set(h->idle, p->id);
    else
        cpumask_clear(h->idle, p->id);
    if (load >= 2)
        cpumask_set(h->overloaded, p->id);
    else
        cpumask_clear(h->overloaded, p->id);
    h->nr_overloaded = h->overloaded->count;
    if (h->lb)
        lb_changed(h, p);
}

/* What a list and a mask should say of p. */
static void check_pcpu(const struct host *h, const struct pcpu *p)
{
    int n = 0;

    for (const struct runq_node *r = p->ready.first; r; r = r->next, n++) {
        CHECK(r->vcpu->state == VCPU_READY && r->vcpu->pcpu == p->id,
              "%s is in the list of pcpu %d, in state %d of pcpu %d", vcpu_name(r->vcpu), p->id,
              (int)r->vcpu->state, r->vcpu->pcpu);
        CHECK(vcpu_may_use(r->vcpu, p->id), "%s may not use pcpu %d", vcpu_name(r->vcpu), p->id);
    }
    CHECK(n == p->nr_ready, "pcpu %d has %d READY vCPUs and counts %d", p->id, n, p->nr_ready);
    if (p->curr)
        CHECK(p->curr->state == VCPU_RUNNING && p->curr->pcpu == p->id, "%s is curr of pcpu %d",
              vcpu_name(p->curr), p->id);
    CHECK(cpumask_test(h->idle, p->id) == (pcpu_load(p) == 0), "idle mask wrong for pcpu %d",
          p->id);
    CHECK(cpumask_test(h->overloaded, p->id) == (pcpu_load(p) >= 2),
          "overloaded mask wrong for pcpu %d", p->id);
    CHECK(!p->deciding && !p->arrivals, "pcpu %d is left within a decision", p->id);
    CHECK(!p->need_resched || p->dispatch.queued, "pcpu %d waits for a decision that nobody makes",
          p->id);
    CHECK(p->curr || p->need_resched || p->nr_ready == 0 || h->policy->ops->idles,
          "pcpu %d idles beside %d READY vCPUs", p->id, p->nr_ready);
}

void host_check(const struct host *h)
{
    int ready = 0, running = 0;

    for (int i = 0; i < h->npcpus; i++) {
        check_pcpu(h, &h->pcpu[i]);
        ready += h->pcpu[i].nr_ready;
        running += h->pcpu[i].curr ? 1 : 0;
    }
    for (int i = 0; i < h->nvcpus; i++) {
        const struct vcpu *v = h->vcpu[i];

        ready -= v->state == VCPU_READY;
        running -= v->state == VCPU_RUNNING;
        CHECK(v->state != VCPU_RUNNING || h->pcpu[v->pcpu].curr == v, "%s runs nowhere",
              vcpu_name(v));
    }
    CHECK(ready == 0 && running == 0, "%d READY and %d RUNNING vCPUs too many", ready, running);
    CHECK(h->nr_overloaded == h->overloaded->count, "overloaded pCPUs miscounted");
    if (h->lb)
        lb_check(h);
}

void host_dump(const struct host *h, FILE *out)
{
    fprintf(out, "host %s: %d pCPUs, %d vCPUs, %d idle, %d overloaded\n", h->policy->ops->head.name,
            h->npcpus, h->nvcpus, h->idle->count, h->nr_overloaded);
    for (int i = 0; i < h->npcpus; i++) {
        const struct pcpu *p = &h->pcpu[i];

        if (pcpu_load(p) == 0)
            continue;
        fprintf(out, "  pcpu %d: running %s, ready", i, p->curr ? vcpu_name(p->curr) : "nothing");
        for (const struct runq_node *r = p->ready.first; r; r = r->next)
            fprintf(out, " [%s]", vcpu_name(r->vcpu));
        fputc('\n', out);
    }
    ops_dump(h->policy, out);
}
