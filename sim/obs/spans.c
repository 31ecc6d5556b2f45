/* SPDX-License-Identifier: MIT */
/*
 * Spans of pCPUs and vCPUs. Always true: what is open on a track shows what has been in force since it was
 * opened; a state that takes no time leaves no span. Where a wake-up begins is decided when its instant is over,
 * where it ends when the first span of its task is.
 */
#include "obs/spans.h"

#include <stdlib.h>
#include <string.h>

#include "obs/trace_busy.h"

#define NOBODY (-1)

struct pcpu_track {
    int vcpu; /* since then; and who was there before, from when to when, if that is not handed over */
    ns_t since;
    int last;
    ns_t last_from, last_to;
};

struct vcpu_track {
    int state, activity, task; /* as the records say */
    enum span_state shown;     /* of the open span, and the task that was current when it began */
    int shown_task;
    ns_t since, owed, spent; /* its beginning; debts and account then */
    int blocked_at;          /* place in the list of the blocked ones, -1 */
    /* The last span that was over: the next one may go on with it. What is before it is handed over. */
    enum span_state last;
    int last_task;
    ns_t last_from, last_to;
    int waiting; /* wake-ups that wait for spans of this vCPU */
};

struct wake {
    bool pending, open; /* open: the waker's span had begun before */
    int waker;
    ns_t at, from; /* from: where it begins; -1 nowhere */
};

/* A wake-up that has led to a span, but may stand before one of its spans if it is handed over now. */
struct held_wake {
    int task, waker, vcpu;
    ns_t at, runs;
};

struct spans {
    struct trace_sink sink;
    struct spans_conf conf;
    struct spans_probe probe;
    struct pcpu_track *pcpu;
    struct vcpu_track *vcpu;
    int *blocked, nblocked; /* vCPUs */
    struct wake *wake;      /* by task */
    int nwakes;
    int *fresh, nfresh, room; /* tasks woken at fresh_at, whose wake-up has no beginning yet */
    ns_t fresh_at;
    struct held_wake *held;
    int nheld, held_room;
    bool past, failed; /* past: the window is over */
};

const char *span_state_name(enum span_state s)
{
    static const char *const name[SPAN_STATES] = {
        [SPAN_IDLE] = "idle",           [SPAN_TASK] = "task",           [SPAN_KERNEL] = "kernel",
        [SPAN_LOCK_SPIN] = "lock spin", [SPAN_IDLE_SPIN] = "idle spin", [SPAN_HELD] = "held idle",
        [SPAN_STEAL] = "steal",         [SPAN_UNSEEN] = "unseen wait"};

    return name[s];
}

static bool clip(const struct spans *s, ns_t *from, ns_t *to)
{
    if (*from < s->conf.from)
        *from = s->conf.from;
    if (s->conf.to > 0 && *to > s->conf.to)
        *to = s->conf.to;
    return *to > *from;
}

/* -- pCPUs -- */

static void pcpu_hand_over(struct spans *s, int pcpu)
{
    const struct pcpu_track *p = &s->pcpu[pcpu];
    ns_t from = p->last_from, to = p->last_to;

    if (clip(s, &from, &to))
        s->conf.pcpu(s->conf.arg, pcpu, p->last, from, to);
}

static void pcpu_change(struct spans *s, int pcpu, ns_t now, int vcpu)
{
    struct pcpu_track *p = &s->pcpu[pcpu];

    if (now > p->since && p->vcpu == p->last) {
        p->last_to = now; /* it left and came back at once */
    } else if (now > p->since) {
        pcpu_hand_over(s, pcpu);
        p->last = p->vcpu;
        p->last_from = p->since;
        p->last_to = now;
    }
    p->vcpu = vcpu;
    p->since = now;
}

/* -- wake-ups -- */

static void *grown(void *list, int *n, int want, size_t size)
{
    const int room = want > 32 ? 2 * want : 64;
    char *more;

    if (want <= *n)
        return list;
    more = realloc(list, (size_t)room * size);
    if (more) {
        memset(more + (size_t)*n * size, 0, (size_t)(room - *n) * size);
        *n = room;
    }
    return more;
}

