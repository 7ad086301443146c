/* monarc html and monarc tui: a profile, coverage or both, as one page with everything to look at,
 * and on the terminal.
 *
 * Operands are about a profile or about coverage, distinguished by their kind. Each half is opened
 * as its own commands open it, and described for the page: a struct page_profile and a struct
 * page_coverage of pointers into the sessions, from which src/page writes.
 *
 * With --base the same is done again, recursively, for the other side of the comparison.
 *
 * The page is one file as long as browsers open that with ease (MOST_BYTES); beyond, or with
 * --folder, sources are files beside it. It replaces an old page when it is complete. */
#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "cli/cli.h"
#include "page/page.h"
#include "profile/analysis/diagnosis.h"
#include "profile/report/report_header.h"
#include "session/coverage.h"
#include "session/imported.h"
#include "session/report_inputs.h"
#include "session/session.h"
#include "tui/terminal.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Filled by the options of both commands: whatever one of them can open, the other can. The base
 * has a struct of its own, which shares what it may with this one. */
struct html_options {
    struct view_options view;
    struct cover_options cover;
    const char *output, *title;
    const char *function; /* that the page begins with; NULL: with the summary */
    bool has_code, is_intel, has_inlines, has_blame, has_all_sources;
    bool is_folder; /* sources are files beside the page */
    bool opens;     /* the page, in a browser */
    bool is_base;   /* what another measurement is compared with; shares that one's cover options */
    /* Operands, split by html_operands(). */
    VEC(char *) profile, coverage;
    struct option_list base; /* values of --base */
};

enum { MOST_BYTES = 20 << 20 };

/* One measurement, opened. Everything a page points into. Opened from the top down, closed from the
 * bottom up. */
struct html_data {
    struct arena arena;
    struct session session;
    struct diagnosis diagnosis;
    struct source_input input;
    struct source_lines lines;
    struct annotated code;
    struct lines_table inlines;
    struct names waits_names; /* of what follows */
    struct locks locks, io;
    struct schedule schedule;
    struct schedule_path path;
    struct coverage_session covered;
    struct coverage_gate gates[GATES];
    struct coverage_change change;
    struct blame *blames; /* by source of the coverage */
    struct baseline compared;
    struct page_comparison comparison;
    struct page_profile profile;
    struct page_coverage coverage;
    struct page_input page;
    struct source_folders folders;     /* whose sources the page may have */
    struct html_options *base_options; /* of `base` */
    struct html_data *base;            /* an older one, or NULL */
};

/* --- operands -------------------------------------------------------------------------------- */

/* Keeps the order within each kind: the first profile's program is that of the others. A program
 * may be of both kinds. */
static void html_operands(struct html_options *o, char **names, size_t len)
{
    struct operand_mix mix = operand_mix_of(names, len);
    for (size_t i = 0; i < len; i++) {
        if (operand_is_of_coverage(&mix, names[i]))
            vec_push(&o->coverage, names[i]);
        if (operand_is_of_profile(&mix, names[i]))
            vec_push(&o->profile, names[i]);
    }
}

/* A profile alone gets the program of the newer side put in front of it, and so do profiles of
 * clang's coverage alone. The patch is left out: it is about today's lines. What chooses a part of
 * a recording, as an event or a process, applies to both sides: else a part would be compared with
 * a whole. */
static void html_base_options(struct html_options *base, const struct html_options *o)
{
    base->view.session = (struct session_options){.read = o->view.session.read,
                                                  .debug_dir = o->view.session.debug_dir,
                                                  .symbols = o->view.session.symbols,
                                                  .is_forced = o->view.session.is_forced,
                                                  .has_hosts = o->view.session.has_hosts,
                                                  .recorded = o->view.session.recorded,
                                                  .no_demangle = o->view.session.no_demangle};
    base->cover = o->cover;
    base->cover.session.patch = NULL;
    base->is_base = true;
    html_operands(base, o->base.at, o->base.len);
    if (base->profile.len == 1 && !is_recording(base->profile.at[0]) && o->profile.len) {
        vec_push(&base->profile, base->profile.at[0]);
        base->profile.at[0] = o->profile.at[0];
    }
    struct operand_mix mix = operand_mix_of(base->coverage.at, base->coverage.len);
    for (size_t i = 0; mix.has_llvm && !mix.programs && i < o->coverage.len; i++)
        if (is_program(o->coverage.at[i]))
            vec_push(&base->coverage, o->coverage.at[i]);
}

