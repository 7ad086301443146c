/* Reading cpu.stat of control groups (Documentation/admin-guide/cgroup-v2.rst, and of version 1
 * scheduler/sched-bwc.rst).
 *
 *     /proc/PID/cgroup     "0::/a/b"              version 2: one hierarchy
 *                          "4:cpu,cpuacct:/a/b"   version 1: that of CPU time
 *     ROOT/a/b/cpu.stat    "nr_periods N", "nr_throttled N", "throttled_usec N" (1: throttled_time,
 *                          in ns), of groups with a limit
 *     ROOT/a/b/cpu.max     "QUOTA PERIOD" in us (1: cpu.cfs_quota_us and cpu.cfs_period_us)
 *
 * A limit of any group around a process holds it back, so all levels up to the root are read; in a
 * container the root is the container's own group, which is where its limit is. The counts are of
 * all processes in the group. What cannot be read is left out: there may be no such file. */
#include "record/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a key in "KEY VALUE" lines; 0 if there is none. */
static uint64_t cgroup_value(const char *text, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, len) && line[len] == ' ')
            return strtoull(line + len + 1, NULL, 10);
    }
    return 0;
}

/* A small file's text; false: it is not there. */
static bool cgroup_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[CGROUP_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "re");
    size_t got = in ? fread(text, 1, size - 1, in) : 0;
    text[got] = '\0';
    if (in)
        fclose(in);
    return got > 0;
}

/* Adds a folder's counts, if it has a limit that was ever checked. */
static void cgroup_add(struct cgroup_levels *out, const char *folder)
{
    char text[2048];
    struct cgroup_level *level = &out->at[out->len];
    if (out->len >= CGROUP_LEVELS || !cgroup_text(folder, "cpu.stat", text, sizeof text))
        return;
    *level = (struct cgroup_level){.periods = cgroup_value(text, "nr_periods"),
                                   .throttled = cgroup_value(text, "nr_throttled"),
                                   .throttled_ns = 1000 * cgroup_value(text, "throttled_usec") +
                                                   cgroup_value(text, "throttled_time")};
    snprintf(level->folder, sizeof level->folder, "%s", folder);
    out->len += strstr(text, "nr_throttled") != NULL;
}

/* The path below the root, from a line of /proc/PID/cgroup, and the folder that it is below. */
static const char *cgroup_path(char *line, bool *is_first_version)
{
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return NULL;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    *is_first_version = false;
    for (char *name = strtok(controllers + 1, ","); name; name = strtok(NULL, ","))
        *is_first_version |= !strcmp(name, "cpu");
    return *is_first_version || !strncmp(line, "0:", 2) ? path : NULL;
}

void cgroup_read(struct cgroup_levels *out, const char *proc, const char *root)
{
    char file[CGROUP_PATH_BYTES], line[CGROUP_PATH_BYTES], folder[CGROUP_PATH_BYTES];
    *out = (struct cgroup_levels){0};
    snprintf(file, sizeof file, "%s/cgroup", proc);
    FILE *in = fopen(file, "re");
    while (in && fgets(line, sizeof line, in)) {
        bool is_first_version;
        const char *path = cgroup_path(line, &is_first_version);
        if (!path)
            continue;
        int wanted = snprintf(folder, sizeof folder, "%s%s%s", root, is_first_version ? "/cpu" : "",
                              strcmp(path, "/") ? path : "");
        size_t least = strlen(root) + (is_first_version ? 4 : 0);
        for (char *end; wanted > 0 && (size_t)wanted < sizeof folder; *end = '\0') {
            cgroup_add(out, folder);
            end = strrchr(folder, '/');
            if (strlen(folder) <= least || !end)
                break;
        }
    }
    if (in)
        fclose(in);
}

bool cgroup_throttling(const struct cgroup_levels *before, const struct cgroup_levels *after,
                       char *text, unsigned size)
{
    struct cgroup_level most = {0};
    for (unsigned i = 0; i < after->len; i++) {
        struct cgroup_level now = after->at[i];
        for (unsigned k = 0; k < before->len; k++)
            if (!strcmp(before->at[k].folder, now.folder) &&
                before->at[k].throttled <= now.throttled) {
                now.periods -= before->at[k].periods;
                now.throttled -= before->at[k].throttled;
                now.throttled_ns -= before->at[k].throttled_ns;
                break;
            }
        if (now.throttled_ns > most.throttled_ns)
            most = now;
    }
    char limit[128] = "?", quota[32], period[32];
    if (!most.throttled)
        return false;
    if (cgroup_text(most.folder, "cpu.max", limit, sizeof limit))
        limit[strcspn(limit, "\n")] = '\0';
    else if (cgroup_text(most.folder, "cpu.cfs_quota_us", quota, sizeof quota) &&
             cgroup_text(most.folder, "cpu.cfs_period_us", period, sizeof period))
        snprintf(limit, sizeof limit, "%llu/%llu", strtoull(quota, NULL, 10),
                 strtoull(period, NULL, 10));
    if (strchr(limit, ' '))
        *strchr(limit, ' ') = '/';
    snprintf(text, size,
             "%" PRIu64 " of %" PRIu64
             " periods, %.3f s over all CPUs; limit %s us of CPU time; %s",
             most.throttled, most.periods, (double)most.throttled_ns / 1e9, limit, most.folder);
    return true;
}
