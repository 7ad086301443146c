/* Numbers found in notes (gcno) and counters (gcda) of GCC and clang, and what differs between the
 * versions of GCC, as data. Analyser and recorder both take them from here. C11; no code but for
 * version words. docs/formats/gcno.md and gcda.md draw the bytes.
 *
 * A word is a u32 in the byte order of whoever wrote the file; a counter is two of them, the low
 * one first. A record is a tag, a length and that many bytes, or (up to gcc 11) words. */
#ifndef MONARC_GCOV_FILES_H
#define MONARC_GCOV_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* First words. */
#define GCOV_MAGIC_NOTES    0x67636e6fu /* "gcno" */
#define GCOV_MAGIC_COUNTERS 0x67636461u /* "gcda" */
#define GCOV_MAGIC_NAME     0x6763666eu /* "gcfn": before the gcda of an embedded program */

/* Tags of records. */
#define GCOV_TAG_FUNCTION        0x01000000u
#define GCOV_TAG_BLOCKS          0x01410000u
#define GCOV_TAG_ARCS            0x01430000u
#define GCOV_TAG_LINES           0x01450000u
#define GCOV_TAG_CONDITIONS      0x01470000u
#define GCOV_TAG_PATHS           0x01490000u
#define GCOV_TAG_COUNTERS        0x01a10000u /* of slot 0 */
#define GCOV_TAG_OBJECT_SUMMARY  0xa1000000u
#define GCOV_TAG_PROGRAM_SUMMARY 0xa3000000u

#define GCOV_SLOT_SHIFT     17
#define GCOV_TAG_OF_SLOT(i) (GCOV_TAG_COUNTERS + ((uint32_t)(i) << GCOV_SLOT_SHIFT))

enum {
    GCOV_SLOTS = 16,              /* kinds of counters that tags have room for here */
    GCOV_SUMMARY_BYTES = 36,      /* of a program, without its histogram */
    GCOV_HISTOGRAM_WORDS = 8,     /* bits of the buckets that are there, after those */
    GCOV_SHORT_SUMMARY_BYTES = 8, /* of an object, gcc 9 on */
    GCOV_LIST_VALUES = 32,        /* values that a list of gcc 11 and later tracks */
    GCOV_FIXED_VALUES = 4,        /* and a counter of the versions before */
};

/* What is counted. A version keeps the kinds in slots of its own order. */
enum counter_kind {
    KIND_ARCS,
    KIND_INTERVAL,
    KIND_POW2,
    KIND_SINGLE,
    KIND_TOPN,
    KIND_DELTA,
    KIND_INDIRECT,      /* of single values */
    KIND_INDIRECT_TOPN, /* gcc 10 on */
    KIND_AVERAGE,
    KIND_IOR,
    KIND_TIME,
    KIND_ICALL_TOPN, /* gcc 5 to 9 */
    KIND_CONDITIONS,
    KIND_PATHS,
    KIND_UNKNOWN,
    KINDS
};

enum gcov_summary {
    GCOV_SUMMARY_PROGRAM,           /* a3: 9 words */
    GCOV_SUMMARY_PROGRAM_HISTOGRAM, /* and a histogram of counters after them */
    GCOV_SUMMARY_OBJECT,            /* a1: runs, sum of the runs' largest counters */
    GCOV_SUMMARY_LAST_PROGRAM,      /* clang, after the functions: a3: 0, 0, runs */
    GCOV_SUMMARY_LAST_OBJECT,       /* clang from 21 on: a1: runs, 0 */
};

/* A version of GCC: one row of wire/gcov_dialects.h, which holds until the next row's `since`. */
struct gcov_dialect {
    uint16_t since; /* major * 100 + minor */

    /* The structures that an object file has for its recorder: how many merge functions a gcov_info
     * lists, which is how many kinds there are. 0: those structures are not known. */
    uint8_t merge_functions;

    /* Both files. */
    bool has_cfg_checksum; /* in FUNCTION */
    bool has_byte_lengths; /* and a checksum in the header, and in gcov_info */

    /* Notes. */
    bool has_exit_second; /* block 1 is the exit, not the last */
    bool has_columns;     /* artificial, start column, end line in FUNCTION; a block count */
    bool has_directory;   /* of the compiler, in the header; end column in FUNCTION */
    bool has_all_lines;   /* each block states its lines; before, only changes were written */

    /* Counters. */
    uint8_t summary;           /* enum gcov_summary */
    uint8_t values_form;       /* counters of versions with the same can be summed */
    bool has_zero_runs;        /* negative lengths: so many counters, all zero */
    bool has_lists;            /* topn counters are lists; before, four values */
    bool has_masks;            /* conditions; from gcc 15 on paths */
    uint8_t kinds[GCOV_SLOTS]; /* enum counter_kind */

    /* The output of the version's gcov. */
    bool has_program_runs;   /* "Runs:" are those of the last program; before, of the object */
    bool has_float_percents; /* "0.51%" of one in 197, where integers made 0.51 of it before */
    bool has_absent_zeros;   /* functions that the counters lack did not run */
    bool has_graph_counts; /* a line's count follows the arcs into it; before, blocks are summed */
    bool has_no_programs;  /* no "Programs:" in the heading */
    bool has_lines_total; /* the lines of all files last; before gcc 9, of several operands alone */
    bool has_function_ends; /* JSON: a line after a function's end is not in it */
    bool has_arc_names;     /* "(fallthrough)" of branches that were never executed too */
    bool
        has_block_numbers; /* JSON format 2: blocks of branches, conditions, calls; -a shows them */
    bool has_function_totals; /* -f has branches and calls; JSON has paths of each function */
    bool has_last_lines;      /* -q, -D: a source goes on to the last line of its functions */
    bool adds_instances;      /* lines of instances count in their source's totals, and with -f */
};

/* The word's most significant byte first: a digit starts "408*" (4.8), a letter "B22*" (12.2).
 * 1202 for the latter; 0 if the word is no version. */
static inline uint16_t gcov_version_number(uint32_t word)
{
    unsigned c0 = word >> 24, c1 = word >> 16 & 255, c2 = word >> 8 & 255;
    if (c1 < '0' || c1 > '9' || c2 < '0' || c2 > '9')
        return 0;
    if (c0 >= '0' && c0 <= '9')
        return (uint16_t)((c0 - '0') * 100 + (c1 - '0') * 10 + (c2 - '0'));
    if (c0 >= 'A' && c0 <= 'Z')
        return (uint16_t)(((c0 - 'A') * 10 + (c1 - '0')) * 100 + (c2 - '0'));
    return 0;
}

/* The same number as a word of the proposal of 2002, little-endian: "C02r" for 1202; `phase` is
 * 'e', 'p' or 'r'. 0 if it has no place there. */
static inline uint32_t gcov_proposal_version(uint16_t number, char phase)
{
    unsigned major = number / 100u, minor = number % 100u;
    if (major < 3 || major > 35)
        return 0;
    return (major < 10 ? '0' + major : 'A' + major - 10) | ('0' + minor / 10) << 8 |
           ('0' + minor % 10) << 16 | (uint32_t)(uint8_t)phase << 24;
}

#endif
