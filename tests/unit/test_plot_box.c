/* SPDX-License-Identifier: MIT */
/* Boxes, maps on a logarithmic scale, the list of figures, and metrics without data. */
#include <math.h>

#include "plot_fake.h"
#include "study/plot_box.h"

TestSuite(plot_box, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

static void expect_box(const double *value, size_t n, const double *want)
{
    double copy[32];
    struct plot_box b;

    memcpy(copy, value, n * sizeof(*copy));
    box_of(&b, copy, n);
    const double got[] = {b.low, b.q1, b.median, b.q3, b.high};

    for (int i = 0; i < 5; i++)
        cr_expect_float_eq(got[i], want[i], 1e-12, "%zu values, number %d: %g", n, i, got[i]);
}

/* Quartiles of 1..n by the usual interpolation are 1 + p (n - 1). */
Test(plot_box, quartiles_and_whiskers)
{
    double value[21];

    for (size_t n = 1; n <= 20; n++) {
        const double last = (double)n, span = last - 1;

        for (size_t i = 0; i < n; i++)
            value[i] = (double)(n - i);
        expect_box(value, n, (double[]){1, 1 + 0.25 * span, 1 + 0.5 * span, 1 + 0.75 * span, last});
    }
    /* 1..9 and one far away: quartiles 3.25 and 7.75, whiskers reach to -3.5 and 14.5. */
    for (int i = 0; i < 9; i++)
        value[i] = i + 1;
    value[9] = 14.6;
    expect_box(value, 10, (double[]){1, 3.25, 5.5, 7.75, 9});
    value[9] = 14.4;
    expect_box(value, 10, (double[]){1, 3.25, 5.5, 7.75, 14.4});
}

/* policy x rate, seven runs of 100 * (rate + 1) + k^2, twice that with the second policy. */
static const char *make_store(void)
{
    static const char *const policy[] = {"bare", "other"};
    struct store_error err = {0};
    struct store *s = store_open(fake_path("box.db"), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int n = 0; n < 6; n++) {
        char hash[33], rate[16];
        cJSON *o = cJSON_CreateObject();

        snprintf(rate, sizeof(rate), "%d", n / 2 + 1);
        cJSON_AddStringToObject(o, "rate", rate);
        cJSON_AddStringToObject(o, "vms.0.guest.policy", policy[n % 2]);
        put_point(s, o, n, hash);
        for (int k = 0; k < 7; k++) {
            struct run_values *v = new_run(k);

            *run_value(v, 0, METRIC_THROUGHPUT) = (100 * (n / 2 + 1) + k * k) * (n % 2 + 1);
            *run_value(v, 0, METRIC_STEAL_DEMAND) = pow(10, n / 2 - 2);
            store_run(s, hash, v);
        }
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    return fake_path("box.db");
}

Test(plot_box, numbers_in_their_places)
{
    char store[160], svg[160], csv[160], script[160];

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(svg, fake_path("b.svg"));
    strcpy(csv, fake_path("b.csv"));
    strcpy(script, fake_path("b.gp"));
    cr_assert(PLOT("box", store, "-o", svg, "--data", csv, "--script", script, "--x", "rate") == 0);
    expect_text(csv,
                "\"vms.0.guest.policy\",\"rate\",throughput_per_s_median,q1,q3,whisker_low,"
                "whisker_high,n,dots\n",
                true);
    /* 100 + 0, 1, 4, 9, 16, 25, 36: quartiles 2.5, 9, 20.5; the whisker reaches 47.5. */
    expect_text(csv, "\"bare\",\"1\",109,102.5,120.5,100,136,7,\"100 101 104 109 116 125 136\"\n",
                true);
    expect_text(csv, "\"other\",\"3\",618,605,641,600,672,7,", true);
    expect_text(svg, ">median, quartiles, whiskers, n = 7<", true);
    expect_text(script, "\n1 109 102.5 120.5 100 136 1\n", true);
    /* Paired: the ratio has no spread. */
    cr_assert(PLOT("box", store, "-o", svg, "--data", csv, "--x", "rate", "--relative-to",
                   "policy=bare") == 0);
    expect_text(csv, "\"2\",2,2,2,2,2,7,\"2 2 2 2 2 2 2\"\n", true);
    expect_text(svg, ">throughput / bare<", true);
    cr_assert(PLOT("box", store, "-o", svg, "--x", "rate", "--logy") == 0);
}

/* 0.01, 0.1 and 1 are evenly spread colours; an interval has no part in the scale. */
Test(plot_box, a_map_may_be_logarithmic)
{
    char store[160], svg[160], script[160];

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(svg, fake_path("m.svg"));
    strcpy(script, fake_path("m.gp"));
    cr_assert(PLOT("map", store, "-o", svg, "--x", "rate", "--metric", "steal_of_demand_ratio",
                   "--logy", "--script", script) == 0);
    expect_text(svg, ">0.01<", true);
    expect_text(svg, ">0.05<", true);
    expect_text(svg, "fill = \"rgb(0, 34, 78)\"", false);
    expect_text(script, "LOGY = 1", true);
    cr_assert(PLOT("map", store, "-o", svg, "--x", "rate", "--script", script) == 0);
    expect_text(script, "VMAX[1] = 626\n", true); /* the largest mean, 2 * (300 + 13) */
}

Test(plot_box, every_kind_says_that_there_is_no_data)
{
    static const char *const kinds[][3] = {
        {"lines", "--metric", "energy_j"},     {"bars", "--metric", "energy_j"},
        {"box", "--metric", "energy_j"},       {"map", "--metric", "energy_j"},
        {"cdf", "--metric", "latency_p99_us"}, {"stack", "--metric", "energy_j,energy_j"}};
    char store[160], svg[160];

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(svg, fake_path("n.svg"));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        cr_assert(PLOT(kinds[i][0], store, "-o", svg, kinds[i][1], kinds[i][2], "--filter",
                       "policy=bare") == 0);
        expect_text(svg, ">no data for ", true);
        expect_text(svg, i == 4 ? "latency_p99_us<" : "energy_j<", true);
    }
}

Test(plot_box, the_list_tells_kind_and_needs)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert(out);
    figures_list(out);
    fclose(out);
    for (size_t i = 0; i < nfigures; i++) {
        char line[300];

        snprintf(line, sizeof(line), "%-17s ", figures[i].name);
        const char *at = strstr(text, line);

        cr_expect(at && (at == text || at[-1] == '\n') && strstr(at, figures[i].summary), "%s",
                  line);
    }
    cr_expect(strstr(text, "\nidle-slice        lines "));
    cr_expect(strstr(text, "; needs an axis slice\n"));
    cr_expect(
        strstr(text, "; needs an axis neighbour.idle or neighbor.idle or idle, the value hlt\n"));
    cr_expect(strstr(text, "; needs points with guest.policy=bare\n"));
    cr_expect(strstr(text, "\nscoreboard        scoreboard  "));
    free(text);
}
