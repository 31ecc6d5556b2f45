/* SPDX-License-Identifier: MIT */
/*
 * Cluster-aware placement by the host alone (the idea of openEuler's virt-awaresched): completely
 * fair scheduling, and a home of neighbouring cache groups for each VM. The guest is told nothing.
 *
 * A home is a row of whole cache groups, as few as hold the VM's vCPUs one per pCPU: within a node
 * if they fit, else from the start of a node, else from the start of a socket. It is chosen when the
 * first vCPU of the VM wakes: the row with the most pCPUs not yet spoken for by others' homes and
 * pinned vCPUs, the first one among equals. vCPUs fill it group by group in order of their index.
 *
 * A waking vCPU takes the idle pCPU nearest to its last one inside the home, else whatever the
 * core's placement says. Balancing may bring a vCPU out of its home only if it waits, nothing that
 * it may use is idle at home, and the other pCPU is idle or has at least two vCPUs less (assumed).
 * Whatever else the sources do not say is assumed too. A VM's pinned vCPUs have no need of a home.
 *
 * Memory: a group's count is kept with the pCPU of that number, a VM's home with that vCPU.
 */
#include "host/fair_order.h"

#define NOT_USABLE (-(1 << 24)) /* room of a group in which the VM may use no pCPU */

struct cluster_cpu {
    struct fair_order_cpu fair;
    int spoken_for; /* vCPUs at home in the group of this number */
    int room;       /* scratch of choose_home: that group's usable pCPUs, then the free ones */
};

struct cluster_home {
    int first, count; /* groups; count 0: not chosen yet */
    int size;         /* vCPUs that may use more than one pCPU */
    int per_group;    /* vCPUs that fill a group */
};

struct cluster_unit {
    struct fair_order_unit fair;
    struct cluster_home home; /* of the VM of this number */
};

static struct cluster_cpu *group_at(const struct hyp *h, int group)
{
    return hyp_pcpu(&h->host->pcpu[group]);
}

static struct cluster_home *home_of(const struct hyp *h, const struct vcpu *v)
{
    struct cluster_unit *u = hyp_vcpu(h->host->vcpu[v->vm]);

    return &u->home;
}

/* VM numbers must be dense, as a scenario's are. */
static int cluster_init(struct hyp *h)
{
    for (int i = 0; i < h->host->nvcpus; i++) {
        const struct vcpu *v = h->host->vcpu[i];

        if (v->vm < 0 || v->vm >= h->host->nvcpus)
            return -1;
        if (v->allowed->count > 1)
            home_of(h, v)->size++;
        else
            group_at(h, h->host->topo->of[LEVEL_GROUP][cpumask_next(v->allowed, 0)])->spoken_for++;
    }
    return fair_order_init(h, FAIR_CFS);
}

/* Fills the rooms of all groups with usable pCPUs less those spoken for; how many vCPUs fill the
 * largest. */
static int count_rooms(const struct hyp *h, const struct cpumask *allowed)
{
    const struct topology *t = h->host->topo;
    int most = 1;

    for (int g = 0; g < t->count[LEVEL_GROUP]; g++)
        group_at(h, g)->room = 0;
    for (int p = cpumask_next(allowed, 0); p >= 0; p = cpumask_next(allowed, p + 1)) {
        const int room = ++group_at(h, t->of[LEVEL_GROUP][p])->room;

        most = room > most ? room : most;
    }
    for (int g = 0; g < t->count[LEVEL_GROUP]; g++) {
        struct cluster_cpu *group = group_at(h, g);

        group->room = group->room > 0 ? group->room - group->spoken_for : NOT_USABLE;
    }
    return most;
}

/* May a row of that many groups begin here? */
static bool may_begin(const struct topology *t, int first, int count)
{
    const int ngroups = t->count[LEVEL_GROUP];
    const int per_node = ngroups / t->count[LEVEL_NODE];
    const int per_socket = ngroups / t->count[LEVEL_SOCKET];

    if (first + count > ngroups)
        return false;
    if (count <= per_node)
        return first / per_node == (first + count - 1) / per_node;
    if (count <= per_socket)
        return first % per_node == 0 && first / per_socket == (first + count - 1) / per_socket;
    return first % per_socket == 0;
}

static void choose_home(const struct hyp *h, struct cluster_home *home, const struct vcpu *v)
{
    const struct topology *t = h->host->topo;
    const int ngroups = t->count[LEVEL_GROUP];
    int64_t best = 0;

    home->per_group = count_rooms(h, v->allowed);
    home->count = (home->size + home->per_group - 1) / home->per_group;
    if (home->count > ngroups)
        home->count = ngroups;
    home->first = -1;
    for (int first = 0; first < ngroups; first++) {
        int64_t room = 0;

        if (!may_begin(t, first, home->count))
            continue;
        for (int g = first; g < first + home->count; g++)
            room += group_at(h, g)->room;
        if (home->first < 0 || room > best) {
            best = room;
            home->first = first;
        }
    }
    for (int i = 0; i < home->size; i++)
        group_at(h, home->first + i / home->per_group % home->count)->spoken_for++;
}

