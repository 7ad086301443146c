/* ncurses: keys in, cells out. Everything of it that monarc uses is in this file.
 *
 * It is loaded when there is a terminal to draw on, by the version that the headers are of; the
 * number in the library's name is that of its ABI. Where it is missing, and in a monarc built
 * without its headers, the terminal is refused with one line.
 *
 * Before curses changes anything, the terminal's modes and the strings that undo what curses does
 * are remembered (struct terminal_state). With these alone terminal_put_back() works in a process
 * that never started curses, and in a handler of signals: that is how the guard (screen.c) and a
 * screen that crashed leave a usable terminal. Colours repeat what text says, so a terminal without
 * any, and NO_COLOR, lose nothing. */
#include "tui/terminal.h"

#include "base/arena.h"
#include "base/late.h"
#include "tui/model/tui.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INSTEAD "; 'monarc flat', 'graph' and 'cover' print, 'monarc html' makes a page"

/* --- the terminal ----------------------------------------------------------------------------- */

/* Only if this group of processes has the terminal: writing to it from the background would stop
 * the process by SIGTTOU. Uses nothing but system calls. */
void terminal_put_back(const struct terminal_state *t)
{
    size_t len = strlen(t->restore);
    if (tcgetpgrp(t->output) != getpgrp())
        return;
    (void)!write(t->output, t->restore, len);
    tcsetattr(t->output, TCSANOW, &t->modes);
}

#ifdef HAVE_NCURSES

/* --- the library ------------------------------------------------------------------------------ */

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>
#undef columns /* capabilities, and words we need */
#undef lines
#include <dlfcn.h>

/* Functions by their own names. */
/* clang-format off */
#define CURSES_FUNCTIONS(row)                                                                      \
    row(cbreak) row(clearok) row(curs_set) row(endwin) row(has_colors) row(init_pair)              \
    row(intrflush) row(keypad) row(newterm) row(nodelay) row(noecho) row(nonl)                     \
    row(reset_prog_mode) row(resizeterm) row(set_escdelay) row(setcchar) row(setupterm)            \
    row(start_color) row(tigetstr) row(use_default_colors) row(wadd_wch) row(wget_wch) row(wmove)  \
    row(wrefresh)
/* clang-format on */

/* What was loaded. Functions are fields by their own names, so that a call reads c->wmove(...);
 * variables are pointers to the library's own. */
struct curses {
    void *library;
    WINDOW **window, **screen; /* stdscr and curscr */
    int *lines, *columns;
#define CURSES_FIELD(name) typeof(name) *name;
    CURSES_FUNCTIONS(CURSES_FIELD)
#undef CURSES_FIELD
};

/* What is in the library that this one needs, libtinfo, is found through it. */
static bool find_all(struct curses *c)
{
#define CURSES_FIND(name) &&late_find(c->library, #name, &c->name)
    return late_find(c->library, "stdscr", &c->window) &&
           late_find(c->library, "curscr", &c->screen) &&
           late_find(c->library, "LINES", &c->lines) &&
           late_find(c->library, "COLS", &c->columns) CURSES_FUNCTIONS(CURSES_FIND);
#undef CURSES_FIND
}

/* NULL is fine. */
static void curses_close(struct curses *c)
{
    if (c && c->library)
        dlclose(c->library);
    free(c);
}

#define CURSES_NAME LATE_NAME("libncursesw", NCURSES_VERSION_MAJOR)

/* NULL: it is not installed. */
static struct curses *curses_open(void)
{
    struct curses *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->library = late_open(CURSES_NAME);
    if (c->library && find_all(c))
        return c;
    curses_close(c);
    return NULL;
}

/* --- finding --------------------------------------------------------------------------------- */

static const char *terminal_string(const struct curses *c, const char *capability)
{
    const char *found = c->tigetstr(capability);
    return found && found != (char *)-1 ? found : NULL;
}

/* Appends what a capability sends, without delays, which terminals of today need no more. Delays
 * stand in terminfo as $<5> or $<5/>: see terminfo(5). What does not fit is cut. */
static void terminal_add(const struct curses *c, char *into, size_t size, const char *capability)
{
    const char *text = terminal_string(c, capability);
    size_t len = strlen(into);
    while (text && *text && len + 1 < size) {
        const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
        if (end)
            text = end + 1;
        else
            into[len++] = *text++;
    }
    into[len] = '\0';
}

/* What is needed: moving the cursor and clearing. What undoes all that curses may do: leave the
 * other screen, keypad mode and attributes, restore colours, show the cursor. */
