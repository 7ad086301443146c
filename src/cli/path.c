/* monarc path: on which code the wall time of a job depends, and what would make it shorter.
 *
 * The report is made from the graph of who waited for whom (profile/analysis/recording/schedule.h)
 * of an open recording: the way back from the job's end through it. With --if, time is taken off
 * the samples that have a function on their stack, and the report is how much sooner the end would
 * have come.
 *
 *     recording -> session -> schedule -> path    -> struct path_report
 *                               |
 *                               +---- changes -> lengths -> struct what_if
 *
 * A change is about samples, whose stacks say in which functions they were; what it saves in each
 * slice of a thread goes to the stretches in which that thread ran there. The error of sampling is
 * that of the sum that is saved, as if each sample were drawn alone, which is rather too wide.
 *
 * A part of a recording is not taken, nor several runs: a path through half of a job would end
 * where nothing ends, and runs of a series have a path each.
 *
 * A change is NAME=2x, NAME=50% or NAME=0: names of functions may have `=` in them, so the last one
 * counts. */
#include "cli/cli.h"

#include "base/path.h"
#include "profile/analysis/recording/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `changes` are values of --if: with them the report is the prediction, not the path. */
struct path_request {
    struct view_options view;
    bool has_steps;
    struct option_list changes;
    bool is_self; /* they are without what the functions call */
};

/* The functions that a node stands for, outermost first. */
static size_t frames_of(const struct session *s, uint32_t node, const uint32_t **at)
{
    const struct call_frames *f = &s->recorded.named.frames;
    /* Without inlined functions a node is the one function of its address, or none. */
    if (!s->recorded.named.functions.len) {
        *at = &s->recorded.space.function[node];
        return **at != NO_FUNCTION;
    }
    uint32_t place = f->place[node];
    *at = f->frame + f->start[place];
    return f->start[place + 1] - f->start[place];
}

/* The functions on the path are what samples of its stretches have innermost. */
static bool path_report(struct session *s, const struct path_request *r, struct out *out,
                        struct err *e)
{
    const struct recording *recording = &s->recorded.recording;
    struct schedule schedule;
    struct schedule_path path;
    struct err why = {0};
    if (!schedule_make(&schedule, recording, recorded_spins(&s->recorded, &s->functions), &s->arena,
                       &why))
        return err_set(e, "%s: %s", s->folder, why.line);
    schedule_find_path(&schedule, &path, &s->arena);
    double *self = ARENA_NEW(&s->arena, double, s->functions.len);
    double *waited = ARENA_NEW(&s->arena, double, s->functions.len);
    for (uint32_t node = 1; node < recording->nodes.len; node++) {
        const uint32_t *frames;
        /* A stretch's time is its innermost function's alone, so that none is in the column
         * twice. */
        size_t len = path.node_ns[node] > 0 ? frames_of(s, node, &frames) : 0;
        if (len)
            (recording_is_wait(recording, node) ? waited : self)[frames[len - 1]] +=
                path.node_ns[node];
    }
    double drawn_ns = 0, drawn = 0;
    for (size_t i = 0; i < recording->samples.len; i++) {
        const struct recording_sample *one = &recording->samples.at[i];
        if (one->event || recording_is_wait(recording, one->node))
            continue;
        drawn_ns += (double)one->weight;
        drawn += one->count;
    }
    struct path_report table = {.summary = &s->summary,
                                .schedule = &schedule,
                                .path = &path,
                                .self_ns = self,
                                .waited_ns = waited,
                                .sample_ns = drawn > 0 ? drawn_ns / drawn : 0,
                                .functions = s->functions.len,
                                .limit = r->view.rules.limit,
                                .has_steps = r->has_steps};
    print_report(REPORT_PATH, &(struct report_input){.names = &s->names, .path = &table},
                 &r->view.print, out);
    return true;
}

/* --- predictions ----------------------------------------------------------------------------- */

/* As many as a word has bits: each function has a bit for each change. */
enum { MOST_CHANGES = 32 };

/* The remaining factor of the time, 0 to 1000; false: no change. "2x" is half, "50%" and "0" say
 * it.
 */
static bool change_factor(const char *text, double *factor)
{
    char *end;
    double number = strtod(text, &end);
    /* Written so that a NaN is refused, too: it fails every comparison. */
    if (end == text || !(number >= 0) || !isfinite(number))
        return false;
    if (!strcmp(end, "x") && number >= 0.001)
        *factor = 1 / number;
    else if (!strcmp(end, "%") && number <= 100000)
        *factor = number / 100;
    else if (!*end && number == 0)
        *factor = 0;
    else
        return false;
    return true;
}

