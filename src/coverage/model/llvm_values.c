/* Sums of profiles of values, to the last value those of llvm-profdata.
 *
 * A site keeps the 255 values with the largest counts. A sum sorts the values of both sides, adds
 * up equal ones, sorts by count, and cuts off what is too much: after each file, so that the result
 * depends on the order of files where a site has more. Equal counts stay in the order of values, or
 * in that of the file if there is only one. Several functions that the profile does not know have
 * the value 0 each, and are added up in the order of their counts.
 *
 *     file a   two:5  three:1        sum   three:8  two:5  0:2
 *     file b   three:7  0:2
 *
 * A sum is written over the old values if it fits there, else after all others; when more than half
 * of the list is holes, it is packed. So memory is that of the sums. Source:
 * llvm/lib/ProfileData/InstrProf.cpp (InstrProfValueSiteRecord::merge, sortByCount). */
#include "coverage/model/llvm.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <string.h>

enum { MOST_VALUES = 255, FEW_HOLES = 4096 };

void llvm_site_push(struct llvm_profile *p, uint32_t values)
{
    vec_push(&p->sites, (struct llvm_site){p->values.len, values});
    p->live_values += values;
}

static int by_value(uint32_t left, uint32_t right, const void *context)
{
    const struct llvm_value *at = context;
    return at[left].value < at[right].value ? -1 : at[left].value > at[right].value;
}

static int by_count(uint32_t left, uint32_t right, const void *context)
{
    const struct llvm_value *at = context;
    return at[left].count > at[right].count ? -1 : at[left].count < at[right].count;
}

/* Values of one site while they are sorted and added up. */
struct sorted_values {
    VEC(struct llvm_value) at;
    VEC(uint32_t) order;
};

static void list_deinit(struct sorted_values *l)
{
    vec_free(&l->at);
    vec_free(&l->order);
}

/* Stable. */
static void list_sort(struct sorted_values *l, sort_compare *compare)
{
    size_t len = l->at.len;
    l->order.len = 0;
    for (uint32_t i = 0; i < len; i++)
        vec_push(&l->order, i);
    sort_u32(l->order.at, len, compare, l->at.at);
    for (size_t i = 0; i < len; i++) {
        struct llvm_value value = l->at.at[l->order.at[i]];
        vec_push(&l->at, value);
    }
    if (len)
        memmove(l->at.at, l->at.at + len, len * sizeof *l->at.at);
    l->at.len = len;
}

static void list_take(struct sorted_values *l, const struct llvm_profile *p,
                      const struct llvm_site *s)
{
    l->at.len = 0;
    for (uint32_t i = 0; i < s->len; i++)
        vec_push(&l->at, p->values.at[s->first + i]);
}

/* The list becomes the site's, the largest counts first. */
static void list_put(struct sorted_values *l, struct llvm_profile *p, struct llvm_site *s)
{
    list_sort(l, by_count);
    uint32_t len = l->at.len < MOST_VALUES ? (uint32_t)l->at.len : MOST_VALUES;
    if (len > s->len) {
        s->first = p->values.len;
        for (uint32_t i = 0; i < len; i++)
            vec_push(&p->values, l->at.at[i]);
    } else if (len) {
        memcpy(p->values.at + s->first, l->at.at, len * sizeof *l->at.at);
    }
    p->live_values += len;
    p->live_values -= s->len;
    s->len = len;
}

/* A walk over both, by value. What is equal adds up, one by one. */
static void list_merge(struct sorted_values *into, const struct sorted_values *from)
{
    size_t len = into->at.len, i = 0;
    for (size_t k = 0; k < from->at.len; k++) {
        struct llvm_value more = from->at.at[k];
        while (i < len && into->at.at[i].value < more.value) {
            struct llvm_value before = into->at.at[i++];
            vec_push(&into->at, before);
        }
        if (i < len && into->at.at[i].value == more.value)
            more.count = add_saturating(more.count, into->at.at[i++].count);
        vec_push(&into->at, more);
    }
    while (i < len) {
        struct llvm_value rest = into->at.at[i++];
        vec_push(&into->at, rest);
    }
    size_t merged = into->at.len - len;
    if (merged)
        memmove(into->at.at, into->at.at + len, merged * sizeof *into->at.at);
    into->at.len = merged;
}

