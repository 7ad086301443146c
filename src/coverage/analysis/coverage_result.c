/* Sources one by one, each by the thread that is free, the large ones first; their sums at the end.
 */
#include "coverage/analysis/coverage_result.h"

#include "coverage/analysis/coverage_result_private.h"
#include "base/parallel.h"
#include "coverage/model/coverage.h"

#include <string.h>

void coverage_result_deinit(struct coverage_result *r)
{
    vec_free(&r->sources);
    vec_free(&r->lines);
    vec_free(&r->branches);
    vec_free(&r->conditions);
    vec_free(&r->functions);
    vec_free(&r->tests);
    vec_free(&r->notes);
    arena_deinit(&r->arena);
    *r = (struct coverage_result){0};
}

double ratio_percent(const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? 100.0 * (double)r->hit / (double)all : 100.0;
}

/* --- sources: where they are, and how much there is of each ---------------------------------- */

static const char *result_shown_path(const char *root, const char *path)
{
    size_t len = root ? strlen(root) : 0;
    len -= len == 1; /* "/" */
    if (root && *root && !strncmp(path, root, len) && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

static bool result_is_outside(const struct result_rules *rules, const char *path)
{
    return rules->scope && !rules->is_in_scope(rules->scope, path);
}

static void result_find_sources(struct result_building *b)
{
    struct coverage_result *r = b->r;
    for (uint32_t rank = 0; rank < b->order.ranks; rank++) {
        const char *path = part_path(&b->order.parts[b->order.first_part[rank]]);
        const char *whole = arena_copy(&r->arena, path, strlen(path));
        const char *file = source_find(b->rules->search, whole);
        vec_push(&r->sources,
                 (struct result_source){.path = result_shown_path(b->rules->root, whole),
                                        .whole = whole,
                                        .file = file,
                                        .is_outside = result_is_outside(b->rules, whole)});
        r->unreadable_sources += !file && !r->sources.at[rank].is_outside;
    }
}

/* What all tables together have of a source: the most that the result can have. */
static struct table_size result_size_of(const struct source_parts *order, uint32_t rank)
{
    struct table_size sum = {0};
    for (uint32_t i = order->first_part[rank]; i < order->first_part[rank + 1]; i++) {
        const struct table_size *size = &order->parts[i].t->sizes.at[order->parts[i].source];
        sum.functions += size->functions;
        sum.lines += size->lines;
        sum.outcomes += size->outcomes;
        sum.masks += size->masks;
    }
    return sum;
}

/* Gives each source its slices; `work` gets the sources, the largest first. */
static void result_make_room(struct result_building *b, struct keyed *work)
{
    struct coverage_result *r = b->r;
    for (uint32_t rank = 0; rank < b->order.ranks; rank++) {
        struct table_size size = result_size_of(&b->order, rank);
        r->sources.at[rank].first_function = (uint32_t)r->functions.len;
        r->sources.at[rank].first_line = (uint32_t)r->lines.len;
        b->sources[rank].first_branch = (uint32_t)r->branches.len;
        b->sources[rank].first_condition = (uint32_t)r->conditions.len;
        r->functions.len += size.functions;
        r->lines.len += size.lines;
        r->branches.len += size.outcomes;
        r->conditions.len += size.masks;
        work[rank] =
            (struct keyed){UINT32_MAX - (size.functions + size.lines + size.outcomes), rank};
    }
    /* One more than there are, so that empty slices have an address. */
    vec_reserve(&r->functions, r->functions.len + 1);
    vec_reserve(&r->lines, r->lines.len + 1);
    vec_reserve(&r->branches, r->branches.len + 1);
    vec_reserve(&r->conditions, r->conditions.len + 1);
    sort_keyed(work, b->order.ranks);
}

/* --- threads --------------------------------------------------------------------------------- */

struct building_job {
    struct result_builder *workers;
    const struct keyed *work;
    void (*put)(struct result_builder *w, uint32_t rank);
};

static void result_put_one(size_t i, unsigned worker, void *context)
{
    struct building_job *job = context;
    job->put(&job->workers[worker], job->work[i].item);
}

static void result_builder_deinit(struct result_builder *w)
{
    arena_join(&w->b->r->arena, &w->texts);
    line_walk_deinit(&w->walk);
    vec_free(&w->items);
    vec_free(&w->same);
    vec_free(&w->refs);
    vec_free(&w->functions);
    vec_free(&w->marked_lines);
    vec_free(&w->marked_functions);
    vec_free(&w->groups);
    vec_free(&w->masks);
    vec_free(&w->sum);
}

/* Little is done sooner than a thread starts. */
static unsigned result_threads_for(const struct result_building *b)
{
    enum { LITTLE = 2000 };
    size_t items = b->r->lines.len + b->r->functions.len + b->r->branches.len;
    return parallel_workers(b->order.ranks, items < LITTLE ? 1 : b->rules->threads);
}

static void result_put_sources(struct result_building *b, const struct keyed *work, struct arena *a)
{
    unsigned threads = result_threads_for(b);
    struct building_job job = {.work = work, .put = result_put_functions};
    job.workers = ARENA_NEW(a, struct result_builder, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        job.workers[i].b = b;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    job.put = result_put_lines;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    for (unsigned i = 0; i < threads; i++)
        result_builder_deinit(&job.workers[i]);
}

/* --- sums ------------------------------------------------------------------------------------ */

static void result_add_ratio(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

static void result_add_sums(struct coverage_ratios *sum, const struct coverage_ratios *part)
{
    result_add_ratio(&sum->lines, &part->lines);
    result_add_ratio(&sum->functions, &part->functions);
    result_add_ratio(&sum->branches, &part->branches);
    result_add_ratio(&sum->conditions, &part->conditions);
    result_add_ratio(&sum->calls, &part->calls);
}

static void result_add_left_out(struct result_left_out *sum, const struct result_left_out *part)
{
    sum->lines += part->lines;
    sum->branches += part->branches;
    sum->functions += part->functions;
    sum->exception_branches += part->exception_branches;
    sum->hidden_branches += part->hidden_branches;
}

static void result_take_notes(struct coverage_result *r, const struct source_marks *m,
                              const char *path)
{
    if (m->trouble && !r->trouble)
        r->trouble = arena_copy(&r->arena, m->trouble, strlen(m->trouble));
    if (m->unclosed)
        vec_push(&r->notes,
                 arena_printf(&r->arena,
                              "%s:%u: the exclusion that starts here has no end; all below is "
                              "left out",
                              path, m->unclosed));
    if (m->stray)
        vec_push(&r->notes, arena_printf(&r->arena, "%s:%u: an exclusion ends that never started",
                                         path, m->stray));
}

static void result_note_outside(struct coverage_result *r, const struct result_source *s)
{
    if (!s->lines && !s->functions)
        return;
    r->left_out.outside_example =
        r->left_out.outside_sources++ ? r->left_out.outside_example : s->whole;
}

/* Sources of which nothing is left are not shown. */
static void result_drop_empty(struct coverage_result *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        struct result_source *s = &r->sources.at[i];
        if (s->is_outside)
            result_note_outside(r, s);
        if (s->is_outside || (!s->lines && !s->functions))
            continue;
        for (uint32_t k = 0; k < s->functions; k++)
            r->functions.at[s->first_function + k].source = kept;
        result_add_sums(&r->sums, &s->sums);
        r->sources.at[kept++] = *s;
    }
    r->sources.len = kept;
}

static int result_by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Tests' names, each once, in an order that does not depend on which thread met them. */
static void result_take_tests(struct coverage_result *r, const struct coverage_table *tables,
                              size_t len)
{
    struct intern tests = {0};
    for (size_t i = 0; i < len; i++)
        for (uint32_t k = 0; k < tables[i].tests.texts.len; k++)
            intern(&tests, tables[i].tests.texts.at[k], tables[i].tests.lengths.at[k]);
    for (uint32_t i = 0; i < tests.texts.len; i++)
        vec_push(&r->tests, arena_copy(&r->arena, tests.texts.at[i], tests.lengths.at[i]));
    if (r->tests.len)
        qsort(r->tests.at, r->tests.len, sizeof *r->tests.at, result_by_text);
    intern_deinit(&tests);
}

void coverage_result_build(const struct coverage_table *tables, size_t len,
                           const struct result_rules *rules, struct coverage_result *out)
{
    struct result_building b = {.rules = rules, .r = out};
    struct arena scratch = {0};
    source_parts_build(tables, len, rules->threads, &b.order);
    struct keyed *work = ARENA_NEW(&scratch, struct keyed, (size_t)b.order.ranks + 1);
    b.sources = ARENA_NEW(&scratch, struct built_source, (size_t)b.order.ranks + 1);
    result_find_sources(&b);
    result_make_room(&b, work);
    b.shown = ARENA_NEW(&scratch, uint32_t, out->functions.len + 1);
    result_put_sources(&b, work, &scratch);
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        if (!out->sources.at[rank].is_outside) {
            result_take_notes(out, &b.sources[rank].marks, out->sources.at[rank].path);
            result_add_left_out(&out->left_out, &b.sources[rank].left_out);
        }
        source_marks_deinit(&b.sources[rank].marks);
    }
    result_drop_empty(out);
    result_take_tests(out, tables, len);
    source_parts_deinit(&b.order);
    arena_deinit(&scratch);
}
