/* Making the graph of a job's points.
 *
 * What is exact: starts and ends of threads and processes, who made them, begins and ends of waits
 * of 0.1 ms and more (with `--off-cpu` and perf events). What is found out here is why a wait
 * ended:
 *
 *   wait4, waitid       the child whose end is the last one within the wait
 *   futex               the thread of the process that ended last before the wait did, by at most
 *                       JOIN_NS: it was joined. Else a thread of the process that ran when the wait
 *                       ended, or had just stopped: it released a lock, or signalled
 *   poll, read,         the end of a child within NEAR_NS, which closes pipes or sends SIGCHLD.
 *   sigwait, ...        Else a thread that ran then: it wrote, or sent a signal. One of the own
 *                       process is a guess, as a process outside of the job may have done it
 *   sleep, files,       no thread: that takes its time
 *   ready
 *   sleep, many short   no known thread: it polls for what another one does
 *   ones of one place
 *   not known           any of these, as a guess
 *
 * Where the kernel reported who woke the thread, that is taken, without a search; an interrupt that
 * woke it has ended a time, or a device. Where one thread alone can have been it, that is as good
 * as known; of several, the one that stopped running just then, else the one that had run longest.
 * Which of the two it is, is kept; what is as good as reported is found after that, and then what
 * was polled for (schedule_polls.c). A wait without a known cause is open: it is never taken for
 * the thread's own work.
 *
 * Without recorded waits, or where too many are lost, stretches of slices without samples are taken
 * for waits of unknown kind, which may end with a child or a thread, and nothing else.
 *
 * Cost: n log n for n points; each wait looks at the threads that run at its end. */
#include "profile/analysis/recording/schedule.h"

#include "base/err.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/analysis/recording/parallelism.h"
#include "profile/analysis/recording/schedule_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A thread that sleeps so often at one place, not longer each time, looks for something. */
enum { POLL_SLEEPS = 3 };
#define POLL_NS (220 * MS) /* what a limit of 200 ms may last */
/* A join needs the woken thread to get a CPU; of pipes and signals the other side has to be read.
 */
#define JOIN_NS (5 * MS)
#define NEAR_NS (10 * MS)
/* How often ptrace reads the clocks of threads. */
#define ROUGH_NS (2 * MS)

/* --- lanes ----------------------------------------------------------------------------------- */

/* Linux gives the main thread the number of its process (gettid(2)). */
static bool lane_is_main(const struct making *m, uint32_t lane)
{
    return m->r->threads.at[m->lanes.at[lane].thread].tid == lane_process(m, lane)->pid;
}

/* A main thread goes on in the next program of its process, if that begins where it ends. */
static void make_lanes(struct making *m)
{
    struct map main_of = {0}; /* pid -> its newest lane */
    const struct recording *r = m->r;
    m->lane_of = ARENA_NEW(&m->scratch, uint32_t, r->threads.len + 1);
    for (uint32_t i = 0; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        const struct recording_process *p = &r->processes.at[t->process];
        uint64_t end = t->end_ns ? t->end_ns : p->end_ns ? p->end_ns : r->length_ns;
        end = end > t->start_ns ? end : t->start_ns;
        uint32_t *known = t->tid == p->pid ? map_find(&main_of, p->pid, 0) : NULL;
        struct made_lane *old = known ? &m->lanes.at[*known] : NULL;
        if (old && old->process != t->process && t->start_ns <= old->end_ns + MS) {
            vec_push(&m->marks,
                     (struct made_mark){
                         .lane = *known, .ref = i, .at_ns = t->start_ns, .rank = MARK_EXEC});
            old->end_ns = end > old->end_ns ? end : old->end_ns;
            old->is_alive = !t->end_ns && !p->end_ns;
            old->last_thread = i;
            old->process = t->process;
            m->lane_of[i] = *known;
            continue;
        }
        m->lane_of[i] = (uint32_t)m->lanes.len;
        if (t->tid == p->pid)
            map_set(&main_of, p->pid, 0, m->lane_of[i]);
        vec_push(&m->lanes, (struct made_lane){.thread = i,
                                               .last_thread = i,
                                               .process = t->process,
                                               .start_ns = t->start_ns,
                                               .end_ns = end,
                                               .is_alive = !t->end_ns && !p->end_ns});
    }
    map_deinit(&main_of);
}

static uint32_t lane_parent_pid(const struct making *m, uint32_t lane)
{
    return lane_is_main(m, lane) ? lane_process(m, lane)->parent_pid : 0;
}

static int lanes_by_parent(const void *left, const void *right, void *context)
{
    const struct making *m = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    uint32_t pl = lane_parent_pid(m, l), pr = lane_parent_pid(m, r);
    if (pl != pr)
        return pl < pr ? -1 : 1;
    uint64_t el = m->lanes.at[l].end_ns, er = m->lanes.at[r].end_ns;
    return el < er ? -1 : el > er;
}

static int lanes_by_process(const void *left, const void *right, void *context)
{
    const struct making *m = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    uint32_t pl = lane_process(m, l)->pid, pr = lane_process(m, r)->pid;
    if (pl != pr)
        return pl < pr ? -1 : 1;
    uint64_t el = m->lanes.at[l].end_ns, er = m->lanes.at[r].end_ns;
    return el < er ? -1 : el > er;
}

static void sort_lanes(struct making *m)
{
    m->by_parent = ARENA_NEW(&m->scratch, uint32_t, m->lanes.len + 1);
    m->by_process = ARENA_NEW(&m->scratch, uint32_t, m->lanes.len + 1);
    for (uint32_t i = 0; i < m->lanes.len; i++)
        m->by_parent[i] = m->by_process[i] = i;
    qsort_r(m->by_parent, m->lanes.len, sizeof *m->by_parent, lanes_by_parent, m);
    qsort_r(m->by_process, m->lanes.len, sizeof *m->by_process, lanes_by_process, m);
}

/* Who made a lane: as reported, or the main thread of its process. `main_of` has the newest lane of
 * each pid that has begun before. */
static uint32_t maker_of(const struct making *m, uint32_t lane, const struct map *main_of)
{
    const struct recording *r = m->r;
    uint32_t thread = m->lanes.at[lane].thread;
    size_t at = PARTITION_POINT(r->creators.len, k, r->creators.at[k].thread < thread);
    if (at < r->creators.len && r->creators.at[at].thread == thread)
        return m->lane_of[r->creators.at[at].creator];
    const struct recording_process *p = &r->processes.at[r->threads.at[thread].process];
    const uint32_t *found = map_find(main_of, lane_is_main(m, lane) ? p->parent_pid : p->pid, 0);
    uint64_t start = m->lanes.at[lane].start_ns;
    bool is_alive =
        found && m->lanes.at[*found].start_ns <= start && m->lanes.at[*found].end_ns >= start;
    return is_alive && *found != lane ? *found : SCHEDULE_NONE;
}

static int forks_in_order(const void *left, const void *right)
{
    const struct made_fork *l = left, *r = right;
    if (l->maker != r->maker)
        return l->maker < r->maker ? -1 : 1;
    return l->at_ns < r->at_ns ? -1 : l->at_ns > r->at_ns;
}

static void make_forks(struct making *m)
{
    m->forks = ARENA_NEW(&m->scratch, struct made_fork, m->lanes.len + 1);
    struct map main_of = {0};
    for (uint32_t i = 0; i < m->lanes.len; i++) {
        uint32_t maker = maker_of(m, i, &main_of);
        if (lane_is_main(m, i))
            map_set(&main_of, lane_process(m, i)->pid, 0, i);
        if (maker != SCHEDULE_NONE)
            m->forks[m->forks_len++] = (struct made_fork){maker, i, m->lanes.at[i].start_ns};
    }
    map_deinit(&main_of);
    qsort(m->forks, m->forks_len, sizeof *m->forks, forks_in_order);
}

/* --- waits ----------------------------------------------------------------------------------- */

