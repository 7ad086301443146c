/* The arcs of the call graph: those that were counted, and those that stand in the code.
 *
 * A profile has an arc for each call site; the graph has one for each pair of functions. Ends are
 * looked up by several threads at a time, for that is most of the work. Then arcs of one pair are
 * added up in the order of the file, which decides the order of everything that is printed of
 * equals.
 *
 * Static calls come from the disassembler: direct calls, and direct jumps to the entry of another
 * function (tail calls). They get arcs of count 0 after the counted ones, where no such call was
 * counted.
 *
 * Arcs are then listed by caller and by callee, newest first, as GNU gprof's linked lists stand:
 * one counting sort each. Cost: linear in arcs and in bytes of code. */
#include "profile/analysis/graph/graph.h"

#include "base/parallel.h"

#include <string.h>

enum { PIECE = 512 }; /* functions that are decoded in one go */

struct search {
    const struct functions *functions;
    const struct code *code;
    const struct static_call_rules *rules;
    struct piece {
        VEC(struct static_call) all;
        const char *unread;
    } * pieces;
};

/* Whether calls may go to an address, by the rules. */
static bool is_target(const struct static_call_rules *r, uint64_t address)
{
    for (size_t i = 0; i < r->targets_len; i++)
        if (r->targets[i].low <= address && address < r->targets[i].high)
            return true;
    return !r->targets;
}

/* Decodes PIECE functions; threads take pieces as they come. A branch counts if it leads to the
 * entry of a function: elsewhere it is a jump within one, or data that was decoded as code. */
static void search_piece(size_t number, void *context)
{
    struct search *s = context;
    struct code_calls found = {0};
    uint32_t first = (uint32_t)number * PIECE, len = s->functions->len - first;
    code_find_calls(s->code, &s->rules->ranges[first], len < PIECE ? len : PIECE, &found);
    for (size_t i = 0; i < found.all.len; i++) {
        uint32_t caller = first + found.all.at[i].range;
        const struct code_call *call = &found.all.at[i];
        if ((call->is_jump && !s->rules->takes_jumps) || !is_target(s->rules, call->to))
            continue;
        uint32_t callee = functions_find(s->functions, call->to);
        if (callee == NO_FUNCTION || s->functions->index.at[callee].start != call->to ||
            (call->is_jump && callee == caller && !s->rules->takes_own_entry))
            continue;
        vec_push(&s->pieces[number].all, (struct static_call){caller, callee});
    }
    s->pieces[number].unread = found.unread;
    vec_free(&found.all);
}

bool static_calls_find(struct static_calls *calls, const struct functions *f, struct object *o,
                       const struct static_call_rules *rules, struct arena *a)
{
    *calls = (struct static_calls){0};
    struct code *code = code_open(o);
    if (!code)
        return false;
    struct search search = {.functions = f, .code = code, .rules = rules};
    struct arena scratch = {0};
    size_t pieces = (f->len + PIECE - 1) / PIECE, len = 0;
    search.pieces = ARENA_NEW(&scratch, struct piece, pieces);
    parallel_for(pieces, 0, search_piece, &search);
    for (size_t i = 0; i < pieces; i++)
        len += search.pieces[i].all.len;
    calls->at = ARENA_NEW(a, struct static_call, len);
    for (size_t i = 0; i < pieces; i++) {
        struct piece *p = &search.pieces[i];
        if (p->all.len)
            memcpy(calls->at + calls->len, p->all.at, p->all.len * sizeof *p->all.at);
        calls->len += p->all.len;
        calls->unread = calls->unread ? calls->unread : p->unread;
        vec_free(&p->all);
    }
    arena_deinit(&scratch);
    code_close(code);
    return true;
}

bool static_calls_native(struct static_calls *calls, const struct functions *f, struct object *o,
                         struct arena *a)
{
    struct arena scratch = {0};
    struct code_range *ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        ranges[i] = (struct code_range){f->at[i].start, f->at[i].last + 1};
    bool is_known = static_calls_find(
        calls, f, o, &(struct static_call_rules){.ranges = ranges, .takes_jumps = true}, a);
    arena_deinit(&scratch);
    return is_known;
}

/* --- arcs ---------------------------------------------------------------------------------- */

/* The functions at both ends of each arc of the profile. */
struct ends {
    const struct graph *g;
    const struct profile *profile;
    bool labels_are_inside;
    struct end_pair {
        uint32_t caller, callee;
        bool is_inside;
    } * pair;
};

