/* Replaces a counter file by one with more in it, so that at every moment the old file or the new
 * one is there, whole, whatever ends the process and however many processes do the same.
 *
 * The new file is written as PATH.part, which is also the lock: whoever holds fcntl's write lock on
 * the file that PATH.part names may write it and rename it to PATH. One who waited finds that its
 * file is PATH.part no longer, and begins again. What a killed process leaves is one PATH.part,
 * which the next one overwrites. */
#ifndef MONARC_COVER_STORE_H
#define MONARC_COVER_STORE_H

#include "merge.h"

/* Makes the new file of the old one's bytes, which are none if there is no file. */
struct change {
    enum verdict (*apply)(const struct change *c, struct cursor old, struct buffer *new,
                          const char **why);
    size_t new_bound; /* bytes that the new file takes at most beyond the old ones */
};

/* Brings PATH up to date. An old file that does not fit is renamed to PATH.damaged-N or
 * PATH.other-N and reported. False, reported, if the file could not be written. */
bool store_update(const char *path, const struct change *c);

#endif