/* How a wait ended of which no cause is known. */
static enum schedule_ending ending_of(const struct made_wait *w)
{
    if (w->cause_lane != SCHEDULE_NONE)
        return SCHEDULE_BY_CAUSE;
    if (w->kind == WAIT_STOPPED)
        return SCHEDULE_BY_STOPPED;
    if (w->is_armed)
        return SCHEDULE_BY_UNKNOWN;
    if (wait_is_timed(w) || w->is_poll)
        return w->is_poll && !w->is_retry ? SCHEDULE_BY_POLL : SCHEDULE_BY_TIMER;
    bool is_device = w->kind == WAIT_DEVICE || w->woken == RECORDING_WAKER_INTERRUPT;
    return is_device ? SCHEDULE_BY_DEVICE : SCHEDULE_BY_UNKNOWN;
}

/* Adds one, cut to its lane's life; what overlaps the one before, or is nothing, is left out. */
static void make_wait(struct making *m, const struct recording_wait *wait)
{
    uint32_t lane = m->lane_of[wait->thread];
    uint64_t from_ns = wait->from_ns, to_ns = wait->from_ns + wait->length_ns;
    const struct made_lane *l = &m->lanes.at[lane];
    const struct made_wait *last = m->waits.len > m->known ? &m->waits.at[m->waits.len - 1] : NULL;
    from_ns = from_ns > l->start_ns ? from_ns : l->start_ns;
    to_ns = to_ns < l->end_ns ? to_ns : l->end_ns;
    if (last && last->lane == lane && from_ns < last->to_ns)
        from_ns = last->to_ns;
    if (to_ns > from_ns)
        vec_push(&m->waits,
                 (struct made_wait){
                     .lane = lane,
                     .node = wait->node,
                     .from_ns = from_ns,
                     .to_ns = to_ns,
                     .kind = schedule_wait_kind(m->r, wait->node),
                     .woken = wait->woken,
                     .waker = wait->waker,
                     .woke_ns = wait->from_ns + wait->woke_ns,
                     .rough_ns = m->s->recording->method == RECORDING_METHOD_PTRACE ? ROUGH_NS : 0,
                     .is_armed = wait->woken == RECORDING_WAKER_INTERRUPT &&
                                 wait->node != RECORDING_NONE && m->is_timer[wait->node] &&
                                 m->lanes.len > 1,
                     .cause_lane = SCHEDULE_NONE});
}

/* A stretch that is no work of the thread's, without what is known of it: pieces of `least_ns` and
 * more. Who spins does not need the CPU that it waits for. */
static void make_hole(struct making *m, const struct made_wait *hole, uint64_t least_ns)
{
    uint64_t from = hole->from_ns;
    size_t at =
        PARTITION_POINT(m->known, k,
                        m->waits.at[k].lane < hole->lane ||
                            (m->waits.at[k].lane == hole->lane && m->waits.at[k].to_ns <= from));
    while (from < hole->to_ns) {
        while (hole->is_poll && at < m->known && m->waits.at[at].lane == hole->lane &&
               m->waits.at[at].kind == WAIT_NO_CPU && m->waits.at[at].from_ns >= from &&
               m->waits.at[at].to_ns <= hole->to_ns)
            m->waits.at[at++].is_left_out = true;
        bool is_cut = at < m->known && m->waits.at[at].lane == hole->lane &&
                      m->waits.at[at].from_ns < hole->to_ns;
        uint64_t to = is_cut ? m->waits.at[at].from_ns : hole->to_ns;
        uint64_t next = is_cut ? m->waits.at[at++].to_ns : hole->to_ns;
        struct made_wait w = *hole;
        w.from_ns = from;
        w.to_ns = to;
        if (to > from && to - from >= least_ns)
            vec_push(&m->waits, w);
        from = next;
    }
}

/* While the program has recording switched off, what its threads do is unknown: marks say when.
 * Stretches beyond MOST_STOPPED, of threads and stops by the thousand, count as work. */
static void make_stops(struct making *m)
{
    enum { STOPPED = 3, MOST_STOPPED = 1 << 20 };
    const struct recording *r = m->r;
    uint64_t *resumed_ns = ARENA_NEW(&m->scratch, uint64_t, r->processes.len + 1);
    uint32_t *first = ARENA_NEW(&m->scratch, uint32_t, r->processes.len + 1); /* thread, plus one */
    uint32_t *next = ARENA_NEW(&m->scratch, uint32_t, r->threads.len + 1);
    for (size_t i = 0; i < r->processes.len; i++)
        resumed_ns[i] = r->processes.at[i].end_ns;
    for (uint32_t i = 0; i < r->threads.len; i++) {
        next[i] = first[r->threads.at[i].process];
        first[r->threads.at[i].process] = i + 1;
    }
    for (size_t i = r->marks.len; i-- > 0;) {
        const struct recording_mark *mark = &r->marks.at[i];
        uint64_t to_ns = resumed_ns[mark->process];
        if (mark->kind >= STOPPED)
            resumed_ns[mark->process] = mark->at_ns;
        for (uint32_t k = first[mark->process]; k && mark->kind == STOPPED; k = next[k - 1]) {
            const struct made_lane *l = &m->lanes.at[m->lane_of[k - 1]];
            struct made_wait stop = {.lane = m->lane_of[k - 1],
                                     .node = RECORDING_NONE,
                                     .kind = WAIT_STOPPED,
                                     .cause_lane = SCHEDULE_NONE};
            stop.from_ns = mark->at_ns > l->start_ns ? mark->at_ns : l->start_ns;
            stop.to_ns = to_ns < l->end_ns ? to_ns : l->end_ns;
            if (m->waits.len - m->known < MOST_STOPPED)
                make_hole(m, &stop, 0);
        }
    }
}

/* A stretch without CPU time. It ended with the slice of a sample, by `late_ns` at the latest. */
static void make_gap_piece(struct making *m, const struct recording_wait *gap, uint64_t late_ns)
{
    size_t len = m->waits.len;
    make_wait(m, gap);
    if (m->waits.len == len)
        return;
    struct made_wait made = m->waits.at[--m->waits.len];
    made.late_ns = late_ns;
    make_hole(m, &made, 0);
}

/* The same, which is none where the thread made others: it ran then. */
static void make_gap(struct making *m, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                     uint64_t late_ns)
{
    struct recording_wait gap = {.thread = thread, .node = RECORDING_NONE};
    uint32_t lane = m->lane_of[thread];
    size_t at = PARTITION_POINT(m->forks_len, k,
                                m->forks[k].maker < lane ||
                                    (m->forks[k].maker == lane && m->forks[k].at_ns <= from_ns));
    for (; at < m->forks_len && m->forks[at].maker == lane && m->forks[at].at_ns < to_ns; at++) {
        gap.from_ns = from_ns;
        gap.length_ns = m->forks[at].at_ns - from_ns;
        make_gap_piece(m, &gap, 0);
        from_ns = m->forks[at].at_ns;
    }
    gap.from_ns = from_ns;
    gap.length_ns = to_ns - from_ns;
    make_gap_piece(m, &gap, late_ns);
}

/* Nodes at which threads wait for a timerfd, as looks have seen. */
static void find_timers(struct making *m)
{
    static const char TIMER[] = "anon_inode:[timerfd]";
    const struct recording *r = m->r;
    m->is_timer = ARENA_NEW(&m->scratch, bool, r->nodes.len + 1);
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *l = &r->links.at[i];
        if (l->parent == RECORDING_NONE && l->resource != RECORDING_NONE) {
            const char *name = r->resources.at[l->resource].name;
            m->is_timer[l->node] |= name && !strncmp(name, TIMER, sizeof TIMER - 1);
        }
    }
}

/* Where waits were recorded: stretches in which a thread spun until others were ready, and those of
 * which nothing is known, as their records were lost. */
