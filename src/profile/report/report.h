/* The reports of a profile: what each is made of, its formats, and what its columns mean.
 *
 * A report is printed from a finished table of profile/analysis, in the form of one row of the
 * table in reports.c. Commands ask for a row by what they have analysed and by the name of the
 * format, and never what the format is. A new format is a function in this room and a row there. */
#ifndef MONARC_PROFILE_REPORT_REPORT_H
#define MONARC_PROFILE_REPORT_REPORT_H

#include "base/path.h"
#include "output/columns.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/layout.h"
#include "profile/analysis/ranks/ranks.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/locks.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"

/* --- what is printed -------------------------------------------------------------------------- */

/* Execution counts of basic blocks. */
struct counts_rules {
    uint64_t limit;  /* rows of the table for people; 0: all */
    bool by_place;   /* sorted by file and line, not by executions */
    bool has_blocks; /* each block, not each line */
    bool only_never; /* only what was never executed */
};

/* How paths of lines are shown. JSON and CSV have them whole, but mapped. */
struct line_paths {
    const struct path_map *maps; /* the last that fits holds */
    size_t maps_len;
    bool is_full; /* else the last part, where that names one file */
};

/* Trees of recorded stacks: one, or one for each requested function; `len` is at least 1.
 */
struct call_report {
    const struct summary *summary;
    const struct named_frames *frames;
    struct names *names; /* of the functions of `frames` */
    const struct call_rows *trees;
    const uint32_t *functions; /* per tree: whose it is; of all stacks NO_FUNCTION */
    size_t len;
    double min_percent; /* what was folded */
    bool is_percent_of_rows;
    bool has_chains; /* text and pictures show each frame of a path without branches */
};

/* What code is, which pictures of stacks colour by. */
enum code_kind {
    CODE_PROGRAM,
    CODE_LIBRARY,
    CODE_KERNEL,
    CODE_GENERATED,
    CODE_WAITING,
    CODE_KINDS
};

/* A flame picture: frames below those that called them, as wide as their time, in one SVG file.
 *
 * It shows in a browser, as <img>, and on paper; in a browser it can be searched and zoomed. It
 * names no other file. What it shows was decided by whoever made the frames. */
struct flame_frame {
    const char *name; /* not checked: any bytes */
    uint32_t depth;   /* from 0: the outermost ones */
    double total;     /* in samples: the frame's own, and of all above it */
    double self;
    bool is_small; /* stands for several that are too small or too deep; the name says so */
    bool is_chain; /* stands for several that alone go on from each other */
    bool is_inlined;
    bool is_estimate; /* the model's, not seen */
    enum code_kind kind;
};

/* A frame precedes those that it called, and follows the one that called it. */
struct flame {
    const struct summary *summary;
    const char *title;
    const struct flame_frame *frames;
    size_t len;
    double covered;   /* samples of the outermost frames */
    bool is_model;    /* paths are a model's, not stacks that were recorded */
    bool is_by_share; /* coloured by own time, not by kind */
    bool grows_up;    /* callees above their callers, not below */

    const struct flame *others; /* other dimensions, each below the one before it; they have none */
    size_t others_len;
};

/* The critical path of a job. */
struct path_report {
    const struct summary *summary;
    const struct schedule *schedule;
    const struct schedule_path *path;
    const double *self_ns;   /* per function: CPU time on the path */
    const double *waited_ns; /* likewise: of waits whose end is known */
    double sample_ns;        /* that one sample stands for */
    uint32_t functions;
    size_t limit; /* rows of threads in text; 0: all */
    bool has_steps;
};

/* What a job would take if some of its code took less. */
struct what_if_change {
    const char *text; /* as requested */
    double factor;    /* of the time that is left: 0.5 of twice as fast */
    double cpu_ns;    /* of what it is about */
    double waited_ns; /* likewise, if it is a system call: its sleeps and waits for devices */
    bool has_waits;   /* it is one */
};

struct what_if {
    const struct summary *summary;
    const struct what_if_change *changes;
    size_t len;
    bool has_waits, is_one_thread;
    double wall_ns, cpu_ns; /* as it was */
    double new_cpu_ns;
    double cpu_low_ns, cpu_high_ns; /* of its 95 % interval */
    double soonest_ns, latest_ns;   /* wall time, sampling error included */
    double open_ns;                 /* of the path's waits, those whose end is open */
};

/* Finished tables, of which `needs` of a report says which one it prints; the others may be NULL.
 */
