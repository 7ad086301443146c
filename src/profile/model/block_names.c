/* Rows in the order of first sight, found by address. */
#include "profile/model/block_names.h"

#include <string.h>

static uint32_t number_of(struct block_names *n, const char *text)
{
    return intern(&n->texts, text, strlen(text));
}

void block_names_add(struct block_names *n, uint64_t address, const struct block_name *name)
{
    bool is_new;
    if (!*name->group && !*name->file && !*name->function && !name->line)
        return;
    map_index(&n->by_address, address, 0, n->rows.len, &is_new);
    if (!is_new)
        return;
    struct block_name_row row = {.address = address,
                                 .group = number_of(n, name->group),
                                 .file = number_of(n, name->file),
                                 .function = number_of(n, name->function),
                                 .line = name->line};
    vec_push(&n->rows, row);
}

static struct block_name name_in(const struct block_names *n, const struct block_name_row *row)
{
    return (struct block_name){.group = intern_text(&n->texts, row->group),
                               .file = intern_text(&n->texts, row->file),
                               .function = intern_text(&n->texts, row->function),
                               .line = row->line};
}

void block_names_add_all(struct block_names *n, const struct block_names *from)
{
    for (size_t i = 0; i < from->rows.len; i++) {
        struct block_name name = name_in(from, &from->rows.at[i]);
        block_names_add(n, from->rows.at[i].address, &name);
    }
}

struct block_name block_names_find(const struct block_names *n, uint64_t address)
{
    const uint32_t *at = n->rows.len ? map_find(&n->by_address, address, 0) : NULL;
    return at ? name_in(n, &n->rows.at[*at]) : (struct block_name){"", "", "", 0};
}

void block_names_deinit(struct block_names *n)
{
    intern_deinit(&n->texts);
    map_deinit(&n->by_address);
    vec_free(&n->rows);
}
