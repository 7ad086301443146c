/* From operands to the one result that `monarc cover` prints: which files there are, reading them
 * on several threads, and adding them up.
 *
 * Objects are independent of each other. Each thread takes the next one, solves it, and adds it to
 * a table of its own, in memory that it uses again for the next; the tables are laid side by side
 * at the end (coverage_result_build()), so that no lock is held while counting. Large objects come
 * first, so that none is left to a single thread at the end; the order does not show in the
 * result, as problems are sorted and tables are keyed by source and line.
 *
 * The counters of an object's runs are added up before they are solved, once, if all of them fit;
 * otherwise each is solved by itself, to find out which one is at fault.
 *
 * Nothing that is wrong with a file ends the command: it becomes a problem, and the status says
 * so. Memory is that of the tables, and of one object for each thread. */
#include "session/coverage.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/analysis/line_coverage.h"
#include "coverage/import/import.h"
#include "objfile/object.h"
#include "session/arcs_file.h"
#include "source/source.h"

#include <inttypes.h>
#include <string.h>

/* In all folders that were named; in the current one if neither a folder nor a program was. */
static bool find_programs(struct coverage_session *s, const struct coverage_options *o,
                          struct err *e)
{
    size_t before = s->files.programs.len;
    for (size_t i = 0; i < o->paths_len; i++)
        if (strcmp(o->paths[i], "-") &&
            !coverage_files_find_programs(&s->files, o->paths[i], &o->find, e))
            return false;
    return s->files.programs.len || before ||
           coverage_files_find_programs(&s->files, ".", &o->find, e);
}

/* Looks at all operands, the current folder if there is none, then gives counters to objects. The
 * two messages answer the commonest mistakes: the wrong folder, and a program compiled without
 * --coverage. */
static bool find_files(struct coverage_session *s, const struct coverage_options *o, struct err *e)
{
    static const char HERE[] = ".";
    struct find_rules rules = o->find;
    /* With tests kept apart, which counters an object has decides what is read at all. */
    rules.trusts_names = !o->read.by_test && !o->read.only;
    progress_phase(o->read.progress, "looking for files", 0);
    if (!o->paths_len && !coverage_files_look(&s->files, HERE, &rules, e))
        return false;
    for (size_t i = 0; i < o->paths_len; i++)
        if (!coverage_files_look(&s->files, o->paths[i], &rules, e))
            return false;
    if (o->runs && !coverage_files_look_at_runs(&s->files, o->runs, &rules, e))
        return false;
    coverage_files_pair(&s->files, &rules);
    const char *where = o->paths_len ? o->paths[0] : "the current folder";
    if (s->files.profiles.len && !find_programs(s, o, e))
        return false;
    if (s->files.objects.len || s->files.traces.len || s->files.profiles.len ||
        s->files.programs.len)
        return true;
    if (s->files.counters.len)
        return err_set(e,
                       "%s: has counters (.gcda) but no notes (.gcno); they are next to the object "
                       "files: also name the build folder",
                       where);
    return err_set(e,
                   "%s: has no notes (.gcno); was the program compiled with --coverage, and is "
                   "this the folder of its object files?",
                   where);
}

/* Whoever names patterns, tracefiles or --system has said which sources are meant. */
static void choose_project(struct coverage_session *s, const struct coverage_options *o,
                           struct project *project)
{
    const struct source_filter *f = &o->filter;
    *project = (struct project){f->root, f->root};
    if (!o->has_root) {
        struct project_tables tables = {s->reading.tables.at, s->reading.tables.len};
        const char *named =
            o->paths_len ? path_real(path_absolute(o->paths[0], &s->arena), &s->arena) : NULL;
        project_find(&tables, f->root, named, &s->arena, project);
    }
    if (f->keeps_system || f->include.len || s->reading.traces)
        project->scope = NULL;
}

/* --- all of it ------------------------------------------------------------------------------- */

/* The first line of a patch's file that the source does not have there; 0: it has all of them. */
static uint32_t first_other_line(const struct patch *p, const struct patch_file *f,
                                 const char *source)
{
    struct source_text text = {0};
    struct err ignored;
    uint32_t line = 0;
    if (!source || !source_text_read(&text, source, &ignored))
        return 0;
    source_text_index(&text);
    for (uint32_t k = 0; !line && k < f->ranges; k++) {
        const struct patch_range *range = &p->ranges.at[f->first_range + k];
        uint64_t hash = 0;
        for (uint32_t n = 0; n < range->lines && range->first + n <= text.lines; n++) {
            struct bytes at = source_line(&text, range->first + n);
            hash = patch_text_add(hash, at.at, at.len);
        }
        line = hash == range->text ? 0 : range->first;
    }
    source_text_deinit(&text);
    return line;
}

