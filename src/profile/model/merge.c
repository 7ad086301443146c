/* Merging: exact sums, the order of first appearance kept.
 *
 * The files of one program list mostly the same arcs in the same order. So the records after the
 * one that matched last are tried first, and the hash table is asked only where the order changes.
 * Arcs and blocks are rows of 64-bit words, key first and count last; one loop serves both.
 *
 * Cost: linear in what is added, and mostly without hashing. The tables have 32-bit slots, at
 * most half of them taken. Refused, before anything is changed: what check_mergeable() refuses,
 * and more rows than 32 bits can number. Nothing can fail after that, so a failed merge leaves
 * the sum as it was. */
#include "profile/model/profile.h"

#include <string.h>

/* A list of arcs or of blocks as words, which can grow: pointers to the list's own fields. */
struct rows {
    uint64_t **at;
    size_t *len, *cap;
    size_t key_words; /* a row has one more: the count */
};

/* Addresses differ in a few low bits: each word is multiplied, and high bits folded down, since the
 * low ones choose the slot. */
static uint64_t merge_hash_row(const uint64_t *row, size_t key_words)
{
    uint64_t h = row[0] * 0x9e3779b97f4a7c15u;
    if (key_words > 1)
        h = (h ^ h >> 32 ^ row[1]) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static inline bool merge_same_key(const uint64_t *a, const uint64_t *b, size_t key_words)
{
    return a[0] == b[0] && (key_words == 1 || a[1] == b[1]);
}

/* The slot of `row`: its position + 1, or the free slot where that belongs. */
static uint32_t *merge_slot_of(const struct merge_index *index, const struct rows *rows,
                               const uint64_t *row)
{
    size_t i = merge_hash_row(row, rows->key_words) & index->mask;
    for (;; i = (i + 1) & index->mask) {
        uint32_t held = index->slots[i];
        if (!held ||
            merge_same_key(*rows->at + (held - 1) * (rows->key_words + 1), row, rows->key_words))
            return &index->slots[i];
    }
}

/* Room for one more row at most half full. */
static void merge_index_room(struct merge_index *index, const struct rows *rows)
{
    if (index->slots && 2 * (index->len + 1) <= index->mask + 1)
        return;
    size_t slots = index->slots ? 2 * (index->mask + 1) : 256;
    memory_free(index->slots);
    index->slots = NULL;
    index->slots = memory_zeroed(slots, sizeof *index->slots);
    index->mask = slots - 1;
    for (size_t i = 0; i < index->len; i++)
        *merge_slot_of(index, rows, *rows->at + i * (rows->key_words + 1)) = (uint32_t)i + 1;
}

/* The position of `row`, appended with a count of 0 if it is new. */
static size_t merge_position_of(struct merge_index *index, const struct rows *rows,
                                const uint64_t *row)
{
    size_t words = rows->key_words + 1;
    merge_index_room(index, rows);
    uint32_t *slot = merge_slot_of(index, rows, row);
    if (!*slot) {
        vec_reserve_bytes((void **)rows->at, rows->cap, *rows->len + 1, words * sizeof *row);
        uint64_t *fresh = *rows->at + *rows->len * words;
        memcpy(fresh, row, rows->key_words * sizeof *row);
        fresh[rows->key_words] = 0;
        *slot = (uint32_t)(index->len = ++*rows->len);
    }
    return *slot - 1;
}

enum { WINDOW = 8, NOWHERE = UINT32_MAX };

/* `row` among the few rows from `first` on, or NOWHERE. */
static inline size_t merge_find_near(const struct rows *rows, size_t first, const uint64_t *row,
                                     size_t key_words)
{
    size_t end = first + WINDOW < *rows->len ? first + WINDOW : *rows->len;
    for (size_t i = first; i < end; i++)
        if (merge_same_key(*rows->at + i * (key_words + 1), row, key_words))
            return i;
    return NOWHERE;
}

/* Some rows are new, some missing: the search goes on near the last match, then near the one before
 * the last jump, and only then asks the table. */
static inline __attribute__((always_inline)) void merge_add_rows(struct merge_index *index,
                                                                 const struct rows *rows,
                                                                 const uint64_t *from, size_t n,
                                                                 const size_t key_words)
{
    size_t words = key_words + 1, next = 0, before_jump = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *row = from + i * words;
        size_t here = merge_find_near(rows, next, row, key_words);
        if (here == NOWHERE)
            here = merge_find_near(rows, before_jump, row, key_words);
        if (here == NOWHERE) {
            here = merge_position_of(index, rows, row);
            before_jump = next;
        }
        uint64_t *count = *rows->at + here * words + key_words;
        *count = add_saturating(*count, row[key_words]);
        next = here + 1;
    }
}

/* --- histograms ------------------------------------------------------------------------------ */

static bool merge_same_ranges(const struct profile *a, const struct profile *b)
{
    if (a->histograms.len != b->histograms.len)
        return false;
    for (size_t i = 0; i < a->histograms.len; i++)
        if (histogram_compare(&a->histograms.at[i], &b->histograms.at[i]))
            return false;
    return true;
}

