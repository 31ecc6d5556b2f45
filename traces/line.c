/* SPDX-License-Identifier: MIT */
/*
 * Lines of a stream, and the prefix of an event line.
 *
 * Always true: the prefix is searched from the left, each try looks at its own digits and blanks
 * only, so the work is linear in the length of the line.
 */
#include "traces/line.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void line_fini(struct line_source *s)
{
    for (size_t i = 0; i < LINE_AHEAD; i++)
        free(s->ahead[i].buf);
    memset(s->ahead, 0, sizeof(s->ahead));
    s->count = 0;
}

static bool line_append(struct line *l, const char *p, size_t n)
{
    if (n > LINE_MAX_BYTES - l->len) {
        l->overlong = true;
        n = LINE_MAX_BYTES - l->len;
    }
    if (l->len + n > l->cap || !l->buf) {
        size_t cap = l->cap ? l->cap : 512;
        while (cap < l->len + n)
            cap *= 2;
        char *buf = realloc(l->buf, cap);
        if (!buf)
            return false;
        l->buf = buf;
        l->cap = cap;
    }
    memcpy(l->buf + l->len, p, n);
    l->len += n;
    return true;
}

/* Takes off what surrounds the text of a line in its file. */
static void line_strip(struct line *l)
{
    if (l->number == 1 && l->len >= 3 && memcmp(l->buf, "\xef\xbb\xbf", 3) == 0) {
        l->len -= 3;
        memmove(l->buf, l->buf + 3, l->len);
    }
    if (l->len && l->buf[l->len - 1] == '\r')
        l->len--;
    if (l->len >= 3 && memcmp(l->buf + l->len - 3, "\\n\\", 3) == 0)
        l->len -= 3;
}

static bool fill_block(struct line_source *s)
{
    if (s->eof)
        return false;
    s->have = fread(s->block, 1, sizeof(s->block), s->in);
    s->at = 0;
    if (s->have == 0) {
        s->eof = true;
        s->failed = ferror(s->in) != 0;
    }
    return s->have > 0;
}

void line_init(struct line_source *s, FILE *in)
{
    memset(s, 0, sizeof(*s));
    s->in = in;
    fill_block(s);
}

/* Reads one more line into the ring. The piece behind the last newline is a line too, empty or not.
 */
static bool read_line(struct line_source *s)
{
    struct line *l = &s->ahead[(s->first + s->count) % LINE_AHEAD];
    l->len = 0;
    l->ended = false;
    l->overlong = false;
    while (!l->ended) {
        if (s->at == s->have && !fill_block(s))
            break;
        const char *p = s->block + s->at;
        const char *nl = memchr(p, '\n', s->have - s->at);
        size_t n = nl ? (size_t)(nl - p) : s->have - s->at;
        if (!line_append(l, p, n)) {
            s->nomem = true;
            return false;
        }
        s->at += n + (nl ? 1 : 0);
        l->ended = nl != NULL;
    }
    if (s->failed)
        return false;
    if (!line_append(l, "", 0)) { /* a buffer is there even for an empty line */
        s->nomem = true;
        return false;
    }
    l->number = ++s->lines;
    line_strip(l);
    s->count++;
    return true;
}

const struct line *line_peek(struct line_source *s, size_t k)
{
    while (s->count <= k) {
        if (s->failed || s->nomem || (s->lines > 0 && s->eof && s->at == s->have))
            return NULL;
        if (!read_line(s))
            return NULL;
    }
    return &s->ahead[(s->first + k) % LINE_AHEAD];
}

void line_skip(struct line_source *s)
{
    if (s->count) {
        s->first = (s->first + 1) % LINE_AHEAD;
        s->count--;
    }
}

bool slice_starts(struct slice s, const char *word)
{
    size_t n = strlen(word);
    return s.n >= n && memcmp(s.p, word, n) == 0;
}

