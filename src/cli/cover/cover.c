/* monarc cover: which code ran, from notes and counters of any compiler and from tracefiles. */
#include "base/file.h"
#include "cli/cover/cover_options.h"
#include "coverage/format/patch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Everything from what was read to what is printed. */
struct covering {
    struct cover_found found;
    struct cover_reading reading;
    struct cover_result result;
    struct patch patch;
    struct cover_diff diff;
    struct cover_gate gates[GATES];
    struct cover_story story;
};

static void release(struct covering *c)
{
    cover_found_deinit(&c->found);
    cover_reading_deinit(&c->reading);
    cover_result_deinit(&c->result);
    cover_diff_deinit(&c->diff);
    patch_deinit(&c->patch);
}

static bool find(struct covering *c, const struct cover_options *o, struct err *e)
{
    static const char HERE[] = ".";
    if (!o->paths_len && !cover_look(&c->found, HERE, &o->find, e))
        return false;
    for (size_t i = 0; i < o->paths_len; i++)
        if (!cover_look(&c->found, o->paths[i], &o->find, e))
            return false;
    cover_pair_files(&c->found, &o->find);
    const char *where = o->paths_len ? o->paths[0] : "the current folder";
    if (c->found.objects.len || c->found.traces.len)
        return true;
    if (c->found.counters.len)
        return err_set(e,
                       "%s: has counters (.gcda) but no notes (.gcno); they are made beside the "
                       "object files: name the build folder, too",
                       where);
    return err_set(e,
                   "%s: has no notes (.gcno); was the program compiled with --coverage, and is "
                   "this the folder of its object files?",
                   where);
}

static bool read_patch(struct covering *c, const struct cover_options *o, struct err *e)
{
    struct file_buffer buffer = {0};
    if (!o->patch)
        return true;
    bool ok = file_read(o->patch, &buffer, e) &&
              patch_read(file_bytes(&buffer), strcmp(o->patch, "-") ? o->patch : "standard input",
                         &c->patch, e);
    file_buffer_deinit(&buffer);
    if (ok)
        cover_diff_build(&c->result, &c->patch, &c->diff);
    return ok;
}

/* Unknown lines may not have run: a gate counts them as not covered. */
static double gated_percent(const struct cover_ratio *r)
{
    return r->all ? 100.0 * (double)r->hit / (double)r->all : 100.0;
}

static void judge(struct covering *c, const struct cover_options *o)
{
    const struct cover_sums *sums = &c->result.sums;
    const struct cover_ratio *ratios[GATES] = {&sums->lines, &sums->branches, &sums->functions,
                                               &sums->conditions, &c->diff.sum};
    static const char *const NAMES[GATES] = {"line", "branch", "function", "condition", "diff"};
    for (int i = 0; i < GATES; i++) {
        if (!o->has_gate[i])
            continue;
        double percent = gated_percent(ratios[i]);
        c->gates[c->story.gates_len++] = (struct cover_gate){
            NAMES[i], o->gates[i], percent, percent < o->gates[i], !ratios[i]->all};
    }
}

/* Cobertura files must say when; builds that are to be reproduced say what. */
static int64_t now(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    return epoch && *epoch ? strtoll(epoch, NULL, 10) : (int64_t)time(NULL);
}

static void tell(struct covering *c, const struct cover_options *o)
{
    const struct cover_reading *r = &c->reading;
    c->story.result = &c->result;
    c->story.problems = &r->problems;
    c->story.diff = o->patch ? &c->diff : NULL;
    c->story.patch = o->patch;
    c->story.gates = c->gates;
    c->story.objects = r->objects;
    c->story.unrun = r->unrun;
    c->story.counters = r->counters;
    c->story.traces = r->traces;
    c->story.unknown_functions = r->unknown_functions;
    c->story.repaired_functions = r->repaired_functions;
    c->story.leaves_system = r->system_sources > 0;
    c->story.leaves_unwanted = r->unwanted_sources > 0;
    c->story.keeps_all_branches = o->result.keeps_all_branches;
    c->story.timestamp = now();
    c->story.root = o->result.root;
    c->story.test = o->test;
    c->story.threads = o->read.threads;
}

static void print_form(struct out *out, enum cover_form form, const struct covering *c,
                       const struct cover_options *o)
{
    switch (form) {
    case FORM_LCOV: cover_lcov(out, &c->story, o->is_lcov2); return;
    case FORM_COBERTURA: cover_cobertura(out, &c->story); return;
    case FORM_JSON: cover_json(out, &c->story); return;
    default: cover_markdown(out, &c->story, &o->style);
    }
}

static bool write_form(enum cover_form form, const struct covering *c,
                       const struct cover_options *o, struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!file_replace_begin(&file, o->files[form], e))
        return false;
    out_init(&text, file.fd);
    print_form(&text, form, c, o);
    out_flush(&text);
    bool ok = file_replace_end(&file, text.error, e);
    out_deinit(&text);
    return ok;
}

static bool print(const struct covering *c, const struct cover_options *o, struct out *out,
                  struct err *e)
{
    bool is_taken = o->is_quiet;
    for (int i = 0; i < FORMS; i++) {
        bool is_standard = o->files[i] && !strcmp(o->files[i], "-");
        if (is_standard)
            print_form(out, (enum cover_form)i, c, o);
        else if (o->files[i] && !write_form((enum cover_form)i, c, o, e))
            return false;
        is_taken |= is_standard;
    }
    if (is_taken)
        return true;
    struct terminal terminal;
    struct cover_style style = o->style;
    terminal_start(&terminal, o->colour, o->no_pager, out);
    style.has_colour = terminal.has_colour;
    cover_text(out, &c->story, &style);
    terminal_end(&terminal, out);
    return true;
}

