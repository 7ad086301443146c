/* monarc cover: which code ran, from notes and counters of any compiler and from tracefiles.
 *
 * A coverage session finds the files, adds up what they say and lays it side by side by source and
 * line (session/coverage.h). What is printed here is that one result: as text, and in every
 * requested format. Gates are judged on it afterwards.
 *
 * With --by-test each test's counts are kept apart, and questions about tests are answered instead
 * of a report on coverage. A tracefile with a section for each test is then written test by test,
 * each read anew, so that memory does not grow with their number.
 *
 * Holds throughout: what could not be used is named in the report and changes the status; where
 * nothing could be used, no file is written, so that a report of nothing never replaces a good one.
 *
 *    operands --> coverage_session_open() --> result --> formats in files --> text --> gates
 *                                                       with --by-test: tests --> answers */
#include "cli/cli.h"

#include "base/file.h"
#include "base/path.h"
#include "base/sort.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/analysis/cross.h"
#include "coverage/report/coverage_report.h"
#include "objfile/object.h"
#include "profile/analysis/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- options --------------------------------------------------------------------------------- */

enum { MOST_CONTEXT = 1000, MOST_THREADS = 64, MOST_PERCENT = 100 };

/* Values go to vectors of the session, not to lists of this struct, since sessions are made
 * without options, too. */
static bool cover_take_include(void *target, const struct option_row *row, const char *value,
                               struct err *e)
{
    (void)row, (void)e;
    vec_push(&((struct cover_options *)target)->session.filter.include, value);
    return true;
}

/* Kept until the names of sources are known. */
static bool cover_take_exclude(void *target, const struct option_row *row, const char *value,
                               struct err *e)
{
    (void)row, (void)e;
    vec_push(&((struct cover_options *)target)->session.filter.exclude, value);
    return true;
}

/* One more folder in which sources are looked for. */
static bool cover_take_folder(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    (void)row, (void)e;
    source_search_add(&((struct cover_options *)target)->search, value);
    return true;
}

/* Where sources are by now, if they are not where they were compiled. */
static const struct option_row PLACES[] = {
    {'I', "source-dir", "DIR", "also look for sources in DIR (may be repeated)",
     TAKEN_BY(cover_take_folder)},
    PATH_MAP_ROW(offsetof(struct cover_options, search)),
    {0, "root", "DIR", "the project: its sources are shown without this (default: see below)",
     FILLS(struct cover_options, session.filter.root),
     ALSO_SETS(struct cover_options, session.has_root)},
};
const struct option_set cover_places_set = {"Sources", PLACES, sizeof PLACES / sizeof *PLACES};

/* What these leave out is counted and said in the report, so that a ratio is never better in
 * silence.
 *
 * --instances is about what the compiler makes several functions of. Its default suits the question
 * of whether a line is tested at all, `worst` that of whether a template is tested with all the
 * types that it is used with. gcc's branches have no columns: those of two instances are the same
 * if there are as many on the line, in as many blocks. */
static const struct option_row SCOPE[] = {
    {0, "include", "GLOB", "count only sources whose path matches (may be repeated)",
     TAKEN_BY(cover_take_include)},
    {'x', "exclude", "GLOB", "count no sources whose path matches (may be repeated)",
     TAKEN_BY(cover_take_exclude)},
    {0, "system", NULL, "also count sources of the system and of other projects",
     FILLS(struct cover_options, session.filter.keeps_system)},
    {0, "all-branches", NULL, "also count branches taken by exceptions or made by the compiler",
     FILLS(struct cover_options, session.result.keeps_all_branches)},
    {0, "instances", "union|each|worst",
     "templates, generics, inlines: lines that any instance ran, each instance by itself, lines "
     "that all ran",
     CHOOSES(struct cover_options, session.read.instances)},
    {0, "no-markers", NULL, "ignore LCOV_EXCL_ and GCOVR_EXCL_ comments",
     FILLS(struct cover_options, session.result.ignores_markers)},
    {0, "ran-only", NULL, "leave out objects without counters",
     FILLS(struct cover_options, session.read.leaves_unrun)},
    {0, "repair", NULL, "repair counts that threads damaged, by the least change",
     FILLS(struct cover_options, session.read.repairs)},
    {0, "follow", NULL, "follow symbolic links to folders",
     FILLS(struct cover_options, session.find.follows_links)},
    {0, "threads", "N", "use N threads for coverage (default: one per CPU)",
     FILLS(struct cover_options, session.read.threads), .most = MOST_THREADS},
};
const struct option_set cover_scope_set = {"What counts as coverage", SCOPE,
                                           sizeof SCOPE / sizeof *SCOPE};