enum { ENDS_A_PIECE = 16384 };

/* Looks up the ends of ENDS_A_PIECE arcs. */
static void build_find_ends(size_t piece, void *context)
{
    struct ends *ends = context;
    const struct functions *f = ends->g->functions;
    size_t end = (piece + 1) * ENDS_A_PIECE;
    end = end < ends->profile->arcs.len ? end : ends->profile->arcs.len;
    const struct indexed_range *at = f->index.at;
    uint32_t caller = NO_FUNCTION;
    for (size_t i = piece * ENDS_A_PIECE; i < end; i++) {
        const struct arc *arc = &ends->profile->arcs.at[i];
        /* Mostly that of the arc before: recorders write the arcs of a caller together. Where
         * ranges overlap, that of the last start counts. */
        bool is_same = caller != NO_FUNCTION && arc->from >= at[caller].start &&
                       arc->from <= at[caller].last &&
                       (caller + 1 == f->len || arc->from < at[caller + 1].start);
        caller = is_same ? caller : functions_find(f, arc->from);
        uint32_t callee = functions_find(f, arc->self);
        while (ends->labels_are_inside && callee != NO_FUNCTION && !f->at[callee].is_function)
            callee--; /* from 0 to NO_FUNCTION */
        /* A function enters its own piece: no call of a function. */
        bool is_inside = callee != NO_FUNCTION && f->at[callee].piece_of &&
                         functions_whole(f, caller) == functions_whole(f, callee);
        ends->pair[i] =
            (struct end_pair){functions_whole(f, caller), functions_whole(f, callee), is_inside};
    }
}

/* Finds the arc of a pair. Recorders write the arcs of one caller next to each other; while that
 * holds, the newest arc of the callee is the only candidate. Once a caller returns after others, a
 * hash table of arc numbers takes over. */
struct arc_finder {
    struct graph *g;
    struct arena scratch;
    uint32_t *newest; /* by callee: arc + 1 */
    bool *is_seen;    /* by caller */
    uint32_t caller;  /* of the arc before */
    uint32_t *slots;  /* arc + 1; NULL until needed */
    size_t mask;
};

/* Open addressing: the slot of the pair, or the empty one in which it belongs. */
static uint32_t *build_hash_slot(const struct arc_finder *f, uint32_t caller, uint32_t callee)
{
    uint64_t h = ((uint64_t)caller << 32 | callee) * 0x9e3779b97f4a7c15u;
    size_t i = (h ^ h >> 29) & f->mask;
    for (; f->slots[i]; i = (i + 1) & f->mask) {
        const struct graph_arc *arc = &f->g->arcs[f->slots[i] - 1];
        if (arc->caller == caller && arc->callee == callee)
            break;
    }
    return &f->slots[i];
}

/* Where the number of the pair's arc is kept: 0 there if it has none yet, or, without hashing, if
 * another caller's arc stands there. */
static uint32_t *build_arc_place(struct arc_finder *f, uint32_t caller, uint32_t callee,
                                 size_t most)
{
    if (!f->slots && caller != f->caller && f->is_seen[caller]) {
        for (f->mask = 63; f->mask / 2 < most;)
            f->mask = f->mask * 2 + 1;
        f->slots = ARENA_NEW(&f->scratch, uint32_t, f->mask + 1);
        for (uint32_t i = 0; i < f->g->arcs_len; i++)
            *build_hash_slot(f, f->g->arcs[i].caller, f->g->arcs[i].callee) = i + 1;
    }
    f->caller = caller;
    f->is_seen[caller] = true;
    if (f->slots)
        return build_hash_slot(f, caller, callee);
    uint32_t *newest = &f->newest[callee];
    if (*newest && f->g->arcs[*newest - 1].caller != caller)
        *newest = 0;
    return newest;
}

/* Adds calls to the arc of a pair, a new one if it has none. */
static void build_add_calls(struct arc_finder *f, struct end_pair pair, uint64_t count, size_t most)
{
    struct graph *g = f->g;
    g->nodes[pair.callee].calls += count;
    uint32_t *place = build_arc_place(f, pair.caller, pair.callee, most);
    if (*place) {
        g->arcs[*place - 1].count += count;
        return;
    }
    g->arcs[g->arcs_len++] =
        (struct graph_arc){.caller = pair.caller, .callee = pair.callee, .count = count};
    *place = g->arcs_len;
}

