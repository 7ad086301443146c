/* Opening objects and closing them.
 *
 * Opening reads the headers and nothing else; each question reads what it needs. */
#include "objfile/object.h"

#include "objfile/excerpt_private.h"
#include "objfile/nearest.h"
#include "objfile/private.h"
#include "objfile/split/find.h"
#include "objfile/units.h"

#include <stdlib.h>
#include <string.h>

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
        o->reads_dwarf_as_bfd = options->reads_dwarf_as_bfd;
        if (options->debug_dir)
            o->debug_dir = arena_copy(&o->arena, options->debug_dir, strlen(options->debug_dir));
    }
    sections_read(o);
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
