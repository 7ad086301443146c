/* Readable names for linkage names, by libiberty.
 *
 * As BFD does it for gprof: leading dots and dollars and a trailing `@version` are set aside while
 * demangling and put back after. libiberty's global "current style" is left alone.
 *
 * Names come from files that may be hostile, and mangled names can refer back to their own parts:
 * 250 bytes can stand for a gigabyte. A name that grows beyond MOST_BYTES stays mangled.
 *
 *     ..foo@@VERS_1   ->   ".." + demangled "foo" + "@@VERS_1"
 *
 * C++'s and Rust's demanglers hand out pieces to a function of ours, which counts them; D's and
 * Ada's return a whole text. Cost: a pass over the name for each demangler that is tried. */
#include "objfile/object.h"

#include "base/vec.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_BACK_REFERENCES = 32 };

/* What the demanglers print into. */
struct page {
    VEC(char) text;
    jmp_buf full;
};

/* Adds a piece; leaves the demangler by longjmp() when there is too much: it has no other way to be
 * stopped. */
static void print(const char *piece, size_t len, void *opaque)
{
    struct page *page = opaque;
    if (len > MOST_BYTES - page->text.len)
        longjmp(page->full, 1); /* they keep nothing on the heap while they print */
    vec_reserve(&page->text, page->text.len + len + 1);
    if (!len)
        return;
    memcpy(page->text.at + page->text.len, piece, len);
    page->text.len += len;
}

/* Apart from its caller, so that longjmp() leaves no automatic variable in doubt. */
static bool print_safely(const char *name, int style, struct page *page)
{
    /* The order of cplus_demangle(), whose own results may be of any size. */
    if (setjmp(page->full))
        return false;
    enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
    /* Rust's demangler looks at every name twice to find out whether it knows it: only _R, or an
     * Itanium name whose last part is a hash of 17 characters, can be. */
    bool may_be_rust =
        name[0] == '_' && (name[1] == 'R' || (name[1] == 'Z' && strstr(name, "17h")));
    if (style & (DMGL_RUST | DMGL_AUTO) && may_be_rust &&
        rust_demangle_callback(name, OPTIONS, print, page))
        return true;
    if (style & (DMGL_GNU_V3 | DMGL_AUTO)) {
        page->text.len = 0;
        if (cplus_demangle_v3_callback(name, OPTIONS, print, page))
            return true;
    }
    return style & DMGL_JAVA && java_demangle_v3_callback(name, print, page);
}

/* A name without what was set aside; NULL: it is not mangled in this style, or stays so.
 * malloc'ed. */
static char *demangle_bare(const char *name, int style)
{
    if (style == DMGL_DLANG) {
        /* D's demangler returns its text whole, so the references back (Q) are counted beforehand.
         */
        size_t references = 0;
        for (const char *at = name; (at = strchr(at, 'Q')); at++)
            references++;
        return references > MOST_BACK_REFERENCES ? NULL
                                                 : dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    }
    if (style == DMGL_GNAT)
        return ada_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    struct page page = {0};
    if (!print_safely(name, style, &page)) {
        vec_free(&page.text);
        return NULL;
    }
    vec_push(&page.text, '\0');
    return page.text.at;
}

/* Sets the prefix and the version aside, chooses the style, and puts the parts together again. */
char *demangle(const char *linkage_name, const char *style)
{
    const char *start = linkage_name + strspn(linkage_name, ".$");
    style = style && style[0] ? style : NULL;
    int bits = style ? (int)cplus_demangle_name_to_style(style) : DMGL_AUTO;
    if (bits == unknown_demangling || bits == no_demangling)
        return NULL;
    /* D is not among the automatic styles of all versions of libiberty; its names announce
     * themselves by _D and a digit, and there is _Dmain. */
    if (!style && start[0] == '_' && start[1] == 'D' &&
        (isdigit((unsigned char)start[2]) || !strcmp(start, "_Dmain")))
        bits = DMGL_DLANG;
    size_t prefix_len = (size_t)(start - linkage_name);
    const char *suffix = strchr(start, '@');
    char *bare = suffix ? strndup(start, (size_t)(suffix - start)) : NULL;
    char *readable = demangle_bare(bare ? bare : start, bits);
    free(bare);
    if (!readable || (!prefix_len && !suffix))
        return readable;
    size_t middle_len = strlen(readable), suffix_len = suffix ? strlen(suffix) : 0;
    char *whole = malloc(prefix_len + middle_len + suffix_len + 1);
    if (!whole)
        memory_exhausted(prefix_len + middle_len + suffix_len + 1);
    memcpy(whole, linkage_name, prefix_len);
    memcpy(whole + prefix_len, readable, middle_len + 1);
    if (suffix)
        memcpy(whole + prefix_len + middle_len, suffix, suffix_len + 1);
    free(readable);
    return whole;
}

bool demangle_style_known(const char *style)
{
    return cplus_demangle_name_to_style(style) != unknown_demangling;
}
