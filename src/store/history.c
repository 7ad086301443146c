/* Reading the history: one figure over all commits, and whole commits beside each other.
 *
 * A series is one query: a row a run, in the order of the commits, with the row of the requested
 * name, or none. The runs of a commit are averaged as they come; a function that has no row in a
 * run took no time there, to within half a sample. Comparing two commits reads all rows of their
 * runs into sums by name.
 *
 * A trend of 1,000 runs takes 20 ms; a commit as long as its runs are large. */
#include "store/store.h"

#ifdef HAVE_SQLITE

#include "store/store_private.h"

#include "base/map.h"
#include "profile/analysis/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAMAGED "is damaged: a run of '%s' has an amount that is no number"

/* --- series ----------------------------------------------------------------------------------- */

/* Coverage is of sources and of lines; all the rest is of profiles. */
static enum store_kind kind_of(enum store_what what)
{
    return what == STORE_SOURCE || what == STORE_LINES ? STORE_COVERAGE : STORE_PROFILE;
}

/* Fills in program and event of the newest run, where they were not given. The newest is the one
 * that was added last, by its number, not the one of the youngest commit: a user who has just added
 * a run of an old commit wants to see that one. An empty text means "any" to SQL, as ?2 = '' shows.
 * Leaves *is_time alone if there is no such run. */
static bool store_choose(struct store *s, struct store_query *query, struct arena *a, bool *is_time,
                         struct err *e)
{
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT program, event, is_time FROM runs WHERE kind = ?1 AND (?2 = '' OR program = ?2)"
        " AND (?3 = '' OR event = ?3) ORDER BY id DESC LIMIT 1",
        e);
    if (!q)
        return false;
    s->api.bind_int64(q, 1, kind_of(query->what));
    store_bind_text(s, q, 2, query->program ? query->program : "");
    store_bind_text(s, q, 3, query->event ? query->event : "");
    bool ok = store_next(s, q, e);
    if (ok) {
        query->program = store_text(s, q, 0, a);
        query->event = store_text(s, q, 1, a);
        *is_time = s->api.column_int64(q, 2);
    } else if (!e->line[0]) {
        err_in(e, s->path, "holds no %s of that kind",
               kind_of(query->what) == STORE_COVERAGE ? "coverage" : "profile");
    }
    s->api.finalize(q);
    return ok;
}

/* Numbers of names. */
struct store_ids {
    VEC(int64_t) all;
};

/* The names that are meant: by linkage name, as shown, or a source's by the end of its path. One
 * function may have several names here: each object that holds a copy of it has its own. The end
 * of a path is taken from a slash on: `list.c` finds `src/list.c` and not `mylist.c`. Where no
 * function is called exactly so, all that people mean by the name, as they do everywhere else. */
static bool store_find_names(struct store *s, const struct store_query *query,
                             struct store_ids *ids, struct err *e)
{
    struct arena scratch = {0};
    struct store_ids known = {0};
    VEC(struct known_name) names = {0};
    struct function_list found = {0};
    enum store_kind kind = kind_of(query->what);
    sqlite3_stmt *q =
        store_prepare(s,
                      "SELECT id FROM names WHERE kind = ?1 AND (name = ?2 OR shown = ?2 OR"
                      " (?1 = 1 AND substr(name, -length(?2) - 1) = '/' || ?2)) ORDER BY id",
                      e);
    if (!q)
        return false;
    s->api.bind_int64(q, 1, kind);
    store_bind_text(s, q, 2, query->name);
    while (store_next(s, q, e))
        vec_push(&ids->all, s->api.column_int64(q, 0));
    s->api.finalize(q);
    if (ids->all.len || e->line[0])
        return !e->line[0];
    if (kind == STORE_COVERAGE)
        return err_in(e, s->path, "no run has a source '%s'", query->name);
    q = store_prepare(s, "SELECT id, name, shown FROM names WHERE kind = 0", e);
    while (q && store_next(s, q, e)) {
        vec_push(&known.all, s->api.column_int64(q, 0));
        vec_push(&names, ((struct known_name){store_text(s, q, 2, &scratch),
                                              store_text(s, q, 1, &scratch)}));
    }
    s->api.finalize(q);
    bool ok = !e->line[0] && names_meant(query->name, names.at, names.len, s->path, &found, e);
    for (size_t i = 0; i < found.all.len; i++)
        vec_push(&ids->all, known.all.at[found.all.at[i]]);
    vec_free(&known.all);
    vec_free(&names);
    vec_free(&found.all);
    arena_deinit(&scratch);
    return ok;
}

