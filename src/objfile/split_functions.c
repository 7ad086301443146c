/* The functions of a split unit, as those of other units: its entries are walked, and the ranges of
 * functions become spans.
 *
 * The rules are those of scopes.c: types outside of functions are not descended into, nor entries
 * nested too deeply, and ranges that touch are joined. Names are read at once, because entries
 * cannot be gone back to as cheaply as libdw does it.
 *
 * Range lists of DWARF 5 are in the split file, or, as gcc 10 wrote them, in the program, and each
 * entry of one says what it is; those of DWARF 4 are in the program, pairs of addresses.
 * Specification: DWARF 5, sections 3.3, 3.4 and 7.25; DWARF 4, section 2.17.3. */
#include "objfile/debug_info.h"

#include "base/bytes.h"

#include <dwarf.h>

/* --- ranges ----------------------------------------------------------------------------------- */

/* One list being read. */
struct split_ranges {
    const struct split_unit *unit;
    struct cursor list;
    uint64_t base;
};

/* The ranges of an entry that has some; false where there are none to read. */
static bool ranges_start(struct split_ranges *r, const struct split_unit *u,
                         const struct split_entry *e)
{
    bool in_program = u->version < 5 || (!u->lists.len && e->ranges_is_index);
    struct bytes all = in_program ? u->ranges : u->lists;
    uint64_t offset = e->ranges;
    if (!e->has_ranges)
        return false;
    if (e->ranges_is_index) {
        /* It counts in the table after the header; the entries there count from the table, too. The
         * unit says where the program's begin. */
        size_t base = in_program ? 0 : split_table_header(u, all, 8);
        if (!split_table_at(all, base, e->ranges, u->offset_size, u->big_endian, &offset) ||
            __builtin_add_overflow(offset, base, &offset))
            return false;
    }
    if (offset >= all.len)
        return false;
    *r = (struct split_ranges){.unit = u, .base = u->low, .list = cursor_over(all, "ranges")};
    r->list.big_endian = u->big_endian;
    r->list.word = u->address_size;
    cursor_take(&r->list, (size_t)offset);
    return true;
}

/* An address by its index in the program's .debug_addr. */
static bool address_at(const struct split_unit *u, uint64_t index, uint64_t *address)
{
    return split_table_at(u->addresses, 0, index, u->address_size, u->big_endian, address);
}

/* One entry of DWARF 5: 1: it is a range; 0: it is not; -1: the list ends. */
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

