/* monarc sprof, or monarc started as sprof: what glibc's sprof prints of a profile that LD_PROFILE
 * left of a shared object, which it does not load.
 *
 * Samples and arcs are counted by symbol with sprof's rules: functions and symbols without a type
 * that have a size, one for each address; bins that begin in a symbol are its own; the first of
 * symbols that overlap has what is in both. sprof prints three reports of them: -p by time, -q
 * with callers and callees, -c as pairs. It does not know times of children: they are 0 in the
 * graph.
 *
 * Addresses are true ones. sprof itself takes those of the file, which count from the start of the
 * object's code, for addresses, and is right only where that is 0 (docs/compat.md). A profile of
 * another object is refused. Where glibc's recorder adds up calls of neighbours, a line on
 * standard error says so; sprof is silent.
 *
 * Arcs of a symbol are chains, the newest first, as sprof prints them. Time is linear in bins,
 * arcs and symbols. */
#include "gnu/gnu_compat.h"
#include "base/map.h"
#include "base/vec.h"
#include "objfile/object.h"
#include "output/out.h"
#include "profile/analysis/attribution.h"
#include "profile/model/profile.h"
#include "base/path.h"
#include "base/sort.h"
#include "session/profiles.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A profile of one shared object, as sprof counts: samples and calls of each symbol, and who called
 * whom. */

#define NONE UINT32_MAX /* no symbol, no arc */

/* Ticks are hits of the profiling clock; chains are heads in struct sprof_tables' arcs. */
struct sprof_symbol {
    const struct object_symbol *named;
    uint64_t ticks, calls;
    uint32_t froms, tos; /* the last arc that was found, first of a chain */
};

/* Calls between two symbols, or one and what has no symbol. */
struct sprof_arc {
    uint32_t symbol; /* the other side */
    uint32_t next;   /* the one found before */
    uint64_t count;
};

/* All that the three reports print. */
struct sprof_tables {
    VEC(struct sprof_symbol) symbols; /* by address, one for each */
    VEC(struct sprof_arc) arcs;
    VEC(uint64_t) ends; /* the furthest end of a symbol so far */
    uint64_t total_ticks;
    double tick; /* in units of the dimension */
    const char *dimension;
    struct map known;
    struct merged_calls merged;
};

/* --- counting -------------------------------------------------------------------------------- */

/* Of two at one address: sprof's own order of preference. Visible before hidden, names without an
 * underscore before those with, strong before weak. */
static bool sprof_is_better(const struct object_symbol *new, const struct object_symbol *old)
{
    bool is_plain = new->name[0] != '_', was_plain = old->name[0] != '_';
    return (old->is_hidden && !new->is_hidden) || (is_plain && !was_plain) ||
           (is_plain && was_plain && old->binding == BIND_WEAK && new->binding != BIND_WEAK);
}

/* `ends` is the running maximum, so that the first symbol reaching beyond an address can be found
 * by halving. */
static void sprof_list_symbols(struct object *o, struct sprof_tables *t)
{
    size_t len, candidates = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    VEC(struct keyed) order = {0};
    /* Counts samples and arcs by symbol with sprof's rules: functions and symbols without a type
     * that have a size, one for each address; bins that begin in a symbol are its own; the first of
     * symbols that overlap has what is in both.
     *
     * Addresses are true ones. sprof itself takes those of the file, which count from the start of
     * the object's code, for addresses, and is right only where that is 0 (docs/compat.md). */
    for (size_t i = 0; i < len; i++)
        if (symbols[i].size && (symbols[i].type == SYMBOL_FUNC || symbols[i].type == SYMBOL_NOTYPE))
            vec_push(&order, (struct keyed){symbols[i].address, map_value(i)});
    candidates = order.len;
    sort_keyed(order.at, candidates);
    for (size_t i = 0; i < candidates; i++) {
        const struct object_symbol *s = &symbols[order.at[i].item];
        struct sprof_symbol *last = t->symbols.len ? &t->symbols.at[t->symbols.len - 1] : NULL;
        if (!last || last->named->address != s->address)
            vec_push(&t->symbols, (struct sprof_symbol){.named = s, .froms = NONE, .tos = NONE});
        else if (sprof_is_better(s, last->named))
            last->named = s;
    }
    vec_free(&order);
    for (size_t i = 0; i < t->symbols.len; i++) {
        const struct object_symbol *s = t->symbols.at[i].named;
        uint64_t before = i ? t->ends.at[i - 1] : 0, end = s->address + s->size;
        vec_push(&t->ends, end > before ? end : before);
    }
}

