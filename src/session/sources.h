/* The source lines of a program or recording, with what was measured on each. */
#ifndef MONARC_SESSION_SOURCES_H
#define MONARC_SESSION_SOURCES_H

#include "profile/analysis/source_lines.h"
#include "session/session.h"
#include "source/search.h"

struct sources_options {
    struct session_options session;
    struct source_search search;
    const char *function, *file; /* only lines of these; NULL: of all */
};

/* The program or recording, its profile, and its lines. */
struct sources {
    struct session session;
    struct source_input input;
    struct source_lines lines;
};

/* Opens, reads and analyses; fails too if the function or file that was asked for is not there. The
 * rest of `input` may be filled before. sources_close() after failure, too. */
MUST_CHECK bool sources_open(struct sources *s, struct sources_options *o, struct err *e);
void sources_close(struct sources *s, struct sources_options *o);

#endif
