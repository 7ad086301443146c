/* monarc html: one page with everything to look at.
 *
 * Operands are about a profile or about coverage, told apart by what they are. Each half is opened
 * as its own commands open it, and described for the page: a struct page_profile and a struct
 * page_coverage of pointers into the sessions, from which src/page writes. With --base the same is
 * done once more, recursively, for what to compare with.
 *
 * The page is one file as long as browsers open that with ease (MOST_BYTES); beyond, or with
 * --folder, sources are files beside it. It replaces an old page when it is complete. */
#include "cli/html.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "profile/analysis/diagnosis.h"
#include "profile/report/report_header.h"
#include "session/coverage.h"
#include "session/imported.h"
#include "session/session.h"
#include "session/report_inputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
    struct coverage_session covered;
    struct coverage_gate gates[GATES];
    struct coverage_change change;
    struct blame *blames; /* by source of the coverage */
    struct page_profile profile;
    struct page_coverage coverage;
    struct page_input page;
    struct html_options *base_options; /* of `base` */
    struct html_data *base;            /* an older one, or NULL */
};

/* --- operands -------------------------------------------------------------------------------- */

/* Keeps the order within each kind: the first profile's program is that of the others. */
void html_operands(struct html_options *o, char **names, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_coverage_operand(names[i]))
            vec_push(&o->coverage, names[i]);
        else
            vec_push(&o->profile, names[i]);
    }
}

/* A profile alone gets the program of the newer side put in front of it. The patch is left out: it
 * is about today's lines. */
void html_base_options(struct html_options *base, const struct html_options *o)
{
    base->view.session = (struct session_options){.read = o->view.session.read,
                                                  .debug_dir = o->view.session.debug_dir,
                                                  .symbols = o->view.session.symbols,
                                                  .is_forced = o->view.session.is_forced,
                                                  .has_hosts = o->view.session.has_hosts,
                                                  .no_demangle = o->view.session.no_demangle};
    base->cover = o->cover;
    base->cover.session.patch = NULL;
    base->is_base = true;
    html_operands(base, o->base.at, o->base.len);
    if (base->profile.len == 1 && !is_recording(base->profile.at[0]) && o->profile.len) {
        vec_push(&base->profile, base->profile.at[0]);
        base->profile.at[0] = o->profile.at[0];
    }
}

/* A base has copied the options on coverage, and must not free them a second time. */
void html_options_deinit(struct html_options *o)
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

/* When a file was last written, in seconds; 0: it is not there. */
static int64_t html_changed(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : st.st_mtime;
}

/* The findings of doctor, which the summary of the page shows. */
static void html_judge(struct html_data *d, const struct html_options *o)
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
                                 .profile_changed = html_changed(profile),
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
    d->input = (struct source_input){.functions = &s->functions,
                                     .profile = &s->profile,
                                     .time = &s->time,
                                     .graph = &s->graph,
                                     .names = &s->names,
                                     .objects = d->profile.objects,
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

/* The session, its diagnosis, and the description of both for the page. Times of the graph are
 * measured where stacks were recorded, and samples have places, as lines need them. */
static bool html_open_profile(struct html_data *d, struct html_options *o, struct err *e)
{
    struct session *s = &d->session;
    struct session_options *q = &o->view.session;
    q->measures_graph = true;
    q->places_samples = true;
    q->names_inlined = true;
    if (!session_operands(q, o->profile.at, o->profile.len, e) || !session_open(s, q, e))
        return false;
    html_judge(d, o);
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
        .measured_at = html_changed(q->profiles[0]),
    };
    if (s->folder) {
        d->profile.space = &s->recorded.space;
        d->profile.named = s->recorded.named.functions.len ? &s->recorded.named : NULL;
        d->profile.choice = &s->recorded.choice;
        d->profile.weights = s->recorded.weights.node;
        d->profile.measured_at = (int64_t)(s->recorded.recording.start_real_ns / 1000000000);
    }
    if (session_has_debug_info(s))
        html_find_lines(d, o);
    d->page.profile = &d->profile;
    return true;
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

/* git is asked once for each source, several at a time: it is slow, and each answer is
 * independent. */
static void html_find_blame(struct html_data *d, struct progress *progress)
{
    size_t len = d->covered.result.sources.len;
    struct blame_job job = {d, progress};
    d->blames = ARENA_NEW(&d->arena, struct blame, len + 1);
    progress_phase(progress, "asking git who wrote the lines", len);
    parallel_for(len, 0, html_blame_source, &job);
    d->coverage.blames = d->blames;
    d->coverage.blamed_at = d->coverage.measured_at ? d->coverage.measured_at : time(NULL);
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
                                      d->gates[i].has_failed};
    d->coverage.gates = gates;
    if (c->files.counters.len)
        d->coverage.measured_at = html_changed(c->files.counters.at[0].path);
    if (o->has_blame)
        html_find_blame(d, o->cover.session.read.progress);
    d->page.coverage = &d->coverage;
    return true;
}

/* --- both ------------------------------------------------------------------------------------ */

