/* A comparison as JSON (docs/schema/diff.schema.json) and CSV, and the phrases that its forms for
 * people share.
 *
 * Caveats come before figures: what was recorded of the sides in different ways is a reason of its
 * own to differ, and each such reason is a sentence. Times are printed in a unit in which the
 * largest has few digits. A chance or margin below 0 is not known: null in JSON, an empty field in
 * CSV, blank in text.
 *
 * What is compared, and which change is more than chance, is decided in profile/analysis. Nothing
 * here tests or rounds anything again but for the eye.
 *
 *     {"old": side, "new": side,      what each side is made of
 *      "totals": [...],               the whole run: time, memory, events
 *      "summary": {..., "notes"},     how many rows changed, by which rules, and caveats
 *      "functions": [...]}            the rows; with lines compared, `rows` of the summary says so
 *
 * CSV has the rows alone, one line each. */
#include "profile/report/writers.h"

#include "base/path.h"
#include "output/formats.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- phrases --------------------------------------------------------------------------------- */

/* Small growth has two decimals, large none: four digits or so are enough for any. What had no
 * calls before grew by an infinite factor, which no percentage says. */
void comparison_growth_text(char *into, size_t size, const struct change *row)
{
    /* Examples: +0.52 %, +31.4 %, +2400 %, from none. */
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

/* Comparisons of functions and of lines share everything but this word. */
const char *comparison_row_word(const struct comparison *c)
{
    return c->new->is_of_lines ? "line" : "function";
}

/* The first profile stands for all of a side, with how many more there are. */
void comparison_side_text(struct out *out, const struct run_set *s)
{
    text_name(out, s->profiles.len ? s->profiles.at[0] : s->program);
    if (s->profiles.len > 1)
        out_printf(out, " and %zu more", s->profiles.len - 1);
    out_printf(out, ", %" PRIu32 " run%s", s->runs, text_plural(s->runs));
    if (s->has_samples)
        out_printf(out, ", %.0f samples", s->samples);
    if (s->has_calls)
        out_printf(out, ", %" PRIu64 " calls", s->calls);
}

/* What only has another place or name is said, and is no change. The number of all rows includes
 * those that are not listed, so that "3 of 340" has its usual meaning. Total times are counted
 * where both sides have stacks: estimates by the model of the call graph are not tested. */
void comparison_sum_text(struct out *out, const struct comparison *c)
{
    /* Rows that are listed, that did not change, and that the limit cut. The sentence is like
     *
     *     3 of 340 functions: 2 in self time, 1 in total time, 1 in calls, 1 new; besides 4 moved
     */
    uint32_t all = c->len + c->unchanged + c->limited;
    out_printf(out, "%" PRIu32 " of %" PRIu32 " %s%s", c->changed, all, comparison_row_word(c),
               text_plural(all));
    const char *before = ": ";
    if (c->compares_samples) {
        const char *what = c->by_share ? "share" : "time";
        out_printf(out, "%s%" PRIu32 " in self %s", before, c->self_changed, what);
        before = ", ";
        if (c->old->has_stacks && c->new->has_stacks)
            out_printf(out, "%s%" PRIu32 " in total %s", before, c->total_changed, what);
    }
    if (c->compares_calls) {
        out_printf(out, "%s%" PRIu32 " in calls", before, c->calls_changed);
        before = ", ";
    }
    for (enum change_kind kind = CHANGE_NEW; kind <= CHANGE_GONE; kind++)
        if (c->by_kind[kind])
            out_printf(out, "%s%" PRIu32 " %s", before, c->by_kind[kind], change_kind_names[kind]);
    before = "; besides ";
    for (enum change_kind kind = CHANGE_MOVED; kind <= CHANGE_RENAMED; kind++)
        if (c->by_kind[kind]) {
            out_printf(out, "%s%" PRIu32 " %s", before, c->by_kind[kind], change_kind_names[kind]);
            before = ", ";
        }
}

/* --- notes ----------------------------------------------------------------------------------- */

/* `print` gets one sentence at a time, which lives until the arena goes at the end. */
struct notes_printer {
    void (*print)(void *context, const char *sentence);
    void *context;
    struct arena arena;
};

/* The reasons are the same in text, Markdown and the terminal; the printer decides on their form.
 */
static void comparison_note(struct notes_printer *to, const char *sentence)
{
    to->print(to->context, sentence);
}

/* The first recording of each side stands for it; runs of one side that were not made alike are a
 * finding of their own. A gmon.out has no facts: then nothing can be said of its side. */
static bool comparison_notes_facts(const struct run_set *s, const struct run_facts **first)
{
    *first = s->facts.len ? &s->facts.at[0] : NULL;
    return *first;
}

/* The facts that make times of two runs comparable. The program, and whether a run is a part, have
 * notes of their own. */
static bool comparison_facts_are_alike(const struct run_facts *l, const struct run_facts *r)
{
    return !strcmp(l->event, r->event) && !strcmp(l->processor, r->processor) &&
           l->machine == r->machine && l->method == r->method && l->rate == r->rate;
}

/* One sentence a side is enough, however many of its runs differ. */
static void comparison_notes_within(struct notes_printer *to, const struct run_set *s,
                                    const char *which)
{
    for (size_t i = 1; i < s->facts.len; i++)
        if (!comparison_facts_are_alike(&s->facts.at[0], &s->facts.at[i])) {
            comparison_note(
                to,
                arena_printf(&to->arena,
                             "the %s side's runs differ in machine, method, rate or event", which));
            return;
        }
}

/* What was recorded of either side in another way: each is a reason of its own to differ. A field
 * that one side does not know (empty, or 0) is no difference. Machine and processor are one caveat:
 * another machine has another processor anyway. */
static void comparison_notes_sides(struct notes_printer *to, const struct comparison *c)
{
    const struct run_facts *old, *new;
    comparison_notes_within(to, c->old, "old");
    comparison_notes_within(to, c->new, "new");
    if (!comparison_notes_facts(c->old, &old) || !comparison_notes_facts(c->new, &new))
        return;
    if (strcmp(old->program, new->program) && *old->program && *new->program)
        comparison_note(to,
                        arena_printf(&to->arena,
                                     "different programs (%s, %s): functions are compared by name",
                                     old->program, new->program));
    if (old->machine != new->machine && old->machine &&new->machine)
        comparison_note(
            to, arena_printf(&to->arena,
                             "different machines (ELF numbers %u, %u): times may differ by them",
                             old->machine, new->machine));
    else if (strcmp(old->processor, new->processor) && *old->processor && *new->processor)
        comparison_note(to, arena_printf(&to->arena,
                                         "different processors: times may differ by them (%s; %s)",
                                         old->processor, new->processor));
    if (old->rate != new->rate)
        comparison_note(to, arena_printf(&to->arena,
                                         "different rates (%" PRIu32 ", %" PRIu32
                                         " a second): +- includes that",
                                         old->rate, new->rate));
    if (old->method != new->method)
        comparison_note(
            to, arena_printf(
                    &to->arena, "different methods (%s; %s): overhead and kernel time may differ",
                    recording_method_name(old->method), recording_method_name(new->method)));
    if (old->is_part || new->is_part)
        comparison_note(to, "recorded in part (--pid): shares are compared, not times");
}

/* Why times are compared as they are, or not at all. The last note says how sure the changes are:
 * with one run a side the noise is an assumption. */
static void comparison_notes_times(struct notes_printer *to, const struct comparison *c)
{
    bool has_any = c->old->has_samples || c->new->has_samples;
    if (!c->compares_samples)
        comparison_note(to, has_any ? "times are not compared: one side has no samples"
                                    : "times are not compared: there are no samples");
    else if (strcmp(c->old->dimension, c->new->dimension))
        comparison_note(to,
                        arena_printf(&to->arena,
                                     "different things were measured (%s; %s): shares are of each",
                                     c->old->dimension, c->new->dimension));
    else if (c->one_waits)
        comparison_note(to, "one side alone has waits (--off-cpu): only self times are compared");
    else if (c->by_share && comparison_waits(c->old))
        comparison_note(to, "with waits (--off-cpu), shares depend on the machine: not judged");
    else if (!c->old->has_time || !c->new->has_time)
        comparison_note(to, "shares are compared: the unit of the samples is unknown");
    if (c->compares_samples && (!c->old->has_stacks || !c->new->has_stacks))
        comparison_note(to, "totals are estimates by call counts, and are not judged");
    bool is_judged = !c->by_share || !comparison_waits(c->old);
    if (c->compares_samples && c->is_assumed && is_judged)
        comparison_note(to,
                        arena_printf(&to->arena,
                                     "one run per side: up to %.3g %% is taken for noise (--noise)",
                                     100 * c->rules.noise));
}

/* Sides first, then times, then calls: from the general to the particular. */
void comparison_notes(const struct comparison *c,
                      void (*print)(void *context, const char *sentence), void *context)
{
    struct notes_printer to = {print, context, {0}};
    comparison_notes_sides(&to, c);
    comparison_notes_times(&to, c);
    if (!c->compares_calls && (c->old->has_calls || c->new->has_calls))
        comparison_note(&to, "calls are not compared: one side has none");
    if (!c->has_renames)
        comparison_note(&to, "too many functions are new or gone to look for renamed ones");
    arena_deinit(&to.arena);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* What one side is made of. `samples_per_unit` is 0 where the rate is not known; `runs` says of how
 * many the sums are. */
static void comparison_json_side(struct json *j, const char *key, const struct run_set *s)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_str(j, "program", s->program);
    JSON_ITEMS(j, "profiles", i, s->profiles.len)
        json_str(j, s->profiles.at[i]);
    json_pair_u64(j, "runs", s->runs);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "samples_per_unit", s->rate);
    json_pair_str(j, "dimension", s->dimension);
    json_pair_bool(j, "has_stacks", s->has_stacks);
    json_pair_u64(j, "calls", s->calls);
    json_end(j);
}

