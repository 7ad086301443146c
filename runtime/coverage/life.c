/* From the first constructor to the last exit handler. See life.h.
 *
 * The shared library's constructor runs before the C library registers the loader's exit handler,
 * so that its own handler runs after all destructors of all objects. The archive has no such place:
 * there the destructors of covered objects, which gcc has run after all others of their program or
 * library, are the end, as with libgcov. */
#include "life.h"
#include "../common/sys.h"
#include "dump.h"
#include "export.h"
#include "loaded.h"
#include "objects.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

int __cxa_atexit(void (*)(void *), void *, void *);
int __cxa_at_quick_exit(void (*)(void *), void *);
extern void *__dso_handle;

#pragma weak __sanitizer_set_death_callback
void __sanitizer_set_death_callback(void (*)(void));

/* The archive's other half comes along, needed by name or not. */
__attribute__((used)) static void (*const links_in_wrap)(int) = _exit;
__attribute__((used)) static int (*const links_in_exec)(const char *, char *const[],
                                                        char *const[]) = execve;
__attribute__((used)) static int (*const links_in_api)(void) = monarc_cover_dump;

static bool begun;
static bool has_ended;
static uint64_t fork_mask;

static void before_fork(void)
{
    objects_lock(&fork_mask);
}

static void in_parent(void)
{
    objects_unlock(&fork_mask);
}

static void in_child(void)
{
    dump_begin();
    objects_renew();
    objects_unlock(&fork_mask);
}

static void at_death(void)
{
    dump(DUMP_LAST | DUMP_ASYNC);
}

static void at_quick_end(void *unused)
{
    (void)unused;
    dump(DUMP_LAST);
}

#ifdef MONARC_STATIC

void life_library(void)
{
    has_ended = false;
}

void life_unload(uintptr_t from)
{
    (void)from;
    if (has_ended)
        return;
    has_ended = true;
    dump(DUMP_LAST);
    signals_end();
}

/* Objects of clang and those registered by hand have no destructor that calls us. */
__attribute__((destructor(101))) static void destruct(void)
{
    uint64_t mask;
    objects_lock(&mask);
    const struct object *o = objects;
    while (o && !o->gcc.at)
        o = o->next;
    objects_unlock(&mask);
    if (objects && !o)
        life_unload(0);
}

#else

static bool is_exiting; /* exit() has begun; at_end is still to come */

static void at_end(void *unused)
{
    (void)unused;
    dump(DUMP_MORE);
    is_exiting = false;
    has_ended = true;
}

/* Runs before the loader's destructors, if it was registered after them. */
static void at_exit_begin(void *unused)
{
    (void)unused;
    is_exiting = !has_ended;
}

void life_library(void)
{
    static const struct object *seen;
    static uintptr_t low, high;
    uint64_t mask;
    objects_lock(&mask);
    const struct object *o = objects;
    while (o && o->next)
        o = o->next;
    bool is_new = o && o != seen && (o->low != low || o->high != high);
    seen = o;
    low = o ? o->low : 0;
    high = o ? o->high : 0;
    objects_unlock(&mask);
    if (is_new)
        __cxa_atexit(at_exit_begin, NULL, NULL);
}

/* At dlclose this is the last moment at which the counters are there. A destructor that jumps to us
 * instead of calling leaves open which library it is of; then all of them are looked after. */
void life_unload(uintptr_t from)
{
    uintptr_t low = 0, high = 0;
    uint64_t mask;
    if (is_exiting || loaded_at(from, true, &low, &high) != LOADED_YES)
        return;
    if (loaded_is_program(low, high))
        return;
    objects_lock(&mask);
    const struct object *o = objects;
    while (o && (o->low != low || o->high != high))
        o = o->next;
    objects_unlock(&mask);
    if (!o)
        low = high = 0;
    dump_libraries(low, high);
    objects_lock(&mask);
    if (o)
        objects_remove(low, high);
    else
        objects_suspect();
    objects_unlock(&mask);
}

#endif

void life_begin(void)
{
    if (begun)
        return;
    begun = true;
    dump_begin();
    pthread_atfork(before_fork, in_parent, in_child);
#ifdef MONARC_STATIC
    __cxa_at_quick_exit(at_quick_end, &__dso_handle);
#else
    __cxa_atexit(at_end, NULL, NULL);
    __cxa_at_quick_exit(at_quick_end, NULL);
#endif
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(at_death);
    signals_begin();
}

#ifndef MONARC_STATIC
__attribute__((constructor(101))) static void construct(void)
{
    life_begin();
}
#endif
