/* SPDX-License-Identifier: MIT */
/* Text of users. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "obs/text.h"

static void expect_repaired(const char *text, const char *want)
{
    char copy[40];

    snprintf(copy, sizeof(copy), "%s", text);
    text_repair(copy);
    cr_expect_str_eq(copy, want, "%s: %s", text, copy);
}

Test(text, repair)
{
    expect_repaired("a\u00e9\u20ac\U0001f600z", "a\u00e9\u20ac\U0001f600z");
    expect_repaired("\xc3", "?");
    expect_repaired("\xe2\x82", "??");
    expect_repaired("a\xffz\xc0\xaf", "a?z??");
    expect_repaired("\xed\xa0\x80", "???");
    expect_repaired("\xef\xbf\xbe", "???");
    expect_repaired("\xf4\x90\x80\x80", "????");
}
