/* Reading tables in Apache Parquet, group of rows by group of rows, the columns that are wanted.
 *
 *     struct parquet_reader r;
 *     ok = parquet_open(&r, bytes, name, wanted, wanted_len, e);
 *     while (ok && parquet_next(&r, e))
 *         for each row: parquet_cell(&r.columns[i], row), r.columns[i].texts.at[cell] ...
 *     parquet_close(&r);
 *
 * Values come as numbers of different ones, as they lie in the file: who looks each different value
 * up once has done so for all rows. Files of monarc, DuckDB, pyarrow and ClickHouse are read, in
 * as much of the format as they use for such columns: pages of version 1 and 2, plain or with a
 * dictionary, not packed or by Snappy. Everything else is refused by name. */
#ifndef MONARC_BASE_PARQUET_READ_H
#define MONARC_BASE_PARQUET_READ_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

enum parquet_wanted_type { PARQUET_WANTS_NUMBER, PARQUET_WANTS_TEXT, PARQUET_WANTS_TEXTS };

struct parquet_wanted {
    const char *name;
    enum parquet_wanted_type type;
    bool may_lack; /* a file without it is fine: all its values are missing */
};

enum { PARQUET_MISSING = UINT32_MAX, PARQUET_MOST_WANTED = 24 };

/* A column of the current group. `texts` or `numbers` has the different values. Of a column that is
 * no list row i has value `index.at[i]`, or PARQUET_MISSING; of lists those from first.at[i] to
 * before first.at[i + 1]. A text lives as long as the group. */
struct parquet_read_column {
    VEC(struct bytes) texts;
    VEC(uint64_t) numbers;
    VEC(uint32_t) index;
    VEC(uint32_t) first;
    bool is_there;
};

/* The number of a row's value among the different ones; PARQUET_MISSING also where the file lacks
 * the column. */
static inline uint32_t parquet_cell(const struct parquet_read_column *c, uint64_t row)
{
    return row < c->index.len ? c->index.at[row] : PARQUET_MISSING;
}

/* A column as the schema has it. */
struct parquet_leaf {
    struct bytes name; /* of the column; of a list that of the list */
    uint32_t type, defined, defined_list, repeated;
};

/* A column of one group: where its pages are. */
struct parquet_place {
    uint64_t at, size, values;
    uint32_t codec, type;
};

struct parquet_reader {
    struct cursor file;
    const struct parquet_wanted *wanted;
    size_t wanted_len;
    uint32_t leaf[PARQUET_MOST_WANTED]; /* of each wanted column, or PARQUET_MISSING */
    VEC(struct parquet_leaf) leaves;
    VEC(struct parquet_place) places; /* leaves.len for each group */
    VEC(uint64_t) groups;             /* their rows */
    size_t group;                     /* that is read next */
    uint64_t rows;                    /* of the current group */
    struct parquet_read_column columns[PARQUET_MOST_WANTED];
    struct arena unpacked; /* pages of the current group that were packed */
};

/* `in`, `name` and `wanted` must stay where they are. parquet_close() is due in any case. */
MUST_CHECK bool parquet_open(struct parquet_reader *r, struct bytes in, const char *name,
                             const struct parquet_wanted *wanted, size_t wanted_len, struct err *e);

/* The next group of rows; false behind the last, and with *e if it cannot be read. */
bool parquet_next(struct parquet_reader *r, struct err *e);
void parquet_close(struct parquet_reader *r);

#endif
