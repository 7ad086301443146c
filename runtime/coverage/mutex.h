/* A lock between threads that needs no initialisation. Held with all signals blocked. */
#ifndef MONARC_COVER_MUTEX_H
#define MONARC_COVER_MUTEX_H

struct mutex {
    int state;
};
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#endif
