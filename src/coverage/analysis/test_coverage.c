/* From the hits of the threads' tables to those of the result's lines, and to the tests that a
 * patch concerns.
 *
 * Hits are given out by a counting sort over lines: counted first, then put where they belong, then
 * each line's slice is sorted by test, and hits of one test are added up. Memory grows with lines
 * times the tests that ran them, and nothing is kept of the tests that did not.
 *
 * "Adds nothing" is found greedily, the smallest test first: a test may go if others that stay ran
 * all its lines. That is not the least set of tests (set cover is NP-hard), but all that it names
 * may go together.
 *
 * A patch concerns a test by the best of three reasons: it ran a changed line, it ran the function
 * around the change, or (where a change is in no function) it ran the source at all. */
#include "coverage/analysis/coverage_result.h"

#include "base/sort.h"
#include "coverage/analysis/coverage_change.h"
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

/* --- lines ----------------------------------------------------------------------------------- */

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

/* Two places on: after summing up, and after putting the hits, the slices begin where they should.
 */
static void test_count_hit(struct test_coverage *t, uint32_t line, uint32_t test, uint64_t count)
{
    (void)test, (void)count;
    t->first[line + 2]++;
}

static void test_put_hit(struct test_coverage *t, uint32_t line, uint32_t test, uint64_t count)
{
    t->hits[t->first[line + 1]++] = (struct line_test){count, test};
}

/* Numbers in a table, as numbers here. */
struct table_numbers {
    const uint32_t *tests, *lines;
};

/* Calls `visit` for each hit of a line that is in the result. */
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

/* --- what tests add -------------------------------------------------------------------------- */

static int test_by_lines(uint32_t left, uint32_t right, const void *context)
{
    const struct test_row *rows = context;
    return (rows[left].lines > rows[right].lines) - (rows[left].lines < rows[right].lines);
}

/* The smallest first: a test may go if others that stay ran all its lines. Linear in the hits, but
 * for the sort of the tests. `left` is how many of the tests that stay ran each line: one that
 * would drop to 0 keeps its test. */
static void test_find_useless(struct test_coverage *t)
{
    struct arena scratch = {0};
    size_t len = t->tests.len, all = t->result->lines.len;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    uint32_t *start = ARENA_NEW(&scratch, uint32_t, len + 2);
    uint32_t *left = ARENA_NEW(&scratch, uint32_t, all); /* tests that stay, by line */
    /* By test, the lines that it ran. `start` has two more elements than tests, for the counting
     * sort; afterwards it bounds the lists. */
    uint32_t *lines = ARENA_NEW(&scratch, uint32_t, t->first[t->result->lines.len]);
    for (size_t i = 0; i < t->tests.len; i++)
        start[i + 2] = start[i + 1] + (uint32_t)t->tests.at[i].lines;
    for (uint32_t line = 0; line < t->result->lines.len; line++)
        for (uint32_t i = t->first[line]; i < t->first[line + 1]; i++)
            lines[start[t->hits[i].test + 1]++] = line;
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

/* The hits of each table are freed as soon as they are taken over. */
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
    /* All tables' tests, by name. */
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < tables[i].tests.texts.len; k++) {
            const char *name = tables[i].tests.texts.at[k];
            if (intern_kept(&names, name, strlen(name)) == out->tests.len)
                vec_push(&out->tests, (struct test_row){.name = name});
        }
    if (out->tests.len)
        qsort(out->tests.at, out->tests.len, sizeof *out->tests.at, test_by_name);
    intern_deinit(&names);

    /* Sources of the result by the names that tables know. */
    for (uint32_t i = 0; i < result->sources.len; i++) {
        const char *whole = result->sources.at[i].whole;
        of_name[intern_kept(&names, whole, strlen(whole))] = i;
    }

    for (size_t i = 0; i < len; i++) {
        /* The number here of each test of a table. By search among the names, which are sorted. */
        uint32_t *here = ARENA_NEW(&scratch, uint32_t, tables[i].tests.texts.len);
        for (size_t k = 0; k < tables[i].tests.texts.len; k++)
            here[k] = (uint32_t)PARTITION_POINT(
                out->tests.len, n, strcmp(out->tests.at[n].name, tables[i].tests.texts.at[k]) < 0);
        numbers[i].tests = here;
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
    /* Sorts the slices by test and adds up hits of one test; slices only get shorter. */
    uint32_t kept = 0, start = 0;
    for (size_t line = 0; line < out->result->lines.len; line++) {
        uint32_t end = out->first[line + 1], first = kept;
        if (end - start > 1)
            qsort(out->hits + start, end - start, sizeof *out->hits, test_by_test);
        for (uint32_t i = start; i < end; i++) {
            struct line_test *last = kept > first ? &out->hits[kept - 1] : NULL;
            if (last && last->test == out->hits[i].test)
                last->count = add_saturating(last->count, out->hits[i].count);
            else
                out->hits[kept++] = out->hits[i];
        }
        start = end;
        out->first[line] = first;
    }
    out->first[out->result->lines.len] = kept;
    for (size_t line = 0; line < out->result->lines.len; line++) {
        uint32_t first = out->first[line], end = out->first[line + 1];
        for (uint32_t i = first; i < end; i++) {
            struct test_row *row = &out->tests.at[out->hits[i].test];
            row->lines++;
            row->alone += end - first == 1;
        }
    }

    test_find_useless(out);
    intern_deinit(&names);
    arena_deinit(&scratch);
}

