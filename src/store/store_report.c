/* What a history says, as text, JSON (trend, blame and store_diff in docs/schema) and CSV: a trend,
 * turns, and what differs between two commits.
 *
 * Columns are stated once. Amounts are in the series' unit: seconds, events, or percent of lines.
 * In text a trend has a bar for each commit, from nothing to the largest, and marks its turns.
 *
 *     commit        date             value        +-  change%  runs
 *     5f2c1a        2026-03-02       1.204     0.012     +5.1     2  ############  turned
 */
#include "store/store.h"

#include "output/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A point of a trend is a commit. The tables of columns are also what the manual and the schemas
 * are made from, so a meaning is written once, here. A column without a heading is left out of
 * the text, which shows it in words or not at all. */
enum {
    TREND_COMMIT,
    TREND_DATE,
    TREND_VALUE,
    TREND_ERROR,
    TREND_CHANGE,
    TREND_RUNS,
    TREND_TURN,
    TREND_COLUMNS
};
static const struct column trend_columns[TREND_COLUMNS] = {
    [TREND_COMMIT] = {"commit", "as it was added", "commit", FORM_LEFT},
    [TREND_DATE] = {"date", "of the commit, UTC", "date", FORM_LEFT},
    [TREND_VALUE] = {"value", "mean of its runs, in the unit of the series", "value", FORM_NUMBER},
    [TREND_ERROR] = {"error", "standard error of that by sampling", "+-", FORM_NUMBER},
    [TREND_CHANGE] = {"change", "against the commit before, as a part of it; null: of the first",
                      "change%", FORM_POINTS},
    [TREND_RUNS] = {"runs", "of which it is the mean", "runs", FORM_NUMBER},
    [TREND_TURN] = {"is_turn", "the series went to another level with this commit"},
};
const struct column_table store_trend_columns = {"Columns of trend", "trend", "points",
                                                 trend_columns, TREND_COLUMNS};

/* A turn names three commits: the likely one, and between which two it must lie, since noise can
 * hide where exactly the level changed. Text names the last two only where they differ. */
enum {
    TURN_WHAT,
    TURN_COMMIT,
    TURN_DATE,
    TURN_BEFORE,
    TURN_AFTER,
    TURN_CHANGE,
    TURN_FIRST,
    TURN_LAST,
    TURN_SCORE,
    TURN_COLUMNS
};
static const struct column turn_columns[TURN_COLUMNS] = {
    [TURN_WHAT] = {"name", "the function or source; [total]: all of the program"},
    [TURN_COMMIT] = {"commit", "the first one of the new level", "commit", FORM_LEFT},
    [TURN_DATE] = {"date", "of the commit, UTC", "date", FORM_LEFT},
    [TURN_BEFORE] = {"before", "mean before, in the unit of the series", "before", FORM_NUMBER},
    [TURN_AFTER] = {"after", "mean from it on", "after", FORM_NUMBER},
    [TURN_CHANGE] = {"change", "as a part of the mean before", "change%", FORM_POINTS},
    [TURN_FIRST] = {"first", "it may have been this commit already"},
    [TURN_LAST] = {"last", "or at the latest this one"},
    [TURN_SCORE] = {"score", "how many standard errors the levels are apart", "score", FORM_NUMBER},
};
const struct column_table store_turn_columns = {"Columns of blame", "blame", "turns", turn_columns,
                                                TURN_COLUMNS};

/* Text puts the name last, since names have any length, and shows is_real as a star:
 *
 *            old         new      change          +-  function
 *          1.204       1.310      +0.106       0.012 *[total] */
enum { DIFF_NAME, DIFF_OLD, DIFF_NEW, DIFF_CHANGE, DIFF_ERROR, DIFF_REAL, DIFF_COLUMNS };
static const struct column diff_columns[DIFF_COLUMNS] = {
    [DIFF_NAME] = {"name", "the function; [total]: all of the program"},
    [DIFF_OLD] = {"old", "mean of the old commit's runs", "old", FORM_NUMBER},
    [DIFF_NEW] = {"new", "mean of the new commit's runs", "new", FORM_NUMBER},
    [DIFF_CHANGE] = {"change", "new - old", "change", FORM_SIGNED},
    [DIFF_ERROR] = {"error", "standard error of the change by sampling", "+-", FORM_NUMBER},
    [DIFF_REAL] = {"is_real", "the change is more than three of those"},
};
const struct column_table store_diff_columns = {"Columns of diff", "store_diff", "rows",
                                                diff_columns, DIFF_COLUMNS};

