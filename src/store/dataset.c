/* A history from a dataset, and a dataset from a history.
 *
 *     fleet/service=search/build=v2/date=2026-03-02/web1-17.parquet
 *
 * A file is one recording, so it is one run: of the commit that its rows name, else of the build in
 * its path. Rows of several commits, events or units in one file, as where an engine put files
 * together, are a run each. What a file's path and name say is what a run is known by: a file that
 * is read twice is added once, and a run that came from a history, and went out as a file, is the
 * same run again.
 *
 * Self times add up by function and object. A time with callees adds up by name, since frames have
 * no object: each row counts once for each name on its stack. The date is the day in the path, with
 * the time of the earliest row if that is on the same day.
 *
 * Back again each run is a file, and each function a row with a stack of itself alone: a history
 * keeps no stacks. Amounts are what the history has of them, to 0.03 %.
 *
 * Cost: one pass over the rows; each different text of a group is looked up once. */
#include "store/store.h"

#ifdef HAVE_SQLITE

#include "store/store_private.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/map.h"
#include "base/parquet_read.h"
#include "base/path.h"

#include <fts.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- paths ----------------------------------------------------------------------------------- */

/* Of two hexadecimal digits; -1: they are none. */
static int byte_of_digits(const char *at)
{
    return hex_digit(at[0]) < 0 || hex_digit(at[1]) < 0 ? -1
                                                        : hex_digit(at[0]) << 4 | hex_digit(at[1]);
}

/* The value of the last folder KEY=VALUE of a path, without the escapes; NULL if there is none. */
static const char *path_value(const char *path, const char *key, struct arena *a)
{
    const char *found = NULL, *end = path;
    size_t len = strlen(key);
    for (const char *at = path; (end = strchr(at, '/')); at = end + 1) {
        if ((size_t)(end - at) <= len || strncmp(at, key, len) || at[len] != '=')
            continue;
        char *value = arena_copy(a, at + len + 1, (size_t)(end - at) - len - 1), *to = value;
        for (const char *from = value; *from; from++)
            if (*from == '%' && byte_of_digits(from + 1) >= 0) {
                *to++ = (char)byte_of_digits(from + 1);
                from += 2;
            } else {
                *to++ = *from;
            }
        *to = 0;
        found = value;
    }
    return found;
}

/* A folder of it has folders KEY=VALUE in it, or files of Parquet. */
bool store_is_dataset(const char *path)
{
    char *const roots[] = {(char *)path, NULL};
    if (path_has_suffix(path, ".parquet"))
        return true;
    bool is_one = false;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    for (FTSENT *at; walk && !is_one && (at = fts_read(walk));) {
        if (at->fts_level != 1)
            continue;
        if (at->fts_info == FTS_D)
            is_one = !strncmp(at->fts_name, "service=", 8) || !strncmp(at->fts_name, "build=", 6) ||
                     !strncmp(at->fts_name, "date=", 5);
        else
            is_one = path_has_suffix(at->fts_name, ".parquet");
        fts_set(walk, at, FTS_SKIP);
    }
    if (walk)
        fts_close(walk);
    return is_one;
}

/* --- rows to runs ---------------------------------------------------------------------------- */

enum { SECONDS_OF_DAY = 86400 };

/* The columns that are read. A table of times alone, without stacks, builds or machines, is enough
 * for a history. */
enum {
    IN_FUNCTION,
    IN_OBJECT,
    IN_EVENT,
    IN_UNIT,
    IN_SELF,
    IN_STACK,
    IN_TIME,
    IN_COMMIT,
    IN_PERIOD,
    IN_HOST,
    IN_COLUMNS
};
static const struct parquet_wanted WANTED[IN_COLUMNS] = {
    [IN_FUNCTION] = {"function", PARQUET_WANTS_TEXT, false},
    [IN_OBJECT] = {"object", PARQUET_WANTS_TEXT, true},
    [IN_EVENT] = {"event", PARQUET_WANTS_TEXT, false},
    [IN_UNIT] = {"unit", PARQUET_WANTS_TEXT, false},
    [IN_SELF] = {"self", PARQUET_WANTS_NUMBER, false},
    [IN_STACK] = {"stack", PARQUET_WANTS_TEXTS, true},
    [IN_TIME] = {"time_ns", PARQUET_WANTS_NUMBER, true},
    [IN_COMMIT] = {"commit", PARQUET_WANTS_TEXT, true},
    [IN_PERIOD] = {"period", PARQUET_WANTS_NUMBER, true},
    [IN_HOST] = {"host", PARQUET_WANTS_TEXT, true},
};

/* A function of a run: numbers of texts. */
struct dataset_value {
    uint32_t name, object;
    double self;
};

