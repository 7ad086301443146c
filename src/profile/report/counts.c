/* Execution counts of basic blocks, by line or one by one, as text, JSON
 * (docs/schema/lines_counts.schema.json) and CSV, and which lines were never executed.
 *
 * A count of a line is the sum over the blocks that begin on it; a line in which none begins has
 * the count of the block before, and says so. Sums of counts stop at the largest number. Rows come
 * by executions, most first, or by file and line, which is how the analysis lists them. A block is
 * named by the address as linked, so that two runs of a program that was moved can be compared.
 *
 *     Blocks   120 in 9 functions: 100 executed (83.33 %), 20 never
 *       executions blocks       least        most  line
 *             4000      2        1000        3000  a.c:12  parse
 *             1000      ~        1000        1000  a.c:13  parse      runs on from line 12's block
 *
 *     Never executed:
 *       a.c: 20, 23-25
 *
 * Sorting costs O(n log n) in rows; else all is one pass. Text may be limited, JSON and CSV never
 * are. */
#include "profile/report/writers.h"

#include "base/sort.h"
#include "output/formats.h"
#include "profile/report/report_header.h"

#include <inttypes.h>

/* Lines without a count are in none of these: it is not known whether they ran. */
struct counts_totals {
    uint64_t blocks, blocks_executed, lines, lines_executed, executions;
};

/* Of all blocks and lines, whatever the rules leave out below. */
static struct counts_totals counts_add_up(const struct source_lines *s)
{
    struct counts_totals t = {.blocks = s->blocks.len};
    for (size_t i = 0; i < s->blocks.len; i++) {
        t.blocks_executed += s->blocks.at[i].count != 0;
        t.executions = add_saturating(t.executions, s->blocks.at[i].count);
    }
    for (size_t i = 0; i < s->rows.len; i++) {
        t.lines += s->rows.at[i].has_count;
        t.lines_executed += s->rows.at[i].has_count && s->rows.at[i].executions;
    }
    return t;
}

/* --- which rows, in which order --------------------------------------------------------------- */

/* Equal rows keep the order of file and line, since sort_u32() is stable. */
static int counts_by_executions(uint32_t left, uint32_t right, const void *context)
{
    const struct source_row *rows = context;
    uint64_t l = rows[left].executions, r = rows[right].executions;
    return l != r ? l < r ? 1 : -1 : 0;
}

/* The same for blocks: equals stay in the order of addresses. */
static int counts_by_count(uint32_t left, uint32_t right, const void *context)
{
    const struct source_block *blocks = context;
    return blocks[left].count != blocks[right].count
               ? blocks[left].count < blocks[right].count ? 1 : -1
               : 0;
}

/* Lines as (file, line), which is how they come, or by executions. The order is an array of `*len`
 * numbers of rows in `a`; rows without a count are not in it. */
static uint32_t *counts_order_lines(const struct source_lines *s, const struct counts_rules *rules,
                                    uint32_t *len, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, s->rows.len);
    *len = 0;
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (s->rows.at[i].has_count && (!rules->only_never || !s->rows.at[i].executions))
            order[(*len)++] = i;
    if (!rules->by_place)
        sort_u32(order, *len, counts_by_executions, s->rows.at);
    return order;
}

/* Blocks by address, which is how they come, or by count. */
static uint32_t *counts_order_blocks(const struct source_lines *s, const struct counts_rules *rules,
                                     uint32_t *len, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, s->blocks.len);
    *len = 0;
    for (uint32_t i = 0; i < s->blocks.len; i++)
        if (!rules->only_never || !s->blocks.at[i].count)
            order[(*len)++] = i;
    if (!rules->by_place)
        sort_u32(order, *len, counts_by_count, s->blocks.at);
    return order;
}

/* A block's function: the inlined one that its line is in, where that is known. NULL: the block is
 * in no known function. */
static const char *counts_scope_of(const struct source_lines *s, const struct source_block *b,
                                   struct names *names)
{
    if (b->row != NO_ROW && s->rows.at[b->row].scope)
        return s->rows.at[b->row].scope;
    return b->function == NO_FUNCTION ? NULL : names->functions->at[b->function].name;
}

/* The address as linked. Addresses in a profile are as loaded; each object's load address is its
 * base. */
