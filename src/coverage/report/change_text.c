/* Coverage compared, for a terminal. */
#include "coverage/report/change_report.h"

#include "coverage/report/coverage_report.h"
#include "output/text.h"

#include <inttypes.h>

static void change_percent(struct out *out, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    out_printf(out, "%7s", r->all == r->unknown ? "-" : percent);
}

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

static void change_lines_row(struct out *out, const char *what, const struct changed_line *lines,
                             uint32_t len)
{
    if (!len)
        return;
    out_printf(out, "%27s%s ", "", what);
    changed_lines_text(out, lines, len);
    out_char(out, '\n');
}

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

void change_text(struct out *out, const struct change_report *r)
{
    const struct coverage_change *c = r->change;
    const struct coverage_ratios *o = &c->old_sums, *n = &c->new_sums;
    size_t changed = change_count(c), shown = 0;
    out_str(out, "Old      "), text_name(out, r->old);
    out_str(out, "\nNew      "), text_name(out, r->new);
    out_printf(out, "\nChanged  %zu of %zu source%s\n\n", changed, c->sources.len,
               c->sources.len == 1 ? "" : "s");
    out_printf(out, "%-10s%7s%7s %8s\n", "", "old %", "new %", "change");
    change_sum(out, "lines", &o->lines, &n->lines);
    change_sum(out, "functions", &o->functions, &n->functions);
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
    if (shown < (r->shows_all ? c->sources.len : changed))
        out_printf(out, "[%zu more, not shown]\n",
                   (r->shows_all ? c->sources.len : changed) - shown);
}
