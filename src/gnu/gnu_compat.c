/* libiberty's @FILE, which all GNU tools take, and their way of complaining.
 *
 * expandargv() replaces @FILE by the words of the file, as binutils and gcc do; a file that cannot
 * be read stays as it is written. Both functions allocate by malloc(), so that the words live until
 * lookalike_release(). */
#include "gnu/gnu_compat.h"

#include "output/out.h"

#include <libiberty/libiberty.h>
#include <stdarg.h>
#include <unistd.h>

void lookalike_say(const char *format, ...)
{
    va_list args;
    struct out out;
    struct err ignored;
    out_init(&out, STDERR_FILENO);
    va_start(args, format);
    out_vprintf(&out, format, args);
    va_end(args);
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
}

char **lookalike_expand(int *argc, char ***argv)
{
    char **given = *argv;
    expandargv(argc, argv);
    return *argv == given ? NULL : *argv;
}

void lookalike_release(char **expanded)
{
    freeargv(expanded);
}
