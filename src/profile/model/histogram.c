/* Counters that are as wide as their largest value needs: 16, 32 or 64 bits.
 *
 * Most profiles never leave 16 bits, so summing two is a vector addition over half a cache line a
 * dozen bins. A block of bins is added only after it is known not to overflow; the first block that
 * would makes all counters wider. */
#include "profile/model/histogram.h"

#include <endian.h>
#include <string.h>

enum { BLOCK = 4096 };

void histogram_alloc(struct histogram *h)
{
    if (!h->width)
        h->width = 2;
    h->counters = memory_zeroed(h->bins, h->width);
    memory_prefer_large_pages(h->counters, (size_t)h->bins * h->width);
}

void histogram_deinit(struct histogram *h)
{
    memory_free(h->counters);
    h->counters = NULL;
}

uint64_t histogram_get(const struct histogram *h, uint32_t i)
{
    switch (h->width) {
    case 2: return ((const uint16_t *)h->counters)[i];
    case 4: return ((const uint32_t *)h->counters)[i];
    default: return ((const uint64_t *)h->counters)[i];
    }
}

/* Eight bytes at a time: where a counter stands in them that is not 0, the lowest bit that is set
 * tells. */
uint32_t histogram_next(const struct histogram *h, uint32_t i)
{
    const uint8_t *counters = h->counters;
    uint32_t in_word = 8u / h->width;
    for (; i < h->bins && h->bins - i >= in_word; i += in_word) {
        uint64_t word;
        memcpy(&word, counters + (size_t)i * h->width, sizeof word);
        if (word)
            return i + (uint32_t)__builtin_ctzll(le64toh(word)) / (8u * h->width);
    }
    while (i < h->bins && !histogram_get(h, i))
        i++;
    return i;
}

static void histogram_set(struct histogram *h, uint32_t i, uint64_t value)
{
    switch (h->width) {
    case 2: ((uint16_t *)h->counters)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)h->counters)[i] = (uint32_t)value; break;
    default: ((uint64_t *)h->counters)[i] = value;
    }
}

static uint8_t width_for(uint64_t value)
{
    return value <= UINT16_MAX ? 2 : value <= UINT32_MAX ? 4 : 8;
}

void histogram_widen(struct histogram *h, uint8_t width)
{
    if (width <= h->width)
        return;
    struct histogram wide = *h;
    wide.width = width;
    histogram_alloc(&wide);
    for (uint32_t i = 0; i < h->bins; i++)
        histogram_set(&wide, i, histogram_get(h, i));
    histogram_deinit(h);
    *h = wide;
}

void histogram_add(struct histogram *h, uint32_t i, uint64_t count)
{
    uint64_t sum = add_saturating(histogram_get(h, i), count);
    histogram_widen(h, width_for(sum));
    histogram_set(h, i, sum);
}

/* One adder for each pair of widths: false, and nothing changed, if a sum does not fit. */
#define ADDER(INTO, FROM)                                                                        \
    static bool add_##FROM##_to_##INTO(INTO *restrict into, const FROM *restrict from, size_t n) \
    {                                                                                            \
        INTO overflow = 0;                                                                       \
        for (size_t i = 0; i < n; i++)                                                           \
            overflow |= (INTO)(into[i] + from[i]) < into[i];                                     \
        for (size_t i = 0; !overflow && i < n; i++)                                              \
            into[i] = (INTO)(into[i] + from[i]);                                                 \
        return !overflow;                                                                        \
    }
ADDER(uint16_t, uint16_t)
ADDER(uint32_t, uint16_t)
ADDER(uint32_t, uint32_t)
ADDER(uint64_t, uint16_t)
ADDER(uint64_t, uint32_t)
ADDER(uint64_t, uint64_t)
#undef ADDER

static bool add_block(void *into, unsigned into_width, const void *from, unsigned from_width,
                      size_t n)
{
    switch (into_width * 10 + from_width) {
    case 22: return add_uint16_t_to_uint16_t(into, from, n);
    case 42: return add_uint16_t_to_uint32_t(into, from, n);
    case 44: return add_uint32_t_to_uint32_t(into, from, n);
    case 82: return add_uint16_t_to_uint64_t(into, from, n);
    case 84: return add_uint32_t_to_uint64_t(into, from, n);
    default: return add_uint64_t_to_uint64_t(into, from, n);
    }
}

static void add_one_by_one(struct histogram *into, const struct histogram *from, uint32_t first,
                           uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        histogram_add(into, i, histogram_get(from, i));
}

void histogram_add_all(struct histogram *into, const struct histogram *from)
{
    histogram_widen(into, from->width);
    for (uint32_t i = 0, n; i < into->bins; i += n) {
        n = into->bins - i < BLOCK ? into->bins - i : BLOCK;
        if (!add_block((char *)into->counters + (size_t)i * into->width, into->width,
                       (const char *)from->counters + (size_t)i * from->width, from->width, n))
            add_one_by_one(into, from, i, n);
    }
}

uint64_t histogram_total(const struct histogram *h)
{
    uint64_t total = 0;
    if (h->width == 2) /* cannot overflow; vectorised */
        for (uint32_t i = 0; i < h->bins; i++)
            total += ((const uint16_t *)h->counters)[i];
    else
        for (uint32_t i = 0; i < h->bins; i++)
            total = add_saturating(total, histogram_get(h, i));
    return total;
}

uint64_t histogram_peak(const struct histogram *h)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < h->bins; i++) {
        uint64_t count = histogram_get(h, i);
        peak = count > peak ? count : peak;
    }
    return peak;
}

#define ORDER(a, b) ((a) > (b)) - ((a) < (b))

int histogram_compare(const struct histogram *a, const struct histogram *b)
{
    int order = ORDER(a->low, b->low);
    order = order ? order : ORDER(a->high, b->high);
    order = order ? order : ORDER(a->bins, b->bins);
    order = order ? order : ORDER(a->rate, b->rate);
    order = order ? order : memcmp(a->dimension, b->dimension, sizeof a->dimension);
    return order ? order : ORDER(a->abbreviation, b->abbreviation);
}
