/* Protocol Buffers, written front to back.
 *
 * A length precedes what it measures, in one to ten bytes: a message is written after one byte of
 * room, and moved if its length needs more. Messages are short or few, so that moving costs less
 * than measuring each twice. A number of 0 is the default of every field and is not written. */
#include "output/formats.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, MOST_VARINT = 10 };

/* Seven bits a byte, the lowest first; the top bit says that more follow.
 *
 *    300 = 10 0101100    ac 02 */
static size_t protobuf_encode(uint8_t *to, uint64_t value)
{
    size_t len = 0;
    for (; value > 0x7f; value >>= 7)
        to[len++] = (uint8_t)(value | 0x80);
    to[len++] = (uint8_t)value;
    return len;
}

void protobuf_varint(struct protobuf *p, uint64_t value)
{
    vec_reserve(&p->out, p->out.len + MOST_VARINT);
    p->out.len += protobuf_encode(p->out.at + p->out.len, value);
}

/* A field's number, and in the lowest three bits how its value is written. */
static void protobuf_tag(struct protobuf *p, uint32_t field, unsigned wire)
{
    protobuf_varint(p, (uint64_t)field << 3 | wire);
}

void protobuf_u64(struct protobuf *p, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    protobuf_tag(p, field, WIRE_VARINT);
    protobuf_varint(p, value);
}

/* Little-endian, whatever the machine is. */
void protobuf_fixed64(struct protobuf *p, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    protobuf_tag(p, field, WIRE_FIXED64);
    vec_reserve(&p->out, p->out.len + sizeof value);
    for (unsigned i = 0; i < sizeof value; i++)
        p->out.at[p->out.len++] = (uint8_t)(value >> 8 * i);
}

void protobuf_bytes(struct protobuf *p, uint32_t field, const void *bytes, size_t len)
{
    protobuf_tag(p, field, WIRE_LENGTH);
    protobuf_varint(p, len);
    vec_reserve(&p->out, p->out.len + len);
    if (len)
        memcpy(p->out.at + p->out.len, bytes, len);
    p->out.len += len;
}

/* One byte of room: enough for a message below 128 bytes, as most are. */
size_t protobuf_begin(struct protobuf *p, uint32_t field)
{
    protobuf_tag(p, field, WIRE_LENGTH);
    vec_push(&p->out, 0);
    return p->out.len;
}

/* Moves the message where its length needs more than that byte. */
void protobuf_end(struct protobuf *p, size_t begun)
{
    uint8_t length[MOST_VARINT];
    size_t inside = p->out.len - begun, len = protobuf_encode(length, inside);
    vec_reserve(&p->out, p->out.len + len);
    memmove(p->out.at + begun - 1 + len, p->out.at + begun, inside);
    memcpy(p->out.at + begun - 1, length, len);
    p->out.len += len - 1;
}

void protobuf_deinit(struct protobuf *p)
{
    vec_free(&p->out);
}
