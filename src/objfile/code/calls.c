/* From an object's sections and symbols to stretches of code of one kind, and back from what the
 * decoders find to addresses that symbols have. Decodes nothing itself. */
#include "objfile/code/calls.h"

#include "base/sort.h"
#include "objfile/code/decode.h"
#include "objfile/private.h"

#include <elf.h>
#include <stdlib.h>

/* From `address` on there is code of this kind; SETS: none that we read. */
struct mark {
    uint64_t address;
    enum instruction_set set;
};

struct section {
    uint64_t address;
    struct bytes bytes;
};

/* An address at which a function is entered besides its start. */
struct side_door {
    uint64_t address, start;
};

struct code {
    struct arena arena;
    enum instruction_set set;
    bool is_big_endian;
    uint64_t mask;
    struct section *sections;
    size_t sections_len;
    struct mark *marks;
    size_t marks_len;
    struct side_door *doors;
    size_t doors_len;
};

static enum instruction_set mips_set(uint32_t flags)
{
    uint32_t release = flags & EF_MIPS_ARCH;
    enum { R6_32 = 0x9, R6_64 = 0xa };
    return release >> 28 == R6_32 || release >> 28 == R6_64 ? SET_MIPS_R6 : SET_MIPS;
}

static enum instruction_set set_of(const struct object *o)
{
    bool is_32 = object_word(o) == 4;
    switch (object_machine(o)) {
    case EM_386:
    case EM_IAMCU: return SET_X86_32;
    case EM_X86_64: return SET_X86_64;
    case EM_ARM: return SET_ARM;
    case EM_AARCH64: return SET_AARCH64;
    case EM_MIPS: return mips_set(o->self.header.e_flags);
    case EM_PPC:
    case EM_PPC64: return SET_POWER;
    case EM_RISCV: return is_32 ? SET_RISCV_32 : SET_RISCV_64;
    case EM_SPARC:
    case EM_SPARC32PLUS:
    case EM_SPARCV9: return SET_SPARC;
    case EM_S390: return SET_S390;
    default: return SETS;
    }
}

/* Arm's big-endian programs have little-endian code since version 6 (BE8), AArch64's always. */
static bool has_big_endian_code(const struct object *o, enum instruction_set set)
{
    bool is_be8 = o->self.header.e_flags & EF_ARM_BE8;
    return object_is_big_endian(o) && set != SET_AARCH64 && !(set == SET_ARM && is_be8);
}

/* --- what is where ------------------------------------------------------------------------------
 */

/* Sections come in order; what overlaps the one before or the end of memory is nonsense. */
static void add_section(struct code *c, struct section s)
{
    const struct section *last = c->sections_len ? &c->sections[c->sections_len - 1] : NULL;
    if ((!last || s.address - last->address >= last->bytes.len) &&
        s.bytes.len <= UINT64_MAX - s.address)
        c->sections[c->sections_len++] = s;
}

static void find_sections(struct code *c, struct object *o)
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
        add_section(c, (struct section){order[i].key, image_bytes(&o->self, order[i].item)});
}

static enum instruction_set marked_set(const struct code *c, const struct object_symbol *s)
{
    if (s->is_mapping && s->name[1] == 'd')
        return SETS;
    if (c->set == SET_ARM)
        return (s->is_mapping ? s->name[1] == 't' : s->is_compressed) ? SET_THUMB : SET_ARM;
    return s->is_compressed ? SETS : c->set;
}

static bool is_mark(const struct object_symbol *s, bool has_mapping)
{
    return s->section &&
           (has_mapping ? s->is_mapping && s->name[0] == '$' : s->type == SYMBOL_FUNC);
}

