/* The table of a program's functions: how it is made of symbols, how an address is looked up in it,
 * how pieces of functions find the functions that they are pieces of, and the order of its names.
 *
 * Native rules: every symbol in executable code that the compiler or an assembler made for a
 * function, clones (.isra, .part, .cold, ...) included; mapping symbols and labels inside a sized
 * function are not functions of their own. A function ends where its symbol says, or, without a
 * size, where the next one or its section ends. A code section without any symbol, such as .plt, is
 * one function, `[.plt]`.
 *
 * Compilers move what is seldom run out of a function (f.cold), and split functions to inline their
 * heads (f.part.0). Such a piece has a range of its own, and says which function it is a piece of:
 * the one of its name without the ending, of the same source file where several have that name, and
 * none if that does not decide. Clones (.isra, .constprop) are functions: theirs is other code.
 *
 * Code that no symbol covers is cut as the unwind tables have it: one function `[0x4a30] (cc1)` for
 * each of their ranges. Such a function says that it is made, as its name is no symbol's.
 *
 * What holds: the table is sorted by start, starts are unique, no two ranges share an address,
 * whatever symbols and section headers say. Cost: sorting the symbols (radix sort, linear), then
 * linear passes. A lookup takes one bucket and a bisection of what begins in it. */
#include "profile/analysis/functions.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "base/vec.h"
#include "source/source.h"

#include <stdlib.h>
#include <string.h>

/* --- finding an address -----------------------------------------------------------------------
 *
 * The span of the starts is cut into buckets of 2^shift bytes, some two a range; each knows the
 * last range that starts at or before it:
 *
 *     bucket      |   0   |   1   |   2   |   3   |
 *     ranges      [ a  ][ b ]   [       c       ][ d
 *     bucket[]        a       a       c       c           (at its first byte)
 *
 * An address is in the range of its bucket, of the next bucket, or of one between: bisection. */

enum { MAX_BUCKETS = 1 << 22 };

void address_index_build(struct address_index *x, struct arena *a)
{
    if (!x->len)
        return;
    uint64_t first = x->at[0].start, span = x->at[x->len - 1].start - first + 1;
    x->shift = 0;
    while (span >> x->shift > (uint64_t)x->len * 2 || span >> x->shift > MAX_BUCKETS)
        x->shift++;
    x->buckets = (size_t)(span >> x->shift) + 1;
    x->bucket = ARENA_NEW(a, uint32_t, x->buckets);
    uint32_t owner = 0;
    for (size_t b = 0; b < x->buckets; b++) {
        uint64_t begin = first + ((uint64_t)b << x->shift);
        while (owner + 1 < x->len && x->at[owner + 1].start <= begin)
            owner++;
        x->bucket[b] = owner;
    }
}

uint32_t address_index_find(const struct address_index *x, uint64_t address)
{
    if (!x->len || address < x->at[0].start)
        return NO_RANGE_THERE;
    uint64_t b = (address - x->at[0].start) >> x->shift;
    uint32_t low = b < x->buckets ? x->bucket[b] : x->len - 1;
    uint32_t high = b + 1 < x->buckets ? x->bucket[b + 1] : x->len - 1;
    /* the last start at or below the address */
    low += PARTITION_POINT(high - low, i, x->at[low + 1 + i].start <= address);
    return address <= x->at[low].last ? low : NO_RANGE_THERE;
}

void functions_index(struct functions *f, struct arena *a)
{
    f->index =
        (struct address_index){.at = ARENA_NEW(a, struct indexed_range, f->len), .len = f->len};
    for (uint32_t i = 0; i < f->len; i++)
        f->index.at[i] = (struct indexed_range){f->at[i].start, f->at[i].last};
    address_index_build(&f->index, a);
}

uint32_t functions_find(const struct functions *f, uint64_t address)
{
    return address_index_find(&f->index, address);
}

bool function_place(const struct functions *f, uint32_t function, struct object *o,
                    const char **file, uint32_t *line)
{
    enum { MOST_FRAMES = 64 };
    const struct function *at = &f->at[function];
    struct object_frame frames[MOST_FRAMES];
    *file = at->is_inlined ? at->file : NULL;
    *line = at->is_inlined ? at->line : 0;
    if (at->is_inlined || !o)
        return *line != 0;
    uint64_t address = function_link_address(f, function);
    bool is_known = object_line(o, address, file, line) && *line;
    size_t depth = is_known && object_may_inline(o, address)
                       ? object_frames(o, address, frames, MOST_FRAMES)
                       : 0;
    if (depth > 1 && depth < MOST_FRAMES && frames[depth - 1].file) {
        *file = frames[depth - 1].file;
        *line = frames[depth - 1].line;
    }
    *file = is_known ? *file : NULL;
    return is_known;
}

