/* A line table of what a session has opened. */
#ifndef MONARC_SESSION_LINE_TABLE_H
#define MONARC_SESSION_LINE_TABLE_H

#include "profile/analysis/tables.h"
#include "session/session.h"

/* All that lines_make() wants but how names are shown and whether inlined code is told apart. The
 * session was opened with `places_samples`. false: the program has no lines. */
MUST_CHECK bool session_lines_input(struct session *s, const char *program, struct lines_input *in,
                                    struct err *e);

#endif
