/* Shared by the files of `monarc gprof`: the command line, profiles as GNU reads them, orders for
 * linkers, and the reports. Functions and symspecs are in functions_gnu.h.
 *
 * The command line is read into a plain struct. It says what was requested, not what will be
 * printed: gprof.c decides that when it knows what the profiles hold. */
#ifndef MONARC_GNU_GPROF_GPROF_H
#define MONARC_GNU_GPROF_GPROF_H

#include "base/err.h"
#include "gnu/gprof/functions_gnu.h"
#include "objfile/object.h"
#include "output/out.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "profile/model/profile.h"
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

/* What differs from version to version of GNU gprof, a row each in as_gprof.c. */
struct gprof_dialect {
    uint32_t since;         /* 244 is 2.44 */
    uint16_t bfd_version;   /* its library, whose misreadings of DWARF it has */
    bool has_d;             /* demangles D's names without an option */
    bool drops_last_call;   /* -c on x86: not calls that end where their function or line does */
    bool has_half_units;    /* a histogram over an odd number of bytes ends within a unit of two */
    bool has_sampled_lines; /* -l: only lines within histograms, if there are any */
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
    const struct gprof_dialect *dialect;
    const char *image;
    char **profiles;
    int profiles_len;
    char **expanded; /* the arguments, if any came from @FILE */
};

enum { AS_GPROF_RUN = -1 }; /* go on; any other result of the next function is an exit status */

/* Parses argv as GNU gprof does. Symspecs are added to `selection`, in order. Prints help and
 * version to `out`; complains about unknown options on standard error in getopt's words, as GNU's
 * does, and sets `e` for everything else. */
int as_gprof_parse(int argc, char **argv, struct gprof_options *o, struct selection *selection,
                   struct out *out, struct err *e);

/* Adds the specs that keep the profiler's own functions out; as_gprof_parse() has done so. */
void as_gprof_exclude_recorder(struct selection *s);

/* Frees what @FILE arguments took; the options are not to be used after that. */
void as_gprof_release(struct gprof_options *o);

/* ---- The orders of GNU gprof's -r and -R, in which a linker is to place functions or files:
 * chains of callers and callees, the busiest calls first. `monarc optimize` has a better one
 * (profile/analysis/layout.h).
 *
 * GNU's algorithm in brief. A chain grows at its ends: of an arc whose caller or callee is in no
 * chain yet, that one goes to the end of the other's chain that is nearer to the other. Chains are
 * not joined. Arcs are taken by count, first those that make up 99 % of all calls, then the others.
 * Before that, one function in 80, the busiest callees, lose their arcs and are set aside; through
 * an oversight the last one of them can be missing from the output. Arc specs (-k, -q...) add arcs
 * between functions of their own (see struct spec_arc), so that names can be printed twice. */

struct gnu_layout {
    const char **names;
    size_t len;
};

/* Printing the call graph leaves the callers and callees of what it prints sorted, and -r goes
 * through those of the busiest functions as it finds them. */
struct gnu_printed {
    bool graph;
    bool idle;      /* -z */
    bool has_lines; /* -l: only functions have entries */
};

/* Whether the call graph that GNU gprof prints has an entry for the node; -z shows idle ones. */
static inline bool gnu_prints_entry(const struct graph *g, uint32_t node, bool shows_idle)
{
    const struct graph_node *n = &g->nodes[node];
    bool is_idle = !n->calls && !n->self_calls && n->shown_self == 0 && n->shown_children == 0;
    return n->is_shown && (shows_idle || !is_idle);
}

/* `g` is finished, or NULL if the profile has no arcs. The selection is resolved. */
void gnu_layout_functions(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                          const struct selection *s, struct gnu_printed printed, struct arena *a);

/* The functions were made with `map` (struct gnu_symbol_rules), or from a symbol map without it. */
void gnu_layout_files(struct gnu_layout *t, const struct functions *f, const struct graph *g,
                      const struct selection *s, const struct order_map *map, struct arena *a);

/* ---- What `monarc gprof` needs from a profile that GNU gprof reads in its own way.
 *
 * Messages are GNU's, with the program's name as it was started; errors end the command with status
 * 1. */

/* Zeroed at first; profile_deinit() frees what is in it. */
struct gprof_input {
    struct profile profile;
    bool has_arcs;    /* arcs, or a BSD file, which has a place for them */
    bool has_symbols; /* an arc or a block was read: from then on GNU has its symbols */
    size_t sampled;   /* of the histograms: those that were read before that */
    uint32_t version; /* of the last file that had one: what -i says of all after it */
};

/* Reads and adds up the profiles, checking as GNU does: same ranges are summed whatever their rate;
 * other overlaps, another scale or dimension are errors. Word size and byte order are the image's.
 */
MUST_CHECK bool gprof_read_profiles(const struct gprof_options *o, const struct object *image,
                                    struct gprof_input *input, struct out *out, struct err *e);

/* `monarc gprof -s`. */

/* Replaces ./gmon.sum by the sum of what was read, in the image's word size and byte order and the
 * format that -O names. `g`: connected, or NULL where there were no arcs. */
MUST_CHECK bool gprof_write_sum(const struct gprof_options *o, const struct object *image,
                                const struct profile *p, const struct functions *f,
                                const struct graph *g, struct err *e);

/* ---- The reports of GNU gprof 2.40, byte for byte: flat profile, call graph, index,
 * orderings.
 *
 * Layouts are GNU's own and BSD's (-T). Explanations are in our words. Nothing is computed here but
 * sums of what is printed. */

