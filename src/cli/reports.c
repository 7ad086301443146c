/* monarc flat, lines, annotate and doctor: where time went and how often code ran, by
 * function, by line, in the source, and how far to trust that.
 *
 * Each command is its options, its defaults and a report() that hands what the session has read to
 * one analysis and the resulting table to print_report(). Nothing is computed here. flat and lines
 * go by functions and take the way of view_run(); annotate and lines --counts go by source lines,
 * which source_run() has found for them.
 *
 * A plain profile has bins and arcs and nothing else, so that a recording is required wherever
 * objects, threads, processes or inlined functions are to have rows of their own.
 *
 *    flat       functions      struct flat, or struct shares
 *    lines      lines          struct lines_table, or with --counts struct source_lines
 *    annotate   the source     struct annotated
 *    doctor     findings       struct diagnosis */
#include "cli/cli.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"
#include "profile/report/report.h"
#include "session/diagnosed.h"
#include "session/imported.h"
#include "session/report_inputs.h"

#include <string.h>

/* --- flat ------------------------------------------------------------------------------------ */

extern const struct command command_flat;

/* by_object, by_thread and by_process are three other tables, of which one is shown: that of
 * processes before that of threads, and this before that of objects. */
struct flat_request {
    struct view_options view;
    bool by_object, by_thread, by_process;
    bool wants_inlines;
    struct option_list base;
    const struct view_addition *addition; /* or NULL */
};

/* Tables by object, thread and process need a recording, as does --inlines; flat_report() says
 * so. */
static const struct option_row FLAT_OPTIONS[] = {
    {0, "model", NULL, "also show gprof's estimate of total time",
     FILLS(struct flat_request, view.rules.shows_model),
     ALSO_SETS(struct flat_request, view.session.has_hosts)}, /* it knows no inlined functions */
    {0, "by-object", NULL, "one row per executable or library (of a recording)",
     FILLS(struct flat_request, by_object)},
    {0, "by-thread", NULL,
     "threads, and below each the functions it ran (of a recording; --limit: how many)",
     FILLS(struct flat_request, by_thread)},
    {0, "by-process", NULL, "one row per process: CPU time and exit status (of a recording)",
     FILLS(struct flat_request, by_process)},
    {0, "inlines", NULL, "inlined functions have rows of their own (default for recordings)",
     FILLS(struct flat_request, wants_inlines)},
    HOSTS_ROW(struct flat_request, view.session.has_hosts),
};

/* What own code costs is mostly in what it calls. */
static void own_by_total(const struct view_options *o, struct view_rules *rules)
{
    if (o->filter.only_own && !rules->has_sort) {
        rules->has_sort = true;
        rules->sort = BY_TOTAL;
    }
}

/* Rows of a recording that say nothing: a function that only calls others has no time of its own,
 * and `graph` shows it. Sorted by anything else, searched for, or for a program, they stay. */
static bool flat_leaves_out_idle(const struct session *s, const struct view_options *o)
{
    return s->folder && !o->print.format && !o->filter.focus.len && !o->filter.places.len &&
           !o->filter.only_own && (!o->rules.has_sort || o->rules.sort == BY_SELF);
}

/* The table, with what text says of it beside. */
static void flat_fill(struct flat *table, struct session *s, const struct flat_request *r,
                      const struct view_rules *rules)
{
    const struct filter *filter = &r->view.filter;
    bool is_chosen = filter->focus.len || filter->ignore.len || filter->places.len ||
                     filter->only_own || rules->has_sort;
    flat_make(table, &s->summary, &s->graph, &s->names, rules, &s->arena);
    if (!is_chosen && !r->base.len && !rules->is_short)
        flat_find_own(table, &s->functions, session_objects(s));
    if (!r->view.print.format)
        flat_locate(table, &s->functions, session_objects(s));
}

/* As many functions as the terminal has room for beside the head, the legend and what is added
 * below. What is printed of a few rows says how many lines are left; rows that come with them may
 * bring a head of their own, or a legend, and then some have to go. The answer is to stay in sight:
 * the project's own functions are left to `flat` where there is no room for both. */
