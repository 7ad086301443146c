/* Alpha. A function that loads its table of global addresses first has a second entry after those
 * two instructions, for callers that share the table: Alpha ELF supplement, st_other. */
#include "arch/code.h"

#include <elf.h>

/* Alpha Architecture Handbook, 4.3: BSR and BR count words from the next instruction on.
 *
 *    BSR 110100 ra displacement21     BR 110000 ra displacement21 */
static void scan_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + 4 + (signed_field(w, 21) << 2);
    if (w >> 26 == 0x34)
        found_call(f, at, to);
    else if (w >> 26 == 0x30)
        found_jump(f, at, to);
}

static void decode(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_word);
}

static void adjust_symbol(uint8_t other, struct arch_symbol *s)
{
    enum { LOADS_BYTES = 8 };
    if ((other & STO_ALPHA_STD_GPLOAD) == STO_ALPHA_STD_GPLOAD)
        s->local_entry = LOADS_BYTES;
}

static const struct instruction_set sets[] = {{"alpha", decode}};

const struct arch arch_alpha = {
    .name = "alpha",
    .machines = {EM_ALPHA},
    .has_local_entries = true,
    .adjust_symbol = adjust_symbol,
    .sets = sets,
    .sets_len = 1,
};
