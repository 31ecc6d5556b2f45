/* SPDX-License-Identifier: MIT */
/*
 * The script of the figure scoreboard: four panels, of which the columns are the sides of the split
 * and the rows the means and the errors; below them the claims as text. Lengths in em.
 */
#include "study/score_plot.h"

#include <math.h>
#include <string.h>

#include "study/plot_label.h"
#include "study/plot_layout.h"
#include "study/quantity.h"

#define PANELS   4
#define LEFT     6.2
#define RIGHT    1.2
#define ABOVE    1.9
#define LINE     1.45 /* of text */
#define BETWEEN  0.5  /* claims */
#define MARGIN   1.0
#define INDENT   7.5 /* of a claim, behind its verdict */
#define CHAR     0.55
#define NSERIES  4
#define MAX_LINE 200

static const char *const series[NSERIES] = {"published", "simulated", "null", "oracle"};
static const char *const verdicts[] = {"held", "failed", "incomplete"};

struct sheet {
    double width, height, panel, bottom, text; /* text: height of all claims */
    double title, legend;
    size_t chars; /* in a line of a claim */
    size_t key_cols;
    int rotate;
};

/* Words of a text up to `most` characters; *text is moved behind them. Never nothing, unless at the
 * end. */
static void next_line(const char **text, size_t most, char out[MAX_LINE])
{
    size_t end = 0, n = 0, chars = 0;

    while (**text == ' ')
        (*text)++;
    for (; (*text)[n] && chars < most && n < MAX_LINE - 5; n++) {
        chars += ((unsigned char)(*text)[n] & 0xc0) != 0x80;
        if ((*text)[n] == ' ')
            end = n;
    }
    while (((unsigned char)(*text)[n] & 0xc0) == 0x80)
        n++;
    if (!(*text)[n] || (*text)[n] == ' ' || end == 0)
        end = n;
    snprintf(out, MAX_LINE, "%.*s", (int)end, *text);
    *text += end;
}

/* Lines of claim i: its text, then what was found. With `out` they are written as labels from `y` on. */
static size_t put_claim(FILE *out, const struct scoreboard *b, size_t i, const struct sheet *l,
                        double y)
{
    char text[240], line[MAX_LINE];
    const char *parts[] = {text, b->verdict[i].found};
    size_t n = 0;

    score_claim_text(b->facts, &b->facts->claim[i], text, sizeof(text));
    for (int part = 0; part < 2; part++)
        for (const char *at = parts[part]; *at; n++) {
            next_line(&at, l->chars, line);
            if (!out)
                continue;
            fprintf(out, "TEXT = ");
            plot_put_text(out, line);
            fprintf(out, "\nset label %zu TEXT at screen %.5f, screen %.5f left textcolor rgb %s\n",
                    2000 + 20 * i + n, (MARGIN + INDENT) / l->width,
                    (y - LINE * (double)n) / l->height, part ? "GREY" : "INK");
        }
    return n;
}

static double claims_height(const struct scoreboard *b, const struct sheet *l)
{
    double height = 0;

    for (size_t i = 0; i < b->facts->nclaims; i++)
        height += LINE * (double)put_claim(NULL, b, i, l, 0) + BETWEEN;
    return height;
}

static struct sheet lay(const struct score_plot *p)
{
    const struct facts *f = p->board.facts;
    struct sheet l = {.width = p->two_columns ? 68 : 34, .panel = 12, .bottom = 2.2, .title = 2.2};
    const double room = l.width / 2 - LEFT - RIGHT;
    size_t widest = 3;

    for (size_t i = 0; i < f->ngroups; i++)
        widest = label_width(f->group[i]) > widest ? label_width(f->group[i]) : widest;
    if (((double)widest + 1) * EM_PER_CHAR * (double)(f->ngroups + 1) > room) {
        l.rotate = 40;
        l.bottom = 2.2 + (double)(widest < TIC_CHARS ? widest : TIC_CHARS) * EM_PER_CHAR * 0.6;
    }
    l.chars = (size_t)((l.width - 2 * MARGIN - INDENT) / CHAR);
    l.text = claims_height(&p->board, &l);
    l.key_cols = p->two_columns ? NSERIES : NSERIES / 2;
    l.legend = LINE * (double)(NSERIES / l.key_cols) + 0.5;
    l.height = l.title + l.legend + 2 * (ABOVE + l.panel + l.bottom) + 1 + l.text + 2.2;
    return l;
}

/* The value of a series in a panel of means or of errors; NAN where nothing is drawn. */
static double value(const struct scoreboard *b, bool errors, enum facts_side side, size_t group,
                    int s)
{
    for (size_t i = 0; i < b->nlines; i++) {
        const struct score_line *l = &b->line[i];

        if (l->side != side || l->group != group)
            continue;
        if (!errors)
            return s == 0 ? l->by[0].published : s == 1 ? l->by[0].mean : NAN;
        return s == 0 ? NAN : l->by[s - 1].error;
    }
    return NAN;
}

