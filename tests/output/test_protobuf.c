/* Messages of Protocol Buffers, byte by byte as the encoding is described: "Encoding",
 * protobuf.dev.
 */
#include "cases.h"
#include "output/formats.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_bytes(struct protobuf *p, const char *hex)
{
    char found[256] = "";
    for (size_t i = 0; i < p->out.len && i < 80; i++)
        snprintf(found + strlen(found), 4, "%s%02x", i ? " " : "", p->out.at[i]);
    assert_string_equal(found, hex);
    p->out.len = 0;
}

CASE(numbers)
{
    struct protobuf p = {0};
    (void)state;
    protobuf_u64(&p, 1, 150);
    assert_bytes(&p, "08 96 01");
    protobuf_u64(&p, 1, 0);
    assert_bytes(&p, "");
    protobuf_u64(&p, 15, 127);
    assert_bytes(&p, "78 7f");
    protobuf_u64(&p, 16, 128);
    assert_bytes(&p, "80 01 80 01");
    protobuf_u64(&p, 1, UINT64_MAX);
    assert_bytes(&p, "08 ff ff ff ff ff ff ff ff ff 01");
    protobuf_u64(&p, (1 << 29) - 1, 1);
    assert_bytes(&p, "f8 ff ff ff 0f 01");
    protobuf_fixed64(&p, 3, 0x0102030405060708);
    assert_bytes(&p, "19 08 07 06 05 04 03 02 01");
    protobuf_fixed64(&p, 3, 0);
    assert_bytes(&p, "");
    protobuf_deinit(&p);
}

CASE(texts)
{
    struct protobuf p = {0};
    (void)state;
    protobuf_bytes(&p, 2, "testing", 7);
    assert_bytes(&p, "12 07 74 65 73 74 69 6e 67");
    protobuf_bytes(&p, 6, "", 0); /* that it is there means something in a list */
    assert_bytes(&p, "32 00");
    protobuf_deinit(&p);
}

CASE(messages_within)
{
    struct protobuf p = {0};
    (void)state;
    size_t outer = protobuf_begin(&p, 3), empty = protobuf_begin(&p, 1);
    protobuf_end(&p, empty);
    size_t list = protobuf_begin(&p, 6);
    protobuf_varint(&p, 3);
    protobuf_varint(&p, 270);
    protobuf_varint(&p, 0);
    protobuf_end(&p, list);
    protobuf_end(&p, outer);
    assert_bytes(&p, "1a 08 0a 00 32 04 03 8e 02 00");
    protobuf_deinit(&p);
}

/* A length that takes more bytes than the one that was left for it moves what it measures. */
static void assert_length(size_t len, const char *head, size_t head_len)
{
    struct protobuf p = {0};
    size_t at = protobuf_begin(&p, 1);
    for (size_t i = 0; i < len; i++)
        protobuf_varint(&p, i % 100);
    protobuf_end(&p, at);
    assert_int_equal(p.out.len, head_len + len);
    assert_memory_equal(p.out.at, head, head_len);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(p.out.at[head_len + i], i % 100);
    protobuf_deinit(&p);
}

CASE(lengths)
{
    assert_length(127, "\x0a\x7f", 2);
    assert_length(128, "\x0a\x80\x01", 3);
    assert_length(16383, "\x0a\xff\x7f", 3);
    assert_length(16384, "\x0a\x80\x80\x01", 4);
    assert_length(2097152, "\x0a\x80\x80\x80\x01", 5);
}
