/* The summary table of a terminal, and the lists below it: functions, what is missing, the patch.
 */
#include "coverage/report/coverage_report.h"

#include "output/text.h"

#include <inttypes.h>
#include <stdio.h>

struct page {
    struct out *out;
    const struct cover_story *s;
    const struct cover_style *style;
    bool has_functions, has_branches, has_conditions, has_unknown;
    const uint32_t *ranking; /* sources in the order wanted, the first `shown` of them */
    size_t shown;
    int lines; /* width of the columns of line numbers */
};

static const char *colour_of(const struct cover_ratio *r)
{
    double percent = cover_percent(r);
    return percent >= 90 ? "\33[32m" : percent >= 75 ? "\33[33m" : "\33[31m";
}

static void colour(const struct page *p, const char *code)
{
    if (p->style->has_colour)
        out_str(p->out, code);
}

static void ratio(const struct page *p, const struct cover_ratio *r, const char *after)
{
    char percent[16];
    bool has_any = r->all > r->unknown;
    cover_percent_text(percent, sizeof percent, r);
    if (has_any)
        colour(p, colour_of(r));
    out_printf(p->out, "%6s", percent);
    if (has_any)
        colour(p, "\33[0m");
    out_str(p->out, after);
}

static void row(const struct page *p, const struct cover_sums *sums)
{
    ratio(p, &sums->lines, "  ");
    out_u64(p->out, sums->lines.all - sums->lines.unknown - sums->lines.hit, p->lines);
    out_str(p->out, " ");
    out_u64(p->out, sums->lines.all, p->lines);
    out_str(p->out, "  ");
    if (p->has_unknown) {
        out_u64(p->out, sums->lines.unknown, 7);
        out_str(p->out, "  ");
    }
    if (p->has_functions)
        ratio(p, &sums->functions, "    ");
    if (p->has_branches)
        ratio(p, &sums->branches, "   ");
    if (p->has_conditions)
        ratio(p, &sums->conditions, "      ");
}

static void head(const struct page *p)
{
    out_printf(p->out, "%6s  %*s %*s  ", "lines%", p->lines, "missed", p->lines, "lines");
    if (p->has_unknown)
        out_printf(p->out, "%7s  ", "unknown");
    if (p->has_functions)
        out_str(p->out, "functions%");
    if (p->has_branches)
        out_str(p->out, " branches%");
    if (p->has_conditions)
        out_str(p->out, "  conditions%");
    out_str(p->out, "  source\n");
}

static void table(const struct page *p)
{
    const struct cover_result *r = p->s->result;
    head(p);
    for (size_t i = 0; i < p->shown; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        row(p, &s->sums);
        out_str(p->out, "  ");
        text_name(p->out, s->path);
        out_char(p->out, '\n');
    }
    row(p, &r->sums);
    out_printf(p->out, "  [all of %zu source%s]\n", r->sources.len, r->sources.len == 1 ? "" : "s");
}

static void sentence(void *context, const char *text)
{
    struct page *p = context;
    out_str(p->out, "  ");
    text_name(p->out, text);
    out_char(p->out, '\n');
}

static void notes(struct page *p)
{
    const struct cover_problems *problems = p->s->problems;
    enum { SHOWN = 5 };
    size_t shown = 0;
    cover_left_out(p->s, sentence, p);
    for (size_t i = 0; i < problems->at.len; i++) {
        const struct cover_problem *problem = &problems->at.at[i];
        if (problem->kind == PROBLEM_NOTE && shown++ >= SHOWN)
            continue;
        colour(p, problem->kind == PROBLEM_NOTE ? "" : "\33[31m");
        sentence(p, problem->text);
        colour(p, problem->kind == PROBLEM_NOTE ? "" : "\33[0m");
    }
    if (shown > SHOWN)
        out_printf(p->out, "  ... and %zu more; --json names all\n", shown - SHOWN);
}

/* ---- functions */

static const char *state_word(uint8_t state)
{
    return state == RESULT_HIT ? "" : state == RESULT_MISSED ? "never called" : "unknown";
}

