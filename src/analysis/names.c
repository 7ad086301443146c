/* Demangling with a memory. */
#include "analysis/names.h"

#include <stdlib.h>
#include <string.h>

void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a)
{
    *n = (struct names){f, style, ARENA_NEW(a, const char *, f->len), a};
}

static bool may_be_mangled(const char *core, const char *style)
{
    return (core[0] == '_' && core[1]) || strcmp(style, "auto");
}

static const char *readable(const char *name, const char *style, struct arena *a)
{
    const char *core = name[0] == '.' || name[0] == '$' ? name + strspn(name, ".$") : name;
    if (!may_be_mangled(core, style))
        return name;
    const char *version = strchr(core, '@');
    struct arena scratch = {0};
    const char *plain = version ? arena_copy(&scratch, core, (size_t)(version - core)) : core;
    char *demangled = demangle(plain, style);
    const char *shown = name;
    if (demangled)
        shown = arena_printf(a, "%.*s%s%s", (int)(core - name), name, demangled,
                             version ? version : "");
    free(demangled);
    arena_deinit(&scratch);
    return shown;
}

const char *names_get(struct names *n, uint32_t function)
{
    if (!n->shown[function]) {
        const char *name = n->functions->at[function].name;
        n->shown[function] = n->style ? readable(name, n->style, n->arena) : name;
    }
    return n->shown[function];
}

void names_fill(struct names *n)
{
    for (uint32_t i = 0; i < n->functions->len; i++)
        names_get(n, i);
}
