/* Making one result of the tables of all threads.
 *
 * Three steps. Each table's sources, pages of lines and functions are put in order, a thread a
 * table (source_parts): tables stay as they are, and their entries for one source lie side by side
 * afterwards. Then room is made: what all tables together have of a source is the most that the
 * result can have of it, so every source gets slices of the result's arrays before anything is
 * known, and threads fill them without a lock (result_sources.c), the largest sources first. Gaps
 * stay at the ends of the slices; nothing is copied twice. At last one thread drops sources of
 * which nothing is left, and adds up.
 *
 * Names are demangled and sources read by the thread that has the source. The result is the same
 * for any number of threads and any order of tables.
 *
 *     tables     T0: a.c b.c     T1: b.c c.c
 *     parts      a.c@T0 | b.c@T0 b.c@T1 | c.c@T1        by path, then table
 *     ranks      0      | 1             | 2             first_part[rank]
 *     lines      [a.c    ][b.c          ][c.c    ]      slices: at most what all parts have */
#include "coverage/analysis/coverage_result.h"

#include "coverage/analysis/coverage_result_private.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- the tables' sources side by side -------------------------------------------------------- */

/* Fills a zeroed *out; the tables must outlive it. */
static void source_parts_deinit(struct source_parts *o)
{
    for (size_t i = 0; i < o->tables; i++)
        arena_deinit(&o->arenas[i]);
    arena_deinit(&o->arena);
    *o = (struct source_parts){0};
}

/* ---- sources */

/* Bytes decide, whatever the locale. */
static int parts_by_path(uint32_t left, uint32_t right, const void *context)
{
    const struct source_part *parts = context;
    return strcmp(part_path(&parts[left]), part_path(&parts[right]));
}

/* In the order of tables; returns how many. */
static size_t parts_list_parts(const struct coverage_table *tables, size_t len,
                               struct source_part *parts)
{
    size_t n = 0;
    for (uint32_t i = 0; i < len; i++)
        for (uint32_t source = 0; source < tables[i].paths.texts.len; source++)
            parts[n++] = (struct source_part){.t = &tables[i], .table = i, .source = source};
    return n;
}

/* The sort is stable: parts of one source stay in the order of the tables. */
static void parts_sort_parts(const struct source_part *parts, size_t len, struct source_parts *out)
{
    uint32_t *sorted = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++)
        sorted[i] = i;
    sort_u32(sorted, len, parts_by_path, parts);
    out->parts = ARENA_NEW(&out->arena, struct source_part, len + 1);
    out->first_part = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        out->parts[i] = parts[sorted[i]];
        if (!i || parts_by_path(sorted[i - 1], sorted[i], parts))
            out->first_part[out->ranks++] = i;
    }
    out->first_part[out->ranks] = (uint32_t)len;
}

/* ---- one table */

/* part_of[table][source] is where the source's part went when parts were sorted. */
struct ordering {
    const struct coverage_table *tables;
    struct source_parts *out;
    uint32_t **part_of; /* by table and its source */
};

/* A key of two halves, which sort in that order. */
static uint64_t parts_two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The end of the items that begin at `i` and belong to the same part. */
static uint32_t parts_part_end(const struct keyed *items, uint32_t i, size_t len)
{
    uint32_t end = i + 1;
    while (end < len && items[end].key >> 32 == items[i].key >> 32)
        end++;
    return end;
}

/* By source and first line, with one sort for the whole table; each part gets its slice. */
static void parts_order_functions(const struct coverage_table *t, const uint32_t *part_of,
                                  struct source_part *parts, struct arena *a)
{
    size_t len = t->functions.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct table_function *f = &t->functions.at[i];
        items[i] = (struct keyed){parts_two(part_of[f->source], f->start_line), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].functions = items + i;
        parts[items[i].key >> 32].functions_len = end - i;
    }
}

