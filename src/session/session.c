/* Opening what a command was given: a program with its profiles, or recordings.
 *
 * The contents of files distinguish operands, never their names, in this order: a folder or another
 * profiler's file is a recording; everything else is PROGRAM [PROFILE...]. Without a profile, the
 * newer of gmon.out and PROGRAM.monarc is taken, and the other one is mentioned.
 *
 *   PROGRAM PROFILE...  object, functions ─► profile ─► fit ─► self times ┐
 *                                                                         ├─► graph, names,
 *   RECORDING...        recorded_open(): functions, stacks, self times ───┘   summary
 *
 * After the junction no report asks which of the two it was, but for `summary.run` and
 * `summary.stacks`, which only a recording has.
 *
 * What holds throughout: a profile that the program cannot have left is refused unless --force
 * says otherwise (diagnosis.h); all pointers of a session live in its arena, its object files, or
 * the options that it was opened with; opening costs what reading the files costs, plus the graph,
 * which is linear in functions and arcs. */
#include "session/session.h"

#include "base/path.h"
#include "profile/analysis/attribution.h"
#include "session/arcs_profile.h"
#include "session/coverage.h"
#include "session/imported.h"
#include "session/recorded.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- operands -------------------------------------------------------------------------------- */

/* Profiles, or counters of arc profiling, but not both. A sum of seconds and counts of arcs means
 * nothing, so operands are all of one kind. */
static bool session_take_counters(struct session_options *o, struct err *e)
{
    size_t counters = 0;
    for (size_t i = 0; i < o->profiles_len; i++)
        counters += is_coverage_operand(o->profiles[i]);
    o->are_counters = counters > 0;
    return !counters || counters == o->profiles_len ||
           err_in(e, o->program, "cannot mix coverage counters and profiles; name one kind");
}

/* Files that are written within a second of each other are common: a test suite's runs. */
static bool session_is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* Named are recordings as `monarc run` names them; other folders, and files of other profilers, are
 * taken only on request. A recording's time is that of its file, since a folder's changes with
 * whatever is put into it. Cost: a look at each NAME.monarc of the folder. */
bool session_find_newest(struct session_newest *n, const char *command, struct err *e)
{
    struct timespec newest = {0};
    struct stat st;
    *n = (struct session_newest){.operand = n->name};
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[sizeof n->name + sizeof "/monarc.side"];
        size_t len = strlen(entry->d_name);
        if (!path_has_suffix(entry->d_name, ".monarc") || len >= sizeof n->name)
            continue;
        snprintf(file, sizeof file, "%s/monarc.side", entry->d_name);
        if (stat(file, &st) || !S_ISREG(st.st_mode) || !session_is_later(st.st_mtim, newest))
            continue;
        newest = st.st_mtim;
        memcpy(n->name, entry->d_name, len + 1);
    }
    if (folder)
        closedir(folder);
    bool is_gmon = !stat("gmon.out", &st) && session_is_later(st.st_mtim, newest);
    if (is_gmon && is_program("a.out"))
        strcpy(n->name, "a.out");
    else if (is_gmon)
        return err_set(e,
                       "gmon.out is the newest profile here, and names no program; name it: "
                       "'monarc %s PROGRAM'",
                       command);
    if (!*n->name)
        return err_set(e,
                       "%s needs a PROGRAM or a RECORDING, and none is in this folder; see "
                       "'monarc %s --help'",
                       command, command);
    return true;
}

/* Counts of lines stand beside profiles: operands are put in that order, without changing the order
 * of either. With counts alone there is nothing else to name the report by. */
static void session_part_counts(struct session_options *o)
{
    size_t profiles = 0;
    struct operand_mix mix = operand_mix_of(o->profiles, o->profiles_len);
    mix.has_profile = false; /* its program is the first operand, which is not among these */
    for (size_t i = 0; i < o->profiles_len; i++) {
        char *name = o->profiles[i];
        if (operand_is_of_coverage(&mix, name))
            continue;
        memmove(o->profiles + profiles + 1, o->profiles + profiles,
                (i - profiles) * sizeof *o->profiles);
        o->profiles[profiles++] = name;
    }
    o->counts = o->profiles + profiles;
    o->counts_len = o->profiles_len - profiles;
    o->are_counts = !profiles;
    o->profiles_len = profiles ? profiles : o->counts_len;
}

