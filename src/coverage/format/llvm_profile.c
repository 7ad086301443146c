/* LLVM's profiles: raw, as programs leave them (versions 5 and 7 to 11); indexed, as llvm-profdata
 * makes them (4 to 13); and its text.
 *
 * Raw ones are in the byte order and pointer size of the program, both known from the magic:
 *
 *     header    words of 64 bits; which, goes by the version (HEADER below)
 *     ids       { u64 length, bytes, padding }*           version 7 on
 *     records   one a function: hash of its name, of its control flow, where its counters are
 *     counters  64 bits each, or one byte that is 0 where the code ran
 *     bitmap    MC/DC, version 9 on
 *     names     see llvm_names_read(), then tables and values, which coverage does not need
 *
 * Sizes in the header are checked against what remains before anything is read, and slices of each
 * record against the counters; where they lie is relative to the record from version 8 on, to the
 * start of all before. Counters are kept in the order of records. A profile may be followed by
 * another one, as shared objects append theirs.
 *
 * Indexed ones are a hash table on disk, whose entries are read one after the other without it:
 * name, then for each hash of the name counts, bitmap, values. Linear, in memory of the counters.
 * A version that is not known is refused by its number: sizes of records differ. Source:
 * llvm/include/llvm/ProfileData/InstrProfData.inc, InstrProf.h and compiler-rt. */
#include "coverage/format/llvm.h"

#include "base/sort.h"

#include <inttypes.h>
#include <string.h>

#define RAW_MAGIC_64  UINT64_C(0xff6c70726f667281)
#define RAW_MAGIC_32  UINT64_C(0xff6c70726f665281)
#define INDEXED_MAGIC UINT64_C(0x8169666f72706cff) /* in little-endian order, which is the only */

#define VERSION_MASK          UINT64_C(0xffffffff)
#define VARIANT_BITS(version) ((uint32_t)((version) >> LLVM_VARIANT_SHIFT))

enum {
    RAW_OLDEST = 5,
    RAW_DEVELOPMENT = 6,
    RAW_NEWEST = 11,
    INDEXED_OLDEST = 4,
    INDEXED_NEWEST = 13
};

/* ---- what it is */

static const char *const TEXT_HEADERS[] = {":ir",
                                           ":fe",
                                           ":csir",
                                           ":entry_first",
                                           ":not_entry_first",
                                           ":instrument_loop_entries",
                                           ":single_byte_coverage",
                                           ":temporal_prof_traces"};

/* The next line that is no comment and not empty, without its end; false: there is none. */
static bool text_line(struct cursor *in, struct bytes *line)
{
    while (cursor_left(in)) {
        const uint8_t *end = memchr(in->at, '\n', cursor_left(in));
        const uint8_t *stop = end ? end : in->end;
        *line = (struct bytes){in->at, (size_t)(stop - in->at)};
        in->at = end ? end + 1 : in->end;
        if (line->len && line->at[line->len - 1] == '\r')
            line->len--;
        if (line->len && *line->at != '#')
            return true;
    }
    return false;
}

/* Whether a line is that text, in capitals or not: headers have been written either way. */
static bool text_is(struct bytes line, const char *text)
{
    return line.len == strlen(text) && !strncasecmp((const char *)line.at, text, line.len);
}

