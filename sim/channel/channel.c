/* SPDX-License-Identifier: MIT */
/*
 * Cells that one side writes and the other reads later.
 *
 * Always true: a cell remembers its last `depth` writes with their times, so that a read can return
 * what was there `delay` ago; a write takes constant time. With no delay the depth is one. Every
 * read of a guest passes read_cell, which refuses facts that were not declared, counts the row and
 * notes the age.
 */
#include "channel/channel.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/check.h"
#include "engine/rng.h"

/* A delayed cell remembers a write for each WRITE_EVERY of the delay: more often than a pCPU switches
 * vCPUs on average. Powers of two. */
#define DEPTH_MIN   8
#define DEPTH_MAX   2048
#define WRITE_EVERY (5 * NS_US)

struct slot {
    ns_t stamp;
    int64_t value;
};

/* A ring of slots. */
struct cell {
    struct slot *slot;
    uint32_t newest;
    uint32_t used; /* slots written, at most depth */
    bool lost;     /* a write was overwritten */
};

/* What belongs to one vCPU. */
struct rows {
    struct cell run;   /* preempted */
    struct cell map;   /* pCPU and virtual group, see pack */
    struct cell steal; /* ns */
    struct cell hint;
    struct cell guest; /* index of the copy in guest_copy is that of the slot */
    struct guest_row *guest_copy;
    int raw_group;
};

#define CELLS_PER_VCPU 5

struct channel {
    const struct engine *engine;
    ns_t delay;
    uint64_t seed;
    uint64_t overruns;
    uint32_t depth; /* a power of two */
    unsigned facts; /* declared by any end */
    int npcpus, ngroups;
    int nends;
    struct channel_end *ends;
    struct cell *load; /* per pCPU: load * 2 + idle */
    struct slot *slots;
};

struct channel_end {
    struct channel *channel;
    struct channel_end *next;
    const char *owner;
    unsigned facts;
    int nvcpus, threshold;
    enum preempted_rule rule;
    struct hist *age;
    struct channel_reads reads;
    channel_now_fn *now; /* NULL: nobody compares */
    void *now_arg;
    struct channel_quality quality;
    struct rows *rows;
    struct cell quota;
    int *virtual_group; /* by raw group */
    struct slot *slots;
    struct guest_row *guest_copies;
};

/* -- cells -- */

static void cell_init(struct cell *c, struct slot *slots, ns_t now, int64_t value)
{
    *c = (struct cell){.slot = slots, .used = 1};
    slots[0] = (struct slot){now, value};
}

/* Returns the index of the slot. */
static uint32_t cell_write(const struct channel *c, struct cell *cell, int64_t value)
{
    ns_t now = engine_now(c->engine);
    uint32_t i = cell->newest;

    /* Nobody can see a value that was replaced within the same instant. */
    if (cell->slot[i].stamp != now) {
        i = (i + 1) & (c->depth - 1);
        cell->newest = i;
        if (cell->used < c->depth)
            cell->used++;
        else
            cell->lost = true;
    }
    cell->slot[i] = (struct slot){now, value};
    return i;
}

static const struct slot *newest(const struct cell *cell)
{
    return &cell->slot[cell->newest];
}

static uint32_t depth_for(ns_t delay)
{
    uint32_t depth = DEPTH_MIN;

    if (delay == 0)
        return 1;
    while (depth < DEPTH_MAX && depth < delay / WRITE_EVERY)
        depth *= 2;
    return depth;
}

/* The slot that a reader sees now: the newest that was written at least `delay` ago. Stamps rise from
 * the oldest slot to the newest. */
static uint32_t cell_seen(struct channel *c, const struct cell *cell)
{
    const ns_t until = engine_now(c->engine) - c->delay;
    const uint32_t oldest = (cell->newest - cell->used + 1) & (c->depth - 1);
    uint32_t low = 0, high = cell->used - 1;

    if (cell->slot[cell->newest].stamp <= until)
        return cell->newest;
    if (cell->slot[oldest].stamp > until) {
        c->overruns += cell->lost;
        return oldest;
    }
    while (low + 1 < high) {
        const uint32_t mid = (low + high) / 2;

        if (cell->slot[(oldest + mid) & (c->depth - 1)].stamp <= until)
            low = mid;
        else
            high = mid;
    }
    return (oldest + low) & (c->depth - 1);
}

