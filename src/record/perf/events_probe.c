/* Whether the kernel gives an event, and if not, why, in one sentence with what would help.
 *
 * The kernel has few numbers for many reasons; what EINVAL means is found out by opening the event
 * in other ways.
 *
 *     ENOENT, ENODEV, ENXIO, EOPNOTSUPP   the machine does not have it
 *     EACCES, EPERM                       perf_event_paranoid, or a container
 *     EINVAL                              the rate is too high; it cannot be sampled; it is of a
 * CPU EBUSY, ENOSPC                       all counters are taken ENOSYS no such system call, or a
 * filter
 *
 * Probing opens events that are disabled and closes them: nothing is counted. */
#include "record/perf/events_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void events_attr(const struct event_choice *c, struct perf_event_attr *attr)
{
    attr->type = c->type;
    attr->bp_type = c->bp_type;
    attr->config = c->config;
    attr->config1 = c->config1;
    attr->config2 = c->config2;
    attr->precise_ip = c->precise & 3;
    attr->exclude_user = c->kernel_only;
    attr->exclude_kernel = c->user_only;
    attr->exclude_hv = c->user_only || c->kernel_only;
    attr->freq = c->frequency != 0;
    if (c->frequency)
        attr->sample_freq = c->frequency;
    else
        attr->sample_period = c->period;
}

/* 0, or the errno of opening it for this thread, or for a whole CPU. */
static int probe_open(struct perf_event_attr attr, bool is_cpu_wide)
{
    attr.size = sizeof attr;
    attr.disabled = 1;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
    long fd = syscall(SYS_perf_event_open, &attr, is_cpu_wide ? -1 : 0, is_cpu_wide ? 0 : -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* A number of /proc/sys/kernel; -1: it is not there. */
static long probe_setting(const char *path)
{
    char text[EVENT_FILE_BYTES];
    return event_file(path, text) ? strtol(text, NULL, 10) : -1;
}

/* paranoid 2 lets user code be seen, 3 (Debian's) nothing; whom a lower one refuses is in a
 * container. */
static bool probe_refused(const struct event_choice *c, struct err *e)
{
    long paranoid = probe_setting("/proc/sys/kernel/perf_event_paranoid");
    if (c->type == PERF_TYPE_TRACEPOINT || paranoid > 1)
        return err_set(e,
                       "event \"%s\" is not permitted%s: `sudo setcap cap_perfmon=ep \"$(command "
                       "-v monarc)\"` gives it",
                       c->name, paranoid > 2 ? "" : " where the kernel is seen");
    return err_set(e,
                   "event \"%s\" is not permitted: a container forbids it (start that with "
                   "--cap-add=PERFMON)",
                   c->name);
}

/* EINVAL has more than one reason. */
static bool probe_invalid(const struct event_choice *c, struct perf_event_attr attr, struct err *e)
{
    long most = probe_setting("/proc/sys/kernel/perf_event_max_sample_rate");
    struct perf_event_attr counting = attr;
    counting.freq = 0;
    counting.sample_period = 0;
    if (attr.freq && most >= 0 && (uint64_t)most < attr.sample_freq)
        return err_set(e,
                       "event \"%s\": the kernel takes at most %ld samples a second: `sudo sysctl "
                       "kernel.perf_event_max_sample_rate=%u` gives more",
                       c->name, most, c->frequency);
    if (!probe_open(counting, false))
        return err_set(e,
                       "event \"%s\" can be counted but not sampled: nothing could say where it "
                       "happens",
                       c->name);
    if (!probe_open(counting, true))
        return err_set(e,
                       "event \"%s\" belongs to the whole machine: nobody can say which program "
                       "causes it",
                       c->name);
    return err_set(e, "event \"%s\": the kernel does not take it (%s)", c->name, strerror(EINVAL));
}

/* One sentence for each errno, with the command that would help where there is one. */
static bool probe_why(const struct event_choice *c, const struct perf_event_attr *attr, int error,
                      struct err *e)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return err_set(e,
                       "event \"%s\" is not there: this processor, or the virtual machine, "
                       "does not have it%s",
                       c->name, c->precise ? " with :p" : "");
    case EACCES:
    case EPERM: return probe_refused(c, e);
    case EINVAL: return probe_invalid(c, *attr, e);
    case EBUSY:
    case ENOSPC:
        return err_set(e, "event \"%s\": all counters of the processor are taken by somebody else",
                       c->name);
    case ENOSYS:
        return err_set(e,
                       "event \"%s\": this kernel, or a container's filter, has no "
                       "perf_event_open",
                       c->name);
    default: return err_set(e, "event \"%s\": %s", c->name, strerror(error));
    }
}

/* Refused where the kernel is seen, an event may still be had of user code alone. */
bool events_probe(struct event_choice *c, struct err *e)
{
    struct perf_event_attr attr = {0};
    events_attr(c, &attr);
    int error = probe_open(attr, false);
    bool is_refused = error == EACCES || error == EPERM;
    if (is_refused && !c->in_kernel && !c->kernel_only && !c->user_only) {
        attr.exclude_kernel = attr.exclude_hv = 1;
        error = probe_open(attr, false); /* which also tells whether the event is there at all */
        c->user_only = !error;
    }
    return !error || probe_why(c, &attr, error, e);
}
