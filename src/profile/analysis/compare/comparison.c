/* A comparison of two sets of runs: rows, probabilities, what is found, its order, and the runs as
 * a whole.
 *
 * 1. Rows: functions that were measured on either side, matched by match.c.
 * 2. Probabilities: of the four amounts of a row (self and total, as time and as share), each by
 * the noise that all rows of its kind show together (significance.h), then corrected for how many
 * were asked about.
 * 3. Findings: changes that are unlikely to be chance and large enough to matter, and calls that
 * differ. Totals speak where no self time does; new and gone functions only if calls were counted,
 * since samples fall into a small function or do not.
 * 4. Order and limit.
 * 5. The whole: CPU time, elapsed time, memory, events.
 *
 * `baseline` is the same looked up from the new side, for reports that show the old one beside
 * their rows. */
#include "profile/analysis/compare/comparison.h"

#include "base/sort.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const change_kind_names[] = {[CHANGE_KEPT] = "kept",
                                         [CHANGE_NEW] = "new",
                                         [CHANGE_GONE] = "gone",
                                         [CHANGE_MOVED] = "moved",
                                         [CHANGE_RENAMED] = "renamed"};

const struct identity *change_identity(const struct comparison *c, const struct change *row)
{
    return row->new != NO_FUNCTION ? &c->new->ids.at[row->new] : &c->old->ids.at[row->old];
}

const char *change_name(const struct comparison *c, const struct change *row)
{
    if (row->new != NO_FUNCTION && c->new->functions[row->new].shown)
        return c->new->functions[row->new].shown;
    if (row->old != NO_FUNCTION && c->old->functions[row->old].shown)
        return c->old->functions[row->old].shown;
    return change_identity(c, row)->name;
}

