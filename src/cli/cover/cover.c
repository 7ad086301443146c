/* monarc cover: which code ran, from notes and counters of any compiler and from tracefiles. */
#include "base/file.h"
#include "cli/cover/cover_tests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Everything from what was read to what is printed. */
struct covering {
    struct coverage_session session;
    struct coverage_gate gates[GATES];
    struct coverage_report report;
};

/* Cobertura files must say when; builds that are to be reproduced say what. */
static int64_t cover_now(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    return epoch && *epoch ? strtoll(epoch, NULL, 10) : (int64_t)time(NULL);
}

static void cover_tell(struct covering *c, const struct cover_options *o)
{
    const struct coverage_reading *r = &c->session.reading;
    c->report.result = &c->session.result;
    c->report.problems = &r->problems;
    c->report.diff = o->session.patch ? &c->session.diff : NULL;
    c->report.patch = o->session.patch;
    c->report.gates = c->gates;
    c->report.objects = r->objects;
    c->report.unrun = r->unrun;
    c->report.counters = r->counters;
    c->report.traces = r->traces;
    c->report.unknown_functions = r->unknown_functions;
    c->report.repaired_functions = r->repaired_functions;
    c->report.leaves_system = r->system_sources > 0;
    c->report.leaves_unwanted = r->unwanted_sources > 0;
    c->report.keeps_all_branches = o->session.result.keeps_all_branches;
    c->report.timestamp = cover_now();
    c->report.root = c->session.root;
    c->report.test = o->test;
    c->report.threads = o->session.read.threads;
}

static bool cover_write(const struct cover_output *output, const struct covering *c,
                        const struct cover_options *o, struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!file_replace_begin(&file, output->path, e))
        return false;
    out_init(&text, file.fd);
    output->format->write(&text, &c->report, &o->style);
    out_flush(&text);
    bool ok = file_replace_end(&file, text.error, e);
    out_deinit(&text);
    return ok;
}

static bool cover_print(const struct covering *c, const struct cover_options *o, struct out *out,
                        struct err *e)
{
    bool is_taken = o->is_quiet;
    for (size_t i = 0; i < o->outputs.len; i++) {
        const struct cover_output *output = &o->outputs.at[i];
        bool is_standard = !strcmp(output->path, "-");
        if (is_standard)
            output->format->write(out, &c->report, &o->style);
        else if (!cover_write(output, c, o, e))
            return false;
        is_taken |= is_standard;
    }
    if (is_taken)
        return true;
    struct terminal terminal;
    struct coverage_style style = o->style;
    terminal_start(&terminal, o->colour, o->no_pager, out);
    style.has_colour = terminal.has_colour;
    coverage_text(out, &c->report, &style);
    terminal_end(&terminal, out);
    return true;
}

/* The status, with a line that says why it is not 0. */
static int cover_conclude(const struct covering *c, struct err *e)
{
    const struct problems *p = &c->session.reading.problems;
    uint64_t bad = p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL];
    bool has_nothing = !c->session.result.sources.len;
    if (bad && has_nothing) {
        err_set(e, "nothing could be used: %s%s", p->at.at[0].text,
                bad > 1 ? ", and more; the report names all" : "");
        return EXIT_BAD;
    }
    for (size_t i = 0; i < c->report.gates_len; i++) {
        const struct coverage_gate *g = &c->gates[i];
        if (g->has_failed) {
            err_set(e, "%s coverage is %.2f %%, less than %.2f %%", g->name, g->percent, g->limit);
            return EXIT_DIFFERS;
        }
    }
    if (bad) {
        err_set(e, "%s%s", p->at.at[0].text, bad > 1 ? ", and more; the report names all" : "");
        return EXIT_DIFFERS;
    }
    if (c->session.result.trouble) {
        err_set(e, "%s", c->session.result.trouble);
        return EXIT_DIFFERS;
    }
    if (c->session.reading.objects && !c->session.reading.counters && !c->session.reading.traces) {
        err_set(e,
                "there are no counters (.gcda, .da): run the program first; it writes them when it "
                "ends by itself, not by _exit or a signal");
        return EXIT_DIFFERS;
    }
    return EXIT_FINE;
}

