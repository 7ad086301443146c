/* Source lines of addresses: which unit, then its line table.
 *
 * On the first question the units' address ranges are indexed (libdw reads their first entries, not
 * what is below); a line table is decoded when an address first falls into its unit. Relocatable
 * files have no addresses yet, so no lines.
 * Specification: DWARF 5, sections 2.17, 3.1 and 7.5. */
#include "objfile/lines.h"

#include "base/map.h"
#include "base/sort.h"
#include "objfile/linetable.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *comp_dir;
    uint64_t program; /* offset in .debug_line */
};

struct range {
    uint64_t low, high;
    uint64_t reach; /* the greatest high up to here, in index order */
    uint32_t unit;
};

struct lines {
    Dwarf *dwarf;
    struct line_sections sections;
    VEC(struct unit) units;
    VEC(struct range) ranges; /* by low, then by unit */
    VEC(struct line_table) tables;
    struct map table_of; /* (offset in .debug_line, 0) to index of table */
    size_t ranges_most;  /* more would mean that units share one list to waste our time */
};

/* Decompressed in place, if libdw has not done so already. `name` is without its dot. */
static struct bytes debug_section(const struct image *image, const char *name)
{
    char dotted[32], gnu[32];
    snprintf(dotted, sizeof dotted, ".%s", name);
    snprintf(gnu, sizeof gnu, ".z%s", name);
    size_t index = image_find(image, 0, dotted);
    index = index ? index : image_find(image, 0, gnu);
    Elf_Scn *section;
    GElf_Shdr header;
    if (!index || !image_section(image, index, &section, &header) || header.sh_type == SHT_NOBITS)
        return (struct bytes){0};
    if (header.sh_flags & SHF_COMPRESSED)
        elf_compress(section, 0, 0);
    struct bytes bytes = image_bytes(image, index);
    if (bytes.len < 4 || memcmp(bytes.at, "ZLIB", 4))
        return bytes;
    elf_compress_gnu(section, 0, 0);
    return image_bytes(image, index);
}

static struct bytes debug_strings(const struct image *image, const char *name)
{
    struct bytes strings = debug_section(image, name);
    while (strings.len && strings.at[strings.len - 1])
        strings.len--;
    return strings;
}

static bool add_range(struct lines *l, uint64_t low, uint64_t high, uint32_t unit)
{
    if (low < high)
        vec_push(&l->ranges, (struct range){.low = low, .high = high, .unit = unit});
    return l->ranges.len < l->ranges_most;
}

static struct line_table *table_of(struct lines *l, const struct unit *u)
{
    bool is_new;
    uint32_t *index = map_at(&l->table_of, u->program, 0, (uint32_t)l->tables.len, &is_new);
    if (is_new) {
        struct line_table table;
        line_table_init(&table, &l->sections, u->program, u->comp_dir);
        vec_push(&l->tables, table);
    }
    return &l->tables.at[*index];
}

/* Ranges as the unit's entry tells them, else as its line table does. */
static void add_ranges(struct lines *l, Dwarf_Die *die, uint32_t index)
{
    size_t before = l->ranges.len;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0)
        if (!add_range(l, low, high, index))
            return;
    if (l->ranges.len > before)
        return;
    const struct line_table *t = table_of(l, &l->units.at[index]);
    for (size_t i = 0; i < t->sequences.len; i++)
        if (!add_range(l, t->sequences.at[i].low, t->sequences.at[i].high, index))
            return;
}

static void add_unit(struct lines *l, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word program;
    if (!dwarf_attr(die, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &program))
        return;
    struct unit u = {.program = program};
    if (dwarf_attr(die, DW_AT_comp_dir, &attribute))
        u.comp_dir = dwarf_formstring(&attribute);
    vec_push(&l->units, u);
    add_ranges(l, die, (uint32_t)(l->units.len - 1));
}

static int by_low(uint32_t left, uint32_t right, const void *context)
{
    const struct range *l = (const struct range *)context + left;
    const struct range *r = (const struct range *)context + right;
    return (l->low > r->low) - (l->low < r->low);
}