/* pCPU and group in one value, so that a reader never sees the one without the other. */
static int64_t pack(int pcpu, int group)
{
    return (int64_t)group * ((int64_t)1 << 32) + pcpu;
}

static int unpack_pcpu(int64_t v)
{
    return (int)(int32_t)(uint32_t)(uint64_t)v;
}

static int unpack_group(int64_t v)
{
    return (int)((v - unpack_pcpu(v)) / ((int64_t)1 << 32));
}

#define NOWHERE (-1)
#define EMPTY   1 /* load 0, idle */

/* -- making and freeing -- */

struct channel *channel_new(struct engine *e, int npcpus, ns_t delay, uint64_t rng_seed)
{
    struct channel *c = calloc(1, sizeof *c);
    uint32_t depth = depth_for(delay);

    CHECK_PRE(npcpus > 0 && delay >= 0, "channel over %d pCPUs with delay %lld", npcpus,
              (long long)delay);
    if (!c)
        return NULL;
    c->engine = e;
    c->delay = delay;
    c->seed = rng_seed;
    c->depth = depth;
    c->npcpus = c->ngroups = npcpus;
    c->load = calloc((size_t)npcpus, sizeof *c->load);
    c->slots = calloc((size_t)npcpus * depth, sizeof *c->slots);
    if (!c->load || !c->slots) {
        channel_free(c);
        return NULL;
    }
    for (int i = 0; i < npcpus; i++)
        cell_init(&c->load[i], c->slots + (size_t)i * depth, engine_now(e), EMPTY);
    return c;
}

static void end_free(struct channel_end *e)
{
    free(e->guest_copies);
    free(e->slots);
    free(e->virtual_group);
    free(e->rows);
    free(e);
}

void channel_free(struct channel *c)
{
    if (!c)
        return;
    while (c->ends) {
        struct channel_end *e = c->ends;
        c->ends = e->next;
        end_free(e);
    }
    free(c->slots);
    free(c->load);
    free(c);
}

void channel_set_groups(struct channel *c, int ngroups)
{
    CHECK_PRE(!c->ends && ngroups > 0, "groups set late, or none");
    c->ngroups = ngroups;
}

uint64_t channel_overruns(const struct channel *c)
{
    return c->overruns;
}

/* Virtual ids: a permutation drawn from the seed and the number of this end. */
static void disguise_groups(struct channel_end *e)
{
    const struct channel *c = e->channel;
    uint64_t state = rng_mix(rng_mix(c->seed, 0x67726f7570), (uint64_t)c->nends);

    for (int i = 0; i < c->ngroups; i++) {
        int j;
        state = rng_mix(state, (uint64_t)i);
        j = (int)(state % (uint64_t)(i + 1));
        e->virtual_group[i] = e->virtual_group[j];
        e->virtual_group[j] = i;
    }
}

static void rows_init(struct channel_end *e, int vcpu)
{
    const struct channel *c = e->channel;
    struct rows *r = &e->rows[vcpu];
    struct slot *s = e->slots + (size_t)vcpu * CELLS_PER_VCPU * c->depth;
    ns_t now = engine_now(c->engine);

    cell_init(&r->run, s, now, false);
    cell_init(&r->map, s + c->depth, now, pack(NOWHERE, NOWHERE));
    cell_init(&r->steal, s + 2 * c->depth, now, 0);
    cell_init(&r->hint, s + 3 * c->depth, now, 0);
    cell_init(&r->guest, s + 4 * c->depth, now, 0);
    r->guest_copy = e->guest_copies + (size_t)vcpu * c->depth;
    r->guest_copy[0] = (struct guest_row){.stamp = now};
    r->raw_group = NOWHERE;
}

