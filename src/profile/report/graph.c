/* The call graph: entries, and trees of callers or callees, as text, JSON
 * (docs/schema/graph.schema.json) and CSV.
 *
 * An entry is laid out as gprof's users know it: callers, the function with its number, callees, a
 * line of dashes. Its lines are no rows of one table, so that text writes them itself; programs get
 * the arcs as rows. Entries are printed on several threads, 64 a piece: a graph of 100,000
 * functions is some 200 MB of text.
 *
 * A tree goes from one function to its callers or callees. Its rows are a table; a name is indented
 * by its depth. What flows through a pair is measured where stacks were recorded, else split by
 * call counts, and the head says which.
 *
 *     index total%    self s callees s    calls   function
 *                      0.000     0.900     1/1        main [1]            callers
 *     [2]    90.00     0.000     0.900     1      run [2]               the entry's own line
 *                      0.600     0.000   900/1000     parse [3]           callees
 *     ---------------------------------------------------------------------- */
#include "profile/report/writers.h"

#include "output/formats.h"
#include "output/out.h"
#include "profile/analysis/compare/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char static_word[] = "static";

/* --- columns of entries ----------------------------------------------------------------------- */

/* Of an entry in JSON, which has its arcs as lists inside, and the headings of text. CSV is a table
 * of arcs alone. */
enum {
    ENTRY_ID,
    ENTRY_KIND,
    ENTRY_FUNCTION,
    ENTRY_CYCLE = ENTRY_FUNCTION + FUNCTION_FIELDS,
    ENTRY_SHARE,
    ENTRY_SELF,
    ENTRY_TEXT_SAMPLES,
    ENTRY_CALLEES,
    ENTRY_CALLS,
    ENTRY_RECURSIVE,
    ENTRY_COLUMNS
};
static const struct column entry_columns[ENTRY_COLUMNS] = {
    [ENTRY_ID] = {"id", "number of the entry; null: it has none", "index", FORM_LEFT},
    [ENTRY_KIND] = {"kind", "function; cycle: functions that call each other"},
    COLUMNS_OF_FUNCTION(ENTRY_FUNCTION),
    [ENTRY_CYCLE] = {"cycle", MEANS_CYCLE},
    [ENTRY_SHARE] = {"total_share", "share of all samples, callees included; 0 to 1 in JSON",
                     "total%", FORM_HEAT, true},
    [ENTRY_SELF] = {"self_samples",
                    "the function's own time (JSON: samples); for a caller, the part due to its "
                    "calls; for a callee, the part due to this function",
                    "self ?", FORM_NUMBER, true},
    [ENTRY_TEXT_SAMPLES] = {NULL, "in place of self time if the rate is unknown", "samples",
                            FORM_NUMBER, true},
    [ENTRY_CALLEES] = {"callees_samples", "the same of the time in callees", "callees ?",
                       FORM_NUMBER, true},
    [ENTRY_CALLS] =
        {"calls",
         "from other functions, of a cycle from outside, +: by itself; of a "
         "caller or callee: calls between the two / all calls of the one that is called",
         "calls", FORM_NUMBER},
    [ENTRY_RECURSIVE] = {"recursive_calls", "calls by itself; of a cycle between members"},
};
const struct column_table entries_columns = {"Columns of entries", "graph", "entries",
                                             entry_columns, ENTRY_COLUMNS};

enum { ENTRIES_A_PIECE = 64 };

/* What all lines of a listing share: which columns there are, and how wide. `index` and the others
 * are widths in characters; `number` has the entry of a node, 0 for one that is not listed. */
struct columns {
    const struct summary *summary;
    const struct graph *graph;
    struct names *names;
    const struct text_style *style;
    const uint32_t *number; /* NULL in trees */
    bool has_samples, has_time;
    int index, time, decimals, percent, calls;
    bool has_calls;
    const struct baseline *base; /* or NULL */
    int was;                     /* width of the base's calls; 0: it has none */
};

enum { WAS_SHARE = 6 };

/* Columns of times have room for all of the program's time. Static calls alone make a column of
 * calls too, since that is where `static` stands. */
