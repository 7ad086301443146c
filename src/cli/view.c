/* Options and analysis shared by the native reports. */
#include "cli/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

bool option_decimal(const char *option, const char *value, double *out, struct err *e)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number) || number < 0)
        return err_set(e, "option '%s' needs a number, not '%s'", option, value);
    *out = number;
    return true;
}

static bool parse_order_of_rows(struct view_rules *rules, const char *value, struct err *e)
{
    static const char *const names[] = {
        [BY_SELF] = "self", [BY_TOTAL] = "total", [BY_CALLS] = "calls", [BY_NAME] = "name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]))
            continue;
        rules->order = (enum view_order)i;
        rules->has_order = true;
        return true;
    }
    return err_set(e, "option '--sort' takes self, total, calls or name, not '%s'", value);
}

static bool recorded_option(struct view_options *o, int row, const char *value, struct err *e)
{
    struct recorded_filter *f = &o->recorded;
    uint64_t pid;
    o->has_recorded_filter = true;
    switch (row) {
    case VIEW_OPTION_EVENT: f->event = value; return true;
    case VIEW_OPTION_PROGRAM: f->program = value; return true;
    case VIEW_OPTION_PHASE: f->phase = value; return true;
    case VIEW_OPTION_FROM: f->has_from = true; return option_decimal("--from", value, &f->from, e);
    case VIEW_OPTION_TO: f->has_to = true; return option_decimal("--to", value, &f->to, e);
    default:
        if (!option_number("--process", value, UINT32_MAX, &pid, e))
            return false;
        f->pid = (uint32_t)pid;
        return pid || err_set(e, "option '--process' needs the number of a process, not 0");
    }
}

/* A switch table. */
bool view_option(struct view_options *o, int row, const char *value, struct err *e)
{
    switch (row) {
    case VIEW_OPTION_SORT: return parse_order_of_rows(&o->rules, value, e);
    case VIEW_OPTION_LIMIT: return option_number("--limit", value, UINT32_MAX, &o->rules.limit, e);
    case VIEW_OPTION_MIN_PERCENT:
        return option_decimal("--min-percent", value, &o->rules.min_percent, e);
    case VIEW_OPTION_FOCUS: return filter_add(&o->filter, value, false, e);
    case VIEW_OPTION_IGNORE: return filter_add(&o->filter, value, true, e);
    case VIEW_OPTION_ALL: return o->rules.shows_all = true;
    case VIEW_OPTION_NO_DEMANGLE: return o->no_demangle = true;
    case VIEW_OPTION_LINKAGE_NAMES: return o->linkage_names = true;
    case VIEW_OPTION_FULL_NAMES: return o->full_names = true;
    case VIEW_OPTION_DEBUG_DIR: o->debug_dir = value; return true;
    case VIEW_OPTION_FORCE: return o->is_forced = true;
    case VIEW_OPTION_JSON: o->is_csv = false; return o->is_json = true;
    case VIEW_OPTION_CSV: o->is_json = false; return o->is_csv = true;
    case VIEW_OPTION_COLOR: return parse_colour(value, &o->colour, e);
    case VIEW_OPTION_NO_PAGER: return o->no_pager = true;
    case VIEW_OPTION_EVENT:
    case VIEW_OPTION_PROCESS:
    case VIEW_OPTION_PROGRAM:
    case VIEW_OPTION_FROM:
    case VIEW_OPTION_TO:
    case VIEW_OPTION_PHASE: return recorded_option(o, row, value, e);
    default: return profile_option(&o->read, row, value, e);
    }
}

static bool take_recordings(struct view_options *o, const struct option_walk *walk, struct err *e)
{
    o->profiles = walk->argv;
    o->profiles_len = (size_t)walk->operands;
    o->is_recording = true;
    for (int i = 1; i < walk->operands; i++)
        if (!is_folder(walk->argv[i]))
            return err_in(e, walk->argv[0],
                          "is a recording, which has its profiles in it; name it with other "
                          "recordings only");
    return true;
}

static void describe_time(char *into, size_t size, time_t at)
{
    struct tm parts;
    if (!localtime_r(&at, &parts) || !strftime(into, size, "%Y-%m-%d %H:%M:%S", &parts))
        into[0] = '\0';
}

