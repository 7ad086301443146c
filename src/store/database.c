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

#include "base/bytes.h"
#include "base/late.h"
#include "base/map.h"
#include "base/path.h"
#include "profile/analysis/names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* SQLite's functions that are called. */
struct sqlite {
    __typeof__(sqlite3_open_v2) *open_v2;
    __typeof__(sqlite3_close) *close;
    __typeof__(sqlite3_errmsg) *errmsg;
    __typeof__(sqlite3_extended_errcode) *errcode;
    __typeof__(sqlite3_busy_timeout) *busy_timeout;
    __typeof__(sqlite3_exec) *exec;
    __typeof__(sqlite3_prepare_v2) *prepare;
    __typeof__(sqlite3_step) *step;
    __typeof__(sqlite3_finalize) *finalize;
    __typeof__(sqlite3_reset) *reset;
    __typeof__(sqlite3_bind_int64) *bind_int64;
    __typeof__(sqlite3_bind_double) *bind_double;
    __typeof__(sqlite3_bind_text) *bind_text;
    __typeof__(sqlite3_bind_blob) *bind_blob;
    __typeof__(sqlite3_column_int64) *column_int64;
    __typeof__(sqlite3_column_double) *column_double;
    __typeof__(sqlite3_column_text) *column_text;
    __typeof__(sqlite3_column_blob) *column_blob;
    __typeof__(sqlite3_column_bytes) *column_bytes;
    __typeof__(sqlite3_last_insert_rowid) *last_insert_rowid;
};

struct store {
    struct sqlite api;
    sqlite3 *db;
    const char *path;
    struct arena arena;
};

/* Of amounts in a history: times are microseconds there, counts are counts. */
static inline double store_unit(bool is_time)
{
    return is_time ? 1000 : 1;
}

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

#define COUNT_TABLES   "SELECT count(*) FROM sqlite_master"
#define FUNCTION_NAMES "SELECT id, shown FROM names WHERE kind = 0"

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
static sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct err *e)
{
    sqlite3_stmt *q = NULL;
    if (s->api.prepare(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        store_fails(s, e);
    return q;
}

/* SQLITE_TRANSIENT has SQLite copy the text: callers may free theirs before the step. Places of
 * values count from 1, columns of rows from 0. */
static void store_bind_text(const struct store *s, sqlite3_stmt *q, int at, const char *text)
{
    s->api.bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

/* Whether there is a next row; false at the end, and with *e after an error. */
static bool store_next(const struct store *s, sqlite3_stmt *q, struct err *e)
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
static const char *store_text(const struct store *s, sqlite3_stmt *q, int column, struct arena *a)
{
    const char *text = (const char *)s->api.column_text(q, column);
    return text ? arena_copy(a, text, strlen(text)) : "";
}

/* No queried number is negative, so -1 can mean an error. */
static int64_t store_number(const struct store *s, const char *sql, struct err *e)
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
    bool is_empty = store_number(s, COUNT_TABLES, e) == 0;
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
    int64_t tables = store_number(s, COUNT_TABLES, e);
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
                      "has tables of version %" PRId64 "; this monarc reads version %d: "
                      "--file NAME starts another history",
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

/* ---- Reading the history: one figure over all commits, and whole commits beside each other.
 *
 * A series is one query: a row a run, in the order of the commits, with the row of the requested
 * name, or none. The runs of a commit are averaged as they come; a function that has no row in a
 * run took no time there, to within half a sample. Comparing two commits reads all rows of their
 * runs into sums by name.
 *
 * A trend of 1,000 runs takes 20 ms; a commit as long as its runs are large. */

#define DAMAGED "is damaged: a run of '%s' has an amount that is not a number"

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
    sqlite3_stmt *q = store_prepare(s, FUNCTION_NAMES, e);
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
        sqlite3_stmt *q = ok ? store_prepare(s, FUNCTION_NAMES, e) : NULL;
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

/* ---- A dataset from a history: what DuckDB, ClickHouse, Spark and pandas read (docs/fleet.md).
 *
 *     fleet/service=search/build=v2/date=2026-03-02/run-DIGEST.parquet
 *
 * Each run is a file, and each function a row with a stack of itself alone: a history keeps no
 * stacks. Amounts are those of the history, to a microsecond. */

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
/* Built without SQLite: store_open() fails first and says why, so that the others are never
 * reached. They keep #ifdef out of the callers. */

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

bool store_export_dataset(struct store *s, const char *folder, const struct store_dataset *to,
                          struct err *e)
{
    (void)s, (void)folder, (void)to;
    return err_set(e, "no history");
}

#endif
