/* SPDX-License-Identifier: MIT */
/* Figures: what lands where, texts as they are, where a picture says that it comes from. */
#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#include "plot_fake.h"
#include "study/plot_label.h"

TestSuite(plot, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

/* Texts that gnuplot, a shell or XML would like to read as something else. */
static const char *const workloads[] = {"vm_0", "a_b^c{d}", "5% it's \"x\" `>PWNED` & <b>"};
static const char *const policies[] = {"bare", "cps-load"};
static const char *const ratios[] = {"4", "1", "1.5"}; /* not in order of size */

static void put_run(struct store *s, const char *hash, int w, int r, int p, int k)
{
    struct run_values *v = new_run(k);

    v->fingerprint = (uint64_t)(w * 1000 + r * 100 + p * 10 + k);
    *run_value(v, 0, METRIC_THROUGHPUT) =
        1000.0 * (w + 1) * (p + 1) / atof(ratios[r]) * (1 + k / 10.0);
    store_run(s, hash, v);
}

/* workload x oversubscription x policy, three replications. Backwards gives the same store in
 * another order of writing. */
static const char *make_store(const char *name, bool backwards)
{
    struct store_error err = {0};
    struct store *s = store_open(fake_path(name), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int n = 0; n < 18; n++) {
        const int i = backwards ? 17 - n : n;
        const int w = i / 6, r = i / 2 % 3, p = i % 2;
        char hash[33];
        cJSON *o = cJSON_CreateObject();

        cJSON_AddStringToObject(o, "vms.0.workload", workloads[w]);
        cJSON_AddStringToObject(o, "oversubscription", ratios[r]);
        cJSON_AddStringToObject(o, "vms.0.guest.policy", policies[p]);
        put_point(s, o, i, hash);
        for (int k = 0; k < 3; k++)
            put_run(s, hash, w, r, p, backwards ? 2 - k : k);
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    return fake_path(name);
}

static const char *const idles[] = {"hlt", "mwait-nop", "mwait-passthrough"};
static const char *const slices[] = {"0", "20us", "1ms"};

/* idle x slice, two replications, with values of several metrics and histograms. Replication k adds
 * k + 1 samples of 10 us and as many of 3 ms per slice, none with passthrough. */
static const char *make_idle_store(void)
{
    struct store_error err = {0};
    struct store *s = store_open(fake_path("idle.db"), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int n = 0; n < 9; n++) {
        cJSON *o = cJSON_CreateObject();
        char hash[33];

        cJSON_AddStringToObject(o, "vms.0.idle", idles[n / 3]);
        cJSON_AddStringToObject(o, "vms.0.idle.mwait-sched.slice", slices[n % 3]);
        put_point(s, o, n, hash);
        for (int k = 0; k < 2; k++) {
            struct run_values *v = new_run(k);
            const bool passthrough = n / 3 == 2;

            *run_value(v, 0, METRIC_EXITS_IDLE) = passthrough ? 0 : n / 3 ? 2e6 : 1500;
            *run_value(v, 0, METRIC_STEAL_DEMAND) = 0.1 * (n % 3 + 1) * (k + 1);
            hist_add_n(&v->hist[HIST_IDLE], 10 * NS_US, passthrough ? 0 : (uint64_t)(k + 1));
            hist_add_n(&v->hist[HIST_IDLE], 3 * NS_MS, passthrough ? 0 : (uint64_t)(n % 3));
            hist_add_n(&v->hist[HIST_LATENCY], 100 * (n % 3 + 1) * NS_US, 5);
            store_run(s, hash, v);
        }
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    return fake_path("idle.db");
}

Test(plot, texts_are_literal)
{
    char store[160], svg[160];

    need_gnuplot();
    strcpy(store, make_store("a.db", false));
    strcpy(svg, fake_path("a.svg"));
    cr_assert(PLOT("oversubscription", store, "-o", svg, "--title", "100 % of 'it' {x}_y \"z\"",
                   "--xlabel", "a^b `id` \\n") == 0);
    expect_text(svg, ">workload: vm_0<", true);
    expect_text(svg, ">workload: a_b^c{d}<", true);
    /* It would run into the next one, and so has two lines. */
    expect_text(svg, ">workload: 5% it's \"x\" `>PWNED`<", true);
    expect_text(svg, ">&amp; &lt;b><", true);
    expect_text(svg, ">100 % of 'it' {x}_y \"z\"<", true);
    cr_assert(PLOT("bars", store, "-o", fake_path("b.svg"), "--x", "workload") == 0);
    expect_text(fake_path("b.svg"), ">5% it's \"x\" `>PWNED` &amp; &lt;b><", true);
    expect_text(svg, ">a^b `id` \\n<", true);
    expect_text(svg, ">cps-load<", true);
    expect_text(svg, ">mean and 95 % interval, n = 3<", true);
    cr_expect(access("PWNED", F_OK) != 0 && access(fake_path("PWNED"), F_OK) != 0);
}

Test(plot, long_names_of_panels_are_folded)
{
    static const struct {
        const char *text, *out;
        size_t lines;
    } cases[] = {
        {"", "", 1},
        {"policy: bare", "policy: bare", 1},
        {"exactly 12 c", "exactly 12 c", 1},
        {"policy: preempted-bit", "policy:\npreempted-b\xe2\x80\xa6", 2},
        {"aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaa\naaaaa", 2},
        {"one two three four five six", "one two\nthree four \xe2\x80\xa6", 2},
        {"gr\xc3\xbc\xc3\xb1\xc3\xa9 \xe2\x89\xa4 12 \xc2\xb5s",
         "gr\xc3\xbc\xc3\xb1\xc3\xa9 \xe2\x89\xa4 12\n\xc2\xb5s", 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[LABEL_SIZE];

        cr_expect(label_fold(cases[i].text, 12, 2, out) == cases[i].lines, "%s", cases[i].text);
        cr_expect_str_eq(out, cases[i].out, "%s: %s", cases[i].text, out);
    }
}

/* Of 60 values of an axis those are named that have room for it. */
Test(plot, names_of_many_categories_do_not_touch)
{
    struct store_error err = {0};
    struct store *s = store_open(fake_path("many.db"), STORE_CREATE, &err);
    int named = 0;
    char text[24];

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int i = 0; i < 60; i++) {
        char hash[33];
        cJSON *o = cJSON_CreateObject();
        struct run_values *v = new_run(0);

        snprintf(text, sizeof(text), "case%02d", i);
        cJSON_AddStringToObject(o, "vms.0.workload", text);
        put_point(s, o, i, hash);
        *run_value(v, 0, METRIC_THROUGHPUT) = i + 1;
        store_run(s, hash, v);
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    cr_assert(PLOT("bars", fake_path("many.db"), "-o", fake_path("m.svg"), "--script",
                   fake_path("m.gp")) == 0);
    for (int i = 0; i < 60; i++) {
        size_t size;
        char *script = fake_read(fake_path("m.gp"), &size);

        snprintf(text, sizeof(text), "'case%02d'", i);
        named += strstr(script, text) != NULL;
        free(script);
    }
    cr_assert(PLOT("bars", fake_path("many.db"), "-o", fake_path("s.svg"), "--x", "file",
                   "--series", "workload") == 0);
    expect_text(fake_path("messages"), "60 values of the series share 10 colours", true);
    /* Two columns have about 60 em between their margins. */
    cr_expect(named == 30, "%d", named);
}

static uint32_t u32_at(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;

    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* Walks over all chunks with their checksums; the text of the tEXt one. */
static char *png_text(const char *data, size_t size)
{
    char *found = NULL;
    size_t at = 8;
    bool end = false;

    while (at + 12 <= size && !end) {
        const size_t n = u32_at(data + at);

        cr_assert(at + 12 + n <= size);
        cr_expect(u32_at(data + at + 8 + n) ==
                  crc32(0, (const unsigned char *)data + at + 4, (uInt)n + 4));
        if (memcmp(data + at + 4, "tEXt", 4) == 0 && strcmp(data + at + 8, "Description") == 0)
            found = strndup(data + at + 20, n - 12);
        end = memcmp(data + at + 4, "IEND", 4) == 0;
        at += 12 + n;
    }
    cr_expect(end && at == size);
    return found;
}

static void expect_origin(const char *json)
{
    cJSON *o = cJSON_Parse(json);
    const cJSON *scenarios = cJSON_GetObjectItem(o, "scenarios");

    cr_assert(o, "%s", json);
    cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(o, "schema")), "tandem.figure/1");
    cr_expect_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "versions"), 0)->valuestring, "1.0");
    cr_expect_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "seeds"), 0)->valuestring, "3");
    cr_expect(cJSON_GetArraySize(scenarios) == 18 &&
              strlen(cJSON_GetArrayItem(scenarios, 0)->valuestring) == 32);
    cJSON_Delete(o);
}