/* A gate of 0 percent is a gate, too: has_gate distinguishes it from none. */
#define GATE_ROW(NAME, WHICH, HELP)                                                  \
    {                                                                                \
        0, "fail-under-" NAME, "P", HELP, FILLS(struct cover_options, gates[WHICH]), \
            ALSO_SETS(struct cover_options, has_gate[WHICH]), .most = MOST_PERCENT   \
    }

/* Gates take what is measured as it is; --diff narrows it to lines of a patch, which has a gate of
 * its own. */
static const struct option_row GATE_ROWS[] = {
    GATE_ROW("line", GATE_LINE, "exit with 1 if less than P percent of the lines ran"),
    GATE_ROW("branch", GATE_BRANCH, "the same for branches"),
    GATE_ROW("function", GATE_FUNCTION, "the same for functions"),
    GATE_ROW("region", GATE_REGION, "the same for regions of code (clang, rustc)"),
    GATE_ROW("condition", GATE_CONDITION, "the same for outcomes of conditions"),
    {0, "diff", "PATCH", "show the coverage of the lines that a unified diff changes",
     FILLS(struct cover_options, session.patch)},
    GATE_ROW("diff", GATE_DIFF, "exit with 1 if less than P percent of the changed lines ran"),
};
const struct option_set cover_gates_set = {"What must have run", GATE_ROWS,
                                           sizeof GATE_ROWS / sizeof *GATE_ROWS};

bool outputs_differ(const char *path, const char *other, struct err *e)
{
    static const char *const DEVICES[] = {"/dev/", NULL};
    struct arena scratch = {0};
    bool is_same = !strcmp(path_tidy(path, &scratch), path_tidy(other, &scratch)) &&
                   !path_begins_with(path, DEVICES);
    arena_deinit(&scratch);
    if (is_same && !strcmp(path, "-"))
        return err_set(e, "only one report can go to standard output");
    return !is_same || err_set(e, "two reports cannot go to one file: %s", path);
}

const char *format_path(const struct option_row *row, const char *value, size_t *name_len,
                        struct err *e)
{
    const char *equals = strchr(value, '=');
    *name_len = equals ? (size_t)(equals - value) : strlen(value);
    if (equals && !equals[1]) {
        err_set(e, "option '--%s' takes NAME=FILE, not '%s'", row->name, value);
        return NULL;
    }
    return equals ? equals + 1 : "-";
}

/* --format NAME[=FILE]. */
static bool cover_take_format(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    struct cover_options *o = target;
    size_t len;
    const char *path = format_path(row, value, &len, e);
    const struct coverage_format *format = path ? coverage_format_find(value, len, e) : NULL;
    if (format)
        vec_push(&o->outputs, ((struct cover_output){format, path}));
    return format != NULL;
}

/* --lcov FILE and its kind, which have their formats' names. */
static bool cover_take_named(void *target, const struct option_row *row, const char *value,
                             struct err *e)
{
    struct cover_options *o = target;
    const struct coverage_format *format = coverage_format_find(row->name, strlen(row->name), e);
    vec_push(&o->outputs, ((struct cover_output){format, value}));
    return format != NULL;
}

/* Each format has an option of its name as well as --format NAME: --lcov FILE and --cobertura FILE
 * are gcovr's spelling. */
