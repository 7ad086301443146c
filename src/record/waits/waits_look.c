/* Looking at threads that wait, from outside, and counting waits that go on.
 *
 *     /proc/PID/task/TID/syscall    the call, its arguments, the stack pointer and the pc
 *     process_vm_readv()            the stack from there on
 *
 * Neither stops nor wakes the thread. A look takes some 20 microseconds, so a poll has LOOKING_NS
 * for all of them, the longest waits first, and pauses after one that did not come to the end. Each
 * wait is inspected once: while it lasts, its place cannot change.
 *
 * Waits that go on are counted in pieces, so that they stand in the slices of time in which they
 * were. Counting takes at most one part in PIECE_TO_COST of a CPU. */
#include "record/waits/waits_private.h"

#include "base/file.h"
#include "record/clocks.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_BYTES = 512 };

/* Takes one number; false: there is none. */
static bool look_number(const char **at, int base, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, base);
    bool is_fine = end != *at && !errno;
    *at = end;
    return is_fine;
}

bool waits_look_read(const char *text, struct waits_look *out)
{
    enum { NUMBERS = 8 }; /* six arguments, sp, pc */
    uint64_t number = 0, values[NUMBERS] = {0};
    *out = (struct waits_look){.state = WAITS_RUNNING, .syscall = -1};
    if (!strcmp(text, "running"))
        return true;
    bool is_none = !strncmp(text, "-1 ", 3);
    const char *at = is_none ? text + 2 : text;
    if (!is_none && (!look_number(&at, 10, &number) || number > INT32_MAX || *text == '-'))
        return false;
    int wanted = is_none ? 2 : NUMBERS;
    for (int i = 0; i < wanted; i++)
        if (strncmp(at, " 0x", 3) != 0 || !look_number(&at, 16, &values[i]))
            return false;
    if (*at)
        return false;
    *out = (struct waits_look){.state = WAITS_BLOCKED,
                               .syscall = is_none ? -2 : (int64_t)number,
                               .sp = values[wanted - 2],
                               .pc = values[wanted - 1]};
    for (int i = 0; !is_none && i < WAITS_ARGUMENTS; i++)
        out->arguments[i] = values[i];
    return true;
}

/* The line of a thread's file; else false with errno. */
static bool look_file(pid_t pid, pid_t tid, const char *name, char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    return file_first_line(path, text, TEXT_BYTES);
}

void waits_look_at(pid_t pid, pid_t tid, struct waits_look *out)
{
    char text[TEXT_BYTES];
    *out = (struct waits_look){.state = WAITS_GONE, .syscall = -1};
    if (!look_file(pid, tid, "syscall", text)) {
        bool is_gone = errno == ENOENT || errno == ESRCH;
        out->state = is_gone ? WAITS_GONE : WAITS_REFUSED;
        return;
    }
    if (!waits_look_read(text, out))
        out->state = WAITS_REFUSED;
    if (out->state != WAITS_BLOCKED || !look_file(pid, tid, "stat", text))
        return;
    /* Stopped threads show the call that the stop interrupted. The state follows the name, which
     * may hold any character: `TID (NAME) STATE ...`. */
    const char *end = strrchr(text, ')');
    if (end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't'))
        out->state = WAITS_STOPPED;
}

/* --- woken, but no CPU ----------------------------------------------------------------------- */

/* A switch does not show when a thread was woken: its wait lasts until it has a CPU. The kernel
 * keeps the sum of what a thread was ready for without one (/proc/PID/task/TID/schedstat, the
 * second number, in ns). The part that was not reported as ready is the delay of wake-ups. While a
 * thread waits, the sum is exact. Of others, it is compared with later reports, so that it is too
 * small rather than too large; the next reading makes up for it.
 *
 * A reading takes some 12 us: one for each look, and one for each thread that no look comes to, at
 * the pace of pieces. The last one is at a thread's end, if it is still to be found. */