static void make_holes(struct making *m)
{
    const struct recording *r = m->r;
    const struct schedule *s = m->s;
    uint64_t least = 2 * r->slice_ns > 5 * MS ? 2 * r->slice_ns : 5 * MS;
    enum wait_kind *kind = ARENA_NEW(&m->scratch, enum wait_kind, r->threads.len + 1);
    for (size_t i = 0; i < r->threads.len; i++)
        kind[i] = WAIT_ANY;
    for (size_t i = 0; i < r->samples.len; i++) {
        enum wait_kind spins = schedule_spins_for(s, r->samples.at[i].node);
        kind[r->samples.at[i].thread] = spins != WAIT_OTHER ? spins : kind[r->samples.at[i].thread];
    }
    for (size_t i = 0, row = 0; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        uint32_t lane = m->lane_of[i];
        uint64_t last = m->lanes.at[lane].last_thread == i ? m->lanes.at[lane].end_ns
                                                           : r->processes.at[t->process].end_ns;
        struct made_wait hole = {.lane = lane,
                                 .node = RECORDING_NONE,
                                 .from_ns = t->start_ns,
                                 .rough_ns = 2 * r->slice_ns,
                                 .kind = WAIT_ANY,
                                 .cause_lane = SCHEDULE_NONE};
        for (; row < s->rows_len && s->rows[row].thread < i; row++)
            ;
        for (; row < s->rows_len && s->rows[row].thread == i; row++) {
            const struct schedule_row *at = &s->rows[row];
            bool is_spin = (at->spun_ns > 0 || hole.is_poll) && !(at->cpu_ns > 0);
            bool is_lost = s->has_ran && at->ran_ns < (double)r->slice_ns / 10 && !(at->cpu_ns > 0);
            if (is_spin || is_lost) {
                hole.is_poll |= is_spin;
                continue;
            }
            /* What precedes the job's first moment on a CPU is the recorder's. */
            hole.to_ns = at->slice * r->slice_ns;
            hole.kind = hole.is_poll ? kind[i] : WAIT_ANY;
            bool is_first = !i && hole.from_ns == t->start_ns;
            if (hole.to_ns > hole.from_ns + least && (hole.is_poll || (s->has_ran && !is_first)))
                make_hole(m, &hole, hole.rough_ns);
            hole.from_ns = hole.to_ns + r->slice_ns;
            hole.is_poll = false;
        }
        hole.to_ns = last;
        hole.kind = hole.is_poll ? kind[i] : WAIT_ANY;
        if (hole.to_ns > hole.from_ns + least && (hole.is_poll || s->has_ran))
            make_hole(m, &hole, hole.rough_ns);
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->waits.len; i++)
        if (!m->waits.at[i].is_left_out)
            m->waits.at[kept++] = m->waits.at[i];
    m->waits.len = kept;
}

/* Stretches of a thread's life without CPU time, of some slices at least, and of more than lies
 * between two samples of a thread that runs: each stands for a whole period, which is drawn. What
 * a sample stands for beyond its slice was used before it: ptrace's have the whole CPU time since
 * the last one. It may have been used before the gap, which then went on to the sample's slice. */
static void make_waits_of_gaps(struct making *m)
{
    enum { PERIODS = 4 };
    const struct recording *r = m->r;
    uint64_t least = 2 * r->slice_ns > 5 * MS ? 2 * r->slice_ns : 5 * MS;
    uint64_t period = r->events.at[0].period;
    if (!period && r->rate)
        period = 1000 * MS / r->rate;
    if (period < 1000 * MS && least < PERIODS * period)
        least = PERIODS * period;
    const struct schedule *s = m->s;
    for (size_t i = 0, end; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        size_t row = PARTITION_POINT(s->rows_len, k, s->rows[k].thread < i);
        uint64_t from = t->start_ns;
        uint64_t last = m->lanes.at[m->lane_of[i]].last_thread == i
                            ? m->lanes.at[m->lane_of[i]].end_ns
                            : r->processes.at[t->process].end_ns;
        for (end = row; end < s->rows_len && s->rows[end].thread == i; end++) {
            uint64_t at = s->rows[end].slice * r->slice_ns, to = at;
            if (s->rows[end].cpu_ns > (double)r->slice_ns)
                to -= (uint64_t)fmin(s->rows[end].cpu_ns - (double)r->slice_ns, (double)at);
            if (to > from + least)
                make_gap(m, (uint32_t)i, from, to, at + r->slice_ns - to);
            from = at + r->slice_ns;
        }
        if (last > from + least)
            make_gap(m, (uint32_t)i, from, last, 0);
    }
}

/* An order for qsort_r() on numbers of waits. */
static int waits_by_place(const void *left, const void *right, void *context)
{
    const struct making *m = context;
    const struct made_wait *l = &m->waits.at[*(const uint32_t *)left];
    const struct made_wait *r = &m->waits.at[*(const uint32_t *)right];
    if (l->lane != r->lane)
        return l->lane < r->lane ? -1 : 1;
    return l->node < r->node ? -1 : l->node > r->node;
}

/* Which sleeps are polls. With one thread there is no other to look for. */
static void make_polls(struct making *m)
{
    uint32_t *sleeps = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    size_t len = 0;
    for (uint32_t i = 0; i < m->waits.len && m->lanes.len > 1; i++)
        if (wait_is_timed(&m->waits.at[i]) &&
            m->waits.at[i].to_ns - m->waits.at[i].from_ns <= POLL_NS)
            sleeps[len++] = i;
    qsort_r(sleeps, len, sizeof *sleeps, waits_by_place, m);
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i; end < len && !waits_by_place(&sleeps[i], &sleeps[end], m);)
            end++;
        for (size_t k = i; k < end && end - i >= POLL_SLEEPS; k++)
            m->waits.at[sleeps[k]].is_poll = true;
    }
}

static int waits_by_lane(const void *left, const void *right)
{
    const struct made_wait *l = left, *r = right;
    if (l->lane != r->lane)
        return l->lane < r->lane ? -1 : 1;
    return l->from_ns < r->from_ns ? -1 : l->from_ns > r->from_ns;
}

static void sort_waits(struct making *m)
{
    if (m->waits.len)
        qsort(m->waits.at, m->waits.len, sizeof *m->waits.at, waits_by_lane);
    m->known = m->waits.len;
}

/* ---- Who ended waits of which nobody reported the end.
 *
 * A thread that wakes another mostly waits itself soon after: its stop and the other's start are
 * microseconds apart. How often that is so by chance is known from how often threads stop. Where it
 * is so too often for that, the waker is inferred, and is as good as reported.
 *
 * A limit of time ends waits that last equally long, some round number of milliseconds.
 *
 * Cost: n log n for n waits. */

/* --- wakers ---------------------------------------------------------------------------------- */

static int stops_in_order(const void *left, const void *right)
{
    const struct made_stop *l = left, *r = right;
    if (l->at_ns != r->at_ns)
        return l->at_ns < r->at_ns ? -1 : 1;
    return l->lane < r->lane ? -1 : l->lane > r->lane;
}

/* How long threads of a lane are ready at a time: for so long the end of a wait may be put off,
 * until another thread stops. */
static double *lanes_late(struct making *m)
{
    double *late = ARENA_NEW(&m->scratch, double, m->lanes.len + 1);
    uint32_t *times = ARENA_NEW(&m->scratch, uint32_t, m->lanes.len + 1);
    for (size_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        late[w->lane] += w->kind == WAIT_NO_CPU ? (double)(w->to_ns - w->from_ns) : 0;
        times[w->lane] += w->kind == WAIT_NO_CPU;
    }
    for (size_t i = 0; i < m->lanes.len; i++)
        late[i] = times[i] ? late[i] / times[i] : 0;
    return late;
}

/* Stops of threads from a moment on. */
static size_t stops_from(const struct making *m, uint64_t at_ns)
{
    return PARTITION_POINT(m->stops.len, k, m->stops.at[k].at_ns < at_ns);
}

/* The only thread that can have ended a wait and stopped near its end: by `before_ns` before that,
 * or by SOON_NS after it, since who wakes another still has to stop. NULL: none, or several; nor
 * are stops of thousands of processes searched. */