double change_calls_growth(const struct change *row)
{
    if (row->old_calls == row->new_calls)
        return 0;
    return row->old_calls > 0 ? row->new_calls / row->old_calls - 1 : INFINITY;
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool comparison_is_measured(const struct comparison *c, uint32_t old, uint32_t new)
{
    return (old != NO_FUNCTION && c->old->functions[old].shown) ||
           (new != NO_FUNCTION && c->new->functions[new].shown);
}

/* Rows that stand for something other than a function have no build to be new in. */
static bool comparison_has_builds(const struct identity *id)
{
    return !id->is_made || id->build;
}

/* How a row's function stands to the other build. */
static enum change_kind comparison_kind(const struct comparison *c, uint32_t old, uint32_t new)
{
    static const enum change_kind OF_MATCH[] = {
        [MATCH_SAME] = CHANGE_KEPT, [MATCH_MOVED] = CHANGE_MOVED, [MATCH_RENAMED] = CHANGE_RENAMED};
    if (old == NO_FUNCTION)
        return comparison_has_builds(&c->new->ids.at[new]) ? CHANGE_NEW : CHANGE_KEPT;
    if (new == NO_FUNCTION)
        return comparison_has_builds(&c->old->ids.at[old]) ? CHANGE_GONE : CHANGE_KEPT;
    return OF_MATCH[c->match.kind[new]];
}

/* Whether the calls of any run of one side are more than those of every run of the other. */
static bool comparison_calls_differ(const struct comparison *c, const struct change *row)
{
    static const struct run_set_function NOTHING = {0};
    const struct run_set_function *o =
        row->old == NO_FUNCTION ? &NOTHING : &c->old->functions[row->old];
    const struct run_set_function *n =
        row->new == NO_FUNCTION ? &NOTHING : &c->new->functions[row->new];
    uint64_t least_old = o->runs < c->old->runs ? 0 : o->least_calls;
    uint64_t least_new = n->runs < c->new->runs ? 0 : n->least_calls;
    return n->most_calls < least_old || o->most_calls < least_new;
}

/* A row of what is exact: its kind, and its calls. */
static struct change comparison_row(const struct comparison *c, uint32_t old, uint32_t new)
{
    struct change row = {.old = old,
                         .new = new,
                         .kind = comparison_kind(c, old, new),
                         .old_calls = run_set_calls(c->old, old),
                         .new_calls = run_set_calls(c->new, new)};
    row.calls_differ = c->compares_calls && comparison_calls_differ(c, &row);
    return row;
}

/* --- chances --------------------------------------------------------------------------------- */

/* How long threads had no CPU, or were stopped: that is up to what else the machine and others did.
 */
static bool comparison_is_imposed(const struct identity *id)
{
    return id->is_made && (!strcmp(id->name, "[ready to run]") || !strcmp(id->name, "[stopped]"));
}

static bool comparison_is_wait(const struct identity *id)
{
    return id->is_made && function_name_is_wait(id->name);
}

enum noise_kind comparison_noise_kind(const struct comparison *c, const struct change *row)
{
    const struct identity *id = change_identity(c, row);
    const char *object = id->object ? id->object : "";
    bool is_kernel = (id->is_made && !strncmp(id->name, "[kernel", 7)) || comparison_is_wait(id) ||
                     !strncmp(object, "[kernel", 7);
    return is_kernel ? NOISE_KERNEL : NOISE_CODE;
}

bool comparison_waits(const struct run_set *s)
{
    return s->facts.len && event_name_is(s->facts.at[0].event, "wall");
}

/* One of the four measured changes of rows. */
struct change_member {
    size_t offset;
    struct amount (*of)(const struct run_set *s, uint32_t function, enum time_kind m);
    enum time_kind measure;
    bool is_judged;
    double least;
};

/* The change that a member describes, in a row. */
static struct measured_change *comparison_change_member(struct change *row,
                                                        const struct change_member *m)
{
    return (struct measured_change *)((char *)row + m->offset);
}

/* Fills one of the four changes of all rows: learns the noise from them, then judges each by it. */
static void comparison_measure(struct comparison *c, struct change *rows, uint32_t len,
                               const struct change_member *m, struct noise *noise, struct arena *a)
{
    struct noise_pair *pairs = ARENA_NEW(a, struct noise_pair, len);
    bool has_waits = false;
    for (uint32_t i = 0; i < len; i++) {
        enum noise_kind kind = comparison_noise_kind(c, &rows[i]);
        pairs[i] = (struct noise_pair){m->of(c->old, rows[i].old, m->measure),
                                       m->of(c->new, rows[i].new, m->measure), kind};
        const struct identity *id = change_identity(c, &rows[i]);
        has_waits |= comparison_is_wait(id) && !comparison_is_imposed(id);
    }
    /* Totals hold what callees waited for, so with waits all of them are as noisy as the kernel. */
    for (uint32_t i = 0; i < len && has_waits && m->measure == TIME_TOTAL; i++)
        pairs[i].kind = NOISE_KERNEL; /* callees wait in it, for whatever others do */
    noise_assume(noise, c->rules.noise, c->rules.confidence);
    noise_learn(noise, pairs, len);
    for (uint32_t i = 0; i < len; i++) {
        struct measured_change *s = comparison_change_member(&rows[i], m);
        struct difference d;
        *s = (struct measured_change){pairs[i].old.mean, pairs[i].new.mean, -1, -1, false};
        const struct identity *id = change_identity(c, &rows[i]);
        if (!m->is_judged || comparison_is_imposed(id) || (c->one_waits && comparison_is_wait(id)))
            continue;
        difference_make(&d, &pairs[i].old, &pairs[i].new, noise, pairs[i].kind);
        s->margin = d.margin;
        s->chance = difference_chance(&d);
    }
    /* Only rows with a detectable difference are tested: the rest has a probability of 1 and would
     * only make the correction stricter. */
    double *chances = ARENA_NEW(a, double, len);
    struct measured_change **asked = ARENA_NEW(a, struct measured_change *, len);
    uint32_t n = 0;
    for (uint32_t i = 0; i < len; i++) {
        struct measured_change *s = comparison_change_member(&rows[i], m);
        if (s->chance < 0 || s->chance >= 1)
            continue;
        chances[n] = s->chance;
        asked[n++] = s;
    }
    chances_adjust(chances, n);
    for (uint32_t i = 0; i < n; i++) {
        asked[i]->chance = chances[i];
        asked[i]->is_meant =
            chances[i] < 1 - c->rules.confidence && fabs(asked[i]->new - asked[i]->old) >= m->least;
    }
}

/* That a function is on one side alone says something only of counted calls: samples fall into
 * small functions of a run or do not. */
static bool comparison_is_counted(const struct comparison *c, const struct change *r)
{
    return c->compares_calls && r->old_calls + r->new_calls > 0;
}

/* Times with callees speak where no time of its own does, but those of main() and whatever else
 * holds nearly everything: the runs' totals say the same. */
static bool comparison_total_speaks(const struct comparison *c, const struct change *r)
{
    const double WHOLE = 0.9;
    return change_total(c, r)->is_meant && (r->total.old < WHOLE || r->total.new < WHOLE);
}

/* --- order ----------------------------------------------------------------------------------- */

struct change_sort {
    const struct comparison *c;
    const struct change *rows;
};

static int comparison_larger_first(double left, double right)
{
    return (left < right) - (left > right);
}

/* Changes of time that are meant, then exact changes of calls, then the rest. */
static int comparison_change_class(const struct comparison *c, const struct change *r)
{
    if (change_self(c, r)->is_meant)
        return 0;
    if (change_total(c, r)->is_meant && r->is_found)
        return 1;
    return r->calls_differ ? 2 : r->is_found ? 3 : 4;
}

static double comparison_change_size(const struct measured_change *s)
{
    return fabs(s->new - s->old);
}

/* The order without a sort option: by class, and within it by the change that put the row there. */
static int comparison_by_importance(const struct comparison *c, const struct change *l,
                                    const struct change *r)
{
    int class = comparison_change_class(c, l), by = class - comparison_change_class(c, r);
    double self = comparison_change_size(change_self(c, l)),
           other_self = comparison_change_size(change_self(c, r));
    double total = comparison_change_size(change_total(c, l)),
           other_total = comparison_change_size(change_total(c, r));
    if (!by && class == 1)
        by = comparison_larger_first(total, other_total);
    if (!by && class != 2)
        by = comparison_larger_first(self, other_self);
    if (!by)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by : comparison_larger_first(total, other_total);
}

/* Larger changes first, equals by name, so that the order is the same each time. */
static int comparison_compare_changes(uint32_t left, uint32_t right, const void *context)
{
    const struct change_sort *s = context;
    const struct comparison *c = s->c;
    const struct change *l = &s->rows[left], *r = &s->rows[right];
    int by = 0;
    if (!c->rules.has_sort)
        by = comparison_by_importance(c, l, r);
    else if (c->rules.sort == BY_SELF)
        by = comparison_larger_first(comparison_change_size(change_self(c, l)),
                                     comparison_change_size(change_self(c, r)));
    else if (c->rules.sort == BY_TOTAL)
        by = comparison_larger_first(comparison_change_size(change_total(c, l)),
                                     comparison_change_size(change_total(c, r)));
    else if (c->rules.sort == BY_CALLS)
        by = comparison_larger_first(fabs(l->new_calls - l->old_calls),
                                     fabs(r->new_calls - r->old_calls));
    return by ? by : strcmp(change_name(c, l), change_name(c, r));
}

bool comparison_side_is_part(const struct run_set *s)
{
    for (size_t i = 0; i < s->facts.len; i++)
        if (s->facts.at[i].is_part)
            return true;
    return false;
}

/* Functions of one name in one object are known by their sources. */
static void comparison_places(const struct comparison *c, struct change *rows, uint32_t len)
{
    struct arena scratch = {0};
    struct intern texts = {0};
    struct map first = {0}; /* name, object and whether inlined -> the first such row */
    const char **files = ARENA_NEW(&scratch, const char *, (size_t)len + 1);
    const char **ends = ARENA_NEW(&scratch, const char *, (size_t)len + 1);
    uint64_t *groups = ARENA_NEW(&scratch, uint64_t, (size_t)len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct identity *id = change_identity(c, &rows[i]);
        const char *name = change_name(c, &rows[i]), *object = id->object ? id->object : "";
        uint64_t place = 2 * (uint64_t)intern(&texts, object, strlen(object)) + id->is_inlined;
        bool is_new;
        uint32_t at = map_index(&first, intern(&texts, name, strlen(name)), place, i, &is_new);
        groups[i] = at;
        if (is_new || id->is_made)
            continue;
        files[i] = id->file;
        files[at] = change_identity(c, &rows[at])->file;
    }
    paths_tell_apart(groups, files, len, ends);
    for (uint32_t i = 0; i < len; i++)
        rows[i].file = ends[i];
    intern_deinit(&texts);
    map_deinit(&first);
    arena_deinit(&scratch);
}

void comparison_make(struct comparison *c, const struct run_set *old, const struct run_set *new,
                     const struct comparison_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    bool is_one_dimension =
        old->dimension && new->dimension && !strcmp(old->dimension, new->dimension);
    *c = (struct comparison){.old = old,
                             .new = new,
                             .rules = *rules,
                             .compares_samples = old->samples > 0 && new->samples > 0,
                             .compares_calls = old->has_calls &&new->has_calls,
                             .is_assumed = old->runs < 2 && new->runs < 2};
    /* Times are compared of one dimension alone, and of whole runs. */
    c->compares_time = c->compares_samples && old->has_time && new->has_time &&is_one_dimension &&
                       !comparison_side_is_part(old) && !comparison_side_is_part(new);
    c->by_share = rules->by_share || !c->compares_time;
    c->one_waits = c->compares_samples && old->facts.len &&
                   new->facts.len &&comparison_waits(old) != comparison_waits(new);
    match_identities(&c->match, &old->ids, &new->ids, a);
    c->has_renames = new->is_of_lines || match_similar(&c->match, old, new);
    struct change *rows = ARENA_NEW(&scratch, struct change, (size_t)old->ids.len + new->ids.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < c->new->ids.len; i++)
        if (comparison_is_measured(c, c->match.old_of[i], i))
            rows[len++] = comparison_row(c, c->match.old_of[i], i);
    for (uint32_t i = 0; i < c->old->ids.len; i++)
        if (c->match.new_of[i] == NO_FUNCTION && comparison_is_measured(c, i, NO_FUNCTION))
            rows[len++] = comparison_row(c, i, NO_FUNCTION);
    /* Times are judged relative to an average old run, shares by their difference. */
    bool has_totals = c->compares_samples && c->old->has_stacks && c->new->has_stacks;
    bool has_time = c->compares_time, has_total_time = has_totals && has_time && !c->one_waits;
    /* Shares of all time, waits for a CPU included, are up to what else the machine did. */
    bool has_share = c->compares_samples && !comparison_waits(old) && !comparison_waits(new);
    double share = c->rules.least, time = c->old->runs ? share * c->old->time / c->old->runs : 0;
    const struct change_member members[] = {
        {offsetof(struct change, self_time), run_set_time, TIME_SELF, has_time, time},
        {offsetof(struct change, total_time), run_set_time, TIME_TOTAL, has_total_time, time},
        {offsetof(struct change, self), run_set_share, TIME_SELF, has_share, share},
        {offsetof(struct change, total), run_set_share, TIME_TOTAL, has_totals && has_share,
         share}};
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        struct noise noise;
        comparison_measure(c, rows, len, &members[k], &noise, &scratch);
        if (!k)
            c->times = noise;
    }
    /* What is found. */
    bool has_self = false;
    for (uint32_t i = 0; i < len; i++)
        has_self |= change_self(c, &rows[i])->is_meant;
    bool asks_totals = !has_self || (c->rules.has_sort && c->rules.sort == BY_TOTAL);
    for (uint32_t i = 0; i < len; i++) {
        struct change *r = &rows[i];
        bool is_other = r->kind == CHANGE_NEW || r->kind == CHANGE_GONE;
        r->is_found = change_self(c, r)->is_meant || r->calls_differ ||
                      (asks_totals && comparison_total_speaks(c, r)) ||
                      (is_other && comparison_is_counted(c, r));
    }
    comparison_places(c, rows, len);
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    for (uint32_t i = 0; i < len; i++)
        order[i] = i;
    sort_u32(order, len, comparison_compare_changes, &(struct change_sort){c, rows});
    c->rows = ARENA_NEW(a, struct change, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct change *row = &rows[order[i]];
        c->changed += row->is_found;
        bool is_other = row->kind == CHANGE_NEW || row->kind == CHANGE_GONE;
        c->by_kind[row->kind] += !is_other || comparison_is_counted(c, row);
        c->calls_changed += row->calls_differ;
        c->self_changed += change_self(c, row)->is_meant;
        c->total_changed += change_total(c, row)->is_meant;
        c->found_time += row->self_time.is_meant ? row->self_time.new - row->self_time.old : 0;
        bool is_wanted =
            filter_admits_name(c->rules.filter, change_name(c, row), change_identity(c, row)->name);
        if ((!c->rules.shows_all || !is_wanted) && !row->is_found)
            c->unchanged++;
        else if (!is_wanted || (c->rules.limit && c->len >= c->rules.limit))
            c->limited++;
        else
            c->rows[c->len++] = *row;
    }
    comparison_judge_totals(c, a);
    arena_deinit(&scratch);
}

