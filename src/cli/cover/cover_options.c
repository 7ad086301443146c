/* The table of options of `monarc cover`, and what each does. */
#include "cli/cover/cover_options.h"

#include "cli/view.h"
#include "objfile/object.h"

#include <stdlib.h>
#include <string.h>

const struct option_row cover_option_rows[COVER_OPTIONS] = {
    {'m', "missing", NULL, "list the lines that never ran, with the source around them"},
    {'f', "functions", NULL, "list the functions and how often each was called"},
    {'b', "branches", NULL, "list the branches that were never taken, of lines that ran"},
    {0, "conditions", NULL, "list the outcomes of conditions that were never seen (gcc 14)"},
    {0, "context", "N", "lines of source around what is missing (default: 2)"},
    {'s', "sort", "name|percent|missed|lines", "order of the sources"},
    {'n', "limit", "N", "show the first N sources"},
    {0, "lcov", "FILE", "write an lcov tracefile (- is standard output, here and below)"},
    {0, "lcov-version", "1|2", "records of lcov 1 (default) or those of lcov 2"},
    {0, "cobertura", "FILE", "write Cobertura XML"},
    {'j', "json", "FILE", "write JSON; docs/schema/ has its schema"},
    {0, "markdown", "FILE", "write a summary for a pull request"},
    {'q', "quiet", NULL, "print no table"},
    {0, "fail-under-line", "P", "exit with 1 if less than P percent of the lines ran"},
    {0, "fail-under-branch", "P", "the same of branches"},
    {0, "fail-under-function", "P", "the same of functions"},
    {0, "fail-under-condition", "P", "the same of outcomes of conditions"},
    {'d', "diff", "PATCH", "show the coverage of the lines that a unified diff changes"},
    {0, "fail-under-diff", "P", "exit with 1 if less than P percent of the changed lines ran"},
    {'i', "include", "GLOB", "only sources whose path matches (may be repeated)"},
    {'x', "exclude", "GLOB", "no sources whose path matches (may be repeated)"},
    {0, "system", NULL, "count sources of the system, such as /usr/include, too"},
    {0, "all-branches", NULL, "count branches that exceptions take or the compiler made, too"},
    {0, "no-markers", NULL, "ignore LCOV_EXCL_ and GCOVR_EXCL_ comments"},
    {0, "ran-only", NULL, "leave out objects that never ran"},
    {0, "repair", NULL, "mend counts that threads damaged, by the least change"},
    {0, "root", "DIR", "show sources below it without it (default: . or where all are)"},
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"},
    {'I', "source-dir", "DIR", "look for sources there, too (may be repeated)"},
    {0, "follow", NULL, "follow symbolic links to folders"},
    {0, "no-demangle", NULL, "show linkage names as they are"},
    {0, "test-name", "NAME", "the test's name in the tracefile"},
    {0, "threads", "N", "use N threads (default: one a CPU)"},
    {0, "color", "[auto|always|never]", "colour percentages (default: on a terminal)"},
    {0, "no-pager", NULL, "do not page on a terminal"},
};

static bool parse_sort(struct cover_options *o, const char *value, struct err *e)
{
    static const char *const NAMES[] = {[ORDER_NAME] = "name",
                                        [ORDER_PERCENT] = "percent",
                                        [ORDER_MISSED] = "missed",
                                        [ORDER_LINES] = "lines"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (!strcmp(value, NAMES[i])) {
            o->style.order = (enum cover_order)i;
            return true;
        }
    }
    return err_set(e, "option '--sort' takes name, percent, missed or lines, not '%s'", value);
}

static bool gate(struct cover_options *o, enum cover_gate_of which, const char *option,
                 const char *value, struct err *e)
{
    o->has_gate[which] = true;
    if (!option_decimal(option, value, &o->gates[which], e))
        return false;
    return o->gates[which] <= 100 ||
           err_set(e, "option '%s' needs a percentage up to 100, not '%s'", option, value);
}

static bool number(const char *option, const char *value, uint64_t max, unsigned *out,
                   struct err *e)
{
    uint64_t n;
    if (!option_number(option, value, max, &n, e))
        return false;
    *out = (unsigned)n;
    return true;
}

static bool lcov_version(struct cover_options *o, const char *value, struct err *e)
{
    o->is_lcov2 = !strcmp(value, "2");
    return o->is_lcov2 || !strcmp(value, "1") ||
           err_set(e, "option '--lcov-version' takes 1 or 2, not '%s'", value);
}

