/* SPDX-License-Identifier: MIT */
/* Opening, checking and writing a result store. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obs/result.h"
#include "study/store_internal.h"

#define BUSY_MS 10000

/* Stores of earlier versions have no such table: it is made when they are written to. */
#define PLACE_SQL                                                                                  \
    "CREATE TABLE IF NOT EXISTS place(sweep TEXT NOT NULL, point TEXT NOT NULL REFERENCES "        \
    "point(hash), labels TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(sweep, point)) "    \
    "WITHOUT ROWID;"

static const char schema_sql[] =
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS point(hash TEXT PRIMARY KEY, labels TEXT NOT NULL, echo TEXT NOT "
    "NULL,"
    " machine TEXT NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS run(key TEXT PRIMARY KEY, point TEXT NOT NULL REFERENCES "
    "point(hash),"
    " seed TEXT NOT NULL, replication INTEGER NOT NULL, version TEXT NOT NULL, policy TEXT NOT "
    "NULL,"
    " fingerprint TEXT NOT NULL, vals TEXT NOT NULL, wall_ms INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS run_point ON run(point);"
    "CREATE TABLE IF NOT EXISTS failure(key TEXT PRIMARY KEY, point TEXT NOT NULL,"
    " seed TEXT NOT NULL, replication INTEGER NOT NULL, version TEXT NOT NULL, policy TEXT NOT "
    "NULL,"
    " status INTEGER NOT NULL, report TEXT NOT NULL) WITHOUT ROWID;" PLACE_SQL
    "INSERT OR IGNORE INTO meta VALUES('schema', '" STORE_SCHEMA "');";

void store_key(const char *point_hash, uint64_t seed, int64_t replication, const char *version,
               const char *policy, char out[33])
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    out[0] = '\0';
    if (!f)
        return;
    fprintf(f, "%s\n%" PRIu64 "\n%" PRId64 "\n%s\n%s", point_hash, seed, replication, version,
            policy);
    if (fclose(f) == 0)
        hash_hex(text, size, out);
    free(text);
}

int store_fail(const struct store *s, struct store_error *err, const char *what)
{
    const int code = sqlite3_errcode(s->db) & 0xff;

    err->status = 3;
    if (code == SQLITE_FULL)
        snprintf(err->text, sizeof(err->text),
                 "%s: no space left on the disk; all finished runs before this one are kept",
                 s->path);
    else if (code == SQLITE_BUSY)
        snprintf(err->text, sizeof(err->text), "%s: another process keeps the store locked",
                 s->path);
    else if (code == SQLITE_NOTADB) {
        err->status = 2;
        snprintf(err->text, sizeof(err->text), "%s: not a result store of Tandem (no database)",
                 s->path);
    } else {
        /* "unable to open database file" says less than the system does. */
        const int why = code == SQLITE_CANTOPEN ? sqlite3_system_errno(s->db) : 0;

        snprintf(err->text, sizeof(err->text), "%s: cannot %s: %s", s->path, what,
                 why ? strerror(why) : sqlite3_errmsg(s->db));
    }
    return -1;
}

int store_exec(struct store *s, const char *sql, const char *what, struct store_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, err, what);
}

/* The slot of this text, or a free one; NULL when all are taken. */
static struct store_kept *slot_of(struct store *s, const char *sql)
{
    struct store_kept *k = s->kept;

    while (k < s->kept + STORE_KEPT && k->sql && strcmp(k->sql, sql) != 0)
        k++;
    return k < s->kept + STORE_KEPT ? k : NULL;
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *what,
                            struct store_error *err)
{
    struct store_kept *k = slot_of(s, sql);
    sqlite3_stmt *q = NULL;

    if (k && k->sql && !k->busy) {
        k->busy = true;
        return k->q;
    }
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) {
        store_fail(s, err, what);
        return NULL;
    }
    if (k && !k->sql)
        *k = (struct store_kept){sql, q, true};
    return q;
}

void store_release(struct store *s, sqlite3_stmt *q)
{
    for (struct store_kept *k = s->kept; k < s->kept + STORE_KEPT; k++)
        if (k->sql && k->q == q) {
            sqlite3_reset(q);
            sqlite3_clear_bindings(q);
            k->busy = false;
            return;
        }
    sqlite3_finalize(q);
}

void store_bind(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text ? text : "", -1, SQLITE_STATIC);
}

int store_finish(struct store *s, sqlite3_stmt *q, const char *what, struct store_error *err)
{
    const int failed = sqlite3_step(q) == SQLITE_DONE ? 0 : store_fail(s, err, what);

    store_release(s, q);
    return failed;
}

int store_begin(struct store *s, struct store_error *err)
{
    return store_exec(s, "BEGIN IMMEDIATE", "write", err);
}

