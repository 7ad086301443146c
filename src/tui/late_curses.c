/* The version that the headers are of; the number in the library's name is that of its ABI. */
#include "tui/late_curses.h"

#include "base/arena.h"
#include "base/late.h"

#include <dlfcn.h>
#include <stdlib.h>

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

struct curses *curses_open(void)
{
    struct curses *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->library = late_open(LATE_NAME("libncursesw", NCURSES_VERSION_MAJOR));
    if (c->library && find_all(c))
        return c;
    curses_close(c);
    return NULL;
}

void curses_close(struct curses *c)
{
    if (c && c->library)
        dlclose(c->library);
    free(c);
}
