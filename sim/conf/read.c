/* SPDX-License-Identifier: MIT */
/*
 * Files and texts up to the parser: size, kind of file, byte order marks, NUL bytes. A UTF-8 mark
 * and any of the three line ends are accepted; what cannot be text is refused with its position.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/internal.h"

/* Length of the line break at `s`, 0 when there is none: the ones libyaml counts as such. */
static size_t line_break(const char *s, size_t left)
{
    if (s[0] == '\r')
        return left > 1 && s[1] == '\n' ? 2 : 1;
    if (s[0] == '\n')
        return 1;
    if (left >= 2 && memcmp(s, "\xc2\x85", 2) == 0)
        return 2;
    if (left >= 3 && (memcmp(s, "\xe2\x80\xa8", 3) == 0 || memcmp(s, "\xe2\x80\xa9", 3) == 0))
        return 3;
    return 0;
}

void conf_position(const char *text, size_t len, size_t offset, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < len && i < offset;) {
        size_t lf = line_break(text + i, len - i);
        if (lf > 0) {
            (*line)++;
            *column = 1;
            i += lf;
            continue;
        }
        i++;
        while (i < len && i < offset && ((unsigned char)text[i] & 0xc0) == 0x80)
            i++;
        (*column)++;
    }
}

static bool starts_with(const char *text, size_t len, const char *mark, size_t mark_len)
{
    return len >= mark_len && memcmp(text, mark, mark_len) == 0;
}

struct conf_tree *conf_read_text(const char *name, const char *text, size_t len,
                                 struct conf_errors *e)
{
    if (len > CONF_MAX_BYTES) {
        conf_error_at(e, name, 1, 1, "larger than 4 MB, the most that is read");
        return NULL;
    }
    if (starts_with(text, len, "\xff\xfe", 2) || starts_with(text, len, "\xfe\xff", 2)) {
        conf_error_at(e, name, 1, 1, "text in UTF-16 or UTF-32, expected UTF-8");
        return NULL;
    }
    if (starts_with(text, len, "\xef\xbb\xbf", 3)) {
        text += 3;
        len -= 3;
    }
    if (len == 0) {
        conf_error_at(e, name, 1, 1, "empty, expected YAML text");
        return NULL;
    }
    const char *nul = memchr(text, '\0', len);
    if (nul != NULL) {
        int line, column;
        conf_position(text, len, (size_t)(nul - text), &line, &column);
        conf_error_at(e, name, line, column, "a NUL byte, expected YAML text: not a text file");
        return NULL;
    }
    return conf_parse(name, text, len, e);
}

/* Reads until the end or until `cap` bytes are there. Returns -1 with errno set. */
static ssize_t read_all(int fd, char *buf, size_t cap)
{
    size_t n = 0;
    while (n < cap) {
        ssize_t got = read(fd, buf + n, cap - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

static struct conf_tree *read_open(const char *path, int fd, struct conf_errors *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        conf_error_file(e, path, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    if (S_ISDIR(st.st_mode)) {
        conf_error_file(e, path, "is a directory, expected a YAML file");
        return NULL;
    }
    /* One byte more than allowed, so that a pipe or a growing file that is too long shows. The size
     * of a file is only a hint: those in /proc say 0. */
    size_t cap = CONF_MAX_BYTES + 1;
    char *buf = malloc(cap);
    if (buf == NULL) {
        conf_error_file(e, path, "out of memory");
        return NULL;
    }
    ssize_t n = read_all(fd, buf, cap);
    struct conf_tree *t = NULL;
    if (n < 0)
        conf_error_file(e, path, "cannot be read: %s", strerror(errno));
    else
        t = conf_read_text(path, buf, (size_t)n, e);
    free(buf);
    return t;
}

struct conf_tree *conf_read_file(const char *path, struct conf_errors *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        conf_error_file(e, path, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    struct conf_tree *t = read_open(path, fd, e);
    close(fd);
    return t;
}
