/* SPDX-License-Identifier: MIT */
/* Ratios to another axis, stacks, and the figures about vCPU selection. */
#include <math.h>

#include "plot_fake.h"

TestSuite(plot_cps, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

#define MOST_AXES 5

struct axis {
    const char *path, *value[8];
};

static int count(const struct axis *a)
{
    int n = 0;

    while (n < 8 && a->value[n])
        n++;
    return n;
}

/* Values of one run at the place at[] of the axes. */
typedef void fill_fn(struct run_values *v, const int *at, int k);

static void set(struct run_values *v, const char *key, double value)
{
    const struct metric *m = metric_find(key);

    cr_assert(m, "%s", key);
    *run_value(v, 0, (enum metric_id)(m - metrics)) = value;
}

/* All combinations of the axes, the last one fastest, two replications. */
static const char *store_of(const struct axis *axis, int naxes, fill_fn *fill)
{
    struct store_error err = {0};
    struct store *s = store_open(fake_path("made.db"), STORE_CREATE, &err);
    int points = 1;

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int a = 0; a < naxes; a++)
        points *= count(&axis[a]);
    for (int i = 0; i < points; i++) {
        cJSON *o = cJSON_CreateObject();
        int at[MOST_AXES], rest = i;
        char hash[33];

        for (int a = naxes - 1; a >= 0; a--) {
            at[a] = rest % count(&axis[a]);
            rest /= count(&axis[a]);
        }
        for (int a = 0; a < naxes; a++)
            cJSON_AddStringToObject(o, axis[a].path, axis[a].value[at[a]]);
        put_point(s, o, i, hash);
        for (int k = 0; k < 2; k++) {
            struct run_values *v = new_run(k);

            fill(v, at, k);
            store_run(s, hash, v);
        }
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    return fake_path("made.db");
}

/* Draws into made.svg with made.csv beside it; gnuplot has nothing to say about the script. */
static void draw(const char *figure, const char *store, const char *option, const char *value)
{
    const char *args[16] = {"plot",     figure, store,  "-o", fake_path("made.svg"), "--data", NULL,
                            "--script", NULL,   option, value};
    char csv[160], script[160], command[500];
    size_t size;
    char *said;
    int status;

    strcpy(csv, fake_path("made.csv"));
    strcpy(script, fake_path("made.gp"));
    args[6] = csv;
    args[8] = script;
    status = plot_command(args, option ? 11 : 9);
    said = fake_read(fake_path("messages"), &size);
    cr_assert(status == 0, "%s: %s", figure, said);
    free(said);
    snprintf(command, sizeof(command), "LC_ALL=C.UTF-8 gnuplot -d '%s' >/dev/null 2>'%s/said'",
             script, fake_dir);
    cr_expect(system(command) == 0);
    said = fake_read(fake_path("said"), &size);
    cr_expect(size == 0, "%s: %s", figure, said);
    free(said);
}

static void expect_picture(const char *part)
{
    expect_text(fake_path("made.svg"), part, true);
}

static void expect_number(const char *part)
{
    expect_text(fake_path("made.csv"), part, true);
}

static const struct axis delays[] = {
    {"vms.test.workload", {"one", "two"}},
    {"channel.delay", {"0us", "1ms", "10ms"}},
    {"vms.test.guest.policy", {"bare", "1", "2"}},
};

/* Workload w, delay d: bare has 100 * (w + 1) * (d + 1), times 1.1 in the second run; the policies have
 * 2 and 0.5 times as much, the first one at delay 2 a tenth of that. */
static void fill_delays(struct run_values *v, const int *at, int k)
{
    const double bare = 100.0 * (at[0] + 1) * (at[1] + 1) * (1 + k / 10.0);

    set(v, "throughput",
        at[2] == 0   ? bare
        : at[2] == 2 ? bare / 2
        : at[1] == 2 ? bare / 5
                     : 2 * bare);
}

static void make_grid(struct plot_grid *g, struct dataset *d, const struct plot_request *r)
{
    struct store_error err = {0};

    cr_assert(plot_grid_make(g, r, d, &err) == 0, "%s", err.text);
}

Test(plot_cps, ratios_to_a_value_of_any_axis)
{
    const struct plot_filter only = {"policy", "1", 6};
    struct plot_request r = {.figure = figure_find("lines"),
                             .x = "delay",
                             .series = "workload",
                             .relative_to = "policy=bare",
                             .filter = &only,
                             .nfilters = 1};
    struct store_error err = {0};
    struct dataset d = {0};
    struct plot_grid g;

    cr_assert(dataset_add(&d, store_of(delays, 3, fill_delays), &err) == 0);
    /* The filter leaves no point of bare; it is divided by all the same. */
    make_grid(&g, &d, &r);
    cr_expect(g.x.n == 3 && g.series.n == 2 && g.ncells == 6 && g.with_data == 6);
    for (size_t w = 0; w < 2; w++)
        for (size_t x = 0; x < 3; x++) {
            const struct summary *s = &plot_cell(&g, 0, w, x)->sum;

            cr_expect_float_eq(s->mean, x == 2 ? 0.2 : 2, 1e-12);
            cr_expect_float_eq(s->ci95, 0, 1e-12);
        }
    plot_grid_free(&g);
    /* Without a filter the points that have the value are left out. */
    r.nfilters = 0;
    r.series = "policy";
    r.facet = "workload";
    make_grid(&g, &d, &r);
    cr_expect(g.series.n == 2 && g.facet.n == 2 && g.ncells == 12);
    cr_expect_str_eq(g.series.text[0], "1");
    cr_expect_float_eq(plot_cell(&g, 1, 1, 2)->sum.mean, 0.5, 1e-12);
    plot_grid_free(&g);
    /* A figure's own base, unless the user wants another. */
    r = (struct plot_request){.figure = figure_find("cps-threshold")};
    make_grid(&g, &d, &r);
    cr_expect(g.relative && g.series.n == 2);
    plot_grid_free(&g);
    r.relative_to = "2";
    make_grid(&g, &d, &r);
    cr_expect(g.relative && g.series.n == 3);
    cr_expect_float_eq(plot_cell(&g, 0, 1, 0)->sum.mean, 4, 1e-12);
    cr_expect_float_eq(plot_cell(&g, 0, 2, 0)->sum.mean, 1, 1e-12);
    plot_grid_free(&g);
    dataset_free(&d);
}

/* Only the workload `one` has been run with bare. */
static void store_without_base(const char *path)
{
    struct store_error err = {0};
    struct store *s = store_open(path, STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0);
    for (int i = 0; i < 3; i++) {
        cJSON *o = cJSON_CreateObject();
        struct run_values *v = new_run(0);
        char hash[33];

        cJSON_AddStringToObject(o, "workload", i < 2 ? "one" : "two");
        cJSON_AddStringToObject(o, "policy", i == 0 ? "bare" : "cps");
        put_point(s, o, i, hash);
        set(v, "throughput", i + 1);
        store_run(s, hash, v);
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
}

Test(plot_cps, ratios_that_do_not_exist)
{
    const char *out = "/nonexistent/x.svg";
    char store[160], part[160];

    strcpy(store, store_of(delays, 3, fill_delays));
    strcpy(part, fake_path("part.db"));
    store_without_base(part);
    expect_refused(2, "has vms.test.guest.policy = bar; did you mean 'bare'?",
                   PLOT("lines", store, "-o", out, "--relative-to", "policy=bar"));
    expect_refused(2, "the series axis channel.delay has no value 'polcy=bare'",
                   PLOT("lines", store, "-o", out, "--x", "policy", "--series", "delay", "--facet",
                        "workload", "--relative-to", "polcy=bare"));
    expect_refused(2, "no point with policy = bare beside that with cps",
                   PLOT("bars", part, "-o", out, "--relative-to", "policy=bare"));
    expect_refused(
        2, "all points have vms.test.guest.policy = bare",
        PLOT("bars", store, "-o", out, "--relative-to", "policy=bare", "--filter", "policy=bare"));
}

static const struct axis pins[] = {{"vms.test.pin", {"cache group", "other socket"}},
                                   {"vms.test.workload", {"one", "two"}}};

static void fill_pins(struct run_values *v, const int *at, int k)
{
    (void)k;
    set(v, "lock1_per_op_us", 1 + at[0]);
    set(v, "lock2_per_op_us", 0.25);
    hist_add_n(&v->hist[HIST_LATENCY], (4 + at[1]) * NS_US, 1);
    set(v, "throughput", at[0] ? 2.9e6 : 7e6);
}

Test(plot_cps, a_stack_has_its_metrics_as_series)
{
    const char *out = "/nonexistent/x.svg";
    char store[160];

    strcpy(store, store_of(pins, 2, fill_pins));
    expect_refused(2, "latency_mean_us and throughput_per_s do not",
                   PLOT("stack", store, "-o", out, "--metric", "latency_mean_us,throughput"));
    expect_refused(2, "no --series",
                   PLOT("cps-breakdown", store, "-o", out, "--series", "workload"));
    expect_refused(2, "no ratios",
                   PLOT("cps-breakdown", store, "-o", out, "--relative-to", "pin=node"));
    expect_refused(2, "has no value 'guest.policy=bare'", PLOT("gain", store, "-o", out));
    need_gnuplot();
    draw("cps-breakdown", store, NULL, NULL);
    expect_number("\"vms.test.workload\",\"metric\",\"vms.test.pin\",value,ci95,n\n");
    expect_number("\"two\",\"lock1_per_op_us\",\"other socket\",2,0,2\n");
    expect_number("\"two\",\"latency_mean_us\",\"other socket\",5,0,2\n");
    expect_picture(">inode's lock<");
    expect_picture(">the rest<");
    expect_picture(">time per write (\xc2\xb5s)<");
    draw("stack", store, "--metric", "lock2_per_op_us,latency_mean_us");
    expect_picture(">lock2_per_op_us<");
    expect_picture(">latency mean (\xc2\xb5s)<");
}

Test(plot_cps, published_distances)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(pins, 2, fill_pins));
    draw("cps-distance", store, "--filter", "workload=one");
    expect_picture(">7.08 M<");
    expect_picture(">2.97 M<");
    expect_picture("<text>published</text>");
    draw("cps-distance", store, "--metric", "latency_mean_us");
    expect_text(fake_path("made.svg"), "<text>published</text>", false);
}

