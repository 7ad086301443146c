/* What the stand-ins for GNU programs have in common.
 *
 * Each stand-in is a folder here and a command with is_lookalike: main() gives its messages no
 * prefix and its name in argv[0] selects it. What is printed agrees with the program it stands for
 * byte for byte where that program's behaviour is defined; docs/compat.md lists the rest. */
#ifndef MONARC_GNU_GNU_COMPAT_H
#define MONARC_GNU_GNU_COMPAT_H

#include "base/err.h"

/* Prints on standard error at once, between what getopt says there. Not through `out`: getopt
 * writes to stderr by itself, and the order of lines is part of what users see. */
void lookalike_say(const char *format, ...) PRINTF_LIKE(1, 2);

/* Replaces each argument @FILE by the words in the file. Returns what lookalike_release() takes:
 * the new arguments, or NULL if there was none. */
char **lookalike_expand(int *argc, char ***argv);
void lookalike_release(char **expanded);

#endif
