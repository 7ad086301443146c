/* The ranks of a parallel job as text, JSON (docs/schema/ranks.schema.json) and CSV.
 *
 * Text is read from the top: what imbalance costs and who has it, what happened to single ranks,
 * then the table by function, calls of MPI, outliers and groups; each part only where there is
 * something to say. JSON has all of them, CSV the table by function. Times are seconds.
 *
 *     Ranks      16 of 16 on 2 machines; 1.204 s of CPU time a rank, 0.310 s of it in MPI
 *     Imbalance  0.412 s: rank 3 on node2 works 1.306 s outside of MPI, the mean is 0.894 s
 *     POP        load balance 68.5 %, communication 93.1 %, parallel efficiency 63.7 %
 *     Rank 7     failed first, by SIGKILL, 0.9 s after its start
 *
 *       cost s    mean s  median s     min s   rank     max s   rank  deviat s  ranks  function
 *        0.400     0.205     0.201     0.198      5     0.605      3     0.101     16  smooth
 *
 * Names are shortened in text alone. */
#include "profile/report/writers.h"

#include "base/sort.h"
#include "output/formats.h"
#include "profile/analysis/ranks/ranks.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* --- columns ---------------------------------------------------------------------------------- */

/* Of a region over all ranks, in the order of text: cost first, as it says which row to look at;
 * the name last, as it is as wide as it is. Ranks follow the extreme that is theirs. */
enum {
    ROW_KIND,
    ROW_COST,
    ROW_MEAN,
    ROW_MEDIAN,
    ROW_MEDIAN_RANK,
    ROW_LEAST,
    ROW_LEAST_RANK,
    ROW_MOST,
    ROW_MOST_RANK,
    ROW_DEVIATION,
    ROW_RANKS,
    ROW_SHARED,
    ROW_PARTIAL,
    ROW_NAME,
    ROW_OBJECT,
    ROW_SOURCE,
    ROW_INLINED,
    ROW_COLUMNS
};

static const struct column columns[ROW_COLUMNS] = {
    [ROW_KIND] = {"kind", "useful: all time outside of MPI; function; or mpi: a call of MPI with "
                          "all that runs in it"},
    [ROW_COST] = {"cost_time", "seconds, max - mean: what perfect balance would save at most",
                  "cost s", FORM_NUMBER},
    [ROW_MEAN] = {"mean_time", "seconds, over all ranks; ranks without it count as 0", "mean s",
                  FORM_NUMBER},
    [ROW_MEDIAN] = {"median_time", "seconds", "median s", FORM_NUMBER},
    [ROW_MEDIAN_RANK] = {"median_rank", "a rank that has the median"},
    [ROW_LEAST] = {"min_time", "seconds", "min s", FORM_NUMBER},
    [ROW_LEAST_RANK] = {"min_rank", "the rank that has it; null: not known", "rank", FORM_NUMBER,
                        true},
    [ROW_MOST] = {"max_time", "seconds", "max s", FORM_NUMBER},
    [ROW_MOST_RANK] = {"max_rank", "the rank that has it", "rank", FORM_NUMBER, true},
    [ROW_DEVIATION] = {"deviation_time", "seconds: standard deviation over ranks", "deviat s",
                       FORM_NUMBER},
    [ROW_RANKS] = {"ranks", "how many ranks have it", "ranks", FORM_NUMBER},
    [ROW_SHARED] = {"mean_time_of_those", "seconds, over the ranks that have it"},
    [ROW_PARTIAL] = {"is_partial", "other ranks lack it, which is no accident of sampling"},
    [ROW_NAME] = {"name", "the function, or the call of MPI", "function", FORM_LEFT},
    [ROW_OBJECT] = {"object", "the library it is in; absent: the executable, if all ranks ran the "
                              "same"},
    [ROW_SOURCE] = {"source", MEANS_SOURCE},
    [ROW_INLINED] = {"is_inlined", MEANS_INLINED},
};

const struct column_table ranks_columns = {"Columns", "ranks", "rows", columns, ROW_COLUMNS};

