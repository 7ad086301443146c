/* One arc-profiling file of either family, for the commands that take any.
 *
 *    gcno, gcda    GCC and clang, with a magic, of many versions
 *    bbg, da       the proposal of 2002 with a magic, and what gcc before 3.4 wrote without one */
#ifndef MONARC_SESSION_ARCS_FILE_H
#define MONARC_SESSION_ARCS_FILE_H

#include "base/file.h"
#include "coverage/analysis/coverage_result.h"
#include "coverage/analysis/flow.h"
#include "coverage/model/coverage.h"
#include "output/out.h"

enum arcs_kind { ARCS_NONE, ARCS_GCNO, ARCS_GCDA, ARCS_BBG, ARCS_DA };

/* By the bytes of the whole file, or its first ones if it has a magic; ARCS_NONE for anything else.
 */
enum arcs_kind arcs_kind_of(struct bytes in);

/* Whether a regular file (reading others would take their bytes) is one. */
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

/* Zeroed at first. Either notes or counters are filled, as is_notes says; both point into the
 * buffers, which must stay. */
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

/* Reads from bytes that are in f->buffer, and from the bb file beside it if it is an old bbg. On
 * failure what was whole is there. */
MUST_CHECK bool arcs_file_read(struct arcs_file *f, const char *name, struct err *e);
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
    struct progress *progress; /* counts each merged file; NULL: not wanted */
};

MUST_CHECK bool arcs_convert(const struct arcs_request *request, const char *path, struct err *e);
MUST_CHECK bool arcs_merge(const struct arcs_request *request, char *const *paths, size_t len,
                           struct err *e);

/* Notes and counters of one object: loaded, solved, and what is wrong with them said. */

/* Zeroed at first; whatever is loaded next uses its memory again. */
struct object_pair {
    struct arcs_file notes, counters;
    struct counters sum; /* of several runs */
    struct flow flow;
    bool notes_are_whole;
};

/* Load a file as that kind, or, with ARCS_NONE, as its bytes say. What is wrong is a problem; false
 * if nothing of it can be used. Counters then hold no functions, which are unknown, not at 0. Files
 * are read into the memory of the one before. */
MUST_CHECK bool object_pair_load_notes(struct object_pair *p, const char *path, enum arcs_kind as,
                                       struct problems *problems);
MUST_CHECK bool object_pair_load_counters(struct object_pair *p, const char *path,
                                          enum arcs_kind as, struct problems *problems);

/* Fills `flow` from both; damaged functions are repaired if wanted, or unknown. */
void object_pair_solve(struct object_pair *p, bool repairs);

/* Fills it from notes alone: nothing ran. */
void object_pair_solve_unrun(struct object_pair *p);

/* Says if the files were not made for each other. */
void object_pair_report_pairing(const struct object_pair *p, const char *notes,
                                const char *counters, struct problems *problems);

/* Names the first function that is unknown and says how many there are, who are `what` for that:
 * "unknown", "left out". Returns their number. */
uint64_t object_pair_report_unknown(const struct object_pair *p, const char *path, const char *what,
                                    struct problems *problems);

/* Adds the counters that were loaded to those of the runs before, which lie in p->sum. false: they
 * are not alike. */
bool object_pair_add_run(struct object_pair *p, bool is_first);

/* The sum takes the place of the counters that were loaded. */
void object_pair_take_sum(struct object_pair *p);

/* After solving: nothing is to be said about how the files fit, nor about a function. */
bool object_pair_is_sound(const struct object_pair *p);

void object_pair_deinit(struct object_pair *p);

#endif
