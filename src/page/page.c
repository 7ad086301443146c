/* The HTML report from its start to its end.
 *
 * Everything is analysed when this begins; here it becomes text. First come the lists that all the
 * rest refers to by number: sources (bridge/bridge.h) and functions (page_rows). Then the
 * blocks of data are made, those of sources by several threads, each into a buffer of its own, so
 * that the page is the same however many there are. Writing puts the blocks between the pieces of
 * the page's own program.
 *
 * Blocks are raw deflate in base64. That needs no escaping, neither in a script element nor in a
 * string of JavaScript, and every browser unpacks it (DecompressionStream). Names and sources are
 * never markup: whatever they contain, they can only be text. Of a source beside the page a block
 * is a script of one statement, because a page opened from disk may load scripts, but no data. */
#include "page/page.h"

#include "page/page_private.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "base/bytes.h"
#include "output/out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything of a page that is made. Lists come first and blocks after them, as they are filled:
 * blocks refer to rows of the lists by number, so no list may grow once a block is made. */
struct page {
    const struct page_input *in;
    struct progress *progress;
    struct page_rows rows;
    struct measured_sources files;
    struct line_details details;
    struct sources_before before;
    struct base_lines base_lines;
    struct source_data sources;
    struct out *source_blocks; /* one a source */
    struct out main_block;     /* what the first view needs */
    struct out calls_block;    /* of a profile */
    struct out covered_block;  /* of coverage */
};

/* --- tables for readers without scripts ------------------------------------------------------ */

enum { MOST_ROWS = 200 }; /* of the flat profile */

/* Byte sequences that are no UTF-8 lose their first byte to U+FFFD, and reading goes on after it;
 * so a broken sequence never swallows the `<` that follows. */
static void html_text(struct out *out, const char *text)
{
    size_t left = strlen(text);
    for (const uint8_t *at = (const uint8_t *)text; left;) {
        size_t len = utf8_length(at, left);
        if (!len || !shown_length(at, len))
            out_str(out, "\xef\xbf\xbd");
        else if (*at == '<')
            out_str(out, "&lt;");
        else if (*at == '>')
            out_str(out, "&gt;");
        else if (*at == '&')
            out_str(out, "&amp;");
        else if (*at == '"')
            out_str(out, "&quot;");
        else if (*at == '\'')
            out_str(out, "&#39;");
        else
            out_bytes(out, (const char *)at, len);
        at += len ? len : 1;
        left -= len ? len : 1;
    }
}

/* The first rows of the flat profile; a line below the table says how many more there are. */
static void flat_table(struct out *out, const struct page_rows *r)
{
    const struct summary *s = r->profile->summary;
    out_str(out, "<table>\n<caption>Functions by self time</caption>\n<tr><th>self %<th>samples"
                 "<th>total %<th>calls<th>function\n");
    for (uint32_t i = 0; i < r->measured && i < MOST_ROWS; i++) {
        const struct flat_row *f = r->all.at[i].flat;
        out_printf(out, "<tr><td>%.2f<td>%.2f<td>%.2f<td>", 100 * summary_share(s, f->self),
                   f->self, 100 * summary_share(s, f->total));
        out_u64(out, f->calls, 0);
        out_str(out, "<td>");
        html_text(out, names_text((struct names *)&r->names, f->function));
        out_char(out, '\n');
    }
    out_str(out, "</table>\n");
    if (r->measured > MOST_ROWS)
        out_printf(out, "<p>... and %u more.</p>\n", r->measured - MOST_ROWS);
}

/* Every source: programs have few enough of them, and a reader without scripts cannot ask for the
 * rest. */
static void coverage_table(struct out *out, const struct page_input *in)
{
    const struct coverage_result *r = in->coverage->result;
    out_str(out, "<table>\n<caption>Sources by name</caption>\n<tr><th>lines %<th>run<th>of"
                 "<th>unknown<th>source\n");
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct coverage_ratio *l = &r->sources.at[i].sums.lines;
        out_printf(out, "<tr><td>%.1f<td>", ratio_percent(l));
        out_u64(out, l->hit, 0);
        out_str(out, "<td>");
        out_u64(out, l->all, 0);
        out_str(out, "<td>");
        out_u64(out, l->unknown, 0);
        out_str(out, "<td>");
        html_text(out, r->sources.at[i].path);
        out_char(out, '\n');
    }
    out_str(out, "</table>\n");
}