static const struct option_row OPTIONS[] = {
    {0, "missing", NULL,
     "list the lines that never ran, with the source around them; with --diff, the patch's",
     FILLS(struct cover_options, style.shows_missing)},
    {0, "functions", NULL, "list the functions of these sources, and how often each was called",
     FILLS(struct cover_options, style.shows_functions)},
    {'f', "function", "NAME",
     "show only this function, or those of /REGEX/, and their lines that never ran (may be "
     "repeated)",
     FILLS(struct cover_options, functions)},
    {0, "never-called", NULL, "list only the functions that were never called",
     FILLS(struct cover_options, style.shows_never_called)},
    {0, "branches", NULL, "list the branches that were never taken, of lines that ran",
     FILLS(struct cover_options, style.shows_branches)},
    {0, "conditions", NULL,
     "list the outcomes of conditions that were never seen (gcc 14, clang 18)",
     FILLS(struct cover_options, style.shows_conditions)},
    {0, "context", "N", "lines of source around what is missing (default: 2)",
     FILLS(struct cover_options, style.context), .most = MOST_CONTEXT},
    {'s', "sort", "name|percent|missed|lines", "order of the sources",
     CHOOSES(struct cover_options, style.sort), .first = SORT_NAME},
    {'n', "limit", "N", "show the first N sources", FILLS(struct cover_options, style.limit)},
    {0, "format", "NAME[=FILE]", "write this format, to FILE; may be repeated",
     TAKEN_BY(cover_take_format)},
    {0, "lcov", "FILE", "write an lcov tracefile (- is standard output, here and below)",
     TAKEN_BY(cover_take_named)},
    {0, "lcov-version", "1|2", "records of lcov 1 (default) or those of lcov 2",
     CHOOSES(struct cover_options, style.is_lcov2)},
    {0, "cobertura", "FILE", "write Cobertura XML", TAKEN_BY(cover_take_named)},
    {0, "json", "FILE", "write JSON; docs/schema/ has its schema", TAKEN_BY(cover_take_named)},
    {0, "markdown", "FILE", "write a summary for a pull request", TAKEN_BY(cover_take_named)},
    {'q', "quiet", NULL, "print no table", FILLS(struct cover_options, is_quiet)},
    DEMANGLE_ROW(struct cover_options, keeps_linkage_names),
    {0, "test-name", "NAME", "the test's name in the tracefile", FILLS(struct cover_options, test)},
    {0, "by-test", NULL, "list the tests, and what each adds; with --lcov a section for each",
     FILLS(struct cover_options, by_test)},
    {0, "by-build", NULL, "list the builds (programs, folders of notes), and what each adds",
     FILLS(struct cover_options, session.read.by_build)},
    {0, "cross", NULL, "compare the counts of two compilers, A and B, line by line, and by laws",
     FILLS(struct cover_options, crosses)},
    {0, "runs", "DIR", "each folder in DIR has the counters of one test, or each tracefile is one",
     FILLS(struct cover_options, session.runs)},
    {0, "tests-of", "FILE:LINE", "list the tests that ran a line, or the builds (--by-build)",
     FILLS(struct cover_options, tests_of), ALSO_SETS(struct cover_options, by_test)},
    {0, "tests-for", "PATCH", "list the tests that a patch to the measured sources affects",
     FILLS(struct cover_options, tests_for), ALSO_SETS(struct cover_options, by_test)},
};

/* The search needs its arena before the first option is taken. */
void cover_options_init(struct cover_options *o)
{
    o->search.arena = &o->arena;
    o->style.context = 2;
}

/* What follows from several options together, and from the environment.
 *
 * Everything that can be found wrong with the command line is found here, before the first file is
 * read, as reading may take minutes. GCOV_PREFIX is libgcov's: programs that ran with it wrote
 * their counters elsewhere, and with the same values now they are found there. Functions are
 * demangled only if a report will show their names. */
