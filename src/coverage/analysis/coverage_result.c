/* Making one result of the tables of all threads.
 *
 * Three steps. Each table's sources, pages of lines and functions are put in order, a thread a
 * table (source_parts): tables stay as they are, and their entries for one source lie side by side
 * afterwards. Then room is made: what all tables together have of a source is the most that the
 * result can have of it, so every source gets slices of the result's arrays before anything is
 * known, and threads fill them without a lock, the largest sources first (the first part). Gaps
 * stay at the ends of the slices; nothing is copied twice. At last one thread drops sources of
 * which nothing is left, and adds up.
 *
 * Names are demangled and sources read by the thread that has the source. The result is the same
 * for any number of threads and any order of tables.
 *
 *     tables     T0: a.c b.c     T1: b.c c.c
 *     parts      a.c@T0 | b.c@T0 b.c@T1 | c.c@T1        by path, then table
 *     ranks      0      | 1             | 2             first_part[rank]
 *     lines      [a.c    ][b.c          ][c.c    ]      slices: at most what all parts have */
#include "coverage/analysis/coverage_result.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "coverage/analysis/coverage_result_private.h"
#include "coverage/model/coverage.h"
#include "source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One source of a result: its functions, what its text leaves out, its lines with their
 * branches and conditions, each summed over all tables.
 *
 * It is called twice for each source, by any thread: functions first, of all sources, because lines
 * mention functions of other sources too (inlined ones). A function's number while this goes on is
 * its place, the same in all tables (source_part.places); `shown` says where it ended up, or that a
 * marker left it out.
 *
 * Entries of the tables for one function meet in the order of first line and name, so that the
 * result does not depend on which thread read which file. Lines are put by result_branches.c; each
 * gets the function around it, by which instances are known. */

#define NONE ((uint32_t)NO_INDEX)

/* --- what the source's text says ------------------------------------------------------------- */

/* Marks the lines of a range; `q->lines` ascend. Lines that no table mentions have no mark: there
 * is nothing to leave out. */
static void mark_range(const struct marks_request *q, struct source_marks *m, struct marker range)
{
    uint32_t first = PARTITION_POINT(q->lines_len, k, q->lines[k].number < range.first);
    for (uint32_t i = first; i < q->lines_len && q->lines[i].number <= range.last; i++)
        m->lines.at[i] |= (uint8_t)range.what;
    if (range.what == MARKER_CODE)
        vec_push(&m->code, range);
}

/* Functions that begin at this line, up to their last line: where that is unknown, the line before
 * the next function. Functions ascend by first line; several may begin on one. */
static void mark_functions(const struct marks_request *q, struct source_marks *m, uint32_t line)
{
    for (uint32_t i = 0; i < q->functions_len; i++) {
        const struct marked_function *f = &q->functions[i];
        if (f->start_line != line)
            continue;
        uint32_t last = f->end_line >= line ? f->end_line : NONE;
        for (uint32_t k = i + 1; last == NONE && k < q->functions_len; k++)
            if (q->functions[k].start_line > line)
                last = q->functions[k].start_line - 1;
        mark_range(q, m, (struct marker){line, last, MARKER_CODE});
    }
}

static int by_first(const void *left, const void *right)
{
    const struct marker *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Whether the line ends a declaration in `= default;`, but for a comment, and holds no other body.
 */
static bool is_defaulted(struct bytes line)
{
    static const char WORD[] = "default";
    size_t end = line.len, len = sizeof WORD - 1;
    if (line.len < len || !memchr(line.at, '=', line.len)) /* most lines */
        return false;
    for (size_t i = 0; i + 1 < line.len; i++) {
        if (line.at[i] == '{')
            return false;
        if (line.at[i] == '/' && (line.at[i + 1] == '/' || line.at[i + 1] == '*')) {
            end = i;
            break;
        }
    }
    while (end && memchr(" \t\f\v\r;", line.at[end - 1], 6))
        end--;
    if (end < len || memcmp(line.at + end - len, WORD, len) != 0)
        return false;
    for (end -= len; end && memchr(" \t", line.at[end - 1], 2);)
        end--;
    return end && line.at[end - 1] == '=';
}

/* Whether the line holds nothing but braces, brackets, semicolons and a comment to its end, or
 * leaves a function to the compiler. Branches there are of code that the compiler made. */
static bool is_bare(struct bytes line)
{
    if (is_defaulted(line))
        return true;
    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '/' && i + 1 < line.len && line.at[i + 1] == '/')
            return true;
        if (!memchr(" \t\f\v\r{}();", line.at[i], 10))
            return false;
    }
    return true;
}

/* How many lines a text has, by the most generous compiler: clang ends a line at a lone CR, too.
 * What is left out as no line of the source must be none for any of them. A text that does not end
 * in a newline has its last line all the same. */
static uint32_t lines_of(struct bytes text)
{
    size_t lines = 0;
    const uint8_t *end = text.at + text.len, *at = text.at;
    for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    for (at = text.at; at < end && (at = memchr(at, '\r', (size_t)(end - at))); at++)
        lines += at + 1 < end && at[1] != '\n';
    lines += text.len && end[-1] != '\n';
    return lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
}

/* Fills a zeroed *m. A source that was found and cannot be read has no marks: that is trouble,
 * which the report names. */
