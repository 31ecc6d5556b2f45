/* SPDX-License-Identifier: MIT */
#include "study/csv_line.h"

#include <stdbool.h>

size_t csv_split(char *line, char **field, size_t most)
{
    size_t n = 0;

    for (;; line++) {
        const bool quoted = *line == '"';
        char *to = line += quoted;

        if (n == most)
            return n + 1;
        field[n++] = to;
        while (*line && (quoted || *line != ',')) {
            if (quoted && *line == '"' && *++line != '"')
                break;
            *to++ = *line++;
        }
        if (*line != ',') {
            *to = '\0';
            return n;
        }
        *to = '\0';
    }
}
