/* Shared by readers of code: names of mapping symbols, and capstone.
 *
 * The version of capstone that matches the headers is loaded: the number in the library's name is
 * that of its ABI. It is linked only into a monarc that is one static file. Without it, programs
 * are read all the same; unusual x86 instructions are passed over and nothing is disassembled. */
#include "arch/code.h"

#include "arch/capstone.h"
#include "base/arena.h"
#include "base/late.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* $x and $x.foo are mapping symbols, $xfoo is not (AAELF64). */
bool is_mapping_tag(const char *name, const char *letters)
{
    return name[0] == '$' && name[1] && strchr(letters, name[1]) && (!name[2] || name[2] == '.');
}

void code_finding_deinit(struct code_finding *f)
{
    capstone_close(f->capstone);
}

/* All functions that are used, or none: a library that lacks one is as good as absent. */
struct capstone *capstone_open(cs_arch arch, cs_mode mode, const char **why)
{
    struct capstone *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
#ifdef MONARC_STANDALONE
    *c = (struct capstone){NULL,      0,       cs_open,   cs_close,      cs_option,
                           cs_malloc, cs_free, cs_disasm, cs_disasm_iter};
    const bool is_here = true;
#else
    void *l = c->library = late_open(LATE_NAME("libcapstone", CS_API_MAJOR));
    bool is_here = l && late_find(l, "cs_open", &c->open) && late_find(l, "cs_close", &c->close) &&
                   late_find(l, "cs_option", &c->option) && late_find(l, "cs_malloc", &c->malloc) &&
                   late_find(l, "cs_free", &c->free) && late_find(l, "cs_disasm", &c->disasm) &&
                   late_find(l, "cs_disasm_iter", &c->disasm_iter);
#endif
    if (is_here && c->open(arch, mode, &c->handle) == CS_ERR_OK)
        return c;
    *why =
        is_here ? CAPSTONE_LACKS_MACHINE : LATE_NAME("libcapstone", CS_API_MAJOR) " " LATE_MISSING;
    capstone_close(c);
    return NULL;
}

void capstone_close(struct capstone *c)
{
    if (!c)
        return;
    if (c->handle)
        c->close(&c->handle);
    if (c->library)
        dlclose(c->library);
    free(c);
}