bool function_program_place(const struct functions *f, uint32_t function,
                            struct object *const *objects, const char **file, uint32_t *line)
{
    const struct function *at = &f->at[function];
    *file = NULL;
    *line = 0;
    return !at->is_made && function_has_code(at) && !function_object_label(f, function) &&
           function_place(f, function, objects[at->object], file, line);
}

bool function_name_is_wait(const char *name)
{
    static const char WAITING[] = "[waiting]"; /* and in which call */
    return name[0] == '[' && (!strncmp(name, WAITING, sizeof WAITING - 1) ||
                              !strcmp(name, "[ready to run]") || !strcmp(name, "[stopped]"));
}

/* The part of the rule that is about the file with the code. */
static bool object_is_own(const struct functions *f, uint32_t function, const char *path)
{
    bool is_library = function_object_label(f, function) != NULL;
    return path && !(is_library && object_is_system(path)) && !source_is_foreign(path);
}

bool function_line_is_own(const struct functions *f, uint32_t function,
                          struct object *const *objects, const char *file)
{
    const struct function *at = &f->at[function];
    struct object *o = function_has_code(at) ? objects[at->object] : NULL;
    return o && object_is_own(f, function, object_path(o)) && !source_is_foreign(file);
}

bool function_is_own(const struct functions *f, uint32_t function, struct object *const *objects)
{
    static const char *const START[] = {
        "_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones"};
    const struct function *at = &f->at[function];
    /* What is made up may name no object. */
    struct object *o = function_has_code(at) ? objects[at->object] : NULL;
    const char *file = at->line ? at->file : NULL;
    uint32_t line;
    if (!o || !object_is_own(f, function, object_path(o)))
        return false;
    if (file || function_place(f, function, o, &file, &line))
        return !source_is_foreign(file);
    if (at->is_inlined) /* of the compiler's own lines alone: mostly a library's generic code */
        return at->file && !source_is_foreign(at->file);
    for (size_t i = 0; i < sizeof START / sizeof *START; i++)
        if (!strcmp(at->name, START[i]))
            return false;
    return !at->is_made && at->name[0] != '.' && at->name[0] != '['; /* .plt */
}

