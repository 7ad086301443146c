/* Summary, functions, calls and call paths as columns. Figures are in samples; the page divides by
 * the rate, as reports do. */
#include "page/profile_data.h"

#include "page/base_data.h"
#include "page/columns.h"
#include "page/timeline_data.h"

#include <stdlib.h>
#include <string.h>

/* --- the summary ----------------------------------------------------------------------------- */

static void profile_list(struct json *j, const char *key, const char *const *texts, size_t len)
{
    column_begin(j, key);
    for (size_t i = 0; i < len; i++)
        json_str(j, texts[i]);
    json_end(j);
}

static void profile_pair_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_bool(j, value);
}

static void profile_run_data(struct json *j, const struct recording_summary *r)
{
    json_key(j, "run"), json_begin(j, '{');
    json_pair_str(j, "command", r->command);
    json_pair_str(j, "event", r->event ? r->event->name : NULL);
    json_pair_str(j, "chosen", r->chosen);
    json_pair_u64(j, "rate", r->recording->rate);
    json_pair_u64(j, "length_ns", r->recording->length_ns);
    json_pair_u64(j, "processes", r->processes);
    json_pair_u64(j, "samples_taken", r->weights->taken);
    json_pair_double(j, "whole", r->whole);
    profile_pair_bool(j, "has_cpu", r->has_cpu);
    json_pair_u64(j, "accounted_ns", r->accounted_ns);
    json_pair_u64(j, "cpu_ns", r->cpu_ns);
    json_end(j);
}

static void profile_summary_data(struct json *j, const struct page_profile *p)
{
    const struct summary *s = p->summary;
    json_key(j, "summary"), json_begin(j, '{');
    json_pair_str(j, "program", s->program);
    profile_list(j, "profiles", s->profiles, s->profiles_len);
    profile_list(j, "notes", s->notes, s->notes_len);
    json_pair_str(j, "mismatch", s->was_forced ? s->mismatch : NULL);
    json_pair_str(j, "method", p->method);
    json_key(j, "measured_at"), json_i64(j, p->measured_at);
    profile_pair_bool(j, "has_samples", s->has_samples);
    profile_pair_bool(j, "has_stacks", s->stacks != NULL);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "unattributed", s->unattributed);
    json_pair_double(j, "profiler", s->profiler);
    json_pair_double(j, "effective", s->effective);
    json_pair_double(j, "rate", s->rate);
    json_pair_str(j, "dimension", s->dimension);
    json_key(j, "abbreviation"), json_str_n(j, &s->abbreviation, s->abbreviation ? 1 : 0);
    json_key(j, "calls"), column_count(j, s->calls);
    json_pair_u64(j, "arcs", s->arcs);
    json_key(j, "unknown_callers"), column_count(j, s->unknown_callers);
    json_key(j, "unknown_callees"), column_count(j, s->unknown_callees);
    if (s->run)
        profile_run_data(j, s->run);
    json_end(j);
}

static void profile_doctor_data(struct json *j, const struct diagnosis *d)
{
    static const char *const WORDS[] = {
        [SEVERITY_NOTE] = "note", [SEVERITY_WARNING] = "warning", [SEVERITY_ERROR] = "error"};
    column_begin(j, "doctor");
    for (size_t i = 0; d && i < d->all.len; i++) {
        const struct symptom *s = &d->all.at[i];
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[s->severity]);
        json_pair_str(j, "finding", s->finding);
        json_pair_str(j, "evidence", s->evidence);
        json_pair_str(j, "remedy", s->remedy);
        json_end(j);
    }
    json_end(j);
}

/* --- functions ------------------------------------------------------------------------------- */

static const char *profile_name_of(const struct page_rows *r, const struct page_row *row)
{
    if (row->kind == ROW_CYCLE || row->kind == ROW_SMALL)
        return "";
    return names_text((struct names *)&r->names, row->function);
}

/* Whole and linkage names, 0 where they are the same as the one before. */
static void profile_names_data(struct json *j, const struct page_rows *r)
{
    struct names *names = (struct names *)&r->names;
    column_begin(j, "name");
    for (size_t i = 0; i < r->all.len; i++)
        json_str(j, profile_name_of(r, &r->all.at[i]));
    json_end(j);
    column_begin(j, "whole");
    for (size_t i = 0; i < r->all.len; i++) {
        const struct page_row *row = &r->all.at[i];
        const char *whole = *profile_name_of(r, row) ? names_get(names, row->function) : "";
        if (!strcmp(whole, profile_name_of(r, row)))
            json_u64(j, 0);
        else
            json_str(j, whole);
    }
    json_end(j);
    column_begin(j, "linkage");
    for (size_t i = 0; i < r->all.len; i++) {
        const struct page_row *row = &r->all.at[i];
        const char *linkage =
            *profile_name_of(r, row) ? names->functions->at[row->function].name : "";
        if (!*linkage || !strcmp(linkage, names_get(names, row->function)))
            json_u64(j, 0);
        else
            json_str(j, linkage);
    }
    json_end(j);
}

