/* Rows of an entry. */
#include "tui/model/calls.h"

#include <inttypes.h>
#include <stdio.h>

void calls_table_make(struct calls_table *t, struct measurement *m, uint32_t node)
{
    t->measured = m;
    t->entry.callers.all.len = t->entry.below.all.len = 0;
    entry_make(measurement_entries(m), node, &t->entry);
    t->middle = t->entry.callers.all.len;
    t->len = t->middle + 1 + t->entry.below.all.len;
}

void calls_table_deinit(struct calls_table *t)
{
    entry_deinit(&t->entry);
}

const struct entry_line *calls_table_line(const struct calls_table *t, size_t row)
{
    if (row == t->middle)
        return NULL;
    return row < t->middle ? &t->entry.callers.all.at[row]
                           : &t->entry.below.all.at[row - t->middle - 1];
}

uint32_t calls_table_node(const struct calls_table *t, size_t row)
{
    const struct entry_line *line = calls_table_line(t, row);
    return line ? line->node : t->entry.node;
}

const char *calls_name(const struct measurement *m, uint32_t node, char *room, size_t size)
{
    const struct session *s = &m->session;
    if (node == NO_NODE)
        return "<unknown caller>";
    if (!graph_is_cycle(&s->graph, node))
        return names_text((struct names *)&s->names, node);
    snprintf(room, size, "<cycle %" PRIu32 " as a whole>", s->graph.nodes[node].cycle);
    return room;
}