static struct columns graph_columns_of(const struct summary *s, const struct graph *g,
                                       struct names *names, const struct text_style *style)
{
    struct columns l = {.summary = s,
                        .graph = g,
                        .names = names,
                        .style = style,
                        .has_samples = s->has_samples,
                        .has_time = s->has_samples && s->rate > 0,
                        .index = text_digits(g->len) + 2,
                        .calls = text_digits(s->calls),
                        .has_calls =
                            s->calls || (!g->is_measured && g->measured_len < g->arcs_len)};
    double most = l.has_time ? summary_time(s, s->samples) : s->samples;
    l.decimals = l.has_time ? summary_decimals(s) : 2;
    l.time = text_digits((uint64_t)most) + l.decimals + 1;
    l.percent = text_share_decimals(s);
    l.index = l.index < 5 ? 5 : l.index;
    l.time = l.time < 9 ? 9 : l.time;
    int least = g->measured_len < g->arcs_len ? (int)strlen(static_word) : 5;
    l.calls = l.calls < least ? least : l.calls;
    return l;
}

/* Columns between times and names. Two counts and what is between them, `900/1000` or `5+2`, with
 * two spaces before. */
static int text_calls_width(const struct columns *l)
{
    return l->has_calls ? 2 * l->calls + 3 : 0;
}

/* Of the base's columns, with the gaps. */
static int text_was_width(const struct columns *l)
{
    return l->base ? (l->was ? l->was + 2 : 0) + (l->base->old.has_samples ? WAS_SHARE + 2 : 0) : 0;
}

/* Calls in the base, and its total share; negative: blank. */
static void text_was(struct out *out, const struct columns *l, double calls, double share)
{
    if (!l->base)
        return;
    if (l->was && calls >= 0)
        out_printf(out, "  %*.0f", l->was, calls);
    else if (l->was)
        out_spaces(out, (size_t)l->was + 2);
    if (l->base->old.has_samples && share >= 0)
        out_printf(out, "  %*.2f", WAS_SHARE, 100 * share);
    else if (l->base->old.has_samples)
        out_spaces(out, WAS_SHARE + 2);
}

/* Of a call of the entry, or to it. The base knows arcs between functions; the caller of an arc is
 * the line's node above the entry, and the entry's below it. */
static void text_was_arc(struct out *out, const struct columns *l, const struct entry *e,
                         const struct entry_line *line, bool is_caller)
{
    bool is_arc = line->kind == LINE_ARC || line->kind == LINE_INTERNAL;
    double calls = -1;
    if (l->base && is_arc)
        calls = baseline_arc_calls(l->base, is_caller ? line->node : e->node,
                                   is_caller ? e->node : line->node);
    text_was(out, l, calls, -1);
}

/* A name, after `used` columns of its row. The number in brackets and the mark of a cycle are never
 * cut: they are what one searches for. Their width is taken from the name's room. */
static void text_node(struct out *out, const struct columns *l, uint32_t node, int used)
{
    const struct graph_node *n = &l->graph->nodes[node];
    if (graph_is_cycle(l->graph, node)) {
        out_printf(out, GRAPH_CYCLE_NAME, n->cycle);
    } else {
        int behind = l->number && l->number[node] ? 3 + text_digits(l->number[node]) : 0;
        behind += n->cycle ? 9 + text_digits(n->cycle) : 0;
        text_function_behind(out, l->names, node, l->style, used + behind);
        if (n->cycle)
            out_printf(out, " <cycle %" PRIu32 ">", n->cycle);
    }
    if (l->number && l->number[node]) { /* of every line: printf() would be a fifth of the report */
        out_str(out, " [");
        out_u64(out, l->number[node], 0);
        out_char(out, ']');
    }
}

/* Self and children, in time where the rate is known, else in samples. */
static void text_times(struct out *out, const struct columns *l, double self, double children)
{
    if (!l->has_samples)
        return;
    /* What sampling leaves open. The error of the model that splits times is unknown. */
    const struct summary *s = l->summary;
    double unit = l->has_time ? s->rate : 1, scale = s->samples / unit;
    out_char(out, ' ');
    text_known(out, self / unit, summary_error(s, self) * scale, l->time, l->decimals);
    out_char(out, ' ');
    text_known(out, children / unit, summary_error(s, children) * scale, l->time, l->decimals);
}

/* `mark` and the second number fill a field of their own. `mark` is ` ` (one number), `/` (of so
 * many calls of the callee) or `+` (and so many by itself). */
static void text_calls(struct out *out, const struct columns *l, uint64_t calls, char mark,
                       uint64_t second)
{
    out_str(out, "  ");
    out_u64(out, calls, l->calls);
    out_char(out, mark);
    if (mark == ' ')
        out_spaces(out, (size_t)l->calls);
    else
        out_u64_left(out, second, l->calls);
}

