/* monarc export: a profile as a file that another tool opens. */
#include "base/file.h"
#include "cli/view.h"
#include "profile/analysis/exchange/exchange.h"
#include "profile/export/exports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_FORMAT, OPTION_OUTPUT, OPTION_ASM, OPTION_NO_INLINES, OPTION_MODEL, OPTION_OWN };

/* Options in common with the reports, in the order in which they stand in OPTIONS. */
static const int VIEW_ROWS[] = {
    PROFILE_OPTION_WORD,   PROFILE_OPTION_ENDIAN, PROFILE_OPTION_FORMAT, VIEW_OPTION_NO_DEMANGLE,
    VIEW_OPTION_DEBUG_DIR, VIEW_OPTION_SYMBOLS,   VIEW_OPTION_FORCE,     VIEW_OPTION_FOCUS,
    VIEW_OPTION_SELECT,    VIEW_OPTION_EVENT,     VIEW_OPTION_PROCESS,   VIEW_OPTION_PROGRAM,
    VIEW_OPTION_THREAD,    VIEW_OPTION_FROM,      VIEW_OPTION_TO,        VIEW_OPTION_PHASE,
};
enum { OPTIONS_LEN = OPTION_OWN + sizeof VIEW_ROWS / sizeof *VIEW_ROWS };

static const struct option_row OPTIONS[] = {
    {0, "format",
     "callgrind|cpuprofile|dot|folded|otlp|parquet|parquet-calls|parquet-functions|pprof|"
     "speedscope",
     "what to write; must be given"},
    {'o', "output", "FILE", "where it goes (default, and -: standard output)"},
    {0, "asm", NULL, "of callgrind: costs and calls by instruction, not by function"},
    {0, "no-inlines", NULL, "leave functions out where they were inlined"},
    {0, "model", NULL, "paths and times along calls by gprof's model, not by recorded stacks"},
    {0, "word", "32|64", "pointer size of the profiled machine (default: deduce)"},
    {0, "endian", "little|big", "its byte order (default: deduce)"},
    {'O', "profile-format", "gmon|gmon0|sprof|bsd44|bsd|bsd-alpha",
     "read the files as this format"},
    {0, "no-demangle", NULL, "write linkage names as they are"},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "go on even if program and profile do not belong together"},
    {'f', "focus", "REGEX",
     "write only paths through functions whose name matches (may be repeated)"},
    {0, "select", "PLACE",
     "write only paths through functions in FILE, FILE:LINE or FILE:FUNCTION"},
    RECORDING_OPTION_ROWS,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct view_options view;
    const struct export_format *format;
    const char *output;
    bool no_inlines, has_code;
};

static bool export_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_FORMAT: return (r->format = export_format_find(value, e)) != NULL;
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_ASM: return r->view.session.wants_code = r->has_code = true;
    case OPTION_NO_INLINES: return r->no_inlines = true;
    case OPTION_MODEL: r->view.session.measures_graph = false; return true;
    default: return view_option(&r->view, VIEW_ROWS[row - OPTION_OWN], value, e);
    }
}

/* --- what is exported ------------------------------------------------------------------------ */

struct making {
    struct session *session;
    struct named_frames frames;
    struct names names;
    struct call_tree tree;
    uint32_t *merged; /* per node of the run: its node of the tree; NULL: there is no tree */
    struct exchange_code code;
};

static void export_use_stacks(struct making *m, const struct request *r, struct exchange_input *in)
{
    struct session *s = m->session;
    struct call_frames_input frames = {.recording = &s->recorded.recording,
                                       .functions = &s->functions,
                                       .function = s->recorded.space.function,
                                       .is_piece = s->recorded.space.is_piece,
                                       .files = r->no_inlines ? NULL : session_objects(s)};
    named_frames_make(&m->frames, &frames, &s->arena);
    names_init(&m->names, &m->frames.functions, r->view.session.no_demangle ? NULL : "auto",
               &s->arena);
    m->merged = ARENA_NEW(&s->arena, uint32_t, s->recorded.recording.nodes.len);
    call_tree_init_merged(&m->tree, &s->recorded.recording, s->recorded.weights.node,
                          &m->frames.frames, m->merged);
    if (r->format->tells_threads)
        exchange_thread_shares(in,
                               &(struct exchange_samples){&s->recorded.recording,
                                                          &s->recorded.choice,
                                                          s->recorded.weights.node, m->merged},
                               &s->arena);
    in->names = &m->names;
    in->tree = &m->tree;
    in->first_inlined = m->frames.first_inlined;
}

static bool export_is_part(const struct request *r)
{
    return r->view.filter.focus.len || r->view.filter.places.len;
}

/* Inlined functions are among those of the stacks, so places are looked for once more. */
static const bool *export_choose(struct making *m, struct request *r,
                                 const struct exchange_input *in)
{
    struct filter *f = &r->view.filter;
    const struct functions *all = in->names->functions;
    if (!export_is_part(r))
        return NULL;
    if (in->tree)
        filter_locate(f, &m->frames.functions, in->objects);
    bool *selected = ARENA_NEW(&m->session->arena, bool, all->len);
    for (uint32_t i = 0; i < all->len; i++)
        selected[i] = filter_admits(f, in->names, i);
    return selected;
}

/* Who disassembles a program may be in another folder. */
static void export_name_program(struct session *s, struct exchange *x)
{
    char *path = s->folder ? NULL : realpath(x->objects.at[0].path, NULL);
    if (path)
        x->objects.at[0].path = arena_copy(&s->arena, path, strlen(path));
    free(path);
}