struct channel_end *channel_attach(struct channel *c, const char *owner, unsigned facts, int nvcpus,
                                   int threshold, enum preempted_rule rule, struct hist *age)
{
    struct channel_end *e = calloc(1, sizeof *e);
    size_t n = (size_t)nvcpus;

    CHECK_PRE(nvcpus > 0, "channel end of %d vCPUs", nvcpus);
    if (!e)
        return NULL;
    *e = (struct channel_end){.channel = c,
                              .owner = owner,
                              .facts = facts,
                              .nvcpus = nvcpus,
                              .threshold = threshold,
                              .rule = rule,
                              .age = age};
    e->rows = calloc(n, sizeof *e->rows);
    e->slots = calloc((n * CELLS_PER_VCPU + 1) * c->depth, sizeof *e->slots);
    e->guest_copies = calloc(n * c->depth, sizeof *e->guest_copies);
    e->virtual_group = calloc((size_t)c->ngroups, sizeof *e->virtual_group);
    if (!e->rows || !e->slots || !e->guest_copies || !e->virtual_group) {
        end_free(e);
        return NULL;
    }
    disguise_groups(e);
    for (int i = 0; i < nvcpus; i++)
        rows_init(e, i);
    cell_init(&e->quota, e->slots + n * CELLS_PER_VCPU * c->depth, engine_now(c->engine), 0);
    e->next = c->ends;
    c->ends = e;
    c->nends++;
    c->facts |= facts;
    return e;
}

bool channel_used(const struct channel *c, unsigned facts)
{
    return (c->facts & facts) != 0;
}

/* -- the host writes -- */

static struct rows *host_rows(const struct channel_end *e, int vcpu)
{
    CHECK_PRE(vcpu >= 0 && vcpu < e->nvcpus, "vCPU %d of %d", vcpu, e->nvcpus);
    return &e->rows[vcpu];
}

void channel_publish_pcpu(struct channel *c, int pcpu, int load, bool idle)
{
    CHECK_PRE(pcpu >= 0 && pcpu < c->npcpus, "pCPU %d of %d", pcpu, c->npcpus);
    CHECK_PRE(load >= 0, "load %d", load);
    cell_write(c, &c->load[pcpu], (int64_t)load * 2 + idle);
}

void channel_map(struct channel_end *e, int vcpu, int pcpu, int group)
{
    struct rows *r = host_rows(e, vcpu);

    CHECK_PRE(pcpu >= 0 && pcpu < e->channel->npcpus, "pCPU %d of %d", pcpu, e->channel->npcpus);
    CHECK_PRE(group >= NOWHERE && group < e->channel->ngroups, "group %d of %d", group,
              e->channel->ngroups);
    r->raw_group = group;
    cell_write(e->channel, &r->map, pack(pcpu, group < 0 ? NOWHERE : e->virtual_group[group]));
}

void channel_publish_vcpu(struct channel_end *e, int vcpu, bool on_pcpu, bool runnable)
{
    const bool preempted = !on_pcpu && (e->rule == PREEMPTED_ANY || runnable);

    if (e->rule == PREEMPTED_NEVER)
        return;
    cell_write(e->channel, &host_rows(e, vcpu)->run, preempted);
}

void channel_publish_steal(struct channel_end *e, int vcpu, ns_t steal)
{
    cell_write(e->channel, &host_rows(e, vcpu)->steal, steal);
}

void channel_publish_hint(struct channel_end *e, int vcpu, int hint)
{
    cell_write(e->channel, &host_rows(e, vcpu)->hint, hint);
}

void channel_publish_quota(struct channel_end *e, int nvcpus)
{
    CHECK_PRE(nvcpus >= 0 && nvcpus <= e->nvcpus, "a quota of %d of %d vCPUs", nvcpus, e->nvcpus);
    cell_write(e->channel, &e->quota, nvcpus);
}

/* -- the guest reads -- */

/* The rows of `vcpu` for a reader that needs `fact`; anything not declared ends the run. */
static struct rows *guest_rows(const struct channel_end *e, int vcpu, enum fact fact,
                               const char *what)
{
    char entity[32];

    if ((e->facts & (unsigned)fact) && vcpu >= 0 && vcpu < e->nvcpus)
        return &e->rows[vcpu];
    snprintf(entity, sizeof entity, "vcpu %d", vcpu);
    if (e->facts & (unsigned)fact)
        crash_policy(e->owner, "channel read", entity, "no such vCPU, the VM has %d", e->nvcpus);
    crash_policy(e->owner, "channel read", entity, "'%s' is read but was not declared", what);
}

