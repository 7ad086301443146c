/* A comparison as JSON (docs/schema/diff.schema.json) and CSV, and the phrases of those for people.
 */
#include "profile/report/comparison.h"

#include "base/path.h"
#include "output/csv.h"
#include "output/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- phrases --------------------------------------------------------------------------------- */

void comparison_growth_text(char *into, size_t size, const struct change *row)
{
    double growth = 100 * change_calls_growth(row);
    if (isinf(growth))
        snprintf(into, size, "from none");
    else
        snprintf(into, size, "%+.*f %%",
                 fabs(growth) < 10     ? 2
                 : fabs(growth) < 1000 ? 1
                                       : 0,
                 growth);
}

const char *comparison_remark(const struct comparison *c, const struct change *row, struct arena *a)
{
    if (row->kind == CHANGE_NEW || row->kind == CHANGE_GONE)
        return change_kind_names[row->kind];
    if (row->kind == CHANGE_KEPT)
        return "";
    const struct identity *old = &c->old->ids.at[row->old];
    const struct identity *new = &c->new->ids.at[row->new];
    if (row->kind == CHANGE_RENAMED) {
        const char *shown = c->old->functions[row->old].shown;
        return arena_printf(a, "was %s", shown ? shown : old->name);
    }
    bool has_file =
        old->file && new->file &&strcmp(path_tail(old->file, 1), path_tail(new->file, 1));
    const char *from = has_file      ? path_tail(old->file, 1)
                       : old->object ? old->object
                                     : "the program";
    return arena_printf(a, "was in %s", from);
}

const char *comparison_row_word(const struct comparison *c)
{
    return c->new->is_of_lines ? "line" : "function";
}

void comparison_side_text(struct out *out, const struct side *s)
{
    text_name(out, s->profiles.len ? s->profiles.at[0] : s->program);
    if (s->profiles.len > 1)
        out_printf(out, " and %zu more", s->profiles.len - 1);
    out_printf(out, ", %" PRIu32 " run%s", s->runs, s->runs == 1 ? "" : "s");
    if (s->has_samples)
        out_printf(out, ", %.0f samples", s->samples);
    if (s->has_calls)
        out_printf(out, ", %" PRIu64 " calls", s->calls);
}

void comparison_sum_text(struct out *out, const struct comparison *c)
{
    static const enum change_kind KINDS[] = {CHANGE_NEW, CHANGE_GONE, CHANGE_MOVED, CHANGE_RENAMED};
    uint32_t all = c->len + c->unchanged + c->limited;
    out_printf(out, "%" PRIu32 " of %" PRIu32 " %s%s", c->changed, all, comparison_row_word(c),
               all == 1 ? "" : "s");
    const char *before = ": ";
    if (c->compares_samples) {
        out_printf(out, "%s%" PRIu32 " in self time", before, c->self_changed);
        before = ", ";
        if (c->old->has_stacks && c->new->has_stacks)
            out_printf(out, "%s%" PRIu32 " in total time", before, c->total_changed);
    }
    if (c->compares_calls) {
        out_printf(out, "%s%" PRIu32 " in calls", before, c->calls_changed);
        before = ", ";
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (!c->by_kind[KINDS[i]])
            continue;
        out_printf(out, "%s%" PRIu32 " %s", before, c->by_kind[KINDS[i]],
                   change_kind_names[KINDS[i]]);
        before = ", ";
    }
}

void comparison_notes(const struct comparison *c,
                      void (*print)(void *context, const char *sentence), void *context)
{
    char text[160];
    if (!c->compares_samples)
        print(context, c->old->has_samples || c->new->has_samples
                           ? "times are not compared: one side has no samples"
                           : "times are not compared: there are no samples");
    if (!c->compares_calls)
        print(context, c->old->has_calls || c->new->has_calls
                           ? "calls are not compared: one side has none"
                           : "calls are not compared: none were counted");
    if (c->compares_samples && strcmp(c->old->dimension, c->new->dimension))
        print(context,
              "the sides measured different things: shares are of each side's own samples");
    if (c->compares_samples && (!c->old->has_stacks || !c->new->has_stacks))
        print(context, "totals are estimates by call counts, of which no test says whether they "
                       "differ by chance");
    if (!c->has_renames)
        print(context, "too many functions are new and gone to look for renamed ones");
    if (c->compares_samples && c->old->runs == 1 && c->new->runs == 1) {
        snprintf(
            text, sizeof text,
            "one run a side: chance is that of sampling alone, not what differs from run to run");
        print(context, text);
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void comparison_json_side(struct json *j, const char *key, const struct side *s)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_str(j, "program", s->program);
    json_key(j, "profiles"), json_begin(j, '[');
    for (size_t i = 0; i < s->profiles.len; i++)
        json_str(j, s->profiles.at[i]);
    json_end(j);
    json_pair_u64(j, "runs", s->runs);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "samples_per_unit", s->rate);
    json_pair_str(j, "dimension", s->dimension);
    json_key(j, "has_stacks"), json_bool(j, s->has_stacks);
    json_pair_u64(j, "calls", s->calls);
    json_end(j);
}

