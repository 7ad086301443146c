/* Symbol tables: ELF entries to addresses and names, with each machine's conventions removed; and
 * the symbol that an address lies in or after, for code that no debug information names.
 *
 * Reading chooses no symbols beyond leaving out those that name no place: what is a routine is
 * decided by the analysis. Names are pointers into the string table, which stays as it is in the
 * file; a table without a last NUL ends at the last one it has. The whole table is converted on the
 * first question and kept.
 *
 * By address, an index of code symbols is sorted once. Of several at one address, the choice is
 * that of BFD's better_fit() in elf.c of binutils 2.40: one that reaches the address before one
 * that does not, then functions, then typed ones, then the smaller one.
 *
 * Specification: gABI chapter 4. What the supplements of the machines add is in src/arch.
 *
 *     .symtab                         the file's own
 *     .symtab of the debug file       sections are matched by name and address
 *     .gnu_debugdata + .dynsym        one complements the other
 *     .gopclntab                      functions of Go programs (go_table.c)
 *     .dynsym                         what the dynamic linker needs
 *
 * Cost: a pass over the table on the first question, and a sort for questions by address. */
#include "objfile/private.h"

#include "base/sort.h"
#include "base/vec.h"
#include "base/bytes.h"

#include <stdlib.h>
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

/* A section's entries, converted to this machine's byte order; NULL: it has none. */
static Elf_Data *symbols_section_data(const struct image *image, size_t index, GElf_Shdr *header)
{
    Elf_Scn *section;
    if (!image_section(image, index, &section, header) || header->sh_type == SHT_NOBITS)
        return NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf ? data : NULL;
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

/* Finds a table and what belongs to it; false where there is none. */
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
    GElf_Shdr strings, long_indexes;
    size_t names = header.sh_link;
    if (image_section(image, names, NULL, &strings) && strings.sh_type == SHT_STRTAB) {
        struct bytes all = image_bytes(image, names);
        while (all.len && all.at[all.len - 1])
            all.len--; /* up to its last NUL, so that every name ends */
        t->names = (const char *)all.at;
        t->names_len = all.len;
    }
    /* Section indices of 0xff00 and more stand in a table of their own, which points to ours. */
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, NULL, &long_indexes) &&
            long_indexes.sh_type == SHT_SYMTAB_SHNDX && long_indexes.sh_link == index)
            t->long_indexes = symbols_section_data(image, i, &long_indexes);
    return t->names_len > 0;
}

/* Entry 0, which is none, included. */
static size_t symbols_entries_in(const struct table *t)
{
    return t->entries->d_size / gelf_fsize(t->image->elf, ELF_T_SYM, 1, EV_CURRENT);
}

/* Machines may have a type of their own for functions. */
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

/* Bindings of other systems are BIND_OTHER: `nm` prints '?' for them. */
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

/* 64-bit PowerPC, ELFv1: from a descriptor to the code, whose address is its first word. */
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

/* One entry; false if it is no symbol, or names no place. */
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
    bool may_be_note = s->type == SYMBOL_NOTYPE && s->binding == BIND_LOCAL;
    s->is_mapping = may_be_note && ((s->name[0] == '.' && s->name[1] == 'L') ||
                                    (s->name[0] == '$' && a->is_mapping && a->is_mapping(s->name)));
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
    const struct image *self = &o->self;
    GElf_Shdr header;
    if (t->image != self) {
        t->sections = ARENA_NEW(scratch, uint32_t, t->image->sections_len);
        for (size_t i = 1; i < t->image->sections_len; i++)
            t->sections[i] = symbols_same_section(o, t->image, i);
    }
    struct arch_target target = image_target(self);
    const struct arch *a = arch_of(&target);
    bool has_descriptors =
        a->has_descriptors && a->has_descriptors(&target) && self->header.e_type != ET_REL;
    size_t opd = has_descriptors ? image_find(self, SHT_PROGBITS, ".opd") : 0;
    if (opd && image_section(self, opd, NULL, &header)) {
        t->descriptors.bytes = image_bytes(self, opd);
        t->descriptors.address = header.sh_addr;
    }
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

/* Room for all entries is set aside at once: most are kept, and the arena cannot give back. */
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

/* True if the table has a symbol that is kept. */
static bool symbols_read_one(struct object *o, const struct image *image, uint32_t type,
                             enum object_symbol_source source)
{
    struct table table;
    if (symbols_open_table(&table, o, image, type))
        symbols_read_tables(o, &table, 1, source);
    return o->symbols_len;
}

/* The best table that there is, see enum object_symbol_source. */
static void symbols_read(struct object *o)
{
    if (symbols_read_one(o, &o->self, SHT_SYMTAB, SYMBOLS_SYMTAB) || o->has_symtab_only ||
        symbols_read_one(o, debug_file(o), SHT_SYMTAB, SYMBOLS_DEBUG_FILE))
        return;
    struct table tables[2];
    if (symbols_open_table(&tables[0], o, mini_debug(o), SHT_SYMTAB)) {
        /* .gnu_debugdata holds what .dynsym does not: together they are the table. */
        size_t len = 1 + symbols_open_table(&tables[1], o, &o->self, SHT_DYNSYM);
        symbols_read_tables(o, tables, len, SYMBOLS_GNU_DEBUGDATA);
        if (o->symbols_len)
            return;
    }
    if (!go_functions_read(o))
        symbols_read_one(o, &o->self, SHT_DYNSYM, SYMBOLS_DYNSYM);
}

/* The table is read on the first question, and kept even if it is empty. */
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

/* --- symbols by address ----------------------------------------------------------------------- */

struct nearest {
    VEC(struct keyed) symbols; /* by address: index into the object's symbols */
};

