/* Sorting the table, leaving out what the rules say, counting the rest. */
#include "analysis/cover_result.h"

#include "analysis/cover_marks.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)COVER_NONE)

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

struct building {
    const struct cover_table *t;
    const struct result_rules *rules;
    struct cover_result *r;
    uint32_t *sources;         /* by rank: in the table's paths */
    uint32_t *rank;            /* of sources */
    struct keyed *lines;       /* sorted by rank of the source and number */
    uint32_t *first_line;      /* by rank, and one more */
    struct keyed *functions;   /* sorted by rank of the source, first line, name */
    uint32_t *first_function;  /* by rank, and one more */
    uint32_t *function_place;  /* of the table's functions in that order */
    struct cover_marks *marks; /* by rank */
    VEC(uint32_t) groups;      /* scratch */
};

static uint32_t *numbers(struct arena *a, size_t len)
{
    return ARENA_NEW(a, uint32_t, len + 1);
}

static int by_path(uint32_t left, uint32_t right, const void *context)
{
    const struct intern *paths = context;
    return strcmp(intern_text(paths, left), intern_text(paths, right));
}

static void order_sources(struct building *b, struct arena *a)
{
    size_t len = b->t->paths.texts.len;
    b->sources = numbers(a, len);
    b->rank = numbers(a, len);
    for (uint32_t i = 0; i < len; i++)
        b->sources[i] = i;
    sort_u32(b->sources, len, by_path, &b->t->paths);
    for (uint32_t i = 0; i < len; i++)
        b->rank[b->sources[i]] = i;
}

/* Sorted by rank and line; *first gets where each rank begins. */
static struct keyed *order_items(struct keyed *items, size_t len, size_t ranks, uint32_t **first,
                                 struct arena *a)
{
    sort_keyed(items, len);
    *first = numbers(a, ranks + 1);
    for (size_t i = 0; i < len; i++)
        (*first)[(items[i].key >> 32) + 1]++;
    for (size_t i = 0; i < ranks; i++)
        (*first)[i + 1] += (*first)[i];
    return items;
}

static void order_lines(struct building *b, struct arena *a)
{
    size_t len = b->t->lines.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct table_line *l = &b->t->lines.at[i];
        items[i] = (struct keyed){(uint64_t)b->rank[l->source] << 32 | l->line, i};
    }
    b->lines = order_items(items, len, b->t->paths.texts.len, &b->first_line, a);
}

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct cover_table *t = context;
    return strcmp(intern_text(&t->names, t->functions.at[left].name),
                  intern_text(&t->names, t->functions.at[right].name));
}

static void order_functions(struct building *b, struct arena *a)
{
    size_t len = b->t->functions.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    uint32_t *same = numbers(a, len);
    b->function_place = numbers(a, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct table_function *f = &b->t->functions.at[i];
        items[i] = (struct keyed){(uint64_t)b->rank[f->source] << 32 | f->start_line, i};
    }
    b->functions = order_items(items, len, b->t->paths.texts.len, &b->first_function, a);
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i; end < len && items[end].key == items[i].key; end++)
            same[end - i] = items[end].item;
        sort_u32(same, end - i, by_name, b->t);
        for (size_t k = i; k < end; k++)
            items[k].item = same[k - i];
    }
    for (uint32_t i = 0; i < len; i++)
        b->function_place[items[i].item] = i;
}

/* --- sources: where they are, what their comments say --------------------------------------- */

