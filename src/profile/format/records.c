/* Common parts of the dialects of gmon.out: finding out how the bytes are to be read, and the
 * records that several of them have.
 *
 * None of the files says all of pointer size and byte order. So a format describes its records
 * once, as a walk, and the walk is made up to four times without keeping anything (`out` NULL),
 * once for each layout that neither the caller's hint nor the header rules out. A trial gathers
 * evidence: whether it came to the end, how far it got, how many values are odd (ranges that end
 * before they begin, bins of absurd size), and how far apart the addresses are, since words of the
 * wrong size scatter them over the whole address space. The layout with the best evidence is walked
 * again into the profile; a tie between two that both read the file cleanly is refused as
 * ambiguous.
 *
 * Nothing is allocated by what a count claims: bins and arcs are limited to what the bytes that are
 * left can hold. Arcs are decoded in loops that know their layout at compile time, and a sink takes
 * them in batches, so that a file of any size needs the memory of one batch.
 *
 * Writing has the counterpart: one check that a profile fits a dialect, and counts that do not fit
 * their field as several records.
 *
 * Cost: a byte is read once for each layout in question and again to be kept, arcs aside, whose
 * addresses a trial samples. Refused: what ends before its records do, what no layout explains,
 * what two explain equally well; of writing, what a dialect has no field for, and profiles whose
 * counts would need more than 4 GiB of repeated records. */
#include "profile/format/records.h"

