/* SPDX-License-Identifier: MIT */
/* The figure gantt: pictures of windows, titles from what scenarios differ in, and refusals of what is none. */
#include "plot_fake.h"

#include "study/gantt.h"

TestSuite(plot_gantt, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

#define COLUMNS_LINE "lane,pcpu,vm,vcpu,to_vcpu,state,task,from_ns,to_ns\n"
#define ORIGIN(scenario)                                                                           \
    "# {\"schema\":\"tandem.gantt/1\",\"from_ns\":\"1000000000\",\"to_ns\":\"1000010000\","        \
    "\"pcpus\":2,\"vms\":[{\"name\":\"a_{1}\",\"vcpus\":2},{\"name\":\"b '`x`' %d\",\"vcpus\":1}]" \
    ",\"version\":\"0.1.0\",\"scenario_file\":\"x.yaml\",\"hash\":\"abc\",\"seed\":\"7\","         \
    "\"scenario\":" scenario "}\n" COLUMNS_LINE

static const char rows[] = "pcpu,0,a_{1},0,,vcpu,,1000000000,1000004000\n"
                           "pcpu,0,b '`x`' %d,0,,vcpu,,1000004000,1000010000\n"
                           "pcpu,1,,,,idle,,1000000000,1000005000\n"
                           "pcpu,1,a_{1},1,,vcpu,,1000005000,1000010000\n"
                           "vcpu,,a_{1},0,,task,w 3,1000000000,1000004000\n"
                           "vcpu,,a_{1},0,,steal,w 3,1000004000,1000010000\n"
                           "vcpu,,a_{1},1,,unseen wait,,1000000000,1000005000\n"
                           "vcpu,,a_{1},1,,lock spin,\"w, 4\",1000005000,1000009990\n"
                           "vcpu,,a_{1},1,,task,\"w, 4\",1000009990,1000009999\n"
                           "vcpu,,a_{1},1,,task,\"w, 4\",1000009999,1000010000\n"
                           "vcpu,,b '`x`' %d,0,,idle,,1000000000,1000003000\n"
                           "vcpu,,b '`x`' %d,0,,held idle,,1000003000,1000010000\n"
                           "wake,,a_{1},0,1,,\"w, 4\",1000003999,1000005000\n";

static const char *lanes(const char *name, const char *scenario_policy, const char *text)
{
    static char all[6000];

    snprintf(all, sizeof(all), "%s%s", scenario_policy, text);
    return fake_file(name, all);
}

#define BARE "{\"host\":{\"tick\":250},\"vms\":[{\"guest\":{\"policy\":{\"bare\":{}}}}]}"
#define CPS  "{\"host\":{\"tick\":250},\"vms\":[{\"guest\":{\"policy\":{\"cps-load\":{\"x\":4}}}}]}"

Test(plot_gantt, pictures_in_every_format)
{
    static const char *const endings[] = {"svg", "pdf", "png"};
    static const char *const heads[] = {"<?xml", "%PDF", "\x89PNG"};
    char a[160], b[160], file[160];
    size_t size, again;

    need_gnuplot();
    strcpy(a, lanes("a.csv", ORIGIN(BARE), rows));
    strcpy(b, lanes("b.csv", ORIGIN(CPS), rows));
    for (int i = 0; i < 3; i++) {
        char *data;

        snprintf(file, sizeof(file), "%s/x.%s", fake_dir, endings[i]);
        cr_expect(PLOT("gantt", a, b, "-o", file) == 0, "%s", file);
        data = fake_read(file, &size);
        cr_expect(size > 3000 && memcmp(data, heads[i], 4) == 0, "%s", file);
        free(data);
    }
    strcpy(file, fake_path("x.svg"));
    cr_assert(PLOT("gantt", a, b, "-o", file, "--title", "<_t> 'x' ^2") == 0);
    expect_text(file, "a_{1}", true);
    expect_text(file, "b '`x`' %d", true);
    expect_text(file, "&lt;_t> 'x' ^2", true);
    expect_text(file, "policy: bare", true);
    expect_text(file, "policy: cps-load", true);
    expect_text(file, "steal", true);
    expect_text(file, "held idle", true);
    expect_text(file, "idle spin", false); /* there is none */
    expect_text(file, "time from 1 s on (\xc2\xb5s)", true);
    expect_text(file, "\"seeds\":[\"7\"],\"scenario\":\"abc\"", true);
    expect_text(file, "\"from_ns\":[\"1000000000\"]", true);
    expect_text(file, "2 spans below 6 ns not drawn", true);
    /* The same bytes again. */
    char *first = fake_read(file, &size), *second;

    cr_assert(PLOT("gantt", a, b, "-o", file, "--title", "<_t> 'x' ^2") == 0);
    second = fake_read(file, &again);
    cr_expect(size == again && memcmp(first, second, size) == 0);
    free(first);
    free(second);
    cr_expect(PLOT("gantt", a, b, "-o", file, "--size", "one") == 0);
}

Test(plot_gantt, filters_and_data)
{
    char a[160], data[160], out[160];

    need_gnuplot();
    strcpy(a, lanes("a.csv", ORIGIN(BARE), rows));
    strcpy(data, fake_path("d.csv"));
    strcpy(out, fake_path("x.svg"));
    cr_assert(PLOT("gantt", a, "-o", out, "--filter", "vm=a_{1}", "--filter", "pcpu=1", "--data",
                   data) == 0);
    expect_text(data, "a,pcpu,1,a_{1},1,vcpu,,1000005000,1000010000\n", true);
    expect_text(data, "a,vcpu,,a_{1},1,lock spin,\"w, 4\",1000005000,1000009990\n", true);
    expect_text(data, "a,pcpu,0", false);
    expect_text(data, "b '", false);
    expect_text(out, "policy", false); /* one run needs no title */
}

Test(plot_gantt, an_empty_window_says_so)
{
    char a[160], out[160];

    need_gnuplot();
    strcpy(a, lanes("a.csv", ORIGIN(BARE),
                    "pcpu,0,,,,idle,,1000000000,1000010000\n"
                    "vcpu,,a_{1},0,,idle,,1000000000,1000010000\n"));
    strcpy(out, fake_path("x.svg"));
    cr_assert(PLOT("gantt", a, "-o", out) == 0);
    expect_text(out, "nothing runs in this window", true);
    cr_assert(PLOT("gantt", lanes("a.csv", ORIGIN(BARE), rows), "-o", out) == 0);
    expect_text(out, "nothing runs", false);
}

/* Of names or values; of too many differences, or none, the files' names. */
Test(plot_gantt, titles)
{
    static const struct {
        const char *a, *b, *title[2];
    } want[] = {
        {BARE, CPS, {"policy: bare", "policy: cps-load"}},
        {BARE, BARE, {"a", "b"}},
        {"{\"host\":{\"tick\":250,\"p\":{\"s\":1}}}",
         "{\"host\":{\"tick\":100,\"p\":{\"s\":2}}}",
         {"tick: 250, s: 1", "tick: 100, s: 2"}},
        {"{\"a\":1,\"b\":1,\"c\":1,\"d\":1}", "{\"a\":2,\"b\":2,\"c\":2,\"d\":2}", {"a", "b"}},
        {"{\"l\":[1,2]}", "{\"l\":[1,3]}", {"l: 2", "l: 3"}},
        {"{\"l\":[1,2]}", "{\"l\":[1]}", {"l: [1,2]", "l: [1]"}},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct gantt_chart g = {.n = 2};

        for (int k = 0; k < 2; k++) {
            char text[600];

            snprintf(text, sizeof(text), "{\"scenario\":%s}", k ? want[i].b : want[i].a);
            g.run[k].origin = cJSON_Parse(text);
            g.run[k].name = strdup(k ? "b" : "a");
        }
        gantt_titles(&g);
        cr_expect_str_eq(g.run[0].title, want[i].title[0]);
        cr_expect_str_eq(g.run[1].title, want[i].title[1]);
        gantt_chart_free(&g);
    }
}

Test(plot_gantt, refusals)
{
    static const char *const bad[] = {"pcpu,2,,,,idle,,1000000000,1000010000\n",
                                      "pcpu,0,c,0,,vcpu,,1000000000,1000010000\n",
                                      "pcpu,0,a_{1},2,,vcpu,,1000000000,1000010000\n",
                                      "pcpu,0,,,,busy,,1000000000,1000010000\n",
                                      "vcpu,,a_{1},0,,stolen,,1000000000,1000010000\n",
                                      "vcpu,,a_{1},0,,steal,,999999999,1000010000\n",
                                      "vcpu,,a_{1},0,,steal,,1000000000,1000010001\n",
                                      "vcpu,,a_{1},0,,steal,,1000000005,1000000004\n",
                                      "vcpu,,a_{1},0,,steal,,1000000000\n",
                                      "wake,,a_{1},0,2,,w,1000000000,1000000001\n",
                                      "thread,,a_{1},0,,steal,,1000000000,1000010000\n",
                                      "vcpu,,a_{1},0,,steal,,-1,1000010000\n",
                                      "vcpu,,a_{1},,,steal,,1000000000,1000010000\n",
                                      "vcpu,,a_{1},0,,steal,,1000000000,1e9\n"};
    char a[160], out[160];

    strcpy(out, fake_path("y.svg"));
    strcpy(a, lanes("a.csv", ORIGIN(BARE), rows));
    expect_refused(2, "needs one or two files", PLOT("gantt", "-o", out));
    expect_refused(2, "needs one or two files", PLOT("gantt", a, a, a, "-o", out));
    expect_refused(2, "needs -o", PLOT("gantt", a));
    expect_refused(2, "'--x' is not for gantt", PLOT("gantt", a, "-o", out, "--x", "vm"));
    expect_refused(2, "knows vm=NAME and pcpu=LIST only",
                   PLOT("gantt", a, "-o", out, "--filter", "policy=bare"));
    expect_refused(2, "a: no VM 'c' in it; there are: a_{1}, b",
                   PLOT("gantt", a, "-o", out, "--filter", "vm=c"));
    expect_refused(2, "are no pCPUs of its 2", PLOT("gantt", a, "-o", out, "--filter", "pcpu=0-2"));
    expect_refused(2, "did you mean 'gantt'?", PLOT("gant", a, "-o", out));
    expect_refused(3, "No such file", PLOT("gantt", "/nonexistent.csv", "-o", out));
    expect_refused(2, ":1: this is not what", PLOT("gantt", fake_file("e.csv", ""), "-o", out));
    expect_refused(2, ":1: this is not what",
                   PLOT("gantt", fake_file("e.csv", "time_s,vm\n"), "-o", out));
    expect_refused(
        2, ":1: this is not what",
        PLOT("gantt", fake_file("e.csv", "# {\"schema\":\"tandem.gantt/2\"}\n"), "-o", out));
    expect_refused(2, ":2: this is not what",
                   PLOT("gantt",
                        fake_file("e.csv", "# {\"schema\":\"tandem.gantt/1\",\"from_ns\":\"0\","
                                           "\"to_ns\":\"9\",\"pcpus\":1,\"vms\":[{\"name\":"
                                           "\"a\",\"vcpus\":1}]}\nlane\n"),
                        "-o", out));
    expect_refused(2, "2 pCPUs and 90 vCPUs are too many lanes",
                   PLOT("gantt",
                        fake_file("e.csv", "# {\"schema\":\"tandem.gantt/1\",\"from_ns\":\"0\","
                                           "\"to_ns\":\"9\",\"pcpus\":2,\"vms\":[{\"name\":"
                                           "\"a\",\"vcpus\":90}]}\n" COLUMNS_LINE),
                        "-o", out));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *file = lanes("e.csv", ORIGIN(BARE), bad[i]);

        expect_refused(2, "e.csv:3: this is not what 'tandem run --gantt' writes",
                       PLOT("gantt", file, "-o", out));
    }
    cr_expect(access(out, F_OK) != 0, "a picture was begun");
}