static const struct made_stop *stop_at_end(const struct making *m, const struct made_wait *w,
                                           uint64_t before_ns)
{
    bool is_own = w->kind == WAIT_THREAD && wait_has_others(m, w);
    uint64_t length_ns = w->to_ns - w->from_ns, last_ns = w->to_ns + SOON_NS + w->rough_ns;
    before_ns += w->rough_ns;
    size_t k = stops_from(m, before_ns < length_ns ? w->to_ns - before_ns : w->from_ns + 1);
    const struct made_stop *found = NULL;
    for (int looked = 0; k < m->stops.len && m->stops.at[k].at_ns <= last_ns; k++) {
        if (++looked > MOST_LOOKED)
            return NULL;
        const struct made_stop *stop = &m->stops.at[k];
        bool is_inside = lane_process(m, stop->lane)->pid == lane_process(m, w->lane)->pid;
        if (stop->lane == w->lane || (is_own && !is_inside))
            continue;
        if (found && found->lane != stop->lane)
            return NULL;
        found = stop;
    }
    return found;
}

/* Waits of a thread at one place. Some end as another thread stops: `most_ns` before that at most,
 * and `apart` in the worst case. If that were chance, a wait of length l in which others stop n
 * times would end so in n * apart / l of the cases; `expected` is the sum, and the number of cases
 * is nearly Poisson's. Among short waits chance hides everything, so that long ones are judged
 * alone. */
static void infer_place(struct making *m, const uint32_t *waits, size_t len, double late_ns,
                        uint64_t most_ns)
{
    enum { SHORT, LONG, CLASSES, SEVERAL = SCHEDULE_NONE - 1 };
    uint32_t waker = SCHEDULE_NONE; /* of all that are inferred; SEVERAL: there are more */
    static const double LONG_PART = 0.02, CHANCE = 2e-3, FALSE_PART = 0.05, LEAST_NS = 50e3;
    double expected[CLASSES] = {0}, chance[CLASSES] = {1, 1}, apart = LEAST_NS;
    uint32_t found[CLASSES] = {0};
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        const struct made_stop *stop = stop_at_end(m, w, most_ns);
        if (stop)
            apart = fmax(apart, fabs((double)w->to_ns - (double)stop->at_ns) + (double)w->rough_ns);
    }
    apart += late_ns;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < len; i++) {
            struct made_wait *w = &m->waits.at[waits[i]];
            const struct made_stop *stop = stop_at_end(m, w, most_ns);
            size_t stops = stops_from(m, w->to_ns) - stops_from(m, w->began_ns + 1);
            stops += stop && stop->at_ns >= w->to_ns;
            double part = (double)stops * apart / (double)(w->to_ns - w->began_ns);
            bool is_long = part <= LONG_PART;
            if (pass == 0) {
                expected[is_long] += fmin(part, 1);
                found[is_long] += stop != NULL;
                if (stop && chance[is_long] > 0)
                    chance[is_long] /= found[is_long];
            } else if (stop && expected[is_long] <= FALSE_PART * found[is_long] &&
                       chance[is_long] * pow(expected[is_long], found[is_long]) <= CHANCE) {
                w->why = SCHEDULE_INFERRED;
                w->cause_lane = stop->lane;
                w->cause_ns = stop->at_ns < w->to_ns ? stop->at_ns : w->to_ns;
                waker = waker == SCHEDULE_NONE || waker == stop->lane ? stop->lane : SEVERAL;
            }
        }
    /* The same thread is the only one that can have ended others. */
    for (size_t i = 0; i < len; i++) {
        struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why == SCHEDULE_WOKEN && w->cause_lane == waker)
            w->why = SCHEDULE_INFERRED;
    }
}

/* --- limits of time -------------------------------------------------------------------------- */

static int lengths_in_order(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

/* The time limit that a wait of this length may have run into: a number of two digits, which a
 * timer exceeds by less than half a millisecond on a machine that is not busy. 0: none. */
static uint64_t limit_of(uint64_t ns)
{
    uint64_t unit = 1, limit_ns = ns + ns / 100; /* it began a little before */
    while (limit_ns / unit >= 100)
        unit *= 10;
    limit_ns = limit_ns / unit * unit;
    return ns <= limit_ns + MS / 2 ? limit_ns : 0;
}

static uint64_t wait_length(const struct made_wait *w)
{
    return w->to_ns - w->from_ns;
}

static void end_by_limit(struct made_wait *w)
{
    w->woken = RECORDING_WAKER_INTERRUPT;
    w->is_poll = true;
    w->cause_lane = SCHEDULE_NONE;
    w->why = SCHEDULE_UNKNOWN;
}

/* The limit that most of the longest of these lengths, in order, ran into: LEAST of them and more.
 * 0: none. */
static uint64_t limit_among(const uint64_t *lengths, size_t len)
{
    enum { LEAST = 3 };
    uint64_t best_ns = 0;
    size_t most = 0;
    for (size_t i = 0, end = 0; i < len; i++) {
        uint64_t limit_ns = limit_of(lengths[i]);
        while (end < len && lengths[end] <= limit_ns + MS / 2)
            end++;
        if (limit_ns && end >= i + LEAST && end - i > most && 2 * (end - i) >= len - i) {
            most = end - i;
            best_ns = limit_ns;
        }
    }
    return best_ns;
}

/* On a busy machine it may have lasted longer. */
static bool wait_reaches(const struct made_wait *w, uint64_t limit_ns)
{
    return limit_ns && wait_length(w) + wait_length(w) / 100 >= limit_ns;
}

/* Where nothing says what ended waits at a place, a limit of time did that most of them ran into:
 * the thread asks again and again. If another thread did it after equal pieces of work, to count
 * them as polls only widens the bounds. */
static void limit_place(struct making *m, const uint32_t *waits, size_t len)
{
    uint64_t *lengths = ARENA_NEW(&m->scratch, uint64_t, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why != SCHEDULE_INFERRED && (w->kind == WAIT_THREAD || w->kind == WAIT_POLL))
            lengths[n++] = wait_length(w);
    }
    qsort(lengths, n, sizeof *lengths, lengths_in_order);
    uint64_t limit_ns = limit_among(lengths, n);
    for (size_t i = 0; i < len; i++) {
        struct made_wait *w = &m->waits.at[waits[i]];
        if (w->why != SCHEDULE_INFERRED && wait_reaches(w, limit_ns))
            end_by_limit(w);
    }
}

/* Whether a wait follows one that a limit of time ended, at the same place or an unknown one. */
static bool wait_goes_on(const struct made_wait *w, const struct made_wait *before)
{
    return before->lane == w->lane && before->is_poll &&
           before->woken == RECORDING_WAKER_INTERRUPT && w->from_ns <= before->to_ns + MS &&
           (w->node == before->node || w->node == RECORDING_NONE);
}

/* When waits began that a thread takes up again and again. Some may have been too short for their
 * place to be known, which is that of the others. */
static void find_beginnings(struct making *m)
{
    for (size_t i = 0; i < m->waits.len; i++) {
        struct made_wait *w = &m->waits.at[i];
        const struct made_wait *before = i && wait_goes_on(w, w - 1) ? w - 1 : NULL;
        w->began_ns = before ? before->began_ns : w->from_ns;
        if (!before || w->node != RECORDING_NONE)
            continue;
        w->node = before->node;
        w->kind = before->kind;
        if (w->why != SCHEDULE_INFERRED &&
            limit_of(wait_length(w)) == limit_of(wait_length(before)))
            end_by_limit(w);
    }
}

/* The same for calls at a place where some ends by a time limit are reported: timers run on any
 * processor. If these lasted equally long, that is the limit of all; of one or two a round time
 * says as much. False: none is reported. */
static bool limit_reported(const struct making *m, const uint32_t *waits, size_t len,
                           uint64_t *limit_ns)
{
    enum { LEAST = 3, PART = 20 };
    uint64_t least_ns = UINT64_MAX, most_ns = 0, calls = 0;
    for (size_t i = 0; i < len; i++) {
        const struct made_wait *w = &m->waits.at[waits[i]];
        if (w->woken != RECORDING_WAKER_INTERRUPT || w->woke_ns <= w->from_ns)
            continue;
        uint64_t ns = w->woke_ns - w->from_ns;
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
        calls++;
    }
    bool is_one = calls && most_ns - least_ns <= most_ns / PART;
    *limit_ns = !is_one ? 0 : calls >= LEAST ? least_ns : limit_of(least_ns);
    return calls > 0;
}

