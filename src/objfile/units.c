/* Units of debug information: an index by address, and what is read of one when an address falls
 * into it, its line table and its functions.
 *
 * The index has the ranges that the units' first entries give, by their starts; `reach` is the
 * greatest end so far, so that a search backwards from an address knows where to stop although
 * ranges overlap. libdw reads first entries for it, and nothing below them.
 *
 * Tables and functions are kept until there is too much of them, then forgotten all at once.
 * Callers mostly ask in the order of addresses, so they are not missed; where they are, twice as
 * much is kept from then on, so that reading again never costs more than reading did.
 *
 * Relocatable files have no addresses yet, so they have no index. Bounds: as many ranges as there
 * are bytes that can hold them, and eight times the line section as programs to decode, since units
 * may share one. Specification: DWARF 5, sections 2.17, 3.1 and 7.5. */
#include "objfile/debug_info.h"

#include "base/sort.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* --- the index -------------------------------------------------------------------------------- */

/* Up to its last NUL, so that every text ends. */
static struct bytes units_debug_strings(struct image *image, const char *name)
{
    struct bytes strings = image_debug_section(image, name);
    while (strings.len && strings.at[strings.len - 1])
        strings.len--;
    return strings;
}

/* False when there are more than any honest file has. */
static bool units_add_range(struct units *u, uint64_t low, uint64_t high, uint32_t unit)
{
    if (low < high)
        vec_push(&u->ranges, (struct unit_range){.low = low, .high = high, .unit = unit});
    return u->ranges.len < u->ranges_most;
}

/* Decodes the table, which costs what its rows do. */
static void units_add_table_ranges(struct units *u, uint32_t unit)
{
    const struct line_table *t = unit_table(u, unit);
    for (size_t i = 0; i < t->sequences.len; i++)
        if (!units_add_range(u, t->sequences.at[i].low, t->sequences.at[i].high, unit))
            return;
}

/* A unit without a line table holds nothing needed here. */
static void units_add_unit(struct units *u, Dwarf_Die *die)
{
    struct unit unit = {.die = *die};
    Dwarf_Attribute attribute;
    Dwarf_Word program;
    if (!dwarf_attr(die, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &program))
        return;
    unit.program = program;
    if (dwarf_attr(die, DW_AT_comp_dir, &attribute))
        unit.comp_dir = dwarf_formstring(&attribute);
    vec_push(&u->units, unit);
    /* Ranges from the unit's entry, else from its line table. */
    uint32_t number = (uint32_t)(u->units.len - 1);
    size_t before = u->ranges.len;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0)
        if (!units_add_range(u, low, high, number))
            return;
    if (u->ranges.len == before)
        units_add_table_ranges(u, number);
}

/* Where a file has line tables but no units (.debug_info was removed, or an assembler wrote none),
 * each table counts as a unit without functions. BFD sees none of them. */
static void units_index_bare_tables(struct units *u)
{
    struct cursor c = cursor_over(u->sections.line, ".debug_line");
    c.big_endian = u->sections.big_endian;
    while (cursor_left(&c) && u->ranges.len < u->ranges_most) {
        uint64_t program = cursor_offset(&c), length = cursor_u32(&c);
        if (length == 0xffffffff)
            length = cursor_u64(&c);
        if (c.failed || length > cursor_left(&c))
            return;
        cursor_take(&c, (size_t)length);
        vec_push(&u->units, (struct unit){.program = program});
        units_add_table_ranges(u, (uint32_t)(u->units.len - 1));
    }
}

/* Sets the bounds, then asks libdw for one unit after the other. rows_most and scopes_most are
 * where forgetting starts: a quarter of a million each, which is a few megabytes. Limits of ranges
 * and programs are in the head of this file. */