#include "monarc/gmon_out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In a trial (`out` NULL) the sentence is not read, and not made. */
bool reading_fail(struct reading *r, const struct cursor *where, enum read_failure what,
                  uint64_t seen, uint64_t of, const char *format, ...)
{
    r->in.at = where->at; /* how far whole records went */
    if (!r->out)
        return false;
    r->out->failure.what = what;
    r->out->failure.seen = seen;
    r->out->failure.of = of;
    char sentence[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return err_at(r->e, where, "%s", sentence);
}

/* Says where in the file a stretch of a list comes from. */
void reading_note_run(struct reading *r, const struct cursor *where, enum record_kind kind,
                      size_t first, size_t len)
{
    struct record_run run = {
        .kind = kind, .first = (uint32_t)first, .offset = cursor_offset(where), .len = len};
    vec_push(&r->out->runs, run);
}

/* With a sink nothing is kept. When it has had enough, the walk is at its end. */
static void reading_hand_over(struct reading *r, enum record_kind kind)
{
    struct profile *out = r->out;
    if (!r->sink)
        return;
    if (!r->sink->take(r->sink->context, kind, out))
        r->in.at = r->in.end;
    for (size_t i = 0; i < out->histograms.len; i++)
        histogram_deinit(&out->histograms.at[i]);
    out->histograms.len = out->arcs.len = out->blocks.len = out->runs.len = 0;
}

/* 0 stands for unknown callers and is no evidence for a layout. */
static void reading_see_address(struct reading *r, uint64_t address)
{
    if (!address)
        return;
    r->lowest = address < r->lowest ? address : r->lowest;
    r->highest = address > r->highest ? address : r->highest;
}

/* --- histograms ------------------------------------------------------------------------------ */

/* Text, filled up with NULs. */
static bool reading_is_text_field(const uint8_t *field, size_t size)
{
    size_t len = strnlen((const char *)field, size);
    for (size_t i = 0; i < size; i++)
        if (i < len ? field[i] < ' ' || field[i] > '~' : field[i])
            return false;
    return len > 0;
}

/* Evidence: what no recorder writes. Bins have between one byte and a page or so. */
static void reading_weigh_histogram(struct reading *r, const struct histogram *h)
{
    double bin_bytes = histogram_bin_bytes(h);
    r->odd += h->low >= h->high;
    r->odd += !h->bins || bin_bytes < 1 || bin_bytes > 65536;
    reading_see_address(r, h->low);
    reading_see_address(r, h->high);
}

/* Big-endian counters, and those of one byte, which are kept as two. */
#define DECODER(NAME, TO, FROM, SWAP)                              \
    static void NAME(TO *to, const uint8_t *from, size_t n)        \
    {                                                              \
        for (size_t i = 0; i < n; i++) {                           \
            FROM value;                                            \
            memcpy(&value, from + i * sizeof value, sizeof value); \
            to[i] = SWAP(value);                                   \
        }                                                          \
    }
DECODER(decode_u8, uint16_t, uint8_t, )
DECODER(decode_swapped_u16, uint16_t, uint16_t, __builtin_bswap16)
DECODER(decode_swapped_u32, uint32_t, uint32_t, __builtin_bswap32)
DECODER(decode_swapped_u64, uint64_t, uint64_t, __builtin_bswap64)
#undef DECODER

/* Counters of the machine's own width and order are one memcpy; all others take a loop that the
 * compiler makes a vector of, since nothing in it depends on the data. Hosts are little-endian. */
static void reading_decode_counters(void *to, const uint8_t *from, size_t n, unsigned width,
                                    bool big_endian)
{
    if (width == 1)
        decode_u8(to, from, n);
    else if (!big_endian)
        memcpy(to, from, n * width);
    else if (width == 2)
        decode_swapped_u16(to, from, n);
    else if (width == 4)
        decode_swapped_u32(to, from, n);
    else
        decode_swapped_u64(to, from, n);
}

bool reading_bins(struct reading *r, const struct cursor *where, struct histogram *h,
                  unsigned width)
{
    size_t left = cursor_left(&r->in) / width;
    if (!r->out)
        reading_weigh_histogram(r, h);
    if (left < h->bins)
        return reading_fail(r, where, READ_SHORT_BINS, left, h->bins,
                            "histogram claims %" PRIu32 " bins, the file ends after %zu of them",
                            h->bins, left);
    const uint8_t *from = cursor_take(&r->in, (size_t)h->bins * width);
    if (!r->out)
        return true;
    h->width = (uint8_t)(width < 2 ? 2 : width);
    histogram_alloc(h);
    if (h->bins)
        reading_decode_counters(h->counters, from, h->bins, width, r->in.big_endian);
    reading_note_run(r, where, RECORD_HISTOGRAM, r->out->histograms.len, h->bins);
    vec_push(&r->out->histograms, *h);
    r->out->histogram_records++;
    reading_hand_over(r, RECORD_HISTOGRAM);
    return true;
}

/* low, high | bins | rate | dimension, 15 bytes of text | its abbreviation. The text shows a right
 * layout: shifted by one word, there is no text in its place. */
bool reading_histogram(struct reading *r, const struct cursor *where)
{
    struct cursor *in = &r->in;
    struct histogram h = {.low = cursor_word(in), .high = cursor_word(in)};
    h.bins = cursor_u32(in);
    h.rate = cursor_u32(in);
    const uint8_t *dimension = cursor_take(in, GMON_OUT_DIMENSION_BYTES);
    h.abbreviation = (char)cursor_u8(in);
    if (in->failed)
        return reading_fail(r, where, READ_SHORT_HISTOGRAM, 0, 0,
                            "the file ends within the header of a histogram");
    /* Numbers can be odd in the right layout, too. This field shows where it stands. */
    if (!r->out && !reading_is_text_field(dimension, GMON_OUT_DIMENSION_BYTES))
        return reading_fail(r, where, READ_SHORT_HISTOGRAM, 0, 0, "no dimension");
    strncpy(h.dimension, (const char *)dimension, GMON_OUT_DIMENSION_BYTES);
    return reading_bins(r, where, &h, 2);
}

/* --- arcs and blocks ------------------------------------------------------------------------- */

/* Bytes of one arc, its tag included, with words of 4 or 8 bytes. --- arcs
 * ------------------------------------------------------------------------------------ */
static size_t arc_bytes(struct arc_layout layout, unsigned word)
{
    return layout.is_tagged + 2 * word + (layout.has_wide_count ? word : 4);
}

/* Becomes a load, and a swap where the order asks for one: both arguments are constants where this
 * is inlined. */
static inline __attribute__((always_inline)) uint64_t
reading_unsigned_at(const uint8_t *p, unsigned bytes, bool big_endian)
{
    return bytes == 4 ? bytes_u32(p, big_endian) : bytes_u64(p, big_endian);
}

/* Inlined once for each layout, so that the loop has no branch on it. Stops at the first record
 * whose tag is not an arc's, and returns how many there were. The caller has checked that `max`
 * whole records are there. */
static inline __attribute__((always_inline)) size_t
reading_decode_arcs_as(struct arc *to, const uint8_t *from, size_t max, unsigned tag, unsigned word,
                       unsigned count, bool big_endian)
{
    size_t n = 0, stride = tag + 2 * word + count;
    for (; n < max && (!tag || *from == GMON_OUT_TAG_ARC); n++, from += stride) {
        to[n].from = reading_unsigned_at(from + tag, word, big_endian);
        to[n].self = reading_unsigned_at(from + tag + word, word, big_endian);
        to[n].count = reading_unsigned_at(from + tag + 2 * word, count, big_endian);
    }
    return n;
}

/* Picks the copy of the loop: one for each layout that is common; rare ones share the general
 * one. */
static size_t reading_decode_arcs(struct arc *to, const uint8_t *from, size_t max,
                                  struct arc_layout layout, unsigned word, bool big_endian)
{
    unsigned count = layout.has_wide_count ? word : 4;
    bool is_usual = layout.is_tagged && count == 4; /* GNU's, of 32 or 64 bits */
    if (is_usual && word == 4)
        return big_endian ? reading_decode_arcs_as(to, from, max, 1, 4, 4, true)
                          : reading_decode_arcs_as(to, from, max, 1, 4, 4, false);
    if (is_usual && word == 8)
        return big_endian ? reading_decode_arcs_as(to, from, max, 1, 8, 4, true)
                          : reading_decode_arcs_as(to, from, max, 1, 8, 4, false);
    return reading_decode_arcs_as(to, from, max, layout.is_tagged, word, count, big_endian);
}

/* A trial looks at all tags, but learns nothing more from addresses after some hundred. */
static size_t reading_weigh_arcs(struct reading *r, struct arc_layout layout, size_t max)
{
    enum { ENOUGH = 256 };
    struct arc some[ENOUGH];
    size_t stride = arc_bytes(layout, r->in.word);
    size_t n = reading_decode_arcs(some, r->in.at, max < ENOUGH ? max : ENOUGH, layout, r->in.word,
                                   r->in.big_endian);
    for (size_t i = 0; i < n; i++) {
        reading_see_address(r, some[i].from);
        reading_see_address(r, some[i].self);
    }
    if (n < ENOUGH || !layout.is_tagged)
        return n < ENOUGH ? n : max;
    while (n < max && r->in.at[n * stride] == GMON_OUT_TAG_ARC)
        n++;
    return n;
}

/* Of shared objects' profiles, whose addresses count from the object's start. An unknown caller
 * stays 0. */
static void reading_to_absolute(const struct reading *r, struct arc *arcs, size_t len)
{
    uint64_t mask = r->in.word == 4 ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < len; i++) {
        arcs[i].from = arcs[i].from ? (arcs[i].from + r->arc_base) & mask : 0;
        arcs[i].self = (arcs[i].self + r->arc_base) & mask;
    }
}

