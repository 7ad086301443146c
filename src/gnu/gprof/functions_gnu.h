/* Functions by GNU gprof's rules: their table, which keeps and drops other symbols than ours and
 * stretches each one to the next; symspecs, which select from it; and samples and calls booked on
 * it. */
#ifndef MONARC_GNU_GPROF_FUNCTIONS_GNU_H
#define MONARC_GNU_GPROF_FUNCTIONS_GNU_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "profile/analysis/attribution.h"
#include "profile/analysis/graph/graph.h"
#include "profile/model/profile.h"

struct order_map;

/* Options that decide which symbols are functions. */
struct gnu_symbol_rules {
    bool no_static;                /* -a */
    bool only_functions;           /* -D */
    const struct order_map *files; /* -R; NULL: none */
};

/* What GNU's rules ask of an entry beyond what a function is. */
struct gnu_symbol {
    uint32_t created;  /* the first place in the symbol table of those that share the address */
    bool has_unlisted; /* unlisted lines stand between this entry and the next one */
};

/* All arrays are the arena's. `table` is sorted by address once functions_finish() has run. */
struct gnu_functions {
    struct functions table;
    struct gnu_symbol *symbols;        /* by function */
    struct unlisted_entries *unlisted; /* lines, by address */
    uint32_t unlisted_len;
    uint32_t first_line;   /* symbols from this number on are lines; 0: there are none */
    uint64_t last_address; /* with lines: where the last entry ends for symspecs */
};

/* Where .text is; {0, 0}: there is none. */
struct object_range gnu_text_of(const struct object *o);

/* Builds the table in `a`. An object without usable symbols yields an empty table. */
void functions_gnu(struct gnu_functions *f, struct object *o, const struct gnu_symbol_rules *rules,
                   struct arena *a);

/* Adds GNU's line symbols (-l) to a table of functions_gnu(): one where function, file or line
 * change in .text, with that name, file and line and is_function false. Functions win at equal
 * addresses and keep their ends, so ranges overlap from here on; what is at an address is still the
 * last one that starts there or before. All functions are located.
 *
 * With `measured` (NULL: all lines), lines of a function that have none of it are only counted in
 * `unlisted`: good for whatever prints measured lines alone, but numbers them among all. With
 * `within` (NULL: everywhere) lines are those of the ranges, which ascend: a line that goes on into
 * one begins there. */
struct gnu_line_ranges {
    struct object_range *at;
    size_t len;
};
void functions_add_lines(struct gnu_functions *f, struct object *o, const struct measured *measured,
                         const struct gnu_line_ranges *within, struct arena *a);

/* From text in nm's format, `ADDRESS TYPE NAME` a line (GNU gprof's -S). Lines of other shapes and
 * symbols of types other than T and t are passed over. The functions have no files. */
void functions_from_map(struct gnu_functions *f, struct bytes text, const struct object *o,
                        struct arena *a);

/* GNU's last step: sorts by address, keeps one entry per address by GNU's preferences, gives
 * entries without a `last` the address before the next one, the final one `last_address`, and
 * indexes. Entries that come with a `last` before their start are dropped. `symbols`: of each
 * entry, replaced by those of what is kept; NULL: there are none. */
void functions_finish(struct functions *f, struct gnu_symbol **symbols, uint64_t last_address,
                      struct arena *a);

/* GNU gprof's -R map: which file each function came from, `FILE: ... FUNCTION` a line.
 *
 * What GNU makes of such a line: the file is the text up to the first colon, the function what
 * follows the last space. Of neighbouring lines with the same file only the first one counts; the
 * functions of the others vanish. If a function is named twice, a binary search decides which line
 * it meets. Files and rests of lines are cut at 1023 bytes. */

struct mapped {
    const char *file, *function;
    bool is_first; /* of a run of lines with this file */
};

struct order_map {
    struct mapped *at; /* by function; equal ones as they came */
    uint32_t len;
};

/* False if a line has no colon, no space after it, or no file, or there is no line at all. (GNU
 * gprof says so of some of these and crashes on others.) */
MUST_CHECK bool order_map_read(struct order_map *m, struct bytes text, struct arena *a);

/* The line of a function, or NULL. */
const struct mapped *order_map_find(const struct order_map *m, const char *function);

/* ---- Symspecs: GNU gprof's way of naming functions and arcs on the command line.
 *
 *     symspec = spec [ "/" spec ]            function or arc
 *     spec    = name | LINE | file.c | [file.c] ":" [ name | LINE ]
 *
 * A spec without a colon is a file if it has a dot, a line if it begins with a digit, and else a
 * linkage name. Each spec goes into one of twelve tables: for six questions (is it in the graph? in
 * the flat profile? ...) what is included and what is excluded. GNU's semantics, kept here:
 * includes beat excludes; a table that matches nothing counts as empty, that is, as "everything";
 * of two arc specs with the same caller only the last one counts. */

enum question { ASK_GRAPH, ASK_ARCS, ASK_FLAT, ASK_TIME, ASK_ANNOTATE, ASK_COUNTS, QUESTIONS };

struct symspec; /* one, parsed */

/* GNU gprof keeps what each side of an arc spec matched as functions beside the program's, and
 * calls among them that were made 0 times. Its orderings (-r, -R) print them; elsewhere they don't
 * show. */
