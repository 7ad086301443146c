/* A comparison as a comment on a pull request. */
#include "profile/report/comparison.h"

#include <inttypes.h>

enum { SHOWN = 50 }; /* rows: comments have a largest size */

static void markdown_share(struct out *out, const struct share_change *s)
{
    const char *bold = s->is_meant ? "**" : "";
    out_printf(out, " %.2f | %.2f | %s%+.2f%s |", 100 * s->old, 100 * s->new, bold,
               100 * (s->new - s->old), bold);
}

static void markdown_calls(struct out *out, const struct change *row)
{
    char growth[32] = "";
    if (row->old_calls != row->new_calls)
        comparison_growth_text(growth, sizeof growth, row);
    out_printf(out, " %.0f | %.0f | %s |", row->old_calls, row->new_calls, growth);
}

static void markdown_row(struct out *out, const struct comparison *c, const struct change *row)
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
    if (c->compares_samples) {
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

static void markdown_heads(struct out *out, const struct comparison *c)
{
    out_printf(out, "| %s |", comparison_row_word(c));
    if (c->compares_samples)
        out_str(out, " self % old | new | change | total % old | new | change |");
    if (c->compares_calls)
        out_str(out, " calls old | new | change |");
    out_str(out, "\n|---|");
    for (int i = 0; i < 6 * c->compares_samples + 3 * c->compares_calls; i++)
        out_str(out, "--:|");
    out_char(out, '\n');
}

void comparison_markdown(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    uint32_t shown = c->len > SHOWN && !c->rules.limit ? SHOWN : c->len;
    out_str(out, "## Profile: changed ");
    comparison_sum_text(out, c);
    out_str(out, "\n\n");
    if (shown)
        markdown_heads(out, c);
    for (uint32_t i = 0; i < shown; i++)
        markdown_row(out, c, &c->rows[i]);
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
                   "- bold: by at least %.3g points, and not by chance (%.4g %% confidence for "
                   "all rows together)\n",
                   100 * c->rules.least, 100 * c->rules.confidence);
    out_str(out, "\n</details>\n");
}
