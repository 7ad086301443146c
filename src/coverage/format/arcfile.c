/* Words, texts and records of gcno and gcda, read and written. The bytes: docs/formats/gcno.md,
 * gcda.md.
 *
 * Both files are a header and tagged records. What differs between versions (lengths in words or in
 * bytes, whether the header has a checksum, what a tag of counters holds) is a row of the table in
 * wire/gcov_dialects.h, and nothing here compares a version. The byte order is that in which the
 * magic reads right.
 *
 * Snapshots of gcc 12 changed lengths from words to bytes under one version word, so the unit is
 * deduced where the word leaves it open: from the first record if that is plain, or else as the one
 * in which the chain of records leads to the very end of the file. A record that does not fit into
 * the bytes ends the file with an error that names its offset; no length is believed before it is
 * checked against what is left.
 *
 *     header   magic | version | stamp | checksum from gcc 12 on       words of 4 bytes
 *     record   tag | length | contents                                 length without these 8 bytes
 *     text     length | characters, NUL | NULs up to a word, where lengths are words
 *     u64      low word | high word                                    in either byte order */
#include "coverage/format/arcfile.h"

#include "coverage/format/format.h"

#include <inttypes.h>
#include <string.h>

/* --- reading --------------------------------------------------------------------------------- */

/* Tags of counters are 0x01a10000 and every 0x20000 from there: the slot is in the upper bits. */
bool arcfile_is_counters(uint32_t tag)
{
    uint32_t slot = (tag - GCOV_TAG_COUNTERS) >> GCOV_SLOT_SHIFT;
    return slot < GCOV_SLOTS && tag == GCOV_TAG_OF_SLOT(slot);
}

/* Slots have changed their meaning from version to version; the dialect has that of this one. */
enum counter_kind arcfile_kind(const struct gcov_dialect *dialect, uint32_t tag)
{
    return arcfile_is_counters(tag) ? dialect->kinds[(tag - GCOV_TAG_COUNTERS) >> GCOV_SLOT_SHIFT]
                                    : KIND_UNKNOWN;
}

/* The inverse of arcfile_kind(): where this version keeps counters of the kind. */
unsigned arcfile_slot(const struct gcov_dialect *dialect, enum counter_kind kind)
{
    unsigned i = 0;
    while (i < GCOV_SLOTS && dialect->kinds[i] != kind)
        i++;
    return i;
}

/* Two words, each in the file's byte order, the low one first. */
uint64_t arcfile_u64(struct cursor *in)
{
    uint64_t low = cursor_u32(in);
    return low | (uint64_t)cursor_u32(in) << 32;
}

/* The last byte must be NUL: what is returned ends within the record. Length 0 is no text, not an
 * empty one. */
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

/* Zero reads alike in both orders. */
uint32_t arcfile_zeros(struct cursor *in, uint32_t max)
{
    uint32_t zeros = 0;
    while (zeros < max && cursor_left(in) >= 4 && !bytes_u32(in->at, false)) {
        in->at += 4;
        zeros++;
    }
    return zeros;
}

/* Bytes after a record's header. 0 for a record of zeros: a negative length, which counts the bytes
 * or words that were left out. Elsewhere such a length is just too large. */
static uint64_t arcfile_record_bytes(const struct arcfile *f, struct arcfile_record *r)
{
    unsigned unit = f->origin.has_byte_lengths ? 1 : 4;
    r->zeros = 0;
    if (r->length <= INT32_MAX || !f->dialect->has_zero_runs || !arcfile_is_counters(r->tag))
        return (uint64_t)r->length * unit;
    r->zeros = (uint32_t)((-(uint64_t)(int64_t)(int32_t)r->length) * unit / 8);
    return 0;
}

static bool arcfile_is_known_tag(uint32_t tag)
{
    return tag == GCOV_TAG_FUNCTION || tag == GCOV_TAG_BLOCKS || tag == GCOV_TAG_ARCS ||
           tag == GCOV_TAG_LINES || tag == GCOV_TAG_CONDITIONS || tag == GCOV_TAG_PATHS ||
           tag == GCOV_TAG_OBJECT_SUMMARY || tag == GCOV_TAG_PROGRAM_SUMMARY ||
           arcfile_is_counters(tag);
}

/* Whether lengths in this unit lead from one record to the next, up to the very end. Words, the
 * less likely, must be of known records too. `f` is a copy, so that the walk moves no cursor.
 * Linear in the records; their contents are not read. */
