/* Basic blocks of code that has lines, found without running it and without a guess.
 *
 * Breakpoints are set at the starts of blocks, and one in the middle of an instruction or in data
 * would change what the program does. So bytes are decoded only where it is certain that an
 * instruction begins: at the rows of the line table, which compilers and assemblers write for
 * instructions alone, and wherever decoding leads from there.
 *
 *     row  │ row      row                          rows, and targets of what was decoded
 *     ├────┴──jz──────┼─────jmp *─┤ ? │ ├── ...     `?`: reached through a table; not decoded
 * unless leader  leader  leader            leader      a row begins there
 *
 * A region is what an unwind table or a symbol says is one function, or a piece of one. Decoding
 * ends at its end, at a return, at a jump through a register, and after a call of a place within
 * the same function, which is how code finds the data that follow the call. Where two instructions
 * overlap, something was no code after all, and nothing of the region is used.
 *
 * Costs a byte of memory for each byte of code with lines, and a look at each instruction once. */
#include "objfile/object.h"

#include "base/sort.h"
#include "base/vec.h"
#include "objfile/private.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_STARTS = 1, BLOCK_INSIDE = 2, BLOCK_LEADER = 4 }; /* of a byte */

struct region {
    uint64_t low, high;
    struct bytes code;
    uint8_t *flags; /* a byte each; NULL: no row lies in it */
    bool is_refused;
};

struct blocks_reading {
    VEC(struct region) regions; /* ascending, disjoint */
    VEC(uint64_t) rows;
    VEC(uint64_t) leaders; /* that are still to be followed */
    const struct instruction_set *set;
    struct code_finding finding;
};

static int by_low(const void *left, const void *right)
{
    const struct region *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->high > b->high ? -1 : a->high < b->high;
}

/* Of what overlaps, the first stays. */
static void blocks_find_regions(struct blocks_reading *r, struct object *o)
{
    size_t len, kept = 0;
    const struct object_range *ranges = object_unwind_ranges(o, &len);
    for (size_t i = 0; i < len; i++)
        vec_push(&r->regions, (struct region){.low = ranges[i].low, .high = ranges[i].high});
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (symbols[i].type == SYMBOL_FUNC && symbols[i].size &&
            symbols[i].size < UINT64_MAX - symbols[i].address)
            vec_push(&r->regions, (struct region){.low = symbols[i].address,
                                                  .high = symbols[i].address + symbols[i].size});
    if (r->regions.len)
        qsort(r->regions.at, r->regions.len, sizeof *r->regions.at, by_low);
    for (size_t i = 0; i < r->regions.len; i++) {
        struct region *at = &r->regions.at[i];
        if (kept && at->low < r->regions.at[kept - 1].high)
            continue;
        at->code = object_code(o, at->low, (size_t)(at->high - at->low));
        at->high = at->low + at->code.len;
        if (at->code.len)
            r->regions.at[kept++] = *at;
    }
    r->regions.len = kept;
}

/* An object_visitor. */
static void blocks_take_row(const struct object_place *place, void *context)
{
    struct blocks_reading *r = context;
    vec_push(&r->rows, place->start);
}

static struct region *blocks_region(struct blocks_reading *r, uint64_t address)
{
    size_t i = PARTITION_POINT(r->regions.len, at, r->regions.at[at].high <= address);
    struct region *found = i < r->regions.len ? &r->regions.at[i] : NULL;
    return found && found->low <= address ? found : NULL;
}

/* A place that is reached other than by going on. */
static void blocks_lead(struct blocks_reading *r, uint64_t address)
{
    struct region *region = blocks_region(r, address);
    if (!region || !region->flags)
        return;
    uint8_t *flags = &region->flags[address - region->low];
    if (*flags & BLOCK_INSIDE)
        region->is_refused = true;
    else if (!(*flags & BLOCK_STARTS))
        vec_push(&r->leaders, address);
    *flags |= BLOCK_LEADER;
}

/* Marks an instruction; false: it overlaps another one. */
static bool region_take(struct region *region, uint64_t at, size_t len)
{
    uint8_t *flags = &region->flags[at - region->low];
    bool is_free = !(*flags & BLOCK_INSIDE);
    *flags |= BLOCK_STARTS;
    for (size_t i = 1; i < len; i++) {
        is_free &= !(flags[i] & (BLOCK_STARTS | BLOCK_LEADER));
        flags[i] |= BLOCK_INSIDE;
    }
    region->is_refused |= !is_free;
    return is_free;
}

/* From a leader to where it is not known how code goes on, or is known already. */
static void blocks_follow(struct blocks_reading *r, uint64_t at)
{
    struct region *region = blocks_region(r, at);
    while (at < region->high && !region->is_refused &&
           !(region->flags[at - region->low] & BLOCK_STARTS)) {
        size_t offset = (size_t)(at - region->low);
        struct code_stretch stretch = {
            .bytes = {region->code.at + offset, region->code.len - offset},
            .address = at,
            .set = r->set};
        struct code_step step = r->set->step(&stretch, &r->finding);
        if (step.flow == STEP_UNKNOWN || step.len > region->high - at ||
            !region_take(region, at, step.len))
            return;
        at += step.len;
        bool is_inside = step.has_target && step.target > region->low && step.target < region->high;
        if (step.has_target && (step.flow != STEP_CALL || is_inside))
            blocks_lead(r, step.target);
        if (step.flow == STEP_JUMP || step.flow == STEP_ENDS ||
            (step.flow == STEP_CALL && is_inside))
            return;
        if (step.flow != STEP_ON && at < region->high)
            region->flags[at - region->low] |= BLOCK_LEADER;
    }
}

