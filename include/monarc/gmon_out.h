/* Numbers found in profile files of the gmon.out family. Constants only; C99 and C++.
 *
 * GNU gmon.out: a header of 20 bytes, then records, each led by a tag byte:
 *
 *     "gmon"  version(4)  spare(12)    tag(1) payload    tag(1) payload   ...
 *
 * A pointer (P) is 4 or 8 bytes and every integer has the byte order of the machine that wrote the
 * file; neither is stated.
 *
 *     tag 0, histogram   low(P) high(P) bins(4) rate(4) dimension(15) abbreviation(1)
 *                        counters(2 each)
 *     tag 1, arc         from(P) self(P) count(4)
 *     tag 2, blocks      n(4), then n times: address(P) count(P)
 *
 * glibc's profiles of shared objects (LD_PROFILE) share the header but count their version from
 * 0x1ffff and have tags of 4 bytes. 4.4BSD's header is recognised by a version word of its own. */
#ifndef MONARC_GMON_OUT_H
#define MONARC_GMON_OUT_H

#define GMON_OUT_MAGIC "gmon" /* 4 bytes, no NUL */

enum {
    GMON_OUT_HEADER_BYTES = 20,
    GMON_OUT_VERSION_0 = 0,
    GMON_OUT_VERSION_1 = 1,
    GMON_OUT_VERSION_SHARED = 0x1ffff,

    GMON_OUT_TAG_HISTOGRAM = 0,
    GMON_OUT_TAG_ARC = 1,
    GMON_OUT_TAG_BLOCKS = 2,

    GMON_OUT_DIMENSION_BYTES = 15, /* filled up with NULs; one without a NUL is complete */

    GMON_OUT_BSD44_VERSION = 0x00051879
};

#endif
