/* A thread that sleeps until there is something to say.
 *
 * It wakes after a second, then four times a second, and writes one line over the one before, in
 * one call, so that other lines do not come between. What it writes are plain characters and
 * carriage returns: no terminal needs to be asked what it can do. The counters are atomic: workers
 * step them without a lock, and a figure that is a moment old is no harm. Before each line it looks
 * whether the terminal still belongs to this process group: in the background it stays silent. */
#include "output/out.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_NS = 1000000000, NEXT_NS = 250000000, MOST_COLUMNS = 120, BILLION = 1000000000 };

struct progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct timespec begun;
    _Atomic(const char *) what;
    atomic_size_t done, pieces;
    bool has_ended; /* under the lock */
    size_t shown;   /* columns that the line takes; the thread's own */
};

/* Whether a person may see standard error: a dumb terminal would show each line for itself. */
static bool progress_has_reader(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
}

/* Asked each time: windows change their size. */
static size_t progress_columns(void)
{
    struct winsize size;
    size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
    return columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

/* In one write, so that other lines do not come between; a line cut short is no harm. */
static void progress_put(struct progress *p, const char *text)
{
    char line[2 * MOST_COLUMNS + 3];
    size_t len = strlen(text), most = progress_columns() - 1;
    len = len > most ? most : len;
    size_t blanks = p->shown > len ? p->shown - len : 0;
    int size = snprintf(line, sizeof line, "\r%.*s%*s%s", (int)len, text, (int)blanks, "",
                        len ? "" : "\r");
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() ||
        write(STDERR_FILENO, line, (size_t)size) != (ssize_t)size)
        return;
    p->shown = len;
}

static void progress_say(struct progress *p)
{
    char text[MOST_COLUMNS + 1], amount[64] = "";
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    size_t pieces = atomic_load(&p->pieces), done = atomic_load(&p->done);
    done = done > pieces ? pieces : done;
    if (pieces)
        snprintf(amount, sizeof amount, ": %zu of %zu, %.0f %%", done, pieces,
                 100.0 * (double)done / (double)pieces);
    snprintf(text, sizeof text, "monarc: %s%s (%ld s)", atomic_load(&p->what), amount,
             (long)(now.tv_sec - p->begun.tv_sec));
    progress_put(p, text);
}

/* t + ns, with less than a billion nanoseconds. */
static struct timespec progress_later(struct timespec t, long ns)
{
    t.tv_nsec += ns % BILLION;
    t.tv_sec += ns / BILLION + t.tv_nsec / BILLION;
    t.tv_nsec %= BILLION;
    return t;
}

/* The thread: sleeps until the time is up or the end is signalled. */
static void *progress_run(void *argument)
{
    struct progress *p = argument;
    struct timespec until = progress_later(p->begun, FIRST_NS);
    pthread_mutex_lock(&p->lock);
    while (!p->has_ended) {
        if (!pthread_cond_timedwait(&p->changed, &p->lock, &until))
            continue;
        progress_say(p);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until = progress_later(until, NEXT_NS);
    }
    pthread_mutex_unlock(&p->lock);
    if (p->shown)
        progress_put(p, "");
    return NULL;
}

static void progress_make(struct progress *p)
{
    pthread_condattr_t clock;
    atomic_init(&p->what, "working");
    clock_gettime(CLOCK_MONOTONIC, &p->begun);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
}

static void progress_free(struct progress *p)
{
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

struct progress *progress_start(void)
{
    struct progress *p = progress_has_reader() ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    progress_make(p);
    if (!pthread_create(&p->thread, NULL, progress_run, p))
        return p;
    progress_free(p);
    return NULL;
}

/* Pieces are 0 while the name changes, so that no line has the old name with the new number. */
void progress_phase(struct progress *p, const char *what, size_t pieces)
{
    if (!p)
        return;
    atomic_store(&p->pieces, 0);
    atomic_store(&p->done, 0);
    atomic_store(&p->what, what);
    atomic_store(&p->pieces, pieces);
}

void progress_step(struct progress *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->done, 1, memory_order_relaxed);
}

void progress_end(struct progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->has_ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    progress_free(p);
}
