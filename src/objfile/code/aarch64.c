/* AArch64, 64-bit Arm: code is little-endian whatever data is. Symbols: AAELF64. */
#include "objfile/code/architecture.h"

#include "objfile/code/decode.h"
#include "objfile/code/late_capstone.h"

#include <elf.h>

/* Arm Architecture Reference Manual (A-profile), C6.2: B and BL. */
static void look(struct finding *f, uint64_t at, uint32_t w)
{
    uint64_t to = at + (signed_field(w, 26) << 2);
    if (w >> 26 == 0x25)
        found_call(f, at, to);
    else if (w >> 26 == 0x05)
        found_jump(f, at, to);
}

static void decode(const struct stretch *s, struct finding *f)
{
    decode_words(s, f, look);
}

static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "xdc");
}

static bool has_big_endian_code(const struct target *t)
{
    (void)t;
    return false;
}

static bool view(const struct target *t, struct capstone_view *out)
{
    (void)t;
    *out = (struct capstone_view){CS_ARCH_ARM64, CS_MODE_ARM, .unit = 4};
    return true;
}

static const struct instruction_set sets[] = {{"aarch64", decode}};

const struct architecture architecture_aarch64 = {
    .name = "aarch64",
    .machines = {EM_AARCH64},
    .is_mapping = is_mapping,
    .sets = sets,
    .sets_len = 1,
    .marks = MARKS_SYMBOLS,
    .has_big_endian_code = has_big_endian_code,
    .capstone = view,
};
