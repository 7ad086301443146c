/* GNU gprof's command line: getopt_long with GNU's own table of options, five of which have an
 * empty long name. The usage and version texts are ours.
 *
 * Options for reports do two things in GNU gprof: they switch a report on or off, and with a
 * symspec (`-p foo`, `-P foo`) they also include or exclude functions. Which reports are printed
 * is decided by bits (`styles`) and by those that were mentioned at all (`mentioned`): an option
 * that only excludes leaves the default reports on. Symspecs go into the selection in the order of
 * the options, since among arc specs the last one wins.
 *
 * getopt writes its own complaints, as GNU's does. Nothing here prints but -h, -v and -d. */
#include "gnu/gprof/gprof.h"

#include "gnu/gnu_compat.h"
#include "objfile/object.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Long options without a letter. */
enum { DEMANGLE = 256, NO_DEMANGLE, INLINE_FILE_NAMES };

/* getopt's notation: one colon for a value, two for one that may be absent and then must be
 * attached. */
static const char short_options[] =
    "aA::bBcC::d::De:E:f:F:hiI:J::k:lLm:n:N:O:p::P::q::Q::rR:sS:t:Tvw:xyzZ::";

/* From binutils' gprof/gprof.c, in its order, in which getopt lists what an abbreviation may
 * mean. */