/* Where the times along calls come from. A reader must know which it is: gprof's model splits a
 * callee's time by counts of calls, and is wrong where callers ask for different amounts of work.
 */
static void text_origin(struct out *out, const struct graph *g)
{
    if (g->is_measured)
        out_str(out, "Times    of callers and callees: samples that had both on the stack\n");
    else
        out_str(out, "Model    times of callees are split among callers by call counts\n");
}

/* A caller above, or a callee or member below the entry's own line. Fields stay at their place
 * where a line has none: names stand below each other. Calls within a cycle pass no time on, so
 * that their times are blank. `is_seen` marks calls that only stacks show: how often they happened
 * is not known. */
static void text_line(struct out *out, const struct columns *l, const struct entry *e,
                      const struct entry_line *line, bool is_caller)
{
    int used = l->index + (l->has_samples ? 2 * l->time + 7 + l->percent : 0) +
               text_calls_width(l) + others_width(&l->summary->others) + text_was_width(l) + 6;
    out_spaces(out, (size_t)l->index + (l->has_samples ? 5 + (size_t)l->percent : 0));
    if (line->kind == LINE_INTERNAL)
        out_spaces(out, l->has_samples ? 2 * ((size_t)l->time + 1) : 0);
    else
        text_times(out, l, line->self, line->children);
    if (!l->has_calls || line->kind == LINE_SPONTANEOUS || line->is_seen)
        out_spaces(out, (size_t)text_calls_width(l));
    else if (line->is_static)
        out_printf(out, "  %*s%*s", l->calls, static_word, l->calls + 1, "");
    else if (line->kind == LINE_INTERNAL)
        text_calls(out, l, line->calls, ' ', 0);
    else if (line->kind == LINE_MEMBER)
        text_calls(out, l, line->calls, line->recursive_calls ? '+' : ' ', line->recursive_calls);
    else
        text_calls(out, l, line->calls, '/', line->of);
    out_spaces(out, (size_t)others_width(&l->summary->others));
    text_was_arc(out, l, e, line, is_caller);
    out_str(out, "      ");
    if (line->kind == LINE_SPONTANEOUS)
        out_str(out, "<spontaneous>");
    else if (line->kind == LINE_UNKNOWN)
        out_str(out, "<unknown caller>");
    else
        text_node(out, l, line->node, used);
    out_char(out, '\n');
}

/* The entry's own line, with its number, as gprof has it at the margin. */
static void text_primary(struct out *out, const struct columns *l, const struct entry *e)
{
    double share = summary_share(l->summary, e->self + e->children);
    int index = text_digits(e->number) + 2;
    out_char(out, '[');
    out_u64(out, e->number, 0);
    out_char(out, ']');
    out_spaces(out, l->index > index ? (size_t)(l->index - index) : 0);
    if (l->has_samples) {
        text_heat_on(out, l->style, share);
        out_char(out, ' ');
        text_known_share(out, share, summary_error(l->summary, e->self + e->children),
                         4 + l->percent, l->percent);
        text_heat_off(out, l->style, share);
    }
    text_times(out, l, e->self, e->children);
    if (e->calls || e->recursive_calls)
        text_calls(out, l, e->calls, e->recursive_calls ? '+' : ' ', e->recursive_calls);
    else
        out_spaces(out, (size_t)text_calls_width(l));
    /* Of functions and cycles with their callees; blank in lines of callers and callees. */
    const struct other_measures *others = &l->summary->others;
    for (size_t i = 0; i < others->len; i++)
        others_share(out, &others->at[i], others->at[i].totals[e->node]);
    const struct change *was = l->base ? baseline_change(l->base, e->node) : NULL;
    bool is_known = was && was->old != NO_FUNCTION;
    text_was(out, l, is_known ? was->old_calls : -1, is_known ? was->total.old : -1);
    out_str(out, "  ");
    text_node(out, l, e->node,
              l->index + (l->has_samples ? 2 * l->time + 7 + l->percent : 0) + text_calls_width(l) +
                  others_width(&l->summary->others) + text_was_width(l) + 2);
    out_char(out, '\n');
}

/* Headings above the first entry alone. The lines below are of three kinds and are laid out by
 * text_primary() and text_line(), at the same widths; the table only names the columns. The field
 * of calls has room for two counts, of which the heading takes the first. */
