/* Adding up by identity, in hash maps, which are asked after the likely place. */
#include "coverage/analysis/coverage_table.h"

#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)COVER_NONE)

void cover_table_deinit(struct cover_table *t)
{
    intern_deinit(&t->paths);
    intern_deinit(&t->names);
    intern_deinit(&t->tests);
    vec_free(&t->sizes);
    vec_free(&t->first_of_name);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->groups);
    vec_free(&t->outcomes);
    vec_free(&t->masks);
    vec_free(&t->page_keys);
    vec_free(&t->page_lines);
    map_deinit(&t->by_function);
    map_deinit(&t->by_line);
    map_deinit(&t->by_group);
    map_deinit(&t->by_mask);
    *t = (struct cover_table){0};
}

uint32_t cover_table_source(struct cover_table *t, const char *path)
{
    uint32_t source = intern(&t->paths, path, strlen(path));
    if (source == t->sizes.len)
        vec_push(&t->sizes, (struct table_size){0});
    return source;
}

uint32_t cover_table_name(struct cover_table *t, const char *name)
{
    size_t len = strlen(name);
    uint32_t number = t->next_name;
    if (number >= t->names.texts.len || t->names.lengths.at[number] != len ||
        memcmp(t->names.texts.at[number], name, len))
        number = intern(&t->names, name, len);
    t->next_name = number + 1;
    return number;
}

void cover_table_test(struct cover_table *t, const char *name)
{
    if (*name)
        intern(&t->tests, name, strlen(name));
}

static uint64_t two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static bool is_function(const struct table_function *a, const struct table_function *b)
{
    return a->name == b->name && a->source == b->source && a->start_line == b->start_line;
}

/* Of several reasons not to know, the first of the list is kept. */
void table_function_add(struct table_function *sum, const struct table_function *more)
{
    sum->count = cover_sum(sum->count, more->count);
    sum->end_line = more->end_line > sum->end_line ? more->end_line : sum->end_line;
    sum->is_known |= more->is_known;
    sum->is_repaired |= more->is_repaired;
    bool is_first =
        more->reason < sum->reason || (more->reason == sum->reason && more->doubt < sum->doubt);
    if (more->is_unknown && (!sum->is_unknown || is_first)) {
        sum->reason = more->reason;
        sum->doubt = more->doubt;
    }
    sum->is_unknown |= more->is_unknown;
}

/* Names are nearly always of one function. */
static uint32_t find_function(struct cover_table *t, const struct table_function *row)
{
    uint32_t fresh = (uint32_t)t->functions.len;
    while (t->first_of_name.len <= row->name)
        vec_push(&t->first_of_name, 0);
    uint32_t *first = &t->first_of_name.at[row->name];
    if (!*first)
        *first = fresh + 1;
    if (*first == fresh + 1 || is_function(&t->functions.at[*first - 1], row))
        return *first - 1;
    return *map_at(&t->by_function, two(row->name, row->source), row->start_line, fresh, NULL);
}

