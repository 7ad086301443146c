/* A profile's memory, its totals, and the normal form in which two can be compared; its histograms;
 * the names of its blocks; what the embedded recorder adds.
 *
 * Arcs and blocks are arrays of 64-bit words without padding, key first and count last, so that one
 * loop sorts or sums both. A profile keeps the order of its file until profile_normalize() sorts
 * it: reports that print records in file order, as GNU gprof does, depend on that. All sums
 * saturate: an unknown count is the largest number, never a small one. */
#include "profile/model/profile.h"

#include "base/bytes.h"
#include "base/sort.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static void block_names_deinit(struct block_names *n)
{
    intern_deinit(&n->texts);
    map_deinit(&n->by_address);
    vec_free(&n->rows);
}

/* Arrays keep their room: a command that reads hundreds of files allocates for the largest once.
 * Everything that is not named here is zeroed with the rest. */
void profile_clear(struct profile *p)
{
    struct profile emptied = {0};
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_deinit(&p->histograms.at[i]);
    block_names_deinit(&p->block_names);
    p->histograms.len = p->arcs.len = p->blocks.len = p->runs.len = 0;
    memcpy(&emptied.histograms, &p->histograms, sizeof p->histograms);
    memcpy(&emptied.arcs, &p->arcs, sizeof p->arcs);
    memcpy(&emptied.blocks, &p->blocks, sizeof p->blocks);
    memcpy(&emptied.runs, &p->runs, sizeof p->runs);
    *p = emptied;
}

void profile_deinit(struct profile *p)
{
    profile_clear(p);
    vec_free(&p->histograms);
    vec_free(&p->arcs);
    vec_free(&p->blocks);
    vec_free(&p->runs);
}

uint64_t profile_samples(const struct profile *p)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        total = add_saturating(total, histogram_total(&p->histograms.at[i]));
    return total;
}

/* Merging writes a range once more for what is above 65535 of a bin: counters of such a range do
 * not end there. Only files of few ranges are searched for them, as recorders write one. */
static bool profile_repeats(const struct profile *p, size_t histogram)
{
    enum { MOST = 64 };
    bool is_repeated = false;
    for (size_t i = 0; p->histograms.len <= MOST && i < p->histograms.len; i++)
        is_repeated |= i != histogram &&
                       !histogram_compare(&p->histograms.at[i], &p->histograms.at[histogram]);
    return is_repeated;
}

uint64_t profile_full_bins(const struct profile *p)
{
    uint64_t full = p->full_bins;
    for (size_t i = 0; !p->is_merged && i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        const uint16_t *counts = h->width == sizeof *counts ? h->counters : NULL;
        uint64_t bins = 0;
        for (uint32_t k = 0; counts && k < h->bins;) {
            uint32_t end = h->bins - k > UINT16_MAX ? k + UINT16_MAX : h->bins;
            uint16_t some = 0; /* as narrow as the counts: the compiler takes eight at once */
            for (; k < end; k++)
                some += counts[k] == UINT16_MAX;
            bins += some;
        }
        full += bins && !profile_repeats(p, i) ? bins : 0;
    }
    return full;
}

uint64_t profile_calls(const struct profile *p)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->arcs.len; i++)
        total = add_saturating(total, p->arcs.at[i].count);
    return total;
}

bool profile_fits_32(const struct profile *p)
{
    uint64_t all = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        all |= p->histograms.at[i].low | p->histograms.at[i].high;
    for (size_t i = 0; i < p->arcs.len; i++)
        all |= p->arcs.at[i].from | p->arcs.at[i].self;
    for (size_t i = 0; i < p->blocks.len; i++)
        all |= p->blocks.at[i].address;
    return all <= UINT32_MAX;
}

/* Dimensions are distinguished by name alone; the abbreviation and the rate must then be the same,
 * or the profile is odd. */
static bool profile_is_of_dimension(const struct histogram *h, const char *dimension)
{
    return !strncmp(h->dimension, dimension, sizeof h->dimension);
}

bool profile_has_dimensions(const struct profile *p)
{
    for (size_t i = 1; i < p->histograms.len; i++)
        if (!profile_is_of_dimension(&p->histograms.at[i], p->histograms.at[0].dimension))
            return true;
    return false;
}

/* Histograms move with their counters; nothing is copied. */
void profile_split_dimension(struct profile *p, struct profile *rest)
{
    struct histogram *all = p->histograms.at;
    size_t kept = 0;
    if (!profile_has_dimensions(p))
        return;
    for (size_t i = 0; i < p->histograms.len; i++)
        if (profile_is_of_dimension(&all[i], all[0].dimension))
            all[kept++] = all[i];
        else
            vec_push(&rest->histograms, all[i]);
    p->histograms.len = kept;
    p->runs.len = 0;
}

