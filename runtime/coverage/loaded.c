/* Where libraries are mapped. See loaded.h. _dl_find_object (glibc 2.35) neither waits nor
 * allocates; dl_iterate_phdr stands in for it. */
#include "loaded.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
static bool find_fast(uintptr_t address, uintptr_t *low, uintptr_t *high, enum loaded *answer)
{
    struct dl_find_object found;
    if (!_dl_find_object)
        return false;
    *answer = LOADED_NO;
    if (_dl_find_object((void *)address, &found) == 0) {
        *low = (uintptr_t)found.dlfo_map_start;
        *high = (uintptr_t)found.dlfo_map_end;
        *answer = LOADED_YES;
    }
    return true;
}
#else
static bool find_fast(uintptr_t address, uintptr_t *low, uintptr_t *high, enum loaded *answer)
{
    (void)address, (void)low, (void)high, (void)answer;
    return false;
}
#endif

struct search {
    uintptr_t address, low, high;
};

static int look_at(struct dl_phdr_info *o, size_t size, void *data)
{
    struct search *s = data;
    uintptr_t low = UINTPTR_MAX, high = 0;
    (void)size;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        uintptr_t from = o->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        low = from < low ? from : low;
        high = to > high ? to : high;
    }
    if (s->address < low || s->address >= high)
        return 0;
    s->low = low;
    s->high = high;
    return 1;
}

enum loaded loaded_at(uintptr_t address, bool may_lock, uintptr_t *low, uintptr_t *high)
{
    enum loaded answer;
    struct search s = {.address = address};
    if (find_fast(address, low, high, &answer))
        return answer;
    if (!may_lock)
        return LOADED_UNKNOWN;
    if (!dl_iterate_phdr(look_at, &s))
        return LOADED_NO;
    *low = s.low;
    *high = s.high;
    return LOADED_YES;
}

bool loaded_is_program(uintptr_t low, uintptr_t high)
{
    uintptr_t entry = (uintptr_t)getauxval(AT_ENTRY);
    return entry >= low && entry < high;
}
