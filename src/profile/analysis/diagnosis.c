/* The diagnosis of a program and the profile it left: `monarc doctor`.
 *
 * An examination asks one thing after the other, and reports a symptom where something is wrong: of
 * the program alone (symbols, debug information, instrumentation), of the file alone (missing, cut
 * off, older than the program), of both together (fit.c), and of what was measured
 * (diagnosis_measurements.c). Recordings have questions of their own (diagnosis_recording.c).
 *
 * A symptom has a name for scripts, which stays, and three sentences for people: what is wrong, how
 * that shows, what to do. What cannot be had (no program, no profile) is a symptom, and the
 * questions that need it are left out. */
#include "profile/analysis/diagnosis.h"

#include "profile/analysis/diagnosis_private.h"

#include "arch/arch.h"
#include "base/path.h"

#include <inttypes.h>
#include <string.h>

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
    else if (p->object && diagnosis_is_bare(p->object))
        report_symptom(x, SEVERITY_ERROR, "profile-missing", "there is no profile",
                       p->profile_error,
                       "let the target send what it recorded, as with monarc_embedded_send(), and "
                       "make the file of that: 'monarc receive --from TTY --elf PROGRAM -o DIR'");
    else
        report_symptom(x, SEVERITY_ERROR, "profile-missing", "there is no profile",
                       p->profile_error,
                       "gmon.out is written when the program exits normally, in the directory it "
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
