/* SPDX-License-Identifier: MIT */
/*
 * Gathering the tasks of a communication group in one cache group: what cache-group, cps and
 * llc-gather have in common. Where a vCPU is, is a belief: `live` ones learn it from the channel,
 * the others are told once, by init.
 *
 * Always true: a member of a communication group is counted on the vCPU on which it was placed last,
 * or ran since; a cache group's counts are the sums over the vCPUs that are believed in it, so that
 * a vCPU found elsewhere takes its members along. Ids of cache groups are compared for equality and
 * nothing else: whatever is ordered, is ordered by vCPU or by when a group was first seen.
 */
#ifndef MODELS_GUEST_GATHER_H
#define MODELS_GUEST_GATHER_H

#include <string.h>

#include "guest/guest_ops.h"

/* Communication groups that are kept apart. Tasks of a higher one are treated like tasks without,
 * which is counted (guest_tag_fallback). */
#define GATHER_TAGS 256

struct gather_tag {
    int home;             /* id of the cache group it was gathered in last, -1 none */
    int placed, runnable; /* members */
};

/* For whom there must be room: all members, or those who would run now. */
enum gather_room { GATHER_MEMBERS, GATHER_RUNNABLE };

static const char *const gather_rooms[] = {"members", "runnable", NULL};

/* Parameters of the live ones. */
struct gather_rows {
    int64_t select, irq;
    bool again;
    int room; /* enum gather_room */
};

/* Rows of their table; `first` is the offset of their struct gather_rows. */
#define GATHER_PARAMS(first)                                                                       \
    {"rows",                                                                                       \
     PARAM_INT,                                                                                    \
     (first) + offsetof(struct gather_rows, select),                                               \
     "4",                                                                                          \
     1,                                                                                            \
     4096,                                                                                         \
     NULL,                                                                                         \
     "rows of the table read before a choice",                                                     \
     "a cache group of CPS's machine: 4 vCPUs when they map 1:1"},                                 \
        {"irq-rows",                                                                               \
         PARAM_INT,                                                                                \
         (first) + offsetof(struct gather_rows, irq),                                              \
         "4",                                                                                      \
         0,                                                                                        \
         4096,                                                                                     \
         NULL,                                                                                     \
         "rows read in an interrupt, that of its own vCPU included",                               \
         "assumed, as rows"},                                                                      \
        {"again",                                                                                  \
         PARAM_BOOL,                                                                               \
         (first) + offsetof(struct gather_rows, again),                                            \
         "on",                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "in an interrupt, a member that runs outside the home moves there",                       \
         "assumed: what the re-reading in interrupts is for"},                                     \
    {                                                                                              \
        "room", PARAM_ENUM, (first) + offsetof(struct gather_rows, room), "members", 0, 0,         \
            gather_rooms, "for whom a cache group must have room to be the home",                  \
            "assumed: all that were named"                                                         \
    }

/* First in the policy's own memory. */
struct gather {
    bool live;
    enum gather_room room;
    int ngroups;    /* groups that have had a number */
    int turn;       /* next vCPU whose row is read in rotation */
    uint32_t round; /* number of this selection or interrupt */
    struct gather_tag tag[GATHER_TAGS + 1];
};

/* A cache group that is known. */
struct gather_group {
    int id;         /* as read */
    int ncpus;      /* vCPUs believed in it; 0 = this number is free */
    int first;      /* the lowest of them */
    int placed;     /* members of all communication groups */
    uint32_t tried; /* the round in which it was searched */
    int members[GATHER_TAGS + 1];
};

/* Per vCPU. There are no more groups than vCPUs: entry i holds group number i, too. */
struct gather_cpu {
    int group;     /* believed; -1 = not known, or in none */
    int next;      /* the next higher vCPU of its group, -1 none */
    uint32_t read; /* the round in which its row was read */
    struct task *members;
    struct gather_group numbered;
};

struct gather_task {
    struct task *next; /* on the same vCPU */
    int cpu;
    bool placed, runnable;
};

/* One search for a vCPU. */
struct gather_look {
    struct guest *k;
    const struct task *t;
    uint32_t tag;
    int prev, waker, home;
    int home_id;
    int spare; /* a vCPU that would do, but is not where it was believed */
    /* What else a vCPU must be besides idle, NULL nothing. */
    bool (*good)(struct guest *k, int cpu, int waker);
};

static inline struct gather *gather_self(const struct guest *k)
{
    return (struct gather *)guest_self(k);
}

static inline struct gather_cpu *gather_cpu(const struct guest *k, int cpu)
{
    return (struct gather_cpu *)guest_cpu_mem(k, cpu);
}

static inline struct gather_group *gather_group(const struct guest *k, int i)
{
    return &gather_cpu(k, i)->numbered;
}