/* Whether a process goes by a name: that of its command, as the kernel has it or as it was called.
 */
static bool process_goes_by(const struct recording_process *p, const char *name)
{
    size_t len = p->command ? strcspn(p->command, " ") : 0;
    const char *base = p->command;
    for (size_t i = 0; i < len; i++)
        if (p->command[i] == '/')
            base = p->command + i + 1;
    size_t rest = p->command ? len - (size_t)(base - p->command) : 0;
    return !strcmp(p->name, name) || (rest && strlen(name) == rest && !memcmp(base, name, rest));
}

/* The file that all processes of a name run and that runs as nothing else, by its number in the
 * recording: of one that does several programs' work, its code says nothing of whose it was. */
static uint32_t file_of_name(const struct recording *r, const char *name)
{
    uint32_t file = RECORDING_NONE;
    for (size_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        if (p->program == RECORDING_NONE || !process_goes_by(p, name))
            continue;
        if (file != RECORDING_NONE && file != p->program)
            return RECORDING_NONE;
        file = p->program;
    }
    for (size_t i = 0; i < r->processes.len && file != RECORDING_NONE; i++)
        if (r->processes.at[i].program == file && !process_goes_by(&r->processes.at[i], name))
            return RECORDING_NONE;
    return file;
}

/* The code of a program, by its file's name or its command's, and with it all that it calls: for a
 * name that no function has. */
static bool change_mark_program(struct session *s, const char *name, uint32_t bit, uint32_t *bits)
{
    const struct recording *r = &s->recorded.recording;
    uint32_t file = file_of_name(r, name);
    bool is_found = false;
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct function *f = &s->functions.at[i];
        if (!function_has_code(f))
            continue;
        const struct recording_object *o = s->recorded.space.objects[f->object].recorded;
        if ((!o->path || strcmp(path_base_name(o->path), name) != 0) &&
            (file == RECORDING_NONE || o != &r->objects.at[file]))
            continue;
        bits[i] |= UINT32_C(1) << bit;
        is_found = true;
    }
    return is_found;
}

/* The waits of a system call, with or without what stands before its name in tables: what it waits
 * for a device or a time is its own time, though no CPU time. What others end stays as long as they
 * take, whatever its factor. False: nobody waited in a call of that name. */
static bool change_mark_waits(struct session *s, const char *name, uint32_t bit, uint32_t *bits)
{
    static const char BEFORE[] = "[waiting] ";
    const char *call = strrchr(name, ' ') ? strrchr(name, ' ') + 1 : name;
    bool is_found = false;
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const char *own = names_get(&s->names, i);
        if (strncmp(own, BEFORE, strlen(BEFORE)) != 0 || strcmp(own + strlen(BEFORE), call) != 0)
            continue;
        bits[i] |= UINT32_C(1) << bit;
        is_found = true;
    }
    return is_found;
}

/* Functions of a change, as bits of each function. */
static bool change_mark(struct session *s, char *text, uint32_t bit, uint32_t *bits,
                        struct what_if_change *change, struct err *e)
{
    char *value = strrchr(text, '=');
    struct function_list found = {0};
    change->text = text;
    if (!value || value == text || !change_factor(value + 1, &change->factor))
        return err_set(
            e, "option '--if' takes NAME=2x (twice as fast), NAME=50%% or NAME=0, not '%s'", text);
    char *name = arena_copy(&s->arena, text, (size_t)(value - text));
    bool waits = change->has_waits = change_mark_waits(s, name, bit, bits);
    struct err none = {0};
    bool ok = functions_named(name, &s->names, s->program, &found, waits ? &none : e) || waits;
    for (size_t i = 0; i < found.all.len; i++)
        bits[found.all.at[i]] |= UINT32_C(1) << bit;
    vec_free(&found.all);
    if (ok)
        return true;
    if (change_mark_program(s, name, bit, bits)) {
        *e = (struct err){0};
        return true;
    }
    if (strstr(e->line, "has no function") && !strstr(e->line, "did you mean"))
        err_set(e, "%s: has no function, program or system call '%s'", s->program, name);
    return false;
}

/* By how much a sample of each node gets less, 0 to 1, and what changes are about. A function that
 * is on its own stack counts once; changes of functions that call each other both count. */
