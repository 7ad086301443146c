/* Reports: figures of functions and lines in a profile or a recording, with their names.
 *
 *     struct monarc_report *r = monarc_report_new(&e);
 *     struct monarc_subject of = {.program = "./prog", .profile = "gmon.out"};
 *     struct monarc_row row;
 *     if (!r || !monarc_report_flat(r, &of, &e))
 *         fprintf(stderr, "%s\n", e.text);
 *     for (size_t i = 0; r && monarc_report_get_row(r, i, &row); i++)
 *         printf("%8.2f %s\n", row.self, row.name);
 *     monarc_report_free(r);
 *
 * This is a library of its own, libmonarc_report (pkg-config monarc-report): it reads programs, and
 * links libelf, libdw and what they need, which libmonarc does not. Coverage needs none of that:
 * monarc_counters_solve() of <monarc/coverage.h>.
 *
 * The numbers are those of `monarc flat`, `graph --tree` and `lines`. A report is for one thread at
 * a time; it starts no threads. When the system has no more memory, a call fails with
 * MONARC_NO_MEMORY, the report is empty, and what the call had taken by then is not given back. */
#ifndef MONARC_REPORT_H
#define MONARC_REPORT_H

#include <monarc/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monarc_report;

/* What a report is of: a program and its profile, or a recording. Zero the rest. */
struct monarc_subject {
    const char *program;   /* an ELF file; NULL: `profile` is a recording */
    const char *profile;   /* gmon.out of any kind; or the folder of `monarc run`, perf.data, or a
                              file of another profiler */
    const char *debug_dir; /* where separate debug files are, besides the usual places; or NULL */
    const char *event;     /* of a recording that has several; NULL: the first */
    bool is_forced;        /* also if the profile seems to be of another program */
};

struct monarc_row {
    const char *name;   /* of the function, demangled; of a line, of the one that it is in */
    const char *object; /* of a recording: the library that it is in; NULL: the program */
    const char *file;   /* of the source; NULL: not known, or not of this report */
    uint32_t line;      /* 0: likewise */
    uint32_t depth;     /* in a tree: 0 for outermost frames */
    double self;        /* in units of monarc_report_facts.dimension */
    double total;       /* with all that it called; of a tree, on this path alone */
    uint64_t calls;     /* that were counted */
    bool is_inlined;    /* stands for its code where that was inlined */
};

struct monarc_report_facts {
    size_t rows;
    double samples;      /* all, also those in no row */
    double rate;         /* samples in one unit of the dimension; 0: amounts are in samples */
    char dimension[32];  /* "seconds", "cycles", "samples" */
    double unattributed; /* in no function; in units of the dimension */
    bool has_stacks;     /* totals were measured; else they are gprof's estimate by calls */
};

struct monarc_report *monarc_report_new(struct monarc_error *e);
void monarc_report_free(struct monarc_report *r);

/* Each replaces what is in `r`, which is empty after a failure.
 *
 * flat: a row a function that was sampled or called, most time first. tree: the recorded call
 * stacks from the outermost frame inwards, each row before those below it, most time first; those
 * of less than `min_percent` of all time are left out. It fails with MONARC_UNFIT for a profile
 * without stacks. lines: a row a source line in which something was measured, most time first; it
 * fails with MONARC_UNFIT if there is no debug information. */
bool monarc_report_flat(struct monarc_report *r, const struct monarc_subject *of,
                        struct monarc_error *e);
bool monarc_report_tree(struct monarc_report *r, const struct monarc_subject *of,
                        double min_percent, struct monarc_error *e);
bool monarc_report_lines(struct monarc_report *r, const struct monarc_subject *of,
                         struct monarc_error *e);

void monarc_report_get_facts(const struct monarc_report *r, struct monarc_report_facts *out);

/* Row `i`, or false. Its texts are valid until `r` changes. */
bool monarc_report_get_row(const struct monarc_report *r, size_t i, struct monarc_row *out);

#ifdef __cplusplus
}
#endif

#endif
