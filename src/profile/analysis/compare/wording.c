/* A comparison in words: the sentence that answers, what a row is besides its name, and the units
 * that amounts are printed in. Text, Markdown, JSON and the page say the same.
 *
 *     New is 1.23 +- 0.05 times as fast: 2.310 s of CPU time instead of 2.840 s; most in memmove,
 *     by -0.490 s
 */
#include "profile/analysis/compare/comparison.h"

#include "base/path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SHOWN_CHANGE = 0.05; /* what it takes to see so much is said */

/* --- amounts --------------------------------------------------------------------------------- */

/* Chosen by the largest self time of either side, once for the whole table: rows of one column must
 * compare without reading units. Events get k and M from 10,000 and 1,000,000 on. */
struct amount_scale comparison_scale(const struct comparison *c)
{
    bool is_time = !strcmp(c->new->dimension, "seconds");
    double most = 0;
    for (uint32_t i = 0; i < c->len; i++)
        most = fmax(most, fmax(c->rows[i].self_time.old, c->rows[i].self_time.new));
    if (is_time && most >= 0.5)
        return (struct amount_scale){1, "s", 3};
    if (is_time)
        return (struct amount_scale){1e3, "ms", 1};
    if (most >= 1e6)
        return (struct amount_scale){1e-6, "M", 3};
    return most >= 1e4 ? (struct amount_scale){1e-3, "k", 3} : (struct amount_scale){1, "", 0};
}

/* Both sides in one unit, chosen by the larger, so that they line up. Averages of counts need not
 * be whole; those that are get no decimals. */
void comparison_total_text(char *into, size_t size, const struct total_change *t, double value)
{
    double most = fmax(t->old, t->new);
    if (t->unit == TOTAL_SECONDS)
        snprintf(into, size, most >= 0.5 ? "%.3f s" : "%.1f ms", most >= 0.5 ? value : 1e3 * value);
    else if (t->unit == TOTAL_BYTES)
        snprintf(into, size,
                 most >= 1e9   ? "%.3f GB"
                 : most >= 1e8 ? "%.1f MB"
                               : "%.2f MB",
                 value / (most >= 1e9 ? 1e9 : 1e6));
    else
        snprintf(into, size, value == floor(value) ? "%.0f" : "%.1f", value);
}

/* --- rows ------------------------------------------------------------------------------------ */

/* "No samples in old" is not "new": a function that was not sampled may well have been there, and
 * short functions come and go by chance. Only counted calls prove that code did not run. For what
 * was moved the file is named if its last part differs, else the object it came from. */
