/* Shared by the files of this room: how data is written for the page, the functions that the page
 * speaks of, and the members of its blocks.
 *
 * A block is one JSON object, packed and in base64. Its lists are columns: an array for each field
 * instead of an object for each row, since the same names ten thousand times are most of what a
 * browser would parse. The main block is read before anything is shown; calls, covered functions
 * and the text of each source wait in blocks of their own until a reader opens them. Figures are in
 * samples; the page divides by the rate, as reports do.
 *
 *    data      {"version":1, ..., "profile":{...}, "coverage":{...}, "files":{...}}
 *    calls     {"caller":[...], "callee":[...], "count":[...], ...}       a row is an arc
 *    covered   {"name":[...], "file":[...], "line":[...], ...}            a row is a function
 *    s0 s1 ..  {"text":"...", "time":{...}, "coverage":{...}, ...}        each one source
 *
 * Numbers refer to rows of other columns: a function is its row in profile.functions, a source its
 * row in files. -1 stands for no such row. Readers of the blocks are the scripts in assets/page;
 * both are built into one program, and change together. */
#ifndef MONARC_PAGE_PAGE_PRIVATE_H
#define MONARC_PAGE_PAGE_PRIVATE_H

#include "page/page.h"

#include "bridge/base_lines.h"
#include "output/formats.h"
#include "profile/analysis/exchange/exchange.h"
#include "profile/analysis/tables.h"

#include <stddef.h>

/* --- columns (columns.c) --------------------------------------------------------------------- */

/* A count: a number where a double holds it, else its digits as a text. JavaScript's numbers are
 * doubles: integers are exact up to 2^53. */
void column_count(struct json *j, uint64_t count);

/* A number with as many decimals as a sample needs: sums of thousands of shares stay exact enough
 * to print, and the block small. */
void column_samples(struct json *j, double samples);

/* A part of an estimate, to a millionth of a sample: there are many, and no view shows more. */
void column_part(struct json *j, double samples);

/* An index, or -1 for UINT32_MAX. */
void column_index(struct json *j, uint32_t index);

/* As text in hexadecimal: addresses of kernels are beyond what a double holds. */
void column_address(struct json *j, uint64_t address);

/* A key and the start of its array, which json_end() ends. */
void column_begin(struct json *j, const char *key);

/* Packs `text`, and takes it: what is left in `text` is the block in base64. */
void block_pack(struct out *text);

/* A whole column: `write` for each i below `len`. */
#define COLUMN(j, key, len, write) \
    JSON_ITEMS(j, key, i, len) {   \
        write;                     \
    }

/* --- functions of the page (profile_data.c) -------------------------------------------------- */

/* The page receives these numbers in the column "kind". A cycle and ROW_SMALL have no name of their
 * own: the page has the words. */
enum page_row_kind {
    ROW_FUNCTION,
    ROW_PROFILER,
    ROW_INLINED,
    ROW_CYCLE,
    ROW_SMALL,  /* all that is too small to have a path of its own */
    ROW_UNKNOWN /* stands for callers that are not known */
};

struct page_row {
    enum page_row_kind kind;
    uint32_t function;           /* of names->functions; of a cycle its number from 1 */
    const struct flat_row *flat; /* NULL: not of the flat profile */
};

/* Those that were measured, by self time, and after them those in call paths only: inlined
 * functions, cycles, the rest that is too small. Everything on the page names functions by their
 * number here. */
struct page_rows {
    const struct page_profile *profile;
    struct arena arena;
    struct flat flat;
    struct named_frames frames; /* where there are stacks */
    struct call_tree tree;
    uint32_t *merged;         /* per node of the recording: in the tree */
    struct model_paths model; /* where there are no stacks */
    struct names names;       /* of all functions, inlined ones too */
    bool has_stacks;
    VEC(struct page_row) all;
    uint32_t measured;    /* rows before the first one that is in paths alone */
    uint32_t *of;         /* per function of `names`: its row, or UINT32_MAX */
    uint32_t first_cycle; /* row of cycle 1 */
    uint32_t small;       /* the row of ROW_SMALL */
};

/* Fills *r, whose arena owns all but the VEC and the trees; `p` must outlive it. O(functions log
 * functions + nodes of the recording). */
void page_rows_make(struct page_rows *r, const struct page_profile *p);
void page_rows_deinit(struct page_rows *r);

/* Members of the main block's "profile": summary, doctor, functions, arcs (how many), paths,
 * timeline, locks, path, base. */