/* Most files of one program have the same histograms: they are added in place. */
static void merge_add_histograms(struct profile *sum, const struct profile *from)
{
    bool is_same = merge_same_ranges(sum, from);
    for (size_t i = 0; i < from->histograms.len; i++) {
        const struct histogram *h = &from->histograms.at[i];
        if (is_same) {
            histogram_add_all(&sum->histograms.at[i], h);
            continue;
        }
        struct histogram copy = *h;
        histogram_alloc(&copy);
        memcpy(copy.counters, h->counters, (size_t)h->bins * h->width);
        vec_push(&sum->histograms, copy);
    }
    if (!is_same)
        profile_sum_histograms(sum);
}

/* --- merger ---------------------------------------------------------------------------------- */

static bool merge_has_records(const struct profile *p)
{
    return p->histograms.len || p->arcs.len || p->blocks.len;
}

/* An empty sum takes the machine of what is added first; the word sizes of profiles without records
 * do not count. */
bool merger_add(struct merger *m, const struct profile *from, struct err *e)
{
    struct profile *sum = &m->sum;
    if (from->arcs.len > UINT32_MAX - sum->arcs.len ||
        from->blocks.len > UINT32_MAX - sum->blocks.len)
        return err_set(e, "more than %u arcs or blocks are too many to merge", UINT32_MAX);
    if (!check_mergeable(sum, from, e))
        return false;
    if (!sum->word || (!merge_has_records(sum) && merge_has_records(from))) {
        sum->format = from->format;
        sum->version = from->version;
        sum->word = from->word;
        sum->big_endian = from->big_endian;
    }
    merge_add_histograms(sum, from);

    /* As rows of words; the key's length is a constant, so that each loop is compiled for it. */
    uint64_t *arcs = (uint64_t *)sum->arcs.at, *blocks = (uint64_t *)sum->blocks.at;
    struct rows arc_rows = {&arcs, &sum->arcs.len, &sum->arcs.cap, 2};
    struct rows block_rows = {&blocks, &sum->blocks.len, &sum->blocks.cap, 1};
    merge_add_rows(&m->arcs, &arc_rows, (const uint64_t *)from->arcs.at, from->arcs.len, 2);
    merge_add_rows(&m->blocks, &block_rows, (const uint64_t *)from->blocks.at, from->blocks.len, 1);
    sum->arcs.at = (struct arc *)arcs;
    sum->blocks.at = (struct block *)blocks;
    block_names_add_all(&sum->block_names, &from->block_names);
    sum->full_bins += profile_full_bins(from);
    sum->is_merged = true;
    sum->histogram_records += from->histogram_records;
    sum->arc_records += from->arc_records;
    sum->block_records += from->block_records;
    return true;
}

void merger_deinit(struct merger *m)
{
    profile_deinit(&m->sum);
    memory_free(m->arcs.slots);
    memory_free(m->blocks.slots);
    *m = (struct merger){0};
}

/* The sum outlives the merger, which then frees the rest. */
struct profile merger_take(struct merger *m)
{
    struct profile sum = m->sum;
    memset(&m->sum, 0, sizeof m->sum);
    merger_deinit(m);
    return sum;
}

bool profile_merge(struct profile *into, const struct profile *from, struct err *e)
{
    struct merger m = {0};
    /* `into` may hold the same arc twice: it is summed first. */
    if (!merger_add(&m, into, e) || !merger_add(&m, from, e)) {
        merger_deinit(&m);
        return false;
    }
    profile_deinit(into);
    *into = merger_take(&m);
    return true;
}

/* ---- The laws of merging, checked on three profiles: what tests and fuzz targets hold it to.
 *
 * a + b is b + a, (a + b) + c is a + (b + c), field by field in normal form, and sums of samples
 * and calls are kept. */

/* a + b, or a + (b + c), in normal form. */
static bool sum_of(struct profile *sum, const struct profile *a, const struct profile *b,
                   const struct profile *c)
{
    struct profile right = {0};
    bool ok = profile_merge(&right, b, NULL) && (!c || profile_merge(&right, c, NULL)) &&
              profile_merge(sum, a, NULL) && profile_merge(sum, &right, NULL);
    profile_deinit(&right);
    profile_normalize(sum);
    return ok;
}

/* Whether a + b has the samples and calls of both. */
static bool keeps_sums(const struct profile *sum, const struct profile *a, const struct profile *b)
{
    return profile_samples(sum) == add_saturating(profile_samples(a), profile_samples(b)) &&
           profile_calls(sum) == add_saturating(profile_calls(a), profile_calls(b));
}

/* Merging two may be refused, but then in either order. Of three, one grouping says whether they
 * can be merged; the other must then succeed and agree. */
bool check_merge_laws(const struct profile *a, const struct profile *b, const struct profile *c,
                      struct err *e)
{
    struct profile ab = {0}, ba = {0}, ab_c = {0}, a_bc = {0};
    bool can_two = sum_of(&ab, a, b, NULL);
    bool can_three = can_two && sum_of(&ab_c, c, &ab, NULL);
    bool ok = true;
    if (can_two != sum_of(&ba, b, a, NULL) || (can_two && !profile_same(&ab, &ba)))
        ok = err_set(e, "merging does not commute");
    else if (can_two && !keeps_sums(&ab, a, b))
        ok = err_set(e, "merging changes the sum of samples or calls");
    else if (can_three && (!sum_of(&a_bc, a, b, c) || !profile_same(&ab_c, &a_bc)))
        ok = err_set(e, "merging does not associate");
    profile_deinit(&ab);
    profile_deinit(&ba);
    profile_deinit(&ab_c);
    profile_deinit(&a_bc);
    return ok;
}