/* The newer one of gmon.out and the folder that 'monarc run' leaves for the program, here. */
static void take_newest(struct view_options *o)
{
    const char *slash = strrchr(o->program, '/'), *name = slash ? slash + 1 : o->program;
    struct stat gmon, side;
    char path[4096], when[32];
    snprintf(o->default_path, sizeof o->default_path, "%s.monarc", name);
    snprintf(path, sizeof path, "%s/monarc.side", o->default_path);
    bool has_side = strlen(name) + 8 < sizeof o->default_path && !stat(path, &side);
    bool has_gmon = !stat("gmon.out", &gmon);
    o->is_recording = has_side && (!has_gmon || side.st_mtime >= gmon.st_mtime);
    if (has_side && has_gmon) {
        describe_time(when, sizeof when, o->is_recording ? gmon.st_mtime : side.st_mtime);
        snprintf(o->newest, sizeof o->newest, "%s is newer than %s of %s, which is not shown",
                 o->is_recording ? "the recording" : "gmon.out",
                 o->is_recording ? "gmon.out" : "the recording", when);
    }
    if (!o->is_recording)
        strcpy(o->default_path, "gmon.out");
    o->default_paths[0] = o->default_path;
    o->profiles = o->default_paths;
    o->profiles_len = 1;
}

bool view_operands(struct view_options *o, const struct option_walk *walk, struct err *e)
{
    const char *name = walk->command->name;
    if (!walk->operands)
        return err_set(e, "%s needs the PROGRAM that was profiled; see 'monarc %s --help'", name,
                       name);
    o->program = walk->argv[0];
    o->profiles = walk->argv + 1;
    o->profiles_len = (size_t)walk->operands - 1;
    if (is_folder(o->program))
        return take_recordings(o, walk, e);
    if (!o->profiles_len)
        take_newest(o);
    return o->is_recording || !o->has_recorded_filter ||
           err_in(e, o->program,
                  "--event, --process, --program, --from, --to and --phase choose from a "
                  "recording; name one");
}

static bool reads_stdin(const struct view_options *o)
{
    for (size_t i = 0; i < o->profiles_len; i++)
        if (!strcmp(o->profiles[i], "-"))
            return true;
    return false;
}

/* The program says what the files do not. Files that make no sense so, but do otherwise, are
 * another program's, which the judgement will say better than the reader can. */
static bool read_profiles(struct view *v, const struct view_options *o, struct err *e)
{
    struct profile_options hinted = o->read;
    if (!hinted.hint.word)
        hinted.hint.word = object_word(v->object);
    if (hinted.hint.order == ORDER_UNKNOWN)
        hinted.hint.order = object_is_big_endian(v->object) ? ORDER_BIG : ORDER_LITTLE;
    if (profiles_load(&hinted, o->profiles, o->profiles_len, &v->profile, e))
        return true;
    struct err second;
    return !reads_stdin(o) &&
           profiles_load(&o->read, o->profiles, o->profiles_len, &v->profile, &second);
}

static bool judge(struct view *v, const struct view_options *o, struct err *e)
{
    fit_judge(&v->fit, &v->profile, v->object, &v->functions);
    if (v->fit.kind == FIT_WELL)
        return true;
    const char *evidence = fit_evidence(&v->fit, &v->profile, v->object, &v->arena);
    v->summary.mismatch = evidence;
    v->summary.was_forced = o->is_forced;
    return o->is_forced ||
           err_set(e, "%s was not recorded by %s: %s (--force reports all the same)",
                   o->profiles_len == 1 ? o->profiles[0] : "the profile", o->program, evidence);
}

/* Adds to the rules of the graph what was asked for. */
static bool add_static_calls(struct view *v, const struct view_options *o,
                             struct graph_rules *rules, struct err *e)
{
    if (!o->adds_static)
        return true;
    if (o->is_recording)
        return err_set(e, "%s: --static reads the code of one program; name it, not a recording",
                       o->program);
    if (!static_calls_native(&v->calls, &v->functions, v->object, &v->arena))
        return err_set(e, "%s: --static cannot read the code of this machine (ELF number %u)",
                       o->program, object_machine(v->object));
    rules->calls = &v->calls;
    return true;
}

static bool open_program(struct view *v, struct view_options *o, struct err *e)
{
    v->object =
        object_open(o->program, &(struct object_options){.debug_dir = o->debug_dir}, NULL, e);
    if (!v->object)
        return false;
    functions_native(&v->functions, v->object, &v->arena);
    if (!v->functions.len)
        return err_set(e,
                       "%s: has no symbols, so that samples cannot be told apart; link without "
                       "-s, or keep the debug file and name its directory with --debug-dir",
                       o->program);
    return read_profiles(v, o, e) && judge(v, o, e);
}

