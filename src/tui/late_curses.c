/* dlopen() of the version that the headers are of; the number in its name is that of its ABI. */
#include "tui/late_curses.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x)   #x
#define EXPANDED(x)  TEXT_OF(x)
#define LIBRARY_NAME "libncursesw.so." EXPANDED(NCURSES_VERSION_MAJOR)

/* POSIX lets the address of a function be kept in an object pointer, C's type system does not. */
static bool find(const struct curses *c, const char *name, void *into)
{
    void *found = dlsym(c->library, name);
    memcpy(into, &found, sizeof found);
    return found;
}

/* What is in the library that this one needs, libtinfo, is found through it. */
static bool find_all(struct curses *c)
{
#define CURSES_FIND(name) &&find(c, #name, &c->name)
    return find(c, "stdscr", &c->window) && find(c, "curscr", &c->screen) &&
           find(c, "LINES", &c->lines) &&
           find(c, "COLS", &c->columns) CURSES_FUNCTIONS(CURSES_FIND);
#undef CURSES_FIND
}

struct curses *curses_open(void)
{
    struct curses *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->library = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
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
