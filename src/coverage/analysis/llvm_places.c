/* From counted regions, branches and decisions, of all functions, to lines.
 *
 * The lines of a source follow from the regions of all functions that have some there. Sorted, with
 * equal ones put together, they are swept from the start to the end of the source; what is reached
 * is a list of segments, from each of which on a count holds:
 *
 *     3  int f(int a) {            3:14 count 5, a region begins
 *     4      if (a)                4:9  count 5, begins      4:10 gap, count 2
 *     5          return 1;         5:9  count 2, begins      5:17 count 3 goes on
 *     6      return 0; }           6:5  count 3, begins      6:14 no count
 *
 * A line's count is the largest of the regions that begin on it and of what holds where it begins;
 * gaps count only where there is nothing else. That is llvm-cov's definition, to the last digit.
 * Branches and decisions at the same place are put together, so that instances of a template are
 * one, unless another rule is requested. Costs a sort, else linear, but for regions that overlap
 * without being nested. Source: llvm/lib/ProfileData/Coverage/CoverageMapping.cpp. */
#include "coverage/analysis/llvm_coverage.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* --- instances -------------------------------------------------------------------------------- */

/* Within one group by function; all are one where the rule is none. */
static int by_instance(const struct instance *a, const struct instance *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A count of what several have, which come sorted by instance: those of one instance, as several
 * programs or uses of a macro have it, add up; of the instances of a group the smallest counts;
 * groups, as functions are that use one macro, add up. */
struct tally {
    uint64_t total, least, sum;
    struct instance of;
    bool has_any;
};

static void tally_add(struct tally *t, const struct instance *of, uint64_t count)
{
    if (of->is_unused)
        return;
    if (t->has_any && !by_instance(&t->of, of)) {
        t->sum = add_saturating(t->sum, count);
        return;
    }
    if (t->has_any)
        t->least = t->sum < t->least ? t->sum : t->least;
    if (t->has_any && t->of.group != of->group)
        t->total = add_saturating(t->total, t->least);
    if (!t->has_any || t->of.group != of->group)
        t->least = UINT64_MAX;
    t->sum = count;
    t->of = *of;
    t->has_any = true;
}

static uint64_t tally_total(const struct tally *t)
{
    uint64_t least = t->sum < t->least ? t->sum : t->least;
    return t->has_any ? add_saturating(t->total, least) : 0;
}

/* --- regions of one source ------------------------------------------------------------------- */

/* A place as one number. */
static uint64_t point(uint32_t line, uint32_t column)
{
    return map_two(line, column);
}

static uint64_t start_of(const struct counted_region *r)
{
    return point(r->at.line, r->at.column);
}

static uint64_t end_of(const struct counted_region *r)
{
    return point(r->at.end_line, r->at.end_column);
}

/* Of regions that begin at one line: by column, longer ones first, code before expansions, then by
 * whose they are. */
static int by_start(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_region *at = context, *a = at + left, *b = at + right;
    if (start_of(a) != start_of(b))
        return start_of(a) < start_of(b) ? -1 : 1;
    if (end_of(a) != end_of(b))
        return end_of(a) > end_of(b) ? -1 : 1;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : by_instance(&a->of, &b->of);
}

/* From here on a count holds, or none. */
struct segment {
    uint64_t count;
    uint32_t line;
    bool has_count, is_entry, is_gap;
    bool is_unknown; /* its count is 0 then */
};

/* The sweep over a source. `active` are regions that have begun and not ended, in the order in
 * which they began; first_end[i] is where the first of active[0..i] ends. */
struct sweep {
    VEC(struct counted_region) regions;
    VEC(struct segment) segments;
    VEC(uint32_t) active, ended;
    VEC(uint64_t) first_end;
};

static void sweep_deinit(struct sweep *s)
{
    vec_free(&s->regions);
    vec_free(&s->segments);
    vec_free(&s->active);
    vec_free(&s->ended);
    vec_free(&s->first_end);
}

/* Regions of one range are one: the first says what it is, and those of its kind add up, by the
 * rule for instances. Instances of a macro in another one come as expansions beside code, and would
 * be counted twice. Regions come sorted, so that equal ones follow each other. */
static void sweep_join(struct sweep *s)
{
    size_t kept = 0;
    struct counted_region *at = s->regions.at;
    for (size_t i = 0, end; i < s->regions.len; i = end) {
        struct counted_region one = at[i];
        struct tally tally = {0};
        bool is_single_byte = false, is_unknown = false;
        for (end = i; end < s->regions.len && start_of(&at[end]) == start_of(&one) &&
                      end_of(&at[end]) == end_of(&one);
             end++) {
            if (at[end].kind != one.kind)
                continue;
            is_unknown |= at[end].is_unknown;
            if (!at[end].is_unknown)
                tally_add(&tally, &at[end].of, at[end].count);
            is_single_byte |= end > i && at[end].is_single_byte;
        }
        one.count = tally_total(&tally);
        if (is_single_byte)
            one.count = one.count > 0;
        one.is_unknown = is_unknown && !one.count;
        at[kept++] = one;
    }
    s->regions.len = kept;
}

/* A segment that changes nothing is none. */
static void sweep_put(struct sweep *s, const struct counted_region *r, uint64_t at, bool is_entry,
                      bool is_skipped)
{
    bool has_count = !is_skipped && r->kind != REGION_SKIPPED;
    const struct segment *last = s->segments.len ? &s->segments.at[s->segments.len - 1] : NULL;
    if (last && !is_entry && !is_skipped && last->has_count == has_count &&
        last->count == r->count && last->is_unknown == r->is_unknown && !last->is_entry)
        return;
    vec_push(&s->segments,
             (struct segment){has_count ? r->count : 0, (uint32_t)(at >> 32), has_count, is_entry,
                              has_count && r->kind == REGION_GAP, has_count && r->is_unknown});
}

/* Keeps first_end, which lets sweep_leave() stop at the first region that surely goes on. */
static void sweep_enter(struct sweep *s, uint32_t region)
{
    uint64_t end = end_of(&s->regions.at[region]);
    uint64_t before = s->first_end.len ? s->first_end.at[s->first_end.len - 1] : UINT64_MAX;
    vec_push(&s->active, region);
    vec_push(&s->first_end, end < before ? end : before);
}

/* Stable, so that of those that end together the one that began last is last. */
static int by_end(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_region *at = context;
    uint64_t a = end_of(&at[left]), b = end_of(&at[right]);
    return a < b ? -1 : a > b;
}

/* Takes out of `active` what ends at or before `at`, into `ended`, by where it ends. */
static void sweep_leave(struct sweep *s, uint64_t at)
{
    size_t first = s->active.len;
    s->ended.len = 0;
    while (first && s->first_end.at[first - 1] <= at)
        first--;
    size_t len = s->active.len;
    s->active.len = s->first_end.len = first;
    for (size_t i = first; i < len; i++) {
        uint32_t region = s->active.at[i];
        if (end_of(&s->regions.at[region]) <= at)
            vec_push(&s->ended, region);
        else
            sweep_enter(s, region);
    }
    sort_u32(s->ended.at, s->ended.len, by_end, s->regions.at);
}

/* Puts segments where regions have ended before `at` (UINT64_MAX: the end of the source): what
 * goes on is the next one that ends, then what is still active, then nothing. */
static void sweep_put_ends(struct sweep *s, uint64_t at)
{
    const struct counted_region *regions = s->regions.at;
    size_t len = s->ended.len;
    for (size_t i = 1; i < len; i++) {
        uint64_t end = end_of(&regions[s->ended.at[i - 1]]);
        uint64_t next_end = end_of(&regions[s->ended.at[i]]);
        if (end == at)
            break;
        if (end == next_end)
            continue;
        size_t last = i; /* the last of those that end together says the count */
        while (last + 1 < len && end_of(&regions[s->ended.at[last + 1]]) == next_end)
            last++;
        sweep_put(s, &regions[s->ended.at[last]], end, false, false);
    }
    const struct counted_region *last = &regions[s->ended.at[len - 1]];
    if (end_of(last) == at)
        return;
    if (s->active.len)
        sweep_put(s, &regions[s->active.at[s->active.len - 1]], end_of(last), false, false);
    else
        sweep_put(s, last, end_of(last), false, true);
}

/* A region of no length is never active: it has the count of what it stands in. The last one of a
 * source ends the count. */
static void sweep_put_empty(struct sweep *s, uint32_t i, uint64_t at)
{
    const struct counted_region *r = &s->regions.at[i];
    const struct counted_region *around =
        s->active.len ? &s->regions.at[s->active.at[s->active.len - 1]] : NULL;
    bool is_skipped = i + 1 == s->regions.len || r->kind == REGION_SKIPPED;
    sweep_put(s, around ? around : r, at, r->kind != REGION_GAP, is_skipped);
    if (is_skipped && around)
        sweep_put(s, around, at, false, false);
}

/* Regions one after the other: those that have ended before it put their segments, then it puts its
 * own, unless the next one begins at the same place and hides it. */
static void sweep_run(struct sweep *s)
{
    s->segments.len = s->active.len = s->first_end.len = 0;
    for (uint32_t i = 0; i < s->regions.len; i++) {
        const struct counted_region *r = &s->regions.at[i];
        uint64_t at = start_of(r);
        sweep_leave(s, at);
        if (s->ended.len)
            sweep_put_ends(s, at);
        if (at == end_of(r)) {
            sweep_put_empty(s, i, at);
            continue;
        }
        if (i + 1 == s->regions.len || at != start_of(r + 1))
            sweep_put(s, r, at, r->kind != REGION_GAP, false);
        sweep_enter(s, i);
    }
    sweep_leave(s, UINT64_MAX);
    if (s->ended.len)
        sweep_put_ends(s, UINT64_MAX);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Whether the line has code, and how often it ran; unknown is what was not counted. `at` are the
 * `len` segments that begin on it, `before` the last one of an earlier line. */
static bool line_count(const struct segment *at, size_t len, const struct segment *before,
                       uint64_t *count, bool *is_unknown)
{
    bool has_start = false, is_skipped = len && !at->has_count && at->is_entry, has_entry = false;
    *count = before ? before->count : 0;
    *is_unknown = before && before->is_unknown;
    for (size_t i = 0; i < len; i++) {
        bool is_entry = at[i].has_count && at[i].is_entry;
        has_entry |= is_entry;
        has_start |= is_entry && !at[i].is_gap;
        if (is_entry && !at[i].is_gap && at[i].count > *count)
            *count = at[i].count;
        *is_unknown |= is_entry && !at[i].is_gap && at[i].is_unknown;
    }
    return has_entry || (!is_skipped && ((before && before->has_count) || has_start));
}

/* Lines that no bytes vouch for are not made. */
static bool take_room(struct llvm_coverage *c, uint64_t lines)
{
    if (lines > c->room) {
        c->lines_without_room += lines;
        return false;
    }
    c->room -= lines;
    return true;
}

/* Of a line that several regions have, one that is known to have run says that it did; else one
 * that is unknown leaves it so, whatever stands around it. */
static void put_line(struct coverage_table *t, uint32_t source, uint32_t number, uint64_t count,
                     bool is_unknown)
{
    uint32_t line = coverage_table_line(t, source, number);
    if (is_unknown && !count)
        coverage_table_unknown(t, line);
    else
        coverage_table_count(t, line, count);
}

/* From line to line that has segments; between two of them goes on what the last one began. */
static void put_lines(struct llvm_coverage *c, const struct sweep *s, uint32_t source,
                      struct coverage_table *t)
{
    const struct segment *at = s->segments.at, *before = NULL;
    size_t len = s->segments.len;
    uint32_t next = len ? at->line : 0;
    for (size_t i = 0, end; i < len; i = end) {
        uint32_t line = at[i].line;
        uint64_t count;
        bool is_unknown;
        bool goes_on = before && before->has_count && next < line;
        if (goes_on && take_room(c, line - next))
            for (uint32_t l = next; l < line; l++)
                put_line(t, source, l, before->count, before->is_unknown);
        for (end = i; end < len && at[end].line == line; end++)
            ;
        if (line && line_count(at + i, end - i, before, &count, &is_unknown))
            put_line(t, source, line, count, is_unknown);
        before = &at[end - 1];
        next = line + 1;
    }
}

/* Programs that skip the same parts are swept together, as llvm-cov does it: then counts of a line
 * that several of them have are those of one large program.
 *
 * Where the regions of one source that are swept together end: all of them, or, where builds differ
 * in what they skip, one program's. */
static size_t sweep_end(const struct llvm_coverage *c, const struct keyed *order, size_t len,
                        size_t i)
{
    const struct counted_region *at = c->regions.at, *first = &at[order[i].item];
    bool is_apart = map_find(&c->variants, first->source, 0) != NULL;
    while (i < len && at[order[i].item].source == first->source &&
           (!is_apart || at[order[i].item].program == first->program))
        i++;
    return i;
}

/* Regions of one source after the other. They are sorted by line, then, stably, by source, and by
 * program where programs are swept one by one; last by where they begin on a line. */
static void finish_lines(struct llvm_coverage *c, struct coverage_table *t)
{
    struct sweep s = {0};
    VEC(struct keyed) order = {0};
    const struct counted_region *at = c->regions.at;
    for (size_t i = 0; i < c->regions.len; i++)
        vec_push(&order, (struct keyed){at[i].at.line, (uint32_t)i});
    sort_keyed(order.at, order.len);
    for (size_t i = 0; i < order.len; i++) {
        const struct counted_region *r = &at[order.at[i].item];
        bool is_apart = map_find(&c->variants, r->source, 0) != NULL;
        order.at[i].key = map_two(r->source, is_apart ? r->program : 0);
    }
    sort_keyed(order.at, order.len);
    for (size_t i = 0, end; i < order.len; i = end) {
        uint32_t source = at[order.at[i].item].source;
        end = sweep_end(c, order.at, order.len, i);
        for (size_t k = i; k < end; k++)
            order.at[k].key = at[order.at[k].item].at.line;
        sort_equals(order.at + i, end - i, by_start, at);
        s.regions.len = 0;
        for (size_t k = i; k < end; k++)
            vec_push(&s.regions, at[order.at[k].item]);
        sweep_join(&s);
        sweep_run(&s);
        put_lines(c, &s, source, t);
    }
    sweep_deinit(&s);
    vec_free(&order);
}

/* --- branches and decisions ------------------------------------------------------------------ */

/* By where they begin, then by where they end. */
static int compare_places(const struct llvm_place *a, const struct llvm_place *b)
{
    const uint32_t left[] = {a->line, a->column, a->end_line, a->end_column};
    const uint32_t right[] = {b->line, b->column, b->end_line, b->end_column};
    for (int i = 0; i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The line that it is shown on. */
static uint32_t line_of(const struct llvm_place *at, const struct llvm_place *use)
{
    return use->line ? use->line : at->line;
}

/* Two uses of a macro are two places. What stands apart comes apart. */
static int by_branch_place(const struct counted_branch *a, const struct counted_branch *b)
{
    if (a->of.apart != b->of.apart)
        return a->of.apart < b->of.apart ? -1 : 1;
    int order = compare_places(&a->use, &b->use);
    return order ? order : compare_places(&a->at, &b->at);
}

static int by_branch(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_branch *at = context, *a = at + left, *b = at + right;
    int order = by_branch_place(a, b);
    return order ? order : by_instance(&a->of, &b->of);
}

/* Decisions of another number of conditions at one place are of another build of the source. */
static int by_decision_place(const struct counted_decision *a, const struct counted_decision *b)
{
    if (a->of.apart != b->of.apart)
        return a->of.apart < b->of.apart ? -1 : 1;
    int order = compare_places(&a->use, &b->use);
    order = order ? order : compare_places(&a->at, &b->at);
    return order ? order : (int)a->terms - (int)b->terms;
}

static int by_decision(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_decision *at = context, *a = at + left, *b = at + right;
    int order = by_decision_place(a, b);
    return order ? order : by_instance(&a->of, &b->of);
}

static int by_code_place(const struct counted_code *a, const struct counted_code *b)
{
    if (a->of.apart != b->of.apart)
        return a->of.apart < b->of.apart ? -1 : 1;
    int order = compare_places(&a->use, &b->use);
    return order ? order : compare_places(&a->at, &b->at);
}

static int by_code_and_function(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_code *at = context, *a = at + left, *b = at + right;
    int order = by_code_place(a, b);
    return order ? order : a->function < b->function ? -1 : a->function > b->function;
}

static int by_code(uint32_t left, uint32_t right, const void *context)
{
    const struct counted_code *at = context, *a = at + left, *b = at + right;
    int order = by_code_place(a, b);
    if (!order)
        order = a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
    return order ? order : by_instance(&a->of, &b->of);
}

/* Numbers what a function has several times at one place: all that stands in an argument of a macro
 * has the place of its name there. Functions are instances of each other, or have the same macro,
 * so their first ones are the same, and so on. Regions come sorted by place and function. */
static bool number_codes(struct llvm_coverage *c, const struct keyed *order, size_t len)
{
    bool has_any = false;
    for (size_t i = 1; i < len; i++) {
        struct counted_code *before = &c->codes.at[order[i - 1].item];
        struct counted_code *code = &c->codes.at[order[i].item];
        if (order[i].key != order[i - 1].key || before->function != code->function ||
            by_code_place(before, code))
            continue;
        code->ordinal = before->ordinal + 1;
        has_any = true;
    }
    return has_any;
}

/* Regions at one place are one; unknown is what one of its functions does not know and none ran. */
static void finish_codes(struct llvm_coverage *c, struct coverage_table *t)
{
    VEC(struct keyed) order = {0};
    const struct counted_code *at = c->codes.at;
    for (size_t i = 0; i < c->codes.len; i++)
        vec_push(&order, (struct keyed){map_two(at[i].source, line_of(&at[i].at, &at[i].use)),
                                        (uint32_t)i});
    sort_keyed(order.at, order.len);
    sort_equals(order.at, order.len, by_code_and_function, at);
    if (number_codes(c, order.at, order.len) || c->rule == INSTANCES_WORST)
        sort_equals(order.at, order.len, by_code, at);
    for (size_t i = 0, end; i < order.len; i = end) {
        const struct counted_code *first = &at[order.at[i].item];
        struct tally tally = {0};
        bool is_unknown = false;
        for (end = i; end < order.len && order.at[end].key == order.at[i].key &&
                      first->ordinal == at[order.at[end].item].ordinal &&
                      !by_code_place(first, &at[order.at[end].item]);
             end++) {
            const struct counted_code *code = &at[order.at[end].item];
            is_unknown |= code->is_unknown;
            if (!code->is_unknown)
                tally_add(&tally, &code->of, code->count);
        }
        const struct llvm_place place[] = {first->at, first->use};
        coverage_table_region(
            t, coverage_table_line(t, first->source, line_of(&first->at, &first->use)),
            hash_bytes(place, sizeof place) ^
                map_two(first->of.apart, first->ordinal) * UINT64_C(0x9e3779b97f4a7c15),
            tally_total(&tally), is_unknown);
    }
    vec_free(&order);
}

/* All branches of a line are one group, or one for each instance that stands apart; each place is a
 * block of it. */
static void finish_branches(struct llvm_coverage *c, struct coverage_table *t)
{
    VEC(struct keyed) order = {0};
    VEC(struct table_outcome) group = {0};
    const struct counted_branch *at = c->branches.at;
    for (size_t i = 0; i < c->branches.len; i++)
        vec_push(&order, (struct keyed){map_two(at[i].source, line_of(&at[i].at, &at[i].use)),
                                        (uint32_t)i});
    sort_keyed(order.at, order.len);
    sort_equals(order.at, order.len, by_branch, at);
    for (size_t i = 0, end; i < order.len; i = end) {
        uint32_t block = 0, apart = at[order.at[i].item].of.apart;
        group.len = 0;
        for (end = i; end < order.len && order.at[end].key == order.at[i].key &&
                      at[order.at[end].item].of.apart == apart;) {
            struct tally if_true = {0}, if_false = {0};
            const struct counted_branch *first = &at[order.at[end].item];
            bool has_true = false, has_false = false;
            bool is_true_unknown = false, is_false_unknown = false;
            for (; end < order.len && order.at[end].key == order.at[i].key &&
                   !by_branch_place(first, &at[order.at[end].item]);
                 end++) {
                const struct counted_branch *b = &at[order.at[end].item];
                if (!b->is_true_unknown)
                    tally_add(&if_true, &b->of, b->if_true);
                if (!b->is_false_unknown)
                    tally_add(&if_false, &b->of, b->if_false);
                is_true_unknown |= b->is_true_unknown;
                is_false_unknown |= b->is_false_unknown;
                has_true |= b->has_true;
                has_false |= b->has_false;
            }
            if (has_true)
                vec_push(&group, ((struct table_outcome){tally_total(&if_true), block, 0,
                                                         is_true_unknown}));
            if (has_false)
                vec_push(&group, ((struct table_outcome){tally_total(&if_false), block, 0,
                                                         is_false_unknown}));
            block++;
        }
        uint32_t line = (uint32_t)order.at[i].key, source = (uint32_t)(order.at[i].key >> 32);
        coverage_table_outcomes(t, coverage_table_line(t, source, line), apart ? apart - 1 : NONE,
                                group.at, (uint32_t)group.len);
    }
    vec_free(&order);
    vec_free(&group);
}

/* What the decisions at one place have shown, from `i` to `end`: what one instance has in any
 * program, then what all instances of a group have, then what any group has. Of what is unknown,
 * nothing is. */
static uint64_t shown_by_all(const struct counted_decision *at, const struct keyed *order, size_t i,
                             size_t end)
{
    uint64_t shown = 0, of_group = ~UINT64_C(0), of_instance = 0;
    bool knows_instance = false, knows_group = false;
    for (; i < end; i++) {
        const struct counted_decision *d = &at[order[i].item];
        const struct counted_decision *next = i + 1 < end ? &at[order[i + 1].item] : NULL;
        of_instance |= d->shown;
        knows_instance |= !d->is_unknown;
        if (next && !by_instance(&d->of, &next->of))
            continue;
        of_group &= knows_instance ? of_instance : ~UINT64_C(0);
        knows_group |= knows_instance;
        of_instance = 0;
        knows_instance = false;
        if (next && next->of.group == d->of.group)
            continue;
        shown |= knows_group ? of_group : 0;
        of_group = ~UINT64_C(0);
        knows_group = false;
    }
    return shown;
}

/* The ways of decisions at one place are united, as far as instances agree in them; what is shown
 * is as it was counted. Bits of `shown` lack those that are folded. */
static void explain(struct llvm_coverage *c, const struct coverage_table *t,
                    const struct keyed *order, size_t i, size_t end, uint64_t shown)
{
    const struct counted_decision *at = c->decisions.at;
    while (i < end && at[order[i].item].ways == NONE)
        i++;
    if (i == end)
        return;
    const struct counted_decision *d = &at[order[i].item];
    struct mcdc_ways *ways = &c->ways.at[d->ways];
    for (size_t k = i + 1; k < end; k++) {
        uint32_t other = at[order[k].item].ways;
        if (other != NONE && c->ways.at[other].len == ways->len)
            mcdc_ways_unite(ways, &c->ways.at[other]);
    }
    struct explained_decision e = {.path = intern_text(&t->paths, d->source),
                                   .line = line_of(&d->at, &d->use),
                                   .len = ways->len,
                                   .at = d->at,
                                   .terms = ways->terms,
                                   .folded = ways->folded,
                                   .seen_len = ways->seen.len};
    for (uint32_t k = 0, bit = 0; k < ways->len; k++)
        if (!(ways->folded >> k & 1))
            e.shown |= (shown >> bit++ & 1) << k;
    e.masking = (mcdc_masking(ways) | e.shown) & ~ways->folded;
    struct mcdc_vector *seen = ARENA_NEW(&c->arena, struct mcdc_vector, ways->seen.len + 1);
    struct mcdc_need *needs = ARENA_NEW(&c->arena, struct mcdc_need, ways->len);
    if (ways->seen.len)
        memcpy(seen, ways->seen.at, ways->seen.len * sizeof *seen);
    for (uint32_t k = 0; k < ways->len; k++)
        if (!((e.shown | e.folded) >> k & 1))
            needs[k] = mcdc_need_of(ways, k);
    e.seen = seen;
    e.needs = needs;
    vec_push(&c->explained, e);
}

/* Decisions at one place are one, under a number on its line; what stands apart is its function's.
 */
static void finish_decisions(struct llvm_coverage *c, struct coverage_table *t)
{
    VEC(struct keyed) order = {0};
    const struct counted_decision *at = c->decisions.at;
    for (size_t i = 0; i < c->decisions.len; i++)
        vec_push(&order, (struct keyed){map_two(at[i].source, line_of(&at[i].at, &at[i].use)),
                                        (uint32_t)i});
    sort_keyed(order.at, order.len);
    sort_equals(order.at, order.len, by_decision, at);
    uint32_t ordinal = 0;
    for (size_t i = 0, end; i < order.len; i = end) {
        const struct counted_decision *d = &at[order.at[i].item];
        bool is_first = !i || order.at[i].key != order.at[i - 1].key ||
                        at[order.at[i - 1].item].of.apart != d->of.apart;
        ordinal = is_first ? 0 : ordinal + 1;
        for (end = i + 1; end < order.len && order.at[end].key == order.at[i].key &&
                          !by_decision_place(d, &at[order.at[end].item]);)
            end++;
        uint64_t shown = shown_by_all(at, order.at, i, end);
        struct table_mask mask = {.function = d->of.apart ? d->of.apart - 1 : NONE,
                                  .ordinal = ordinal,
                                  .terms = d->terms,
                                  .on = shown,
                                  .off = shown};
        coverage_table_mask(t, coverage_table_line(t, d->source, (uint32_t)order.at[i].key), &mask);
        explain(c, t, order.at, i, end, shown);
    }
    vec_free(&order);
}

/* These are independent of each other. */
void llvm_coverage_finish(struct llvm_coverage *c, struct coverage_table *t)
{
    for (size_t i = 0; i < c->unused.len; i++) {
        const struct unused_function *f = &c->unused.at[i];
        if (!map_find(&c->real, map_two(f->row.source, f->row.start_line), f->column))
            coverage_table_function(t, &f->row);
    }
    c->unused.len = 0;
    finish_lines(c, t);
    finish_codes(c, t);
    finish_branches(c, t);
    finish_decisions(c, t);
    for (size_t i = 0; i < c->ways.len; i++)
        mcdc_ways_deinit(&c->ways.at[i]);
    c->regions.len = c->codes.len = c->branches.len = c->decisions.len = c->ways.len = 0;
    c->listed = 0;
}
