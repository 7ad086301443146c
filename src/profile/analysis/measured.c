/* Collecting, sorting and joining what was measured. */
#include "profile/analysis/measured.h"

#include "profile/analysis/functions.h"
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

/* A range that begins within or at the end of the one before makes it longer. */
void measured_add(struct measured *m, uint64_t low, uint64_t high)
{
    struct object_range *last = m->ranges.len ? &m->ranges.at[m->ranges.len - 1] : NULL;
    if (last && low >= last->low && low <= last->high)
        last->high = high > last->high ? high : last->high;
    else
        vec_push(&m->ranges, ((struct object_range){low, high}));
}

static void add_bins(struct measured *m, const struct histogram *h)
{
    unsigned __int128 range = h->high > h->low ? h->high - h->low : 0;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = h->low + (uint64_t)(range * i / h->bins);
        uint64_t high = h->low + (uint64_t)((range * (i + UINT64_C(1)) + h->bins - 1) / h->bins);
        measured_add(m, low, high > low ? high : low + 1);
    }
}

static void join(struct measured *m)
{
    struct arena scratch = {0};
    size_t len = m->ranges.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct object_range *copy = ARENA_NEW(&scratch, struct object_range, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = m->ranges.at[i];
        order[i] = (struct keyed){copy[i].low, (uint32_t)i};
    }
    sort_keyed(order, len);
    m->ranges.len = 0;
    for (size_t i = 0; i < len; i++)
        measured_add(m, copy[order[i].item].low, copy[order[i].item].high);
    arena_deinit(&scratch);
}

void measured_add_blocks(struct measured *m, const struct profile *p)
{
    for (size_t i = 0; i < p->blocks.len; i++)
        measured_add(m, p->blocks.at[i].address, p->blocks.at[i].address + 1);
    join(m);
}

void measured_init(struct measured *m, const struct profile *p, const struct functions *f)
{
    *m = (struct measured){0};
    for (size_t i = 0; i < p->histograms.len; i++)
        add_bins(m, &p->histograms.at[i]);
    for (size_t i = 0; i < p->arcs.len; i++) {
        uint64_t from = p->arcs.at[i].from;
        measured_add(m, from ? from - 1 : 0, from + 1);
        uint32_t callee = functions_find(f, p->arcs.at[i].self);
        if (callee != NO_FUNCTION)
            measured_add(m, f->at[callee].start, f->at[callee].start + 1);
    }
    measured_add_blocks(m, p);
}

void measured_deinit(struct measured *m)
{
    vec_free(&m->ranges);
}
