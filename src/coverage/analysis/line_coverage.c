/* Counting lines, in two passes over the notes.
 *
 * The first finds every line that is mentioned and which blocks belong to it. A line is found by
 * source and number in a slot (line_slots.c), so both passes are linear in the notes; instances
 * (functions that begin at one line) have sets of slots of their own after the sources'. Found
 * lines and blocks attached to them are in the order of the notes and are then put in order of
 * source and number by counting sorts.
 *
 * The second counts, source by source. A line that has one block is that block's count. With
 * several, each block adds its count for each time that the line lists it, less what came from
 * other blocks of the line; if an arc leads back, loops within the line are looked for
 * (line_loops.c), the only step that is not linear. Marks by block say whether a block is on the
 * line being counted, so nothing is cleared between lines.
 *
 * The definition is GNU gcov's; what its versions and llvm-cov do otherwise is in struct
 * line_coverage_rules. Sums wrap as unsigned numbers.
 *
 *     12  for (i = 0; i < n; i++) f();      one line with blocks: init, test, body, step
 *
 *         count = entries from other lines    (init, once)
 *               + turns of loops within it    (test -> body -> step -> test) */
#include "coverage/analysis/line_coverage.h"

#include "coverage/analysis/line_coverage_private.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* A line while it is being found. Sets 0 to sources - 1 are sources, the rest instances. */
struct found_line {
    int64_t count;
    uint32_t number;
    uint32_t sum;      /* the source's line that an instance's is added to */
    uint32_t instance; /* the last that mentioned it */
    uint32_t block;    /* of that instance, the last attached if blocks are shared */
    uint8_t flags;
};

/* A block and the line that it belongs to, before lines have their order. */
struct attachment {
    uint32_t line;
    struct instance_block block;
};

/* What counting a line remembers of a block: how often the line lists it. */
struct block_mark {
    uint32_t line; /* index + 1 of the last line that did */
    uint32_t times : 31;
    uint32_t is_added : 1;
};

/* State of one build; the lists after `out` are gone when it ends. */
struct line_builder {
    struct coverage_unit *units;
    const struct line_coverage_rules *rules;
    struct line_coverage *out;
    uint32_t sources;
    struct line_slots slots; /* index in found; of sources, then of instances */
    VEC(struct found_line) found;
    VEC(struct attachment) attachments;
    VEC(struct line_share) named; /* in found: what functions count on lines that they name */
    struct map counted;           /* lines, functions: what a share has been made of */
    VEC(uint32_t) place;          /* of found lines among the sorted */
    VEC(uint32_t) unit_blocks;    /* blocks of the units before */
    VEC(struct block_mark) marks; /* by block of all units */
    struct line_loops *loops;
};

/* Its index in found; made if it is new. */
static uint32_t line_at(struct line_builder *b, uint32_t set, uint32_t number)
{
    uint32_t *slot = line_slot(&b->slots, set, number);
    if (*slot == LINE_NO_SLOT) {
        *slot = (uint32_t)b->found.len;
        vec_push(&b->found, (struct found_line){
                                .number = number, .sum = NONE, .instance = NONE, .block = NONE});
    }
    return *slot;
}

/* ---- room for the lines */

/* The extent of a source before its lines are found. */
struct extent {
    uint32_t len; /* the highest line that is mentioned, and one more */
    size_t mentions;
};

/* Line UINT32_MAX has no number after it, and is not in the slice. */
static void line_include(struct extent *of, uint32_t number)
{
    if (number >= of->len)
        of->len = number < UINT32_MAX ? number + 1 : number;
}

/* Up to which line each source of a unit is mentioned, so that its slots are one slice. Mentions
 * bound how large a slice may be: a damaged line number shall not cost memory. */