void comparison_deinit(struct comparison *c)
{
    vec_free(&c->totals);
}

/* --- the runs as a whole
 * --------------------------------------------------------------------------------
 *
 * Did the program get slower, and does it take more memory?
 *
 * The kernel measures a run's CPU time to the microsecond, so that only what runs differ by stands
 * between two of them. With one run a side that is assumed (rules.noise, and some milliseconds);
 * with several it is what the runs show, in parts of their mean, both sides together. Elapsed time
 * depends on everything that the machine does besides, and is not judged of fewer than three runs a
 * side. Counts that are exact, as that of processes, changed if those of the sides' runs do not
 * overlap. */

enum { LEAST_RUNS_ELAPSED = 3 };

/* What two runs differ by even if they take no time: ticks, starting. Of memory, how much of its
 * files the kernel maps at once around each fault, which depends on what of them it has read: runs
 * of the smallest programs differ by 200 kB, with a standard deviation of 85 kB. */
#define FLOOR_SECONDS 1e-2
#define FLOOR_BYTES   9e4

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

/* A total as the tests want it: it was not sampled, so all of its variance is that of the runs. */
static struct amount total_amount(const struct run_total *t)
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

/* Whether the runs of the sides alternate: each begins after both of the pair before. The standard
 * error of the mean of the differences goes to `error`. */
