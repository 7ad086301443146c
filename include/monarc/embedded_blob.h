/* The memory image of the embedded recorder. Constants only; C99 and C++.
 *
 * One stretch of memory holds everything that was recorded on one core, in that machine's byte
 * order and with its pointer size (P). It is written to in place, so a debugger may dump it at any
 * moment; several cores have one each, one after the other.
 *
 *     head     28 words of 4 bytes, then 5 + 2 * windows_max words of P bytes: see below
 *     bins     2 bytes each, those of the first window first
 *     stacks   4 bytes each, if stack depths are sampled: sums of bytes in use, by address
 *     arcs     {from(P) self(P) count(P)}, in no order; from 0: free, from 1: being filled in
 *
 * docs/formats/embedded.md draws it. */
#ifndef MONARC_EMBEDDED_BLOB_H
#define MONARC_EMBEDDED_BLOB_H

#define MONARC_BLOB_MAGIC "monarcE\1" /* 8 bytes; the last is the version */
#define MONARC_BLOB_ORDER 0x01020304u

/* Words of 4 bytes, by number. */
enum {
    MONARC_BLOB_MAGIC_0,
    MONARC_BLOB_MAGIC_1,
    MONARC_BLOB_BYTE_ORDER, /* MONARC_BLOB_ORDER */
    MONARC_BLOB_WORD,       /* P */
    MONARC_BLOB_SIZE,       /* bytes of all this */
    MONARC_BLOB_CHECK,      /* makes the sum of words 0 to 21 and of those of P bytes (each in
                             * halves of 4 bytes) 0: what stays as it is while recording */
    MONARC_BLOB_CORE,
    MONARC_BLOB_CORES,
    MONARC_BLOB_FLAGS,
    MONARC_BLOB_RATE,     /* samples a second; 0: not given */
    MONARC_BLOB_TEXT_SUM, /* with MONARC_BLOB_HAS_TEXT_SUM */
    MONARC_BLOB_WINDOWS,  /* in use */
    MONARC_BLOB_WINDOWS_MAX,
    MONARC_BLOB_SHIFT, /* bytes a bin: 1 << shift */
    MONARC_BLOB_BINS_AT,
    MONARC_BLOB_BINS,
    MONARC_BLOB_STACKS_AT,
    MONARC_BLOB_STACKS,
    MONARC_BLOB_STACK_SHIFT,
    MONARC_BLOB_ARCS_AT,
    MONARC_BLOB_ARCS,
    MONARC_BLOB_PROBES, /* slots that are tried for one arc */

    /* These change. */
    MONARC_BLOB_LOST,      /* calls for which the table had no room */
    MONARC_BLOB_NESTED,    /* calls from an NMI while the table was locked */
    MONARC_BLOB_OUTSIDE,   /* samples in no window */
    MONARC_BLOB_SATURATED, /* samples whose bin is full */
    MONARC_BLOB_RESETS,
    MONARC_BLOB_SAMPLES_STACK, /* samples with a stack depth */
    MONARC_BLOB_HEAD_WORDS
};

/* Words of P bytes, after the others, by number. */
enum {
    MONARC_BLOB_TEXT_LOW, /* the range of TEXT_SUM, whole 4 bytes */
    MONARC_BLOB_TEXT_HIGH,
    MONARC_BLOB_STACK_TOP,
    MONARC_BLOB_FIRST_WINDOW, /* low, high of each of windows_max; then */
    MONARC_BLOB_DEEPEST = 0,  /* after the windows: the most bytes of stack seen in use */
    MONARC_BLOB_DEEPEST_PC    /* and where; these two change */
};

/* Flags. */
enum {
    MONARC_BLOB_HAS_TEXT_SUM = 1,
    MONARC_BLOB_CLEAR_BIT_0 = 2 /* addresses of code carry Thumb's bit */
};

#endif
