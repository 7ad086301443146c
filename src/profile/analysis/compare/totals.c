/* The runs as a whole: did the program get slower, and does it take more memory?
 *
 * The kernel measures a run's CPU time to the microsecond, so that only what runs differ by stands
 * between two of them. With one run a side that is assumed (rules.noise, and some milliseconds);
 * with several it is what the runs show, in parts of their mean, both sides together. Elapsed time
 * depends on everything that the machine does besides, and is not judged of fewer than three runs a
 * side. Counts that are exact, as that of processes, changed if those of the sides' runs do not
 * overlap. */
#include "profile/analysis/compare/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEAST_RUNS_ELAPSED = 3 };

/* What two runs differ by even if they take no time: ticks, starting, a page more or less. */
#define FLOOR_SECONDS 1e-2
#define FLOOR_BYTES   3e4

const char *const total_verdict_names[] = {[TOTAL_SAME] = "same",
                                           [TOTAL_UNSEEN] = "no change seen",
                                           [TOTAL_MORE] = "more",
                                           [TOTAL_LESS] = "less",
                                           [TOTAL_UNJUDGED] = "not judged"};

struct total_words {
    const char *name, *label;
    enum noise_kind noise;
    bool is_exact, needs_runs;
    const char *more, *less;
};

static const struct total_words WORDS[] = {
    {"cpu_time", "CPU time", NOISE_CODE, false, false, "slower", "faster"},
    {"elapsed_time", "Elapsed time", NOISE_KERNEL, false, true, "slower", "faster"},
    {"peak_memory", "Peak memory", NOISE_MEMORY, false, false, "more", "less"},
    {"processes", "Processes", NOISE_CODE, true, false, "more", "fewer"},
};

/* Of an event: instructions vary little, faults and cache misses as the kernel's time does. */
static struct total_words total_words_of(const char *name)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(WORDS[i].name, name))
            return WORDS[i];
    bool is_steady = strstr(name, "instructions") || strstr(name, "cycles");
    return (struct total_words){name,   name,   is_steady ? NOISE_CODE : NOISE_KERNEL, false, false,
                                "more", "fewer"};
}

static struct amount total_amount(const struct side_total *t)
{
    double mean = t->values.sum / t->runs;
    return (struct amount){.mean = mean,
                           .base = mean,
                           .squares = fmax(0, t->values.squares - mean * t->values.sum),
                           .hits = INFINITY,
                           .runs = t->runs};
}

/* "slower by 12.4 % +- 1.1", in percent of the old amount, with as many digits as the margin
 * deserves. */
static const char *total_change_text(const struct total_change *t, const struct total_words *w,
                                     struct arena *a)
{
    const char *word = t->verdict == TOTAL_MORE ? w->more : w->less;
    double change = fabs(t->new - t->old), percent = 100 * change / t->old;
    double margin = 100 * t->difference.margin / t->old;
    if (!(t->old > 0))
        return arena_printf(a, "%s: there was nothing before", word);
    if (w->is_exact)
        return arena_printf(a, "%.*f %s", change == floor(change) ? 0 : 1, change, word);
    int digits = margin < 0.1 ? 2 : margin < 9.95 ? 1 : 0;
    return arena_printf(a, "%s by %.*f %% +- %.*f", word, digits, percent, digits, margin);
}

static const char *total_unseen_text(const struct total_change *t, struct arena *a)
{
    double most = fabs(t->new - t->old) + t->difference.margin;
    double percent = t->old > 0 ? 100 * most / t->old : INFINITY;
    if (isinf(percent))
        return "no change can be seen";
    if (percent >= 100)
        return arena_printf(a, "too short to judge: even %.2g times as much would not be seen",
                            1 + percent / 100);
    return arena_printf(a, "no change larger than %.*f %% can be seen", percent < 9.95 ? 1 : 0,
                        percent);
}

static const char *total_few_runs(uint32_t runs, struct arena *a)
{
    const char *has = runs == 1   ? "one run a side"
                      : runs == 2 ? "two runs a side"
                                  : arena_printf(a, "%" PRIu32 " runs a side", runs);
    return arena_printf(a, "%s: at least three are needed to judge elapsed time", has);
}

static void total_judge(struct total_change *t, const struct comparison *c,
                        const struct total_words *w, struct arena *a)
{
    struct amount old = total_amount(t->of_old), new = total_amount(t->of_new);
    struct noise noise;
    uint32_t runs = old.runs < new.runs ? old.runs : new.runs;
    noise_assume(&noise, c->rules.noise, c->rules.confidence);
    noise.floor[w->noise] = t->unit == TOTAL_SECONDS ? FLOOR_SECONDS
                            : t->unit == TOTAL_BYTES ? FLOOR_BYTES
                                                     : 0;
    difference_make(&t->difference, &old, &new, &noise, w->noise);
    bool is_more = t->new > t->old;
    if (w->needs_runs && runs < LEAST_RUNS_ELAPSED) {
        t->verdict = TOTAL_UNJUDGED;
        t->text = total_few_runs(runs, a);
        return;
    }
    if (w->is_exact) {
        t->difference.margin = 0;
        bool overlaps = t->of_old->most >= t->of_new->least && t->of_new->most >= t->of_old->least;
        t->verdict = overlaps ? TOTAL_SAME : is_more ? TOTAL_MORE : TOTAL_LESS;
        t->is_found = !overlaps;
        t->text = overlaps ? (t->old == t->new ? "the same" : "the same within the runs")
                           : total_change_text(t, w, a);
        return;
    }
    t->chance = difference_chance(&t->difference);
    if (t->chance >= 1 - c->rules.confidence) {
        t->verdict = TOTAL_UNSEEN;
        t->text = t->old == t->new && !(t->old > 0) ? "the same" : total_unseen_text(t, a);
        return;
    }
    t->verdict = is_more ? TOTAL_MORE : TOTAL_LESS;
    t->text = total_change_text(t, w, a);
    t->is_found = !(t->old > 0) || fabs(t->new - t->old) / t->old >= c->rules.least;
    if (!t->is_found)
        t->text = arena_printf(a, "%s, which is below --min-change", t->text);
}

static void comparison_add_total(struct comparison *c, const struct side_total *old,
                                 struct arena *a)
{
    const struct side_total *new = side_total_of(c->new, old->name);
    /* what only some runs of a side know is not of the side */
    if (!new || old->runs != c->old->runs || new->runs != c->new->runs)
        return;
    struct total_words w = total_words_of(old->name);
    struct total_change t = {.of_old = old,
                             .of_new = new,
                             .name = old->name,
                             .label = w.label,
                             .unit = old->unit,
                             .old = old->values.sum / old->runs,
                             .new = new->values.sum / new->runs,
                             .chance = -1};
    if (t.unit == TOTAL_COUNT && t.old == 0 && t.new == 0)
        return;
    total_judge(&t, c, &w, a);
    c->totals_changed += t.is_found;
    vec_push(&c->totals, t);
}

void comparison_judge_totals(struct comparison *c, struct arena *a)
{
    for (size_t i = 0; i < c->old->totals.len; i++)
        comparison_add_total(c, &c->old->totals.at[i], a);
}
