/* Recordings of the ranks of a parallel job, read one after the other. */
#ifndef MONARC_SESSION_RANK_FILES_H
#define MONARC_SESSION_RANK_FILES_H

#include "profile/analysis/ranks/ranks.h"
#include "session/recorded.h"

struct rank_files_options {
    struct recorded_options recorded; /* its filter: the event alone */
    bool by_total;                    /* a region's time is that of all stacks that it is on */
    bool no_demangle;
};

/* Feeds all ranks of the recordings into *s, which is empty. A recording may be of one rank or of
 * several; one without ranks counts as a rank of its own, numbered in their order. What cannot be
 * read, as a rank that was killed with its recorder may leave, is passed over, and the first reason
 * is in *unread. Fails where a rank is in two recordings, as they would not be of one job, and
 * where nothing could be read. */
MUST_CHECK bool rank_files_read(struct rank_set *s, char *const *folders, size_t len,
                                const struct rank_files_options *o, struct err *unread,
                                struct err *e);

#endif
