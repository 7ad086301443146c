/* The state of traced threads: the list, their processes' mappings, and their waits.
 *
 * The list is dense, for scanning, with a map beside it, for finding. The map cannot forget: an
 * entry is right if the thread at its index has its tid, and the map is built anew when most of its
 * entries are of threads that are gone. A thread that is removed gives its place to the last one,
 * so that pointers into the list do not outlive a change.
 *
 * Mappings are not understood here, that is the collector's part: a hash says whether those that
 * can be executed have changed. Reading them takes at most one part in SHARE_OF_TIME of the time.
 *
 * Waits are what the threads' clocks show between stops; nothing is stopped for them. The clocks
 * are read as often as a twentieth of the monitor's CPU allows: each millisecond at the most, and
 * less often where all threads run, or go on to wait as they did. */
#include "record/ptrace/ptrace_private.h"

#include "base/bytes.h"
#include "base/map.h"
#include "record/clocks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

enum {
    MAP_SLACK = 1024,
    SHARE_OF_TIME = 150,
    MOST_LINE = 4400, /* of /proc/PID/maps: paths end before */
    LEAST_PAUSE_NS = 4 * 1000 * 1000,
    SHORT_PAUSE_NS = 1000 * 1000, /* where a thread waits */
    PAUSE_TO_WORK = 20,
};

/* --- the list -------------------------------------------------------------------------------- */

void ptrace_threads_deinit(struct ptrace_threads *t)
{
    while (t->at.len)
        ptrace_threads_remove(t, &t->at.at[t->at.len - 1]);
    vec_free(&t->at);
    map_deinit(&t->by_tid);
}

struct ptrace_thread *ptrace_threads_find(const struct ptrace_threads *t, pid_t tid)
{
    const uint32_t *index = map_find(&t->by_tid, tid, 0);
    if (!index || *index >= t->at.len || t->at.at[*index].tid != tid)
        return NULL;
    return &t->at.at[*index];
}

struct ptrace_thread *ptrace_threads_of(const struct ptrace_threads *t, pid_t pid)
{
    struct ptrace_thread *found = ptrace_threads_find(t, pid);
    for (size_t i = 0; i < t->at.len && !found; i++)
        if (t->at.at[i].process->pid == pid)
            found = &t->at.at[i];
    return found;
}

static void threads_index(struct ptrace_threads *t, size_t index)
{
    map_set(&t->by_tid, t->at.at[index].tid, 0, index);
}

struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *t, pid_t tid,
                                         struct ptrace_process *process)
{
    if (t->by_tid.len >= 4 * t->at.len + MAP_SLACK) {
        map_deinit(&t->by_tid);
        t->by_tid = (struct map){0};
        for (size_t i = 0; i < t->at.len; i++)
            threads_index(t, i);
    }
    struct ptrace_thread fresh = {.tid = tid, .process = process, .cpu = -1, .is_first = true};
    if (!process) {
        fresh.process = calloc(1, sizeof *fresh.process);
        if (!fresh.process)
            memory_exhausted(sizeof *fresh.process);
        fresh.process->pid = tid;
    }
    fresh.process->threads++;
    proc_thread_init(&fresh.files);
    vec_push(&t->at, fresh);
    threads_index(t, t->at.len - 1);
    return &t->at.at[t->at.len - 1];
}

void ptrace_threads_remove(struct ptrace_threads *t, struct ptrace_thread *thread)
{
    size_t index = (size_t)(thread - t->at.at);
    proc_thread_deinit(&thread->files);
    free(thread->rest);
    if (--thread->process->threads == 0)
        free(thread->process);
    *thread = t->at.at[--t->at.len];
    if (index < t->at.len)
        threads_index(t, index);
}

struct ptrace_thread *ptrace_threads_rename(struct ptrace_threads *t, pid_t from, pid_t to)
{
    struct ptrace_thread *thread = ptrace_threads_find(t, from);
    if (!thread || from == to)
        return thread;
    struct ptrace_thread *old = ptrace_threads_find(t, to);
    if (old) {
        ptrace_threads_remove(t, old);
        thread = ptrace_threads_find(t, from);
    }
    thread->tid = to;
    proc_thread_deinit(&thread->files); /* of the old number */
    threads_index(t, (size_t)(thread - t->at.at));
    return thread;
}

