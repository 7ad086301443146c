/* gcov's JSON document, with the keys in the order in which gcov prints them.
 *
 * Format 1 has, for each file, lines with branches, and functions. Format 2 (gcc 14 and later)
 * adds numbers of blocks, calls and conditions; paths come with gcc 15. Which of them is printed
 * is asked of the dialect of the notes.
 *
 * Documents of large programs have hundreds of megabytes, so writing is what counts: all but texts
 * goes straight into the output's memory. PIECE bytes are reserved at a time, more than any object
 * without its texts takes; keys are constants, whose length the compiler knows; names are quoted
 * once each (struct gcov_quoted).
 *
 * gcov names a function for each line, though lines can be of several: it is the function that
 * began last and has not ended.
 *
 *    {"gcc_version": "12.2.0", "files": [{"lines": [...], "functions": [...], "file": "x.c"}],
 *     "format_version": "1", "current_working_directory": "...", "data_file": "x"} */
#include "output/out.h"
#include "gnu/gcov/gcov.h"

#include <stdio.h>

/* One source's. `has_items` says whether the list that is being printed has any yet. */
struct json_printing {
    const struct gcov_report *r;
    struct out *out;
    uint32_t source;
    bool has_items;
};

/* ---- pieces: all but texts goes straight into the output's memory, in which there is room */

enum { PIECE = 320 }; /* most of a line, a branch, a function on either side of a text */

static inline char *gcov_room_for_piece(struct out *out, size_t more)
{
    return out_begin(out, PIECE + more);
}

/* A constant, whose length the compiler knows. */
static inline char *gcov_put(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len);
    return to + len;
}

/* "true" is copied with the NUL after it, which the next text overwrites. */
static inline char *gcov_put_bool(char *to, bool value)
{
    memcpy(to, value ? "true" : "false", 5);
    return to + 5 - value;
}

/* One digit is the usual case: counts of 0, lines of short lists, numbers of blocks. */
static inline char *gcov_put_number(char *to, uint64_t value)
{
    if (value >= 10)
        return digits_u64(to, value, 0);
    *to = (char)('0' + value);
    return to + 1;
}

/* A count is negative where flow is inconsistent. */
static inline char *gcov_put_count(char *to, int64_t count)
{
    if (count >= 0)
        return gcov_put_number(to, (uint64_t)count);
    *to = '-';
    return gcov_put_number(to + 1, -(uint64_t)count);
}

/* Writes the comma always and moves past it only if there was an item: without a branch. */
static inline char *gcov_separate(struct json_printing *p, char *to)
{
    memcpy(to, ", ", 2);
    to += p->has_items ? 2 : 0;
    p->has_items = true;
    return to;
}

/* ---- texts */

/* Quotes what gcov quotes; other control characters and all else above go through as they are. */
static void gcov_put_text(struct out *out, const char *text)
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

/* Both texts are contiguous, without a NUL, as they are copied by length. */
const struct gcov_quoted *gcov_quote(const char *name, const char *readable, struct out *scratch,
                                     struct arena *a)
{
    scratch->len = 0;
    gcov_put_text(scratch, name);
    size_t name_len = scratch->len;
    gcov_put_text(scratch, readable);
    struct gcov_quoted *q = arena_alloc(a, sizeof *q + scratch->len);
    *q = (struct gcov_quoted){(uint32_t)name_len, (uint32_t)(scratch->len - name_len)};
    memcpy(q->text, scratch->at, scratch->len);
    return q;
}

static inline char *gcov_put_name(char *to, const struct gcov_quoted *q)
{
    memcpy(to, q->text, q->name_len);
    return to + q->name_len;
}

static inline char *gcov_put_readable(char *to, const struct gcov_quoted *q)
{
    memcpy(to, q->text + q->name_len, q->readable_len);
    return to + q->readable_len;
}

/* ---- lines */

/* The unit of a block, and in *first where its arcs begin and end in the graph's `out`. first[0] to
 * before first[1] are its arcs. */
static const struct coverage_unit *
arcs_of(const struct json_printing *p, const struct instance_block *block, const uint32_t **first)
{
    const struct function_instance *at = &p->r->lines.instances.at[block->instance];
    const struct coverage_unit *u = &p->r->units[at->unit];
    *first = block_graph_out(&u->graph, u->notes, at->function) + block->block;
    return u;
}

