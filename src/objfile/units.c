/* The index of compilation units by address.
 *
 * libdw reads the units' first entries for it, not what is below them: that is unitdata.c.
 * Relocatable files have no addresses yet, so they have no index.
 * Specification: DWARF 5, sections 2.17, 3.1 and 7.5. */
#include "objfile/units.h"

#include "base/search.h"
#include "base/sort.h"
#include "objfile/split.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* --- the index -------------------------------------------------------------------------------- */

/* libdw takes a section that it cannot unpack for no debug information at all. */
static void units_learn_refusal(struct image *image)
{
    static const char *const NAMES[] = {"debug_info", "debug_abbrev", "debug_line", "debug_str",
                                        "debug_line_str"};
    for (size_t i = 0; image && i < sizeof NAMES / sizeof *NAMES; i++)
        (void)image_debug_section(image, NAMES[i]);
}

static struct bytes units_debug_strings(struct image *image, const char *name)
{
    struct bytes strings = image_debug_section(image, name);
    while (strings.len && strings.at[strings.len - 1])
        strings.len--;
    return strings;
}

static bool units_add_range(struct units *u, uint64_t low, uint64_t high, uint32_t unit)
{
    if (low < high)
        vec_push(&u->ranges, (struct unit_range){.low = low, .high = high, .unit = unit});
    return u->ranges.len < u->ranges_most;
}

static void units_add_table_ranges(struct units *u, uint32_t unit)
{
    const struct line_table *t = unit_table(u, unit);
    for (size_t i = 0; i < t->sequences.len; i++)
        if (!units_add_range(u, t->sequences.at[i].low, t->sequences.at[i].high, unit))
            return;
}

/* Ranges as the unit's entry tells them, else as its line table does. */
static void units_add_ranges(struct units *u, Dwarf_Die *die, uint32_t unit)
{
    size_t before = u->ranges.len;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0)
        if (!units_add_range(u, low, high, unit))
            return;
    if (u->ranges.len == before)
        units_add_table_ranges(u, unit);
}

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
    units_add_ranges(u, die, (uint32_t)(u->units.len - 1));
}

static void units_order_ranges(struct units *u)
{
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

/* Where a file has line tables but no units (somebody removed .debug_info, or an assembler wrote
 * none), each table counts as a unit without functions. BFD sees none of them. */
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
    if (!u->units.len && !u->sections.as_bfd)
        units_index_bare_tables(u);
    units_order_ranges(u);
}

static struct image *units_image_with_units(struct object *o)
{
    if (o->self.header.e_type == ET_REL)
        return NULL;
    if (image_has_debug_info(&o->self))
        return &o->self;
    return image_has_debug_info(debug_file(o)) ? &o->debug : NULL;
}

static struct units *units_new(struct object *o)
{
    struct units *u = calloc(1, sizeof *u);
    if (!u)
        memory_exhausted(sizeof *u);
    struct image *image = units_image_with_units(o);
    if (image)
        image_unpack_zstd(image);
    u->dwarf = image ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
    if (!u->dwarf) {
        units_learn_refusal(image);
        return u;
    }
    u->sections = (struct line_sections){.line = image_debug_section(image, "debug_line"),
                                         .line_str = units_debug_strings(image, "debug_line_str"),
                                         .str = units_debug_strings(image, "debug_str"),
                                         .big_endian = image_is_big_endian(image),
                                         .as_bfd = o->reads_dwarf_as_bfd};
    u->addresses = image_debug_section(image, "debug_addr");
    u->address_ranges = image_debug_section(image, "debug_ranges");
    u->object = o;
    units_index_units(u, image);
    return u;
}

struct units *units_of(struct object *o)
{
    if (!o->units)
        o->units = units_new(o);
    return o->units;
}

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

/* How many ranges start at or below an address. */
static size_t units_ranges_up_to(const struct units *u, uint64_t address)
{
    return PARTITION_POINT(u->ranges.len, i, u->ranges.at[i].low <= address);
}

uint32_t unit_around(const struct units *u, uint64_t address, uint32_t from)
{
    uint32_t first = NO_UNIT;
    for (size_t i = units_ranges_up_to(u, address); i && u->ranges.at[i - 1].reach > address; i--) {
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

static void forget_rows(struct units *u)
{
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

static void forget_scopes(struct units *u)
{
    for (size_t i = 0; i < u->units.len; i++) {
        scopes_deinit(&u->units.at[i].scopes);
        u->units.at[i].has_scopes = false;
    }
    u->scopes_held = 0;
}

/* Counts what was read a second time against the limit of what is kept. */
static void count_again(size_t read, size_t *again, size_t *most)
{
    *again += read;
    if (*again < *most)
        return;
    *again = 0;
    *most *= 2;
}

static void decode(struct units *u, struct line_table *table, const struct unit *unit)
{
    bool is_first = !table->is_known;
    if (is_first && !u->program_bytes_left)
        return;
    if (u->rows_held > u->rows_most)
        forget_rows(u);
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

const char *unit_sole_path(struct units *u, uint32_t unit, struct arena *a)
{
    struct unit *wanted = &u->units.at[unit];
    if (!wanted->has_sole_path) {
        wanted->has_sole_path = true;
        wanted->sole_path = sole_path(wanted, &u->sections, a);
    }
    return wanted->sole_path;
}

/* Of a unit that was split off, the skeleton is what is left where the other part is not found:
 * some compilers repeat inlined functions in it. */
static void read_scopes(struct units *u, struct unit *unit)
{
    struct split_skeleton skeleton;
    struct split_unit split;
    if (!unit->die.cu) /* a table without a unit */
        return;
    if (split_skeleton_read(&unit->die, u->addresses, u->address_ranges, &skeleton) &&
        split_find(u->object, &skeleton, &split))
        split_scopes_init(&unit->scopes, &split, u->sections.as_bfd);
    else
        scopes_init(&unit->scopes, &unit->die, u->sections.as_bfd);
}

struct scopes *unit_scopes(struct units *u, uint32_t unit)
{
    struct unit *wanted = &u->units.at[unit];
    if (wanted->has_scopes)
        return &wanted->scopes;
    if (u->scopes_held > u->scopes_most)
        forget_scopes(u);
    read_scopes(u, wanted);
    wanted->has_scopes = true;
    u->scopes_held += wanted->scopes.scopes.len;
    if (wanted->had_scopes)
        count_again(wanted->scopes.scopes.len, &u->scopes_again, &u->scopes_most);
    wanted->had_scopes = true;
    return &wanted->scopes;
}
