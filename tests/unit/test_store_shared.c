/* SPDX-License-Identifier: MIT */
/* Stores that several sweeps share, one after the other or at the same time, and stores of old. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "study_fake.h"

TestSuite(store_shared, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

static const struct study_options one = {.workers = 1, .shard = 1, .shards = 1};
static const struct study_options two = {.workers = 2, .shard = 1, .shards = 1};

static int slow_run(const struct scenario *s, uint64_t seed, int64_t replication,
                    struct run_values **out, char *error, size_t error_size)
{
    const struct timespec t = {.tv_nsec = 4000000};
    const int fd = open(fake_path("count"), O_WRONLY | O_CREAT | O_APPEND, 0600);

    cr_assert(fd >= 0 && write(fd, ".", 1) == 1);
    close(fd);
    nanosleep(&t, NULL);
    return fake_run(s, seed, replication, out, error, error_size);
}

static int64_t runs_counted(void)
{
    struct stat st;

    return stat(fake_path("count"), &st) == 0 ? (int64_t)st.st_size : 0;
}

/* A study whose points are those of fake_study from `first` on, with labels of an axis of its own. */
static struct study *other_study(const char *name, size_t first, size_t n, int64_t replications)
{
    struct study *all = fake_study(first + n, replications), *st = fake_study(n, replications);

    st->name = name;
    for (size_t i = 0; i < n; i++) {
        struct store_point *row = &st->point[i].row;
        char labels[60];

        st->point[i].scenario->duration = (ns_t)(first + i);
        snprintf(labels, sizeof(labels), "{\"%s\":\"%zu\"}", name, i);
        free(row->labels);
        row->labels = strdup(labels);
        memcpy(row->hash, all->point[first + i].row.hash, 33);
    }
    fake_study_free(all);
    return st;
}

static int lines_with(const char *text, const char *part)
{
    int n = 0;

    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        const size_t len = strcspn(p, "\n");
        char line[1000];

        snprintf(line, sizeof(line), "%.*s", (int)len, p);
        n += strstr(line, part) != NULL;
    }
    return n;
}

static char *export_of(const char *path)
{
    struct store_error err = {0};
    struct dataset d = {0};
    char *text = NULL, *sweep;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct store *s = dataset_open_store(path, &sweep, &err);

    cr_assert(s, "%s", err.text);
    cr_assert(dataset_add_sweep(&d, s, sweep, &err) == 0 && export_csv(out, &d) == 0);
    fclose(out);
    store_close(s);
    dataset_free(&d);
    free(sweep);
    return text;
}