static void flat_fit(struct session *s, const struct flat_request *r, struct view_rules *rules,
                     const struct out *screen)
{
    enum { FEW = 5, MOST = 30 };
    const struct view_addition *addition = r->addition;
    rules->limit = addition->rows ? FEW : MOST;
    for (int try = 0; addition->rows && try < 4; try++) {
        struct flat table;
        struct report_input in = {.names = &s->names, .flat = &table};
        struct out text;
        int room = addition->rows - 1; /* where the shell asks again */
        flat_fill(&table, s, r, rules);
        out_init(&text, -1);
        text.columns = terminal_columns(screen);
        print_report(REPORT_FLAT, &in, &r->view.print, &text);
        addition->write(s, addition->context, &text);
        for (size_t i = 0; i < text.len; i++)
            room -= text.at[i] == '\n';
        out_deinit(&text);
        int limit = (int)rules->limit + room;
        rules->is_short |= limit < FEW && rules->limit == FEW;
        rules->limit = (uint64_t)(limit < FEW ? FEW : limit > MOST ? MOST : limit);
        if (!room)
            break;
    }
}

/* The table is made also if the base could not be opened, which costs little and keeps one way
 * out. */
static bool flat_print_functions(struct session *s, const struct flat_request *r, struct out *out,
                                 struct err *e)
{
    static const double IDLE_PERCENT = 0.05;
    struct flat table;
    struct baseline base = {0};
    bool has_base = r->base.len > 0;
    bool ok = !has_base || view_open_base(&base, &r->base, s, &r->view.session, e);
    struct view_rules rules = r->view.rules;
    if (!has_base && flat_leaves_out_idle(s, &r->view))
        rules.idle_percent = IDLE_PERCENT;
    rules.sets_waits_apart = !has_base && !r->view.print.format && !rules.shows_model;
    own_by_total(&r->view, &rules);
    if (r->addition)
        flat_fit(s, r, &rules, out);
    flat_fill(&table, s, r, &rules);
    struct report_input in = {.names = &s->names, .flat = &table, .base = has_base ? &base : NULL};
    if (ok)
        print_report(REPORT_FLAT, &in, &r->view.print, out);
    baseline_deinit(&base);
    return ok;
}

/* Shares of objects, threads or processes are tables of their own, made from the recording's
 * nodes; the flat profile is made from the graph. */
static bool flat_report(struct session *s, void *request, struct out *out, struct err *e)
{
    enum { FUNCTIONS_OF_THREAD = 10 };
    const struct flat_request *r = request;
    struct shares table;
    if (r->wants_inlines && !s->folder)
        return err_set(e,
                       "%s: --inlines is for recordings; 'monarc lines' distributes the bins of a "
                       "plain profile among inlined functions",
                       s->program);
    if (r->wants_inlines && r->view.session.has_hosts)
        return err_set(e, "option '--inlines' cannot be combined with --no-inlines or --model");
    const char *label = r->view.session.recorded.by_label;
    if (r->by_object + r->by_thread + r->by_process + (label != NULL) > 1)
        return err_set(e, "of --by-object, --by-thread, --by-process and --by-label only one can "
                          "be given");
    if (label && r->base.len)
        return err_set(
            e, "option '--by-label' cannot be combined with --base; 'monarc diff --by-label' "
               "compares");
    if (!r->by_object && !r->by_thread && !r->by_process && !label)
        return flat_print_functions(s, r, out, e);
    if (!s->folder)
        return err_set(e,
                       "%s: only a recording tells objects, threads and processes apart; make one "
                       "with 'monarc run'",
                       r->view.session.program);
    if (label)
        shares_by_label(&table, &s->summary, &s->recorded.space, &s->functions,
                        recorded_frames(&s->recorded), &s->recorded.choice, label, &s->arena);
    else if (r->by_process)
        shares_by_process(&table, &s->summary, &s->recorded.choice, &s->arena);
    else if (r->by_thread)
        shares_by_thread(&table, &s->summary, &s->recorded.space, &s->functions,
                         recorded_frames(&s->recorded), &s->recorded.choice, &s->arena);
    else
        shares_by_object(&table, &s->summary, &s->recorded.space, &s->graph, &s->arena);
    size_t limit = r->view.rules.limit ? r->view.rules.limit : FUNCTIONS_OF_THREAD;
    struct report_input in = {.names = &s->names, .shares = &table, .shown_functions = limit};
    print_report(REPORT_SHARES, &in, &r->view.print, out);
    return true;
}

