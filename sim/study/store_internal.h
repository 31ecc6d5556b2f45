/* SPDX-License-Identifier: MIT */
/* What the files of the result store share, and nobody else needs. */
#ifndef SIM_STUDY_STORE_INTERNAL_H
#define SIM_STUDY_STORE_INTERNAL_H

#include <sqlite3.h>

#include "study/store.h"

struct store {
    char *path;
    sqlite3 *db;
};

/* Puts SQLite's error into words. Always -1. */
int store_fail(const struct store *s, struct store_error *err, const char *what);
int store_exec(struct store *s, const char *sql, const char *what, struct store_error *err);
sqlite3_stmt *store_prepare(struct store *s, const char *sql, const char *what,
                            struct store_error *err);
/* `text` must live until the statement has run. NULL is "". */
void store_bind(sqlite3_stmt *q, int i, const char *text);
/* Runs a statement that gives no rows, and frees it. */
int store_finish(struct store *s, sqlite3_stmt *q, const char *what, struct store_error *err);

#endif