static bool total_pairs(const struct total_change *t, double floor, double *error)
{
    const struct run_value *old = t->of_old->each.at, *new = t->of_new->each.at;
    size_t len = t->of_old->each.len;
    double squares = 0;
    if (len != t->of_new->each.len || len < LEAST_RUNS_ELAPSED)
        return false;
    for (size_t i = 0; i < len; i++) {
        uint64_t first = old[i].start_ns < new[i].start_ns ? old[i].start_ns : new[i].start_ns;
        if (!first || (i && (first <= old[i - 1].start_ns || first <= new[i - 1].start_ns)))
            return false;
        double beyond = new[i].value - old[i].value - (t->new - t->old);
        squares += beyond * beyond;
    }
    *error = fmax(sqrt(squares / (double)(len - 1)), floor) / sqrt((double)len);
    return true;
}

double runs_needed(const struct difference *d, double runs, double growth)
{
    enum { MOST_RUNS = 1000 };
    double times = d->margin / growth, needed = ceil(runs * times * times);
    return needed > runs && needed < MOST_RUNS ? fmax(needed, LEAST_RUNS_ELAPSED) : 0;
}

/* How large a change would have to be to be seen: the one that was measured and its margin. */
static const char *total_unseen_text(const struct total_change *t, struct arena *a)
{
    double most = fabs(t->new - t->old) + t->difference.margin;
    double percent = t->old > 0 ? 100 * most / t->old : INFINITY;
    if (isinf(percent))
        return "no change can be seen";
    if (percent >= 100)
        return arena_printf(a, "too short to judge: even %.2g times as much would go unnoticed",
                            1 + percent / 100);
    return arena_printf(a, "no change larger than %.*f %% can be seen", percent < 9.95 ? 1 : 0,
                        percent);
}

