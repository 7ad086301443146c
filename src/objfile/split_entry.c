/* Reading entries of a split unit: the unit's header, its table of abbreviations, forms.
 *
 *     unit      length  version  [5: kind address_size]  abbreviations  [4: address_size]  [5: id]
 *     abbreviation   code  tag  has_children  { attribute, form }...  0 0
 *     entry          code  the values of the attributes, as long as their forms say
 *
 * A table of abbreviations is read once a unit and ordered by code; then an entry costs its bytes.
 * A unit may ask for thirty-two attributes a byte and no more, because abbreviations can be made
 * that take no bytes of an entry. Expressions, locations and types are passed over. Nothing is
 * followed: an origin is an offset. A form that is not known ends the reading, since what follows
 * it cannot be found. Specification: DWARF 5, section 7.5; DWARF 4 as GCC's "Fission" extends it.
 */
#include "objfile/debug_info.h"

#include "base/bytes.h"
#include "base/sort.h"

#include <dwarf.h>

/* A number of any size that forms have; three bytes are of DWARF 5's strx3 and addrx3. */
static uint64_t entry_take_number(struct cursor *c, uint8_t size)
{
    switch (size) {
    case 1: return cursor_u8(c);
    case 2: return cursor_u16(c);
    case 3: {
        const uint8_t *p = cursor_take(c, 3);
        unsigned first = p ? p[0] : 0, middle = p ? p[1] : 0, last = p ? p[2] : 0;
        return c->big_endian ? first << 16 | middle << 8 | last : last << 16 | middle << 8 | first;
    }
    case 4: return cursor_u32(c);
    default: return cursor_u64(c);
    }
}

/* Sizes are 4 or 8. */
bool split_table_at(struct bytes table, size_t base, uint64_t index, uint8_t size, bool big_endian,
                    uint64_t *out)
{
    if (base > table.len || index >= (table.len - base) / size)
        return false;
    const uint8_t *at = table.at + base + (size_t)index * size;
    *out = size == 4 ? bytes_u32(at, big_endian) : bytes_u64(at, big_endian);
    return true;
}

/* Before DWARF 5 tables begin at once; from then on with a length, whose form says how long it is,
 * and `wanted` bytes more. */
size_t split_table_header(const struct split_unit *u, struct bytes table, size_t wanted)
{
    if (u->version < 5)
        return 0;
    bool is_64 = table.len >= 4 && bytes_u32(table.at, u->big_endian) == UINT32_MAX;
    return wanted + (is_64 ? 12 : 4);
}

/* The cursor's base is the unit's start, so that its offsets are the unit's. */
struct cursor split_cursor(const struct split_unit *u, uint64_t offset)
{
    struct cursor c = cursor_over(u->info, "split unit");
    c.big_endian = u->big_endian;
    c.word = u->address_size;
    c.at = offset < u->info.len ? c.base + offset : c.end;
    return c;
}

/* What is left of a section from an offset on. */
static struct bytes entry_from(struct bytes all, size_t offset)
{
    return offset < all.len ? (struct bytes){all.at + offset, all.len - offset} : (struct bytes){0};
}

/* 32- and 64-bit DWARF of versions 4 and 5, whose headers differ in the order of their fields.
 * Units of types have no functions. */
bool split_unit_open(struct split_unit *u, struct bytes *info, bool big_endian)
{
    struct cursor c = cursor_over(*info, "split unit");
    c.big_endian = u->big_endian = big_endian;
    uint64_t length = cursor_u32(&c);
    u->offset_size = 4;
    if (length == UINT32_MAX) {
        length = cursor_u64(&c);
        u->offset_size = 8;
    }
    if (c.failed || length > cursor_left(&c)) {
        *info = (struct bytes){0};
        return false;
    }
    size_t len = cursor_offset(&c) + (size_t)length;
    u->info = (struct bytes){info->at, len};
    *info = entry_from(*info, len);
    c.end = c.base + len;
    u->version = cursor_u16(&c);
    uint8_t kind = DW_UT_split_compile;
    if (u->version >= 5) { /* which has the kind of unit here, and its id at the end */
        kind = cursor_u8(&c);
        u->address_size = cursor_u8(&c);
    }
    uint64_t table = entry_take_number(&c, u->offset_size);
    if (u->version < 5)
        u->address_size = cursor_u8(&c);
    u->has_id = u->version >= 5 && (kind == DW_UT_split_compile || kind == DW_UT_skeleton);
    u->id = u->has_id ? cursor_u64(&c) : 0;
    u->first = cursor_offset(&c);
    if (c.failed || table > u->abbrevs.len)
        return false;
    u->abbrevs = entry_from(u->abbrevs, (size_t)table);
    return u->version >= 4 && u->version <= 5 && (u->address_size == 4 || u->address_size == 8) &&
           kind == DW_UT_split_compile;
}

