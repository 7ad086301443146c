/* The examination of a recording: files that have changed since, code without symbols, stacks that
 * are not whole, time that is in no sample, processes that were not seen.
 *
 * Most symptoms have the share of samples that they concern as weight: from 1 % on they are worth a
 * note, from 10 % on they mislead. Names and remedies are those of the manual's table; a recording
 * says itself what it lost, by kind, with an amount. Cost: linear in nodes and functions. */
#include "profile/analysis/diagnosis.h"

#include "profile/analysis/recording/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share of 50 % is known to +- 5 points from 400 samples (two standard errors, sqrt(0.25 /
 * n)), and to +- 18 from 30. */
enum { MOST_NAMED = 3 };

/* Shares of all samples from which on something is said, or misleads. Rules of thumb. 0.1 of the
 * time in the wrong function changes what one would work on; below 0.01 it is within the error
 * of most recordings. All are parts of the recorded samples, but ACCOUNTED, which is of the CPU
 * time that the kernel counted. */
static const double WORTH_A_NOTE = 0.01, MISLEADS = 0.1, KERNEL_HEAVY = 0.3, WHOLE = 0.99,
                    HARDLY_WHOLE = 0.9, ACCOUNTED = 0.95, READY_HEAVY = 0.1, SPINS = 0.03;

/* `by_object` is summed up once, since most checks ask for it. */
struct recording_examination {
    struct examination x;
    const struct recording_diagnosis_input *p;
    double *by_object; /* self samples of each */
};

/* 0 to 1. Without samples each share is 0, and no threshold is reached. */
static double diagnosis_share(const struct recording_examination *r, double samples)
{
    return r->p->weights->total > 0 ? samples / r->p->weights->total : 0;
}

/* --- files ----------------------------------------------------------------------------------- */

/* Whether the file of an object is there, and the one that was recorded. */
static void diagnosis_examine_file(struct recording_examination *r, uint32_t i)
{
    const struct space_object *o = &r->p->space->objects[i];
    const char *path = o->recorded->path;
    double part = diagnosis_share(r, r->by_object[i]);
    if (o->recorded->is_listed) /* all that is known of it is in the recording */
        return;
    if (!o->file && o->is_other)
        report_symptom(
            &r->x, SEVERITY_ERROR, "other-build",
            i == r->p->space->main ? "the program has been rebuilt since it was recorded"
                                   : "a library is not the one that was recorded",
            arena_printf(r->x.arena, "the build-id of %s is not the one in the recording", path),
            "record again, or name the old file with --symbols; 'monarc symbols --from DIR' puts "
            "its names into the recording");
    else if (!o->file && (part >= WORTH_A_NOTE || i == r->p->space->main))
        report_symptom(&r->x, part >= MISLEADS ? SEVERITY_WARNING : SEVERITY_NOTE, "no-file",
                       o->recorded->is_deleted ? "a file was deleted or replaced while it ran"
                                               : "a recorded file no longer exists",
                       arena_printf(r->x.arena, "%s has %.1f %% of the samples", path, 100 * part),
                       "'monarc symbols --from DIR', with a folder where the file is now, puts its "
                       "names into the recording; --debuginfod asks a server for them");
}

/* Samples in code of an object that no symbol names. */
static void diagnosis_examine_symbols_of(struct recording_examination *r, uint32_t i)
{
    const struct functions *f = r->p->functions;
    const struct space_object *o = &r->p->space->objects[i];
    double samples = 0;
    bool has_ranges = false;
    for (uint32_t k = 0; k < f->len; k++)
        if (f->at[k].object == i && f->at[k].is_made) {
            samples += r->p->stacks->self[k];
            has_ranges |= f->at[k].is_unwind_range && r->p->stacks->self[k] > 0;
        }
    double part = diagnosis_share(r, samples);
    if (part < WORTH_A_NOTE)
        return;
    report_symptom(
        &r->x, part >= MISLEADS ? SEVERITY_WARNING : SEVERITY_NOTE, "no-symbols",
        has_ranges ? "code without symbols: functions have addresses for names"
                   : "code without symbols: functions cannot be told apart",
        arena_printf(r->x.arena, "%.1f %% of the samples are in %s where it has no symbol",
                     100 * part, o->recorded->path),
        "'monarc symbols --debuginfod', or --from with a folder of debug files (packages "
        "-dbgsym, -debuginfo), puts its names into the recording; or link it without -s");
}

