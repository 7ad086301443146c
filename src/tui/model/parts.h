/* The parts of a recording that one can zoom into: programs, processes, threads, objects. */
#ifndef MONARC_TUI_MODEL_PARTS_H
#define MONARC_TUI_MODEL_PARTS_H

#include "tui/model/measurement.h"

enum part_kind { PART_ALL, PART_PROGRAM, PART_PROCESS, PART_THREAD, PART_OBJECT };

struct part {
    enum part_kind kind;
    const char *name;
    double samples;
    uint32_t pid, tid; /* of processes and threads */
};

struct parts {
    VEC(struct part) all; /* everything first, then by kind, most samples first */
};

/* Fills a zeroed *p; texts are in the measurement. What is not a recording has none. */
void parts_make(struct parts *p, struct measurement *m);
void parts_deinit(struct parts *p);

/* What opening a part takes, in addition to what the user asked for. An object is no such part: it
 * is a choice of rows. */
void part_filter(const struct part *p, struct recorded_filter *f);

#endif
