/* Shared by the files of `monarc gcov`: the reports, and reading their input.
 *
 * Reports are source text with counts, summaries, JSON. All print one table. `struct
 * gcov_report` is filled by gcov.c and read by gcov_text.c, gcov_json.c and gcov_numbers.c. Counts
 * are int64_t as gcov's gcov_type: flow that does not fit may be negative, and is printed so. */
#ifndef MONARC_GNU_GCOV_GCOV_H
#define MONARC_GNU_GCOV_GCOV_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sort.h"
#include "coverage/analysis/line_coverage.h"
#include "gnu/gnu_compat.h"
#include "output/out.h"

#include <time.h>

/* What the options say about the contents. */
struct gcov_style {
    bool all_blocks, branches, counts, unconditional, verbose;
    bool human, has_colours, has_hotness, conditions, paths;
};

struct gcov_source {
    const char *path; /* where it is read */
    const char *name; /* as shown: without the prefix of -s */
    bool is_newer;    /* than the notes */
};

/* A function's name as JSON has it, quotes and all: as linked, then readable. */
struct gcov_quoted {
    uint32_t name_len, readable_len;
    char text[];
};

/* Everything that text, JSON and summaries print. Pointers are borrowed from gcov_input and from
 * the arena of one report. */
struct gcov_report {
    struct gcov_style style;
    struct coverage_unit *units;
    size_t units_len;
    struct line_coverage lines;
    const struct gcov_source *sources; /* beside lines.sources */
    VEC(struct keyed) starts;          /* instances by (source << 32 | start line), then column */
    const char **shown_names;          /* of instances, demangled if wanted */
    const struct gcov_quoted **quoted_names; /* of instances, if there is to be JSON */

    /* The one data file, which text is headed by; several have no heading. */
    bool has_heading;
    const char *notes_name, *counters_name; /* "-" if there are none */
    uint32_t runs, programs;
    bool has_unknown_runs;

    const char *data_file, *directory;  /* JSON */
    uint16_t version;                   /* of the notes: whose gcov's words are used */
    const struct gcov_dialect *dialect; /* the same as a row of the table of versions */
    bool has_unexecuted, is_llvm;
    bool has_conditions; /* some unit has */
};

/* Instances that begin at a line of a source: starts.at[result], *len of them. */
size_t gcov_starts_at(const struct gcov_report *r, uint32_t source, uint32_t line, size_t *len);

/* Sorts by key as gcov does: not stable, always the same. */
void gcov_order(struct keyed *items, size_t len);

/* The function of an instance in its notes. */
static inline const struct notes_function *gcov_function(const struct gcov_report *r,
                                                         uint32_t instance)
{
    const struct function_instance *at = &r->lines.instances.at[instance];
    return &r->units[at->unit].notes->functions.at[at->function];
}

/* X.gcov: `text` is the source, or NULL. */
void gcov_text(const struct gcov_report *r, uint32_t source, const struct bytes *text,
               struct out *out);

/* "File 'x'" with its percentages; the same for a function; the last line. */
void gcov_file_summary(const struct gcov_report *r, uint32_t source, struct out *out);
void gcov_function_summary(const struct gcov_report *r, uint32_t instance, struct out *out);
void gcov_lines_summary(const struct gcov_report *r, uint64_t lines, uint64_t executed,
                        struct out *out);

/* `scratch` grows in memory. */
const struct gcov_quoted *gcov_quote(const char *name, const char *readable, struct out *scratch,
                                     struct arena *a);

/* All sources that `is_wanted` (by source) says. */
void gcov_json(const struct gcov_report *r, const bool *is_wanted, struct out *out);

/* -D */
void gcov_dump(const struct gcov_report *r, uint32_t source, struct out *out);

/* "12", "1.5k" with -H. At most 32 bytes. */
size_t gcov_count(const struct gcov_style *s, int64_t count, char *into);

/* A share as percentage with that many decimals; what is above 0 is never shown as 0%. Versions
 * round differently. */
size_t gcov_percent(const struct gcov_report *r, int64_t part, int64_t whole, int decimals,
                    char *into);

/* Of a function's own line, without decimals: there clang's tool cuts off. */
size_t gcov_function_percent(const struct gcov_report *r, int64_t part, int64_t whole, char *into);

/* The masks of a block's condition (gcc 14): outcomes seen, true and false, by term. */
struct gcov_condition {
    uint32_t terms, covered;
    uint64_t seen_true, seen_false;
};
bool gcov_condition_of(const struct gcov_report *r, const struct instance_block *block,
                       struct gcov_condition *out);

/* Prime paths of an instance (gcc 15): whether there are any; how many, and how many were taken. */
bool gcov_paths_of(const struct gcov_report *r, uint32_t instance, uint32_t *paths,
                   uint32_t *covered);

/* ---- Reading what gcov is about: pairs of notes and counters, and the sources they name. */

/* GNU gcov's command line. Complete before the first file is read. */
struct gcov_options {
    struct gcov_style style;
    bool functions, json, long_names, no_output, demangled, preserve_paths, relative_only;
    bool to_stdout, progress, hash_names, debug;
    const char *object;        /* -o: a folder, or the name of a file */
    const char *source_prefix; /* -s */
    char **files;
    int files_len;
    char **expanded;           /* the arguments, if any came from @FILE */
    struct gnu_version compat; /* zeroed: the notes decide */
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
