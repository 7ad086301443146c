/* Finding split units: what is left of one in the program (its skeleton), and where the rest is.
 *
 * Packages come first: PROGRAM.dwp, with the program's name as given and with symbolic links
 * resolved, and that of the separate debug file. Then the .dwo file that the program names: beside
 * the program, and in the folder in which it was compiled. Each file is opened once and kept. A
 * unit counts only if it has the id that the program asks for. Sections are unpacked, zstd
 * included, under the rules of image.c.
 *
 * A package has a hash table from ids to rows, and two tables with what each row has of each
 * section:
 *
 *     header   version 2 (GNU's, for DWARF 4) or 5, columns, rows, slots
 *     slots    8 bytes each: ids; a power of two, 0 and row 0: empty
 *     slots    4 bytes each: rows, from 1 on
 *     columns  4 bytes each: which section
 *     rows x columns   4 bytes each: offsets
 *     rows x columns   4 bytes each: sizes
 *
 * Specification: DWARF 5, sections 3.1.2 and 7.3.5; "DWARF Fission, package file format" for
 * version 2. */
#include "objfile/debug_info.h"

#include "base/map.h"

#include <dwarf.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- skeletons -------------------------------------------------------------------------------- */

/* A base that the unit gives by DWARF 5's attribute or by GNU's; 0: by neither. */
static uint64_t offset_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if ((dwarf_attr(die, name, &attribute) || dwarf_attr(die, gnu_name, &attribute)) &&
        !dwarf_formudata(&attribute, &value))
        return value;
    return 0;
}

/* What is left of a section from a base on. */
static struct bytes from(struct bytes all, uint64_t offset)
{
    if (offset >= all.len)
        return (struct bytes){0};
    return (struct bytes){all.at + offset, all.len - (size_t)offset};
}

/* A text attribute, or NULL. */
static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* libdw takes both kinds of skeletons for one: DWARF 5's by its header, GNU's by its id. */
bool split_skeleton_read(Dwarf_Die *unit, const struct units *u, struct split_skeleton *out)
{
    Dwarf_Half version = 0;
    uint8_t kind = 0;
    uint64_t id = 0;
    if (!unit->cu || dwarf_cu_info(unit->cu, &version, &kind, NULL, NULL, &id, NULL, NULL) ||
        kind != DW_UT_skeleton)
        return false;
    Dwarf_Addr low;
    const char *name = text_of(unit, DW_AT_dwo_name);
    *out = (struct split_skeleton){
        .id = id,
        .name = name ? name : text_of(unit, DW_AT_GNU_dwo_name),
        .folder = text_of(unit, DW_AT_comp_dir),
        .addresses = from(u->addresses, offset_of(unit, DW_AT_addr_base, DW_AT_GNU_addr_base)),
        .ranges = version < 5 ? from(u->address_ranges,
                                     offset_of(unit, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base))
                              : from(u->range_lists,
                                     offset_of(unit, DW_AT_rnglists_base, DW_AT_rnglists_base)),
        .low = dwarf_lowpc(unit, &low) ? 0 : low,
    };
    return true;
}

/* --- packages --------------------------------------------------------------------------------- */

/* The tables of a package's index, as offsets into the section. */
struct table {
    struct bytes all;
    uint32_t version, columns, rows, slots;
    size_t ids, numbers, sections, offsets, sizes; /* where they start */
    bool big_endian;
};

enum section { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8 };

/* Checks that all its parts are within the section; after that, they are read without checks. */
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

/* A number of 4 bytes; the tables were checked to be within the section. */
static uint32_t number_at(const struct table *t, size_t base, size_t index)
{
    return bytes_u32(t->all.at + base + index * 4, t->big_endian);
}

/* The row of an id, from 0 on. Double hashing, as the specification has it: the id's lower half
 * chooses the slot, its upper half the step. */
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

/* Numbers of sections as both versions have them; those that are not needed are NULL. */
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

/* A share of a section that lies beyond it makes the whole package damaged. */
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
        uint32_t offset = number_at(&t, t.offsets, cell), size = number_at(&t, t.sizes, cell);
        if (offset > section->len || size > section->len - offset)
            return false;
        *section = size ? (struct bytes){section->at + offset, size} : (struct bytes){0};
        has_info = has_info || number == INFO;
    }
    return has_info;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A file of split units that was opened, or sought in vain. */
struct split_file {
    const char *path;
    struct image image; /* without `elf`: there is no such file */
    struct split_sections sections;
    struct bytes index; /* empty: a .dwo file */
};

/* Packages are few and asked in turn; single files are found by the unit's id. */
struct split_files {
    VEC(struct split_file) packages;
    VEC(struct split_file) singles;
    struct map single_of; /* (id, 0) to the one that has it */
    bool packages_sought;
};

/* Sections of split files have names of their own: `.dwo` at the end. */
void split_sections_read(struct image *image, struct split_sections *s, struct bytes *index)
{
    *s = (struct split_sections){
        .info = image_debug_section(image, "debug_info.dwo"),
        .abbrev = image_debug_section(image, "debug_abbrev.dwo"),
        .str = image_debug_section(image, "debug_str.dwo"),
        .str_offsets = image_debug_section(image, "debug_str_offsets.dwo"),
        .rnglists = image_debug_section(image, "debug_rnglists.dwo"),
    };
    while (s->str.len && s->str.at[s->str.len - 1]) /* up to the last NUL: every text ends */
        s->str.len--;
    *index = image_debug_section(image, "debug_cu_index");
}

