/* Reports on a terminal: colour, and a pager between the report and the screen.
 *
 * Both only where standard output is a terminal. Colour follows --color, NO_COLOR and TERM=dumb;
 * the pager is MONARC_PAGER, PAGER or `less -FRX`, run by /bin/sh; an empty one or `cat` is none.
 */
#ifndef MONARC_CLI_TERMINAL_H
#define MONARC_CLI_TERMINAL_H

#include "output/out.h"

#include <sys/types.h>

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* "auto", "always", "never"; NULL is always, as in ls(1). */
MUST_CHECK bool parse_colour(const char *value, enum colour_when *when, struct err *e);

struct terminal {
    bool has_colour;
    pid_t pager; /* 0: none */
    int screen;  /* what `out` wrote to before */
};

/* Columns of the terminal that `out` writes to, and no fewer than 80; elsewhere 80. */
int terminal_width(const struct out *out);

/* Decides, and starts the pager: `out`, still empty, then writes to it. */
void terminal_start(struct terminal *t, enum colour_when when, bool no_pager, struct out *out);

/* Ends the pager's input, waits until the user has left it, and gives `out` its descriptor back. A
 * pager left early is no error. */
void terminal_end(struct terminal *t, struct out *out);

#endif
