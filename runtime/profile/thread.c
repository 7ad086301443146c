/* Attaches threads to tables and takes the tables back. See thread.h.
 *
 * The record is handed over in the last round of thread-specific destructors, because other
 * destructors may be profiled code. What a thread calls after that goes to the process's one shared
 * table. */
#include "thread.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "live.h"
#include "table.h"

#include <limits.h>
#include <wire/sidecar.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#define FIRST_SLOTS_MAIN 4096
#define FIRST_SLOTS      512
#define NOTES_PER_EXTENT 64
#define MOST_NOTES       65536
#define MOST_ROOTS       1024 /* the stacks of later threads are kept together */
#ifdef __SANITIZE_THREAD__    /* in the last round its own state of the thread is gone */
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 2)
#else
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#endif
#define INLINE_KEYS 32 /* of these, glibc's pthread_setspecific allocates nothing */

__thread struct thread_slot monarc_slot;

static pthread_key_t key;
static bool have_key;
static bool many; /* survives a fork */
static const struct thread_watcher *watch;

void thread_watch(const struct thread_watcher *watcher)
{
    __atomic_store_n(&watch, watcher, __ATOMIC_RELEASE);
}

_Static_assert(sizeof(struct thread_note) == 64, "drawn in sidecar.md");

static struct thread_note *note_new(struct process *p)
{
    if (p->thread_count >= MOST_NOTES) {
        lost_add(LOST_THREAD_NOTES, 1);
        return NULL;
    }
    if (p->thread_notes_left == 0) {
        /* A note fills two cells. */
        p->thread_notes = live_extent(p, MONARC_EXTENT_THREADS, NOTES_PER_EXTENT * 2, 0);
        if (!p->thread_notes)
            return NULL;
        p->thread_notes_left = NOTES_PER_EXTENT;
        struct note_page *page = process_control(p, sizeof *page);
        if (page) {
            *page = (struct note_page){p->thread_notes, NOTES_PER_EXTENT, p->note_pages};
            p->note_pages = page;
        }
    }
    p->thread_count++;
    p->thread_notes_left--;
    return p->thread_notes++;
}

/* A monitor knows the threads from outside. */
static void note_start(struct process *p, struct thread *t)
{
    t->note = config.monitored ? NULL : note_new(p);
    t->root = MONARC_ROOT_NODE;
    if (!t->note)
        return;
    if (p->thread_count <= MOST_ROOTS)
        t->root = p->next_id++;
    t->note->root = t->root;
    t->note->tid = (uint32_t)t->tid;
    t->note->start_ns = sys_clock(CLOCK_MONOTONIC);
    SYS3(SYS_prctl, PR_GET_NAME, t->note->name, 0);
    __atomic_store_n(&t->note->state, 1, __ATOMIC_RELEASE);
}

static void note_update(const struct process *p, struct thread *t)
{
    if (!t->note)
        return;
    t->note->end_ns = sys_clock(CLOCK_MONOTONIC);
    t->note->cpu_ns =
        sys_clock(sys_thread_clock(t->tid)) - (t->tid == p->pid ? p->start_thread_cpu : 0);
    t->note->samples = t->samples;
}

/* "comm" of another thread; the program may have renamed it since it started. */
static void read_name(struct thread *t)
{
    char path[64], name[16] = {0};
    struct text where = text_in(path, sizeof path);
    text_add(&where, "/proc/self/task/");
    text_add_number(&where, (uint64_t)t->tid);
    text_add(&where, "/comm");
    long fd = sys_open(path, 0, 0);
    if (sys_failed(fd))
        return;
    long n = sys_read((int)fd, name, sizeof name - 1);
    sys_close((int)fd);
    if (n > 1) {
        name[n - 1] = 0;
        bytes_copy(t->note->name, name, sizeof name);
    }
}

void thread_refresh_notes(struct process *p)
{
    for (struct thread *t = p->threads; t; t = t->next)
        if (t->tid && t->note) {
            note_update(p, t);
            read_name(t);
        }
}

static struct thread *make_record(struct process *p)
{
    struct thread *t = process_control(p, sizeof *t);
    if (!t)
        return NULL;
    t->perf_fd = t->timer_id = -1;
    bool main_thread = p->threads == NULL;
    if (!main_thread)
        __atomic_store_n(&many, true, __ATOMIC_RELAXED); /* signal handlers read it unlocked */
    t->arcs.newest =
        segment_new(p, MONARC_EXTENT_ARCS, main_thread ? FIRST_SLOTS_MAIN : FIRST_SLOTS);
    t->next = p->threads;
    __atomic_store_n(&p->threads, t, __ATOMIC_RELEASE);
    return t;
}

static struct thread *take_record(struct process *p)
{
    struct thread *t = p->free_threads;
    if (!t)
        return make_record(p);
    p->free_threads = t->next_free;
    return t;
}

