/* What programs tell of themselves: where to stop, what to forget, what they do. */
#include "record/collector_private.h"

#include <string.h>

void collector_stop(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            return;
    vec_push(&c->stops, (struct collected_stop){process, at_ns, UINT64_MAX});
    c->inner.at[process].has_stops = true;
}

void collector_resume(struct collector *c, pid_t pid, uint64_t at_ns)
{
    uint32_t process = collector_process(c, pid, at_ns);
    for (size_t i = c->stops.len; i-- > 0;)
        if (c->stops.at[i].process == process && c->stops.at[i].to_ns == UINT64_MAX)
            c->stops.at[i].to_ns = at_ns;
}

/* A program that stops and resumes all the time makes the list long: the newest come first. */
static bool is_stopped(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    for (size_t i = c->stops.len; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process == process && s->to_ns <= at_ns)
            return false;
        if (s->process == process && s->from_ns <= at_ns)
            return true;
    }
    return false;
}

bool collector_counts(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    return at_ns >= p->not_before_ns && !(p->has_stops && is_stopped(c, process, at_ns));
}

uint64_t collector_counts_until(const struct collector *c, uint32_t process, uint64_t at_ns)
{
    const struct collected_process *p = &c->inner.at[process];
    uint64_t until = p->not_before_ns > at_ns ? p->not_before_ns : UINT64_MAX;
    for (size_t i = p->has_stops ? c->stops.len : 0; i-- > 0;) {
        const struct collected_stop *s = &c->stops.at[i];
        if (s->process != process)
            continue;
        if (s->to_ns <= at_ns)
            break;
        until = s->to_ns < until ? s->to_ns : until;
        until = s->from_ns > at_ns && s->from_ns < until ? s->from_ns : until;
    }
    return until;
}

/* What tally_forget() is to forget. */
struct told_process {
    const struct collector *c;
    uint32_t process;
};

static bool told_is_of(uint32_t thread, void *context)
{
    const struct told_process *of = context;
    return of->c->threads.at[thread].process == of->process;
}

void collector_reset(struct collector *c, pid_t pid, uint64_t at_ns)
{
    struct told_process of = {c, collector_process(c, pid, at_ns)};
    uint64_t forgotten = tally_forget(&c->tally, told_is_of, &of);
    if (forgotten && c->events.at[0].unit == RECORDING_UNIT_NS)
        collector_lose(c, RECORDING_LOST_STOPPED, COLLECTOR_STOPPED_TEXT, 1, forgotten);
    c->inner.at[of.process].not_before_ns = at_ns;
}

void collector_mark(struct collector *c, uint32_t kind, pid_t pid, pid_t tid, const char *name,
                    uint64_t at_ns)
{
    enum { MOST_MARKS = 100000 };
    if (c->marks.len >= MOST_MARKS)
        return;
    uint64_t start = c->options.start_ns;
    vec_push(&c->marks, (struct recording_mark){.at_ns = at_ns > start ? at_ns - start : 0,
                                                .kind = kind,
                                                .process = collector_process(c, pid, at_ns),
                                                .tid = (uint32_t)tid,
                                                .name = arena_copy(&c->arena, name, strlen(name))});
}