static bool terminal_can_draw(struct terminal_state *t, struct err *e)
{
    const char *name = getenv("TERM");
    int found;
    if (!name || !*name)
        return err_set(e, "TERM is not set, so what this terminal can do is unknown");
    const struct curses *c = t->curses = curses_open();
    if (!c)
        return err_set(e, CURSES_NAME " " LATE_MISSING INSTEAD);
    if (c->setupterm(NULL, t->output, &found) == ERR)
        return err_set(e, "this system has no description of the terminal '%s' (TERM)", name);
    if (!terminal_string(c, "cup") || !terminal_string(c, "clear"))
        return err_set(e, "the terminal '%s' (TERM) cannot move its cursor; 'monarc flat' prints",
                       name);
    static const char *const RESTORE[] = {"rmcup", "rmkx", "sgr0", "op", "cnorm"};
    for (size_t i = 0; i < sizeof RESTORE / sizeof *RESTORE; i++)
        terminal_add(c, t->restore, sizeof t->restore, RESTORE[i]);
    terminal_add(c, t->retake, sizeof t->retake, "smcup");
    return true;
}

/* Standard output must be the terminal; input may be redirected, then keys come from /dev/tty.
 * Modes are read from the output: the same terminal. */
bool terminal_find(struct terminal_state *t, struct err *e)
{
    *t = (struct terminal_state){.input = STDIN_FILENO, .output = STDOUT_FILENO};
    if (!isatty(t->output))
        return err_set(
            e, "standard output is not a terminal; 'monarc flat', 'graph' and 'cover' print");
    if (!isatty(t->input)) {
        t->input = open("/dev/tty", O_RDWR | O_CLOEXEC);
        if (t->input < 0)
            return err_set(e, "neither standard input nor /dev/tty is a terminal to type on");
        t->owns_input = true;
    }
    if (tcgetattr(t->output, &t->modes))
        return err_errno(e, "the terminal", errno);
    return terminal_can_draw(t, e);
}

