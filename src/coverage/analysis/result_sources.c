/* One source of a result: its functions, what its text leaves out, its lines with their branches
 * and conditions, each summed over all tables.
 *
 * It is called twice for each source, by any thread: functions first, of all sources, because lines
 * mention functions of other sources too (inlined ones). A function's number while this goes on is
 * its place, the same in all tables (source_part.places); `shown` says where it ended up, or that a
 * marker left it out.
 *
 * What the tables say of one thing meets in sorted order: functions by first line and name, groups
 * of branches by function and length and then by contents, conditions by place and ordinal. So the
 * result does not depend on which thread read which file. Branches of one shape are added up; those
 * of another stand beside them.
 *
 * Branches are left out in this order, and counted as left out: what a marker excludes, throws,
 * what the compiler made (clean-up code, lines without text of a person), and what is then the only
 * way on from its block, which decides nothing. */
#include "coverage/analysis/coverage_result_private.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"
#include "source/source.h"

#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* --- what the source's text says ------------------------------------------------------------- */

/* Marks the lines of a range; `q->lines` ascend. Lines that no table mentions have no mark: there
 * is nothing to leave out. */
static void mark_range(const struct marks_request *q, struct source_marks *m, struct marker range)
{
    uint32_t first = PARTITION_POINT(q->lines_len, k, q->lines[k].number < range.first);
    for (uint32_t i = first; i < q->lines_len && q->lines[i].number <= range.last; i++)
        m->lines.at[i] |= (uint8_t)range.what;
    if (range.what == MARKER_CODE)
        vec_push(&m->code, range);
}

/* Functions that begin at this line, up to their last line: where that is unknown, the line before
 * the next function. Functions ascend by first line; several may begin on one. */
static void mark_functions(const struct marks_request *q, struct source_marks *m, uint32_t line)
{
    for (uint32_t i = 0; i < q->functions_len; i++) {
        const struct marked_function *f = &q->functions[i];
        if (f->start_line != line)
            continue;
        uint32_t last = f->end_line >= line ? f->end_line : NONE;
        for (uint32_t k = i + 1; last == NONE && k < q->functions_len; k++)
            if (q->functions[k].start_line > line)
                last = q->functions[k].start_line - 1;
        mark_range(q, m, (struct marker){line, last, MARKER_CODE});
    }
}

static int by_first(const void *left, const void *right)
{
    const struct marker *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Whether the line holds nothing but braces, brackets, semicolons and a comment to its end.
 * Branches there are of code that the compiler made for the end of a block. */
static bool is_bare(struct bytes line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '/' && i + 1 < line.len && line.at[i + 1] == '/')
            return true;
        if (!memchr(" \t\f\v\r{}();", line.at[i], 10))
            return false;
    }
    return true;
}

/* Fills a zeroed *m. A source that cannot be read has no marks; if it may well be there (a want of
 * permission, an error of the disk), that is trouble, which the report names. */
static void source_marks_make(const struct marks_request *q, struct source_marks *m)
{
    struct source_text text = {0};
    struct markers found = {0};
    struct err why;
    if (!source_text_read(&text, q->file, &why)) {
        if (errno_hides_file(why.system) && !(m->trouble = strdup(why.line)))
            memory_exhausted(strlen(why.line));
        source_text_deinit(&text);
        return;
    }
    vec_reserve(&m->lines, q->lines_len + 1);
    memset(m->lines.at, 0, q->lines_len);
    m->lines.len = q->lines_len;
    if (!q->ignores_markers)
        markers_find(text.bytes, &found);
    for (size_t i = 0; i < found.ranges.len; i++) {
        if (found.ranges.at[i].what == MARKER_FUNCTION)
            mark_functions(q, m, found.ranges.at[i].first);
        else
            mark_range(q, m, found.ranges.at[i]);
    }
    if (m->code.len)
        qsort(m->code.at, m->code.len, sizeof *m->code.at, by_first);
    m->unclosed = found.unclosed;
    m->stray = found.stray;
    markers_deinit(&found);
    bool is_indexed = false; /* which costs a pass over the text: only if it is needed */
    for (uint32_t i = 0; q->finds_bare_lines && i < q->lines_len; i++) {
        if (!q->lines[i].has_branches)
            continue;
        if (!is_indexed)
            source_text_index(&text);
        is_indexed = true;
        struct bytes line = source_line(&text, q->lines[i].number);
        if (line.at && is_bare(line))
            m->lines.at[i] |= MARK_BARE;
    }
    source_text_deinit(&text);
}

void source_marks_deinit(struct source_marks *m)
{
    free(m->trouble);
    vec_free(&m->lines);
    vec_free(&m->code);
}

/* --- functions ------------------------------------------------------------------------------- */