/* The first symbol that has the address in it. */
static uint32_t sprof_find(const struct sprof_tables *t, uint64_t address)
{
    size_t low = 0, high = t->symbols.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->ends.at[middle] > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < t->symbols.len && t->symbols.at[low].named->address <= address ? (uint32_t)low
                                                                                : NONE;
}

/* Adds to the arc of a chain, or puts a new one in front. What has no symbol is one arc for all
 * that came from outside, and each its own otherwise. `known` leads from (owner, direction) and the
 * other symbol to the arc, so that this is O(1). */
static void sprof_add_arc(struct sprof_tables *t, uint32_t owner, bool is_from, uint32_t other,
                          bool is_outside, uint64_t count)
{
    uint32_t *chain = is_from ? &t->symbols.at[owner].froms : &t->symbols.at[owner].tos;
    bool is_new = true;
    if (other != NONE || is_outside) {
        uint32_t *at = map_at(&t->known, map_two(owner, is_from), other, NONE, &is_new);
        if (!is_new) {
            t->arcs.at[*at].count = add_saturating(t->arcs.at[*at].count, count);
            return;
        }
        *at = map_value(t->arcs.len);
    }
    vec_push(&t->arcs, (struct sprof_arc){other, *chain, count});
    *chain = map_value(t->arcs.len - 1);
}

/* Only symbols that other objects can call may have calls added up by glibc. */
static void sprof_find_merged(struct sprof_tables *t, const struct profile *p)
{
    struct arena scratch = {0};
    struct keyed *entries = ARENA_NEW(&scratch, struct keyed, t->symbols.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < t->symbols.len; i++) {
        const struct object_symbol *s = t->symbols.at[i].named;
        if (s->binding != BIND_LOCAL && !s->is_hidden)
            entries[len++] = (struct keyed){s->address, i};
    }
    merged_calls_find(&t->merged, p, entries, len);
    arena_deinit(&scratch);
}

/* Bins and symbols both ascend, so one walk books all samples; arcs are looked up by address, O(log
 * symbols) each. */
static void sprof_count(struct object *o, const struct profile *p, struct sprof_tables *out)
{
    const struct histogram *h = &p->histograms.at[0];
    sprof_list_symbols(o, out);
    uint32_t bin = 0;
    for (size_t i = 0; i < out->symbols.len && bin < h->bins; i++) {
        struct sprof_symbol *s = &out->symbols.at[i];
        uint64_t end = s->named->address + s->named->size;
        while (bin < h->bins && histogram_bin_floor(h, bin) < s->named->address)
            bin++;
        for (; bin < h->bins && histogram_bin_floor(h, bin) < end; bin++)
            s->ticks = add_saturating(s->ticks, histogram_get(h, bin));
        out->total_ticks = add_saturating(out->total_ticks, s->ticks);
    }
    out->tick = h->rate ? 1.0 / h->rate : 0;
    out->dimension = h->dimension;
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        uint32_t callee = sprof_find(out, arc->self);
        uint32_t caller = arc->from ? sprof_find(out, arc->from) : NONE;
        if (callee != NONE) {
            struct sprof_symbol *s = &out->symbols.at[callee];
            s->calls = add_saturating(s->calls, arc->count);
            sprof_add_arc(out, callee, true, caller, !arc->from, arc->count);
        }
        if (caller != NONE)
            sprof_add_arc(out, caller, false, callee, false, arc->count);
    }
    sprof_find_merged(out, p);
}

/* --- printing -------------------------------------------------------------------------------- */

/* sprof's layouts. Times of children are 0 in the graph, as sprof does not know them. */

static const struct sprof_symbol *sprof_row(const void *at)
{
    return *(const struct sprof_symbol *const *)at;
}

/* By ticks and calls, both descending, then by name; addresses make the order complete. */
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

static double sprof_time(const struct sprof_tables *t, uint32_t symbol)
{
    return symbol == NONE ? 0 : t->tick * (double)t->symbols.at[symbol].ticks;
}

/* sprof does not say how often something without a symbol was called in all. */
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

