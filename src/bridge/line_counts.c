/* How often each line of each function was entered, out of the counts of blocks, and from the same
 * counts the calls of functions.
 *
 * The table of coverage/analysis/line_coverage.h says what a line's count is and which blocks
 * belong to it; this shares the count out among those blocks. A block's entries are its count,
 * less what comes from other blocks of the same line:
 *
 *   for (i = 0; i < n; i++) f();       on one line, run once with n = 10
 *     B1  i = 0         1    entered from elsewhere: 1
 *     B2  i < n        11    less 1 from B1, less 10 from B3: 0
 *     B3  f(); i++     10    less 10 from B2: 0
 *
 * The entries add up to gcov's count of the line; what loops add goes to the block that they lead
 * back to, and what gcov counts once though two blocks are listed is taken off again.
 *
 * line_counts_add() costs what building the table of one object does; sorting and summing
 * (line_counts_settle()) n log n in all lines of all objects. A header's lines come from many
 * objects and become one.
 *
 * Calls (counted_calls_put()): how often each function was entered is counted, who called it is
 * not. The calls are split among the functions that call it directly in the code and ran
 * themselves, in proportion to their own counts, as gprof's model splits times. */
#include "bridge/bridge.h"

#include "base/bytes.h"
#include "base/sort.h"
#include "coverage/analysis/line_coverage.h"
#include "coverage/model/coverage.h"
#include "profile/analysis/graph/graph.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* One call of line_counts_add(). `stamps` marks, without clearing, which blocks belong to the
 * current line. */
struct adding {
    struct line_counts *c;
    const struct notes *n;
    struct coverage_unit unit;
    struct line_coverage lines;
    bool sums_blocks;
    struct map numbers;   /* of c->files -> source of the table */
    VEC(uint32_t) local;  /* by file of the notes: source of the table */
    VEC(uint32_t) global; /* by source: in c->files */
    VEC(uint32_t) names;  /* by function of the notes: in c->names, or NONE */
    VEC(uint32_t) stamps; /* by block of the notes: the line, plus 1, it was last seen on */
    VEC(int64_t) entered; /* beside them */
};

/* Adds an entry, unless its function has no name, by which alone programs find it again. */
static void line_add(struct adding *a, uint32_t function, struct line_count count)
{
    const struct notes_function *f = &a->n->functions.at[function];
    count.function = a->names.at[function];
    count.is_start = f->file != NONE && f->start_line == count.line &&
                     a->global.at[a->local.at[f->file]] == count.file;
    count.ran = count.ran > count.count ? count.ran : count.count;
    if (count.function != NONE && count.line)
        vec_push(&a->c->at, count);
}

/* ---- lines that blocks belong to */

static uint32_t line_index_of(const struct adding *a, const struct instance_block *b)
{
    return a->n->functions.at[a->lines.instances.at[b->instance].function].first_block + b->block;
}

/* Unknown and damaged counts are 0. */
static int64_t line_block_count(const struct adding *a, uint32_t index)
{
    int64_t count = flow_known_count(a->unit.flow->blocks.at[index]);
    return count > 0 ? count : 0;
}

/* Takes what comes from blocks of the same line away from those it goes to. In *loop: of the blocks
 * to which an arc leads back, the one that ran most. */
static void line_take_inner_arcs(struct adding *a, const struct instance_block *b, uint32_t stamp,
                                 uint32_t *loop)
{
    uint32_t function = a->lines.instances.at[b->instance].function;
    uint32_t base = a->n->functions.at[function].first_block;
    const uint32_t *first = block_graph_out(&a->unit.graph, a->n, function);
    for (uint32_t i = first[b->block]; i < first[b->block + 1]; i++) {
        uint32_t arc = a->unit.graph.out.at[i], target = a->n->arcs.at[arc].target;
        if (a->stamps.at[base + target] != stamp)
            continue;
        a->entered.at[base + target] -= flow_known_count(a->unit.flow->arcs.at[arc]);
        if (target <= b->block &&
            (*loop == NONE || line_block_count(a, base + target) > line_block_count(a, *loop)))
            *loop = base + target;
    }
}

/* The entries of one function, which has blocks [0, len) of the line. */
static void counts_add_entries(struct adding *a, const struct instance_block *blocks, uint32_t len,
                               struct line_count count)
{
    uint32_t function = a->lines.instances.at[blocks[0].instance].function;
    bool has_zero = false;
    for (uint32_t i = 0; i < len; i++) {
        uint32_t index = line_index_of(a, &blocks[i]);
        bool is_plain = !(a->unit.graph.block_kinds.at[index] & BLOCK_EXCEPTIONAL);
        bool is_idle = is_plain && !has_zero && !line_block_count(a, index);
        count.count = (uint64_t)a->entered.at[index];
        count.ran = (uint64_t)line_block_count(a, index);
        a->entered.at[index] = 0;
        if (!count.count && !is_idle)
            continue;
        has_zero |= !count.count;
        line_add(a, function, count);
        count.ordinal++;
    }
    if (!count.ordinal)
        line_add(a, function, count);
}