/* Rows of one commit, event and unit. The lists by name grow with the texts that the file has shown
 * so far; `counted` keeps a name that stands on a stack twice, as in recursion, from counting
 * twice. */
struct dataset_run {
    uint32_t commit, event, unit, host;
    bool has_hosts; /* several */
    uint64_t first_ns, period;
    struct map values;
    VEC(struct dataset_value) at;
    VEC(double) totals;    /* by name */
    VEC(uint64_t) counted; /* by name: the last row that counted */
};

/* A file while it is read. Texts are kept in one place, so that the same name in another group of
 * rows is the same number. */
struct dataset_reading {
    struct parquet_reader in;
    struct intern texts;
    VEC(struct dataset_run) runs;
    VEC(uint32_t) numbers[IN_COLUMNS]; /* of the group's different texts: number in `texts` */
    struct file_map file;
    uint64_t row;
};

/* The number of a row's text; of one that is missing that of the empty text, which stands last. */
static uint32_t reading_text(const struct dataset_reading *d, size_t column, uint64_t row)
{
    uint32_t cell = parquet_cell(&d->in.columns[column], row);
    return cell == PARQUET_MISSING ? d->numbers[column].at[d->numbers[column].len - 1]
                                   : d->numbers[column].at[cell];
}

static uint64_t reading_number(const struct dataset_reading *d, size_t column, uint64_t row)
{
    uint32_t cell = parquet_cell(&d->in.columns[column], row);
    return cell == PARQUET_MISSING ? 0 : d->in.columns[column].numbers.at[cell];
}

/* Adds a row to its run: to its function, and once to each name on the stack. */
static void reading_row(struct dataset_reading *d, uint64_t row)
{
    const struct parquet_read_column *stack = &d->in.columns[IN_STACK];
    uint32_t commit = reading_text(d, IN_COMMIT, row), event = reading_text(d, IN_EVENT, row);
    uint32_t unit = reading_text(d, IN_UNIT, row), host = reading_text(d, IN_HOST, row);
    uint64_t time = reading_number(d, IN_TIME, row);
    struct dataset_run *r = NULL;
    /* A file has one run, or a few, and rows of one stand together. */
    for (size_t i = d->runs.len; i-- > 0 && !r;)
        if (d->runs.at[i].commit == commit && d->runs.at[i].event == event &&
            d->runs.at[i].unit == unit)
            r = &d->runs.at[i];
    if (!r) {
        vec_push(&d->runs, ((struct dataset_run){.commit = commit,
                                                 .event = event,
                                                 .unit = unit,
                                                 .host = host,
                                                 .first_ns = time,
                                                 .period = reading_number(d, IN_PERIOD, row)}));
        r = &d->runs.at[d->runs.len - 1];
    }
    r->has_hosts |= r->host != host;
    r->first_ns = time < r->first_ns ? time : r->first_ns;
    uint32_t name = reading_text(d, IN_FUNCTION, row), object = reading_text(d, IN_OBJECT, row);
    double self = (double)reading_number(d, IN_SELF, row);
    bool is_new;
    uint32_t value = map_index(&r->values, name, object, r->at.len, &is_new);
    if (is_new)
        vec_push(&r->at, ((struct dataset_value){name, object, 0}));
    r->at.at[value].self += self;
    uint32_t first = stack->is_there ? stack->first.at[row] : 0;
    uint32_t end = stack->is_there ? stack->first.at[row + 1] : 0;
    size_t names = d->texts.texts.len;
    vec_reserve(&r->totals, names);
    vec_reserve(&r->counted, names);
    for (; r->totals.len < names; r->totals.len++)
        r->totals.at[r->totals.len] = 0;
    for (; r->counted.len < names; r->counted.len++)
        r->counted.at[r->counted.len] = 0;
    d->row++;
    /* The innermost function counts even where a stack lacks it. */
    for (uint32_t i = first; i <= end; i++) {
        uint32_t cell = i < end ? stack->index.at[i] : 0;
        uint32_t on = i == end                  ? name
                      : cell == PARQUET_MISSING ? name
                                                : d->numbers[IN_STACK].at[cell];
        if (r->counted.at[on] != d->row)
            r->totals.at[on] += self;
        r->counted.at[on] = d->row;
    }
}

/* All rows of a file. Texts of a group get their numbers once; behind those of each column stands
 * that of the empty text, for what is missing. */
