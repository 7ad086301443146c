/* monarc diff: what changed between two builds, or between two ways to run one. */
#include "cli/cover/cover_options.h"
#include "cli/view.h"
#include "coverage/report/change_report.h"
#include "profile/analysis/compare/comparison.h"
#include "session/session.h"
#include "session/report_inputs.h"

enum {
    OPTION_OLD,
    OPTION_NEW,
    OPTION_CONFIDENCE,
    OPTION_MIN_CHANGE,
    OPTION_NOISE,
    OPTION_BY,
    OPTION_MARKDOWN,
    OPTION_LINES,
    OPTION_NO_INLINES,
    OPTION_OWN
};

/* Options that other reports on profiles and on coverage have as well, in the order in which they
 * stand in OPTIONS. */
static const int VIEW_ROWS[] = {
    VIEW_OPTION_SORT,         VIEW_OPTION_LIMIT,     VIEW_OPTION_ALL,       VIEW_OPTION_WIDE,
    VIEW_OPTION_NO_DEMANGLE,  VIEW_OPTION_JSON,      VIEW_OPTION_CSV,       VIEW_OPTION_COLOR,
    VIEW_OPTION_NO_PAGER,     VIEW_OPTION_DEBUG_DIR, VIEW_OPTION_SYMBOLS,   VIEW_OPTION_FORCE,
    VIEW_OPTION_EVENT,        PROFILE_OPTION_WORD,   PROFILE_OPTION_ENDIAN, PROFILE_OPTION_FORMAT,
    PROFILE_OPTION_DIMENSION,
};
static const int COVER_ROWS[] = {COVER_SOURCE_DIR, COVER_PATH_MAP, COVER_INCLUDE,
                                 COVER_EXCLUDE,    COVER_SYSTEM,   COVER_THREADS};
enum {
    VIEW_ROWS_LEN = sizeof VIEW_ROWS / sizeof *VIEW_ROWS,
    COVER_ROWS_LEN = sizeof COVER_ROWS / sizeof *COVER_ROWS,
    OPTIONS_LEN = OPTION_OWN + VIEW_ROWS_LEN + COVER_ROWS_LEN
};

static const struct option_row OPTIONS[] = {
    {0, "old", "NAME", "a program, profile, recording or folder of the old side (may be repeated)"},
    {0, "new", "NAME", "the same of the new side"},
    {0, "confidence", "P", "call a change of time real with P percent confidence (default: 99)"},
    {0, "min-change", "P", "changes below P percent of the whole do not matter (default: 1)"},
    {0, "noise", "P", "two runs of one program may differ by P percent (default: 15)"},
    {0, "by", "time|share", "judge and show times, or shares of them (default: time)"},
    {0, "markdown", NULL, "print Markdown, for the comment on a pull request"},
    {0, "lines", NULL, "compare the lines of profiles instead of functions"},
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in"},
    {'s', "sort", "self|total|calls|name", "order of the rows, by how much changed"},
    {'n', "limit", "N", "show the first N rows"},
    {'a', "all", NULL, "show what did not change, too"},
    {'w', "wide", NULL, "do not shorten names to fit the terminal"},
    {0, "no-demangle", NULL, "show linkage names as they are"},
    REPORT_OPTION_JSON,
    REPORT_OPTION_CSV,
    {0, "color", "[auto|always|never]", "colour large changes (default: on a terminal)"},
    {0, "no-pager", NULL, "do not page on a terminal"},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "compare even if program and profile do not belong together"},
    {'e', "event", "NAME", "of recordings: compare this event (default: the first one)"},
    PROFILE_OPTION_ROWS,
    {'I', "source-dir", "DIR", "look for sources there, too (may be repeated)"},
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"},
    {0, "include", "GLOB", "coverage of sources whose path matches alone (may be repeated)"},
    {'x', "exclude", "GLOB", "none of sources whose path matches (may be repeated)"},
    {0, "system", NULL, "coverage of sources of the system, such as /usr/include, too"},
    {0, "threads", "N", "use N threads for coverage (default: one a CPU)"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct view_options view;
    struct cover_options cover;
    VEC(char *) old, new;
    double confidence, least, noise; /* percent */
    bool by_lines, by_share;
    const char *program; /* of both sides */
    struct arena arena;
};

static bool diff_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_OLD: vec_push(&r->old, (char *)value); return true;
    case OPTION_NEW: vec_push(&r->new, (char *)value); return true;
    case OPTION_CONFIDENCE:
        return option_decimal("--confidence", value, &r->confidence, e) &&
               (r->confidence < 100 || err_set(e, "option '--confidence' needs less than 100"));
    case OPTION_MIN_CHANGE: return option_decimal("--min-change", value, &r->least, e);
    case OPTION_NOISE: return option_decimal("--noise", value, &r->noise, e);
    case OPTION_BY:
        r->by_share = !strcmp(value, "share");
        return r->by_share || !strcmp(value, "time") ||
               err_set(e, "option '--by' takes time or share, not '%s'", value);
    case OPTION_MARKDOWN: r->view.print.format = REPORT_MARKDOWN; return true;
    case OPTION_NO_INLINES: return r->view.session.has_hosts = true;
    case OPTION_LINES: return r->by_lines = true;
    default: break;
    }
    if (row < OPTION_OWN + VIEW_ROWS_LEN)
        return view_option(&r->view, VIEW_ROWS[row - OPTION_OWN], value, e);
    return cover_option(&r->cover, COVER_ROWS[row - OPTION_OWN - VIEW_ROWS_LEN], value, e);
}

