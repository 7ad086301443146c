/* Labels as what is chosen, and as frames.
 *
 * With the values of a label as outermost frames, whatever works on stacks separates them: call
 * trees, flame graphs, comparisons, exports. pprof calls the same -tagroot.
 *
 *     main ─ serve ─ parse   http.route=/a   ─►   http.route=/a ─ main ─ serve ─ parse
 *                            http.route=/b        http.route=/b ─ main ─ serve ─ parse
 *
 * The tree grows by the stacks that occur with each value: a copy of a node is known by the node
 * and the value, and is made after that of its parent. The old nodes stay, since waits and chains
 * of waiting threads refer to them; those without samples weigh nothing. The frames stand in an
 * object of their own, whose listed functions are the values.
 *
 * Cost: a look-up for each sample, and as many nodes more as there are new stacks. */
#include "profile/analysis/recording/stacks.h"

#include "base/map.h"

#include <string.h>

const bool *recording_choose_labels(const struct recording *r, const struct recording_label *asked,
                                    size_t len, struct arena *a)
{
    bool *chosen = ARENA_NEW(a, bool, r->label_sets.len + 1);
    for (uint32_t set = 0; set < r->label_sets.len + 1; set++) {
        chosen[set] = true;
        for (size_t i = 0; i < len && chosen[set]; i++) {
            const char *value =
                set < r->label_sets.len ? recording_label_value(r, set, asked[i].key) : NULL;
            chosen[set] = value && !strcmp(value, asked[i].value);
        }
    }
    return chosen;
}

/* Sets are distinguished by their texts, put together: each with its NUL. */
const uint32_t *recording_label_groups(const struct recording *r, struct arena *a)
{
    uint32_t *first = ARENA_NEW(a, uint32_t, r->label_sets.len + 1);
    VEC(uint32_t) sets = {0}; /* by number of their text */
    struct intern texts = {0};
    struct arena scratch = {0};
    for (uint32_t i = 0; i < r->label_sets.len; i++) {
        const struct recording_label_set *set = &r->label_sets.at[i];
        size_t len = 0, at = 0;
        for (uint32_t k = 0; k < set->len; k++)
            len += strlen(r->labels.at[set->first + k].key) +
                   strlen(r->labels.at[set->first + k].value) + 2;
        char *text = ARENA_NEW(&scratch, char, len + 1);
        for (uint32_t k = 0; k < set->len; k++) {
            const struct recording_label *label = &r->labels.at[set->first + k];
            strcpy(text + at, label->key);
            at += strlen(label->key) + 1;
            strcpy(text + at, label->value);
            at += strlen(label->value) + 1;
        }
        uint32_t number = intern_kept(&texts, text, len);
        if (number == sets.len)
            vec_push(&sets, i);
        first[i] = sets.at[number];
    }
    vec_free(&sets);
    intern_deinit(&texts);
    arena_deinit(&scratch);
    return first;
}

/* The index of copies of nodes. */
struct label_frames {
    struct recording *recording;
    struct map copy_of; /* value, node -> its copy */
    uint32_t object;
    struct intern values;
};

/* The copy of a stack with a value at its outside. New ones are made from the outside inwards, so
 * that parents precede their children; `path` is scratch. */
static uint32_t label_copy(struct label_frames *l, uint32_t value, uint32_t node)
{
    struct recording *r = l->recording;
    VEC(uint32_t) path = {0};
    uint32_t copy = 0;
    for (uint32_t at = node; !copy; at = r->nodes.at[at].parent) {
        const uint32_t *known = map_find(&l->copy_of, value, at);
        if (known)
            copy = *known;
        else
            vec_push(&path, at);
        if (at == RECORDING_ROOT)
            break;
    }
    for (size_t i = path.len; i-- > 0;) {
        struct recording_node made = r->nodes.at[path.at[i]];
        if (path.at[i] == RECORDING_ROOT)
            made = (struct recording_node){RECORDING_ROOT, l->object, value};
        else
            made.parent = copy;
        copy = (uint32_t)r->nodes.len;
        vec_push(&r->nodes, made);
        map_set(&l->copy_of, value, path.at[i], copy);
    }
    vec_free(&path);
    return copy;
}

void recording_add_label_frames(struct recording *r, const char *key)
{
    struct label_frames l = {.recording = r, .object = (uint32_t)r->objects.len};
    struct arena scratch = {0};
    uint32_t *value_of = ARENA_NEW(&scratch, uint32_t, r->label_sets.len + 1);
    for (uint32_t i = 0; i < r->label_sets.len; i++) {
        const char *value = recording_label_value(r, i, key);
        const char *name = value ? arena_printf(&r->arena, "%s=%s", key, value) : NULL;
        value_of[i] = name ? 1 + intern_kept(&l.values, name, strlen(name)) : 0;
    }
    if (l.values.texts.len && r->processes.len) {
        vec_push(&r->objects, (struct recording_object){.kind = RECORDING_OBJECT_GENERATED,
                                                        .path = "",
                                                        .process = 0,
                                                        .high = l.values.texts.len + 1,
                                                        .is_listed = true});
        for (uint32_t i = 0; i < l.values.texts.len; i++)
            vec_push(&r->symbols,
                     (struct recording_symbol){l.object, i + 1, 1, l.values.texts.at[i]});
        for (size_t i = 0; i < r->samples.len; i++) {
            struct recording_sample *s = &r->samples.at[i];
            if (value_of[s->labels])
                s->node = label_copy(&l, value_of[s->labels], s->node);
        }
    }
    map_deinit(&l.copy_of);
    intern_deinit(&l.values);
    arena_deinit(&scratch);
}
