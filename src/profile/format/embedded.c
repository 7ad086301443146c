/* Memory images of the embedded recorder: one for each core, found in what a debugger fetched or a
 * program sent. The bytes: docs/formats/embedded.md.
 *
 *      head | histogram counters | slots of the table of arcs | blocks
 *
 * The head says how large the parts are; it is checked against its own sum and against the bytes
 * that there are before anything is believed. The magic alone is no image: it also stands in the
 * recorder's code, so that a dump of all memory has it twice. Arcs lie in an open-addressing table
 * that another core, or an interrupt, may have been changing: a slot counts if its key is complete.
 * Cores are read one after the other, since each says how many there are; one that is missing or
 * there twice is refused.
 *
 *     CLAIMED: from = 1, self, count     a core is between taking the slot and naming its caller
 *     used:    from > 1                  counts of it may still grow
 *     free:    from = 0
 *
 * Cost: linear in the image, and a search for the magic in what lies before it. Refused: heads
 * whose sum is wrong or whose parts lie outside of the image, counts of windows or cores beyond
 * what the recorder can be built with. Source: include/monarc/embedded_blob.h, which the
 * recorder is compiled with. */
#include "profile/format/embedded.h"

#include "monarc/embedded_blob.h"

#include <inttypes.h>

enum {
    HEAD_BYTES = MONARC_BLOB_HEAD_WORDS * 4,
    MAGIC_BYTES = 8,
    MOST_WINDOWS = 64,
    MOST_CORES = 256,
    FIXED_WIDE = MONARC_BLOB_FIRST_WINDOW, /* words of P bytes before the windows */
    CLAIMED = 1                            /* `from` of a slot that is being filled in */
};

/* The head as it is read: words by number, then where the words of P bytes are. */
struct head {
    uint32_t word[MONARC_BLOB_HEAD_WORDS];
    struct cursor wide; /* at the first of them */
    struct cursor all;  /* the whole image */
};

/* Whether the head's order mark reads right in this byte order. */
static bool embedded_has_order(const uint8_t *at, bool big_endian)
{
    return bytes_u32(at + MONARC_BLOB_BYTE_ORDER * 4, big_endian) == MONARC_BLOB_ORDER;
}

/* The magic alone also stands in the recorder's code; what follows it there is no order mark. */
bool embedded_find(struct cursor *in)
{
    for (;;) {
        const uint8_t *at = memmem(in->at, cursor_left(in), MONARC_BLOB_MAGIC, MAGIC_BYTES);
        if (!at || (size_t)(in->end - at) < HEAD_BYTES)
            return false;
        in->at = at;
        if (embedded_has_order(at, false) || embedded_has_order(at, true))
            return true;
        in->at++;
    }
}

/* The word of P bytes number `i` after the head; 0 if the image ends before it. */
static uint64_t embedded_wide_at(const struct head *h, unsigned i)
{
    struct cursor c = h->wide;
    cursor_take(&c, (size_t)i * c.word);
    return cursor_word(&c);
}

/* The sum of what stays as it is while recording is 0. */
static bool embedded_is_whole(const struct head *h)
{
    struct cursor wide = h->wide;
    uint32_t sum = 0;
    unsigned halves = (FIXED_WIDE + 2 * h->word[MONARC_BLOB_WINDOWS_MAX]) * wide.word / 4;
    for (unsigned i = 0; i <= MONARC_BLOB_PROBES; i++)
        sum += h->word[i];
    for (unsigned i = 0; i < halves; i++)
        sum += cursor_u32(&wide);
    return !wide.failed && !sum;
}

/* Whether `n` items of `each` bytes fit into the image from offset `at`; cannot overflow. */
static bool embedded_has_room(const struct head *h, uint32_t at, uint32_t n, size_t each)
{
    size_t size = h->word[MONARC_BLOB_SIZE];
    return at <= size && n <= (size - at) / each;
}

/* Whether the parts lie within the image and the windows make as many bins as the head says. After
 * this no part is checked again. */
static bool embedded_fits(const struct head *h)
{
    const uint32_t *w = h->word;
    uint64_t bins = 0;
    if (w[MONARC_BLOB_WINDOWS] > w[MONARC_BLOB_WINDOWS_MAX] || w[MONARC_BLOB_SHIFT] > 31 ||
        w[MONARC_BLOB_STACK_SHIFT] > 31 || w[MONARC_BLOB_CORES] > MOST_CORES ||
        w[MONARC_BLOB_CORE] >= w[MONARC_BLOB_CORES])
        return false;
    for (unsigned i = 0; i < w[MONARC_BLOB_WINDOWS]; i++) {
        uint64_t low = embedded_wide_at(h, FIXED_WIDE + 2 * i),
                 high = embedded_wide_at(h, FIXED_WIDE + 2 * i + 1);
        if (high < low || high - low > UINT32_MAX)
            return false;
        bins += (high - low) >> w[MONARC_BLOB_SHIFT];
    }
    return bins == w[MONARC_BLOB_BINS] &&
           embedded_has_room(h, w[MONARC_BLOB_BINS_AT], w[MONARC_BLOB_BINS], 2) &&
           embedded_has_room(h, w[MONARC_BLOB_STACKS_AT], w[MONARC_BLOB_STACKS], 4) &&
           embedded_has_room(h, w[MONARC_BLOB_ARCS_AT], w[MONARC_BLOB_ARCS], 3u * h->wide.word);
}

