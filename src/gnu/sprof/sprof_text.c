/* sprof's layouts. Times of children are 0 in the graph, as sprof does not know them. */
#include "gnu/sprof/sprof_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)SPROF_NONE)

static const struct sprof_symbol *sprof_row(const void *at)
{
    return *(const struct sprof_symbol *const *)at;
}

static int sprof_by_ticks(const void *a, const void *b)
{
    const struct sprof_symbol *s = sprof_row(a), *t = sprof_row(b);
    int by_ticks = (s->ticks < t->ticks) - (s->ticks > t->ticks);
    int by_calls = (s->calls < t->calls) - (s->calls > t->calls);
    int by_name = strcmp(s->named->name, t->named->name);
    int by_address = (s > t) - (s < t);
    return by_ticks ? by_ticks : by_calls ? by_calls : by_name ? by_name : by_address;
}

static double sprof_percent(const struct sprof_tables *t, uint64_t ticks)
{
    return t->total_ticks ? 100.0 * (double)ticks / (double)t->total_ticks : 0;
}

void sprof_print_flat(struct out *out, const struct sprof_tables *t)
{
    VEC(const struct sprof_symbol *) rows = {0};
    uint64_t ticks = 0;
    out_printf(out, "Flat profile:\n\nEach sample counts as %g %s.\n", t->tick, t->dimension);
    out_str(out, "  %   cumulative   self              self     total\n"
                 " time   seconds   seconds    calls  us/call  us/call  name\n");
    for (size_t i = 0; i < t->symbols.len; i++)
        if (t->symbols.at[i].calls || t->symbols.at[i].ticks)
            vec_push(&rows, &t->symbols.at[i]);
    if (rows.len)
        qsort(rows.at, rows.len, sizeof *rows.at, sprof_by_ticks);
    for (size_t i = 0; i < rows.len; i++) {
        const struct sprof_symbol *s = rows.at[i];
        ticks += s->ticks;
        out_printf(out, "%6.2f%10.2f%9.2f%9" PRIu64 "%9.2f           %s\n",
                   sprof_percent(t, s->ticks), t->tick * (double)ticks, t->tick * (double)s->ticks,
                   s->calls, s->calls ? (double)s->ticks * 1e6 * t->tick / (double)s->calls : 0,
                   s->named->name);
    }
    vec_free(&rows);
}

static double sprof_time(const struct sprof_tables *t, uint32_t symbol)
{
    return symbol == NONE ? 0 : t->tick * (double)t->symbols.at[symbol].ticks;
}

static void sprof_print_caller(struct out *out, const struct sprof_tables *t,
                               const struct sprof_arc *arc, uint64_t calls)
{
    out_printf(out, "            %8.2f%8.2f%9" PRIu64 "/%-9" PRIu64 "   %s",
               sprof_time(t, arc->symbol), 0.0, arc->count, calls,
               arc->symbol == NONE ? "<UNKNOWN>" : t->symbols.at[arc->symbol].named->name);
    if (arc->symbol != NONE)
        out_printf(out, " [%" PRIu32 "]", arc->symbol);
    out_char(out, '\n');
}

static void sprof_print_callee(struct out *out, const struct sprof_tables *t,
                               const struct sprof_arc *arc)
{
    out_printf(out, "            %8.2f%8.2f%9" PRIu64 "/", sprof_time(t, arc->symbol), 0.0,
               arc->count);
    if (arc->symbol == NONE) {
        out_str(out, "???         <UNKNOWN>\n\n");
        return;
    }
    const struct sprof_symbol *s = &t->symbols.at[arc->symbol];
    out_printf(out, "%-9" PRIu64 "   %s [%" PRIu32 "]\n", s->calls, s->named->name, arc->symbol);
}

void sprof_print_graph(struct out *out, const struct sprof_tables *t)
{
    out_str(out, "\nindex % time    self  children    called     name\n\n");
    for (uint32_t i = 0; i < t->symbols.len; i++) {
        const struct sprof_symbol *s = &t->symbols.at[i];
        char index[16];
        if (s->froms == NONE && s->tos == NONE)
            continue;
        for (uint32_t a = s->froms; a != NONE; a = t->arcs.at[a].next)
            sprof_print_caller(out, t, &t->arcs.at[a], s->calls);
        int width = 7 - snprintf(index, sizeof index, "[%" PRIu32 "]", i);
        out_printf(out, "%s%*s%5.1f%8.2f%8.2f%9" PRIu64 "         %s [%" PRIu32 "]\n", index, width,
                   " ", sprof_percent(t, s->ticks), t->tick * (double)s->ticks, 0.0, s->calls,
                   s->named->name, i);
        for (uint32_t a = s->tos; a != NONE; a = t->arcs.at[a].next)
            sprof_print_callee(out, t, &t->arcs.at[a]);
        out_str(out, "-----------------------------------------------\n");
    }
}

static void sprof_print_pair(struct out *out, const struct sprof_tables *t, uint32_t caller,
                             uint32_t callee, uint64_t count)
{
    out_printf(out, "%-34s %-34s %9" PRIu64 "\n",
               caller == NONE ? "<UNKNOWN>" : t->symbols.at[caller].named->name,
               callee == NONE ? "<UNKNOWN>" : t->symbols.at[callee].named->name, count);
}

void sprof_print_pairs(struct out *out, const struct sprof_tables *t)
{
    for (uint32_t i = 0; i < t->symbols.len; i++) {
        const struct sprof_symbol *s = &t->symbols.at[i];
        for (uint32_t a = s->froms; a != NONE; a = t->arcs.at[a].next)
            if (t->arcs.at[a].symbol == NONE)
                sprof_print_pair(out, t, NONE, i, t->arcs.at[a].count);
        for (uint32_t a = s->tos; a != NONE; a = t->arcs.at[a].next)
            sprof_print_pair(out, t, i, t->arcs.at[a].symbol, t->arcs.at[a].count);
    }
}
