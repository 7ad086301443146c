/* Numbers of gcov's reports, sums and look-ups that its reports share, and gcov's unstable sort.
 *
 * Percentages are computed in single precision, since the last digit depends on it, and rounded as
 * the version that wrote the notes did: before gcc 8, and in clang's tool, halves are rounded up
 * and only all of it is 100 %; later `printf` rounds. In all of them, what is above 0 is never
 * shown as 0 %.
 *
 * Functions are listed by key with the C++ library's std::sort, which is not stable. Where many
 * functions begin at one place, as instances of a template do, their order is what that algorithm
 * makes of it: libstdc++'s introsort, a quicksort with the median of three down to 16 items, then
 * insertion. It is done here step by step. */
#include "base/sort.h"
#include "gnu/gcov/gcov.h"
#include "output/out.h"

#include <stdio.h>

/* With -H, one decimal of the largest unit that leaves a number from 1 to 999; float, as gcov.
 * `into` has room for 32 bytes. */
size_t gcov_count(const struct gcov_style *s, int64_t count, char *into)
{
    static const char units[] = " kMGTPE";
    if (count >= 0 && (count < 1000 || !s->human))
        return (size_t)(digits_u64(into, (uint64_t)count, 0) - into);
    if (count < 0)
        return (size_t)sprintf(into, "%lld", (long long)count);
    unsigned i = 0;
    int64_t divisor = 1;
    for (; i < sizeof units - 2 &&
           (uint64_t)count + (uint64_t)divisor / 2 >= 1000 * (uint64_t)divisor;
         i++)
        divisor *= 1000;
    return (size_t)sprintf(into, "%.1f%c", (double)(1.0f * (float)count / (float)divisor),
                           units[i]);
}

/* Before gcc 8, and in clang's tool, halves are rounded up, and only all of it is 100%. */
static size_t gcov_old_percent(int64_t part, int64_t whole, int decimals, char *into)
{
    unsigned limit = decimals ? 10000 : 100;
    float ratio = whole ? (float)part / (float)whole : 0;
    unsigned percent = (unsigned)(ratio * (float)limit + 0.5f);
    if (!percent && part)
        percent = 1;
    else if (percent >= limit && part != whole)
        percent = limit - 1;
    return (size_t)(decimals ? sprintf(into, "%u.%02u%%", percent / 100, percent % 100)
                             : sprintf(into, "%u%%", percent));
}

/* In single precision, as gcov computes it: the last digit depends on it.
 *
 *    gcc 8 on     printf("%.2f%%") of a float
 *    before       halves up, in units of 1/100 or 1/10000 */
size_t gcov_percent(const struct gcov_report *r, int64_t part, int64_t whole, int decimals,
                    char *into)
{
    bool has_floats = r->dialect->has_float_percents && !r->is_llvm;
    bool is_minus_zero = has_floats && !part && whole < 0;
    if ((part == whole || !part || !whole) && !is_minus_zero) {
        static const char fixed[2][2][8] = {{"0%", "0.00%"}, {"100%", "100.00%"}};
        const char *text = fixed[part && whole][decimals != 0];
        size_t len = strlen(text);
        memcpy(into, text, len + 1);
        return len;
    }
    if (!has_floats && part > 0 && whole > 0 && part <= whole)
        return gcov_old_percent(part, whole, decimals, into);
    float ratio = 100.0f * (float)part / (float)whole;
    if (ratio > 0.0f && ratio < 0.5f && decimals == 0)
        ratio = 1.0f;
    if (is_minus_zero || ratio < 0 || !(ratio < 1e15f))
        return (size_t)sprintf(into, "%.*f%%", decimals, (double)ratio);
    char *end = decimals ? digits_fixed(into, (double)ratio, 0, (unsigned)decimals)
                         : digits_u64(into, digits_round((double)ratio, 1), 0);
    memcpy(end, "%", 2);
    return (size_t)(end + 1 - into);
}

/* clang's tool divides integers; from 0 up to 1 it shows 1. */
size_t gcov_function_percent(const struct gcov_report *r, int64_t part, int64_t whole, char *into)
{
    if (!r->is_llvm || part <= 0 || whole <= 0 || part >= whole)
        return gcov_percent(r, part, whole, 0, into);
    unsigned percent = (unsigned)((double)part * 100 / (double)whole);
    return (size_t)sprintf(into, "%u%%", percent ? percent : 1);
}

