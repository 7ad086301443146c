/* Looking at threads that wait, within a share of the monitor's time, and counting waits that go
 * on.
 */
#include "record/waits/waits_private.h"

#include "record/waits/waits_look.h"
#include "record/clocks.h"

#include <time.h>

enum {
    LOOKING_NS = 1000 * 1000,         /* in one poll */
    LEAST_PAUSE_NS = 2 * 1000 * 1000, /* between polls */
    LONG_PAUSE_NS = 10 * 1000 * 1000, /* after one that could not look at all */
    PIECES = 1000,                    /* of a run, at most */
    PIECE_TO_COST = 50,               /* a fiftieth of a CPU */
    LATE_NS = 10 * 1000 * 1000,       /* what is told may be told late */
};

static unsigned waits_stack_register(enum unwind_machine machine)
{
    return machine == UNWIND_X86_64 ? 7 : machine == UNWIND_AARCH64 ? 31 : 2;
}

/* The registers as far as they are known: all, if the source saw the thread leave at this place. */
static struct unwind_registers waits_registers(const struct waits *w,
                                               const struct waiting_thread *t,
                                               const struct waits_look *look)
{
    unsigned sp = waits_stack_register(w->options.machine);
    struct unwind_registers r = {.pc = look->pc, .known = UINT32_C(1) << sp};
    r.at[sp] = look->sp;
    if (t->has_place && t->registers->pc == look->pc && t->registers->at[sp] == look->sp)
        r = *t->registers;
    return r;
}

void waits_look(struct waits *w, int32_t slot)
{
    struct waiting_thread *t = &w->threads.at[slot];
    struct waits_look look;
    waits_look_at(t->pid, t->tid, &look);
    w->sums.looks++;
    w->sums.refused_looks += look.state == WAITS_REFUSED;
    if (look.state != WAITS_BLOCKED && look.state != WAITS_STOPPED)
        return;
    struct unwind_registers registers = waits_registers(w, t, &look);
    struct collector_sample s = waits_sample(w, t, 0, t->counted_ns);
    s.where = look.state == WAITS_STOPPED ? COLLECTOR_STOPPED : COLLECTOR_WAITING;
    s.syscall = look.syscall;
    s.registers = &registers;
    s.stack =
        (struct bytes){w->stack, waits_look_stack(t->pid, look.sp, w->stack, WAITS_STACK_BYTES)};
    s.is_live = s.is_still = true;
    t->look = collector_place(w->collector, &s);
    t->has_look = true;
    t->looked_ns = clock_now();
    if (t->state == WAITS_THREAD_FOUND)
        t->state = WAITS_THREAD_WAITS;
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

static uint64_t waits_piece(const struct waits *w, uint64_t now_ns)
{
    uint64_t piece = now_ns > w->start_ns ? (now_ns - w->start_ns) / PIECES : 0;
    piece = piece > w->piece_cost_ns * PIECE_TO_COST ? piece : w->piece_cost_ns * PIECE_TO_COST;
    return piece > WAITS_PIECE_NS ? piece : WAITS_PIECE_NS;
}

/* So that a wait counts in the slices of time in which it was, and a recording that is cut off has
 * it. Waits that were not looked at yet have no place so far. */
static void waits_count_pieces(struct waits *w, uint64_t told_ns)
{
    if (told_ns < w->piece_ns + waits_piece(w, told_ns))
        return;
    uint64_t begin = clock_now(), all_told_ns = told_ns;
    w->piece_ns = told_ns;
    told_ns -= LATE_NS;
    for (int32_t next, slot = w->known.first; slot != NO_THREAD; slot = next) {
        struct waiting_thread *t = &w->threads.at[slot];
        next = t->next;
        if (!waits_drop_if_gone(w, slot, all_told_ns) && (!t->has_look || t->looked_ns <= told_ns))
            waits_count(w, t, told_ns);
    }
    w->piece_cost_ns = clock_now() - begin;
}

uint64_t waits_poll(struct waits *w, uint64_t now_ns, uint64_t told_ns)
{
    uint64_t due = waits_look_at_all(w, now_ns), piece = waits_piece(w, now_ns);
    waits_count_pieces(w, told_ns);
    due = due < piece ? due : piece;
    return due > LEAST_PAUSE_NS ? due : LEAST_PAUSE_NS;
}
