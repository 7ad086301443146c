/* What the files of this room share, in the order in which a walk needs it: tables and how a walk
 * is led by them. tables.c finds the entry (FDE) of an address, cfa.c reads it into a row or a
 * short rule, expression.c computes, walk.c follows rows and rules, step_without_tables.c does
 * without. */
#ifndef MONARC_UNWIND_UNWIND_PRIVATE_H
#define MONARC_UNWIND_UNWIND_PRIVATE_H

#include "base/bytes.h"
#include "unwind/unwind.h"

#include <string.h>

/* --- rules: cfa.c
 *
 * How one gets from a frame to its caller, in eight bytes, and a cache of that by address. Nine of
 * ten places need no more than where the canonical frame address (CFA: the stack pointer before the
 * call) is, and where in the stack the return address and the frame pointer are. */

enum rule_kind {
    RULE_NONE, /* not known yet */
    RULE_SP,   /* CFA = stack pointer + cfa_offset */
    RULE_FP,   /* CFA = frame pointer + cfa_offset */
    RULE_ROW,  /* more than fits here: from the FDE at `fde` */
    RULE_SIGNAL,
    RULE_OUTERMOST,
    RULE_NO_FDE, /* cfa_offset not 0: as following the code has shown; ra_slot: RULE_SP, RULE_FP */
    RULE_BROKEN,
};

/* The short form of a row, or why there is none. */
struct rule {
    uint32_t kind : 8;
    int32_t cfa_offset : 24; /* RULE_ROW, RULE_SIGNAL: 1 if the FDE is in .debug_frame */
    union {
        struct {
            int16_t fp_slot; /* the frame pointer is at CFA + 8 * fp_slot; 0: it is kept */
            int16_t ra_slot; /* the return address likewise; 0: in its register */
        };
        uint32_t fde;
    };
};

_Static_assert(sizeof(struct rule) == 8, "a rule is one word");

/* Sets of four places, each a cache line; within a set the newest comes first. */
enum { RULE_WAYS = 4 };

struct rule_set {
    uint64_t address[RULE_WAYS];
    struct rule rule[RULE_WAYS];
};

/* Rules by link address. `memory` is where the sets were set aside; `sets` begins at a cache
 * line. */
struct rule_cache {
    struct rule_set *sets; /* 2^sets_log2 */
    void *memory;          /* to free */
    unsigned sets_log2;
};

static inline struct rule_set *rule_set_of(const struct rule_cache *c, uint64_t address)
{
    return &c->sets[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - c->sets_log2)];
}

/* RULE_NONE: not in the cache. */
static inline struct rule rule_cached(const struct rule_cache *c, uint64_t address)
{
    const struct rule_set *set = rule_set_of(c, address);
    for (int i = 0; i < RULE_WAYS; i++)
        if (set->address[i] == address)
            return set->rule[i];
    return (struct rule){.kind = RULE_NONE};
}

/* --- tables: tables.c ------------------------------------------------------------------------ */

/* Pointer encodings of `.eh_frame` and `.eh_frame_hdr` (LSB, "DWARF Exception Header Encoding"). */
enum {
    EH_PE_ABSPTR = 0x00,
    EH_PE_ULEB128 = 0x01,
    EH_PE_UDATA2 = 0x02,
    EH_PE_UDATA4 = 0x03,
    EH_PE_UDATA8 = 0x04,
    EH_PE_SLEB128 = 0x09,
    EH_PE_SDATA2 = 0x0a,
    EH_PE_SDATA4 = 0x0b,
    EH_PE_SDATA8 = 0x0c,
    EH_PE_FORMAT = 0x0f,

    EH_PE_PCREL = 0x10,
    EH_PE_TEXTREL = 0x20,
    EH_PE_DATAREL = 0x30,
    EH_PE_FUNCREL = 0x40,
    EH_PE_ALIGNED = 0x50,
    EH_PE_BASE = 0x70,

    EH_PE_INDIRECT = 0x80,
    EH_PE_OMIT = 0xff,
};

/* `.eh_frame` or `.debug_frame`: entries of the same kind, distinguished by how they name their
 * CIE.
 */
struct frame_section {
    struct bytes bytes;
    uint64_t address;
    bool is_debug;
};

/* Common information entry. */
struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    struct bytes program;
    uint8_t pointer_encoding;
    uint8_t address_bytes;
    bool has_data;        /* augmentation z */
    bool is_signal_frame; /* augmentation S */
};

/* Frame description entry: what holds in [start, end). */
struct fde {
    struct cie cie;
    uint64_t start, end;
    struct bytes program;
    uint32_t offset; /* in its section */
    bool is_debug;
};

/* What encoded pointers count from. */
struct encoding_bases {
    uint64_t section, text, data, function;
    uint8_t address_bytes;
};

/* The table of `.eh_frame_hdr`, pairs of (start, address of the FDE) by start. */
struct header_table {
    struct bytes entries;
    uint64_t address; /* of `entries` */
    uint64_t data;    /* base of DW_EH_PE_datarel: the address of the header */
    size_t len;       /* 0: there is no table to go by */
    uint8_t encoding, width;
};