/* --- the tests that a patch concerns --------------------------------------------------------- */

const char *const test_reason_names[] = {[REASON_NONE] = "none",
                                         [REASON_SOURCE] = "source",
                                         [REASON_FUNCTION] = "function",
                                         [REASON_LINE] = "line"};

/* The best reason of each test so far. */
struct selecting {
    const struct test_coverage *t;
    struct chosen_test *tests; /* all */
};

/* Every test that ran lines `first` to `last` of a source has at least this reason. */
static bool choose_lines(struct selecting *s, const struct result_source *source, uint32_t first,
                         uint32_t last, enum test_reason reason)
{
    const struct coverage_result *r = s->t->result;
    uint32_t at = source->first_line, end = at + source->lines;
    bool has_code = false;
    at += PARTITION_POINT(source->lines, i, r->lines.at[source->first_line + i].line < first);
    for (; at < end && r->lines.at[at].line <= last; at++) {
        has_code = true;
        for (uint32_t i = s->t->first[at]; i < s->t->first[at + 1]; i++) {
            struct chosen_test *c = &s->tests[s->t->hits[i].test];
            if (reason > c->reason)
                *c = (struct chosen_test){c->test, reason, 0};
            c->lines += reason == c->reason;
        }
    }
    return has_code;
}

/* Where tracefiles do not say where a function ends, the next one's beginning does. Looks at all
 * functions of the source. */
static uint32_t function_end(const struct coverage_result *r, const struct result_source *source,
                             const struct result_function *f)
{
    uint32_t end = UINT32_MAX;
    if (f->end_line)
        return f->end_line;
    for (uint32_t i = source->first_function; i < source->first_function + source->functions; i++) {
        uint32_t start = r->functions.at[i].start_line;
        end = start > f->start_line && start - 1 < end ? start - 1 : end;
    }
    return end;
}

/* Lines put in before a function's first one are not in it. */
static bool is_in_function(const struct patch_old_range *range, uint32_t start, uint32_t end)
{
    if (!range->lines)
        return start < range->first && range->first <= end;
    return range->first <= end && range->first + (uint64_t)range->lines > start;
}

/* A function is asked also where a changed line ran: others may have run the rest of it. */
static void choose_range(struct selecting *s, uint32_t source_number,
                         const struct patch_old_range *range)
{
    const struct coverage_result *r = s->t->result;
    const struct result_source *source = &r->sources.at[source_number];
    bool is_somewhere = false;
    if (range->lines)
        is_somewhere =
            choose_lines(s, source, range->first, range->first + range->lines - 1, REASON_LINE);
    for (uint32_t i = source->first_function; i < source->first_function + source->functions; i++) {
        const struct result_function *f = &r->functions.at[i];
        uint32_t end = function_end(r, source, f);
        if (!is_in_function(range, f->start_line, end))
            continue;
        choose_lines(s, source, f->start_line, end, REASON_FUNCTION);
        is_somewhere = true;
    }
    if (!is_somewhere)
        choose_lines(s, source, 0, UINT32_MAX, REASON_SOURCE);
}

static int by_reason(const void *left, const void *right)
{
    const struct chosen_test *l = left, *r = right;
    if (l->reason != r->reason)
        return l->reason > r->reason ? -1 : 1;
    if (l->lines != r->lines)
        return l->lines > r->lines ? -1 : 1;
    return (l->test > r->test) - (l->test < r->test);
}

/* Files of the patch that are not covered are counted, with the first of them. */
void test_selection_make(const struct test_coverage *t, const struct patch *patch,
                         struct test_selection *out)
{
    struct arena scratch = {0};
    struct selecting s = {t, ARENA_NEW(&scratch, struct chosen_test, t->tests.len)};
    for (uint32_t i = 0; i < t->tests.len; i++)
        s.tests[i].test = i;
    bool is_whole = patch_has_whole_names(t->result, patch);
    for (size_t i = 0; i < patch->old_files.len; i++) {
        const struct patch_old_file *f = &patch->old_files.at[i];
        uint32_t source = patch_source(t->result, f->path, f->whole_path, is_whole);
        if (source == NONE) {
            out->unknown_file = out->unknown_files++ ? out->unknown_file : f->path;
            continue;
        }
        for (uint32_t k = 0; k < f->ranges; k++)
            choose_range(&s, source, &patch->old_ranges.at[f->first_range + k]);
    }
    for (size_t i = 0; i < t->tests.len; i++)
        if (s.tests[i].reason)
            vec_push(&out->tests, s.tests[i]);
    if (out->tests.len)
        qsort(out->tests.at, out->tests.len, sizeof *out->tests.at, by_reason);
    arena_deinit(&scratch);
}

void test_selection_deinit(struct test_selection *s)
{
    vec_free(&s->tests);
}