static void units_index_units(struct units *u, struct image *image)
{
    enum { MOST_UNITS = 1 << 30 };
    u->rows_most = u->scopes_most = 1 << 18;
    u->program_bytes_left = 8 * u->sections.line.len;
    u->ranges_most = image_debug_section(image, "debug_ranges").len +
                     image_debug_section(image, "debug_rnglists").len +
                     image_debug_section(image, "debug_info").len + u->sections.line.len;
    u->ranges_most = u->ranges_most < MOST_UNITS ? u->ranges_most : MOST_UNITS;
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;
    while (u->units.len < MOST_UNITS &&
           !dwarf_get_units(u->dwarf, unit, &unit, &version, &type, &die, NULL))
        if (type != DW_UT_type && type != DW_UT_split_type)
            units_add_unit(u, &die);
    if (!u->units.len && !u->sections.bfd_version)
        units_index_bare_tables(u);
    /* By start, stable: of two at one address, the unit that comes first in the file stays first.
     */
    size_t len = u->ranges.len;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct unit_range *copy = ARENA_NEW(&scratch, struct unit_range, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = u->ranges.at[i];
        order[i] = (struct keyed){copy[i].low, (uint32_t)i};
    }
    sort_keyed(order, len);
    uint64_t reach = 0;
    for (size_t i = 0; i < len; i++) {
        struct unit_range *r = &u->ranges.at[i];
        *r = copy[order[i].item];
        reach = r->high > reach ? r->high : reach;
        r->reach = reach;
    }
    arena_deinit(&scratch);
}

/* Debug information is that of the program or of its debug file, never of both. An object without
 * any has empty units. */
static struct units *units_new(struct object *o)
{
    static const char *const NAMES[] = {"debug_info", "debug_abbrev", "debug_line", "debug_str",
                                        "debug_line_str"};
    struct units *u = calloc(1, sizeof *u);
    if (!u)
        memory_exhausted(sizeof *u);
    struct image *image = NULL;
    if (o->self.header.e_type == ET_REL)
        return u;
    if (image_has_debug_info(&o->self))
        image = &o->self;
    else if (image_has_debug_info(debug_file(o)))
        image = &o->debug;
    else
        return u;
    image_unpack_all(image);
    u->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
    if (!u->dwarf) {
        /* libdw takes a section that it cannot unpack for no debug information at all: unpacking
         * has the image learn why. */
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
            (void)image_debug_section(image, NAMES[i]);
        return u;
    }
    u->sections = (struct line_sections){.line = image_debug_section(image, "debug_line"),
                                         .line_str = units_debug_strings(image, "debug_line_str"),
                                         .str = units_debug_strings(image, "debug_str"),
                                         .big_endian = image_is_big_endian(image),
                                         .bfd_version = o->bfd_version};
    u->addresses = image_debug_section(image, "debug_addr");
    u->address_ranges = image_debug_section(image, "debug_ranges");
    u->range_lists = image_debug_section(image, "debug_rnglists");
    u->object = o;
    units_index_units(u, image);
    return u;
}

/* Never NULL, so that callers need no case for objects without debug information. */
struct units *units_of(struct object *o)
{
    if (!o->units)
        o->units = units_new(o);
    return o->units;
}

/* Tables and scopes, whether or not they are decoded, and libdw's handle last. */
void units_free(struct units *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->tables.len; i++)
        line_table_deinit(&u->tables.at[i]);
    for (size_t i = 0; i < u->spare.len; i++)
        vec_free(&u->spare.at[i]);
    vec_free(&u->spare);
    for (size_t i = 0; i < u->units.len; i++)
        scopes_deinit(&u->units.at[i].scopes);
    vec_free(&u->tables);
    vec_free(&u->ranges);
    vec_free(&u->units);
    interval_map_deinit(&u->cover);
    map_deinit(&u->table_of);
    dwarf_end(u->dwarf);
    free(u);
}

/* Goes back from the last range that starts at or below the address, as long as one before it
 * reaches beyond. */