/* Blocks with one way on have no branch; the entry block is an exception, as in gcov. */
static void gcov_put_branches(struct json_printing *p, const struct covered_line *line)
{
    p->has_items = false;
    for (uint32_t i = 0; i < line->blocks; i++) {
        const struct instance_block *block = &p->r->lines.blocks.at[line->first_block + i];
        const uint32_t *first;
        const struct coverage_unit *u = arcs_of(p, block, &first);
        if (block->is_elsewhere || (first[1] - first[0] < 2 && block->block))
            continue; /* the only way on */
        for (uint32_t k = first[0]; k < first[1]; k++) {
            uint32_t number = u->graph.out.at[k];
            const struct notes_arc *arc = &u->notes->arcs.at[number];
            int64_t count = flow_known_count(u->flow->arcs.at[number]);
            if (!block_graph_is_branch(&u->graph, number))
                continue;
            char *to = gcov_separate(p, gcov_room_for_piece(p->out, 0));
            to = gcov_put(to, "{\"fallthrough\": ");
            to = gcov_put_bool(to, arc->flags & NOTES_ARC_FALLTHROUGH);
            to = gcov_put_count(gcov_put(to, ", \"count\": "), count);
            to = gcov_put(to, ", \"throw\": ");
            to = gcov_put_bool(to, u->graph.arc_kinds.at[number] & ARC_THROW);
            if (p->r->dialect->has_block_numbers) {
                to = gcov_put_number(gcov_put(to, ", \"source_block_id\": "), arc->source);
                to = gcov_put_number(gcov_put(to, ", \"destination_block_id\": "), arc->target);
            }
            out_end(p->out, gcov_put(to, "}"));
        }
    }
}

/* A call is an arc too: it returned as often as its block ran, less what the arc counted, which is
 * the way out of the function. */
static void gcov_put_calls(struct json_printing *p, const struct covered_line *line)
{
    p->has_items = false;
    for (uint32_t i = 0; i < line->blocks; i++) {
        const struct instance_block *block = &p->r->lines.blocks.at[line->first_block + i];
        const struct function_instance *at = &p->r->lines.instances.at[block->instance];
        const uint32_t *first;
        const struct coverage_unit *u = arcs_of(p, block, &first);
        for (uint32_t k = first[0]; k < first[1] && !block->is_elsewhere; k++) {
            uint32_t number = u->graph.out.at[k];
            const struct notes_arc *arc = &u->notes->arcs.at[number];
            if (!(u->graph.arc_kinds.at[number] & ARC_CALL))
                continue;
            int64_t from = instance_block_count(p->r->units, at, block->block);
            char *to = gcov_separate(p, gcov_room_for_piece(p->out, 0));
            to = gcov_put_number(gcov_put(to, "{\"source_block_id\": "), arc->source);
            to = gcov_put_number(gcov_put(to, ", \"destination_block_id\": "), arc->target);
            to = gcov_put_count(gcov_put(to, ", \"returned\": "),
                                from - flow_known_count(u->flow->arcs.at[number]));
            out_end(p->out, gcov_put(to, "}"));
        }
    }
}

/* Terms of a condition whose outcome was not seen. */
static void gcov_put_missing(struct out *out, const char *key, uint64_t seen, uint32_t terms)
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

/* "count" is the number of outcomes, two for each term. */
static void gcov_put_conditions(struct json_printing *p, const struct covered_line *line)
{
    bool has_items = false;
    struct gcov_condition c;
    for (uint32_t i = 0; i < line->blocks && p->r->style.conditions; i++) {
        if (!gcov_condition_of(p->r, &p->r->lines.blocks.at[line->first_block + i], &c))
            continue;
        out_printf(p->out, "%s{\"count\": %u, \"covered\": %u", has_items ? ", " : "", 2 * c.terms,
                   c.covered);
        has_items = true;
        gcov_put_missing(p->out, "not_covered_true", c.seen_true, c.terms);
        gcov_put_missing(p->out, "not_covered_false", c.seen_false, c.terms);
        out_char(p->out, '}');
    }
}

