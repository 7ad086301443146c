/* gcov's JSON document, with the keys in the order in which gcov prints them. */
#include "base/digits.h"
#include "report/gcov_report.h"

#include <stdio.h>

struct json_printing {
    const struct gcov_report *r;
    struct out *out;
    uint32_t source;
    bool has_items;
    const char *function; /* whose name `quoted` is */
    struct out quoted;
};

static void put_text(struct out *out, const char *text)
{
    out_char(out, '"');
    for (; *text; text++) {
        size_t plain = strcspn(text, "\"\\\b\f\n\r\t");
        out_bytes(out, text, plain);
        text += plain;
        static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
        if (!*text)
            break;
        out_char(out, '\\');
        out_char(out, to[strchr(from, *text) - from]);
    }
    out_char(out, '"');
}

/* Lines that follow each other are mostly of one function. */
static void put_function_name(struct json_printing *p, const char *name)
{
    if (p->function != name) {
        p->function = name;
        p->quoted.len = 0;
        put_text(&p->quoted, name);
    }
    out_bytes(p->out, p->quoted.at, p->quoted.len);
}

static void put_count(struct out *out, int64_t count)
{
    if (count < 0) {
        out_char(out, '-');
        count = (int64_t) - (uint64_t)count;
    }
    out_u64(out, (uint64_t)count, 0);
}

static void separate(struct json_printing *p)
{
    if (p->has_items)
        out_str(p->out, ", ");
    p->has_items = true;
}

/* One arc of a line: a branch or, from gcc 14 on, a call. */
struct line_arc {
    const struct cover_unit *unit;
    uint32_t arc;
    int64_t from; /* count of its block */
};

static void put_branch(struct json_printing *p, const struct line_arc *a)
{
    const struct cover_arc *arc = &a->unit->notes->arcs.at[a->arc];
    bool throws = a->unit->graph.arc_kinds.at[a->arc] & ARC_THROW;
    out_str(p->out, arc->flags & COVER_FALLTHROUGH ? "{\"fallthrough\": true, \"count\": "
                                                   : "{\"fallthrough\": false, \"count\": ");
    put_count(p->out, cover_count(a->unit->flow->arcs.at[a->arc]));
    out_str(p->out, throws ? ", \"throw\": true" : ", \"throw\": false");
    if (p->r->version >= 1400)
        out_printf(p->out, ", \"source_block_id\": %u, \"destination_block_id\": %u", arc->source,
                   arc->target);
    out_char(p->out, '}');
}

static void put_call(struct json_printing *p, const struct line_arc *a)
{
    const struct cover_arc *arc = &a->unit->notes->arcs.at[a->arc];
    out_printf(p->out, "{\"source_block_id\": %u, \"destination_block_id\": %u, \"returned\": ",
               arc->source, arc->target);
    put_count(p->out, a->from - cover_count(a->unit->flow->arcs.at[a->arc]));
    out_char(p->out, '}');
}

/* The branches of a line, or its calls. */
static void put_arcs(struct json_printing *p, const struct cover_line *line, bool are_calls)
{
    bool has_items = false;
    out_char(p->out, '[');
    for (uint32_t i = 0; i < line->blocks && p->r->style.branches; i++) {
        const struct cover_block *block = &p->r->lines.blocks.at[line->first_block + i];
        const struct cover_instance *at = &p->r->lines.instances.at[block->instance];
        const struct cover_unit *u = &p->r->units[at->unit];
        const uint32_t *first = cover_out(&u->graph, u->notes, at->function);
        int64_t from = cover_block_count(p->r->units, at, block->block);
        for (uint32_t k = first[block->block]; k < first[block->block + 1]; k++) {
            struct line_arc a = {u, u->graph.out.at[k], from};
            bool is_call = u->graph.arc_kinds.at[a.arc] & ARC_CALL;
            if (are_calls ? !is_call : !cover_is_branch(&u->graph, a.arc))
                continue;
            if (has_items)
                out_str(p->out, ", ");
            has_items = true;
            if (are_calls)
                put_call(p, &a);
            else
                put_branch(p, &a);
        }
    }
    out_char(p->out, ']');
}

