/* SPDX-License-Identifier: MIT */
/* Picture files in every format: texts as they are, inside the picture, and where it comes from. */
#include <ctype.h>
#include <math.h>

#include "plot_fake.h"
#include "study/picture.h"

TestSuite(picture, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 120);

#ifndef TANDEM_SOURCE_DIR
#define TANDEM_SOURCE_DIR "."
#endif

/* Texts that gnuplot, LaTeX, a shell or XML would like to read as something else. */
static const char *const names[] = {"vm_0", "a_b^c{d}", "5% it's \"x\" `>PWNED`",
                                    "[1] {2} & <b> $x$",
                                    ("--\\n # ~ gr\xc3\xb6\xc3\x9f"
                                     "e")};
#define NNAMES 5
/* As LaTeX reads them. */
static const char *const tex[NNAMES] = {
    "vm\\_0", "a\\_b\\textasciicircum{}c\\{d\\}",
    "5\\% it\\texttt{\\char13}s \\texttt{\\char34}x\\texttt{\\char34} "
    "\\texttt{\\char18}\\textgreater{}PWNED\\texttt{\\char18}",
    "[1] \\{2\\} \\& \\textless{}b\\textgreater{} \\$x\\$",
    "-{}-{}\\textbackslash{}n \\# \\textasciitilde{} gr\xc3\xb6\xc3\x9f"
    "e"};
static const char *const longs[] = {"none", "machine.costs.lock_handover +50%",
                                    "machine.costs.lock_handover -50%",
                                    "machine.smt.busy_sibling +50%", "time under the lock -50%"};
#define NLONGS 5