/* --- what they have in common ----------------------------------------------------------------- */

/* Dates are counted in seconds since 1970. A year that struct tm or 24 bytes cannot hold, as in a
 * damaged file, becomes "?". */
void store_date(int64_t date, bool is_whole, char into[24])
{
    time_t at = (time_t)date;
    struct tm parts;
    if (!gmtime_r(&at, &parts) ||
        !strftime(into, 24, is_whole ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &parts))
        strcpy(into, "?");
}

const char *store_what_name(const struct store_series *s)
{
    bool is_all = s->query.what == STORE_TOTAL || s->query.what == STORE_LINES;
    return is_all ? "[total]" : s->query.name;
}

/* Of text: seconds and percent have the decimals that the least error of them allows, and three and
 * two where there is none; events have none. */
static int store_decimals(const char *unit, double least_error)
{
    bool is_time = !strcmp(unit, "s");
    if (!is_time && strcmp(unit, "%"))
        return 0;
    return least_error > 0 ? text_error_decimals(least_error) : is_time ? 3 : 2;
}

/* The smaller of two errors; 0 is none. */
static double store_lesser_error(double least, double error)
{
    return error > 0 && (!(least > 0) || error < least) ? error : least;
}

static double store_series_error(const struct store_series *s)
{
    double least = 0;
    for (size_t i = 0; i < s->points.len; i++)
        least = store_lesser_error(least, s->points.at[i].error);
    return least;
}

/* "parse of ./compiler, in s: 120 commits from 2026-01-02 to 2026-03-02, 240 runs". The program
 * is left out where a run does not have it. Points are in the order of time, so that the first and
 * the last give the range. */
static void store_series_head(struct out *out, const struct store_series *s)
{
    char from[24] = "", to[24] = "";
    size_t n = s->points.len;
    uint64_t runs = 0;
    for (size_t i = 0; i < n; i++)
        runs += s->points.at[i].runs;
    if (n) {
        store_date(s->points.at[0].date, false, from);
        store_date(s->points.at[n - 1].date, false, to);
    }
    text_name(out, store_what_name(s));
    if (*s->query.program) {
        out_str(out, " of ");
        text_name(out, s->query.program);
    }
    out_str(out, ", in ");
    text_name(out, s->unit);
    out_printf(out, ": %zu commit%s from %s to %s, %" PRIu64 " run%s\n", n, text_plural(n), from,
               to, runs, text_plural(runs));
}

/* Members of the open object. The event and the unit are both there: seconds may be those of
 * several clocks. */
static void store_series_json(struct json *j, const struct store_series *s)
{
    json_pair_str(j, "name", store_what_name(s));
    json_pair_str(j, "program", s->query.program);
    json_pair_str(j, "event", s->query.event);
    json_pair_str(j, "unit", s->unit);
}

/* --- trend ------------------------------------------------------------------------------------ */

/* Fields for the point `i`. `date` is the caller's, because a field keeps a pointer to its text
 * until the row is printed. After a commit with nothing there is no change in percent: the field
 * is not known, as it is of the first. The turns are few, so looking through all of them for
 * each point costs next to nothing. */
static void trend_fields(struct field *fields, const struct store_series *s,
                         const struct turns *turns, size_t i, char date[24], bool is_whole)
{
    const struct store_point *p = &s->points.at[i];
    double before = i ? p[-1].value : 0;
    bool is_turn = false;
    for (size_t k = 0; k < turns->at.len; k++)
        is_turn |= turns->at.at[k].at == i;
    store_date(p->date, is_whole, date);
    fields[TREND_COMMIT] = field_text(p->commit);
    fields[TREND_DATE] = field_text(date);
    fields[TREND_VALUE] = field_double(p->value);
    fields[TREND_ERROR] = field_double(p->error);
    fields[TREND_CHANGE] =
        field_known(i && before != 0, field_double(before != 0 ? p->value / before - 1 : 0));
    fields[TREND_RUNS] = field_u64(p->runs);
    fields[TREND_TURN] = field_bool(is_turn);
}