static void put_missing(struct out *out, const char *key, uint64_t seen, uint32_t terms)
{
    bool has_items = false;
    out_printf(out, ", \"%s\": [", key);
    for (uint32_t i = 0; i < terms && i < 64; i++)
        if (!(seen >> i & 1)) {
            out_printf(out, has_items ? ", %u" : "%u", i);
            has_items = true;
        }
    out_char(out, ']');
}

static void put_conditions(struct json_printing *p, const struct cover_line *line)
{
    bool has_items = false;
    struct gcov_condition c;
    for (uint32_t i = 0; i < line->blocks && p->r->style.conditions; i++) {
        if (!gcov_condition_of(p->r, &p->r->lines.blocks.at[line->first_block + i], &c))
            continue;
        out_printf(p->out, "%s{\"count\": %u, \"covered\": %u", has_items ? ", " : "", 2 * c.terms,
                   c.covered);
        has_items = true;
        put_missing(p->out, "not_covered_true", c.seen_true, c.terms);
        put_missing(p->out, "not_covered_false", c.seen_false, c.terms);
        out_char(p->out, '}');
    }
}

/* Format 2, of gcc 14 and later. */
static void put_details(struct json_printing *p, const struct cover_line *line)
{
    out_str(p->out, ", \"block_ids\": [");
    for (uint32_t i = 0; i < line->blocks; i++)
        out_printf(p->out, i ? ", %u" : "%u", p->r->lines.blocks.at[line->first_block + i].block);
    out_str(p->out, "], \"calls\": ");
    put_arcs(p, line, true);
    out_str(p->out, ", \"conditions\": [");
    put_conditions(p, line);
    out_char(p->out, ']');
}

static void put_line(struct json_printing *p, const struct cover_line *line, const char *function)
{
    if (!(line->flags & LINE_EXISTS))
        return;
    separate(p);
    out_str(p->out, "{\"branches\": ");
    put_arcs(p, line, false);
    out_str(p->out, ", \"count\": ");
    put_count(p->out, line->count);
    out_str(p->out, ", \"line_number\": ");
    out_u64(p->out, line->number, 0);
    out_str(p->out, line->flags & LINE_UNEXECUTED ? ", \"unexecuted_block\": true"
                                                  : ", \"unexecuted_block\": false");
    if (function) {
        out_str(p->out, ", \"function_name\": ");
        put_function_name(p, function);
    }
    if (p->r->version >= 1400)
        put_details(p, line);
    out_char(p->out, '}');
}

static const char *linkage_name(const struct gcov_report *r, uint32_t instance)
{
    const char *name = gcov_function(r, instance)->name;
    return name ? name : "";
}

/* Functions that a line may be said to be of: the last that began, until the line at which it ends.
 * One that another outlives stays, and has the lines behind that. Before gcc 11 none ended. */
struct enclosing {
    VEC(uint32_t) open; /* instances */
    uint32_t reached;   /* the ends of lines before this are passed */
};

static void end_functions(const struct gcov_report *r, struct enclosing *e, uint32_t line)
{
    for (; e->open.len && r->version >= 1100; e->open.len--) {
        uint32_t end = gcov_function(r, e->open.at[e->open.len - 1])->end_line;
        if (end < e->reached || end >= line)
            break;
        e->reached = end;
    }
    e->reached = line;
}

/* Lines of an instance come before the source's line at which it begins. */
static void begin_function(struct json_printing *p, uint32_t instance, struct enclosing *e)
{
    const struct cover_instance *at = &p->r->lines.instances.at[instance];
    uint32_t line = gcov_function(p->r, instance)->start_line;
    if (!at->is_instance) {
        end_functions(p->r, e, line);
        vec_push(&e->open, instance);
    }
    for (uint32_t i = at->first_line; i < at->first_line + at->lines; i++)
        put_line(p, &p->r->lines.lines.at[i], linkage_name(p->r, instance));
}

