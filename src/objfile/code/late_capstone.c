/* dlopen() of the version that the headers are of; the number in its name is that of its ABI. */
#include "objfile/code/late_capstone.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x)   #x
#define EXPANDED(x)  TEXT_OF(x)
#define LIBRARY_NAME "libcapstone.so." EXPANDED(CS_API_MAJOR)

/* POSIX lets the address of a function be kept in an object pointer, C's type system does not. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found;
}

static bool find_all(struct capstone *c)
{
    return find(c->library, "cs_open", &c->open) && find(c->library, "cs_close", &c->close) &&
           find(c->library, "cs_option", &c->option) && find(c->library, "cs_malloc", &c->malloc) &&
           find(c->library, "cs_free", &c->free) && find(c->library, "cs_disasm", &c->disasm) &&
           find(c->library, "cs_disasm_iter", &c->disasm_iter);
}

struct capstone *capstone_open(cs_arch arch, cs_mode mode)
{
    struct capstone *c = calloc(1, sizeof *c);
    if (!c)
        memory_exhausted(sizeof *c);
    c->library = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
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
