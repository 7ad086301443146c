/* What GNU-style reports share: pages, labels, places, and the explanations that -b leaves out.
 *
 * A label is all that stands for a function in the graph: `name <cycle 2> [17]`, with -l or
 * --inline-file-names its place as well. Each is printed as often as the function has callers and
 * callees, so labels are put together once, before printing, each in a line of the processor's
 * cache where it fits (struct gprof_label). Only functions that some report can print have one.
 *
 * The explanations are in our own words, in the places where GNU has its own; tests compare
 * reports without them, and then their places. */
#include "gnu/gprof/gprof.h"

#include "base/path.h"
#include "output/out.h"

#include <stdlib.h>
#include <string.h>

/* A form feed stands between reports, and none before the first. */
void gprof_new_page(struct gprof_report *r, struct out *out)
{
    if (r->has_output)
        out_str(out, "\f\n");
    r->has_output = true;
}

/* What follows a name in the graph: `<cycle N>`, and the rank, in parentheses if the function has
 * no entry.
 *
 *    parse <cycle 2> [17]        has an entry
 *    parse <cycle 2> (17)        has none */
static char *gprof_decorate(const struct graph_node *n, char *end)
{
    if (n->cycle) {
        memcpy(end, " <cycle ", 8);
        end = digits_u64(end + 8, n->cycle, 0);
        *end++ = '>';
    }
    *end++ = ' ';
    *end++ = n->is_shown ? '[' : '(';
    end = digits_u64(end, n->rank, 0);
    *end++ = n->is_shown ? ']' : ')';
    return end;
}

const char *gprof_file(const struct gprof_report *r, const char *path)
{
    return r->full_paths ? path : path_base_name(path);
}

static char *gprof_add_text(char *to, const char *text, size_t len)
{
    memcpy(to, text, len);
    return to + len;
}

/* The text after the file of a place. */
static char *gprof_place_numbers(const struct gprof_report *r, const struct function *f, char *to)
{
    *to++ = ':';
    if ((int32_t)f->line < 0) /* printed as signed, as GNU gprof does */
        *to++ = '-';
    to = digits_u64(to, (uint32_t)abs((int32_t)f->line), 0);
    if (r->places == PLACE_WITH_ADDRESS) {
        to = gprof_add_text(to, " @ ", 3);
        to = digits_hex(to, f->start);
    }
    *to++ = ')';
    return to;
}

enum { PLACE_NUMBERS = 48 };

/* The file as it is printed after a name, or NULL. */
static const char *gprof_shown_file(const struct gprof_report *r, const struct function *f)
{
    return r->places && f->file ? gprof_file(r, f->file) : NULL;
}

/* `name (file:line @ address)`, the place only where it is known and wanted. */
void gprof_name_and_place(const struct gprof_report *r, uint32_t function, struct out *out)
{
    const struct function *f = &r->functions->at[function];
    const char *file = gprof_shown_file(r, f);
    char numbers[PLACE_NUMBERS];
    out_str(out, names_get(r->names, function));
    if (!file)
        return;
    out_str(out, " (");
    out_str(out, file);
    out_bytes(out, numbers, (size_t)(gprof_place_numbers(r, f, numbers) - numbers));
}

/* Measures first, then copies: a label that does not fit its line goes to the arena.
 *
 *    struct gprof_label:  calls, lengths, text "name (file:line @ address) <cycle N> [rank]" */
static void gprof_make_label(struct gprof_report *r, uint32_t function, struct arena *a)
{
    enum { CYCLE_AND_RANK = 48 };
    const struct function *f = &r->functions->at[function];
    const struct graph_node *n = r->graph ? &r->graph->nodes[function] : NULL;
    const char *name = names_get(r->names, function);
    const char *file = gprof_shown_file(r, f);
    char numbers[PLACE_NUMBERS], decoration[CYCLE_AND_RANK];
    size_t len = strlen(name), file_len = file ? strlen(file) : 0;
    size_t numbers_len = file ? (size_t)(gprof_place_numbers(r, f, numbers) - numbers) : 0;
    size_t more = n ? (size_t)(gprof_decorate(n, decoration) - decoration) : 0;
    size_t name_len = file ? len + 2 + file_len + numbers_len : len;

    struct gprof_label *label = &r->labels[function];
    label->calls = n ? r->graph->nodes[n->head].calls : 0;
    label->name_len = (uint32_t)name_len;
    label->len = (uint32_t)(name_len + more);
    char *text = label->text;
    if (label->len > GPROF_LABEL_TEXT)
        label->long_text = text = arena_alloc_text(a, label->len);
    char *end = gprof_add_text(text, name, len);
    if (file) {
        end = gprof_add_text(end, " (", 2);
        end = gprof_add_text(end, file, file_len);
        end = gprof_add_text(end, numbers, numbers_len);
    }
    gprof_add_text(end, decoration, more);
}

/* Whether any report can have a line for it. The others keep a label of zeros, which is never
 * read. */
static bool gprof_can_be_printed(const struct gprof_report *r, uint32_t function)
{
    const struct graph *g = r->graph;
    if (r->show_all || r->time->self[function] != 0)
        return true;
    return g && (graph_has_callers(g, function) ||
                 g->callees.start[function] != g->callees.start[function + 1]);
}

