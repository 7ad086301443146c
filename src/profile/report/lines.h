/* The line profile as text, JSON (docs/schema/lines.schema.json) and CSV. */
#ifndef MONARC_REPORT_LINES_H
#define MONARC_REPORT_LINES_H

#include "profile/analysis/lines.h"
#include "output/text.h"

/* How paths are shown. JSON and CSV have them whole, but mapped. */
struct line_paths {
    const struct line_path_map {
        const char *from, *to; /* files below `from` are shown as below `to` */
    } * maps;
    size_t maps_len;
    bool is_full; /* else the last part, where that names one file */
};

void lines_text(struct out *out, struct lines_table *t, const struct line_paths *paths,
                const struct text_style *style);
void lines_json(struct out *out, struct lines_table *t, const struct line_paths *paths);
void lines_csv(struct out *out, struct lines_table *t, const struct line_paths *paths);

#endif
