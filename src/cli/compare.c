/* monarc diff and check: what changed between two sides, and whether a build may become worse so.
 *
 * A side is one run or several of a program, or coverage. Profiles are compared function by
 * function (profile/analysis/compare), coverage source by source (coverage/analysis). diff shows
 * the comparison; check judges it by rules (src/verdict), writes the verdict in every requested
 * format, and returns it as a status: 0, nothing changed or all rules hold; 1, something did or one
 * does not; 2, trouble, or nothing to judge. A gate that could not look must never pass.
 *
 * Both sides are opened with the same options. A profile without a program is of the other side's.
 *
 *    monarc diff OLD NEW                    two recordings, or two folders with coverage
 *    monarc diff PROGRAM OLD NEW            two profiles of one program
 *    monarc diff PROGRAM OLD PROGRAM NEW    two programs, each with its profile
 *    monarc diff PROGRAM PROFILE            whether a profile for a compiler still fits
 *    monarc check --baseline OLD NEW        the same, judged */
#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/cli.h"
#include "coverage/report/coverage_report.h"
#include "output/out.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/source_fit.h"
#include "profile/report/info.h"
#include "session/report_inputs.h"
#include "session/session.h"
#include "session/source_profiles.h"
#include "verdict/verdict.h"

#include <inttypes.h>
#include <string.h>

/* monarc diff of profiles for compilers: what two of them share, or how much of one a program can
 * still use.
 *
 *     diff OLD NEW           45.45 % of the counts are at the same places
 *     diff PROGRAM PROFILE   94.63 % of the counts in prog.afdo are at code of ./prog
 *                            functions: 2, changed: 1, gone: 1
 *                                share     lost  function
 *                              36.84 %  100.00 %  other  (gone)
 *
 * The second is for the moment between an edit and the next measurement: is the profile still worth
 * a build? With --fail-below P, that is an exit status for scripts. */

/* Below `least` percent in common is a finding. */
struct source_comparison {
    const char *debug_dir; /* of the program; NULL: none */
    bool is_json;
    uint64_t limit; /* functions in text; 0: all */
    uint64_t least;
};

/* A part of nothing is none. */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static const char *const STATES[] = {
    [SOURCE_FITS] = "fits", [SOURCE_CHANGED] = "changed", [SOURCE_GONE] = "gone"};

/* Two lines for the whole, then functions by what they lost. */
static void fit_text(struct out *out, const struct source_fit *fit, const char *program,
                     const char *profile, uint64_t limit)
{
    out_printf(out, "%.2f %% of the counts in ", 100 * (1 - share(fit->lost, fit->count)));
    text_name(out, profile);
    out_str(out, " are at code of ");
    text_name(out, program);
    out_printf(out, "\nfunctions: %zu, changed: %" PRIu64 ", gone: %" PRIu64 "\n",
               fit->functions.len, fit->changed, fit->gone);
    if (fit->functions.len)
        out_str(out, "\n   share      lost  function\n");
    for (size_t i = 0; i < fit->functions.len && (!limit || i < limit); i++) {
        const struct source_fit_function *f = &fit->functions.at[i];
        /* Counts of lines that have no code any more, or have moved within their function. */
        uint64_t lost =
            f->state == SOURCE_GONE ? f->count : add_saturating(f->without, f->at_another);
        out_printf(out, "%6.2f %%  %6.2f %%  ", 100 * share(f->count, fit->count),
                   100 * share(lost, f->count));
        text_name(out, f->name);
        if (f->state != SOURCE_FITS)
            out_printf(out, "  (%s)", STATES[f->state]);
        out_char(out, '\n');
    }
    if (limit && fit->functions.len > limit) {
        out_spaces(out, 20);
        text_more(out, fit->functions.len - limit, "function", "--all");
    }
}

/* docs/schema/diff_source_fit.schema.json. */
static void fit_json(struct out *out, const struct source_fit *fit, const char *program,
                     const char *profile)
{
    struct json j = {.out = out};
    json_document_begin(&j, "diff_source_fit");
    json_pair_str(&j, "program", program);
    json_pair_str(&j, "profile", profile);
    json_pair_double(&j, "fits", 1 - share(fit->lost, fit->count));
    json_pair_u64(&j, "counts", fit->count);
    json_pair_u64(&j, "counts_lost", fit->lost);
    json_pair_u64(&j, "functions_changed", fit->changed);
    json_pair_u64(&j, "functions_gone", fit->gone);
    JSON_ROWS(&j, "functions", i, fit->functions.len) {
        const struct source_fit_function *f = &fit->functions.at[i];
        json_pair_str(&j, "name", f->name);
        json_pair_str(&j, "state", STATES[f->state]);
        json_pair_u64(&j, "count", f->count);
        json_pair_u64(&j, "without_code", f->without);
        json_pair_u64(&j, "at_another_line", f->at_another);
    }
    json_end(&j);
}

