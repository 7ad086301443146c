/* Range lists: those of DWARF 5 are in the split file, those of DWARF 4 in the program.
 *
 * Specification: DWARF 5, section 7.25; DWARF 4, section 2.17.3. */
#include "objfile/split/ranges.h"

#include "base/leb.h"

#include <dwarf.h>

/* An index counts in the table behind the header, and what stands there counts from it. */
static bool offset_of_index(const struct split_unit *u, uint64_t index, uint64_t *offset)
{
    size_t base = split_table_header(u, u->lists, 8);
    if (!split_table_at(u->lists, base, index, u->offset_size, u->big_endian, offset))
        return false;
    return !__builtin_add_overflow(*offset, base, offset);
}

bool split_ranges_start(struct split_ranges *r, const struct split_unit *u,
                        const struct split_entry *e)
{
    struct bytes all = u->version >= 5 ? u->lists : u->ranges;
    uint64_t offset = e->ranges;
    if (!e->has_ranges || (e->ranges_is_index && !offset_of_index(u, e->ranges, &offset)) ||
        offset >= all.len)
        return false;
    *r = (struct split_ranges){.unit = u, .base = u->low, .list = cursor_over(all, "ranges")};
    r->list.big_endian = u->big_endian;
    r->list.word = u->address_size;
    cursor_take(&r->list, (size_t)offset);
    return true;
}

static bool address_at(const struct split_unit *u, uint64_t index, uint64_t *address)
{
    return split_table_at(u->addresses, 0, index, u->address_size, u->big_endian, address);
}

/* Pairs: (0, 0) ends, the greatest address says what others are relative to. */
static bool next_pair(struct split_ranges *r, uint64_t *low, uint64_t *high)
{
    uint64_t marker = r->unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
    for (;;) {
        *low = cursor_word(&r->list);
        *high = cursor_word(&r->list);
        if (r->list.failed || (!*low && !*high))
            return false;
        if (*low != marker)
            break;
        r->base = *high;
    }
    *low += r->base;
    *high += r->base;
    return true;
}

/* One entry of DWARF 5: 1: it is a range; 0: it is none; -1: the list ends. */
static int next_entry(struct split_ranges *r, uint64_t *low, uint64_t *high)
{
    struct cursor *c = &r->list;
    const struct split_unit *u = r->unit;
    switch (cursor_u8(c)) {
    case DW_RLE_base_addressx: return address_at(u, cursor_uleb(c), &r->base) ? 0 : -1;
    case DW_RLE_startx_endx:
        return address_at(u, cursor_uleb(c), low) && address_at(u, cursor_uleb(c), high) ? 1 : -1;
    case DW_RLE_startx_length:
        if (!address_at(u, cursor_uleb(c), low))
            return -1;
        *high = *low + cursor_uleb(c);
        return 1;
    case DW_RLE_offset_pair:
        *low = r->base + cursor_uleb(c);
        *high = r->base + cursor_uleb(c);
        return 1;
    case DW_RLE_base_address: r->base = cursor_word(c); return 0;
    case DW_RLE_start_end:
        *low = cursor_word(c);
        *high = cursor_word(c);
        return 1;
    case DW_RLE_start_length:
        *low = cursor_word(c);
        *high = *low + cursor_uleb(c);
        return 1;
    default: return -1;
    }
}

bool split_ranges_next(struct split_ranges *r, uint64_t *low, uint64_t *high)
{
    if (r->unit->version < 5)
        return next_pair(r, low, high);
    int found;
    do
        found = next_entry(r, low, high);
    while (!found && !r->list.failed);
    return found > 0 && !r->list.failed;
}
