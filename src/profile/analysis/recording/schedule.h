/* Who waited for whom in a recorded job: its threads as a graph of points in time.
 *
 * A lane is a thread; the programs that a process executes one after the other are one lane. Its
 * points are its start and end, where it made another thread, and where its waits begin and end.
 * Points of different lanes are joined by causes: a lane starts when another makes it; a wait for a
 * child or a thread ends when that does; other waits when another thread wakes it, of which
 * is known only that it ran then.
 *
 *     make  start ── fork ──[ wait                      ]── end
 *                      │                                │
 *     cc               start ── runs ─────────────── end┘
 *
 * The critical path is what is found on the way back from the end of the job, along causes where
 * there is one. Slack is how much later a point could be without the job ending later. */
#ifndef MONARC_PROFILE_ANALYSIS_SCHEDULE_H
#define MONARC_PROFILE_ANALYSIS_SCHEDULE_H

#include "base/arena.h"
#include "profile/model/recording.h"

#define SCHEDULE_NONE UINT32_MAX

enum schedule_cause {
    SCHEDULE_UNKNOWN,  /* none, or not known */
    SCHEDULE_MADE,     /* fork, or a thread of the process */
    SCHEDULE_ENDED,    /* a child, or a thread that was joined */
    SCHEDULE_WOKEN,    /* no other could have been it */
    SCHEDULE_GUESSED,  /* the likeliest of several */
    SCHEDULE_INFERRED, /* it stopped as the wait ended, which is no chance */
    SCHEDULE_RECORDED, /* woken, by whom the kernel reported */
    SCHEDULE_CAUSES
};

/* Why a wait without a cause in the job ended. What takes its own time would take as long if it
 * began sooner; what is open may have ended for any reason, also for something that another thread
 * of the job did. */
enum schedule_ending {
    SCHEDULE_BY_CAUSE, /* another point of the graph */
    SCHEDULE_BY_TIMER,
    SCHEDULE_BY_DEVICE,  /* a file, a page */
    SCHEDULE_BY_POLL,    /* open: one of many short sleeps of a place, which looks for something */
    SCHEDULE_BY_UNKNOWN, /* open */
    SCHEDULE_BY_STOPPED, /* open: recording was off, so it need not have been a wait at all */
    SCHEDULE_ENDINGS
};

static inline bool schedule_is_open(uint8_t ending)
{
    return ending >= SCHEDULE_BY_POLL;
}

enum schedule_state {
    SCHEDULE_RUNS, /* or waits for times that are too short to be known */
    SCHEDULE_READY,
    SCHEDULE_WAITS
};

struct schedule_point {
    uint64_t at_ns;
    uint32_t lane, thread; /* the thread from here on: an exec has a point, too */
    uint32_t cause;        /* another point, or SCHEDULE_NONE */
    uint8_t why;           /* enum schedule_cause */
    uint8_t state;         /* from here to the lane's next point: enum schedule_state */
    uint8_t ending;        /* of that wait: enum schedule_ending */
    bool is_retry;   /* that wait went on in another, and what ended that would have ended it */
    uint32_t node;   /* where it waits then; RECORDING_NONE: not known */
    bool is_turn;    /* it polls then for the last time: it found what it looked for */
    bool is_inside;  /* only threads of the process can have done that */
    double cpu_ns;   /* of that stretch, by samples */
    double saved_ns; /* of these, by schedule_save() */
    double lack_ns;  /* of a stretch that runs: ready to, without a CPU, as samples say */
    double off_ns;   /* of a stretch that runs: off a CPU, in waits that were not kept */
};

/* Whether the thread sleeps from there on, or waits for a device, at a known place: that takes its
 * own time. */
static inline bool schedule_point_waits(const struct schedule_point *p)
{
    bool is_own = p->ending == SCHEDULE_BY_TIMER || p->ending == SCHEDULE_BY_DEVICE;
    return p->state == SCHEDULE_WAITS && is_own && p->node != RECORDING_NONE;
}

struct schedule_lane {
    uint32_t first, len; /* points */
    uint32_t pid, main;  /* the main thread's entry of the run */
};

/* CPU time of a thread in a slice. */
struct schedule_row {
    uint32_t thread, slice;
    double cpu_ns, saved_ns;
    double ran_ns;           /* it was on a CPU, by its switches; else as samples say */
    double spun_ns;          /* by samples, it spun: no part of cpu_ns */
    double lack_ns;          /* by samples, it was ready to: where switches were not reported */
    double room_ns, path_ns; /* of it the thread ran; of that, on the critical path */
};