static const struct axis benchmarks[] = {
    {"vms.stress.workload", {"alone", "beside stress"}},
    {"vms.test.workload", {"dwom", "mrdm"}},
    {"vms.test.guest.threads", {"4", "128"}},
    {"vms.test.guest.policy", {"bare", "preempted-bit", "cps"}},
};

static void fill_benchmarks(struct run_values *v, const int *at, int k)
{
    const double bare = 1000 * (at[1] + 1) * (1 + k / 10.0);

    set(v, "throughput", at[3] == 0 ? bare : at[3] == 1 ? 0.34 * bare : 1.01 * bare);
    set(v, "barriers_per_s", 10);
}

Test(plot_cps, gains)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(benchmarks, 4, fill_benchmarks));
    draw("cps-group", store, NULL, NULL);
    expect_picture(">alone, 4 threads<");
    expect_picture(">beside stress, 128 threads<");
    expect_picture(">published +62.4, +140 %<");
    expect_number("\"beside stress, 128\",\"preempted-bit\",\"mrdm\",0.34");
    expect_text(fake_path("made.csv"), "\"bare\"", false);
    draw("cps-gain", store, "--filter", "threads=4");
    expect_picture(">alone<");
    expect_picture(">published +59, +103 %<");
    draw("gain", store, "--filter", "threads=4");
    expect_text(fake_path("made.svg"), "published", false);
    draw("cps-threads", store, "--filter", "vms.test.workload=dwom");
    expect_picture(">beside stress<");
    expect_text(fake_path("made.gp"), "LOGX = 1", true);
    draw("cps-group", store, "--metric", "barriers_per_s");
    expect_picture(">barriers / bare<");
}

