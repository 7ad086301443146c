/* {"data": [{"files": [{"filename", "segments", "branches", "expansions"}], "functions": [...]}]}
 *
 * A segment is [line, column, count, has count, begins a region, is a gap]: from there on the count
 * holds. A line's count is the largest of the regions that begin on it and of the one that it
 * begins within: llvm-cov's LineCoverageStats. Branches that a macro has stand on the line that
 * uses it, and those of several instances of a template are added up.
 *
 *     segments    (3, 1, count 5)   (5, 2, count 0)   (5, 9, count 5)   (9, 1, no count)
 *     line          3    4    5    6    7    8
 *     count         5    5    5    5    5    5         line 5: the largest of 5, 0 and 5
 *
 * Regions, MC/DC records and totals have no place in a tracefile: they are counted as lost. Lines
 * come out once each and ascending; segments out of order are refused. A range of lines takes room.
 * Linear. Source: llvm/tools/llvm-cov/CoverageExporterJson.cpp and llvm/lib/ProfileData/Coverage.
 */
#include "coverage/import/import_private.h"

#include "base/map.h"

#include <string.h>

/* Where a count begins to hold; the column only orders those of one line, which the file does. */
struct segment {
    uint32_t line;
    uint64_t count;
    bool has_count, is_entry, is_gap;
};

struct reading {
    struct json_reader json;
    struct source_builder build;
    VEC(struct segment) segments; /* of one file */
    struct intern places;         /* of its branches: their numbers are blocks */
};

bool llvm_cov_probe(struct bytes first)
{
    return json_may_have(first, "\"data\"") && json_may_have(first, "\"segments\"");
}

static struct tracefile *llvm_out(struct reading *r)
{
    return r->build.out;
}

/* Counts may be decimals; what is below 0 is 0 and is counted. */
static uint64_t llvm_count(struct reading *r)
{
    return json_read_count(&r->json, &llvm_out(r)->negative);
}

/* The next element of an array, which must be there. Arrays of the format have a fixed beginning;
 * later versions add elements at the end. */
static bool llvm_another(struct reading *r)
{
    return json_read_element(&r->json) ||
           json_read_fail(&r->json, "the array before has too few elements");
}

static bool llvm_flag(struct reading *r)
{
    return llvm_another(r) && json_read_bool(&r->json);
}

static uint32_t llvm_line(struct reading *r)
{
    return llvm_another(r) ? json_read_line(&r->json) : 0;
}

static uint64_t llvm_next_count(struct reading *r)
{
    return llvm_another(r) ? llvm_count(r) : 0;
}

/* Elements that later versions have added. */
static void llvm_past_rest(struct reading *r)
{
    while (json_read_element(&r->json))
        json_read_past(&r->json);
}

/* ---- lines */

/* Replaces those of the file before. */
static void llvm_segments(struct reading *r)
{
    r->segments.len = 0;
    json_read_array(&r->json);
    while (json_read_element(&r->json)) {
        struct segment s = {0};
        json_read_array(&r->json);
        s.line = llvm_line(r);
        (void)llvm_line(r); /* column */
        s.count = llvm_next_count(r);
        s.has_count = llvm_flag(r);
        s.is_entry = llvm_flag(r);
        if (json_read_element(&r->json)) { /* since version 2.0.1 */
            s.is_gap = json_read_bool(&r->json);
            llvm_past_rest(r);
        }
        vec_push(&r->segments, s);
    }
}

/* Whether the line has code, and how often it ran. `at` are the `len` segments that begin on the
 * line; `before` is the last one of an earlier line. */
static bool llvm_line_count(const struct segment *at, size_t len, const struct segment *before,
                            uint64_t *count)
{
    bool has_start = false, is_skipped = len && !at->has_count && at->is_entry;
    bool is_within = before && before->has_count;
    *count = before ? before->count : 0;
    for (size_t i = 0; i < len; i++) {
        bool is_start = !at[i].is_gap && at[i].has_count && at[i].is_entry;
        has_start |= is_start;
        if (is_start && at[i].count > *count)
            *count = at[i].count;
    }
    return !is_skipped && (is_within || has_start);
}

