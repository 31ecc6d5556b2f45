/* SPDX-License-Identifier: MIT */
/* Reading a result store, and merging one into another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/store_internal.h"

#define RUN_COLUMNS "key, point, seed, replication, version, policy"

static char *column(sqlite3_stmt *q, int i)
{
    const unsigned char *text = sqlite3_column_text(q, i);

    return (char *)(text ? text : (const unsigned char *)"");
}

static int out_of_memory(struct store_error *err)
{
    *err = (struct store_error){.status = 3, .text = "out of memory"};
    return -1;
}

int store_get_meta(struct store *s, const char *key, char **value, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT value FROM meta WHERE key = ?", "read", err);
    int failed = 0;
    int rc;

    *value = NULL;
    if (!q)
        return -1;
    store_bind(q, 1, key);
    rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        *value = strdup(column(q, 0));
        failed = *value ? 0 : out_of_memory(err);
    } else if (rc != SQLITE_DONE) {
        failed = store_fail(s, err, "read");
    }
    store_release(s, q);
    return failed;
}

int store_has(struct store *s, const char *key, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT 1 FROM run WHERE key = ?", "read", err);
    int rc;

    if (!q)
        return -1;
    store_bind(q, 1, key);
    rc = sqlite3_step(q);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        store_fail(s, err, "read");
    store_release(s, q);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

static bool copy_point(sqlite3_stmt *q, struct store_point *p)
{
    p->hash = strdup(column(q, 0));
    p->labels = strdup(column(q, 1));
    p->echo = strdup(column(q, 2));
    p->machine = strdup(column(q, 3));
    p->position = sqlite3_column_int64(q, 4);
    p->sweep = strdup(column(q, 5));
    return p->hash && p->labels && p->echo && p->machine && p->sweep;
}

static int read_points(struct store *s, sqlite3_stmt *q, struct store_point **list, size_t *n,
                       struct store_error *err)
{
    size_t room = 0;
    int rc;

    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (*n == room) {
            struct store_point *more;

            room = room ? 2 * room : 64;
            more = realloc(*list, room * sizeof(**list));
            if (!more)
                return out_of_memory(err);
            *list = more;
        }
        (*list)[*n] = (struct store_point){0};
        if (!copy_point(q, &(*list)[(*n)++]))
            return out_of_memory(err);
    }
    return rc == SQLITE_DONE ? 0 : store_fail(s, err, "read");
}

/* Points that no sweep has claimed belong to the one without a name. */
#define PLACELESS "SELECT hash, labels, echo, machine, position, '' AS sweep FROM point"

int store_points(struct store *s, struct store_point **list, size_t *n, struct store_error *err)
{
    static const char placeless[] = PLACELESS " ORDER BY position, hash";
    static const char placed[] =
        PLACELESS " WHERE NOT EXISTS(SELECT 1 FROM place WHERE point = hash) UNION ALL "
                  "SELECT hash, place.labels, echo, machine, place.position, sweep FROM place "
                  "JOIN point ON hash = point ORDER BY sweep, position, hash";
    sqlite3_stmt *q = store_prepare(s, s->places ? placed : placeless, "read", err);
    int failed;

    *list = NULL;
    *n = 0;
    if (!q)
        return -1;
    failed = read_points(s, q, list, n, err);
    store_release(s, q);
    if (failed) {
        store_points_free(*list, *n);
        *list = NULL;
        *n = 0;
    }
    return failed;
}

void store_points_free(struct store_point *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].hash);
        free(list[i].labels);
        free(list[i].echo);
        free(list[i].machine);
        free(list[i].sweep);
    }
    free(list);
}

int store_places(struct store *s, const char *sweep,
                 bool (*each)(void *arg, const char *point, const char *labels, int64_t position),
                 void *arg, struct store_error *err)
{
    sqlite3_stmt *q;
    bool more = true;
    int rc = SQLITE_DONE;

    if (!s->places)
        return 0;
    q = store_prepare(s, "SELECT point, labels, position FROM place WHERE sweep = ?", "read", err);
    if (!q)
        return -1;
    store_bind(q, 1, sweep);
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW)
        more = each(arg, column(q, 0), column(q, 1), sqlite3_column_int64(q, 2));
    if (more && rc != SQLITE_DONE)
        more = store_fail(s, err, "read") == 0;
    store_release(s, q);
    return more ? 0 : -1;
}

