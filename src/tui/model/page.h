/* A page of text: what there is to know of what is shown, or help. */
#ifndef MONARC_TUI_MODEL_PAGE_H
#define MONARC_TUI_MODEL_PAGE_H

#include "base/vec.h"
#include "session/coverage.h"
#include "tui/model/measurement.h"

struct page_text {
    struct arena arena;
    VEC(const char *) lines;
};

/* Into zeroed pages, wrapped to a width. Either of the two may be NULL. */
void page_notes(struct page_text *p, const struct measurement *m, const struct coverage_session *c,
                size_t width);
void page_help(struct page_text *p, size_t width);
void page_text_deinit(struct page_text *p);

#endif
