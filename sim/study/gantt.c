/* SPDX-License-Identifier: MIT */
/* Reads lanes. Always true: a file that is none is refused with its line, nothing is guessed. */
#include "study/gantt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "obs/json.h"
#include "obs/text.h"
#include "study/csv_line.h"
#include "study/plot_axes.h"

enum column { LANE, PCPU, VM, VCPU, TO_VCPU, STATE, TASK, FROM, TO, COLUMNS };

static const char head[] = "lane,pcpu,vm,vcpu,to_vcpu,state,task,from_ns,to_ns";

/* -- the first line -- */

static bool whole(const char *text, int64_t most, int64_t *v)
{
    char *end;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *v = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 && *v <= most;
}

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static bool count_of(const cJSON *object, const char *key, int *n)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    *n = cJSON_IsNumber(item) ? item->valueint : 0;
    return *n > 0 && *n <= 1 << 20;
}

static bool read_vms(struct gantt_run *r)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->origin, "vms"), *item;

    r->vm = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*r->vm));
    cJSON_ArrayForEach(item, list)
    {
        struct gantt_vm *vm = r->vm ? &r->vm[r->nvms++] : NULL;

        if (!vm)
            return false;
        vm->name = text_of(item, "name");
        if (!vm->name || !count_of(item, "vcpus", &vm->vcpus))
            return false;
    }
    return r->nvms > 0;
}

static bool read_origin(struct gantt_run *r, const char *line)
{
    const char *schema;

    if (strncmp(line, "# ", 2) != 0)
        return false;
    r->origin = cJSON_ParseWithOpts(line + 2, NULL, true);
    schema = text_of(r->origin, "schema");
    return schema && strcmp(schema, "tandem.gantt/1") == 0 &&
           whole(text_of(r->origin, "from_ns"), INT64_MAX, &r->from) &&
           whole(text_of(r->origin, "to_ns"), INT64_MAX, &r->to) && r->to > r->from &&
           count_of(r->origin, "pcpus", &r->npcpus) && read_vms(r);
}

/* -- which lanes -- */

static bool listed(const struct gantt_filter *f, const char *name)
{
    for (size_t i = 0; i < f->nvms; i++)
        if (strcmp(f->vm[i], name) == 0)
            return true;
    return f->nvms == 0;
}

static int no_such_vm(const struct gantt_run *r, const char *vm, struct store_error *err)
{
    const char **names = calloc(r->nvms + 1, sizeof(*names));

    for (size_t k = 0; names && k < r->nvms; k++)
        names[k] = r->vm[k].name;
    if (names)
        plot_no_vm(err, r->name, vm, names, r->nvms);
    else
        plot_fail(err, 4, "out of memory");
    free(names);
    return -1;
}

static int choose_vms(struct gantt_run *r, const struct gantt_filter *f, struct store_error *err)
{
    for (size_t i = 0; i < f->nvms; i++) {
        size_t k = 0;

        while (k < r->nvms && strcmp(r->vm[k].name, f->vm[i]) != 0)
            k++;
        if (k == r->nvms)
            return no_such_vm(r, f->vm[i], err);
    }
    for (size_t k = 0; k < r->nvms; k++) {
        r->vm[k].first_lane = listed(f, r->vm[k].name) ? r->nlanes[GANTT_VCPUS] : SIZE_MAX;
        if (r->vm[k].first_lane != SIZE_MAX)
            r->nlanes[GANTT_VCPUS] += (size_t)r->vm[k].vcpus;
    }
    return 0;
}

static int choose_pcpus(struct gantt_run *r, const struct gantt_filter *f, struct store_error *err)
{
    struct conf_errors errors = {0};
    struct conf_tree *t = NULL;
    bool fits = true;

    if (f->pcpus) {
        t = conf_read_text("pcpu", f->pcpus, strlen(f->pcpus), &errors);
        fits =
            t && conf_cpulist(conf_root(t), r->npcpus, &r->pcpu, &r->nlanes[GANTT_PCPUS], &errors);
    } else {
        r->nlanes[GANTT_PCPUS] = (size_t)r->npcpus;
        r->pcpu = malloc((size_t)r->npcpus * sizeof(*r->pcpu));
        for (int p = 0; r->pcpu && p < r->npcpus; p++)
            r->pcpu[p] = p;
    }
    conf_free(t);
    conf_errors_free(&errors);
    if (!fits)
        return plot_fail(err, 2, "%s: '%s' are no pCPUs of its %d", r->name, f->pcpus, r->npcpus);
    return r->pcpu ? 0 : plot_fail(err, 4, "out of memory");
}

static int choose(struct gantt_run *r, const struct gantt_filter *f, struct store_error *err)
{
    if (r->nvms > GANTT_VMS)
        return plot_fail(err, 2, "%s: %zu VMs are too many for one figure, at most %d", r->name,
                         r->nvms, GANTT_VMS);
    if (choose_vms(r, f, err) || choose_pcpus(r, f, err))
        return -1;
    if (r->nlanes[GANTT_PCPUS] + r->nlanes[GANTT_VCPUS] > GANTT_LANES)
        return plot_fail(
            err, 2,
            "%s: %zu pCPUs and %zu vCPUs are too many lanes for one figure, at most %d: "
            "choose by --filter pcpu=0-7 and --filter vm=NAME",
            r->name, r->nlanes[GANTT_PCPUS], r->nlanes[GANTT_VCPUS], GANTT_LANES);
    return 0;
}

