/* Call stacks out of registers, a piece of stack and unwind tables.
 *
 * Pure functions over bytes: nothing here opens, maps or allocates but what unwind_tables_new()
 * returns. All input may be damaged or hostile: steps are bounded, and nothing is read outside of
 * what was given. Machines are rows of src/arch; all that have stacks are 64-bit and little-endian.
 * Sources: the machines' System V ABIs, DWARF 5 section 6.4, LSB `.eh_frame` and `.eh_frame_hdr`.
 */
#ifndef MONARC_UNWIND_UNWIND_H
#define MONARC_UNWIND_UNWIND_H

#include "arch/arch.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Registers of one frame. Those that are not known are not to be read. */
struct unwind_registers {
    uint64_t pc;
    uint64_t at[ARCH_REGISTERS]; /* by the numbers that the machine's tables use */
    uint32_t known;              /* bit n: at[n] has a value */
};

/* Where a file's tables are. Addresses are link addresses; empty spans are sections that are not
 * there. The bytes must live as long as the tables. */
struct unwind_sections {
    const struct arch *arch; /* of the file; NULL: unknown */
    struct bytes eh_frame, eh_frame_hdr, debug_frame;
    uint64_t eh_frame_address, eh_frame_hdr_address;
    uint64_t text_address, data_address; /* bases of DW_EH_PE_textrel and DW_EH_PE_datarel */
};

/* The tables of one file, and a cache of the rules that were needed so far. One thread at a time.
 */
struct unwind_tables;
struct unwind_tables *unwind_tables_new(const struct unwind_sections *s);
void unwind_tables_free(struct unwind_tables *t);

/* Where the function at a link address begins, or a part of it that stands apart; 0: no table says.
 */
uint64_t unwind_function_start(struct unwind_tables *t, uint64_t address);

/* What is mapped at a pc. */
struct unwind_module {
    struct unwind_tables *tables; /* NULL: none; frame pointers are tried */
    uint64_t bias;                /* link address = address - bias */
    bool is_generated;            /* code that is in no file */
};

/* What a walk may look at: a copy of the stack's inner end, and two questions for the rest. */
struct unwind_stack {
    uint64_t address;   /* of the first byte copied: the stack pointer, or a red zone below it */
    struct bytes bytes; /* as much as was copied */

    /* Finds what is mapped at `pc`; false: nothing executable is. */
    bool (*module_at)(void *context, uint64_t pc, struct unwind_module *out);
    /* Reads a word that is not in `bytes`: the outer part of the stack, another stack, saved
     * registers of a signal; and code, to find where in a function without tables the pc is. The
     * address may be any, and unaligned. false: it is not to be had. NULL: nothing is. */
    bool (*read)(void *context, uint64_t address, uint64_t *word);
    void *context;
};

/* Why a stack ends. */
enum unwind_end {
    UNWIND_WHOLE,     /* at the outermost frame: its tables say so, or a thread's start does */
    UNWIND_DEEP,      /* the stack continues beyond what was copied or readable */
    UNWIND_NO_TABLE,  /* code without tables, and no frame pointer that makes sense */
    UNWIND_GENERATED, /* the same, in generated code */
    UNWIND_BROKEN,    /* tables, registers and stack do not fit together */
    UNWIND_TOO_MANY,  /* `most` frames */
};

/* Writes the look-up addresses of the frames, innermost first: the pc itself for the innermost
 * frame, for those that a signal interrupted and for what its handler returns to, for callers an
 * address within the call instruction (return address - 1). Returns how many, at most `most`; *end
 * says why no more. Where the stacks of the machine cannot be read (see arch_has_stacks()) that is
 * the pc alone. */
uint32_t unwind_walk(const struct unwind_stack *s, const struct arch *arch,
                     const struct unwind_registers *registers, uint64_t *frames, uint32_t most,
                     enum unwind_end *end);

#endif