static void line_measure_unit(const struct coverage_unit *u, struct extent *extents)
{
    const struct notes *n = u->notes;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        if (f->file != NONE && u->sources[f->file] != NONE)
            line_include(&extents[u->sources[f->file]], f->start_line);
    }
    for (size_t i = 0; i < n->runs.len; i++) {
        const struct notes_run *run = &n->runs.at[i];
        if (run->file == NONE || u->sources[run->file] == NONE)
            continue;
        struct extent *of = &extents[u->sources[run->file]];
        of->mentions += run->lines;
        for (uint32_t k = 0; k < run->lines; k++)
            line_include(of, n->lines.at[run->first + k]);
    }
}

/* ---- which functions, and which of them have lines of their own */

/* What is the compiler's own in a function that it made up: a line, and of the blocks on it those
 * before `begin` and from `end` on. */
struct own_code {
    uint32_t file, line; /* NONE, 0: nothing */
    uint32_t begin, end;
};

/* It is the line of the function's declaration, where that has no other extent. (GNAT's tasks and
 * instances of generics have one.) Four kinds share that line with a person's code:
 *
 *   __tls_init            declared at the first of the threads' variables; what is around their
 *                         initialisers is at the end of the source, another function's last line
 *   ..._destruction_0ii   declared at the end of the source, where an initialiser may be: its own
 *   ..._destruction_0v    are two tests of its arguments (none since gcc 14) and the return
 *   ._omp_fn.             a region that a macro has on one line has its body there */
static struct own_code own_code(const struct notes *n, const struct notes_function *f)
{
    const char *name = f->name ? f->name : "";
    struct own_code own = {.file = f->file, .line = f->start_line};
    if (!f->is_artificial)
        return (struct own_code){.file = NONE};
    uint32_t highest = 0, last_run = f->first_run + f->runs;
    bool is_elsewhere = false;
    for (uint32_t i = f->first_run; i < last_run; i++)
        for (uint32_t k = 0; k < n->runs.at[i].lines; k++) {
            uint32_t number = n->lines.at[n->runs.at[i].first + k];
            highest = number > highest ? number : highest;
            is_elsewhere |= number != f->start_line;
        }
    if (!strcmp(name, "__tls_init"))
        own.line = highest > f->end_line ? highest : 0;
    else if (f->end_line > f->start_line || (strstr(name, "._omp_fn.") && !is_elsewhere))
        own.line = 0;
    const char *tail = strstr(name, "_static_initialization_and_destruction_0");
    if (tail) {
        own.begin = tail[strlen(tail) - 1] == 'i' ? 4 : 2;
        /* Blocks after the one that returns clean up. */
        own.end = f->blocks;
        for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++) {
            const struct notes_arc *arc = &n->arcs.at[i];
            if (arc->target == f->exit && !(arc->flags & NOTES_ARC_FAKE) && arc->source < own.end)
                own.end = arc->source;
        }
    }
    return own;
}

static bool is_own(const struct own_code *own, uint32_t file, uint32_t number, uint32_t block)
{
    return number && number == own->line && file == own->file &&
           (block < own->begin || block >= own->end);
}

/* Whether a function that the compiler made up holds code that a person wrote elsewhere: bodies of
 * OpenMP regions, coroutines and tasks, initialisers of variables. What it has on the line of its
 * own declaration is the compiler's, and so is all of one that is declared nowhere. */
static bool line_holds_body(const struct notes *n, const struct notes_function *f)
{
    struct own_code own = own_code(n, f);
    for (uint32_t i = f->first_run; f->is_artificial && f->start_line && i < f->first_run + f->runs;
         i++) {
        const struct notes_run *r = &n->runs.at[i];
        for (uint32_t k = 0; k < r->lines; k++)
            if (!is_own(&own, r->file, n->lines.at[r->first + k], r->block))
                return true;
    }
    return false;
}

/* Whether the rules count a function in this state. The rest is left out of the counts, and its
 * lines are unknown if the state is FLOW_UNKNOWN. */
