/* Exports that are call graphs: callgrind's format, and dot.
 *
 * Callgrind's output format, version 1: for KCachegrind, QCachegrind and callgrind_annotate. Costs
 * stand at the line where a function begins, or, if the exchange has the code, at each instruction
 * with its line; calls have exact counts. What a call cost is added up by those who read it, so
 * nothing is in it twice: see exchange.h. Names are written once and then by number, as the format
 * allows, which makes the file a third as long.
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
 * Source: "Callgrind Format Specification" of Valgrind's manual. Linear in functions and arcs. */
#include "profile/export/exports.h"

#include "base/map.h"
#include "output/out.h"
#include "profile/analysis/exchange/exchange.h"

/* A name is spelled out once; after that its number is enough. */
struct callgrind {
    struct out *out;
    const struct exchange *x;
    bool *has_object, *has_file, *has_function;
    uint32_t *file_of; /* per function; equal paths have equal numbers */
};

/* Without what would end the line. */
static void callgrind_text(struct out *out, const char *text)
{
    for (; *text; text++)
        out_char(out, *text == '\n' || *text == '\r' ? ' ' : *text);
}

/* "fn=(3) main" the first time, "fn=(3)" after that. */
static void callgrind_name(struct callgrind *c, const char *key, uint32_t number, bool *is_known,
                           const char *name, const char *suffix)
{
    out_printf(c->out, "%s=(%u)", key, number + 1);
    if (!*is_known) {
        out_char(c->out, ' ');
        callgrind_text(c->out, name);
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
    const struct exchange_function *f = &c->x->functions.at[number];
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

static void callgrind_cost(struct callgrind *c, const struct exchange_spot *at)
{
    callgrind_position(c, at->address, at->line);
    out_printf(c->out, " %lu\n", (unsigned long)at->cost);
}

/* Own costs: at the function's first line, or instruction by instruction. A function without any
 * has a line with 0. */
static void callgrind_own(struct callgrind *c, uint32_t number)
{
    const struct exchange_function *f = &c->x->functions.at[number];
    const struct exchange_code *code = c->x->code;
    struct exchange_spot begin = {.line = f->line, .cost = f->self};
    if (code)
        begin.address = code->entry[number];
    if (!code || !f->self)
        callgrind_cost(c, &begin);
    for (uint32_t i = code ? code->self.first[number] : 0; code && i < code->self.first[number + 1];
         i++)
        callgrind_cost(c, &code->self.all.at[i]);
}

/* Readers take what a call cost for the caller's own if it was never called. */
static void callgrind_call(struct callgrind *c, uint32_t callee, const struct exchange_spot *from)
{
    callgrind_place(c, callee, true);
    out_printf(c->out, "calls=%lu ", (unsigned long)(from->calls ? from->calls : 1));
    callgrind_position(c, c->x->code ? c->x->code->entry[callee] : 0,
                       c->x->functions.at[callee].line);
    out_char(c->out, '\n');
    callgrind_cost(c, from);
}

/* The calls of one pair: together, or from each instruction that made some. */
static void callgrind_arc(struct callgrind *c, size_t number)
{
    const struct exchange_arc *arc = &c->x->arcs.at[number];
    const struct exchange_code *code = c->x->code;
    if (!code)
        callgrind_call(c, arc->callee,
                       &(struct exchange_spot){.line = c->x->functions.at[arc->caller].line,
                                               .calls = arc->calls,
                                               .cost = arc->cost});
    for (uint32_t i = code ? code->calls.first[number] : 0;
         code && i < code->calls.first[number + 1]; i++)
        callgrind_call(c, arc->callee, &code->calls.all.at[i]);
}

/* A function and its calls, of which `arc` is the first if it has any; returns the first arc of the
 * next. Arcs are in the order of their callers. */
static size_t callgrind_function(struct callgrind *c, uint32_t number, size_t arc)
{
    const struct exchange_function *f = &c->x->functions.at[number];
    const struct exchange_arc *arcs = c->x->arcs.at;
    bool has_calls = arc < c->x->arcs.len && arcs[arc].caller == number;
    if (!f->self && !has_calls)
        return arc;
    out_char(c->out, '\n');
    callgrind_place(c, number, false);
    callgrind_own(c, number);
    for (; arc < c->x->arcs.len && arcs[arc].caller == number; arc++)
        callgrind_arc(c, arc);
    return arc;
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
    callgrind_text(c->out, s->run && *s->run->command ? s->run->command : s->program);
    out_str(c->out, "\n");
    if (x->is_model)
        out_str(c->out, "desc: Model: times of calls are estimated by call counts\n");
    if (callgrind_has_uncounted(x))
        out_printf(c->out,
                   "desc: Calls: those that were seen on stacks and not counted stand as 1%s\n",
                   x->code ? " for each instruction" : "");
    if (s->unknown_callers)
        out_printf(c->out, "desc: Left out: %lu calls from outside of all functions\n",
                   (unsigned long)s->unknown_callers);
    out_printf(c->out, "positions:%s line\nevent: Cost : %s, %s\nevents: Cost\n",
               x->code ? " instr" : "", x->event, x->unit);
}

void callgrind_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct callgrind c = {.out = out,
                          .x = x,
                          .has_object = ARENA_NEW(&scratch, bool, x->objects.len + 1),
                          .has_function = ARENA_NEW(&scratch, bool, x->functions.len + 1)};
    uint64_t total = 0;
    size_t arc = 0;
    /* Equal paths get one number, so that a file is one in the viewer. */
    struct intern texts = {0};
    c.file_of = ARENA_NEW(&scratch, uint32_t, x->functions.len + 1);
    for (size_t i = 0; i < x->functions.len; i++) {
        const char *file = callgrind_file(&x->functions.at[i]);
        c.file_of[i] = intern(&texts, file, strlen(file));
    }
    c.has_file = ARENA_NEW(&scratch, bool, x->functions.len + 1);
    intern_deinit(&texts);
    callgrind_head(&c);
    for (uint32_t i = 0; i < x->functions.len; i++) {
        arc = callgrind_function(&c, i, arc);
        total += x->functions.at[i].self;
    }
    out_printf(out, "\ntotals: %lu\n", (unsigned long)total);
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

static double dot_percent(const struct dot *d, uint64_t amount)
{
    return d->x->total ? 100.0 * (double)amount / (double)d->x->total : 0;
}

static void dot_text(struct out *out, const char *text)
{
    dot_quoted(out, text, strlen(text));
}

/* From white to red by the share of the whole. */
static void dot_node(struct dot *d, uint32_t number)
{
    const struct exchange_function *f = &d->x->functions.at[number];
    double total = dot_percent(d, f->total);
    out_printf(d->out, "  f%u [label=\"", number);
    dot_text(d->out, f->name);
    if (f->is_inlined)
        out_str(d->out, " [inlined]");
    if (d->x->total)
        out_printf(d->out, "\\n%.2f %%\\n(self %.2f %%)", total, dot_percent(d, f->self));
    out_printf(d->out, "\", fillcolor=\"0.05 %.3f 1.0\", tooltip=\"",
               total > 100 ? 1 : total / 100);
    dot_text(d->out, f->file ? f->file : f->linkage);
    out_str(d->out, "\"];\n");
}

void dot_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct dot d = {
        .out = out, .x = x, .is_shown = ARENA_NEW(&scratch, bool, x->functions.len + 1)};
    /* By total time; without any, functions that call or are called. */
    for (size_t i = 0; i < x->arcs.len && !x->total; i++)
        d.is_shown[x->arcs.at[i].caller] = d.is_shown[x->arcs.at[i].callee] = true;
    for (size_t i = 0; i < x->functions.len; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        bool is_large = f->total && (double)f->total >= LEAST_SHARE * (double)x->total;
        d.is_shown[i] = d.is_shown[i] || is_large;
        d.left_out += !d.is_shown[i] && (f->total || f->object != EXCHANGE_NOWHERE);
    }
    out_str(out, "digraph \"profile\" {\n"
                 "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                 "  edge [fontname=\"sans-serif\"];\n");
    out_str(out, "  label=\"");
    dot_text(out, x->summary->program);
    out_printf(out, ": %s", x->event);
    if (x->is_model && x->total)
        out_str(out, "; times along calls are estimated by call counts");
    if (d.left_out)
        out_printf(out, "; %zu functions below %.1f %% are left out", d.left_out,
                   100 * LEAST_SHARE);
    out_str(out, "\";\n");
    for (uint32_t i = 0; i < x->functions.len; i++)
        if (d.is_shown[i])
            dot_node(&d, i);
    for (size_t i = 0; i < x->arcs.len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        if (d.is_shown[arc->caller] && d.is_shown[arc->callee]) {
            /* The line is as thick as the share of time that the calls cost. */
            double percent = dot_percent(&d, arc->cost);
            out_printf(out, "  f%u -> f%u [label=\"", arc->caller, arc->callee);
            if (arc->cost)
                out_printf(out, "%.2f %%", percent);
            if (arc->calls)
                out_printf(out, "%s%lu×", arc->cost ? "\\n" : "", (unsigned long)arc->calls);
            out_printf(out, "\", penwidth=%.2f];\n", 0.5 + (percent > 100 ? 100 : percent) / 20);
        }
    }
    out_str(out, "}\n");
    arena_deinit(&scratch);
}