struct functions;
struct object;

struct schedule {
    const struct recording *recording;
    const bool *spins; /* per node (schedule_find_spins), or NULL */
    uint32_t event;
    bool has_waits;  /* they were recorded; else they are what samples leave free */
    bool has_wakers; /* who ended waits was reported */
    bool has_gaps;   /* of what was recorded too much was lost: they are what samples leave free */
    bool has_ran;    /* it is known when threads were on a CPU */
    struct schedule_lane *lanes;
    uint32_t lanes_len;
    struct schedule_point *points; /* by lane, then time */
    uint32_t points_len;
    uint32_t *order;           /* all points by time, causes before what they cause */
    struct schedule_row *rows; /* by thread and slice */
    size_t rows_len;
    double saved_unknown; /* of waits at unknown places, the part that may go, 0 to 1 */
    double stray_ns; /* of what schedule_save() saves, in slices in which its thread runs nowhere */
    uint32_t *row_of; /* per sample; SCHEDULE_NONE: a wait, or another event */
    uint32_t end;     /* the point at which the job ends */
};

/* Per node, whether a thread that is there waits for others in a loop, which looks like work: next
 * to an instruction by which such loops leave the CPU to others (`pause`, `yield`), or in
 * sched_yield(). `files`: per object of the recording; NULL elements: not to be had. */
const bool *schedule_find_spins(const struct recording *r, struct object *const *files,
                                const struct functions *functions, const uint32_t *function,
                                struct arena *a);

/* Fails if there is nothing to make one of. Waits are those of the run, and its samples of the
 * first event. `spins`: NULL where the program's code is not to be had. */
MUST_CHECK bool schedule_make(struct schedule *s, const struct recording *r, const bool *spins,
                              struct arena *a, struct err *e);

/* A piece of the critical path that is in one thread, without a cause within; what is open is a
 * piece of its own. */
struct schedule_step {
    uint32_t thread;
    uint64_t from_ns, to_ns;
    uint8_t why; /* how the path came here from the step before; UNKNOWN: it was there */
    double cpu_ns, ready_ns, waits_ns, rest_ns; /* sums of it; rest: running, but no CPU time */
    double lack_ns, off_ns; /* of rest_ns: without a CPU, moved to ready_ns; in waits that were not
                               kept, moved to waits_ns */
    uint8_t open;  /* it is such a wait, whose end may be any thread's work: enum schedule_ending */
    uint32_t node; /* where it waited longest; RECORDING_NONE: nowhere */
    uint64_t longest_ns;
    const char *call; /* its name; NULL: it is in none, or not known */
};

struct schedule_path {
    struct schedule_step *steps; /* from the start to the end */
    size_t len;
    double cpu_ns, ready_ns, waits_ns,
        rest_ns;                       /* rest: of running stretches what is not CPU time */
    double ended_ns[SCHEDULE_ENDINGS]; /* of waits_ns, by how they ended; STOPPED: of rest_ns */
    /* Per thread of the run: what the end hung on, without what is open, which is polled_ns,
     * unknown_ns and stopped_ns; slack < 0: none known. */
    double *on_path_ns, *polled_ns, *unknown_ns, *stopped_ns, *slack_ns, *thread_cpu_ns;
    double *node_ns; /* per node: CPU time on the path, and waits whose end is known */
};

/* What is open on the path. */
static inline double schedule_open_ns(const struct schedule_path *p)
{
    return p->ended_ns[SCHEDULE_BY_POLL] + p->ended_ns[SCHEDULE_BY_UNKNOWN] +
           p->ended_ns[SCHEDULE_BY_STOPPED];
}

void schedule_find_path(struct schedule *s, struct schedule_path *p, struct arena *a);

/* Knowledge about waits decides by how much others are sooner. */
enum schedule_bound {
    SCHEDULE_SOONEST, /* who alone can have woken a thread has; what is open, or a guess, hung on
                         whatever saves most */
    SCHEDULE_LATEST   /* a wait of unknown cause ends when it did */
};

/* Takes `saved` of each sample's weight, 0 to 1 per node, off the CPU time, and off sleeps and
 * waits for devices; then in how many ns the job would have ended. `saved` is NULL for none: its
 * length as it was. */
void schedule_save(struct schedule *s, const double *saved);
double schedule_length(const struct schedule *s, enum schedule_bound bound, struct arena *a);

#endif
