/* What the native reports on a program and its profiles have in common: their options, opening and
 * analysing both, and refusing a program and a profile that do not belong together.
 *
 * A command puts VIEW_OPTION_ROWS first in its option table and hands rows below VIEW_OPTIONS to
 * view_option(). */
#ifndef MONARC_CLI_VIEW_H
#define MONARC_CLI_VIEW_H

#include "profile/analysis/graph/graph_measured.h"
#include "profile/analysis/fit.h"
#include "profile/analysis/flat.h"
#include "session/profiles.h"
#include "session/recorded.h"
#include "cli/terminal.h"
#include "output/text.h"

enum {
    VIEW_OPTION_SORT = PROFILE_OPTIONS,
    VIEW_OPTION_LIMIT,
    VIEW_OPTION_MIN_PERCENT,
    VIEW_OPTION_FOCUS,
    VIEW_OPTION_IGNORE,
    VIEW_OPTION_ALL,
    VIEW_OPTION_NO_DEMANGLE,
    VIEW_OPTION_LINKAGE_NAMES,
    VIEW_OPTION_FULL_NAMES,
    VIEW_OPTION_DEBUG_DIR,
    VIEW_OPTION_FORCE,
    VIEW_OPTION_JSON,
    VIEW_OPTION_CSV,
    VIEW_OPTION_COLOR,
    VIEW_OPTION_NO_PAGER,
    VIEW_OPTION_EVENT,
    VIEW_OPTION_PROCESS,
    VIEW_OPTION_PROGRAM,
    VIEW_OPTION_FROM,
    VIEW_OPTION_TO,
    VIEW_OPTION_PHASE,
    VIEW_OPTIONS
};

/* clang-format off */
#define VIEW_OPTION_ROWS                                                                           \
    PROFILE_OPTION_ROWS,                                                                           \
    {'s', "sort", "self|total|calls|name", "order of the rows"},                                   \
    {'n', "limit", "N", "show the first N rows"},                                                  \
    {'m', "min-percent", "P", "leave out what has less than P percent of all samples"},            \
    {'f', "focus", "REGEX", "show only functions whose name matches (may be repeated)"},           \
    {'i', "ignore", "REGEX", "leave out functions whose name matches (may be repeated)"},          \
    {'a', "all", NULL, "show functions without time and calls, too"},                              \
    {0, "no-demangle", NULL, "show linkage names as they are"},                                    \
    {0, "linkage-names", NULL, "show linkage names behind demangled ones"},                        \
    {0, "full-names", NULL, "show C++ names whole: parameters, default template arguments, ..."},   \
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},                           \
    {0, "force", NULL, "report even if program and profile do not belong together"},               \
    {'j', "json", NULL, "print JSON; docs/schema/ has its schema"},                                \
    {'c', "csv", NULL, "print comma-separated values (RFC 4180)"},                                 \
    {0, "color", "[auto|always|never]", "colour large shares (default: on a terminal)"},           \
    {0, "no-pager", NULL, "do not page on a terminal"},                                            \
    {'e', "event", "NAME", "of a recording: show this event (default: the first one)"},            \
    {0, "process", "PID", "of a recording: this process alone"},                                   \
    {0, "program", "NAME", "of a recording: processes that ran this program alone"},               \
    {0, "from", "T", "of a recording: from so many seconds after its start on"},                   \
    {0, "to", "T", "of a recording: until then"},                                                  \
    {0, "phase", "NAME", "of a recording: this phase or region alone"}
/* clang-format on */

struct view_options {
    struct profile_options read;
    struct view_rules rules;
    struct filter filter;
    const char *debug_dir;
    bool adds_static;    /* calls that stand in the code join the graph */
    bool measures_graph; /* times of the graph come from stacks, if there are */
    bool places_samples; /* of recordings, into the profile: for reports that go by address */
    struct recorded_filter recorded;
    bool has_recorded_filter;
    char newest[128]; /* which of two profiles that were not named it is; "" otherwise */
    bool is_forced, is_json, is_csv, no_demangle, linkage_names, full_names, no_pager;
    enum colour_when colour;
    const char *program;
    bool is_recording; /* the profiles are folders */
    char **profiles;   /* at least one */
    size_t profiles_len;
    char default_path[300], *default_paths[1];
};

/* Takes option number `row`. */
MUST_CHECK bool view_option(struct view_options *o, int row, const char *value, struct err *e);

/* Takes PROGRAM [PROFILE...] or folders of recordings. */
MUST_CHECK bool view_operands(struct view_options *o, const struct option_walk *walk,
                              struct err *e);

/* Everything about one program and its profiles, or about a recording. */
struct view {
    struct arena arena;
    struct object *object; /* NULL for a recording */
    struct recorded recorded;
    const char *folder; /* of the (first) recording, or NULL */
    struct functions functions;
    struct profile profile;
    struct attribution time;
    struct selection selection; /* empty */
    struct static_calls calls;  /* where asked for */
    struct graph graph;
    struct names names;
    struct fit fit;
    struct summary summary;
    const char *notes[1]; /* of a profile that is no recording */
};

/* Opens, reads, judges and analyses. view_close() after failure, too. The summary names point into
 * `o`. */
MUST_CHECK bool view_open(struct view *v, struct view_options *o, struct err *e);
void view_close(struct view *v, struct view_options *o);

/* A command on a program and its profiles, from its arguments to its report. */
struct view_job {
    void *request;                /* what take() and report() get */
    struct view_options *options; /* of the request */
    option_taker *take;
    bool (*report)(struct view *v, void *request, struct out *out, struct err *e);
};

/* Takes the arguments, opens, reports and closes; returns an exit status. */
int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e);

/* A JSON or CSV writer sees no terminal. */
static inline bool view_is_for_people(const struct view_options *o)
{
    return !o->is_json && !o->is_csv;
}

/* Whether names are to be shortened: text for people who did not ask for all of it. */
static inline bool view_has_short_names(const struct view_options *o)
{
    return view_is_for_people(o) && !o->full_names && !o->no_demangle;
}

/* A percentage or other number with decimals that is not negative. */
MUST_CHECK bool option_decimal(const char *option, const char *value, double *out, struct err *e);

#endif
