/* Branches and conditions of one line of a result, and what functions counted on it, over all
 * tables.
 *
 * Entries of the tables for one thing meet in sorted order: groups of branches by function and
 * length and then by contents, conditions by place and ordinal. So the result does not depend on
 * which thread read which file. Branches of one shape are added up; those of another stand beside
 * them.
 *
 * Branches are left out in this order, and counted as left out: what a marker excludes, throws,
 * what the compiler made (clean-up code, lines without text of a person), and what is then the only
 * way on from its block, which decides nothing.
 *
 * Then instances are put together by the rule (enum instance_rule). Instances are functions of
 * different names whose bodies begin at one place (struct function_body): of a template, the two
 * constructors that C++ makes of one, and functions into which the line's function was inlined: a
 * line in no function's body belongs to the innermost one around it. gcc's branches have no
 * columns, so that those of two instances are known to be the same by their order on the line. */
#include "coverage/analysis/coverage_result_private.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"

#define NONE ((uint32_t)NO_INDEX)

/* Numbers that all tables share; NONE stays. */
static uint32_t lines_place_of(const struct source_part *part, uint32_t function)
{
    return function == NONE ? NONE : part->places[function];
}

/* Where the function is in the result; NONE if a marker left it out. */
static uint32_t lines_shown_at(const struct result_building *b, uint32_t place)
{
    return place == NONE ? NONE : b->shown[place];
}

/* Whose code a function has on the line: its own, or what was inlined into it. */
static uint32_t body_of(const struct result_putting *p, uint32_t place)
{
    const struct function_body *f = place == NONE ? NULL : &p->w->b->bodies[place];
    bool is_own = f && f->rank == p->rank && f->first <= p->number &&
                  (p->number <= f->last || f->last < f->first);
    return is_own ? f->body : p->body;
}

/* --- counts ---------------------------------------------------------------------------------- */

/* What functions counted on the line: of each body the least that an instance did. */
uint64_t result_shared_count(const struct result_putting *p)
{
    struct result_builder *w = p->w;
    uint64_t total = 0, least = UINT64_MAX, sum = 0;
    w->items.len = w->shares.len = 0;
    for (size_t i = 0; i < w->walk.lines.len; i++) {
        const struct source_part *part = w->walk.lines.at[i].part;
        size_t line = (size_t)(w->walk.lines.at[i].line - part->t->lines.at);
        uint32_t at = line < part->t->shares_of.len ? part->t->shares_of.at[line] : NONE;
        for (; at != NONE; at = part->t->shares.at[at].next) {
            uint32_t place = lines_place_of(part, part->t->shares.at[at].function);
            vec_push(&w->items,
                     (struct keyed){map_two(body_of(p, place), place), (uint32_t)w->shares.len});
            vec_push(&w->shares, part->t->shares.at[at].count);
        }
    }
    if (w->items.len)
        sort_keyed(w->items.at, w->items.len);
    for (size_t i = 0; i < w->items.len; i++) {
        bool is_last = i + 1 == w->items.len;
        uint64_t key = w->items.at[i].key, next = is_last ? 0 : w->items.at[i + 1].key;
        sum = add_saturating(sum, w->shares.at[w->items.at[i].item]);
        if (!is_last && next == key)
            continue;
        least = sum < least ? sum : least;
        sum = 0;
        if (!is_last && next >> 32 == key >> 32)
            continue;
        total = add_saturating(total, least);
        least = UINT64_MAX;
    }
    return total;
}

/* --- branches -------------------------------------------------------------------------------- */

/* Whether the rules keep a branch; if not, its sum says why. Tried in this order, so that each
 * branch is left out for one reason:
 *
 *     marker on the line      all branches, or those of exceptions     branches
 *     OUTCOME_THROW           taken by exceptions                      exception_branches
 *     OUTCOME_HIDDEN, bare    code of the compiler                     hidden_branches */
static bool lines_keeps(const struct result_building *b, const struct table_outcome *o,
                        uint8_t marks, struct result_left_out *left_out)
{
    if (marks & (MARKER_BRANCHES | (o->flags & OUTCOME_THROW ? MARKER_EXCEPTIONS : 0))) {
        left_out->branches++;
        return false;
    }
    if (b->rules->keeps_all_branches)
        return true;
    if (o->flags & OUTCOME_THROW) {
        left_out->exception_branches++;
        return false;
    }
    if (o->flags & OUTCOME_HIDDEN || marks & MARK_BARE) {
        left_out->hidden_branches++;
        return false;
    }
    return true;
}

