/* The history of builds: what each commit's runs measured, in one SQLite file.
 *
 * A run is added once, under the name of its commit: its functions with their times and errors, or
 * its sources with their coverage. Series are read by function, source or total, in the order of
 * the commits' dates; turns_find() returns the commits at which one changed. docs/store.md
 * describes the tables. */
#ifndef MONARC_STORE_STORE_H
#define MONARC_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "output/columns.h"
#include "output/formats.h"

#include <stdbool.h>
#include <stdint.h>

/* --- the database (database.c) ---------------------------------------------------------------- */

enum store_kind { STORE_PROFILE, STORE_COVERAGE };

/* A function of a run; amounts in the event's unit (ns for times). Or a source: lines that there
 * are, and that ran. */
struct store_value {
    const char *name, *shown, *object; /* linkage name, as people read it; object "": the program */
    double self, error, total;         /* error: standard error of self by sampling */
    uint64_t all, hit;
};

/* A run as a whole. `total` is CPU time, or the sum of the event; of coverage it is not used. */
struct store_run {
    enum store_kind kind;
    const char *commit;
    int64_t date; /* of the commit, seconds since 1970 */
    const char *program, *event, *processor;
    bool is_time;              /* the event's unit is ns */
    double total, total_error; /* likewise */
    double period;             /* of a sample, in the unit; 0: exact */
    uint64_t runs;             /* of which it is the mean */
    uint64_t lines, lines_hit, functions, functions_hit, branches, branches_hit;
    const struct store_value *values;
    size_t len;
};

struct store;

/* Opens a file. If `makes`, it may not be there: the first store_add() makes it. Fails, and leaves
 * it as it is, if it is no history, one of another version of the tables, or damaged. */
MUST_CHECK bool store_open(struct store **s, const char *path, bool makes, struct err *e);
void store_close(struct store *s);

/* Adds a run in one transaction, which waits for others'; *is_there: the same run was there
 * already, under that commit, and nothing is added. */
MUST_CHECK bool store_add(struct store *s, const struct store_run *run, bool *is_there,
                          struct err *e);

/* What a series is of, and of which runs. */
enum store_what { STORE_TOTAL, STORE_FUNCTION, STORE_FUNCTION_TOTAL, STORE_SOURCE, STORE_LINES };
struct store_query {
    enum store_what what;
    const char *name;    /* of a function or source */
    const char *program; /* NULL: that of the newest run */
    const char *event;   /* likewise */
};

/* A commit of a series: the mean of its runs. */
struct store_point {
    const char *commit;
    int64_t date;
    double value; /* seconds, or events; of coverage percent */
    double error; /* standard error of the mean, by sampling */
    uint32_t runs;
};

struct store_series {
    struct store_query query; /* with program and event */
    const char *unit;         /* "s", "%", or the event */
    VEC(struct store_point) points;
};

/* By date, and among equal dates in the order in which they were added. Texts are in `a`; the
 * points are freed by the caller. Fails if nothing of that name is there. */
MUST_CHECK bool store_series_read(struct store *s, const struct store_query *q, struct arena *a,
                                  struct store_series *out, struct err *e);

/* The functions that took at least that part of the total of the last commit,
 * the first, or the one halfway; in no order. */
struct store_names {
    VEC(const char *) at;
};
MUST_CHECK bool store_top_functions(struct store *s, const struct store_query *q, double least,
                                    struct arena *a, struct store_names *out, struct err *e);

/* What changed between two commits: means of their runs, function by function. */
struct store_change {
    const char *shown;
    double old, new, error; /* seconds; error: of the difference */
};
struct store_diff {
    const char *old, *new, *unit;
    uint32_t old_runs, new_runs;
    struct store_change total;
    VEC(struct store_change) rows; /* by size of the change */
};
MUST_CHECK bool store_diff_read(struct store *s, const struct store_query *q, const char *old,
                                const char *new, struct arena *a, struct store_diff *out,
                                struct err *e);

/* --- datasets --------------------------------------------------------------------------------- */

/* How a dataset is written: `write` makes a file that `writer` fills, as the room knows no
 * folders. */
typedef bool store_writer(void *of, struct out *out, struct err *e);
struct store_dataset {
    void *context;
    bool (*write)(void *context, const char *path, store_writer *writer, void *of, struct err *e);
};

/* Writes each profile as a file of a dataset. */
MUST_CHECK bool store_export_dataset(struct store *s, const char *folder,
                                     const struct store_dataset *to, struct err *e);

/* --- turns (turns.c) -------------------------------------------------------------------------- */

/* A point at which a series went to another level. */
struct turn {
    size_t at, first, last; /* the first commit of the new level; it may be any of first..last */
    double before, after;   /* levels: weighted means */
    double score;           /* their distance, in standard errors */
};

struct turns {
    VEC(struct turn) at;
    double noise; /* what runs differ by beyond sampling, as a part of the level */
};

/* Turns of at least `least` of the level before (0.01: one percent), in order. */
void turns_find(const struct store_point *points, size_t len, double least, struct turns *out);

/* --- reports (store_report.c) ----------------------------------------------------------------- */

/* "2026-03-02", or with its time where days are not enough; ISO 8601, UTC. */
void store_date(int64_t date, bool is_whole, char into[24]);

/* What a series is of. Square brackets mark what is no function, as in all reports: no symbol is
 * called so. */
const char *store_what_name(const struct store_series *s);

extern const struct column_table store_trend_columns, store_turn_columns, store_diff_columns;

/* `format`: NULL for text, "json", "csv". */
void store_trend_print(struct out *out, const struct store_series *series,
                       const struct turns *turns, const char *format);
struct store_blame {
    const struct store_series *series;
    const struct turns *turns;
    size_t len;
};
void store_blame_print(struct out *out, const struct store_blame *b, const char *format);

/* As a page for a browser (store_page.c). */
void store_page_print(struct out *out, const struct store_blame *b);
void store_diff_print(struct out *out, const struct store_diff *d, size_t limit,
                      const char *format);

#endif
