/* Coverage for people: the summary of a terminal with the lists below it (functions, what is
 * missing, the patch, gates), and the comment on a pull request in Markdown.
 *
 * Both show what the report has and compute nothing but percentages, which never say 100 or 0 of
 * what is not quite so. Columns without data are left away. What is missing is shown with lines of
 * the source around it where that can be read; lines in one state that follow each other are one
 * range, also across lines without code. A source is read once, and one at a time.
 *
 *     passed: 71.4 % of the lines ran, 50 of 70
 *
 *     lines%  missed  lines  functions% branches%  source
 *       71.4      20     70      100.0     50.0     a.c
 *       71.4      20     70      100.0     50.0     [all of 1 source]
 *       left out: ...
 *
 *     a.c: not run: 12-15; unknown: 30
 *           11    if (x)
 *           12 !      fail();
 *       line 40: branch 2 of 2 never taken
 *
 *     passed: line coverage is 71.43 %, 70.00 % are required */
#include "coverage/report/coverage_report.h"

#include "base/bytes.h"
#include "output/out.h"

#include "coverage/analysis/llvm_coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* State that the parts of the summary share: which columns have data, the order of sources, widths.
 */
struct page {
    struct out *out;
    const struct coverage_report *s;
    const struct coverage_style *style;
    bool has_functions, has_regions, has_branches, has_conditions, has_unknown;
    const uint32_t *ranking; /* sources in the order wanted, the first `shown` of them */
    size_t shown;
    const bool *is_asked_for; /* by line of the result: the patch's or the functions'; NULL: all */
    int lines;                /* width of the columns of line numbers */
};

/* The caller ends a colour by "\33[0m". */
static void text_colour(const struct page *p, const char *code)
{
    if (p->style->has_colour)
        out_str(p->out, code);
}

/* Green from 90 %, yellow from 75 %, red below. What is not counted has no colour, since it is
 * neither good nor bad. `after` fills the column. */
static void text_ratio(const struct page *p, const struct coverage_ratio *r, const char *after)
{
    char percent[16];
    bool has_any = r->all > r->unknown;
    ratio_text(percent, sizeof percent, r);
    double share = ratio_percent(r);
    if (has_any)
        text_colour(p, share >= 90 ? "\33[32m" : share >= 75 ? "\33[33m" : "\33[31m");
    out_printf(p->out, "%6s", percent);
    if (has_any)
        text_colour(p, "\33[0m");
    out_str(p->out, after);
}

/* The columns of a source, or of all. Missed are the lines that are known not to have run; lines
 * are all, the unknown among them. */
static void text_row(const struct page *p, const struct coverage_ratios *sums)
{
    text_ratio(p, &sums->lines, "  ");
    out_u64(p->out, sums->lines.all - sums->lines.unknown - sums->lines.hit, p->lines);
    out_str(p->out, " ");
    out_u64(p->out, sums->lines.all, p->lines);
    out_str(p->out, "  ");
    if (p->has_unknown) {
        out_u64(p->out, sums->lines.unknown, 7);
        out_str(p->out, "  ");
    }
    if (p->has_functions)
        text_ratio(p, &sums->functions, "    ");
    if (p->has_regions)
        text_ratio(p, &sums->regions, "   ");
    if (p->has_branches)
        text_ratio(p, &sums->branches, "   ");
    if (p->has_conditions)
        text_ratio(p, &sums->conditions, "      ");
}

/* The last row is of all sources, also of those that a limit does not show. On a terminal a path
 * loses its beginning rather than that it goes on beyond the edge. */
static void text_table(const struct page *p)
{
    enum { LEAST_PATH = 20 };
    const struct coverage_result *r = p->s->result;
    /* What text_row() prints in front of a source. */
    int width = 6 + 2 + p->lines + 1 + p->lines + 2 + (p->has_unknown ? 9 : 0) +
                (p->has_functions ? 10 : 0) + (p->has_regions ? 9 : 0) + (p->has_branches ? 9 : 0) +
                (p->has_conditions ? 12 : 0) + 2;
    int room = p->out->columns - width;
    room = room < LEAST_PATH ? LEAST_PATH : room;
    out_printf(p->out, "%6s  %*s %*s  ", "lines%", p->lines, "missed", p->lines, "lines");
    if (p->has_unknown)
        out_printf(p->out, "%7s  ", "unknown");
    if (p->has_functions)
        out_str(p->out, "functions%");
    if (p->has_regions)
        out_str(p->out, " regions%");
    if (p->has_branches)
        out_str(p->out, " branches%");
    if (p->has_conditions)
        out_str(p->out, "  conditions%");
    out_str(p->out, "  source\n");
    for (size_t i = 0; i < p->shown; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        text_row(p, &s->sums);
        out_str(p->out, "  ");
        if (p->out->columns)
            text_path_within(p->out, s->path, strlen(s->path), room);
        else
            text_name(p->out, s->path);
        out_char(p->out, '\n');
    }
    text_more(p->out, r->sources.len - p->shown, "source", NULL);
    text_row(p, &r->sums);
    out_printf(p->out, "  [all of %zu source%s]\n", r->sources.len, text_plural(r->sources.len));
}

