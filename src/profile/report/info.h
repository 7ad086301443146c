/* The output of `monarc info` about a profile file or a recording: facts that are text, or the
 * members of the object that is open in JSON (docs/schema/info.schema.json). Nothing is resolved: a
 * list is printed as the file has it, in text its first hundred rows. */
#ifndef MONARC_PROFILE_REPORT_INFO_H
#define MONARC_PROFILE_REPORT_INFO_H

#include "output/facts.h"
#include "profile/model/profile.h"
#include "profile/model/recording.h"
#include "profile/model/source_profile.h"

/* A file as it was read. Everything belongs to the caller, who also has a `found` for a file that
 * could not be read to its end: it holds the records before the error. */
struct file_info {
    const char *name;
    uint64_t size_bytes;
    const char *format, *title;  /* NULL: of no known format */
    const char *error;           /* why reading stopped, or NULL */
    const struct profile *found; /* what was complete */
};

void file_facts(struct facts *w, const struct file_info *file);

/* The same for a folder or file that `monarc run` wrote: `folder` is its path as it was named. */
void recording_facts(struct facts *w, const char *folder, const struct recording *r);

/* The same for a profile by source position. */
struct source_info {
    const char *name, *format, *title;
    uint64_t size_bytes;
    uint32_t version; /* of gcc's; else 0 */
    const char *error;
    const struct source_profile *found;
};
void source_facts(struct facts *w, const struct source_info *file);

/* The comparison of two of them: `monarc diff` of such files. In text the first `limit` functions
 * (0: all), in JSON all. */
struct source_compared {
    const char *old, *new; /* names of the files */
    const struct source_overlap *overlap;
};
void source_compared_text(struct out *out, const struct source_compared *c, uint64_t limit);
void source_compared_json(struct json *j, const struct source_compared *c);

#endif
