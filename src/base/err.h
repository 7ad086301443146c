/* One error: which input, where in it, and what was expected, as one sentence.
 *
 * The caller owns the struct; a function that can fail takes it as its last parameter and returns
 * false. Only cli prints it. The line reads `INPUT: at offset N: SENTENCE`, with the parts that are
 * known. */
#ifndef MONARC_BASE_ERR_H
#define MONARC_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

struct err {
    char line[1024]; /* the whole message, no newline; "" while there is no error */
    int system;      /* the errno of err_errno(); 0 in other messages */
};

struct cursor;

/* Each records the message and returns false, so that a caller can write `return err_set(...)`.
 * Control bytes in names are shown as `?`: a message is always one line. `e` may be NULL. */
bool err_set(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);
bool err_in(struct err *e, const char *input, const char *format, ...) PRINTF_LIKE(3, 4);
bool err_at(struct err *e, const struct cursor *in, const char *format, ...) PRINTF_LIKE(3, 4);

/* `INPUT: strerror(errno_value)`. */
bool err_errno(struct err *e, const char *input, int errno_value);

/* Whether an error number says nothing about the file but that this system could not get at it: an
 * unreadable disk, too many open files, no memory. What was there is then not absent. */
bool errno_is_trouble(int errno_value);

/* Whether a file may be there all the same: trouble, or no permission. */
bool errno_hides_file(int errno_value);

#endif