/* Ranks are numbered here from 0; people know them by their number in the job. */
static uint32_t ranks_number(const struct rank_table *t, uint32_t number)
{
    return t->set->ranks.at[number].rank;
}

/* Values of large jobs may stand in a histogram of the region (rank_set.c).
 *
 * Null where a histogram does not say whose value it is. */
static struct field ranks_field(const struct rank_table *t, uint32_t number)
{
    return field_known(number != RANK_NONE,
                       field_u64(number == RANK_NONE ? 0 : ranks_number(t, number)));
}

/* The file of its source where that distinguishes it from others of its name; or NULL. */
static const char *ranks_source(const struct rank_row *row)
{
    return row->has_namesake && *row->region->key.source ? row->region->key.source : NULL;
}

/* All columns of a row: text leaves out some, JSON what is absent. */
static void ranks_fields(struct field *fields, const struct rank_table *t,
                         const struct rank_row *row)
{
    static const char *const KINDS[] = {"useful", "function", "mpi"};
    const struct rank_region *r = row->region;
    fields[ROW_KIND] = field_text(KINDS[r->key.kind]);
    fields[ROW_COST] = field_double(row->cost);
    fields[ROW_MEAN] = field_double(row->mean);
    fields[ROW_MEDIAN] = field_double(row->median);
    fields[ROW_MEDIAN_RANK] = ranks_field(t, row->median_rank);
    fields[ROW_LEAST] = field_double(row->least);
    fields[ROW_LEAST_RANK] = ranks_field(t, row->least_rank);
    fields[ROW_MOST] = field_double(row->most);
    fields[ROW_MOST_RANK] = ranks_field(t, row->most_rank);
    fields[ROW_DEVIATION] = field_double(row->deviation);
    fields[ROW_RANKS] = field_u64(r->seen);
    fields[ROW_SHARED] = field_double(row->shared);
    fields[ROW_PARTIAL] = field_bool(row->is_partial);
    fields[ROW_NAME] = field_text(r->key.name);
    fields[ROW_OBJECT] = field_text_if(rank_region_object(t->set, r));
    fields[ROW_SOURCE] = field_text_if(ranks_source(row));
    fields[ROW_INLINED] = field_bool(r->key.is_inlined);
}

/* --- text: words ------------------------------------------------------------------------------ */

/* How a rank ended: "SIGKILL", "status 3". */
static const char *ranks_end(int32_t status, struct arena *a)
{
    char signal[16];
    if (!WIFSIGNALED(status))
        return arena_printf(a, "status %d", WEXITSTATUS(status));
    text_signal(signal, sizeof signal, WTERMSIG(status));
    return arena_copy(a, signal, strlen(signal));
}

/* " on node2", if there are several machines. */
static void ranks_text_host(struct out *out, const struct rank_table *t, uint32_t number)
{
    if (t->hosts > 1 && *t->set->ranks.at[number].host) {
        out_str(out, " on ");
        text_name(out, t->set->ranks.at[number].host);
    }
}

/* Jobs are described by their numbers: neighbours mostly behave alike.
 *
 * Ranks in ascending order as ranges: "0-6, 8-15"; the first few. `all`: how many there are, of
 * which the first `len` are known. */
static void ranks_text_ranges(struct out *out, const uint32_t *ranks, size_t len, size_t all)
{
    enum { MOST_RANGES = 8 };
    size_t ranges = 0;
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && ranks[end] == ranks[end - 1] + 1;)
            end++;
        if (ranges++ == MOST_RANGES) {
            out_printf(out, " and %zu more", all - i);
            return;
        }
        out_printf(out, end - i > 1 ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32, i ? ", " : "",
                   ranks[i], ranks[end - 1]);
    }
    if (all > len)
        out_printf(out, " and %zu more", all - len);
}

/* Names in brackets say themselves what they are in. */
static void ranks_text_name(struct out *out, const struct rank_table *t, const struct rank_row *row,
                            struct arena *a)
{
    const struct rank_region_key *key = &row->region->key;
    text_name(out, names_short(key->name, a));
    const char *source = ranks_source(row);
    text_function_place(out, source ? path_base_name(source) : NULL,
                        *key->name == '[' ? NULL : rank_region_object(t->set, row->region),
                        key->is_inlined);
}

