/* Exports that are call graphs: callgrind's format, and dot.
 *
 * Callgrind's output format, version 1: for KCachegrind, QCachegrind and callgrind_annotate. Costs
 * stand at the lines that frames have, or else where a function begins; if the exchange has the
 * code, at each instruction with its line. Counts of calls are exact. What a call cost is added up
 * by those who read it, so nothing is in it twice: see exchange.h. Names are written once and then
 * by number, as the format allows, which makes the file a third as long.
 *
 *     ob=(1) /bin/x          object, file and function of what follows
 *     fl=(1) main.c
 *     fn=(3) main
 *     16 400                 own cost at line 16; with the code: 0xADDRESS 16 400
 *     cob=(2) libx.so        the callee's
 *     cfi=(2) work.c
 *     cfn=(4) work
 *     calls=50 32            how often, and where the callee begins
 *     16 9000                from line 16, cost with all below
 *
 * Other dimensions are further events, Cost2 and so on, one more number in each line of costs.
 *
 * Source: "Callgrind Format Specification" of Valgrind's manual. Linear in functions and arcs. */
#include "profile/export/exports.h"

#include "base/map.h"
#include "base/sort.h"
#include "output/out.h"
#include "profile/analysis/exchange/exchange.h"

/* --- dimensions side by side ------------------------------------------------------------------ */

/* They differ by [outside] at most, which has the last number where it is there. */
uint32_t exchange_functions_len(const struct exchange *x)
{
    size_t len = 0;
    for (size_t i = 0; i <= x->others_len; i++) {
        size_t own = exchange_measure(x, i)->functions.len;
        len = own > len ? own : len;
    }
    return (uint32_t)len;
}

const struct exchange_function *exchange_function_there(const struct exchange *x, uint32_t number)
{
    size_t i = 0; /* of the dimension; one has it */
    while (number >= exchange_measure(x, i)->functions.len)
        i++;
    return &exchange_measure(x, i)->functions.at[number];
}

/* The sort key of lists of arcs. */
static uint64_t exchange_pair_key(const struct exchange_arc *arc)
{
    return (uint64_t)arc->caller << 32 | arc->callee;
}

/* The next pair of one dimension, or NULL after its last. */
static const struct exchange_arc *exchange_pair_of(const struct exchange *of, size_t next)
{
    return next < of->arcs.len ? &of->arcs.at[next] : NULL;
}

/* A merge of sorted lists: the least of their next pairs, and what each has of it. */
bool exchange_pairs_next(struct exchange_pairs *p, const struct exchange *x, struct arena *a)
{
    const struct exchange_arc *least = NULL, *arc;
    if (!p->next) {
        p->next = ARENA_NEW(a, size_t, x->others_len + 1);
        p->costs = ARENA_NEW(a, uint64_t, x->others_len + 1);
    }
    for (size_t i = 0; i <= x->others_len; i++) {
        arc = exchange_pair_of(exchange_measure(x, i), p->next[i]);
        if (arc && (!least || exchange_pair_key(arc) < exchange_pair_key(least)))
            least = arc;
    }
    if (!least)
        return false;
    p->arc = *least;
    p->number = p->next[0];
    for (size_t i = 0; i <= x->others_len; i++) {
        arc = exchange_pair_of(exchange_measure(x, i), p->next[i]);
        bool is_it = arc && exchange_pair_key(arc) == exchange_pair_key(&p->arc);
        p->costs[i] = is_it ? arc->cost : 0;
        p->next[i] += is_it;
    }
    return true;
}

/* --- callgrind ------------------------------------------------------------------------------- */

/* A name is spelled out once; after that its number is enough. */
struct callgrind {
    struct out *out;
    const struct exchange *x;
    struct arena *a;
    bool *has_object, *has_file, *has_function;
    uint32_t *file_of;                         /* per function; equal paths have equal numbers */
    uint64_t *others;                          /* room for a line's costs of other dimensions */
    const struct exchange_spots *self, *calls; /* of the code, or of lines; NULL: functions alone */
};

/* "fn=(3) main" the first time, "fn=(3)" after that. */
static void callgrind_name(struct callgrind *c, const char *key, uint32_t number, bool *is_known,
                           const char *name, const char *suffix)
{
    out_printf(c->out, "%s=(%u)", key, number + 1);
    if (!*is_known) {
        out_char(c->out, ' ');
        text_name(c->out, name); /* callgrind_annotate prints names as they are */
        out_str(c->out, suffix);
    }
    out_char(c->out, '\n');
    *is_known = true;
}

