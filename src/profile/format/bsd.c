/* Profiles of BSD systems, old and 4.4, read and written. The bytes: docs/formats/bsd.md, bsd44.md.
 *
 *      old                     4.4BSD
 *      word low                word low            W: 4 or 8 bytes a word
 *      word high               word high
 *      u32  ncnt               u32  ncnt           bytes of header and counters
 *     (u32  0 on Alphas)       u32  0x51879
 *                              u32  rate           samples a second
 *                              u32  counter bits   FreeBSD: 8 to 64, negative if signed; else 0
 *                              u32  0, 0
 *      counters, u16           counters
 *      {word from, word self, word count} to the end of the file
 *
 * The old header has neither magic nor rate, so that it is recognised by consistency alone: bins
 * that divide the range as recorders do, addresses that lie close together. Where the header could
 * be read in two ways and both make sense, the file is refused and the message says what to pass.
 * A last arc that is cut off is left out without complaint, as in GNU gprof, but counted in
 * trailing_bytes. Writing refuses what the formats have no room for: a second histogram, another
 * rate than the reader takes for granted, blocks. */
#include "profile/format/records.h"
#include "monarc/gmon_out.h"

#include <inttypes.h>

/* Arcs have no tag, and a count as wide as a pointer. */
static const struct arc_layout ARC = {.has_wide_count = true};

enum { SPARE_BYTES = 8 };

/* Without an Alpha's padding. */
static size_t bsd_header_bytes(unsigned word, bool is_44)
{
    return 2 * word + 4 + (is_44 ? 12 + SPARE_BYTES : 0);
}

/* The header, of either format, before its counters are read. */
struct header {
    struct histogram range; /* what is known of it */
    uint32_t ncnt;          /* bytes of header and counters */
    int32_t counter_bits;   /* FreeBSD; negative: signed; 0: not said */
};

/* Whether bins divide the range as recorders do: a small power of two bytes each. */
static bool bsd_is_divided(const struct histogram *h, uint32_t bins)
{
    uint64_t range = h->high - h->low;
    for (unsigned usual = 2; h->high > h->low && bins && usual <= 64; usual *= 2)
        if (range / usual == bins && range % usual == 0)
            return true;
    return false;
}

/* On Alphas the header ends in four zero bytes, which `ncnt` counts. They could be two counters as
 * well, but then those would not divide the range. glibc's do not either, where it rounds up. */
enum padding { PADDING_NONE, PADDING_THERE, PADDING_UNCLEAR };

static enum padding bsd_padding(const struct reading *r, const struct header *h)
{
    const struct histogram *range = &h->range;
    struct cursor behind = r->in;
    uint32_t bins = (h->ncnt - BSD_HEADER) / 2;
    if (r->in.word != 8 || r->bsd_header == BSD_HEADER || h->ncnt < BSD_PADDED_HEADER)
        return PADDING_NONE;
    if (r->bsd_header == BSD_PADDED_HEADER)
        return PADDING_THERE;
    if (r->in.big_endian || cursor_u32(&behind) || behind.failed || bsd_is_divided(range, bins) ||
        !bsd_is_divided(range, bins - 2))
        return PADDING_NONE;
    bool is_glibc = range->high - range->low == 4 * (uint64_t)(bins - 2) &&
                    (range->high - range->low) % 16 == 8;
    return is_glibc ? PADDING_UNCLEAR : PADDING_THERE;
}

/* Leaves h->ncnt without the padding. */
static bool bsd_skip_padding(struct reading *r, const struct cursor *where, struct header *h)
{
    enum padding padding = bsd_padding(r, h);
    if (padding == PADDING_UNCLEAR && r->out)
        return reading_fail(r, where, READ_AMBIGUOUS, 0, 0,
                            "the header may be padded to 24 bytes, as on Alphas, or "
                            "begin with two empty bins; say which with "
                            "--profile-format bsd-alpha or --profile-format bsd");
    if (padding == PADDING_THERE) {
        cursor_take(&r->in, BSD_PADDED_HEADER - BSD_HEADER);
        h->ncnt -= BSD_PADDED_HEADER - BSD_HEADER;
    }
    return true;
}

/* Reads and checks all that stands in front of the counters. A word size or order that is wrong
 * mostly ends here: `ncnt` counts the header itself, so it is never smaller. */
