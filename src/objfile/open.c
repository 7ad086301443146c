/* Opening objects and closing them; what their headers, sections and program headers say.
 *
 * Opening reads the headers and lists the sections, and nothing else; each question reads what it
 * needs, and keeps it in the object's arena. Whatever holds files (units, split units, excerpts,
 * separate debug files) is freed by the one function at the end of the first part.
 *
 * Facts are read from program headers rather than sections, as the kernel and the dynamic linker
 * do. Sections that say how to unwind are found without section headers too: `.eh_frame_hdr` by its
 * program header, and `.eh_frame` by the pointer in `.eh_frame_hdr`.
 *
 * Specification: gABI chapters 4 and 5; LSB, "The .eh_frame_hdr section".
 *
 * Every offset and size of a header is compared with the file's size before it is followed.
 * Opening costs one pass over the section headers. */
#include "objfile/object.h"

#include "base/bytes.h"
#include "base/path.h"
#include "objfile/private.h"
#include "objfile/debug_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------- */

/* Section 0, and those whose header cannot be read, have no name and no size. */
static void sections_read(struct object *o)
{
    o->sections_len = o->self.sections_len;
    o->sections = ARENA_NEW(&o->arena, struct object_section, o->sections_len);
    for (size_t i = 0; i < o->sections_len; i++) {
        GElf_Shdr header;
        struct object_section *s = &o->sections[i];
        s->name = "";
        if (!i || !image_section(&o->self, i, NULL, &header))
            continue;
        s->name = image_section_name(&o->self, &header);
        s->address = header.sh_addr;
        s->size = header.sh_size;
        s->is_alloc = header.sh_flags & SHF_ALLOC;
        s->is_code = header.sh_flags & SHF_EXECINSTR;
        s->is_writable = header.sh_flags & SHF_WRITE;
        s->has_bytes = header.sh_type != SHT_NOBITS;
    }
}

/* Takes the image over. Debug files and symbols are sought on first use. */
static struct object *object_new(const char *path, const struct image *self,
                                 const struct object_options *options)
{
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        memory_exhausted(sizeof *o);
    o->self = *self;
    o->debug.fd = o->mini.fd = -1;
    o->path = arena_copy(&o->arena, path, strlen(path));
    if (options) {
        o->has_symtab_only = options->has_symtab_only;
        o->bfd_version = options->bfd_version;
        if (options->debug_dir)
            o->debug_dir = arena_copy(&o->arena, options->debug_dir, strlen(options->debug_dir));
    }
    sections_read(o);
    return o;
}

/* Whether there is debug information, or a symbol, is not asked yet. */
struct object *object_open(const char *path, const struct object_options *options,
                           enum object_failure *why, struct err *e)
{
    struct image self;
    return image_open(path, &self, why, e) ? object_new(path, &self, options) : NULL;
}

/* Bytes in memory have no path, so no debug file is sought. */
struct object *object_open_memory(struct bytes image, const char *name, enum object_failure *why,
                                  struct err *e)
{
    struct image self;
    if (!image_over(image, name, &self, why, e))
        return NULL;
    struct object *o = object_new(name, &self, NULL);
    o->debug_sought = true;
    return o;
}

/* What holds images goes first, the arena last: it has all texts and arrays. */
void object_close(struct object *o)
{
    if (!o)
        return;
    excerpt_close(o->excerpt);
    units_free(o->units);
    split_files_free(o->split);
    nearest_free(o->nearest);
    image_close(&o->mini);
    image_close(&o->debug);
    image_close(&o->self);
    arena_deinit(&o->arena);
    free(o);
}

/* --- what it is ------------------------------------------------------------------------------- */

const char *object_path(const struct object *o)
{
    return o->path;
}

bool object_is_system(const char *path)
{
    static const char *const FOLDERS[] = {"/usr/", "/lib/",  "/lib32/", "/lib64/",
                                          "/bin/", "/sbin/", NULL};
    return path_begins_with(path, FOLDERS) && strncmp(path, "/usr/local/", 11) != 0;
}

uint8_t object_word(const struct object *o)
{
    return o->self.header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
}

bool object_is_big_endian(const struct object *o)
{
    return image_is_big_endian(&o->self);
}

uint16_t object_machine(const struct object *o)
{
    return o->self.header.e_machine;
}