/* Only where each list of attributes starts is kept; it is read again with each entry. */
void split_reader_init(struct split_reader *r, const struct split_unit *u)
{
    enum { PER_BYTE = 32, MOST_ABBREVS = 1 << 20 };
    *r = (struct split_reader){.unit = u,
                               .work_left = PER_BYTE * (u->info.len + u->abbrevs.len + 1)};
    struct cursor c = cursor_over(u->abbrevs, "abbreviations");
    while (r->abbrevs.len < MOST_ABBREVS) {
        struct split_abbrev next = {.code = cursor_uleb(&c)};
        if (!next.code)
            break;
        next.tag = cursor_uleb(&c);
        next.has_children = cursor_u8(&c) == DW_CHILDREN_yes;
        next.attributes = cursor_offset(&c);
        for (bool ends = false; !ends && !c.failed;) { /* passes over the list of attributes */
            uint64_t name = cursor_uleb(&c), form = cursor_uleb(&c);
            if (form == DW_FORM_implicit_const)
                cursor_sleb(&c);
            ends = !name && !form;
        }
        if (c.failed)
            break;
        vec_push(&r->abbrevs, next);
    }
    /* By code, as nearly all compilers write them. */
    size_t len = r->abbrevs.len;
    bool is_ordered = true;
    for (size_t i = 1; i < len; i++)
        is_ordered = is_ordered && r->abbrevs.at[i - 1].code < r->abbrevs.at[i].code;
    if (is_ordered)
        return;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct split_abbrev *copy = ARENA_NEW(&scratch, struct split_abbrev, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = r->abbrevs.at[i];
        order[i] = (struct keyed){copy[i].code, (uint32_t)i};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        r->abbrevs.at[i] = copy[order[i].item];
    arena_deinit(&scratch);
}

/* The unit's bytes are its file's. */
void split_reader_deinit(struct split_reader *r)
{
    vec_free(&r->abbrevs);
}

/* An attribute's value: a number, whatever it stands for, or a text; is_known: an index, if it was
 * one, led to it. */
struct value {
    uint64_t number;
    const char *text;
    bool is_constant, is_reference, is_index, is_known;
};

/* A text of the string section, or NULL beyond it. */
static const char *entry_text_at(const struct split_unit *u, uint64_t offset)
{
    return offset < u->strings.len ? (const char *)u->strings.at + offset : NULL;
}

/* How many bytes a form has whose value is a number in the entry itself; 0: it is another. */
static uint8_t entry_number_size(const struct split_unit *u, uint64_t form)
{
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1: return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2: return 2;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4: return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8: return 8;
    case DW_FORM_addr: return u->address_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_ref_addr:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return u->offset_size;
    default: return 0;
    }
}

/* How many bytes an index has: 0 for LEB128; 9: the form is no index. */
static uint8_t entry_index_size(uint64_t form)
{
    switch (form) {
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_GNU_str_index:
    case DW_FORM_GNU_addr_index: return 0;
    case DW_FORM_strx1:
    case DW_FORM_addrx1: return 1;
    case DW_FORM_strx2:
    case DW_FORM_addrx2: return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3: return 3;
    case DW_FORM_strx4:
    case DW_FORM_addrx4: return 4;
    default: return 9;
    }
}

/* References within the unit, and constants, are distinguished by form alone. */
static void entry_classify(uint64_t form, struct value *v)
{
    switch (form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata: v->is_reference = true; return;
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const: v->is_constant = true; return;
    default: return;
    }
}

/* Forms of a length of their own. False: the form is not known, so that what follows is not. */
static bool entry_read_other(struct cursor *c, uint64_t form, struct value *v)
{
    switch (form) {
    case DW_FORM_string: {
        const uint8_t *end = memchr(c->at, 0, cursor_left(c));
        v->text = (const char *)cursor_take(c, end ? (size_t)(end - c->at) + 1 : SIZE_MAX);
        return true;
    }
    case DW_FORM_udata:
    case DW_FORM_ref_udata: v->number = cursor_uleb(c); return true;
    case DW_FORM_sdata: v->number = (uint64_t)cursor_sleb(c); return true;
    case DW_FORM_loclistx: cursor_uleb(c); return true;
    case DW_FORM_rnglistx:
        v->number = cursor_uleb(c);
        v->is_index = true;
        return true;
    case DW_FORM_flag_present: v->number = 1; return true;
    case DW_FORM_data16: cursor_take(c, 16); return true;
    case DW_FORM_block1: cursor_take(c, cursor_u8(c)); return true;
    case DW_FORM_block2: cursor_take(c, cursor_u16(c)); return true;
    case DW_FORM_block4: cursor_take(c, cursor_u32(c)); return true;
    case DW_FORM_block:
    case DW_FORM_exprloc: cursor_take(c, (size_t)cursor_uleb(c)); return true;
    default: return false;
    }
}

