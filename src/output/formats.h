/* Writers of formats: JSON, CSV, Protocol Buffers, Parquet, pictures by Graphviz.
 *
 * JSON and CSV are written as they come: nothing is built in memory.
 *
 *     struct json j = {.out = out};
 *     json_begin(&j, '{');
 *     json_key(&j, "name"), json_str(&j, name);
 *     json_key(&j, "sizes"), json_begin(&j, '['), json_u64(&j, 7), json_end(&j);
 *     json_end(&j);
 *
 * Commas, indentation (two spaces) and the final newline are the writer's business; that keys and
 * values alternate is the caller's. Nesting is at most JSON_DEPTH. */
#ifndef MONARC_OUTPUT_FORMATS_H
#define MONARC_OUTPUT_FORMATS_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/vec.h"
#include "output/out.h"

enum { JSON_DEPTH = 32 };

struct json {
    struct out *out;
    bool is_compact; /* one line, no spaces */
    bool has_items;  /* in the innermost container */
    bool after_key;
    unsigned depth;
    char closers[JSON_DEPTH];
};

/* `bracket`: '{' or '['. */
void json_begin(struct json *j, char bracket);
void json_end(struct json *j);
void json_key(struct json *j, const char *key);

/* Bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void json_str(struct json *j, const char *text);
void json_str_n(struct json *j, const char *text, size_t len);

void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);

/* The shortest decimal that reads back as the same double; null for what is not finite. */
void json_double(struct json *j, double value);

/* A number of millionths, with the decimals that it has: 2500000 is 2.5. */
void json_millionths(struct json *j, uint64_t value);
void json_bool(struct json *j, bool value);
void json_none(struct json *j); /* null; jansson has a json_null() */

/* An address as "0x401000": JSON numbers are doubles to most readers. */
void json_address(struct json *j, uint64_t value);

/* A key and its value. */
void json_pair_u64(struct json *j, const char *key, uint64_t value);
void json_pair_double(struct json *j, const char *key, double value);
void json_pair_str(struct json *j, const char *key, const char *value);
void json_pair_address(struct json *j, const char *key, uint64_t value);
void json_pair_bool(struct json *j, const char *key, bool value);

/* A member that is an array of `len` objects, of which the body writes the members of number `i`:
 *
 *     JSON_ROWS(j, "marks", i, r->marks.len)
 *         json_pair_str(j, "name", r->marks.at[i].name);
 *
 * Of JSON_ITEMS it writes a value, or none. It may `continue`, but never `break`: the array is
 * closed after the last number. */
#define JSON_ROWS(j, key, i, len) \
    for (size_t i = json_array_begin(j, key); json_row_next(j, i, len); i++)
#define JSON_ITEMS(j, key, i, len) \
    for (size_t i = json_array_begin(j, key); json_item_next(j, i, len); i++)

size_t json_array_begin(struct json *j, const char *key); /* 0 */
static inline bool json_item_next(struct json *j, size_t i, size_t len)
{
    return i < len || (json_end(j), false);
}
bool json_row_next(struct json *j, size_t i, size_t len);

/* What every document of ours begins with: its object, the schema's version, the report's name
 * (NULL: it has none). */
void json_document_begin(struct json *j, const char *report);

/* Comma-separated values, RFC 4180: CRLF line ends, quotes where needed, a header line. Numbers are
 * written as JSON writes them; what is not known is an empty field. Control bytes in texts, line
 * ends among them, are shown as `?` (see text_name()): programs that read a table line by line take
 * them for rows, and terminals obey them. A text that a spreadsheet would run as a formula, as it
 * begins with = + - or @, gets an apostrophe in front. */
struct csv {
    struct out *out;
    bool has_fields; /* on this line */
};

void csv_str(struct csv *c, const char *text); /* NULL: empty */
void csv_u64(struct csv *c, uint64_t value);
void csv_double(struct csv *c, double value); /* not finite: empty */
void csv_address(struct csv *c, uint64_t value);
void csv_none(struct csv *c);
/* Ends the line. */
void csv_end(struct csv *c);

/* ---- Messages of Protocol Buffers, written field by field: varints, texts, and messages inside.
 *
 *     struct protobuf p = {0};
 *     size_t inner = protobuf_begin(&p, 2);
 *     protobuf_u64(&p, 1, 7);
 *     protobuf_end(&p, inner);
 *
 * Nothing is read, and no schema is known: that fields and types are right is the caller's. */

struct protobuf {
    VEC(uint8_t) out;
};

