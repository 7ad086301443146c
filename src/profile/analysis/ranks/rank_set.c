/* Ranks as they are fed, in memory that is bounded whatever their number.
 *
 * A region has sums, extremes with the ranks that they are of, and its values one by one, eight
 * bytes each. When all values together reach the bound, the regions with the least time become
 * histograms of 64 buckets until half of the room is free again: what costs most stays exact.
 * Bounds of buckets grow by a ratio of 1.15 around the mean so far, which reaches from 1/87 to 87
 * times it, so that a median is known to 7 %, and each bucket names the rank with the largest value
 * in it. Adding a value takes constant time.
 *
 * In the end ranks are numbered in the order of the job's own numbers, so that nothing depends on
 * the order in which they were fed, but for the buckets of histograms. */
#include "profile/analysis/ranks/ranks.h"

#include "base/sort.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 24 << 20 };

void rank_set_init(struct rank_set *s, uint32_t one, uint32_t other)
{
    *s = (struct rank_set){.most_values = MOST_VALUES, .asked = {one, other}};
    rank_set_region(s, &(struct rank_region_key){RANK_REGION_USEFUL, .name = "[outside of MPI]"});
}

void rank_set_deinit(struct rank_set *s)
{
    for (size_t i = 0; i < s->regions.len; i++)
        vec_free(&s->regions.at[i].values);
    vec_free(&s->regions);
    vec_free(&s->ranks);
    map_deinit(&s->number_of);
    map_deinit(&s->region_of);
    intern_deinit(&s->texts);
    arena_deinit(&s->arena);
}

uint32_t rank_set_find(const struct rank_set *s, uint32_t rank)
{
    const uint32_t *found = map_find(&s->number_of, rank, 0);
    return found ? *found : RANK_NONE;
}

static uint32_t rank_text(struct rank_set *s, const char *text)
{
    return intern(&s->texts, text ? text : "", text ? strlen(text) : 0);
}

uint32_t rank_set_open(struct rank_set *s, const struct rank_info *info)
{
    struct rank_info copy = *info;
    copy.host = intern_text(&s->texts, rank_text(s, info->host));
    copy.source = intern_text(&s->texts, rank_text(s, info->source));
    map_set(&s->number_of, info->rank, 0, s->ranks.len);
    vec_push(&s->ranks, copy);
    return (uint32_t)s->ranks.len - 1;
}

uint32_t rank_set_region(struct rank_set *s, const struct rank_region_key *key)
{
    bool is_new;
    struct rank_region_key copy = *key;
    uint32_t name = rank_text(s, key->name), source = rank_text(s, key->source);
    uint32_t rest = key->twin << 3 | key->is_inlined << 2 | key->kind;
    uint32_t region = map_index(&s->region_of, map_two(name, source), map_two(key->module, rest),
                                s->regions.len, &is_new);
    copy.name = intern_text(&s->texts, name);
    copy.source = intern_text(&s->texts, source);
    copy.object = intern_text(&s->texts, rank_text(s, key->object));
    if (is_new)
        vec_push(&s->regions, (struct rank_region){.key = copy});
    return region;
}

/* --- buckets ---------------------------------------------------------------------------------- */

#define BUCKET_RATIO 1.15

static void rank_histogram_add(struct rank_histogram *h, struct rank_value value)
{
    enum { MIDDLE = RANK_BUCKETS / 2 };
    double at = log((double)value.seconds / h->base) / log(BUCKET_RATIO) + MIDDLE;
    size_t bucket = at < 0 ? 0 : at >= RANK_BUCKETS ? RANK_BUCKETS - 1 : (size_t)at;
    if (!h->ranks[bucket]++ || h->most[bucket].seconds < value.seconds)
        h->most[bucket] = value;
}

static void rank_region_fold(struct rank_set *s, struct rank_region *region)
{
    struct rank_histogram *h = arena_alloc(&s->arena, sizeof *h);
    *h = (struct rank_histogram){.base = region->sum / region->seen};
    for (size_t i = 0; i < region->values.len; i++)
        rank_histogram_add(h, region->values.at[i]);
    s->values -= region->values.len;
    vec_free(&region->values);
    region->histogram = h;
}

/* Those with the least time first, until half of the room is free. The time outside of MPI is what
 * everything else is compared with, and stays. */
static void rank_set_make_room(struct rank_set *s)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, s->regions.len);
    size_t len = 0;
    for (uint32_t i = 1; i < s->regions.len; i++)
        if (s->regions.at[i].values.len)
            order[len++] = (struct keyed){sort_descending(s->regions.at[i].sum), i};
    sort_keyed(order, len);
    while (len && s->values > s->most_values / 2)
        rank_region_fold(s, &s->regions.at[order[--len].item]);
    arena_deinit(&scratch);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Of equal values that of the lower rank is less, whichever was fed first. */
