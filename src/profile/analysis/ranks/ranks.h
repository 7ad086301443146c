/* The ranks of a parallel job beside each other: what imbalance costs, function by function, which
 * ranks stand out, and which are alike.
 *
 * Ranks are fed one after the other into a struct rank_set, each with the seconds that it spent in
 * each region; then rank_table_make() says what they amount to. A region is a function, or a call
 * of MPI with all that the library does in it, or all time outside of MPI together.
 *
 * Memory is bounded: values are kept one by one up to `most_values` of all regions together; beyond
 * that the smallest regions keep a histogram each, whose buckets name a rank. */
#ifndef MONARC_PROFILE_ANALYSIS_RANKS_RANKS_H
#define MONARC_PROFILE_ANALYSIS_RANKS_RANKS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_NONE UINT32_MAX

/* --- feeding ---------------------------------------------------------------------------------- */

/* A rank as a whole. Times are in seconds of the event that was sampled. */
struct rank_info {
    uint32_t rank, size;       /* size: of the job, as this rank knew it; 0: unknown */
    const char *host;          /* "": not known */
    const char *source;        /* the recording that it is in */
    uint64_t start_ns, end_ns; /* real time, since 1970; end 0: not known */
    bool has_status;
    int32_t status;    /* of its first process, as wait(2) gives it */
    double total, mpi; /* all samples; those within calls of MPI */
    double waiting;    /* off the CPU, outside of MPI, where that was recorded */
};

/* What a rank spent outside of MPI on a CPU: what POP calls useful. */
static inline double rank_useful(const struct rank_info *r)
{
    return r->total - r->mpi - r->waiting;
}

enum rank_region_kind {
    RANK_REGION_USEFUL, /* all of the rank outside of MPI */
    RANK_REGION_FUNCTION,
    RANK_REGION_MPI
};

/* A value of a rank; ranks are numbered as they were fed, and in the end in their order. */
struct rank_value {
    uint32_t number;
    float seconds;
};

/* Values of a region in buckets whose bounds grow by a fixed ratio. */
enum { RANK_BUCKETS = 64 };
struct rank_histogram {
    double base; /* middle of the bucket in the middle */
    uint32_t ranks[RANK_BUCKETS];
    struct rank_value most[RANK_BUCKETS]; /* the rank with the largest value of the bucket */
};

/* What a region is known by. Texts may be NULL for "". */
struct rank_region_key {
    enum rank_region_kind kind;
    const char *name, *source; /* source: of static functions, the file they are in */
    const char *object;        /* the file it is in */
    uint32_t module;           /* number of that, as two objects may have one name; 0: none */
    uint32_t twin;             /* of functions of one object that agree in all else, from 0 */
    bool is_inlined;           /* stands for the code that was inlined elsewhere */
};

struct rank_region {
    struct rank_region_key key;
    bool is_of_library; /* in a recording whose executable is another object */
    uint32_t seen;      /* ranks that have it */
    double sum, squares;
    struct rank_value least, most; /* of those */
    VEC(struct rank_value) values; /* as they were fed; empty if there is a histogram */
    struct rank_histogram *histogram;
    double asked[2]; /* values of the requested ranks */
};

struct rank_set {
    struct arena arena;
    VEC(struct rank_info) ranks;
    VEC(struct rank_region) regions; /* [0] is RANK_REGION_USEFUL */
    struct map number_of;            /* of a rank: its number */
    struct map region_of;            /* of its key */
    struct intern texts;
    size_t values, most_values; /* kept one by one; the bound, 0: the usual one */
    uint32_t asked[2];          /* ranks whose values are kept of every region; or RANK_NONE */
    uint64_t samples;           /* taken of all ranks */
    double outside;             /* seconds of processes that are of no rank, as the launcher */
    uint32_t programs;          /* different executables, of which functions were found */
};

/* The object that a region has to name; NULL: it is in the executable of the job, or in none. */
static inline const char *rank_region_object(const struct rank_set *s, const struct rank_region *r)
{
    return *r->key.object && (r->is_of_library || s->programs > 1) ? r->key.object : NULL;
}

/* `asked` as rank_set.asked. rank_set_deinit() in any case. */
void rank_set_init(struct rank_set *s, uint32_t one, uint32_t other);
void rank_set_deinit(struct rank_set *s);

/* The number of a rank that is there, or RANK_NONE. */
uint32_t rank_set_find(const struct rank_set *s, uint32_t rank);