/* Functions that were inlined have rows in recordings, whose stacks tell them apart. */
int flat_run_adding(int argc, char **argv, const struct view_addition *addition, struct out *out,
                    struct err *e)
{
    struct flat_request r = {
        .view.session = {.others = OTHERS_SELF, .names_inlined = true, .shows_labels = true},
        .addition = addition};
    struct view_job job = {
        .request = &r, .options = &r.view, .report = flat_report, .addition = addition};
    int status = view_run(&command_flat, argc, argv, &job, out, e);
    vec_free(&r.base);
    return status;
}

static int flat_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    (void)self;
    return flat_run_adding(argc, argv, NULL, out, e);
}

static const struct option_group FLAT_GROUPS[] = {
    GROUP(table_format_set, struct flat_request, view.print),
    GROUP(base_set, struct flat_request, base),
    VIEW_GROUPS(struct flat_request, view),
};
const struct command command_flat = {
    .name = "flat",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...]",
    .summary = "Show where the time went, function by function",
    OPTIONS_OF(FLAT_OPTIONS, FLAT_GROUPS),
    COLUMNS_OF(&flat_columns, &shares_columns),
    .run = flat_run,
};

/* --- lines ----------------------------------------------------------------------------------- */

/* `paths` says how files are shown, and points into `maps` once all options are read. `counts` is
 * of --counts, and so is its `limit`, in which 0 is all rows. */
struct lines_request {
    struct view_options view;
    struct line_paths paths;
    bool has_inlines, has_counts;
    struct counts_rules counts;
    struct arena arena; /* the maps' texts */
    VEC(struct path_map) maps;
};

/* Unlike other commands, lines maps the paths that it shows, not where sources are read. */
static bool lines_take_map(void *target, const struct option_row *row, const char *value,
                           struct err *e)
{
    struct lines_request *r = target;
    struct path_map map;
    if (!path_map_parse(value, &r->arena, &map))
        return err_set(e, "option '--%s' takes FROM=TO, not '%s'", row->name, value);
    vec_push(&r->maps, map);
    return true;
}

/* --path-map has another meaning here than elsewhere: see lines_take_map(). */
static const struct option_row LINES_OPTIONS[] = {
    {0, "counts", NULL, "how often lines were executed, by counts of blocks or coverage",
     FILLS(struct lines_request, has_counts)},
    {0, "never", NULL, "with --counts: only what was never executed",
     FILLS(struct lines_request, counts.only_never)},
    {'b', "blocks", NULL, "with --counts: one row per basic block, not per line",
     FILLS(struct lines_request, counts.has_blocks)},
    {0, "inlines", NULL, "also show the functions that code was inlined into, with its time",
     FILLS(struct lines_request, has_inlines)},
    {0, "full-paths", NULL, "show full paths of files", FILLS(struct lines_request, paths.is_full)},
    {0, "path-map", "FROM=TO", "show files below FROM as below TO (may be repeated)",
     TAKEN_BY(lines_take_map)},
};

/* Text has the first 40 rows, unless others are requested: by --all, filters or another order. */
static bool lines_are_first(const struct view_options *o)
{
    const struct view_rules *rules = &o->rules;
    return !o->print.format && !rules->shows_all && !rules->limit && !(rules->min_percent > 0) &&
           !o->filter.focus.len && !o->filter.ignore.len && !o->filter.places.len &&
           (!rules->has_sort || rules->sort == BY_SELF);
}

/* Line tables are read here, not when the session opens, as no other report on functions needs
 * them. */