/* A base has copied the options on coverage, and must not free them a second time. */
static void html_options_deinit(struct html_options *o)
{
    vec_free(&o->profile);
    vec_free(&o->coverage);
    vec_free(&o->base);
    filter_deinit(&o->view.filter);
    if (!o->is_base)
        cover_options_deinit(&o->cover);
}

static bool html_data_open(struct html_data *d, struct html_options *o, struct err *e);

/* --- a profile ------------------------------------------------------------------------------- */

/* When a file was last written, in seconds; 0: it is not there. False for trouble: without the
 * time, no source would be marked as changed since, and the page would look better than it is. */
static bool html_changed(const char *path, int64_t *changed, struct err *e)
{
    struct stat st;
    bool is_there = !stat(path, &st);
    *changed = is_there ? st.st_mtime : 0;
    return is_there || !errno_is_trouble(errno) || err_errno(e, path, errno);
}

/* The findings of doctor, which the summary of the page shows. */
static void html_judge(struct html_data *d, const struct html_options *o, int64_t changed)
{
    struct session *s = &d->session;
    const struct recorded *from = &s->recorded;
    const char *profile = o->view.session.profiles[0];
    if (s->folder) {
        diagnose_run(&d->diagnosis,
                     &(struct recording_diagnosis_input){&from->space, &s->functions,
                                                         &from->weights, &from->stacks,
                                                         &from->summary},
                     &d->arena);
        return;
    }
    struct diagnosis_input in = {.program = s->program,
                                 .profile = profile,
                                 .object = s->object,
                                 .functions = &s->functions,
                                 .measured = &s->profile,
                                 .profile_changed = changed,
                                 .time = &s->time,
                                 .graph = &s->graph,
                                 .summary = &s->summary};
    diagnose(&d->diagnosis, &in, &s->names, &d->arena);
}

/* Of each line with time, where it was inlined and how much of its time was spent in that copy:
 * a table of lines with its own names. */
static void html_find_inlines(struct html_data *d, const struct html_options *o)
{
    struct session *s = &d->session;
    struct filter all = {0};
    struct view_rules rules = {.sort = BY_SELF, .filter = &all};
    uint32_t len = session_objects_len(s);
    const char **names = ARENA_NEW(&d->arena, const char *, len);
    for (uint32_t i = 0; i < len; i++)
        names[i] = s->folder ? space_object_name(&s->recorded.space, i) : s->summary.program;
    struct lines_input in = {.functions = &s->functions,
                             .objects = d->profile.objects,
                             .object_names = names,
                             .objects_len = len,
                             .profile = &s->profile,
                             .summary = &s->summary,
                             .demangle = d->profile.demangle,
                             .has_inlines = true};
    progress_phase(o->view.session.read.progress, "reading inlined calls", 0);
    lines_make(&d->inlines, &in, &rules, &d->arena);
    d->profile.inlines = &d->inlines;
}

/* Source lines, and what only the line panel shows: code and copies. Extents of functions are
 * needed to compare lines with those of a base. */
static void html_find_lines(struct html_data *d, const struct html_options *o)
{
    struct progress *progress = o->view.session.read.progress;
    struct session *s = &d->session;
    bool is_found;
    d->input = (struct source_input){
        .functions = &s->functions,
        .profile = &s->profile,
        .time = &s->time,
        .graph = &s->graph,
        .names = &s->names,
        .objects = d->profile.objects,
        .stacks = s->summary.stacks && !o->is_base ? stack_lines_input_of(s) : NULL,
        .keeps_stretches = o->has_code,
        .keeps_idle = o->has_code,
        .keeps_extents = o->is_base || o->base.len};
    progress_phase(progress, "reading line numbers", 0);
    source_lines_make(&d->lines, &d->input, &is_found, &d->arena);
    d->profile.lines = &d->lines;
    if (o->has_code) { /* of lines with time and a few around them, in functions with time */
        struct annotate_rules rules = {.context = 5, .has_code = true, .is_intel = o->is_intel};
        progress_phase(progress, "reading machine code", 0);
        annotate_make(&d->code, &d->lines, &s->summary, &d->input, &o->cover.search, &rules,
                      &d->arena);
        d->profile.code = &d->code;
    }
    if (o->has_inlines)
        html_find_inlines(d, o);
}

/* What threads waited for, if that was recorded, and the critical path, if the whole run is shown:
 * a path through a part would end nowhere. */
