/* What the stand-ins for GNU programs have in common. */
#ifndef MONARC_GNU_GNU_COMPAT_H
#define MONARC_GNU_GNU_COMPAT_H

#include "base/err.h"

/* Prints on standard error at once, between what getopt says there. */
void lookalike_say(const char *format, ...) PRINTF_LIKE(1, 2);

/* Replaces each argument @FILE by the words in the file. Returns what lookalike_release() takes:
 * the new arguments, or NULL if there was none. */
char **lookalike_expand(int *argc, char ***argv);
void lookalike_release(char **expanded);

#endif
