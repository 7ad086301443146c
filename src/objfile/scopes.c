/* The functions of one unit, read through libdw, and flattened: which of them an address is in.
 *
 * Entries are walked depth first. Each function that has code becomes a scope with its parent, and
 * each of its ranges a span; the smallest span around an address is the innermost function
 * (interval_map.c). Names are read when they are asked for, since most never are.
 *
 * Leaves out everything that is no code: types are not descended into. Entries nested deeper than
 * DEEPEST are not looked at, since finding one's sibling may mean reading all that is below it.
 *
 *     DW_TAG_subprogram f              scope 0, parent none       spans of f's ranges
 *       DW_TAG_lexical_block           (no scope of its own)
 *         DW_TAG_inlined_subroutine g  scope 1, parent 0          a span within f's
 *     DW_TAG_structure_type            not descended into
 *
 * Cost: one pass over the unit's entries, and a sort of the spans.
 *
 * Specification: DWARF 5, sections 3.3 and 3.4; where ranges touch or contradict each other, BFD.
 */
#include "objfile/debug_info.h"

#include <dwarf.h>

enum { DEEPEST = 200 };

/* Entries on the way down, and the function each stands in. */
struct level {
    Dwarf_Die die;
    uint32_t parent;
};

/* The walk over one unit. */
struct reader {
    struct scopes *out;
    bool as_bfd;
    struct scope_spans spans;
    struct level path[DEEPEST];
};

void scope_spans_add(struct scope_spans *spans, size_t first, uint64_t low, uint64_t high,
                     uint32_t scope)
{
    if (low >= high)
        return;
    for (size_t i = first; i < spans->len; i++) {
        struct span *s = &spans->at[i];
        if (low != s->high && high != s->low)
            continue;
        s->high = low == s->high ? high : s->high;
        s->low = high == s->low ? low : s->low;
        s->rank = s->high - s->low;
        return;
    }
    vec_push(spans, (struct span){low, high, high - low, scope});
}

/* All ranges of an entry. Entries with thousands are damaged, or made to waste time. */
static void scopes_add_ranges(struct reader *r, Dwarf_Die *die, uint32_t scope)
{
    enum { MOST_RANGES = 4096 };
    Dwarf_Attribute by_index;
    if (r->as_bfd && dwarf_attr(die, DW_AT_ranges, &by_index) &&
        dwarf_whatform(&by_index) == DW_FORM_rnglistx)
        return;
    size_t first = r->spans.len;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    for (int i = 0; i < MOST_RANGES; i++) {
        next = dwarf_ranges(die, next, &base, &low, &high);
        if (next <= 0)
            return;
        scope_spans_add(&r->spans, first, low, high, scope);
    }
}

/* The function's number; `parent` where the entry has no code. */
static uint32_t scopes_add_scope(struct reader *r, Dwarf_Die *die, int tag, uint32_t parent)
{
    uint32_t number = (uint32_t)r->out->scopes.len;
    size_t first = r->spans.len;
    if (number != NO_SCOPE)
        scopes_add_ranges(r, die, number);
    if (r->spans.len == first)
        return parent;
    vec_push(&r->out->scopes, (struct scope){.die = *die,
                                             .low = r->spans.at[first].low,
                                             .parent = parent,
                                             .is_inlined = tag == DW_TAG_inlined_subroutine});
    return number;
}

bool scope_may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_array_type:
    case DW_TAG_class_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
    case DW_TAG_structure_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_union_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site: return false;
    default: return true;
    }
}

/* Depth first, without recursion. */
static void scopes_walk(struct reader *r, Dwarf_Die *unit)
{
    size_t depth = 0;
    r->path[0].parent = NO_SCOPE;
    if (dwarf_child(unit, &r->path[0].die))
        return;
    for (;;) {
        struct level *here = &r->path[depth];
        int tag = dwarf_tag(&here->die);
        bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
                           tag == DW_TAG_entry_point;
        uint32_t scope =
            is_function ? scopes_add_scope(r, &here->die, tag, here->parent) : here->parent;
        struct level *below = here + 1;
        if (depth + 1 < DEEPEST && scope_may_hold_functions(tag) &&
            !dwarf_child(&here->die, &below->die)) {
            below->parent = scope;
            depth++;
            continue;
        }
        while (dwarf_siblingof(&r->path[depth].die, &r->path[depth].die))
            if (!depth--)
                return;
    }
}

bool scope_has_plain_names(int language)
{
    switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Cobol74:
    case DW_LANG_Cobol85:
    case DW_LANG_Fortran77:
    case DW_LANG_Pascal83:
    case DW_LANG_PLI:
    case DW_LANG_UPC:
    case DW_LANG_Mips_Assembler: return true;
    default: return false;
    }
}

/* Spans are needed for the map alone and freed after it. */
void scopes_init(struct scopes *s, Dwarf_Die *unit, bool as_bfd)
{
    *s = (struct scopes){0};
    s->has_plain_names = scope_has_plain_names(dwarf_srclang(unit));
    struct reader r = {.out = s, .as_bfd = as_bfd};
    scopes_walk(&r, unit);
    interval_map_init(&s->cover, r.spans.at, r.spans.len);
    vec_free(&r.spans);
}

void scopes_deinit(struct scopes *s)
{
    vec_free(&s->scopes);
    interval_map_deinit(&s->cover);
}

/* Of the entry, or of what it is an instance of. */
static const char *scopes_string_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dwarf_attr_integrate(die, attribute, &found) ? dwarf_formstring(&found) : NULL;
}

/* A linkage name, by either attribute, else the name in the source, which is a linkage name too in
 * languages that do not mangle. */
const char *scope_name(struct scopes *s, uint32_t scope)
{
    struct scope *wanted = &s->scopes.at[scope];
    if (wanted->is_named)
        return wanted->name;
    wanted->is_named = true;
    wanted->is_linkage = true;
    wanted->name = scopes_string_of(&wanted->die, DW_AT_linkage_name);
    if (!wanted->name)
        wanted->name = scopes_string_of(&wanted->die, DW_AT_MIPS_linkage_name);
    if (wanted->name)
        return wanted->name;
    wanted->is_linkage = s->has_plain_names;
    wanted->name = scopes_string_of(&wanted->die, DW_AT_name);
    return wanted->name;
}

/* A number of the entry itself; 0: it has none, or one that is too large. */
static uint32_t scopes_number_of(Dwarf_Die die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word value;
    if (!dwarf_attr(&die, attribute, &found) || dwarf_formudata(&found, &value) ||
        value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

bool scope_call(const struct scopes *s, uint32_t scope, uint32_t *file, uint32_t *line)
{
    const struct scope *inlined = &s->scopes.at[scope];
    bool is_split = !inlined->die.cu;
    *file = is_split ? inlined->call_file : scopes_number_of(inlined->die, DW_AT_call_file);
    *line = is_split ? inlined->call_line : scopes_number_of(inlined->die, DW_AT_call_line);
    return inlined->is_inlined && *line;
}