static void html_find_waits(struct html_data *d, const struct html_options *o)
{
    struct recorded *from = &d->session.recorded;
    struct err why = {0};
    bool is_part = recorded_filter_chooses(&o->view.session.recorded);
    if (from->recording.links.len && !from->choice.windows_len && !from->choice.labels) {
        struct locks_input in = {.summary = &d->session.summary,
                                 .recording = &from->recording,
                                 .choice = &from->choice,
                                 .frames = &from->named,
                                 .names = &d->waits_names,
                                 .demangle = view_demangler(&o->view.session)};
        names_init(&d->waits_names, &from->named.functions, in.demangle, &d->arena);
        locks_make(&d->locks, &in, &d->arena);
        in.is_io = true;
        locks_make(&d->io, &in, &d->arena);
        names_shorten(&d->waits_names, NULL);
        d->profile.locks = &d->locks;
        d->profile.io = &d->io;
    }
    if (!is_part && from->recording.parts.len < 2 && !o->view.session.recorded.by_label &&
        schedule_make(&d->schedule, &from->recording, recorded_spins(from, &d->session.functions),
                      &d->arena, &why)) {
        schedule_find_path(&d->schedule, &d->path, &d->arena);
        d->profile.path = &d->path;
    }
}

/* The function that the page begins with: of those that are meant, the one with the most total
 * time or, without samples, the most calls. The page has rows of what was measured alone, so a
 * function without any is refused: the reader would look for it on the summary in vain. */
static bool html_find_function(struct html_data *d, const char *name, struct err *e)
{
    struct session *s = &d->session;
    const struct stacks *stacks = s->summary.stacks;
    struct function_list found = {0};
    uint32_t *best = ARENA_NEW(&d->arena, uint32_t, 1);
    double most = 0;
    bool ok = functions_named(name, &s->names, s->program, &found, e);
    for (size_t i = 0; i < found.all.len; i++) {
        const struct graph_node *n = &s->graph.nodes[found.all.at[i]];
        double total = stacks ? stacks->inclusive[found.all.at[i]] : n->self + n->children;
        if (!s->summary.has_samples)
            total = (double)(n->calls + n->self_calls);
        if (total > most) {
            most = total;
            *best = found.all.at[i];
            d->profile.begin = best;
        }
    }
    vec_free(&found.all);
    return ok &&
           (d->profile.begin || err_set(e, "%s: nothing was measured in '%s'", s->program, name));
}

/* The session, its diagnosis, and the description of both for the page. Times of the graph are
 * measured where stacks were recorded, and samples have places, as lines need them. */
static bool html_open_profile(struct html_data *d, struct html_options *o, struct err *e)
{
    struct session *s = &d->session;
    struct session_options *q = &o->view.session;
    int64_t changed;
    q->measures_graph = true;
    q->places_samples = true;
    q->names_inlined = true;
    q->others = OTHERS_TOTAL;
    if (!session_operands(q, o->profile.at, o->profile.len, e) || !session_open(s, q, e) ||
        !html_changed(q->profiles[0], &changed, e))
        return false;
    html_judge(d, o, changed);
    d->profile = (struct page_profile){
        .summary = &s->summary,
        .graph = &s->graph,
        .functions = &s->functions,
        .demangle = view_demangler(q),
        .objects = session_objects(s),
        .diagnosis = &d->diagnosis,
        .method = s->folder                ? recording_method_name(s->recorded.recording.method)
                  : s->summary.has_samples ? "profiling clock of the program itself"
                                           : "calls alone",
        .measured_at = changed,
    };
    if (s->folder) {
        d->profile.space = &s->recorded.space;
        d->profile.named = s->recorded.named.functions.len ? &s->recorded.named : NULL;
        d->profile.choice = &s->recorded.choice;
        d->profile.weights = s->recorded.weights.node;
        d->profile.measured_at = (int64_t)(s->recorded.recording.start_real_ns / 1000000000);
    }
    if (s->folder)
        html_find_waits(d, o);
    if (session_has_debug_info(s))
        html_find_lines(d, o);
    d->page.profile = &d->profile;
    return !o->function || html_find_function(d, o->function, e);
}

/* --- coverage -------------------------------------------------------------------------------- */

/* What the threads that ask git share; each writes the element of its source alone. */
struct blame_job {
    struct html_data *d;
    struct progress *progress;
};

