/* What programs publish: records of threads and contexts of processes, byte by byte, and what of
 * damaged ones counts. */
#include "cases.h"
#include "record/labels.h"

#include <stdlib.h>
#include <string.h>

/* attributes {threadlocal.schema_version: "tls_v1"}, {threadlocal.attribute_key_map: ["a", "b"]};
 * resource {attributes {service.name: "shop"}, {shard: 7}} */
/* clang-format off */
static const char CONTEXT[] =
    "\x12\x26\x0a\x1a" "threadlocal.schema_version" "\x12\x08\x0a\x06" "tls_v1"
    "\x12\x2d\x0a\x1d" "threadlocal.attribute_key_map" "\x12\x0c\x2a\x0a"
    "\x0a\x03\x0a\x01" "a" "\x0a\x03\x0a\x01" "b"
    "\x0a\x25\x0a\x16\x0a\x0c" "service.name" "\x12\x06\x0a\x04" "shop"
    "\x0a\x0b\x0a\x05" "shard" "\x12\x02\x18\x07";
/* clang-format on */

static struct labels_context context_of(struct arena *a)
{
    struct labels_context c = {0};
    struct bytes all = {(const uint8_t *)CONTEXT, sizeof CONTEXT - 1};
    assert_true(labels_context_read(all, &c, a));
    return c;
}

CASE(a_context_is_read)
{
    struct arena a = {0};
    struct labels_context c = context_of(&a);
    (void)state;
    assert_string_equal(c.schema, "tls_v1");
    assert_int_equal(c.keys_len, 2);
    assert_string_equal(c.keys[0], "a");
    assert_string_equal(c.keys[1], "b");
    assert_int_equal(c.attributes.len, 2);
    assert_string_equal(c.attributes.at[0].key, "service.name");
    assert_string_equal(c.attributes.at[0].value, "shop");
    assert_string_equal(c.attributes.at[1].value, "7");
    vec_free(&c.attributes);
    arena_deinit(&a);
}

/* At a message's end it is a shorter context; within one it is damaged. Memory ends where the bytes
 * do, for who looks beyond. */
CASE(contexts_may_be_cut)
{
    size_t whole = 0;
    (void)state;
    for (size_t len = 0; len < sizeof CONTEXT - 1; len++) {
        struct arena a = {0};
        struct labels_context c = {0};
        uint8_t *bytes = malloc(len + 1);
        memcpy(bytes, CONTEXT, len);
        whole += labels_context_read((struct bytes){bytes, len}, &c, &a);
        vec_free(&c.attributes);
        free(bytes);
        arena_deinit(&a);
    }
    assert_int_equal(whole, 3); /* nothing, one message, two */
}

/* A length of ten bytes, whose last bits no number has room for. */
CASE(numbers_of_more_than_64_bits_are_damage)
{
    static const char long_length[] = "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02";
    struct arena a = {0};
    struct labels_context c = {0};
    (void)state;
    assert_false(labels_context_read(
        (struct bytes){(const uint8_t *)long_length, sizeof long_length - 1}, &c, &a));
    arena_deinit(&a);
}

struct read {
    bool is_valid, is_cut, has_unknown;
    size_t len;
    struct recording_label labels[LABELS_MOST_KEYS];
    const uint8_t *ids;
};

/* A record with a trace's and a span's id, valid unless it is said otherwise. */
static struct read read_record(const char *attributes, size_t len, uint16_t size, uint8_t valid,
                               struct arena *a)
{
    struct labels_context c = context_of(a);
    struct read r = {0};
    uint8_t *record = ARENA_NEW(a, uint8_t, LABELS_HEAD + len);
    memset(record, 7, 24);
    record[24] = valid;
    memcpy(record + 26, &size, sizeof size);
    memcpy(record + LABELS_HEAD, attributes, len);
    r.is_valid = labels_record_read((struct bytes){record, LABELS_HEAD + len}, &c, r.labels, &r.len,
                                    &r.ids, &r.is_cut, &r.has_unknown, a);
    vec_free(&c.attributes);
    return r;
}

CASE(the_last_value_counts)
{
    struct arena a = {0};
    struct read r = read_record("\0\1x\1\2yz\0\2vw", 11, 11, 1, &a);
    (void)state;
    assert_true(r.is_valid && !r.is_cut && !r.has_unknown && r.ids);
    assert_int_equal(r.len, 2);
    assert_string_equal(r.labels[0].key, "a");
    assert_string_equal(r.labels[0].value, "vw");
    assert_string_equal(r.labels[1].value, "yz");
    arena_deinit(&a);
}

CASE(odd_records)
{
    struct arena a = {0};
    (void)state;
    struct read unknown = read_record("\7\1x\1\1y", 6, 6, 1, &a);
    assert_true(unknown.is_valid && unknown.has_unknown && unknown.len == 1);
    struct read cut = read_record("\0\1x\1\11y", 6, 6, 1, &a); /* of nine bytes one is there */
    assert_true(cut.is_valid && cut.is_cut && cut.len == 1);
    struct read half = read_record("\0\1x\1", 4, 4, 1, &a);
    assert_true(half.is_valid && half.is_cut && half.len == 1);
    struct read longer = read_record("\0\1x", 3, 65535, 1, &a); /* than what was read of it */
    assert_true(longer.is_valid && longer.len == 1);
    struct read nul = read_record("\0\3x\0y", 5, 5, 1, &a);
    assert_string_equal(nul.labels[0].value, "x?y");
    for (unsigned valid = 0; valid < 256; valid++)
        assert_true(read_record("\0\1x", 3, 3, (uint8_t)valid, &a).is_valid == (valid == 1));
    assert_int_equal(read_record("", 0, 0, 1, &a).len, 0);
    arena_deinit(&a);
}