static bool bsd_read_header(struct reading *r, bool is_44, struct header *h)
{
    struct cursor where = r->in, *in = &r->in;
    *h = (struct header){.range = {.rate = r->default_rate, .dimension = "seconds"}};
    h->range.abbreviation = 's';
    h->range.low = cursor_word(in);
    h->range.high = cursor_word(in);
    h->ncnt = cursor_u32(in);
    uint32_t version = is_44 ? cursor_u32(in) : 0;
    if (is_44) {
        uint32_t rate = cursor_u32(in); /* FreeBSD's pmcstat writes 0 */
        h->range.rate = rate ? rate : r->default_rate;
        h->counter_bits = (int32_t)cursor_u32(in);
        cursor_take(in, SPARE_BYTES);
    }
    size_t bytes = bsd_header_bytes(in->word, is_44);
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
    return is_44 || bsd_skip_padding(r, &where, h);
}

/* Bytes of a counter where the header does not say: the narrowest that leaves each bin two bytes of
 * the range or nearly so, which is the finest that any system records. */
static unsigned bsd_deduced_width(const struct histogram *h, uint64_t count_bytes)
{
    double range = h->high > h->low ? (double)(h->high - h->low) : 0;
    unsigned width = 2;
    while (width < 8 && range > 0 && range * width < 1.5 * (double)count_bytes)
        width *= 2;
    return width;
}

/* Signed counters are read as unsigned ones: no recorder counts below zero. */
static unsigned bsd_counter_width(const struct header *h, size_t count_bytes)
{
    switch (h->counter_bits) {
    case 8:
    case -8: return 1;
    case 16:
    case -16: return 2;
    case 32:
    case -32: return 4;
    case 64:
    case -64: return 8;
    default: return bsd_deduced_width(&h->range, count_bytes);
    }
}

/* The one description of both formats' records, for trials and for reading. Bytes that are no whole
 * counter are passed over and count as odd. A trial ends at the counters if anything was odd by
 * then. */
static bool bsd_walk(struct reading *r, bool is_44)
{
    struct cursor where = r->in;
    struct header h;
    if (!bsd_read_header(r, is_44, &h))
        return false;
    size_t count_bytes = h.ncnt - bsd_header_bytes(r->in.word, is_44);
    unsigned width = is_44 ? bsd_counter_width(&h, count_bytes) : 2;
    h.range.bins = (uint32_t)(count_bytes / width);
    if (!reading_bins(r, &where, &h.range, width))
        return false;
    if (!r->out && r->odd) /* without a magic, what makes no sense was not meant */
        return reading_fail(r, &where, READ_SHORT_HEADER, 0, 0, "no header");
    cursor_take(&r->in, count_bytes % width);
    reading_arcs(r, ARC, SIZE_MAX);
    if (r->out)
        r->out->trailing_bytes = cursor_left(&r->in);
    r->odd += count_bytes % width != 0;
    return true;
}

static bool bsd_walk_old(struct reading *r)
{
    return bsd_walk(r, false);
}

static bool bsd_walk_44(struct reading *r)
{
    return bsd_walk(r, true);
}

/* A file cut off within its counters has only its header to be known by: all recorders divide the
 * range by a small power of two. */
static bool bsd_looks_cut(const struct reading *r)
{
    struct reading trial = *r;
    struct header h;
    if (!bsd_read_header(&trial, false, &h) || h.ncnt <= cursor_left(&r->in))
        return false;
    h.range.bins = (h.ncnt - (uint32_t)bsd_header_bytes(r->in.word, false)) / 2;
    double bin_bytes = histogram_bin_bytes(&h.range);
    for (double usual = 2; usual <= 64; usual *= 2)
        if (bin_bytes > usual * 0.999 && bin_bytes < usual * 1.001)
            return true;
    return false;
}

/* A whole file is judged by all of it; one that was cut off by its header alone. */
static bool bsd_probe_old(struct bytes in, const struct format_hint *hint)
{
    struct reading r = {.in = cursor_over(in, "")};
    if (reading_plausible(r.in, hint, bsd_walk_old))
        return true;
    for (unsigned i = 0; i < LAYOUTS; i++)
        if (reading_layout(&r.in, i, ORDER_UNKNOWN, hint) && bsd_looks_cut(&r))
            return true;
    return false;
}