/* A point of a run joins that of its commit: means, and the error of the mean. The query sorts
 * by commit, so a commit's runs are next to each other and only the last point can be the one to
 * join. A run may itself be a mean of several (a series recorded with --repeat), and weighs as
 * many. Errors of independent runs add up as squares. */
static void series_add(struct store_series *out, const char *commit, int64_t date, double value,
                       double error, uint32_t runs)
{
    struct store_point *last = out->points.len ? &out->points.at[out->points.len - 1] : NULL;
    if (!last || strcmp(last->commit, commit)) {
        vec_push(&out->points, ((struct store_point){commit, date, value, error, runs}));
        return;
    }
    uint32_t all = last->runs + runs;
    last->error = hypot(last->error * last->runs, error * runs) / all;
    last->value = (last->value * last->runs + value * runs) / all;
    last->runs = all;
}

/* A row a run, with the values of one name. Of several names of one function (in several objects)
 * values add up, which store_series_read() does. `name` below 0 is for series without a name, as
 * no name has that number. Outer joins make a function that was not sampled a zero, and not a gap.
 * `scale` turns what is stored into the unit of the series. */
static bool series_read_one(struct store *s, const struct store_query *query, int64_t name,
                            double scale, struct arena *a, struct store_series *out, struct err *e)
{
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT c.name, c.date, r.total, r.total_error, r.period, r.runs, r.lines, r.lines_hit,"
        " f.self, f.error, f.callees, s.lines, s.lines_hit, s.run_id IS NOT NULL"
        " FROM runs r JOIN commits c ON c.id = r.commit_id"
        " LEFT JOIN functions f ON f.run_id = r.id AND f.name_id = ?1"
        " LEFT JOIN sources s ON s.run_id = r.id AND s.name_id = ?1"
        " WHERE r.kind = ?2 AND r.program = ?3 AND r.event = ?4 ORDER BY c.date, c.id, r.id",
        e);
    if (!q)
        return false;
    s->api.bind_int64(q, 1, name);
    s->api.bind_int64(q, 2, kind_of(query->what));
    store_bind_text(s, q, 3, query->program);
    store_bind_text(s, q, 4, query->event);
    while (store_next(s, q, e)) {
        double value = s->api.column_double(q, 2), error = s->api.column_double(q, 3);
        double period = s->api.column_double(q, 4), self = s->api.column_double(q, 8);
        int lines = query->what == STORE_LINES ? 6 : 11; /* of all runs, or of one source */
        double all = s->api.column_double(q, lines), hit = s->api.column_double(q, lines + 1);
        /* Coverage is counted, hence no error; a source without any line is covered. Self times
         * have the error that was stored, or half a sample where there was none to be seen.
         * Totals have none stored: n samples of one period each differ by sqrt(n) periods
         * (Poisson), which is sqrt(total * period). */
        if (query->what == STORE_SOURCE && !s->api.column_int64(q, 13))
            continue; /* it was not there yet, or is gone */
        if (kind_of(query->what) == STORE_COVERAGE)
            value = all > 0 ? 100 * hit / all : 100, error = 0;
        else if (query->what == STORE_FUNCTION)
            value = self, error = self > 0 ? s->api.column_double(q, 9) : period / 2;
        else if (query->what == STORE_FUNCTION_TOTAL)
            value = self + s->api.column_double(q, 10),
            error = sqrt(fmax(value, period / 2) * period);
        uint32_t runs = (uint32_t)s->api.column_int64(q, 5);
        if (!isfinite(value) || !isfinite(error) || runs == 0) {
            err_in(e, s->path, DAMAGED, store_text(s, q, 0, a));
            break;
        }
        series_add(out, store_text(s, q, 0, a), s->api.column_int64(q, 1), value * scale,
                   error * scale, runs);
    }
    s->api.finalize(q);
    return !e->line[0];
}

bool store_series_read(struct store *s, const struct store_query *query, struct arena *a,
                       struct store_series *out, struct err *e)
{
    struct store_ids ids = {0};
    bool is_time = false;
    *out = (struct store_series){.query = *query};
    bool has_name = query->what != STORE_TOTAL && query->what != STORE_LINES;
    if (!has_name)
        vec_push(&ids.all, -1);
    bool ok = store_choose(s, &out->query, a, &is_time, e) &&
              (!has_name || store_find_names(s, &out->query, &ids, e));
    /* Each name is read as a series and added point by point. That is right since each series of
     * a function has a point for every commit, in the same order. Those of sources have not, as
     * commits without the source are skipped: of several that match, the first is taken. */
    double scale = is_time ? 1e-6 : 1;
    out->unit = kind_of(query->what) == STORE_COVERAGE ? "%" : is_time ? "s" : out->query.event;
    if (kind_of(query->what) == STORE_COVERAGE)
        scale = 1;
    ok = ok && series_read_one(s, &out->query, ids.all.at[0], scale, a, out, e);
    for (size_t i = 1; ok && i < ids.all.len && query->what != STORE_SOURCE; i++) {
        struct store_series other = {.query = out->query};
        ok = series_read_one(s, &out->query, ids.all.at[i], scale, a, &other, e);
        for (size_t k = 0; ok && k < out->points.len && k < other.points.len; k++) {
            out->points.at[k].value += other.points.at[k].value;
            out->points.at[k].error = hypot(out->points.at[k].error, other.points.at[k].error);
        }
        vec_free(&other.points);
    }
    vec_free(&ids.all);
    return ok;
}

