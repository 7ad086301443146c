/* Machine code as text, for people who read it beside their source. */
#ifndef MONARC_OBJFILE_CODE_DISASSEMBLE_H
#define MONARC_OBJFILE_CODE_DISASSEMBLE_H

#include "objfile/object.h"

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