/* The status, with a line that says why it is not 0. */
static int conclude(const struct covering *c, struct err *e)
{
    const struct cover_problems *p = &c->reading.problems;
    uint64_t bad = p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL];
    bool has_nothing = !c->result.sources.len;
    if (bad && has_nothing) {
        err_set(e, "nothing could be used: %s%s", p->at.at[0].text,
                bad > 1 ? ", and more; the report names all" : "");
        return EXIT_BAD;
    }
    for (size_t i = 0; i < c->story.gates_len; i++) {
        const struct cover_gate *g = &c->gates[i];
        if (g->has_failed) {
            err_set(e, "%s coverage is %.2f %%, less than %.2f %%", g->name, g->percent, g->limit);
            return EXIT_DIFFERS;
        }
    }
    if (bad) {
        err_set(e, "%s%s", p->at.at[0].text, bad > 1 ? ", and more; the report names all" : "");
        return EXIT_DIFFERS;
    }
    if (c->reading.objects && !c->reading.counters && !c->reading.traces) {
        err_set(e, "there are no counters (.gcda): was the program run, and did it end normally? "
                   "--help says where they go");
        return EXIT_DIFFERS;
    }
    return EXIT_FINE;
}

static bool is_below(const char *root, const char *path)
{
    size_t len = strlen(root);
    return !strncmp(path, root, len) && path[len] == '/';
}

/* The folder that all sources are in, if none is below the current one, as when this is the build
 * folder beside the sources; then names would be shown whole. */
static const char *common_root(const struct cover_reading *r, const char *here, struct arena *a)
{
    char *root = NULL;
    for (size_t t = 0; t < r->tables.len; t++) {
        const struct intern *paths = &r->tables.at[t].paths;
        for (uint32_t i = 0; i < paths->texts.len; i++) {
            const char *path = intern_text(paths, i);
            const char *slash = strrchr(path, '/');
            if (is_below(here, path) || !slash)
                return here;
            if (!root)
                root = arena_copy(a, path, (size_t)(slash - path));
            while (*root && !is_below(root, path))
                *strrchr(root, '/') = 0;
        }
    }
    return root && *root ? root : here;
}

static int cover(struct covering *c, struct cover_options *o, struct out *out, struct err *e)
{
    if (!find(c, o, e))
        return EXIT_BAD;
    cover_read(&c->found, &o->wishes, &o->read, &c->reading);
    if (!o->has_root && !o->wishes.wants_system)
        o->result.root = common_root(&c->reading, o->result.root, &o->arena);
    cover_result_build(c->reading.tables.at, c->reading.tables.len, &o->result, &c->result);
    if (!read_patch(c, o, e))
        return EXIT_BAD;
    judge(c, o);
    tell(c, o);
    if (!print(c, o, out, e))
        return EXIT_BAD;
    return conclude(c, e);
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct cover_options o = {0};
    struct covering c = {0};
    memory_keep();
    int status = EXIT_BAD, end = cover_options_parse(self, argc, argv, &o, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end != OPTION_BAD) {
        status = cover(&c, &o, out, e);
    }
    release(&c);
    cover_options_deinit(&o);
    return status;
}

const struct command command_cover = {
    .name = "cover",
    .synopsis = "[OPTION...] [DIR|FILE...]",
    .summary = "Show which code ran: lines, functions, branches, conditions",
    .details =
        "DIR is searched for notes (.gcno) and counters (.gcda) of any version of gcc and clang,\n"
        "mixed as they come; it is the current folder unless named. FILE is one of these, or an\n"
        "lcov tracefile (- is standard input). Everything is added up: several runs, several\n"
        "builds, tracefiles of other machines.\n"
        "\n"
        "One row a source; lines without code count nowhere. Percentages are of what is known:\n"
        "a function whose counters are damaged, cut off or of another build is unknown, which is\n"
        "neither covered nor missed, and the report says why. The gates (--fail-under-...) count\n"
        "the unknown as missed.\n"
        "\n"
        "An inline function or template instance that several objects hold is one; instances\n"
        "with different arguments have branches of their own on the lines that they share.\n"
        "Branches that only exceptions take are left out, as are those in code that the compiler\n"
        "made: clean-up after a throw, and lines of nothing but braces.\n"
        "\n"
        "LCOV_EXCL_LINE, LCOV_EXCL_START and LCOV_EXCL_STOP in a source leave lines out,\n"
        "LCOV_EXCL_BR_LINE and its kind branches, GCOVR_EXCL_FUNCTION functions; all of them are\n"
        "known with LCOV_, GCOVR_ and GCOV_.\n"
        "\n"
        "Patterns are as in the shell, but * matches slashes, too; they are tried on the whole\n"
        "path and on the shown one. Counters that a program wrote elsewhere because of\n"
        "GCOV_PREFIX are found if DIR and that folder are named both, or if GCOV_PREFIX and\n"
        "GCOV_PREFIX_STRIP have the same values now.\n"
        "\n"
        "Exit status: 0 fine; 1 a gate failed, or some files could not be used; 2 none could.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc cover\n"
        "  monarc cover --missing --sort missed build\n"
        "  monarc cover --exclude 'tests/*' --fail-under-line 80 build\n"
        "  monarc cover --lcov all.info --cobertura all.xml build yesterday.info\n"
        "  git diff origin/main... | monarc cover --diff - --fail-under-diff 90 build\n",
    .options = cover_option_rows,
    .options_len = COVER_OPTIONS,
    .run = run,
};
