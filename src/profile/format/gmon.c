/* GNU gmon.out, versions 0 and 1, read and written. The bytes: docs/formats/gmon.md, gmon0.md.
 *
 *      "gmon"  u32 version  12 bytes of 0          then records, each after a tag byte:
 *      0  word low, high, u32 bins, u32 rate, 15 bytes dimension, 1 abbreviation, u16 counters
 *      1  word from, self, u32 count
 *      2  u32 n, then n times {word address, word count}; in version 0 with names and lines
 *
 * The file does not say how long a word is, nor its byte order unless the version shows it: the
 * layouts that are in question are tried (records.c). Reading accepts any number of records in any
 * order and says of a file that breaks off what was whole. Writing puts histograms first, then
 * arcs, then blocks; what does not fit a field is written as several records, since readers sum
 * them. The names and lines that blocks of version 0 carry are kept, for writing that version.
 *
 * Nearly all files are of version 1. Cost: linear in the bytes. Refused: unknown tags, lists of
 * blocks that claim more than the bytes hold, records that are cut off. Source: binutils
 * gprof/gmon_out.h and glibc sys/gmon_out.h. */
#include "profile/format/records.h"

#include "monarc/gmon_out.h"

#include <inttypes.h>
#include <string.h>

static const struct arc_layout ARC = {.is_tagged = true};

/* A text that ends in NUL, in place: it lives as long as the bytes of the file. */
static const char *gmon_read_text(struct cursor *in)
{
    const uint8_t *text = in->at, *nul = memchr(in->at, 0, cursor_left(in));
    if (nul && !in->failed)
        in->at = nul + 1;
    else
        in->failed = true;
    return (const char *)text;
}

static void gmon_read_block(struct reading *r)
{
    uint64_t address = cursor_word(&r->in), count = cursor_word(&r->in);
    if (!r->in.failed)
        reading_block(r, address, count);
}

/* Version 0 has fields of 8 bytes whatever the pointer size, the count first, and names after them.
 */
static void gmon_read_named_block(struct reading *r, const char *group)
{
    struct cursor *in = &r->in;
    uint64_t count = cursor_u64(in), address = cursor_u64(in);
    struct block_name name = {.group = group};
    name.file = gmon_read_text(in);
    name.function = gmon_read_text(in);
    name.line = cursor_u32(in);
    if (in->failed)
        return;
    reading_block(r, address, count);
    if (r->out)
        block_names_add(&r->out->block_names, address, &name);
}

/* The count of a list is checked against the least that its items take before it is believed; items
 * with texts are longer, and are checked one by one.
 *
 *     u8 2 | u32 n | [group NUL] | n items */
static bool gmon_read_blocks(struct reading *r, const struct cursor *where, bool has_names)
{
    struct cursor *in = &r->in;
    size_t first = r->out ? r->out->blocks.len : 0,
           least = has_names ? 8 + 8 + 2 + 4 : 2 * in->word;
    cursor_u8(in);
    uint32_t n = cursor_u32(in);
    const char *group = has_names ? gmon_read_text(in) : "";
    if (in->failed || cursor_left(in) / least < n)
        return reading_fail(r, where, READ_SHORT_BLOCKS, 0, n,
                            "list claims %" PRIu32 " blocks, %zu bytes remain", n, cursor_left(in));
    for (uint32_t i = 0; i < n && !in->failed; i++)
        has_names ? gmon_read_named_block(r, group) : gmon_read_block(r);
    if (in->failed)
        return reading_fail(r, where, READ_SHORT_BLOCKS, 0, n,
                            "the file ends within a list of %" PRIu32 " blocks", n);
    if (r->out) {
        reading_note_run(r, where, RECORD_BLOCKS, first, n);
        r->out->block_records++;
    }
    return true;
}

/* One record, or all consecutive arcs: their loop checks the tags itself. The caller has seen that
 * there is a byte left for the tag. */
static bool gmon_read_record(struct reading *r, bool has_names)
{
    struct cursor where = r->in;
    switch (*r->in.at) {
    case GMON_OUT_TAG_HISTOGRAM: cursor_u8(&r->in); return reading_histogram(r, &where);
    case GMON_OUT_TAG_ARC:
        return reading_arcs(r, ARC, SIZE_MAX) ||
               reading_fail(r, &where, READ_SHORT_ARC, 0, 0, "the file ends within an arc");
    case GMON_OUT_TAG_BLOCKS: return gmon_read_blocks(r, &where, has_names);
    default:
        return reading_fail(r, &where, READ_BAD_TAG, *where.at, 0,
                            "a record begins with tag %u; tags are 0 (histogram), 1 (arc) and "
                            "2 (blocks)",
                            *where.at);
    }
}

