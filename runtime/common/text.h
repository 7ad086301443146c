/* Bytes and strings without libc: the recorder's code may run where libc's vectorised routines
 * would spoil argument registers. Building a string never overruns: text is cut, and `cut` says so.
 */
#ifndef MONARC_RUNTIME_COMMON_TEXT_H
#define MONARC_RUNTIME_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void bytes_copy(void *to, const void *from, size_t n);
void bytes_zero(void *to, size_t n);
size_t text_length(const char *s);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *s, const char *prefix);
/* After the last '/'. */
const char *text_base(const char *path);
/* A decimal number; `otherwise` if `s` is NULL, empty or anything else. */
uint64_t text_number(const char *s, uint64_t otherwise);

/* A string under construction in the caller's buffer, always terminated. */
struct text {
    char *at;
    size_t used, size;
    bool cut;
};

struct text text_in(char *buffer, size_t size);
void text_add(struct text *t, const char *s);
void text_add_number(struct text *t, uint64_t n);

#endif