/* A folder has its own name wherever it is seen from; "." would say nothing. */
static const char *html_title_of(struct html_data *d, const struct html_options *o)
{
    char full[PATH_MAX];
    if (o->title)
        return o->title;
    if (d->page.profile)
        return arena_printf(&d->arena, "%s: %s", path_base_name(d->session.summary.program),
                            d->page.coverage ? "time and coverage" : "profile");
    const char *operand = o->coverage.len ? o->coverage.at[0] : ".";
    const char *last = path_base_name(operand);
    bool has_name = strcmp(last, ".") && strcmp(last, "..") && *last;
    const char *name = !has_name && realpath(operand, full) ? path_base_name(full) : "";
    return arena_printf(&d->arena, "Coverage of %s", *name ? name : operand);
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
    if (d->base->page.coverage && d->page.coverage) {
        d->coverage.base = &d->base->covered.result;
        coverage_change_make(&d->change, d->coverage.base, d->coverage.result);
        d->coverage.change = &d->change;
    }
    return true;
}

/* Opens both halves and the base into a zeroed *d; html_data_close() after failure, too. A base
 * has no base of its own, as html_base_options() leaves `base` empty: the recursion ends there. */
static bool html_data_open(struct html_data *d, struct html_options *o, struct err *e)
{
    const char *more = getenv("GPROF_PATH");
    if (more)
        source_search_add(&o->cover.search, more);
    if (o->profile.len && !html_open_profile(d, o, e))
        return false;
    if (o->coverage.len && !html_open_coverage(d, o, e))
        return false;
    if (o->base.len && !html_open_base(d, o, e))
        return false;
    d->page.title = html_title_of(d, o);
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
    coverage_change_deinit(&d->change);
    diagnosis_deinit(&d->diagnosis);
    annotate_deinit(&d->code);
    source_lines_deinit(&d->lines);
    coverage_session_close(&d->covered);
    session_close(&d->session);
    arena_deinit(&d->arena);
}

/* --- the command ----------------------------------------------------------------------------- */

/* Machine code, inlines and blame make a page larger and slower to write, so they are asked for. */
static const struct option_row OPTIONS[] = {
    {'o', "output", "FILE", "the page (default: report.html; - is standard output)",
     FILLS(struct html_options, output)},
    {0, "title", "TEXT", "what the page is called", FILLS(struct html_options, title)},
    {0, "folder", NULL, "sources as files beside the page, loaded when they are looked at",
     FILLS(struct html_options, is_folder)},
    {0, "asm", "[att|intel]", "with the machine code of lines that have time",
     CHOOSES(struct html_options, is_intel), ALSO_SETS(struct html_options, has_code)},
    {0, "inlines", NULL, "with the places that the code of lines was inlined into",
     FILLS(struct html_options, has_inlines)},
    {0, "blame", NULL, "with the author and the age of each line of covered sources, by git",
     FILLS(struct html_options, has_blame)},
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in",
     FILLS(struct html_options, view.session.has_hosts)},
};

/* A page that is being written. */
struct html_page {
    const struct html_options *options;
    struct html_data data;
    struct page *page;
    const char *beside; /* folder of the sources, with a slash; NULL: they are in the page */
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
    return output_to(o->output, html_write, p, out, e);
}

/* Opens, writes, and judges the gates. */
static int html_show(struct html_options *o, struct html_page *p, struct progress *progress,
                     struct out *out, struct err *e)
{
    o->view.session.wants_code = o->has_code;
    o->view.session.read.progress = o->cover.session.read.progress = progress;
    if (!cover_options_finish(&o->cover, e) || !html_data_open(&p->data, o, e) ||
        !html_write_page(p, progress, out, e))
        return EXIT_BAD;
    for (size_t i = 0; i < p->data.coverage.gates_len; i++) {
        const struct page_gate *g = &p->data.coverage.gates[i];
        if (g->has_failed) {
            err_set(e, "%s coverage is %.2f %%, less than %.2f %%", g->name, g->percent, g->limit);
            return EXIT_DIFFERS;
        }
    }
    return EXIT_FINE;
}

/* The page is freed first, since it points into the data, and the data before the options whose
 * texts it uses. */
static int html_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct html_options o = {.output = "report.html"};
    struct html_page p = {.options = &o};
    struct operands operands;
    int status = EXIT_BAD;
    cover_options_init(&o.cover);
    enum options_end end = options_read(self, argc, argv, &o, &operands, out, e);
    if (end == OPTIONS_HELPED) {
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ && !operands.len) {
        err_set(e, "html needs a PROGRAM, a RECORDING or a folder with coverage; see 'monarc html "
                   "--help'");
    } else if (end == OPTIONS_READ) {
        struct progress *progress = progress_start();
        html_operands(&o, operands.at, operands.len);
        status = html_show(&o, &p, progress, out, e);
        progress_end(progress);
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
const struct command command_html = {
    .name = "html",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...] [DIR|FILE...]",
    .summary = "Write one page with a profile, its sources and their coverage to look at",
    OPTIONS_OF(OPTIONS, GROUPS),
    .run = html_run,
};
