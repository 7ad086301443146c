/* monarc export: what was measured, for other tools.
 *
 * An export is made in three steps: the frames that functions have in stacks, inlined ones
 * included, become one tree of calls (or the graph is taken as it is, where no stacks were
 * recorded); the tree becomes a struct exchange, whose numbers agree with each other already; a
 * format writes that. No format is known here by name: what it has room for is in its row of
 * profile/export/exports.c.
 *
 *    recorded stacks --> frames with inlined functions --> tree of calls --+
 *                                                                          +--> exchange --> format
 *    calls alone -------------------------------------> graph, model ------+ */
#include "base/path.h"
#include "cli/cli.h"
#include "profile/analysis/exchange/exchange.h"
#include "profile/export/exports.h"
#include "profile/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- export: options ------------------------------------------------------------------------- */

/* `format` is a row of the table of formats, NULL until --format was given. */
struct export_request {
    struct view_options view;
    struct stack_edits stacks;
    const struct export_format *format;
    const char *output;
    const char *dataset, *service, *build, *date, *host, *commit; /* of a dataset */
    bool no_inlines, has_code;
};

/* The list of names in the help is for people and completions; the table of exports decides. */
static bool export_take_format(void *target, const struct option_row *row, const char *value,
                               struct err *e)
{
    (void)row;
    return (((struct export_request *)target)->format = export_format_find(value, e)) != NULL;
}

/* --function and --select choose paths here, not rows: those through a chosen function are written.
 */
static const struct option_row EXPORT_OPTIONS[] = {
    {0, "format",
     "callgrind|cpuprofile|dot|firefox|folded|otlp|parquet|parquet-calls|parquet-functions|pprof|"
     "speedscope",
     "the format to write (required)", TAKEN_BY(export_take_format)},
    {'o', "output", "FILE", "where to write it (default, and -: standard output)",
     FILLS(struct export_request, output)},
    {0, "dataset", "DIR",
     "parquet and parquet-calls only: write a file into DIR/service=.../build=.../date=..., a row "
     "for "
     "each stack, thread and time, or for each function and caller",
     FILLS(struct export_request, dataset)},
    {0, "service", "NAME", "with --dataset: the service (default: the program's name)",
     FILLS(struct export_request, service)},
    {0, "build", "ID", "with --dataset: the commit or version (default: unknown)",
     FILLS(struct export_request, build)},
    {0, "commit", "ID", "with --dataset: the commit, if the build is named otherwise",
     FILLS(struct export_request, commit)},
    {0, "date", "DATE",
     "with --dataset: the date, such as 2026-03-02 (default: when it was recorded, UTC)",
     FILLS(struct export_request, date)},
    {0, "host", "NAME", "with --dataset: the machine (default: as recorded for ranks)",
     FILLS(struct export_request, host)},
    {0, "asm", NULL, "callgrind only: costs and calls by instruction, not by function",
     FILLS(struct export_request, has_code),
     ALSO_SETS(struct export_request, view.session.wants_code)},
    NO_FRAMES_ROW(struct export_request, no_inlines),
    {0, "model", NULL, "paths and times along calls by gprof's model, not by recorded stacks",
     FILLS(struct export_request, view.is_model)},
    {'f', "function", "NAME",
     "write only paths through this function, or those of /REGEX/ (may be repeated)",
     TAKEN_BY(take_function)},
    {0, "select", "PLACE", "write only paths through functions in FILE, FILE:LINE or FILE:FUNCTION",
     TAKEN_BY(take_place)},
};

/* --- export ---------------------------------------------------------------------------------- */

enum { MOST_OTHERS = 15 }; /* dimensions beside the first */

/* What the struct exchange points into. */
struct exported {
    struct session *session;
    struct named_frames frames;
    struct names names;
    struct call_tree tree;
    uint32_t *merged; /* per node of the run: its node of the tree; NULL: there is no tree */
    struct exchange_code code;
};

/* Frames with inlined functions, their names, and the tree of calls in which nodes of the
 * recording are merged by function. Shares of threads and labels are made only for formats that
 * have them. */
