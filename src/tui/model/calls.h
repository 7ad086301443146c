/* One function with its callers above it and its callees below: an entry of the call graph. */
#ifndef MONARC_TUI_MODEL_CALLS_H
#define MONARC_TUI_MODEL_CALLS_H

#include "tui/model/measurement.h"

struct calls_table {
    struct measurement *measured; /* NULL: nothing was chosen */
    struct entry entry;
    size_t middle; /* row of the function itself */
    size_t len;
};

/* `node` is a function or a cycle of the graph. Into a zeroed table, or one used before. */
void calls_table_make(struct calls_table *t, struct measurement *m, uint32_t node);
void calls_table_deinit(struct calls_table *t);

/* The caller or callee of a row; NULL: the function itself. */
const struct entry_line *calls_table_line(const struct calls_table *t, size_t row);

/* The node of a row, or NO_NODE: callers that are not known. */
uint32_t calls_table_node(const struct calls_table *t, size_t row);

/* How a node is called; into `room`, unless it has a name of its own. */
const char *calls_name(const struct measurement *m, uint32_t node, char *room, size_t size);

#endif
