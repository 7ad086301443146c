/* Direct calls in machine code: who may call whom, found without running anything.
 *
 * x86 (16-bit code excepted), Arm with Thumb, AArch64, MIPS (but not MIPS16 and microMIPS),
 * PowerPC, RISC-V, SPARC and z/Architecture are known. Calls and jumps through registers, memory
 * and linkage tables lead to no known place and are left out. */
#ifndef MONARC_OBJFILE_CODE_CALLS_H
#define MONARC_OBJFILE_CODE_CALLS_H

#include "objfile/code/found_calls.h"
#include "objfile/object.h"

struct code;

/* The code of an executable or shared object, for any number of threads; NULL if its machine is not
 * known. The object must outlive it. */
struct code *code_open(struct object *o);
void code_close(struct code *c);

/* Appends calls, and jumps out of their own range or to its start, in the order of the ranges and
 * of addresses. Each range begins at an instruction; what of it is not code is passed over. */
void code_find_calls(const struct code *c, const struct code_range *ranges, size_t len,
                     struct code_calls *found);

#endif