static void function(const struct page *p, const struct result_function *f, struct arena *scratch)
{
    if (f->state == RESULT_HIT) {
        out_u64(p->out, f->count, 12);
    } else {
        colour(p, f->state == RESULT_MISSED ? "\33[31m" : "\33[33m");
        out_printf(p->out, "%12s", state_word(f->state));
        colour(p, "\33[0m");
    }
    out_str(p->out, "  ");
    text_name(p->out, f->name);
    out_str(p->out, "  ");
    text_name(p->out, p->s->result->sources.at[f->source].path);
    out_printf(p->out, ":%" PRIu32, f->start_line);
    if (f->is_partly_unknown)
        out_printf(p->out, "  (%s%s)", f->state == RESULT_HIT ? "at least; " : "",
                   cover_unknown_reason(f, scratch));
    else if (f->is_repaired)
        out_str(p->out, "  (repaired)");
    out_char(p->out, '\n');
}

static void functions(const struct page *p)
{
    const struct cover_result *r = p->s->result;
    struct arena scratch = {0};
    out_printf(p->out, "\n%12s  function\n", "calls");
    for (size_t i = 0; i < r->sources.len; i++)
        for (uint32_t k = 0; k < r->sources.at[i].functions; k++)
            function(p, &r->functions.at[r->sources.at[i].first_function + k], &scratch);
    arena_deinit(&scratch);
}

/* ---- what is missing */

static void source_text(const struct page *p, const struct source_text *text, uint32_t number,
                        char mark)
{
    struct bytes line = source_line(text, number);
    if (!line.at)
        return;
    colour(p, mark == '!' ? "\33[31m" : mark == '?' ? "\33[33m" : "\33[2m");
    out_printf(p->out, "%8" PRIu32 " %c  ", number, mark);
    for (size_t i = 0; i < line.len && i < 200; i++) {
        unsigned char c = line.at[i];
        out_char(p->out, c == '\t' || c >= ' ' ? (char)(c == 127 ? '?' : c) : '?');
    }
    colour(p, "\33[0m");
    out_char(p->out, '\n');
}

static void range_of_lines(struct out *out, uint32_t first, uint32_t last)
{
    out_printf(out, last > first ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, first, last);
}

/* "12-15, 20" of the lines in a state. */
static bool ranges(struct out *out, const struct cover_result *r, const struct result_source *s,
                   uint8_t state, const char *before)
{
    bool has_any = false;
    for (uint32_t i = s->first_line, end; i < s->first_line + s->lines; i = end) {
        end = cover_run_end(r, s, i);
        if (r->lines.at[i].state != state)
            continue;
        out_str(out, has_any ? ", " : before);
        has_any = true;
        range_of_lines(out, r->lines.at[i].line, r->lines.at[end - 1].line);
    }
    return has_any;
}

static char mark_of(const struct cover_result *r, const struct result_source *s, uint32_t *at,
                    uint32_t number)
{
    while (*at < s->first_line + s->lines && r->lines.at[*at].line < number)
        ++*at;
    if (*at == s->first_line + s->lines || r->lines.at[*at].line != number)
        return ' ';
    uint8_t state = r->lines.at[*at].state;
    return state == RESULT_MISSED ? '!' : state == RESULT_UNKNOWN ? '?' : ' ';
}

/* The ranges' text, with lines around them; ranges that come near each other are one piece. */
static void excerpt(const struct page *p, const struct result_source *s,
                    const struct source_text *text)
{
    const struct cover_result *r = p->s->result;
    uint32_t at = s->first_line;
    uint64_t printed = 0;
    for (uint32_t i = s->first_line, end; i < s->first_line + s->lines; i = end) {
        end = cover_run_end(r, s, i);
        if (r->lines.at[i].state == RESULT_HIT)
            continue;
        uint64_t context = p->style->context, first = r->lines.at[i].line;
        uint64_t last = r->lines.at[end - 1].line + context;
        first = first > context ? first - context : 1;
        if (printed && first > printed + 1)
            out_str(p->out, "         ...\n");
        first = first > printed ? first : printed + 1;
        last = last < text->lines ? last : text->lines;
        for (uint64_t n = first; n <= last; n++)
            source_text(p, text, (uint32_t)n, mark_of(r, s, &at, (uint32_t)n));
        printed = last > printed ? last : printed;
    }
}

static void missed_branches(const struct page *p, const struct result_source *s)
{
    const struct cover_result *r = p->s->result;
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        struct out text = {.fd = -1};
        if (l->state == RESULT_HIT && cover_branches_missed(&text, r, l)) {
            out_printf(p->out, "  line %" PRIu32 ": ", l->line);
            out_bytes(p->out, text.at, text.len);
            out_char(p->out, '\n');
        }
        out_deinit(&text);
    }
}

