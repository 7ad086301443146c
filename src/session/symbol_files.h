/* The files that know the functions of recorded objects: where they were, in a folder that the user
 * names, or from a debuginfod server. A file counts only with the build-id that was recorded. */
#ifndef MONARC_SESSION_SYMBOL_FILES_H
#define MONARC_SESSION_SYMBOL_FILES_H

#include "base/err.h"
#include "objfile/object.h"
#include "profile/model/recording.h"

/* In the order in which they are asked: where the file was, debug_dir, from, what perf keeps,
 * debuginfod. */
struct symbol_files_options {
    const char *debug_dir; /* folders with debug files, separated by ':'; NULL: none */
    const char *from;      /* a folder or file to search; NULL: none */
    bool asks_debuginfod;  /* where nothing else has debug information */
};

struct symbol_files;

/* Reads the build-ids of all files below `from`. NULL if that is not to be had, or libdebuginfod
 * is wanted and not. */
struct symbol_files *symbol_files_new(const struct symbol_files_options *o, struct err *e);
void symbol_files_free(struct symbol_files *f); /* NULL is fine */

/* The file that knows most of an object, to be closed by the caller; or NULL. *is_other: there is
 * another file in its place. *why: what opening the recorded one said, or an empty line. */
struct object *symbol_files_open(struct symbol_files *f, const struct recording_object *o,
                                 bool *is_other, struct err *why);

/* Files that are open already, by the numbers of a recording's objects, NULL where there is none:
 * they are the objects, whatever lies under their paths now. They must stay open as long as *f. */
void symbol_files_hold(struct symbol_files *f, struct object *const *files, size_t len);

/* How much an object knows: to compare with others of the same build-id. */
unsigned symbols_richness(enum object_symbol_source source, bool has_debug_info);

/* Why the last question to a debuginfod server had no answer; NULL: none was asked, or it had. */
const char *symbol_files_trouble(const struct symbol_files *f);

/* Copies functions of files into recordings, so that these are complete. */

/* The result. */
struct recorded_symbols {
    size_t objects;            /* of which functions are wanted */
    size_t added;              /* that know more now */
    size_t without;            /* whose functions are not known: no file, or one without symbols */
    size_t left_out;           /* pieces of code whose lines there was no time for */
    size_t bytes;              /* of all excerpts */
    const char *first_without; /* the path of one; lives as long as the run */
    struct err unread; /* the system's trouble with a file that may know more: .system; 0: none */
};

/* Adds excerpts to a run with its calls: of objects that have none, and of those of which a file
 * knows more than the excerpt does. `most_ns`: the time that lines may take; 0: any. */
void recorded_add_symbols(struct recording *r, struct symbol_files *files, uint64_t most_ns,
                          struct recorded_symbols *out);

/* Makes one excerpt of several of one object, as recordings have that were merged. */
void recorded_join_symbols(struct recording *r);

/* Writes the file of a run into a folder, in the place of the one that may be there. */
MUST_CHECK bool recorded_write(const char *folder, const struct recording *r, struct err *e);

#endif