/* Where a name of the patch is the end of several sources' names, that one is meant which has the
 * patch's lines. If not exactly one has them, another file could be judged in its place: it is
 * unknown. (Where none of the sources is here, the name has to do.) */
static void choose_sources(struct coverage_session *s)
{
    for (size_t i = 0; !patch_has_whole_names(&s->result, &s->patch) && i < s->patch.files.len;
         i++) {
        struct patch_file *f = &s->patch.files.at[i];
        /* Sources whose names fit; those of them that are here; those that also have the lines. */
        uint32_t fitting = 0, here = 0, having = 0, last = 0;
        for (uint32_t k = 0; k < s->result.sources.len; k++) {
            const struct result_source *source = &s->result.sources.at[k];
            if (!path_ends_in(source->whole, f->path))
                continue;
            fitting++;
            here += source->file != NULL;
            if (source->file && !first_other_line(&s->patch, f, source->file)) {
                having++;
                last = k;
            }
        }
        /* One alone is found by its name, also if its text is another: check_patch() says so. */
        if (fitting < 2 || !here)
            continue;
        f->chosen = having == 1 ? last + 1 : (uint32_t)NO_INDEX;
        if (having != 1)
            problem_add(&s->reading.problems, PROBLEM_NOTE,
                        "%s: may be any of %" PRIu32 " sources, so its lines were not judged; make "
                        "the patch in the project's folder",
                        f->path, fitting);
    }
}

/* Whether what the patch adds stands in the sources that were measured, line by line. Where not,
 * the patch is of another state of them, as one in the middle of a series is, and its lines are
 * others than those that were compiled: the first of a file is reported. */
static void check_patch(struct coverage_session *s)
{
    for (size_t i = 0; i < s->diff.files.len; i++) {
        uint32_t source = s->diff.files.at[i].source;
        const char *file = source == (uint32_t)NO_INDEX ? NULL : s->result.sources.at[source].file;
        uint32_t line = first_other_line(&s->patch, &s->patch.files.at[i], file);
        if (line)
            problem_add(&s->reading.problems, PROBLEM_NOTE,
                        "%s: line %" PRIu32 " is not what the patch says: it was made for another "
                        "state of the source, and its lines are not those that were compiled",
                        s->diff.files.at[i].path, line);
    }
}

/* What the sources that are here do not have, and which of them may be of another text. */
static void say_unseen(struct coverage_session *s)
{
    const struct coverage_result *r = &s->result;
    struct problems *p = &s->reading.problems;
    for (size_t i = 0; i < r->unseen.len; i++) {
        const struct result_source *source = &r->unseen.at[i];
        if (source->file)
            problem_add(p, PROBLEM_NOTE,
                        "%s: left out: %" PRIu32 " line%s after line %" PRIu32 ", its last",
                        source->path, source->unseen, text_plural(source->unseen),
                        source->last_line);
        else
            problem_add(p, PROBLEM_NOTE,
                        "%s: is not here; left out: %" PRIu32 " line%s (--source-dir, --path-map)",
                        source->path, source->unseen, text_plural(source->unseen));
    }
    for (size_t i = 0; i < r->sources.len; i++)
        if (r->sources.at[i].is_newer)
            problem_add(p, PROBLEM_NOTE,
                        "%s: is newer than what was compiled: its lines may be others",
                        r->sources.at[i].path);
    problems_sort(p);
}

/* The patch is read last: what it says is laid over a result that is there. Time goes into
 * coverage_read(), on all CPUs. */