static bool rank_set_is_less(const struct rank_set *s, struct rank_value a, struct rank_value b)
{
    return a.seconds != b.seconds ? a.seconds < b.seconds
                                  : s->ranks.at[a.number].rank < s->ranks.at[b.number].rank;
}

void rank_set_add(struct rank_set *s, uint32_t number, double seconds)
{
    struct rank_region *region = &s->regions.at[number];
    uint32_t rank = (uint32_t)s->ranks.len - 1;
    struct rank_value value = {rank, (float)seconds};
    if (!(seconds > 0))
        return;
    if (!region->seen || rank_set_is_less(s, value, region->least))
        region->least = value;
    if (!region->seen || rank_set_is_less(s, region->most, value))
        region->most = value;
    region->seen++;
    region->sum += seconds;
    region->squares += seconds * seconds;
    for (size_t i = 0; i < 2; i++)
        if (s->asked[i] != RANK_NONE && s->ranks.at[rank].rank == s->asked[i])
            region->asked[i] = seconds;
    if (region->histogram) {
        rank_histogram_add(region->histogram, value);
        return;
    }
    vec_push(&region->values, value);
    if (++s->values > s->most_values)
        rank_set_make_room(s);
}

void rank_set_close(struct rank_set *s)
{
    rank_set_add(s, 0, rank_useful(&s->ranks.at[s->ranks.len - 1]));
}

/* The values of a region under the new numbers of its ranks, in their order. */
static void rank_region_renumber(struct rank_region *region, const uint32_t *number_of)
{
    struct arena scratch = {0};
    size_t len = region->values.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct rank_value *old = ARENA_NEW(&scratch, struct rank_value, len);
    for (size_t i = 0; i < len; i++) {
        old[i] = region->values.at[i];
        old[i].number = number_of[old[i].number];
        order[i] = (struct keyed){old[i].number, map_value(i)};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        region->values.at[i] = old[order[i].item];
    for (size_t i = 0; i < RANK_BUCKETS && region->histogram; i++)
        if (region->histogram->ranks[i])
            region->histogram->most[i].number = number_of[region->histogram->most[i].number];
    if (region->seen) {
        region->least.number = number_of[region->least.number];
        region->most.number = number_of[region->most.number];
    }
    arena_deinit(&scratch);
}

void rank_set_finish(struct rank_set *s)
{
    struct arena scratch = {0};
    size_t len = s->ranks.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct rank_info *fed = ARENA_NEW(&scratch, struct rank_info, len);
    uint32_t *number_of = ARENA_NEW(&scratch, uint32_t, len);
    bool are_in_order = true;
    for (size_t i = 0; i < len; i++) {
        fed[i] = s->ranks.at[i];
        order[i] = (struct keyed){fed[i].rank, map_value(i)};
        are_in_order &= !i || fed[i - 1].rank < fed[i].rank;
    }
    if (!are_in_order) {
        sort_keyed(order, len);
        for (size_t i = 0; i < len; i++) {
            s->ranks.at[i] = fed[order[i].item];
            number_of[order[i].item] = map_value(i);
            map_set(&s->number_of, s->ranks.at[i].rank, 0, i);
        }
        for (size_t i = 0; i < s->regions.len; i++)
            rank_region_renumber(&s->regions.at[i], number_of);
    }
    arena_deinit(&scratch);
}

/* As Poisson's law has it; of no seconds at all, half a sample may have been missed. */
double rank_error(double seconds, double period)
{
    return sqrt(fmax(seconds, period / 2) * period);
}

/* --- calls of MPI ----------------------------------------------------------------------------- */

/* C's names are MPI_Word, and PMPI_Word where the profiling interface is between. Fortran's are in
 * lower or upper case throughout, followed by up to two underscores, or "f08". */
const char *rank_mpi_call(const char *name, struct arena *a)
{
    size_t skip = *name == 'P' || *name == 'p';
    bool is_lower = !strncmp(name + skip, "mpi_", 4), is_upper = !strncmp(name + skip, "MPI_", 4);
    const char *call = name + skip + 4;
    size_t len = is_lower || is_upper ? strspn(call, "abcdefghijklmnopqrstuvwxyz"
                                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
                                      : 0;
    if (!len || !isalpha((unsigned char)*call) || (call[len] && call[len] != '@'))
        return NULL;
    bool is_c =
        is_upper && isupper((unsigned char)call[0]) && len > 1 && islower((unsigned char)call[1]);
    if (is_upper && !is_c && islower((unsigned char)call[0]))
        return NULL;
    while (!is_c && len > 1 && call[len - 1] == '_')
        len--;
    char *spelt = arena_printf(a, "MPI_%.*s", (int)len, call);
    for (char *c = spelt + 4; *c && !is_c; c++)
        *c = (char)(c == spelt + 4 ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    return spelt;
}
