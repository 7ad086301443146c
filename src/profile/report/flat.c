/* The flat profile as text, JSON (docs/schema/flat.schema.json) and CSV.
 *
 * Text has a table of code and one of waits where a recording has both, each with shares of its own
 * whole. JSON and CSV have the rows in one list, with shares of all.
 *
 * One list of columns serves the three. Text shows those that people read, as many as fit the
 * width, and all with --wide: no figure is rounded or cut to make room, but whole columns are left
 * out (amounts a call before totals that were measured), and a line below the table names them. An
 * uncertainty stands where it is more than a tenth of the share. After the columns of this event
 * come those of the others, the name, and where it is defined if there is room beside the names.
 *
 * Below the rows of functions stand two that make the sum whole, in text and in CSV: what filters
 * and limits kept out, and what is in no function.
 *
 *      self%    +-  self s  total%  total s  calls  self/call  function  source
 *      60.00        0.240   60.00    0.240  10000   24.00 us  parse     parse.c:12
 *      35.00  4.67  0.140   95.00    0.380      1  140.00 ms  main      main.c:7
 *       5.00        0.020                       [3 more functions, not shown]
 *
 * Cost: one pass over the rows for each form; widths come from the totals, not from a pass of their
 * own, but for names, of which the first LOOKED_AT are measured. */
#include "profile/report/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* First the five columns that every table of functions has (COLUMNS_OF_FUNCTION), then those of
 * this one. FLAT_BASE_SHARE and all after it are of an older measurement: JSON has them as an
 * object and stops before them. */
enum {
    FLAT_KIND = FUNCTION_FIELDS,
    FLAT_INLINED,
    FLAT_SHARE,
    FLAT_SHARE_BETWEEN,
    FLAT_LOW,
    FLAT_HIGH,
    FLAT_SAMPLES,
    FLAT_TIME,
    FLAT_BETWEEN,
    FLAT_TIME_LOW,
    FLAT_TIME_HIGH,
    FLAT_SHARED,
    FLAT_CUMULATIVE,
    FLAT_TOTAL_SHARE,
    FLAT_TOTAL,
    FLAT_TOTAL_SAMPLES,
    FLAT_TOTAL_TIME,
    FLAT_TOTAL_LOW,
    FLAT_TOTAL_HIGH,
    FLAT_MODEL,
    FLAT_MODEL_ERROR,
    FLAT_MODEL_SAMPLES,
    FLAT_MODEL_TIME,
    FLAT_CALLS,
    FLAT_RECURSIVE,
    FLAT_SELF_PER_CALL,
    FLAT_TOTAL_PER_CALL,
    FLAT_BASE_SHARE,
    FLAT_BASE_CHANGE,
    FLAT_BASE_TOTAL,
    FLAT_BASE_CALLS,
    FLAT_COLUMNS
};

static const char OF_TOTAL[] =
    "95 % confidence interval of the share with callees, if stacks were recorded";

/* Text and programs often want one figure in two forms: text has time and the half width of an
 * interval, JSON and CSV have samples and both ends. Each form is a column, with or without a name
 * or heading, so that a reader of help finds both. Columns that depend on the data (stacks, several
 * runs, --base) say so at the start of their meaning. */