/* --- making ---------------------------------------------------------------------------------- */

/* The main block: members "profile" and "coverage" are null where there is no such measurement. */
static void page_main_text(struct page *p, struct out *text)
{
    struct json j = {.out = text, .is_compact = true};
    json_begin(&j, '{');
    json_pair_u64(&j, "version", 1);
    json_pair_str(&j, "monarc", MONARC_VERSION);
    json_pair_str(&j, "title", p->in->title);
    json_key(&j, "profile");
    if (p->in->profile) {
        json_begin(&j, '{');
        profile_data(&j, &p->rows, &p->files);
        json_end(&j);
    } else {
        json_none(&j);
    }
    json_key(&j, "coverage");
    if (p->in->coverage) {
        json_begin(&j, '{');
        coverage_data(&j, p->in->coverage, &p->files);
        json_end(&j);
    } else {
        json_none(&j);
    }
    source_list_data(&j, &p->sources);
    json_end(&j);
}

/* Blocks beside those of sources; the largest first. */
enum { MAIN_BLOCK, CALLS_BLOCK, COVERED_BLOCK, OTHER_BLOCKS };

/* Threads take blocks in turn. The text of the calls is made here: it asks for no name. */
static void page_make_block(size_t i, void *context)
{
    struct page *p = context;
    if (i == MAIN_BLOCK)
        block_pack(&p->main_block);
    if (i == CALLS_BLOCK && p->in->profile) {
        struct json j = {.out = &p->calls_block, .is_compact = true};
        out_init(&p->calls_block, -1);
        calls_data(&j, &p->rows);
        block_pack(&p->calls_block);
    }
    if (i == COVERED_BLOCK && p->in->coverage)
        block_pack(&p->covered_block);
    if (i < OTHER_BLOCKS)
        return;
    i -= OTHER_BLOCKS;
    out_init(&p->source_blocks[i], -1);
    source_block(&p->source_blocks[i], &p->sources, (uint32_t)i);
    block_pack(&p->source_blocks[i]);
    progress_step(p->progress);
}

/* The order matters. sources_before_make(), base_lines_make(), line_details_make() and the main
 * block ask `files` for names, and may thereby change it; from parallel_for() on it is only
 * read. */
struct page *page_new(const struct page_input *in, struct progress *progress)
{
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    p->in = in;
    p->progress = progress;
    progress_phase(progress, "writing the page", 0);
    measured_sources_make(&p->files, &(struct measured_sources_input){
                                         .coverage = in->coverage ? in->coverage->result : NULL,
                                         .lines = in->profile ? in->profile->lines : NULL,
                                         .search = in->search,
                                         .folders = in->folders,
                                         .folder = in->folder});
    if (in->profile)
        page_rows_make(&p->rows, in->profile);
    p->sources = (struct source_data){in,          &p->files,  in->profile ? &p->rows : NULL,
                                      &p->details, &p->before, &p->base_lines};
    sources_before_make(&p->before, in->coverage, &p->files);
    page_base_lines_make(&p->base_lines, in, &p->files, &p->before);
    line_details_make(&p->details, in, p->sources.rows, &p->files);
    out_init(&p->main_block, -1);
    page_main_text(p, &p->main_block);
    if (in->coverage) {
        struct json j = {.out = &p->covered_block, .is_compact = true};
        out_init(&p->covered_block, -1);
        covered_functions_data(&j, in->coverage->result, &p->files);
    }
    p->source_blocks = ARENA_NEW(&p->files.arena, struct out, p->files.all.len);
    progress_phase(progress, "writing sources", p->files.all.len);
    parallel_for(OTHER_BLOCKS + p->files.all.len, 0, page_make_block, p);
    return p;
}

