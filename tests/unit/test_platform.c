/* SPDX-License-Identifier: MIT */
/* The platform of a machine: which defaults it changes, and that a scenario has the last word. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "registry.h"
#include "scenario.h"

static struct scenario *parse(const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("scenario.yaml", text, strlen(text), &e);
    struct scenario *s = t ? scenario_from_tree(t, "scenario.yaml", &e) : NULL;

    if (e.n)
        conf_errors_print(&e, stderr);
    cr_assert(s && e.n == 0, "refused:\n%s", text);
    conf_free(t);
    return s;
}

static struct scenario *on(const char *machine, const char *host, const char *idle)
{
    char text[512];

    snprintf(text, sizeof(text),
             "machine: %s\nduration: 1s\nhost: {%s}\n"
             "vms: [{vcpus: 1, idle: %s, workload: cpu-bound}]\n",
             machine, host, idle);
    return parse(text);
}

/* A parameter of the first VM's idle policy, as text. */
static void expect_param(const struct scenario *s, const char *name, const char *want)
{
    const struct policy_head *h = s->vm[0].idle.ops;
    char *text = param_text(param_find(h->params, name), s->vm[0].idle.params);

    cr_expect_str_eq(text, want, "%s on %s: %s", name, s->machine.name, text);
    free(text);
}

Test(platform, s390_polls_for_less_and_doubts_its_wakeups)
{
    struct scenario *s = on("s390-16", "", "halt-poll");

    expect_param(s, "max", "50us");
    expect_param(s, "invalid", "on");
    expect_param(s, "grow-start", "10us");
    cr_expect_eq(s->preempted_rule, PREEMPTED_RUNNABLE);
    scenario_free(s);
}

Test(platform, a_machine_without_one_has_the_tables_defaults)
{
    struct scenario *s = on("x86-32", "", "halt-poll");

    expect_param(s, "max", "200us");
    expect_param(s, "invalid", "off");
    cr_expect_eq(s->preempted_rule, PREEMPTED_RUNNABLE);
    cr_expect_not(s->machine.platform.given);
    cr_expect_null(strstr(s->echo, "platform"));
    scenario_free(s);
}

Test(platform, a_scenario_overrides_it)
{
    struct scenario *s = on("s390-16", "preempted: any-deschedule", "{halt-poll: {max: 1ms}}");

    expect_param(s, "max", "1ms");
    expect_param(s, "invalid", "on");
    cr_expect_eq(s->preempted_rule, PREEMPTED_ANY);
    scenario_free(s);
}

Test(platform, a_machine_changes_what_its_base_says)
{
    struct scenario *s = on("{base: s390-16, platform: {preempted: any-deschedule, "
                            "idle: {halt-poll: {max: {value: 10us, source: none}}, "
                            "guest-poll: {max: 7us}}}}",
                            "", "halt-poll");

    expect_param(s, "max", "10us");
    expect_param(s, "invalid", "on");
    cr_expect_eq(s->preempted_rule, PREEMPTED_ANY);
    scenario_free(s);
    s = on("{base: s390-16, platform: {idle: {guest-poll: {max: 7us}}}}", "", "guest-poll");
    expect_param(s, "max", "7us");
    scenario_free(s);
}

Test(platform, other_policies_keep_their_defaults)
{
    struct scenario *s = on("s390-16", "", "guest-poll"), *x = on("x86-32", "", "guest-poll");
    const struct policy_head *h = s->vm[0].idle.ops;

    for (const struct param *p = h->params; p && p->name; p++) {
        char *text = param_text(p, x->vm[0].idle.params);

        expect_param(s, p->name, text);
        free(text);
    }
    scenario_free(s);
    scenario_free(x);
}

Test(platform, the_echo_has_it_and_reads_back)
{
    struct scenario *s = on("{base: s390-16, platform: {preempted: any-deschedule}}", "", "hlt"),
                    *again;

    cr_expect(strstr(s->echo, "\"platform\":{\"preempted\":\"any-deschedule\",\"idle\":{"
                              "\"halt-poll\":{\"max\":\"50us\",\"invalid\":true}}}"),
              "%s", s->echo);
    again = parse(s->echo);
    cr_expect_str_eq(s->echo, again->echo);
    cr_expect_str_eq(s->hash, again->hash);
    scenario_free(s);
    scenario_free(again);
}