/* How much of a profile a program can use, in *shared, 0 to 1. */
static bool compare_program(const struct source_comparison *c, char *const *names, double *shared,
                            struct out *out, struct err *e)
{
    struct source_profile p = {.files = {0}};
    struct source_fit fit = {.count = 0};
    struct functions functions;
    struct arena arena = {0};
    const struct source_format *format = NULL;
    struct object *object =
        object_open(names[0], &(struct object_options){.debug_dir = c->debug_dir}, NULL, e);
    bool ok = object && source_profile_load(names[1], &p, &format, NULL, e);
    if (ok && source_format_is_by_address(format))
        ok = err_in(e, names[1], "is a profile of BOLT, whose addresses fit no other build");
    if (ok && !object_has_debug_info(object))
        ok = object_lacks_lines(object, names[0], ", which positions are looked up in", e);
    if (ok) {
        functions_native(&functions, object, &arena);
        functions_keep_pieces(&functions);
        source_fit_make(&fit, &p, object, &functions);
        *shared = 1 - share(fit.lost, fit.count);
        if (c->is_json)
            fit_json(out, &fit, names[0], names[1]);
        else
            fit_text(out, &fit, names[0], names[1], c->limit);
    }
    source_fit_deinit(&fit);
    source_profile_deinit(&p);
    if (object)
        object_close(object);
    arena_deinit(&arena);
    return ok;
}

/* Two profiles; *shared is the part of the counts that both have at the same places, 0 to 1. */
static bool compare_profiles(const struct source_comparison *c, char *const *names, double *shared,
                             struct out *out, struct err *e)
{
    struct source_profile sides[2] = {{.files = {0}}, {.files = {0}}};
    struct source_overlap overlap;
    struct arena scratch = {0};
    bool ok = source_profile_load(names[0], &sides[0], NULL, NULL, e) &&
              source_profile_load(names[1], &sides[1], NULL, NULL, e);
    if (ok) {
        source_profile_overlap(&sides[0], &sides[1], &overlap, &scratch);
        struct source_compared compared = {names[0], names[1], &overlap};
        struct json j = {.out = out};
        *shared = overlap.common;
        if (c->is_json)
            source_compared_json(&j, &compared);
        else
            source_compared_text(out, &compared, c->limit);
    }
    source_profile_deinit(&sides[0]);
    source_profile_deinit(&sides[1]);
    arena_deinit(&scratch);
    return ok;
}

/* Prints what OLD and NEW, or PROGRAM and PROFILE, share, and which functions lost their counts.
 * Returns an exit status. The first operand decides: a program is looked up in, anything else is an
 * older profile. */
static int compare_sources(const struct source_comparison *c, char *const *names, struct out *out,
                           struct err *e)
{
    const double ROUNDED = 1e-9; /* in percent: the rounding error of sums of many shares */
    double shared = 0;
    bool ok = is_program(names[0]) ? compare_program(c, names, &shared, out, e)
                                   : compare_profiles(c, names, &shared, out, e);
    return !ok ? EXIT_BAD : 100 * shared + ROUNDED < (double)c->least ? EXIT_DIFFERS : EXIT_FINE;
}

/* --- diff: options and operands -------------------------------------------------------------- */

/* Names of either side, and how they are compared. `least` is in percent of the old side's whole,
 * `noise` in percent of an amount. */
struct diff_request {
    struct view_options view;
    struct cover_options cover;
    struct option_list old, new;
    double confidence, least, noise; /* percent */
    bool by_lines, by_share;
    uint64_t least_shared; /* percent */
    bool has_least_shared;
    const char *program; /* of both sides; NULL: each names its own */
    struct arena arena;
};

/* Percentages are stored as they are typed, and divided by 100 where the comparison takes parts of
 * 1. */
