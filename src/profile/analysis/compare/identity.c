/* Identities out of a table of functions. */
#include "profile/analysis/compare/identity.h"

#include "base/hash.h"

/* An address says something within one build only. Files without a build-id are taken for one build
 * where the function has the same size, too. */
static uint64_t identity_build(const struct functions *f, uint32_t function)
{
    struct bytes id = function_build_id(f, function);
    const struct function *at = &f->at[function];
    if (!at->is_unwind_range)
        return 0;
    return 1 | (id.len ? hash_bytes(id.at, id.len) : (at->last - at->start) << 1);
}

void identities_of(struct identities *ids, const struct functions *f, struct object *const *objects,
                   struct arena *a)
{
    ids->at = ARENA_NEW(a, struct identity, f->len);
    ids->len = f->len;
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        struct identity *id = &ids->at[i];
        *id = (struct identity){.name = at->name,
                                .object = function_object_label(f, i),
                                .size = at->last - at->start + 1,
                                .is_made = at->is_made,
                                .build = identity_build(f, i)};
        struct object *object = objects && function_has_code(at) ? objects[at->object] : NULL;
        if (object && object_line(object, function_link_address(f, i), &id->file, &id->line) &&
            !id->line)
            id->file = NULL;
    }
}