static bool gmon_walk_1(struct reading *r)
{
    while (cursor_left(&r->in))
        if (!gmon_read_record(r, false))
            return false;
    return true;
}

static bool gmon_walk_0(struct reading *r)
{
    while (cursor_left(&r->in))
        if (!gmon_read_record(r, true))
            return false;
    return true;
}

/* The version shows the byte order, since a swapped 1 or 0x1ffff is no version. 0 is the same in
 * both orders; then *order is the first that the hint allows, and means nothing. */
bool gmon_version(struct bytes in, const struct format_hint *hint, uint32_t *version,
                  enum byte_order *order)
{
    if (in.len < GMON_OUT_HEADER_BYTES || memcmp(in.at, GMON_OUT_MAGIC, 4))
        return false;
    for (*order = ORDER_LITTLE; *order <= ORDER_BIG; ++*order) {
        *version = bytes_u32(in.at + 4, *order == ORDER_BIG);
        if ((!hint->order || hint->order == *order) &&
            (*version <= GMON_OUT_VERSION_1 || *version == GMON_OUT_VERSION_SHARED))
            return true;
    }
    return false;
}

/* Fails for a header of the other kind too: GNU's reader is not asked to make sense of a shared
 * object's profile, nor the other way round. */
bool gmon_open(struct cursor *at, const struct format_hint *hint, bool is_shared,
               enum byte_order *order, struct profile *out, struct err *e)
{
    struct bytes in = {at->at, cursor_left(at)};
    struct reading r = {.out = out, .e = e};
    uint32_t version;
    if (in.len < GMON_OUT_HEADER_BYTES)
        return reading_fail(&r, at, READ_SHORT_HEADER, in.len, GMON_OUT_HEADER_BYTES,
                            "the file has %zu bytes; the header alone takes %d", in.len,
                            GMON_OUT_HEADER_BYTES);
    if (memcmp(in.at, GMON_OUT_MAGIC, 4))
        return reading_fail(&r, at, READ_BAD_MAGIC, 0, 0, "the file does not begin with \"gmon\"");
    bool is_known = gmon_version(in, hint, &version, order);
    if (!is_known)
        version = bytes_u32(in.at + 4, hint->order == ORDER_BIG);
    if (!is_known || (version == GMON_OUT_VERSION_SHARED) != is_shared)
        return reading_fail(&r, at, READ_BAD_VERSION, version, 0,
                            "version %" PRIu32 " is not one of this format", version);
    out->version = is_shared ? 0 : version;
    at->at += GMON_OUT_HEADER_BYTES;
    return true;
}

/* Either version, whichever row of the table was asked. */
static bool gmon_read(struct bytes in, const char *name, const struct format_hint *hint,
                      struct profile *out, struct err *e)
{
    struct cursor at = cursor_over(in, name);
    enum byte_order order;
    out->format = PROFILE_GNU;
    if (!gmon_open(&at, hint, false, &order, out, e))
        return false;
    if (out->version == GMON_OUT_VERSION_1)
        return reading_run(at, order, hint, gmon_walk_1, out, e);
    return reading_run(at, ORDER_UNKNOWN, hint, gmon_walk_0, out, e); /* 0 is 0 in both orders */
}

static bool gmon_probe_1(struct bytes in, const struct format_hint *hint)
{
    uint32_t version;
    enum byte_order order;
    return gmon_version(in, hint, &version, &order) && version == GMON_OUT_VERSION_1;
}

static bool gmon_probe_0(struct bytes in, const struct format_hint *hint)
{
    uint32_t version;
    enum byte_order order;
    return gmon_version(in, hint, &version, &order) && version == GMON_OUT_VERSION_0;
}

/* --- writing --------------------------------------------------------------------------------- */

void gmon_write_header(struct writer *w, uint32_t version)
{
    static const uint8_t spare[12];
    writer_bytes(w, GMON_OUT_MAGIC, 4);
    writer_u32(w, version);
    writer_bytes(w, spare, sizeof spare);
}

