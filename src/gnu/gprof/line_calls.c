/* Telling calls from lines and calls from functions apart. */
#include "gnu/gprof/line_calls.h"

#include "base/sort.h"

static void match_functions(struct line_calls *c, const struct functions *functions,
                            const struct gnu_functions *with_lines, struct arena *a)
{
    const struct functions *all = &with_lines->table;
    c->node_of = ARENA_NEW(a, uint32_t, all->len);
    uint32_t node = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        c->node_of[i] = NO_NODE;
        while (node < functions->len && functions->at[node].start < all->at[i].start)
            node++;
        bool is_function = node < functions->len && all->at[i].symbol < with_lines->first_line &&
                           functions->at[node].start == all->at[i].start;
        if (is_function)
            c->node_of[i] = node;
    }
}

static void take_time(struct line_calls *c, const struct functions *functions,
                      const struct functions *all, const struct attribution *time, struct arena *a)
{
    c->time = *time;
    c->time.self = ARENA_NEW(a, double, functions->len);
    for (uint32_t i = 0; i < all->len; i++)
        if (c->node_of[i] != NO_NODE)
            c->time.self[c->node_of[i]] = time->self[i];
}

/* A call from a line, in the order of the profile. */
struct line_call {
    uint32_t line, callee;
};

struct line_call_list {
    VEC(struct line_call) all;
};

static uint32_t callee_of(const struct functions *f, uint64_t address)
{
    uint32_t callee = functions_find(f, address);
    while (callee != NO_FUNCTION && !f->at[callee].is_function)
        callee--; /* from 0 to NO_FUNCTION */
    return callee;
}

static void split_calls(struct line_calls *c, const struct functions *functions,
                        const struct functions *all, struct profile *p,
                        struct line_call_list *from_lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->arcs.len; i++) {
        struct arc arc = p->arcs.at[i];
        uint32_t caller = functions_find(all, arc.from);
        if (caller == NO_FUNCTION)
            continue; /* GNU gprof does not count them */
        uint32_t callee = callee_of(functions, arc.self), node = c->node_of[caller];
        if (node != NO_NODE) {
            arc.from = functions->at[node].start;
        } else {
            arc.from = UINT64_MAX;
            if (callee != NO_FUNCTION)
                vec_push(&from_lines->all, ((struct line_call){caller, callee}));
        }
        p->arcs.at[kept++] = arc;
    }
    p->arcs.len = kept;
}

/* By line; of one line the newest first, each function where it was first called. */
static void order_roots(struct line_calls *c, const struct functions *functions,
                        const struct functions *all, const struct line_call_list *calls,
                        struct arena *a)
{
    struct arena scratch = {0};
    size_t len = calls->all.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    uint32_t *last_line = ARENA_NEW(&scratch, uint32_t, functions->len); /* plus 1 */
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){calls->all.at[i].line, (uint32_t)i};
    sort_keyed(order, len);
    c->roots = ARENA_NEW(a, struct graph_root, len);
    uint32_t before = 0;
    for (size_t start = 0, end; start < len; start = end) {
        uint32_t line = (uint32_t)order[start].key;
        while (before < functions->len && functions->at[before].start <= all->at[line].start)
            before++;
        for (end = start; end < len && order[end].key == line; end++)
            ;
        size_t first = c->roots_len;
        for (size_t i = start; i < end; i++) {
            uint32_t callee = calls->all.at[order[i].item].callee;
            if (last_line[callee] != line + 1)
                c->roots[c->roots_len++] = (struct graph_root){before, callee};
            last_line[callee] = line + 1;
        }
        for (size_t low = first, high = c->roots_len; low + 1 < high; low++) {
            struct graph_root other = c->roots[--high];
            c->roots[high] = c->roots[low];
            c->roots[low] = other;
        }
    }
    arena_deinit(&scratch);
}

void line_calls_make(struct line_calls *c, const struct functions *functions,
                     const struct gnu_functions *with_lines, const struct attribution *time,
                     struct profile *p, struct arena *a)
{
    const struct functions *all = &with_lines->table;
    *c = (struct line_calls){0};
    struct line_call_list from_lines = {0};
    match_functions(c, functions, with_lines, a);
    take_time(c, functions, all, time, a);
    split_calls(c, functions, all, p, &from_lines);
    order_roots(c, functions, all, &from_lines, a);
    vec_free(&from_lines.all);
}