static bool line_is_counted(const struct line_coverage_rules *rules, uint8_t state)
{
    return state == FLOW_ABSENT    ? rules->absent_is_zero
           : state == FLOW_UNKNOWN ? rules->unknown_is_zero
                                   : true;
}

/* Functions that begin at one line; its slot, not in use yet, holds the first of them. Slots are
 * emptied for the lines afterwards. */
static void line_pair_instances(struct line_builder *b)
{
    struct function_instance *instances = b->out->instances.at;
    for (uint32_t i = 0; i < b->out->instances.len; i++) {
        const struct notes_function *f =
            &b->units[instances[i].unit].notes->functions.at[instances[i].function];
        /* Only functions with a known extent can have lines of their own. */
        if (instances[i].source == NONE || !(f->end_line >= f->start_line) || f->is_artificial)
            continue;
        uint32_t *first = line_slot(&b->slots, instances[i].source, f->start_line);
        if (*first == LINE_NO_SLOT)
            *first = i;
        else
            instances[*first].is_instance = instances[i].is_instance = true;
    }
    line_slots_empty(&b->slots);
}

/* ---- lines that are mentioned */

/* Whether a block is the function's entry or exit. */
static bool is_end_block(const struct line_builder *b, const struct notes_function *f,
                         uint32_t block)
{
    return block == 0 || block == (b->rules->has_gnu_exit ? f->blocks - 1 : f->exit);
}

/* Adds a block's count to a line that it names; the line's index in found. Lines between the first
 * and the last of an instance are the instance's own, and are added to the source's later. Sums
 * wrap as unsigned numbers: a damaged count must not be undefined behaviour. */
static uint32_t add_to_line(struct line_builder *b, uint32_t instance, uint32_t source,
                            uint32_t number, int64_t count, bool is_exceptional)
{
    struct function_instance *at = &b->out->instances.at[instance];
    const struct notes_function *f = &b->units[at->unit].notes->functions.at[at->function];
    struct covered_source *s = &b->out->sources.at[source];
    bool is_own =
        at->is_instance && source == at->source && number >= f->start_line && number <= f->end_line;
    s->last_number = number > s->last_number ? number : s->last_number;
    uint32_t index = line_at(b, is_own ? b->sources + instance : source, number);
    if (is_own && !b->rules->has_no_sums && b->found.at[index].sum == NONE) {
        uint32_t sum = line_at(b, source, number); /* may move found */
        b->found.at[index].sum = sum;
    }
    struct found_line *l = &b->found.at[index];
    /* gcov -f counts a line for the first function that has it. */
    if (!is_own || b->rules->adds_instances) {
        at->gnu_lines += !(l->flags & LINE_EXISTS);
        at->gnu_executed += !l->count && count;
    }
    if (b->rules->lists_shares)
        vec_push(&b->named, (struct line_share){index, instance, count});
    if (l->instance != instance)
        l->block = NONE;
    l->instance = instance;
    l->flags |= LINE_EXISTS;
    if (!is_exceptional)
        l->flags |= (uint8_t)(LINE_PLAIN | (count ? 0 : LINE_UNEXECUTED));
    l->count = (int64_t)((uint64_t)l->count + (uint64_t)count);
    return index;
}

/* In the order of the notes, which the counting sort keeps. */
static void attach(struct line_builder *b, uint32_t line, struct instance_block block)
{
    vec_push(&b->attachments, (struct attachment){line, block});
}

/* A block's runs, from *run on, which ends after them. The block counts on each line that they
 * name. As gcov has it, it belongs to the highest line of each run (entry and exit to none, unless
 * they are clang's and name lines); as llvm-cov has it, to every line, and its branches to the last
 * one named. `line` is the one that the block before belongs to, or NONE; the answer is the one
 * that this block does. With runs `a.c: 3 5 4` of a block:
 *
 *     gcov        counts on 3, 4 and 5, belongs to 5
 *     llvm-cov    counts on and belongs to 3, 4 and 5; its branches to 4, the last one named */
