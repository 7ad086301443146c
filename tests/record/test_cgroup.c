/* Control groups of both versions, in folders made for the purpose. */
#include "cases.h"
#include "record/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *out = fopen(whole, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void levels(struct cgroup_levels *out)
{
    char proc[128], sys[128];
    snprintf(proc, sizeof proc, "%s/proc", root);
    snprintf(sys, sizeof sys, "%s/sys", root);
    cgroup_read(out, proc, sys);
}

static int begin(void **state)
{
    (void)state;
    strcpy(root, "/tmp/monarc-cgroup-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* The limit is that of a group around the job's own. */
CASE_WITH(test_second_version, begin, end)
{
    struct cgroup_levels before, after;
    char text[512];
    put("proc/cgroup", "0::/a/b\n");
    put("sys/a/b/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    put("sys/a/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 2\nthrottled_usec 1000\n");
    put("sys/a/cpu.max", "50000 100000\n");
    put("sys/cpu.stat", "usage_usec 5\n");
    levels(&before);
    assert_int_equal(before.len, 2);
    assert_false(cgroup_throttling(&before, &before, text, sizeof text));
    put("sys/a/cpu.stat", "usage_usec 9\nnr_periods 30\nnr_throttled 9\nthrottled_usec 301000\n");
    levels(&after);
    assert_true(cgroup_throttling(&before, &after, text, sizeof text));
    const char phrase[] =
        "7 of 20 periods, 0.300 s over all CPUs; limit 50000/100000 us of CPU time; ";
    assert_memory_equal(text, phrase, sizeof phrase - 1);
    assert_string_equal(text + strlen(text) - 6, "/sys/a");
}

CASE_WITH(test_first_version, begin, end)
{
    struct cgroup_levels before, after;
    char text[512];
    put("proc/cgroup", "4:memory:/x\n3:cpuset:/x\n2:cpu,cpuacct:/job\n0::/\n");
    put("sys/cpu/x/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 1\n"); /* not ours */
    put("sys/cpu/job/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
    put("sys/cpu/job/cpu.cfs_quota_us", "20000\n");
    put("sys/cpu/job/cpu.cfs_period_us", "100000\n");
    levels(&before);
    put("sys/cpu/job/cpu.stat", "nr_periods 5\nnr_throttled 3\nthrottled_time 250000000\n");
    levels(&after);
    assert_int_equal(after.len, 1);
    assert_true(cgroup_throttling(&before, &after, text, sizeof text));
    const char phrase[] =
        "3 of 4 periods, 0.250 s over all CPUs; limit 20000/100000 us of CPU time; ";
    assert_memory_equal(text, phrase, sizeof phrase - 1);
}

CASE_WITH(test_nothing_there, begin, end)
{
    struct cgroup_levels none;
    char text[512];
    levels(&none);
    assert_int_equal(none.len, 0);
    put("proc/cgroup", "0::\n:\nrubbish\n0::/gone/away\n");
    levels(&none);
    assert_int_equal(none.len, 0);
    assert_false(cgroup_throttling(&none, &none, text, sizeof text));
}
