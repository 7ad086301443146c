/* From the hits of the threads' tables to those of the result's lines. */
#include "coverage/analysis/test_coverage.h"

#include "base/search.h"
#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

void test_coverage_deinit(struct test_coverage *t)
{
    vec_free(&t->tests);
    memory_free(t->first);
    memory_free(t->hits);
    arena_deinit(&t->arena);
}

/* --- names ----------------------------------------------------------------------------------- */

static int test_by_name(const void *left, const void *right)
{
    const struct test_row *l = left, *r = right;
    return strcmp(l->name, r->name);
}

/* All tables' tests, by name. */
static void test_gather(struct test_coverage *t, const struct coverage_table *tables, size_t len)
{
    struct intern names = {0};
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < tables[i].tests.texts.len; k++) {
            const char *name = tables[i].tests.texts.at[k];
            if (intern_kept(&names, name, strlen(name)) == t->tests.len)
                vec_push(&t->tests, (struct test_row){.name = name});
        }
    if (t->tests.len)
        qsort(t->tests.at, t->tests.len, sizeof *t->tests.at, test_by_name);
    intern_deinit(&names);
}

/* The number here of each test of a table. */
static uint32_t *test_numbers(const struct test_coverage *t, const struct coverage_table *table,
                              struct arena *a)
{
    uint32_t *numbers = ARENA_NEW(a, uint32_t, table->tests.texts.len);
    for (size_t k = 0; k < table->tests.texts.len; k++)
        numbers[k] = (uint32_t)PARTITION_POINT(
            t->tests.len, i, strcmp(t->tests.at[i].name, table->tests.texts.at[k]) < 0);
    return numbers;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Sources of the result by the names that tables know. */
static void test_index_sources(const struct coverage_result *r, struct intern *names,
                               uint32_t *of_name)
{
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const char *whole = r->sources.at[i].whole;
        of_name[intern_kept(names, whole, strlen(whole))] = i;
    }
}

/* The line of the result that each line of a table is, or NONE: left out. */
static uint32_t *test_lines(const struct coverage_result *r, const struct coverage_table *table,
                            const struct intern *names, const uint32_t *of_name, struct arena *a)
{
    uint32_t *sources = ARENA_NEW(a, uint32_t, table->paths.texts.len);
    uint32_t *lines = ARENA_NEW(a, uint32_t, table->lines.len);
    for (size_t i = 0; i < table->paths.texts.len; i++) {
        const char *path = table->paths.texts.at[i];
        uint32_t name = intern_find(names, path, strlen(path));
        sources[i] = name == INTERN_NONE ? NONE : of_name[name];
    }
    for (size_t i = 0; i < table->lines.len; i++) {
        const struct table_line *l = &table->lines.at[i];
        lines[i] = NONE;
        if (sources[l->source] == NONE)
            continue;
        const struct result_source *s = &r->sources.at[sources[l->source]];
        uint32_t at = s->first_line +
                      PARTITION_POINT(s->lines, k, r->lines.at[s->first_line + k].line < l->line);
        if (at < s->first_line + s->lines && r->lines.at[at].line == l->line)
            lines[i] = at;
    }
    return lines;
}

/* Hits are given out twice: first counted, then put where they belong. */
typedef void hit_visitor(struct test_coverage *t, uint32_t line, uint32_t test, uint64_t count);

static void test_count_hit(struct test_coverage *t, uint32_t line, uint32_t test, uint64_t count)
{
    (void)test, (void)count;
    t->first[line + 2]++;
}

static void test_put_hit(struct test_coverage *t, uint32_t line, uint32_t test, uint64_t count)
{
    t->hits[t->first[line + 1]++] = (struct line_test){count, test};
}

struct table_numbers {
    const uint32_t *tests, *lines;
};

static void test_each(struct test_coverage *t, const struct coverage_table *table,
                      const struct table_numbers *numbers, hit_visitor *visit)
{
    for (size_t i = 0; i < table->hits_of.len; i++)
        for (uint32_t at = numbers->lines[i] == NONE ? NONE : table->hits_of.at[i]; at != NONE;
             at = table->hits.at[at].next)
            visit(t, numbers->lines[i], numbers->tests[table->hits.at[at].test],
                  table->hits.at[at].count);
}

static int test_by_test(const void *left, const void *right)
{
    const struct line_test *l = left, *r = right;
    return (l->test > r->test) - (l->test < r->test);
}