/* Names of files that hold coverage and nothing else. */
static bool has_coverage_suffix(const char *name)
{
    static const char *const SUFFIXES[] = {".gcno", ".gcda",    ".bbg",      ".bb",      ".da",
                                           ".info", ".profraw", ".profdata", ".proftext"};
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (path_has_suffix(name, SUFFIXES[i]))
            return true;
    return false;
}

/* Whether a folder, or one in it, has files of coverage: deeper ones are not looked for. */
static bool folder_has_coverage(const char *folder, int depth)
{
    DIR *dir = opendir(folder);
    struct arena scratch = {0};
    bool has_some = false;
    for (const struct dirent *entry; dir && !has_some && (entry = readdir(dir));) {
        if (*entry->d_name == '.')
            continue;
        const char *path = arena_printf(&scratch, "%s/%s", folder, entry->d_name);
        has_some = path_is_folder(path) ? depth > 0 && folder_has_coverage(path, depth - 1)
                                        : has_coverage_suffix(path);
    }
    if (dir)
        closedir(dir);
    arena_deinit(&scratch);
    return has_some;
}

/* Whether an operand is coverage where a profile is wanted.
 *
 *     build/            no recording in it, but notes or counters: coverage
 *     NAME.monarc/      a recording that failed, whatever else is in it
 *     t.gcda x.info     by their names, if they are there
 *     default.raw       by its first bytes: a profile of LLVM's
 *     program           ELF, whatever it is called
 *
 * Traces in JSON and XML are not tried: profiles of other programs are such files, too. */
static bool holds_coverage(const char *name)
{
    if (path_is_folder(name))
        return is_coverage_operand(name) && folder_has_coverage(name, 1);
    return !access(name, F_OK) && !is_recording(name) && !is_program(name) &&
           (has_coverage_suffix(name) || is_llvm_profile(name));
}

/*    RECORDING...               recordings: the program is theirs to say
 *    PROGRAM                    its newer one of gmon.out and PROGRAM.monarc, here
 *    PROGRAM PROFILE...         profiles of that program
 *    PROGRAM COUNTERS...        counters of arcs, where the command takes these
 *    PROGRAM [PROFILE...] COVERAGE...   where it takes counts of lines */
bool session_operands(struct session_options *o, char **names, size_t len, struct err *e)
{
    o->program = names[0];
    o->profiles = names + 1;
    o->profiles_len = len - 1;
    if (holds_coverage(o->program))
        return err_in(e, names[0], "holds coverage, not a profile: 'monarc cover %s' reports on it",
                      names[0]);
    if (is_recording(o->program) || !strcmp(o->program, "-")) {
        o->profiles = names;
        o->profiles_len = len;
        o->is_recording = true;
        for (size_t i = 1; i < len; i++)
            if (!is_recording(names[i]))
                return err_in(e, names[0],
                              "is a recording, which has its profiles in it; name it with other "
                              "recordings only");
        return true;
    }
    if (!o->profiles_len) {
        /* The newer one of gmon.out and the folder that 'monarc run' leaves for the program, here.
         */
        const char *name = path_base_name(o->program);
        struct stat gmon, side;
        char when[32];
        struct arena scratch = {0};
        size_t runs;
        snprintf(o->default_path, sizeof o->default_path, "%s.monarc", name);
        const char *path = arena_printf(&scratch, "%s/monarc.side",
                                        recorded_runs(o->default_path, &scratch, &runs)[0]);
        bool has_side = strlen(name) + 8 < sizeof o->default_path && !stat(path, &side);
        arena_deinit(&scratch);
        bool has_gmon = !stat("gmon.out", &gmon);
        o->is_recording = has_side && (!has_gmon || side.st_mtime >= gmon.st_mtime);
        if (has_side && has_gmon) {
            time_t at = o->is_recording ? gmon.st_mtime : side.st_mtime;
            struct tm parts;
            if (!localtime_r(&at, &parts) ||
                !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &parts))
                when[0] = '\0';
            snprintf(o->newest, sizeof o->newest, "%s is newer than %s of %s, which is not shown",
                     o->is_recording ? "the recording" : "gmon.out",
                     o->is_recording ? "gmon.out" : "the recording", when);
        }
        if (!o->is_recording)
            strcpy(o->default_path, "gmon.out");
        o->default_paths[0] = o->default_path;
        o->profiles = o->default_paths;
        o->profiles_len = 1;
    } else if (o->takes_counters && !session_take_counters(o, e)) {
        return false;
    } else if (o->takes_counts) {
        session_part_counts(o);
    }
    bool has_profiles = !o->is_recording && !o->are_counters && !o->are_counts;
    for (size_t i = 0; has_profiles && i < o->profiles_len; i++)
        if (path_is_folder(o->profiles[i]))
            return err_in(e, o->profiles[i],
                          "is a folder; if it is a recording, leave '%s' out: a recording names "
                          "its programs itself",
                          o->program);
    return o->is_recording || !recorded_filter_chooses(&o->recorded) ||
           err_in(e, o->program,
                  "--event, --process, --program, --thread, --from, --to and --phase choose from a "
                  "recording; name one");
}

