/* SPDX-License-Identifier: MIT */
/* What the readers of the description and of its table share. */
#ifndef SIM_STUDY_FACTS_INTERNAL_H
#define SIM_STUDY_FACTS_INTERNAL_H

#include "study/facts.h"

/* The table named at `at`, from the folder of the description: columns and rows of f. Numbers are
 * read when it is known which columns have them. False, and reported, when it is no table. */
bool facts_read_table(struct facts *f, const struct conf_node *at, struct conf_errors *e);
/* A number of a row, reported at its line; columns are known by name. */
bool facts_number(const struct facts *f, const struct facts_row *r, size_t column, double *out,
                  struct conf_errors *e);
/* The claims of the list, which may be NULL. False without memory. */
bool facts_read_claims(struct facts *f, const struct conf_node *list, struct conf_errors *e);
/* The column named by the node; false, and reported with the nearest name. */
bool facts_column(const struct facts *f, const struct conf_node *at, size_t *out,
                  struct conf_errors *e);
/* Which of n names the node is; false, and reported with the nearest name. */
bool facts_one_of(const struct conf_node *at, const char *what, const char *const *names, size_t n,
                  size_t *out, struct conf_errors *e);

#endif