/* Sorts the slices by test and adds up what is of one test; slices only get shorter. */
static void test_tidy(struct test_coverage *t)
{
    uint32_t kept = 0, start = 0;
    for (size_t line = 0; line < t->result->lines.len; line++) {
        uint32_t end = t->first[line + 1], first = kept;
        if (end - start > 1)
            qsort(t->hits + start, end - start, sizeof *t->hits, test_by_test);
        for (uint32_t i = start; i < end; i++) {
            struct line_test *last = kept > first ? &t->hits[kept - 1] : NULL;
            if (last && last->test == t->hits[i].test)
                last->count = add_saturating(last->count, t->hits[i].count);
            else
                t->hits[kept++] = t->hits[i];
        }
        start = end;
        t->first[line] = first;
    }
    t->first[t->result->lines.len] = kept;
}

/* --- what tests add -------------------------------------------------------------------------- */

static void test_sum(struct test_coverage *t)
{
    for (size_t line = 0; line < t->result->lines.len; line++) {
        uint32_t first = t->first[line], end = t->first[line + 1];
        for (uint32_t i = first; i < end; i++) {
            struct test_row *row = &t->tests.at[t->hits[i].test];
            row->lines++;
            row->alone += end - first == 1;
        }
    }
}

static int test_by_lines(uint32_t left, uint32_t right, const void *context)
{
    const struct test_row *rows = context;
    return (rows[left].lines > rows[right].lines) - (rows[left].lines < rows[right].lines);
}

/* By test, the lines that it ran. */
static uint32_t *test_lists(const struct test_coverage *t, uint32_t *start, struct arena *a)
{
    uint32_t all = t->first[t->result->lines.len];
    uint32_t *lines = ARENA_NEW(a, uint32_t, all);
    for (size_t i = 0; i < t->tests.len; i++)
        start[i + 2] = start[i + 1] + (uint32_t)t->tests.at[i].lines;
    for (uint32_t line = 0; line < t->result->lines.len; line++)
        for (uint32_t i = t->first[line]; i < t->first[line + 1]; i++)
            lines[start[t->hits[i].test + 1]++] = line;
    return lines;
}

/* The smallest first: a test may go if others that stay ran all its lines. */
static void test_find_useless(struct test_coverage *t)
{
    struct arena scratch = {0};
    size_t len = t->tests.len, all = t->result->lines.len;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    uint32_t *start = ARENA_NEW(&scratch, uint32_t, len + 2);
    uint32_t *left = ARENA_NEW(&scratch, uint32_t, all); /* tests that stay, by line */
    const uint32_t *lines = test_lists(t, start, &scratch);
    for (size_t line = 0; line < all; line++)
        left[line] = t->first[line + 1] - t->first[line];
    for (uint32_t i = 0; i < len; i++)
        order[i] = i;
    sort_u32(order, len, test_by_lines, t->tests.at);
    for (size_t i = 0; i < len; i++) {
        struct test_row *row = &t->tests.at[order[i]];
        const uint32_t *own = lines + start[order[i]];
        row->adds_nothing = true;
        for (uint64_t k = 0; k < row->lines && row->adds_nothing; k++)
            row->adds_nothing = left[own[k]] > 1;
        for (uint64_t k = 0; k < row->lines && row->adds_nothing; k++)
            left[own[k]]--;
    }
    arena_deinit(&scratch);
}

void test_coverage_build(struct coverage_table *tables, size_t len,
                         const struct coverage_result *result, struct test_coverage *out)
{
    struct arena scratch = {0};
    struct intern names = {0};
    uint32_t *of_name = ARENA_NEW(&scratch, uint32_t, result->sources.len);
    struct table_numbers *numbers = ARENA_NEW(&scratch, struct table_numbers, len);
    *out = (struct test_coverage){.result = result};
    size_t lines = result->lines.len + 3;
    out->first = memory_resized(NULL, lines * sizeof *out->first);
    memset(out->first, 0, lines * sizeof *out->first);
    test_gather(out, tables, len);
    test_index_sources(result, &names, of_name);
    for (size_t i = 0; i < len; i++) {
        numbers[i].tests = test_numbers(out, &tables[i], &scratch);
        numbers[i].lines = test_lines(result, &tables[i], &names, of_name, &scratch);
        test_each(out, &tables[i], &numbers[i], test_count_hit);
    }
    for (size_t line = 2; line < lines; line++)
        out->first[line] += out->first[line - 1];
    out->hits = memory_resized(NULL, (out->first[lines - 1] + 1) * sizeof *out->hits);
    for (size_t i = 0; i < len; i++) {
        test_each(out, &tables[i], &numbers[i], test_put_hit);
        vec_free(&tables[i].hits);
        vec_free(&tables[i].hits_of);
    }
    test_tidy(out);
    test_sum(out);
    test_find_useless(out);
    intern_deinit(&names);
    arena_deinit(&scratch);
}
