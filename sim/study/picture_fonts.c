/* SPDX-License-Identifier: MIT */
/*
 * Letters that no installed font has. gnuplot's cairo terminals draw the box that stands for one many
 * times too large, over the whole picture: that is refused before it is drawn. Where fontconfig's
 * fc-list is missing nothing can be asked, and nothing is refused.
 */
#include <stdint.h>
#include <sys/wait.h>

#include "study/picture.h"
#include "study/plot_axes.h"

#define ASKED 64 /* different letters, at most */

/* The letter at *text, which is moved behind it; bytes that are none count as U+FFFD. */
static uint32_t next_letter(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    const int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
    uint32_t letter = more ? p[0] & (0x3fu >> more) : p[0];

    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *text += i;
            return 0xfffd;
        }
        letter = letter << 6 | (p[i] & 0x3fu);
    }
    *text += more + 1;
    return letter >= 0x80 && !more ? 0xfffd : letter;
}

/* Those that DejaVu Sans may lack: not Latin, Greek, Cyrillic, punctuation, arrows, operators. */
static bool is_doubtful(uint32_t letter)
{
    return letter >= 0x530 && !(letter >= 0x2000 && letter < 0x2300) && letter != 0xfffd;
}

static bool has_font(uint32_t letter)
{
    char command[64];
    FILE *in;
    bool any;
    int status;

    snprintf(command, sizeof(command), "fc-list ':charset=%x' family 2>/dev/null", letter);
    in = popen(command, "r");
    if (!in)
        return true;
    any = fgetc(in) != EOF;
    while (fgetc(in) != EOF)
        continue;
    status = pclose(in);
    return any || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int picture_check_fonts(const char *script, struct store_error *err)
{
    uint32_t seen[ASKED];
    size_t n = 0;

    while (*script && n < ASKED) {
        const char *at = script;
        const uint32_t letter = next_letter(&script);
        size_t i = 0;

        while (i < n && seen[i] != letter)
            i++;
        if (!is_doubtful(letter) || i < n)
            continue;
        seen[n++] = letter;
        if (!has_font(letter))
            return plot_fail(err, 3,
                             "no installed font has the letter '%.*s' (U+%04X): install one (for "
                             "instance the package fonts-noto-core or fonts-noto-cjk), or draw an "
                             "SVG",
                             (int)(script - at), at, letter);
    }
    return 0;
}