/* 64 bytes are a line of the cache on most machines: a label that fits costs one access. */
void gprof_make_labels(struct gprof_report *r, struct arena *a)
{
    /* Aligned by hand to lines of the cache. */
    uint8_t *room = ARENA_NEW(a, uint8_t, ((size_t)r->functions->len + 1) * GPROF_LABEL);
    r->labels = (struct gprof_label *)(room + (-(uintptr_t)room & (GPROF_LABEL - 1)));
    for (uint32_t i = 0; i < r->functions->len; i++)
        if (gprof_can_be_printed(r, i))
            gprof_make_label(r, i, a);
}

void gprof_name(const struct gprof_report *r, uint32_t function, struct out *out)
{
    const struct gprof_label *label = &r->labels[function];
    out_bytes(out, gprof_label_text(label), label->len);
}

/* GNU cuts off the fraction. */
long gprof_granularity(const struct gprof_report *r)
{
    return (long)r->scale * 2;
}

const char gprof_flat_explanation[] =
    "\n"
    " %         share of the program's whole running time that was\n"
    "time       spent in this function itself.\n"
    "\n"
    "cumulative sum of the self seconds of this function and of all\n"
    " seconds   those listed above it.\n"
    "\n"
    " self      seconds spent in this function alone. The listing is\n"
    "seconds    sorted by this column.\n"
    "\n"
    "calls      how often the function was called, if it was compiled\n"
    "           for profiling; blank otherwise.\n"
    "\n"
    " self      time spent in the function itself per call, if its\n"
    "call       calls were counted; blank otherwise.\n"
    "\n"
    " total     time spent in the function and in what it calls, per\n"
    "call       call, if its calls were counted; blank otherwise.\n"
    "\n"
    "name       the function. A number in brackets is its place in\n"
    "           the call graph; one in parentheses means that the\n"
    "           graph leaves it out.\n";

const char gprof_graph_explanation[] =
    "\n"
    " Each entry of this table, between two dashed lines, is about one\n"
    "function: the line whose first column is a number in brackets. The\n"
    "lines above it are its callers, the lines below it are what it calls.\n"
    "Entries are sorted by the time spent in a function and its callees.\n"
    "\n"
    " The function's own line:\n"
    "\n"
    "     index     its number, by which other entries refer to it.\n"
    "\n"
    "     % time    share of the total time spent in it and its callees.\n"
    "\n"
    "     self      time spent in the function alone.\n"
    "\n"
    "     children  time passed up to it by its callees.\n"
    "\n"
    "     called    number of calls. After a `+': calls to itself.\n"
    "\n"
    "     name      the function, the cycle it belongs to, and its index.\n"
    "\n"
    " A caller's line:\n"
    "\n"
    "     self      part of the function's own time booked on this caller.\n"
    "\n"
    "     children  part of its callees' time booked on this caller.\n"
    "\n"
    "     called    calls from this caller `/' calls from all callers;\n"
    "               recursive calls are not in the second number.\n"
    "\n"
    "     name      the caller. `<spontaneous>' means that none is known.\n"
    "\n"
    " A callee's line reads the same way: the time is the callee's, as far\n"
    "as it is booked on this function, and the calls are those made by this\n"
    "function `/' all calls of the callee.\n"
    "\n"
    " Functions that call each other around form a cycle. It has an entry of\n"
    "its own, <cycle N as a whole>, whose callers are those of its members\n"
    "from outside and whose lines below are the members. Its `+' number counts\n"
    "calls between the members.\n";

const char gprof_bsd_graph_explanation[] =
    "\n\n\n"
    "call graph profile:\n"
    "          The sum of self and descendants is the main sort\n"
    "          of this listing.\n"
    "\n"
    "          function entries:\n"
    "\n"
    "index     the number of the function in this listing, by which\n"
    "          other entries refer to it.\n"
    "\n"
    "%time     share of the total time of the program that was spent\n"
    "          in this function and its descendants.\n"
    "\n"
    "self      seconds spent in this function itself.\n"
    "\n"
    "descendants\n"
    "          seconds passed up to it by what it calls.\n"
    "\n"
    "called    calls of this function, recursive ones apart.\n"
    "\n"
    "self      recursive calls of this function.\n"
    "\n"
    "name      the function and its number.\n"
    "\n"
    "          parent listings:\n"
    "\n"
    "self, descendants\n"
    "          the function's time and its descendants', as far as\n"
    "          they are booked on this parent.\n"
    "\n"
    "called    calls from this parent.\n"
    "\n"
    "total     calls from all parents.\n"
    "\n"
    "          children listings:\n"
    "\n"
    "self, descendants\n"
    "          the child's time and its descendants', as far as they\n"
    "          are booked on this function.\n"
    "\n"
    "called    calls made by this function.\n"
    "\n"
    "total     calls of the child by all functions.\n"
    "\n";

/* GNU gprof's orderings: linkage names or files, one a line. */

/* No heading and no form feed: a linker script may be made of it. */
void gprof_layout(const struct gnu_layout *t, struct out *out)
{
    for (size_t i = 0; i < t->len; i++) {
        out_str(out, t->names[i]);
        out_char(out, '\n');
    }
}