/* Bins that exceed 16 bits go on in further records of the same range, which every reader adds
 * up. */
static void gmon_write_histogram(struct writer *w, const struct histogram *h)
{
    for (uint64_t pass = 0, passes = writing_passes(h); pass < passes; pass++) {
        writer_u8(w, GMON_OUT_TAG_HISTOGRAM);
        writing_histogram_header(w, h);
        writing_counters(w, h, pass, 2);
    }
}

/* A block's count that exceeds a pointer of 4 bytes takes several entries. */
static void gmon_write_blocks_1(struct writer *w, const struct profile *p)
{
    struct writer list = {.word = w->word, .big_endian = w->big_endian};
    uint64_t entries = 0;
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct block *b = &p->blocks.at[i];
        uint64_t left = b->count, part;
        do {
            part = writing_part(left, w->word);
            writer_word(&list, b->address);
            writer_word(&list, part);
            left -= part;
            entries++;
        } while (left);
    }
    writer_u8(w, GMON_OUT_TAG_BLOCKS);
    writer_u32(w, (uint32_t)entries);
    writer_bytes(w, list.out.at, list.out.len);
    writer_deinit(&list);
}

static void gmon_write_text(struct writer *w, const char *text)
{
    writer_bytes(w, text, strlen(text) + 1);
}

/* A record for blocks that follow each other and are of one group. The number of entries is not
 * known before they are written, and is filled in after each. */
static void gmon_write_blocks_0(struct writer *w, const struct profile *p)
{
    size_t count_at = 0;
    uint32_t entries = 0;
    const char *group = NULL;
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct block *b = &p->blocks.at[i];
        struct block_name name = block_names_find(&p->block_names, b->address);
        if (!group || strcmp(group, name.group) != 0) {
            group = name.group;
            entries = 0;
            writer_u8(w, GMON_OUT_TAG_BLOCKS);
            count_at = w->out.len;
            writer_u32(w, 0);
            gmon_write_text(w, group);
        }
        writer_u64(w, b->count);
        writer_u64(w, b->address);
        gmon_write_text(w, name.file);
        gmon_write_text(w, name.function);
        writer_u32(w, name.line);
        uint32_t n = w->big_endian ? __builtin_bswap32(++entries) : ++entries;
        memcpy(w->out.at + count_at, &n, sizeof n);
    }
}

/* Both versions differ in how blocks look, and in nothing else. A profile that was
 * read without lists of blocks gets none. */
static bool gmon_write_version(struct writer *w, const struct profile *p, uint32_t version,
                               void (*blocks)(struct writer *, const struct profile *),
                               struct err *e)
{
    static const struct writing_limits LIMITS = {.name = "gmon.out",
                                                 .arc = {.is_tagged = true},
                                                 .has_dimension = true,
                                                 .has_rate = true,
                                                 .has_blocks = true};
    if (!writing_fits(p, w->word, &LIMITS, e))
        return false;
    gmon_write_header(w, version);
    for (size_t i = 0; i < p->histograms.len; i++)
        gmon_write_histogram(w, &p->histograms.at[i]);
    writing_arcs(w, p, ARC, 0);
    if (p->blocks.len || (p->block_records && version == GMON_OUT_VERSION_1))
        blocks(w, p);
    return true;
}

static bool gmon_write_1(struct writer *w, const struct profile *p, struct err *e)
{
    return gmon_write_version(w, p, GMON_OUT_VERSION_1, gmon_write_blocks_1, e);
}

static bool gmon_write_0(struct writer *w, const struct profile *p, struct err *e)
{
    return gmon_write_version(w, p, GMON_OUT_VERSION_0, gmon_write_blocks_0, e);
}

const struct format format_gmon = {
    .name = "gmon",
    .title = "GNU gmon.out, version 1",
    .id = PROFILE_GNU,
    .version = GMON_OUT_VERSION_1,
    .probe = gmon_probe_1,
    .read = gmon_read,
    .write = gmon_write_1,
};

const struct format format_gmon0 = {
    .name = "gmon0",
    .title = "GNU gmon.out, version 0",
    .id = PROFILE_GNU,
    .version = GMON_OUT_VERSION_0,
    .probe = gmon_probe_0,
    .read = gmon_read,
    .write = gmon_write_0,
};
