/* The versions of GCC, a row each: the one table of analyser and recorder, which each include it in
 * one source. A version that is not here is read as the last one before it; a program that a later
 * GCC than the last row's compiled is not counted, as its structures may be others.
 *
 * To add a version: a macro of what is new in it, a row, and whatever reads the new fields. */
#ifndef MONARC_GCOV_DIALECTS_H
#define MONARC_GCOV_DIALECTS_H

#include "wire/gcov_files.h"

#include <stddef.h>

/* What each version brought, and everything before it. */
#define GCOV_BROUGHT_407 .has_cfg_checksum = true, .has_program_runs = true
#define GCOV_BROUGHT_408 GCOV_BROUGHT_407, .has_exit_second = true
#define GCOV_BROUGHT_800                                                                      \
    GCOV_BROUGHT_408, .has_columns = true, .has_all_lines = true, .has_float_percents = true, \
                      .has_absent_zeros = true, .has_graph_counts = true
#define GCOV_BROUGHT_900 GCOV_BROUGHT_800, .has_directory = true, .has_no_programs = true
#define GCOV_BROUGHT_1100                                                                  \
    GCOV_BROUGHT_900, .has_zero_runs = true, .has_lists = true, .has_function_ends = true, \
                      .has_lines_total = true
#define GCOV_BROUGHT_1200 GCOV_BROUGHT_1100, .has_byte_lengths = true
#define GCOV_BROUGHT_1300 GCOV_BROUGHT_1200, .has_arc_names = true
#define GCOV_BROUGHT_1400 \
    GCOV_BROUGHT_1300, .has_masks = true, .has_block_numbers = true, .adds_instances = true
#define GCOV_BROUGHT_1500 GCOV_BROUGHT_1400, .has_function_totals = true, .has_last_lines = true

/* The kinds in the order of their slots. */
#define GCOV_KINDS_304                                                                         \
    KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_SINGLE, KIND_DELTA, KIND_INDIRECT, KIND_AVERAGE, \
        KIND_IOR
#define GCOV_KINDS_408 GCOV_KINDS_304, KIND_TIME, KIND_ICALL_TOPN
#define GCOV_KINDS_700                                                                       \
    KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_SINGLE, KIND_INDIRECT, KIND_AVERAGE, KIND_IOR, \
        KIND_TIME, KIND_ICALL_TOPN
#define GCOV_KINDS_1000                                                                         \
    KIND_ARCS, KIND_INTERVAL, KIND_POW2, KIND_TOPN, KIND_INDIRECT_TOPN, KIND_AVERAGE, KIND_IOR, \
        KIND_TIME
#define GCOV_KINDS_1400     GCOV_KINDS_1000, KIND_CONDITIONS, KIND_PATHS
#define GCOV_NO_KINDS(from) [(from)... GCOV_SLOTS - 1] = KIND_UNKNOWN

static const struct gcov_dialect gcov_dialects[] = {
    {.since = 304,
     .summary = GCOV_SUMMARY_PROGRAM,
     .values_form = 1,
     .kinds = {GCOV_KINDS_304, GCOV_NO_KINDS(8)}},
    {.since = 407,
     GCOV_BROUGHT_407,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_PROGRAM,
     .values_form = 2,
     .kinds = {GCOV_KINDS_304, GCOV_NO_KINDS(8)}},
    {.since = 408,
     GCOV_BROUGHT_408,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_PROGRAM_HISTOGRAM,
     .values_form = 2,
     .kinds = {GCOV_KINDS_408, GCOV_NO_KINDS(10)}},
    {.since = 409,
     GCOV_BROUGHT_408,
     .merge_functions = 9,
     .summary = GCOV_SUMMARY_PROGRAM_HISTOGRAM,
     .values_form = 2,
     .kinds = {GCOV_KINDS_408, GCOV_NO_KINDS(10)}},
    {.since = 500,
     GCOV_BROUGHT_408,
     .merge_functions = 10,
     .summary = GCOV_SUMMARY_PROGRAM_HISTOGRAM,
     .values_form = 2,
     .kinds = {GCOV_KINDS_408, GCOV_NO_KINDS(10)}},
    {.since = 700,
     GCOV_BROUGHT_408,
     .merge_functions = 9,
     .summary = GCOV_SUMMARY_PROGRAM_HISTOGRAM,
     .values_form = 3,
     .kinds = {GCOV_KINDS_700, GCOV_NO_KINDS(9)}},
    {.since = 800,
     GCOV_BROUGHT_800,
     .merge_functions = 9,
     .summary = GCOV_SUMMARY_PROGRAM_HISTOGRAM,
     .values_form = 3,
     .kinds = {GCOV_KINDS_700, GCOV_NO_KINDS(9)}},
    {.since = 900,
     GCOV_BROUGHT_900,
     .merge_functions = 9,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 3,
     .kinds = {GCOV_KINDS_700, GCOV_NO_KINDS(9)}},
    {.since = 1000,
     GCOV_BROUGHT_900,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 4,
     .kinds = {GCOV_KINDS_1000, GCOV_NO_KINDS(8)}},
    {.since = 1100,
     GCOV_BROUGHT_1100,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1000, GCOV_NO_KINDS(8)}},
    {.since = 1200,
     GCOV_BROUGHT_1200,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1000, GCOV_NO_KINDS(8)}},
    {.since = 1300,
     GCOV_BROUGHT_1300,
     .merge_functions = 8,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1000, GCOV_NO_KINDS(8)}},
    {.since = 1400,
     GCOV_BROUGHT_1400,
     .merge_functions = 9,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1400, GCOV_NO_KINDS(10)}},
    {.since = 1500,
     GCOV_BROUGHT_1500,
     .merge_functions = 10,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1400, GCOV_NO_KINDS(10)}},
    {.since = 1600,
     GCOV_BROUGHT_1500,
     .merge_functions = 10,
     .summary = GCOV_SUMMARY_OBJECT,
     .values_form = 5,
     .kinds = {GCOV_KINDS_1400, GCOV_NO_KINDS(10)}},
};

enum { GCOV_DIALECTS = sizeof gcov_dialects / sizeof *gcov_dialects };

/* The row that holds for a version number; NULL before the first. */
static inline const struct gcov_dialect *gcov_dialect_numbered(uint16_t number)
{
    size_t i = GCOV_DIALECTS;
    while (i > 0 && gcov_dialects[i - 1].since > number)
        i--;
    return i > 0 ? &gcov_dialects[i - 1] : NULL;
}

/* The same for a program's own structures: none is taken for another's. */
static inline const struct gcov_dialect *gcov_dialect_in_memory(uint16_t number)
{
    const struct gcov_dialect *d = gcov_dialect_numbered(number);
    bool is_later = number / 100 > gcov_dialects[GCOV_DIALECTS - 1].since / 100;
    return d && d->merge_functions && !is_later ? d : NULL;
}

#endif