/* Run by any thread: it writes to the parts of its own table alone. */
static void parts_order_table(size_t table, void *context)
{
    const struct ordering *o = context;
    const struct coverage_table *t = &o->tables[table];
    struct arena *a = &o->out->arenas[table];
    const uint32_t *part_of = o->part_of[table];
    uint32_t *places = ARENA_NEW(a, uint32_t, t->functions.len + 1);
    struct source_part *parts = o->out->parts;
    size_t len = t->page_keys.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        uint64_t key = t->page_keys.at[i];
        items[i] = (struct keyed){parts_two(part_of[key >> 32], (uint32_t)key), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].pages = items + i;
        parts[items[i].key >> 32].pages_len = end - i;
    }

    parts_order_functions(t, part_of, o->out->parts, a);
    for (size_t i = 0; i < t->paths.texts.len; i++)
        o->out->parts[part_of[i]].places = places;
}

/* Keys are numbers from here on: no path is compared again. */
static void source_parts_build(const struct coverage_table *tables, size_t len, unsigned threads,
                               struct source_parts *out)
{
    struct arena scratch = {0};
    struct ordering o = {tables, out, ARENA_NEW(&scratch, uint32_t *, len + 1)};
    size_t paths = 0;
    for (size_t i = 0; i < len; i++) {
        o.part_of[i] = ARENA_NEW(&scratch, uint32_t, tables[i].paths.texts.len + 1);
        paths += tables[i].paths.texts.len;
    }
    struct source_part *parts = ARENA_NEW(&scratch, struct source_part, paths + 1);
    parts_sort_parts(parts, parts_list_parts(tables, len, parts), out);
    for (uint32_t i = 0; i < paths; i++)
        o.part_of[out->parts[i].table][out->parts[i].source] = i;
    out->tables = len;
    out->arenas = ARENA_NEW(&out->arena, struct arena, len + 1);
    parallel_for(len, threads, parts_order_table, &o);
    arena_deinit(&scratch);
}

/* ---- lines */

static void line_walk_deinit(struct line_walk *w)
{
    vec_free(&w->lines);
    vec_free(&w->next_page);
    vec_free(&w->places);
}

/* The first call of line_walk_next() finds no page open. */
void line_walk_start(struct line_walk *w, const struct source_part *parts, uint32_t len)
{
    w->parts = parts;
    w->slot = PAGE_LINES;
    w->next_page.len = w->places.len = 0;
    for (uint32_t i = 0; i < len; i++) {
        vec_push(&w->next_page, 0);
        vec_push(&w->places, NULL);
    }
}

/* The page that the part has next. */
static uint32_t parts_page_number(const struct line_walk *w, size_t part)
{
    return (uint32_t)w->parts[part].pages[w->next_page.at[part]].key;
}

static bool parts_has_page(const struct line_walk *w, size_t part)
{
    return w->next_page.at[part] < w->parts[part].pages_len;
}

/* The lowest page that some part has next. */
static bool parts_next_page(struct line_walk *w)
{
    bool is_there = false;
    for (size_t i = 0; i < w->next_page.len; i++) {
        if (!parts_has_page(w, i) || (is_there && parts_page_number(w, i) >= w->page))
            continue;
        w->page = parts_page_number(w, i);
        is_there = true;
    }
    for (size_t i = 0; is_there && i < w->next_page.len; i++) {
        bool has_it = parts_has_page(w, i) && parts_page_number(w, i) == w->page;
        const struct source_part *p = &w->parts[i];
        w->places.at[i] = NULL;
        if (has_it)
            w->places.at[i] =
                p->t->page_lines.at + (size_t)p->pages[w->next_page.at[i]++].item * PAGE_LINES;
    }
    w->slot = 0;
    return is_there;
}

/* The next line that some part has, ascending, with the entry of each part. Costs a look into each
 * part for every line number of a page that one of them has. */
bool line_walk_next(struct line_walk *w)
{
    for (w->lines.len = 0; !w->lines.len; w->slot++) {
        if (w->slot == PAGE_LINES && !parts_next_page(w))
            return false;
        for (size_t i = 0; i < w->places.len; i++) {
            uint32_t place = w->places.at[i] ? w->places.at[i][w->slot] : 0;
            const struct source_part *p = &w->parts[i];
            if (place)
                vec_push(&w->lines, (struct line_ref){p, &p->t->lines.at[place - 1]});
        }
    }
    w->number = w->page * PAGE_LINES + w->slot - 1;
    return true;
}

