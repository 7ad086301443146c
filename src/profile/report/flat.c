/* Three forms of one table. */
#include "profile/report/flat.h"

#include "output/csv.h"
#include "profile/report/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------ */

/* Which columns there are, and how wide. */
struct layout {
    const struct summary *summary;
    bool has_samples, has_time;
    bool has_total, has_model; /* measured by stacks; and the model's */
    int samples, sample_decimals, time, time_decimals, calls;
};

static int at_least(int width, int least)
{
    return width > least ? width : least;
}

static struct layout lay_out(const struct flat *t)
{
    const struct summary *s = t->summary;
    struct layout l = {.summary = s,
                       .has_samples = s->has_samples,
                       .has_time = s->has_samples && s->rate > 0,
                       .has_total = s->stacks != NULL,
                       .has_model = t->shows_model,
                       .sample_decimals = t->has_fractions ? 2 : 0,
                       .time_decimals = text_time_decimals(s)};
    l.samples = at_least(text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0), 7);
    l.time = at_least(text_digits((uint64_t)summary_time(s, s->samples)) + l.time_decimals + 1, 9);
    l.calls = at_least(text_digits(s->calls), 7);
    return l;
}

/* Totals stand in the unit of the dimension, or, where it has no rate, in samples. */
static void text_total_head(struct out *out, const struct layout *l)
{
    if (l->has_total)
        out_printf(out, "  %6s %*s", "total%", l->time, "total");
    if (l->has_model)
        out_printf(out, " %*s %*s", l->time, "model", l->time, "off by");
}

static void text_total(struct out *out, const struct layout *l, const struct flat_row *r)
{
    const struct summary *s = l->summary;
    double unit = l->has_time ? s->rate : 1;
    if (l->has_total)
        out_printf(out, "  %6.2f %*.*f", 100 * summary_share(s, r->total), l->time,
                   l->time_decimals, r->total / unit);
    if (l->has_model)
        out_printf(out, " %*.*f %+*.*f", l->time, l->time_decimals, r->model / unit, l->time,
                   l->time_decimals, (r->model - r->total) / unit);
}

/* Self shares of a recording's other events. */
static int other_width(const struct run_other *other)
{
    return at_least((int)strlen(other->event->name) + 1, 6);
}

static void text_others_head(struct out *out, const struct summary *s)
{
    for (size_t i = 0; s->run && i < s->run->others_len; i++) {
        const struct run_other *other = &s->run->others[i];
        out_spaces(out, 2 + (size_t)other_width(other) - strlen(other->event->name) - 1);
        text_name(out, other->event->name);
        out_char(out, '%');
    }
}

static double other_share(const struct run_other *other, uint32_t function)
{
    return other->total > 0 ? other->self[function] / other->total : 0;
}

static void text_others(struct out *out, const struct summary *s, uint32_t function)
{
    for (size_t i = 0; s->run && i < s->run->others_len; i++) {
        const struct run_other *other = &s->run->others[i];
        out_printf(out, "  %*.2f", other_width(other), 100 * other_share(other, function));
    }
}

static void text_no_others(struct out *out, const struct summary *s)
{
    for (size_t i = 0; s->run && i < s->run->others_len; i++)
        out_spaces(out, 2 + (size_t)other_width(&s->run->others[i]));
}

static void text_head(struct out *out, const struct layout *l)
{
    char self[8] = "self ?", running[8] = "running";
    self[5] = l->summary->abbreviation > ' ' && l->summary->abbreviation <= '~'
                  ? l->summary->abbreviation
                  : '?';
    if (l->has_samples)
        out_printf(out, "%6s %5s  %*s", "self%", "+-", l->samples, "samples");
    if (l->has_time)
        out_printf(out, "  %*s %*s", l->time, self, l->time, running);
    text_total_head(out, l);
    out_printf(out, "%s%*s", l->has_samples ? "  " : "", l->calls, "calls");
    if (l->has_time)
        out_printf(out, "  %10s  %10s", "self/call", "total/call");
    text_others_head(out, l->summary);
    out_str(out, "  function\n");
}

static void text_time(struct out *out, const struct layout *l, const struct text_style *style,
                      double self, const struct interval *interval, double running)
{
    double share = summary_share(l->summary, self);
    if (l->has_samples) {
        text_heat_on(out, style, share);
        out_printf(out, "%6.2f", 100 * share);
        text_heat_off(out, style, share);
        if (interval)
            out_printf(out, " %5.2f", 50 * (interval->high - interval->low));
        else
            out_spaces(out, 6);
        out_printf(out, "  %*.*f", l->samples, l->sample_decimals, self);
    }
    if (l->has_time)
        out_printf(out, "  %*.*f %*.*f", l->time, l->time_decimals, summary_time(l->summary, self),
                   l->time, l->time_decimals, summary_time(l->summary, running));
}

