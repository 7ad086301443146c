/* Two passes over the notes: the first finds every line that is mentioned and which blocks belong
 * to it; the second, in the order of sources and lines, counts. */
#include "coverage/analysis/line_coverage.h"

#include "coverage/analysis/line_loops.h"
#include "coverage/analysis/line_slots.h"

#include <string.h>

/* A line while it is being found. Sets 0 to sources - 1 are sources, the rest instances. */
struct found_line {
    int64_t count;
    uint32_t number;
    uint32_t sum;      /* the source's line that an instance's is added to */
    uint32_t instance; /* the last that mentioned it */
    uint32_t block;    /* of that instance, the last attached if blocks are shared */
    uint8_t flags;
};

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

struct building {
    struct coverage_unit *units;
    const struct line_coverage_rules *rules;
    struct line_coverage *out;
    uint32_t sources;
    struct line_slots slots; /* index in found; of sources, then of instances */
    VEC(struct found_line) found;
    VEC(struct attachment) attachments;
    VEC(uint32_t) place;          /* of found lines among the sorted */
    VEC(uint32_t) unit_blocks;    /* blocks of the units before */
    VEC(struct block_mark) marks; /* by block of all units */
    struct line_loops *loops;
};

static uint32_t line_at(struct building *b, uint32_t set, uint32_t number)
{
    uint32_t *slot = line_slot(&b->slots, set, number);
    if (*slot == LINE_NO_SLOT) {
        *slot = (uint32_t)b->found.len;
        vec_push(&b->found,
                 (struct found_line){
                     .number = number, .sum = NO_INDEX, .instance = NO_INDEX, .block = NO_INDEX});
    }
    return *slot;
}

/* ---- room for the lines */

/* What is known of a source before its lines are found. */
struct extent {
    uint32_t len; /* the highest line that is mentioned, and one more */
    size_t mentions;
};

static void line_include(struct extent *of, uint32_t number)
{
    if (number >= of->len)
        of->len = number < UINT32_MAX ? number + 1 : number;
}

static void line_measure_unit(const struct coverage_unit *u, struct extent *extents)
{
    const struct notes *n = u->notes;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        if (f->file != (uint32_t)NO_INDEX && u->sources[f->file] != (uint32_t)NO_INDEX)
            line_include(&extents[u->sources[f->file]], f->start_line);
    }
    for (size_t i = 0; i < n->runs.len; i++) {
        const struct notes_run *run = &n->runs.at[i];
        if (run->file == (uint32_t)NO_INDEX || u->sources[run->file] == (uint32_t)NO_INDEX)
            continue;
        struct extent *of = &extents[u->sources[run->file]];
        of->mentions += run->lines;
        for (uint32_t k = 0; k < run->lines; k++)
            line_include(of, n->lines.at[run->first + k]);
    }
}

static void line_open_sources(struct building *b, size_t units_len)
{
    VEC(struct extent) extents = {0};
    for (uint32_t i = 0; i < b->sources; i++)
        vec_push(&extents, (struct extent){0});
    for (size_t u = 0; u < units_len; u++)
        line_measure_unit(&b->units[u], extents.at);
    for (uint32_t i = 0; i < b->sources; i++)
        line_slots_add(&b->slots, 0, extents.at[i].len, extents.at[i].mentions);
    vec_free(&extents);
}

static void line_open_instances(struct building *b)
{
    vec_reserve(&b->slots.windows, b->sources + b->out->instances.len);
    for (size_t i = 0; i < b->out->instances.len; i++) {
        const struct function_instance *at = &b->out->instances.at[i];
        const struct notes_function *f = &b->units[at->unit].notes->functions.at[at->function];
        uint32_t len = at->is_instance ? f->end_line - f->start_line : 0;
        len += at->is_instance && len < UINT32_MAX;
        line_slots_add(&b->slots, f->start_line, len, f->runs);
    }
}

/* ---- which functions, and which of them have lines of their own */

static bool line_is_counted(const struct line_coverage_rules *rules, uint8_t state)
{
    return state == FLOW_ABSENT    ? rules->absent_is_zero
           : state == FLOW_UNKNOWN ? rules->unknown_is_zero
                                   : true;
}

static uint32_t line_source_of(const struct coverage_unit *u, const struct notes_function *f)
{
    return f->file == (uint32_t)NO_INDEX ? f->file : u->sources[f->file];
}

static bool line_has_place(const struct function_instance *at, const struct notes_function *f)
{
    return at->source != (uint32_t)NO_INDEX && f->end_line >= f->start_line && !f->is_artificial;
}

