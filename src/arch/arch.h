/* What differs from CPU to CPU, one `struct arch` each, in one file a family (x86.c, riscv.c, ...).
 *
 * Nothing outside this room asks which machine it has before it: symbols, code and its direct calls
 * (objfile), stacks (unwind), registers and system calls (record) and their names (reports) all go
 * by the fields of a row. What a row leaves out is as on most machines, or is not known there: no
 * `registers`, no stacks. Adding a machine is a file and its names in ARCH_ROWS;
 * docs/architecture.md says what to test. Rows are constant; nothing here allocates or reads a
 * file.
 *
 * Registers have DWARF's numbers, which each machine's ABI supplement gives. A walk over a stack
 * keeps ARCH_REGISTERS of them, the first ones; a machine whose return address is registered beyond
 * these gives it the place of a register that no frame saves (`column_beyond`). */
#ifndef MONARC_ARCH_ARCH_H
#define MONARC_ARCH_ARCH_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capstone_view;
struct instruction_set;

enum { ARCH_REGISTERS = 32, ARCH_SLOT_OF_CALLER = 1 };

/* The machine that one ELF file is for. */
struct arch_target {
    uint16_t machine; /* EM_... */
    uint32_t flags;   /* e_flags */
    uint8_t word;     /* 4 or 8 */
    bool is_big_endian;
};

/* What a machine's conventions change in a symbol. */
struct arch_symbol {
    uint64_t address;
    bool is_function;    /* STT_FUNC or STT_GNU_IFUNC */
    bool is_compressed;  /* set: Thumb, MIPS16 or microMIPS code */
    uint8_t local_entry; /* set: bytes to the entry of callers that share its data */
};

/* Which symbols say where code of one kind begins. */
enum code_marks {
    MARKS_NONE,      /* all code is of one kind */
    MARKS_FUNCTIONS, /* functions say what they are */
    MARKS_SYMBOLS,   /* mapping symbols ($x, $d); without any, functions */
};

/* Words in an order of the kernel's, and the register that each holds. */
struct register_map {
    uint8_t len;
    int8_t at[40]; /* DWARF's number, or: */
};
enum { REGISTER_NONE = -1, REGISTER_PC = -2 };

/* An instruction, as the low bits of a little-endian word, at which a function has no frame yet, or
 * no more: the return address is in its register or, where calls push it, `ra` bytes above the
 * stack pointer. It matches where the code's word and `mask` is `value`. */
struct frameless_code {
    uint32_t mask, value;
    uint8_t ra;
    bool has_pushed_fp; /* the frame pointer is on top of the stack */
};

/* What signal handlers return to: its code, and where the kernel saved the registers. */
struct arch_trampoline {
    uint8_t code[12];
    uint8_t code_len;
    uint16_t registers; /* bytes from the stack pointer to the first word of `map` */
    const struct register_map *map;
};

/* How a function without tables links to its caller's frame.
 *
 *    LINK_AT_FP        fp ->  caller's fp       LINK_BELOW_FP   fp-16  caller's fp
 *                      fp+8   return address                    fp-8   return address
 *                      fp+16  caller's stack                    fp ->  caller's stack
 *
 *    LINK_BACK_CHAIN   sp ->  caller's sp  ->  caller's caller's sp
 *                                              (a word)
 *                                              return address */
enum frame_link {
    LINK_NONE,
    LINK_AT_FP,      /* fp: { caller's fp, return address }; the caller's stack begins after them */
    LINK_BELOW_FP,   /* the same, ending at fp */
    LINK_BACK_CHAIN, /* sp: { caller's sp }; the return address is two words above that one */
};

/* How a program makes system calls, which can so be made again when a stopped thread is at the end
 * of one. */
enum { ARCH_CALL_ARGUMENTS = 6, ARCH_CALL_CONVENTIONS = 2 };
struct call_convention {
    uint8_t mode;                           /* what the word `mode_word` is in such a program */
    uint8_t word;                           /* bytes of a pointer */
    uint8_t code[2];                        /* the instruction */
    uint8_t arguments[ARCH_CALL_ARGUMENTS]; /* words */
};

/* Words of a thread that ptrace(2) reads and writes, the same for programs of either convention. */
struct arch_calls {
    unsigned read, write;   /* its requests, which not every machine has */
    uint8_t result, pc, sp; /* words; the number's is `syscall_word` */
    struct call_convention of[ARCH_CALL_CONVENTIONS];
};

/* No number in the code before a system call; there is no system call before this address. */
enum { SYSCALL_UNKNOWN = -1, SYSCALL_NONE = -2 };