/* Sorts arc numbers by one of their ends, newest first. */
static void build_make_lists(struct graph *g, struct graph_lists *lists, bool by_callee,
                             struct arena *a)
{
    uint32_t n = g->functions->len;
    lists->start = ARENA_NEW(a, uint32_t, n + 1);
    lists->arc = ARENA_NEW(a, uint32_t, g->arcs_len);
    for (uint32_t i = 0; i < g->arcs_len; i++)
        lists->start[by_callee ? g->arcs[i].callee : g->arcs[i].caller]++;
    for (uint32_t i = 1; i <= n; i++)
        lists->start[i] += lists->start[i - 1];
    for (uint32_t i = 0; i < g->arcs_len; i++)
        lists->arc[--lists->start[by_callee ? g->arcs[i].callee : g->arcs[i].caller]] = i;
}

/* Appends an arc for each pair that has none. Callers come in order, so that it is enough to know
 * who was the last caller of each function. */
static void build_add_static_arcs(struct graph *g, const struct static_calls *calls)
{
    struct arena scratch = {0};
    struct graph_lists measured;
    uint32_t *last_caller = ARENA_NEW(&scratch, uint32_t, g->functions->len); /* plus 1 */
    build_make_lists(g, &measured, false, &scratch);
    uint32_t caller = NO_FUNCTION;
    for (size_t i = 0; i < calls->len; i++) {
        struct static_call call = calls->at[i];
        if (call.caller != caller) {
            caller = call.caller;
            for (uint32_t k = measured.start[caller]; k < measured.start[caller + 1]; k++)
                last_caller[g->arcs[measured.arc[k]].callee] = caller + 1;
        }
        if (last_caller[call.callee] == caller + 1)
            continue;
        last_caller[call.callee] = caller + 1;
        g->arcs[g->arcs_len++] = (struct graph_arc){.caller = caller, .callee = call.callee};
    }
    arena_deinit(&scratch);
}

/* Reads the arcs of a profile in their order. Calls within a function, to none, or from none make
 * no arc, and are counted apart. */
static void build_read_arcs(struct graph *g, const struct profile *p, struct graph_rules rules,
                            struct arena *a)
{
    size_t len = p->arcs.len;
    const struct graph_filter *filter = rules.filter;
    struct arc_finder f = {.g = g, .caller = NO_FUNCTION};
    f.newest = ARENA_NEW(&f.scratch, uint32_t, g->functions->len);
    f.is_seen = ARENA_NEW(&f.scratch, bool, g->functions->len);
    struct ends ends = {g, p, rules.labels_are_inside, ARENA_NEW(&f.scratch, struct end_pair, len)};
    parallel_for((len + ENDS_A_PIECE - 1) / ENDS_A_PIECE, 0, build_find_ends, &ends);

    g->arcs = ARENA_NEW(a, struct graph_arc, len + (rules.calls ? rules.calls->len : 0));
    for (size_t i = 0; i < len; i++) {
        struct end_pair pair = ends.pair[i];
        uint64_t count = p->arcs.at[i].count;
        if (pair.is_inside) {
            g->inner_calls += count;
        } else if (pair.callee == NO_FUNCTION) {
            g->unknown_callees += count;
        } else if (pair.caller == NO_FUNCTION) {
            g->unknown_callers += count;
            g->nodes[pair.callee].calls += rules.ignores_unknown_callers ? 0 : count;
        } else if (!filter || filter->admits_arc(filter->context, pair.caller, pair.callee)) {
            build_add_calls(&f, pair, count, len);
        }
    }
    arena_deinit(&f.scratch);
    g->measured_len = g->arcs_len;
    if (rules.calls)
        build_add_static_arcs(g, rules.calls);
    build_make_lists(g, &g->callers, true, a);
    build_make_lists(g, &g->callees, false, a);
}

void graph_connect(struct graph *g, const struct functions *f, const struct profile *p,
                   const struct attribution *t, struct graph_rules rules, struct arena *a)
{
    *g = (struct graph){.functions = f, .len = f->len};
    g->nodes = ARENA_NEW(a, struct graph_node, f->len + f->len / 2 + 1);
    g->cycle_of = ARENA_NEW(a, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        g->nodes[i] = (struct graph_node){.self = t->self[i], .head = i, .next_member = NO_NODE};
    build_read_arcs(g, p, rules, a);
    /* Calls of a function to itself count apart. */
    for (uint32_t i = 0; i < g->arcs_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        if (arc->caller != arc->callee)
            continue;
        g->nodes[arc->caller].calls -= arc->count;
        g->nodes[arc->caller].self_calls = arc->count;
    }
}
