/* Texts in the language of Graphviz. */
#ifndef MONARC_OUTPUT_DOT_QUOTED_H
#define MONARC_OUTPUT_DOT_QUOTED_H

#include "output/out.h"

/* What stands between quotes: whatever the bytes are, the text cannot end there, and is UTF-8. */
void dot_quoted(struct out *out, const char *text, size_t len);

#endif