static void comparison_json_share(struct json *j, const char *key, const struct share_change *s)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_double(j, "old", s->old);
    json_pair_double(j, "new", s->new);
    json_pair_double(j, "change", s->new - s->old);
    json_key(j, "chance");
    if (s->chance < 0)
        json_none(j);
    else
        json_double(j, s->chance);
    json_key(j, "is_meant"), json_bool(j, s->is_meant);
    json_end(j);
}

static void comparison_json_identity(struct json *j, const char *key, const struct side *s,
                                     uint32_t function)
{
    json_key(j, key);
    if (function == NO_FUNCTION) {
        json_none(j);
        return;
    }
    const struct identity *id = &s->ids.at[function];
    json_begin(j, '{');
    json_pair_str(j, "linkage_name", id->name);
    json_pair_str(j, "object", id->object);
    json_pair_str(j, "file", id->file);
    json_pair_u64(j, "line", id->line);
    json_end(j);
}

static void comparison_json_row(struct json *j, const struct comparison *c,
                                const struct change *row)
{
    json_begin(j, '{');
    json_pair_str(j, "name", change_name(c, row));
    json_pair_str(j, "kind", change_kind_names[row->kind]);
    comparison_json_identity(j, "old", c->old, row->old);
    comparison_json_identity(j, "new", c->new, row->new);
    if (c->compares_samples) {
        comparison_json_share(j, "self_share", &row->self);
        comparison_json_share(j, "total_share", &row->total);
    }
    if (c->compares_calls) {
        json_key(j, "calls"), json_begin(j, '{');
        json_pair_double(j, "old", row->old_calls);
        json_pair_double(j, "new", row->new_calls);
        json_pair_double(j, "change", row->new_calls - row->old_calls);
        json_pair_double(j, "growth", change_calls_growth(row));
        json_key(j, "differ"), json_bool(j, row->calls_differ);
        json_end(j);
    }
    json_end(j);
}

static void comparison_json_note(void *context, const char *sentence)
{
    json_str(context, sentence);
}

void comparison_json(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    struct json j = {.out = out};
    json_document_begin(&j, "diff");
    comparison_json_side(&j, "old", c->old);
    comparison_json_side(&j, "new", c->new);
    json_key(&j, "summary"), json_begin(&j, '{');
    json_pair_str(&j, "rows", comparison_row_word(c));
    json_pair_double(&j, "confidence", c->rules.confidence);
    json_pair_double(&j, "least_change", c->rules.least);
    json_pair_u64(&j, "changed", c->changed);
    json_pair_u64(&j, "unchanged_left_out", c->unchanged);
    json_pair_u64(&j, "changed_left_out", c->limited);
    json_pair_u64(&j, "self_changed", c->self_changed);
    json_pair_u64(&j, "total_changed", c->total_changed);
    json_pair_u64(&j, "calls_changed", c->calls_changed);
    for (enum change_kind kind = CHANGE_NEW; kind <= CHANGE_RENAMED; kind++)
        json_pair_u64(&j, change_kind_names[kind], c->by_kind[kind]);
    json_key(&j, "notes"), json_begin(&j, '[');
    comparison_notes(c, comparison_json_note, &j);
    json_end(&j);
    json_end(&j);
    json_key(&j, "functions"), json_begin(&j, '[');
    for (uint32_t i = 0; i < c->len; i++)
        comparison_json_row(&j, c, &c->rows[i]);
    json_end(&j);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void comparison_csv_share(struct csv *csv, const struct share_change *s)
{
    csv_double(csv, s->old);
    csv_double(csv, s->new);
    if (s->chance < 0)
        csv_none(csv);
    else
        csv_double(csv, s->chance);
}

void comparison_csv(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    struct csv csv = {.out = out};
    csv_header(&csv, "name,linkage_name,object,kind,old_linkage_name,old_self_share,"
                     "new_self_share,self_chance,old_total_share,new_total_share,total_chance,"
                     "old_calls,new_calls");
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *row = &c->rows[i];
        const struct identity *id = change_identity(c, row);
        csv_str(&csv, change_name(c, row));
        csv_str(&csv, id->name);
        csv_str(&csv, id->object);
        csv_str(&csv, change_kind_names[row->kind]);
        csv_str(&csv, row->old == NO_FUNCTION ? NULL : c->old->ids.at[row->old].name);
        comparison_csv_share(&csv, &row->self);
        comparison_csv_share(&csv, &row->total);
        csv_double(&csv, row->old_calls);
        csv_double(&csv, row->new_calls);
        csv_end(&csv);
    }
}
