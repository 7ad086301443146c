/* A process that holds the screen, and this one, which waits for it and puts the terminal back if
 * it ends in any other way than by itself: by a signal, an assertion of a library, SIGKILL, for
 * want of memory. If this one is killed, the other one hears of it and puts the terminal back. */
#ifndef MONARC_TUI_GUARD_H
#define MONARC_TUI_GUARD_H

#include "tui/terminal.h"

#include <signal.h>

/* What the other process does. It gets the signals of guard_signals() blocked, and its standard
 * error goes to this one, to be shown when the screen is gone; `error` is where it went before. */
typedef bool guard_work(void *context, int error, struct err *e);

/* False with `e` set if the work was false, or ended by a signal; signals that mean to end this
 * process (SIGINT, SIGTERM, SIGHUP, SIGQUIT) do so. */
MUST_CHECK bool guard_run(const struct terminal_state *t, guard_work *work, void *context,
                          struct err *e);

/* Ends the process that holds the screen by this signal, whose action is the system's. */
_Noreturn void guard_end_by(int signal_number);

/* Tells the screen, when it goes on, that the terminal was put back while it was stopped. */
#define GUARD_PUT_BACK SIGUSR1

/* Signals that are waited for, not handled. */
void guard_signals(sigset_t *set);

#endif