Test(store_shared, each_sweep_keeps_its_labels)
{
    struct study *a = other_study("first", 0, 6, 2), *b = other_study("second", 4, 6, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct dataset d = {0};
    char part[200], *alone, *text;

    cr_assert(fake_session(fake_path("alone.db"), a, &one, fake_run, &c, &err) == 0);
    alone = export_of(fake_path("alone.db"));
    cr_assert(fake_session(fake_path("s.db"), a, &one, slow_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("s.db"), b, &two, slow_run, &c, &err) == 0, "%s", err.text);
    cr_expect(c.planned == 12 && c.before == 4 && c.done == 8, "shared points are run once");
    cr_expect(runs_counted() == 20);

    text = export_of(fake_path("s.db"));
    cr_expect(strncmp(text, "sweep,first,second,seed,", 24) == 0, "%.60s", text);
    cr_expect(lines_with(text, "first,") == 1 + 12 && lines_with(text, "second,") == 1 + 12, "%s",
              text);
    free(text);
    /* One of them alone is as if it had the store for itself. */
    snprintf(part, sizeof(part), "%s:first", fake_path("s.db"));
    text = export_of(part);
    cr_expect_str_eq(text, alone);
    free(text);
    cr_expect(dataset_add(&d, part, &err) == 0 && d.n == 6);
    dataset_free(&d);

    cr_expect(dataset_add(&d, fake_path("s.db"), &err) == -1 && err.status == 2 &&
                  strstr(err.text, "several sweeps") && strstr(err.text, "s.db:second"),
              "%s", err.text);
    dataset_free(&d);
    snprintf(part, sizeof(part), "%s:thrid", fake_path("s.db"));
    cr_expect(dataset_add(&d, part, &err) == -1 && err.status == 2 &&
                  strstr(err.text, "no sweep 'thrid'; it has: first, second"),
              "%s", err.text);
    dataset_free(&d);
    /* The first one again runs nothing and changes nothing. */
    cr_assert(fake_session(fake_path("s.db"), a, &one, slow_run, &c, &err) == 0);
    cr_expect(c.before == 12 && runs_counted() == 20);
    free(alone);
    fake_study_free(a);
    fake_study_free(b);
}

Test(store_shared, equal_labels_are_one_point)
{
    struct study *a = fake_study(4, 2), *b = fake_study(6, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct dataset d = {0};

    a->name = "a";
    b->name = "b";
    cr_assert(fake_session(fake_path("e.db"), a, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("e.db"), b, &one, fake_run, &c, &err) == 0);
    cr_expect(dataset_add(&d, fake_path("e.db"), &err) == 0 && d.n == 6, "%s, %zu points", err.text,
              d.n);
    dataset_free(&d);
    fake_study_free(a);
    fake_study_free(b);
}

Test(store_shared, merged_with_all_labels)
{
    struct study *a = other_study("first", 0, 4, 2), *b = other_study("second", 2, 4, 2);
    struct study_counts c;
    struct store_error err = {0};
    char *together, *merged;

    cr_assert(fake_session(fake_path("t.db"), a, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("t.db"), b, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("a.db"), a, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("b.db"), b, &one, fake_run, &c, &err) == 0);
    for (int i = 0; i < 2; i++) {
        struct store *into = store_open(fake_path("a.db"), STORE_CREATE, &err);
        struct store *from = store_open(fake_path("b.db"), STORE_READ, &err);

        cr_assert(into && from && store_merge(into, from, &err) == 0, "%s", err.text);
        store_close(into);
        store_close(from);
    }
    together = export_of(fake_path("t.db"));
    merged = export_of(fake_path("a.db"));
    cr_expect_str_eq(together, merged);
    free(together);
    free(merged);
    /* The same sweep with other labels is a disagreement. */
    free(b->point[0].row.labels);
    b->point[0].row.labels = strdup("{\"second\":\"else\"}");
    cr_assert(fake_session(fake_path("c.db"), b, &one, fake_run, &c, &err) == 0);
    struct store *into = store_open(fake_path("a.db"), STORE_CREATE, &err);
    struct store *from = store_open(fake_path("c.db"), STORE_READ, &err);

    cr_expect(store_merge(into, from, &err) == -1 && err.status == 2 &&
                  strstr(err.text, "disagree about the labels"),
              "%s", err.text);
    store_close(into);
    store_close(from);
    fake_study_free(a);
    fake_study_free(b);
}

static void drop_places(const char *path)
{
    sqlite3 *db;

    cr_assert(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, "DROP TABLE place", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

/* A store without the table of places, as earlier versions wrote it. */
Test(store_shared, old_stores_are_read_and_carried_on)
{
    struct study *st = fake_study(4, 2);
    struct study_counts c;
    struct store_error err = {0};
    char *want, *got;

    cr_assert(fake_session(fake_path("o.db"), st, &one, fake_run, &c, &err) == 0);
    want = export_of(fake_path("o.db"));
    drop_places(fake_path("o.db"));
    got = export_of(fake_path("o.db"));
    cr_expect_str_eq(got, want);
    free(got);
    cr_assert(fake_session(fake_path("o.db"), st, &one, fake_run, &c, &err) == 0, "%s", err.text);
    cr_expect(c.before == 8 && c.done == 0);
    got = export_of(fake_path("o.db"));
    cr_expect_str_eq(got, want);
    free(got);
    free(want);
    fake_study_free(st);
}

/* Two processes with overlapping points, begun at the same moment. */
Test(store_shared, two_sweeps_at_once)
{
    struct study *a = other_study("first", 0, 10, 3), *b = other_study("second", 3, 10, 3);
    struct study_counts c;
    struct store_error err = {0};
    char *serial, *parallel;
    int status[2];
    pid_t pid[2];

    cr_assert(fake_session(fake_path("one.db"), a, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("one.db"), b, &one, fake_run, &c, &err) == 0);
    for (int i = 0; i < 2; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            const int rc = fake_session(fake_path("both.db"), i ? b : a, &two, slow_run, &c, &err);

            _exit(rc ? rc : c.before + c.done == 30 ? 0 : 99);
        }
    }
    for (int i = 0; i < 2; i++) {
        cr_assert(waitpid(pid[i], &status[i], 0) == pid[i]);
        cr_expect(WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0, "sweep %d: status %d", i,
                  WEXITSTATUS(status[i]));
    }
    /* 13 points of 3 replications: no run was made twice. */
    cr_expect(runs_counted() == 39, "%d runs were made", (int)runs_counted());
    serial = export_of(fake_path("one.db"));
    parallel = export_of(fake_path("both.db"));
    cr_expect_str_eq(serial, parallel);
    cr_expect(access(fake_path("both.db-claims"), F_OK) != 0, "the file of claims is left");
    free(serial);
    free(parallel);
    fake_study_free(a);
    fake_study_free(b);
}

/* A claim ends with its process, and meanwhile others wait. */
Test(store_shared, claims)
{
    struct store_error err = {0};
    char key[33];
    int ready[2], status;
    char byte;
    struct store *s;
    pid_t pid;

    store_key("x", 1, 0, "1", "", key);
    s = store_open(fake_path("c.db"), STORE_CREATE, &err);
    cr_assert(s && pipe(ready) == 0);
    pid = fork();
    if (pid == 0) {
        struct store *mine = store_open(fake_path("c.db"), STORE_CREATE, &err);

        status = mine && store_claim(mine, key) ? 0 : 1;
        if (write(ready[1], "x", 1) != 1)
            status = 2;
        pause();
        _exit(status);
    }
    cr_assert(read(ready[0], &byte, 1) == 1);
    cr_expect(!store_claim(s, key), "two have the same claim");
    key[0] = key[0] == '0' ? '1' : '0';
    cr_expect(store_claim(s, key), "another key is another claim");
    store_unclaim(s, key);
    store_key("x", 1, 0, "1", "", key);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    cr_expect(store_claim(s, key), "the claim outlives its process");
    store_close(s);
}

static int failing_run(const struct scenario *s, uint64_t seed, int64_t replication,
                       struct run_values **out, char *error, size_t error_size)
{
    if (s->duration != 1 || replication != 1)
        return fake_run(s, seed, replication, out, error, error_size);
    fprintf(stderr, "policy x broke its contract\nsecond line\n");
    _exit(70);
}

Test(store_shared, exports_show_failures)
{
    struct study *st = fake_study(3, 2);
    struct study_counts c;
    struct store_error err = {0};
    char *text, *json = NULL;
    struct dataset d = {0};
    size_t size;
    FILE *out = open_memstream(&json, &size);

    cr_assert(fake_session(fake_path("f.db"), st, &one, failing_run, &c, &err) == 4);
    text = export_of(fake_path("f.db"));
    cr_expect(lines_with(text, ",status,report") == 1 && lines_with(text, ",7,") == 6, "%s", text);
    cr_expect(strstr(text, "\n0,y,7,1,1.0,03c958103d278f5faf5e190bd1f2caaf,,") &&
                  strstr(text, ",70,policy x broke its contract\n"),
              "%s", text);
    free(text);
    cr_assert(dataset_add(&d, fake_path("f.db"), &err) == 0 && export_json(out, &d) == 0);
    fclose(out);
    cJSON *root = cJSON_Parse(json);
    const cJSON *f = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "failures"), 0);

    cr_expect(cJSON_GetArraySize(cJSON_GetObjectItem(root, "failures")) == 1 &&
              cJSON_GetArraySize(cJSON_GetObjectItem(root, "runs")) == 5);
    cr_assert(f);
    cr_expect(cJSON_GetNumberValue(cJSON_GetObjectItem(f, "status")) == 70);
    cr_expect(strstr(cJSON_GetStringValue(cJSON_GetObjectItem(f, "report")), "second line\n"));
    cJSON_Delete(root);
    free(json);
    dataset_free(&d);
    /* Repaired: no trace of it. */
    cr_assert(fake_session(fake_path("f.db"), st, &one, fake_run, &c, &err) == 0);
    text = export_of(fake_path("f.db"));
    cr_expect(!strstr(text, "status") && lines_with(text, "7,") == 6, "%s", text);
    free(text);
    fake_study_free(st);
}

static int no_run(const struct scenario *s, uint64_t seed, int64_t replication,
                  struct run_values **out, char *error, size_t error_size)
{
    (void)s;
    (void)seed;
    (void)replication;
    (void)out;
    snprintf(error, error_size, "no progress");
    return 4;
}

/* Reports are long: a session keeps those of the first points that failed, the store has all. */
Test(store_shared, reports_of_a_session_are_few)
{
    struct study *st = fake_study(STUDY_REPORTS + 5, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct dataset d = {0};
    size_t failed = 0, reports = 0;

    cr_assert(fake_session(fake_path("r.db"), st, &two, no_run, &c, &err) == 4);
    for (size_t i = 0; i < st->npoints; i++) {
        failed += st->point[i].nfailed == 2;
        reports += st->point[i].first_failure != NULL;
    }
    cr_expect(failed == STUDY_REPORTS + 5 && reports == STUDY_REPORTS, "%zu %zu", failed, reports);
    cr_assert(dataset_add(&d, fake_path("r.db"), &err) == 0);
    cr_expect(d.n == 0 && d.nfailures == 2 * (STUDY_REPORTS + 5));
    dataset_free(&d);
    fake_study_free(st);
}

Test(store_shared, estimates_come_from_the_store)
{
    struct study *st = fake_study(4, 3);
    struct store_error err = {0};
    struct study_estimate e;
    const int64_t missing[4] = {0, 2, 1, 3};
    struct store *s = store_open(fake_path("w.db"), STORE_CREATE, &err);
    char values[] = "";

    for (size_t i = 0; i < 4; i++)
        st->point[i].duration = (ns_t)(i + 1) * NS_SEC;
    cr_assert(s && study_estimate(st, s, missing, &e, &err) == 0);
    cr_expect(e.runs == 0 && e.seconds == 0);
    /* Point 0: 1 s in 100 ms; point 1: 2 s in 400 and 600 ms. */
    for (int k = 0; k < 3; k++) {
        char key[33];
        struct store_run r = {.key = key,
                              .point = st->point[k > 0].row.hash,
                              .seed = 7,
                              .replication = k,
                              .version = "1.0",
                              .policy = "",
                              .fingerprint = "0",
                              .values = values,
                              .wall_ms = k == 0   ? 100
                                         : k == 1 ? 400
                                                  : 600};

        store_key(r.point, 7, k, "1.0", "", key);
        cr_assert(store_put_point(s, &st->point[k > 0].row, &err) == 0 &&
                  store_put_run(s, &r, &err) == 0);
    }
    cr_assert(study_estimate(st, s, missing, &e, &err) == 0);
    cr_expect(e.runs == 3 && e.points == 2);
    /* 2 x 500 ms; the others at 1100 ms per 5 simulated seconds: 3 s once, 4 s three times. */
    cr_expect_float_eq(e.seconds, 1.0 + 0.22 * (3 + 12), 1e-9, "%g", e.seconds);
    store_close(s);
    fake_study_free(st);
}
