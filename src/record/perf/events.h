/* Names of events, as users and `perf list` write them, to what perf_event_open(2) needs.
 *
 *     cpu  wall                        monarc's own: time on the CPU; with waiting as well
 *     cycles  page-faults  cs          the kernel's general events, and their other names
 *     LLC-load-misses  dTLB-loads      events of caches
 *     r1a8                             a processor's own event, by its code
 *     cpu/event=0x3c,umask=1/  tsc     events of units in /sys/bus/event_source/devices
 *     sched:sched_switch               tracepoints
 *     mem:0x601040/4:w                 hardware breakpoints
 *     NAME/period=1000,name=x/         a period, and a name to show, of any of these
 *     NAME:u  :k  :p  :pp              user code alone, the kernel alone, precise places
 *
 * A name means one event or it is an error; nothing is ever measured in place of it. Not known are
 * the vendors' names that perf carries in its own tables (inst_retired.any): those need the event's
 * code, as the manual of the processor has it.
 *
 * Clocks have a fixed period, 1e9 / rate ns. Counters are left to the kernel's frequency mode
 * unless a period is requested: floods are thinned to the rate. A sample carries a period then, but
 * the kernel reports the one that begins, not the one that ended: sums are right within 2 % of
 * 100,000 events, and may be several times too large of 1,000, while it looks for a period. */
#ifndef MONARC_RECORD_PERF_EVENTS_H
#define MONARC_RECORD_PERF_EVENTS_H

#include "base/err.h"
#include "output/out.h"
#include "base/vec.h"
#include "profile/model/recording.h"

/* One event, as it was chosen: what the kernel needs to open it, and its description in a
 * recording. */
struct event_choice {
    const char *name; /* as it is to be shown */
    uint32_t type;    /* the first fields of struct perf_event_attr */
    uint32_t bp_type;
    uint64_t config, config1, config2; /* of breakpoints: address and length in the last two */
    enum recording_event_unit unit;
    uint64_t period;    /* weight of a sample; 0: as `frequency` makes it */
    uint32_t frequency; /* samples a second that the kernel aims at; 0: a fixed period */
    uint32_t precise;   /* 0 to 3: precise_ip */
    bool is_clock;      /* time on the CPU, in ns */
    bool is_wall;       /* of clocks: waiting counts, too */
    bool user_only, kernel_only;
    bool in_kernel; /* happens in the kernel alone: user_only would count none */
};

/* The events of a recording, in the order of the request; the first is the main one. */
struct event_list {
    struct arena arena; /* names */
    VEC(struct event_choice) choices;
};

/* Reads names separated by commas. `root` is put before /sys: "" but in tests. */
MUST_CHECK bool events_parse(const char *list, const char *root, uint32_t rate,
                             struct event_list *out, struct err *e);
void events_deinit(struct event_list *l);

/* Fills what the choice decides of an attribute: event, period, modes that are left out. */
struct perf_event_attr;
void events_attr(const struct event_choice *c, struct perf_event_attr *attr);

/* Opens the event for the calling thread and closes it. Where only user code may be seen and the
 * event can be had there, sets user_only. On failure *e says in one sentence why it is not to be
 * had, and with which command it would be. */
MUST_CHECK bool events_probe(struct event_choice *c, struct err *e);

/* Prints the names of what can be had on this machine. */
void events_list(struct out *out, const char *root);

enum { EVENT_FILE_BYTES = 4096 }; /* what is read of a small one */

/* The first folder of tracepoints that is there; NULL with errno. */
char *event_tracing_path(struct arena *a, const char *root);

#endif
