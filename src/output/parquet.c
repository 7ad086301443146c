/* Apache Parquet, as little of it as a table without missing values needs.
 *
 *     "PAR1"  { header, dictionary } { header, indices } for each column of each group of rows
 *     footer: schema, and of each group the offsets of its columns     length of it  "PAR1"
 *
 * Headers and footer are in Thrift's compact encoding: a field is the difference of its number to
 * the one before and its type in one byte, a number a zigzag varint, a structure ends in 0.
 *
 * Each column of a group has a page with its different values, numbers as eight bytes, texts after
 * four bytes of length, and a page of indices into it, in as few bits as they need. Runs of one
 * value are stored as such. So a column of one value takes some bytes, stacks a bit or two a
 * frame, and engines compare numbers instead of texts. Columns without missing values and lists
 * need no levels.
 *
 * Groups are written at 16 MB of memory, so that it does not grow with the table but by some bytes
 * a group. Nothing is packed besides. Time is that of finding each value in its dictionary. */
#include "output/formats.h"

#include <ctype.h>

enum { GROUP_BYTES = 16 << 20, MAGIC_BYTES = 4 };
static const char MAGIC[MAGIC_BYTES] = {'P', 'A', 'R', '1'};

/* Thrift's types of fields. */
enum { THRIFT_I32 = 5, THRIFT_I64, THRIFT_BINARY = 8, THRIFT_LIST, THRIFT_STRUCT = 12 };

/* Parquet's own enumerations. */
enum { TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6, REQUIRED = 0, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, LOGICAL_STRING = 1, LOGICAL_LIST = 3 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, CODEC_NONE = 0, FORMAT_VERSION = 1 };

/* --- Thrift ---------------------------------------------------------------------------------- */

/* Fields go by differences of their numbers within a struct. */
struct thrift {
    struct parquet_bytes *to;
    int last;
};

/* Bytes are gathered in lists that keep their room from group to group. */
static void parquet_put(struct parquet_bytes *to, const void *at, size_t len)
{
    vec_reserve(&to->all, to->all.len + len);
    if (len)
        memcpy(to->all.at + to->all.len, at, len);
    to->all.len += len;
}

/* Seven bits a byte, lowest first; the highest bit says that more follow. */
static void parquet_thrift_varint(struct parquet_bytes *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        vec_push(&to->all, (uint8_t)(value | 0x80));
    vec_push(&to->all, (uint8_t)value);
}

static void parquet_thrift_field(struct thrift *t, int field, int type)
{
    vec_push(&t->to->all, (uint8_t)((field - t->last) << 4 | type));
    t->last = field;
}

static void parquet_thrift_number(struct thrift *t, int field, int type, uint64_t value)
{
    parquet_thrift_field(t, field, type);
    parquet_thrift_varint(t->to, value << 1); /* zigzag of what is never negative */
}

static void parquet_thrift_text(struct parquet_bytes *to, const char *text)
{
    parquet_thrift_varint(to, strlen(text));
    parquet_put(to, text, strlen(text));
}

/* Length and type share a byte up to 14 elements; of more the length follows. */
static void parquet_thrift_list(struct thrift *t, int field, int type, size_t len)
{
    enum { SHORT = 15 };
    parquet_thrift_field(t, field, THRIFT_LIST);
    vec_push(&t->to->all, (uint8_t)((len < SHORT ? len : SHORT) << 4 | (unsigned)type));
    if (len >= SHORT)
        parquet_thrift_varint(t->to, len);
}

static struct thrift parquet_thrift_begin(struct parquet_bytes *to)
{
    return (struct thrift){to, 0};
}

/* A field of number 0 ends a structure. */
static void parquet_thrift_end(struct thrift *t)
{
    vec_push(&t->to->all, 0);
}

/* --- values ---------------------------------------------------------------------------------- */

static void parquet_write(struct parquet *p, const void *at, size_t len)
{
    out_bytes(p->out, at, len);
    p->at += len;
}