bool slice_equals(struct slice s, const char *word)
{
    return s.n == strlen(word) && slice_starts(s, word);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct slice slice_trim(struct slice s)
{
    while (s.n && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool slice_int(struct slice s, size_t *at, int *out)
{
    size_t i = *at;
    bool negative = i < s.n && s.p[i] == '-';
    if (negative)
        i++;
    size_t from = i;
    int64_t v = 0;
    while (i < s.n && is_digit(s.p[i]) && i - from < 11)
        v = v * 10 + (s.p[i++] - '0');
    if (i == from || v > INT_MAX || (i < s.n && is_digit(s.p[i])))
        return false;
    *out = (int)(negative ? -v : v);
    *at = i;
    return true;
}

bool slice_word(struct slice s, size_t *at, const char *word)
{
    size_t n = strlen(word);
    if (*at > s.n || s.n - *at < n || memcmp(s.p + *at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

bool slice_last(struct slice s, size_t before, const char *word, size_t *at)
{
    for (size_t i = before < s.n ? before : s.n; i-- > 0;) {
        size_t here = i;
        if (s.p[i] == word[0] && slice_word(s, &here, word)) {
            *at = i;
            return true;
        }
    }
    return false;
}

bool slice_has(struct slice s, const char *word)
{
    size_t at;
    return slice_last(s, s.n, word, &at);
}

static size_t skip_blanks(struct slice s, size_t i)
{
    while (i < s.n && is_blank(s.p[i]))
        i++;
    return i;
}

/* `[003]`: the kernel prints three digits at least. */
static bool parse_cpu(struct slice s, size_t *at, struct prefix *p)
{
    size_t i = *at;
    if (i >= s.n || s.p[i] != '[')
        return false;
    size_t from = ++i;
    if (i >= s.n || !is_digit(s.p[i]) || !slice_int(s, &i, &p->cpu))
        return false;
    if (i - from < 3 || p->cpu > CPU_MAX || i >= s.n || s.p[i] != ']')
        return false;
    *at = i + 1;
    return true;
}

/* `( 321)` or `(-----)`. */
static size_t skip_tgid(struct slice s, size_t at)
{
    if (at >= s.n || s.p[at] != '(')
        return at;
    size_t i = at + 1;
    while (i < s.n && (is_blank(s.p[i]) || is_digit(s.p[i]) || s.p[i] == '-'))
        i++;
    return i < s.n && s.p[i] == ')' ? skip_blanks(s, i + 1) : at;
}

/* Seconds with six or nine digits after the point, or twelve columns of clock ticks which end at
 * `end`; `begin` is the leftmost column that may belong to it. */
static bool parse_time(struct slice s, size_t begin, size_t end, struct prefix *p)
{
    size_t i = end, whole_end = end;
    while (i > begin && is_digit(s.p[i - 1]))
        i--;
    size_t digits = end - i;
    p->seconds = i > begin && s.p[i - 1] == '.' && (digits == 6 || digits == 9);
    if (p->seconds) {
        p->digits = (int)digits;
        whole_end = --i;
        while (i > begin && is_digit(s.p[i - 1]))
            i--;
    }
    size_t whole = whole_end - i;
    if (whole == 0 || whole > (p->seconds ? 9 : 18))
        return false;
    int64_t v = 0;
    p->time_at = i;
    for (size_t k = i; k < whole_end; k++)
        v = v * 10 + (s.p[k] - '0');
    if (p->seconds) {
        int64_t part = 0;
        for (size_t k = whole_end + 1; k < end; k++)
            part = part * 10 + (s.p[k] - '0');
        p->time = v * 1000000000 + (p->digits == 6 ? part * 1000 : part);
    } else {
        while (i > begin && is_blank(s.p[i - 1]))
            i--;
        if (end - i < 12)
            return false;
        p->time = v;
        p->digits = 0;
    }
    return true;
}

/* Behind `[cpu]`: flags or none, time, colon, event name, colon, payload. */
static bool parse_tail(struct slice s, size_t at, struct prefix *p)
{
    size_t begin = at;
    size_t i = skip_blanks(s, at);
    p->flags = (struct slice){s.p + i, 0};
    if (i < s.n && !is_digit(s.p[i])) {
        size_t from = i;
        while (i < s.n && !is_blank(s.p[i]) && s.p[i] != ':')
            i++;
        size_t end = i;
        if (i < s.n && s.p[i] == ':') { /* no blank between the flags and the time */
            while (end > from && (is_digit(s.p[end - 1]) || s.p[end - 1] == '.'))
                end--;
            while (end < i && s.p[end] == '.')
                end++;
        }
        if (end - from < 1 || end - from > 8)
            return false;
        p->flags.n = end - from;
        begin = end;
        i = skip_blanks(s, end);
    }
    while (i < s.n && (is_digit(s.p[i]) || s.p[i] == '.'))
        i++;
    if (i >= s.n || s.p[i] != ':' || !parse_time(s, begin, i, p))
        return false;
    i++;
    if (i >= s.n || !is_blank(s.p[i]))
        return false;
    size_t event = i = skip_blanks(s, i);
    while (i < s.n && !is_blank(s.p[i])) {
        i++;
        if (s.p[i - 1] == ':' && (i == s.n || is_blank(s.p[i])))
            break;
    }
    if (i - event < 2 || s.p[i - 1] != ':')
        return false;
    p->event = (struct slice){s.p + event, i - 1 - event};
    i = skip_blanks(s, i);
    p->payload = (struct slice){s.p + i, s.n - i};
    size_t system_end;
    if (slice_last(p->event, p->event.n, ":", &system_end)) {
        p->event.p += system_end + 1;
        p->event.n -= system_end + 1;
    }
    return true;
}

/* `instance: ` in front of the 16 columns of a name, as `trace-cmd report` prints it. */
static struct slice strip_instance(struct slice comm)
{
    for (size_t i = 1; i + 1 < comm.n && !is_blank(comm.p[i - 1]); i++)
        if (comm.p[i] == ':' && comm.p[i + 1] == ' ' && comm.n - (i + 2) >= 16)
            return (struct slice){comm.p + i + 2, comm.n - (i + 2)};
    return comm;
}

static bool try_ftrace(struct slice s, size_t dash, struct prefix *p)
{
    size_t i = dash + 1;
    if (i >= s.n || !is_digit(s.p[i]) || !slice_int(s, &i, &p->pid))
        return false;
    size_t after = skip_blanks(s, i);
    if (after == i)
        return false;
    i = skip_tgid(s, after);
    if (!parse_cpu(s, &i, p) || !parse_tail(s, i, p))
        return false;
    p->comm = strip_instance((struct slice){s.p, dash});
    p->perf = false;
    return true;
}

/* From the bracket of the CPU back over `tid` or `pid/tid`. */
static bool try_perf(struct slice s, size_t bracket, struct prefix *p)
{
    size_t i = bracket, from;
    while (i > 0 && is_blank(s.p[i - 1]))
        i--;
    if (i == bracket)
        return false;
    from = i;
    while (from > 0 && is_digit(s.p[from - 1]))
        from--;
    size_t tid = from;
    if (from > 0 && from < i && s.p[from - 1] == '/') {
        from--;
        while (from > 0 && is_digit(s.p[from - 1]))
            from--;
    }
    size_t at = tid;
    if (tid == i || from == 0 || !is_blank(s.p[from - 1]) || !slice_int(s, &at, &p->pid))
        return false;
    at = bracket;
    if (!parse_cpu(s, &at, p) || !parse_tail(s, at, p))
        return false;
    p->comm = (struct slice){s.p, from - 1};
    p->perf = true;
    return true;
}

bool prefix_parse(const char *text, size_t len, struct prefix *p)
{
    struct slice s = {text, len};
    for (size_t i = 0; i < len; i++)
        if (text[i] == '-' && try_ftrace(s, i, p))
            return true;
    for (size_t i = 1; i < len; i++)
        if (text[i] == '[' && try_perf(s, i, p))
            return true;
    return false;
}