#define NO_RANGE UINT32_MAX

/* What one side of a spec matched without a gap: GNU prints its first function's name. */
struct spec_range {
    const char *name; /* of its first function */
    uint32_t next;    /* what the same side matched before, or NO_RANGE */
    bool is_mapped;   /* as in struct function */
};

struct spec_arc {
    uint32_t caller, callee; /* ranges */
};

/* Specs are added while options are read, and resolved once the functions are known; only then may
 * it be asked. The arena owns all of it. */
struct selection {
    struct arena *arena;
    const struct functions *functions; /* once resolved */
    struct symspec *newest;
    size_t specs;

    /* Per function, once resolved: bit (2 * question) included, bit (2 * question + 1) excluded. */
    uint16_t *member;
    bool is_empty[QUESTIONS][2];               /* the table matched nothing */
    struct functions table[QUESTIONS][2];      /* merged ranges; `symbol` indexes `callees` */
    struct arc_targets *callees[QUESTIONS][2]; /* of arc specs: what each range may call */

    struct spec_range *ranges;
    struct spec_arc *spec_arcs; /* in the order in which GNU makes them */
    uint32_t ranges_len, spec_arcs_len;
};

/* Adds one spec to the include or exclude table of a question. The text must outlive `s`. */
void selection_add(struct selection *s, const char *text, enum question q, bool exclude);

/* Whether a spec names a file, a line or an arc: what it matches then depends on lines that nothing
 * was measured in. */
bool selection_needs_lines(const struct selection *s);

/* Matches all specs against the functions. Asks the object for files and lines only if a spec names
 * any. */
void selection_resolve(struct selection *s, struct gnu_functions *f, struct object *o);

static inline bool selection_includes(const struct selection *s, enum question q, uint32_t function)
{
    return s->member[function] >> (2 * q) & 1;
}

static inline bool selection_excludes(const struct selection *s, enum question q, uint32_t function)
{
    return s->member[function] >> (2 * q + 1) & 1;
}

/* Included, or nothing is included in particular and it is not excluded. */
static inline bool selection_admits(const struct selection *s, enum question q, uint32_t function)
{
    return selection_includes(s, q, function) ||
           (s->is_empty[q][0] && !selection_excludes(s, q, function));
}

/* The same for an arc, by the ASK_ARCS tables. */
bool selection_admits_arc(const struct selection *s, uint32_t caller, uint32_t callee);

/* The part of a graph of these functions that a resolved selection leaves out, which must outlive
 * it. */
struct graph_filter selection_graph_filter(const struct selection *s);

/* ---- Samples booked on functions as GNU gprof books them.
 *
 * The sums of samples are those of binutils' gprof/hist.c to the last bit of a double, because
 * percentages are rounded from these sums. Amounts are in samples; an address is divided by two,
 * GNU's smallest instruction, before it is compared. */

/* Units of two bytes per bin of a histogram. Rarely an integer: a bin may begin within an
 * instruction. The range is halved as an integer, as GNU does before 2.47. */
static inline double gnu_scale(const struct histogram *h, bool has_half_units)
{
    uint64_t bytes = h->high - h->low, whole = bytes / 2;
    double units = has_half_units ? (double)bytes / 2 : (double)whole;
    return h->bins ? units / h->bins : 0;
}

/* Addresses in units of two bytes, a bin's bounds rounded down, the first histogram's scale for
 * all (it is returned; 0: there is none), and what a bin holds outside the functions booked
 * nowhere. Functions that the selection keeps out of the flat profile are neither credited nor
 * counted. */
double attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                     const struct selection *s, bool has_half_units, struct arena *a);

/* The addresses that a profile says something about under GNU gprof's rules. */

/* Bins in units of two bytes, with the first histogram's scale for all; both ends of arcs as they
 * are; blocks. measured_deinit() frees it. */
void measured_gnu(struct measured *m, const struct profile *p, bool has_half_units);

/* Calls for a flat profile by line: the graph has nodes for functions alone.
 *
 * In GNU gprof's line graph calls go from lines to functions, never to lines. So a line has no
 * callers, no part in a cycle and no time to pass on; all that calls from lines do to a flat
 * profile is to be counted, and to decide in which order functions are met. */

struct line_calls {
    uint32_t *node_of;        /* of an entry of the table with lines: its function, or NO_NODE */
    struct attribution time;  /* of the functions */
    struct graph_root *roots; /* calls from lines, for `struct graph_rules` */
    size_t roots_len;
};

/* `functions`: the table before lines were added, `all`: with them and with the lines of all call
 * sites. Calls from lines lose their call site in the profile. */
void line_calls_make(struct line_calls *c, const struct functions *functions,
                     const struct gnu_functions *all, const struct attribution *time,
                     struct profile *p, struct arena *a);

/* The static call graph by GNU gprof's rules (-c): of x86, AArch64, MIPS and SPARC; calls (on
 * AArch64 also jumps) within .text whose two ends both lie in what the histograms cover. */

struct gprof_dialect; /* gprof.h */

/* False, with no calls, where GNU gprof does not know the machine. */
MUST_CHECK bool static_calls_gnu(struct static_calls *calls, const struct functions *f,
                                 struct object *o, const struct profile *p,
                                 const struct gprof_dialect *dialect, struct arena *a);

#endif
