/* From an object's sections and symbols to stretches of code of one kind, and back from what the
 * decoders find to addresses that symbols have. Decodes nothing itself. */
#include "objfile/code/calls.h"

#include "base/search.h"
#include "base/sort.h"
#include "objfile/code/architecture.h"
#include "objfile/code/decode.h"
#include "objfile/private.h"

#include <elf.h>
#include <stdlib.h>

/* From `address` on there is code of this kind; NULL: none that we read. */
struct mark {
    uint64_t address;
    const struct instruction_set *set;
};

struct section {
    uint64_t address;
    struct bytes bytes;
};

/* An address at which a function is entered besides its start. */
struct inner_entry {
    uint64_t address, start;
};

struct code {
    struct arena arena;
    const struct architecture *architecture;
    const struct instruction_set *set; /* the usual one */
    bool is_big_endian;
    uint64_t mask;
    struct section *sections;
    size_t sections_len;
    struct mark *marks;
    size_t marks_len;
    struct inner_entry *inner_entries;
    size_t inner_entries_len;
};

/* --- what is where ------------------------------------------------------------------------------
 */

/* Sections come in order; what overlaps the one before or the end of memory is nonsense. */
static void calls_add_section(struct code *c, struct section s)
{
    const struct section *last = c->sections_len ? &c->sections[c->sections_len - 1] : NULL;
    if ((!last || s.address - last->address >= last->bytes.len) &&
        s.bytes.len <= UINT64_MAX - s.address)
        c->sections[c->sections_len++] = s;
}

static void calls_find_sections(struct code *c, struct object *o)
{
    size_t len;
    const struct object_section *all = object_sections(o, &len);
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    size_t kept = 0;
    for (uint32_t i = 0; i < len; i++)
        if (all[i].is_code && all[i].is_alloc && all[i].has_bytes)
            order[kept++] = (struct keyed){all[i].address, i};
    sort_keyed(order, kept);
    c->sections = ARENA_NEW(&c->arena, struct section, kept);
    for (size_t i = 0; i < kept; i++)
        calls_add_section(c, (struct section){order[i].key, image_bytes(&o->self, order[i].item)});
}

static const struct instruction_set *calls_marked_set(const struct code *c,
                                                      const struct object_symbol *s)
{
    if (s->is_mapping && s->name[1] == 'd')
        return NULL;
    if (c->architecture->marked_set)
        return c->architecture->marked_set(s);
    return s->is_compressed ? NULL : c->set;
}

static bool calls_is_mark(const struct object_symbol *s, bool has_mapping)
{
    return s->section &&
           (has_mapping ? s->is_mapping && s->name[0] == '$' : s->type == SYMBOL_FUNC);
}

/* Mapping symbols say where code and data begin; without any, functions say what they are. */
static void calls_find_marks(struct code *c, struct object *o)
{
    enum code_marks marks = c->architecture->marks;
    size_t len, kept = 0;
    const struct object_symbol *all = object_symbols(o, &len, NULL);
    if (marks == MARKS_NONE)
        return;
    bool has_mapping = false;
    for (size_t i = 0; i < len && marks == MARKS_SYMBOLS; i++)
        has_mapping |= all[i].is_mapping && all[i].name[0] == '$';
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        if (calls_is_mark(&all[i], has_mapping))
            order[kept++] = (struct keyed){all[i].address, i};
    sort_keyed(order, kept);
    c->marks = ARENA_NEW(&c->arena, struct mark, kept);
    for (size_t i = 0; i < kept; i++)
        c->marks[i] = (struct mark){order[i].key, calls_marked_set(c, &all[order[i].item])};
    c->marks_len = kept;
}

static void calls_find_inner_entries(struct code *c, struct object *o)
{
    size_t len, kept = 0;
    const struct object_symbol *all = object_symbols(o, &len, NULL);
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        if (all[i].local_entry)
            order[kept++] = (struct keyed){all[i].address + all[i].local_entry, i};
    sort_keyed(order, kept);
    c->inner_entries = ARENA_NEW(&c->arena, struct inner_entry, kept);
    for (size_t i = 0; i < kept; i++)
        c->inner_entries[i] = (struct inner_entry){order[i].key, all[order[i].item].address};
    c->inner_entries_len = kept;
}

