/* Objects compiled with gcc --coverage, and the entry points their code calls. */
#include "gcc.h"
#include "life.h"
#include "merge.h"
#include "gcno_names.h"
#include "objects.h"
#include "report.h"

static const char *filename(const struct object *o)
{
    return o->gcc.filename;
}

static size_t bound(const struct object *o)
{
    return image_bound(&o->gcc);
}

static void image(const struct object *o, const struct totals *program, struct buffer *to)
{
    image_write(&o->gcc, o->runs, program, to);
}

static struct form form_of(const struct object *o)
{
    return (struct form){o->gcc.dialect, o->gcc.rules};
}

static void total(const struct object *o, struct totals *t)
{
    totals_add(t, &o->gcc);
}

static void reset(const struct object *o)
{
    info_reset(&o->gcc);
}

static bool function(const struct object *o, uint32_t i, struct info_function *to)
{
    return info_function(&o->gcc, i, to);
}

const struct family gcc_family = {filename, bound, image,   objects_add_gcda, objects_subtract_gcda,
                                  total,    reset, form_of, function};

/* As da, if requested; otherwise, or if it fails, the object stays as it is. */
static void adopt(struct object *o)
{
    const struct noted_subject subject = {.filename = o->gcc.filename,
                                          .dialect = o->gcc.dialect,
                                          .version = o->gcc.version,
                                          .stamp = o->gcc.stamp,
                                          .checksum = o->gcc.checksum,
                                          .n_functions = o->gcc.n_functions,
                                          .has_largest = true};
    if (noted_is_wanted())
        (void)noted_adopt(o, &subject);
}

void __gcov_init(const void *info)
{
    struct object o = {.family = &gcc_family};
    uint64_t mask;
    life_begin();
    bool known = info_read(&o.gcc, info);
    objects_lock(&mask);
    if (known && o.gcc.n_functions > 0)
        adopt(&o);
    if (known && o.gcc.n_functions > 0)
        objects_add(&o);
    else if (!known)
        report("a covered object", "compiled by an unknown version of gcc; not counted", NULL);
    objects_unlock(&mask);
    life_library();
}

void __gcov_exit(void)
{
    life_unload((uintptr_t)__builtin_return_address(0));
}