/* --- text: the head --------------------------------------------------------------------------- */

/* A line for each rank that something happened to, but for those that are missing, which may be
 * many and have nothing else to report. */
static void ranks_text_events(struct out *out, const struct rank_table *t, struct arena *a)
{
    enum { MOST_LINES = 8 };
    uint32_t *missing = ARENA_NEW(a, uint32_t, t->events.len);
    size_t len = 0, lines = 0, failed = 0;
    for (size_t i = 0; i < t->events.len; i++) {
        const struct rank_event *e = &t->events.at[i];
        if (e->kind == RANK_MISSING) {
            missing[len++] = e->number;
            continue;
        }
        if (lines++ >= MOST_LINES)
            continue;
        char label[24];
        snprintf(label, sizeof label, "Rank %" PRIu32, ranks_number(t, e->number));
        out_printf(out, "%-10s ", label);
        if (e->kind == RANK_FAILED)
            out_printf(out, "%s, by %s, %.1f s after its start",
                       failed++ ? "failed" : "failed first",
                       ranks_end(t->set->ranks.at[e->number].status, a), e->seconds);
        else
            out_printf(out, "%s %.2f s %s the others", e->kind == RANK_EARLY ? "ended" : "started",
                       e->seconds, e->kind == RANK_EARLY ? "before" : "after");
        ranks_text_host(out, t, e->number);
        out_char(out, '\n');
    }
    /* A launcher kills all ranks after the first: a thousand lines of that help no reader. */
    if (lines > MOST_LINES) {
        out_spaces(out, 11);
        text_more(out, lines - MOST_LINES, "rank", NULL);
    }
    if (!len)
        return;
    out_printf(out, "Missing    %" PRIu32 " of %" PRIu32 " ranks are in no recording: ",
               t->size - t->len, t->size);
    ranks_text_ranges(out, missing, len, t->size - t->len);
    out_char(out, '\n');
}

/* The answer in three lines: how many, what imbalance costs, how efficient the job was. */
static void ranks_text_head(struct out *out, const struct rank_table *t, struct arena *a)
{
    /* The first row is always the useful time of the whole job, whatever was measured besides. */
    const struct rank_row *useful = &t->rows[0];
    out_printf(out, "Ranks      %" PRIu32 " of %" PRIu32, t->len, t->size);
    if (t->hosts > 1)
        out_printf(out, " on %" PRIu32 " machines", t->hosts);
    else if (*t->set->ranks.at[0].host) {
        out_str(out, " on ");
        text_name(out, t->set->ranks.at[0].host);
    }
    out_printf(out, "; %.3f s a rank, %.3f s of it in MPI\n", t->total_mean, t->mpi_mean);
    if (useful->most > 0) {
        out_printf(out, "Imbalance  %.3f s: rank %" PRIu32, useful->cost,
                   ranks_number(t, useful->most_rank));
        ranks_text_host(out, t, useful->most_rank);
        out_printf(out, " works %.3f s outside of MPI, the mean is %.3f s\n", useful->most,
                   useful->mean);
    }
    /* Of a recording that was cut off no runtime is known, and no efficiency. */
    if (t->parallel >= 0)
        out_printf(out,
                   "POP        load balance %.1f %%, communication %.1f %%, parallel efficiency "
                   "%.1f %% of %.3f s\n",
                   100 * t->balance, 100 * t->communication, 100 * t->parallel, t->runtime);
    ranks_text_events(out, t, a);
    /* What cannot be seen in three decimals is not worth a line. */
    if (t->set->outside > 0.0005 * (1 + t->total_mean * t->len))
        out_printf(out, "Left out   %.3f s of processes that are no rank, as the launcher\n",
                   t->set->outside);
}

/* --- text: tables ----------------------------------------------------------------------------- */

/* A table of functions, or of calls of MPI: both have the same columns, but a function that some
 * ranks lack is reported, while a call in which no rank waited is not missing.
 *
 * Rows of a kind: those with time on some rank of which a thousandth of a rank's time would be
 * seen. */
