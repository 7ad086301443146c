/* Samples and calls by GNU gprof's rules: which function a bin's samples are of, which addresses
 * are measured, which lines calls come from, and which calls stand in the code.
 *
 * Bins are cut in units of two bytes, GNU's smallest instruction, with the first histogram's scale
 * for all:
 *
 *   unit        0   1   2   3   4   5   6   7
 *   bin         [   count = 12  ][   count = 4  ]
 *   functions   [f          ][g                 ]     f: 9, g: 3 + 4
 *
 * A function that covers part of a bin gets that part of its samples, as a fraction. The order of
 * every sum is GNU's, so that the results agree to the last bit; therefore bins are walked one by
 * one, though only those that are not 0.
 *
 * Calls for a flat profile by line need no graph of lines: a line has no callers, so all that
 * calls from lines do is to be counted, and to decide in which order functions are met
 * (line_calls_make()).
 *
 * The static call graph (-c) is read from the code of .text that a histogram covers, on the
 * machines that GNU knows. */
#include "gnu/gprof/functions_gnu.h"

#include "base/sort.h"
#include "gnu/gprof/gprof.h"

#include <elf.h>
#include <string.h>

/* --- samples --------------------------------------------------------------------------------- */

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Where function i begins, in units of two bytes; the end of the last one for i == len. A function
 * of one byte may be empty in units: it gets no samples, as with GNU. */
static uint64_t unit_start(const struct functions *f, uint32_t i)
{
    if (i < f->len)
        return f->at[i].start / 2;
    const struct function *last = &f->at[f->len - 1];
    return last->last >= last->start ? last->last / 2 + 1 : last->start / 2;
}

/* Credits the functions that overlap units [low, high); returns the first that the next bin must
 * look at. Bins ascend, and so do functions: the walk goes on where the last bin ended, less one,
 * since a function may go on into the next bin. Samples that the selection keeps out leave the
 * total as well. */
static uint32_t credit(struct attribution *t, const struct functions *f, const struct selection *s,
                       uint32_t from, uint64_t low, uint64_t high, double count, double scale)
{
    uint32_t next = from;
    for (uint32_t i = from; i < f->len; next = ++i) {
        uint64_t begin = unit_start(f, i), end = unit_start(f, i + 1);
        /* Sorted by address: no later function can overlap. */
        if (high < begin)
            break;
        if (low >= end || maximum(low, begin) >= minimum(high, end))
            continue;
        double overlap = (double)(minimum(high, end) - maximum(low, begin));
        double samples = overlap * count / scale;
        if (selection_admits(s, ASK_FLAT, i))
            t->self[i] += samples;
        else
            t->total -= samples;
    }
    return next ? next - 1 : 0;
}

/* O(bins that are not 0 + functions); sums are made in the order of bins. */
double attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                     const struct selection *s, bool has_half_units, struct arena *a)
{
    double scale = p->histograms.len ? gnu_scale(&p->histograms.at[0], has_half_units) : 0;
    attribution_init(t, p, f->len, a);
    for (size_t k = 0; k < p->histograms.len; k++) {
        const struct histogram *h = &p->histograms.at[k];
        uint32_t function = 0;
        for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
            double count = (double)histogram_get(h, i);
            t->total += count;
            function = credit(t, f, s, function, h->low / 2 + (uint64_t)(scale * i),
                              h->low / 2 + (uint64_t)(scale * (i + 1.0)), count, scale);
        }
    }
    return scale;
}

/* The addresses that a profile says something about, as GNU gprof books samples and calls. */

/* Code from `start` to before `end` gets a share of units [low, high) if start / 2 < high and
 * end / 2 > low, which is to say that it has an address from 2 * low + 1 to before 2 * high. */
static void add_bins(struct measured *m, const struct histogram *h, double scale)
{
    uint64_t first = h->low / 2;
    for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
        uint64_t low = first + (uint64_t)(scale * i), high = first + (uint64_t)(scale * (i + 1.0));
        if (low < high)
            measured_add(m, 2 * low + 1, 2 * high);
    }
}

