/* The objects of a recording side by side: their places, their functions, and the function of each
 * node.
 *
 * Each file gets a range of addresses of its own, one after the other by page, the main program
 * first at its link addresses:
 *
 *     | main program | page | libc.so | page | libm.so | page | [kernel] read, [waiting] futex, ...
 *
 * The page between is the place of code that no symbol names. What stands for no file has one
 * address for each name, at the end. Places depend on the list of objects alone, not on where the
 * system put them, so that two runs of one program agree.
 *
 * Then one table has the functions of all of them, and whatever reads a profile of one program
 * reads this. Nodes are looked up in the table of their own object, which is small and warm. Cost:
 * the symbols of objects that are used, and a look-up for each node. A recording whose objects
 * claim more than 2^62 bytes is refused. */
#include "profile/analysis/recording/stacks.h"

#include "arch/arch.h"
#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "profile/model/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE     UINT64_C(4096)
#define MOST_END (UINT64_C(1) << 62) /* no object lies above */

/* What an object is called in tables. */
static const char *space_label_of(const struct recording_object *o)
{
    static const char *const labels[RECORDING_OBJECT_KINDS] = {[RECORDING_OBJECT_VDSO] = "vdso",
                                                               [RECORDING_OBJECT_KERNEL] = "kernel",
                                                               [RECORDING_OBJECT_GENERATED] =
                                                                   "generated",
                                                               [RECORDING_OBJECT_WAIT] = "waiting",
                                                               [RECORDING_OBJECT_CUT] = "cut"};
    return o->kind == RECORDING_OBJECT_FILE ? path_base_name(o->path) : labels[o->kind];
}

const char *space_object_name(const struct space *s, uint32_t object)
{
    static const char *const names[RECORDING_OBJECT_KINDS] = {
        [RECORDING_OBJECT_VDSO] = "[vdso]",
        [RECORDING_OBJECT_KERNEL] = "[kernel]",
        [RECORDING_OBJECT_GENERATED] = "[generated code]",
        [RECORDING_OBJECT_WAIT] = "[waiting]",
        [RECORDING_OBJECT_CUT] = "[stack cut]"};
    const struct recording_object *o = &s->recording->objects.at[object];
    return o->kind == RECORDING_OBJECT_FILE ? o->path : names[o->kind];
}

static bool space_is_file(const struct space *s, uint32_t object)
{
    return s->recording->objects.at[object].kind == RECORDING_OBJECT_FILE;
}

/* --- places ---------------------------------------------------------------------------------- */

/* The program of the first process for which it is known: one that executed another program at once
 * was seldom inspected before. */
static uint32_t space_main_program(const struct recording *r)
{
    for (size_t i = 0; i < r->processes.len; i++)
        if (r->processes.at[i].program != RECORDING_NONE)
            return r->processes.at[i].program;
    /* The first file; of those that a kernel lists, only if there is no other. The kernel itself
     * has a name in brackets. */
    uint32_t listed = RECORDING_NONE;
    for (uint32_t i = (uint32_t)r->objects.len; i-- > 0;) {
        const struct recording_object *o = &r->objects.at[i];
        if (o->kind == RECORDING_OBJECT_FILE && *o->path != '[' && !path_is_library(o->path) &&
            (!o->is_listed || listed == RECORDING_NONE || r->objects.at[listed].is_listed))
            listed = i;
    }
    return listed;
}

/* Gives an object its place, and sets *next after it. */
static bool space_place_object(struct space_object *o, uint64_t *next, bool is_main, struct err *e)
{
    if (o->high < o->low || o->high > MOST_END || *next > MOST_END)
        return err_set(e, "object %s claims the addresses 0x%" PRIx64 "-0x%" PRIx64,
                       o->recorded->path, o->low, o->high);
    if (!is_main)
        o->base = *next - (o->low & ~(PAGE - 1)); /* may wrap around: only sums count */
    /* A page more: it is the place of code without symbols. */
    *next = ((o->high + o->base + PAGE - 1) & ~(PAGE - 1)) + 2 * PAGE;
    return true;
}

