/* What a profile file holds, by record, as text or JSON (docs/schema/info.schema.json). */
#ifndef MONARC_PROFILE_REPORT_INFO_H
#define MONARC_PROFILE_REPORT_INFO_H

#include "profile/model/profile.h"
#include "output/json.h"

struct file_info {
    const char *name;
    uint64_t size_bytes;
    const char *format, *title;  /* NULL: of no known format */
    const char *error;           /* why reading stopped, or NULL */
    const struct profile *found; /* what was complete */
};

/* One file; an empty line goes before all but the first. */
void info_text(struct out *out, const struct file_info *file, bool is_first);

/* One element of the array that is open in `j`. */
void info_json(struct json *j, const struct file_info *file);

#endif