Test(plot, pictures_say_where_they_come_from)
{
    char store[160];
    size_t size;
    char *data, *text, *end;

    need_gnuplot();
    strcpy(store, make_store("a.db", false));
    cr_assert(PLOT("lines", store, "-o", fake_path("a.svg")) == 0);
    data = fake_read(fake_path("a.svg"), &size);
    text = strstr(data, "<metadata>");
    end = text ? strstr(text, "</metadata>") : NULL;
    cr_assert(text && end);
    *end = '\0';
    expect_origin(text + strlen("<metadata>"));
    free(data);
    cr_assert(PLOT("lines", store, "-o", fake_path("a.png")) == 0);
    data = fake_read(fake_path("a.png"), &size);
    text = png_text(data, size);
    cr_assert(text);
    expect_origin(text);
    free(text);
    free(data);
}

/* The figure from a store that may lack the axis that it would like. */
static int plot_any(const struct figure *f, const char *store, const char *file)
{
    const char *args[16] = {"plot", f->name, store, "-o", file, "--filter", "workload=vm_0"};
    int n = 7;

    if (f->kind != FIGURE_CDF) {
        args[n++] = "--x";
        args[n++] = "oversubscription";
    }
    if (f->relative_to_x || f->facts) {
        args[n++] = "--relative-to-x";
        args[n++] = "1.5";
    }
    return plot_command(args, n);
}