/* Both ends of an arc count: a line symbol is needed where a call comes from. */
void measured_gnu(struct measured *m, const struct profile *p, bool has_half_units)
{
    *m = (struct measured){0};
    double scale = p->histograms.len ? gnu_scale(&p->histograms.at[0], has_half_units) : 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        add_bins(m, &p->histograms.at[i], scale);
    for (size_t i = 0; i < p->arcs.len; i++) {
        measured_add(m, p->arcs.at[i].from, p->arcs.at[i].from + 1);
        measured_add(m, p->arcs.at[i].self, p->arcs.at[i].self + 1);
    }
    measured_add_blocks(m, p);
}

/* --- calls from lines ------------------------------------------------------------------------ */

/* A call from a line, in the order of the profile. */
struct line_call {
    uint32_t line, callee;
};

struct line_call_list {
    VEC(struct line_call) all;
};

/* GNU looks for the function at or before the address, past labels that are no functions. */
static uint32_t callee_of(const struct functions *f, uint64_t address)
{
    uint32_t callee = functions_find(f, address);
    while (callee != NO_FUNCTION && !f->at[callee].is_function)
        callee--; /* from 0 to NO_FUNCTION */
    return callee;
}

/* Takes calls that come from lines out of the profile's arcs, as their callers are no nodes of the
 * graph. UINT64_MAX as a caller is an address in no function: the graph books such calls on an
 * unknown caller. */
static void split_calls(struct line_calls *c, const struct functions *functions,
                        const struct functions *all, struct profile *p,
                        struct line_call_list *from_lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->arcs.len; i++) {
        struct arc arc = p->arcs.at[i];
        uint32_t caller = functions_find(all, arc.from);
        if (caller == NO_FUNCTION)
            continue; /* GNU gprof does not count them */
        uint32_t callee = callee_of(functions, arc.self), node = c->node_of[caller];
        if (node != NO_NODE) {
            arc.from = functions->at[node].start;
        } else {
            arc.from = UINT64_MAX;
            if (callee != NO_FUNCTION)
                vec_push(&from_lines->all, ((struct line_call){caller, callee}));
        }
        p->arcs.at[kept++] = arc;
    }
    p->arcs.len = kept;
}

/* The order in which GNU's depth-first walk meets functions that lines call: by line, and of one
 * line the newest first, each callee once, where it was first called. In the graph of functions
 * alone these calls are roots, which precede the function whose address follows the line's.
 */
static void order_roots(struct line_calls *c, const struct functions *functions,
                        const struct functions *all, const struct line_call_list *calls,
                        struct arena *a)
{
    struct arena scratch = {0};
    size_t len = calls->all.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    uint32_t *last_line = ARENA_NEW(&scratch, uint32_t, functions->len); /* plus 1 */
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){calls->all.at[i].line, (uint32_t)i};
    sort_keyed(order, len);
    c->roots = ARENA_NEW(a, struct graph_root, len);
    uint32_t before = 0;
    for (size_t start = 0, end; start < len; start = end) {
        uint32_t line = (uint32_t)order[start].key;
        while (before < functions->len && functions->at[before].start <= all->at[line].start)
            before++;
        for (end = start; end < len && order[end].key == line; end++)
            ;
        /* Found oldest first, wanted newest first: the part is reversed. */
        size_t first = c->roots_len;
        for (size_t i = start; i < end; i++) {
            uint32_t callee = calls->all.at[order[i].item].callee;
            if (last_line[callee] != line + 1)
                c->roots[c->roots_len++] = (struct graph_root){before, callee};
            last_line[callee] = line + 1;
        }
        for (size_t low = first, high = c->roots_len; low + 1 < high; low++) {
            struct graph_root other = c->roots[--high];
            c->roots[high] = c->roots[low];
            c->roots[low] = other;
        }
    }
    arena_deinit(&scratch);
}

/* Both tables are sorted by address, so one walk pairs their entries. The profile's arcs are
 * changed in place. */
