/* SPDX-License-Identifier: MIT */
/*
 * The script of the figure gantt. A column of panels per run, pCPUs above vCPUs, all with one time scale; in the width
 * of one column of text a second run stands below the first.
 */
#include <ctype.h>
#include <string.h>

#include "conf/conf.h"
#include "study/gantt.h"
#include "study/plot_label.h"

#define EM_PER_CHAR 0.62
#define LANE        1.25 /* lengths in em */
#define GROUP       0.4  /* more between VMs, in lanes */
#define LEFT        4.2
#define BETWEEN     1.6 /* panels */
#define RIGHT       1.4
#define HEADING     1.5
#define FOOT        4.3
#define NOTE        1.3 /* a second line of notes */
#define NUMBER      1.5 /* least width of a span that has its number in it */
#define SEEN                                                                                       \
    0.02 /* least width of a span that can be seen: shorter ones are left out, and counted */

#define STYLES (GANTT_VMS + SPAN_STATES)

struct sheet {
    double width, height, title, legend;
    double panel_width;
    size_t key_cols, nkeys;
    bool beside, narrow, alike; /* alike: the lanes of both runs have the same names */
    double unit;                /* ns of the time axis */
    ns_t length;
    ns_t seen; /* shortest span that is drawn */
    size_t unseen;
    bool used[STYLES];
};

/* Styles: those of VMs first, then those of states. */
static size_t style_of(const struct gantt_run *r, const struct gantt_span *s)
{
    if (s->level == GANTT_PCPUS)
        return s->vm < r->nvms ? s->vm : STYLES;
    if (s->state == SPAN_IDLE)
        return STYLES;
    return s->state == SPAN_TASK ? s->vm : GANTT_VMS + (size_t)s->state;
}

/* Where a lane is, in lanes from the top of its panel. */
static double lane_at(const struct gantt_run *r, enum gantt_level level, size_t lane)
{
    size_t groups = 0;

    for (size_t i = 0; level == GANTT_VCPUS && i < r->nvms; i++)
        groups += r->vm[i].first_lane != SIZE_MAX && r->vm[i].first_lane > 0 &&
                  r->vm[i].first_lane <= lane;
    return (double)lane + 0.5 + GROUP * (double)groups;
}

static double panel_lanes(const struct gantt_run *r, enum gantt_level level)
{
    return r->nlanes[level] > 0 ? lane_at(r, level, r->nlanes[level] - 1) + 0.5 : 0;
}

static double block_height(const struct gantt_run *r)
{
    return HEADING + LANE * (panel_lanes(r, GANTT_PCPUS) + panel_lanes(r, GANTT_VCPUS)) +
           1.5 * BETWEEN;
}

static bool same_lanes(const struct gantt_run *a, const struct gantt_run *b)
{
    if (a->nvms != b->nvms || a->nlanes[GANTT_PCPUS] != b->nlanes[GANTT_PCPUS] ||
        memcmp(a->pcpu, b->pcpu, a->nlanes[GANTT_PCPUS] * sizeof(*a->pcpu)) != 0)
        return false;
    for (size_t i = 0; i < a->nvms; i++)
        if (a->vm[i].first_lane != b->vm[i].first_lane || a->vm[i].vcpus != b->vm[i].vcpus ||
            strcmp(a->vm[i].name, b->vm[i].name) != 0)
            return false;
    return true;
}

/* A VM that only the second run has is called by its place. */
static const char *style_name(const struct gantt_chart *g, size_t style)
{
    if (style >= GANTT_VMS)
        return span_state_name((enum span_state)(style - GANTT_VMS));
    return g->run[style < g->run[0].nvms ? 0 : g->n - 1].vm[style].name;
}

static bool is_seen(const struct sheet *l, const struct gantt_span *s)
{
    return s->to - s->from >= l->seen;
}