void coverage_result_deinit(struct coverage_result *r)
{
    vec_free(&r->sources);
    vec_free(&r->lines);
    vec_free(&r->branches);
    vec_free(&r->conditions);
    vec_free(&r->functions);
    vec_free(&r->tests);
    vec_free(&r->notes);
    vec_free(&r->unseen);
    arena_deinit(&r->arena);
    *r = (struct coverage_result){0};
}

uint32_t result_line_from(const struct coverage_result *r, const struct result_source *s,
                          uint32_t line)
{
    return s->first_line + PARTITION_POINT(s->lines, i, r->lines.at[s->first_line + i].line < line);
}

double ratio_percent(const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? 100.0 * (double)r->hit / (double)all : 100.0;
}

/* Limits are compared in billionths of a percent: as a whole number, what was typed in decimal is
 * itself, which no floating-point fraction is. */
#define PERCENT_UNITS 1000000000
#define WHOLE_UNITS   (UINT64_C(100) * PERCENT_UNITS)

static uint64_t percent_units(double percent)
{
    return percent > 0 ? (uint64_t)llround(percent * PERCENT_UNITS) : 0;
}

/* Whether a/b < c/d, neither b nor d being 0. As Euclid has it: whole parts first; where they are
 * the same, the reciprocals of what is left, the other way round. No product can overflow. */
static bool fraction_is_less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    for (;;) {
        if (a / b != c / d)
            return a / b < c / d;
        a %= b;
        c %= d;
        if (!a || !c)
            return !a && c;
        uint64_t reciprocal = b;
        b = c;
        c = reciprocal;
        reciprocal = d;
        d = a;
        a = reciprocal;
    }
}

bool ratio_is_below(const struct coverage_ratio *r, double percent)
{
    return r->all && fraction_is_less(r->hit, r->all, percent_units(percent), WHOLE_UNITS);
}

/* Numbers of lines have 32 bits, so that their products fit. */
bool ratio_fell(const struct coverage_ratio *old, const struct coverage_ratio *now, double points)
{
    uint64_t before = old->all - old->unknown, after = now->all - now->unknown;
    uint64_t left = old->hit * after, right = now->hit * before;
    if (!before || !after || left <= right)
        return false;
    return fraction_is_less(percent_units(points), WHOLE_UNITS, left - right, before * after);
}

/* --- sources: where they are, and how much there is of each ---------------------------------- */

