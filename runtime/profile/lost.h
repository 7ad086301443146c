/* What can go missing, one row a reason. The recorder never prints: these counts go into the
 * sidecar. The first rows count lost records; the rest say in what way the recording is less than
 * requested. */
#ifndef MONARC_PROFILE_LOST_H
#define MONARC_PROFILE_LOST_H

/* The number is the wire value: rows are only ever appended. */
/* clang-format off */
#define LOST_ROWS(row)                                                                             \
    row(LOST_CALLS, "calls not counted: no memory for a table")                                    \
    row(LOST_SAMPLES, "samples not counted: no memory for a table")                                \
    row(LOST_EARLY, "calls not counted: made before the program could be recorded")                \
    row(LOST_FOLDER, "no output folder could be made")                                             \
    row(LOST_LIVE, "tables not in a file: they do not survive SIGKILL")                            \
    row(LOST_DISK_FULL, "no space for the table file")                                             \
    row(LOST_WRITE, "an output file could not be written")                                         \
    row(LOST_PERF, "perf_event_open not allowed: a timer was used")                                \
    row(LOST_SECCOMP, "seccomp filter active: perf_event_open not tried")                          \
    row(LOST_TIMER, "no sampling clock for a thread")                                              \
    row(LOST_SIGNAL, "the sampling signal is used by the program")                                 \
    row(LOST_DESCRIPTOR, "a sampling descriptor was closed by the program")                        \
    row(LOST_DLCLOSE_RACE, "an address range was used again before its calls were set aside")      \
    row(LOST_THREAD_NOTES, "threads without a note of their own")                                  \
    row(LOST_EVENT, "the event is not available: CPU time was sampled")                            \
    row(LOST_RING, "samples not counted: they waited too long in the kernel")                      \
    row(LOST_CLOCKS, "too many threads for perf_event_open: a timer was used")                     \
    row(LOST_SANDBOX, "the program sandboxed itself: from then on nothing was sampled")            \
    row(LOST_CUT, "pages of tables lost: another program cut the live file short")
/* clang-format on */

#define LOST_ENUMERATOR(name, text) name,
enum lost_reason { LOST_ROWS(LOST_ENUMERATOR) LOST_REASONS };
#undef LOST_ENUMERATOR

#endif