/* Branches of one block, as far as they are kept. Where only one way is left, nothing is decided,
 * and it is no branch. A block was reached if any of its ways was taken, the ones that are left out
 * included. */
static void lines_put_block(struct result_putting *p, const struct table_outcome *at, uint32_t len,
                            uint32_t function)
{
    struct result_branch *branches = p->w->b->r->branches.at;
    uint32_t start = p->w->branches, end = start;
    bool was_reached = false;
    for (uint32_t i = 0; i < len; i++) {
        was_reached |= at[i].count > 0;
        if (lines_keeps(p->w->b, &at[i], p->marks, p->left_out))
            branches[end++] = (struct result_branch){.count = at[i].count,
                                                     .block = p->block,
                                                     .flags = at[i].flags,
                                                     .function = function,
                                                     .is_unknown = at[i].is_unknown};
    }
    if (end == start + 1 && len > 1) {
        end = start;
        p->left_out->exception_branches++;
    }
    if (end == start)
        return;
    for (uint32_t i = start; i < end; i++)
        branches[i].was_reached = was_reached;
    p->line->branches += end - start;
    p->w->branches = end;
    p->block++;
}

/* Calls are counted, not listed. */
static void lines_put_group(struct result_putting *p, const struct group_ref *ref)
{
    const struct table_outcome *at = ref->outcomes;
    uint32_t function = lines_shown_at(p->w->b, ref->place), len = ref->group->len;
    uint32_t start = p->w->branches;
    for (uint32_t i = 0, end; i < len; i = end) {
        if (at[i].flags & OUTCOME_CALL) {
            p->line->calls++;
            p->line->calls_made += at[i].count > 0;
            end = i + 1;
            continue;
        }
        for (end = i + 1;
             end < len && at[end].block == at[i].block && !(at[end].flags & OUTCOME_CALL);)
            end++;
        lines_put_block(p, at + i, end - i, function);
    }
    if (p->w->branches > start)
        vec_push(&p->w->put, (struct put_group){.place = ref->place,
                                                .key = body_of(p, ref->place),
                                                .first = start,
                                                .len = p->w->branches - start});
}

/* A tracefile's branches are those that the objects have already, if there are as many, in the same
 * blocks. The order alone identifies outcomes: tracefiles do not say more. */
static bool lines_joins_known(struct result_putting *p, const struct group_ref *ref)
{
    const struct table_outcome *at = ref->outcomes;
    uint32_t len = ref->group->len;
    if (!p->line->branches || len != p->line->branches)
        return false;
    struct result_branch *known = p->w->b->r->branches.at + p->line->first_branch;
    for (uint32_t i = 0; i < len; i++)
        if (known[i].block != at[i].block)
            return false;
    for (uint32_t i = 0; i < len; i++) {
        known[i].count = add_saturating(known[i].count, at[i].count);
        known[i].is_unknown |= at[i].is_unknown;
        for (uint32_t k = 0; at[i].count && k < len; k++)
            known[k].was_reached |= known[k].block == known[i].block;
    }
    return true;
}

/* Groups in an order that does not depend on that of the files: by function, then contents;
 * tracefiles' at the end. Both are of one length. Equal contents are the same branches. */
static int lines_by_contents(uint32_t left, uint32_t right, const void *context)
{
    const struct group_ref *groups = context, *x = &groups[left], *y = &groups[right];
    for (uint32_t i = 0; i < x->group->len; i++) {
        const struct table_outcome *p = &x->outcomes[i], *q = &y->outcomes[i];
        if (p->block != q->block)
            return p->block < q->block ? -1 : 1;
        if (p->flags != q->flags)
            return p->flags < q->flags ? -1 : 1;
    }
    return 0;
}

/* Adds up the groups same[i] to same[end], which have the same contents. A single group is taken as
 * it is; sums go into w->sum, which the next call overwrites. */
