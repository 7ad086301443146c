/* libmonarc_cover, as a program may steer it, and the structures with which a program that no
 * --coverage compiler made can have its arcs counted. C99 and C++.
 *
 * A program compiled with gcc --coverage needs none of this: it is linked with -lmonarc_cover in
 * place of libgcov. Link with `pkg-config --libs monarc-cover`. */
#ifndef MONARC_COVER_H
#define MONARC_COVER_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Adds what was counted since the last time to the counter files. Counting goes on; threads may
 * run. Returns 0, or -1 if a file could not be written; that was reported. Async-signal-safe. */
int monarc_cover_dump(void);

/* Sets all counters to zero. Counts that were not written are forgotten. No thread may be counting.
 */
void monarc_cover_reset(void);

/* The structures of the tagged-record proposal of 2002 (docs/cover-runtime.md): what a compiler
 * puts into each object for the program to write its `da` file from. <monarc/arc_profile.h> has the
 * same; whichever comes first defines them. */
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

/* Has `info` written from now on: to be called once an object, by a constructor. `next` is then the
 * library's. What is registered is never unloaded. */
void monarc_cover_register(struct coverage_info *info);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