/* name x vary, two runs each. */
static const char *make_store(void)
{
    struct store_error err = {0};
    struct store *s = store_open(fake_path("texts.db"), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    for (int n = 0; n < NNAMES * NLONGS; n++) {
        char hash[33];
        cJSON *o = cJSON_CreateObject();

        cJSON_AddStringToObject(o, "vms.0.workload", names[n / NLONGS]);
        cJSON_AddStringToObject(o, "vary", longs[n % NLONGS]);
        put_point(s, o, n, hash);
        for (int k = 0; k < 2; k++) {
            struct run_values *v = new_run(k);

            *run_value(v, 0, METRIC_THROUGHPUT) = 1000 + 100 * n + 10 * k;
            hist_add_n(&v->hist[HIST_LATENCY], 100 * NS_US, (uint64_t)(5 + n));
            store_run(s, hash, v);
        }
    }
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    return fake_path("texts.db");
}

static bool have(const char *program)
{
    char command[100];

    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* Output of a command; static, so one at a time. */
static char *output_of(const char *format, const char *arg)
{
    static char text[1 << 17];
    char command[400];
    FILE *in;

    snprintf(command, sizeof(command), format, arg);
    in = popen(command, "r");
    cr_assert(in);
    text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
    cr_expect(pclose(in) == 0, "%s", command);
    return text;
}

/* pdftotext breaks a text that is turned, or of several fonts, into lines. */
static void without_blanks(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            *to++ = *text;
    *to = '\0';
}

/* Draws with one name in the title, one in the legend and so on: all of them are somewhere. */
static void draw_names(const char *store, const char *file)
{
    cr_assert(PLOT("bars", store, "-o", file, "--x", "workload", "--series", "vary", "--filter",
                   "vary=none", "--title", names[2], "--xlabel", names[3], "--ylabel", names[4],
                   "--size", "two") == 0);
}

Test(picture, texts_are_literal_in_svg_and_pdf)
{
    static const char *const svg[NNAMES] = {">vm_0<", ">a_b^c{d}<", ">5% it's \"x\" `>PWNED`<",
                                            ">[1] {2} &amp; &lt;b> $x$<",
                                            (">--\\n # ~ gr\xc3\xb6\xc3\x9f"
                                             "e<")};
    char store[160], pdf[160];
    char *text;

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(pdf, fake_path("n.pdf"));
    draw_names(store, fake_path("n.svg"));
    for (int i = 0; i < NNAMES; i++)
        expect_text(fake_path("n.svg"), svg[i], true);
    draw_names(store, pdf);
    if (have("pdftotext")) {
        text = output_of("pdftotext -raw '%s' -", pdf);
        without_blanks(text);
        for (int i = 0; i < NNAMES; i++) {
            char name[100];

            strcpy(name, names[i]);
            without_blanks(name);
            cr_expect(strstr(text, name), "%s: no '%s' in %s", pdf, names[i], text);
        }
    }
    cr_expect(access("PWNED", F_OK) != 0);
}

/* Two texts of which an interpreter would make the same picture. */
static void expect_apart(const char *store, const char *one, const char *other)
{
    const char *text[] = {one, other, one};
    char *data[3];
    size_t size[3];

    for (int i = 0; i < 3; i++) {
        const char *file = fake_path("t.png");

        cr_assert(
            PLOT("bars", store, "-o", file, "--filter", "workload=vm_0", "--title", text[i]) == 0);
        data[i] = fake_read(file, &size[i]);
    }
    cr_expect(size[0] != size[1] || memcmp(data[0], data[1], size[0]) != 0, "%s: drawn as %s", one,
              other);
    cr_expect(size[0] == size[2] && memcmp(data[0], data[2], size[0]) == 0);
    for (int i = 0; i < 3; i++)
        free(data[i]);
}

Test(picture, texts_are_literal_in_png)
{
    char store[160];

    need_gnuplot();
    strcpy(store, make_store());
    expect_apart(store, "vm_0", "vm_{0}");
    expect_apart(store, "a^c", "a^{c}");
    expect_apart(store, "{d}", "d");
    expect_apart(store, "x%%", "x%");
    expect_apart(store, "a\\nb", "anb");
    expect_apart(store, "`true`b", "b");
    expect_apart(store, "it''s", "it's");
    expect_apart(store, "'a'", "a");
}

static void compile(const char *file)
{
    char command[600], doc[160];

    strcpy(doc,
           fake_file("doc.tex", "\\documentclass{article}\\usepackage{graphicx,color}"
                                "\\pagestyle{empty}\\begin{document}\\input{n}\\end{document}\n"));
    snprintf(command, sizeof(command),
             "cd '%s' && pdflatex -interaction=batchmode -halt-on-error doc.tex >/dev/null 2>&1",
             fake_dir);
    cr_expect(system(command) == 0, "LaTeX does not like %s", file);
    if (!have("pdftotext"))
        return;
    strcpy(strrchr(doc, '.'), ".pdf");
    /* Old fonts have no underscore and accents that are characters of their own. */
    const char *text = output_of("pdftotext -raw '%s' -", doc);

    cr_expect(strstr(text, "5% it") && strstr(text, "PWNED") && strstr(text, "[1] {2} & <b> $x$"),
              "%s", text);
}

Test(picture, texts_are_literal_for_latex)
{
    char store[160], file[160];
    size_t size;
    char *data;

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(file, fake_path("n.tex"));
    draw_names(store, file);
    for (int i = 0; i < NNAMES; i++) {
        char part[300];

        snprintf(part, sizeof(part), "\\strut{}%s}}", tex[i]);
        expect_text(file, part, true);
    }
    data = fake_read(file, &size);
    cr_expect(strncmp(data, "% {\"schema\":\"tandem.figure/1\"", 29) == 0);
    cr_expect(!strstr(data, "/tmp/"), "the place where it was drawn");
    free(data);
    expect_text(file, "]{n-inc}}%", true);
    data = fake_read(fake_path("n-inc.pdf"), &size);
    cr_expect(size > 500 && memcmp(data, "%PDF", 4) == 0);
    free(data);
    if (have("pdflatex"))
        compile(file);
    expect_refused(2, "LaTeX can only include names of letters",
                   PLOT("bars", store, "-o", fake_path("a b.tex")));
}

/* The same marks as gnuplot would read them, in text that it did not write. */
Test(picture, guard_of_scripts)
{
    char *text = picture_guard_tex("A[1] = '[x]'\nB = '{''= ''[y]'\nC = 'z[' ; D = ''\n");

    cr_expect_str_eq(text,
                     "A[1] = '\xe2\x80\x8b[x]'\nB = '\xe2\x80\x8b{''= ''[y]'\nC = 'z[' ; D = ''\n");
    free(text);
}

/* No font has a letter of the private planes; gnuplot would draw a blot. */
Test(picture, letters_without_a_font_are_refused)
{
    char store[160];

    need_gnuplot();
    strcpy(store, make_store());
    if (have("fc-list")) {
        expect_refused(3, "no installed font has the letter '\xf4\x80\x80\x81' (U+100001)",
                       PLOT("bars", store, "-o", fake_path("f.png"), "--filter", "workload=vm_0",
                            "--title", "a \xf4\x80\x80\x81"));
        cr_expect(access(fake_path("f.png"), F_OK) != 0);
    }
    cr_expect(PLOT("bars", store, "-o", fake_path("f.svg"), "--filter", "workload=vm_0", "--title",
                   "a \xf4\x80\x80\x81") == 0);
    cr_expect(PLOT("bars", store, "-o", fake_path("f.png"), "--filter", "workload=vm_0", "--title",
                   "\xce\xb1 \xd0\x96 \xe2\x89\xa4 \xff \xc3") == 0);
}

/* The subject of the last document information, found the way a reader does. */
static char *pdf_subject(const char *data, size_t size)
{
    static const char key[] = "/Subject (";
    const char *end = data + size, *table = NULL, *info = NULL;
    char *text = calloc(1, size + 1);
    unsigned long object, at;
    size_t n = 0;

    for (const char *p = data; p < end - 10; p++)
        if (strncmp(p, "startxref\n", 10) == 0)
            table = data + strtoul(p + 10, NULL, 10);
    cr_assert(text && table && table < end && strncmp(table, "xref\n", 5) == 0);
    cr_assert(sscanf(table, "xref\n%lu 1\n%lu 00000 n", &object, &at) == 2 && at < size);
    cr_expect(strtoul(data + at, NULL, 10) == object);
    info = strstr(data + at, key);
    cr_assert(info);
    for (info += strlen(key); *info && *info != ')'; info++)
        text[n++] = *info == '\\' ? *++info : *info;
    info = strstr(table, "/Info ");
    cr_expect(info && strtoul(info + 6, NULL, 10) == object);
    return text;
}

Test(picture, the_origin_is_in_a_pdf)
{
    char store[160], file[160];
    size_t size;
    char *data, *subject;
    cJSON *o;

    need_gnuplot();
    strcpy(store, make_store());
    strcpy(file, fake_path("n.pdf"));
    cr_assert(PLOT("bars", store, "-o", file, "--filter", "vary=none") == 0);
    data = fake_read(file, &size);
    subject = pdf_subject(data, size);
    o = cJSON_Parse(subject);
    cr_assert(o, "%s", subject);
    cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(o, "figure")), "bars");
    cr_expect(strlen(cJSON_GetStringValue(cJSON_GetObjectItem(o, "scenario"))) == 32);
    cr_expect_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "sources"), 0)->valuestring,
                     "texts");
    cr_expect(cJSON_GetObjectItem(o, "points")->valuedouble == NNAMES);
    cr_expect(cJSON_GetArraySize(cJSON_GetObjectItem(o, "scenarios")) == NNAMES);
    if (have("pdfinfo")) {
        const char *said = output_of("pdfinfo '%s'", file);

        cr_expect(strstr(said, subject), "%s", said);
        cr_expect(!strstr(said, "CreationDate"));
    }
    cJSON_Delete(o);
    free(subject);
    free(data);
}

