/* Opened objects: identity, sections, and the doors to symbols, debug files and lines.
 *
 * Opening reads the headers and nothing else; each question reads what it needs. */
#include "objfile/object.h"

#include "objfile/nearest.h"
#include "objfile/private.h"
#include "objfile/units.h"

#include <stdlib.h>
#include <string.h>

static void read_sections(struct object *o)
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
        o->as_gnu = options->as_gnu;
        if (options->debug_dir)
            o->debug_dir = arena_copy(&o->arena, options->debug_dir, strlen(options->debug_dir));
    }
    read_sections(o);
    return o;
}

struct object *object_open(const char *path, const struct object_options *options,
                           enum object_failure *why, struct err *e)
{
    struct image self;
    return image_open(path, &self, why, e) ? object_new(path, &self, options) : NULL;
}

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

void object_close(struct object *o)
{
    if (!o)
        return;
    units_free(o->units);
    nearest_free(o->nearest);
    image_close(&o->mini);
    image_close(&o->debug);
    image_close(&o->self);
    arena_deinit(&o->arena);
    free(o);
}

const char *object_path(const struct object *o)
{
    return o->path;
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

uint16_t object_file_type(const struct object *o)
{
    return o->self.header.e_type;
}

struct bytes object_build_id(const struct object *o)
{
    return image_build_id(&o->self);
}

bool object_has_debug_info(struct object *o)
{
    return image_has_debug_info(&o->self) || image_has_debug_info(debug_file(o));
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
