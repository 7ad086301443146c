/* {"files": [{"file", "lines": [{"line_number", "count", "branches": [...]}], "functions": [...]}]}
 *
 * Lines without code are left out, as gcovr's own reports leave them out, and so are lines and
 * functions that were excluded.
 *
 *     line       line_number, count, branches, gcovr/excluded, gcovr/noncode, calls, conditions
 *     branch     count, throw, source_block_id, branchno, gcovr/excluded
 *     function   name, demangled_name, lineno, execution_count, gcovr/excluded
 *
 * Members come in any order, as in all JSON, and unknown ones are passed over: versions of the
 * format differ in them. Conditions and calls are lost, and said to be. Linear. Source: gcovr's
 * documentation of its JSON report. */
#include "coverage/import/import_private.h"

#include <string.h>

struct reading {
    struct json_reader json;
    struct source_builder build;
};

/* One line, as far as it was read: its members come in any order. */
struct line {
    uint32_t line;
    uint64_t count;
    bool is_excluded, is_noncode;
    size_t first_branch; /* in the tracefile */
};

/* The version member is at the end of a large file: other members identify it as well. */
bool gcovr_probe(struct bytes first)
{
    return json_may_have(first, "\"gcovr/") ||
           (json_may_have(first, "\"files\"") && json_may_have(first, "\"line_number\""));
}

/* Older files do not number branches or say which block decides: they stand in order. */
static void gcovr_branch(struct reading *r, uint32_t number)
{
    struct tracefile *out = r->build.out;
    struct trace_branch b = {.branch = number};
    bool is_excluded = false;
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "count"))
            b.count = json_read_count(&r->json, &out->negative);
        else if (json_key_is(key, "throw"))
            b.is_exception = json_read_bool(&r->json);
        else if (json_key_is(key, "gcovr/excluded"))
            is_excluded = json_read_bool(&r->json);
        else if (json_key_is(key, "source_block_id") && !json_read_is(&r->json, 'n'))
            b.block = json_read_line(&r->json);
        else if (json_key_is(key, "branchno") && !json_read_is(&r->json, 'n'))
            b.branch = json_read_line(&r->json);
        else
            json_read_past(&r->json);
    }
    if (is_excluded)
        tracefile_lose(out, "excluded branches", 1);
    else
        vec_push(&out->branches, b);
}

/* `number` stands in where a branch has none of its own. */
static void gcovr_branches(struct reading *r)
{
    uint32_t number = 0;
    for (json_read_array(&r->json); json_read_element(&r->json); number++)
        gcovr_branch(r, number);
}

/* What a line has and a tracefile has not. */
static bool gcovr_loses(struct reading *r, struct json_span key)
{
    static const struct {
        const char *key, *what;
    } ROWS[] = {{"calls", "calls"}, {"conditions", "conditions"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        if (!json_key_is(key, ROWS[i].key))
            continue;
        tracefile_lose(r->build.out, ROWS[i].what, json_read_past_all(&r->json));
        return true;
    }
    if (!json_key_is(key, "gcovr/decision"))
        return false;
    tracefile_lose(r->build.out, "decisions", json_read_is(&r->json, '{'));
    json_read_past(&r->json);
    return true;
}

/* Branches belong to the line that their line turned out to be. */
static void gcovr_keep(struct reading *r, const struct line *l)
{
    struct tracefile *out = r->build.out;
    tracefile_lose(out, "excluded lines", l->is_excluded && !l->is_noncode);
    if (l->is_excluded || l->is_noncode || !l->line) {
        out->branches.len = l->first_branch;
        return;
    }
    vec_push(&out->lines, (struct trace_line){l->line, l->count});
    for (size_t i = l->first_branch; i < out->branches.len; i++)
        out->branches.at[i].line = l->line;
}

/* Branches are pushed as they are read, and get the line's number when that is known. */
static void gcovr_line(struct reading *r)
{
    struct tracefile *out = r->build.out;
    struct line l = {.first_branch = out->branches.len};
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "line_number"))
            l.line = json_read_line(&r->json);
        else if (json_key_is(key, "count"))
            l.count = json_read_count(&r->json, &out->negative);
        else if (json_key_is(key, "gcovr/excluded"))
            l.is_excluded = json_read_bool(&r->json);
        else if (json_key_is(key, "gcovr/noncode"))
            l.is_noncode = json_read_bool(&r->json);
        else if (json_key_is(key, "branches"))
            gcovr_branches(r);
        else if (!gcovr_loses(r, key))
            json_read_past(&r->json);
    }
    gcovr_keep(r, &l);
}

/* The linkage name is taken if there is one, whichever member comes first. */
static void gcovr_function(struct reading *r)
{
    struct tracefile *out = r->build.out;
    struct trace_function f = {.name = ""};
    bool is_excluded = false;
    struct json_span key;
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        bool is_name = json_key_is(key, "name");
        if (is_name || (json_key_is(key, "demangled_name") && !*f.name))
            f.name = json_read_text(&r->json, &out->arena);
        else if (json_key_is(key, "lineno"))
            f.start_line = json_read_line(&r->json);
        else if (json_key_is(key, "execution_count"))
            f.count = json_read_count(&r->json, &out->negative);
        else if (json_key_is(key, "gcovr/excluded"))
            is_excluded = json_read_bool(&r->json);
        else
            json_read_past(&r->json);
    }
    tracefile_lose(out, "excluded functions", is_excluded);
    if (*f.name && f.start_line && !is_excluded)
        vec_push(&out->functions, f);
}

/* The name may come after the lines. A file without a name is an error: there is nothing to add its
 * lines to. */
static void gcovr_file(struct reading *r)
{
    struct tracefile *out = r->build.out;
    struct json_span key;
    source_begin(&r->build, "");
    json_read_object(&r->json);
    while (json_read_member(&r->json, &key)) {
        if (json_key_is(key, "file"))
            out->sections.at[out->sections.len - 1].source = json_read_text(&r->json, &out->arena);
        else if (json_key_is(key, "lines"))
            for (json_read_array(&r->json); json_read_element(&r->json);)
                gcovr_line(r);
        else if (json_key_is(key, "functions"))
            for (json_read_array(&r->json); json_read_element(&r->json);)
                gcovr_function(r);
        else
            json_read_past(&r->json);
    }
    if (!r->json.failed && !*out->sections.at[out->sections.len - 1].source)
        json_read_fail(&r->json, "the object before names no \"file\"");
    source_end(&r->build, r->json.failed);
}

/* Other members of the root, such as the version, are passed over. */
bool gcovr_read(struct bytes in, const char *name, struct tracefile *out, struct err *e)
{
    struct reading r = {json_reader_over(in, name, e), source_builder_over(in, out)};
    bool has_files = false;
    struct json_span key;
    json_read_object(&r.json);
    while (json_read_member(&r.json, &key)) {
        if (!json_key_is(key, "files")) {
            json_read_past(&r.json);
            continue;
        }
        has_files = true;
        for (json_read_array(&r.json); json_read_element(&r.json);)
            gcovr_file(&r);
    }
    return json_read_end(&r.json) && (has_files || json_read_fail(&r.json, "has no \"files\""));
}
