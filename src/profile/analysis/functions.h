/* The functions of a program, by address: what samples and arcs are booked on.
 *
 * A table is sorted by start address, starts are unique, and ranges do not overlap. It is made by
 * one of two sets of rules: ours (functions_native), or GNU gprof's (functions_gnu), which keeps
 * and drops other symbols and stretches each one to the next. (With GNU's line symbols among them,
 * functions reach over their lines.) Names and files point into the object or the arena; both must
 * outlive the table. */
#ifndef MONARC_ANALYSIS_FUNCTIONS_H
#define MONARC_ANALYSIS_FUNCTIONS_H

#include "profile/analysis/measured.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "objfile/object.h"

struct file_map;

#define NO_FUNCTION UINT32_MAX

struct function {
    uint64_t start, last; /* first and last address that belong to it */
    const char *name;     /* linkage name */
    const char *file;     /* NULL until functions_locate(), and where unknown */
    uint32_t line;        /* likewise 0 */
    uint32_t symbol;      /* its place in the object's symbol table; order of creation */
    uint32_t created;     /* GNU's rules: the first such place of those that share the address */
    bool is_function;     /* typed as one, or the table is native */
    bool is_static;
    bool is_made;      /* stands for code without a symbol, or for none: its name is ours */
    bool is_mapped;    /* its name is that of a file (GNU's -R) */
    bool has_unlisted; /* unlisted lines stand between this entry and the next one */
    uint32_t object;   /* in `objects` of the table */
};

/* One of several objects whose functions are in one table. */
struct function_object {
    const char *label; /* NULL: the executable, which needs none */
    uint64_t base;     /* what was added to its link addresses */
    bool is_recorder;
};

struct function_range {
    uint64_t start, last;
};

/* Lines without any measurement that are not in the table. They have the name of the last function
 * that starts at or before `start`, the first one's address. */
struct unlisted_lines {
    uint64_t start;
    uint32_t count;
};

struct functions {
    struct function *at;
    uint32_t len;
    bool is_located;

    /* functions_order_names(): numbers that sort as the linkage names do, equal for equal ones. */
    uint32_t *name_order;

    /* Starts and ends, the same as in `at`, close together for functions_find(). */
    struct function_range *range;

    /* Also for functions_find(): buckets of 2^shift bytes from the first start; each holds the
     * index of the last function that starts at or before the bucket's first byte. */
    uint32_t *bucket;
    size_t buckets;
    uint8_t shift;

    struct unlisted_lines *unlisted; /* by address; functions_add_lines() */
    uint32_t unlisted_len;
    uint32_t first_line; /* symbols from this number on are lines; 0: there are none */

    const struct function_object *objects; /* NULL: there is one, and its addresses are as linked */
};

/* The object a function is in, or NULL: the executable. */
static inline const char *function_object_label(const struct functions *f, uint32_t function)
{
    return f->objects ? f->objects[f->at[function].object].label : NULL;
}

static inline uint64_t function_link_address(const struct functions *f, uint32_t function)
{
    const struct function *at = &f->at[function];
    return f->objects ? at->start - f->objects[at->object].base : at->start;
}

struct gnu_symbol_rules {
    bool no_static;               /* -a */
    bool only_functions;          /* -D */
    const struct file_map *files; /* -R; NULL: none */
};

/* Builds the table in `a`. An object without usable symbols yields an empty table. */
void functions_native(struct functions *f, struct object *o, struct arena *a);
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

/* Fills file and line of every function from the object's debug information, once. Code without a
 * line counts as code without a file, as in GNU gprof. */
void functions_locate(struct functions *f, struct object *o);

/* Fills name_order, once. */
void functions_order_names(struct functions *f, struct arena *a);

/* The function that owns `address`, or NO_FUNCTION. */
uint32_t functions_find(const struct functions *f, uint64_t address);

/* Makes the lookup tables; the builders above call it. */
void functions_index(struct functions *f, struct arena *a);

#endif
