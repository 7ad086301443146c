/* -s: what was read and booked, as a profile again.
 *
 * As GNU gprof writes it, calls no longer know their sites: each arc goes from the start of a line
 * symbol to the start of a function, by caller in the order of addresses, the newest of a caller
 * first. Counts that do not fit their field become several records, which readers add up. */
#include "gnu/gprof/gprof_sum.h"

#include "base/map.h"
#include "base/sort.h"
#include "session/profiles.h"

/* One rate holds for all. */
static void copy_histograms(struct profile *sum, const struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len; i++) {
        vec_push(&sum->histograms, p->histograms.at[i]);
        sum->histograms.at[i].rate = p->histograms.at[0].rate;
    }
}

static void copy_arcs(struct profile *sum, const struct graph *g)
{
    vec_reserve(&sum->arcs, g->measured_len);
    for (uint32_t caller = 0; caller < g->functions->len; caller++)
        for (uint32_t i = g->callees.start[caller]; i < g->callees.start[caller + 1]; i++) {
            const struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
            if (!graph_arc_is_static(g, arc))
                vec_push(&sum->arcs, ((struct arc){.from = g->functions->at[caller].start,
                                                   .self = g->functions->at[arc->callee].start,
                                                   .count = arc->count}));
        }
}

/* By symbol, within one as they first came; those in no symbol are dropped. */
static void copy_blocks(struct profile *sum, const struct profile *p, const struct functions *f)
{
    struct arena scratch = {0};
    struct map place = {0}; /* of each address in sum->blocks */
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, p->blocks.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < p->blocks.len; i++) {
        uint32_t symbol = functions_find(f, p->blocks.at[i].address);
        if (symbol != NO_FUNCTION)
            order[len++] = (struct keyed){symbol, i};
    }
    sort_keyed(order, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct block *b = &p->blocks.at[order[i].item];
        bool is_new;
        uint32_t at = map_index(&place, b->address, 0, sum->blocks.len, &is_new);
        if (is_new)
            vec_push(&sum->blocks, *b);
        else
            sum->blocks.at[at].count = add_saturating(sum->blocks.at[at].count, b->count);
    }
    map_deinit(&place);
    arena_deinit(&scratch);
}

static const struct format *choose_format(const struct gprof_options *o, const struct profile *sum)
{
    enum { USUAL_RATE = 100 };
    bool is_usual = sum->histograms.len && sum->histograms.at[0].rate == USUAL_RATE;
    if (o->format == '4' || (o->format == 'b' && !is_usual))
        return format_named("bsd44");
    return format_named(o->format == 'b' ? "bsd" : "gmon");
}

bool gprof_write_sum(const struct gprof_options *o, const struct object *image,
                     const struct profile *p, const struct functions *f, const struct graph *g,
                     struct err *e)
{
    struct profile sum = {.format = PROFILE_GNU};
    copy_histograms(&sum, p);
    if (g)
        copy_arcs(&sum, g);
    copy_blocks(&sum, p, f);
    bool ok = profile_save(choose_format(o, &sum), &sum, object_word(image),
                           object_is_big_endian(image), "gmon.sum", e);
    vec_free(&sum.histograms); /* their counters are the profile's */
    profile_deinit(&sum);
    return ok;
}
