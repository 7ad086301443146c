/* The diagnosis of a program and the profile it left: `monarc doctor`.
 *
 * An examination asks one thing after the other, and reports a symptom where something is wrong: of
 * the program alone (symbols, debug information, instrumentation), of the file alone (missing, cut
 * off, older than the program), of both together (fit.c), and of what was measured. Recordings have
 * questions of their own (diagnosis_recording.c).
 *
 * A symptom has a name for scripts, which stays, and three sentences for people: what is wrong, how
 * that shows, what to do. What cannot be had (no program, no profile) is a symptom, and the
 * questions that need it are left out. */
#include "profile/analysis/diagnosis.h"

#include "arch/arch.h"
#include "base/path.h"
#include "profile/analysis/attribution.h"
#include "profile/model/profile.h"

#include <inttypes.h>
#include <string.h>

/* ---- The examination of what was measured: is there enough of it, is it possible, is it all
 * there?
 *
 * Questions about functions are asked only if the profile fits the program. Limits are where a
 * figure begins to mislead: 400 samples know a half to within five points; a tenth of the time that
 * is not the program's moves every share. The embedded recorder says what it lost itself, and is
 * asked instead of guessed at. */

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

static void examine_measurements(struct examination *x)
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

static void examine_embedded(struct examination *x)
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

/* The list of symptoms: adding, sorting, the worst of it. */

void report_symptom(struct examination *x, enum severity severity, const char *name,
                    const char *finding, const char *evidence, const char *remedy)
{
    vec_push(&x->d->all, (struct symptom){name, severity, finding, evidence, remedy});
}

/* By insertion: a diagnosis has few symptoms, and those of one severity keep their order. */
void diagnosis_sort(struct diagnosis *d)
{
    for (size_t i = 1; i < d->all.len; i++) {
        struct symptom moving = d->all.at[i];
        size_t k = i;
        for (; k && d->all.at[k - 1].severity < moving.severity; k--)
            d->all.at[k] = d->all.at[k - 1];
        d->all.at[k] = moving;
    }
}

void diagnosis_deinit(struct diagnosis *d)
{
    vec_free(&d->all);
}

bool diagnosis_worst(const struct diagnosis *d, enum severity *worst)
{
    if (d->all.len)
        *worst = d->all.at[0].severity;
    return d->all.len != 0;
}

/* --- the program ----------------------------------------------------------------------------- */

static const char *diagnosis_mentioned_of(struct object *o, const char *const *names, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (object_mentions(o, names[i]))
            return names[i];
    return NULL;
}

/* Runtimes of gcc and clang: functions in the program, or in a library that it needs. */
static bool diagnosis_is_for_coverage(struct object *o)
{
    static const char *const NAMES[] = {"__gcov_init", "__gcov_exit", "__gcov_dump",
                                        "llvm_gcov_init", "gcov_do_dump"};
    return diagnosis_mentioned_of(o, NAMES, sizeof NAMES / sizeof *NAMES) != NULL;
}

/* Whether it is a program for a machine without an operating system, where no recorder of ours
 * writes files: static, without a C library's start, and of another machine than this. */
static bool diagnosis_is_bare(struct object *o)
{
    const struct object_facts *facts = object_facts(o);
    const struct arch *own = arch_own();
    bool is_foreign = !own || object_machine(o) != own->machines[0];
    return is_foreign && !facts->interpreter && !facts->needed_len && !facts->is_shared_object &&
           !facts->is_stripped && !object_mentions(o, "__libc_start_main");
}

