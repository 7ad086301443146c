/* Messages of Protocol Buffers, field by field, over a bounded span. Groups and types that nobody
 * writes any more end the message with `failed`. */
#ifndef MONARC_PROFILE_IMPORT_PROTOBUF_READ_H
#define MONARC_PROFILE_IMPORT_PROTOBUF_READ_H

#include "base/bytes.h"

struct proto_field {
    uint32_t number;
    uint64_t value;     /* of a varint or of 4 or 8 bytes */
    struct bytes bytes; /* of a text, a message or a packed list; at is NULL for the others */
};

static inline uint64_t proto_varint(struct cursor *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(in);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return value;
    }
    in->failed = true;
    return 0;
}

/* false at the end, and where something is wrong. */
static inline bool proto_next(struct cursor *in, struct proto_field *f)
{
    if (in->failed || !cursor_left(in))
        return false;
    uint64_t tag = proto_varint(in), len;
    *f = (struct proto_field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case 0: f->value = proto_varint(in); break;
    case 1: f->value = cursor_u64(in); break;
    case 2:
        len = proto_varint(in);
        f->bytes.at = len <= cursor_left(in) ? cursor_take(in, len) : NULL;
        f->bytes.len = len;
        in->failed |= !f->bytes.at;
        break;
    case 5: f->value = cursor_u32(in); break;
    default: in->failed = true;
    }
    in->failed |= !f->number || tag >> 3 > UINT32_MAX >> 3;
    return !in->failed;
}

#endif
