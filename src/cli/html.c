/* monarc html: one page with everything to look at. */
#include "base/file.h"
#include "base/path.h"
#include "cli/html_data.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* In one file; browsers open more, but slowly. */
enum { MOST_BYTES = 20 << 20 };

enum {
    OPTION_OUTPUT,
    OPTION_TITLE,
    OPTION_FOLDER,
    OPTION_BASE,
    OPTION_ASM,
    OPTION_INLINES,
    OPTION_BLAME,
    OPTION_NO_INLINES,
    OPTION_OWN /* what follows is another command's */
};

/* Options that the page has in common with the reports on profiles, and with those on coverage, in
 * the order in which they stand in OPTIONS. */
static const int VIEW_ROWS[] = {
    PROFILE_OPTION_WORD,   PROFILE_OPTION_ENDIAN, PROFILE_OPTION_FORMAT, PROFILE_OPTION_DIMENSION,
    VIEW_OPTION_DEBUG_DIR, VIEW_OPTION_SYMBOLS,   VIEW_OPTION_FORCE,     VIEW_OPTION_EVENT,
    VIEW_OPTION_PROCESS,   VIEW_OPTION_PROGRAM,   VIEW_OPTION_THREAD,    VIEW_OPTION_FROM,
    VIEW_OPTION_TO,        VIEW_OPTION_PHASE,
};
static const int COVER_ROWS[] = {
    COVER_PLACE_OPTIONS, COVER_DIFF,           COVER_FAIL_LINE, COVER_FAIL_BRANCH,
    COVER_FAIL_FUNCTION, COVER_FAIL_CONDITION, COVER_FAIL_DIFF, COVER_SCOPE_OPTIONS,
};
enum {
    VIEW_ROWS_LEN = sizeof VIEW_ROWS / sizeof *VIEW_ROWS,
    COVER_ROWS_LEN = sizeof COVER_ROWS / sizeof *COVER_ROWS,
    OPTION_NO_DEMANGLE = OPTION_OWN + VIEW_ROWS_LEN + COVER_ROWS_LEN,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    {'o', "output", "FILE", "the page (default: report.html; - is standard output)"},
    {0, "title", "TEXT", "what the page is called"},
    {0, "folder", NULL, "sources as files beside the page, loaded when they are looked at"},
    {0, "base", "OLD", "compare with an older profile, recording or coverage (may be repeated)"},
    {0, "asm", "[att|intel]", "with the machine code of lines that have time"},
    {0, "inlines", NULL, "with the places that the code of lines was inlined into"},
    {0, "blame", NULL, "with the author and the age of each line of covered sources, by git"},
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in"},
    PROFILE_OPTION_ROWS,
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "report even if program and profile do not belong together"},
    RECORDING_OPTION_ROWS,
    COVER_PLACE_OPTION_ROWS,
    {0, "diff", "PATCH", "show the coverage of the lines that a unified diff changes"},
    {0, "fail-under-line", "P", "show whether P percent of the lines ran, exit with 1 if not"},
    {0, "fail-under-branch", "P", "the same of branches"},
    {0, "fail-under-function", "P", "the same of functions"},
    {0, "fail-under-condition", "P", "the same of outcomes of conditions"},
    {0, "fail-under-diff", "P", "the same of the changed lines"},
    COVER_SCOPE_OPTION_ROWS,
    {0, "no-demangle", NULL, "show linkage names as they are"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct html_options options;
    struct html_data data;
    struct page *page;
    bool is_folder;
    struct progress *progress;
};

static bool html_take_asm(struct html_options *o, const char *value, struct err *e)
{
    o->view.session.wants_code = o->has_code = true;
    o->is_intel = value && !strcmp(value, "intel");
    return !value || o->is_intel || !strcmp(value, "att") ||
           err_set(e, "option '--asm' takes att or intel, not '%s'", value);
}

static bool html_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    struct html_options *o = &r->options;
    switch (row) {
    case OPTION_OUTPUT: o->output = value; return true;
    case OPTION_TITLE: o->title = value; return true;
    case OPTION_BASE: vec_push(&o->base, (char *)value); return true;
    case OPTION_ASM: return html_take_asm(o, value, e);
    case OPTION_INLINES: return o->has_inlines = true;
    case OPTION_NO_INLINES: return o->view.session.has_hosts = true;
    case OPTION_BLAME: return o->has_blame = true;
    case OPTION_FOLDER: return r->is_folder = true;
    case OPTION_NO_DEMANGLE:
        o->view.session.no_demangle = true;
        return o->cover.keeps_linkage_names = true;
    default: break;
    }
    if (row < OPTION_OWN + VIEW_ROWS_LEN)
        return view_option(&o->view, VIEW_ROWS[row - OPTION_OWN], value, e);
    return cover_option(&o->cover, COVER_ROWS[row - OPTION_OWN - VIEW_ROWS_LEN], value, e);
}

/* --- writing --------------------------------------------------------------------------------- */

/* NAME-sources/ beside the page. */
static bool html_make_folder(struct request *r, const char **beside, struct err *e)
{
    struct arena *a = &r->data.arena;
    const char *output = r->options.output;
    size_t stem = path_has_suffix(output, ".html") ? strlen(output) - 5 : strlen(output);
    const char *folder = arena_printf(a, "%.*s-sources", (int)stem, output);
    if (mkdir(folder, 0777) && errno != EEXIST)
        return err_errno(e, folder, errno);
    *beside = arena_printf(a, "%s/", folder);
    return true;
}