static void text_head(struct out *out, const struct columns *l)
{
    const struct summary *s = l->summary;
    struct text_columns t = {.columns = entry_columns,
                             .len = ENTRY_COLUMNS,
                             .style = l->style,
                             .unit = s->abbreviation ? s->abbreviation : '?'};
    text_column(&t, ENTRY_ID, l->index, 0);
    if (l->has_samples) {
        t.unit = l->has_time ? t.unit : 0;
        text_column(&t, ENTRY_SHARE, 4 + l->percent, l->percent);
        text_column(&t, l->has_time ? ENTRY_SELF : ENTRY_TEXT_SAMPLES, l->time, l->decimals);
        text_column(&t, ENTRY_CALLEES, l->time, l->decimals);
    }
    if (l->has_calls)
        text_column(&t, ENTRY_CALLS, l->calls, 0);
    text_columns_head(out, &t);
    out_spaces(out, l->has_calls ? (size_t)l->calls + 1 : 0);
    others_head(out, &s->others);
    if (l->was)
        out_printf(out, "  %*s", l->was, "was");
    if (l->base && l->base->old.has_samples)
        out_printf(out, "  %*s", WAS_SHARE, "was%");
    out_str(out, "  function\n");
}

/* What every piece of the parallel printing reads; pieces write nothing but their own output. */
struct listing {
    const struct entries *entries;
    const struct columns *layout;
};

/* Callers, the function, callees: gprof's order, in which a reader looks up for who and down for
 * what. */
static void text_entry(struct out *out, const struct columns *l, const struct entry *e)
{
    for (size_t k = 0; k < e->callers.all.len; k++)
        text_line(out, l, e, &e->callers.all.at[k], true);
    text_primary(out, l, e);
    for (size_t k = 0; k < e->below.all.len; k++)
        text_line(out, l, e, &e->below.all.at[k], false);
    out_str(out, "----------------------------------------------------------------------\n");
}

/* One piece of the parallel printing: its entries, made and thrown away one by one. An entry is
 * built when it is printed: all of them together would take more memory than the graph. `e` is
 * reused, so that its lists grow to the largest entry and no further. */
static void text_entries(size_t piece, struct out *out, void *context)
{
    const struct listing *listing = context;
    const struct entries *t = listing->entries;
    struct entry e = {0};
    size_t end = (piece + 1) * ENTRIES_A_PIECE;
    for (size_t i = piece * ENTRIES_A_PIECE; i < end && i < t->len; i++) {
        entry_make(t, t->shown[i], &e);
        text_entry(out, listing->layout, &e);
    }
    entry_deinit(&e);
}

/* names_fill() demangles all names before the threads start, as the table of names is not made for
 * several writers. Pieces are printed in their order whatever the number of threads. */
void graph_text(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    struct columns l = graph_columns_of(t->summary, t->graph, names, style);
    l.base = in->base;
    if (l.base && l.base->old.has_calls)
        l.was = text_digits(l.base->old.calls) > 4 ? text_digits(l.base->old.calls) : 4;
    struct listing listing = {t, &l};
    l.number = t->number;
    names_fill(names);
    text_summary_brief(out, t->summary);
    text_origin(out, t->graph);
    out_char(out, '\n');
    text_head(out, &l);
    out_parallel(out, (t->len + ENTRIES_A_PIECE - 1) / ENTRIES_A_PIECE, 0, text_entries, &listing);
    if (!t->len && t->omitted)
        out_str(out, "No entry to show: no function that was measured passes --function, --mine, "
                     "--ignore and "
                     "--min-percent.\n");
    text_more(out, t->omitted, "entry", NULL);
    if (t->summary->unattributed > 0) {
        text_share(out, t->summary, t->summary->unattributed);
        out_str(out, " of the samples are in no function, and so in no entry\n");
    }
}

/* --- trees of callers or callees: columns ----------------------------------------------------- */

