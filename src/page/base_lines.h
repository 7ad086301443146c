/* What the base measured of the page's sources, by today's line numbers. */
#ifndef MONARC_PAGE_BASE_LINES_H
#define MONARC_PAGE_BASE_LINES_H

#include "bridge/measured_sources.h"
#include "output/json.h"
#include "page/changes_data.h"
#include "page/input.h"

struct base_line {
    uint32_t line;
    double self; /* samples */
    uint64_t calls;
};

struct base_source {
    VEC(struct base_line) lines; /* ascending */
    double elsewhere;            /* samples on lines that cannot be told apart from others now */
};

struct base_lines {
    struct arena arena;
    struct base_source *of; /* by number of the source; NULL: there is no base */
    size_t len;
};

/* A line of the base is today's where the patch says so, and where the function that it is in
 * extends over as many lines as it did: then as far behind the function's first line. Code of
 * functions that are not there, or not measured, stays where it is if no other function of the
 * source has moved. Files are the same if their names are, else if their last components are, and
 * no others' are. Asks `files` for names, which is not for several threads. */
void base_lines_make(struct base_lines *b, const struct page_input *in,
                     struct measured_sources *files, const struct sources_before *before);
void base_lines_deinit(struct base_lines *b);

/* The member "before" of the block of source `number`; null without a base. */
void base_lines_data(struct json *j, const struct base_lines *b, uint32_t number);

#endif
