/* The flat profile as text: columns that have data, as many as fit the width.
 *
 * No figure is rounded or cut to make room. Whole columns are left out, the least telling first,
 * and a line below the table names them. */
#include "profile/report/flat.h"

#include "profile/analysis/compare/comparison.h"
#include "profile/report/other_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Behind the share and its uncertainty, from left to right. */
enum flat_column {
    FLAT_SAMPLES,
    FLAT_TIME,
    FLAT_BETWEEN,
    FLAT_CUMULATIVE,
    FLAT_TOTAL_SHARE,
    FLAT_TOTAL,
    FLAT_MODEL,
    FLAT_MODEL_ERROR,
    FLAT_CALLS,
    FLAT_SELF_PER_CALL,
    FLAT_TOTAL_PER_CALL,
    FLAT_BASE_SHARE,
    FLAT_BASE_CHANGE,
    FLAT_BASE_CALLS,
    FLAT_COLUMNS
};

struct flat_layout {
    const struct flat *table;
    const struct summary *summary;
    struct names *names;
    const struct text_style *style;
    const struct baseline *base; /* or NULL */
    bool has_time;
    int width[FLAT_COLUMNS]; /* 0: not shown */
    char head[FLAT_COLUMNS][16];
    bool is_left_out[FLAT_COLUMNS]; /* for want of room */
    int decimals;
};

static int flat_at_least(int width, int least)
{
    return width > least ? width : least;
}

static void flat_add(struct flat_layout *l, enum flat_column column, int width, const char *head)
{
    snprintf(l->head[column], sizeof l->head[column], "%s", head);
    l->width[column] = flat_at_least(width, (int)strlen(head));
}

static void flat_add_timed(struct flat_layout *l, enum flat_column column, int width,
                           const char *head)
{
    char text[16], unit = l->summary->abbreviation;
    if (!l->has_time)
        snprintf(text, sizeof text, "%s", head);
    else
        snprintf(text, sizeof text, "%s %c", head, unit > ' ' && unit <= '~' ? unit : '?');
    flat_add(l, column, width, text);
}

/* All columns of which there are data. */
static void flat_columns(struct flat_layout *l)
{
    const struct flat *t = l->table;
    const struct summary *s = l->summary;
    int samples = text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0);
    int time = text_digits((uint64_t)summary_time(s, s->samples)) + l->decimals + 1;
    if (s->has_samples)
        flat_add(l, FLAT_SAMPLES, samples, "samples");
    if (l->has_time) {
        flat_add_timed(l, FLAT_TIME, time, "self");
        if (s->measured && s->measured->self_between)
            flat_add(l, FLAT_BETWEEN, time, "+-");
        flat_add(l, FLAT_CUMULATIVE, time, "cumulative");
    }
    if (s->stacks) {
        flat_add(l, FLAT_TOTAL_SHARE, 6, "total%");
        flat_add_timed(l, FLAT_TOTAL, time, "total");
    }
    if (t->shows_model) {
        flat_add_timed(l, FLAT_MODEL, time, "model");
        flat_add(l, FLAT_MODEL_ERROR, time + 1, "off by");
    }
    if (s->calls)
        flat_add(l, FLAT_CALLS, text_digits(s->calls), "calls");
    if (s->calls && l->has_time) {
        flat_add(l, FLAT_SELF_PER_CALL, 8, "self/call");
        flat_add(l, FLAT_TOTAL_PER_CALL, 8, "total/call");
    }
    if (l->base && l->base->old.has_samples) {
        flat_add(l, FLAT_BASE_SHARE, 6, "was%");
        flat_add(l, FLAT_BASE_CHANGE, 7, "change");
    }
    if (l->base && l->base->old.has_calls)
        flat_add(l, FLAT_BASE_CALLS, text_digits(l->base->old.calls), "was");
}

/* --- other events, other dimensions ---------------------------------------------------------- */

static void flat_others(struct out *out, const struct flat_layout *l, uint32_t function)
{
    const struct other_measures *others = &l->summary->others;
    for (size_t i = 0; i < others->len; i++)
        others_share(out, &others->at[i], others->at[i].self[function]);
}

static void flat_no_others(struct out *out, const struct flat_layout *l)
{
    out_spaces(out, (size_t)others_width(&l->summary->others));
}

/* --- room ------------------------------------------------------------------------------------ */

/* Columns in front of the name. */
static int flat_used(const struct flat_layout *l)
{
    int used = l->summary->has_samples ? 12 : 0;
    for (int i = 0; i < FLAT_COLUMNS; i++)
        used += l->width[i] ? l->width[i] + 2 : 0;
    return used + others_width(&l->summary->others) + 2;
}