static void put_lines(struct json_printing *p)
{
    const struct gcov_report *r = p->r;
    const struct cover_source *s = &r->lines.sources.at[p->source];
    size_t len, start = gcov_starts_at(r, p->source, 0, &len);
    struct enclosing e = {0};
    p->has_items = false;
    for (uint32_t next = s->first_line; next <= s->first_line + s->lines; next++) {
        bool is_end = next == s->first_line + s->lines;
        uint32_t number = is_end ? UINT32_MAX : r->lines.lines.at[next].number;
        for (; start < r->starts.len && r->starts.at[start].key >> 32 == p->source &&
               (uint32_t)r->starts.at[start].key <= number;
             start++)
            begin_function(p, r->starts.at[start].item, &e);
        end_functions(r, &e, number);
        if (!is_end)
            put_line(p, &r->lines.lines.at[next],
                     e.open.len ? linkage_name(r, e.open.at[e.open.len - 1]) : NULL);
    }
    vec_free(&e.open);
}

static void put_function(struct json_printing *p, uint32_t instance)
{
    const struct cover_instance *at = &p->r->lines.instances.at[instance];
    const struct cover_function *f = gcov_function(p->r, instance);
    struct out *out = p->out;
    separate(p);
    out_printf(out,
               "{\"blocks\": %u, \"end_column\": %u, \"start_line\": %u, \"name\": ", at->blocks,
               f->end_column, f->start_line);
    put_text(out, linkage_name(p->r, instance));
    out_printf(out, ", \"blocks_executed\": %u, \"execution_count\": ", at->blocks_executed);
    put_count(out, at->called);
    out_str(out, ", \"demangled_name\": ");
    put_text(out, p->r->demangled_names[instance]);
    out_printf(out, ", \"start_column\": %u, \"end_line\": %u", f->start_column, f->end_line);
    uint32_t paths, covered;
    if (gcov_paths_of(p->r, instance, &paths, &covered))
        out_printf(out, ", \"total_prime_paths\": %u, \"covered_prime_paths\": %u", paths, covered);
    out_char(out, '}');
}

/* By line and column, from the order in which they were read. */
static void put_functions(struct json_printing *p)
{
    const struct gcov_report *r = p->r;
    size_t len, start = gcov_starts_at(r, p->source, 0, &len);
    VEC(struct keyed) order = {0};
    for (; start < r->starts.len && r->starts.at[start].key >> 32 == p->source; start++)
        vec_push(&order, (struct keyed){r->starts.at[start].item, r->starts.at[start].item});
    sort_keyed(order.at, order.len);
    for (size_t i = 0; i < order.len; i++) {
        const struct cover_function *f = gcov_function(r, order.at[i].item);
        order.at[i].key = (uint64_t)f->start_line << 32 | f->start_column;
    }
    gcov_order(order.at, order.len);
    p->has_items = false;
    for (size_t i = 0; i < order.len; i++)
        put_function(p, order.at[i].item);
    vec_free(&order);
}

void gcov_json(const struct gcov_report *r, const bool *is_wanted, struct out *out)
{
    bool has_files = false;
    out_printf(out, "{\"gcc_version\": \"%u.%u.0\", \"files\": [", r->version / 100,
               r->version % 100);
    for (uint32_t i = 0; i < r->lines.sources.len; i++) {
        struct json_printing p = {.r = r, .out = out, .source = i, .quoted.fd = -1};
        if (!is_wanted[i])
            continue;
        out_str(out, has_files ? ", {\"lines\": [" : "{\"lines\": [");
        has_files = true;
        put_lines(&p);
        out_str(out, "], \"functions\": [");
        put_functions(&p);
        out_str(out, "], \"file\": ");
        put_text(out, r->sources[i].path);
        out_char(out, '}');
        out_deinit(&p.quoted);
    }
    out_printf(out, "], \"format_version\": \"%u\"", r->version >= 1400 ? 2 : 1);
    if (r->directory) {
        out_str(out, ", \"current_working_directory\": ");
        put_text(out, r->directory);
    }
    out_str(out, ", \"data_file\": ");
    put_text(out, r->data_file);
    out_char(out, '}');
}