void protobuf_varint(struct protobuf *p, uint64_t value); /* without a field: in packed lists */
void protobuf_u64(struct protobuf *p, uint32_t field, uint64_t value);     /* nothing for 0 */
void protobuf_fixed64(struct protobuf *p, uint32_t field, uint64_t value); /* nothing for 0 */
void protobuf_bytes(struct protobuf *p, uint32_t field, const void *bytes, size_t len);

/* A message, or a packed list of varints. Returns what protobuf_end() wants to know. */
size_t protobuf_begin(struct protobuf *p, uint32_t field);
void protobuf_end(struct protobuf *p, size_t begun);

void protobuf_deinit(struct protobuf *p);

/* ---- Tables in Apache Parquet, which DuckDB, ClickHouse, Spark and pandas read.
 *
 *     struct parquet p;
 *     parquet_begin(&p, out, columns, columns_len);
 *     for each row: a value for each column in its order, then parquet_row(&p);
 *     parquet_end(&p);
 *
 * Columns are texts, lists of texts, or whole numbers below 2^63; there are no missing values, and
 * no empty lists. Each column has a dictionary, so that values that repeat take some bits. Rows are
 * written in groups, so that memory does not grow with the table but by some bytes a group.
 * Specification: github.com/apache/parquet-format, version 2.10. */

enum parquet_type { PARQUET_NUMBER, PARQUET_TEXT, PARQUET_TEXTS /* a list of at least one */ };

struct parquet_column {
    const char *name;
    enum parquet_type type;
};

enum { PARQUET_MOST_COLUMNS = 48 };

struct parquet_bytes {
    VEC(uint8_t) all;
};

/* Values of a column in the group that is not yet written: the different ones, and for each value
 * which of them it is. */
struct parquet_values {
    struct intern texts;
    struct map numbers;
    struct parquet_bytes dictionary; /* as it is written */
    VEC(uint32_t) indices;
    uint32_t different;
};

/* One column of one group of rows: where its pages begin, and the size of both. */
struct parquet_chunk {
    uint64_t dictionary, data, size, values;
};

struct parquet {
    struct out *out;
    const struct parquet_column *columns;
    size_t columns_len;
    struct parquet_values values[PARQUET_MOST_COLUMNS];
    struct parquet_bytes repeats[PARQUET_MOST_COLUMNS]; /* of lists: where each begins */
    uint64_t rows, rows_in_group, at;                   /* at: bytes written */
    VEC(struct parquet_chunk) chunks;                   /* columns_len for each group */
    VEC(uint64_t) groups;                               /* their rows */
};

void parquet_begin(struct parquet *p, struct out *out, const struct parquet_column *columns,
                   size_t columns_len);
void parquet_number(struct parquet *p, size_t column, uint64_t value);
void parquet_text(struct parquet *p, size_t column, const char *text, size_t len);
void parquet_row(struct parquet *p);

/* Writes the rest and frees what the table needed. */
void parquet_end(struct parquet *p);

/* ---- Datasets: folders of such tables, one file a recording, in which rows stand for themselves.
 *
 *     DIR/service=NAME/build=ID/date=2026-03-02/NAME.parquet
 *
 * Engines make columns of the folders' names (Hive's way). docs/fleet.md describes the columns. */

/* A stack, and what one thread spent in it in one slice of time. Texts may be NULL: not known. */
struct dataset_row {
    const char *host, *rank, *commit, *event, *unit, *function, *object, *build_id, *file;
    uint64_t process, thread, time_ns, line, self;
    uint64_t period;          /* of a sample; 0: not known */
    const char *const *stack; /* outermost first */
    size_t depth;             /* at least one */
};

/* In the order of the columns of dataset_row_add(). */
extern const struct parquet_column dataset_columns[];
extern const size_t dataset_columns_len;

void dataset_row_add(struct parquet *p, const struct dataset_row *row);

/* The path of a file; what is a value in it is escaped, so that it is one folder. */
const char *dataset_path(const char *folder, const char *service, const char *build,
                         const char *date, const char *name, struct arena *a);

/* ---- Drawing a graph by Graphviz' library, if monarc was built with it and it is installed. */

/* Lays out `dot`, a text in Graphviz' language that ends in 0, and writes it in a format of
 * Graphviz: svg, png, pdf. Of an svg the document type is left out, which would name a file of
 * another host. False with a line that says what is missing. */
MUST_CHECK bool graphviz_draw(struct out *out, const char *dot, const char *format, struct err *e);

#endif