/* --- opening --------------------------------------------------------------------------------- */

static bool session_reads_stdin(const struct session_options *o)
{
    for (size_t i = 0; i < o->profiles_len; i++)
        if (!strcmp(o->profiles[i], "-"))
            return true;
    return false;
}

/* Adds counts of lines as blocks. What has no place in the program is a note. */
static bool session_read_counts(struct session *s, const struct session_options *o, struct err *e)
{
    progress_phase(o->read.progress, "reading coverage", 0);
    const struct arcs_calls_request request = {s->object, &s->functions, o->is_forced};
    return arcs_blocks(&request, o->counts, o->counts_len, &s->profile, &s->unplaced, &s->arena, e);
}

/* Reads and sums the profiles, with the program's word size and byte order as a hint, as gmon.out
 * states neither.
 *
 * Files that make no sense with the hint, but do without, are another program's. That is left to
 * fit_judge(), which can say so better than a reader that met an odd length. Standard input cannot
 * be read twice. */
static bool session_read_profiles(struct session *s, const struct session_options *o, struct err *e)
{
    /* Counters of arc profiling become calls between functions, without times. */
    if (o->are_counters)
        return arcs_calls(&(struct arcs_calls_request){s->object, &s->functions, o->is_forced},
                          o->profiles, o->profiles_len, &s->profile, e);
    struct profile_options hinted = profile_options_of(&o->read, s->object);
    struct err second;
    bool ok = o->are_counts ||
              profiles_load(&hinted, o->profiles, o->profiles_len, &s->profile, e) ||
              (!session_reads_stdin(o) &&
               profiles_load(&o->read, o->profiles, o->profiles_len, &s->profile, &second));
    return ok && (!o->counts_len || session_read_counts(s, o, e));
}

/* Opens the program, reads its profiles, and compares the two. */
static bool session_open_program(struct session *s, struct session_options *o, struct err *e)
{
    progress_phase(o->read.progress, "reading the program", 0);
    s->object =
        object_open(o->program, &(struct object_options){.debug_dir = o->debug_dir}, NULL, e);
    if (!s->object)
        return false;
    functions_native(&s->functions, s->object, &s->arena);
    if (o->keeps_pieces)
        functions_keep_pieces(&s->functions);
    if (!s->functions.len && !object_facts(s->object)->has_sections)
        return err_set(e,
                       "%s: has no section headers, so no symbols can be found; use the file as "
                       "the linker made it, before a packer or sstrip",
                       o->program);
    if (!s->functions.len)
        return err_set(e,
                       "%s: has no symbols, so samples cannot be attributed; link without -s, or "
                       "keep the debug file and name its directory with --debug-dir",
                       o->program);
    if (!session_read_profiles(s, o, e))
        return false;
    fit_judge(&s->fit, &s->profile, s->object, &s->functions);
    /* From here on the profile seems to be another program's: with --force, the reason becomes a
     * note. */
    if (s->fit.kind == FIT_WELL)
        return true;
    const char *evidence = fit_evidence(&s->fit, &s->profile, s->object, &s->arena);
    s->summary.mismatch = evidence;
    s->summary.was_forced = o->is_forced;
    return o->is_forced ||
           err_set(e, "%s was not recorded by %s: %s (--force reports anyway)",
                   o->profiles_len == 1 ? o->profiles[0] : "the profile", o->program, evidence);
}

