/* Apache Parquet, read from its end: github.com/apache/parquet-format, version 2.10.
 *
 *     "PAR1"  { header, page } for each column of each group of rows ...  footer  length  "PAR1"
 *
 * The footer has the schema as a tree in depth-first order, and where the columns of each group
 * are. A column's pages are a dictionary, perhaps, and data: levels first, which say of lists where
 * they begin and of optional values whether they are there, then values, or their numbers in the
 * dictionary. Levels and numbers are a mixture of runs and of packed bits:
 *
 *     varint n << 1      value in whole bytes       n times the value
 *     varint n << 1 | 1  n * 8 values of `width` bits each, lowest first
 *
 * Holds throughout: a run may stand for any number of values in five bytes, so the values of a
 * column are bounded by MOST_ROWS, in lists by MOST_VALUES, and memory by what was decoded so far.
 * The encoding of footer and headers (Thrift's compact protocol) is passed over where it is not
 * known, to a bounded depth.
 *
 * Refused, in words: encryption, columns split over files, deeper nesting than a list, other
 * packing than Snappy, other encodings than plain and dictionaries. Cost: linear. */
#include "base/parquet_read.h"

#include <inttypes.h>
#include <string.h>

enum {
    MOST_VALUES = 32 << 20,
    MOST_ROWS = 4 << 20,
    MOST_PAGE = 1 << 30,
    MOST_DEPTH = 12,
    MAGIC_BYTES = 4
};

