/* Functions of the collector that the stand-ins of tests have no use for: nobody publishes labels,
 * bytes are not counted (unless KEEPS_TRANSFERS: then the test keeps them), and no process is known
 * to live. For one file of a test program. */
#ifndef TESTS_RECORD_SILENT_COLLECTOR_H
#define TESTS_RECORD_SILENT_COLLECTOR_H

#include "record/collector.h"

uint32_t collector_labels(struct collector *c, const struct recording_label *labels, size_t len,
                          const uint8_t *trace, const uint8_t *span)
{
    (void)c, (void)labels, (void)len, (void)trace, (void)span;
    return 0;
}

void collector_process_labels(struct collector *c, pid_t pid, const struct recording_label *labels,
                              size_t len, uint64_t at_ns)
{
    (void)c, (void)pid, (void)labels, (void)len, (void)at_ns;
}

bool collector_thread_variable(struct collector *c, pid_t pid, const char *name,
                               struct object_thread_variable *out, uint64_t at_ns)
{
    (void)c, (void)pid, (void)name, (void)out, (void)at_ns;
    return false;
}

size_t collector_living(const struct collector *c, pid_t *pids, size_t most)
{
    (void)c, (void)pids, (void)most;
    return 0;
}

int64_t collector_call_of(const struct collector *c, struct collector_place place)
{
    (void)c, (void)place;
    return -1;
}

#ifndef KEEPS_TRANSFERS
void collector_transfer(struct collector *c, pid_t pid, pid_t tid, struct recording_transfer t,
                        uint64_t at_ns)
{
    (void)c, (void)pid, (void)tid, (void)t, (void)at_ns;
}
#endif

void collector_transferred(struct collector *c, const struct recording_transferred *all)
{
    (void)c, (void)all;
}

#ifndef KEEPS_TRANSFERS
struct recording_transferred collector_transferred_so_far(const struct collector *c)
{
    (void)c;
    return (struct recording_transferred){0};
}
#endif

#endif