static void wake_begin(struct spans *s, int task, int waker, ns_t now)
{
    struct wake *wake = grown(s->wake, &s->nwakes, task + 1, sizeof(*wake));
    int *fresh = grown(s->fresh, &s->room, s->nfresh + 1, sizeof(*fresh));

    s->wake = wake ? wake : s->wake;
    s->fresh = fresh ? fresh : s->fresh;
    if (!wake || !fresh) {
        s->failed = true;
        return;
    }
    s->wake[task] = (struct wake){.pending = waker >= 0, .waker = waker, .at = now, .from = -1};
    if (waker < 0)
        return;
    s->wake[task].open = s->vcpu[waker].shown != SPAN_IDLE && s->vcpu[waker].since < now;
    s->fresh[s->nfresh++] = task;
    s->fresh_at = now;
}

/* The instant of these wake-ups is over: what the waker shows from then on is known. */
static void wakes_settle(struct spans *s)
{
    for (int i = 0; i < s->nfresh; i++) {
        struct wake *w = &s->wake[s->fresh[i]];
        const struct vcpu_track *v = &s->vcpu[w->waker];

        if (w->open && v->since == w->at)
            w->from = w->at - 1; /* it stopped in the same instant */
        else if (v->shown != SPAN_IDLE)
            w->from = w->at;
    }
    s->nfresh = 0;
}

/* -- vCPUs -- */

static enum span_state state_of(const struct vcpu_track *v)
{
    if (v->state == STATE_READY)
        return SPAN_STEAL;
    if (v->state == STATE_BLOCKED)
        return v->activity == TERM_UNSEEN ? SPAN_UNSEEN : SPAN_IDLE;
    switch (v->activity) {
    case TERM_LOCKSPIN:
        return SPAN_LOCK_SPIN;
    case TERM_IDLESPIN:
        return SPAN_IDLE_SPIN;
    case TERM_HELD:
        return SPAN_HELD;
    default:
        return v->task == NOBODY ? SPAN_KERNEL : SPAN_TASK;
    }
}

/* The account behind a state that is entered when debts are paid; TERM_COUNT: none. */
static enum term term_of(enum span_state s)
{
    return s == SPAN_LOCK_SPIN   ? TERM_LOCKSPIN
           : s == SPAN_IDLE_SPIN ? TERM_IDLESPIN
           : s == SPAN_HELD      ? TERM_HELD
                                 : TERM_COUNT;
}

/* Has the span of this vCPU at that time been handed over? */
static bool is_out(const struct vcpu_track *v, ns_t at)
{
    return v->last_from > at;
}

/* Did it begin earlier? Then it comes first wherever events are sorted by time. */
static bool is_older(const struct vcpu_track *v, ns_t at)
{
    if (at < v->last_to)
        return v->last_from < at;
    return v->since < at && term_of(v->shown) == TERM_COUNT;
}

static void give_wakes(struct spans *s, bool all)
{
    int kept = 0;

    for (int i = 0; i < s->nheld; i++) {
        const struct held_wake w = s->held[i];
        struct vcpu_track *from = &s->vcpu[w.waker], *to = &s->vcpu[w.vcpu];

        if (!all && !(is_out(to, w.runs) && (is_out(from, w.at) || is_older(from, w.at)))) {
            s->held[kept++] = w;
            continue;
        }
        from->waiting--;
        to->waiting--;
        s->conf.wake(s->conf.arg, w.task, w.waker, w.at, w.vcpu, w.runs);
    }
    s->nheld = kept;
}

/* A span of `task` is over: was this where its wake-up led to? */
static void wake_end(struct spans *s, int task, int vcpu, ns_t began)
{
    const struct spans_conf *c = &s->conf;
    struct wake *w = task >= 0 && task < s->nwakes ? &s->wake[task] : NULL;
    struct held_wake *held;

    if (!w || !w->pending || w->at > began)
        return;
    w->pending = false;
    if (w->from < c->from || (c->to > 0 && began >= c->to))
        return;
    held = grown(s->held, &s->held_room, s->nheld + 1, sizeof(*held));
    s->failed = s->failed || !held;
    if (!held)
        return;
    s->held = held;
    held[s->nheld++] = (struct held_wake){
        .task = task, .waker = w->waker, .vcpu = vcpu, .at = w->from, .runs = began};
    s->vcpu[w->waker].waiting++;
    s->vcpu[vcpu].waiting++;
}