static bool export_use_stacks(struct exported *m, const struct export_request *r,
                              struct exchange_input *in, struct err *e)
{
    struct session *s = m->session;
    struct call_frames_input frames = {.recording = &s->recorded.recording,
                                       .functions = &s->functions,
                                       .function = s->recorded.space.function,
                                       .is_piece = s->recorded.space.is_piece,
                                       .files = session_objects(s),
                                       .merges_inlined = r->no_inlines,
                                       .has_lines = r->format->tells_lines};
    if (r->no_inlines && !r->format->tells_lines)
        frames.files = NULL;
    named_frames_make(&m->frames, &frames, &s->arena);
    names_init(&m->names, &m->frames.functions, view_demangler(&r->view.session), &s->arena);
    if (!stack_edits_apply(&r->stacks, &m->frames, &m->names, s, e))
        return false;
    in->is_left_out = m->frames.frames.is_left_out;
    /* Nodes of the recording are addresses; of the tree, functions, or lines of them. Many of the
     * former are one of the latter. */
    if (r->format->tells_lines)
        in->lines = named_frames_by_line(&m->frames, &s->arena);
    m->merged = ARENA_NEW(&s->arena, uint32_t, s->recorded.recording.nodes.len);
    call_tree_init_merged(&m->tree, &s->recorded.recording, s->recorded.weights.node,
                          &m->frames.frames, m->merged);
    struct exchange_samples samples = {.recording = &s->recorded.recording,
                                       .choice = &s->recorded.choice,
                                       .weights = s->recorded.weights.node,
                                       .merged = m->merged,
                                       .no_threads = !r->format->tells_threads,
                                       .tells_times = r->format->tells_times,
                                       .tells_labels = r->format->tells_labels &&
                                                       s->recorded.recording.label_sets.len,
                                       .tells_spans = r->format->tells_spans};
    if (r->format->tells_threads || samples.tells_labels)
        exchange_thread_shares(in, &samples, &s->arena);
    in->names = &m->names;
    in->tree = &m->tree;
    in->first_inlined = m->frames.first_inlined;
    return true;
}

/* Whether less than all was requested. */
static bool export_is_part(const struct export_request *r)
{
    return r->view.filter.focus.len || r->view.filter.places.len;
}

/* Costs by instruction, of nodes of the recording or bins of the profile, in the order of the
 * exchange's functions. */
static void export_make_code(struct exported *m, const struct exchange_input *in,
                             struct exchange *x)
{
    struct session *s = m->session;
    struct exchange_code_input code = {.from = in,
                                       .functions = &s->functions,
                                       .profile = &s->profile,
                                       .recording = s->folder ? &s->recorded.recording : NULL,
                                       .weights = s->recorded.weights.node,
                                       .merged = m->merged};
    exchange_code_make(&m->code, x, &code, &s->arena);
    /* Whoever disassembles the program may be in another folder. */
    char *path = s->folder ? NULL : realpath(x->objects.at[0].path, NULL);
    if (path)
        x->objects.at[0].path = arena_copy(&s->arena, path, strlen(path));
    free(path);
    x->code = &m->code;
}

/* The exchanges of all dimensions, on the paths that any of them has. */
static void export_make_others(struct session *s, struct exchange_input *in, struct exchange *x)
{
    const struct other_measures *others = &s->summary.others;
    struct exchange *made = ARENA_NEW(&s->arena, struct exchange, others->len + 1);
    struct summary *summaries = ARENA_NEW(&s->arena, struct summary, others->len);
    /* All dimensions get the paths of their sum, so that a number of a function or a path means the
     * same in each. */
    in->shape = others->all;
    in->shape_samples = others->all_samples;
    in->has_rest = s->summary.unattributed > 0;
    for (size_t i = 0; i < others->len; i++)
        in->has_rest |= others->at[i].unattributed > 0;
    exchange_make(&made[0], in, &s->arena);
    for (size_t i = 0; i < others->len; i++) {
        const struct other_measure *o = &others->at[i];
        summary_of_other(&summaries[i], &s->summary, o);
        in->summary = &summaries[i];
        in->graph = o->graph;
        exchange_make(&made[i + 1], in, &s->arena);
    }
    /* Formats distinguish dimensions by what was counted. */
    for (size_t i = 0; i <= others->len; i++)
        if (strcmp(made[i].unit, "nanoseconds")) {
            made[i].event = made[i].summary->dimension;
            made[i].unit = "count";
        }
    /* The first dimension carries the others; export_report() frees all of them. */
    *x = made[0];
    x->others = made + 1;
    x->others_len = others->len;
}

/* From the open session to numbers that agree with each other. Without stacks the graph is taken as
 * it is, and paths are the model's. Everything made here points into the session or its arena; what
 * owns memory of its own is freed by export_report(). */
