/* SPDX-License-Identifier: MIT */
/* Text of users in tables and CSV files. */
#ifndef SIM_OBS_TEXT_H
#define SIM_OBS_TEXT_H

#include <stdio.h>

/* Characters, not bytes, so that names outside ASCII keep columns straight. */
int text_width(const char *text);
/* Control characters as '?': labels come from a file and go to a terminal. */
void text_put(FILE *out, const char *text);
/* Bytes that are no UTF-8, as where a text was cut, become '?': XML and JSON hold nothing else. */
void text_repair(char *text);
/* A field of RFC 4180: quoted when it must be, quotes doubled. */
void text_put_csv(FILE *out, const char *text);

#endif
