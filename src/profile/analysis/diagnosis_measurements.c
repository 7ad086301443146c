/* The examination of what was measured: is there enough of it, is it possible, is it all there?
 *
 * Questions about functions are asked only if the profile fits the program. Limits are where a
 * figure begins to mislead: 400 samples know a half to within five points; a tenth of the time that
 * is not the program's moves every share. The embedded recorder says what it lost itself, and is
 * asked instead of guessed at. */
#include "profile/analysis/diagnosis_private.h"

#include "profile/analysis/attribution.h"
#include "profile/analysis/diagnosis.h"
#include "profile/model/profile.h"

#include <inttypes.h>
#include <string.h>

enum {
    MANY_IN_ONE_BIN = 20,   /* so many samples do not hit one bin by chance */
    OUTSIDE_PERCENT = 10,   /* unattributed */
    OVERHEAD_PERCENT = 10,  /* of the profiler, sampled or estimated */
    FASTEST_CALL_NS = 1,    /* no machine calls and returns faster */
    MISLEADS_PERMILLE = 50, /* samples in shared bins */
};

/* Records of which kinds there are. */
static void numbers_examine_emptiness(struct examination *x, uint64_t samples)
{
    const struct profile *m = x->p->measured;
    uint64_t calls = profile_calls(m);
    const char *evidence =
        arena_printf(x->arena, "%" PRIu64 " samples, %" PRIu64 " calls", samples, calls);
    if (!m->histograms.len && !m->arcs.len && !m->blocks.len)
        report_symptom(x, SEVERITY_ERROR, "empty", "the profile holds no records", evidence,
                       "the recorder was never started, or was ended at once: call monstartup() "
                       "before and _mcleanup() after what is to be measured");
    else if (!m->histograms.len)
        report_symptom(x, SEVERITY_WARNING, "no-histogram",
                       "the profile holds no histogram: there are no times", evidence,
                       "start the sampling clock (profil, moncontrol), or read call counts only");
    else if (!samples && m->arcs.len)
        report_symptom(
            x, SEVERITY_WARNING, "clock-stopped",
            "calls were counted, but the sampling clock hit nothing", evidence,
            "run for more than some hundredths of a second of CPU time; do not block SIGPROF nor "
            "use ITIMER_PROF in the program; time in libc and other shared objects is not sampled");
    else if (!samples)
        report_symptom(x, SEVERITY_WARNING, "no-samples", "nothing was sampled", evidence,
                       "run longer: the clock counts CPU time, not waiting; time in shared objects "
                       "is not sampled");
}

/* Counters that are full, and hits that all are in one. */
static void numbers_examine_bins(struct examination *x, uint64_t samples)
{
    enum { FULL = 65535 };
    const struct profile *m = x->p->measured;
    /* Counters of 16 bits stop at their maximum, or, in other recorders, go round to 0. */
    uint64_t full = 0, peak = 0;
    for (size_t i = 0; i < m->histograms.len; i++) {
        const struct histogram *h = &m->histograms.at[i];
        for (uint32_t k = 0; k < h->bins; k++)
            full += h->width == 2 && histogram_get(h, k) == FULL;
        uint64_t most = histogram_peak(h);
        peak = most > peak ? most : peak;
    }
    if (full)
        report_symptom(
            x, SEVERITY_WARNING, "full-bins",
            "counters are full: time is missing where most of it was spent",
            arena_printf(x->arena, "%" PRIu64 " counters stand at 65535", full),
            "make shorter runs and sum them with `monarc merge`, whose counters do not end there");
    if (samples >= MANY_IN_ONE_BIN && peak == samples)
        report_symptom(x, SEVERITY_WARNING, "one-bin", "all samples hit the same few bytes of code",
                       arena_printf(x->arena, "%" PRIu64 " samples in one bin", samples),
                       "this is right for one tight loop only; otherwise the range or the scale "
                       "that profil() was given is wrong");
}