Test(plot, every_figure_in_every_format)
{
    static const char *const endings[] = {"svg", "pdf", "png"};
    static const char *const heads[] = {"<?xml", "%PDF", "\x89PNG"};
    char store[160];

    need_gnuplot();
    strcpy(store, make_store("a.db", false));
    for (size_t f = 0; f < nfigures; f++)
        for (int i = 0; i < (figures[f].template ? 1 : 3); i++) {
            char file[160];
            size_t size;
            char *data;

            snprintf(file, sizeof(file), "%s/%s.%s", fake_dir, figures[f].name, endings[i]);
            cr_expect(plot_any(&figures[f], store, file) == 0, "%s", file);
            data = fake_read(file, &size);
            cr_expect(size > 3000 && memcmp(data, heads[i], 4) == 0, "%s", file);
            free(data);
        }
}

Test(plot, same_data_same_picture)
{
    char store[160], file[2][160];
    char *data[2];
    size_t size[2];

    need_gnuplot();
    for (int i = 0; i < 2; i++) {
        strcpy(store, make_store("same.db", i == 1));
        strcpy(file[i], fake_path(i ? "b.svg" : "f.svg"));
        cr_assert(PLOT("oversubscription", store, "-o", file[i]) == 0);
        data[i] = fake_read(file[i], &size[i]);
        unlink(store);
    }
    cr_expect(size[0] == size[1] && memcmp(data[0], data[1], size[0]) == 0);
    free(data[0]);
    free(data[1]);
}

Test(plot, no_data_is_said)
{
    char store[160];

    need_gnuplot();
    strcpy(store, make_store("a.db", false));
    cr_expect(PLOT("bars", store, "--metric", "energy_j", "-o", fake_path("n.svg")) == 0);
    expect_text(fake_path("n.svg"), ">no data for energy_j<", true);
    cr_expect(PLOT("map", store, "--metric", "energy_j", "-o", fake_path("m.svg")) == 0);
    expect_text(fake_path("m.svg"), ">no data for energy_j<", true);
}

