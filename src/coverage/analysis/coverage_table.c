/* Adding up by identity, in hash maps that are asked after the likely place.
 *
 * Objects of one program mention the same headers in the same order, so the next look-up is mostly
 * for the successor of the last one: each search tries that first. Lines are found in pages of
 * PAGE_LINES numbers, one map entry a page. Groups of outcomes are found by walking over those of
 * the line or of the function, whichever has few; only where both have many is there a map
 * (table_find_group). So adding costs a few loads an item, and memory grows with what is distinct.
 *
 * Counts stop at the largest number. Of several reasons not to know, the first of enum flow_reason
 * is kept, so that the sum does not depend on the order. Hits of tests are put together when they
 * have doubled since the last time, so a line that a test ran in 10,000 objects is one hit in the
 * end and the work stays linear.
 *
 * Tracefiles join at the end of this file. They do not say which function a branch belongs to: all
 * branches that a section has of a line are one group.
 *
 *     line      source, number -> page of 16 numbers -> index in lines
 *     function  name -> the first of that name, nearly always it; else a map
 *     group     line and function, shape of its outcomes -> index in groups
 *     share     line and function -> index in shares
 *     mask      line and function, ordinal and terms -> index in masks */
#include "coverage/analysis/coverage_table.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

void coverage_table_deinit(struct coverage_table *t)
{
    intern_deinit(&t->paths);
    intern_deinit(&t->names);
    intern_deinit(&t->tests);
    vec_free(&t->sizes);
    vec_free(&t->dates);
    vec_free(&t->first_of_name);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->groups);
    vec_free(&t->outcomes);
    vec_free(&t->masks);
    vec_free(&t->regions);
    vec_free(&t->regions_of);
    vec_free(&t->hits);
    vec_free(&t->hits_of);
    vec_free(&t->shares);
    vec_free(&t->shares_of);
    vec_free(&t->page_keys);
    vec_free(&t->page_lines);
    map_deinit(&t->by_function);
    map_deinit(&t->by_line);
    map_deinit(&t->by_group);
    map_deinit(&t->by_share);
    map_deinit(&t->by_mask);
    map_deinit(&t->by_region);
    *t = (struct coverage_table){0};
}

uint32_t coverage_table_source(struct coverage_table *t, const char *path)
{
    uint32_t source = intern(&t->paths, path, strlen(path));
    if (source == t->sizes.len)
        vec_push(&t->sizes, (struct table_size){0});
    return source;
}

void coverage_table_date(struct coverage_table *t, uint32_t source, int64_t time)
{
    if (source == NONE || !time)
        return;
    while (t->dates.len <= source)
        vec_push(&t->dates, 0);
    /* The oldest counts: one object that was not compiled again is enough for a doubt. */
    int64_t *date = &t->dates.at[source];
    if (!*date || time < *date)
        *date = time;
}

/* The name after the last one is tried before the hash. */
uint32_t coverage_table_name(struct coverage_table *t, const char *name)
{
    size_t len = strlen(name);
    uint32_t number = t->next_name;
    if (number >= t->names.texts.len || t->names.lengths.at[number] != len ||
        memcmp(t->names.texts.at[number], name, len))
        number = intern(&t->names, name, len);
    t->next_name = number + 1;
    return number;
}

void coverage_table_test(struct coverage_table *t, const char *name)
{
    if (*name)
        intern(&t->tests, name, strlen(name));
}

/* The identity: two functions of one name in one source are apart by their first lines. */
static bool table_is_function(const struct table_function *a, const struct table_function *b)
{
    return a->name == b->name && a->source == b->source && a->start_line == b->start_line;
}

/* Of several reasons not to know, the first of the list is kept. What the first does not know
 * (where it ends, that some object did not know) it learns from the second. */
void table_function_add(struct table_function *sum, const struct table_function *more)
{
    sum->count = add_saturating(sum->count, more->count);
    sum->end_line = more->end_line > sum->end_line ? more->end_line : sum->end_line;
    sum->start_column =
        more->start_column > sum->start_column ? more->start_column : sum->start_column;
    sum->is_known |= more->is_known;
    sum->is_repaired |= more->is_repaired;
    bool is_first =
        more->reason < sum->reason || (more->reason == sum->reason && more->defect < sum->defect);
    if (more->is_unknown && (!sum->is_unknown || is_first)) {
        sum->reason = more->reason;
        sum->defect = more->defect;
    }
    sum->is_unknown |= more->is_unknown;
}