static const struct column columns[FLAT_COLUMNS] = {
    COLUMNS_OF_FUNCTION(0),
    [FLAT_KIND] = {"kind", MEANS_KIND},
    [FLAT_INLINED] = {"is_inlined", MEANS_INLINED},
    [FLAT_SHARE] = {"self_share",
                    "share of all samples, those outside any function included; 0 to 1 in JSON. In "
                    "text, rows on the CPU have shares of the CPU time, and waits of the waiting",
                    "self%", FORM_HEAT},
    [FLAT_SHARE_BETWEEN] = {NULL,
                            "half the width of the 95 % confidence interval of self%, in "
                            "points; with room for all samples of bins shared with others",
                            "+-", FORM_PERCENT, true},
    [FLAT_LOW] = {"self_share_low", MEANS_WILSON},
    [FLAT_HIGH] = {"self_share_high", MEANS_WILSON},
    [FLAT_SAMPLES] = {"self_samples",
                      "hits of the profiling clock in the function itself; a bin that "
                      "several functions share is split by bytes",
                      "samples", FORM_NUMBER},
    [FLAT_TIME] = {"self_time", MEANS_TIME, "self ?", FORM_NUMBER},
    [FLAT_BETWEEN] = {NULL,
                      "of several runs: half the width of the 95 % confidence interval of "
                      "the mean run's time",
                      "+-", FORM_NUMBER},
    [FLAT_TIME_LOW] = {"self_time_low", "only of several runs: the 95 % confidence interval of the "
                                        "mean run's time, by how the runs differ"},
    [FLAT_TIME_HIGH] = {"self_time_high", "the upper end of that interval"},
    [FLAT_SHARED] = {"shared_samples",
                     "only of histograms: samples in bins shared with other functions; all or "
                     "none of them may belong to this row, and self_share_low and "
                     "self_share_high allow for both"},
    [FLAT_CUMULATIVE] = {NULL, MEANS_CUMULATIVE, "cumulative", FORM_NUMBER},
    [FLAT_TOTAL_SHARE] = {NULL, "share of the samples in whose stack the function is", "total%",
                          FORM_PERCENT},
    [FLAT_TOTAL] = {NULL, "the same as time", "total ?", FORM_NUMBER},
    [FLAT_TOTAL_SAMPLES] = {"total_samples",
                            "samples with callees: measured if stacks were recorded, else the "
                            "model's estimate"},
    [FLAT_TOTAL_TIME] = {"total_time", MEANS_TIME},
    [FLAT_TOTAL_LOW] = {"total_share_low", OF_TOTAL},
    [FLAT_TOTAL_HIGH] = {"total_share_high", OF_TOTAL},
    [FLAT_MODEL] = {NULL, "with --model: what splitting by call counts makes of total", "model ?",
                    FORM_NUMBER},
    [FLAT_MODEL_ERROR] = {NULL, "with --model: its error, model - total", "off by", FORM_SIGNED},
    [FLAT_MODEL_SAMPLES] = {"model_total_samples",
                            "only if stacks were recorded: the estimate by call "
                            "counts"},
    [FLAT_MODEL_TIME] = {"model_total_time", "the same as time"},
    [FLAT_CALLS] = {"calls", "all calls, recursive ones included", "calls", FORM_NONZERO},
    [FLAT_RECURSIVE] = {"recursive_calls", "how many of them the function made itself"},
    [FLAT_SELF_PER_CALL] = {NULL, "self time divided by calls", "self/call", FORM_TEXT},
    [FLAT_TOTAL_PER_CALL] = {NULL,
                             "time with callees, divided by calls from other functions; "
                             "without recorded stacks an estimate",
                             "total/call", FORM_TEXT},
    [FLAT_BASE_SHARE] = {"base_self_share", "only with --base: self_share of the older profile",
                         "was%", FORM_PERCENT},
    [FLAT_BASE_CHANGE] = {NULL, "only with --base: points by which the share grew", "change",
                          FORM_POINTS},
    [FLAT_BASE_TOTAL] = {"base_total_share",
                         "only with --base: the share with callees of the older profile"},
    [FLAT_BASE_CALLS] = {"base_calls",
                         "only with --base: calls in the older profile; of several runs the mean",
                         "was", FORM_NUMBER},
};
const struct column_table flat_columns = {"Columns", "flat", "functions", columns, FLAT_COLUMNS};

/* The head of CSV, in its order: not that of the columns, since new columns came after those that
 * scripts knew. */
static const char CSV_COLUMNS[] =
    "kind,name,linkage_name,address,self_share,self_share_low,self_share_high,self_samples,"
    "self_time,total_samples,total_time,calls,recursive_calls,object";