/* Sites without an owner are dropped with their values. */
static void pack(struct llvm_profile *p)
{
    struct llvm_profile packed = {0};
    for (size_t i = 0; i < p->functions.len; i++) {
        struct llvm_function *f = &p->functions.at[i];
        uint64_t first = packed.sites.len, sites = llvm_function_sites(f);
        for (uint64_t k = 0; k < sites; k++) {
            const struct llvm_site *s = &p->sites.at[f->first_site + k];
            llvm_site_push(&packed, s->len);
            for (uint32_t v = 0; v < s->len; v++)
                vec_push(&packed.values, p->values.at[s->first + v]);
        }
        f->first_site = first;
    }
    vec_free(&p->sites);
    vec_free(&p->values);
    memcpy(&p->sites, &packed.sites, sizeof p->sites);
    memcpy(&p->values, &packed.values, sizeof p->values);
    p->live_values = packed.live_values;
    p->lost_sites = 0;
}

/* Packing costs a walk over all that is left, so it waits until as much again, and some more, is
 * lost: then each value and site is moved a bounded number of times, whatever files say.
 *
 *     values    5 3 . . . 7 2      holes where a sum became longer than there was room
 *     sites     0 1 - - 4          those of a function that took the sites of another build
 */
static void pack_if_half_is_lost(struct llvm_profile *p)
{
    if (p->values.len > 2 * p->live_values + FEW_HOLES ||
        p->lost_sites > p->sites.len / 2 + FEW_HOLES)
        pack(p);
}

void llvm_values_copy(struct llvm_profile *into, struct llvm_function *copy,
                      const struct llvm_profile *from, const struct llvm_function *f)
{
    struct sorted_values list = {0};
    uint64_t sites = llvm_function_sites(f);
    copy->first_site = into->sites.len;
    for (uint64_t k = 0; k < sites; k++) {
        list_take(&list, from, &from->sites.at[f->first_site + k]);
        llvm_site_push(into, 0);
        list_put(&list, into, &into->sites.at[into->sites.len - 1]);
    }
    list_deinit(&list);
}

/* Room for as many sites of each kind as the side with more of them has, and these; for the others
 * the sum's own stay. The sum's former sites then have no owner. */
static void take_more_sites(struct llvm_profile *into, struct llvm_function *own,
                            const struct llvm_profile *from, const struct llvm_function *f)
{
    struct sorted_values list = {0};
    struct llvm_function grown = *own;
    uint64_t own_site = own->first_site, site = f->first_site;
    grown.first_site = into->sites.len;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        bool is_more = f->sites[kind] > own->sites[kind];
        const struct llvm_profile *side = is_more ? from : into;
        uint64_t first = is_more ? site : own_site;
        grown.sites[kind] = is_more ? f->sites[kind] : own->sites[kind];
        for (uint32_t i = 0; i < grown.sites[kind]; i++) {
            list_take(&list, side, &side->sites.at[first + i]);
            llvm_site_push(into, 0);
            list_put(&list, into, &into->sites.at[into->sites.len - 1]);
        }
        own_site += own->sites[kind];
        site += f->sites[kind];
    }
    for (uint64_t i = llvm_function_sites(own); i-- > 0; into->lost_sites++)
        into->live_values -= into->sites.at[own->first_site + i].len;
    *own = grown;
    list_deinit(&list);
}

void llvm_values_add(struct llvm_profile *into, struct llvm_function *own,
                     const struct llvm_profile *from, const struct llvm_function *f)
{
    struct sorted_values sum = {0}, more = {0};
    bool has_more = false, is_equal[VALUE_KINDS];
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        is_equal[kind] = f->sites[kind] == own->sites[kind];
        has_more |= f->sites[kind] > own->sites[kind];
        own->has_unlike_sites |= !is_equal[kind] && f->sites[kind] && own->sites[kind];
    }
    own->has_unlike_sites |= f->has_unlike_sites;
    if (has_more) /* as with counters: whichever came first would depend on the order */
        take_more_sites(into, own, from, f);
    uint64_t own_site = own->first_site, site = f->first_site;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        for (uint32_t i = 0; is_equal[kind] && i < f->sites[kind]; i++) {
            list_take(&sum, into, &into->sites.at[own_site + i]);
            list_take(&more, from, &from->sites.at[site + i]);
            if (!sum.at.len && !more.at.len)
                continue; /* what has no counterpart is sorted by value all the same */
            list_sort(&sum, by_value);
            list_sort(&more, by_value);
            list_merge(&sum, &more);
            list_put(&sum, into, &into->sites.at[own_site + i]);
        }
        own_site += own->sites[kind];
        site += f->sites[kind];
    }
    list_deinit(&sum);
    list_deinit(&more);
    if (into != from)
        pack_if_half_is_lost(into);
}
