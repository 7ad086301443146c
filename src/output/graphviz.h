/* Drawing a graph by Graphviz' library, if monarc was built with it and it is installed. */
#ifndef MONARC_OUTPUT_GRAPHVIZ_H
#define MONARC_OUTPUT_GRAPHVIZ_H

#include "output/out.h"

/* Lays out `dot`, a text in Graphviz' language that ends in 0, and writes it in a format of
 * Graphviz: svg, png, pdf. Of an svg the document type is left out, which would name a file of
 * another host. False with a line that says what is missing. */
MUST_CHECK bool graphviz_draw(struct out *out, const char *dot, const char *format, struct err *e);

#endif
