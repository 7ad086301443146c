/* Symbol tables: ELF entries to addresses and names, with each machine's conventions removed.
 *
 * Chooses no symbols beyond leaving out those that name no place: what is a routine is decided by
 * the analysis. Names are pointers into the string table, which stays as it is in the file.
 * Specification: gABI chapter 4, and the supplements of the machines (AAELF32, AAELF64, MIPS,
 * 64-bit PowerPC ELF ABI 1.9, RISC-V psABI). */
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
};

static Elf_Data *section_data(const struct image *image, size_t index, GElf_Shdr *header)
{
    Elf_Scn *section;
    if (!image_section(image, index, &section, header) || header->sh_type == SHT_NOBITS)
        return NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf ? data : NULL;
}

/* The string table up to its last NUL. */
static void find_names(struct table *t, size_t index)
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
static void find_long_indexes(struct table *t, size_t symbols)
{
    GElf_Shdr header;
    for (size_t i = 1; i < t->image->sections_len; i++)
        if (image_section(t->image, i, NULL, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
            header.sh_link == symbols)
            t->long_indexes = section_data(t->image, i, &header);
}

uint32_t section_at(const struct object *o, uint64_t address)
{
    for (uint32_t i = 1; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        if (s->is_alloc && address >= s->address && address - s->address < s->size)
            return i;
    }
    return 0;
}

/* The program's section that is section `index` of a separate file: same name, same address. */
static uint32_t same_section(const struct object *o, const struct image *image, size_t index)
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

static void map_sections(struct table *t, struct arena *a)
{
    if (t->image == &t->object->self)
        return;
    t->sections = ARENA_NEW(a, uint32_t, t->image->sections_len);
    for (size_t i = 1; i < t->image->sections_len; i++)
        t->sections[i] = same_section(t->object, t->image, i);
}

static void find_descriptors(struct table *t)
{
    const struct image *self = &t->object->self;
    bool is_v1 = self->header.e_machine == EM_PPC64 && (self->header.e_flags & 3) != 2;
    if (!is_v1 || self->header.e_type == ET_REL)
        return;
    size_t index = image_find(self, SHT_PROGBITS, ".opd");
    GElf_Shdr header;
    if (!index || !image_section(self, index, NULL, &header))
        return;
    t->descriptors.bytes = image_bytes(self, index);
    t->descriptors.address = header.sh_addr;
}

static bool open_table(struct table *t, const struct object *o, const struct image *image,
                       uint32_t type)
{
    *t = (struct table){.object = o, .image = image};
    size_t index = image->elf ? image_find(image, type, NULL) : 0;
    GElf_Shdr header;
    t->entries = index ? section_data(image, index, &header) : NULL;
    if (!t->entries)
        return false;
    find_names(t, header.sh_link);
    find_long_indexes(t, index);
    return t->names_len > 0;
}

static size_t entries_in(const struct table *t)
{
    return t->entries->d_size / gelf_fsize(t->image->elf, ELF_T_SYM, 1, EV_CURRENT);
}

static uint8_t symbol_type(uint16_t machine, const GElf_Sym *sym)
{
    enum { SPARC_REGISTER = 13, ARM_THUMB = 13, PARISC_MILLICODE = 13 };
    switch (GELF_ST_TYPE(sym->st_info)) {
    case STT_NOTYPE: return SYMBOL_NOTYPE;
    case STT_OBJECT:
    case STT_COMMON: return SYMBOL_OBJECT;
    case STT_FUNC: return SYMBOL_FUNC;
    case STT_TLS: return SYMBOL_TLS;
    case STT_GNU_IFUNC: return SYMBOL_IFUNC;
    case ARM_THUMB: return machine == EM_ARM || machine == EM_PARISC ? SYMBOL_FUNC : SYMBOL_OTHER;
    default: return SYMBOL_OTHER;
    }
}

static uint8_t symbol_binding(const GElf_Sym *sym)
{
    switch (GELF_ST_BIND(sym->st_info)) {
    case STB_LOCAL: return BIND_LOCAL;
    case STB_GLOBAL: return BIND_GLOBAL;
    case STB_WEAK: return BIND_WEAK;
    case STB_GNU_UNIQUE: return BIND_UNIQUE;
    default: return BIND_OTHER;
    }
}

/* `$` and one of `letters`, alone or before a dot. */
static bool is_tag(const char *name, const char *letters)
{
    return name[0] == '$' && name[1] && strchr(letters, name[1]) && (!name[2] || name[2] == '.');
}

static bool is_mapping(uint16_t machine, const struct object_symbol *s)
{
    if (s->type != SYMBOL_NOTYPE || s->binding != BIND_LOCAL)
        return false;
    if (s->name[0] == '.' && s->name[1] == 'L')
        return true;
    if (s->name[0] != '$')
        return false;
    switch (machine) {
    case EM_ARM: return is_tag(s->name, "atdbfpm");
    case EM_AARCH64: return is_tag(s->name, "xdc");
    case EM_CSKY: return is_tag(s->name, "td");
    case EM_RISCV: /* $x may be followed by the instruction set: $xrv64i2p1_m2p0 */
        return is_tag(s->name, "xd") || !strncmp(s->name, "$xrv", 4);
    case EM_MIPS: return s->name[1] == 'L';
    default: return false;
    }
}

/* Odd code addresses say which instruction set runs there; the code itself lies one lower. */
static void clear_mode_bit(uint16_t machine, const GElf_Sym *sym, struct object_symbol *s)
{
    enum { MIPS16 = 0xf0, MICROMIPS = 0x80, MODE = 0xf0 };
    bool is_function = s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC;
    bool is_compressed_mips =
        (sym->st_other & MODE) == MIPS16 || (sym->st_other & 0xc0) == MICROMIPS;
    if ((machine == EM_ARM && is_function) ||
        (machine == EM_MIPS && (is_function || is_compressed_mips))) {
        s->is_compressed = s->address & 1 || (machine == EM_MIPS && is_compressed_mips);
        s->address &= ~(uint64_t)1;
    }
}

/* The three topmost bits of st_other: 0 and 1 for none, then 4, 8, ... 64. */
static uint8_t local_entry(uint16_t machine, const GElf_Sym *sym)
{
    unsigned log = sym->st_other >> 5;
    return machine == EM_PPC64 && log > 1 && log < 7 ? (uint8_t)(1u << log) : 0;
}

static void follow_descriptor(const struct table *t, struct object_symbol *s)
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
static bool place(const struct table *t, const GElf_Sym *sym, uint32_t long_index,
                  struct object_symbol *s)
{
    enum { X86_64_LARGE_COMMON = 0xff02, MIPS_SMALL_COMMON = 0xff03 };
    uint16_t machine = t->image->header.e_machine;
    uint32_t index = sym->st_shndx == SHN_XINDEX ? long_index : sym->st_shndx;
    if (index == SHN_UNDEF)
        return false;
    s->section = 0;
    if (sym->st_shndx != SHN_XINDEX && index >= SHN_LORESERVE) {
        if (index == SHN_COMMON || (machine == EM_X86_64 && index == X86_64_LARGE_COMMON) ||
            (machine == EM_MIPS && index == MIPS_SMALL_COMMON))
            s->type = SYMBOL_COMMON;
        return true;
    }
    if (index < t->image->sections_len)
        s->section = t->sections ? t->sections[index] : index;
    return true;
}

static bool convert(const struct table *t, size_t i, struct object_symbol *s)
{
    GElf_Sym sym;
    Elf32_Word long_index = 0;
    if (!gelf_getsymshndx(t->entries, t->long_indexes, (int)i, &sym, &long_index))
        return false;
    int type = GELF_ST_TYPE(sym.st_info);
    if (type == STT_SECTION || type == STT_FILE || sym.st_name >= t->names_len)
        return false;
    uint16_t machine = t->image->header.e_machine;
    *s = (struct object_symbol){.name = t->names + sym.st_name,
                                .address = sym.st_value,
                                .size = sym.st_size,
                                .type = symbol_type(machine, &sym),
                                .binding = symbol_binding(&sym),
                                .local_entry = local_entry(machine, &sym)};
    if (!place(t, &sym, long_index, s))
        return false;
    s->is_mapping = is_mapping(machine, s);
    clear_mode_bit(machine, &sym, s);
    follow_descriptor(t, s);
    return true;
}

/* Appends the table's symbols to o->symbols, which has room. */
static void append(struct object *o, struct table *t, struct arena *scratch)
{
    map_sections(t, scratch);
    find_descriptors(t);
    size_t len = entries_in(t);
    for (size_t i = 1; i < len; i++)
        if (convert(t, i, &o->symbols[o->symbols_len]))
            o->symbols_len++;
}

static void read_tables(struct object *o, struct table *tables, size_t len,
                        enum object_symbol_source source)
{
    struct arena scratch = {0};
    size_t room = 0;
    for (size_t i = 0; i < len; i++)
        room += entries_in(&tables[i]);
    o->symbols = ARENA_NEW(&o->arena, struct object_symbol, room);
    for (size_t i = 0; i < len; i++)
        append(o, &tables[i], &scratch);
    o->symbols_source = o->symbols_len ? source : SYMBOLS_NONE;
    arena_deinit(&scratch);
}

/* .gnu_debugdata holds what .dynsym does not: together they are the table. */
static bool read_mini(struct object *o)
{
    struct table tables[2];
    if (!open_table(&tables[0], o, mini_debug(o), SHT_SYMTAB))
        return false;
    size_t len = 1 + open_table(&tables[1], o, &o->self, SHT_DYNSYM);
    read_tables(o, tables, len, SYMBOLS_GNU_DEBUGDATA);
    return o->symbols_len;
}

static bool read_one(struct object *o, const struct image *image, uint32_t type,
                     enum object_symbol_source source)
{
    struct table table;
    if (open_table(&table, o, image, type))
        read_tables(o, &table, 1, source);
    return o->symbols_len;
}

void symbols_read(struct object *o)
{
    if (read_one(o, &o->self, SHT_SYMTAB, SYMBOLS_SYMTAB) || o->as_gnu)
        return;
    if (read_one(o, debug_file(o), SHT_SYMTAB, SYMBOLS_DEBUG_FILE) || read_mini(o))
        return;
    read_one(o, &o->self, SHT_DYNSYM, SYMBOLS_DYNSYM);
}
