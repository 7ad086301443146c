/* Errors and memory of libmonarc, the library that reads and writes profiles and coverage files.
 *
 * Functions that can fail return false (or NULL) and fill in the caller's error, which may be NULL.
 * The library never prints, never ends the process, and keeps nothing between calls but what is
 * in handles. One handle is for one thread at a time; functions that take it as const may run in
 * several. C99 and C++. Link with `pkg-config --libs monarc`; see libmonarc(3). */
#ifndef MONARC_ERROR_H
#define MONARC_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum monarc_status {
    MONARC_OK = 0,
    MONARC_CANNOT_READ,    /* the system did not let the file be read */
    MONARC_CANNOT_WRITE,   /* likewise */
    MONARC_UNKNOWN_FORMAT, /* the bytes are of no format, or not of a requested one */
    MONARC_BAD_INPUT,      /* the bytes are damaged, cut off or ambiguous */
    MONARC_UNFIT,     /* things that cannot be put together, or a format that cannot hold them */
    MONARC_NO_MEMORY, /* the system has no more, or the handle's limit is reached */
    MONARC_MISUSE,    /* arguments that no call may have */
    MONARC_STOPPED    /* a function of the caller asked to stop */
};

struct monarc_error {
    enum monarc_status status;
    char text[1024]; /* one line for people, without newline: input, offset, what was expected */
};

/* "no-memory": a status for programs. */
const char *monarc_status_name(enum monarc_status status);

/* "0.1.0": of the library that is loaded. */
const char *monarc_version(void);

/* Where a handle's memory comes from and how much of it may be in use at a time. A call that would
 * need more fails with MONARC_NO_MEMORY and gives all back that it took: a handle that it was
 * changing is empty then (unless the function says that it stays as it was) and can be used again.
 * NULL instead of a pointer to this: no limit, memory of the C library. */
struct monarc_memory {
    size_t limit_bytes; /* 0: none */

    /* As realloc(), and with 0 bytes as free(); NULL: those. Called by the threads that use the
     * handle; it must return. Memory aligned for any type. */
    void *(*resize)(void *context, void *block, size_t bytes);
    void *context;
};

#ifdef __cplusplus
}
#endif

#endif