/* The verdict on one total, with its text. */
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
    double error;
    if (total_pairs(t, noise.floor[w->noise], &error))
        difference_pair(&t->difference, error, t->of_old->runs, c->rules.confidence);
    /* In this order: not judged, exact, within what runs differ by, beyond it. */
    bool is_more = t->new > t->old;
    if (w->needs_runs && runs < LEAST_RUNS_ELAPSED) {
        t->verdict = TOTAL_UNJUDGED;
        t->text = arena_printf(a, "needs %d runs a side", LEAST_RUNS_ELAPSED);
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

/* Judges a total that both sides know of all their runs. */
static void comparison_add_total(struct comparison *c, const struct run_total *old, struct arena *a)
{
    const struct run_total *new = run_set_total(c->new, old->name);
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

/* --- samples of single runs ------------------------------------------------------------------ */

/* Time as one run measured it, or where a sample's worth is not known, its share. A mean with the
 * variance that sampling gives it. The variance of a share becomes that of a time by the square of
 * the time of all samples. */
static struct amount sample_amount(const struct summary *s, double self, bool has_times)
{
    struct amount m =
        amount_of_share(summary_share(s, self), s->effective > 0 ? s->effective : s->samples);
    if (!has_times)
        return m;
    double worth = s->samples / s->rate;
    m.mean = m.base = summary_time(s, self);
    m.sampling *= worth * worth;
    return m;
}

/* One run on either side says nothing of how runs differ, so that a usual amount is assumed. Times
 * are compared if both sides measure the same dimension, otherwise shares are. */
void sample_changes_judge(struct sample_change *at, size_t len, const struct summary *old,
                          const struct summary *new)
{
    bool has_times = old->rate > 0 && new->rate > 0 &&
                     old->dimension != NULL &&new->dimension != NULL &&
                     !strcmp(old->dimension, new->dimension);
    double least = LEAST_CHANGE * (has_times ? old->samples / old->rate : 1);
    struct arena scratch = {0};
    double *chances = ARENA_NEW(&scratch, double, len + 1);
    struct sample_change **asked = ARENA_NEW(&scratch, struct sample_change *, len + 1);
    struct noise noise;
    size_t n = 0;
    noise_assume(&noise, NOISE_OF_RUNS, CHANGE_CONFIDENCE);
    for (size_t i = 0; i < len; i++) {
        struct amount was = sample_amount(old, at[i].old, has_times);
        struct amount is = sample_amount(new, at[i].new, has_times);
        struct difference d;
        difference_make(&d, &was, &is, &noise, NOISE_CODE);
        chances[n] = difference_chance(&d);
        if (chances[n] < 1 && fabs(d.change) >= least)
            asked[n++] = &at[i];
    }
    chances_adjust(chances, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        asked[i]->is_meant = chances[i] < 1 - CHANGE_CONFIDENCE;
    arena_deinit(&scratch);
}

/* --- a baseline looked up
 * ---------------------------------------------------------------------------- */

/* A series is compared run by run, and shown as the mean of its runs, so that its functions are
 * found by what they are known by. */
void baseline_make(struct baseline *b, const struct identities *shown)
{
    const struct comparison_rules rules = {.confidence = CHANGE_CONFIDENCE,
                                           .least = LEAST_CHANGE,
                                           .noise = NOISE_OF_RUNS,
                                           .shows_all = true};
    const struct change **changes = ARENA_NEW(&b->arena, const struct change *, b->new.ids.len);
    comparison_make(&b->comparison, &b->old, &b->new, &rules, &b->arena);
    for (uint32_t i = 0; i < b->comparison.len; i++)
        if (b->comparison.rows[i].new != NO_FUNCTION)
            changes[b->comparison.rows[i].new] = &b->comparison.rows[i];
    b->change_of = changes;
    b->len = b->new.ids.len;
    if (!shown)
        return;
    struct match match;
    match_identities(&match, &b->new.ids, shown, &b->arena);
    b->change_of = ARENA_NEW(&b->arena, const struct change *, shown->len);
    b->len = shown->len;
    for (uint32_t i = 0; i < shown->len; i++)
        b->change_of[i] = match.old_of[i] == NO_FUNCTION ? NULL : changes[match.old_of[i]];
}

void baseline_deinit(struct baseline *b)
{
    comparison_deinit(&b->comparison);
    run_set_deinit(&b->old);
    run_set_deinit(&b->new);
    arena_deinit(&b->arena);
}

const struct change *baseline_change(const struct baseline *b, uint32_t function)
{
    return function < b->len ? b->change_of[function] : NULL;
}

double baseline_arc_calls(const struct baseline *b, uint32_t caller, uint32_t callee)
{
    if (caller >= b->new.ids.len || callee >= b->new.ids.len)
        return 0;
    const uint32_t *old = b->comparison.match.old_of;
    const uint32_t *arc = map_find(&b->old.arc_of, old[caller], old[callee]);
    return arc ? (double)b->old.arcs.at[*arc].calls / b->old.runs : 0;
}