static const struct option_row DIFF_OPTIONS[] = {
    {0, "old", "NAME", "a program, profile, recording or folder of the old side (may be repeated)",
     FILLS(struct diff_request, old)},
    {0, "new", "NAME", "the same for the new side", FILLS(struct diff_request, new)},
    {0, "confidence", "P", "call a change of time real with P percent confidence (default: 99)",
     FILLS(struct diff_request, confidence)},
    {0, "min-change", "P", "changes below P percent of the whole do not matter (default: 1)",
     FILLS(struct diff_request, least)},
    {0, "noise", "P", NOISE_TEXT, FILLS(struct diff_request, noise)},
    {0, "by", "time|share", "judge and show times, or shares of them (default: time)",
     CHOOSES(struct diff_request, by_share)},
    {'f', "function", "NAME",
     "show this function, changed or not, or those of /REGEX/ (may be repeated)",
     TAKEN_BY(take_function)},
    {0, "lines", NULL, "compare the lines of profiles instead of functions",
     FILLS(struct diff_request, by_lines)},
    HOSTS_ROW(struct diff_request, view.session.has_hosts),
    {0, "fail-below", "P",
     "of profiles for compilers: exit with 1 if less than P % is shared, or fits PROGRAM",
     FILLS(struct diff_request, least_shared), .most = 100,
     ALSO_SETS(struct diff_request, has_least_shared)},
    FORMAT_ROW("text|json|csv|markdown", struct diff_request, view.print.format),
    JSON_ROW(struct diff_request, view.print.format),
    CSV_ROW(struct diff_request, view.print.format),
    {0, "markdown", NULL, "the same as --format markdown, for the comment on a pull request",
     FILLS_WITH(struct diff_request, view.print.format, REPORT_MARKDOWN)},
};

/* OLD NEW, PROGRAM OLD NEW, or PROGRAM OLD PROGRAM NEW; with --old and --new PROGRAM or nothing.
 * How many names there are, and whether the first is a program, says which form is meant; with
 * --old and --new sides may have any number of names. */
static bool diff_operands(struct diff_request *r, char **names, size_t len, struct err *e)
{
    bool has_program = len && is_program(names[0]);
    if (r->old.len || r->new.len) {
        if (!r->old.len || !r->new.len)
            return err_set(e, "options '--old' and '--new' need each other");
        if (len > 1 || len != has_program)
            return err_set(e, "with --old and --new, PROGRAM is the only operand");
        r->program = len ? names[0] : NULL;
        return true;
    }
    if (len != 2 && len != 4 && !(len == 3 && has_program))
        return err_set(e, "diff needs OLD and NEW, each a recording, a program with its profile, "
                          "or coverage; see 'monarc diff --help'");
    if (len == 3)
        r->program = *names++, len--;
    for (size_t i = 0; i < len; i++) {
        if (i < len / 2)
            vec_push(&r->old, names[i]);
        else
            vec_push(&r->new, names[i]);
    }
    return true;
}

/* How many of a side's names are coverage's. Each side is inspected by itself: its program belongs
 * to what stands on its own side. */
static size_t diff_coverage_names(const struct option_list *side)
{
    struct operand_mix mix = operand_mix_of(side->at, side->len);
    size_t coverage = 0;
    for (size_t i = 0; i < side->len; i++)
        coverage += operand_is_of_coverage(&mix, side->at[i]);
    return coverage;
}

/* Whether the sides are coverage: all of the names, or none. A program that is named for both
 * joins both, where it may be needed: the sides' own come first, as they name the report. */
static bool diff_is_coverage(struct diff_request *r, bool *is_coverage, struct err *e)
{
    size_t coverage = diff_coverage_names(&r->old) + diff_coverage_names(&r->new);
    *is_coverage = coverage > 0;
    if (coverage && coverage != r->old.len + r->new.len)
        return err_set(e, "profiles and coverage are compared separately: name only one of them");
    if (coverage && r->program) {
        vec_push(&r->old, (char *)r->program);
        vec_push(&r->new, (char *)r->program);
    }
    return true;
}

/* Whether all files of both sides could be read. Checked after the report: what is missing on both
 * sides does not spoil the comparison of the rest, but no reader should take it for all. The old
 * side's reason comes first. */
static bool compare_is_whole(const struct run_set *old, const struct run_set *new, struct err *e)
{
    const struct err *why = old->unread.line[0] ? &old->unread : &new->unread;
    if (why->line[0])
        *e = *why;
    return !why->line[0];
}

/* --- diff: profiles --------------------------------------------------------------------------- */

/* Whether one of the sides has each function that is named: one that is gone, or that only the new
 * side has, is no mistake. A side's functions without measurements are not counted, so that the
 * nearest name is one that the report can show. */
static bool diff_is_known(const struct filter *f, const struct run_set *old,
                          const struct run_set *new, const char *of, struct err *e)
{
    struct arena scratch = {0};
    uint32_t len = 0;
    struct known_name *all =
        ARENA_NEW(&scratch, struct known_name, (size_t)old->ids.len + new->ids.len);
    for (const struct run_set *s = old; s; s = s == old ? new : NULL)
        for (uint32_t i = 0; i < s->ids.len; i++)
            if (s->functions[i].shown)
                all[len++] = (struct known_name){s->functions[i].shown, s->ids.at[i].name};
    bool ok = filter_is_among(f, all, len, of, e);
    arena_deinit(&scratch);
    return ok;
}