static uint32_t add_block(struct line_builder *b, uint32_t instance, uint32_t block, uint32_t *run,
                          uint32_t line, const struct own_code *own)
{
    struct function_instance *at = &b->out->instances.at[instance];
    const struct coverage_unit *unit = &b->units[at->unit];
    const struct notes *n = unit->notes;
    const struct notes_function *f = &n->functions.at[at->function];
    int64_t count = instance_block_count(b->units, at, block);
    bool is_exceptional = instance_block_kind(b->units, at, block) & BLOCK_EXCEPTIONAL;
    uint32_t first = *run, end = f->first_run + f->runs;
    bool has_run = false;
    while (*run < end && n->runs.at[*run].block == block)
        ++*run;
    end = *run;
    for (uint32_t i = first; i < end; i++) {
        const struct notes_run *r = &n->runs.at[i];
        uint32_t source = r->file == NONE ? NONE : unit->sources[r->file], highest = 0, last = i;
        if (source == NONE)
            continue;
        has_run = true;
        while (b->rules->shares_blocks && last + 1 < end && n->runs.at[last + 1].lines)
            last++;
        const struct notes_run *named = &n->runs.at[last];
        uint32_t last_line = named->lines ? n->lines.at[named->first + named->lines - 1] : 0;
        bool names_any = !b->rules->keeps_bodies || !r->lines;
        for (uint32_t k = 0; k < r->lines; k++) {
            uint32_t number = n->lines.at[r->first + k];
            if (b->rules->keeps_bodies && is_own(own, r->file, number, block))
                continue;
            names_any = true;
            uint32_t index = add_to_line(b, instance, source, number, count, is_exceptional);
            if (b->rules->shares_blocks) {
                struct found_line *l = &b->found.at[index];
                if (l->block != block || b->rules->repeats_blocks)
                    attach(b, index, (struct instance_block){instance, block, number != last_line});
                l->block = block;
            }
            if (number >= highest)
                line = index;
            highest = number > highest ? number : highest;
        }
        if (line != NONE && names_any && !b->rules->shares_blocks &&
            (!is_end_block(b, f, block) || !b->rules->has_gnu_exit))
            attach(b, line, (struct instance_block){instance, block, false});
    }
    if (!has_run && b->rules->carries_lines && line != NONE && !is_end_block(b, f, block))
        attach(b, line, (struct instance_block){instance, block, false});
    return line;
}

/* Finds the lines of a function, and how often it was called and returned. Of one about which
 * nothing is known, the lines are known to be unknown. Blocks come in the order of their numbers,
 * as runs do: one index goes through both. */
static void walk_function(struct line_builder *b, uint32_t instance)
{
    struct function_instance *at = &b->out->instances.at[instance];
    const struct coverage_unit *unit = &b->units[at->unit];
    const struct notes *n = unit->notes;
    const struct notes_function *f = &n->functions.at[at->function];
    uint32_t end = f->first_run + f->runs, run = f->first_run, line = NONE;
    struct own_code own = own_code(n, f);
    for (; !at->is_counted && at->state == FLOW_UNKNOWN && run < end; run++) {
        const struct notes_run *r = &n->runs.at[run];
        uint32_t source = r->file == NONE ? NONE : unit->sources[r->file];
        for (uint32_t k = 0; k < r->lines && source != NONE; k++) {
            uint32_t number = n->lines.at[r->first + k];
            if (b->rules->keeps_bodies && is_own(&own, r->file, number, r->block))
                continue;
            uint32_t index = line_at(b, source, number);
            b->found.at[index].flags |= LINE_UNKNOWN;
        }
    }
    if (!at->is_counted)
        return;
    if (f->blocks >= 2) {
        at->blocks = f->blocks - 2;
        for (uint32_t i = 0; i < f->blocks; i++)
            at->blocks_executed += !is_end_block(b, f, i) && instance_block_count(b->units, at, i);
        at->called = instance_block_count(b->units, at, 0);
        at->returned = instance_block_count(b->units, at, f->exit);
        /* Calls that did not return, as exit does not, leave by fake arcs. */
        for (uint32_t i = f->first_arc; i < f->first_arc + f->arcs; i++)
            if (n->arcs.at[i].target == f->exit && n->arcs.at[i].flags & NOTES_ARC_FAKE)
                at->returned -= flow_known_count(unit->flow->arcs.at[i]);
    }
    for (uint32_t block = 0; block < f->blocks; block++)
        line = add_block(b, instance, block, &run, b->rules->carries_lines ? line : NONE, &own);
}

