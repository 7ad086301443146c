/* Collecting, sorting and joining what was measured. */
#include "analysis/measured.h"

#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

/* A range that begins within or at the end of the one before makes it longer. */
static void add(struct measured *m, uint64_t low, uint64_t high)
{
    struct object_range *last = m->ranges.len ? &m->ranges.at[m->ranges.len - 1] : NULL;
    if (last && low >= last->low && low <= last->high)
        last->high = high > last->high ? high : last->high;
    else
        vec_push(&m->ranges, ((struct object_range){low, high}));
}

static void add_bins(struct measured *m, const struct histogram *h, double scale)
{
    uint64_t first = h->low / 2;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = first + (uint64_t)(scale * i), high = first + (uint64_t)(scale * (i + 1.0));
        add(m, low ? 2 * low - 2 : 0, 2 * high + 2);
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
        add(m, copy[order[i].item].low, copy[order[i].item].high);
    arena_deinit(&scratch);
}

void measured_init(struct measured *m, const struct profile *p)
{
    *m = (struct measured){0};
    const struct histogram *one = p->histograms.len ? &p->histograms.at[0] : NULL;
    double scale = one && one->bins ? (double)((one->high - one->low) / 2) / one->bins : 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        add_bins(m, &p->histograms.at[i], scale);
    for (size_t i = 0; i < p->arcs.len; i++) {
        add(m, p->arcs.at[i].from, p->arcs.at[i].from + 1);
        add(m, p->arcs.at[i].self, p->arcs.at[i].self + 1);
    }
    for (size_t i = 0; i < p->blocks.len; i++)
        add(m, p->blocks.at[i].address, p->blocks.at[i].address + 1);
    join(m);
}

void measured_deinit(struct measured *m)
{
    vec_free(&m->ranges);
}