static int cover(struct covering *c, struct cover_options *o, struct out *out, struct err *e)
{
    struct progress *progress = progress_start();
    o->session.read.progress = progress;
    bool is_open = coverage_session_open(&c->session, &o->session, e);
    progress_end(progress);
    if (!is_open)
        return EXIT_BAD;
    c->report.gates_len = cover_gates(o, &c->session, c->gates);
    cover_tell(c, o);
    if (!cover_print(c, o, out, e))
        return EXIT_BAD;
    return cover_conclude(c, e);
}

static int cover_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct cover_options o = {0};
    struct covering c = {0};
    memory_keep();
    int status = EXIT_BAD, end = cover_options_parse(self, argc, argv, &o, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end != OPTION_BAD && o.by_test) {
        status = cover_tests(&o, out, e);
    } else if (end != OPTION_BAD) {
        status = cover(&c, &o, out, e);
    }
    coverage_session_close(&c.session);
    cover_options_deinit(&o);
    return status;
}

const struct command command_cover = {
    .name = "cover",
    .next =
        "'monarc cover --missing' shows the lines that did not run, 'monarc html' a page to browse",
    .synopsis = "[OPTION...] [DIR|FILE...]",
    .summary = "Show which code ran: lines, functions, branches, conditions",
    .details =
        "DIR is searched for notes (.gcno, .bbg) and counters (.gcda, .da) of any gcc or clang,\n"
        "mixed as they come; it is the current folder unless named. FILE is one of these, or an\n"
        "lcov tracefile (- is standard input). JSON of gcovr or of 'llvm-cov export' and "
        "Cobertura\n"
        "XML are taken in a tracefile's place; what they say and monarc has no room for is a "
        "note.\n"
        "Everything is added up: several runs, several builds, tracefiles of other machines.\n"
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
        "The report is about your project: the working copy (of git, hg, svn, ...) that you are\n"
        "in or that DIR is in, or the current folder, or, in a build folder, the folder that all\n"
        "sources have in common. Paths are shown from there. Sources elsewhere, those of the\n"
        "system and what CMake fetched into _deps are left out, and the report says so. --root\n"
        "names another folder; --system, --include and tracefiles lift the limit.\n"
        "\n"
        "Patterns are as in the shell, but * matches slashes, too; they are tried on the whole\n"
        "path and on the shown one. Counters that a program wrote elsewhere because of\n"
        "GCOV_PREFIX are found if DIR and that folder are named both, or if GCOV_PREFIX and\n"
        "GCOV_PREFIX_STRIP have the same values now.\n"
        "\n"
        "Exit status: 0 fine; 1 a gate failed, or some files could not be used; 2 none could.\n"
        "\n"
        "--format takes text, lcov, cobertura, json, markdown, codecov (Codecov's JSON), "
        "sonarqube\n"
        "(SonarQube's generic XML), jacoco, clover, coveralls and gcovr (its JSON). Lines whose\n"
        "count is not known are left out of those behind markdown.\n"
        "\n"
        "With --by-test counts are kept apart by test: each DIR or tracefile named, each folder "
        "in\n"
        "--runs DIR, and each test that a tracefile names is one. The table says what each test\n"
        "ran and what no other did; tests that add nothing may all go together. --tests-of names\n"
        "those that ran a line; --tests-for those to run for a patch to the measured sources:\n"
        "which ran a line that it changes, or a function in which it does, or, of lines in no\n"
        "function, the source. -q prints the names alone.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc cover\n"
        "  monarc cover --missing --sort missed build\n"
        "  monarc cover --exclude 'tests/*' --fail-under-line 80 build\n"
        "  monarc cover --lcov all.info --cobertura all.xml build yesterday.info\n"
        "  git diff origin/main... | monarc cover --diff - --fail-under-diff 90 build\n"
        "  git diff | monarc cover --runs runs build --tests-for - --quiet\n",
    .options = cover_option_rows,
    .options_len = COVER_OPTIONS,
    .run = cover_run,
};
