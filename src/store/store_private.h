/* Shared by the files of the store: SQLite's functions, and statements over them.
 *
 *   database.c   opening, checking, adding
 *   history.c    reading series, and whole commits
 *   dataset.c    writing a dataset */
#ifndef MONARC_STORE_STORE_PRIVATE_H
#define MONARC_STORE_STORE_PRIVATE_H

#include "store/store.h"

#include <sqlite3.h>

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

/* A statement, to be bound, stepped and finalized by the caller; NULL with *e. */
sqlite3_stmt *store_prepare(const struct store *s, const char *sql, struct err *e);
void store_bind_text(const struct store *s, sqlite3_stmt *q, int at, const char *text);

/* Whether there is a next row; false at the end, and with *e after an error. */
bool store_next(const struct store *s, sqlite3_stmt *q, struct err *e);

/* A column of the row; the number in the only row of a query, -1 with *e. */
const char *store_text(const struct store *s, sqlite3_stmt *q, int column, struct arena *a);
int64_t store_number(const struct store *s, const char *sql, struct err *e);

/* Of amounts in a history: times are microseconds there, counts are counts. */
static inline double store_unit(bool is_time)
{
    return is_time ? 1000 : 1;
}

#endif
