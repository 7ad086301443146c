/* The user's editor, at a line of a file. */
#ifndef MONARC_TUI_EDITOR_H
#define MONARC_TUI_EDITOR_H

#include "base/err.h"

#include <stddef.h>

/* How the editor is run: descriptors for its input and errors, and what to do when it is stopped
 * (by Ctrl-Z): to stop as well, and return when the user is back. */
struct editor_place {
    int input, error;
    void (*stop)(void *context);
    void *context;
};

/* Runs $VISUAL, $EDITOR or vi, by the shell, with +LINE FILE, and waits. The terminal is as others
 * expect it. False: it could not be run, or failed. */
MUST_CHECK bool editor_run(const struct editor_place *p, const char *path, size_t line,
                           struct err *e);

#endif