/* A call whose target is known, or stands in the word at `pointer`; both 0: it may be any. */
struct arch_call {
    uint64_t target, pointer;
};

/* What one instruction does to the stack pointer (sp) and to the registers that a function must
 * give back to its caller, for following code from where a frame is to where it returns. */
enum arch_flow { FLOW_ENDS, FLOW_ON, FLOW_CALL, FLOW_BRANCH, FLOW_JUMP, FLOW_RETURN };
enum arch_sp { SP_MOVED, SP_FROM_FP, SP_LOST };

struct arch_effect {
    enum arch_flow flow; /* FLOW_ENDS: it leads nowhere, or where is not known */
    unsigned len;
    uint64_t target; /* of a branch, or a jump */
    enum arch_sp sp; /* what it is after: sp or fp before, and `by` */
    int64_t by;
    bool sets_fp; /* to the stack pointer before, and `fp_by` */
    int64_t fp_by;
    bool restores, restores_by_fp; /* `number`, from what sp or fp before and `slot` point to */
    unsigned number;
    int64_t slot;
    unsigned second; /* restored as well, from the word after that; 0: none is */
};

/* One machine, in groups by who asks: symbols and code for objfile, stacks for unwind, the kernel's
 * words for record, names of system calls for reports. */
struct arch {
    const char *name;           /* as uname(2) has it */
    const char *other_names[3]; /* more of those */
    uint16_t machines[3];       /* EM_... of <elf.h>; 0: no more */
    uint8_t word;               /* 4 or 8; 0: of either */
    char order;                 /* of bytes: 'l'ittle or 'b'ig; 0: either */
    uint16_t pe_machine;        /* IMAGE_FILE_MACHINE_... of Windows' programs; 0: none */
    bool has_pe_underscores;    /* there, C names have one in front */

    /* --- symbols */

    uint8_t function_type;  /* a value of ELF's st_type that means a function, besides STT_FUNC */
    bool has_local_entries; /* arch_symbol's `local_entry` may be set */
    /* Whether symbols name function descriptors in .opd. */
    bool (*has_descriptors)(const struct arch_target *t);
    /* Whether a local symbol that begins with `$` and has no type is a note to tools. */
    bool (*is_mapping)(const char *name);
    uint16_t common_index; /* a section index that stands for common symbols; 0: no other one */
    /* Removes conventions from an address, as `other`, ELF's st_other, and the type say. */
    void (*adjust_symbol)(uint8_t other, struct arch_symbol *s);

    /* --- code */

    const struct instruction_set *sets; /* the usual one first */
    size_t sets_len;
    enum code_marks marks;
    const struct instruction_set *(*set_of)(
        const struct arch_target *t); /* usual one of a program */
    /* What code is from a mark on that is not for data: a mapping symbol, or (NULL) a function. */
    const struct instruction_set *(*marked_set)(const char *mapping, bool is_compressed);
    bool (*has_big_endian_code)(const struct arch_target *t); /* where it is not as data is */
    /* How capstone is to take the code; false: it does not know it. */
    bool (*capstone)(const struct arch_target *t, struct capstone_view *out);

    uint8_t breakpoint[4], breakpoint_len; /* code that stops a program; 0: not known */
    uint8_t breakpoint_back; /* how far past its start the program then stands, in bytes */

    /* --- stacks */

    uint8_t registers; /* how many a walk keeps; 0: stacks are not read on this machine */
    uint8_t sp, fp;
    uint8_t ra;     /* where a call leaves the return address */
    bool pushes_ra; /* on the stack: `ra` is no register, but the number of it in tables */
    bool signs_ra;  /* the high bits of return addresses may be signatures */
    bool has_true_signal_tables;         /* the kernel's tables for signal frames can be used */
    uint8_t column_beyond, column_place; /* a number of tables, and the place it has; 0: none */
    enum frame_link link;
    bool lacks_inside_stacks; /* the recorder inside a process takes none: no chain to follow */
    const struct frameless_code *frameless;
    size_t frameless_len;
    const struct arch_trampoline *trampolines;
    size_t trampolines_len;
    /* Of the eight bytes before an address: whether they end with the call that makes a thread
     * (tables end there), and with any call. NULL: tables go on there. */
    bool (*is_behind_clone)(const uint8_t before[8]);
    bool (*is_behind_call)(const uint8_t before[8]);