/* Whether the share of the busiest function is known at all. */
static void numbers_examine_certainty(struct examination *x)
{
    const struct summary *s = x->p->summary;
    if (!s || !(s->samples > 0) || s->samples >= FEW_SAMPLES || !x->p->functions->len)
        return;
    uint32_t top = 0;
    for (uint32_t i = 1; i < x->p->functions->len; i++)
        if (x->p->time->self[i] > x->p->time->self[top])
            top = i;
    double hits = x->p->time->self[top];
    if (hits == 0)
        return;
    struct interval i = share_interval(hits, s->samples);
    report_symptom(x, SEVERITY_WARNING, "few-samples", "there are too few samples to tell",
                   arena_printf(x->arena,
                                "%.6g samples: %s has %.1f %% of them, its true share is between "
                                "%.1f and %.1f %% (95 %% confidence)",
                                s->samples, names_get(x->names, top), 100 * summary_share(s, hits),
                                100 * i.low, 100 * i.high),
                   "run longer, or sum several runs with `monarc merge`: four times the samples "
                   "halve the interval");
}

/* What counting the calls took, sampled or, where mcount is in libc and not sampled, estimated. */
static void numbers_examine_overhead(struct examination *x)
{
    const struct summary *s = x->p->summary;
    if (!s || !s->has_samples)
        return;
    double estimate = summary_mcount_estimate(s), measured = summary_time(s, s->samples);
    if (100 * summary_share(s, s->profiler) >= OVERHEAD_PERCENT)
        report_symptom(x, SEVERITY_WARNING, "profiling-overhead",
                       "much of the time is the profiler's own",
                       arena_printf(x->arena, "%.1f %% of the samples are in mcount",
                                    100 * summary_share(s, s->profiler)),
                       "small functions look more expensive than they are; compile those without "
                       "-pg, or record with 'monarc run'");
    else if (!x->p->embedded && s->profiler == 0 && estimate > measured * OVERHEAD_PERCENT / 100 &&
             estimate * s->rate > 1)
        report_symptom(x, SEVERITY_WARNING, "hidden-overhead",
                       "counting the calls took time that is not in the profile, because mcount "
                       "is in libc",
                       arena_printf(x->arena,
                                    "%" PRIu64 " calls, some %.3f seconds beside the %.3f that "
                                    "were sampled (an estimate: %d ns a call)",
                                    s->calls, estimate, measured, MCOUNT_NANOSECONDS),
                       "do not compare with the run time without -pg; compile small functions "
                       "without -pg, or record with 'monarc run'");
}

/* What the model's own check finds and nothing above says better. */
static void numbers_examine_oddities(struct examination *x)
{
    static const struct {
        enum finding_kind kind;
        enum severity severity;
        const char *remedy;
    } rows[] = {
        {FINDING_TRAILING_BYTES, SEVERITY_WARNING,
         "the file was cut off within a record, or something was appended; run again"},
        {FINDING_EMPTY_RANGE, SEVERITY_WARNING, "call monstartup() with the lower address first"},
        {FINDING_NO_BINS, SEVERITY_WARNING, "give profil() a buffer"},
        {FINDING_FINE_BINS, SEVERITY_NOTE, "GNU gprof loses samples here, monarc does not"},
        {FINDING_OVERLAP, SEVERITY_WARNING, "do not put profiles of different programs in a file"},
        {FINDING_MIXED_UNITS, SEVERITY_WARNING,
         "times are only right for one rate: report the histograms one by one"},
        {FINDING_MIXED_SCALES, SEVERITY_NOTE, "GNU gprof refuses such files, monarc does not"},
    };
    /* The laws that every profile fulfils; each finding has its own sentence. */
    struct finding_list list = check_profile(x->p->measured);
    for (size_t i = 0; i < list.len; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            if (rows[k].kind != list.at[i].kind)
                continue;
            bool is_counted;
            const char *sentence = finding_sentence(rows[k].kind, &is_counted);
            report_symptom(x, rows[k].severity, finding_name(rows[k].kind), sentence,
                           is_counted ? arena_printf(x->arena, "%" PRIu64, list.at[i].count) : "",
                           rows[k].remedy);
        }
}