/* One source's lines, on one of several threads. A source that git does not know has none. */
static void html_blame_source(size_t i, void *context)
{
    const struct blame_job *job = context;
    const char *path = job->d->covered.result.sources.at[i].file;
    struct err why = {0};
    if (path && !git_blame(path, &job->d->blames[i], &why))
        job->d->blames[i] = (struct blame){0};
    progress_step(job->progress);
}

/* The session and its description for the page, gates included. */
static bool html_open_coverage(struct html_data *d, struct html_options *o, struct err *e)
{
    struct coverage_session *c = &d->covered;
    o->cover.session.paths = o->coverage.at;
    o->cover.session.paths_len = o->coverage.len;
    if (!o->view.session.no_demangle)
        o->cover.session.result.demangle = demangle;
    if (!coverage_session_open(c, &o->cover.session, e))
        return false;
    d->coverage = (struct page_coverage){
        .result = &c->result,
        .problems = &c->reading.problems,
        .diff = o->cover.session.patch ? &c->diff : NULL,
        .patch = o->cover.session.patch,
        .patch_lines = o->cover.session.patch ? &c->patch : NULL,
        .objects = c->reading.objects,
        .unrun = c->reading.unrun,
        .counters = c->reading.counters,
        .ignores_markers = o->cover.session.result.ignores_markers,
        .traces = c->reading.traces,
        .gates_len = cover_gates(&o->cover, c, d->gates),
    };
    struct page_gate *gates = ARENA_NEW(&d->arena, struct page_gate, GATES);
    for (size_t i = 0; i < d->coverage.gates_len; i++)
        gates[i] = (struct page_gate){d->gates[i].name, d->gates[i].limit, d->gates[i].percent,
                                      gate_verdict_names[d->gates[i].verdict]};
    d->coverage.gates = gates;
    const char *measured = c->files.counters.len   ? c->files.counters.at[0].path
                           : c->files.profiles.len ? c->files.profiles.at[0].path
                                                   : NULL;
    if (measured && !html_changed(measured, &d->coverage.measured_at, e))
        return false;
    if (o->has_blame) {
        /* git is asked once for each source, several at a time: it is slow, and each answer is
         * independent. */
        struct progress *progress = o->cover.session.read.progress;
        size_t len = d->covered.result.sources.len;
        struct blame_job job = {d, progress};
        d->blames = ARENA_NEW(&d->arena, struct blame, len + 1);
        progress_phase(progress, "asking git who wrote the lines", len);
        parallel_for(len, 0, html_blame_source, &job);
        d->coverage.blames = d->blames;
        d->coverage.blamed_at = d->coverage.measured_at ? d->coverage.measured_at : time(NULL);
    }
    d->page.coverage = &d->coverage;
    return true;
}

/* --- both ------------------------------------------------------------------------------------ */

/* A folder has its own name wherever it is seen from; "." would say nothing. */
static const char *html_title_of(struct html_data *d, const struct html_options *o)
{
    enum { LONGEST_ARGUMENTS = 60 };
    char full[PATH_MAX];
    if (o->title)
        return o->title;
    if (d->page.profile) {
        /* Of several processes the first is often a shell: what was typed says more. */
        const struct recording_summary *run = d->session.summary.run;
        const char *command = run && *run->command ? run->command : NULL;
        const char *name = path_base_name(d->session.summary.program);
        if (command) {
            const char *space = strchr(command, ' ');
            size_t first = space ? (size_t)(space - command) : strlen(command);
            const char *base = path_base_name(arena_copy(&d->arena, command, first));
            name = arena_printf(&d->arena, "%s%.*s", base, LONGEST_ARGUMENTS, command + first);
        }
        return arena_printf(&d->arena, "%s: %s", name,
                            d->page.coverage ? "time and coverage" : "profile");
    }
    const char *operand = o->coverage.len ? o->coverage.at[0] : ".";
    const char *last = path_base_name(operand);
    bool has_name = strcmp(last, ".") && strcmp(last, "..") && *last;
    const char *name = !has_name && realpath(operand, full) ? path_base_name(full) : "";
    return arena_printf(&d->arena, "Coverage of %s", *name ? name : operand);
}

/* Keeps a caveat for the page: its text lives no longer than this call, and the page is written
 * when both sides have been described. */
static void html_take_note(void *context, const char *sentence)
{
    struct html_data *d = context;
    vec_push(&d->comparison.notes, arena_copy(&d->arena, sentence, strlen(sentence)));
}

