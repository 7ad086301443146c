/* Lines of one source with their branches and conditions: what all tables say of each, added up. */
#include "coverage/analysis/coverage_result_private.h"
#include "coverage/model/coverage.h"

#define NONE ((uint32_t)NO_INDEX)

static uint32_t lines_place_of(const struct source_part *part, uint32_t function)
{
    return function == NONE ? NONE : part->places[function];
}

static uint32_t lines_shown_at(const struct result_building *b, uint32_t place)
{
    return place == NONE ? NONE : b->shown[place];
}

/* --- branches -------------------------------------------------------------------------------- */

/* Whether the rules keep a branch; if not, its sum says why. */
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

struct putting {
    struct result_builder *w;
    struct result_left_out *left_out;
    struct result_line *line;
    uint8_t marks;
    uint32_t block;
};

/* Branches of one block, as far as they are kept. Where only one way is left, nothing is decided,
 * and it is no branch. */
static void lines_put_block(struct putting *p, const struct table_outcome *at, uint32_t len,
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
                                                     .function = function};
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

static void lines_put_group(struct putting *p, const struct group_ref *ref)
{
    const struct table_outcome *at = ref->outcomes;
    uint32_t function = lines_shown_at(p->w->b, ref->place), len = ref->group->len;
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
}

/* A tracefile's branches are those that the objects have already, if there are as many, in the
 * same blocks. */
static bool lines_joins_known(struct putting *p, const struct group_ref *ref)
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
        for (uint32_t k = 0; at[i].count && k < len; k++)
            known[k].was_reached |= known[k].block == known[i].block;
    }
    return true;
}

/* Groups in an order that does not depend on that of the files: by function, then contents;
 * tracefiles' at the end. */
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

/* Into items: those with one key are of one function and length. */
static void lines_collect_groups(struct result_builder *w)
{
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
}

/* Adds up the groups same[i] to same[end], which have the same contents. */
static struct group_ref lines_sum_groups(struct result_builder *w, size_t i, size_t end)
{
    struct group_ref ref = w->groups.at[w->same.at[i]];
    if (end == i + 1)
        return ref;
    w->sum.len = 0;
    for (uint32_t k = 0; k < ref.group->len; k++)
        vec_push(&w->sum, ref.outcomes[k]);
    while (++i < end)
        for (uint32_t k = 0; k < ref.group->len; k++)
            w->sum.at[k].count =
                add_saturating(w->sum.at[k].count, w->groups.at[w->same.at[i]].outcomes[k].count);
    ref.outcomes = w->sum.at;
    return ref;
}

/* The groups of `same`, which are of one function and length. */
static void lines_put_same(struct putting *p)
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

/* Most lines have at most one group, in one table. */
static bool lines_put_single(struct putting *p)
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

static void lines_put_branches(struct putting *p)
{
    struct result_builder *w = p->w;
    if (lines_put_single(p))
        return;
    lines_collect_groups(w);
    for (size_t i = 0, end; i < w->items.len; i = end) {
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        lines_put_same(p);
    }
}

/* --- conditions ------------------------------------------------------------------------------ */

static int lines_by_ordinal(uint32_t left, uint32_t right, const void *context)
{
    const struct mask_ref *masks = context, *x = &masks[left], *y = &masks[right];
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->mask->ordinal != y->mask->ordinal)
        return x->mask->ordinal < y->mask->ordinal ? -1 : 1;
    return x->mask->terms < y->mask->terms ? -1 : x->mask->terms > y->mask->terms;
}

static void lines_collect_masks(struct result_builder *w)
{
    w->masks.len = w->same.len = 0;
    for (size_t i = 0; i < w->walk.lines.len; i++) {
        const struct source_part *part = w->walk.lines.at[i].part;
        for (uint32_t m = w->walk.lines.at[i].line->mask; m != NONE;
             m = part->t->masks.at[m].next) {
            const struct table_mask *mask = &part->t->masks.at[m];
            vec_push(&w->same, (uint32_t)w->masks.len);
            vec_push(&w->masks, (struct mask_ref){mask, lines_place_of(part, mask->function)});
        }
    }
    sort_u32(w->same.at, w->same.len, lines_by_ordinal, w->masks.at);
}

