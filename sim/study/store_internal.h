/* SPDX-License-Identifier: MIT */
/* What the files of the result store share, and nobody else needs. */
#ifndef SIM_STUDY_STORE_INTERNAL_H
#define SIM_STUDY_STORE_INTERNAL_H

#include <sqlite3.h>

#include "study/store.h"

#define STORE_KEPT 24

struct store {
    char *path;
    sqlite3 *db;
    bool places; /* the table is there */
    int claims;  /* file of claims; -1: not open */
    struct store_kept {
        const char *sql; /* static; NULL: a free slot, and all after it */
        sqlite3_stmt *q;
        bool busy;
    } kept[STORE_KEPT];
};

void store_claims_close(struct store *s);
/* Puts SQLite's error into words. Always -1. */
int store_fail(const struct store *s, struct store_error *err, const char *what);
int store_exec(struct store *s, const char *sql, const char *what, struct store_error *err);
/* `sql` must be static: statements are kept for the next time. To be given back by store_release or
 * store_finish. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *what,
                            struct store_error *err);
void store_release(struct store *s, sqlite3_stmt *q);
/* `text` must live until the statement has run. NULL is "". */
void store_bind(sqlite3_stmt *q, int i, const char *text);
/* Runs a statement that gives no rows, and gives it back. */
int store_finish(struct store *s, sqlite3_stmt *q, const char *what, struct store_error *err);

#endif
