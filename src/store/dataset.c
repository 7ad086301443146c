/* A dataset from a history: what DuckDB, ClickHouse, Spark and pandas read (docs/fleet.md).
 *
 *     fleet/service=search/build=v2/date=2026-03-02/run-DIGEST.parquet
 *
 * Each run is a file, and each function a row with a stack of itself alone: a history keeps no
 * stacks. Amounts are those of the history, to 0.03 %. */
#include "store/store.h"

#ifdef HAVE_SQLITE

#include "store/store_private.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The texts of names by their number. */
struct dataset_names {
    const char **shown, **object;
    size_t len;
};

/* State for writing one run. */
struct dataset_export_run {
    struct store *s;
    const struct dataset_names *names;
    int64_t id;
    struct dataset_row row;
};

/* The functions of a run: a row each. Blocks are read one by one, by their key. */
static bool dataset_write_run(void *context, struct out *out, struct err *e)
{
    struct dataset_export_run *w = context;
    struct store *s = w->s;
    struct parquet p;
    sqlite3_stmt *q = store_prepare(s, "SELECT data FROM blocks WHERE block = ?1 AND run = ?2", e);
    parquet_begin(&p, out, dataset_columns, dataset_columns_len);
    for (size_t first = 0; q && first < w->names->len; first += STORE_SLOTS) {
        s->api.bind_int64(q, 1, block_of(STORE_PROFILE, (int64_t)first));
        s->api.bind_int64(q, 2, w->id);
        if (store_next(s, q, e)) {
            struct bytes blob = {s->api.column_blob(q, 0), (size_t)s->api.column_bytes(q, 0)};
            struct cursor in = cursor_over(blob, "");
            struct store_value v;
            uint32_t slot;
            while (blob.at && store_blob_next(&in, STORE_PROFILE, &slot, &v)) {
                size_t name = first + slot;
                if (name >= w->names->len || !w->names->shown[name] || v.self < 1)
                    continue;
                w->row.function = w->names->shown[name];
                w->row.object = w->names->object[name];
                w->row.self = (uint64_t)llround(fmin(v.self, 9e18));
                w->row.stack = &w->row.function;
                dataset_row_add(&p, &w->row);
            }
        }
        s->api.reset(q);
    }
    parquet_end(&p);
    s->api.finalize(q);
    return !e->line[0];
}

bool store_export_dataset(struct store *s, const char *folder, const struct store_dataset *to,
                          struct err *e)
{
    struct arena a = {0};
    struct dataset_names names = {0};
    size_t files = 0;
    int64_t len = store_names_count(s, e);
    if (len < 0)
        return false;
    names.len = (size_t)len + 1;
    names.shown = ARENA_NEW(&a, const char *, names.len);
    names.object = ARENA_NEW(&a, const char *, names.len);
    sqlite3_stmt *q = store_prepare(s, "SELECT id, shown, object FROM names WHERE kind = 0", e);
    while (q && store_next(s, q, e)) {
        size_t i = (size_t)s->api.column_int64(q, 0);
        if (i >= names.len)
            continue; /* added since */
        names.shown[i] = store_text(s, q, 1, &a);
        names.object[i] = store_text(s, q, 2, &a);
    }
    s->api.finalize(q);
    q = NULL;
    bool ok = !e->line[0];
    if (ok)
        q = store_prepare(
            s,
            "SELECT r.id, c.name, r.program, r.event, r.is_time, r.digest, c.date, r.period"
            " FROM runs r JOIN commits c ON c.id = r.commit_id WHERE r.kind = 0"
            " ORDER BY c.date, c.id, r.id",
            e);
    while (ok && q && store_next(s, q, e)) {
        struct arena own = {0};
        double period = s->api.column_double(q, 7);
        int64_t date = s->api.column_int64(q, 6);
        struct dataset_export_run run = {s, &names, s->api.column_int64(q, 0), {.depth = 1}};
        run.row.commit = store_text(s, q, 1, &own);
        run.row.event = store_text(s, q, 3, &own);
        run.row.unit = s->api.column_int64(q, 4) ? "nanoseconds" : "count";
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
    arena_deinit(&a);
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
