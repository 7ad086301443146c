/* From an object's sections and symbols to stretches of code of one kind, which the machine's
 * reader decodes, and back from what it finds to addresses that symbols have; and capstone's text,
 * with what it cannot read as bytes.
 *
 *     section   |------------------------------------------------|
 *     marks      $a            $d        $a             $t             ($a Arm, $t Thumb, $d data)
 *     range               |-----------------------------------|
 *     stretches           |Arm |         |Arm           |Thumb|
 *
 * Opening code sorts sections and mapping symbols, once; any number of threads may then find calls.
 * Each range costs a binary search and the decoding of its bytes. A disassembler is for one thread.
 */
#include "objfile/object.h"

#include "arch/capstone.h"
#include "base/sort.h"
#include "objfile/private.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From `address` on there is code of this kind; NULL: none that we read. */
struct mark {
    uint64_t address;
    const struct instruction_set *set;
};

/* A code section; sections are sorted and do not overlap. */
struct section {
    uint64_t address;
    struct bytes bytes;
};

/* An address at which a function is entered besides its start. */
struct inner_entry {
    uint64_t address, start;
};

/* Immutable once it is opened, which is why threads may share it. */
struct code {
    struct arena arena;
    const struct arch *arch;
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

/* --- what is where --------------------------------------------------------------------------- */

/* Code sections by address. What overlaps the one before or the end of memory is nonsense. */
static void find_sections(struct code *c, struct object *o)
{
    size_t len, kept = 0;
    const struct object_section *all = object_sections(o, &len);
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++)
        if (all[i].is_code && all[i].is_alloc && all[i].has_bytes)
            order[kept++] = (struct keyed){all[i].address, i};
    sort_keyed(order, kept);
    c->sections = ARENA_NEW(&c->arena, struct section, kept);
    for (size_t i = 0; i < kept; i++) {
        struct section s = {order[i].key, image_bytes(&o->self, order[i].item)};
        const struct section *last = c->sections_len ? &c->sections[c->sections_len - 1] : NULL;
        if ((!last || s.address - last->address >= last->bytes.len) &&
            s.bytes.len <= UINT64_MAX - s.address)
            c->sections[c->sections_len++] = s;
    }
}

/* Mapping symbols say where code and data begin; without any, functions say what they are. */
static void find_marks(struct code *c, struct object *o)
{
    enum code_marks marks = c->arch->marks;
    size_t len, kept = 0;
    const struct object_symbol *all = object_symbols(o, &len, NULL);
    if (marks == MARKS_NONE)
        return;
    bool has_mapping = false;
    for (size_t i = 0; i < len && marks == MARKS_SYMBOLS; i++)
        has_mapping |= all[i].is_mapping && all[i].name[0] == '$';
    struct keyed *order = ARENA_NEW(&c->arena, struct keyed, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct object_symbol *s = &all[i];
        if (s->section &&
            (has_mapping ? s->is_mapping && s->name[0] == '$' : s->type == SYMBOL_FUNC))
            order[kept++] = (struct keyed){s->address, i};
    }
    sort_keyed(order, kept);
    c->marks = ARENA_NEW(&c->arena, struct mark, kept);
    for (size_t i = 0; i < kept; i++) {
        const struct object_symbol *s = &all[order[i].item];
        const char *mapping = s->is_mapping ? s->name : NULL;
        const struct instruction_set *set = NULL;
        if (mapping && mapping[1] == 'd') /* data */
            set = NULL;
        else if (c->arch->marked_set)
            set = c->arch->marked_set(mapping, s->is_compressed);
        else if (!s->is_compressed)
            set = c->set;
        c->marks[i] = (struct mark){order[i].key, set};
    }
    c->marks_len = kept;
}

/* Only executables and shared objects: in relocatable files, addresses are not given yet. */
struct code *code_open(struct object *o)
{
    struct arch_target target = image_target(&o->self);
    const struct arch *a = arch_of(&target);
    if (!a->sets_len || object_file_type(o) == ET_REL)
        return NULL;
    struct code *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->arch = a;
    c->set = a->set_of ? a->set_of(&target) : a->sets;
    c->is_big_endian =
        a->has_big_endian_code ? a->has_big_endian_code(&target) : target.is_big_endian;
    c->mask = object_word(o) == 4 ? UINT32_MAX : UINT64_MAX;
    find_sections(c, o);
    find_marks(c, o);
    if (!a->has_local_entries)
        return c;
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
    return c;
}

void code_close(struct code *c)
{
    if (!c)
        return;
    arena_deinit(&c->arena);
    free(c);
}

/* --- calls ----------------------------------------------------------------------------------- */

/* Code of one section, cut where its kind changes. */
static void decode_part(const struct code *c, const struct section *section, uint64_t low,
                        uint64_t high, struct code_finding *f)
{
    size_t next = PARTITION_POINT(c->marks_len, i, c->marks[i].address <= low);
    while (low < high) {
        const struct instruction_set *set = next ? c->marks[next - 1].set : c->set;
        uint64_t end = next < c->marks_len ? c->marks[next].address : high;
        end = end < high ? end : high;
        struct code_stretch s = {.bytes = {section->bytes.at + (low - section->address), end - low},
                                 .address = low,
                                 .set = set,
                                 .is_big_endian = c->is_big_endian};
        if (set)
            set->decode(&s, f);
        low = end;
        next++;
    }
}