/* Lines `from` to `to`, none of which has a segment: the one before goes on. */
static void llvm_fill(struct reading *r, uint32_t from, uint32_t to, const struct segment *before)
{
    if (from >= to || !before || !before->has_count)
        return;
    if (!source_take_room(&r->build, to - from)) {
        json_read_fail(&r->json,
                       "the segments before span more lines than a file of this size has");
        return;
    }
    for (uint32_t line = from; line < to; line++)
        vec_push(&llvm_out(r)->lines, (struct trace_line){line, before->count});
}

/* Goes from line to line that has segments, and fills up what lies between. */
static void llvm_lines(struct reading *r)
{
    const struct segment *at = r->segments.at, *before = NULL;
    size_t len = r->segments.len;
    uint32_t next = len ? at->line : 0;
    for (size_t i = 0, end; i < len && !r->json.failed; i = end) {
        uint32_t line = at[i].line;
        uint64_t count;
        if (line < next || !line) {
            json_read_fail(&r->json, "the segments before are not ordered by line");
            return;
        }
        for (end = i; end < len && at[end].line == line; end++)
            ;
        llvm_fill(r, next, line, before);
        if (llvm_line_count(at + i, end - i, before, &count))
            vec_push(&llvm_out(r)->lines, (struct trace_line){line, count});
        before = &at[end - 1];
        next = line + 1;
    }
}

/* ---- branches */

/* Interned as bytes: six numbers without padding. */
struct place {
    uint32_t line, column, end_line, end_column, use_line, use_column;
};

/* [line, column, end line, end column, count if true, if false, file, file expanded into, ...].
 * `use` is where the macro is used that it stands in, or 0: llvm-cov from 20 on lists what stands
 * in macros with the file's own, too, which is passed over. */
static void llvm_branch(struct reading *r, uint32_t use_line, uint32_t use_column)
{
    struct place p = {.use_line = use_line, .use_column = use_column};
    json_read_array(&r->json);
    p.line = llvm_line(r);
    p.column = llvm_line(r);
    p.end_line = llvm_line(r);
    p.end_column = llvm_line(r);
    uint64_t if_true = llvm_next_count(r), if_false = llvm_next_count(r);
    uint64_t file = 0, expanded_into = 0;
    if (json_read_element(&r->json)) {
        file = llvm_count(r);
        expanded_into = llvm_next_count(r);
        llvm_past_rest(r);
    }
    uint32_t line = use_line ? use_line : p.line;
    if (r->json.failed || !line || (!use_line && file != expanded_into))
        return;
    uint32_t block = intern(&r->places, (const char *)&p, sizeof p);
    vec_push(&llvm_out(r)->branches, (struct trace_branch){line, block, 0, if_true, false});
    vec_push(&llvm_out(r)->branches, (struct trace_branch){line, block, 1, if_false, false});
}

static void llvm_branches(struct reading *r, uint32_t use_line, uint32_t use_column)
{
    json_read_array(&r->json);
    while (json_read_element(&r->json))
        llvm_branch(r, use_line, use_column);
}

/* Branches come before the place of the use, which is then given to them. The reader is a value: a
 * copy goes back to the branches once the place is known. */
static void llvm_expansion(struct reading *r)
{
    struct json_reader branches = {.failed = true};
    uint32_t line = 0, column = 0;
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "source_region")) {
            json_read_array(&r->json);
            line = llvm_line(r);
            column = llvm_line(r);
            llvm_past_rest(r);
            continue;
        }
        if (json_key_is(key, "branches"))
            branches = r->json;
        json_read_past(&r->json);
    }
    if (r->json.failed || branches.failed)
        return;
    struct json_reader behind = r->json;
    r->json = branches;
    llvm_branches(r, line, column);
    behind.failed = r->json.failed;
    r->json = behind;
}

/* ---- files and functions */

/* What a file or function has and a tracefile has not. */
static bool llvm_loses(struct reading *r, struct json_span key)
{
    if (!json_key_is(key, "mcdc_records"))
        return false;
    tracefile_lose(llvm_out(r), "conditions (MC/DC)", json_read_past_all(&r->json));
    return true;
}

