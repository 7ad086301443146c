/* Options of the commands about source lines, and their way to the report. */
#include "cli/source_view.h"

#include "cli/view.h"

/* As --file and --function do together. */
static bool take_place(struct sources_options *o, const char *value, struct err *e)
{
    struct filter_place p;
    if (!filter_place_parse(&p, value, o->search.arena, e))
        return false;
    o->file = p.file;
    o->function = p.function;
    return !p.line || err_set(e, "option '--select' takes FILE or FILE:FUNCTION here, not a line");
}

/* A switch table. */
bool source_option(struct source_options *o, int row, const char *value, struct err *e)
{
    switch (row) {
    case SOURCE_OPTION_FUNCTION: o->sources.function = value; return true;
    case SOURCE_OPTION_FILE: o->sources.file = value; return true;
    case SOURCE_OPTION_SELECT: return take_place(&o->sources, value, e);
    case SOURCE_OPTION_NO_DEMANGLE: return o->sources.session.no_demangle = true;
    case SOURCE_OPTION_DEBUG_DIR: o->sources.session.debug_dir = value; return true;
    case SOURCE_OPTION_SYMBOLS: o->sources.session.symbols = value; return true;
    case SOURCE_OPTION_FORCE: return o->sources.session.is_forced = true;
    case SOURCE_OPTION_JSON: o->print.format = REPORT_JSON; return true;
    case SOURCE_OPTION_COLOR: return parse_colour(value, &o->print.colour, e);
    case SOURCE_OPTION_NO_PAGER: return o->print.no_pager = true;
    default: return profile_option(&o->sources.session.read, row, value, e);
    }
}

static bool open_telling(struct sources *s, struct sources_options *o, struct err *e)
{
    struct progress *progress = progress_start();
    o->session.read.progress = progress;
    bool ok = sources_open(s, o, e);
    o->session.read.progress = NULL;
    progress_end(progress);
    return ok;
}

static bool open_and_report(struct sources *s, const struct source_view_job *job,
                            const struct option_walk *walk, struct out *out, struct err *e)
{
    if (job->prepare)
        job->prepare(job->request, &s->input);
    return view_operands(&job->options->sources.session, walk, e) &&
           open_telling(s, &job->options->sources, e) && job->report(s, job->request, out, e) &&
           session_debug_is_whole(&s->session, e);
}

int source_view_run(const struct command *self, int argc, char **argv,
                    const struct source_view_job *job, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct sources s = {0};
    bool is_fine = false;
    job->options->sources.search.arena = &s.session.arena;
    int end = options_each(&walk, job->take, job->request, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        is_fine = true;
    } else if (end == OPTION_END) {
        is_fine = open_and_report(&s, job, &walk, out, e);
    }
    sources_close(&s, &job->options->sources);
    return is_fine ? EXIT_FINE : EXIT_BAD;
}