static void source_marks_make(const struct marks_request *q, struct source_marks *m)
{
    struct source_text text = {0};
    struct markers found = {0};
    struct err why;
    m->last_line = UINT32_MAX;
    if (!source_text_read(&text, q->file, &why)) {
        if (why.system && !(m->trouble = strdup(why.line)))
            memory_exhausted(strlen(why.line));
        source_text_deinit(&text);
        return;
    }
    vec_reserve(&m->lines, q->lines_len + 1);
    memset(m->lines.at, 0, q->lines_len);
    m->lines.len = q->lines_len;
    m->last_line = lines_of(text.bytes);
    m->changed = text.changed;
    if (!q->ignores_markers)
        markers_find(text.bytes, &found);
    for (size_t i = 0; i < found.ranges.len; i++) {
        if (found.ranges.at[i].what == MARKER_FUNCTION)
            mark_functions(q, m, found.ranges.at[i].first);
        else
            mark_range(q, m, found.ranges.at[i]);
    }
    if (m->code.len)
        qsort(m->code.at, m->code.len, sizeof *m->code.at, by_first);
    m->unclosed = found.unclosed;
    m->stray = found.stray;
    markers_deinit(&found);
    bool is_indexed = false; /* which costs a pass over the text: only if it is needed */
    for (uint32_t i = 0; q->finds_bare_lines && i < q->lines_len; i++) {
        if (!q->lines[i].has_branches)
            continue;
        if (!is_indexed)
            source_text_index(&text);
        is_indexed = true;
        struct bytes line = source_line(&text, q->lines[i].number);
        if (line.at && is_bare(line))
            m->lines.at[i] |= MARK_BARE;
    }
    source_text_deinit(&text);
}

static void source_marks_deinit(struct source_marks *m)
{
    free(m->trouble);
    vec_free(&m->lines);
    vec_free(&m->code);
}

/* --- functions ------------------------------------------------------------------------------- */

/* What that one table says; the sum over tables is in w->functions. */
static const struct table_function *function_of(const struct function_ref *ref)
{
    return &ref->part->t->functions.at[ref->function];
}

static const char *name_of(const struct function_ref *ref)
{
    return intern_text(&ref->part->t->names, function_of(ref)->name);
}

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct function_ref *refs = context;
    return strcmp(name_of(&refs[left]), name_of(&refs[right]));
}

/* One function of two tables: same first line, same name. */
static bool is_same(const struct result_builder *w, size_t left, size_t right)
{
    const struct keyed *a = &w->items.at[left], *b = &w->items.at[right];
    return a->key == b->key && !by_name(a->item, b->item, w->refs.at);
}

/* ---- what the source's text says */

/* Lines and functions of all tables make one request: the text is read once for a source. */
static void mark(struct result_builder *w, const struct source_part *parts, uint32_t len,
                 const char *file, struct source_marks *m)
{
    const struct result_rules *rules = w->b->rules;
    m->last_line = UINT32_MAX;
    if (!file || (rules->ignores_markers && rules->keeps_all_branches && rules->keeps_unseen))
        return; /* not requested */
    w->marked_lines.len = w->marked_functions.len = 0;
    for (line_walk_start(&w->walk, parts, len); line_walk_next(&w->walk);) {
        bool has_branches = false;
        for (size_t i = 0; i < w->walk.lines.len; i++)
            has_branches |= w->walk.lines.at[i].line->group != NONE;
        vec_push(&w->marked_lines, (struct marked_line){w->walk.number, has_branches});
    }
    for (size_t i = 0; i < w->functions.len; i++)
        vec_push(&w->marked_functions, (struct marked_function){w->functions.at[i].start_line,
                                                                w->functions.at[i].end_line});
    struct marks_request request = {.file = file,
                                    .lines = w->marked_lines.at,
                                    .lines_len = (uint32_t)w->marked_lines.len,
                                    .functions = w->marked_functions.at,
                                    .functions_len = (uint32_t)w->marked_functions.len,
                                    .ignores_markers = rules->ignores_markers,
                                    .finds_bare_lines = !rules->keeps_all_branches};
    source_marks_make(&request, m);
}

/* Ranges are sorted by their first line. */
static bool is_left_out(const struct source_marks *m, uint32_t line)
{
    for (size_t i = 0; i < m->code.len && m->code.at[i].first <= line; i++)
        if (line <= m->code.at[i].last)
            return true;
    return false;
}

/* ---- into the result */

/* Only names that begin as mangled ones do are tried. */
static const char *readable(struct result_builder *w, const char *linkage)
{
    const struct result_rules *rules = w->b->rules;
    char *text = rules->demangle && linkage[0] == '_' ? rules->demangle(linkage, NULL) : NULL;
    const char *kept = text ? arena_copy(&w->texts, text, strlen(text)) : linkage;
    free(text);
    return kept;
}

static void put_function(struct result_builder *w, uint32_t rank, const struct table_function *f,
                         const char *linkage)
{
    struct result_source *s = &w->b->r->sources.at[rank];
    uint8_t state = hit_state(f->count, f->is_unknown);
    w->b->r->functions.at[s->first_function + s->functions++] =
        (struct result_function){.name = readable(w, linkage),
                                 .linkage = linkage,
                                 .source = rank,
                                 .start_line = f->start_line,
                                 .end_line = f->end_line,
                                 .count = f->count,
                                 .state = state,
                                 .reason = f->reason,
                                 .defect = f->defect,
                                 .is_partly_unknown = f->is_unknown,
                                 .is_repaired = f->is_repaired};
    ratio_count(&s->sums.functions, state);
}

/* FNV-1a. */
static uint32_t hash_byte(uint32_t hash, char c)
{
    return (hash ^ (unsigned char)c) * 16777619u;
}

enum { HASH_START = 0x811c9dc5 };

/* What comes after the word `operator`, up to its arguments: signs are a part of the name; a type
 * that the function converts to is none. Adds to *hash, returns where the name goes on. */
