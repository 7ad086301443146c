/* monarc flame: a picture of paths and times for documents. */
#include "base/file.h"
#include "base/path.h"
#include "cli/flame_frames.h"
#include "cli/view.h"
#include "session/report_inputs.h"

#include <errno.h>

enum {
    OPTION_OUTPUT,
    OPTION_TITLE,
    OPTION_DEPTH,
    OPTION_NO_INLINES,
    OPTION_MODEL,
    OPTION_OWN /* what follows are options of all reports */
};

static const int VIEW_ROWS[] = {
    PROFILE_OPTION_WORD,      PROFILE_OPTION_ENDIAN,   PROFILE_OPTION_FORMAT,
    PROFILE_OPTION_DIMENSION, VIEW_OPTION_MIN_PERCENT, VIEW_OPTION_NO_DEMANGLE,
    VIEW_OPTION_FULL_NAMES,   VIEW_OPTION_DEBUG_DIR,   VIEW_OPTION_SYMBOLS,
    VIEW_OPTION_FORCE,        VIEW_OPTION_EVENT,       VIEW_OPTION_PROCESS,
    VIEW_OPTION_PROGRAM,      VIEW_OPTION_THREAD,      VIEW_OPTION_FROM,
    VIEW_OPTION_TO,           VIEW_OPTION_PHASE,
};
enum { OPTIONS_LEN = OPTION_OWN + sizeof VIEW_ROWS / sizeof *VIEW_ROWS };

static const struct option_row OPTIONS[] = {
    {'o', "output", "FILE", "the picture (default: flame.svg; - is standard output)"},
    {0, "title", "TEXT", "what stands above the picture"},
    {'d', "depth", "N", "levels (default: all)"},
    {0, "no-inlines", NULL, "leave out functions where they were inlined"},
    {0, "model", NULL, "paths by gprof's model, not by recorded stacks"},
    PROFILE_OPTION_ROWS,
    {'m', "min-percent", "P", "put together what has less than P percent (default: 0.1)"},
    {0, "no-demangle", NULL, "show linkage names as they are"},
    {0, "full-names", NULL, "show C++ names whole: parameters, default template arguments, ..."},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "draw even if program and profile do not belong together"},
    RECORDING_OPTION_ROWS,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

#define MIN_PERCENT 0.1 /* a little more than a pixel */

struct request {
    struct view_options view;
    const char *output, *title;
    uint64_t depth;
    bool is_model, no_inlines;
};

static bool flame_take(void *request, int row, const char *value, struct err *e)
{
    enum { MOST_DEPTH = 1000000 };
    struct request *r = request;
    switch (row) {
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_TITLE: r->title = value; return true;
    case OPTION_DEPTH: return option_number("--depth", value, MOST_DEPTH, &r->depth, e);
    case OPTION_NO_INLINES: return r->no_inlines = true;
    case OPTION_MODEL: return r->is_model = true;
    default: return view_option(&r->view, VIEW_ROWS[row - OPTION_OWN], value, e);
    }
}

static bool flame_write(const struct request *r, const struct flame *f, struct out *out,
                        struct err *e)
{
    const struct report *report = report_find(REPORT_FLAME, REPORT_SVG);
    struct report_input in = {.flame = f};
    struct file_replacing file;
    struct out text;
    if (!strcmp(r->output, "-")) {
        report->write(out, &in);
        return true;
    }
    if (!file_replace_begin(&file, r->output, e))
        return false;
    out_init(&text, file.fd);
    report->write(&text, &in);
    out_flush(&text);
    bool ok = file_replace_end(&file, text.error, e);
    out_deinit(&text);
    return ok;
}

/* The names are those of the trees, which must live until the picture is written. */
static bool flame_stacks(struct session *s, const struct request *r, struct flame *f,
                         struct out *out, struct err *e)
{
    struct call_trees_request wanted = {.direction = CALLS_FROM_ROOT,
                                        .depth = r->depth,
                                        .limit = UINT32_MAX,
                                        .min_percent = r->view.rules.min_percent,
                                        .has_inlines = !r->no_inlines,
                                        .demangle = r->view.session.no_demangle ? NULL : "auto"};
    struct call_trees trees;
    bool ok = call_trees_make(&trees, s, &wanted, e);
    if (ok) {
        if (view_has_short_names(&r->view))
            call_trees_shorten_names(&trees);
        flame_of_stacks(f, &trees.report, &s->arena);
        ok = flame_write(r, f, out, e);
    }
    call_trees_deinit(&trees);
    return ok;
}

static bool flame_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const double percent = 100;
    struct request *r = request;
    struct flame f = {.summary = &s->summary, .title = r->title};
    if (!f.title)
        f.title = arena_printf(&s->arena, "Where the time of %s went",
                               path_base_name(s->summary.program));
    if (s->folder && !r->is_model)
        return flame_stacks(s, r, &f, out, e);
    if (r->depth || r->no_inlines)
        return err_set(e,
                       "%s: --depth and --no-inlines are for recorded stacks, of which a plain "
                       "profile and --model have none",
                       s->program);
    flame_of_graph(&f, &s->graph, &s->names,
                   r->view.rules.min_percent / percent * s->summary.samples, &s->arena);
    return flame_write(r, &f, out, e);
}

static int flame_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct request r = {.output = "flame.svg", .view = {.rules.min_percent = MIN_PERCENT}};
    return view_run(self, argc, argv,
                    &(struct view_job){&r, &r.view, flame_take, flame_report, false, &r.output},
                    out, e);
}

const struct command command_flame = {
    .name = "flame",
    .next = "'monarc graph --tree' lists the same paths as text",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Draw paths and their times as one SVG picture, for documents and browsers",
    .details =
        "PROGRAM and PROFILE, or RECORDING, are as for 'monarc flat'. Each box is a function on\n"
        "one path of calls, as wide as its time; it stands on the function that called it. The\n"
        "darker, the more time was spent in the function itself.\n"
        "\n"
        "Of a RECORDING the paths are the stacks that were seen, as 'monarc graph --tree' lists\n"
        "them. A profile of arcs knows pairs alone: then, and with --model, paths are what "
        "gprof's\n"
        "model makes of them. Those that only the model assigns are hatched. Functions that call\n"
        "each other around are one box there, with their own times above it.\n"
        "\n"
        "The picture is one file that refers to no other. In a browser, a box says its numbers\n"
        "when the pointer is on it, a click enlarges it, and / asks for a pattern, marks the\n"
        "functions that match it and says their share. As <img> it is a still picture. Names are\n"
        "shortened; --full-names leaves them whole, --json of 'monarc graph --tree' has all.\n"
        "What is below --min-percent is put together and grey.\n"
        "\n"
        "Examples:\n"
        "  monarc flame -o flame.svg prog.monarc\n"
        "  monarc flame -o - ./prog gmon.out > flame.svg\n"
        "  monarc flame --phase load --min-percent 1 prog.monarc\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = flame_run,
};