int store_commit(struct store *s, struct store_error *err)
{
    if (store_exec(s, "COMMIT", "write", err) == 0)
        return 0;
    store_rollback(s);
    return -1;
}

void store_rollback(struct store *s)
{
    /* After a full disk SQLite may have rolled back by itself; then there is nothing to do. */
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A device, a folder or a pipe: SQLite would leave a journal beside it, so it is tried by hand. */
static int check_kind(const char *path, enum store_mode mode, struct store_error *err)
{
    struct stat st;
    int fd;

    err->status = 3;
    if (stat(path, &st) != 0) {
        if (mode == STORE_CREATE && errno == ENOENT)
            return 0;
        snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(errno));
        return -1;
    }
    if (S_ISREG(st.st_mode)) {
        if (mode == STORE_READ && st.st_size == 0) {
            err->status = 2;
            snprintf(err->text, sizeof(err->text), "%s: not a result store of Tandem (empty file)",
                     path);
            return -1;
        }
        return 0;
    }
    fd = mode == STORE_CREATE && S_ISCHR(st.st_mode) ? open(path, O_WRONLY | O_NOCTTY) : -1;
    if (fd >= 0 && write(fd, "", 1) < 0)
        snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(errno));
    else
        snprintf(err->text, sizeof(err->text), "%s: a store must be a regular file", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* How many tables there are of this name, any with "%": none at all means a new file. */
static int count_tables(struct store *s, const char *like, struct store_error *err)
{
    sqlite3_stmt *q =
        store_prepare(s, "SELECT count(*) FROM sqlite_master WHERE name LIKE ?", "read", err);
    int n = -1;

    if (!q)
        return -1;
    store_bind(q, 1, like);
    if (sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int(q, 0);
    else
        store_fail(s, err, "read");
    store_release(s, q);
    return n;
}

static int check_schema(struct store *s, struct store_error *err)
{
    struct store_error ignored;
    char *schema = NULL;
    int ok;

    if (store_get_meta(s, "schema", &schema, &ignored) != 0)
        schema = NULL; /* another program's database has no such table */
    ok = schema && strcmp(schema, STORE_SCHEMA) == 0;
    err->status = 2;
    if (!schema)
        snprintf(err->text, sizeof(err->text),
                 "%s: a database of another program, not a result store of Tandem", s->path);
    else if (!ok)
        snprintf(err->text, sizeof(err->text), "%s: schema '%.40s', expected '%s'", s->path, schema,
                 STORE_SCHEMA);
    free(schema);
    return ok ? 0 : -1;
}

static int prepare_new(struct store *s, struct store_error *err)
{
    if (store_exec(s, "PRAGMA journal_mode=WAL", "create", err) != 0 || store_begin(s, err) != 0)
        return -1;
    /* IF NOT EXISTS: a shard beside us may have been faster. */
    if (store_exec(s, schema_sql, "create", err) != 0) {
        store_rollback(s);
        return -1;
    }
    return store_commit(s, err);
}

static int set_up(struct store *s, enum store_mode mode, struct store_error *err)
{
    int tables;

    sqlite3_busy_timeout(s->db, BUSY_MS);
    tables = count_tables(s, "%", err);
    if (tables < 0)
        return -1;
    if (tables == 0 && mode == STORE_CREATE && prepare_new(s, err) != 0)
        return -1;
    if (check_schema(s, err) != 0)
        return -1;
    tables = count_tables(s, "place", err);
    if (tables < 0)
        return -1;
    s->places = tables > 0;
    if (mode == STORE_READ)
        return store_exec(s, "PRAGMA query_only=1", "read", err);
    if (store_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;", "open", err) != 0 ||
        (!s->places && store_exec(s, PLACE_SQL, "open", err) != 0))
        return -1;
    s->places = true;
    return 0;
}

/* The name as a URI that says the file does not change: the only way to read a store in a folder
 * where nothing may be written. */
static char *immutable_uri(const char *path)
{
    char *uri = malloc(3 * strlen(path) + 32);
    char *p = uri;

    if (!uri)
        return NULL;
    p += sprintf(p, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            p += sprintf(p, "%%%02X", (unsigned)(unsigned char)*path);
        else
            *p++ = *path;
    strcpy(p, "?immutable=1");
    return uri;
}

static void close_file(struct store *s)
{
    for (struct store_kept *k = s->kept; k < s->kept + STORE_KEPT; k++) {
        sqlite3_finalize(k->q);
        *k = (struct store_kept){0};
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

static int open_file(struct store *s, enum store_mode mode, struct store_error *err)
{
    /* Readers open for writing where they may, and then forbid it: only so does SQLite take its
     * side files away at the end. */
    const int flags = SQLITE_OPEN_READWRITE | (mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0);
    char *wal, *uri;
    bool quiet;

    if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
        return store_fail(s, err, "open");
    if (set_up(s, mode, err) == 0)
        return 0;
    const int why = sqlite3_errcode(s->db) & 0xff;

    if (mode != STORE_READ || (why != SQLITE_CANTOPEN && why != SQLITE_READONLY))
        return -1;
    wal = malloc(strlen(s->path) + 5);
    if (!wal)
        return -1;
    sprintf(wal, "%s-wal", s->path);
    quiet = access(wal, F_OK) != 0;
    free(wal);
    uri = quiet ? immutable_uri(s->path) : NULL;
    if (!uri)
        return -1;
    close_file(s);
    const int rc = sqlite3_open_v2(uri, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);

    free(uri);
    return rc == SQLITE_OK ? set_up(s, mode, err) : store_fail(s, err, "open");
}

struct store *store_open(const char *path, enum store_mode mode, struct store_error *err)
{
    struct store *s;

    if (check_kind(path, mode, err) != 0)
        return NULL;
    s = calloc(1, sizeof(*s));
    if (s)
        s->claims = -1;
    if (!s || !(s->path = strdup(path))) {
        free(s);
        *err = (struct store_error){.status = 3, .text = "out of memory"};
        return NULL;
    }
    if (open_file(s, mode, err) != 0) {
        store_close(s);
        return NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    close_file(s);
    store_claims_close(s);
    free(s->path);
    free(s);
}

const char *store_path(const struct store *s)
{
    return s->path;
}

int store_put_meta(struct store *s, const char *key, const char *value, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(s, "INSERT OR REPLACE INTO meta VALUES(?, ?)", "write", err);

    if (!q)
        return -1;
    store_bind(q, 1, key);
    store_bind(q, 2, value);
    return store_finish(s, q, "write", err);
}

int store_put_point(struct store *s, const struct store_point *p, struct store_error *err)
{
    sqlite3_stmt *q =
        store_prepare(s, "INSERT OR IGNORE INTO point VALUES(?, ?, ?, ?, ?)", "write", err);

    if (!q)
        return -1;
    store_bind(q, 1, p->hash);
    store_bind(q, 2, p->labels);
    store_bind(q, 3, p->echo);
    store_bind(q, 4, p->machine);
    sqlite3_bind_int64(q, 5, p->position);
    return store_finish(s, q, "write", err);
}

int store_put_place(struct store *s, const char *sweep, const struct store_point *p,
                    struct store_error *err)
{
    sqlite3_stmt *q =
        store_prepare(s, "INSERT OR REPLACE INTO place VALUES(?, ?, ?, ?)", "write", err);

    if (!q)
        return -1;
    store_bind(q, 1, sweep);
    store_bind(q, 2, p->hash);
    store_bind(q, 3, p->labels);
    sqlite3_bind_int64(q, 4, p->position);
    return store_finish(s, q, "write", err);
}

static void bind_run(sqlite3_stmt *q, const struct store_run *r, char seed[24])
{
    snprintf(seed, 24, "%" PRIu64, r->seed);
    store_bind(q, 1, r->key);
    store_bind(q, 2, r->point);
    store_bind(q, 3, seed);
    sqlite3_bind_int64(q, 4, r->replication);
    store_bind(q, 5, r->version);
    store_bind(q, 6, r->policy);
}

static int insert_run(struct store *s, const struct store_run *r, struct store_error *err)
{
    sqlite3_stmt *q = store_prepare(
        s, "INSERT OR IGNORE INTO run VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", "write", err);
    char seed[24];

    if (!q)
        return -1;
    bind_run(q, r, seed);
    store_bind(q, 7, r->fingerprint);
    store_bind(q, 8, r->values);
    sqlite3_bind_int64(q, 9, r->wall_ms);
    return store_finish(s, q, "write", err);
}

int store_put_run(struct store *s, const struct store_run *r, struct store_error *err)
{
    sqlite3_stmt *q;

    if (insert_run(s, r, err) != 0)
        return -1;
    q = store_prepare(s, "DELETE FROM failure WHERE key = ?", "write", err);
    if (!q)
        return -1;
    store_bind(q, 1, r->key);
    return store_finish(s, q, "write", err);
}

int store_put_failure(struct store *s, const struct store_run *r, int status, const char *report,
                      struct store_error *err)
{
    sqlite3_stmt *q =
        store_prepare(s,
                      "INSERT OR REPLACE INTO failure SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 "
                      "WHERE NOT EXISTS(SELECT 1 FROM run WHERE key = ?1)",
                      "write", err);
    char seed[24];

    if (!q)
        return -1;
    bind_run(q, r, seed);
    sqlite3_bind_int(q, 7, status);
    store_bind(q, 8, report);
    return store_finish(s, q, "write", err);
}
