/* The screen itself: what was opened, on the terminal, until the user has seen enough. */
#ifndef MONARC_TUI_SCREEN_H
#define MONARC_TUI_SCREEN_H

#include "tui/model/tui.h"
#include "tui/terminal.h"

/* Opens what the options name, and shows it on the terminal that was found. */
MUST_CHECK bool screen_run(const struct tui_options *o, const struct terminal_state *t,
                           struct err *e);

#endif