static bool arcfile_chain_fits(struct arcfile f, bool has_byte_lengths)
{
    struct arcfile_record r;
    f.origin.has_byte_lengths = has_byte_lengths;
    while (cursor_left(&f.in) >= 8) {
        r.tag = cursor_u32(&f.in);
        r.length = cursor_u32(&f.in);
        if (!r.tag)
            return !cursor_left(&f.in);
        uint64_t bytes = arcfile_record_bytes(&f, &r);
        if (bytes > cursor_left(&f.in) || (!has_byte_lengths && !arcfile_is_known_tag(r.tag)))
            return false;
        f.in.at += bytes;
    }
    return cursor_left(&f.in) == 4 * (size_t)arcfile_zeros(&f.in, 1);
}

/* What is plain from the first record or text, without a walk through the file: a directory that
 * ends where bytes say so, before a function; a function or summary of 12 or 8 bytes. `in` is after
 * the header, by value. */
static bool arcfile_is_plainly(struct cursor in, uint32_t magic, bool has_bytes)
{
    if (magic == GCOV_MAGIC_NOTES) {
        const char *directory = arcfile_text(&in, has_bytes);
        cursor_u32(&in);
        return directory && cursor_u32(&in) == GCOV_TAG_FUNCTION;
    }
    uint32_t tag = cursor_u32(&in), length = cursor_u32(&in), unit = has_bytes ? 4 : 1;
    return (tag == GCOV_TAG_FUNCTION && length == 3 * unit) ||
           (tag == GCOV_TAG_OBJECT_SUMMARY && length == 2 * unit);
}

/* gcc 12 began to count bytes and to write a checksum while it was developed. Snapshots say by the
 * version's last letter that they are none of the releases; which of them they are, only the bytes
 * show. Both places where the first record may be are tried: it must make sense without a checksum,
 * and not with one. */
static bool arcfile_is_before_checksums(const struct arcfile *f, uint32_t magic, bool *has_bytes)
{
    struct cursor behind = f->in;
    if ((f->origin.version & 0xff) == '*')
        return false;
    cursor_u32(&behind);
    *has_bytes = arcfile_is_plainly(f->in, magic, true);
    return (*has_bytes || arcfile_is_plainly(f->in, magic, false)) &&
           !arcfile_is_plainly(behind, magic, true) && !arcfile_is_plainly(behind, magic, false);
}

/* An option makes clang write gcc 12's version, but it still counts words. Lengths are bytes unless
 * the whole file makes sense in words alone. True for bytes. The walk through the file is only made
 * where the first record leaves it open. */
static bool arcfile_deduce_unit(const struct arcfile *f, uint32_t magic)
{
    struct arcfile words = *f, bytes = *f;
    if (arcfile_is_plainly(f->in, magic, true))
        return true;
    if (magic == GCOV_MAGIC_NOTES) {
        arcfile_text(&words.in, false);
        cursor_u32(&words.in);
        arcfile_text(&bytes.in, true);
        cursor_u32(&bytes.in);
    }
    bool fits_bytes = !bytes.in.failed && arcfile_chain_fits(bytes, true);
    return fits_bytes || words.in.failed || !arcfile_chain_fits(words, false);
}

/* Sets the order of the cursor and passes the magic. */
static bool arcfile_find_order(struct cursor *in, uint32_t magic)
{
    for (unsigned order = 0; order < 2; order++)
        if (cursor_left(in) >= 4 && bytes_u32(in->at, order) == magic) {
            in->big_endian = order;
            in->at += 4;
            return true;
        }
    return false;
}

bool arcs_size_is_possible(const char *name, size_t bytes, size_t least, const char *kind,
                           struct err *e)
{
    if (bytes < least)
        return err_in(e, name, "%zu bytes are too few for a %s file", bytes, kind);
    return bytes <= UINT32_MAX ||
           err_in(e, name, "%zu bytes are more than any compiler writes", bytes);
}