static const char *operator_hash(const char *at, uint32_t *hash)
{
    size_t signs = strspn(at, "<>=!+-*/%^&|~,[]\"");
    for (size_t i = 0; i < signs; i++)
        *hash = hash_byte(*hash, at[i]);
    at += signs;
    if (signs && at[0] == ' ' && at[1] == '<') /* operator< <int>() */
        return at + 1;
    bool is_conversion = *at == ' ' && strncmp(at, " new", 4) && strncmp(at, " delete", 7) &&
                         strncmp(at, " co_await", 9);
    while (is_conversion && *at && *at != '(')
        at++;
    if (*at == ' ')
        at++;
    return at;
}

/* A number of the function that this one is an instance of: `int larger<int>(int, int)` is
 * `larger`, without types. One that no types were put into is itself: a macro may make several
 * functions at one place, and only compilers make instances. */
static uint32_t name_without_types(const struct result_builder *w, const char *linkage)
{
    const struct result_rules *rules = w->b->rules;
    char *(*spell)(const char *, const char *) = rules->spell ? rules->spell : rules->demangle;
    char *text = spell ? spell(linkage, NULL) : NULL;
    uint32_t hash = HASH_START, depth = 0;
    bool has_types = false;
    for (const char *at = text ? text : linkage; *at;) {
        if (!depth && !strncmp(at, "operator", 8)) {
            hash = hash_byte(hash, 'o');
            at = operator_hash(at + 8, &hash);
            continue;
        }
        has_types |= *at == '<';
        depth += *at == '<' || *at == '(';
        if (!depth && *at == ' ') {
            if (!strncmp(at, " const", 6) || !strncmp(at, " volatile", 9) || at[1] == '&' ||
                at[1] == '[')
                break;
            hash = HASH_START; /* what was before is the type that it returns */
        } else if (!depth) {
            hash = hash_byte(hash, *at);
        }
        depth -= depth && (*at == '>' || *at == ')');
        at++;
    }
    for (const char *at = text ? text : linkage; !has_types && *at; at++)
        hash = hash_byte(hash, *at);
    free(text);
    return hash;
}

/* Functions whose bodies begin at one place, and which are instances of one function by their
 * names, have one body. */
/* `w->functions` are in the order of their places. */
static void give_bodies(struct result_builder *w, uint32_t rank)
{
    uint32_t first = w->b->r->sources.at[rank].first_function;
    map_deinit(&w->bodies);
    for (uint32_t i = 0; i < w->functions.len; i++) {
        const struct table_function *f = &w->functions.at[i];
        const char *name = name_of(&w->refs.at[w->items.at[i].item]);
        bool is_alone = (!i || f[-1].start_line != f->start_line) &&
                        (i + 1 == w->functions.len || f[1].start_line != f->start_line);
        uint32_t body = first + i;
        if (!is_alone)
            body = *map_at(&w->bodies, f->start_line,
                           map_two(f->start_column, name_without_types(w, name)), body, NULL);
        w->b->bodies[first + i] = (struct function_body){rank, f->start_line, f->end_line, body};
    }
}

/* Sorted by line and name, equal ones added up, places given, then those that no marker leaves out
 * are put into the result. */