bool coverage_session_open(struct coverage_session *s, const struct coverage_options *o,
                           struct err *e)
{
    struct result_rules rules = o->result;
    struct project project;
    if (!find_files(s, o, e))
        return false;
    coverage_read(&s->files, &o->filter, &o->read, &s->reading);
    if (s->reading.is_wrong) {
        coverage_reading_deinit(&s->reading);
        s->reading = (struct coverage_reading){.is_wrong = false};
        coverage_files_pair_by_stamps(&s->files);
        coverage_read(&s->files, &o->filter, &o->read, &s->reading);
    }
    progress_phase(o->read.progress, "adding up coverage", 0);
    choose_project(s, o, &project);
    s->root = project.root;
    rules.instances = (enum instance_rule)o->read.instances;
    rules.root = project.root;
    rules.scope = project.scope;
    /* What lies outside the project is dropped only now, as the project may be found by its
     * sources. */
    rules.is_in_scope = project_has;
    rules.spell = demangle;
    coverage_result_build(s->reading.tables.at, s->reading.tables.len, &rules, &s->result);
    say_unseen(s);
    struct file_buffer buffer = {0};
    if (!o->patch)
        return true;
    bool ok = file_read(o->patch, &buffer, e) &&
              patch_read(file_bytes(&buffer), strcmp(o->patch, "-") ? o->patch : "standard input",
                         &s->patch, e);
    file_buffer_deinit(&buffer);
    if (!ok)
        return false;
    choose_sources(s);
    patch_coverage_build(&s->result, &s->patch, &s->diff);
    check_patch(s);
    return true;
}

bool coverage_session_is_whole(const struct coverage_session *s, struct err *e)
{
    const struct problems *p = &s->reading.problems;
    if (p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL])
        return err_set(e, "%s", p->at.at[0].text);
    return !s->result.trouble || err_set(e, "%s", s->result.trouble);
}

/* The one place that says which facts of a session a report has: cover's forms, its questions about
 * tests and the terminal's notes agree because they print the same. Nothing is copied but pointers
 * and numbers. */
struct coverage_report coverage_session_report(const struct coverage_session *s,
                                               const struct coverage_options *o)
{
    const struct coverage_reading *r = &s->reading;
    return (struct coverage_report){
        .result = &s->result,
        .problems = &r->problems,
        .objects = r->objects,
        .unrun = r->unrun,
        .counters = r->counters,
        .traces = r->traces,
        .unknown_functions = r->unknown_functions,
        .repaired_functions = r->repaired_functions,
        .leaves_system = r->system_sources > 0,
        .leaves_unwanted = r->unwanted_sources > 0,
        .keeps_all_branches = o->result.keeps_all_branches,
        .instances = o->read.instances,
        .decisions = r->llvm.explained.at,
        .decisions_len = r->llvm.explained.len,
        .root = s->root,
        .threads = o->read.threads,
    };
}

void coverage_session_close(struct coverage_session *s)
{
    coverage_files_deinit(&s->files);
    coverage_reading_deinit(&s->reading);
    coverage_result_deinit(&s->result);
    patch_coverage_deinit(&s->diff);
    patch_deinit(&s->patch);
    arena_deinit(&s->arena);
}

/* Each thread takes the next object, solves it and adds it to a table of its own, in memory that it
 * uses again. Large objects come first, so that none is left to one thread at the end. */

#define NONE ((uint32_t)NO_INDEX)

/* What all threads share; none of it changes while they run. */
struct job {
    const struct coverage_files *found;
    const struct read_rules *rules;
    const struct keyed *objects; /* the largest first */
    struct worker *workers;
    bool is_wrong; /* as in struct coverage_reading: no thread need go on */
};

/* One thread's. All but `table`, `names` and `problems` is scratch. */
struct worker {
    struct coverage_table table;
    struct source_names names;
    struct problems problems;
    struct coverage_reading sums; /* only its numbers */
    struct object_pair pair;
    struct file_buffer trace;
    struct pair_scratch gather;
    VEC(uint32_t) sources;
    const struct read_rules *rules;
    const struct coverage_files *found;
    bool has_begun, is_wrong;
};

void coverage_reading_deinit(struct coverage_reading *r)
{
    for (size_t i = 0; i < r->tables.len; i++)
        coverage_table_deinit(&r->tables.at[i]);
    vec_free(&r->tables);
    llvm_coverage_deinit(&r->llvm);
    problems_deinit(&r->problems);
}

/* ---- one object */

/* The table's number for each source that the notes name; NO_INDEX for those that are not wanted.
 */
static void read_name_sources(struct worker *w, const char *path)
{
    const struct notes *n = &w->pair.notes.notes;
    int64_t date = file_changed(path);
    w->sources.len = 0;
    for (size_t i = 0; i < n->files.len; i++) {
        uint32_t source = source_names_number(&w->names, n->files.at[i] ? n->files.at[i] : "",
                                              n->directory, path);
        vec_push(&w->sources, source);
        coverage_table_date(&w->table, source, date);
    }
}

/* Says which functions are unknown, and counts them. */
static void read_count_unknown(struct worker *w, const char *path)
{
    const struct flow *flow = &w->pair.flow;
    for (size_t i = 0; i < flow->functions.len; i++)
        w->sums.repaired_functions += flow->functions.at[i].reason == FLOW_REPAIRED;
    w->sums.unknown_functions +=
        object_pair_report_unknown(&w->pair, path, "unknown", &w->problems);
}

