/* The proposal of 2002 for arc profiling, as a header: magics, tags, structures, and functions that
 * write and read its items. C99 and C++; it needs the C library alone. docs/formats/bbg.md and
 * da.md draw the bytes. libmonarc reads and writes whole files; this is for programs that go
 * through them item by item.
 *
 * Every number is little-endian and unsigned. A string is its length, its characters, a NUL, and
 * NULs up to a multiple of 4; NULL and "" are length 0 and one zero word. A record is a tag, the
 * bytes that follow its length, and items.
 *
 * Names without a prefix, and those that begin with GCOV, GBBG, COVERAGE, ARC and GCC, are the
 * proposal's, with its types and signatures, so that a program written for it compiles as it is.
 * Its functions leave errors to the stream. Those that begin with arc_profile are ours: they return
 * 0, or -1 if the stream failed, ended, or holds a malformed string. */
#ifndef MONARC_ARC_PROFILE_H
#define MONARC_ARC_PROFILE_H
#define GCC_COVERAGE_H /* the proposal's guard */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARC_PROFILE_BBG_SUFFIX  ".bbg"
#define ARC_PROFILE_DA_SUFFIX   ".da"
#define ARC_PROFILE_BBG_MAGIC   0x67626267u /* "gbbg" */
#define ARC_PROFILE_DA_MAGIC    0x766f6367u /* "gcov" */
#define ARC_PROFILE_VERSION_304 0x65343033u /* "304e": gcc 3.4, experimental */

enum arc_profile_tag {
    ARC_PROFILE_TAG_FUNCTION = 1,        /* string name, int32 checksum */
    ARC_PROFILE_TAG_BLOCKS = 2,          /* int32 flags of each block */
    ARC_PROFILE_TAG_ARCS = 3,            /* {int32 block, int32 flags}*, one record a block */
    ARC_PROFILE_TAG_LINES = 4,           /* {int32 line | int32 0, string file}*, likewise */
    ARC_PROFILE_TAG_ARC_COUNTS = 5,      /* int64 of each arc that is counted */
    ARC_PROFILE_TAG_OBJECT_SUMMARY = 6,  /* int32 arcs, int64 sum, int64 largest */
    ARC_PROFILE_TAG_PROGRAM_SUMMARY = 7, /* the same */
};

enum arc_profile_arc_flags {
    ARC_PROFILE_ARC_ON_TREE = 1, /* no counter: it follows from the others */
    ARC_PROFILE_ARC_FAKE = 2
};

/* The proposal's names of the same. It gives the program summary no tag. */
#define GBBG_MAGIC  ARC_PROFILE_BBG_MAGIC
#define GCOV_MAGIC  ARC_PROFILE_DA_MAGIC
#define GBBG_SUFFIX ARC_PROFILE_BBG_SUFFIX
#define GBBG_SUFFIC ARC_PROFILE_BBG_SUFFIX /* as the text spells it */
#define GCOV_SUFFIX ARC_PROFILE_DA_SUFFIX

#define COVERAGE_FUNCTION       1
#define COVERAGE_BLOCKS         2
#define COVERAGE_ARCS           3
#define COVERAGE_LINES          4
#define COVERAGE_ARC_COUNTS     5
#define COVERAGE_OBJECT_SUMMARY 6

#define COVERAGE_ARC_ON_TREE 1
#define COVERAGE_ARC_FAKE    2
#define ARC_ON_TREE          COVERAGE_ARC_ON_TREE
#define ARC_FAKE             COVERAGE_ARC_FAKE

/* The first implementation, which followed within weeks, has these for the suffixes and flags. */
#define GCOV_GRAPH_SUFFIX ARC_PROFILE_BBG_SUFFIX
#define GCOV_DATA_SUFFIX  ARC_PROFILE_DA_SUFFIX
#define GCOV_ARC_ON_TREE  1
#define GCOV_ARC_FAKE     2

/* What a program keeps of an object: one array of counters, of which functions own consecutive
 * slices. <monarc/cover.h> has the same; whichever comes first defines them. */
#ifndef MONARC_HAS_COVERAGE_INFO
#define MONARC_HAS_COVERAGE_INFO
#if __LONG_MAX__ > 0x7fffffff
typedef long gcov_type; /* a count of 64 bits */
#else
typedef long long gcov_type;
#endif

struct function_info {
    const char *name; /* mangled */
    long checksum;    /* that of the bbg file */
    int n_arc_counts; /* arcs that are not on the spanning tree */
};