/* What most names need, up to a limit above which they lose their middle. */
static int flat_wanted_room(const struct flat_layout *l)
{
    enum { ENOUGH = 32, LOOKED_AT = 50 };
    int wanted = NAME_ROOM;
    for (uint32_t i = 0; i < l->table->len && i < LOOKED_AT && wanted < ENOUGH; i++)
        wanted = flat_at_least(text_function_width(l->names, l->table->rows[i].function, l->style),
                               wanted);
    return wanted < ENOUGH ? wanted : ENOUGH;
}

/* Totals that were measured tell more than sums down the table and than the same by calls. */
static void flat_fit(struct flat_layout *l)
{
    static const enum flat_column WITH_TOTALS[] = {FLAT_CUMULATIVE, FLAT_SAMPLES,
                                                   FLAT_TOTAL_PER_CALL, FLAT_SELF_PER_CALL};
    static const enum flat_column WITHOUT[] = {FLAT_SAMPLES, FLAT_CUMULATIVE};
    const enum flat_column *order = l->summary->stacks ? WITH_TOTALS : WITHOUT;
    size_t len = l->summary->stacks ? sizeof WITH_TOTALS / sizeof *WITH_TOTALS
                                    : sizeof WITHOUT / sizeof *WITHOUT;
    if (!l->style->width)
        return;
    int wanted = flat_wanted_room(l);
    for (size_t i = 0; i < len && l->style->width - flat_used(l) < wanted; i++) {
        l->is_left_out[order[i]] = l->width[order[i]] > 0;
        l->width[order[i]] = 0;
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static void flat_head(struct out *out, const struct flat_layout *l)
{
    if (l->summary->has_samples)
        out_printf(out, "%6s %5s", "self%", "+-");
    for (int i = 0; i < FLAT_COLUMNS; i++)
        if (l->width[i])
            out_printf(out, "  %*s", l->width[i], l->head[i]);
    others_head(out, &l->summary->others);
    out_str(out, "  function\n");
}

static void flat_share(struct out *out, const struct flat_layout *l, double self,
                       const struct interval *interval)
{
    double share = summary_share(l->summary, self);
    if (!l->summary->has_samples)
        return;
    double heat = interval ? share : 0; /* a row for the rest is no hot spot */
    text_heat_on(out, l->style, heat);
    out_printf(out, "%6.2f", 100 * share);
    text_heat_off(out, l->style, heat);
    if (interval)
        out_printf(out, " %5.2f", 50 * (interval->high - interval->low));
    else
        out_spaces(out, 6);
}

static void flat_blank(struct out *out, const struct flat_layout *l, enum flat_column column)
{
    if (l->width[column])
        out_spaces(out, (size_t)l->width[column] + 2);
}

static void flat_number(struct out *out, const struct flat_layout *l, enum flat_column column,
                        double value, int decimals)
{
    if (l->width[column])
        out_printf(out, "  %*.*f", l->width[column], decimals, value);
}

static void flat_calls(struct out *out, const struct flat_layout *l, uint64_t calls)
{
    if (!l->width[FLAT_CALLS] || !calls) {
        flat_blank(out, l, FLAT_CALLS);
        return;
    }
    out_str(out, "  ");
    out_u64(out, calls, l->width[FLAT_CALLS]);
}

static void flat_per_call(struct out *out, const struct flat_layout *l, enum flat_column column,
                          double samples)
{
    char text[32] = "";
    if (!l->width[column])
        return;
    if (samples >= 0)
        text_amount(text, sizeof text, summary_time(l->summary, samples), l->summary->abbreviation);
    out_printf(out, "  %*s", l->width[column], text);
}

/* `between`: how far the time of a mean run may be off; negative: not known. */
static void flat_amounts(struct out *out, const struct flat_layout *l, double self, double running,
                         double between)
{
    const struct summary *s = l->summary;
    flat_number(out, l, FLAT_SAMPLES, self, l->table->has_fractions ? 2 : 0);
    flat_number(out, l, FLAT_TIME, summary_time(s, self), l->decimals);
    if (between >= 0)
        flat_number(out, l, FLAT_BETWEEN, summary_time(s, between), l->decimals);
    else
        flat_blank(out, l, FLAT_BETWEEN);
    flat_number(out, l, FLAT_CUMULATIVE, summary_time(s, running), l->decimals);
}

/* Totals stand in the unit of the dimension, or, where it has no rate, in samples. */
static void flat_totals(struct out *out, const struct flat_layout *l, const struct flat_row *r)
{
    double unit = l->has_time ? l->summary->rate : 1;
    flat_number(out, l, FLAT_TOTAL_SHARE, 100 * summary_share(l->summary, r->total), 2);
    flat_number(out, l, FLAT_TOTAL, r->total / unit, l->decimals);
    flat_number(out, l, FLAT_MODEL, r->model / unit, l->decimals);
    if (l->width[FLAT_MODEL_ERROR])
        out_printf(out, "  %+*.*f", l->width[FLAT_MODEL_ERROR], l->decimals,
                   (r->model - r->total) / unit);
}

/* What the base has of the row's function; blank where it did not know it. */
static void flat_base(struct out *out, const struct flat_layout *l, const struct flat_row *r)
{
    const struct change *was = l->base ? baseline_change(l->base, r->function) : NULL;
    if (!was || was->old == NO_FUNCTION) {
        for (enum flat_column i = FLAT_BASE_SHARE; i < FLAT_COLUMNS; i++)
            flat_blank(out, l, i);
        return;
    }
    flat_number(out, l, FLAT_BASE_SHARE, 100 * was->self.old, 2);
    if (l->width[FLAT_BASE_CHANGE])
        out_printf(out, "  %+*.2f", l->width[FLAT_BASE_CHANGE],
                   100 * (was->self.new - was->self.old));
    flat_number(out, l, FLAT_BASE_CALLS, was->old_calls, 0);
}

static void flat_row(struct out *out, const struct flat_layout *l, const struct flat_row *r,
                     int used)
{
    flat_share(out, l, r->self, l->summary->samples > 0 ? &r->interval : NULL);
    const struct stacks *m = l->summary->measured;
    flat_amounts(out, l, r->self, r->running,
                 m && m->self_between ? m->self_between[r->function] : -1);
    flat_totals(out, l, r);
    flat_calls(out, l, r->calls);
    flat_per_call(out, l, FLAT_SELF_PER_CALL, flat_self_per_call(r));
    flat_per_call(out, l, FLAT_TOTAL_PER_CALL, flat_total_per_call(r));
    flat_base(out, l, r);
    flat_others(out, l, r->function);
    out_str(out, "  ");
    text_function_behind(out, l->names, r->function, l->style, used);
    out_char(out, '\n');
}

/* A row that stands for what is in no row. */
static void flat_rest(struct out *out, const struct flat_layout *l, double self, double *running,
                      uint64_t calls)
{
    *running += self;
    flat_share(out, l, self, NULL);
    flat_amounts(out, l, self, *running, -1);
    for (enum flat_column i = FLAT_TOTAL_SHARE; i < FLAT_CALLS; i++)
        flat_blank(out, l, i);
    flat_calls(out, l, calls);
    for (enum flat_column i = FLAT_SELF_PER_CALL; i < FLAT_COLUMNS; i++)
        flat_blank(out, l, i);
    flat_no_others(out, l);
    out_str(out, "  ");
}

static void flat_rests(struct out *out, const struct flat_layout *l)
{
    const struct flat *t = l->table;
    const struct summary *s = l->summary;
    double running = t->len ? t->rows[t->len - 1].running : 0;
    if (t->omitted.functions) {
        flat_rest(out, l, t->omitted.self, &running, t->omitted.calls);
        out_printf(out, "[%" PRIu32 " more function%s, not shown]\n", t->omitted.functions,
                   t->omitted.functions == 1 ? "" : "s");
    }
    if (s->unattributed != 0 || s->unknown_callees) {
        flat_rest(out, l, s->unattributed, &running, s->unknown_callees);
        out_str(out, "[unattributed] in no function\n");
    }
}

/* --- below the table ------------------------------------------------------------------------- */

static void flat_legend(struct out *out, const struct flat_layout *l)
{
    bool has_shares = l->summary->has_samples && l->summary->samples > 0 && l->table->len;
    const char *before = "Left out to fit the width: ";
    if (has_shares)
        text_interval_legend(out, l->summary);
    for (int i = 0; i < FLAT_COLUMNS; i++) {
        if (!l->is_left_out[i])
            continue;
        out_printf(out, "%s%s", before, l->head[i]);
        before = ", ";
    }
    if (*before == ',')
        out_str(out, " (--wide shows all)\n");
}

void flat_text(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    struct flat_layout l = {.table = t,
                            .summary = s,
                            .names = in->names,
                            .style = &in->style,
                            .base = in->base,
                            .has_time = s->has_samples && s->rate > 0,
                            .decimals = text_time_decimals(s)};
    flat_columns(&l);
    flat_fit(&l);
    text_summary(out, s);
    text_notes(out, s);
    out_char(out, '\n');
    flat_head(out, &l);
    int used = flat_used(&l);
    for (uint32_t i = 0; i < t->len; i++)
        flat_row(out, &l, &t->rows[i], used);
    if (!t->len && t->omitted.functions)
        out_str(out, "No function is left: none that was measured passes --focus, --ignore and "
                     "--min-percent.\n");
    flat_rests(out, &l);
    flat_legend(out, &l);
}
