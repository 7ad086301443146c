/* The header that GNU gmon.out and glibc's profiles of shared objects have in common. */
#ifndef MONARC_PROFILE_FORMAT_GMON_H
#define MONARC_PROFILE_FORMAT_GMON_H

#include "base/bytes.h"
#include "profile/format/format.h"

/* The version of such a header (0, 1 or 0x1ffff) and the order in which it is one; false if there
 * is none that `hint` allows. */
bool gmon_version(struct bytes in, const struct format_hint *hint, uint32_t *version,
                  enum byte_order *order);

/* Takes the header, of a shared object's profile or of a GNU one; fails with out->failure. */
MUST_CHECK bool gmon_open(struct cursor *at, const struct format_hint *hint, bool is_shared,
                          enum byte_order *order, struct profile *out, struct err *e);

void gmon_write_header(struct writer *w, uint32_t version);

#endif
