/* Which stretches of code are functions, as the unwind tables have it.
 *
 * Compilers write one entry (FDE) of `.eh_frame` for each function, or for each piece of one that
 * stands elsewhere, and programs keep the section when they are stripped: exceptions and debuggers
 * need it. So it separates code that no symbol names. Nothing else is read of an entry: how to
 * unwind is for src/unwind, which finds one entry where this lists all of them.
 *
 * One pass over the section. A CIE precedes its FDEs, since they count back to it; what they need
 * of it, the encoding of addresses, is kept in a list that grows in the order of offsets. Ranges
 * outside of code, and entries in encodings that need more than the section (relative to a
 * register's base, indirect, aligned), are passed over; a damaged entry ends the list.
 * Specification: LSB, "Exception Frames". */
#include "objfile/private.h"

#include "base/bytes.h"
#include "base/sort.h"
#include "base/vec.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum { /* encodings of pointers */
       FORMAT = 0x0f,
       ABSOLUTE = 0x00,
       BASE = 0xf0,
       RELATIVE_TO_PLACE = 0x10,
       NO_ENCODING = 0xff,
};

/* A CIE, by its offset, and how its FDEs write addresses. */
struct common_entry {
    Dwarf_Off offset;
    uint8_t encoding;
};

/* The pass over the section. */
struct range_reading {
    struct object *o;
    uint64_t address; /* of the section */
    const uint8_t *bytes;
    struct object_range code; /* around the last range: the next one is mostly in it, too */
    VEC(struct common_entry) common;
    VEC(struct object_range) all;
};

/* DW_EH_PE_...: the format of an encoded pointer. */
static uint64_t ranges_read_value(struct cursor *in, uint8_t format)
{
    switch (format) {
    case ABSOLUTE: return cursor_word(in);
    case 0x01: return cursor_uleb(in);
    case 0x02: return cursor_u16(in);
    case 0x03: return cursor_u32(in);
    case 0x04:
    case 0x0c: return cursor_u64(in);
    case 0x09: return (uint64_t)cursor_sleb(in);
    case 0x0a: return (uint64_t)(int64_t)(int16_t)cursor_u16(in);
    case 0x0b: return (uint64_t)(int64_t)(int32_t)cursor_u32(in);
    default: in->failed = true; return 0;
    }
}

/* Over the bytes of an entry, in the program's word size and byte order. */
static struct cursor ranges_cursor(const struct range_reading *r, const uint8_t *at,
                                   const uint8_t *end)
{
    struct cursor c = cursor_over((struct bytes){at, (size_t)(end - at)}, "");
    c.word = object_word(r->o);
    c.big_endian = object_is_big_endian(r->o);
    return c;
}

/* What the letter R says; letters that are not known end the reading, and an augmentation without
 * its length belongs to no compiler that is in use. */
static uint8_t ranges_encoding(const struct range_reading *r, const Dwarf_CIE *cie)
{
    const char *letters = cie->augmentation;
    if (letters[0] != 'z')
        return letters[0] ? NO_ENCODING : ABSOLUTE;
    struct cursor in = ranges_cursor(r, cie->augmentation_data,
                                     cie->augmentation_data + cie->augmentation_data_size);
    for (letters++; *letters && !in.failed; letters++)
        switch (*letters) {
        case 'R': {
            uint8_t encoding = cursor_u8(&in);
            return in.failed ? NO_ENCODING : encoding;
        }
        case 'L': cursor_u8(&in); break;
        case 'P': ranges_read_value(&in, cursor_u8(&in) & FORMAT); break;
        case 'S':
        case 'B':
        case 'G': break;
        default: return NO_ENCODING;
        }
    return ABSOLUTE;
}