/* Made by reading a whole section, when it is first needed. */
struct index_entry {
    uint64_t start;
    uint32_t offset;
};

/* FDEs by start, for sections without a usable table. */
struct frame_index {
    struct index_entry *at;
    size_t len, cap;
    bool is_built;
};

/* The tables of a file: sections, ways to find an FDE, and rules that were made so far. */
struct unwind_tables {
    struct unwind_sections s;
    struct frame_section eh, debug;
    struct frame_index eh_index, debug_index; /* .eh_frame: only without a header table */
    struct header_table header;
    struct rule_cache cache;
};

/* Reads one pointer as DW_EH_PE_... says; sets in->failed for what cannot be read. The cursor is
 * over the section from its beginning. */
uint64_t encoded_read(struct cursor *in, uint8_t encoding, const struct encoding_bases *bases);

/* The entry at an offset; false: it is no FDE, or damaged. *next is where the next entry begins,
 * or 0 at the end of the section. */
bool fde_read(const struct unwind_tables *t, const struct frame_section *f, uint64_t offset,
              struct fde *out, uint64_t *next);

/* The FDE that covers a link address. */
bool fde_find(struct unwind_tables *t, uint64_t address, struct fde *out);

/* --- rows: cfa.c ------------------------------------------------------------------------------ */

enum column_kind {
    COLUMN_UNSET,
    COLUMN_UNDEFINED,
    COLUMN_SAME,
    COLUMN_OFFSET,         /* saved at CFA + offset */
    COLUMN_VAL_OFFSET,     /* is CFA + offset */
    COLUMN_REGISTER,       /* is register `number` + offset */
    COLUMN_EXPRESSION,     /* saved where the expression says */
    COLUMN_VAL_EXPRESSION, /* is what the expression says */
};

/* Where the caller's value of one register is. */
struct column {
    uint8_t kind;
    uint8_t number;
    uint32_t len; /* of the expression */
    union {
        int64_t offset;
        const uint8_t *expression;
    };
};

/* The CFA (COLUMN_REGISTER or COLUMN_VAL_EXPRESSION) and the caller's registers. Registers beyond
 * those that unwinding keeps are left out. */
struct row {
    struct column cfa;
    struct column at[ARCH_REGISTERS];
};

/* False: the program is damaged, or says what is not known here. */
bool row_at(const struct unwind_tables *t, const struct fde *fde, uint64_t address,
            struct row *out);

/* The rule at a link address, from the tables; it is kept in their cache. Or is replaced there. */
struct rule rule_make(struct unwind_tables *t, uint64_t address);
void rule_replace(struct unwind_tables *t, uint64_t address, struct rule rule);

/* The same, from the cache if it is there. */
static inline struct rule rule_at(struct unwind_tables *t, uint64_t address)
{
    struct rule rule = rule_cached(&t->cache, address);
    return rule.kind == RULE_NONE ? rule_make(t, address) : rule;
}

/* --- memory: walk.c --------------------------------------------------------------------------- */

/* Words of a stack: from the copy, else through its `read`. */
struct memory {
    const struct unwind_stack *stack;
    enum unwind_end why; /* the last failure: UNWIND_DEEP or UNWIND_BROKEN */
    bool is_elsewhere;   /* a signal led to another stack */
};

static inline bool memory_copied(const struct unwind_stack *s, uint64_t address, void *to,
                                 size_t len)
{
    uint64_t offset = address - s->address;
    if (s->bytes.len < len || offset > s->bytes.len - len)
        return false;
    memcpy(to, s->bytes.at + offset, len);
    return true;
}

/* What is not in the copy; program.c. */
bool memory_read_beyond(struct memory *m, uint64_t address, uint64_t *word);

static inline bool memory_word(struct memory *m, uint64_t address, uint64_t *word)
{
    return memory_copied(m->stack, address, word, sizeof *word) ||
           memory_read_beyond(m, address, word);
}

/* --- expressions: expression.c ---------------------------------------------------------------- */

/* What an expression may request, and what it lacked. */
struct expression_context {
    const struct unwind_registers *registers;
    struct memory *memory;
    uint64_t bias;       /* of DW_OP_addr */
    bool lacks_register; /* set: it failed for a register that is not known */
    bool lacks_memory;   /* set: it failed for memory, see memory->why */
};

/* Runs `program` on a stack that holds `*first` (NULL: nothing). False: damaged, too long, or
 * something is not to be had. */
bool expression_run(struct bytes program, const uint64_t *first, struct expression_context *c,
                    uint64_t *out);

/* --- walks: walk.c, step_without_tables.c ----------------------------------------------------- */

/* The state of one walk. Fields of the frame at hand are set anew for each frame, the others
 * hold for all of the walk. */
