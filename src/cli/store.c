/* monarc store: the history of a program's builds, in one file.
 *
 *     monarc store add --commit ID RECORDING|COVERAGE...   what a build measured
 *     monarc store export DIR                              a dataset of all that
 *     monarc store trend FUNCTION|FILE|--total             one figure over all commits
 *     monarc store diff OLD NEW                            two commits, function by function
 *     monarc store blame [FUNCTION|FILE|--total]           the commits at which figures changed
 *
 * Each recording, or profile after its program, is a run of its own; all coverage that is named
 * together is one. They are read as for `monarc diff` and `monarc cover`. */
#include "cli/cli.h"
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Options of all verbs. `commit` and `date` are of add; `least` is in percent. Sessions are opened
 * with the same options as for reports on one run. */
struct store_request {
    struct session_options session;
    struct cover_options cover;
    struct print_options print;
    const char *file, *commit, *date, *program, *event, *page;
    bool is_total, with_callees;
    uint64_t limit;
    double least; /* percent */
    struct arena arena;
};

/* In the current folder, as recordings are. Twenty rows of a comparison are a screen. */
#define DEFAULT_FILE "monarc-history.db"
enum { DEFAULT_ROWS = 20 };

/* Options of reading and of adding stand side by side: which verb it is is known only when the
 * operands are. */
static const struct option_row OPTIONS[] = {
    {0, "file", "FILE", "the history (default: $MONARC_STORE, or monarc-history.db here)",
     FILLS(struct store_request, file)},
    {0, "commit", "ID", "add: the commit that was built, under any name",
     FILLS(struct store_request, commit)},
    {0, "date", "DATE",
     "add: when it was made: seconds since 1970, or 2026-03-02[T12:00:00] UTC (default: now)",
     FILLS(struct store_request, date)},
    {0, "total", NULL, "trend, blame: all of the program, or all lines",
     FILLS(struct store_request, is_total)},
    {0, "with-callees", NULL, "trend, blame: total time of functions, with the functions they call",
     FILLS(struct store_request, with_callees)},
    {0, "program", "NAME", "the runs of NAME (default: of the run added last)",
     FILLS(struct store_request, program)},
    {'e', "event", "EVENT", "the runs of that event (default: of the run added last)",
     FILLS(struct store_request, event)},
    {0, "html", "FILE",
     "trend, blame: draw the figures as a page for browsers; - is standard output",
     FILLS(struct store_request, page)},
    {0, "min-change", "P", "blame, trend: turns of P percent and more (default: 1)",
     FILLS(struct store_request, least)},
    {'n', "limit", "N", "diff: show N functions; 0: all (default: 20)",
     FILLS(struct store_request, limit)},
};

/* --- add -------------------------------------------------------------------------------------- */

/* Seconds since 1970, or a date of ISO 8601 in UTC. */
static bool store_take_date(const char *text, int64_t *date, struct err *e)
{
    static const char *const FORMS[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
                                        "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"};
    char *end;
    /* A number to its last character is seconds. A date begins with digits as well, so that what
     * follows them decides. */
    *date = text ? strtoll(text, &end, 10) : time(NULL);
    if (!text || (*text && !*end))
        return true;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        struct tm parts = {0};
        const char *rest = strptime(text, FORMS[i], &parts);
        int day = parts.tm_mday;
        *date = timegm(&parts); /* makes the 3rd of March of the 31st of February */
        if (rest && !*rest && parts.tm_mday == day)
            return true;
    }
    return err_set(e, "--date takes seconds since 1970 or a date as 2026-03-02, not '%s'", text);
}

/* One line on the result of a run, so that a CI job's log shows what was added, and that a repeated
 * job adds nothing. */