/* What all forms print of a row. A figure in units of the dimension is known where the rate is, and
 * where the model says anything: it does not of inlined functions, whose calls are not counted.
 * Negative times and totals mean that the model says nothing. Members of a base stay absent where
 * the base did not know the function: 0 would say that it had taken no time. */
static void row_fields(struct field *fields, const struct report_input *in,
                       const struct flat_row *r)
{
    const struct summary *s = in->flat->summary;
    const struct change *was = in->base ? baseline_change(in->base, r->function) : NULL;
    fields[FLAT_SHARE] = field_double(summary_share(s, r->self));
    fields[FLAT_SAMPLES] = field_double(r->self);
    fields[FLAT_TIME] =
        field_known(s->rate > 0 && r->self >= 0, field_double(summary_time(s, r->self)));
    fields[FLAT_CALLS] = field_u64(r->calls);
    if (!was || was->old == NO_FUNCTION)
        return;
    /* A margin of the difference is that of both sides together. */
    double margin = fmax(was->self.margin, 0);
    fields[FLAT_BASE_SHARE] = field_about(was->self.old, M_SQRT1_2 * margin);
    fields[FLAT_BASE_CHANGE] = field_about(was->self.new - was->self.old, margin);
    fields[FLAT_BASE_TOTAL] = field_double(was->total.old);
    fields[FLAT_BASE_CALLS] = field_double(was->old_calls);
}

/* What programs get besides. Intervals are of shares, 0 to 1. Of a series the interval of the mean
 * run's time is clipped at 0, since a time is not below it. */