/* As `monarc diff` compares them, run by run: the sides of the page are means of their runs, which
 * do not say how much runs differ. So both are read once more, each run by itself, which takes less
 * than what the page reads of them besides. */
static bool html_compare(struct html_data *d, struct html_options *o, struct html_options *base,
                         struct err *e)
{
    struct side_names old = {.names = base->profile.at, .len = base->profile.len};
    struct side_names new = {.names = o->profile.at, .len = o->profile.len};
    if (!side_open(&d->compared.old, &base->view.session, &old, e) ||
        !side_open(&d->compared.new, &o->view.session, &new, e))
        return false;
    baseline_make(&d->compared, NULL);
    d->comparison.made = &d->compared.comparison;
    comparison_notes(d->comparison.made, html_take_note, d);
    d->profile.comparison = &d->comparison;
    return true;
}

/* The base is opened as the page's own data. */
static bool html_open_base(struct html_data *d, struct html_options *o, struct err *e)
{
    struct html_options *q = ARENA_NEW(&d->arena, struct html_options, 1);
    d->base_options = q;
    html_base_options(q, o);
    /* What was left out of a tracefile was so when it was made; comments in today's sources stand
     * on other lines. */
    bool is_all_traces = q->coverage.len > 0;
    for (size_t i = 0; i < q->coverage.len; i++)
        is_all_traces &= path_has_suffix(q->coverage.at[i], ".info");
    q->cover.session.result.ignores_markers |= is_all_traces;
    d->base = ARENA_NEW(&d->arena, struct html_data, 1);
    if (!html_data_open(d->base, q, e))
        return false;
    d->profile.base = d->base->page.profile;
    if (d->profile.base && d->page.profile && !html_compare(d, o, q, e))
        return false;
    if (d->base->page.coverage && d->page.coverage) {
        d->coverage.base = &d->base->covered.result;
        coverage_change_make(&d->change, d->coverage.base, d->coverage.result);
        d->coverage.change = &d->change;
    }
    return true;
}

/* What may be published: the project around the current folder and around each operand and, for
 * recordings that lie elsewhere, around the program that ran; and what the user named with
 * --source-dir and --path-map. Names inside the operands decide nothing, as any program may have
 * chosen them. A recorded path counts only if a program is there: it is a name, too. */
static bool html_find_folders(struct html_data *d, const struct html_options *o, struct err *e)
{
    struct source_folders *f = &d->folders;
    const char *program = d->session.folder ? d->session.summary.program : d->session.program;
    bool is_there = d->session.folder && !access(program, X_OK);
    if (d->session.folder && !is_there && errno_is_trouble(errno))
        return err_errno(e, program, errno);
    const char *folders[] = {".", is_there ? program : NULL};
    f->arena = &d->arena;
    for (size_t i = 0; i < 2 + o->profile.len + o->coverage.len; i++) {
        const char *operand = i < 2                    ? folders[i]
                              : i - 2 < o->profile.len ? o->profile.at[i - 2]
                                                       : o->coverage.at[i - 2 - o->profile.len];
        if (!operand)
            continue;
        size_t len = path_is_folder(operand) ? strlen(operand) : path_folder_length(operand);
        const char *folder = arena_copy(&d->arena, operand, len);
        if ((len || *operand != '/') &&
            (!source_folders_add(f, folder, e) ||
             !source_folders_add(f, project_folder(folder, &d->arena), e)))
            return false;
    }
    for (size_t i = 0; i < o->cover.search.dirs.len; i++)
        if (!source_folders_add(f, o->cover.search.dirs.at[i], e))
            return false;
    for (size_t i = 0; i < o->cover.search.maps.len; i++)
        if (!source_folders_add(f, o->cover.search.maps.at[i].to, e))
            return false;
    d->page.folders = o->has_all_sources ? NULL : f;
    return true;
}

/* Opens both halves and the base into a zeroed *d; html_data_close() after failure, too. A base
 * has no base of its own, as html_base_options() leaves `base` empty: the recursion ends there. */
static bool html_data_open(struct html_data *d, struct html_options *o, struct err *e)
{
    const char *more = getenv("GPROF_PATH");
    if (more)
        source_search_add(&o->cover.search, more);
    if (o->function && !o->profile.len)
        return err_set(e, "--function needs a profile: a page of coverage begins with its sources");
    if (o->profile.len && !html_open_profile(d, o, e))
        return false;
    if (o->coverage.len && !html_open_coverage(d, o, e))
        return false;
    if (o->base.len && !html_open_base(d, o, e))
        return false;
    d->page.title = html_title_of(d, o);
    if (!html_find_folders(d, o, e))
        return false;
    d->page.search = &o->cover.search;
    d->page.folder = o->coverage.len ? d->covered.root : o->cover.session.filter.root;
    return true;
}

