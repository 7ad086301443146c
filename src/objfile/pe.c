/* Makes an ELF image in memory of a PE image: its sections with the addresses at which they are
 * linked, COFF symbols, and the bytes of the file as they are, DWARF included.
 *
 * CodeView and PDB are not read, nor COFF object files that were not linked, nor imports and
 * exports. Specification: Microsoft's PE Format, sections "COFF File Header" to "COFF String
 * Table"; the System V gABI, chapter 4.
 *
 *     ELF header | program headers of code | the PE file | symbols | names | section headers
 *
 * A section keeps its number and its place in the file; its address is the image's base plus the
 * one it has relative to it. Everything of the PE file is checked against its size when it is
 * read, so that writing checks nothing. Cost: a copy of the file. */
#include "objfile/private.h"

#include "arch/arch.h"
#include "base/bytes.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum {
    PE_LFANEW = 0x3c, /* where the DOS header says where the rest is */
    PE_HEADER_BYTES = 24,
    PE_SECTION_BYTES = 40,
    PE_SYMBOL_BYTES = 18,
    PE_MOST_SECTIONS = 0xfe00,
    PE_FILE_IS_LIBRARY = 0x2000,
    PE_MAGIC_32 = 0x10b,
    PE_MAGIC_64 = 0x20b,
};

/* Section flags. */
#define PE_SECTION_CODE        0x00000020u
#define PE_SECTION_DISCARDABLE 0x02000000u
#define PE_SECTION_EXECUTE     0x20000000u
#define PE_SECTION_WRITE       0x80000000u

/* Storage classes of symbols, and the type of functions. */
enum { PE_CLASS_EXTERNAL = 2, PE_CLASS_STATIC = 3, PE_CLASS_WEAK = 105, PE_TYPE_FUNCTION = 0x20 };

/* A section header, of 40 bytes: name, sizes, address, offset, flags. */
struct pe_section {
    const char *name;
    size_t name_len;
    uint32_t address, size, offset, flags; /* address: from the image's base */
    bool has_bytes;
};

/* The PE image, as far as its headers were read. */
struct pe {
    struct bytes file;
    const char *path;
    const struct arch *arch;
    uint16_t file_flags;
    uint64_t base;
    uint32_t entry, symbols_at, symbols_len;
    VEC(struct pe_section) sections;
    struct bytes names; /* COFF's string table, with its length in front */
};

bool pe_probe(struct bytes start)
{
    return start.len >= 2 && !memcmp(start.at, "MZ", 2);
}

/* A cursor from an offset on; failed if it is beyond the file. */
static struct cursor pe_at(const struct pe *p, uint64_t offset)
{
    struct cursor in = cursor_over(p->file, p->path);
    if (!cursor_take(&in, offset))
        in.failed = true;
    return in;
}

/* Refuses a file that ends before what its headers promise. */
static bool pe_cut(const struct pe *p, const char *what, enum object_failure *why, struct err *e)
{
    *why = OBJECT_BROKEN;
    return err_in(e, p->path, "a Windows program cut short: %s beyond its %zu bytes", what,
                  p->file.len);
}

/* A text in COFF's string table; NULL if it is not whole. */
static const char *pe_long_name(const struct pe *p, uint64_t offset)
{
    if (offset < 4 || offset >= p->names.len ||
        !memchr(p->names.at + offset, 0, p->names.len - offset))
        return NULL;
    return (const char *)p->names.at + offset;
}

/* COFF's string table follows the symbols; stripped programs have neither. */
static bool pe_read_names(struct pe *p, enum object_failure *why, struct err *e)
{
    uint64_t bytes = (uint64_t)p->symbols_len * PE_SYMBOL_BYTES;
    if (!p->symbols_at)
        p->symbols_len = 0;
    if (!p->symbols_len)
        return true;
    if (p->symbols_at > p->file.len || bytes > p->file.len - p->symbols_at)
        return pe_cut(p, "its symbols are", why, e);
    struct cursor in = pe_at(p, p->symbols_at + bytes);
    uint32_t len = cursor_left(&in) >= 4 ? bytes_u32(in.at, false) : 0;
    if (len > cursor_left(&in))
        return pe_cut(p, "the names of its symbols are", why, e);
    p->names = (struct bytes){in.at, len};
    return true;
}