/* --- where the time is ----------------------------------------------------------------------- */

/* Most first, equal ones by number: the text must be the same each time. */
static int diagnosis_by_self(const void *left, const void *right, void *context)
{
    const double *self = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return self[l] != self[r] ? (self[l] < self[r] ? 1 : -1) : (l > r) - (l < r);
}

/* The dearest functions of a kind of object, with their shares. "copy_page 12.1 %, clear_page
 * 8.0 %, do_syscall_64 3.3 %" */
static const char *diagnosis_dearest(struct recording_examination *r, uint32_t kind)
{
    const struct functions *f = r->p->functions;
    struct arena scratch = {0};
    uint32_t *of_kind = ARENA_NEW(&scratch, uint32_t, f->len), len = 0;
    const char *text = "";
    for (uint32_t i = 0; i < f->len; i++)
        if (r->p->space->objects[f->at[i].object].recorded->kind == kind &&
            r->p->stacks->self[i] > 0)
            of_kind[len++] = i;
    qsort_r(of_kind, len, sizeof *of_kind, diagnosis_by_self, r->p->stacks->self);
    for (uint32_t i = 0; i < len && i < MOST_NAMED; i++)
        text =
            arena_printf(r->x.arena, "%s%s%s %.1f %%", text, i ? ", " : "", f->at[of_kind[i]].name,
                         100 * diagnosis_share(r, r->p->stacks->self[of_kind[i]]));
    arena_deinit(&scratch);
    return text;
}

/* What part of the samples hit objects of a kind. */
static double diagnosis_share_of_kind(const struct recording_examination *r, uint32_t kind)
{
    double samples = 0;
    for (uint32_t i = 0; i < r->p->space->len; i++)
        if (r->p->space->objects[i].recorded->kind == kind)
            samples += r->by_object[i];
    return diagnosis_share(r, samples);
}

/* Time that no change of the program's own code makes less, or that has no names. */
static void diagnosis_examine_kernel(struct recording_examination *r)
{
    double kernel = diagnosis_share_of_kind(r, RECORDING_OBJECT_KERNEL);
    double generated = diagnosis_share_of_kind(r, RECORDING_OBJECT_GENERATED);
    if (kernel >= KERNEL_HEAVY)
        report_symptom(
            &r->x, SEVERITY_NOTE, "kernel-heavy", "much of the time is in the kernel",
            diagnosis_dearest(r, RECORDING_OBJECT_KERNEL),
            "'monarc graph --callers' of one of these says who asks for it: fewer and larger "
            "calls, or memory that is used again, make it less");
    if (generated >= WORTH_A_NOTE &&
        strstr(diagnosis_dearest(r, RECORDING_OBJECT_GENERATED), "[generated code]"))
        report_symptom(&r->x, SEVERITY_NOTE, "generated-code", "generated code has no names",
                       diagnosis_dearest(r, RECORDING_OBJECT_GENERATED),
                       "let the program write /tmp/perf-PID.map (node --perf-basic-prof, java with "
                       "perf-map-agent or -XX:+DumpPerfMapAtExit)");
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* Samples below a cut, by the object of the frame whose caller is not known, and in `deep` those of
 * stacks that no copy holds. Nodes follow their parents, so going backwards each has the sum of its
 * subtree when its turn comes. A cut is a node of its own where the outermost known frame's caller
 * should be. */
static double *diagnosis_cut_by_object(struct recording_examination *r, double *deep)
{
    const struct recording *recording = r->p->space->recording;
    double *below = ARENA_NEW(r->x.arena, double, recording->nodes.len);
    double *objects = ARENA_NEW(r->x.arena, double, r->p->space->len);
    for (size_t i = recording->nodes.len; i-- > 1;) {
        const struct recording_node *n = &recording->nodes.at[i];
        below[i] += r->p->weights->node[i];
        below[n->parent] += below[i];
        if (space_is_cut(r->p->space, n->parent)) {
            objects[n->object] += below[i];
            if (recording->nodes.at[n->parent].address == RECORDING_CUT_DEEP)
                *deep += diagnosis_share(r, below[i]);
        }
    }
    return objects;
}

/* Stacks that end early hide who called; names the objects in which most of them end. Takes the
 * figure of the head. */
static void diagnosis_examine_stacks(struct recording_examination *r)
{
    double deep = 0, whole = r->p->run->complete >= 0 ? r->p->run->complete : 1;
    double *objects = diagnosis_cut_by_object(r, &deep);
    bool is_of_depth = deep > (1 - whole) / 2; /* and not for want of tables */
    const char *text = "";
    bool has_none = recording_has_names_alone(r->p->space->recording) &&
                    stacks_lack_callers(r->p->stacks); /* which is said below */
    if (whole >= WHOLE || !r->p->weights->taken || has_none)
        return;
    for (uint32_t n = 0; n < MOST_NAMED; n++) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < r->p->space->len; i++)
            most = objects[i] > objects[most] ? i : most;
        if (!(diagnosis_share(r, objects[most]) > 0.001))
            break;
        text = arena_printf(r->x.arena, "%s; %.1f %% end in %s", text,
                            100 * diagnosis_share(r, objects[most]),
                            space_object_name(r->p->space, most));
        objects[most] = 0;
    }
    report_symptom(
        &r->x, whole < HARDLY_WHOLE ? SEVERITY_WARNING : SEVERITY_NOTE, "incomplete-stacks",
        "some stacks are incomplete: totals of outer functions are too low",
        arena_printf(r->x.arena, "%.1f %% are complete, by %s%s", 100 * whole,
                     recording_is_of_time(r->p->run) ? "time" : "count", text),
        is_of_depth ? "'monarc run --method ptrace' reads stacks of any depth, and so do "
                      "perf events as root"
                    : "rows [stack cut: ...] in 'monarc graph' say why; compile your "
                      "own code with -fasynchronous-unwind-tables or "
                      "-fno-omit-frame-pointer");
}