/* From the outside in: what points into a session goes before it. */
static void html_data_close(struct html_data *d)
{
    if (d->base) {
        html_data_close(d->base);
        html_options_deinit(d->base_options);
    }
    for (size_t i = 0; d->blames && i < d->covered.result.sources.len; i++)
        blame_deinit(&d->blames[i]);
    vec_free(&d->comparison.notes);
    baseline_deinit(&d->compared);
    coverage_change_deinit(&d->change);
    diagnosis_deinit(&d->diagnosis);
    annotate_deinit(&d->code);
    source_lines_deinit(&d->lines);
    coverage_session_close(&d->covered);
    session_close(&d->session);
    source_folders_deinit(&d->folders);
    arena_deinit(&d->arena);
}

/* --- the command ----------------------------------------------------------------------------- */

/* Machine code, inlines and blame make a page larger and slower to write, so they are optional. */
static const struct option_row OPTIONS[] = {
    {'o', "output", "FILE", "the page (default: report.html; - is standard output)",
     FILLS(struct html_options, output)},
    {0, "title", "TEXT", "title of the page", FILLS(struct html_options, title)},
    {'f', "function", "NAME", "open the page at this function, or at the hottest of /REGEX/",
     FILLS(struct html_options, function)},
    {0, "open", NULL, "open the page: in $BROWSER, else by xdg-open",
     FILLS(struct html_options, opens)},
    {0, "folder", NULL, "sources as files next to the page, loaded when they are opened",
     FILLS(struct html_options, is_folder)},
    {0, "asm", "[att|intel]", "with the machine code of lines that have time",
     CHOOSES(struct html_options, is_intel), ALSO_SETS(struct html_options, has_code)},
    {0, "inlines", NULL, "with the places that the code of lines was inlined into",
     FILLS(struct html_options, has_inlines)},
    {0, "all-sources", NULL,
     "also show sources outside the project: all files that the measurement names",
     FILLS(struct html_options, has_all_sources)},
    {0, "blame", NULL, "with the author and the age of each line of covered sources, by git",
     FILLS(struct html_options, has_blame)},
    HOSTS_ROW(struct html_options, view.session.has_hosts),
};

/* A page that is being written. */
struct html_page {
    const struct html_options *options;
    struct html_data data;
    struct page *page;
    const char *beside; /* folder of the sources, with a slash; NULL: they are in the page */
    bool is_written;
};

/* An output_writer. */
static bool html_write(void *context, struct out *out, struct err *e)
{
    const struct html_page *p = context;
    return page_write(p->page, out, p->beside, e);
}

/* The page's pieces are made first, since their size decides where sources go. */
static bool html_write_page(struct html_page *p, struct progress *progress, struct out *out,
                            struct err *e)
{
    const struct html_options *o = p->options;
    p->page = page_new(&p->data.page, progress);
    if (strcmp(o->output, "-") && (o->is_folder || page_bytes(p->page) > MOST_BYTES)) {
        /* NAME-sources/ beside the page. */
        size_t len = strlen(o->output), stem = path_has_suffix(o->output, ".html") ? len - 5 : len;
        const char *folder = arena_printf(&p->data.arena, "%.*s-sources", (int)stem, o->output);
        if (mkdir(folder, 0777) && errno != EEXIST)
            return err_errno(e, folder, errno);
        p->beside = arena_printf(&p->data.arena, "%s/", folder);
        if (!o->is_folder)
            out_printf(out, "The sources are in %s: in one file there would be %zu MB.\n",
                       p->beside, page_bytes(p->page) >> 20);
    }
    /* Said before anything can fail, as it explains a page that seems to lack sources. */
    size_t outside = page_outside(p->page);
    if (outside && strcmp(o->output, "-"))
        out_printf(out,
                   "The text of %zu source%s outside the project is not in the page: --source-dir "
                   "names folders to take, --all-sources takes all.\n",
                   outside, text_plural(outside));
    const struct html_data *base = p->data.base;
    return page_is_whole(p->page, false, e) && session_is_read(&p->data.session, e) &&
           (!base || session_is_read(&base->session, e)) &&
           output_file(o->output, html_write, p, out, e) && (p->is_written = true);
}