void ptrace_threads_remove_others(struct ptrace_threads *t, pid_t pid, pid_t kept)
{
    for (size_t i = t->at.len; i-- > 0;)
        if (t->at.at[i].process->pid == pid && t->at.at[i].tid != kept)
            ptrace_threads_remove(t, &t->at.at[i]);
}

/* --- mappings -------------------------------------------------------------------------------- */

/* A hash of the lines "START-END rwxp ..." with an x. A buffer holds some hundred lines; what is
 * left of the last one is moved to its start. 0: nothing could be read. */
static uint64_t maps_print(pid_t pid)
{
    char text[16384];
    size_t len = 0;
    uint64_t print = 0;
    snprintf(text, sizeof text, "/proc/%d/maps", (int)proc_living(pid));
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (ssize_t got; (got = read(fd, text + len, sizeof text - len)) > 0;) {
        const char *at = text, *end = text + len + got, *newline;
        for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
            const char *rights = memchr(at, ' ', (size_t)(newline - at));
            if (rights && newline - rights > 3 && rights[3] == 'x')
                print = print * UINT64_C(0x9e3779b97f4a7c15) +
                        hash_bytes(at, (size_t)(newline - at)) + 1;
        }
        len = (size_t)(end - at);
        if (len > MOST_LINE)
            break;
        memmove(text, at, len);
    }
    close(fd);
    return print;
}

bool ptrace_maps_changed(struct ptrace_maps *m, pid_t pid, uint64_t now_ns)
{
    if (now_ns < m->next_ns)
        return false;
    uint64_t start = clock_now(), print = maps_print(pid);
    m->next_ns = now_ns + (clock_now() - start) * SHARE_OF_TIME;
    if (!print || print == m->print)
        return false;
    m->print = print;
    return true;
}

/* --- waits ----------------------------------------------------------------------------------- */

/* How often it has left a CPU to wait is another file, which changes only when it has come back. A
 * stop is no wait of its own, and counts as one: a thread that was asked to stop is not read before
 * it has. */
static void observe(struct ptrace_source *s, struct ptrace_thread *t, bool is_ending)
{
    struct proc_times times;
    pid_t pid = t->process->pid;
    bool keep = t->files.schedstat >= 0;
    if (!s->waits || !t->process->has_executed || (t->is_asked && !is_ending))
        return;
    bool is_running = proc_thread_runs(&t->files, pid, t->tid, keep); /* before its clock is read */
    if (!proc_thread_times(&t->files, pid, t->tid, keep, &times))
        return;
    if (times.runs != t->observed_runs || !t->observed_waits || is_ending) {
        uint64_t waits = proc_thread_waits(pid, t->tid);
        t->observed_waits = waits > t->stops ? waits - t->stops : 0;
        s->has_waiting |= !is_running;
    }
    t->observed_runs = times.runs;
    const struct waits_clock clock = {.cpu_ns = times.cpu_ns,
                                      .ready_ns = times.ready_ns,
                                      .runs = times.runs,
                                      .is_running = is_running,
                                      .is_ending = is_ending,
                                      .waits = t->observed_waits,
                                      .held_ns = t->held_ns};
    waits_observe(s->waits, pid, t->tid, clock_now(), &clock);
}

void ptrace_observe(struct ptrace_source *s, struct ptrace_thread *t)
{
    observe(s, t, false);
}

void ptrace_observe_all(struct ptrace_source *s)
{
    if (!s->waits || clock_now() < s->next_observed_ns)
        return;
    uint64_t begin = clock_own_cpu();
    s->has_waiting = false;
    for (size_t i = 0; i < s->threads.at.len; i++)
        if (!s->threads.at.at[i].is_ending)
            ptrace_observe(s, &s->threads.at.at[i]);
    uint64_t pause = (clock_own_cpu() - begin) * PAUSE_TO_WORK;
    uint64_t least = s->has_waiting ? SHORT_PAUSE_NS : LEAST_PAUSE_NS;
    s->next_observed_ns = clock_now() + (pause > least ? pause : least);
}

void ptrace_observe_end(struct ptrace_source *s, struct ptrace_thread *t)
{
    if (!s->waits)
        return;
    observe(s, t, true);
    waits_exit(s->waits, t->process->pid, t->tid, clock_now());
}
