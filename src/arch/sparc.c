/* SPARC, V8 and V9. */
#include "arch/capstone.h"
#include "arch/code.h"

#include <elf.h>

/* SPARC V9, appendix A: CALL, and BA with 22 bits (V8) or 19 (V9).
 *
 *    CALL   01 disp30
 *    BA     00 a 1000 010 disp22
 *    BPA    00 a 1000 001 cc p disp19 */
static void scan_word(struct code_finding *f, uint64_t at, uint32_t w)
{
    uint32_t always = w & 0xdfc00000; /* without the annul bit */
    if (w >> 30 == 1)
        found_call(f, at, at + (signed_field(w, 30) << 2));
    else if (always == 0x10800000)
        found_jump(f, at, at + (signed_field(w, 22) << 2));
    else if (always == 0x10400000)
        found_jump(f, at, at + (signed_field(w, 19) << 2));
}

static void decode(const struct code_stretch *s, struct code_finding *f)
{
    decode_words(s, f, scan_word);
}

/* V8+ code is 64-bit code in 32-bit programs, which neither mode has. */
static bool view(const struct arch_target *t, struct capstone_view *out)
{
    if (t->machine == EM_SPARC32PLUS)
        return false;
    *out = (struct capstone_view){
        CS_ARCH_SPARC, t->machine == EM_SPARCV9 ? CS_MODE_V9 : CS_MODE_BIG_ENDIAN, .unit = 4};
    return true;
}

static const struct instruction_set sets[] = {{"sparc", decode}};

const struct arch arch_sparc = {
    .name = "sparc64",
    .other_names = {"sparc"},
    .machines = {EM_SPARC, EM_SPARC32PLUS, EM_SPARCV9},
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
};
