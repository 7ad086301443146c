/* What differs between the versions of GCC, as data: the structures that gcc puts into an object
 * file and the counter file made of them. 4.7 to 16; docs/cover-runtime.md draws both. */
#ifndef MONARC_COVER_LAYOUT_H
#define MONARC_COVER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS_MAX 10

/* How the values of one kind of counter of two runs become one. */
enum merge_kind {
    MERGE_NONE, /* this object has no such counters */
    MERGE_ADD,
    MERGE_IOR,
    MERGE_FIRST,      /* the smallest that is not 0: when a function ran first */
    MERGE_TOPN,       /* lists of the most frequent values: total, n, n * {value, count} */
    MERGE_TOPN_FIXED, /* total, 4 * {value, count} */
    MERGE_ICALL_TOPN, /* evictions, 4 * {value, count} */
    MERGE_SINGLE,     /* value, count, total */
    MERGE_DELTA,      /* last value, value, count, total */
};

enum summary {
    SUMMARY_PROGRAM,           /* a3: 9 words */
    SUMMARY_PROGRAM_HISTOGRAM, /* a3: 8 words of a bit vector more */
    SUMMARY_OBJECT,            /* a1: runs, sum of the largest counters */
    SUMMARY_LAST_PROGRAM,      /* clang, behind the functions: a3: 0, 0, runs */
    SUMMARY_LAST_OBJECT,       /* clang from 21 on: a1: runs, 0 */
};

struct layout {
    int since;         /* major * 100 + minor */
    int counters;      /* kinds, as many as merge functions in a gcov_info */
    bool has_checksum; /* in gcov_info and in the header of the file */
    bool has_byte_lengths;
    bool has_zero_lengths; /* negative: that many counters, all zero */
    enum summary summary;
    bool has_lists; /* topn counters in memory are lists */
};

/* 1202 for "B22*". */
int layout_version(uint32_t word);
/* NULL for a version outside of the table. */
const struct layout *layout_find(uint32_t version_word);

#endif
