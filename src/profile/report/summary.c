/* What all native JSON reports on a profile begin with, and what the tables share. */
#include "profile/report/summary.h"

#include "profile/report/recording_head.h"

void json_pair_function(struct json *j, struct names *names, uint32_t function)
{
    const struct function *f = &names->functions->at[function];
    json_pair_str(j, "name", names_get(names, function));
    json_pair_str(j, "linkage_name", f->name);
    json_pair_address(j, "address", function_link_address(names->functions, function));
    if (function_object_label(names->functions, function))
        json_pair_str(j, "object", function_object_label(names->functions, function));
    if (names_file(names, function))
        json_pair_str(j, "source", names_file(names, function));
}

void csv_samples(struct csv *c, const struct summary *s, double samples)
{
    csv_double(c, samples);
    if (s->rate > 0)
        csv_double(c, summary_time(s, samples));
    else
        csv_none(c);
}

static void json_abbreviation(struct json *j, char abbreviation)
{
    json_key(j, "abbreviation");
    json_str_n(j, &abbreviation, abbreviation ? 1 : 0);
}

void json_report_begin(struct json *j, const char *report, const struct summary *s)
{
    json_document_begin(j, report);
    json_pair_str(j, "program", s->program);
    json_key(j, "profiles"), json_begin(j, '[');
    for (size_t i = 0; i < s->profiles_len; i++)
        json_str(j, s->profiles[i]);
    json_end(j);
    json_key(j, "summary"), json_begin(j, '{');
    json_key(j, "has_samples"), json_bool(j, s->has_samples);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "samples_per_unit", s->rate);
    json_pair_str(j, "dimension", s->dimension);
    json_abbreviation(j, s->abbreviation);
    json_pair_double(j, "unattributed_samples", s->unattributed);
    json_pair_double(j, "profiler_samples", s->profiler);
    if (s->sharing) {
        json_pair_double(j, "shared_samples", s->sharing->samples);
        json_pair_u64(j, "separating_bin_bytes", s->sharing->separating_bytes);
    }
    if (s->stacks)
        json_pair_double(j, "stack_samples", s->stacks->samples);
    json_pair_u64(j, "arcs", s->arcs);
    json_pair_u64(j, "calls", s->calls);
    json_pair_u64(j, "calls_from_unknown", s->unknown_callers);
    json_pair_u64(j, "calls_to_unknown", s->unknown_callees);
    if (s->run)
        json_pair_str(j, "inlined", s->has_hosts ? "in_hosts" : s->inlined ? "named" : "none");
    json_pair_str(j, "mismatch", s->mismatch);
    if (s->run)
        recording_head_json(j, s->run);
    if (s->notes_len) {
        json_key(j, "notes"), json_begin(j, '[');
        for (size_t i = 0; i < s->notes_len; i++)
            json_str(j, s->notes[i]);
        json_end(j);
    }
    json_end(j);
}