enum {
    TREE_NUMBER,
    TREE_DEPTH,
    TREE_KIND,
    TREE_FUNCTION,
    TREE_CYCLE = TREE_FUNCTION + FUNCTION_FIELDS,
    TREE_HEAT,
    TREE_TIME,
    TREE_TEXT_SAMPLES,
    TREE_CALLS,
    TREE_STATIC,
    TREE_SHARE,
    TREE_SAMPLES,
    TREE_CUT,
    TREE_COLUMNS
};
static const struct column tree_columns[TREE_COLUMNS] = {
    [TREE_NUMBER] = {"tree", MEANS_TREE},
    [TREE_DEPTH] = {"depth", "levels below the chosen function"},
    [TREE_KIND] = {"kind", "function; cycle: all its members; unknown: callers outside the "
                           "program's functions"},
    COLUMNS_OF_FUNCTION(TREE_FUNCTION),
    [TREE_CYCLE] = {"cycle", MEANS_CYCLE},
    [TREE_HEAT] = {NULL, "share of all samples that flow through this row", "total%", FORM_HEAT},
    [TREE_TIME] = {NULL, "the same as time", "total ?", FORM_NUMBER, true},
    [TREE_TEXT_SAMPLES] = {NULL, MEANS_SAMPLES, "samples", FORM_NUMBER, true},
    [TREE_CALLS] = {"calls", "calls between this function and the one above it, whatever the path",
                    "calls", FORM_NONZERO},
    [TREE_STATIC] = {"static", MEANS_STATIC},
    [TREE_SHARE] = {"share", "of all samples, 0 to 1"},
    [TREE_SAMPLES] = {"samples", "samples of the first row that flow through this row"},
    [TREE_CUT] = {"cut", "callers or callees not shown: too deep, or below --min-percent"},
};
const struct column_table trees_columns = {"Columns of trees of callers or callees", "graph",
                                           "rows", tree_columns, TREE_COLUMNS};

/* --- trees as text ---------------------------------------------------------------------------- */

/* Rows are indented by two spaces a level; beyond MOST_INDENTED levels that shortens names no
 * further. A number in parentheses counts callers or callees that are not shown. */
static void text_tree(struct out *out, const struct text_columns *table, const struct columns *l,
                      const struct tree *t)
{
    const struct summary *s = l->summary;
    out_char(out, '\n');
    text_columns_head(out, table);
    out_printf(out, "  %s of ", t->is_upward ? "callers" : "callees");
    text_node(out, l, t->function, 30);
    out_char(out, '\n');
    for (size_t i = 0; i < t->len; i++) {
        enum { MOST_INDENTED = 40 };
        const struct tree_row *r = &t->rows[i];
        uint32_t depth = r->depth < MOST_INDENTED ? r->depth : MOST_INDENTED;
        int used = table->width + (l->has_calls ? 2 : -l->calls) + 2 * (int)depth;
        double half = summary_error(s, r->samples);
        struct field fields[TREE_COLUMNS] = {
            [TREE_HEAT] = field_about(summary_share(s, r->samples), half),
            [TREE_TIME] =
                field_about(summary_time(s, r->samples), summary_time(s, half * s->samples)),
            [TREE_TEXT_SAMPLES] = field_double(r->samples),
            [TREE_CALLS] = r->is_static ? field_text(static_word) : field_u64(r->calls)};
        text_columns_row(out, table, fields, true);
        out_spaces(out, 2 + 2 * (size_t)r->depth);
        if (r->node == NO_NODE)
            out_str(out, "<unknown caller>");
        else
            text_node(out, l, r->node, used);
        if (r->cut)
            out_printf(out, " (+%" PRIu32 ")", r->cut);
        out_char(out, '\n');
    }
    if (t->is_cut)
        out_printf(out, TEXT_CUT_OFF, t->len);
}

/* Pairs of callers and callees are facts; what happens three calls up is not in the counts. The
 * head therefore says whether longer paths are estimated (--model) or left out. */
void trees_text(struct out *out, const struct report_input *in)
{
    const struct tree *trees = in->trees;
    const struct summary *s = trees->summary;
    struct columns l = graph_columns_of(s, trees->graph, in->names, &in->style);
    struct text_columns table = {.columns = tree_columns,
                                 .len = TREE_COLUMNS,
                                 .style = &in->style,
                                 .unit = s->abbreviation ? s->abbreviation : '?'};
    if (l.has_samples) {
        text_column(&table, TREE_HEAT, 4 + l.percent, l.percent);
        text_column(&table, l.has_time ? TREE_TIME : TREE_TEXT_SAMPLES, l.time, l.decimals);
    }
    text_column(&table, TREE_CALLS, l.calls, 0);
    text_summary_brief(out, s);
    if (!trees->has_paths)
        text_origin(out, trees->graph);
    out_str(out, trees->has_paths
                     ? "Model    times of callees are split by call counts, as if every call took "
                       "equally long;\n         paths longer than a pair are an estimate\n"
                     : "Paths    only pairs of callers and callees are known; --model estimates "
                       "longer ones\n");
    for (size_t i = 0; i < in->trees_len; i++)
        text_tree(out, &table, &l, &trees[i]);
}

