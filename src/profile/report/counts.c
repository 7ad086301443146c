/* Lines with block counts, blocks, and what was never executed. */
#include "profile/report/writers.h"

#include "base/sort.h"
#include "output/json.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <stdlib.h>

struct totals {
    uint64_t blocks, blocks_executed, lines, lines_executed, executions;
};

static struct totals counts_add_up(const struct source_lines *s)
{
    struct totals t = {.blocks = s->blocks.len};
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

/* --- which rows, in which order
 * -------------------------------------------------------------------- */

static int counts_by_executions(uint32_t left, uint32_t right, const void *context)
{
    const struct source_row *rows = context;
    uint64_t l = rows[left].executions, r = rows[right].executions;
    return l != r ? l < r ? 1 : -1 : 0;
}

static int counts_by_count(uint32_t left, uint32_t right, const void *context)
{
    const struct source_block *blocks = context;
    return blocks[left].count != blocks[right].count
               ? blocks[left].count < blocks[right].count ? 1 : -1
               : 0;
}

static bool counts_is_listed(const struct source_row *r, const struct counts_rules *rules)
{
    return r->has_count && (!rules->only_never || !r->executions);
}

/* Lines as (file, line), which is how they come, or by executions. */
static uint32_t *counts_order_lines(const struct source_lines *s, const struct counts_rules *rules,
                                    uint32_t *len, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, s->rows.len);
    *len = 0;
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (counts_is_listed(&s->rows.at[i], rules))
            order[(*len)++] = i;
    if (!rules->by_place)
        sort_u32(order, *len, counts_by_executions, s->rows.at);
    return order;
}

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

static const char *counts_file_of(const struct source_lines *s, const struct source_row *r)
{
    return s->files.at[r->file].recorded;
}

/* A block's function: the inlined one that its line is in, where that is known. */
static const char *counts_scope_of(const struct source_lines *s, const struct source_block *b,
                                   struct names *names)
{
    if (b->row != NO_ROW && s->rows.at[b->row].scope)
        return s->rows.at[b->row].scope;
    return b->function == NO_FUNCTION ? NULL : names->functions->at[b->function].name;
}

/* The address as linked. */
static uint64_t counts_address_of(const struct source_block *b, const struct functions *f)
{
    bool is_moved = f->objects && b->function != NO_FUNCTION;
    return is_moved ? b->address - f->objects[f->at[b->function].object].base : b->address;
}

/* --- text
 * ------------------------------------------------------------------------------------------ */

static double counts_percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

static void counts_print_totals(struct out *out, const struct source_lines *s,
                                const struct totals *t)
{
    out_printf(out,
               "Blocks   %" PRIu64 " in %" PRIu32 " function%s: %" PRIu64
               " executed (%.2f %%), %" PRIu64 " never\n",
               t->blocks, s->instrumented, s->instrumented == 1 ? "" : "s", t->blocks_executed,
               counts_percent(t->blocks_executed, t->blocks), t->blocks - t->blocks_executed);
    out_printf(out, "         %" PRIu64 " executions in all\n", t->executions);
    out_printf(out,
               "Lines    %" PRIu64 " with a count: %" PRIu64 " executed (%.2f %%), %" PRIu64
               " never\n",
               t->lines, t->lines_executed, counts_percent(t->lines_executed, t->lines),
               t->lines - t->lines_executed);
    if (s->elsewhere.blocks_no_line)
        out_printf(out, "Note     %" PRIu64 " block%s in code without line numbers\n",
                   s->elsewhere.blocks_no_line, s->elsewhere.blocks_no_line == 1 ? "" : "s");
}

static void counts_print_scope(struct out *out, const char *linkage_name, const struct names *names)
{
    char *shown = names->style && linkage_name ? demangle(linkage_name, NULL) : NULL;
    if (linkage_name) {
        out_str(out, "  ");
        text_name(out, shown ? shown : linkage_name);
    }
    free(shown);
}