static inline struct gather_task *gather_task(const struct guest *k, const struct task *t)
{
    return (struct gather_task *)guest_task_mem(k, t);
}

/* 0 = not to be gathered. */
static inline uint32_t gather_tag(const struct task *t)
{
    const uint32_t tag = guest_tag(t);

    return tag <= GATHER_TAGS ? tag : 0;
}

static inline void gather_init(struct guest *k, bool live, enum gather_room room)
{
    struct gather *g = gather_self(k);

    g->live = live;
    g->room = room;
    for (int i = 0; i <= GATHER_TAGS; i++)
        g->tag[i].home = -1;
    for (int c = 0; c < guest_ncpus(k); c++)
        gather_cpu(k, c)->group = gather_cpu(k, c)->next = -1;
}

/* -- members -- */

static inline void gather_count(struct guest *k, int cpu, uint32_t tag, int delta)
{
    const int i = gather_cpu(k, cpu)->group;

    if (i < 0)
        return;
    gather_group(k, i)->members[tag] += delta;
    gather_group(k, i)->placed += delta;
}

static inline void gather_count_all(struct guest *k, int cpu, int delta)
{
    for (struct task *t = gather_cpu(k, cpu)->members; t; t = gather_task(k, t)->next)
        gather_count(k, cpu, gather_tag(t), delta);
}

static inline void gather_remove(struct guest *k, struct task *t)
{
    struct gather_task *m = gather_task(k, t);
    struct task **at;

    if (!m->placed)
        return;
    gather_count(k, m->cpu, gather_tag(t), -1);
    for (at = &gather_cpu(k, m->cpu)->members; *at != t; at = &gather_task(k, *at)->next)
        ;
    *at = m->next;
    m->placed = false;
    gather_self(k)->tag[gather_tag(t)].placed--;
}

static inline void gather_runnable(struct guest *k, struct task *t, bool runnable)
{
    struct gather_task *m = gather_task(k, t);

    gather_self(k)->tag[gather_tag(t)].runnable += runnable - m->runnable;
    m->runnable = runnable;
}

/* t goes to `cpu`, or runs there. */
static inline int gather_place(struct guest *k, struct task *t, int cpu)
{
    struct gather_task *m = gather_task(k, t);

    if (gather_tag(t) == 0)
        return cpu;
    gather_runnable(k, t, true);
    if (m->placed && m->cpu == cpu)
        return cpu;
    gather_remove(k, t);
    m->cpu = cpu;
    m->placed = true;
    gather_self(k)->tag[gather_tag(t)].placed++;
    m->next = gather_cpu(k, cpu)->members;
    gather_cpu(k, cpu)->members = t;
    gather_count(k, cpu, gather_tag(t), 1);
    return cpu;
}

/* The operations `running`, `stopping` and `task_fini` of the policies. */
static inline void gather_running(struct guest *k, int cpu, struct task *t)
{
    gather_place(k, t, cpu);
}

static inline void gather_stopping(struct guest *k, int cpu, struct task *t, struct guest_ran ran,
                                   enum guest_stop_why why)
{
    (void)cpu;
    (void)ran;
    if (gather_tag(t) != 0 && (why == GUEST_STOP_BLOCK || why == GUEST_STOP_EXIT))
        gather_runnable(k, t, false);
}

static inline void gather_task_fini(struct guest *k, struct task *t)
{
    if (gather_tag(t) == 0)
        return;
    gather_runnable(k, t, false);
    gather_remove(k, t);
}

/* -- beliefs -- */

static inline void gather_leave(struct guest *k, int cpu)
{
    struct gather_cpu *c = gather_cpu(k, cpu);
    struct gather_group *s;
    int *at;

    if (c->group < 0)
        return;
    gather_count_all(k, cpu, -1);
    s = gather_group(k, c->group);
    for (at = &s->first; *at != cpu; at = &gather_cpu(k, *at)->next)
        ;
    *at = c->next;
    s->ncpus--;
    c->group = -1;
}

/* The number of the group with this id; a new one if it is not known. */
static inline int gather_number(struct guest *k, int id)
{
    struct gather *g = gather_self(k);
    int unused = g->ngroups;

    for (int i = 0; i < g->ngroups; i++) {
        if (gather_group(k, i)->ncpus == 0)
            unused = i < unused ? i : unused;
        else if (gather_group(k, i)->id == id)
            return i;
    }
    if (unused == g->ngroups)
        g->ngroups++;
    *gather_group(k, unused) = (struct gather_group){.id = id, .first = -1};
    return unused;
}

