/* A lock. See mutex.h, futex(2). */
#include "mutex.h"
#include "../common/sys.h"

#include <linux/futex.h>
#include <stdbool.h>

/* 0 free, 1 taken, 2 taken with a thread waiting. */
void mutex_lock(struct mutex *m)
{
    int free = 0;
    if (__atomic_compare_exchange_n(&m->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&m->state, 2, __ATOMIC_ACQUIRE) != 0)
        SYS4(SYS_futex, &m->state, FUTEX_WAIT_PRIVATE, 2, 0);
}

void mutex_unlock(struct mutex *m)
{
    if (__atomic_exchange_n(&m->state, 0, __ATOMIC_RELEASE) == 2)
        SYS3(SYS_futex, &m->state, FUTEX_WAKE_PRIVATE, 1);
}
