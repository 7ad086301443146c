/* What programs publish of their work, as bytes: contexts of processes and records of threads.
 *
 *     context   a message of Protocol Buffers (OTEP 4719, of opentelemetry-proto's types)
 *               {resource {attributes...}, attributes {schema and names of keys of its threads}}
 *     record    trace 16 | span 8 | valid 1 | flags 1 | size 2, then {key 1 | length 1 | value}
 *               (OTEP 4947); keys are numbers of the context's names
 *
 * All of it is the program's word: lengths are believed as far as there are bytes, counts up to a
 * limit, and of what is damaged the part in front of the damage counts. Of several values of one
 * key the last one counts, of several attributes of one name the first. */
#include "record/labels.h"

#include "base/protobuf_read.h"

#include <inttypes.h>
#include <string.h>

/* Takes a field; false: there is none, or it is damaged (in->failed). */
static bool labels_next(struct cursor *in, struct proto_field *out)
{
    bool is_there = proto_next(in, out);
    in->failed |= is_there && out->is_cut;
    return is_there && !in->failed;
}

/* A text of ours: one of the program's may have NULs in it. */
static const char *labels_text(struct bytes b, struct arena *a)
{
    char *text = ARENA_NEW(a, char, b.len + 1);
    for (size_t i = 0; i < b.len; i++)
        text[i] = b.at[i] ? (char)b.at[i] : '?';
    return text;
}

/* AnyValue of opentelemetry-proto: texts, and numbers as texts; NULL: it is something else. */
static const char *labels_value(struct bytes message, struct arena *a)
{
    enum { STRING = 1, BOOL, INT, DOUBLE };
    struct cursor in = cursor_over(message, "context");
    struct proto_field f;
    const char *text = NULL;
    while (labels_next(&in, &f)) {
        double number;
        memcpy(&number, &f.value, sizeof number);
        switch (f.number) {
        case STRING: text = labels_text(f.bytes, a); break;
        case BOOL: text = f.value ? "true" : "false"; break;
        case INT: text = arena_printf(a, "%" PRId64, (int64_t)f.value); break;
        case DOUBLE: text = arena_printf(a, "%.17g", number); break;
        default: break;
        }
    }
    return text;
}

/* The names of keys: an array of texts. */
static bool labels_keys(struct bytes message, struct labels_context *out, struct arena *a)
{
    enum { ARRAY = 5, VALUES = 1 };
    struct cursor in = cursor_over(message, "context");
    struct proto_field array, value;
    out->keys_len = 0;
    while (labels_next(&in, &array)) {
        if (array.number != ARRAY)
            continue;
        struct cursor inner = cursor_over(array.bytes, "context");
        while (labels_next(&inner, &value))
            if (value.number == VALUES && out->keys_len < LABELS_MOST_KEYS)
                out->keys[out->keys_len++] = labels_value(value.bytes, a);
        in.failed |= inner.failed;
    }
    return !in.failed;
}

/* KeyValue, of the process or about its threads. */
static bool labels_attribute(struct bytes message, struct labels_context *out, struct arena *a)
{
    enum { KEY = 1, VALUE, MOST_ATTRIBUTES = 64 };
    struct cursor in = cursor_over(message, "context");
    struct proto_field f;
    const char *key = NULL;
    struct bytes value = {0};
    while (labels_next(&in, &f)) {
        if (f.number == KEY)
            key = labels_text(f.bytes, a);
        else if (f.number == VALUE)
            value = f.bytes;
    }
    if (in.failed || !key || !value.at)
        return !in.failed;
    if (!strcmp(key, "threadlocal.attribute_key_map"))
        return labels_keys(value, out, a);
    const char *text = labels_value(value, a);
    if (!strcmp(key, "threadlocal.schema_version"))
        out->schema = text;
    bool is_new = text && *key && strncmp(key, "threadlocal.", 12) != 0;
    for (size_t i = 0; i < out->attributes.len && is_new; i++)
        is_new = strcmp(out->attributes.at[i].key, key) != 0;
    if (is_new && out->attributes.len < MOST_ATTRIBUTES)
        vec_push(&out->attributes, (struct recording_label){key, text});
    return true;
}

/* ProcessContext {Resource resource = 1; repeated KeyValue attributes = 2}, and
 * Resource {repeated KeyValue attributes = 1}. */
bool labels_context_read(struct bytes payload, struct labels_context *out, struct arena *a)
{
    enum { RESOURCE = 1, ATTRIBUTES = 2, RESOURCE_ATTRIBUTES = 1 };
    struct cursor in = cursor_over(payload, "context");
    struct proto_field f, attribute;
    bool is_fine = true;
    while (labels_next(&in, &f)) {
        struct cursor resource = cursor_over(f.bytes, "context");
        if (f.number == ATTRIBUTES)
            is_fine &= labels_attribute(f.bytes, out, a);
        while (f.number == RESOURCE && labels_next(&resource, &attribute))
            if (attribute.number == RESOURCE_ATTRIBUTES)
                is_fine &= labels_attribute(attribute.bytes, out, a);
        is_fine &= !resource.failed;
    }
    return is_fine && !in.failed;
}

bool labels_record_read(struct bytes record, const struct labels_context *context,
                        struct recording_label *labels, size_t *len, const uint8_t **ids,
                        bool *is_cut, bool *has_unknown, struct arena *a)
{
    static const uint8_t none[RECORDING_TRACE_BYTES + RECORDING_SPAN_BYTES];
    const char *values[LABELS_MOST_KEYS] = {0};
    uint16_t size;
    *len = 0;
    *is_cut = *has_unknown = false;
    *ids = NULL;
    if (record.len < LABELS_HEAD || record.at[24] != 1)
        return false;
    memcpy(&size, record.at + 26, sizeof size);
    size_t end = LABELS_HEAD + (size_t)size < record.len ? LABELS_HEAD + (size_t)size : record.len;
    if (memcmp(record.at, none, sizeof none) != 0)
        *ids = record.at;
    for (size_t at = LABELS_HEAD; at < end;) {
        if (end - at < 2 || end - at - 2 < record.at[at + 1]) {
            *is_cut = true;
            break;
        }
        uint8_t key = record.at[at];
        if (key < context->keys_len && context->keys[key])
            values[key] = labels_text((struct bytes){record.at + at + 2, record.at[at + 1]}, a);
        else
            *has_unknown = true;
        at += 2 + (size_t)record.at[at + 1];
    }
    for (size_t i = 0; i < context->keys_len; i++) {
        bool is_new = values[i] != NULL;
        for (size_t k = 0; k < *len && is_new; k++)
            is_new = strcmp(labels[k].key, context->keys[i]) != 0;
        if (is_new)
            labels[(*len)++] = (struct recording_label){context->keys[i], values[i]};
    }
    return true;
}
