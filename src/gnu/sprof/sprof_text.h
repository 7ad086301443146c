/* What sprof prints: -p, -q, -c. */
#ifndef MONARC_GNU_SPROF_TEXT_H
#define MONARC_GNU_SPROF_TEXT_H

#include "gnu/sprof/sprof_tables.h"
#include "output/out.h"

void sprof_print_flat(struct out *out, const struct sprof_tables *t);
void sprof_print_graph(struct out *out, const struct sprof_tables *t);
void sprof_print_pairs(struct out *out, const struct sprof_tables *t);

#endif
