/* The reports of GNU gprof 2.40, byte for byte: flat profile, call graph, index,
 * orderings.
 *
 * Layouts are GNU's own and BSD's (-T). Explanations are in our words. Nothing is computed here but
 * sums of what is printed. */
#ifndef MONARC_REPORT_GPROF_TEXT_H
#define MONARC_REPORT_GPROF_TEXT_H

#include "analysis/attribute.h"
#include "analysis/gnu_order.h"
#include "analysis/graph.h"
#include "analysis/names.h"
#include "base/out.h"

/* How a function is printed: name, and in a graph its cycle and its rank in brackets (parentheses:
 * not shown). */
struct gprof_label {
    const char *text;
    uint32_t name_len, len; /* of the name alone, and in all */
    uint64_t calls;         /* of the function or of its cycle */
};

struct gprof_report {
    const struct functions *functions;
    const struct attribution *time;
    const struct selection *selection;
    struct graph *graph; /* NULL: there were no arcs */
    struct names *names;
    bool bsd;                   /* -T */
    bool brief;                 /* -b */
    bool show_all;              /* -z: functions without calls and time too */
    bool full_paths;            /* -L */
    uint32_t width;             /* -w: of the index */
    bool has_output;            /* something was printed: the next report starts a page */
    struct gprof_label *labels; /* gprof_make_labels() */
};

/* Prepares the labels of all functions that reports can print; the first thing to do. */
void gprof_make_labels(struct gprof_report *r, struct arena *a);

void gprof_flat(struct gprof_report *r, struct out *out);
void gprof_graph(struct gprof_report *r, struct out *out);
void gprof_index(struct gprof_report *r, struct out *out);
void gprof_order(const struct gnu_order *t, struct out *out);

/* --- shared by the three ---------------------------------------------------------------------- */

void gprof_new_page(struct gprof_report *r, struct out *out);

/* The whole label of a function. */
void gprof_name(const struct gprof_report *r, uint32_t function, struct out *out);

/* Whole bytes that a histogram bin stands for. */
long gprof_granularity(const struct gprof_report *r);

extern const char gprof_flat_explanation[], gprof_graph_explanation[],
    gprof_bsd_graph_explanation[];

#endif
