/* Measuring x86 instructions. Private to this room. */
#ifndef MONARC_OBJFILE_CODE_X86_H
#define MONARC_OBJFILE_CODE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the x86 instruction at `at`; 0 if it is unusual, broken or cut off. */
size_t x86_length(const uint8_t *at, size_t left, bool is_64);

#endif
