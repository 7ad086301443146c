/* Trees of recorded stacks as text, JSON (docs/schema/call_tree.schema.json) and CSV.
 *
 * Names of one level stand below each other. A row that alone goes on from its parent stays on the
 * parent's level, with a `>` before it (`<` where the tree goes outwards): so what is sixty calls
 * deep stays in sight, and only real branches move to the right.
 *
 *     total%   total s  self s  depth   function
 *     100.00     1.000   0.000      0   main
 *      99.00     0.990   0.010      1 > run                the only row below main: same level
 *      60.00     0.600   0.600      2     parse            one of several: a level deeper
 *      37.50     0.375   0.375      2     print
 *       0.50     0.005              2     (+3 more, 0.5 %)
 *
 * Four rows or more that alone go on and have next to no time of their own are one line, as what
 * the eye looks for is where paths part: all that starts a program stands above the first branch.
 *
 *      99.53     1.530   0.000      0   _start
 *      99.26     1.526   0.000      1 > (18 frames without a branch: --chains)
 *      99.10     1.523   0.062     19 > luaV_execute
 *
 * Cost: one pass over the rows; a stack of levels as deep as the tree, on the heap, because
 * recorded stacks may have thousands of frames. */
#include "profile/report/writers.h"

#include "output/formats.h"

#include <inttypes.h>

enum {
    MOST_LEVELS = 30, /* that are indented; the depth of deeper rows is in its column */
    LEAST_CHAIN = 4   /* frames that become one line */
};

/* --- columns ---------------------------------------------------------------------------------- */

enum {
    CALL_TREE,
    CALL_DEPTH,
    CALL_KIND,
    CALL_FOLDED,
    CALL_FUNCTION,
    CALL_INLINED = CALL_FUNCTION + FUNCTION_FIELDS,
    CALL_FILE,
    CALL_LINE,
    CALL_SHARE,
    CALL_TOTAL,
    CALL_SELF,
    CALL_TOTAL_TIME,
    CALL_SELF_TIME,
    CALL_TEXT_DEPTH,
    CALL_COLUMNS
};
/* Text prints times where the rate is known; JSON and CSV always have samples. `file` and `line`
 * say where the function is, not where the call is made. */
static const struct column columns[CALL_COLUMNS] = {
    [CALL_TREE] = {"tree", MEANS_TREE},
    [CALL_DEPTH] = {"depth", "levels below the first row"},
    [CALL_KIND] = {"kind", "function; folded: several rows below --min-percent or --depth"},
    [CALL_FOLDED] = {"folded", "how many rows were folded"},
    COLUMNS_OF_FUNCTION(CALL_FUNCTION),
    [CALL_INLINED] = {"is_inlined", "its code was inlined into the row above (callers: below)"},
    [CALL_FILE] = {"file", "source file of the function, if debug information has it"},
    [CALL_LINE] = {"line", "where the function begins"},
    [CALL_SHARE] = {"share", MEANS_SHARE, "total%", FORM_HEAT},
    [CALL_TOTAL] = {"total_samples", "samples whose stack has this path"},
    [CALL_SELF] = {"self_samples", "samples whose stack ends here, with the function innermost (of "
                                   "callers: outermost)"},
    [CALL_TOTAL_TIME] = {NULL, "total_samples as time", "total ?", FORM_NUMBER, true},
    [CALL_SELF_TIME] = {NULL, "self_samples as time", "self ?", FORM_NUMBER, true},
    [CALL_TEXT_DEPTH] = {NULL, "levels below the first row", "depth", FORM_NUMBER, true},
};
const struct column_table call_tree_columns = {"Columns of paths that were recorded", "call_tree",
                                               "rows", columns, CALL_COLUMNS};

/* --- text ------------------------------------------------------------------------------------- */

/* Trees of callers have no column of self time: a row says how much came through it. Widths come
 * from the largest amount, which is that of all samples, so that no row overflows its column. Where
 * no rate is known the columns of time hold samples. */
