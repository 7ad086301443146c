/* x86, 32-bit and 64-bit: above all the direct calls in its code. 16-bit code is not known.
 *
 * Instructions have no fixed length, so every one on the way to a call must be measured. Capstone
 * knows them all, at two or three million instructions a second: seconds for a large program.
 * x86_length() measures what compilers emit fifty times as fast and hands what it is not sure of to
 * capstone; test_calls.c compares the two over whole libraries. Specification: Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A. */
#include "objfile/code/x86.h"

#include "objfile/code/architecture.h"
#include "objfile/code/decode.h"
#include "objfile/code/late_capstone.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

enum { MOST = 15, MOST_PREFIXES = 4 }; /* bytes in an instruction; prefixes that are usual */

/* What follows an opcode. Upper case: a ModRM byte with its address, then the same as lower case.
 *
 *     .    nothing                        R    ModRM alone
 *     b B  one byte                       w    two bytes
 *     z Z  four bytes, or two under 66    v    z, or eight bytes under REX.W
 *     e    three bytes (enter)            a    an address (mov)
 *     G H  b, z if ModRM's reg is 0 or 1 (test), else nothing
 *     c    a call's displacement          j s  a jump's, long and short
 *     d    a conditional jump's           ?    prefixes, what differs by mode, what is rare
 */
static const char ONE_BYTE[] = "RRRRbz??RRRRbz??RRRRbz??RRRRbz??"  /* 00 */
                               "RRRRbz??RRRRbz??RRRRbz??RRRRbz??"  /* 20 */
                               "................................"  /* 40 */
                               "???R????zZbB....bbbbbbbbbbbbbbbb"  /* 60 */
                               "BZ?BRRRRRRRRRRR?..........?....."  /* 80 */
                               "aaaa....bz......bbbbbbbbvvvvvvvv"  /* a0 */
                               "BBw.??BZe.w..b?.RRRR???.RRRRRRRR"  /* c0 */
                               "bbbbbbbbcj?s....?.??..GH......RR"; /* e0 */

/* The same after 0f. */
static const char TWO_BYTES[] = "RRRR?.....?.?R.?RRRRRRRRRRRRRRRR"  /* 00 */
                                "????????RRRRRRRR......?.????????"  /* 20 */
                                "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR"  /* 40 */
                                "RRRRRRRRRRRRRRRRBBBBRRR.????RRRR"  /* 60 */
                                "ddddddddddddddddRRRRRRRRRRRRRRRR"  /* 80 */
                                "...RBR??...RBRRRRRRRRRRRR?BRRRRR"  /* a0 */
                                "RRBRBBBR........RRRRRRRRRRRRRRRR"  /* c0 */
                                "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR?"; /* e0 */

/* An instruction while it is being measured. */
struct measure {
    const uint8_t *at; /* MOST bytes can be read here */
    size_t len;        /* so far */
    bool is_64, is_wide, has_66, has_67, has_repeat;
};

static void x86_take_prefixes(struct measure *m)
{
    for (; m->len < MOST_PREFIXES; m->len++)
        switch (m->at[m->len]) {
        case 0x66: m->has_66 = true; break;
        case 0x67: m->has_67 = true; break;
        case 0xf0:
        case 0xf2:
        case 0xf3: m->has_repeat = true; break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65: break;
        default: return;
        }
}

/* VEX and EVEX: opcode map, then what follows an opcode of it. '?' for what is none. */
static char x86_vector_kind(struct measure *m)
{
    const uint8_t *p = m->at + m->len;
    bool is_evex = p[0] == 0x62, is_short = p[0] == 0xc5;
    bool is_loading = !m->is_64 && p[1] >> 6 != 3; /* les, lds, bound */
    unsigned map = is_short ? 1 : is_evex ? p[1] & 0xf : p[1] & 0x1f;
    if (is_loading || m->has_66 || m->has_repeat || map < 1 || map > 3 || (is_evex && !(p[2] & 4)))
        return '?';
    m->len += is_evex ? 4 : is_short ? 2 : 3;
    uint8_t opcode = m->at[m->len++];
    if (map == 1 && opcode == 0x77)
        return is_evex ? '?' : '.';
    if (map == 1)
        return TWO_BYTES[opcode] == 'B' ? 'B' : 'R';
    return map == 2 ? 'R' : 'B';
}

