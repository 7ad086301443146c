/* GNU gprof's rules for the function table, quirks included; docs/compat.md lists where we differ.
 *
 * It takes symbols of class T, W and t (nm's letters). Local ones must have a name without `$`, and
 * with dots only before a number (`f.constprop.0`, `f.clone.1`, `f.2`). At one address a global
 * (or weak) one beats a static one, a typed function an untyped label, fewer underscores more of
 * them, and else the first in the table wins. Each symbol reaches to the next one; the last to the
 * end of .text. */
#include "gnu/gprof/functions_gnu.h"

#include "gnu/gprof/file_map.h"
#include "base/sort.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool functions_skips(const char **name, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(*name, prefix, len) || !(*name)[len])
        return false;
    *name += len;
    return true;
}

/* Whether what follows each dot is a number, perhaps after `clone.` or `constprop.`. */
static bool functions_dots_precede_numbers(const char *name)
{
    while ((name = strchr(name, '.'))) {
        if (!functions_skips(&name, ".clone.") && !functions_skips(&name, ".constprop."))
            name++;
        const char *digits = name;
        while (isdigit((unsigned char)*name))
            name++;
        if ((*name && *name != '.') || (*name == '.' && name == digits))
            return false;
    }
    return true;
}

static bool functions_static_name_is_kept(const char *name)
{
    return name[0] && !strchr(name, '$') && functions_dots_precede_numbers(name) &&
           strncmp(name, "__gnu_compiled", 14) && strncmp(name, "___gnu_compiled", 15);
}

enum gnu_class { CLASS_NONE, CLASS_GLOBAL, CLASS_STATIC };

static enum gnu_class functions_classify(const struct object_symbol *s, const struct object *o,
                                         const struct gnu_symbol_rules *rules)
{
    if (rules->no_static && s->binding == BIND_LOCAL)
        return CLASS_NONE;
    if (s->type == SYMBOL_IFUNC || s->binding == BIND_UNIQUE)
        return CLASS_NONE;
    if (s->binding == BIND_WEAK)
        return s->type == SYMBOL_OBJECT ? CLASS_NONE : CLASS_GLOBAL;
    const struct object_section *section = object_section(o, s->section);
    if (!section || !section->is_code)
        return CLASS_NONE;
    if (s->binding == BIND_GLOBAL)
        return CLASS_GLOBAL;
    if (rules->only_functions && s->type != SYMBOL_FUNC)
        return CLASS_NONE;
    return functions_static_name_is_kept(s->name) ? CLASS_STATIC : CLASS_NONE;
}

/* At one address: functions, then labels; of those, global ones, then static ones. */
static uint64_t functions_class_key(const struct function *f)
{
    return (uint64_t)(!f->is_function * 2 + f->is_static);
}

/* In the order of addresses, then of classes, then as they came. */
static const struct keyed *functions_sorted_functions(const struct functions *f, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        order[i] = (struct keyed){functions_class_key(&f->at[i]), i};
    sort_keyed(order, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        order[i].key = f->at[order[i].item].start;
    sort_keyed(order, f->len);
    return order;
}

static bool functions_is_preferred(const struct function *a, const struct function *b)
{
    if (a->is_static != b->is_static)
        return b->is_static;
    if (a->is_function != b->is_function)
        return a->is_function;
    if (b->name[0] != '_')
        return false;
    return a->name[0] != '_' || (a->name[1] != '_' && b->name[1] == '_');
}

void functions_finish(struct functions *f, struct gnu_symbol **symbols, uint64_t last_address,
                      struct arena *a)
{
    struct arena scratch = {0};
    const struct keyed *order = functions_sorted_functions(f, &scratch);
    struct function *sorted = ARENA_NEW(a, struct function, f->len);
    struct gnu_symbol *theirs = symbols ? ARENA_NEW(a, struct gnu_symbol, f->len) : NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->len; i++) {
        uint32_t item = order[i].item;
        const struct function *next = &f->at[item];
        bool is_empty = next->last && next->last < next->start;
        struct function *rival = kept ? &sorted[kept - 1] : NULL;
        if (rival && rival->start == next->start) {
            if (functions_is_preferred(next, rival))
                *rival = *next;
            if (theirs && (*symbols)[item].created < theirs[kept - 1].created)
                theirs[kept - 1].created = (*symbols)[item].created;
        } else if (!is_empty) {
            if (theirs)
                theirs[kept] = (*symbols)[item];
            sorted[kept++] = *next;
        }
    }
    if (theirs)
        *symbols = theirs;
    for (uint32_t i = 0; i < kept; i++)
        if (!sorted[i].last)
            sorted[i].last = i + 1 < kept ? sorted[i + 1].start - 1 : last_address;
    f->at = sorted;
    f->len = kept;
    arena_deinit(&scratch);
    functions_index(f, a);
}

