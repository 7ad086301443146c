/* One arc-profiling file of either family, for the commands that take any. */
#ifndef MONARC_SESSION_ARCS_FILE_H
#define MONARC_SESSION_ARCS_FILE_H

#include "base/file.h"
#include "coverage/model/coverage.h"
#include "output/progress.h"

enum arcs_kind { ARCS_NONE, ARCS_GCNO, ARCS_GCDA, ARCS_BBG, ARCS_DA };

/* By the bytes of the whole file, or its first ones if it has a magic; ARCS_NONE for anything else.
 */
enum arcs_kind arcs_kind_of(struct bytes in);

/* Whether a regular file (others cannot be looked at without taking from them) is one. */
enum arcs_kind arcs_kind_of_path(const char *path);

/* "gcno"; and "gcda" back to ARCS_GCDA, ARCS_NONE for no such name. */
const char *arcs_kind_name(enum arcs_kind kind);
enum arcs_kind arcs_kind_named(const char *name);

/* What gcc before 3.4 left has no magic: its name must speak for it, then all numbers in it. */
bool arcs_file_may_lack_magic(const char *path);

/* To a graph that such a gcc left, its lines and, up to gcc 3.2, names: from the bb file beside it,
 * whose bytes are in `lines` then and must stay. Does nothing for other notes. */
MUST_CHECK bool arcs_file_read_lines(struct notes *n, struct file_buffer *lines, const char *name,
                                     struct err *e);

struct arcs_file {
    enum arcs_kind kind;
    bool is_notes;
    struct file_buffer buffer; /* texts point into it */
    struct file_buffer lines;  /* and into this: the bb file beside a bbg of gcc before 3.4 */
    struct notes notes;
    struct counters counters;
};

/* The same path with another suffix. */
const char *arcs_path_beside(const char *path, const char *suffix, struct arena *a);

/* The bytes alone, into f->buffer; what is none of these files is not read to its end. */
MUST_CHECK bool arcs_file_fetch(struct arcs_file *f, const char *path, struct err *e);

/* Reads from bytes that are in f->buffer, and from the bb file beside it if it is an old bbg. On
 * failure what was whole is there. */
MUST_CHECK bool arcs_file_read(struct arcs_file *f, const char *name, struct err *e);
MUST_CHECK bool arcs_file_read_as(struct arcs_file *f, enum arcs_kind kind, const char *name,
                                  struct err *e);
MUST_CHECK bool arcs_file_load(struct arcs_file *f, const char *path, struct err *e);
MUST_CHECK bool arcs_file_save(const struct arcs_file *f, const char *path, struct err *e);
void arcs_file_deinit(struct arcs_file *f);

/* monarc convert and merge of such files. */
struct arcs_request {
    const char *output;
    enum arcs_kind to; /* ARCS_NONE: as it was */
    const char *notes; /* for names, or NULL: beside the counters */
    uint32_t version;  /* word, or 0: as it was, or gcc 12's */
    bool is_arcs_only, is_repaired;
    uint8_t byte_order;        /* enum byte_order of format.h */
    struct progress *progress; /* told of each file merged; NULL: nobody is */
};

MUST_CHECK bool arcs_convert(const struct arcs_request *request, const char *path, struct err *e);
MUST_CHECK bool arcs_merge(const struct arcs_request *request, char *const *paths, size_t len,
                           struct err *e);

#endif