static char x86_opcode_kind(struct measure *m)
{
    uint8_t byte = m->at[0];
    if (ONE_BYTE[byte] == '?' && byte != 0x0f) {
        x86_take_prefixes(m);
        byte = m->at[m->len];
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
        return x86_vector_kind(m);
    if (m->is_64 && byte >> 4 == 4) {
        m->is_wide = byte & 8;
        byte = m->at[++m->len];
        if (byte >> 4 == 4)
            return '?';
    }
    m->len++;
    if (byte != 0x0f)
        return ONE_BYTE[byte];
    byte = m->at[m->len++];
    if (byte != 0x38 && byte != 0x3a)
        return TWO_BYTES[byte];
    m->len++;
    return byte == 0x38 ? 'R' : 'B';
}

/* ModRM, SIB and displacement. */
static size_t x86_address_len(const uint8_t *modrm)
{
    static const uint8_t lens[4][8] = {{1, 1, 1, 1, 2, 5, 1, 1},
                                       {2, 2, 2, 2, 3, 2, 2, 2},
                                       {5, 5, 5, 5, 6, 5, 5, 5},
                                       {1, 1, 1, 1, 1, 1, 1, 1}};
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    bool has_no_base = mod == 0 && rm == 4 && (modrm[1] & 7) == 5;
    return lens[mod][rm] + (has_no_base ? 4 : 0);
}

/* Bytes of the operand in the instruction; MOST for what is not known. */
static size_t x86_operand_len(const struct measure *m, char kind, uint8_t modrm)
{
    size_t word = m->has_66 && !m->is_wide ? 2 : 4;
    bool is_test = (modrm >> 3 & 7) < 2;
    switch (kind) {
    case '.':
    case 'R': return 0;
    case 'b':
    case 's':
    case 'B': return 1;
    case 'w': return 2;
    case 'e': return 3;
    case 'z':
    case 'Z': return word;
    case 'v': return m->is_wide ? 8 : word;
    case 'G': return is_test ? 1 : 0;
    case 'H': return is_test ? word : 0;
    case 'a': return m->has_67 ? MOST : m->is_64 ? 8 : 4;
    case 'c':
    case 'd':
    case 'j': return m->has_66 && !m->is_64 ? MOST : 4; /* 64-bit code ignores 66 here */
    default: return MOST;
    }
}

/* Bytes after the opcode; MOST for what is not known. */
static size_t x86_rest_len(const struct measure *m, char kind)
{
    const uint8_t *modrm = m->at + m->len;
    bool has_modrm = kind >= 'A' && kind <= 'Z';
    if (has_modrm && m->has_67 && !m->is_64)
        return MOST;
    size_t address = has_modrm ? x86_address_len(modrm) : 0;
    return address + (kind == 'R' || kind == '.' ? 0 : x86_operand_len(m, kind, *modrm));
}

/* The length, or 0, and what kind of instruction it is. */
static size_t x86_measure(const uint8_t *at, size_t left, bool is_64, char *kind)
{
    uint8_t copy[MOST + 1] = {0};
    struct measure m = {.at = at, .is_64 = is_64};
    if (left < MOST)
        m.at = memcpy(copy, at, left);
    *kind = x86_opcode_kind(&m);
    size_t len = m.len + x86_rest_len(&m, *kind);
    return len <= left && len <= MOST ? len : 0;
}

size_t x86_length(const uint8_t *at, size_t left, bool is_64)
{
    char kind;
    return x86_measure(at, left, is_64, &kind);
}

/* Four bytes at the end of the instruction, or one, count from there. */
static void x86_take_branch(struct finding *f, char kind, uint64_t from, const uint8_t *end,
                            uint64_t after)
{
    uint32_t displacement;
    if (kind == 's') {
        found_jump(f, from, after + (uint64_t)(int8_t)end[-1]);
        return;
    }
    memcpy(&displacement, end - sizeof displacement, sizeof displacement);
    uint64_t to = after + (uint64_t)(int32_t)le32toh(displacement);
    if (kind == 'c')
        found_call(f, from, to);
    else
        found_jump(f, from, to);
}

static const struct capstone *x86_capstone_of(struct finding *f, bool is_64)
{
    if (f->capstone || f->has_no_capstone)
        return f->capstone;
    f->capstone = capstone_open(CS_ARCH_X86, is_64 ? CS_MODE_64 : CS_MODE_32);
    f->has_no_capstone = !f->capstone;
    if (f->capstone)
        f->capstone->option(f->capstone->handle, CS_OPT_DETAIL, CS_OPT_ON);
    return f->capstone;
}

/* The length by capstone, which also says what an unusual branch is; 1 for what it does not know.
 */
static size_t x86_ask_capstone(const uint8_t *at, size_t left, uint64_t address, bool is_64,
                               struct finding *f)
{
    const struct capstone *c = x86_capstone_of(f, is_64);
    cs_insn *found;
    if (!c || !c->disasm(c->handle, at, left < MOST ? left : MOST, address, 1, &found))
        return 1;
    const cs_x86 *x86 = &found->detail->x86;
    size_t len = found->size;
    if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
        if (found->id == X86_INS_CALL)
            found_call(f, address, (uint64_t)x86->operands[0].imm);
        else if (found->id == X86_INS_JMP)
            found_jump(f, address, (uint64_t)x86->operands[0].imm);
    }
    c->free(found, 1);
    return len;
}

