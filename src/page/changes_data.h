/* What became of lines since the base, if there is one: how many of each class a file has, and
 * which. */
#ifndef MONARC_PAGE_CHANGES_DATA_H
#define MONARC_PAGE_CHANGES_DATA_H

#include "bridge/measured_sources.h"
#include "output/json.h"
#include "page/input.h"

/* Where a source of the page is found elsewhere; UINT32_MAX: nowhere. */
struct source_before {
    uint32_t base;        /* source of the base's result */
    uint32_t change;      /* in coverage->change: what became of it since */
    uint32_t patched;     /* file of the patch */
    uint32_t patched_old; /* the same on the patch's old side */
};

struct sources_before {
    struct arena arena;
    struct source_before *of; /* by number of the source */
};

/* `c` is NULL without coverage. */
void sources_before_make(struct sources_before *b, const struct page_coverage *c,
                         const struct measured_sources *files);
void sources_before_deinit(struct sources_before *b);

/* The member "changes" of the files: columns of counts by class, those that occur. */
void change_counts_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before);

/* The member "base" of the coverage of source `number`: lines that are there and have changed, and
 * their class (enum line_change); null without a base. */
void changed_lines_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before,
                        uint32_t number);

#endif