/* Fills the attribution that a histogram would have given from what the stacks measured. `rate`
 * turns weights into the unit that is printed: nanoseconds into seconds, samples into events. */
static void session_attribute_run(struct session *s)
{
    const struct recorded *r = &s->recorded;
    const struct recording_event *event = r->summary.event;
    struct attribution *t = &s->time;
    *t = (struct attribution){.self = r->host_self,
                              .total = r->weights.total,
                              .unattributed = r->stacks.unplaced,
                              .has_histogram = event && (r->recording.rate || r->weights.taken)};
    recording_dimension(event, &t->dimension, &t->abbreviation);
    if (event && event->unit == RECORDING_UNIT_NS)
        t->rate = 1e9 / (double)event->period;
    else if (event)
        t->rate = 1.0 / (double)event->period;
    t->rate *= recording_count(&r->recording); /* of a series: times are those of a mean run */
}

/* Takes over what recorded_open() made. The profile moves from the recording to the session;
 * everything else is shared, and lives until recorded_close(). */
static bool session_open_recording(struct session *s, struct session_options *o, struct err *e)
{
    struct recorded_options options = {.read = o->read,
                                       .debug_dir = o->debug_dir,
                                       .symbols = o->symbols,
                                       .wants_files = o->wants_files,
                                       .wants_code = o->wants_code,
                                       .places_samples = o->places_samples,
                                       .keeps_pieces = o->keeps_pieces,
                                       .names_inlined = o->names_inlined && !o->has_hosts,
                                       .totals_others = o->others == OTHERS_TOTAL,
                                       .shows_labels = o->shows_labels,
                                       .no_errors = o->no_errors,
                                       .filter = o->recorded};
    struct recorded *r = &s->recorded;
    s->folder = o->profiles[0];
    progress_phase(o->read.progress, "reading the recording", 0);
    if (!recorded_open(r, o->profiles, o->profiles_len, &options, &s->functions, e))
        return false;
    s->profile = r->profile;
    r->profile = (struct profile){0};
    session_attribute_run(s);
    s->summary.program = r->summary.path;
    s->summary.run = &r->summary;
    s->summary.effective = r->weights.effective;
    s->summary.taken = (double)r->weights.taken;
    s->summary.measured = &r->stacks;
    s->summary.others = r->others;
    s->summary.inlined = r->named.functions.len - r->named.first_inlined;
    s->summary.has_hosts = o->has_hosts;
    s->summary.stacks = r->stacks.with_callers > 0 || r->stacks.cut ? &r->stacks : NULL;
    if (*o->newest)
        vec_push(&r->notes, o->newest);
    recorded_take_notes(r, s->profile.arcs.len);
    s->summary.notes = r->notes.at;
    s->summary.notes_len = r->notes.len;
    return true;
}

/* Attributes the samples of a profile to functions, and notes what makes the result less certain.
 */
