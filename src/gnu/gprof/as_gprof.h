/* GNU gprof's command line, read into a plain struct.
 *
 * The struct says what was asked for, not what will be printed: gprof.c decides that when it knows
 * what the profiles hold. */
#ifndef MONARC_GNU_GPROF_AS_GPROF_H
#define MONARC_GNU_GPROF_AS_GPROF_H

#include "gnu/gprof/symspec.h"
#include "base/err.h"
#include "output/out.h"
#include "source/source.h"

/* Reports, as bits: GNU's rules for what is printed by default work on them. */
enum gprof_style {
    STYLE_FLAT = 1,
    STYLE_GRAPH = 2,
    STYLE_COUNTS = 4,          /* -C */
    STYLE_ANNOTATED = 8,       /* -A */
    STYLE_FUNCTION_ORDER = 16, /* -r */
    STYLE_FILE_ORDER = 32,     /* -R */
    STYLE_SUMMARY = 64,        /* -s */
    STYLE_INFO = 128,          /* -i */
};

/* Texts are argv's, or those of `expanded`. Numbers have GNU's defaults: a width of 80, a table of
 * 10 lines, a least count of 1. */
struct gprof_options {
    bool has_specs;     /* functions or arcs were selected */
    const char *whoami; /* argv[0], which messages begin with */
    unsigned styles, mentioned;
    bool no_static, only_functions, brief, traditional, show_all, full_paths;
    bool lines, static_graph, all_lines, separate_files, inline_file_names;
    uint32_t width, table_length;
    uint64_t min_count;
    uint32_t debug_level;        /* -d */
    char format;                 /* 'a' auto, 'm' magic, 'b' BSD, '4' 4.4BSD, 'p' prof */
    const char *symbol_map;      /* -S */
    struct source_search search; /* -I, then GPROF_PATH */
    const char *order_map;       /* -R */
    const char *demangle;        /* style, or NULL */
    const char *image;
    char **profiles;
    int profiles_len;
    char **expanded; /* the arguments, if any came from @FILE */
};

enum { AS_GPROF_RUN = -1 }; /* go on; any other result of the next function is an exit status */

/* Parses argv as GNU gprof 2.40 does. Symspecs are added to `selection`, in order. Prints help and
 * version to `out`; complains about unknown options on standard error in getopt's words, as GNU's
 * does, and sets `e` for everything else. */
int as_gprof_parse(int argc, char **argv, struct gprof_options *o, struct selection *selection,
                   struct out *out, struct err *e);

/* Adds the specs that keep the profiler's own functions out; as_gprof_parse() has done so. */
void as_gprof_exclude_recorder(struct selection *s);

/* Frees what @FILE arguments took; the options are not to be used after that. */
void as_gprof_release(struct gprof_options *o);

#endif