static void lay_legend(const struct gantt_chart *g, struct sheet *l)
{
    size_t widest = strlen("unseen wait");

    for (size_t i = 0; i < g->n; i++) {
        const struct gantt_run *r = &g->run[i];

        for (size_t k = 0; k < r->nspans; k++) {
            if (style_of(r, &r->span[k]) == STYLES)
                continue;
            if (is_seen(l, &r->span[k]))
                l->used[style_of(r, &r->span[k])] = true;
            else
                l->unseen++;
        }
    }
    for (size_t k = 0; k < STYLES; k++) {
        const size_t n = l->used[k] ? label_width(style_name(g, k)) : 0;

        l->nkeys += l->used[k];
        widest = n > widest ? n : widest;
    }
    widest = widest < 24 ? widest : 24;
    l->key_cols = (size_t)((l->width - 2) / ((double)widest * EM_PER_CHAR + 4.5));
    l->key_cols = l->key_cols < 1 ? 1 : l->key_cols > l->nkeys ? l->nkeys : l->key_cols;
    if (l->key_cols > 0)
        l->legend = 1.5 * (double)((l->nkeys + l->key_cols - 1) / l->key_cols) + 0.3;
}

static struct sheet lay(const struct gantt_chart *g, const char *title, bool two_columns)
{
    struct sheet l = {.width = two_columns ? 68 : 34,
                      .title = title ? 2.2 : 0.6,
                      .beside = two_columns && g->n > 1,
                      .narrow = !two_columns,
                      .alike = g->n > 1 && same_lanes(&g->run[0], &g->run[1])};

    for (size_t i = 0; i < g->n; i++) {
        const double block = block_height(&g->run[i]);

        l.length =
            g->run[i].to - g->run[i].from > l.length ? g->run[i].to - g->run[i].from : l.length;
        l.height = l.beside && l.height > block ? l.height : block + (l.beside ? 0 : l.height);
    }
    l.unit = l.length >= 10 * NS_SEC ? 1e9 : l.length >= NS_MS ? 1e6 : 1e3;
    l.panel_width =
        l.beside ? (l.width - 2 * RIGHT - LEFT - (l.alike ? 0 : LEFT)) / 2 : l.width - LEFT - RIGHT;
    l.seen = (ns_t)(SEEN / l.panel_width * (double)l.length);
    lay_legend(g, &l);
    l.height += l.title + l.legend + FOOT + (l.narrow ? NOTE : 0);
    return l;
}

static void put_array(FILE *out, const char *array, size_t i, const char *text)
{
    fprintf(out, "%s[%zu] = ", array, i);
    plot_put_text(out, text);
    fputc('\n', out);
}

/* Name of a VM, as long as the height of its lanes allows. */
static void vm_label(const struct gantt_vm *vm, char out[LABEL_SIZE])
{
    const size_t most = (size_t)((double)vm->vcpus * LANE / EM_PER_CHAR);
    char text[LABEL_SIZE];

    snprintf(text, sizeof(text), "%.200s vCPU", vm->name);
    label_shorten(label_width(text) <= most ? text : vm->name, most > 3 ? most : 3, out);
}

/* Lanes of a panel: place and number. */
static void put_names(FILE *out, const struct gantt_run *r, enum gantt_level level)
{
    for (size_t i = 0; level == GANTT_PCPUS && i < r->nlanes[level]; i++)
        fprintf(out, "%g %d\n", lane_at(r, level, i), r->pcpu[i]);
    for (size_t i = 0; level == GANTT_VCPUS && i < r->nvms; i++)
        for (int k = 0; r->vm[i].first_lane != SIZE_MAX && k < r->vm[i].vcpus; k++)
            fprintf(out, "%g %d\n", lane_at(r, level, r->vm[i].first_lane + (size_t)k), k);
}

/* Does anything run, or wait, in this panel? */
static bool is_empty(const struct gantt_run *r, enum gantt_level level)
{
    for (size_t k = 0; k < r->nspans; k++)
        if (r->span[k].level == level && style_of(r, &r->span[k]) < STYLES)
            return false;
    return true;
}

static void put_panel(FILE *out, const struct gantt_chart *g, const struct sheet *l, size_t run,
                      enum gantt_level level)
{
    const struct gantt_run *r = &g->run[run];
    const size_t p = run * GANTT_LEVELS + level + 1;
    const bool second = l->beside && run == 1;
    double top = l->height - l->title - l->legend - HEADING;
    const double left = LEFT + (second ? l->panel_width + RIGHT + (l->alike ? 0 : LEFT) : 0);
    const double right = left + l->panel_width;

