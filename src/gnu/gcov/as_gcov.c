/* gcov's command line: getopt_long with gcov 12's names and letters. The usage text is ours. */
#include "gnu/gcov/as_gcov.h"

#include "gnu/gnu_compat.h"

#include <getopt.h>

static const char short_options[] = "abcdDefghHijklmno:pqrs:tuvwx";

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {"verbose", no_argument, NULL, 'w'},
    {"all-blocks", no_argument, NULL, 'a'},
    {"branch-probabilities", no_argument, NULL, 'b'},
    {"branch-counts", no_argument, NULL, 'c'},
    {"conditions", no_argument, NULL, 'g'},
    {"prime-paths", no_argument, NULL, 'e'},
    {"json-format", no_argument, NULL, 'j'},
    {"human-readable", no_argument, NULL, 'H'},
    {"no-output", no_argument, NULL, 'n'},
    {"long-file-names", no_argument, NULL, 'l'},
    {"function-summaries", no_argument, NULL, 'f'},
    {"demangled-names", no_argument, NULL, 'm'},
    {"preserve-paths", no_argument, NULL, 'p'},
    {"relative-only", no_argument, NULL, 'r'},
    {"object-directory", required_argument, NULL, 'o'},
    {"object-file", required_argument, NULL, 'o'},
    {"source-prefix", required_argument, NULL, 's'},
    {"stdout", no_argument, NULL, 't'},
    {"unconditional-branches", no_argument, NULL, 'u'},
    {"display-progress", no_argument, NULL, 'd'},
    {"hash-filenames", no_argument, NULL, 'x'},
    {"use-colors", no_argument, NULL, 'k'},
    {"use-hotness-colors", no_argument, NULL, 'q'},
    {"debug", no_argument, NULL, 'D'},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "Usage: gcov [OPTION...] SOURCE|OBJECT|NOTES|COUNTERS...\n"
    "Reports of GNU gcov, printed by monarc, for the files of any compiler from gcc 3.4 and\n"
    "clang on.\n"
    "\n"
    "What to show:\n"
    "  -a, --all-blocks                each block of a line\n"
    "  -b, --branch-probabilities      branches, calls and functions\n"
    "  -c, --branch-counts             counts of them in place of percentages\n"
    "  -g, --conditions                outcomes of conditions (gcc 14 and later)\n"
    "  -e, --prime-paths               how many paths were taken (gcc 15 and later)\n"
    "  -u, --unconditional-branches    unconditional branches too\n"
    "  -w, --verbose                   numbers of blocks\n"
    "  -f, --function-summaries        a summary of each function\n"
    "  -m, --demangled-names           names as in the source\n"
    "  -H, --human-readable            1.5k in place of 1500\n"
    "  -k, --use-colors                colour for lines that did not run\n"
    "  -q, --use-hotness-colors        colour for lines that ran most\n"
    "  -D, --debug                     what was read\n"
    "\n"
    "Where to:\n"
    "  -j, -i, --json-format           NAME.gcov.json.gz in place of text\n"
    "  -t, --stdout                    to standard output\n"
    "  -n, --no-output                 the summaries only\n"
    "  -l, --long-file-names           name the including file as well\n"
    "  -p, --preserve-paths            whole paths as names, '/' as '#', '..' as '^'\n"
    "  -x, --hash-filenames            the path's MD5 in the name\n"
    "  -d, --display-progress          say which file is read\n"
    "\n"
    "Where from:\n"
    "  -o, --object-directory DIR|FILE where notes and counters are\n"
    "  -s, --source-prefix DIR         take this off the names of sources\n"
    "  -r, --relative-only             only sources with relative names\n"
    "\n"
    "  -h, --help       this text\n"
    "  -v, --version    the version\n";

/* Programs take the first number of the first line for the version of gcov. */
static const char version[] = "gcov (monarc) 12.2.0\n"
                              "monarc " MONARC_VERSION " prints the reports of GNU gcov 12.2.0.\n";

static bool take_style(struct gcov_style *s, int code)
{
    switch (code) {
    case 'a': return s->all_blocks = true;
    case 'b': return s->branches = true;
    case 'c': return s->counts = true;
    case 'e': return s->paths = true;
    case 'g': return s->conditions = true;
    case 'u': return s->unconditional = true;
    case 'w': return s->verbose = true;
    case 'H': return s->human = true;
    case 'k': return s->has_colours = true;
    case 'q': return s->has_hotness = true;
    default: return false;
    }
}

static bool take(struct gcov_options *o, int code)
{
    switch (code) {
    case 'd': return o->progress = true;
    case 'D': return o->debug = true;
    case 'f': return o->functions = true;
    case 'i':
    case 'j': o->no_output = false; return o->json = true; /* undoes an earlier -n */
    case 'l': return o->long_names = true;
    case 'm': return o->demangled = true;
    case 'n': return o->no_output = true;
    case 'o': o->object = optarg; return true;
    case 'p': return o->preserve_paths = true;
    case 'r': return o->relative_only = true;
    case 's': o->source_prefix = optarg; return true;
    case 't': return o->to_stdout = true;
    case 'x': return o->hash_names = true;
    default: return take_style(&o->style, code);
    }
}

static int fail_with_usage(void)
{
    lookalike_say("%s", usage);
    return 1;
}

int as_gcov_parse(int argc, char **argv, struct gcov_options *o, struct out *out)
{
    *o = (struct gcov_options){0};
    o->expanded = lookalike_expand(&argc, &argv);
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, short_options, long_options, NULL)) != -1;) {
        if (code == 'h' || code == 'v') {
            out_str(out, code == 'h' ? usage : version);
            return 0;
        }
        if (!take(o, code))
            return fail_with_usage();
    }
    if (optind >= argc)
        return fail_with_usage();
    o->files = argv + optind;
    o->files_len = argc - optind;
    return AS_GCOV_RUN;
}

void as_gcov_release(struct gcov_options *o)
{
    lookalike_release(o->expanded);
}