struct named_row {
    const char *name;
    uint32_t row;
};

static int profile_compare_names(const void *left, const void *right)
{
    const struct named_row *l = left, *r = right;
    int order = strcmp(l->name, r->name);
    return order ? order : (l->row > r->row) - (l->row < r->row);
}

/* The rows in the order of their names, so that the page need not compare them. */
static void profile_order_data(struct json *j, const struct page_rows *r)
{
    struct arena scratch = {0};
    struct named_row *rows = ARENA_NEW(&scratch, struct named_row, r->measured);
    for (uint32_t i = 0; i < r->measured; i++)
        rows[i] = (struct named_row){profile_name_of(r, &r->all.at[i]), i};
    qsort(rows, r->measured, sizeof *rows, profile_compare_names);
    column_begin(j, "by_name");
    for (uint32_t i = 0; i < r->measured; i++)
        json_u64(j, rows[i].row);
    json_end(j);
    arena_deinit(&scratch);
}

static void profile_object_data(struct json *j, const struct page_rows *r)
{
    struct intern labels = {0};
    column_begin(j, "object");
    for (size_t i = 0; i < r->all.len; i++) {
        const struct page_row *row = &r->all.at[i];
        const char *label =
            row->kind < ROW_CYCLE ? function_object_label(r->names.functions, row->function) : NULL;
        column_index(j, label ? intern(&labels, label, strlen(label)) : UINT32_MAX);
    }
    json_end(j);
    column_begin(j, "objects");
    for (size_t i = 0; i < labels.texts.len; i++)
        json_str(j, labels.texts.at[i]);
    json_end(j);
    intern_deinit(&labels);
}

/* Where functions begin, asked for in the order of addresses. */
static void profile_place_data(struct json *j, const struct page_rows *r,
                               struct measured_sources *files)
{
    const struct functions *f = r->names.functions;
    struct arena scratch = {0};
    uint32_t *file = ARENA_NEW(&scratch, uint32_t, r->all.len);
    uint32_t *line = ARENA_NEW(&scratch, uint32_t, r->all.len);
    for (size_t i = 0; i < r->all.len; i++)
        file[i] = UINT32_MAX;
    for (uint32_t i = 0; i < f->len && r->profile->lines; i++) {
        uint32_t row = r->of[i];
        struct object *object = row == UINT32_MAX ? NULL : r->profile->objects[f->at[i].object];
        const char *path = NULL;
        if (!object || !function_has_code(&f->at[i]) ||
            (row >= r->measured
                 ? !(path = f->at[i].file)
                 : !object_line(object, function_link_address(f, i), &path, &line[row])))
            continue;
        if (row >= r->measured)
            line[row] = f->at[i].line;
        file[row] = path ? measured_source_of(files, path) : UINT32_MAX;
    }
    column_begin(j, "file");
    for (size_t i = 0; i < r->all.len; i++)
        column_index(j, file[i]);
    json_end(j);
    column_begin(j, "line");
    for (size_t i = 0; i < r->all.len; i++)
        json_u64(j, line[i]);
    json_end(j);
    arena_deinit(&scratch);
}

enum amount { AMOUNT_SELF, AMOUNT_TOTAL, AMOUNT_LOW, AMOUNT_HIGH };

static void profile_amount_data(struct json *j, const struct page_rows *r, const char *key,
                                enum amount which)
{
    column_begin(j, key);
    for (uint32_t i = 0; i < r->measured; i++) {
        const struct flat_row *f = r->all.at[i].flat;
        const double amounts[] = {[AMOUNT_SELF] = f->self,
                                  [AMOUNT_TOTAL] = f->total,
                                  [AMOUNT_LOW] = f->interval.low,
                                  [AMOUNT_HIGH] = f->interval.high};
        column_samples(j, amounts[which]);
    }
    json_end(j);
}

