/* Every format in which a profile goes to another tool: its name and what writes it.
 *
 * A format is one file of this room and one row of the table in exports.c. The command asks for a
 * row by name, and never what the format is. Nothing here computes: all figures are those of the
 * one exchange.
 *
 * Numbers are whole, in the unit that the exchange names. Formats that cannot say that a path
 * was estimated from call counts put a frame around it; none leaves the difference out. Texts
 * are written as they are, but for characters that would end a field of the format. */
#ifndef MONARC_PROFILE_EXPORT_EXPORTS_H
#define MONARC_PROFILE_EXPORT_EXPORTS_H

#include "output/out.h"
#include "profile/analysis/exchange/exchange.h"

/* Around paths that may never have run, where a format has no place for remarks. */
#define EXPORT_MODEL_FRAME "[paths by call counts]"

/* What an exchange holds: itself, number 0, and its other dimensions. */
static inline const struct exchange *exchange_measure(const struct exchange *x, size_t number)
{
    return number ? &x->others[number - 1] : x;
}

/* Whether anything was measured in the frame itself. */
static inline bool exchange_frame_has_any(const struct exchange *x, uint32_t frame)
{
    bool has_any = false;
    for (size_t i = 0; i <= x->others_len && !has_any; i++)
        has_any = exchange_measure(x, i)->frames.at[frame].self > 0;
    return has_any;
}

/* How many functions there are in any dimension; one by its number; what it has in one of them. */
uint32_t exchange_functions_len(const struct exchange *x);
const struct exchange_function *exchange_function_there(const struct exchange *x, uint32_t number);

static inline uint64_t exchange_self(const struct exchange *of, uint32_t number)
{
    return number < of->functions.len ? of->functions.at[number].self : 0;
}

static inline uint64_t exchange_total(const struct exchange *of, uint32_t number)
{
    return number < of->functions.len ? of->functions.at[number].total : 0;
}

/* The pairs of caller and callee that any dimension has, in their order: zeroed before the first
 * call, which takes what it needs from `a`. False after the last. */
struct exchange_pairs {
    struct exchange_arc arc; /* of the first dimension that has it */
    size_t number;           /* of it among the first dimension's, if that has it */
    uint64_t *costs;         /* per dimension */
    size_t *next;
};
bool exchange_pairs_next(struct exchange_pairs *p, const struct exchange *x, struct arena *a);

/* Writes all of *x. Cannot fail: what the output's file does is `out`'s to say. */
typedef void export_writer(struct out *out, const struct exchange *x);

/* One row of the table: what of an exchange the format can hold. The command refuses, or leaves
 * out, what it cannot. */
struct export_format {
    const char *name;
    export_writer *write;
    bool needs_samples; /* it has paths alone, and no place for calls without time */
    bool tells_threads; /* it says whose time a path's was */
    bool tells_times;   /* and when it was */
    bool tells_code;    /* it has a place for instructions, where they are requested */
    bool tells_others;  /* and for other dimensions beside the first */
    bool tells_labels;  /* it says what the program published of a path's samples... */
    bool tells_spans;   /* and in which spans of traces they were */
    bool tells_lines;   /* and on which line of a function a sample, or a call, was */
    bool is_paths;      /* it writes paths and self times: nothing of calls, no list of functions */
};

/* Facts about one recording of a dataset, besides its samples. */
struct dataset_facts {
    const char *host;   /* NULL: as the recording has it */
    const char *commit; /* NULL: not known */
};

/* A file of a dataset (monarc export --dataset): a row for each stack, thread and slice of time. */
void parquet_dataset_export(struct out *out, const struct exchange *x,
                            const struct dataset_facts *facts);

/* A file of a dataset of calls: what each function cost, by its callers. */
void parquet_dataset_calls_export(struct out *out, const struct exchange *x,
                                  const struct dataset_facts *facts);

extern const struct export_format export_formats[];
extern const size_t export_formats_len;

/* The row, or NULL with an error that lists the names there are. */
const struct export_format *export_format_find(const char *name, struct err *e);

export_writer callgrind_export, cpuprofile_export, dot_export, firefox_export, folded_export,
    otlp_export, parquet_export, parquet_calls_export, parquet_functions_export, pprof_export,
    speedscope_export;

#endif
