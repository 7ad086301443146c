/* The history of builds in an SQLite file, in plain tables (docs/store.md).
 *
 *     commits    a name, its date; their order in history is that of the dates
 *     runs       a commit, what ran, totals; `digest` keeps one run from being there twice
 *     names      each function once, by linkage name and object; sources likewise
 *     functions  the times of each function that a run measured
 *     sources    the lines of each source that a run covers
 *
 * Amounts of rows are whole numbers, which SQLite keeps in as many bytes as they need, and none for
 * 0: a row takes some 20 bytes. The rows of a run lie next to each other, so adding one appends,
 * and a trend seeks one row a run.
 *
 * Writers take SQLite's lock for a transaction each, and wait for it up to a minute: CI jobs may
 * add at the same time. The journal is SQLite's usual one, which also works on shared file systems.
 * A file that is shorter than its own header says is torn, and is not written to; nor is one of
 * another version of the tables, or another program's.
 *
 * SQLite is loaded when a history is opened: its library has more to relocate than monarc. */
#include "store/store.h"

#ifdef HAVE_SQLITE

#include "store/store_private.h"

#include "base/bytes.h"
#include "base/late.h"
#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The two numbers are in SQLite's own header of 100 bytes, the version at 60 and the application
 * at 68 (sqlite.org/fileformat2.html), where file(1) finds them, too. Whoever changes SCHEMA
 * counts STORE_VERSION up: there are no migrations, a run can be added again. */
enum {
    STORE_VERSION = 2,
    STORE_APPLICATION = 0x4d4e5243, /* "MNRC" */
    WAIT_MS = 60000,
};

/* A run has its totals as columns, since a trend of the whole program then reads no function.
 * Numbers of names are never used again, as nothing is deleted. WITHOUT ROWID makes the key of
 * functions the tree itself (sqlite.org/withoutrowid.html). UNIQUE(commit_id, digest) is what makes
 * adding a run twice harmless. */
static const char SCHEMA[] =
    "CREATE TABLE commits(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, date INTEGER NOT "
    "NULL);"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, commit_id INTEGER NOT NULL REFERENCES commits(id),"
    " kind INTEGER NOT NULL, program TEXT NOT NULL, event TEXT NOT NULL, processor TEXT NOT NULL,"
    " is_time INTEGER NOT NULL, total REAL NOT NULL, total_error REAL NOT NULL, period REAL NOT "
    "NULL,"
    " runs INTEGER NOT NULL, lines INTEGER NOT NULL, lines_hit INTEGER NOT NULL,"
    " functions INTEGER NOT NULL, functions_hit INTEGER NOT NULL, branches INTEGER NOT NULL,"
    " branches_hit INTEGER NOT NULL, digest BLOB NOT NULL, UNIQUE(commit_id, digest));"
    "CREATE TABLE names(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL,"
    " object TEXT NOT NULL, shown TEXT NOT NULL, UNIQUE(kind, name, object));"
    "CREATE INDEX names_shown ON names(kind, shown);"
    "CREATE TABLE functions(run_id INTEGER NOT NULL REFERENCES runs(id), name_id INTEGER NOT NULL"
    " REFERENCES names(id), self INTEGER NOT NULL, error INTEGER NOT NULL, callees INTEGER NOT "
    "NULL,"
    " PRIMARY KEY(run_id, name_id)) WITHOUT ROWID;"
    "CREATE TABLE sources(run_id INTEGER NOT NULL REFERENCES runs(id), name_id INTEGER NOT NULL"
    " REFERENCES names(id), lines INTEGER NOT NULL, lines_hit INTEGER NOT NULL,"
    " PRIMARY KEY(run_id, name_id)) WITHOUT ROWID;";

/* --- errors and statements -------------------------------------------------------------------- */

/* Turns SQLite's last error into a sentence; always false, to be returned. The low byte of a
 * code is its class (sqlite.org/rescode.html): SQLITE_IOERR_READ and all of its kind are
 * SQLITE_IOERR there. */