static uint64_t functions_last_text_address(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].name && !strcmp(sections[i].name, ".text"))
            return sections[i].address + sections[i].size - 1;
    return 0;
}

/* False: the map leaves the function out. */
static bool functions_map_to_file(struct function *f, const struct file_map *files)
{
    const struct mapped *line = files ? file_map_find(files, f->name) : NULL;
    if (!line)
        return true;
    f->name = line->file;
    f->is_mapped = true;
    return line->is_first;
}

void functions_gnu(struct gnu_functions *out, struct object *o,
                   const struct gnu_symbol_rules *rules, struct arena *a)
{
    size_t len;
    enum object_symbol_source source;
    const struct object_symbol *symbols = object_symbols(o, &len, &source);
    *out = (struct gnu_functions){.table.at = ARENA_NEW(a, struct function, len),
                                  .symbols = ARENA_NEW(a, struct gnu_symbol, len)};
    struct functions *f = &out->table;
    for (uint32_t i = 0; i < len; i++) {
        enum gnu_class class = functions_classify(&symbols[i], o, rules);
        if (class == CLASS_NONE)
            continue;
        struct function *made = &f->at[f->len];
        *made = (struct function){.start = symbols[i].address,
                                  .name = symbols[i].name,
                                  .symbol = i,
                                  .is_function = symbols[i].type == SYMBOL_FUNC,
                                  .is_static = class == CLASS_STATIC};
        out->symbols[f->len].created = i;
        f->len += functions_map_to_file(made, rules->files);
    }
    functions_finish(f, &out->symbols, functions_last_text_address(o), a);
}

static const char blank[] = " \t\r\v\f";

/* One line of nm's output: three words, of which the second needs no space after it. NULL name if
 * it is none. A first word that is no number counts as 0. */
static struct function functions_map_line(const char *line, const char *end, struct arena *a)
{
    struct function none = {0};
    char *text = arena_copy(a, line, (size_t)(end - line));
    char *number = text + strspn(text, blank), *type = number + strcspn(number, blank);
    type += strspn(type, blank);
    if (*type != 'T' && *type != 't')
        return none;
    char *name = type + 1 + strspn(type + 1, blank);
    name[strcspn(name, blank)] = '\0';
    return (struct function){.start = strtoull(number, NULL, 16),
                             .name = name,
                             .is_function = true,
                             .is_static = *type == 't'};
}

void functions_from_map(struct gnu_functions *out, struct bytes text, const struct object *o,
                        struct arena *a)
{
    const char *at = (const char *)text.at, *end = at + text.len;
    size_t lines = 1;
    for (const char *p = at; p < end; p++)
        lines += *p == '\n';
    *out = (struct gnu_functions){
        .table = {.at = ARENA_NEW(a, struct function, lines), .is_located = true},
        .symbols = ARENA_NEW(a, struct gnu_symbol, lines)};
    struct functions *f = &out->table;
    for (const char *line = at; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        struct function found = functions_map_line(line, stop, a);
        found.symbol = out->symbols[f->len].created = f->len;
        if (found.name && found.name[0])
            f->at[f->len++] = found;
        line = stop + 1;
    }
    functions_finish(f, &out->symbols, functions_last_text_address(o), a);
}
