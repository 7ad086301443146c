/* capstone's text, with what it cannot read as bytes. */
#include "objfile/code/disassemble.h"

#include "objfile/code/architecture.h"
#include "objfile/code/late_capstone.h"
#include "objfile/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16 };

struct disassembler {
    const struct object *object;
    struct capstone *capstone;
    cs_insn *found;
    struct capstone_view view;
    char text[256];
};

struct disassembler *disassembler_open(const struct object *o, bool is_intel)
{
    struct target target = image_target(&o->self);
    const struct architecture *a = architecture_of(target.machine);
    struct capstone_view view;
    if (!a->capstone || !a->capstone(&target, &view))
        return NULL;
    struct disassembler *d = calloc(1, sizeof *d);
    if (!d)
        memory_exhausted(sizeof *d);
    if (target.is_big_endian)
        view.mode |= CS_MODE_BIG_ENDIAN;
    d->object = o;
    d->view = view;
    d->capstone = capstone_open(view.arch, view.mode);
    if (!d->capstone) {
        free(d);
        return NULL;
    }
    if (view.has_intel_syntax)
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
    if (d->view.compressed)
        d->capstone->option(d->capstone->handle, CS_OPT_MODE,
                            d->view.mode | (is_compressed ? d->view.compressed : 0));
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
    size_t len = code.len < d->view.unit ? code.len : d->view.unit;
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