/* A table with a bar after each row. Bars begin at zero, not at the smallest value: a trend that
 * stays within one percent must look flat. The column of commits is as wide as the longest name, up
 * to 40, which is a whole SHA-1 in hexadecimal; longer tags only shift their own row. */
static void trend_text(struct out *out, const struct store_series *s, const struct turns *turns)
{
    enum { BAR = 24 };
    struct text_style style = {0};
    struct text_columns l = {.columns = trend_columns, .len = TREND_COLUMNS, .style = &style};
    int commit = 8, decimals = store_decimals(s->unit, store_series_error(s));
    double most = 0;
    for (size_t i = 0; i < s->points.len; i++) {
        int width = (int)strlen(s->points.at[i].commit);
        commit = width > commit ? width < 40 ? width : 40 : commit;
        most = fmax(most, s->points.at[i].value);
    }
    text_column(&l, TREND_COMMIT, commit, 0);
    text_column(&l, TREND_DATE, 10, 0);
    text_column(&l, TREND_VALUE, 10, decimals);
    text_column(&l, TREND_ERROR, 8, decimals);
    text_column(&l, TREND_CHANGE, 7, 2);
    text_column(&l, TREND_RUNS, 4, 0);
    store_series_head(out, s);
    text_columns_head(out, &l);
    out_char(out, '\n');
    for (size_t i = 0; i < s->points.len; i++) {
        struct field fields[TREND_COLUMNS] = {0};
        char date[24];
        trend_fields(fields, s, turns, i, date, false);
        text_columns_row(out, &l, fields, false);
        out_str(out, "  ");
        int bar = most > 0 ? (int)lrint(BAR * s->points.at[i].value / most) : 0;
        for (int k = 0; k < bar; k++)
            out_char(out, '#');
        out_str(out, fields[TREND_TURN].u64 ? "  turned\n" : "\n");
    }
}

/* JSON and CSV have whole times and every decimal; CSV has no place for what is the same in all
 * rows, as the unit is. The heading of CSV is spelled out as scripts depend on it: a new column
 * may only be added after the others. */
void store_trend_print(struct out *out, const struct store_series *s, const struct turns *turns,
                       const char *format)
{
    if (!format || !strcmp(format, "text")) {
        trend_text(out, s, turns);
        return;
    }
    bool is_json = !strcmp(format, "json");
    struct json j = {.out = out};
    struct csv_columns c;
    if (is_json) {
        json_document_begin(&j, "trend");
        store_series_json(&j, s);
        json_key(&j, "points"), json_begin(&j, '[');
    } else {
        csv_columns_begin(&c, out, trend_columns, TREND_COLUMNS,
                          "commit,date,value,error,change,runs,is_turn");
        csv_end(&c.csv);
    }
    for (size_t i = 0; i < s->points.len; i++) {
        struct field fields[TREND_COLUMNS] = {0};
        char date[24];
        trend_fields(fields, s, turns, i, date, true);
        if (is_json)
            columns_json_row(&j, trend_columns, TREND_COLUMNS, fields);
        else
            csv_columns_row(&c, fields);
    }
    if (is_json)
        json_end(&j), json_end(&j);
}

/* --- blame ------------------------------------------------------------------------------------ */

/* A turn has numbers of points; people want commits. Nothing is divided by a level of zero: the
 * change from nothing has no percentage. */
static void turn_fields(struct field *fields, const struct store_series *s, const struct turn *t,
                        char date[24], bool is_whole)
{
    const struct store_point *p = s->points.at;
    store_date(p[t->at].date, is_whole, date);
    fields[TURN_WHAT] = field_text(store_what_name(s));
    fields[TURN_COMMIT] = field_text(p[t->at].commit);
    fields[TURN_DATE] = field_text(date);
    fields[TURN_BEFORE] = field_double(t->before);
    fields[TURN_AFTER] = field_double(t->after);
    fields[TURN_CHANGE] =
        field_known(t->before != 0, field_double(t->before != 0 ? t->after / t->before - 1 : 0));
    fields[TURN_FIRST] = field_text(p[t->first].commit);
    fields[TURN_LAST] = field_text(p[t->last].commit);
    fields[TURN_SCORE] = field_double(t->score);
}

