/* Three forms of one table. */
#include "report/shares.h"

#include "report/csv.h"
#include "report/summary.h"

#include <inttypes.h>

/* --- text ------------------------------------------------------------------------------------ */

static void text_amounts(struct out *out, const struct shares *t, double samples,
                         const struct text_style *style)
{
    const struct summary *s = t->summary;
    double share = summary_share(s, samples);
    text_heat_on(out, style, share);
    out_printf(out, "%6.2f", 100 * share);
    text_heat_off(out, style, share);
    out_printf(out, "  %9.0f", samples);
    if (s->rate > 0)
        out_printf(out, "  %9.3f", summary_time(s, samples));
}

/* What a thread ran, below it; functions that were on its stacks only are left out. */
static void text_functions(struct out *out, const struct shares *t, const struct share_row *r,
                           struct names *names, size_t limit, const struct text_style *style)
{
    size_t n = 0;
    while (n < r->functions_len && r->functions[n].self > 0)
        n++;
    for (size_t i = 0; i < n && i < limit; i++) {
        text_amounts(out, t, r->functions[i].self, style);
        out_spaces(out, 35);
        text_function(out, names, r->functions[i].function, style);
        out_char(out, '\n');
    }
    if (n > limit) {
        out_spaces(out, t->summary->rate > 0 ? 63 : 52);
        out_printf(out, "[%zu more, not shown]\n", n - limit);
    }
}

void shares_text(struct out *out, const struct shares *t, struct names *names, size_t limit,
                 const struct text_style *style)
{
    const struct summary *s = t->summary;
    text_summary(out, s);
    text_notes(out, s);
    out_printf(out, "\n%6s  %9s", "self%", "samples");
    if (s->rate > 0)
        out_printf(out, "  %9s", s->dimension);
    out_str(out,
            t->is_by_thread ? "      cpu s      run s   thread  name\n" : "       calls  object\n");
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        text_amounts(out, t, r->samples, style);
        if (t->is_by_thread)
            out_printf(out, "  %9.3f  %9.3f  %7" PRIu32 "  ", (double)r->cpu_ns / 1e9,
                       (double)r->run_ns / 1e9, r->thread);
        else
            out_printf(out, "  %10" PRIu64 "  ", r->calls);
        text_name(out, r->name);
        out_char(out, '\n');
        text_functions(out, t, r, names, limit, style);
    }
    if (t->rest > 0) {
        text_amounts(out, t, t->rest, style);
        out_printf(out, "%*s[unattributed]\n", t->is_by_thread ? 33 : 14, "");
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_functions(struct json *j, const struct share_row *r, struct names *names)
{
    json_key(j, "functions"), json_begin(j, '[');
    for (size_t i = 0; i < r->functions_len; i++) {
        json_begin(j, '{');
        json_pair_function(j, names, r->functions[i].function);
        json_pair_double(j, "self_samples", r->functions[i].self);
        json_pair_double(j, "total_samples", r->functions[i].total);
        json_end(j);
    }
    json_end(j);
}

static void json_row(struct json *j, const struct shares *t, const struct share_row *r,
                     struct names *names)
{
    json_begin(j, '{');
    json_pair_str(j, "name", r->name);
    json_pair_double(j, "self_share", summary_share(t->summary, r->samples));
    json_pair_double(j, "self_samples", r->samples);
    if (t->is_by_thread) {
        json_pair_u64(j, "thread", r->thread);
        json_pair_u64(j, "cpu_ns", r->cpu_ns);
        json_pair_u64(j, "run_ns", r->run_ns);
        json_functions(j, r, names);
    } else {
        json_pair_u64(j, "calls", r->calls);
    }
    json_end(j);
}

void shares_json(struct out *out, const struct shares *t, struct names *names)
{
    struct json j = {.out = out};
    json_report_begin(&j, t->is_by_thread ? "threads" : "objects", t->summary);
    json_key(&j, "rows"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        json_row(&j, t, &t->rows[i], names);
    json_end(&j);
    json_pair_double(&j, "unattributed_samples", t->rest);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

/* After a thread's line one for each of its functions, with the same thread. */
static void csv_functions(struct csv *c, const struct shares *t, const struct share_row *r,
                          struct names *names)
{
    for (size_t i = 0; i < r->functions_len; i++) {
        csv_str(c, r->name);
        csv_double(c, summary_share(t->summary, r->functions[i].self));
        csv_double(c, r->functions[i].self);
        csv_u64(c, r->thread);
        csv_none(c), csv_none(c);
        csv_str(c, names_get(names, r->functions[i].function));
        csv_double(c, r->functions[i].total);
        csv_end(c);
    }
}

static void csv_row(struct csv *c, const struct shares *t, const struct share_row *r)
{
    csv_str(c, r->name);
    csv_double(c, summary_share(t->summary, r->samples));
    csv_double(c, r->samples);
    csv_u64(c, t->is_by_thread ? r->thread : r->calls);
    if (t->is_by_thread) {
        csv_u64(c, r->cpu_ns), csv_u64(c, r->run_ns);
        csv_none(c);
        csv_double(c, r->samples);
    }
    csv_end(c);
}

void shares_csv(struct out *out, const struct shares *t, struct names *names)
{
    struct csv c = {.out = out};
    csv_header(&c, t->is_by_thread ? "name,self_share,self_samples,thread,cpu_ns,run_ns,function,"
                                     "total_samples"
                                   : "name,self_share,self_samples,calls");
    for (uint32_t i = 0; i < t->len; i++) {
        csv_row(&c, t, &t->rows[i]);
        csv_functions(&c, t, &t->rows[i], names);
    }
}
