/* The line profile as text, JSON (docs/schema/lines.schema.json) and CSV. */
#ifndef MONARC_PROFILE_REPORT_LINES_H
#define MONARC_PROFILE_REPORT_LINES_H

#include "base/path.h"
#include "profile/analysis/tables.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

/* How paths are shown. JSON and CSV have them whole, but mapped. */
struct line_paths {
    const struct path_map *maps; /* the last that fits holds */
    size_t maps_len;
    bool is_full; /* else the last part, where that names one file */
};

void lines_text(struct out *out, const struct report_input *in);
void lines_json(struct out *out, const struct report_input *in);
void lines_csv(struct out *out, const struct report_input *in);

#endif
