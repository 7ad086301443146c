/* Functions of Go programs by the table that their own runtime reads. It stays in the file when
 * `strip` or `go build -ldflags=-s` takes the symbols away.
 *
 *     header     magic, 2 zeros, size of instructions, size of a word, then words:
 *     Go 1.2     functions, then the table of functions itself; all offsets are from the header
 *     Go 1.16    functions, files, then where names, units, files, pairs and functions begin
 *     Go 1.18    the same with the address of the text behind the files; Go 1.20 has another magic
 *
 *     table of functions   address, record; address, record; ...; address of the end
 *     record               address, offset of the name; the rest is for others
 *
 * Addresses are words, and numbers of 4 bytes from the start of the text since Go 1.18. In
 * position- independent programs the linker may leave that start to a relocation, which has it
 * then. Where such a relocation stands for each address, as up to Go 1.17, the table is in no
 * order, and is not taken.
 *
 * Nothing is allocated by a number that the bytes do not bear out; a function that makes no sense
 * is left out. Names are pointers into the file. Lines are in the table, too, and not read.
 *
 * Source: debug/gosym/pclntab.go and runtime/symtab.go of Go 1.2 to 1.22. Cost: a pass over the
 * table. */
#include "objfile/private.h"

#include <string.h>

/* Numbers of words of the header behind the first 8 bytes; 0: there is none. */
struct go_layout {
    uint32_t magic;
    uint8_t text, names, functions;
};

static const struct go_layout LAYOUTS[] = {
    {0xfffffffb, 0, 0, 0},
    {0xfffffffa, 0, 2, 6},
    {0xfffffff0, 2, 3, 7},
    {0xfffffff1, 2, 3, 7},
};

struct go_table {
    struct bytes functions, records, names;
    uint64_t text; /* what addresses count from */
    size_t len;
    uint8_t width; /* of an address, and of the offset behind it */
    bool is_big;
};

static uint64_t go_number(const struct go_table *t, const uint8_t *at)
{
    return t->width == 4 ? bytes_u32(at, t->is_big) : bytes_u64(at, t->is_big);
}

/* What a relocation puts at an address; 0: there is none. */
static uint64_t go_relocated(const struct object *o, uint64_t address)
{
    GElf_Shdr header;
    Elf_Scn *section;
    GElf_Rela r;
    for (size_t i = 1; i < o->self.sections_len; i++) {
        if (!image_section(&o->self, i, &section, &header) || header.sh_type != SHT_RELA)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int k = 0; data && gelf_getrela(data, k, &r); k++)
            if (r.r_offset == address && !GELF_R_SYM(r.r_info))
                return (uint64_t)r.r_addend;
    }
    return 0;
}

/* The start of the text where the header leaves it open. Code of C may stand in front of Go's in a
 * program that is linked with it. */
static uint64_t go_text(struct object *o, uint64_t address)
{
    uint64_t text = go_relocated(o, address);
    if (text || object_facts(o)->interpreter)
        return text;
    (void)object_section_bytes(o, ".text", &text);
    return text;
}

/* Finds the parts; false: it is no such table, or too short for what it says. */
static bool go_open(struct go_table *t, struct object *o, struct bytes all, uint64_t address)
{
    const struct go_layout *layout = NULL;
    size_t word = object_word(o);
    t->is_big = object_is_big_endian(o);
    if (all.len < 8 + 8 * word || all.at[4] || all.at[5] || all.at[7] != word)
        return false;
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++)
        if (LAYOUTS[i].magic == bytes_u32(all.at, t->is_big))
            layout = &LAYOUTS[i];
    if (!layout)
        return false;
    uint64_t words[8];
    t->width = (uint8_t)word;
    for (size_t i = 0; i < 8; i++)
        words[i] = go_number(t, all.at + 8 + i * word);
    uint64_t names = layout->names ? words[layout->names] : 0;
    uint64_t functions = layout->functions ? words[layout->functions] : 8 + word;
    if (names > all.len || functions > all.len)
        return false;
    t->names = (struct bytes){all.at + names, all.len - names};
    t->functions = (struct bytes){all.at + functions, all.len - functions};
    t->records = layout->functions ? t->functions : all;
    if (layout->text) {
        t->text = words[layout->text];
        t->text = t->text ? t->text : go_text(o, address + 8 + layout->text * word);
        t->width = 4;
        if (!t->text)
            return false;
    }
    t->len = words[0];
    return t->functions.len / t->width >= 1 && t->len <= (t->functions.len / t->width - 1) / 2;
}

/* The name in a function's record; NULL: it is not in the table. */
static const char *go_name(const struct go_table *t, uint64_t record)
{
    if (record > t->records.len || t->records.len - record < t->width + 4u)
        return NULL;
    uint32_t name = bytes_u32(t->records.at + record + t->width, t->is_big);
    if (name >= t->names.len || !memchr(t->names.at + name, 0, t->names.len - name))
        return NULL;
    return (const char *)t->names.at + name;
}

bool go_functions_read(struct object *o)
{
    struct go_table t = {0};
    uint64_t address = 0;
    struct bytes all = object_section_bytes(o, ".gopclntab", &address);
    if (!all.len)
        all = object_section_bytes(o, ".data.rel.ro.gopclntab", &address);
    if (!all.len || !go_open(&t, o, all, address))
        return false;
    o->symbols = ARENA_NEW(&o->arena, struct object_symbol, t.len);
    for (size_t i = 0; i < t.len; i++) {
        const uint8_t *at = t.functions.at + 2 * i * t.width;
        uint64_t start = t.text + go_number(&t, at), end = t.text + go_number(&t, at + 2 * t.width);
        const char *name = go_name(&t, go_number(&t, at + t.width));
        uint32_t section = section_at(o, start);
        if (end <= start || !name || !*name || !section || !o->sections[section].is_code)
            continue;
        o->symbols[o->symbols_len++] = (struct object_symbol){.name = name,
                                                              .address = start,
                                                              .size = end - start,
                                                              .section = section,
                                                              .type = SYMBOL_FUNC,
                                                              .binding = BIND_GLOBAL};
    }
    o->symbols_source = o->symbols_len ? SYMBOLS_SYMTAB : SYMBOLS_NONE;
    return o->symbols_len;
}