bool cover_options_finish(struct cover_options *o, struct err *e)
{
    const char *prefix = getenv("GCOV_PREFIX"), *strip = getenv("GCOV_PREFIX_STRIP");
    bool has_strip = strip && *strip;
    uint64_t levels;
    for (size_t i = 0; i < o->outputs.len; i++)
        for (size_t k = 0; k < i; k++)
            if (!outputs_differ(o->outputs.at[i].path, o->outputs.at[k].path, e))
                return false;
    if (o->tests_of && o->tests_for)
        return err_set(e, "options '--tests-of' and '--tests-for' cannot be combined");
    if (o->session.read.by_build && (o->by_test || o->session.runs) && !o->tests_of)
        return err_set(e, "option '--by-build' cannot be combined with those about tests");
    for (int i = 0; i < GATES && o->crosses; i++)
        if (o->has_gate[i])
            return err_set(e, "option '--cross' compares two sides; gates judge one");
    bool shows_part = o->functions.len, has_gate = o->session.patch != NULL;
    for (int i = 0; i < GATES; i++)
        has_gate |= o->has_gate[i];
    const char *refused = !shows_part                              ? NULL
                          : has_gate                               ? "--diff and gates"
                          : o->outputs.len                         ? "files"
                          : o->by_test || o->session.read.by_build ? "--by-test or --by-build"
                          : o->crosses                             ? "--cross"
                          : o->style.shows_functions               ? "--functions"
                          : o->style.shows_never_called            ? "--never-called"
                          : o->style.limit                         ? "--limit"
                                                                   : NULL;
    if (refused)
        return err_set(e, "option '--function' cannot be combined with %s", refused);
    o->style.shows_missing |= shows_part;
    if (o->tests_for && o->session.patch)
        return err_set(e,
                       "options '--tests-for' and '--diff' cannot be combined: each names a patch");
    if (o->has_gate[GATE_DIFF] && !o->session.patch)
        return err_set(e, "option '--fail-under-diff' needs '--diff PATCH'");
    if (prefix && *prefix)
        o->session.find.prefix = prefix;
    else if (has_strip)
        o->session.find.prefix = "."; /* as libgcov has it */
    if (has_strip && !option_number("GCOV_PREFIX_STRIP", strip, 1000, &levels, e))
        return false;
    o->session.find.strip = has_strip ? (unsigned)levels : o->session.find.strip;
    o->session.filter.root = path_real(
        path_absolute(o->session.filter.root ? o->session.filter.root : ".", &o->arena), &o->arena);
    o->session.filter.maps = &o->search;
    o->session.result.search = &o->search;
    o->session.result.threads = o->session.read.threads;
    bool shows_names = o->style.shows_functions || o->style.shows_never_called || shows_part;
    for (size_t i = 0; i < o->outputs.len; i++)
        shows_names |= o->outputs.at[i].format->shows_names;
    o->session.result.demangle = shows_names && !o->keeps_linkage_names ? demangle : NULL;
    return true;
}

size_t cover_gates(const struct cover_options *o, const struct coverage_session *s,
                   struct coverage_gate gates[GATES])
{
    const struct coverage_ratios *sums = &s->result.judged;
    const struct coverage_ratio *ratios[GATES] = {&sums->lines,      &sums->branches,
                                                  &sums->functions,  &sums->regions,
                                                  &sums->conditions, &s->diff.judged};
    static const char *const NAMES[GATES] = {"line",   "branch",    "function",
                                             "region", "condition", "diff"};
    size_t len = 0;
    for (int i = 0; i < GATES; i++) {
        if (o->has_gate[i])
            gates[len++] = coverage_gate_judge(NAMES[i], o->gates[i], ratios[i]);
    }
    return len;
}

/* Also of options that were never finished. */
void cover_options_deinit(struct cover_options *o)
{
    source_search_deinit(&o->search);
    vec_free(&o->outputs);
    vec_free(&o->functions);
    vec_free(&o->session.filter.include);
    vec_free(&o->session.filter.exclude);
    arena_deinit(&o->arena);
}

/* --- a report on coverage -------------------------------------------------------------------- */

/* Everything from what was read to what is printed. */
struct cover {
    const struct cover_options *options;
    struct coverage_session session;
    struct coverage_gate gates[GATES];
    struct coverage_report report;
};

/* Everything that a report says beside the result: what was read, by which rules, what was left
 * out, what went wrong. Formats for machines take of it what they have a field for. */
static struct coverage_report cover_report(const struct cover_options *o,
                                           const struct coverage_session *session,
                                           struct coverage_gate gates[GATES])
{
    struct coverage_report report = coverage_session_report(session, &o->session);
    /* Cobertura files must say when; builds that are to be reproduced say what. */
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    report.diff = o->session.patch ? &session->diff : NULL;
    report.patch = o->session.patch;
    report.gates = gates;
    report.gates_len = cover_gates(o, session, gates);
    report.timestamp = epoch && *epoch ? strtoll(epoch, NULL, 10) : (int64_t)time(NULL);
    report.test = o->test;
    return report;
}

/* Problems that made parts of the report unusable. */
static uint64_t cover_bad(const struct cover *c)
{
    const struct problems *p = &c->session.reading.problems;
    return p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL];
}

