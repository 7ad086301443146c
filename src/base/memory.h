/* Where all memory of these rooms comes from. The program takes the C library's (memory.c);
 * libmonarc, which links its own functions instead, its caller's, within limits.
 *
 * Exhausted memory does not return: see memory_exhausted(). */
#ifndef MONARC_BASE_MEMORY_H
#define MONARC_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memory_zeroed(size_t count, size_t size);

/* As realloc(); what is new is not zeroed. */
void *memory_resized(void *at, size_t bytes);

void memory_free(void *at);

/* Asks for large pages under a large allocation that will be filled: fewer page faults. */
void memory_prefer_large_pages(void *at, size_t bytes);

/* For commands that read one file after the other: the process keeps what is freed for the next
 * one, instead of having the system take the pages and hand out others. */
void memory_keep(void);

/* For a thread of such a command, at its start: large pages for what it will allocate. */
void memory_keep_of_thread(void);

/* Called when there is no memory left. In the program the default aborts; cli replaces it with one
 * line and an exit status (a weak symbol, so that nothing here has to hold a mutable hook). In
 * libmonarc it ends the call with an error. */
_Noreturn void memory_exhausted(size_t bytes);

#endif
