/* Words, texts, records and layouts of gcno and gcda. The bytes: docs/formats/gcno.md, gcda.md. */
#include "coverage/format/arcfile.h"

#include <inttypes.h>

#define OLD_SLOTS KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_SINGLE
#define NEW_SLOTS                                                                               \
    KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_TOPN, KIND_INDIRECT_TOPN, KIND_AVERAGE, KIND_IOR, \
        KIND_TIME
#define NO_SLOTS(n) [(n)... COUNTER_SLOTS - 1] = KIND_UNKNOWN

static const struct arcfile_layout LAYOUTS[] = {
    {.since = 304,
     .slots = {OLD_SLOTS, KIND_DELTA, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, NO_SLOTS(8)}},
    {.since = 407,
     .has_cfg_checksum = true,
     .slots = {OLD_SLOTS, KIND_DELTA, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, NO_SLOTS(8)}},
    {.since = 408,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_histogram = true,
     .slots = {OLD_SLOTS, KIND_DELTA, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, KIND_TIME,
               KIND_ICALL_TOPN, NO_SLOTS(10)}},
    {.since = 700,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_histogram = true,
     .slots = {OLD_SLOTS, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, KIND_TIME, KIND_ICALL_TOPN,
               NO_SLOTS(9)}},
    {.since = 800,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_histogram = true,
     .slots = {OLD_SLOTS, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, KIND_TIME, KIND_ICALL_TOPN,
               NO_SLOTS(9)}},
    {.since = 900,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_directory = true,
     .slots = {OLD_SLOTS, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, KIND_TIME, KIND_ICALL_TOPN,
               NO_SLOTS(9)}},
    {.since = 1000,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_directory = true,
     .slots = {NEW_SLOTS, NO_SLOTS(8)}},
    {.since = 1100,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_directory = true,
     .has_zero_runs = true,
     .slots = {NEW_SLOTS, NO_SLOTS(8)}},
    {.since = 1200,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_directory = true,
     .has_zero_runs = true,
     .has_byte_lengths = true,
     .slots = {NEW_SLOTS, NO_SLOTS(8)}},
    {.since = 1400,
     .has_cfg_checksum = true,
     .has_exit_second = true,
     .has_columns = true,
     .has_directory = true,
     .has_zero_runs = true,
     .has_byte_lengths = true,
     .slots = {NEW_SLOTS, KIND_CONDITIONS, KIND_PATHS, NO_SLOTS(10)}},
};

/* Most significant byte first: a digit starts "408*" (4.8), a letter "B22*" (12.2). */
uint16_t arcfile_version_number(uint32_t version)
{
    unsigned c0 = version >> 24, c1 = version >> 16 & 255, c2 = version >> 8 & 255;
    if (c1 < '0' || c1 > '9' || c2 < '0' || c2 > '9')
        return 0;
    if (c0 >= '0' && c0 <= '9')
        return (uint16_t)((c0 - '0') * 100 + (c1 - '0') * 10 + (c2 - '0'));
    if (c0 >= 'A' && c0 <= 'Z')
        return (uint16_t)(((c0 - 'A') * 10 + (c1 - '0')) * 100 + (c2 - '0'));
    return 0;
}

const struct arcfile_layout *arcfile_layout_of(uint32_t version)
{
    uint16_t number = arcfile_version_number(version);
    for (size_t i = sizeof LAYOUTS / sizeof *LAYOUTS; i-- > 0;)
        if (number >= LAYOUTS[i].since)
            return &LAYOUTS[i];
    return NULL;
}

bool arcfile_is_counters(uint32_t tag)
{
    return tag >= TAG_COUNTERS && !((tag - TAG_COUNTERS) & 0x1ffff) &&
           (tag - TAG_COUNTERS) >> 17 < COUNTER_SLOTS;
}