static const struct option long_options[] = {
    {"line", no_argument, NULL, 'l'},
    {"no-static", no_argument, NULL, 'a'},
    {"ignore-non-functions", no_argument, NULL, 'D'},
    {"file-format", required_argument, NULL, 'O'},
    {"traditional", no_argument, NULL, 'T'},
    {"annotated-source", optional_argument, NULL, 'A'},
    {"no-annotated-source", optional_argument, NULL, 'J'},
    {"flat-profile", optional_argument, NULL, 'p'},
    {"no-flat-profile", optional_argument, NULL, 'P'},
    {"graph", optional_argument, NULL, 'q'},
    {"no-graph", optional_argument, NULL, 'Q'},
    {"exec-counts", optional_argument, NULL, 'C'},
    {"no-exec-counts", optional_argument, NULL, 'Z'},
    {"function-ordering", no_argument, NULL, 'r'},
    {"file-ordering", required_argument, NULL, 'R'},
    {"file-info", no_argument, NULL, 'i'},
    {"sum", no_argument, NULL, 's'},
    {"external-symbol-table", required_argument, NULL, 'S'},
    {"demangle", optional_argument, NULL, DEMANGLE},
    {"no-demangle", no_argument, NULL, NO_DEMANGLE},
    {"brief", no_argument, NULL, 'b'},
    {"static-call-graph", no_argument, NULL, 'c'},
    {"debug", optional_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},
    {"directory-path", required_argument, NULL, 'I'},
    {"", required_argument, NULL, 'e'},
    {"", required_argument, NULL, 'E'},
    {"", required_argument, NULL, 'f'},
    {"", required_argument, NULL, 'F'},
    {"", required_argument, NULL, 'k'},
    {"print-path", no_argument, NULL, 'L'},
    {"min-count", required_argument, NULL, 'm'},
    {"time", required_argument, NULL, 'n'},
    {"no-time", required_argument, NULL, 'N'},
    {"table-length", required_argument, NULL, 't'},
    {"version", no_argument, NULL, 'v'},
    {"width", required_argument, NULL, 'w'},
    {"all-lines", no_argument, NULL, 'x'},
    {"separate-files", no_argument, NULL, 'y'},
    {"display-unused-functions", no_argument, NULL, 'z'},
    {"inline-file-names", no_argument, NULL, INLINE_FILE_NAMES},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "Usage: gprof [OPTION...] [PROGRAM [PROFILE...]]\n"
    "Reports of GNU gprof, printed by monarc. PROGRAM is a.out and PROFILE gmon.out if\n"
    "not given; several profiles are added up; `-' is standard input.\n"
    "\n"
    "What to print (by default, what the profile allows):\n"
    "  -p[SPEC], --flat-profile[=SPEC]     flat profile (-P, --no-flat-profile: not)\n"
    "  -q[SPEC], --graph[=SPEC]            call graph (-Q, --no-graph: not)\n"
    "  -C[SPEC], --exec-counts[=SPEC]      call counts (-Z, --no-exec-counts: not)\n"
    "  -A[SPEC], --annotated-source[=SPEC] source with counts (-J, --no-...: not)\n"
    "  -r, --function-ordering             functions in an order that groups calls\n"
    "  -R MAP, --file-ordering=MAP         the same for object files\n"
    "  -s, --sum                           write the sum of all profiles to gmon.sum\n"
    "  -i, --file-info                     what the profiles hold\n"
    "\n"
    "What it is about (SPEC: NAME, FILE.c, LINE, FILE.c:NAME, CALLER/CALLEE):\n"
    "  -n SPEC, --time=SPEC                pass on the time of these functions only\n"
    "  -N SPEC, --no-time=SPEC             not of these\n"
    "  -f, -F SPEC                         graph of these (-F: and their time) only\n"
    "  -e, -E SPEC                         graph without these (-E: and their time)\n"
    "  -k FROM/TO                          ignore the calls of TO by FROM\n"
    "  -a, --no-static                     book static functions on the one before\n"
    "  -D, --ignore-non-functions          ignore local symbols that are no functions\n"
    "  -c, --static-call-graph             add calls found in the machine code\n"
    "  -l, --line                          lines instead of functions\n"
    "\n"
    "How it looks and where things are:\n"
    "  -b, --brief                         no explanations\n"
    "  -T, --traditional                   in BSD's layout\n"
    "  -z, --display-unused-functions      also functions without time and calls\n"
    "  -w N, --width=N                     width of the index\n"
    "  -L, --print-path                    whole paths of files\n"
    "  -m N, --min-count=N                 mark lines executed less often\n"
    "  -t N, --table-length=N              lines in the table of busiest lines\n"
    "  -x, --all-lines                     repeat counts on every line\n"
    "  -y, --separate-files                annotated source into FILE-ann\n"
    "  --inline-file-names                 file and line after each name\n"
    "  --demangle[=STYLE], --no-demangle   readable C++, Rust, D and Ada names\n"
    "  -I DIRS, --directory-path=DIRS      where to look for sources\n"
    "  -S FILE, --external-symbol-table=FILE  symbols from nm-like text\n"
    "  -O FORMAT, --file-format=FORMAT     auto, magic, bsd, 4.4bsd\n"
    "  -d[N], --debug[=N]                  say the debugging level\n"
    "  --compat VERSION                    print what this version of GNU gprof prints, such as\n"
    "                                      2.40; by default the one that is installed\n"
    "  -h, --help  -v, --version  @FILE    this; the version; options from FILE\n";

/* A version that is not here is taken for the last one before it. */
static const struct gprof_dialect dialects[] = {
    {.since = 0, .bfd_version = 240},
    {.since = 244, .bfd_version = 244, .has_d = true, .drops_last_call = true},
    {.since = 247,
     .bfd_version = 244,
     .has_d = true,
     .drops_last_call = true,
     .has_half_units = true,
     .has_sampled_lines = true},
};

static const char version[] =
    "GNU gprof (monarc) %s\n" STANDS_IN "There is no warranty; see the file LICENSE.\n";

/* What options fill. */
struct parse {
    struct gprof_options *o;
    struct selection *selection;
};

/* A report's option: switches it on, with a symspec that is included. `mentioned` is what
 * as_report() and as_no_report() both set: see gprof_choose_styles(). */
static void as_report(struct parse *p, enum gprof_style style, enum question q, const char *spec)
{
    if (spec)
        selection_add(p->selection, spec, q, false);
    p->o->styles |= style;
    p->o->mentioned |= style;
}

/* Its negation: switches it off, or, with a symspec, on without that. */
static void as_no_report(struct parse *p, enum gprof_style style, enum question q, const char *spec)
{
    if (spec) {
        selection_add(p->selection, spec, q, true);
        p->o->styles |= style;
    } else {
        p->o->styles &= ~(unsigned)style;
    }
    p->o->mentioned |= style;
}

/* `-q CALLER/CALLEE` is about arcs, `-q NAME` about functions. */
static enum question as_graph_question(const char *spec)
{
    return spec && strchr(spec, '/') ? ASK_ARCS : ASK_GRAPH;
}

/* By the first letter: auto, magic, bsd, 4.4bsd, prof. */
static bool as_choose_format(struct gprof_options *o, const char *name, struct err *e)
{
    if (strchr("amb4p", name[0]) && name[0]) {
        o->format = name[0];
        return true;
    }
    return err_set(e, "%s: unknown file format %s", name, o->whoami);
}

/* Options that select what is reported. False: not one of them.
 *
 *    -p f        include in the flat profile        -P f    exclude
 *    -q f, -f f  include in the graph               -Q, -e  exclude
 *    -n f        include in times                   -N      exclude
 *    -F, -E      both of graph and times */
static bool as_take_selection(struct parse *p, int code, const char *value)
{
    struct selection *s = p->selection;
    switch (code) {
    case 'A': as_report(p, STYLE_ANNOTATED, ASK_ANNOTATE, value); return true;
    case 'J': as_no_report(p, STYLE_ANNOTATED, ASK_ANNOTATE, value); return true;
    case 'p': as_report(p, STYLE_FLAT, ASK_FLAT, value); return true;
    case 'P': as_no_report(p, STYLE_FLAT, ASK_FLAT, value); return true;
    case 'B': as_report(p, STYLE_GRAPH, ASK_GRAPH, NULL); return true;
    case 'q': as_report(p, STYLE_GRAPH, as_graph_question(value), value); return true;
    case 'Q': as_no_report(p, STYLE_GRAPH, as_graph_question(value), value); return true;
    case 'C': as_report(p, STYLE_COUNTS, ASK_COUNTS, value); return true;
    case 'Z': as_no_report(p, STYLE_COUNTS, ASK_COUNTS, value); return true;
    case 'i': as_report(p, STYLE_INFO, 0, NULL); return true;
    case 'r': as_report(p, STYLE_FUNCTION_ORDER, 0, NULL); return true;
    case 's':
        as_report(p, STYLE_SUMMARY, 0, NULL);
        /* GNU's sums go from line to function. */
        p->o->lines = true;
        return true;
    case 'E':
    case 'F':
        selection_add(s, value, ASK_TIME, code == 'E');
        selection_add(s, value, ASK_GRAPH, code == 'E');
        return true;
    case 'e': selection_add(s, value, ASK_GRAPH, true); return true;
    case 'f': selection_add(s, value, ASK_GRAPH, false); return true;
    case 'k': selection_add(s, value, ASK_ARCS, true); return true;
    case 'n': selection_add(s, value, ASK_TIME, false); return true;
    case 'N': selection_add(s, value, ASK_TIME, true); return true;
    default: return false;
    }
}

/* All others. False: the error is set, or `code` is unknown and getopt has said so. */
static bool as_take_setting(struct gprof_options *o, int code, const char *value, struct err *e)
{
    switch (code) {
    case 'a': o->no_static = true; return true;
    case 'b': o->brief = true; return true;
    case 'c': o->static_graph = true; return true;
    case 'D': o->only_functions = true; return true;
    case 'I': source_search_add(&o->search, value); return true;
    case 'l': o->lines = true; return true;
    case 'L': o->full_paths = true; return true;
    case 'm': o->min_count = strtoul(value, NULL, 10); return true;
    case 'O': return as_choose_format(o, value, e);
    case 'R':
        o->order_map = value;
        o->styles |= STYLE_FILE_ORDER;
        o->mentioned |= STYLE_FILE_ORDER;
        return true;
    case 'S': o->symbol_map = value; return true;
    /* GNU takes numbers by atoi(): what is no number is 0. */
    case 't': o->table_length = atoi(value) < 0 ? 0 : (uint32_t)atoi(value); return true;
    case 'T': o->traditional = true; return true;
    case 'w': o->width = atoi(value) < 1 ? 1 : (uint32_t)atoi(value); return true;
    case 'x': o->all_lines = true; return true;
    case 'y': o->separate_files = true; return true;
    case 'z': o->show_all = true; return true;
    case DEMANGLE: {
        /* The styles are libiberty's. */
        o->demangle = value ? value : "auto";
        if (demangle_style_known(o->demangle))
            return true;
        return err_set(e, "%s: unknown demangling style `%s'", o->whoami, value);
    }
    case NO_DEMANGLE: o->demangle = NULL; return true;
    case INLINE_FILE_NAMES: o->inline_file_names = true; return true;
    default: return false;
    }
}

/* Time in these never counts: it is the profiler's own. */
void as_gprof_exclude_recorder(struct selection *s)
{
    static const char *const names[] = {"_gprof_mcount",     "mcount",    "_mcount", "__mcount",
                                        "__mcount_internal", "__mcleanup"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        selection_add(s, names[i], ASK_TIME, true);
        selection_add(s, names[i], ASK_GRAPH, true);
        selection_add(s, names[i], ASK_FLAT, true);
    }
}

/* The recorder's own functions are excluded last, after the user's own lists. Arguments after the
 * options: the image, then profiles. POSIXLY_CORRECT ends options at the image, as getopt has
 * it. */
int as_gprof_parse(int argc, char **argv, struct gprof_options *o, struct selection *selection,
                   struct out *out, struct err *e)
{
    *o = (struct gprof_options){.whoami = argv[0],
                                .width = 80,
                                .table_length = 10,
                                .min_count = 1,
                                .format = 'a',
                                .demangle = "auto",
                                .image = "a.out"};
    struct parse p = {o, selection};
    o->search.arena = selection->arena;
    struct gnu_version as = {0};
    o->expanded = lookalike_expand(&argc, &argv);
    if (!lookalike_take_compat(&argc, argv, GNU_BINUTILS, &as, e))
        return 1;
    lookalike_version(&as, GNU_BINUTILS, "gprof");
    size_t i = sizeof dialects / sizeof *dialects;
    while (dialects[--i].since > as.number)
        ;
    o->dialect = &dialects[i];
    /* 0, not 1: glibc's getopt starts afresh, and reads POSIXLY_CORRECT again. */
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, short_options, long_options, NULL)) != -1;) {
        if (code == 'v')
            out_printf(out, version, as.text);
        else if (code == 'h')
            out_str(out, usage);
        if (code == 'h' || code == 'v')
            return 0;
        if (code == 'd') {
            /* -d: the level is added up and said. The traces that it switches on in GNU gprof are
             * of GNU's own data structures; there are none here. */
            o->debug_level |= optarg ? (uint32_t)strtol(optarg, NULL, 10) | 1 : UINT32_MAX;
            out_printf(out, "[main] debug-level=0x%" PRIx32 "\n", o->debug_level);
            continue;
        }
        if (as_take_selection(&p, code, optarg) || as_take_setting(o, code, optarg, e))
            continue;
        if (!e->line[0])
            lookalike_say("%s", usage); /* getopt has just said what was wrong */
        return 1;
    }
    if ((o->styles & STYLE_FUNCTION_ORDER) && (o->styles & STYLE_FILE_ORDER)) {
        err_set(e, "%s: Only one of --function-ordering and --file-ordering may be specified.",
                o->whoami);
        return 1;
    }
    if (getenv("GPROF_PATH"))
        source_search_add(&o->search, getenv("GPROF_PATH"));
    o->has_specs = selection->specs;
    as_gprof_exclude_recorder(selection);
    if (optind < argc)
        o->image = argv[optind++];
    o->profiles = argv + optind;
    o->profiles_len = argc - optind;
    return AS_GPROF_RUN;
}

void as_gprof_release(struct gprof_options *o)
{
    source_search_deinit(&o->search);
    lookalike_release(o->expanded);
}
