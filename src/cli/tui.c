/* monarc tui: the screen. What is on it is in src/tui; here are its options and operands. */
#include "cli/html_data.h"
#include "session/imported.h"
#include "tui/screen.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_BASE,
    OPTION_OWN /* what follows is another command's */
};

/* Options of the reports on profiles, and of those on coverage, in the order of OPTIONS. */
static const int VIEW_ROWS[] = {
    PROFILE_OPTION_WORD,   PROFILE_OPTION_ENDIAN, PROFILE_OPTION_FORMAT, PROFILE_OPTION_DIMENSION,
    VIEW_OPTION_DEBUG_DIR, VIEW_OPTION_SYMBOLS,   VIEW_OPTION_FORCE,     VIEW_OPTION_EVENT,
    VIEW_OPTION_PROCESS,   VIEW_OPTION_PROGRAM,   VIEW_OPTION_FROM,      VIEW_OPTION_TO,
    VIEW_OPTION_PHASE,
};
static const int COVER_ROWS[] = {COVER_PLACE_OPTIONS, COVER_SCOPE_OPTIONS};
enum {
    VIEW_ROWS_LEN = sizeof VIEW_ROWS / sizeof *VIEW_ROWS,
    COVER_ROWS_LEN = sizeof COVER_ROWS / sizeof *COVER_ROWS,
    OPTION_NO_DEMANGLE = OPTION_OWN + VIEW_ROWS_LEN + COVER_ROWS_LEN,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    {0, "base", "OLD", "compare with an older profile, recording or coverage (may be repeated)"},
    PROFILE_OPTION_ROWS,
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "show even if program and profile do not belong together"},
    {'e', "event", "NAME", "of a recording: show this event (default: the first one)"},
    {0, "process", "PID", "of a recording: this process alone"},
    {0, "program", "NAME", "of a recording: processes that ran this program alone"},
    {0, "from", "T", "of a recording: from so many seconds after its start on"},
    {0, "to", "T", "of a recording: until then"},
    {0, "phase", "NAME", "of a recording: this phase or region alone"},
    COVER_PLACE_OPTION_ROWS,
    COVER_SCOPE_OPTION_ROWS,
    {0, "no-demangle", NULL, "show linkage names as they are"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct html_options options, base;
};

static bool tui_take(void *request, int row, const char *value, struct err *e)
{
    struct html_options *o = &((struct request *)request)->options;
    if (row == OPTION_BASE) {
        vec_push(&o->base, (char *)value);
        return true;
    }
    if (row == OPTION_NO_DEMANGLE) {
        o->view.session.no_demangle = true;
        return o->cover.keeps_linkage_names = true;
    }
    if (row < OPTION_OWN + VIEW_ROWS_LEN)
        return view_option(&o->view, VIEW_ROWS[row - OPTION_OWN], value, e);
    return cover_option(&o->cover, COVER_ROWS[row - OPTION_OWN - VIEW_ROWS_LEN], value, e);
}

/* --- what the screen is to open -------------------------------------------------------------- */

static bool tui_describe(struct html_options *o, struct tui_options *out, struct err *e)
{
    struct coverage_options *c = &o->cover.session;
    if (o->profile.len) {
        if (!session_operands(&o->view.session, o->profile.at, o->profile.len, e))
            return false;
        out->profile = &o->view.session;
    }
    if (o->coverage.len) {
        c->paths = o->coverage.at;
        c->paths_len = o->coverage.len;
        if (!o->cover.keeps_linkage_names)
            c->result.demangle = demangle;
        out->coverage = c;
    }
    out->search = &o->cover.search;
    out->folder = c->filter.root;
    return true;
}

/* The base is opened with the same options; a profile alone is of the same program. */
static void tui_describe_base(struct request *r)
{
    const struct html_options *o = &r->options;
    struct html_options *base = &r->base;
    base->view.session = (struct session_options){.read = o->view.session.read,
                                                  .debug_dir = o->view.session.debug_dir,
                                                  .symbols = o->view.session.symbols,
                                                  .is_forced = o->view.session.is_forced,
                                                  .no_demangle = o->view.session.no_demangle};
    base->cover = o->cover;
    html_operands(base, o->base.at, o->base.len);
    if (base->profile.len == 1 && !is_recording(base->profile.at[0]) && o->profile.len) {
        vec_push(&base->profile, base->profile.at[0]);
        base->profile.at[0] = o->profile.at[0];
    }
}

