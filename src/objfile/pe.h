/* PE images, programs and libraries of Windows, as ELF images: the rest of the room knows nothing
 * of them. */
#ifndef MONARC_OBJFILE_PE_H
#define MONARC_OBJFILE_PE_H

#include "base/writer.h"
#include "objfile/object.h"

bool pe_probe(struct bytes start);

/* Writes to *elf, empty before, an image with the same code, symbols and debug information. Fails
 * with *why for what begins as a PE image and is none, or is cut short. */
MUST_CHECK bool pe_to_elf(struct bytes pe, const char *name, struct writer *elf,
                          enum object_failure *why, struct err *e);

#endif
