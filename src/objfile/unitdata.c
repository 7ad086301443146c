/* What is read of a unit when an address falls into it: line table and functions.
 *
 * Kept until there is too much of it, then forgotten all at once. Callers mostly ask in the order
 * of addresses, so it is not missed; where it is, twice as much is kept from then on, so that
 * reading again never costs more than reading did. */
#include "objfile/units.h"

#include "objfile/split/functions.h"
#include "objfile/split/skeleton.h"

#include <string.h>

static void forget_rows(struct units *u)
{
    for (size_t i = 0; i < u->tables.len; i++) {
        struct line_rows *rows = &u->tables.at[i].rows;
        if (rows->cap) {
            rows->len = 0;
            vec_push(&u->spare, *rows);
            *rows = (struct line_rows){0};
        }
        line_table_forget(&u->tables.at[i]);
    }
    u->rows_held = 0;
}

static void forget_scopes(struct units *u)
{
    for (size_t i = 0; i < u->units.len; i++) {
        scopes_deinit(&u->units.at[i].scopes);
        u->units.at[i].has_scopes = false;
    }
    u->scopes_held = 0;
}

/* Counts what was read a second time against the limit of what is kept. */
static void count_again(size_t read, size_t *again, size_t *most)
{
    *again += read;
    if (*again < *most)
        return;
    *again = 0;
    *most *= 2;
}

static void decode(struct units *u, struct line_table *table, const struct unit *unit)
{
    bool is_first = !table->is_known;
    if (is_first && !u->program_bytes_left)
        return;
    if (u->rows_held > u->rows_most)
        forget_rows(u);
    if (u->spare.len && !table->rows.cap)
        table->rows = u->spare.at[--u->spare.len];
    line_table_read(table, &u->sections, unit->program, unit->comp_dir);
    u->rows_held += table->rows.len;
    if (!is_first) {
        count_again(table->rows.len, &u->rows_again, &u->rows_most);
        return;
    }
    uint64_t bytes = table->program.bytes;
    u->program_bytes_left -= bytes < u->program_bytes_left ? bytes : u->program_bytes_left;
}

struct line_table *unit_table(struct units *u, uint32_t unit)
{
    const struct unit *wanted = &u->units.at[unit];
    bool is_new;
    uint32_t index = map_index(&u->table_of, wanted->program, 0, u->tables.len, &is_new);
    if (is_new)
        vec_push(&u->tables, (struct line_table){0});
    struct line_table *table = &u->tables.at[index];
    if (!table->is_decoded)
        decode(u, table, wanted);
    return table;
}

static const char *sole_path(const struct unit *unit, const struct line_sections *sections,
                             struct arena *a)
{
    struct line_program p;
    const char *path = NULL;
    bool ok = line_program_open(&p, sections, unit->program);
    for (uint32_t i = 0; ok && i < p.files.len; i++) {
        const char *other = line_program_path(&p, i, unit->comp_dir, a);
        ok = !path || !other || !strcmp(path, other);
        path = path ? path : other;
    }
    line_program_close(&p);
    return ok ? path : NULL;
}

const char *unit_sole_path(struct units *u, uint32_t unit, struct arena *a)
{
    struct unit *wanted = &u->units.at[unit];
    if (!wanted->has_sole_path) {
        wanted->has_sole_path = true;
        wanted->sole_path = sole_path(wanted, &u->sections, a);
    }
    return wanted->sole_path;
}

/* Of a unit that was split off, the skeleton is what is left where the other part is not found:
 * some compilers repeat inlined functions in it. */
static void read_scopes(struct units *u, struct unit *unit)
{
    struct split_skeleton skeleton;
    struct split_unit split;
    if (!unit->die.cu) /* a table without a unit */
        return;
    if (split_skeleton_read(&unit->die, u->addresses, u->address_ranges, &skeleton) &&
        split_find(u->object, &skeleton, &split))
        split_scopes_init(&unit->scopes, &split, u->sections.as_bfd);
    else
        scopes_init(&unit->scopes, &unit->die, u->sections.as_bfd);
}

struct scopes *unit_scopes(struct units *u, uint32_t unit)
{
    struct unit *wanted = &u->units.at[unit];
    if (wanted->has_scopes)
        return &wanted->scopes;
    if (u->scopes_held > u->scopes_most)
        forget_scopes(u);
    read_scopes(u, wanted);
    wanted->has_scopes = true;
    u->scopes_held += wanted->scopes.scopes.len;
    if (wanted->had_scopes)
        count_again(wanted->scopes.scopes.len, &u->scopes_again, &u->scopes_most);
    wanted->had_scopes = true;
    return &wanted->scopes;
}