void page_free(struct page *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->files.all.len; i++)
        out_deinit(&p->source_blocks[i]);
    out_deinit(&p->main_block);
    if (p->in->profile)
        out_deinit(&p->calls_block);
    if (p->in->coverage)
        out_deinit(&p->covered_block);
    line_details_deinit(&p->details);
    sources_before_deinit(&p->before);
    base_lines_deinit(&p->base_lines);
    if (p->in->profile)
        page_rows_deinit(&p->rows);
    measured_sources_deinit(&p->files);
    free(p);
}

size_t page_bytes(const struct page *p)
{
    size_t bytes = p->main_block.len + p->calls_block.len + p->covered_block.len;
    for (int i = 0; i < PAGE_PIECES; i++)
        bytes += page_shell[i].len;
    for (size_t i = 0; i < p->files.all.len; i++)
        bytes += p->source_blocks[i].len;
    return bytes;
}

/* --- writing --------------------------------------------------------------------------------- */

/* A piece of the program that shows the page, as it was embedded when monarc was built. */
static void page_put_piece(struct out *out, enum page_piece piece)
{
    out_bytes(out, page_shell[piece].at, page_shell[piece].len);
}

/* No browser runs a script of this type. */
static void page_write_block(struct out *out, const char *id, const struct out *block)
{
    out_printf(out, "<script type=\"text/plain\" id=\"%s\">", id);
    out_bytes(out, block->at, block->len);
    out_str(out, "</script>\n");
}

/* A statement that hands the block to the page. */
static bool page_write_beside(const char *beside, const char *id, const struct out *block,
                              struct err *e)
{
    struct arena scratch = {0};
    struct out text;
    const char *path = arena_printf(&scratch, "%s%s.js", beside, id);
    out_init(&text, -1);
    out_printf(&text, "monarc_block(\"%s\", \"", id);
    out_bytes(&text, block->at, block->len);
    out_str(&text, "\");\n");
    bool ok = file_write(path, (struct bytes){(const uint8_t *)text.at, text.len}, e);
    out_deinit(&text);
    arena_deinit(&scratch);
    return ok;
}

size_t page_outside(const struct page *p)
{
    return p->files.outside;
}

bool page_is_whole(const struct page *p, bool even_if_forbidden, struct err *e)
{
    for (uint32_t i = 0; i < p->files.all.len; i++) {
        const struct out *block = &p->source_blocks[i];
        if (block->lacking && (even_if_forbidden || errno_is_trouble(block->lacking_errno)))
            return err_set(e, "%s", block->lacking);
    }
    return true;
}

bool page_write(const struct page *p, struct out *out, const char *beside, struct err *e)
{
    page_put_piece(out, PIECE_START);
    if (beside)
        out_str(out, " 'self' file:");
    page_put_piece(out, PIECE_POLICY);
    html_text(out, p->in->title);
    page_put_piece(out, PIECE_TITLE);
    /* `rows` is NULL without a profile. */
    const struct page_input *in = p->in;
    const struct page_rows *rows = p->in->profile ? &p->rows : NULL;
    out_str(out, "<h1>");
    html_text(out, in->title);
    out_str(out, "</h1>\n<p>This page needs JavaScript for its views; these are its tables.</p>\n");
    if (rows)
        flat_table(out, rows);
    if (in->coverage)
        coverage_table(out, in);
    page_put_piece(out, PIECE_PLAIN);
    if (beside) {
        /* Where the page finds its sources: the folder's name, as an element that scripts can ask.
         */
        struct arena scratch = {0};
        char *folder = arena_copy(&scratch, beside, strlen(beside) - 1);
        out_str(out, "<meta name=\"monarc-sources\" content=\"");
        html_text(out, path_base_name(folder));
        out_str(out, "\">\n");
        arena_deinit(&scratch);
    }
    page_write_block(out, "data", &p->main_block);
    page_put_piece(out, PIECE_SCRIPT);
    if (p->in->profile)
        page_write_block(out, "calls", &p->calls_block);
    if (p->in->coverage)
        page_write_block(out, "covered", &p->covered_block);
    for (uint32_t i = 0; i < p->files.all.len; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%u", i);
        if (!beside)
            page_write_block(out, id, &p->source_blocks[i]);
        else if (!page_write_beside(beside, id, &p->source_blocks[i], e))
            return false;
    }
    page_put_piece(out, PIECE_END);
    return true;
}