struct coverage_info {
    unsigned long version; /* of the compiler: "304e" is 0x65343033 */
    struct coverage_info *next;
    const char *filename; /* of the da file */
    struct function_info *functions;
    long n_functions;
    gcov_type *arc_counts; /* the functions' counters, one function after the other */
    long n_arc_counts;
};
#endif

/* ---- Items, with errors. */

/* Bytes that a string takes. */
static inline uint32_t arc_profile_string_bytes(const char *text)
{
    return 4 + (((text ? (uint32_t)strlen(text) : 0) + 4) & ~3u);
}

static inline int arc_profile_write_int32(FILE *to, uint32_t value)
{
    unsigned char b[4];
    for (int i = 0; i < 4; i++)
        b[i] = (unsigned char)(value >> 8 * i);
    return fwrite(b, sizeof b, 1, to) == 1 ? 0 : -1;
}

static inline int arc_profile_write_int64(FILE *to, uint64_t value)
{
    return arc_profile_write_int32(to, (uint32_t)value) ||
                   arc_profile_write_int32(to, (uint32_t)(value >> 32))
               ? -1
               : 0;
}

/* `length` characters, without a NUL. */
static inline int arc_profile_write_string(FILE *to, uint32_t length, const char *text)
{
    static const char NULS[4] = {0, 0, 0, 0};
    length = text ? length : 0;
    if (arc_profile_write_int32(to, length) || (length && fwrite(text, length, 1, to) != 1))
        return -1;
    return fwrite(NULS, 4 - length % 4, 1, to) == 1 ? 0 : -1;
}

static inline int arc_profile_read_int32(FILE *from, uint32_t *value)
{
    unsigned char b[4];
    if (fread(b, sizeof b, 1, from) != 1)
        return -1;
    *value = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return 0;
}

static inline int arc_profile_read_int64(FILE *from, uint64_t *value)
{
    uint32_t low, high;
    if (arc_profile_read_int32(from, &low) || arc_profile_read_int32(from, &high))
        return -1;
    *value = (uint64_t)high << 32 | low;
    return 0;
}

/* Into *text, which the caller frees, and *length. What a damaged length claims is not believed:
 * memory grows with what is there. */
static inline int arc_profile_read_string(FILE *from, uint32_t *length, char **text)
{
    uint32_t len, whole = 0;
    char *at = NULL;
    if (arc_profile_read_int32(from, &len) || len > UINT32_MAX - 8)
        return -1;
    for (uint32_t padded = (len + 4) & ~3u; whole < padded; whole += 4) {
        char *grown = whole & 4095 ? at : (char *)realloc(at, (size_t)whole + 4096);
        if (!grown || fread(grown + whole, 4, 1, from) != 1) {
            free(grown ? grown : at);
            return -1;
        }
        at = grown;
    }
    for (uint32_t i = len; i < whole; i++)
        if (at[i]) {
            free(at);
            return -1;
        }
    *length = len;
    *text = at;
    return 0;
}

/* A record's head. What is not known is passed over by its length. */
static inline int arc_profile_write_record(FILE *to, uint32_t tag, uint32_t length)
{
    return arc_profile_write_int32(to, tag) || arc_profile_write_int32(to, length) ? -1 : 0;
}

static inline int arc_profile_read_record(FILE *from, uint32_t *tag, uint32_t *length)
{
    return arc_profile_read_int32(from, tag) || arc_profile_read_int32(from, length) ? -1 : 0;
}

/* ---- The proposal's functions. ferror() and feof() say whether they did it: what could not be
 * read is 0 or NULL. An int32 is the low 32 bits of a long, and unsigned where it is read. */

static inline void write_int32(FILE *to, unsigned long value)
{
    (void)arc_profile_write_int32(to, (uint32_t)value);
}

static inline void write_int64(FILE *to, gcov_type value)
{
    (void)arc_profile_write_int64(to, (uint64_t)value);
}

static inline void write_string(FILE *to, unsigned length, const char *text)
{
    (void)arc_profile_write_string(to, length, text);
}

static inline unsigned long read_int32(FILE *from)
{
    uint32_t value = 0;
    return arc_profile_read_int32(from, &value) ? 0 : value;
}

static inline gcov_type read_int64(FILE *from)
{
    uint64_t value = 0;
    return arc_profile_read_int64(from, &value) ? 0 : (gcov_type)value;
}

/* The text, NUL-terminated, to be freed; its length without the NUL in *length, unless that is
 * NULL. */
static inline char *read_string(FILE *from, unsigned *length)
{
    uint32_t len = 0;
    char *text = NULL;
    if (arc_profile_read_string(from, &len, &text))
        len = 0;
    if (length)
        *length = len;
    return text;
}

#endif
