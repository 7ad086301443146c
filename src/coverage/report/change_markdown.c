/* Coverage compared, as a comment on a pull request. */
#include "coverage/report/change_report.h"

#include "coverage/report/coverage_report.h"
#include "output/text.h"

enum { SHOWN = 50 }; /* sources, unless a limit says otherwise: comments have a largest size */

static void markdown_percent(struct out *out, bool is_there, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    out_printf(out, " %s |", is_there && r->all > r->unknown ? percent : "-");
}

static void markdown_lines(struct out *out, const char *what, const struct changed_line *lines,
                           uint32_t len)
{
    if (!len)
        return;
    out_printf(out, " %s ", what);
    changed_lines_text(out, lines, len);
}

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

void change_markdown(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    size_t changed = change_count(c), shown = 0, limit = r->limit ? r->limit : SHOWN;
    out_printf(out, "## Coverage: %zu of %zu source%s changed\n\n", changed, c->sources.len,
               c->sources.len == 1 ? "" : "s");
    out_str(out, "| | old % | new % | change | lines |\n|---|--:|--:|--:|---|\n");
    markdown_sum(out, "lines", &c->old_sums.lines, &c->new_sums.lines);
    markdown_sum(out, "functions", &c->old_sums.functions, &c->new_sums.functions);
    markdown_sum(out, "branches", &c->old_sums.branches, &c->new_sums.branches);
    markdown_sum(out, "conditions", &c->old_sums.conditions, &c->new_sums.conditions);
    for (size_t i = 0; i < c->sources.len && shown < limit; i++) {
        const struct source_change *s = &c->sources.at[i];
        if (!r->shows_all && !source_change_is_any(s))
            continue;
        markdown_row(out, c, s);
        shown++;
    }
    if (shown < changed)
        out_printf(out, "\n%zu more sources changed.\n", changed - shown);
}