static void export_make_code(struct making *m, const struct exchange_input *in, struct exchange *x)
{
    struct session *s = m->session;
    struct exchange_code_input code = {.from = in,
                                       .functions = &s->functions,
                                       .profile = &s->profile,
                                       .recording = s->folder ? &s->recorded.recording : NULL,
                                       .weights = s->recorded.weights.node,
                                       .merged = m->merged};
    exchange_code_make(&m->code, x, &code, &s->arena);
    export_name_program(s, x);
    x->code = &m->code;
}

static void export_make(struct making *m, struct request *r, struct exchange *x)
{
    struct session *s = m->session;
    struct exchange_input in = {.summary = &s->summary,
                                .graph = &s->graph,
                                .names = &s->names,
                                .first_inlined = s->functions.len,
                                .objects = session_objects(s),
                                .objects_len = session_objects_len(s),
                                .space = s->folder ? &s->recorded.space : NULL,
                                .keeps_frames = r->has_code};
    if (s->graph.is_measured)
        export_use_stacks(m, r, &in);
    in.selected = export_choose(m, r, &in);
    exchange_make(x, &in, &s->arena);
    if (r->has_code)
        export_make_code(m, &in, x);
}

/* --- where it goes --------------------------------------------------------------------------- */

static bool export_save(const struct request *r, const struct exchange *x, struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!file_replace_begin(&file, r->output, e))
        return false;
    out_init(&text, file.fd);
    r->format->write(&text, x);
    out_flush(&text);
    bool ok = file_replace_end(&file, text.error, e);
    out_deinit(&text);
    return ok;
}

static bool export_write_to(const struct request *r, const struct exchange *x, struct out *out,
                            struct err *e)
{
    if (export_is_part(r) && !x->functions.len)
        return err_set(e, "%s: nothing that --focus and --select name was measured",
                       x->summary->program);
    if (r->format->needs_samples && !x->total)
        return err_set(e,
                       "%s has no samples, and %s no place for calls alone; callgrind, dot and "
                       "pprof have",
                       x->summary->program, r->format->name);
    if (r->output && strcmp(r->output, "-"))
        return export_save(r, x, e);
    r->format->write(out, x);
    return true;
}

static bool export_report(struct session *s, void *request, struct out *out, struct err *e)
{
    struct request *r = request;
    struct making m = {.session = s};
    struct exchange x;
    if (!r->format)
        return err_set(e, "export needs --format NAME; see 'monarc export --help'");
    if (r->has_code && !r->format->tells_code)
        return err_set(e, "%s has no place for instructions; --asm is of callgrind",
                       r->format->name);
    export_make(&m, r, &x);
    bool ok = export_write_to(r, &x, out, e);
    exchange_deinit(&x);
    exchange_code_deinit(&m.code);
    call_tree_deinit(&m.tree);
    return ok;
}

static int export_run(const struct command *self, int argc, char **argv, struct out *out,
                      struct err *e)
{
    struct request r = {.view.session.measures_graph = true};
    return view_run(self, argc, argv,
                    &(struct view_job){&r, &r.view, export_take, export_report, false, &r.output},
                    out, e);
}

const struct command command_export = {
    .name = "export",
    .synopsis = "--format NAME [OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Write a profile as a file that another tool opens",
    .details =
        "PROFILE is gmon.out unless named; several are summed. RECORDING is the folder that\n"
        "'monarc run' leaves, or perf.data or another profiler's file (docs/import.md). The "
        "formats, and who reads them:\n"
        "\n"
        "  callgrind   KCachegrind, QCachegrind, callgrind_annotate: functions and calls, and\n"
        "              instructions (--asm)\n"
        "  cpuprofile  Chrome's DevTools, VS Code, Firefox' profiler: call paths\n"
        "  dot         Graphviz: the graph of what has half a percent of the time\n"
        "  folded      flamegraph.pl, inferno, speedscope: call paths, one a line\n"
        "  otlp        OpenTelemetry's collectors: call paths; experimental, as the format is\n"
        "  parquet     DuckDB, ClickHouse, pandas: a table of call paths\n"
        "  parquet-calls      the same: a table of calls\n"
        "  parquet-functions  the same: a table of functions with files and lines\n"
        "  pprof       go tool pprof, Pyroscope, Parca, Perfetto: paths and calls, packed\n"
        "  speedscope  https://www.speedscope.app: call paths\n"
        "\n"
        "Times are whole nanoseconds, events as many as were counted; rounding moves no sum by\n"
        "more than one. Paths are recorded stacks. Where calls alone were counted, paths are\n"
        "gprof's model carried on: those that may never have run are marked where the format has\n"
        "a place for it, in cpuprofile and folded by a frame [paths by call counts] around all.\n"
        "\n"
        "Calls stand in callgrind, dot, parquet-calls and pprof, where they are the second\n"
        "value; the others have no place for them.\n"
        "\n"
        "Examples:\n"
        "  monarc export --format pprof -o prog.pb.gz prog.monarc\n"
        "  monarc export --format callgrind -o callgrind.out.prog ./prog gmon.out\n"
        "  monarc export --format callgrind --asm -o callgrind.out.prog prog.monarc\n"
        "  monarc export --format dot ./prog | dot -Tsvg -o graph.svg\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = export_run,
};