void parquet_begin(struct parquet *p, struct out *out, const struct parquet_column *columns,
                   size_t columns_len)
{
    *p = (struct parquet){.out = out, .columns = columns, .columns_len = columns_len};
    parquet_write(p, MAGIC, sizeof MAGIC);
}

static void parquet_little(struct parquet_bytes *to, uint64_t value, size_t bytes)
{
    uint8_t little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (uint8_t)(value >> 8 * i);
    parquet_put(to, little, bytes);
}

/* A signed number of 64 bits holds what is below 2^63; larger ones become the largest. */
void parquet_number(struct parquet *p, size_t column, uint64_t value)
{
    struct parquet_values *v = &p->values[column];
    bool is_new;
    value = value < INT64_MAX ? value : INT64_MAX;
    uint32_t index = map_index(&v->numbers, value, 0, v->different, &is_new);
    vec_push(&v->indices, index);
    if (!is_new)
        return;
    parquet_little(&v->dictionary, value, 8);
    v->different++;
}

/* Four bytes of length, then the bytes: PLAIN of a BYTE_ARRAY. */
void parquet_text(struct parquet *p, size_t column, const char *text, size_t len)
{
    struct parquet_values *v = &p->values[column];
    uint32_t index = intern(&v->texts, text, len);
    vec_push(&v->indices, index);
    if (index < v->different)
        return;
    parquet_little(&v->dictionary, len, 4);
    parquet_put(&v->dictionary, text, len);
    v->different++;
}

/* A run of `len` equal levels of one bit: RLE of the hybrid encoding. */
static void parquet_levels(struct parquet_bytes *to, uint64_t len, uint8_t level)
{
    if (!len)
        return;
    parquet_thrift_varint(to, len << 1);
    vec_push(&to->all, level);
}

/* Repetition levels: 0 begins a list, 1 goes on with it. */
static void parquet_list(struct parquet *p, size_t column, uint64_t len)
{
    parquet_levels(&p->repeats[column], 1, 0);
    parquet_levels(&p->repeats[column], len - 1, 1);
}

/* Of lists, both kinds of levels stand in front of the values, each with its length: where lists
 * begin, and that each text is there. */
static void parquet_put_levels(struct parquet *p, size_t column, struct parquet_bytes *page)
{
    struct parquet_bytes defined = {0};
    parquet_levels(&defined, p->values[column].indices.len, 1);
    parquet_little(page, p->repeats[column].all.len, 4);
    parquet_put(page, p->repeats[column].all.at, p->repeats[column].all.len);
    parquet_little(page, defined.all.len, 4);
    parquet_put(page, defined.all.at, defined.all.len);
    vec_free(&defined.all);
    p->repeats[column].all.len = 0;
}

/* --- indices --------------------------------------------------------------------------------- */

/* `len` indices of `width` bits each, lowest first, in groups of eight; the last group is filled
 * with zeroes. */
static void parquet_literals(struct parquet_bytes *to, const uint32_t *at, size_t len,
                             unsigned width)
{
    if (!len)
        return;
    size_t groups = (len + 7) / 8;
    uint64_t bits = 0;
    unsigned have = 0;
    parquet_thrift_varint(to, groups << 1 | 1);
    vec_reserve(&to->all, to->all.len + groups * width);
    for (size_t i = 0; i < groups * 8; i++) {
        bits |= (uint64_t)(i < len ? at[i] : 0) << have;
        for (have += width; have >= 8; have -= 8, bits >>= 8)
            to->all.at[to->all.len++] = (uint8_t)bits;
    }
}

/* RLE_DICTIONARY: the width, then runs of one index, and between them literals, eight or a multiple
 * of it. A run is worth its bytes from eight indices on.
 *
 *     7 7 7 7 7 7 7 7 7 | 3 4 3 5 5 5 5 5 | 5 5 5 5 5 5 5 5 ...
 *     run: 9 times 7      one group         run: 5 */