static void row_data(struct field *fields, const struct report_input *in, const struct flat_row *r)
{
    const struct summary *s = in->flat->summary;
    bool has_rate = s->rate > 0;
    row_fields(fields, in, r);
    function_fields(fields, in->names, r->function);
    fields[FLAT_KIND] = field_text(r->is_profiler ? "profiler" : "function");
    fields[FLAT_INLINED] = field_bool(in->names->functions->at[r->function].is_inlined);
    fields[FLAT_LOW] = field_double(r->interval.low);
    fields[FLAT_HIGH] = field_double(r->interval.high);
    fields[FLAT_TOTAL_SAMPLES] = field_double(r->total);
    fields[FLAT_TOTAL_TIME] =
        field_known(has_rate && r->total >= 0, field_double(summary_time(s, r->total)));
    fields[FLAT_RECURSIVE] = field_u64(r->recursive_calls);
    if (s->measured && s->measured->self_between && has_rate) {
        double self = summary_time(s, r->self);
        double half = summary_time(s, s->measured->self_between[r->function]);
        fields[FLAT_TIME_LOW] = field_double(fmax(0, self - half));
        fields[FLAT_TIME_HIGH] = field_double(self + half);
    }
    if (s->sharing)
        fields[FLAT_SHARED] =
            field_double(s->sharing->most[r->function] - s->sharing->least[r->function]);
    if (!s->stacks)
        return;
    struct interval total = summary_total_interval(s, r->function, r->total);
    fields[FLAT_TOTAL_LOW] = field_double(total.low);
    fields[FLAT_TOTAL_HIGH] = field_double(total.high);
    if (r->model >= 0) {
        fields[FLAT_MODEL_SAMPLES] = field_double(r->model);
        fields[FLAT_MODEL_TIME] = field_known(has_rate, field_double(summary_time(s, r->model)));
    }
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

/* Members after the columns: how much of the total came from callers that are not known, by reason;
 * the other events; the base. Reasons without a sample are left out of `unknown_callers`; events
 * have shares of their own samples. */
static void json_details(struct json *j, const struct summary *s, uint32_t function)
{
    static const char *const reasons[RECORDING_CUTS] = {
        [RECORDING_CUT_DEEP] = "too_deep",
        [RECORDING_CUT_NO_TABLE] = "no_unwind_table",
        [RECORDING_CUT_GENERATED] = "generated_code",
        [RECORDING_CUT_BROKEN] = "broken",
        [RECORDING_CUT_TOO_MANY] = "too_many_frames",
        [RECORDING_CUT_NO_STACK] = "not_recorded"};
    if (s->stacks && s->stacks->cut) {
        json_key(j, "unknown_callers"), json_begin(j, '{');
        for (uint32_t why = 0; why < RECORDING_CUTS; why++)
            if (s->stacks->cut[function].samples[why] > 0)
                json_pair_double(j, reasons[why], s->stacks->cut[function].samples[why]);
        json_end(j);
    }
    if (s->others.len)
        JSON_ROWS(j, "events", i, s->others.len) {
            const struct other_measure *other = &s->others.at[i];
            json_pair_str(j, "name", other->name);
            json_pair_double(j, "self_share", other_share(other, other->self[function]));
            json_pair_double(j, "self_samples", other->self[function]);
        }
}

/* Functions first, as programs mostly want nothing else; `omitted` has the sum of the functions
 * that filters and limits kept out, so that samples add up to those of the summary with its
 * `unattributed_samples`. */
void flat_json(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    struct json j = {.out = out};
    json_report_begin(&j, "flat", t->summary);
    JSON_ROWS(&j, "functions", i, t->len) {
        struct field fields[FLAT_COLUMNS] = {0};
        row_data(fields, in, &t->rows[i]);
        columns_json(&j, columns, FLAT_BASE_SHARE, fields); /* the base is an object */
        json_details(&j, t->summary, t->rows[i].function);
        base_json(&j, in->base, t->rows[i].function, true);
    }
    json_key(&j, "omitted"), json_begin(&j, '{');
    json_pair_u64(&j, "functions", t->omitted.functions);
    json_pair_double(&j, "self_samples", t->omitted.self);
    json_pair_u64(&j, "calls", t->omitted.calls);
    json_end(&j);
    json_end(&j);
}

/* A line, with the shares of the other events and the base after it; `r` NULL: of no function. */
static void csv_row(struct csv_columns *c, const struct report_input *in,
                    const struct field *fields, const struct flat_row *r)
{
    const struct other_measures *others = &in->flat->summary->others;
    csv_columns_fields(c, fields);
    for (size_t i = 0; i < others->len; i++)
        csv_double(&c->csv, r ? other_share(&others->at[i], others->at[i].self[r->function]) : NAN);
    for (int i = 0; i < 3 && in->base; i++) {
        static const int BASE[] = {FLAT_BASE_SHARE, FLAT_BASE_TOTAL, FLAT_BASE_CALLS};
        csv_double(&c->csv, fields[BASE[i]].kind == FIELD_DOUBLE ? fields[BASE[i]].amount : NAN);
    }
    csv_end(&c->csv);
}

/* Two more rows than functions: of kind `omitted` and `unattributed`, without a name, so that a
 * column adds up to the whole in a spreadsheet too. Columns of other events and the base come
 * last. */
void flat_csv(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    const struct {
        const char *kind;
        double self;
        uint64_t calls;
    } rests[] = {{"omitted", t->omitted.self, t->omitted.calls},
                 {"unattributed", s->unattributed, s->unknown_callees}};
    struct csv_columns c;
    csv_columns_begin(&c, out, columns, FLAT_COLUMNS, CSV_COLUMNS);
    /* Names of events may have commas: perf's `cache-misses/period=100,name=x/` is one column. */
    struct arena scratch = {0};
    for (size_t i = 0; i < s->others.len; i++)
        csv_str(&c.csv, arena_printf(&scratch, "self_share of %s", s->others.at[i].name));
    arena_deinit(&scratch);
    for (int i = FLAT_BASE_SHARE; i < FLAT_COLUMNS && in->base; i++)
        if (columns[i].name)
            csv_str(&c.csv, columns[i].name);
    csv_end(&c.csv);
    for (uint32_t i = 0; i < t->len; i++) {
        struct field fields[FLAT_COLUMNS] = {0};
        row_data(fields, in, &t->rows[i]);
        csv_row(&c, in, fields, &t->rows[i]);
    }
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        struct field fields[FLAT_COLUMNS] = {
            [FLAT_KIND] = field_text(rests[i].kind),
            [FLAT_SHARE] = field_double(summary_share(s, rests[i].self)),
            [FLAT_SAMPLES] = field_double(rests[i].self),
            [FLAT_TIME] = field_known(s->rate > 0, field_double(summary_time(s, rests[i].self))),
            [FLAT_CALLS] = field_u64(rests[i].calls)};
        csv_row(&c, in, fields, NULL);
    }
}

