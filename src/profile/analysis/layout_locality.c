/* Pages and TLB entries that a program's hot code takes, before and after it is put in order.
 *
 * Heat is spread evenly over a function's bytes, so a page has what its bytes have. A call enters
 * the page of the callee's entry, and its return a page of the caller, unless both are one page.
 *
 * A fault maps more than its page: Linux maps what is in memory of the aligned 64 KiB around it
 * (fault_around_bytes). So faults are counted by stretches of that size, and a program whose code
 * is no larger has one, whatever the order.
 *
 * Misses in a TLB of C entries that forgets what was used longest ago are Che's approximation (Che,
 * Tung, Wang, "Hierarchical Web caching systems", 2002): a page that is entered with the share p of
 * all entries is still there with the probability 1 - exp(-p T), where T solves sum(1 - exp(-p T))
 * = C. T is found by halving. Pages are taken as entered independently of each other, which calls
 * are not: the figures serve to compare two orders of one program. */
#include "profile/analysis/layout.h"

#include "base/map.h"
#include "base/sort.h"

#include <math.h>

enum { PAGE_SHIFT = 12, FAULT_SHIFT = 16, LARGE_SHIFT = 21, ENTRIES = 64, LARGE_ENTRIES = 8 };

const unsigned locality_shares[4] = {50, 90, 99, 100};

/* Pages of one size, and how much happens on each. */
struct pages {
    unsigned shift;
    struct map numbers;
    VEC(double) amount;
};

/* Books an amount on a page, a new one if it was not met before. */
static void add_to_page(struct pages *p, uint64_t page, double amount)
{
    bool is_new;
    uint32_t number = map_index(&p->numbers, page, 0, p->amount.len, &is_new);
    if (is_new)
        vec_push(&p->amount, 0);
    p->amount.at[number] += amount;
}

static void pages_deinit(struct pages *p)
{
    vec_free(&p->amount);
    map_deinit(&p->numbers);
}

/* Bytes of [start, start + size) on a page. */
static uint64_t overlap(uint64_t start, uint64_t size, uint64_t page, unsigned shift)
{
    uint64_t low = page << shift, high = low + (1ull << shift), end = start + size;
    low = low > start ? low : start;
    high = high < end ? high : end;
    return high > low ? high - low : 0;
}

/* Spreads an amount evenly over the function's bytes. */
static void spread(struct pages *p, uint64_t start, uint64_t size, double amount)
{
    uint64_t last = (start + size - 1) >> p->shift;
    for (uint64_t page = start >> p->shift; page <= last; page++)
        add_to_page(p, page, amount * (double)overlap(start, size, page, p->shift) / (double)size);
}

static uint64_t address_of(const struct layout *t, uint32_t place, bool is_after)
{
    const struct layout_place *p = &t->places[place];
    return is_after ? p->after : t->functions->at[p->function].start;
}

/* --- pages ----------------------------------------------------------------------------------- */

/* What each page has of the heat of all functions. */
static struct pages heat_of_pages(const struct layout *t, bool is_after, unsigned shift)
{
    struct pages pages = {.shift = shift};
    for (uint32_t i = 0; i < t->len; i++)
        if (t->places[i].heat > 0)
            spread(&pages, address_of(t, i, is_after), t->places[i].size, t->places[i].heat);
    return pages;
}

/* Counts the pages that hold most of the heat, hottest first, the large pages, and faults. */
static void count_pages(const struct layout *t, bool is_after, struct locality *l)
{
    struct pages pages = heat_of_pages(t, is_after, PAGE_SHIFT);
    struct arena scratch = {0};
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, pages.amount.len);
    for (uint32_t i = 0; i < pages.amount.len; i++)
        sorted[i] = (struct keyed){sort_descending(pages.amount.at[i]), i};
    sort_keyed(sorted, pages.amount.len);
    for (int i = 0; i < 4; i++) {
        /* How many of the hottest pages hold `percent` of all heat. */
        double sum = 0;
        size_t k = 0;
        while (k < pages.amount.len &&
               (locality_shares[i] == 100 || sum < t->heat * locality_shares[i] / 100))
            sum += pages.amount.at[sorted[k++].item];
        l->pages[i] = k;
    }
    arena_deinit(&scratch);
    pages_deinit(&pages);
    pages = heat_of_pages(t, is_after, LARGE_SHIFT);
    l->large_pages = pages.amount.len;
    pages_deinit(&pages);
    pages = heat_of_pages(t, is_after, FAULT_SHIFT);
    l->faults = pages.amount.len;
    pages_deinit(&pages);
}