/* Old, new and change of one figure, with how sure the change is. */
static void comparison_json_measured(struct json *j, const char *key,
                                     const struct measured_change *s)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_double(j, "old", s->old);
    json_pair_double(j, "new", s->new);
    json_pair_double(j, "change", s->new - s->old);
    json_pair_double(j, "margin", s->margin < 0 ? NAN : s->margin);
    json_pair_double(j, "chance", s->chance < 0 ? NAN : s->chance);
    json_pair_bool(j, "is_meant", s->is_meant);
    json_end(j);
}

/* Columns of the totals, one row for each figure of the whole run. */
enum {
    TOTAL_NAME,
    TOTAL_UNIT,
    TOTAL_OLD,
    TOTAL_NEW,
    TOTAL_GROWTH,
    TOTAL_MARGIN,
    TOTAL_CHANCE,
    TOTAL_VERDICT,
    TOTAL_FOUND,
    TOTAL_TEXT,
    TOTAL_COLUMNS
};
static const struct column total_columns[TOTAL_COLUMNS] = {
    [TOTAL_NAME] =
        {"name",
         "cpu_time, elapsed_time, peak_memory (of one process), processes, or an event's name"},
    [TOTAL_UNIT] = {"unit", "seconds, bytes or count"},
    [TOTAL_OLD] = {"old", "of the mean run"},
    [TOTAL_NEW] = {"new", "of the mean run"},
    [TOTAL_GROWTH] = {"change", "new - old"},
    [TOTAL_MARGIN] = {"margin",
                      "half the width of the change's confidence interval; null: not judged"},
    [TOTAL_CHANCE] = {"chance",
                      "p-value: probability of a difference this large between runs of the "
                      "same program; null: unknown"},
    [TOTAL_VERDICT] = {"verdict", "the result of the test"},
    [TOTAL_FOUND] = {"is_found", "it changed significantly, and by least_change or more"},
    [TOTAL_TEXT] = {"text", "the verdict in words"},
};
const struct column_table total_columns_table = {"Totals in JSON", "diff", "totals", total_columns,
                                                 TOTAL_COLUMNS};