static const struct axis losing[] = {{"vms.test.workload", {"dwom", "mrdm"}},
                                     {"vms.test.guest.policy", {"bare", "preempted-bit", "cps"}}};

static void fill_losing(struct run_values *v, const int *at, int k)
{
    const int place[] = {0, at[0], 0, at[1]};

    fill_benchmarks(v, place, k);
}

Test(plot_cps, close_to_one)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(losing, 2, fill_losing));
    draw("cps-lose", store, NULL, NULL);
    expect_picture(">0.34<"); /* beyond the axis */
    expect_picture(">0.95<"); /* 1 +- 10 % */
    expect_picture(">bare \xc2\xb1 2 %<");
    draw("cps-lose", store, "--filter", "policy=cps");
    expect_picture(">0.98<"); /* 1 +- 3 % */
}

static const struct axis moves[] = {{"vms.test.workload", {"dwom", "mrdm"}},
                                    {"host.shuffle", {"0s", "1s", "100ms", "1ms"}},
                                    {"channel.delay", {"0us", "10ms"}},
                                    {"vms.test.guest.policy", {"bare", "cache-group"}}};

static void fill_moves(struct run_values *v, const int *at, int k)
{
    (void)k;
    set(v, "throughput", 100 * (at[3] + 1));
    set(v, "channel_age_mean_us", at[3] ? 10.0 * (at[1] + 1) : NAN);
}