/* Time per function as the stacks have it. */
static void attribute_run(struct view *v)
{
    const struct recorded *r = &v->recorded;
    const struct run_event *event = r->summary.event;
    struct attribution *t = &v->time;
    *t = (struct attribution){.self = r->stacks.self,
                              .total = r->weights.total,
                              .unattributed = r->stacks.unplaced,
                              .has_histogram = event && (r->run.rate || r->weights.taken)};
    run_dimension(event, &t->dimension, &t->abbreviation);
    if (event && event->unit == RUN_UNIT_NS)
        t->rate = 1e9 / (double)event->period;
    else if (event)
        t->rate = 1.0 / (double)event->period;
}

static bool open_recording(struct view *v, struct view_options *o, struct err *e)
{
    struct recorded_options options = {o->read, o->debug_dir, o->is_forced, o->places_samples,
                                       o->recorded};
    struct recorded *r = &v->recorded;
    v->folder = o->profiles[0];
    if (!recorded_open(r, o->profiles, o->profiles_len, &options, &v->functions, e))
        return false;
    v->profile = r->profile;
    r->profile = (struct profile){0};
    attribute_run(v);
    v->summary.program = r->summary.path;
    v->summary.run = &r->summary;
    v->summary.effective = r->weights.effective;
    v->summary.stacks = r->stacks.has_callers ? &r->stacks : NULL;
    if (*o->newest)
        vec_push(&r->notes, o->newest);
    recorded_take_notes(r, v->profile.arcs.len);
    v->summary.notes = r->notes.at;
    v->summary.notes_len = r->notes.len;
    v->summary.mismatch = r->mismatch;
    v->summary.was_forced = r->mismatch != NULL;
    return true;
}

static bool open_gmon(struct view *v, struct view_options *o, struct err *e)
{
    if (!open_program(v, o, e))
        return false;
    attribute_native(&v->time, &v->profile, &v->functions, &v->arena);
    if (*o->newest) {
        v->notes[0] = o->newest;
        v->summary.notes = v->notes;
        v->summary.notes_len = 1;
    }
    return true;
}

/* Of the functions that a report can have rows of. */
static void shorten_names(struct view *v, const struct view_options *o)
{
    bool *is_shown = ARENA_NEW(&v->arena, bool, v->functions.len);
    for (uint32_t i = 0; i < v->functions.len; i++) {
        const struct graph_node *n = &v->graph.nodes[i];
        is_shown[i] = o->rules.shows_all || o->adds_static || n->self > 0 || n->children > 0 ||
                      n->calls || n->self_calls;
    }
    names_shorten(&v->names, is_shown);
}

bool view_open(struct view *v, struct view_options *o, struct err *e)
{
    o->rules.filter = &o->filter;
    v->selection.arena = &v->arena;
    v->summary.program = o->program;
    v->summary.profiles = (const char *const *)o->profiles;
    v->summary.profiles_len = o->profiles_len;
    if (o->is_recording ? !open_recording(v, o, e) : !open_gmon(v, o, e))
        return false;
    selection_resolve(&v->selection, &v->functions, v->object);
    struct graph_rules rules = {.is_gnu = false};
    if (!add_static_calls(v, o, &rules, e))
        return false;
    if (o->measures_graph && v->summary.stacks)
        graph_build_measured(&v->graph, &v->functions, &v->profile, &v->time, &v->selection,
                             v->summary.stacks, &v->arena);
    else
        graph_build(&v->graph, &v->functions, &v->profile, &v->time, &v->selection, rules,
                    &v->arena);
    names_init(&v->names, &v->functions, o->no_demangle ? NULL : "auto", &v->arena);
    if (view_has_short_names(o))
        shorten_names(v, o);
    summary_count(&v->summary, &v->profile, &v->time, &v->graph);
    return true;
}

void view_close(struct view *v, struct view_options *o)
{
    profile_deinit(&v->profile);
    recorded_close(&v->recorded);
    if (v->object)
        object_close(v->object);
    arena_deinit(&v->arena);
    filter_deinit(&o->filter);
}

int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct view v = {0};
    bool is_fine = false;
    int end = options_each(&walk, job->take, job->request, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        is_fine = true;
    } else if (end == OPTION_END) {
        is_fine = view_operands(job->options, &walk, e) && view_open(&v, job->options, e) &&
                  job->report(&v, job->request, out, e);
    }
    view_close(&v, job->options);
    return is_fine ? EXIT_FINE : EXIT_BAD;
}