int store_keys(struct store *s, bool (*each)(void *arg, const char *key), void *arg,
               struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT key FROM run ORDER BY key", "read", err);
    bool more = true;
    int rc = SQLITE_DONE;

    if (!q)
        return -1;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW)
        more = each(arg, column(q, 0));
    if (more && rc != SQLITE_DONE)
        more = store_fail(s, err, "read") == 0;
    store_release(s, q);
    return more ? 0 : -1;
}

int store_wall_times(struct store *s,
                     bool (*each)(void *arg, const char *point, int64_t n, int64_t total_ms),
                     void *arg, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(
        s, "SELECT point, count(*), sum(wall_ms) FROM run GROUP BY point", "read", err);
    bool more = true;
    int rc = SQLITE_DONE;

    if (!q)
        return -1;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW)
        more = each(arg, column(q, 0), sqlite3_column_int64(q, 1), sqlite3_column_int64(q, 2));
    if (more && rc != SQLITE_DONE)
        more = store_fail(s, err, "read") == 0;
    store_release(s, q);
    return more ? 0 : -1;
}

static struct store_run run_of(sqlite3_stmt *q)
{
    return (struct store_run){
        .key = column(q, 0),
        .point = column(q, 1),
        .seed = strtoull(column(q, 2), NULL, 10),
        .replication = sqlite3_column_int64(q, 3),
        .version = column(q, 4),
        .policy = column(q, 5),
    };
}

int store_runs(struct store *s, const char *point,
               bool (*each)(void *arg, const struct store_run *r), void *arg,
               struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT " RUN_COLUMNS ", fingerprint, vals, wall_ms FROM run "
                                    "WHERE point = ? ORDER BY length(seed), seed, replication, "
                                    "version, policy",
                                    "read", err);
    bool more = true;
    int rc = SQLITE_DONE;

    if (!q)
        return -1;
    store_bind(q, 1, point);
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_run r = run_of(q);

        r.fingerprint = column(q, 6);
        r.values = column(q, 7);
        r.wall_ms = sqlite3_column_int64(q, 8);
        more = each(arg, &r);
    }
    if (more && rc != SQLITE_DONE)
        more = store_fail(s, err, "read") == 0;
    store_release(s, q);
    return more ? 0 : -1;
}

int store_failures(struct store *s,
                   bool (*each)(void *arg, const struct store_run *r, int status,
                                const char *report),
                   void *arg, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT " RUN_COLUMNS ", status, report FROM failure "
                                    "ORDER BY point, length(seed), seed, replication, key",
                                    "read", err);
    bool more = true;
    int rc = SQLITE_DONE;

    if (!q)
        return -1;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const struct store_run r = run_of(q);

        more = each(arg, &r, sqlite3_column_int(q, 6), column(q, 7));
    }
    if (more && rc != SQLITE_DONE)
        more = store_fail(s, err, "read") == 0;
    store_release(s, q);
    return more ? 0 : -1;
}

struct merging {
    struct store *into, *from;
    struct store_error *err;
    int failed;
};

/* A conflict between two stores is bad input: nothing says which one is right. */
static int conflict(struct merging *m, const char *what, const char *key)
{
    m->err->status = 2;
    snprintf(m->err->text, sizeof(m->err->text), "%s and %s disagree about %s %s", m->into->path,
             m->from->path, what, key);
    return m->failed = -1;
}

/* 1 when `into` has a row with this key and these two texts, 0 when it has no such key. */
static int same_row(struct merging *m, const char *sql, const char *what, const char *key,
                    const char *a, const char *b)
{
    sqlite3_stmt *q = store_prepare(m->into, sql, "read", m->err);
    int result = 0;
    int rc;

    if (!q)
        return m->failed = -1;
    store_bind(q, 1, key);
    rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        result = strcmp(column(q, 0), a) == 0 && strcmp(column(q, 1), b) == 0
                     ? 1
                     : conflict(m, what, key);
    else if (rc != SQLITE_DONE)
        result = m->failed = store_fail(m->into, m->err, "read");
    store_release(m->into, q);
    return result;
}

