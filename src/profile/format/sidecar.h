/* What a recorder inside a process leaves in its folder, besides a gmon.out for each object:
 * `monarc.side`, the sidecar, when it could finish; `monarc.live`, its tables, when it was killed.
 *
 * A sidecar is read straight into a `struct recording`. Live tables become the files that the
 * recorder would have written (`monarc recover`), and those are read. docs/formats/sidecar.md draws
 * the bytes of both. Addresses are those of the running process, unless said otherwise. */
#ifndef MONARC_PROFILE_FORMAT_SIDECAR_H
#define MONARC_PROFILE_FORMAT_SIDECAR_H

#include "base/bytes.h"
#include "profile/format/format.h"
#include "profile/model/recording.h"

/* ---- the sidecar */

/* Whether the bytes begin as a sidecar does. */
bool sidecar_probe(struct bytes in);

/* The profiles that a sidecar names, one for each of its objects, in the order of addresses. */
struct sidecar_profiles {
    size_t len;
    const char **names;       /* files beside it; NULL: an object that another one has already */
    struct profile *profiles; /* zeroed: the caller reads those that are there, and frees them */
    struct format_hint hint;  /* how they were written */
};

/* Lists them; arrays and names are in `a`. Fails as sidecar_read() does, and if a name leads out of
 * the folder. */
MUST_CHECK bool sidecar_list(struct bytes in, const char *name, struct arena *a,
                             struct sidecar_profiles *out, struct err *e);

/* Reads a whole sidecar into a zeroed *out, as a recording of one process: stacks as samples (or
 * the histograms of `profiles`, if there are no stacks), calls and blocks of `profiles`, calls
 * between objects. Fails for a wrong checksum, records that do not fit, a sidecar without an
 * executable; then *out must still be freed. */
MUST_CHECK bool sidecar_read(struct bytes in, const char *name,
                             const struct sidecar_profiles *profiles, struct recording *out,
                             struct err *e);

/* ---- live tables */

/* A file as it was mapped; one that was loaded twice is two objects. */
struct process_object {
    uint32_t id, number; /* the recorder's; of the recording's object, once sidecar_read() has it */
    bool is_executable;
    uint64_t start, end, bias; /* link address = address - bias */
    uint64_t text_low, text_high;
    uint32_t build_id_bytes;
    uint8_t build_id[RECORDING_BUILD_ID_BYTES];
    const char *path;    /* "" for the vdso */
    const char *gmon;    /* the name of its profile in the folder */
    struct bytes record; /* its payload in the file */
};

struct process_objects {
    VEC(struct process_object) list;
};

/* One frame in one context. */
struct stack_node {
    uint64_t id, parent; /* outermost: MONARC_ROOT_NODE, or a thread's root */
    uint64_t address;    /* 0: all frames beyond the innermost ones */
    uint64_t hits;       /* samples with this frame innermost */
};

struct stack_nodes {
    VEC(struct stack_node) list;
};

/* The PROCESS record. */
struct process_facts {
    uint32_t pid, parent;
    uint64_t start_real_ns, start_ns, end_ns, cpu_ns; /* all but the first: CLOCK_MONOTONIC, CPU */
    uint64_t samples, sampled_ns;
    uint64_t millihertz; /* measured; 0 for events that are no clocks */
    uint32_t rate;       /* asked for */
    uint32_t event, clock, written;
};

/* Tables of a recorder that was killed. A key may stand in them any number of times, and counts to
 * be taken off are negated, until live_finish() leaves one entry a key. Payloads point into the
 * file. */
struct live_tables {
    struct arena arena;
    uint8_t word;
    bool big_endian, has_tables;
    struct process_facts process;
    struct process_objects objects;
    VEC(struct arc) arcs, between; /* all; those whose ends lie in different objects, or in none */
    struct stack_nodes nodes;
    VEC(struct block) taken;  /* samples to be taken off, by address */
    VEC(struct block) blocks; /* by return address of the hook; when finished: by their start */
    VEC(uint64_t) block_starts;
    VEC(struct bytes) threads, texts, marks, losses; /* payloads of records of their kinds */
    uint64_t thread_samples, thread_ns;              /* of the threads that say how long they ran */
};

/* Reads into a zeroed *out. Nothing but the header page is insisted on, since a killed recorder
 * leaves whatever it was doing: damaged extents are passed over, one that is cut off is read as far
 * as it goes. live_deinit() after failure, too. */
MUST_CHECK bool live_read(struct bytes in, const char *name, struct live_tables *out,
                          struct err *e);
void live_finish(struct live_tables *t);
void live_deinit(struct live_tables *t);

/* The profile of object `i` with link addresses, into a zeroed *out: fails if there is nothing in
 * it, or if an object before it has the same file. */
MUST_CHECK bool live_profile(const struct live_tables *t, size_t i, struct profile *out);

/* The sidecar, in the byte order and pointer size of the recorder. */
void live_sidecar(const struct live_tables *t, struct writer *w);

/* The path of the executable, or NULL. */
const char *live_executable(const struct live_tables *t);

/* ---- of both files */

/* Takes the next record, without what it is padded with. */
MUST_CHECK bool sidecar_next(struct cursor *in, uint32_t *tag, struct cursor *payload);

/* Takes the payload of an OBJECT record; a later one of an id replaces the earlier one. */
MUST_CHECK bool process_objects_read(struct process_objects *objects, struct cursor payload,
                                     struct arena *a);

/* Puts them in the order of addresses, which process_object_at() needs. */
void process_objects_sort(struct process_objects *objects);

/* The object that holds an address, or NULL. */
const struct process_object *process_object_at(const struct process_objects *objects,
                                               uint64_t address);

/* Whether the two are one file: loaded again after it was unloaded. */
bool process_object_same(const struct process_object *a, const struct process_object *b);

/* FNV-1a of 64 bits. */
uint64_t sidecar_checksum(struct bytes b);

#endif