/* The same of the latter: the embedded recorder does all of it. */
static void diagnosis_examine_bare(struct examination *x)
{
    struct object *o = x->p->object;
    if (!object_mentions(o, "monarc_embedded_on") && !object_mentions(o, "monarc_embedded_setup"))
        report_symptom(x, SEVERITY_WARNING, "not-instrumented",
                       "the program runs without an operating system, and has no recorder in it",
                       "it has no dynamic linker and no C library's start, and does not mention "
                       "monarc_embedded_on",
                       "compile it with -pg and link the embedded recorder: docs/embedded.md goes "
                       "through it");
    else if (!object_call_counter(o) && !object_mentions(o, "__cyg_profile_func_enter") &&
             !(x->p->measured && x->p->measured->arcs.len))
        report_symptom(x, SEVERITY_WARNING, "not-compiled-with-pg",
                       "no function of the program was compiled with -pg: calls are not counted",
                       "it has the embedded recorder, but mentions neither mcount nor "
                       "__cyg_profile_func_enter",
                       "give -pg to the commands that compile the program, not to those that "
                       "compile the recorder");
}

/* Whether the program was compiled and linked so that calls are counted. */
static void diagnosis_examine_instrumentation(struct examination *x)
{
    static const char *const starters[] = {"__monstartup", "monstartup", "_monstartup"};
    struct object *o = x->p->object;
    const char *counter = object_call_counter(o);
    const char *starter = diagnosis_mentioned_of(o, starters, sizeof starters / sizeof *starters);
    const struct object_facts *facts = object_facts(o);
    if (facts->is_stripped && !facts->interpreter)
        return; /* a static program without symbols does not show it */
    bool has_arcs = x->p->measured && x->p->measured->arcs.len;
    if (!counter && !starter && diagnosis_is_for_coverage(o))
        report_symptom(x, SEVERITY_NOTE, "compiled-for-coverage",
                       "the program was compiled with --coverage: it counts which lines ran and "
                       "writes no gmon.out",
                       "it has the code that writes .gcda files, and does not mention mcount",
                       "for coverage: run it, then 'monarc cover' in the build folder; for time: "
                       "'monarc run', best of a build without --coverage");
    else if (!counter && !starter)
        report_symptom(x, SEVERITY_WARNING, "not-instrumented",
                       "the program was neither compiled nor linked with -pg",
                       "it mentions neither mcount nor __fentry__ nor __monstartup",
                       "record it as it is with 'monarc run', or compile and link it with -pg");
    else if (!starter && !x->p->measured)
        report_symptom(x, SEVERITY_WARNING, "not-linked-with-pg",
                       "the program was compiled with -pg but not linked with it: nothing starts "
                       "the recorder",
                       arena_printf(x->arena, "it mentions %s, but not __monstartup", counter),
                       "give -pg to the linking command as well");
    else if (!counter && !has_arcs)
        report_symptom(x, SEVERITY_WARNING, "not-compiled-with-pg",
                       "the program was linked with -pg, but no function of it was compiled with "
                       "it: calls are not counted",
                       arena_printf(x->arena, "it mentions %s, but not mcount", starter),
                       "give -pg to the compiling commands as well");
}

/* Which functions have names. */
static void diagnosis_examine_symbols(struct examination *x)
{
    enum object_symbol_source source;
    size_t len;
    /* Functions that have a symbol, and those that only the unwind tables separate. */
    const struct functions *f = x->p->functions;
    uint32_t named = 0, unnamed = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        named += f->at[i].symbol != NO_FUNCTION;
        unnamed += f->at[i].is_unwind_range;
    }
    object_symbols(x->p->object, &len, &source);
    if (!named)
        report_symptom(
            x, x->p->functions->len ? SEVERITY_WARNING : SEVERITY_ERROR, "stripped",
            unnamed ? "the program has no symbols: functions are told apart by unwind tables, and "
                      "have addresses for names"
                    : "the program has no symbols: addresses cannot be turned into names",
            object_facts(x->p->object)->has_sections
                ? "there is no .symtab, no separate debug file and no dynamic symbol "
                  "table"
                : "it has no section headers, as after a packer or sstrip: nothing says "
                  "where symbols are",
            "link without -s, profile the program before strip, or name the directory "
            "of its debug file with --debug-dir");
    else if (source == SYMBOLS_DYNSYM || source == SYMBOLS_GNU_DEBUGDATA)
        report_symptom(
            x, SEVERITY_WARNING, "stripped",
            unnamed ? "the program is stripped: only some functions have names, others have "
                      "addresses, from unwind tables"
                    : "the program is stripped: only some functions have names, and samples of "
                      "others are unattributed",
            arena_printf(x->arena, "%" PRIu32 " of %" PRIu32 " functions have names, from %s",
                         named, named + unnamed,
                         source == SYMBOLS_DYNSYM ? ".dynsym" : ".gnu_debugdata"),
            "profile the program before strip, or name the directory of its debug "
            "file with --debug-dir");
}

