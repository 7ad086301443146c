/* The terminal and what is done with it: ncurses (terminal.c), the process that guards it
 * and an editor that borrows it (screen.c).
 *
 * Three states follow one another: found (modes and strings are remembered, nothing has changed),
 * open (curses has the terminal), suspended (it is as the shell left it, curses remembers). Every
 * function names the state that it begins or ends. */
#ifndef MONARC_TUI_TERMINAL_H
#define MONARC_TUI_TERMINAL_H

#include "base/err.h"
#include "tui/draw/draw.h"
#include "tui/model/tui.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>

/* The terminal, by ncurses, which is used in terminal.c alone.
 *
 * Limits: terminals that can move their cursor. Without ncurses there is no screen. */

/* What it takes to put a terminal back without curses: when that has ended in some other way.
 * Filled by terminal_find() and only read from then on, so that both processes have the same after
 * a fork. `restore` and `retake` are strings for the terminal, which end in NUL. */
struct terminal_state {
    int input, output; /* descriptors; output is standard output */
    bool owns_input;   /* opened here: standard input is no terminal */
    struct termios modes;
    char restore[256];     /* what ends the other screen and colours, and shows the cursor */
    char retake[256];      /* what begins the other screen */
    struct curses *curses; /* NULL: not loaded */
};

/* Looks whether there is a terminal that will do, and remembers how it was. terminal_forget() after
 * failure, too. */
MUST_CHECK bool terminal_find(struct terminal_state *t, struct err *e);
void terminal_forget(struct terminal_state *t);

/* Puts it back, unless another group of processes has it by now. */
void terminal_put_back(const struct terminal_state *t);

/* --- while it is ours ------------------------------------------------------------------------ */

/* Takes over the terminal; signals that its keys send are the caller's. */
MUST_CHECK bool terminal_open(const struct terminal_state *t, struct err *e);

/* Gives it back; terminal_resume() takes it again. Between the two the terminal is in the modes of
 * whoever started monarc, and shows what was on it. */
void terminal_suspend(const struct terminal_state *t);
void terminal_resume(const struct terminal_state *t);

/* Takes it again after another process has put it back; terminal_resume() is to follow. */
void terminal_retake(const struct terminal_state *t);

/* Gets the size from the system and passes it to curses. At most 1000 rows of 2000 columns. */
void terminal_measure(const struct terminal_state *t, size_t *rows, size_t *columns);

/* Draws all cells; curses sends those that have changed. */
void terminal_paint(const struct terminal_state *t, const struct surface *s,
                    const struct cursor_place *cursor);

/* The next key that has arrived, or PRESS_NONE; does not wait. Characters by their number in
 * Unicode, others as enum press. A key that curses knows and the screen does not is PRESS_ESCAPE,
 * which does nothing but close a prompt. */
uint32_t terminal_key(const struct terminal_state *t);

/* A process that holds the screen, and this one, which waits for it and puts the terminal back if
 * it ends in any other way than by itself: by a signal, an assertion of a library, SIGKILL, for
 * want of memory. If this one is killed, the other one hears of it and puts the terminal back. */

/* What the other process does. It gets the signals of guard_signals() blocked, and its standard
 * error goes to this one, to be shown when the screen is gone; `error` is where it went before. */
typedef bool guard_work(void *context, int error, struct err *e);

/* False with `e` set if the work was false, or ended by a signal; signals that mean to end this
 * process (SIGINT, SIGTERM, SIGHUP, SIGQUIT) do so. */
MUST_CHECK bool guard_run(const struct terminal_state *t, guard_work *work, void *context,
                          struct err *e);

/* Ends the process that holds the screen by this signal, whose action is the system's. */
_Noreturn void guard_end_by(int signal_number);

/* Reports to the screen, when it goes on, that the terminal was put back while it was stopped. */
#define GUARD_PUT_BACK SIGUSR1

/* Signals that are waited for, not handled. */
void guard_signals(sigset_t *set);

/* The user's editor, at a line of a file. */

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

/* The screen itself: what was opened, on the terminal, until the user has seen enough. */

/* Opens what the options name, and shows it on the terminal that was found. Returns when the user
 * has left the screen. The terminal is as it was, whether this succeeds or not; see guard_run() for
 * the ways to end. */
MUST_CHECK bool screen_run(const struct tui_options *o, const struct terminal_state *t,
                           struct err *e);

#endif