/* Names below the root without it; a folder that only begins like the root is not below it. */
static const char *result_shown_path(const char *root, const char *path)
{
    size_t len = root ? strlen(root) : 0;
    len -= len == 1; /* "/" */
    if (root && *root && !strncmp(path, root, len) && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

/* Without a scope all sources are inside. */
static bool result_is_outside(const struct result_rules *rules, const char *path)
{
    return rules->scope && !rules->is_in_scope(rules->scope, path);
}

/* What all tables together have of a source: the most that the result can have. Slices of this size
 * are never too small: adding up only makes fewer of equal things. */
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

/* --- threads --------------------------------------------------------------------------------- */

/* What one round of threads does with each source. */
struct building_job {
    struct result_builder *workers;
    const struct keyed *work;
    void (*put)(struct result_builder *w, uint32_t rank);
};

/* Work comes from the largest source to the smallest, so that no thread is left with a large one.
 */
static void result_put_one(size_t i, unsigned worker, void *context)
{
    struct building_job *job = context;
    job->put(&job->workers[worker], job->work[i].item);
}

/* Two rounds, since lines need the functions of all sources. Workers keep their memory from source
 * to source; their texts join the result's arena at the end. */
static void result_put_sources(struct result_building *b, const struct keyed *work, struct arena *a)
{
    /* Little is done sooner than a thread starts. */
    enum { LITTLE = 2000 };
    size_t items = b->r->lines.len + b->r->functions.len + b->r->branches.len;
    unsigned threads = parallel_workers(b->order.ranks, items < LITTLE ? 1 : b->rules->threads);

    struct building_job job = {.work = work, .put = result_put_functions};
    job.workers = ARENA_NEW(a, struct result_builder, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        job.workers[i].b = b;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    job.put = result_put_lines;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    for (unsigned i = 0; i < threads; i++) {
        struct result_builder *w = &job.workers[i];
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
        vec_free(&w->shares);
        vec_free(&w->put);
        vec_free(&w->open);
        map_deinit(&w->bodies);
        map_deinit(&w->shapes);
    }
}

/* --- sums ------------------------------------------------------------------------------------ */

/* All three numbers add up. */
static void result_add_ratio(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

void ratios_add(struct coverage_ratios *sum, const struct coverage_ratios *part)
{
    result_add_ratio(&sum->lines, &part->lines);
    result_add_ratio(&sum->functions, &part->functions);
    result_add_ratio(&sum->branches, &part->branches);
    result_add_ratio(&sum->conditions, &part->conditions);
    result_add_ratio(&sum->calls, &part->calls);
    result_add_ratio(&sum->regions, &part->regions);
}

/* Gates count what is nowhere as not hit, so that they do not pass on lines that cannot be shown.
 * The sums either have it (`is_kept`, in comparisons): then its hits are taken back; or they do
 * not: then it is added as missed. Calls have no gate. */
static void result_judge_unseen(struct coverage_ratios *judged,
                                const struct coverage_ratios *unseen, bool is_kept)
{
    struct coverage_ratio *to[] = {&judged->lines, &judged->functions, &judged->branches,
                                   &judged->conditions, &judged->regions};
    const struct coverage_ratio *from[] = {&unseen->lines, &unseen->functions, &unseen->branches,
                                           &unseen->conditions, &unseen->regions};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        to[i]->all += is_kept ? 0 : from[i]->all;
        to[i]->hit -= is_kept ? from[i]->hit : 0;
    }
}

/* Markers that do not pair, as sentences; the first trouble stands for all. */
static void result_take_notes(struct coverage_result *r, const struct source_marks *m,
                              const char *path)
{
    if (m->trouble && !r->trouble)
        r->trouble = arena_copy(&r->arena, m->trouble, strlen(m->trouble));
    if (m->unclosed)
        vec_push(&r->notes, arena_printf(&r->arena,
                                         "%s:%u: the exclusion that starts here is never ended; "
                                         "everything below is left out",
                                         path, m->unclosed));
    if (m->stray)
        vec_push(&r->notes,
                 arena_printf(&r->arena, "%s:%u: this ends an exclusion that was never started",
                              path, m->stray));
}

static int result_by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The remaining sources move together, and add up. Out go those outside of the project, those of
 * which nothing is left, and, if any source is here at all, those that are nowhere: for gates their
 * lines are missed, as are lines past the end of a source that stays. */
static void result_keep_sources(const struct result_building *b, bool is_here)
{
    struct coverage_result *out = b->r;
    const struct result_rules *rules = b->rules;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->sources.len; i++) {
        struct result_source *s = &out->sources.at[i];
        bool has_any = s->lines || s->functions, is_absent = is_here && !s->file && has_any;
        if (s->is_outside) {
            if (has_any && !out->left_out.outside_sources++)
                out->left_out.outside_example = s->whole;
            continue;
        }
        /* Its sums are those of all its lines, seen or not, where the rules keep them. */
        result_judge_unseen(&out->judged, is_absent ? &s->sums : &b->sources[i].unseen,
                            rules->keeps_unseen);
        s->unseen = is_absent ? s->lines : s->unseen;
        if ((is_absent || s->unseen) && !rules->keeps_unseen) {
            uint64_t *lines = is_absent ? &out->left_out.absent_lines : &out->left_out.lines_behind;
            *lines += s->unseen;
            out->left_out.absent_sources += is_absent;
            vec_push(&out->unseen, *s);
        }
        if (!has_any || (is_absent && !rules->keeps_unseen))
            continue;
        for (uint32_t k = 0; k < s->functions; k++)
            out->functions.at[s->first_function + k].source = kept;
        ratios_add(&out->sums, &s->sums);
        ratios_add(&out->judged, &s->sums);
        out->sources.at[kept++] = *s;
    }
    out->sources.len = kept;
}

/* Slices, work, threads, sums: see above. Order and content do not depend on the number of threads.
 */
void coverage_result_build(const struct coverage_table *tables, size_t len,
                           const struct result_rules *rules, struct coverage_result *out)
{
    struct result_building b = {.rules = rules, .r = out};
    struct arena scratch = {0};
    source_parts_build(tables, len, rules->threads, &b.order);
    struct keyed *work = ARENA_NEW(&scratch, struct keyed, (size_t)b.order.ranks + 1);
    b.sources = ARENA_NEW(&scratch, struct built_source, (size_t)b.order.ranks + 1);
    struct coverage_result *r = b.r;
    bool is_here = false; /* any of the sources: then others are nowhere, and not just elsewhere */
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        const char *path = part_path(&b.order.parts[b.order.first_part[rank]]);
        const char *whole = arena_copy(&r->arena, path, strlen(path));
        const char *file = source_find(b.rules->search, whole);
        vec_push(&r->sources,
                 (struct result_source){.path = result_shown_path(b.rules->root, whole),
                                        .whole = whole,
                                        .file = file,
                                        .is_outside = result_is_outside(b.rules, whole)});
        is_here |= file && !r->sources.at[rank].is_outside;
    }
    /* Gives each source its slices; `work` gets the sources, the largest first. */
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        struct table_size size = result_size_of(&b.order, rank);
        r->sources.at[rank].first_function = (uint32_t)r->functions.len;
        r->sources.at[rank].first_line = (uint32_t)r->lines.len;
        b.sources[rank].first_branch = (uint32_t)r->branches.len;
        b.sources[rank].first_condition = (uint32_t)r->conditions.len;
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
    sort_keyed(work, b.order.ranks);

    b.bodies = ARENA_NEW(&scratch, struct function_body, out->functions.len + 1);
    b.shown = ARENA_NEW(&scratch, uint32_t, out->functions.len + 1);
    result_put_sources(&b, work, &scratch);
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        if (!out->sources.at[rank].is_outside) {
            result_take_notes(out, &b.sources[rank].marks, out->sources.at[rank].path);
            struct result_left_out *sum = &out->left_out;
            const struct result_left_out *part = &b.sources[rank].left_out;
            sum->lines += part->lines;
            sum->branches += part->branches;
            sum->functions += part->functions;
            sum->exception_branches += part->exception_branches;
            sum->hidden_branches += part->hidden_branches;
            sum->united_branches += part->united_branches;
            sum->united_conditions += part->united_conditions;
        }
        source_marks_deinit(&b.sources[rank].marks);
    }
    result_keep_sources(&b, is_here);
    /* Tests' names, each once, in an order that does not depend on which thread met them. */
    struct intern tests = {0};
    for (size_t i = 0; i < len; i++)
        for (uint32_t k = 0; k < tables[i].tests.texts.len; k++)
            intern(&tests, tables[i].tests.texts.at[k], tables[i].tests.lengths.at[k]);
    for (uint32_t i = 0; i < tests.texts.len; i++)
        vec_push(&out->tests, arena_copy(&out->arena, tests.texts.at[i], tests.lengths.at[i]));
    if (out->tests.len)
        qsort(out->tests.at, out->tests.len, sizeof *out->tests.at, result_by_text);
    intern_deinit(&tests);

    source_parts_deinit(&b.order);
    arena_deinit(&scratch);
}

/* --- problems -------------------------------------------------------------------------------- */

/* Copied into the arena of the problems. */
static void add(struct problems *p, enum problem_kind kind, const char *text)
{
    char *copy = arena_copy(&p->arena, text, strlen(text));
    hide_controls(copy, strlen(copy)); /* names of files may hold anything; a problem is one line */
    vec_push(&p->at, (struct problem){kind, copy});
    p->of_kind[kind]++;
}

void problem_add(struct problems *p, enum problem_kind kind, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        memory_exhausted(strlen(format));
    va_end(arguments);
    add(p, kind, text);
    free(text);
}

/* Of another thread: texts are copied, so that it can go. */
void problems_merge(struct problems *p, const struct problems *other)
{
    for (size_t i = 0; i < other->at.len; i++)
        add(p, other->at.at[i].kind, other->at.at[i].text);
}

static int compare(const void *left, const void *right)
{
    const struct problem *a = left, *b = right;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->text, b->text);
}

/* After that the order does not depend on the threads. */
void problems_sort(struct problems *p)
{
    if (p->at.len)
        qsort(p->at.at, p->at.len, sizeof *p->at.at, compare);
}

void problems_deinit(struct problems *p)
{
    vec_free(&p->at);
    arena_deinit(&p->arena);
}
