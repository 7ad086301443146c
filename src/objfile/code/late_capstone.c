/* The version that the headers are of; the number in the library's name is that of its ABI. */
#include "objfile/code/late_capstone.h"

#include "base/arena.h"
#include "base/late.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool find_all(struct capstone *c)
{
    return late_find(c->library, "cs_open", &c->open) &&
           late_find(c->library, "cs_close", &c->close) &&
           late_find(c->library, "cs_option", &c->option) &&
           late_find(c->library, "cs_malloc", &c->malloc) &&
           late_find(c->library, "cs_free", &c->free) &&
           late_find(c->library, "cs_disasm", &c->disasm) &&
           late_find(c->library, "cs_disasm_iter", &c->disasm_iter);
}

struct capstone *capstone_open(cs_arch arch, cs_mode mode)
{
    struct capstone *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->library = late_open(LATE_NAME("libcapstone", CS_API_MAJOR));
    if (c->library && find_all(c) && c->open(arch, mode, &c->handle) == CS_ERR_OK)
        return c;
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
