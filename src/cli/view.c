/* Options shared by the native reports. */
#include "cli/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool option_decimal(const char *option, const char *value, double *out, struct err *e)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number) || number < 0)
        return err_set(e, "option '%s' needs a number, not '%s'", option, value);
    *out = number;
    return true;
}

static bool parse_row_sort(struct view_rules *rules, const char *value, struct err *e)
{
    static const char *const names[] = {
        [BY_SELF] = "self", [BY_TOTAL] = "total", [BY_CALLS] = "calls", [BY_NAME] = "name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]))
            continue;
        rules->sort = (enum view_sort)i;
        rules->has_sort = true;
        return true;
    }
    return err_set(e, "option '--sort' takes self, total, calls or name, not '%s'", value);
}

static bool recorded_option(struct view_options *o, int row, const char *value, struct err *e)
{
    struct recorded_filter *f = &o->session.recorded;
    uint64_t pid;
    o->session.has_recorded_filter = true;
    switch (row) {
    case VIEW_OPTION_EVENT: f->event = value; return true;
    case VIEW_OPTION_PROGRAM: f->program = value; return true;
    case VIEW_OPTION_THREAD: f->named_thread = value; return true;
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
    case VIEW_OPTION_SORT: return parse_row_sort(&o->rules, value, e);
    case VIEW_OPTION_LIMIT: return option_number("--limit", value, UINT32_MAX, &o->rules.limit, e);
    case VIEW_OPTION_MIN_PERCENT:
        return option_decimal("--min-percent", value, &o->rules.min_percent, e);
    case VIEW_OPTION_FOCUS: return filter_add(&o->filter, value, false, e);
    case VIEW_OPTION_IGNORE: return filter_add(&o->filter, value, true, e);
    case VIEW_OPTION_SELECT: return filter_add_place(&o->filter, value, e);
    case VIEW_OPTION_ALL: return o->rules.shows_all = true;
    case VIEW_OPTION_NO_DEMANGLE: return o->session.no_demangle = true;
    case VIEW_OPTION_LINKAGE_NAMES: return o->print.is_wide = o->print.has_linkage_names = true;
    case VIEW_OPTION_FULL_NAMES: return o->print.is_wide = o->full_names = true;
    case VIEW_OPTION_PIECES: return o->session.keeps_pieces = true;
    case VIEW_OPTION_WIDE: return o->print.is_wide = true;
    case VIEW_OPTION_DEBUG_DIR: o->session.debug_dir = value; return true;
    case VIEW_OPTION_SYMBOLS: o->session.symbols = value; return true;
    case VIEW_OPTION_FORCE: return o->session.is_forced = true;
    case VIEW_OPTION_JSON: o->print.format = REPORT_JSON; return true;
    case VIEW_OPTION_CSV: o->print.format = REPORT_CSV; return true;
    case VIEW_OPTION_COLOR: return parse_colour(value, &o->print.colour, e);
    case VIEW_OPTION_NO_PAGER: return o->print.no_pager = true;
    case VIEW_OPTION_EVENT:
    case VIEW_OPTION_PROCESS:
    case VIEW_OPTION_PROGRAM:
    case VIEW_OPTION_THREAD:
    case VIEW_OPTION_FROM:
    case VIEW_OPTION_TO:
    case VIEW_OPTION_PHASE: return recorded_option(o, row, value, e);
    default: return profile_option(&o->session.read, row, value, e);
    }
}

bool view_operands(struct session_options *o, const struct option_walk *walk, struct err *e)
{
    const char *name = walk->command->name;
    if (!walk->operands)
        return err_set(e, "%s needs the PROGRAM that was profiled; see 'monarc %s --help'", name,
                       name);
    return session_operands(o, walk->argv, (size_t)walk->operands, e);
}

/* Of the functions that a report can have rows of. */
static const bool *rows_there_can_be(struct session *s, const struct view_options *o)
{
    bool *is_shown = ARENA_NEW(&s->arena, bool, s->functions.len);
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct graph_node *n = &s->graph.nodes[i];
        is_shown[i] = o->rules.shows_all || o->session.adds_static || n->self > 0 ||
                      n->children > 0 || n->calls || n->self_calls;
    }
    return is_shown;
}

static void prepare_names(struct session *s, const struct view_options *o)
{
    const bool *is_shown = rows_there_can_be(s, o);
    names_tell_apart(&s->names, session_objects(s), is_shown);
    if (view_has_short_names(o))
        names_shorten(&s->names, is_shown);
}

/* Opens, and says how far it is where somebody waits at a terminal. */
static bool open_telling(struct session *s, struct session_options *o, struct err *e)
{
    struct progress *progress = progress_start();
    o->read.progress = progress;
    bool ok = session_open(s, o, e);
    o->read.progress = NULL;
    progress_end(progress);
    return ok;
}

/* Also while the report is made, if it is not written to the same terminal. */
static bool report_telling(struct session *s, const struct view_job *job, struct out *out,
                           struct err *e)
{
    const char *output = job->output ? *job->output : NULL;
    bool is_elsewhere =
        job->output && (output && strcmp(output, "-") ? true : !isatty(STDOUT_FILENO));
    struct progress *progress = is_elsewhere ? progress_start() : NULL;
    progress_phase(progress, "making the report", 0);
    bool ok = job->report(s, job->request, out, e);
    progress_end(progress);
    return ok;
}

static bool open_and_report(struct session *s, const struct view_job *job,
                            const struct option_walk *walk, struct out *out, struct err *e)
{
    struct view_options *o = job->options;
    if (!view_operands(&o->session, walk, e) || !open_telling(s, &o->session, e))
        return false;
    o->rules.filter = &o->filter;
    if (!job->rows_are_lines)
        filter_locate(&o->filter, &s->functions, session_objects(s));
    prepare_names(s, o);
    return report_telling(s, job, out, e) && session_debug_is_whole(s, e);
}

int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct session s = {0};
    bool is_fine = false;
    int end = options_each(&walk, job->take, job->request, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        is_fine = true;
    } else if (end == OPTION_END) {
        is_fine = open_and_report(&s, job, &walk, out, e);
    }
    session_close(&s);
    filter_deinit(&job->options->filter);
    return is_fine ? EXIT_FINE : EXIT_BAD;
}