Test(plot, published_values)
{
    char store[160], svg[160];

    need_gnuplot();
    strcpy(store, make_idle_store());
    strcpy(svg, fake_path("e.svg"));
    cr_assert(PLOT("idle-exits", store, "-o", svg, "--filter", "slice=20us") == 0);
    expect_text(svg, ">published<", true);
    expect_text(svg, ">1,826,602<", true);
    expect_text(svg, ">1,773<", true);
    expect_text(svg, ">100k<", true); /* the axis is logarithmic */
    expect_text(svg, ">0<", true);    /* and passthrough's 0 is written */
    expect_text(svg, ">idle exits (1/s)<", true);
    /* Of another metric nothing was published. */
    cr_assert(PLOT("idle-exits", store, "-o", svg, "--filter", "slice=20us", "--metric",
                   "latency_p99_us") == 0);
    expect_text(svg, ">published<", false);
    expect_text(svg, ">1,773<", false);
    expect_text(svg, ">latency p99 (\xc2\xb5s)<", true);
}

Test(plot, a_panel_for_each_metric)
{
    char store[160], svg[160], csv[160];

    need_gnuplot();
    strcpy(store, make_idle_store());
    strcpy(svg, fake_path("m.svg"));
    strcpy(csv, fake_path("m.csv"));
    cr_assert(PLOT("lines", store, "-o", svg, "--metric", "p99,steal_of_demand_ratio", "--x",
                   "slice", "--data", csv) == 0);
    expect_text(svg, ">latency p99 (\xc2\xb5s)<", true);
    expect_text(svg, ">steal of demand ratio<", true);
    expect_text(csv, "\"metric\",\"vms.0.idle\",\"vms.0.idle.mwait-sched.slice\",value,ci95,n\n",
                true);
    expect_text(csv, "\"latency_p99_us\",\"hlt\",\"20us\",200", true);
    expect_text(csv, "\"steal_of_demand_ratio\",\"mwait-nop\",\"1ms\",0.45", true);
    /* Texts for the axes are split as the metrics are. */
    cr_assert(PLOT("lines", store, "-o", svg, "--metric", "p99,steal_of_demand_ratio", "--x",
                   "slice", "--ylabel", "a & b|c_d") == 0);
    expect_text(svg, ">a &amp; b<", true);
    expect_text(svg, ">c_d<", true);
}

Test(plot, a_zero_stands_apart_on_a_logarithmic_axis)
{
    char store[160], script[160];

    need_gnuplot();
    strcpy(store, make_idle_store());
    strcpy(script, fake_path("z.gp"));
    cr_assert(PLOT("idle-slice", store, "-o", fake_path("z.svg"), "--script", script, "--filter",
                   "vms.0.idle=hlt") == 0);
    /* 0.02 to 1 ms is a factor of 50; 50^0.15 = 1.798 is less than 1.8. */
    expect_text(script, "ZERO_APART = 1", true);
    expect_text(script, "XPOS[1] = 0.0111111111111; XTEXT[1] = '0'", true);
    expect_text(script, "XPOS[2] = 0.02; XTEXT[2] = '0.02'", true);
    expect_text(script, "XUNIT = 1000000;", true);
    expect_text(script, "\n0.0111111111111 100", true);
    expect_text(script, "1\n\n0.02 ", true); /* no line from the 0 to the others */
    expect_text(fake_path("z.svg"), ">published optimum<", true);
    cr_assert(PLOT("lines", store, "-o", fake_path("z.svg"), "--script", script, "--filter",
                   "vms.0.idle=hlt", "--x", "slice") == 0);
    expect_text(script, "ZERO_APART = 0", true);
    expect_text(script, "\n0.02 ", true);
}

Test(plot, distributions_merge_replications)
{
    char store[160], svg[160], csv[160];

    need_gnuplot();
    strcpy(store, make_idle_store());
    strcpy(svg, fake_path("d.svg"));
    strcpy(csv, fake_path("d.csv"));
    cr_assert(PLOT("idle-lengths", store, "-o", svg, "--data", csv) == 0);
    expect_text(csv, "idle_length_us,percent,\"vms.0.idle.mwait-sched.slice\",\"vms.0.idle\"\n",
                true);
    /* 1ms: 2 samples of 3 ms in each run beside 1 and 2 of 10 us. */
    expect_text(csv, "\n10,0,\"1ms\",\"hlt\"\n", true);
    expect_text(csv, ",42.857142857142854,\"1ms\",\"hlt\"\n3000,100,\"1ms\",\"hlt\"\n", true);
    expect_text(csv, "passthrough", false);
    expect_text(svg, ">idle_length_mean_us<", true);
    expect_text(svg, ">10 \xc2\xb5s<", true);
    expect_text(svg, ">1 ms<", true);
    expect_text(svg, ">all runs together, n = 2<", true);
}

