/* The functions of a unit, inlined ones included, and which of them an address is in. Private to
 * this room. */
#ifndef MONARC_OBJFILE_SCOPES_H
#define MONARC_OBJFILE_SCOPES_H

#include "objfile/interval_map.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

enum { NO_SCOPE = NO_SPAN };

struct scope {
    Dwarf_Die die;
    const char *name;
    uint64_t low;                  /* where its first range starts */
    uint32_t parent;               /* the function this one stands in; NO_SCOPE: none */
    uint32_t call_file, call_line; /* of a split unit, which has no `die` */
    bool is_inlined;
    bool is_linkage; /* the name is one of the symbol table, so far as the language tells */
    bool is_named;   /* name and is_linkage are known: scope_name() */
};

struct scopes {
    VEC(struct scope) scopes;
    struct interval_map cover;
    bool has_plain_names; /* the language does not mangle names */
};

struct scope_spans {
    struct span *at;
    size_t len, cap;
};

/* Adds a range to the scope whose spans start at `first`. As BFD: a range that touches one the
 * function has already is joined to it. */
void scope_spans_add(struct scope_spans *spans, size_t first, uint64_t low, uint64_t high,
                     uint32_t scope);

/* Of DW_TAG_... and DW_LANG_...: whether functions may stand below such an entry; whether BFD takes
 * names of the language for those of the symbol table. */
bool scope_may_hold_functions(int tag);
bool scope_has_plain_names(int language);

/* `unit` is a unit's first entry; split units are read elsewhere (split/functions.h). With
 * `as_bfd` a range list given by index (DW_FORM_rnglistx) is not followed. */
void scopes_init(struct scopes *s, Dwarf_Die *unit, bool as_bfd);
void scopes_deinit(struct scopes *s);

/* The innermost function around an address: the one with the smallest range. */
static inline uint32_t scopes_at(const struct scopes *s, uint64_t address)
{
    return interval_map_at(&s->cover, address);
}

/* Linkage name, else the name in the source, else NULL. Lives as long as the debug information. */
const char *scope_name(struct scopes *s, uint32_t scope);

/* Where an inlined function was called from; false where that is not said. */
bool scope_call(const struct scopes *s, uint32_t scope, uint32_t *file, uint32_t *line);

#endif