/* Limits of calls where wakers are reported: what no thread of the job has ended. */
static void schedule_find_limits(struct making *m)
{
    uint32_t *order = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    uint64_t *lengths = ARENA_NEW(&m->scratch, uint64_t, m->waits.len + 1);
    size_t len = 0;
    for (uint32_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        bool may_have_limit = w->kind == WAIT_POLL || w->kind == WAIT_THREAD;
        if (may_have_limit && w->node != RECORDING_NONE && w->woken <= RECORDING_WAKER_INTERRUPT)
            order[len++] = i;
    }
    qsort_r(order, len, sizeof *order, waits_by_place, m);
    for (size_t i = 0, end; i < len; i = end) {
        size_t n = 0;
        for (end = i; end < len && !waits_by_place(&order[i], &order[end], m); end++)
            if (m->waits.at[order[end]].woken == RECORDING_WAKER_UNKNOWN &&
                m->waits.at[order[end]].kind == WAIT_POLL) /* a thread's end wakes unreported */
                lengths[n++] = wait_length(&m->waits.at[order[end]]);
        qsort(lengths, n, sizeof *lengths, lengths_in_order);
        uint64_t limit_ns;
        if (!limit_reported(m, order + i, end - i, &limit_ns))
            limit_ns = limit_among(lengths, n);
        for (size_t k = i; k < end; k++)
            if (wait_reaches(&m->waits.at[order[k]], limit_ns))
                m->waits.at[order[k]].woken = RECORDING_WAKER_INTERRUPT;
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* Wakers that are inferred: those that stopped just then, and on a busy machine those that stopped
 * a little earlier. Limits of time are found among what is left, and make of many short waits a
 * long one. */
static void schedule_infer_wakers(struct making *m)
{
    enum { FIRST, WITH_LIMITS, PASSES };
    uint32_t *order = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    const double *late = lanes_late(m);
    if (m->stops.len)
        qsort(m->stops.at, m->stops.len, sizeof *m->stops.at, stops_in_order);
    for (int pass = FIRST; pass < PASSES; pass++) {
        size_t len = 0;
        find_beginnings(m);
        for (uint32_t i = 0; i < m->waits.len; i++) {
            const struct made_wait *w = &m->waits.at[i];
            bool is_open = w->why == SCHEDULE_UNKNOWN || w->why == SCHEDULE_WOKEN ||
                           w->why == SCHEDULE_GUESSED;
            bool is_told = w->woken != RECORDING_WAKER_UNKNOWN && w->woken != RECORDING_WAKER_SOFT;
            if (is_open && !is_told && w->kind >= WAIT_THREAD && w->kind <= WAIT_ANY)
                order[len++] = i;
        }
        qsort_r(order, len, sizeof *order, waits_by_place, m);
        for (size_t i = 0, end; i < len; i = end) {
            double late_ns = late[m->waits.at[order[i]].lane];
            for (end = i; end < len && !waits_by_place(&order[i], &order[end], m);)
                end++;
            infer_place(m, order + i, end - i, late_ns, JUST_NS);
            infer_place(m, order + i, end - i, late_ns, LATE_NS);
            if (pass == FIRST && !m->s->has_wakers && m->waits.at[order[i]].node != RECORDING_NONE)
                limit_place(m, order + i, end - i);
        }
    }
}

/* --- causes ---------------------------------------------------------------------------------- */

/* The lane of the key that ended last in [from, to], other than `self`. */
static uint32_t last_ended(const struct making *m, const uint32_t *list, bool by_parent,
                           uint32_t pid, uint64_t from_ns, uint64_t to_ns, uint32_t self)
{
    size_t len = m->lanes.len;
    size_t at = PARTITION_POINT(
        len, k,
        (by_parent ? lane_parent_pid(m, list[k]) : lane_process(m, list[k])->pid) < pid ||
            ((by_parent ? lane_parent_pid(m, list[k]) : lane_process(m, list[k])->pid) == pid &&
             m->lanes.at[list[k]].end_ns <= to_ns));
    while (at-- > 0) {
        uint32_t lane = list[at];
        uint32_t key = by_parent ? lane_parent_pid(m, lane) : lane_process(m, lane)->pid;
        if (key != pid || m->lanes.at[lane].end_ns < from_ns)
            return SCHEDULE_NONE;
        if (lane != self)
            return lane;
    }
    return SCHEDULE_NONE;
}

/* Wakes by recorded threads were all reported but those by threads that end (Linux 6.18 drops their
 * events before that), and others are not while another thread runs, or none: so no thread of the
 * job has ended a wait without a waker, and of locks a time has. */
static void make_outside(struct making *m)
{
    for (size_t i = 0; i < m->waits.len; i++) {
        struct made_wait *w = &m->waits.at[i];
        if (w->woken != RECORDING_WAKER_UNKNOWN)
            continue;
        bool may_be_time = w->kind == WAIT_THREAD && wait_has_others(m, w);
        uint32_t pid = lane_process(m, w->lane)->pid;
        if (!may_be_time)
            w->woken = RECORDING_WAKER_OUTSIDE;
        else if (last_ended(m, m->by_process, false, pid, w->from_ns, w->to_ns, w->lane) ==
                 SCHEDULE_NONE)
            w->woken = RECORDING_WAKER_INTERRUPT;
    }
}

/* A signal has ended its process: it did not end when it was ready. */
static bool lane_was_killed(const struct making *m, uint32_t lane)
{
    const struct recording_process *p = lane_process(m, lane);
    return p->has_ended && (p->status & 0x7f); /* wait(2) */
}

/* Ends of children and threads, which are exact. */
static void cause_by_end(struct making *m, struct made_wait *w)
{
    uint32_t pid = lane_process(m, w->lane)->pid;
    /* What ended later than the thread itself did not end its wait. */
    uint64_t own_ns = m->lanes.at[w->lane].end_ns;
    uint64_t last_ns = w->to_ns + w->late_ns < own_ns ? w->to_ns + w->late_ns : own_ns, gap;
    uint32_t child = last_ended(m, m->by_parent, true, pid, w->from_ns, last_ns, w->lane);
    uint32_t thread = last_ended(m, m->by_process, false, pid, w->from_ns, last_ns, w->lane);
    /* Who kills a child goes on without it, unless it waits for that. */
    if (child != SCHEDULE_NONE && w->kind != WAIT_CHILD && lane_was_killed(m, child))
        child = SCHEDULE_NONE;
    uint32_t lane = SCHEDULE_NONE;
    bool is_late = false;
    if (w->kind == WAIT_CHILD || (w->kind == WAIT_ANY && !m->s->has_waits)) {
        lane = child;
    } else if ((w->kind == WAIT_PEER || w->kind == WAIT_POLL || w->kind == WAIT_ANY) &&
               child != SCHEDULE_NONE) {
        gap = w->to_ns - m->lanes.at[child].end_ns;
        lane = gap <= NEAR_NS ? child : SCHEDULE_NONE;
    }
    if (lane == SCHEDULE_NONE && thread != SCHEDULE_NONE &&
        (w->kind == WAIT_THREAD || w->kind == WAIT_ANY)) {
        gap = w->to_ns > m->lanes.at[thread].end_ns ? w->to_ns - m->lanes.at[thread].end_ns : 0;
        is_late = gap > (w->rough_ns ? LATE_NS : JOIN_NS) && m->s->has_waits;
        /* Where wakers are reported, nothing else but a time may have ended the wait. */
        bool may_be_it = !is_late || (m->s->has_wakers && w->kind == WAIT_THREAD &&
                                      w->woken == RECORDING_WAKER_UNKNOWN);
        lane = may_be_it ? thread : SCHEDULE_NONE;
    }
    if (lane == SCHEDULE_NONE)
        return;
    w->cause_lane = lane;
    w->cause_ns = m->lanes.at[lane].end_ns;
    if (w->cause_ns > w->to_ns) /* the slice of its first sample began before */
        w->to_ns = w->cause_ns;
    w->why = is_late && w->cause_lane == thread ? SCHEDULE_GUESSED : SCHEDULE_ENDED;
}

/* Who woke the thread, as reported. What ended for a child or a thread has that for its cause:
 * another may report its end. false: not reported, or not for sure. */
static bool cause_by_waker(struct making *m, struct made_wait *w)
{
    uint32_t lane = w->woken >= RECORDING_WAKER_SOFT ? m->lane_of[w->waker] : SCHEDULE_NONE;
    bool is_told = w->woken == RECORDING_WAKER_THREAD, is_inside = w->woke_ns >= w->from_ns;
    if (lane == SCHEDULE_NONE || lane == w->lane || !is_inside)
        return w->woken == RECORDING_WAKER_INTERRUPT || w->woken == RECORDING_WAKER_OUTSIDE;
    w->cause_lane = lane;
    w->cause_ns = w->woke_ns < w->to_ns ? w->woke_ns : w->to_ns;
    w->why = is_told ? SCHEDULE_RECORDED : SCHEDULE_GUESSED;
    return true;
}

/* Those that run are a dense list, in no order: a lane that stops gives its place to the last
 * one. That keeps both changes in constant time, and the list is what cause_by_runner() looks
 * through. */
static void set_running(struct making *m, uint32_t lane, bool runs, uint64_t at_ns)
{
    struct made_lane *l = &m->lanes.at[lane];
    if (runs && !l->running_at) {
        vec_push(&m->running, lane);
        l->running_at = (uint32_t)m->running.len;
        l->on_ns = at_ns;
    } else if (!runs && l->running_at) {
        uint32_t last = m->running.at[m->running.len - 1];
        m->running.at[l->running_at - 1] = last;
        m->lanes.at[last].running_at = l->running_at;
        m->running.len--;
        l->running_at = 0;
        l->left_ns = at_ns;
    }
}

/* Who was killed by then has woken no thread with its end. */
static bool lane_is_dead(const struct making *m, uint32_t lane, uint64_t at_ns)
{
    return m->lanes.at[lane].end_ns <= at_ns && lane_was_killed(m, lane);
}

/* Who may have woken a thread: of those that have just left, or run. Of very many, as where
 * waits are too short to be kept, not all are inspected. Scores: 2 for who has stopped just now, as
 * whoever unlocks and then sleeps has; else the part of the wait for which the other has run, since
 * who held a lock all that time is likelier than who came a moment ago. One candidate is taken for
 * certain, several are a guess, and so is who stopped last if there are none. Locks are of the
 * waiter's own process, unless it has no other thread: then they are in shared memory. Who writes
 * or sends a signal may be of any: as soon as the own process has one that can have done it, no
 * cause is certain. */
static void cause_by_runner(struct making *m, struct made_wait *w, const uint32_t *left,
                            size_t left_len)
{
    uint32_t pid = lane_process(m, w->lane)->pid, best = SCHEDULE_NONE, candidates = 0;
    bool is_shared = w->kind == WAIT_THREAD && !wait_has_others(m, w);
    bool is_own = w->kind == WAIT_THREAD && !is_shared, is_doubtful = is_shared || w->rough_ns;
    uint64_t just_ns = JUST_NS + w->rough_ns;
    double best_score = -1;
    size_t looked = m->running.len < MOST_LOOKED ? m->running.len : MOST_LOOKED;
    for (size_t i = 0; i < looked + left_len; i++) {
        bool runs = i < looked;
        uint32_t lane = runs ? m->running.at[i] : left[i - looked];
        const struct made_lane *l = &m->lanes.at[lane];
        bool is_inside = lane_process(m, lane)->pid == pid;
        if (lane == w->lane || (is_own && !is_inside) || lane_is_dead(m, lane, w->to_ns) ||
            (!runs &&
             (l->running_at || l->left_ns + just_ns < w->to_ns || l->left_ns <= w->from_ns)))
            continue;
        uint64_t since = l->on_ns > w->from_ns ? l->on_ns : w->from_ns;
        double score = runs ? (double)(w->to_ns - since) / (double)(w->to_ns - w->from_ns) : 2;
        candidates += lane != best;
        is_doubtful |= w->kind != WAIT_THREAD && is_inside;
        if (score > best_score) {
            best = lane;
            best_score = score;
        }
    }
    for (size_t i = 0; i < left_len && !candidates; i++) {
        const struct made_lane *l = &m->lanes.at[left[i]];
        bool is_inside = lane_process(m, left[i])->pid == pid;
        bool is_it = left[i] != w->lane && (!is_own || is_inside) &&
                     !lane_is_dead(m, left[i], w->to_ns) && l->left_ns > w->from_ns &&
                     l->left_ns + LATE_NS >= w->to_ns;
        if (is_it && (best == SCHEDULE_NONE || l->left_ns > m->lanes.at[best].left_ns))
            best = left[i];
    }
    if (best == SCHEDULE_NONE)
        return;
    const struct made_lane *l = &m->lanes.at[best];
    w->cause_lane = best;
    w->cause_ns = l->running_at ? w->to_ns : l->left_ns;
    w->why = candidates == 1 && !is_doubtful ? SCHEDULE_WOKEN : SCHEDULE_GUESSED;
}

/* Beginnings and ends of running, in the order of time: ends of waits first, since who wakes is
 * looked for among those that ran before. A thread that one attaches to may begin with a wait. */
struct made_switch {
    uint64_t at_ns;
    uint32_t ref; /* a wait, or a lane */
    uint8_t what; /* 0 a wait ends, 1 a lane begins, 2 a wait begins, 3 a lane ends */
};

static int switches_in_order(const void *left, const void *right)
{
    const struct made_switch *l = left, *r = right;
    if (l->at_ns != r->at_ns)
        return l->at_ns < r->at_ns ? -1 : 1;
    return l->what < r->what ? -1 : l->what > r->what;
}

/* Whether the thread stopped by itself, to wait. */
static bool wait_is_entered(const struct made_wait *w, const struct recording *r)
{
    bool is_recorded = !w->rough_ns || r->method == RECORDING_METHOD_PTRACE;
    return is_recorded && !w->is_poll && w->kind != WAIT_NO_CPU && w->kind != WAIT_STOPPED;
}

/* A lane stops to wait, or ends (`w` is NULL). Who wakes a thread may lose the CPU to it, and stops
 * when it has one again: that counts from when it lost it. */
static void stop_lane(struct making *m, uint32_t lane, const struct made_wait *w, uint64_t at_ns)
{
    struct made_lane *l = &m->lanes.at[lane];
    uint64_t since_ns = l->ready_ns && at_ns - l->on_ns <= SOON_NS ? l->ready_ns : at_ns;
    l->ready_ns = w && w->kind == WAIT_NO_CPU ? since_ns : 0;
    uint64_t lasts_ns = w ? w->to_ns - at_ns : UINT64_MAX;
    if (w ? wait_is_entered(w, m->s->recording) : !lane_was_killed(m, lane))
        vec_push(&m->stops, (struct made_stop){since_ns, lasts_ns, lane});
}

/* One sweep through time. `left` is a ring of those that stopped last: few others can have
 * stopped within JUST_NS before a wait ends. Each wait is first tried with the exact reasons,
 * ends of children and threads, then with its reported waker, and only then with who ran. */
static void make_causes(struct making *m)
{
    enum { RECENT = 32 };
    size_t len = 0;
    uint32_t left[RECENT], left_at = 0, left_len = 0;
    struct made_switch *all =
        ARENA_NEW(&m->scratch, struct made_switch, 2 * (m->waits.len + m->lanes.len) + 1);
    for (uint32_t i = 0; i < m->lanes.len; i++) {
        all[len++] = (struct made_switch){m->lanes.at[i].start_ns, i, 1};
        all[len++] = (struct made_switch){m->lanes.at[i].end_ns, i, 3};
    }
    for (uint32_t i = 0; i < m->waits.len; i++) {
        all[len++] = (struct made_switch){m->waits.at[i].from_ns, i, 2};
        all[len++] = (struct made_switch){m->waits.at[i].to_ns, i, 0};
    }
    qsort(all, len, sizeof *all, switches_in_order);
    for (size_t i = 0; i < len; i++) {
        bool is_wait = all[i].what % 2 == 0;
        struct made_wait *w = is_wait ? &m->waits.at[all[i].ref] : NULL;
        uint32_t lane = is_wait ? w->lane : all[i].ref;
        /* Where a killed thread waited last, that has ended it, whatever it waited for. */
        if (all[i].what == 0 && w->kind != WAIT_STOPPED && w->woken == RECORDING_WAKER_UNKNOWN &&
            m->s->has_waits && w->to_ns + NEAR_NS >= m->lanes.at[lane].end_ns &&
            lane_was_killed(m, lane))
            w->kind = WAIT_PEER;
        /* A signal ends sleeps, too; but what goes on after the recording has not ended. */
        bool goes_on = all[i].what == 0 && w->woken == RECORDING_WAKER_UNKNOWN &&
                       m->lanes.at[lane].is_alive && w->to_ns + NEAR_NS >= m->lanes.at[lane].end_ns;
        bool is_caused =
            is_wait && !goes_on &&
            (w->woken == RECORDING_WAKER_THREAD || (w->kind >= WAIT_CHILD && w->kind <= WAIT_ANY));
        if (all[i].what == 0 && is_caused && w->kind != WAIT_NO_CPU && w->kind != WAIT_DEVICE) {
            bool is_told = false;
            cause_by_end(m, w);
            bool is_other =
                w->woken == RECORDING_WAKER_THREAD && m->lane_of[w->waker] != w->cause_lane;
            if ((w->cause_lane == SCHEDULE_NONE || is_other) && w->kind != WAIT_CHILD)
                is_told = cause_by_waker(m, w);
            if (w->cause_lane == SCHEDULE_NONE && !is_told && m->s->has_waits &&
                w->kind != WAIT_CHILD)
                cause_by_runner(m, w, left, left_len);
            if (w->why == SCHEDULE_WOKEN && w->kind == WAIT_ANY)
                w->why = SCHEDULE_GUESSED; /* it may have been anything */
        }
        bool runs = all[i].what < 2 && !goes_on;
        set_running(m, lane, runs, all[i].at_ns);
        if (!runs && !goes_on) {
            stop_lane(m, lane, is_wait ? w : NULL, all[i].at_ns);
            left[left_at++ % RECENT] = lane;
            left_len = left_len < RECENT ? left_len + 1 : RECENT;
        }
    }
}

/* --- points ---------------------------------------------------------------------------------- */

/* A mark outside of its lane's life, as clocks that differ have it, is moved to the nearer end. */
static void add_mark(struct making *m, uint32_t lane, uint64_t at_ns, enum mark_rank rank,
                     uint32_t ref, bool is_fork)
{
    const struct made_lane *l = &m->lanes.at[lane];
    at_ns = at_ns < l->start_ns ? l->start_ns : at_ns > l->end_ns ? l->end_ns : at_ns;
    vec_push(
        &m->marks,
        (struct made_mark){
            .lane = lane, .ref = ref, .at_ns = at_ns, .rank = (uint8_t)rank, .is_fork = is_fork});
}

/* Of one moment in a lane the rank decides: a wait ends before the next thing is done, and a source
 * precedes the wait that begins there. So a lane that wakes another and sleeps at once has its
 * points in the order of cause and effect. */
static int marks_in_order(const void *left, const void *right)
{
    const struct made_mark *l = left, *r = right;
    if (l->lane != r->lane)
        return l->lane < r->lane ? -1 : 1;
    if (l->at_ns != r->at_ns)
        return l->at_ns < r->at_ns ? -1 : 1;
    return l->rank < r->rank ? -1 : l->rank > r->rank;
}

/* Equal times by number, so that two runs of monarc on one file agree. */
static int points_by_time(const void *left, const void *right, void *context)
{
    const struct schedule_point *points = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    if (points[l].at_ns != points[r].at_ns)
        return points[l].at_ns < points[r].at_ns ? -1 : 1;
    return l < r ? -1 : l > r;
}

/* The wait that ends there is open from now on. */
static void drop_cause(struct schedule *s, uint32_t point)
{
    struct schedule_point *p = &s->points[point];
    p->cause = SCHEDULE_NONE;
    p->why = SCHEDULE_UNKNOWN;
    if (point > s->lanes[p->lane].first && s->points[point - 1].state == SCHEDULE_WAITS)
        s->points[point - 1].ending = SCHEDULE_BY_UNKNOWN;
}

/* By time, and of one moment what causes before what is caused. Threads that all end in one moment,
 * as where a recording is stopped, may each seem to have waited for another's end: such a circle
 * loses the cause of its first point, which is then as unknown as it is. Of each point it is
 * counted how many it needs of the same moment; those that need none are taken first, and each that
 * is taken frees others. The first that is left has nothing in its lane before it that is left, so
 * it is its cause that is in a circle. Linear, once sorted. */
static void order_points(struct making *m)
{
    struct schedule *s = m->s;
    uint32_t n = s->points_len, len = 0, *sorted = ARENA_NEW(&m->scratch, uint32_t, n + 1);
    uint32_t *caused = ARENA_NEW(&m->scratch, uint32_t, n + 1); /* number + 1 of the first one */
    uint32_t *sibling = ARENA_NEW(&m->scratch, uint32_t, n + 1);
    uint8_t *needs = ARENA_NEW(&m->scratch, uint8_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct schedule_point *p = &s->points[i];
        sorted[i] = i;
        if (i > s->lanes[p->lane].first)
            needs[i] += s->points[i - 1].at_ns == p->at_ns;
        if (p->cause == SCHEDULE_NONE)
            continue;
        needs[i] += s->points[p->cause].at_ns == p->at_ns;
        sibling[i] = caused[p->cause];
        caused[p->cause] = i + 1;
    }
    qsort_r(sorted, n, sizeof *sorted, points_by_time, s->points);
    for (uint32_t first = 0, after; first < n; first = after) {
        uint64_t now = s->points[sorted[first]].at_ns;
        uint32_t taken = len, left = first;
        for (after = first; after < n && s->points[sorted[after]].at_ns == now; after++)
            if (!needs[sorted[after]])
                s->order[len++] = sorted[after];
        while (len < after || taken < len) {
            for (; taken == len; left++)
                if (needs[sorted[left]]) {
                    drop_cause(s, sorted[left]);
                    needs[sorted[left]] = 0;
                    s->order[len++] = sorted[left];
                }
            uint32_t point = s->order[taken++], next = point + 1;
            if (next < n && s->points[next].lane == s->points[point].lane &&
                s->points[next].at_ns == now && !--needs[next])
                s->order[len++] = next;
            for (uint32_t k = caused[point]; k; k = sibling[k - 1])
                if (s->points[k - 1].at_ns == now && s->points[k - 1].cause == point &&
                    !--needs[k - 1])
                    s->order[len++] = k - 1;
        }
    }
}

/* Marks in order become points; a source's point is the cause of what it refers to. */
static void make_points(struct making *m, struct arena *a)
{
    struct schedule *s = m->s;
    for (uint32_t i = 0; i < m->lanes.len; i++) {
        add_mark(m, i, m->lanes.at[i].start_ns, MARK_START, m->lanes.at[i].thread, false);
        add_mark(m, i, m->lanes.at[i].end_ns, MARK_END, 0, false);
    }
    for (size_t i = 0; i < m->forks_len; i++)
        add_mark(m, m->forks[i].maker, m->forks[i].at_ns, MARK_SOURCE, m->forks[i].lane, true);
    for (uint32_t i = 0; i < m->waits.len; i++) {
        const struct made_wait *w = &m->waits.at[i];
        add_mark(m, w->lane, w->from_ns, MARK_WAIT_BEGIN, i, false);
        add_mark(m, w->lane, w->to_ns, MARK_WAIT_END, i, false);
        if (w->cause_lane != SCHEDULE_NONE && w->why != SCHEDULE_ENDED)
            add_mark(m, w->cause_lane, w->cause_ns, MARK_SOURCE, i, false);
    }
    qsort(m->marks.at, m->marks.len, sizeof *m->marks.at, marks_in_order);
    s->points_len = (uint32_t)m->marks.len;
    s->points = ARENA_NEW(a, struct schedule_point, m->marks.len);
    s->lanes_len = (uint32_t)m->lanes.len;
    s->lanes = ARENA_NEW(a, struct schedule_lane, m->lanes.len);
    s->order = ARENA_NEW(a, uint32_t, m->marks.len);
    uint32_t *source = ARENA_NEW(&m->scratch, uint32_t, m->waits.len + 1);
    uint32_t *maker = ARENA_NEW(&m->scratch, uint32_t, m->lanes.len + 1);
    /* All bits set is SCHEDULE_NONE. `source` has the point that ended a wait, `maker` the point
     * at which a lane was made; both are filled in the first pass and read in the second, since
     * a cause may stand in a later lane. */
    memset(source, 0xff, (m->waits.len + 1) * sizeof *source);
    memset(maker, 0xff, (m->lanes.len + 1) * sizeof *maker);
    const struct made_wait *inside = NULL;
    for (uint32_t i = 0; i < m->marks.len; i++) {
        const struct made_mark *mark = &m->marks.at[i];
        struct schedule_point *p = &s->points[i];
        struct schedule_lane *l = &s->lanes[mark->lane];
        bool is_first = !l->len;
        *p = (struct schedule_point){.at_ns = mark->at_ns,
                                     .lane = mark->lane,
                                     .cause = SCHEDULE_NONE,
                                     .node = RECORDING_NONE};
        if (is_first)
            *l = (struct schedule_lane){.first = i,
                                        .pid = lane_process(m, mark->lane)->pid,
                                        .main = m->lanes.at[mark->lane].thread};
        inside = is_first || mark->rank == MARK_WAIT_END ? NULL : inside;
        inside = mark->rank == MARK_WAIT_BEGIN ? &m->waits.at[mark->ref] : inside;
        l->len++;
        p->thread = mark->rank == MARK_EXEC || is_first
                        ? (mark->rank == MARK_EXEC ? mark->ref : m->lanes.at[mark->lane].thread)
                        : s->points[i - 1].thread;
        /* Who is ready has been woken, and only lacks a CPU: no cause is looked for. */
        p->state = !inside                       ? SCHEDULE_RUNS
                   : inside->kind == WAIT_NO_CPU ? SCHEDULE_READY
                                                 : SCHEDULE_WAITS;
        p->node = inside ? inside->node : RECORDING_NONE;
        p->is_retry = inside && inside->is_retry;
        p->is_turn = inside && inside->is_turn;
        p->is_inside = inside && inside->is_poll && inside->kind == WAIT_THREAD;
        p->ending = inside ? (uint8_t)ending_of(inside) : SCHEDULE_BY_CAUSE;
        if (mark->rank == MARK_SOURCE)
            *(mark->is_fork ? &maker[mark->ref] : &source[mark->ref]) = i;
    }
    for (uint32_t i = 0; i < m->marks.len; i++) {
        const struct made_mark *mark = &m->marks.at[i];
        struct schedule_point *p = &s->points[i];
        const struct made_wait *w = mark->rank == MARK_WAIT_END ? &m->waits.at[mark->ref] : NULL;
        if (mark->rank == MARK_START) {
            p->cause = maker[mark->lane];
            p->why = p->cause == SCHEDULE_NONE ? SCHEDULE_UNKNOWN : SCHEDULE_MADE;
        } else if (w && w->cause_lane != SCHEDULE_NONE) {
            const struct schedule_lane *l = &s->lanes[w->cause_lane];
            p->cause = w->why == SCHEDULE_ENDED ? l->first + l->len - 1 : source[mark->ref];
            p->why = p->cause == SCHEDULE_NONE ? SCHEDULE_UNKNOWN : (uint8_t)w->why;
        }
        /* Clocks of CPUs may differ: nothing is caused by what came later. */
        if (p->cause != SCHEDULE_NONE && s->points[p->cause].at_ns > p->at_ns)
            drop_cause(s, i);
    }
    order_points(m);
}

/* --- the graph ------------------------------------------------------------------------------- */

/* Whether so many of the kernel's records were lost that waits are missing, or seem to go on where
 * they were over. */
static bool lost_waits(const struct recording *r)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < r->losses.len; i++)
        if (r->losses.at[i].kind == RECORDING_LOST_RECORDS)
            lost += r->losses.at[i].ns;
    return lost > r->length_ns / 100;
}

