/* A lock by name, for file systems that have none of fcntl's (ENOLCK: some that lie on a network).
 *
 * PATH.lock is a symbolic link whose text says who holds it: machine, process, when that began.
 * Making one is atomic everywhere, and needs no second step in which a killed process could leave
 * it without an owner. One whose owner is gone is removed by whoever holds PATH.lock2, and that by
 * whoever holds PATH.lock3. Whether a process on another machine lives is unknown here: its lock is
 * taken for a dead one's if it stays the same for a minute. */
#ifndef MONARC_COVER_LOCK_H
#define MONARC_COVER_LOCK_H

#include <stdbool.h>

/* Waits for the lock of `path`. 0, or -errno: -EEXIST if something else has its name, or what
 * symlink(2) says where there are no symbolic links. One lock a process at a time. */
long name_lock(const char *path);
/* Whether name_lock's is still ours: no process took it for a dead one's. */
bool name_lock_holds(void);
void name_unlock(void);
/* Whether a process holds the lock of `path`, or left it. */
bool name_is_locked(const char *path);

#endif