struct report_input {
    struct text_style style; /* of text */
    struct names *names;
    const struct summary *summary;

    const struct flat *flat;
    const struct shares *shares;
    size_t shown_functions; /* of a thread, by text */
    const struct entries *entries;
    const struct tree *trees; /* of one profile: they make one report */
    size_t trees_len;         /* at least 1 */
    const struct call_report *call_trees;
    struct lines_table *lines;
    const struct line_paths *paths;
    const struct annotated *annotated;
    const struct source_lines *source_lines;
    const struct counts_rules *counts;
    const struct diagnosis *diagnosis;
    const struct diagnosis_input *diagnosed;
    const struct layout *layout;
    const struct layout_gain *gain;
    const char *layout_path; /* where it went */
    const struct flame *flame;
    const struct comparison *comparison;
    const struct rank_table *ranks; /* and shown_functions: rows of a table of text; 0: all */
    const struct locks *locks;
    const struct path_report *path;
    const struct what_if *what_if;
    const struct baseline *base; /* an older measurement beside the table; or NULL */
};

/* Writes the whole report. It changes nothing of its input but caches of names, and cannot fail:
 * `out` keeps the error of a write. */
typedef void report_writer(struct out *out, const struct report_input *in);

/* --- the table of reports --------------------------------------------------------------------- */

/* Which table of its input a report needs. Each stands for the member of report_input of its name;
 * `and` says which others its writers read besides. */
enum report_table {
    REPORT_FLAT,
    REPORT_SHARES,     /* and names, shown_functions */
    REPORT_GRAPH,      /* entries */
    REPORT_TREES,      /* of callers or callees, from pairs */
    REPORT_CALL_TREES, /* of recorded stacks */
    REPORT_LINES,      /* and paths */
    REPORT_ANNOTATED,
    REPORT_COUNTS, /* source_lines, counts, summary */
    REPORT_DIAGNOSIS,
    REPORT_LAYOUT, /* and gain, summary, layout_path */
    REPORT_FLAME,
    REPORT_COMPARISON,
    REPORT_RANKS,
    REPORT_LOCKS, /* and shown_functions: rows of text */
    REPORT_PATH,
    REPORT_WHAT_IF,
    REPORT_TABLES
};

extern const char *const report_table_names[REPORT_TABLES];

struct report {
    enum report_table needs;
    const char *format; /* "text", "json": unique among reports of one table */
    report_writer *write;
    bool is_for_people; /* may be coloured and paged */
};

/* All of them, those of one table beside each other. */
extern const struct report reports[];
extern const size_t reports_len;

/* Every table is printed as text unless an option says otherwise. */
#define REPORT_TEXT     "text"
#define REPORT_JSON     "json"
#define REPORT_CSV      "csv"
#define REPORT_SVG      "svg"
#define REPORT_DOT      "dot"
#define REPORT_MARKDOWN "markdown"

/* The row, or NULL; `format` may be NULL for text. */
const struct report *report_find(enum report_table table, const char *format);

/* Caveats of the comparison, as sentences without full stop; `print` gets one at a time. */
void comparison_notes(const struct comparison *c,
                      void (*print)(void *context, const char *sentence), void *context);

/* The columns of the reports of a profile. */
extern const struct column_table comparison_columns, doctor_columns, total_columns_table;
extern const struct column_table annotate_columns, arcs_columns, call_tree_columns,
    counts_block_columns, counts_line_columns, entries_columns, flat_columns, lines_columns,
    locks_columns, locks_holder_columns, locks_waiter_columns, locks_transfer_columns,
    locks_waker_columns, ranks_columns, shares_columns, trees_columns;

/* --- orders of functions, as files that linkers read ------------------------------------------ */

enum layout_format {
    LAYOUT_LLD,   /* symbols, for --symbol-ordering-file */
    LAYOUT_GOLD,  /* sections, for --section-ordering-file */
    LAYOUT_LD,    /* a fragment of a linker script, for -T */
    LAYOUT_MOLD,  /* a linker script for `ld -r`, which goes before mold */
    LAYOUT_CALLS, /* who calls whom how often, for --call-graph-ordering-file */
    LAYOUT_NAMES, /* symbols, and nothing else */
    LAYOUT_FORMATS
};

extern const char *const layout_format_names[LAYOUT_FORMATS];

/* The file that `format` names, whole. Functions which cannot be named to a linker are left out. */
void layout_file(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format);

#endif
