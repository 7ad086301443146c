/* Markers and bare lines of one source. A source that cannot be read has neither. */
#include "coverage/analysis/source_marks.h"

#include "base/search.h"
#include "coverage/model/coverage.h"
#include "source/text.h"

#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

static uint32_t first_from(const struct marks_request *q, uint32_t line)
{
    return PARTITION_POINT(q->lines_len, i, q->lines[i].number < line);
}

static void cover(const struct marks_request *q, struct source_marks *m, struct marker range)
{
    for (uint32_t i = first_from(q, range.first); i < q->lines_len; i++) {
        if (q->lines[i].number > range.last)
            break;
        m->lines.at[i] |= (uint8_t)range.what;
    }
    if (range.what == MARKER_CODE)
        vec_push(&m->code, range);
}

/* From the function's first line to its last: that of the next function, less one, if unknown. */
static void notes_function(const struct marks_request *q, struct source_marks *m, uint32_t line)
{
    for (uint32_t i = 0; i < q->functions_len; i++) {
        const struct marked_function *f = &q->functions[i];
        if (f->start_line != line)
            continue;
        uint32_t last = f->end_line >= line ? f->end_line : NONE;
        for (uint32_t k = i + 1; last == NONE && k < q->functions_len; k++)
            if (q->functions[k].start_line > line)
                last = q->functions[k].start_line - 1;
        cover(q, m, (struct marker){line, last, MARKER_CODE});
    }
}

static int by_first(const void *left, const void *right)
{
    const struct marker *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

static void apply_markers(const struct marks_request *q, struct source_marks *m,
                          struct bytes source)
{
    struct markers found = {0};
    markers_find(source, &found);
    for (size_t i = 0; i < found.ranges.len; i++) {
        if (found.ranges.at[i].what == MARKER_FUNCTION)
            notes_function(q, m, found.ranges.at[i].first);
        else
            cover(q, m, found.ranges.at[i]);
    }
    if (m->code.len)
        qsort(m->code.at, m->code.len, sizeof *m->code.at, by_first);
    m->unclosed = found.unclosed;
    m->stray = found.stray;
    markers_deinit(&found);
}

/* Whether the line holds nothing but braces, brackets, semicolons and a comment to its end. */
static bool is_bare(struct bytes line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '/' && i + 1 < line.len && line.at[i + 1] == '/')
            return true;
        if (!memchr(" \t\f\v\r{}();", line.at[i], 10))
            return false;
    }
    return true;
}

static void find_bare(const struct marks_request *q, struct source_marks *m,
                      struct source_text *text)
{
    bool is_indexed = false;
    for (uint32_t i = 0; i < q->lines_len; i++) {
        if (!q->lines[i].has_branches)
            continue;
        if (!is_indexed)
            source_text_index(text);
        is_indexed = true;
        struct bytes line = source_line(text, q->lines[i].number);
        if (line.at && is_bare(line))
            m->lines.at[i] |= MARK_BARE;
    }
}

void source_marks_make(const struct marks_request *q, struct source_marks *m)
{
    struct source_text text = {0};
    struct err why;
    if (source_text_read(&text, q->file, &why)) {
        vec_reserve(&m->lines, q->lines_len + 1);
        memset(m->lines.at, 0, q->lines_len);
        m->lines.len = q->lines_len;
        if (!q->ignores_markers)
            apply_markers(q, m, text.bytes);
        if (q->finds_bare_lines)
            find_bare(q, m, &text);
    } else if (errno_is_trouble(why.system)) {
        m->trouble = strdup(why.line);
        if (!m->trouble)
            memory_exhausted(strlen(why.line));
    }
    source_text_deinit(&text);
}

void source_marks_deinit(struct source_marks *m)
{
    free(m->trouble);
    vec_free(&m->lines);
    vec_free(&m->code);
}