/* Compares the two sides function by function, or line by line, and prints what changed. Both
 * sides are open together, as names and call counts of one are looked up in the other. The
 * status says whether there are findings. */
static int diff_profiles(struct diff_request *r, struct out *out, struct err *e)
{
    struct run_set old = {0}, new = {0};
    struct comparison c;
    struct comparison_rules rules = {.confidence = r->confidence / 100,
                                     .least = r->least / 100,
                                     .noise = r->noise / 100,
                                     .by_share = r->by_share,
                                     .sort = r->view.rules.sort,
                                     .has_sort = r->view.rules.has_sort,
                                     /* Who names a function wants its figures, changed or not. */
                                     .shows_all =
                                         r->view.rules.shows_all || r->view.filter.focus.len,
                                     .limit = r->view.rules.limit,
                                     .filter = &r->view.filter};
    int status = EXIT_BAD;
    struct session_options *o = &r->view.session;
    struct side_names olds = {r->program, r->old.at, r->old.len, r->by_lines};
    struct side_names news = {r->program, r->new.at, r->new.len, r->by_lines};
    o->read.progress = progress_start();
    bool ok = side_open(&old, o, &olds, e) && side_open(&new, o, &news, e);
    progress_end(o->read.progress);
    o->read.progress = NULL;
    if (ok && diff_is_known(&r->view.filter, &old, &new, r->new.at[0], e)) {
        comparison_make(&c, &old, &new, &rules, &r->arena);
        struct report_input in = {.comparison = &c};
        print_report(REPORT_COMPARISON, &in, &r->view.print, out);
        status = comparison_has_findings(&c) ? EXIT_DIFFERS : EXIT_FINE;
        comparison_deinit(&c);
        if (!compare_is_whole(&old, &new, e))
            status = EXIT_BAD;
    }
    run_set_deinit(&old);
    run_set_deinit(&new);
    return status;
}

/* --- diff: coverage --------------------------------------------------------------------------- */

/* Compares line by line in functions that lie as they did. There is no CSV of it, as rows of
 * sources and rows of lines are two tables. */
static int diff_coverage(struct diff_request *r, struct out *out, struct err *e)
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
    struct coverage_options *o = &r->cover.session;
    bool ok = cover_options_finish(&r->cover, e);
    if (ok) { /* the old side first, so that an error in it is the one that is reported */
        o->read.progress = progress_start();
        o->result.keeps_unseen = true; /* of two states of the sources one at most is here */
        o->paths = r->old.at;
        o->paths_len = r->old.len;
        ok = coverage_session_open(&old, o, e);
        o->paths = r->new.at;
        o->paths_len = r->new.len;
        ok = ok && coverage_session_open(&new, o, e);
        progress_end(o->read.progress);
        o->read.progress = NULL;
    }
    if (ok) {
        coverage_change_make(&c, &old.result, &new.result);
        struct terminal terminal = {0};
        struct change_report report = {.change = &c,
                                       .old = r->old.at[0],
                                       .new = r->new.at[0],
                                       .limit = r->view.rules.limit,
                                       .shows_all = r->view.rules.shows_all};
        if (format->is_for_people)
            terminal_start(&terminal, &r->view.print, out);
        format->write(out, &report);
        terminal_end(&terminal, out);
        /* What could not be read looks like lines that were lost: whatever differs, it is said. */
        bool is_whole = coverage_session_is_whole(&old, e) && coverage_session_is_whole(&new, e);
        status = !is_whole ? EXIT_BAD : change_count(&c) ? EXIT_DIFFERS : EXIT_FINE;
    }
    coverage_change_deinit(&c);
    coverage_session_close(&old);
    coverage_session_close(&new);
    return status;
}

/* Two profiles by source position, or a program and one: their overlap. A difference is no failure,
 * unlike that of other profiles, but where --fail-below says so. Other options have no use here,
 * and are ignored. */
static int diff_source_profiles(const struct diff_request *r, char *const *names, struct out *out,
                                struct err *e)
{
    enum { SHOWN_FUNCTIONS = 20 };
    const char *format = r->view.print.format;
    const struct view_rules *rules = &r->view.rules;
    struct source_comparison c = {.debug_dir = r->view.session.debug_dir,
                                  .is_json = format != NULL,
                                  .limit = rules->shows_all ? 0
                                           : rules->limit   ? rules->limit
                                                            : SHOWN_FUNCTIONS,
                                  .least = r->least_shared};
    if (!format || !strcmp(format, REPORT_JSON))
        return compare_sources(&c, names, out, e);
    err_in(e, names[1], "is a profile for a compiler; those are compared as text or JSON");
    return EXIT_BAD;
}

