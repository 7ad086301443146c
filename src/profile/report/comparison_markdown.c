/* A comparison as a comment on a pull request. */
#include "profile/report/comparison.h"

#include <inttypes.h>

enum { SHOWN = 50 }; /* rows: comments have a largest size */

static void markdown_share(struct out *out, const struct measured_change *s)
{
    const char *bold = s->is_meant ? "**" : "";
    out_printf(out, " %.2f | %.2f | %s%+.2f%s |", 100 * s->old, 100 * s->new, bold,
               100 * (s->new - s->old), bold);
}

static void markdown_time(struct out *out, const struct change *row,
                          const struct amount_scale *scale)
{
    const struct measured_change *s = &row->self_time;
    const char *bold = s->is_meant ? "**" : "";
    double factor = scale->factor;
    int digits = scale->digits;
    out_printf(out, " %.*f | %.*f | %s%+.*f%s \302\261 %.*f | %.2f | %.2f |", digits,
               factor * s->old, digits, factor * s->new, bold, digits, factor * (s->new - s->old),
               bold, digits, factor * s->margin, 100 * row->self.old, 100 * row->self.new);
}

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

static void markdown_calls(struct out *out, const struct change *row)
{
    char growth[32] = "";
    if (row->old_calls != row->new_calls)
        comparison_growth_text(growth, sizeof growth, row);
    out_printf(out, " %.0f | %.0f | %s |", row->old_calls, row->new_calls, growth);
}

static void markdown_row(struct out *out, const struct comparison *c, const struct change *row,
                         const struct amount_scale *scale)
{
    struct arena scratch = {0};
    const char *remark = comparison_remark(c, row, &scratch);
    out_str(out, "| ");
    text_markdown(out, change_name(c, row));
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

static void markdown_note(void *context, const char *sentence)
{
    struct out *out = context;
    out_str(out, "- ");
    text_markdown(out, sentence);
    out_char(out, '\n');
}

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
    if (c->len + c->limited > shown)
        out_printf(out, "\n%" PRIu32 " more %ss changed.\n", c->len + c->limited - shown,
                   comparison_row_word(c));
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
