/* The table of options of `monarc cover`, and what each does. */
#include "cli/cover/cover_options.h"

#include "cli/view.h"
#include "objfile/object.h"

#include <stdlib.h>
#include <string.h>

const struct option_row cover_option_rows[] = {
    {0, "missing", NULL, "list the lines that never ran, with the source around them"},
    {0, "functions", NULL, "list the functions and how often each was called"},
    {0, "branches", NULL, "list the branches that were never taken, of lines that ran"},
    {0, "conditions", NULL, "list the outcomes of conditions that were never seen (gcc 14)"},
    {0, "context", "N", "lines of source around what is missing (default: 2)"},
    {'s', "sort", "name|percent|missed|lines", "order of the sources"},
    {'n', "limit", "N", "show the first N sources"},
    {0, "lcov", "FILE", "write an lcov tracefile (- is standard output, here and below)"},
    {0, "lcov-version", "1|2", "records of lcov 1 (default) or those of lcov 2"},
    {0, "cobertura", "FILE", "write Cobertura XML"},
    {0, "json", "FILE", "write JSON; docs/schema/ has its schema"},
    {0, "markdown", "FILE", "write a summary for a pull request"},
    {0, "format", "NAME=FILE", "write FILE in the format of this name; may be repeated"},
    {'q', "quiet", NULL, "print no table"},
    {0, "fail-under-line", "P", "exit with 1 if less than P percent of the lines ran"},
    {0, "fail-under-branch", "P", "the same of branches"},
    {0, "fail-under-function", "P", "the same of functions"},
    {0, "fail-under-condition", "P", "the same of outcomes of conditions"},
    {0, "diff", "PATCH", "show the coverage of the lines that a unified diff changes"},
    {0, "fail-under-diff", "P", "exit with 1 if less than P percent of the changed lines ran"},
    {0, "include", "GLOB", "only sources whose path matches (may be repeated)"},
    {'x', "exclude", "GLOB", "no sources whose path matches (may be repeated)"},
    {0, "system", NULL, "count sources of the system and of other projects, too"},
    {0, "all-branches", NULL, "count branches that exceptions take or the compiler made, too"},
    {0, "no-markers", NULL, "ignore LCOV_EXCL_ and GCOVR_EXCL_ comments"},
    {0, "ran-only", NULL, "leave out objects without counters"},
    {0, "repair", NULL, "mend counts that threads damaged, by the least change"},
    {0, "root", "DIR", "the project: sources elsewhere are left out (default: see below)"},
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"},
    {'I', "source-dir", "DIR", "look for sources there, too (may be repeated)"},
    {0, "follow", NULL, "follow symbolic links to folders"},
    {0, "no-demangle", NULL, "show linkage names as they are"},
    {0, "test-name", "NAME", "the test's name in the tracefile"},
    {0, "by-test", NULL, "list the tests, and what each adds; with --lcov a section for each"},
    {0, "runs", "DIR", "each folder in DIR has the counters of one test, or each tracefile is one"},
    {0, "tests-of", "FILE:LINE", "list the tests that ran a line"},
    {0, "tests-for", "PATCH", "list the tests to run for a patch to what was measured"},
    {0, "threads", "N", "use N threads (default: one a CPU)"},
    {0, "color", "[auto|always|never]", "colour percentages (default: on a terminal)"},
    {0, "no-pager", NULL, "do not page on a terminal"},
};
OPTION_ROWS_MATCH(cover_option_rows, COVER_OPTIONS);

static bool cover_parse_sort(struct cover_options *o, const char *value, struct err *e)
{
    static const char *const NAMES[] = {[SORT_NAME] = "name",
                                        [SORT_PERCENT] = "percent",
                                        [SORT_MISSED] = "missed",
                                        [SORT_LINES] = "lines"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (!strcmp(value, NAMES[i])) {
            o->style.sort = (enum source_sort)i;
            return true;
        }
    }
    return err_set(e, "option '--sort' takes name, percent, missed or lines, not '%s'", value);
}

static bool cover_gate(struct cover_options *o, enum cover_gate_of which, const char *option,
                       const char *value, struct err *e)
{
    o->has_gate[which] = true;
    if (!option_decimal(option, value, &o->gates[which], e))
        return false;
    return o->gates[which] <= 100 ||
           err_set(e, "option '%s' needs a percentage up to 100, not '%s'", option, value);
}