/* -- rows -- */

/* Room for one more of n things. NULL without memory, and then `list` stays. */
static void *more_of(void *list, size_t n, size_t *room, size_t size)
{
    void *more = list;

    if (n < *room)
        return list;
    more = realloc(list, (2 * *room + 256) * size);
    *room = more ? 2 * *room + 256 : *room;
    return more;
}

static size_t vm_called(const struct gantt_run *r, const char *name)
{
    size_t i = 0;

    while (i < r->nvms && strcmp(r->vm[i].name, name) != 0)
        i++;
    return i;
}

static size_t lane_of_pcpu(const struct gantt_run *r, int64_t pcpu)
{
    for (size_t i = 0; i < r->nlanes[GANTT_PCPUS]; i++)
        if (r->pcpu[i] == pcpu)
            return i;
    return SIZE_MAX;
}

/* False: not a state. */
static bool state_called(const char *name, enum span_state *s)
{
    for (int i = 0; i < SPAN_STATES; i++)
        if (strcmp(span_state_name((enum span_state)i), name) == 0) {
            *s = (enum span_state)i;
            return true;
        }
    return false;
}

/* What rows may be: wrong, of lanes that are left out, drawn, or without memory. */
enum row { ROW_BAD, ROW_OTHER, ROW_DRAWN, ROW_LOST };

static enum row keep_span(struct gantt_run *r, const struct gantt_span *s, const char *task)
{
    struct gantt_span *more = more_of(r->span, r->nspans, &r->spans_room, sizeof(*more));

    if (!more)
        return ROW_LOST;
    r->span = more;
    more[r->nspans] = *s;
    more[r->nspans].task = strdup(task);
    return more[r->nspans].task ? (r->nspans++, ROW_DRAWN) : ROW_LOST;
}

static enum row take_pcpu(struct gantt_run *r, char *const *field, struct gantt_span s)
{
    int64_t pcpu, vcpu = -1;

    if (!whole(field[PCPU], r->npcpus - 1, &pcpu))
        return ROW_BAD;
    s.vm = r->nvms;
    if (strcmp(field[STATE], "vcpu") == 0) {
        s.vm = vm_called(r, field[VM]);
        if (s.vm == r->nvms || !whole(field[VCPU], r->vm[s.vm].vcpus - 1, &vcpu))
            return ROW_BAD;
    } else if (strcmp(field[STATE], "idle") != 0) {
        return ROW_BAD;
    }
    s.vcpu = (int)vcpu;
    s.level = GANTT_PCPUS;
    s.lane = lane_of_pcpu(r, pcpu);
    return s.lane == SIZE_MAX ? ROW_OTHER : keep_span(r, &s, "");
}

/* Rows of vCPUs and of wake-ups begin alike. */
static enum row take_vcpu(struct gantt_run *r, char *const *field, struct gantt_span s, bool wakes)
{
    const size_t vm = vm_called(r, field[VM]);
    int64_t vcpu, to;
    size_t first;

    if (vm == r->nvms || !whole(field[VCPU], r->vm[vm].vcpus - 1, &vcpu))
        return ROW_BAD;
    first = r->vm[vm].first_lane;
    if (wakes) {
        struct gantt_wake *more = more_of(r->wake, r->nwakes, &r->wakes_room, sizeof(*more));

        if (!more)
            return ROW_LOST;
        r->wake = more;
        if (!whole(field[TO_VCPU], r->vm[vm].vcpus - 1, &to))
            return ROW_BAD;
        if (first == SIZE_MAX)
            return ROW_OTHER;
        more[r->nwakes++] =
            (struct gantt_wake){first + (size_t)vcpu, first + (size_t)to, s.from, s.to};
        return ROW_DRAWN;
    }
    if (!state_called(field[STATE], &s.state))
        return ROW_BAD;
    s.level = GANTT_VCPUS;
    s.lane = first + (size_t)vcpu;
    s.vm = vm;
    s.vcpu = (int)vcpu;
    return first == SIZE_MAX ? ROW_OTHER : keep_span(r, &s, field[TASK]);
}

static enum row take_row(struct gantt_run *r, char *line)
{
    struct gantt_span s = {.state = SPAN_IDLE};
    char *field[COLUMNS];

    if (csv_split(line, field, COLUMNS) != COLUMNS || !whole(field[FROM], r->to, &s.from) ||
        !whole(field[TO], r->to, &s.to) || s.from < r->from || s.to < s.from)
        return ROW_BAD;
    if (strcmp(field[LANE], "pcpu") == 0)
        return take_pcpu(r, field, s);
    if (strcmp(field[LANE], "vcpu") == 0 || strcmp(field[LANE], "wake") == 0)
        return take_vcpu(r, field, s, *field[LANE] == 'w');
    return ROW_BAD;
}

