/* The exec family, taken over from libc so that a recorder can write before the process image goes.
 * exec.c defines its eight functions; what is done around them is the recorder's. */
#ifndef MONARC_RUNTIME_COMMON_EXEC_H
#define MONARC_RUNTIME_COMMON_EXEC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The recorder's, before the image goes; and when it stayed, if that said true. */
bool exec_leaving(void);
void exec_stayed(void);

/* The recorder's: the next execve and execvpe. They return -1 with errno set. */
int exec_next(const char *path, char *const argv[], char *const envp[]);
int exec_next_search(const char *file, char *const argv[], char *const envp[]);

#pragma GCC visibility pop

/* Arguments up to and with NULL; the first is not NULL, says the declaration of execl. */
static inline size_t exec_count(va_list list)
{
    size_t n = 2;
    while (va_arg(list, char *))
        n++;
    return n;
}

static inline void exec_take(char **argv, const char *first, size_t n, va_list list)
{
    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < n; i++)
        argv[i] = va_arg(list, char *);
}

/* Makes `argv` of a variable argument list, and leaves `list` after its NULL. On the stack: the
 * child of a vfork may be here, and must not allocate. */
#define EXEC_ARGUMENTS(argv, first)                   \
    va_list list, again;                              \
    va_start(list, first);                            \
    va_copy(again, list);                             \
    size_t n = exec_count(again);                     \
    va_end(again);                                    \
    char **argv = __builtin_alloca(n * sizeof *argv); \
    exec_take(argv, first, n, list)

#endif
