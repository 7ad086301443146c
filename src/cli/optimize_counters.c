/* monarc optimize --for gcda: counters for gcc's -fprofile-use.
 *
 *     use: counters of 12 objects, 340 functions, 3 runs       what was written
 *     2 functions lost theirs, 1.61 % of all counts            what gcc will not know
 *       share  function
 *      1.61 %  work  (changed)  main.c:12
 *     also: use/drifted.afdo ...                              what of it a profile by line can say
 *     next: gcc -O2 -fprofile-use=use
 *
 * The first and the last line are what a user acts on. With --explain, functions that only moved
 * are listed as well: their counters are kept. */
#include "cli/optimize.h"

#include "base/path.h"
#include "session/use_counters.h"

#include <inttypes.h>

static const char *state_text(enum use_state state)
{
    static const char *const TEXTS[] = {
        [USE_MOVED] = "moved", [USE_CHANGED] = "changed", [USE_GONE] = "gone"};
    return TEXTS[state];
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* Functions that are not as they were: those that lost counters and, on request, those that moved,
 * which are the last ones of the list. */
static void counters_table(const struct use_counters *u, const struct optimize_request *r,
                           struct out *out)
{
    bool has_head = false;
    for (size_t i = 0; i < u->functions.len && i < r->limit; i++) {
        const struct use_function *f = &u->functions.at[i];
        if (f->state == USE_MOVED && !r->explains)
            break;
        if (!has_head)
            out_str(out, "    share  function\n");
        has_head = true;
        out_printf(out, "%7.2f %%  ", share_of(f->count, u->count));
        text_name(out, f->name);
        out_printf(out, "  (%s)  ", state_text(f->state));
        text_name(out, f->source);
        out_printf(out, ":%" PRIu32, f->line);
        if (f->new_line && f->new_line != f->line)
            out_printf(out, ", now :%" PRIu32, f->new_line);
        out_char(out, '\n');
    }
}

/* What there is comes first, then what is missing of it, and what to do last. */
static void counters_text(const struct use_counters *u, const struct optimize_request *r,
                          struct out *out)
{
    uint64_t lost = u->changed + u->gone;
    if (r->output)
        out_printf(out, "%s: counters", r->output);
    else
        out_str(out, "counters");
    out_printf(out,
               " of %" PRIu64 " object%s, %" PRIu64 " function%s, %" PRIu32 " run%s with %" PRIu64
               " as the sum of their largest counts\n",
               u->written, text_plural(u->written), u->kept, text_plural(u->kept), u->runs,
               text_plural(u->runs), u->sum_max);
    if (u->unmatched)
        out_printf(out, "%" PRIu64 " object%s left out: %s has no notes of %s\n", u->unmatched,
                   u->unmatched == 1 ? " is" : "s are", r->against, u->unmatched_path);
    if (u->moved)
        out_printf(out, "%" PRIu64 " function%s moved, and kept %s counters\n", u->moved,
                   text_plural(u->moved), u->moved == 1 ? "its" : "their");
    if (lost)
        out_printf(out, "%" PRIu64 " function%s lost %s counters, %.2f %% of all counts\n", lost,
                   text_plural(lost), lost == 1 ? "its" : "their", share_of(u->lost, u->count));
    counters_table(u, r, out);
    if (u->drifted)
        out_printf(out,
                   "also: %s, by function and line; for the %" PRIu64
                   " object%s with such functions: -fauto-profile=FILE instead of -fprofile-use\n",
                   u->drifted, u->drifted_objects, text_plural(u->drifted_objects));
    if (r->output && path_has_suffix(r->output, ".gcda"))
        out_str(out, "next: gcc -O2 -fprofile-use, with the file next to the object\n");
    else if (r->output)
        out_printf(out, "next: gcc -O2 -fprofile-use=%s\n", r->output);
}

/* docs/schema/optimize_counters.schema.json. */
static void counters_json(const struct use_counters *u, const struct optimize_request *r,
                          struct out *out)
{
    struct json j = {.out = out};
    json_document_begin(&j, "optimize_counters");
    json_pair_str(&j, "output", r->output);
    json_pair_u64(&j, "objects", u->written);
    json_pair_u64(&j, "objects_without_notes", u->unmatched);
    json_pair_u64(&j, "functions", u->kept);
    json_pair_u64(&j, "functions_moved", u->moved);
    json_pair_u64(&j, "functions_changed", u->changed);
    json_pair_u64(&j, "functions_gone", u->gone);
    json_pair_u64(&j, "runs", u->runs);
    json_pair_u64(&j, "sum_max", u->sum_max);
    json_pair_u64(&j, "counts", u->count);
    json_pair_u64(&j, "counts_lost", u->lost);
    json_pair_str(&j, "drifted", u->drifted);
    JSON_ROWS(&j, "drift", i, u->functions.len) {
        const struct use_function *f = &u->functions.at[i];
        json_pair_str(&j, "name", f->name);
        json_pair_str(&j, "file", f->source);
        json_pair_u64(&j, "line", f->line);
        json_pair_str(&j, "state", state_text(f->state));
        json_pair_u64(&j, "count", f->count);
    }
    json_end(&j);
}

/* Writes the counters, and reports; without an output it only reports what would be written. */
bool optimize_counters(const struct optimize_request *r, struct out *out, struct err *e)
{
    struct use_counters u = {.objects = 0};
    const struct use_request request = {.inputs = r->source.inputs,
                                        .inputs_len = r->source.inputs_len,
                                        .against = r->against,
                                        .output = r->output,
                                        .gcc = (uint32_t)r->gcc,
                                        .is_forced = r->view.session.is_forced};
    if (r->source.program)
        return err_in(e, r->source.program, "is not needed: notes say whose counters they are");
    bool ok = use_counters_write(&u, &request, e);
    if (ok && r->view.print.format)
        counters_json(&u, r, out);
    else if (ok)
        counters_text(&u, r, out);
    use_counters_deinit(&u);
    return ok;
}