static void store_say(struct out *out, const struct store_run *run, const char *what, bool is_there)
{
    text_name(out, run->commit);
    out_str(out, is_there ? " has it already: " : ": ");
    text_name(out, what);
    if (run->kind == STORE_COVERAGE)
        out_printf(out, ", %" PRIu64 " of %" PRIu64 " lines, %zu source%s\n", run->lines_hit,
                   run->lines, run->len, text_plural(run->len));
    else {
        out_printf(out, ", %.3f ", run->is_time ? run->total / 1e9 : run->total);
        text_name(out, run->is_time ? "s" : run->event);
        out_printf(out, " in %zu function%s\n", run->len, text_plural(run->len));
    }
}

/* The figures of a set of one run, or of a series. Times become ns, so that a number below one is
 * nothing. */
static void store_run_of(const struct run_set *set, struct store_run *run, struct arena *a)
{
    /* Of a profile that counts events the unit is an event, and CPU time is not its total. */
    double scale = set->has_time && !strcmp(set->dimension, "seconds") ? 1e9 : 1, runs = set->runs;
    /* All figures are means of one run, whatever number of runs the set has. */
    const struct run_total *cpu = run_set_total(set, "cpu_time");
    struct store_value *values = ARENA_NEW(a, struct store_value, set->ids.len);
    double all = 0;
    run->is_time = scale > 1;
    run->runs = set->runs;
    run->program = set->facts.len ? set->facts.at[0].program : path_base_name(set->program);
    run->event = set->facts.len ? set->facts.at[0].event : set->dimension ? set->dimension : "";
    run->processor = set->facts.len ? set->facts.at[0].processor : "";
    /* What one sample stands for, in the unit of the figures: the error follows from it. */
    run->period = set->rate > 0 ? scale / set->rate : 0;
    for (uint32_t i = 0; i < set->ids.len; i++) {
        const struct run_set_function *f = &set->functions[i];
        struct store_value v = {.name = set->ids.at[i].name,
                                .shown = f->shown ? f->shown : set->ids.at[i].name,
                                .object = set->ids.at[i].object ? set->ids.at[i].object : "",
                                .self = f->self.time.sum * scale / runs,
                                .error = sqrt(f->self.time.variance) * scale / runs,
                                .total = f->total.time.sum * scale / runs};
        all += v.self;
        /* Functions that only exist are left out: most of a program's have no sample in any run. */
        if (v.self >= 1 || v.total >= 1)
            values[run->len++] = v;
    }
    run->values = values;
    /* CPU time is what the kernel measured; samples would add their error to it. */
    bool is_cpu = cpu && cpu->runs && run->is_time && !strcmp(run->event, "cpu");
    run->total = is_cpu ? cpu->values.sum * scale / cpu->runs : all;
    /* N samples scatter by the root of N: sqrt(all / period) * period, less with more runs. */
    run->total_error = is_cpu ? 0 : sqrt(all * run->period / runs);
}

/* A recording, or a profile after its program. What could not be read to its end is not added: it
 * would look like a change. */
static bool store_add_profile(struct store_request *r, struct store *store, const char *program,
                              char *name, int64_t date, struct out *out, struct err *e)
{
    struct run_set set = {0};
    struct arena scratch = {0};
    struct side_names side = {program, &name, 1, false};
    bool is_there;
    bool ok = side_open(&set, &r->session, &side, e);
    /* Files that this user may not read are missing on a side of a comparison; here that is an
     * error. */
    if (ok && set.unread.line[0]) {
        *e = set.unread;
        ok = false;
    }
    if (ok && !set.has_samples)
        ok = err_in(e, name, "has no samples");
    if (ok) {
        struct store_run run = {.kind = STORE_PROFILE, .commit = r->commit, .date = date};
        store_run_of(&set, &run, &scratch);
        /* The same run of the same commit is there only once, so that a CI job may be repeated. */
        ok = store_add(store, &run, &is_there, e);
        if (ok)
            store_say(out, &run, name, is_there);
    }
    run_set_deinit(&set);
    arena_deinit(&scratch);
    return ok;
}