static bool lines_report(struct session *s, void *request, struct out *out, struct err *e)
{
    struct lines_request *r = request;
    struct lines_input in = {.demangle = view_demangler(&r->view.session),
                             .has_inlines = r->has_inlines};
    if (!session_lines_input(s, r->view.session.program, &in, e))
        return false;
    r->paths.maps = r->maps.at;
    r->paths.maps_len = r->maps.len;
    struct lines_table table;
    struct progress *progress = progress_start();
    progress_phase(progress, "reading line numbers", 0);
    enum { FIRST_LINES = 40 };
    struct view_rules rules = r->view.rules;
    bool are_first = lines_are_first(&r->view);
    own_by_total(&r->view, &rules);
    if (are_first)
        rules.limit = FIRST_LINES;
    lines_make(&table, &in, &rules, &s->arena);
    table.omitted.are_with_all = are_first;
    progress_end(progress);
    /* Functions that were inlined everywhere are among the rows alone. */
    if (!table.len && !filter_is_known(&r->view.filter, &s->names, r->view.session.program, e))
        return false;
    struct report_input shown = {.names = &table.names, .lines = &table, .paths = &r->paths};
    if (view_has_short_names(&r->view))
        names_shorten(&table.names, NULL);
    print_report(REPORT_LINES, &shown, &r->view.print, out);
    return true;
}

/* Blocks are only in profiles that were converted from counters of arcs, or that gcc -a made
 * long ago. */
static bool counts_report(struct sources *s, void *request, struct out *out, struct err *e)
{
    const struct lines_request *r = request;
    if (!s->session.profile.blocks.len)
        return err_set(e,
                       "%s: has no counts of lines or blocks: compile with --coverage, run, and "
                       "also name the folder of its counters; 'monarc flat' shows how often "
                       "functions were called",
                       s->session.summary.profiles[0]);
    struct report_input in = {.names = &s->session.names,
                              .summary = &s->session.summary,
                              .source_lines = &s->lines,
                              .counts = &r->counts};
    print_report(REPORT_COUNTS, &in, &r->view.print, out);
    return true;
}

/* Options that one kind of rows has no use for: they would be ignored, and are refused. */
static bool lines_fit(const struct lines_request *r, struct err *e)
{
    const struct view_rules *rules = &r->view.rules;
    const struct filter *f = &r->view.filter;
    const char *needing = r->counts.only_never ? "never" : r->counts.has_blocks ? "blocks" : NULL;
    const char *refused = r->has_inlines                         ? "inlines"
                          : r->paths.is_full                     ? "full-paths"
                          : r->maps.len                          ? "path-map"
                          : f->ignore.len                        ? "ignore"
                          : rules->min_percent > 0               ? "min-percent"
                          : r->view.session.recorded.has_latency ? "latency"
                                                                 : NULL;
    if (!r->has_counts)
        return !needing || err_set(e, "option '--%s' needs --counts", needing);
    if (refused)
        return err_set(e, "option '--%s' cannot be combined with --counts", refused);
    if (rules->has_sort && rules->sort != BY_CALLS && rules->sort != BY_NAME)
        return err_set(e, "option '--sort' takes calls (executions) or name with --counts");
    if (f->places.len > 1 || f->focus.len > 1)
        return err_set(e, "option '--%s' may be given once with --counts",
                       f->focus.len > 1 ? "function" : "select");
    return !f->places.len || !f->places.at[0].line ||
           err_set(e, "option '--select' takes FILE or FILE:FUNCTION with --counts, not a line");
}

/* Twenty rows for people; JSON and CSV have all of them. What never ran is listed by place: its
 * counts are all equal. */
static int lines_show_counts(const struct command *self, struct lines_request *r,
                             struct operands *operands, struct out *out, struct err *e)
{
    enum { SHOWN_COUNTS = 20 };
    const struct view_rules *rules = &r->view.rules;
    const struct filter *f = &r->view.filter;
    const struct filter_place *place = f->places.len ? &f->places.at[0] : NULL;
    struct source_options source = {
        .sources = {.session = r->view.session,
                    .function = f->focus.len ? f->focus.at[0].text : NULL,
                    .file = place ? place->file : NULL},
        .print = r->view.print,
        .full_names = r->view.full_names};
    struct source_job job = {.request = r, .options = &source, .report = counts_report};
    struct sources s = {0};
    source.sources.session.takes_counts = true;
    if (place && place->function && !f->focus.len)
        source.sources.function = place->function;
    r->counts.by_place = rules->sort == BY_NAME || r->counts.only_never;
    r->counts.limit = rules->shows_all ? 0 : rules->limit ? rules->limit : SHOWN_COUNTS;
    return source_show(self, operands, &job, &s, out, e);
}

