/* perf.data: what 'perf record' writes, as a file or into a pipe (docs/import.md).
 *
 *     perf_data.c     the file's frame, unpacking, the order of time
 *     perf_event.c    attributes of events, which say how records look; the kernel's names
 *     perf_replay.c   records, one after the other, to the collector of our own recordings
 *
 * This header is private to the three, but for perf_data_probe() and perf_data_read(). */
#ifndef MONARC_PROFILE_IMPORT_PERF_H
#define MONARC_PROFILE_IMPORT_PERF_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/model/recording.h"
#include "record/collector.h"
#include "record/perf/perf_record.h"

#include <stdbool.h>

/* Records of one thread of perf's, which 'perf record --threads' keeps in a file of their own. */
struct perf_data_stream {
    struct bytes records;
    const char *name;
};

struct perf_data_options {
    const struct perf_data_stream *streams; /* beside the file, which has the rest */
    size_t streams_len;
    bool opens_no_files; /* for hostile input: code is known by its address alone */
};

/* Samples of the file, and those that are in the run; the others are among its losses. */
struct perf_data_counts {
    uint64_t samples, taken;
};

/* Whether the bytes begin as a perf.data of either byte order does; `in` may be the beginning. */
bool perf_data_probe(struct bytes in);

/* Reads a whole file into a zeroed *out, which is to be freed after failure, too. Looks into the
 * files that were mapped, for their unwind tables; `counts` may be NULL. */
MUST_CHECK bool perf_data_read(struct bytes in, const char *name, const struct perf_data_options *o,
                               struct recording *out, struct perf_data_counts *counts,
                               struct err *e);

/* ---- Records in the order of time. They stand in a file as the buffers of each CPU were emptied,
 * round by round: a record of the next round may be older than one of this, not than one of the
 * last. */

/* Memory that records lie in, freed with the last of them. NULL: memory of another owner. A block
 * is what a piece of packed records was unpacked to; records of a file that is not packed lie in
 * the file. */
struct perf_block {
    uint32_t users;
    uint8_t *at;
};

struct perf_queued {
    struct bytes record;
    struct perf_block *block;
};

/* Records that wait for their turn. At the end of a round, everything up to `settled`, the latest
 * time of the round before, can be handed over. */
struct perf_rounds {
    VEC(struct keyed) order; /* time, place in `all` */
    VEC(struct perf_queued) all;
    uint64_t latest, settled; /* times: of all so far, of all in the last round */
    size_t kept;              /* what was left the last time that some were handed over */
    bool (*take)(void *context, struct bytes record);
    void *context;
};

void perf_rounds_deinit(struct perf_rounds *q);

/* Adds one; the record must stay where it is, the block gets one more user. */
void perf_rounds_put(struct perf_rounds *q, uint64_t time, struct bytes record,
                     struct perf_block *block);

/* A round ends: hands over what nothing older can come for. false: take() said so. */
bool perf_rounds_round(struct perf_rounds *q);

/* Hands over the rest. */
bool perf_rounds_end(struct perf_rounds *q);

void perf_block_release(struct perf_block *b);

/* ---- Records that 'perf record -z' has packed: one stream of zstd, cut into pieces. */

struct perf_unpack {
    void *stream;           /* of libzstd */
    VEC(uint8_t) left_over; /* the beginning of a record whose end is in the next piece */
    uint64_t packed, unpacked;
};

/* Gets unpacked bytes; says how many of them were whole records, or fails. */
typedef bool perf_unpacked(void *context, struct perf_block *block, size_t len, size_t *taken,
                           struct err *e);

void perf_unpack_deinit(struct perf_unpack *u);

/* Unpacks a piece, bit by bit: memory does not grow with what it holds. A piece that claims to be
 * more than zlib could have packed is refused. */
MUST_CHECK bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take,
                            void *context, struct err *e);

/* ---- A file's description of the recorded events: their attributes, the numbers that records know
 * them by, and their names. */

struct perf_event_kind {
    struct perf_layout layout;
    uint32_t type;   /* PERF_TYPE_... */
    uint64_t config; /* which event of the type */
    uint64_t period; /* between samples; with `is_rate`: requested samples per second */
    uint32_t most_frames;
    bool is_rate, inherits, excludes_kernel;
    const char *name; /* NULL: not known */
};