/* Callers above, the symbol itself, callees below; numbers in brackets are places by address. */
static void sprof_print_graph(struct out *out, const struct sprof_tables *t)
{
    out_str(out, "\nindex % time    self  children    called     name\n\n");
    for (uint32_t i = 0; i < t->symbols.len; i++) {
        const struct sprof_symbol *s = &t->symbols.at[i];
        char index[16];
        if (s->froms == NONE && s->tos == NONE)
            continue;
        for (uint32_t a = s->froms; a != NONE; a = t->arcs.at[a].next) {
            const struct sprof_arc *arc = &t->arcs.at[a];
            out_printf(out, "            %8.2f%8.2f%9" PRIu64 "/%-9" PRIu64 "   %s",
                       sprof_time(t, arc->symbol), 0.0, arc->count, s->calls,
                       arc->symbol == NONE ? "<UNKNOWN>" : t->symbols.at[arc->symbol].named->name);
            if (arc->symbol != NONE)
                out_printf(out, " [%" PRIu32 "]", arc->symbol);
            out_char(out, '\n');
        }
        int width = 7 - snprintf(index, sizeof index, "[%" PRIu32 "]", i);
        out_printf(out, "%s%*s%5.1f%8.2f%8.2f%9" PRIu64 "         %s [%" PRIu32 "]\n", index, width,
                   " ", sprof_percent(t, s->ticks), t->tick * (double)s->ticks, 0.0, s->calls,
                   s->named->name, i);
        for (uint32_t a = s->tos; a != NONE; a = t->arcs.at[a].next)
            sprof_print_callee(out, t, &t->arcs.at[a]);
        out_str(out, "-----------------------------------------------\n");
    }
}

/* Caller, callee, calls, in columns of 34, 34 and 9. */
static void sprof_print_pair(struct out *out, const struct sprof_tables *t, uint32_t caller,
                             uint32_t callee, uint64_t count)
{
    out_printf(out, "%-34s %-34s %9" PRIu64 "\n",
               caller == NONE ? "<UNKNOWN>" : t->symbols.at[caller].named->name,
               callee == NONE ? "<UNKNOWN>" : t->symbols.at[callee].named->name, count);
}

/* --- the command ----------------------------------------------------------------------------- */

enum sprof_mode { SPROF_FLAT = 1, SPROF_GRAPH = 2, SPROF_PAIRS = 4 };

static const struct option_row OPTIONS[] = {
    {'c', "call-pairs", NULL, "print pairs of functions and the calls between them"},
    {'p', "flat-profile", NULL, "print samples and calls of each function"},
    {'q', "graph", NULL, "print each function with its callers and callees"},
    {'V', "version", NULL, "print the version"},
};

static const struct option LONG[] = {
    {"call-pairs", no_argument, NULL, 'c'}, {"flat-profile", no_argument, NULL, 'p'},
    {"graph", no_argument, NULL, 'q'},      {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},    {0}};

static const char VERSION[] = "sprof (monarc) 2.36\n" STANDS_IN NO_WARRANTY;

/* -1: go on; otherwise an exit status. */
static int parse(const struct command *self, int argc, char **argv, unsigned *mode, struct out *out)
{
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "cpq?V", LONG, NULL)) != -1;) {
        switch (code) {
        case 'c': *mode |= SPROF_PAIRS; break;
        case 'p': *mode |= SPROF_FLAT; break;
        case 'q': *mode |= SPROF_GRAPH; break;
        case 'V': out_str(out, VERSION); return EXIT_FINE;
        case 'h': command_help(self, out); return EXIT_FINE;
        default: return EXIT_DIFFERS;
        }
    }
    if (argc - optind >= 1 && argc - optind <= 2)
        return -1;
    command_help(self, out);
    return EXIT_DIFFERS;
}

/* LD_PROFILE names files after the object's soname, and leaves them in /var/tmp. */
static const char *default_profile(struct object *o, const char *path, struct arena *a)
{
    const char *soname = object_facts(o)->soname;
    return arena_printf(a, "%s.profile", soname ? soname : path_base_name(path));
}

/* The range is that of the object's code, in whole pages of the machine that wrote it. */
static bool is_of_object(struct object *o, const struct profile *p)
{
    const struct object_facts *facts = object_facts(o);
    const struct histogram *h = p->histograms.at;
    uint64_t low = UINT64_MAX, high = 0, page = 65536;
    for (size_t i = 0; i < facts->code_len; i++) {
        const struct object_segment *s = &facts->code[i];
        low = s->address < low ? s->address : low;
        high = s->address + s->size > high ? s->address + s->size : high;
    }
    return p->format == PROFILE_SPROF && p->histograms.len == 1 && low < high && h->low <= low &&
           low - h->low < page && h->high >= high && h->high - high < page;
}