/* `margin` holds only for what was judged; `chance` is below 0 where it is not known. */
static void total_fields(struct field *fields, const struct total_change *t)
{
    static const char *const UNITS[] = {
        [TOTAL_SECONDS] = "seconds", [TOTAL_BYTES] = "bytes", [TOTAL_COUNT] = "count"};
    double margin = t->verdict == TOTAL_UNJUDGED ? -1 : t->difference.margin;
    fields[TOTAL_NAME] = field_text(t->name);
    fields[TOTAL_UNIT] = field_text(UNITS[t->unit]);
    fields[TOTAL_OLD] = field_double(t->old);
    fields[TOTAL_NEW] = field_double(t->new);
    fields[TOTAL_GROWTH] = field_double(t->new - t->old);
    fields[TOTAL_MARGIN] = field_known(margin >= 0, field_double(margin));
    fields[TOTAL_CHANCE] = field_known(t->chance >= 0, field_double(t->chance));
    fields[TOTAL_VERDICT] = field_text(total_verdict_names[t->verdict]);
    fields[TOTAL_FOUND] = field_bool(t->is_found);
    fields[TOTAL_TEXT] = field_text(t->text);
}

/* Where one side has the function; null: it does not. */
static void comparison_json_identity(struct json *j, const char *key, const struct run_set *s,
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
    json_pair_bool(j, "is_inlined", id->is_inlined);
    json_end(j);
}

