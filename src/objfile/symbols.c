/* Symbol tables: ELF entries to addresses and names, with each machine's conventions removed.
 *
 * Chooses no symbols beyond leaving out those that name no place: what is a routine is decided by
 * the analysis. Names are pointers into the string table, which stays as it is in the file.
 * Specification: gABI chapter 4. What the supplements of the machines add is in src/arch. */
#include "objfile/private.h"

#include "base/cursor.h"

#include <string.h>

/* ELFv1 function descriptors: a symbol names 24 bytes in .opd whose first 8 are the code address.
 */
struct descriptors {
    struct bytes bytes;
    uint64_t address;
    uint64_t size;
};

/* One symbol table being read. */
struct table {
    const struct object *object;
    const struct image *image;
    Elf_Data *entries, *long_indexes;
    const char *names;
    size_t names_len;   /* every offset below it starts a terminated string */
    uint32_t *sections; /* section index there to section index in the program; NULL: the same */
    struct descriptors descriptors;
    struct arch_target target;
    const struct arch *arch;
};

static Elf_Data *symbols_section_data(const struct image *image, size_t index, GElf_Shdr *header)
{
    Elf_Scn *section;
    if (!image_section(image, index, &section, header) || header->sh_type == SHT_NOBITS)
        return NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf ? data : NULL;
}

/* The string table up to its last NUL. */
static void symbols_find_names(struct table *t, size_t index)
{
    GElf_Shdr header;
    if (!image_section(t->image, index, NULL, &header) || header.sh_type != SHT_STRTAB)
        return;
    struct bytes all = image_bytes(t->image, index);
    while (all.len && all.at[all.len - 1])
        all.len--;
    t->names = (const char *)all.at;
    t->names_len = all.len;
}

