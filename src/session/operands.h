/* What an operand of a command is, by its name and its first bytes. */
#ifndef MONARC_SESSION_OPERANDS_H
#define MONARC_SESSION_OPERANDS_H

#include <stdbool.h>

/* Whether the file is one that could have been profiled: it begins as ELF files do. */
bool is_program(const char *path);

/* Whether an operand is about coverage: a folder without a recording, notes, counters, or a
 * tracefile. */
bool is_coverage_operand(const char *name);

#endif