/* Members of what is not compared are absent, rather than null in every row: the summary says once
 * why there are none. */
static void comparison_json_row(struct json *j, const struct comparison *c,
                                const struct change *row)
{
    json_pair_str(j, "name", change_name(c, row));
    json_pair_str(j, "kind", change_kind_names[row->kind]);
    comparison_json_identity(j, "old", c->old, row->old);
    comparison_json_identity(j, "new", c->new, row->new);
    json_pair_bool(j, "is_found", row->is_found);
    if (c->compares_time) {
        comparison_json_measured(j, "self_time", &row->self_time);
        comparison_json_measured(j, "total_time", &row->total_time);
    }
    if (c->compares_samples) {
        comparison_json_measured(j, "self_share", &row->self);
        comparison_json_measured(j, "total_share", &row->total);
    }
    if (c->compares_calls) {
        json_key(j, "calls"), json_begin(j, '{');
        json_pair_double(j, "old", row->old_calls);
        json_pair_double(j, "new", row->new_calls);
        json_pair_double(j, "change", row->new_calls - row->old_calls);
        json_pair_double(j, "growth", change_calls_growth(row));
        json_pair_bool(j, "differ", row->calls_differ);
        json_end(j);
    }
}

/* The array of notes is open. */
static void comparison_json_note(void *context, const char *sentence)
{
    json_str(context, sentence);
}