/* Section indices of 0xff00 and more stand in a table of their own, which points to ours. */
static void symbols_find_long_indexes(struct table *t, size_t symbols)
{
    GElf_Shdr header;
    for (size_t i = 1; i < t->image->sections_len; i++)
        if (image_section(t->image, i, NULL, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
            header.sh_link == symbols)
            t->long_indexes = symbols_section_data(t->image, i, &header);
}

/* The program's section that is section `index` of a separate file: same name, same address. */
static uint32_t symbols_same_section(const struct object *o, const struct image *image,
                                     size_t index)
{
    GElf_Shdr header;
    if (!image_section(image, index, NULL, &header))
        return 0;
    const char *name = image_section_name(image, &header);
    const struct object_section *s = object_section(o, (uint32_t)index);
    if (s && s->address == header.sh_addr && !strcmp(s->name, name))
        return (uint32_t)index;
    for (uint32_t i = 1; i < o->sections_len; i++)
        if (o->sections[i].address == header.sh_addr && !strcmp(o->sections[i].name, name))
            return i;
    return header.sh_flags & SHF_ALLOC ? section_at(o, header.sh_addr) : 0;
}

static void symbols_map_sections(struct table *t, struct arena *a)
{
    if (t->image == &t->object->self)
        return;
    t->sections = ARENA_NEW(a, uint32_t, t->image->sections_len);
    for (size_t i = 1; i < t->image->sections_len; i++)
        t->sections[i] = symbols_same_section(t->object, t->image, i);
}

static void symbols_find_descriptors(struct table *t)
{
    const struct image *self = &t->object->self;
    struct arch_target target = image_target(self);
    const struct arch *a = arch_of(&target);
    if (!a->has_descriptors || !a->has_descriptors(&target) || self->header.e_type == ET_REL)
        return;
    size_t index = image_find(self, SHT_PROGBITS, ".opd");
    GElf_Shdr header;
    if (!index || !image_section(self, index, NULL, &header))
        return;
    t->descriptors.bytes = image_bytes(self, index);
    t->descriptors.address = header.sh_addr;
}

static bool symbols_open_table(struct table *t, const struct object *o, const struct image *image,
                               uint32_t type)
{
    *t = (struct table){.object = o,
                        .image = image,
                        .target = image->elf ? image_target(image) : (struct arch_target){0}};
    t->arch = arch_of(&t->target);
    size_t index = image->elf ? image_find(image, type, NULL) : 0;
    GElf_Shdr header;
    t->entries = index ? symbols_section_data(image, index, &header) : NULL;
    if (!t->entries)
        return false;
    symbols_find_names(t, header.sh_link);
    symbols_find_long_indexes(t, index);
    return t->names_len > 0;
}

static size_t symbols_entries_in(const struct table *t)
{
    return t->entries->d_size / gelf_fsize(t->image->elf, ELF_T_SYM, 1, EV_CURRENT);
}

static uint8_t symbols_symbol_type(const struct arch *a, const GElf_Sym *sym)
{
    uint8_t type = GELF_ST_TYPE(sym->st_info);
    switch (type) {
    case STT_NOTYPE: return SYMBOL_NOTYPE;
    case STT_OBJECT:
    case STT_COMMON: return SYMBOL_OBJECT;
    case STT_FUNC: return SYMBOL_FUNC;
    case STT_TLS: return SYMBOL_TLS;
    case STT_GNU_IFUNC: return SYMBOL_IFUNC;
    default: return type == a->function_type ? SYMBOL_FUNC : SYMBOL_OTHER;
    }
}

static uint8_t symbols_symbol_binding(const GElf_Sym *sym)
{
    switch (GELF_ST_BIND(sym->st_info)) {
    case STB_LOCAL: return BIND_LOCAL;
    case STB_GLOBAL: return BIND_GLOBAL;
    case STB_WEAK: return BIND_WEAK;
    case STB_GNU_UNIQUE: return BIND_UNIQUE;
    default: return BIND_OTHER;
    }
}

static bool symbols_is_mapping(const struct arch *a, const struct object_symbol *s)
{
    if (s->type != SYMBOL_NOTYPE || s->binding != BIND_LOCAL)
        return false;
    if (s->name[0] == '.' && s->name[1] == 'L')
        return true;
    return s->name[0] == '$' && a->is_mapping && a->is_mapping(s->name);
}

static void symbols_follow_descriptor(const struct table *t, struct object_symbol *s)
{
    const struct descriptors *d = &t->descriptors;
    if (!d->bytes.len || s->address < d->address || s->address - d->address >= d->bytes.len ||
        d->bytes.len - (s->address - d->address) < 8)
        return;
    uint64_t code =
        bytes_u64(d->bytes.at + (s->address - d->address), object_is_big_endian(t->object));
    uint32_t section = section_at(t->object, code);
    if (!section || !t->object->sections[section].is_code)
        return;
    s->address = code;
    s->section = section;
    s->is_descriptor = true;
}

/* False for an index that names no place in the program. */
static bool symbols_place(const struct table *t, const GElf_Sym *sym, uint32_t long_index,
                          struct object_symbol *s)
{
    const struct arch *a = t->arch;
    uint32_t index = sym->st_shndx == SHN_XINDEX ? long_index : sym->st_shndx;
    if (index == SHN_UNDEF)
        return false;
    s->section = 0;
    if (sym->st_shndx != SHN_XINDEX && index >= SHN_LORESERVE) {
        if (index == SHN_COMMON || (a->common_index && index == a->common_index))
            s->type = SYMBOL_COMMON;
        return true;
    }
    if (index < t->image->sections_len)
        s->section = t->sections ? t->sections[index] : index;
    return true;
}

static bool symbols_convert(const struct table *t, size_t i, struct object_symbol *s)
{
    GElf_Sym sym;
    Elf32_Word long_index = 0;
    if (!gelf_getsymshndx(t->entries, t->long_indexes, (int)i, &sym, &long_index))
        return false;
    int type = GELF_ST_TYPE(sym.st_info);
    if (type == STT_SECTION || type == STT_FILE || sym.st_name >= t->names_len)
        return false;
    const struct arch *a = t->arch;
    *s = (struct object_symbol){.name = t->names + sym.st_name,
                                .address = sym.st_value,
                                .size = sym.st_size,
                                .type = symbols_symbol_type(a, &sym),
                                .binding = symbols_symbol_binding(&sym),
                                .is_hidden = GELF_ST_VISIBILITY(sym.st_other) != STV_DEFAULT};
    if (!symbols_place(t, &sym, long_index, s))
        return false;
    s->is_mapping = symbols_is_mapping(a, s);
    if (a->adjust_symbol) {
        struct arch_symbol adjusted = {s->address, .is_function = s->type == SYMBOL_FUNC ||
                                                                  s->type == SYMBOL_IFUNC};
        a->adjust_symbol(sym.st_other, &adjusted);
        s->address = adjusted.address;
        s->is_compressed = adjusted.is_compressed;
        s->local_entry = adjusted.local_entry;
    }
    symbols_follow_descriptor(t, s);
    return true;
}

/* Appends the table's symbols to o->symbols, which has room. */
static void symbols_append(struct object *o, struct table *t, struct arena *scratch)
{
    symbols_map_sections(t, scratch);
    symbols_find_descriptors(t);
    size_t len = symbols_entries_in(t);
    uint32_t unit = 0;
    GElf_Sym sym;
    for (size_t i = 1; i < len; i++) {
        if (symbols_convert(t, i, &o->symbols[o->symbols_len]))
            o->symbols[o->symbols_len++].unit = unit;
        else if (gelf_getsym(t->entries, (int)i, &sym) && GELF_ST_TYPE(sym.st_info) == STT_FILE)
            unit++;
    }
}

static void symbols_read_tables(struct object *o, struct table *tables, size_t len,
                                enum object_symbol_source source)
{
    struct arena scratch = {0};
    size_t room = 0;
    for (size_t i = 0; i < len; i++)
        room += symbols_entries_in(&tables[i]);
    o->symbols = ARENA_NEW(&o->arena, struct object_symbol, room);
    for (size_t i = 0; i < len; i++)
        symbols_append(o, &tables[i], &scratch);
    o->symbols_source = o->symbols_len ? source : SYMBOLS_NONE;
    arena_deinit(&scratch);
}

/* .gnu_debugdata holds what .dynsym does not: together they are the table. */
static bool symbols_read_mini(struct object *o)
{
    struct table tables[2];
    if (!symbols_open_table(&tables[0], o, mini_debug(o), SHT_SYMTAB))
        return false;
    size_t len = 1 + symbols_open_table(&tables[1], o, &o->self, SHT_DYNSYM);
    symbols_read_tables(o, tables, len, SYMBOLS_GNU_DEBUGDATA);
    return o->symbols_len;
}

static bool symbols_read_one(struct object *o, const struct image *image, uint32_t type,
                             enum object_symbol_source source)
{
    struct table table;
    if (symbols_open_table(&table, o, image, type))
        symbols_read_tables(o, &table, 1, source);
    return o->symbols_len;
}

static void symbols_read(struct object *o)
{
    if (symbols_read_one(o, &o->self, SHT_SYMTAB, SYMBOLS_SYMTAB) || o->has_symtab_only)
        return;
    if (symbols_read_one(o, debug_file(o), SHT_SYMTAB, SYMBOLS_DEBUG_FILE) || symbols_read_mini(o))
        return;
    symbols_read_one(o, &o->self, SHT_DYNSYM, SYMBOLS_DYNSYM);
}

const struct object_symbol *object_symbols(struct object *o, size_t *len,
                                           enum object_symbol_source *source)
{
    if (!o->symbols_read) {
        o->symbols_read = true;
        symbols_read(o);
    }
    *len = o->symbols_len;
    if (source)
        *source = o->symbols_source;
    return o->symbols;
}