/* Whether there is code at an address: in a section, or, where sstrip left none, in a segment. */
static bool ranges_are_in_code(struct range_reading *r, uint64_t address)
{
    if (address >= r->code.low && address < r->code.high)
        return true;
    uint32_t number = section_at(r->o, address);
    const struct object_facts *facts = object_facts(r->o);
    if (number && r->o->sections[number].is_code) {
        const struct object_section *s = &r->o->sections[number];
        r->code = (struct object_range){s->address, s->address + s->size};
        return true;
    }
    for (size_t i = 0; !facts->has_sections && i < facts->code_len; i++) {
        r->code = (struct object_range){facts->code[i].address,
                                        facts->code[i].address + facts->code[i].size};
        if (address >= r->code.low && address < r->code.high)
            return true;
    }
    return false;
}

/* Adds the range of an FDE, if its addresses can be read and are code. */
static void ranges_take(struct range_reading *r, const Dwarf_FDE *fde)
{
    size_t behind = PARTITION_POINT(r->common.len, i, r->common.at[i].offset <= fde->CIE_pointer);
    const struct common_entry *cie = behind ? &r->common.at[behind - 1] : NULL;
    if (!cie || cie->offset != fde->CIE_pointer || cie->encoding == NO_ENCODING ||
        ((cie->encoding & BASE) != 0 && (cie->encoding & BASE) != RELATIVE_TO_PLACE))
        return;
    struct cursor in = ranges_cursor(r, fde->start, fde->end);
    uint64_t start = ranges_read_value(&in, cie->encoding & FORMAT);
    uint64_t len = ranges_read_value(&in, cie->encoding & FORMAT);
    if ((cie->encoding & BASE) == RELATIVE_TO_PLACE)
        start += r->address + (uint64_t)(fde->start - r->bytes);
    if (object_word(r->o) == 4)
        start = (uint32_t)start;
    if (!in.failed && len && start + len > start && ranges_are_in_code(r, start) &&
        start + len <= r->code.high)
        vec_push(&r->all, (struct object_range){start, start + len});
}

static int ranges_compare(const void *left, const void *right)
{
    const struct object_range *l = left, *r = right;
    if (l->low != r->low)
        return l->low < r->low ? -1 : 1;
    return (l->high < r->high) - (l->high > r->high);
}

/* One pass over the section by libdw, entry by entry. */
static void ranges_read(struct object *o)
{
    struct range_reading r = {.o = o};
    struct bytes section = object_section_bytes(o, ".eh_frame", &r.address);
    if (!section.len || o->self.header.e_type == ET_REL)
        return;
    r.bytes = section.at;
    Elf_Data data = {.d_buf = (void *)(uintptr_t)section.at,
                     .d_size = section.len,
                     .d_type = ELF_T_BYTE,
                     .d_version = EV_CURRENT};
    Dwarf_CFI_Entry entry;
    Dwarf_Off at = 0, next = 0;
    while (!dwarf_next_cfi(o->self.header.e_ident, &data, true, at, &next, &entry) && next > at) {
        if (dwarf_cfi_cie_p(&entry))
            vec_push(&r.common, (struct common_entry){at, ranges_encoding(&r, &entry.cie)});
        else
            ranges_take(&r, &entry.fde);
        at = next;
    }
    /* Of entries for one address the longest is kept; a range ends where the next one begins. */
    struct object_range *all = r.all.at;
    size_t len = r.all.len;
    size_t kept = 0;
    if (len)
        qsort(all, len, sizeof *all, ranges_compare);
    o->unwind_ranges = ARENA_NEW(&o->arena, struct object_range, len);
    for (size_t i = 0; i < len; i++) {
        struct object_range *last = kept ? &o->unwind_ranges[kept - 1] : NULL;
        if (last && last->low == all[i].low)
            continue;
        if (last && last->high > all[i].low)
            last->high = all[i].low;
        o->unwind_ranges[kept++] = all[i];
    }
    o->unwind_ranges_len = kept;
    vec_free(&r.common);
    vec_free(&r.all);
}

/* Read on the first call and kept, even if there are none. */
const struct object_range *object_unwind_ranges(struct object *o, size_t *len)
{
    if (!o->unwind_ranges_read) {
        o->unwind_ranges_read = true;
        ranges_read(o);
    }
    *len = o->unwind_ranges_len;
    return o->unwind_ranges;
}