/* In three steps: the blocks' counts, less what comes from within the line, and the rest settled.
 * Then the entries are added by function, as instances of a template share a line. */
static void counts_add_line(struct adding *a, uint32_t index, uint32_t file)
{
    const struct covered_line *line = &a->lines.lines.at[index];
    int64_t rest = line->count > 0 ? line->count : 0;
    uint32_t loop = NONE, end;
    if (!(line->flags & LINE_EXISTS) || !line->blocks || a->sums_blocks)
        return;
    const struct instance_block *blocks = a->lines.blocks.at + line->first_block;
    for (uint32_t i = 0; i < line->blocks; i++) {
        a->stamps.at[line_index_of(a, &blocks[i])] = index + 1;
        a->entered.at[line_index_of(a, &blocks[i])] =
            line_block_count(a, line_index_of(a, &blocks[i]));
    }
    for (uint32_t i = 0; i < line->blocks; i++)
        if (!i || line_index_of(a, &blocks[i]) != line_index_of(a, &blocks[i - 1]))
            line_take_inner_arcs(a, &blocks[i], index + 1, &loop);
    for (uint32_t i = 0; i < line->blocks; i++) {
        int64_t *entered = &a->entered.at[line_index_of(a, &blocks[i])];
        *entered = *entered > 0 ? *entered : 0;
        if (!i || line_index_of(a, &blocks[i]) != line_index_of(a, &blocks[i - 1]))
            rest -= *entered;
    }
    /* The rest of a line's count once the entries are known belongs to loops; a count that gcov
     * makes smaller, of blocks that are listed twice, takes from the entries. */
    if (rest > 0)
        a->entered.at[loop != NONE ? loop : line_index_of(a, &blocks[0])] += rest;
    for (uint32_t i = 0; i < line->blocks && rest < 0; i++) {
        int64_t *entered = &a->entered.at[line_index_of(a, &blocks[i])];
        int64_t part = *entered < -rest ? *entered : -rest;
        *entered -= part;
        rest += part;
    }
    for (uint32_t i = 0; i < line->blocks; i = end) {
        for (end = i; end < line->blocks && blocks[end].instance == blocks[i].instance;)
            end++;
        counts_add_entries(a, blocks + i, end - i,
                           (struct line_count){.file = file, .line = line->number});
    }
}

/* ---- lines that only share blocks, and the ends of functions */

/* The line of that number among some of the table, or NULL. */
static const struct covered_line *line_find(const struct adding *a, uint32_t first, uint32_t len,
                                            uint32_t number)
{
    const struct covered_line *lines = a->lines.lines.at;
    uint32_t i = first + PARTITION_POINT(len, k, lines[first + k].number < number);
    return i < first + len && lines[i].number == number ? &lines[i] : NULL;
}

/* The line of the table that a function's line is in, or NULL. */
static const struct covered_line *line_of(const struct adding *a,
                                          const struct function_instance *at, uint32_t source,
                                          uint32_t number)
{
    const struct covered_source *s = &a->lines.sources.at[source];
    const struct covered_line *own = at->is_instance && source == at->source
                                         ? line_find(a, at->first_line, at->lines, number)
                                         : NULL;
    return own ? own : line_find(a, s->first_line, s->lines, number);
}

/* Lines that share the block of another line, as several declarations before a loop do: each has
 * the block's count. Versions of gcc that sum blocks treat all lines so. */
static void line_add_shared(struct adding *a, const struct function_instance *at)
{
    const struct notes_function *f = &a->n->functions.at[at->function];
    for (uint32_t i = f->first_run; i < f->first_run + f->runs; i++) {
        const struct notes_run *run = &a->n->runs.at[i];
        for (uint32_t k = 0; k < run->lines && run->file != NONE; k++) {
            uint32_t number = a->n->lines.at[run->first + k], source = a->local.at[run->file];
            const struct covered_line *line = line_of(a, at, source, number);
            if (line && (!line->blocks || a->sums_blocks))
                line_add(a, at->function,
                         (struct line_count){
                             .file = a->global.at[source],
                             .line = number,
                             .count = (uint64_t)line_block_count(a, f->first_block + run->block)});
        }
    }
}