static void side_name(const struct facts *f, enum facts_side side, char out[64])
{
    strcpy(out, side == SIDE_BELOW ? "\xe2\x89\xa4 " : "> ");
    quantity_exact(f->split, out + strlen(out));
    strcat(out, " vCPU per pCPU");
}

static void put_panel(FILE *out, const struct score_plot *p, const struct sheet *l, int f,
                      double top)
{
    const enum facts_side side = f % 2 ? SIDE_ABOVE : SIDE_BELOW;
    const double x = f % 2 ? l->width / 2 : 0;
    const double y = top - (double)(f / 2) * (ABOVE + l->panel + l->bottom) - ABOVE;
    double low = 0, high = 0;
    size_t there = 0;
    char name[64];

    for (size_t g = 0; g <= p->board.facts->ngroups; g++)
        for (int s = 0; s < NSERIES; s++) {
            const double v = value(&p->board, f >= 2, side, g, s);

            there += isfinite(v) && s > 0 ? 1 : 0;
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    side_name(p->board.facts, side, name);
    fprintf(out, "FACET_LINES[%d] = 1; FACET[%d] = ", f + 1, f + 1);
    plot_put_text(out, f < 2 ? name : "");
    fprintf(out, "; METRIC[%d] = '%s'; YLABEL[%d] = '%s'\n", f + 1, p->board.facts->metric->key,
            f + 1, f < 2 ? "mean change (%)" : "mean error (% points)");
    fprintf(out, "LEFT[%d] = %.5f; RIGHT[%d] = %.5f; TOP[%d] = %.5f; BOTTOM[%d] = %.5f\n", f + 1,
            (x + LEFT) / l->width, f + 1, (x + l->width / 2 - RIGHT) / l->width, f + 1,
            y / l->height, f + 1, (y - l->panel) / l->height);
    fprintf(out, "YMAX[%d] = %.9g; YMIN[%d] = %.9g; SCALE[%d] = 1; CELLS[%d] = %zu\n", f + 1,
            high > low ? high + 0.06 * (high - low) : 1, f + 1, low < 0 ? 1.1 * low : 0, f + 1,
            f + 1, there);
}

static void put_series(FILE *out)
{
    fprintf(out, "NSERIES = %d; NKEYS = %d; array SERIES[NSERIES]; array SERIES_TEXT[NSERIES]\n",
            NSERIES, NSERIES);
    for (int s = 0; s < NSERIES; s++)
        fprintf(out, "SERIES[%d] = '%s'; SERIES_TEXT[%d] = ''\n", s + 1, series[s], s + 1);
}

static void put_groups(FILE *out, const struct facts *f, const struct sheet *l)
{
    fprintf(out, "NX = %zu; array XTEXT[NX]; array XPOS[NX]; XMIN = 0.4; XMAX = %.2f\n",
            f->ngroups + 1, (double)f->ngroups + 1.6);
    for (size_t g = 0; g <= f->ngroups; g++) {
        char text[LABEL_SIZE];

        label_shorten(g < f->ngroups ? f->group[g] : "all", TIC_CHARS, text);
        fprintf(out, "XPOS[%zu] = %zu; XTEXT[%zu] = ", g + 1, g + 1, g + 1);
        plot_put_tic(out, text);
        fputc('\n', out);
    }
    fprintf(out, "ROTATE = %d\n", l->rotate);
}

static void put_data(FILE *out, const struct scoreboard *b)
{
    fputs("$data << END_OF_DATA\n", out);
    for (int f = 0; f < PANELS; f++)
        for (int s = 0; s < NSERIES; s++) {
            for (size_t g = 0; g <= b->facts->ngroups; g++) {
                const double v = value(b, f >= 2, f % 2 ? SIDE_ABOVE : SIDE_BELOW, g, s);

                if (isfinite(v))
                    fprintf(out, "%zu %.12g\n", g + 1, v);
                else
                    fprintf(out, "%zu NaN\n", g + 1);
            }
            fputs("\n\n", out);
        }
    fputs("END_OF_DATA\n", out);
}

/* In words and by a mark, so that no colour is needed to tell them apart. */
static void put_claims(FILE *out, const struct scoreboard *b, const struct sheet *l)
{
    static const char *const marks[] = {"pt 7", "pt 2 lw 2", "pt 6"};
    static const char *const inks[] = {"0x0072B2", "0xB03A00", "0x666666"};
    double y = l->text + 1.6;

    for (size_t i = 0; i < b->facts->nclaims; i++) {
        const int v = (int)b->verdict[i].verdict;

        fprintf(out,
                "set label %zu '' at screen %.5f, screen %.5f point %s ps 0.9 lc rgb %s\n"
                "set label %zu '%s' at screen %.5f, screen %.5f left textcolor rgb %s\n",
                1000 + 2 * i, MARGIN / l->width, y / l->height, marks[v], inks[v], 1001 + 2 * i,
                verdicts[v], (MARGIN + 1) / l->width, y / l->height, inks[v]);
        y -= LINE * (double)put_claim(out, b, i, l, y) + BETWEEN;
    }
}

static void put_title(FILE *out, const struct score_plot *p)
{
    const struct facts *f = p->board.facts;
    char text[LABEL_SIZE], new[LABEL_SIZE], base[LABEL_SIZE];

    label_shorten(f->new, 32, new);
    label_shorten(f->base, 32, base);
    snprintf(text, sizeof(text), "%.40s, %.80s over %.80s", f->metric->key, new, base);
    plot_put_variable(out, "TITLE", p->title ? p->title : text);
}

static void put_note(FILE *out, const struct scoreboard *b)
{
    const struct facts *f = b->facts;
    size_t held = 0;
    char text[LABEL_SIZE], runs[48];

    for (size_t i = 0; i < f->nclaims; i++)
        held += b->verdict[i].verdict == CLAIM_HELD;
    if (b->least_n == b->most_n)
        snprintf(runs, sizeof(runs), "n = %d", b->most_n);
    else
        snprintf(runs, sizeof(runs), "n = %d to %d", b->least_n, b->most_n);
    snprintf(text, sizeof(text), "%zu of %zu claims hold, %zu of %zu cells, %s", held, f->nclaims,
             b->nthere, f->nrows, runs);
    plot_put_variable(out, "NOTE", text);
}

int score_script(FILE *out, const struct score_plot *p, enum picture_format format,
                 const char *folder)
{
    const struct sheet l = lay(p);
    const double top = l.height - l.title - l.legend;

    fputs("set encoding utf8\n", out);
    plot_put_terminal(out, l.width, l.height, format);
    put_title(out, p);
    put_note(out, &p->board);
    fputs("XLABEL = ''; MARK_KEY = ''; BAND_KEY = ''; RELATIVE = 0; LOGX = 0; LOGY = 0\n"
          "OWN_TICS = 1; CATEGORIES = 1; ZERO_APART = 0; COLS = 2; METRICS = 1; NFACET = 4\n",
          out);
    put_series(out);
    put_groups(out, p->board.facts, &l);
    fputs("array FACET[4]; array FACET_LINES[4]; array METRIC[4]; array YLABEL[4]; array LEFT[4]; "
          "array RIGHT[4]\n"
          "array TOP[4]; array BOTTOM[4]; array YMAX[4]; array YMIN[4]; array SCALE[4]\n"
          "array CELLS[4]\n",
          out);
    for (int f = 0; f < PANELS; f++)
        put_panel(out, p, &l, f, top);
    fprintf(out, "EM = %.6f; EMX = %.6f; YLABEL_AT = %.5f; XLABEL_AT = 0\n", 1 / l.height,
            1 / l.width, (LEFT - 1.1) / l.width);
    fprintf(out, "TITLE_Y = %.5f; KEY_TOP = %.5f; KEY_BOTTOM = %.5f; KEY_COLS = %zu\n",
            1 - 1.2 / l.height, 1 - l.title / l.height, top / l.height, l.key_cols);
    put_data(out, &p->board);
    plot_put_variable(out, "FOLDER", folder);
    fputs("load FOLDER.'/style.gp'\n", out);
    put_claims(out, &p->board, &l);
    fputs("load FOLDER.'/" SCORE_TEMPLATE "'\n", out);
    return ferror(out) ? -1 : 0;
}

static void csv_values(FILE *out, const struct scoreboard *b, bool errors, enum facts_side side)
{
    static const char *const by[NSERIES] = {"published", "simulated", "null", "oracle"};
    const struct facts *f = b->facts;

    for (size_t g = 0; g <= f->ngroups; g++)
        for (int s = 0; s < NSERIES; s++) {
            const double v = value(b, errors, side, g, s);
            char number[48], split[48];

            if (!isfinite(v))
                continue;
            quantity_exact(v, number);
            quantity_exact(f->split, split);
            fprintf(out, "%s,%s%s,", errors ? "error" : "mean", side == SIDE_BELOW ? "<= " : "> ",
                    split);
            plot_put_csv(out, g < f->ngroups ? f->group[g] : "all");
            fprintf(out, ",%s,%s,,\n", by[s], number);
        }
}

int score_plot_csv(FILE *out, const struct scoreboard *b)
{
    fputs("kind,ratio,group,by,value,verdict,found\n", out);
    for (int f = 0; f < PANELS; f++)
        csv_values(out, b, f >= 2, f % 2 ? SIDE_ABOVE : SIDE_BELOW);
    for (size_t i = 0; i < b->facts->nclaims; i++) {
        char text[240];

        score_claim_text(b->facts, &b->facts->claim[i], text, sizeof(text));
        fputs("claim,,", out);
        plot_put_csv(out, text);
        fprintf(out, ",,,%s,", verdicts[b->verdict[i].verdict]);
        plot_put_csv(out, b->verdict[i].found);
        fputc('\n', out);
    }
    return fflush(out) != 0 || ferror(out) ? -1 : 0;
}
