/* SPDX-License-Identifier: MIT */
/*
 * The guest policy contract from the core's side: checks of the table, the call of `select`, and
 * the functions that policies may call. Everything that looks at a run queue is counted for its
 * price.
 */
#include <string.h>

#include "guest/core.h"

const char *guest_ops_check(const struct guest_ops *o, char buf[160])
{
    const int ordering = (o->enqueue != NULL) + (o->dequeue != NULL) + (o->pick != NULL);

    if (!o->head.name || !*o->head.name)
        return "a guest policy without a name";
    if (o->head.abi != TANDEM_POLICY_ABI)
        snprintf(buf, 160, "%s: built for policy contract %u, this program has %u", o->head.name,
                 (unsigned)o->head.abi, (unsigned)TANDEM_POLICY_ABI);
    else if (!o->head.summary)
        snprintf(buf, 160, "%s: no summary", o->head.name);
    else if (ordering != 0 && ordering != 3)
        snprintf(buf, 160, "%s: enqueue, dequeue and pick come all three or none; %s is missing",
                 o->head.name,
                 !o->enqueue   ? "enqueue"
                 : !o->dequeue ? "dequeue"
                               : "pick");
    else if ((o->head.params == NULL) != (o->head.params_size == 0))
        snprintf(buf, 160, "%s: params and params_size do not go together", o->head.name);
    else
        return NULL;
    return buf;
}

static int lowest_allowed(const struct task *t)
{
    return t->pin >= 0 ? t->pin : 0;
}

int op_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    int c;

    if (!k->ops->select)
        return flags & SELECT_FORK ? guest_select_sibling(k, t, prev, waker, flags, NULL) : prev;
    crash_enter(k->ops->head.name, "select");
    c = k->ops->select(k, t, prev, waker, flags);
    crash_leave();
    if (c < 0 || c >= k->ncpus)
        crash_policy(k->ops->head.name, "select", "task", "vm%d task %d: CPU %d does not exist",
                     k->vm, t->id, c);
    if (!guest_allowed(t, c)) {
        guest_count(k, "guest_select_fallback");
        return lowest_allowed(t);
    }
    return c;
}

void op_irq(struct guest *k, int cpu)
{
    crash_enter(k->ops->head.name, "irq");
    k->ops->irq(k, cpu);
    crash_leave();
}

bool op_usable(struct guest *k, int cpu)
{
    bool yes;

    if (!k->ops->usable)
        return true;
    crash_enter(k->ops->head.name, "usable");
    yes = k->ops->usable(k, cpu);
    crash_leave();
    return yes;
}

int op_evict(struct guest *k, int cpu, struct task *curr)
{
    int to;

    if (!k->ops->evict)
        return -1;
    crash_enter(k->ops->head.name, "evict");
    to = k->ops->evict(k, cpu, curr);
    crash_leave();
    if (to >= k->ncpus)
        crash_policy(k->ops->head.name, "evict", "task", "vm%d task %d: CPU %d does not exist",
                     k->vm, curr->id, to);
    return to;
}

int op_capacity(struct guest *k, int cpu)
{
    int c;

    if (!k->ops->capacity)
        return 1024;
    crash_enter(k->ops->head.name, "capacity");
    c = k->ops->capacity(k, cpu);
    crash_leave();
    if (c < 1 || c > 1024)
        crash_policy(k->ops->head.name, "capacity", "guest CPU", "vm%d cpu %d: %d of 1024", k->vm,
                     cpu, c);
    return c;
}

ns_t guest_now(const struct guest *k)
{
    return know(k);
}

int guest_ncpus(const struct guest *k)
{
    return k->ncpus;
}

void *guest_self(const struct guest *k)
{
    return k->self;
}

const void *guest_policy_params(const struct guest *k)
{
    return k->params;
}

void *guest_cpu_mem(const struct guest *k, int cpu)
{
    return k->cpu[cpu].priv;
}

void *guest_task_mem(const struct guest *k, const struct task *t)
{
    (void)k;
    return t->priv;
}

struct rng *guest_rng(struct guest *k)
{
    return &k->policy_rng;
}

