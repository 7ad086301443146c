/* Messages of Protocol Buffers, field by field, over a bounded span.
 *
 *     while (proto_next(&in, &field))      "\x0a\x04shop"  ->  number 1, bytes "shop"
 *         switch (field.number) ...
 *     return !in.failed;
 *
 * A message in a field is read by a cursor of its own, over the field's bytes. Nothing is copied.
 * Groups and types that no program writes any more end the message with `failed`. */
#ifndef MONARC_BASE_PROTOBUF_READ_H
#define MONARC_BASE_PROTOBUF_READ_H

#include "base/bytes.h"

struct proto_field {
    uint32_t number;
    uint64_t value;     /* of a varint or of 4 or 8 bytes */
    struct bytes bytes; /* of a text, a message or a packed list; at is NULL for the others */
    bool is_cut;        /* a varint had bits beyond the 64th, which were dropped */
};

/* Seven bits a byte, the lowest first. Bits beyond the 64th are dropped (*is_cut); more than ten
 * bytes are refused. */
static inline uint64_t proto_varint_cut(struct cursor *in, bool *is_cut)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(in);
        value |= (uint64_t)(byte & 0x7f) << shift;
        *is_cut |= shift == 63 && byte > 1;
        if (byte < 0x80)
            return value;
    }
    in->failed = true;
    return 0;
}

static inline uint64_t proto_varint(struct cursor *in)
{
    bool is_cut = false;
    return proto_varint_cut(in, &is_cut);
}

/* Takes the next field. false at the end, and where something is wrong (in->failed says which). A
 * tag is a varint of the field's number << 3 | its type:
 *
 *         0 varint      1 eight bytes      2 length and bytes      5 four bytes */
static inline bool proto_next(struct cursor *in, struct proto_field *f)
{
    if (in->failed || !cursor_left(in))
        return false;
    bool is_cut = false;
    uint64_t tag = proto_varint_cut(in, &is_cut), len;
    *f = (struct proto_field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case 0: f->value = proto_varint_cut(in, &is_cut); break;
    case 1: f->value = cursor_u64(in); break;
    case 2:
        len = proto_varint_cut(in, &is_cut);
        f->bytes.at = len <= cursor_left(in) ? cursor_take(in, len) : NULL;
        f->bytes.len = len;
        in->failed |= !f->bytes.at;
        break;
    case 5: f->value = cursor_u32(in); break;
    default: in->failed = true;
    }
    f->is_cut = is_cut;
    in->failed |= !f->number || tag >> 3 > UINT32_MAX >> 3;
    return !in->failed;
}

#endif