bool space_lay_out(struct space *s, const struct recording *r, struct arena *a, struct err *e)
{
    uint64_t next = 0;
    *s = (struct space){.recording = r,
                        .objects = ARENA_NEW(a, struct space_object, r->objects.len),
                        .len = (uint32_t)r->objects.len,
                        .main = space_main_program(r)};
    for (uint32_t i = 0; i < s->len; i++) {
        const struct recording_object *o = &r->objects.at[i];
        s->objects[i] = (struct space_object){.recorded = o,
                                              .label = i == s->main ? NULL : space_label_of(o),
                                              .low = o->low,
                                              .high = o->high};
    }
    /* The main program stays where it was linked: a recording of it alone has the addresses of its
     * file. */
    if (s->main != RECORDING_NONE && !space_place_object(&s->objects[s->main], &next, true, e))
        return false;
    for (uint32_t i = 0; i < s->len; i++)
        if (i != s->main && space_is_file(s, i) &&
            !space_place_object(&s->objects[i], &next, false, e))
            return false;
    s->end = next + PAGE;
    for (size_t i = 1; i < r->nodes.len; i++)
        s->objects[r->nodes.at[i].object].is_used = true;
    for (size_t i = 0; i < r->arcs.len; i++) {
        if (r->arcs.at[i].from_object != RECORDING_NONE)
            s->objects[r->arcs.at[i].from_object].is_used = true;
        if (r->arcs.at[i].self_object != RECORDING_NONE)
            s->objects[r->arcs.at[i].self_object].is_used = true;
    }
    if (s->main != RECORDING_NONE)
        s->objects[s->main].is_used = true;
    return true;
}

bool space_is_recorder(const struct space_object *o)
{
    return o->recorded->kind == RECORDING_OBJECT_FILE &&
           !strncmp(path_base_name(o->recorded->path), "libmonarc_rt.so", 15);
}

uint64_t space_place(const struct space *s, uint32_t object, uint64_t address)
{
    return object == RECORDING_NONE || !space_is_file(s, object)
               ? 0
               : address + s->objects[object].base;
}

void space_add_calls(const struct space *s, struct profile *p)
{
    const struct recording *r = s->recording;
    for (size_t i = 0; i < r->arcs.len; i++) {
        const struct recording_arc *arc = &r->arcs.at[i];
        vec_push(&p->arcs, (struct arc){space_place(s, arc->from_object, arc->from),
                                        space_place(s, arc->self_object, arc->self), arc->count});
    }
    for (size_t i = 0; i < r->blocks.len; i++)
        vec_push(&p->blocks,
                 (struct block){space_place(s, r->blocks.at[i].object, r->blocks.at[i].address),
                                r->blocks.at[i].count});
    p->arc_records += r->arcs.len;
}

/* --- functions of files ---------------------------------------------------------------------- */

/* The functions of all objects while they are found, before they have their numbers in the table.
 * `each` is by object, `local` by node; what stands for no file is in `pseudo`, one for each name.
 */
struct gathering {
    struct space *space;
    struct functions *each; /* by object: of files, at link addresses */
    uint32_t *first;        /* of each in the whole table */
    bool *has_gaps;         /* there is a node where no symbol is */
    struct intern made;     /* names of functions that stand for no code of a file */
    VEC(struct function) pseudo;
    uint32_t *local; /* per node: within `each` or `pseudo` */
    struct arena *arena;
};

/* Keeps a function as far as it lies in the mapped parts of the object. */
static void space_keep_function(struct functions *f, const struct space_object *o,
                                struct function at)
{
    if (at.start < o->low || at.start >= o->high)
        return;
    at.last = at.last < o->high ? at.last : o->high - 1;
    f->at[f->len++] = at;
}

/* Of an object without a file: what the run knows by itself. */
static void space_functions_of_symbols(struct functions *f, const struct space *s, uint32_t object,
                                       struct arena *a)
{
    const struct recording *r = s->recording;
    size_t first = 0, len = 0;
    while (first < r->symbols.len && r->symbols.at[first].object < object)
        first++;
    while (first + len < r->symbols.len && r->symbols.at[first + len].object == object)
        len++;
    f->at = ARENA_NEW(a, struct function, len);
    for (size_t i = first; i < first + len; i++) {
        const struct recording_symbol *symbol = &r->symbols.at[i];
        uint64_t next = i + 1 < first + len ? symbol[1].start : s->objects[object].high;
        uint64_t end = symbol->size ? symbol->start + symbol->size : next;
        end = end > next ? next : end;
        if (end > symbol->start)
            space_keep_function(f, &s->objects[object],
                                (struct function){.start = symbol->start,
                                                  .last = end - 1,
                                                  .name = symbol->name,
                                                  .is_function = true});
    }
}

/* The functions of a file by its symbols, or, where it has none or is not to be had, by the
 * recording's own list. */
