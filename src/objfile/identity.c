/* What an object is: its path, its machine, its build-id. */
#include "objfile/excerpt_private.h"

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
    return o->excerpt ? o->excerpt->build_id : image_build_id(&o->self);
}

bool object_debug_refused(struct object *o, const char **why)
{
    if (o->excerpt) {
        *why = o->excerpt->refused;
        return *why;
    }
    const struct image *image = o->self.refused_why ? &o->self : &o->debug;
    if (!image->refused_why && o->split_refused) {
        *why = arena_printf(&o->arena, "debug information is not read: %s", o->split_refused);
        return true;
    }
    if (!image->refused_why)
        return false;
    *why = arena_printf(&o->arena, "debug information is not read: section %s %s",
                        image->refused_section, image->refused_why);
    return true;
}

bool object_has_debug_info(struct object *o)
{
    if (o->excerpt)
        return o->excerpt->has_debug_info;
    return image_has_debug_info(&o->self) || image_has_debug_info(debug_file(o));
}
