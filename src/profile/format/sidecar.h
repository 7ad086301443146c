/* The sidecar of a hosted recorder, read and written. The bytes: docs/formats/sidecar.md. */
#ifndef MONARC_PROFILE_FORMAT_SIDECAR_H
#define MONARC_PROFILE_FORMAT_SIDECAR_H

#include "base/cursor.h"
#include "base/writer.h"
#include "profile/model/sidecar.h"

/* Whether the bytes begin as a sidecar does. */
bool sidecar_probe(struct bytes in);

/* Reads a whole sidecar into a zeroed *out; its checksum must be right. After a failure *out holds
 * what came before and must still be freed. */
MUST_CHECK bool sidecar_read(struct bytes in, const char *name, struct sidecar *out, struct err *e);

/* Encodes `r` in the order of a recorder, with its pointer size and byte order. */
void sidecar_write(struct writer *w, const struct sidecar *r);

/* For the live file, which has records of the same kinds: takes the payload of one. Unknown tags
 * are passed over. */
MUST_CHECK bool sidecar_record(uint32_t tag, struct cursor payload, struct sidecar *out,
                               struct err *e);

/* FNV-1a of 64 bits. */
uint64_t sidecar_checksum(struct bytes b);

#endif