static struct group_ref lines_sum_groups(struct result_builder *w, size_t i, size_t end)
{
    struct group_ref ref = w->groups.at[w->same.at[i]];
    if (end == i + 1)
        return ref;
    w->sum.len = 0;
    for (uint32_t k = 0; k < ref.group->len; k++)
        vec_push(&w->sum, ref.outcomes[k]);
    while (++i < end)
        for (uint32_t k = 0; k < ref.group->len; k++) {
            const struct table_outcome *o = &w->groups.at[w->same.at[i]].outcomes[k];
            w->sum.at[k].count = add_saturating(w->sum.at[k].count, o->count);
            w->sum.at[k].is_unknown |= o->is_unknown;
        }
    ref.outcomes = w->sum.at;
    return ref;
}

/* The groups of `same`, which are of one function and length. */
static void lines_put_same(struct result_putting *p)
{
    struct result_builder *w = p->w;
    sort_u32(w->same.at, w->same.len, lines_by_contents, w->groups.at);
    for (size_t i = 0, end; i < w->same.len; i = end) {
        for (end = i + 1;
             end < w->same.len && !lines_by_contents(w->same.at[i], w->same.at[end], w->groups.at);)
            end++;
        struct group_ref ref = lines_sum_groups(w, i, end);
        if (ref.group->function != NONE || !lines_joins_known(p, &ref))
            lines_put_group(p, &ref);
    }
}

/* ---- branches of instances
 *
 * A line's branches have been put function by function. Those of one body and shape are the same
 * conditions of the source: they are put together by the rule, in two steps, as the rule is about
 * functions: first what one function has in several builds, then what several have.
 *
 *     larger<int>     3: if (a < b) 5, 0      union  5, 7     worst  0, 0
 *     larger<double>  3: if (a < b) 0, 7
 *
 * Shapes differ where the types do (`if constexpr`, an operator that is a call): such branches
 * stand beside each other. */

/* Same ways out in blocks of the same lengths. */
static uint64_t shape_of(const struct result_branch *at, uint32_t len)
{
    uint64_t shape = len;
    for (uint32_t i = 0; i < len; i++) {
        shape = (shape ^ map_two(at[i].block - at->block, at[i].flags)) * 0xff51afd7ed558ccdu;
        shape ^= shape >> 31;
    }
    return shape;
}

/* Whether branches are copies of their first `period` ones, each in blocks of its own. */
static bool repeats(const struct result_branch *at, uint32_t len, uint32_t period)
{
    uint32_t step = at[period].block - at->block;
    for (uint32_t i = period; i < len; i++)
        if (at[i].flags != at[i - period].flags || at[i].block != at[i - period].block + step)
            return false;
    return step && at[period].block != at[period - 1].block;
}

/* A function into which another is inlined several times on one line has its branches as often:
 * they are added up if another group shows what the branches of one copy are. */
static void fold_copies(struct result_putting *p, struct put_group *g)
{
    struct result_builder *w = p->w;
    struct result_branch *at = w->b->r->branches.at + g->first;
    for (uint32_t period = 1; period <= g->len / 2; period++) {
        if (g->len % period || !map_find(&w->shapes, g->key, shape_of(at, period)) ||
            !repeats(at, g->len, period))
            continue;
        for (uint32_t i = period; i < g->len; i++) {
            at[i % period].count = add_saturating(at[i % period].count, at[i].count);
            at[i % period].was_reached |= at[i].was_reached;
            at[i % period].is_unknown |= at[i].is_unknown;
        }
        g->len = period;
        return;
    }
}

/* Puts groups of one key and shape together, those of one function alone if `by_place`. The rest of
 * `put` keeps its order. */
static void join_groups(struct result_putting *p, bool by_place, bool takes_least)
{
    struct result_builder *w = p->w;
    size_t kept = 0;
    map_deinit(&w->shapes);
    for (size_t i = 0; i < w->put.len; i++) {
        struct put_group g = w->put.at[i];
        struct result_branch *from = w->b->r->branches.at + g.first, *into;
        uint64_t first = map_two(g.key, by_place ? g.place : 0);
        uint32_t known = *map_at(&w->shapes, first, shape_of(from, g.len), (uint32_t)kept, NULL);
        if (known == kept || w->put.at[known].len != g.len) {
            w->put.at[kept++] = g;
            continue;
        }
        into = w->b->r->branches.at + w->put.at[known].first;
        for (uint32_t k = 0; k < g.len; k++) {
            uint64_t least = into[k].count < from[k].count ? into[k].count : from[k].count;
            into[k].count = takes_least ? least : add_saturating(into[k].count, from[k].count);
            into[k].was_reached = takes_least ? into[k].was_reached && from[k].was_reached
                                              : into[k].was_reached || from[k].was_reached;
            into[k].is_unknown |= from[k].is_unknown;
            into[k].function = into[k].function == from[k].function ? into[k].function : NONE;
        }
    }
    w->put.len = kept;
}