/* All of it as one run, as 'monarc cover' would add it up; sources by their lines. A part of it has
 * no place in a history, in which it would look like a turn for the worse. */
static bool store_add_coverage(struct store_request *r, struct store *store, char **names,
                               size_t len, int64_t date, struct out *out, struct err *e)
{
    struct coverage_session s = {0};
    struct arena scratch = {0};
    r->cover.session.paths = names;
    r->cover.session.paths_len = len;
    bool ok = cover_options_finish(&r->cover, e) &&
              coverage_session_open(&s, &r->cover.session, e) && coverage_session_is_whole(&s, e);
    if (ok) {
        const struct coverage_ratios *sums = &s.result.sums;
        struct store_value *values = ARENA_NEW(&scratch, struct store_value, s.result.sources.len);
        struct store_run run = {.kind = STORE_COVERAGE,
                                .commit = r->commit,
                                .date = date,
                                .program = "",
                                .event = "coverage",
                                .processor = "",
                                .runs = 1,
                                .lines = sums->lines.all,
                                .lines_hit = sums->lines.hit,
                                .functions = sums->functions.all,
                                .functions_hit = sums->functions.hit,
                                .branches = sums->branches.all,
                                .branches_hit = sums->branches.hit,
                                .values = values};
        bool is_there;
        for (size_t i = 0; i < s.result.sources.len; i++) {
            const struct result_source *source = &s.result.sources.at[i];
            /* Libraries' sources are no part of the project's coverage. */
            if (!source->is_outside)
                values[run.len++] = (struct store_value){.name = source->path,
                                                         .shown = source->path,
                                                         .object = "",
                                                         .all = source->sums.lines.all,
                                                         .hit = source->sums.lines.hit};
        }
        ok = store_add(store, &run, &is_there, e);
        if (ok)
            store_say(out, &run, names[0], is_there);
    }
    coverage_session_close(&s);
    arena_deinit(&scratch);
    return ok;
}

/* Each run is a transaction of its own: those before one that fails stay, and a second try does not
 * add them again. */
static bool store_run_add(struct store_request *r, struct store *store, char **names, size_t len,
                          struct out *out, struct err *e)
{
    struct operand_mix mix = operand_mix_of(names, len);
    char **coverage = ARENA_NEW(&r->arena, char *, len);
    const char *program = NULL;
    size_t coverage_len = 0;
    int64_t date;
    bool ok = store_take_date(r->date, &date, e), has_commit = r->commit && *r->commit;
    if (ok && !len)
        return err_set(e, "store add needs a RECORDING or COVERAGE; see 'monarc store --help'");
    if (ok && !has_commit)
        return err_set(e, "store add needs --commit ID, the commit that was built");
    for (size_t i = 0; ok && i < len; i++) {
        if (operand_is_of_coverage(&mix, names[i]))
            coverage[coverage_len++] = names[i];
        /* A program holds for the profiles after it, until the next one. */
        else if (is_program(names[i]))
            program = names[i];
        else
            ok = store_add_profile(r, store, program, names[i], date, out, e);
    }
    return ok &&
           (!coverage_len || store_add_coverage(r, store, coverage, coverage_len, date, out, e));
}

/* --- export ----------------------------------------------------------------------------------- */

/* State for writing the files of a dataset. */
struct store_telling {
    struct store_request *request;
    struct out *out;
};

/* A file of the dataset, with its folders; its name is what standard output says. */
static bool store_write_file(void *context, const char *path, store_writer *writer, void *of,
                             struct err *e)
{
    struct store_telling *t = context;
    if (!file_make_folders(path, e) || !output_to(path, writer, of, t->out, e))
        return false;
    text_name(t->out, path);
    out_char(t->out, '\n');
    return true;
}

