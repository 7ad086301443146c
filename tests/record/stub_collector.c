/* The collector's functions, for tests of sources: one line a call, words separated by blanks, the
 * name of the call first. */
#include "stub_collector.h"

#include "silent_collector.h"
#include "base/vec.h"
#include "record/collector.h"

#include <inttypes.h>
#include <stdlib.h>

struct stub_place {
    enum collector_where where;
    int64_t syscall;
    uint64_t pc;
    size_t stack_len;
};

struct collector {
    FILE *out;
    VEC(struct stub_place) places;
};

struct collector *stub_collector_new(FILE *out)
{
    struct collector *c = calloc(1, sizeof *c);
    if (c)
        c->out = out;
    return c;
}

void stub_collector_free(struct collector *c)
{
    vec_free(&c->places);
    free(c);
}

uint32_t collector_add_event(struct collector *c, const char *name, enum recording_event_unit unit,
                             uint64_t period, bool user_only)
{
    fprintf(c->out, "event %s %d %" PRIu64 " %d\n", name, (int)unit, period, user_only);
    return 0;
}

void collector_fork(struct collector *c, pid_t pid, pid_t tid, pid_t parent, uint64_t at)
{
    fprintf(c->out, "fork %d %d %d %" PRIu64 "\n", pid, tid, parent, at);
}

void collector_exec(struct collector *c, pid_t pid, const char *name, uint64_t at)
{
    fprintf(c->out, "exec %d %" PRIu64 " %s\n", pid, at, name);
}

void collector_name(struct collector *c, pid_t pid, pid_t tid, const char *name, uint64_t at)
{
    fprintf(c->out, "name %d %d %" PRIu64 " %s\n", pid, tid, at, name);
}

void collector_exit(struct collector *c, pid_t pid, pid_t tid, uint64_t at)
{
    fprintf(c->out, "exit %d %d %" PRIu64 "\n", pid, tid, at);
}

void collector_thread_cpu(struct collector *c, pid_t pid, pid_t tid, uint64_t cpu)
{
    fprintf(c->out, "cpu %d %d %" PRIu64 "\n", pid, tid, cpu);
}

bool collector_read_maps(struct collector *c, pid_t pid, uint64_t at)
{
    fprintf(c->out, "maps %d %" PRIu64 "\n", pid, at);
    return true;
}

struct collector_place collector_place(struct collector *c, const struct collector_sample *s)
{
    vec_push(&c->places, (struct stub_place){s->where, s->syscall,
                                             s->registers ? s->registers->pc : 0, s->stack.len});
    return (struct collector_place){.node = (uint32_t)c->places.len - 1};
}

struct collector_place collector_place_as(struct collector *c, struct collector_place place,
                                          enum collector_where where)
{
    struct stub_place other = c->places.at[place.node];
    other.where = where;
    vec_push(&c->places, other);
    return (struct collector_place){.node = (uint32_t)c->places.len - 1};
}

void collector_sample_at(struct collector *c, const struct collector_sample *s,
                         struct collector_place place)
{
    const struct stub_place *p = &c->places.at[place.node];
    fprintf(c->out, "sample %d %d %" PRIu64 " %" PRIu64 " %d %" PRId64 " %" PRIx64 " %zu\n", s->pid,
            s->tid, s->at_ns, s->weight, (int)p->where, p->syscall, p->pc, p->stack_len);
}

void collector_sample(struct collector *c, const struct collector_sample *s)
{
    struct collector_place place = collector_place(c, s);
    collector_sample_at(c, s, place);
    c->places.len--;
}

void collector_lose(struct collector *c, enum recording_loss_kind kind, const char *text,
                    uint64_t count, uint64_t ns)
{
    fprintf(c->out, "lose %d %" PRIu64 " %" PRIu64 " %s\n", (int)kind, count, ns, text);
}

void collector_creator(struct collector *c, pid_t tid, pid_t creator)
{
    (void)c, (void)tid, (void)creator;
}

uint64_t collector_slice_ns(const struct collector *c)
{
    (void)c;
    return 1000 * 1000 * 1000;
}

void collector_turn(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                    uint64_t shared_ns)
{
    (void)c, (void)pid, (void)tid, (void)from_ns, (void)to_ns, (void)shared_ns;
}

void collector_parallel(struct collector *c, uint32_t threads, uint64_t at_ns, uint64_t ns)
{
    (void)c, (void)threads, (void)at_ns, (void)ns;
}

void collector_waited(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                      bool is_ready, const struct collector_place *place)
{
    (void)is_ready;
    (void)c, (void)pid, (void)tid, (void)from_ns, (void)to_ns, (void)place;
}

void collector_woken(struct collector *c, uint64_t until_ns, const struct collector_wake *wake)
{
    (void)c, (void)until_ns, (void)wake;
}

void collector_reports_wakes(struct collector *c)
{
    (void)c;
}

void collector_paused(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    (void)c, (void)pid, (void)tid, (void)at_ns;
}

void collector_delayed(struct collector *c, pid_t pid, pid_t tid, uint64_t from_ns, uint64_t to_ns,
                       uint64_t ns)
{
    (void)c, (void)pid, (void)tid, (void)from_ns, (void)to_ns, (void)ns;
}

uint32_t collector_resource(struct collector *c, pid_t pid, enum recording_resource_kind kind,
                            uint64_t address, const char *name, uint64_t at_ns)
{
    (void)c, (void)pid, (void)kind, (void)address, (void)name, (void)at_ns;
    return RECORDING_NONE;
}

uint32_t collector_wait_step(struct collector *c, const struct recording_link *step)
{
    (void)c;
    return step->parent;
}

void collector_wait(struct collector *c, uint32_t step, bool is_new, uint64_t ns, uint64_t at_ns)
{
    (void)c, (void)step, (void)is_new, (void)ns, (void)at_ns;
}

void collector_wait_error(struct collector *c, uint32_t step, uint64_t error, uint64_t single)
{
    (void)c, (void)step, (void)error, (void)single;
}

uint32_t collector_step_before(const struct collector *c, uint32_t step)
{
    (void)c, (void)step;
    return RECORDING_NONE;
}

bool collector_steps_are_alike(const struct collector *c, uint32_t one, uint32_t other,
                               bool anywhere)
{
    (void)c, (void)anywhere;
    return one == other;
}

uint32_t collector_thread_number(struct collector *c, pid_t pid, pid_t tid, uint64_t at_ns)
{
    (void)c, (void)pid, (void)tid, (void)at_ns;
    return RECORDING_NONE;
}

/* It keeps none: all is written down as it is told. */
bool collector_has_process(const struct collector *c, pid_t pid)
{
    (void)c, (void)pid;
    return false;
}
