/* The reports of GNU gprof 2.40, byte for byte: flat profile, call graph, index,
 * orderings.
 *
 * Layouts are GNU's own and BSD's (-T). Explanations are in our words. Nothing is computed here but
 * sums of what is printed. */
#ifndef MONARC_GNU_GPROF_GPROF_TEXT_H
#define MONARC_GNU_GPROF_GPROF_TEXT_H

#include "gnu/gprof/as_gprof.h"
#include "gnu/gprof/gnu_layout.h"
#include "gnu/gprof/symspec.h"
#include "output/out.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"

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

/* What GNU gprof knows of each source file: how often the functions (with -l: the lines) on its
 * lines were entered, and the basic blocks counted there. The table behind -A and -C. */

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

/* What is printed behind a name: ` (FILE:LINE)` or ` (FILE:LINE @ ADDRESS)`. */
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

/* What is printed of a file's path: all of it with -L, else its last part. */
const char *gprof_file(const struct gprof_report *r, const char *path);

/* Whole bytes that a histogram bin stands for. The line "each sample hit covers N byte(s)" has
 * it. */
long gprof_granularity(const struct gprof_report *r);

extern const char gprof_flat_explanation[], gprof_graph_explanation[],
    gprof_bsd_graph_explanation[];

#endif
