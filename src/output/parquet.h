/* Tables in Apache Parquet, which DuckDB, ClickHouse, Spark and pandas read.
 *
 *     struct parquet p;
 *     parquet_begin(&p, out, columns, columns_len);
 *     for each row: a value for each column in its order, then parquet_row(&p);
 *     parquet_end(&p);
 *
 * Columns are texts or whole numbers below 2^63; there are no missing values. Rows are written in
 * groups, so that memory does not grow with the table but by some bytes a group. Nothing is packed.
 * Specification: github.com/apache/parquet-format, version 2.10. */
#ifndef MONARC_OUTPUT_PARQUET_H
#define MONARC_OUTPUT_PARQUET_H

#include "base/vec.h"
#include "output/out.h"

enum parquet_type { PARQUET_NUMBER, PARQUET_TEXT };

struct parquet_column {
    const char *name;
    enum parquet_type type;
};

enum { PARQUET_MOST_COLUMNS = 16 };

struct parquet_bytes {
    VEC(uint8_t) all;
};

/* One column of one group of rows. */
struct parquet_chunk {
    uint64_t offset, size;
};

struct parquet {
    struct out *out;
    const struct parquet_column *columns;
    size_t columns_len;
    struct parquet_bytes values[PARQUET_MOST_COLUMNS]; /* of the group that is not yet written */
    uint64_t rows, rows_in_group, at;                  /* at: bytes written */
    VEC(struct parquet_chunk) chunks;                  /* columns_len for each group */
    VEC(uint64_t) groups;                              /* their rows */
};

void parquet_begin(struct parquet *p, struct out *out, const struct parquet_column *columns,
                   size_t columns_len);
void parquet_number(struct parquet *p, size_t column, uint64_t value);
void parquet_text(struct parquet *p, size_t column, const char *text, size_t len);
void parquet_row(struct parquet *p);

/* Writes the rest and frees what the table needed. */
void parquet_end(struct parquet *p);

#endif