/* A table of another form: the origin is a comment, the rest as it was. */
Test(picture, a_pdf_of_another_form_is_left_as_it_is)
{
    static const char other[] = "%PDF-1.5\n1 0 obj\n<< /Type /XRef /Size 2 /Root 1 0 R >>\nendobj\n"
                                "startxref\n9\n%%EOF\n";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert(out && picture_put_pdf(out, other, strlen(other), "{}") == 0 && fclose(out) == 0);
    cr_expect(strncmp(text, other, strlen(other)) == 0 &&
              strcmp(text + strlen(other), "% {}\n") == 0);
    free(text);
}

Test(picture, no_file_tells_the_time)
{
    static const char *const files[] = {"p.svg", "p.pdf", "p.png", "p.tex", "p-inc.pdf"};
    char store[160];
    char *data[2][5];
    size_t size[2][5];

    need_gnuplot();
    strcpy(store, make_store());
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            cr_assert(PLOT("lines", store, "-o", fake_path(files[i])) == 0);
        for (int i = 0; i < 5; i++)
            data[round][i] = fake_read(fake_path(files[i]), &size[round][i]);
        cr_assert(round || system("sleep 1.1") == 0);
    }
    for (int i = 0; i < 5; i++) {
        cr_expect(size[0][i] == size[1][i] && memcmp(data[0][i], data[1][i], size[0][i]) == 0, "%s",
                  files[i]);
        free(data[0][i]);
        free(data[1][i]);
    }
}

