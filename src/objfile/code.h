/* The machine code of a program: direct calls in it, and code as text.
 *
 * Both read the bytes of code sections through the machine's row (src/arch), which knows no object:
 * here are stretches of code of one kind. x86 (16-bit code excepted), Arm with Thumb, AArch64, MIPS
 * (but not MIPS16 and microMIPS), PowerPC, RISC-V, SPARC, Alpha and z/Architecture are known. Calls
 * and jumps through registers, memory and linkage tables lead to no known place and are left out.
 */
#ifndef MONARC_OBJFILE_CODE_H
#define MONARC_OBJFILE_CODE_H

#include "arch/code.h"
#include "objfile/object.h"

/* --- calls: who may call whom, found without running anything --------------------------------- */

/* The code of one object, ready to be searched. */
struct code;

/* The code of an executable or shared object, for any number of threads; NULL if its machine is not
 * known. The object must outlive it. */
struct code *code_open(struct object *o);
void code_close(struct code *c);

/* Appends calls, and jumps out of their own range or to its start, in the order of the ranges and
 * of addresses. Each range begins at an instruction; what of it is not code is passed over. */
void code_find_calls(const struct code *c, const struct code_range *ranges, size_t len,
                     struct code_calls *found);

/* --- disassembly, for people who read it beside their source ---------------------------------- */

/* A handle of capstone's for one object; for one thread. */
struct disassembler;

struct instruction {
    uint64_t address;
    uint32_t bytes;
    const char *text; /* mnemonic, spaces, operands; until the next call */
    bool has_target;  /* the last operand is an address of code: a direct branch */
    uint64_t target;
};

/* NULL: capstone does not know the machine. */
struct disassembler *disassembler_open(const struct object *o, bool is_intel);
void disassembler_close(struct disassembler *d); /* NULL is fine */

/* Arm code is Thumb from here on, MIPS code microMIPS, or not. */
void disassembler_compressed(struct disassembler *d, bool is_compressed);

/* The instruction at an address, which ends at `end` at the latest. What is none is shown as bytes.
 * False: there is no code. */
bool disassemble(struct disassembler *d, uint64_t address, uint64_t end, struct instruction *out);

#endif
