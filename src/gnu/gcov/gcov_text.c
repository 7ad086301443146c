/* X.gcov: each line of a source after its count, and what the options add below it.
 *
 *           2:    7:    if (i && j)        count, number, text
 *           2:    7-block  0               -a: each block of the line
 *   branch  0 taken 50% (fallthrough)      -b: each arc that leaves it
 *   call    1 returned 100%
 *
 * A count is `-` for a line without code, `#####` for code that did not run, `=====` for code that
 * only exceptions lead to, and has a `*` if some block of the line did not run. Blocks have
 * `$$$$$` and `%%%%%` in those places.
 *
 * Instances of a template, or of an inlined function with copies, are shown one by one after the
 * last line of the longest of them. The text ends with the source: lines past its end in notes are
 * not shown.
 *
 * Most lines are short and plain: they are put together in the output's memory without printf. */
#include "output/out.h"
#include "gnu/gcov/gcov.h"

#include <stdio.h>

#define HEADING   "        -:    0:"
#define ON(code)  "\33[" code "m\33[K"
#define OFF       "\33[m\33[K"
#define SEPARATOR "------------------\n"

enum { COUNT_WIDTH = 9 };

/* The lines of the source text, one after the other, or any of them. */
struct text_lines {
    const struct bytes *text;
    VEC(size_t) starts; /* and the end */
    bool has_nul;
};

/* One source while it is printed. Lines of the text are found once; those of the table are walked
 * along. */
struct printing {
    const struct gcov_report *r;
    struct out *out;
    struct text_lines source;
    int64_t highest; /* of the source: the measure of hotness, of which gcov keeps 32 bits */
};

/* Up to the newline or, as gcov has it, a NUL. */
static void gcov_print_source_line(struct printing *p, uint32_t number)
{
    const struct text_lines *s = &p->source;
    const char *line = "/*EOF*/";
    size_t len = strlen(line);
    if (s->text && number < s->starts.len) {
        line = (const char *)s->text->at + s->starts.at[number - 1];
        len = s->starts.at[number] - s->starts.at[number - 1];
        len -= len && line[len - 1] == '\n';
        len = s->has_nul ? strnlen(line, len) : len;
    }
    char *at = out_begin(p->out, len + 2);
    *at++ = ':';
    memcpy(at, line, len);
    at[len] = '\n';
    out_end(p->out, at + len + 1);
}

/* ---- the count and the number of a line */

/* COUNT_WIDTH bytes as a rule, more with colours. */
struct count_field {
    char text[96];
    size_t len;
};

/* Fills up with blanks on the left, before colours are added, which have no width. */
static void gcov_pad(struct count_field *f)
{
    size_t missing = f->len < COUNT_WIDTH ? COUNT_WIDTH - f->len : 0;
    memmove(f->text + missing, f->text, f->len);
    memset(f->text, ' ', missing);
    f->len += missing;
}

/* Around the padded text, so that the background fills the column. */
static void gcov_colour(struct count_field *f, const char *code)
{
    size_t len = strlen(code);
    memmove(f->text + len, f->text, f->len);
    memcpy(f->text, code, len);
    memcpy(f->text + len + f->len, OFF, 6);
    f->len += len + 6;
}

/* What a line or block shows before its number. `exceptional` and `never` are the texts for a count
 * of 0. */
struct mark {
    bool exists, is_plain, is_partial;
    int64_t count;
    const char *exceptional, *never;
};

/* The count as text, in colours or marks. With colours a background replaces the marks: 41 red, 46
 * cyan, 45 magenta (ANSI X3.64). */
static void gcov_fill_count(struct count_field *f, const struct printing *p, const struct mark *m)
{
    bool has_colours = p->r->style.has_colours;
    if (!m->exists) {
        f->text[0] = '-';
        f->len = 1;
        gcov_pad(f);
    } else if (m->count > 0) {
        f->len = gcov_count(&p->r->style, m->count, f->text);
        bool is_marked = m->is_partial && p->r->has_unexecuted;
        if (is_marked && !has_colours)
            f->text[f->len++] = '*';
        gcov_pad(f);
        if (is_marked && has_colours)
            gcov_colour(f, ON("45;37"));
    } else if (has_colours) {
        f->text[0] = '0';
        f->len = 1;
        gcov_pad(f);
        gcov_colour(f, m->is_plain ? ON("41;37") : ON("46;37"));
    } else {
        const char *text = m->is_plain ? m->never : m->exceptional;
        f->len = strlen(text);
        memcpy(f->text, text, f->len);
        gcov_pad(f);
    }
}