/* A confidence of 100 % would need infinite evidence: nothing would ever be real. */
static int diff_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct diff_request r = {.confidence = 100 * CHANGE_CONFIDENCE,
                             .least = 100 * LEAST_CHANGE,
                             .noise = 100 * NOISE_OF_RUNS};
    struct operands operands;
    int status = EXIT_BAD;
    bool is_coverage;
    cover_options_init(&r.cover);
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end == OPTIONS_HELPED)
        status = EXIT_FINE;
    else if (end == OPTIONS_READ && r.confidence >= 100)
        err_set(e, "option '--confidence' needs less than 100");
    else if (end == OPTIONS_READ && operands.len == 2 &&
             (is_source_profile(operands.at[0]) || is_source_profile(operands.at[1])))
        status = diff_source_profiles(&r, operands.at, out, e);
    else if (end == OPTIONS_READ && r.has_least_shared)
        err_set(e, "option '--fail-below' is for profiles for compilers; 'monarc check' judges "
                   "other comparisons");
    else if (end == OPTIONS_READ && diff_operands(&r, operands.at, operands.len, e) &&
             diff_is_coverage(&r, &is_coverage, e))
        status = is_coverage ? diff_coverage(&r, out, e) : diff_profiles(&r, out, e);
    vec_free(&r.old);
    vec_free(&r.new);
    filter_deinit(&r.view.filter);
    cover_options_deinit(&r.cover);
    arena_deinit(&r.arena);
    return status;
}

/* Options of profiles and of coverage stand side by side: which of them apply is known only when
 * the names are. */
static const struct option_group DIFF_GROUPS[] = {
    GROUP(rows_set, struct diff_request, view.rules),
    GROUP(part_set, struct diff_request, view.session),
    COVER_GROUPS(struct diff_request, cover),
    GROUP(demangle_set, struct diff_request, view.session.no_demangle),
    FILE_GROUPS(struct diff_request, view.session),
    GROUP(wide_set, struct diff_request, view.print.is_wide),
    GROUP(terminal_set, struct diff_request, view.print),
    GROUP(read_set, struct diff_request, view.session.read),
};
const struct command command_diff = {
    .name = "diff",
    .synopsis = "[OPTION...] OLD NEW | PROGRAM OLD NEW | PROGRAM OLD PROGRAM NEW | PROGRAM PROFILE",
    .summary = "Compare two profiles, recordings, or coverage",
    OPTIONS_OF(DIFF_OPTIONS, DIFF_GROUPS),
    COLUMNS_OF(&comparison_columns, &total_columns_table),
    .run = diff_run,
};

/* --- check: options and operands ------------------------------------------------------------- */

/* "-" is standard output; without any output the verdict is text there. */
struct check_output {
    const struct verdict_format *format;
    const char *path;
};

/* Names of one side, made distinct. */
struct check_side {
    struct option_list names, profiles, coverage;
};

/* Sides, rules, and their results. Texts of the verdict's cases are in its arena or in the
 * sessions, which are therefore closed after everything is printed. */
struct check_request {
    struct view_options view;
    struct cover_options cover;
    struct rules rules;
    struct check_side old, new;
    VEC(struct check_output) outputs;
    struct arena arena;
    struct verdict verdict;
    struct coverage_change change;
    struct coverage_session covered_old, covered_new;
};

/* --format NAME[=FILE]. */
static bool check_take_format(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    struct check_request *r = target;
    size_t len;
    const char *path = format_path(row, value, &len, e);
    struct check_output output = {path ? verdict_format_find(value, len) : NULL, path};
    if (!path)
        return false;
    if (!output.format)
        return err_set(e, "unknown format '%.*s'; there are text, json, junit, github and markdown",
                       (int)len, value);
    /* Standard output has room for several: annotations for GitHub, and text for the log. */
    for (size_t i = 0; i < r->outputs.len && strcmp(output.path, "-"); i++)
        if (!outputs_differ(output.path, r->outputs.at[i].path, e))
            return false;
    vec_push(&r->outputs, output);
    return true;
}

/* The same as --format json: one more output, after those that were named before. */
static bool check_take_json(void *target, const struct option_row *row, const char *value,
                            struct err *e)
{
    (void)value;
    return check_take_format(target, row, "json", e);
}

/* Rules have the names of their options, in files too. */
static bool check_take_rule(void *target, const struct option_row *row, const char *value,
                            struct err *e)
{
    return rules_set(&((struct check_request *)target)->rules, row->name, value, e);
}