/* --- operands -------------------------------------------------------------------------------- */

/* OLD NEW, PROGRAM OLD NEW, or PROGRAM OLD PROGRAM NEW. */
static bool diff_split(struct request *r, char **names, size_t len, struct err *e)
{
    bool has_program = len == 3 && is_program(names[0]);
    if (len != 2 && len != 4 && !has_program)
        return err_set(e, "diff needs OLD and NEW, each a recording, a program with its profile, "
                          "or coverage; see 'monarc diff --help'");
    if (has_program)
        r->program = *names++, len--;
    for (size_t i = 0; i < len; i++) {
        if (i < len / 2)
            vec_push(&r->old, names[i]);
        else
            vec_push(&r->new, names[i]);
    }
    return true;
}

static bool diff_operands(struct request *r, char **names, size_t len, struct err *e)
{
    if (!r->old.len && !r->new.len)
        return diff_split(r, names, len, e);
    if (!r->old.len || !r->new.len)
        return err_set(e, "options '--old' and '--new' need each other");
    if (len > 1 || (len && !is_program(names[0])))
        return err_set(e, "with --old and --new, PROGRAM is the only operand");
    r->program = len ? names[0] : NULL;
    return true;
}

/* Whether the sides are coverage: all of the names, or none. */
static bool diff_is_coverage(const struct request *r, bool *is_coverage, struct err *e)
{
    size_t coverage = 0;
    for (size_t i = 0; i < r->old.len; i++)
        coverage += is_coverage_operand(r->old.at[i]);
    for (size_t i = 0; i < r->new.len; i++)
        coverage += is_coverage_operand(r->new.at[i]);
    *is_coverage = coverage > 0;
    return !coverage || coverage == r->old.len + r->new.len ||
           err_set(e, "profiles and coverage are compared apart: name either");
}

/* --- profiles -------------------------------------------------------------------------------- */

static bool diff_open_sides(struct request *r, struct run_set *old, struct run_set *new,
                            struct err *e)
{
    struct session_options *o = &r->view.session;
    struct progress *progress = progress_start();
    o->read.progress = progress;
    bool ok =
        side_open(old, o, &(struct side_names){r->program, r->old.at, r->old.len, r->by_lines},
                  e) &&
        side_open(new, o, &(struct side_names){r->program, r->new.at, r->new.len, r->by_lines}, e);
    o->read.progress = NULL;
    progress_end(progress);
    return ok;
}

static int diff_profiles(struct request *r, struct out *out, struct err *e)
{
    struct run_set old = {0}, new = {0};
    struct comparison c;
    struct comparison_rules rules = {.confidence = r->confidence / 100,
                                     .least = r->least / 100,
                                     .noise = r->noise / 100,
                                     .by_share = r->by_share,
                                     .sort = r->view.rules.sort,
                                     .has_sort = r->view.rules.has_sort,
                                     .shows_all = r->view.rules.shows_all,
                                     .limit = r->view.rules.limit};
    int status = EXIT_BAD;
    if (diff_open_sides(r, &old, &new, e)) {
        comparison_make(&c, &old, &new, &rules, &r->arena);
        struct report_input in = {.comparison = &c};
        print_report(REPORT_COMPARISON, &in, &r->view.print, out);
        status = comparison_has_findings(&c) ? EXIT_DIFFERS : EXIT_FINE;
        comparison_deinit(&c);
    }
    run_set_deinit(&old);
    run_set_deinit(&new);
    return status;
}

/* --- coverage -------------------------------------------------------------------------------- */

static bool diff_open_coverage(struct coverage_session *s, struct request *r, char **names,
                               size_t len, struct err *e)
{
    r->cover.session.paths = names;
    r->cover.session.paths_len = len;
    return coverage_session_open(s, &r->cover.session, e);
}

static void diff_print_coverage(const struct coverage_change *c, const struct request *r,
                                const struct change_format *format, struct out *out)
{
    struct terminal terminal = {0};
    struct change_report report = {.change = c,
                                   .old = r->old.at[0],
                                   .new = r->new.at[0],
                                   .limit = r->view.rules.limit,
                                   .shows_all = r->view.rules.shows_all};
    if (format->is_for_people)
        terminal_start(&terminal, r->view.print.colour, r->view.print.no_pager, out);
    format->write(out, &report);
    terminal_end(&terminal, out);
}

