/* SPDX-License-Identifier: MIT */
/*
 * Readers of scalars. Always true: `out` is written only on success; a time is exact (decimal
 * digits become integer nanoseconds, nothing is rounded); a number is the same in every locale; a
 * fault names the text that was found and the form that is expected.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define NUMBER_MAX 64 /* characters */

#define TIME_FORM "a time such as 10us, 2ms or 1.5s"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *s)
{
    size_t n = 0;
    while (is_digit(s[n]))
        n++;
    return n;
}

void conf_subject(const struct conf_node *n, struct conf_buf *b)
{
    char show[CONF_SHOWN];
    if (n->key != NULL) {
        conf_buf_str(b, "'");
        conf_buf_str(b, conf_shown(n->key, show));
        conf_buf_str(b, "'");
    } else {
        conf_buf_str(b, "the value");
    }
    if (n->kind != CONF_SCALAR) {
        conf_buf_str(b, n->kind == CONF_MAP ? " is a mapping" : " is a list");
    } else if (n->text[0] == '\0') {
        conf_buf_str(b, n->quoted ? " is an empty text" : " has no value");
    } else {
        conf_buf_str(b, " is '");
        conf_buf_str(b, conf_shown(n->text, show));
        conf_buf_str(b, "'");
    }
}

void conf_expected(struct conf_errors *e, const struct conf_node *n, const char *what)
{
    struct conf_buf b = {0};
    conf_subject(n, &b);
    conf_error(e, n, "%s, expected %s", b.s == NULL ? "wrong value" : b.s, what);
    free(b.s);
}

static bool wrong(struct conf_errors *e, const struct conf_node *n, const char *why)
{
    struct conf_buf b = {0};
    conf_subject(n, &b);
    conf_error(e, n, "%s: %s", b.s == NULL ? "wrong value" : b.s, why);
    free(b.s);
    return false;
}

static bool expected(struct conf_errors *e, const struct conf_node *n, const char *what)
{
    conf_expected(e, n, what);
    return false;
}

static bool is_text(const struct conf_node *n)
{
    return n->kind == CONF_SCALAR && n->text[0] != '\0';
}

/* "1,5" and "1,5ms": digits around a comma. */
static bool has_decimal_comma(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t whole = digits(s);
    return whole > 0 && s[whole] == ',' && is_digit(s[whole + 1]) &&
           strchr(s + whole + 1, ',') == NULL;
}

/* --- times --- */

struct decimal {
    const char *whole, *fraction, *rest;
    size_t whole_len, fraction_len; /* the fraction without its last zeros */
};

/* digits [ "." digits ] rest */
static bool split_decimal(const char *s, struct decimal *d)
{
    *d = (struct decimal){.whole = s, .whole_len = digits(s)};
    if (d->whole_len == 0)
        return false;
    s += d->whole_len;
    if (*s == '.') {
        d->fraction = ++s;
        d->fraction_len = digits(s);
        if (d->fraction_len == 0)
            return false;
        s += d->fraction_len;
        while (d->fraction_len > 0 && d->fraction[d->fraction_len - 1] == '0')
            d->fraction_len--;
    }
    d->rest = s;
    return true;
}

struct unit {
    const char *name;
    ns_t ns;
    size_t decimals; /* that ns can hold */
};