static uint64_t counts_address_of(const struct source_block *b, const struct functions *f)
{
    bool is_moved = f->objects && b->function != NO_FUNCTION;
    return is_moved ? b->address - f->objects[f->at[b->function].object].base : b->address;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* A table lists lines or blocks, never both: each has its own columns, and CSV has one file of
 * either. */
enum {
    LINE_FILE,
    LINE_LINE,
    LINE_FUNCTION,
    LINE_EXECUTIONS,
    LINE_BLOCKS,
    LINE_LEAST,
    LINE_MOST,
    LINE_INFERRED,
    LINE_COLUMNS
};
/* Blocks of a line may have different counts: `least` and `most` show how far they are apart. */
static const struct column line_columns[LINE_COLUMNS] = {
    [LINE_FILE] = {"file", "path in the debug information"},
    [LINE_LINE] = {"line", "of that file"},
    [LINE_FUNCTION] = {"function", MEANS_LINE_FUNCTION},
    [LINE_EXECUTIONS] = {"executions", "sum over all blocks that begin on the line", "executions",
                         FORM_NUMBER},
    [LINE_BLOCKS] = {"blocks",
                     "how many these are; ~: none begins there, and the count is that of the "
                     "block that runs on into it (exact if every block was recorded)",
                     "blocks", FORM_NUMBER},
    [LINE_LEAST] = {"least", "count of the least often executed of these blocks", "least",
                    FORM_NUMBER},
    [LINE_MOST] = {"most", "count of the most often executed", "most", FORM_NUMBER},
    [LINE_INFERRED] = {"is_inferred", MEANS_INFERRED},
};
const struct column_table counts_line_columns = {"Columns of --counts", "lines_counts", "lines",
                                                 line_columns, LINE_COLUMNS};

enum {
    BLOCK_ADDRESS,
    BLOCK_FUNCTION,
    BLOCK_FILE,
    BLOCK_LINE,
    BLOCK_EXECUTIONS,
    BLOCK_TEXT_ADDRESS,
    BLOCK_COLUMNS
};
static const struct column block_columns[BLOCK_COLUMNS] = {
    [BLOCK_ADDRESS] = {"address", "where the block begins, as linked"},
    [BLOCK_FUNCTION] = {"function",
                        "the linkage name of the function it is in, which may be inlined"},
    [BLOCK_FILE] = {"file", "null: the code has no line numbers"},
    [BLOCK_LINE] = {"line", "of that file"},
    [BLOCK_EXECUTIONS] = {"executions", "how often the block was entered", "executions",
                          FORM_NUMBER},
    [BLOCK_TEXT_ADDRESS] = {NULL, "where the block begins, as linked", "address", FORM_NUMBER},
};
const struct column_table counts_block_columns = {"Columns of --counts --blocks", "lines_counts",
                                                  "blocks", block_columns, BLOCK_COLUMNS};

/* Least and most show how uneven the blocks of a line are: `a && b` on one line with 1000 and 3 in
 * them is a branch that the sum hides. */
static void line_fields(struct field *fields, const struct source_lines *s,
                        const struct source_row *r)
{
    fields[LINE_FILE] = field_text(s->files.at[r->file].recorded);
    fields[LINE_LINE] = field_u64(r->line);
    fields[LINE_FUNCTION] = field_text(r->scope);
    fields[LINE_EXECUTIONS] = field_u64(r->executions);
    fields[LINE_BLOCKS] = field_u64(r->blocks);
    fields[LINE_LEAST] = field_u64(r->least);
    fields[LINE_MOST] = field_u64(r->most);
    fields[LINE_INFERRED] = field_bool(r->is_inferred);
}

/* A block is known by its address; without line information it has neither file nor line. */
static void block_fields(struct field *fields, const struct source_lines *s,
                         const struct source_block *b, struct names *names)
{
    const struct source_row *r = b->row == NO_ROW ? NULL : &s->rows.at[b->row];
    uint64_t address = counts_address_of(b, names->functions);
    fields[BLOCK_ADDRESS] = fields[BLOCK_TEXT_ADDRESS] = field_address(address);
    fields[BLOCK_FUNCTION] = field_text(counts_scope_of(s, b, names));
    fields[BLOCK_FILE] = field_text(r ? s->files.at[r->file].recorded : NULL);
    fields[BLOCK_LINE] = field_known(r, field_u64(r ? r->line : 0));
    fields[BLOCK_EXECUTIONS] = field_u64(b->count);
}

/* --- text ------------------------------------------------------------------------------------- */

/* 0 where there is nothing to have a share of. */
static double counts_percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* `  file:line  function` after the columns. */
static void put_place(struct out *out, const struct source_lines *s, const struct source_row *r,
                      const char *linkage_name, const struct names *names)
{
    if (r) {
        out_str(out, "  ");
        text_name(out, s->files.at[r->file].recorded);
        out_char(out, ':');
        out_u64(out, r->line, 0);
    } else {
        out_str(out, "  (no line)");
    }
    if (linkage_name) {
        out_str(out, "  ");
        text_linkage_name(out, names, linkage_name);
    }
    out_char(out, '\n');
}

/* One table for lines or blocks, whichever the rules say. What a row begins with are columns; the
 * place after them has the free width, since paths and names are of any length. */
static void put_table(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    const struct counts_rules *rules = in->counts;
    struct arena scratch = {0};
    struct text_columns l = {.style = &in->style};
    uint32_t len, *order = rules->has_blocks ? counts_order_blocks(s, rules, &len, &scratch)
                                             : counts_order_lines(s, rules, &len, &scratch);
    if (rules->has_blocks) {
        l.columns = block_columns, l.len = BLOCK_COLUMNS;
        text_column(&l, BLOCK_EXECUTIONS, 12, 0);
        text_column(&l, BLOCK_TEXT_ADDRESS, 16, 0);
    } else {
        l.columns = line_columns, l.len = LINE_COLUMNS;
        text_column(&l, LINE_EXECUTIONS, 12, 0);
        text_column(&l, LINE_BLOCKS, 6, 0);
        text_column(&l, LINE_LEAST, 11, 0);
        text_column(&l, LINE_MOST, 11, 0);
    }
    out_char(out, '\n');
    text_columns_head(out, &l);
    out_str(out, "  line\n");
    for (uint32_t i = 0; i < len && (!rules->limit || i < rules->limit); i++) {
        struct field fields[LINE_COLUMNS + BLOCK_COLUMNS] = {0};
        if (rules->has_blocks) {
            const struct source_block *b = &s->blocks.at[order[i]];
            block_fields(fields, s, b, in->names);
            text_columns_row(out, &l, fields, false);
            put_place(out, s, b->row == NO_ROW ? NULL : &s->rows.at[b->row],
                      counts_scope_of(s, b, in->names), in->names);
            continue;
        }
        const struct source_row *r = &s->rows.at[order[i]];
        line_fields(fields, s, r);
        if (!r->blocks) /* it runs on from the block before */
            fields[LINE_BLOCKS] = field_text("~");
        text_columns_row(out, &l, fields, false);
        put_place(out, s, r, r->scope, in->names);
    }
    if (rules->limit && len > rules->limit)
        text_more(out, len - rules->limit, rules->has_blocks ? "block" : "line", "--all");
    arena_deinit(&scratch);
}

/* `10, 13-15`: runs of lines with a count of which none was executed. A range goes on over lines
 * without a count, which are comments and the like; only a line that ran ends it. The pass goes one
 * beyond the last row, to close the range that is open there. */
static void counts_print_never_of(struct out *out, const struct source_lines *s, uint32_t file)
{
    const struct source_listed_file *f = &s->files.at[file];
    bool is_open = false, is_first = true;
    uint32_t from = 0, to = 0;
    for (uint32_t i = f->first; i <= f->first + f->rows; i++) {
        const struct source_row *r = i < f->first + f->rows ? &s->rows.at[i] : NULL;
        if (r && !r->has_count)
            continue;
        if (r && !r->executions) {
            from = is_open ? from : r->line;
            to = r->line;
            is_open = true;
            continue;
        }
        if (!is_open)
            continue;
        is_open = false;
        out_printf(out, is_first ? ": %" PRIu32 : ", %" PRIu32, from);
        if (to != from)
            out_printf(out, "-%" PRIu32, to);
        is_first = false;
    }
    out_char(out, '\n');
}

/* A line a file, with the ranges; the heading only if there is any. */
static void counts_print_never(struct out *out, const struct source_lines *s)
{
    bool is_any = false;
    for (uint32_t i = 0; i < s->files.len; i++) {
        const struct source_listed_file *f = &s->files.at[i];
        bool has_some = false;
        for (uint32_t k = f->first; k < f->first + f->rows; k++)
            has_some |= s->rows.at[k].has_count && !s->rows.at[k].executions;
        if (!has_some)
            continue;
        out_str(out, is_any ? "" : "\nNever executed:\n");
        is_any = true;
        out_str(out, "  ");
        text_name(out, f->recorded);
        counts_print_never_of(out, s, i);
    }
}

/* Totals are of all lines and blocks, whatever filters leave below. With blocks requested, the
 * table has the ones that never ran, so that the ranges of lines would say it twice. */
void counts_text(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    const struct counts_rules *rules = in->counts;
    struct counts_totals t = counts_add_up(s);
    uint64_t no_line = s->elsewhere.blocks_no_line;
    text_files(out, in->summary);
    out_printf(out,
               "Blocks   %" PRIu64 " in %" PRIu32 " function%s: %" PRIu64
               " executed (%.2f %%), %" PRIu64 " never\n",
               t.blocks, s->instrumented, text_plural(s->instrumented), t.blocks_executed,
               counts_percent(t.blocks_executed, t.blocks), t.blocks - t.blocks_executed);
    out_printf(out, "         %" PRIu64 " executions in all\n", t.executions);
    out_printf(out,
               "Lines    %" PRIu64 " with a count: %" PRIu64 " executed (%.2f %%), %" PRIu64
               " never\n",
               t.lines, t.lines_executed, counts_percent(t.lines_executed, t.lines),
               t.lines - t.lines_executed);
    if (no_line)
        out_printf(out, "Note     %" PRIu64 " block%s in code without line numbers\n", no_line,
                   text_plural(no_line));
    if (rules->has_blocks || !rules->only_never)
        put_table(out, in);
    if (!rules->has_blocks)
        counts_print_never(out, s);
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

/* Lines always, blocks where they were requested. Numbers are whole: sums that reached the largest
 * number stay there and are printed as it. */
void counts_json(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    struct arena scratch = {0};
    struct counts_totals t = counts_add_up(s);
    struct json j = {.out = out};
    uint32_t len, *order;
    json_report_begin(&j, "lines_counts", in->summary);
    json_key(&j, "totals"), json_begin(&j, '{');
    json_pair_u64(&j, "blocks", t.blocks);
    json_pair_u64(&j, "blocks_executed", t.blocks_executed);
    json_pair_u64(&j, "executions", t.executions);
    json_pair_u64(&j, "lines", t.lines);
    json_pair_u64(&j, "lines_executed", t.lines_executed);
    json_pair_u64(&j, "no_line_blocks", s->elsewhere.blocks_no_line);
    json_end(&j);
    order = counts_order_lines(s, in->counts, &len, &scratch);
    JSON_ROWS(&j, "lines", i, len) {
        struct field fields[LINE_COLUMNS];
        line_fields(fields, s, &s->rows.at[order[i]]);
        columns_json(&j, line_columns, LINE_COLUMNS, fields);
    }
    if (in->counts->has_blocks) {
        order = counts_order_blocks(s, in->counts, &len, &scratch);
        JSON_ROWS(&j, "blocks", i, len) {
            struct field fields[BLOCK_COLUMNS];
            block_fields(fields, s, &s->blocks.at[order[i]], in->names);
            columns_json(&j, block_columns, BLOCK_COLUMNS, fields);
        }
    }
    json_end(&j);
    arena_deinit(&scratch);
}

/* One list a file, as a spreadsheet wants it: blocks if they were requested, else lines. */
void counts_csv(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    bool has_blocks = in->counts->has_blocks;
    struct arena scratch = {0};
    struct csv_columns c;
    uint32_t len, *order = has_blocks ? counts_order_blocks(s, in->counts, &len, &scratch)
                                      : counts_order_lines(s, in->counts, &len, &scratch);
    if (has_blocks)
        csv_columns_begin(&c, out, block_columns, BLOCK_COLUMNS,
                          "address,function,file,line,executions");
    else
        csv_columns_begin(&c, out, line_columns, LINE_COLUMNS,
                          "file,line,function,executions,blocks,least,most,is_inferred");
    csv_end(&c.csv);
    for (uint32_t i = 0; i < len; i++) {
        struct field fields[LINE_COLUMNS + BLOCK_COLUMNS];
        if (has_blocks) {
            block_fields(fields, s, &s->blocks.at[order[i]], in->names);
        } else {
            line_fields(fields, s, &s->rows.at[order[i]]);
            fields[LINE_INFERRED] = field_text(s->rows.at[order[i]].is_inferred ? "true" : "false");
        }
        csv_columns_row(&c, fields);
    }
    arena_deinit(&scratch);
}