static bool reading_file(struct dataset_reading *d, const char *path, struct err *e)
{
    if (!file_map(path, &d->file, e))
        return false;
    bool ok = parquet_open(&d->in, file_map_bytes(&d->file), path, WANTED, IN_COLUMNS, e);
    while (ok && parquet_next(&d->in, e)) {
        for (size_t i = 0; i < IN_COLUMNS; i++) {
            d->numbers[i].len = 0;
            for (size_t k = 0; k < d->in.columns[i].texts.len; k++) {
                struct bytes text = d->in.columns[i].texts.at[k];
                vec_push(&d->numbers[i], intern(&d->texts, (const char *)text.at, text.len));
            }
            vec_push(&d->numbers[i], intern(&d->texts, "", 0));
        }
        for (uint64_t row = 0; row < d->in.rows; row++)
            reading_row(d, row);
    }
    return ok && !e->line[0];
}

/* A run of rows as the history has it. A time with callees goes to the first function of that name;
 * what only called others gets an entry of its own, in no object. */
static void dataset_run_make(const struct dataset_reading *d, const struct dataset_run *r,
                             struct store_run *run, const char *path, const char *day,
                             struct arena *a)
{
    enum { DIGITS = 32 };
    struct store_value *values = ARENA_NEW(a, struct store_value, r->at.len + r->totals.len);
    bool *has_total = ARENA_NEW(a, bool, r->totals.len);
    run->is_time = !strcmp(intern_text(&d->texts, r->unit), "nanoseconds");
    run->event = intern_text(&d->texts, r->event);
    run->period = (double)r->period;
    for (size_t i = 0; i < r->at.len; i++) {
        const struct dataset_value *v = &r->at.at[i];
        const char *name = intern_text(&d->texts, v->name);
        double total = has_total[v->name] ? v->self : r->totals.at[v->name];
        has_total[v->name] = true;
        run->total += v->self;
        values[run->len++] = (struct store_value){.name = name,
                                                  .shown = name,
                                                  .object = intern_text(&d->texts, v->object),
                                                  .self = v->self,
                                                  .error = sqrt(v->self * run->period),
                                                  .total = total};
    }
    for (uint32_t i = 0; i < r->totals.len; i++)
        if (r->totals.at[i] > 0 && !has_total[i])
            values[run->len++] = (struct store_value){.name = intern_text(&d->texts, i),
                                                      .shown = intern_text(&d->texts, i),
                                                      .object = "",
                                                      .total = r->totals.at[i]};
    run->values = values;
    run->total_error = sqrt(run->total * run->period);
    /* The name of a file that store_export_dataset() wrote says which run it is; of others it is
     * what the path and the rows say of the recording. */
    const char *name = path_base_name(path);
    const char *facts[] = {name,          run->program, run->build,
                           run->commit,   run->event,   intern_text(&d->texts, r->unit),
                           day ? day : ""};
    uint8_t *identity = arena_alloc(a, DIGITS / 2);
    bool is_told = !strncmp(name, "run-", 4);
    for (size_t i = 0; is_told && i < DIGITS / 2; i++) {
        int byte = byte_of_digits(name + 4 + 2 * i);
        is_told = byte >= 0;
        identity[i] = (uint8_t)byte;
    }
    struct writer w = {0};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        writer_bytes(&w, facts[i], strlen(facts[i]) + 1);
    if (!is_told)
        md5((struct bytes){w.out.at, w.out.len}, identity);
    writer_deinit(&w);
    run->identity = identity;
}

/* The runs of one file, in a transaction each. */
static bool dataset_add_file(struct store *s, const char *path, const struct store_dataset *to,
                             struct err *e)
{
    struct dataset_reading d = {0};
    struct arena a = {0};
    const char *service = path_value(path, "service", &a), *build = path_value(path, "build", &a);
    const char *day = path_value(path, "date", &a);
    bool ok = reading_file(&d, path, e);
    if (ok && !service)
        ok = err_in(e, path, "is in no folder service=NAME, which says what ran");
    for (size_t i = 0; ok && i < d.runs.len; i++) {
        const struct dataset_run *r = &d.runs.at[i];
        const char *commit = intern_text(&d.texts, r->commit);
        bool has_build = build && strcmp(build, "unknown");
        struct store_run run = {
            .kind = STORE_PROFILE, .program = service, .processor = "", .runs = 1};
        run.commit = *commit ? commit : has_build ? build : to->commit;
        run.build = build ? build : "";
        run.host = r->has_hosts ? "" : intern_text(&d.texts, r->host);
        if (!run.commit)
            ok = err_in(e, path, "does not say of which build it is; --commit ID does");
        /* The day of the path, and within it the time of the earliest row, if that is of this day.
         * Without a day the time of that row. */
        struct tm parts = {0};
        int64_t first = (int64_t)(r->first_ns / 1000000000);
        const char *rest = day ? strptime(day, "%Y-%m-%d", &parts) : NULL;
        if (ok && day && (!rest || *rest))
            ok = err_in(e, path, "is in a folder date=%s, which is no date as 2026-03-02", day);
        if (ok && !day && !first)
            ok = err_in(e, path,
                        "tells no date: it is in no folder date=..., and rows have no time");
        int64_t start = day ? timegm(&parts) : first;
        run.date = first >= start && first < start + SECONDS_OF_DAY ? first : start;
        if (!ok)
            break;
        dataset_run_make(&d, r, &run, path, day, &a);
        bool is_there;
        ok = store_add(s, &run, &is_there, e);
        if (ok)
            to->say(to->context, &run, path, is_there);
    }
    parquet_close(&d.in);
    for (size_t i = 0; i < d.runs.len; i++) {
        map_deinit(&d.runs.at[i].values);
        vec_free(&d.runs.at[i].at);
        vec_free(&d.runs.at[i].totals);
        vec_free(&d.runs.at[i].counted);
    }
    vec_free(&d.runs);
    for (size_t i = 0; i < IN_COLUMNS; i++)
        vec_free(&d.numbers[i]);
    intern_deinit(&d.texts);
    file_map_deinit(&d.file);
    arena_deinit(&a);
    return ok;
}