static bool cover_number(const char *option, const char *value, uint64_t max, unsigned *out,
                         struct err *e)
{
    uint64_t n;
    if (!option_number(option, value, max, &n, e))
        return false;
    *out = (unsigned)n;
    return true;
}

static bool cover_lcov_version(struct cover_options *o, const char *value, struct err *e)
{
    o->style.is_lcov2 = !strcmp(value, "2");
    return o->style.is_lcov2 || !strcmp(value, "1") ||
           err_set(e, "option '--lcov-version' takes 1 or 2, not '%s'", value);
}

/* The options of old formats have the formats' names. The last file of a format counts. */
static bool cover_take_output(struct cover_options *o, const char *name, const char *path)
{
    struct cover_output output = {coverage_format_find(name, strlen(name), NULL), path};
    for (size_t i = 0; i < o->outputs.len; i++)
        if (o->outputs.at[i].format == output.format) {
            o->outputs.at[i] = output;
            return true;
        }
    vec_push(&o->outputs, output);
    return true;
}

static bool cover_take_format(struct cover_options *o, const char *value, struct err *e)
{
    const char *equals = strchr(value, '=');
    if (!equals || !equals[1])
        return err_set(e, "option '--format' takes NAME=FILE, not '%s'", value);
    const struct coverage_format *format = coverage_format_find(value, (size_t)(equals - value), e);
    return format && cover_take_output(o, format->name, equals + 1);
}

/* Options that say what to read. */
static bool cover_take_reading(struct cover_options *o, int row, const char *value, struct err *e)
{
    switch (row) {
    case COVER_INCLUDE: vec_push(&o->session.filter.include, value); return true;
    case COVER_EXCLUDE: vec_push(&o->session.filter.exclude, value); return true;
    case COVER_SYSTEM: return o->session.filter.keeps_system = true;
    case COVER_ALL_BRANCHES: return o->session.result.keeps_all_branches = true;
    case COVER_NO_MARKERS: return o->session.result.ignores_markers = true;
    case COVER_RAN_ONLY: return o->session.read.leaves_unrun = true;
    case COVER_REPAIR: return o->session.read.repairs = true;
    case COVER_ROOT: o->session.filter.root = value; return o->session.has_root = true;
    case COVER_PATH_MAP: return source_search_map(&o->search, value, e);
    case COVER_SOURCE_DIR: source_search_add(&o->search, value); return true;
    case COVER_FOLLOW: return o->session.find.follows_links = true;
    case COVER_THREADS: return cover_number("--threads", value, 64, &o->session.read.threads, e);
    default: return err_set(e, "option %d is not known", row);
    }
}

bool cover_option(void *request, int row, const char *value, struct err *e)
{
    struct cover_options *o = request;
    switch (row) {
    case COVER_MISSING: return o->style.shows_missing = true;
    case COVER_FUNCTIONS: return o->style.shows_functions = true;
    case COVER_BRANCHES: return o->style.shows_branches = true;
    case COVER_CONDITIONS: return o->style.shows_conditions = true;
    case COVER_CONTEXT: return cover_number("--context", value, 1000, &o->style.context, e);
    case COVER_SORT: return cover_parse_sort(o, value, e);
    case COVER_LIMIT: return option_number("--limit", value, UINT32_MAX, &o->style.limit, e);
    case COVER_LCOV:
    case COVER_COBERTURA:
    case COVER_JSON:
    case COVER_MARKDOWN: return cover_take_output(o, cover_option_rows[row].name, value);
    case COVER_FORMAT: return cover_take_format(o, value, e);
    case COVER_LCOV_VERSION: return cover_lcov_version(o, value, e);
    case COVER_QUIET: return o->is_quiet = true;
    case COVER_FAIL_LINE: return cover_gate(o, GATE_LINE, "--fail-under-line", value, e);
    case COVER_FAIL_BRANCH: return cover_gate(o, GATE_BRANCH, "--fail-under-branch", value, e);
    case COVER_FAIL_FUNCTION:
        return cover_gate(o, GATE_FUNCTION, "--fail-under-function", value, e);
    case COVER_FAIL_CONDITION:
        return cover_gate(o, GATE_CONDITION, "--fail-under-condition", value, e);
    case COVER_DIFF: o->session.patch = value; return true;
    case COVER_FAIL_DIFF: return cover_gate(o, GATE_DIFF, "--fail-under-diff", value, e);
    case COVER_NO_DEMANGLE: return o->keeps_linkage_names = true;
    case COVER_TEST_NAME: o->test = value; return true;
    case COVER_BY_TEST: return o->by_test = true;
    case COVER_RUNS: o->session.runs = value; return true;
    case COVER_TESTS_OF: o->tests_of = value; return o->by_test = true;
    case COVER_TESTS_FOR: o->tests_for = value; return o->by_test = true;
    case COVER_COLOR: return parse_colour(value, &o->colour, e);
    case COVER_NO_PAGER: return o->no_pager = true;
    default: return cover_take_reading(o, row, value, e);
    }
}

