/* libFuzzer: what a program may publish. The input is the size of a record in two bytes, the
 * record, and a context. Keys of labels differ, names of keys are the context's, and texts are
 * whole. */
#include "record/labels.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool law)
{
    if (!law)
        abort();
}

static void check_labels(const struct recording_label *labels, size_t len, size_t most)
{
    check(len <= most);
    for (size_t i = 0; i < len; i++) {
        check(labels[i].key && labels[i].value && strlen(labels[i].value) <= 1 << 20);
        for (size_t k = 0; k < i; k++)
            check(strcmp(labels[i].key, labels[k].key) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct labels_context nothing;
    struct labels_context context = nothing;
    struct recording_label labels[LABELS_MOST_KEYS];
    struct arena a = {0};
    const uint8_t *ids = NULL;
    size_t found = 0, size = len < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;
    bool is_cut = false, has_unknown = false;
    if (len < 2)
        return 0;
    size = size < len - 2 ? size : len - 2;
    labels_context_read((struct bytes){data + 2 + size, len - 2 - size}, &context, &a);
    check(context.keys_len <= LABELS_MOST_KEYS);
    check_labels(context.attributes.at, context.attributes.len, 64);
    bool is_valid = labels_record_read((struct bytes){data + 2, size}, &context, labels, &found,
                                       &ids, &is_cut, &has_unknown, &a);
    check(is_valid == (size >= LABELS_HEAD && data[2 + 24] == 1));
    check(is_valid || (!found && !ids));
    check_labels(labels, found, context.keys_len);
    check(!ids || ids == data + 2);
    vec_free(&context.attributes);
    arena_deinit(&a);
    return 0;
}