/* O(log functions). */
size_t gcov_starts_at(const struct gcov_report *r, uint32_t source, uint32_t line, size_t *len)
{
    uint64_t key = (uint64_t)source << 32 | line;
    size_t first = PARTITION_POINT(r->starts.len, i, r->starts.at[i].key < key), end = first;
    while (end < r->starts.len && r->starts.at[end].key == key)
        end++;
    *len = end - first;
    return first;
}

/* One line of a summary; its length. */
static uint32_t gcov_percent_line(const struct gcov_report *r, char *into, const char *label,
                                  uint64_t part, uint64_t whole)
{
    char percent[64];
    gcov_percent(r, (int64_t)part, (int64_t)whole, 2, percent);
    return (uint32_t)sprintf(into, "%s:%s of %u\n", label, percent, (unsigned)whole);
}

/* Of a file, a function, or everything. */
void gcov_lines_summary(const struct gcov_report *r, uint64_t lines, uint64_t executed,
                        struct out *out)
{
    char line[128];
    if (lines)
        out_bytes(out, line, gcov_percent_line(r, line, "Lines executed", executed, lines));
    else
        out_str(out, "No executable lines\n");
}

/* Of all blocks that belong to a line of the source, be it an instance's. */
static void gcov_add_conditions(const struct gcov_report *r, uint32_t first, uint32_t lines,
                                uint64_t *outcomes, uint64_t *covered)
{
    struct gcov_condition c;
    if (!r->has_conditions)
        return;
    for (uint32_t i = first; i < first + lines; i++) {
        const struct covered_line *line = &r->lines.lines.at[i];
        for (uint32_t k = 0; k < line->blocks; k++)
            if (gcov_condition_of(r, &r->lines.blocks.at[line->first_block + k], &c)) {
                *outcomes += 2 * (uint64_t)c.terms;
                *covered += c.covered;
            }
    }
}

static void gcov_masks_lines(const struct gcov_report *r, uint64_t outcomes, uint64_t covered,
                             uint64_t paths, uint64_t taken, struct out *out)
{
    char line[128];
    if (r->style.conditions && outcomes)
        out_bytes(out, line,
                  gcov_percent_line(r, line, "Condition outcomes covered", covered, outcomes));
    else if (r->style.conditions)
        out_str(out, "No conditions\n");
    if (r->style.paths && paths)
        out_bytes(out, line, gcov_percent_line(r, line, "Prime paths covered", taken, paths));
    else if (r->style.paths)
        out_str(out, "No path information\n");
}

static void gcov_branches_lines(const struct gcov_report *r, const struct source_totals *t,
                                struct out *out)
{
    char line[128];
    if (t->branches) {
        out_bytes(
            out, line,
            gcov_percent_line(r, line, "Branches executed", t->branches_executed, t->branches));
        out_bytes(
            out, line,
            gcov_percent_line(r, line, "Taken at least once", t->branches_taken, t->branches));
    } else {
        out_str(out, "No branches\n");
    }
    if (t->calls)
        out_bytes(out, line,
                  gcov_percent_line(r, line, "Calls executed", t->calls_executed, t->calls));
    else
        out_str(out, "No calls\n");
}

/* Before gcc 14 without the lines that a function before this one has; from gcc 15 on with the
 * fields of a file's summary. */
void gcov_function_summary(const struct gcov_report *r, uint32_t instance, struct out *out)
{
    const struct function_instance *at = &r->lines.instances.at[instance];
    struct source_totals totals = {0};
    uint64_t outcomes = 0, covered = 0;
    out_printf(out, "Function '%s'\n", r->shown_names[instance]);
    gcov_lines_summary(r, at->gnu_lines, at->gnu_executed, out);
    if (!r->dialect->has_function_totals)
        return;
    for (uint32_t b = 0; b < gcov_function(r, instance)->blocks; b++) {
        struct gcov_condition c;
        line_add_branches(r->units, at, b, &totals);
        if (r->has_conditions &&
            gcov_condition_of(r, &(struct instance_block){instance, b, 0}, &c)) {
            outcomes += 2 * (uint64_t)c.terms;
            covered += c.covered;
        }
    }
    uint32_t paths, taken;
    bool has_paths = gcov_paths_of(r, instance, &paths, &taken);
    gcov_branches_lines(r, &totals, out);
    gcov_masks_lines(r, outcomes, covered, has_paths ? paths : 0, has_paths ? taken : 0, out);
}

