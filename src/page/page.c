/* The order of things: what is measured, sources, then the page from its start to its end. */
#include "page/page.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "page/columns.h"
#include "page/covered_functions.h"
#include "page/coverage_data.h"
#include "page/plain_table.h"
#include "page/profile_data.h"
#include "page/shell.h"
#include "page/source_data.h"

#include <stdio.h>
#include <stdlib.h>

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
    struct out main_block, calls_block, covered_block;
};

/* --- making ---------------------------------------------------------------------------------- */

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

/* Threads take sources in turn: each has a block of its own. */
static void page_make_source_block(size_t i, void *context)
{
    struct page *p = context;
    out_init(&p->source_blocks[i], -1);
    source_block(&p->source_blocks[i], &p->sources, (uint32_t)i);
    block_pack(&p->source_blocks[i]);
    progress_step(p->progress);
}

static void page_make_calls_block(struct page *p)
{
    struct json j = {.out = &p->calls_block, .is_compact = true};
    out_init(&p->calls_block, -1);
    calls_data(&j, &p->rows);
    block_pack(&p->calls_block);
}

static void page_make_covered_block(struct page *p)
{
    struct json j = {.out = &p->covered_block, .is_compact = true};
    out_init(&p->covered_block, -1);
    covered_functions_data(&j, p->in->coverage->result, &p->files);
    block_pack(&p->covered_block);
}

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
                                         .folder = in->folder});
    if (in->profile)
        page_rows_make(&p->rows, in->profile);
    p->sources = (struct source_data){in,          &p->files,  in->profile ? &p->rows : NULL,
                                      &p->details, &p->before, &p->base_lines};
    sources_before_make(&p->before, in->coverage, &p->files);
    base_lines_make(&p->base_lines, in, &p->files, &p->before);
    line_details_make(&p->details, in, p->sources.rows, &p->files);
    out_init(&p->main_block, -1);
    page_main_text(p, &p->main_block);
    block_pack(&p->main_block);
    if (in->profile)
        page_make_calls_block(p);
    if (in->coverage)
        page_make_covered_block(p);
    p->source_blocks = ARENA_NEW(&p->files.arena, struct out, p->files.all.len);
    progress_phase(progress, "writing sources", p->files.all.len);
    parallel_for(p->files.all.len, 0, page_make_source_block, p);
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

static bool page_write_sources(const struct page *p, struct out *out, const char *beside,
                               struct err *e)
{
    char id[16];
    for (uint32_t i = 0; i < p->files.all.len; i++) {
        snprintf(id, sizeof id, "s%u", i);
        if (!beside)
            page_write_block(out, id, &p->source_blocks[i]);
        else if (!page_write_beside(beside, id, &p->source_blocks[i], e))
            return false;
    }
    return true;
}

/* Where the page finds its sources: the folder's name, as an element that scripts can ask. */
static void page_write_folder(struct out *out, const char *beside)
{
    struct arena scratch = {0};
    char *folder = arena_copy(&scratch, beside, strlen(beside) - 1);
    out_str(out, "<meta name=\"monarc-sources\" content=\"");
    html_text(out, path_base_name(folder));
    out_str(out, "\">\n");
    arena_deinit(&scratch);
}

bool page_write(const struct page *p, struct out *out, const char *beside, struct err *e)
{
    page_put_piece(out, PIECE_START);
    if (beside)
        out_str(out, " 'self' file:");
    page_put_piece(out, PIECE_POLICY);
    html_text(out, p->in->title);
    page_put_piece(out, PIECE_TITLE);
    plain_tables(out, p->in, p->in->profile ? &p->rows : NULL);
    page_put_piece(out, PIECE_PLAIN);
    if (beside)
        page_write_folder(out, beside);
    page_write_block(out, "data", &p->main_block);
    page_put_piece(out, PIECE_SCRIPT);
    if (p->in->profile)
        page_write_block(out, "calls", &p->calls_block);
    if (p->in->coverage)
        page_write_block(out, "covered", &p->covered_block);
    if (!page_write_sources(p, out, beside, e))
        return false;
    page_put_piece(out, PIECE_END);
    return true;
}