/* A section may have more bytes in the file than in memory (padding), or none. */
static bool pe_read_section(struct pe *p, struct cursor *in, enum object_failure *why,
                            struct err *e)
{
    struct pe_section s = {0};
    const uint8_t *field = cursor_take(in, 8);
    uint32_t in_memory = cursor_u32(in);
    s.address = cursor_u32(in);
    uint32_t in_file = cursor_u32(in);
    s.offset = cursor_u32(in);
    cursor_take(in, 12);
    s.flags = cursor_u32(in);
    if (in->failed)
        return pe_cut(p, "its section headers are", why, e);
    s.has_bytes = in_file && s.offset;
    if (s.has_bytes && (s.offset > p->file.len || in_file > p->file.len - s.offset))
        return pe_cut(p, "its sections are", why, e);
    s.size = !s.has_bytes ? in_memory : in_memory && in_memory < in_file ? in_memory : in_file;
    /* "/123" is a place in the string table: names of debug sections have more than 8 characters.
     */
    uint64_t offset = 0;
    unsigned digits = 1;
    for (; field[0] == '/' && digits < 8 && field[digits] >= '0' && field[digits] <= '9'; digits++)
        offset = offset * 10 + (field[digits] - '0');
    const char *name = digits > 1 ? pe_long_name(p, offset) : NULL;
    s.name = name ? name : (const char *)field;
    s.name_len = name ? strlen(name) : strnlen((const char *)field, 8);
    vec_push(&p->sections, s);
    return true;
}

/* The DOS header leads to the PE header: machine, sections, symbols, the optional header with the
 * entry and the base address. */
static bool pe_read(struct pe *p, enum object_failure *why, struct err *e)
{
    struct cursor dos = pe_at(p, PE_LFANEW), in = pe_at(p, cursor_u32(&dos));
    uint32_t signature = cursor_u32(&in);
    uint16_t machine = cursor_u16(&in);
    p->arch = arch_of_pe(machine);
    uint16_t sections = cursor_u16(&in);
    cursor_u32(&in);
    p->symbols_at = cursor_u32(&in);
    p->symbols_len = cursor_u32(&in);
    uint16_t optional = cursor_u16(&in);
    p->file_flags = cursor_u16(&in);
    struct cursor header = in;
    uint16_t magic = cursor_u16(&header);
    *why = OBJECT_NOT_ELF;
    if (dos.failed || in.failed || signature != 0x4550) /* "PE", 0, 0 */
        return err_in(e, p->path, "a DOS program, not an ELF object");
    if (magic != PE_MAGIC_32 && magic != PE_MAGIC_64)
        return err_in(e, p->path, "a Windows program of unknown kind");
    if (!p->arch)
        return err_in(e, p->path, "a Windows program for an unknown machine (0x%x)", machine);
    cursor_take(&header, 14);
    p->entry = cursor_u32(&header);
    cursor_take(&header, magic == PE_MAGIC_32 ? 8 : 4);
    p->base = magic == PE_MAGIC_32 ? cursor_u32(&header) : cursor_u64(&header);
    cursor_take(&in, optional);
    if (header.failed || in.failed || sections > PE_MOST_SECTIONS)
        return pe_cut(p, "its headers are", why, e);
    bool ok = pe_read_names(p, why, e);
    for (unsigned i = 0; ok && i < sections; i++)
        ok = pe_read_section(p, &in, why, e);
    return ok;
}

/* ---- the ELF image */

/* The image that is being written, and where its parts have come to stand. */
struct pe_output {
    const struct pe *pe;
    struct writer *w;
    VEC(uint8_t) names; /* of sections, then of symbols: one table */
    VEC(uint32_t) section_names;
    uint64_t file_at, symbols_at, names_at;
    uint64_t symbols_bytes;
};

/* Appends a text to the table of names; returns its offset. */
static uint32_t pe_add_name(struct pe_output *out, const char *name, size_t len)
{
    size_t at = out->names.len;
    vec_reserve(&out->names, at + len + 1);
    memcpy(out->names.at + at, name, len);
    out->names.at[at + len] = 0;
    out->names.len += len + 1;
    return (uint32_t)at;
}

/* To what symbols and headers need. */
static void pe_align(struct writer *w)
{
    while (w->out.len % 8)
        writer_u8(w, 0);
}

/* Words of the class, in the order of Elf64_Shdr and Elf32_Shdr, which is one. */
static void pe_write_header(struct writer *w, const Elf64_Shdr *s)
{
    writer_u32(w, s->sh_name);
    writer_u32(w, s->sh_type);
    writer_word(w, s->sh_flags);
    writer_word(w, s->sh_addr);
    writer_word(w, s->sh_offset);
    writer_word(w, s->sh_size);
    writer_u32(w, s->sh_link);
    writer_u32(w, s->sh_info);
    writer_word(w, s->sh_addralign);
    writer_word(w, s->sh_entsize);
}

/* Either flag means it. */
static bool pe_is_code(const struct pe_section *s)
{
    return s->flags & (PE_SECTION_CODE | PE_SECTION_EXECUTE);
}