/* The file that a report of nothing would replace: something could not be used, and no line ran, as
 * far as is known. Counters that cannot be read look like a program that never ran. And what the
 * system's trouble hid from the search may be there the next time. NULL: files are written. */
static const char *cover_kept_file(const struct cover *c)
{
    const struct coverage_ratio *lines = &c->session.result.sums.lines;
    const struct cover_options *o = c->options;
    bool is_kept = cover_bad(c) && (!lines->hit || c->session.files.has_trouble);
    for (size_t i = 0; i < o->outputs.len && is_kept; i++)
        if (strcmp(o->outputs.at[i].path, "-"))
            return o->outputs.at[i].path;
    return NULL;
}

/* An output_writer. */
struct cover_writing {
    const struct cover *cover;
    const struct coverage_format *format;
};
static bool cover_write(void *context, struct out *out, struct err *e)
{
    const struct cover_writing *w = context;
    (void)e;
    w->format->write(out, &w->cover->report, &w->cover->options->style);
    return true;
}

/* Functions of --function, by number in the result; each name must mean one. */
static bool cover_functions(const struct cover *c, bool *is_asked_for, struct arena *scratch,
                            struct err *e)
{
    const struct cover_options *o = c->options;
    const struct coverage_result *r = &c->session.result;
    struct known_name *names = ARENA_NEW(scratch, struct known_name, r->functions.len + 1);
    const char *of = o->session.paths_len ? o->session.paths[0] : ".";
    uint32_t *number = ARENA_NEW(scratch, uint32_t, r->functions.len + 1);
    size_t len = 0;
    bool ok = true;
    /* Those that markers leave out are in no source. */
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *s = &r->sources.at[i];
        for (uint32_t k = s->first_function; k < s->first_function + s->functions; k++) {
            names[len] = (struct known_name){r->functions.at[k].name, r->functions.at[k].linkage};
            number[len++] = k;
        }
    }
    for (size_t i = 0; i < o->functions.len && ok; i++) {
        struct function_list found = {0};
        ok = names_meant(o->functions.at[i], names, len, of, &found, e);
        for (size_t k = 0; k < found.all.len; k++)
            is_asked_for[number[found.all.at[k]]] = true;
        vec_free(&found.all);
    }
    return ok;
}

/* The table for people comes last, unless standard output is taken. Where no file is written
 * (cover_kept_file()), standard output still is: it replaces nothing. */
static bool cover_print(const struct cover *c, struct out *out, struct err *e)
{
    bool keeps_files = cover_kept_file(c) != NULL;
    const struct cover_options *o = c->options;
    bool is_taken = o->is_quiet;
    for (size_t i = 0; i < o->outputs.len; i++) {
        const struct cover_output *output = &o->outputs.at[i];
        bool is_standard = !strcmp(output->path, "-");
        if ((is_standard || !keeps_files) &&
            !output_to(output->path, cover_write, &(struct cover_writing){c, output->format}, out,
                       e))
            return false;
        if (!keeps_files && !o->is_quiet)
            output_say(output->path, NULL);
        is_taken |= is_standard;
    }
    if (is_taken)
        return true;
    struct terminal terminal;
    struct coverage_style style = o->style;
    struct arena scratch = {0};
    bool *functions = ARENA_NEW(&scratch, bool, c->session.result.functions.len + 1);
    bool ok = cover_functions(c, functions, &scratch, e);
    if (ok) {
        style.functions = o->functions.len ? functions : NULL;
        terminal_start(&terminal, &o->print, out);
        style.has_colour = terminal.has_colour;
        coverage_text(out, &c->report, &style);
        terminal_end(&terminal, out);
    }
    arena_deinit(&scratch);
    return ok;
}

/* The status, with a line that says why it is not 0. In this order, the first that applies:
 *
 *    nothing could be used           2; 1 if some source is known all the same
 *    a gate has failed               1
 *    a gate judged nothing           2
 *    some input could not be used    1
 *    the result has a flaw           1
 *    there are no counters at all    1 */