/* Lines of the source and those of its instances are counted apart in the table: both are added
 * here. */
static void gcov_conditions_summary(const struct gcov_report *r, uint32_t source, struct out *out)
{
    const struct covered_source *s = &r->lines.sources.at[source];
    uint64_t outcomes = 0, covered = 0, paths = 0, taken = 0;
    size_t len, start = gcov_starts_at(r, source, 0, &len);
    if (!r->has_conditions && !r->style.paths)
        start = r->starts.len;
    gcov_add_conditions(r, s->first_line, s->lines, &outcomes, &covered);
    for (; start < r->starts.len && r->starts.at[start].key >> 32 == source; start++) {
        uint32_t all, some, instance = r->starts.at[start].item;
        const struct function_instance *at = &r->lines.instances.at[instance];
        gcov_add_conditions(r, at->first_line, at->lines, &outcomes, &covered);
        if (gcov_paths_of(r, instance, &all, &some)) {
            paths += all;
            taken += some;
        }
    }
    gcov_masks_lines(r, outcomes, covered, paths, taken, out);
}

/* Branches and calls with -b alone, conditions and paths of gcc 14 and 15 after them. */
void gcov_file_summary(const struct gcov_report *r, uint32_t source, struct out *out)
{
    const struct source_totals *t = &r->lines.sources.at[source].totals;
    out_printf(out, "File '%s'\n", r->sources[source].name);
    gcov_lines_summary(r, t->lines, t->lines_executed, out);
    if (!r->style.branches)
        return;
    gcov_branches_lines(r, t, out);
    gcov_conditions_summary(r, source, out);
}

/* -D: blocks by function, then counts by line, those without code included. */
void gcov_dump(const struct gcov_report *r, uint32_t source, struct out *out)
{
    const struct covered_source *s = &r->lines.sources.at[source];
    uint32_t next = s->first_line;
    out_printf(out, "source_info: %s\n", r->sources[source].path);
    for (uint32_t i = 0; i < r->lines.instances.len; i++) {
        const struct function_instance *at = &r->lines.instances.at[i];
        const struct notes_function *f = gcov_function(r, i);
        if (at->source != source)
            continue;
        out_printf(out, "  function_info: %s\n", r->shown_names[i]);
        for (uint32_t b = 0; b < f->blocks; b++)
            out_printf(out, "    block_info id=%u, count=%lld \n", b,
                       (long long)instance_block_count(r->units, at, b));
    }
    for (uint32_t line = 1; line <= s->last_number; line++) {
        bool is_here = next < s->first_line + s->lines && r->lines.lines.at[next].number == line;
        int64_t count = is_here ? r->lines.lines.at[next].count : 0;
        next += is_here;
        out_printf(out, "  line_info=%u, count=%lld\n", line, (long long)count);
    }
    out_char(out, '\n');
}

/* ---- conditions and paths */

/* The counters of that kind of an instance; NULL if it was not counted, or is not to be believed.
 */
static const struct counted_record *gcov_record_of(const struct gcov_report *r, uint32_t instance,
                                                   enum counter_kind kind)
{
    const struct function_instance *at = &r->lines.instances.at[instance];
    const struct coverage_unit *u = &r->units[at->unit];
    const struct flow_function *what = &u->flow->functions.at[at->function];
    if (!u->counters || what->state == FLOW_UNKNOWN || what->counted == (uint32_t)NO_INDEX)
        return NULL;
    return counters_find(u->counters, &u->counters->functions.at[what->counted], kind);
}