/* `cpu` is in the group with this id, -1 = in none. */
static inline void gather_believe(struct guest *k, int cpu, int id)
{
    struct gather_cpu *c = gather_cpu(k, cpu);
    struct gather_group *s;
    int *at;

    if (c->group >= 0 ? gather_group(k, c->group)->id == id : id < 0)
        return;
    gather_leave(k, cpu);
    if (id < 0)
        return;
    c->group = gather_number(k, id);
    s = gather_group(k, c->group);
    for (at = &s->first; *at >= 0 && *at < cpu; at = &gather_cpu(k, *at)->next)
        ;
    c->next = *at;
    *at = cpu;
    s->ncpus++;
    gather_count_all(k, cpu, 1);
}

/* At most one read of a row per round; true if this was it. */
static inline bool gather_read(struct guest *k, int cpu)
{
    struct gather *g = gather_self(k);

    if (!g->live || gather_cpu(k, cpu)->read == g->round)
        return false;
    gather_cpu(k, cpu)->read = g->round;
    gather_believe(k, cpu, guest_group(k, cpu));
    return true;
}

/* Reads `rows` rows, from the vCPU after the one where the last rotation ended. */
static inline void gather_rotate(struct guest *k, int64_t rows)
{
    struct gather *g = gather_self(k);

    for (int i = 0; g->live && rows > 0 && i < guest_ncpus(k); i++) {
        rows -= gather_read(k, g->turn);
        g->turn = (g->turn + 1) % guest_ncpus(k);
    }
}

/* The operation `irq`: the row of the vCPU that was interrupted, and rotation. */
static inline void gather_irq(struct guest *k, int cpu, int64_t rows)
{
    gather_self(k)->round++;
    if (rows > 0)
        gather_rotate(k, rows - gather_read(k, cpu));
}

/* -- the search -- */

/* The best of what was offered, by the first key in which two differ; the first of equals. */
struct gather_best {
    int group; /* -1 = nothing was offered */
    int key[5];
};

static inline void gather_offer(struct gather_best *b, int group, const int key[5])
{
    int i = 0;

    while (b->group >= 0 && i < 5 && key[i] == b->key[i])
        i++;
    if (b->group >= 0 && (i == 5 || key[i] < b->key[i]))
        return;
    b->group = group;
    memcpy(b->key, key, sizeof(b->key));
}

/* vCPUs of group i that no other communication group's members occupy. */
static inline int gather_space(const struct gather_look *l, int i)
{
    const struct gather_group *s = gather_group(l->k, i);

    return s->ncpus - (s->placed - s->members[l->tag]);
}

/* Room for the communication group, t included. */
static inline bool gather_fits(const struct gather_look *l, int i)
{
    const struct gather *g = gather_self(l->k);
    const struct gather_task *m = gather_task(l->k, l->t);
    const int n = g->room == GATHER_RUNNABLE ? g->tag[l->tag].runnable + !m->runnable
                                             : g->tag[l->tag].placed + !m->placed;

    return gather_space(l, i) >= n;
}

/* Members in group i without t itself. */
static inline int gather_others(const struct gather_look *l, int i)
{
    const struct gather_task *m = gather_task(l->k, l->t);
    const bool here = m->placed && gather_cpu(l->k, m->cpu)->group == i;

    return gather_group(l->k, i)->members[l->tag] - here;
}

static inline int gather_home(const struct gather_look *l)
{
    struct gather *g = gather_self(l->k);
    const int own = gather_cpu(l->k, l->prev)->group;
    struct gather_best best = {.group = -1};

    for (int i = 0; i < g->ngroups; i++) {
        const struct gather_group *s = gather_group(l->k, i);

        if (s->ncpus > 0)
            gather_offer(&best, i,
                         (const int[5]){gather_fits(l, i), s->members[l->tag],
                                        s->id == g->tag[l->tag].home, s->ncpus - s->placed,
                                        i == own});
    }
    g->tag[l->tag].home = best.group < 0 ? -1 : gather_group(l->k, best.group)->id;
    return best.group;
}

/* Of the groups not searched yet the one that gets the rest, -1 none is left. */
static inline int gather_next(const struct gather_look *l)
{
    const struct gather *g = gather_self(l->k);
    const int own = gather_cpu(l->k, l->prev)->group;
    struct gather_best best = {.group = -1};

    for (int i = 0; i < g->ngroups; i++) {
        const struct gather_group *s = gather_group(l->k, i);

        if (s->ncpus > 0 && s->tried != g->round)
            gather_offer(&best, i,
                         (const int[5]){gather_others(l, i), i == own, s->ncpus - s->placed, 0, 0});
    }
    return best.group;
}

static inline int gather_id(struct guest *k, int cpu)
{
    const int i = gather_cpu(k, cpu)->group;

    return i < 0 ? -1 : gather_group(k, i)->id;
}

/* Is `cpu` idle, good, and really in the group with this id, or in the home? Ids, because a number
 * whose last vCPU leaves may be given to another group. */
