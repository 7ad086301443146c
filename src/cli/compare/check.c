/* monarc check: fails a build that became worse than its baseline. */
#include "base/file.h"
#include "base/path.h"
#include "cli/cover/cover_options.h"
#include "cli/view.h"
#include "session/session.h"
#include "session/report_inputs.h"
#include "verdict/verdict.h"

enum {
    OPTION_BASELINE,
    OPTION_CPU,
    OPTION_ELAPSED,
    OPTION_MEMORY,
    OPTION_TIME,
    OPTION_CALLS,
    OPTION_SELF,
    OPTION_TOTAL,
    OPTION_MIN_SAMPLES,
    OPTION_CONFIDENCE,
    OPTION_NOISE,
    OPTION_COVERAGE,
    OPTION_RULES,
    OPTION_FORMAT,
    OPTION_JSON,
    OPTION_OWN
};

/* Options that other reports have as well, in the order in which they stand in OPTIONS. */
static const int COVER_ROWS[] = {COVER_DIFF,       COVER_FAIL_DIFF, COVER_FAIL_LINE,
                                 COVER_SOURCE_DIR, COVER_PATH_MAP,  COVER_ROOT,
                                 COVER_INCLUDE,    COVER_EXCLUDE,   COVER_THREADS};
static const int VIEW_ROWS[] = {
    VIEW_OPTION_NO_DEMANGLE, VIEW_OPTION_DEBUG_DIR, VIEW_OPTION_SYMBOLS,
    VIEW_OPTION_FORCE,       VIEW_OPTION_EVENT,     PROFILE_OPTION_WORD,
    PROFILE_OPTION_ENDIAN,   PROFILE_OPTION_FORMAT, PROFILE_OPTION_DIMENSION};
enum {
    COVER_ROWS_LEN = sizeof COVER_ROWS / sizeof *COVER_ROWS,
    VIEW_ROWS_LEN = sizeof VIEW_ROWS / sizeof *VIEW_ROWS,
    OPTIONS_LEN = OPTION_OWN + COVER_ROWS_LEN + VIEW_ROWS_LEN
};

static const struct option_row OPTIONS[] = {
    {0, "baseline", "OLD", "what to compare with (may be repeated)"},
    {0, "max-cpu-growth", "LIMIT", "CPU time of the whole may grow by LIMIT (default: 2%)"},
    {0, "max-elapsed-growth", "LIMIT", "likewise elapsed time, of three runs a side (default: 5%)"},
    {0, "max-memory-growth", "LIMIT", "likewise peak memory (default: 10%+1MB)"},
    {0, "max-time-growth", "PATTERN=LIMIT", "self time of functions (default: 10%+1%cpu)"},
    {0, "max-calls-growth", "PATTERN=LIMIT", "calls (default: 2%)"},
    {0, "max-share-growth", "PATTERN=PP", "shares of self time by PP points"},
    {0, "max-total-growth", "PATTERN=PP", "shares of total time by PP points"},
    {0, "min-samples", "N", "judge functions if each side has N samples (default: 100)"},
    {0, "confidence", "P", "fail for time with P percent confidence (default: 99)"},
    {0, "noise", "P", "two runs of one program may differ by P percent (default: 15)"},
    {0, "max-coverage-fall", "PATTERN=PP", "no source's lines may lose PP points (default: 0)"},
    {0, "rules", "FILE", "take rules from a file: lines of NAME VALUE, named as options are"},
    {0, "format", "NAME=FILE", "write text, json, junit, github or markdown; - is standard output"},
    {'j', "json", NULL, "print JSON; docs/schema/ has its schema"},
    {0, "diff", "PATCH", "judge the coverage of the lines that a unified diff changes"},
    {0, "fail-under-diff", "P", "P percent of the changed lines must have run"},
    {0, "fail-under-line", "P", "the same of all lines"},
    {'I', "source-dir", "DIR", "look for sources there, too (may be repeated)"},
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"},
    {0, "root", "DIR", "show sources below it without it (default: . or where all are)"},
    {0, "include", "GLOB", "coverage of sources whose path matches alone (may be repeated)"},
    {'x', "exclude", "GLOB", "none of sources whose path matches (may be repeated)"},
    {0, "threads", "N", "use N threads for coverage (default: one a CPU)"},
    {0, "no-demangle", NULL, "show linkage names as they are"},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "judge even if program and profile do not belong together"},
    {'e', "event", "NAME", "of recordings: judge this event (default: the first one)"},
    PROFILE_OPTION_ROWS,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct check_output {
    const struct verdict_format *format;
    const char *path;
};