/* What the account has beyond the reports is new. */
static void times_tell_delay(struct waits *w, struct waiting_thread *t, uint64_t account_ns,
                             uint64_t until_ns)
{
    uint64_t told = t->first_delay_ns + t->preempted_ns + t->delayed_ns;
    if (account_ns <= told)
        return;
    uint64_t from = t->delayed_until_ns ? t->delayed_until_ns : w->start_ns;
    collector_delayed(w->collector, t->pid, t->tid, from, until_ns, account_ns - told);
    t->delayed_ns += account_ns - told;
    t->delayed_until_ns = until_ns;
    w->sums.delayed_ns += account_ns - told;
}

/* A thread that was found has an account of its life before. */
void waits_read_delay(struct waits *w, struct waiting_thread *t, bool is_waiting)
{
    struct proc_thread files;
    struct proc_times times;
    if (t->observed || w->options.no_looking)
        return;
    proc_thread_init(&files);
    if (proc_thread_times(&files, t->pid, t->tid, false, &times)) {
        t->delay_ns = times.ready_ns;
        t->delay_read_ns = clock_now();
    }
    if (!t->has_delay && t->state == WAITS_THREAD_FOUND)
        t->first_delay_ns = t->delay_ns;
    t->has_delay = true;
    if (is_waiting && t->delay_read_ns) {
        times_tell_delay(w, t, t->delay_ns,
                         t->counted_ns > t->left_ns ? t->counted_ns : t->left_ns);
        t->delay_read_ns = 0;
    }
}

/* The same for all threads that no look has come to lately. */
static void waits_read_delays(struct waits *w, uint64_t told_ns)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        struct waiting_thread *t = &w->threads.at[i];
        if (t->state == WAITS_THREAD_NONE || t->state == WAITS_THREAD_UNKNOWN || t->observed ||
            t->has_look) /* it waits, and all was reported then */
            continue;
        if (t->delay_read_ns && t->delay_read_ns > told_ns)
            continue;
        if (t->delay_read_ns)
            times_tell_delay(w, t, t->delay_ns, told_ns);
        waits_read_delay(w, t, false);
    }
}

/* --- polling --------------------------------------------------------------------------------- */
enum {
    LOOKING_NS = 1000 * 1000,         /* in one poll */
    LEAST_PAUSE_NS = 2 * 1000 * 1000, /* between polls */
    LONG_PAUSE_NS = 10 * 1000 * 1000, /* after one that could not look at all */
    PIECES = 1000,                    /* of a run, at most */
    PIECE_TO_COST = 50,               /* a fiftieth of a CPU */
    LATE_NS = 10 * 1000 * 1000,       /* reports may be late */
};

struct collector_place waits_look_place(struct waits *w, pid_t pid, pid_t tid,
                                        const struct waits_look *look,
                                        const struct unwind_registers *registers, uint64_t at_ns)
{
    unsigned sp = w->options.arch ? w->options.arch->sp : 0;
    struct unwind_registers few = {.pc = look->pc, .known = UINT32_C(1) << sp};
    few.at[sp] = look->sp;
    size_t len = proc_read_stack(tid, look->sp, w->stack, WAITS_STACK_BYTES);
    struct collector_sample s = {.pid = pid,
                                 .tid = tid,
                                 .at_ns = at_ns,
                                 .event = w->options.event,
                                 .where = look->state == WAITS_STOPPED ? COLLECTOR_STOPPED
                                                                       : COLLECTOR_WAITING,
                                 .syscall = look->syscall,
                                 .registers = registers ? registers : &few,
                                 .stack = (struct bytes){w->stack, len},
                                 .is_live = true,
                                 .is_still = true};
    return collector_place(w->collector, &s);
}