static void result_put_functions(struct result_builder *w, uint32_t rank)
{
    struct result_building *b = w->b;
    struct built_source *built = &b->sources[rank];
    struct result_source *s = &b->r->sources.at[rank];
    const struct source_part *parts = b->order.parts + b->order.first_part[rank];
    uint32_t len = b->order.first_part[rank + 1] - b->order.first_part[rank];
    /* Into items, by first line and name. */
    w->items.len = w->refs.len = 0;
    for (uint32_t p = 0; p < len; p++)
        for (uint32_t i = 0; i < parts[p].functions_len; i++) {
            const struct keyed *f = &parts[p].functions[i];
            vec_push(&w->items, (struct keyed){(uint32_t)f->key, (uint32_t)w->refs.len});
            vec_push(&w->refs, (struct function_ref){&parts[p], f->item});
        }
    if (len > 1)
        sort_keyed(w->items.at, w->items.len);
    for (size_t i = 0, end; i < w->items.len; i = end) {
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        sort_u32(w->same.at, end - i, by_name, w->refs.at);
        for (size_t k = i; k < end; k++)
            w->items.at[k].item = w->same.at[k - i];
    }
    /* Each function once; `items` keeps the first that says so. Their places are numbers in the
     * order of all functions. */
    size_t kept = 0;
    w->functions.len = 0;
    for (size_t i = 0; i < w->items.len; i++) {
        const struct function_ref *ref = &w->refs.at[w->items.at[i].item];
        if (kept && is_same(w, kept - 1, i)) {
            table_function_add(&w->functions.at[kept - 1], function_of(ref));
        } else {
            w->items.at[kept++] = w->items.at[i];
            vec_push(&w->functions, *function_of(ref));
        }
        ref->part->places[ref->function] = s->first_function + (uint32_t)kept - 1;
    }
    w->items.len = kept;
    built->functions = (uint32_t)kept;
    give_bodies(w, rank);

    mark(w, parts, len, s->file, &built->marks);
    s->last_line = built->marks.last_line;
    for (uint32_t p = 0; p < len; p++) {
        int64_t date =
            parts[p].source < parts[p].t->dates.len ? parts[p].t->dates.at[parts[p].source] : 0;
        s->is_newer |= date && built->marks.changed > date;
    }
    for (uint32_t i = 0; i < w->functions.len; i++) {
        const struct table_function *f = &w->functions.at[i];
        uint32_t *shown = &b->shown[s->first_function + i];
        if (is_left_out(&built->marks, f->start_line)) {
            built->left_out.functions++;
            *shown = NONE;
            continue;
        }
        /* Of a function that begins past the end nothing can be shown, wherever its lines are. */
        if (f->start_line > s->last_line) {
            ratio_count(&built->unseen.functions, hit_state(f->count, f->is_unknown));
            *shown = NONE;
            if (!w->b->rules->keeps_unseen)
                continue;
        }
        *shown = s->first_function + s->functions;
        put_function(w, rank, f, name_of(&w->refs.at[w->items.at[i].item]));
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The innermost function around the line that the walk is at; NONE: none that is known. Lines come
 * ascending, and so do the places of functions, which are nested or apart: the open ones are a
 * stack. A function whose end is not known reaches to the next one. */
static uint32_t result_body_at(struct result_builder *w, uint32_t rank)
{
    uint32_t first = w->b->r->sources.at[rank].first_function, line = w->walk.number;
    const struct function_body *bodies = w->b->bodies + first;
    while (w->next_body < w->b->sources[rank].functions && bodies[w->next_body].first <= line) {
        while (w->open.len && bodies[w->open.at[w->open.len - 1]].last < bodies[w->next_body].first)
            w->open.len--;
        vec_push(&w->open, w->next_body++);
    }
    while (w->open.len > 1 && bodies[w->open.at[w->open.len - 1]].last < line &&
           bodies[w->open.at[w->open.len - 1]].last)
        w->open.len--;
    if (!w->open.len)
        return NONE;
    const struct function_body *top = &bodies[w->open.at[w->open.len - 1]];
    return top->last && top->last < line ? NONE : top->body;
}

/* Regions of one line: tables of several sides have none in common, as one table has all that
 * LLVM's mappings say. */
static void lines_count_regions(const struct line_walk *walk, struct region_numbers *out)
{
    for (size_t i = 0; i < walk->lines.len; i++) {
        const struct coverage_table *t = walk->lines.at[i].part->t;
        size_t line = (size_t)(walk->lines.at[i].line - t->lines.at);
        uint32_t at = line < t->regions_of.len ? t->regions_of.at[line] : NONE;
        for (; at != NONE; at = t->regions.at[at].next) {
            uint8_t state = hit_state(t->regions.at[at].count, t->regions.at[at].is_unknown);
            out->all++;
            out->hit += state == RESULT_HIT;
            out->unknown += state == RESULT_UNKNOWN;
        }
    }
}

/* Counts, state, branches, conditions, and the sums of the source. */
static void lines_put_line(struct result_builder *w, uint32_t rank, uint8_t marks)
{
    struct coverage_result *r = w->b->r;
    struct result_source *s = &r->sources.at[rank];
    struct result_left_out *left_out = &w->b->sources[rank].left_out, before = *left_out;
    /* The tables' entries for the line, added up. */
    const struct line_walk *walk = &w->walk;
    struct table_line sum = {0};
    for (size_t i = 0; i < walk->lines.len; i++) {
        const struct table_line *l = walk->lines.at[i].line;
        sum.count = add_saturating(sum.count, l->count);
        sum.is_known |= l->is_known;
        sum.is_unknown |= l->is_unknown;
    }
    struct result_putting p = {.w = w,
                               .left_out = left_out,
                               .rank = rank,
                               .number = walk->number,
                               .body = result_body_at(w, rank),
                               .marks = marks};
    sum.count = add_saturating(sum.count, result_shared_count(&p));

    if (marks & MARKER_CODE) {
        left_out->lines++;
        return;
    }
    if (!sum.is_known && !sum.is_unknown)
        return; /* branches of a tracefile that has no count of the line */
    struct result_line *l = &r->lines.at[s->first_line + s->lines++];
    *l = (struct result_line){.count = sum.count,
                              .line = w->walk.number,
                              .state = hit_state(sum.count, sum.is_unknown),
                              .first_branch = w->branches,
                              .first_condition = w->conditions};
    p.line = l;
    result_put_branches(&p);
    result_part_unknown(&p);
    result_put_conditions(&p);
    lines_count_regions(walk, &l->regions);

    bool is_unseen = walk->number > s->last_line;
    struct coverage_ratios line = {0}, *sums = &line;
    bool is_unknown = l->state == RESULT_UNKNOWN;
    ratio_count(&sums->lines, l->state);
    for (uint32_t i = 0; i < l->branches; i++)
        ratio_count(&sums->branches,
                    hit_state(r->branches.at[l->first_branch + i].count, is_unknown));
    sums->branches.all += l->unknown_branches;
    sums->branches.unknown += l->unknown_branches;
    for (uint32_t i = 0; i < l->conditions; i++) {
        const struct result_condition *c = &r->conditions.at[l->first_condition + i];
        sums->conditions.all += 2 * c->terms;
        sums->conditions.hit += condition_hit(c);
        sums->conditions.unknown += is_unknown ? 2 * c->terms - condition_hit(c) : 0;
    }
    sums->calls.all += l->calls;
    sums->calls.hit += l->calls_made;
    sums->calls.unknown += is_unknown ? l->calls - l->calls_made : 0;
    sums->regions.all += l->regions.all;
    sums->regions.hit += l->regions.hit;
    sums->regions.unknown += l->regions.unknown;
    /* Where an include ends without a newline, clang has code on the line after the last: a place
     * and no line, so that no gate can miss it. What lies farther on was compiled of another text,
     * or of none: it counts for gates, in the sums of what is not seen, and nowhere else. A
     * comparison keeps all of it. */
    if (is_unseen && walk->number > s->last_line + 1)
        ratios_add(&w->b->sources[rank].unseen, &line);
    s->unseen += is_unseen;
    if (!is_unseen || w->b->rules->keeps_unseen) {
        ratios_add(&s->sums, &line);
        return;
    }
    *left_out = before;
    s->lines--;
    w->branches = l->first_branch;
    w->conditions = l->first_condition;
}

/* Marks lie beside the lines in the order of the walk, which is the same both times. */
static void result_put_lines(struct result_builder *w, uint32_t rank)
{
    struct result_building *b = w->b;
    const struct source_marks *m = &b->sources[rank].marks;
    uint32_t first = b->order.first_part[rank], end = b->order.first_part[rank + 1];
    w->branches = b->sources[rank].first_branch;
    w->conditions = b->sources[rank].first_condition;
    w->open.len = w->next_body = 0;
    line_walk_start(&w->walk, b->order.parts + first, end - first);
    for (size_t i = 0; line_walk_next(&w->walk); i++)
        lines_put_line(w, rank, i < m->lines.len ? m->lines.at[i] : 0);
}

/* --- the tables' sources side by side -------------------------------------------------------- */

/* Fills a zeroed *out; the tables must outlive it. */
static void source_parts_deinit(struct source_parts *o)
{
    for (size_t i = 0; i < o->tables; i++)
        arena_deinit(&o->arenas[i]);
    arena_deinit(&o->arena);
    *o = (struct source_parts){0};
}

/* ---- sources */

/* Bytes decide, whatever the locale. */
static int parts_by_path(uint32_t left, uint32_t right, const void *context)
{
    const struct source_part *parts = context;
    return strcmp(part_path(&parts[left]), part_path(&parts[right]));
}

/* In the order of tables; returns how many. */
static size_t parts_list_parts(const struct coverage_table *tables, size_t len,
                               struct source_part *parts)
{
    size_t n = 0;
    for (uint32_t i = 0; i < len; i++)
        for (uint32_t source = 0; source < tables[i].paths.texts.len; source++)
            parts[n++] = (struct source_part){.t = &tables[i], .table = i, .source = source};
    return n;
}

/* The sort is stable: parts of one source stay in the order of the tables. */
static void parts_sort_parts(const struct source_part *parts, size_t len, struct source_parts *out)
{
    uint32_t *sorted = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++)
        sorted[i] = i;
    sort_u32(sorted, len, parts_by_path, parts);
    out->parts = ARENA_NEW(&out->arena, struct source_part, len + 1);
    out->first_part = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        out->parts[i] = parts[sorted[i]];
        if (!i || parts_by_path(sorted[i - 1], sorted[i], parts))
            out->first_part[out->ranks++] = i;
    }
    out->first_part[out->ranks] = (uint32_t)len;
}

