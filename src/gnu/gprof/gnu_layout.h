/* The orders of GNU gprof's -r and -R, in which a linker is to place functions or files: chains of
 * callers and callees, the busiest calls first. `monarc order` has a better one
 * (profile/analysis/order.h).
 *
 * GNU's algorithm in brief. A chain grows at its ends: of an arc whose caller or callee is in no
 * chain yet, that one goes to the end of the other's chain that is nearer to the other. Chains are
 * not joined. Arcs are taken by count, first those that make up 99 % of all calls, then the others.
 * Before that, one function in 80, the busiest callees, lose their arcs and are set aside; through
 * an oversight the last one of them can be missing from the output. Arc specs (-k, -q...) add arcs
 * between functions of their own (see struct spec_arc), so that names can be printed twice. */
#ifndef MONARC_GNU_GPROF_GNU_LAYOUT_H
#define MONARC_GNU_GPROF_GNU_LAYOUT_H

#include "gnu/gprof/functions_gnu.h"
#include "gnu/gprof/symspec.h"

struct gnu_layout {
    const char **names;
    size_t len;
};

/* Printing the call graph leaves the callers and callees of what it prints sorted, and -r goes
 * through those of the busiest functions as it finds them. */
struct gnu_printed {
    bool graph;
    bool idle;      /* -z */
    bool has_lines; /* -l: only functions have entries */
};

/* Whether the call graph that GNU gprof prints has an entry for the node; -z shows idle ones. */
static inline bool gnu_prints_entry(const struct graph *g, uint32_t node, bool shows_idle)
{
    const struct graph_node *n = &g->nodes[node];
    bool is_idle = !n->calls && !n->self_calls && n->shown_self == 0 && n->shown_children == 0;
    return n->is_shown && (shows_idle || !is_idle);
}

/* `g` is finished, or NULL if the profile has no arcs. The selection is resolved. */
void gnu_layout_functions(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                          const struct selection *s, struct gnu_printed printed, struct arena *a);

/* The functions were made with `map` (struct gnu_symbol_rules), or from a symbol map without it. */
void gnu_layout_files(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                      const struct selection *s, const struct order_map *map, struct arena *a);

#endif