void profile_data(struct json *j, const struct page_rows *r, struct measured_sources *files);

/* --- waits and the critical path (waits_data.c) ---------------------------------------------- */

/* The members "locks" and "path" of a profile; null where they are not known. */
void waits_data(struct json *j, const struct page_profile *p);
void path_data(struct json *j, const struct page_profile *p);

/* The block of all calls. One row an arc of the graph; a caller or callee that has no row is -1.
 * `self` and `children` are the samples that the arc propagates. */
void calls_data(struct json *j, const struct page_rows *r);

/* --- the base: an older measurement beside this one (base_data.c) ---------------------------- */

/* The member "base" of a profile: null where there is none. Functions are the same if their linkage
 * names and objects are. */
void base_data(struct json *j, const struct page_rows *r);

/* Where a source of the page is found elsewhere; UINT32_MAX: nowhere. */
struct source_before {
    uint32_t base;        /* source of the base's result */
    uint32_t change;      /* in coverage->change: its state since */
    uint32_t patched;     /* file of the patch */
    uint32_t patched_old; /* the same on the patch's old side */
};

/* One record for each source of the page; the arena owns them. */
struct sources_before {
    struct arena arena;
    struct source_before *of; /* by number of the source */
};

/* `c` is NULL without coverage. */
void sources_before_make(struct sources_before *b, const struct page_coverage *c,
                         const struct measured_sources *files);
void sources_before_deinit(struct sources_before *b);

/* The member "changes" of the files: of each class of enum line_change that occurs, a column of how
 * many lines each source has of it. */
void change_counts_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before);

/* The member "base" of the coverage of source `number`: lines that are there and have changed, and
 * their class; null without a base. */
void changed_lines_data(struct json *j, const struct page_coverage *c,
                        const struct measured_sources *files, const struct sources_before *before,
                        uint32_t number);

/* Lines of the base of the page's profile, if both have lines. */
void page_base_lines_make(struct base_lines *b, const struct page_input *in,
                          struct measured_sources *files, const struct sources_before *before);

/* The member "before" of the block of source `number`; null without a base. */
void base_lines_data(struct json *j, const struct base_lines *b, uint32_t number);

/* --- coverage (coverage_data.c) -------------------------------------------------------------- */

/* Members of the main block's "coverage", but for its sources: totals, inputs, what was left out,
 * problems, gates, blame, the patch. */
void coverage_data(struct json *j, const struct page_coverage *c,
                   const struct measured_sources *files);

/* The block of all functions of which coverage is known, wherever they are. */
void covered_functions_data(struct json *j, const struct coverage_result *r,
                            const struct measured_sources *files);

/* The member "blame" of a source's coverage: where the commit changes, who and when; null where it
 * was not requested, and where git does not know the source. */
void blame_lines_data(struct json *j, const struct page_coverage *c,
                      const struct measured_source *f);

/* --- sources (source_data.c) ----------------------------------------------------------------- */

/* What a line has beside its figures, shown on request: its machine code, and the places that its
 * code was inlined into. */
struct line_details {
    const struct page_input *in;
    const struct page_rows *rows; /* NULL without a profile */
    struct arena arena;
    uint32_t *code_of;     /* by file of the profile's lines: index in code->files + 1, or 0 */
    struct keyed *inlined; /* file of the page, row of the table of lines; by file */
    uint32_t inlined_len;
};

/* Asks `files` for names, which is not for several threads. */
void line_details_make(struct line_details *d, const struct page_input *in,
                       const struct page_rows *rows, struct measured_sources *files);
void line_details_deinit(struct line_details *d);

/* All that a block is made from, read only, so that threads share it without a lock. */
struct source_data {
    const struct page_input *in;
    const struct measured_sources *files;
    const struct page_rows *rows; /* NULL without a profile */
    const struct line_details *details;
    const struct sources_before *before;
    const struct base_lines *base_lines;
};

/* The member "files" of the main block. */
void source_list_data(struct json *j, const struct source_data *s);

/* The block of source `number`, as text that is not packed yet. For several threads. */
void source_block(struct out *out, const struct source_data *s, uint32_t number);

/* --- the page around the data: assets/page, put together by tools/embed_page.py -------------- */

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

/* One piece: text that is not terminated by a zero byte. */
struct page_shell {
    const char *at;
    size_t len;
};

extern const struct page_shell page_shell[PAGE_PIECES];

#endif