void waits_look(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_look look, after;
    waits_look_at(t->pid, t->tid, &look);
    w->sums.looks++;
    if (look.state != WAITS_BLOCKED && look.state != WAITS_STOPPED)
        return;
    /* The registers as far as they are known: all, if the source saw the thread leave here. */
    unsigned sp = w->options.arch ? w->options.arch->sp : 0;
    bool has_all = t->has_place && t->registers->pc == look.pc && t->registers->at[sp] == look.sp;
    t->look =
        waits_look_place(w, t->pid, t->tid, &look, has_all ? t->registers : NULL, t->counted_ns);
    /* Switches of these are not reported: the stack may be of the thread's next activity. */
    if (t->observed) {
        waits_look_at(t->pid, t->tid, &after);
        if (after.state != look.state || after.pc != look.pc || after.sp != look.sp) {
            w->sums.stale_looks++;
            return;
        }
    }
    t->has_look = true;
    if (w->options.labels)
        t->labels = labels_waiting(w->options.labels, t->pid, t->tid, clock_now());
    t->looked_ns = clock_now();
    if (!t->observed)
        waits_read_delay(w, t, t->state == WAITS_THREAD_WAITS);
    if (t->state == WAITS_THREAD_FOUND)
        t->state = WAITS_THREAD_WAITS;
    waits_chain_begin(w, slot, &look, t->look.node);
    if (look.state == WAITS_BLOCKED)
        waits_io_waiting(w, slot, &look);
}

/* Looks at the threads that have been off long enough, the longest first; returns in how long the
 * next one will have been. */
static uint64_t waits_look_at_all(struct waits *w, uint64_t now_ns)
{
    uint64_t now = now_ns;
    if (now_ns < w->pause_ns)
        return w->pause_ns - now_ns;
    while (w->fresh.first != NO_THREAD) {
        uint64_t due = w->threads.at[w->fresh.first].left_ns + w->options.look_after_ns;
        if (due > now)
            return due - now;
        if (now > now_ns + LOOKING_NS) {
            w->pause_ns = now + LONG_PAUSE_NS;
            return LONG_PAUSE_NS;
        }
        int32_t slot = w->fresh.first;
        waits_queue(w, slot, &w->known);
        waits_look(w, slot);
        now = clock_now();
        if (w->threads.at[slot].state == WAITS_THREAD_FOUND) { /* it runs: look again */
            w->threads.at[slot].left_ns = now;
            waits_queue(w, slot, &w->fresh);
        }
    }
    return UINT64_MAX;
}

/* How long the pieces are: so that a run has at most PIECES, and counting them stays cheap. */
static uint64_t waits_piece(const struct waits *w, uint64_t now_ns)
{
    uint64_t piece = now_ns > w->start_ns ? (now_ns - w->start_ns) / PIECES : 0;
    piece = piece > w->piece_cost_ns * PIECE_TO_COST ? piece : w->piece_cost_ns * PIECE_TO_COST;
    return piece > WAITS_PIECE_NS ? piece : WAITS_PIECE_NS;
}

uint64_t waits_poll(struct waits *w, uint64_t now_ns, uint64_t told_ns)
{
    uint64_t due = waits_look_at_all(w, now_ns), piece = waits_piece(w, now_ns);
    uint64_t again = waits_chain_again(w, now_ns), accounts = waits_io_poll(w, now_ns);
    again = again < accounts ? again : accounts;
    due = due < piece ? due : piece;
    due = due < again ? due : again;
    due = due > LEAST_PAUSE_NS ? due : LEAST_PAUSE_NS;
    if (told_ns < w->piece_ns + waits_piece(w, told_ns))
        return due;
    /* So that a wait counts in the slices of time in which it was, and a recording that is cut off
     * has it. Waits that were not inspected yet have no place so far. */
    uint64_t begin = clock_now(), until_ns = told_ns - LATE_NS;
    w->piece_ns = told_ns;
    const struct waiting_queue *const queues[] = {&w->known, &w->held};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        for (int32_t next, slot = queues[i]->first; slot != NO_THREAD; slot = next) {
            struct waiting_thread *t = &w->threads.at[slot];
            next = t->next;
            if (!waits_drop_if_gone(w, slot, told_ns) && (!t->has_look || t->looked_ns <= until_ns))
                waits_count(w, t, until_ns);
        }
    waits_read_delays(w, told_ns);
    w->piece_cost_ns = clock_now() - begin;
    return due;
}