/* From branch `first` on, which are those of w->put. */
static void unite_instances(struct result_putting *p, uint32_t first)
{
    struct result_builder *w = p->w;
    enum instance_rule rule = w->b->rules->instances;
    struct result_branch *all = w->b->r->branches.at;
    if (w->put.len < 2 || rule == INSTANCES_EACH)
        return;
    map_deinit(&w->shapes);
    for (size_t i = 0; i < w->put.len; i++) {
        const struct put_group *g = &w->put.at[i];
        map_at(&w->shapes, g->key, shape_of(all + g->first, g->len), 0, NULL);
    }
    for (size_t i = 0; i < w->put.len; i++)
        if (w->put.at[i].place == NONE || w->b->bodies[w->put.at[i].place].body != w->put.at[i].key)
            fold_copies(p, &w->put.at[i]);
    if (rule == INSTANCES_WORST)
        join_groups(p, true, false);
    join_groups(p, false, rule == INSTANCES_WORST);

    /* Close the gaps, and number the blocks anew. */
    uint32_t to = first, block = 0;
    for (size_t i = 0; i < w->put.len; i++) {
        uint32_t from = w->put.at[i].first, last = all[from].block;
        for (uint32_t k = 0; k < w->put.at[i].len; k++) {
            struct result_branch b = all[from + k];
            block += k && b.block != last;
            last = b.block;
            b.block = block;
            all[to++] = b;
        }
        block++;
    }
    p->left_out->united_branches += w->branches - to;
    p->line->branches -= w->branches - to;
    w->branches = to;
    p->block = block;
}

/* Most lines have at most one group, in one table. True: nothing is left to do. */
static bool lines_put_single(struct result_putting *p)
{
    const struct line_walk *walk = &p->w->walk;
    uint32_t groups = 0;
    for (size_t i = 0; i < walk->lines.len; i++)
        groups += walk->lines.at[i].line->groups;
    if (groups > 1 || walk->lines.len > 1)
        return !groups;
    if (groups) {
        const struct line_ref *line = &walk->lines.at[0];
        const struct table_group *g = &line->part->t->groups.at[line->line->group];
        struct group_ref ref = {g, line->part->t->outcomes.at + g->first,
                                lines_place_of(line->part, g->function)};
        lines_put_group(p, &ref);
    }
    return true;
}

/* Branches that may or may not have been taken leave the line's: no format has a word for one, and
 * as 0 it would seem to need a test. They count as unknown, and so for gates as missed. Those that
 * some run is known to have taken stay. */
void result_part_unknown(struct result_putting *p)
{
    struct result_branch *all = p->w->b->r->branches.at;
    uint32_t first = p->line->first_branch, to = first;
    for (uint32_t i = first; i < p->w->branches; i++)
        if (all[i].count || !all[i].is_unknown)
            all[to++] = all[i];
    p->line->unknown_branches = p->w->branches - to;
    p->line->branches -= p->line->unknown_branches;
    p->w->branches = to;
}

/* `place` NONE is the largest key: groups of tracefiles come last, when those of objects are known.
 */
void result_put_branches(struct result_putting *p)
{
    struct result_builder *w = p->w;
    uint32_t start = w->branches;
    w->put.len = 0;
    if (lines_put_single(p))
        return;
    /* Into items: those with one key are of one function and length. */
    w->groups.len = w->items.len = 0;
    for (size_t i = 0; i < w->walk.lines.len; i++) {
        const struct source_part *part = w->walk.lines.at[i].part;
        const struct coverage_table *t = part->t;
        for (uint32_t g = w->walk.lines.at[i].line->group; g != NONE; g = t->groups.at[g].next) {
            const struct table_group *group = &t->groups.at[g];
            uint32_t place = lines_place_of(part, group->function);
            vec_push(&w->items,
                     (struct keyed){(uint64_t)place << 32 | group->len, (uint32_t)w->groups.len});
            vec_push(&w->groups, (struct group_ref){group, t->outcomes.at + group->first, place});
        }
    }
    sort_keyed(w->items.at, w->items.len);

    bool is_united = false; /* before tracefiles join what is known */
    for (size_t i = 0, end; i < w->items.len; i = end) {
        if (!is_united && (uint32_t)(w->items.at[i].key >> 32) == NONE) {
            unite_instances(p, start);
            is_united = true;
        }
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        lines_put_same(p);
    }
    if (!is_united)
        unite_instances(p, start);
}