/* For bsearch() among the inner entries. */
static int by_address(const void *address, const void *entry)
{
    uint64_t a = *(const uint64_t *)address, b = ((const struct inner_entry *)entry)->address;
    return (a > b) - (a < b);
}

/* Calls to an inner entry (a local entry of ppc64 or Alpha, after the global one) count as calls of
 * the function. */
void code_find_calls(const struct code *c, const struct code_range *ranges, size_t len,
                     struct code_calls *found)
{
    struct code_finding f = {.calls = found, .mask = c->mask};
    size_t first = found->all.len;
    for (size_t i = 0; i < len; i++) {
        f.index = (uint32_t)i;
        f.range = ranges[i];
        size_t k =
            PARTITION_POINT(c->sections_len, at,
                            c->sections[at].address + c->sections[at].bytes.len <= f.range.low);
        for (; k < c->sections_len; k++) {
            const struct section *s = &c->sections[k];
            uint64_t low = s->address, high = s->address + s->bytes.len;
            low = low > f.range.low ? low : f.range.low;
            high = high < f.range.high ? high : f.range.high;
            if (low >= high)
                break;
            decode_part(c, s, low, high, &f);
        }
    }
    found->unread = found->unread ? found->unread : f.no_capstone;
    code_finding_deinit(&f);
    for (size_t i = first; i < found->all.len && c->inner_entries_len; i++) {
        struct code_call *call = &found->all.at[i];
        const struct inner_entry *entry =
            bsearch(&call->to, c->inner_entries, c->inner_entries_len, sizeof *entry, by_address);
        call->to = entry ? entry->start : call->to;
    }
}

/* --- disassembly ----------------------------------------------------------------------------- */

enum { LONGEST = 16 };

/* capstone's handle, and the one instruction that it decodes into. */
struct disassembler {
    const struct object *object;
    struct capstone *capstone;
    cs_insn *found;
    struct capstone_view view;
    char text[256];
};

/* Without memory for an instruction of capstone's, everything is shown as bytes. */
struct disassembler *disassembler_open(const struct object *o, bool is_intel, const char **why)
{
    struct arch_target target = image_target(&o->self);
    const struct arch *a = arch_of(&target);
    struct capstone_view view;
    *why = target.machine == EM_NONE ? "the profile has no machine code" : CAPSTONE_LACKS_MACHINE;
    if (!a->capstone || !a->capstone(&target, &view))
        return NULL;
    struct disassembler *d = calloc(1, sizeof *d);
    if (!d)
        memory_exhausted(sizeof *d);
    if (target.is_big_endian)
        view.mode |= CS_MODE_BIG_ENDIAN;
    d->object = o;
    d->view = view;
    d->capstone = capstone_open(view.arch, view.mode, why);
    if (!d->capstone) {
        free(d);
        return NULL;
    }
    if (view.has_intel_syntax)
        d->capstone->option(d->capstone->handle, CS_OPT_SYNTAX,
                            is_intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
    d->found = d->capstone->malloc(d->capstone->handle);
    return d;
}

void disassembler_close(struct disassembler *d)
{
    if (!d)
        return;
    if (d->found)
        d->capstone->free(d->found, 1);
    capstone_close(d->capstone);
    free(d);
}

/* Only machines that have such code have a mode for it. */
void disassembler_compressed(struct disassembler *d, bool is_compressed)
{
    if (d->view.compressed)
        d->capstone->option(d->capstone->handle, CS_OPT_MODE,
                            d->view.mode | (is_compressed ? d->view.compressed : 0));
}

/* Branches have their target as the last operand, a plain number: `0x401136`, `#0x401136`. */
static bool find_target(const char *operands, uint64_t *target)
{
    const char *last = strrchr(operands, ' ');
    last = last ? last + 1 : operands;
    last += *last == '#';
    if (strncmp(last, "0x", 2))
        return false;
    char *end;
    *target = strtoull(last, &end, 16);
    return !*end;
}

/* What capstone cannot decode is shown as one unit of bytes, so that the next call is in step
 * again. */
bool disassemble(struct disassembler *d, uint64_t address, uint64_t end, struct instruction *out)
{
    if (address >= end)
        return false;
    uint64_t most = end - address < LONGEST ? end - address : LONGEST;
    struct bytes code = object_code(d->object, address, (size_t)most);
    if (!code.len)
        return false;
    *out = (struct instruction){.address = address, .text = d->text};
    const uint8_t *at = code.at;
    size_t left = code.len;
    uint64_t here = address;
    if (d->found && d->capstone->disasm_iter(d->capstone->handle, &at, &left, &here, d->found)) {
        const cs_insn *i = d->found;
        snprintf(d->text, sizeof d->text, i->op_str[0] ? "%-7s %s" : "%s%s", i->mnemonic,
                 i->op_str);
        out->bytes = i->size;
        out->has_target = find_target(i->op_str, &out->target);
        return true;
    }
    size_t len = code.len < d->view.unit ? code.len : d->view.unit;
    int to = snprintf(d->text, sizeof d->text, ".byte  ");
    for (size_t i = 0; i < len; i++)
        to += snprintf(d->text + to, sizeof d->text - (size_t)to, "%s0x%02x", i ? ", " : " ",
                       code.at[i]);
    out->bytes = (uint32_t)len;
    return true;
}