struct code *code_open(struct object *o)
{
    struct target target = image_target(&o->self);
    const struct architecture *a = architecture_of(target.machine);
    if (!a->sets_len || object_file_type(o) == ET_REL)
        return NULL;
    struct code *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->architecture = a;
    c->set = a->set_of ? a->set_of(&target) : a->sets;
    c->is_big_endian =
        a->has_big_endian_code ? a->has_big_endian_code(&target) : target.is_big_endian;
    c->mask = object_word(o) == 4 ? UINT32_MAX : UINT64_MAX;
    calls_find_sections(c, o);
    calls_find_marks(c, o);
    if (a->has_local_entries)
        calls_find_inner_entries(c, o);
    return c;
}

void code_close(struct code *c)
{
    if (!c)
        return;
    arena_deinit(&c->arena);
    free(c);
}

/* --- ranges
 * --------------------------------------------------------------------------------------- */

/* The first of `len` marks behind `address`. */
static size_t calls_marks_until(const struct code *c, uint64_t address)
{
    return PARTITION_POINT(c->marks_len, i, c->marks[i].address <= address);
}

/* Code of one section, cut where its kind changes. */
static void calls_decode_part(const struct code *c, const struct section *section, uint64_t low,
                              uint64_t high, struct finding *f)
{
    size_t next = calls_marks_until(c, low);
    while (low < high) {
        const struct instruction_set *set = next ? c->marks[next - 1].set : c->set;
        uint64_t end = next < c->marks_len ? c->marks[next].address : high;
        end = end < high ? end : high;
        struct stretch s = {.bytes = {section->bytes.at + (low - section->address), end - low},
                            .address = low,
                            .set = set,
                            .is_big_endian = c->is_big_endian};
        if (set)
            set->decode(&s, f);
        low = end;
        next++;
    }
}

/* The first section that ends behind `address`. */
static size_t calls_section_from(const struct code *c, uint64_t address)
{
    return PARTITION_POINT(c->sections_len, i,
                           c->sections[i].address + c->sections[i].bytes.len <= address);
}

static void calls_decode_range(const struct code *c, struct finding *f)
{
    for (size_t i = calls_section_from(c, f->range.low); i < c->sections_len; i++) {
        const struct section *s = &c->sections[i];
        uint64_t low = s->address, high = s->address + s->bytes.len;
        low = low > f->range.low ? low : f->range.low;
        high = high < f->range.high ? high : f->range.high;
        if (low >= high)
            return;
        calls_decode_part(c, s, low, high, f);
    }
}

static int calls_by_address(const void *address, const void *entry)
{
    uint64_t a = *(const uint64_t *)address, b = ((const struct inner_entry *)entry)->address;
    return (a > b) - (a < b);
}

static void calls_call_owners_of_inner_entries(const struct code *c, struct code_calls *found,
                                               size_t first)
{
    for (size_t i = first; i < found->all.len && c->inner_entries_len; i++) {
        struct code_call *call = &found->all.at[i];
        const struct inner_entry *entry = bsearch(&call->to, c->inner_entries, c->inner_entries_len,
                                                  sizeof *entry, calls_by_address);
        call->to = entry ? entry->start : call->to;
    }
}

void code_find_calls(const struct code *c, const struct code_range *ranges, size_t len,
                     struct code_calls *found)
{
    struct finding f = {.calls = found, .mask = c->mask};
    size_t first = found->all.len;
    for (size_t i = 0; i < len; i++) {
        f.index = (uint32_t)i;
        f.range = ranges[i];
        calls_decode_range(c, &f);
    }
    finding_deinit(&f);
    calls_call_owners_of_inner_entries(c, found, first);
}
