/* What commands about source lines have in common: their options, and making the table of lines.
 *
 * A command puts SOURCE_OPTION_ROWS first in its option table and hands rows below SOURCE_OPTIONS
 * to source_option(). */
#ifndef MONARC_CLI_SOURCES_H
#define MONARC_CLI_SOURCES_H

#include "profile/analysis/annotate.h"
#include "cli/view.h"

enum {
    SOURCE_OPTION_FUNCTION = PROFILE_OPTIONS,
    SOURCE_OPTION_FILE,
    SOURCE_OPTION_NO_DEMANGLE,
    SOURCE_OPTION_DEBUG_DIR,
    SOURCE_OPTION_FORCE,
    SOURCE_OPTION_JSON,
    SOURCE_OPTION_COLOR,
    SOURCE_OPTION_NO_PAGER,
    SOURCE_OPTIONS
};

/* clang-format off */
#define SOURCE_OPTION_ROWS                                                                         \
    PROFILE_OPTION_ROWS,                                                                           \
    {'f', "function", "NAME", "only code of this function, and what was inlined into it"},         \
    {'F', "file", "FILE", "only lines of this file; the end of its path is enough"},               \
    {0, "no-demangle", NULL, "show linkage names as they are"},                                    \
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},                           \
    {0, "force", NULL, "report even if program and profile do not belong together"},               \
    {'j', "json", NULL, "print JSON; docs/schema/ has its schema"},                                \
    {0, "color", "[auto|always|never]", "colour large shares (default: on a terminal)"},           \
    {0, "no-pager", NULL, "do not page on a terminal"}
/* clang-format on */

struct source_options {
    struct view_options view;
    struct source_search search;
    const char *function, *file;
};

/* Takes option number `row`. */
MUST_CHECK bool source_option(struct source_options *o, int row, const char *value, struct err *e);

/* The program or recording, its profile, and its lines. */
struct sources {
    struct view view;
    struct source_input input;
    struct source_lines lines;
};

/* Opens, reads and analyses; fails too if the function or file that was asked for is not there. The
 * rest of `input` may be filled before. sources_close() after failure, too. */
MUST_CHECK bool sources_open(struct sources *s, struct source_options *o, struct err *e);
void sources_close(struct sources *s, struct source_options *o);

/* A command about source lines, from its arguments to its report. */
struct sources_job {
    void *request;                  /* what the functions get */
    struct source_options *options; /* of the request */
    option_taker *take;
    void (*prepare)(void *request, struct source_input *input); /* before opening; may be NULL */
    bool (*report)(struct sources *s, void *request, struct out *out, struct err *e);
};

/* Takes the arguments, opens, reports and closes; returns an exit status. */
int sources_run(const struct command *self, int argc, char **argv, const struct sources_job *job,
                struct out *out, struct err *e);

#endif