static void ranks_text_rows(struct out *out, const struct rank_table *t, enum rank_region_kind kind,
                            const char *title, const struct report_input *in, struct arena *a)
{
    /* Deviation and median go first where the width has no room: cost and extremes are what the
     * report is for. */
    struct text_columns l = {.columns = columns, .len = ROW_COLUMNS, .style = &in->style};
    static const uint8_t TIMES[] = {ROW_COST,  ROW_MEAN, ROW_MEDIAN,
                                    ROW_LEAST, ROW_MOST, ROW_DEVIATION};
    static const uint8_t ORDER[] = {ROW_DEVIATION, ROW_MEDIAN};
    size_t shown = 0, rest = 0, limit = in->shown_functions;
    for (size_t i = 0; i < sizeof TIMES; i++)
        text_column(&l, TIMES[i], 8, 3);
    text_column(&l, ROW_LEAST_RANK, text_digits(t->size), 0);
    text_column(&l, ROW_MOST_RANK, text_digits(t->size), 0);
    text_column(&l, ROW_RANKS, text_digits(t->size), 0);
    text_columns_fit(&l, ORDER, sizeof ORDER, 2, 24);
    for (uint32_t i = 0; i < t->rows_len; i++) {
        const struct rank_row *row = &t->rows[i];
        if (row->region->key.kind != kind || row->most < 0.001 * t->total_mean)
            continue;
        /* The limit is of one table. Rows beyond it are counted, so that no reader takes the table
         * for whole. */
        if (shown >= limit && limit) {
            rest++;
            continue;
        }
        if (!shown++) {
            out_printf(out, "\n%s\n", title);
            text_columns_head(out, &l);
            out_printf(out, "  %s\n", kind == RANK_REGION_MPI ? "call" : "function");
        }
        struct field fields[ROW_COLUMNS] = {0};
        ranks_fields(fields, t, row);
        text_columns_row(out, &l, fields, false);
        out_str(out, "  ");
        ranks_text_name(out, t, row, a);
        out_str(out, row->is_partial ? "  (not on all ranks)\n" : "\n");
    }
    text_more(out, rest, "", "--limit 0");
}

/* A rank that waits less in MPI than the others is the one for which they wait. */
static void ranks_text_outliers(struct out *out, const struct rank_table *t, size_t limit,
                                struct arena *a)
{
    if (!t->outliers_len)
        return;
    out_printf(out,
               "\nOutliers: beyond what the other ranks scatter by, and sampling\n%6s  %8s  "
               "%8s  %8s  where\n",
               "rank", "s", "median s", "+- s");
    for (size_t i = 0; i < t->outliers_len && (!limit || i < limit); i++) {
        const struct rank_outlier *o = &t->outliers[i];
        out_printf(out, "%6" PRIu32 "  %8.3f  %8.3f  %+8.3f  ", ranks_number(t, o->number),
                   o->seconds, o->row->median, o->seconds - o->row->median);
        ranks_text_name(out, t, o->row, a);
        if (o->row->region->key.kind == RANK_REGION_MPI && o->seconds < o->row->median)
            out_str(out, "  (the others wait longer)");
        ranks_text_host(out, t, o->number);
        out_char(out, '\n');
    }
    if (limit && t->outliers_len > limit)
        text_more(out, t->outliers_len - limit, "", "--limit 0");
}

/* One group has nothing to be compared with. The others are described by their differences from the
 * largest one. */
static void ranks_text_groups(struct out *out, const struct rank_table *t, struct arena *a)
{
    enum { MOST_GROUPS = 8 };
    if (t->groups_len < 2)
        return;
    out_printf(out, "\nGroups of ranks that behave alike\n%6s  %8s  %8s  ranks\n", "count",
               "useful s", "MPI s");
    for (size_t i = 0; i < t->groups_len && i < MOST_GROUPS; i++) {
        const struct rank_group *g = &t->groups[i];
        uint32_t *ranks = ARENA_NEW(a, uint32_t, g->len);
        for (uint32_t k = 0; k < g->len; k++)
            ranks[k] = ranks_number(t, g->numbers[k]);
        out_printf(out, "%6" PRIu32 "  %8.3f  %8.3f  ", g->len, g->useful, g->mpi);
        ranks_text_ranges(out, ranks, g->len, g->len);
        /* The three that differ most: more would not help to see what the group is. */
        for (size_t k = 0; k < 3 && g->rows[k]; k++) {
            out_printf(out, "%s%.3f s of ", k ? ", " : ": ", g->seconds[k]);
            ranks_text_name(out, t, g->rows[k], a);
        }
        out_char(out, '\n');
    }
    if (t->groups_len > MOST_GROUPS)
        text_more(out, t->groups_len - MOST_GROUPS, "group", NULL);
}

