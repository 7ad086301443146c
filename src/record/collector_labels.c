/* Sets of labels: programs' labels of their work while they are sampled.
 *
 *     keys and values -> numbers of texts, trace and span -> bytes -> number of the set
 *
 * Samples carry the number. A set with a span is one request, so that there may be as many as
 * samples: beyond MOST_SPANS sets the span is left out, and what remains is a set that others have,
 * too. Values may be any number as well (of users, say): beyond MOST_SETS, or when texts and sets
 * take MOST_BYTES, there are no new ones, and samples have none. Both are said.
 *
 * Labels of a whole process are a set, too. It is reported once, perhaps late, so that it is put
 * together with those of the process's samples at the end. A thread's value of a key has precedence
 * over its process's.
 *
 * Cost: a look-up for each text and a hash of their numbers for each reported set; at the end a
 * look-up for each sample. Memory: each text once, 24 bytes for each label of a set. */
#include "record/collector_private.h"

#include "objfile/object.h"

#include <string.h>

enum { MOST_SPANS = 1 << 16, MOST_SETS = 1 << 17, MOST_BYTES = 64 << 20 };

#define NO_SPANS \
    "samples without their spans, as there were more than 65,536 requests; they have their labels"
#define NO_SETS                                                                               \
    "samples whose labels are not recorded, as there were more than 131,072 that differ, or " \
    "more than 64 MiB"

typedef VEC(char) labels_bytes;

static void labels_put(labels_bytes *to, const void *from, size_t len)
{
    vec_reserve(to, to->len + len);
    memcpy(to->at + to->len, from, len);
    to->len += len;
}

/* The number of a text; INTERN_NONE: it is new, and there shall be none. */
static uint32_t labels_text_number(struct collector *c, const char *text, bool may_add)
{
    size_t len = strlen(text);
    uint32_t number = intern_find(&c->label_texts, text, len);
    if (number == INTERN_NONE && may_add) {
        number = intern(&c->label_texts, text, len);
        c->label_bytes += len + 1;
    }
    return number;
}

/* The set's number, made if it is new and there are fewer than `most`; else 0. */
static uint32_t labels_add(struct collector *c, const struct recording_label *labels, size_t len,
                           const struct recording_label_set *ids, size_t most)
{
    labels_bytes key = {0};
    if (!c->label_sets.len) {
        intern(&c->label_keys, "", 0);
        vec_push(&c->label_sets, (struct recording_label_set){0});
    }
    bool may_add = c->label_sets.len < most && c->label_bytes < MOST_BYTES, is_known = true;
    labels_put(&key, &ids->has_span, sizeof ids->has_span);
    for (size_t i = 0; i < len && is_known; i++) {
        uint32_t pair[] = {labels_text_number(c, labels[i].key, may_add),
                           labels_text_number(c, labels[i].value, may_add)};
        is_known = pair[0] != INTERN_NONE && pair[1] != INTERN_NONE;
        labels_put(&key, pair, sizeof pair);
    }
    if (ids->has_span) {
        labels_put(&key, ids->trace, sizeof ids->trace);
        labels_put(&key, ids->span, sizeof ids->span);
    }
    uint32_t number = is_known ? intern_find(&c->label_keys, key.at, key.len) : INTERN_NONE;
    if (number == INTERN_NONE && !may_add) {
        number = 0;
    } else if (number == INTERN_NONE) {
        struct recording_label_set set = *ids;
        set.first = (uint32_t)c->labels.len;
        set.len = (uint32_t)len;
        number = intern(&c->label_keys, key.at, key.len);
        for (size_t i = 0; i < len; i++) {
            uint32_t pair[2];
            memcpy(pair, key.at + sizeof ids->has_span + i * sizeof pair, sizeof pair);
            vec_push(&c->labels, (struct recording_label){intern_text(&c->label_texts, pair[0]),
                                                          intern_text(&c->label_texts, pair[1])});
        }
        vec_push(&c->label_sets, set);
        c->label_bytes += key.len + len * sizeof(struct recording_label);
    }
    vec_free(&key);
    return number;
}