/* At least as much room as the line of a branch or call takes, or what a line begins with. */
enum { SHORT_LINE = 256 };

#define PUT(at, literal) (memcpy(at, literal, sizeof(literal) - 1), (at) + sizeof(literal) - 1)

/* What most lines begin with, without colours and other units. */
static void gcov_print_plain_beginning(struct printing *p, const struct mark *m, uint32_t number)
{
    char *at = out_begin(p->out, SHORT_LINE);
    if (m->count > 0 && m->exists) {
        bool is_marked = m->is_partial && p->r->has_unexecuted;
        at = digits_u64(at, (uint64_t)m->count, COUNT_WIDTH - is_marked);
        *at = '*';
        at += is_marked;
    } else {
        at = m->exists ? PUT(at, "    ") : PUT(at, "        -");
        if (m->exists)
            at = stpcpy(at, m->is_plain ? m->never : m->exceptional);
    }
    *at++ = ':';
    out_end(p->out, digits_u64(at, number, 5));
}

/* `COUNT:NUMBER`, of a line or a block. The number is coloured by the share of the highest count:
 * above a half, a fifth, a tenth. */
static void gcov_print_beginning(struct printing *p, const struct mark *m, uint32_t number,
                                 int64_t highest)
{
    const struct gcov_style *style = &p->r->style;
    if (!style->has_colours && !style->human && !(style->has_hotness && highest))
        return gcov_print_plain_beginning(p, m, number);
    struct count_field f;
    gcov_fill_count(&f, p, m);
    f.text[f.len++] = ':';
    out_bytes(p->out, f.text, f.len);
    char field[64], *at = field;
    bool is_hot = p->r->style.has_hotness && highest;
    if (is_hot && m->count * 2 > highest)
        at = stpcpy(at, ON("41"));
    else if (is_hot && m->count * 5 > highest)
        at = stpcpy(at, ON("43"));
    else if (is_hot && m->count * 10 > highest)
        at = stpcpy(at, ON("42"));
    at = digits_u64(at, number, 5);
    if (is_hot)
        at = stpcpy(at, OFF);
    out_bytes(p->out, field, (size_t)(at - field));
}

/* ---- branches, calls, blocks, conditions */

/* -c: the count itself. */
static char *gcov_put_share(const struct printing *p, int64_t part, int64_t whole, char *at)
{
    return at + (p->r->style.counts ? gcov_count(&p->r->style, part, at)
                                    : gcov_percent(p->r, part, whole, 0, at));
}

static char *gcov_begin_short_line(struct printing *p)
{
    return out_begin(p->out, SHORT_LINE);
}

static void gcov_end_short_line(struct printing *p, char *at)
{
    *at++ = '\n';
    out_end(p->out, at);
}

/* Old versions name an arc only where the block ran. */
static void gcov_print_branch(struct printing *p, unsigned number, const struct coverage_unit *u,
                              uint32_t arc, int64_t from)
{
    const struct notes_arc *a = &u->notes->arcs.at[arc];
    int64_t count = flow_known_count(u->flow->arcs.at[arc]);
    bool is_throw = u->graph.arc_kinds.at[arc] & ARC_THROW;
    const char *what = a->flags & NOTES_ARC_FALLTHROUGH ? " (fallthrough)"
                       : is_throw                       ? " (throw)"
                                                        : "";
    char *at = gcov_begin_short_line(p);
    at = digits_u64(PUT(at, "branch "), number, 2);
    at = from ? gcov_put_share(p, count, from, PUT(at, " taken ")) : PUT(at, " never executed");
    if (from || p->r->dialect->has_arc_names)
        at = stpcpy(at, what);
    if (p->r->style.verbose)
        at += sprintf(at, " (BB %u)", a->target);
    gcov_end_short_line(p, at);
}

/* Says whether the arc has a line. A branch always has one, a call too; an unconditional arc only
 * with -u, unless it leads to the return block. */