    /* For find_frame.c; NULL, all of them: frames are not searched for on this machine. Whether an
     * address follows a call, and which; the word that holds what a jump at `address` leads to, as
     * in entries of a PLT (0: it is another instruction); how far below its frame pointer a
     * function's stack pointer is, by its first instructions (false: it keeps none); and whether
     * code sets the stack pointer by a register, as for arrays of variable length. */
    bool (*call_before)(const uint8_t before[8], uint64_t address, struct arch_call *out);
    uint64_t (*jump_pointer)(const uint8_t code[16], uint64_t address);
    bool (*frame_room)(const uint8_t *code, size_t len, uint64_t *room);
    bool (*takes_stack)(const uint8_t *code, size_t len);
    /* For follow_code.c; NULL, both: code is not followed on this machine. What the instruction at
     * `address` does, and whether code ends the thread, as what a thread's function returns to. */
    void (*effect)(const uint8_t code[16], uint64_t address, struct arch_effect *out);
    bool (*ends_thread)(const uint8_t code[16]);
    /* The length of an instruction that does nothing, as assemblers pad with; 0: it is another.
     * NULL: nothing falls through padding. */
    unsigned (*padding_len)(const uint8_t code[16]);

    /* --- the kernel's words */

    uint64_t perf_registers;           /* asked of perf events: bits of <asm/perf_regs.h> */
    const struct register_map *perf;   /* word n is register n of that */
    const struct register_map *regset; /* NT_PRSTATUS of ptrace(2) */
    uint8_t regset_len;                /* words in all */
    uint8_t thread_word; /* the word that is the thread pointer, at which the program's variables of
                            threads end, and which points to itself; 0: not known */
    uint8_t mode_word;   /* the word that is `mode` in programs of this machine; 0: no such word */
    uint64_t mode;
    uint8_t syscall_word; /* the word that holds the number of the system call a thread is in; 0:
                             see below */

    /* --- system calls */

    const char *const *syscalls; /* names by number, with gaps */
    size_t syscalls_len;
    uint8_t syscall_code[4], syscall_code_len; /* the instruction */
    uint8_t syscall_register;                  /* which holds the number, also after the call... */
    /* ...or, where it does not, the number out of the code before the instruction, as libraries
     * have it; SYSCALL_UNKNOWN. Then *slot is how far above the stack pointer it stands, if the
     * code says that, ARCH_SLOT_OF_CALLER if the function was passed it in a register, or 0. */
    int64_t (*syscall_number)(struct bytes before, unsigned *slot);
    /* Of the code before the return address in such a function: the slot from which its caller
     * took the number, relative to the caller's stack pointer; 0: the code does not say. */
    unsigned (*syscall_caller_slot)(struct bytes before);
    /* Registers of a call's first three arguments, which keep them in the call; all 0: not known.
     */
    uint8_t syscall_arguments[3];
    const struct arch_calls *calls; /* NULL: at the end of a call, its arguments are lost */
};

/* One row a machine. */
/* clang-format off */
#define ARCH_ROWS(row)                                                                             \
    row(i386) row(x86_64) row(arm) row(aarch64) row(mips) row(ppc64le) row(ppc64) row(ppc)         \
    row(riscv32) row(riscv64) row(sparc) row(s390x) row(csky) row(parisc) row(alpha)
/* clang-format on */

#define ARCH_COUNT(name)   +1
#define ARCH_DECLARE(name) extern const struct arch arch_##name;
enum { ARCHS = ARCH_ROWS(ARCH_COUNT) };
ARCH_ROWS(ARCH_DECLARE)
#undef ARCH_COUNT
#undef ARCH_DECLARE

extern const struct arch *const archs[ARCHS];

/* The row of a file. Never NULL: one of an unknown machine has no name, and nothing of its own. */
const struct arch *arch_of(const struct arch_target *t);

/* The row by what uname(2) says; NULL: unknown. */
const struct arch *arch_named(const char *name);

/* The row of the program that runs this code; NULL: unknown. */
const struct arch *arch_own(void);

/* The row of a Windows program; NULL: unknown. */
const struct arch *arch_of_pe(uint16_t machine);

/* The name of a system call of a 64-bit program by ELF's number of the machine; NULL: not known. */
const char *arch_syscall_name(uint16_t machine, uint64_t number);

/* Whether the stacks of a machine can be read; false for NULL. */
static inline bool arch_has_stacks(const struct arch *a)
{
    return a && a->registers;
}

/* The place that a walk keeps a register of the tables in; ARCH_REGISTERS or more: none. */
static inline uint64_t arch_column(const struct arch *a, uint64_t number)
{
    return number >= ARCH_REGISTERS && number == a->column_beyond ? a->column_place : number;
}

/* Numbers of system calls that several machines share; for the files of this room. */
enum { SYSCALLS_GENERIC = 295 };
extern const char *const syscalls_generic[SYSCALLS_GENERIC];

#endif
