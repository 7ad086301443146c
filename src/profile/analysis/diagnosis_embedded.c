/* The examination of what the embedded recorder says of itself: what a microcontroller's program
 * does wrong is not what a hosted one does. */
#include "profile/analysis/diagnosis_embedded.h"

#include "profile/analysis/firmware.h"
#include "profile/model/embedded.h"

#include <inttypes.h>
#include <string.h>

enum { MANY_PERCENT = 10, NEARLY_ALL_PERCENT = 90, FEW_FOR_A_PATTERN = 20 };

static uint64_t percent_of(uint64_t part, uint64_t all)
{
    return all ? part * 100 / all : 0;
}

/* More arcs than were kept and lost calls together there cannot be. */
static void examine_table(struct examination *x, const struct embedded_core *c)
{
    uint64_t enough = c->used + c->lost_calls;
    enough += enough / 2;
    if (!c->lost_calls)
        return;
    uint64_t next = 2 * (uint64_t)c->slots;
    uint64_t suggested = enough < next ? enough : next;
    report_symptom(
        x, SEVERITY_WARNING, "arc-table-full",
        "calls are missing: the table of arcs had no room for all callers",
        arena_printf(x->arena,
                     "core %" PRIu32 ": %" PRIu64 " calls lost, %" PRIu32 " of %" PRIu32
                     " slots used",
                     c->core, c->lost_calls, c->used, c->slots),
        arena_printf(x->arena,
                     "give the recorder %" PRIu64 " bytes more, %" PRIu64
                     " slots%s; larger bins make room as well",
                     (suggested - c->slots) * 3 * c->word, suggested,
                     suggested == enough ? ", which will do" : ": it may take several steps"));
}

static void examine_losses(struct examination *x, const struct embedded_core *c, uint64_t samples)
{
    if (c->nested_calls)
        report_symptom(
            x, SEVERITY_NOTE, "calls-in-nmi",
            "calls were not counted because an NMI came while the table was locked",
            arena_printf(x->arena, "core %" PRIu32 ": %" PRIu64 " calls", c->core, c->nested_calls),
            "compile what NMIs call without -pg, or use a core with LDREX");
    if (c->saturated_samples)
        report_symptom(x, SEVERITY_WARNING, "full-bins",
                       "counters are full: time is missing where most of it was spent",
                       arena_printf(x->arena, "core %" PRIu32 ": %" PRIu64 " samples in full bins",
                                    c->core, c->saturated_samples),
                       "record shorter, or sample less often, and sum several recordings with "
                       "`monarc merge`");
    uint64_t all = samples + c->outside_samples;
    if (percent_of(c->outside_samples, all) >= MANY_PERCENT)
        report_symptom(
            x, SEVERITY_WARNING, "samples-outside-windows",
            "the program runs where no samples are counted",
            arena_printf(x->arena, "core %" PRIu32 ": %" PRIu64 " of %" PRIu64 " samples", c->core,
                         c->outside_samples, all),
            "code in RAM, a boot ROM or a second flash needs a window of its own in "
            "monarc_embedded_setup(); if it is all of them, the interrupt hands in a wrong "
            "program counter");
}

/* Samples in the recorder and nowhere else: the handler's own program counter was handed in. */
static uint64_t samples_in_recorder(const struct examination *x)
{
    const struct functions *f = x->p->functions;
    const struct attribution *time = x->p->time;
    double sum = 0;
    for (uint32_t i = 0; f && time && i < f->len; i++)
        if (!strncmp(f->at[i].name, "monarc_embedded_sample", 22))
            sum += time->self[i];
    return (uint64_t)sum;
}

static void examine_interrupt(struct examination *x, const struct embedded *m, uint64_t samples)
{
    uint64_t own = samples_in_recorder(x);
    if (!samples && !embedded_lost_samples(m))
        report_symptom(
            x, SEVERITY_WARNING, "no-timer-interrupt",
            "nothing was sampled: monarc_embedded_sample() was never called",
            arena_printf(x->arena, "0 samples, %" PRIu64 " calls", profile_calls(x->p->measured)),
            "start a timer, put the handler's address into the vector table under the "
            "timer's number, and call monarc_embedded_sample() in it");
    else if (samples >= FEW_FOR_A_PATTERN && percent_of(own, samples) >= NEARLY_ALL_PERCENT)
        report_symptom(x, SEVERITY_ERROR, "wrong-program-counter",
                       "the samples are those of the interrupt handler, not of what it interrupted",
                       arena_printf(x->arena, "%" PRIu64 " of %" PRIu64 " samples in the recorder",
                                    own, samples),
                       "take the program counter out of the exception frame: "
                       "MONARC_CORTEX_M_HANDLER, or mepc on RISC-V");
    if (!m->cores.at[0].rate)
        report_symptom(x, SEVERITY_WARNING, "no-rate",
                       "the sampling rate was not given: samples cannot be turned into time",
                       "rate 0 in monarc_embedded_on()",
                       "shares are right all the same; hand in how often the timer interrupts");
}

static void examine_calls(struct examination *x, const struct embedded *m)
{
    if (x->p->measured->arcs.len || embedded_lost_calls(m))
        return;
    report_symptom(x, SEVERITY_WARNING, "no-calls", "no calls were counted",
                   "the table of arcs is empty",
                   "compile the program, but not the recorder, with -pg (on x86 -mfentry, too) "
                   "and link the stub of its architecture; where there is none, compile with "
                   "-finstrument-functions");
}

void examine_embedded(struct examination *x)
{
    const struct embedded *m = x->p->embedded;
    uint64_t samples = profile_samples(x->p->measured);
    struct err why = {0};
    if (!m->cores.len)
        return;
    if (x->p->object && firmware_match(&m->cores.at[0], x->p->object, &why) == FIRMWARE_OTHER)
        report_symptom(
            x, SEVERITY_ERROR, "other-firmware", "the recording was made by another program",
            arena_printf(x->arena, "%s", why.line), "report with the very file that was flashed");
    examine_interrupt(x, m, samples);
    examine_calls(x, m);
    for (size_t i = 0; i < m->cores.len; i++) {
        examine_table(x, &m->cores.at[i]);
        examine_losses(x, &m->cores.at[i], samples);
    }
}