bool object_has_inside_stacks(const struct object *o)
{
    struct arch_target target = image_target(&o->self);
    return !arch_of(&target)->lacks_inside_stacks;
}

uint16_t object_file_type(const struct object *o)
{
    return o->self.header.e_type;
}

struct bytes object_build_id(const struct object *o)
{
    return o->excerpt ? o->excerpt->build_id : image_build_id(&o->self);
}

bool object_lacks_lines(struct object *o, const char *name, const char *purpose, struct err *e)
{
    const char *why;
    if (o && object_debug_refused(o, &why))
        return err_in(e, name, "%s", why);
    return err_in(e, name,
                  "has no line numbers%s; compile it with -g, or name the folder of its separate "
                  "debug file with --debug-dir",
                  purpose);
}

/* The image's own reason, else that of the debug file, else that of a split unit. */
bool object_debug_refused(struct object *o, const char **why)
{
    if (o->excerpt) {
        *why = o->excerpt->refused;
        return *why;
    }
    const struct image *image = o->self.refused_why ? &o->self : &o->debug;
    const char *reason =
        o->unread.system ? o->unread.line
        : image->refused_why
            ? arena_printf(&o->arena, "section %s %s", image->refused_section, image->refused_why)
            : o->split_refused;
    if (reason)
        *why = arena_printf(&o->arena, "debug information is not read: %s", reason);
    return reason;
}

int object_unread_errno(const struct object *o)
{
    return o->unread.system;
}

bool object_has_dwarf(struct object *o)
{
    return image_has_debug_info(&o->self) || image_has_debug_info(debug_file(o));
}

bool object_has_debug_info(struct object *o)
{
    return o->excerpt ? o->excerpt->has_debug_info : object_has_dwarf(o) || go_places(o);
}

/* --- sections --------------------------------------------------------------------------------- */

const struct object_section *object_sections(const struct object *o, size_t *len)
{
    *len = o->sections_len;
    return o->sections;
}

const struct object_section *object_section(const struct object *o, uint32_t index)
{
    return index && index < o->sections_len ? &o->sections[index] : NULL;
}

/* Sections are few: a list is searched. For an excerpt, the code comes from the file itself if that
 * is still the same. */
struct bytes object_code(const struct object *o, uint64_t address, size_t len)
{
    if (o->excerpt)
        return excerpt_file(o) ? object_code(excerpt_file(o), address, len) : (struct bytes){0};
    for (size_t i = 0; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        if (!s->is_code || !s->is_alloc || address < s->address || address - s->address >= s->size)
            continue;
        struct bytes all = image_bytes(&o->self, i);
        uint64_t offset = address - s->address;
        if (offset < all.len)
            return (struct bytes){all.at + offset,
                                  all.len - offset < len ? (size_t)(all.len - offset) : len};
    }
    return (struct bytes){0};
}

/* The first one in the order of the file; sections that are not loaded have no addresses. */
uint32_t section_at(const struct object *o, uint64_t address)
{
    for (uint32_t i = 1; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        if (s->is_alloc && address >= s->address && address - s->address < s->size)
            return i;
    }
    return 0;
}

/* --- bytes of a section by its name ----------------------------------------------------------- */

/* A section of that name which is not packed, or could be unpacked. */
static bool take_section(struct image *image, const char *name, struct bytes *out,
                         uint64_t *address)
{
    size_t index = image_find(image, 0, name);
    GElf_Shdr header;
    if (!index)
        return false;
    if (!image_unpack(image, index) || !image_section(image, index, NULL, &header) ||
        header.sh_flags & SHF_COMPRESSED)
        return false;
    *out = image_bytes(image, index);
    *address = header.sh_addr;
    return out->len > 0;
}

/* `.zdebug_...`: packed as GNU tools once did. */
static bool take_gnu_packed(struct image *image, const char *name, struct bytes *out,
                            uint64_t *address)
{
    char packed[64];
    GElf_Shdr header;
    if (strncmp(name, ".debug_", 7) || strlen(name) > sizeof packed - 3)
        return false;
    snprintf(packed, sizeof packed, ".z%s", name + 1);
    size_t index = image_find(image, 0, packed);
    if (!index || !image_section(image, index, NULL, &header))
        return false;
    if (!image_unpack(image, index))
        return false;
    *address = header.sh_addr;
    *out = image_bytes(image, index);
    return out->len > 0;
}