static void counts_print_place(struct out *out, const struct source_lines *s,
                               const struct source_row *r)
{
    out_str(out, "  ");
    text_name(out, counts_file_of(s, r));
    out_char(out, ':');
    out_u64(out, r->line, 0);
}

static void counts_print_more(struct out *out, uint64_t all, uint64_t limit, const char *what)
{
    if (limit && all > limit)
        out_printf(out, "%" PRIu64 " more %ss (--limit 0 shows all)\n", all - limit, what);
}

static void counts_print_lines(struct out *out, const struct source_lines *s, struct names *names,
                               const struct counts_rules *rules)
{
    struct arena scratch = {0};
    uint32_t len, *order = counts_order_lines(s, rules, &len, &scratch);
    out_str(out, "\n  executions  blocks        least         most  line\n");
    for (uint32_t i = 0; i < len && (!rules->limit || i < rules->limit); i++) {
        const struct source_row *r = &s->rows.at[order[i]];
        out_u64(out, r->executions, 12);
        if (r->blocks)
            out_u64(out, r->blocks, 8);
        else
            out_str(out, "       ~"); /* what runs on from the block before */
        out_u64(out, r->least, 13);
        out_u64(out, r->most, 13);
        counts_print_place(out, s, r);
        counts_print_scope(out, r->scope, names);
        out_char(out, '\n');
    }
    counts_print_more(out, len, rules->limit, "line");
    arena_deinit(&scratch);
}

static void counts_print_blocks(struct out *out, const struct source_lines *s, struct names *names,
                                const struct counts_rules *rules)
{
    struct arena scratch = {0};
    uint32_t len, *order = counts_order_blocks(s, rules, &len, &scratch);
    out_str(out, "\n  executions           address  line\n");
    for (uint32_t i = 0; i < len && (!rules->limit || i < rules->limit); i++) {
        const struct source_block *b = &s->blocks.at[order[i]];
        out_u64(out, b->count, 12);
        out_printf(out, "%#18" PRIx64, counts_address_of(b, names->functions));
        if (b->row != NO_ROW)
            counts_print_place(out, s, &s->rows.at[b->row]);
        else
            out_str(out, "  (no line)");
        counts_print_scope(out, counts_scope_of(s, b, names), names);
        out_char(out, '\n');
    }
    counts_print_more(out, len, rules->limit, "block");
    arena_deinit(&scratch);
}

/* `10, 13-15`: runs of lines with a count of which none was executed. */
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

void counts_text(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    const struct summary *summary = in->summary;
    struct names *names = in->names;
    const struct counts_rules *rules = in->counts;
    struct totals t = counts_add_up(s);
    text_files(out, summary);
    counts_print_totals(out, s, &t);
    if (rules->has_blocks)
        counts_print_blocks(out, s, names, rules);
    else if (!rules->only_never)
        counts_print_lines(out, s, names, rules);
    if (!rules->has_blocks)
        counts_print_never(out, s);
}

/* --- JSON
 * ------------------------------------------------------------------------------------------ */

static void counts_json_line(struct json *j, const struct source_lines *s,
                             const struct source_row *r)
{
    json_begin(j, '{');
    json_pair_str(j, "file", counts_file_of(s, r));
    json_pair_u64(j, "line", r->line);
    json_pair_str(j, "function", r->scope);
    json_pair_u64(j, "executions", r->executions);
    json_pair_u64(j, "blocks", r->blocks);
    json_pair_u64(j, "least", r->least);
    json_pair_u64(j, "most", r->most);
    json_key(j, "is_inferred"), json_bool(j, r->is_inferred);
    json_end(j);
}

static void counts_json_block(struct json *j, const struct source_lines *s,
                              const struct source_block *b, struct names *names)
{
    const struct source_row *r = b->row == NO_ROW ? NULL : &s->rows.at[b->row];
    json_begin(j, '{');
    json_pair_address(j, "address", counts_address_of(b, names->functions));
    json_pair_str(j, "function", counts_scope_of(s, b, names));
    json_pair_str(j, "file", r ? counts_file_of(s, r) : NULL);
    json_key(j, "line");
    if (r)
        json_u64(j, r->line);
    else
        json_none(j);
    json_pair_u64(j, "executions", b->count);
    json_end(j);
}