/* --- calls ----------------------------------------------------------------------------------- */

/* Calls and returns that come to a page from another one. A call leaves from anywhere in the
 * caller, and returns there. */
static struct pages entries_of_pages(const struct layout *t, bool is_after, unsigned shift,
                                     double *leaving)
{
    struct pages pages = {.shift = shift};
    struct arena scratch = {0};
    double *returns = ARENA_NEW(&scratch, double, t->len); /* by caller */
    *leaving = 0;
    for (uint32_t i = 0; i < t->calls_len; i++) {
        const struct layout_call *call = &t->calls[i];
        uint64_t caller = address_of(t, call->caller, is_after);
        uint64_t size = t->places[call->caller].size;
        uint64_t entry = address_of(t, call->callee, is_after) >> shift;
        double inside = (double)overlap(caller, size, entry, shift) / (double)size;
        double out = call->count * (1 - inside);
        if (inside >= 1)
            continue;
        *leaving += out;
        add_to_page(&pages, entry, out);
        if (inside > 0)
            add_to_page(&pages, entry, -call->count * inside); /* returns that stay */
        returns[call->caller] += call->count;
    }
    for (uint32_t i = 0; i < t->len; i++)
        if (returns[i] > 0)
            spread(&pages, address_of(t, i, is_after), t->places[i].size, returns[i]);
    arena_deinit(&scratch);
    return pages;
}

/* How many entries are in use when each page was entered within the last `time` entries. */
static double occupied(const struct pages *p, double total, double time)
{
    double sum = 0;
    for (size_t i = 0; i < p->amount.len; i++)
        sum += -expm1(-p->amount.at[i] / total * time);
    return sum;
}

/* Misses among all entries of pages, in a TLB with room for `entries`. */
static double misses_of(const struct pages *p, unsigned entries)
{
    double total = 0, misses = 0, low = 0, high = 1;
    for (size_t i = 0; i < p->amount.len; i++)
        total += p->amount.at[i];
    if (p->amount.len <= entries || total <= 0)
        return 0;
    while (high < 1e18 && occupied(p, total, high) < entries)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(occupied(p, total, middle) < entries ? &low : &high) = middle;
    }
    for (size_t i = 0; i < p->amount.len; i++)
        misses += p->amount.at[i] * exp(-p->amount.at[i] / total * low);
    return misses;
}

static double distance(const struct layout *t, const struct layout_call *call, bool is_after)
{
    double caller =
        (double)address_of(t, call->caller, is_after) + (double)t->places[call->caller].size / 2;
    return fabs((double)address_of(t, call->callee, is_after) - caller);
}

void layout_locality(const struct layout *t, bool is_after, struct locality *l)
{
    *l = (struct locality){0};
    count_pages(t, is_after, l);
    double calls = 0, leaving, ignored;
    for (uint32_t i = 0; i < t->calls_len; i++) {
        calls += t->calls[i].count;
        l->distance_bytes += t->calls[i].count * distance(t, &t->calls[i], is_after);
    }
    if (calls <= 0)
        return;
    struct pages pages = entries_of_pages(t, is_after, PAGE_SHIFT, &leaving);
    struct pages large = entries_of_pages(t, is_after, LARGE_SHIFT, &ignored);
    l->distance_bytes /= calls;
    l->leaving = leaving / calls;
    l->misses = misses_of(&pages, ENTRIES) / calls;
    l->large_misses = misses_of(&large, LARGE_ENTRIES) / calls;
    pages_deinit(&pages);
    pages_deinit(&large);
}