void examine_measurements(struct examination *x)
{
    uint64_t samples = profile_samples(x->p->measured);
    if (!x->p->embedded) { /* whose recorder reports more */
        numbers_examine_emptiness(x, samples);
        const struct profile *m = x->p->measured;
        for (size_t i = 0; i < m->histograms.len; i++) {
            if (m->histograms.at[i].rate)
                continue;
            report_symptom(x, SEVERITY_WARNING, "no-rate",
                           "the sampling rate is 0: samples cannot be turned into time",
                           arena_printf(x->arena, "histogram %zu", i),
                           "shares are right nevertheless; make the recorder write its rate");
            break;
        }
    }
    numbers_examine_bins(x, samples);
    /* A counter that went round leaves fewer samples than the calls must have taken. */
    const struct summary *s = x->p->summary;
    if (s && s->has_samples && s->rate > 0 && !strcmp(s->dimension, "seconds")) {
        double least = (double)s->calls * FASTEST_CALL_NS * 1e-9;
        double measured = summary_time(s, s->samples);
        if (s->samples > 0 && least > measured + 1)
            report_symptom(
                x, SEVERITY_WARNING, "wrapped-bins",
                "there are fewer samples than that many calls take: 16-bit counters wrapped, or "
                "the clock stopped for a part of the run",
                arena_printf(x->arena, "%" PRIu64 " calls in %.3f seconds", s->calls, measured),
                "make shorter runs and sum them with `monarc merge`");
    }
    if (x->fits) {
        bool has_samples = s && s->samples > 0;
        if (has_samples && 100 * summary_share(s, s->unattributed) >= OUTSIDE_PERCENT)
            report_symptom(x, SEVERITY_WARNING, "samples-outside",
                           "many samples are in no function of the program",
                           arena_printf(x->arena, "%.6g of %.6g samples (%.1f %%)", s->unattributed,
                                        s->samples, 100 * summary_share(s, s->unattributed)),
                           "they are in code without symbols (stripped objects, assembly, stubs "
                           "that call shared objects), or this is a different program");
        numbers_examine_certainty(x);
        const struct sharing *t = s ? s->sharing : NULL;
        if (t && has_samples && 1000 * t->samples >= SHARING_NOTEWORTHY_PERMILLE * s->samples)
            report_symptom(
                x,
                1000 * t->samples >= MISLEADS_PERMILLE * s->samples ? SEVERITY_WARNING
                                                                    : SEVERITY_NOTE,
                "shared-bins",
                "bins lie over several functions, whose samples cannot be told apart: the "
                "interval of each has room for all of them",
                sharing_text(t, s->samples, x->arena),
                "give the recorder smaller bins, or start functions at multiples of a bin "
                "(-falign-functions)");
        struct merged_calls m;
        merged_calls_of(&m, x->p->measured, x->p->functions);
        if (m.functions)
            report_symptom(
                x, SEVERITY_WARNING, "merged-calls",
                "calls from outside the object may be counted as another function's: "
                "glibc's recorder does not tell functions apart that begin close together",
                arena_printf(x->arena,
                             "%" PRIu32 " function%s within %d bytes of one that was "
                             "called, the first %s beside %s",
                             m.functions, m.functions == 1 ? " begins" : "s begin",
                             MERGED_CALLS_BYTES, names_get(x->names, m.first),
                             names_get(x->names, m.into)),
                "compile the object with -falign-functions=32, or record with 'monarc run'");
    }
    numbers_examine_overhead(x);
    numbers_examine_oddities(x);
}

/* --- the embedded recorder
 * -------------------------------------------------------------------------
 *
 * Its report on itself: programs of microcontrollers fail in other ways than hosted ones. */