/* Only files whose version word leaves the unit open are read beyond their header. */
bool arcfile_open(struct arcfile *f, uint32_t magic, struct bytes in, const char *name,
                  struct err *e)
{
    *f = (struct arcfile){.in = cursor_over(in, name)};
    const char *what = magic == GCOV_MAGIC_NOTES ? "gcno" : "gcda";
    if (!arcs_size_is_possible(name, in.len, 12, what, e))
        return false;
    if (!arcfile_find_order(&f->in, magic))
        return err_in(e, name, "is not a %s file: it begins with %02x %02x %02x %02x", what,
                      in.at[0], in.at[1], in.at[2], in.at[3]);
    uint32_t version = cursor_u32(&f->in);
    f->dialect = dialect_of_word(version);
    if (!f->dialect)
        return err_in(e, name, "version word 0x%08" PRIx32 " is not that of a known compiler",
                      version);
    f->origin = (struct arcs_origin){.family = ARCS_GCOV,
                                     .big_endian = f->in.big_endian,
                                     .version = version,
                                     .number = gcov_version_number(version),
                                     .stamp = cursor_u32(&f->in)};
    if (!f->dialect->has_byte_lengths)
        return true;
    f->origin.lacks_checksum = arcfile_is_before_checksums(f, magic, &f->origin.has_byte_lengths);
    if (f->origin.lacks_checksum)
        return true;
    f->origin.checksum = cursor_u32(&f->in);
    if (f->in.failed)
        return err_in(e, name, "%zu bytes are too few for a %s file", in.len, what);
    f->origin.has_byte_lengths = arcfile_deduce_unit(f, magic);
    f->origin.is_llvm = !f->origin.has_byte_lengths;
    return true;
}

/* The offset is that of the tag, also where the record is broken: it is what an error names. A rest
 * of 1 to 3 bytes is no end but a cut file. */
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
    uint64_t bytes = arcfile_record_bytes(f, r);
    if (bytes > left - 8) {
        err_at(e, in, "the record with tag %08" PRIx32 " claims %" PRIu64 " bytes, %zu remain",
               r->tag, bytes, left - 8);
        return ARCFILE_BROKEN;
    }
    in->at += 8;
    /* The record's bytes; the rest of the cursor is the same for all records of a file. */
    if (r->in.base != in->base)
        r->in = *in;
    r->in.at = in->at;
    r->in.end = in->at + bytes;
    r->in.failed = false;

    in->at += bytes;
    return ARCFILE_RECORD;
}

/* --- writing --------------------------------------------------------------------------------- */

/* The byte order is that of `w`, which the caller has set. */
void arcfile_write_header(struct writer *w, uint32_t magic, const struct arcs_origin *origin,
                          const struct gcov_dialect *dialect)
{
    writer_u32(w, magic);
    writer_u32(w, origin->version);
    writer_u32(w, origin->stamp);
    if (dialect->has_byte_lengths && !origin->lacks_checksum)
        writer_u32(w, origin->checksum);
}

void arcfile_write_u64(struct writer *w, uint64_t value)
{
    writer_u32(w, (uint32_t)value);
    writer_u32(w, (uint32_t)(value >> 32));
}

/* In words the NUL is part of the length, and 0 to 3 more of them fill the last word. */
void arcfile_write_text(struct writer *w, const char *text, bool has_byte_lengths)
{
    static const char PADDING[4];
    size_t len = text ? strlen(text) + 1 : 0;
    size_t padding = has_byte_lengths ? 0 : -len & 3;
    writer_u32(w, (uint32_t)(has_byte_lengths ? len : (len + padding) / 4));
    writer_bytes(w, text, len);
    writer_bytes(w, PADDING, padding);
}

/* Returns where the contents begin. They may grow the buffer: an offset is kept, no pointer. */
size_t arcfile_start_record(struct writer *w, uint32_t tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

/* Contents of a multiple of 4 bytes, where the length counts words. */
void arcfile_end_record(struct writer *w, size_t start, bool has_byte_lengths)
{
    uint32_t length = (uint32_t)((w->out.len - start) / (has_byte_lengths ? 1 : 4));
    length = w->big_endian ? __builtin_bswap32(length) : length;
    memcpy(w->out.at + start - 4, &length, sizeof length);
}

/* The field is at least a byte longer than the string, and ends at a word: length 4 takes 8 bytes.
 */
const char *bbg_string(struct cursor *in)
{
    uint32_t len = cursor_u32(in);
    uint64_t field = ((uint64_t)len + 4) & ~UINT64_C(3);
    const uint8_t *text = field <= cursor_left(in) ? cursor_take(in, field) : NULL;
    for (uint64_t i = len; text && i < field; i++)
        if (text[i])
            text = NULL;
    if (!text)
        in->failed = true;
    return (const char *)text;
}

/* A cut group is left out: a sum that has this run for some functions and not for others would be
 * wrong for all. */
bool arcs_add_group(struct counters *out, struct counters *group, bool is_whole, struct err *e)
{
    struct err why = {0};
    if (!is_whole)
        return false;
    if (counters_merge(out, group, &why))
        return true;
    return err_set(e, "groups of one file do not fit together: %s", why.line);
}