static bool session_open_gmon(struct session *s, struct session_options *o, struct err *e)
{
    if (!session_open_program(s, o, e))
        return false;
    /* Leaves the first dimension in the profile, and attributes the samples of the others one by
     * one, each in a column of its own beside it. A command that prints one dimension refuses
     * several rather than choose one. */
    struct other_measures *others = &s->summary.others;
    struct profile rest = {0};
    if (profile_has_dimensions(&s->profile) && o->others == OTHERS_REFUSED)
        return err_set(e, "%s: holds samples of several dimensions; --dimension chooses one",
                       o->profiles[0]);
    profile_split_dimension(&s->profile, &rest);
    others->at = ARENA_NEW(&s->arena, struct other_measure, rest.histograms.len);
    /* `rest` gets shorter by one dimension with each turn. */
    while (rest.histograms.len) {
        struct profile other = rest;
        struct attribution other_time;
        rest = (struct profile){0};
        profile_split_dimension(&other, &rest);
        attribute_native(&other_time, &other, &s->functions.index, &s->arena);
        functions_join_times(&s->functions, other_time.self);
        others->at[others->len++] = (struct other_measure){.name = other_time.dimension,
                                                           .self = other_time.self,
                                                           .samples = other_time.total,
                                                           .unattributed = other_time.unattributed,
                                                           .rate = other_time.rate,
                                                           .abbreviation = other_time.abbreviation};
        profile_deinit(&other);
    }
    attribute_native(&s->time, &s->profile, &s->functions.index, &s->arena);
    functions_join_times(&s->functions, s->time.self);
    s->summary.notes = s->notes;
    if (s->unplaced)
        s->notes[s->summary.notes_len++] = s->unplaced;
    if (*o->newest)
        s->notes[s->summary.notes_len++] = o->newest;
    /* What the recorder of shared objects may have booked on another function. */
    struct merged_calls m;
    merged_calls_of(&m, &s->profile, &s->functions);
    if (m.functions)
        s->notes[s->summary.notes_len++] = arena_printf(
            &s->arena,
            "calls of %s from outside may be counted as those of %s: glibc's recorder does not "
            "tell functions apart that begin in the same %d bytes (%" PRIu32 " such function%s)",
            s->functions.at[m.first].name, s->functions.at[m.into].name, MERGED_CALLS_BYTES,
            m.functions, text_plural(m.functions));
    /* Functions that only the unwind tables separate have addresses for names. */
    double unnamed = 0;
    for (uint32_t i = 0; i < s->functions.len; i++)
        unnamed += s->functions.at[i].is_unwind_range ? s->time.self[i] : 0;
    if (unnamed > 0)
        s->notes[s->summary.notes_len++] = arena_printf(
            &s->arena,
            "%.3g %% of the samples are in functions without a symbol: link without -s, or name "
            "the folder of the debug file with --debug-dir",
            100 * unnamed / s->time.total);
    uint64_t full = profile_full_bins(&s->profile);
    if (full)
        s->notes[s->summary.notes_len++] = arena_printf(
            &s->arena,
            "%" PRIu64 " counter%s of 16 bits %s full, at 65535: %s code ran for longer, by an "
            "unknown amount",
            full, text_plural(full), full == 1 ? "is" : "are", full == 1 ? "its" : "their");
    /* Bins that lie over several functions leave their shares uncertain. */
    const struct sharing *t = &s->sharing;
    sharing_of_functions(&s->sharing, &s->profile, &s->functions, &s->arena);
    s->summary.sharing = s->time.has_histogram ? t : NULL;
    if (t->samples * 1000 >= s->time.total * SHARING_NOTEWORTHY_PERMILLE && t->samples > 0)
        s->notes[s->summary.notes_len++] = sharing_text(t, s->time.total, &s->arena);
    return true;
}

/* Adds the shares that functions have of `samples` to those that they have of other measures. */
static void session_add_shares(struct attribution *all, const double *self, double samples,
                               uint32_t len)
{
    for (uint32_t i = 0; samples > 0 && i < len; i++)
        all->self[i] += self[i] / samples;
    all->total += samples > 0;
}

/* Graphs of a profile's other dimensions, as the model of calls has them, and one of all together:
 * the model is linear, so that what any of them sees of a path is seen there. */