/* Reads the head at `in` in its own byte order and word size, and checks all of it. h->all spans
 * the image on success, so that no part can reach into what follows it. */
static bool embedded_read_head(const struct cursor *in, struct head *h, struct err *e)
{
    struct cursor c = *in;
    if (cursor_left(&c) < HEAD_BYTES || memcmp(c.at, MONARC_BLOB_MAGIC, MAGIC_BYTES))
        return err_at(e, in, "expected a memory image of the embedded recorder");
    c.big_endian = embedded_has_order(c.at, true);
    for (unsigned i = 0; i < MONARC_BLOB_HEAD_WORDS; i++)
        h->word[i] = cursor_u32(&c);
    uint32_t size = h->word[MONARC_BLOB_SIZE], word = h->word[MONARC_BLOB_WORD];
    if (h->word[MONARC_BLOB_BYTE_ORDER] != MONARC_BLOB_ORDER || (word != 4 && word != 8) ||
        h->word[MONARC_BLOB_WINDOWS_MAX] > MOST_WINDOWS)
        return err_at(e, in, "the header of this memory image is damaged");
    c.word = (uint8_t)word;
    h->wide = c;
    if (!embedded_is_whole(h))
        return err_at(e, in, "the header of this memory image is damaged: its checksum is wrong");
    if (size > cursor_left(in))
        return err_at(e, in, "this memory image has %" PRIu32 " bytes, %zu remain", size,
                      cursor_left(in));
    h->all = *in;
    h->all.end = in->at + size;
    h->all.big_endian = c.big_endian;
    h->all.word = c.word;
    return embedded_fits(h) || err_at(e, in, "the header of this memory image contradicts itself");
}

/* A cursor over the image from the part whose offset is in that word of the head. */
static struct cursor embedded_part_at(const struct head *h, unsigned offset_word)
{
    struct cursor c = h->all;
    cursor_take(&c, h->word[offset_word]);
    return c;
}

static void embedded_set_dimension(struct histogram *h, const char *name, char abbreviation,
                                   uint32_t rate)
{
    strcpy(h->dimension, name);
    h->abbreviation = abbreviation;
    h->rate = rate;
}

/* Without a rate, samples are all that is known: no seconds are made of them. */
static void embedded_read_bins(const struct head *h, struct profile *out)
{
    struct cursor bins = embedded_part_at(h, MONARC_BLOB_BINS_AT);
    for (unsigned i = 0; i < h->word[MONARC_BLOB_WINDOWS]; i++) {
        struct histogram window = {.low = embedded_wide_at(h, FIXED_WIDE + 2 * i),
                                   .high = embedded_wide_at(h, FIXED_WIDE + 2 * i + 1)};
        if (h->word[MONARC_BLOB_RATE])
            embedded_set_dimension(&window, "seconds", 's', h->word[MONARC_BLOB_RATE]);
        else
            embedded_set_dimension(&window, "samples", 'n', 1);
        window.bins = (uint32_t)((window.high - window.low) >> h->word[MONARC_BLOB_SHIFT]);
        if (!window.bins)
            continue;
        histogram_alloc(&window);
        for (uint32_t k = 0; k < window.bins; k++)
            histogram_add(&window, k, cursor_u16(&bins));
        vec_push(&out->histograms, window);
        out->histogram_records++;
    }
}

/* Each bin has the sum of the depths; with the number of samples as rate, shown values are shares
 * in the mean depth. */
static void embedded_read_stacks(const struct head *h, struct profile *out)
{
    struct cursor sums = embedded_part_at(h, MONARC_BLOB_STACKS_AT);
    struct histogram all = {.low = embedded_wide_at(h, FIXED_WIDE),
                            .bins = h->word[MONARC_BLOB_STACKS]};
    if (!all.bins || !h->word[MONARC_BLOB_SAMPLES_STACK])
        return;
    all.high = all.low + ((uint64_t)all.bins << h->word[MONARC_BLOB_STACK_SHIFT]);
    embedded_set_dimension(&all, "stack bytes", 'B', h->word[MONARC_BLOB_SAMPLES_STACK]);
    histogram_alloc(&all);
    for (uint32_t i = 0; i < all.bins; i++)
        histogram_add(&all, i, cursor_u32(&sums));
    vec_push(&out->histograms, all);
    out->histogram_records++;
}

