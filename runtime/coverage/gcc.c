/* Objects compiled with gcc --coverage, and the entry points their code calls. */
#include "gcc.h"
#include "life.h"
#include "merge.h"
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
    return (struct form){o->gcc.layout, o->gcc.kinds};
}

static enum verdict add(const struct object *o, struct cursor now, struct cursor old,
                        struct buffer *out, const char **why)
{
    struct form f = form_of(o);
    return gcda_add(&f, now, old, out, why);
}

static enum verdict subtract(const struct object *o, struct cursor now, struct cursor before,
                             struct buffer *out)
{
    struct form f = form_of(o);
    return gcda_subtract(&f, now, before, out);
}

static void total(const struct object *o, struct totals *t)
{
    totals_add(t, &o->gcc);
}

static void reset(const struct object *o)
{
    info_reset(&o->gcc);
}

const struct family gcc_family = {filename, bound, image, add, subtract, total, reset};

void __gcov_init(const void *info)
{
    struct object o = {.family = &gcc_family};
    uint64_t mask;
    life_begin();
    bool known = info_read(&o.gcc, info);
    objects_lock(&mask);
    if (known && o.gcc.n_functions > 0)
        objects_add(&o);
    else if (!known)
        report("a covered object", "no known version of gcc compiled it; it is not counted", NULL);
    objects_unlock(&mask);
    life_library();
}

void __gcov_exit(void)
{
    life_unload((uintptr_t)__builtin_return_address(0));
}