static bool store_fails(const struct store *s, struct err *e)
{
    int code = s->api.errcode(s->db) & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return err_in(e, s->path, "is damaged (%s); nothing was written", s->api.errmsg(s->db));
    if (code == SQLITE_BUSY)
        return err_in(e, s->path, "is in use by another writer for more than a minute");
    return err_in(e, s->path, "%s", s->api.errmsg(s->db));
}

/* Statements without values or rows: transactions, tables, pragmas. */
static bool store_do(const struct store *s, const char *sql, struct err *e)
{
    return s->api.exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_fails(s, e);
}

/* A statement that is prepared, bound and stepped; the caller finalizes it. NULL, with *e, if
 * SQLite refuses it: a misspelled statement, or a file that is damaged. */
sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct err *e)
{
    sqlite3_stmt *q = NULL;
    if (s->api.prepare(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        store_fails(s, e);
    return q;
}

/* SQLITE_TRANSIENT has SQLite copy the text: callers may free theirs before the step. Places of
 * values count from 1, columns of rows from 0. */
void store_bind_text(const struct store *s, sqlite3_stmt *q, int at, const char *text)
{
    s->api.bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

/* Whether there is a next row; false at the end, and with *e after an error. */
bool store_next(const struct store *s, sqlite3_stmt *q, struct err *e)
{
    int code = s->api.step(q);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        store_fails(s, e);
    return code == SQLITE_ROW;
}

/* A statement without rows. A row is success as well: INSERT ... RETURNING has one. */
static bool store_run(const struct store *s, sqlite3_stmt *q, struct err *e)
{
    int code = s->api.step(q);
    return code == SQLITE_DONE || code == SQLITE_ROW || store_fails(s, e);
}

/* Copied, for SQLite's text lasts until the next step. NULL, which no column of ours may hold,
 * is read as an empty text. */
const char *store_text(const struct store *s, sqlite3_stmt *q, int column, struct arena *a)
{
    const char *text = (const char *)s->api.column_text(q, column);
    return text ? arena_copy(a, text, strlen(text)) : "";
}

/* No queried number is negative, so -1 can mean an error. */
int64_t store_number(const struct store *s, const char *sql, struct err *e)
{
    sqlite3_stmt *q = store_prepare(s, sql, e);
    int64_t number = q && store_next(s, q, e) ? s->api.column_int64(q, 0) : -1;
    s->api.finalize(q);
    return number;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* All or nothing: no call has to ask whether its function is there. The statements need SQLite
 * 3.35, for RETURNING. */
static bool store_load(struct store *s)
{
    void *l = late_open("libsqlite3.so.0");
    struct sqlite *v = &s->api;
    return l && late_find(l, "sqlite3_open_v2", &v->open_v2) &&
           late_find(l, "sqlite3_close", &v->close) && late_find(l, "sqlite3_errmsg", &v->errmsg) &&
           late_find(l, "sqlite3_extended_errcode", &v->errcode) &&
           late_find(l, "sqlite3_busy_timeout", &v->busy_timeout) &&
           late_find(l, "sqlite3_exec", &v->exec) &&
           late_find(l, "sqlite3_prepare_v2", &v->prepare) &&
           late_find(l, "sqlite3_step", &v->step) &&
           late_find(l, "sqlite3_finalize", &v->finalize) &&
           late_find(l, "sqlite3_reset", &v->reset) &&
           late_find(l, "sqlite3_bind_int64", &v->bind_int64) &&
           late_find(l, "sqlite3_bind_double", &v->bind_double) &&
           late_find(l, "sqlite3_bind_text", &v->bind_text) &&
           late_find(l, "sqlite3_bind_blob", &v->bind_blob) &&
           late_find(l, "sqlite3_column_int64", &v->column_int64) &&
           late_find(l, "sqlite3_column_double", &v->column_double) &&
           late_find(l, "sqlite3_column_text", &v->column_text) &&
           late_find(l, "sqlite3_column_blob", &v->column_blob) &&
           late_find(l, "sqlite3_column_bytes", &v->column_bytes) &&
           late_find(l, "sqlite3_last_insert_rowid", &v->last_insert_rowid);
}

/* Of an empty file the first who has the lock makes the tables, in the transaction that adds the
 * first run: an attempt that fails leaves no history. The lock comes before the look: of two jobs
 * that begin a history at the same time the second one finds the tables of the first, and makes
 * none. BEGIN IMMEDIATE takes the lock right away; a plain BEGIN asks at the first write, when both
 * may have read already and neither can go on. */
static bool store_make_tables(const struct store *s, struct err *e)
{
    bool is_empty = store_number(s, "SELECT count(*) FROM sqlite_master", e) == 0;
    if (e->line[0] || !is_empty)
        return !e->line[0];
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             STORE_APPLICATION, STORE_VERSION);
    return store_do(s, SCHEMA, e) && store_do(s, pragmas, e);
}

/* Whether the file is a history that this program can write to. In the order of checks: empty,
 * another program's, of another version, torn. A file of 0 bytes is a valid, empty database to
 * SQLite, so "no tables" is the test. A file that was cut off opens without complaint, hence the
 * comparison of its length with what its header says. */
static bool store_check(const struct store *s, bool makes, struct err *e)
{
    struct stat st;
    int64_t tables = store_number(s, "SELECT count(*) FROM sqlite_master", e);
    if (tables < 0)
        return false;
    if (!tables)
        return makes || err_in(e, s->path, "is an empty file, not a history of monarc store");
    int64_t application = store_number(s, "PRAGMA application_id", e);
    int64_t version = store_number(s, "PRAGMA user_version", e);
    if (application != STORE_APPLICATION)
        return err_in(e, s->path, "is an SQLite database, but not a history of monarc store");
    if (version != STORE_VERSION)
        return err_in(e, s->path,
                      "has version %" PRId64 " of the tables, and this monarc reads version %d: "
                      "--file NAME begins another history",
                      version, STORE_VERSION);
    int64_t bytes =
        store_number(s, "PRAGMA page_count", e) * store_number(s, "PRAGMA page_size", e);
    if (!stat(s->path, &st) && st.st_size < bytes)
        return err_in(e, s->path,
                      "is torn: %" PRId64 " of %" PRId64 " bytes are there; nothing was written",
                      (int64_t)st.st_size, bytes);
    return !e->line[0];
}

static bool store_connect(struct store *s, bool makes, struct err *e)
{
    int flags = SQLITE_OPEN_READWRITE | (makes ? SQLITE_OPEN_CREATE : 0);
    if (s->api.open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
        return store_fails(s, e); /* one message for all that keeps it from opening a file */
    s->api.busy_timeout(s->db, WAIT_MS);
    return store_check(s, makes, e);
}

bool store_open(struct store **out, const char *path, bool makes, struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    *out = s;
    /* *out is set even where this fails, so that store_close() is due in each case. */
    s->path = arena_copy(&s->arena, path, strlen(path));
    if (!store_load(s))
        return err_set(e, "a history needs SQLite's library: libsqlite3.so.0 " LATE_MISSING);
    struct stat st;
    if (!stat(path, &st) || errno != ENOENT)
        return store_connect(s, makes, e);
    /* SQLite makes the file when it opens it, which is early while there is nothing to add. */
    return makes || err_in(e, path, "there is no such history; 'monarc store add' begins one");
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->db)
        s->api.close(s->db);
    arena_deinit(&s->arena);
    free(s);
}

/* --- adding ----------------------------------------------------------------------------------- */

/* A value and the number of its name, to be sorted by that: in the order of the key each row is
 * appended to the table. */
struct store_numbered {
    int64_t name;
    const struct store_value *value;
};

static int store_by_name(const void *left, const void *right)
{
    const struct store_numbered *l = left, *r = right;
    return l->name < r->name ? -1 : l->name > r->name;
}

/* The number of a commit, new or known. If two runs give it different dates, as where CI takes
 * the time of the build, the earlier one stays: it cannot have been later than that. */
static bool store_commit_id(const struct store *s, const struct store_run *run, int64_t *id,
                            struct err *e)
{
    sqlite3_stmt *q = store_prepare(
        s,
        "INSERT INTO commits(name, date) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET"
        " date = min(date, excluded.date) RETURNING id",
        e);
    if (!q)
        return false;
    store_bind_text(s, q, 1, run->commit);
    s->api.bind_int64(q, 2, run->date);
    bool ok = store_next(s, q, e);
    *id = ok ? s->api.column_int64(q, 0) : 0;
    s->api.finalize(q);
    return ok;
}

/* What makes a run the same as another: its totals and all its values. Texts go in with their
 * NUL, so that "ab", "c" and "a", "bc" differ. Doubles go in as bytes: the same profile is
 * computed by the same operations and comes out equal to the last bit. MD5 is there to find
 * accidents, not attackers. The date and the processor are left out: they describe a run, and do
 * not identify it. */
static void store_digest(const struct store_run *run, uint8_t digest[16])
{
    struct writer w = {0};
    const double facts[] = {run->total, run->total_error, run->period};
    writer_u8(&w, (uint8_t)run->kind);
    writer_bytes(&w, run->program, strlen(run->program) + 1);
    writer_bytes(&w, run->event, strlen(run->event) + 1);
    writer_bytes(&w, facts, sizeof facts);
    writer_u64(&w, run->lines_hit);
    writer_u64(&w, run->branches_hit);
    for (size_t i = 0; i < run->len; i++) {
        const struct store_value *v = &run->values[i];
        const double amounts[] = {v->self, v->total, (double)v->all, (double)v->hit};
        writer_bytes(&w, v->name, strlen(v->name) + 1);
        writer_bytes(&w, amounts, sizeof amounts);
    }
    md5((struct bytes){w.out.at, w.out.len}, digest);
    writer_deinit(&w);
}

/* The run's row, or none if it is there already: *id 0. RETURNING gives no row after DO NOTHING,
 * and that is how a run that is there already shows. What is bound here must stay in the order
 * of the columns above. */
static bool store_run_row(const struct store *s, const struct store_run *run, int64_t commit,
                          int64_t *id, struct err *e)
{
    uint8_t digest[16];
    sqlite3_stmt *q = store_prepare(
        s,
        "INSERT INTO runs(commit_id, kind, program, event, processor, is_time, total, total_error,"
        " period, runs, lines, lines_hit, functions, functions_hit, branches, branches_hit, digest)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)"
        " ON CONFLICT DO NOTHING RETURNING id",
        e);
    if (!q)
        return false;
    store_digest(run, digest);
    s->api.bind_int64(q, 1, commit);
    s->api.bind_int64(q, 2, run->kind);
    store_bind_text(s, q, 3, run->program);
    store_bind_text(s, q, 4, run->event);
    store_bind_text(s, q, 5, run->processor);
    s->api.bind_int64(q, 6, run->is_time);
    s->api.bind_double(q, 7, run->total / store_unit(run->is_time));
    s->api.bind_double(q, 8, run->total_error / store_unit(run->is_time));
    s->api.bind_double(q, 9, run->period / store_unit(run->is_time));
    const uint64_t counts[] = {run->runs,          run->lines,    run->lines_hit,   run->functions,
                               run->functions_hit, run->branches, run->branches_hit};
    for (int i = 0; i < 7; i++)
        s->api.bind_int64(q, 10 + i, (int64_t)counts[i]);
    s->api.bind_blob(q, 17, digest, sizeof digest, SQLITE_TRANSIENT);
    *id = store_next(s, q, e) ? s->api.column_int64(q, 0) : 0;
    s->api.finalize(q);
    return !e->line[0];
}

/* Numbers of all names; new ones are added. Two statements are prepared once and reset for each
 * name: preparing parses and plans, which a step does not. No other writer adds a name between the
 * look and the insertion, since the transaction has the lock. A statement must be reset before it
 * is bound again, also after it gave a row. */
static bool store_number_names(const struct store *s, const struct store_run *run,
                               struct store_numbered *into, struct err *e)
{
    sqlite3_stmt *find =
        store_prepare(s, "SELECT id FROM names WHERE kind = ?1 AND name = ?2 AND object = ?3", e);
    sqlite3_stmt *add =
        store_prepare(s, "INSERT INTO names(kind, name, object, shown) VALUES(?1, ?2, ?3, ?4)", e);
    bool ok = find && add;
    for (size_t i = 0; ok && i < run->len; i++) {
        const struct store_value *v = &run->values[i];
        sqlite3_stmt *both[] = {find, add};
        for (int k = 0; k < 2; k++) {
            s->api.bind_int64(both[k], 1, run->kind);
            store_bind_text(s, both[k], 2, v->name);
            store_bind_text(s, both[k], 3, v->object);
        }
        into[i].value = v;
        if (store_next(s, find, e)) {
            into[i].name = s->api.column_int64(find, 0);
        } else if ((ok = !e->line[0])) {
            store_bind_text(s, add, 4, v->shown);
            ok = store_run(s, add, e);
            into[i].name = s->api.last_insert_rowid(s->db);
            s->api.reset(add);
        }
        s->api.reset(find);
    }
    s->api.finalize(find);
    s->api.finalize(add);
    return ok;
}

/* A whole number; what is there at all is at least 1. */
static int64_t store_amount(double value, double unit)
{
    return value > 0 ? llround(fmin(fmax(1, value / unit), 9e18)) : 0;
}

/* Functions of one name in one object, as static ones of two files or the inlined and the other
 * code of one, have one series, their sum: a name is all that a history knows them by. Of two
 * sources of one name, as damaged coverage has, the first is kept. */
static bool store_rows(const struct store *s, const struct store_run *run, int64_t id,
                       struct err *e)
{
    struct arena scratch = {0};
    struct store_numbered *numbered = ARENA_NEW(&scratch, struct store_numbered, run->len);
    bool is_coverage = run->kind == STORE_COVERAGE;
    double unit = store_unit(run->is_time);
    sqlite3_stmt *q =
        store_prepare(s,
                      is_coverage ? "INSERT INTO sources VALUES(?1, ?2, ?3, ?4)"
                                  : "INSERT INTO functions VALUES(?1, ?2, ?3, ?4, ?5)",
                      e);
    bool ok = q && store_number_names(s, run, numbered, e);
    if (run->len)
        qsort(numbered, run->len, sizeof *numbered, store_by_name);
    for (size_t i = 0, end; ok && i < run->len; i = end) {
        struct store_value sum = *numbered[i].value;
        for (end = i + 1; end < run->len && numbered[end].name == numbered[i].name; end++) {
            const struct store_value *more = numbered[end].value;
            sum.self += more->self;
            sum.error = hypot(sum.error, more->error);
            sum.total += more->total;
        }
        s->api.bind_int64(q, 1, id);
        s->api.bind_int64(q, 2, numbered[i].name);
        s->api.bind_int64(q, 3, is_coverage ? (int64_t)sum.all : store_amount(sum.self, unit));
        s->api.bind_int64(q, 4, is_coverage ? (int64_t)sum.hit : store_amount(sum.error, unit));
        if (!is_coverage)
            s->api.bind_int64(q, 5, llround(fmin(fmax(0, sum.total - sum.self) / unit, 9e18)));
        ok = store_run(s, q, e);
        s->api.reset(q);
    }
    s->api.finalize(q);
    arena_deinit(&scratch);
    return ok;
}

bool store_add(struct store *s, const struct store_run *run, bool *is_there, struct err *e)
{
    int64_t commit, id = 0;
    if ((!s->db && !store_connect(s, true, e)) || !store_do(s, "BEGIN IMMEDIATE", e))
        return false;
    /* All or nothing: of a process that is killed in between, SQLite's journal takes everything
     * back. A run that is known already costs no more than its digest. */
    bool ok = store_make_tables(s, e) && store_commit_id(s, run, &commit, e) &&
              store_run_row(s, run, commit, &id, e) && (!id || store_rows(s, run, id, e)) &&
              store_do(s, "COMMIT", e);
    *is_there = ok && !id;
    struct err ignored = {0};
    if (!ok)
        (void)!store_do(s, "ROLLBACK", &ignored);
    return ok;
}

#else

bool store_open(struct store **s, const char *path, bool makes, struct err *e)
{
    (void)path, (void)makes;
    *s = NULL;
    return err_set(e, "this monarc was built without SQLite and keeps no history");
}

void store_close(struct store *s)
{
    (void)s;
}

bool store_add(struct store *s, const struct store_run *run, bool *is_there, struct err *e)
{
    (void)s, (void)run, (void)is_there;
    return err_set(e, "no history");
}

#endif