/* One script for sh tries the browsers in turn: BROWSER is a list of commands, between colons, and
 * %s in one of them is the page. xdg-open looks for BROWSER itself, but only if no desktop runs.
 * Waits for the browser, as it may be one of the terminal. */
static bool html_open_browser(const char *path, struct arena *a, struct err *e)
{
    const char *browser = getenv("BROWSER"), *x11 = getenv("DISPLAY"),
               *wayland = getenv("WAYLAND_DISPLAY"), *script = "";
    bool is_chosen = browser && *browser;
    if (!is_chosen && !(x11 && *x11) && !(wayland && *wayland))
        return err_set(e, "%s cannot be opened: there is no display, and BROWSER names no browser",
                       path);
    for (const char *list = is_chosen ? browser : "xdg-open"; *list;) {
        size_t len = strcspn(list, ":");
        const char *one = arena_copy(a, list, len), *place = strstr(one, "%s");
        one = place ? arena_printf(a, "%.*s\"$1\"%s", (int)(place - one), one, place + 2)
                    : arena_printf(a, "%s \"$1\"", one);
        if (len)
            script = arena_printf(a, "%s%s%s", script, *script ? " || " : "", one);
        list += len + (list[len] == ':');
    }
    char shell[] = "sh", option[] = "-c", name[] = "monarc";
    char *arguments[] = {
        shell, option, arena_copy(a, script, strlen(script)), name, path_absolute(path, a), NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ))
        return err_errno(e, "/bin/sh", errno);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(e, "/bin/sh", errno);
    return !status ||
           err_set(e, "%s was not opened: %s failed", path, is_chosen ? "BROWSER" : "xdg-open");
}

/* Opens, writes, and judges the gates. As with 'monarc cover', a page without a line that ran does
 * not replace one when some input could not be used, nor does any when trouble of the system hid an
 * input; others say so by their status. */
static int html_show(struct html_options *o, struct html_page *p, struct progress *progress,
                     struct out *out, struct err *e)
{
    if (o->opens && !strcmp(o->output, "-")) {
        err_set(e, "--open needs a file, not standard output");
        return EXIT_BAD;
    }
    o->view.session.wants_code = o->has_code;
    o->view.session.read.progress = o->cover.session.read.progress = progress;
    if (!cover_options_finish(&o->cover, e) || !html_data_open(&p->data, o, e))
        return EXIT_BAD;
    /* The first coverage input that could not be used, or used in part. Other problems, such as a
     * program that never ran, are reported on the page alone: they are its subject. */
    const struct problems *all = &p->data.covered.reading.problems;
    bool is_lost = all->of_kind[PROBLEM_LOST] + all->of_kind[PROBLEM_PARTIAL];
    const char *lost = is_lost ? all->at.at[0].text : NULL;
    bool is_empty = !p->data.page.profile && !p->data.covered.result.sums.lines.hit;
    if (lost && (is_empty || p->data.covered.files.has_trouble)) {
        err_set(e, "%s could be used: %s", is_empty ? "nothing" : "not all", lost);
        return EXIT_BAD;
    }
    if (!html_write_page(p, progress, out, e) || !session_debug_is_whole(&p->data.session, e) ||
        !page_is_whole(p->page, true, e))
        return EXIT_BAD;
    enum gate_verdict verdict =
        coverage_gates_conclude(p->data.gates, p->data.coverage.gates_len, e);
    if (verdict != GATE_PASSED)
        return verdict == GATE_FAILED ? EXIT_DIFFERS : EXIT_BAD;
    if (lost)
        err_set(e, "%s", lost);
    else if (p->data.covered.result.trouble)
        err_set(e, "%s", p->data.covered.result.trouble);
    return e->line[0] ? EXIT_DIFFERS : EXIT_FINE;
}

/* The page is freed first, since it points into the data, and the data before the options whose
 * texts it uses. */
static int html_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct html_options o = {.output = "report.html"};
    struct html_page p = {.options = &o};
    struct operands operands;
    struct session_newest newest;
    int status = EXIT_BAD;
    cover_options_init(&o.cover);
    enum options_end end = options_read(self, argc, argv, &o, &operands, out, e);
    if (end == OPTIONS_HELPED) {
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ &&
               (operands.len || operands_newest(&operands, &newest, self, e))) {
        struct progress *progress = progress_start();
        html_operands(&o, operands.at, operands.len);
        status = html_show(&o, &p, progress, out, e);
        progress_end(progress);
        out_flush(out); /* a browser of the terminal comes after what was said */
        if (o.opens && p.is_written && !html_open_browser(o.output, &p.data.arena, e))
            status = EXIT_BAD;
    }
    page_free(p.page);
    html_data_close(&p.data);
    html_options_deinit(&o);
    return status;
}