/* The value of an attribute: a number in the entry, an index into a table, or of a length of its
 * own. */
static bool entry_read_value(const struct split_unit *u, struct cursor *c, uint64_t form,
                             struct value *v)
{
    uint8_t size = entry_number_size(u, form), index = entry_index_size(form);
    v->is_known = true;
    entry_classify(form, v);
    if (size) {
        v->number = entry_take_number(c, size);
        if (form == DW_FORM_strp)
            v->text = entry_text_at(u, v->number);
        return !c->failed;
    }
    if (index == 9)
        return entry_read_other(c, form, v) && !c->failed;
    uint64_t which = index ? entry_take_number(c, index) : cursor_uleb(c);
    if (form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
        (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4)) {
        v->is_known =
            split_table_at(u->addresses, 0, which, u->address_size, u->big_endian, &v->number);
        return !c->failed;
    }
    size_t base = split_table_header(u, u->string_offsets, 4);
    uint64_t offset;
    v->is_known =
        split_table_at(u->string_offsets, base, which, u->offset_size, u->big_endian, &offset);
    v->text = v->is_known ? entry_text_at(u, offset) : NULL;
    return !c->failed;
}

/* What a function is described by. */
static void entry_keep(struct split_entry *e, uint64_t name, uint64_t form, const struct value *v)
{
    uint32_t number = v->number <= UINT32_MAX ? (uint32_t)v->number : 0;
    switch (name) {
    case DW_AT_name: e->name = v->text; return;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name: e->linkage_name = v->text; return;
    case DW_AT_abstract_origin:
    case DW_AT_specification: e->origin = v->is_reference ? v->number : 0; return;
    case DW_AT_sibling: e->sibling = v->is_reference ? v->number : 0; return;
    case DW_AT_call_file: e->call_file = number; return;
    case DW_AT_call_line: e->call_line = number; return;
    case ATTRIBUTE_GNU_DISCRIMINATOR: e->call_discriminator = number; return;
    case DW_AT_decl_line: e->declared = number; return;
    case DW_AT_language: e->language = number; return;
    case DW_AT_GNU_dwo_id:
        e->id = v->number;
        e->has_id = v->is_constant;
        return;
    case DW_AT_low_pc:
        e->low = v->is_known ? v->number : e->low;
        e->has_low |= v->is_known;
        return;
    case DW_AT_high_pc:
        e->high = v->is_known ? v->number : e->high;
        e->has_high |= v->is_known;
        e->high_is_size = v->is_known ? v->is_constant : e->high_is_size;
        return;
    case DW_AT_ranges:
        e->ranges = v->number;
        e->has_ranges = form == DW_FORM_sec_offset || v->is_constant || v->is_index;
        e->ranges_is_index = v->is_index;
        return;
    default: return;
    }
}

/* The values stand in the order of the abbreviation's list; each is read, and mostly dropped. */
bool split_entry_read(struct split_reader *r, struct cursor *c, struct split_entry *out)
{
    *out = (struct split_entry){0};
    if (c->failed || !cursor_left(c))
        return false;
    out->code = cursor_uleb(c);
    if (!out->code)
        return !c->failed;
    size_t index = PARTITION_POINT(r->abbrevs.len, i, r->abbrevs.at[i].code < out->code);
    if (index == r->abbrevs.len || r->abbrevs.at[index].code != out->code)
        return false;
    const struct split_abbrev *kind = &r->abbrevs.at[index];
    out->tag = kind->tag;
    out->has_children = kind->has_children;
    struct cursor list = cursor_over(r->unit->abbrevs, "abbreviations");
    cursor_take(&list, kind->attributes);
    for (;;) {
        uint64_t name = cursor_uleb(&list), form = cursor_uleb(&list);
        struct value v = {0};
        if (!name && !form)
            return true;
        if (!r->work_left)
            return false;
        r->work_left--;
        if (form == DW_FORM_indirect)
            form = cursor_uleb(c);
        bool ok = true;
        if (form == DW_FORM_implicit_const) { /* stands in the list, not in the entry */
            v = (struct value){.number = (uint64_t)cursor_sleb(&list), .is_known = true};
            entry_classify(form, &v);
        } else {
            ok = entry_read_value(r->unit, c, form, &v);
        }
        if (!ok || list.failed)
            return false;
        entry_keep(out, name, form, &v);
    }
}