static void text_sentence(void *context, const char *text)
{
    struct page *p = context;
    out_str(p->out, "  ");
    text_name(p->out, text);
    out_char(p->out, '\n');
}

/* All losses are reported, in red; of notes the first five. What was left out comes first: it
 * defines the base of the percentages above. */
static void text_notes(struct page *p)
{
    const struct problems *problems = p->s->problems;
    enum { SHOWN = 5 };
    size_t shown = 0;
    out_prose(p->out);
    left_out_sentences(p->s, text_sentence, p);
    for (size_t i = 0; i < problems->at.len; i++) {
        const struct problem *problem = &problems->at.at[i];
        if (problem->kind == PROBLEM_NOTE && shown++ >= SHOWN)
            continue;
        text_colour(p, problem->kind == PROBLEM_NOTE ? "" : "\33[31m");
        text_sentence(p, problem->text);
        text_colour(p, problem->kind == PROBLEM_NOTE ? "" : "\33[0m");
    }
    if (shown > SHOWN) {
        out_str(p->out, "  ");
        text_more(p->out, shown - SHOWN, "note", "--json");
    }
    out_prose_end(p->out);
}

void coverage_text_notes(struct out *out, const struct coverage_report *s,
                         const struct coverage_style *style)
{
    text_notes(&(struct page){.out = out, .s = s, .style = style});
}

/* ---- functions */

/* How often it was called, or in words why there is no number. */
static void text_function(const struct page *p, const struct result_function *f,
                          struct arena *scratch)
{
    if (f->state == RESULT_HIT) {
        out_u64(p->out, f->count, 12);
    } else {
        text_colour(p, f->state == RESULT_MISSED ? "\33[31m" : "\33[33m");
        out_printf(p->out, "%12s", f->state == RESULT_MISSED ? "never called" : "unknown");
        text_colour(p, "\33[0m");
    }
    out_str(p->out, "  ");
    text_name(p->out, f->name);
    out_str(p->out, "  ");
    text_name(p->out, p->s->result->sources.at[f->source].path);
    out_printf(p->out, ":%" PRIu32, f->start_line);
    if (f->is_partly_unknown)
        out_printf(p->out, "  (%s%s)", f->state == RESULT_HIT ? "at least; " : "",
                   function_unknown_reason(f, scratch));
    else if (f->is_repaired)
        out_str(p->out, "  (repaired)");
    out_char(p->out, '\n');
}

/* Of the sources that the table shows, in its order and that of their lines: all, or those that
 * were never called. */
static void text_functions(const struct page *p)
{
    const struct coverage_result *r = p->s->result;
    struct arena scratch = {0};
    out_printf(p->out, "\n%12s  function\n", "calls");
    for (size_t i = 0; i < p->shown; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        for (uint32_t k = 0; k < s->functions; k++)
            if (!p->style->shows_never_called ||
                r->functions.at[s->first_function + k].state == RESULT_MISSED)
                text_function(p, &r->functions.at[s->first_function + k], &scratch);
    }
    arena_deinit(&scratch);
}

/* ---- what is missing */

/* Cut at 200 bytes, and free of control characters but tabs. A line that the file does not have
 * prints nothing. */
static void text_source_text(const struct page *p, const struct source_text *text, uint32_t number,
                             char mark)
{
    struct bytes line = source_line(text, number);
    if (!line.at)
        return;
    text_colour(p, mark == '!' ? "\33[31m" : mark == '?' ? "\33[33m" : "\33[2m");
    out_printf(p->out, "%8" PRIu32 " %c  ", number, mark);
    size_t shown = utf8_cut(line.at, line.len, 200);
    for (size_t i = 0; i < shown; i++) {
        const char *at = (const char *)line.at + i;
        const char *tab = memchr(at, '\t', shown - i);
        size_t run = tab ? (size_t)(tab - at) : shown - i;
        text_name_n(p->out, at, run);
        i += run;
        out_str(p->out, tab ? "\t" : "");
    }
    text_colour(p, "\33[0m");
    out_char(p->out, '\n');
}

/* A range of one line is that line. */
static void text_range_of_lines(struct out *out, uint32_t first, uint32_t last)
{
    out_printf(out, last > first ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, first, last);
}