/* --- text ------------------------------------------------------------------------------------- */

/* All columns of which there are data; samples where time does not say the same, and with sums down
 * the table if all are wanted. Their order is that of reading: how much of all, then amounts, then
 * calls. A column whose unit is not known has `?` there; samples that were spread over functions by
 * bins have two decimals. Waits call nothing. */
static struct text_columns text_layout(const struct report_input *in, bool of_waits)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    bool has_time = s->has_samples && s->rate > 0;
    struct text_columns l = {.columns = columns,
                             .len = FLAT_COLUMNS,
                             .style = &in->style,
                             .unit = has_time ? s->abbreviation ? s->abbreviation : '?' : 0};
    bool is_whole = !in->style.width, has_between = is_whole;
    for (uint32_t i = 0; i < t->len && !has_between; i++)
        has_between = interval_matters(t->rows[i].interval, summary_share(s, t->rows[i].self));
    int decimals = summary_decimals(s), percent = text_share_decimals(s);
    int time = text_digits((uint64_t)summary_time(s, s->samples)) + decimals + 1;
    if (s->has_samples) {
        text_column(&l, FLAT_SHARE, 4 + percent, percent);
        if (has_between)
            text_column(&l, FLAT_SHARE_BETWEEN, 3 + percent, percent);
        if (is_whole || !has_time)
            text_column(&l, FLAT_SAMPLES,
                        text_digits((uint64_t)s->samples) + (t->has_fractions ? 3 : 0),
                        t->has_fractions ? 2 : 0);
    }
    if (has_time) {
        text_column(&l, FLAT_TIME, time, decimals);
        if (s->measured && s->measured->self_between)
            text_column(&l, FLAT_BETWEEN, time, decimals);
        if (is_whole)
            text_column(&l, FLAT_CUMULATIVE, time, decimals);
    }
    if (of_waits)
        return l;
    if (s->stacks) {
        text_column(&l, FLAT_TOTAL_SHARE, 4 + percent, percent);
        text_column(&l, FLAT_TOTAL, time, decimals);
    }
    if (t->shows_model) {
        text_column(&l, FLAT_MODEL, time, decimals);
        text_column(&l, FLAT_MODEL_ERROR, time + 1, decimals);
    }
    if (s->calls)
        text_column(&l, FLAT_CALLS, text_digits(s->calls), 0);
    if (s->calls && has_time) {
        text_column(&l, FLAT_SELF_PER_CALL, 8, 0);
        text_column(&l, FLAT_TOTAL_PER_CALL, 8, 0);
    }
    if (in->base && in->base->old.has_samples) {
        text_column(&l, FLAT_BASE_SHARE, 4 + percent, percent);
        text_column(&l, FLAT_BASE_CHANGE, 7, 2);
    }
    if (in->base && in->base->old.has_calls)
        text_column(&l, FLAT_BASE_CALLS, text_digits(in->base->old.calls), 0);
    return l;
}

/* What a row has after its figures: the name, padded to `name` columns where a place follows, which
 * has at most `place`; 0: none are shown. */
struct flat_ends {
    int used, name, place;
};