bool guest_allowed(const struct task *t, int cpu)
{
    return t->pin < 0 || t->pin == cpu;
}

uint32_t guest_tag(const struct task *t)
{
    return t->tag;
}

int guest_ntags(const struct guest *k)
{
    return k->ntags;
}

bool guest_idle_cpu(struct guest *k, int cpu)
{
    k->examined++;
    return k->cpu[cpu].nr_running == 0;
}

struct task *guest_current(struct guest *k, int cpu)
{
    k->examined++;
    return k->cpu[cpu].curr;
}

void guest_push(struct guest *k, int cpu, int to)
{
    CHECK(to >= 0 && to < k->ncpus, "guest policy %s: push to CPU %d", k->ops->head.name, to);
    if (to != cpu && k->cpu[cpu].curr && guest_allowed(k->cpu[cpu].curr, to))
        gcpu_push(&k->cpu[cpu], to, false);
}

int guest_nr_running(struct guest *k, int cpu)
{
    k->examined++;
    return k->cpu[cpu].nr_running;
}

int guest_util(struct guest *k, int cpu)
{
    return (int)gcpu_util(&k->cpu[cpu]);
}

int guest_task_util(const struct task *t)
{
    return (int)pelt_value(&t->util);
}

int64_t guest_load(struct guest *k, int cpu)
{
    const struct gcpu *g = &k->cpu[cpu];

    return pelt_peek(&g->load, know(k), (int64_t)g->nr_running * 1024);
}

/* A remote CPU that is off its pCPU right now shows its steal only after it ran again: peek with 0.
 */
int guest_capacity(struct guest *k, int cpu)
{
    const int64_t left = 1024 - pelt_peek(&k->cpu[cpu].steal, know(k), 0);
    const int64_t worth = left * op_capacity(k, cpu) / 1024;

    return worth > 0 ? (int)worth : 1;
}

int guest_scan_limit(const struct guest *k, int cpu)
{
    return k->scan[cpu / k->llc];
}

int guest_recent(const struct task *t)
{
    return t->recent;
}

bool guest_preempted(struct guest *k, int cpu)
{
    return k->channel && channel_preempted(k->channel, cpu);
}

enum degree guest_degree(struct guest *k, int cpu)
{
    return k->channel ? channel_degree(k->channel, cpu) : DEGREE_LOW;
}

bool guest_pcpu_idle(struct guest *k, int cpu)
{
    return k->channel && channel_pcpu_idle(k->channel, cpu);
}

int guest_group(struct guest *k, int cpu)
{
    return k->channel ? channel_group(k->channel, cpu) : -1;
}

ns_t guest_steal(struct guest *k, int cpu)
{
    return k->channel ? channel_steal(k->channel, cpu) : 0;
}

int guest_hint(struct guest *k, int cpu)
{
    return k->channel ? channel_hint(k->channel, cpu) : 0;
}

int guest_quota(struct guest *k)
{
    return k->channel ? channel_quota(k->channel) : 0;
}

void guest_usable_area(struct guest *k)
{
    const ns_t dt = know(k) - k->usable_since;

    k->usable_since = know(k);
    if (k->usable == 0)
        return;
    k->st.usable_time += dt;
    k->st.usable_area += k->usable * dt;
}

void guest_report_usable(struct guest *k, int n)
{
    CHECK(n > 0 && n <= k->ncpus, "guest policy %s: %d of %d CPUs are usable", k->ops->head.name, n,
          k->ncpus);
    guest_usable_area(k);
    if (n != k->usable)
        trace_put(k->trace, know(k), TRACE_USABLE, k->vm, n, 0);
    k->usable = n;
}

void guest_count(struct guest *k, const char *name)
{
    k->hooks->count(k->hook_arg, name);
}

void guest_timer(struct guest *k, int slot, ns_t at, uint64_t cookie)
{
    CHECK(slot >= 0 && slot < GUEST_TIMERS, "guest policy %s: timer slot %d", k->ops->head.name,
          slot);
    k->policy_timer[slot].cookie = cookie;
    engine_arm(k->engine, &k->policy_timer[slot].event, at);
}
