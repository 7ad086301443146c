/* The table of functions by GNU gprof's rules, which keep and drop other symbols than ours and
 * stretch each one to the next. */
#ifndef MONARC_GNU_GPROF_FUNCTIONS_GNU_H
#define MONARC_GNU_GPROF_FUNCTIONS_GNU_H

#include "base/bytes.h"
#include "profile/analysis/functions.h"

struct file_map;

struct gnu_symbol_rules {
    bool no_static;               /* -a */
    bool only_functions;          /* -D */
    const struct file_map *files; /* -R; NULL: none */
};

/* Builds the table in `a`. An object without usable symbols yields an empty table. */
void functions_gnu(struct functions *f, struct object *o, const struct gnu_symbol_rules *rules,
                   struct arena *a);

/* Adds GNU's line symbols (-l) to a table of functions_gnu(): one where function, file or line
 * change in .text, with that name, file and line and is_function false. Functions win at equal
 * addresses and keep their ends, so ranges overlap from here on; what is at an address is still the
 * last one that starts there or before. All functions are located.
 *
 * With `measured` (NULL: all lines), lines of a function that have none of it are only counted in
 * `unlisted`: good for whatever prints measured lines alone, but numbers them among all. */
void functions_add_lines(struct functions *f, struct object *o, const struct measured *measured,
                         struct arena *a);

/* From text in nm's format, `ADDRESS TYPE NAME` a line (GNU gprof's -S). Lines of other shapes and
 * symbols of types other than T and t are passed over. The functions have no files. */
void functions_from_map(struct functions *f, struct bytes text, const struct object *o,
                        struct arena *a);

/* GNU's last step: sorts by address, keeps one entry per address by GNU's preferences, gives
 * entries without a `last` the address before the next one, the final one `last_address`, and
 * indexes. Entries that come with a `last` before their start are dropped. */
void functions_finish(struct functions *f, uint64_t last_address, struct arena *a);

#endif
