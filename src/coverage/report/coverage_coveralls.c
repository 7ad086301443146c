/* The source files of Coveralls' JSON: of each line its count, null of those without code or of
 * unknown count; of branches line, block, number and count. Who uploads adds the job's own members:
 * service_name, repo_token, git. A source that cannot be read has no digest. */
#include "coverage/report/coverage_report.h"

#include "base/file.h"
#include "base/md5.h"
#include "output/json.h"

#include <stdio.h>

/* Its digest, and how many lines it has; 0 where it cannot be read. */
static uint32_t coveralls_digest(struct json *j, const struct result_source *s)
{
    struct file_buffer buffer = {0};
    struct err e;
    uint8_t digest[16];
    char text[33];
    uint32_t lines = 0;
    if (!s->file || !file_read_regular(s->file, &buffer, &e)) {
        file_buffer_deinit(&buffer);
        return 0;
    }
    md5(file_bytes(&buffer), digest);
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    for (size_t i = 0; i < buffer.len && lines < UINT32_MAX; i++)
        lines += buffer.at[i] == '\n' || i + 1 == buffer.len;
    json_pair_str(j, "source_digest", text);
    file_buffer_deinit(&buffer);
    return lines;
}

/* A line of tracefiles may have any number: what the source does not have ends the array. */
static void coveralls_lines(struct json *j, const struct coverage_result *r,
                            const struct result_source *s, uint32_t lines)
{
    enum { FAR = 1000000 };
    uint32_t next = 1;
    json_key(j, "coverage"), json_begin(j, '[');
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        if (l->line > (lines ? lines : FAR))
            break;
        for (; next < l->line; next++)
            json_none(j);
        if (l->state == RESULT_UNKNOWN)
            json_none(j);
        else
            json_u64(j, l->count);
        next = l->line + 1;
    }
    for (; next <= lines; next++)
        json_none(j);
    json_end(j);
}

static void coveralls_branches(struct json *j, const struct coverage_result *r,
                               const struct result_source *s)
{
    if (!s->sums.branches.all)
        return;
    json_key(j, "branches"), json_begin(j, '[');
    for (uint32_t i = s->first_line; i < s->first_line + s->lines; i++) {
        const struct result_line *l = &r->lines.at[i];
        for (uint32_t k = 0; k < l->branches && l->state != RESULT_UNKNOWN; k++) {
            const struct result_branch *b = &r->branches.at[l->first_branch + k];
            json_u64(j, l->line), json_u64(j, b->block), json_u64(j, k), json_u64(j, b->count);
        }
    }
    json_end(j);
}

void coverage_coveralls(struct out *out, const struct coverage_report *s,
                        const struct coverage_style *style)
{
    (void)style;
    const struct coverage_result *r = s->result;
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    json_key(&j, "source_files"), json_begin(&j, '[');
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *source = &r->sources.at[i];
        json_begin(&j, '{');
        json_pair_str(&j, "name", source->path);
        uint32_t lines = coveralls_digest(&j, source);
        coveralls_lines(&j, r, source, lines);
        coveralls_branches(&j, r, source);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}
