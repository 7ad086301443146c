/* Numbers of system calls that several machines share. Private to this room. */
#ifndef MONARC_ARCH_SYSCALLS_H
#define MONARC_ARCH_SYSCALLS_H

enum { SYSCALLS_GENERIC = 295 };
extern const char *const syscalls_generic[SYSCALLS_GENERIC];

#endif