enum { TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { REPETITION_REQUIRED = 0, REPETITION_REPEATED = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_PLAIN_DICTIONARY = 2, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_INDEX = 1, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };
enum { CODEC_NONE = 0, CODEC_SNAPPY = 1 };
static const char *const CODECS[] = {"none",   "snappy", "gzip", "lzo",
                                     "brotli", "lz4",    "zstd", "lz4"};

/* --- Thrift ---------------------------------------------------------------------------------- */

/* Types of fields and elements; both kinds of truth stand in the type itself, but in lists. */
enum {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_BYTE,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT
};

/* A field's number is told by its distance to the one before. */
struct thrift_field {
    uint32_t number, type;
};

/* Takes the head of the next field; false at the end of the structure, and if it is damaged. */
static bool thrift_next(struct cursor *in, struct thrift_field *f)
{
    uint8_t head = cursor_u8(in);
    f->type = head & 0xf;
    if (f->type == THRIFT_STOP || in->failed)
        return false;
    f->number = head >> 4 ? f->number + (head >> 4) : (uint32_t)cursor_zigzag(in);
    return !in->failed;
}

/* A text, or bytes: their length, then they themselves, which are not copied. */
static struct bytes thrift_binary(struct cursor *in)
{
    uint64_t len = cursor_leb128(in);
    const uint8_t *at = len <= cursor_left(in) ? cursor_take(in, len) : NULL;
    in->failed |= !at;
    return (struct bytes){at, at ? len : 0};
}

/* The head of a list: how many elements, of which type. An element has a byte at least. */
static uint64_t thrift_list(struct cursor *in, uint32_t *type)
{
    uint8_t head = cursor_u8(in);
    uint64_t len = head >> 4 == 15 ? cursor_leb128(in) : head >> 4;
    *type = head & 0xf;
    in->failed |= len > cursor_left(in);
    return in->failed ? 0 : len;
}

/* Passes a value. Elements of lists that are truths take a byte each; those of fields none. */
static void thrift_pass(struct cursor *in, uint32_t type, unsigned depth, bool is_element)
{
    struct thrift_field f = {0};
    uint32_t of = 0, to = 0;
    uint64_t len;
    if (depth > MOST_DEPTH) {
        in->failed = true;
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        if (is_element)
            cursor_u8(in);
        break;
    case THRIFT_BYTE: cursor_u8(in); break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64: cursor_leb128(in); break;
    case THRIFT_DOUBLE: cursor_u64(in); break;
    case THRIFT_BINARY: thrift_binary(in); break;
    case THRIFT_LIST:
    case THRIFT_SET:
        for (len = thrift_list(in, &of); len && !in->failed; len--)
            thrift_pass(in, of, depth + 1, true);
        break;
    case THRIFT_MAP:
        len = cursor_leb128(in);
        of = len ? cursor_u8(in) : 0;
        to = of & 0xf;
        for (of >>= 4; len && !in->failed; len--) {
            thrift_pass(in, of, depth + 1, true);
            thrift_pass(in, to, depth + 1, true);
            in->failed |= !cursor_left(in); /* a stop follows at least */
        }
        break;
    case THRIFT_STRUCT:
        while (thrift_next(in, &f))
            thrift_pass(in, f.type, depth + 1, false);
        break;
    default: in->failed = true;
    }
}

/* A number that is not negative; whatever has no place in 64 bits is damage. */
static uint64_t thrift_number(struct cursor *in)
{
    int64_t value = cursor_zigzag(in);
    in->failed |= value < 0;
    return in->failed ? 0 : (uint64_t)value;
}

/* --- the footer ------------------------------------------------------------------------------ */

/* An element of the schema: a column, or what stands above columns. */
struct parquet_element {
    struct bytes name;
    uint64_t type, repetition, children;
    bool has_type;
};

/* Its fields in any order. What a column means beside its type (a date, a decimal) is passed over:
 * whoever wants a number gets what is stored. */
static void parquet_read_element(struct cursor *in, struct parquet_element *x)
{
    struct thrift_field f = {0};
    *x = (struct parquet_element){0};
    while (thrift_next(in, &f))
        if (f.number == 1 && f.type == THRIFT_I32)
            x->type = thrift_number(in), x->has_type = true;
        else if (f.number == 3 && f.type == THRIFT_I32)
            x->repetition = thrift_number(in);
        else if (f.number == 4 && f.type == THRIFT_BINARY)
            x->name = thrift_binary(in);
        else if (f.number == 5 && f.type == THRIFT_I32)
            x->children = thrift_number(in);
        else
            thrift_pass(in, f.type, 0, false);
}

/* What an element that has children says of all columns below it. */
struct parquet_above {
    struct bytes name;
    uint64_t left; /* children that are still to come */
    uint32_t defined, defined_list, repeated;
};

/* The tree comes in depth-first order, each element with the number of its children. A level of
 * definition is counted for each element on the way that may be missing or repeated. */
static void parquet_schema_read(struct parquet_reader *r, struct cursor *in)
{
    struct parquet_above above[MOST_DEPTH];
    size_t depth = 0;
    uint32_t of;
    /* One schema, before the groups, which are counted by its leaves. */
    in->failed |= r->leaves.len || r->groups.len;
    for (uint64_t len = thrift_list(in, &of), i = 0; i < len && !in->failed; i++) {
        struct parquet_element x;
        parquet_read_element(in, &x);
        if (!i) { /* the root, whose name is nothing's */
            above[depth++] = (struct parquet_above){.left = x.children};
            continue;
        }
        while (depth && !above[depth - 1].left)
            depth--;
        in->failed |= !depth || depth == MOST_DEPTH;
        if (in->failed)
            return;
        struct parquet_above here = above[depth - 1];
        above[depth - 1].left--;
        if (depth == 1)
            here.name = x.name;
        here.defined += x.repetition != REPETITION_REQUIRED;
        if (x.repetition == REPETITION_REPEATED) {
            here.repeated++;
            here.defined_list = here.defined;
        }
        here.left = x.children;
        if (x.has_type)
            vec_push(&r->leaves, ((struct parquet_leaf){here.name, (uint32_t)x.type, here.defined,
                                                        here.defined_list, here.repeated}));
        else
            above[depth++] = here;
    }
}

/* A column of a group: its fields lie in a structure of their own. */
static void parquet_place_read(struct cursor *in, struct parquet_place *p)
{
    struct thrift_field f = {0}, g = {0};
    uint64_t data = 0, dictionary = 0;
    *p = (struct parquet_place){0};
    while (thrift_next(in, &f)) {
        if (f.number != 3 || f.type != THRIFT_STRUCT) {
            /* A path of another file, which no engine writes. */
            in->failed |= f.number == 1;
            thrift_pass(in, f.type, 0, false);
            continue;
        }
        for (g = (struct thrift_field){0}; thrift_next(in, &g);)
            if (g.number == 1 && g.type == THRIFT_I32)
                p->type = (uint32_t)thrift_number(in);
            else if (g.number == 4 && g.type == THRIFT_I32)
                p->codec = (uint32_t)thrift_number(in);
            else if (g.number == 5 && g.type == THRIFT_I64)
                p->values = thrift_number(in);
            else if (g.number == 7 && g.type == THRIFT_I64)
                p->size = thrift_number(in);
            else if (g.number == 9 && g.type == THRIFT_I64)
                data = thrift_number(in);
            else if (g.number == 11 && g.type == THRIFT_I64)
                dictionary = thrift_number(in);
            else
                thrift_pass(in, g.type, 0, false);
    }
    /* Some writers name no dictionary where there is none, others 0. */
    p->at = dictionary && dictionary < data ? dictionary : data;
}

/* Groups have a place for each leaf of the schema, in its order. */
static void parquet_groups_read(struct parquet_reader *r, struct cursor *in)
{
    uint32_t of;
    for (uint64_t len = thrift_list(in, &of); len && !in->failed; len--) {
        struct thrift_field f = {0};
        uint64_t rows = 0, places = 0;
        while (thrift_next(in, &f)) {
            if (f.number == 3 && f.type == THRIFT_I64) {
                rows = thrift_number(in);
            } else if (f.number == 1 && f.type == THRIFT_LIST) {
                for (uint64_t n = thrift_list(in, &of); n && !in->failed; n--, places++) {
                    struct parquet_place place;
                    parquet_place_read(in, &place);
                    vec_push(&r->places, place);
                }
            } else {
                thrift_pass(in, f.type, 0, false);
            }
        }
        in->failed |= places != r->leaves.len;
        vec_push(&r->groups, rows);
    }
}

/* Which leaf each wanted column is. A list is a leaf that is repeated once. */
static bool parquet_choose(struct parquet_reader *r, struct err *e)
{
    for (size_t i = 0; i < r->wanted_len; i++) {
        const struct parquet_wanted *w = &r->wanted[i];
        r->leaf[i] = PARQUET_MISSING;
        for (uint32_t k = 0; k < r->leaves.len; k++) {
            const struct parquet_leaf *l = &r->leaves.at[k];
            if (l->name.len == strlen(w->name) && !memcmp(l->name.at, w->name, l->name.len))
                r->leaf[i] = k;
        }
        if (r->leaf[i] == PARQUET_MISSING && w->may_lack)
            continue;
        if (r->leaf[i] == PARQUET_MISSING)
            return err_in(e, r->file.name, "has no column '%s'", w->name);
        const struct parquet_leaf *l = &r->leaves.at[r->leaf[i]];
        bool is_number = l->type == TYPE_INT32 || l->type == TYPE_INT64;
        if (l->repeated != (w->type == PARQUET_WANTS_TEXTS) ||
            (w->type == PARQUET_WANTS_NUMBER ? !is_number : l->type != TYPE_BYTE_ARRAY))
            return err_in(e, r->file.name, "column '%s' is not %s", w->name,
                          w->type == PARQUET_WANTS_NUMBER ? "of whole numbers"
                          : w->type == PARQUET_WANTS_TEXT ? "of texts"
                                                          : "of lists of texts");
    }
    return true;
}

/* The last eight bytes are the length of the footer and the mark that the file begins with, too. A
 * file that was cut off has neither. */
bool parquet_open(struct parquet_reader *r, struct bytes in, const char *name,
                  const struct parquet_wanted *wanted, size_t wanted_len, struct err *e)
{
    *r = (struct parquet_reader){
        .file = cursor_over(in, name), .wanted = wanted, .wanted_len = wanted_len};
    if (in.len < 3 * MAGIC_BYTES || memcmp(in.at, "PAR1", MAGIC_BYTES))
        return err_in(e, name, "is no Parquet file: it does not begin with PAR1");
    const uint8_t *end = in.at + in.len - 2 * MAGIC_BYTES;
    size_t len = bytes_u32(end, false);
    if (memcmp(end + MAGIC_BYTES, "PAR1", MAGIC_BYTES) || len > in.len - 3 * MAGIC_BYTES)
        return err_in(e, name, "ends early: its footer is not there");
    struct cursor footer = r->file;
    footer.at = end - len;
    footer.end = end;
    struct thrift_field f = {0};
    while (thrift_next(&footer, &f))
        if (f.number == 2 && f.type == THRIFT_LIST)
            parquet_schema_read(r, &footer);
        else if (f.number == 4 && f.type == THRIFT_LIST)
            parquet_groups_read(r, &footer);
        else
            thrift_pass(&footer, f.type, 0, false);
    if (footer.failed)
        return err_at(e, &footer, "the footer of Parquet is damaged");
    return parquet_choose(r, e);
}

/* --- Snappy ---------------------------------------------------------------------------------- */

/* The raw format (github.com/google/snappy, format_description.txt): the length, then pieces, each
 * new bytes or a copy of what came `offset` bytes before. A copy may reach into itself, so that
 * bytes go one by one. */
static bool snappy_unpack(struct bytes in, uint8_t *to, size_t len)
{
    struct cursor c = cursor_over(in, "");
    size_t at = 0;
    if (cursor_leb128(&c) != len)
        return false;
    while (cursor_left(&c) && !c.failed) {
        uint8_t tag = cursor_u8(&c);
        size_t n = (tag >> 2) + 1u, offset;
        if (!(tag & 3)) { /* new bytes; their number may stand behind the tag */
            if (n > 60) {
                size_t more = 0;
                for (size_t i = 0; i < n - 60; i++)
                    more |= (size_t)cursor_u8(&c) << 8 * i;
                n = more + 1;
            }
            const uint8_t *from = cursor_take(&c, n);
            if (!from || n > len - at)
                return false;
            memcpy(to + at, from, n);
            at += n;
            continue;
        }
        if ((tag & 3) == 1) {
            n = (tag >> 2 & 7) + 4u;
            offset = (size_t)(tag >> 5) << 8 | cursor_u8(&c);
        } else {
            offset = (tag & 3) == 2 ? cursor_u16(&c) : cursor_u32(&c);
        }
        if (c.failed || !offset || offset > at || n > len - at)
            return false;
        for (; n; n--, at++)
            to[at] = to[at - offset];
    }
    return !c.failed && at == len;
}

/* --- pages ----------------------------------------------------------------------------------- */

struct parquet_page {
    uint64_t kind, size, packed, values, encoding, repeats_len, defined_len;
    bool is_packed;
};

/* The page's own header is field 5, 7 or 8 of the header, with its fields in the same order but for
 * those of version 2. */
static void parquet_page_read(struct cursor *in, struct parquet_page *p)
{
    struct thrift_field f = {0}, g = {0};
    *p = (struct parquet_page){.is_packed = true};
    while (thrift_next(in, &f)) {
        bool is_own = f.type == THRIFT_STRUCT && (f.number == 5 || f.number == 7 || f.number == 8);
        if (f.type == THRIFT_I32 && f.number <= 3) {
            *(f.number == 1 ? &p->kind : f.number == 2 ? &p->size : &p->packed) = thrift_number(in);
            continue;
        }
        if (!is_own) {
            thrift_pass(in, f.type, 0, false);
            continue;
        }
        unsigned encoding = f.number == 8 ? 4 : 2;
        for (g = (struct thrift_field){0}; thrift_next(in, &g);)
            if (g.number == 1 && g.type == THRIFT_I32)
                p->values = thrift_number(in);
            else if (g.number == encoding && g.type == THRIFT_I32)
                p->encoding = thrift_number(in);
            else if (f.number == 8 && (g.number == 5 || g.number == 6) && g.type == THRIFT_I32)
                *(g.number == 5 ? &p->defined_len : &p->repeats_len) = thrift_number(in);
            else if (f.number == 8 && g.number == 7 && g.type <= THRIFT_FALSE)
                p->is_packed = g.type == THRIFT_TRUE;
            else
                thrift_pass(in, g.type, 0, false);
    }
}

/* Runs and packed bits, value by value. */
struct parquet_hybrid {
    struct cursor in;
    unsigned width;
    uint64_t run, literals; /* values left of either */
    uint32_t value;         /* of the run */
    uint64_t bits;
    unsigned have;
};

/* The next one. Where `in` has failed there is none, and 0 is returned; a width of 0 bits, as of a
 * dictionary of one value, needs no bytes at all. */
static uint32_t hybrid_next(struct parquet_hybrid *h)
{
    if (!h->width)
        return 0;
    while (!h->run && !h->literals && !h->in.failed) {
        uint64_t head = cursor_leb128(&h->in);
        h->bits = h->have = 0;
        if (head & 1) {
            h->literals = (head >> 1) * 8;
            h->in.failed |= head >> 1 > cursor_left(&h->in) / h->width;
            continue;
        }
        h->run = head >> 1;
        h->value = 0;
        for (unsigned i = 0; i < (h->width + 7) / 8; i++)
            h->value |= (uint32_t)cursor_u8(&h->in) << 8 * i;
    }
    if (h->run) {
        h->run--;
        return h->value;
    }
    for (; h->have < h->width && !h->in.failed; h->have += 8)
        h->bits |= (uint64_t)cursor_u8(&h->in) << h->have;
    uint32_t value = (uint32_t)(h->bits & (((uint64_t)1 << h->width) - 1));
    h->bits >>= h->width;
    h->have -= h->width;
    h->literals -= h->literals > 0;
    return value;
}

/* Levels up to `most`: as many bits as that needs. `len` of them, or told in front of them. */
static struct parquet_hybrid levels_of(struct cursor *page, uint32_t most, uint64_t len,
                                       bool has_length)
{
    struct parquet_hybrid h = {.in = *page};
    while (most >> h.width)
        h.width++;
    if (has_length)
        len = h.width ? cursor_u32(page) : 0;
    const uint8_t *at = len <= cursor_left(page) ? cursor_take(page, len) : NULL;
    page->failed |= !at;
    h.in.at = at ? at : page->at;
    h.in.end = h.in.at + (at ? len : 0);
    return h;
}

/* One value as it stands. */
static void parquet_plain(struct parquet_read_column *c, uint32_t type, struct cursor *in)
{
    if (type == TYPE_BYTE_ARRAY) {
        uint32_t len = cursor_u32(in);
        const uint8_t *at = cursor_take(in, len);
        vec_push(&c->texts, ((struct bytes){at, at ? len : 0}));
    } else {
        uint64_t value = type == TYPE_INT32 ? (uint64_t)(int32_t)cursor_u32(in) : cursor_u64(in);
        vec_push(&c->numbers, value);
    }
}

/* A column while its pages are read. */
struct parquet_chunk_read {
    struct parquet_read_column *into;
    const struct parquet_leaf *leaf;
    uint32_t dictionary; /* values of it */
    uint64_t values;     /* so far */
};

/* The values of a page: their levels, then they themselves, which only those have that are there.
 * Levels of definition below that of a list's element say that the list is empty or missing. */
static bool parquet_values_read(struct parquet_chunk_read *k, const struct parquet_page *p,
                                struct cursor *page)
{
    const struct parquet_leaf *leaf = k->leaf;
    struct parquet_read_column *c = k->into;
    bool is_v1 = p->kind == PAGE_DATA, is_plain = p->encoding == ENCODING_PLAIN;
    struct parquet_hybrid repeats = levels_of(page, leaf->repeated, p->repeats_len, is_v1);
    struct parquet_hybrid defined = levels_of(page, leaf->defined, p->defined_len, is_v1);
    struct parquet_hybrid numbers = {0};
    if (!is_plain) {
        numbers.width = cursor_left(page) ? cursor_u8(page) : 0;
        numbers.in = *page;
        if (numbers.width > 32)
            return false;
    }
    for (uint64_t i = 0; i < p->values; i++) {
        bool goes_on = hybrid_next(&repeats) > 0;
        uint32_t level = hybrid_next(&defined), value = PARQUET_MISSING;
        if (leaf->repeated && !goes_on)
            vec_push(&c->first, (uint32_t)c->index.len);
        if (level == leaf->defined && is_plain) {
            value = (uint32_t)(c->texts.len + c->numbers.len);
            parquet_plain(c, leaf->type, page);
        } else if (level == leaf->defined) {
            value = hybrid_next(&numbers);
            if (value >= k->dictionary)
                return false;
        }
        if (repeats.in.failed || defined.in.failed || numbers.in.failed || page->failed ||
            level > leaf->defined || (goes_on && !c->first.len))
            return false;
        if (!leaf->repeated || level >= leaf->defined_list)
            vec_push(&c->index, value);
    }
    k->values += p->values;
    return true;
}

/* The page's bytes, unpacked. Of version 2 levels are never packed and stand in front. */
static bool parquet_unpack(struct parquet_reader *r, const struct parquet_place *place,
                           const struct parquet_page *p, struct bytes *bytes)
{
    size_t kept = p->kind == PAGE_DATA_2 ? p->repeats_len + p->defined_len : 0;
    if (place->codec == CODEC_NONE || !p->is_packed)
        return true;
    /* Nothing that Snappy packs becomes smaller than a twenty-second. */
    if (kept > bytes->len || p->size < kept || p->size / 64 > bytes->len)
        return false;
    uint8_t *to = arena_alloc(&r->unpacked, p->size);
    memcpy(to, bytes->at, kept);
    struct bytes packed = {bytes->at + kept, bytes->len - kept};
    *bytes = (struct bytes){to, p->size};
    return snappy_unpack(packed, to + kept, p->size - kept);
}

/* A wanted column of a group: its pages one after the other, until it has as many values as the
 * footer says. A dictionary, if there is one, is the first page. Writers give it up when it becomes
 * too large: later pages then have their values in them, which follow those of the dictionary. */
static bool parquet_column_read(struct parquet_reader *r, size_t wanted,
                                const struct parquet_place *place, struct err *e)
{
    struct parquet_chunk_read k = {.into = &r->columns[wanted],
                                   .leaf = &r->leaves.at[r->leaf[wanted]]};
    const char *column = r->wanted[wanted].name;
    struct cursor in = r->file;
    if (place->codec > CODEC_SNAPPY)
        return err_in(e, in.name, "is packed by %s; of packed files those of Snappy can be read",
                      place->codec < sizeof CODECS / sizeof *CODECS ? CODECS[place->codec]
                                                                    : "an unknown method");
    if (place->at > cursor_left(&in) || place->size > cursor_left(&in) - place->at ||
        place->values > (k.leaf->repeated ? MOST_VALUES : MOST_ROWS) || place->type != k.leaf->type)
        return err_in(e, in.name, "column '%s' is not where the footer says", column);
    in.at += place->at;
    in.end = in.at + place->size;
    while (k.values < place->values) {
        struct parquet_page p;
        parquet_page_read(&in, &p);
        const uint8_t *at = p.packed <= cursor_left(&in) ? cursor_take(&in, p.packed) : NULL;
        struct bytes bytes = {at, p.packed};
        bool ok = at && !in.failed && p.size <= MOST_PAGE && p.values <= place->values - k.values;
        if (ok && p.kind == PAGE_INDEX)
            continue;
        bool is_dictionary = p.kind == PAGE_DICTIONARY;
        if (ok && p.encoding != ENCODING_PLAIN && p.encoding != ENCODING_PLAIN_DICTIONARY &&
            p.encoding != ENCODING_RLE_DICTIONARY)
            return err_in(e, in.name,
                          "column '%s' has encoding %" PRIu64 " of Parquet, which is not read; "
                          "those of version 1 are",
                          column, p.encoding);
        ok = ok && (is_dictionary || p.kind == PAGE_DATA || p.kind == PAGE_DATA_2) &&
             (is_dictionary || p.values) && parquet_unpack(r, place, &p, &bytes);
        struct cursor page = cursor_over(bytes, in.name);
        if (ok && is_dictionary) {
            for (; k.dictionary < p.values && !page.failed; k.dictionary++)
                parquet_plain(k.into, k.leaf->type, &page);
            ok = !page.failed;
        } else if (ok) {
            ok = parquet_values_read(&k, &p, &page);
        }
        if (!ok)
            return err_at(e, &in, "column '%s' of Parquet is damaged", column);
    }
    return true;
}

/* All wanted columns of the next group. Each must have a value, or a list, for each row. */
bool parquet_next(struct parquet_reader *r, struct err *e)
{
    arena_clear(&r->unpacked);
    if (r->group >= r->groups.len)
        return false;
    size_t group = r->group++;
    r->rows = r->groups.at[group];
    for (size_t i = 0; i < r->wanted_len; i++) {
        struct parquet_read_column *c = &r->columns[i];
        c->texts.len = c->numbers.len = c->index.len = c->first.len = 0;
        c->is_there = r->leaf[i] != PARQUET_MISSING;
        if (!c->is_there)
            continue;
        if (!parquet_column_read(r, i, &r->places.at[group * r->leaves.len + r->leaf[i]], e))
            return false;
        bool is_list = r->wanted[i].type == PARQUET_WANTS_TEXTS;
        if ((is_list ? c->first.len : c->index.len) != r->rows)
            return err_in(e, r->file.name, "column '%s' has another number of rows than others",
                          r->wanted[i].name);
        if (is_list)
            vec_push(&c->first, (uint32_t)c->index.len);
    }
    return true;
}

void parquet_close(struct parquet_reader *r)
{
    for (size_t i = 0; i < r->wanted_len; i++) {
        vec_free(&r->columns[i].texts);
        vec_free(&r->columns[i].numbers);
        vec_free(&r->columns[i].index);
        vec_free(&r->columns[i].first);
    }
    vec_free(&r->leaves);
    vec_free(&r->places);
    vec_free(&r->groups);
    arena_deinit(&r->unpacked);
}