/* --- what was not seen ----------------------------------------------------------------------- */

/* A finding and a remedy for each kind of loss; the recorder's own text is the evidence. Where
 * the finding is NULL, that text is the finding. */
struct loss_row {
    const char *name, *finding, *remedy;
    enum severity severity;
};

static const struct loss_row LOSS_ROWS[RECORDING_LOSSES] = {
    [RECORDING_LOST_RECORDS] =
        {"lost-records", "records were lost",
         "record with a lower --rate, or give the recorder more locked memory "
         "(ulimit -l, kernel.perf_event_mlock_kb)",
         SEVERITY_WARNING},
    [RECORDING_LOST_THROTTLED] =
        {"throttled", "the kernel throttled sampling",
         "record with a lower --rate or a longer period=, or raise "
         "kernel.perf_event_max_sample_rate; sums of events stay right but are coarser",
         SEVERITY_NOTE},
    [RECORDING_LOST_UNPLACED] = {"unplaced-time", "CPU time without samples",
                                 "a higher --rate sees more of short threads and processes",
                                 SEVERITY_NOTE},
    [RECORDING_LOST_KERNEL] =
        {"kernel-unseen",
         "only the amount of kernel time is known; where it was spent is estimated or unknown",
         "'setcap cap_perfmon=ep' on monarc, or kernel.perf_event_paranoid=1", SEVERITY_NOTE},
    [RECORDING_LOST_UNSEEN] = {"unseen-time", "processes that were not recorded used CPU time",
                               "'monarc flat --by-process' lists them", SEVERITY_WARNING},
    [RECORDING_LOST_STOPPED] = {"stopped", "the program paused its recording",
                                "nothing, if that was intended: monarc_rt_stop() was called",
                                SEVERITY_NOTE},
    [RECORDING_LOST_OTHER] = {"recorder-note", NULL, "docs/recording.md says what it takes",
                              SEVERITY_NOTE},
};

bool recording_is_import(const struct recording *r)
{
    return recording_text(r, "perf") || r->method == RECORDING_METHOD_NONE ||
           recording_has_names_alone(r);
}

bool recording_hides_waits(const struct recording *r)
{
    enum { SECOND = 1000 * 1000 * 1000, PART = 10 };
    uint64_t used_ns = recording_used_ns(r);
    /* No sample of a clock that nothing kept from running says that no CPU time was used. */
    bool has_waits = recording_covers_waits(r),
         is_known = used_ns > 0 ||
                    (r->method != RECORDING_METHOD_PROCESS && !r->samples.len && !r->losses.len &&
                     r->events.len && r->events.at[0].unit == RECORDING_UNIT_NS);
    for (size_t i = 0; i < r->processes.len; i++)
        is_known &= used_ns > 0 || !r->processes.at[i].why_unseen;
    if (recording_is_import(r) || !r->rate || r->length_ns < SECOND || !is_known ||
        used_ns >= r->length_ns / PART)
        return false;
    for (uint32_t i = 0; i < r->nodes.len && !has_waits; i++)
        has_waits = recording_is_wait(r, i);
    return !has_waits;
}