static void space_functions_of_file(struct gathering *g, uint32_t object)
{
    const struct space_object *o = &g->space->objects[object];
    struct functions all = {0}, *f = &g->each[object];
    if (o->file)
        functions_native(&all, o->file, g->arena);
    bool has_names = false;
    for (uint32_t i = 0; i < all.len && !has_names; i++)
        has_names = !all.at[i].is_unwind_range;
    /* Unwind ranges alone are no names: then what the recording knows comes first. */
    if (!has_names) /* the recording may know more than a stripped file */
        space_functions_of_symbols(f, g->space, object, g->arena);
    if (!f->len) {
        const char *label = space_label_of(o->recorded);
        bool is_renamed = o->file && strcmp(label, path_base_name(object_path(o->file)));
        f->at = ARENA_NEW(g->arena, struct function, all.len);
        for (uint32_t i = 0; i < all.len; i++) {
            if (is_renamed && all.at[i].is_unwind_range)
                all.at[i].name = function_range_name(all.at[i].start, label, g->arena);
            space_keep_function(f, o, all.at[i]);
        }
    }
    functions_find_pieces(f); /* anew: some may be outside of what was mapped */
    if (g->space->keeps_pieces)
        functions_keep_pieces(f);
    functions_index(f, g->arena);
}

/* --- functions of other objects -------------------------------------------------------------- */

/* The symbol that the recording itself has for an address, or NULL: of generated code, the vdso,
 * and system calls by number. */
static const char *space_symbol_at(const struct recording *r, uint32_t object, uint64_t address)
{
    size_t behind =
        PARTITION_POINT(r->symbols.len, i,
                        r->symbols.at[i].object < object || (r->symbols.at[i].object == object &&
                                                             r->symbols.at[i].start <= address));
    const struct recording_symbol *s = behind ? &r->symbols.at[behind - 1] : NULL;
    bool is_in = s && s->object == object && (!s->size || address - s->start < s->size);
    return is_in ? s->name : NULL;
}

/* "[kernel] read", "[waiting] futex": what entered the kernel, by its number. */
static const char *space_call_name(struct gathering *g, uint32_t object, uint64_t number,
                                   const char *group)
{
    const struct recording *r = g->space->recording;
    const char *name = space_symbol_at(r, object, number);
    name = name ? name : arch_syscall_name(r->machine, number);
    return name ? arena_printf(g->arena, "%s %s", group, name)
                : arena_printf(g->arena, "%s system call %" PRIu64, group, number);
}

/* Why a stack ends, as the name of the function that stands for its unknown callers. */
static const char *space_cut_name(uint64_t why)
{
    static const char *const names[RECORDING_CUTS] = {
        [RECORDING_CUT_DEEP] = "[stack cut: deeper than what was copied]",
        [RECORDING_CUT_NO_TABLE] = "[stack cut: code without unwind table]",
        [RECORDING_CUT_GENERATED] = "[stack cut: generated code without frame pointer]",
        [RECORDING_CUT_BROKEN] = "[stack cut: stack and unwind table do not fit]",
        [RECORDING_CUT_TOO_MANY] = "[stack cut: too many frames]",
        [RECORDING_CUT_NO_STACK] = "[stack cut: none was recorded]"};
    return why < RECORDING_CUTS ? names[why] : "[stack cut]";
}

/* What a node is called that stands for no code of a file. */
static const char *space_made_name(struct gathering *g, uint32_t object, uint64_t address)
{
    const struct recording *r = g->space->recording;
    const char *name;
    switch (r->objects.at[object].kind) {
    case RECORDING_OBJECT_KERNEL:
        if (address == RECORDING_KERNEL_FAULT)
            return "[kernel] faults and interrupts";
        return address >= RECORDING_KERNEL_UNKNOWN
                   ? "[kernel]"
                   : space_call_name(g, object, address, "[kernel]");
    case RECORDING_OBJECT_WAIT:
        if (address == RECORDING_WAIT_READY)
            return "[ready to run]";
        if (address == RECORDING_WAIT_FAULT)
            return "[waiting] page fault";
        if (address == RECORDING_WAIT_STOPPED)
            return "[stopped]";
        return address >= RECORDING_WAIT_UNKNOWN ? "[waiting]"
                                                 : space_call_name(g, object, address, "[waiting]");
    case RECORDING_OBJECT_CUT: return space_cut_name(address);
    case RECORDING_OBJECT_GENERATED:
        name = space_symbol_at(r, object, address);
        return name ? name : "[generated code]";
    default: name = space_symbol_at(r, object, address); return name ? name : "[no symbol] (vdso)";
    }
}

/* --- all of them ----------------------------------------------------------------------------- */

