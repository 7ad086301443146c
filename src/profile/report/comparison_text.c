/* A comparison as a table for a terminal: old and new side by side. */
#include "profile/report/comparison.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHARE_WIDTH = 6 + 1 + 6 + 1 + 8, LEAST_NAME = 20 };

struct comparison_layout {
    const struct comparison *c;
    const struct text_style *style;
    int calls; /* width of a number of calls */
    struct arena *arena;
};

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

static void comparison_heads(struct out *out, const struct comparison_layout *l)
{
    const struct comparison *c = l->c;
    int calls = 2 * l->calls + 2 + 10;
    if (c->compares_samples)
        out_printf(out, "%-*s  %-*s  ", SHARE_WIDTH, "self%", SHARE_WIDTH, "total%");
    if (c->compares_calls)
        out_printf(out, "%-*s", calls, "calls");
    out_char(out, '\n');
    for (int i = 0; i < 2 && c->compares_samples; i++)
        out_printf(out, "%6s %6s %8s  ", "old", "new", "change ");
    if (c->compares_calls)
        out_printf(out, "%*s %*s %9s  ", l->calls, "old", l->calls, "new", "change");
    out_printf(out, "%s\n", comparison_row_word(c));
}

static void comparison_share_text(struct out *out, const struct comparison_layout *l,
                                  const struct share_change *s)
{
    double heat = s->is_meant && s->new > s->old ? s->new - s->old : 0;
    out_printf(out, "%6.2f %6.2f ", 100 * s->old, 100 * s->new);
    text_heat_on(out, l->style, heat);
    out_printf(out, "%+7.2f%c", 100 * (s->new - s->old), s->is_meant ? '*' : ' ');
    text_heat_off(out, l->style, heat);
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

static void comparison_row_text(struct out *out, const struct comparison_layout *l,
                                const struct change *row, int used)
{
    const struct comparison *c = l->c;
    const char *name = change_name(c, row), *remark = comparison_remark(c, row, l->arena);
    const char *object = change_identity(c, row)->object;
    if (c->compares_samples) {
        comparison_share_text(out, l, &row->self);
        comparison_share_text(out, l, &row->total);
    }
    if (c->compares_calls)
        comparison_calls_text(out, l, row);
    int room = l->style->width - used - (int)strlen(remark) - 3;
    if (l->style->width)
        text_name_within(out, name, strlen(name), room < LEAST_NAME ? LEAST_NAME : room);
    else
        text_name(out, name);
    if (object && !change_identity(c, row)->is_made) {
        out_str(out, " [");
        text_name(out, object);
        out_char(out, ']');
    }
    if (*remark) {
        out_str(out, " (");
        text_name(out, remark);
        out_char(out, ')');
    }
    out_char(out, '\n');
}

static void comparison_note_text(void *context, const char *sentence)
{
    struct out *out = context;
    out_printf(out, "Note     %s\n", sentence);
}

static void comparison_rests(struct out *out, const struct comparison *c)
{
    const char *word = comparison_row_word(c);
    if (c->unchanged)
        out_printf(out, "[%" PRIu32 " %s%s without a change, not shown]\n", c->unchanged, word,
                   c->unchanged == 1 ? "" : "s");
    if (c->limited)
        out_printf(out, "[%" PRIu32 " more %s%s, not shown]\n", c->limited, word,
                   c->limited == 1 ? "" : "s");
    if (c->compares_samples)
        out_printf(out,
                   "\n*: by at least %.3g points, and not by chance (%.4g %% confidence for all "
                   "rows together)\n",
                   100 * c->rules.least, 100 * c->rules.confidence);
}

void comparison_text(struct out *out, const struct report_input *in)
{
    struct arena scratch = {0};
    const struct comparison *c = in->comparison;
    struct comparison_layout l = {c, &in->style, comparison_call_digits(c), &scratch};
    int used = (c->compares_samples ? 2 * (SHARE_WIDTH + 2) : 0) +
               (c->compares_calls ? 2 * l.calls + 13 : 0);
    out_str(out, "Old      "), comparison_side_text(out, c->old);
    out_str(out, "\nNew      "), comparison_side_text(out, c->new);
    out_str(out, "\nChanged  "), comparison_sum_text(out, c);
    out_char(out, '\n');
    comparison_notes(c, comparison_note_text, out);
    out_char(out, '\n');
    if (c->len)
        comparison_heads(out, &l);
    for (uint32_t i = 0; i < c->len; i++)
        comparison_row_text(out, &l, &c->rows[i], used);
    comparison_rests(out, c);
    arena_deinit(&scratch);
}
