/* monarc lines: the line profile. */
#include "profile/report/lines.h"

#include "command/command.h"
#include "cli/view.h"
#include "session/report_inputs.h"

#include <string.h>

enum { OPTION_INLINES = VIEW_OPTIONS, OPTION_FULL_PATHS, OPTION_PATH_MAP, OPTIONS_LEN };

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "inlines", NULL, "show what inlined code was inlined into, and book its time there, too"},
    {0, "full-paths", NULL, "show whole paths of files"},
    {0, "path-map", "FROM=TO", "show files below FROM as below TO (may be repeated)"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct view_options view;
    struct line_paths paths;
    bool has_inlines;
    struct arena arena; /* the maps' texts */
    VEC(struct path_map) maps;
};

static bool add_map(struct request *r, const char *value, struct err *e)
{
    struct path_map map;
    if (!path_map_parse(value, &r->arena, &map))
        return err_set(e, "option '--path-map' takes FROM=TO, not '%s'", value);
    vec_push(&r->maps, map);
    return true;
}

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_INLINES: return r->has_inlines = true;
    case OPTION_FULL_PATHS: return r->paths.is_full = true;
    case OPTION_PATH_MAP: return add_map(r, value, e);
    default: return view_option(&r->view, row, value, e);
    }
}

static void print(struct lines_table *t, const struct request *r, struct out *out)
{
    const struct view_options *o = &r->view;
    struct report_input in = {.names = &t->names, .lines = t, .paths = &r->paths};
    if (view_has_short_names(o))
        names_shorten(&t->names, NULL);
    print_report(REPORT_LINES, &in, &o->print, out);
}

static bool report(struct session *s, void *request, struct out *out, struct err *e)
{
    struct request *r = request;
    struct lines_input in = {.demangle = r->view.session.no_demangle ? NULL : "auto",
                             .has_inlines = r->has_inlines};
    if (!session_lines_input(s, r->view.session.program, &in, e))
        return false;
    r->paths.maps = r->maps.at;
    r->paths.maps_len = r->maps.len;
    struct lines_table table;
    struct progress *progress = progress_start();
    progress_phase(progress, "reading line numbers", 0);
    lines_make(&table, &in, &r->view.rules, &s->arena);
    progress_end(progress);
    print(&table, r, out);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.view.session.places_samples = true};
    int status =
        view_run(self, argc, argv, &(struct view_job){&r, &r.view, take, report, true}, out, e);
    vec_free(&r.maps);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_lines = {
    .name = "lines",
    .next = "'monarc annotate' shows the lines in their source, 'monarc lines --inlines' what they "
            "were inlined into",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Show where the time went, line by line",
    .details =
        "PROFILE is gmon.out unless named; - is standard input; several are summed. The program\n"
        "must have line numbers: compile it with -g. (-O2 may stay.)\n"
        "\n"
        "One row a line of a function in which something was measured. The columns:\n"
        "\n"
        "  self%       share of all samples read\n"
        "  +-          half the width of the 95 % confidence interval of that share, in points\n"
        "  samples     hits of the profiling clock; a bin shared by lines is split by bytes\n"
        "  self s      the same as time\n"
        "  cumulative  self time of this row and all above\n"
        "  calls       calls made from this line\n"
        "  entered     calls of the function that begins on this line\n"
        "\n"
        "Inlined code is in the function it was written in. With --inlines, lines under a row say\n"
        "what it was inlined into and how much of the time was spent in that copy, and two "
        "columns\n"
        "tell what a line took together with all that was inlined there:\n"
        "\n"
        "  total%      share of the samples in this line and in code that was inlined at it\n"
        "  total       the same as time\n"
        "\n"
        "The rows in brackets make the sum complete. Code without line numbers has a row a\n"
        "function, `(no line)'; objects that have none at all are named above the table.\n"
        "\n"
        "A file is shown by the last part of its path, or, where several share that, by the whole\n"
        "path, mapped as --path-map says. JSON and CSV have whole paths always.\n"
        "\n"
        "REGEX is a POSIX extended regular expression; it is searched for in the demangled name\n"
        "and in the linkage name of the function.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc lines --limit 20 ./prog\n"
        "  monarc lines --inlines --focus '^parse' ./prog gmon.out\n"
        "  monarc lines --full-paths --path-map /build=$HOME/src prog.monarc\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