/* The solved pair joins the thread's table. */
static void read_add_solved(struct worker *w)
{
    struct object_pair *p = &w->pair;
    coverage_table_add_pair(&w->gather, &p->notes.notes, &p->counters.counters, &p->flow,
                            w->sources.at, &w->table);
}

static bool read_is_wanted(const struct worker *w, uint32_t test)
{
    return !w->rules->only || !strcmp(w->rules->only, w->found->tests.at[test]);
}

/* Whether a test counted it that is wanted. */
static bool read_has_wanted_run(const struct worker *w, const struct coverage_object *object)
{
    if (!w->rules->only)
        return true;
    for (uint32_t i = object->first_counters; i != NONE; i = w->found->counters.at[i].next)
        if (read_is_wanted(w, w->found->counters.at[i].test))
            return true;
    return false;
}

/* Adds up the counters of all runs and solves them once. false, and nothing is added: there is
 * something to be said about a file, or about a function of the sum. */
static bool read_add_sum(struct worker *w, const struct coverage_object *object)
{
    struct object_pair *p = &w->pair;
    struct problems unsaid = {0};
    uint64_t counters = 0;
    bool is_fine = !object->is_rfc && !w->rules->by_test;
    for (uint32_t i = object->first_counters; i != NONE && is_fine;
         i = w->found->counters.at[i].next) {
        const struct counters_file *file = &w->found->counters.at[i];
        if (!read_is_wanted(w, file->test))
            continue;
        is_fine = !file->is_rfc && object_pair_load_counters(p, file->path, ARCS_GCDA, &unsaid) &&
                  !unsaid.at.len && object_pair_add_run(p, !counters);
        counters += is_fine;
    }
    problems_deinit(&unsaid);
    if (!is_fine || counters < 2)
        return false;
    object_pair_take_sum(p);
    object_pair_solve(p, w->rules->repairs);
    if (!object_pair_is_sound(p))
        return false;
    w->sums.counters += counters;
    read_add_solved(w);
    return true;
}

/* Whether counters that were given by name are of another compilation than the notes. Those that
 * were read say so themselves. */
static bool read_is_wrong(const struct worker *w, const struct coverage_object *object,
                          const struct counters_file *file, bool is_read)
{
    const struct object_pair *p = &w->pair;
    return file->is_by_name &&
           !(is_read && p->counters.counters.origin.stamp == p->notes.notes.origin.stamp) &&
           !coverage_files_is_pair(object->notes, file->path);
}

/* Without notes nothing is read of the counters. */
static void read_compare_stamps(struct worker *w, const struct coverage_object *object)
{
    for (uint32_t i = object->first_counters; i != NONE; i = w->found->counters.at[i].next)
        w->is_wrong |= read_is_wrong(w, object, &w->found->counters.at[i], false);
}

/* One run after the other, each with its own problems, and kept apart by test on request. */
static void read_add_runs(struct worker *w, const struct coverage_object *object)
{
    for (uint32_t i = object->first_counters; i != NONE; i = w->found->counters.at[i].next)
        if (read_is_wanted(w, w->found->counters.at[i].test)) {
            struct object_pair *p = &w->pair;
            const struct counters_file *file = &w->found->counters.at[i];
            const char *path = file->path;
            const struct counters *c = &p->counters.counters;
            bool is_read = object_pair_load_counters(p, path, file->is_rfc ? ARCS_DA : ARCS_GCDA,
                                                     &w->problems);
            w->is_wrong |= read_is_wrong(w, object, file, is_read);
            w->sums.counters += is_read;
            object_pair_solve(p, w->rules->repairs);
            if (c->functions.len)
                object_pair_report_pairing(p, object->notes, path, &w->problems);
            read_count_unknown(w, path);
            if (w->rules->by_test)
                coverage_table_begin_test(&w->table,
                                          w->found->tests.at[w->found->counters.at[i].test]);
            read_add_solved(w);
            if (w->rules->by_test)
                coverage_table_begin_test(&w->table, NULL);
        }
}

/* An object is one translation unit: its notes, and what each run counted. Without counters it is
 * reported as never run, or left out; it is no object at all if its counters went to notes of the
 * other family. */
