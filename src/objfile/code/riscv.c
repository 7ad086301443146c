/* RISC-V, 32 and 64 bits. Symbols: RISC-V psABI. */
#include "objfile/code/architecture.h"

#include "objfile/code/decode.h"
#include "objfile/code/late_capstone.h"

#include <elf.h>
#include <string.h>

enum { SET_32, SET_64, SETS };

/* RISC-V unprivileged ISA, 2.5 and chapter C: JAL, C.JAL, C.J, and AUIPC with JALR behind it. A
 * branch that links to register zero does not come back. */
struct riscv {
    struct finding *f;
    bool is_32, has_page;
    uint32_t page_register;
    uint64_t page;
};

static void riscv_branch(const struct riscv *r, uint32_t link, uint64_t from, uint64_t to)
{
    if (link)
        found_call(r->f, from, to);
    else
        found_jump(r->f, from, to);
}

static void riscv_word(struct riscv *r, uint64_t at, uint32_t w)
{
    uint32_t link = w >> 7 & 0x1f, base = w >> 15 & 0x1f;
    if ((w & 0x7f) == 0x6f) {
        uint32_t offset =
            w >> 31 << 20 | (w & 0xff000) | (w >> 20 & 1) << 11 | (w >> 21 & 0x3ff) << 1;
        riscv_branch(r, link, at, at + signed_field(offset, 21));
    } else if ((w & 0x707f) == 0x67 && r->has_page && base == r->page_register) {
        riscv_branch(r, link, at, (r->page + signed_field(w >> 20, 12)) & ~(uint64_t)1);
    }
    r->has_page = (w & 0x7f) == 0x17;
    r->page_register = link;
    r->page = at + signed_field(w & 0xfffff000, 32);
}

static void riscv_half(struct riscv *r, uint64_t at, uint32_t h)
{
    uint32_t kind = h & 0xe003;
    r->has_page = false;
    if (kind != 0xa001 && (kind != 0x2001 || !r->is_32))
        return;
    uint32_t offset = (h >> 12 & 1) << 11 | (h >> 11 & 1) << 4 | (h >> 9 & 3) << 8 |
                      (h >> 8 & 1) << 10 | (h >> 7 & 1) << 6 | (h >> 6 & 1) << 7 |
                      (h >> 3 & 7) << 1 | (h >> 2 & 1) << 5;
    riscv_branch(r, kind == 0x2001, at, at + signed_field(offset, 12));
}

static void decode(const struct stretch *s, struct finding *f, bool is_32)
{
    struct riscv r = {.f = f, .is_32 = is_32};
    size_t len;
    for (size_t i = 0; i + 2 <= s->bytes.len; i += len) {
        const uint8_t *p = s->bytes.at + i; /* code is little-endian on every RISC-V */
        uint32_t half = bytes_u16(p, false);
        len = (half & 3) != 3 ? 2 : (half & 0x1f) != 0x1f ? 4 : (half & 0x3f) != 0x3f ? 6 : 8;
        if (len == 2)
            riscv_half(&r, s->address + i, half);
        else if (len == 4 && i + 4 <= s->bytes.len)
            riscv_word(&r, s->address + i, bytes_u32(p, false));
        else
            r.has_page = false;
    }
}

static void decode_32(const struct stretch *s, struct finding *f)
{
    decode(s, f, true);
}

static void decode_64(const struct stretch *s, struct finding *f)
{
    decode(s, f, false);
}

static const struct instruction_set sets[SETS] = {{"riscv32", decode_32}, {"riscv64", decode_64}};

static const struct instruction_set *set_of(const struct target *t)
{
    return &sets[t->word == 4 ? SET_32 : SET_64];
}

/* $x may be followed by the instruction set: $xrv64i2p1_m2p0 */
static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "xd") || !strncmp(name, "$xrv", 4);
}

#if CS_API_MAJOR >= 5
static bool view(const struct target *t, struct capstone_view *out)
{
    cs_mode mode = t->word == 8 ? CS_MODE_RISCV64 : CS_MODE_RISCV32;
    *out = (struct capstone_view){CS_ARCH_RISCV, mode | CS_MODE_RISCVC, .unit = 2};
    return true;
}
#else
#define view NULL
#endif

const struct architecture architecture_riscv = {
    .name = "riscv",
    .machines = {EM_RISCV},
    .is_mapping = is_mapping,
    .sets = sets,
    .sets_len = SETS,
    .marks = MARKS_SYMBOLS,
    .set_of = set_of,
    .capstone = view,
};