/* Leaves out columns so that most names are whole, up to a length from which they lose their
 * middle; what is left may have room for places.
 *
 * `besides`: columns of the row that are not in the table, those of other events and the gaps.
 * Names want between NAME_ROOM and ENOUGH columns: waiting for the longest C++ name would leave no
 * figures. */
static struct flat_ends text_fit(struct text_columns *l, const struct report_input *in,
                                 const char *title, int besides)
{
    static const uint8_t ORDER[] = {FLAT_TOTAL_PER_CALL, FLAT_SELF_PER_CALL};
    enum { ENOUGH = 32, LOOKED_AT = 50, MOST_PLACE = 28, HEADING = 6 };
    const struct flat *t = in->flat;
    int widest = (int)strlen(title), placed = widest, place = 0;
    for (uint32_t i = 0; i < t->len && i < LOOKED_AT; i++) {
        const struct flat_row *r = &t->rows[i];
        int width = text_function_width(in->names, r->function, &in->style);
        int at = r->file ? (int)strlen(path_base_name(r->file)) + 1 + text_digits(r->line) : 0;
        widest = width > widest ? width : widest;
        placed = at && width > placed ? width : placed;
        place = at > place ? at : place;
    }
    int wanted = widest < NAME_ROOM ? NAME_ROOM : widest < ENOUGH ? widest : ENOUGH;
    if (t->summary->stacks)
        text_columns_fit(l, ORDER, sizeof ORDER, besides, wanted);
    place = place > MOST_PLACE ? MOST_PLACE : place && place < HEADING ? HEADING : place;
    struct flat_ends ends = {.used = l->width + besides, .name = placed, .place = place};
    int room = in->style.width ? in->style.width - ends.used - 2 - place : ENOUGH;
    if (room < wanted)
        ends.place = 0;
    else if (placed > room)
        ends.name = room;
    return ends;
}

/* "12.34 us", or nothing where there was no call. Below 0: no calls from others, or not known.
 * `into` is what the field points to. The interval is that of the share of all calls' time: calls
 * are counted, so that the time of one is as uncertain as that of all. */
static struct field amount_per_call(char *into, size_t size, const struct summary *s,
                                    double samples, struct interval share)
{
    double middle = (share.high + share.low) / 2;
    if (samples < 0)
        return (struct field){0};
    text_amount(into, size, summary_time(s, samples),
                middle > 0 ? interval_half(share) / middle : 0, s->abbreviation);
    return field_text(into);
}

/* What has no value in this row stays blank: a field without a kind. `whole`: the samples that
 * shares are of. */
