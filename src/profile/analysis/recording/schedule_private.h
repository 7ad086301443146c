/* What the files share that make the graph of a job's points. */
#ifndef MONARC_PROFILE_ANALYSIS_SCHEDULE_PRIVATE_H
#define MONARC_PROFILE_ANALYSIS_SCHEDULE_PRIVATE_H

#include "base/vec.h"
#include "profile/analysis/recording/schedule.h"

/* What kind of call a wait is in decides who may have ended it. */
enum wait_kind {
    WAIT_TIMER,
    WAIT_DEVICE,
    WAIT_CHILD,
    WAIT_THREAD,
    WAIT_PEER,
    WAIT_POLL, /* likewise, or until some time */
    WAIT_ANY,
    WAIT_OTHER, /* of calls without a known kind */
    WAIT_NO_CPU,
    WAIT_STOPPED /* none: recording was off */
};

/* Which threads may end the wait, by its call. */
enum wait_kind schedule_wait_kind(const struct recording *r, uint32_t node);

/* Whether a thread at that place spins until others are ready, which looks like work: in libraries
 * of OpenMP and in loops of the program, until threads of its process are (WAIT_THREAD), in those
 * of MPI until any is (WAIT_PEER). WAIT_OTHER: it does not. */
enum wait_kind schedule_spins_for(const struct schedule *s, uint32_t node);

/* CPU time by thread and slice, and from each sample to its row. Waits are samples too, and have
 * no row: they are off the CPU. */
void schedule_make_rows(struct schedule *s, struct arena *a);

/* --- making the graph ------------------------------------------------------------------------- */

#define MS UINT64_C(1000000)
/* Between a thread that wakes another and then stops, and the other's first moment on a CPU,
 * JUST_NS may pass; on a busy machine LATE_NS. It may also stop later, by SOON_NS. */
enum { JUST_NS = 300 * 1000, SOON_NS = 200 * 1000 };
/* Keeps jobs with thousands of threads that run, or stop, at a time linear. */
enum { MOST_LOOKED = 512 };
#define LATE_NS (20 * MS)

/* A wait while it is made: of a lane, from one moment to the other. `cause_lane` is SCHEDULE_NONE
 * until it is known who ended it. `node` is where on the tree of stacks the thread waited. */
struct made_wait {
    uint32_t lane, node;
    uint64_t from_ns, to_ns;
    enum wait_kind kind;
    uint64_t rough_ns;     /* how far its ends may be off */
    uint64_t began_ns;     /* with those before it at the same place that a limit of time ended */
    uint64_t late_ns;      /* of a gap: how much later it may have ended */
    bool is_poll;          /* of one that a time has ended */
    bool is_retry;         /* likewise, and it went on in one that a thread has ended */
    bool is_turn;          /* the last poll of several */
    bool is_left_out;      /* for a CPU, by a thread that only spun there */
    bool is_armed;         /* a time has ended it that any thread may have set */
    uint32_t woken, waker; /* as reported: enum recording_waker */
    uint64_t woke_ns;
    uint32_t cause_lane;
    uint64_t cause_ns;
    enum schedule_cause why;
};

/* What will be a point: ranks order those of one moment. */
enum mark_rank { MARK_START, MARK_EXEC, MARK_WAIT_END, MARK_SOURCE, MARK_WAIT_BEGIN, MARK_END };

struct made_mark {
    uint32_t lane, ref; /* ref: a wait, a thread, or what it is the source of */
    uint64_t at_ns;
    uint8_t rank;
    bool is_fork; /* of a source: ref is the lane that it makes; else a wait */
};

/* What will be a lane: a thread, and the programs that it executed after one another. `thread`
 * is the first of them in the file and `last_thread` the last. The fields from `running_at` on
 * hold only during make_causes(), which goes through time: since when the lane runs, and when it
 * last stopped. */
struct made_lane {
    uint32_t thread, last_thread, process;
    uint64_t start_ns, end_ns;
    bool is_alive;       /* it did not end: the recording did */
    uint32_t running_at; /* place among those that run, plus one; 0: it does not */
    uint64_t on_ns, left_ns;
    uint64_t ready_ns; /* it lost its CPU then, and has hardly run since; 0: no */
};

/* A moment at which a lane made another. */
struct made_fork {
    uint32_t maker, lane;
    uint64_t at_ns;
};

/* A thread stopped by itself, to wait or at its end, and not for want of a CPU. */
struct made_stop {
    uint64_t at_ns, lasts_ns; /* UINT64_MAX: it ended */
    uint32_t lane;
};

/* All that is needed while the graph is made, and dropped afterwards: only `s` stays. Lanes, waits
 * and marks grow, so they are known by number, not by address. */
struct making {
    struct schedule *s;
    const struct recording *r;
    struct arena scratch;
    VEC(struct made_lane) lanes;
    VEC(struct made_wait) waits;
    size_t known; /* of them, in order and for sure: what is added later leaves room for them */
    VEC(struct made_mark) marks;
    uint32_t *lane_of;                /* per thread */
    uint32_t *by_parent, *by_process; /* lanes, by the key and their ends */
    VEC(uint32_t) running;
    VEC(struct made_stop) stops;
    bool *is_timer;          /* per node: threads wait for a timer that others may set */
    struct made_fork *forks; /* by maker and time */
    size_t forks_len;
};

/* The process of the last program that a lane executed: its pid is that of all of them. */
static inline const struct recording_process *lane_process(const struct making *m, uint32_t lane)
{
    return &m->r->processes.at[m->lanes.at[lane].process];
}

/* Whether a time ended a wait: for calls that wait for threads or until then, an interrupt shows.
 */
static inline bool wait_is_timed(const struct made_wait *w)
{
    return w->kind == WAIT_TIMER || (w->woken == RECORDING_WAKER_INTERRUPT &&
                                     (w->kind == WAIT_THREAD || w->kind == WAIT_POLL));
}

/* Whether the process has another thread during the wait. */
bool wait_has_others(const struct making *m, const struct made_wait *w);

/* Finds which waits go on in the next one, and which threads did what others polled for. */
void schedule_find_polled(struct making *m);

#endif