void terminal_forget(struct terminal_state *t)
{
    if (t->owns_input)
        close(t->input);
    t->owns_input = false;
    curses_close(t->curses);
    t->curses = NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Pairs have the numbers of enum style's colours. NO_COLOR counts if it is not empty. */
static void terminal_colours(const struct curses *c)
{
    const char *none = getenv("NO_COLOR");
    if ((none && *none) || !c->has_colors())
        return;
    c->start_color();
    short background = c->use_default_colors() == OK ? -1 : COLOR_BLACK;
    c->init_pair(STYLE_HOT, COLOR_RED, background);
    c->init_pair(STYLE_WARM, COLOR_YELLOW, background);
    c->init_pair(STYLE_MISSED, COLOR_RED, background);
    c->init_pair(STYLE_HIT, COLOR_GREEN, background);
}

/* curses gets descriptors of its own. 50 ms of silence distinguish Escape from a sequence, since a
 * second, curses' default, is felt. Keys come one by one, without echo and without waiting. */
bool terminal_open(const struct terminal_state *t, struct err *e)
{
    const struct curses *c = t->curses;
    setlocale(LC_CTYPE, "");
    FILE *out = fdopen(dup(t->output), "w"), *in = fdopen(dup(t->input), "r");
    if (!out || !in || !c->newterm(NULL, out, in))
        return err_set(e, "ncurses cannot use the terminal '%s' (TERM)", getenv("TERM"));
    const int escape_milliseconds = 50;
    c->set_escdelay(escape_milliseconds);
    c->cbreak();
    c->noecho();
    c->nonl();
    c->intrflush(*c->window, FALSE);
    c->keypad(*c->window, TRUE);
    c->nodelay(*c->window, TRUE);
    terminal_colours(c);
    return true;
}

void terminal_suspend(const struct terminal_state *t)
{
    t->curses->endwin();
}

void terminal_retake(const struct terminal_state *t)
{
    t->curses->reset_prog_mode();
    (void)!write(t->output, t->retake, strlen(t->retake));
}

void terminal_resume(const struct terminal_state *t)
{
    const struct curses *c = t->curses;
    c->clearok(*c->screen, TRUE);
    c->wrefresh(*c->window);
    c->keypad(*c->window, TRUE); /* else not before the next key is read, which would be too late */
}

/* The kernel knows the size even where curses has not seen SIGWINCH, which the screen takes for
 * itself. Bounded, since a terminal may claim any size. */
void terminal_measure(const struct terminal_state *t, size_t *rows, size_t *columns)
{
    enum { MOST_ROWS = 1000, MOST_COLUMNS_WIDE = 2000 };
    const struct curses *c = t->curses;
    struct winsize size = {0};
    if (!ioctl(t->output, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
        (size.ws_row != *c->lines || size.ws_col != *c->columns))
        c->resizeterm(size.ws_row < MOST_ROWS ? size.ws_row : MOST_ROWS,
                      size.ws_col < MOST_COLUMNS_WIDE ? size.ws_col : MOST_COLUMNS_WIDE);
    *rows = (size_t)*c->lines;
    *columns = (size_t)*c->columns;
}

/* --- drawing --------------------------------------------------------------------------------- */

void terminal_paint(const struct terminal_state *t, const struct surface *s,
                    const struct cursor_place *cursor)
{
    const struct curses *c = t->curses;
    for (size_t row = 0; row < s->rows; row++)
        for (size_t column = 0; column < s->columns; column++) {
            const struct cell *cell = surface_cell(s, row, column);
            if (cell->columns) {
                /* Errors are left alone: curses reports one for the last cell, past which its
                 * cursor cannot go, though the cell is drawn. */
                wchar_t text[2] = {(wchar_t)cell->character, 0};
                short pair = c->has_colors() ? (short)(cell->style & STYLE_COLOUR) : 0;
                attr_t attributes = A_NORMAL;
                cchar_t drawn;
                attributes |= cell->style & STYLE_BOLD ? A_BOLD : 0;
                attributes |= cell->style & STYLE_REVERSE ? A_REVERSE : 0;
                attributes |= cell->style & STYLE_UNDERLINE ? A_UNDERLINE : 0;
                if (c->setcchar(&drawn, text, attributes, pair, NULL) == OK &&
                    c->wmove(*c->window, (int)row, (int)column) == OK)
                    c->wadd_wch(*c->window, &drawn);
            }
        }
    c->curs_set(cursor->is_shown);
    if (cursor->is_shown)
        c->wmove(*c->window, (int)cursor->row, (int)cursor->column);
    c->wrefresh(*c->window);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* The window does not wait (nodelay), so ERR says that there is none. */
uint32_t terminal_key(const struct terminal_state *t)
{
    static const struct {
        wint_t curses;
        uint32_t key;
    } KEYS[] = {{KEY_UP, PRESS_UP},         {KEY_DOWN, PRESS_DOWN},
                {KEY_LEFT, PRESS_LEFT},     {KEY_RIGHT, PRESS_RIGHT},
                {KEY_PPAGE, PRESS_PAGE_UP}, {KEY_NPAGE, PRESS_PAGE_DOWN},
                {KEY_HOME, PRESS_HOME},     {KEY_END, PRESS_END},
                {KEY_ENTER, PRESS_ENTER},   {KEY_BACKSPACE, PRESS_BACKSPACE}};
    wint_t c;
    int kind = t->curses->wget_wch(*t->curses->window, &c);
    if (kind == ERR)
        return PRESS_NONE;
    if (kind != KEY_CODE_YES)
        return c == '\n' ? PRESS_ENTER : c == 0x7f ? PRESS_BACKSPACE : (uint32_t)c;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (KEYS[i].curses == c)
            return KEYS[i].key;
    return PRESS_ESCAPE;
}

#else

bool terminal_find(struct terminal_state *t, struct err *e)
{
    *t = (struct terminal_state){0};
    return err_set(e, "this monarc was built without ncurses and has no screen" INSTEAD);
}

void terminal_forget(struct terminal_state *t)
{
    (void)t;
}

bool terminal_open(const struct terminal_state *t, struct err *e)
{
    return terminal_find(&(struct terminal_state){.input = t->input}, e);
}

void terminal_suspend(const struct terminal_state *t)
{
    (void)t;
}

void terminal_resume(const struct terminal_state *t)
{
    (void)t;
}

void terminal_retake(const struct terminal_state *t)
{
    (void)t;
}

void terminal_measure(const struct terminal_state *t, size_t *rows, size_t *columns)
{
    (void)t, *rows = *columns = 0;
}

void terminal_paint(const struct terminal_state *t, const struct surface *s,
                    const struct cursor_place *cursor)
{
    (void)t, (void)s, (void)cursor;
}

uint32_t terminal_key(const struct terminal_state *t)
{
    (void)t;
    return PRESS_NONE;
}

#endif
