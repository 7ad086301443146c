/* Adding up by identity, in hash maps. */
#include "analysis/cover_table.h"

#include "model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)COVER_NONE)

void cover_table_deinit(struct cover_table *t)
{
    intern_deinit(&t->paths);
    intern_deinit(&t->names);
    intern_deinit(&t->tests);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->groups);
    vec_free(&t->outcomes);
    vec_free(&t->masks);
    vec_free(&t->pages);
    map_deinit(&t->by_function);
    map_deinit(&t->by_line);
    map_deinit(&t->by_group);
    map_deinit(&t->by_mask);
    *t = (struct cover_table){0};
}

uint32_t cover_table_source(struct cover_table *t, const char *path)
{
    return intern(&t->paths, path, strlen(path));
}

uint32_t cover_table_name(struct cover_table *t, const char *name)
{
    return intern(&t->names, name, strlen(name));
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

uint32_t cover_table_function(struct cover_table *t, const struct table_function *row)
{
    bool is_new;
    uint32_t number = *map_at(&t->by_function, two(row->name, row->source), row->start_line,
                              (uint32_t)t->functions.len, &is_new);
    if (is_new) {
        vec_push(&t->functions, *row);
        return number;
    }
    struct table_function *sum = &t->functions.at[number];
    sum->count = cover_sum(sum->count, row->count);
    sum->end_line = row->end_line > sum->end_line ? row->end_line : sum->end_line;
    sum->is_known |= row->is_known;
    sum->is_repaired |= row->is_repaired;
    if (row->is_unknown && (!sum->is_unknown || row->reason < sum->reason)) {
        sum->reason = row->reason;
        sum->doubt = row->doubt;
    }
    sum->is_unknown |= row->is_unknown;
    return number;
}

/* Where the lines around this one have their numbers. */
static uint32_t *page_of(struct cover_table *t, uint32_t source, uint32_t line)
{
    uint64_t key = two(source, line / COVER_PAGE);
    if (!t->has_last_page || t->last_page_key != key) {
        bool is_new;
        t->last_page = *map_at(&t->by_line, key, 0, (uint32_t)t->pages.len, &is_new);
        t->last_page_key = key;
        t->has_last_page = true;
        if (is_new) {
            vec_reserve(&t->pages, t->pages.len + COVER_PAGE);
            memset(t->pages.at + t->pages.len, 0, COVER_PAGE * sizeof *t->pages.at);
            t->pages.len += COVER_PAGE;
        }
    }
    return t->pages.at + t->last_page + line % COVER_PAGE;
}

uint32_t cover_table_line(struct cover_table *t, uint32_t source, uint32_t line)
{
    uint32_t *place = page_of(t, source, line);
    if (!*place) {
        vec_push(&t->lines,
                 (struct table_line){.source = source, .line = line, .group = NONE, .mask = NONE});
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

/* What must agree for two groups to be added place by place. */
static uint64_t shape_of(const struct table_outcome *outcomes, uint32_t len)
{
    uint64_t shape = len;
    for (uint32_t i = 0; i < len; i++) {
        shape = (shape ^ two(outcomes[i].block, outcomes[i].flags)) * 0xff51afd7ed558ccdu;
        shape ^= shape >> 31;
    }
    return shape;
}

void cover_table_outcomes(struct cover_table *t, uint32_t line, uint32_t function,
                          const struct table_outcome *outcomes, uint32_t len)
{
    bool is_new;
    uint32_t number = *map_at(&t->by_group, two(line, function), shape_of(outcomes, len),
                              (uint32_t)t->groups.len, &is_new);
    if (is_new) {
        struct table_line *l = &t->lines.at[line];
        vec_reserve(&t->outcomes, t->outcomes.len + len);
        vec_push(&t->groups,
                 (struct table_group){function, (uint32_t)t->outcomes.len, len, l->group});
        l->group = number;
        memcpy(t->outcomes.at + t->outcomes.len, outcomes, len * sizeof *outcomes);
        t->outcomes.len += len;
        return;
    }
    struct table_group *g = &t->groups.at[number];
    for (uint32_t i = 0; i < g->len && i < len; i++) {
        struct table_outcome *sum = &t->outcomes.at[g->first + i];
        sum->count = cover_sum(sum->count, outcomes[i].count);
    }
}

void cover_table_mask(struct cover_table *t, uint32_t line, const struct table_mask *mask)
{
    bool is_new;
    uint32_t number = *map_at(&t->by_mask, two(line, mask->function),
                              two(mask->ordinal, mask->terms), (uint32_t)t->masks.len, &is_new);
    if (is_new) {
        struct table_mask fresh = *mask;
        fresh.next = t->lines.at[line].mask;
        t->lines.at[line].mask = number;
        vec_push(&t->masks, fresh);
        return;
    }
    t->masks.at[number].on |= mask->on;
    t->masks.at[number].off |= mask->off;
}

static uint32_t *translate(struct intern *to, const struct intern *from)
{
    uint32_t *numbers = calloc(from->texts.len + 1, sizeof *numbers);
    if (!numbers)
        memory_exhausted(from->texts.len);
    for (size_t i = 0; i < from->texts.len; i++)
        numbers[i] = intern(to, from->texts.at[i], from->lengths.at[i]);
    return numbers;
}

static uint32_t *add_functions(struct cover_table *t, const struct cover_table *other,
                               const uint32_t *sources)
{
    uint32_t *names = translate(&t->names, &other->names);
    uint32_t *functions = calloc(other->functions.len + 1, sizeof *functions);
    if (!functions)
        memory_exhausted(other->functions.len);
    for (size_t i = 0; i < other->functions.len; i++) {
        struct table_function row = other->functions.at[i];
        row.name = names[row.name];
        row.source = sources[row.source];
        functions[i] = cover_table_function(t, &row);
    }
    free(names);
    return functions;
}

static void add_line(struct cover_table *t, const struct cover_table *other,
                     const struct table_line *from, const uint32_t *sources,
                     const uint32_t *functions)
{
    uint32_t line = cover_table_line(t, sources[from->source], from->line);
    if (from->is_known)
        cover_table_count(t, line, from->count);
    if (from->is_unknown)
        cover_table_unknown(t, line);
    for (uint32_t g = from->group; g != NONE; g = other->groups.at[g].next) {
        const struct table_group *group = &other->groups.at[g];
        uint32_t function = group->function == NONE ? NONE : functions[group->function];
        cover_table_outcomes(t, line, function, other->outcomes.at + group->first, group->len);
    }
    for (uint32_t m = from->mask; m != NONE; m = other->masks.at[m].next) {
        struct table_mask mask = other->masks.at[m];
        mask.function = mask.function == NONE ? NONE : functions[mask.function];
        cover_table_mask(t, line, &mask);
    }
}

void cover_table_add(struct cover_table *t, const struct cover_table *other)
{
    uint32_t *sources = translate(&t->paths, &other->paths);
    uint32_t *functions = add_functions(t, other, sources);
    for (size_t i = 0; i < other->lines.len; i++)
        add_line(t, other, &other->lines.at[i], sources, functions);
    for (size_t i = 0; i < other->tests.texts.len; i++)
        intern(&t->tests, other->tests.texts.at[i], other->tests.lengths.at[i]);
    free(sources);
    free(functions);
}
