/* SPDX-License-Identifier: MIT */
/* The figure steal-timeline: pictures of series, and refusals of what is none. */
#include "plot_fake.h"

#include "study/course.h"

TestSuite(plot_course, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

#define HEAD "time_s,vm,preferred_vcpus,busy_vcpus,steal_vcpus,throughput_per_s,idle_pcpus\n"

static const char *series(const char *rows)
{
    char text[2000];

    snprintf(text, sizeof(text), HEAD "%s", rows);
    return fake_file("s.csv", text);
}

static const char two[] = "0.1,a_{1},4.000,3.5,0.25,12000.5,\n"
                          "0.1,\"b, \"\"`x`\"\"\",,0,0,0,\n"
                          "0.1,,,,,,1.500\n"
                          "0.2,a_{1},3,3,0,500,\n"
                          "0.2,\"b, \"\"`x`\"\"\",,1,1.5,0,\n"
                          "0.2,,,,,,0\n";

Test(plot_course, pictures_in_every_format)
{
    static const char *const endings[] = {"svg", "pdf", "png"};
    static const char *const heads[] = {"<?xml", "%PDF", "\x89PNG"};
    char csv[160];

    need_gnuplot();
    strcpy(csv, series(two));
    for (int i = 0; i < 3; i++) {
        char file[160];
        size_t size;
        char *data;

        snprintf(file, sizeof(file), "%s/x.%s", fake_dir, endings[i]);
        cr_expect(PLOT("steal-timeline", csv, "-o", file) == 0, "%s", file);
        data = fake_read(file, &size);
        cr_expect(size > 3000 && memcmp(data, heads[i], 4) == 0, "%s", file);
        free(data);
    }
    cr_assert(PLOT("steal-timeline", csv, "-o", fake_path("x.svg"), "--title", "<_t> 'x' ^2") == 0);
    expect_text(fake_path("x.svg"), "a_{1}", true);
    expect_text(fake_path("x.svg"), "b, \"`x`\"", true);
    expect_text(fake_path("x.svg"), "&lt;_t> 'x' ^2", true);
    expect_text(fake_path("x.svg"), "operations per s (k)", true);
    expect_text(fake_path("x.svg"), "tandem.figure/1", true);
    /* One VM of them; it has no set, and that is said. */
    cr_assert(PLOT("steal-timeline", csv, "-o", fake_path("x.svg"), "--filter", "vm=b, \"`x`\"",
                   "--size", "one") == 0);
    expect_text(fake_path("x.svg"), "a_{1}", false);
    expect_text(fake_path("x.svg"), "no data for preferred_vcpus", true);
}

Test(plot_course, numbers_in_their_places)
{
    struct course c = {0};
    struct store_error err = {0};
    char *script = NULL;
    size_t size;
    FILE *out;

    cr_assert(course_read(&c, series(two), &err) == 0, "%s", err.text);
    cr_assert(c.nvms == 2 && c.n == 6);
    cr_expect(c.row[0].vm == 0 && c.row[1].vm == 1 && c.row[2].vm == 2);
    cr_expect(c.row[4].value[COURSE_STEAL] == 1.5 && c.row[2].value[COURSE_IDLE] == 1.5);
    cr_expect(c.row[1].value[COURSE_PREFERRED] != c.row[1].value[COURSE_PREFERRED]);
    out = open_memstream(&script, &size);
    cr_assert(course_script(out, &c, NULL, true, PICTURE_SVG, "plots") == 0);
    fclose(out);
    /* A step's value holds from the end of the one before: the first one from 0 on. */
    cr_expect(strstr(script,
                     "$data << END_OF_DATA\n0 4 3.5 0.25 12000.5 NaN\n"
                     "0.1 4 3.5 0.25 12000.5 NaN\n0.2 3 3 0 500 NaN\n\n\n0 NaN 0 0 0 NaN\n"),
              "%s", script);
    cr_expect(strstr(script, "\n0 NaN NaN NaN NaN 1.5\n0.1 NaN NaN NaN NaN 1.5\n"
                             "0.2 NaN NaN NaN NaN 0\n\n\nEND_OF_DATA\n"));
    free(script);
    course_free(&c);
}

Test(plot_course, refusals)
{
    const char *out = fake_path("y.svg");
    char keep[160], csv[160], many[2000] = "";

    strcpy(keep, out);
    strcpy(csv, series(two));
    expect_refused(2, "needs one file", PLOT("steal-timeline", "-o", keep));
    expect_refused(2, "needs one file", PLOT("steal-timeline", csv, csv, "-o", keep));
    expect_refused(2, "needs -o", PLOT("steal-timeline", csv));
    expect_refused(2, "'--x' is not for", PLOT("steal-timeline", csv, "-o", keep, "--x", "vm"));
    expect_refused(2, "knows vm=NAME only",
                   PLOT("steal-timeline", csv, "-o", keep, "--filter", "policy=bare"));
    expect_refused(2, "no VM 'c' in it; there are: a_{1}, b",
                   PLOT("steal-timeline", csv, "-o", keep, "--filter", "vm=c"));
    expect_refused(2, "did you mean 'steal-timeline'?", PLOT("steal-timelin", csv, "-o", keep));
    expect_refused(3, "No such file", PLOT("steal-timeline", "/nonexistent.csv", "-o", keep));
    expect_refused(2, "no steps in it", PLOT("steal-timeline", series(""), "-o", keep));
    expect_refused(2, "s.csv:3: this is not what",
                   PLOT("steal-timeline", series("0.1,,,,,,1\n0.2,,,,,,x\n"), "-o", keep));
    expect_refused(2, ":2: this is not", PLOT("steal-timeline", series("0.1,,,,,1\n"), "-o", keep));
    expect_refused(2, ":2: this is not",
                   PLOT("steal-timeline", series("0.1,,,,,,1,\n"), "-o", keep));
    expect_refused(2, ":2: this is not", PLOT("steal-timeline", series(",,,,,,1\n"), "-o", keep));
    expect_refused(2, ":2: this is not",
                   PLOT("steal-timeline", series("1,\"a,,,,,1\n"), "-o", keep));
    expect_refused(2, ":1: this is not",
                   PLOT("steal-timeline", fake_file("r.json", "{\"schema\": 1}"), "-o", keep));
    for (int i = 0; i < 11; i++)
        sprintf(many + strlen(many), "0.1,vm%d,1,1,1,1,\n", i);
    expect_refused(2, "11 VMs are too many", PLOT("steal-timeline", series(many), "-o", keep));
}
