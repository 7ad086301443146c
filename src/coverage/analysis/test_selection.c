/* Which tests a patch concerns. */
#include "coverage/analysis/test_coverage.h"

#include "base/search.h"
#include "coverage/analysis/patch_coverage.h"
#include "coverage/model/coverage.h"

#define NONE ((uint32_t)NO_INDEX)

const char *const test_reason_names[] = {[REASON_NONE] = "none",
                                         [REASON_SOURCE] = "source",
                                         [REASON_FUNCTION] = "function",
                                         [REASON_LINE] = "line"};

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

/* Where tracefiles do not say where a function ends, the next one's beginning does. */
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

void test_selection_make(const struct test_coverage *t, const struct patch *patch,
                         struct test_selection *out)
{
    struct arena scratch = {0};
    struct selecting s = {t, ARENA_NEW(&scratch, struct chosen_test, t->tests.len)};
    for (uint32_t i = 0; i < t->tests.len; i++)
        s.tests[i].test = i;
    for (size_t i = 0; i < patch->old_files.len; i++) {
        const struct patch_old_file *f = &patch->old_files.at[i];
        uint32_t source = patch_source(t->result, f->path, f->whole_path);
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