/* What a loaded segment of that type, or around that address, has from `address` on. Lengths are
 * cut to what the file has: a segment may claim more. */
static bool take_segment(const struct image *image, uint32_t type, uint64_t address,
                         struct bytes *out, uint64_t *start)
{
    size_t len = 0, file_len = 0;
    const char *file = image->elf ? elf_rawfile(image->elf, &file_len) : NULL;
    GElf_Phdr p;
    if (!file || elf_getphdrnum(image->elf, &len))
        return false;
    for (size_t i = 0; i < len && i < INT32_MAX; i++) {
        if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != type || p.p_offset > file_len)
            continue;
        size_t bytes = p.p_filesz < file_len - p.p_offset ? p.p_filesz : file_len - p.p_offset;
        uint64_t from = type == PT_LOAD ? address : p.p_vaddr;
        if (from < p.p_vaddr || from - p.p_vaddr >= bytes)
            continue;
        size_t skipped = (size_t)(from - p.p_vaddr);
        *out = (struct bytes){(const uint8_t *)file + p.p_offset + skipped, bytes - skipped};
        *start = from;
        return true;
    }
    return false;
}

/* `.eh_frame_hdr` by its program header, and `.eh_frame` by the pointer in it, in the encoding that
 * linkers write. */
static bool take_by_headers(const struct image *image, const char *name, struct bytes *out,
                            uint64_t *address)
{
    enum { VERSION = 1, PCREL_SDATA4 = 0x1b };
    bool is_frame = !strcmp(name, ".eh_frame");
    if ((!is_frame && strcmp(name, ".eh_frame_hdr")) ||
        !take_segment(image, PT_GNU_EH_FRAME, 0, out, address))
        return false;
    if (!is_frame)
        return true;
    struct cursor c = cursor_over(*out, "");
    c.big_endian = image_is_big_endian(image);
    uint8_t version = cursor_u8(&c), encoding = cursor_u8(&c);
    cursor_take(&c, 2);
    uint64_t start = *address + 4 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
    return version == VERSION && encoding == PCREL_SDATA4 && !c.failed &&
           take_segment(image, PT_LOAD, start, out, address);
}

/* Own sections first, packed or not; then, for unwinding, program headers; then the debug file. */
struct bytes object_section_bytes(struct object *o, const char *name, uint64_t *address)
{
    struct bytes found;
    uint64_t ignored;
    address = address ? address : &ignored;
    if (take_section(&o->self, name, &found, address) ||
        take_gnu_packed(&o->self, name, &found, address) ||
        take_by_headers(&o->self, name, &found, address))
        return found;
    if (!strncmp(name, ".debug_", 7) && debug_file(o)->elf &&
        (take_section(&o->debug, name, &found, address) ||
         take_gnu_packed(&o->debug, name, &found, address)))
        return found;
    *address = 0;
    return (struct bytes){0};
}

struct bytes object_section_bytes_at(const struct object *o, uint32_t index)
{
    return image_bytes(&o->self, index);
}

/* --- facts ------------------------------------------------------------------------------------ */

/* A string of a table that may lack its last NUL; NULL beyond it. */
static const char *text_at(struct bytes table, uint64_t offset)
{
    if (offset >= table.len || !memchr(table.at + offset, 0, table.len - (size_t)offset))
        return NULL;
    return (const char *)table.at + offset;
}

/* A stretch of the file; empty if it does not lie within it. */
static struct bytes chunk(const struct image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->size_bytes || size > image->size_bytes - offset || !size)
        return (struct bytes){0};
    Elf_Data *data = elf_getdata_rawchunk(image->elf, (int64_t)offset, (size_t)size, ELF_T_BYTE);
    return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size} : (struct bytes){0};
}

/* The bytes that are loaded at an address, at most `size` of them. */
static struct bytes loaded_at(const struct image *image, size_t headers, uint64_t address,
                              uint64_t size)
{
    GElf_Phdr p;
    for (size_t i = 0; i < headers; i++) {
        if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
            address - p.p_vaddr >= p.p_filesz)
            continue;
        uint64_t into = address - p.p_vaddr, left = p.p_filesz - into;
        return chunk(image, p.p_offset + into, left < size ? left : size);
    }
    return (struct bytes){0};
}

