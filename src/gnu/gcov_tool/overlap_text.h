/* The text of `gcov-tool overlap`. */
#ifndef MONARC_GNU_GCOV_TOOL_OVERLAP_TEXT_H
#define MONARC_GNU_GCOV_TOOL_OVERLAP_TEXT_H

#include "gnu/gcov_tool/overlap.h"
#include "output/out.h"

struct overlap_print {
    bool has_functions, has_files, has_full_names, is_hot_only;
};

void overlap_text(struct out *out, const struct overlap *o, const struct overlap_print *how);

#endif