static void profile_functions_data(struct json *j, const struct page_rows *r,
                                   struct measured_sources *files)
{
    json_key(j, "functions"), json_begin(j, '{');
    json_pair_u64(j, "measured", r->measured);
    column_begin(j, "kind");
    for (size_t i = 0; i < r->all.len; i++)
        json_u64(j, r->all.at[i].kind);
    json_end(j);
    profile_names_data(j, r);
    profile_order_data(j, r);
    profile_object_data(j, r);
    profile_place_data(j, r, files);
    profile_amount_data(j, r, "self", AMOUNT_SELF);
    profile_amount_data(j, r, "total", AMOUNT_TOTAL);
    profile_amount_data(j, r, "low", AMOUNT_LOW);
    profile_amount_data(j, r, "high", AMOUNT_HIGH);
    column_begin(j, "calls");
    for (uint32_t i = 0; i < r->measured; i++)
        column_count(j, r->all.at[i].flat->calls);
    json_end(j);
    column_begin(j, "recursive");
    for (uint32_t i = 0; i < r->measured; i++)
        column_count(j, r->all.at[i].flat->recursive_calls);
    json_end(j);
    column_begin(j, "cycle");
    for (size_t i = 0; i < r->all.len; i++) {
        const struct page_row *row = &r->all.at[i];
        json_u64(j, row->kind == ROW_CYCLE ? row->function
                    : row->flat            ? r->profile->graph->cycle_of[row->function]
                                           : 0);
    }
    json_end(j);
    json_end(j);
}

/* --- calls ----------------------------------------------------------------------------------- */

#define ARC_COLUMN(j, r, key, write)                                     \
    do {                                                                 \
        column_begin(j, key);                                            \
        for (uint32_t i = 0; i < (r)->profile->graph->arcs_len; i++) {   \
            const struct graph_arc *arc = &(r)->profile->graph->arcs[i]; \
            write;                                                       \
        }                                                                \
        json_end(j);                                                     \
    } while (0)

/* How many there are: what the page must know of them before it needs them. */
static void profile_arcs_data(struct json *j, const struct page_rows *r)
{
    json_key(j, "arcs"), json_begin(j, '{');
    json_pair_u64(j, "all", r->profile->graph->arcs_len);
    json_end(j);
}

void calls_data(struct json *j, const struct page_rows *r)
{
    json_begin(j, '{');
    profile_pair_bool(j, "is_measured", r->profile->graph->is_measured);
    ARC_COLUMN(j, r, "caller", column_index(j, r->of[arc->caller]));
    ARC_COLUMN(j, r, "callee", column_index(j, r->of[arc->callee]));
    ARC_COLUMN(j, r, "count", column_count(j, arc->count));
    ARC_COLUMN(j, r, "self", column_part(j, arc->self));
    ARC_COLUMN(j, r, "children", column_part(j, arc->children));
    json_end(j);
}

/* --- paths ----------------------------------------------------------------------------------- */

static void profile_stack_paths(struct json *j, const struct page_rows *r)
{
    column_begin(j, "parent");
    for (uint32_t i = 0; i < r->tree.len; i++)
        json_u64(j, r->tree.nodes[i].parent);
    json_end(j);
    column_begin(j, "function");
    for (uint32_t i = 0; i < r->tree.len; i++)
        column_index(j, i ? r->of[r->tree.nodes[i].function] : UINT32_MAX);
    json_end(j);
    column_begin(j, "self");
    for (uint32_t i = 0; i < r->tree.len; i++)
        column_samples(j, r->tree.nodes[i].self);
    json_end(j);
}

static void profile_model_paths(struct json *j, const struct page_rows *r)
{
    const struct model_paths *m = &r->model;
    column_begin(j, "parent");
    for (size_t i = 0; i < m->frames.len; i++)
        json_u64(j, m->frames.at[i].parent);
    json_end(j);
    column_begin(j, "function");
    for (size_t i = 0; i < m->frames.len; i++)
        column_index(j, i ? page_row_of_node(r, m->frames.at[i].node) : UINT32_MAX);
    json_end(j);
    column_begin(j, "self");
    for (size_t i = 0; i < m->frames.len; i++)
        column_samples(j, m->frames.at[i].self);
    json_end(j);
    column_begin(j, "estimate");
    for (size_t i = 0; i < m->frames.len; i++)
        json_u64(j, m->frames.at[i].is_estimate);
    json_end(j);
}

static void profile_paths_data(struct json *j, const struct page_rows *r)
{
    json_key(j, "paths"), json_begin(j, '{');
    if (r->has_stacks)
        profile_stack_paths(j, r);
    else
        profile_model_paths(j, r);
    json_end(j);
}

void profile_data(struct json *j, const struct page_rows *r, struct measured_sources *files)
{
    profile_summary_data(j, r->profile);
    profile_doctor_data(j, r->profile->diagnosis);
    profile_functions_data(j, r, files);
    profile_arcs_data(j, r);
    profile_paths_data(j, r);
    timeline_data(j, r);
    base_data(j, r);
}