/* A file for another machine is not taken, whatever its name. */
static bool find_open_file(struct object *o, const char *path, struct split_file *f)
{
    *f = (struct split_file){.path = path};
    struct err why = {0};
    if (!image_open(path, &f->image, NULL, &why)) {
        object_note_unread(o, &why);
        return false;
    }
    const struct image *self = &o->self;
    if (f->image.header.e_machine != self->header.e_machine ||
        f->image.header.e_ident[EI_DATA] != self->header.e_ident[EI_DATA]) {
        image_close(&f->image);
        return false;
    }
    split_sections_read(&f->image, &f->sections, &f->index);
    /* The first section that cannot be unpacked is what object_debug_refused() reports. */
    if (f->image.refused_why && !o->split_refused)
        o->split_refused = arena_printf(&o->arena, "%s: section %s %s", f->path,
                                        f->image.refused_section, f->image.refused_why);
    /* The mapping stays when the descriptor goes: a program can have thousands of .dwo files. */
    elf_cntl(f->image.elf, ELF_C_FDDONE);
    close(f->image.fd);
    f->image.fd = -1;
    return true;
}

/* Of a .dwo file, most of which have one unit. */
static bool find_unit_in(const struct split_sections *s, const struct split_skeleton *k,
                         bool big_endian, struct split_unit *out)
{
    struct bytes left = s->info;
    while (left.len) {
        uint64_t id;
        *out = (struct split_unit){.abbrevs = s->abbrev,
                                   .strings = s->str,
                                   .string_offsets = s->str_offsets,
                                   .lists = s->rnglists,
                                   .addresses = k->addresses,
                                   .ranges = k->ranges,
                                   .low = k->low};
        if (split_unit_open(out, &left, big_endian) && split_unit_id(out, &id) && id == k->id)
            return true;
    }
    return false;
}

/* PROGRAM.dwp, if there is one for this machine. */
static void find_add_package(struct object *o, const char *program)
{
    struct split_file f;
    if (!program)
        return;
    const char *path = arena_printf(&o->arena, "%s.dwp", program);
    if (find_open_file(o, path, &f))
        vec_push(&o->split->packages, f);
}

/* Packages are opened when the first unit is sought. An id that one does not have is sought in the
 * next. */
static bool find_in_packages(struct object *o, const struct split_skeleton *k,
                             struct split_unit *out)
{
    if (!o->split->packages_sought) {
        o->split->packages_sought = true;
        find_add_package(o, o->path);
        char *real = realpath(o->path, NULL);
        if (real && strcmp(real, o->path))
            find_add_package(o, real);
        free(real);
        if (debug_file(o)->elf)
            find_add_package(o, o->debug_path);
    }
    for (size_t i = 0; i < o->split->packages.len; i++) {
        const struct split_file *f = &o->split->packages.at[i];
        struct split_sections shares = f->sections;
        bool big_endian = image_is_big_endian(&f->image);
        if (split_package_find(f->index, big_endian, k->id, &shares) &&
            find_unit_in(&shares, k, big_endian, out))
            return true;
    }
    return false;
}

/* Opens a .dwo file; keeps it if it has the unit. */
static bool find_try_single(struct object *o, const struct split_skeleton *k, const char *path,
                            struct split_file *f)
{
    struct split_unit unit;
    if (!find_open_file(o, path, f))
        return false;
    if (find_unit_in(&f->sections, k, image_is_big_endian(&f->image), &unit))
        return true;
    image_close(&f->image);
    return false;
}

/* An absolute name is taken as it is; others are sought in two folders. */
static bool find_seek_single(struct object *o, const struct split_skeleton *k, struct split_file *f)
{
    if (!k->name)
        return false;
    if (*k->name == '/')
        return find_try_single(o, k, k->name, f);
    const char *beside = dirname(arena_copy(&o->arena, o->path, strlen(o->path)));
    return find_try_single(o, k, arena_printf(&o->arena, "%s/%s", beside, k->name), f) ||
           (k->folder &&
            find_try_single(o, k, arena_printf(&o->arena, "%s/%s", k->folder, k->name), f));
}

/* Units of one .dwo file share it; one that was not found is not sought again. */
static bool find_single(struct object *o, const struct split_skeleton *k, struct split_unit *out)
{
    struct split_files *files = o->split;
    bool is_new;
    uint32_t index = map_index(&files->single_of, k->id, 0, files->singles.len, &is_new);
    if (is_new) {
        struct split_file f;
        if (!find_seek_single(o, k, &f))
            f = (struct split_file){.path = NULL};
        vec_push(&files->singles, f);
    }
    const struct split_file *f = &files->singles.at[index];
    return f->image.elf && find_unit_in(&f->sections, k, image_is_big_endian(&f->image), out);
}

/* Packages first: a program that has one has most of its units there. */
bool split_find(struct object *o, const struct split_skeleton *skeleton, struct split_unit *out)
{
    if (o->self.fd < 0) /* in memory: it has no files beside it */
        return false;
    if (!o->split)
        o->split = calloc(1, sizeof *o->split);
    if (!o->split)
        memory_exhausted(sizeof *o->split);
    return find_in_packages(o, skeleton, out) || find_single(o, skeleton, out);
}

/* Images of single files that were sought in vain are empty. */
void split_files_free(struct split_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->packages.len; i++)
        image_close(&files->packages.at[i].image);
    for (size_t i = 0; i < files->singles.len; i++)
        image_close(&files->singles.at[i].image);
    vec_free(&files->packages);
    vec_free(&files->singles);
    map_deinit(&files->single_of);
    free(files);
}
