/* Sources one by one, each by the thread that is free, the large ones first; their sums at the end.
 */
#include "coverage/analysis/coverage_result.h"

#include "coverage/analysis/coverage_result_private.h"
#include "base/parallel.h"
#include "coverage/model/coverage.h"

#include <stdatomic.h>
#include <string.h>

void cover_result_deinit(struct cover_result *r)
{
    vec_free(&r->sources);
    vec_free(&r->lines);
    vec_free(&r->branches);
    vec_free(&r->conditions);
    vec_free(&r->functions);
    vec_free(&r->tests);
    vec_free(&r->notes);
    arena_deinit(&r->arena);
    *r = (struct cover_result){0};
}

double cover_percent(const struct cover_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? 100.0 * (double)r->hit / (double)all : 100.0;
}

/* --- sources: where they are, and how much there is of each ---------------------------------- */

static const char *shown_path(const char *root, const char *path)
{
    size_t len = root ? strlen(root) : 0;
    len -= len == 1; /* "/" */
    if (root && *root && !strncmp(path, root, len) && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

static void find_sources(struct cover_building *b)
{
    struct cover_result *r = b->r;
    for (uint32_t rank = 0; rank < b->order.ranks; rank++) {
        const char *path = part_path(&b->order.parts[b->order.first_part[rank]]);
        const char *whole = arena_copy(&r->arena, path, strlen(path));
        const char *file = source_find(b->rules->search, whole);
        vec_push(&r->sources, (struct result_source){.path = shown_path(b->rules->root, whole),
                                                     .whole = whole,
                                                     .file = file});
        r->unreadable_sources += !file;
    }
}

/* What all tables together have of a source: the most that the result can have. */
static struct table_size size_of(const struct cover_order *order, uint32_t rank)
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
static void make_room(struct cover_building *b, struct keyed *work)
{
    struct cover_result *r = b->r;
    for (uint32_t rank = 0; rank < b->order.ranks; rank++) {
        struct table_size size = size_of(&b->order, rank);
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
    struct cover_builder *workers;
    const struct keyed *work;
    atomic_uint next;
    void (*put)(struct cover_builder *w, uint32_t rank);
};

static void put_all(size_t worker, void *context)
{
    struct building_job *job = context;
    struct cover_builder *w = &job->workers[worker];
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < w->b->order.ranks;)
        job->put(w, job->work[i].item);
}

static void builder_deinit(struct cover_builder *w)
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
static unsigned threads_for(const struct cover_building *b)
{
    enum { LITTLE = 2000, MOST = 64 };
    size_t items = b->r->lines.len + b->r->functions.len + b->r->branches.len;
    unsigned threads = b->rules->threads ? b->rules->threads : parallel_cpus();
    threads = items < LITTLE ? 1 : threads > MOST ? MOST : threads;
    return threads < b->order.ranks ? threads : b->order.ranks;
}

static void put_sources(struct cover_building *b, const struct keyed *work, struct arena *a)
{
    unsigned threads = threads_for(b);
    struct building_job job = {.work = work, .put = cover_put_functions};
    job.workers = ARENA_NEW(a, struct cover_builder, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        job.workers[i].b = b;
    parallel_for(threads, threads, put_all, &job);
    job.put = cover_put_lines;
    atomic_store(&job.next, 0);
    parallel_for(threads, threads, put_all, &job);
    for (unsigned i = 0; i < threads; i++)
        builder_deinit(&job.workers[i]);
}

/* --- sums ------------------------------------------------------------------------------------ */

static void add_ratio(struct cover_ratio *sum, const struct cover_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

static void add_sums(struct cover_sums *sum, const struct cover_sums *part)
{
    add_ratio(&sum->lines, &part->lines);
    add_ratio(&sum->functions, &part->functions);
    add_ratio(&sum->branches, &part->branches);
    add_ratio(&sum->conditions, &part->conditions);
    add_ratio(&sum->calls, &part->calls);
}

static void add_left_out(struct result_left_out *sum, const struct result_left_out *part)
{
    sum->lines += part->lines;
    sum->branches += part->branches;
    sum->functions += part->functions;
    sum->exception_branches += part->exception_branches;
    sum->hidden_branches += part->hidden_branches;
}

static void take_notes(struct cover_result *r, const struct cover_marks *m, const char *path)
{
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

/* Sources of which nothing is left are not shown. */
static void drop_empty(struct cover_result *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->sources.len; i++) {
        struct result_source *s = &r->sources.at[i];
        if (!s->lines && !s->functions)
            continue;
        for (uint32_t k = 0; k < s->functions; k++)
            r->functions.at[s->first_function + k].source = kept;
        add_sums(&r->sums, &s->sums);
        r->sources.at[kept++] = *s;
    }
    r->sources.len = kept;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Tests' names, each once, in an order that does not depend on which thread met them. */
static void take_tests(struct cover_result *r, const struct cover_table *tables, size_t len)
{
    struct intern tests = {0};
    for (size_t i = 0; i < len; i++)
        for (uint32_t k = 0; k < tables[i].tests.texts.len; k++)
            intern(&tests, tables[i].tests.texts.at[k], tables[i].tests.lengths.at[k]);
    for (uint32_t i = 0; i < tests.texts.len; i++)
        vec_push(&r->tests, arena_copy(&r->arena, tests.texts.at[i], tests.lengths.at[i]));
    if (r->tests.len)
        qsort(r->tests.at, r->tests.len, sizeof *r->tests.at, by_text);
    intern_deinit(&tests);
}

void cover_result_build(const struct cover_table *tables, size_t len,
                        const struct result_rules *rules, struct cover_result *out)
{
    struct cover_building b = {.rules = rules, .r = out};
    struct arena scratch = {0};
    cover_order_build(tables, len, rules->threads, &b.order);
    struct keyed *work = ARENA_NEW(&scratch, struct keyed, (size_t)b.order.ranks + 1);
    b.sources = ARENA_NEW(&scratch, struct built_source, (size_t)b.order.ranks + 1);
    find_sources(&b);
    make_room(&b, work);
    b.shown = ARENA_NEW(&scratch, uint32_t, out->functions.len + 1);
    put_sources(&b, work, &scratch);
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        take_notes(out, &b.sources[rank].marks, out->sources.at[rank].path);
        add_left_out(&out->left_out, &b.sources[rank].left_out);
        cover_marks_deinit(&b.sources[rank].marks);
    }
    drop_empty(out);
    take_tests(out, tables, len);
    cover_order_deinit(&b.order);
    arena_deinit(&scratch);
}
