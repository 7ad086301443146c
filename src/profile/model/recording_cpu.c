/* What CPU time a run's processes had, by the accounts that the kernel gives to who waits for them,
 * and where no process waited, by its counters.
 *
 * Counters run on while the machine's host runs something else; accounts do not. Accounts lack
 * children for which no process waited: SIGCHLD was ignored, or their parent was gone. */
#include "base/map.h"
#include "profile/model/recording.h"

/* When the last program of each pid ended; 0: it had not. */
static void ends_by_pid(const struct recording *r, struct map *ends)
{
    for (uint32_t i = 0; i < r->processes.len; i++)
        map_set(ends, r->processes.at[i].pid, 0, i);
}

/* Outlived its parent, so that its time is in nobody's account. */
static bool is_orphan(const struct recording *r, const struct map *ends, uint32_t process)
{
    const uint32_t *own = map_find(ends, r->processes.at[process].pid, 0);
    const uint32_t *parent = map_find(ends, r->processes.at[process].parent_pid, 0);
    uint64_t own_end = r->processes.at[*own].end_ns;
    uint64_t parent_end = parent ? r->processes.at[*parent].end_ns : 0;
    return process && parent_end && (!own_end || own_end > parent_end);
}

struct recording_cpu recording_cpu(const struct recording *r)
{
    struct recording_cpu sum = {0};
    struct map ends = {0};
    ends_by_pid(r, &ends);
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        if (t->has_cpu)
            *(is_orphan(r, &ends, t->process) ? &sum.orphans_ns : &sum.others_ns) += t->cpu_ns;
    }
    map_deinit(&ends);
    return sum;
}

uint64_t recording_peak_bytes(const struct recording *r)
{
    uint64_t most = 0;
    for (size_t i = 0; i < r->processes.len; i++)
        most = r->processes.at[i].peak_bytes > most ? r->processes.at[i].peak_bytes : most;
    return most;
}

uint64_t recording_used_ns(const struct recording *r)
{
    uint64_t waited = r->user_ns + r->system_ns;
    struct recording_cpu counted = recording_cpu(r);
    uint64_t accounts = (waited ? waited : counted.others_ns) + counted.orphans_ns;
    uint64_t counters = counted.others_ns + counted.orphans_ns;
    counters = counters > r->cpu_ns ? counters : r->cpu_ns;
    return accounts > counters ? accounts : counters;
}

uint64_t recording_unaccounted_ns(const struct recording *r)
{
    enum { TICKS_NS = 12 * 1000 * 1000 };
    uint64_t waited = r->user_ns + r->system_ns;
    struct recording_cpu counted = recording_cpu(r);
    uint64_t all = counted.others_ns + counted.orphans_ns;
    all = all > r->cpu_ns ? all : r->cpu_ns;
    bool is_more = waited && r->processes.len > 1 && all > waited + waited / 10 + TICKS_NS;
    return is_more ? all - waited : 0;
}