static void parquet_put_indices(struct parquet_bytes *to, const struct parquet_values *v)
{
    enum { GROUP = 8 };
    const uint32_t *at = v->indices.at;
    size_t literals = 0; /* the first index that is not yet written */
    unsigned width = 1;
    while (width < 32 && (v->different - 1) >> width)
        width++;
    vec_push(&to->all, (uint8_t)width);
    for (size_t i = 0, end; i < v->indices.len; i = end) {
        for (end = i + 1; end < v->indices.len && at[end] == at[i];)
            end++;
        /* What fills the last group of literals is no part of the run. */
        size_t fill = (GROUP - (i - literals) % GROUP) % GROUP;
        if (end - i < fill + GROUP)
            continue;
        parquet_literals(to, at + literals, i + fill - literals, width);
        parquet_thrift_varint(to, (end - i - fill) << 1);
        parquet_little(to, at[i], (width + 7) / 8);
        literals = end;
    }
    parquet_literals(to, at + literals, v->indices.len - literals, width);
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Sizes of packed and unpacked values are the same here. The two kinds of pages have their own
 * header in another field; that of a dictionary has no levels. */
static void parquet_page(struct parquet *p, int kind, const struct parquet_bytes *page,
                         uint64_t values)
{
    struct parquet_bytes header = {0};
    struct thrift all = parquet_thrift_begin(&header);
    parquet_thrift_number(&all, 1, THRIFT_I32, (uint64_t)kind);
    parquet_thrift_number(&all, 2, THRIFT_I32, page->all.len);
    parquet_thrift_number(&all, 3, THRIFT_I32, page->all.len);
    parquet_thrift_field(&all, kind == PAGE_DATA ? 5 : 7, THRIFT_STRUCT);
    struct thrift own = parquet_thrift_begin(&header);
    parquet_thrift_number(&own, 1, THRIFT_I32, values);
    parquet_thrift_number(&own, 2, THRIFT_I32,
                          kind == PAGE_DATA ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
    if (kind == PAGE_DATA) {
        parquet_thrift_number(&own, 3, THRIFT_I32, ENCODING_RLE);
        parquet_thrift_number(&own, 4, THRIFT_I32, ENCODING_RLE);
    }
    parquet_thrift_end(&own);
    parquet_thrift_end(&all);
    parquet_write(p, header.all.at, header.all.len);
    parquet_write(p, page->all.at, page->all.len);
    vec_free(&header.all);
}

static void parquet_values_clear(struct parquet_values *v)
{
    intern_deinit(&v->texts);
    map_deinit(&v->numbers);
    v->texts = (struct intern){0};
    v->numbers = (struct map){0};
    v->dictionary.all.len = v->indices.len = 0;
    v->different = 0;
}

/* Writes the values of all columns, one after the other, and remembers where each begins. */
static void parquet_group(struct parquet *p)
{
    struct parquet_bytes page = {0};
    for (size_t i = 0; i < p->columns_len; i++) {
        struct parquet_values *v = &p->values[i];
        struct parquet_chunk chunk = {.dictionary = p->at, .values = v->indices.len};
        parquet_page(p, PAGE_DICTIONARY, &v->dictionary, v->different);
        chunk.data = p->at;
        page.all.len = 0;
        if (p->columns[i].type == PARQUET_TEXTS)
            parquet_put_levels(p, i, &page);
        parquet_put_indices(&page, v);
        parquet_page(p, PAGE_DATA, &page, v->indices.len);
        chunk.size = p->at - chunk.dictionary;
        vec_push(&p->chunks, chunk);
        parquet_values_clear(v);
    }
    vec_free(&page.all);
    vec_push(&p->groups, p->rows_in_group);
    p->rows += p->rows_in_group;
    p->rows_in_group = 0;
}

void parquet_row(struct parquet *p)
{
    size_t bytes = 0;
    p->rows_in_group++;
    for (size_t i = 0; i < p->columns_len; i++)
        bytes += p->values[i].dictionary.all.len +
                 p->values[i].indices.len * sizeof *p->values[i].indices.at;
    if (bytes >= GROUP_BYTES)
        parquet_group(p);
}

/* --- the footer ------------------------------------------------------------------------------ */

static int parquet_type_of(const struct parquet_column *c)
{
    return c->type == PARQUET_NUMBER ? TYPE_INT64 : TYPE_BYTE_ARRAY;
}

/* An element that has children in place of a type; `logical` 0: it is no list. */
static void parquet_schema_above(struct parquet_bytes *to, const char *name, int repetition,
                                 uint64_t children, bool is_list)
{
    struct thrift e = parquet_thrift_begin(to);
    if (repetition >= 0)
        parquet_thrift_number(&e, 3, THRIFT_I32, (uint64_t)repetition);
    parquet_thrift_field(&e, 4, THRIFT_BINARY);
    parquet_thrift_text(to, name);
    parquet_thrift_number(&e, 5, THRIFT_I32, children);
    if (is_list) {
        parquet_thrift_number(&e, 6, THRIFT_I32, CONVERTED_LIST);
        parquet_thrift_field(&e, 10, THRIFT_STRUCT);
        struct thrift logical = parquet_thrift_begin(to);
        parquet_thrift_field(&logical, LOGICAL_LIST, THRIFT_STRUCT);
        struct thrift nothing = parquet_thrift_begin(to);
        parquet_thrift_end(&nothing);
        parquet_thrift_end(&logical);
    }
    parquet_thrift_end(&e);
}

/* The columns as a tree in depth-first order: a root with as many children as there are columns; a
 * list has two elements above its texts. That bytes are text is said twice, for readers before and
 * after version 2.4. */
static void parquet_schema(struct parquet *p, struct thrift *file)
{
    size_t lists = 0;
    for (size_t i = 0; i < p->columns_len; i++)
        lists += p->columns[i].type == PARQUET_TEXTS;
    parquet_thrift_list(file, 2, THRIFT_STRUCT, p->columns_len + 2 * lists + 1);
    parquet_schema_above(file->to, "schema", -1, p->columns_len, false);
    for (size_t i = 0; i < p->columns_len; i++) {
        bool is_list = p->columns[i].type == PARQUET_TEXTS;
        if (is_list) {
            parquet_schema_above(file->to, p->columns[i].name, REQUIRED, 1, true);
            parquet_schema_above(file->to, "list", REPEATED, 1, false);
        }
        struct thrift column = parquet_thrift_begin(file->to);
        parquet_thrift_number(&column, 1, THRIFT_I32, (uint64_t)parquet_type_of(&p->columns[i]));
        parquet_thrift_number(&column, 3, THRIFT_I32, REQUIRED);
        parquet_thrift_field(&column, 4, THRIFT_BINARY);
        parquet_thrift_text(file->to, is_list ? "element" : p->columns[i].name);
        if (p->columns[i].type != PARQUET_NUMBER) {
            parquet_thrift_number(&column, 6, THRIFT_I32, CONVERTED_UTF8);
            parquet_thrift_field(&column, 10, THRIFT_STRUCT);
            struct thrift logical = parquet_thrift_begin(file->to);
            parquet_thrift_field(&logical, LOGICAL_STRING, THRIFT_STRUCT);
            struct thrift nothing = parquet_thrift_begin(file->to);
            parquet_thrift_end(&nothing);
            parquet_thrift_end(&logical);
        }
        parquet_thrift_end(&column);
    }
}

/* Where one column of one group is, and how its values are written. */
static void parquet_chunk(struct parquet *p, struct parquet_bytes *to, size_t group, size_t column)
{
    const struct parquet_chunk *c = &p->chunks.at[group * p->columns_len + column];
    struct thrift chunk = parquet_thrift_begin(to);
    parquet_thrift_number(&chunk, 2, THRIFT_I64, c->dictionary);
    parquet_thrift_field(&chunk, 3, THRIFT_STRUCT);
    struct thrift data = parquet_thrift_begin(to);
    parquet_thrift_number(&data, 1, THRIFT_I32, (uint64_t)parquet_type_of(&p->columns[column]));
    parquet_thrift_list(&data, 2, THRIFT_I32, 3);
    parquet_thrift_varint(to, ENCODING_PLAIN << 1);
    parquet_thrift_varint(to, ENCODING_RLE << 1);
    parquet_thrift_varint(to, ENCODING_RLE_DICTIONARY << 1);
    bool is_list = p->columns[column].type == PARQUET_TEXTS;
    parquet_thrift_list(&data, 3, THRIFT_BINARY, is_list ? 3 : 1);
    parquet_thrift_text(to, p->columns[column].name);
    if (is_list) {
        parquet_thrift_text(to, "list");
        parquet_thrift_text(to, "element");
    }
    parquet_thrift_number(&data, 4, THRIFT_I32, CODEC_NONE);
    parquet_thrift_number(&data, 5, THRIFT_I64, c->values);
    parquet_thrift_number(&data, 6, THRIFT_I64, c->size);
    parquet_thrift_number(&data, 7, THRIFT_I64, c->size);
    parquet_thrift_number(&data, 9, THRIFT_I64, c->data);
    parquet_thrift_number(&data, 11, THRIFT_I64, c->dictionary);
    parquet_thrift_end(&data);
    parquet_thrift_end(&chunk);
}

static void parquet_footer(struct parquet *p, struct parquet_bytes *to)
{
    struct thrift file = parquet_thrift_begin(to);
    parquet_thrift_number(&file, 1, THRIFT_I32, FORMAT_VERSION);
    parquet_schema(p, &file);
    parquet_thrift_number(&file, 3, THRIFT_I64, p->rows);
    parquet_thrift_list(&file, 4, THRIFT_STRUCT, p->groups.len);
    for (size_t g = 0; g < p->groups.len; g++) {
        uint64_t bytes = 0;
        struct thrift group = parquet_thrift_begin(to);
        parquet_thrift_list(&group, 1, THRIFT_STRUCT, p->columns_len);
        for (size_t i = 0; i < p->columns_len; i++) {
            parquet_chunk(p, to, g, i);
            bytes += p->chunks.at[g * p->columns_len + i].size;
        }
        parquet_thrift_number(&group, 2, THRIFT_I64, bytes);
        parquet_thrift_number(&group, 3, THRIFT_I64, p->groups.at[g]);
        parquet_thrift_end(&group);
    }
    parquet_thrift_field(&file, 6, THRIFT_BINARY);
    parquet_thrift_text(to, "monarc " MONARC_VERSION);
    parquet_thrift_end(&file);
}

void parquet_end(struct parquet *p)
{
    struct parquet_bytes footer = {0};
    if (p->rows_in_group)
        parquet_group(p);
    parquet_footer(p, &footer);
    size_t len = footer.all.len;
    parquet_little(&footer, len, 4);
    parquet_put(&footer, MAGIC, sizeof MAGIC);
    parquet_write(p, footer.all.at, footer.all.len);
    vec_free(&footer.all);
    for (size_t i = 0; i < p->columns_len; i++) {
        parquet_values_clear(&p->values[i]);
        vec_free(&p->values[i].dictionary.all);
        vec_free(&p->values[i].indices);
        vec_free(&p->repeats[i].all);
    }
    vec_free(&p->chunks);
    vec_free(&p->groups);
}

/* --- datasets -------------------------------------------------------------------------------- *
 *
 * Rows and paths of a dataset, for all that write one. The stack is a list of names, outermost
 * first, so that a name may hold any character, and engines can ask for an element. No value is
 * missing: what is not known is an empty text or 0. Service, build and date are in the path of the
 * file, not in the rows: engines make columns of them, and read no file whose path does not match.
 */

enum {
    ROW_HOST,
    ROW_PROCESS,
    ROW_THREAD,
    ROW_RANK,
    ROW_COMMIT,
    ROW_EVENT,
    ROW_UNIT,
    ROW_PERIOD,
    ROW_TIME,
    ROW_FUNCTION,
    ROW_OBJECT,
    ROW_BUILD_ID,
    ROW_FILE,
    ROW_LINE,
    ROW_STACK,
    ROW_SELF
};

/* `rank` is a number as a text, empty outside of parallel jobs; `time_ns` nanoseconds since 1970 of
 * the slice's start; `line` where the function begins. */
const struct parquet_column dataset_columns[] = {
    [ROW_HOST] = {"host", PARQUET_TEXT},       [ROW_PROCESS] = {"process", PARQUET_NUMBER},
    [ROW_THREAD] = {"thread", PARQUET_NUMBER}, [ROW_RANK] = {"rank", PARQUET_TEXT},
    [ROW_COMMIT] = {"commit", PARQUET_TEXT},   [ROW_EVENT] = {"event", PARQUET_TEXT},
    [ROW_UNIT] = {"unit", PARQUET_TEXT},       [ROW_PERIOD] = {"period", PARQUET_NUMBER},
    [ROW_TIME] = {"time_ns", PARQUET_NUMBER},  [ROW_FUNCTION] = {"function", PARQUET_TEXT},
    [ROW_OBJECT] = {"object", PARQUET_TEXT},   [ROW_BUILD_ID] = {"build_id", PARQUET_TEXT},
    [ROW_FILE] = {"file", PARQUET_TEXT},       [ROW_LINE] = {"line", PARQUET_NUMBER},
    [ROW_STACK] = {"stack", PARQUET_TEXTS},    [ROW_SELF] = {"self", PARQUET_NUMBER}};
const size_t dataset_columns_len = sizeof dataset_columns / sizeof *dataset_columns;

static void dataset_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text ? text : "", text ? strlen(text) : 0);
}