uint32_t collector_labels(struct collector *c, const struct recording_label *labels, size_t len,
                          const uint8_t *trace, const uint8_t *span)
{
    struct recording_label_set ids = {.has_span = trace && span};
    if (!len && !ids.has_span)
        return 0;
    if (ids.has_span) {
        memcpy(ids.trace, trace, sizeof ids.trace);
        memcpy(ids.span, span, sizeof ids.span);
        uint32_t number = labels_add(c, labels, len, &ids, MOST_SPANS);
        if (number)
            return number;
        collector_lose(c, RECORDING_LOST_OTHER, NO_SPANS, 1, 0);
        ids = (struct recording_label_set){0};
    }
    uint32_t number = len ? labels_add(c, labels, len, &ids, MOST_SETS) : 0;
    if (len && !number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    return number;
}

void collector_process_labels(struct collector *c, pid_t pid, const struct recording_label *labels,
                              size_t len, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    struct recording_label_set ids = {0};
    uint32_t number = len ? labels_add(c, labels, len, &ids, MOST_SETS) : 0;
    if (len && !number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    c->inner.at[process].labels = number;
}

/* Each file is asked once for all processes: most do not define it. */
bool collector_thread_variable(struct collector *c, pid_t pid, const char *name,
                               struct object_thread_variable *out, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns); /* it may move the list */
    const struct mappings *m = c->inner.at[process].mappings;
    for (size_t i = 0; i < m->all.len; i++) {
        struct mapping code = m->all.at[i];
        bool is_new;
        if (c->images.all.at[code.image]->object.kind != RECORDING_OBJECT_FILE)
            continue;
        uint32_t *lacks = map_at(&c->lacks_variable, code.image, 0, 1, &is_new);
        if (!is_new && *lacks)
            continue;
        struct object *o = images_open(&c->images, code.image);
        *lacks = !o || !object_thread_variable(o, name, out);
        if (*lacks)
            continue;
        uint64_t bias = code.start - images_link_address(&c->images, code.image, code.offset);
        out->offset_slot += out->offset_slot ? bias : 0;
        out->descriptor += out->descriptor ? bias : 0;
        out->module_slot += out->module_slot ? bias : 0;
        return true;
    }
    return false;
}

/* The labels of a sample's set, then those of its process that it does not have; the sample's own
 * if there is no room for more. */
static uint32_t labels_of_both(struct collector *c, uint32_t own, uint32_t process)
{
    struct recording_label_set ids = c->label_sets.at[own];
    struct recording_label_set whole = c->label_sets.at[process];
    VEC(struct recording_label) all = {0};
    for (uint32_t i = 0; i < ids.len; i++)
        vec_push(&all, c->labels.at[ids.first + i]);
    for (uint32_t i = 0; i < whole.len; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < ids.len && is_new; k++)
            is_new = strcmp(all.at[k].key, c->labels.at[whole.first + i].key) != 0;
        if (is_new)
            vec_push(&all, c->labels.at[whole.first + i]);
    }
    uint32_t number = labels_add(c, all.at, all.len, &ids, UINT32_MAX);
    vec_free(&all);
    if (!number)
        collector_lose(c, RECORDING_LOST_OTHER, NO_SETS, 1, 0);
    return number ? number : own;
}

void collector_labels_finish(struct collector *c, struct recording *out)
{
    struct map both = {0};
    if (!c->label_sets.len)
        return;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        uint32_t process = c->inner.at[c->threads.at[s->thread].process].labels;
        bool is_new;
        if (!process)
            continue;
        uint32_t *known = map_at(&both, s->labels, process, 0, &is_new);
        if (is_new)
            *known = labels_of_both(c, s->labels, process);
        s->labels = *known;
    }
    map_deinit(&both);
    vec_copy(&out->label_sets, &c->label_sets);
    for (size_t i = 0; i < c->labels.len; i++) {
        const struct recording_label *from = &c->labels.at[i];
        vec_push(&out->labels, (struct recording_label){
                                   arena_copy(&out->arena, from->key, strlen(from->key)),
                                   arena_copy(&out->arena, from->value, strlen(from->value))});
    }
}

void collector_labels_free(struct collector *c)
{
    vec_free(&c->labels);
    vec_free(&c->label_sets);
    intern_deinit(&c->label_texts);
    intern_deinit(&c->label_keys);
    map_deinit(&c->lacks_variable);
}
