/* Waits that were over before they could be inspected, as most below 2 ms are.
 *
 * Switches show how long a thread was off its CPU, and samples in which call and stack; what it
 * waited for is unknown. What the samples of a stack have beyond the chains that began in it is a
 * row for the function that waits, or, of functions with next to nothing, in one row for all:
 *
 *     samples in  write < save    1.03 s
 *     chains from write < save    0.12 s, in 19 waits    row of the file
 *     short waits in save         0.91 s                 row without holders
 *
 * Chains last until the thread has a CPU again, and samples until it could have one. So this is the
 * least that there was. */
#include "profile/analysis/recording/locks_private.h"

#include <string.h>

/* By their numbers' names, since each kind of machine has others: calls by which threads and
 * processes wait for each other or for a time. All others are those of files and devices. */
static bool short_is_of_threads(const char *call)
{
    static const char *const CALLS[] = {
        "futex",         "futex_waitv",     "futex_wait",      "wait4", "waitid",
        "waitpid",       "nanosleep",       "clock_nanosleep", "pause", "flock",
        "rt_sigsuspend", "rt_sigtimedwait", "sigsuspend",      "semop", "semtimedop"};
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (!strcmp(call, CALLS[i]))
            return true;
    return false;
}

static bool short_is_wanted(const struct locks_making *m, uint32_t stack)
{
    const char *call = stack == RECORDING_NONE ? NULL : m->stacks.at[stack].call;
    return call && *call && short_is_of_threads(call) != m->in->is_io;
}

/* Time waited by stack, and of that what chains have not; both as sums, since neither alone says
 * which wait it was. *left: the same of all waiting, and of being ready, which chains may last for:
 * what of it chains have is taken away. */
static uint64_t *short_times(struct locks_making *m, struct arena *scratch, uint64_t *left)
{
    const struct recording *r = m->in->recording;
    for (size_t i = 0; i < r->samples.len; i++)
        if (recording_is_wait(r, r->samples.at[i].node))
            locks_stack(m, r->samples.at[i].node);
    for (size_t i = 0; i < r->links.len; i++)
        locks_stack(m, r->links.at[i].node);
    uint64_t *ns = ARENA_NEW(scratch, uint64_t, m->stacks.len + 1);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint64_t address = r->nodes.at[s->node].address;
        if (recording_is_wait(r, s->node) && locks_takes(m->in, s->thread, s->node) &&
            address != RECORDING_WAIT_READY && address != RECORDING_WAIT_UNKNOWN)
            ns[locks_stack(m, s->node)] += s->weight;
    }
    /* Links are in the order of the file: the time of a chain stands at its last one. */
    uint32_t *from = ARENA_NEW(scratch, uint32_t, r->links.len + 1);
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *w = &r->links.at[i];
        bool is_first = w->parent == RECORDING_NONE;
        from[i] = !is_first                                ? from[w->parent]
                  : locks_takes(m->in, w->thread, w->node) ? locks_stack(m, w->node)
                                                           : RECORDING_NONE;
        if (from[i] == RECORDING_NONE)
            continue;
        ns[from[i]] -= w->ns < ns[from[i]] ? w->ns : ns[from[i]];
        *left -= w->ns < *left ? w->ns : *left;
    }
    return ns;
}

/* The row of a function, or of all that have too little. */
static uint32_t short_row(struct locks_making *m, uint32_t function)
{
    bool is_new;
    uint32_t row =
        map_index(&m->row_of, map_two(SHORT_WAITS, false), function, m->rows.len, &is_new);
    if (is_new)
        vec_push(&m->rows,
                 ((struct lock_making){.kind = SHORT_WAITS,
                                       .row = {.kind = "short waits", .function = function}}));
    return row;
}

void locks_add_short_waits(struct locks_making *m, const struct locks *out)
{
    const double least_named = 0.01; /* of all that there are */
    struct arena scratch = {0};
    uint64_t left = out->waited_ns + out->ready_ns, *ns = short_times(m, &scratch, &left);
    size_t stacks = m->stacks.len;
    /* A damaged file may have chains that its samples do not know: no more than there is. */
    for (size_t i = 0; i < stacks; i++) {
        ns[i] = ns[i] < left ? ns[i] : left;
        left -= ns[i];
    }
    struct map function_of = {0};
    uint64_t *by_function = ARENA_NEW(&scratch, uint64_t, stacks + 1), all = 0;
    uint32_t *number = ARENA_NEW(&scratch, uint32_t, stacks + 1), functions = 0;
    for (uint32_t i = 0; i < stacks; i++) {
        bool is_new;
        if (!ns[i] || !short_is_wanted(m, i))
            continue;
        number[i] = map_index(&function_of, locks_function(m, i), 0, functions, &is_new);
        functions += is_new;
        by_function[number[i]] += ns[i];
        all += ns[i];
    }
    for (uint32_t i = 0; i < stacks; i++) {
        if (!ns[i] || !short_is_wanted(m, i))
            continue;
        bool is_named = (double)by_function[number[i]] >= least_named * (double)all;
        uint32_t row = short_row(m, is_named ? locks_function(m, i) : NO_FUNCTION);
        uint32_t waiter = locks_waiter(m, row, i);
        m->rows.at[row].row.ns += ns[i];
        m->waiters.at[waiter].waiter.ns += ns[i];
    }
    map_deinit(&function_of);
    arena_deinit(&scratch);
}