/* The version word shows the layout: it stands in one place for each pointer size. */
static bool bsd_find_layout_44(struct bytes in, const struct format_hint *hint,
                               struct format_hint *found)
{
    *found = *hint;
    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct cursor at = cursor_over(in, "");
        if (!reading_layout(&at, i, ORDER_UNKNOWN, hint))
            continue;
        found->word = at.word;
        found->order = at.big_endian ? ORDER_BIG : ORDER_LITTLE;
        cursor_take(&at, 2 * at.word + 4);
        if (cursor_u32(&at) == GMON_OUT_BSD44_VERSION)
            return true;
    }
    return false;
}

static bool bsd_probe_44(struct bytes in, const struct format_hint *hint)
{
    struct format_hint found;
    return bsd_find_layout_44(in, hint, &found);
}

static bool bsd_read_old(struct bytes in, const char *name, const struct format_hint *hint,
                         struct profile *out, struct err *e)
{
    out->format = PROFILE_BSD;
    return reading_run(cursor_over(in, name), ORDER_UNKNOWN, hint, bsd_walk_old, out, e);
}

/* A version word that no layout shows is left to the walk, which says what stands in its place. */
static bool bsd_read_44(struct bytes in, const char *name, const struct format_hint *hint,
                        struct profile *out, struct err *e)
{
    struct format_hint found;
    out->format = PROFILE_BSD44;
    bool is_found = bsd_find_layout_44(in, hint, &found);
    return reading_run(cursor_over(in, name), ORDER_UNKNOWN, is_found ? &found : hint, bsd_walk_44,
                       out, e);
}

/* --- writing --------------------------------------------------------------------------------- */

static const struct writing_limits OLD = {
    .name = "the old BSD format", .arc = {.has_wide_count = true}, .has_one_histogram = true};
static const struct writing_limits BSD44 = {.name = "4.4BSD's format",
                                            .arc = {.has_wide_count = true},
                                            .has_one_histogram = true,
                                            .has_wide_counters = true,
                                            .has_rate = true};

/* As narrow as the largest count allows; old readers know 2 bytes alone. */
static unsigned bsd_width_needed(const struct histogram *h)
{
    uint64_t peak = histogram_peak(h);
    return peak <= UINT16_MAX ? 2 : peak <= UINT32_MAX ? 4 : 8;
}

/* `ncnt` is a signed int on the systems that wrote the format, so counters end below 2 GiB.
 * 4.4BSD's counter bits stay 0, as its own files have them, unless they are needed to state the
 * width. */
static bool bsd_write(struct writer *w, const struct profile *p,
                      const struct writing_limits *limits, struct err *e)
{
    if (!writing_fits(p, w->word, limits, e))
        return false;
    bool is_44 = limits == &BSD44;
    const struct histogram *h = &p->histograms.at[0];
    unsigned width = bsd_width_needed(h);
    uint64_t count_bytes = (uint64_t)h->bins * width;
    uint64_t ncnt = bsd_header_bytes(w->word, is_44) + count_bytes;
    if (is_44 && !h->rate)
        return err_set(e, "%s takes a rate of 0 for the usual one", limits->name);
    if (ncnt > INT32_MAX)
        return err_set(e, "%s holds 2 GiB of counters; %" PRIu32 " bins need more", limits->name,
                       h->bins);
    writer_word(w, h->low);
    writer_word(w, h->high);
    writer_u32(w, (uint32_t)ncnt);
    if (is_44) {
        writer_u32(w, GMON_OUT_BSD44_VERSION);
        writer_u32(w, h->rate);
        writer_u32(w, width == bsd_deduced_width(h, count_bytes) && width == 2 ? 0 : 8 * width);
        writer_u64(w, 0);
    }
    writing_counters(w, h, 0, width);
    writing_arcs(w, p, ARC, 0);
    return true;
}

static bool bsd_write_old(struct writer *w, const struct profile *p, struct err *e)
{
    return bsd_write(w, p, &OLD, e);
}

static bool bsd_write_44(struct writer *w, const struct profile *p, struct err *e)
{
    return bsd_write(w, p, &BSD44, e);
}

const struct format format_bsd = {
    .name = "bsd",
    .title = "old BSD",
    .id = PROFILE_BSD,
    .probe = bsd_probe_old,
    .read = bsd_read_old,
    .write = bsd_write_old,
};

const struct format format_bsd44 = {
    .name = "bsd44",
    .title = "4.4BSD",
    .id = PROFILE_BSD44,
    .probe = bsd_probe_44,
    .read = bsd_read_44,
    .write = bsd_write_44,
};