/* What is missing is that of the patch or of the functions, if there are some. */
static bool text_is_asked_for(const struct page *p, uint32_t line)
{
    return !p->is_asked_for || p->is_asked_for[line];
}

/* As result_lines_end(), of requested lines, or of others: where a patch ends within a stretch that
 * did not run, the stretch is divided. */
static uint32_t text_lines_end(const struct page *p, const struct result_source *s, uint32_t i)
{
    uint32_t last = result_lines_end(p->s->result, s, i), end = i + 1;
    while (end < last && text_is_asked_for(p, end) == text_is_asked_for(p, i))
        end++;
    return end;
}

/* "12-15, 20" of the lines in a state. `before` goes before the first range, and is not printed if
 * there is none. */
static bool text_ranges(const struct page *p, const struct result_source *s, uint8_t state,
                        const char *before)
{
    const struct coverage_result *r = p->s->result;
    struct out *out = p->out;
    bool has_any = false;
    for (uint32_t i = s->first_line, end; i < s->first_line + s->lines; i = end) {
        end = text_lines_end(p, s, i);
        if (r->lines.at[i].state != state || !text_is_asked_for(p, i))
            continue;
        out_str(out, has_any ? ", " : before);
        has_any = true;
        text_range_of_lines(out, r->lines.at[i].line, r->lines.at[end - 1].line);
    }
    return has_any;
}

/* `at` goes forward with the lines: one pass over a source. `!` missed, `?` unknown, a blank for
 * what ran or holds no code. */
static char text_mark_of(const struct coverage_result *r, const struct result_source *s,
                         uint32_t *at, uint32_t number)
{
    while (*at < s->first_line + s->lines && r->lines.at[*at].line < number)
        ++*at;
    if (*at == s->first_line + s->lines || r->lines.at[*at].line != number)
        return ' ';
    uint8_t state = r->lines.at[*at].state;
    return state == RESULT_MISSED ? '!' : state == RESULT_UNKNOWN ? '?' : ' ';
}

/* The ranges' text, with lines around them; ranges that come near each other are one piece.
 * `printed` is the last line that was printed, so that contexts which overlap are printed once.
 * Sums are in 64 bits: the last line plus a context may exceed 32. */
static void text_excerpt(const struct page *p, const struct result_source *s,
                         const struct source_text *text)
{
    const struct coverage_result *r = p->s->result;
    uint32_t at = s->first_line;
    uint64_t printed = 0;
    for (uint32_t i = s->first_line, end; i < s->first_line + s->lines; i = end) {
        end = text_lines_end(p, s, i);
        if (r->lines.at[i].state == RESULT_HIT || !text_is_asked_for(p, i))
            continue;
        uint64_t context = p->style->context, first = r->lines.at[i].line;
        uint64_t last = r->lines.at[end - 1].line + context;
        first = first > context ? first - context : 1;
        if (printed && first > printed + 1)
            out_str(p->out, "         ...\n");
        first = first > printed ? first : printed + 1;
        last = last < text->lines ? last : text->lines;
        for (uint64_t n = first; n <= last; n++)
            text_source_text(p, text, (uint32_t)n, text_mark_of(r, s, &at, (uint32_t)n));
        printed = last > printed ? last : printed;
    }
}

/* A condition by its text in the source, if that is short; else by its number, as where the source
 * cannot be read, or where the condition stands on several lines. Columns count bytes from 1, and
 * the end is the column after the last one. Control characters in it are shown as `?`. */
static void text_condition(const struct page *p, const struct source_text *text,
                           const struct llvm_place *at, uint32_t number)
{
    enum { MOST = 40 };
    struct bytes line = text && at->line ? source_line(text, at->line) : (struct bytes){0};
    bool is_short = at->line == at->end_line && at->column && at->end_column > at->column &&
                    at->end_column - at->column <= MOST && at->end_column - 1 <= line.len;
    char name[MOST + 1];
    if (!is_short) {
        out_printf(p->out, "condition %" PRIu32, number + 1);
        return;
    }
    size_t len = at->end_column - at->column;
    memcpy(name, line.at + at->column - 1, len);
    name[len] = '\0';
    text_name(p->out, name);
}

/* The values of the conditions that a way evaluates, in the order of the source. What is not
 * evaluated is not named: it does not matter what it is. */
static void text_vector(const struct page *p, const struct source_text *text,
                        const struct explained_decision *d, const struct mcdc_vector *v)
{
    bool has_any = false;
    for (uint32_t k = 0; k < d->len; k++) {
        if (!(v->evaluated >> k & 1))
            continue;
        out_str(p->out, has_any ? ", " : "");
        text_condition(p, text, &d->terms[k], k);
        out_str(p->out, v->values >> k & 1 ? " true" : " false");
        has_any = true;
    }
}

