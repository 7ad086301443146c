/* The functions that gcc's code calls or names. */
#ifndef MONARC_COVER_PROFILERS_H
#define MONARC_COVER_PROFILERS_H

#include "export.h"

#include <wire/gcov_files.h>

#include <stdint.h>

/* A covered object names one of these for each kind of counter it has. They are never called: their
 * addresses say how the kind is merged. */
GCOV_API void __gcov_merge_add(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_single(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_delta(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_ior(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_time_profile(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_icall_topn(int64_t *values, uint32_t n);
GCOV_API void __gcov_merge_topn(int64_t *values, uint32_t n);

typedef int64_t gcov_value;

/* Value profiles of -fprofile-generate; _atomic with -fprofile-update=atomic. */
#define PROFILERS(suffix)                                                                      \
    GCOV_API void __gcov_interval_profiler##suffix(gcov_value *counters, gcov_value value,     \
                                                   int start, unsigned steps);                 \
    GCOV_API void __gcov_pow2_profiler##suffix(gcov_value *counters, gcov_value value);        \
    GCOV_API void __gcov_average_profiler##suffix(gcov_value *counters, gcov_value value);     \
    GCOV_API void __gcov_ior_profiler##suffix(gcov_value *counters, gcov_value value);         \
    GCOV_API void __gcov_topn_values_profiler##suffix(gcov_value *counters, gcov_value value); \
    GCOV_API void __gcov_indirect_call_profiler_v4##suffix(gcov_value value, void *function);

PROFILERS()
PROFILERS(_atomic)

/* Where gcc's code leaves the target and the counters of an indirect call for the callee. */
struct indirect_call {
    void *callee;
    gcov_value *counters;
};
extern GCOV_API __thread struct indirect_call __gcov_indirect_call;
/* The order in which functions ran first. */
extern GCOV_API gcov_value __gcov_time_profiler_counter;

/* One value of a topn counter: gcc's own code makes and links these. */
struct topn_node {
    int64_t value, count;
    struct topn_node *next;
};

#endif