/* Only one thing can go to standard output. */
static bool cover_check(const struct cover_options *o, struct err *e)
{
    int standard = 0;
    for (size_t i = 0; i < o->outputs.len; i++)
        standard += !strcmp(o->outputs.at[i].path, "-");
    if (standard > 1)
        return err_set(e, "only one report can go to standard output");
    if (o->tests_of && o->tests_for)
        return err_set(e, "options '--tests-of' and '--tests-for' are two questions");
    if (o->has_gate[GATE_DIFF] && !o->session.patch)
        return err_set(e, "option '--fail-under-diff' needs '--diff PATCH'");
    return true;
}

static bool cover_environment(struct cover_options *o, struct err *e)
{
    const char *prefix = getenv("GCOV_PREFIX"), *strip = getenv("GCOV_PREFIX_STRIP");
    if (prefix && *prefix)
        o->session.find.prefix = prefix;
    else if (strip && *strip)
        o->session.find.prefix = "."; /* as libgcov has it */
    if (!strip || !*strip)
        return true;
    return cover_number("GCOV_PREFIX_STRIP", strip, 1000, &o->session.find.strip, e);
}

void cover_options_init(struct cover_options *o)
{
    o->search.arena = &o->arena;
    o->style.context = 2;
}

bool cover_options_finish(struct cover_options *o, struct err *e)
{
    if (!cover_check(o, e) || !cover_environment(o, e))
        return false;
    o->session.filter.root =
        path_absolute(o->session.filter.root ? o->session.filter.root : ".", &o->arena);
    o->session.filter.maps = &o->search;
    o->session.result.search = &o->search;
    o->session.result.threads = o->session.read.threads;
    bool shows_names = o->style.shows_functions;
    for (size_t i = 0; i < o->outputs.len; i++)
        shows_names |= o->outputs.at[i].format->shows_names;
    o->session.result.demangle = shows_names && !o->keeps_linkage_names ? demangle : NULL;
    return true;
}

int cover_options_parse(const struct command *self, int argc, char **argv, struct cover_options *o,
                        struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    cover_options_init(o);
    int end = options_each(&walk, cover_option, o, e);
    if (end != OPTION_END)
        return end;
    if (!cover_options_finish(o, e))
        return OPTION_BAD;
    o->session.paths = walk.argv;
    o->session.paths_len = (size_t)walk.operands;
    return OPTION_END;
}

/* Unknown lines may not have run: a gate counts them as not covered. */
static double cover_gated_percent(const struct coverage_ratio *r)
{
    return r->all ? 100.0 * (double)r->hit / (double)r->all : 100.0;
}

size_t cover_gates(const struct cover_options *o, const struct coverage_session *s,
                   struct coverage_gate gates[GATES])
{
    const struct coverage_ratios *sums = &s->result.sums;
    const struct coverage_ratio *ratios[GATES] = {&sums->lines, &sums->branches, &sums->functions,
                                                  &sums->conditions, &s->diff.sum};
    static const char *const NAMES[GATES] = {"line", "branch", "function", "condition", "diff"};
    size_t len = 0;
    for (int i = 0; i < GATES; i++) {
        if (!o->has_gate[i])
            continue;
        double percent = cover_gated_percent(ratios[i]);
        gates[len++] = (struct coverage_gate){NAMES[i], o->gates[i], percent, percent < o->gates[i],
                                              !ratios[i]->all};
    }
    return len;
}

void cover_options_deinit(struct cover_options *o)
{
    source_search_deinit(&o->search);
    vec_free(&o->outputs);
    vec_free(&o->session.filter.include);
    vec_free(&o->session.filter.exclude);
    arena_deinit(&o->arena);
}