    if (!l->beside && run == 1)
        top -= block_height(&g->run[0]);
    if (level == GANTT_VCPUS)
        top -= LANE * panel_lanes(r, GANTT_PCPUS) + BETWEEN;
    fprintf(out, "LEFT[%zu] = %.5f; RIGHT[%zu] = %.5f; TOP[%zu] = %.5f; BOTTOM[%zu] = %.5f\n", p,
            left / l->width, p, right / l->width, p, top / l->height, p,
            (top - LANE * panel_lanes(r, level)) / l->height);
    fprintf(out, "LANES[%zu] = %g; AXIS[%zu] = %d; NAMED[%zu] = %d\n", p, panel_lanes(r, level), p,
            level == GANTT_VCPUS && (l->beside || run + 1 == g->n), p, !(second && l->alike));
    fprintf(out, "EMPTY[%zu] = %d; ", p, is_empty(r, level));
    put_array(out, "HEAD", p, level == GANTT_PCPUS ? r->title : "");
}

/* The name of the level, or of each VM, beside the lanes: turned, in the middle of them. */
static size_t put_groups(FILE *out, const struct gantt_chart *g, const struct sheet *l, size_t run,
                         size_t n)
{
    const struct gantt_run *r = &g->run[run];
    const size_t p = run * GANTT_LEVELS + 1;
    char text[LABEL_SIZE];

    if (l->beside && l->alike && run == 1)
        return n;
    fprintf(out, "GROUP_PANEL[%zu] = %zu; GROUP_Y[%zu] = %g\n", n + 1, p, n + 1,
            panel_lanes(r, GANTT_PCPUS) / 2);
    put_array(out, "GROUP", ++n, "pCPU");
    for (size_t i = 0; i < r->nvms; i++) {
        if (r->vm[i].first_lane == SIZE_MAX)
            continue;
        vm_label(&r->vm[i], text);
        fprintf(out, "GROUP_PANEL[%zu] = %zu; GROUP_Y[%zu] = %g\n", n + 1, p + 1, n + 1,
                lane_at(r, GANTT_VCPUS, r->vm[i].first_lane) - 0.5 + r->vm[i].vcpus / 2.0);
        put_array(out, "GROUP", ++n, text);
    }
    return n;
}

static void put_panels(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    size_t n = 0, most = 2 * (1 + GANTT_VMS);

    fprintf(out,
            "NPANEL = %zu; array HEAD[NPANEL]; array LANES[NPANEL]; array AXIS[NPANEL]; array "
            "EMPTY[NPANEL]; array "
            "NAMED[NPANEL]\n"
            "array LEFT[NPANEL]; array RIGHT[NPANEL]; array TOP[NPANEL]; array BOTTOM[NPANEL]\n"
            "array GROUP[%zu]; array GROUP_PANEL[%zu]; array GROUP_Y[%zu]\n",
            g->n * GANTT_LEVELS, most, most, most);
    for (size_t i = 0; i < g->n; i++) {
        put_panel(out, g, l, i, GANTT_PCPUS);
        put_panel(out, g, l, i, GANTT_VCPUS);
        n = put_groups(out, g, l, i, n);
    }
    fprintf(out, "NGROUP = %zu\n", n);
}

/* The number at the end of a name; -1: none. */
static int number_of(const char *name)
{
    const char *space = strrchr(name, ' ');
    int n = 0;

    if (!space || space[1] == '\0')
        return -1;
    for (const char *p = space + 1; *p; p++) {
        if (!isdigit((unsigned char)*p) || n > 99999)
            return -1;
        n = 10 * n + (*p - '0');
    }
    return n;
}

static double time_of(const struct gantt_run *r, const struct sheet *l, ns_t t)
{
    return (double)(t - r->from) / l->unit;
}

