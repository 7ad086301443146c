/* Profiles of BSD systems, old and 4.4, read and written. The bytes: docs/formats/bsd.md, bsd44.md.
 *
 * One histogram, then arcs to the end of the file. The old header has no magic and no rate; that of
 * 4.4BSD adds a version word, the rate and, on FreeBSD, the type of the counters. A last arc that
 * is cut off is left out without complaint, as all readers do, but counted in trailing_bytes. */
#include "format/reading.h"
#include "format/writing.h"
#include "monarc/gmon_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct arc_layout ARC = {.has_wide_count = true};

enum { SPARE_BYTES = 8 };

static size_t header_bytes(unsigned word, bool is_44)
{
    return 2 * word + 4 + (is_44 ? 12 + SPARE_BYTES : 0);
}

struct header {
    struct histogram range; /* what is known of it */
    uint32_t ncnt;          /* bytes of header and counters */
    int32_t counter_bits;   /* FreeBSD; negative: signed; 0: not said */
};

static bool read_header(struct reading *r, bool is_44, struct header *h)
{
    struct cursor where = r->in, *in = &r->in;
    *h = (struct header){.range = {.rate = r->default_rate, .dimension = "seconds"}};
    h->range.abbreviation = 's';
    h->range.low = cursor_word(in);
    h->range.high = cursor_word(in);
    h->ncnt = cursor_u32(in);
    uint32_t version = is_44 ? cursor_u32(in) : 0;
    if (is_44) {
        h->range.rate = cursor_u32(in);
        h->counter_bits = (int32_t)cursor_u32(in);
        cursor_take(in, SPARE_BYTES);
    }
    size_t bytes = header_bytes(in->word, is_44);
    if (in->failed)
        return reading_fail(r, &where, READ_SHORT_HEADER, cursor_left(&where), bytes,
                            "the file has %zu bytes; the header alone takes %zu",
                            cursor_left(&where), bytes);
    if (is_44 && version != GMON_OUT_BSD44_VERSION)
        return reading_fail(r, &where, READ_BAD_MAGIC, version, GMON_OUT_BSD44_VERSION,
                            "version word 0x%08" PRIx32 " is not 4.4BSD's 0x%08x", version,
                            GMON_OUT_BSD44_VERSION);
    if (h->ncnt < bytes)
        return reading_fail(r, &where, READ_SHORT_HEADER, h->ncnt, bytes,
                            "header and counters claim %" PRIu32 " bytes; the header alone takes "
                            "%zu",
                            h->ncnt, bytes);
    return true;
}

/* Bytes of a counter: as the header says, otherwise the narrowest that leaves each bin two bytes of
 * the range or nearly so, which is the finest anybody records. */
static unsigned counter_width(const struct header *h, size_t count_bytes)
{
    unsigned said = (unsigned)abs(h->counter_bits % 1024) / 8;
    if (said == 1 || said == 2 || said == 4 || said == 8)
        return said;
    double range = h->range.high > h->range.low ? (double)(h->range.high - h->range.low) : 0;
    unsigned width = 2;
    while (width < 8 && range && range * width < 1.5 * (double)count_bytes)
        width *= 2;
    return width;
}

static bool walk(struct reading *r, bool is_44)
{
    struct cursor where = r->in;
    struct header h;
    if (!read_header(r, is_44, &h))
        return false;
    size_t count_bytes = h.ncnt - header_bytes(r->in.word, is_44);
    unsigned width = is_44 ? counter_width(&h, count_bytes) : 2;
    h.range.bins = (uint32_t)(count_bytes / width);
    if (!reading_bins(r, &where, &h.range, width))
        return false;
    cursor_take(&r->in, count_bytes % width);
    reading_arcs(r, ARC, SIZE_MAX);
    if (r->out)
        r->out->trailing_bytes = cursor_left(&r->in);
    r->odd += count_bytes % width != 0;
    return true;
}

static bool walk_old(struct reading *r)
{
    return walk(r, false);
}

static bool walk_44(struct reading *r)
{
    return walk(r, true);
}

static bool probe_old(struct bytes in, const struct format_hint *hint)
{
    return reading_plausible(cursor_over(in, ""), hint, walk_old);
}

/* The version word stands in the same place for every file with the same pointer size. */
static bool probe_44(struct bytes in, const struct format_hint *hint)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned word = i & 1 ? 4 : 8;
        enum byte_order order = i >> 1 ? ORDER_BIG : ORDER_LITTLE;
        bool is_allowed =
            (!hint->word || hint->word == word) && (!hint->order || hint->order == order);
        if (is_allowed && in.len >= 2 * word + 8 &&
            bytes_u32(in.at + 2 * word + 4, order == ORDER_BIG) == GMON_OUT_BSD44_VERSION)
            return true;
    }
    return false;
}

static bool read_old(struct bytes in, const char *name, const struct format_hint *hint,
                     struct profile *out, struct err *e)
{
    out->format = PROFILE_BSD;
    return reading_run(cursor_over(in, name), ORDER_UNKNOWN, hint, walk_old, out, e);
}

static bool read_44(struct bytes in, const char *name, const struct format_hint *hint,
                    struct profile *out, struct err *e)
{
    out->format = PROFILE_BSD44;
    return reading_run(cursor_over(in, name), ORDER_UNKNOWN, hint, walk_44, out, e);
}

/* --- writing --------------------------------------------------------------------------------- */

static const struct writing_limits OLD = {
    .name = "the old BSD format", .arc = {.has_wide_count = true}, .has_one_histogram = true};
static const struct writing_limits BSD44 = {.name = "4.4BSD's format",
                                            .arc = {.has_wide_count = true},
                                            .has_one_histogram = true,
                                            .has_wide_counters = true,
                                            .has_rate = true};

static unsigned width_needed(const struct histogram *h)
{
    uint64_t peak = histogram_peak(h);
    return peak <= UINT16_MAX ? 2 : peak <= UINT32_MAX ? 4 : 8;
}

static bool write(struct writer *w, const struct profile *p, const struct writing_limits *limits,
                  struct err *e)
{
    if (!writing_fits(p, w->word, limits, e))
        return false;
    bool is_44 = limits == &BSD44;
    const struct histogram *h = &p->histograms.at[0];
    unsigned width = width_needed(h);
    uint64_t ncnt = header_bytes(w->word, is_44) + (uint64_t)h->bins * width;
    if (ncnt > INT32_MAX)
        return err_set(e, "%s holds 2 GiB of counters; %" PRIu32 " bins need more", limits->name,
                       h->bins);
    writer_word(w, h->low);
    writer_word(w, h->high);
    writer_u32(w, (uint32_t)ncnt);
    if (is_44) {
        writer_u32(w, GMON_OUT_BSD44_VERSION);
        writer_u32(w, h->rate);
        writer_u32(w, width > 2 ? 8 * width : 0);
        writer_u64(w, 0);
    }
    writing_counters(w, h, 0, width);
    writing_arcs(w, p, ARC, 0);
    return true;
}

static bool write_old(struct writer *w, const struct profile *p, struct err *e)
{
    return write(w, p, &OLD, e);
}

static bool write_44(struct writer *w, const struct profile *p, struct err *e)
{
    return write(w, p, &BSD44, e);
}

const struct format format_bsd = {
    .name = "bsd",
    .title = "old BSD",
    .id = PROFILE_BSD,
    .probe = probe_old,
    .read = read_old,
    .write = write_old,
};

const struct format format_bsd44 = {
    .name = "bsd44",
    .title = "4.4BSD",
    .id = PROFILE_BSD44,
    .probe = probe_44,
    .read = read_44,
    .write = write_44,
};
