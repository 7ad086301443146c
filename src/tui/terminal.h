/* The terminal, by ncurses, which is used in terminal.c alone.
 *
 * It refuses what is no terminal, and terminals that cannot move their cursor. Without ncurses it
 * refuses everything. */
#ifndef MONARC_TUI_TERMINAL_H
#define MONARC_TUI_TERMINAL_H

#include "tui/draw/draw.h"

#include <termios.h>

/* What it takes to put a terminal back without curses: when that has ended in some other way. */
struct terminal_state {
    int input, output; /* descriptors; output is standard output */
    bool owns_input;   /* opened here: standard input is no terminal */
    struct termios modes;
    char restore[256];     /* what ends the other screen and colours, and shows the cursor */
    char retake[256];      /* what begins the other screen */
    struct curses *curses; /* NULL: not loaded */
};

/* Looks whether there is a terminal that will do, and remembers how it was. */
MUST_CHECK bool terminal_find(struct terminal_state *t, struct err *e);
void terminal_forget(struct terminal_state *t);

/* Puts it back, unless another group of processes has it by now. */
void terminal_put_back(const struct terminal_state *t);

/* --- while it is ours ------------------------------------------------------------------------ */

/* Takes over the terminal; signals that its keys send are the caller's. */
MUST_CHECK bool terminal_open(const struct terminal_state *t, struct err *e);

/* Gives it back; terminal_resume() takes it again. */
void terminal_suspend(const struct terminal_state *t);
void terminal_resume(const struct terminal_state *t);

/* Takes it again after somebody else has put it back; terminal_resume() is to follow. */
void terminal_retake(const struct terminal_state *t);

/* Asks the system for the size and tells curses. */
void terminal_measure(const struct terminal_state *t, size_t *rows, size_t *columns);

void terminal_paint(const struct terminal_state *t, const struct surface *s,
                    const struct cursor_place *cursor);

/* The next key that has arrived, or PRESS_NONE; does not wait. */
uint32_t terminal_key(const struct terminal_state *t);

#endif