/* Segments stand for lines; totals and names of other files in the object are passed over. */
static void llvm_file(struct reading *r)
{
    struct tracefile *out = llvm_out(r);
    struct json_span key;
    source_begin(&r->build, "");
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "filename"))
            out->sections.at[out->sections.len - 1].source = json_read_text(&r->json, &out->arena);
        else if (json_key_is(key, "segments"))
            llvm_segments(r), llvm_lines(r);
        else if (json_key_is(key, "branches"))
            llvm_branches(r, 0, 0);
        else if (json_key_is(key, "expansions"))
            for (json_read_array(&r->json); json_read_element(&r->json);)
                llvm_expansion(r);
        else if (!llvm_loses(r, key))
            json_read_past(&r->json);
    }
    if (!r->json.failed && !*out->sections.at[out->sections.len - 1].source)
        json_read_fail(&r->json, "the object before has no \"filename\"");
    source_end(&r->build, r->json.failed);
    intern_deinit(&r->places);
}

/* Static functions are named "FILE:NAME" or "FILE;NAME"; Objective-C has colons of its own. */
static const char *llvm_bare_name(const char *name)
{
    const char *colon = strrchr(name, ':'), *semicolon = strrchr(name, ';');
    const char *last = semicolon && semicolon > colon ? semicolon : colon;
    return last && last[1] && *name != '-' && *name != '+' ? last + 1 : name;
}

/* The first region is the function's body: [line, column, end line, ...]. */
static void llvm_regions(struct reading *r, struct trace_function *f)
{
    bool is_first = true;
    uint64_t number = 0;
    for (json_read_array(&r->json); json_read_element(&r->json); is_first = false, number++) {
        if (!is_first) {
            json_read_past(&r->json);
            continue;
        }
        json_read_array(&r->json);
        f->start_line = llvm_line(r);
        (void)llvm_line(r);
        f->end_line = llvm_line(r);
        llvm_past_rest(r);
    }
    tracefile_lose(llvm_out(r), "regions", number);
}

/* The first name is the file of the function's body. */
static const char *llvm_first_text(struct reading *r)
{
    const char *first = NULL;
    for (json_read_array(&r->json); json_read_element(&r->json);) {
        if (first)
            json_read_past(&r->json);
        else
            first = json_read_text(&r->json, &llvm_out(r)->arena);
    }
    return first ? first : "";
}

/* Functions come after all files: each is a section of its own. */
static void llvm_function(struct reading *r)
{
    struct tracefile *out = llvm_out(r);
    struct trace_function f = {.name = ""};
    const char *source = "";
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "name"))
            f.name = llvm_bare_name(json_read_text(&r->json, &out->arena));
        else if (json_key_is(key, "count"))
            f.count = llvm_count(r);
        else if (json_key_is(key, "filenames"))
            source = llvm_first_text(r);
        else if (json_key_is(key, "regions"))
            llvm_regions(r, &f);
        else
            json_read_past(&r->json);
    }
    if (r->json.failed || !*source || !*f.name || !f.start_line)
        return;
    source_begin(&r->build, source);
    vec_push(&out->functions, f);
    source_end(&r->build, false);
}

/* One element of "data": what one export covers. */
static void llvm_program(struct reading *r)
{
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "files"))
            for (json_read_array(&r->json); json_read_element(&r->json);)
                llvm_file(r);
        else if (json_key_is(key, "functions"))
            for (json_read_array(&r->json); json_read_element(&r->json);)
                llvm_function(r);
        else
            json_read_past(&r->json);
    }
}

bool llvm_cov_read(struct bytes in, const char *name, struct tracefile *out, struct err *e)
{
    struct reading r = {.json = json_reader_over(in, name, e),
                        .build = source_builder_over(in, out)};
    bool has_data = false;
    struct json_span key;
    json_read_object(&r.json);
    while (json_read_member(&r.json, &key)) {
        if (!json_key_is(key, "data")) {
            json_read_past(&r.json);
            continue;
        }
        has_data = true;
        for (json_read_array(&r.json); json_read_element(&r.json);)
            llvm_program(&r);
    }
    vec_free(&r.segments);
    return json_read_end(&r.json) && (has_data || json_read_fail(&r.json, "has no \"data\""));
}