static void read_add_object(struct worker *w, const struct coverage_files *found,
                            const struct coverage_object *object)
{
    struct object_pair *p = &w->pair;
    const struct notes *n = &p->notes.notes;
    bool is_unrun = object->first_counters == NONE;
    if (object->left_out)
        problem_add(&w->problems, PROBLEM_NOTE,
                    "%s: left out, as a gcda of that name lies beside it; `monarc merge` adds runs",
                    object->left_out);
    if ((is_unrun && object->is_known) || !read_has_wanted_run(w, object))
        return;
    if (is_unrun && w->rules->leaves_unrun) {
        w->sums.unrun++;
        return;
    }
    if (!object_pair_load_notes(p, object->notes, object->is_rfc ? ARCS_BBG : ARCS_GCNO,
                                &w->problems)) {
        read_compare_stamps(w, object);
        return;
    }
    w->sums.objects++;
    if (is_unrun && p->notes_are_whole && !n->functions.len)
        return; /* nothing but data: there is nothing to run */
    read_name_sources(w, object->notes);
    if (w->rules->by_build)
        coverage_table_begin_test(&w->table, found->operands.at[object->test]);
    if (is_unrun) {
        w->sums.unrun++;
        problem_add(&w->problems, PROBLEM_NOTE, "%s: has no counters", object->notes);
        object_pair_solve_unrun(p);
        read_count_unknown(w, object->notes);
        coverage_table_add_pair(&w->gather, n, NULL, &p->flow, w->sources.at, &w->table);
    }
    if (is_unrun || found->counters.at[object->first_counters].next == NONE ||
        !read_add_sum(w, object))
        read_add_runs(w, object);
    coverage_table_begin_test(&w->table, NULL);
}

/* ---- one tracefile */

/* A tracefile has counts of lines already: they go into the table as they are, without solving. */
static void read_add_trace(struct worker *w, const char *path, const char *test)
{
    struct err e = {0};
    struct tracefile trace = {0};
    if (!file_read_if(path, trace_is_known, &w->trace, &e)) {
        problem_add(&w->problems, PROBLEM_LOST, "%s", e.line);
        return;
    }
    struct bytes bytes = bytes_without_mark(file_bytes(&w->trace));
    const struct trace_importer *format = trace_importer_of(bytes);
    if (bytes.len && !format) {
        problem_add(&w->problems, PROBLEM_LOST,
                    "%s: is neither notes (.gcno, .bbg), counters (.gcda, .da), nor a tracefile "
                    "of lcov, JSON of gcovr or llvm-cov, or Cobertura XML",
                    path);
        return;
    }
    if (format && !format->read(bytes, path, &trace, &e))
        problem_add(&w->problems, trace.sections.len ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s",
                    e.line);
    for (size_t i = 0; i < trace.losses.len; i++)
        problem_add(&w->problems, PROBLEM_NOTE, "%s: left out: %" PRIu64 " %s", path,
                    trace.losses.at[i].number, trace.losses.at[i].what);
    if (trace.negative)
        problem_add(&w->problems, PROBLEM_PARTIAL,
                    "%s: %" PRIu64 " counts are negative, and taken as 0", path, trace.negative);
    /* Sections of tests that are not wanted get no source. */
    const char *only = w->rules->only;
    int64_t date = strcmp(path, "-") ? file_changed(path) : 0;
    w->sources.len = 0;
    for (size_t i = 0; i < trace.sections.len; i++) {
        const struct trace_section *s = &trace.sections.at[i];
        bool is_wanted = !only || !strcmp(only, *s->test ? s->test : test);
        vec_push(&w->sources,
                 is_wanted ? source_names_number(&w->names, s->source, NULL, NULL) : NONE);
        coverage_table_date(&w->table, w->sources.at[i], date);
    }
    /* A build is the file, whatever tests it names. */
    for (size_t i = 0; i < trace.sections.len && w->rules->by_build; i++)
        trace.sections.at[i].test = "";
    coverage_table_add_trace(&w->table, &trace, w->sources.at,
                             w->rules->by_build  ? path
                             : w->rules->by_test ? test
                                                 : NULL);
    w->sums.traces++;
    tracefile_deinit(&trace);
}

/* ---- all */