static void hand_over(struct spans *s, int vcpu)
{
    const struct vcpu_track *v = &s->vcpu[vcpu];
    ns_t from = v->last_from, to = v->last_to;

    if (clip(s, &from, &to))
        s->conf.vcpu(s->conf.arg, vcpu, v->last, v->last_task, from, to);
}

/* What shows the same as the span before goes on with it. */
static void add(struct spans *s, int vcpu, enum span_state state, int task, ns_t from, ns_t to)
{
    struct vcpu_track *v = &s->vcpu[vcpu];

    if (to <= from)
        return;
    if (state == v->last && (state != SPAN_TASK || task == v->last_task)) {
        v->last_to = to;
        return;
    }
    hand_over(s, vcpu);
    v->last = state;
    v->last_task = task;
    v->last_from = from;
    v->last_to = to;
    if (v->waiting > 0)
        give_wakes(s, false);
}

/* The open span ends. Of a state with an account, what was not spent there belongs to the task, or to the
 * kernel: the debts at its beginning, the rest at its end. */
static void vcpu_close(struct spans *s, int vcpu, ns_t now)
{
    const struct vcpu_track *v = &s->vcpu[vcpu];
    const enum term term = term_of(v->shown);
    const enum span_state around = v->shown_task == NOBODY ? SPAN_KERNEL : SPAN_TASK;
    const ns_t all = now - v->since;
    ns_t spent = all, before = 0;

    if (all <= 0)
        return;
    if (s->probe.spent && term != TERM_COUNT && s->probe.began(s->probe.arg) <= v->since) {
        spent = s->probe.spent(s->probe.arg, vcpu, term) - v->spent;
        spent = spent < 0 ? 0 : spent > all ? all : spent;
        before = v->owed < all - spent ? v->owed : all - spent;
    }
    add(s, vcpu, around, v->shown_task, v->since, v->since + before);
    add(s, vcpu, v->shown, v->shown_task, v->since + before, v->since + before + spent);
    add(s, vcpu, around, v->shown_task, v->since + before + spent, now);
    if (v->shown == SPAN_TASK || v->shown == SPAN_LOCK_SPIN)
        wake_end(s, v->shown_task, vcpu, v->since);
}

static void vcpu_open(struct spans *s, int vcpu, enum span_state state, ns_t now)
{
    struct vcpu_track *v = &s->vcpu[vcpu];
    const enum term term = term_of(state);

    v->shown = state;
    v->shown_task = v->task;
    v->since = now;
    if (!s->probe.spent || term == TERM_COUNT)
        return;
    v->owed = s->probe.owed(s->probe.arg, vcpu);
    v->spent = s->probe.spent(s->probe.arg, vcpu, term);
}

/* Called after every change of state, activity or task. */
static void vcpu_update(struct spans *s, int vcpu, ns_t now)
{
    const struct vcpu_track *v = &s->vcpu[vcpu];
    const enum span_state state = state_of(v);

    if (state == v->shown && v->task == v->shown_task && v->since < now)
        return;
    vcpu_close(s, vcpu, now);
    vcpu_open(s, vcpu, state, now);
}

/* Work for a vCPU that is off may arrive or be taken away without a record about it. */
static void look(struct spans *s, int vcpu)
{
    struct vcpu_track *v = &s->vcpu[vcpu];
    ns_t since;
    const bool unseen = s->probe.unseen(s->probe.arg, vcpu, &since);

    if (unseen == (v->activity == TERM_UNSEEN))
        return;
    v->activity = unseen ? TERM_UNSEEN : TERM_BLOCKED;
    vcpu_update(s, vcpu, since > v->since ? since : v->since);
}

static void look_at_all(struct spans *s)
{
    for (int i = 0; s->probe.unseen && i < s->nblocked; i++)
        look(s, s->blocked[i]);
}

static void vcpu_blocks(struct spans *s, int vcpu, bool blocks)
{
    struct vcpu_track *v = &s->vcpu[vcpu];

    if (blocks == (v->blocked_at >= 0))
        return;
    if (blocks) {
        v->blocked_at = s->nblocked;
        s->blocked[s->nblocked++] = vcpu;
        return;
    }
    s->blocked[v->blocked_at] = s->blocked[--s->nblocked];
    s->vcpu[s->blocked[v->blocked_at]].blocked_at = v->blocked_at;
    v->blocked_at = -1;
}