/* A block goes from a leader to the next one, as far as what lies between is decoded. A leader that
 * no instruction was found at is none. */
static void region_list(const struct region *region, struct code_blocks *out)
{
    size_t len = region->code.len;
    for (size_t i = 0; i < len;) {
        size_t start = i++;
        if ((region->flags[start] & (BLOCK_STARTS | BLOCK_LEADER)) != (BLOCK_STARTS | BLOCK_LEADER))
            continue;
        while (i < len && region->flags[i] & (BLOCK_STARTS | BLOCK_INSIDE) &&
               !(region->flags[i] & BLOCK_LEADER))
            i++;
        vec_push(&out->all, (struct code_block){region->low + start, region->low + i});
    }
}

void code_blocks_deinit(struct code_blocks *b)
{
    vec_free(&b->all);
    *b = (struct code_blocks){0};
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

bool object_blocks(struct object *o, struct code_blocks *out, const char **why)
{
    struct arch_target target = image_target(&o->self);
    const struct arch *a = arch_of(&target);
    struct blocks_reading r = {.set = !a->sets_len ? NULL
                                      : a->set_of  ? a->set_of(&target)
                                                   : a->sets};
    *out = (struct code_blocks){0};
    r.finding.mask = object_word(o) == 4 ? UINT32_MAX : UINT64_MAX;
    if (!r.set || !r.set->step) {
        *why = "it is not known how code of this machine goes on";
        return false;
    }
    if (!object_has_debug_info(o)) {
        *why = "has no debug information; compile it with -g, or install its debug file";
        return false;
    }
    blocks_find_regions(&r, o);
    VEC(struct object_range) ranges = {0};
    for (size_t i = 0; i < r.regions.len; i++)
        vec_push(&ranges, (struct object_range){r.regions.at[i].low, r.regions.at[i].high});
    object_each_row_within(o, ranges.at, ranges.len, blocks_take_row, &r);
    vec_free(&ranges);
    if (r.rows.len)
        qsort(r.rows.at, r.rows.len, sizeof *r.rows.at, by_number);
    for (size_t i = 0; i < r.rows.len; i++) {
        struct region *region = blocks_region(&r, r.rows.at[i]);
        if (region && !region->flags && !(region->flags = calloc(region->code.len, 1)))
            memory_exhausted(region->code.len);
    }
    for (size_t i = 0; i < r.rows.len; i++) {
        struct region *region = blocks_region(&r, r.rows.at[i]);
        /* What others go on into is no leader because a row begins there. */
        if (region && !(region->flags[r.rows.at[i] - region->low] & BLOCK_STARTS))
            blocks_lead(&r, r.rows.at[i]);
        while (r.leaders.len)
            blocks_follow(&r, r.leaders.at[--r.leaders.len]);
    }
    for (size_t i = 0; i < r.regions.len; i++) {
        struct region *region = &r.regions.at[i];
        out->regions += region->flags != NULL;
        out->refused += region->is_refused;
        if (region->flags && !region->is_refused)
            region_list(region, out);
        free(region->flags);
    }
    /* Blocks that end where capstone was to be asked are not all. */
    *why = r.finding.no_capstone;
    if (*why)
        code_blocks_deinit(out);
    code_finding_deinit(&r.finding);
    vec_free(&r.regions);
    vec_free(&r.rows);
    vec_free(&r.leaders);
    return !*why;
}

/* --- the end of code that has no size -------------------------------------------------------- */

uint64_t object_code_end(const struct object *o, uint64_t start, uint64_t end)
{
    enum { MOST_BYTES = 1 << 14, MOST_WAITING = 64 };
    struct arch_target target = image_target(&o->self);
    const struct arch *a = arch_of(&target);
    struct bytes code = object_code(o, start, (size_t)(end - start));
    uint8_t seen[MOST_BYTES] = {0};
    uint64_t waiting[MOST_WAITING], last = start;
    size_t len = 1;
    waiting[0] = start;
    if (!a->effect || object_word(o) != 8 || code.len != end - start || code.len > MOST_BYTES)
        return end;
    while (len) {
        uint64_t at = waiting[--len];
        while (at < end && !seen[at - start]) {
            struct arch_effect e;
            uint8_t bytes[16] = {0};
            size_t left = (size_t)(end - at);
            memcpy(bytes, code.at + (at - start), left < sizeof bytes ? left : sizeof bytes);
            a->effect(bytes, at, &e);
            if (e.flow == FLOW_ENDS || e.len > left)
                return end;
            seen[at - start] = 1;
            at += e.len;
            last = at > last ? at : last;
            if (e.flow == FLOW_RETURN)
                break;
            bool leads = e.flow == FLOW_BRANCH || e.flow == FLOW_JUMP;
            if (leads && e.target >= start && e.target < end) {
                if (len == MOST_WAITING)
                    return end;
                waiting[len++] = e.target;
            }
            if (e.flow == FLOW_JUMP)
                break;
        }
    }
    return last;
}
