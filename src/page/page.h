/* The HTML report: one page that holds everything a person may want to look at of a profile, of a
 * coverage result, or of both, and the program that shows it.
 *
 * The page needs no network, no server and no other file. Data stands in it as columns of JSON,
 * packed, in script elements that no browser runs; names and sources are never markup. What the
 * page does is in assets/page, put together by tools/embed_page.py. */
#ifndef MONARC_PAGE_PAGE_H
#define MONARC_PAGE_PAGE_H

#include "output/out.h"
#include "output/progress.h"
#include "page/input.h"

struct page;

/* Makes everything that the page holds; the input must live as long as the page. `progress` is told
 * of each source, and may be NULL. */
struct page *page_new(const struct page_input *in, struct progress *progress);
void page_free(struct page *p);

/* How large one file with everything is, in bytes. */
size_t page_bytes(const struct page *p);

/* Writes the page to `out`. With `beside` (a folder that exists, with a slash at its end), sources
 * are files in it, which the page loads when they are asked for; the page finds them in a folder
 * of the last component's name beside itself. */
MUST_CHECK bool page_write(const struct page *p, struct out *out, const char *beside,
                           struct err *e);

#endif
