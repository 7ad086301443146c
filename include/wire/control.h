/* The control file of `monarc run`: what recorded processes report to the monitor while they run.
 * It is mapped shared by all of them: a header page, then a ring of records.
 * docs/formats/control.md draws its bytes and says who may do what when.
 *
 * All integers are in the machine's byte order: the file never leaves it. */
#ifndef MONARC_CONTROL_H
#define MONARC_CONTROL_H

#include <stdint.h>

#define MONARC_CONTROL_MAGIC        0x4c43524d /* "MRCL" read little-endian */
#define MONARC_CONTROL_VERSION      1
#define MONARC_CONTROL_HEADER_BYTES 4096
#define MONARC_CONTROL_RECORD_BYTES 512
#define MONARC_CONTROL_TEXT_BYTES   488
#define MONARC_CONTROL_MOST_RECORDS 65536 /* a larger capacity is damage */

enum monarc_control_kind {
    MONARC_CONTROL_PHASE = 1,        /* text: its name */
    MONARC_CONTROL_REGION_BEGIN = 2, /* text: its name */
    MONARC_CONTROL_REGION_END = 3,
    MONARC_CONTROL_STOPPED = 4,     /* the process is not to be recorded from here on */
    MONARC_CONTROL_RESUMED = 5,     /* and from here on it is again */
    MONARC_CONTROL_DUMP = 6,        /* text: an absolute folder; empty: the recording itself */
    MONARC_CONTROL_RESET = 7,       /* forget the samples of the process */
    MONARC_CONTROL_CALLS = 8,       /* text: the folder in MONARC_OUT that the calls go to */
    MONARC_CONTROL_NOT_COUNTED = 9, /* text: why the calls of the process are not counted */
    MONARC_CONTROL_KINDS
};

enum monarc_control_state {
    MONARC_CONTROL_FREE = 0,     /* nothing, or a writer is at it */
    MONARC_CONTROL_READY = 1,    /* whole: the reader may take it */
    MONARC_CONTROL_ABANDONED = 2 /* a writer never came back: not used any more */
};

struct monarc_control_header {
    uint32_t magic, version, capacity, record_bytes;
    uint8_t zero[48];
    uint64_t next; /* number of the next record that a writer takes */
    uint8_t zero2[56];
    uint64_t read; /* number of the next record that the reader takes */
    uint8_t zero3[56];
    uint64_t dropped; /* records that found the ring full */
};

struct monarc_control_record {
    uint32_t state, kind;
    uint64_t at_ns; /* CLOCK_MONOTONIC; 0: not known */
    uint32_t pid, tid;
    char text[MONARC_CONTROL_TEXT_BYTES]; /* ended by NUL */
};

#endif
