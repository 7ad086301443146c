/* Whose function it is, where debug information has a C++ function under its bare name alone.
 *
 * gcc gives a linkage name to functions that another unit could call. A lambda cannot be, nor can
 * an instance of a template for a lambda: `operator()` and `__unguarded_partition<...>` is all that
 * such entries say, and a program has many of either. What encloses the entry says the rest:
 *
 *     DW_TAG_subprogram main
 *       DW_TAG_structure_type                         the first lambda there
 *         DW_TAG_subprogram <lambda>                  or ~<lambda>: known by that
 *         DW_TAG_subprogram operator()                main::{lambda#1}::operator()
 *       DW_TAG_structure_type                         the second one
 *         DW_TAG_subprogram operator()                main::{lambda#2}::operator()
 *     DW_TAG_namespace std
 *       DW_TAG_subprogram __unguarded_partition<...>  std::__unguarded_partition<...>
 *
 * which is how the demangler writes names of functions that have a linkage name, but for the
 * parameters. Lambdas count within what they stand in, in the order of their entries.
 *
 * Cost: one pass over the unit's entries when the first such name is needed, and 16 bytes for each
 * namespace, class and function in it. Entries deeper than DEEPEST have no owner. */
#include "objfile/debug_info.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 200, MOST_OWNERS = 16, NO_OWNER = UINT32_MAX };

static bool owners_is_context(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram: return true;
    default: return false;
    }
}

/* Only the offsets are kept: libdw makes an entry of one at once. */
static void owners_walk(struct owners *o, Dwarf_Die *unit)
{
    static const char lambda[] = "<lambda";
    Dwarf_Die path[DEEPEST];
    uint32_t parent[DEEPEST], depth = 0;
    parent[0] = NO_OWNER;
    if (dwarf_child(unit, &path[0]))
        return;
    for (;;) {
        int tag = dwarf_tag(&path[depth]);
        uint32_t inner = parent[depth];
        if (owners_is_context(tag)) {
            const char *name = dwarf_diename(&path[depth]);
            struct owner *around = inner == NO_OWNER ? NULL : &o->contexts.at[inner];
            bool is_lambdas = name && !strncmp(name + (*name == '~'), lambda, sizeof lambda - 1);
            if (is_lambdas && tag == DW_TAG_subprogram && around && !around->lambda)
                around->lambda =
                    around->parent == NO_OWNER ? 1 : ++o->contexts.at[around->parent].lambdas;
            map_set(&o->of, map_pointer(path[depth].addr), 0, o->contexts.len);
            vec_push(&o->contexts, (struct owner){dwarf_dieoffset(&path[depth]), inner, 0, 0});
            inner = (uint32_t)o->contexts.len - 1;
        }
        if (depth + 1 < DEEPEST && !dwarf_child(&path[depth], &path[depth + 1])) {
            parent[++depth] = inner;
            continue;
        }
        while (dwarf_siblingof(&path[depth], &path[depth]))
            if (!depth--)
                return;
    }
}

/* The linkage name of an entry, or of what it is an instance of or declared by. */
static const char *owners_linkage(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
        !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return NULL;
    return dwarf_formstring(&attribute);
}

/* What stands before the `::`. NULL: it has no name to go by, and what is around it no place. */
static const char *owners_part(const struct owner *owner, Dwarf_Die *die, struct arena *a)
{
    const char *name = dwarf_diename(die);
    if (owner->lambda)
        return arena_printf(a, "{lambda#%" PRIu32 "}", owner->lambda);
    return !name && dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : name;
}

/* What an entry is an instance of, or declared by: there it stands in its class. */
static Dwarf_Die owners_origin(const Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < MOST_OWNERS; i++) {
        Dwarf_Attribute by;
        Dwarf_Die next;
        if ((!dwarf_attr(&at, DW_AT_abstract_origin, &by) &&
             !dwarf_attr(&at, DW_AT_specification, &by)) ||
            !dwarf_formref_die(&by, &next))
            break;
        at = next;
    }
    return at;
}

/* From the inside to the outside, up to a function whose linkage name has all that is around it. */
const char *owners_name(struct owners *o, Dwarf_Die *die, const char *name, struct arena *a)
{
    Dwarf_Die unit, origin = owners_origin(die);
    if (!o->is_read && dwarf_diecu(die, &unit, NULL, NULL))
        owners_walk(o, &unit);
    o->is_read = true;
    uint32_t *found = map_find(&o->of, map_pointer(origin.addr), 0);
    uint32_t at = found ? o->contexts.at[*found].parent : NO_OWNER;
    for (int i = 0; i < MOST_OWNERS && at != NO_OWNER; i++) {
        const struct owner *owner = &o->contexts.at[at];
        Dwarf_Die entry;
        if (!dwarf_offdie(dwarf_cu_getdwarf(die->cu), owner->offset, &entry))
            break;
        const char *linkage =
            dwarf_tag(&entry) == DW_TAG_subprogram ? owners_linkage(&entry) : NULL;
        char *demangled = linkage ? demangle(linkage, NULL) : NULL;
        const char *part = demangled ? demangled : owners_part(owner, &entry, a);
        if (part)
            name = arena_printf(a, "%s::%s", part, name);
        free(demangled);
        if (!part || demangled)
            break;
        at = owner->parent;
    }
    return name;
}

void owners_deinit(struct owners *o)
{
    vec_free(&o->contexts);
    map_deinit(&o->of);
}