/* ---- one table */

/* part_of[table][source] is where the source's part went when parts were sorted. */
struct ordering {
    const struct coverage_table *tables;
    struct source_parts *out;
    uint32_t **part_of; /* by table and its source */
};

/* A key of two halves, which sort in that order. */
static uint64_t parts_two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The end of the items that begin at `i` and belong to the same part. */
static uint32_t parts_part_end(const struct keyed *items, uint32_t i, size_t len)
{
    uint32_t end = i + 1;
    while (end < len && items[end].key >> 32 == items[i].key >> 32)
        end++;
    return end;
}

/* By source and first line, with one sort for the whole table; each part gets its slice. */
static void parts_order_functions(const struct coverage_table *t, const uint32_t *part_of,
                                  struct source_part *parts, struct arena *a)
{
    size_t len = t->functions.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct table_function *f = &t->functions.at[i];
        items[i] = (struct keyed){parts_two(part_of[f->source], f->start_line), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].functions = items + i;
        parts[items[i].key >> 32].functions_len = end - i;
    }
}

/* Run by any thread: it writes to the parts of its own table alone. */
static void parts_order_table(size_t table, void *context)
{
    const struct ordering *o = context;
    const struct coverage_table *t = &o->tables[table];
    struct arena *a = &o->out->arenas[table];
    const uint32_t *part_of = o->part_of[table];
    uint32_t *places = ARENA_NEW(a, uint32_t, t->functions.len + 1);
    struct source_part *parts = o->out->parts;
    size_t len = t->page_keys.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        uint64_t key = t->page_keys.at[i];
        items[i] = (struct keyed){parts_two(part_of[key >> 32], (uint32_t)key), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].pages = items + i;
        parts[items[i].key >> 32].pages_len = end - i;
    }

    parts_order_functions(t, part_of, o->out->parts, a);
    for (size_t i = 0; i < t->paths.texts.len; i++)
        o->out->parts[part_of[i]].places = places;
}

/* Keys are numbers from here on: no path is compared again. */
static void source_parts_build(const struct coverage_table *tables, size_t len, unsigned threads,
                               struct source_parts *out)
{
    struct arena scratch = {0};
    struct ordering o = {tables, out, ARENA_NEW(&scratch, uint32_t *, len + 1)};
    size_t paths = 0;
    for (size_t i = 0; i < len; i++) {
        o.part_of[i] = ARENA_NEW(&scratch, uint32_t, tables[i].paths.texts.len + 1);
        paths += tables[i].paths.texts.len;
    }
    struct source_part *parts = ARENA_NEW(&scratch, struct source_part, paths + 1);
    parts_sort_parts(parts, parts_list_parts(tables, len, parts), out);
    for (uint32_t i = 0; i < paths; i++)
        o.part_of[out->parts[i].table][out->parts[i].source] = i;
    out->tables = len;
    out->arenas = ARENA_NEW(&out->arena, struct arena, len + 1);
    parallel_for(len, threads, parts_order_table, &o);
    arena_deinit(&scratch);
}

/* ---- lines */