/* --- runs, whole ------------------------------------------------------------------------------ */

/* Sums of all functions over the runs of a commit; an entry that is the mean of a series has the
 * weight of its runs, as in a trend. Arrays rather than maps: numbers of names
 * have no gaps, and a run has most of them. Two doubles a name are 80 KB for 5,000 functions.
 * Amounts are as in the file, in ns or events, and not yet divided by the number of runs. */
struct store_sums {
    double *self, *variance; /* by number of the name */
    size_t len;
    double total, total_variance;
    uint32_t runs;
};

/* Two statements, as a join of both would repeat the totals for each function. Without an error in
 * between, no run at all is one: the commit is misspelled, or of another program. SQLite's
 * finalize takes NULL, so the end is the same after a statement that was refused. */
static bool store_sum_commit(struct store *s, const struct store_query *query, const char *commit,
                             struct store_sums *sums, struct err *e)
{
#define OF_COMMIT                                                                      \
    " WHERE r.commit_id = (SELECT id FROM commits WHERE name = ?1) AND r.kind = 0 AND" \
    " r.program = ?2 AND r.event = ?3"
    sqlite3_stmt *both[] = {
        store_prepare(s, "SELECT r.runs, r.total, r.total_error FROM runs r" OF_COMMIT, e),
        store_prepare(s,
                      "SELECT r.runs, f.self, f.error, f.name_id FROM runs r JOIN functions f ON"
                      " f.run_id = r.id" OF_COMMIT,
                      e)};
    for (int i = 0; i < 2 && both[i]; i++) {
        store_bind_text(s, both[i], 1, commit);
        store_bind_text(s, both[i], 2, query->program);
        store_bind_text(s, both[i], 3, query->event);
        while (store_next(s, both[i], e)) {
            double weight = (double)s->api.column_int64(both[i], 0);
            double amount = s->api.column_double(both[i], 1) * weight;
            double error = s->api.column_double(both[i], 2) * weight;
            if (!isfinite(amount) || !isfinite(error) || !(weight > 0)) {
                err_in(e, s->path, DAMAGED, commit);
                break;
            }
            if (i == 0) {
                sums->total += amount;
                sums->total_variance += error * error;
                sums->runs += (uint32_t)weight;
                continue;
            }
            /* A writer may have added names since the arrays were made. */
            size_t name = (size_t)s->api.column_int64(both[i], 3);
            if (name < sums->len) {
                sums->self[name] += amount;
                sums->variance[name] += error * error;
            }
        }
    }
    s->api.finalize(both[0]);
    s->api.finalize(both[1]);
    return !e->line[0] && (sums->runs || err_in(e, s->path, "'%s' has no run of commit '%s'",
                                                query->program, commit));
}

/* Names with gaps in their numbers come from another program, and arrays of that length may be
 * larger than any memory. */
static int64_t store_names_count(struct store *s, struct err *e)
{
    int64_t names = store_number(s, "SELECT count(*) FROM names", e);
    int64_t last = store_number(s, "SELECT coalesce(max(id), 0) FROM names", e);
    if (names >= 0 && last > names)
        err_in(e, s->path, "is damaged: names are numbered with gaps");
    return last < 0 || last > names ? -1 : names;
}

/* The arena gives zeroed memory. Number 0 is unused, but has its place: no index is shifted. */
static bool store_sums_make(struct store *s, struct store_sums *sums, struct arena *a,
                            struct err *e)
{
    int64_t names = store_names_count(s, e);
    *sums = (struct store_sums){.len = names < 0 ? 0 : (size_t)names + 1};
    if (names < 0)
        return false;
    sums->self = ARENA_NEW(a, double, sums->len);
    sums->variance = ARENA_NEW(a, double, sums->len);
    return true;
}

/* Largest change first, in either direction; equal ones by name, so that output does not depend
 * on how qsort() moves things. */