/* Names are nearly always of one function. The number of a new one, if there is none: as many as
 * there are. */
static uint32_t table_find_function(struct coverage_table *t, const struct table_function *row)
{
    uint32_t fresh = (uint32_t)t->functions.len;
    while (t->first_of_name.len <= row->name)
        vec_push(&t->first_of_name, 0);
    uint32_t *first = &t->first_of_name.at[row->name];
    if (!*first)
        *first = fresh + 1;
    if (*first == fresh + 1 || table_is_function(&t->functions.at[*first - 1], row))
        return *first - 1;
    return *map_at(&t->by_function, map_two(row->name, row->source), row->start_line, fresh, NULL);
}

/* Sums if the function is there, else a new row. Numbers of rows never change. */
uint32_t coverage_table_function(struct coverage_table *t, const struct table_function *row)
{
    uint32_t number = table_find_function(t, row);
    if (number < t->functions.len) {
        table_function_add(&t->functions.at[number], row);
        return number;
    }
    vec_push(&t->functions, *row);
    t->functions.at[number].group = NONE;
    t->sizes.at[row->source].functions++;
    return number;
}

/* Where the lines around this one have their numbers. */
static uint32_t *table_page_of(struct coverage_table *t, uint32_t source, uint32_t line)
{
    uint64_t key = map_two(source, line / PAGE_LINES);
    if (t->last_page >= t->page_keys.len || t->page_keys.at[t->last_page] != key) {
        bool is_new;
        t->last_page = map_index(&t->by_line, key, 0, t->page_keys.len, &is_new);
        if (is_new) {
            vec_push(&t->page_keys, key);
            vec_reserve(&t->page_lines, t->page_lines.len + PAGE_LINES);
            memset(t->page_lines.at + t->page_lines.len, 0, PAGE_LINES * sizeof *t->page_lines.at);
            t->page_lines.len += PAGE_LINES;
        }
    }
    return t->page_lines.at + (size_t)t->last_page * PAGE_LINES + line % PAGE_LINES;
}

/* Numbers in pages are one higher than indices, so that 0 means none. */
uint32_t coverage_table_line(struct coverage_table *t, uint32_t source, uint32_t line)
{
    uint32_t *place = table_page_of(t, source, line);
    if (!*place) {
        vec_push(&t->lines,
                 (struct table_line){.source = source, .line = line, .group = NONE, .mask = NONE});
        t->sizes.at[source].lines++;
        *place = (uint32_t)t->lines.len;
    }
    return *place - 1;
}

/* ---- hits of tests */

void coverage_table_begin_test(struct coverage_table *t, const char *name)
{
    t->test = name ? intern(&t->tests, name, strlen(name)) + 1 : 0;
}

/* One hit for each test that a line has, in memory of its own. `place` needs no clearing from line
 * to line: an entry counts only if it points after `first` at the same test. */
static void table_merge_hits(struct coverage_table *t)
{
    struct arena scratch = {0};
    uint32_t *place = ARENA_NEW(&scratch, uint32_t, t->tests.texts.len); /* 1 + place of the test */
    VEC(struct table_hit) merged = {0};
    for (size_t line = 0; line < t->hits_of.len; line++) {
        uint32_t first = map_value(merged.len), at = t->hits_of.at[line];
        for (; at != NONE; at = t->hits.at[at].next) {
            const struct table_hit *h = &t->hits.at[at];
            uint32_t *known = &place[h->test];
            if (*known > first && *known <= merged.len && merged.at[*known - 1].test == h->test) {
                uint64_t *sum = &merged.at[*known - 1].count;
                *sum = add_saturating(*sum, h->count);
                continue;
            }
            *known = map_value(merged.len) + 1;
            uint32_t next = merged.len > first ? *known - 2 : NONE;
            vec_push(&merged, (struct table_hit){h->count, h->test, next});
        }
        t->hits_of.at[line] = merged.len > first ? map_value(merged.len) - 1 : NONE;
    }
    vec_free(&t->hits);
    t->hits.at = merged.at;
    t->hits.len = merged.len;
    t->hits.cap = merged.cap;
    arena_deinit(&scratch);
}

