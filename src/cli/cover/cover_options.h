/* What the user asked `monarc cover` for. */
#ifndef MONARC_CLI_COVER_OPTIONS_H
#define MONARC_CLI_COVER_OPTIONS_H

#include "command/command.h"
#include "session/coverage.h"
#include "cli/terminal.h"
#include "coverage/report/coverage_report.h"

enum {
    COVER_MISSING,
    COVER_FUNCTIONS,
    COVER_BRANCHES,
    COVER_CONDITIONS,
    COVER_CONTEXT,
    COVER_SORT,
    COVER_LIMIT,
    COVER_LCOV,
    COVER_LCOV_VERSION,
    COVER_COBERTURA,
    COVER_JSON,
    COVER_MARKDOWN,
    COVER_FORMAT,
    COVER_QUIET,
    COVER_FAIL_LINE,
    COVER_FAIL_BRANCH,
    COVER_FAIL_FUNCTION,
    COVER_FAIL_CONDITION,
    COVER_DIFF,
    COVER_FAIL_DIFF,
    COVER_INCLUDE,
    COVER_EXCLUDE,
    COVER_SYSTEM,
    COVER_ALL_BRANCHES,
    COVER_NO_MARKERS,
    COVER_RAN_ONLY,
    COVER_REPAIR,
    COVER_ROOT,
    COVER_PATH_MAP,
    COVER_SOURCE_DIR,
    COVER_FOLLOW,
    COVER_NO_DEMANGLE,
    COVER_TEST_NAME,
    COVER_BY_TEST,
    COVER_RUNS,
    COVER_TESTS_OF,
    COVER_TESTS_FOR,
    COVER_THREADS,
    COVER_COLOR,
    COVER_NO_PAGER,
    COVER_OPTIONS
};

/* What views of coverage beside profiles take as `monarc cover` does: rows for their tables, and
 * which options they are. */
#define COVER_PLACE_OPTIONS COVER_SOURCE_DIR, COVER_PATH_MAP, COVER_ROOT
#define COVER_SCOPE_OPTIONS                                                           \
    COVER_INCLUDE, COVER_EXCLUDE, COVER_SYSTEM, COVER_ALL_BRANCHES, COVER_NO_MARKERS, \
        COVER_RAN_ONLY, COVER_REPAIR, COVER_FOLLOW, COVER_THREADS
/* clang-format off */
#define COVER_PLACE_OPTION_ROWS \
    {'I', "source-dir", "DIR", "look for sources there, too (may be repeated)"}, \
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"}, \
    {0, "root", "DIR", "show sources below it without it (default: . or where all are)"}
#define COVER_SCOPE_OPTION_ROWS \
    {0, "include", "GLOB", "coverage of sources whose path matches alone (may be repeated)"}, \
    {'x', "exclude", "GLOB", "none of sources whose path matches (may be repeated)"}, \
    {0, "system", NULL, "coverage of sources of the system, such as /usr/include, too"}, \
    {0, "all-branches", NULL, "count branches that exceptions take or the compiler made, too"}, \
    {0, "no-markers", NULL, "ignore LCOV_EXCL_ and GCOVR_EXCL_ comments"}, \
    {0, "ran-only", NULL, "leave out objects that never ran"}, \
    {0, "repair", NULL, "mend counts that threads damaged, by the least change"}, \
    {0, "follow", NULL, "follow symbolic links to folders"}, \
    {0, "threads", "N", "use N threads for coverage (default: one a CPU)"}
/* clang-format on */

extern const struct option_row cover_option_rows[COVER_OPTIONS];

enum cover_gate_of { GATE_LINE, GATE_BRANCH, GATE_FUNCTION, GATE_CONDITION, GATE_DIFF, GATES };

/* A report in a format, and the file that it goes to. */
struct cover_output {
    const struct coverage_format *format;
    const char *path; /* "-": standard output */
};

struct cover_options {
    struct coverage_options session;
    struct source_search search; /* directories and maps */
    struct coverage_style style;
    struct arena arena;
    VEC(struct cover_output) outputs;
    bool has_gate[GATES];
    double gates[GATES];
    const char *test;
    bool by_test; /* one of the three */
    const char *tests_of, *tests_for;
    bool is_quiet, no_pager, keeps_linkage_names;
    enum colour_when colour;
};

/* Taking options one by one, for a command that has others as well: into a zeroed *o, from init()
 * to finish(). `request` is a struct cover_options, `row` of the table above. */
void cover_options_init(struct cover_options *o);
MUST_CHECK bool cover_option(void *request, int row, const char *value, struct err *e);
MUST_CHECK bool cover_options_finish(struct cover_options *o, struct err *e);

/* What the gates that were asked for say; returns how many there are. */
size_t cover_gates(const struct cover_options *o, const struct coverage_session *s,
                   struct coverage_gate gates[GATES]);

/* Parses into a zeroed *o; OPTION_END, OPTION_HELP or OPTION_BAD. */
int cover_options_parse(const struct command *self, int argc, char **argv, struct cover_options *o,
                        struct err *e);
void cover_options_deinit(struct cover_options *o);

#endif