/* What that one table says; the sum over tables is in w->functions. */
static const struct table_function *function_of(const struct function_ref *ref)
{
    return &ref->part->t->functions.at[ref->function];
}

static const char *name_of(const struct function_ref *ref)
{
    return intern_text(&ref->part->t->names, function_of(ref)->name);
}

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct function_ref *refs = context;
    return strcmp(name_of(&refs[left]), name_of(&refs[right]));
}

/* One function of two tables: same first line, same name. */
static bool is_same(const struct result_builder *w, size_t left, size_t right)
{
    const struct keyed *a = &w->items.at[left], *b = &w->items.at[right];
    return a->key == b->key && !by_name(a->item, b->item, w->refs.at);
}

/* ---- what the source's text says */

/* Lines and functions of all tables make one request: the text is read once for a source. */
static void mark(struct result_builder *w, const struct source_part *parts, uint32_t len,
                 const char *file, struct source_marks *m)
{
    const struct result_rules *rules = w->b->rules;
    if (!file || (rules->ignores_markers && rules->keeps_all_branches))
        return; /* it was not asked for */
    w->marked_lines.len = w->marked_functions.len = 0;
    for (line_walk_start(&w->walk, parts, len); line_walk_next(&w->walk);) {
        bool has_branches = false;
        for (size_t i = 0; i < w->walk.lines.len; i++)
            has_branches |= w->walk.lines.at[i].line->group != NONE;
        vec_push(&w->marked_lines, (struct marked_line){w->walk.number, has_branches});
    }
    for (size_t i = 0; i < w->functions.len; i++)
        vec_push(&w->marked_functions, (struct marked_function){w->functions.at[i].start_line,
                                                                w->functions.at[i].end_line});
    struct marks_request request = {.file = file,
                                    .lines = w->marked_lines.at,
                                    .lines_len = (uint32_t)w->marked_lines.len,
                                    .functions = w->marked_functions.at,
                                    .functions_len = (uint32_t)w->marked_functions.len,
                                    .ignores_markers = rules->ignores_markers,
                                    .finds_bare_lines = !rules->keeps_all_branches};
    source_marks_make(&request, m);
}

/* Ranges are sorted by their first line. */
static bool is_left_out(const struct source_marks *m, uint32_t line)
{
    for (size_t i = 0; i < m->code.len && m->code.at[i].first <= line; i++)
        if (line <= m->code.at[i].last)
            return true;
    return false;
}

/* ---- into the result */

/* Only names that begin as mangled ones do are tried. */
static const char *readable(struct result_builder *w, const char *linkage)
{
    const struct result_rules *rules = w->b->rules;
    char *text = rules->demangle && linkage[0] == '_' ? rules->demangle(linkage, NULL) : NULL;
    const char *kept = text ? arena_copy(&w->texts, text, strlen(text)) : linkage;
    free(text);
    return kept;
}

static void put_function(struct result_builder *w, uint32_t rank, const struct table_function *f,
                         const char *linkage)
{
    struct result_source *s = &w->b->r->sources.at[rank];
    uint8_t state = hit_state(f->count, f->is_unknown);
    w->b->r->functions.at[s->first_function + s->functions++] =
        (struct result_function){.name = readable(w, linkage),
                                 .linkage = linkage,
                                 .source = rank,
                                 .start_line = f->start_line,
                                 .end_line = f->end_line,
                                 .count = f->count,
                                 .state = state,
                                 .reason = f->reason,
                                 .defect = f->defect,
                                 .is_partly_unknown = f->is_unknown,
                                 .is_repaired = f->is_repaired};
    ratio_count(&s->sums.functions, state);
}

/* Sorted by line and name, equal ones added up, places given, then those that no marker leaves out
 * are put into the result. */
