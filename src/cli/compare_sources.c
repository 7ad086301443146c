/* monarc diff of profiles for compilers: what two of them share, or how much of one a program can
 * still use.
 *
 *     diff OLD NEW           45.45 % of the counts are at the same places
 *     diff PROGRAM PROFILE   94.63 % of the counts in prog.afdo are at code of ./prog
 *                            functions: 2, changed: 1, gone: 1
 *                                share     lost  function
 *                              36.84 %  100.00 %  other  (gone)
 *
 * The second is for the moment between an edit and the next measurement: is the profile still worth
 * a build? With --fail-below P, that is an exit status for scripts. */
#include "cli/compare_sources.h"

#include "cli/cli.h"
#include "profile/analysis/source_fit.h"
#include "profile/report/info.h"
#include "session/source_profiles.h"

#include <inttypes.h>

/* A part of nothing is none. */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static const char *const STATES[] = {
    [SOURCE_FITS] = "fits", [SOURCE_CHANGED] = "changed", [SOURCE_GONE] = "gone"};

/* Two lines for the whole, then functions by what they lost. */
static void fit_text(struct out *out, const struct source_fit *fit, const char *program,
                     const char *profile, uint64_t limit)
{
    out_printf(out, "%.2f %% of the counts in ", 100 * (1 - share(fit->lost, fit->count)));
    text_name(out, profile);
    out_str(out, " are at code of ");
    text_name(out, program);
    out_printf(out, "\nfunctions: %zu, changed: %" PRIu64 ", gone: %" PRIu64 "\n",
               fit->functions.len, fit->changed, fit->gone);
    if (fit->functions.len)
        out_str(out, "\n   share      lost  function\n");
    for (size_t i = 0; i < fit->functions.len && (!limit || i < limit); i++) {
        const struct source_fit_function *f = &fit->functions.at[i];
        /* Counts of lines that have no code any more, or have moved within their function. */
        uint64_t lost =
            f->state == SOURCE_GONE ? f->count : add_saturating(f->without, f->at_another);
        out_printf(out, "%6.2f %%  %6.2f %%  ", 100 * share(f->count, fit->count),
                   100 * share(lost, f->count));
        text_name(out, f->name);
        if (f->state != SOURCE_FITS)
            out_printf(out, "  (%s)", STATES[f->state]);
        out_char(out, '\n');
    }
    if (limit && fit->functions.len > limit) {
        out_spaces(out, 20);
        text_more(out, fit->functions.len - limit, "function", "--all");
    }
}

/* docs/schema/diff_source_fit.schema.json. */
static void fit_json(struct out *out, const struct source_fit *fit, const char *program,
                     const char *profile)
{
    struct json j = {.out = out};
    json_document_begin(&j, "diff_source_fit");
    json_pair_str(&j, "program", program);
    json_pair_str(&j, "profile", profile);
    json_pair_double(&j, "fits", 1 - share(fit->lost, fit->count));
    json_pair_u64(&j, "counts", fit->count);
    json_pair_u64(&j, "counts_lost", fit->lost);
    json_pair_u64(&j, "functions_changed", fit->changed);
    json_pair_u64(&j, "functions_gone", fit->gone);
    JSON_ROWS(&j, "functions", i, fit->functions.len) {
        const struct source_fit_function *f = &fit->functions.at[i];
        json_pair_str(&j, "name", f->name);
        json_pair_str(&j, "state", STATES[f->state]);
        json_pair_u64(&j, "count", f->count);
        json_pair_u64(&j, "without_code", f->without);
        json_pair_u64(&j, "at_another_line", f->at_another);
    }
    json_end(&j);
}

/* How much of a profile a program can use, in *shared, 0 to 1. */
static bool compare_program(const struct source_comparison *c, char *const *names, double *shared,
                            struct out *out, struct err *e)
{
    struct source_profile p = {.files = {0}};
    struct source_fit fit = {.count = 0};
    struct functions functions;
    struct arena arena = {0};
    const struct source_format *format = NULL;
    struct object *object =
        object_open(names[0], &(struct object_options){.debug_dir = c->debug_dir}, NULL, e);
    bool ok = object && source_profile_load(names[1], &p, &format, NULL, e);
    if (ok && source_format_is_by_address(format))
        ok = err_in(e, names[1], "is a profile of BOLT, whose addresses fit no other build");
    if (ok && !object_has_debug_info(object))
        ok = object_lacks_lines(object, names[0], ", which positions are looked up in", e);
    if (ok) {
        functions_native(&functions, object, &arena);
        functions_keep_pieces(&functions);
        source_fit_make(&fit, &p, object, &functions);
        *shared = 1 - share(fit.lost, fit.count);
        if (c->is_json)
            fit_json(out, &fit, names[0], names[1]);
        else
            fit_text(out, &fit, names[0], names[1], c->limit);
    }
    source_fit_deinit(&fit);
    source_profile_deinit(&p);
    if (object)
        object_close(object);
    arena_deinit(&arena);
    return ok;
}

/* Two profiles; *shared is the part of the counts that both have at the same places, 0 to 1. */
static bool compare_profiles(const struct source_comparison *c, char *const *names, double *shared,
                             struct out *out, struct err *e)
{
    struct source_profile sides[2] = {{.files = {0}}, {.files = {0}}};
    struct source_overlap overlap;
    struct arena scratch = {0};
    bool ok = source_profile_load(names[0], &sides[0], NULL, NULL, e) &&
              source_profile_load(names[1], &sides[1], NULL, NULL, e);
    if (ok) {
        source_profile_overlap(&sides[0], &sides[1], &overlap, &scratch);
        struct source_compared compared = {names[0], names[1], &overlap};
        struct json j = {.out = out};
        *shared = overlap.common;
        if (c->is_json)
            source_compared_json(&j, &compared);
        else
            source_compared_text(out, &compared, c->limit);
    }
    source_profile_deinit(&sides[0]);
    source_profile_deinit(&sides[1]);
    arena_deinit(&scratch);
    return ok;
}

/* The first operand decides: a program is looked up in, anything else is an older profile. */
int compare_sources(const struct source_comparison *c, char *const *names, struct out *out,
                    struct err *e)
{
    const double ROUNDED = 1e-9; /* in percent: the rounding error of sums of many shares */
    double shared = 0;
    bool ok = is_program(names[0]) ? compare_program(c, names, &shared, out, e)
                                   : compare_profiles(c, names, &shared, out, e);
    return !ok ? EXIT_BAD : 100 * shared + ROUNDED < (double)c->least ? EXIT_DIFFERS : EXIT_FINE;
}