/* --- entries as JSON and CSV ------------------------------------------------------------------ */

/* Of a line above or below an entry's: in JSON a member of its list, in CSV a row with both ends.
 */
enum {
    ARC_KIND,
    ARC_ID,
    ARC_NAME,
    ARC_CALLER,
    ARC_CALLER_LINKAGE,
    ARC_CALLER_ADDRESS,
    ARC_CALLEE,
    ARC_CALLEE_LINKAGE,
    ARC_CALLEE_ADDRESS,
    ARC_CALLS,
    ARC_STATIC,
    ARC_RECURSIVE,
    ARC_OF_CALLS,
    ARC_SELF,
    ARC_CALLEES,
    ARC_BASE_CALLS,
    ARC_CALLER_OBJECT,
    ARC_CALLEE_OBJECT,
    ARC_COLUMNS
};
static const struct column arc_columns[ARC_COLUMNS] = {
    [ARC_KIND] = {"kind", "arc; internal: within a cycle or recursive, passes no time on; "
                          "spontaneous: no recorded call explains it; unknown: called from "
                          "outside the program's functions; member: of the cycle"},
    [ARC_ID] = {"id", "number of that function's entry; null: it has none"},
    [ARC_NAME] = {"name", "name of the caller, callee or member"},
    [ARC_CALLER] = {"caller", "name of the caller; empty if the kind says that it is unknown"},
    [ARC_CALLER_LINKAGE] = {"caller_linkage_name", MEANS_LINKAGE},
    [ARC_CALLER_ADDRESS] = {"caller_address", "where the caller begins, as linked"},
    [ARC_CALLEE] = {"callee", "name of the callee"},
    [ARC_CALLEE_LINKAGE] = {"callee_linkage_name", MEANS_LINKAGE},
    [ARC_CALLEE_ADDRESS] = {"callee_address", "where the callee begins, as linked"},
    [ARC_CALLS] = {"calls", "calls along this arc"},
    [ARC_STATIC] = {"static", MEANS_STATIC},
    [ARC_RECURSIVE] = {"recursive_calls", "of a member of a cycle: calls by itself"},
    [ARC_OF_CALLS] = {"of_calls", "all calls of the callee or its cycle"},
    [ARC_SELF] = {"self_samples", "share of the callee's own samples that this arc caused"},
    [ARC_CALLEES] = {"callees_samples",
                     "share of the samples below the callee that this arc caused"},
    [ARC_BASE_CALLS] = {"base_calls",
                        "only with --base: calls along this arc in the older profile; of several "
                        "runs the mean"},
    [ARC_CALLER_OBJECT] = {"caller_object", "only of recordings: the library it is in"},
    [ARC_CALLEE_OBJECT] = {"callee_object", "only of recordings: the library it is in"},
};
const struct column_table arcs_columns = {"Columns of callers and callees", "graph", "callers",
                                          arc_columns, ARC_COLUMNS};

/* Fields that hold for every kind of line; who stands at its ends is added by each form. */
static void arc_fields(struct field *fields, const struct entry_line *line)
{
    static const char *const kinds[] = {[LINE_ARC] = "arc",
                                        [LINE_INTERNAL] = "internal",
                                        [LINE_SPONTANEOUS] = "spontaneous",
                                        [LINE_UNKNOWN] = "unknown",
                                        [LINE_MEMBER] = "member"};
    fields[ARC_KIND] = field_text(kinds[line->kind]);
    fields[ARC_CALLS] = field_u64(line->calls);
    fields[ARC_STATIC] = field_bool(line->is_static);
    fields[ARC_SELF] = field_double(line->self);
    fields[ARC_CALLEES] = field_double(line->children);
}

/* A list of an entry: its callers, or what it calls. Members of a cycle have recursive calls; all
 * others have the calls of the callee that the arc's are a part of. `is_caller` says which end of
 * the arc the entry is. */