/* ---- in order */

/* Slots ascend by number; empty ones are passed over. Returns how many lines there were. */
static uint32_t line_place_slots(struct line_builder *b, const uint32_t *slots, size_t len)
{
    struct line_coverage *out = b->out;
    size_t first = out->lines.len;
    for (size_t i = 0; i < len; i++) {
        if (slots[i] == LINE_NO_SLOT)
            continue;
        const struct found_line *found = &b->found.at[slots[i]];
        b->place.at[slots[i]] = (uint32_t)out->lines.len;
        out->lines.at[out->lines.len++] = (struct covered_line){
            .number = found->number, .flags = found->flags, .count = found->count};
    }
    return (uint32_t)(out->lines.len - first);
}

/* Moves the found lines into the table, by source or instance and number. */
static void line_place_lines(struct line_builder *b)
{
    struct line_coverage *out = b->out;
    struct slot_walk walk = {0};
    vec_reserve(&b->place, b->found.len);
    vec_reserve(&out->lines, b->found.len);
    line_slots_sort(&b->slots);
    while (line_slots_next(&b->slots, &walk)) {
        bool is_source = walk.set < b->sources;
        uint32_t instance = walk.set - b->sources;
        uint32_t *first = is_source ? &out->sources.at[walk.set].first_line
                                    : &out->instances.at[instance].first_line;
        uint32_t *len =
            is_source ? &out->sources.at[walk.set].lines : &out->instances.at[instance].lines;
        if (!*len)
            *first = (uint32_t)out->lines.len;
        *len += line_place_slots(b, walk.slots, walk.len);
    }
    line_slots_deinit(&b->slots);
}

/* The same for the blocks attached to them, which stay in the order of the notes. */
static void line_place_blocks(struct line_builder *b)
{
    struct line_coverage *out = b->out;
    vec_reserve(&out->blocks, b->attachments.len);
    out->blocks.len = b->attachments.len;
    for (size_t i = 0; i < b->attachments.len; i++)
        out->lines.at[b->place.at[b->attachments.at[i].line]].blocks++;
    for (size_t i = 0, sum = 0; i < out->lines.len; i++) {
        out->lines.at[i].first_block = (uint32_t)sum;
        sum += out->lines.at[i].blocks;
        out->lines.at[i].blocks = 0;
    }
    for (size_t i = 0; i < b->attachments.len; i++) {
        struct covered_line *line = &out->lines.at[b->place.at[b->attachments.at[i].line]];
        out->blocks.at[line->first_block + line->blocks++] = b->attachments.at[i].block;
    }
    vec_free(&b->attachments);
}

/* ---- counts */

void line_add_branches(const struct coverage_unit *units, const struct function_instance *at,
                       uint32_t block, struct source_totals *totals)
{
    const struct coverage_unit *u = &units[at->unit];
    if (!(instance_block_kind(units, at, block) & BLOCK_DECIDES))
        return;
    const uint32_t *first = block_graph_out(&u->graph, u->notes, at->function);
    bool is_executed = instance_block_count(units, at, block) != 0;
    for (uint32_t i = first[block]; i < first[block + 1]; i++) {
        uint32_t arc = u->graph.out.at[i];
        uint8_t kind = u->graph.arc_kinds.at[arc];
        if (kind & ARC_CALL) {
            totals->calls++;
            totals->calls_executed += is_executed;
        } else if (!(kind & ARC_UNCONDITIONAL)) {
            totals->branches++;
            totals->branches_executed += is_executed;
            totals->branches_taken += flow_known_count(u->flow->arcs.at[arc]) != 0;
        }
    }
}