/* Adds a rank that is not there yet; returns its number. Texts are copied. */
uint32_t rank_set_open(struct rank_set *s, const struct rank_info *info);

/* The region of a key, made if it is new. */
uint32_t rank_set_region(struct rank_set *s, const struct rank_region_key *key);

/* What the rank opened last spent in a region; once for each of its regions, in any order. Its time
 * outside of MPI is added by rank_set_close(), from its info. */
void rank_set_add(struct rank_set *s, uint32_t region, double seconds);
void rank_set_close(struct rank_set *s);

/* Numbers the ranks in their order, when all are fed. */
void rank_set_finish(struct rank_set *s);

/* How sure a value is: the standard error of that many seconds, if each sample stands for
 * `period` of them. */
double rank_error(double seconds, double period);

/* The call of MPI that a function is, in C's spelling ("MPI_Allreduce" of PMPI_Allreduce and
 * mpi_allreduce__), in `a`; NULL: it is none. */
const char *rank_mpi_call(const char *function, struct arena *a);

/* --- what it amounts to ----------------------------------------------------------------------- */

/* The part of a rank's time from which on a row matters. */
#define RANK_MATTERS 0.01

/* A region over all ranks of the table; ranks that do not have it count as 0 seconds. Ranks are
 * numbers as rank_set has them, RANK_NONE where a histogram lacks them. */
struct rank_row {
    const struct rank_region *region;
    double least, median, most, mean, deviation;
    uint32_t least_rank, median_rank, most_rank;
    double cost;       /* most - mean: what perfect balance of it would save at most */
    double shared;     /* mean over the ranks that have it */
    bool has_namesake; /* there is another row of its name */
    bool is_partial;   /* a function that some ranks lack, which is no accident of sampling */
    const struct rank_value *sorted; /* by seconds, then number, of all ranks; NULL: the row does
                                        not matter, or there is no room */
};

/* A rank whose value of a region differs from the median by more than the others scatter and
 * sampling explains. */
struct rank_outlier {
    const struct rank_row *row;
    uint32_t number;
    double seconds;
};

/* Ranks whose values are alike in the regions that divide the job. */
struct rank_group {
    uint32_t *numbers; /* in the order of ranks */
    uint32_t len;
    double useful, mpi;             /* means */
    const struct rank_row *rows[3]; /* in which it differs most from the first group; NULL: none */
    double seconds[3];              /* its mean there */
};

/* Events of single ranks, in the order of the report. */
enum rank_event_kind {
    RANK_FAILED, /* ended with a signal or a status; the first in time stands first */
    RANK_EARLY,  /* ended long before the others */
    RANK_LATE,   /* started long after the others */
    RANK_MISSING /* of the job's size, but in no recording; `number` is the rank itself */
};
struct rank_event {
    enum rank_event_kind kind;
    uint32_t number;
    double seconds; /* before or after the others; of failed ones: since the rank's start */
};

/* Of one rank against another, or against the median of all. */
struct rank_pair {
    const struct rank_row *row;
    double one, other;
    bool is_real; /* beyond what sampling explains */
};

struct rank_rules {
    bool has_pair;  /* of rank_set.asked */
    bool is_median; /* the other one is the median, not a rank */
    double period;  /* seconds a sample; 0: found from the set */
};

struct rank_table {
    const struct rank_set *set;
    uint32_t len, size; /* ranks there are; of the job, if known, else `len` */
    uint32_t hosts;
    double period, runtime; /* seconds: of a sample; from the first start to the last end; 0 */
    double useful_mean, useful_most, mpi_mean, total_mean;
    double balance, communication, parallel; /* POP efficiencies, 0 to 1; negative: not known */
    struct rank_row *rows; /* by kind, then cost; [0] is the time outside of MPI */
    uint32_t rows_len;
    struct rank_outlier *outliers; /* largest first */
    size_t outliers_len;
    struct rank_group *groups; /* largest first; at least one */
    size_t groups_len;
    VEC(struct rank_event) events;
    struct rank_pair *pairs; /* by difference */
    size_t pairs_len;
};

/* Everything lives in the arena but the events: rank_table_deinit(). The set is finished, and not
 * empty. */
void rank_table_make(struct rank_table *t, const struct rank_set *s, const struct rank_rules *rules,
                     struct arena *a);
void rank_table_deinit(struct rank_table *t);

#endif
