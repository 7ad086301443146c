/* monarc order: a profile becomes an order of functions for the linker. */
#include "base/path.h"
#include "profile/report/layout.h"

#include "command/command.h"
#include "cli/view.h"

#include <string.h>

enum {
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_OBJECT,
    OPTION_CLUSTER,
    OPTION_DEBUG_DIR,
    OPTION_SYMBOLS,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_WORD,
    OPTION_ENDIAN,
    OPTION_INPUT,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    {0, "format", "lld|gold|ld|mold|names", "for which linker (default: lld)"},
    {'o', "output", "FILE", "where the order goes; standard output then says what it brings"},
    {0, "object", "NAME", "order this shared object (of a recording), not the executable"},
    {0, "cluster", "BYTES",
     "let no cluster grow beyond this (default: what of 4096, 65536, 2097152 is best)"},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    {0, "force", NULL, "go on even if program and profile do not belong together"},
    REPORT_OPTION_JSON,
    {0, "word", "32|64", "pointer size of the profiled machine (default: deduce)"},
    {0, "endian", "little|big", "its byte order (default: deduce)"},
    {'O', "profile-format", "gmon|gmon0|sprof|bsd44|bsd|bsd-alpha",
     "read the files as this format"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct view_options view;
    enum layout_format format;
    const char *output, *object;
    uint64_t cluster_bytes;
};

static bool parse_linker(const char *value, enum layout_format *format, struct err *e)
{
    for (int i = 0; i < LAYOUT_FORMATS; i++)
        if (!strcmp(value, layout_format_names[i])) {
            *format = (enum layout_format)i;
            return true;
        }
    return err_set(e, "option '--format' takes lld, gold, ld, mold or names, not '%s'", value);
}

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    struct profile_options *read = &r->view.session.read;
    switch (row) {
    case OPTION_FORMAT: return parse_linker(value, &r->format, e);
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_OBJECT: r->object = value; return true;
    case OPTION_CLUSTER: return option_number("--cluster", value, UINT32_MAX, &r->cluster_bytes, e);
    case OPTION_DEBUG_DIR: return view_option(&r->view, VIEW_OPTION_DEBUG_DIR, value, e);
    case OPTION_SYMBOLS: return view_option(&r->view, VIEW_OPTION_SYMBOLS, value, e);
    case OPTION_FORCE: return view_option(&r->view, VIEW_OPTION_FORCE, value, e);
    case OPTION_JSON: r->view.print.format = REPORT_JSON; return true;
    case OPTION_WORD: return parse_word("--word", value, &read->hint.word, e);
    case OPTION_ENDIAN: return parse_byte_order("--endian", value, &read->hint.order, e);
    default: return parse_read_format("--profile-format", value, read, e);
    }
}

/* Of a recording, the executable or the object that was named: by its path, or what is behind the
 * last slash. */
static bool find_object(const struct session *s, const struct request *r,
                        struct layout_rules *rules, struct err *e)
{
    const struct space *space = &s->recorded.space;
    if (!s->folder && r->object)
        return err_set(e, "--object is for recordings; name the shared object as PROGRAM instead");
    if (!s->folder) {
        rules->file = s->object;
        return true;
    }
    for (uint32_t i = 0; i < space->len; i++) {
        const char *path = space_object_name(space, i);
        if (r->object ? strcmp(path, r->object) && strcmp(path_base_name(path), r->object)
                      : i != space->main)
            continue;
        rules->object = i;
        rules->file = space->objects[i].file;
        return rules->file || err_in(e, s->folder, "%s ran, but its file cannot be read", path);
    }
    return err_in(e, s->folder, "has no object '%s'", r->object ? r->object : "of the program");
}

static bool make(struct session *s, const struct request *r, struct layout *t,
                 struct layout_gain *gain, struct err *e)
{
    struct layout_rules rules = {.cluster_bytes = r->cluster_bytes};
    if (!find_object(s, r, &rules, e))
        return false;
    if (s->folder)
        rules.stacks = &s->recorded.stacks;
    layout_make(t, gain, &s->functions, &s->graph, &rules, &s->arena);
    return t->len || err_set(e, "%s: no function that could be moved was sampled or called",
                             object_path(rules.file));
}