static bool tui_show_screen(struct request *r, const struct option_walk *walk, struct err *e)
{
    struct tui_options shown = {0}, base = {0};
    struct terminal_state terminal;
    const char *more = getenv("GPROF_PATH");
    html_operands(&r->options, walk->argv, (size_t)walk->operands);
    if (!walk->operands)
        return err_set(e, "tui needs a PROGRAM, a RECORDING or a folder with coverage; see 'monarc "
                          "tui --help'");
    if (!cover_options_finish(&r->options.cover, e) || !tui_describe(&r->options, &shown, e))
        return false;
    if (more)
        source_search_add(&r->options.cover.search, more);
    tui_describe_base(r);
    if (!tui_describe(&r->base, &base, e))
        return false;
    shown.base = r->options.base.len ? &base : NULL;
    bool ok = terminal_find(&terminal, e) && screen_run(&shown, &terminal, e);
    terminal_forget(&terminal);
    return ok;
}

static int tui_run(const struct command *self, int argc, char **argv, struct out *out,
                   struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {0};
    int status = EXIT_BAD;
    cover_options_init(&r.options.cover);
    int end = options_each(&walk, tui_take, &r, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end == OPTION_END && tui_show_screen(&r, &walk, e)) {
        status = EXIT_FINE;
    }
    vec_free(&r.options.profile);
    vec_free(&r.options.coverage);
    vec_free(&r.options.base);
    vec_free(&r.base.profile);
    vec_free(&r.base.coverage);
    filter_deinit(&r.options.view.filter);
    cover_options_deinit(&r.options.cover);
    return status;
}

const struct command command_tui = {
    .name = "tui",
    .next = "'monarc html' makes a page of the same, for others to look at",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...] [DIR|FILE...]",
    .summary = "Look at a profile, its sources and their coverage on the terminal",
    .details =
        "PROGRAM and PROFILE, or RECORDING, are as for 'monarc flat'; DIR and FILE as for 'monarc\n"
        "cover': a folder without a recording, notes (.gcno), counters (.gcda) and tracefiles\n"
        "(.info, .json, .xml) are about coverage. Named together, both are on the screen, and\n"
        "time and counts stand beside the same lines.\n"
        "\n"
        "The figures are those of 'monarc flat', 'graph', 'annotate' and 'cover'. The key ? lists\n"
        "the keys. The views:\n"
        "\n"
        "  1 functions   the flat profile; how often each ran, as coverage has it\n"
        "  2 calls       one function, its callers above it, its callees below\n"
        "  3 source      time, calls, counts, coverage and branches before each line\n"
        "  4 files       sources by time, missed lines or share of lines that ran\n"
        "  5 zoom        one program, process, thread or object of a recording alone\n"
        "  6 line        branches, inlining and machine code of the line of a source\n"
        "  i notes       what was measured, totals, what is missing\n"
        "\n"
        "Regular expressions are POSIX extended ones: / searches, f filters functions and files.\n"
        "The key c chooses columns, e opens $VISUAL or $EDITOR (or vi) with +LINE FILE.\n"
        "\n"
        "--base names what to compare with: a profile of the same PROGRAM, a program and its\n"
        "profile, a recording, coverage. Functions are the same if their linkage names are.\n"
        "\n"
        "The screen takes what the terminal has: 80 columns of 24 rows are enough, colours are no\n"
        "need, NO_COLOR turns them off. What is not a character of the locale, control characters "
        "and\n"
        "letters written from right to left appear as `?'.\n"
        "\n"
        "Examples:\n"
        "  monarc tui ./prog gmon.out\n"
        "  monarc tui prog.monarc\n"
        "  monarc tui build/\n"
        "  monarc tui ./prog gmon.out build/\n"
        "  monarc tui ./prog gmon.out --base old.gmon\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = tui_run,
};