/* Names of one side, told apart. */
struct check_side {
    VEC(char *) names, profiles, coverage;
};

struct request {
    struct view_options view;
    struct cover_options cover;
    struct rules rules;
    struct check_side old, new;
    VEC(struct check_output) outputs;
    struct arena arena;
    struct verdict verdict;
    struct coverage_change change;
    struct coverage_session covered_old, covered_new;
};

/* --- options --------------------------------------------------------------------------------- */

static bool check_format(struct request *r, const char *value, struct err *e)
{
    const char *equals = strchr(value, '=');
    size_t len = equals ? (size_t)(equals - value) : strlen(value);
    struct check_output output = {verdict_format_find(value, len), equals ? equals + 1 : "-"};
    if (!output.format)
        return err_set(e,
                       "there is no format '%.*s'; there are text, json, junit, github, markdown",
                       (int)len, value);
    if (!*output.path)
        return err_set(e, "option '--format' takes NAME=FILE, not '%s'", value);
    vec_push(&r->outputs, output);
    return true;
}

static bool check_rules(struct request *r, const char *path, struct err *e)
{
    struct file_buffer buffer = {0};
    bool ok = file_read(path, &buffer, e) && rules_read(&r->rules, file_bytes(&buffer), path, e);
    file_buffer_deinit(&buffer);
    return ok;
}

static bool check_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_BASELINE: vec_push(&r->old.names, (char *)value); return true;
    case OPTION_CPU:
    case OPTION_ELAPSED:
    case OPTION_MEMORY:
    case OPTION_TIME:
    case OPTION_CALLS:
    case OPTION_SELF:
    case OPTION_TOTAL:
    case OPTION_MIN_SAMPLES:
    case OPTION_CONFIDENCE:
    case OPTION_NOISE:
    case OPTION_COVERAGE: return rules_set(&r->rules, OPTIONS[row].name, value, e);
    case OPTION_RULES: return check_rules(r, value, e);
    case OPTION_FORMAT: return check_format(r, value, e);
    case OPTION_JSON: return check_format(r, "json", e);
    default: break;
    }
    if (row < OPTION_OWN + COVER_ROWS_LEN)
        return cover_option(&r->cover, COVER_ROWS[row - OPTION_OWN], value, e);
    return view_option(&r->view, VIEW_ROWS[row - OPTION_OWN - COVER_ROWS_LEN], value, e);
}

/* --- sides ----------------------------------------------------------------------------------- */

static void check_sort_names(struct check_side *s)
{
    for (size_t i = 0; i < s->names.len; i++) {
        if (is_coverage_operand(s->names.at[i]))
            vec_push(&s->coverage, s->names.at[i]);
        else
            vec_push(&s->profiles, s->names.at[i]);
    }
}

static bool check_sides(struct request *r, char **names, size_t len, struct err *e)
{
    for (size_t i = 0; i < len; i++)
        vec_push(&r->new.names, names[i]);
    check_sort_names(&r->old);
    check_sort_names(&r->new);
    bool has_gates = r->cover.has_gate[GATE_DIFF] || r->cover.has_gate[GATE_LINE];
    if (!len)
        return err_set(e, "check needs what is to be judged; see 'monarc check --help'");
    if (!r->old.names.len && !has_gates)
        return err_set(e, "check needs '--baseline OLD'");
    if (r->old.names.len && !r->old.profiles.len != !r->new.profiles.len)
        return err_set(e, "a profile is judged by the baseline's profile, and one side has none");
    if ((r->old.coverage.len || has_gates) && !r->new.coverage.len)
        return err_set(e, "coverage is to be judged, and none is named");
    return true;
}

static void check_side_free(struct check_side *s)
{
    vec_free(&s->names);
    vec_free(&s->profiles);
    vec_free(&s->coverage);
}

/* --- judging --------------------------------------------------------------------------------- */

/* A baseline of profiles alone is of the same program. */
static const char *check_program(const struct request *r)
{
    const char *first = r->new.profiles.at[0];
    return is_program(first) ? first : NULL;
}