/* GNU gprof's flat profile as a table: which functions are listed, in which order. */
struct gnu_flat_row {
    uint32_t function;
    uint64_t calls; /* 0: none are known */
    double self, cumulative, children;
};

/* All amounts are in samples. */
struct gnu_flat {
    struct gnu_flat_row *rows;
    uint32_t len;
    double total;   /* what percentages refer to; 0: no time was accumulated */
    double longest; /* time of a call of the function whose calls take longest; 0: of none */
};

/* What the flat profile is made of; all of it is borrowed. */
struct gnu_flat_input {
    const struct functions *functions; /* their names in order */
    const struct attribution *time;
    const struct selection *selection;
    const struct graph *graph; /* NULL: there were no arcs */
    const uint32_t *node_of; /* nodes of functions, where the graph has not all of them, or NULL */
    bool shows_idle;         /* -z: functions without calls and time, too */
};

void gnu_flat_make(struct gnu_flat *t, const struct gnu_flat_input *in, struct arena *a);

/* Counts of each source file as GNU gprof has them: how often the functions (with -l: the lines) on
 * its lines were entered, and the basic blocks counted there. The table for -A and -C. */

/* Block counts by function (or line) of a table. */
struct gnu_blocks {
    struct block *at;
    uint32_t *start; /* of function i: at[start[i]] to before at[start[i + 1]]; NULL: none at all */
};

/* Sums blocks by address and gives each to the function around it; those in none are dropped. Of
 * one function they stand in the order of the profile. */
void gnu_blocks_make(struct gnu_blocks *b, const struct profile *p, const struct functions *f,
                     struct arena *a);

/* The functions that the selection admits to the execution counts, by file, line and address. */
uint32_t *gnu_counts_order(const struct functions *f, const struct selection *selection,
                           uint32_t *len, struct arena *a);

/* How a function is printed: name, perhaps its place, and in a graph its cycle and its rank in
 * brackets (parentheses: not shown). One line of the cache where the text fits, since a graph's
 * lines ask for labels in no order at all. */
enum { GPROF_LABEL = 64, GPROF_LABEL_TEXT = GPROF_LABEL - sizeof(uint64_t) - 2 * sizeof(uint32_t) };

struct gprof_label {
    uint64_t calls;         /* of the function or of its cycle */
    uint32_t name_len, len; /* of name and place alone, and in all */
    union {
        char text[GPROF_LABEL_TEXT];
        const char *long_text; /* where `len` is larger than that */
    };
};

static inline const char *gprof_label_text(const struct gprof_label *label)
{
    return label->len > GPROF_LABEL_TEXT ? label->long_text : label->text;
}

/* The text after a name: ` (FILE:LINE)` or ` (FILE:LINE @ ADDRESS)`. */
enum gprof_places { NO_PLACE, PLACE, PLACE_WITH_ADDRESS /* -l */ };

/* What all reports of one invocation have in common; -i and each report set has_output. */
struct gprof_report {
    const struct functions *functions;
    const struct gnu_symbol *symbols; /* of the functions */
    const struct attribution *time;
    double scale; /* as attribute_gnu() says */
    const struct selection *selection;
    struct graph *graph; /* NULL: there were no arcs */
    struct names *names;
    bool bsd;                   /* -T */
    bool brief;                 /* -b */
    bool show_all;              /* -z: functions without calls and time too */
    bool full_paths;            /* -L */
    enum gprof_places places;   /* -l, --inline-file-names */
    uint32_t width;             /* -w: of the index */
    bool has_output;            /* something was printed: the next report starts a page */
    struct gprof_label *labels; /* gprof_make_labels(); a flat profile in GNU's layout needs none */

    const struct gnu_blocks *blocks;
    bool has_annotated;  /* the next source file comes after an empty line */
    uint64_t last_count; /* where the next source file goes on */
};

/* Prepares the labels of all functions that reports can print; the first thing to do, except for a
 * flat profile alone in GNU's layout. Memory is 64 bytes or more for each function that can be
 * printed. */
void gprof_make_labels(struct gprof_report *r, struct arena *a);

/* Each prints one report, with the form feed that stands between two of them. */
void gprof_flat(struct gprof_report *r, const struct gnu_flat *table, struct out *out);
void gprof_graph(struct gprof_report *r, struct out *out);
void gprof_index(struct gprof_report *r, struct out *out);
void gprof_layout(const struct gnu_layout *t, struct out *out);

/* -C: the functions in that order. */
void gprof_counts(struct gprof_report *r, const uint32_t *order, uint32_t len, struct out *out);

/* `monarc gprof -A`: sources found, read and printed, or written into files beside (-y). */

/* A missing source is named on standard error and passed over, as is a file that cannot be written.
 * False: a file was refused, since writing it would have replaced a source. */
MUST_CHECK bool gprof_annotate(const struct gprof_options *o, struct gprof_report *r,
                               struct arena *a, struct out *out);

/* --- shared by the reports ----------------------------------------------------------------------
 */

void gprof_new_page(struct gprof_report *r, struct out *out);

/* A function's name and place, without labels. */
void gprof_name_and_place(const struct gprof_report *r, uint32_t function, struct out *out);

/* The whole label of a function. */
void gprof_name(const struct gprof_report *r, uint32_t function, struct out *out);

/* The printed part of a file's path: all of it with -L, else its last part. */
const char *gprof_file(const struct gprof_report *r, const char *path);

/* Whole bytes that a histogram bin stands for. The line "each sample hit covers N byte(s)" has
 * it. */
long gprof_granularity(const struct gprof_report *r);

extern const char gprof_flat_explanation[], gprof_graph_explanation[],
    gprof_bsd_graph_explanation[];

#endif
