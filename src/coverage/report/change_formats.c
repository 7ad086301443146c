/* The table of forms, and what they share. */
#include "coverage/report/change_report.h"

#include <inttypes.h>

const struct change_format change_formats[] = {
    {"text", change_text, true},
    {"json", change_json, false},
    {"markdown", change_markdown, false},
};
const size_t change_formats_len = sizeof change_formats / sizeof *change_formats;

const struct change_format *change_format_find(const char *name)
{
    for (size_t i = 0; i < change_formats_len; i++)
        if (!strcmp(change_formats[i].name, name ? name : "text"))
            return &change_formats[i];
    return NULL;
}

void changed_lines_text(struct out *out, const struct changed_line *lines, uint32_t len)
{
    for (uint32_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && lines[end].line == lines[end - 1].line + 1;)
            end++;
        out_printf(out, "%s%" PRIu32, i ? ", " : "", lines[i].line);
        if (end - i > 1)
            out_printf(out, "-%" PRIu32, lines[end - 1].line);
    }
}

const char *source_change_remark(const struct source_change *s)
{
    return s->old == NO_SOURCE ? "new" : s->new == NO_SOURCE ? "gone" : "";
}

size_t change_count(const struct coverage_change *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->sources.len; i++)
        count += source_change_is_any(&c->sources.at[i]);
    return count;
}
