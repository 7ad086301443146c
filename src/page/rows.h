/* The functions of the page: those that were measured, by self time, and behind them what only
 * stands in call paths: inlined functions, cycles, the rest that is too small. Everything on the
 * page speaks of functions by their number here. */
#ifndef MONARC_PAGE_ROWS_H
#define MONARC_PAGE_ROWS_H

#include "profile/analysis/exchange/exchange.h"
#include "page/input.h"
#include "profile/analysis/tables.h"

enum page_row_kind {
    ROW_FUNCTION,
    ROW_PROFILER,
    ROW_INLINED,
    ROW_CYCLE,
    ROW_SMALL,
    ROW_UNKNOWN /* stands for callers that are not known */
};

struct page_row {
    enum page_row_kind kind;
    uint32_t function;           /* of names->functions; of a cycle its number from 1 */
    const struct flat_row *flat; /* NULL: not of the flat profile */
};

struct page_rows {
    const struct page_profile *profile;
    struct arena arena;
    struct flat flat;
    struct named_frames frames; /* where there are stacks */
    struct call_tree tree;
    uint32_t *merged;         /* per node of the run: in the tree */
    struct model_paths model; /* where there are none */
    struct names names;       /* of all functions, inlined ones too */
    bool has_stacks;
    VEC(struct page_row) all;
    uint32_t measured;    /* rows before the first one that is in paths alone */
    uint32_t *of;         /* per function of `names`: its row, or UINT32_MAX */
    uint32_t first_cycle; /* row of cycle 1 */
    uint32_t small;       /* the row of ROW_SMALL */
};

void page_rows_make(struct page_rows *r, const struct page_profile *p);
void page_rows_deinit(struct page_rows *r);

/* The row of a frame of r->model. */
uint32_t page_row_of_node(const struct page_rows *r, uint32_t node);

#endif