/* All events of a file. A record's id says which it is of. */
struct perf_kinds {
    VEC(struct perf_event_kind) all;
    struct map of_id;    /* id -> index */
    struct arena *names; /* whose names live in */
};

/* Reads one struct perf_event_attr of the bytes that it says itself, at most `room`. */
bool perf_kind_read(struct cursor *in, size_t room, struct perf_event_kind *out);

/* Adds ids of a kind: all words of 8 bytes that are left. */
void perf_kinds_add_ids(struct perf_kinds *k, struct cursor in, uint32_t kind);

/* The feature that names events (HEADER_EVENT_DESC); and the record that does, of which other
 * updates are passed over. Names of ids that are not known are dropped. */
void perf_kinds_describe(struct perf_kinds *k, struct cursor in);
void perf_kinds_update(struct perf_kinds *k, struct cursor in);

/* A name as perf would print it, out of type and config where the file has none. */
const char *perf_kind_name(const struct perf_kinds *k, uint32_t kind);

/* Whether weights are nanoseconds. */
bool perf_kind_is_clock(const struct perf_event_kind *k);

/* When the record was made, in perf's clock; 0: it does not say. */
uint64_t perf_kind_time(const struct perf_event_kind *k, struct bytes record);

/* The kind that the record is of; RECORDING_NONE: a sample of one that the file does not describe.
 */
uint32_t perf_kinds_of(const struct perf_kinds *k, struct bytes record, bool big_endian);

/* ---- The contents of a perf.data file, reported to the collector of our own recordings: it keeps
 * processes and mappings, unwinds, and makes a run of it all. */

/* Files by path, and the build-ids of what was recorded under it. */
struct perf_build_ids {
    struct intern paths;
    VEC(struct bytes) ids;
};

/* A kernel module, and where its code was. */
struct perf_module {
    const char *name; /* [NAME] */
    uint64_t start;
};

/* Where the kernel's code was. Addresses of the kernel are written as differences to its start,
 * since it lies elsewhere after each boot. */
struct perf_kernel {
    bool is_told;
    uint64_t start, anchor; /* of its mapping; and of the symbol that it is named after */
    char symbol[16];
    const char *release; /* as uname(2) names it; NULL: not known */
    VEC(struct perf_module) modules;
};

/* A sample whose user part of the stack comes later, in a record of its own. Owns the frames. */
struct perf_waiting {
    struct collector_sample sample;
    struct collector_chain chain;
    uint64_t cookie; /* which record that is */
    uint64_t ip;     /* where user code was interrupted; 0: it was in the kernel */
};

/* Those of one thread, in the order of time. */
struct perf_waiting_thread {
    VEC(struct perf_waiting) all;
};

/* What the records so far have said. Owns all of it. */
struct perf_replay {
    struct arena arena;
    struct map waiting_of; /* pid, tid -> index in `waiting` */
    VEC(struct perf_waiting_thread) waiting;
    struct perf_kinds kinds;
    struct perf_build_ids build_ids;
    struct perf_kernel kernel;
    const struct arch *arch;
    bool opens_no_files;
    uint64_t start_ns, end_ns;   /* 0: not known */
    struct collector *collector; /* made with the first record */
    struct map count_of;         /* id, thread -> index in `counts` */
    VEC(uint64_t) counts;        /* of members of groups, as they were last read */
    uint64_t samples, taken;     /* that the file has; that are in the run. The rest is lost */
    bool has_stacks, has_ids;    /* of stacks; of files */
};

void perf_replay_deinit(struct perf_replay *p);

/* A record as it stands in the file, in the order of time. Never fails: what cannot be used is lost
 * and counted. */
void perf_replay_record(struct perf_replay *p, struct bytes record);

/* Fills a zeroed run. */
void perf_replay_finish(struct perf_replay *p, struct recording *out);

/* A file's build-id, by the path under which it was mapped; a later one of a path replaces the
 * earlier one. */
void perf_replay_build_id(struct perf_replay *p, const char *path, struct bytes id);

/* Lists the names of the kernel's code in the run, if this machine runs the kernel that was
 * recorded, whose build-id is `id`; empty: it is not known. */
void perf_kernel_names(const struct perf_replay *p, struct bytes id, struct recording *out);

#endif
