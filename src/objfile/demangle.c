/* Readable names for linkage names, by libiberty.
 *
 * As BFD does it for gprof: leading dots and dollars and a trailing `@version` are set aside while
 * demangling and put back after. libiberty's global "current style" is left alone. */
#include "objfile/object.h"

#include "base/arena.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* D is not among libiberty's automatic styles; its names announce themselves by _D and a digit. */
static int style_bits(const char *name, const char *style)
{
    if (!style)
        return name[0] == '_' && name[1] == 'D' && isdigit((unsigned char)name[2]) ? DMGL_DLANG
                                                                                   : DMGL_AUTO;
    enum demangling_styles known = cplus_demangle_name_to_style(style);
    return known == unknown_demangling || known == no_demangling ? 0 : (int)known;
}

static char *join(const char *prefix, size_t prefix_len, const char *middle, const char *suffix)
{
    size_t middle_len = strlen(middle), suffix_len = strlen(suffix);
    char *whole = malloc(prefix_len + middle_len + suffix_len + 1);
    if (!whole)
        memory_exhausted(prefix_len + middle_len + suffix_len + 1);
    memcpy(whole, prefix, prefix_len);
    memcpy(whole + prefix_len, middle, middle_len);
    memcpy(whole + prefix_len + middle_len, suffix, suffix_len + 1);
    return whole;
}

char *demangle(const char *linkage_name, const char *style)
{
    const char *start = linkage_name + strspn(linkage_name, ".$");
    int bits = style_bits(start, style);
    if (!bits)
        return NULL;
    size_t prefix_len = (size_t)(start - linkage_name);
    const char *suffix = strchr(start, '@');
    char *bare = suffix ? strndup(start, (size_t)(suffix - start)) : NULL;
    char *readable = cplus_demangle(bare ? bare : start, bits | DMGL_PARAMS | DMGL_ANSI);
    free(bare);
    if (!readable || (!prefix_len && !suffix))
        return readable;
    char *whole = join(linkage_name, prefix_len, readable, suffix ? suffix : "");
    free(readable);
    return whole;
}

bool demangle_style_known(const char *style)
{
    return cplus_demangle_name_to_style(style) != unknown_demangling;
}