/* The dynamic section's entries, once to count what is needed and once to name it. */
struct dynamic {
    Elf_Data *entries;
    struct bytes strings;
    size_t needed_len;
    uint64_t flags_1, soname;
};

/* One pass for the sizes and flags; names need the string table, which may be named last. */
static void read_dynamic(const struct image *image, size_t headers, const GElf_Phdr *where,
                         struct dynamic *d)
{
    d->entries = elf_getdata_rawchunk(image->elf, (int64_t)where->p_offset, (size_t)where->p_filesz,
                                      ELF_T_DYN);
    uint64_t strings = 0, strings_size = 0;
    GElf_Dyn entry;
    for (int i = 0; d->entries && gelf_getdyn(d->entries, i, &entry); i++) {
        if (entry.d_tag == DT_NULL)
            break;
        d->needed_len += entry.d_tag == DT_NEEDED;
        if (entry.d_tag == DT_STRTAB)
            strings = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            strings_size = entry.d_un.d_val;
        else if (entry.d_tag == DT_FLAGS_1)
            d->flags_1 = entry.d_un.d_val;
        else if (entry.d_tag == DT_SONAME)
            d->soname = entry.d_un.d_val;
    }
    d->strings = loaded_at(image, headers, strings, strings_size);
}

/* Everything that program headers lead to. The dynamic section is gone through twice, for the
 * sizes and for the names. */
static void read_segments(struct object *o)
{
    struct object_facts *f = o->facts;
    struct dynamic dynamic = {0};
    size_t headers = 0;
    if (elf_getphdrnum(o->self.elf, &headers))
        return;
    struct object_segment *code = ARENA_NEW(&o->arena, struct object_segment, headers);
    GElf_Phdr p;
    for (size_t i = 0; i < headers && gelf_getphdr(o->self.elf, (int)i, &p); i++) {
        if (p.p_type == PT_LOAD && (p.p_flags & PF_X))
            code[f->code_len++] = (struct object_segment){p.p_vaddr, p.p_memsz, p.p_offset};
        else if (p.p_type == PT_INTERP && !f->interpreter)
            f->interpreter = text_at(chunk(&o->self, p.p_offset, p.p_filesz), 0);
        else if (p.p_type == PT_DYNAMIC && !dynamic.entries)
            read_dynamic(&o->self, headers, &p, &dynamic);
    }
    f->code = code;
    f->soname = dynamic.soname ? text_at(dynamic.strings, dynamic.soname) : NULL;
    f->needed = ARENA_NEW(&o->arena, const char *, dynamic.needed_len);
    const char **needed = (const char **)f->needed;
    GElf_Dyn entry;
    for (int i = 0; dynamic.entries && gelf_getdyn(dynamic.entries, i, &entry) &&
                    f->needed_len < dynamic.needed_len;
         i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? text_at(dynamic.strings, entry.d_un.d_val) : NULL;
        if (name)
            needed[f->needed_len++] = name;
    }
    bool is_dyn = o->self.header.e_type == ET_DYN;
    /* libc.so.6 has an interpreter, too. */
    f->is_pie = is_dyn && ((dynamic.flags_1 & DF_1_PIE) || (f->interpreter && !f->soname));
    f->is_shared_object = is_dyn && !f->is_pie;
}

/* The first text of .comment: the compiler of the startup code, mostly that of all. In relocatable
 * files the section starts with a NUL. */
static const char *compiler(const struct image *image)
{
    size_t index = image_find(image, 0, ".comment");
    struct bytes comment = index ? image_bytes(image, index) : (struct bytes){0};
    size_t at = 0;
    while (at < comment.len && !comment.at[at])
        at++;
    return text_at(comment, at);
}

/* Of the file itself, never of its debug file. An object over an excerpt has its facts already. */
const struct object_facts *object_facts(struct object *o)
{
    if (o->facts)
        return o->facts;
    o->facts = ARENA_NEW(&o->arena, struct object_facts, 1);
    o->facts->entry = o->self.header.e_entry;
    o->facts->size_bytes = o->self.size_bytes;
    o->facts->changed = o->self.changed;
    o->facts->is_stripped = !image_find(&o->self, SHT_SYMTAB, NULL);
    o->facts->compiler = compiler(&o->self);
    size_t sections = 0;
    o->facts->has_sections = !elf_getshdrnum(o->self.elf, &sections) && sections > 1;
    read_segments(o);
    return o->facts;
}