static void json_arcs(struct json *j, const struct report_input *in, const struct entry *e,
                      const char *key, const struct entry_lines *lines, bool is_caller)
{
    JSON_ROWS(j, key, i, lines->all.len) {
        const struct entry_line *line = &lines->all.at[i];
        bool is_arc = line->kind == LINE_ARC || line->kind == LINE_INTERNAL;
        struct field fields[ARC_COLUMNS] = {0};
        arc_fields(fields, line);
        if (line->node != NO_NODE) {
            uint32_t number = in->entries->number[line->node];
            fields[ARC_ID] = field_known(number, field_u64(number));
            fields[ARC_NAME] = field_text(names_get(in->names, line->node));
        }
        if (!is_arc)
            fields[ARC_STATIC].kind = FIELD_ABSENT;
        if (line->kind == LINE_MEMBER)
            fields[ARC_RECURSIVE] = field_u64(line->recursive_calls);
        else
            fields[ARC_OF_CALLS] = field_u64(line->of);
        if (in->base && is_arc)
            fields[ARC_BASE_CALLS] = field_double(baseline_arc_calls(
                in->base, is_caller ? line->node : e->node, is_caller ? e->node : line->node));
        columns_json(j, arc_columns, ARC_COLUMNS, fields);
    }
}

/* A cycle has `members` where a function has `callees`. An entry's id is null if nothing numbered
 * it. */
static void json_entry(struct json *j, const struct report_input *in, const struct entry *e)
{
    const struct entries *t = in->entries;
    const struct other_measures *others = &t->summary->others;
    uint32_t cycle = t->graph->nodes[e->node].cycle;
    struct field fields[ENTRY_COLUMNS] = {
        [ENTRY_ID] = field_known(e->number, field_u64(e->number)),
        [ENTRY_KIND] = field_text(e->is_cycle ? "cycle" : "function"),
        [ENTRY_CYCLE] = field_known(cycle, field_u64(cycle)),
        [ENTRY_SHARE] = field_double(summary_share(t->summary, e->self + e->children)),
        [ENTRY_SELF] = field_double(e->self),
        [ENTRY_CALLEES] = field_double(e->children),
        [ENTRY_CALLS] = field_u64(e->calls),
        [ENTRY_RECURSIVE] = field_u64(e->recursive_calls)};
    if (!graph_is_cycle(t->graph, e->node))
        function_fields(fields + ENTRY_FUNCTION, in->names, e->node);
    columns_json(j, entry_columns, ENTRY_COLUMNS, fields);
    json_arcs(j, in, e, "callers", &e->callers, true);
    json_arcs(j, in, e, e->is_cycle ? "members" : "callees", &e->below, false);
    if (others->len)
        JSON_ROWS(j, "events", i, others->len) {
            double total = others->at[i].totals[e->node];
            json_pair_str(j, "name", others->at[i].name);
            json_pair_double(j, "total_share", other_share(&others->at[i], total));
            json_pair_double(j, "total_samples", total);
        }
    base_json(j, in->base, e->node, false);
}

/* Entries one after the other: the graph is never in memory as text. This form is not parallel: one
 * writer keeps count of commas and nesting. */
void graph_json(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct json j = {.out = out};
    struct entry e = {0};
    json_report_begin(&j, "graph", t->summary);
    JSON_ROWS(&j, "entries", i, t->len) {
        entry_make(t, t->shown[i], &e);
        json_entry(&j, in, &e);
    }
    json_pair_u64(&j, "omitted_entries", t->omitted);
    json_pair_bool(&j, "measured", t->graph->is_measured);
    json_end(&j);
    entry_deinit(&e);
}

/* One end of an arc: three fields beside each other, and the object. Nothing of a cycle. `name` is
 * the column of the first of the three, `object` that of the object. NO_NODE is a caller which is
 * not known. */
static void end_fields(struct field *fields, const struct graph *g, uint32_t node,
                       struct names *names, int name, int object)
{
    if (node == NO_NODE || graph_is_cycle(g, node))
        return;
    fields[name] = field_text(names_get(names, node));
    fields[name + 1] = field_text(names->functions->at[node].name);
    fields[name + 2] = field_address(function_link_address(names->functions, node));
    fields[object] = field_text_if(function_object_label(names->functions, node));
}

/* One line an arc: the callers of all functions that are shown. Every arc to a shown function
 * stands there once, as a line of its callee; arcs to functions that are not shown do not. Entries
 * of cycles are left out: their arcs are those of the members. */
