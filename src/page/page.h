/* The HTML report: one page that holds everything a person may want to look at of a profile, of a
 * coverage result, or of both, and the program that shows it.
 *
 * The page needs no network, no server and no other file. Data stands in it as columns of JSON,
 * packed, in script elements that no browser runs; names and sources are never markup. What the
 * page does is in assets/page, put together by tools/embed_page.py.
 *
 * Three steps: page_new() makes all text and packs it, page_bytes() returns the size of the result,
 * so that the caller can choose between one file and a folder beside it, and page_write() only
 * copies. The page describes what its input holds and leaves out the rest: no member of the input
 * is computed here but functions, paths and line figures that only a picture needs. */
#ifndef MONARC_PAGE_PAGE_H
#define MONARC_PAGE_PAGE_H

#include "output/out.h"
#include "coverage/analysis/coverage_change.h"
#include "coverage/analysis/coverage_result.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/recording/locks.h"
#include "profile/analysis/recording/schedule.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/analysis/source_lines.h"
#include "profile/analysis/tables.h"
#include "source/source.h"

/* What `monarc diff` says of the two measurements: all rows, in its order. */
struct page_comparison {
    const struct comparison *made;
    VEC(const char *) notes; /* caveats, as sentences */
};

/* A program with its profiles, or a recording. All pointers are borrowed and must outlive the
 * page. */
struct page_profile {
    const struct page_profile *base;          /* an older one, to compare with; or NULL */
    const struct page_comparison *comparison; /* with that one; NULL without it */
    const struct summary *summary;
    struct graph *graph;
    const struct functions *functions;
    const char *demangle;                  /* as names_init() takes it */
    struct object *const *objects;         /* by function.object; NULL elements: not to be had */
    const struct diagnosis *diagnosis;     /* NULL: none was made */
    const struct source_lines *lines;      /* NULL: the program has no line numbers */
    const struct space *space;             /* of a recording; else NULL */
    const struct named_frames *named;      /* likewise, if inlined functions are named */
    const struct recording_choice *choice; /* likewise */
    const double *weights;                 /* likewise, samples per node of the run */
    const struct annotated *code;          /* machine code of its lines; NULL: not wanted */
    const struct lines_table *inlines;     /* with chains of inlined code; NULL: not wanted */
    const struct locks *locks, *io;   /* of a recording with waits: what they were for; else NULL */
    const struct schedule_path *path; /* of a recording; NULL: there is none */
    const char *method;               /* how it was measured, in words */
    int64_t measured_at;              /* seconds since 1970; 0: unknown */
    const uint32_t *begin; /* the function that the page begins with; NULL: with the summary */
};

/* A limit that the user set on coverage (--fail-under and the like), both figures in percent. */
struct page_gate {
    const char *name;
    double limit, percent;
    const char *verdict; /* passed, failed, not judged */
};

/* A coverage result with what was asked about it. `objects`, `unrun`, `counters` and `traces` count
 * the input files: object files with notes, those of them without counters, counter files, and
 * tracefiles of other tools. */
struct page_coverage {
    const struct coverage_result *base; /* an older one, to compare with; or NULL */
    const struct coverage_result *result;
    const struct problems *problems;
    const struct patch_coverage *diff;    /* NULL: no patch was named */
    const char *patch;                    /* its name */
    const struct patch *patch_lines;      /* what is in it, if there is one */
    const struct coverage_change *change; /* since the base, if there is one */
    const struct blame *blames; /* by source of the result, those that are not known are empty;
                                   NULL: not requested */
    int64_t blamed_at;          /* what lines are old at; seconds since 1970 */
    uint64_t objects, unrun, counters, traces;
    const struct page_gate *gates;
    size_t gates_len;
    bool ignores_markers; /* comments that leave lines out */
    int64_t measured_at;
};

struct page_input {
    const char *title;
    const struct page_profile *profile;   /* NULL: there is none */
    const struct page_coverage *coverage; /* likewise */
    const struct source_search *search;   /* where sources are read */
    const struct source_folders *folders; /* only sources in these are in the page; NULL: all */
    const char *folder;                   /* names of sources below it are shown without it */
};

struct page;

/* Makes everything that the page holds; the input must live as long as the page. `progress` counts
 * each source, and may be NULL. Memory is that of all blocks, packed; time is linear in the
 * sources' bytes, on all CPUs. It cannot fail: a source that cannot be read is a fact that the page
 * shows. */
struct page *page_new(const struct page_input *in, struct progress *progress);
void page_free(struct page *p);

/* How large one file with everything is, in bytes. Without the title and the tables for readers
 * without scripts, which are small. */
size_t page_bytes(const struct page *p);

/* False, with the reason, if the text of a source may be there but could not be read: because of
 * trouble with the system or, if requested, because this user may not. */
MUST_CHECK bool page_is_whole(const struct page *p, bool even_if_forbidden, struct err *e);

/* How many sources are there but in none of the folders that may be shown. */
size_t page_outside(const struct page *p);

/* Writes the page to `out`. With `beside` (a folder that exists, with a slash at its end), sources
 * are files in it, which the page loads on request; the page finds them in a folder of the last
 * component's name beside itself. False with `e` set if one of those files cannot be written; the
 * caller checks `out` for errors. */
MUST_CHECK bool page_write(const struct page *p, struct out *out, const char *beside,
                           struct err *e);

#endif
