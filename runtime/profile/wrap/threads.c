/* pthread_create: threads are sampled from their first instruction, with known stack bounds; under
 * a monitor they are left alone until they count. clone: a task that shares its creator's TLS must
 * count with locked operations. */
#include "../start.h"
#include "../thread.h"
#include "real.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

struct beginning {
    void *(*function)(void *);
    void *argument;
    size_t stack_bytes;
};

static void *begin_thread(void *argument)
{
    struct beginning b = *(struct beginning *)argument;
    free(argument);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct process *p = process_get();
    if (p && monarc_recording && thread_attach(p))
        thread_set_stack(here - b.stack_bytes, here);
    return b.function(b.argument);
}

/* The default of a thread: the limit of the stack as it was when the program began, whatever it is
 * now. */
static size_t default_stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes;
}

static size_t stack_bytes(const pthread_attr_t *attributes)
{
    size_t bytes = 0;
    if (attributes && pthread_attr_getstacksize(attributes, &bytes) == 0 && bytes)
        return bytes;
    return default_stack_bytes();
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    bool is_sampled = process_if_started() && !config.monitored;
    struct beginning *b = is_sampled ? malloc(sizeof *b) : NULL;
    if (!b)
        return REAL(pthread_create)(id, attributes, function, argument);
    *b = (struct beginning){function, argument, stack_bytes(attributes)};
    int r = REAL(pthread_create)(id, attributes, begin_thread, b);
    if (r != 0)
        free(b);
    return r;
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list list;
    va_start(list, argument);
    void *parent_tid = va_arg(list, void *), *tls = va_arg(list, void *),
         *child_tid = va_arg(list, void *);
    va_end(list);
    if ((flags & CLONE_VM) && !(flags & (CLONE_SETTLS | CLONE_VFORK)))
        thread_share();
    return REAL(clone)(function, stack, flags, argument, parent_tid, tls, child_tid);
}