/* The runs of a decision, and which are missing.
 *
 *   line 9: 2 of 3 conditions decide (unique cause), 3 by masking
 *     seen: a false; a true, b false, c false; a true, b true
 *     c needs a run with a true, b false, c true */
static void text_decision(const struct page *p, const struct source_text *text,
                          const struct explained_decision *d)
{
    enum { MOST_SEEN = 16 };
    uint64_t all = d->len < 64 ? (UINT64_C(1) << d->len) - 1 : ~UINT64_C(0);
    if (((d->shown | d->folded) & all) == all)
        return;
    out_printf(p->out,
               "  line %" PRIu32 ": %d of %d conditions decide (unique cause), %d by masking\n",
               d->line, __builtin_popcountll(d->shown), __builtin_popcountll(all & ~d->folded),
               __builtin_popcountll(d->masking));
    out_str(p->out, d->seen_len ? "    seen: " : "    seen: nothing");
    for (size_t i = 0; i < d->seen_len && i < MOST_SEEN; i++) {
        out_str(p->out, i ? "; " : "");
        text_vector(p, text, d, &d->seen[i]);
    }
    if (d->seen_len > MOST_SEEN)
        out_printf(p->out, "; and %zu more", d->seen_len - MOST_SEEN);
    out_char(p->out, '\n');
    for (uint32_t k = 0; k < d->len; k++) {
        if ((d->shown | d->folded) >> k & 1)
            continue;
        out_str(p->out, "    ");
        text_condition(p, text, &d->terms[k], k);
        if (!d->needs[k].len)
            out_str(p->out, " cannot be shown to decide");
        for (uint32_t i = 0; i < d->needs[k].len; i++) {
            out_str(p->out, i                     ? ", and one with "
                            : d->needs[k].len > 1 ? " needs two runs: one with "
                                                  : " needs a run with ");
            text_vector(p, text, d, &d->needs[k].runs[i]);
        }
        out_char(p->out, '\n');
    }
}

/* Which outcomes of which term were never seen: that is the test that is missing. Terms are
 * numbered from 1, from left to right. Decisions of clang's are explained by their vectors. */
static void text_missed_conditions(const struct page *p, const struct result_source *s,
                                   const struct source_text *text)
{
    const struct coverage_result *r = p->s->result;
    bool has_outcomes_alone = false;
    /* Decisions of one source follow each other, and have one pointer for its path. */
    size_t first = 0, end;
    while (first < p->s->decisions_len &&
           ((first && p->s->decisions[first].path == p->s->decisions[first - 1].path) ||
            strcmp(p->s->decisions[first].path, s->whole)))
        first++;
    for (end = first;
         end < p->s->decisions_len && p->s->decisions[end].path == p->s->decisions[first].path;)
        end++;
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        uint32_t explained = 0;
        if (!text_is_asked_for(p, i))
            continue;
        for (size_t k = first; l->conditions && k < end; k++) {
            const struct explained_decision *d = &p->s->decisions[k];
            if (d->line != l->line)
                continue;
            text_decision(p, text, d);
            explained++;
        }
        bool is_unknown = l->state == RESULT_UNKNOWN;
        for (uint32_t k = 0; !is_unknown && k < l->conditions && explained < l->conditions; k++) {
            const struct result_condition *c = &r->conditions.at[l->first_condition + k];
            if (condition_hit(c) == 2 * c->terms)
                continue;
            has_outcomes_alone = true;
            out_printf(p->out, "  line %" PRIu32 ": %u of %" PRIu32 " outcomes of conditions seen",
                       l->line, condition_hit(c), 2 * c->terms);
            out_str(p->out, "; missing:");
            for (uint32_t t = 0; t < c->terms; t++) {
                bool on = c->on >> t & 1, off = c->off >> t & 1;
                if (!on || !off)
                    out_printf(p->out, " term %" PRIu32 " %s", t + 1,
                               !on && !off ? "true and false"
                               : on        ? "false"
                                           : "true");
            }
            out_char(p->out, '\n');
        }
    }
    if (has_outcomes_alone)
        out_str(p->out, "  (outcomes by masking; the compiler recorded no test vectors)\n");
}

/* Sources with nothing requested missing get no heading, whatever their sums say: lines that did
 * not run have no branches to take, and branches of which nothing is known are not listed.
 */
