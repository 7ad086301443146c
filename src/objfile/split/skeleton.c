/* Reads a skeleton's attributes through libdw, of DWARF 5 and as GNU tools wrote them for DWARF 4.
 *
 * Specification: DWARF 5, section 3.1.2. */
#include "objfile/split/skeleton.h"

#include <dwarf.h>

static uint64_t offset_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if ((dwarf_attr(die, name, &attribute) || dwarf_attr(die, gnu_name, &attribute)) &&
        !dwarf_formudata(&attribute, &value))
        return value;
    return 0;
}

static struct bytes from(struct bytes all, uint64_t offset)
{
    if (offset >= all.len)
        return (struct bytes){0};
    return (struct bytes){all.at + offset, all.len - (size_t)offset};
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

bool split_skeleton_read(Dwarf_Die *unit, struct bytes addresses, struct bytes ranges,
                         struct split_skeleton *out)
{
    uint8_t kind = 0;
    uint64_t id = 0;
    if (!unit->cu || dwarf_cu_info(unit->cu, NULL, &kind, NULL, NULL, &id, NULL, NULL) ||
        kind != DW_UT_skeleton)
        return false;
    Dwarf_Addr low;
    const char *name = text_of(unit, DW_AT_dwo_name);
    *out = (struct split_skeleton){
        .id = id,
        .name = name ? name : text_of(unit, DW_AT_GNU_dwo_name),
        .folder = text_of(unit, DW_AT_comp_dir),
        .addresses = from(addresses, offset_of(unit, DW_AT_addr_base, DW_AT_GNU_addr_base)),
        .ranges = from(ranges, offset_of(unit, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base)),
        .low = dwarf_lowpc(unit, &low) ? 0 : low,
    };
    return true;
}
