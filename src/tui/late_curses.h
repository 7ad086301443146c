/* ncurses, loaded when there is a terminal to draw on: linked, it would cost the start of every
 * command a quarter of its time. For terminal.c alone. */
#ifndef MONARC_TUI_LATE_CURSES_H
#define MONARC_TUI_LATE_CURSES_H

#define NCURSES_NOMACROS
#include <curses.h>
#include <stdbool.h>
#include <term.h>
#undef columns /* capabilities, and words we need */
#undef lines

/* Functions by their own names. */
/* clang-format off */
#define CURSES_FUNCTIONS(row)                                                                      \
    row(cbreak) row(clearok) row(curs_set) row(endwin) row(has_colors) row(init_pair)              \
    row(intrflush) row(keypad) row(newterm) row(nodelay) row(noecho) row(nonl)                     \
    row(reset_prog_mode) row(resizeterm) row(set_escdelay) row(setcchar) row(setupterm)            \
    row(start_color) row(tigetstr) row(use_default_colors) row(wadd_wch) row(wget_wch) row(wmove)  \
    row(wrefresh)
/* clang-format on */

struct curses {
    void *library;
    WINDOW **window, **screen; /* stdscr and curscr */
    int *lines, *columns;
#define CURSES_FIELD(name) typeof(name) *name;
    CURSES_FUNCTIONS(CURSES_FIELD)
#undef CURSES_FIELD
};

/* NULL: it is not installed. */
struct curses *curses_open(void);
void curses_close(struct curses *c); /* NULL is fine */

#endif