static bool check_profiles(struct request *r, struct err *e)
{
    struct run_set old = {0}, new = {0};
    struct comparison c;
    struct comparison_rules all = {
        .confidence = r->rules.confidence, .noise = r->rules.noise, .shows_all = true};
    struct side_names olds = {check_program(r), r->old.profiles.at, r->old.profiles.len};
    struct side_names news = {NULL, r->new.profiles.at, r->new.profiles.len};
    bool ok =
        side_open(&old, &r->view.session, &olds, e) && side_open(&new, &r->view.session, &news, e);
    if (ok) {
        comparison_make(&c, &old, &new, &all, &r->arena);
        verdict_profile(&r->verdict, &r->rules, &c);
        comparison_deinit(&c);
    }
    run_set_deinit(&old);
    run_set_deinit(&new);
    return ok;
}

static bool check_open_coverage(struct request *r, struct coverage_session *s,
                                const struct check_side *side, const char *patch, struct err *e)
{
    struct coverage_options o = r->cover.session;
    o.paths = side->coverage.at;
    o.paths_len = side->coverage.len;
    o.patch = patch;
    return coverage_session_open(s, &o, e);
}

static void check_gates(struct request *r)
{
    struct coverage_gate gates[GATES];
    size_t len = cover_gates(&r->cover, &r->covered_new, gates);
    for (size_t i = 0; i < len; i++) {
        const struct coverage_gate *g = &gates[i];
        struct verdict_case c = {.status = g->has_failed ? CASE_FAILED : CASE_PASSED,
                                 .rule = arena_printf(&r->verdict.arena, "fail-under-%s", g->name),
                                 .subject = g->has_failed ? g->name : NULL,
                                 .new = g->percent,
                                 .limit = g->limit,
                                 .chance = -1};
        c.message = arena_printf(&r->verdict.arena, "%s coverage is %.2f %%, %.2f %% are asked for",
                                 g->name, g->percent, g->limit);
        verdict_add(&r->verdict, &c);
    }
}

static bool check_coverage(struct request *r, struct err *e)
{
    if (!check_open_coverage(r, &r->covered_new, &r->new, r->cover.session.patch, e))
        return false;
    if (r->old.coverage.len) {
        if (!check_open_coverage(r, &r->covered_old, &r->old, NULL, e))
            return false;
        coverage_change_make(&r->change, &r->covered_old.result, &r->covered_new.result);
        verdict_coverage(&r->verdict, &r->rules, &r->change);
    }
    check_gates(r);
    return true;
}

/* Annotations and links want paths from the current folder on. */
static void check_shorten_paths(struct request *r)
{
    const char *here = path_absolute(".", &r->arena);
    for (size_t i = 0; i < r->verdict.cases.len; i++) {
        struct verdict_case *c = &r->verdict.cases.at[i];
        const char *below = c->file ? path_below(c->file, here) : NULL;
        if (below && below[0] == '/' && below[1])
            c->file = below + 1;
    }
}

/* --- printing -------------------------------------------------------------------------------- */

static bool check_write(const struct check_output *o, const struct verdict *v, struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!file_replace_begin(&file, o->path, e))
        return false;
    out_init(&text, file.fd);
    o->format->write(&text, v);
    out_flush(&text);
    bool ok = file_replace_end(&file, text.error, e);
    out_deinit(&text);
    return ok;
}

static bool check_print(const struct request *r, struct out *out, struct err *e)
{
    bool is_taken = false;
    for (size_t i = 0; i < r->outputs.len; i++) {
        const struct check_output *o = &r->outputs.at[i];
        bool is_standard = !strcmp(o->path, "-");
        if (is_standard)
            o->format->write(out, &r->verdict);
        else if (!check_write(o, &r->verdict, e))
            return false;
        is_taken |= is_standard;
    }
    if (!is_taken)
        verdict_text(out, &r->verdict);
    return true;
}

static const struct verdict_case *check_first(const struct verdict *v, enum case_status status)
{
    for (size_t i = 0; i < v->cases.len; i++)
        if (v->cases.at[i].status == status)
            return &v->cases.at[i];
    return NULL;
}

static bool check_compare(struct request *r, struct err *e)
{
    struct progress *progress = progress_start();
    r->view.session.read.progress = r->cover.session.read.progress = progress;
    bool ok = (!r->new.profiles.len || check_profiles(r, e)) &&
              (!r->new.coverage.len || check_coverage(r, e));
    r->view.session.read.progress = r->cover.session.read.progress = NULL;
    progress_end(progress);
    return ok;
}

