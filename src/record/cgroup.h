/* How often the kernel held a job back because its control group had used its CPU time up. */
#ifndef MONARC_RECORD_CGROUP_H
#define MONARC_RECORD_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { CGROUP_LEVELS = 16, CGROUP_PATH_BYTES = 512 };

/* What a group's cpu.stat says since it was made. */
struct cgroup_level {
    uint64_t periods, throttled, throttled_ns;
    char folder[CGROUP_PATH_BYTES];
};

/* The group of a process and those around it, innermost first. */
struct cgroup_levels {
    struct cgroup_level at[CGROUP_LEVELS];
    unsigned len;
};

/* Reads those of a process: `proc` is usually "/proc/self", `root` "/sys/fs/cgroup". Groups without
 * a limit of CPU time are left out; none is no failure. */
void cgroup_read(struct cgroup_levels *out, const char *proc, const char *root);

/* The level that was held back most between two readings, as a phrase that begins with
 * "THROTTLED of PERIODS periods"; false: none was held back. */
bool cgroup_throttling(const struct cgroup_levels *before, const struct cgroup_levels *after,
                       char *text, unsigned size);

#endif
