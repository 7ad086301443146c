/* What a walk asks of the program whose stack it is: words of memory that the copy of the stack
 * lacks, its code, and which addresses are code.
 *
 * All of it comes through functions of the caller (unwind_stack), who knows what is mapped and may
 * read it, one word at a time. What cannot be read ends the walk with a reason: an address that may
 * be a stack's is one beyond the copy (UNWIND_DEEP: a larger copy would have had it), any other one
 * says that the walk had gone wrong before (UNWIND_BROKEN).
 *
 *     copy of the stack   | address ... address + len |        memory_copied(), without a call
 *     beyond it           up to LARGEST_STACK further          read(), else UNWIND_DEEP
 *     elsewhere           another stack, after a change        the same, from LOWEST to HIGHEST
 */
#include "unwind/unwind_private.h"

/* A stack extends at most this far beyond its stack pointer. */
static const uint64_t LARGEST_STACK = UINT64_C(1) << 32;

/* No stack is outside of these. */
static const uint64_t LOWEST = 1 << 16, HIGHEST = UINT64_C(1) << 56;

enum { MOST_STACK_CHANGES = 8 };

bool memory_read_beyond(struct memory *m, uint64_t address, uint64_t *word)
{
    const struct unwind_stack *s = m->stack;
    if (s->read && s->read(s->context, address, word))
        return true;
    bool is_behind = address - s->address < LARGEST_STACK;
    bool may_be_stack = address >= LOWEST && address < HIGHEST;
    m->why = is_behind || (m->is_elsewhere && may_be_stack) ? UNWIND_DEEP : UNWIND_BROKEN;
    return false;
}

bool walk_changes_stack(struct walker *w, uint64_t cfa)
{
    uint64_t sp = w->r.at[w->sp], copied = w->stack->address;
    bool is_inward = cfa == sp || (cfa >= copied && cfa < sp && sp - copied < w->stack->bytes.len);
    if (is_inward || w->stack_changes++ == MOST_STACK_CHANGES)
        return walk_ends(w, UNWIND_BROKEN);
    w->memory.is_elsewhere = true;
    return true;
}

bool walk_code(const struct walker *w, uint64_t address, uint8_t *code, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word;
        if (!w->stack->read(w->stack->context, address + i, &word))
            return false;
        memcpy(code + i, &word, sizeof word);
    }
    return true;
}

/* Signatures take the bits above the address; how many an address has is up to the kernel. */
uint64_t walk_strip_signature(struct walker *w, uint64_t address)
{
    static const uint8_t BITS[] = {48, 47, 42, 39, 36};
    struct unwind_module module;
    uint64_t stripped = address & ((UINT64_C(1) << BITS[0]) - 1);
    if (address == stripped && !(address >> 36))
        return address;
    for (size_t i = 0; i < sizeof BITS; i++) {
        uint64_t shorter = address & ((UINT64_C(1) << BITS[i]) - 1);
        if (walk_is_code(w, shorter - 1, &module))
            return shorter;
    }
    return stripped;
}