/* Marks lie by unit and block. */
static struct block_mark *line_mark_of(struct line_builder *b, const struct instance_block *block)
{
    const struct function_instance *at = &b->out->instances.at[block->instance];
    const struct notes *n = b->units[at->unit].notes;
    return &b->marks.at[b->unit_blocks.at[at->unit] +
                        (size_t)n->functions.at[at->function].first_block + block->block];
}

/* Adds a block's count for each time it is listed, less what comes from blocks of the same line;
 * says whether an arc leads back, without which there is no loop. Entries are counts of blocks less
 * the arcs between blocks of the line; what went round inside is added by the loops. */
static bool line_add_entries(struct line_builder *b, const struct instance_block *block,
                             uint32_t line, uint64_t *count)
{
    const struct function_instance *at = &b->out->instances.at[block->instance];
    const struct coverage_unit *u = &b->units[at->unit];
    const struct notes_function *f = &u->notes->functions.at[at->function];
    const uint32_t *first = block_graph_out(&u->graph, u->notes, at->function);
    size_t base = b->unit_blocks.at[at->unit] + (size_t)f->first_block;
    const struct block_mark *marks = b->marks.at + base;
    bool leads_back = false;
    *count +=
        (uint64_t)instance_block_count(b->units, at, block->block) * marks[block->block].times;
    for (uint32_t i = first[block->block]; i < first[block->block + 1]; i++) {
        uint32_t arc = u->graph.out.at[i], target = u->notes->arcs.at[arc].target;
        if (marks[target].line != line)
            continue;
        *count -= (uint64_t)flow_known_count(u->flow->arcs.at[arc]) * marks[target].times;
        leads_back |= target <= block->block;
    }
    return leads_back;
}

/* What `len` blocks count on their line, by the definition at the top. No block is requested twice.
 */
static int64_t line_count_blocks(struct line_builder *b, uint32_t index,
                                 const struct instance_block *blocks, uint32_t len)
{
    const struct function_instance *at = &b->out->instances.at[blocks->instance];
    uint64_t count = 0;
    bool has_loop = false;
    if (len == 1 && !(instance_block_kind(b->units, at, blocks->block) & BLOCK_REPEATS))
        return instance_block_count(b->units, at, blocks->block);
    for (uint32_t i = 0; i < len; i++) {
        struct block_mark *mark = line_mark_of(b, &blocks[i]);
        uint32_t times = mark->line == index + 1 ? mark->times + 1 : 1;
        *mark = (struct block_mark){.line = index + 1, .times = times & INT32_MAX};
    }
    for (uint32_t i = 0; i < len; i++) {
        struct block_mark *mark = line_mark_of(b, &blocks[i]);
        if (!mark->is_added)
            has_loop |= line_add_entries(b, &blocks[i], index + 1, &count);
        mark->is_added = true;
    }
    if (has_loop)
        count += (uint64_t)line_loops_count(b->loops, b->units, b->out->instances.at, blocks, len);
    return (int64_t)count;
}

/* One line's count: functions share no block, so that it is the sum of what each counts there. */
static void line_count_line(struct line_builder *b, uint32_t index)
{
    struct line_coverage *out = b->out;
    struct covered_line *line = &out->lines.at[index];
    if (!line->blocks || b->rules->sums_blocks)
        return;
    const struct instance_block *blocks = out->blocks.at + line->first_block;
    if (!b->rules->lists_shares) {
        line->count = line_count_blocks(b, index, blocks, line->blocks);
        return;
    }
    uint64_t count = 0;
    for (uint32_t i = 0, end; i < line->blocks; i = end) {
        uint32_t instance = blocks[i].instance;
        for (end = i + 1; end < line->blocks && blocks[end].instance == instance;)
            end++;
        int64_t share = line_count_blocks(b, index, blocks + i, end - i);
        vec_push(&out->shares, (struct line_share){index, instance, share});
        map_set(&b->counted, index, instance, 1);
        count += (uint64_t)share;
    }
    line->count = (int64_t)count;
}

