/* Whether a file speaks of a symbol at all, defined or not, static or dynamic. */
#include "objfile/excerpt_private.h"

#include <string.h>

static bool table_mentions(const struct image *image, size_t index, const char *symbol)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!image_section(image, index, &section, &header) || header.sh_type == SHT_NOBITS)
        return false;
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym sym;
    for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
        const char *name = elf_strptr(image->elf, header.sh_link, sym.st_name);
        if (name && !strcmp(name, symbol))
            return true;
    }
    return false;
}

bool object_mentions(struct object *o, const char *symbol)
{
    static const uint32_t TYPES[] = {SHT_DYNSYM, SHT_SYMTAB};
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        size_t index = image_find(&o->self, TYPES[i], NULL);
        if (index && table_mentions(&o->self, index, symbol))
            return true;
    }
    return false;
}

const char *object_call_counter(struct object *o)
{
    static const char *const NAMES[] = {"mcount",       "_mcount",         "__mcount",
                                        "__fentry__",   "__gnu_mcount_nc", "__mcount_internal",
                                        "__gnu_mcount", "_mcount_nc"};
    if (o->excerpt)
        return o->excerpt->counts_calls ? NAMES[0] : NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (object_mentions(o, NAMES[i]))
            return NAMES[i];
    return NULL;
}