void counts_json(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    const struct summary *summary = in->summary;
    struct names *names = in->names;
    const struct counts_rules *rules = in->counts;
    struct arena scratch = {0};
    struct totals t = counts_add_up(s);
    struct json j = {.out = out};
    uint32_t len, *order;
    json_report_begin(&j, "counts", summary);
    json_key(&j, "totals"), json_begin(&j, '{');
    json_pair_u64(&j, "blocks", t.blocks);
    json_pair_u64(&j, "blocks_executed", t.blocks_executed);
    json_pair_u64(&j, "executions", t.executions);
    json_pair_u64(&j, "lines", t.lines);
    json_pair_u64(&j, "lines_executed", t.lines_executed);
    json_pair_u64(&j, "no_line_blocks", s->elsewhere.blocks_no_line);
    json_end(&j);
    json_key(&j, "lines"), json_begin(&j, '[');
    order = counts_order_lines(s, rules, &len, &scratch);
    for (uint32_t i = 0; i < len; i++)
        counts_json_line(&j, s, &s->rows.at[order[i]]);
    json_end(&j);
    if (rules->has_blocks) {
        json_key(&j, "blocks"), json_begin(&j, '[');
        order = counts_order_blocks(s, rules, &len, &scratch);
        for (uint32_t i = 0; i < len; i++)
            counts_json_block(&j, s, &s->blocks.at[order[i]], names);
        json_end(&j);
    }
    json_end(&j);
    arena_deinit(&scratch);
}

/* --- CSV
 * ------------------------------------------------------------------------------------------- */

static void counts_csv_lines(struct csv *c, const struct source_lines *s,
                             const struct counts_rules *rules)
{
    struct arena scratch = {0};
    uint32_t len, *order = counts_order_lines(s, rules, &len, &scratch);
    csv_header(c, "file,line,function,executions,blocks,least,most,is_inferred");
    for (uint32_t i = 0; i < len; i++) {
        const struct source_row *r = &s->rows.at[order[i]];
        csv_str(c, counts_file_of(s, r));
        csv_u64(c, r->line);
        csv_str(c, r->scope);
        csv_u64(c, r->executions);
        csv_u64(c, r->blocks);
        csv_u64(c, r->least);
        csv_u64(c, r->most);
        csv_str(c, r->is_inferred ? "true" : "false");
        csv_end(c);
    }
    arena_deinit(&scratch);
}

static void counts_csv_blocks(struct csv *c, const struct source_lines *s, struct names *names,
                              const struct counts_rules *rules)
{
    struct arena scratch = {0};
    uint32_t len, *order = counts_order_blocks(s, rules, &len, &scratch);
    csv_header(c, "address,function,file,line,executions");
    for (uint32_t i = 0; i < len; i++) {
        const struct source_block *b = &s->blocks.at[order[i]];
        const struct source_row *r = b->row == NO_ROW ? NULL : &s->rows.at[b->row];
        csv_address(c, counts_address_of(b, names->functions));
        csv_str(c, counts_scope_of(s, b, names));
        csv_str(c, r ? counts_file_of(s, r) : NULL);
        if (r)
            csv_u64(c, r->line);
        else
            csv_none(c);
        csv_u64(c, b->count);
        csv_end(c);
    }
    arena_deinit(&scratch);
}

void counts_csv(struct out *out, const struct report_input *in)
{
    const struct source_lines *s = in->source_lines;
    struct names *names = in->names;
    const struct counts_rules *rules = in->counts;
    struct csv c = {.out = out};
    if (rules->has_blocks)
        counts_csv_blocks(&c, s, names, rules);
    else
        counts_csv_lines(&c, s, rules);
}