static bool diff_open_results(struct request *r, struct coverage_session *old,
                              struct coverage_session *new, struct err *e)
{
    struct coverage_options *o = &r->cover.session;
    struct progress *progress = progress_start();
    o->read.progress = progress;
    bool ok = diff_open_coverage(old, r, r->old.at, r->old.len, e) &&
              diff_open_coverage(new, r, r->new.at, r->new.len, e);
    o->read.progress = NULL;
    progress_end(progress);
    return ok;
}

static int diff_coverage(struct request *r, struct out *out, struct err *e)
{
    struct coverage_session old = {0}, new = {0};
    struct coverage_change c = {0};
    const struct change_format *format = change_format_find(r->view.print.format);
    int status = EXIT_BAD;
    if (!format) {
        err_set(e, "coverage is compared as text, JSON or Markdown, not as '%s'",
                r->view.print.format);
        return EXIT_BAD;
    }
    if (cover_options_finish(&r->cover, e) && diff_open_results(r, &old, &new, e)) {
        coverage_change_make(&c, &old.result, &new.result);
        diff_print_coverage(&c, r, format, out);
        status = change_count(&c) ? EXIT_DIFFERS : EXIT_FINE;
    }
    coverage_change_deinit(&c);
    coverage_session_close(&old);
    coverage_session_close(&new);
    return status;
}

static int diff_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {.confidence = 99, .least = 1, .noise = 100 * NOISE_OF_RUNS};
    int status = EXIT_BAD;
    bool is_coverage;
    cover_options_init(&r.cover);
    int end = options_each(&walk, diff_take, &r, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end == OPTION_END && diff_operands(&r, walk.argv, (size_t)walk.operands, e) &&
               diff_is_coverage(&r, &is_coverage, e)) {
        status = is_coverage ? diff_coverage(&r, out, e) : diff_profiles(&r, out, e);
    }
    vec_free(&r.old);
    vec_free(&r.new);
    filter_deinit(&r.view.filter);
    cover_options_deinit(&r.cover);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_diff = {
    .name = "diff",
    .next = "'monarc check' fails a build by such a comparison, 'monarc html --base OLD' shows it",
    .synopsis = "[OPTION...] OLD NEW | PROGRAM OLD NEW | PROGRAM OLD PROGRAM NEW",
    .summary = "Compare two profiles, recordings, or coverage",
    .details =
        "OLD and NEW are recordings, profiles of PROGRAM, or coverage as 'monarc cover' takes it.\n"
        "With --old and --new a side has several runs: PROGRAM PROFILE..., or recordings. Their\n"
        "spread is used then.\n"
        "\n"
        "Functions are the same if their linkage names are; of several with one name those in\n"
        "files that are called alike. A function in another file or object has moved; of those\n"
        "that are gone and those that are new, pairs that resemble each other in name, size, "
        "file,\n"
        "calls, callers and callees were renamed.\n"
        "\n"
        "The first lines judge the runs as a whole: CPU time, elapsed time (of three runs a side\n"
        "and more), events, the most memory that a process had, processes. Then come functions\n"
        "whose time, or calls, changed, the largest change first:\n"
        "\n"
        "  self s  time of its own in an average run, and by how much it changed; +- is the\n"
        "          interval of the change; * marks one of at least --min-change percent of the "
        "old\n"
        "          side's time that is not chance with --confidence, for all rows together\n"
        "          (Holm's correction)\n"
        "  self%   its share of all samples, which changes when other functions do\n"
        "  total s the change of its time with callees; without stacks, an estimate by\n"
        "          call counts, which no test can judge\n"
        "  calls   exact; of several runs the mean. It changed if the counts of the sides' runs\n"
        "          do not overlap\n"
        "\n"
        "Of one run a side it is known what sampling may have done to a time, and assumed by how\n"
        "much two runs of one program differ besides: --noise. Of several runs a side that is\n"
        "measured. docs/comparing.md has the model. With --by share rows are shares of each\n"
        "side's samples, as for runs of different length.\n"
        "\n"
        "With --lines a row is a line of a function in which something was measured: self time\n"
        "is its own, total time that of code inlined there, too, calls those made from it. It is "
        "the\n"
        "same line if it stands as far behind the function's beginning (or, of functions that are\n"
        "only there inlined, if it has the same number); a line that was put in above it in its\n"
        "function makes it another one.\n"
        "\n"
        "Coverage is compared by source: sums, and lines that no longer run or run now. Lines are\n"
        "compared in functions whose lines lie as they did, wherever the function is by now, and\n"
        "in sources that did not change.\n"
        "\n"
        "Exit status: 0, nothing changed; 1, something did; 2, trouble.\n"
        "\n"
        "Examples:\n"
        "  monarc diff old.monarc new.monarc\n"
        "  monarc diff ./prog old.gmon new.gmon\n"
        "  monarc diff old/prog old/gmon.out new/prog new/gmon.out --markdown\n"
        "  monarc diff --old a1.monarc --old a2.monarc --new b1.monarc --new b2.monarc\n"
        "  monarc diff --lines old.monarc new.monarc\n"
        "  monarc diff old.info new.info\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = diff_run,
};
