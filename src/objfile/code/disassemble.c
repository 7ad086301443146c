/* capstone's text, with what it cannot read as bytes. */
#include "objfile/code/disassemble.h"

#include "base/arena.h"
#include "objfile/code/late_capstone.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16 };

struct disassembler {
    const struct object *object;
    struct capstone *capstone;
    cs_insn *found;
    cs_mode mode, compressed; /* `compressed`: what is added for such code */
    uint8_t unit;             /* the least bytes of an instruction */
    char text[256];
};

struct machine {
    uint16_t elf;
    cs_arch arch;
    cs_mode mode, mode64, compressed;
    uint8_t unit;
};

static const struct machine machines[] = {
    {EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32, 0, 1},
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, CS_MODE_64, 0, 1},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM, 0, 4},
    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_ARM, CS_MODE_THUMB, 2},
    {EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS32, CS_MODE_MIPS64, CS_MODE_MICRO, 2},
    {EM_PPC, CS_ARCH_PPC, CS_MODE_32, CS_MODE_32, 0, 4},
    {EM_PPC64, CS_ARCH_PPC, CS_MODE_64, CS_MODE_64, 0, 4},
    {EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, CS_MODE_BIG_ENDIAN, 0, 2},
    {EM_SPARC, CS_ARCH_SPARC, CS_MODE_BIG_ENDIAN, CS_MODE_BIG_ENDIAN, 0, 4},
    {EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_V9, CS_MODE_V9, 0, 4},
#if CS_API_MAJOR >= 5
    {EM_RISCV, CS_ARCH_RISCV, CS_MODE_RISCV32 | CS_MODE_RISCVC, CS_MODE_RISCV64 | CS_MODE_RISCVC, 0,
     2},
#endif
};

static const struct machine *machine_of(const struct object *o)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].elf == object_machine(o))
            return &machines[i];
    return NULL;
}

struct disassembler *disassembler_open(const struct object *o, bool is_intel)
{
    const struct machine *m = machine_of(o);
    if (!m)
        return NULL;
    struct disassembler *d = calloc(1, sizeof *d);
    if (!d)
        memory_exhausted(sizeof *d);
    d->object = o;
    d->unit = m->unit;
    d->compressed = m->compressed;
    d->mode = object_word(o) == 8 ? m->mode64 : m->mode;
    if (object_is_big_endian(o))
        d->mode |= CS_MODE_BIG_ENDIAN;
    d->capstone = capstone_open(m->arch, d->mode);
    if (!d->capstone) {
        free(d);
        return NULL;
    }
    if (m->arch == CS_ARCH_X86)
        d->capstone->option(d->capstone->handle, CS_OPT_SYNTAX,
                            is_intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
    d->found = d->capstone->malloc(d->capstone->handle);
    return d;
}

void disassembler_close(struct disassembler *d)
{
    if (!d)
        return;
    if (d->found)
        d->capstone->free(d->found, 1);
    capstone_close(d->capstone);
    free(d);
}

void disassembler_compressed(struct disassembler *d, bool is_compressed)
{
    if (d->compressed)
        d->capstone->option(d->capstone->handle, CS_OPT_MODE,
                            d->mode | (is_compressed ? d->compressed : 0));
}

/* Branches have their target as the last operand, a plain number: `0x401136`, `#0x401136`. */
static bool find_target(const char *operands, uint64_t *target)
{
    const char *last = strrchr(operands, ' ');
    last = last ? last + 1 : operands;
    last += *last == '#';
    if (strncmp(last, "0x", 2))
        return false;
    char *end;
    *target = strtoull(last, &end, 16);
    return !*end;
}

static void spell(struct disassembler *d, struct instruction *out)
{
    const cs_insn *i = d->found;
    bool has_operands = i->op_str[0];
    snprintf(d->text, sizeof d->text, has_operands ? "%-7s %s" : "%s%s", i->mnemonic, i->op_str);
    out->bytes = i->size;
    out->has_target = find_target(i->op_str, &out->target);
}

/* Bytes that are no instruction. */
static void spell_bytes(struct disassembler *d, struct bytes code, struct instruction *out)
{
    size_t len = code.len < d->unit ? code.len : d->unit;
    int at = snprintf(d->text, sizeof d->text, ".byte  ");
    for (size_t i = 0; i < len; i++)
        at += snprintf(d->text + at, sizeof d->text - (size_t)at, "%s0x%02x", i ? ", " : " ",
                       code.at[i]);
    out->bytes = (uint32_t)len;
    out->has_target = false;
}

bool disassemble(struct disassembler *d, uint64_t address, uint64_t end, struct instruction *out)
{
    if (address >= end)
        return false;
    uint64_t most = end - address < LONGEST ? end - address : LONGEST;
    struct bytes code = object_code(d->object, address, (size_t)most);
    if (!code.len)
        return false;
    *out = (struct instruction){.address = address, .text = d->text};
    const uint8_t *at = code.at;
    size_t left = code.len;
    uint64_t here = address;
    if (d->found && d->capstone->disasm_iter(d->capstone->handle, &at, &left, &here, d->found))
        spell(d, out);
    else
        spell_bytes(d, code, out);
    return true;
}