/* Format 2, of gcc 14 and later. */
static void gcov_put_details(struct json_printing *p, const struct covered_line *line)
{
    out_str(p->out, ", \"block_ids\": [");
    p->has_items = false;
    for (uint32_t i = 0; i < line->blocks; i++) {
        char *to = gcov_separate(p, gcov_room_for_piece(p->out, 0));
        out_end(p->out, gcov_put_number(to, p->r->lines.blocks.at[line->first_block + i].block));
    }
    out_str(p->out, "], \"calls\": [");
    if (p->r->style.branches)
        gcov_put_calls(p, line);
    out_str(p->out, "], \"conditions\": [");
    gcov_put_conditions(p, line);
    out_char(p->out, ']');
}

/* `function`: that it is said to be of, or NULL. */
static void gcov_put_line(struct json_printing *p, const struct covered_line *line,
                          const struct gcov_quoted *function)
{
    if (!(line->flags & LINE_EXISTS))
        return;
    out_end(p->out, gcov_put(gcov_separate(p, gcov_room_for_piece(p->out, 0)), "{\"branches\": ["));
    if (p->r->style.branches)
        gcov_put_branches(p, line);
    char *to = gcov_room_for_piece(p->out, function ? function->name_len : 0);
    to = gcov_put_count(gcov_put(to, "], \"count\": "), line->count);
    to = gcov_put_number(gcov_put(to, ", \"line_number\": "), line->number);
    to = gcov_put_bool(gcov_put(to, ", \"unexecuted_block\": "), line->flags & LINE_UNEXECUTED);
    if (function)
        to = gcov_put_name(gcov_put(to, ", \"function_name\": "), function);
    out_end(p->out, to);
    if (p->r->dialect->has_block_numbers)
        gcov_put_details(p, line);
    out_char(p->out, '}');
    p->has_items = true;
}

/* Functions that a line may be said to be of: the last that began, until the line at which it ends.
 * One that another outlives stays, and has the lines after that. Before gcc 11 none ended. */
struct open_function {
    const struct gcov_quoted *name;
    uint32_t end_line;
};

struct enclosing {
    VEC(struct open_function) open;
    uint32_t reached; /* the ends of lines before this are passed */
};

/* Closes what ends before `line`, innermost first, as far as ends are in order. */
static void gcov_end_functions(const struct gcov_report *r, struct enclosing *e, uint32_t line)
{
    for (; e->open.len && r->dialect->has_function_ends; e->open.len--) {
        uint32_t end = e->open.at[e->open.len - 1].end_line;
        if (end < e->reached || end >= line)
            break;
        e->reached = end;
    }
    e->reached = line;
}

/* Lines of an instance come before the source's line at which it begins. */
static void gcov_begin_function(struct json_printing *p, uint32_t instance, struct enclosing *e)
{
    const struct function_instance *at = &p->r->lines.instances.at[instance];
    const struct notes_function *f = gcov_function(p->r, instance);
    const struct gcov_quoted *name = p->r->quoted_names[instance];
    if (!at->is_instance) {
        gcov_end_functions(p->r, e, f->start_line);
        vec_push(&e->open, (struct open_function){name, f->end_line});
    }
    for (uint32_t i = at->first_line; i < at->first_line + at->lines; i++)
        gcov_put_line(p, &p->r->lines.lines.at[i], name);
}

/* Functions begin and end between lines; instances come with lines of their own. */
static void gcov_put_lines(struct json_printing *p)
{
    const struct gcov_report *r = p->r;
    const struct covered_source *s = &r->lines.sources.at[p->source];
    size_t len, start = gcov_starts_at(r, p->source, 0, &len);
    struct enclosing e = {0};
    p->has_items = false;
    for (uint32_t next = s->first_line; next <= s->first_line + s->lines; next++) {
        bool is_end = next == s->first_line + s->lines;
        uint32_t number = is_end ? UINT32_MAX : r->lines.lines.at[next].number;
        for (; start < r->starts.len && r->starts.at[start].key >> 32 == p->source &&
               (uint32_t)r->starts.at[start].key <= number;
             start++)
            gcov_begin_function(p, r->starts.at[start].item, &e);
        gcov_end_functions(r, &e, number);
        if (!is_end)
            gcov_put_line(p, &r->lines.lines.at[next],
                          e.open.len ? e.open.at[e.open.len - 1].name : NULL);
    }
    vec_free(&e.open);
}