static void text_per_call(struct out *out, const struct layout *l, double samples)
{
    char text[32] = "";
    if (samples >= 0)
        text_amount(text, sizeof text, summary_time(l->summary, samples), l->summary->abbreviation);
    out_printf(out, "  %10s", text);
}

static void text_row(struct out *out, const struct layout *l, const struct flat_row *r,
                     struct names *names, const struct text_style *style)
{
    text_time(out, l, style, r->self, l->summary->samples > 0 ? &r->interval : NULL, r->running);
    text_total(out, l, r);
    out_spaces(out, l->has_samples ? 2 : 0);
    if (r->calls)
        out_u64(out, r->calls, l->calls);
    else
        out_spaces(out, (size_t)l->calls);
    if (l->has_time) {
        text_per_call(out, l, flat_self_per_call(r));
        text_per_call(out, l, flat_total_per_call(r));
    }
    text_others(out, l->summary, r->function);
    out_str(out, "  ");
    text_function(out, names, r->function, style);
    out_char(out, '\n');
}

/* A row that stands for what is in no row. */
static void text_rest(struct out *out, const struct layout *l, const struct text_style *style,
                      double self, double *running, uint64_t calls)
{
    *running += self;
    text_time(out, l, style, self, NULL, *running);
    out_spaces(out, l->has_total ? (size_t)l->time + 9 : 0);
    out_spaces(out, l->has_model ? 2 * (size_t)l->time + 2 : 0);
    out_spaces(out, l->has_samples ? 2 : 0);
    if (calls)
        out_u64(out, calls, l->calls);
    else
        out_spaces(out, (size_t)l->calls);
    text_no_others(out, l->summary);
    out_spaces(out, l->has_time ? 26 : 2);
}