/* A number as a whole line: decimal, or with 0x. */
static bool text_number(struct bytes line, uint64_t *value)
{
    bool is_hex = line.len > 2 && line.at[0] == '0' && (line.at[1] | 32) == 'x';
    uint64_t base = is_hex ? 16 : 10;
    *value = 0;
    for (size_t i = is_hex ? 2 : 0; i < line.len; i++) {
        uint8_t c = line.at[i] | 32;
        uint64_t digit = line.at[i] >= '0' && line.at[i] <= '9' ? (uint64_t)(line.at[i] - '0')
                         : is_hex && c >= 'a' && c <= 'f'       ? (uint64_t)(c - 'a' + 10)
                                                                : 16;
        if (digit >= base || __builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return line.len > 0;
}

/* Text has no magic: it begins with a header of its own, or with a name and two numbers. */
static bool text_probe(struct bytes first)
{
    struct cursor in = cursor_over(first, NULL);
    struct bytes line = {0}, hash = {0}, counts = {0};
    uint64_t number;
    if (!text_line(&in, &line) || memchr(line.at, 0, line.len))
        return false;
    for (size_t i = 0; i < sizeof TEXT_HEADERS / sizeof *TEXT_HEADERS; i++)
        if (text_is(line, TEXT_HEADERS[i]))
            return true;
    return *line.at != ':' && text_line(&in, &hash) && text_number(hash, &number) &&
           text_line(&in, &counts) && text_number(counts, &number) && number;
}

/* The order and pointer size that a raw profile's magic gives; false: it is none. */
static bool raw_probe(struct bytes first, struct cursor *in)
{
    uint64_t magic = first.len < 8 ? 0 : bytes_u64(first.at, false);
    uint64_t swapped = __builtin_bswap64(magic);
    bool is_little = magic == RAW_MAGIC_64 || magic == RAW_MAGIC_32;
    bool is_big = swapped == RAW_MAGIC_64 || swapped == RAW_MAGIC_32;
    in->big_endian = is_big;
    in->word = magic == RAW_MAGIC_32 || swapped == RAW_MAGIC_32 ? 4 : 8;
    return is_little || is_big;
}

/* Eight bytes, which no other format begins with. */
static bool indexed_probe(struct bytes first)
{
    return first.len >= 8 && bytes_u64(first.at, false) == INDEXED_MAGIC;
}

/* Eight bytes are enough for the first two. */
bool llvm_profile_probe(struct bytes first)
{
    struct cursor ignored = {0};
    return raw_probe(first, &ignored) || indexed_probe(first) || text_probe(first);
}

/* Nothing is read yet. */
struct llvm_reader llvm_reader_over(struct bytes in, const char *name)
{
    return (struct llvm_reader){.in = cursor_over(in, name)};
}

/* ---- raw */

/* All words that any version has; those that this one lacks are 0. Deltas are what pointers in
 * records are relative to. */
struct raw_header {
    uint64_t version, ids, records, pad_before, counters, pad_after, bitmap, bitmap_pad, uniform,
        uniform_pad, uniform_delta, names, counters_delta, bitmap_delta, names_delta, vtables,
        vtable_names, last_kind;
};

/* A word of the header, and the versions that have it. */
struct raw_word {
    size_t offset;
    uint32_t since;
};

/* The header is read by this table: a version has the words that it or an older one added, in this
 * order. */
#define WORD(FIELD, SINCE)                        \
    {                                             \
        offsetof(struct raw_header, FIELD), SINCE \
    }
static const struct raw_word HEADER[] = {
    WORD(ids, 7),          WORD(records, 0),        WORD(pad_before, 0), WORD(counters, 0),
    WORD(pad_after, 0),    WORD(bitmap, 9),         WORD(bitmap_pad, 9), WORD(uniform, 11),
    WORD(uniform_pad, 11), WORD(uniform_delta, 11), WORD(names, 0),      WORD(counters_delta, 0),
    WORD(bitmap_delta, 9), WORD(names_delta, 0),    WORD(vtables, 10),   WORD(vtable_names, 10),
    WORD(last_kind, 0),
};
#undef WORD

/* A record, as far as coverage needs it. */
struct raw_record {
    uint64_t name_ref, hash, counters_at, bitmap_at;
    uint32_t counters, bitmap, sites;
};

/* Where the fields of a record are: that of the C struct, which is aligned to 8 bytes. The fields
 * before and between them are name and hash, pointers to the function and its values. */
struct raw_fields {
    size_t counters_at, bitmap_at, function_at, counters, sites, bitmap, size;
    uint32_t kinds;
};

static struct raw_fields raw_fields(uint32_t version, size_t word)
{
    struct raw_fields f = {.counters_at = 16, .kinds = version >= 10 ? 3 : 2};
    f.bitmap_at = 16 + word * (version >= 11 ? 2 : 1);
    f.function_at = f.bitmap_at + word * (version >= 9);
    f.counters = 16 + (3 + (version >= 9) + (version >= 11)) * word;
    f.sites = f.counters + 4;
    size_t end = f.sites + 2 * f.kinds + 2 * (version >= 11);
    f.bitmap = (end + 3) & ~(size_t)3;
    end = version >= 9 ? f.bitmap + 4 : end;
    f.size = (end + 7) & ~(size_t)7;
    return f;
}

/* All of the record is there: the layout has seen to it. */
static struct raw_record raw_record(const uint8_t *at, const struct raw_fields *f, uint32_t version,
                                    const struct cursor *like)
{
    bool big = like->big_endian, is_short = like->word == 4;
    struct raw_record r = {bytes_u64(at, big), bytes_u64(at + 8, big), 0, 0, 0, 0, 0};
    const uint8_t *counters = at + f->counters_at, *bitmap = at + f->bitmap_at;
    r.counters_at = is_short ? bytes_u32(counters, big) : bytes_u64(counters, big);
    r.counters = bytes_u32(at + f->counters, big);
    for (uint32_t kind = 0; kind < f->kinds; kind++)
        r.sites += bytes_u16(at + f->sites + 2 * (size_t)kind, big);
    if (version >= 9) {
        r.bitmap_at = is_short ? bytes_u32(bitmap, big) : bytes_u64(bitmap, big);
        r.bitmap = bytes_u32(at + f->bitmap, big);
    }
    return r;
}

/* Where the bytes of a record begin in their section. Relative addresses are signed, and wrap in
 * the pointer size of the program. */
static uint64_t raw_offset(uint64_t at, uint64_t delta, uint64_t record_at, uint32_t version,
                           uint8_t word)
{
    uint64_t offset = at - delta + (version >= 8 ? record_at : 0);
    return word == 4 ? (uint32_t)offset : offset;
}

/* Slices of the file:
 *
 *     header │ ids │ records │ pad │ counters │ pad │ bitmap │ pad │ names │ pad │ ... │ values
 * All sizes in words of the header, checked against what is left. */
struct raw_layout {
    struct bytes ids, records, counters, bitmap, names;
    struct raw_fields fields;
    size_t counter_size;
};

/* Takes `len` bytes, then so many that the next part is aligned, or as many as are said. */
static struct bytes raw_part(struct cursor *in, uint64_t number, uint64_t size, uint64_t pad)
{
    struct bytes part = {0};
    if (in->failed || pad > cursor_left(in) || number > cursor_left(in) / size) {
        in->failed = true;
        return part;
    }
    part.len = (size_t)(number * size);
    part.at = cursor_take(in, part.len);
    (void)cursor_take(in, (size_t)pad);
    return part;
}

/* The parts in the order of the file. What coverage does not need is stepped over, so that the end
 * of the profile is known and another one can follow. */
static void raw_lay_out(struct cursor *in, const struct raw_header *h, struct raw_layout *out)
{
    uint32_t version = (uint32_t)(h->version & VERSION_MASK);
    out->fields = raw_fields(version, in->word);
    out->counter_size = VARIANT_BITS(h->version) & LLVM_SINGLE_BYTE ? 1 : 8;
    out->ids = raw_part(in, h->ids, 1, 0);
    out->records = raw_part(in, h->records, out->fields.size, h->pad_before);
    out->counters = raw_part(in, h->counters, out->counter_size, h->pad_after);
    out->bitmap = raw_part(in, h->bitmap, 1, h->bitmap_pad);
    (void)raw_part(in, h->uniform, 8, h->uniform_pad);
    out->names = raw_part(in, h->names, 1, -h->names & 7);
    size_t vtable = in->word == 8 ? 24 : 16;
    (void)raw_part(in, h->vtables, vtable, -(h->vtables * vtable) & 7);
    (void)raw_part(in, h->vtable_names, 1, -h->vtable_names & 7);
}

/* { u64 length, bytes, padding to 8 }*
 * Padding may be missing after the last. */
static bool ids_read(struct bytes in, bool is_big_endian, struct intern *ids)
{
    struct cursor c = cursor_over(in, NULL);
    c.big_endian = is_big_endian;
    while (!c.failed && cursor_left(&c) >= 8) {
        uint64_t len = cursor_u64(&c);
        const uint8_t *at = len <= cursor_left(&c) ? cursor_take(&c, (size_t)len) : NULL;
        if (!at)
            return false;
        if (len)
            intern(ids, (const char *)at, (size_t)len);
        size_t pad = -len & 7;
        (void)cursor_take(&c, pad < cursor_left(&c) ? pad : cursor_left(&c));
    }
    return !c.failed;
}

/* Counters of several records that are contiguous in the file, as they do but for odd ones: they
 * are copied at once. */
struct raw_run {
    uint64_t first; /* offset of the next counter after those that wait */
    size_t waiting;
};

/* Copies the counters that wait: the first of temporal ones is a time. */
static void raw_take_counts(struct llvm_profile *out, const struct raw_layout *l,
                            struct raw_run *run, struct cursor at)
{
    size_t number = run->waiting, size = l->counter_size;
    vec_reserve(&out->counts, out->counts.len + number + 1);
    uint64_t *to = out->counts.at + out->counts.len;
    at.at = l->counters.at + run->first - number * size;
    at.end = l->counters.at + l->counters.len;
    if (size == 8 && !at.big_endian && number)
        memcpy(to, at.at, number * size);
    else if (size == 8)
        for (size_t i = 0; i < number; i++)
            to[i] = cursor_u64(&at);
    else
        for (size_t i = 0; i < number; i++)
            to[i] = !cursor_u8(&at);
    bool skipped = number && out->variants & LLVM_TEMPORAL;
    if (skipped)
        memmove(to, to + 1, (number - 1) * sizeof *to);
    out->counts.len += number - skipped;
    run->waiting = 0;
}

/* Appends one function. Its counters must lie in those of the file; two functions may share them.
 */
static bool raw_take_record(struct llvm_profile *out, const struct raw_header *h,
                            const struct raw_layout *l, size_t i, struct raw_run *run,
                            struct cursor in, struct err *e)
{
    struct cursor at = in;
    size_t place = i * l->fields.size;
    bool is_temporal = out->variants & LLVM_TEMPORAL;
    at.at = l->records.at + place;
    at.end = l->records.at + l->records.len;
    struct raw_record r = raw_record(at.at, &l->fields, out->version, &in);
    uint64_t first = raw_offset(r.counters_at, h->counters_delta, place, out->version, out->word);
    uint64_t bits = raw_offset(r.bitmap_at, h->bitmap_delta, place, out->version, out->word);
    if (first % l->counter_size || first > l->counters.len ||
        (l->counters.len - first) / l->counter_size < r.counters)
        return err_at(e, &at, "function %zu claims %" PRIu32 " counters outside of the %zu bytes",
                      i, r.counters, l->counters.len);
    if (r.bitmap && (bits > l->bitmap.len || l->bitmap.len - bits < r.bitmap))
        return err_at(e, &at, "function %zu claims a bitmap outside of the %zu bytes", i,
                      l->bitmap.len);
    if (run->waiting && (is_temporal || first != run->first))
        raw_take_counts(out, l, run, in);
    uint32_t counts = r.counters - (r.counters && is_temporal);
    struct llvm_function f = {r.name_ref,    r.hash, out->counts.len + run->waiting,
                              out->bits.len, counts, r.bitmap,
                              LLVM_NO_NAME};
    run->first = first + r.counters * l->counter_size;
    run->waiting += r.counters;
    if (r.bitmap) {
        vec_reserve(&out->bits, out->bits.len + r.bitmap + 1);
        memcpy(out->bits.at + out->bits.len, l->bitmap.at + bits, r.bitmap);
        out->bits.len += r.bitmap;
    }
    vec_push(&out->functions, f);
    out->value_records += r.sites && !out->keeps_values;
    return true;
}

/* What a program counted of values: of each record with sites, in their order. Unless the caller
 * wants them they are skipped, as what follows would else be taken for another profile. */
static bool raw_read_values(struct cursor *in, const struct raw_layout *l, struct llvm_profile *out)
{
    VEC(struct keyed) addresses = {0};
    bool ok = true;
    for (size_t i = 0; i < out->functions.len && ok; i++) {
        const uint8_t *record = l->records.at + i * l->fields.size;
        const uint8_t *function = record + l->fields.function_at;
        uint64_t address = in->word == 4 ? bytes_u32(function, in->big_endian)
                                         : bytes_u64(function, in->big_endian);
        if (address)
            vec_push(&addresses, (struct keyed){address, (uint32_t)i});
        if (!raw_record(record, &l->fields, out->version, in).sites)
            continue;
        if (out->keeps_values)
            ok = llvm_values_read(in, out, &out->functions.at[i]);
        else if (cursor_left(in) >= 8)
            ok = bytes_u32(in->at, in->big_endian) >= 8 &&
                 cursor_take(in, bytes_u32(in->at, in->big_endian));
    }
    llvm_values_name_targets(out, addresses.at, addresses.len);
    vec_free(&addresses);
    return ok;
}

/* Names of functions, by their hashes: records of a raw profile have no others. So names are hashed
 * as they are met, and looked up for each record. */
struct naming {
    struct llvm_profile *p;
    struct map name_of;
};

/* A name that comes twice keeps its number. */
static void naming_take(void *context, const char *name, size_t len)
{
    struct naming *n = context;
    map_at(&n->name_of, llvm_name_ref(name, len), 0, intern(&n->p->names, name, len), NULL);
}

/* Names are many times the size of all else, and packed: only who writes or shows them asks. */
static bool raw_read_names(struct llvm_profile *out, struct bytes names)
{
    struct naming n = {.p = out};
    bool ok = llvm_names_read(names, naming_take, &n);
    for (size_t i = 0; i < out->functions.len; i++) {
        const uint32_t *name = map_find(&n.name_of, out->functions.at[i].name_ref, 0);
        out->functions.at[i].name = name ? *name : LLVM_NO_NAME;
    }
    map_deinit(&n.name_of);
    return ok;
}

/* What a version is called by those who have it. */
static bool raw_refuse(struct err *e, const struct cursor *in, uint64_t version)
{
    if (version == RAW_DEVELOPMENT)
        return err_at(e, in,
                      "raw profile of version 6, which only a development version of LLVM 13"
                      " wrote");
    return err_at(e, in, "raw profile of version %" PRIu64 "; versions %d to %d are known", version,
                  RAW_OLDEST, RAW_NEWEST);
}

/* One profile, from magic to values. The order and pointer size are the cursor's by now. */
static bool raw_next(struct llvm_reader *r, struct llvm_profile *out, struct err *e)
{
    struct cursor *in = &r->in;
    struct raw_header h = {0};
    struct raw_layout l;
    const struct cursor start = *in;
    (void)cursor_u64(in); /* the magic, which raw_probe() has seen */
    h.version = cursor_u64(in);
    uint64_t version = h.version & VERSION_MASK;
    if (!in->failed && (version < RAW_OLDEST || version == RAW_DEVELOPMENT || version > RAW_NEWEST))
        return raw_refuse(e, &start, version);
    for (size_t i = 0; i < sizeof HEADER / sizeof *HEADER; i++)
        if (version >= HEADER[i].since) {
            uint64_t value = cursor_u64(in);
            memcpy((char *)&h + HEADER[i].offset, &value, sizeof value);
        }
    if (in->failed)
        return err_at(e, in, "the header of a raw profile ends early");
    out->container = LLVM_RAW;
    out->version = (uint32_t)version;
    out->variants = VARIANT_BITS(h.version);
    out->word = in->word;
    out->is_big_endian = in->big_endian;
    if (out->variants & LLVM_CORRELATED || (!h.names && h.counters && !h.records))
        return err_at(e, &start,
                      "its names are in the program alone (-profile-correlate), which is not read");
    raw_lay_out(in, &h, &l);
    if (in->failed)
        return err_at(e, &start, "the raw profile ends early: its parts are larger than the file");
    if (!ids_read(l.ids, in->big_endian, &out->ids))
        return err_at(e, &start, "the binary ids of the raw profile are damaged");
    vec_reserve(&out->functions, (size_t)h.records + 1);
    vec_reserve(&out->counts, (size_t)h.counters + 1);
    vec_reserve(&out->bits, 1);
    struct raw_run run = {0};
    for (size_t i = 0; i < h.records; i++)
        if (!raw_take_record(out, &h, &l, i, &run, *in, e))
            return false;
    raw_take_counts(out, &l, &run, *in);
    out->has_old_bits = out->bits.len && version == 9;
    if (r->wants_names && !raw_read_names(out, l.names))
        return err_at(e, &start, "the names of the raw profile are damaged");
    bool reads = out->keeps_values || out->value_records;
    if (in->failed || (reads && !raw_read_values(in, &l, out)))
        return err_at(e, in, "the values of the raw profile end early");
    return true;
}

/* ---- indexed */

/* Fields, then { cutoff, count, blocks } each; a second one for context-sensitive profiles. */
static void indexed_pass_summary(struct cursor *in)
{
    uint64_t fields = cursor_u64(in), cutoffs = cursor_u64(in), left = cursor_left(in);
    if (fields > left / 8 || cutoffs > (left - fields * 8) / 24)
        in->failed = true;
    else
        (void)cursor_take(in, (size_t)(fields * 8 + cutoffs * 24));
}

/* One name under one hash: counts, bitmap, values.
 * Numbers are compared with the bytes of this entry, so that memory stays in proportion to them.
 *
 *     u64 hash  u64 n  n counts  [version 11 on: u64 n, n bytes of the bitmap as u64]  values */
static void indexed_function(struct cursor *in, struct llvm_profile *out, uint32_t name,
                             uint64_t name_ref)
{
    struct llvm_function f = {.name_ref = name_ref, .hash = cursor_u64(in), .name = name};
    uint64_t counts = cursor_u64(in);
    f.first_count = out->counts.len;
    f.first_bit = out->bits.len;
    if (counts > cursor_left(in) / 8 || counts > UINT32_MAX) {
        in->failed = true;
        return;
    }
    f.counts = (uint32_t)counts;
    vec_reserve(&out->counts, out->counts.len + f.counts + 1);
    for (uint32_t i = 0; i < f.counts; i++)
        out->counts.at[out->counts.len++] = cursor_u64(in);
    /* The bytes of the bitmap are words here. */
    uint64_t bits = out->version >= 11 ? cursor_u64(in) : 0;
    if (bits > cursor_left(in) / 8 || bits > UINT32_MAX) {
        in->failed = true;
        return;
    }
    f.bits = (uint32_t)bits;
    vec_reserve(&out->bits, out->bits.len + f.bits + 1);
    for (uint32_t i = 0; i < f.bits; i++)
        out->bits.at[out->bits.len++] = (uint8_t)cursor_u64(in);
    uint32_t values = cursor_left(in) >= 8 ? bytes_u32(in->at, false) : 0;
    in->failed |= values < 8;
    out->value_records += values > 8 && !out->keeps_values;
    if (!out->keeps_values)
        (void)cursor_take(in, values);
    else if (!in->failed)
        in->failed = !llvm_values_read(in, out, &f);
    if (!in->failed)
        vec_push(&out->functions, f);
}

/* An entry of the hash table: { u64 hash, u64 name length, u64 data length, name, data }.
 * A name has as many functions as it was compiled with control flows. */
static void indexed_entry(struct cursor *in, struct llvm_profile *out)
{
    (void)cursor_u64(in);
    uint64_t len = cursor_u64(in), data = cursor_u64(in), left = cursor_left(in);
    if (in->failed || len > left || data > left - len || len > UINT32_MAX) {
        in->failed = true;
        return;
    }
    const char *text = (const char *)cursor_take(in, (size_t)len);
    uint32_t name = intern(&out->names, text, (size_t)len);
    uint64_t ref = llvm_name_ref(text, (size_t)len);
    struct cursor c = *in;
    c.end = c.at + data;
    while (cursor_left(&c) && !c.failed)
        indexed_function(&c, out, name, ref);
    in->failed |= c.failed;
    (void)cursor_take(in, (size_t)data);
}

/* The directory is used for the number of names alone: entries follow each other without gaps, up
 * to the padding in front of it. Offsets of later versions lead to what coverage does not need,
 * but for the build-ids. */
static bool indexed_read(struct cursor *in, struct llvm_profile *out, struct err *e)
{
    struct cursor at = *in;
    at.big_endian = false;
    (void)cursor_u64(&at);
    uint64_t word = cursor_u64(&at), version = word & VERSION_MASK;
    (void)cursor_u64(&at); /* unused */
    uint64_t hash = cursor_u64(&at), table = cursor_u64(&at);
    if (!at.failed && (version < INDEXED_OLDEST || version > INDEXED_NEWEST))
        return err_at(e, in, "indexed profile of version %" PRIu64 "; versions %d to %d are known",
                      version, INDEXED_OLDEST, INDEXED_NEWEST);
    out->container = LLVM_INDEXED;
    out->version = (uint32_t)version;
    out->variants = VARIANT_BITS(word);
    (void)(version >= 8 ? cursor_u64(&at) : 0);
    uint64_t ids = version >= 9 ? cursor_u64(&at) : 0;
    out->traces = version >= 10 && cursor_u64(&at) != 0;
    (void)(version >= 12 ? cursor_u64(&at) : 0);
    indexed_pass_summary(&at);
    if (out->variants & LLVM_CONTEXT_SENSITIVE)
        indexed_pass_summary(&at);
    size_t len = (size_t)(at.end - at.base);
    if (at.failed || hash || table < cursor_offset(&at) || table > len || len - table < 16)
        return err_at(e, in, "the header of the indexed profile is damaged, or the file cut off");
    uint64_t entries = bytes_u64(at.base + table + 8, false);
    at.end = at.base + table;
    for (uint64_t met = 0; met < entries && !at.failed;) {
        uint16_t bucket = cursor_u16(&at);
        for (uint16_t i = 0; i < bucket && !at.failed; i++, met++)
            indexed_entry(&at, out);
    }
    if (at.failed)
        return err_at(e, &at, "the table of the indexed profile ends early, or is damaged");
    out->has_old_bits = out->bits.len && version == 11;
    if (ids && ids <= len - 8) {
        uint64_t size = bytes_u64(at.base + ids, false);
        if (size > len - ids - 8 ||
            !ids_read((struct bytes){at.base + ids + 8, (size_t)size}, false, &out->ids))
            return err_at(e, in, "the binary ids of the indexed profile are damaged");
    }
    in->at = in->end;
    return true;
}

/* ---- text */

/* A number on a line of its own; false with a message.
 * Comments and empty lines may stand between any two. */
static bool text_next(struct cursor *in, const char *what, uint64_t *value, struct err *e)
{
    struct bytes line = {0};
    return (text_line(in, &line) && text_number(line, value)) || err_at(e, in, "expected %s", what);
}

/* Kinds, sites of each, values of each: `name:count` or `number:count`. Every number of them is on
 * a line of its own, so loops end with the file. */
static bool text_values(struct cursor *in, uint64_t kinds, struct llvm_profile *out,
                        struct llvm_function *f, struct err *e)
{
    f->first_site = out->sites.len;
    for (uint64_t k = 0, next = 0; k < kinds; k++) {
        uint64_t kind, sites, values;
        struct bytes line = {0};
        if (!text_next(in, "a kind of values", &kind, e) ||
            !text_next(in, "a number of sites", &sites, e))
            return false;
        if (kind < next || kind >= VALUE_KINDS || sites > cursor_left(in))
            return err_at(e, in,
                          "expected kinds of values from 0 to 2, ascending, and their sites");
        next = kind + 1;
        for (uint64_t site = 0; site < sites; site++) {
            if (!text_next(in, "a number of values", &values, e))
                return false;
            if (values > cursor_left(in))
                return err_at(e, in, "expected a value");
            llvm_site_push(out, (uint32_t)values);
            for (uint64_t i = 0; i < values; i++) {
                struct llvm_value v = {0};
                if (!text_line(in, &line))
                    return err_at(e, in, "expected a value");
                const uint8_t *colon = memrchr(line.at, ':', line.len);
                size_t len = colon ? (size_t)(colon - line.at) : 0;
                struct bytes value = {line.at, len}, count = {line.at + len + 1, line.len - len};
                count.len -= colon != NULL;
                if (!colon || !text_number(count, &v.count) ||
                    (kind == VALUES_SIZES && !text_number(value, &v.value)))
                    return err_at(e, in, "expected a value");
                if (kind != VALUES_SIZES && !text_is(value, LLVM_EXTERNAL))
                    v.value = llvm_name_ref((const char *)value.at, value.len);
                vec_push(&out->values, v);
            }
        }
        f->sites[kind] = (uint32_t)sites;
    }
    return true;
}

/* `$n`, then n bytes, one a line. */
static bool text_bitmap(struct cursor *in, struct bytes line, struct llvm_profile *out,
                        struct err *e)
{
    uint64_t bytes, value = 0;
    if (!text_number((struct bytes){line.at + 1, line.len - 1}, &bytes) || bytes > cursor_left(in))
        return err_at(e, in, "expected a number of bytes of the bitmap");
    for (uint64_t i = 0; i < bytes; i++) {
        if (!text_next(in, "a byte of the bitmap", &value, e))
            return false;
        vec_push(&out->bits, (uint8_t)value);
    }
    return true;
}

/* Everything of a function after its name. The next line may be its bitmap or its values; if not,
 * it is the next function's name.
 * Three kinds of lines may follow the counters: `$` and a number, a number, or a name. */
static bool text_function(struct cursor *in, struct bytes name, struct llvm_profile *out,
                          struct err *e)
{
    struct llvm_function f = {.name_ref = llvm_name_ref((const char *)name.at, name.len),
                              .name = intern(&out->names, (const char *)name.at, name.len),
                              .first_count = out->counts.len,
                              .first_bit = out->bits.len};
    uint64_t counts, value = 0;
    struct bytes line = {0};
    if (!text_next(in, "the hash of a function", &f.hash, e) ||
        !text_next(in, "a number of counters", &counts, e))
        return false;
    if (counts > cursor_left(in))
        return err_at(e, in, "%" PRIu64 " counters are more than the file has", counts);
    for (uint64_t i = 0; i < counts; i++) {
        if (!text_next(in, "a counter", &value, e))
            return false;
        vec_push(&out->counts, value);
    }
    f.counts = (uint32_t)counts;
    struct cursor ahead = *in;
    if (text_line(&ahead, &line) && *line.at == '$' &&
        text_number((struct bytes){line.at + 1, line.len - 1}, &value)) {
        *in = ahead;
        if (!text_bitmap(in, line, out, e))
            return false;
        ahead = *in;
        line = (struct bytes){0};
        (void)text_line(&ahead, &line);
    }
    f.bits = (uint32_t)(out->bits.len - f.first_bit);
    bool ok = true;
    if (line.len && text_number(line, &value)) {
        *in = ahead;
        ok = text_values(in, value, out, &f, e);
    }
    vec_push(&out->functions, f);
    return ok;
}

/* One of the lines in front of the first function. */
static bool text_header(struct cursor *in, struct bytes line, struct llvm_profile *out,
                        struct err *e)
{
    uint64_t number;
    if (text_is(line, ":ir"))
        out->variants |= LLVM_IR_LEVEL;
    else if (text_is(line, ":csir"))
        out->variants |= LLVM_IR_LEVEL | LLVM_CONTEXT_SENSITIVE;
    else if (text_is(line, ":entry_first"))
        out->variants |= LLVM_ENTRY_FIRST;
    else if (text_is(line, ":instrument_loop_entries"))
        out->variants |= LLVM_LOOP_ENTRIES;
    else if (text_is(line, ":single_byte_coverage"))
        out->variants |= LLVM_SINGLE_BYTE;
    else if (text_is(line, ":temporal_prof_traces")) {
        out->variants |= LLVM_TEMPORAL;
        if (!text_next(in, "a number of traces", &out->traces, e) ||
            !text_next(in, "the size of a stream of traces", &number, e))
            return false;
        for (uint64_t i = 0; i < 2 * out->traces; i++) /* a weight and a line of names each */
            if (!text_line(in, &line))
                return err_at(e, in, "expected a trace");
    } else if (!text_is(line, ":fe") && !text_is(line, ":not_entry_first"))
        return err_at(e, in, "unknown header '%.*s'", (int)(line.len < 60 ? line.len : 60),
                      (const char *)line.at);
    return true;
}

/* Headers, then functions. Nothing says how many there are: a text that is cut off between two
 * functions looks like a whole one. */
static bool text_read(struct cursor *in, struct llvm_profile *out, struct err *e)
{
    out->keeps_values = true;
    struct bytes line;
    out->container = LLVM_TEXT;
    while (text_line(in, &line)) {
        bool is_header = *line.at == ':' && !out->functions.len;
        if (!(is_header ? text_header(in, line, out, e) : text_function(in, line, out, e)))
            return false;
    }
    return true;
}

/* ---- all */

/* Nothing of a profile that broke stays. */
bool llvm_profile_next(struct llvm_reader *r, struct llvm_profile *out, bool *is_end, struct err *e)
{
    struct cursor *in = &r->in;
    llvm_profile_clear(out);
    while (in->at > in->base && cursor_left(in) && !*in->at)
        in->at++;
    *is_end = !cursor_left(in) && in->at > in->base;
    if (*is_end)
        return true;
    struct bytes rest = {in->at, cursor_left(in)};
    bool is_first = in->at == in->base, ok;
    out->runs = 1;
    out->keeps_values = r->wants_values;
    if (raw_probe(rest, in))
        ok = raw_next(r, out, e);
    else if (is_first && indexed_probe(rest))
        ok = indexed_read(in, out, e);
    else if (is_first && text_probe(rest))
        ok = text_read(in, out, e);
    else
        ok = err_at(e, in,
                    is_first ? "is no profile of LLVM"
                             : "expected another raw profile after the first");
    if (!ok)
        llvm_profile_clear(out);
    return ok;
}