void thread_reserve(struct process *p)
{
    uint64_t mask;
    process_lock(p, &mask);
    for (int i = 0; i < SPARE_THREADS; i++)
        if (!p->spare_threads[i])
            p->spare_threads[i] = take_record(p);
    process_unlock(p, &mask);
}

static struct thread *take_spare(struct process *p)
{
    struct thread *t = NULL;
    for (int i = 0; i < SPARE_THREADS && !t; i++)
        t = __atomic_exchange_n(&p->spare_threads[i], NULL, __ATOMIC_ACQ_REL);
    return t;
}

/* One that finds no place keeps its counts and is not used again. */
static void give_back(struct process *p, struct thread *t)
{
    struct thread *none = NULL;
    for (int i = 0; i < SPARE_THREADS; i++, none = NULL)
        if (__atomic_compare_exchange_n(&p->spare_threads[i], &none, t, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return;
}

static void publish(struct process *p, struct thread *t)
{
    monarc_slot.pid = p->pid;
    monarc_slot.thread = t;
    monarc_slot.blocks = t->blocks.newest;
    monarc_slot.arcs = t->arcs.newest;
}

static void attach(struct process *p)
{
    uint64_t mask;
    process_lock(p, &mask);
    if (!monarc_slot.thread) {
        struct thread *t = take_record(p);
        if (t) {
            t->tid = sys_tid();
            t->samples = 0;
            note_start(p, t);
            publish(p, t);
        }
    }
    process_unlock(p, &mask);
}

/* The same without a system call, and so without the lock: a signal handler may come between. */
static void attach_sealed(struct process *p)
{
    struct thread *t = take_spare(p);
    if (t && monarc_slot.thread)
        give_back(p, t);
    else if (t)
        publish(p, t);
}

struct thread *thread_attach(struct process *p)
{
    if (monarc_slot.thread && monarc_slot.pid != p->pid)
        thread_forget(); /* the parent's, in a forked child */
    if (monarc_slot.shared)
        return NULL;
    if (monarc_slot.thread || monarc_slot.leaving > LAST_ROUND)
        return monarc_slot.thread;
    if (monarc_sealed)
        attach_sealed(p);
    else
        attach(p);
    if (have_key && key < INLINE_KEYS)
        pthread_setspecific(key, &monarc_slot);
    if (watch && monarc_slot.thread)
        watch->begun(p, monarc_slot.thread);
    return monarc_slot.thread;
}

static void hand_over_sealed(struct process *p)
{
    struct thread *t = monarc_slot.thread;
    monarc_slot.arcs = monarc_slot.blocks = NULL;
    monarc_slot.entered = NULL;
    monarc_slot.thread = NULL;
    give_back(p, t);
}

static void hand_over(struct process *p)
{
    struct thread *t = monarc_slot.thread;
    uint64_t mask;
    if (watch)
        watch->ends(p, t);
    process_lock(p, &mask);
    monarc_slot.arcs = monarc_slot.blocks = NULL;
    monarc_slot.entered = NULL;
    monarc_slot.thread = NULL;
    note_update(p, t);
    if (t->note) {
        SYS3(SYS_prctl, PR_GET_NAME, t->note->name, 0);
        __atomic_store_n(&t->note->state, 2, __ATOMIC_RELEASE);
    }
    t->tid = 0;
    t->stack_low = t->stack_high = 0;
    t->next_free = p->free_threads;
    p->free_threads = t;
    process_unlock(p, &mask);
}

/* Runs in each round of destructors; its value is set again until the last. */
static void leave(void *slot)
{
    struct process *p = process_if_started();
    if (monarc_slot.leaving++ < LAST_ROUND) {
        pthread_setspecific(key, slot);
        return;
    }
    if (p && monarc_slot.thread && monarc_sealed)
        hand_over_sealed(p);
    else if (p && monarc_slot.thread)
        hand_over(p);
}

void thread_key_create(void)
{
    have_key = pthread_key_create(&key, leave) == 0;
    if (have_key && monarc_slot.thread)
        pthread_setspecific(key, &monarc_slot);
}

void thread_set_stack(uintptr_t low, uintptr_t high)
{
    if (monarc_slot.thread) {
        monarc_slot.thread->stack_low = low;
        monarc_slot.thread->stack_high = high;
    }
}

bool thread_were_many(void)
{
    return __atomic_load_n(&many, __ATOMIC_RELAXED);
}

void thread_share(void)
{
    monarc_slot.shared = 1;
    monarc_slot.arcs = monarc_slot.blocks = NULL;
    monarc_slot.entered = NULL;
}

void thread_forget(void)
{
    monarc_slot.arcs = monarc_slot.blocks = NULL;
    monarc_slot.entered = NULL;
    monarc_slot.thread = NULL;
}