static bool text_has_details(const struct page *p, const struct result_source *s)
{
    const struct coverage_result *r = p->s->result;
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        bool is_hit = l->state == RESULT_HIT, has_more = p->style->shows_missing && !is_hit;
        for (uint32_t k = 0; k < l->branches && is_hit && p->style->shows_branches; k++)
            has_more |= !r->branches.at[l->first_branch + k].count;
        bool shows_conditions = p->style->shows_conditions && l->state != RESULT_UNKNOWN;
        for (uint32_t k = 0; k < l->conditions && shows_conditions; k++) {
            const struct result_condition *c = &r->conditions.at[l->first_condition + k];
            has_more |= condition_hit(c) < 2 * c->terms;
        }
        if (has_more && text_is_asked_for(p, i))
            return true;
    }
    return false;
}

/* A source that cannot be read loses its excerpt, and the reason goes to out_lacks(), which makes
 * the command say so once. */
static void text_missing(const struct page *p)
{
    const struct coverage_result *r = p->s->result;
    struct source_text text = {0};
    for (size_t i = 0; i < p->shown; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        struct err why;
        if (!text_has_details(p, s))
            continue;
        out_char(p->out, '\n');
        text_name(p->out, s->path);
        if (p->style->shows_missing) {
            text_ranges(p, s, RESULT_MISSED, ": not run: ");
            text_ranges(p, s, RESULT_UNKNOWN, "; unknown: ");
        }
        out_char(p->out, '\n');
        bool wants_text =
            p->style->shows_missing || (p->style->shows_conditions && p->s->decisions_len);
        bool has_text = wants_text && s->file && source_text_read(&text, s->file, &why);
        if (has_text)
            source_text_index(&text);
        if (has_text && p->style->shows_missing)
            text_excerpt(p, s, &text);
        else if (p->style->shows_missing && s->file)
            out_lacks(p->out, &why);
        for (uint32_t k = s->first_line; p->style->shows_branches && k < s->first_line + s->lines;
             k++) {
            const struct result_line *l = &r->lines.at[k];
            struct out words = {.fd = -1};
            if (l->state == RESULT_HIT && text_is_asked_for(p, k) &&
                branches_missed_text(&words, r, l)) {
                out_printf(p->out, "  line %" PRIu32 ": ", l->line);
                out_bytes(p->out, words.at, words.len);
                out_char(p->out, '\n');
            }
            out_deinit(&words);
        }
        if (p->style->shows_conditions)
            text_missed_conditions(p, s, has_text ? &text : NULL);
    }
    source_text_deinit(&text);
}

/* ---- the patch */

/* Of a patch's file its changed lines, and which of them did not run. A range is of lines that are
 * neighbours in the result, of one state, and all changed. */
static void text_changed_file(const struct page *p, const struct diff_file *f)
{
    const struct coverage_result *r = p->s->result;
    char percent[16];
    if (f->source == (uint32_t)NO_INDEX) {
        if (f->added)
            out_printf(p->out, "%6s %9s  ", "-", "-"), text_name(p->out, f->path),
                out_str(p->out, " (no coverage data)\n");
        return;
    }
    ratio_text(percent, sizeof percent, &f->lines);
    out_printf(p->out, "%6s %4" PRIu64 "/%-4" PRIu64 "  ", percent, f->lines.hit, f->lines.all);
    text_name(p->out, f->path);
    bool has_any = false;
    for (uint32_t i = f->first_line, end; i < f->first_line + f->len; i = end) {
        const uint32_t *lines = p->s->diff->lines.at;
        uint8_t state = r->lines.at[lines[i]].state;
        for (end = i + 1; end < f->first_line + f->len && lines[end] == lines[end - 1] + 1 &&
                          r->lines.at[lines[end]].state == state;)
            end++;
        if (state == RESULT_HIT)
            continue;
        out_str(p->out, has_any ? ", " : "  not run: ");
        has_any = true;
        text_range_of_lines(p->out, r->lines.at[lines[i]].line, r->lines.at[lines[end - 1]].line);
        out_str(p->out, state == RESULT_UNKNOWN ? " (unknown)" : "");
    }
    out_char(p->out, '\n');
}

/* The sum is of lines with code: a patch of comments has none. */
static void text_changes(const struct page *p)
{
    const struct patch_coverage *d = p->s->diff;
    char percent[16];
    out_str(p->out, "\nLines changed by ");
    text_name(p->out, p->s->patch);
    out_str(p->out, ":\n");
    for (size_t i = 0; i < d->files.len; i++)
        text_changed_file(p, &d->files.at[i]);
    ratio_text(percent, sizeof percent, &d->sum);
    out_printf(p->out, "%6s %4" PRIu64 "/%-4" PRIu64 "  [all changed lines that hold code]\n",
               percent, d->sum.hit, d->sum.all);
}

