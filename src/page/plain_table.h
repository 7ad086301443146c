/* The tables that a reader without scripts sees: plain HTML. */
#ifndef MONARC_PAGE_PLAIN_TABLE_H
#define MONARC_PAGE_PLAIN_TABLE_H

#include "output/out.h"
#include "page/rows.h"

/* Text between tags or in a quoted attribute; bytes that are no UTF-8, and control bytes, become
 * U+FFFD. */
void html_text(struct out *out, const char *text);

/* `rows` may be NULL: there is no profile. */
void plain_tables(struct out *out, const struct page_input *in, const struct page_rows *rows);

#endif
