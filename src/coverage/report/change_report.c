/* Coverage compared, in three forms that print one comparison: a table for the terminal, JSON
 * (docs/schema/diff_coverage.schema.json), and Markdown for the comment on a pull request.
 *
 * All three list the sources that differ in the order of the comparison, with both percentages and
 * the lines that no longer run or run now, as ranges. What is only on one side says so. A limit
 * cuts every list. Numbers come from struct coverage_change alone: nothing is computed here but
 * percentages.
 *
 *     Changed  2 of 40 sources
 *
 *                 old %  new %   change
 *     lines        81.0   83.5    +2.50   810/1000 -> 835/1000
 *
 *       old %  new %    change  source
 *        90.0   80.0    -10.00  a.c
 *                                no longer run: 12-15, 20
 *                   -       new  b.c
 *
 * Cost: one pass over the sources for each form, and one to count those that differ. */
#include "coverage/report/coverage_report.h"

#include "coverage/analysis/cross.h"
#include "output/formats.h"
#include "output/out.h"

#include <inttypes.h>

/* --- terminal -------------------------------------------------------------------------------- */

/* Coverage compared, for a terminal. */

/* A dash where nothing is counted. Unknown lines are no part of what is counted, on either side. */
static void change_percent(struct out *out, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    out_printf(out, "%7s", r->all == r->unknown ? "-" : percent);
}

/* One kind of thing on both sides; none of what neither has. The change is in points; where one
 * side counts nothing there is none. */
static void change_sum(struct out *out, const char *name, const struct coverage_ratio *old,
                       const struct coverage_ratio *new)
{
    if (!old->all && !new->all)
        return;
    out_printf(out, "%-10s", name);
    change_percent(out, old);
    change_percent(out, new);
    if (old->all > old->unknown && new->all > new->unknown)
        out_printf(out, " %+8.2f", ratio_percent(new) - ratio_percent(old));
    else
        out_spaces(out, 9);
    out_printf(out, "   %" PRIu64 "/%" PRIu64 " -> %" PRIu64 "/%" PRIu64 "\n", old->hit,
               old->all - old->unknown, new->hit, new->all - new->unknown);
}

/* Lines come ascending, each once. Ranges are of neighbouring numbers: what lies between two of
 * them is no line that changed. */
static void changed_lines_text(struct out *out, const struct changed_line *lines, uint32_t len)
{
    for (uint32_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && lines[end].line == lines[end - 1].line + 1;)
            end++;
        out_printf(out, "%s%" PRIu32, i ? ", " : "", lines[i].line);
        if (end - i > 1)
            out_printf(out, "-%" PRIu32, lines[end - 1].line);
    }
}

/* "new", "gone", or "" */
static const char *source_change_remark(const struct source_change *s)
{
    return s->old == NO_SOURCE ? "new" : s->new == NO_SOURCE ? "gone" : "";
}

/* Nothing, where no line is of that kind. */
static void change_lines_row(struct out *out, const char *what, const struct changed_line *lines,
                             uint32_t len)
{
    if (!len)
        return;
    out_printf(out, "%27s%s ", "", what);
    changed_lines_text(out, lines, len);
    out_char(out, '\n');
}

/* A source of one side has its percentage there, blanks on the other, and a word for the change. */
static void change_row(struct out *out, const struct coverage_change *c,
                       const struct source_change *s)
{
    const char *remark = source_change_remark(s);
    if (s->old == NO_SOURCE)
        out_printf(out, "%7s", "");
    else
        change_percent(out, &s->old_sums.lines);
    if (s->new == NO_SOURCE)
        out_printf(out, "%7s", "");
    else
        change_percent(out, &s->new_sums.lines);
    if (*remark)
        out_printf(out, " %9s  ", remark);
    else
        out_printf(out, " %+9.2f  ", source_change_points(s));
    text_name(out, s->path);
    out_char(out, '\n');
    change_lines_row(out, "no longer run:", source_lost(c, s), s->lost);
    change_lines_row(out, "run now:", source_gained(c, s), s->gained);
}

