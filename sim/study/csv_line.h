/* SPDX-License-Identifier: MIT */
/* Lines of CSV that this program wrote. */
#ifndef SIM_STUDY_CSV_LINE_H
#define SIM_STUDY_CSV_LINE_H

#include <stddef.h>

/* The fields of a line without its end, taken apart in place (RFC 4180). Their number; most + 1: too many. */
size_t csv_split(char *line, char **field, size_t most);

#endif