static void text_row(struct out *out, const struct text_columns *l, const struct report_input *in,
                     const struct flat_row *r, double whole, const struct flat_ends *ends)
{
    const struct summary *s = in->flat->summary;
    const struct stacks *m = s->measured;
    double unit = l->unit ? s->rate : 1; /* totals are in samples where there is no rate */
    double scale = s->samples > 0 ? s->samples / whole : 1;
    struct interval all = !s->stacks          ? summary_interval(s, fmax(r->total, 0))
                          : in->flat->off > 0 ? summary_cpu_interval(s, r->function, r->total)
                                              : summary_total_interval(s, r->function, r->total);
    /* One error serves share and time, as the sum of all samples is no estimate. */
    double half = interval_half(r->interval), total_half = interval_half(all);
    double total_error = total_half * s->samples / unit;
    char self[32], total[32], line[16];
    struct out name;
    struct field fields[FLAT_COLUMNS] = {0};
    row_fields(fields, in, r);
    bool matters = !in->style.width || interval_matters(r->interval, summary_share(s, r->self));
    fields[FLAT_SHARE] = field_about(scale * summary_share(s, r->self), scale * half);
    fields[FLAT_TIME].error = summary_time(s, half * s->samples);
    if (s->samples > 0 && matters)
        fields[FLAT_SHARE_BETWEEN] = field_about(scale * half, scale * half);
    if (m && m->self_between && m->self_between[r->function] >= 0) {
        double between = summary_time(s, m->self_between[r->function]);
        fields[FLAT_BETWEEN] = field_about(between, between);
    }
    fields[FLAT_CUMULATIVE] = field_double(summary_time(s, r->running));
    fields[FLAT_TOTAL_SHARE] = field_about(scale * summary_share(s, r->total), scale * total_half);
    fields[FLAT_TOTAL] = field_about(r->total / unit, total_error);
    fields[FLAT_MODEL] = field_about(r->model / unit, total_error);
    fields[FLAT_MODEL_ERROR] = field_about((r->model - r->total) / unit, total_error);
    fields[FLAT_SELF_PER_CALL] =
        amount_per_call(self, sizeof self, s, flat_self_per_call(r), r->interval);
    fields[FLAT_TOTAL_PER_CALL] =
        amount_per_call(total, sizeof total, s, flat_total_per_call(r), all);
    text_columns_row(out, l, fields, s->samples > 0);
    for (size_t i = 0; i < s->others.len; i++)
        others_share(out, &s->others.at[i], s->others.at[i].self[r->function]);
    out_str(out, "  ");
    bool has_place = r->file && ends->place;
    int kept = has_place && l->style->width ? ends->place + 2 : 0;
    if (!has_place) {
        text_function_behind(out, in->names, r->function, l->style, ends->used);
    } else {
        out_init(&name, -1);
        text_function_behind(&name, in->names, r->function, l->style, ends->used + kept);
        out_bytes(out, name.at, name.len);
        int width = text_name_width(name.at, name.len);
        const char *file = path_base_name(r->file);
        int digits = snprintf(line, sizeof line, ":%" PRIu32, r->line);
        out_spaces(out, 2 + (size_t)(width < ends->name ? ends->name - width : 0));
        text_name_within(out, file, strlen(file), ends->place - digits);
        out_bytes(out, line, (size_t)digits);
        out_deinit(&name);
    }
    out_char(out, '\n');
}

/* Rows of a table of their own: functions, or waits. */
struct flat_part {
    struct text_columns columns;
    const char *title;
    uint32_t from, to; /* rows */
    double whole;      /* what shares are of, in samples */
    const struct flat_rest *omitted;
    struct flat_ends ends;
    int indent;
};

/* A row that stands for what is in no row, up to its words. `running`: the sum down to here, so
 * that the last row reaches the whole in the column cumulative. */
static void text_rest(struct out *out, const struct flat_part *p, const struct summary *s,
                      double self, double running, uint64_t calls)
{
    /* No function's: its error is that of so many samples drawn alone. */
    double half = summary_error(s, self), error = summary_time(s, half * s->samples);
    double scale = s->samples > 0 ? s->samples / p->whole : 1;
    struct field fields[FLAT_COLUMNS] = {
        [FLAT_SHARE] = field_about(scale * summary_share(s, self), scale * half),
        [FLAT_SAMPLES] = field_double(self),
        [FLAT_TIME] = field_about(summary_time(s, self), error),
        [FLAT_CUMULATIVE] = field_double(summary_time(s, running)),
        [FLAT_CALLS] = field_u64(calls)};
    out_spaces(out, (size_t)p->indent);
    text_columns_row(out, &p->columns, fields, false);
    out_spaces(out, 2 + (size_t)others_width(&s->others));
}