static void lines_put_condition(struct result_builder *w, const struct mask_ref *ref,
                                struct result_line *l, bool is_known)
{
    struct result_condition *conditions = w->b->r->conditions.at;
    if (!is_known) {
        conditions[w->conditions++] = (struct result_condition){
            lines_shown_at(w->b, ref->place), ref->mask->terms, ref->mask->on, ref->mask->off};
        l->conditions++;
        return;
    }
    conditions[w->conditions - 1].on |= ref->mask->on;
    conditions[w->conditions - 1].off |= ref->mask->off;
}

static void lines_put_conditions(struct result_builder *w, struct result_line *l)
{
    lines_collect_masks(w);
    for (size_t i = 0; i < w->same.len; i++) {
        const struct mask_ref *ref = &w->masks.at[w->same.at[i]];
        bool is_known = i && !lines_by_ordinal(w->same.at[i - 1], w->same.at[i], w->masks.at);
        /* a tracefile's, of the only condition there is */
        is_known |= ref->place == NONE && l->conditions == 1 &&
                    w->b->r->conditions.at[w->conditions - 1].terms == ref->mask->terms;
        lines_put_condition(w, ref, l, is_known);
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

static void lines_sum_line(const struct coverage_result *r, const struct result_line *l,
                           struct coverage_ratios *sums)
{
    bool is_unknown = l->state == RESULT_UNKNOWN;
    ratio_count(&sums->lines, l->state);
    for (uint32_t i = 0; i < l->branches; i++)
        ratio_count(&sums->branches,
                    hit_state(r->branches.at[l->first_branch + i].count, is_unknown));
    for (uint32_t i = 0; i < l->conditions; i++) {
        const struct result_condition *c = &r->conditions.at[l->first_condition + i];
        sums->conditions.all += 2 * c->terms;
        sums->conditions.hit += condition_hit(c);
        sums->conditions.unknown += is_unknown ? 2 * c->terms - condition_hit(c) : 0;
    }
    sums->calls.all += l->calls;
    sums->calls.hit += l->calls_made;
    sums->calls.unknown += is_unknown ? l->calls - l->calls_made : 0;
}

/* What the tables say of the line, added up. */
static struct table_line lines_sum_of(const struct line_walk *walk)
{
    struct table_line sum = {0};
    for (size_t i = 0; i < walk->lines.len; i++) {
        const struct table_line *l = walk->lines.at[i].line;
        sum.count = add_saturating(sum.count, l->count);
        sum.is_known |= l->is_known;
        sum.is_unknown |= l->is_unknown;
    }
    return sum;
}

static void lines_put_line(struct result_builder *w, uint32_t rank, uint8_t marks)
{
    struct coverage_result *r = w->b->r;
    struct result_source *s = &r->sources.at[rank];
    struct result_left_out *left_out = &w->b->sources[rank].left_out;
    struct table_line sum = lines_sum_of(&w->walk);
    if (marks & MARKER_CODE) {
        left_out->lines++;
        return;
    }
    if (!sum.is_known && !sum.is_unknown)
        return; /* branches of a tracefile that has no count of the line */
    struct result_line *l = &r->lines.at[s->first_line + s->lines++];
    *l = (struct result_line){.count = sum.count,
                              .line = w->walk.number,
                              .state = hit_state(sum.count, sum.is_unknown),
                              .first_branch = w->branches,
                              .first_condition = w->conditions};
    struct putting p = {w, left_out, l, marks, 0};
    lines_put_branches(&p);
    lines_put_conditions(w, l);
    lines_sum_line(r, l, &s->sums);
}

void result_put_lines(struct result_builder *w, uint32_t rank)
{
    struct result_building *b = w->b;
    const struct source_marks *m = &b->sources[rank].marks;
    uint32_t first = b->order.first_part[rank], end = b->order.first_part[rank + 1];
    w->branches = b->sources[rank].first_branch;
    w->conditions = b->sources[rank].first_condition;
    line_walk_start(&w->walk, b->order.parts + first, end - first);
    for (size_t i = 0; line_walk_next(&w->walk); i++)
        lines_put_line(w, rank, i < m->lines.len ? m->lines.at[i] : 0);
}