/* The turns of one series. That there is none is an answer, too, and is worth as much as the
 * noise is small, which is therefore printed in both cases:
 *
 *     Runs vary by 0.8 % beyond sampling error
 *     commit        date            before       after  change%   score
 *     5f2c1a        2026-03-02       1.204       1.310     8.80     9.1  (or from 5f2c1a to 77ab01)
 */
static void blame_text(struct out *out, const struct store_series *s, const struct turns *turns)
{
    struct text_style style = {0};
    struct text_columns l = {.columns = turn_columns, .len = TURN_COLUMNS, .style = &style};
    int commit = 8, decimals = store_decimals(s->unit, store_series_error(s));
    for (size_t i = 0; i < turns->at.len; i++) {
        int width = (int)strlen(s->points.at[turns->at.at[i].at].commit);
        commit = width > commit ? width < 40 ? width : 40 : commit;
    }
    text_column(&l, TURN_COMMIT, commit, 0);
    text_column(&l, TURN_DATE, 10, 0);
    text_column(&l, TURN_BEFORE, 10, decimals);
    text_column(&l, TURN_AFTER, 10, decimals);
    text_column(&l, TURN_CHANGE, 7, 2);
    text_column(&l, TURN_SCORE, 6, 1);
    store_series_head(out, s);
    /* The noise of a few commits is that of the change between them: nothing ever stands out. */
    enum { FEWEST = 6 };
    if (!turns->at.len && s->points.len < FEWEST) {
        out_printf(out,
                   "%zu commit%s too few to tell a change from noise; at least %d are needed\n",
                   s->points.len, s->points.len == 1 ? " is" : "s are", FEWEST);
        return;
    }
    if (!turns->at.len) {
        out_printf(out, "No change found; runs vary by %.1f %% beyond sampling error\n",
                   100 * turns->noise);
        return;
    }
    out_printf(out, "Runs vary by %.1f %% beyond sampling error\n", 100 * turns->noise);
    text_columns_head(out, &l);
    out_char(out, '\n');
    for (size_t i = 0; i < turns->at.len; i++) {
        const struct turn *t = &turns->at.at[i];
        struct field fields[TURN_COLUMNS] = {0};
        char date[24];
        turn_fields(fields, s, t, date, false);
        text_columns_row(out, &l, fields, false);
        if (t->first != t->last) {
            out_str(out, "  (or from ");
            text_name(out, fields[TURN_FIRST].text);
            out_str(out, " to ");
            text_name(out, fields[TURN_LAST].text);
            out_char(out, ')');
        }
        out_char(out, '\n');
    }
}

/* Of several series: text leaves out those without a turn, but for the first. The first series is
 * the requested one, so it is always printed. JSON has each series with its turns, whether there
 * are any or not. CSV has the turns of all in one table, which is why each row repeats the name. */
void store_blame_print(struct out *out, const struct store_blame *b, const char *format)
{
    bool is_text = !format || !strcmp(format, "text"), is_json = format && !strcmp(format, "json");
    struct json j = {.out = out};
    struct csv_columns c;
    if (is_json) {
        json_document_begin(&j, "blame");
        json_key(&j, "series"), json_begin(&j, '[');
    } else if (!is_text) {
        csv_columns_begin(&c, out, turn_columns, TURN_COLUMNS,
                          "name,commit,date,before,after,change,first,last,score");
        csv_end(&c.csv);
    }
    for (size_t k = 0; k < b->len; k++) {
        const struct store_series *s = &b->series[k];
        const struct turns *turns = &b->turns[k];
        if (is_text && (!k || turns->at.len)) {
            out_str(out, k ? "\n" : "");
            blame_text(out, s, turns);
        }
        if (is_text)
            continue;
        if (is_json) {
            json_begin(&j, '{');
            store_series_json(&j, s);
            json_pair_u64(&j, "commits", s->points.len);
            json_pair_double(&j, "noise", turns->noise);
            json_key(&j, "turns"), json_begin(&j, '[');
        }
        for (size_t i = 0; i < turns->at.len; i++) {
            struct field fields[TURN_COLUMNS] = {0};
            char date[24];
            turn_fields(fields, s, &turns->at.at[i], date, true);
            if (is_json)
                columns_json_row(&j, turn_columns, TURN_COLUMNS, fields);
            else
                csv_columns_row(&c, fields);
        }
        if (is_json)
            json_end(&j), json_end(&j);
    }
    if (is_json)
        json_end(&j), json_end(&j);
}

