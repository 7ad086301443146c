/* GNU gcov's command line, read into a plain struct. */
#ifndef MONARC_GNU_GCOV_AS_GCOV_H
#define MONARC_GNU_GCOV_AS_GCOV_H

#include "base/err.h"
#include "output/out.h"
#include "gnu/gcov/gcov_report.h"

struct gcov_options {
    struct gcov_style style;
    bool functions, json, long_names, no_output, demangled, preserve_paths, relative_only;
    bool to_stdout, progress, hash_names, debug;
    const char *object;        /* -o: a folder, or the name of a file */
    const char *source_prefix; /* -s */
    char **files;
    int files_len;
    char **expanded; /* the arguments, if any came from @FILE */
};

enum { AS_GCOV_RUN = -1 }; /* go on; any other result of the next function is an exit status */

/* Parses argv as gcov 12 does (and takes the options of later ones that add to its reports). Prints
 * help and version to `out`; complains about unknown options on standard error in getopt's words.
 */
int as_gcov_parse(int argc, char **argv, struct gcov_options *o, struct out *out);

void as_gcov_release(struct gcov_options *o);

#endif