uint32_t unit_around(const struct units *u, uint64_t address, uint32_t from)
{
    uint32_t first = NO_UNIT;
    size_t i = PARTITION_POINT(u->ranges.len, k, u->ranges.at[k].low <= address);
    for (; i && u->ranges.at[i - 1].reach > address; i--) {
        const struct unit_range *r = &u->ranges.at[i - 1];
        if (r->high > address && r->unit >= from && r->unit < first)
            first = r->unit;
    }
    return first;
}

/* Units overlap only where link-time optimisation or a linker muddled them: no more than a few are
 * asked. */
uint32_t units_find(struct units *u, uint64_t address, struct line_table **table,
                    const struct line_row **row)
{
    enum { MOST_TRIES = 16 };
    uint32_t unit = 0;
    for (int tries = 0; tries < MOST_TRIES; tries++, unit++) {
        unit = unit_around(u, address, unit);
        if (unit == NO_UNIT)
            break;
        *table = unit_table(u, unit);
        *row = line_table_find(*table, address);
        if (*row)
            return unit;
    }
    return NO_UNIT;
}

/* --- what is read of a unit ------------------------------------------------------------------- */

/* Counts what was read a second time against the limit of what is kept. */
static void count_again(size_t read, size_t *again, size_t *most)
{
    *again += read;
    if (*again < *most)
        return;
    *again = 0;
    *most *= 2;
}

/* Reads a table's rows, and makes room first if too many are held. */
static void decode(struct units *u, struct line_table *table, const struct unit *unit)
{
    bool is_first = !table->is_known;
    if (is_first && !u->program_bytes_left)
        return;
    if (u->rows_held > u->rows_most) { /* all are forgotten; their room is for the next ones */
        for (size_t i = 0; i < u->tables.len; i++) {
            struct line_rows *rows = &u->tables.at[i].rows;
            if (rows->cap) {
                rows->len = 0;
                vec_push(&u->spare, *rows);
                *rows = (struct line_rows){0};
            }
            line_table_forget(&u->tables.at[i]);
        }
        u->rows_held = 0;
    }
    if (u->spare.len && !table->rows.cap)
        table->rows = u->spare.at[--u->spare.len];
    line_table_read(table, &u->sections, unit->program, unit->comp_dir);
    u->rows_held += table->rows.len;
    if (!is_first) {
        count_again(table->rows.len, &u->rows_again, &u->rows_most);
        return;
    }
    uint64_t bytes = table->program.bytes;
    u->program_bytes_left -= bytes < u->program_bytes_left ? bytes : u->program_bytes_left;
}

/* Units may share a line program, and then the table. */
struct line_table *unit_table(struct units *u, uint32_t unit)
{
    const struct unit *wanted = &u->units.at[unit];
    bool is_new;
    uint32_t index = map_index(&u->table_of, wanted->program, 0, u->tables.len, &is_new);
    if (is_new)
        vec_push(&u->tables, (struct line_table){0});
    struct line_table *table = &u->tables.at[index];
    if (!table->is_decoded)
        decode(u, table, wanted);
    return table;
}

/* Their rows are read again on the next request. */
void units_keep_discriminators(struct units *u)
{
    if (u->sections.keeps_discriminators)
        return;
    u->sections.keeps_discriminators = true;
    for (size_t i = 0; i < u->tables.len; i++)
        line_table_forget(&u->tables.at[i]);
    u->rows_held = 0;
}

/* Whether all files of the table are one, by their names alone. */
static const char *sole_path(const struct unit *unit, const struct line_sections *sections,
                             struct arena *a)
{
    struct line_program p;
    const char *path = NULL;
    bool ok = line_program_open(&p, sections, unit->program);
    for (uint32_t i = 0; ok && i < p.files.len; i++) {
        const char *other = line_program_path(&p, i, unit->comp_dir, a);
        ok = !path || !other || !strcmp(path, other);
        path = path ? path : other;
    }
    line_program_close(&p);
    return ok ? path : NULL;
}

