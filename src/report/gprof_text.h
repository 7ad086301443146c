/* The reports of GNU gprof 2.40, byte for byte: flat profile, call graph, index.
 *
 * Layouts are GNU's own and BSD's (-T). Explanations are in our words. Nothing is computed here but
 * sums of what is printed. */
#ifndef MONARC_REPORT_GPROF_TEXT_H
#define MONARC_REPORT_GPROF_TEXT_H

#include "analysis/attribute.h"
#include "analysis/graph.h"
#include "analysis/names.h"
#include "base/out.h"

struct gprof_report {
    const struct functions *functions;
    const struct attribution *time;
    const struct selection *selection;
    struct graph *graph; /* NULL: there were no arcs */
    struct names *names;
    bool bsd;        /* -T */
    bool brief;      /* -b */
    bool show_all;   /* -z: functions without calls and time too */
    bool full_paths; /* -L */
    uint32_t width;  /* -w: of the index */
    bool has_output; /* something was printed: the next report starts a page */
};

void gprof_flat(struct gprof_report *r, struct out *out);
void gprof_graph(struct gprof_report *r, struct out *out);
void gprof_index(struct gprof_report *r, struct out *out);

/* --- shared by the three ---------------------------------------------------------------------- */

void gprof_new_page(struct gprof_report *r, struct out *out);

/* Name, cycle, and rank in brackets (parentheses: not shown) of a graph node. */
void gprof_name(struct gprof_report *r, uint32_t node, struct out *out);

/* Whole bytes that a histogram bin stands for. */
long gprof_granularity(const struct gprof_report *r);

extern const char gprof_flat_explanation[], gprof_graph_explanation[],
    gprof_bsd_graph_explanation[];

#endif
