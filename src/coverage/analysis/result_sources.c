/* One source of a result: its functions, what its text leaves out, its lines with their branches
 * and conditions, each summed over all tables.
 *
 * It is called twice for each source, by any thread: functions first, of all sources, because lines
 * mention functions of other sources too (inlined ones). A function's number while this goes on is
 * its place, the same in all tables (source_part.places); `shown` says where it ended up, or that a
 * marker left it out.
 *
 * Entries of the tables for one function meet in the order of first line and name, so that the
 * result does not depend on which thread read which file. Lines are put by result_branches.c; each
 * gets the function around it, by which instances are known. */
#include "coverage/analysis/coverage_result_private.h"

#include "base/sort.h"
#include "coverage/model/coverage.h"
#include "source/source.h"

#include <stdlib.h>
#include <string.h>

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
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n' ||
                 (text.at[i] == '\r' && i + 1 < text.len && text.at[i + 1] != '\n');
    lines += text.len && text.at[text.len - 1] != '\n';
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

void source_marks_deinit(struct source_marks *m)
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
void result_put_functions(struct result_builder *w, uint32_t rank)
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
void result_put_lines(struct result_builder *w, uint32_t rank)
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