static bool export_make(struct exported *m, struct export_request *r, struct exchange *x,
                        struct err *e)
{
    struct session *s = m->session;
    struct exchange_input in = {.summary = &s->summary,
                                .graph = &s->graph,
                                .names = &s->names,
                                .first_inlined = s->functions.len,
                                .objects = session_objects(s),
                                .objects_len = session_objects_len(s),
                                .space = s->folder ? &s->recorded.space : NULL,
                                .keeps_frames = r->has_code,
                                .lacks_calls = r->format->is_paths};
    *x = (struct exchange){.summary = &s->summary};
    if (s->graph.is_measured && !export_use_stacks(m, r, &in, e))
        return false;
    if (export_is_part(r)) {
        /* Inlined functions are among those of the stacks, so places are looked up again. */
        struct filter *f = &r->view.filter;
        uint32_t len = in.names->functions->len;
        bool *selected = ARENA_NEW(&s->arena, bool, len);
        if (in.tree)
            filter_locate(f, &m->frames.functions, in.objects);
        if (!filter_is_known(f, in.names, s->program, e))
            return false;
        for (uint32_t i = 0; i < len; i++)
            selected[i] = filter_admits(f, in.names, i);
        in.selected = selected;
    }
    if (s->summary.others.all)
        export_make_others(s, &in, x);
    else
        exchange_make(x, &in, &s->arena);
    if (r->has_code)
        export_make_code(m, &in, x);
    return true;
}

/* An output_writer. */
struct export_written {
    const struct export_format *format;
    const struct exchange *exchange;
};
/* An output_writer. */
static bool export_write(void *context, struct out *out, struct err *e)
{
    const struct export_written *w = context;
    (void)e;
    w->format->write(out, w->exchange);
    return true;
}

/* --- datasets -------------------------------------------------------------------------------- */

/* Rows have threads and times, which the file of one profile lacks. */
static const struct export_format DATASET_FORMAT = {.name = "parquet",
                                                    .write = parquet_export,
                                                    .needs_samples = true,
                                                    .tells_threads = true,
                                                    .tells_times = true};
static const struct export_format DATASET_CALLS = {
    .name = "parquet-calls", .write = parquet_calls_export, .needs_samples = true};

/* The file's name distinguishes recordings, and is the same each time, so that one that is exported
 * twice is there once: when it began, its first process, and the host. */
static const char *export_dataset_path(const struct export_request *r, const struct session *s,
                                       struct arena *a)
{
    const struct recording *run = s->summary.run ? s->summary.run->recording : NULL;
    /* Of a profile without a recording the time is now: only recordings say when they were made. */
    time_t start = run ? (time_t)(run->start_real_ns / 1000000000) : time(NULL);
    const char *host = r->host ? r->host : run && run->ranks.len ? run->ranks.at[0].host : "";
    char date[16] = "unknown";
    struct tm parts;
    if (gmtime_r(&start, &parts))
        strftime(date, sizeof date, "%Y-%m-%d", &parts);
    const char *name = arena_printf(a, "%s%s%" PRIu64 "-%" PRIu32, host, *host ? "-" : "",
                                    run ? run->start_real_ns : (uint64_t)start,
                                    run && run->processes.len ? run->processes.at[0].pid : 0);
    return dataset_path(r->dataset, r->service ? r->service : path_base_name(s->summary.program),
                        r->build ? r->build : "unknown", r->date ? r->date : date, name, a);
}

/* An output_writer. */
struct dataset_written {
    const struct exchange *exchange;
    struct dataset_facts facts;
    bool has_calls; /* in place of stacks */
};
/* The format's own writer takes no facts besides the exchange. */
static bool dataset_write(void *context, struct out *out, struct err *e)
{
    const struct dataset_written *w = context;
    (void)e;
    if (w->has_calls)
        parquet_dataset_calls_export(out, w->exchange, &w->facts);
    else
        parquet_dataset_export(out, w->exchange, &w->facts);
    return true;
}

/* The name of the file is what standard output says, for whoever copies it to a bucket. The file
 * takes the place of an older one in one step, as other exports do, so that an engine that reads
 * the dataset meanwhile sees one or the other. */
static bool dataset_export(const struct export_request *r, struct session *s,
                           const struct exchange *x, struct out *out, struct err *e)
{
    const char *path = export_dataset_path(r, s, &s->arena);
    struct dataset_written written = {
        x, {.host = r->host, .commit = r->commit}, r->format == &DATASET_CALLS};
    bool ok = file_make_folders(path, e) && output_to(path, dataset_write, &written, out, e);
    if (ok) {
        text_name(out, path);
        out_char(out, '\n');
    }
    return ok;
}