/* Readers look a file's line 0 up in its source and complain. */
static const char *callgrind_file(const struct exchange_function *f)
{
    return f->file && f->line ? f->file : "???";
}

/* Object, file and function of what follows, or of a callee. All three each time: what is left out
 * would be the previous ones. */
static void callgrind_place(struct callgrind *c, uint32_t number, bool is_callee)
{
    const struct exchange_function *f = exchange_function_there(c->x, number);
    size_t nowhere = c->x->objects.len;
    uint32_t object = f->object < nowhere ? f->object : (uint32_t)nowhere;
    uint32_t file = c->file_of[number];
    callgrind_name(c, is_callee ? "cob" : "ob", object, &c->has_object[object],
                   object < nowhere ? c->x->objects.at[object].path : "???", "");
    callgrind_name(c, is_callee ? "cfi" : "fl", file, &c->has_file[file], callgrind_file(f), "");
    callgrind_name(c, is_callee ? "cfn" : "fn", number, &c->has_function[number], f->name,
                   f->is_inlined ? " [inlined]" : "");
}

/* Where costs stand: the line, with the address in front if the exchange has the code. */
static void callgrind_position(struct callgrind *c, uint64_t address, uint32_t line)
{
    if (c->x->code)
        out_printf(c->out, "0x%lx ", (unsigned long)address);
    out_printf(c->out, "%u", line);
}

/* The cost of one dimension, and those of the others, if any are reported. */
static void callgrind_cost(struct callgrind *c, const struct exchange_spot *at,
                           const uint64_t *others)
{
    callgrind_position(c, at->address, at->line);
    out_printf(c->out, " %lu", (unsigned long)at->cost);
    for (size_t i = 0; others && i < c->x->others_len; i++)
        out_printf(c->out, " %lu", (unsigned long)others[i]);
    out_char(c->out, '\n');
}

/* --- lines ---
 *
 * The figures of functions and arcs by the places of frames: what ran there, and what was called
 * from there.
 *
 *     main (9)                     main: 0 at its first line; from line 9 work, 400
 *       work (5)  100     gives
 *       work (6)  300              work: 100 at line 5, 300 at line 6
 *
 * A reader adds up what is at the lines of a function, so their sum is the function's, and that of
 * the lines that call another one is the arc's: both are checked by the laws of exchange.h. Places
 * of one function and line are one, wherever they are in the tree, as are calls from one place to
 * one function. */

/* Calls from one place to one function. */
struct line_calls {
    uint32_t place, callee;
    uint64_t cost;
};

/* The places of each function in the order of lines; those without costs of their own are left
 * out. `self`: per place. */
static void lines_make_self(struct exchange_spots *out, const struct exchange *x,
                            const uint64_t *self, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, x->places.len);
    size_t next = 0;
    for (uint32_t i = 0; i < x->places.len; i++)
        order[i] = (struct keyed){map_two(x->places.at[i].function, x->places.at[i].line), i};
    sort_keyed(order, x->places.len);
    out->first = ARENA_NEW(a, uint32_t, x->functions.len + 1);
    for (uint32_t i = 0; i < x->functions.len; i++) {
        for (; next < x->places.len && order[next].key >> 32 == i; next++)
            if (self[order[next].item])
                vec_push(&out->all, (struct exchange_spot){.line = (uint32_t)order[next].key,
                                                           .cost = self[order[next].item]});
        out->first[i + 1] = (uint32_t)out->all.len;
    }
}

/* By arc, as they are sorted, and by line within each: sorting keeps the order of equals. Calls by
 * nobody known, from [outside], have no frames, and so they have no places: one spot has all. */
static void lines_make_calls(struct exchange_spots *out, const struct exchange *x,
                             const struct line_calls *calls, size_t len, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, len);
    size_t next = 0;
    for (uint32_t i = 0; i < len; i++)
        order[i] = (struct keyed){x->places.at[calls[i].place].line, i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) {
        const struct line_calls *c = &calls[order[i].item];
        order[i].key = map_two(x->places.at[c->place].function, c->callee);
    }
    sort_keyed(order, len);
    out->first = ARENA_NEW(a, uint32_t, x->arcs.len + 1);
    for (uint32_t i = 0; i < x->arcs.len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        uint64_t key = map_two(arc->caller, arc->callee);
        for (; next < len && order[next].key <= key; next++) {
            const struct line_calls *c = &calls[order[next].item];
            if (order[next].key == key && c->cost)
                vec_push(&out->all, (struct exchange_spot){.line = x->places.at[c->place].line,
                                                           .cost = c->cost});
        }
        if (out->first[i] == out->all.len)
            vec_push(&out->all, (struct exchange_spot){.line = x->functions.at[arc->caller].line,
                                                       .cost = arc->cost});
        out->first[i + 1] = (uint32_t)out->all.len;
    }
}

