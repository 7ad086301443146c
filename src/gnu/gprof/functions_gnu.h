/* The table of functions by GNU gprof's rules, which keep and drop other symbols than ours and
 * stretch each one to the next. */
#ifndef MONARC_GNU_GPROF_FUNCTIONS_GNU_H
#define MONARC_GNU_GPROF_FUNCTIONS_GNU_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "profile/analysis/graph/graph.h"

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
    uint32_t first_line; /* symbols from this number on are lines; 0: there are none */
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
 * `unlisted`: good for whatever prints measured lines alone, but numbers them among all. */
void functions_add_lines(struct gnu_functions *f, struct object *o, const struct measured *measured,
                         struct arena *a);

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

/* False if a line has no colon, no space behind it, or no file, or there is no line at all. (GNU
 * gprof says so of some of these and crashes on others.) */
MUST_CHECK bool order_map_read(struct order_map *m, struct bytes text, struct arena *a);

/* The line of a function, or NULL. */
const struct mapped *order_map_find(const struct order_map *m, const char *function);

#endif