static bool gcov_print_arc(struct printing *p, unsigned number, const struct coverage_unit *u,
                           const struct notes_function *f, uint32_t arc, int64_t from)
{
    uint8_t kind = u->graph.arc_kinds.at[arc];
    int64_t count = flow_known_count(u->flow->arcs.at[arc]);
    uint8_t target = u->graph.block_kinds.at[f->first_block + u->notes->arcs.at[arc].target];
    if (!(kind & (ARC_CALL | ARC_UNCONDITIONAL))) {
        gcov_print_branch(p, number, u, arc, from);
        return true;
    }
    if (!(kind & ARC_CALL) && (!p->r->style.unconditional || target & BLOCK_RETURN))
        return false;
    bool is_call = kind & ARC_CALL;
    char *at = gcov_begin_short_line(p);
    at = digits_u64(is_call ? PUT(at, "call   ") : PUT(at, "unconditional "), number, 2);
    if (!from)
        at = PUT(at, " never executed");
    else if (is_call)
        at = gcov_put_share(p, from - count, from, PUT(at, " returned "));
    else
        at = gcov_put_share(p, count, from, PUT(at, " taken "));
    gcov_end_short_line(p, at);
    return true;
}

/* Returns the next number: arcs are counted through all blocks of a line. */
static unsigned gcov_print_arcs(struct printing *p, const struct instance_block *block,
                                unsigned number)
{
    const struct function_instance *at = &p->r->lines.instances.at[block->instance];
    const struct coverage_unit *u = &p->r->units[at->unit];
    const uint32_t *first = block_graph_out(&u->graph, u->notes, at->function);
    int64_t from = instance_block_count(p->r->units, at, block->block);
    for (uint32_t i = first[block->block]; i < first[block->block + 1]; i++)
        number += gcov_print_arc(p, number, u, &u->notes->functions.at[at->function],
                                 u->graph.out.at[i], from);
    return number;
}

/* A block has the number of its line, and marks of its own for a count of 0; llvm-cov has one for
 * both kinds. gcov takes exceptional blocks for plain ones here, which the colours show. After it
 * is its number within the line or, from gcc 14 on, within the function. */
static void gcov_print_block(struct printing *p, const struct instance_block *block,
                             unsigned number, uint32_t line, bool exists)
{
    const struct function_instance *at = &p->r->lines.instances.at[block->instance];
    const struct coverage_unit *u = &p->r->units[at->unit];
    uint32_t first = u->notes->functions.at[at->function].first_block;
    bool is_exceptional = u->graph.block_kinds.at[first + block->block] & BLOCK_EXCEPTIONAL;
    struct mark m = {exists,
                     is_exceptional,
                     false,
                     instance_block_count(p->r->units, at, block->block),
                     p->r->is_llvm ? "$$$$$" : "%%%%%",
                     "$$$$$"};
    gcov_print_beginning(p, &m, line, 0);
    if (p->r->dialect->has_block_numbers)
        out_printf(p->out, "-block %u", block->block);
    else
        out_printf(p->out, "-block %2u", number);
    if (p->r->style.verbose)
        out_printf(p->out, " (BB %u)", block->block);
    out_char(p->out, '\n');
}

/* Only outcomes that were not seen are listed. */
static void gcov_print_condition(struct printing *p, const struct instance_block *block)
{
    struct gcov_condition c;
    if (!gcov_condition_of(p->r, block, &c))
        return;
    out_printf(p->out, "condition outcomes covered %u/%u\n", c.covered, 2 * c.terms);
    for (uint32_t i = 0; i < c.terms; i++) {
        bool has_true = c.seen_true >> i & 1, has_false = c.seen_false >> i & 1;
        if (has_true && has_false)
            continue;
        out_printf(p->out, "condition %2u not covered (%s)\n", i,
                   has_true    ? "false"
                   : has_false ? "true"
                               : "true false");
    }
}

/* -a, -b and -g, block by block. A block whose last line is another one is shown there. Numbers of
 * blocks and of arcs both begin at 0 on each line. */