static inline bool gather_take(struct gather_look *l, int cpu, int id)
{
    if (!guest_allowed(l->t, cpu) || !guest_idle_cpu(l->k, cpu))
        return false;
    gather_read(l->k, cpu);
    if (l->good && !l->good(l->k, cpu, l->waker))
        return false;
    if (gather_id(l->k, cpu) == id || gather_id(l->k, cpu) == l->home_id)
        return true;
    if (l->spare < 0)
        l->spare = cpu;
    return false;
}

/* A vCPU for t in group i: its previous one, else the lowest. */
static inline int gather_search(struct gather_look *l, int i)
{
    struct gather_group *s = gather_group(l->k, i);
    const int id = s->id;

    s->tried = gather_self(l->k)->round;
    if (gather_cpu(l->k, l->prev)->group == i && gather_take(l, l->prev, id))
        return l->prev;
    for (int c = s->first, next; c >= 0; c = next) {
        next = gather_cpu(l->k, c)->next;
        if (c != l->prev && gather_take(l, c, id))
            return c;
    }
    return -1;
}

/* Reads rows before the choice: of the vCPUs believed in the home, then in rotation. */
static inline void gather_refresh(const struct gather_look *l, int64_t rows)
{
    const int home = gather_home(l);

    if (!gather_self(l->k)->live || rows <= 0)
        return;
    rows -= gather_read(l->k, l->prev);
    for (int c = home < 0 ? -1 : gather_group(l->k, home)->first, next; c >= 0 && rows > 0;
         c = next) {
        next = gather_cpu(l->k, c)->next;
        rows -= gather_read(l->k, c);
    }
    gather_rotate(l->k, rows);
}

/* A vCPU of which no group is known. */
static inline int gather_search_unknown(struct gather_look *l)
{
    for (int c = 0; c < guest_ncpus(l->k); c++)
        if (gather_cpu(l->k, c)->group < 0 && gather_take(l, c, -1))
            return c;
    return l->spare;
}

/* As many members in group i as it has space for. */
static inline bool gather_full(const struct gather_look *l, int i)
{
    return gather_group(l->k, i)->ncpus > 0 && gather_others(l, i) >= gather_space(l, i);
}

/* The home, then group after group, but those that are marked as tried. */
static inline int gather_search_all(struct gather_look *l)
{
    int c = -1;

    for (int i = l->home; c < 0 && i >= 0; i = gather_next(l))
        if (gather_group(l->k, i)->tried != gather_self(l->k)->round)
            c = gather_search(l, i);
    return c;
}

/* An idle vCPU for t, or -1: then none is idle (and good), no group is known, or t is not to be
 * gathered. `rows`: how many rows are read beforehand. */
static inline int gather_select(struct gather_look *l, int64_t rows)
{
    struct guest *k = l->k;
    int c = -1, own;
    bool split;

    l->tag = gather_tag(l->t);
    l->spare = -1;
    if (l->tag == 0) {
        if (guest_tag(l->t) != 0)
            guest_count(k, "guest_tag_fallback");
        return -1;
    }
    gather_self(k)->round++;
    gather_refresh(l, rows);
    l->home = gather_home(l);
    if (l->home < 0)
        return -1;
    l->home_id = gather_group(k, l->home)->id;
    own = gather_cpu(k, l->prev)->group;
    split = !gather_fits(l, l->home);
    if (own >= 0 && split && gather_others(l, own) > 0)
        c = gather_search(l, own);
    /* Of a group that is split, members that sleep keep their places. */
    for (int i = 0; split && i < gather_self(k)->ngroups; i++)
        if (gather_full(l, i))
            gather_group(k, i)->tried = gather_self(k)->round;
    c = c >= 0 ? c : gather_search_all(l);
    for (int i = 0; c < 0 && split && i < gather_self(k)->ngroups; i++)
        if (gather_full(l, i))
            c = gather_search(l, i);
    return c >= 0 ? c : gather_search_unknown(l);
}

/* The operation `irq` goes on: the task that runs on `cpu` moves to the home, if all members have room
 * there and it is no worse than where they are. Those that never block are gathered like this, and again
 * when the host has moved their vCPUs. */
static inline void gather_again(struct guest *k, int cpu,
                                bool (*good)(struct guest *k, int cpu, int waker))
{
    struct gather_look l = {.k = k, .prev = cpu, .waker = -1, .spare = -1, .good = good};
    const struct task *t = gather_self(k)->ngroups > 0 ? guest_current(k, cpu) : NULL;
    int c;

    if (!t || gather_tag(t) == 0)
        return;
    l.t = t;
    l.tag = gather_tag(t);
    l.home = gather_home(&l);
    if (l.home < 0 || l.home == gather_cpu(k, cpu)->group || !gather_fits(&l, l.home))
        return;
    l.home_id = gather_group(k, l.home)->id;
    c = gather_search(&l, l.home);
    if (c >= 0)
        guest_push(k, cpu, c);
}

#endif