void result_put_functions(struct result_builder *w, uint32_t rank)
{
    struct result_building *b = w->b;
    struct built_source *built = &b->sources[rank];
    struct result_source *s = &b->r->sources.at[rank];
    const struct source_part *parts = b->order.parts + b->order.first_part[rank];
    uint32_t len = b->order.first_part[rank + 1] - b->order.first_part[rank];
    /* Into items, by first line and name. */
    w->items.len = w->refs.len = 0;
    for (uint32_t p = 0; p < len; p++)
        for (uint32_t i = 0; i < parts[p].functions_len; i++) {
            const struct keyed *f = &parts[p].functions[i];
            vec_push(&w->items, (struct keyed){(uint32_t)f->key, (uint32_t)w->refs.len});
            vec_push(&w->refs, (struct function_ref){&parts[p], f->item});
        }
    if (len > 1)
        sort_keyed(w->items.at, w->items.len);
    for (size_t i = 0, end; i < w->items.len; i = end) {
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        sort_u32(w->same.at, end - i, by_name, w->refs.at);
        for (size_t k = i; k < end; k++)
            w->items.at[k].item = w->same.at[k - i];
    }
    /* Each function once; `items` keeps the first that says so. Their places are numbers in the
     * order of all functions. */
    size_t kept = 0;
    w->functions.len = 0;
    for (size_t i = 0; i < w->items.len; i++) {
        const struct function_ref *ref = &w->refs.at[w->items.at[i].item];
        if (kept && is_same(w, kept - 1, i)) {
            table_function_add(&w->functions.at[kept - 1], function_of(ref));
        } else {
            w->items.at[kept++] = w->items.at[i];
            vec_push(&w->functions, *function_of(ref));
        }
        ref->part->places[ref->function] = s->first_function + (uint32_t)kept - 1;
    }
    w->items.len = kept;

    mark(w, parts, len, s->file, &built->marks);
    for (uint32_t i = 0; i < w->functions.len; i++) {
        const struct table_function *f = &w->functions.at[i];
        uint32_t *shown = &b->shown[s->first_function + i];
        if (is_left_out(&built->marks, f->start_line)) {
            built->left_out.functions++;
            *shown = NONE;
            continue;
        }
        *shown = s->first_function + s->functions;
        put_function(w, rank, f, name_of(&w->refs.at[w->items.at[i].item]));
    }
}

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

/* A line on its way into the result; `block` numbers the blocks that were put. */
struct putting {
    struct result_builder *w;
    struct result_left_out *left_out;
    struct result_line *line;
    uint8_t marks;
    uint32_t block;
};

/* Branches of one block, as far as they are kept. Where only one way is left, nothing is decided,
 * and it is no branch. A block was reached if any of its ways was taken, the ones that are left out
 * included. */
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

/* Calls are counted, not listed. */
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

/* A tracefile's branches are those that the objects have already, if there are as many, in the same
 * blocks. Which outcome is which is told by the order alone: tracefiles do not say more. */
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

/* Most lines have at most one group, in one table. True: nothing is left to do. */
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

/* `place` NONE is the largest key: groups of tracefiles come last, when those of objects are known.
 */
static void lines_put_branches(struct putting *p)
{
    struct result_builder *w = p->w;
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

    for (size_t i = 0, end; i < w->items.len; i = end) {
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        lines_put_same(p);
    }
}

/* --- conditions ------------------------------------------------------------------------------ */

/* Equal ones are the same condition. */
static int lines_by_ordinal(uint32_t left, uint32_t right, const void *context)
{
    const struct mask_ref *masks = context, *x = &masks[left], *y = &masks[right];
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->mask->ordinal != y->mask->ordinal)
        return x->mask->ordinal < y->mask->ordinal ? -1 : 1;
    return x->mask->terms < y->mask->terms ? -1 : x->mask->terms > y->mask->terms;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Counts, state, branches, conditions, and the sums of the source. */
static void lines_put_line(struct result_builder *w, uint32_t rank, uint8_t marks)
{
    struct coverage_result *r = w->b->r;
    struct result_source *s = &r->sources.at[rank];
    struct result_left_out *left_out = &w->b->sources[rank].left_out;
    /* What the tables say of the line, added up. */
    const struct line_walk *walk = &w->walk;
    struct table_line sum = {0};
    for (size_t i = 0; i < walk->lines.len; i++) {
        const struct table_line *l = walk->lines.at[i].line;
        sum.count = add_saturating(sum.count, l->count);
        sum.is_known |= l->is_known;
        sum.is_unknown |= l->is_unknown;
    }

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

    for (size_t i = 0; i < w->same.len; i++) {
        const struct mask_ref *ref = &w->masks.at[w->same.at[i]];
        bool is_known = i && !lines_by_ordinal(w->same.at[i - 1], w->same.at[i], w->masks.at);
        /* a tracefile's, of the only condition there is; two of LLVM's stand side by side */
        is_known |= ref->place == NONE && l->conditions == 1 &&
                    w->masks.at[w->same.at[0]].place != NONE &&
                    w->b->r->conditions.at[w->conditions - 1].terms == ref->mask->terms;
        struct result_condition *conditions = w->b->r->conditions.at;
        if (!is_known) {
            conditions[w->conditions++] = (struct result_condition){
                lines_shown_at(w->b, ref->place), ref->mask->terms, ref->mask->on, ref->mask->off};
            l->conditions++;
            continue;
        }
        conditions[w->conditions - 1].on |= ref->mask->on;
        conditions[w->conditions - 1].off |= ref->mask->off;
    }

    struct coverage_ratios *sums = &s->sums;
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

/* Marks lie beside the lines in the order of the walk, which is the same both times. */
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