const char *recording_more_samples(const struct recording *r, struct arena *a)
{
    if (recording_hides_waits(r)) {
        static const char advice[] = "record with --off-cpu to see what it waited for";
        double used = (double)recording_used_ns(r) / 1e9, least = 0.0005; /* prints as 0.000 */
        return used < least ? advice
                            : arena_printf(a, "%.3f s of CPU in %.1f s; %s", used,
                                           (double)r->length_ns / 1e9, advice);
    }
    return recording_is_import(r) || recording_is_throttled(r)
               ? "run it for longer"
               : "run it for longer, or with a higher --rate";
}

/* What the recorder itself says that it lost. Any loss of more than a twentieth of the CPU time
 * is a warning, whatever its kind usually is. */
static void diagnosis_examine_losses(struct recording_examination *r)
{
    const struct recording *recording = r->p->space->recording;
    double used = (double)r->p->run->cpu_ns;
    for (size_t i = 0; i < recording->losses.len; i++) {
        const struct recording_loss *l = &recording->losses.at[i];
        const struct loss_row *row = &LOSS_ROWS[l->kind];
        bool is_large = l->ns && used > 0 && (double)l->ns / used > 1 - ACCOUNTED;
        if (!l->count && !l->ns)
            continue;
        bool is_note = l->kind == RECORDING_LOST_OTHER && recording_is_import(recording);
        const char *remedy = l->kind == RECORDING_LOST_UNPLACED && recording_is_throttled(recording)
                                 ? "raise kernel.perf_event_max_sample_rate: the kernel throttled "
                                   "this --rate, and a higher one would see more"
                             : is_note ? "docs/import.md says what is taken of such a file"
                                       : row->remedy;
        const char *amount = l->ns && l->count > 1
                                 ? arena_printf(r->x.arena, "%.3f s, %" PRIu64 " times",
                                                (double)l->ns / 1e9, l->count)
                             : l->ns ? arena_printf(r->x.arena, "%.3f s", (double)l->ns / 1e9)
                                     : arena_printf(r->x.arena, "counted %" PRIu64, l->count);
        report_symptom(&r->x, is_large ? SEVERITY_WARNING : row->severity,
                       is_note ? "import-note" : row->name, row->finding ? row->finding : l->text,
                       row->finding ? arena_printf(r->x.arena, "%s: %s", amount, l->text) : amount,
                       remedy);
    }
}

/* How long a thread has been in how many functions. */
struct thread_time {
    double weight, samples, changes; /* changes: samples in another function than the one before */
    uint32_t function;
};

/* Threads whose clocks kept their periods: a rhythm of the program may be in step with one. That
 * matters where few of them have much of the time, and functions alternate about as fast as
 * samples come; the errors of many clocks average out, and long phases are hit by any. `kept *
 * kept / squares` is how many clocks of equal weight the time is worth (the effective number of
 * Kish); hence the last comparison. */
