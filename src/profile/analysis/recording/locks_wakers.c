/* Who ended waits, for what no thread holds: condition variables, semaphores, pipes, eventfd.
 *
 * The kernel reports who wakes a thread (record/perf/perf_wakes.c), but not what the wait was for;
 * chains know that, but not who ended it. They meet in the stack that waited:
 *
 *     chains from  cond_wait < consumer         row of the condition variable
 *     waits in     cond_wait < consumer         woken by thread 7, 40 times, 0.9 s
 *
 * A stack that waited for several things gives none of them wakers. Its short waits, which have a
 * row of their own, are included: so wakers may have more time than the row, and their shares of
 * each other are what counts. Rows whose holder was seen have no need of them.
 *
 * A waker has no stack. For people it is the function that its thread began with, and threads that
 * began with the same one are one waker. */
#include "profile/analysis/recording/locks_private.h"

#include <stdlib.h>
#include <string.h>

enum { SEVERAL_ROWS = UINT32_MAX - 1 };

/* By thread, the function in which it was most of its time, outermost; of threads that woke others
 * alone, since it takes a walk up their stacks. */
static uint32_t *wakers_functions(struct locks_making *m, struct arena *scratch)
{
    const struct recording *r = m->in->recording;
    uint32_t *function = ARENA_NEW(scratch, uint32_t, r->threads.len + 1);
    uint64_t *most = ARENA_NEW(scratch, uint64_t, r->threads.len + 1);
    bool *is_waker = ARENA_NEW(scratch, bool, r->threads.len + 1);
    struct map of = {0}; /* thread and function -> index in `ns` */
    VEC(uint64_t) ns = {0};
    for (size_t i = 0; i < r->threads.len; i++)
        function[i] = NO_FUNCTION;
    for (size_t i = 0; i < r->waits.len; i++)
        if (r->waits.at[i].woken >= RECORDING_WAKER_SOFT)
            is_waker[r->waits.at[i].waker] = true;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint32_t stack = is_waker[s->thread] ? locks_stack(m, s->node) : RECORDING_NONE;
        uint32_t frame = stack == RECORDING_NONE ? 0 : m->stacks.at[stack].frame;
        bool is_new;
        if (!frame)
            continue;
        /* Outside of it are the library's functions alone, which locks_stack() has left out. */
        while (m->frames.at[frame].caller)
            frame = m->frames.at[frame].caller;
        uint32_t began = m->frames.at[frame].function;
        uint32_t at = map_index(&of, s->thread, began, ns.len, &is_new);
        if (is_new)
            vec_push(&ns, 0);
        ns.at[at] += s->weight;
        if (ns.at[at] < most[s->thread])
            continue;
        most[s->thread] = ns.at[at];
        function[s->thread] = began;
    }
    map_deinit(&of);
    vec_free(&ns);
    return function;
}

void locks_add_wakers(struct locks_making *m)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    struct map waker_of = {0}, seen = {0};
    bool has_wakers = false;
    for (size_t i = 0; i < r->waits.len; i++)
        has_wakers |= r->waits.at[i].woken != RECORDING_WAKER_UNKNOWN;
    if (!has_wakers)
        return;
    /* Stacks first: they are not known by number before. */
    for (size_t i = 0; i < r->waits.len; i++)
        if (r->waits.at[i].node != RECORDING_NONE)
            locks_stack(m, r->waits.at[i].node);
    uint32_t *function = wakers_functions(m, &scratch);
    uint32_t *row_of = ARENA_NEW(&scratch, uint32_t, m->stacks.len + 1);
    for (size_t i = 0; i < m->stacks.len; i++)
        row_of[i] = NO_ROW;
    for (size_t i = 0; i < m->waiters.len; i++) {
        const struct lock_waiting *w = &m->waiters.at[i];
        uint32_t *of = w->waiter.stack < m->stacks.len ? &row_of[w->waiter.stack] : NULL;
        if (of) /* the root has no stack */
            *of = *of == NO_ROW || *of == w->row ? w->row : SEVERAL_ROWS;
    }
    for (size_t i = 0; i < r->waits.len; i++) {
        const struct recording_wait *w = &r->waits.at[i];
        uint32_t stack = w->node == RECORDING_NONE ? RECORDING_NONE : locks_stack(m, w->node);
        uint32_t row = stack == RECORDING_NONE ? NO_ROW : row_of[stack];
        bool is_thread = w->woken >= RECORDING_WAKER_SOFT, is_new;
        if (row >= SEVERAL_ROWS || !locks_takes(m->in, w->thread, w->node) ||
            !locks_is_signalled(&m->rows.at[row]))
            continue;
        uint32_t began = is_thread ? function[w->waker] : NO_FUNCTION;
        /* Of what no function is known, each thread is one. */
        uint64_t who = !is_thread             ? 0
                       : began == NO_FUNCTION ? map_two(1, w->waker)
                                              : map_two(2, began);
        uint32_t waker = map_index(&waker_of, map_two(row, w->woken), who, m->wakers.len, &is_new);
        const struct recording_thread *t = is_thread ? &r->threads.at[w->waker] : NULL;
        if (is_new)
            vec_push(&m->wakers, ((struct lock_waking){{.woken = w->woken,
                                                        .function = began,
                                                        .tid = t ? t->tid : 0,
                                                        .thread = t ? t->name : NULL},
                                                       row}));
        struct lock_waker *of = &m->wakers.at[waker].waker;
        map_at(&seen, waker, w->waker, 0, &is_new);
        of->threads += is_thread && is_new;
        of->tid = t && of->tid == t->tid ? of->tid : 0;
        of->waits++;
        of->ns += w->length_ns;
    }
    map_deinit(&waker_of);
    map_deinit(&seen);
    arena_deinit(&scratch);
}

/* By row, then time, then the thread's number: those of a row become one stretch. */
static int wakers_by_time(const void *left, const void *right)
{
    const struct lock_waking *l = left, *r = right;
    if (l->row != r->row)
        return l->row < r->row ? -1 : 1;
    if (l->waker.ns != r->waker.ns)
        return l->waker.ns < r->waker.ns ? 1 : -1;
    return (l->waker.tid > r->waker.tid) - (l->waker.tid < r->waker.tid);
}

/* Rows of which nothing is known but that waits ended have no wakers. */
void locks_give_wakers(struct locks_making *m)
{
    struct lock_waker *kept = ARENA_NEW(m->arena, struct lock_waker, m->wakers.len + 1);
    if (m->wakers.len)
        qsort(m->wakers.at, m->wakers.len, sizeof *m->wakers.at, wakers_by_time);
    for (size_t i = 0, next; i < m->wakers.len; i = next) {
        struct lock *row = &m->rows.at[m->wakers.at[i].row].row;
        bool is_known = false;
        for (next = i; next < m->wakers.len && m->wakers.at[next].row == m->wakers.at[i].row;
             next++) {
            kept[next] = m->wakers.at[next].waker;
            is_known |= kept[next].woken != RECORDING_WAKER_UNKNOWN;
        }
        row->wakers = kept + i;
        row->wakers_len = is_known ? next - i : 0;
    }
    vec_free(&m->wakers);
}