Test(plot_cps, moves_per_second)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(moves, 4, fill_moves));
    draw("cps-staleness", store, NULL, NULL);
    /* 1, 10 and 1000 moves in a second; never stands left of them. */
    expect_picture(">0<");
    expect_picture(">10<");
    expect_picture(">1000<");
    expect_picture(">moves per running vCPU and second<");
    expect_number("\"dwom\",\"10ms\",\"1ms\",2,0,2\n");
    draw("cps-age", store, "--filter", "policy=cache-group");
    expect_picture(">mean age at read (\xc2\xb5s)<");
}

Test(plot_cps, thresholds)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(delays, 3, fill_delays));
    draw("cps-threshold", store, NULL, NULL);
    expect_picture(">threshold 1<");
    expect_picture(">publication delay (ms)<");
    expect_picture(">throughput / bare<");
    expect_number("\"one\",\"1\",\"10ms\",0.2");
}

static const struct axis neighbours[] = {
    {"vms.test.workload", {"barnes", "radix"}},
    {"vms.stress.workload", {"alone", "beside stress"}},
    {"host.wakeup-preemption", {"on", "off"}},
    {"vms.test.guest.policy", {"bare", "cps-load"}},
};

static void fill_neighbours(struct run_values *v, const int *at, int k)
{
    (void)k;
    set(v, "throughput", at[3] == 0 ? 100 : at[1] ? 800 : 50);
}

Test(plot_cps, a_map_of_ratios_is_white_at_one)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(neighbours, 4, fill_neighbours));
    draw("cps-map", store, NULL, NULL);
    expect_picture(">wakeup-preemption = on<");
    expect_picture(">8.00<");
    expect_picture(">0.50<");
    expect_picture(">1/8<"); /* 8 is as far from 1 as this */
    expect_picture(">throughput / bare<");
}

static const struct axis races[] = {{"vms.vm.guest.balance", {"on", "off"}},
                                    {"vms.vm.count", {"2", "8"}},
                                    {"vms.vm.guest.policy", {"bare", "idle-bit"}}};

static void fill_races(struct run_values *v, const int *at, int k)
{
    (void)k;
    set(v, "fairness_jain", at[2] ? 0.8 : 1);
    set(v, "barriers_per_s", 100 * (at[1] + 1));
}

Test(plot_cps, races)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(races, 3, fill_races));
    draw("cps-race", store, NULL, NULL);
    expect_picture(">balance = off<");
    expect_picture(">Jain index<");
}

static const struct axis machines[] = {
    {"vms.test.workload", {"ocean-ncp"}},
    {"machine", {"bare hardware", "VM"}},
    {"vms.test.guest.threads", {"4", "128"}},
};

Test(plot_cps, motivation)
{
    char store[160];

    need_gnuplot();
    strcpy(store, store_of(machines, 3, fill_races));
    draw("cps-motivation", store, NULL, NULL);
    expect_picture(">bare hardware<");
    expect_picture(">execution speed, barriers (1/s)<");
}