/* The lists below the table are about these lines alone: with a patch, what else is missing of its
 * sources is not the question, and would bury the two lines that are. Lines around them are shown
 * with their marks, as they are. A limit changes the table, not this. */
static void text_mark_changed(struct page *p, struct arena *a)
{
    const struct patch_coverage *d = p->s->diff;
    bool *is_changed = ARENA_NEW(a, bool, p->s->result->lines.len + 1);
    for (size_t i = 0; i < d->lines.len; i++)
        is_changed[d->lines.at[i]] = true;
    p->is_asked_for = is_changed;
}

/* With a patch the table has the sources that it changes, in the same order: the others are not the
 * question, and would precede it by the hundred. A limit shows them. */
static void text_choose_changed(struct page *p, struct arena *a)
{
    const struct patch_coverage *d = p->s->diff;
    size_t sources = p->s->result->sources.len, shown = 0;
    bool *is_changed = ARENA_NEW(a, bool, sources + 1);
    uint32_t *ranking = ARENA_NEW(a, uint32_t, sources + 1);
    for (size_t i = 0; i < d->files.len; i++)
        if (d->files.at[i].source != (uint32_t)NO_INDEX)
            is_changed[d->files.at[i].source] = true;
    for (size_t i = 0; i < sources; i++)
        if (is_changed[p->ranking[i]])
            ranking[shown++] = p->ranking[i];
    p->ranking = ranking;
    p->shown = shown;
}

/* ---- functions that were asked for */

/* The lines of a function: up to the next one, where its end is not known. */
static void text_function_lines(const struct coverage_result *r, uint32_t number, uint32_t *from,
                                uint32_t *to)
{
    const struct result_function *f = &r->functions.at[number];
    const struct result_source *s = &r->sources.at[f->source];
    uint32_t end = f->end_line;
    for (uint32_t i = number + 1; end < f->start_line; i++)
        end = i == s->first_function + s->functions           ? UINT32_MAX - 1
              : r->functions.at[i].start_line > f->start_line ? r->functions.at[i].start_line - 1
                                                              : 0;
    *from = result_line_from(r, s, f->start_line);
    *to = result_line_from(r, s, end + 1);
}

static void text_count_line(struct coverage_ratio *sum, uint8_t state)
{
    sum->all++;
    sum->hit += state == RESULT_HIT;
    sum->unknown += state == RESULT_UNKNOWN;
}

/* The first line, and a table of them in place of that of sources:
 *
 *     66.7 % of the lines of 2 functions ran, 4 of 6
 *
 *     lines%  missed  lines         calls  function
 *       66.7       1      3            12  parse  a.c:12
 *
 * What follows is about their sources and lines. Instances of a template share lines, which count
 * once in the sum. */
static void text_choose_functions(struct page *p, struct arena *a)
{
    const struct coverage_result *r = p->s->result;
    bool *is_asked_for = ARENA_NEW(a, bool, r->lines.len + 1);
    uint32_t *ranking = ARENA_NEW(a, uint32_t, r->sources.len + 1), from, to;
    struct coverage_ratio sum = {0};
    struct out rows = {.fd = -1}, *out = p->out;
    size_t shown = 0, len = 0;
    char percent[16];
    p->out = &rows;
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        size_t before = len;
        for (uint32_t k = s->first_function; k < s->first_function + s->functions; k++) {
            struct coverage_ratio own = {0};
            if (!p->style->functions[k])
                continue;
            text_function_lines(r, k, &from, &to);
            for (uint32_t line = from; line < to; line++) {
                text_count_line(&own, r->lines.at[line].state);
                if (!is_asked_for[line])
                    text_count_line(&sum, r->lines.at[line].state);
                is_asked_for[line] = true;
            }
            text_ratio(p, &own, "  ");
            out_u64(&rows, own.all - own.unknown - own.hit, p->lines);
            out_char(&rows, ' ');
            out_u64(&rows, own.all, p->lines);
            out_str(&rows, "  ");
            text_function(p, &r->functions.at[k], a);
            len++;
        }
        if (len > before)
            ranking[shown++] = p->ranking[i];
    }
    p->out = out;
    p->ranking = ranking;
    p->shown = shown;
    p->is_asked_for = is_asked_for;
    ratio_text(percent, sizeof percent, &sum);
    if (sum.all > sum.unknown)
        out_printf(out, "%s %% of the lines of %zu function%s ran, %" PRIu64 " of %" PRIu64,
                   percent, len, text_plural(len), sum.hit, sum.all - sum.unknown);
    else
        out_str(out, "whether these functions ran is unknown");
    out_printf(out, "\n\n%6s  %*s %*s  %12s  function\n", "lines%", p->lines, "missed", p->lines,
               "lines", "calls");
    out_bytes(out, rows.at, rows.len);
    out_deinit(&rows);
}