/* Debug information that is missing or cannot be read. */
static void diagnosis_examine_debug_info(struct examination *x)
{
    struct object_debug_gaps gaps;
    object_debug_gaps(x->p->object, &gaps);
    if (object_unread_errno(x->p->object))
        report_symptom(x, SEVERITY_ERROR, "debug-unread",
                       "debug information that may be there could not be read: lines and inlined "
                       "functions are missing",
                       gaps.refused, "make the file readable for this user, and ask again");
    else if (gaps.refused)
        report_symptom(
            x, SEVERITY_WARNING, "debug-refused",
            "debug information that is there cannot be read: lines and inlined functions "
            "are missing",
            gaps.refused,
            "link the program again, or unpack the file with objcopy "
            "--decompress-debug-sections");
    if (gaps.missing_units)
        report_symptom(
            x, SEVERITY_NOTE, "split-missing",
            "debug information that was split off is not found: inlined functions are missing",
            arena_printf(x->arena, "%zu of %zu units, the first in %s", gaps.missing_units,
                         gaps.split_units,
                         gaps.first_missing ? gaps.first_missing : "a file without a name"),
            "put the .dwo files back where they were compiled, or a package made by dwp next to "
            "the program, as PROGRAM.dwp");
}

/* Whether a library is libc, whose time is known to be missing, or the loader. What glibc has in
 * libc itself since 2.34 were libraries beside it before. */
static bool is_libc(const char *name)
{
    static const char *const PARTS[] = {"libc.",  "ld-",      "libpthread.", "libdl.",
                                        "librt.", "libutil.", NULL};
    return path_begins_with(name, PARTS);
}

/* What of the process gmon.out does not see. */
static void diagnosis_examine_surroundings(struct examination *x)
{
    struct object *o = x->p->object;
    const struct object_facts *facts = object_facts(o);
    const char *all = NULL; /* names with commas between; NULL: none */
    for (size_t i = 0; i < facts->needed_len; i++) {
        const char *name = facts->needed[i];
        if (!is_libc(name))
            all = all ? arena_printf(x->arena, "%s, %s", all, name) : name;
    }
    if (all)
        report_symptom(x, SEVERITY_NOTE, "shared-objects",
                       "time spent in shared objects is in no gmon.out",
                       arena_printf(x->arena, "it needs %s in addition to libc", all),
                       "link with -static, set LD_PROFILE for one of them, or record with "
                       "'monarc run'");
    if (object_mentions(o, "pthread_create"))
        report_symptom(x, SEVERITY_NOTE, "threads",
                       "the program starts threads: glibc's recorder loses calls that happen at "
                       "the same time in two of them",
                       "it mentions pthread_create", "record with 'monarc run', which loses none");
}

/* --- the file -------------------------------------------------------------------------------- */

/* No file: candidates nearby, or why there may be none. */
static void diagnosis_examine_missing(struct examination *x)
{
    const struct diagnosis_input *p = x->p;
    if (!p->candidates && p->object && !object_call_counter(p->object) &&
        diagnosis_is_for_coverage(p->object))
        return; /* such a program writes none, which is a symptom already */
    if (p->candidates)
        report_symptom(x, SEVERITY_ERROR, "profile-missing", "the profile does not exist",
                       arena_printf(x->arena, "%s; nearby: %s", p->profile_error, p->candidates),
                       "name one of those found");
    else
        report_symptom(
            x, SEVERITY_ERROR, "profile-missing", "there is no profile", p->profile_error,
            p->object && diagnosis_is_bare(p->object)
                ? "let the target send what it recorded, as with monarc_embedded_send(), "
                  "and make the file of that: 'monarc receive --from TTY --elf PROGRAM -o DIR'"
                : "gmon.out is written when the program exits normally, in the directory it "
                  "is in then: not after a signal or _exit(), and not where it may not write; "
                  "GMON_OUT_PREFIX=/tmp/prog names another place");
}