enum cover_kind arcfile_kind(const struct arcfile_layout *layout, uint32_t tag)
{
    return arcfile_is_counters(tag) ? layout->slots[(tag - TAG_COUNTERS) >> 17] : KIND_UNKNOWN;
}

unsigned arcfile_slot(const struct arcfile_layout *layout, enum cover_kind kind)
{
    unsigned i = 0;
    while (i < COUNTER_SLOTS && layout->slots[i] != kind)
        i++;
    return i;
}

uint64_t arcfile_u64(struct cursor *in)
{
    uint64_t low = cursor_u32(in);
    return low | (uint64_t)cursor_u32(in) << 32;
}

const char *arcfile_text(struct cursor *in, bool has_byte_lengths)
{
    uint32_t length = cursor_u32(in);
    if (in->failed || !length)
        return NULL;
    uint64_t bytes = has_byte_lengths ? length : (uint64_t)length * 4;
    const uint8_t *text = bytes <= cursor_left(in) ? cursor_take(in, bytes) : NULL;
    if (!text || text[bytes - 1]) {
        in->failed = true;
        return NULL;
    }
    return (const char *)text;
}

uint32_t arcfile_zeros(struct cursor *in, uint32_t max)
{
    uint32_t zeros = 0;
    while (zeros < max && cursor_left(in) >= 4 && !bytes_u32(in->at, false)) {
        in->at += 4;
        zeros++;
    }
    return zeros;
}

/* Bytes behind a record's header. */
static uint64_t record_bytes(const struct arcfile *f, struct arcfile_record *r)
{
    unsigned unit = f->origin.has_byte_lengths ? 1 : 4;
    r->zeros = 0;
    if (r->length <= INT32_MAX || !f->layout->has_zero_runs || !arcfile_is_counters(r->tag))
        return (uint64_t)r->length * unit;
    r->zeros = (uint32_t)((-(uint64_t)(int64_t)(int32_t)r->length) * unit / 8);
    return 0;
}

static bool is_known_tag(uint32_t tag)
{
    return tag == TAG_FUNCTION || tag == TAG_BLOCKS || tag == TAG_ARCS || tag == TAG_LINES ||
           tag == TAG_CONDITIONS || tag == TAG_PATHS || tag == TAG_OBJECT_SUMMARY ||
           tag == TAG_PROGRAM_SUMMARY || arcfile_is_counters(tag);
}

/* Whether lengths in this unit lead from one record to the next, up to the very end. Words, the
 * less likely, must be of known records too. */
static bool chain_fits(struct arcfile f, bool has_byte_lengths)
{
    struct arcfile_record r;
    f.origin.has_byte_lengths = has_byte_lengths;
    while (cursor_left(&f.in) >= 8) {
        r.tag = cursor_u32(&f.in);
        r.length = cursor_u32(&f.in);
        if (!r.tag)
            return !cursor_left(&f.in);
        uint64_t bytes = record_bytes(&f, &r);
        if (bytes > cursor_left(&f.in) || (!has_byte_lengths && !is_known_tag(r.tag)))
            return false;
        f.in.at += bytes;
    }
    return cursor_left(&f.in) == 4 * (size_t)arcfile_zeros(&f.in, 1);
}

/* What is plain from the first record or text, without a walk through the file: a directory that
 * ends where bytes say so, before a function; a function or summary of 12 or 8 bytes. */
static bool is_plainly_bytes(struct cursor in, enum arcfile_magic magic)
{
    if (magic == ARCFILE_NOTES) {
        const char *directory = arcfile_text(&in, true);
        cursor_u32(&in);
        return directory && cursor_u32(&in) == TAG_FUNCTION;
    }
    uint32_t tag = cursor_u32(&in), length = cursor_u32(&in);
    return (tag == TAG_FUNCTION && length == 12) || (tag == TAG_OBJECT_SUMMARY && length == 8);
}

/* clang can be told to write gcc 12's version, but goes on to count words. Lengths are bytes unless
 * the whole file makes sense in words alone. */