static void vcpu_state(struct spans *s, const struct trace_record *r)
{
    struct vcpu_track *v = &s->vcpu[r->a];

    v->state = r->b;
    if (s->probe.unseen && r->b == STATE_BLOCKED)
        v->activity = TERM_BLOCKED;
    vcpu_blocks(s, r->a, r->b == STATE_BLOCKED);
    vcpu_update(s, r->a, r->time);
}

static void task_change(struct spans *s, const struct trace_record *r)
{
    struct vcpu_track *v = &s->vcpu[r->a];

    if (r->kind == TRACE_TASK_IN)
        v->task = r->b;
    else if (v->task == r->b)
        v->task = NOBODY;
    vcpu_update(s, r->a, r->time);
}

static void take(struct spans *s, const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_VCPU_IN:
        pcpu_change(s, r->a, r->time, r->b);
        break;
    case TRACE_VCPU_OUT:
        if (s->pcpu[r->a].vcpu == r->b)
            pcpu_change(s, r->a, r->time, NOBODY);
        break;
    case TRACE_VCPU_STATE:
        vcpu_state(s, r);
        break;
    case TRACE_ACTIVITY:
        s->vcpu[r->a].activity = r->b;
        vcpu_update(s, r->a, r->time);
        break;
    case TRACE_TASK_IN:
    case TRACE_TASK_OUT:
        task_change(s, r);
        break;
    case TRACE_TASK_WAKE:
        wake_begin(s, r->b, r->c, r->time);
        break;
    case TRACE_EXIT:
    case TRACE_MARK:
    case TRACE_USABLE:
        break;
    }
}

static void close_all(struct spans *s, ns_t end)
{
    wakes_settle(s);
    for (int p = 0; p < s->conf.npcpus; p++) {
        pcpu_change(s, p, end, NOBODY);
        pcpu_hand_over(s, p);
    }
    for (int v = 0; v < s->conf.nvcpus; v++) {
        vcpu_close(s, v, end);
        hand_over(s, v);
    }
    give_wakes(s, true);
}

/* Behind the window spans go on until they end by themselves: accounts are exact only then. */
static void spans_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct spans *s = (struct spans *)(void *)sink;

    if (r->time >= s->conf.from && !s->past) {
        look_at_all(s);
        s->past = s->conf.to > 0 && r->time >= s->conf.to;
    }
    if (s->nfresh > 0 && r->time > s->fresh_at)
        wakes_settle(s);
    take(s, r);
}

struct trace_sink *spans_sink(struct spans *s)
{
    return &s->sink;
}

int spans_end(struct spans *s, ns_t end)
{
    if (!s->past)
        look_at_all(s);
    close_all(s, end);
    return s->failed ? -1 : 0;
}

void spans_free(struct spans *s)
{
    if (!s)
        return;
    free(s->pcpu);
    free(s->vcpu);
    free(s->blocked);
    free(s->wake);
    free(s->fresh);
    free(s->held);
    free(s);
}

struct spans *spans_new(const struct spans_conf *conf)
{
    struct spans *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct spans){.sink = {.put = spans_put}, .conf = *conf};
    if (conf->probe)
        s->probe = *conf->probe;
    s->pcpu = calloc((size_t)conf->npcpus + 1, sizeof(*s->pcpu));
    s->vcpu = calloc((size_t)conf->nvcpus + 1, sizeof(*s->vcpu));
    s->blocked = calloc((size_t)conf->nvcpus + 1, sizeof(*s->blocked));
    if (!s->pcpu || !s->vcpu || !s->blocked) {
        spans_free(s);
        return NULL;
    }
    for (int p = 0; p < conf->npcpus; p++)
        s->pcpu[p].vcpu = s->pcpu[p].last = NOBODY;
    for (int v = 0; v < conf->nvcpus; v++) {
        s->vcpu[v] = (struct vcpu_track){.state = STATE_BLOCKED,
                                         .activity = TERM_BLOCKED,
                                         .task = NOBODY,
                                         .shown_task = NOBODY,
                                         .blocked_at = v};
        s->blocked[s->nblocked++] = v;
    }
    return s;
}