static bool html_write_page(struct request *r, struct out *out, struct err *e)
{
    struct file_replacing file;
    struct out text;
    const char *beside = NULL;
    r->page = page_new(&r->data.page, r->progress);
    if (!strcmp(r->options.output, "-"))
        return page_write(r->page, out, NULL, e);
    if ((r->is_folder || page_bytes(r->page) > MOST_BYTES) && !html_make_folder(r, &beside, e))
        return false;
    if (beside && !r->is_folder)
        out_printf(out, "The sources are in %s: in one file there would be %zu MB.\n", beside,
                   page_bytes(r->page) >> 20);
    if (!file_replace_begin(&file, r->options.output, e))
        return false;
    out_init(&text, file.fd);
    bool ok = page_write(r->page, &text, beside, e);
    out_flush(&text);
    ok = file_replace_end(&file, ok ? text.error : ECANCELED, ok ? e : NULL) && ok;
    out_deinit(&text);
    return ok;
}

static int html_failed_gate(const struct request *r, struct err *e)
{
    for (size_t i = 0; i < r->data.coverage.gates_len; i++) {
        const struct page_gate *g = &r->data.coverage.gates[i];
        if (g->has_failed) {
            err_set(e, "%s coverage is %.2f %%, less than %.2f %%", g->name, g->percent, g->limit);
            return EXIT_DIFFERS;
        }
    }
    return EXIT_FINE;
}

static int html_show(struct request *r, const struct option_walk *walk, struct out *out,
                     struct err *e)
{
    struct html_options *o = &r->options;
    html_operands(o, walk->argv, (size_t)walk->operands);
    if (!walk->operands) {
        err_set(e, "html needs a PROGRAM, a RECORDING or a folder with coverage; see 'monarc html "
                   "--help'");
        return EXIT_BAD;
    }
    r->progress = progress_start();
    o->view.session.read.progress = o->cover.session.read.progress = r->progress;
    if (!cover_options_finish(&o->cover, e) || !html_data_open(&r->data, o, e) ||
        !html_write_page(r, out, e))
        return EXIT_BAD;
    return html_failed_gate(r, e);
}

static int html_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {.options.output = "report.html"};
    int status = EXIT_BAD;
    cover_options_init(&r.options.cover);
    int end = options_each(&walk, html_take, &r, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (end == OPTION_END) {
        status = html_show(&r, &walk, out, e);
    }
    progress_end(r.progress);
    page_free(r.page);
    html_data_close(&r.data);
    vec_free(&r.options.profile);
    vec_free(&r.options.coverage);
    vec_free(&r.options.base);
    filter_deinit(&r.options.view.filter);
    cover_options_deinit(&r.options.cover);
    return status;
}

const struct command command_html = {
    .name = "html",
    .synopsis = "[OPTION...] [PROGRAM [PROFILE...] | RECORDING...] [DIR|FILE...]",
    .summary = "Write one page with a profile, its sources and their coverage to look at",
    .details =
        "PROGRAM and PROFILE, or RECORDING, are as for 'monarc flat'; DIR and FILE as for 'monarc\n"
        "cover': a folder without a recording, notes (.gcno, .bbg), counters (.gcda, .da) and\n"
        "tracefiles (.info, .json, .xml) are about coverage. Named together, both are on one\n"
        "page, and time and counts stand beside the same lines.\n"
        "\n"
        "The page is one file that a browser opens from disk: it needs no network and no server,\n"
        "and loads nothing. Its policy lets nothing run but its own script. With --folder, and if\n"
        "the sources have more than 20 MB, they are files in a folder beside the page (its\n"
        "name is printed then), which the page loads as they are looked at.\n"
        "\n"
        "The views: summary, functions, callers and callees, flame, call graph, timeline (of a\n"
        "recording), sources, comparison (with --base), coverage. The key ? lists the keys; the\n"
        "address keeps the view, so that it can be sent with the page. Without scripts the page\n"
        "has plain tables.\n"
        "\n"
        "--base names what to compare with: a profile of the same PROGRAM, a program and its\n"
        "profile, a recording, coverage. Functions are the same if their linkage names are, and\n"
        "lines stay where they are in functions that have as many lines as before.\n"
        "\n"
        "With --asm and --inlines, the page shows below the source, for the line that is chosen,\n"
        "its machine code with the samples on each instruction, and where it was inlined.\n"
        "\n"
        "--blame runs 'git blame' for each source with coverage: who wrote the lines that never\n"
        "ran, and when. Sources that git does not know are counted as that.\n"
        "\n"
        "In the flame, what stacks or the graph's shape prove is solid; what the model of the "
        "call\n"
        "graph assigns by call counts is hatched.\n"
        "\n"
        "Examples:\n"
        "  monarc html ./prog gmon.out -o report.html\n"
        "  monarc html prog.monarc\n"
        "  monarc html --asm --inlines prog.monarc\n"
        "  monarc html build/\n"
        "  monarc html ./prog gmon.out --base old.gmon\n"
        "  monarc html build/ --base yesterday.info --diff changes.patch --blame\n"
        "  monarc html ./prog gmon.out build/ -o report.html\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = html_run,
};
