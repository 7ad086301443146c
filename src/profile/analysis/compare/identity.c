/* Identities out of a table of functions. */
#include "profile/analysis/compare/identity.h"

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
                                .is_made = at->is_made};
        struct object *object = objects && !at->is_made ? objects[at->object] : NULL;
        if (object && object_line(object, function_link_address(f, i), &id->file, &id->line) &&
            !id->line)
            id->file = NULL;
    }
}
