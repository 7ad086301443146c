/* Summing up a run. */
#include "profile/analysis/recording/recording_summary.h"

#include "base/path.h"
#include "profile/analysis/compare/significance.h"
#include "profile/model/sidecar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *recording_program_name(const struct recording *r, const struct recording_process *p)
{
    return p->program == RECORDING_NONE ? p->name : path_base_name(r->objects.at[p->program].path);
}

/* Events that gmon.out has names for keep those. */
void recording_dimension(const struct recording_event *event, const char **dimension,
                         char *abbreviation)
{
    *dimension = "seconds";
    *abbreviation = 's';
    if (!event || event->unit == RECORDING_UNIT_NS)
        return;
    *dimension = event->name;
    *abbreviation = '#';
    for (uint32_t i = 0; i < EVENTS; i++)
        if (!strcmp(event->name, event_name(i)))
            *dimension = event_dimension(i, abbreviation);
}

static const char *command_of(const struct recording *r, struct arena *a)
{
    size_t len = 0;
    for (size_t i = 0; i < r->texts.len; i++)
        len += strcmp(r->texts.at[i].key, "argument") ? 0 : strlen(r->texts.at[i].value) + 1;
    char *text = arena_alloc(a, len + 1), *end = text;
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, "argument")) {
            end = end == text ? end : stpcpy(end, " ");
            end = stpcpy(end, r->texts.at[i].value);
        }
    return text;
}

double *recording_process_samples(const struct recording *r, const struct recording_choice *c,
                                  struct arena *a)
{
    double *samples = ARENA_NEW(a, double, r->processes.len);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (recording_choice_admits(c, r, s))
            samples[r->threads.at[s->thread].process] +=
                (double)s->weight / (double)r->events.at[s->event].period;
    }
    return samples;
}

/* Time in which nothing ran is not accounted as CPU time. */
static uint64_t ran_ns(const struct recording *r, const struct recording_choice *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (recording_choice_admits(c, r, s) && !recording_is_wait(r, s->node))
            sum += s->weight;
    }
    return sum;
}

static int by_samples(const void *left, const void *right)
{
    const struct recording_program *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? 1 : -1;
    return strcmp(l->name, r->name);
}

/* Entries of one pid are one process; a program is the same in all of them. */
static void list_programs(struct recording_summary *s, const struct recording_choice *c,
                          struct arena *a)
{
    struct arena scratch = {0};
    const struct recording *r = s->recording;
    double *samples = recording_process_samples(r, c, &scratch);
    uint32_t *of_object = ARENA_NEW(&scratch, uint32_t, r->objects.len);
    s->programs = ARENA_NEW(a, struct recording_program, r->processes.len);
    for (size_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        s->processes += !i || p->pid != p[-1].pid;
        bool is_known = p->program != RECORDING_NONE;
        uint32_t number =
            is_known && of_object[p->program] ? of_object[p->program] - 1 : s->programs_len++;
        if (is_known)
            of_object[p->program] = number + 1;
        struct recording_program *program = &s->programs[number];
        *program =
            (struct recording_program){p->program, recording_program_name(r, p),
                                       program->processes + 1, program->samples + samples[i]};
    }
    if (s->programs_len)
        qsort(s->programs, s->programs_len, sizeof *s->programs, by_samples);
    while (s->programs_len && s->programs[s->programs_len - 1].samples <= 0)
        s->programs_len--;
    arena_deinit(&scratch);
}

struct recording_spread recording_spread_of(const double *values, size_t len)
{
    struct recording_spread s = {.least = values[0], .most = values[0]};
    double squares = 0;
    for (size_t i = 0; i < len; i++) {
        s.mean += values[i] / (double)len;
        s.least = fmin(s.least, values[i]);
        s.most = fmax(s.most, values[i]);
    }
    for (size_t i = 0; i < len; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    if (len > 1) {
        s.deviation = sqrt(squares / (double)(len - 1));
        s.half = student_quantile(0.025, (double)(len - 1)) * s.deviation / sqrt((double)len);
    }
    return s;
}

static void spread_parts(struct recording_summary *s)
{
    struct arena scratch = {0};
    size_t len = s->recording->parts.len;
    double *elapsed = ARENA_NEW(&scratch, double, len), *cpu = ARENA_NEW(&scratch, double, len);
    for (size_t i = 0; i < len; i++) {
        elapsed[i] = (double)s->recording->parts.at[i].elapsed_ns / 1e9;
        cpu[i] = (double)s->recording->parts.at[i].cpu_ns / 1e9;
    }
    if (len > 1) {
        s->elapsed = recording_spread_of(elapsed, len);
        s->cpu = recording_spread_of(cpu, len);
    }
    arena_deinit(&scratch);
}

void recording_summarize(struct recording_summary *s, const struct recording *r,
                         const struct recording_choice *c, const struct recording_weights *w,
                         const char *chosen, struct arena *a)
{
    *s = (struct recording_summary){.recording = r,
                                    .event =
                                        c->event < r->events.len ? &r->events.at[c->event] : NULL,
                                    .weights = w,
                                    .command = command_of(r, a),
                                    .chosen = chosen,
                                    .whole = -1};
    bool is_cpu = s->event && s->event->unit == RECORDING_UNIT_NS && strcmp(s->event->name, "wall");
    s->cpu_ns = recording_used_ns(r);
    s->has_cpu = is_cpu && !chosen && s->cpu_ns;
    if (s->has_cpu)
        s->accounted_ns = ran_ns(r, c);
    if (s->cpu_ns < s->accounted_ns) /* the last periods of clocks are not over */
        s->cpu_ns = s->accounted_ns;
    if (r->stacks)
        s->whole = (double)r->whole / (double)r->stacks;
    list_programs(s, c, a);
    spread_parts(s);
}