void graph_csv(struct out *out, const struct report_input *in)
{
    const struct entries *t = in->entries;
    struct csv_columns c;
    struct entry e = {0};
    csv_columns_begin(&c, out, arc_columns, ARC_COLUMNS,
                      "kind,caller,caller_linkage_name,caller_address,callee,callee_linkage_name,"
                      "callee_address,calls,self_samples,callees_samples,static,caller_object,"
                      "callee_object");
    csv_end(&c.csv);
    for (uint32_t i = 0; i < t->len; i++) {
        if (graph_is_cycle(t->graph, t->shown[i]))
            continue;
        entry_make(t, t->shown[i], &e);
        for (size_t k = 0; k < e.callers.all.len; k++) {
            const struct entry_line *line = &e.callers.all.at[k];
            struct field fields[ARC_COLUMNS] = {0};
            arc_fields(fields, line);
            end_fields(fields, t->graph, line->node, in->names, ARC_CALLER, ARC_CALLER_OBJECT);
            end_fields(fields, t->graph, e.node, in->names, ARC_CALLEE, ARC_CALLEE_OBJECT);
            csv_columns_row(&c, fields);
        }
    }
    entry_deinit(&e);
}

/* --- trees as JSON and CSV -------------------------------------------------------------------- */

/* Callers outside of the program have no function; a cycle has a number alone. The row's place in
 * the tree is its depth and its order: depth first. */
static void tree_fields(struct field *fields, const struct tree *t, const struct tree_row *r,
                        struct names *names)
{
    bool is_known = r->node != NO_NODE, is_cycle = is_known && graph_is_cycle(t->graph, r->node);
    fields[TREE_DEPTH] = field_u64(r->depth);
    fields[TREE_KIND] = field_text(!is_known ? "unknown" : is_cycle ? "cycle" : "function");
    fields[TREE_CALLS] = field_u64(r->calls);
    fields[TREE_STATIC] = field_bool(r->is_static);
    fields[TREE_SHARE] = field_double(summary_share(t->summary, r->samples));
    fields[TREE_SAMPLES] = field_double(r->samples);
    fields[TREE_CUT] = field_u64(r->cut);
    if (!is_known)
        return;
    if (!is_cycle)
        function_fields(fields + TREE_FUNCTION, names, r->node);
    uint32_t cycle = t->graph->nodes[r->node].cycle;
    fields[TREE_CYCLE] = field_known(cycle, field_u64(cycle));
}

/* One document for all requested functions, each with its own tree. */
void trees_json(struct out *out, const struct report_input *in)
{
    const struct tree *trees = in->trees;
    struct json j = {.out = out};
    json_report_begin(&j, trees->is_upward ? "callers" : "callees", trees->summary);
    json_pair_bool(&j, "estimates_paths", trees->has_paths);
    JSON_ROWS(&j, "trees", i, in->trees_len) {
        json_pair_function(&j, in->names, trees[i].function);
        json_pair_bool(&j, "is_cut", trees[i].is_cut);
        JSON_ROWS(&j, "rows", k, trees[i].len) {
            struct field fields[TREE_COLUMNS] = {0};
            tree_fields(fields, &trees[i], &trees[i].rows[k], in->names);
            columns_json(&j, tree_columns, TREE_COLUMNS, fields);
        }
    }
    json_end(&j);
}

/* Addresses here are those of the table of functions, as loaded, like those of arcs; other tables
 * have them as linked. */
void trees_csv(struct out *out, const struct report_input *in)
{
    struct csv_columns c;
    csv_columns_begin(&c, out, tree_columns, TREE_COLUMNS,
                      "tree,depth,kind,name,linkage_name,address,cycle,calls,share,samples,cut,"
                      "static,object");
    csv_end(&c.csv);
    for (size_t i = 0; i < in->trees_len; i++)
        for (size_t k = 0; k < in->trees[i].len; k++) {
            struct field fields[TREE_COLUMNS] = {[TREE_NUMBER] = field_u64(i + 1)};
            const struct tree_row *r = &in->trees[i].rows[k];
            tree_fields(fields, &in->trees[i], r, in->names);
            if (fields[TREE_FUNCTION + FUNCTION_ADDRESS].kind == FIELD_ADDRESS)
                fields[TREE_FUNCTION + FUNCTION_ADDRESS] =
                    field_address(in->names->functions->at[r->node].start);
            csv_columns_row(&c, fields);
        }
}
