/* Reads what was found, on several threads, into a table of each. */
#ifndef MONARC_CLI_COVER_READ_H
#define MONARC_CLI_COVER_READ_H

#include "coverage/analysis/problems.h"
#include "session/coverage_files.h"
#include "session/source_names.h"

struct read_rules {
    unsigned threads;  /* 0: as many as there are */
    bool leaves_unrun; /* objects without counters */
    bool repairs;      /* damaged counts */
};

struct cover_reading {
    VEC(struct cover_table) tables;
    struct cover_problems problems;
    uint64_t objects, unrun, counters, traces; /* that were read */
    uint64_t system_sources, unwanted_sources; /* names left out, over all objects' */
    uint64_t unknown_functions, repaired_functions;
};

/* Reads everything into a zeroed *out. What cannot be used is a problem there. */
void cover_read(const struct cover_found *found, const struct cover_wishes *wishes,
                const struct read_rules *rules, struct cover_reading *out);
void cover_reading_deinit(struct cover_reading *r);

#endif
