/* Where code comes from: source line, function and the calls that were inlined there.
 *
 * Puts together what units, line tables and functions say; reads nothing itself. Where debug
 * information knows no function, or in a language whose names it does not spell as the symbol table
 * does, the symbol table is asked, as in BFD. */
#include "objfile/excerpt_private.h"
#include "objfile/frames.h"
#include "objfile/nearest.h"

#include <string.h>

bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line)
{
    if (o->excerpt)
        return excerpt_line(o, address, file, line);
    *file = NULL;
    *line = 0;
    struct line_table *table;
    const struct line_row *row;
    if (units_find(units_of(o), address, &table, &row) == NO_UNIT)
        return false;
    *file = line_table_path(table, row->file, &o->arena);
    *line = *file ? row->line : 0;
    return *file;
}

const char *object_file(struct object *o, uint64_t address)
{
    const char *file;
    uint32_t line;
    if (o->excerpt)
        return excerpt_line(o, address, &file, &line) ? file : NULL;
    struct units *u = units_of(o);
    uint32_t unit = unit_around(u, address, 0);
    file = unit == NO_UNIT ? NULL : unit_sole_path(u, unit, &o->arena);
    if (!file)
        object_line(o, address, &file, &line);
    return file;
}

const char *frame_function(struct object *o, struct scopes *s, uint32_t scope)
{
    struct scope *named = &s->scopes.at[scope];
    scope_name(s, scope);
    if (named->is_linkage)
        return named->name;
    named->is_linkage = true; /* asked for once */
    const struct object_symbol *symbol =
        named->is_inlined && !o->reads_dwarf_as_bfd ? NULL : nearest_symbol(o, named->low);
    if (symbol && symbol->address == named->low)
        named->name = symbol->name;
    return named->name;
}

static const char *symbol_name(struct object *o, uint64_t address)
{
    const struct object_symbol *symbol = nearest_symbol(o, address);
    return symbol ? symbol->name : NULL;
}

size_t object_frames(struct object *o, uint64_t address, struct object_frame *frames, size_t most)
{
    if (o->excerpt)
        return excerpt_frames(o, address, frames, most);
    struct units *u = units_of(o);
    struct object_frame frame = {0};
    struct line_table *table;
    const struct line_row *row;
    uint32_t unit = units_find(u, address, &table, &row);
    size_t len = 0;
    uint32_t scope = NO_SCOPE;
    struct scopes *s = NULL;
    if (unit != NO_UNIT) {
        frame.file = line_table_path(table, row->file, &o->arena);
        frame.line = frame.file ? row->line : 0;
        s = unit_scopes(u, unit);
        scope = scopes_at(s, address);
    }
    for (; scope != NO_SCOPE && s->scopes.at[scope].is_inlined && len < most; len++) {
        uint32_t file;
        frame.function = frame_function(o, s, scope);
        frames[len] = frame;
        frame = (struct object_frame){0};
        if (scope_call(s, scope, &file, &frame.line))
            frame.file = line_table_path(table, file, &o->arena);
        scope = s->scopes.at[scope].parent;
    }
    frame.function = scope != NO_SCOPE ? frame_function(o, s, scope) : symbol_name(o, address);
    if (len < most && (frame.function || frame.file))
        frames[len++] = frame;
    return len;
}