static void gcov_print_details(struct printing *p, const struct covered_line *line)
{
    const struct gcov_style *style = &p->r->style;
    const struct instance_block *blocks = p->r->lines.blocks.at + line->first_block;
    unsigned number = 0, arcs = 0;
    for (uint32_t i = 0; i < line->blocks; i++) {
        const struct function_instance *at = &p->r->lines.instances.at[blocks[i].instance];
        if (blocks[i].is_elsewhere)
            continue;
        const struct coverage_unit *u = &p->r->units[at->unit];
        uint32_t first = u->notes->functions.at[at->function].first_block;
        uint8_t kind = u->graph.block_kinds.at[first + blocks[i].block];
        if (style->all_blocks && !(kind & BLOCK_RETURN))
            gcov_print_block(p, &blocks[i], number++, line->number, line->flags & LINE_EXISTS);
        if (style->branches)
            arcs = gcov_print_arcs(p, &blocks[i], arcs);
        if (style->conditions && style->all_blocks)
            gcov_print_condition(p, &blocks[i]);
    }
    for (uint32_t i = 0; i < line->blocks && style->conditions && !style->all_blocks; i++)
        gcov_print_condition(p, &blocks[i]);
}

/* ---- functions and lines */

/* `function f called 12 returned 100% blocks executed 75%`, with -b alone. */
static void gcov_print_function(struct printing *p, uint32_t instance)
{
    const struct function_instance *at = &p->r->lines.instances.at[instance];
    uint32_t paths, covered;
    if (!p->r->style.branches)
        return;
    out_str(p->out, "function ");
    out_str(p->out, p->r->shown_names[instance]);
    char *to = gcov_begin_short_line(p);
    to = PUT(to, " called ");
    to += gcov_count(&p->r->style, at->called, to);
    to = PUT(to, " returned ");
    to += gcov_function_percent(p->r, at->returned, at->called, to);
    to = PUT(to, " blocks executed ");
    to += gcov_function_percent(p->r, at->blocks_executed, at->blocks, to);
    gcov_end_short_line(p, to);
    if (gcov_paths_of(p->r, instance, &paths, &covered))
        out_printf(p->out, "paths covered %u of %u\n", covered, paths);
}

/* The count, the text, then what the options add below. */
static void gcov_print_line(struct printing *p, const struct covered_line *line)
{
    struct mark m = {line->flags & LINE_EXISTS,
                     line->flags & LINE_PLAIN,
                     line->flags & LINE_UNEXECUTED,
                     line->count,
                     "=====",
                     "#####"};
    gcov_print_beginning(p, &m, line->number, (uint32_t)p->highest);
    gcov_print_source_line(p, line->number);
    gcov_print_details(p, line);
}

/* A line without code, as four of five are in C: nothing but the heat of hot lines, of which this
 * says that there are none, can change what is printed. */
static void gcov_print_empty_line(struct printing *p, uint32_t number)
{
    char *at = PUT(out_begin(p->out, SHORT_LINE), "        -:");
    out_end(p->out, digits_u64(at, number, 5));
    gcov_print_source_line(p, number);
}

/* The line of that number, or an empty one; *next is the slice's first line not before it. */
static struct covered_line gcov_take_line(const struct gcov_report *r, uint32_t *next, uint32_t end,
                                          uint32_t number)
{
    if (*next < end && r->lines.lines.at[*next].number == number)
        return r->lines.lines.at[(*next)++];
    return (struct covered_line){.number = number};
}

/* A separator, the name, and its lines from the first to the last. A damaged end line of UINT32_MAX
 * must not make the loop endless. */
static void gcov_print_instance(struct printing *p, uint32_t instance)
{
    const struct function_instance *at = &p->r->lines.instances.at[instance];
    const struct notes_function *f = gcov_function(p->r, instance);
    bool has_colours = p->r->style.has_colours;
    uint32_t next = at->first_line;
    out_str(p->out, SEPARATOR);
    out_printf(p->out, "%s%s%s:\n", has_colours ? ON("36") : "", p->r->shown_names[instance],
               has_colours ? OFF : "");
    gcov_print_function(p, instance);
    for (uint32_t number = f->start_line; number <= f->end_line; number++) {
        struct covered_line line = gcov_take_line(p->r, &next, at->first_line + at->lines, number);
        gcov_print_line(p, &line);
        if (number == UINT32_MAX)
            break;
    }
}

/* Instances are shown after the last line of the longest of them; functions that begin before that
 * are not announced. */
struct group {
    size_t first, len;
    uint32_t end; /* 0: in none */
    size_t next;  /* in starts: not before the line */
};

/* A heading for each function that begins on the line, or the start of a group of instances. More
 * than one function on a line is a group if they are instances of one. */