/* Hits of a line are a list with the newest first; the same test in a row adds to it. */
static void table_hit(struct coverage_table *t, uint32_t line, uint64_t count)
{
    enum { FIRST_MERGE = 4 << 20 };
    while (t->hits_of.len <= line)
        vec_push(&t->hits_of, NONE);
    uint32_t *first = &t->hits_of.at[line];
    if (*first != NONE && t->hits.at[*first].test == t->test - 1) {
        uint64_t *sum = &t->hits.at[*first].count;
        *sum = add_saturating(*sum, count);
        return;
    }
    vec_push(&t->hits, (struct table_hit){count, t->test - 1, *first});
    *first = map_value(t->hits.len) - 1;
    t->most_hits = t->most_hits ? t->most_hits : FIRST_MERGE;
    if (t->hits.len < t->most_hits)
        return;
    table_merge_hits(t);
    t->most_hits = t->hits.len > FIRST_MERGE / 2 ? 2 * t->hits.len : FIRST_MERGE;
}

/* ---- lines */

void coverage_table_ran(struct coverage_table *t, uint32_t line, uint64_t count)
{
    if (t->test && count)
        table_hit(t, line, count);
    t->lines.at[line].is_known = true;
}

void coverage_table_count(struct coverage_table *t, uint32_t line, uint64_t count)
{
    coverage_table_ran(t, line, count);
    struct table_line *l = &t->lines.at[line];
    l->count = add_saturating(l->count, count);
}

void coverage_table_share(struct coverage_table *t, uint32_t line, uint32_t function,
                          uint64_t count)
{
    bool is_new;
    uint32_t number = map_index(&t->by_share, line, function, t->shares.len, &is_new);
    if (!is_new) {
        t->shares.at[number].count = add_saturating(t->shares.at[number].count, count);
        return;
    }
    while (t->shares_of.len <= line)
        vec_push(&t->shares_of, NONE);
    vec_push(&t->shares, (struct table_share){count, function, t->shares_of.at[line]});
    t->shares_of.at[line] = number;
}

void coverage_table_unknown(struct coverage_table *t, uint32_t line)
{
    t->lines.at[line].is_unknown = true;
}

/* ---- groups of outcomes
 *
 * Found by walking over those of the line or of the function, whichever has few: lines of templates
 * have many functions, which are short; long functions are alone on their lines. Where both have
 * many, the map is asked, which gets all groups of such a function then; and, as a tracefile's
 * groups have no function, all of these on lines with many. */

/* Lengths up to which a walk is cheaper than a hash. */
enum { FEW = 6, FEW_OF_FUNCTION = 12 };

/* For outcomes of one shape, which are added place by place. */
static uint64_t table_hash_of(const struct table_outcome *outcomes, uint32_t len)
{
    uint64_t shape = len;
    for (uint32_t i = 0; i < len; i++) {
        shape = (shape ^ map_two(outcomes[i].block, outcomes[i].flags)) * 0xff51afd7ed558ccdu;
        shape ^= shape >> 31;
    }
    return shape;
}

/* Same line, function and shape; counts do not matter. */
static bool table_is_group(const struct coverage_table *t, uint32_t number, uint32_t line,
                           const struct table_group *like, const struct table_outcome *outcomes)
{
    const struct table_group *g = &t->groups.at[number];
    if (g->line != line || g->function != like->function || g->len != like->len)
        return false;
    const struct table_outcome *own = t->outcomes.at + g->first;
    for (uint32_t i = 0; i < g->len; i++)
        if (own[i].block != outcomes[i].block || own[i].flags != outcomes[i].flags)
            return false;
    return true;
}

/* The group's number in the map; `fresh` is put there if it is new. */
static uint32_t *table_mapped_group(struct coverage_table *t, const struct table_group *g,
                                    const struct table_outcome *outcomes, uint32_t fresh)
{
    return map_at(&t->by_group, map_two(g->line, g->function), table_hash_of(outcomes, g->len),
                  fresh, NULL);
}

static void table_map_group(struct coverage_table *t, uint32_t number)
{
    const struct table_group *g = &t->groups.at[number];
    *table_mapped_group(t, g, t->outcomes.at + g->first, number) = number;
}

/* The group's number, which is that of a new one if there is none. The group after the last one is
 * tried first. */
