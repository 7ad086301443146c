/* The memory image of the embedded recorder: as it sent it, or as a debugger fetched it, alone or
 * somewhere in a dump of all memory. The bytes: docs/formats/embedded.md. */
#ifndef MONARC_PROFILE_FORMAT_EMBEDDED_H
#define MONARC_PROFILE_FORMAT_EMBEDDED_H

#include "base/bytes.h"
#include "profile/model/embedded.h"

/* Moves `in` to the next image, or returns false. The magic alone, as in the recorder's code, is
 * none. */
bool embedded_find(struct cursor *in);

/* Reads the image at `in` and adds it to *out. Fails, with *out as it was, if its head is damaged
 * or the bytes end before it does. */
MUST_CHECK bool embedded_read(struct cursor *in, struct embedded *out, struct err *e);

/* The images of one recording: one for each core, behind each other; *rest is where what follows
 * begins. Fails if one is missing or twice. */
MUST_CHECK bool embedded_read_all(struct cursor *in, struct embedded *out, struct err *e);

#endif