/* Of lines that a function only names, without a block that belongs to them, its share is the plain
 * sum. */
static void line_add_named_shares(struct line_builder *b)
{
    for (size_t i = 0; i < b->named.len; i++) {
        struct line_share share = b->named.at[i];
        share.line = b->place.at[share.line];
        if (!map_find(&b->counted, share.line, share.instance))
            vec_push(&b->out->shares, share);
    }
    vec_free(&b->named);
    map_deinit(&b->counted);
}

/* The highest count of a source is of lines with blocks alone: others have none of their own. */
static void line_note_highest(struct covered_source *s, const struct covered_line *line)
{
    if (line->blocks && line->count > s->highest)
        s->highest = line->count;
}

/* Branches of a block that is on several lines count on one of them. */
static void line_add_totals(struct line_builder *b, struct covered_source *s,
                            const struct covered_line *line)
{
    struct line_coverage *out = b->out;
    for (uint32_t k = 0; k < line->blocks && !b->rules->has_no_totals; k++) {
        const struct instance_block *block = &out->blocks.at[line->first_block + k];
        if (!block->is_elsewhere)
            line_add_branches(b->units, &out->instances.at[block->instance], block->block,
                              &s->totals);
    }
    if (!(line->flags & LINE_EXISTS))
        return;
    s->totals.lines++;
    s->totals.lines_executed += line->count != 0;
}

/* Before the sources' lines, which may be sums of these. */
static void line_count_instances(struct line_builder *b)
{
    struct line_coverage *out = b->out;
    for (size_t i = 0; i < out->instances.len; i++) {
        struct function_instance *at = &out->instances.at[i];
        for (uint32_t k = at->first_line; k < at->first_line + at->lines; k++) {
            line_count_line(b, k);
            line_note_highest(&out->sources.at[at->source], &out->lines.at[k]);
            if (b->rules->adds_instances)
                line_add_totals(b, &out->sources.at[at->source], &out->lines.at[k]);
        }
    }
}

/* Adds the instances' lines to the source's. */
static void line_sum_instances(struct line_builder *b)
{
    struct line_coverage *out = b->out;
    for (size_t i = 0; i < b->found.len; i++) {
        if (b->found.at[i].sum == NONE)
            continue;
        const struct covered_line *own = &out->lines.at[b->place.at[i]];
        struct covered_line *sum = &out->lines.at[b->place.at[b->found.at[i].sum]];
        const struct function_instance *at = &out->instances.at[b->found.at[i].instance];
        struct source_totals *totals = &out->sources.at[at->source].totals;
        totals->lines += !(sum->flags & LINE_EXISTS);
        totals->lines_executed += !sum->count && own->count;
        sum->count = (int64_t)((uint64_t)sum->count + (uint64_t)own->count);
        sum->flags |= own->flags;
    }
}

/* Graphs and sizes, slots, walk, sorted lines and blocks, counts, sums: each step is linear, but
 * for loops within a line. */