/* Of times, samples keep their addresses: rows are lines, and filters are about lines as well. */
static int lines_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct lines_request r = {.view.session.names_inlined = true};
    struct view_job job = {&r, &r.view, lines_report, .rows_are_lines = true};
    struct operands operands;
    int status = EXIT_BAD;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end == OPTIONS_HELPED) {
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ && lines_fit(&r, e)) {
        r.view.session.places_samples = true;
        status = r.has_counts ? lines_show_counts(self, &r, &operands, out, e)
                              : view_show(self, &operands, &job, out, e);
    }
    filter_deinit(&r.view.filter);
    vec_free(&r.maps);
    arena_deinit(&r.arena);
    return status;
}

static const struct option_group LINES_GROUPS[] = {
    GROUP(table_format_set, struct lines_request, view.print),
    VIEW_GROUPS(struct lines_request, view),
};
const struct command command_lines = {
    .name = "lines",
    .synopsis = SYNOPSIS_OF_VIEW(" [COVERAGE...]"),
    .summary = "Show where the time went, line by line, or how often lines ran",
    OPTIONS_OF(LINES_OPTIONS, LINES_GROUPS),
    COLUMNS_OF(&lines_columns, &counts_line_columns, &counts_block_columns),
    .run = lines_run,
};

/* --- annotate -------------------------------------------------------------------------------- */

/* `rules` says which lines are shown, `source` which files and functions. */
struct annotate_request {
    struct source_options source;
    struct annotate_rules rules;
};

/* The value may name several folders, as GNU gprof's -I takes them. */
static bool annotate_take_folder(void *target, const struct option_row *row, const char *value,
                                 struct err *e)
{
    (void)row, (void)e;
    source_search_add(&((struct annotate_request *)target)->source.sources.search, value);
    return true;
}

/* --asm without a value is AT&T's syntax. */
static const struct option_row ANNOTATE_OPTIONS[] = {
    {'I', "directory-path", "DIRS", "also look for sources in DIRS (separated by ':')",
     TAKEN_BY(annotate_take_folder)},
    {'a', "all", NULL, "show whole files, not just what is hot",
     FILLS(struct annotate_request, rules.shows_all)},
    {'C', "context", "N", "show N lines around hot ones (default: 3)",
     FILLS(struct annotate_request, rules.context)},
    {'m', "min-percent", "P", "a line is hot from P percent of all samples on (default: 1)",
     FILLS(struct annotate_request, rules.min_percent)},
    {0, "asm", "[att|intel]", "show machine code under the lines it comes from",
     CHOOSES(struct annotate_request, rules.is_intel),
     ALSO_SETS(struct annotate_request, rules.has_code)},
};

/* What is not requested need not be kept: stretches of code, lines without time. */
static void annotate_prepare(void *request, struct source_input *input)
{
    struct annotate_request *r = request;
    r->rules.is_function = r->source.sources.function != NULL;
    r->source.sources.session.wants_code = r->rules.has_code;
    input->keeps_stretches = r->rules.has_code;
    input->keeps_idle = r->rules.has_code || (r->rules.shows_all && r->source.print.format);
}

/* A source file that was there and could not be read makes the report incomplete: the first one
 * is the error, after the report. */
static bool annotate_report(struct sources *s, void *request, struct out *out, struct err *e)
{
    const struct annotate_request *r = request;
    struct annotated table;
    bool is_whole = true;
    annotate_make(&table, &s->lines, &s->session.summary, &s->input, &r->source.sources.search,
                  &r->rules, &s->session.arena);
    struct report_input in = {.names = &s->session.names, .annotated = &table};
    print_report(REPORT_ANNOTATED, &in, &r->source.print, out);
    for (size_t i = 0; i < table.files.len && is_whole; i++)
        if (table.files.at[i].is_lost)
            is_whole = err_set(e, "%s", table.files.at[i].why);
    if (is_whole && table.why_no_code)
        is_whole = err_set(e, "some code is not shown: %s", table.why_no_code);
    annotate_deinit(&table);
    return is_whole;
}