static int64_t read_cell(struct channel_end *e, const struct cell *cell)
{
    struct channel *c = e->channel;
    const struct slot *s = &cell->slot[cell_seen(c, cell)];

    if (e->age)
        hist_add(e->age, engine_now(c->engine) - s->stamp);
    return s->value;
}

/* The load cell of the pCPU that the reader believes the vCPU to be on. */
static int64_t read_load(struct channel_end *e, const struct rows *r)
{
    struct channel *c = e->channel;
    int pcpu = unpack_pcpu(r->map.slot[cell_seen(c, &r->map)].value);

    e->reads.load++;
    return pcpu < 0 ? EMPTY : read_cell(e, &c->load[pcpu]);
}

bool channel_preempted(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_PREEMPTED, "preempted");

    if (e->rule == PREEMPTED_NEVER)
        return false;
    e->reads.preempted++;
    return read_cell(e, &r->run) != 0;
}

void channel_compare(struct channel_end *e, channel_now_fn *now, void *arg)
{
    e->now = now;
    e->now_arg = arg;
}

struct channel_quality channel_quality(const struct channel_end *e)
{
    return e->quality;
}

void channel_quality_reset(struct channel_end *e)
{
    e->quality = (struct channel_quality){0};
}

static void compared(struct channel_end *e, bool right)
{
    e->quality.reads++;
    e->quality.wrong += !right;
}

enum degree channel_degree(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_DEGREE, "degree");
    const bool low = read_load(e, r) / 2 < e->threshold;

    if (e->now)
        compared(e, low == (e->now(e->now_arg, vcpu).load < e->threshold));
    return low ? DEGREE_LOW : DEGREE_HIGH;
}

bool channel_pcpu_idle(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_PCPU_IDLE, "pcpu idle");

    return read_load(e, r) % 2 != 0;
}

int channel_group(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_GROUP, "group");

    const int group = unpack_group(read_cell(e, &r->map));
    int now;

    e->reads.group++;
    if (e->now) {
        now = e->now(e->now_arg, vcpu).group;
        compared(e, group == (now < 0 ? NOWHERE : e->virtual_group[now]));
    }
    return group;
}

ns_t channel_steal(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_STEAL, "steal");

    e->reads.other++;
    return read_cell(e, &r->steal);
}

int channel_hint(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_HINT, "hint");

    e->reads.other++;
    return (int)read_cell(e, &r->hint);
}

int channel_quota(struct channel_end *e)
{
    guest_rows(e, 0, FACT_QUOTA, "quota");
    e->reads.other++;
    return (int)read_cell(e, &e->quota);
}

ns_t channel_own_steal(const struct channel_end *e, int vcpu)
{
    return newest(&host_rows(e, vcpu)->steal)->value;
}

struct channel_truth channel_oracle(struct channel_end *e, int vcpu)
{
    const struct rows *r = guest_rows(e, vcpu, FACT_ORACLE, "oracle");
    int pcpu = unpack_pcpu(newest(&r->map)->value);
    int64_t load = pcpu < 0 ? EMPTY : newest(&e->channel->load[pcpu])->value;

    e->reads.other++;
    return (struct channel_truth){
        .pcpu = pcpu, .group = r->raw_group, .load = (int)(load / 2), .idle = load % 2 != 0};
}

struct channel_reads channel_take_reads(struct channel_end *e)
{
    struct channel_reads r = e->reads;

    e->reads = (struct channel_reads){0};
    return r;
}

/* -- guest row -- */

void channel_write_guest(struct channel_end *e, int vcpu, const struct guest_row *row)
{
    struct rows *r = host_rows(e, vcpu);
    uint32_t i = cell_write(e->channel, &r->guest, 0);

    r->guest_copy[i] = *row;
    r->guest_copy[i].stamp = engine_now(e->channel->engine);
}

struct guest_row channel_read_guest(const struct channel_end *e, int vcpu)
{
    const struct rows *r = host_rows(e, vcpu);

    return r->guest_copy[cell_seen(e->channel, &r->guest)];
}