static int store_by_change(const void *left, const void *right)
{
    const struct store_change *l = left, *r = right;
    double by = fabs(r->new - r->old) - fabs(l->new - l->old);
    return by < 0 ? -1 : by > 0 ? 1 : strcmp(l->shown, r->shown);
}

bool store_diff_read(struct store *s, const struct store_query *query, const char *old,
                     const char *new, struct arena *a, struct store_diff *out, struct err *e)
{
    /* Both sides are of one program and event: the requested ones, or those of the newest run. A
     * function that one side lacks has 0 there, with no error of its own: its change is judged
     * by the error of the other side. */
    struct store_query chosen = *query;
    struct store_sums by[2];
    bool is_time = false;
    *out = (struct store_diff){.old = old, .new = new};
    if (!store_choose(s, &chosen, a, &is_time, e) || !store_sums_make(s, &by[0], a, e) ||
        !store_sums_make(s, &by[1], a, e) || !store_sum_commit(s, &chosen, old, &by[0], e) ||
        !store_sum_commit(s, &chosen, new, &by[1], e))
        return false;
    double scale = is_time ? 1e-6 : 1, olds = scale / by[0].runs, news = scale / by[1].runs;
    out->unit = is_time ? "s" : chosen.event;
    out->old_runs = by[0].runs;
    out->new_runs = by[1].runs;
    out->total = (struct store_change){
        "[total]", by[0].total * olds, by[1].total * news,
        hypot(sqrt(by[0].total_variance) * olds, sqrt(by[1].total_variance) * news)};
    sqlite3_stmt *q = store_prepare(s, "SELECT id, shown FROM names WHERE kind = 0", e);
    while (q && store_next(s, q, e)) {
        size_t i = (size_t)s->api.column_int64(q, 0);
        if (i >= by[0].len || (by[0].self[i] == 0 && by[1].self[i] == 0))
            continue;
        vec_push(&out->rows,
                 ((struct store_change){
                     store_text(s, q, 1, a), by[0].self[i] * olds, by[1].self[i] * news,
                     hypot(sqrt(by[0].variance[i]) * olds, sqrt(by[1].variance[i]) * news)}));
    }
    s->api.finalize(q);
    if (out->rows.len)
        qsort(out->rows.at, out->rows.len, sizeof *out->rows.at, store_by_change);
    return !e->line[0];
}

/* Of the newest commit, and of the one in the middle: a function that is gone may have cost much.
 */
bool store_top_functions(struct store *s, const struct store_query *query, double least,
                         struct arena *a, struct store_names *out, struct err *e)
{
    struct store_series total = {0};
    struct store_query chosen = *query;
    struct map seen = {0};
    chosen.what = STORE_TOTAL;
    bool ok = store_series_read(s, &chosen, a, &total, e);
    size_t n = total.points.len;
    const char *commits[] = {n ? total.points.at[n - 1].commit : NULL,
                             n ? total.points.at[n / 2].commit : NULL,
                             n ? total.points.at[0].commit : NULL};
    for (size_t k = 0; ok && n && k < 3; k++) {
        struct store_sums sums;
        ok = store_sums_make(s, &sums, a, e) &&
             store_sum_commit(s, &total.query, commits[k], &sums, e);
        sqlite3_stmt *q =
            ok ? store_prepare(s, "SELECT id, shown FROM names WHERE kind = 0", e) : NULL;
        while (q && store_next(s, q, e)) {
            size_t i = (size_t)s->api.column_int64(q, 0);
            bool is_new = false;
            if (i < sums.len && sums.self[i] > 0 && sums.self[i] >= least * sums.total)
                map_index(&seen, i, 0, 0, &is_new);
            if (is_new)
                vec_push(&out->at, store_text(s, q, 1, a));
        }
        s->api.finalize(q);
        ok = ok && !e->line[0];
    }
    vec_free(&total.points);
    map_deinit(&seen);
    return ok;
}

#else
/* Built without SQLite: store_open() fails first and says why, so these are never reached with a
 * store. They are there to keep #ifdef out of the callers. */

bool store_series_read(struct store *s, const struct store_query *q, struct arena *a,
                       struct store_series *out, struct err *e)
{
    (void)s, (void)q, (void)a, (void)out;
    return err_set(e, "no history");
}

bool store_top_functions(struct store *s, const struct store_query *q, double least,
                         struct arena *a, struct store_names *out, struct err *e)
{
    (void)s, (void)q, (void)least, (void)a, (void)out;
    return err_set(e, "no history");
}

bool store_diff_read(struct store *s, const struct store_query *q, const char *old, const char *new,
                     struct arena *a, struct store_diff *out, struct err *e)
{
    (void)s, (void)q, (void)old, (void)new, (void)a, (void)out;
    return err_set(e, "no history");
}

#endif
