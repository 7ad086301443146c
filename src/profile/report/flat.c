/* The flat profile as JSON and CSV. */
#include "profile/report/flat.h"

#include "output/json.h"
#include "profile/report/base.h"
#include "profile/report/summary.h"

#include <math.h>

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
    static const char *const reasons[RECORDING_CUTS] = {
        [RECORDING_CUT_DEEP] = "too_deep",
        [RECORDING_CUT_NO_TABLE] = "no_unwind_table",
        [RECORDING_CUT_GENERATED] = "generated_code",
        [RECORDING_CUT_BROKEN] = "broken",
        [RECORDING_CUT_TOO_MANY] = "too_many_frames",
        [RECORDING_CUT_NO_STACK] = "not_recorded"};
    if (!s->stacks || !s->stacks->cut)
        return;
    json_key(j, "unknown_callers"), json_begin(j, '{');
    for (uint32_t why = 0; why < RECORDING_CUTS; why++)
        if (s->stacks->cut[function].samples[why] > 0)
            json_pair_double(j, reasons[why], s->stacks->cut[function].samples[why]);
    json_end(j);
}

static void json_others(struct json *j, const struct summary *s, uint32_t function)
{
    if (!s->others.len)
        return;
    json_key(j, "events"), json_begin(j, '[');
    for (size_t i = 0; i < s->others.len; i++) {
        const struct other_measure *other = &s->others.at[i];
        json_begin(j, '{');
        json_pair_str(j, "name", other->name);
        json_pair_double(j, "self_share", other_share(other, other->self[function]));
        json_pair_double(j, "self_samples", other->self[function]);
        json_end(j);
    }
    json_end(j);
}

static void json_row(struct json *j, const struct flat *t, const struct flat_row *r,
                     const struct report_input *in)
{
    struct names *names = in->names;
    const struct summary *s = t->summary;
    json_begin(j, '{');
    json_pair_function(j, names, r->function);
    json_pair_str(j, "kind", r->is_profiler ? "profiler" : "function");
    json_key(j, "is_inlined"), json_bool(j, names->functions->at[r->function].is_inlined);
    json_pair_double(j, "self_share", summary_share(s, r->self));
    json_pair_double(j, "self_share_low", r->interval.low);
    json_pair_double(j, "self_share_high", r->interval.high);
    json_time(j, s, "self_samples", "self_time", r->self);
    if (s->measured && s->measured->self_between && s->rate > 0) {
        double half = summary_time(s, s->measured->self_between[r->function]);
        json_pair_double(j, "self_time_low", fmax(0, summary_time(s, r->self) - half));
        json_pair_double(j, "self_time_high", summary_time(s, r->self) + half);
    }
    if (s->sharing)
        json_pair_double(j, "shared_samples",
                         s->sharing->most[r->function] - s->sharing->least[r->function]);
    json_time(j, s, "total_samples", "total_time", r->total);
    if (s->stacks) {
        struct interval total = summary_total_interval(s, r->function, r->total);
        json_pair_double(j, "total_share_low", total.low);
        json_pair_double(j, "total_share_high", total.high);
    }
    if (s->stacks && r->model >= 0) /* no call of an inlined function is counted */
        json_time(j, s, "model_total_samples", "model_total_time", r->model);
    json_pair_u64(j, "calls", r->calls);
    json_pair_u64(j, "recursive_calls", r->recursive_calls);
    json_cut(j, s, r->function);
    json_others(j, s, r->function);
    base_json(j, in->base, r->function, true);
    json_end(j);
}

void flat_json(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    struct json j = {.out = out};
    json_report_begin(&j, "flat", t->summary);
    json_key(&j, "functions"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        json_row(&j, t, &t->rows[i], in);
    json_end(&j);
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "functions", t->omitted.functions);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_pair_u64(&j, "calls", t->omitted.calls);
    json_end(&j);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_base(struct csv *c, const struct baseline *base, uint32_t function)
{
    const struct change *was = baseline_change(base, function);
    if (!was || was->old == NO_FUNCTION) {
        csv_none(c), csv_none(c), csv_none(c);
        return;
    }
    csv_double(c, was->self.old);
    csv_double(c, was->total.old);
    csv_double(c, was->old_calls);
}

static void csv_row(struct csv *c, const struct summary *s, const struct flat_row *r,
                    const struct report_input *in)
{
    struct names *names = in->names;
    const struct function *f = &names->functions->at[r->function];
    csv_str(c, r->is_profiler ? "profiler" : "function");
    csv_str(c, names_get(names, r->function));
    csv_str(c, f->name);
    csv_address(c, function_link_address(names->functions, r->function));
    csv_double(c, summary_share(s, r->self));
    csv_double(c, r->interval.low);
    csv_double(c, r->interval.high);
    csv_samples(c, s, r->self);
    csv_samples(c, s, r->total);
    csv_u64(c, r->calls);
    csv_u64(c, r->recursive_calls);
    csv_str(c, function_object_label(names->functions, r->function));
    for (size_t i = 0; i < s->others.len; i++)
        csv_double(c, other_share(&s->others.at[i], s->others.at[i].self[r->function]));
    if (in->base)
        csv_base(c, in->base, r->function);
    csv_end(c);
}

static void csv_rest(struct csv *c, const struct summary *s, const char *kind, double self,
                     uint64_t calls, bool has_base)
{
    csv_str(c, kind);
    csv_none(c), csv_none(c), csv_none(c);
    csv_double(c, summary_share(s, self));
    csv_none(c), csv_none(c);
    csv_samples(c, s, self);
    csv_none(c), csv_none(c);
    csv_u64(c, calls);
    csv_none(c), csv_none(c);
    for (size_t i = 0; i < s->others.len; i++)
        csv_none(c);
    if (has_base)
        csv_none(c), csv_none(c), csv_none(c);
    csv_end(c);
}

/* Other events, and other dimensions, have a column each, by their names. */
static void csv_head(struct csv *c, const struct summary *s, bool has_base)
{
    struct arena scratch = {0};
    const char *head = "kind,name,linkage_name,address,self_share,self_share_low,self_share_high,"
                       "self_samples,self_time,total_samples,total_time,calls,recursive_calls,"
                       "object";
    for (size_t i = 0; i < s->others.len; i++)
        head = arena_printf(&scratch, "%s,self_share of %s", head, s->others.at[i].name);
    if (has_base)
        head = arena_printf(&scratch, "%s,base_self_share,base_total_share,base_calls", head);
    csv_header(c, head);
    arena_deinit(&scratch);
}

void flat_csv(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    struct csv c = {.out = out};
    csv_head(&c, s, in->base != NULL);
    for (uint32_t i = 0; i < t->len; i++)
        csv_row(&c, s, &t->rows[i], in);
    csv_rest(&c, s, "omitted", t->omitted.self, t->omitted.calls, in->base != NULL);
    csv_rest(&c, s, "unattributed", s->unattributed, s->unknown_callees, in->base != NULL);
}
