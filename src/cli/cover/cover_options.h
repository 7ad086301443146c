/* What the user asked `monarc cover` for. */
#ifndef MONARC_CLI_COVER_OPTIONS_H
#define MONARC_CLI_COVER_OPTIONS_H

#include "command/command.h"
#include "session/coverage_files.h"
#include "session/source_names.h"
#include "session/coverage_read.h"
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
    COVER_THREADS,
    COVER_COLOR,
    COVER_NO_PAGER,
    COVER_OPTIONS
};

extern const struct option_row cover_option_rows[COVER_OPTIONS];

enum cover_form { FORM_LCOV, FORM_COBERTURA, FORM_JSON, FORM_MARKDOWN, FORMS };
enum cover_gate_of { GATE_LINE, GATE_BRANCH, GATE_FUNCTION, GATE_CONDITION, GATE_DIFF, GATES };

struct cover_options {
    struct find_rules find;
    struct cover_wishes wishes;
    struct read_rules read;
    struct result_rules result;
    struct source_search search; /* directories and maps */
    struct cover_style style;
    struct arena arena;
    const char *files[FORMS]; /* where each form goes, or NULL */
    bool has_gate[GATES];
    double gates[GATES];
    const char *patch, *test;
    bool has_root, is_quiet, no_pager, is_lcov2, keeps_linkage_names;
    enum colour_when colour;
    char **paths;
    size_t paths_len;
};

/* Parses into a zeroed *o; OPTION_END, OPTION_HELP or OPTION_BAD. */
int cover_options_parse(const struct command *self, int argc, char **argv, struct cover_options *o,
                        struct err *e);
void cover_options_deinit(struct cover_options *o);

#endif