static const char *shown_path(const char *root, const char *path)
{
    size_t len = root ? strlen(root) : 0;
    len -= len == 1; /* "/" */
    if (root && *root && !strncmp(path, root, len) && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

static void find_sources(struct building *b)
{
    struct cover_result *r = b->r;
    for (uint32_t i = 0; i < b->t->paths.texts.len; i++) {
        const char *path = intern_text(&b->t->paths, b->sources[i]);
        const char *whole = arena_copy(&r->arena, path, strlen(path));
        const char *file = source_find(b->rules->search, whole);
        vec_push(&r->sources, (struct result_source){.path = shown_path(b->rules->root, whole),
                                                     .whole = whole,
                                                     .file = file});
        r->unreadable_sources += !file;
    }
}

static void mark(size_t rank, void *context)
{
    struct building *b = context;
    struct cover_marks *m = &b->marks[rank];
    uint32_t first = b->first_line[rank], len = b->first_line[rank + 1] - first;
    m->lines = calloc(len + 1, 1);
    if (!m->lines)
        memory_exhausted(len);
    struct marks_request request = {.t = b->t,
                                    .file = b->r->sources.at[rank].file,
                                    .lines = b->lines + first,
                                    .lines_len = len,
                                    .functions = b->functions + b->first_function[rank],
                                    .functions_len =
                                        b->first_function[rank + 1] - b->first_function[rank],
                                    .ignores_markers = b->rules->ignores_markers,
                                    .finds_bare_lines = !b->rules->keeps_all_branches};
    cover_marks_make(&request, m);
}

static void take_notes(struct building *b, uint32_t rank)
{
    struct cover_result *r = b->r;
    const struct cover_marks *m = &b->marks[rank];
    const char *path = r->sources.at[rank].path;
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

/* --- functions ------------------------------------------------------------------------------- */

static bool is_left_out(const struct building *b, uint32_t rank, uint32_t place)
{
    uint32_t line = b->t->functions.at[b->functions[place].item].start_line;
    const struct cover_marks *m = &b->marks[rank];
    for (size_t i = 0; i < m->code.len && m->code.at[i].first <= line; i++)
        if (line <= m->code.at[i].last)
            return true;
    return false;
}

static void count(struct cover_ratio *ratio, uint8_t state)
{
    ratio->all++;
    ratio->hit += state == RESULT_HIT;
    ratio->unknown += state == RESULT_UNKNOWN;
}

static uint8_t state_of(uint64_t hits, bool is_unknown)
{
    return hits ? RESULT_HIT : is_unknown ? RESULT_UNKNOWN : RESULT_MISSED;
}

static const char *readable(struct building *b, const char *linkage)
{
    char *text = b->rules->demangle && linkage[0] == '_' ? b->rules->demangle(linkage, NULL) : NULL;
    const char *kept = text ? arena_copy(&b->r->arena, text, strlen(text)) : linkage;
    free(text);
    return kept;
}

static void put_functions(struct building *b, uint32_t rank)
{
    struct cover_result *r = b->r;
    struct result_source *s = &r->sources.at[rank];
    s->first_function = (uint32_t)r->functions.len;
    for (uint32_t i = b->first_function[rank]; i < b->first_function[rank + 1]; i++) {
        const struct table_function *f = &b->t->functions.at[b->functions[i].item];
        if (is_left_out(b, rank, i)) {
            r->marked_functions++;
            b->function_place[b->functions[i].item] = NONE;
            continue;
        }
        const char *name = intern_text(&b->t->names, f->name);
        const char *linkage = arena_copy(&r->arena, name, strlen(name));
        uint8_t state = state_of(f->count, f->is_unknown);
        b->function_place[b->functions[i].item] = (uint32_t)r->functions.len;
        vec_push(&r->functions, (struct result_function){.name = readable(b, linkage),
                                                         .linkage = linkage,
                                                         .source = rank,
                                                         .start_line = f->start_line,
                                                         .end_line = f->end_line,
                                                         .count = f->count,
                                                         .state = state,
                                                         .reason = f->reason,
                                                         .doubt = f->doubt,
                                                         .is_partly_unknown = f->is_unknown,
                                                         .is_repaired = f->is_repaired});
        count(&s->sums.functions, state);
    }
    s->functions = (uint32_t)r->functions.len - s->first_function;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Whether the rules keep a branch; if not, its sum says why. */
static bool keeps(struct building *b, const struct table_outcome *o, uint8_t marks)
{
    struct cover_result *r = b->r;
    if (marks & (MARKER_BRANCHES | (o->flags & OUTCOME_THROW ? MARKER_EXCEPTIONS : 0))) {
        r->marked_branches++;
        return false;
    }
    if (b->rules->keeps_all_branches)
        return true;
    if (o->flags & OUTCOME_THROW) {
        r->exception_branches++;
        return false;
    }
    if (o->flags & OUTCOME_HIDDEN || marks & MARK_BARE) {
        r->hidden_branches++;
        return false;
    }
    return true;
}

/* Branches of one block, as far as they are kept. Where only one way is left, nothing is decided,
 * and it is no branch. */
static void put_block(struct building *b, const struct table_outcome *at, uint32_t len,
                      uint32_t function, uint8_t marks, struct result_line *l, uint32_t *block)
{
    struct cover_result *r = b->r;
    size_t start = r->branches.len;
    bool was_reached = false;
    for (uint32_t i = 0; i < len; i++) {
        was_reached |= at[i].count > 0;
        if (keeps(b, &at[i], marks))
            vec_push(&r->branches, (struct result_branch){.count = at[i].count,
                                                          .block = *block,
                                                          .flags = at[i].flags,
                                                          .function = function});
    }
    if (r->branches.len == start + 1 && len > 1) {
        r->branches.len--;
        r->exception_branches++;
    }
    if (r->branches.len == start)
        return;
    for (size_t i = start; i < r->branches.len; i++)
        r->branches.at[i].was_reached = was_reached;
    l->branches += (uint32_t)(r->branches.len - start);
    ++*block;
}

static void put_group(struct building *b, const struct table_group *g, uint8_t marks,
                      struct result_line *l, uint32_t *block)
{
    const struct table_outcome *at = b->t->outcomes.at + g->first;
    uint32_t function = g->function == NONE ? NONE : b->function_place[g->function];
    for (uint32_t i = 0, end; i < g->len; i = end) {
        if (at[i].flags & OUTCOME_CALL) {
            l->calls++;
            l->calls_made += at[i].count > 0;
            end = i + 1;
            continue;
        }
        for (end = i + 1;
             end < g->len && at[end].block == at[i].block && !(at[end].flags & OUTCOME_CALL);)
            end++;
        put_block(b, at + i, end - i, function, marks, l, block);
    }
}

/* A tracefile's branches are those that the objects have already, if there are as many, in the
 * same blocks. */
static bool fold_group(struct building *b, const struct table_group *g, struct result_line *l)
{
    const struct table_outcome *at = b->t->outcomes.at + g->first;
    if (!l->branches || g->len != l->branches)
        return false;
    struct result_branch *known = b->r->branches.at + l->first_branch;
    for (uint32_t i = 0; i < g->len; i++)
        if (known[i].block != at[i].block)
            return false;
    for (uint32_t i = 0; i < g->len; i++) {
        known[i].count = cover_sum(known[i].count, at[i].count);
        for (uint32_t k = 0; at[i].count && k < g->len; k++)
            known[k].was_reached |= known[k].block == known[i].block;
    }
    return true;
}

/* Groups in an order that does not depend on that of the files: by function, then contents;
 * tracefiles' at the end. */
static int by_function(uint32_t left, uint32_t right, const void *context)
{
    const struct building *b = context;
    const struct table_group *x = &b->t->groups.at[left], *y = &b->t->groups.at[right];
    uint32_t first = x->function == NONE ? NONE : b->function_place[x->function];
    uint32_t second = y->function == NONE ? NONE : b->function_place[y->function];
    if (first != second)
        return first < second ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    for (uint32_t i = 0; i < x->len; i++) {
        const struct table_outcome *p = &b->t->outcomes.at[x->first + i],
                                   *q = &b->t->outcomes.at[y->first + i];
        if (p->block != q->block)
            return p->block < q->block ? -1 : 1;
        if (p->flags != q->flags)
            return p->flags < q->flags ? -1 : 1;
    }
    return 0;
}

static void put_branches(struct building *b, const struct table_line *from, uint8_t marks,
                         struct result_line *l)
{
    uint32_t block = 0;
    b->groups.len = 0;
    for (uint32_t g = from->group; g != NONE; g = b->t->groups.at[g].next)
        vec_push(&b->groups, g);
    if (b->groups.len > 1)
        sort_u32(b->groups.at, b->groups.len, by_function, b);
    for (size_t i = 0; i < b->groups.len; i++) {
        const struct table_group *g = &b->t->groups.at[b->groups.at[i]];
        if (g->function != NONE || !fold_group(b, g, l))
            put_group(b, g, marks, l, &block);
    }
}

static int by_ordinal(uint32_t left, uint32_t right, const void *context)
{
    const struct building *b = context;
    const struct table_mask *x = &b->t->masks.at[left], *y = &b->t->masks.at[right];
    uint32_t first = x->function == NONE ? NONE : b->function_place[x->function];
    uint32_t second = y->function == NONE ? NONE : b->function_place[y->function];
    if (first != second)
        return first < second ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return x->terms < y->terms ? -1 : x->terms > y->terms;
}

static void put_conditions(struct building *b, const struct table_line *from, struct result_line *l)
{
    struct cover_result *r = b->r;
    b->groups.len = 0;
    for (uint32_t m = from->mask; m != NONE; m = b->t->masks.at[m].next)
        vec_push(&b->groups, m);
    if (b->groups.len > 1)
        sort_u32(b->groups.at, b->groups.len, by_ordinal, b);
    for (size_t i = 0; i < b->groups.len; i++) {
        const struct table_mask *m = &b->t->masks.at[b->groups.at[i]];
        uint32_t function = m->function == NONE ? NONE : b->function_place[m->function];
        struct result_condition *last =
            l->conditions ? &r->conditions.at[r->conditions.len - 1] : NULL;
        if (m->function == NONE && last && last->terms == m->terms && l->conditions == 1) {
            last->on |= m->on; /* a tracefile's, of the only condition there is */
            last->off |= m->off;
            continue;
        }
        vec_push(&r->conditions, (struct result_condition){function, m->terms, m->on, m->off});
        l->conditions++;
    }
}

static void sum_line(const struct cover_result *r, const struct result_line *l,
                     struct cover_sums *sums)
{
    bool is_unknown = l->state == RESULT_UNKNOWN;
    count(&sums->lines, l->state);
    for (uint32_t i = 0; i < l->branches; i++)
        count(&sums->branches, state_of(r->branches.at[l->first_branch + i].count, is_unknown));
    for (uint32_t i = 0; i < l->conditions; i++) {
        const struct result_condition *c = &r->conditions.at[l->first_condition + i];
        sums->conditions.all += 2 * c->terms;
        sums->conditions.hit += condition_hit(c);
        sums->conditions.unknown += is_unknown ? 2 * c->terms - condition_hit(c) : 0;
    }
    sums->calls.all += l->calls;
    sums->calls.hit += l->calls_made;
    sums->calls.unknown += is_unknown ? l->calls - l->calls_made : 0;
}

static void put_lines(struct building *b, uint32_t rank)
{
    struct cover_result *r = b->r;
    struct result_source *s = &r->sources.at[rank];
    uint32_t start = b->first_line[rank];
    s->first_line = (uint32_t)r->lines.len;
    for (uint32_t i = start; i < b->first_line[rank + 1]; i++) {
        const struct table_line *from = &b->t->lines.at[b->lines[i].item];
        uint8_t marks = b->marks[rank].lines[i - start];
        if (marks & MARKER_CODE) {
            r->marked_lines++;
            continue;
        }
        if (!from->is_known && !from->is_unknown)
            continue; /* branches of a tracefile that has no count of the line */
        struct result_line l = {.count = from->count,
                                .line = from->line,
                                .state = state_of(from->count, from->is_unknown),
                                .first_branch = (uint32_t)r->branches.len,
                                .first_condition = (uint32_t)r->conditions.len};
        put_branches(b, from, marks, &l);
        put_conditions(b, from, &l);
        sum_line(r, &l, &s->sums);
        vec_push(&r->lines, l);
    }
    s->lines = (uint32_t)r->lines.len - s->first_line;
}

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

static void take_tests(struct cover_result *r, const struct cover_table *t)
{
    for (uint32_t i = 0; i < t->tests.texts.len; i++) {
        const char *name = intern_text(&t->tests, i);
        vec_push(&r->tests, arena_copy(&r->arena, name, strlen(name)));
    }
}

void cover_result_build(const struct cover_table *t, const struct result_rules *rules,
                        struct cover_result *out)
{
    struct building b = {.t = t, .rules = rules, .r = out};
    struct arena scratch = {0};
    size_t ranks = t->paths.texts.len;
    order_sources(&b, &scratch);
    order_lines(&b, &scratch);
    order_functions(&b, &scratch);
    find_sources(&b);
    b.marks = ARENA_NEW(&scratch, struct cover_marks, ranks + 1);
    parallel_for(ranks, rules->threads, mark, &b);
    vec_reserve(&out->lines, t->lines.len);
    vec_reserve(&out->functions, t->functions.len);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        take_notes(&b, rank);
        put_functions(&b, rank);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        put_lines(&b, rank);
        cover_marks_deinit(&b.marks[rank]);
    }
    drop_empty(out);
    take_tests(out, t);
    vec_free(&b.groups);
    arena_deinit(&scratch);
}
