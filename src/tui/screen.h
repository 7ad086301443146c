/* The screen itself: what was opened, on the terminal, until the user has seen enough. */
#ifndef MONARC_TUI_SCREEN_H
#define MONARC_TUI_SCREEN_H

#include "tui/model/tui.h"
#include "tui/terminal.h"

/* Opens what the options name, and shows it on the terminal that was found. Returns when the user
 * has left the screen. The terminal is as it was, whether this succeeds or not; see guard_run() for
 * the ways to end. */
MUST_CHECK bool screen_run(const struct tui_options *o, const struct terminal_state *t,
                           struct err *e);

#endif