static bool lost_wakes(const struct recording *r)
{
    bool is_lost = false;
    for (size_t i = 0; i < r->losses.len; i++)
        is_lost |=
            r->losses.at[i].kind == RECORDING_LOST_RECORDS ||
            !strncmp(r->losses.at[i].text, RECORDING_LOST_WAKES, strlen(RECORDING_LOST_WAKES));
    return is_lost;
}

/* The order of steps matters: gaps need the rows and forks, causes need all waits, and points
 * need the causes. Several runs merged into one have no common clock, so they have no path. */
bool schedule_make(struct schedule *s, const struct recording *r, const bool *spins,
                   struct arena *a, struct err *e)
{
    struct making m = {.s = s, .r = r};
    bool has_waits = recording_covers_waits(r);
    *s = (struct schedule){.recording = r, .spins = spins, .has_gaps = has_waits && lost_waits(r)};
    s->has_waits = has_waits && !s->has_gaps;
    s->has_ran = !s->has_waits || r->turns.len;
    if (!r->threads.len || !r->events.len || r->events.at[0].unit != RECORDING_UNIT_NS ||
        !r->length_ns || !r->slice_ns)
        return err_set(e,
                       "needs a recording of time, with its processes and threads ('monarc run')");
    if (r->parts.len > 1)
        return err_set(e, "is of several runs: name one of them (NAME.monarc/run-1)");
    schedule_make_rows(s, a);
    make_lanes(&m);
    make_forks(&m);
    sort_lanes(&m);
    find_timers(&m);
    s->has_wakers = s->has_waits && r->reports_wakes;
    for (size_t i = 0; i < r->waits.len && s->has_waits; i++)
        make_wait(&m, &r->waits.at[i]);
    if (s->has_wakers)
        schedule_find_limits(&m);
    if (s->has_wakers && !lost_wakes(r))
        make_outside(&m);
    sort_waits(&m);
    make_stops(&m);
    sort_waits(&m);
    if (s->has_waits)
        make_holes(&m);
    else
        make_waits_of_gaps(&m);
    sort_waits(&m);
    make_polls(&m);
    make_causes(&m);
    if (s->has_waits)
        schedule_infer_wakers(&m);
    schedule_find_polled(&m);
    make_points(&m, a);
    /* The job ends with its first process; that with its main thread, whose end ends others, unless
     * one goes on. Of a service, which goes on after the recording, nobody's end is known: there it
     * ends with the thread that worked most, as those that idle last as long. */
    uint32_t last = m.lane_of[0];
    bool is_service = m.lanes.at[last].is_alive;
    for (uint32_t i = 0; i < m.lanes.len; i++) {
        uint64_t least = m.lanes.at[last].end_ns + (lane_is_main(&m, last) ? LATE_NS : 0);
        bool worked_more =
            m.lanes.at[i].is_alive && r->threads.at[m.lanes.at[i].last_thread].cpu_ns >
                                          r->threads.at[m.lanes.at[last].last_thread].cpu_ns;
        bool is_later =
            lane_process(&m, i)->pid == r->processes.at[0].pid && m.lanes.at[i].end_ns > least;
        if (is_service ? worked_more : is_later)
            last = i;
    }
    s->end = s->lanes[last].first + s->lanes[last].len - 1;
    vec_free(&m.lanes);
    vec_free(&m.waits);
    vec_free(&m.marks);
    vec_free(&m.running);
    vec_free(&m.stops);
    arena_deinit(&m.scratch);
    return true;
}