/* Homes are whole groups, and so a range of cores. */
static bool at_home(const struct hyp *h, const struct cluster_home *home, int pcpu)
{
    const int group = h->host->topo->of[LEVEL_GROUP][pcpu];

    return group >= home->first && group < home->first + home->count;
}

/* An idle pCPU of the cores [lo, hi) that v may use: the next one after `after`, as topology_find
 * does it for one unit. */
static int idle_in(const struct hyp *h, const struct vcpu *v, int lo, int hi, int after)
{
    const struct host *host = h->host;
    const int ncores = host->topo->count[LEVEL_CORE], lanes = host->npcpus / ncores;
    int lane = after >= 0 ? after / ncores : 0;

    for (int i = 0; i < lanes; i++, lane = (lane + 1) % lanes) {
        const int first = lane * ncores + lo, end = lane * ncores + hi;
        const int from = after >= first && after < end ? after + 1 : first;
        int found = cpumask_next_and(host->idle, v->allowed, from, end);

        if (found < 0 && from > first)
            found = cpumask_next_and(host->idle, v->allowed, first, from);
        if (found >= 0)
            return found;
    }
    return -1;
}

static int idle_at_home(const struct hyp *h, const struct cluster_home *home, const struct vcpu *v,
                        int after)
{
    const int width = h->host->topo->cores_in[LEVEL_GROUP];

    return idle_in(h, v, home->first * width, (home->first + home->count) * width, after);
}

/* Near `prev` first; a vCPU that comes from elsewhere begins with the group of its index. */
static int nearest_idle_at_home(const struct hyp *h, const struct cluster_home *home,
                                const struct vcpu *v, int prev)
{
    const struct topology *t = h->host->topo;
    const bool was_home = prev >= 0 && at_home(h, home, prev);
    const int own = home->first + v->index / home->per_group % home->count;
    const int width = t->cores_in[LEVEL_GROUP];
    const int lo = home->first * width, hi = (home->first + home->count) * width;

    if (!was_home) {
        const int to = idle_in(h, v, own * width, (own + 1) * width, -1);

        return to >= 0 ? to : idle_at_home(h, home, v, -1);
    }
    if (cpumask_test(v->allowed, prev) && cpumask_test(h->host->idle, prev))
        return prev;
    for (int level = LEVEL_CORE; level <= LEVEL_NODE; level++) {
        const int from = t->of[level][prev] * t->cores_in[level];
        const int end = from + t->cores_in[level];
        const int to = idle_in(h, v, from > lo ? from : lo, end < hi ? end : hi, prev);

        if (to >= 0)
            return to;
    }
    return idle_at_home(h, home, v, prev);
}

static int load_of(const struct pcpu *p)
{
    return (p->curr ? 1 : 0) + p->nr_ready;
}

/* For a vCPU that never ran when the machine is full. */
static int shortest_at_home(const struct hyp *h, const struct cluster_home *home,
                            const struct vcpu *v)
{
    int best = -1;

    for (int p = cpumask_next(v->allowed, 0); p >= 0; p = cpumask_next(v->allowed, p + 1))
        if (at_home(h, home, p) &&
            (best < 0 || load_of(&h->host->pcpu[p]) < load_of(&h->host->pcpu[best])))
            best = p;
    return best;
}

static int cluster_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    struct cluster_home *home = home_of(h, v);
    int to;

    (void)why;
    if (v->allowed->count == 1 || home->size == 0)
        return hyp_select_default(h, v, prev);
    if (home->count == 0)
        choose_home(h, home, v);
    to = nearest_idle_at_home(h, home, v, prev);
    if (to < 0 && prev < 0 && cpumask_next_and(h->host->idle, v->allowed, 0, h->host->npcpus) < 0)
        to = shortest_at_home(h, home, v);
    return to >= 0 ? to : hyp_select_default(h, v, prev);
}

static bool cluster_admits(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    const struct cluster_home *home = home_of(h, v);

    if (home->count == 0 || at_home(h, home, p->id))
        return true;
    if (v->state != VCPU_READY || idle_at_home(h, home, v, -1) >= 0)
        return false;
    return load_of(p) == 0 || load_of(&h->host->pcpu[v->pcpu]) >= load_of(p) + 2;
}

const struct host_ops host_policy_cluster = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cluster",
            .summary = "cfs that keeps each VM in a few cache groups, without the guest's help",
            .params = fair_cfs_params,
            .params_size = sizeof(struct fair_conf),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct cluster_cpu),
            .unit_size = sizeof(struct cluster_unit),
        },
    .init = cluster_init,
    .fini = fair_order_fini,
    .vcpu_init = fair_order_vcpu_init,
    .select = cluster_select,
    .enqueue = fair_order_enqueue,
    .dequeue = fair_order_dequeue,
    .pick = fair_order_pick,
    .slice = fair_order_slice,
    .tick = fair_order_tick,
    .preempts = fair_order_preempts,
    .stopping = fair_order_stopping,
    .yield = fair_order_yield,
    .boost = fair_order_boost,
    .admits = cluster_admits,
};