/* The one for a section of code. Flags stand in different places in the two classes. */
static void pe_write_segment(struct pe_output *out, const struct pe_section *s)
{
    struct writer *w = out->w;
    uint64_t address = out->pe->base + s->address, offset = out->file_at + s->offset;
    writer_u32(w, PT_LOAD);
    if (w->word == 8)
        writer_u32(w, PF_R | PF_X);
    writer_word(w, offset);
    writer_word(w, address);
    writer_word(w, address);
    writer_word(w, s->has_bytes ? s->size : 0);
    writer_word(w, s->size);
    if (w->word == 4)
        writer_u32(w, PF_R | PF_X);
    writer_word(w, 16);
}

/* Elf64_Sym and Elf32_Sym have the same fields in different orders. */
static void pe_write_symbol(struct pe_output *out, uint32_t name, uint64_t value, uint8_t info,
                            uint16_t section)
{
    struct writer *w = out->w;
    writer_u32(w, name);
    if (w->word == 4) {
        writer_u32(w, (uint32_t)value);
        writer_u32(w, 0);
    }
    writer_u8(w, info);
    writer_u8(w, STV_DEFAULT);
    writer_u16(w, section);
    if (w->word == 8) {
        writer_u64(w, value);
        writer_u64(w, 0);
    }
}

/* One entry. Sections, files, undefined and absolute symbols and those of debuggers are left out.
 */
static void pe_convert_symbol(struct pe_output *out, const uint8_t *entry)
{
    const struct pe *p = out->pe;
    uint32_t value = bytes_u32(entry + 8, false);
    uint16_t section = bytes_u16(entry + 12, false), type = bytes_u16(entry + 14, false);
    uint8_t class = entry[16], binding = class == PE_CLASS_STATIC ? STB_LOCAL
                                         : class == PE_CLASS_WEAK ? STB_WEAK
                                                                  : STB_GLOBAL;
    bool is_long = !bytes_u32(entry, false);
    const char *name = is_long ? pe_long_name(p, bytes_u32(entry + 4, false)) : (const char *)entry;
    bool is_symbol =
        class == PE_CLASS_EXTERNAL || class == PE_CLASS_STATIC || class == PE_CLASS_WEAK;
    if (!is_symbol || !name || !section || section > p->sections.len)
        return;
    const struct pe_section *s = &p->sections.at[section - 1];
    size_t len = is_long ? strlen(name) : strnlen(name, 8);
    if (!len || (class == PE_CLASS_STATIC && len == s->name_len && !memcmp(name, s->name, len)))
        return;
    if (p->arch->has_pe_underscores && *name == '_' && len > 1)
        name++, len--;
    uint8_t kind = type == PE_TYPE_FUNCTION ? STT_FUNC : pe_is_code(s) ? STT_NOTYPE : STT_OBJECT;
    pe_write_symbol(out, pe_add_name(out, name, len), p->base + s->address + value,
                    (uint8_t)(binding << 4 | kind), section);
}

/* Auxiliary entries may follow an entry and are skipped: the last byte says how many. */
static void pe_write_symbols(struct pe_output *out)
{
    const struct pe *p = out->pe;
    const uint8_t *entries = p->file.at + p->symbols_at;
    pe_align(out->w);
    out->symbols_at = out->w->out.len;
    pe_write_symbol(out, 0, 0, 0, 0);
    for (uint64_t i = 0; i < p->symbols_len; i += 1 + entries[i * PE_SYMBOL_BYTES + 17])
        pe_convert_symbol(out, entries + i * PE_SYMBOL_BYTES);
    out->symbols_bytes = out->w->out.len - out->symbols_at;
}