/* Objects come first, then tracefiles; `i` counts through both. */
static void read_add_file(size_t i, unsigned worker, void *context)
{
    struct job *job = context;
    struct worker *w = &job->workers[worker];
    const struct coverage_files *found = job->found;
    /* The thread keeps freed memory for its next object instead of giving it back each time. */
    if (!w->has_begun)
        memory_keep_of_thread();
    w->has_begun = true;
    if (__atomic_load_n(&job->is_wrong, __ATOMIC_RELAXED))
        return;
    if (i < found->objects.len)
        read_add_object(w, found, &found->objects.at[job->objects[i].item]);
    else
        read_add_trace(w, found->traces.at[i - found->objects.len],
                       found->tests.at[found->trace_tests.at[i - found->objects.len]]);
    if (w->is_wrong)
        __atomic_store_n(&job->is_wrong, true, __ATOMIC_RELAXED);
    progress_step(job->rules->progress);
}

/* By the size of the notes, which is known from looking for them, and is in proportion to the
 * work. */
static const struct keyed *read_by_size(const struct coverage_files *found, struct arena *a)
{
    struct keyed *objects = ARENA_NEW(a, struct keyed, found->objects.len + 1);
    for (uint32_t i = 0; i < found->objects.len; i++)
        objects[i] = (struct keyed){UINT64_MAX - found->objects.at[i].size, i};
    sort_keyed(objects, found->objects.len);
    return objects;
}

/* Problems are sorted at the end, so that their order does not depend on the threads. Memory is
 * that of the tables and, for each thread, of its largest object. */
void coverage_read(const struct coverage_files *found, const struct source_filter *filter,
                   const struct read_rules *rules, struct coverage_reading *out)
{
    size_t files = found->objects.len + found->traces.len;
    unsigned workers = parallel_workers(files, rules->threads);
    struct arena scratch = {0};
    struct job job = {.found = found, .rules = rules, .objects = read_by_size(found, &scratch)};
    job.workers = ARENA_NEW(&scratch, struct worker, workers + 1);
    for (unsigned i = 0; i < workers; i++) {
        job.workers[i].rules = rules;
        job.workers[i].found = found;
        job.workers[i].names.filter = filter;
        job.workers[i].names.table = &job.workers[i].table;
        job.workers[i].table.keeps_shares = rules->instances == INSTANCES_WORST;
    }
    progress_phase(rules->progress, "reading coverage", files);
    parallel_for_workers(files, workers, read_add_file, &job);
    for (unsigned i = 0; i < workers; i++) {
        pair_scratch_deinit(&job.workers[i].gather);
        object_pair_deinit(&job.workers[i].pair);
        file_buffer_deinit(&job.workers[i].trace);
        vec_free(&job.workers[i].sources);
        vec_push(&out->tables, job.workers[i].table);
        problems_merge(&out->problems, &job.workers[i].problems);
        out->objects += job.workers[i].sums.objects;
        out->unrun += job.workers[i].sums.unrun;
        out->counters += job.workers[i].sums.counters;
        out->traces += job.workers[i].sums.traces;
        out->unknown_functions += job.workers[i].sums.unknown_functions;
        out->repaired_functions += job.workers[i].sums.repaired_functions;
        out->system_sources += job.workers[i].names.system_sources;
        out->unwanted_sources += job.workers[i].names.unwanted_sources;
        source_names_deinit(&job.workers[i].names);
        problems_deinit(&job.workers[i].problems);
    }
    out->is_wrong = job.is_wrong;
    if (!job.is_wrong)
        coverage_read_llvm(found, filter, rules, out);
    for (size_t i = 0; i < found->counters.len; i++)
        if (!found->counters.at[i].is_paired)
            problem_add(&out->problems, PROBLEM_LOST, "%s: has no notes: no %s",
                        found->counters.at[i].path,
                        found->counters.at[i].is_rfc ? ".bbg of that name"
                                                     : ".gcno of that name and stamp");
    for (size_t i = 0; i < found->left_out.len; i++)
        problem_add(&out->problems, PROBLEM_NOTE, COVERAGE_LEFT_OUT, found->left_out.at[i]);
    for (size_t i = 0; i < found->unreadable.len; i++)
        problem_add(&out->problems, PROBLEM_LOST, "%s", found->unreadable.at[i]);
    problems_sort(&out->problems);
    arena_deinit(&scratch);
}

bool trace_file_is(struct bytes in)
{
    return trace_is_known(in);
}

/* A tracefile by itself, for those who do not add them up: the table of importers is asked in turn
 * which of them knows the bytes. */
bool trace_file_read(struct trace_file *f, struct bytes in, const char *name, struct err *e)
{
    const struct trace_importer *format = trace_importer_of(in);
    if (!format)
        return err_in(e, name, "is not a tracefile");
    f->format = format->name;
    f->title = format->title;
    return format->read(bytes_without_mark(in), name, &f->found, e);
}
