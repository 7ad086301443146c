/* The addresses that a profile says something about, as GNU gprof books samples and calls. */
#include "gnu/gprof/measured_gnu.h"

#include "gnu/gprof/attribute_gnu.h"

/* Code from `start` to before `end` gets a share of units [low, high) if start / 2 < high and
 * end / 2 > low, which is to say that it has an address from 2 * low + 1 to before 2 * high. */
static void add_bins(struct measured *m, const struct histogram *h, double scale)
{
    uint64_t first = h->low / 2;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = first + (uint64_t)(scale * i), high = first + (uint64_t)(scale * (i + 1.0));
        if (low < high)
            measured_add(m, 2 * low + 1, 2 * high);
    }
}

void measured_gnu(struct measured *m, const struct profile *p)
{
    *m = (struct measured){0};
    double scale = p->histograms.len ? gnu_scale(&p->histograms.at[0]) : 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        add_bins(m, &p->histograms.at[i], scale);
    for (size_t i = 0; i < p->arcs.len; i++) {
        measured_add(m, p->arcs.at[i].from, p->arcs.at[i].from + 1);
        measured_add(m, p->arcs.at[i].self, p->arcs.at[i].self + 1);
    }
    measured_add_blocks(m, p);
}
