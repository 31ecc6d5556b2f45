/* SPDX-License-Identifier: MIT */
/* The result store and the workers that fill it: nothing lost, nothing twice, whatever happens. */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "study/progress.h"
#include "study_fake.h"

TestSuite(store, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

static const struct study_options one = {.workers = 1, .shard = 1, .shards = 1};
static const struct study_options two = {.workers = 2, .shard = 1, .shards = 1};

/* Leaves a byte per run behind, from whatever process: so runs can be counted. */
static int counted_run(const struct scenario *s, uint64_t seed, int64_t replication,
                       struct run_values **out, char *error, size_t error_size)
{
    const int fd = open(fake_path("count"), O_WRONLY | O_CREAT | O_APPEND, 0600);

    cr_assert(fd >= 0 && write(fd, ".", 1) == 1);
    close(fd);
    return fake_run(s, seed, replication, out, error, error_size);
}

static int slow_run(const struct scenario *s, uint64_t seed, int64_t replication,
                    struct run_values **out, char *error, size_t error_size)
{
    const struct timespec t = {.tv_nsec = 5000000};

    nanosleep(&t, NULL);
    return counted_run(s, seed, replication, out, error, error_size);
}

static off_t runs_counted(void)
{
    struct stat st;

    return stat(fake_path("count"), &st) == 0 ? st.st_size : 0;
}

Test(store, resume_runs_nothing_twice)
{
    struct study *st = fake_study(6, 3);
    struct study_options o = two;
    struct study_counts c;
    struct store_error err = {0};
    const char *path = fake_path("a.db");
    char *first, *second;

    cr_expect(fake_session(path, st, &o, counted_run, &c, &err) == 0, "%s", err.text);
    cr_expect(c.planned == 18 && c.before == 0 && c.done == 18 && runs_counted() == 18);
    first = fake_export(path);
    cr_expect(fake_session(path, st, &o, counted_run, &c, &err) == 0);
    cr_expect(c.before == 18 && c.done == 0 && runs_counted() == 18);
    second = fake_export(path);
    cr_expect_str_eq(first, second);
    /* More replications keep the old ones; another version or seed is another run. */
    o.replications = 5;
    cr_expect(fake_session(path, st, &o, counted_run, &c, &err) == 0);
    cr_expect(c.planned == 30 && c.before == 18 && runs_counted() == 30);
    st->version = "1.1";
    cr_expect(fake_session(path, st, &o, counted_run, &c, &err) == 0);
    cr_expect(c.before == 0 && runs_counted() == 60);
    free(first);
    free(second);
    fake_study_free(st);
}

Test(store, same_export_for_any_split)
{
    struct study *st = fake_study(7, 4);
    struct study_counts c;
    struct store_error err = {0};
    struct store *out, *in;
    char *exports[3];

    cr_assert(fake_session(fake_path("j1.db"), st, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("j2.db"), st, &two, fake_run, &c, &err) == 0);
    int64_t done = 0;

    for (int k = 3; k >= 1; k--) {
        const struct study_options o = {.workers = 1, .shard = k, .shards = 3};
        char name[16];

        snprintf(name, sizeof(name), "s%d.db", k);
        cr_assert(fake_session(fake_path(name), st, &o, fake_run, &c, &err) == 0);
        cr_expect(c.done >= 8 && c.done <= 11, "shard %d has %d of 28 runs", k, (int)c.done);
        done += c.done;
        out = store_open(fake_path("merged.db"), STORE_CREATE, &err);
        in = store_open(fake_path(name), STORE_READ, &err);
        cr_assert(out && in && store_merge(out, in, &err) == 0, "%s", err.text);
        cr_expect(store_merge(out, in, &err) == 0, "a second time changes nothing");
        store_close(out);
        store_close(in);
    }
    cr_expect(done == 28);
    exports[0] = fake_export(fake_path("j1.db"));
    exports[1] = fake_export(fake_path("j2.db"));
    exports[2] = fake_export(fake_path("merged.db"));
    cr_expect_str_eq(exports[0], exports[1]);
    cr_expect_str_eq(exports[0], exports[2]);
    cr_expect(strstr(exports[0], "a,b,seed,replication,version,scenario,fingerprint,") ==
              exports[0]);
    cr_expect(!strstr(exports[0], "wall"));
    for (int i = 0; i < 3; i++)
        free(exports[i]);
    fake_study_free(st);
}

/* A child fills the store and is killed without warning at some moment. */
static void kill_a_session(const char *path, struct study *st, long after_us)
{
    const struct timespec t = {.tv_sec = after_us / 1000000, .tv_nsec = after_us % 1000000 * 1000};
    const pid_t pid = fork();

    if (pid == 0) {
        struct study_counts c;
        struct store_error err;

        fake_session(path, st, &two, slow_run, &c, &err);
        _exit(0);
    }
    nanosleep(&t, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

Test(store, killed_and_resumed)
{
    struct study *st = fake_study(10, 6);
    struct study_counts c;
    struct store_error err = {0};
    const char *path = fake_path("k.db");
    int64_t before = -1;
    char *whole, *pieces;
    sqlite3 *db;

    for (int i = 0; i < 4; i++) {
        kill_a_session(path, st, 20000 + 13000 * i);
        struct store *s = store_open(path, STORE_CREATE, &err);

        cr_assert(s && study_plan(st, s, &two, &c, NULL, &err) == 0, "%s", err.text);
        cr_expect(c.before >= before, "runs were lost: %d of %d", (int)c.before, (int)before);
        before = c.before;
        store_close(s);
    }
    cr_expect(before > 0 && before < 60, "%d finished before the last session", (int)before);
    cr_assert(fake_session(path, st, &two, counted_run, &c, &err) == 0, "%s", err.text);
    cr_expect(c.before == before && c.done == 60 - before);
    cr_assert(fake_session(fake_path("w.db"), st, &one, fake_run, &c, &err) == 0);
    pieces = fake_export(path);
    whole = fake_export(fake_path("w.db"));
    cr_expect_str_eq(pieces, whole);
    cr_assert(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_stmt *q;

    cr_assert(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW);
    cr_expect_str_eq((const char *)sqlite3_column_text(q, 0), "ok");
    sqlite3_finalize(q);
    sqlite3_close(db);
    free(pieces);
    free(whole);
    fake_study_free(st);
}

static int stuck_run(const struct scenario *s, uint64_t seed, int64_t replication,
                     struct run_values **out, char *error, size_t error_size)
{
    char name[32], text[32];

    if (s->duration < 2)
        return fake_run(s, seed, replication, out, error, error_size);
    snprintf(name, sizeof(name), "pid%d", (int)s->duration);
    snprintf(text, sizeof(text), "%d", (int)getpid());
    fake_file(name, text);
    for (;;)
        pause();
}

/* Pids that the stuck workers left, once both are there. */
static void stuck_pids(pid_t pid[2])
{
    const struct timespec t = {.tv_nsec = 10000000};

    for (int i = 0; i < 2; i++) {
        pid[i] = 0;
        for (int tries = 0; tries < 1000 && pid[i] == 0; tries++) {
            FILE *in = fopen(fake_path(i ? "pid3" : "pid2"), "r");
            int n = 0;

            if (in) {
                if (fscanf(in, "%d", &n) == 1)
                    pid[i] = (pid_t)n;
                fclose(in);
            }
            nanosleep(&t, NULL);
        }
        cr_assert(pid[i] > 0, "worker %d never came", i);
    }
}

/* Gone, or a zombie that nobody has waited for yet. */
static bool is_gone(pid_t pid)
{
    char name[64], state = '?';
    FILE *in;

    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    in = fopen(name, "r");
    if (!in)
        return true;
    if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(in);
    return state == 'Z' || state == 'X';
}

static void end_session_with(int sig, int status)
{
    const struct timespec t = {.tv_nsec = 10000000};
    struct study *st = fake_study(4, 1);
    struct study_counts c;
    struct store_error err = {0};
    const pid_t pid = fork();
    pid_t worker[2];
    bool gone = false;
    int wait_status;

    if (pid == 0)
        _exit(fake_session(fake_path("i.db"), st, &two, stuck_run, &c, &err));
    stuck_pids(worker);
    kill(pid, sig);
    cr_assert(waitpid(pid, &wait_status, 0) == pid);
    if (status)
        cr_expect(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == status, "signal %d: %x",
                  sig, (unsigned)wait_status);
    for (int i = 0; i < 500 && !gone; i++) {
        gone = is_gone(worker[0]) && is_gone(worker[1]);
        nanosleep(&t, NULL);
    }
    cr_expect(gone, "workers live on after signal %d", sig);
    struct store *s = store_open(fake_path("i.db"), STORE_READ, &err);

    cr_assert(s && study_plan(st, s, &two, &c, NULL, &err) == 0, "%s", err.text);
    cr_expect(c.before == 2, "%d runs kept after signal %d", (int)c.before, sig);
    store_close(s);
    fake_study_free(st);
    unlink(fake_path("i.db"));
    unlink(fake_path("i.db-wal"));
    unlink(fake_path("i.db-shm"));
    unlink(fake_path("pid2"));
    unlink(fake_path("pid3"));
}

Test(store, interrupted_keeps_what_is_done)
{
    end_session_with(SIGINT, 130);
    end_session_with(SIGTERM, 143);
    end_session_with(SIGKILL, 0);
}

/* Point 1 dies by a signal, 2 leaves with 70 and a report, 3 returns an error. */
static int broken_run(const struct scenario *s, uint64_t seed, int64_t replication,
                      struct run_values **out, char *error, size_t error_size)
{
    if (s->duration == 1)
        raise(SIGKILL);
    if (s->duration == 2) {
        fprintf(stderr, "policy cps-load broke its contract in select\n");
        _exit(70);
    }
    if (s->duration == 3) {
        snprintf(error, error_size, "no progress since 12ms");
        return 4;
    }
    return fake_run(s, seed, replication, out, error, error_size);
}

struct failures {
    int n, with_signal, with_report, with_error;
};

static bool count_failure(void *arg, const struct store_run *r, int status, const char *report)
{
    struct failures *f = arg;

    (void)r;
    f->n++;
    f->with_signal += status == 128 + SIGKILL && strstr(report, "signal 9");
    f->with_report += status == 70 && strstr(report, "cps-load broke its contract in select");
    f->with_error += status == 4 && strcmp(report, "no progress since 12ms") == 0;
    return true;
}

Test(store, a_crash_costs_its_point_only)
{
    struct study *st = fake_study(6, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct failures f = {0};
    const char *path = fake_path("c.db");
    struct store *s;

    for (int workers = 1; workers <= 2; workers++) {
        const struct study_options o = {.workers = workers, .shard = 1, .shards = 1};

        cr_expect(fake_session(path, st, &o, broken_run, &c, &err) == 4, "%s", err.text);
        cr_expect(c.done + c.before == 6 && c.failed == 6, "%d done, %d failed", (int)c.done,
                  (int)c.failed);
    }
    cr_expect(st->point[2].nfailed == 4 &&
              strstr(st->point[2].first_failure, "broke its contract"));
    cr_expect(st->point[0].nfailed == 0);
    s = store_open(path, STORE_READ, &err);
    cr_assert(s && store_failures(s, count_failure, &f, &err) == 0);
    store_close(s);
    cr_expect(f.n == 6 && f.with_signal == 2 && f.with_report == 2 && f.with_error == 2,
              "%d %d %d %d", f.n, f.with_signal, f.with_report, f.with_error);
    /* Once repaired, the failed ones run and nothing else does. */
    cr_expect(fake_session(path, st, &two, counted_run, &c, &err) == 0);
    cr_expect(runs_counted() == 6);
    f = (struct failures){0};
    s = store_open(path, STORE_READ, &err);
    cr_assert(s && store_failures(s, count_failure, &f, &err) == 0 && f.n == 0);
    store_close(s);
    fake_study_free(st);
}

static void expect_refused(const char *path, enum store_mode mode, int status, const char *part)
{
    struct store_error err = {0};
    struct store *s = store_open(path, mode, &err);

    cr_expect(!s, "%s was opened", path);
    cr_expect(err.status == status && strstr(err.text, part) && strstr(err.text, path), "%s: %d %s",
              path, err.status, err.text);
    store_close(s);
}

static void make_database(const char *path, const char *sql)
{
    sqlite3 *db;

    cr_assert(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

Test(store, what_is_no_store_is_refused)
{
    const enum store_mode modes[] = {STORE_CREATE, STORE_READ};
    struct stat st;

    fake_file("text.db", "this is a text, and long enough for the head of a database file\n");
    fake_file("empty.db", "");
    make_database(fake_path("other.db"), "CREATE TABLE people(name)");
    make_database(fake_path("newer.db"), "CREATE TABLE meta(key, value);"
                                         "INSERT INTO meta VALUES('schema', 'tandem.store/9')");
    for (int i = 0; i < 2; i++) {
        expect_refused(fake_path("text.db"), modes[i], 2, "no database");
        expect_refused(fake_path("other.db"), modes[i], 2, "another program");
        expect_refused(fake_path("newer.db"), modes[i], 2, "tandem.store/9");
        expect_refused(fake_dir, modes[i], 3, "regular file");
        expect_refused("/nonexistent/a.db", modes[i], 3, i ? "No such file" : "cannot open");
    }
    expect_refused(fake_path("empty.db"), STORE_READ, 2, "empty file");
    expect_refused(fake_path("none.db"), STORE_READ, 3, "No such file");
    cr_expect(stat(fake_path("none.db"), &st) != 0, "reading made a file");
    cr_assert(stat(fake_path("text.db"), &st) == 0 && st.st_size == 64, "the text was changed");
}

Test(store, full_disk)
{
    struct study *st = fake_study(40, 100);
    struct study_counts c;
    struct store_error err = {0};
    char path[200];
    char *export;

    expect_refused("/dev/full", STORE_CREATE, 3, "No space left");
    cr_expect(access("/dev/full-journal", F_OK) != 0);
    cr_assert(mkdir(fake_path("disk"), 0700) == 0);
    if (mount("tandem", fake_path("disk"), "tmpfs", 0, "size=256k") != 0)
        cr_skip_test("a small file system needs root");
    snprintf(path, sizeof(path), "%s/disk/f.db", fake_dir);
    const int status = fake_session(path, st, &two, fake_run, &c, &err);

    cr_expect(status == 3 && strstr(err.text, "no space left"), "%d: %s", status, err.text);
    cr_expect(c.done > 0 && c.done < 4000);
    export = fake_export(path);
    int64_t lines = -1;

    for (const char *p = export; *p; p++)
        lines += *p == '\n';
    cr_expect(lines == c.done, "%d runs were acknowledged, %d are there", (int)c.done, (int)lines);
    free(export);
    umount(fake_path("disk"));
    fake_study_free(st);
}

static int other_run(const struct scenario *s, uint64_t seed, int64_t replication,
                     struct run_values **out, char *error, size_t error_size)
{
    const int status = fake_run(s, seed, replication, out, error, error_size);

    (*out)->fingerprint++;
    return status;
}

Test(store, merge_refuses_a_disagreement)
{
    struct study *st = fake_study(2, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct store *a, *b;
    char *before, *after;

    cr_assert(fake_session(fake_path("a.db"), st, &one, fake_run, &c, &err) == 0);
    cr_assert(fake_session(fake_path("b.db"), st, &one, other_run, &c, &err) == 0);
    before = fake_export(fake_path("a.db"));
    a = store_open(fake_path("a.db"), STORE_CREATE, &err);
    b = store_open(fake_path("b.db"), STORE_READ, &err);
    cr_assert(a && b);
    cr_expect(store_merge(a, b, &err) == -1 && err.status == 2 && strstr(err.text, "disagree"));
    store_close(a);
    store_close(b);
    after = fake_export(fake_path("a.db"));
    cr_expect_str_eq(before, after);
    free(before);
    free(after);
    fake_study_free(st);
}

Test(store, progress_line)
{
    const struct progress p = {.total = 100, .before = 20, .done = 29, .failed = 1};
    struct progress off;
    char line[160];

    progress_line(&p, 10, line, sizeof(line));
    cr_expect_str_eq(line, "[############------------] 50/100  3.0 runs/s  ETA 0:17  1 failed");
    progress_log_line(&p, 10, line, sizeof(line));
    cr_expect_str_eq(line, " 50 %  50/100  3.0 runs/s  ETA 0:17  1 failed");
    progress_begin(&off, 100, 0, false);
    cr_expect(!off.on);
    progress_begin(&off, 100, 100, true);
    cr_expect(!off.on, "nothing to do, and progress is shown");
}

/* A log gets a line for every tenth, not within a second of the last one, and after half a minute. */
Test(store, progress_in_logs)
{
    struct progress p = {.total = 1000};

    cr_expect(!progress_line_due(&p, 0.5) && !progress_line_due(&p, 29));
    cr_expect(progress_line_due(&p, 30) && !progress_line_due(&p, 30.1));
    p.done = 99;
    cr_expect(!progress_line_due(&p, 32));
    p.done = 100;
    cr_expect(progress_line_due(&p, 32) && !progress_line_due(&p, 34));
    p.done = 450;
    cr_expect(!progress_line_due(&p, 32.9) && progress_line_due(&p, 33));
    p.done = 499;
    cr_expect(!progress_line_due(&p, 40) && progress_line_due(&p, 63));
    /* The end needs no line: the table follows. */
    p.done = 1000;
    cr_expect(!progress_line_due(&p, 70));
}
