/* Demangling with a memory. */
#include "profile/analysis/names.h"

#include "profile/analysis/recording/short_names.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a)
{
    *n = (struct names){
        .functions = f, .style = style, .shown = ARENA_NEW(a, const char *, f->len), .arena = a};
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

/* --- short forms ----------------------------------------------------------------------------- */

static bool is_demangled(struct names *n, uint32_t function)
{
    return names_get(n, function) != n->functions->at[function].name;
}

/* Marks the texts that stand for functions of different names; returns whether there are any. */
static bool find_shared(struct names *n, const bool *is_shown, bool *is_shared)
{
    struct intern texts = {0};
    VEC(uint32_t) first = {0}; /* per text: a function that it stands for */
    bool found = false;
    for (uint32_t i = 0; i < n->functions->len; i++) {
        if (is_shown && !is_shown[i])
            continue;
        const char *text = names_text(n, i);
        uint32_t number = intern(&texts, text, strlen(text));
        if (number == first.len)
            vec_push(&first, i);
        is_shared[i] = strcmp(names_get(n, first.at[number]), names_get(n, i));
        is_shared[first.at[number]] |= is_shared[i];
        found |= is_shared[i];
    }
    for (uint32_t i = 0; found && i < n->functions->len; i++)
        if (!is_shown || is_shown[i]) {
            const char *text = names_text(n, i);
            is_shared[i] |= is_shared[first.at[intern(&texts, text, strlen(text))]];
        }
    vec_free(&first);
    intern_deinit(&texts);
    return found;
}

/* `read@@GLIBC_2.2.5`: the version is the linker's business. NULL: there is none. */
static const char *without_version(const char *name, struct arena *a)
{
    const char *at = strchr(name, '@');
    return at && at > name ? arena_copy(a, name, (size_t)(at - name)) : NULL;
}

void names_shorten(struct names *n, const bool *is_shown)
{
    struct arena scratch = {0};
    bool *is_shared = ARENA_NEW(&scratch, bool, n->functions->len), has_brief = false;
    n->brief = ARENA_NEW(n->arena, const char *, n->functions->len);
    for (uint32_t i = 0; i < n->functions->len; i++) {
        if (is_shown && !is_shown[i])
            continue;
        n->brief[i] = is_demangled(n, i) ? names_short(names_get(n, i), n->arena)
                                         : without_version(names_get(n, i), n->arena);
        has_brief |= n->brief[i] != NULL;
    }
    for (int with_parameters = 1; has_brief && with_parameters >= 0; with_parameters--) {
        memset(is_shared, 0, n->functions->len);
        if (!find_shared(n, is_shown, is_shared))
            break;
        for (uint32_t i = 0; i < n->functions->len; i++)
            if (is_shared[i] && n->brief[i])
                n->brief[i] = with_parameters && is_demangled(n, i)
                                  ? names_short_call(names_get(n, i), n->arena)
                                  : NULL;
    }
    arena_deinit(&scratch);
}

void names_tell_apart(struct names *n, struct object *const *objects, const bool *is_shown)
{
    const struct functions *f = n->functions;
    struct arena scratch = {0};
    uint32_t *count = ARENA_NEW(&scratch, uint32_t, (size_t)f->len + 1);
    if (!f->name_order)
        return;
    n->file = ARENA_NEW(n->arena, const char *, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        count[f->name_order[i]]++;
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        uint32_t line = 0;
        bool is_asked = at->is_static && !at->is_made &&
                        (count[f->name_order[i]] > 1 || at->has_namesake) &&
                        (!is_shown || is_shown[i]) && objects[at->object];
        if (!is_asked ||
            !object_line(objects[at->object], function_link_address(f, i), &n->file[i], &line) ||
            !line)
            n->file[i] = NULL;
    }
    arena_deinit(&scratch);
}
