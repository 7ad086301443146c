/* Whether a recording of the embedded recorder stood in this very program: by the sum over its text
 * that the recorder took on the machine. */
#ifndef MONARC_PROFILE_ANALYSIS_FIRMWARE_H
#define MONARC_PROFILE_ANALYSIS_FIRMWARE_H

#include "objfile/object.h"
#include "profile/model/embedded.h"

enum firmware_match {
    FIRMWARE_SAME,
    FIRMWARE_OTHER,   /* another program, or another build of it */
    FIRMWARE_UNKNOWN, /* the recorder took no sum, or not all of the text is in the file */
};

/* One sentence about anything but FIRMWARE_SAME goes to `why`, which may be NULL. */
enum firmware_match firmware_match(const struct embedded_core *core, struct object *program,
                                   struct err *why);

#endif