/* Found once a unit; NULL is remembered as well. */
const char *unit_sole_path(struct units *u, uint32_t unit, struct arena *a)
{
    struct unit *wanted = &u->units.at[unit];
    if (!wanted->has_sole_path) {
        wanted->has_sole_path = true;
        wanted->sole_path = sole_path(wanted, &u->sections, a);
    }
    return wanted->sole_path;
}

static void forget_scopes(struct units *u, struct unit *unit)
{
    u->scopes_held -= unit->scopes.scopes.len;
    scopes_deinit(&unit->scopes);
    unit->has_scopes = unit->had_scopes = false;
}

/* Makes room first, as for rows. A unit that was split off has its functions in another file. */
struct scopes *unit_scopes(struct units *u, uint32_t unit)
{
    struct unit *wanted = &u->units.at[unit];
    if (wanted->has_scopes)
        return &wanted->scopes;
    if (u->scopes_held > u->scopes_most) {
        for (size_t i = 0; i < u->units.len; i++) {
            scopes_deinit(&u->units.at[i].scopes);
            u->units.at[i].has_scopes = false;
        }
        u->scopes_held = 0;
    }
    /* Of a unit that was split off, the skeleton is what is left where the other part is not found:
     * some compilers repeat inlined functions in it. BFD never looks for that part. A table without
     * a unit has no functions. */
    struct split_skeleton skeleton;
    struct split_unit split;
    bool as_bfd = u->sections.bfd_version;
    if (wanted->die.cu && !as_bfd && split_skeleton_read(&wanted->die, u, &skeleton) &&
        split_find(u->object, &skeleton, &split))
        split_scopes_init(&wanted->scopes, &split);
    else if (wanted->die.cu)
        scopes_init(&wanted->scopes, &wanted->die, as_bfd, u->wanted, &u->object->arena);
    wanted->has_scopes = true;
    u->scopes_held += wanted->scopes.scopes.len;
    if (wanted->had_scopes)
        count_again(wanted->scopes.scopes.len, &u->scopes_again, &u->scopes_most);
    wanted->had_scopes = true;
    return &wanted->scopes;
}

bool unit_may_inline(struct units *u, uint32_t unit)
{
    struct unit *wanted = &u->units.at[unit];
    struct split_skeleton skeleton;
    if (wanted->has_inlining)
        return wanted->may_inline;
    wanted->has_inlining = true;
    wanted->may_inline = wanted->die.cu && split_skeleton_read(&wanted->die, u, &skeleton);
    size_t len;
    for (Dwarf_Off at = 0; wanted->die.cu && !wanted->may_inline; at += len) {
        Dwarf_Abbrev *abbreviation = dwarf_getabbrev(&wanted->die, at, &len);
        if (abbreviation == DWARF_END_ABBREV)
            break;
        wanted->may_inline =
            !abbreviation || dwarf_getabbrevtag(abbreviation) == DW_TAG_inlined_subroutine;
    }
    return wanted->may_inline;
}

/* What is read in part is not counted as read a second time when it is forgotten here: it happens
 * once a walk. If half of all code is wanted, little could be left out, and finding that some code
 * has no function would cost more. */
void units_want(struct units *u, const struct wanted_code *wanted)
{
    uint64_t bytes = 0, all = 0;
    for (size_t i = 0; wanted && i < wanted->len; i++)
        bytes += wanted->at[i].high - wanted->at[i].low;
    for (size_t i = 0; i < u->ranges.len; i++)
        all += u->ranges.at[i].high - u->ranges.at[i].low;
    for (size_t i = 0; i < u->units.len; i++)
        if (u->units.at[i].has_scopes && u->units.at[i].scopes.is_partial)
            forget_scopes(u, &u->units.at[i]);
    u->wanted = bytes < all / 2 ? wanted : NULL;
}

struct scopes *unit_all_scopes(struct units *u, uint32_t unit)
{
    const struct wanted_code *wanted = u->wanted;
    forget_scopes(u, &u->units.at[unit]);
    u->wanted = NULL;
    struct scopes *all = unit_scopes(u, unit);
    u->wanted = wanted;
    return all;
}
