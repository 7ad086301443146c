/* What the native reports on a program and its profiles have in common: their options, and the way
 * from the arguments to the report.
 *
 * A command puts VIEW_OPTION_ROWS first in its option table and hands rows below VIEW_OPTIONS to
 * view_option(). */
#ifndef MONARC_CLI_VIEW_H
#define MONARC_CLI_VIEW_H

#include "profile/analysis/tables.h"
#include "session/session.h"
#include "cli/print.h"
#include "profile/report/report_header.h"

enum {
    VIEW_OPTION_SORT = PROFILE_OPTIONS,
    VIEW_OPTION_LIMIT,
    VIEW_OPTION_MIN_PERCENT,
    VIEW_OPTION_FOCUS,
    VIEW_OPTION_IGNORE,
    VIEW_OPTION_SELECT,
    VIEW_OPTION_ALL,
    VIEW_OPTION_NO_DEMANGLE,
    VIEW_OPTION_LINKAGE_NAMES,
    VIEW_OPTION_FULL_NAMES,
    VIEW_OPTION_PIECES,
    VIEW_OPTION_WIDE,
    VIEW_OPTION_DEBUG_DIR,
    VIEW_OPTION_SYMBOLS,
    VIEW_OPTION_FORCE,
    VIEW_OPTION_JSON,
    VIEW_OPTION_CSV,
    VIEW_OPTION_COLOR,
    VIEW_OPTION_NO_PAGER,
    VIEW_OPTION_EVENT,
    VIEW_OPTION_PROCESS,
    VIEW_OPTION_PROGRAM,
    VIEW_OPTION_THREAD,
    VIEW_OPTION_FROM,
    VIEW_OPTION_TO,
    VIEW_OPTION_PHASE,
    VIEW_OPTIONS
};

/* clang-format off */
#define RECORDING_OPTION_ROWS                                                                      \
    {'e', "event", "NAME", "of a recording: show this event (default: the first one)"},            \
    {0, "process", "PID", "of a recording: this process alone"},                                   \
    {0, "program", "NAME", "of a recording: processes that ran this program alone"},               \
    {0, "thread", "TID|NAME", "of a recording: threads of that number or name alone"},             \
    {0, "from", "T", "of a recording: from so many seconds after its start on"},                   \
    {0, "to", "T", "of a recording: until then"},                                                  \
    {0, "phase", "NAME", "of a recording: this phase or region alone"}

#define VIEW_OPTION_ROWS                                                                           \
    PROFILE_OPTION_ROWS,                                                                           \
    {'s', "sort", "self|total|calls|name", "order of the rows"},                                   \
    {'n', "limit", "N", "show the first N rows"},                                                  \
    {'m', "min-percent", "P", "leave out what has less than P percent of all samples"},            \
    {'f', "focus", "REGEX", "show only functions whose name matches (may be repeated)"},           \
    {'i', "ignore", "REGEX", "leave out functions whose name matches (may be repeated)"},          \
    {0, "select", "PLACE", "show only what is in FILE, FILE:LINE or FILE:FUNCTION"},               \
    {'a', "all", NULL, "show functions without time and calls, too"},                              \
    {0, "no-demangle", NULL, "show linkage names as they are"},                                    \
    {0, "linkage-names", NULL, "show linkage names behind demangled ones"},                        \
    {0, "full-names", NULL, "show C++ names whole: parameters, default template arguments, ..."},   \
    {0, "pieces", NULL, "show .cold and .part pieces as functions of their own"},                  \
    {'w', "wide", NULL, "show all columns and whole names (default: what fits the width)"},        \
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},                           \
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},         \
    {0, "force", NULL, "report even if program and profile do not belong together"},               \
    REPORT_OPTION_JSON,                                                                            \
    REPORT_OPTION_CSV,                                                                             \
    {0, "color", "[auto|always|never]", "colour large shares (default: on a terminal)"},           \
    {0, "no-pager", NULL, "do not page on a terminal"},                                            \
    RECORDING_OPTION_ROWS
/* clang-format on */

struct view_options {
    struct session_options session;
    struct view_rules rules;
    struct filter filter;
    struct print_options print;
    bool full_names;
};

/* Takes option number `row`. */
MUST_CHECK bool view_option(struct view_options *o, int row, const char *value, struct err *e);

/* Takes the operands of a command: PROGRAM [PROFILE...] or folders of recordings. */
MUST_CHECK bool view_operands(struct session_options *o, const struct option_walk *walk,
                              struct err *e);

/* A command on a program and its profiles, from its arguments to its report. */
struct view_job {
    void *request;                /* what take() and report() get */
    struct view_options *options; /* of the request */
    option_taker *take;
    bool (*report)(struct session *s, void *request, struct out *out, struct err *e);
    bool rows_are_lines;       /* what filters admit are lines, not functions */
    const char *const *output; /* of the request: the file that it may write; NULL: it never does */
};

/* Takes the arguments, opens, reports and closes; returns an exit status. */
int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e);

/* Whether names are to be shortened: text for people who did not ask for all of it. */
static inline bool view_has_short_names(const struct view_options *o)
{
    return !o->print.format && !o->full_names && !o->session.no_demangle;
}

/* A percentage or other number with decimals that is not negative. */
MUST_CHECK bool option_decimal(const char *option, const char *value, double *out, struct err *e);

#endif