/* Options that say what to read. */
static bool take_reading(struct cover_options *o, int row, const char *value, struct err *e)
{
    switch (row) {
    case COVER_INCLUDE: vec_push(&o->wishes.include, value); return true;
    case COVER_EXCLUDE: vec_push(&o->wishes.exclude, value); return true;
    case COVER_SYSTEM: return o->wishes.wants_system = true;
    case COVER_ALL_BRANCHES: return o->result.keeps_all_branches = true;
    case COVER_NO_MARKERS: return o->result.ignores_markers = true;
    case COVER_RAN_ONLY: return o->read.leaves_unrun = true;
    case COVER_REPAIR: return o->read.repairs = true;
    case COVER_ROOT: o->wishes.root = value; return o->has_root = true;
    case COVER_PATH_MAP: return source_search_map(&o->search, value, e);
    case COVER_SOURCE_DIR: source_search_add(&o->search, value); return true;
    case COVER_FOLLOW: return o->find.follows_links = true;
    case COVER_THREADS: return number("--threads", value, 64, &o->read.threads, e);
    default: return err_set(e, "option %d is not known", row);
    }
}

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct cover_options *o = request;
    switch (row) {
    case COVER_MISSING: return o->style.shows_missing = true;
    case COVER_FUNCTIONS: return o->style.shows_functions = true;
    case COVER_BRANCHES: return o->style.shows_branches = true;
    case COVER_CONDITIONS: return o->style.shows_conditions = true;
    case COVER_CONTEXT: return number("--context", value, 1000, &o->style.context, e);
    case COVER_SORT: return parse_sort(o, value, e);
    case COVER_LIMIT: return option_number("--limit", value, UINT32_MAX, &o->style.limit, e);
    case COVER_LCOV: o->files[FORM_LCOV] = value; return true;
    case COVER_LCOV_VERSION: return lcov_version(o, value, e);
    case COVER_COBERTURA: o->files[FORM_COBERTURA] = value; return true;
    case COVER_JSON: o->files[FORM_JSON] = value; return true;
    case COVER_MARKDOWN: o->files[FORM_MARKDOWN] = value; return true;
    case COVER_QUIET: return o->is_quiet = true;
    case COVER_FAIL_LINE: return gate(o, GATE_LINE, "--fail-under-line", value, e);
    case COVER_FAIL_BRANCH: return gate(o, GATE_BRANCH, "--fail-under-branch", value, e);
    case COVER_FAIL_FUNCTION: return gate(o, GATE_FUNCTION, "--fail-under-function", value, e);
    case COVER_FAIL_CONDITION: return gate(o, GATE_CONDITION, "--fail-under-condition", value, e);
    case COVER_DIFF: o->patch = value; return true;
    case COVER_FAIL_DIFF: return gate(o, GATE_DIFF, "--fail-under-diff", value, e);
    case COVER_NO_DEMANGLE: return o->keeps_linkage_names = true;
    case COVER_TEST_NAME: o->test = value; return true;
    case COVER_COLOR: return parse_colour(value, &o->colour, e);
    case COVER_NO_PAGER: return o->no_pager = true;
    default: return take_reading(o, row, value, e);
    }
}

/* Only one thing can go to standard output. */
static bool check(const struct cover_options *o, struct err *e)
{
    int standard = 0;
    for (int i = 0; i < FORMS; i++)
        standard += o->files[i] && !strcmp(o->files[i], "-");
    if (standard > 1)
        return err_set(e, "only one report can go to standard output");
    if (o->has_gate[GATE_DIFF] && !o->patch)
        return err_set(e, "option '--fail-under-diff' needs '--diff PATCH'");
    return true;
}

static bool environment(struct cover_options *o, struct err *e)
{
    const char *prefix = getenv("GCOV_PREFIX"), *strip = getenv("GCOV_PREFIX_STRIP");
    if (prefix && *prefix)
        o->find.prefix = prefix;
    else if (strip && *strip)
        o->find.prefix = "."; /* as libgcov has it */
    if (!strip || !*strip)
        return true;
    return number("GCOV_PREFIX_STRIP", strip, 1000, &o->find.strip, e);
}

int cover_options_parse(const struct command *self, int argc, char **argv, struct cover_options *o,
                        struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    o->search.arena = &o->arena;
    o->style.context = 2;
    int end = options_each(&walk, take, o, e);
    if (end != OPTION_END)
        return end;
    if (!check(o, e) || !environment(o, e))
        return OPTION_BAD;
    o->wishes.root = cover_whole_path(o->wishes.root ? o->wishes.root : ".", &o->arena);
    o->wishes.maps = &o->search;
    o->result.root = o->wishes.root;
    o->result.search = &o->search;
    o->result.threads = o->read.threads;
    bool shows_names = o->style.shows_functions || o->files[FORM_JSON] || o->files[FORM_COBERTURA];
    o->result.demangle = shows_names && !o->keeps_linkage_names ? demangle : NULL;
    o->paths = walk.argv;
    o->paths_len = (size_t)walk.operands;
    return OPTION_END;
}

void cover_options_deinit(struct cover_options *o)
{
    source_search_deinit(&o->search);
    vec_free(&o->wishes.include);
    vec_free(&o->wishes.exclude);
    arena_deinit(&o->arena);
}
