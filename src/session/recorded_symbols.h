/* Putting what files say of their functions into recordings, so that these stand alone. */
#ifndef MONARC_SESSION_RECORDED_SYMBOLS_H
#define MONARC_SESSION_RECORDED_SYMBOLS_H

#include "session/profiles.h"
#include "session/symbol_files.h"

/* What became of it. */
struct recorded_symbols {
    size_t objects;            /* of which functions are wanted */
    size_t added;              /* that know more now */
    size_t without;            /* whose functions are not known: no file, or one without symbols */
    size_t left_out;           /* pieces of code whose lines there was no time for */
    size_t bytes;              /* of all excerpts */
    const char *first_without; /* the path of one; lives as long as the run */
};

/* Adds excerpts to a run with its calls: of objects that have none, and of those of which a file
 * knows more than the excerpt does. `most_ns`: the time that lines may take; 0: any. */
void recorded_add_symbols(struct recording *r, struct symbol_files *files, uint64_t most_ns,
                          struct recorded_symbols *out);

/* Makes one excerpt of several of one object, as recordings have that were merged. */
void recorded_join_symbols(struct recording *r);

/* The same for a run as the file in `folder` has it: with the needs of the calls that recorders
 * inside its processes counted, which are in folders of their own and do not become part of it. */
void recorded_complete(struct recording *r, const char *folder, const struct profile_options *o,
                       struct symbol_files *files, uint64_t most_ns, struct recorded_symbols *out);

/* Writes the file of a run into a folder, in the place of the one that may be there. */
MUST_CHECK bool recorded_write(const char *folder, const struct recording *r, struct err *e);

#endif
