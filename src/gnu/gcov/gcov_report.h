/* GNU gcov's reports: source text with counts, summaries, JSON. All print one table. `struct
 * gcov_report` is filled by gcov.c and read by gcov_text.c, gcov_json.c and gcov_numbers.c. Counts
 * are int64_t as gcov's gcov_type: flow that does not fit may be negative, and is printed so. */
#ifndef MONARC_GNU_GCOV_GCOV_REPORT_H
#define MONARC_GNU_GCOV_GCOV_REPORT_H

#include "coverage/analysis/line_coverage.h"
#include "base/arena.h"
#include "output/out.h"
#include "base/sort.h"

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

#endif