static void line_walk_deinit(struct line_walk *w)
{
    vec_free(&w->lines);
    vec_free(&w->next_page);
    vec_free(&w->places);
}

/* The first call of line_walk_next() finds no page open. */
void line_walk_start(struct line_walk *w, const struct source_part *parts, uint32_t len)
{
    w->parts = parts;
    w->slot = PAGE_LINES;
    w->next_page.len = w->places.len = 0;
    for (uint32_t i = 0; i < len; i++) {
        vec_push(&w->next_page, 0);
        vec_push(&w->places, NULL);
    }
}

/* The page that the part has next. */
static uint32_t parts_page_number(const struct line_walk *w, size_t part)
{
    return (uint32_t)w->parts[part].pages[w->next_page.at[part]].key;
}

static bool parts_has_page(const struct line_walk *w, size_t part)
{
    return w->next_page.at[part] < w->parts[part].pages_len;
}

/* The lowest page that some part has next. */
static bool parts_next_page(struct line_walk *w)
{
    bool is_there = false;
    for (size_t i = 0; i < w->next_page.len; i++) {
        if (!parts_has_page(w, i) || (is_there && parts_page_number(w, i) >= w->page))
            continue;
        w->page = parts_page_number(w, i);
        is_there = true;
    }
    for (size_t i = 0; is_there && i < w->next_page.len; i++) {
        bool has_it = parts_has_page(w, i) && parts_page_number(w, i) == w->page;
        const struct source_part *p = &w->parts[i];
        w->places.at[i] = NULL;
        if (has_it)
            w->places.at[i] =
                p->t->page_lines.at + (size_t)p->pages[w->next_page.at[i]++].item * PAGE_LINES;
    }
    w->slot = 0;
    return is_there;
}

/* The next line that some part has, ascending, with the entry of each part. Costs a look into each
 * part for every line number of a page that one of them has. */
bool line_walk_next(struct line_walk *w)
{
    for (w->lines.len = 0; !w->lines.len; w->slot++) {
        if (w->slot == PAGE_LINES && !parts_next_page(w))
            return false;
        for (size_t i = 0; i < w->places.len; i++) {
            uint32_t place = w->places.at[i] ? w->places.at[i][w->slot] : 0;
            const struct source_part *p = &w->parts[i];
            if (place)
                vec_push(&w->lines, (struct line_ref){p, &p->t->lines.at[place - 1]});
        }
    }
    w->number = w->page * PAGE_LINES + w->slot - 1;
    return true;
}

void coverage_result_deinit(struct coverage_result *r)
{
    vec_free(&r->sources);
    vec_free(&r->lines);
    vec_free(&r->branches);
    vec_free(&r->conditions);
    vec_free(&r->functions);
    vec_free(&r->tests);
    vec_free(&r->notes);
    vec_free(&r->unseen);
    arena_deinit(&r->arena);
    *r = (struct coverage_result){0};
}

uint32_t result_line_from(const struct coverage_result *r, const struct result_source *s,
                          uint32_t line)
{
    return s->first_line + PARTITION_POINT(s->lines, i, r->lines.at[s->first_line + i].line < line);
}

double ratio_percent(const struct coverage_ratio *r)
{
    uint64_t all = r->all - r->unknown;
    return all ? 100.0 * (double)r->hit / (double)all : 100.0;
}

/* Limits are compared in billionths of a percent: as a whole number, what was typed in decimal is
 * itself, which no floating-point fraction is. */
#define PERCENT_UNITS 1000000000
#define WHOLE_UNITS   (UINT64_C(100) * PERCENT_UNITS)

static uint64_t percent_units(double percent)
{
    return percent > 0 ? (uint64_t)llround(percent * PERCENT_UNITS) : 0;
}

/* Whether a/b < c/d, neither b nor d being 0. As Euclid has it: whole parts first; where they are
 * the same, the reciprocals of what is left, the other way round. No product can overflow. */
static bool fraction_is_less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    for (;;) {
        if (a / b != c / d)
            return a / b < c / d;
        a %= b;
        c %= d;
        if (!a || !c)
            return !a && c;
        uint64_t reciprocal = b;
        b = c;
        c = reciprocal;
        reciprocal = d;
        d = a;
        a = reciprocal;
    }
}

bool ratio_is_below(const struct coverage_ratio *r, double percent)
{
    return r->all && fraction_is_less(r->hit, r->all, percent_units(percent), WHOLE_UNITS);
}

/* Numbers of lines have 32 bits, so that their products fit. */
bool ratio_fell(const struct coverage_ratio *old, const struct coverage_ratio *now, double points)
{
    uint64_t before = old->all - old->unknown, after = now->all - now->unknown;
    uint64_t left = old->hit * after, right = now->hit * before;
    if (!before || !after || left <= right)
        return false;
    return fraction_is_less(percent_units(points), WHOLE_UNITS, left - right, before * after);
}

/* --- sources: where they are, and how much there is of each ---------------------------------- */

