/* z/Architecture and its predecessors. */
#include "arch/capstone.h"
#include "arch/code.h"

#include <elf.h>

/* z/Architecture Principles of Operation, chapter 7: BRASL and BRAS; BRCL and BRC of every
 * condition. The two topmost bits of an instruction give its length.
 *
 *    a7 r5 i16    BRAS       a7 f4 i16    BRC 15      halfwords from the instruction on
 *    c0 r5 i32    BRASL      c0 f4 i32    BRCL 15 */
static void decode(const struct code_stretch *s, struct code_finding *f)
{
    size_t len;
    for (size_t i = 0; i + 2 <= s->bytes.len; i += len) {
        const uint8_t *p = s->bytes.at + i;
        uint64_t at = s->address + i;
        len = p[0] < 0x40 ? 2 : p[0] < 0xc0 ? 4 : 6;
        if (i + len > s->bytes.len || (p[0] != 0xc0 && p[0] != 0xa7))
            continue;
        uint64_t displacement = p[0] == 0xa7 ? signed_field(bytes_u16(p + 2, true), 16)
                                             : signed_field(bytes_u32(p + 2, true), 32);
        uint64_t to = at + (displacement << 1);
        if ((p[1] & 0xf) == 5)
            found_call(f, at, to);
        else if (p[1] == 0xf4)
            found_jump(f, at, to);
    }
}

static bool view(const struct arch_target *t, struct capstone_view *out)
{
    (void)t;
    *out = (struct capstone_view){CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, .unit = 2};
    return true;
}

static const struct instruction_set sets[] = {{"s390", decode}};

const struct arch arch_s390x = {
    .name = "s390x",
    .other_names = {"s390"},
    .machines = {EM_S390},
    .sets = sets,
    .sets_len = 1,
    .capstone = view,
};