static void order_ranges(struct lines *l)
{
    size_t len = l->ranges.len;
    if (!len || len > UINT32_MAX)
        return;
    uint32_t *order = malloc(len * sizeof *order);
    struct range *sorted = malloc(len * sizeof *sorted);
    if (!order || !sorted)
        memory_exhausted(len * sizeof *sorted);
    for (size_t i = 0; i < len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, len, by_low, l->ranges.at);
    uint64_t reach = 0;
    for (size_t i = 0; i < len; i++) {
        sorted[i] = l->ranges.at[order[i]];
        reach = sorted[i].high > reach ? sorted[i].high : reach;
        sorted[i].reach = reach;
    }
    free(order);
    free(l->ranges.at);
    l->ranges.at = sorted;
    l->ranges.cap = len;
}

static void index_units(struct lines *l, const struct image *image)
{
    l->ranges_most = debug_section(image, "debug_ranges").len +
                     debug_section(image, "debug_rnglists").len +
                     debug_section(image, "debug_info").len + l->sections.line.len;
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;
    while (!dwarf_get_units(l->dwarf, unit, &unit, &version, &type, &die, NULL))
        if (type != DW_UT_type && type != DW_UT_split_type)
            add_unit(l, &die);
    order_ranges(l);
}

static const struct image *image_with_lines(struct object *o)
{
    if (image_has_debug_info(&o->self))
        return &o->self;
    return image_has_debug_info(debug_file(o)) ? &o->debug : NULL;
}

static struct lines *lines_new(struct object *o)
{
    struct lines *l = calloc(1, sizeof *l);
    if (!l)
        memory_exhausted(sizeof *l);
    const struct image *image = o->self.header.e_type == ET_REL ? NULL : image_with_lines(o);
    l->dwarf = image ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
    if (!l->dwarf)
        return l;
    l->sections = (struct line_sections){.line = debug_section(image, "debug_line"),
                                         .line_str = debug_strings(image, "debug_line_str"),
                                         .str = debug_strings(image, "debug_str"),
                                         .big_endian = image_is_big_endian(image)};
    index_units(l, image);
    return l;
}

void lines_free(struct lines *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->tables.len; i++)
        line_table_deinit(&l->tables.at[i]);
    vec_free(&l->tables);
    vec_free(&l->ranges);
    vec_free(&l->units);
    map_deinit(&l->table_of);
    dwarf_end(l->dwarf);
    free(l);
}

/* How many ranges start at or below an address. */
static size_t ranges_up_to(const struct lines *l, uint64_t address)
{
    size_t low = 0, high = l->ranges.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->ranges.at[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first unit, from number `from` on, with a range around the address; UNITS_END if none. */
enum { UNITS_END = -1 };

static int64_t unit_around(const struct lines *l, uint64_t address, int64_t from)
{
    int64_t first = UNITS_END;
    for (size_t i = ranges_up_to(l, address); i && l->ranges.at[i - 1].reach > address; i--) {
        const struct range *r = &l->ranges.at[i - 1];
        if (r->high > address && r->unit >= from && (first == UNITS_END || r->unit < first))
            first = r->unit;
    }
    return first;
}

/* Units overlap only where link-time optimisation or a linker muddled them: the first one that
 * knows the address counts, and no more than a few are asked. */
static bool find_row(struct lines *l, uint64_t address, struct line_table **table,
                     const struct line_row **row)
{
    enum { MOST_UNITS = 16 };
    int64_t unit = 0;
    for (int tries = 0; tries < MOST_UNITS; tries++, unit++) {
        unit = unit_around(l, address, unit);
        if (unit == UNITS_END)
            return false;
        *table = table_of(l, &l->units.at[unit]);
        *row = line_table_find(*table, address);
        if (*row)
            return true;
    }
    return false;
}

bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line)
{
    *file = NULL;
    *line = 0;
    if (!o->lines)
        o->lines = lines_new(o);
    struct line_table *table;
    const struct line_row *row;
    if (!find_row(o->lines, address, &table, &row))
        return false;
    *file = line_table_path(table, row->file, &o->arena);
    *line = *file ? row->line : 0;
    return *file;
}