static void diagnosis_examine_clocks(struct recording_examination *r)
{
    enum { FEW_CLOCKS = 8, FEWEST_SAMPLES = 50 };
    static const double ALTERNATES = 0.1;
    const struct recording *recording = r->p->space->recording;
    struct arena scratch = {0};
    struct thread_time *time = ARENA_NEW(&scratch, struct thread_time, recording->threads.len);
    uint32_t *threads = ARENA_NEW(&scratch, uint32_t, recording->processes.len);
    bool *is_redrawn = recording_redrawn_threads(recording, 0, &scratch);
    double all = 0, kept = 0, squares = 0;
    uint32_t clocks = 0;
    for (size_t i = 0; i < recording->samples.len; i++) {
        const struct recording_sample *s = &recording->samples.at[i];
        struct thread_time *t = &time[s->thread];
        uint32_t function = space_function_of(r->p->space, s->node);
        if (s->event || !s->count || recording_is_wait(recording, s->node))
            continue;
        t->changes += t->samples > 0 && function != t->function;
        t->function = function;
        t->samples += s->count;
        t->weight += (double)s->weight;
        all += (double)s->weight;
    }
    for (size_t i = 0; i < recording->threads.len; i++)
        threads[recording->threads.at[i].process]++;
    for (size_t i = 0; i < recording->threads.len; i++) {
        const struct thread_time *t = &time[i];
        if (is_redrawn[i] || threads[recording->threads.at[i].process] < 2 ||
            t->samples < FEWEST_SAMPLES || t->changes < ALTERNATES * t->samples)
            continue;
        kept += t->weight;
        squares += t->weight * t->weight;
        clocks++;
    }
    arena_deinit(&scratch);
    if (recording->method != RECORDING_METHOD_PERF &&
        recording->method != RECORDING_METHOD_PERF_USER)
        return;
    if (!recording->rate || !clocks || kept < MISLEADS * all || kept * kept > FEW_CLOCKS * squares)
        return;
    report_symptom(
        &r->x, SEVERITY_NOTE, "kept-periods",
        "threads were sampled at even distances, with which their own rhythm may be in step",
        arena_printf(r->x.arena,
                     "%" PRIu32
                     " thread%s with %.1f %% of the CPU time; those of a process that has "
                     "several keep the sampling period that each draws at its start",
                     clocks, clocks == 1 ? "" : "s", 100 * kept / all),
        "if one of them does the same every few milliseconds or faster, its shares may be off by "
        "more than +- says: 'monarc run --repeat 5' draws other periods for each run and shows how "
        "far they differ");
}

/* Time that a thread was ready to run, but had no CPU: other programs, too many threads, or a
 * limit of CPU time that a control group has, as containers do. None of it is the code's. The
 * text is "12 of 340": periods in which the group was held back, of all, from its cpu.stat
 * (nr_throttled, nr_periods; cgroup-v2.rst of the kernel). */
static void diagnosis_examine_ready(struct recording_examination *r)
{
    const struct recording *recording = r->p->space->recording;
    const char *throttled = recording_text(recording, "throttled");
    uint64_t held = 0, periods = 0;
    double ready = 0;
    for (size_t i = 1; i < recording->nodes.len; i++)
        if (recording->objects.at[recording->nodes.at[i].object].kind == RECORDING_OBJECT_WAIT &&
            recording->nodes.at[i].address == RECORDING_WAIT_READY)
            ready += r->p->weights->node[i];
    if (throttled && sscanf(throttled, "%" SCNu64 " of %" SCNu64, &held, &periods) == 2 && held)
        report_symptom(
            &r->x, held * 10 >= periods ? SEVERITY_WARNING : SEVERITY_NOTE, "cpu-limit",
            "the job was held back: its control group had used up its CPU time", throttled,
            "raise the limit (cpu.max, 'docker run --cpus', limits.cpu of Kubernetes), or use "
            "fewer threads than it has CPUs: bursts of many threads use a period up at once");
    if (diagnosis_share(r, ready) >= READY_HEAVY)
        report_symptom(&r->x, SEVERITY_WARNING, "no-free-cpu",
                       "threads that could run often had to wait for a CPU",
                       arena_printf(r->x.arena, "%.1f %% of the recorded time is [ready to run]",
                                    100 * diagnosis_share(r, ready)),
                       "measure on an idle machine, or with fewer threads than CPUs: elapsed times "
                       "of this run depend on other programs");
}

/* Libraries that hardly compute themselves: they use a CPU for threads that wait for others, and
 * poll before they sleep. So a wait looks like work, and no recording of waits has it. */
struct spinner {
    const char *library;
    enum library_spins spins;
    const char *name, *finding, *remedy;
};

#define SPINS_OPENMP                                                                              \
    LIBRARY_SPINS_FOR_THREADS, "openmp-spins",                                                    \
        "threads of OpenMP wait for each other by spinning, which looks like work",               \
        "OMP_WAIT_POLICY=passive in the environment lets them sleep, and 'monarc run --off-cpu' " \
        "shows the waits; loops that share their work evenly (schedule(dynamic)) and fewer, "     \
        "larger parallel regions shorten them"
#define SPINS_MPI                                                                                  \
    LIBRARY_SPINS_FOR_PROCESSES, "mpi-polls",                                                      \
        "ranks wait for messages by polling, which looks like work",                               \
        "'monarc ranks' shows which ranks the others wait for; what a message itself costs is in " \
        "here as well"

