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

/* Versions. What is printed is what the machine's own program prints, of whatever version that is;
 * where there is none, what the newest version prints that is known here. `--compat VERSION` asks
 * for another one. */
enum gnu_project { GNU_BINUTILS, GNU_GCC };

struct gnu_version {
    uint32_t number; /* 1402 for 14.2 */
    char text[32];   /* as the program says it: 14.2.0 */
};

/* What follows the number where a version is printed. */
#define STANDS_IN   "This is monarc, which stands in for it; monarc --version tells its own.\n"
#define NO_WARRANTY "There is no warranty, to the extent permitted by law.\n"

/* Takes `--compat VERSION` out of the arguments and fills *v; if it is not there, *v stays. The
 * only errors are of VERSION. */
MUST_CHECK bool lookalike_take_compat(int *argc, char **argv, enum gnu_project project,
                                      struct gnu_version *v, struct err *e);

/* If *v is still zeroed: the version of the machine's program of that name. It is read out of its
 * file; nothing is started. */
void lookalike_version(struct gnu_version *v, enum gnu_project project, const char *program);

#endif