/* --- conditions ------------------------------------------------------------------------------ */

/* Equal ones are the same condition; of one function, if `places` are equal, too. */
static int by_condition(const struct mask_ref *x, const struct mask_ref *y)
{
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->mask->ordinal != y->mask->ordinal)
        return x->mask->ordinal < y->mask->ordinal ? -1 : 1;
    return x->mask->terms < y->mask->terms ? -1 : x->mask->terms > y->mask->terms;
}

static int by_condition_and_place(uint32_t left, uint32_t right, const void *context)
{
    const struct mask_ref *masks = context, *x = &masks[left], *y = &masks[right];
    int order = by_condition(x, y);
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

/* The key is the body whose condition it is, or, where each counts for itself, the function. */
static void list_conditions(const struct result_putting *p)
{
    struct result_builder *w = p->w;
    bool is_each = w->b->rules->instances == INSTANCES_EACH;
    w->masks.len = w->same.len = 0;
    for (size_t i = 0; i < w->walk.lines.len; i++) {
        const struct source_part *part = w->walk.lines.at[i].part;
        for (uint32_t m = w->walk.lines.at[i].line->mask; m != NONE;
             m = part->t->masks.at[m].next) {
            const struct table_mask *mask = &part->t->masks.at[m];
            uint32_t place = lines_place_of(part, mask->function);
            uint32_t key = is_each || place == NONE ? place : body_of(p, place);
            vec_push(&w->same, (uint32_t)w->masks.len);
            vec_push(&w->masks, (struct mask_ref){mask, place, key});
        }
    }
    sort_u32(w->same.at, w->same.len, by_condition_and_place, w->masks.at);
}

/* What one function has shown in any build or run; of several functions what any has, or all. */
void result_put_conditions(struct result_putting *p)
{
    struct result_builder *w = p->w;
    struct result_line *l = p->line;
    bool takes_least = w->b->rules->instances == INSTANCES_WORST;
    list_conditions(p);
    for (size_t i = 0, end; i < w->same.len; i = end) {
        const struct mask_ref *ref = &w->masks.at[w->same.at[i]];
        uint64_t on = 0, off = 0, common_on = UINT64_MAX, common_off = UINT64_MAX;
        uint64_t own_on = 0, own_off = 0;
        uint32_t places = 0;
        for (end = i; end < w->same.len; end++) {
            const struct mask_ref *m = &w->masks.at[w->same.at[end]];
            if (by_condition(ref, m))
                break;
            own_on |= m->mask->on;
            own_off |= m->mask->off;
            on |= m->mask->on;
            off |= m->mask->off;
            const struct mask_ref *next =
                end + 1 < w->same.len ? &w->masks.at[w->same.at[end + 1]] : NULL;
            if (next && !by_condition(m, next) && next->place == m->place)
                continue;
            common_on &= own_on;
            common_off &= own_off;
            own_on = own_off = 0;
            places++;
        }
        struct result_condition *c = w->b->r->conditions.at + w->conditions;
        /* a tracefile's, of the only condition there is; two of LLVM's stand side by side */
        if (ref->place == NONE && l->conditions == 1 && w->masks.at[w->same.at[0]].place != NONE &&
            c[-1].terms == ref->mask->terms) {
            c[-1].on |= on;
            c[-1].off |= off;
            continue;
        }
        *c = (struct result_condition){.function =
                                           places > 1 ? NONE : lines_shown_at(w->b, ref->place),
                                       .terms = ref->mask->terms,
                                       .on = takes_least ? common_on : on,
                                       .off = takes_least ? common_off : off};
        p->left_out->united_conditions += 2 * (places - 1) * c->terms;
        w->conditions++;
        l->conditions++;
    }
}
