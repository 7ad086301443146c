/* What a file says of the events that were recorded: their attributes, the numbers that records
 * know them by, and their names. */
#ifndef MONARC_PROFILE_IMPORT_PERF_EVENT_H
#define MONARC_PROFILE_IMPORT_PERF_EVENT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/model/recording.h"
#include "record/perf/perf_record.h"

struct perf_event_kind {
    struct perf_layout layout;
    uint32_t type; /* PERF_TYPE_... */
    uint64_t config;
    uint64_t period; /* between samples; with `is_rate`: samples per second that were asked for */
    uint32_t most_frames;
    bool is_rate, excludes_kernel;
    const char *name; /* NULL: nobody has said */
};

struct perf_kinds {
    VEC(struct perf_event_kind) all;
    struct map of_id;    /* id -> index */
    struct arena *names; /* whose names live in */
};

/* Reads one struct perf_event_attr of the bytes that it says itself, at most `room`. */
bool perf_kind_read(struct cursor *in, size_t room, struct perf_event_kind *out);

/* Adds ids: all words that are left. */
void perf_kinds_add_ids(struct perf_kinds *k, struct cursor in, uint32_t kind);

/* The feature that names events; and the record that does. */
void perf_kinds_describe(struct perf_kinds *k, struct cursor in);
void perf_kinds_update(struct perf_kinds *k, struct cursor in);

/* A name as perf would print it, out of type and config where nobody has said one. */
const char *perf_kind_name(const struct perf_kinds *k, uint32_t kind);

/* Whether weights are nanoseconds. */
bool perf_kind_is_clock(const struct perf_event_kind *k);

/* When the record was made; 0: it does not say. */
uint64_t perf_kind_time(const struct perf_event_kind *k, struct bytes record);

/* The kind that the record is of; RUN_NONE: a sample of one that the file does not describe. */
uint32_t perf_kinds_of(const struct perf_kinds *k, struct bytes record, bool big_endian);

#endif
