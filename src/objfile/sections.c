/* Sections, as the header table of the file itself has them, and the code in them. */
#include "objfile/excerpt_private.h"

void sections_read(struct object *o)
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

const struct object_section *object_sections(const struct object *o, size_t *len)
{
    *len = o->sections_len;
    return o->sections;
}

const struct object_section *object_section(const struct object *o, uint32_t index)
{
    return index && index < o->sections_len ? &o->sections[index] : NULL;
}

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

uint32_t section_at(const struct object *o, uint64_t address)
{
    for (uint32_t i = 1; i < o->sections_len; i++) {
        const struct object_section *s = &o->sections[i];
        if (s->is_alloc && address >= s->address && address - s->address < s->size)
            return i;
    }
    return 0;
}