/* By default lines of one percent and more, with three lines around each. */
static int annotate_run(const struct command *self, int argc, char **argv, struct out *out,
                        struct err *e)
{
    struct annotate_request r = {
        .source.sources.session = {.takes_counts = true, .names_inlined = true},
        .rules = {.min_percent = 1, .context = 3}};
    struct source_job job = {&r, &r.source, annotate_prepare, annotate_report};
    return source_run(self, argc, argv, &job, out, e);
}

static const struct option_group ANNOTATE_GROUPS[] = {
    GROUP(json_set, struct annotate_request, source.print),
    GROUP(path_map_set, struct annotate_request, source.sources.search),
    SOURCE_GROUPS(struct annotate_request, source),
};
const struct command command_annotate = {
    .name = "annotate",
    .synopsis = SYNOPSIS_OF_VIEW(" [COVERAGE...]"),
    .summary = "Show the source with time, calls and counts beside each line",
    OPTIONS_OF(ANNOTATE_OPTIONS, ANNOTATE_GROUPS),
    COLUMNS_OF(&annotate_columns),
    .run = annotate_run,
};

/* --- doctor ---------------------------------------------------------------------------------- */

/* There is no session here, so no struct view_options either. */
struct doctor_request {
    struct diagnosed_options options;
    struct print_options print;
};

/* Unlike the others it opens no session, which may be just what fails: it examines each part by
 * itself, and its findings are its report. The status is that of the worst finding: 2 for an error,
 * 1 for a warning, 0 for notes and for nothing. */
static int doctor_run(const struct command *self, int argc, char **argv, struct out *out,
                      struct err *e)
{
    struct doctor_request r = {0};
    struct operands operands;
    struct session_newest newest;
    struct session_options which = {0};
    struct diagnosed d = {0};
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (!operands.len && !operands_newest(&operands, &newest, self, e))
        return EXIT_BAD;
    if (operands.len > 2 || (operands.len == 2 && is_recording(operands.at[0]))) {
        err_set(e, "doctor takes a PROGRAM and optionally a PROFILE; see 'monarc doctor --help'");
        return EXIT_BAD;
    }
    if (!session_operands(&which, operands.at, operands.len, e))
        return EXIT_BAD;
    struct progress *progress = progress_start();
    progress_phase(progress, "examining the profile", 0);
    if (which.is_recording)
        diagnosed_recording(&d, which.profiles[0], &r.options);
    else
        diagnosed_profile(&d, which.program, which.profiles[0], &r.options);
    progress_end(progress);
    struct report_input in = {.diagnosis = &d.diagnosis, .diagnosed = &d.input};
    print_report(REPORT_DIAGNOSIS, &in, &r.print, out);
    enum severity worst = SEVERITY_NOTE;
    diagnosis_worst(&d.diagnosis, &worst);
    struct err why = {0};
    if (!session_debug_is_whole(&d.session, &why) && why.system) {
        *e = why; /* the diagnosis is of a part, so that what it does not find may be there */
        worst = SEVERITY_ERROR;
    }
    diagnosed_close(&d);
    return worst == SEVERITY_ERROR     ? EXIT_BAD
           : worst == SEVERITY_WARNING ? EXIT_DIFFERS
                                       : EXIT_FINE;
}

static const struct option_group DOCTOR_GROUPS[] = {
    GROUP(debug_dir_set, struct doctor_request, options.debug_dir),
    GROUP(symbols_set, struct doctor_request, options.symbols),
    GROUP(json_set, struct doctor_request, print),
    GROUP(terminal_set, struct doctor_request, print),
    GROUP(read_set, struct doctor_request, options.read),
};
const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE] | RECORDING]",
    .summary = "Explain why a profile is empty or strange, and what to do about it",
    .groups = DOCTOR_GROUPS,
    .groups_len = sizeof DOCTOR_GROUPS / sizeof *DOCTOR_GROUPS,
    COLUMNS_OF(&doctor_columns),
    .run = doctor_run,
};
