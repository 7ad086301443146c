/* Reads what gcov is about: pairs of notes and counters, and the sources they name. */
#ifndef MONARC_GNU_GCOV_GCOV_READ_H
#define MONARC_GNU_GCOV_GCOV_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "gnu/gcov/gcov_report.h"
#include "output/out.h"

#include <time.h>

/* GNU gcov's command line. Complete before the first file is read. */
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

/* gcov's exit statuses; the last complaint decides. */
enum gcov_status {
    GCOV_FINE,
    GCOV_NO_NOTES,
    GCOV_OTHER_FILE,
    GCOV_OTHER_VERSION,
    GCOV_DAMAGED,
    GCOV_OTHER_STAMP,
    GCOV_NOT_WRITTEN,
};

/* One notes file and its counters. Counters are there if has_counters; `sources` has for each file
 * of the notes its number in gcov_input. */
struct gcov_pair {
    struct notes notes;
    struct counters counters;
    struct flow flow;
    VEC(uint32_t) sources; /* by file of the notes */
    bool has_counters;
};

/* All that has been read for the next report. Sources have one number in all pairs; names lead to
 * it, as written and in canonical form. */
struct gcov_input {
    const struct gcov_options *options;
    struct arena arena;        /* of names */
    struct arena texts;        /* of the notes of all pairs */
    struct file_buffer buffer; /* for one file after the other */
    struct file_buffer lines;  /* of a graph that gcc before 3.4 left */
    struct out *complaints;
    int status;
    bool has_explained_dates;
    VEC(const char *) done; /* counters files read so far, of all arguments */

    VEC(struct gcov_pair *) pairs;
    VEC(struct gcov_source) sources;
    VEC(time_t) source_times;
    struct intern names; /* of sources, as written and canonical */
    VEC(uint32_t) source_of_name;

    const char *notes_name, *counters_name; /* of the last argument */
    const char *directory;                  /* of the last notes */
    uint32_t runs, programs;                /* programs: gcc 8 and before */
    bool has_unknown_runs;                  /* da does not say */
    bool has_counters;
};

/* Reads the files of one argument; what is wrong is complained about and changes the status.
 * Nothing is returned: what cannot be read is a pair without functions, and in->status has the exit
 * status. In text mode pairs of all arguments gather in `in`. */
void gcov_read(struct gcov_input *in, const char *argument);

/* The source of that name (NULL: none), or NO_INDEX. */
uint32_t gcov_source_named(const struct gcov_input *in, const char *name);

/* Forgets pairs and sources. */
void gcov_input_clear(struct gcov_input *in);
void gcov_input_deinit(struct gcov_input *in);

/* The names gcov looks for and writes: notes and counters of an argument, sources, reports. */

/* The argument, or with -o what that says, without its extension: "x.gcno" is beside it. */
char *gcov_stem(const struct gcov_options *o, const char *argument, struct arena *a);

/* A path without "." and, where no link is in between, without "dir/..". Asks the file system. */
char *gcov_canonical(const char *path, struct arena *a);

/* The report's file for a source: "x.c.gcov" by default.
 *
 *    default    x.c.gcov
 *    -p         #src#x.c.gcov
 *    -l         main.c##x.h.gcov
 *    -x         x.c##<MD5 of the path>.gcov */
char *gcov_report_name(const struct gcov_options *o, const char *argument, const char *source,
                       struct arena *a);

/* The JSON document's file for an argument: "x.gcov.json.gz" by default. */
char *gcov_json_name(const struct gcov_options *o, const char *argument, struct arena *a);

#endif