static int read_line(struct gantt_run *r, char *line, int number, const struct gantt_filter *f,
                     const char *file, struct store_error *err)
{
    enum row row = ROW_DRAWN;

    if (number == 1) {
        row = read_origin(r, line) ? ROW_DRAWN : ROW_BAD;
        if (row == ROW_DRAWN && choose(r, f, err))
            return -1;
    } else {
        row = number > 2 ? take_row(r, line) : strcmp(line, head) == 0 ? ROW_DRAWN : ROW_BAD;
    }
    if (row == ROW_BAD)
        return plot_fail(err, 2, "%s:%d: this is not what 'tandem run --gantt' writes", file,
                         number);
    if (row == ROW_LOST)
        return plot_fail(err, 4, "out of memory");
    if (r->nspans > GANTT_SPANS)
        return plot_fail(err, 2,
                         "%s: more than %d spans are too many for one figure: choose lanes by "
                         "--filter, or a shorter --window of the run",
                         file, GANTT_SPANS);
    return 0;
}

static char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = strdup(slash ? slash + 1 : file), *dot = name ? strrchr(name, '.') : NULL;

    if (dot && dot != name)
        *dot = '\0';
    return name;
}

int gantt_add(struct gantt_chart *g, const char *file, const struct gantt_filter *filter,
              struct store_error *err)
{
    struct gantt_run *r = &g->run[g->n++];
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int number = 0, bad = 0;

    if (!in)
        return plot_fail(err, 3, "%s: %s", file, strerror(errno));
    r->name = base_name(file);
    if (!r->name)
        bad = plot_fail(err, 4, "out of memory");
    while (!bad && (len = getline(&line, &size, in)) >= 0) {
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        bad = read_line(r, line, ++number, filter, file, err);
    }
    if (!bad && ferror(in))
        bad = plot_fail(err, 3, "%s: %s", file, strerror(errno));
    if (!bad && number < 2)
        bad = plot_fail(err, 2, "%s:%d: this is not what 'tandem run --gantt' writes", file,
                        number + 1);
    free(line);
    fclose(in);
    return bad;
}

void gantt_chart_free(struct gantt_chart *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct gantt_run *r = &g->run[i];

        for (size_t k = 0; k < r->nspans; k++)
            free(r->span[k].task);
        free(r->span);
        free(r->wake);
        free(r->vm);
        free(r->pcpu);
        free(r->name);
        cJSON_Delete(r->origin);
    }
}

/* -- what was drawn, and from what -- */

static void csv_span(FILE *out, const struct gantt_run *r, const struct gantt_span *s)
{
    text_put_csv(out, r->name);
    if (s->level == GANTT_PCPUS)
        fprintf(out, ",pcpu,%d,", r->pcpu[s->lane]);
    else
        fputs(",vcpu,,", out);
    if (s->vm < r->nvms) {
        text_put_csv(out, r->vm[s->vm].name);
        fprintf(out, ",%d,", s->vcpu);
    } else {
        fputs(",,", out);
    }
    fputs(s->level == GANTT_VCPUS ? span_state_name(s->state)
          : s->vm < r->nvms       ? "vcpu"
                                  : "idle",
          out);
    fputc(',', out);
    text_put_csv(out, s->task);
    fprintf(out, ",%" PRId64 ",%" PRId64 "\n", s->from, s->to);
}

int gantt_csv(FILE *out, const struct gantt_chart *g)
{
    fputs("run,lane,pcpu,vm,vcpu,state,task,from_ns,to_ns\n", out);
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->run[i].nspans; k++)
            csv_span(out, &g->run[i], &g->run[i].span[k]);
    return ferror(out) ? -1 : 0;
}

/* Values of a member of the origins, each once; how many. */
static size_t members(const struct gantt_chart *g, const char *member,
                      const char *list[GANTT_INPUTS])
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const char *text = text_of(g->run[i].origin, member);
        bool known = !text;

        for (size_t k = 0; !known && k < n; k++)
            known = strcmp(list[k], text) == 0;
        if (!known)
            list[n++] = text;
    }
    return n;
}

static void put_list(struct json *j, const char *key, const struct gantt_chart *g,
                     const char *member)
{
    const char *list[GANTT_INPUTS];
    const size_t n = members(g, member, list);

    json_array(j, key, true);
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, list[i]);
    json_close(j);
}

char *gantt_origin(const struct gantt_chart *g)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *hash[GANTT_INPUTS];
    struct json j;

    if (!out)
        return NULL;
    json_init(&j, out, true);
    json_object(&j, NULL, true);
    json_string(&j, "schema", "tandem.figure/1");
    json_string(&j, "figure", GANTT_FIGURE);
    put_list(&j, "versions", g, "version");
    put_list(&j, "seeds", g, "seed");
    origin_put_scenarios(&j, hash, members(g, "hash", hash));
    put_list(&j, "from_ns", g, "from_ns");
    put_list(&j, "to_ns", g, "to_ns");
    json_close(&j);
    if (fclose(out) == 0) {
        picture_make_ascii(text);
        return text;
    }
    free(text);
    return NULL;
}