/* The next one, empty ones included; false at the end. */
static bool ranges_next(struct split_ranges *r, uint64_t *low, uint64_t *high)
{
    if (r->unit->version < 5) {
        /* Pairs: (0, 0) ends, the greatest address says what others are relative to. */
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
    int found;
    do
        found = next_entry(r, low, high);
    while (!found && !r->list.failed);
    return found > 0 && !r->list.failed;
}

/* --- functions -------------------------------------------------------------------------------- */

enum { DEEPEST = 200 };

/* The walk over the entries of one unit. `depth` is that of the entry that is read next. */
struct function_walk {
    struct split_reader reader;
    struct scopes *out;
    struct scope_spans spans;
    size_t depth, hidden_from; /* entries at that depth and deeper are passed over; 0: none are */
    uint32_t parents[DEEPEST]; /* the function with code that entries at a depth stand in */
    bool in_function[DEEPEST]; /* whether they stand in one, with code or without */
};

/* All ranges of an entry, as spans of the scope that it will be. */
static void add_ranges(struct function_walk *w, const struct split_entry *e, uint32_t number)
{
    enum { MOST_RANGES = 4096 };
    size_t first = w->spans.len;
    uint64_t low, high;
    if (!e->has_ranges) {
        high = e->high_is_size ? e->low + e->high : e->high;
        if (e->has_low && e->has_high)
            scope_spans_add(&w->spans, first, e->low, high, number);
        return;
    }
    struct split_ranges ranges;
    if (!ranges_start(&ranges, w->reader.unit, e))
        return;
    for (int i = 0; i < MOST_RANGES && ranges_next(&ranges, &low, &high); i++)
        scope_spans_add(&w->spans, first, low, high, number);
}

/* The function's number; `parent` where the entry has no code. */
static uint32_t add_scope(struct function_walk *w, const struct split_entry *e, uint32_t parent)
{
    enum { MOST_HOPS = 16 };
    uint32_t number = (uint32_t)w->out->scopes.len;
    size_t first = w->spans.len;
    if (number != NO_SCOPE)
        add_ranges(w, e, number);
    if (w->spans.len == first)
        return parent;
    struct scope scope = {.low = w->spans.at[first].low,
                          .parent = parent,
                          .is_inlined = e->tag == DW_TAG_inlined_subroutine,
                          .call_file = e->call_file,
                          .call_line = e->call_line,
                          .call_discriminator = e->call_discriminator,
                          .declared = e->declared};
    /* Its names, or those of what it is an instance of. */
    const char *linkage_name = e->linkage_name, *name = e->name;
    uint64_t origin = e->origin;
    for (int i = 0; origin && (!linkage_name || !scope.declared) && i < MOST_HOPS; i++) {
        struct cursor c = split_cursor(w->reader.unit, origin);
        struct split_entry next;
        if (!split_entry_read(&w->reader, &c, &next))
            break;
        linkage_name = linkage_name ? linkage_name : next.linkage_name;
        scope.declared = scope.declared ? scope.declared : next.declared;
        name = name ? name : next.name;
        origin = next.origin;
    }
    scope.name = linkage_name ? linkage_name : name;
    scope.is_linkage = linkage_name || w->out->has_plain_names;
    scope.is_named = true;
    vec_push(&w->out->scopes, scope);
    return number;
}

/* Depth first, in the order of the file. */
static void walk_entries(struct function_walk *w, struct cursor *c)
{
    struct split_entry e;
    w->parents[1] = NO_SCOPE;
    w->in_function[1] = false;
    w->depth = 1;
    while (w->depth && split_entry_read(&w->reader, c, &e)) {
        if (!e.code) {
            w->depth--;
            if (w->depth < w->hidden_from)
                w->hidden_from = 0;
            continue;
        }
        if (w->hidden_from) {
            w->depth += e.has_children;
            continue;
        }
        uint32_t scope = w->parents[w->depth];
        bool is_in_function = w->in_function[w->depth];
        bool is_function = e.tag == DW_TAG_subprogram || e.tag == DW_TAG_inlined_subroutine ||
                           e.tag == DW_TAG_entry_point;
        if (is_function)
            scope = add_scope(w, &e, scope);
        if (!e.has_children)
            continue;
        /* Goes below the entry, or past all that is below it. */
        bool is_hidden =
            w->depth + 1 >= DEEPEST ||
            (e.tag <= INT32_MAX && !scope_may_hold_functions((int)e.tag, is_in_function));
        if (is_hidden && e.sibling > cursor_offset(c)) {
            *c = split_cursor(w->reader.unit, e.sibling);
            continue;
        }
        w->depth++;
        if (is_hidden) {
            w->hidden_from = w->depth;
            continue;
        }
        w->parents[w->depth] = scope;
        w->in_function[w->depth] = is_in_function || is_function;
    }
}

/* The first entry is the unit itself, which says its language. */
void split_scopes_init(struct scopes *s, const struct split_unit *u)
{
    *s = (struct scopes){0};
    struct function_walk w = {.out = s};
    split_reader_init(&w.reader, u);
    struct cursor c = split_cursor(u, u->first);
    struct split_entry whole;
    if (split_entry_read(&w.reader, &c, &whole) && whole.has_children) {
        s->has_plain_names = scope_has_plain_names((int)whole.language);
        walk_entries(&w, &c);
    }
    interval_map_init(&s->cover, w.spans.at, w.spans.len);
    vec_free(&w.spans);
    split_reader_deinit(&w.reader);
}

/* In the header from DWARF 5 on; before, the first entry has it. */
bool split_unit_id(const struct split_unit *u, uint64_t *id)
{
    struct split_entry whole = {.id = u->id, .has_id = u->has_id};
    if (!whole.has_id) {
        struct split_reader r;
        split_reader_init(&r, u);
        struct cursor c = split_cursor(u, u->first);
        whole.has_id = split_entry_read(&r, &c, &whole) && whole.has_id;
        split_reader_deinit(&r);
    }
    *id = whole.id;
    return whole.has_id;
}
