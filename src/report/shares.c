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

void shares_text(struct out *out, const struct shares *t, const struct text_style *style)
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
    }
    if (t->rest > 0) {
        text_amounts(out, t, t->rest, style);
        out_printf(out, "%*s[unattributed]\n", t->is_by_thread ? 33 : 14, "");
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_row(struct json *j, const struct shares *t, const struct share_row *r)
{
    json_begin(j, '{');
    json_pair_str(j, "name", r->name);
    json_pair_double(j, "self_share", summary_share(t->summary, r->samples));
    json_pair_double(j, "self_samples", r->samples);
    if (t->is_by_thread) {
        json_pair_u64(j, "thread", r->thread);
        json_pair_u64(j, "cpu_ns", r->cpu_ns);
        json_pair_u64(j, "run_ns", r->run_ns);
    } else {
        json_pair_u64(j, "calls", r->calls);
    }
    json_end(j);
}

void shares_json(struct out *out, const struct shares *t)
{
    struct json j = {.out = out};
    json_report_begin(&j, t->is_by_thread ? "threads" : "objects", t->summary);
    json_key(&j, "rows"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        json_row(&j, t, &t->rows[i]);
    json_end(&j);
    json_pair_double(&j, "unattributed_samples", t->rest);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

void shares_csv(struct out *out, const struct shares *t)
{
    struct csv c = {.out = out};
    csv_header(&c, t->is_by_thread ? "name,self_share,self_samples,thread,cpu_ns,run_ns"
                                   : "name,self_share,self_samples,calls");
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        csv_str(&c, r->name);
        csv_double(&c, summary_share(t->summary, r->samples));
        csv_double(&c, r->samples);
        csv_u64(&c, t->is_by_thread ? r->thread : r->calls);
        if (t->is_by_thread)
            csv_u64(&c, r->cpu_ns), csv_u64(&c, r->run_ns);
        csv_end(&c);
    }
}
