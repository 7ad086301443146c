/* monarc tui: the screen. What is on it is in src/tui; here are its options and operands, which are
 * those of the page (html.h): a profile, coverage, or both, and what to compare with.
 *
 * The session is opened by the screen itself (tui_open), so that its progress is shown before the
 * terminal is taken. There is no output: whatever goes wrong is an error of this command. */
#include "cli/html.h"
#include "tui/screen.h"

#include <stdlib.h>

/* What the screen is to open, in its own terms. */
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
        if (!o->view.session.no_demangle)
            c->result.demangle = demangle;
        out->coverage = c;
    }
    out->search = &o->cover.search;
    out->folder = c->filter.root;
    return true;
}

/* The terminal is looked at before anything is opened: reading a large recording for a screen that
 * cannot be had would be in vain. GPROF_PATH is the search path of GNU gprof. */
static bool tui_start(struct html_options *o, const struct operands *operands, struct err *e)
{
    struct html_options base = {0};
    struct tui_options shown = {0}, shown_base = {0};
    struct terminal_state terminal;
    const char *more = getenv("GPROF_PATH");
    if (!operands->len)
        return err_set(e, "tui needs a PROGRAM, a RECORDING or a folder with coverage; see 'monarc "
                          "tui --help'");
    html_operands(o, operands->at, operands->len);
    if (!cover_options_finish(&o->cover, e) || !tui_describe(o, &shown, e))
        return false;
    if (more)
        source_search_add(&o->cover.search, more);
    html_base_options(&base, o);
    bool ok = tui_describe(&base, &shown_base, e);
    if (ok) {
        shown.base = o->base.len ? &shown_base : NULL;
        ok = terminal_find(&terminal, e) && screen_run(&shown, &terminal, e);
        terminal_forget(&terminal);
    }
    html_options_deinit(&base);
    return ok;
}

/* `out` is only for --help. */
static int tui_run(const struct command *self, int argc, char **argv, struct out *out,
                   struct err *e)
{
    struct html_options o = {0};
    struct operands operands;
    cover_options_init(&o.cover);
    enum options_end end = options_read(self, argc, argv, &o, &operands, out, e);
    bool ok = end == OPTIONS_HELPED || (end == OPTIONS_READ && tui_start(&o, &operands, e));
    html_options_deinit(&o);
    return ok ? EXIT_FINE : EXIT_BAD;
}

static const struct option_group GROUPS[] = {
    GROUP(base_set, struct html_options, base),
    GROUP(part_set, struct html_options, view.session),
    COVER_GROUPS(struct html_options, cover),
    GROUP(demangle_set, struct html_options, view.session.no_demangle),
    FILE_GROUPS(struct html_options, view.session),
    GROUP(read_set, struct html_options, view.session.read),
};
const struct command command_tui = {
    .name = "tui",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...] [DIR|FILE...]",
    .summary = "Look at a profile, its sources and their coverage on the terminal",
    .groups = GROUPS,
    .groups_len = sizeof GROUPS / sizeof *GROUPS,
    .run = tui_run,
};