const char *comparison_remark(const struct comparison *c, const struct change *row, struct arena *a)
{
    bool is_counted = c->compares_calls && row->old_calls + row->new_calls > 0;
    if (row->kind == CHANGE_NEW)
        return is_counted ? "new" : "no samples in old";
    if (row->kind == CHANGE_GONE)
        return is_counted ? "gone" : "no samples in new";
    if (row->old == NO_FUNCTION || row->new == NO_FUNCTION) /* of code that no build has */
        return "";
    const struct identity *old = &c->old->ids.at[row->old];
    const struct identity *new = &c->new->ids.at[row->new];
    if (row->kind == CHANGE_KEPT && old->is_inlined != new->is_inlined)
        return old->is_inlined ? "was inlined" : "not inlined in old";
    if (row->kind == CHANGE_KEPT)
        return "";
    if (row->kind == CHANGE_RENAMED) {
        const char *shown = c->old->functions[row->old].shown;
        return arena_printf(a, "was %s", shown ? shown : old->name);
    }
    bool has_file =
        old->file && new->file &&strcmp(path_tail(old->file, 1), path_tail(new->file, 1));
    const char *from = has_file      ? path_tail(old->file, 1)
                       : old->object ? old->object
                                     : "the program";
    return arena_printf(a, "was in %s", from);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* "in parse, by -1.2 +- 0.4 s" of the function whose self time changed most, of those that changed
 * for certain; or NULL. */
static const char *comparison_most(const struct comparison *c, struct arena *a)
{
    const struct change *most = NULL;
    double change = 0;
    for (uint32_t i = 0; i < c->len; i++) {
        const struct measured_change *self = change_self(c, &c->rows[i]);
        if (self->is_meant && fabs(self->new - self->old) > fabs(change)) {
            change = self->new - self->old;
            most = &c->rows[i];
        }
    }
    if (!most)
        return NULL;
    struct amount_scale scale = comparison_scale(c);
    double factor = c->by_share ? 100 : scale.factor, off = factor * change_self(c, most)->margin;
    int digits = c->by_share ? 2 : scale.digits; /* two of the margin, at most */
    if (off > 0)
        digits = (int)fmax(0, fmin(digits, 1 - floor(log10(off))));
    const char *about = off > 0 ? arena_printf(a, " +- %.*f", digits, off) : "";
    const char *by = arena_printf(a, "%+.*f%s %s", digits, factor * change, about,
                                  c->by_share ? "points" : scale.unit);
    return arena_printf(a, "in %s, by %s", change_name(c, most), by);
}

/* A ratio that may be 1 is none: then the sentence says how large a change would have been seen,
 * and how many runs it takes to see one that people care about. */
const char *comparison_answer(const struct comparison *c, struct arena *a)
{
    const struct total_change *t = NULL;
    for (size_t i = 0; i < c->totals.len && !t; i++)
        t = strcmp(c->totals.at[i].name, "cpu_time") ? NULL : &c->totals.at[i];
    const char *most = comparison_most(c, a);
    if (!t && (comparison_side_is_part(c->old) || comparison_side_is_part(c->new)))
        return arena_printf(a, "Parts of two runs, compared by shares of time: %s%s",
                            most ? "most changed " : "no function changed for certain",
                            most ? most : "");
    bool is_empty = !(c->old->samples > 0) && !(c->new->samples > 0) && !c->compares_calls;
    if (!t)
        return is_empty ? "Nothing to compare: neither side has samples" : NULL;
    char old[32], new[32];
    comparison_total_text(old, sizeof old, t, t->old);
    comparison_total_text(new, sizeof new, t, t->new);
    if (!t->is_found || t->old <= 0 || t->new <= 0) {
        bool is_unseen = t->of_old->runs > 1 && t->of_new->runs > 1 && t->verdict == TOTAL_UNSEEN;
        double needed = is_unseen
                            ? runs_needed(&t->difference, fmin(t->of_old->runs, t->of_new->runs),
                                          SHOWN_CHANGE * t->old)
                            : 0;
        const char *first = arena_printf(a, "CPU time %s, was %s: %s", new, old, t->text);
        return needed > 0 ? arena_printf(a, "%s; about %.0f runs a side would show %.0f %%", first,
                                         needed, 100 * SHOWN_CHANGE)
                          : first;
    }
    bool is_faster = t->new < t->old;
    double base = is_faster ? t->new : t->old,
           ratio = is_faster ? t->old / t->new : t->new / t->old;
    double margin = t->difference.margin / base * (is_faster ? ratio : 1);
    /* The side that is next to nothing makes any ratio: then the least one is what is known. */
    bool is_vague = margin >= ratio / 2;
    if (is_vague)
        ratio = is_faster ? t->old / (t->new + t->difference.margin)
                          : (t->new - t->difference.margin) / t->old;
    int digits = margin >= 3.55 ? 0 : margin >= 0.355 ? 1 : 2; /* by the rule of reports */
    digits = is_vague && ratio < 10 ? 1 : digits;
    const char *sure = margin >= 0 && !is_vague ? arena_printf(a, " +- %.*f", digits, margin) : "";
    const char *answer = arena_printf(
        a, "New %s %s%.*f%s times as %s: %s of CPU time instead of %s", is_faster ? "is" : "takes",
        is_vague ? "at least " : "", digits, ratio, sure, is_faster ? "fast" : "long", new, old);
    return most ? arena_printf(a, "%s; most %s", answer, most) : answer;
}
