/* SPDX-License-Identifier: MIT */
/* `claims:` of a description. */
#include <stdlib.h>
#include <string.h>

#include "study/facts_internal.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const char *const kinds[] = {
    [CLAIM_SMALL] = "small-change", [CLAIM_RANK] = "rank",       [CLAIM_TREND] = "trend",
    [CLAIM_MEAN] = "mean",          [CLAIM_NO_GAIN] = "no-gain",
};

/* What limits may be; a mean is within a factor of at least 1. */
static const struct range {
    double least, most;
} ranges[] = {
    [CLAIM_SMALL] = {0, 1e6}, [CLAIM_RANK] = {-1, 1},   [CLAIM_TREND] = {0, 1},
    [CLAIM_MEAN] = {1, 1e6},  [CLAIM_NO_GAIN] = {0, 0},
};

static void read_limit(struct facts_claim *c, const struct conf_node *map, struct conf_errors *e)
{
    const struct conf_node *limit = conf_get(map, "limit");

    if (limit && c->kind == CLAIM_NO_GAIN)
        conf_error_key(e, limit, "the claim no-gain has no limit");
    else if (limit)
        conf_real(limit, ranges[c->kind].least, ranges[c->kind].most, &c->limit, e);
    else if (c->kind != CLAIM_NO_GAIN)
        conf_error(e, map, "the claim %s needs a 'limit'", kinds[c->kind]);
}

static void read_trend(const struct facts *f, struct facts_claim *c, const struct conf_node *map,
                       struct conf_errors *e)
{
    static const char *const ways[] = {"up", "down"};
    const struct conf_node *along = conf_get(map, "along"), *way = conf_get(map, "direction");
    size_t at = 0;
    double ignored;

    if (c->kind != CLAIM_TREND) {
        if (along || way)
            conf_error_key(e, along ? along : way, "only the claim trend has '%s'",
                           along ? "along" : "direction");
        return;
    }
    if (!along || !way) {
        conf_error(e, map, "the claim trend needs '%s'", along ? "direction" : "along");
        return;
    }
    if (facts_one_of(way, "direction", ways, LENGTH(ways), &at, e))
        c->down = at == 1;
    if (facts_column(f, along, &c->along, e))
        for (size_t i = 0; i < f->nrows; i++)
            facts_number(f, &f->row[i], c->along, &ignored, e);
}

static void read_claim(const struct facts *f, struct facts_claim *c, const struct conf_node *map,
                       struct conf_errors *e)
{
    static const char *const keys[] = {"claim", "limit",     "side", "group",
                                       "along", "direction", "basis"};
    static const char *const sides[] = {"below", "above", "all"};
    static const char *const bases[] = {"predicted", "calibrated"};
    const struct conf_node *kind = conf_get(map, "claim");
    const struct conf_node *side = conf_get(map, "side"), *basis = conf_get(map, "basis");
    const struct conf_node *group = conf_get(map, "group");
    size_t at;

    *c = (struct facts_claim){.side = SIDE_ABOVE, .group = f->ngroups};
    conf_only_keys(map, keys, LENGTH(keys), "a claim", e);
    if (side && facts_one_of(side, "side", sides, LENGTH(sides), &at, e))
        c->side = (enum facts_side)at;
    if (group)
        facts_one_of(group, "group", (const char *const *)f->group, f->ngroups, &c->group, e);
    if (basis && facts_one_of(basis, "basis", bases, LENGTH(bases), &at, e))
        c->calibrated = at == 1;
    if (!kind)
        conf_error(e, map, "'claim' is missing");
    if (!kind || !facts_one_of(kind, "claim", kinds, LENGTH(kinds), &at, e))
        return;
    c->kind = (enum claim_kind)at;
    read_limit(c, map, e);
    read_trend(f, c, map, e);
}

bool facts_read_claims(struct facts *f, const struct conf_node *list, struct conf_errors *e)
{
    const size_t n = list && list->kind == CONF_SEQ ? list->n : 0;

    if (list && list->kind != CONF_SEQ)
        conf_error(e, list, "'claims' must be a list");
    f->claim = calloc(n + 1, sizeof(*f->claim));
    for (size_t i = 0; f->claim && i < n; i++) {
        if (list->child[i]->kind != CONF_MAP)
            conf_error(e, list->child[i], "a claim is a mapping, as in {claim: rank, limit: 0.6}");
        else
            read_claim(f, &f->claim[f->nclaims++], list->child[i], e);
    }
    return f->claim != NULL;
}