void functions_locate(struct functions *f, struct object *o)
{
    if (f->is_located)
        return;
    for (uint32_t i = 0; i < f->len; i++) {
        struct function *at = &f->at[i];
        object_line(o, at->start, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
    f->is_located = true;
}

/* --- symbols ---------------------------------------------------------------------------------- */

/* Preference among symbols at one address: typed functions, then global ones, then the name with
 * fewer leading underscores, then the first in the table. */
static int functions_by_merit(uint32_t left, uint32_t right, const void *symbols)
{
    const struct object_symbol *l = (const struct object_symbol *)symbols + left;
    const struct object_symbol *r = (const struct object_symbol *)symbols + right;
    if ((l->type == SYMBOL_FUNC) != (r->type == SYMBOL_FUNC))
        return l->type == SYMBOL_FUNC ? -1 : 1;
    if ((l->binding == BIND_LOCAL) != (r->binding == BIND_LOCAL))
        return l->binding == BIND_LOCAL ? 1 : -1;
    size_t l_underscores = strspn(l->name, "_"), r_underscores = strspn(r->name, "_");
    if (l_underscores != r_underscores)
        return l_underscores < r_underscores ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Whether a symbol may name a function: not data, not a mapping symbol ($x, $d), not a compiler's
 * local label (.L), and only in a section of code. */
static bool functions_is_candidate(const struct object_symbol *s, const struct object *o)
{
    if (s->type == SYMBOL_OBJECT || s->type == SYMBOL_OTHER || !s->name[0] || s->is_mapping)
        return false;
    const struct object_section *section = object_section(o, s->section);
    if (!section || !section->is_code)
        return false;
    return s->type != SYMBOL_NOTYPE || strncmp(s->name, ".L", 2);
}

static int functions_by_start(const void *left, const void *right)
{
    const struct function *l = left, *r = right;
    return (l->start > r->start) - (l->start < r->start);
}

/* Gives code sections without symbols a name of their own. `f` has room for all sections. */
static void functions_append_sections(struct functions *f, struct object *o, struct arena *a)
{
    size_t len, ranges_len;
    const struct object_section *sections = object_sections(o, &len);
    const struct object_range *ranges = object_unwind_ranges(o, &ranges_len);
    uint32_t named = f->len;
    for (size_t i = 0; named && i < len; i++) {
        const struct object_section *s = &sections[i];
        bool is_code = s->is_alloc && s->is_code && s->has_bytes && s->size;
        /* Whether the unwind tables separate functions of a section: not where there are none, nor
         * where one is around all of it, as linkers describe .plt. */
        uint64_t end = s->address + s->size;
        size_t first = PARTITION_POINT(ranges_len, k, ranges[k].high <= s->address);
        bool has_some = first < ranges_len && ranges[first].low < end;
        bool is_told_apart =
            has_some && (ranges[first].low > s->address || ranges[first].high < end);
        uint32_t function = PARTITION_POINT(named, k, f->at[k].last < s->address);
        bool has_any = function < named && f->at[function].start - s->address < s->size;
        if (!is_code || has_any || is_told_apart)
            continue;
        f->at[f->len++] = (struct function){.start = s->address,
                                            .last = s->address + s->size - 1,
                                            .name = arena_printf(a, "[%s]", s->name),
                                            .symbol = NO_FUNCTION};
    }
    if (f->len > named)
        qsort(f->at, f->len, sizeof *f->at, functions_by_start);
}

/* --- unwind tables -----------------------------------------------------------------------------
 */

/* Without printf(): there may be 10^5 of them. */
const char *function_range_name(uint64_t address, const char *file, struct arena *a)
{
    size_t file_len = strlen(file), len = 0, at = 3;
    char digits[16], *name = arena_alloc(a, sizeof "[0x] ()" + sizeof digits + file_len);
    do
        digits[len++] = "0123456789abcdef"[address & 15];
    while (address >>= 4);
    memcpy(name, "[0x", 3);
    while (len)
        name[at++] = digits[--len];
    memcpy(name + at, "] (", 3);
    memcpy(name + at + 3, file, file_len);
    memcpy(name + at + 3 + file_len, ")", 2);
    return name;
}

/* Fills what is between the functions with the ranges that touch none of them. Both are merged in
 * the order of addresses. */
static void functions_add_unwind_ranges(struct functions *f, struct object *o, struct arena *a)
{
    size_t len;
    const char *file = path_base_name(object_path(o));
    const struct object_range *ranges = object_unwind_ranges(o, &len);
    struct functions named = *f;
    if (!len)
        return;
    f->at = ARENA_NEW(a, struct function, named.len + len);
    f->len = 0;
    for (uint32_t i = 0, k = 0; i < named.len || k < len;) {
        if (k == len || (i < named.len && named.at[i].start <= ranges[k].low)) {
            /* A symbol without a size does not reach into the next entry of the unwind tables. */
            size_t next = PARTITION_POINT(len, j, ranges[j].low <= named.at[i].start);
            if (!named.at[i].is_function && named.at[i].symbol != NO_FUNCTION && next < len &&
                ranges[next].low <= named.at[i].last)
                named.at[i].last = ranges[next].low - 1;
            f->at[f->len++] = named.at[i++];
            continue;
        }
        uint64_t start = ranges[k].low, end = ranges[k].high;
        bool is_free =
            (!i || named.at[i - 1].last < start) && (i == named.len || named.at[i].start >= end);
        if (is_free)
            f->at[f->len++] = (struct function){.start = start,
                                                .last = end - 1,
                                                .name = function_range_name(start, file, a),
                                                .symbol = NO_FUNCTION,
                                                .is_static = true,
                                                .is_made = true,
                                                .is_unwind_range = true};
        k++;
    }
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* The length of the name without its last ending, if that is one of a piece; 0: it is none. Clones
 * of pieces (f.part.0.isra.0) are pieces. */
static size_t functions_whole_name(const char *name)
{
    static const char *const ENDINGS[] = {".cold", ".part"};
    static const char *const CLONES[] = {".isra", ".constprop", ".lto_priv"};
    size_t len = strlen(name), best = 0;
    for (size_t i = 0; i < 2; i++)
        for (const char *at = name; (at = strstr(at, ENDINGS[i])); at++) {
            const char *behind = at + strlen(ENDINGS[i]);
            behind += *behind == '.' ? 1 + strspn(behind + 1, "0123456789") : 0;
            for (size_t k = 0; k < 3; k++)
                if (!strncmp(behind, CLONES[k], strlen(CLONES[k]))) {
                    behind += strlen(CLONES[k]);
                    behind += *behind == '.' ? 1 + strspn(behind + 1, "0123456789") : 0;
                }
            if (behind == name + len && at > name && (size_t)(at - name) > best)
                best = (size_t)(at - name);
        }
    return best;
}

/* Candidates among the functions of a name that a piece needs: numbers plus one, 0 for none.
 */
struct whole_candidates {
    uint32_t first, count, global;
};

struct piece_search {
    struct functions *f;
    struct intern names;                  /* that pieces need */
    VEC(struct whole_candidates) by_name; /* as `names` */
    uint32_t *next;                       /* per function: the next one of its name, plus one */
};

/* The function that a piece belongs to, plus one; 0: unknown. A static function of the same source
 * file comes first, then the global one, then the only one of the name. */
static uint32_t functions_whole_of(const struct piece_search *s, uint32_t piece)
{
    const struct function *at = s->f->at;
    uint32_t name = intern_find(&s->names, at[piece].name, functions_whole_name(at[piece].name));
    const struct whole_candidates *c = &s->by_name.at[name];
    for (uint32_t i = c->first; i; i = s->next[i - 1])
        if (at[i - 1].is_static && at[i - 1].unit == at[piece].unit && at[piece].unit)
            return i;
    bool is_only = c->count == 1 && !at[c->first - 1].has_namesake; /* an excerpt lacks some */
    return c->global ? c->global : is_only ? c->first : 0;
}

void functions_find_pieces(struct functions *f)
{
    struct arena scratch = {0};
    struct piece_search s = {.f = f};
    for (uint32_t i = 0; i < f->len; i++) {
        size_t len = strchr(f->at[i].name, '.') ? functions_whole_name(f->at[i].name) : 0;
        if (len && intern(&s.names, f->at[i].name, len) == s.by_name.len)
            vec_push(&s.by_name, (struct whole_candidates){0});
    }
    s.next = ARENA_NEW(&scratch, uint32_t, s.by_name.len ? f->len : 0);
    for (uint32_t i = f->len; s.by_name.len && i-- > 0;) {
        uint32_t name = intern_find(&s.names, f->at[i].name, strlen(f->at[i].name));
        if (name == INTERN_NONE)
            continue;
        struct whole_candidates *c = &s.by_name.at[name];
        s.next[i] = c->first;
        c->first = i + 1;
        c->count++;
        c->global = f->at[i].is_static ? c->global : i + 1;
    }
    for (uint32_t i = 0; s.by_name.len && i < f->len; i++)
        if (strchr(f->at[i].name, '.') && functions_whole_name(f->at[i].name))
            f->at[i].piece_of = functions_whole_of(&s, i);
    /* f.part.0.cold is a piece of a piece; names get shorter, so this ends. */
    for (uint32_t i = 0; s.by_name.len && i < f->len; i++)
        while (f->at[i].piece_of && f->at[f->at[i].piece_of - 1].piece_of)
            f->at[i].piece_of = f->at[f->at[i].piece_of - 1].piece_of;
    vec_free(&s.by_name);
    intern_deinit(&s.names);
    arena_deinit(&scratch);
}

void functions_join_times(const struct functions *f, double *self)
{
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].piece_of) {
            self[f->at[i].piece_of - 1] += self[i];
            self[i] = 0;
        }
}

void functions_keep_pieces(struct functions *f)
{
    for (uint32_t i = 0; i < f->len; i++)
        f->at[i].piece_of = 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

void functions_native(struct functions *f, struct object *o, struct arena *a)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    struct keyed *order = memory_zeroed(len, sizeof *order);
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < len; i++)
        if (functions_is_candidate(&symbols[i], o))
            order[candidates++] = (struct keyed){symbols[i].address, i};
    sort_keyed(order, candidates);
    sort_equals(order, candidates, functions_by_merit, symbols);

    /* Functions, in the order of addresses: room for one of each section besides. */
    size_t sections_len;
    object_sections(o, &sections_len);
    *f = (struct functions){.at = ARENA_NEW(a, struct function, candidates + sections_len),
                            .build_id = object_build_id(o)};
    for (uint32_t i = 0; i < candidates; i++) {
        /* Appends the function of a symbol, unless one begins there already or a label lies inside
         * of a sized function. Symbols come by address; what came before ends where this one
         * begins, at the latest. */
        const struct object_symbol *s = &symbols[order[i].item];
        const struct object_section *section = object_section(o, s->section);
        uint64_t section_end = section->address + section->size;
        uint64_t end = s->size && s->size <= section_end - s->address ? s->address + s->size
                       : section_end > s->address                     ? section_end
                                                                      : s->address + 1;
        struct function *previous = f->len ? &f->at[f->len - 1] : NULL;
        if (previous && previous->start == s->address)
            continue;
        bool is_inside = previous && s->address <= previous->last && previous->is_function;
        if (is_inside && s->type == SYMBOL_NOTYPE)
            continue;
        if (previous && previous->last >= s->address)
            previous->last = s->address - 1;
        f->at[f->len++] = (struct function){.start = s->address,
                                            .last = end - 1,
                                            .name = s->name,
                                            .symbol = order[i].item,
                                            .unit = s->unit,
                                            .is_function = s->size != 0,
                                            .is_static = s->binding == BIND_LOCAL,
                                            .has_namesake = s->has_namesake};
    }
    memory_free(order);
    functions_append_sections(f, o, a);
    /* A label without a size reaches to the next symbol, and so over code whose own symbols were
     * stripped: it ends where the code ends that it leads to, as far as that can be seen. */
    for (uint32_t i = 0; i < f->len; i++)
        if (!f->at[i].is_function && f->at[i].symbol != NO_FUNCTION)
            f->at[i].last = object_code_end(o, f->at[i].start, f->at[i].last + 1) - 1;
    /* No two ranges may share an address, whatever the section headers say. */
    uint32_t kept = f->len ? 1 : 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].last < f->at[i].start)
            f->at[i].last = f->at[i].start;
    for (uint32_t i = 1; i < f->len; i++) {
        if (f->at[i].start == f->at[kept - 1].start)
            continue;
        if (f->at[kept - 1].last >= f->at[i].start)
            f->at[kept - 1].last = f->at[i].start - 1;
        f->at[kept++] = f->at[i];
    }
    f->len = kept;
    functions_add_unwind_ranges(f, o, a);
    functions_find_pieces(f);
    for (uint32_t i = 0; i < f->len; i++)
        f->at[i].is_function = true;
    functions_index(f, a);
}

