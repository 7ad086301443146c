/* The written form of excerpts, and what objects over them hold. Private to this room. */
#ifndef MONARC_OBJFILE_EXCERPT_PRIVATE_H
#define MONARC_OBJFILE_EXCERPT_PRIVATE_H

#include "objfile/private.h"

enum { EXCERPT_VERSION = 1 };

enum excerpt_bit {
    EXCERPT_64_BIT = 1,
    EXCERPT_BIG_ENDIAN = 2,
    EXCERPT_DEBUG_INFO = 4,
    EXCERPT_COUNTS_CALLS = 8,
    EXCERPT_PIE = 16,
    EXCERPT_STRIPPED = 32,
    EXCERPT_BITS = 63
};

enum excerpt_function_bit {
    EXCERPT_STATIC = 1,
    EXCERPT_COMPRESSED = 2,
    EXCERPT_NAMESAKE = 4,
    EXCERPT_UNWIND_RANGE = 8,
    EXCERPT_UNIT = 16, /* its number stands behind */
    EXCERPT_FUNCTION_BITS = 31
};

/* Bits of a place's first number, below its length. */
enum excerpt_place_bit {
    EXCERPT_GAP = 1,
    EXCERPT_SCOPE = 2,
    EXCERPT_FILE = 4,
    EXCERPT_PLACE_BITS = 3
};

struct excerpt_read_scope {
    const char *name, *call_file;
    uint32_t parent; /* number from 1; 0: a function of its own */
    uint32_t call_line;
};

struct excerpt_read_place {
    uint64_t start, end;
    const char *file;
    uint32_t scope, line;
};

struct excerpt {
    struct excerpt_read_scope *scopes;
    struct excerpt_read_place *places;
    size_t scopes_len, places_len;
    uint64_t *starts; /* of functions, by address, and their names */
    uint64_t *lasts;
    const char **names;
    size_t functions_len;
    struct bytes build_id;
    bool has_debug_info, counts_calls;
    const char *refused;   /* why debug information was not read, or NULL */
    struct object *behind; /* the file itself, through excerpt_file() */
    bool behind_sought;
};

/* The file of an object over an excerpt, opened on the first call; NULL: not there, or another. */
struct object *excerpt_file(const struct object *o);

bool excerpt_line(struct object *o, uint64_t address, const char **file, uint32_t *line);
size_t excerpt_frames(struct object *o, uint64_t address, struct object_frame *frames, size_t most);

/* The first place that ends beyond an address; places_len: there is none. */
size_t excerpt_place_from(const struct excerpt *x, uint64_t address);

void excerpt_close(struct excerpt *x); /* NULL is fine */

#endif
