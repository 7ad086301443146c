/* Which functions a view shows: by regular expressions on their names, and by places in sources.
 *
 * POSIX extended expressions (regex(7)), tried on the demangled and on the linkage name; a match of
 * either counts. A function is shown if it matches one of `focus` (or there are none) and none of
 * `ignore`, and if it is in one of `places` (or there are none). */
#ifndef MONARC_PROFILE_ANALYSIS_FILTER_H
#define MONARC_PROFILE_ANALYSIS_FILTER_H

#include "profile/analysis/names.h"
#include "base/vec.h"

#include <regex.h>

/* FILE, FILE:LINE or FILE:FUNCTION; the end of a path is enough for FILE. */
struct filter_place {
    const char *file, *function; /* function: NULL if none was named */
    uint32_t line;               /* 0: none was named */
};

struct filter {
    VEC(regex_t) focus, ignore;
    VEC(struct filter_place) places;
    const uint32_t *last_lines; /* per function, where it ends; NULL: the functions are lines */
    struct arena arena;
};

/* Fails with a message that quotes the expression. */
MUST_CHECK bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e);

/* Its texts live in the arena. */
MUST_CHECK bool filter_place_parse(struct filter_place *out, const char *place, struct arena *a,
                                   struct err *e);
MUST_CHECK bool filter_add_place(struct filter *f, const char *place, struct err *e);

/* Finds out where functions begin and end, if places were named; before they are asked about.
 * `objects` are by function.object, with NULL elements. */
void filter_locate(struct filter *f, struct functions *functions, struct object *const *objects);
void filter_deinit(struct filter *f);

bool filter_admits(const struct filter *f, struct names *names, uint32_t function);

#endif