static bool merge_run(void *arg, const struct store_run *r)
{
    struct merging *m = arg;
    const int there = same_row(m, "SELECT fingerprint, vals FROM run WHERE key = ?", "run", r->key,
                               r->fingerprint, r->values);

    if (there == 0)
        m->failed = store_put_run(m->into, r, m->err);
    return m->failed == 0;
}

/* A failure counts only while nobody has the run finished. */
static bool merge_failure(void *arg, const struct store_run *r, int status, const char *report)
{
    struct merging *m = arg;
    const int done = store_has(m->into, r->key, m->err);

    if (done < 0)
        m->failed = -1;
    else if (!done)
        m->failed = store_put_failure(m->into, r, status, report, m->err);
    return m->failed == 0;
}

/* The same sweep gives a point the same labels everywhere; each sweep its own. */
static int merge_place(struct merging *m, const struct store_point *p)
{
    sqlite3_stmt *q = store_prepare(
        m->into, "SELECT labels FROM place WHERE sweep = ? AND point = ?", "read", m->err);
    int rc;

    if (!q)
        return m->failed = -1;
    store_bind(q, 1, p->sweep);
    store_bind(q, 2, p->hash);
    rc = sqlite3_step(q);
    if (rc == SQLITE_ROW && strcmp(column(q, 0), p->labels) != 0)
        conflict(m, "the labels of point", p->hash);
    else if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        m->failed = store_fail(m->into, m->err, "read");
    store_release(m->into, q);
    if (m->failed == 0 && rc == SQLITE_DONE)
        m->failed = store_put_place(m->into, p->sweep, p, m->err);
    return m->failed;
}

/* Whether no sweep of `into` has the point either; its labels must then agree. */
static bool placeless_in(struct merging *m, const struct store_point *p)
{
    return same_row(m,
                    "SELECT labels, echo FROM point WHERE hash = ?1 AND "
                    "NOT EXISTS(SELECT 1 FROM place WHERE point = ?1)",
                    "the labels of point", p->hash, p->labels, p->echo) == 1;
}

static int merge_point(struct merging *m, const struct store_point *p)
{
    const int there = same_row(m, "SELECT echo, machine FROM point WHERE hash = ?", "point",
                               p->hash, p->echo, p->machine);

    if (there == 0)
        m->failed = store_put_point(m->into, p, m->err);
    if (m->failed == 0 && (*p->sweep || (there == 1 && !placeless_in(m, p))) && m->failed == 0)
        merge_place(m, p);
    if (m->failed == 0 && store_runs(m->from, p->hash, merge_run, m, m->err) != 0)
        m->failed = -1;
    return m->failed;
}

static int merge_meta(struct merging *m)
{
    sqlite3_stmt *q = store_prepare(m->from, "SELECT key, value FROM meta", "read", m->err);
    int rc;

    if (!q)
        return -1;
    while (m->failed == 0 && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        char *mine;

        m->failed = store_get_meta(m->into, column(q, 0), &mine, m->err);
        if (m->failed == 0 && !mine)
            m->failed = store_put_meta(m->into, column(q, 0), column(q, 1), m->err);
        free(mine);
    }
    store_release(m->from, q);
    return m->failed;
}

int store_merge(struct store *into, struct store *from, struct store_error *err)
{
    struct merging m = {.into = into, .from = from, .err = err};
    struct store_point *list;
    size_t n;

    if (store_points(from, &list, &n, err) != 0)
        return -1;
    if (store_begin(into, err) != 0) {
        store_points_free(list, n);
        return -1;
    }
    merge_meta(&m);
    for (size_t i = 0; m.failed == 0 && i < n; i++)
        merge_point(&m, &list[i]);
    if (m.failed == 0 && store_failures(from, merge_failure, &m, err) != 0)
        m.failed = -1;
    store_points_free(list, n);
    if (m.failed == 0)
        return store_commit(into, err);
    store_rollback(into);
    return -1;
}
