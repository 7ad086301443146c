/* The page around the data, as tools/embed_page.py puts it together out of assets/page. */
#ifndef MONARC_PAGE_SHELL_H
#define MONARC_PAGE_SHELL_H

#include <stddef.h>

/* The page is these pieces, with something of the writer's between each two of them. */
enum page_piece {
    PIECE_START,  /* then: what else the policy allows scripts from */
    PIECE_POLICY, /* then: the title */
    PIECE_TITLE,  /* then: the tables for readers without scripts */
    PIECE_PLAIN,  /* then: the block that the first view needs */
    PIECE_SCRIPT, /* then: all other blocks, which are read while it is shown */
    PIECE_END,
    PAGE_PIECES
};

struct page_shell {
    const char *at;
    size_t len;
};

extern const struct page_shell page_shell[PAGE_PIECES];

#endif