/* Blocks of spans: from, to, lane, style; or one line that draws nothing. */
static void put_spans(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    fputs("$spans << END_OF_DATA\n", out);
    for (size_t p = 0; p < g->n * GANTT_LEVELS; p++) {
        const struct gantt_run *r = &g->run[p / GANTT_LEVELS];
        const enum gantt_level level = (enum gantt_level)(p % GANTT_LEVELS);

        fputs("0 0 -9 0\n", out);
        for (size_t k = 0; k < r->nspans; k++) {
            const struct gantt_span *s = &r->span[k];

            if (s->level == level && style_of(r, s) < STYLES && is_seen(l, s))
                fprintf(out, "%.6f %.6f %g %zu\n", time_of(r, l, s->from), time_of(r, l, s->to),
                        lane_at(r, level, s->lane), style_of(r, s) + 1);
        }
        fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

/* Blocks of places where a span begins as one of the same style ends: time, lane. Rows of a lane are in order. */
static void put_joints(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    fputs("$joints << END_OF_DATA\n", out);
    for (size_t p = 0; p < g->n * GANTT_LEVELS; p++) {
        const struct gantt_run *r = &g->run[p / GANTT_LEVELS];
        const enum gantt_level level = (enum gantt_level)(p % GANTT_LEVELS);
        ns_t ended[GANTT_LANES] = {0};
        size_t style[GANTT_LANES] = {0};

        fputs("0 -9\n", out);
        for (size_t k = 0; k < r->nspans; k++) {
            const struct gantt_span *s = &r->span[k];
            const size_t own = style_of(r, s);

            if (s->level != level || own == STYLES || !is_seen(l, s))
                continue;
            if (s->from - ended[s->lane] < l->seen && style[s->lane] == own && s->from > r->from)
                fprintf(out, "%.6f %g\n", time_of(r, l, s->from), lane_at(r, level, s->lane));
            ended[s->lane] = s->to;
            style[s->lane] = own;
        }
        fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

/* Blocks of numbers in spans that have the room: place, lane, number, style. */
static void put_numbers(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    fputs("$numbers << END_OF_DATA\n", out);
    for (size_t p = 0; p < g->n * GANTT_LEVELS; p++) {
        const struct gantt_run *r = &g->run[p / GANTT_LEVELS];
        const enum gantt_level level = (enum gantt_level)(p % GANTT_LEVELS);

        fputs("0 -9 0 0\n", out);
        for (size_t k = 0; k < r->nspans; k++) {
            const struct gantt_span *s = &r->span[k];
            const int n = level == GANTT_PCPUS ? s->vcpu : number_of(s->task);
            const double em = (double)(s->to - s->from) / (double)l->length * l->panel_width;

            if (s->level == level && n >= 0 && style_of(r, s) < GANTT_VMS &&
                em > NUMBER * (n > 9 ? n > 99 ? 1.8 : 1.4 : 1))
                fprintf(out, "%.6f %g %d %zu\n",
                        (time_of(r, l, s->from) + time_of(r, l, s->to)) / 2,
                        lane_at(r, level, s->lane), n, style_of(r, s) + 1);
        }
        fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

/* Blocks of wake-ups: time, lane, and how far to where the task runs. */
static void put_wakes(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    fputs("$wakes << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->n; i++) {
        const struct gantt_run *r = &g->run[i];

        fputs("0 -9 0 0\n", out);
        for (size_t k = 0; k < r->nwakes; k++) {
            const struct gantt_wake *w = &r->wake[k];
            const double from = lane_at(r, GANTT_VCPUS, w->from_lane);

            if (w->from_lane != w->to_lane)
                fprintf(out, "%.6f %g %.6f %g\n", time_of(r, l, w->from), from,
                        (double)(w->to - w->from) / l->unit,
                        lane_at(r, GANTT_VCPUS, w->to_lane) - from);
        }
        fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

static void put_lanes(FILE *out, const struct gantt_chart *g)
{
    fputs("$lanes << END_OF_DATA\n", out);
    for (size_t p = 0; p < g->n * GANTT_LEVELS; p++) {
        fputs("-9 0\n", out);
        put_names(out, &g->run[p / GANTT_LEVELS], (enum gantt_level)(p % GANTT_LEVELS));
        fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

static void put_styles(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    char name[LABEL_SIZE];

    fprintf(out, "NSTYLE = %d; NVM = %d; NKEYS = %zu; array KEY[NSTYLE]; array USED[NSTYLE]\n",
            STYLES, GANTT_VMS, l->nkeys);
    for (size_t k = 0; k < STYLES; k++) {
        label_shorten(l->used[k] ? style_name(g, k) : "", 24, name);
        fprintf(out, "USED[%zu] = %d\n", k + 1, l->used[k]);
        put_array(out, "KEY", k + 1, name);
    }
}

/* At most five steps of 1, 2 or 5: tics with their lines make a file long. */
static double step_of(double length)
{
    static const double nice[] = {1, 2, 5};
    double step = 1e-3;

    for (int i = 0; length / (step * nice[i]) > 5; i = (i + 1) % 3)
        if (i == 2)
            step *= 10;
    for (int i = 0; i < 3; i++)
        if (length / (step * nice[i]) <= 5)
            return step * nice[i];
    return 10 * step;
}

static void put_axis(FILE *out, const struct gantt_chart *g, const struct sheet *l)
{
    const char *unit = l->unit >= 1e9 ? "s" : l->unit >= 1e6 ? "ms" : MICRO "s";
    char text[LABEL_SIZE], from[32];
    size_t digits;
    const bool same = g->n == 1 || g->run[0].from == g->run[1].from;

    conf_ns_text(g->run[0].from, from);
    digits = strspn(from, "0123456789");
    if (same && g->run[0].from == 0)
        snprintf(text, sizeof(text), "time (%s)", unit);
    else if (same)
        snprintf(text, sizeof(text), "time from %.*s %s on (%s)", (int)digits, from,
                 strcmp(from + digits, "us") == 0 ? MICRO "s" : from + digits, unit);
    else
        snprintf(text, sizeof(text), "time from the start of the window on (%s)", unit);
    plot_put_variable(out, "XLABEL", text);
    fprintf(out, "XMAX = %.9g; XSTEP = %.9g\n", (double)l->length / l->unit,
            step_of((double)l->length / l->unit));
}

static void put_note(FILE *out, const struct sheet *l)
{
    char text[LABEL_SIZE];
    const char *unit = l->seen >= 10 * NS_MS ? "ms" : l->seen >= 10 * NS_US ? MICRO "s" : "ns";
    const ns_t each = l->seen >= 10 * NS_MS ? NS_MS : l->seen >= 10 * NS_US ? NS_US : 1;

    if (l->unseen > 0)
        snprintf(text, sizeof(text), "%zu span%s below %lld %s not drawn", l->unseen,
                 l->unseen == 1 ? "" : "s", (long long)((l->seen + each - 1) / each), unit);
    else
        text[0] = '\0';
    plot_put_variable(out, "NOTE", text);
    plot_put_variable(out, "NUMBERS", "numbers: vCPU above, task below");
    fprintf(out, "NUMBERS_X = %.5f; NUMBERS_Y = %.5f\n",
            l->narrow ? 1 - 0.6 / l->width : LEFT / l->width,
            (l->narrow ? 0.75 + NOTE : 0.75) / l->height);
}

int gantt_script(FILE *out, const struct gantt_chart *g, const char *title, bool two_columns,
                 enum picture_format format, const char *folder)
{
    const struct sheet l = lay(g, title, two_columns);

    fputs("set encoding utf8\n", out);
    plot_put_terminal(out, l.width, l.height, format);
    plot_put_variable(out, "TITLE", title ? title : "");
    put_note(out, &l);
    fputs("MARK_KEY = ''; BAND_KEY = ''; NSERIES = 1\n", out);
    put_axis(out, g, &l);
    put_styles(out, g, &l);
    put_panels(out, g, &l);
    fprintf(out, "EM = %.6f; EMX = %.6f; TITLE_Y = %.5f\n", 1 / l.height, 1 / l.width,
            1 - 1.2 / l.height);
    fprintf(out, "KEY_TOP = %.5f; KEY_BOTTOM = %.5f; KEY_COLS = %zu\n", 1 - l.title / l.height,
            1 - (l.title + l.legend) / l.height, l.key_cols);
    put_spans(out, g, &l);
    put_joints(out, g, &l);
    put_numbers(out, g, &l);
    put_wakes(out, g, &l);
    put_lanes(out, g);
    plot_put_variable(out, "FOLDER", folder);
    fputs("load FOLDER.'/style.gp'\nload FOLDER.'/" GANTT_TEMPLATE "'\n", out);
    return ferror(out) ? -1 : 0;
}