/* Names below the root without it; a folder that only begins like the root is not below it. */
static const char *result_shown_path(const char *root, const char *path)
{
    size_t len = root ? strlen(root) : 0;
    len -= len == 1; /* "/" */
    if (root && *root && !strncmp(path, root, len) && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

/* Without a scope all sources are inside. */
static bool result_is_outside(const struct result_rules *rules, const char *path)
{
    return rules->scope && !rules->is_in_scope(rules->scope, path);
}

/* What all tables together have of a source: the most that the result can have. Slices of this size
 * are never too small: adding up only makes fewer of equal things. */
static struct table_size result_size_of(const struct source_parts *order, uint32_t rank)
{
    struct table_size sum = {0};
    for (uint32_t i = order->first_part[rank]; i < order->first_part[rank + 1]; i++) {
        const struct table_size *size = &order->parts[i].t->sizes.at[order->parts[i].source];
        sum.functions += size->functions;
        sum.lines += size->lines;
        sum.outcomes += size->outcomes;
        sum.masks += size->masks;
    }
    return sum;
}

/* --- threads --------------------------------------------------------------------------------- */

/* What one round of threads does with each source. */
struct building_job {
    struct result_builder *workers;
    const struct keyed *work;
    void (*put)(struct result_builder *w, uint32_t rank);
};

/* Work comes from the largest source to the smallest, so that no thread is left with a large one.
 */
static void result_put_one(size_t i, unsigned worker, void *context)
{
    struct building_job *job = context;
    job->put(&job->workers[worker], job->work[i].item);
}

/* Two rounds, since lines need the functions of all sources. Workers keep their memory from source
 * to source; their texts join the result's arena at the end. */
static void result_put_sources(struct result_building *b, const struct keyed *work, struct arena *a)
{
    /* Little is done sooner than a thread starts. */
    enum { LITTLE = 2000 };
    size_t items = b->r->lines.len + b->r->functions.len + b->r->branches.len;
    unsigned threads = parallel_workers(b->order.ranks, items < LITTLE ? 1 : b->rules->threads);

    struct building_job job = {.work = work, .put = result_put_functions};
    job.workers = ARENA_NEW(a, struct result_builder, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        job.workers[i].b = b;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    job.put = result_put_lines;
    parallel_for_workers(b->order.ranks, threads, result_put_one, &job);
    for (unsigned i = 0; i < threads; i++) {
        struct result_builder *w = &job.workers[i];
        arena_join(&w->b->r->arena, &w->texts);
        line_walk_deinit(&w->walk);
        vec_free(&w->items);
        vec_free(&w->same);
        vec_free(&w->refs);
        vec_free(&w->functions);
        vec_free(&w->marked_lines);
        vec_free(&w->marked_functions);
        vec_free(&w->groups);
        vec_free(&w->masks);
        vec_free(&w->sum);
        vec_free(&w->shares);
        vec_free(&w->put);
        vec_free(&w->open);
        map_deinit(&w->bodies);
        map_deinit(&w->shapes);
    }
}

/* --- sums ------------------------------------------------------------------------------------ */

/* All three numbers add up. */
static void result_add_ratio(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

void ratios_add(struct coverage_ratios *sum, const struct coverage_ratios *part)
{
    result_add_ratio(&sum->lines, &part->lines);
    result_add_ratio(&sum->functions, &part->functions);
    result_add_ratio(&sum->branches, &part->branches);
    result_add_ratio(&sum->conditions, &part->conditions);
    result_add_ratio(&sum->calls, &part->calls);
    result_add_ratio(&sum->regions, &part->regions);
}

/* Gates count what is nowhere as not hit, so that they do not pass on lines that cannot be shown.
 * The sums either have it (`is_kept`, in comparisons): then its hits are taken back; or they do
 * not: then it is added as missed. Calls have no gate. */
static void result_judge_unseen(struct coverage_ratios *judged,
                                const struct coverage_ratios *unseen, bool is_kept)
{
    struct coverage_ratio *to[] = {&judged->lines, &judged->functions, &judged->branches,
                                   &judged->conditions, &judged->regions};
    const struct coverage_ratio *from[] = {&unseen->lines, &unseen->functions, &unseen->branches,
                                           &unseen->conditions, &unseen->regions};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        to[i]->all += is_kept ? 0 : from[i]->all;
        to[i]->hit -= is_kept ? from[i]->hit : 0;
    }
}

/* Markers that do not pair, as sentences; the first trouble stands for all. */
static void result_take_notes(struct coverage_result *r, const struct source_marks *m,
                              const char *path)
{
    if (m->trouble && !r->trouble)
        r->trouble = arena_copy(&r->arena, m->trouble, strlen(m->trouble));
    if (m->unclosed)
        vec_push(&r->notes, arena_printf(&r->arena,
                                         "%s:%u: the exclusion that starts here is never ended; "
                                         "everything below is left out",
                                         path, m->unclosed));
    if (m->stray)
        vec_push(&r->notes,
                 arena_printf(&r->arena, "%s:%u: this ends an exclusion that was never started",
                              path, m->stray));
}

static int result_by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The remaining sources move together, and add up. Out go those outside of the project, those of
 * which nothing is left, and, if any source is here at all, those that are nowhere: for gates their
 * lines are missed, as are lines past the end of a source that stays. */
static void result_keep_sources(const struct result_building *b, bool is_here)
{
    struct coverage_result *out = b->r;
    const struct result_rules *rules = b->rules;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->sources.len; i++) {
        struct result_source *s = &out->sources.at[i];
        bool has_any = s->lines || s->functions, is_absent = is_here && !s->file && has_any;
        if (s->is_outside) {
            if (has_any && !out->left_out.outside_sources++)
                out->left_out.outside_example = s->whole;
            continue;
        }
        /* Its sums are those of all its lines, seen or not, where the rules keep them. */
        result_judge_unseen(&out->judged, is_absent ? &s->sums : &b->sources[i].unseen,
                            rules->keeps_unseen);
        s->unseen = is_absent ? s->lines : s->unseen;
        if ((is_absent || s->unseen) && !rules->keeps_unseen) {
            uint64_t *lines = is_absent ? &out->left_out.absent_lines : &out->left_out.lines_behind;
            *lines += s->unseen;
            out->left_out.absent_sources += is_absent;
            vec_push(&out->unseen, *s);
        }
        if (!has_any || (is_absent && !rules->keeps_unseen))
            continue;
        for (uint32_t k = 0; k < s->functions; k++)
            out->functions.at[s->first_function + k].source = kept;
        ratios_add(&out->sums, &s->sums);
        ratios_add(&out->judged, &s->sums);
        out->sources.at[kept++] = *s;
    }
    out->sources.len = kept;
}

/* Slices, work, threads, sums: see above. Order and content do not depend on the number of threads.
 */
void coverage_result_build(const struct coverage_table *tables, size_t len,
                           const struct result_rules *rules, struct coverage_result *out)
{
    struct result_building b = {.rules = rules, .r = out};
    struct arena scratch = {0};
    source_parts_build(tables, len, rules->threads, &b.order);
    struct keyed *work = ARENA_NEW(&scratch, struct keyed, (size_t)b.order.ranks + 1);
    b.sources = ARENA_NEW(&scratch, struct built_source, (size_t)b.order.ranks + 1);
    struct coverage_result *r = b.r;
    bool is_here = false; /* any of the sources: then others are nowhere, and not just elsewhere */
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        const char *path = part_path(&b.order.parts[b.order.first_part[rank]]);
        const char *whole = arena_copy(&r->arena, path, strlen(path));
        const char *file = source_find(b.rules->search, whole);
        vec_push(&r->sources,
                 (struct result_source){.path = result_shown_path(b.rules->root, whole),
                                        .whole = whole,
                                        .file = file,
                                        .is_outside = result_is_outside(b.rules, whole)});
        is_here |= file && !r->sources.at[rank].is_outside;
    }
    /* Gives each source its slices; `work` gets the sources, the largest first. */
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        struct table_size size = result_size_of(&b.order, rank);
        r->sources.at[rank].first_function = (uint32_t)r->functions.len;
        r->sources.at[rank].first_line = (uint32_t)r->lines.len;
        b.sources[rank].first_branch = (uint32_t)r->branches.len;
        b.sources[rank].first_condition = (uint32_t)r->conditions.len;
        r->functions.len += size.functions;
        r->lines.len += size.lines;
        r->branches.len += size.outcomes;
        r->conditions.len += size.masks;
        work[rank] =
            (struct keyed){UINT32_MAX - (size.functions + size.lines + size.outcomes), rank};
    }
    /* One more than there are, so that empty slices have an address. */
    vec_reserve(&r->functions, r->functions.len + 1);
    vec_reserve(&r->lines, r->lines.len + 1);
    vec_reserve(&r->branches, r->branches.len + 1);
    vec_reserve(&r->conditions, r->conditions.len + 1);
    sort_keyed(work, b.order.ranks);

    b.bodies = ARENA_NEW(&scratch, struct function_body, out->functions.len + 1);
    b.shown = ARENA_NEW(&scratch, uint32_t, out->functions.len + 1);
    result_put_sources(&b, work, &scratch);
    for (uint32_t rank = 0; rank < b.order.ranks; rank++) {
        if (!out->sources.at[rank].is_outside) {
            result_take_notes(out, &b.sources[rank].marks, out->sources.at[rank].path);
            struct result_left_out *sum = &out->left_out;
            const struct result_left_out *part = &b.sources[rank].left_out;
            sum->lines += part->lines;
            sum->branches += part->branches;
            sum->functions += part->functions;
            sum->exception_branches += part->exception_branches;
            sum->hidden_branches += part->hidden_branches;
            sum->united_branches += part->united_branches;
            sum->united_conditions += part->united_conditions;
        }
        source_marks_deinit(&b.sources[rank].marks);
    }
    result_keep_sources(&b, is_here);
    /* Tests' names, each once, in an order that does not depend on which thread met them. */
    struct intern tests = {0};
    for (size_t i = 0; i < len; i++)
        for (uint32_t k = 0; k < tables[i].tests.texts.len; k++)
            intern(&tests, tables[i].tests.texts.at[k], tables[i].tests.lengths.at[k]);
    for (uint32_t i = 0; i < tests.texts.len; i++)
        vec_push(&out->tests, arena_copy(&out->arena, tests.texts.at[i], tests.lengths.at[i]));
    if (out->tests.len)
        qsort(out->tests.at, out->tests.len, sizeof *out->tests.at, result_by_text);
    intern_deinit(&tests);

    source_parts_deinit(&b.order);
    arena_deinit(&scratch);
}

/* --- problems -------------------------------------------------------------------------------- */

/* Copied into the arena of the problems. */
static void add(struct problems *p, enum problem_kind kind, const char *text)
{
    char *copy = arena_copy(&p->arena, text, strlen(text));
    hide_controls(copy, strlen(copy)); /* names of files may hold anything; a problem is one line */
    vec_push(&p->at, (struct problem){kind, copy});
    p->of_kind[kind]++;
}

void problem_add(struct problems *p, enum problem_kind kind, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        memory_exhausted(strlen(format));
    va_end(arguments);
    add(p, kind, text);
    free(text);
}

/* Of another thread: texts are copied, so that it can go. */
void problems_merge(struct problems *p, const struct problems *other)
{
    for (size_t i = 0; i < other->at.len; i++)
        add(p, other->at.at[i].kind, other->at.at[i].text);
}

static int compare(const void *left, const void *right)
{
    const struct problem *a = left, *b = right;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->text, b->text);
}

/* After that the order does not depend on the threads. */
void problems_sort(struct problems *p)
{
    if (p->at.len)
        qsort(p->at.at, p->at.len, sizeof *p->at.at, compare);
}

void problems_deinit(struct problems *p)
{
    vec_free(&p->at);
    arena_deinit(&p->arena);
}