/* --- diff ------------------------------------------------------------------------------------- */

/* Three standard errors: by chance alone one row in 370 is beyond them. Nothing is corrected for
 * the number of rows, so of a thousand functions that did not change about three are marked.
 * Where nothing was sampled, the error is 0 and any change counts. */
static void diff_fields(struct field *fields, const struct store_change *c)
{
    fields[DIFF_NAME] = field_text(c->shown);
    fields[DIFF_OLD] = field_double(c->old);
    fields[DIFF_NEW] = field_double(c->new);
    fields[DIFF_CHANGE] = field_double(c->new - c->old);
    fields[DIFF_ERROR] = field_double(c->error);
    fields[DIFF_REAL] = field_bool(fabs(c->new - c->old) > 3 * c->error);
}

/* Row 0 is the total, which is not counted against the limit; the functions follow by the size
 * of their change, so that a limit cuts what matters least. A limit of 0 is none. */
static void diff_text(struct out *out, const struct store_diff *d, size_t limit)
{
    struct text_style style = {0};
    struct text_columns l = {.columns = diff_columns, .len = DIFF_COLUMNS, .style = &style};
    static const uint8_t AMOUNTS[] = {DIFF_OLD, DIFF_NEW, DIFF_CHANGE, DIFF_ERROR};
    double least = d->total.error;
    for (size_t i = 0; i < d->rows.len; i++)
        least = store_lesser_error(least, d->rows.at[i].error);
    for (size_t i = 0; i < sizeof AMOUNTS; i++)
        text_column(&l, AMOUNTS[i], 10, store_decimals(d->unit, least));
    text_name(out, d->old);
    out_printf(out, " (%" PRIu32 " run%s) and ", d->old_runs, text_plural(d->old_runs));
    text_name(out, d->new);
    out_printf(out, " (%" PRIu32 " run%s), means in ", d->new_runs, text_plural(d->new_runs));
    text_name(out, d->unit);
    out_str(out, "; * beyond three standard errors\n");
    text_columns_head(out, &l);
    out_str(out, "  function\n");
    for (size_t i = 0; i <= d->rows.len && (!limit || i <= limit); i++) {
        const struct store_change *row = i ? &d->rows.at[i - 1] : &d->total;
        struct field fields[DIFF_COLUMNS] = {0};
        diff_fields(fields, row);
        text_columns_row(out, &l, fields, false);
        out_str(out, fields[DIFF_REAL].u64 ? " *" : "  ");
        text_name(out, row->shown);
        out_char(out, '\n');
    }
    if (limit && d->rows.len > limit)
        text_more(out, d->rows.len - limit, "", "--limit 0");
}

/* The limit is one of text alone: programs that read JSON or CSV can cut for themselves. */
void store_diff_print(struct out *out, const struct store_diff *d, size_t limit, const char *format)
{
    if (!format || !strcmp(format, "text")) {
        diff_text(out, d, limit);
        return;
    }
    bool is_json = !strcmp(format, "json");
    struct json j = {.out = out};
    struct csv_columns c;
    if (is_json) {
        json_document_begin(&j, "store_diff");
        json_pair_str(&j, "old", d->old);
        json_pair_str(&j, "new", d->new);
        json_pair_str(&j, "unit", d->unit);
        json_pair_u64(&j, "old_runs", d->old_runs);
        json_pair_u64(&j, "new_runs", d->new_runs);
        json_key(&j, "rows"), json_begin(&j, '[');
    } else {
        csv_columns_begin(&c, out, diff_columns, DIFF_COLUMNS, "name,old,new,change,error,is_real");
        csv_end(&c.csv);
    }
    for (size_t i = 0; i <= d->rows.len; i++) {
        struct field fields[DIFF_COLUMNS] = {0};
        diff_fields(fields, i ? &d->rows.at[i - 1] : &d->total);
        if (is_json)
            columns_json_row(&j, diff_columns, DIFF_COLUMNS, fields);
        else
            csv_columns_row(&c, fields);
    }
    if (is_json)
        json_end(&j), json_end(&j);
}