/* Files are read in the order of their names, so that two histories of one dataset are the same. */
static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

bool store_add_dataset(struct store *s, const char *path, const struct store_dataset *to,
                       struct err *e)
{
    char *const roots[] = {(char *)path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    size_t files = 0;
    bool ok = walk != NULL || err_in(e, path, "cannot be read");
    for (FTSENT *at; ok && (at = fts_read(walk));) {
        if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || at->fts_info == FTS_NS)
            ok = err_errno(e, at->fts_path, at->fts_errno);
        /* Files that begin with a dot or a low line are engines' own. */
        if (!ok || at->fts_info != FTS_F || !path_has_suffix(at->fts_name, ".parquet") ||
            strchr("._", *at->fts_name))
            continue;
        files++;
        ok = dataset_add_file(s, at->fts_path, to, e);
    }
    if (walk)
        fts_close(walk);
    return ok && (files || err_in(e, path, "holds no Parquet files"));
}

/* --- runs to rows ---------------------------------------------------------------------------- */

/* The texts of names by their number. */
struct dataset_names {
    const char **shown, **object;
    size_t len;
};

/* What is written of one run. */
struct dataset_export_run {
    struct store *s;
    const struct dataset_names *names;
    int64_t id;
    struct dataset_row row;
};

/* The functions of a run: a row each. Blocks are asked for one by one, by their key. */
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
    int64_t has_builds =
        store_number(s, "SELECT count(*) FROM sqlite_master WHERE name = 'builds'", e);
    int64_t len = store_number(s, "SELECT count(*) FROM names", e);
    int64_t last = store_number(s, "SELECT coalesce(max(id), 0) FROM names", e);
    if (has_builds < 0 || len < 0 || last < 0)
        return false;
    if (last > len)
        return err_in(e, s->path, "is damaged: names are numbered with gaps");
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
            has_builds
                ? "SELECT r.id, c.name, r.program, r.event, r.is_time, r.digest, c.date,"
                  " r.period, coalesce(b.build, c.name), coalesce(b.host, '') FROM runs r JOIN"
                  " commits c ON c.id = r.commit_id LEFT JOIN builds b ON b.run = r.id WHERE"
                  " r.kind = 0 ORDER BY c.date, c.id, r.id"
                : "SELECT r.id, c.name, r.program, r.event, r.is_time, r.digest, c.date,"
                  " r.period, c.name, '' FROM runs r JOIN commits c ON c.id = r.commit_id"
                  " WHERE r.kind = 0 ORDER BY c.date, c.id, r.id",
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
        run.row.host = store_text(s, q, 9, &own);
        /* The name of a file is what the run is known by, so that it is the same run when it comes
         * back. */
        char day[16] = "unknown", name[48] = "run-";
        const uint8_t *digest = s->api.column_blob(q, 5);
        time_t at = (time_t)date;
        struct tm parts;
        if (gmtime_r(&at, &parts))
            strftime(day, sizeof day, "%Y-%m-%d", &parts);
        for (int i = 0; digest && i < s->api.column_bytes(q, 5) && i < 16; i++)
            snprintf(name + 4 + 2 * i, 3, "%02x", digest[i]);
        const char *path = dataset_path(folder, store_text(s, q, 2, &own),
                                        store_text(s, q, 8, &own), day, name, &own);
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

bool store_is_dataset(const char *path)
{
    (void)path;
    return false;
}

bool store_add_dataset(struct store *s, const char *path, const struct store_dataset *to,
                       struct err *e)
{
    (void)s, (void)path, (void)to;
    return err_set(e, "no history");
}

bool store_export_dataset(struct store *s, const char *folder, const struct store_dataset *to,
                          struct err *e)
{
    (void)s, (void)folder, (void)to;
    return err_set(e, "no history");
}

#endif
