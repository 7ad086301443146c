/* The file formats that libmonarc knows, where bytes come from and where they go. */
#ifndef MONARC_FORMATS_H
#define MONARC_FORMATS_H

#include <monarc/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum monarc_format {
    MONARC_NO_FORMAT = 0,

    /* Profiles: struct monarc_profile. */
    MONARC_GMON,  /* GNU gmon.out, version 1 */
    MONARC_GMON0, /* version 0 */
    MONARC_SPROF, /* glibc's LD_PROFILE, of shared objects */
    MONARC_BSD44, /* 4.4BSD's */
    MONARC_BSD,   /* the one before */

    /* Recordings: struct monarc_recording. */
    MONARC_RECORDING, /* monarc.side of `monarc run` */
    MONARC_SIDECAR,   /* monarc.side of the recorder inside a process */

    /* Arc profiling: struct monarc_notes and struct monarc_counters. */
    MONARC_GCNO, /* notes of gcc 3.4 to 16 and clang */
    MONARC_GCDA, /* their counters */
    MONARC_BBG,  /* notes of the proposal of 2002 */
    MONARC_DA,   /* its counters */
    MONARC_GCFN, /* a stream of names and counters, of targets without files */

    /* Coverage: struct monarc_trace. */
    MONARC_LCOV, /* tracefiles */

    MONARC_FORMATS
};

/* "gmon": the name in `monarc info --json` and of docs/formats/NAME.md; and a title for people. */
const char *monarc_format_name(enum monarc_format format);
const char *monarc_format_title(enum monarc_format format);
enum monarc_format monarc_format_find(const char *name); /* MONARC_NO_FORMAT: there is none */

/* Facts about a profile from elsewhere, since its files lack them: all zero, or NULL instead of a
 * pointer to it, has the reader deduce it. Other formats need none. */
struct monarc_hint {
    uint8_t pointer_bytes; /* 4 or 8, or 0 */
    uint8_t byte_order;    /* MONARC_LITTLE_ENDIAN, MONARC_BIG_ENDIAN, or 0 */
    uint32_t default_rate; /* samples a second of old BSD files; 0: 100 */
    uint8_t bsd_header;    /* bytes of their header, of 8-byte pointers: 20, or 24 as on Alphas */
};

enum { MONARC_LITTLE_ENDIAN = 1, MONARC_BIG_ENDIAN = 2 };

/* Where to read: `path` if it is not NULL, else `bytes` if that is not NULL, else `descriptor`,
 * from its position to its end. `name` is for messages; NULL: the path, "memory" or "descriptor N".
 */
struct monarc_source {
    const char *path;
    const void *bytes;
    size_t len;
    int descriptor;
    const char *name;
};

/* Where to write: `path`, which is replaced wholly or not at all, or, if that is NULL, `descriptor`
 * if it is not negative, or else memory, which is in `bytes` and `len` then and must be freed. */
struct monarc_target {
    const char *path;
    int descriptor;
    void *bytes;
    size_t len;
};

static inline struct monarc_source monarc_source_from_path(const char *path)
{
    struct monarc_source s = {path, NULL, 0, -1, NULL};
    return s;
}

static inline struct monarc_source monarc_source_from_descriptor(int descriptor)
{
    struct monarc_source s = {NULL, NULL, 0, descriptor, NULL};
    return s;
}

static inline struct monarc_source monarc_source_from_bytes(const void *bytes, size_t len)
{
    struct monarc_source s = {NULL, bytes ? bytes : "", bytes ? len : 0, -1, NULL};
    return s;
}

static inline struct monarc_target monarc_target_to_path(const char *path)
{
    struct monarc_target t = {path, -1, NULL, 0};
    return t;
}

static inline struct monarc_target monarc_target_to_descriptor(int descriptor)
{
    struct monarc_target t = {NULL, descriptor, NULL, 0};
    return t;
}

static inline struct monarc_target monarc_target_to_memory(void)
{
    struct monarc_target t = {NULL, -1, NULL, 0};
    return t;
}

/* Frees the memory that was written to. */
void monarc_target_free(struct monarc_target *t);

/* The format of the bytes; fails if it is none. A descriptor is read to its end by this. */
enum monarc_format monarc_format_detect(const struct monarc_source *in,
                                        const struct monarc_hint *hint, struct monarc_error *e);

#ifdef __cplusplus
}
#endif

#endif