static double *changes_of_nodes(const struct session *s, const struct schedule *schedule,
                                const uint32_t *bits, bool is_self, struct what_if *t,
                                struct what_if_change *changes)
{
    struct session *session = (struct session *)s;
    const struct recording *r = &s->recorded.recording;
    double *saved = ARENA_NEW(&session->arena, double, r->nodes.len);
    uint32_t *of_node = ARENA_NEW(&session->arena, uint32_t, r->nodes.len);
    double *weight = ARENA_NEW(&session->arena, double, r->nodes.len);
    for (size_t i = 0; i < r->samples.len; i++)
        if (!r->samples.at[i].event)
            weight[r->samples.at[i].node] += (double)r->samples.at[i].weight;
    for (uint32_t node = 1; node < r->nodes.len; node++) {
        const uint32_t *frames;
        size_t len = frames_of(s, node, &frames);
        /* Parents precede their children, so theirs is known. With --self a node has the changes of
         * its innermost function alone, and so does a wait: what a function waits for is another
         * one's. */
        bool is_wait = recording_is_wait(r, node), is_innermost = is_self || is_wait;
        of_node[node] = is_innermost ? 0 : of_node[r->nodes.at[node].parent];
        for (size_t i = is_innermost && len ? len - 1 : 0; i < len; i++)
            of_node[node] |= bits[frames[i]];
        /* Two changes of one sample multiply: half of a half is a quarter. */
        double left = 1;
        for (size_t k = 0; k < t->len; k++)
            if (of_node[node] >> k & 1) {
                left *= changes[k].factor;
                changes[k].cpu_ns += is_wait ? 0 : weight[node];
            }
        saved[node] = 1 - left;
        t->cpu_ns += is_wait ? 0 : weight[node];
        t->new_cpu_ns += is_wait ? 0 : weight[node] * left;
    }
    /* Of waits the graph has the lengths, not samples: those leave out what a thread was ready
     * after the wait was over. The end of a wait is the next point of its lane. */
    for (uint32_t i = 0; i + 1 < schedule->points_len; i++) {
        const struct schedule_point *p = &schedule->points[i];
        for (size_t k = 0; k < t->len && schedule_point_waits(p); k++)
            if (of_node[p->node] >> k & 1)
                changes[k].waited_ns += (double)(p[1].at_ns - p->at_ns);
    }
    return saved;
}

/* Half of the 95 % interval of what is saved, by the scatter of samples: each that was taken is one
 * that might have hit something else. */
static double changes_error(const struct recording *r, const double *saved, double cpu_ns,
                            double saved_ns)
{
    double squares = 0, mean = cpu_ns > 0 ? saved_ns / cpu_ns : 0;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (s->event || !s->count || recording_is_wait(r, s->node))
            continue;
        /* A sample of the file may be several with the same stack: each scatters by itself. */
        double one = (double)s->weight / s->count, off = saved[s->node] - mean;
        squares += s->count * one * one * off * off;
    }
    return 1.96 * sqrt(squares);
}

/* The error of sampling widens the ranges at both ends, and so does CPU time that no sample has:
 * any of it may have been in the functions. But however wrong samples are, less work takes no
 * longer than all of it did, and more work no less. */
static void what_if_widen(struct what_if *t, double error_ns, double lost_ns)
{
    bool is_less = true, is_more = true;
    double most = 0, least = 0; /* of what a sample may save */
    for (size_t i = 0; i < t->len; i++) {
        is_less = is_less && t->changes[i].factor <= 1;
        is_more = is_more && t->changes[i].factor >= 1;
        most = fmax(most, 1 - t->changes[i].factor);
        least = fmin(least, 1 - t->changes[i].factor);
    }
    double less_ns = error_ns + lost_ns * most, more_ns = error_ns - lost_ns * least;
    t->cpu_low_ns = fmax(is_more ? t->cpu_ns : 0, t->new_cpu_ns - less_ns);
    t->cpu_high_ns = fmin(is_less ? t->cpu_ns : INFINITY, t->new_cpu_ns + more_ns);
    t->latest_ns = fmax(t->latest_ns, t->soonest_ns) + more_ns;
    t->latest_ns = fmin(is_less ? t->wall_ns : INFINITY, t->latest_ns);
    t->soonest_ns = fmax(is_more ? t->wall_ns : 0, t->soonest_ns - less_ns);
}