static struct text_columns lay_out(const struct call_report *r, const struct text_style *style)
{
    const struct summary *s = r->summary;
    bool has_time = s->rate > 0;
    struct text_columns l = {.columns = columns,
                             .len = CALL_COLUMNS,
                             .style = style,
                             .unit = !has_time         ? 0
                                     : s->abbreviation ? s->abbreviation
                                                       : '?'};
    double most = has_time ? summary_time(s, s->samples) : s->samples;
    int decimals = has_time ? summary_decimals(s) : 2;
    int time = text_digits((uint64_t)most) + decimals + 1;
    time = time < 7 ? 7 : time;
    int percent = text_share_decimals(s);
    text_column(&l, CALL_SHARE, 4 + percent, percent);
    text_column(&l, CALL_TOTAL_TIME, time, decimals);
    if (r->trees->direction != CALLS_OUTWARDS)
        text_column(&l, CALL_SELF_TIME, time, decimals);
    text_column(&l, CALL_TEXT_DEPTH, 5, 0);
    return l;
}

/* `level`: of indentation, which grows at branches alone. A row of several folded functions shows
 * no self time: nothing stands below it, so that all of its total is self. `chain`: how many frames
 * the row stands for that have `row->self` together, or 0. */
static void put_row(struct out *out, const struct text_columns *l, const struct call_report *r,
                    const struct call_row *row, size_t chain, bool is_outwards, uint32_t level)
{
    const struct summary *s = r->summary;
    double unit = l->unit ? s->rate : 1, share = summary_share(s, row->total);
    size_t indent = 2 * (size_t)(level < MOST_LEVELS ? level : MOST_LEVELS);
    /* A path has no interval of its own: its samples are drawn from all. */
    double half = summary_error(s, row->total), scale = s->samples / unit;
    struct field fields[CALL_COLUMNS] = {[CALL_SHARE] = field_about(share, half),
                                         [CALL_TOTAL_TIME] =
                                             field_about(row->total / unit, half * scale),
                                         [CALL_TEXT_DEPTH] = field_u64(row->depth)};
    if (!row->folded)
        fields[CALL_SELF_TIME] = field_about(row->self / unit, summary_error(s, row->self) * scale);
    text_columns_row(out, l, fields, true);
    out_spaces(out, 1 + indent);
    out_str(out, !row->is_only || !row->depth ? "  " : is_outwards ? "< " : "> ");
    if (chain)
        out_printf(out, "(%zu frames without a branch: --chains)", chain);
    else if (row->folded)
        out_printf(out, "(+%" PRIu32 " more)", row->folded);
    else
        text_function_behind(out, r->names, row->function, l->style,
                             l->width + 1 + (int)indent + 2);
    out_char(out, '\n');
}

/* A head, the rows, and what is not in them. `level.at[d]` is the indentation of the last row of
 * depth d; as rows come depth first, that is the ancestor of whatever follows at d + 1. What has no
 * stack is reported only where it would round to 0.01 % or more. */
static void put_tree(struct out *out, const struct text_columns *l, const struct call_report *r,
                     size_t number)
{
    const struct call_rows *t = &r->trees[number];
    VEC(uint32_t) level = {0}; /* of indentation, by depth: of the last row there */
    double rest = summary_share(r->summary, t->whole - t->covered), least = 0.5 / 10000;
    double whole = r->is_percent_of_rows ? t->covered : r->summary->samples;
    out_char(out, '\n');
    text_columns_head(out, l);
    out_str(out, "   ");
    if (t->direction == CALLS_FROM_ROOT) {
        out_str(out, "function");
    } else {
        out_str(out, t->direction == CALLS_OUTWARDS ? "callers of " : "callees of ");
        text_function(out, r->names, r->functions[number], l->style);
    }
    out_char(out, '\n');
    for (size_t i = 0; i < t->len; i++) {
        struct call_row row = t->rows[i];
        double self;
        size_t chain = call_rows_chain(t, i, whole * r->min_percent / 100, &self);
        if (r->has_chains || chain < LEAST_CHAIN)
            chain = 0;
        uint32_t above = row.depth ? level.at[row.depth - 1] : 0;
        level.len = row.depth;
        vec_push(&level, above + (row.depth && !row.is_only));
        if (chain)
            row.self = self;
        put_row(out, l, r, &row, chain, t->direction == CALLS_OUTWARDS, level.at[row.depth]);
        for (size_t k = 1; k < chain; k++, i++)
            vec_push(&level, level.at[row.depth]);
    }
    vec_free(&level);
    if (!t->len)
        out_str(out, t->direction == CALLS_FROM_ROOT
                         ? "No stacks were recorded: 'monarc flat' shows the time of functions.\n"
                         : "no recorded stack has it\n");
    if (t->is_cut)
        out_printf(out, TEXT_CUT_OFF, t->len);
    if (t->direction == CALLS_FROM_ROOT && rest > least) {
        text_share(out, r->summary, t->whole - t->covered);
        out_printf(out, " of the samples %s\n",
                   r->frames->frames.is_left_out ? "have no frames but those left out"
                                                 : "have no stack");
    }
}