/* Slots that are taken, one that is being filled included. */
static uint32_t embedded_read_arcs(const struct head *h, struct profile *out)
{
    struct cursor c = embedded_part_at(h, MONARC_BLOB_ARCS_AT);
    uint64_t mask =
        h->word[MONARC_BLOB_FLAGS] & MONARC_BLOB_CLEAR_BIT_0 ? ~UINT64_C(1) : ~UINT64_C(0);
    uint32_t used = 0;
    for (uint32_t i = 0; i < h->word[MONARC_BLOB_ARCS]; i++) {
        uint64_t from = cursor_word(&c), self = cursor_word(&c), count = cursor_word(&c);
        used += from != 0;
        if (from <= CLAIMED)
            continue;
        vec_push(&out->arcs, ((struct arc){from & mask, self & mask, count}));
        out->arc_records++;
    }
    return used;
}

/* The head's entries for one core, for reports: what was lost, how full its table was, how deep its
 * stack went. */
static struct embedded_core embedded_core_of(const struct head *h)
{
    const uint32_t *w = h->word;
    unsigned behind = FIXED_WIDE + 2 * w[MONARC_BLOB_WINDOWS_MAX];
    return (struct embedded_core){
        .word = h->wide.word,
        .big_endian = h->wide.big_endian,
        .has_text_sum = w[MONARC_BLOB_FLAGS] & MONARC_BLOB_HAS_TEXT_SUM,
        .core = w[MONARC_BLOB_CORE],
        .cores = w[MONARC_BLOB_CORES],
        .size_bytes = w[MONARC_BLOB_SIZE],
        .rate = w[MONARC_BLOB_RATE],
        .text_sum = w[MONARC_BLOB_TEXT_SUM],
        .text_low = embedded_wide_at(h, MONARC_BLOB_TEXT_LOW),
        .text_high = embedded_wide_at(h, MONARC_BLOB_TEXT_HIGH),
        .bytes_per_bin = UINT32_C(1) << w[MONARC_BLOB_SHIFT],
        .slots = w[MONARC_BLOB_ARCS],
        .probes = w[MONARC_BLOB_PROBES],
        .lost_calls = w[MONARC_BLOB_LOST],
        .nested_calls = w[MONARC_BLOB_NESTED],
        .outside_samples = w[MONARC_BLOB_OUTSIDE],
        .saturated_samples = w[MONARC_BLOB_SATURATED],
        .stack_deepest = embedded_wide_at(h, behind + MONARC_BLOB_DEEPEST),
        .stack_deepest_pc = embedded_wide_at(h, behind + MONARC_BLOB_DEEPEST_PC),
    };
}

/* Images are no gmon.out, but become one when they are written: GNU's, with the target's words. */
static void embedded_take_layout(struct profile *p, const struct head *h)
{
    p->format = PROFILE_GNU;
    p->version = 1;
    p->word = h->wide.word;
    p->big_endian = h->wide.big_endian;
}

/* Reads the image at `in` and adds it to *out. Fails, with *out as it was, if its head is damaged
 * or the bytes end before it does. Both profiles are complete before either is merged into *out. */
static bool embedded_read(struct cursor *in, struct embedded *out, struct err *e)
{
    struct head h = {0};
    struct profile time = {0}, stacks = {0};
    if (!embedded_read_head(in, &h, e))
        return false;
    struct embedded_core core = embedded_core_of(&h);
    embedded_take_layout(&time, &h);
    embedded_take_layout(&stacks, &h);
    embedded_read_bins(&h, &time);
    core.used = embedded_read_arcs(&h, &time);
    embedded_read_stacks(&h, &stacks);
    bool ok = profile_merge(&out->time, &time, e) && profile_merge(&out->stacks, &stacks, e);
    profile_deinit(&time);
    profile_deinit(&stacks);
    if (!ok)
        return false;
    vec_push(&out->cores, core);
    in->at = h.all.end;
    return true;
}

/* The first core says how many there are; each must say the same, and come in its place. */
bool embedded_read_all(struct cursor *in, struct embedded *out, struct err *e)
{
    size_t first = out->cores.len;
    do {
        struct cursor where = *in;
        if (!embedded_read(in, out, e))
            return false;
        const struct embedded_core *c = &out->cores.at[out->cores.len - 1];
        if (c->core != out->cores.len - 1 - first || c->cores != out->cores.at[first].cores)
            return err_at(e, &where, "expected the memory of core %zu, this is of core %" PRIu32,
                          out->cores.len - 1 - first, c->core);
    } while (out->cores.len - first < out->cores.at[first].cores);
    return true;
}