static const struct spinner SPINNERS[] = {
    {"libgomp.so", SPINS_OPENMP},  {"libomp.so", SPINS_OPENMP}, {"libiomp5.so", SPINS_OPENMP},
    {"libopen-pal.so", SPINS_MPI}, {"libmpi.so", SPINS_MPI},    {"libmpich.so", SPINS_MPI},
    {"libucp.so", SPINS_MPI},      {"libuct.so", SPINS_MPI},
};

static const struct spinner *diagnosis_spinner(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof SPINNERS / sizeof *SPINNERS; i++)
        if (!strncmp(base, SPINNERS[i].library, strlen(SPINNERS[i].library)))
            return &SPINNERS[i];
    return NULL;
}

enum library_spins diagnosis_library_spins(const char *path)
{
    const struct spinner *s = diagnosis_spinner(path);
    return s ? s->spins : LIBRARY_WORKS;
}

/* One finding a library: its time alone says how much of the waiting there is. */
static void diagnosis_examine_spinning(struct recording_examination *r)
{
    for (uint32_t i = 0; i < r->p->space->len; i++) {
        const struct space_object *o = &r->p->space->objects[i];
        bool is_file = o->recorded->kind == RECORDING_OBJECT_FILE;
        const struct spinner *s = is_file ? diagnosis_spinner(o->recorded->path) : NULL;
        double part = diagnosis_share(r, r->by_object[i]);
        if (s && part >= SPINS)
            report_symptom(&r->x, part >= MISLEADS ? SEVERITY_WARNING : SEVERITY_NOTE, s->name,
                           s->finding,
                           arena_printf(r->x.arena, "%.1f %% of the samples are in %s itself",
                                        100 * part, o->recorded->path),
                           s->remedy);
    }
}

/* Processes that ran and were not, or not wholly, recorded. */
static void diagnosis_examine_processes(struct recording_examination *r)
{
    const struct recording *recording = r->p->space->recording;
    uint32_t unseen = 0;
    const char *first = NULL;
    for (size_t i = 0; i < recording->processes.len; i++) {
        const struct recording_process *p = &recording->processes.at[i];
        if (p->why_unseen && !first)
            first = arena_printf(r->x.arena, "%s (%" PRIu32 "): %s",
                                 recording_program_name(recording, p), p->pid, p->why_unseen);
        unseen += p->why_unseen != NULL;
    }
    if (!unseen)
        return;
    report_symptom(&r->x, SEVERITY_WARNING, "unseen-processes",
                   "not all processes were fully recorded",
                   arena_printf(r->x.arena, "%" PRIu32 " of %zu, first %s", unseen,
                                recording->processes.len, first),
                   "'monarc flat --by-process' lists them, with the reasons");
}

/* --- locks ----------------------------------------------------------------------------------- */

/* What holders of a lock mostly waited in, and what part of the lock's time: "in fsync". `all` is
 * the part in which they waited in anything. */
static double diagnosis_held_in(const struct locks *t, const struct lock *lock, struct arena *a,
                                const char **what, double *all)
{
    double best = 0;
    for (size_t i = 0; i < lock->holders_len; i++) {
        const struct lock_holder *h = &lock->holders[i];
        const char *call = h->stack == RECORDING_NONE ? NULL : t->stacks[h->stack].call;
        double part = 0;
        if (h->depth || h->doing != RECORDING_DOING_WAIT || !call || !*call)
            continue;
        *all += (double)h->ns / (double)lock->ns;
        for (size_t k = 0; k < lock->holders_len; k++) {
            const struct lock_holder *o = &lock->holders[k];
            bool is_same = !o->depth && o->doing == h->doing && o->stack != RECORDING_NONE &&
                           t->stacks[o->stack].call && !strcmp(t->stacks[o->stack].call, call);
            part += is_same ? (double)o->ns / (double)lock->ns : 0;
        }
        if (part <= best)
            continue;
        best = part;
        bool is_futex = h->waits_for && !strcmp(call, "futex");
        *what = is_futex ? arena_printf(a, "waiting for %s", h->waits_for)
                         : arena_printf(a, "in %s", call);
    }
    return best;
}

/* What has no name is described by where it is waited for. */
static const char *diagnosis_lock_name(const struct locks *t, const struct lock *lock,
                                       struct arena *a)
{
    if (lock->name)
        return lock->name;
    return arena_printf(a, "a %s in %s", lock->kind,
                        lock->function == NO_FUNCTION ? "code that is not known"
                                                      : names_get(t->names, lock->function));
}