/* Kernel entries are few and hot; the same name is not made again for each node. */
static void space_place_nodes(struct gathering *g)
{
    const struct recording *r = g->space->recording;
    struct map seen = {0};
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        if (space_is_file(g->space, n->object)) {
            g->local[i] = functions_find(&g->each[n->object], n->address);
            g->has_gaps[n->object] |= g->local[i] == NO_FUNCTION;
            continue;
        }
        bool is_new;
        uint32_t *known = map_at(&seen, n->object, n->address, 0, &is_new);
        if (is_new) {
            /* One function a name: generated code of several processes may have the same. */
            const char *name = space_made_name(g, n->object, n->address);
            *known = intern_kept(&g->made, name, strlen(name));
            if (*known == g->pseudo.len)
                vec_push(&g->pseudo, (struct function){.name = name,
                                                       .is_function = true,
                                                       .is_made = true,
                                                       .object = n->object});
        }
        g->local[i] = *known;
    }
    map_deinit(&seen);
}

/* Moves a file's functions to their places; after them one for all of its code without a symbol, if
 * any was met. */
static void space_append_file(struct gathering *g, struct functions *f, uint32_t object)
{
    const struct space_object *o = &g->space->objects[object];
    g->first[object] = f->len;
    for (uint32_t i = 0; i < g->each[object].len; i++) {
        struct function moved = g->each[object].at[i];
        moved.start += o->base;
        moved.last += o->base;
        moved.object = object;
        moved.piece_of += moved.piece_of ? g->first[object] : 0;
        f->at[f->len++] = moved;
    }
    bool is_bare = o->is_used && !g->each[object].len; /* all of it is without symbols */
    uint64_t start = is_bare && o->low < o->high ? o->low : o->high;
    uint64_t end = start < o->high ? o->high : o->high + PAGE;
    if (g->has_gaps[object] || is_bare)
        f->at[f->len++] = (struct function){
            .start = start + o->base,
            .last = end - 1 + o->base,
            .name = arena_printf(g->arena, "[no symbol] (%s)",
                                 space_label_of(&g->space->recording->objects.at[object])),
            .is_function = true,
            .is_made = true,
            .object = object};
}

void space_functions(struct space *s, struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    struct gathering g = {.space = s,
                          .each = ARENA_NEW(&scratch, struct functions, s->len),
                          .first = ARENA_NEW(&scratch, uint32_t, s->len),
                          .has_gaps = ARENA_NEW(&scratch, bool, s->len),
                          .local = ARENA_NEW(&scratch, uint32_t, s->recording->nodes.len),
                          .arena = a};
    struct function_object *objects = ARENA_NEW(a, struct function_object, s->len);
    for (uint32_t i = 0; i < s->len; i++) {
        const struct recording_object *recorded = s->objects[i].recorded;
        objects[i] =
            (struct function_object){.label = s->objects[i].label,
                                     .base = s->objects[i].base,
                                     .build_id = {recorded->build_id, recorded->build_id_bytes},
                                     .is_recorder = space_is_recorder(&s->objects[i])};
        if (space_is_file(s, i) && s->objects[i].is_used)
            space_functions_of_file(&g, i);
    }
    *f = (struct functions){.objects = objects};
    s->function = ARENA_NEW(a, uint32_t, s->recording->nodes.len);
    s->is_piece = ARENA_NEW(a, bool, s->recording->nodes.len);
    space_place_nodes(&g);
    size_t total = s->len + g.pseudo.len;
    for (uint32_t i = 0; i < s->len; i++)
        total += g.each[i].len;
    f->at = ARENA_NEW(g.arena, struct function, total);
    if (s->main != RECORDING_NONE)
        space_append_file(&g, f, s->main);
    for (uint32_t i = 0; i < s->len; i++)
        if (i != s->main && space_is_file(s, i))
            space_append_file(&g, f, i);
    uint32_t made = f->len;
    for (size_t i = 0; i < g.pseudo.len; i++) {
        struct function at = g.pseudo.at[i];
        at.start = at.last = s->end + i;
        f->at[f->len++] = at;
    }
    functions_index(f, g.arena);
    for (uint32_t why = 0; why < RECORDING_CUTS; why++)
        s->cut[why] = NO_FUNCTION;
    s->function[0] = NO_FUNCTION;
    for (uint32_t i = 1; i < s->recording->nodes.len; i++) {
        uint32_t object = s->recording->nodes.at[i].object;
        bool is_gap = g.local[i] == NO_FUNCTION; /* of a file: after its last function */
        uint32_t function = !space_is_file(s, object)
                                ? made + g.local[i]
                                : g.first[object] + (is_gap ? g.each[object].len : g.local[i]);
        s->is_piece[i] = f->at[function].piece_of != 0;
        s->function[i] = functions_whole(f, function);
        if (space_is_cut(s, i) && s->recording->nodes.at[i].address < RECORDING_CUTS)
            s->cut[s->recording->nodes.at[i].address] = s->function[i];
    }
    intern_deinit(&g.made);
    vec_free(&g.pseudo);
    arena_deinit(&scratch);
}