static int cover_conclude(const struct cover *c, struct err *e)
{
    const struct problems *p = &c->session.reading.problems;
    const char *first = cover_bad(c) ? p->at.at[0].text : NULL, *kept = cover_kept_file(c);
    const char *more = cover_bad(c) > 1 ? ", and more; the report names all" : "";
    if (first && (kept || !c->session.result.sources.len)) {
        err_set(e, "%s could be used%s%s: %s%s",
                c->session.result.sums.lines.hit ? "not all" : "nothing",
                kept ? ", so nothing was written to " : "", kept ? kept : "", first, more);
        return c->session.result.sources.len ? EXIT_DIFFERS : EXIT_BAD;
    }
    enum gate_verdict verdict = coverage_gates_conclude(c->gates, c->report.gates_len, e);
    if (verdict != GATE_PASSED)
        return verdict == GATE_FAILED ? EXIT_DIFFERS : EXIT_BAD;
    if (first) {
        err_set(e, "%s%s", first, more);
        return EXIT_DIFFERS;
    }
    if (c->session.result.trouble) {
        err_set(e, "%s", c->session.result.trouble);
        return EXIT_DIFFERS;
    }
    if (c->session.reading.objects && !c->session.reading.counters && !c->session.reading.traces) {
        err_set(e, "there are no counters (.gcda, .da, .profraw): run the program first; it writes "
                   "them when it exits normally, not by _exit or a signal");
        return EXIT_DIFFERS;
    }
    return EXIT_FINE;
}

/* Opens, prints, concludes. The session is closed here whatever happened. */
static int cover_show(struct cover_options *o, struct out *out, struct err *e)
{
    struct cover c = {.options = o};
    int status = EXIT_BAD;
    struct progress *progress = progress_start();
    o->session.read.progress = progress;
    bool ok = coverage_session_open(&c.session, &o->session, e);
    progress_end(progress);
    if (ok) {
        c.report = cover_report(o, &c.session, c.gates);
        if (cover_print(&c, out, e))
            status = cover_conclude(&c, e);
    }
    coverage_session_close(&c.session);
    return status;
}

/* --- questions about tests ------------------------------------------------------------------- */

/* Questions about tests have a session of their own, whose tables keep the counts of each test
 * apart. */
struct cover_question {
    const struct cover_options *options;
    struct coverage_options session_options;
    struct coverage_session session;
    struct test_coverage tests;
    struct test_selection selection;
    struct tests_report report;
    struct arena arena;
};

/* FILE:LINE, where FILE may be the end of a path. A line without code is an error that names the
 * next one with code, since people mean a statement, not a comment above it. */
static bool question_find_line(struct cover_question *a, const char *place, struct err *e)
{
    const struct coverage_result *r = &a->session.result;
    const char *colon = strrchr(place, ':');
    uint64_t line;
    if (!colon || colon == place || !option_number("--tests-of", colon + 1, UINT32_MAX, &line, e))
        return err_set(e, "option '--tests-of' takes FILE:LINE, not '%s'", place);
    const char *file = arena_copy(&a->arena, place, (size_t)(colon - place));
    uint32_t source = patch_source(r, file, file, false);
    if (source == UINT32_MAX)
        return err_set(e, "no source is called '%s'", file);
    const struct result_source *s = &r->sources.at[source];
    uint32_t at =
        s->first_line + PARTITION_POINT(s->lines, i, r->lines.at[s->first_line + i].line < line);
    a->report.place = arena_printf(&a->arena, "%s:%" PRIu64, s->path, line);
    a->report.line = at;
    if (at < s->first_line + s->lines && r->lines.at[at].line == line)
        return true;
    if (at < s->first_line + s->lines)
        return err_set(e, "%s has no code; the next line with code is %" PRIu32, a->report.place,
                       r->lines.at[at].line);
    return err_set(e, "%s has no code, nor has any line after it", a->report.place);
}

/* One test's section of a tracefile. The session is opened anew with this test alone and closed
 * again: memory is that of one test. Time is that of reading all inputs once per test, so O(tests
 * times inputs): what is spared is memory. */
static bool question_trace_test(const struct cover_question *a, const char *test, struct out *out,
                                struct err *e)
{
    struct coverage_session session = {0};
    struct coverage_options options = a->session_options;
    options.read.by_test = false;
    options.read.only = test;
    bool ok = coverage_session_open(&session, &options, e);
    struct coverage_report report = {.result = &session.result,
                                     .problems = &session.reading.problems,
                                     .threads = options.read.threads,
                                     .test = test};
    if (ok)
        coverage_lcov(out, &report, &a->options->style);
    coverage_session_close(&session);
    return ok;
}