/* Arcs that follow each other, up to `max` and to what the bytes that are left can hold: so the
 * list is grown once, by a number that the file cannot make up. */
static size_t reading_read_some_arcs(struct reading *r, struct arc_layout layout, size_t max)
{
    struct cursor where = r->in;
    size_t stride = arc_bytes(layout, r->in.word), n;
    max = cursor_left(&r->in) / stride < max ? cursor_left(&r->in) / stride : max;
    if (!max)
        return 0;
    if (r->out) {
        struct profile *out = r->out;
        size_t first = out->arcs.len;
        vec_reserve(&out->arcs, first + max);
        n = reading_decode_arcs(out->arcs.at + first, r->in.at, max, layout, r->in.word,
                                r->in.big_endian);
        out->arcs.len += n;
        if (r->arc_base)
            reading_to_absolute(r, out->arcs.at + first, n);
        out->arc_records += n;
        reading_note_run(r, &where, RECORD_ARC, first, n);
    } else {
        n = reading_weigh_arcs(r, layout, max);
    }
    r->in.at += n * stride;
    return n;
}

/* With a sink, a batch at a time. A batch that is not full is the last. */
size_t reading_arcs(struct reading *r, struct arc_layout layout, size_t max)
{
    enum { BATCH = 4096 };
    size_t all = 0, n;
    if (!r->out || !r->sink)
        return reading_read_some_arcs(r, layout, max);
    do {
        n = reading_read_some_arcs(r, layout, max - all < BATCH ? max - all : BATCH);
        all += n;
        if (n)
            reading_hand_over(r, RECORD_ARC);
    } while (n == BATCH);
    return all;
}

void reading_block(struct reading *r, uint64_t address, uint64_t count)
{
    reading_see_address(r, address);
    if (r->out)
        vec_push(&r->out->blocks, ((struct block){.address = address, .count = count}));
    if (r->out)
        reading_hand_over(r, RECORD_BLOCKS);
}

/* --- trials ---------------------------------------------------------------------------------- */

/* What a walk under one layout has found; is_clean: it came to the end of the file. */
struct trial {
    struct reading r;
    bool is_clean;
};

/* How far apart the addresses are; a layout under which none was reached knows nothing. */
static uint64_t reading_spread(const struct reading *r)
{
    return r->highest ? r->highest - r->lowest : UINT64_MAX;
}

/* Negative if `a` explains the bytes better; 0 if nothing speaks for either. First whether it
 * came to the end, then how far it came, then how odd it was, then how close the addresses lie:
 * each is asked only where the ones before say the same. */
static int reading_compare_trials(const struct trial *a, const struct trial *b)
{
    if (a->is_clean != b->is_clean)
        return a->is_clean ? -1 : 1;
    if (!a->is_clean && a->r.in.at != b->r.in.at)
        return a->r.in.at > b->r.in.at ? -1 : 1;
    if (a->r.odd != b->r.odd)
        return a->r.odd < b->r.odd ? -1 : 1;
    return (reading_spread(&a->r) > reading_spread(&b->r)) -
           (reading_spread(&a->r) < reading_spread(&b->r));
}