static bool save(const struct request *r, const struct layout *t, const struct layout_gain *gain,
                 struct err *e)
{
    struct out file;
    out_init(&file, -1);
    layout_file(&file, t, gain, r->format);
    bool ok = file_replace(r->output, (struct bytes){(const uint8_t *)file.at, file.len}, e);
    out_deinit(&file);
    return ok;
}

static bool report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    struct layout order;
    struct layout_gain gain;
    if (!make(s, r, &order, &gain, e))
        return false;
    bool is_stdout = r->output && !strcmp(r->output, "-");
    if (r->output && !is_stdout && !save(r, &order, &gain, e))
        return false;
    struct report_input in = {.names = &s->names,
                              .summary = &s->summary,
                              .layout = &order,
                              .gain = &gain,
                              .layout_path = r->output};
    if (r->view.print.format || (r->output && !is_stdout))
        print_report(REPORT_LAYOUT, &in, &r->view.print, out);
    else
        layout_file(out, &order, &gain, r->format);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {
        .view.session = {.takes_counters = true, .wants_files = true, .keeps_pieces = true}};
    return view_run(self, argc, argv,
                    &(struct view_job){&r, &r.view, take, report, false, &r.output}, out, e);
}

const struct command command_order = {
    .name = "order",
    .next = "link with the order, record again, and compare what 'monarc order' expects then",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...|COUNTERS...] | RECORDING",
    .summary = "Order functions for the linker, so that what runs together stands together",
    .details =
        "PROFILE is gmon.out unless named; several are summed. The order is call-chain\n"
        "clustering (C3): a function follows the caller that calls it most, dense clusters\n"
        "come first, and what never ran is left where the linker puts it. Samples say what\n"
        "runs, counted calls who calls whom; of a recording without counted calls, its call\n"
        "stacks do.\n"
        "\n"
        "COUNTERS are of arc profiling, as 'monarc cover' takes them: gcda with their gcno, da\n"
        "with their bbg, or folders of either, of PROGRAM or of another build of the same\n"
        "sources. They say how often each function was entered; those that call it directly in\n"
        "PROGRAM's code share that as they ran, an estimate.\n"
        "\n"
        "Objects have to be compiled with -ffunction-sections, or a linker cannot take them\n"
        "apart. The formats, and how to link:\n"
        "\n"
        "  lld    symbols: -fuse-ld=lld -Wl,--symbol-ordering-file=FILE\n"
        "  gold   sections: -fuse-ld=gold -Wl,--section-ordering-file=FILE\n"
        "  ld     script for GNU ld: -Wl,-T,FILE\n"
        "  mold   script for `ld -r --force-group-allocation -T FILE -o all.o OBJECT...`;\n"
        "         all.o is linked with mold, which takes no order of its own\n"
        "  names  symbols, one a line, nothing else\n"
        "\n"
        "Functions of one name, static ones of several files, move together. What it should\n"
        "bring is in remarks at the top of the order, or on standard output with -o: pages of\n"
        "4 KiB and 2 MiB that hold what ran, calls that leave their page, distance from\n"
        "caller to callee, and misses in an instruction TLB of 64 entries for small and 8 for\n"
        "large pages. These are estimates: samples are spread evenly over a function, and\n"
        "pages are entered at random, as often as calls and returns enter them.\n"
        "\n"
        "glibc's recorder ignores what a linker puts before _start; profile a program that\n"
        "lld put in order with 'monarc run'.\n"
        "\n"
        "Examples:\n"
        "  monarc order -o hot.order ./prog && cc -ffunction-sections -fuse-ld=lld \\\n"
        "      -Wl,--symbol-ordering-file=hot.order -o prog *.c\n"
        "  monarc order --format gold -o hot.order prog.monarc\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