/* The recorded length is what the graph gives without savings, so that both are of one making. */
static bool what_if_report(struct session *s, const struct path_request *r, struct out *out,
                           struct err *e)
{
    struct what_if_change changes[MOST_CHANGES] = {0};
    struct what_if t = {.summary = &s->summary, .changes = changes, .len = r->changes.len};
    struct schedule schedule;
    struct err why = {0};
    if (t.len > MOST_CHANGES)
        return err_set(e, "option '--if' may be given %d times", MOST_CHANGES);
    if (!schedule_make(&schedule, &s->recorded.recording,
                       recorded_spins(&s->recorded, &s->functions), &s->arena, &why))
        return err_set(e, "%s: %s", s->folder, why.line);
    uint32_t *bits = ARENA_NEW(&s->arena, uint32_t, s->functions.len + 1);
    for (uint32_t i = 0; i < t.len; i++)
        if (!change_mark(s, r->changes.at[i], i, bits, &changes[i], e))
            return false;
    double *saved = changes_of_nodes(s, &schedule, bits, r->is_self, &t, changes);
    struct schedule_path path;
    schedule_find_path(&schedule, &path, &s->arena);
    t.has_waits = schedule.has_waits;
    t.is_one_thread = schedule.lanes_len == 1;
    /* Of one thread whose waits were not recorded, lengths take its gaps for its own. */
    t.open_ns = t.is_one_thread && !t.has_waits ? 0 : schedule_open_ns(&path);
    /* One graph, three lengths: as recorded, then with savings at both bounds of the knowledge
     * about waits. */
    schedule_save(&schedule, NULL);
    t.wall_ns = schedule_length(&schedule, SCHEDULE_SOONEST, &s->arena);
    for (size_t i = 0; i < t.len; i++)
        if (changes[i].has_waits)
            schedule.saved_unknown = fmax(schedule.saved_unknown, 1 - changes[i].factor);
    schedule_save(&schedule, saved);
    t.soonest_ns = schedule_length(&schedule, SCHEDULE_SOONEST, &s->arena);
    t.latest_ns = schedule_length(&schedule, SCHEDULE_LATEST, &s->arena);
    double error_ns =
        changes_error(&s->recorded.recording, saved, t.cpu_ns, t.cpu_ns - t.new_cpu_ns);
    what_if_widen(&t, error_ns,
                  fmax(0, (double)recording_used_ns(&s->recorded.recording) - t.cpu_ns));
    print_report(REPORT_WHAT_IF, &(struct report_input){.names = &s->names, .what_if = &t},
                 &r->view.print, out);
    return true;
}

/* JSON has all rows and steps. Without --self, what a function calls gets faster with it: that is
 * what a shorter loop does. */
static const struct option_row PATH_OPTIONS[] = {
    {'n', "limit", "N", "show the first N processes and threads (default: 20)",
     FILLS(struct path_request, view.rules.limit)},
    {0, "steps", NULL, "show each step of the path, too", FILLS(struct path_request, has_steps)},
    {0, "if", "NAME=2x",
     "predict the wall time if a function, a program, or a system call took less: NAME=2x, "
     "NAME=50% "
     "or NAME=0 (may be repeated)",
     FILLS(struct path_request, changes)},
    {0, "self", NULL, "with --if: only what functions do themselves, not what they call",
     FILLS(struct path_request, is_self)},
};

/* Options of the path have no use in a prediction, nor the other way round: what would be ignored
 * is an error. */
static bool path_or_prediction(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct path_request *r = request;
    if (!s->folder) /* other profiles have no times of threads */
        return err_set(e, "%s: is no recording; make one with 'monarc run'", s->program);
    if (!r->changes.len)
        return !r->is_self ? path_report(s, r, out, e)
                           : err_set(e, "option '--self' needs --if NAME=2x");
    if (r->has_steps || r->view.rules.limit)
        return err_set(e, "option '--%s' cannot be combined with --if",
                       r->has_steps ? "steps" : "limit");
    return what_if_report(s, r, out, e);
}

/* Inlined functions have times of their own, as in `flat`. */
static int path_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct path_request r = {.view.session.names_inlined = true};
    struct view_job job = {.request = &r, .options = &r.view, .report = path_or_prediction};
    int status = view_run(self, argc, argv, &job, out, e);
    vec_free(&r.changes);
    return status;
}

/* No part of a recording: a path through a part would end nowhere. */
static const struct option_group PATH_GROUPS[] = {
    GROUP(json_set, struct path_request, view.print),
    GROUP(demangle_set, struct path_request, view.session.no_demangle),
    GROUP(full_names_set, struct path_request, view.full_names),
    FILE_GROUPS(struct path_request, view.session),
    GROUP(wide_set, struct path_request, view.print.is_wide),
    GROUP(terminal_set, struct path_request, view.print),
};
const struct command command_path = {
    .name = "path",
    .synopsis = "[OPTION...] [RECORDING]",
    .summary = "Show the critical path of a job: what its wall time depends on",
    OPTIONS_OF(PATH_OPTIONS, PATH_GROUPS),
    .run = path_run,
};