static void make_grid(struct plot_grid *g, struct dataset *d, const char *store,
                      const struct plot_request *r)
{
    struct store_error err = {0};

    if (d->n == 0)
        cr_assert(dataset_add(d, store, &err) == 0, "%s", err.text);
    cr_assert(plot_grid_make(g, r, d, &err) == 0, "%s", err.text);
}

Test(plot, numbers_in_their_places)
{
    struct plot_request r = {.figure = figure_find("oversubscription")};
    struct dataset d = {0};
    struct plot_grid g;

    make_grid(&g, &d, make_store("a.db", false), &r);
    cr_expect_str_eq(g.x.path, "oversubscription");
    cr_expect_str_eq(g.series.path, "vms.0.guest.policy");
    cr_expect_str_eq(g.facet.path, "vms.0.workload");
    cr_expect(g.x.n == 3 && g.series.n == 2 && g.facet.n == 3 && g.with_data == 18);
    cr_expect(g.x.numeric && g.x.number[0] == 1 && g.x.number[1] == 1.5 && g.x.number[2] == 4);
    cr_expect_str_eq(g.facet.text[1], "a_b^c{d}");
    /* cps-load at 1.5 in the second workload: 1000 * 2 * 2 / 1.5, times 1, 1.1, 1.2. */
    const struct summary *s = &plot_cell(&g, 1, 1, 1)->sum;

    cr_expect_float_eq(s->mean, 1.1 * 4000 / 1.5, 1e-9);
    cr_expect_float_eq(s->ci95, 4.302652729911275 * 0.1 * 4000 / 1.5 / sqrt(3), 1e-5);
    plot_grid_free(&g);

    /* Paired: every run of cps-load has twice what bare has, so the ratio has no spread. */
    r.relative_to = "bare";
    make_grid(&g, &d, NULL, &r);
    for (size_t f = 0; f < 3; f++)
        for (size_t x = 0; x < 3; x++) {
            s = &plot_cell(&g, f, 1, x)->sum;
            cr_expect_float_eq(s->mean, 2, 1e-12);
            cr_expect_float_eq(s->ci95, 0, 1e-12);
            cr_expect_float_eq(plot_cell(&g, f, 0, x)->sum.mean, 1, 1e-12);
        }
    plot_grid_free(&g);

    /* Along x: every run of 1.5 has 1 / 1.5 of what 1 has. */
    r.relative_to = NULL;
    r.relative_to_x = "1.0";
    make_grid(&g, &d, NULL, &r);
    s = &plot_cell(&g, 2, 0, 1)->sum;
    cr_expect_float_eq(s->mean, 1 / 1.5, 1e-12);
    cr_expect_float_eq(s->ci95, 0, 1e-12);
    cr_expect_float_eq(plot_cell(&g, 2, 1, 0)->sum.mean, 1, 1e-12);
    plot_grid_free(&g);

    /* Two axes as one. */
    r = (struct plot_request){.figure = figure_find("lines"), .facet = "workload,policy"};
    make_grid(&g, &d, NULL, &r);
    cr_expect_str_eq(g.facet.path, "vms.0.workload,vms.0.guest.policy");
    cr_expect(g.facet.n == 6 && g.x.n == 3 && g.series.n == 1 && g.with_data == 18);
    cr_expect_str_eq(g.facet.text[3], "a_b^c{d}, cps-load");
    plot_grid_free(&g);

    /* Named by their ends, filtered by label and by a key of the scenario. */
    const struct plot_filter filter[] = {{"workload", "vm_0", 8}, {"vms.web.idle", "hlt", 12}};

    r = (struct plot_request){
        .figure = figure_find("lines"), .x = "policy", .filter = filter, .nfilters = 2};
    make_grid(&g, &d, NULL, &r);
    cr_expect_str_eq(g.x.path, "vms.0.guest.policy");
    cr_expect_str_eq(g.series.path, "oversubscription");
    cr_expect(!g.facet.path && g.facet.n == 1 && g.ncells == 6 && !g.x.numeric);
    plot_grid_free(&g);
    dataset_free(&d);
}

