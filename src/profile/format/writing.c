/* Encoding, and saying no before anything is encoded. */
#include "profile/format/writing.h"

#include "monarc/gmon_out.h"

#include <inttypes.h>
#include <string.h>

/* A profile whose repeated records would take more is an accident, not a measurement. */
static const uint64_t MOST_BYTES = UINT64_C(1) << 32;

uint64_t writing_part(uint64_t left, unsigned bytes)
{
    uint64_t most = bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    return left < most ? left : most;
}

static uint64_t parts_of(uint64_t count, unsigned bytes)
{
    uint64_t most = writing_part(UINT64_MAX, bytes);
    return count ? (count - 1) / most + 1 : 1;
}

uint64_t writing_passes(const struct histogram *h)
{
    return parts_of(histogram_peak(h), 2);
}

uint64_t writing_arc_records(const struct profile *p, struct arc_layout layout, unsigned word)
{
    uint64_t records = 0;
    unsigned field = layout.has_wide_count ? word : 4;
    for (size_t i = 0; i < p->arcs.len; i++)
        records += parts_of(p->arcs.at[i].count, field);
    return records;
}

/* --- limits ---------------------------------------------------------------------------------- */

static bool addresses_fit(const struct profile *p, unsigned word, struct err *e)
{
    return word == 8 || profile_fits_32(p) ||
           err_set(e, "addresses above 0xffffffff do not fit a file with 32-bit pointers");
}

static bool unit_fits(const struct profile *p, const struct histogram *h,
                      const struct writing_limits *limits, struct err *e)
{
    bool is_seconds = !strcmp(h->dimension, "seconds") && h->abbreviation == 's';
    if (!limits->has_dimension && !is_seconds)
        return err_set(e, "%s counts seconds ('s'); this histogram counts \"%s\" ('%c')",
                       limits->name, h->dimension, h->abbreviation);
    /* What was read from there never had a rate to lose. */
    bool is_lost = !limits->has_rate && p->format != PROFILE_BSD && h->rate != 100;
    return !is_lost || err_set(e,
                               "%s records no rate and is read as 100 samples a second; this "
                               "histogram has %" PRIu32,
                               limits->name, h->rate);
}

static bool counters_fit(const struct histogram *h, const struct writing_limits *limits,
                         struct err *e)
{
    uint64_t peak = histogram_peak(h);
    return peak <= UINT16_MAX || !limits->has_one_histogram || limits->has_wide_counters ||
           err_set(e, "%s holds 65535 samples a bin; one here has %" PRIu64 " (--to gmon would do)",
                   limits->name, peak);
}

static uint64_t bytes_needed(const struct profile *p, unsigned word,
                             const struct writing_limits *limits)
{
    uint64_t bytes = 0, total;
    for (size_t i = 0; i < p->histograms.len && bytes <= MOST_BYTES; i++) {
        const struct histogram *h = &p->histograms.at[i];
        uint64_t passes = limits->has_one_histogram ? 1 : writing_passes(h);
        if (__builtin_mul_overflow(passes, h->bins * UINT64_C(2) + 64, &total))
            return UINT64_MAX;
        bytes = add_saturating(bytes, total);
    }
    uint64_t arcs = writing_arc_records(p, limits->arc, word);
    if (__builtin_mul_overflow(arcs, arc_bytes(limits->arc, word), &total))
        return UINT64_MAX;
    bytes = add_saturating(bytes, total);
    for (size_t i = 0; i < p->blocks.len; i++)
        bytes = add_saturating(bytes, 2 * word * parts_of(p->blocks.at[i].count, word));
    return bytes;
}

bool writing_fits(const struct profile *p, unsigned word, const struct writing_limits *limits,
                  struct err *e)
{
    if (limits->has_one_histogram && p->histograms.len != 1)
        return err_set(e, "%s holds exactly one histogram, not %zu", limits->name,
                       p->histograms.len);
    if (!limits->has_blocks && p->blocks.len)
        return err_set(e, "%s holds no basic-block counts, of which there are %zu", limits->name,
                       p->blocks.len);
    for (size_t i = 0; i < p->histograms.len; i++)
        if (!unit_fits(p, &p->histograms.at[i], limits, e) ||
            !counters_fit(&p->histograms.at[i], limits, e))
            return false;
    if (bytes_needed(p, word, limits) > MOST_BYTES)
        return err_set(e, "counts are so large that their repeated records would exceed 4 GiB");
    return addresses_fit(p, word, e);
}

/* --- records --------------------------------------------------------------------------------- */

void writing_histogram_header(struct writer *w, const struct histogram *h)
{
    writer_word(w, h->low);
    writer_word(w, h->high);
    writer_u32(w, h->bins);
    writer_u32(w, h->rate);
    writer_bytes(w, h->dimension, GMON_OUT_DIMENSION_BYTES);
    writer_u8(w, (uint8_t)h->abbreviation);
}

void writing_counters(struct writer *w, const struct histogram *h, uint64_t pass, unsigned width)
{
    if (h->width == width && !w->big_endian && !pass) {
        writer_bytes(w, h->counters, (size_t)h->bins * width);
        return;
    }
    uint64_t written = pass * UINT16_MAX;
    for (uint32_t i = 0; i < h->bins; i++) {
        uint64_t count = histogram_get(h, i);
        count = writing_part(count > written ? count - written : 0, width);
        if (width == 2)
            writer_u16(w, (uint16_t)count);
        else if (width == 4)
            writer_u32(w, (uint32_t)count);
        else
            writer_u64(w, count);
    }
}

static uint64_t rebase(uint64_t address, uint64_t base)
{
    return address ? address - base : 0;
}

void writing_arcs(struct writer *w, const struct profile *p, struct arc_layout layout,
                  uint64_t base)
{
    unsigned field = layout.has_wide_count ? w->word : 4;
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        uint64_t left = arc->count, part;
        do {
            part = writing_part(left, field);
            if (layout.is_tagged)
                writer_u8(w, GMON_OUT_TAG_ARC);
            writer_word(w, rebase(arc->from, base));
            writer_word(w, arc->self - base);
            if (field == 8)
                writer_u64(w, part);
            else
                writer_u32(w, (uint32_t)part);
            left -= part;
        } while (left);
    }
}
