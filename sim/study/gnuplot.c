/* SPDX-License-Identifier: MIT */
/*
 * Runs gnuplot: script in, picture out, both through temporary files without names, so that no pipe
 * can fill up and nothing is left behind. Pictures for LaTeX are two files, and cannot be written to
 * a stream: these have a folder of their own, which goes. Personal settings (.gnuplot) are not read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/picture.h"
#include "study/plot_axes.h"

#define NOT_FOUND 127

static char *read_back(FILE *in, size_t *size)
{
    char *text;
    long n;

    if (fseek(in, 0, SEEK_END) != 0 || (n = ftell(in)) < 0)
        return NULL;
    rewind(in);
    text = malloc((size_t)n + 1);
    if (!text)
        return NULL;
    *size = fread(text, 1, (size_t)n, in);
    text[*size] = '\0';
    return text;
}

static int spawn(FILE *script, FILE *picture, FILE *messages)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(script), STDIN_FILENO);
        dup2(fileno(picture), STDOUT_FILENO);
        dup2(fileno(messages), STDERR_FILENO);
        execlp("gnuplot", "gnuplot", "-d", "-", (char *)NULL);
        _exit(NOT_FOUND);
    }
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(const char *script, FILE *file[3], struct store_error *err)
{
    char *messages;
    size_t n = 0;
    int status;

    if (fputs(script, file[0]) < 0 || fflush(file[0]) != 0)
        return plot_fail(err, 3, "cannot write a temporary file: %s", strerror(errno));
    rewind(file[0]);
    status = spawn(file[0], file[1], file[2]);
    if (status == NOT_FOUND)
        return plot_fail(err, 3, "gnuplot is not installed or not in PATH: figures need it");
    if (status == 0)
        return 0;
    messages = read_back(file[2], &n);
    plot_fail(err, 3, "gnuplot failed: %.400s", messages && *messages ? messages : "no output");
    free(messages);
    return -1;
}

static int read_file(const char *folder, const char *name, char **data, size_t *size)
{
    char path[64];
    FILE *in;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    in = fopen(path, "rb");
    *data = in ? read_back(in, size) : NULL;
    if (in)
        fclose(in);
    unlink(path);
    return *data && *size > 0 ? 0 : -1;
}

/* The script with the name of its output in front. malloc'ed, NULL without memory. */
static char *tex_script(const char *script, const char *folder)
{
    char *guarded = picture_guard_tex(script), *text = NULL;
    const size_t size = guarded ? strlen(guarded) + 100 : 0;

    if (guarded && (text = malloc(size)) != NULL)
        snprintf(text, size, "OUTPUT = '%s/" PICTURE_DRAWN ".tex'\n%s", folder, guarded);
    free(guarded);
    return text;
}

static int run_tex(struct picture *p, const char *script, FILE *file[3], struct store_error *err)
{
    char folder[] = "/tmp/tandem-XXXXXX";
    char *text;
    int failed;

    if (!mkdtemp(folder))
        return plot_fail(err, 3, "cannot make a temporary folder: %s", strerror(errno));
    text = tex_script(script, folder);
    failed = text ? run(text, file, err) : plot_fail(err, 3, "out of memory");
    /* Both, so that both go. */
    const int none = read_file(folder, PICTURE_DRAWN ".tex", &p->data, &p->size);
    const int less = read_file(folder, PICTURE_DRAWN ".pdf", &p->part, &p->part_size);

    if (!failed && (none || less))
        failed = plot_fail(err, 3, "gnuplot wrote no picture for LaTeX");
    rmdir(folder);
    free(text);
    return failed;
}

static int run_one(struct picture *p, const char *script, enum picture_format format, FILE *file[3],
                   struct store_error *err)
{
    if ((format != PICTURE_SVG && picture_check_fonts(script, err) != 0) ||
        run(script, file, err) != 0)
        return -1;
    p->data = read_back(file[1], &p->size);
    return p->data && p->size > 0 ? 0 : plot_fail(err, 3, "gnuplot failed: no output");
}

int picture_draw(struct picture *p, const char *script, enum picture_format format,
                 struct store_error *err)
{
    FILE *file[3] = {tmpfile(), tmpfile(), tmpfile()};
    int failed;

    *p = (struct picture){0};
    if (!file[0] || !file[1] || !file[2])
        failed = plot_fail(err, 3, "cannot make a temporary file: %s", strerror(errno));
    else if (format == PICTURE_TEX)
        failed = run_tex(p, script, file, err);
    else
        failed = run_one(p, script, format, file, err);
    for (int i = 0; i < 3; i++)
        if (file[i])
            fclose(file[i]);
    return failed;
}