/* A finding for each circle of threads, however many locks are in it. */
static void diagnosis_examine_deadlocks(struct recording_examination *r, const struct locks *t)
{
    for (uint32_t number = 1; number <= t->deadlocks; number++) {
        const char *list = NULL;
        bool has_lock = false;
        size_t len = 0;
        for (size_t i = 0; i < t->len; i++) {
            const struct lock *lock = &t->rows[i];
            if (lock->deadlock != number)
                continue;
            has_lock |= lock->is_lock;
            if (++len <= MOST_NAMED)
                list = arena_printf(r->x.arena, "%s%s%s", list ? list : "", list ? ", " : "",
                                    diagnosis_lock_name(t, lock, r->x.arena));
        }
        if (len > MOST_NAMED)
            list = arena_printf(r->x.arena, "%s and %zu more", list, len - MOST_NAMED);
        if (has_lock)
            report_symptom(&r->x, SEVERITY_WARNING, "deadlock",
                           "threads waited for each other in a circle",
                           arena_printf(r->x.arena, "for %s", list),
                           "take locks in the same order everywhere; 'monarc waits' shows who "
                           "waited for whom");
    }
}

/* Locks that are held while their holder waits itself, or by threads that are gone. A lock is worth
 * a finding where half of its waiting is for a holder that waits itself, and where it has a
 * hundredth of all waiting: three of these are named, so that a program with many locks keeps a
 * report that can be read. The table is made anew here, as 'monarc waits' makes it. */
static void diagnosis_examine_locks(struct recording_examination *r)
{
    static const double MOSTLY = 0.5, MUCH_WAITING = 0.01;
    struct named_frames frames;
    struct names names;
    struct locks t;
    const struct recording *recording = r->p->space->recording;
    if (!recording->links.len)
        return;
    named_frames_make(&frames,
                      &(struct call_frames_input){.recording = recording,
                                                  .functions = r->p->functions,
                                                  .function = r->p->space->function,
                                                  .is_piece = r->p->space->is_piece},
                      r->x.arena);
    names_init(&names, &frames.functions, "auto", r->x.arena);
    locks_make(&t,
               &(struct locks_input){.recording = recording,
                                     .choice = &(struct recording_choice){0},
                                     .frames = &frames,
                                     .names = &names,
                                     .demangle = "auto"},
               r->x.arena);
    uint32_t named = 0;
    diagnosis_examine_deadlocks(r, &t);
    for (size_t i = 0; i < t.len; i++) {
        const struct lock *lock = &t.rows[i];
        const char *name = diagnosis_lock_name(&t, lock, r->x.arena), *what = NULL;
        uint64_t ended = 0;
        for (size_t k = 0; k < lock->holders_len; k++)
            ended += lock->holders[k].doing == RECORDING_DOING_ENDED;
        if (lock->is_lock && ended)
            report_symptom(&r->x, SEVERITY_WARNING, "lock-abandoned",
                           "a thread ended without letting a lock go",
                           arena_printf(r->x.arena, "others waited for %s", name),
                           "unlock before the thread returns or is cancelled, or make the mutex "
                           "robust (pthread_mutexattr_setrobust)");
        double all = 0, part = lock->ns ? diagnosis_held_in(&t, lock, r->x.arena, &what, &all) : 0;
        if (lock->is_lock && !lock->deadlock && all >= MOSTLY && named < MOST_NAMED &&
            (double)lock->ns >= MUCH_WAITING * (double)t.waited_ns) {
            named++;
            report_symptom(&r->x, SEVERITY_NOTE, "lock-held-waiting",
                           "a lock is held by threads that wait themselves",
                           part >= MOSTLY
                               ? arena_printf(r->x.arena,
                                              "%.0f %% of waiting for %s is while another thread "
                                              "is %s (%.3f s in all)",
                                              100 * part, name, what, (double)lock->ns / 1e9)
                               : arena_printf(r->x.arena,
                                              "%.0f %% of waiting for %s is while the thread that "
                                              "has it waits, %.0f %% %s (%.3f s in all)",
                                              100 * all, name, 100 * part, what,
                                              (double)lock->ns / 1e9),
                           "let the lock go before that call, or let it guard less; 'monarc waits' "
                           "has the stacks");
        }
    }
}