static void gcov_begin_functions(struct printing *p, uint32_t source, uint32_t number,
                                 struct group *g)
{
    uint64_t key = (uint64_t)source << 32 | number;
    while (g->next < p->r->starts.len && p->r->starts.at[g->next].key < key)
        g->next++;
    if (g->next == p->r->starts.len || p->r->starts.at[g->next].key != key)
        return;
    size_t len, first = gcov_starts_at(p->r, source, number, &len);
    const struct keyed *starts = p->r->starts.at + first;
    if (len < 2 || !p->r->lines.instances.at[starts[0].item].is_instance) {
        for (size_t i = 0; i < len; i++)
            gcov_print_function(p, starts[i].item);
        return;
    }
    *g = (struct group){first, len, 0, first};
    for (size_t i = 0; i < len; i++) {
        uint32_t end = gcov_function(p->r, starts[i].item)->end_line;
        g->end = end > g->end ? end : g->end;
    }
}

/* As many lines as the source has: lines past its end in notes are not shown, and of a group that
 * ends after the last line with code, only the sum. */
static void gcov_print_lines(struct printing *p, uint32_t source)
{
    const struct covered_source *s = &p->r->lines.sources.at[source];
    size_t starts;
    struct group group = {.next = gcov_starts_at(p->r, source, 0, &starts)};
    uint32_t next = s->first_line;
    uint32_t end = (uint32_t)p->source.starts.len, lines_end = s->first_line + s->lines;
    uint32_t number = 1;
    bool is_hot = p->r->style.has_hotness && (uint32_t)p->highest;
    for (; number < end && number <= s->last_number; number++) {
        if (!group.end)
            gcov_begin_functions(p, source, number, &group);
        bool has_code = next < lines_end && p->r->lines.lines.at[next].number == number;
        if (!has_code && !is_hot && !group.end) {
            gcov_print_empty_line(p, number);
            continue;
        }
        struct covered_line line = gcov_take_line(p->r, &next, lines_end, number);
        gcov_print_line(p, &line);
        if (group.end != number)
            continue;
        for (size_t i = 0; i < group.len; i++)
            gcov_print_instance(p, p->r->starts.at[group.first + i].item);
        out_str(p->out, SEPARATOR);
        group.end = 0;
    }
    for (; number < end; number++) /* no hotness after the last function */
        gcov_print_empty_line(p, number);
}

/* The heading has the line number 0. Lines are found once, so that instances can be shown out of
 * order. */
void gcov_text(const struct gcov_report *r, uint32_t source, const struct bytes *text,
               struct out *out)
{
    struct printing p = {r, out, {.text = text}, r->lines.sources.at[source].highest};
    if (r->style.has_colours)
        out_str(out, HEADING
                "Colorization: profile count: " ON("46") "zero coverage (exceptional)" OFF " " ON(
                    "41") "zero coverage (unexceptional)" OFF " " ON("45") "unexecuted block" OFF
                                                                           "\n");
    if (r->style.has_hotness)
        out_str(out, HEADING "Colorization: line numbers: hotness: " ON("41") "> 50%" OFF " " ON(
                         "43") "> 20%" OFF " " ON("42") "> 10%" OFF "\n");
    out_printf(out, HEADING "Source:%s\n", r->sources[source].name);
    if (r->has_heading) {
        out_printf(out, HEADING "Graph:%s\n", r->notes_name);
        out_printf(out, HEADING "Data:%s\n", r->counters_name);
        if (!r->has_unknown_runs)
            out_printf(out, HEADING "Runs:%u\n", r->runs);
        if (!r->dialect->has_no_programs)
            out_printf(out, HEADING "Programs:%u\n", r->programs);
    }
    if (text && r->sources[source].is_newer)
        out_str(out, HEADING "Source is newer than graph\n");
    if (!text)
        return; /* gcov shows no counts without the source */
    /* A last line without a newline is a line; after the last newline there is none. */
    const char *start = (const char *)p.source.text->at, *at = start,
               *end = start + p.source.text->len;
    while (at < end) {
        vec_push(&p.source.starts, (size_t)(at - start));
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    vec_push(&p.source.starts, (size_t)(end - start));
    p.source.has_nul = start < end && memchr(start, '\0', (size_t)(end - start));
    gcov_print_lines(&p, source);
    vec_free(&p.source.starts);
}