void flat_text(struct out *out, const struct flat *t, struct names *names,
               const struct text_style *style)
{
    const struct summary *s = t->summary;
    struct layout l = lay_out(t);
    double running = t->len ? t->rows[t->len - 1].running : 0;
    text_summary(out, s);
    text_notes(out, s);
    out_char(out, '\n');
    text_head(out, &l);
    for (uint32_t i = 0; i < t->len; i++)
        text_row(out, &l, &t->rows[i], names, style);
    if (t->omitted.functions) {
        text_rest(out, &l, style, t->omitted.self, &running, t->omitted.calls);
        out_printf(out, "[%" PRIu32 " more function%s, not shown]\n", t->omitted.functions,
                   t->omitted.functions == 1 ? "" : "s");
    }
    if (s->unattributed != 0 || s->unknown_callees) {
        text_rest(out, &l, style, s->unattributed, &running, s->unknown_callees);
        out_str(out, "[unattributed] outside any function of ");
        text_name(out, s->program);
        out_char(out, '\n');
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_time(struct json *j, const struct summary *s, const char *samples_key,
                      const char *time_key, double samples)
{
    json_pair_double(j, samples_key, samples);
    json_key(j, time_key);
    if (s->rate > 0 && samples >= 0)
        json_double(j, summary_time(s, samples));
    else
        json_none(j);
}

/* How much of the total came from callers that are not known, by reason. */
static void json_cut(struct json *j, const struct summary *s, uint32_t function)
{
    static const char *const reasons[RUN_CUTS] = {[RUN_CUT_DEEP] = "too_deep",
                                                  [RUN_CUT_NO_TABLE] = "no_unwind_table",
                                                  [RUN_CUT_GENERATED] = "generated_code",
                                                  [RUN_CUT_BROKEN] = "broken",
                                                  [RUN_CUT_TOO_MANY] = "too_many_frames",
                                                  [RUN_CUT_NO_STACK] = "not_recorded"};
    if (!s->stacks || !s->stacks->cut)
        return;
    json_key(j, "unknown_callers"), json_begin(j, '{');
    for (uint32_t why = 0; why < RUN_CUTS; why++)
        if (s->stacks->cut[function].samples[why] > 0)
            json_pair_double(j, reasons[why], s->stacks->cut[function].samples[why]);
    json_end(j);
}

static void json_others(struct json *j, const struct summary *s, uint32_t function)
{
    if (!s->run || !s->run->others_len)
        return;
    json_key(j, "events"), json_begin(j, '[');
    for (size_t i = 0; i < s->run->others_len; i++) {
        const struct run_other *other = &s->run->others[i];
        json_begin(j, '{');
        json_pair_str(j, "name", other->event->name);
        json_pair_double(j, "self_share", other_share(other, function));
        json_pair_double(j, "self_samples", other->self[function]);
        json_end(j);
    }
    json_end(j);
}

static void json_row(struct json *j, const struct flat *t, const struct flat_row *r,
                     struct names *names)
{
    const struct summary *s = t->summary;
    json_begin(j, '{');
    json_pair_function(j, names, r->function);
    json_pair_str(j, "kind", r->is_profiler ? "profiler" : "function");
    json_pair_double(j, "self_share", summary_share(s, r->self));
    json_pair_double(j, "self_share_low", r->interval.low);
    json_pair_double(j, "self_share_high", r->interval.high);
    json_time(j, s, "self_samples", "self_time", r->self);
    json_time(j, s, "total_samples", "total_time", r->total);
    if (s->stacks)
        json_time(j, s, "model_total_samples", "model_total_time", r->model);
    json_pair_u64(j, "calls", r->calls);
    json_pair_u64(j, "recursive_calls", r->recursive_calls);
    json_cut(j, s, r->function);
    json_others(j, s, r->function);
    json_end(j);
}

void flat_json(struct out *out, const struct flat *t, struct names *names)
{
    struct json j = {.out = out};
    json_report_begin(&j, "flat", t->summary);
    json_key(&j, "functions"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        json_row(&j, t, &t->rows[i], names);
    json_end(&j);
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "functions", t->omitted.functions);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_pair_u64(&j, "calls", t->omitted.calls);
    json_end(&j);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_time(struct csv *c, const struct summary *s, double samples)
{
    csv_double(c, samples);
    if (s->rate > 0)
        csv_double(c, summary_time(s, samples));
    else
        csv_none(c);
}

static void csv_row(struct csv *c, const struct summary *s, const struct flat_row *r,
                    struct names *names)
{
    const struct function *f = &names->functions->at[r->function];
    csv_str(c, r->is_profiler ? "profiler" : "function");
    csv_str(c, names_get(names, r->function));
    csv_str(c, f->name);
    csv_address(c, function_link_address(names->functions, r->function));
    csv_double(c, summary_share(s, r->self));
    csv_double(c, r->interval.low);
    csv_double(c, r->interval.high);
    csv_time(c, s, r->self);
    csv_time(c, s, r->total);
    csv_u64(c, r->calls);
    csv_u64(c, r->recursive_calls);
    for (size_t i = 0; s->run && i < s->run->others_len; i++)
        csv_double(c, other_share(&s->run->others[i], r->function));
    csv_end(c);
}

static void csv_rest(struct csv *c, const struct summary *s, const char *kind, double self,
                     uint64_t calls)
{
    csv_str(c, kind);
    csv_none(c), csv_none(c), csv_none(c);
    csv_double(c, summary_share(s, self));
    csv_none(c), csv_none(c);
    csv_time(c, s, self);
    csv_none(c), csv_none(c);
    csv_u64(c, calls);
    csv_none(c);
    for (size_t i = 0; s->run && i < s->run->others_len; i++)
        csv_none(c);
    csv_end(c);
}

/* Other events of a recording have a column each, by their names. */
static void csv_head(struct csv *c, const struct summary *s)
{
    struct arena scratch = {0};
    const char *head = "kind,name,linkage_name,address,self_share,self_share_low,self_share_high,"
                       "self_samples,self_time,total_samples,total_time,calls,recursive_calls";
    for (size_t i = 0; s->run && i < s->run->others_len; i++)
        head = arena_printf(&scratch, "%s,self_share of %s", head, s->run->others[i].event->name);
    csv_header(c, head);
    arena_deinit(&scratch);
}

void flat_csv(struct out *out, const struct flat *t, struct names *names)
{
    const struct summary *s = t->summary;
    struct csv c = {.out = out};
    csv_head(&c, s);
    for (uint32_t i = 0; i < t->len; i++)
        csv_row(&c, s, &t->rows[i], names);
    csv_rest(&c, s, "omitted", t->omitted.self, t->omitted.calls);
    csv_rest(&c, s, "unattributed", s->unattributed, s->unknown_callees);
}