/* Sums, then a row a source that differs, with its lines below. */
static void change_text(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    const struct coverage_ratios *o = &c->old_sums, *n = &c->new_sums;
    size_t changed = change_count(c), shown = 0;
    out_str(out, "Old      "), text_name(out, r->old);
    out_str(out, "\nNew      "), text_name(out, r->new);
    out_printf(out, "\nChanged  %zu of %zu source%s\n\n", changed, c->sources.len,
               text_plural(c->sources.len));
    out_printf(out, "%-10s%7s%7s %8s\n", "", "old %", "new %", "change");
    change_sum(out, "lines", &o->lines, &n->lines);
    change_sum(out, "functions", &o->functions, &n->functions);
    change_sum(out, "regions", &o->regions, &n->regions);
    change_sum(out, "branches", &o->branches, &n->branches);
    change_sum(out, "conditions", &o->conditions, &n->conditions);
    if (changed || r->shows_all)
        out_printf(out, "\n%7s%7s %9s  source\n", "old %", "new %", "change");
    for (size_t i = 0; i < c->sources.len; i++) {
        const struct source_change *s = &c->sources.at[i];
        if (!r->shows_all && !source_change_is_any(s))
            continue;
        if (r->limit && shown >= r->limit)
            break;
        change_row(out, c, s);
        shown++;
    }
    text_more(out, (r->shows_all ? c->sources.len : changed) - shown, "source", NULL);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Coverage compared, as JSON: docs/schema/diff_coverage.schema.json. */

/* Numbers, no percentages: programs choose what unknown lines are to count as. */
static void change_json_ratio(struct json *j, const char *key, const struct coverage_ratio *r)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

static void change_json_sums(struct json *j, const char *key, const struct coverage_ratios *s)
{
    json_key(j, key), json_begin(j, '{');
    change_json_ratio(j, "lines", &s->lines);
    change_json_ratio(j, "functions", &s->functions);
    change_json_ratio(j, "branches", &s->branches);
    change_json_ratio(j, "conditions", &s->conditions);
    change_json_ratio(j, "regions", &s->regions);
    json_end(j);
}

static void change_json_lines(struct json *j, const char *key, const struct changed_line *lines,
                              uint32_t len)
{
    JSON_ITEMS(j, key, i, len)
        json_u64(j, lines[i].line);
}

/* `old` and `new` are null on the side that has no such source. `compared_lines` is how many lines
 * could be matched. */
static void change_json_source(struct json *j, const struct coverage_change *c,
                               const struct source_change *s)
{
    json_begin(j, '{');
    json_pair_str(j, "path", s->path);
    json_key(j, "old");
    if (s->old == NO_SOURCE)
        json_none(j);
    else
        json_begin(j, '{'), change_json_sums(j, "sums", &s->old_sums), json_end(j);
    json_key(j, "new");
    if (s->new == NO_SOURCE)
        json_none(j);
    else
        json_begin(j, '{'), change_json_sums(j, "sums", &s->new_sums), json_end(j);
    json_pair_u64(j, "compared_lines", s->compared);
    change_json_lines(j, "no_longer_run", source_lost(c, s), s->lost);
    change_json_lines(j, "run_now", source_gained(c, s), s->gained);
    json_end(j);
}

/* Whole lists of lines: programs make ranges themselves. */
static void change_json(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    struct json j = {.out = out};
    size_t shown = 0;
    json_document_begin(&j, "diff_coverage");
    json_pair_str(&j, "old", r->old);
    json_pair_str(&j, "new", r->new);
    json_key(&j, "summary"), json_begin(&j, '{');
    change_json_sums(&j, "old", &c->old_sums);
    change_json_sums(&j, "new", &c->new_sums);
    json_pair_u64(&j, "sources", c->sources.len);
    json_pair_u64(&j, "changed", change_count(c));
    json_end(&j);
    json_key(&j, "sources"), json_begin(&j, '[');
    for (size_t i = 0; i < c->sources.len && (!r->limit || shown < r->limit); i++) {
        const struct source_change *s = &c->sources.at[i];
        if (!r->shows_all && !source_change_is_any(s))
            continue;
        change_json_source(&j, c, s);
        shown++;
    }
    json_end(&j);
    json_end(&j);
}

/* --- Markdown -------------------------------------------------------------------------------- */

/* Coverage compared, as a comment on a pull request. */

enum { SHOWN = 50 }; /* sources, unless a limit says otherwise: comments have a largest size */

/* A dash where the source is not on that side, or has nothing that is counted. */
static void markdown_percent(struct out *out, bool is_there, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    out_printf(out, " %s |", is_there && r->all > r->unknown ? percent : "-");
}

/* Ranges in one cell, so that a row stays a row however many lines changed. */
static void markdown_lines(struct out *out, const char *what, const struct changed_line *lines,
                           uint32_t len)
{
    if (!len)
        return;
    out_printf(out, " %s ", what);
    changed_lines_text(out, lines, len);
}

/* Lines stand in the last column, as ranges: a cell of Markdown cannot hold a list. */
static void markdown_row(struct out *out, const struct coverage_change *c,
                         const struct source_change *s)
{
    const char *remark = source_change_remark(s);
    out_str(out, "| ");
    text_markdown(out, s->path);
    out_str(out, " |");
    markdown_percent(out, s->old != NO_SOURCE, &s->old_sums.lines);
    markdown_percent(out, s->new != NO_SOURCE, &s->new_sums.lines);
    if (*remark)
        out_printf(out, " %s |", remark);
    else
        out_printf(out, " %+.2f |", source_change_points(s));
    markdown_lines(out, "no longer run:", source_lost(c, s), s->lost);
    markdown_lines(out, "run now:", source_gained(c, s), s->gained);
    out_str(out, " |\n");
}

/* Sums are in bold, in the same table as the sources, above them. */
static void markdown_sum(struct out *out, const char *name, const struct coverage_ratio *old,
                         const struct coverage_ratio *new)
{
    if (!old->all && !new->all)
        return;
    out_printf(out, "| **%s** |", name);
    markdown_percent(out, true, old);
    markdown_percent(out, true, new);
    if (old->all > old->unknown && new->all > new->unknown)
        out_printf(out, " %+.2f | |\n", ratio_percent(new) - ratio_percent(old));
    else
        out_str(out, " | |\n");
}

/* A comment has a largest size, and says what it leaves out. */
static void change_markdown(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    size_t changed = change_count(c), shown = 0, limit = r->limit ? r->limit : SHOWN;
    out_printf(out, "## Coverage: %zu of %zu source%s changed\n\n", changed, c->sources.len,
               text_plural(c->sources.len));
    out_str(out, "| | old % | new % | change | lines |\n|---|--:|--:|--:|---|\n");
    markdown_sum(out, "lines", &c->old_sums.lines, &c->new_sums.lines);
    markdown_sum(out, "functions", &c->old_sums.functions, &c->new_sums.functions);
    markdown_sum(out, "regions", &c->old_sums.regions, &c->new_sums.regions);
    markdown_sum(out, "branches", &c->old_sums.branches, &c->new_sums.branches);
    markdown_sum(out, "conditions", &c->old_sums.conditions, &c->new_sums.conditions);
    for (size_t i = 0; i < c->sources.len && shown < limit; i++) {
        const struct source_change *s = &c->sources.at[i];
        if (!r->shows_all && !source_change_is_any(s))
            continue;
        markdown_row(out, c, s);
        shown++;
    }
    if (shown < changed) {
        out_char(out, '\n');
        text_more(out, changed - shown, "source", NULL);
    }
}

/* --- the table of forms, and what they share ------------------------------------------------- */

/* The third column says that a form is for people, and may be paged. Text is the default. */
const struct change_format change_formats[] = {
    {"text", change_text, true},
    {"json", change_json, false},
    {"markdown", change_markdown, false},
};
const size_t change_formats_len = sizeof change_formats / sizeof *change_formats;

const struct change_format *change_format_find(const char *name)
{
    for (size_t i = 0; i < change_formats_len; i++)
        if (!strcmp(change_formats[i].name, name ? name : "text"))
            return &change_formats[i];
    return NULL;
}

/* Of all sources, whatever a limit shows. */
size_t change_count(const struct coverage_change *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->sources.len; i++)
        count += source_change_is_any(&c->sources.at[i]);
    return count;
}

