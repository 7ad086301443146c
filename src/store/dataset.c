/* A dataset from a history: what DuckDB, ClickHouse, Spark and pandas read (docs/fleet.md).
 *
 *     fleet/service=search/build=v2/date=2026-03-02/run-DIGEST.parquet
 *
 * Each run is a file, and each function a row with a stack of itself alone: a history keeps no
 * stacks. Amounts are those of the history, to a microsecond. */
#include "store/store.h"

#ifdef HAVE_SQLITE

#include "store/store_private.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* State for writing one run. */
struct dataset_export_run {
    struct store *s;
    int64_t id;
    double unit; /* of what the history keeps */
    struct dataset_row row;
};

/* The functions of a run: a row each. */
static bool dataset_write_run(void *context, struct out *out, struct err *e)
{
    struct dataset_export_run *w = context;
    struct store *s = w->s;
    struct arena texts = {0};
    struct parquet p;
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT n.shown, n.object, f.self FROM functions f JOIN names n"
                                    " ON n.id = f.name_id WHERE f.run_id = ?1 AND f.self > 0"
                                    " ORDER BY f.name_id",
                                    e);
    parquet_begin(&p, out, dataset_columns, dataset_columns_len);
    if (q)
        s->api.bind_int64(q, 1, w->id);
    while (q && store_next(s, q, e)) {
        w->row.function = store_text(s, q, 0, &texts);
        w->row.object = store_text(s, q, 1, &texts);
        w->row.self = (uint64_t)llround(fmin(s->api.column_double(q, 2) * w->unit, 9e18));
        w->row.stack = &w->row.function;
        dataset_row_add(&p, &w->row);
    }
    parquet_end(&p);
    s->api.finalize(q);
    arena_deinit(&texts);
    return !e->line[0];
}

bool store_export_dataset(struct store *s, const char *folder, const struct store_dataset *to,
                          struct err *e)
{
    size_t files = 0;
    bool ok = true;
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT r.id, c.name, r.program, r.event, r.is_time, r.digest, c.date, r.period"
        " FROM runs r JOIN commits c ON c.id = r.commit_id WHERE r.kind = 0"
        " ORDER BY c.date, c.id, r.id",
        e);
    while (ok && q && store_next(s, q, e)) {
        struct arena own = {0};
        bool is_time = s->api.column_int64(q, 4);
        double period = s->api.column_double(q, 7) * store_unit(is_time);
        int64_t date = s->api.column_int64(q, 6);
        struct dataset_export_run run = {
            s, s->api.column_int64(q, 0), store_unit(is_time), {.depth = 1}};
        run.row.commit = store_text(s, q, 1, &own);
        run.row.event = store_text(s, q, 3, &own);
        run.row.unit = is_time ? "nanoseconds" : "count";
        run.row.period = period > 0 && period < 9e18 ? (uint64_t)llround(period) : 0;
        run.row.time_ns =
            date > 0 && date < INT64_MAX / 1000000000 ? (uint64_t)date * 1000000000 : 0;
        run.row.host = "";
        char day[16] = "unknown", name[48] = "run-";
        const uint8_t *digest = s->api.column_blob(q, 5);
        time_t at = (time_t)date;
        struct tm parts;
        if (gmtime_r(&at, &parts))
            strftime(day, sizeof day, "%Y-%m-%d", &parts);
        int bytes = s->api.column_bytes(q, 5);
        bytes_hex(name + 4, digest, digest && bytes < 16 ? (size_t)bytes : digest ? 16 : 0);
        const char *path =
            dataset_path(folder, store_text(s, q, 2, &own), run.row.commit, day, name, &own);
        ok = to->write(to->context, path, dataset_write_run, &run, e);
        files++;
        arena_deinit(&own);
    }
    s->api.finalize(q);
    return ok && !e->line[0] &&
           (files || err_in(e, s->path, "holds no profiles, of which a dataset is made"));
}

#else
/* Built without SQLite: store_open() fails first and says why. */

bool store_export_dataset(struct store *s, const char *folder, const struct store_dataset *to,
                          struct err *e)
{
    (void)s, (void)folder, (void)to;
    return err_set(e, "no history");
}

#endif
