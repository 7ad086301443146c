/* The letter of a symbol, as `nm` prints it.
 *
 * Specification: bfd_decode_symclass() and decode_section_type() of GNU binutils 2.40, as far as
 * they depend on what object.h keeps: small data ('g', 's') is not told from other data. */
#include "objfile/object.h"

#include <ctype.h>
#include <string.h>

static char section_class(const struct object_section *s)
{
    if (s->is_code)
        return 't';
    if (s->is_alloc && s->has_bytes)
        return s->is_writable ? 'd' : 'r';
    if (!s->has_bytes)
        return 'b';
    if (!strncmp(s->name, ".debug", 6) || !strncmp(s->name, ".zdebug", 7))
        return 'N';
    return s->is_writable ? '?' : 'n';
}

char object_symbol_class(const struct object *o, const struct object_symbol *s)
{
    if (s->type == SYMBOL_COMMON)
        return 'C';
    if (s->type == SYMBOL_IFUNC)
        return 'i';
    if (s->binding == BIND_WEAK)
        return s->type == SYMBOL_OBJECT ? 'V' : 'W';
    if (s->binding == BIND_UNIQUE)
        return 'u';
    if (s->binding == BIND_OTHER)
        return '?';
    const struct object_section *section = object_section(o, s->section);
    char letter = section ? section_class(section) : 'a';
    return s->binding == BIND_GLOBAL ? (char)toupper((unsigned char)letter) : letter;
}