struct walker {
    const struct unwind_stack *stack;
    const struct arch *arch;
    uint8_t sp, fp, ra; /* of `arch`, where each step needs them */
    bool signs_ra;
    struct memory memory;
    struct unwind_registers r;   /* of the frame at hand */
    struct unwind_module module; /* that its pc is in */
    bool is_innermost;
    bool is_interrupted;  /* pc is where the frame was, not where it will return to */
    bool is_signal_frame; /* the frame at hand was made by the kernel */
    bool is_entry;        /* the frame at hand would go on with a function's first instruction */
    bool is_chained;      /* the frame was found by a frame pointer */
    bool keeps_registers; /* every register is followed, not only stack and frame pointer */
    bool has_guessed;     /* a frame was found by what may have been no frame pointer */
    enum unwind_end guess_end; /* why it had to be guessed */
    bool has_lost_sp;          /* a frame of unknown size: at[sp] is no more than a bound */
    bool lacks_register;       /* set: a register was needed that was not followed */
    unsigned stack_changes;
    enum unwind_end end;
};

/* step_without_tables.c. Each fills w->r with the caller's registers; false: w->end says why not.
 * In code without tables; from a pc where nothing is mapped, that is, from a call through a bad
 * pointer. */
bool step_without_tables(struct walker *w);
bool step_from_nowhere(struct walker *w);

/* walk.c: whether the code at pc is what signal handlers return to, known by its instructions; the
 * registers are then those that the kernel saved. */
bool step_by_trampoline(struct walker *w);

/* find_frame.c: the frame of a function that counts from its frame pointer, which is not known.
 * Returns whether there is one; w->r has the frame pointer then. */
bool walk_find_frame(struct walker *w, const struct fde *fde);

/* follow_code.c: to the caller by what the code at hand does until it returns, or, if it does not
 * return, to where the process or the thread began. CODE_ENDS: w->end says why. */
enum code_step_end { CODE_UNKNOWN, CODE_LEADS, CODE_ENDS };
enum code_step_end step_by_code(struct walker *w);
bool is_thread_end(const struct walker *w, uint64_t pc);

/* What a call may have called. */
enum call_kind { CALL_NONE, CALL_OTHER, CALL_ANY, CALL_THIS };

/* find_frame.c: code, by words; what the call before a return address calls: the function at
 * `start`? */
bool walk_code(const struct walker *w, uint64_t address, uint8_t *code, size_t len);
enum call_kind walk_call(struct walker *w, uint64_t return_address, uint64_t start);

static inline uint32_t register_bit(unsigned number)
{
    return UINT32_C(1) << number;
}

static inline bool is_known(const struct unwind_registers *r, unsigned number)
{
    return number < ARCH_REGISTERS && r->known >> number & 1;
}

static inline bool walk_ends(struct walker *w, enum unwind_end why)
{
    w->end = why;
    return false;
}

/* A register that is needed is not known. */
static inline bool walk_lacks(struct walker *w, unsigned number)
{
    bool is_lost = w->has_lost_sp && number == w->sp;
    w->lacks_register |= !is_lost && !w->keeps_registers;
    return walk_ends(w, is_lost ? UNWIND_NO_TABLE : UNWIND_BROKEN);
}

static inline bool walk_word(struct walker *w, uint64_t address, uint64_t *word)
{
    return memory_word(&w->memory, address, word) || walk_ends(w, w->memory.why);
}

/* Whether a register's place in the stack is gone, because the function that was interrupted is
 * about to return: then the register has its caller's value again. Tables do not say so. What is
 * below the stack pointer is believed if it was copied with the stack, not if it is read later. */
static inline bool walk_is_popped(const struct walker *w, uint64_t slot)
{
    uint64_t word;
    return slot < w->r.at[w->sp] && w->is_interrupted &&
           !memory_copied(w->stack, slot, &word, sizeof word);
}

/* walk.c: whether a stack pointer that does not lie further out is one of another stack. */
bool walk_changes_stack(struct walker *w, uint64_t cfa);

/* Whether the caller's stack pointer makes sense. `may_stay`: the frame is one that has not pushed
 * anything, which at most the innermost one of a stack is. */
static inline bool walk_moves_on(struct walker *w, uint64_t cfa, bool may_stay)
{
    uint64_t sp = w->r.at[w->sp];
    if (cfa & 7)
        return walk_ends(w, UNWIND_BROKEN);
    return cfa > sp || (cfa == sp && may_stay) || walk_changes_stack(w, cfa);
}

/* Whether there is code at an address, or at the call before it: asks the caller of the room, who
 * knows what is mapped. */
static inline bool walk_is_code(struct walker *w, uint64_t pc, struct unwind_module *module)
{
    *module = (struct unwind_module){0};
    return w->stack->module_at(w->stack->context, pc, module);
}

/* A return address without its signature, see docs/unwinding.md; program.c. */
uint64_t walk_strip_signature(struct walker *w, uint64_t address);
static inline uint64_t walk_unsigned(struct walker *w, uint64_t address)
{
    return w->signs_ra ? walk_strip_signature(w, address) : address;
}

#endif