/* Rules of a file count from where the option stands: of several rules of a kind the last one
 * that matches a name decides. */
static bool check_take_rules(void *target, const struct option_row *row, const char *path,
                             struct err *e)
{
    struct check_request *r = target;
    struct file_buffer buffer = {0};
    (void)row;
    bool ok = file_read(path, &buffer, e) && rules_read(&r->rules, file_bytes(&buffer), path, e);
    file_buffer_deinit(&buffer);
    return ok;
}

/* A LIMIT is a percentage, an amount or both added; a NAME may be left out. rules_set() parses
 * them, here and in files, so their syntax is in src/verdict. */
static const struct option_row CHECK_OPTIONS[] = {
    {0, "baseline", "OLD", "what to compare with (may be repeated)",
     FILLS(struct check_request, old.names)},
    {0, "max-cpu-growth", "LIMIT", "CPU time of the whole may grow by LIMIT (default: 2%)",
     TAKEN_BY(check_take_rule)},
    {0, "max-elapsed-growth", "LIMIT",
     "the same for elapsed time, with three runs a side (default: 5%)", TAKEN_BY(check_take_rule)},
    {0, "max-memory-growth", "LIMIT", "the same for peak memory (default: 10%+1MB)",
     TAKEN_BY(check_take_rule)},
    {0, "max-time-growth", "NAME=LIMIT",
     "the same for the self time of functions (default: 10%+1%cpu)", TAKEN_BY(check_take_rule)},
    {0, "max-calls-growth", "NAME=LIMIT", "calls (default: 2%)", TAKEN_BY(check_take_rule)},
    {0, "max-share-growth", "NAME=PP", "shares of self time may grow by PP points",
     TAKEN_BY(check_take_rule)},
    {0, "max-total-growth", "NAME=PP", "shares of total time may grow by PP points",
     TAKEN_BY(check_take_rule)},
    {0, "min-samples", "N", "judge functions if each side has N samples (default: 100)",
     TAKEN_BY(check_take_rule)},
    {0, "confidence", "P", "fail for time with P percent confidence (default: 99)",
     TAKEN_BY(check_take_rule)},
    {0, "noise", "P", NOISE_TEXT, TAKEN_BY(check_take_rule)},
    {0, "max-coverage-fall", "NAME=PP", "no source's lines may lose PP points (default: 0)",
     TAKEN_BY(check_take_rule)},
    {0, "rules", "FILE", "take rules from a file: lines of NAME VALUE, named as options are",
     TAKEN_BY(check_take_rules)},
    {0, "format", "NAME[=FILE]", "write text, json, junit, github or markdown, to FILE",
     TAKEN_BY(check_take_format)},
    {'j', "json", NULL, JSON_TEXT, TAKEN_BY(check_take_json)},
};

/* --- check: sides ----------------------------------------------------------------------------- */

/* Operands and baselines may be mixed; each is about a profile or about coverage by what it is. */
static struct operand_mix check_sort_names(struct check_side *s)
{
    struct operand_mix mix = operand_mix_of(s->names.at, s->names.len);
    for (size_t i = 0; i < s->names.len; i++) {
        if (operand_is_of_coverage(&mix, s->names.at[i]))
            vec_push(&s->coverage, s->names.at[i]);
        if (operand_is_of_profile(&mix, s->names.at[i]))
            vec_push(&s->profiles, s->names.at[i]);
    }
    return mix;
}

/* Whether the two sides can be judged by each other. A rule whose data is missing on a side must
 * not pass in silence, so the sides have to match in kind. Gates need no baseline: they are about
 * the new side alone. */
static bool check_sides(struct check_request *r, char **names, size_t len, struct err *e)
{
    for (size_t i = 0; i < len; i++)
        vec_push(&r->new.names, names[i]);
    struct operand_mix old = check_sort_names(&r->old);
    check_sort_names(&r->new);
    /* A baseline of profiles alone is of the same program. */
    for (size_t i = 0; old.has_llvm && !old.programs && i < r->new.coverage.len; i++)
        if (is_program(r->new.coverage.at[i]))
            vec_push(&r->old.coverage, r->new.coverage.at[i]);
    bool has_gates = false;
    for (int i = 0; i < GATES; i++)
        has_gates |= r->cover.has_gate[i];
    if (!len)
        return err_set(e, "check needs something to judge; see 'monarc check --help'");
    if (!r->old.names.len && !has_gates)
        return err_set(e, "check needs '--baseline OLD'");
    if (r->old.names.len && !r->old.profiles.len != !r->new.profiles.len)
        return err_set(e, "a profile is judged by the baseline's profile, and one side has none");
    if ((r->old.coverage.len || has_gates) && !r->new.coverage.len)
        return err_set(e, "a rule judges coverage, but no coverage was given");
    return true;
}