uint32_t cover_table_function(struct cover_table *t, const struct table_function *row)
{
    uint32_t number = find_function(t, row);
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
static uint32_t *page_of(struct cover_table *t, uint32_t source, uint32_t line)
{
    uint64_t key = two(source, line / COVER_PAGE);
    if (t->last_page >= t->page_keys.len || t->page_keys.at[t->last_page] != key) {
        bool is_new;
        t->last_page = *map_at(&t->by_line, key, 0, (uint32_t)t->page_keys.len, &is_new);
        if (is_new) {
            vec_push(&t->page_keys, key);
            vec_reserve(&t->page_lines, t->page_lines.len + COVER_PAGE);
            memset(t->page_lines.at + t->page_lines.len, 0, COVER_PAGE * sizeof *t->page_lines.at);
            t->page_lines.len += COVER_PAGE;
        }
    }
    return t->page_lines.at + (size_t)t->last_page * COVER_PAGE + line % COVER_PAGE;
}

uint32_t cover_table_line(struct cover_table *t, uint32_t source, uint32_t line)
{
    uint32_t *place = page_of(t, source, line);
    if (!*place) {
        vec_push(&t->lines,
                 (struct table_line){.source = source, .line = line, .group = NONE, .mask = NONE});
        t->sizes.at[source].lines++;
        *place = (uint32_t)t->lines.len;
    }
    return *place - 1;
}

void cover_table_count(struct cover_table *t, uint32_t line, uint64_t count)
{
    struct table_line *l = &t->lines.at[line];
    l->count = cover_sum(l->count, count);
    l->is_known = true;
}

void cover_table_unknown(struct cover_table *t, uint32_t line)
{
    t->lines.at[line].is_unknown = true;
}

/* ---- groups of outcomes
 *
 * Found by walking over those of the line or of the function, whichever has few: lines of templates
 * have many functions, which are short; long functions are alone on their lines. Where both have
 * many, the map is asked, which gets all groups of such a function then; and, as a tracefile's
 * groups have no function, all of these on lines with many. */

enum { FEW = 6, FEW_OF_FUNCTION = 12 };

/* For outcomes of one shape, which are added place by place. */
static uint64_t hash_of(const struct table_outcome *outcomes, uint32_t len)
{
    uint64_t shape = len;
    for (uint32_t i = 0; i < len; i++) {
        shape = (shape ^ two(outcomes[i].block, outcomes[i].flags)) * 0xff51afd7ed558ccdu;
        shape ^= shape >> 31;
    }
    return shape;
}

static bool is_group(const struct cover_table *t, uint32_t number, uint32_t line,
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
static uint32_t *mapped_group(struct cover_table *t, const struct table_group *g,
                              const struct table_outcome *outcomes, uint32_t fresh)
{
    return map_at(&t->by_group, two(g->line, g->function), hash_of(outcomes, g->len), fresh, NULL);
}

static void map_group(struct cover_table *t, uint32_t number)
{
    const struct table_group *g = &t->groups.at[number];
    *mapped_group(t, g, t->outcomes.at + g->first, number) = number;
}

static uint32_t find_in_map(struct cover_table *t, const struct table_group *like,
                            const struct table_outcome *outcomes, struct table_function *f)
{
    for (uint32_t g = f && !f->is_mapped ? f->group : NONE; g != NONE;) {
        map_group(t, g);
        g = t->groups.at[g].next_of_function;
    }
    if (f)
        f->is_mapped = true;
    return *mapped_group(t, like, outcomes, (uint32_t)t->groups.len);
}

/* The group's number, which is that of a new one if there is none. */
static uint32_t find_group(struct cover_table *t, const struct table_group *like,
                           const struct table_outcome *outcomes)
{
    uint32_t fresh = (uint32_t)t->groups.len;
    const struct table_line *l = &t->lines.at[like->line];
    struct table_function *f = like->function == NONE ? NULL : &t->functions.at[like->function];
    bool is_line_short = l->groups <= FEW;
    if (t->next_group < fresh && is_group(t, t->next_group, like->line, like, outcomes))
        return t->next_group;
    if (!is_line_short && (!f || f->groups > FEW_OF_FUNCTION))
        return find_in_map(t, like, outcomes, f);
    for (uint32_t g = is_line_short ? l->group : f->group; g != NONE;) {
        if (is_group(t, g, like->line, like, outcomes))
            return g;
        g = is_line_short ? t->groups.at[g].next : t->groups.at[g].next_of_function;
    }
    return fresh;
}

/* Keeps in the map what find_group() will look for there. */
static void keep_mapped(struct cover_table *t, uint32_t number)
{
    uint32_t function = t->groups.at[number].function;
    const struct table_line *l = &t->lines.at[t->groups.at[number].line];
    if (function != NONE && t->functions.at[function].is_mapped)
        map_group(t, number);
    for (uint32_t g = l->groups == FEW + 1 ? l->group : NONE; g != NONE; g = t->groups.at[g].next)
        if (t->groups.at[g].function == NONE)
            map_group(t, g);
}

static void add_group(struct cover_table *t, const struct table_group *like,
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
    keep_mapped(t, number);
}

void cover_table_outcomes(struct cover_table *t, uint32_t line, uint32_t function,
                          const struct table_outcome *outcomes, uint32_t len)
{
    struct table_group like = {function, (uint32_t)t->outcomes.len, len, line, NONE, NONE};
    uint32_t number = find_group(t, &like, outcomes);
    t->next_group = number + 1;
    if (number == t->groups.len) {
        add_group(t, &like, outcomes);
        return;
    }
    const struct table_group *g = &t->groups.at[number];
    struct table_outcome *sums = t->outcomes.at + g->first;
    for (uint32_t i = 0; i < len && i < g->len; i++)
        sums[i].count = cover_sum(sums[i].count, outcomes[i].count);
}

void cover_table_mask(struct cover_table *t, uint32_t line, const struct table_mask *mask)
{
    bool is_new;
    uint32_t number = *map_at(&t->by_mask, two(line, mask->function),
                              two(mask->ordinal, mask->terms), (uint32_t)t->masks.len, &is_new);
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