/* Counters come in pairs, one mask for each outcome, in the order of the conditions. */
bool gcov_condition_of(const struct gcov_report *r, const struct instance_block *block,
                       struct gcov_condition *out)
{
    if (!r->has_conditions)
        return false;
    const struct function_instance *at = &r->lines.instances.at[block->instance];
    const struct notes *n = r->units[at->unit].notes;
    const struct notes_function *f = &n->functions.at[at->function];
    for (uint32_t i = 0; i < f->conditions; i++) {
        const struct notes_condition *c = &n->conditions.at[f->first_condition + i];
        if (c->block != block->block)
            continue;
        const struct counted_record *masks = gcov_record_of(r, block->instance, KIND_CONDITIONS);
        *out = (struct gcov_condition){.terms = c->terms};
        if (masks && 2 * (uint64_t)i + 1 < masks->len) {
            const struct counters *counters = r->units[at->unit].counters;
            out->seen_true = counters_value(counters, masks, 2 * i);
            out->seen_false = counters_value(counters, masks, 2 * i + 1);
        }
        out->covered = (uint32_t)(__builtin_popcountll(out->seen_true) +
                                  __builtin_popcountll(out->seen_false));
        return true;
    }
    return false;
}

/* A bit for each path that was taken: gcc 15's counters of kind "path". */
bool gcov_paths_of(const struct gcov_report *r, uint32_t instance, uint32_t *paths,
                   uint32_t *covered)
{
    const struct notes_function *f = gcov_function(r, instance);
    if (!f->has_paths || !r->style.paths)
        return false;
    const struct counted_record *seen = gcov_record_of(r, instance, KIND_PATHS);
    const struct counters *counters = r->units[r->lines.instances.at[instance].unit].counters;
    *paths = f->paths;
    *covered = 0;
    for (uint32_t i = 0; seen && i < seen->len; i++)
        *covered += (uint32_t)__builtin_popcountll(counters_value(counters, seen, i));
    return true;
}

/* The order in which gcov lists functions: by key with the C++ library's std::sort, which is not
 * stable. Where many functions begin at one place, as instances of a template do, their order is
 * what that algorithm (libstdc++'s introsort: quicksort with the median of three down to 16 items,
 * then insertion) makes of it. */

/* --- sorting --------------------------------------------------------------------------------- */

enum { SHORT = 16 };

static void swap(struct keyed *a, struct keyed *b)
{
    struct keyed kept = *a;
    *a = *b;
    *b = kept;
}

/* Brings the median of the second, the middle and the last to the front. */
static void choose_pivot(struct keyed *items, size_t len)
{
    struct keyed *a = items + 1, *b = items + len / 2, *c = items + len - 1;
    if (a->key < b->key)
        swap(items, b->key < c->key ? b : a->key < c->key ? c : a);
    else
        swap(items, a->key < c->key ? a : b->key < c->key ? c : b);
}

/* Where the second part begins. The pivot is in front, and ends both walks. */
static size_t partition(struct keyed *items, size_t len)
{
    size_t low = 1, high = len;
    for (;;) {
        while (items[low].key < items[0].key)
            low++;
        high--;
        while (items[0].key < items[high].key)
            high--;
        if (low >= high)
            return low;
        swap(&items[low++], &items[high]);
    }
}

/* Parts still to be sorted are on a stack of our own, as deep as introsort may go before it gives
 * up. Below SHORT items insertion finishes all of them. Each level of a quicksort leaves one part
 * on the stack, so 2 log2(n) + 1 parts are the most. */
void gcov_order(struct keyed *items, size_t len)
{
    struct {
        size_t first, len;
        unsigned depth;
    } parts[2 * 64 + 1];
    size_t open = 0;
    unsigned depth = 0;
    for (size_t n = len; n > 1; n /= 2)
        depth += 2;
    parts[open].first = 0, parts[open].len = len, parts[open++].depth = depth;
    while (open) {
        size_t first = parts[--open].first, part = parts[open].len;
        for (depth = parts[open].depth; part > SHORT; depth--) {
            if (!depth) {
                sort_keyed(items + first, part); /* GNU's goes on with a heap */
                break;
            }
            choose_pivot(items + first, part);
            size_t cut = partition(items + first, part);
            parts[open].first = first + cut;
            parts[open].len = part - cut;
            parts[open++].depth = depth - 1;
            part = cut;
        }
    }
    for (size_t i = 1; i < len; i++) {
        struct keyed moving = items[i];
        size_t k = i;
        for (; k && moving.key < items[k - 1].key; k--)
            items[k] = items[k - 1];
        items[k] = moving;
    }
}