static bool store_run_export(struct store_request *r, struct store *store, char **names, size_t len,
                             struct out *out, struct err *e)
{
    struct store_telling telling = {r, out};
    struct store_dataset dataset = {.context = &telling, .write = store_write_file};
    if (len != 1)
        return err_set(e, "store export takes one DIR, the dataset to write to");
    return store_export_dataset(store, names[0], &dataset, e);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A name that some run has as a source is a source's; --total is of profiles, if there are any. */
static bool store_series_of(struct store_request *r, struct store *store, const char *name,
                            struct store_series *series, struct err *e)
{
    struct store_query q = {.name = name, .program = r->program, .event = r->event};
    struct err why = {0};
    q.what = !name ? STORE_TOTAL : r->with_callees ? STORE_FUNCTION_TOTAL : STORE_FUNCTION;
    /* Functions first. If there is neither, the first error says what was looked for. */
    if (store_series_read(store, &q, &r->arena, series, e))
        return true;
    vec_free(&series->points);
    q.what = name ? STORE_SOURCE : STORE_LINES;
    q.program = q.event = NULL;
    if (!store_series_read(store, &q, &r->arena, series, &why))
        return false;
    *e = (struct err){0};
    return true;
}

/* An output_writer. */
static bool store_write_page(void *context, struct out *out, struct err *e)
{
    (void)e;
    store_page_print(out, context);
    return true;
}

/* Turns are marked in the trend, too, so that one look is enough. */
static bool store_run_trend(struct store_request *r, struct store *store, char **names, size_t len,
                            struct out *out, struct err *e)
{
    struct store_series series = {0};
    struct turns turns = {0};
    /* One name, or --total and none. */
    if (len != !r->is_total)
        return err_set(e, "store trend takes one FUNCTION or FILE, or --total");
    bool ok = store_series_of(r, store, len ? names[0] : NULL, &series, e);
    if (ok) {
        struct store_blame one = {&series, &turns, 1};
        turns_find(series.points.at, series.points.len, r->least / 100, &turns);
        if (r->page)
            ok = output_file(r->page, store_write_page, &one, out, e);
        else
            store_trend_print(out, &series, &turns, r->print.format);
    }
    vec_free(&series.points);
    vec_free(&turns.at);
    return ok;
}

/* Without a name all that costs one percent is asked about, after the total. */
static bool store_run_blame(struct store_request *r, struct store *store, char **names, size_t len,
                            struct out *out, struct err *e)
{
    struct store_query q = {.program = r->program, .event = r->event};
    struct store_names all = {0};
    bool ok = len < 2 && !(len && r->is_total)
                  ? true
                  : err_set(e, "store blame takes one FUNCTION or FILE, or --total, or nothing");
    if (ok && (r->is_total || !len))
        vec_push(&all.at, NULL);
    if (ok && len)
        vec_push(&all.at, names[0]);
    else if (ok && !r->is_total) {
        struct store_series total = {0}; /* of lines: a history of coverage alone, no functions */
        ok = store_series_of(r, store, NULL, &total, e) &&
             (total.query.what == STORE_LINES ||
              store_top_functions(store, &q, 0.01, &r->arena, &all, e));
        vec_free(&total.points);
    }
    struct store_series *series = ARENA_NEW(&r->arena, struct store_series, all.at.len);
    struct turns *turns = ARENA_NEW(&r->arena, struct turns, all.at.len);
    for (size_t i = 0; ok && i < all.at.len; i++) {
        ok = store_series_of(r, store, all.at.at[i], &series[i], e);
        if (ok)
            turns_find(series[i].points.at, series[i].points.len, r->least / 100, &turns[i]);
    }
    struct store_blame found = {series, turns, all.at.len};
    if (ok && r->page)
        ok = output_file(r->page, store_write_page, &found, out, e);
    else if (ok)
        store_blame_print(out, &found, r->print.format);
    for (size_t i = 0; i < all.at.len; i++) {
        vec_free(&series[i].points);
        vec_free(&turns[i].at);
    }
    vec_free(&all.at);
    return ok;
}

/* Sampling errors alone: a judgement of two builds is monarc diff's. */
static bool store_run_diff(struct store_request *r, struct store *store, char **names, size_t len,
                           struct out *out, struct err *e)
{
    struct store_query q = {.program = r->program, .event = r->event};
    struct store_diff diff = {0};
    if (len != 2)
        return err_set(e, "store diff takes two commits, OLD and NEW");
    bool ok = store_diff_read(store, &q, names[0], names[1], &r->arena, &diff, e);
    if (ok)
        store_diff_print(out, &diff, (size_t)r->limit, r->print.format);
    vec_free(&diff.rows);
    return ok;
}

/* --- the command ------------------------------------------------------------------------------ */

/* Each verb, with what it does to a history that is not there yet. */
static const struct {
    const char *name;
    bool makes; /* the history, if it is not there */
    bool (*run)(struct store_request *r, struct store *store, char **names, size_t len,
                struct out *out, struct err *e);
} VERBS[] = {{"add", true, store_run_add},
             {"export", false, store_run_export},
             {"trend", false, store_run_trend},
             {"diff", false, store_run_diff},
             {"blame", false, store_run_blame}};

/* The first operand says what is to be done. Only adding makes a file: a typing error in its name
 * must not look like an empty history. */
static bool store_do_verb(struct store_request *r, const struct operands *operands, struct out *out,
                          struct err *e)
{
    struct store *store = NULL;
    const char *named = getenv("MONARC_STORE");
    /* A file that is named beats the environment, which beats the usual name. */
    size_t i = 0, verbs = sizeof VERBS / sizeof *VERBS;
    while (operands->len && i < verbs && strcmp(operands->at[0], VERBS[i].name))
        i++;
    if (!operands->len || i == verbs)
        return err_set(
            e, "store takes add, export, trend, diff or blame%s%s%s; see 'monarc store --help'",
            operands->len ? ", not '" : "", operands->len ? operands->at[0] : "",
            operands->len ? "'" : "");
    if (r->page && VERBS[i].run != store_run_trend && VERBS[i].run != store_run_blame)
        return err_set(e, "--html needs trend or blame");
    const char *file = r->file ? r->file : named && *named ? named : DEFAULT_FILE;
    bool ok = store_open(&store, file, VERBS[i].makes, e) &&
              VERBS[i].run(r, store, operands->at + 1, operands->len - 1, out, e);
    store_close(store);
    return ok;
}

/* The history is opened after the options, and closed whatever failed; requests own what options
 * made. */
static int store_run_command(const struct command *self, int argc, char **argv, struct out *out,
                             struct err *e)
{
    struct store_request r = {.limit = DEFAULT_ROWS, .least = 1};
    struct operands operands;
    cover_options_init(&r.cover);
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    bool ok = end == OPTIONS_HELPED;
    if (end == OPTIONS_READ)
        ok = store_do_verb(&r, &operands, out, e);
    cover_options_deinit(&r.cover);
    arena_deinit(&r.arena);
    return ok ? EXIT_FINE : EXIT_BAD;
}

static const struct option_group GROUPS[] = {
    GROUP(table_format_set, struct store_request, print),
    COVER_GROUPS(struct store_request, cover),
    GROUP(demangle_set, struct store_request, session.no_demangle),
    FILE_GROUPS(struct store_request, session),
    GROUP(read_set, struct store_request, session.read),
};
const struct command command_store = {
    .name = "store",
    .synopsis = "add --commit ID [OPTION...] [RECORDING|COVERAGE...] | export DIR | "
                "trend FUNCTION|FILE|--total | diff OLD NEW | blame [FUNCTION|FILE|--total]",
    .summary = "Keep a history of builds, and find the commit that changed performance",
    OPTIONS_OF(OPTIONS, GROUPS),
    COLUMNS_OF(&store_trend_columns, &store_turn_columns, &store_diff_columns),
    .run = store_run_command,
};