/* "no histogram counts X; there are 'seconds', 'misses'". */
static bool profile_no_such_dimension(const struct profile *p, const char *dimension, struct err *e)
{
    char names[120] = "";
    size_t len = 0;
    for (size_t i = 0; i < p->histograms.len && len < sizeof names; i++) {
        const struct histogram *h = &p->histograms.at[i];
        size_t before = 0;
        while (!profile_is_of_dimension(&p->histograms.at[before], h->dimension))
            before++;
        if (before == i)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s'%.15s'", len ? ", " : "",
                                    h->dimension);
    }
    return err_set(e, "no histogram is of the dimension '%s'; there are %s", dimension, names);
}

bool profile_keep_dimension(struct profile *p, const char *dimension, struct err *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        kept += profile_is_of_dimension(&p->histograms.at[i], dimension);
    if (!kept && p->histograms.len)
        return profile_no_such_dimension(p, dimension, e);
    kept = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        if (profile_is_of_dimension(&p->histograms.at[i], dimension))
            p->histograms.at[kept++] = p->histograms.at[i];
        else
            histogram_deinit(&p->histograms.at[i]);
    p->histograms.len = kept;
    p->runs.len = 0;
    return true;
}

static int profile_compare_histogram_indices(uint32_t left, uint32_t right, const void *context)
{
    const struct histogram *at = context;
    return histogram_compare(&at[left], &at[right]);
}

/* first[i]: the first histogram that compares equal to i. */
static uint32_t *profile_first_appearances(const struct profile *p)
{
    uint32_t n = (uint32_t)p->histograms.len;
    uint32_t *order = memory_resized(NULL, 2 * (size_t)n * sizeof *order);
    uint32_t *first = order + n;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    sort_u32(order, n, profile_compare_histogram_indices, p->histograms.at);
    for (uint32_t i = 0; i < n; i++) {
        bool same =
            i && !profile_compare_histogram_indices(order[i - 1], order[i], p->histograms.at);
        first[order[i]] = same ? first[order[i - 1]] : order[i];
    }
    memmove(order, first, n * sizeof *order);
    return order;
}

/* One sort, then one pass: the number of histograms may be that of pages in a large program. */
void profile_sum_histograms(struct profile *p)
{
    struct histogram *all = p->histograms.at;
    if (p->histograms.len < 2)
        return;
    uint32_t *place = profile_first_appearances(p); /* becomes: where histogram i went */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->histograms.len; i++) {
        if (place[i] == i) {
            all[kept] = all[i];
            place[i] = kept++;
            continue;
        }
        place[i] = place[place[i]];
        histogram_add_all(&all[place[i]], &all[i]);
        histogram_deinit(&all[i]);
    }
    for (size_t i = 0; i < p->runs.len; i++)
        if (p->runs.at[i].kind == RECORD_HISTOGRAM)
            p->runs.at[i].first = place[p->runs.at[i].first];
    p->histograms.len = kept;
    memory_free(place);
}

static int profile_compare_histograms(const void *a, const void *b)
{
    return histogram_compare(a, b);
}

/* Arcs and blocks are rows of words, key first and count last. */
static int profile_compare_words(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int profile_compare_arcs(const void *a, const void *b)
{
    return profile_compare_words(a, b, 2);
}

static int profile_compare_blocks(const void *a, const void *b)
{
    return profile_compare_words(a, b, 1);
}

/* Sums neighbours of equal key among sorted rows; returns how many rows are left. */
static size_t profile_sum_neighbours(uint64_t *rows, size_t len, size_t key_words)
{
    size_t words = key_words + 1, kept = 0;
    for (size_t i = 0; i < len; i++) {
        uint64_t *row = rows + i * words, *last = rows + kept * words - (kept ? words : 0);
        if (kept && !profile_compare_words(last, row, key_words))
            last[key_words] = add_saturating(last[key_words], row[key_words]);
        else
            memmove(rows + kept++ * words, row, words * sizeof *row);
    }
    return kept;
}

/* The normal form: no two records of one key, all in the order of their keys. */
void profile_normalize(struct profile *p)
{
    p->runs.len = 0;
    profile_sum_histograms(p);
    if (p->histograms.len)
        qsort(p->histograms.at, p->histograms.len, sizeof *p->histograms.at,
              profile_compare_histograms);
    if (p->arcs.len)
        qsort(p->arcs.at, p->arcs.len, sizeof *p->arcs.at, profile_compare_arcs);
    if (p->blocks.len)
        qsort(p->blocks.at, p->blocks.len, sizeof *p->blocks.at, profile_compare_blocks);
    p->arcs.len = profile_sum_neighbours((uint64_t *)p->arcs.at, p->arcs.len, 2);
    p->blocks.len = profile_sum_neighbours((uint64_t *)p->blocks.at, p->blocks.len, 1);
}

/* Counters of different width can be equal: only their values count. */
static bool profile_same_histograms(const struct histogram *a, const struct histogram *b)
{
    if (histogram_compare(a, b))
        return false;
    if (a->width == b->width)
        return !memcmp(a->counters, b->counters, (size_t)a->bins * a->width);
    for (uint32_t i = 0; i < a->bins; i++)
        if (histogram_get(a, i) != histogram_get(b, i))
            return false;
    return true;
}

bool profile_same(const struct profile *a, const struct profile *b)
{
    if (a->histograms.len != b->histograms.len || a->arcs.len != b->arcs.len ||
        a->blocks.len != b->blocks.len)
        return false;
    for (size_t i = 0; i < a->histograms.len; i++)
        if (!profile_same_histograms(&a->histograms.at[i], &b->histograms.at[i]))
            return false;
    return (!a->arcs.len || !memcmp(a->arcs.at, b->arcs.at, a->arcs.len * sizeof *a->arcs.at)) &&
           (!a->blocks.len ||
            !memcmp(a->blocks.at, b->blocks.at, a->blocks.len * sizeof *a->blocks.at));
}

/* ---- Counters that are as wide as their largest value needs: 16, 32 or 64 bits.
 *
 * Most profiles never leave 16 bits, so summing two is a vector addition over half a cache line a
 * dozen bins. A block of bins is added only after it is known not to overflow; the first block that
 * would makes all counters wider. */

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
 * decides. */
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

/* The caller has made the counters wide enough. */
static void histogram_set(struct histogram *h, uint32_t i, uint64_t value)
{
    switch (h->width) {
    case 2: ((uint16_t *)h->counters)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)h->counters)[i] = (uint32_t)value; break;
    default: ((uint64_t *)h->counters)[i] = value;
    }
}

