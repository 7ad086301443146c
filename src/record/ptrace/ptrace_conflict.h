/* Programs that would not work, or would work otherwise, while they are traced. */
#ifndef MONARC_RECORD_PTRACE_PTRACE_CONFLICT_H
#define MONARC_RECORD_PTRACE_PTRACE_CONFLICT_H

#include <stdbool.h>

/* Why a program with rights of its file (setuid, capabilities) is not traced. */
#define PTRACE_KEEPS_RIGHTS "has rights of its file, which it would lose"

/* Why a program is better left alone, or NULL. `is_started`: by the program that the user named;
 * that one itself is traced even if it may trace others, which then fails (*may_trace). */
const char *ptrace_conflict_text(const char *path, bool is_started, bool *may_trace);

/* Whether a file gives a program rights that we lack, which it would not get while it is traced. */
bool ptrace_conflict_has_rights(const char *path);

#endif