void line_coverage_build(struct coverage_unit *units, size_t units_len, size_t sources,
                         const struct line_coverage_rules *rules, struct line_coverage *out)
{
    struct line_builder b = {
        .units = units, .rules = rules, .out = out, .sources = (uint32_t)sources};
    size_t blocks = 0, lines = 0, runs = 0, functions = 0;
    vec_reserve(&b.unit_blocks, units_len);
    for (size_t i = 0; i < units_len; i++) {
        block_graph_build(b.units[i].notes, &b.units[i].graph);
        b.unit_blocks.at[i] = (uint32_t)blocks;
        blocks += b.units[i].notes->blocks;
        lines += b.units[i].notes->lines.len;
        runs += b.units[i].notes->runs.len;
        functions += b.units[i].notes->functions.len;
    }
    vec_reserve(&b.found, lines / 3 * 2); /* many lines are mentioned by several blocks */
    vec_reserve(&b.attachments, runs);
    vec_reserve(&b.out->instances, functions);
    vec_reserve(&b.marks, blocks);
    if (blocks)
        memset(b.marks.at, 0, blocks * sizeof *b.marks.at);
    vec_reserve(&b.out->sources, b.sources);
    b.out->sources.len = b.sources;
    if (b.sources)
        memset(b.out->sources.at, 0, b.sources * sizeof *b.out->sources.at);
    b.loops = line_loops_new();

    VEC(struct extent) extents = {0};
    for (uint32_t i = 0; i < b.sources; i++)
        vec_push(&extents, (struct extent){0});
    for (size_t u = 0; u < units_len; u++)
        line_measure_unit(&b.units[u], extents.at);
    for (uint32_t i = 0; i < b.sources; i++)
        line_slots_add(&b.slots, 0, extents.at[i].len, extents.at[i].mentions);
    vec_free(&extents);
    for (uint32_t u = 0; u < units_len; u++) {
        const struct notes *n = b.units[u].notes;
        for (uint32_t i = 0; i < n->functions.len; i++) {
            const struct notes_function *f = &n->functions.at[i];
            if (f->is_artificial && !rules->keeps_artificial &&
                !(rules->keeps_bodies && line_holds_body(n, f)))
                continue;
            uint8_t state = b.units[u].flow->functions.at[i].state;
            vec_push(&b.out->instances,
                     (struct function_instance){
                         .unit = u,
                         .function = i,
                         .source = (f->file == NONE ? f->file : b.units[u].sources[f->file]),
                         .state = state,
                         .is_counted = line_is_counted(b.rules, state)});
        }
    }

    if (!rules->has_no_instances)
        line_pair_instances(&b);
    vec_reserve(&b.slots.windows, b.sources + b.out->instances.len);
    for (size_t i = 0; i < b.out->instances.len; i++) {
        const struct function_instance *at = &b.out->instances.at[i];
        const struct notes_function *f = &b.units[at->unit].notes->functions.at[at->function];
        uint32_t len = at->is_instance ? f->end_line - f->start_line : 0;
        len += at->is_instance && len < UINT32_MAX;
        line_slots_add(&b.slots, f->start_line, len, f->runs);
        struct covered_source *s = at->source == NONE ? NULL : &b.out->sources.at[at->source];
        if (s && rules->has_last_lines && f->end_line > s->last_number)
            s->last_number = f->end_line;
    }

    for (uint32_t i = 0; i < out->instances.len; i++)
        walk_function(&b, i);
    line_place_lines(&b);
    line_place_blocks(&b);
    line_count_instances(&b);
    for (size_t i = 0; i < out->sources.len; i++) {
        struct covered_source *s = &out->sources.at[i];
        for (uint32_t k = s->first_line; k < s->first_line + s->lines; k++) {
            line_count_line(&b, k);
            line_note_highest(s, &b.out->lines.at[k]);
            line_add_totals(&b, s, &b.out->lines.at[k]);
        }
    }

    line_add_named_shares(&b);
    line_sum_instances(&b);
    vec_free(&b.found);
    vec_free(&b.place);
    vec_free(&b.unit_blocks);
    vec_free(&b.marks);
    line_loops_free(b.loops);
}

void line_coverage_deinit(struct line_coverage *t)
{
    vec_free(&t->sources);
    vec_free(&t->instances);
    vec_free(&t->lines);
    vec_free(&t->blocks);
    vec_free(&t->shares);
}

void coverage_units_deinit(struct coverage_unit *units, size_t units_len)
{
    for (size_t i = 0; i < units_len; i++)
        block_graph_deinit(&units[i].graph);
}