/* ---- two compilers */

/* [FIRST, SECOND] in JSON. */
static void cross_pair(struct facts *w, const char *key, uint64_t first, uint64_t second)
{
    if (!w->json)
        return;
    JSON_ITEMS(w->json, key, i, 2)
        json_u64(w->json, i ? second : first);
}

/* Where two compilers count differently, and who cannot be right (docs/schema/cross.schema.json):
 *
 *     Sources  1 compared: 40 lines have code in both, 2 counts differ
 *              3 lines have code in gcc alone, 11 in clang alone
 *
 *              gcc        clang  line
 *                5            4  a.c:12  clang breaks a law: lines 11 and 12 are one block, 5 and 4
 *
 * Every difference is listed, in text as well: there should be none. In JSON a side that breaks no
 * law has null. */
void cross_facts(struct facts *w, const struct cross *c, const struct coverage_result *first,
                 const char *const sides[2])
{
    static const struct {
        const char *json, *text;
    } LAWS[] = {{"none", ""},
                {"block", " are one block, "},
                {"call", " follow each other, "},
                {"jump", " follow each other, the first is a jump, "}};
    if (w->json) {
        json_document_begin(w->json, "cross");
        JSON_ITEMS(w->json, "sides", i, 2)
            json_str(w->json, sides[i]);
    }
    facts_begin(w, "summary");
    fact(w, "sources", field_u64(c->sources), "Sources  * compared: ");
    fact(w, "lines", field_u64(c->compared), "* lines have code in both, ");
    fact(w, "differ", field_u64(c->lines.len), "* counts differ\n");
    cross_pair(w, "alone", c->alone[0], c->alone[1]);
    fact(w, NULL, field_u64(c->alone[0]), "         * lines have code in ");
    fact(w, NULL, field_text(sides[0]), "* alone, ");
    fact(w, NULL, field_u64(c->alone[1]), "* in ");
    fact(w, NULL, field_text(sides[1]), "* alone\n");
    fact_nonzero(w, "unread_sources", c->unread,
                 "Note     * source~ cannot be read, so no law is applied there\n");
    facts_end(w);
    if (w->out && c->lines.len)
        out_printf(w->out, "\n%12.12s %12.12s  line\n", sides[0], sides[1]);
    size_t rows = facts_rows(w, "lines");
    for (size_t i = 0; i < c->lines.len; i++) {
        const struct cross_line *l = &c->lines.at[i];
        facts_row(w, &rows);
        if (w->out)
            out_printf(w->out, "%12" PRIu64 " %12" PRIu64 "  ", l->count[0], l->count[1]);
        fact(w, "source", field_text(first->sources.at[l->source].path), "*");
        fact(w, "line", field_u64(l->line), ":*");
        cross_pair(w, "counts", l->count[0], l->count[1]);
        facts_rows(w, "breaches");
        for (int side = 0; side < 2; side++) {
            const struct cross_breach *b = &l->breach[side];
            if (b->law == CROSS_NONE) {
                if (w->json)
                    json_none(w->json);
                continue;
            }
            if (w->json)
                json_begin(w->json, '{');
            fact(w, NULL, field_text(sides[side]), "  * breaks a law: ");
            fact(w, "law", field_text(LAWS[b->law].json), NULL);
            cross_pair(w, "lines", b->first, b->second);
            cross_pair(w, "counts", b->first_count, b->second_count);
            fact(w, NULL, field_u64(b->first), "lines * and ");
            fact(w, NULL, field_u64(b->second), "*");
            fact_text(w, LAWS[b->law].text);
            fact(w, NULL, field_u64(b->first_count), "* and ");
            fact(w, NULL, field_u64(b->second_count), "*");
            facts_end(w);
        }
        facts_rows_end(w, 0, 0);
        fact_text(w, "\n");
    }
    if (w->json)
        facts_rows_end(w, 0, rows), json_end(w->json);
}