/* The first line: the verdict of the gates, if there are any, and how many lines ran; of a patch,
 * how many of those that it changed. The gates themselves are at the end. */
static void text_answer(struct page *p)
{
    const struct coverage_ratio *lines = p->s->diff ? &p->s->diff->sum : &p->s->result->sums.lines;
    const char *which = p->s->diff ? "changed lines with code" : "lines";
    uint64_t known = lines->all - lines->unknown;
    char percent[16];
    struct err why;
    if (p->s->gates_len)
        out_printf(p->out, "%s: ",
                   gate_verdict_names[coverage_gates_conclude(p->s->gates, p->s->gates_len, &why)]);
    ratio_text(percent, sizeof percent, lines);
    if (known)
        out_printf(p->out, "%s %% of the %s ran, %" PRIu64 " of %" PRIu64, percent, which,
                   lines->hit, known);
    else
        out_printf(p->out, "no %s%s", which,
                   lines->unknown ? " of which it is known whether they ran"
                   : p->s->diff   ? ""
                                  : " with code");
    if (known && lines->unknown)
        out_printf(p->out, "; of %" PRIu64 " it is unknown", lines->unknown);
    out_str(p->out, "\n\n");
}

/* Answer, summary, notes, functions, what is missing, patch, gates: from the whole to its parts,
 * with what fails a build at the end, where a terminal stands. */
void coverage_text(struct out *out, const struct coverage_report *s,
                   const struct coverage_style *style)
{
    const struct coverage_ratios *sums = &s->result->sums;
    struct arena scratch = {0};
    int digits = text_digits(sums->lines.all);
    size_t sources = s->result->sources.len;
    struct page p = {.out = out,
                     .s = s,
                     .style = style,
                     .has_functions = sums->functions.all > 0,
                     .has_regions = sums->regions.all > 0,
                     .has_branches = sums->branches.all > 0,
                     .has_conditions = sums->conditions.all > 0,
                     .has_unknown = sums->lines.unknown > 0,
                     .ranking = sources_sorted(s->result, style->sort, &scratch),
                     .shown = style->limit && style->limit < sources ? style->limit : sources,
                     .lines = digits > 6 ? digits : 6};
    if (s->diff && !style->limit)
        text_choose_changed(&p, &scratch);
    if (s->diff)
        text_mark_changed(&p, &scratch);
    if (style->functions) {
        text_choose_functions(&p, &scratch);
    } else {
        text_answer(&p);
        text_table(&p);
    }
    text_notes(&p);
    if (style->shows_functions || style->shows_never_called)
        text_functions(&p);
    text_missing(&p);
    if (s->diff)
        text_changes(&p);
    if (s->gates_len)
        out_char(out, '\n');
    out_prose(out);
    for (size_t i = 0; i < p.s->gates_len; i++) {
        const struct coverage_gate *g = &p.s->gates[i];
        text_colour(&p, g->verdict == GATE_PASSED ? "\33[32m" : "\33[31m");
        out_printf(p.out,
                   "%s: ", g->verdict == GATE_FAILED ? "FAILED" : gate_verdict_names[g->verdict]);
        coverage_gate_text(p.out, g);
        out_str(p.out, "\n");
        text_colour(&p, "\33[0m");
    }
    out_prose_end(out);
    arena_deinit(&scratch);
}

/* --- Markdown --------------------------------------------------------------------------------- */

enum { SHOWN = 100 }; /* sources, unless --limit says otherwise: comments have a largest size */

/* Percentage with its fraction, so that one of two and half of a thousand differ; a dash where
 * nothing is known. */
static void ratio(struct out *out, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    if (r->all == r->unknown)
        out_str(out, " - |");
    else
        out_printf(out, " %s %% (%" PRIu64 "/%" PRIu64 ") |", percent, r->hit, r->all - r->unknown);
}

/* A row of the table, of kinds that there are. */
static void total(struct out *out, const char *name, const struct coverage_ratio *r)
{
    char percent[16];
    if (!r->all)
        return;
    ratio_text(percent, sizeof percent, r);
    out_printf(out, "| %s | %s %% | %" PRIu64 " | %" PRIu64 " |\n", name, percent, r->hit,
               r->all - r->unknown);
}