static void line_list_instances(struct building *b, size_t units_len)
{
    for (uint32_t u = 0; u < units_len; u++) {
        const struct notes *n = b->units[u].notes;
        for (uint32_t i = 0; i < n->functions.len; i++) {
            const struct notes_function *f = &n->functions.at[i];
            if (f->is_artificial && !b->rules->keeps_artificial)
                continue;
            uint8_t state = b->units[u].flow->functions.at[i].state;
            vec_push(&b->out->instances,
                     (struct function_instance){.unit = u,
                                                .function = i,
                                                .source = line_source_of(&b->units[u], f),
                                                .state = state,
                                                .is_counted = line_is_counted(b->rules, state)});
        }
    }
}

/* Functions that begin at one line; its slot, not in use yet, holds the first of them. */
static void line_pair_instances(struct building *b)
{
    struct function_instance *instances = b->out->instances.at;
    for (uint32_t i = 0; i < b->out->instances.len; i++) {
        const struct notes_function *f =
            &b->units[instances[i].unit].notes->functions.at[instances[i].function];
        if (!line_has_place(&instances[i], f))
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

struct walking {
    struct building *b;
    const struct coverage_unit *unit;
    const struct notes_function *f;
    struct function_instance *at;
    uint32_t index; /* of the instance */
};

static uint32_t line_mention(struct walking *w, uint32_t source, uint32_t number, bool *is_own)
{
    struct building *b = w->b;
    *is_own = w->at->is_instance && source == w->at->source && number >= w->f->start_line &&
              number <= w->f->end_line;
    struct covered_source *s = &b->out->sources.at[source];
    if (number > s->last_number)
        s->last_number = number;
    if (!*is_own)
        return line_at(b, source, number);
    uint32_t line = line_at(b, b->sources + w->index, number);
    if (!b->rules->has_no_sums && b->found.at[line].sum == (uint32_t)NO_INDEX) {
        uint32_t sum = line_at(b, source, number);
        b->found.at[line].sum = sum;
    }
    return line;
}

static void line_note_for_function(struct walking *w, struct found_line *l, int64_t count,
                                   bool is_own)
{
    struct function_instance *at = w->at;
    if (!is_own) {
        at->gnu_lines += !(l->flags & LINE_EXISTS);
        at->gnu_executed += !l->count && count;
    }
    if (l->instance != w->index)
        l->block = NO_INDEX;
    l->instance = w->index;
}

static uint32_t line_add_line(struct walking *w, uint32_t source, uint32_t number, int64_t count,
                              bool is_exceptional)
{
    bool is_own;
    uint32_t index = line_mention(w, source, number, &is_own);
    struct found_line *l = &w->b->found.at[index];
    line_note_for_function(w, l, count, is_own);
    l->flags |= LINE_EXISTS;
    if (!is_exceptional)
        l->flags |= (uint8_t)(LINE_PLAIN | (count ? 0 : LINE_UNEXECUTED));
    l->count = (int64_t)((uint64_t)l->count + (uint64_t)count);
    return index;
}

static void line_attach(struct walking *w, uint32_t line, uint32_t block)
{
    vec_push(&w->b->attachments, (struct attachment){line, {w->index, block, false}});
}

/* The last line that a block names. */
static uint32_t line_last_of(const struct walking *w, const struct notes_run *run)
{
    const struct notes *n = w->unit->notes;
    const struct notes_run *end = n->runs.at + w->f->first_run + w->f->runs;
    while (run + 1 < end && run[1].block == run->block && run[1].lines)
        run++;
    return run->lines ? n->lines.at[run->first + run->lines - 1] : 0;
}

static void line_share(struct walking *w, uint32_t line, uint32_t block, bool is_elsewhere)
{
    struct found_line *l = &w->b->found.at[line];
    if (l->block != block || w->b->rules->repeats_blocks)
        vec_push(&w->b->attachments, (struct attachment){line, {w->index, block, is_elsewhere}});
    l->block = block;
}

/* The run's lines count the block; it belongs to the highest. */
static uint32_t line_add_run(struct walking *w, const struct notes_run *run, int64_t count,
                             bool is_exceptional, uint32_t before)
{
    const uint32_t *lines = w->unit->notes->lines.at + run->first;
    uint32_t source = w->unit->sources[run->file], highest = 0, index = before;
    bool is_shared = w->b->rules->shares_blocks;
    uint32_t last = is_shared ? line_last_of(w, run) : 0;
    for (uint32_t i = 0; i < run->lines; i++) {
        uint32_t line = line_add_line(w, source, lines[i], count, is_exceptional);
        if (is_shared)
            line_share(w, line, run->block, lines[i] != last);
        if (lines[i] >= highest)
            index = line;
        highest = lines[i] > highest ? lines[i] : highest;
    }
    return index;
}

static bool line_is_end(const struct walking *w, uint32_t block)
{
    uint32_t exit = w->b->rules->has_gnu_exit ? w->f->blocks - 1 : w->f->exit;
    return block == 0 || block == exit;
}

/* Entry and exit belong to no line, unless (clang) they have lines. */
static bool line_is_on_line(const struct walking *w, uint32_t block, bool has_run)
{
    return !line_is_end(w, block) || (has_run && !w->b->rules->has_gnu_exit);
}

static uint32_t line_add_block(struct walking *w, uint32_t block, uint32_t *run, uint32_t line)
{
    const struct notes *n = w->unit->notes;
    uint32_t end = w->f->first_run + w->f->runs;
    int64_t count = instance_block_count(w->b->units, w->at, block);
    bool is_exceptional = instance_block_kind(w->b->units, w->at, block) & BLOCK_EXCEPTIONAL;
    bool has_run = false;
    for (; *run < end && n->runs.at[*run].block == block; ++*run) {
        uint32_t file = n->runs.at[*run].file;
        if (file == (uint32_t)NO_INDEX || w->unit->sources[file] == (uint32_t)NO_INDEX)
            continue;
        has_run = true;
        line = line_add_run(w, &n->runs.at[*run], count, is_exceptional, line);
        if (line != (uint32_t)NO_INDEX && !w->b->rules->shares_blocks &&
            line_is_on_line(w, block, true))
            line_attach(w, line, block);
    }
    if (!has_run && w->b->rules->carries_lines && line != (uint32_t)NO_INDEX &&
        !line_is_end(w, block))
        line_attach(w, line, block);
    return line;
}

static void line_walk_runs(struct walking *w)
{
    uint32_t line = NO_INDEX, run = w->f->first_run;
    for (uint32_t block = 0; block < w->f->blocks; block++)
        line =
            line_add_block(w, block, &run, w->b->rules->carries_lines ? line : (uint32_t)NO_INDEX);
}

/* Lines of a function about which nothing is known. */
static void line_walk_unknown(struct walking *w)
{
    const struct notes *n = w->unit->notes;
    for (uint32_t i = w->f->first_run; i < w->f->first_run + w->f->runs; i++) {
        const struct notes_run *run = &n->runs.at[i];
        uint32_t source = run->file;
        if (source != (uint32_t)NO_INDEX)
            source = w->unit->sources[source];
        for (uint32_t k = 0; k < run->lines && source != (uint32_t)NO_INDEX; k++) {
            uint32_t line = line_at(w->b, source, n->lines.at[run->first + k]);
            w->b->found.at[line].flags |= LINE_UNKNOWN;
        }
    }
}

static void line_count_blocks(struct walking *w)
{
    struct function_instance *at = w->at;
    const struct notes *n = w->unit->notes;
    if (w->f->blocks < 2)
        return;
    at->blocks = w->f->blocks - 2;
    for (uint32_t i = 0; i < w->f->blocks; i++)
        at->blocks_executed += !line_is_end(w, i) && instance_block_count(w->b->units, at, i);
    at->called = instance_block_count(w->b->units, at, 0);
    at->returned = instance_block_count(w->b->units, at, w->f->exit);
    for (uint32_t i = w->f->first_arc; i < w->f->first_arc + w->f->arcs; i++)
        if (n->arcs.at[i].target == w->f->exit && n->arcs.at[i].flags & NOTES_ARC_FAKE)
            at->returned -= flow_known_count(w->unit->flow->arcs.at[i]);
}

static void line_walk_function(struct building *b, uint32_t index)
{
    struct function_instance *at = &b->out->instances.at[index];
    const struct coverage_unit *unit = &b->units[at->unit];
    struct walking w = {b, unit, &unit->notes->functions.at[at->function], at, index};
    if (!at->is_counted) {
        if (at->state == FLOW_UNKNOWN)
            line_walk_unknown(&w);
        return;
    }
    line_count_blocks(&w);
    line_walk_runs(&w);
}

/* ---- in order */

static uint32_t line_place_slots(struct building *b, const uint32_t *slots, size_t len)
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
static void line_place_lines(struct building *b)
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

static void line_place_blocks(struct building *b)
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

/* What the arcs of a block say about branches and calls. */
static void line_add_branches(const struct coverage_unit *units, const struct function_instance *at,
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

static struct block_mark *line_mark_of(struct building *b, const struct instance_block *block)
{
    const struct function_instance *at = &b->out->instances.at[block->instance];
    const struct notes *n = b->units[at->unit].notes;
    return &b->marks.at[b->unit_blocks.at[at->unit] +
                        (size_t)n->functions.at[at->function].first_block + block->block];
}

/* Adds a block's count for each time it is listed, less what comes from blocks of the same line;
 * says whether an arc leads back, without which there is no loop. */
static bool line_add_entries(struct building *b, const struct instance_block *block, uint32_t line,
                             uint64_t *count)
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

static void line_count_line(struct building *b, uint32_t index)
{
    struct line_coverage *out = b->out;
    struct covered_line *line = &out->lines.at[index];
    uint64_t count = 0;
    bool has_loop = false;
    if (!line->blocks || b->rules->sums_blocks)
        return;
    const struct instance_block *blocks = out->blocks.at + line->first_block;
    const struct function_instance *at = &out->instances.at[blocks->instance];
    if (line->blocks == 1 && !(instance_block_kind(b->units, at, blocks->block) & BLOCK_REPEATS)) {
        line->count = instance_block_count(b->units, at, blocks->block);
        return;
    }
    for (uint32_t i = 0; i < line->blocks; i++) {
        struct block_mark *mark = line_mark_of(b, &blocks[i]);
        uint32_t times = mark->line == index + 1 ? mark->times + 1 : 1;
        *mark = (struct block_mark){.line = index + 1, .times = times & INT32_MAX};
    }
    for (uint32_t i = 0; i < line->blocks; i++) {
        struct block_mark *mark = line_mark_of(b, &blocks[i]);
        if (!mark->is_added)
            has_loop |= line_add_entries(b, &blocks[i], index + 1, &count);
        mark->is_added = true;
    }
    if (has_loop)
        count +=
            (uint64_t)line_loops_count(b->loops, b->units, out->instances.at, blocks, line->blocks);
    line->count = (int64_t)count;
}

static void line_note_highest(struct covered_source *s, const struct covered_line *line)
{
    if (line->blocks && line->count > s->highest)
        s->highest = line->count;
}

static void line_add_totals(struct building *b, struct covered_source *s,
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

static void line_count_source(struct building *b, struct covered_source *s)
{
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        line_count_line(b, i);
        line_note_highest(s, &b->out->lines.at[i]);
        line_add_totals(b, s, &b->out->lines.at[i]);
    }
}

static void line_count_instances(struct building *b)
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
static void line_sum_instances(struct building *b)
{
    struct line_coverage *out = b->out;
    for (size_t i = 0; i < b->found.len; i++) {
        if (b->found.at[i].sum == (uint32_t)NO_INDEX)
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

static void line_prepare(struct building *b, size_t units_len)
{
    size_t blocks = 0, lines = 0, runs = 0, functions = 0;
    vec_reserve(&b->unit_blocks, units_len);
    for (size_t i = 0; i < units_len; i++) {
        block_graph_build(b->units[i].notes, &b->units[i].graph);
        b->unit_blocks.at[i] = (uint32_t)blocks;
        blocks += b->units[i].notes->blocks;
        lines += b->units[i].notes->lines.len;
        runs += b->units[i].notes->runs.len;
        functions += b->units[i].notes->functions.len;
    }
    vec_reserve(&b->found, lines / 3 * 2); /* many lines are mentioned by several blocks */
    vec_reserve(&b->attachments, runs);
    vec_reserve(&b->out->instances, functions);
    vec_reserve(&b->marks, blocks);
    if (blocks)
        memset(b->marks.at, 0, blocks * sizeof *b->marks.at);
    vec_reserve(&b->out->sources, b->sources);
    b->out->sources.len = b->sources;
    if (b->sources)
        memset(b->out->sources.at, 0, b->sources * sizeof *b->out->sources.at);
    b->loops = line_loops_new();
}

static void line_release(struct building *b)
{
    vec_free(&b->found);
    vec_free(&b->place);
    vec_free(&b->unit_blocks);
    vec_free(&b->marks);
    line_loops_free(b->loops);
}

void line_coverage_build(struct coverage_unit *units, size_t units_len, size_t sources,
                         const struct line_coverage_rules *rules, struct line_coverage *out)
{
    struct building b = {.units = units, .rules = rules, .out = out, .sources = (uint32_t)sources};
    line_prepare(&b, units_len);
    line_open_sources(&b, units_len);
    line_list_instances(&b, units_len);
    if (!rules->has_no_instances)
        line_pair_instances(&b);
    line_open_instances(&b);
    for (uint32_t i = 0; i < out->instances.len; i++)
        line_walk_function(&b, i);
    line_place_lines(&b);
    line_place_blocks(&b);
    line_count_instances(&b);
    for (size_t i = 0; i < out->sources.len; i++)
        line_count_source(&b, &out->sources.at[i]);
    line_sum_instances(&b);
    line_release(&b);
}

void line_coverage_deinit(struct line_coverage *t)
{
    vec_free(&t->sources);
    vec_free(&t->instances);
    vec_free(&t->lines);
    vec_free(&t->blocks);
}

void coverage_units_deinit(struct coverage_unit *units, size_t units_len)
{
    for (size_t i = 0; i < units_len; i++)
        block_graph_deinit(&units[i].graph);
}
