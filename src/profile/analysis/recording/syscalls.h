/* Names of system calls. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_SYSCALLS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_SYSCALLS_H

#include <stdint.h>

/* The name of a system call of Linux on an ELF machine (EM_...), or NULL. */
const char *syscall_name(uint16_t machine, uint64_t number);

#endif
