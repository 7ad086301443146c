/* A comparison for people: a table on the terminal, and a comment on a pull request in Markdown.
 *
 * Both begin with the whole (time, memory, calls), then say how many rows changed, then list them
 * with old and new side by side. What is no chance is marked, by a star or in bold; colour says
 * that something grew. On a terminal the columns of times with callees but their change go first
 * where the width is too small, and the shares on less than 100; a comment shows 50 rows, as
 * comments have a largest size.
 *
 *     Old      old.monarc, 3 runs, 4000 samples        the sides
 *     New      new.monarc, 3 runs, 4400 samples
 *                       old      new     change        the whole run
 *     CPU time      1.000 s  1.100 s   +0.100 s  ...
 *     Changed  2 of 340 functions: 2 in self time
 *     Note     ...                                     caveats
 *     self s                       self%         total s
 *          old      new   change      +-    old    new   change   function
 *        0.400    0.500   +0.100*  0.010  40.00  45.45   +0.100*  parse
 *
 * Widths are fixed, but for numbers of calls; a name gets the rest of the width, LEAST_NAME columns
 * at least. The cost is that of the rows listed. */
#include "profile/report/writers.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns and the single spaces between them; two spaces separate groups. */
enum {
    SHARE_WIDTH = 6 + 1 + 6 + 1 + 8, /* old, new, change */
    TIME_WIDTH = 8 + 1 + 8 + 1 + 9 + 1 + 7,
    PAIR_WIDTH = 6 + 1 + 6,
    CHANGE_WIDTH = 9,
    LEAST_NAME = 20,
    ROOMY = 100 /* a table with shares, and names of which something is left */
};

static const char INLINED[] = " (inlined)";

/* State that the functions of the table share. `arena` holds the remarks until the table is
 * printed. */
struct comparison_layout {
    const struct comparison *c;
    const struct text_style *style;
    struct amount_scale scale;
    int calls;      /* width of a number of calls */
    bool is_narrow; /* no room for times with callees but their change */
    bool is_slim;   /* nor for shares beside times */
    struct arena *arena;
};

