/* Replaces a counter file by one with more in it, so that at every moment the old file or the new
 * one is there, whole, whatever ends the process and however many processes do the same.
 *
 * Whoever changes PATH holds fcntl's write lock on the file of that name, for which libgcov waits
 * too; one who waited for a file that has lost the name begins again. Where there are no such
 * locks, PATH.lock stands in (lock.h). The new file is written as PATH.part, which is always made
 * anew, and takes the name by an exchange; where there was no file, by a rename that replaces
 * nothing, or a link, which fail if another process was faster. What a killed process left as
 * PATH.part the next one removes; what else has that name, a FIFO or a file with another name,
 * stays, and PATH.NUMBER.part is used. */
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
