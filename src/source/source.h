/* Source files: finding them by the names that debug information records, reading their lines, and
 * the comments in them by which people leave code out of coverage.
 *
 * The recorded name is where the compiler saw the file, often on another machine: absolute, or
 * relative to wherever the program was built. What is in a file is not to be relied upon: it may be
 * shorter than the line numbers that debug information has of it, hold binary junk or lines of many
 * megabytes. Only regular files are read: a program can name a pipe or a device as its source. */
#ifndef MONARC_SOURCE_SOURCE_H
#define MONARC_SOURCE_SOURCE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

/* --- finding files ---------------------------------------------------------------------------- */

struct source_search {
    struct arena *arena; /* what the texts below and found paths live in */
    VEC(const char *) dirs;
    VEC(struct path_map) maps; /* the last that fits holds */
};

void source_search_deinit(struct source_search *s);

/* Appends directories separated by colons; empty ones are kept, as GNU gprof keeps them. */
void source_search_add(struct source_search *s, const char *directories);

/* FROM=TO: files recorded below FROM are below TO. */
MUST_CHECK bool source_search_map(struct source_search *s, const char *rule, struct err *e);

/* The first name that can be opened, or NULL: as recorded; then, for names that are not absolute,
 * below each directory; then the last component alone in each directory. GNU gprof's order, with an
 * empty directory meaning `/`. */
const char *source_find_gnu(const struct source_search *s, const char *recorded);

/* The first regular file, or NULL. Tried: what the last map that fits makes of the name; the name
 * as recorded; then in each directory the name itself and what is left of it when leading
 * components are taken away one by one, the longest first. So `-I /src` finds /build/a/b.c as
 * /src/a/b.c before /src/b.c. */
const char *source_find(const struct source_search *s, const char *recorded);

/* What the last map that fits makes of a name, whether there is such a file or not; tidy. */
const char *source_mapped(const struct source_search *s, const char *recorded, struct arena *a);

/* Folders whose files may be published. What names a source (debug information, a `#line`, a
 * tracefile) is input, and may name any file that the user can read. */
/* Whether a source comes with the system or its C compilers, by its path. */
bool source_is_system(const char *path);

/* The same, or with the toolchain or the packages of another language (Rust, Go, Python). */
bool source_is_foreign(const char *path);

struct source_folders {
    struct arena *arena;
    VEC(const char *) roots; /* without links */
};

void source_folders_deinit(struct source_folders *f);

/* Adds a folder. One that does not exist is none, and `/` is none. False for trouble with the
 * system. */
MUST_CHECK bool source_folders_add(struct source_folders *f, const char *folder, struct err *e);

/* Whether a path without links lies below one of them, or below /usr, which all systems have. Of a
 * home folder as a whole, files and folders whose names begin with a dot are not part. */
bool source_folders_have(const struct source_folders *f, const char *path);

/* --- lines ------------------------------------------------------------------------------------ */

/* A source file in memory, and its lines. */
struct source_text {
    struct file_buffer buffer;
    struct bytes bytes;
    size_t *start; /* of each line; source_text_index() */
    size_t lines;
    int64_t changed; /* seconds since 1970 */
};

/* Reads into a zeroed text, or one that held another file, whose memory is used again. */
MUST_CHECK bool source_text_read(struct source_text *t, const char *path, struct err *e);
void source_text_deinit(struct source_text *t);

/* Finds the lines, for source_line(). */
void source_text_index(struct source_text *t);

/* Line `number`, from 1, without its end (\n, \r\n); empty with at == NULL where there is none. */
struct bytes source_line(const struct source_text *t, uint64_t number);

/* --- markers ---------------------------------------------------------------------------------- */

/* LCOV_EXCL_LINE, LCOV_EXCL_START and _STOP, LCOV_EXCL_BR_..., LCOV_EXCL_EXCEPTION_BR_...,
 * LCOV_UNREACHABLE_..., the same with GCOVR_ and GCOV_, and GCOVR_EXCL_FUNCTION. As lcov and gcovr
 * do, the words are searched for anywhere in a line, whatever the language. */
enum marker_what {
    MARKER_CODE = 1,       /* lines, with all that is on them */
    MARKER_BRANCHES = 2,   /* their branches */
    MARKER_EXCEPTIONS = 4, /* their branches that exceptions take */
    MARKER_FUNCTION = 8,   /* the function that begins on the line */
};

struct marker {
    uint32_t first, last; /* lines */
    uint32_t what;
};

struct markers {
    VEC(struct marker) ranges; /* by first line */
    uint32_t unclosed;         /* line of a START that has no STOP, or 0: it goes to the end */
    uint32_t stray;            /* line of a STOP that has no START, or 0 */
};

/* Fills a zeroed *out. */
void markers_find(struct bytes source, struct markers *out);
void markers_deinit(struct markers *m);

/* --- who wrote them ---------------------------------------------------------------------------
 *
 * Who wrote the lines of a file and when: what `git blame --porcelain` prints of a commit, carried
 * over to the file as it is now. Nothing is run here.
 */

/* What lines have in common that one commit left. */
struct blame_commit {
    uint32_t author; /* in authors, or INTERN_NONE: not said */
    int64_t time;    /* seconds since 1970; 0: not said */
};

struct blame {
    struct intern authors, names; /* names: of commits */
    VEC(struct blame_commit) commits;
    VEC(uint32_t) lines;     /* line 1 first: its commit */
    VEC(struct bytes) texts; /* of the lines, in the bytes that were read, without line ends */
};

/* Reads into a zeroed *out. On failure *out holds the lines that were complete. */
MUST_CHECK bool blame_read(struct bytes in, const char *name, struct blame *out, struct err *e);

/* Makes the lines those of `source`, the file as it is now: a line that the commit does not have
 * gets a commit without author and time. The bytes that were read must still be there; no text is
 * kept. */
void blame_match(struct blame *b, struct bytes source);
void blame_deinit(struct blame *b);

#endif
