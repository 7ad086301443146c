/* The handle of a profile. */
#ifndef MONARC_LIB_PROFILE_H
#define MONARC_LIB_PROFILE_H

#include "lib/call.h"
#include "profile/format/format.h"
#include "profile/model/merge.h"

#include "monarc/profile.h"

struct monarc_profile {
    struct heap heap;
    struct merger merger; /* its sum is the profile */
};

/* The row of the table for one of the library's formats, or NULL; and back. */
const struct format *profile_format_of(enum monarc_format format);
enum monarc_format profile_format_number(const struct format *format);

struct format_hint profile_hint(const struct monarc_hint *hint);

void profile_facts(const struct profile *p, struct monarc_profile_facts *out);
void profile_histogram_facts(const struct histogram *h, struct monarc_histogram *out);

/* Forgets everything after memory was exhausted. */
void profile_handle_empty(struct monarc_profile *p);

#endif
