/* What program headers, the dynamic section and .comment tell about a program.
 *
 * Reads program headers rather than sections, as the kernel and the dynamic linker do.
 * Specification: gABI chapter 5. */
#include "objfile/private.h"

#include <string.h>

/* A string of a table that may lack its last NUL; NULL beyond it. */
static const char *text_at(struct bytes table, uint64_t offset)
{
    if (offset >= table.len || !memchr(table.at + offset, 0, table.len - (size_t)offset))
        return NULL;
    return (const char *)table.at + offset;
}

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

static void name_needed(struct object *o, const struct dynamic *d)
{
    const char **names = ARENA_NEW(&o->arena, const char *, d->needed_len);
    size_t len = 0;
    GElf_Dyn entry;
    for (int i = 0; d->entries && gelf_getdyn(d->entries, i, &entry) && len < d->needed_len; i++) {
        const char *name = entry.d_tag == DT_NEEDED ? text_at(d->strings, entry.d_un.d_val) : NULL;
        if (name)
            names[len++] = name;
    }
    o->facts->needed = names;
    o->facts->needed_len = len;
}

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
    name_needed(o, &dynamic);
    bool is_dyn = o->self.header.e_type == ET_DYN;
    /* libc.so.6 has an interpreter, too. */
    f->is_pie = is_dyn && ((dynamic.flags_1 & DF_1_PIE) || (f->interpreter && !f->soname));
    f->is_shared_object = is_dyn && !f->is_pie;
}

/* In relocatable files .comment starts with a NUL. */
static const char *compiler(const struct image *image)
{
    size_t index = image_find(image, 0, ".comment");
    struct bytes comment = index ? image_bytes(image, index) : (struct bytes){0};
    size_t at = 0;
    while (at < comment.len && !comment.at[at])
        at++;
    return text_at(comment, at);
}

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