/* Keys in gcov's order, which is that of its source. */
static void gcov_put_function(struct json_printing *p, uint32_t instance)
{
    const struct function_instance *at = &p->r->lines.instances.at[instance];
    const struct notes_function *f = gcov_function(p->r, instance);
    const struct gcov_quoted *name = p->r->quoted_names[instance];
    size_t texts = (size_t)name->name_len + name->readable_len;
    char *to = gcov_separate(p, gcov_room_for_piece(p->out, texts + PIECE));
    to = gcov_put_number(gcov_put(to, "{\"blocks\": "), at->blocks);
    to = gcov_put_number(gcov_put(to, ", \"end_column\": "), f->end_column);
    to = gcov_put_number(gcov_put(to, ", \"start_line\": "), f->start_line);
    to = gcov_put_name(gcov_put(to, ", \"name\": "), name);
    to = gcov_put_number(gcov_put(to, ", \"blocks_executed\": "), at->blocks_executed);
    to = gcov_put_count(gcov_put(to, ", \"execution_count\": "), at->called);
    to = gcov_put_readable(gcov_put(to, ", \"demangled_name\": "), name);
    to = gcov_put_number(gcov_put(to, ", \"start_column\": "), f->start_column);
    to = gcov_put_number(gcov_put(to, ", \"end_line\": "), f->end_line);
    uint32_t paths, covered;
    bool has_paths = gcov_paths_of(p->r, instance, &paths, &covered);
    if (has_paths || p->r->dialect->has_function_totals) {
        to = gcov_put_number(gcov_put(to, ", \"total_prime_paths\": "), has_paths ? paths : 0);
        to = gcov_put_number(gcov_put(to, ", \"covered_prime_paths\": "), has_paths ? covered : 0);
    }
    if (!has_paths && p->r->dialect->has_function_totals)
        to = gcov_put(to, ", \"prime_path_coverage\": []");
    out_end(p->out, gcov_put(to, "}"));
}

/* By line and column, from the order in which they were read. */
static void gcov_put_functions(struct json_printing *p)
{
    const struct gcov_report *r = p->r;
    size_t len, start = gcov_starts_at(r, p->source, 0, &len);
    VEC(struct keyed) order = {0};
    for (; start < r->starts.len && r->starts.at[start].key >> 32 == p->source; start++)
        vec_push(&order, (struct keyed){r->starts.at[start].item, r->starts.at[start].item});
    sort_keyed(order.at, order.len);
    for (size_t i = 0; i < order.len; i++) {
        const struct notes_function *f = gcov_function(r, order.at[i].item);
        order.at[i].key = (uint64_t)f->start_line << 32 | f->start_column;
    }
    gcov_order(order.at, order.len);
    p->has_items = false;
    for (size_t i = 0; i < order.len; i++)
        gcov_put_function(p, order.at[i].item);
    vec_free(&order);
}

/* gcc_version is that of the notes, as major.minor.0. */
void gcov_json(const struct gcov_report *r, const bool *is_wanted, struct out *out)
{
    bool has_files = false;
    out_printf(out, "{\"gcc_version\": \"%u.%u.0\", \"files\": [", r->version / 100,
               r->version % 100);
    for (uint32_t i = 0; i < r->lines.sources.len; i++) {
        struct json_printing p = {.r = r, .out = out, .source = i};
        if (!is_wanted[i])
            continue;
        out_str(out, has_files ? ", {\"lines\": [" : "{\"lines\": [");
        has_files = true;
        gcov_put_lines(&p);
        out_str(out, "], \"functions\": [");
        gcov_put_functions(&p);
        out_str(out, "], \"file\": ");
        gcov_put_text(out, r->sources[i].path);
        out_char(out, '}');
    }
    out_printf(out, "], \"format_version\": \"%u\"", r->dialect->has_block_numbers ? 2 : 1);
    if (r->directory) {
        out_str(out, ", \"current_working_directory\": ");
        gcov_put_text(out, r->directory);
    }
    out_str(out, ", \"data_file\": ");
    gcov_put_text(out, r->data_file);
    out_char(out, '}');
}