/* One rank beside another, or beside the median, in place of all tables. */
static void ranks_text_pairs(struct out *out, const struct rank_table *t, size_t limit,
                             struct arena *a)
{
    /* What the user typed: numbers of ranks in the job, not in the table. The head looks like
     *
     *         rank 3      median        +- s  where (* beyond what sampling explains) */
    const uint32_t *asked = t->set->asked;
    /* Without another rank, the other side is the median of all ranks, function by function: no
     * rank has to be it. */
    char other[16] = "median";
    if (asked[1] != RANK_NONE)
        snprintf(other, sizeof other, "rank %" PRIu32, asked[1]);
    char one[16];
    snprintf(one, sizeof one, "rank %" PRIu32, asked[0]);
    out_printf(out, "\n%10s  %10s  %10s  where (* beyond what sampling explains)\n", one, other,
               "+- s");
    for (size_t i = 0; i < t->pairs_len && (!limit || i < limit); i++) {
        const struct rank_pair *p = &t->pairs[i];
        out_printf(out, "%10.3f  %10.3f  %+10.3f %c", p->one, p->other, p->one - p->other,
                   p->is_real ? '*' : ' ');
        ranks_text_name(out, t, p->row, a);
        out_char(out, '\n');
    }
    if (limit && t->pairs_len > limit)
        text_more(out, t->pairs_len - limit, "", "--limit 0");
}

