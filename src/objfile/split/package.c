/* Looking a unit up in a package: a hash table from ids to rows, and two tables with what each row
 * has of each section.
 *
 *     header   version 2 (GNU's, for DWARF 4) or 5, columns, rows, slots
 *     slots    8 bytes each: ids; a power of two, 0 and row 0: empty
 *     slots    4 bytes each: rows, from 1 on
 *     columns  4 bytes each: which section
 *     rows × columns   4 bytes each: offsets
 *     rows × columns   4 bytes each: sizes
 *
 * Specification: DWARF 5, section 7.3.5; "DWARF Fission, package file format" for version 2. */
#include "objfile/split/package.h"

struct table {
    struct bytes all;
    uint32_t version, columns, rows, slots;
    size_t ids, numbers, sections, offsets, sizes; /* where they start */
    bool big_endian;
};

enum section { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8 };

static bool open_table(struct table *t, struct bytes index, bool big_endian)
{
    enum { HEADER = 16, MOST_COLUMNS = 16 };
    struct cursor c = cursor_over(index, ".debug_cu_index");
    c.big_endian = big_endian;
    uint16_t half = cursor_u16(&c), other = cursor_u16(&c);
    uint32_t version = big_endian && !half ? other : half; /* 2 has 4 bytes, 5 has 2 */
    *t = (struct table){.all = index, .version = version, .big_endian = big_endian};
    t->columns = cursor_u32(&c);
    t->rows = cursor_u32(&c);
    t->slots = cursor_u32(&c);
    if (c.failed || (version != 2 && version != 5) || t->columns > MOST_COLUMNS || !t->slots ||
        t->slots & (t->slots - 1))
        return false;
    uint64_t cells = (uint64_t)t->columns * t->rows;
    uint64_t bytes = HEADER + (uint64_t)t->slots * 12 + (uint64_t)t->columns * 4 + cells * 8;
    if (bytes > index.len)
        return false;
    t->ids = HEADER;
    t->numbers = t->ids + (size_t)t->slots * 8;
    t->sections = t->numbers + (size_t)t->slots * 4;
    t->offsets = t->sections + (size_t)t->columns * 4;
    t->sizes = t->offsets + (size_t)cells * 4;
    return true;
}

static uint32_t number_at(const struct table *t, size_t base, size_t index)
{
    return bytes_u32(t->all.at + base + index * 4, t->big_endian);
}

/* The row of an id, from 0 on. */
static bool find_row(const struct table *t, uint64_t id, uint32_t *row)
{
    uint32_t mask = t->slots - 1, slot = (uint32_t)id & mask;
    uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t tries = 0; tries < t->slots; tries++, slot = (slot + step) & mask) {
        uint32_t number = number_at(t, t->numbers, slot);
        if (!number)
            return false;
        if (bytes_u64(t->all.at + t->ids + (size_t)slot * 8, t->big_endian) != id)
            continue;
        *row = number - 1;
        return number <= t->rows;
    }
    return false;
}

/* False where the share is not in the section. */
static bool cut(struct bytes *section, uint32_t offset, uint32_t size)
{
    if (offset > section->len || size > section->len - offset)
        return false;
    *section = size ? (struct bytes){section->at + offset, size} : (struct bytes){0};
    return true;
}

static struct bytes *section_of(struct split_sections *s, uint32_t number, uint32_t version)
{
    switch (number) {
    case INFO: return &s->info;
    case ABBREV: return &s->abbrev;
    case STR_OFFSETS: return &s->str_offsets;
    case RNGLISTS: return version == 5 ? &s->rnglists : NULL; /* 2: macros */
    default: return NULL;
    }
}

bool split_package_find(struct bytes index, bool big_endian, uint64_t id, struct split_sections *s)
{
    struct table t;
    uint32_t row;
    if (!open_table(&t, index, big_endian) || !find_row(&t, id, &row))
        return false;
    bool has_info = false;
    for (uint32_t i = 0; i < t.columns; i++) {
        uint32_t number = number_at(&t, t.sections, i);
        struct bytes *section = section_of(s, number, t.version);
        size_t cell = (size_t)row * t.columns + i;
        if (!section)
            continue;
        if (!cut(section, number_at(&t, t.offsets, cell), number_at(&t, t.sizes, cell)))
            return false;
        has_info = has_info || number == INFO;
    }
    return has_info;
}
