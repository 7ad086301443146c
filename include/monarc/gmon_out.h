/* Numbers and structures of profile files of the gmon.out family; C99 and C++, no other header but
 * on eCos.
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
 * 0x1ffff and have tags of 4 bytes. 4.4BSD's header is recognised by a version word of its own.
 *
 * Programs that include glibc's <sys/gmon_out.h> or eCos's <cyg/profile/gmon_out.h> can include
 * this instead: below are the names of those, and neither is read any more after this. On eCos
 * (there is a <cyg/infra/cyg_type.h>, or MONARC_GMON_OUT_ECOS is defined) addresses are pointers
 * and numbers are integers, as there, whichever header comes first; otherwise all fields are bytes,
 * as in glibc. MONARC_GMON_OUT_OWN_NAMES leaves these names out. */
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

#if !defined(MONARC_GMON_OUT_OWN_NAMES) && !defined(MONARC_ECOS_GMON_OUT) && \
    !defined(_SYS_GMON_OUT_H) && !defined(gmon_out_h)
#define _SYS_GMON_OUT_H 1 /* glibc's */
#define gmon_out_h        /* eCos's */

#if !defined(MONARC_GMON_OUT_ECOS) && !defined(CYGONCE_INFRA_CYG_TYPE_H) && defined(__has_include)
#if __has_include(<cyg/infra/cyg_type.h>)
#include <cyg/infra/cyg_type.h>
#endif
#endif
#if defined(CYGONCE_INFRA_CYG_TYPE_H) && !defined(MONARC_GMON_OUT_ECOS)
#define MONARC_GMON_OUT_ECOS
#endif

#define GMON_MAGIC         GMON_OUT_MAGIC
#define GMON_VERSION       1
#define GMON_SHOBJ_VERSION 0x1ffff

struct gmon_hdr {
    char cookie[4];
    char version[4];
    char spare[3 * 4];
};

typedef enum {
    GMON_TAG_TIME_HIST = GMON_OUT_TAG_HISTOGRAM,
    GMON_TAG_CG_ARC = GMON_OUT_TAG_ARC,
    GMON_TAG_BB_COUNT = GMON_OUT_TAG_BLOCKS
} GMON_Record_Tag;

#ifdef MONARC_GMON_OUT_ECOS
#define MONARC_GMON_ADDRESS(name) void *name
#define MONARC_GMON_NUMBER(name)  __UINT32_TYPE__ name
#else
#define MONARC_GMON_ADDRESS(name) char name[sizeof(char *)]
#define MONARC_GMON_NUMBER(name)  char name[4]
#endif

/* Counters of 2 bytes follow. */
struct gmon_hist_hdr {
    MONARC_GMON_ADDRESS(low_pc);
    MONARC_GMON_ADDRESS(high_pc);
    MONARC_GMON_NUMBER(hist_size); /* of counters */
    MONARC_GMON_NUMBER(prof_rate);
    char dimen[GMON_OUT_DIMENSION_BYTES];
    char dimen_abbrev;
};

/* On eCos of 8-byte pointers, the structure is larger than the record. */
struct gmon_cg_arc_record {
    MONARC_GMON_ADDRESS(from_pc);
    MONARC_GMON_ADDRESS(self_pc);
    MONARC_GMON_NUMBER(count);
};

#undef MONARC_GMON_ADDRESS
#undef MONARC_GMON_NUMBER
#endif

#endif