/* What an output_writer of this file gets: the format, and what is written in it. */
struct format_output {
    const struct coverage_format *format;
    const void *of;
};

/* Writes the requested outputs, each to its file. *is_taken: one of them to standard output. */
static bool outputs_write(const struct cover_options *o, const void *of, output_writer *write,
                          struct out *out, bool *is_taken, struct err *e)
{
    *is_taken = false;
    for (size_t i = 0; i < o->outputs.len; i++) {
        const struct cover_output *output = &o->outputs.at[i];
        if (!output_to(output->path, write, &(struct format_output){output->format, of}, out, e))
            return false;
        if (!o->is_quiet)
            output_say(output->path, NULL);
        *is_taken |= !strcmp(output->path, "-");
    }
    return true;
}

/* An output_writer. */
static bool question_write(void *context, struct out *out, struct err *e)
{
    const struct format_output *w = context;
    const struct cover_question *q = w->of;
    if (q->report.are_builds && strcmp(w->format->name, "json"))
        return err_set(e, "what builds ran is written as text and json, not as %s",
                       w->format->name);
    if (!strcmp(w->format->name, "json")) {
        tests_json(out, &q->report);
        return true;
    }
    if (strcmp(w->format->name, "lcov"))
        return err_set(e, "what tests ran is written as text, json and lcov, not as %s",
                       w->format->name);
    for (size_t i = 0; i < q->tests.tests.len; i++)
        if (!question_trace_test(q, q->tests.tests.at[i].name, out, e))
            return false;
    return true;
}

/* As cover_print() does, of tests. */
static bool question_print(const struct cover_question *a, struct out *out, struct err *e)
{
    const struct cover_options *o = a->options;
    bool is_taken;
    if (!outputs_write(o, a, question_write, out, &is_taken, e))
        return false;
    if (is_taken)
        return true;
    struct terminal terminal;
    terminal_start(&terminal, &o->print, out);
    struct coverage_style style = o->style;
    struct tests_report report = a->report;
    style.has_colour = terminal.has_colour;
    report.style = &style;
    (o->is_quiet ? tests_names : tests_text)(out, &report);
    terminal_end(&terminal, out);
    return true;
}

/* Sessions here keep counts apart by test, or by build, which are asked about in the same way; the
 * patch of --tests-for is read by the session as one of --diff is. Gates judge the whole, as they
 * do without tests; else the status says whether all inputs could be used. */
static int cover_tests(const struct cover_options *o, struct out *out, struct err *e)
{
    struct cover_question a = {.options = o, .session_options = o->session};
    a.session_options.read.by_test = !o->session.read.by_build;
    if (o->tests_for)
        a.session_options.patch = o->tests_for;
    bool ok = coverage_session_open(&a.session, &a.session_options, e);
    if (ok) {
        const struct coverage_reading *reading = &a.session.reading;
        test_coverage_build(reading->tables.at, reading->tables.len, &a.session.result, &a.tests);
        ok = a.tests.tests.len ||
             (a.session_options.read.by_build && err_set(e, "no build ran anything")) ||
             err_set(e, "no test is known: name a folder of counters for each, or --runs DIR, or "
                        "tracefiles");
    }
    a.report.tests = &a.tests;
    a.report.are_builds = o->session.read.by_build;
    a.report.limit = o->style.limit;
    ok = ok && (!o->tests_of || question_find_line(&a, o->tests_of, e));
    if (ok && o->tests_for) {
        test_selection_make(&a.tests, &a.session.patch, &a.selection);
        a.report.selection = &a.selection;
        a.report.patch = o->tests_for;
    }
    struct coverage_gate gates[GATES];
    struct coverage_report whole = {0};
    if (ok)
        whole = cover_report(o, &a.session, gates);
    a.report.coverage = &whole;
    ok = ok && question_print(&a, out, e);
    int status = ok ? EXIT_FINE : EXIT_BAD;
    if (ok) {
        enum gate_verdict verdict = coverage_gates_conclude(whole.gates, whole.gates_len, e);
        status = verdict == GATE_FAILED                     ? EXIT_DIFFERS
                 : verdict == GATE_NOT_JUDGED               ? EXIT_BAD
                 : coverage_session_is_whole(&a.session, e) ? EXIT_FINE
                                                            : EXIT_DIFFERS;
    }
    test_selection_deinit(&a.selection);
    test_coverage_deinit(&a.tests);
    coverage_session_close(&a.session);
    arena_deinit(&a.arena);
    return status;
}