/* Layouts by number: 0 is 64-bit little-endian, 1 is 32-bit little-endian, 2 and 3 are the same of
 * big-endian machines. */
bool reading_layout(struct cursor *in, unsigned i, enum byte_order order,
                    const struct format_hint *hint)
{
    order = hint->order ? hint->order : order;
    in->word = i & 1 ? 4 : 8;
    in->big_endian = i >> 1;
    return (!hint->word || hint->word == in->word) &&
           (!order || (order == ORDER_BIG) == in->big_endian);
}

/* The best of the layouts that are in question. The likelier come first and win a tie; *is_tie says
 * that there was one between two that read the file cleanly and saw an address at all. A tie with
 * a trial that is then beaten by a later one does not count. */
static struct trial reading_best_trial(struct cursor in, enum byte_order order,
                                       const struct format_hint *hint, reading_walk *walk,
                                       bool *is_tie)
{
    struct trial best = {0};
    *is_tie = false;
    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct trial t = {.r = {.in = in, .lowest = UINT64_MAX, .bsd_header = hint->bsd_header}};
        if (!reading_layout(&t.r.in, i, order, hint))
            continue;
        t.is_clean = walk(&t.r);
        int better = best.r.in.word ? reading_compare_trials(&t, &best) : -1;
        *is_tie = better ? *is_tie && better > 0 : t.is_clean && t.r.highest;
        if (better < 0)
            best = t;
    }
    return best;
}

bool reading_plausible(struct cursor in, const struct format_hint *hint, reading_walk *walk)
{
    bool is_tie;
    struct trial best = reading_best_trial(in, ORDER_UNKNOWN, hint, walk, &is_tie);
    return best.is_clean && !best.r.odd;
}

/* Whether there is one layout left, so that no trial is needed. */
static bool reading_is_settled(enum byte_order order, const struct format_hint *hint)
{
    return hint->word && (hint->order || order);
}

bool reading_run(struct cursor in, enum byte_order order, const struct format_hint *hint,
                 reading_walk *walk, struct profile *out, struct err *e)
{
    bool is_tie = false;
    in.word = hint->word;
    in.big_endian = (hint->order ? hint->order : order) == ORDER_BIG;
    if (!reading_is_settled(order, hint)) {
        struct cursor best = reading_best_trial(in, order, hint, walk, &is_tie).r.in;
        in.word = best.word;
        in.big_endian = best.big_endian;
    }
    if (is_tie) {
        out->failure.what = READ_AMBIGUOUS;
        return err_in(e, in.name,
                      "its records make as much sense with either pointer size or byte order; say "
                      "which with --word and --endian");
    }
    struct reading r = {.in = in,
                        .out = out,
                        .e = e,
                        .lowest = UINT64_MAX,
                        .sink = hint->sink,
                        .bsd_header = hint->bsd_header,
                        .default_rate = hint->default_rate ? hint->default_rate : 100};
    out->word = in.word;
    out->big_endian = in.big_endian;
    bool ok = walk(&r);
    profile_sum_histograms(out);
    return ok;
}

/* ---- Encoding, and saying no before anything is encoded. */

/* A profile whose repeated records would take more is an accident, not a measurement. */
static const uint64_t MOST_BYTES = UINT64_C(1) << 32;

uint64_t writing_part(uint64_t left, unsigned bytes)
{
    uint64_t most = bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    return left < most ? left : most;
}

/* Records of `bytes` wide fields that a count takes. 0 takes one: that the arc is known says
 * something even if it was not counted. */
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

/* Dimension and rate must be what a reader of the dialect will take for granted where it has no
 * field for them. */
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

/* A bin above 65535 needs several histogram records, which a format that has but one does not
 * allow. */
static bool counters_fit(const struct histogram *h, const struct writing_limits *limits,
                         struct err *e)
{
    uint64_t peak = histogram_peak(h);
    return peak <= UINT16_MAX || !limits->has_one_histogram || limits->has_wide_counters ||
           err_set(e, "%s holds 65535 samples a bin; one here has %" PRIu64 " (--to gmon can)",
                   limits->name, peak);
}

/* How large the file will be, roughly, or UINT64_MAX: counts near 2^64 in fields of 16 or 32 bits
 * would take billions of records. */
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

/* Pass 0 holds the first 65535 of each bin, pass 1 the next ones, and so on; with wider fields
 * there is one pass. Equal widths on a little-endian target are written as they lie in memory. */
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

/* 0 stands for an unknown caller and stays 0. */
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