/* Sections keep their numbers, which symbols use; symbols and names follow. */
static void pe_write_sections(struct pe_output *out)
{
    struct writer *w = out->w;
    const size_t sections = out->pe->sections.len;
    pe_write_header(w, &(Elf64_Shdr){0});
    for (size_t i = 0; i < sections; i++) {
        const struct pe_section *s = &out->pe->sections.at[i];
        /* Sections of DWARF, packed or not: they have no address in the ELF image. */
        bool is_code = pe_is_code(s),
             is_debug = s->name_len > 6 &&
                        (!memcmp(s->name, ".debug", 6) || !memcmp(s->name, ".zdebu", 6));
        bool is_loaded = !is_debug && !(s->flags & PE_SECTION_DISCARDABLE && !is_code);
        pe_write_header(w, &(Elf64_Shdr){.sh_name = out->section_names.at[i],
                                         .sh_type = s->has_bytes ? SHT_PROGBITS : SHT_NOBITS,
                                         .sh_flags = (is_loaded ? SHF_ALLOC : 0u) |
                                                     (is_code ? SHF_EXECINSTR : 0u) |
                                                     (s->flags & PE_SECTION_WRITE ? SHF_WRITE : 0u),
                                         .sh_addr = is_debug ? 0 : out->pe->base + s->address,
                                         .sh_offset = out->file_at + s->offset,
                                         .sh_size = s->size,
                                         .sh_addralign = 1});
    }
    pe_write_header(
        w, &(Elf64_Shdr){.sh_name = out->section_names.at[sections],
                         .sh_type = SHT_SYMTAB,
                         .sh_offset = out->symbols_at,
                         .sh_size = out->symbols_bytes,
                         .sh_link = (uint32_t)sections + 2,
                         .sh_info = 1,
                         .sh_addralign = 8,
                         .sh_entsize = w->word == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)});
    pe_write_header(w, &(Elf64_Shdr){.sh_name = out->section_names.at[sections + 1],
                                     .sh_type = SHT_STRTAB,
                                     .sh_offset = out->names_at,
                                     .sh_size = out->names.len,
                                     .sh_addralign = 1});
}

/* Where the section headers are is not known yet. */
static void pe_write_start(struct pe_output *out, uint16_t segments)
{
    const bool is_64 = out->w->word == 8;
    struct writer *w = out->w;
    const uint8_t ident[EI_NIDENT] = {
        ELFMAG0,     ELFMAG1,   ELFMAG2, ELFMAG3, is_64 ? ELFCLASS64 : ELFCLASS32,
        ELFDATA2LSB, EV_CURRENT};
    const uint16_t sections = (uint16_t)(out->pe->sections.len + 3);
    writer_bytes(w, ident, sizeof ident);
    writer_u16(w, out->pe->file_flags & PE_FILE_IS_LIBRARY ? ET_DYN : ET_EXEC);
    writer_u16(w, out->pe->arch->machines[0]);
    writer_u32(w, EV_CURRENT);
    writer_word(w, out->pe->base + out->pe->entry);
    writer_word(w, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    writer_word(w, 0);
    writer_u32(w, 0);
    writer_u16(w, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    writer_u16(w, is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    writer_u16(w, segments);
    writer_u16(w, is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    writer_u16(w, sections);
    writer_u16(w, sections - 1);
    out->file_at = w->out.len + segments * (is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    out->file_at = (out->file_at + 15) & ~UINT64_C(15);
}

/* The ELF image: header, one segment for each section of code, the whole PE file, then symbols,
 * names and section headers. Offsets of sections lead into the PE file, which is copied once. */
static void pe_write(const struct pe *p, struct writer *w)
{
    struct pe_output out = {.pe = p, .w = w};
    uint16_t segments = 0;
    for (size_t i = 0; i < p->sections.len; i++)
        segments += pe_is_code(&p->sections.at[i]);
    vec_push(&out.names, 0);
    for (size_t i = 0; i < p->sections.len; i++)
        vec_push(&out.section_names,
                 pe_add_name(&out, p->sections.at[i].name, p->sections.at[i].name_len));
    vec_push(&out.section_names, pe_add_name(&out, ".symtab", 7));
    vec_push(&out.section_names, pe_add_name(&out, ".strtab", 7));
    pe_write_start(&out, segments);
    for (size_t i = 0; i < p->sections.len; i++)
        if (pe_is_code(&p->sections.at[i]))
            pe_write_segment(&out, &p->sections.at[i]);
    while (w->out.len < out.file_at)
        writer_u8(w, 0);
    writer_bytes(w, p->file.at, p->file.len);
    pe_write_symbols(&out);
    out.names_at = w->out.len;
    writer_bytes(w, out.names.at, out.names.len);
    pe_align(w);
    uint64_t headers_at = w->out.len;
    pe_write_sections(&out);
    if (w->word == 8)
        memcpy(w->out.at + offsetof(Elf64_Ehdr, e_shoff), &headers_at, 8);
    else
        memcpy(w->out.at + offsetof(Elf32_Ehdr, e_shoff), &(uint32_t){(uint32_t)headers_at}, 4);
    vec_free(&out.names);
    vec_free(&out.section_names);
}

/* Byte order is little-endian in all PE images. */
bool pe_to_elf(struct bytes pe, const char *name, struct writer *elf, enum object_failure *why,
               struct err *e)
{
    struct pe p = {.file = pe, .path = name};
    bool ok = pe_read(&p, why, e);
    if (ok) {
        elf->word = p.arch->word == 4 ? 4 : 8;
        elf->big_endian = false;
        *why = OBJECT_OK;
        pe_write(&p, elf);
    }
    vec_free(&p.sections);
    return ok;
}