/* Where the closing brace has no block of its own, it was reached as often as the function
 * returned. */
static void line_add_end(struct adding *a, const struct function_instance *at)
{
    const struct notes_function *f = &a->n->functions.at[at->function];
    int64_t called = at->called > 0 ? at->called : 0, returned = at->returned;
    if (at->source == NONE)
        return;
    if (a->names.at[at->function] != NONE)
        vec_push(&a->c->functions,
                 (struct called_function){a->names.at[at->function], a->global.at[at->source],
                                          (uint64_t)called, f->start_line, f->end_line});
    /* clang's last lines are not those of the function. */
    if (a->n->origin.is_llvm || f->end_line <= f->start_line ||
        line_of(a, at, at->source, f->end_line))
        return;
    line_add(a, at->function,
             (struct line_count){.file = a->global.at[at->source],
                                 .line = f->end_line,
                                 .is_end = true,
                                 .count = (uint64_t)(returned > 0 ? returned : 0)});
}

/* Counts are gcov's, by the rules of the version that wrote the notes: what is placed in a program
 * shall agree with what gcov prints. */
void line_counts_add(struct line_counts *c, const struct notes *n, const struct flow *flow,
                     const uint32_t *files)
{
    bool is_old = n->origin.family == ARCS_GCOV && !n->origin.is_llvm &&
                  !dialect_of(&n->origin)->has_all_lines;
    struct line_coverage_rules rules = {.has_no_sums = true,
                                        .has_gnu_exit = !n->origin.is_llvm,
                                        .shares_blocks = n->origin.is_llvm,
                                        .carries_lines = is_old,
                                        .sums_blocks = is_old};
    struct adding a = {.c = c, .n = n, .sums_blocks = is_old};
    /* Files of the notes that are one source get one number in the table. */
    for (size_t i = 0; i < a.n->files.len; i++) {
        bool is_new;
        uint32_t local = map_index(&a.numbers, files[i], 0, a.global.len, &is_new);
        if (is_new)
            vec_push(&a.global, files[i]);
        vec_push(&a.local, local);
    }
    for (size_t i = 0; i < a.n->functions.len; i++) {
        const char *name = a.n->functions.at[i].name;
        vec_push(&a.names, name ? intern(&a.c->names, name, strlen(name)) : NONE);
    }
    a.unit = (struct coverage_unit){.notes = n, .flow = flow, .sources = a.local.at};
    line_coverage_build(&a.unit, 1, a.global.len, &rules, &a.lines);
    vec_reserve(&a.stamps, n->blocks + 1);
    vec_reserve(&a.entered, n->blocks + 1);
    memset(a.stamps.at, 0, (n->blocks + 1) * sizeof *a.stamps.at);
    /* Lines of sources, then those that instances have for themselves. */
    for (size_t i = 0; i < a.lines.sources.len; i++) {
        const struct covered_source *s = &a.lines.sources.at[i];
        for (uint32_t k = s->first_line; k < s->first_line + s->lines; k++)
            counts_add_line(&a, k, a.global.at[i]);
    }
    for (size_t i = 0; i < a.lines.instances.len; i++) {
        const struct function_instance *at = &a.lines.instances.at[i];
        for (uint32_t k = at->first_line; k < at->first_line + at->lines; k++)
            counts_add_line(&a, k, a.global.at[at->source]);
    }
    for (size_t i = 0; i < a.lines.instances.len; i++)
        if (a.lines.instances.at[i].is_counted) {
            line_add_shared(&a, &a.lines.instances.at[i]);
            line_add_end(&a, &a.lines.instances.at[i]);
        }
    coverage_units_deinit(&a.unit, 1);
    line_coverage_deinit(&a.lines);
    map_deinit(&a.numbers);
    vec_free(&a.local);
    vec_free(&a.global);
    vec_free(&a.names);
    vec_free(&a.stamps);
    vec_free(&a.entered);
}