/* One head for all trees, which are of one profile. */
void call_tree_text(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct text_columns l = lay_out(r, &in->style);
    char sign = r->trees->direction == CALLS_OUTWARDS ? '<' : '>';
    text_summary_brief(out, r->summary);
    for (size_t i = 0; i < r->len; i++)
        put_tree(out, &l, r, i);
    out_char(out, '\n');
    out_prose(out);
    out_printf(out, "%c: the only path on; (+N more): too deep, or each below %.3g %% of %s\n",
               sign, r->min_percent, r->is_percent_of_rows ? "the first line" : "all samples");
    out_prose_end(out);
}

/* --- JSON and CSV: names are whole ------------------------------------------------------------ */

/* A folded row has no function, so that all fields which name one stay absent. The first inlined
 * frame has the number `first_inlined`: frames after it are inlined copies. */
static void row_fields(struct field *fields, const struct call_report *r,
                       const struct call_row *row)
{
    fields[CALL_DEPTH] = field_u64(row->depth);
    fields[CALL_KIND] = field_text(row->folded ? "folded" : "function");
    fields[CALL_SHARE] = field_double(summary_share(r->summary, row->total));
    fields[CALL_TOTAL] = field_double(row->total);
    fields[CALL_SELF] = field_double(row->self);
    if (row->folded)
        return;
    const struct function *f = &r->names->functions->at[row->function];
    function_fields(fields + CALL_FUNCTION, r->names, row->function);
    fields[CALL_INLINED] = field_bool(row->function >= r->frames->first_inlined);
    fields[CALL_FILE] = field_text_if(f->file);
    if (f->file && f->line)
        fields[CALL_LINE] = field_u64(f->line);
}

/* Rows stand depth first, each with its depth: a reader builds the tree with one stack. */
void call_tree_json(struct out *out, const struct report_input *in)
{
    static const char *const DIRECTIONS[] = {
        [CALLS_FROM_ROOT] = "tree", [CALLS_BELOW] = "callees", [CALLS_OUTWARDS] = "callers"};
    const struct call_report *r = in->call_trees;
    struct json j = {.out = out};
    json_report_begin(&j, "call_tree", r->summary);
    json_pair_str(&j, "direction", DIRECTIONS[r->trees->direction]);
    json_pair_double(&j, "stack_samples", r->trees->whole);
    JSON_ROWS(&j, "trees", i, r->len) {
        const struct call_rows *t = &r->trees[i];
        if (r->functions[i] != NO_FUNCTION)
            json_pair_function(&j, r->names, r->functions[i]);
        json_pair_double(&j, "samples", t->covered);
        json_pair_bool(&j, "is_cut", t->is_cut);
        JSON_ROWS(&j, "rows", k, t->len) {
            struct field fields[CALL_COLUMNS] = {0};
            row_fields(fields, r, &t->rows[k]);
            if (t->rows[k].folded)
                fields[CALL_FOLDED] = field_u64(t->rows[k].folded);
            columns_json(&j, columns, CALL_COLUMNS, fields);
        }
    }
    json_end(&j);
}

/* All trees in one table, numbered. Rows of CSV have no nesting: the number of the tree, and the
 * depth, say where a row belongs. */
void call_tree_csv(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct csv_columns c;
    csv_columns_begin(&c, out, columns, CALL_COLUMNS,
                      "tree,depth,kind,name,linkage_name,address,object,is_inlined,share,"
                      "total_samples,self_samples,folded");
    csv_end(&c.csv);
    for (size_t i = 0; i < r->len; i++)
        for (size_t k = 0; k < r->trees[i].len; k++) {
            struct field fields[CALL_COLUMNS] = {[CALL_TREE] = field_u64(i + 1),
                                                 [CALL_FOLDED] =
                                                     field_u64(r->trees[i].rows[k].folded)};
            row_fields(fields, r, &r->trees[i].rows[k]);
            csv_columns_row(&c, fields);
        }
}