static void x86_decode(const struct stretch *s, struct finding *f, bool is_64)
{
    for (size_t i = 0; i < s->bytes.len;) {
        const uint8_t *at = s->bytes.at + i;
        size_t left = s->bytes.len - i;
        char kind;
        size_t len = x86_measure(at, left, is_64, &kind);
        if (!len)
            len = x86_ask_capstone(at, left, s->address + i, is_64, f);
        else if (kind == 'c' || kind == 'j' || kind == 's')
            x86_take_branch(f, kind, s->address + i, at + len, s->address + i + len);
        i += len;
    }
}

static void x86_decode_32(const struct stretch *s, struct finding *f)
{
    x86_decode(s, f, false);
}

static void x86_decode_64(const struct stretch *s, struct finding *f)
{
    x86_decode(s, f, true);
}

enum { SET_32, SET_64, SETS };
static const struct instruction_set sets[SETS] = {{"i386", x86_decode_32},
                                                  {"x86-64", x86_decode_64}};

static const struct instruction_set *x86_set_of(const struct target *t)
{
    return &sets[t->machine == EM_X86_64 ? SET_64 : SET_32];
}

/* x86-64 psABI, 4.3: common symbols of the large model. */
static bool x86_is_common(const struct target *t, uint32_t index)
{
    enum { LARGE_COMMON = 0xff02 };
    return t->machine == EM_X86_64 && index == LARGE_COMMON;
}

static bool x86_view(const struct target *t, struct capstone_view *out)
{
    *out = (struct capstone_view){CS_ARCH_X86, t->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32,
                                  .unit = 1, .has_intel_syntax = true};
    return t->machine != EM_IAMCU;
}

const struct architecture architecture_x86 = {
    .name = "x86",
    .machines = {EM_386, EM_IAMCU, EM_X86_64},
    .is_common = x86_is_common,
    .sets = sets,
    .sets_len = SETS,
    .set_of = x86_set_of,
    .capstone = x86_view,
};