static int line_order(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int line_by_place(const void *left, const void *right)
{
    const struct line_count *l = left, *r = right;
    int by_line = line_order((uint64_t)l->file << 32 | l->line, (uint64_t)r->file << 32 | r->line);
    int by_function = line_order((uint64_t)l->function << 32 | l->ordinal,
                                 (uint64_t)r->function << 32 | r->ordinal);
    return by_line ? by_line : l->is_end != r->is_end ? l->is_end - r->is_end : by_function;
}

/* O(entries log entries); sums that do not fit stay at the largest number. */
void line_counts_settle(struct line_counts *c)
{
    size_t kept = 0;
    if (!c->at.len)
        return;
    qsort(c->at.at, c->at.len, sizeof *c->at.at, line_by_place);
    for (size_t i = 1; i < c->at.len; i++) {
        struct line_count *last = &c->at.at[kept], *next = &c->at.at[i];
        /* Sorted, equal entries are neighbours. An exit counts only if its line has nothing else.
         */
        bool is_same_line = last->file == next->file && last->line == next->line;
        if (!line_by_place(last, next)) {
            last->is_start |= next->is_start;
            last->count = add_saturating(last->count, next->count);
            last->ran = add_saturating(last->ran, next->ran);
        } else if (!is_same_line || last->is_end || !next->is_end) {
            c->at.at[++kept] = *next;
        }
    }
    c->at.len = kept + 1;
}

void line_counts_deinit(struct line_counts *c)
{
    intern_deinit(&c->names);
    intern_deinit(&c->files);
    vec_free(&c->at);
    vec_free(&c->functions);
}

/* Splitting the entries of functions among their callers. */

struct calls {
    const struct functions *functions;
    struct arena scratch;
    uint64_t *count; /* per function */
    uint64_t unknown;
};

/* --- calls ----------------------------------------------------------------------------------- */

/* Counts by function of the program; several functions of one name (static ones) are taken for the
 * first. */
static void take_counts(struct calls *c, const struct line_counts *counts)
{
    struct intern names = {0};
    VEC(uint32_t) first = {0}; /* function of each name */
    for (uint32_t i = 0; i < c->functions->len; i++) {
        const char *name = c->functions->at[i].name;
        if (intern_kept(&names, name, strlen(name)) == first.len)
            vec_push(&first, i);
    }
    for (size_t i = 0; i < counts->functions.len; i++) {
        const struct called_function *called = &counts->functions.at[i];
        const char *name = intern_text(&counts->names, called->name);
        uint32_t number = intern_find(&names, name, strlen(name));
        if (number == INTERN_NONE) {
            c->unknown += called->count > 0;
            continue;
        }
        uint64_t *count = &c->count[first.at[number]];
        *count = add_saturating(*count, called->count);
    }
    vec_free(&first);
    intern_deinit(&names);
}

/* `part` of `whole` in `count`, rounded down; all of it in the end. */
static uint64_t share_of(uint64_t count, double part, double whole)
{
    double share = (double)count * (part / whole);
    return share < (double)count ? (uint64_t)share : count;
}

/* Shares are differences of rounded running sums, so that they add up to the count exactly. */
static void put_callee(struct calls *c, uint32_t callee, const struct keyed *callers, size_t len,
                       struct profile *out)
{
    uint64_t self = c->functions->at[callee].start, count = c->count[callee], given = 0;
    double all = 0, sum = 0;
    for (size_t i = 0; i < len; i++)
        all += (double)c->count[callers[i].item];
    for (size_t i = 0; i < len; i++) {
        sum += (double)c->count[callers[i].item];
        uint64_t until = i + 1 < len ? share_of(count, sum, all) : count;
        if (until > given)
            vec_push(&out->arcs,
                     ((struct arc){c->functions->at[callers[i].item].start, self, until - given}));
        given = until > given ? until : given;
    }
    if (!len && count)
        vec_push(&out->arcs, ((struct arc){0, self, count}));
}

/* Two lists by callee: the direct calls, each pair once, and the counts; one walk splits them. */
uint64_t counted_calls_put(const struct line_counts *counts, const struct functions *f,
                           struct object *o, struct profile *out, const char **unread)
{
    struct calls c = {.functions = f};
    size_t len, at = 0;
    c.count = ARENA_NEW(&c.scratch, uint64_t, f->len);
    take_counts(&c, counts);
    /* Direct calls of functions that ran by others that did, once each, by callee. */
    struct static_calls found = {0};
    struct map known = {0};
    len = 0;
    if (!static_calls_native(&found, c.functions, o, &c.scratch))
        found.len = 0;
    *unread = found.unread;
    struct keyed *callers = ARENA_NEW(&c.scratch, struct keyed, found.len);
    for (size_t i = 0; i < found.len; i++) {
        const struct static_call *call = &found.at[i];
        bool is_new;
        map_index(&known, call->caller, call->callee, i, &is_new);
        if (is_new && call->caller != call->callee && c.count[call->caller] &&
            c.count[call->callee])
            callers[len++] = (struct keyed){call->callee, call->caller};
    }
    map_deinit(&known);
    sort_keyed(callers, len);
    for (uint32_t i = 0; i < f->len; i++) {
        size_t first = at;
        while (at < len && callers[at].key == i)
            at++;
        put_callee(&c, i, callers + first, at - first, out);
    }
    arena_deinit(&c.scratch);
    return c.unknown;
}