/* Names are argv's; only the lists are ours. */
static void check_side_free(struct check_side *s)
{
    vec_free(&s->names);
    vec_free(&s->profiles);
    vec_free(&s->coverage);
}

/* --- check: judging --------------------------------------------------------------------------- */

/* All changes are wanted, small ones too: which of them matter is the rules' decision. The
 * comparison lives as long as the verdict's cases need its names, in the request's arena. */
static bool check_profiles(struct check_request *r, struct err *e)
{
    struct run_set old = {0}, new = {0};
    struct comparison c;
    struct comparison_rules all = {
        .confidence = r->rules.confidence, .noise = r->rules.noise, .shows_all = true};
    /* A baseline of profiles alone is of the same program. */
    const char *first = r->new.profiles.at[0];
    struct side_names olds = {is_program(first) ? first : NULL, r->old.profiles.at,
                              r->old.profiles.len};
    struct side_names news = {NULL, r->new.profiles.at, r->new.profiles.len};
    bool ok =
        side_open(&old, &r->view.session, &olds, e) && side_open(&new, &r->view.session, &news, e);
    if (ok) {
        comparison_make(&c, &old, &new, &all, &r->arena);
        verdict_profile(&r->verdict, &r->rules, &c);
        comparison_deinit(&c);
        ok = compare_is_whole(&old, &new, e);
    }
    run_set_deinit(&old);
    run_set_deinit(&new);
    return ok;
}

/* One side of coverage. The patch is of the new side alone: it is about lines that are there
 * now. */
static bool check_open_coverage(struct check_request *r, struct coverage_session *s,
                                const struct check_side *side, const char *patch, struct err *e)
{
    struct coverage_options o = r->cover.session;
    o.paths = side->coverage.at;
    o.paths_len = side->coverage.len;
    o.patch = patch;
    o.result.keeps_unseen = r->old.coverage.len > 0;
    return coverage_session_open(s, &o, e);
}

/* Gates are judged as cases among the others, so that every format has them. A chance of -1 says
 * that no statistics are involved. */
static void check_gates(struct check_request *r)
{
    struct coverage_gate gates[GATES];
    size_t len = cover_gates(&r->cover, &r->covered_new, gates);
    for (size_t i = 0; i < len; i++) {
        const struct coverage_gate *g = &gates[i];
        static const enum case_status STATUS[] = {[GATE_PASSED] = CASE_PASSED,
                                                  [GATE_FAILED] = CASE_FAILED,
                                                  [GATE_NOT_JUDGED] = CASE_NOT_JUDGED};
        struct verdict_case c = {.status = STATUS[g->verdict],
                                 .rule = arena_printf(&r->verdict.arena, "fail-under-%s", g->name),
                                 .subject = g->verdict == GATE_FAILED ? g->name : NULL,
                                 .is_lacking = g->verdict == GATE_NOT_JUDGED,
                                 .new = g->percent,
                                 .limit = g->limit,
                                 .chance = -1};
        struct out message = {0};
        coverage_gate_text(&message, g);
        c.message = arena_copy(&r->verdict.arena, message.at, message.len);
        out_deinit(&message);
        verdict_add(&r->verdict, &c);
    }
}

/* Without a baseline only gates are judged. The new side is opened first: a mistake in what is to
 * be judged is the likelier one. */
static bool check_coverage(struct check_request *r, struct err *e)
{
    if (!check_open_coverage(r, &r->covered_new, &r->new, r->cover.session.patch, e))
        return false;
    if (r->old.coverage.len) {
        if (!check_open_coverage(r, &r->covered_old, &r->old, NULL, e))
            return false;
        coverage_change_make(&r->change, &r->covered_old.result, &r->covered_new.result);
        verdict_coverage(&r->verdict, &r->rules, &r->change);
    }
    check_gates(r);
    return true;
}

/* --- check: the verdict ----------------------------------------------------------------------- */

/* What an output_writer is given: the verdict, and the format to write it in. */
struct check_written {
    const struct verdict_format *format;
    const struct verdict *verdict;
};

/* An output_writer. */
static bool check_write(void *context, struct out *out, struct err *e)
{
    const struct check_written *w = context;
    (void)e;
    w->format->write(out, w->verdict);
    return true;
}

/* Files first, then text on standard output unless a format took it. An output that fails ends the
 * command with EXIT_BAD, whatever the verdict was: a pipeline that reads the file would see an old
 * one. */