/* A call is booked as exchange_costs.c does: on the outermost frame of the function. */
static void lines_make(struct exchange_spots *self, struct exchange_spots *calls,
                       const struct exchange *x, struct arena *a)
{
    uint64_t *own = ARENA_NEW(a, uint64_t, x->places.len + 1);
    uint64_t *total = ARENA_NEW(a, uint64_t, x->frames.len + 1);
    VEC(struct line_calls) found = {0};
    struct map number_of = {0};
    for (size_t i = x->frames.len; i-- > 1;) {
        const struct exchange_frame *f = &x->frames.at[i];
        own[f->place] += f->self;
        total[i] += f->self;
        total[f->parent] += total[i];
        if (!f->parent || !f->is_outermost)
            continue;
        bool is_new;
        uint32_t place = x->frames.at[f->parent].place;
        uint32_t number = map_index(&number_of, place, f->function, found.len, &is_new);
        if (is_new)
            vec_push(&found, ((struct line_calls){.place = place, .callee = f->function}));
        found.at[number].cost += total[i];
    }
    lines_make_self(self, x, own, a);
    lines_make_calls(calls, x, found.at, found.len, a);
    vec_free(&found);
    map_deinit(&number_of);
}

/* Own costs: at the function's first line, or line by line, or instruction by instruction. A
 * function without any has a line with 0. */
static void callgrind_own(struct callgrind *c, uint32_t number)
{
    const struct exchange_function *f = exchange_function_there(c->x, number);
    const struct exchange_code *code = c->x->code;
    struct exchange_spot begin = {.line = f->line, .cost = exchange_self(c->x, number)};
    for (size_t i = 0; i < c->x->others_len; i++)
        c->others[i] = exchange_self(&c->x->others[i], number);
    if (code)
        begin.address = code->entry[number];
    if (!c->self || !f->self)
        callgrind_cost(c, &begin, c->others);
    for (uint32_t i = c->self ? c->self->first[number] : 0;
         c->self && i < c->self->first[number + 1]; i++)
        callgrind_cost(c, &c->self->all.at[i], NULL);
}

/* Readers take what a call cost for the caller's own if it was never called. */
static void callgrind_call(struct callgrind *c, uint32_t callee, const struct exchange_spot *from,
                           const uint64_t *others)
{
    callgrind_place(c, callee, true);
    out_printf(c->out, "calls=%lu ", (unsigned long)(from->calls ? from->calls : 1));
    callgrind_position(c, c->x->code ? c->x->code->entry[callee] : 0,
                       exchange_function_there(c->x, callee)->line);
    out_char(c->out, '\n');
    callgrind_cost(c, from, others);
}

/* The calls of one pair: together, or from each line or instruction that made some. */
static void callgrind_arc(struct callgrind *c, const struct exchange_pairs *pairs)
{
    const struct exchange_arc *arc = &pairs->arc;
    if (!c->calls) {
        uint32_t line = exchange_function_there(c->x, arc->caller)->line;
        callgrind_call(
            c, arc->callee,
            &(struct exchange_spot){.line = line, .calls = arc->calls, .cost = pairs->costs[0]},
            pairs->costs + 1);
    }
    for (uint32_t i = c->calls ? c->calls->first[pairs->number] : 0;
         c->calls && i < c->calls->first[pairs->number + 1]; i++)
        callgrind_call(c, arc->callee, &c->calls->all.at[i], NULL);
}

/* A function and its calls, of which `pairs` has the first if it has any; it is then the first of
 * the next function's. Pairs are in the order of their callers. */
static void callgrind_function(struct callgrind *c, uint32_t number, struct exchange_pairs *pairs,
                               bool *has_pair)
{
    bool has_self = false, has_calls = *has_pair && pairs->arc.caller == number;
    for (size_t i = 0; i <= c->x->others_len; i++)
        has_self |= exchange_self(exchange_measure(c->x, i), number) > 0;
    if (!has_self && !has_calls)
        return;
    out_char(c->out, '\n');
    callgrind_place(c, number, false);
    callgrind_own(c, number);
    for (; *has_pair && pairs->arc.caller == number;
         *has_pair = exchange_pairs_next(pairs, c->x, c->a))
        callgrind_arc(c, pairs);
}

/* Whether calls were seen on stacks alone, so that their number is not known. */
static bool callgrind_has_uncounted(const struct exchange *x)
{
    for (size_t i = 0; i < x->arcs.len; i++)
        if (!x->arcs.at[i].calls)
            return true;
    return false;
}