static bool deduce_unit(const struct arcfile *f, enum arcfile_magic magic)
{
    struct arcfile words = *f, bytes = *f;
    if (is_plainly_bytes(f->in, magic))
        return true;
    if (magic == ARCFILE_NOTES) {
        arcfile_text(&words.in, false);
        cursor_u32(&words.in);
        arcfile_text(&bytes.in, true);
        cursor_u32(&bytes.in);
    }
    bool fits_bytes = !bytes.in.failed && chain_fits(bytes, true);
    return fits_bytes || words.in.failed || !chain_fits(words, false);
}

static bool find_order(struct cursor *in, uint32_t magic)
{
    for (unsigned order = 0; order < 2; order++)
        if (cursor_left(in) >= 4 && bytes_u32(in->at, order) == magic) {
            in->big_endian = order;
            in->at += 4;
            return true;
        }
    return false;
}

bool arcfile_open(struct arcfile *f, enum arcfile_magic magic, struct bytes in, const char *name,
                  struct err *e)
{
    *f = (struct arcfile){.in = cursor_over(in, name)};
    const char *what = magic == ARCFILE_NOTES ? "gcno" : "gcda";
    if (in.len < 12)
        return err_in(e, name, "%zu bytes are too few for a %s file", in.len, what);
    if (in.len > UINT32_MAX)
        return err_in(e, name, "%zu bytes are more than any compiler writes", in.len);
    if (!find_order(&f->in, magic))
        return err_in(e, name, "is no %s file: it begins with %02x %02x %02x %02x", what, in.at[0],
                      in.at[1], in.at[2], in.at[3]);
    uint32_t version = cursor_u32(&f->in);
    f->layout = arcfile_layout_of(version);
    if (!f->layout)
        return err_in(e, name, "version word 0x%08" PRIx32 " is no compiler's that is known",
                      version);
    f->origin = (struct cover_origin){.family = COVER_GCOV,
                                      .big_endian = f->in.big_endian,
                                      .version = version,
                                      .number = arcfile_version_number(version),
                                      .stamp = cursor_u32(&f->in)};
    if (!f->layout->has_byte_lengths)
        return true;
    f->origin.checksum = cursor_u32(&f->in);
    if (f->in.failed)
        return err_in(e, name, "%zu bytes are too few for a %s file", in.len, what);
    f->origin.has_byte_lengths = deduce_unit(f, magic);
    f->origin.is_llvm = !f->origin.has_byte_lengths;
    return true;
}

/* The record's bytes; the rest of the cursor is the same for all records of a file. */
static void set_record(struct arcfile_record *r, const struct cursor *in, uint64_t bytes)
{
    if (r->in.base != in->base)
        r->in = *in;
    r->in.at = in->at;
    r->in.end = in->at + bytes;
    r->in.failed = false;
}

enum arcfile_step arcfile_next(struct arcfile *f, struct arcfile_record *r, struct err *e)
{
    struct cursor *in = &f->in;
    size_t left = cursor_left(in);
    r->offset = cursor_offset(in);
    if (!left)
        return ARCFILE_END;
    r->tag = left >= 4 ? bytes_u32(in->at, in->big_endian) : 1;
    if (!r->tag) {
        in->at += 4;
        return ARCFILE_END;
    }
    if (left < 8) {
        err_at(e, in, "%zu bytes are too few for a record", left);
        return ARCFILE_BROKEN;
    }
    r->length = bytes_u32(in->at + 4, in->big_endian);
    uint64_t bytes = record_bytes(f, r);
    if (bytes > left - 8) {
        err_at(e, in, "the record with tag %08" PRIx32 " claims %" PRIu64 " bytes, %zu remain",
               r->tag, bytes, left - 8);
        return ARCFILE_BROKEN;
    }
    in->at += 8;
    set_record(r, in, bytes);
    in->at += bytes;
    return ARCFILE_RECORD;
}