/* Mapping symbols say where code and data begin; without any, functions say what they are. */
static void find_marks(struct code *c, struct object *o)
{
    bool has_kinds = c->set == SET_ARM || c->set == SET_AARCH64 || c->set == SET_MIPS ||
                     c->set == SET_RISCV_32 || c->set == SET_RISCV_64;
    size_t len, kept = 0;
    const struct object_symbol *all = object_symbols(o, &len, NULL);
    if (!has_kinds)
        return;
    bool has_mapping = false;
    for (size_t i = 0; i < len && c->set != SET_MIPS; i++)
        has_mapping |= all[i].is_mapping && all[i].name[0] == '$';
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        if (is_mark(&all[i], has_mapping))
            order[kept++] = (struct keyed){all[i].address, i};
    sort_keyed(order, kept);
    c->marks = ARENA_NEW(&c->arena, struct mark, kept);
    for (size_t i = 0; i < kept; i++)
        c->marks[i] = (struct mark){order[i].key, marked_set(c, &all[order[i].item])};
    c->marks_len = kept;
}

static void find_doors(struct code *c, struct object *o)
{
    size_t len, kept = 0;
    const struct object_symbol *all = object_symbols(o, &len, NULL);
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        if (all[i].local_entry)
            order[kept++] = (struct keyed){all[i].address + all[i].local_entry, i};
    sort_keyed(order, kept);
    c->doors = ARENA_NEW(&c->arena, struct side_door, kept);
    for (size_t i = 0; i < kept; i++)
        c->doors[i] = (struct side_door){order[i].key, all[order[i].item].address};
    c->doors_len = kept;
}

struct code *code_open(struct object *o)
{
    enum instruction_set set = set_of(o);
    if (set == SETS || object_file_type(o) == ET_REL)
        return NULL;
    struct code *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->set = set;
    c->is_big_endian = has_big_endian_code(o, set);
    c->mask = object_word(o) == 4 ? UINT32_MAX : UINT64_MAX;
    find_sections(c, o);
    find_marks(c, o);
    if (object_machine(o) == EM_PPC64)
        find_doors(c, o);
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

void decode_calls(const struct stretch *s, struct finding *f)
{
    if (s->set == SET_X86_32 || s->set == SET_X86_64)
        decode_x86(s, f);
    else
        decode_words(s, f);
}

/* The first of `len` marks behind `address`. */
static size_t marks_until(const struct code *c, uint64_t address)
{
    size_t low = 0, high = c->marks_len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->marks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Code of one section, cut where its kind changes. */
static void decode_part(const struct code *c, const struct section *section, uint64_t low,
                        uint64_t high, struct finding *f)
{
    size_t next = marks_until(c, low);
    while (low < high) {
        enum instruction_set set = next ? c->marks[next - 1].set : c->set;
        uint64_t end = next < c->marks_len ? c->marks[next].address : high;
        end = end < high ? end : high;
        struct stretch s = {.bytes = {section->bytes.at + (low - section->address), end - low},
                            .address = low,
                            .set = set,
                            .is_big_endian = c->is_big_endian};
        if (set != SETS)
            decode_calls(&s, f);
        low = end;
        next++;
    }
}

/* The first section that ends behind `address`. */
static size_t section_from(const struct code *c, uint64_t address)
{
    size_t low = 0, high = c->sections_len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->sections[middle].address + c->sections[middle].bytes.len <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void decode_range(const struct code *c, struct finding *f)
{
    for (size_t i = section_from(c, f->range.low); i < c->sections_len; i++) {
        const struct section *s = &c->sections[i];
        uint64_t low = s->address, high = s->address + s->bytes.len;
        low = low > f->range.low ? low : f->range.low;
        high = high < f->range.high ? high : f->range.high;
        if (low >= high)
            return;
        decode_part(c, s, low, high, f);
    }
}

static int by_address(const void *address, const void *door)
{
    uint64_t a = *(const uint64_t *)address, b = ((const struct side_door *)door)->address;
    return (a > b) - (a < b);
}

static void leave_side_doors(const struct code *c, struct code_calls *found, size_t first)
{
    for (size_t i = first; i < found->all.len && c->doors_len; i++) {
        struct code_call *call = &found->all.at[i];
        const struct side_door *door =
            bsearch(&call->to, c->doors, c->doors_len, sizeof *door, by_address);
        call->to = door ? door->start : call->to;
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
        decode_range(c, &f);
    }
    finding_deinit(&f);
    leave_side_doors(c, found, first);
}
