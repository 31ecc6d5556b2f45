/* SPDX-License-Identifier: MIT */
/*
 * The states of vCPUs; nothing else changes them.
 *
 * Always true: a RUNNING vCPU is its pCPU's curr; a READY one is in its pCPU's list and counted in
 * nr_ready, and its policy has been told by enqueue; finished times by state add up to the time
 * since the start, or since the last reset.
 */
#include <stdio.h>

#include "host/internal.h"
#include "host/ops.h"

const char *vcpu_name(const struct vcpu *v)
{
    static char text[64];

    snprintf(text, sizeof(text), "vm%d vcpu %d", v->vm, v->index);
    return text;
}

static void finish_spell(struct vcpu *v, ns_t now)
{
    const ns_t spell = now - v->state_since;

    v->in_state[v->state] += spell;
    if (v->state == VCPU_READY)
        v->steal += spell;
    v->state_since = now;
}

static void set_state(struct host *h, struct vcpu *v, enum vcpu_state s)
{
    const ns_t now = h->engine->now;

    finish_spell(v, now);
    v->state = s;
    trace_put(h->trace, now, TRACE_VCPU_STATE, v->id, (int32_t)s, 0);
}

static void list_add(struct pcpu *p, struct vcpu *v)
{
    runq_push_tail(&p->ready, &v->ready);
    p->nr_ready++;
    p->nr_movable += v->allowed->count > 1;
    v->pcpu = p->id;
}

static void list_remove(struct pcpu *p, struct vcpu *v)
{
    runq_remove(&p->ready, &v->ready);
    p->nr_ready--;
    p->nr_movable -= v->allowed->count > 1;
}

void vcpu_arrive(struct host *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    if (v->state != VCPU_READY)
        set_state(h, v, VCPU_READY);
    list_add(p, v);
    ops_enqueue(h->policy, p, v, why);
    pcpu_changed(h, p);
    HOOK(h, queued, p, v);
    if (p->deciding)
        p->arrivals = true;
    else if (!p->curr)
        host_resched(h, p, STOP_PREEMPT);
    else if (!p->need_resched && h->conf.wakeup_preemption &&
             ops_preempts(h->policy, p, p->curr, v))
        host_resched(h, p, STOP_PREEMPT);
    else
        slice_refresh(h, p);
}

void vcpu_depart(struct host *h, struct vcpu *v)
{
    struct pcpu *p = &h->pcpu[v->pcpu];

    ops_dequeue(h->policy, p, v, STOP_MIGRATE);
    list_remove(p, v);
    pcpu_changed(h, p);
    HOOK(h, unqueued, p, v);
    if (p->curr && !p->deciding)
        slice_refresh(h, p);
}

void vcpu_tell_stopping(struct host *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    const ns_t total = h->engine->now - v->run_start;
    const ns_t guest = h->hooks->guest_time ? h->hooks->guest_time(h->hook_arg, v) : total;
    const struct host_ran ran = {.total = total - v->told_total, .guest = guest - v->told_guest};

    HOOK(h, deciding, p, v);
    v->told_total = total;
    v->told_guest = guest;
    ops_stopping(h->policy, p, v, ran, why);
}

void vcpu_switch_out(struct host *h, struct pcpu *p, enum vcpu_state to, enum stop_why why,
                     bool requeue)
{
    struct vcpu *v = p->curr;

    v->last_ran = h->engine->now;
    v->push_to = -1;
    trace_put(h->trace, h->engine->now, TRACE_VCPU_OUT, p->id, v->id, (int32_t)why);
    p->curr = NULL;
    slice_stop(h, p);
    set_state(h, v, to);
    if (requeue)
        list_add(p, v);
    pcpu_changed(h, p);
    HOOK(h, left, p, v);
}

void vcpu_switch_in(struct host *h, struct pcpu *p, struct vcpu *v)
{
    const ns_t now = h->engine->now;

    list_remove(p, v);
    set_state(h, v, VCPU_RUNNING);
    p->curr = v;
    p->told_idle = false;
    p->switches++;
    v->switches++;
    if (v->last_pcpu >= 0 && v->last_pcpu != p->id)
        v->migrations++;
    v->last_pcpu = p->id;
    v->run_start = now;
    v->told_total = v->told_guest = 0;
    trace_put(h->trace, now, TRACE_VCPU_IN, p->id, v->id, 0);
    pcpu_changed(h, p);
}

/* Where v is to wait: the policy's word if v may go there. */
static int place(struct host *h, struct vcpu *v, enum wake_why why)
{
    const int to = ops_select(h->policy, v, v->pcpu, why);

    if (vcpu_may_use(v, to))
        return to;
    h->rejected_picks++;
    HOOK(h, count, "host_select_rejected");
    return hyp_select_default(h->policy, v, v->pcpu);
}

void host_wake(struct host *h, struct vcpu *v, enum wake_why why)
{
    CHECK_PRE(h->started, "host_wake before host_start");
    if (v->state != VCPU_BLOCKED)
        return;
    vcpu_arrive(h, &h->pcpu[place(h, v, why)], v, v->pcpu < 0 ? ENQUEUE_NEW : ENQUEUE_WAKE);
}

void host_block(struct host *h, struct vcpu *v)
{
    struct pcpu *p;

    CHECK_PRE(v->state == VCPU_RUNNING, "%s blocks while it does not run", vcpu_name(v));
    p = &h->pcpu[v->pcpu];
    CHECK_PRE(!p->deciding, "%s blocks while pcpu %d switches", vcpu_name(v), p->id);
    p->deciding = true;
    HOOK(h, leaving, p, v, STOP_BLOCK);
    vcpu_tell_stopping(h, p, v, STOP_BLOCK);
    vcpu_switch_out(h, p, VCPU_BLOCKED, STOP_BLOCK, false);
    if (v->home >= 0)
        v->pcpu = v->home;
    p->deciding = false;
    p->arrivals = false;
    host_resched(h, p, STOP_BLOCK);
}

void vcpu_push(struct host *h, struct pcpu *p, struct pcpu *to)
{
    struct vcpu *v = p->curr;

    p->deciding = true;
    HOOK(h, leaving, p, v, STOP_MIGRATE);
    vcpu_tell_stopping(h, p, v, STOP_MIGRATE);
    vcpu_switch_out(h, p, VCPU_READY, STOP_MIGRATE, false);
    p->deciding = false;
    p->arrivals = false;
    host_resched(h, p, STOP_MIGRATE);
    vcpu_arrive(h, to, v, ENQUEUE_MIGRATE);
}

ns_t vcpu_steal(const struct vcpu *v, ns_t now)
{
    return v->steal + (v->state == VCPU_READY ? now - v->state_since : 0);
}

ns_t vcpu_time_in(const struct vcpu *v, enum vcpu_state s, ns_t now)
{
    return v->in_state[s] + (v->state == s ? now - v->state_since : 0);
}

void host_reset_times(struct host *h)
{
    for (int i = 0; i < h->nvcpus; i++) {
        struct vcpu *v = h->vcpu[i];

        finish_spell(v, h->engine->now);
        for (int s = 0; s < 3; s++)
            v->in_state[s] = 0;
        gather_reset(v, h->engine->now);
    }
}
