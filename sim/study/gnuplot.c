/* SPDX-License-Identifier: MIT */
/*
 * Runs gnuplot: script in, picture out, both through temporary files without names, so that no pipe
 * can fill up and nothing is left behind. Personal settings (.gnuplot) are not read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/plot.h"
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

static char *run(const char *script, FILE *file[3], size_t *size, struct store_error *err)
{
    char *picture, *messages;
    size_t n = 0;
    int status;

    if (fputs(script, file[0]) < 0 || fflush(file[0]) != 0) {
        plot_fail(err, 3, "cannot write a temporary file: %s", strerror(errno));
        return NULL;
    }
    rewind(file[0]);
    status = spawn(file[0], file[1], file[2]);
    if (status == NOT_FOUND) {
        plot_fail(err, 3, "gnuplot is not installed or not in PATH: figures need it");
        return NULL;
    }
    picture = read_back(file[1], size);
    messages = read_back(file[2], &n);
    if (status != 0 || !picture || *size == 0) {
        plot_fail(err, 3, "gnuplot failed: %.400s", messages && *messages ? messages : "no output");
        free(picture);
        picture = NULL;
    }
    free(messages);
    return picture;
}

char *gnuplot_run(const char *script, size_t *size, struct store_error *err)
{
    FILE *file[3] = {tmpfile(), tmpfile(), tmpfile()};
    char *picture = NULL;

    if (file[0] && file[1] && file[2])
        picture = run(script, file, size, err);
    else
        plot_fail(err, 3, "cannot make a temporary file: %s", strerror(errno));
    for (int i = 0; i < 3; i++)
        if (file[i])
            fclose(file[i]);
    return picture;
}
