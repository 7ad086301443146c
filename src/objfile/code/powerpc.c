/* PowerPC. In 64-bit programs symbols may name descriptors (ELFv1), or functions with a second
 * entry for callers that share their table of contents (ELFv2): 64-bit PowerPC ELF ABI 1.9 and 2.0.
 */
#include "objfile/code/architecture.h"

#include "objfile/code/decode.h"
#include "objfile/code/late_capstone.h"

#include <elf.h>

/* Power ISA, book I, 2.4: I-form branches, with the bits AA (absolute) and LK (link). */
static void look(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = signed_field(w & ~(uint32_t)3, 26) + (w & 2 ? 0 : at);
    if (w >> 26 == 18 && w & 1)
        found_call(f, at, to);
    else if (w >> 26 == 18)
        found_jump(f, at, to);
}

static void decode(const struct stretch *s, struct finding *f)
{
    decode_words(s, f, look);
}

/* The three topmost bits of st_other: 0 and 1 for none, then 4, 8, ... 64. */
static void adjust_symbol(const struct target *t, uint8_t other, struct object_symbol *s)
{
    unsigned log = other >> 5;
    if (t->machine == EM_PPC64 && log > 1 && log < 7)
        s->local_entry = (uint8_t)(1u << log);
}

static bool has_descriptors(const struct target *t)
{
    enum { ELFV2 = 2 };
    return t->machine == EM_PPC64 && (t->flags & EF_PPC64_ABI) != ELFV2;
}

static bool view(const struct target *t, struct capstone_view *out)
{
    *out = (struct capstone_view){CS_ARCH_PPC, t->machine == EM_PPC64 ? CS_MODE_64 : CS_MODE_32,
                                  .unit = 4};
    return true;
}

static const struct instruction_set sets[] = {{"powerpc", decode}};

const struct architecture architecture_powerpc = {
    .name = "powerpc",
    .machines = {EM_PPC, EM_PPC64},
    .has_local_entries = true,
    .has_descriptors = has_descriptors,
    .adjust_symbol = adjust_symbol,
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
};