/* Refuses what the format cannot hold before anything is written: instructions, calls without
 * samples, a selection in which nothing was measured. */
static bool export_report(struct session *s, void *request, struct out *out, struct err *e)
{
    struct export_request *r = request;
    struct exported m = {.session = s};
    struct exchange x;
    if (!r->format)
        return err_set(e, "export needs --format NAME; see 'monarc export --help'");
    /* A partition that is named without a dataset would be lost without a word. */
    if (!r->dataset && (r->service || r->build || r->date || r->host || r->commit))
        return err_set(e, "--service, --build, --commit, --date and --host need --dataset DIR");
    bool has_calls = !strcmp(r->format->name, "parquet-calls");
    if (r->dataset && ((strcmp(r->format->name, "parquet") && !has_calls) || r->output))
        return err_set(e, "--dataset needs --format parquet or parquet-calls, and names its "
                          "files itself");
    if (r->dataset)
        r->format = has_calls ? &DATASET_CALLS : &DATASET_FORMAT;
    /* Dimensions beside the first, as pprof's heap profiles have them. Most formats hold one. */
    size_t others = s->summary.others.all ? s->summary.others.len : 0;
    if (others && (!r->format->tells_others || r->has_code || others > MOST_OTHERS))
        return err_set(e,
                       "%s: holds samples of %zu dimensions, and %s%s has room for %d; --dimension "
                       "chooses one",
                       s->program, others + 1, r->format->name, r->has_code ? " --asm" : "",
                       r->format->tells_others && !r->has_code ? MOST_OTHERS + 1 : 1);
    if (r->has_code && !r->format->tells_code)
        return err_set(e, "%s cannot hold instructions; --asm needs --format callgrind",
                       r->format->name);
    bool has_edits = stack_edits_are_any(&r->stacks);
    if (has_edits && (!s->graph.is_measured || r->has_code))
        return err_set(e, "--fold-recursion, --drop-function and --drop-object are of recorded "
                          "stacks by function, without --model and --asm");
    bool ok = export_make(&m, r, &x, e);
    if (ok && export_is_part(r) && !x.functions.len)
        ok = err_set(e, "%s: nothing that --function and --select name was measured",
                     x.summary->program);
    else if (ok && r->format->needs_samples && !x.total && !x.others_len)
        ok = err_set(e,
                     "%s has no samples, and %s no place for calls alone; callgrind, dot and "
                     "pprof have",
                     x.summary->program, r->format->name);
    if (ok && r->dataset)
        ok = session_is_read(s, e) && dataset_export(r, s, &x, out, e);
    else
        ok = ok && session_is_read(s, e) &&
             output_file(r->output, export_write, &(struct export_written){r->format, &x}, out, e);
    if (ok && m.code.why_no_code)
        ok = err_set(e, "some instructions could not be told apart: %s", m.code.why_no_code);
    /* Whatever failed: what was not made is empty. */
    for (size_t i = 0; i < x.others_len; i++)
        exchange_deinit(&x.others[i]);
    exchange_deinit(&x);
    exchange_code_deinit(&m.code);
    call_tree_deinit(&m.tree);
    return ok;
}

/* Times along calls are measured where stacks are, unless --model is given. */
static int export_run(const struct command *self, int argc, char **argv, struct out *out,
                      struct err *e)
{
    struct export_request r = {
        .view.session = {.measures_graph = true, .others = OTHERS_TOTAL, .no_errors = true}};
    struct view_job job = {&r, &r.view, export_report, .output = &r.output};
    int status = view_run(self, argc, argv, &job, out, e);
    stack_edits_deinit(&r.stacks);
    return status;
}

static const struct option_group EXPORT_GROUPS[] = {
    GROUP(stacks_set, struct export_request, stacks),
    GROUP(part_set, struct export_request, view.session),
    GROUP(demangle_set, struct export_request, view.session.no_demangle),
    FILE_GROUPS(struct export_request, view.session),
    GROUP(read_set, struct export_request, view.session.read),
};
const struct command command_export = {
    .name = "export",
    .synopsis = "--format NAME [OPTION...] [PROGRAM [PROFILE...] | RECORDING]",
    .summary = "Write a profile as a file that another tool opens",
    OPTIONS_OF(EXPORT_OPTIONS, EXPORT_GROUPS),
    .run = export_run,
};
