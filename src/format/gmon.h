/* The header that GNU gmon.out and glibc's profiles of shared objects have in common. */
#ifndef MONARC_FORMAT_GMON_H
#define MONARC_FORMAT_GMON_H

#include "base/cursor.h"
#include "format/format.h"

/* Whether the bytes have that header with version `wanted` in an order that `hint` allows. */
bool gmon_has_version(struct bytes in, const struct format_hint *hint, uint32_t wanted,
                      enum byte_order *order);

/* The same at a cursor, but failing with a message and out->failure. */
MUST_CHECK bool gmon_check_header(const struct cursor *at, const struct format_hint *hint,
                                  uint32_t wanted, enum byte_order *order, struct profile *out,
                                  struct err *e);

void gmon_write_header(struct writer *w, uint32_t version);

#endif