/* --- two compilers ---------------------------------------------------------------------------- */

/* What is compared, and what its sides are called: by their first operands. */
struct crossing {
    struct cross cross;
    const struct coverage_result *first;
    const char *names[2];
};

/* An output_writer. */
static bool cross_write(void *context, struct out *out, struct err *e)
{
    const struct format_output *w = context;
    const struct crossing *c = w->of;
    if (strcmp(w->format->name, "json"))
        return err_set(e, "what two compilers count is written as text and json, not as %s",
                       w->format->name);
    struct json j = {.out = out};
    cross_facts(&(struct facts){.json = &j}, &c->cross, c->first, c->names);
    return true;
}

/* The first half of the operands is A, the second B: two folders, or as many names on both sides.
 * Requested files are written first; text comes if none of them is standard output.
 * The status is 1 if a count differs: of one source they should not. */
static int cover_cross(const struct cover_options *o, const struct operands *operands,
                       struct out *out, struct err *e)
{
    struct coverage_session sides[2] = {{.root = NULL}, {.root = NULL}};
    struct coverage_options options = o->session;
    struct crossing c = {.first = &sides[0].result};
    size_t half = operands->len / 2;
    if (!half || operands->len % 2) {
        err_set(e, "--cross takes A and B, two folders or files, or as many names for each");
        return EXIT_BAD;
    }
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        options.paths = operands->at + (size_t)i * half;
        options.paths_len = half;
        ok = coverage_session_open(&sides[i], &options, e) &&
             coverage_session_is_whole(&sides[i], e);
    }
    c.names[0] = operands->at[0];
    c.names[1] = operands->at[half];
    if (ok)
        cross_make(&sides[0].result, &sides[1].result, &c.cross);
    if (ok && !c.cross.sources)
        ok = err_set(e, "%s and %s have no source in common", c.names[0], c.names[1]);
    bool is_taken = false;
    ok = ok && outputs_write(o, &c, cross_write, out, &is_taken, e);
    if (ok && !is_taken && !o->is_quiet) {
        struct terminal terminal;
        terminal_start(&terminal, &o->print, out);
        cross_facts(&(struct facts){.out = out}, &c.cross, c.first, c.names);
        terminal_end(&terminal, out);
    }
    /* The report is complete but for the laws that it could not apply. */
    if (ok && c.cross.trouble.system)
        ok = err_set(e, "%s", c.cross.trouble.line);
    int status = !ok ? EXIT_BAD : c.cross.lines.len ? EXIT_DIFFERS : EXIT_FINE;
    cross_deinit(&c.cross);
    coverage_session_close(&sides[0]);
    coverage_session_close(&sides[1]);
    return status;
}

/* --- the command ----------------------------------------------------------------------------- */

/* memory_keep(): pages of freed blocks stay in the process, since the next source needs as many. */
static int cover_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct cover_options o = {0};
    struct operands operands;
    int status = EXIT_BAD;
    memory_keep();
    cover_options_init(&o);
    enum options_end end = options_read(self, argc, argv, &o, &operands, out, e);
    if (end == OPTIONS_HELPED) {
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ && cover_options_finish(&o, e)) {
        o.session.paths = operands.at;
        o.session.paths_len = operands.len;
        status = o.crosses                              ? cover_cross(&o, &operands, out, e)
                 : o.by_test || o.session.read.by_build ? cover_tests(&o, out, e)
                                                        : cover_show(&o, out, e);
    }
    cover_options_deinit(&o);
    return status;
}

static const struct option_group GROUPS[] = {
    {&cover_gates_set, 0},
    {&cover_scope_set, 0},
    {&cover_places_set, 0},
    GROUP(terminal_set, struct cover_options, print),
};
const struct command command_cover = {
    .name = "cover",
    .synopsis = "[OPTION...] [DIR|FILE...]",
    .summary = "Show which code ran: lines, functions, branches, conditions",
    OPTIONS_OF(OPTIONS, GROUPS),
    COLUMNS_OF(&tests_columns),
    .run = cover_run,
};
