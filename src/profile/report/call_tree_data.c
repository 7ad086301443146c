/* Trees of recorded stacks for programs: JSON and CSV. Names are whole. */
#include "profile/report/call_tree.h"

#include "output/json.h"
#include "profile/report/summary.h"

static const char *direction_name(enum call_direction direction)
{
    static const char *const NAMES[] = {
        [CALLS_FROM_ROOT] = "tree", [CALLS_BELOW] = "callees", [CALLS_OUTWARDS] = "callers"};
    return NAMES[direction];
}

static void json_frame(struct json *j, const struct call_report *r, uint32_t function)
{
    const struct function *f = &r->names->functions->at[function];
    json_pair_function(j, r->names, function);
    json_key(j, "is_inlined"), json_bool(j, function >= r->frames->first_inlined);
    if (f->file)
        json_pair_str(j, "file", f->file);
    if (f->file && f->line)
        json_pair_u64(j, "line", f->line);
}

static void json_row(struct json *j, const struct call_report *r, const struct call_row *row)
{
    json_begin(j, '{');
    json_pair_u64(j, "depth", row->depth);
    json_pair_str(j, "kind", row->folded ? "folded" : "function");
    if (row->folded)
        json_pair_u64(j, "folded", row->folded);
    else
        json_frame(j, r, row->function);
    json_pair_double(j, "share", summary_share(r->summary, row->total));
    json_pair_double(j, "total_samples", row->total);
    json_pair_double(j, "self_samples", row->self);
    json_end(j);
}

static void json_tree(struct json *j, const struct call_report *r, size_t number)
{
    const struct call_rows *t = &r->trees[number];
    json_begin(j, '{');
    if (r->functions[number] != NO_FUNCTION)
        json_pair_function(j, r->names, r->functions[number]);
    json_pair_double(j, "samples", t->covered);
    json_key(j, "is_cut"), json_bool(j, t->is_cut);
    json_key(j, "rows"), json_begin(j, '[');
    for (size_t i = 0; i < t->len; i++)
        json_row(j, r, &t->rows[i]);
    json_end(j);
    json_end(j);
}

void call_tree_json(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct json j = {.out = out};
    json_report_begin(&j, "call_tree", r->summary);
    json_pair_str(&j, "direction", direction_name(r->trees->direction));
    json_pair_double(&j, "stack_samples", r->trees->whole);
    json_key(&j, "trees"), json_begin(&j, '[');
    for (size_t i = 0; i < r->len; i++)
        json_tree(&j, r, i);
    json_end(&j);
    json_end(&j);
}

static void csv_row(struct csv *c, const struct call_report *r, const struct call_row *row)
{
    csv_u64(c, row->depth);
    csv_str(c, row->folded ? "folded" : "function");
    if (row->folded) {
        csv_none(c), csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    } else {
        const struct functions *f = r->names->functions;
        csv_str(c, names_get(r->names, row->function));
        csv_str(c, f->at[row->function].name);
        csv_address(c, function_link_address(f, row->function));
        csv_str(c, function_object_label(f, row->function));
        csv_u64(c, row->function >= r->frames->first_inlined);
    }
    csv_double(c, summary_share(r->summary, row->total));
    csv_double(c, row->total);
    csv_double(c, row->self);
    csv_u64(c, row->folded);
    csv_end(c);
}

void call_tree_csv(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct csv c = {.out = out};
    csv_header(&c,
               "tree,depth,kind,name,linkage_name,address,object,is_inlined,share,total_samples,"
               "self_samples,folded");
    for (size_t i = 0; i < r->len; i++)
        for (size_t k = 0; k < r->trees[i].len; k++) {
            csv_u64(&c, i + 1);
            csv_row(&c, r, &r->trees[i].rows[k]);
        }
}
