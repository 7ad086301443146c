/* GNU gprof's index of functions by name, in three columns. */
#include "gnu/gprof/gprof_text.h"

#include "output/digits.h"
#include "output/out.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_A_PIECE = 512 };

/* Functions with calls or time of their own, by name, then the cycles. */
static uint32_t *select_nodes(const struct gprof_report *r, uint32_t *len, struct arena *a)
{
    const struct graph *g = r->graph;
    struct keyed *by_name = ARENA_NEW(a, struct keyed, r->functions->len);
    uint32_t *list = ARENA_NEW(a, uint32_t, g->len), n = 0;
    for (uint32_t i = 0; i < r->functions->len; i++)
        if (r->show_all || g->nodes[i].calls || g->nodes[i].self != 0)
            by_name[n++] = (struct keyed){r->functions->name_order[i], i};
    sort_keyed(by_name, n);
    for (uint32_t i = 0; i < n; i++)
        list[i] = by_name[i].item;
    for (uint32_t c = r->functions->len; c < g->len; c++)
        list[n++] = c;
    *len = n;
    return list;
}

static void bsd_cell(const struct gprof_report *r, uint32_t node, const char *rank, struct out *out)
{
    char cycle[32];
    const char *name = cycle;
    if (graph_is_cycle(r->graph, node))
        snprintf(cycle, sizeof cycle, "<cycle %u>", r->graph->nodes[node].cycle);
    else
        name = r->functions->at[node].name;
    out_printf(out, "%6.6s %-19.19s", rank, name);
}

/* Prints one cell, padding the rank to the column; returns the position after it. */
static size_t cell(struct gprof_report *r, uint32_t node, const char *rank, size_t position,
                   size_t column, struct out *out)
{
    size_t rank_len = strlen(rank);
    position += rank_len;
    if (position < column + 5) {
        out_spaces(out, column + 5 - position);
        position = column + 5;
    }
    out_char(out, ' ');
    out_bytes(out, rank, rank_len);
    out_char(out, ' ');
    if (graph_is_cycle(r->graph, node)) {
        char cycle[32];
        position +=
            (size_t)snprintf(cycle, sizeof cycle, "<cycle %u>", r->graph->nodes[node].cycle);
        out_str(out, cycle);
        return position;
    }
    const struct function *f = &r->functions->at[node];
    const struct gprof_label *label = &r->labels[node];
    out_bytes(out, gprof_label_text(label), label->name_len);
    position += label->name_len;
    if (f->is_static && f->file && r->places != PLACE_WITH_ADDRESS) {
        const char *file = gprof_file(r, f->file);
        out_str(out, " (");
        out_str(out, file);
        out_char(out, ')');
        position += strlen(file) + 3;
    }
    return position;
}

static const char *rank_text(const struct graph_node *n, char text[16])
{
    char *end = text;
    *end++ = n->is_shown ? '[' : '(';
    end = digits_u64(end, n->rank, 0);
    *end++ = n->is_shown ? ']' : ')';
    *end = '\0';
    return text;
}

struct table {
    struct gprof_report *report;
    const uint32_t *nodes; /* column by column */
    uint32_t len, rows;
};

static void print_row(const struct table *t, uint32_t row, struct out *out)
{
    struct gprof_report *r = t->report;
    uint32_t column_width = (r->width - 1) / 3;
    size_t position = 0, column = 0;
    for (uint32_t i = row; i < t->len; i += t->rows, column += column_width) {
        char text[16];
        const char *rank = rank_text(&r->graph->nodes[t->nodes[i]], text);
        if (r->bsd)
            bsd_cell(r, t->nodes[i], rank, out);
        else
            position = cell(r, t->nodes[i], rank, position, column, out);
    }
    out_char(out, '\n');
}

static void print_piece(size_t piece, struct out *out, void *context)
{
    const struct table *t = context;
    uint32_t end = (uint32_t)(piece + 1) * ROWS_A_PIECE;
    for (uint32_t row = (uint32_t)piece * ROWS_A_PIECE; row < end && row < t->rows; row++)
        print_row(t, row, out);
}

void gprof_index(struct gprof_report *r, struct out *out)
{
    struct arena scratch = {0};
    struct table t = {.report = r};
    t.nodes = select_nodes(r, &t.len, &scratch);
    t.rows = (t.len + 2) / 3;
    out_str(out, "\f\nIndex by function name\n\n");
    out_parallel(out, (t.rows + ROWS_A_PIECE - 1) / ROWS_A_PIECE, 0, print_piece, &t);
    arena_deinit(&scratch);
}