/* Tables of which there is nothing to say are left out, headings too. */
void ranks_text(struct out *out, const struct report_input *in)
{
    const struct rank_table *t = in->ranks;
    struct arena scratch = {0};
    /* The head is of the whole job, whatever is compared below. */
    ranks_text_head(out, t, &scratch);
    if (t->pairs_len) {
        ranks_text_pairs(out, t, in->shown_functions, &scratch);
    } else {
        ranks_text_rows(out, t, RANK_REGION_FUNCTION,
                        "Imbalance by function: cost = max - mean over ranks", in, &scratch);
        ranks_text_rows(out, t, RANK_REGION_MPI, "Waiting and communicating in MPI, by call", in,
                        &scratch);
        ranks_text_outliers(out, t, in->shown_functions, &scratch);
        ranks_text_groups(out, t, &scratch);
    }
    arena_deinit(&scratch);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* What distinguishes a row, as among the columns. */
static void ranks_json_row_name(struct json *j, const struct rank_table *t,
                                const struct rank_row *row)
{
    struct field fields[ROW_COLUMNS] = {0};
    ranks_fields(fields, t, row);
    columns_json(j, columns + ROW_NAME, ROW_COLUMNS - ROW_NAME, fields + ROW_NAME);
}

/* Start and end are real time, so that a late rank is seen even where no figure says it.
 *
 * A rank as a whole, in the order of ranks. */
static void ranks_json_ranks(struct json *j, const struct rank_table *t)
{
    JSON_ROWS(j, "ranks", i, t->len) {
        const struct rank_info *r = &t->set->ranks.at[i];
        json_pair_u64(j, "rank", r->rank);
        json_pair_str(j, "host", *r->host ? r->host : NULL);
        json_pair_str(j, "recording", r->source);
        json_pair_u64(j, "start_ns", r->start_ns);
        json_pair_u64(j, "end_ns", r->end_ns);
        json_key(j, "wait_status"), r->has_status ? json_i64(j, r->status) : json_none(j);
        json_pair_double(j, "total_time", r->total);
        json_pair_double(j, "useful_time", rank_useful(r));
        json_pair_double(j, "mpi_time", r->mpi);
    }
}

/* Outliers, groups and events, in the order of the table: all of them, where text stops. */
static void ranks_json_findings(struct json *j, const struct rank_table *t)
{
    /* In the order of the enumeration; schema and manual have the same words. */
    static const char *const EVENTS[] = {"failed", "early", "late", "missing"};
    JSON_ROWS(j, "outliers", i, t->outliers_len) {
        json_pair_u64(j, "rank", ranks_number(t, t->outliers[i].number));
        ranks_json_row_name(j, t, t->outliers[i].row);
        json_pair_double(j, "time", t->outliers[i].seconds);
        json_pair_double(j, "median_time", t->outliers[i].row->median);
    }
    JSON_ROWS(j, "groups", i, t->groups_len) {
        const struct rank_group *g = &t->groups[i];
        JSON_ITEMS(j, "ranks", k, g->len)
            json_u64(j, ranks_number(t, g->numbers[k]));
        json_pair_double(j, "useful_time", g->useful);
        json_pair_double(j, "mpi_time", g->mpi);
    }
    JSON_ROWS(j, "events", i, t->events.len) {
        const struct rank_event *e = &t->events.at[i];
        json_pair_str(j, "kind", EVENTS[e->kind]);
        json_pair_u64(j, "rank", e->kind == RANK_MISSING ? e->number : ranks_number(t, e->number));
        json_pair_double(j, "time", e->kind == RANK_MISSING ? NAN : e->seconds);
    }
}

/* Everything that text may say, with nothing left out; times in seconds. */
void ranks_json(struct out *out, const struct report_input *in)
{
    const struct rank_table *t = in->ranks;
    struct json j = {.out = out};
    json_document_begin(&j, "ranks");
    json_pair_u64(&j, "ranks_measured", t->len);
    json_pair_u64(&j, "job_size", t->size);
    json_pair_u64(&j, "machines", t->hosts);
    json_pair_double(&j, "seconds_per_sample", t->period);
    json_pair_double(&j, "runtime", t->runtime);
    json_pair_double(&j, "outside_time", t->set->outside);
    /* null, not -1: a program that adds figures up must not take "not known" for a number. */
    json_key(&j, "efficiency"), json_begin(&j, '{');
    json_pair_double(&j, "load_balance", t->balance < 0 ? NAN : t->balance);
    json_pair_double(&j, "communication", t->communication < 0 ? NAN : t->communication);
    json_pair_double(&j, "parallel", t->parallel < 0 ? NAN : t->parallel);
    json_end(&j);
    ranks_json_ranks(&j, t);
    JSON_ROWS(&j, "rows", i, t->rows_len) {
        struct field fields[ROW_COLUMNS] = {0};
        ranks_fields(fields, t, &t->rows[i]);
        columns_json(&j, columns, ROW_COLUMNS, fields);
    }
    ranks_json_findings(&j, t);
    JSON_ROWS(&j, "differences", i, t->pairs_len) {
        ranks_json_row_name(&j, t, t->pairs[i].row);
        json_pair_double(&j, "time", t->pairs[i].one);
        json_pair_double(&j, "other_time", t->pairs[i].other);
        json_pair_bool(&j, "is_real", t->pairs[i].is_real);
    }
    json_end(&j);
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* The table of functions and calls alone: what concerns single ranks is in JSON. */
void ranks_csv(struct out *out, const struct report_input *in)
{
    const struct rank_table *t = in->ranks;
    struct csv_columns c;
    csv_columns_begin(&c, out, columns, ROW_COLUMNS,
                      "kind,name,object,ranks,cost_time,mean_time,median_time,median_rank,min_time,"
                      "min_rank,max_time,max_rank,deviation_time,mean_time_of_those,is_partial,"
                      "source,is_inlined");
    csv_end(&c.csv);
    for (uint32_t i = 0; i < t->rows_len; i++) {
        struct field fields[ROW_COLUMNS] = {0};
        ranks_fields(fields, t, &t->rows[i]);
        csv_columns_row(&c, fields);
    }
}
