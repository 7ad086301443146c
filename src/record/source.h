/* What watches a tree of processes: perf events or, where they are refused, ptrace.
 *
 * The monitor owns the loop, the signals and waitpid(); a source is called in turn and reports to
 * the collector what it sees.
 *
 *     monitor_loop:   while it goes on:  wait(source->round())   signals, children -> stopped()
 *                     then               source->finish()        and at last free()
 *
 * A source fills this struct in; all functions but `stopped`, `forked` and `settle` are there. They
 * are called by the monitor's thread alone. */
#ifndef MONARC_RECORD_SOURCE_H
#define MONARC_RECORD_SOURCE_H

#include "record/collector.h"
#include "record/proc_threads.h"

/* Said of what the kernel lets no other user watch. */
#define SOURCE_OTHER_RIGHTS                                                                      \
    "a program that has other privileges than monarc (setuid, setgid or file capabilities) was " \
    "left alone; record it as root"

struct source {
    /* Takes what has happened until now; returns in how many nanoseconds it wants to be asked
     * again. */
    uint64_t (*round)(struct source *s, uint64_t now_ns);

    /* Every status of waitpid(-1, ..., __WALL), also after finish() until the monitor ends; true:
     * it was meant for the source (a stop, which it has answered, or the end of a thread); false:
     * the end of a process, which is the monitor's. NULL: there are none. */
    bool (*stopped)(struct source *s, pid_t pid, int status);

    /* Last call: everything up to now, then what is lost and left. */
    void (*finish)(struct source *s, uint64_t now_ns);
    void (*free)(struct source *s);

    /* The program was forked from the launcher, and has not executed yet. NULL: no matter. */
    void (*forked)(struct source *s, pid_t program);

    /* Counts what waits for more to be known, as far as it is known now. NULL: nothing does. */
    void (*settle)(struct source *s);

    /* Another thread of ours stops threads of the program for a moment: its children's stops are
     * not for waitpid() here, only their ends. */
    bool stops_apart;

    int wake_fd; /* readable when there is enough to take before the time is up; -1: none */
};

/* What a source is asked to do. It copies what it needs. */
struct source_options {
    pid_t launcher;   /* perf: the idle process that the program is forked from; else 0 */
    pid_t program;    /* ptrace: waits before its exec */
    bool is_attached; /* the program runs already */
    bool no_follow;   /* leave out all processes but the first, or those of `attached` */
    bool no_stacks;
    bool no_stops;    /* no thread is ever to be stopped, not for a moment */
    bool wants_waits; /* off-CPU time, too */
    bool is_prompt;   /* what happens must be known at once, all the time */
    uint32_t rate;    /* samples per second of CPU time and thread */
    const struct arch *arch;

    /* The processes to attach to, parents first. The first one must be there, others may be gone or
     * be another user's. Lives as long as the source. */
    const struct proc_tids *attached;
};

#endif