/* In a new array: widening in place would overwrite counters that are yet to be read. */
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
    histogram_widen(h, sum <= UINT16_MAX ? 2 : sum <= UINT32_MAX ? 4 : 8);
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

/* A block with a sum that needs wider counters: that sum widens them all. */
static void add_one_by_one(struct histogram *into, const struct histogram *from, uint32_t first,
                           uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        histogram_add(into, i, histogram_get(from, i));
}

/* By blocks that stay in the cache, since each is read twice: once to see whether a sum overflows,
 * once to add. */
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

/* ---- Rows in the order of first sight, found by address. */

static uint32_t number_of(struct block_names *n, const char *text)
{
    return intern(&n->texts, text, strlen(text));
}

void block_names_add(struct block_names *n, uint64_t address, const struct block_name *name)
{
    bool is_new;
    if (!*name->group && !*name->file && !*name->function && !name->line)
        return;
    map_index(&n->by_address, address, 0, n->rows.len, &is_new);
    if (!is_new)
        return;
    struct block_name_row row = {.address = address,
                                 .group = number_of(n, name->group),
                                 .file = number_of(n, name->file),
                                 .function = number_of(n, name->function),
                                 .line = name->line};
    vec_push(&n->rows, row);
}

/* Texts of a row, which live as long as the table. */
static struct block_name name_in(const struct block_names *n, const struct block_name_row *row)
{
    return (struct block_name){.group = intern_text(&n->texts, row->group),
                               .file = intern_text(&n->texts, row->file),
                               .function = intern_text(&n->texts, row->function),
                               .line = row->line};
}

void block_names_add_all(struct block_names *n, const struct block_names *from)
{
    for (size_t i = 0; i < from->rows.len; i++) {
        struct block_name name = name_in(from, &from->rows.at[i]);
        block_names_add(n, from->rows.at[i].address, &name);
    }
}

struct block_name block_names_find(const struct block_names *n, uint64_t address)
{
    const uint32_t *at = n->rows.len ? map_find(&n->by_address, address, 0) : NULL;
    return at ? name_in(n, &n->rows.at[*at]) : (struct block_name){"", "", "", 0};
}

/* ---- Sums over the embedded recorder's reports on itself. */

void embedded_deinit(struct embedded *m)
{
    vec_free(&m->cores);
    profile_deinit(&m->time);
    profile_deinit(&m->stacks);
}

uint64_t embedded_lost_calls(const struct embedded *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->cores.len; i++)
        sum += m->cores.at[i].lost_calls + m->cores.at[i].nested_calls;
    return sum;
}

uint64_t embedded_lost_samples(const struct embedded *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->cores.len; i++)
        sum += m->cores.at[i].outside_samples + m->cores.at[i].saturated_samples;
    return sum;
}

uint32_t embedded_text_sum(uint32_t before, struct bytes text, bool big_endian)
{
    uint32_t sum = before;
    for (size_t i = 0; i + 4 <= text.len; i += 4)
        sum = (sum << 5 | sum >> 27) + bytes_u32(text.at + i, big_endian);
    return sum;
}