/* Wide enough for the largest count on either side. */
static int comparison_call_digits(const struct comparison *c)
{
    int width = 4;
    for (uint32_t i = 0; i < c->len; i++) {
        int old = text_digits((uint64_t)c->rows[i].old_calls);
        int new = text_digits((uint64_t)c->rows[i].new_calls);
        width = old > width ? old : width;
        width = new > width ? new : width;
    }
    return width;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* The whole run: a line a total, with the verdict in words. */
static void comparison_totals_text(struct out *out, const struct comparison *c)
{
    enum { VERDICT = 14 + 3 * 13 + 2, LEAST = 80 };
    int width = out->columns ? LEAST : INT_MAX; /* a file has no width */
    if (!c->totals.len)
        return;
    out_printf(out, "\n%-14s %12s %12s %12s\n", "", "old", "new", "change");
    for (size_t i = 0; i < c->totals.len; i++) {
        const struct total_change *t = &c->totals.at[i];
        char old[32], new[32], size[32], change[36];
        comparison_total_text(old, sizeof old, t, t->old);
        comparison_total_text(new, sizeof new, t, t->new);
        comparison_total_text(size, sizeof size, t, fabs(t->new - t->old));
        snprintf(change, sizeof change, "%s%s",
                 t->new > t->old   ? "+"
                 : t->new < t->old ? "-"
                                   : "",
                 size);
        out_printf(out, "%-14s %12s %12s %12s  ", t->label, old, new, change);
        text_words(out, t->text, VERDICT, out->columns > LEAST ? out->columns : width);
        out_char(out, '\n');
    }
    out_char(out, '\n');
}

/* --- the table ------------------------------------------------------------------------------- */

/* What precedes the name; a function of the same flags as the heads below. Must be changed together
 * with comparison_heads() and the functions that print the fields: this result decides where a name
 * is cut. */
static int comparison_width_used(const struct comparison_layout *l)
{
    const struct comparison *c = l->c;
    int used = c->compares_calls ? 2 * l->calls + 13 : 0;
    if (!c->compares_samples)
        return used;
    if (c->by_share)
        return used + 2 * (SHARE_WIDTH + 2);
    return used + TIME_WIDTH + 2 + (l->is_slim ? 0 : PAIR_WIDTH + 2) + CHANGE_WIDTH + 2 +
           (l->is_narrow ? 0 : 18);
}

/* Two lines: what is measured, and old and new of it. Groups of columns have their name in the
 * first line; a narrow table has no old and new of total time, so that its group is as wide as the
 * change alone. */
static void comparison_heads(struct out *out, const struct comparison_layout *l)
{
    const struct comparison *c = l->c;
    char unit[16], total[24];
    snprintf(unit, sizeof unit, "self %s", l->scale.unit);
    snprintf(total, sizeof total, "total %s", l->scale.unit);
    bool has_times = c->compares_samples && !c->by_share;
    int total_width = CHANGE_WIDTH + (l->is_narrow ? 0 : 18);
    if (has_times && l->is_slim)
        out_printf(out, "%-*s  %-*s  ", TIME_WIDTH, unit, total_width, total);
    else if (has_times)
        out_printf(out, "%-*s  %-*s  %-*s  ", TIME_WIDTH, unit, PAIR_WIDTH, "self%", total_width,
                   total);
    else if (c->compares_samples)
        out_printf(out, "%-*s  %-*s  ", SHARE_WIDTH, "self%", SHARE_WIDTH, "total%");
    if (c->compares_calls)
        out_str(out, "calls");
    out_char(out, '\n');
    if (has_times)
        out_printf(out, "%8s %8s %9s %7s  ", "old", "new", "change ", "+-");
    if (has_times && !l->is_slim)
        out_printf(out, "%6s %6s  ", "old", "new");
    if (has_times && !l->is_narrow)
        out_printf(out, "%8s %8s ", "old", "new");
    if (has_times)
        out_printf(out, "%9s  ", "change ");
    for (int i = 0; i < 2 && c->compares_samples && c->by_share; i++)
        out_printf(out, "%6s %6s %8s  ", "old", "new", "change ");
    if (c->compares_calls)
        out_printf(out, "%*s %*s %9s  ", l->calls, "old", l->calls, "new", "change");
    out_printf(out, "%s\n", comparison_row_word(c));
}

/* What a side's figure may be off by: a margin of the difference is that of both sides together. 0:
 * it is not known, as of time that waited for a CPU. */
static double side_error(const struct measured_change *s)
{
    return M_SQRT1_2 * fmax(s->margin, 0);
}

/* A function that a side has no samples of has a dash there. `is_there` false: such a side. */
static void comparison_side(struct out *out, bool is_there, double value, double error, int digits)
{
    enum { WIDTH = 8 };
    if (is_there)
        text_known(out, value, error, WIDTH, digits);
    else
        out_printf(out, "%*s%*s", WIDTH - digits - (digits > 0), "-", digits + (digits > 0), "");
    out_char(out, ' ');
}

/* Colour says growth alone: what became faster is no reason to look. The heat is the growth itself,
 * in shares of all samples. */
static void comparison_share_text(struct out *out, const struct comparison_layout *l,
                                  const struct measured_change *s)
{
    double heat = s->is_meant && s->new > s->old ? s->new - s->old : 0;
    text_known_share(out, s->old, side_error(s), 6, 2);
    out_char(out, ' ');
    text_known_share(out, s->new, side_error(s), 6, 2);
    out_char(out, ' ');
    text_heat_on(out, l->style, heat);
    text_known_change(out, 100 * (s->new - s->old), fmin(100 * fmax(s->margin, 0), 3.5), 7, 2,
                      s->is_meant ? "*" : " ");
    text_heat_off(out, l->style, heat);
    out_str(out, "  ");
}

/* A change that rounds to nothing has no sign. The heat is the growth by the time of the whole old
 * run, so that both forms colour alike. */
static void comparison_change_text(struct out *out, const struct comparison_layout *l,
                                   const struct measured_change *s)
{
    double change = s->new - s->old, all = l->c->old->time / l->c->old->runs;
    double heat = s->is_meant && change > 0 && all > 0 ? fmin(1, change / all) : 0;
    text_heat_on(out, l->style, heat);
    text_known_change(out, l->scale.factor * change, l->scale.factor * fmax(s->margin, 0), 8,
                      l->scale.digits, s->is_meant ? "*" : " ");
    text_heat_off(out, l->style, heat);
}

/* Whether a side has the function at all; what was renamed, it has by another name. */
static bool comparison_has_old(const struct change *row)
{
    return row->kind != CHANGE_NEW;
}

static bool comparison_has_new(const struct change *row)
{
    return row->kind != CHANGE_GONE;
}

/* Self time with its margin, shares, and time with callees. */
static void comparison_times_text(struct out *out, const struct comparison_layout *l,
                                  const struct change *row)
{
    const struct measured_change *self = &row->self_time, *total = &row->total_time;
    int digits = l->scale.digits;
    double factor = l->scale.factor;
    bool has_old = comparison_has_old(row), has_new = comparison_has_new(row);
    double error = factor * side_error(self);
    comparison_side(out, has_old, factor * self->old, error, digits);
    comparison_side(out, has_new, factor * self->new, error, digits);
    comparison_change_text(out, l, self);
    out_char(out, ' ');
    if (self->margin >= 0)
        text_known(out, factor * self->margin, factor * self->margin, 7, digits);
    else
        out_printf(out, "%7s", "?");
    out_str(out, "  ");
    if (!l->is_slim) {
        text_known_share(out, row->self.old, side_error(&row->self), 6, 2);
        out_char(out, ' ');
        text_known_share(out, row->self.new, side_error(&row->self), 6, 2);
        out_str(out, "  ");
    }
    if (!l->is_narrow) {
        error = factor * side_error(total);
        comparison_side(out, has_old, factor * total->old, error, digits);
        comparison_side(out, has_new, factor * total->new, error, digits);
    }
    comparison_change_text(out, l, total);
    out_str(out, "  ");
}

/* Averages of several runs need not be whole. */
static void comparison_calls_text(struct out *out, const struct comparison_layout *l,
                                  const struct change *row)
{
    char growth[32] = "";
    if (row->old_calls != row->new_calls)
        comparison_growth_text(growth, sizeof growth, row);
    out_printf(out, "%*.0f %*.0f %9s  ", l->calls, row->old_calls, l->calls, row->new_calls,
               growth);
}

/* What was not compared has no columns. The object follows names of libraries alone; a remark is
 * never cut: the name is, in its middle. */
static void comparison_row_text(struct out *out, const struct comparison_layout *l,
                                const struct change *row, int used)
{
    const struct comparison *c = l->c;
    const char *name = change_name(c, row), *remark = comparison_remark(c, row, l->arena);
    const struct identity *id = change_identity(c, row);
    bool has_times = c->compares_samples && !c->by_share;
    bool is_aside = !comparison_has_old(row) || !comparison_has_new(row);
    if (l->is_narrow && has_times && is_aside && row->old_calls + row->new_calls <= 0)
        remark = ""; /* the dash says it, and names need the room */
    if (has_times)
        comparison_times_text(out, l, row);
    else if (c->compares_samples) {
        comparison_share_text(out, l, &row->self);
        comparison_share_text(out, l, &row->total);
    }
    if (c->compares_calls)
        comparison_calls_text(out, l, row);
    int room = l->style->width - used - (int)strlen(remark) - 3 -
               (id->is_inlined ? (int)strlen(INLINED) : 0) -
               (row->file ? (int)strlen(row->file) + 3 : 0);
    if (l->style->width)
        text_symbol_within(out, name, room < LEAST_NAME ? LEAST_NAME : room);
    else
        text_name(out, name);
    text_function_place(out, row->file, id->is_made ? NULL : id->object, id->is_inlined);
    if (*remark) {
        out_str(out, " (");
        text_name(out, remark);
        out_char(out, ')');
    }
    out_char(out, '\n');
}

/* Notes of text are lines of the head, with its label in front. */
static void comparison_note_text(void *context, const char *sentence)
{
    struct out *out = context;
    out_printf(out, "Note     %s\n", sentence);
}

/* What is not listed, and what the star means. */
static void comparison_rests(struct out *out, const struct comparison *c)
{
    const char *word = comparison_row_word(c);
    if (c->unchanged)
        out_printf(out, "[%" PRIu32 " %s%s without a change, not shown]\n", c->unchanged, word,
                   text_plural(c->unchanged));
    text_more(out, c->limited, word, NULL);
    if (!c->len) /* no row has a star */
        return;
    out_prose(out);
    if (c->compares_samples && c->by_share)
        out_printf(out,
                   "\n*: by at least %.3g points, and not by chance (%.4g %% confidence for all "
                   "rows together)\n",
                   100 * c->rules.least, 100 * c->rules.confidence);
    else if (c->compares_samples)
        out_printf(out,
                   "\n*: by at least %.3g %% of the old side's time, and not by chance (%.4g %% "
                   "confidence for all rows together); +-: that of one row\n",
                   100 * c->rules.least, 100 * c->rules.confidence);
    out_prose_end(out);
}

/* How much of the whole's change the rows have. Rows that changed may add up to more or less than
 * the whole did: the rest is in rows of which each changed too little to differ from chance. By
 * shares there is no such sum. */
static void comparison_found_text(struct out *out, const struct comparison_layout *l)
{
    const struct comparison *c = l->c;
    double all = c->new->time / c->new->runs - c->old->time / c->old->runs;
    if (c->by_share || !c->self_changed || !c->compares_samples || c->one_waits)
        return;
    const int digits = l->scale.digits;
    out_str(out, "[* in self time: ");
    text_known_change(out, l->scale.factor * c->found_time, 0, 0, digits, " ");
    out_printf(out, "%s of ", l->scale.unit);
    text_known_change(out, l->scale.factor * all, 0, 0, digits, " ");
    out_printf(out, "%s]\n", l->scale.unit);
}

/* A terminal has a width, a file has none: then no column is left out and no name is cut. */
void comparison_text(struct out *out, const struct report_input *in)
{
    struct arena scratch = {0};
    const struct comparison *c = in->comparison;
    struct comparison_layout l = {.c = c,
                                  .style = &in->style,
                                  .scale = comparison_scale(c),
                                  .calls = comparison_call_digits(c),
                                  .is_narrow = in->style.width > 0,
                                  .is_slim = in->style.width > 0 && in->style.width < ROOMY,
                                  .arena = &scratch};
    const char *answer = comparison_answer(c, &scratch);
    if (answer) {
        text_name(out, answer);
        out_char(out, '\n');
    }
    out_str(out, "Old      "), comparison_side_text(out, c->old);
    out_str(out, "\nNew      "), comparison_side_text(out, c->new);
    out_char(out, '\n');
    comparison_totals_text(out, c);
    out_prose(out);
    out_str(out, "Changed  "), comparison_sum_text(out, c);
    out_char(out, '\n');
    comparison_notes(c, comparison_note_text, out);
    out_char(out, '\n');
    if (c->len)
        comparison_heads(out, &l);
    for (uint32_t i = 0; i < c->len; i++)
        comparison_row_text(out, &l, &c->rows[i], comparison_width_used(&l));
    comparison_found_text(out, &l);
    comparison_rests(out, c);
    arena_deinit(&scratch);
}

/* A comparison as a comment on a pull request. */

/* They are not cut at that where the user gave a limit. */
enum { SHOWN = 50 }; /* rows: comments have a largest size */

/* Bold is no chance, as the star on the terminal. */
static void markdown_share(struct out *out, const struct measured_change *s)
{
    const char *bold = s->is_meant ? "**" : "";
    out_printf(out, " %.2f | %.2f | %s%+.2f%s |", 100 * s->old, 100 * s->new, bold,
               100 * (s->new - s->old), bold);
}

/* Old, new, and change with the margin after a plus-minus sign in one cell; then the shares. */
static void markdown_time(struct out *out, const struct change *row,
                          const struct amount_scale *scale)
{
    const struct measured_change *s = &row->self_time;
    const char *bold = s->is_meant ? "**" : "";
    double factor = scale->factor;
    int digits = text_known_decimals(factor * fmax(s->margin, 0), scale->digits);
    out_printf(out, " %.*f | %.*f | %s%+.*f%s", digits, factor * s->old, digits, factor * s->new,
               bold, digits, factor * (s->new - s->old), bold);
    if (s->margin >= 0)
        out_printf(out, " \302\261 %.*f", digits, factor * s->margin);
    int known = text_known_decimals(100 * side_error(&row->self), 2);
    known = known ? known : 1; /* as shares of text */
    out_printf(out, " | %.*f | %.*f |", known, 100 * row->self.old, known, 100 * row->self.new);
}

/* The whole run as a table of its own, above that of functions. */
static void markdown_totals(struct out *out, const struct comparison *c)
{
    if (!c->totals.len)
        return;
    out_str(out, "| whole run | old | new | verdict |\n|---|--:|--:|---|\n");
    for (size_t i = 0; i < c->totals.len; i++) {
        const struct total_change *t = &c->totals.at[i];
        const char *bold = t->is_found ? "**" : "";
        char old[32], new[32];
        comparison_total_text(old, sizeof old, t, t->old);
        comparison_total_text(new, sizeof new, t, t->new);
        out_str(out, "| ");
        text_markdown(out, t->label);
        out_printf(out, " | %s | %s | %s%s%s |\n", old, new, bold, t->text, bold);
    }
    out_char(out, '\n');
}

/* Calls are counted, so that any difference is one: no interval, and an arrow only if they
 * differ. */
static void markdown_calls(struct out *out, const struct change *row)
{
    char growth[32] = "";
    if (row->old_calls != row->new_calls)
        comparison_growth_text(growth, sizeof growth, row);
    out_printf(out, " %.0f | %.0f | %s |", row->old_calls, row->new_calls, growth);
}

/* Names go through text_markdown(): a `|` of `operator|` would end its cell. */
static void markdown_row(struct out *out, const struct comparison *c, const struct change *row,
                         const struct amount_scale *scale)
{
    struct arena scratch = {0};
    const char *remark = comparison_remark(c, row, &scratch);
    out_str(out, "| ");
    text_markdown(out, change_name(c, row));
    if (row->file) {
        out_str(out, " (");
        text_markdown(out, row->file);
        out_char(out, ')');
    }
    if (change_identity(c, row)->is_inlined)
        out_str(out, INLINED);
    if (*remark) {
        out_str(out, " *(");
        text_markdown(out, remark);
        out_str(out, ")*");
    }
    out_str(out, " |");
    if (c->compares_samples && !c->by_share)
        markdown_time(out, row, scale);
    else if (c->compares_samples) {
        markdown_share(out, &row->self);
        markdown_share(out, &row->total);
    }
    if (c->compares_calls)
        markdown_calls(out, row);
    out_char(out, '\n');
    arena_deinit(&scratch);
}

/* Notes of Markdown are a list: a line break of the source is none of the page. */
static void markdown_note(void *context, const char *sentence)
{
    struct out *out = context;
    out_str(out, "- ");
    text_markdown(out, sentence);
    out_char(out, '\n');
}

/* One column a figure: merged heads are not in Markdown. The second line makes numbers flush right,
 * and has as many cells as the first. */
static void markdown_heads(struct out *out, const struct comparison *c,
                           const struct amount_scale *scale)
{
    int columns = 3 * c->compares_calls;
    out_printf(out, "| %s |", comparison_row_word(c));
    if (c->compares_samples)
        columns += c->by_share ? 6 : 5;
    if (c->compares_samples && !c->by_share)
        out_printf(out, " self %s old | new | change | self %% old | new |", scale->unit);
    else if (c->compares_samples)
        out_str(out, " self % old | new | change | total % old | new | change |");
    if (c->compares_calls)
        out_str(out, " calls old | new | change |");
    out_str(out, "\n|---|");
    for (int i = 0; i < columns; i++)
        out_str(out, "--:|");
    out_char(out, '\n');
}

/* The headline says what changed, the table where; how it was measured is folded into details,
 * since whoever reads a pull request wants the first two. */
void comparison_markdown(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    uint32_t shown = c->len > SHOWN && !c->rules.limit ? SHOWN : c->len;
    struct amount_scale scale = comparison_scale(c);
    out_str(out, "## Profile: changed ");
    comparison_sum_text(out, c);
    out_str(out, "\n\n");
    markdown_totals(out, c);
    if (shown)
        markdown_heads(out, c, &scale);
    for (uint32_t i = 0; i < shown; i++)
        markdown_row(out, c, &c->rows[i], &scale);
    if (c->len + c->limited > shown) {
        out_char(out, '\n');
        text_more(out, c->len + c->limited - shown, comparison_row_word(c), NULL);
    }
    out_str(out, "\n<details><summary>What was compared</summary>\n\n- old: ");
    comparison_side_text(out, c->old);
    out_str(out, "\n- new: ");
    comparison_side_text(out, c->new);
    out_char(out, '\n');
    comparison_notes(c, markdown_note, out);
    if (c->compares_samples)
        out_printf(out,
                   "- bold: by at least %.3g %s, and not by chance (%.4g %% confidence for "
                   "all rows together)\n",
                   100 * c->rules.least, c->by_share ? "points" : "% of the old side's time",
                   100 * c->rules.confidence);
    out_str(out, "\n</details>\n");
}
