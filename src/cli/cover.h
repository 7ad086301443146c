/* Options about coverage, for `monarc cover` and for commands that show it beside a profile: html,
 * tui, diff and check. */
#ifndef MONARC_CLI_COVER_H
#define MONARC_CLI_COVER_H

#include "cli/cli.h"
#include "coverage/report/coverage_report.h"
#include "session/coverage.h"

enum cover_gate_of { GATE_LINE, GATE_BRANCH, GATE_FUNCTION, GATE_CONDITION, GATE_DIFF, GATES };

/* A report in a format, and the file that it goes to. Of one format there is one output at most. */
struct cover_output {
    const struct coverage_format *format;
    const char *path; /* "-": standard output */
};

/* `arena` owns what options made (absolute paths, maps); vectors of the session are freed by
 * cover_options_deinit(). */
struct cover_options {
    struct coverage_options session;
    struct source_search search; /* directories and maps */
    struct coverage_style style;
    struct print_options print;
    struct arena arena;
    VEC(struct cover_output) outputs;
    bool has_gate[GATES];
    double gates[GATES]; /* least percentages */
    const char *test;
    bool by_test; /* or one of these two */
    const char *tests_of, *tests_for;
    bool is_quiet, keeps_linkage_names;
};

/* Sets of options that fill a struct cover_options: where sources are, which count, what must have
 * run. */
extern const struct option_set cover_places_set, cover_scope_set, cover_gates_set;
#define COVER_GROUPS(TYPE, COVER) \
    GROUP(cover_places_set, TYPE, COVER), GROUP(cover_scope_set, TYPE, COVER)

/* A zeroed *o gets its defaults before options are taken; what follows from them, and from the
 * environment, is filled in afterwards. deinit() in any case. The same options may be opened for
 * two sides one after the other, with other paths. */
void cover_options_init(struct cover_options *o);
MUST_CHECK bool cover_options_finish(struct cover_options *o, struct err *e);
void cover_options_deinit(struct cover_options *o);

/* What the gates that were asked for say; returns how many there are. A gate counts what is unknown
 * as not covered. */
size_t cover_gates(const struct cover_options *o, const struct coverage_session *s,
                   struct coverage_gate gates[GATES]);

#endif