/* A text that runs out of the page colours its edge. */
static void expect_inside(const char *file)
{
    char command[300];
    FILE *in;
    int width, height, dark = 0, edge = 0;

    snprintf(command, sizeof(command), "pdftoppm -r 100 '%s'", file);
    in = popen(command, "r");
    cr_assert(in && fscanf(in, "P6 %d %d 255", &width, &height) == 2 && fgetc(in) == '\n', "%s",
              file);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int light = fgetc(in) + fgetc(in) + fgetc(in);

            dark += light < 300;
            edge += light < 760 && (x == 0 || y == 0 || x == width - 1 || y == height - 1);
        }
    cr_expect(dark > 500 && edge == 0, "%s: %d points on its edge", file, edge);
    cr_expect(pclose(in) == 0);
}

Test(picture, texts_stay_inside)
{
    static const char *const kinds[] = {"bars", "box", "map", "lines", "cdf"};
    static const char *const sizes[] = {"one", "two"};
    char store[160], file[160];

    need_gnuplot();
    if (!have("pdftoppm"))
        cr_skip_test("pdftoppm is not installed");
    strcpy(store, make_store());
    for (int k = 0; k < 5; k++)
        for (int s = 0; s < 2; s++)
            for (int facets = 0; facets < 2; facets++) {
                const char *args[] = {"plot",
                                      kinds[k],
                                      store,
                                      "-o",
                                      file,
                                      "--size",
                                      sizes[s],
                                      "--series",
                                      k == 4 || facets ? "vary" : "workload",
                                      facets ? "--facet" : "--filter",
                                      facets ? "workload" : "workload=vm_0",
                                      "--x",
                                      "vary"};

                if (k == 3 || (k != 4 && facets))
                    args[8] = facets ? "file" : "workload";
                snprintf(file, sizeof(file), "%s/%s-%s-%d.pdf", fake_dir, kinds[k], sizes[s],
                         facets);
                cr_assert(plot_command(args, k == 4 ? 11 : 13) == 0, "%s", file);
                expect_inside(file);
            }
}

/* CIE lightness, 0 to 100: what is left of a colour in grey. */
static double lightness(unsigned long rgb)
{
    static const double weight[] = {0.0722, 0.7152, 0.2126};
    double y = 0;

    for (int i = 0; i < 3; i++) {
        const double c = (double)(rgb >> (8 * i) & 0xff) / 255;

        y += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

Test(picture, the_first_five_differ_in_grey)
{
    static const char *const arrays[] = {"array COLOUR[10] = [", "array FILL[10] = ["};
    size_t size;
    char *style = fake_read(TANDEM_SOURCE_DIR "/plots/style.gp", &size);

    for (int a = 0; a < 2; a++) {
        const char *at = strstr(style, arrays[a]);
        double light[5];

        cr_assert(at);
        at += strlen(arrays[a]);
        for (int i = 0; i < 5; i++) {
            char *end;

            light[i] = lightness(strtoul(at, &end, 16));
            cr_assert(end > at && (*end == ',' || *end == ']'));
            at = end + 1;
            for (int k = 0; k < i; k++)
                cr_expect(fabs(light[i] - light[k]) >= 9.5, "%s: %d and %d", arrays[a], k, i);
            /* A line has to be seen on white. */
            cr_expect(a == 1 || light[i] < 75);
        }
    }
    free(style);
}
