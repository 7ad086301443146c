/* An excerpt: what a file says of some of its functions and of some of its code, in a few bytes, so
 * that whoever has it can do without the file. The bytes: docs/formats/recording.md, "Excerpts".
 *
 * It holds functions with their ranges, the places of stretches of code with the calls that were
 * inlined there, and the few facts that reports ask for. An object that is opened over an excerpt
 * answers as one over the file would, as far as the code is in it; machine code is taken from the
 * file, if that is still the same one.
 *
 * Who records writes excerpts (excerpt_write) of what was sampled; who reports opens an object
 * over them (object_open_excerpts) and asks as usual. Several excerpts of one file, of different
 * runs, say together what each of them says. */
#ifndef MONARC_OBJFILE_EXCERPT_H
#define MONARC_OBJFILE_EXCERPT_H

#include "base/bytes.h"
#include "objfile/object.h"

struct excerpt_function {
    uint64_t start, last; /* disjoint, ascending */
    const char *name;     /* NULL: none, of a range of the unwind tables */
    uint32_t symbol;      /* in the object's table: the order among them is kept */
    uint32_t unit;        /* of a local symbol, as object_symbol.unit */
    bool is_static, is_compressed;
    bool has_namesake;    /* the file has another function of that name */
    bool is_unwind_range; /* one of object_unwind_ranges() */
};

/* Code whose lines are wanted. */
struct excerpt_range {
    uint64_t low, high; /* [low, high): disjoint, ascending */
    double weight;      /* the heaviest are written first, should time run out */
};

/* What is to be in an excerpt. Functions and ranges must be in order. */
struct excerpt_request {
    const struct excerpt_function *functions;
    size_t functions_len;
    const struct excerpt_range *ranges;
    size_t ranges_len;
    uint64_t most_ns; /* time that lines may take; 0: any */
};

/* Appends the excerpt of an object that was opened over its file. */
void excerpt_write(struct writer *w, struct object *o, const struct excerpt_request *r);

/* What is in an excerpt, without what it says. */
struct excerpt_facts {
    size_t functions, places;
    size_t ranges_left_out; /* for lack of time */
    bool has_debug_info;
    uint8_t symbols_source; /* enum object_symbol_source */
};

/* Opens an object over excerpts of one file: it knows what any of them says. Of excerpts that were
 * made of different tables of symbols (before and after the file was stripped), functions are those
 * of the one that has most. `path` is the file's, and `build_id` what it must have to be asked for
 * machine code. All is copied. NULL if an excerpt is damaged, or of a kind that is not known. */
struct object *object_open_excerpts(const struct bytes *excerpts, size_t len, const char *path,
                                    struct bytes build_id, struct excerpt_facts *facts,
                                    struct err *e);

/* Appends one excerpt that says what an object knows that was opened over several. */
void excerpt_rewrite(struct writer *w, struct object *o);

/* Whether the machine code is to be had: of an object over an excerpt, whether its file is there
 * and still the same; of others always true. */
bool object_has_code(struct object *o);

#endif