static bool check_print(const struct check_request *r, struct out *out, struct err *e)
{
    bool is_taken = false;
    for (size_t i = 0; i < r->outputs.len; i++) {
        const struct check_output *o = &r->outputs.at[i];
        if (!output_to(o->path, check_write, &(struct check_written){o->format, &r->verdict}, out,
                       e))
            return false;
        output_say(o->path, NULL);
        is_taken |= !strcmp(o->path, "-");
    }
    if (!is_taken)
        verdict_text(out, &r->verdict);
    return true;
}

/* The case that an error line quotes; NULL if there is none of that status. */
static const struct verdict_case *check_first(const struct verdict *v, enum case_status status)
{
    for (size_t i = 0; i < v->cases.len; i++)
        if (v->cases.at[i].status == status)
            return &v->cases.at[i];
    return NULL;
}

/* Three outcomes beside success: a rule failed (1); a requested rule lacks its data, or there was
 * nothing to judge at all (2). The second must not look like success in a pipeline.
 *
 *    failed                           1   the first failed case is the error line
 *    data lacking, or no case passed  2   a rule that checked nothing
 *    otherwise                        0 */
static int check_judge(struct check_request *r, struct out *out, struct err *e)
{
    const struct verdict *v = &r->verdict;
    rules_default(&r->rules);
    if (!cover_options_finish(&r->cover, e))
        return EXIT_BAD;
    struct progress *progress = progress_start();
    r->view.session.read.progress = r->cover.session.read.progress = progress;
    bool ok = (!r->new.profiles.len || check_profiles(r, e)) &&
              (!r->new.coverage.len || check_coverage(r, e));
    progress_end(progress);
    if (!ok)
        return EXIT_BAD;
    /* Annotations and links want paths from the current folder on. */
    const char *here = path_absolute(".", &r->arena);
    for (size_t i = 0; i < r->verdict.cases.len; i++) {
        struct verdict_case *c = &r->verdict.cases.at[i];
        const char *below = c->file ? path_below(c->file, here) : NULL;
        if (below && below[0] == '/' && below[1])
            c->file = below + 1;
    }
    if (!check_print(r, out, e))
        return EXIT_BAD;
    if (v->failed) {
        err_set(e, "%s%s", check_first(v, CASE_FAILED)->message, v->failed > 1 ? ", and more" : "");
        return EXIT_DIFFERS;
    }
    /* Rules that passed on a part of the coverage have not passed. */
    if (!coverage_session_is_whole(&r->covered_new, e) ||
        !coverage_session_is_whole(&r->covered_old, e))
        return EXIT_BAD;
    if (v->lacks_data || !v->passed) {
        const struct verdict_case *c = check_first(v, CASE_NOT_JUDGED);
        err_set(e, "nothing was judged by %s: %s", c ? c->rule : "any rule",
                c ? c->message : "there is none for what was named");
        return EXIT_BAD;
    }
    return EXIT_FINE;
}

/* Everything is freed here, in the reverse of the order in which one points into the other. */
static int check_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct check_request r = {0};
    struct operands operands;
    int status = EXIT_BAD;
    cover_options_init(&r.cover);
    rules_init(&r.rules);
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end == OPTIONS_HELPED)
        status = EXIT_FINE;
    else if (end == OPTIONS_READ && check_sides(&r, operands.at, operands.len, e))
        status = check_judge(&r, out, e);
    verdict_deinit(&r.verdict);
    coverage_change_deinit(&r.change);
    coverage_session_close(&r.covered_old);
    coverage_session_close(&r.covered_new);
    rules_deinit(&r.rules);
    check_side_free(&r.old);
    check_side_free(&r.new);
    vec_free(&r.outputs);
    filter_deinit(&r.view.filter);
    cover_options_deinit(&r.cover);
    arena_deinit(&r.arena);
    return status;
}

static const struct option_group CHECK_GROUPS[] = {
    GROUP(cover_gates_set, struct check_request, cover),
    GROUP(part_set, struct check_request, view.session),
    COVER_GROUPS(struct check_request, cover),
    GROUP(demangle_set, struct check_request, view.session.no_demangle),
    FILE_GROUPS(struct check_request, view.session),
    GROUP(read_set, struct check_request, view.session.read),
};
const struct command command_check = {
    .name = "check",
    .synopsis = "[OPTION...] --baseline OLD... NEW...",
    .summary = "Fail a build whose calls, time or coverage became worse than a baseline's",
    OPTIONS_OF(CHECK_OPTIONS, CHECK_GROUPS),
    COLUMNS_OF(&verdict_columns),
    .run = check_run,
};
