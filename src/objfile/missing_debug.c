/* Debug information that is there, or was, and is not read: for a diagnosis, which may take its
 * time. */
#include "objfile/excerpt_private.h"
#include "objfile/split/skeleton.h"
#include "objfile/units.h"

#include <string.h>

static void unpack_all(struct image *image)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, NULL, &header)) {
            const char *name = image_section_name(image, &header);
            if (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8))
                (void)image_unpack(image, i);
        }
}

static void count_unit(struct object *o, struct unit *unit, struct object_debug_gaps *out)
{
    struct split_skeleton skeleton;
    struct split_unit split;
    const struct units *u = o->units;
    if (!split_skeleton_read(&unit->die, u->addresses, u->address_ranges, &skeleton))
        return;
    out->split_units++;
    if (split_find(o, &skeleton, &split))
        return;
    if (!out->missing_units++ && skeleton.name)
        out->first_missing = arena_copy(&o->arena, skeleton.name, strlen(skeleton.name));
}

void object_debug_gaps(struct object *o, struct object_debug_gaps *out)
{
    *out = (struct object_debug_gaps){0};
    if (o->excerpt) {
        out->refused = o->excerpt->refused;
        return;
    }
    struct units *u = units_of(o);
    unpack_all(&o->self);
    if (debug_file(o)->elf)
        unpack_all(&o->debug);
    for (size_t i = 0; i < u->units.len; i++)
        count_unit(o, &u->units.at[i], out);
    if (!object_debug_refused(o, &out->refused))
        out->refused = NULL;
}
