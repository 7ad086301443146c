/* capstone, loaded when it is first needed: its tables hold 80,000 addresses, which the loader
 * would fill in whenever any command starts. The one header that includes capstone's. */
#ifndef MONARC_ARCH_CAPSTONE_H
#define MONARC_ARCH_CAPSTONE_H

#include <capstone/capstone.h>

struct capstone {
    void *library;
    csh handle;
    typeof(cs_open) *open;
    typeof(cs_close) *close;
    typeof(cs_option) *option;
    typeof(cs_malloc) *malloc;
    typeof(cs_free) *free;
    typeof(cs_disasm) *disasm;
    typeof(cs_disasm_iter) *disasm_iter;
};

/* Why code of a machine cannot be shown. */
#define CAPSTONE_LACKS_MACHINE "this machine cannot be disassembled"

/* How capstone is to take the code of a program. */
struct capstone_view {
    cs_arch arch;
    cs_mode mode, compressed; /* `compressed`: what is added for such code */
    uint8_t unit;             /* the least bytes of an instruction */
    bool has_intel_syntax;
};

/* A handle for the machine, or NULL with the reason: capstone is not installed or does not know it.
 * It is not for several threads. capstone_close() takes it back. */
struct capstone *capstone_open(cs_arch arch, cs_mode mode, const char **why);
void capstone_close(struct capstone *c); /* NULL is fine */

#endif
