/* The functions of a program, by address: what samples and arcs are booked on.
 *
 * A table is sorted by start address, starts are unique, and ranges do not overlap. Where
 * lines stand among the functions, though, functions reach over their lines. Names and files point
 * into the object or the arena; both must outlive the table. */
#ifndef MONARC_PROFILE_ANALYSIS_FUNCTIONS_H
#define MONARC_PROFILE_ANALYSIS_FUNCTIONS_H

#include "base/arena.h"
#include "objfile/object.h"

#include <stddef.h>
#include <stdint.h>

/* --- ranges of addresses -----------------------------------------------------------------------
 *
 * Which of many ranges of addresses holds an address.
 *
 * Ranges are sorted by start and starts are unique. They may overlap: what is at an address is then
 * the last one that starts there or before. What a range stands for (a function, a piece of code of
 * one line) is the caller's, by the same number. */

#define NO_RANGE_THERE UINT32_MAX

struct indexed_range {
    uint64_t start, last; /* first and last address */
};

struct address_index {
    struct indexed_range *at;
    uint32_t len;

    /* Buckets of 2^shift bytes from the first start; each holds the index of the last range that
     * starts at or before the bucket's first byte. */
    uint32_t *bucket;
    size_t buckets;
    uint8_t shift;
};

/* Makes the buckets for `at` and `len`, which are filled; all lives in `a`. */
void address_index_build(struct address_index *x, struct arena *a);

/* The range that holds `address`, or NO_RANGE_THERE. */
uint32_t address_index_find(const struct address_index *x, uint64_t address);

#define NO_FUNCTION NO_RANGE_THERE

struct function {
    uint64_t start, last; /* first and last address that belong to it */
    const char *name;     /* linkage name */
    const char *file;     /* NULL until functions_locate(), and where unknown */
    uint32_t line;        /* likewise 0 */
    uint32_t symbol;      /* its place in the object's symbol table; order of creation */
    uint32_t object;      /* in `objects` of the table */
    uint32_t unit;        /* of a static one: object_symbol.unit */
    uint32_t piece_of;    /* the function that the compiler moved or split it out of (.cold, .part),
                             plus one; 0: it is whole */
    bool is_function;     /* typed as one, or the table is native */
    bool is_static;
    bool has_namesake;    /* of an excerpt: in the file, perhaps not in the table */
    bool is_made;         /* stands for code without a symbol, or for none: its name is ours */
    bool is_unwind_range; /* is_made, yet one function's code: an entry of the unwind tables says
                             where it begins and ends, and its name is that address */
    bool is_inlined;      /* stands for its code wherever that was inlined; where it begins is only
                             one place of it, and functions_find() does not know it */
    bool is_mapped;       /* its name is that of a file */
};

/* One of several objects whose functions are in one table. */
struct function_object {
    const char *label; /* NULL: the executable, which needs none */
    uint64_t base;     /* what was added to its link addresses */
    struct bytes build_id;
    bool is_recorder;
};

struct measured;

/* The table. What depends on it (attribution, graph, names) goes by a function's number in `at`. */
struct functions {
    struct function *at;
    uint32_t len;
    bool is_located;

    /* functions_order_names(): numbers that sort as the linkage names do, equal for equal ones. */
    uint32_t *name_order;

    /* Starts and ends, the same as in `at`, close together; of those with code, which come first:
     * inlined functions (named_frames_make) are after them. */
    struct address_index index;

    const struct function_object *objects; /* NULL: there is one, and its addresses are as linked */
    struct bytes build_id;                 /* of that one */
};

/* The object a function is in, or NULL: the executable. */
static inline const char *function_object_label(const struct functions *f, uint32_t function)
{
    return f->objects ? f->objects[f->at[function].object].label : NULL;
}

/* Of the object that it is in; empty where that has none. */
static inline struct bytes function_build_id(const struct functions *f, uint32_t function)
{
    return f->objects ? f->objects[f->at[function].object].build_id : f->build_id;
}

static inline uint64_t function_link_address(const struct functions *f, uint32_t function)
{
    const struct function *at = &f->at[function];
    return f->objects ? at->start - f->objects[at->object].base : at->start;
}

/* Whether it stands for a stretch of code of its own, with or without a symbol. */
static inline bool function_has_code(const struct function *f)
{
    return !f->is_made || f->is_unwind_range;
}

/* The function that what is measured at number `i` is booked on: the whole one of a piece. */
static inline uint32_t functions_whole(const struct functions *f, uint32_t i)
{
    return i != NO_FUNCTION && f->at[i].piece_of ? f->at[i].piece_of - 1 : i;
}

/* Moves what was booked on pieces to the whole functions. */
void functions_join_times(const struct functions *f, double *self);

/* Finds the whole functions of pieces by their names; or makes every piece a function of its own.
 */
void functions_find_pieces(struct functions *f);
void functions_keep_pieces(struct functions *f);

/* Builds the table in `a`. An object without usable symbols and unwind tables yields an empty one.
 */
void functions_native(struct functions *f, struct object *o, struct arena *a);

/* The name of an unwind table's range, with the file's: `[0x4a30] (cc1)`. */
const char *function_range_name(uint64_t address, const char *file, struct arena *a);

/* Where a function is: the line of its first instruction; if that is code of another one, inlined,
 * the line that this was inlined into. Of an inlined function, its lowest measured line in its own
 * file. False: unknown. */
bool function_place(const struct functions *f, uint32_t function, struct object *o,
                    const char **file, uint32_t *line);

/* The same of a function of the program itself: one that reports name without an object. */
bool function_program_place(const struct functions *f, uint32_t function,
                            struct object *const *objects, const char **file, uint32_t *line);

/* Whether what is made up and has this name is time off the CPU: a wait, one for a CPU, or a stop.
 */
bool function_name_is_wait(const char *name);

static inline bool function_is_off_cpu(const struct functions *f, uint32_t function)
{
    return f->at[function].is_made && function_name_is_wait(f->at[function].name);
}

/* Whether a function is the project's own code: in the program, or an object outside of the
 * system's folders, and of a source that neither the system nor a toolchain brought. What debug
 * information knows no source of is own code but for what starts programs. What is made up for
 * waits and the kernel is not. `objects` are by function.object, with NULL elements. */
bool function_is_own(const struct functions *f, uint32_t function, struct object *const *objects);

/* The same of one line of its code, which may have been inlined there from the other kind of
 * source.
 */
bool function_line_is_own(const struct functions *f, uint32_t function,
                          struct object *const *objects, const char *file);

/* Fills file and line of every function from the object's debug information, once. Code without a
 * line counts as code without a file, as in GNU gprof. */
void functions_locate(struct functions *f, struct object *o);

/* Fills name_order, once. */
void functions_order_names(struct functions *f, struct arena *a);

/* The function that owns `address`, or NO_FUNCTION. */
uint32_t functions_find(const struct functions *f, uint64_t address);

/* Whether its code is Thumb, MIPS16 or microMIPS code, by the object that it is in. */
bool function_is_compressed(const struct functions *f, uint32_t function, struct object *o);

/* Makes the look-up index; to be called when `at` is filled. */
void functions_index(struct functions *f, struct arena *a);

#endif