/* The changed lines come first: on a pull request they are the question. */
static void totals(struct out *out, const struct coverage_report *s)
{
    const struct coverage_ratios *sums = &s->result->sums;
    char percent[16];
    ratio_text(percent, sizeof percent, &sums->lines);
    out_printf(out, "## Coverage: %s %% of lines\n\n", percent);
    out_str(out, "| | covered | hit | all |\n|---|--:|--:|--:|\n");
    if (s->diff)
        total(out, "**changed lines**", &s->diff->sum);
    total(out, "lines", &sums->lines);
    total(out, "functions", &sums->functions);
    total(out, "regions", &sums->regions);
    total(out, "branches", &sums->branches);
    total(out, "conditions", &sums->conditions);
    out_char(out, '\n');
    for (size_t i = 0; i < s->gates_len; i++) {
        const struct coverage_gate *g = &s->gates[i];
        const char *bold = g->verdict == GATE_PASSED ? "" : "**";
        out_printf(out, "- %s%s%s: ", bold, gate_verdict_names[g->verdict], bold);
        coverage_gate_text(out, g);
        out_char(out, '\n');
    }
    if (s->gates_len)
        out_char(out, '\n');
}

/* As text_changed_file() has it, for a cell of the table. */
static void missed(struct out *out, const struct coverage_report *s, const struct diff_file *f)
{
    const uint32_t *lines = s->diff->lines.at;
    const struct coverage_result *r = s->result;
    bool has_any = false;
    for (uint32_t i = f->first_line, end; i < f->first_line + f->len; i = end) {
        uint8_t state = r->lines.at[lines[i]].state;
        for (end = i + 1; end < f->first_line + f->len && lines[end] == lines[end - 1] + 1 &&
                          r->lines.at[lines[end]].state == state;)
            end++;
        if (state == RESULT_HIT)
            continue;
        uint32_t first = r->lines.at[lines[i]].line, last = r->lines.at[lines[end - 1]].line;
        out_printf(out, last > first ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32,
                   has_any ? ", " : " ", first, last);
        out_str(out, state == RESULT_UNKNOWN ? " (unknown)" : "");
        has_any = true;
    }
    out_str(out, " |\n");
}

/* Files in which nothing was added are left out: there is no line to cover. */
static void changes(struct out *out, const struct coverage_report *s)
{
    if (!s->diff)
        return;
    out_str(out, "### Changed lines\n\n| source | covered | not run |\n|---|--:|---|\n");
    for (size_t i = 0; i < s->diff->files.len; i++) {
        const struct diff_file *f = &s->diff->files.at[i];
        if (!f->added)
            continue;
        out_str(out, "| ");
        text_markdown(out, f->path);
        out_str(out, " |");
        if (f->source == (uint32_t)NO_INDEX) {
            out_str(out, " no data | |\n");
            continue;
        }
        ratio(out, &f->lines);
        missed(out, s, f);
    }
    out_char(out, '\n');
}

/* Folded away: a comment is read for the changed lines. */
static void sources(struct out *out, const struct coverage_report *s,
                    const struct coverage_style *style)
{
    const struct coverage_result *r = s->result;
    struct arena scratch = {0};
    uint32_t *ranking = sources_sorted(r, style->sort, &scratch);
    size_t limit = style->limit ? style->limit : SHOWN;
    size_t shown = r->sources.len < limit ? r->sources.len : limit;
    out_printf(out, "<details><summary>%zu source%s</summary>\n\n", r->sources.len,
               text_plural(r->sources.len));
    out_str(out, "| source | lines | functions | branches |\n|---|--:|--:|--:|\n");
    for (size_t i = 0; i < shown; i++) {
        const struct result_source *source = &r->sources.at[ranking[i]];
        out_str(out, "| ");
        text_markdown(out, source->path);
        out_str(out, " |");
        ratio(out, &source->sums.lines);
        ratio(out, &source->sums.functions);
        ratio(out, &source->sums.branches);
        out_char(out, '\n');
    }
    if (shown < r->sources.len) {
        out_char(out, '\n');
        text_more(out, r->sources.len - shown, "source", NULL);
    }
    out_str(out, "\n</details>\n");
    arena_deinit(&scratch);
}

static void sentence(void *context, const char *value)
{
    struct out *out = context;
    out_str(out, "- ");
    text_markdown(out, value);
    out_char(out, '\n');
}

/* Losses and what was left out stand between the changed lines and the sources, as a list. */
void coverage_markdown(struct out *out, const struct coverage_report *s,
                       const struct coverage_style *style)
{
    totals(out, s);
    changes(out, s);
    for (size_t i = 0; i < s->problems->at.len; i++)
        if (s->problems->at.at[i].kind != PROBLEM_NOTE)
            sentence(out, s->problems->at.at[i].text);
    left_out_sentences(s, sentence, out);
    out_char(out, '\n');
    sources(out, s, style);
}
