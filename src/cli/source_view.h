/* What commands about source lines have in common: their options, and the way from the arguments to
 * the report.
 *
 * A command puts SOURCE_OPTION_ROWS first in its option table and hands rows below SOURCE_OPTIONS
 * to source_option(). */
#ifndef MONARC_CLI_SOURCE_VIEW_H
#define MONARC_CLI_SOURCE_VIEW_H

#include "cli/print.h"
#include "command/command.h"
#include "session/report_inputs.h"

enum {
    SOURCE_OPTION_FUNCTION = PROFILE_OPTIONS,
    SOURCE_OPTION_FILE,
    SOURCE_OPTION_SELECT,
    SOURCE_OPTION_NO_DEMANGLE,
    SOURCE_OPTION_DEBUG_DIR,
    SOURCE_OPTION_SYMBOLS,
    SOURCE_OPTION_FORCE,
    SOURCE_OPTION_JSON,
    SOURCE_OPTION_COLOR,
    SOURCE_OPTION_NO_PAGER,
    SOURCE_OPTIONS
};

/* clang-format off */
#define SOURCE_OPTION_ROWS                                                                         \
    PROFILE_OPTION_ROWS,                                                                           \
    {0, "function", "NAME", "only code of this function, and what was inlined into it"},      \
    {'F', "file", "FILE", "only lines of this file; the end of its path is enough"},               \
    {0, "select", "PLACE", "only what is in FILE or FILE:FUNCTION"},                               \
    {0, "no-demangle", NULL, "show linkage names as they are"},                                    \
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},                           \
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},         \
    {0, "force", NULL, "report even if program and profile do not belong together"},               \
    REPORT_OPTION_JSON,                                                                            \
    {0, "color", "[auto|always|never]", "colour large shares (default: on a terminal)"},           \
    {0, "no-pager", NULL, "do not page on a terminal"}
/* clang-format on */

struct source_options {
    struct sources_options sources;
    struct print_options print;
};

/* Takes option number `row`. */
MUST_CHECK bool source_option(struct source_options *o, int row, const char *value, struct err *e);

/* A command about source lines, from its arguments to its report. */
struct source_view_job {
    void *request;                  /* what the functions get */
    struct source_options *options; /* of the request */
    option_taker *take;
    void (*prepare)(void *request, struct source_input *input); /* before opening; may be NULL */
    bool (*report)(struct sources *s, void *request, struct out *out, struct err *e);
};

/* Takes the arguments, opens, reports and closes; returns an exit status. */
int source_view_run(const struct command *self, int argc, char **argv,
                    const struct source_view_job *job, struct out *out, struct err *e);

#endif