Test(plot, refusals)
{
    char store[160], json[160];
    struct stat st;

    strcpy(store, make_store("a.db", false));
    strcpy(json, fake_file("r.json", "{\"schema\": \"other/1\"}"));
    const char *out = "/nonexistent/x.svg";

    expect_refused(2, "did you mean 'lines'?", PLOT("lins", store, "-o", out));
    expect_refused(2, "must end in .svg", PLOT("lines", store, "-o", "x.jpg"));
    expect_refused(2, "needs -o", PLOT("lines", store));
    expect_refused(2, "did you mean 'throughput'?",
                   PLOT("lines", store, "-o", out, "--metric", "troughput"));
    expect_refused(2, "fix the axis with --filter vms.0.workload=VALUE",
                   PLOT("lines", store, "-o", out, "--x", "oversubscription", "--series", "policy",
                        "--facet", "machine"));
    expect_refused(2, "no 'polcy' in a", PLOT("lines", store, "-o", out, "--series", "polcy"));
    expect_refused(2, "values there are: 4, 1, 1.5",
                   PLOT("lines", store, "-o", out, "--filter", "oversubscription=3"));
    expect_refused(2, "did you mean 'bare'?",
                   PLOT("oversubscription", store, "-o", out, "--relative-to", "bar"));
    expect_refused(2, "--logx", PLOT("lines", store, "-o", out, "--x", "policy", "--logx"));
    expect_refused(2, "neither a result store nor a result file", PLOT("lines", json, "-o", out));
    expect_refused(3, "No such file", PLOT("lines", "/nonexistent/a.db", "-o", out));
    expect_refused(2, "use --series file",
                   PLOT("lines", store, store, "-o", out, "--x", "oversubscription", "--series",
                        "policy", "--facet", "workload"));
    expect_refused(
        2, "exclude each other",
        PLOT("lines", store, "-o", out, "--relative-to", "bare", "--relative-to-x", "1"));
    expect_refused(2, "the x axis oversubscription has no value '3'",
                   PLOT("oversubscription", store, "-o", out, "--relative-to-x", "3"));
    expect_refused(2, "--facet needs one metric",
                   PLOT("lines", store, "-o", out, "--metric", "p99,steal", "--facet", "workload"));
    expect_refused(2, "did you mean 'steal'?",
                   PLOT("lines", store, "-o", out, "--metric", "p99,stea"));
    expect_refused(2, "needs an axis 'slice'", PLOT("idle-slice", store, "-o", out));
    if (have_gnuplot())
        expect_refused(3, "No such file", PLOT("lines", store, "-o", out));
    char *path = strdup(getenv("PATH"));

    setenv("PATH", "/nonexistent", 1);
    expect_refused(3, "gnuplot is not installed", PLOT("lines", store, "-o", fake_path("x.svg")));
    cr_expect(stat(fake_path("x.svg"), &st) != 0);
    setenv("PATH", path, 1);
    free(path);
}

Test(plot, refusals_of_distributions)
{
    char store[160], json[160];
    const char *out = "/nonexistent/x.svg";

    strcpy(store, make_idle_store());
    strcpy(json, fake_file("r.json", "{\"schema\": \"tandem.result/1\"}"));
    expect_refused(2, "no distribution of steal_ratio is kept; there is one for: latency_mean_us",
                   PLOT("cdf", store, "-o", out, "--metric", "steal"));
    expect_text(fake_path("messages"), "idle_length_p99_us", true);
    expect_refused(2, "r is a result file, which has no histograms", PLOT("cdf", json, "-o", out));
    expect_refused(2, "no --x", PLOT("cdf", store, "-o", out, "--x", "slice"));
    expect_refused(2, "one metric", PLOT("cdf", store, "-o", out, "--metric", "p50,p99"));
    expect_refused(2, "no ratios", PLOT("cdf", store, "-o", out, "--relative-to", "hlt"));
    expect_refused(2, "'--logy' is for lines, bars, boxes and maps",
                   PLOT("cdf", store, "-o", out, "--logy"));
}