bool function_is_compressed(const struct functions *f, uint32_t function, struct object *o)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    uint32_t symbol = f->at[function].symbol;
    return symbol < len && symbols[symbol].is_compressed;
}

/* --- names in order -----------------------------------------------------------------------------
 */

/* A run of names that are equal up to `skip`. */
struct name_run {
    size_t start, len, skip;
};

/* Lines of one function follow each other: only the first one's name is sorted. */
enum { SAME_AS_BEFORE = UINT32_MAX };

/* Numbers equal names equally, in sorted order: eight bytes at a time, runs of names that agree in
 * them again by the next eight. The runs still to do wait on a stack, the first one on top. */
void functions_order_names(struct functions *f, struct arena *a)
{
    if (f->name_order)
        return;
    uint32_t *order = ARENA_NEW(a, uint32_t, f->len), number = 0, len = 0;
    struct arena scratch = {0};
    struct keyed *names = ARENA_NEW(&scratch, struct keyed, f->len);
    VEC(struct name_run) todo = {0};
    for (uint32_t i = 0; i < f->len; i++) {
        order[i] = SAME_AS_BEFORE;
        if (!i || (f->at[i - 1].name != f->at[i].name && strcmp(f->at[i - 1].name, f->at[i].name)))
            names[len++].item = i;
    }
    vec_push(&todo, ((struct name_run){0, len, 0}));
    while (todo.len) {
        struct name_run run = todo.at[--todo.len];
        struct keyed *at = names + run.start;
        bool is_final = run.len == 1 || (run.skip && !(at[0].key & 0xff));
        if (is_final) {
            for (size_t i = 0; i < run.len; i++)
                order[at[i].item] = number;
            number++;
            continue;
        }
        for (size_t i = 0; i < run.len; i++) {
            /* Eight bytes of a name from `skip` on, as a number that sorts like them; 0 where it
             * has ended. */
            const char *name = f->at[at[i].item].name;
            uint64_t part = 0;
            size_t k = 0;
            for (; k < 8 && name[run.skip + k]; k++)
                part = part << 8 | (unsigned char)name[run.skip + k];
            at[i].key = k ? part << 8 * (8 - k) : 0;
        }
        sort_keyed(at, run.len);
        for (size_t end = run.len, start; end > 0; end = start) {
            for (start = end - 1; start && at[start - 1].key == at[end - 1].key;)
                start--;
            vec_push(&todo, ((struct name_run){run.start + start, end - start, run.skip + 8}));
        }
    }
    vec_free(&todo);
    arena_deinit(&scratch);
    for (uint32_t i = 1; i < f->len; i++)
        order[i] = order[i] == SAME_AS_BEFORE ? order[i - 1] : order[i];
    f->name_order = order;
}
