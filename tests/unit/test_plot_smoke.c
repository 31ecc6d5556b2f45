/* SPDX-License-Identifier: MIT */
/* Figures beside published facts: where the points stand, and which of them are drawn. */
#include "plot_fake.h"

TestSuite(plot_smoke, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

static const char table[] = "bench,vms,cpus,delta,host\n"
                            "a,2,8,10,8\na,4,4,20.5,8\na,2,2,-3,8\n"
                            "b,2,8,-1,8\nb,4,4,-2,8\nb,2,2,0.5,8\n";
static const char description[] =
    "source: somewhere\n"
    "facts: table.csv\n"
    "change: delta\n"
    "metric: throughput_per_s\n"
    "axes: {vms.vm.workload: bench, vms.vm.count: vms, vms.vm.vcpus: cpus}\n"
    "policy: {axis: vms.vm.guest.policy, base: bare, new: other}\n"
    "group: bench\n"
    "ratio: {sold: [vms, cpus], of: host}\n"
    "predictors: {null: {below: 0, above: 1}, oracle: group-means}\n";

static const char *const policies[] = {"bare", "other", "third"};

static int runs = 2;

/* Three shapes of two benchmarks under three policies. */
static void made_store(void)
{
    static const char *const shape[][2] = {{"2", "8"}, {"4", "4"}, {"2", "2"}};
    struct store_error err;
    struct store *s = store_open(fake_path("made.db"), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int i = 0; i < 18; i++) {
        cJSON *o = cJSON_CreateObject();
        char hash[33];

        cJSON_AddStringToObject(o, "vms.vm.workload", i / 9 ? "b" : "a");
        cJSON_AddStringToObject(o, "vms.vm.count", shape[i / 3 % 3][0]);
        cJSON_AddStringToObject(o, "vms.vm.vcpus", shape[i / 3 % 3][1]);
        cJSON_AddStringToObject(o, "vms.vm.guest.policy", policies[i % 3]);
        put_point(s, o, i, hash);
        for (int k = 0; k < runs; k++) {
            struct run_values *v = new_run(k);

            *run_value(v, 0, METRIC_THROUGHPUT) = 100 * (k + 1) * (1 + 0.25 * (i % 3));
            store_run(s, hash, v);
        }
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
}

/* Draws with the facts above, into made.csv; gnuplot has nothing to say about the script. */
static void draw(const char *figure, const char *option, const char *value)
{
    char path[5][160], command[600];
    static const char *const names[] = {"made.db", "facts.yaml", "made.svg", "made.csv", "made.gp"};
    const char *args[16] = {"plot",   figure,  path[0],    "--facts", path[1], "-o", path[2],
                            "--data", path[3], "--script", path[4],   option,  value};
    size_t size;
    char *said;

    need_gnuplot();
    made_store();
    fake_file("table.csv", table);
    fake_file("facts.yaml", description);
    for (int i = 0; i < 5; i++)
        strcpy(path[i], fake_path(names[i]));
    cr_assert(plot_command(args, option ? 13 : 11) == 0);
    snprintf(command, sizeof(command), "LC_ALL=C.UTF-8 gnuplot -d '%s' >/dev/null 2>'%s/said'",
             path[4], fake_dir);
    cr_expect(system(command) == 0);
    said = fake_read(fake_path("said"), &size);
    cr_expect_str_eq(said, "", "%s: %s", figure, said);
    free(said);
}

static void expect_data(const char *want)
{
    size_t size;
    char *text = fake_read(fake_path("made.csv"), &size);

    cr_expect_str_eq(text, want, "\n got: %s\nwant: %s", text, want);
    free(text);
}

Test(plot_smoke, shapes_of_one_ratio_stand_beside_each_other)
{
    draw("smoke", NULL, NULL);
    expect_data("\"vms.vm.workload\",\"vms.vm.count\",\"ratio\",throughput_per_s_relative,ci95,n,"
                "published_percent\n"
                "\"a\",\"2\",\"0.5\",1.25,0,2,-3\n"
                "\"a\",\"2\",\"2\",1.25,0,2,10\n"
                "\"a\",\"4\",\"2\",1.25,0,2,20.5\n"
                "\"b\",\"2\",\"0.5\",1.25,0,2,0.5\n"
                "\"b\",\"2\",\"2\",1.25,0,2,-1\n"
                "\"b\",\"4\",\"2\",1.25,0,2,-2\n");
    expect_text(fake_path("made.svg"), ">4 VMs<", true);
    expect_text(fake_path("made.svg"), ">published<", true);
}

Test(plot_smoke, the_facts_choose_the_policies_unless_the_command_does)
{
    draw("smoke", "--filter", "policy=third");
    expect_text(fake_path("made.csv"), "\"a\",\"2\",\"0.5\",1.5,0,2,-3\n", true);
    expect_text(fake_path("made.csv"), ",1.25,", false);
}

Test(plot_smoke, single_runs_have_no_intervals)
{
    runs = 1;
    draw("smoke", NULL, NULL);
    expect_text(fake_path("made.csv"), "\"b\",\"4\",\"2\",1.25,,1,-2\n", true);
    expect_text(fake_path("made.svg"), ">single runs, no intervals<", true);
}

Test(plot_smoke, single_runs_stand_in_the_scatter)
{
    runs = 1;
    draw("smoke-scatter", NULL, NULL);
}

Test(plot_smoke, published_values_are_an_axis)
{
    draw("smoke-scatter", NULL, NULL);
    expect_data("\"vms.vm.workload\",\"published\",throughput_per_s_relative,ci95,n,"
                "published_percent\n"
                "\"a\",\"-3\",1.25,0,2,-3\n\"a\",\"10\",1.25,0,2,10\n\"a\",\"20.5\",1.25,0,2,20.5\n"
                "\"b\",\"-2\",1.25,0,2,-2\n\"b\",\"-1\",1.25,0,2,-1\n\"b\",\"0.5\",1.25,0,2,0.5\n");
}

Test(plot_smoke, other_figures_can_use_them)
{
    draw("bars", "--x", "ratio,workload,guest.policy,count");
    expect_text(fake_path("made.csv"), ",ci95,n,published_percent\n", true);
}

Test(plot_smoke, a_store_of_something_else_is_refused)
{
    made_store();
    expect_refused(2,
                   "no point has vms.vm.guest.policy = floor-steal; values there are: bare, other",
                   PLOT("smoke", fake_path("made.db"), "-o", fake_path("no.svg")));
    expect_refused(
        2, "did you mean 'smoke-x86'?",
        PLOT("smoke", fake_path("made.db"), "--facts", "smoke-x68", "-o", fake_path("no.svg")));
}

static const char claims[] = "claims:\n"
                             "  - {claim: small-change, limit: 30, side: below}\n"
                             "  - {claim: mean, limit: 2, group: a}\n";

/* Every change is 25 %: of a, above 1, 10 and 20.5 were published. */
Test(plot_smoke, a_scoreboard_has_means_errors_and_verdicts)
{
    char path[5][160], text[1200];

    need_gnuplot();
    made_store();
    fake_file("table.csv", table);
    snprintf(text, sizeof(text), "%s%s", description, claims);
    strcpy(path[0], fake_path("made.db"));
    strcpy(path[1], fake_file("facts.yaml", text));
    strcpy(path[2], fake_path("s.svg"));
    strcpy(path[3], fake_path("s.csv"));
    strcpy(path[4], fake_path("s.gp"));
    for (int one = 0; one < 2; one++)
        cr_assert(PLOT("scoreboard", path[0], "--facts", path[1], "-o", path[2], "--data", path[3],
                       "--script", path[4], "--size", one ? "one" : "two") == 0);
    expect_text(path[3], "kind,ratio,group,by,value,verdict,found\n", true);
    expect_text(path[3], "mean,> 1,\"a\",published,15.25,,\n", true);
    expect_text(path[3], "mean,> 1,\"a\",simulated,25,,\n", true);
    expect_text(path[3], "error,> 1,\"a\",simulated,9.75,,\n", true);
    expect_text(path[3], "error,> 1,\"a\",null,14.25,,\n", true);
    expect_text(path[3], "claim,,\"all up to ratio 1: every change within 30 %\",,,held,", true);
    expect_text(path[2], ">held<", true);
    expect_text(path[2], ">2 of 2 claims hold, 6 of 6 cells, n = 2<", true);
    expect_text(path[2], ">throughput_per_s, other over bare<", true);
    expect_text(path[2], "\"figure\":\"scoreboard\"", true);
    /* Cells that are not there: the claim is drawn as such, the panel says so. */
    cr_assert(PLOT("scoreboard", path[0], "--facts", path[1], "-o", path[2], "--filter",
                   "vms.vm.vcpus=2") == 0);
    expect_text(path[2], ">incomplete<", true);
    expect_text(path[2], ">no data for throughput_per_s<", true);
    expect_refused(2, "needs --facts", PLOT("scoreboard", path[0], "-o", path[2]));
    expect_refused(2, "'--logy' is not for scoreboard",
                   PLOT("scoreboard", path[0], "--facts", path[1], "-o", path[2], "--logy"));
    expect_refused(2, "values there are: 8, 4, 2",
                   PLOT("scoreboard", path[0], "--facts", path[1], "-o", path[2], "--filter",
                        "vms.vm.vcpus=3"));
}