static uint32_t table_find_group(struct coverage_table *t, const struct table_group *like,
                                 const struct table_outcome *outcomes)
{
    uint32_t fresh = (uint32_t)t->groups.len;
    const struct table_line *l = &t->lines.at[like->line];
    struct table_function *f = like->function == NONE ? NULL : &t->functions.at[like->function];
    bool is_line_short = l->groups <= FEW;
    if (t->next_group < fresh && table_is_group(t, t->next_group, like->line, like, outcomes))
        return t->next_group;
    if (!is_line_short && (!f || f->groups > FEW_OF_FUNCTION)) {
        for (uint32_t g = f && !f->is_mapped ? f->group : NONE; g != NONE;) {
            table_map_group(t, g);
            g = t->groups.at[g].next_of_function;
        }
        if (f)
            f->is_mapped = true;
        return *table_mapped_group(t, like, outcomes, (uint32_t)t->groups.len);
    }

    for (uint32_t g = is_line_short ? l->group : f->group; g != NONE;) {
        if (table_is_group(t, g, like->line, like, outcomes))
            return g;
        g = is_line_short ? t->groups.at[g].next : t->groups.at[g].next_of_function;
    }
    return fresh;
}

/* Keeps in the map what table_find_group() will look for there. When a line gets its FEW + 1st
 * group, those of tracefiles go into the map, all at once. */
static void table_keep_mapped(struct coverage_table *t, uint32_t number)
{
    uint32_t function = t->groups.at[number].function;
    const struct table_line *l = &t->lines.at[t->groups.at[number].line];
    if (function != NONE && t->functions.at[function].is_mapped)
        table_map_group(t, number);
    for (uint32_t g = l->groups == FEW + 1 ? l->group : NONE; g != NONE; g = t->groups.at[g].next)
        if (t->groups.at[g].function == NONE)
            table_map_group(t, g);
}

/* At the front of both lists. Outcomes are copied. */
static void table_add_group(struct coverage_table *t, const struct table_group *like,
                            const struct table_outcome *outcomes)
{
    uint32_t number = (uint32_t)t->groups.len;
    struct table_line *l = &t->lines.at[like->line];
    vec_push(&t->groups, *like);
    struct table_group *g = &t->groups.at[number];
    g->next = l->group;
    l->group = number;
    l->groups++;
    if (g->function != NONE) {
        struct table_function *f = &t->functions.at[g->function];
        g->next_of_function = f->group;
        f->group = number;
        f->groups++;
    }
    t->sizes.at[l->source].outcomes += g->len;
    vec_reserve(&t->outcomes, t->outcomes.len + g->len);
    memcpy(t->outcomes.at + t->outcomes.len, outcomes, g->len * sizeof *outcomes);
    t->outcomes.len += g->len;
    table_keep_mapped(t, number);
}

/* Same shape: counts add up place by place. */
void coverage_table_outcomes(struct coverage_table *t, uint32_t line, uint32_t function,
                             const struct table_outcome *outcomes, uint32_t len)
{
    struct table_group like = {function, (uint32_t)t->outcomes.len, len, line, NONE, NONE};
    uint32_t number = table_find_group(t, &like, outcomes);
    t->next_group = number + 1;
    if (number == t->groups.len) {
        table_add_group(t, &like, outcomes);
        return;
    }
    const struct table_group *g = &t->groups.at[number];
    struct table_outcome *sums = t->outcomes.at + g->first;
    for (uint32_t i = 0; i < len && i < g->len; i++) {
        sums[i].count = add_saturating(sums[i].count, outcomes[i].count);
        sums[i].is_unknown |= outcomes[i].is_unknown;
    }
}

/* What any run has seen is seen: bits unite. */
void coverage_table_mask(struct coverage_table *t, uint32_t line, const struct table_mask *mask)
{
    bool is_new;
    uint32_t number = map_index(&t->by_mask, map_two(line, mask->function),
                                map_two(mask->ordinal, mask->terms), t->masks.len, &is_new);
    if (is_new) {
        struct table_line *l = &t->lines.at[line];
        struct table_mask fresh = *mask;
        fresh.next = l->mask;
        l->mask = number;
        t->sizes.at[l->source].masks++;
        vec_push(&t->masks, fresh);
        return;
    }
    t->masks.at[number].on |= mask->on;
    t->masks.at[number].off |= mask->off;
}