static const struct option_group GROUPS[] = {
    GROUP(base_set, struct html_options, base),
    GROUP(part_set, struct html_options, view.session),
    GROUP(cover_gates_set, struct html_options, cover),
    COVER_GROUPS(struct html_options, cover),
    GROUP(demangle_set, struct html_options, view.session.no_demangle),
    FILE_GROUPS(struct html_options, view.session),
    GROUP(read_set, struct html_options, view.session.read),
};
#define PAGE_SYNOPSIS "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...] [DIR|FILE...]"
const struct command command_html = {
    .name = "html",
    .synopsis = PAGE_SYNOPSIS,
    .summary = "Write a page to browse a profile, its sources and their coverage",
    OPTIONS_OF(OPTIONS, GROUPS),
    .run = html_run,
};

/* ---- monarc tui: the screen. What is on it is in src/tui; its options and operands are those of
 * the page: a profile, coverage, or both, and what to compare with.
 *
 * The session is opened by the screen itself (tui_open), so that its progress is shown before the
 * terminal is taken. There is no output: whatever goes wrong is an error of this command. */

/* What the screen is to open, in its own terms. */
static bool tui_describe(struct html_options *o, struct tui_options *out, struct err *e)
{
    struct coverage_options *c = &o->cover.session;
    if (o->profile.len) {
        if (!session_operands(&o->view.session, o->profile.at, o->profile.len, e))
            return false;
        out->profile = &o->view.session;
    }
    if (o->coverage.len) {
        c->paths = o->coverage.at;
        c->paths_len = o->coverage.len;
        if (!o->view.session.no_demangle)
            c->result.demangle = demangle;
        out->coverage = c;
    }
    out->search = &o->cover.search;
    out->folder = c->filter.root;
    return true;
}

/* The terminal is checked before anything is opened: reading a large recording for a screen that
 * cannot be had would be in vain. GPROF_PATH is the search path of GNU gprof. */
static bool tui_start(struct html_options *o, const struct operands *operands, struct err *e)
{
    struct html_options base = {0};
    struct tui_options shown = {0}, shown_base = {0};
    struct terminal_state terminal;
    const char *more = getenv("GPROF_PATH");
    html_operands(o, operands->at, operands->len);
    if (!cover_options_finish(&o->cover, e) || !tui_describe(o, &shown, e))
        return false;
    if (more)
        source_search_add(&o->cover.search, more);
    html_base_options(&base, o);
    bool ok = tui_describe(&base, &shown_base, e);
    if (ok) {
        shown.base = o->base.len ? &shown_base : NULL;
        ok = terminal_find(&terminal, e) && screen_run(&shown, &terminal, e);
        terminal_forget(&terminal);
    }
    html_options_deinit(&base);
    return ok;
}

/* `out` is only for --help. */
static int tui_run(const struct command *self, int argc, char **argv, struct out *out,
                   struct err *e)
{
    struct html_options o = {0};
    struct operands operands;
    struct session_newest newest;
    cover_options_init(&o.cover);
    enum options_end end = options_read(self, argc, argv, &o, &operands, out, e);
    bool ok =
        end == OPTIONS_HELPED ||
        (end == OPTIONS_READ && (operands.len || operands_newest(&operands, &newest, self, e)) &&
         tui_start(&o, &operands, e));
    html_options_deinit(&o);
    return ok ? EXIT_FINE : EXIT_BAD;
}

static const struct option_group TUI_GROUPS[] = {
    GROUP(base_set, struct html_options, base),
    GROUP(part_set, struct html_options, view.session),
    COVER_GROUPS(struct html_options, cover),
    GROUP(demangle_set, struct html_options, view.session.no_demangle),
    FILE_GROUPS(struct html_options, view.session),
    GROUP(read_set, struct html_options, view.session.read),
};
const struct command command_tui = {
    .name = "tui",
    .synopsis = PAGE_SYNOPSIS,
    .summary = "Look at a profile, its sources and their coverage on the terminal",
    .groups = TUI_GROUPS,
    .groups_len = sizeof TUI_GROUPS / sizeof *TUI_GROUPS,
    .run = tui_run,
};