void line_calls_make(struct line_calls *c, const struct functions *functions,
                     const struct gnu_functions *with_lines, const struct attribution *time,
                     struct profile *p, struct arena *a)
{
    const struct functions *all = &with_lines->table;
    *c = (struct line_calls){0};
    struct line_call_list from_lines = {0};
    /* Each entry of the table with lines is a function of the table without, or a line. */
    c->node_of = ARENA_NEW(a, uint32_t, all->len);
    uint32_t node = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        c->node_of[i] = NO_NODE;
        while (node < functions->len && functions->at[node].start < all->at[i].start)
            node++;
        bool is_function = node < functions->len && all->at[i].symbol < with_lines->first_line &&
                           functions->at[node].start == all->at[i].start;
        if (is_function)
            c->node_of[i] = node;
    }
    c->time = *time;
    c->time.self = ARENA_NEW(a, double, functions->len);
    for (uint32_t i = 0; i < all->len; i++)
        if (c->node_of[i] != NO_NODE)
            c->time.self[c->node_of[i]] = time->self[i];
    split_calls(c, functions, all, p, &from_lines);
    order_roots(c, functions, all, &from_lines, a);
    vec_free(&from_lines.all);
}

/* GNU gprof's -c: which code it reads, and which calls in it it takes. */

/* --- calls in the code (-c) ------------------------------------------------------------------ */

/* The machines whose code binutils' gprof reads (i386.c, aarch64.c, mips.c, sparc.c), but for
 * alpha, tahoe and vax. */
static bool is_known_to_gnu(uint16_t machine)
{
    switch (machine) {
    case EM_386:
    case EM_IAMCU:
    case EM_X86_64:
    case EM_AARCH64:
    case EM_MIPS:
    case EM_SPARC:
    case EM_SPARC32PLUS:
    case EM_SPARCV9: return true;
    default: return false;
    }
}

/* What two ranges share; {0, 0} if that is nothing. */
static struct code_range common(struct code_range a, struct code_range b)
{
    struct code_range both = {a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    return both.low < both.high ? both : (struct code_range){0};
}

/* What of a range lies in the first histogram that has a part of it. */
static struct code_range clip(struct code_range range, const struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        struct code_range part = common(range, (struct code_range){h->low, h->high});
        if (part.low < part.high)
            return part;
    }
    return (struct code_range){0};
}

/* Targets outside of what was measured do not count for GNU, though the code is the program's. */
static struct code_range *covered_ranges(const struct profile *p, struct arena *a)
{
    struct code_range *covered = ARENA_NEW(a, struct code_range, p->histograms.len + 1);
    for (size_t i = 0; i < p->histograms.len; i++)
        covered[i] = (struct code_range){p->histograms.at[i].low, p->histograms.at[i].high};
    return covered;
}

/* A function's code reaches to the next function, padding included, but not beyond .text or what a
 * histogram covers. */
bool static_calls_gnu(struct static_calls *calls, const struct functions *f, struct object *o,
                      const struct profile *p, const struct gprof_dialect *dialect, struct arena *a)
{
    *calls = (struct static_calls){0};
    if (!is_known_to_gnu(object_machine(o)))
        return false;
    struct arena scratch = {0};
    struct object_range section = gnu_text_of(o);
    struct code_range text = {section.low, section.high},
                      *ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    /* GNU's reader for AArch64 takes branches (`b`) for calls as well, and calls of a function by
     * itself. */
    uint16_t machine = object_machine(o);
    bool is_aarch64 = machine == EM_AARCH64;
    bool drops_last = dialect->drops_last_call &&
                      (machine == EM_X86_64 || machine == EM_386 || machine == EM_IAMCU);
    for (uint32_t i = 0; i < f->len; i++) {
        bool is_last = i + 1 == f->len;
        struct code_range range = {f->at[i].start,
                                   is_last ? f->at[i].last + 1 : f->at[i + 1].start};
        ranges[i] = common(clip(range, p), text);
        /* A call must leave a byte after it: one byte less holds no call that does not. */
        ranges[i].high -= drops_last && ranges[i].low < ranges[i].high;
    }
    struct static_call_rules rules = {.ranges = ranges,
                                      .targets = covered_ranges(p, &scratch),
                                      .targets_len = p->histograms.len,
                                      .takes_jumps = is_aarch64,
                                      .takes_own_entry = is_aarch64};
    bool is_known = static_calls_find(calls, f, o, &rules, a);
    arena_deinit(&scratch);
    return is_known;
}
