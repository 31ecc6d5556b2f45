/* SPDX-License-Identifier: MIT */
/* Input and output of `tandem plot`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plot_command.h"
#include "study/outfile.h"

int plot_failed(const struct plot_command *c, const struct store_error *err)
{
    options_error(&c->opt, "%s", err->text);
    return err->status;
}

int plot_io_error(const struct plot_command *c, const char *file)
{
    options_error(&c->opt, "%s: %s", file, strerror(errno ? errno : EIO));
    return 3;
}

int plot_inputs(struct plot_command *c)
{
    struct store_error err = {0};

    for (size_t i = 1; i < c->opt.noperands; i++)
        if (dataset_add(&c->data, c->opt.operand[i], &err) != 0)
            return plot_failed(c, &err);
    return 0;
}

static int text_of(FILE *out, const void *text)
{
    return fputs(text, out) < 0 ? -1 : 0;
}

int plot_write(const struct plot_command *c, const char *file, const void *what,
               int (*put)(FILE *out, const void *what))
{
    struct outfile o;

    if (outfile_open(&o, file) != 0 || outfile_close(&o, put(o.file, what)) != 0)
        return plot_io_error(c, file);
    return 0;
}

char *plot_script_of(const struct plot_command *c, const void *what, const char *folder,
                     int (*put)(FILE *, const struct plot_command *, const void *, const char *))
{
    char *script = NULL;
    size_t size;
    FILE *out = open_memstream(&script, &size);
    int failed;

    if (!out)
        return NULL;
    failed = put(out, c, what, folder);
    if (fclose(out) == 0 && !failed)
        return script;
    free(script);
    return NULL;
}

int plot_no_template(const struct plot_command *c, const char *name)
{
    options_error(&c->opt, "no template plots/%s: set TANDEM_HOME to the folder that has it", name);
    return 3;
}

int plot_draw(struct plot_command *c, char *script, char *origin)
{
    const char *script_file = option_text(&c->opt, "script", NULL);
    struct store_error err = {0};
    struct picture picture = {0};
    const enum picture_format format = (enum picture_format)c->format;
    int status = 3;

    if (!script || !origin)
        options_error(&c->opt, "out of memory");
    else if (script_file && plot_write(c, script_file, script, text_of) != 0)
        status = 3;
    else if (picture_draw(&picture, script, format, &err) != 0)
        status = plot_failed(c, &err);
    else if (picture_write(c->output, format, &picture, origin) != 0)
        status = plot_io_error(c, c->output);
    else
        status = 0;
    picture_free(&picture);
    free(origin);
    free(script);
    return status;
}