static void missed_conditions(const struct page *p, const struct result_source *s)
{
    const struct cover_result *r = p->s->result;
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        for (uint32_t k = 0; k < l->conditions; k++) {
            const struct result_condition *c = &r->conditions.at[l->first_condition + k];
            if (condition_hit(c) == 2 * c->terms)
                continue;
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
}

static bool has_details(const struct page *p, const struct result_source *s)
{
    const struct cover_sums *sums = &s->sums;
    return (p->style->shows_missing && sums->lines.hit < sums->lines.all) ||
           (p->style->shows_branches && sums->branches.hit < sums->branches.all) ||
           (p->style->shows_conditions && sums->conditions.hit < sums->conditions.all);
}

static void missing(const struct page *p)
{
    const struct cover_result *r = p->s->result;
    struct source_text text = {0};
    for (size_t i = 0; i < p->shown; i++) {
        const struct result_source *s = &r->sources.at[p->ranking[i]];
        struct err ignored;
        if (!has_details(p, s))
            continue;
        out_char(p->out, '\n');
        text_name(p->out, s->path);
        if (p->style->shows_missing) {
            ranges(p->out, r, s, RESULT_MISSED, ": not run: ");
            ranges(p->out, r, s, RESULT_UNKNOWN, "; unknown: ");
        }
        out_char(p->out, '\n');
        if (p->style->shows_missing && s->file && source_text_read(&text, s->file, &ignored)) {
            source_text_index(&text);
            excerpt(p, s, &text);
        }
        if (p->style->shows_branches)
            missed_branches(p, s);
        if (p->style->shows_conditions)
            missed_conditions(p, s);
    }
    source_text_deinit(&text);
}

/* ---- the patch */

static void changed_file(const struct page *p, const struct diff_file *f)
{
    const struct cover_result *r = p->s->result;
    char percent[16];
    if (f->source == (uint32_t)COVER_NONE) {
        if (f->added)
            out_printf(p->out, "%6s %9s  ", "-", "-"), text_name(p->out, f->path),
                out_str(p->out, " (no coverage data)\n");
        return;
    }
    cover_percent_text(percent, sizeof percent, &f->lines);
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
        range_of_lines(p->out, r->lines.at[lines[i]].line, r->lines.at[lines[end - 1]].line);
        out_str(p->out, state == RESULT_UNKNOWN ? " (unknown)" : "");
    }
    out_char(p->out, '\n');
}

static void changes(const struct page *p)
{
    const struct cover_diff *d = p->s->diff;
    char percent[16];
    out_str(p->out, "\nLines changed by ");
    text_name(p->out, p->s->patch);
    out_str(p->out, ":\n");
    for (size_t i = 0; i < d->files.len; i++)
        changed_file(p, &d->files.at[i]);
    cover_percent_text(percent, sizeof percent, &d->sum);
    out_printf(p->out, "%6s %4" PRIu64 "/%-4" PRIu64 "  [all changed lines that hold code]\n",
               percent, d->sum.hit, d->sum.all);
}

static void gates(const struct page *p)
{
    for (size_t i = 0; i < p->s->gates_len; i++) {
        const struct cover_gate *g = &p->s->gates[i];
        colour(p, g->has_failed ? "\33[31m" : "\33[32m");
        out_printf(p->out, "%s: ", g->has_failed ? "FAILED" : "passed");
        cover_gate_text(p->out, g);
        out_str(p->out, "\n");
        colour(p, "\33[0m");
    }
}

void cover_text(struct out *out, const struct cover_story *s, const struct cover_style *style)
{
    const struct cover_sums *sums = &s->result->sums;
    struct arena scratch = {0};
    int digits = text_digits(sums->lines.all);
    size_t sources = s->result->sources.len;
    struct page p = {.out = out,
                     .s = s,
                     .style = style,
                     .has_functions = sums->functions.all > 0,
                     .has_branches = sums->branches.all > 0,
                     .has_conditions = sums->conditions.all > 0,
                     .has_unknown = sums->lines.unknown > 0,
                     .ranking = cover_ranking(s->result, style->order, &scratch),
                     .shown = style->limit && style->limit < sources ? style->limit : sources,
                     .lines = digits > 6 ? digits : 6};
    table(&p);
    notes(&p);
    if (style->shows_functions)
        functions(&p);
    missing(&p);
    if (s->diff)
        changes(&p);
    if (s->gates_len)
        out_char(out, '\n');
    gates(&p);
    arena_deinit(&scratch);
}