enum { MANY_PERCENT = 10, NEARLY_ALL_PERCENT = 90, FEW_FOR_A_PATTERN = 20 };

static uint64_t percent_of(uint64_t part, uint64_t all)
{
    return all ? part * 100 / all : 0;
}

/* Whether the timer's interrupt hands in what it interrupted. */
static void examine_interrupt(struct examination *x, const struct embedded *m, uint64_t samples)
{
    /* Samples in the recorder and nowhere else: the handler's own program counter was handed in. */
    const struct functions *f = x->p->functions;
    const struct attribution *time = x->p->time;
    double sum = 0;
    for (uint32_t i = 0; f && time && i < f->len; i++)
        if (!strncmp(f->at[i].name, "monarc_embedded_sample", 22))
            sum += time->self[i];
    uint64_t own = (uint64_t)sum;
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
                       "shares are right nevertheless; hand in how often the timer interrupts");
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
            arena_printf(x->arena, "%s", why.line), "report with the file that was flashed");
    examine_interrupt(x, m, samples);
    if (!x->p->measured->arcs.len && !embedded_lost_calls(m))
        report_symptom(x, SEVERITY_WARNING, "no-calls", "no calls were counted",
                       "the table of arcs is empty",
                       "compile the program, but not the recorder, with -pg (on x86 also -mfentry) "
                       "and link the stub of its architecture; where there is none, compile with "
                       "-finstrument-functions");
    for (size_t i = 0; i < m->cores.len; i++) {
        /* More arcs than were kept and lost calls together there cannot be. */
        const struct embedded_core *c = &m->cores.at[i];
        uint64_t enough = c->used + c->lost_calls;
        enough += enough / 2;
        if (c->lost_calls) {
            uint64_t next = 2 * (uint64_t)c->slots;
            uint64_t suggested = enough < next ? enough : next;
            report_symptom(x, SEVERITY_WARNING, "arc-table-full",
                           "calls are missing: the table of arcs had no room for all callers",
                           arena_printf(x->arena,
                                        "core %" PRIu32 ": %" PRIu64 " calls lost, %" PRIu32
                                        " of %" PRIu32 " slots used",
                                        c->core, c->lost_calls, c->used, c->slots),
                           arena_printf(x->arena,
                                        "give the recorder %" PRIu64 " bytes more, %" PRIu64
                                        " slots%s; larger bins make room as well",
                                        (suggested - c->slots) * 3 * c->word, suggested,
                                        suggested == enough ? ", which will do"
                                                            : ": it may take several steps"));
        }
        if (c->nested_calls)
            report_symptom(x, SEVERITY_NOTE, "calls-in-nmi",
                           "calls were not counted because an NMI came while the table was locked",
                           arena_printf(x->arena, "core %" PRIu32 ": %" PRIu64 " calls", c->core,
                                        c->nested_calls),
                           "compile what NMIs call without -pg, or use a core with LDREX");
        if (c->saturated_samples)
            report_symptom(x, SEVERITY_WARNING, "full-bins",
                           "counters are full: time is missing where most of it was spent",
                           arena_printf(x->arena,
                                        "core %" PRIu32 ": %" PRIu64 " samples in full bins",
                                        c->core, c->saturated_samples),
                           "make shorter recordings or sample less often, and sum several "
                           "recordings with `monarc merge`");
        uint64_t all = samples + c->outside_samples;
        if (percent_of(c->outside_samples, all) >= MANY_PERCENT)
            report_symptom(
                x, SEVERITY_WARNING, "samples-outside-windows",
                "the program runs where no samples are counted",
                arena_printf(x->arena, "core %" PRIu32 ": %" PRIu64 " of %" PRIu64 " samples",
                             c->core, c->outside_samples, all),
                "code in RAM, a boot ROM or a second flash needs a window of its own in "
                "monarc_embedded_setup(); if it is all of them, the interrupt hands in a wrong "
                "program counter");
    }
}