static void session_graph_others(struct session *s, struct graph_rules rules)
{
    struct other_measures *others = &s->summary.others;
    uint32_t len = s->functions.len;
    struct attribution all = {.has_histogram = true, .self = ARENA_NEW(&s->arena, double, len)};
    struct graph *graphs = ARENA_NEW(&s->arena, struct graph, others->len + 1);
    session_add_shares(&all, s->time.self, s->time.total, len);
    for (size_t i = 0; i < others->len; i++) {
        struct other_measure *other = &others->at[i];
        struct attribution t = {.self = other->self, .total = other->samples};
        struct graph *g = &graphs[i];
        graph_build(g, &s->functions, &s->profile, &t, rules, &s->arena);
        other->totals = ARENA_NEW(&s->arena, double, g->len);
        for (uint32_t node = 0; node < g->len; node++)
            other->totals[node] = g->nodes[node].self + g->nodes[node].children;
        other->graph = g;
        session_add_shares(&all, other->self, other->samples, len);
    }
    graph_build(&graphs[others->len], &s->functions, &s->profile, &all, rules, &s->arena);
    others->all = &graphs[others->len];
    others->all_samples = all.total;
}

/* Calls and times together. With stacks, a function's children are what was measured below it;
 * without, gprof's model spreads them over callers by the number of calls. */
static void session_build_graph(struct session *s, const struct session_options *o,
                                struct graph_rules rules)
{
    if (o->measures_graph && s->summary.stacks) {
        struct attribution named = s->time;
        named.self = s->summary.stacks->self;
        graph_build_measured(&s->graph, &s->functions, &s->profile, &named, s->summary.stacks,
                             &s->arena);
        return;
    }
    graph_build(&s->graph, &s->functions, &s->profile, &s->time, rules, &s->arena);
    if (o->others == OTHERS_TOTAL && !o->is_recording && s->summary.others.len)
        session_graph_others(s, rules);
}

/* Reading and judging differ for recordings and profiles; from the graph on both go one way. */
bool session_open(struct session *s, struct session_options *o, struct err *e)
{
    s->program = s->summary.program = o->program;
    s->summary.profiles = (const char *const *)o->profiles;
    s->summary.profiles_len = o->profiles_len;
    s->summary.is_verbose = o->is_verbose;
    if (o->is_recording ? !session_open_recording(s, o, e) : !session_open_gmon(s, o, e))
        return false;
    /* Reports of entries need them ranked: entries_make(). */
    struct graph_rules rules = {.is_unranked = true};
    progress_phase(o->read.progress, "adding up", 0);
    /* Adds the user's choices to the rules of the graph. */
    if (o->adds_static) {
        if (o->is_recording)
            return err_set(e,
                           "%s: --static reads the code of one program; name it, not a recording",
                           o->program);
        if (!static_calls_native(&s->calls, &s->functions, s->object, &s->arena))
            return err_set(e, "%s: --static cannot read the code of this machine (ELF number %u)",
                           o->program, object_machine(s->object));
        rules.calls = &s->calls;
    }
    session_build_graph(s, o, rules);
    /* Names come last: demangling is for what may be printed. */
    names_init(&s->names, &s->functions, o->no_demangle ? NULL : "auto", &s->arena);
    summary_count(&s->summary, &s->profile, &s->time, &s->graph);
    summary_answer(&s->summary, &s->time, &s->names, session_objects(s), &s->arena);
    return true;
}

/* The arena goes last: names and summaries that others point into are in it. */
void session_close(struct session *s)
{
    profile_deinit(&s->profile);
    recorded_close(&s->recorded);
    if (s->object)
        object_close(s->object);
    arena_deinit(&s->arena);
}

/* --- its object files ------------------------------------------------------------------------ */

uint32_t session_objects_len(const struct session *s)
{
    return s->folder ? s->recorded.space.len : 1;
}

/* NULL where the object's file is not to be had: a recording does without. */
struct object *session_object(const struct session *s, uint32_t number)
{
    return s->folder ? s->recorded.space.objects[number].file : s->object;
}

/* A recording has as many objects as it has mapped files, a program is the one object of itself.
 */
struct object **session_objects(struct session *s)
{
    uint32_t len = session_objects_len(s);
    struct object **objects = ARENA_NEW(&s->arena, struct object *, len);
    for (uint32_t i = 0; i < len; i++)
        objects[i] = session_object(s, i);
    return objects;
}

/* After the report: debug information is read as it is needed, so that only the report itself knows
 * what it met. */