static int check_judge(struct request *r, struct out *out, struct err *e)
{
    const struct verdict *v = &r->verdict;
    rules_default(&r->rules);
    if (!cover_options_finish(&r->cover, e) || !check_compare(r, e))
        return EXIT_BAD;
    check_shorten_paths(r);
    if (!check_print(r, out, e))
        return EXIT_BAD;
    if (v->failed) {
        err_set(e, "%s%s", check_first(v, CASE_FAILED)->message, v->failed > 1 ? ", and more" : "");
        return EXIT_DIFFERS;
    }
    if (v->lacks_data || !v->passed) {
        const struct verdict_case *c = check_first(v, CASE_NOT_JUDGED);
        err_set(e, "nothing was judged by %s: %s", c ? c->rule : "any rule",
                c ? c->message : "there is none for what was named");
        return EXIT_BAD;
    }
    return EXIT_FINE;
}

static int check_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {0};
    int status = EXIT_BAD;
    cover_options_init(&r.cover);
    rules_init(&r.rules);
    int end = options_each(&walk, check_take, &r, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end == OPTION_END && check_sides(&r, walk.argv, (size_t)walk.operands, e)) {
        status = check_judge(&r, out, e);
    }
    verdict_deinit(&r.verdict);
    coverage_change_deinit(&r.change);
    coverage_session_close(&r.covered_old);
    coverage_session_close(&r.covered_new);
    rules_deinit(&r.rules);
    check_side_free(&r.old);
    check_side_free(&r.new);
    vec_free(&r.outputs);
    filter_deinit(&r.view.filter);
    cover_options_deinit(&r.cover);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_check = {
    .name = "check",
    .next = "'monarc diff OLD NEW' shows all that changed",
    .synopsis = "[OPTION...] --baseline OLD... NEW...",
    .summary = "Fail a build whose calls, time or coverage became worse than a baseline's",
    .details =
        "NEW and OLD are recordings, a program with its profiles, coverage as 'monarc cover'\n"
        "takes it, or both. Each profile and each recording is a run of its side. A baseline of\n"
        "profiles alone is of NEW's program.\n"
        "\n"
        "Rules, each for functions or sources whose name PATTERN (a POSIX extended regular\n"
        "expression) matches; without `PATTERN=' for all. Of several of a kind the last that\n"
        "matches counts:\n"
        "\n"
        "  --max-cpu-growth     CPU time of whole runs\n"
        "  --max-elapsed-growth elapsed time, if each side has three runs\n"
        "  --max-memory-growth  the most memory that a process had\n"
        "  --max-time-growth    self time of functions, each side with --min-samples\n"
        "  --max-calls-growth   exact: every growth beyond the limit fails. Of several runs a\n"
        "                       side the means count, if the sides' counts do not overlap\n"
        "  --max-share-growth   shares of self time, which other functions change, too\n"
        "  --max-total-growth   shares of total time; only with call stacks\n"
        "  --max-coverage-fall  line coverage of no source may fall by more than PP points\n"
        "  --fail-under-diff    of the lines that --diff changes P percent must have run\n"
        "\n"
        "LIMIT is what may come on top of the old amount, as a sum: 5% (or 5), 0.1s, 20ms, 4MB,\n"
        "100calls, 1%cpu (of the old side's time); PP are points. A time or share fails if it "
        "grew\n"
        "by more with --confidence, for all functions of a rule together: with one run a side\n"
        "beyond what two runs may differ by (--noise), with several by what they do differ by.\n"
        "\n"
        "Without a rule the defaults stand. Functions that the baseline does not have are "
        "counted,\n"
        "not judged. Each rule's data must be there if the rule was asked for.\n"
        "\n"
        "One computation is written in all forms that are asked for: text, json, junit (XML, for\n"
        "Jenkins, GitLab and others), github (annotations, as a workflow prints them), markdown.\n"
        "\n"
        "Exit status: 0, all rules hold; 1, one does not; 2, trouble, or nothing to judge.\n"
        "\n"
        "Examples:\n"
        "  monarc check --baseline old.monarc new.monarc\n"
        "  monarc check --baseline old.gmon --max-calls-growth '^hash=0' ./prog gmon.out\n"
        "  monarc check --baseline main.info new.info --format junit=check.xml\n"
        "  monarc check build/ --diff pr.patch --fail-under-diff 80 --format github=-\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = check_run,
};