/* Both sides, what grew in all, how it was judged, and a row for each function of either. */
void comparison_json(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    struct json j = {.out = out};
    json_document_begin(&j, "diff");
    comparison_json_side(&j, "old", c->old);
    comparison_json_side(&j, "new", c->new);
    JSON_ROWS(&j, "totals", i, c->totals.len) {
        struct field fields[TOTAL_COLUMNS];
        total_fields(fields, &c->totals.at[i]);
        columns_json(&j, total_columns, TOTAL_COLUMNS, fields);
    }
    json_key(&j, "summary"), json_begin(&j, '{');
    json_pair_str(&j, "judged_by", c->by_share ? "share" : "time");
    json_pair_double(&j, "noise_assumed", c->rules.noise);
    json_pair_bool(&j, "noise_is_assumed", c->is_assumed);
    json_pair_u64(&j, "totals_changed", c->totals_changed);
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
    JSON_ROWS(&j, "functions", i, c->len)
        comparison_json_row(&j, c, &c->rows[i]);
    json_end(&j);
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* Columns of CSV. Old and new stand beside each other, and the columns of its certainty after them,
 * so that the columns of one figure can be cut out together:
 *
 *     ROW_SHARE + 0 old   ROW_TIME + 0 old
 *               + 1 new            + 1 new
 *               + 2 chance         + 2 margin
 *                                  + 3 chance */
enum {
    ROW_NAME,
    ROW_LINKAGE,
    ROW_OBJECT,
    ROW_KIND,
    ROW_OLD_LINKAGE,
    ROW_SHARE, /* old, new, chance */
    ROW_TOTAL_SHARE = ROW_SHARE + 3,
    ROW_OLD_CALLS = ROW_TOTAL_SHARE + 3,
    ROW_NEW_CALLS,
    ROW_TIME, /* old, new, margin, chance */
    ROW_TOTAL_TIME = ROW_TIME + 4,
    ROW_FOUND = ROW_TOTAL_TIME + 4,
    ROW_INLINED,
    ROW_COLUMNS
};
static const char OLD_SHARE[] = "share of the old side's samples, 0 to 1";
static const char NEW_SHARE[] = "share of the new side's samples, 0 to 1";
static const char OLD_TIME[] = "in the mean run of the old side";
static const char NEW_TIME[] = "in the mean run of the new side";
static const char MARGIN[] = "half the width of the change's confidence interval; empty: unknown";
static const char CHANCE[] =
    "p-value: probability of a difference this large between equal programs";

static const struct column row_columns[ROW_COLUMNS] = {
    [ROW_NAME] = {"name", MEANS_NAME},
    [ROW_LINKAGE] = {"linkage_name",
                     "of the new side; of functions that are gone, of the old side"},
    [ROW_OBJECT] = {"object", "the library it is in; empty: the executable"},
    [ROW_KIND] = {"kind", "kept, new, gone, moved (to another file or object) or renamed"},
    [ROW_OLD_LINKAGE] = {"old_linkage_name", "empty if the function is new"},
    [ROW_SHARE] = {"old_self_share", OLD_SHARE},
    {"new_self_share", NEW_SHARE},
    {"self_chance", CHANCE},
    [ROW_TOTAL_SHARE] = {"old_total_share", OLD_SHARE},
    {"new_total_share", NEW_SHARE},
    {"total_chance", CHANCE},
    [ROW_OLD_CALLS] = {"old_calls", OLD_TIME},
    [ROW_NEW_CALLS] = {"new_calls", NEW_TIME},
    [ROW_TIME] = {"old_self_time", OLD_TIME},
    {"new_self_time", NEW_TIME},
    {"self_time_margin", MARGIN},
    {"self_time_chance", CHANCE},
    [ROW_TOTAL_TIME] = {"old_total_time", OLD_TIME},
    {"new_total_time", NEW_TIME},
    {"total_time_margin", MARGIN},
    {"total_time_chance", CHANCE},
    [ROW_FOUND] = {"is_found", "what is judged (summary.judged_by) changed, or calls did"},
    [ROW_INLINED] = {"is_inlined", "the row is its code in the functions that it was inlined into"},
};
const struct column_table comparison_columns = {"Columns", "diff", "functions", row_columns,
                                                ROW_COLUMNS};

/* Old and new, with `has_margin` the margin, and the chance: beside each other. */
static void measured_fields(struct field *fields, const struct measured_change *s, bool has_margin)
{
    fields[0] = field_double(s->old);
    fields[1] = field_double(s->new);
    if (has_margin)
        fields[2] = field_known(s->margin >= 0, field_double(s->margin));
    fields[2 + has_margin] = field_known(s->chance >= 0, field_double(s->chance));
}

/* A row a function, with both sides beside each other, as spreadsheets want it. Names of a row are
 * the new side's, of what is gone the old side's. Fields of times stay empty where shares alone
 * could be compared. */
void comparison_csv(struct out *out, const struct report_input *in)
{
    const struct comparison *c = in->comparison;
    struct csv_columns csv;
    csv_columns_begin(&csv, out, row_columns, ROW_COLUMNS,
                      "name,linkage_name,object,kind,old_linkage_name,old_self_share,"
                      "new_self_share,self_chance,old_total_share,new_total_share,total_chance,"
                      "old_calls,new_calls,old_self_time,new_self_time,self_time_margin,"
                      "self_time_chance,old_total_time,new_total_time,total_time_margin,"
                      "total_time_chance,is_found,is_inlined");
    csv_end(&csv.csv);
    for (uint32_t i = 0; i < c->len; i++) {
        const struct change *row = &c->rows[i];
        const struct identity *id = change_identity(c, row);
        bool is_old = row->old != NO_FUNCTION;
        struct field fields[ROW_COLUMNS] = {
            [ROW_NAME] = field_text(change_name(c, row)),
            [ROW_LINKAGE] = field_text(id->name),
            [ROW_OBJECT] = field_text(id->object),
            [ROW_KIND] = field_text(change_kind_names[row->kind]),
            [ROW_OLD_LINKAGE] = field_text(is_old ? c->old->ids.at[row->old].name : NULL),
            [ROW_OLD_CALLS] = field_double(row->old_calls),
            [ROW_NEW_CALLS] = field_double(row->new_calls),
            [ROW_FOUND] = field_bool(row->is_found),
            [ROW_INLINED] = field_bool(id->is_inlined)};
        measured_fields(fields + ROW_SHARE, &row->self, false);
        measured_fields(fields + ROW_TOTAL_SHARE, &row->total, false);
        if (c->compares_time) {
            measured_fields(fields + ROW_TIME, &row->self_time, true);
            measured_fields(fields + ROW_TOTAL_TIME, &row->total_time, true);
        }
        csv_columns_row(&csv, fields);
    }
}