void dataset_row_add(struct parquet *p, const struct dataset_row *row)
{
    dataset_word(p, ROW_HOST, row->host);
    parquet_number(p, ROW_PROCESS, row->process);
    parquet_number(p, ROW_THREAD, row->thread);
    dataset_word(p, ROW_RANK, row->rank);
    dataset_word(p, ROW_COMMIT, row->commit);
    dataset_word(p, ROW_EVENT, row->event);
    dataset_word(p, ROW_UNIT, row->unit);
    parquet_number(p, ROW_PERIOD, row->period);
    parquet_number(p, ROW_TIME, row->time_ns);
    dataset_word(p, ROW_FUNCTION, row->function);
    dataset_word(p, ROW_OBJECT, row->object);
    dataset_word(p, ROW_BUILD_ID, row->build_id);
    dataset_word(p, ROW_FILE, row->file);
    parquet_number(p, ROW_LINE, row->line);
    parquet_list(p, ROW_STACK, row->depth);
    for (size_t i = 0; i < row->depth; i++)
        dataset_word(p, ROW_STACK, row->stack[i]);
    parquet_number(p, ROW_SELF, row->self);
    parquet_row(p);
}

/* A value as part of a path: what Hive's readers decode again. A slash becomes %2F, so that a value
 * is one folder and cannot lead out of the dataset. Quadratic, and short: names of services. */
static const char *dataset_escaped(const char *value, struct arena *a)
{
    const char *text = "";
    for (; *value; value++)
        text = arena_printf(
            a, isalnum((unsigned char)*value) || strchr("._-", *value) ? "%s%c" : "%s%%%02X", text,
            (unsigned char)*value);
    return text;
}

const char *dataset_path(const char *folder, const char *service, const char *build,
                         const char *date, const char *name, struct arena *a)
{
    return arena_printf(a, "%s/service=%s/build=%s/date=%s/%s.parquet", folder,
                        dataset_escaped(service, a), dataset_escaped(build, a),
                        dataset_escaped(date, a), dataset_escaped(name, a));
}