/* Whether there are samples, and enough of them. */
static void diagnosis_examine_samples(struct recording_examination *r)
{
    const struct recording *recording = r->p->run->recording;
    const struct recording_weights *w = r->p->weights;
    bool has_none = !w->weight && recording->rate;
    if (!has_none && (!w->taken || w->effective >= FEW_SAMPLES))
        return;
    const char *evidence = arena_printf(r->x.arena, "%" PRIu64 " samples", w->taken);
    const char *remedy = recording_more_samples(recording, r->x.arena);
    if (!recording_hides_waits(recording))
        remedy = arena_printf(r->x.arena,
                              "%s; 'monarc merge' sums several runs: four times the samples halve "
                              "the uncertainty",
                              remedy);
    if (has_none)
        report_symptom(&r->x, SEVERITY_WARNING, "no-samples", "nothing was sampled", evidence,
                       remedy);
    else
        report_symptom(&r->x, w->effective < VERY_FEW_SAMPLES ? SEVERITY_WARNING : SEVERITY_NOTE,
                       "few-samples", "there are too few samples to see small differences",
                       evidence, remedy);
}

/* Checks are in any order, as diagnosis_sort() puts the worst first. The recorder's own library
 * is no part of what is examined, nor are objects that no sample hit. */
void diagnose_run(struct diagnosis *d, const struct recording_diagnosis_input *p, struct arena *a)
{
    struct recording_examination r = {.x = {.d = d, .arena = a}, .p = p};
    const struct functions *f = r.p->functions;
    r.by_object = ARENA_NEW(r.x.arena, double, r.p->space->len);
    for (uint32_t i = 0; i < f->len; i++)
        r.by_object[f->at[i].object] += r.p->stacks->self[i];
    for (uint32_t i = 0; i < r.p->space->len; i++) {
        const struct space_object *o = &r.p->space->objects[i];
        if (o->recorded->kind != RECORDING_OBJECT_FILE || !o->is_used || space_is_recorder(o))
            continue;
        diagnosis_examine_file(&r, i);
        if (o->file)
            diagnosis_examine_symbols_of(&r, i);
    }
    diagnosis_examine_samples(&r);
    const struct recording_summary *s = r.p->run;
    if (s->has_cpu && (double)s->accounted_ns < ACCOUNTED * (double)s->cpu_ns)
        report_symptom(&r.x, SEVERITY_WARNING, "unaccounted",
                       "much of the CPU time that was used is in no sample",
                       arena_printf(r.x.arena, "%.3f s of %.3f s are accounted for",
                                    (double)s->accounted_ns / 1e9, (double)s->cpu_ns / 1e9),
                       "the other findings say where the rest is, if that is known");
    diagnosis_examine_losses(&r);
    diagnosis_examine_clocks(&r);
    diagnosis_examine_ready(&r);
    diagnosis_examine_spinning(&r);
    diagnosis_examine_processes(&r);
    diagnosis_examine_stacks(&r);
    diagnosis_examine_kernel(&r);
    diagnosis_examine_locks(&r);
    /* How samples were taken, where that makes them coarse. */
    uint32_t method = r.p->space->recording->method;
    if (method == RECORDING_METHOD_PTRACE)
        report_symptom(
            &r.x, SEVERITY_NOTE, "coarse-method",
            "samples were taken by stopping threads, since perf events were refused",
            "the recording says so",
            "'setcap cap_perfmon=ep' on monarc, or a lower kernel.perf_event_paranoid, for "
            "finer ones; if perf events are permitted, their buffers found no room: raise "
            "kernel.perf_event_mlock_kb or ulimit -l");
    if (r.p->weights->taken && stacks_lack_callers(r.p->stacks))
        report_symptom(&r.x, SEVERITY_NOTE, "no-callers", "callers are unknown",
                       "hardly any stack is deeper than one frame",
                       recording_text(r.p->space->recording, "perf")
                           ? "perf record --call-graph dwarf records them"
                       : recording_has_names_alone(r.p->space->recording)
                           ? "the file that was imported has none; record with monarc run"
                           : "record with stacks (without --no-stacks); for the recorder inside, "
                             "compile with -fno-omit-frame-pointer");
    diagnosis_sort(d);
}

void diagnose_unreadable(struct diagnosis *d, const char *why)
{
    struct examination x = {.d = d};
    report_symptom(&x, SEVERITY_ERROR, "recording-unreadable", "the recording cannot be used", why,
                   "'monarc recover' completes what a killed program left");
}