/* What of the profile the format's columns cannot say stands in lines of `desc:`, which viewers
 * show. */
static void callgrind_head(struct callgrind *c)
{
    const struct exchange *x = c->x;
    const struct summary *s = x->summary;
    out_str(c->out, "# callgrind format\nversion: 1\ncreator: monarc " MONARC_VERSION "\ncmd: ");
    text_name(c->out, s->run && *s->run->command ? s->run->command : s->program);
    out_str(c->out, "\n");
    if (x->is_model)
        out_str(c->out, "desc: Model: times of calls are estimated by call counts\n");
    if (callgrind_has_uncounted(x))
        out_printf(c->out,
                   "desc: Calls: those that were seen on stacks and not counted stand as 1%s\n",
                   x->code    ? " for each instruction"
                   : c->calls ? " for each line"
                              : "");
    if (s->unknown_callers)
        out_printf(c->out, "desc: Left out: %lu calls from outside of all functions\n",
                   (unsigned long)s->unknown_callers);
    out_printf(c->out, "positions:%s line\nevent: Cost : ", x->code ? " instr" : "");
    text_name(c->out, x->event);
    out_str(c->out, ", ");
    text_name(c->out, x->unit);
    out_char(c->out, '\n');
    for (size_t i = 0; i < x->others_len; i++) {
        out_printf(c->out, "event: Cost%zu : ", i + 2);
        text_name(c->out, x->others[i].event);
        out_str(c->out, ", ");
        text_name(c->out, x->others[i].unit);
        out_char(c->out, '\n');
    }
    out_str(c->out, "events: Cost");
    for (size_t i = 0; i < x->others_len; i++)
        out_printf(c->out, " Cost%zu", i + 2);
    out_char(c->out, '\n');
}

void callgrind_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    uint32_t len = exchange_functions_len(x);
    struct callgrind c = {.out = out,
                          .x = x,
                          .a = &scratch,
                          .has_object = ARENA_NEW(&scratch, bool, x->objects.len + 1),
                          .has_function = ARENA_NEW(&scratch, bool, len + 1),
                          .others = ARENA_NEW(&scratch, uint64_t, x->others_len + 1)};
    struct exchange_pairs pairs = {0};
    bool has_pair = exchange_pairs_next(&pairs, x, &scratch);
    /* Equal paths get one number, so that a file is one in the viewer. */
    struct intern texts = {0};
    c.file_of = ARENA_NEW(&scratch, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const char *file = callgrind_file(exchange_function_there(x, i));
        c.file_of[i] = intern(&texts, file, strlen(file));
    }
    c.has_file = ARENA_NEW(&scratch, bool, len + 1);
    intern_deinit(&texts);
    /* Counted calls are of functions, and so are further dimensions. */
    struct exchange_spots self = {0}, calls = {0};
    if (x->code) {
        c.self = &x->code->self;
        c.calls = &x->code->calls;
    } else if (x->places.len > x->functions.len && !x->has_calls && !x->others_len) {
        lines_make(&self, &calls, x, &scratch);
        c.self = &self;
        c.calls = &calls;
    }
    callgrind_head(&c);
    for (uint32_t i = 0; i < len; i++)
        callgrind_function(&c, i, &pairs, &has_pair);
    out_str(out, "\ntotals:");
    for (size_t k = 0; k <= x->others_len; k++) {
        uint64_t total = 0;
        for (uint32_t i = 0; i < len; i++)
            total += exchange_self(exchange_measure(x, k), i);
        out_printf(out, " %lu", (unsigned long)total);
    }
    out_char(out, '\n');
    vec_free(&self.all);
    vec_free(&calls.all);
    arena_deinit(&scratch);
}

/* ---- The call graph in the language of Graphviz. Functions below half a percent are left out, and
 * a line below the graph says how many; without times all are drawn. Nothing is pruned silently. */

/* Share of the total below which a function is not drawn: a picture of thousands of nodes could not
 * be read. */
#define LEAST_SHARE 0.005

struct dot {
    struct out *out;
    const struct exchange *x;
    bool *is_shown; /* per function */
    size_t left_out;
};

/* Of what was measured in one dimension. */
static double dot_percent(const struct exchange *of, uint64_t amount)
{
    return of->total ? 100.0 * (double)amount / (double)of->total : 0;
}

static void dot_text(struct out *out, const char *text)
{
    dot_quoted(out, text, strlen(text));
}