/* The flat profile has the columns of gprof's, with times per call in microseconds; total times per
 * call are left blank, as sprof leaves them. */
static void print(struct out *out, const struct sprof_tables *t, unsigned mode)
{
    if (mode & SPROF_FLAT) {
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
            out_printf(
                out, "%6.2f%10.2f%9.2f%9" PRIu64 "%9.2f           %s\n", sprof_percent(t, s->ticks),
                t->tick * (double)ticks, t->tick * (double)s->ticks, s->calls,
                s->calls ? (double)s->ticks * 1e6 * t->tick / (double)s->calls : 0, s->named->name);
        }
        vec_free(&rows);
    }
    if (mode & SPROF_GRAPH)
        sprof_print_graph(out, t);
    if (mode & SPROF_PAIRS) {
        /* Each pair once: calls from outside by their callee, all others by their caller. */
        for (uint32_t i = 0; i < t->symbols.len; i++) {
            const struct sprof_symbol *s = &t->symbols.at[i];
            for (uint32_t a = s->froms; a != NONE; a = t->arcs.at[a].next)
                if (t->arcs.at[a].symbol == NONE)
                    sprof_print_pair(out, t, NONE, i, t->arcs.at[a].count);
            for (uint32_t a = s->tos; a != NONE; a = t->arcs.at[a].next)
                sprof_print_pair(out, t, i, t->arcs.at[a].symbol, t->arcs.at[a].count);
        }
    }
}

/* Opens the object, finds and reads its profile, and prints. */
static bool show(const char *path, const char *named, unsigned mode, struct out *out,
                 struct out *complaints, struct err *e)
{
    struct arena scratch = {0};
    struct profile p = {0};
    struct file_buffer b = {0};
    struct sprof_tables t = {0};
    struct object *o = object_open(path, NULL, NULL, e);
    bool ok = o != NULL;
    const char *profile = ok && !named ? default_profile(o, path, &scratch) : named;
    if (ok) {
        struct profile_options as_said = {0};
        struct profile_options options = profile_options_of(&as_said, o);
        profile = strchr(profile, '/') || !access(profile, F_OK)
                      ? profile
                      : arena_printf(&scratch, "/var/tmp/%s", profile);
        ok = profile_load(&options, profile, &b, &p, e) &&
             (is_of_object(o, &p) ||
              err_set(e, "`%s' is no correct profile data file for `%s'", profile, path));
    }
    if (ok) {
        sprof_count(o, &p, &t);
        print(out, &t, mode ? mode : SPROF_FLAT | SPROF_GRAPH);
        const struct merged_calls *m = &t.merged;
        if (m->functions)
            out_printf(complaints,
                       "sprof: %" PRIu32 " function%s within %d bytes of one that was called from "
                       "outside: glibc adds such calls of '%s'%s to those of '%s'\n",
                       m->functions, m->functions == 1 ? " begins" : "s begin", MERGED_CALLS_BYTES,
                       t.symbols.at[m->first].named->name,
                       m->functions == 1 ? "" : ", the first of them,",
                       t.symbols.at[m->into].named->name);
    }
    vec_free(&t.symbols);
    vec_free(&t.arcs);
    vec_free(&t.ends);
    map_deinit(&t.known);
    profile_deinit(&p);
    file_buffer_deinit(&b);
    object_close(o);
    arena_deinit(&scratch);
    return ok;
}

/* Messages begin with "sprof:" and go to standard error; the status is 1. */
static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct out complaints;
    unsigned mode = 0;
    out_init(&complaints, STDERR_FILENO);
    int status = parse(self, argc, argv, &mode, out);
    if (status < 0) {
        struct err why = {0};
        status = EXIT_FINE;
        if (!show(argv[optind], argv[optind + 1], mode, out, &complaints, &why)) {
            out_printf(&complaints, "sprof: %s\n", why.line);
            status = EXIT_DIFFERS;
        }
    }
    if (!out_finish(&complaints, "standard error", e))
        status = EXIT_BAD;
    out_deinit(&complaints);
    return status;
}

const struct command command_sprof = {
    .name = "sprof",
    .synopsis = "[OPTION...] SHOBJ [PROFDATA]",
    .summary = "Print a shared object's profile of LD_PROFILE, as glibc's sprof does",
    .is_lookalike = true,
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
