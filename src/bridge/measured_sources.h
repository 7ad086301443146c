/* The sources that a measurement is about: those that a profile's lines are of and those that
 * coverage is of, each once. */
#ifndef MONARC_BRIDGE_MEASURED_SOURCES_H
#define MONARC_BRIDGE_MEASURED_SOURCES_H

#include "base/map.h"
#include "coverage/analysis/coverage_result.h"
#include "profile/analysis/source_lines.h"
#include "source/source.h"

/* One source of the list. `self` are the samples on all of its lines. */
struct measured_source {
    const char *shown;     /* as people read it */
    const char *path;      /* where it can be read, or NULL */
    uint32_t coverage;     /* source of the result, or UINT32_MAX */
    uint32_t first_listed; /* of the profile's files, linked by `next_listed`; or UINT32_MAX */
    double self;
};

struct measured_sources {
    struct arena arena;
    VEC(struct measured_source) all;
    struct intern known;   /* paths, or names where there is no file; numbers are those of `all` */
    uint32_t *next_listed; /* per file of the profile's lines: another one of the same source */
    struct path_numbers recorded; /* names as debug information has them */
    VEC(uint32_t) of_recorded;    /* of these: in `all` */
};

/* Where sources come from; they live as long as the list. */
struct measured_sources_input {
    const struct coverage_result *coverage; /* NULL: there is none */
    const struct source_lines *lines;       /* likewise */
    const struct source_search *search;     /* where sources are read */
    const char *folder; /* names of a profile's sources below it are shown without it */
};

/* O(sources); where a source is read is looked up once for each. The list may grow by
 * measured_source_of(), which is therefore not for several threads. */
void measured_sources_make(struct measured_sources *f, const struct measured_sources_input *in);
void measured_sources_deinit(struct measured_sources *f);

/* The number of a file by its recorded name, or UINT32_MAX. */
uint32_t measured_source_of(struct measured_sources *f, const char *recorded);

#endif