/* A file that cannot be read to its end: no profile at all, or one that was cut off. */
static void diagnosis_examine_truncation(struct examination *x)
{
    const struct profile *m = x->p->measured;
    bool has_some = m && (m->histograms.len || m->arcs.len || m->blocks.len);
    const char *saved = has_some ? arena_printf(x->arena,
                                                "; %" PRIu64 " samples and %" PRIu64
                                                " calls could be read before that",
                                                profile_samples(m), profile_calls(m))
                                 : "";
    bool is_unknown =
        !has_some && (!m || m->failure.what == READ_COMPLETE || m->failure.what == READ_BAD_MAGIC);
    const char *evidence = arena_printf(x->arena, "%s%s", x->p->profile_error, saved);
    if (is_unknown)
        report_symptom(x, SEVERITY_ERROR, "not-a-profile", "the file is not a profile", evidence,
                       "name a gmon.out that the program wrote");
    else
        report_symptom(x, SEVERITY_ERROR, "truncated", "the profile is cut off or damaged",
                       evidence,
                       "run again: the program was killed, or the disk was full, while it wrote; "
                       "or two processes wrote the same file: set GMON_OUT_PREFIX");
}

/* --- both ------------------------------------------------------------------------------------ */

void diagnose(struct diagnosis *d, const struct diagnosis_input *p, struct names *names,
              struct arena *a)
{
    struct examination x = {d, p, names, a, false};
    if (p->object) {
        diagnosis_examine_symbols(&x);
        diagnosis_examine_debug_info(&x);
        if (diagnosis_is_bare(p->object))
            diagnosis_examine_bare(&x);
        else if (!p->embedded)
            diagnosis_examine_instrumentation(&x);
        diagnosis_examine_surroundings(&x);
    } else {
        report_symptom(&x, SEVERITY_ERROR, "program-unreadable", "the program cannot be read",
                       p->object_error,
                       "name the program that was run, not a script that starts it");
    }
    if (p->is_missing)
        diagnosis_examine_missing(&x);
    else if (p->profile_error)
        diagnosis_examine_truncation(&x);
    int64_t built = p->object ? object_facts(p->object)->changed : 0;
    if (p->measured && built && p->profile_changed && p->profile_changed < built)
        report_symptom(
            &x, SEVERITY_WARNING, "older-than-program", "the profile is older than the program",
            arena_printf(x.arena, "it was written %" PRId64 " seconds before the program was",
                         built - p->profile_changed),
            "run the program again, or report with the program that was run then");
    struct fit fit = {.kind = FIT_WELL};
    if (p->object && p->measured) {
        fit_judge(&fit, p->measured, p->object, p->functions);
        x.fits = fit.kind == FIT_WELL;
    }
    if (fit.kind != FIT_WELL) {
        const char *evidence = fit_evidence(&fit, p->measured, p->object, x.arena);
        if (fit.kind == FIT_BIASED)
            report_symptom(&x, SEVERITY_ERROR, "load-bias",
                           "the profile has load addresses of a position-independent program",
                           evidence,
                           "link with -no-pie, or run under `setarch -R` with a recorder that "
                           "subtracts the bias, as glibc's and monarc's do");
        else
            report_symptom(&x, SEVERITY_ERROR, "other-program",
                           "the profile was not recorded by this program", evidence,
                           "report with the file that was run, not a rebuilt one; --force of the "
                           "other commands reports anyway");
    }
    if (p->measured)
        examine_measurements(&x);
    if (p->measured && p->embedded)
        examine_embedded(&x);
    diagnosis_sort(d);
}
