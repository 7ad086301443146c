/* What is counted in this process: one object for each gcov_info or coverage_info. All of it
 * belongs to whoever holds the lock. */
#ifndef MONARC_COVER_OBJECTS_H
#define MONARC_COVER_OBJECTS_H

#include "info.h"
#include "merge.h"

#include <monarc/cover.h>

struct object;

/* What the dump has to know of gcov_info and coverage_info. Images are files in memory. */
struct family {
    const char *(*filename)(const struct object *o);
    size_t (*bound)(const struct object *o);
    void (*image)(const struct object *o, const struct totals *program, struct buffer *to);
    enum verdict (*add)(const struct object *o, struct cursor now, struct cursor old,
                        struct buffer *out, const char **why);
    enum verdict (*subtract)(const struct object *o, struct cursor now, struct cursor before,
                             struct buffer *out);
    void (*total)(const struct object *o, struct totals *t);
    void (*reset)(const struct object *o);
    struct form (*form)(const struct object *o); /* of its gcda files; NULL: they are none */
    /* The function at a place of a compiler's object; false if another object has it. */
    bool (*function)(const struct object *o, uint32_t i, struct info_function *to);
};

/* The numbers of a function in gcno and gcda. */
struct noted_identity {
    uint32_t ident, lineno_checksum, cfg_checksum;
};

/* Data in the da of a compiler's object beside the proposal's records, so that it can become the
 * gcda again. */
struct noted_native {
    uint32_t version, stamp, checksum;
    bool has_largest;                       /* of each run: gcc's */
    const struct noted_identity *functions; /* as many and in the order of those of the da */
};

struct object {
    struct object *next;
    const struct family *family;
    struct info gcc;
    const struct coverage_info *da;
    const struct clang_file *clang;
    struct noted *noted;               /* of a compiler's that is written as da */
    const struct noted_native *native; /* its view as da */
    uintptr_t low, high;               /* where its library is mapped; 0, 0 if that is not known */
    uint32_t runs;                     /* 1, or 0 if this process was counted before a reset */
    bool is_done;                      /* written for the last time */
    bool is_suspect;                   /* its library may have been unloaded */
    unsigned char *written;            /* the image when it was last written, or NULL */
    size_t written_bytes, written_size;
};

extern const struct family gcc_family, clang_family, da_family;
extern struct object *objects;

/* `add` and `subtract` of the families whose files are gcda. */
enum verdict objects_add_gcda(const struct object *o, struct cursor now, struct cursor old,
                              struct buffer *out, const char **why);
enum verdict objects_subtract_gcda(const struct object *o, struct cursor now, struct cursor before,
                                   struct buffer *out);

/* The lock, with all signals blocked. */
void objects_lock(uint64_t *mask);
void objects_unlock(const uint64_t *mask);

/* Memory that stays for good, or NULL. */
void *objects_memory(size_t bytes);
/* Adds an object, in place of an earlier one at the same address. */
void objects_add(const struct object *o);
void objects_reset(void);
/* In a forked child: all counters to zero, nothing written yet. */
void objects_renew(void);
/* Takes out the objects of [low, high). */
void objects_remove(uintptr_t low, uintptr_t high);
/* Marks all objects of libraries, which then have to prove that they are still mapped. */
void objects_suspect(void);
/* Takes out suspects that are gone. `may_lock`: the loader may be asked in a way that waits. */
void objects_check(bool may_lock);
/* Remembers the image as written. */
void objects_keep(struct object *o, struct cursor image);

#endif