/* From white to red by the share of the whole. Shares of other dimensions have their names. */
static void dot_node(struct dot *d, uint32_t number)
{
    const struct exchange_function *f = exchange_function_there(d->x, number);
    double total = dot_percent(d->x, exchange_total(d->x, number));
    out_printf(d->out, "  f%u [label=\"", number);
    dot_text(d->out, f->name);
    if (f->is_inlined)
        out_str(d->out, " [inlined]");
    if (d->x->total)
        out_printf(d->out, "\\n%.2f %%\\n(self %.2f %%)", total,
                   dot_percent(d->x, exchange_self(d->x, number)));
    for (size_t i = 0; i < d->x->others_len; i++) {
        const struct exchange *of = &d->x->others[i];
        out_str(d->out, "\\n");
        dot_text(d->out, of->event);
        out_printf(d->out, " %.2f %%\\n(self %.2f %%)", dot_percent(of, exchange_total(of, number)),
                   dot_percent(of, exchange_self(of, number)));
    }
    out_printf(d->out, "\", fillcolor=\"0.05 %.3f 1.0\", tooltip=\"",
               total > 100 ? 1 : total / 100);
    dot_text(d->out, f->file ? f->file : f->linkage);
    out_str(d->out, "\"];\n");
}

/* By total time, of any dimension; without any, functions that call or are called. */
static void dot_choose(struct dot *d, uint32_t len)
{
    const struct exchange *x = d->x;
    bool has_total = false;
    for (size_t k = 0; k <= x->others_len; k++)
        has_total |= exchange_measure(x, k)->total > 0;
    for (size_t i = 0; i < x->arcs.len && !has_total; i++)
        d->is_shown[x->arcs.at[i].caller] = d->is_shown[x->arcs.at[i].callee] = true;
    for (uint32_t i = 0; i < len; i++) {
        bool has_any = exchange_function_there(x, i)->object != EXCHANGE_NOWHERE;
        for (size_t k = 0; k <= x->others_len; k++) {
            const struct exchange *of = exchange_measure(x, k);
            uint64_t total = exchange_total(of, i);
            has_any |= total > 0;
            d->is_shown[i] |= total && (double)total >= LEAST_SHARE * (double)of->total;
        }
        d->left_out += !d->is_shown[i] && has_any;
    }
}

/* A line is as thick as the share of time that the calls cost. */
static void dot_edge(const struct dot *d, const struct exchange_pairs *pairs)
{
    double percent = dot_percent(d->x, pairs->costs[0]);
    const char *before = "";
    out_printf(d->out, "  f%u -> f%u [label=\"", pairs->arc.caller, pairs->arc.callee);
    if (pairs->costs[0]) {
        out_printf(d->out, "%.2f %%", percent);
        before = "\\n";
    }
    for (size_t i = 0; i < d->x->others_len; i++) {
        const struct exchange *of = &d->x->others[i];
        if (!pairs->costs[i + 1])
            continue;
        out_str(d->out, before);
        dot_text(d->out, of->event);
        out_printf(d->out, " %.2f %%", dot_percent(of, pairs->costs[i + 1]));
        before = "\\n";
    }
    if (pairs->arc.calls)
        out_printf(d->out, "%s%lu×", before, (unsigned long)pairs->arc.calls);
    out_printf(d->out, "\", penwidth=%.2f];\n", 0.5 + (percent > 100 ? 100 : percent) / 20);
}

void dot_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct exchange_pairs pairs = {0};
    uint32_t len = exchange_functions_len(x);
    struct dot d = {.out = out, .x = x, .is_shown = ARENA_NEW(&scratch, bool, len + 1)};
    dot_choose(&d, len);
    out_str(out, "digraph \"profile\" {\n"
                 "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                 "  edge [fontname=\"sans-serif\"];\n");
    out_str(out, "  label=\"");
    dot_text(out, x->summary->program);
    for (size_t i = 0; i <= x->others_len; i++) {
        out_str(out, i ? ", " : ": ");
        dot_text(out, exchange_measure(x, i)->event);
    }
    if (x->is_model && x->total)
        out_str(out, "; times along calls are estimated by call counts");
    if (d.left_out)
        out_printf(out, "; %zu functions below %.1f %% are left out", d.left_out,
                   100 * LEAST_SHARE);
    out_str(out, "\";\n");
    for (uint32_t i = 0; i < len; i++)
        if (d.is_shown[i])
            dot_node(&d, i);
    while (exchange_pairs_next(&pairs, x, &scratch))
        if (d.is_shown[pairs.arc.caller] && d.is_shown[pairs.arc.callee])
            dot_edge(&d, &pairs);
    out_str(out, "}\n");
    arena_deinit(&scratch);
}