static const struct unit *find_unit(const char *name)
{
    static const struct unit units[] = {
        {"ns", 1, 0}, {"us", NS_US, 3}, {"ms", NS_MS, 6}, {"s", NS_SEC, 9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* The last value is NS_NEVER's and no time. */
static bool add_scaled(ns_t *sum, ns_t v, ns_t scale)
{
    if (v > (NS_NEVER - 1 - *sum) / scale)
        return false;
    *sum += v * scale;
    return true;
}

static bool sum_digits(const char *s, size_t len, ns_t *out)
{
    ns_t v = 0;
    for (size_t i = 0; i < len; i++) {
        ns_t next = 0;
        if (!add_scaled(&next, v, 10) || !add_scaled(&next, s[i] - '0', 1))
            return false;
        v = next;
    }
    *out = v;
    return true;
}

static bool time_value(const struct decimal *d, const struct unit *u, ns_t *out)
{
    ns_t whole, fraction, sum = 0, scale = u->ns;
    if (!sum_digits(d->whole, d->whole_len, &whole) ||
        !sum_digits(d->fraction, d->fraction_len, &fraction))
        return false;
    for (size_t i = 0; i < d->fraction_len; i++)
        scale /= 10;
    if (!add_scaled(&sum, whole, u->ns) || !add_scaled(&sum, fraction, scale))
        return false;
    *out = sum;
    return true;
}

bool conf_ns(const struct conf_node *n, ns_t *out, struct conf_errors *e)
{
    if (!is_text(n))
        return expected(e, n, TIME_FORM);
    const char *s = n->text;
    struct decimal d;
    if (has_decimal_comma(s))
        return wrong(e, n, "use a point as decimal mark");
    bool negative = s[0] == '-';
    if (!split_decimal(s + negative, &d))
        return expected(e, n, TIME_FORM);
    const struct unit *u = find_unit(d.rest);
    if (u == NULL && *d.rest != '\0')
        return expected(e, n, TIME_FORM);
    if (negative)
        return wrong(e, n, "a time cannot be negative");
    if (u == NULL && strcmp(s, "0") != 0)
        return wrong(e, n, "a unit is required, one of ns, us, ms, s");
    if (u == NULL) {
        *out = 0;
        return true;
    }
    if (d.fraction_len > u->decimals)
        return wrong(e, n, "finer than a nanosecond");
    return time_value(&d, u, out) || wrong(e, n, "too long, at most 9223372036s");
}

/* --- numbers --- */

static void int_range_text(int64_t lo, int64_t hi, char out[80])
{
    if (lo == INT64_MIN && hi == INT64_MAX)
        snprintf(out, 80, "a whole number of 64 bits");
    else if (hi == INT64_MAX)
        snprintf(out, 80, "a whole number of at least %lld", (long long)lo);
    else if (lo == INT64_MIN)
        snprintf(out, 80, "a whole number of at most %lld", (long long)hi);
    else
        snprintf(out, 80, "a whole number from %lld to %lld", (long long)lo, (long long)hi);
}

/* Negative accumulation: the negative side reaches one further. */
static bool int_value(const char *s, int64_t *out)
{
    bool negative = *s == '-';
    int64_t v = 0;
    for (s += negative; *s != '\0'; s++) {
        int digit = *s - '0';
        if (v < (INT64_MIN + digit) / 10)
            return false;
        v = v * 10 - digit;
    }
    if (!negative && v == INT64_MIN)
        return false;
    *out = negative ? v : -v;
    return true;
}

static bool quoted_fault(const struct conf_node *n, struct conf_errors *e, const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "in quotes, expected %s without quotes", what);
    return wrong(e, n, text);
}

bool conf_int(const struct conf_node *n, int64_t lo, int64_t hi, int64_t *out,
              struct conf_errors *e)
{
    char range[80];
    int_range_text(lo, hi, range);
    if (!is_text(n))
        return expected(e, n, range);
    const char *s = n->text + (n->text[0] == '-');
    size_t len = digits(s);
    bool good = len > 0 && s[len] == '\0';
    if (good && n->quoted)
        return quoted_fault(n, e, "a number");
    if (good && len > 1 && s[0] == '0')
        return wrong(e, n, "a number cannot start with 0");
    int64_t v;
    if (!good || !int_value(n->text, &v) || v < lo || v > hi)
        return expected(e, n, range);
    *out = v;
    return true;
}

static void real_range_text(double lo, double hi, char out[96])
{
    char a[32], b[32];
    conf_real_text(lo, a);
    conf_real_text(hi, b);
    if (lo <= -DBL_MAX && hi >= DBL_MAX)
        snprintf(out, 96, "a number such as 0.5 or 20%%");
    else if (hi >= DBL_MAX)
        snprintf(out, 96, "a number of at least %s", a);
    else if (lo <= -DBL_MAX)
        snprintf(out, 96, "a number of at most %s", b);
    else
        snprintf(out, 96, "a number from %s to %s", a, b);
}

/* [-] digits [. digits] ( [e [+-] digits] | % ) */
static bool is_real(const char *s, bool *percent)
{
    s += *s == '-';
    size_t n = digits(s);
    if (n == 0)
        return false;
    s += n;
    if (*s == '.') {
        n = digits(s + 1);
        if (n == 0)
            return false;
        s += 1 + n;
    }
    *percent = *s == '%';
    if (*percent)
        return s[1] == '\0';
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        n = digits(s);
        return n > 0 && s[n] == '\0';
    }
    return *s == '\0';
}

/* strtod rounds correctly, but asks the locale for the decimal mark: it is told which locale. */
static bool real_value(const char *s, bool percent, double *out)
{
    char text[NUMBER_MAX + 8];
    size_t len = strlen(s) - percent;
    if (len > NUMBER_MAX)
        return false;
    memcpy(text, s, len);
    strcpy(text + len, percent ? "e-2" : "");

    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    locale_t old = uselocale(plain);
    *out = strtod(text, NULL);
    uselocale(old);
    freelocale(plain);
    return isfinite(*out);
}

bool conf_real(const struct conf_node *n, double lo, double hi, double *out, struct conf_errors *e)
{
    char range[96];
    real_range_text(lo, hi, range);
    if (!is_text(n))
        return expected(e, n, range);
    if (has_decimal_comma(n->text))
        return wrong(e, n, "use a point as decimal mark");
    bool percent;
    double v;
    if (!is_real(n->text, &percent))
        return expected(e, n, "a number such as 0.5 or 20%");
    if (n->quoted)
        return quoted_fault(n, e, "a number");
    if (strlen(n->text) > NUMBER_MAX)
        return wrong(e, n, "too many digits, at most 64 characters");
    if (!real_value(n->text, percent, &v) || v < lo || v > hi)
        return expected(e, n, range);
    *out = v;
    return true;
}

/* --- words --- */

int conf_bool_word(const char *s)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(words[i], s) == 0)
            return i % 2;
    return -1;
}

bool conf_bool(const struct conf_node *n, bool *out, struct conf_errors *e)
{
    int v = is_text(n) ? conf_bool_word(n->text) : -1;
    if (v < 0)
        return expected(e, n, "on or off (or true, false, yes, no)");
    if (n->quoted)
        return quoted_fault(n, e, "on or off");
    *out = v == 1;
    return true;
}

const char *conf_str(const struct conf_node *n, struct conf_errors *e)
{
    if (is_text(n))
        return n->text;
    conf_expected(e, n, "a name or a text");
    return NULL;
}