/* A table with its head and rests. */
static void text_part(struct out *out, const struct report_input *in, const struct flat_part *p)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    double running = p->to > p->from ? t->rows[p->to - 1].running : 0;
    out_printf(out, "\n%*s", p->indent, "");
    text_columns_head(out, &p->columns);
    others_head(out, &s->others);
    out_printf(out, "  %s", p->title);
    if (p->ends.place) {
        out_spaces(out, (size_t)p->ends.name - strlen(p->title) + 2);
        out_str(out, "source");
    }
    out_char(out, '\n');
    for (uint32_t i = p->from; i < p->to; i++) {
        out_spaces(out, (size_t)p->indent);
        text_row(out, &p->columns, in, &t->rows[i], p->whole, &p->ends);
    }
    if (p->omitted->functions) {
        bool is_idle = p->omitted->functions == p->omitted->idle; /* all of them */
        if (!t->len)
            text_none_passes(out, "function");
        running += p->omitted->self;
        text_rest(out, p, s, p->omitted->self, running, p->omitted->calls);
        text_more(out, p->omitted->functions, p->omitted == &t->omitted ? "function" : "kind",
                  is_idle ? "--all" : NULL);
    }
    if (p->omitted == &t->omitted && (s->unattributed != 0 || s->unknown_callees)) {
        running += s->unattributed;
        text_rest(out, p, s, s->unattributed, running, s->unknown_callees);
        out_str(out, TEXT_UNATTRIBUTED);
    }
}

/* What leads by self time may be anybody's: memcpy, the kernel, a wait. What of the program led
 * there stands in front. */
static void text_own(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    /* As in the table below, of which each of these functions may have a row. */
    int decimals = text_share_decimals(s);
    if (!t->own_len)
        return;
    out_printf(out, "\ntotal%%  total %c  your functions by total\n",
               s->abbreviation ? s->abbreviation : '?');
    for (uint32_t i = 0; i < t->own_len; i++) {
        double total = flat_total(t, t->own[i]), scale = s->samples / (s->samples - t->off);
        double share = scale * summary_share(s, total);
        double half = interval_half(t->off > 0 ? summary_cpu_interval(s, t->own[i], total)
                                               : summary_total_interval(s, t->own[i], total));
        text_heat_on(out, &in->style, share);
        text_known_share(out, share, scale * half, 4 + decimals, decimals);
        text_heat_off(out, &in->style, share);
        text_known(out, summary_time(s, total), summary_time(s, half * s->samples), 9,
                   summary_decimals(s));
        out_str(out, "  ");
        text_function_behind(out, in->names, t->own[i], &in->style, 17);
        out_char(out, '\n');
    }
}

/* Head, notes, table, legend, and which columns had no room. A filter that lets nothing pass says
 * so: an empty table looks like an empty profile. What a program did and what it waited for are two
 * questions: 3 s in a sleep would push 1 s of work off the screen, and make a third of it. */
void flat_text(struct out *out, const struct report_input *in)
{
    const struct flat *t = in->flat;
    const struct summary *s = t->summary;
    struct flat_part work = {.columns = text_layout(in, false),
                             .title = t->off > 0 ? "on the CPU" : "function",
                             .to = t->on_len,
                             .whole = s->samples - t->off,
                             .omitted = &t->omitted};
    /* Without samples the first column is that of calls, and stands two columns off the margin. */
    work.indent = !s->has_samples && work.columns.width ? 2 : 0;
    int besides = work.indent + others_width(&s->others) + 2;
    work.ends = text_fit(&work.columns, in, work.title, besides);
    struct flat_part waits = {.columns = text_layout(in, true),
                              .title = "off the CPU",
                              .from = t->on_len,
                              .to = t->len,
                              .whole = t->off,
                              .omitted = &t->omitted_waits};
    waits.ends.used = waits.columns.width + besides;
    text_summary(out, s);
    text_notes(out, s);
    if (!t->len && !t->omitted.functions && !t->omitted_waits.functions && s->unattributed == 0 &&
        !s->unknown_callees)
        return; /* without samples and calls the head is all */
    text_own(out, in);
    if (t->on_len || !t->len)
        text_part(out, in, &work);
    if (t->on_len < t->len)
        text_part(out, in, &waits);
    if (s->samples > 0 && work.columns.shape[FLAT_SHARE_BETWEEN].width)
        text_interval_legend(out, s);
    out_prose(out);
    text_columns_left_out(out, &work.columns);
    out_prose_end(out);
}