/* Tables of gcc's counters have no list of regions at all. */
void coverage_table_region(struct coverage_table *t, uint32_t line, uint64_t key, uint64_t count,
                           bool is_unknown)
{
    bool is_new;
    uint32_t number = map_index(&t->by_region, line, key, t->regions.len, &is_new);
    if (is_new) {
        while (t->regions_of.len <= line)
            vec_push(&t->regions_of, NONE);
        vec_push(&t->regions, (struct table_region){.next = t->regions_of.at[line]});
        t->regions_of.at[line] = number;
    }
    struct table_region *r = &t->regions.at[number];
    r->count = add_saturating(r->count, count);
    r->is_unknown |= is_unknown;
}

/* ---- tracefiles */

/* Branches of one line, block and number end up beside each other, to be added up. */
static int by_place(uint32_t left, uint32_t right, const void *context)
{
    const struct trace_branch *at = context, *a = at + left, *b = at + right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->branch < b->branch ? -1 : a->branch > b->branch;
}

/* The caller frees it. */
static uint32_t *in_order(size_t len, sort_compare *compare, const void *items)
{
    uint32_t *order = calloc(len + 1, sizeof *order);
    if (!order)
        memory_exhausted(len);
    for (size_t i = 0; i < len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, len, compare, items);
    return order;
}

/* Blocks are numbered anew from 0: what matters is which branches share one. A branch that is
 * listed twice is added up. */
static void add_branches(struct coverage_table *t, const struct tracefile *trace,
                         const struct trace_section *s, uint32_t source)
{
    if (!s->branches)
        return;
    const struct trace_branch *branches = trace->branches.at + s->first_branch;
    uint32_t *order = in_order(s->branches, by_place, branches);
    VEC(struct table_outcome) group = {0};
    for (uint32_t i = 0, end; i < s->branches; i = end) {
        uint32_t line = branches[order[i]].line;
        group.len = 0;
        for (end = i; end < s->branches && branches[order[end]].line == line; end++) {
            const struct trace_branch *b = &branches[order[end]];
            const struct trace_branch *before = end > i ? &branches[order[end - 1]] : NULL;
            struct table_outcome o = {b->count, 0, b->is_exception ? OUTCOME_THROW : 0};
            if (before && before->block == b->block && before->branch == b->branch) {
                uint64_t *sum = &group.at[group.len - 1].count;
                *sum = add_saturating(*sum, b->count);
                continue;
            }
            if (before)
                o.block = group.at[group.len - 1].block + (before->block != b->block);
            vec_push(&group, o);
        }
        coverage_table_outcomes(t, coverage_table_line(t, source, line), NONE, group.at,
                                (uint32_t)group.len);
    }
    vec_free(&group);
    free(order);
}

/* A condition of a tracefile comes as one record an outcome: each sets one bit of the mask. */
static void add_section(struct coverage_table *t, const struct tracefile *trace,
                        const struct trace_section *s, uint32_t source, const char *test)
{
    if (test)
        coverage_table_begin_test(t, *s->test ? s->test : test);
    for (uint32_t i = 0; i < s->functions; i++) {
        const struct trace_function *f = &trace->functions.at[s->first_function + i];
        coverage_table_function(t, &(struct table_function){.name = coverage_table_name(t, f->name),
                                                            .source = source,
                                                            .start_line = f->start_line,
                                                            .end_line = f->end_line,
                                                            .count = f->count,
                                                            .is_known = true});
    }
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct trace_line *l = &trace->lines.at[s->first_line + i];
        coverage_table_count(t, coverage_table_line(t, source, l->line), l->count);
    }
    add_branches(t, trace, s, source);
    for (uint32_t i = 0; i < s->conditions; i++) {
        const struct trace_condition *c = &trace->conditions.at[s->first_condition + i];
        struct table_mask mask = {.function = NONE, .terms = c->terms};
        uint64_t bit = c->count ? UINT64_C(1) << c->term : 0;
        *(c->sense ? &mask.on : &mask.off) = bit;
        coverage_table_mask(t, coverage_table_line(t, source, c->line), &mask);
    }

    coverage_table_test(t, s->test);
    coverage_table_begin_test(t, NULL);
}

/* Sections are added one by one, so that sources which come again add up. */
void coverage_table_add_trace(struct coverage_table *t, const struct tracefile *trace,
                              const uint32_t *sources, const char *test)
{
    for (size_t i = 0; i < trace->sections.len; i++)
        if (sources[i] != NONE)
            add_section(t, trace, &trace->sections.at[i], sources[i], test);
}