bool session_debug_is_whole(const struct session *s, struct err *e)
{
    const char *why;
    if (s->recorded.unread.system) {
        *e = s->recorded.unread;
        return false;
    }
    /* Rare instructions were passed over (--static): what stands in the graph is true, but not
     * all. */
    if (s->calls.unread)
        return err_set(e, "some instructions could not be told apart, and calls may be missing: %s",
                       s->calls.unread);
    for (uint32_t i = 0; i < session_objects_len(s); i++) {
        struct object *object = session_object(s, i);
        if (object && object_debug_refused(object, &why)) {
            err_in(e, object_path(object), "%s", why);
            e->system = object_unread_errno(object);
            return false;
        }
    }
    return true;
}

/* Asked before a file is replaced, while session_debug_is_whole() is asked at the very end: what
 * this user may not read will not be readable the next time either, so a report of the rest is the
 * best there is; what failed this time may well work the next. */
bool session_is_read(const struct session *s, struct err *e)
{
    struct err why = {0};
    if (session_debug_is_whole(s, &why) || !errno_is_trouble(why.system))
        return true;
    *e = why;
    return false;
}

bool session_has_debug_info(const struct session *s)
{
    for (uint32_t i = 0; i < session_objects_len(s); i++) {
        struct object *object = session_object(s, i);
        if (object && object_has_debug_info(object))
            return true;
    }
    return false;
}

/* What an operand of a command is, by its name and its first bytes. */

/* A FIFO is opened without waiting for its writer, and not read to its end. What cannot be
 * inspected may be one: whoever opens it says what is wrong. */
bool is_program(const char *path)
{
    char magic[4];
    if (path_is_folder(path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno_hides_file(errno);
    ssize_t len = read(fd, magic, sizeof magic);
    bool is_elf =
        len < 0 ? errno_hides_file(errno) : len == sizeof magic && !memcmp(magic, "\177ELF", 4);
    close(fd);
    return is_elf;
}

/* A folder of several runs has one if its first run has. */
static bool has_recording(const char *folder)
{
    struct arena scratch = {0};
    size_t len;
    char **runs = recorded_runs(folder, &scratch, &len);
    bool has_one = !access(arena_printf(&scratch, "%s/monarc.side", runs[0]), F_OK) ||
                   errno_hides_file(errno); /* whoever opens it says what is wrong */
    arena_deinit(&scratch);
    return has_one;
}

/* A file is recognised by its name, a folder by its contents. A folder NAME.monarc without a
 * recording is a recording that failed, not coverage. */
bool is_coverage_operand(const char *name)
{
    static const char *const OTHERS[] = {".json", ".xml", ".a"};
    if (path_is_folder(name))
        return !has_recording(name) && !path_has_suffix(name, ".monarc");
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (path_has_suffix(name, OTHERS[i]))
            return true;
    return has_coverage_suffix(name) || is_llvm_profile(name);
}

/* One look at each name, as there may be a hundred thousand of them.
 *
 * An ELF file says nothing about what it was run for, so what stands beside it must: gmon.out is
 * read with a program, and so is a profile of clang's, while notes, counters and recordings are
 * read without. The two questions below are asked of each name by the commands that show both
 * kinds on one page. */
struct operand_mix operand_mix_of(char *const *names, size_t len)
{
    struct operand_mix mix = {0};
    for (size_t i = 0; i < len; i++) {
        mix.has_llvm |= is_llvm_profile(names[i]);
        if (is_program(names[i])) {
            mix.first_program = mix.programs ? mix.first_program : names[i];
            mix.programs++;
        } else {
            mix.has_profile |= !is_coverage_operand(names[i]) && !is_recording(names[i]);
        }
    }
    return mix;
}

bool operand_is_of_coverage(const struct operand_mix *mix, const char *name)
{
    bool is_of_profile_alone = mix->has_profile && mix->programs > 1 && name == mix->first_program;
    return is_coverage_operand(name) || (mix->has_llvm && is_program(name) && !is_of_profile_alone);
}

bool operand_is_of_profile(const struct operand_mix *mix, const char *name)
{
    return !is_coverage_operand(name) && (!mix->has_llvm || !is_program(name) ||
                                          (mix->has_profile && name == mix->first_program));
}