/* Symbols that can name code, sorted by address, in the order of the table where that is equal.
 * Made on the first question. */
static struct nearest *nearest_of(struct object *o)
{
    if (o->nearest)
        return o->nearest;
    struct nearest *n = o->nearest = calloc(1, sizeof *n);
    if (!n)
        memory_exhausted(sizeof *n);
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len && i < UINT32_MAX; i++) {
        const struct object_symbol *s = &symbols[i];
        if (s->section && !s->is_mapping &&
            (s->type == SYMBOL_NOTYPE || s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC))
            vec_push(&n->symbols, (struct keyed){s->address, (uint32_t)i});
    }
    sort_keyed(n->symbols.at, n->symbols.len);
    return n;
}

void nearest_free(struct nearest *n)
{
    if (!n)
        return;
    vec_free(&n->symbols);
    free(n);
}

/* How many symbols start at or below the address. */
static size_t symbols_up_to(const struct nearest *n, uint64_t address)
{
    return PARTITION_POINT(n->symbols.len, i, n->symbols.at[i].key <= address);
}

/* A symbol without a size holds its own address. */
static uint64_t extent(const struct object_symbol *s)
{
    return s->size ? s->size : 1;
}

/* Whether BFD would take `candidate`, which is at or below the address as `best` is. */
static bool fits_better(const struct object_symbol *candidate, const struct object_symbol *best,
                        uint64_t address)
{
    uint64_t distance = address - best->address;
    if (candidate->address != best->address)
        return candidate->address > best->address;
    if (extent(best) <= distance)
        return extent(candidate) > extent(best);
    if (extent(candidate) <= distance)
        return false;
    bool is_function = candidate->type == SYMBOL_FUNC, best_is = best->type == SYMBOL_FUNC;
    if (is_function != best_is)
        return is_function;
    if ((candidate->type == SYMBOL_NOTYPE) != (best->type == SYMBOL_NOTYPE))
        return best->type == SYMBOL_NOTYPE;
    return extent(candidate) < extent(best);
}

/* Binary search, then all symbols of the address that is found: the best of them by BFD's rules. */
const struct object_symbol *nearest_symbol(struct object *o, uint64_t address)
{
    uint32_t section = section_at(o, address);
    if (!section)
        return NULL;
    size_t end = symbols_up_to(nearest_of(o), address), start = end;
    const struct object_symbol *symbols = o->symbols, *best = NULL;
    const struct keyed *at = o->nearest->symbols.at;
    /* Symbols of other sections can only stand between at the section's very start. */
    while (start && at[start - 1].key >= o->sections[section].address &&
           (!best || at[start - 1].key == best->address)) {
        start--;
        if (symbols[at[start].item].section == section)
            best = &symbols[at[start].item];
    }
    for (size_t i = start; best && i < end; i++) {
        const struct object_symbol *s = &symbols[at[i].item];
        if (s->section == section && fits_better(s, best, address))
            best = s;
    }
    return best;
}

/* Three things can change the answer: the next symbol, a section's border, and the end of one of
 * several symbols at one address. */
uint64_t nearest_after(struct object *o, uint64_t address)
{
    enum { MOST_AT_ONE_PLACE = 64 };
    const struct nearest *n = nearest_of(o);
    const struct keyed *at = n->symbols.at;
    size_t up_to = symbols_up_to(n, address);
    uint64_t next = up_to < n->symbols.len ? at[up_to].key : UINT64_MAX;
    /* Where a section begins or ends, another one's symbols count. */
    for (uint32_t i = 1; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        uint64_t end = s->address + s->size;
        if (!s->is_alloc)
            continue;
        if (s->address > address && s->address < next)
            next = s->address;
        if (end > address && end < next)
            next = end;
    }
    if (!up_to)
        return next;
    /* Of several symbols at one address, the choice changes where one of them ends. Groups so large
     * that this would take long are made on purpose, and pass for one symbol. */
    size_t last = up_to - 1, first = last;
    while (first && at[first - 1].key == at[last].key && last - first < MOST_AT_ONE_PLACE)
        first--;
    if (first == last || last - first == MOST_AT_ONE_PLACE)
        return next;
    for (size_t i = first; i <= last; i++) {
        uint64_t end = at[i].key + extent(&o->symbols[at[i].item]);
        if (end > address && end < next)
            next = end;
    }
    return next;
}

/* --- mentions --------------------------------------------------------------------------------- */

/* A pass over both tables of the file itself. */
bool object_mentions(struct object *o, const char *symbol)
{
    static const uint32_t TYPES[] = {SHT_DYNSYM, SHT_SYMTAB};
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        size_t index = image_find(&o->self, TYPES[i], NULL);
        GElf_Shdr header;
        GElf_Sym sym;
        Elf_Data *data = index ? symbols_section_data(&o->self, index, &header) : NULL;
        for (int k = 1; data && gelf_getsym(data, k, &sym); k++) {
            const char *name = elf_strptr(o->self.elf, header.sh_link, sym.st_name);
            if (name && !strcmp(name, symbol))
                return true;
        }
    }
    return false;
}

/* The names that GCC's back ends call, which differ by machine and system. */
const char *object_call_counter(struct object *o)
{
    static const char *const NAMES[] = {"mcount",       "_mcount",         "__mcount",
                                        "__fentry__",   "__gnu_mcount_nc", "__mcount_internal",
                                        "__gnu_mcount", "_mcount_nc"};
    if (o->excerpt)
        return o->excerpt->counts_calls ? NAMES[0] : NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (object_mentions(o, NAMES[i]))
            return NAMES[i];
    return NULL;
}
