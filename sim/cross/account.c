/* SPDX-License-Identifier: MIT */
/* Time of vCPUs that are off and of pCPUs that are empty, and the conservation identities. */
#include "cross/world.h"
#include "engine/check.h"

/* Adds the time since the last flush to the term in force. Only while the vCPU is off. */
void xvcpu_flush(struct xvcpu *x)
{
    const ns_t now = x->world->engine->now, dt = now - x->off_since;

    x->g->acct.term[x->off_term] += dt;
    if (x->off_term == TERM_STEAL && x->g->busy)
        x->wanted += dt;
    x->off_since = now;
}

/* The term that the time from now on goes to. */
void xvcpu_off_term(struct xvcpu *x)
{
    if (x->v->state == VCPU_READY)
        x->off_term = TERM_STEAL;
    else
        x->off_term = x->g->busy && !x->g->halted ? TERM_UNSEEN : TERM_BLOCKED;
    if (x->off_term != TERM_UNSEEN)
        x->unseen_since = -1;
    else if (x->unseen_since < 0)
        x->unseen_since = x->world->engine->now;
}

void xpcpu_flush(struct xpcpu *p)
{
    const ns_t now = p->world->engine->now;
    ns_t dt, hyp;

    if (p->idle_since < 0)
        return;
    dt = now - p->idle_since;
    hyp = dt < p->owed ? dt : p->owed;
    p->acct.term[TERM_HYP] += hyp;
    p->owed -= hyp;
    p->acct.term[TERM_IDLE] += dt - hyp;
    if (p->cstate >= 0)
        p->cstate_time[p->cstate] += dt - hyp;
    p->idle_since = now;
}

/* Keeps the count of wanting vCPUs of each pCPU right. */
void xvcpu_recount(struct xvcpu *x)
{
    const int at = x->v->state != VCPU_BLOCKED && x->g->busy ? x->v->pcpu : -1;

    if (at == x->counted_at)
        return;
    if ((at < 0) != (x->counted_at < 0))
        xvm_wants(x->vm, at < 0 ? -1 : 1);
    if (x->counted_at >= 0)
        x->world->pcpu[x->counted_at].wanting--;
    if (at >= 0)
        x->world->pcpu[at].wanting++;
    x->counted_at = at;
}

void world_settle(struct world *w)
{
    for (int i = 0; i < w->nvms; i++) {
        guest_settle(w->vm[i].guest);
        for (int j = 0; j < w->vm[i].nvcpus; j++) {
            if (w->vm[i].vcpu[j].v->state != VCPU_RUNNING)
                xvcpu_flush(&w->vm[i].vcpu[j]);
            idle_keep_flush(&w->vm[i].vcpu[j]);
        }
    }
    for (int i = 0; i < w->host->npcpus; i++)
        xpcpu_flush(&w->pcpu[i]);
}

static ns_t sum_of(const struct account *a)
{
    ns_t sum = 0;

    for (int i = 0; i < TERM_COUNT; i++)
        sum += a->term[i];
    return sum;
}

/* Empty and held time is time in C-states; spins with exits are counted. */
static void check_idle(const struct world *w)
{
    int trapping = 0;

    for (int i = 0; i < w->host->npcpus; i++) {
        const struct xpcpu *p = &w->pcpu[i];
        const ns_t resting = p->acct.term[TERM_IDLE] + p->acct.term[TERM_HELD];
        ns_t sum = 0;

        trapping += watch_trapping(p) != NULL;
        for (int c = 0; c < w->conf.ncstates; c++)
            sum += p->cstate_time[c];
        CHECK(sum == resting || w->conf.host_ncstates == 0,
              "pcpu %d: %lld ns in C-states, but %lld ns empty or held", i, (long long)sum,
              (long long)resting);
    }
    CHECK(trapping == w->ntrapping, "%d vCPUs spin with exits, %d are counted", trapping,
          w->ntrapping);
}

/* After world_settle: every account adds up to the elapsed time, and steal is run-queue wait. */
void world_check(struct world *w)
{
    const ns_t now = w->engine->now, elapsed = now - w->accounted_from;

    for (int i = 0; i < w->host->npcpus; i++) {
        const ns_t sum = sum_of(&w->pcpu[i].acct);

        CHECK(sum == elapsed, "pcpu %d: its time adds up to %lld of %lld ns", i, (long long)sum,
              (long long)elapsed);
    }
    check_idle(w);
    for (int i = 0; i < w->nvms; i++) {
        guest_check(w->vm[i].guest);
        for (int j = 0; j < w->vm[i].nvcpus; j++) {
            const struct xvcpu *x = &w->vm[i].vcpu[j];
            const ns_t sum = sum_of(&x->g->acct), steal = vcpu_time_in(x->v, VCPU_READY, now);

            CHECK(sum == elapsed, "vm%d vcpu %d: its time adds up to %lld of %lld ns", i, j,
                  (long long)sum, (long long)elapsed);
            CHECK(steal == x->g->acct.term[TERM_STEAL],
                  "vm%d vcpu %d: steal %lld ns, but %lld ns on run queues", i, j,
                  (long long)x->g->acct.term[TERM_STEAL], (long long)steal);
        }
    }
}
