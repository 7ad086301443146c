/* Messages of Protocol Buffers, written field by field: varints, texts, and messages inside.
 *
 *     struct protobuf p = {0};
 *     size_t inner = protobuf_begin(&p, 2);
 *     protobuf_u64(&p, 1, 7);
 *     protobuf_end(&p, inner);
 *
 * Nothing is read, and no schema is known: that fields and types are right is the caller's. */
#ifndef MONARC_OUTPUT_PROTOBUF_H
#define MONARC_OUTPUT_PROTOBUF_H

#include "base/bytes.h"
#include "base/vec.h"

struct protobuf {
    VEC(uint8_t) out;
};

void protobuf_varint(struct protobuf *p, uint64_t value); /* without a field: in packed lists */
void protobuf_u64(struct protobuf *p, uint32_t field, uint64_t value);     /* nothing for 0 */
void protobuf_fixed64(struct protobuf *p, uint32_t field, uint64_t value); /* nothing for 0 */
void protobuf_bytes(struct protobuf *p, uint32_t field, const void *bytes, size_t len);

/* A message, or a packed list of varints. Returns what protobuf_end() wants to know. */
size_t protobuf_begin(struct protobuf *p, uint32_t field);
void protobuf_end(struct protobuf *p, size_t begun);

void protobuf_deinit(struct protobuf *p);

#endif
