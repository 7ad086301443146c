/* The files of recordings: the file of a run, version 2 of `monarc.side`, which `monarc run`
 * writes; and those of a recorder inside a process, version 1, below.
 *
 *     u32 magic, version 2, byte order | record | record | ... | END
 *     record: u32 tag | u64 n | n bytes
 *
 * In payloads numbers are LEB128 (v): seven bits a byte, the lowest first, bit 7 set in all but the
 * last. Those with a sign (z) are zigzag: 0, -1, 1, -2 as 0, 1, 2, 3. A text is its number in
 * STRINGS plus one, 0 for none; so is an index that may be missing. The bytes in full:
 * docs/formats/recording.md. */
#ifndef MONARC_PROFILE_FORMAT_RECORDING_FILE_H
#define MONARC_PROFILE_FORMAT_RECORDING_FILE_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/format/format.h"
#include "profile/model/recording_lists.h"

enum { RECORDING_FILE_VERSION = 2 };

/* Whether the bytes begin as a sidecar of version 2 does. */
bool recording_probe(struct bytes in);

/* Reads a whole file into a zeroed *out, and checks it (recording_check()). After a failure *out
 * holds what came before and must still be freed; it may break the rules of a run. */
MUST_CHECK bool recording_read(struct bytes in, const char *name, struct recording *out,
                               struct err *e);

/* Appends the file to `w`. The run must pass recording_check(). What the root has
 * besides being there is not written, nor are arcs and blocks if there are none. */
void recording_write(struct writer *w, const struct recording *r);

/* Bits of a sample's first number, below its node. */
enum recording_sample_bit {
    RECORDING_SAMPLE_MOVED = 1,    /* slice, thread or event are not those of the sample before */
    RECORDING_SAMPLE_WEIGHTED = 2, /* the weight is not count times the event's period */
    RECORDING_SAMPLE_MANY = 4,     /* the count is not 1 */
    RECORDING_SAMPLE_BITS = 3
};

/* Bits of an object: the booleans of struct recording_object. */
enum recording_object_bit {
    RECORDING_OBJECT_DELETED = 1,
    RECORDING_OBJECT_HAS_UNWIND = 2,
    RECORDING_OBJECT_LISTED = 4,
    RECORDING_OBJECT_READ = 8,
    RECORDING_OBJECT_BITS = 15
};

/* Every step is a bijection of the sum so far, so that damage within one word of eight bytes is
 * always seen. The length goes in first, so that files that differ only in zeros
 * at their end have different sums. */
static inline uint64_t recording_checksum(struct bytes b)
{
    uint64_t sum = UINT64_C(0x9e3779b97f4a7c15) ^ b.len;
    for (size_t i = 0; i < b.len; i += 8) {
        uint64_t word = 0;
        memcpy(&word, b.at + i, b.len - i < 8 ? b.len - i : 8);
        sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
        sum ^= sum >> 32;
    }
    return sum;
}

/* ---- what a recorder inside a process leaves (sidecar.c, live.c)
 *
 * What it leaves in its folder, besides a gmon.out for each object:
 * `monarc.side`, the sidecar, when it could finish; `monarc.live`, its tables, when it was killed.
 *
 * A sidecar is read straight into a `struct recording`. Live tables become the files that the
 * recorder would have written (`monarc recover`), and those are read. docs/formats/sidecar.md draws
 * the bytes of both. Addresses are those of the running process, unless said otherwise.
 *
 *     monarc.side   u32 magic, version, byte order, pointer size | record | ... | END
 *     record        u32 tag, n | n bytes | zeros up to a multiple of 8
 *
 *     monarc.live   header page of 4096 bytes | extent | extent | ...
 *     extent        64 bytes: u32 magic, kind, u64 bytes, cells, first id, ..., checksum of these
 *                   then cells of 32 bytes {u64, u64, u64 count, u64}, or records as above
 *
 * The recorder maps the live file and works in it, so that it is there however the process ends. */

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

/* Lists them, without opening one: a reader gets bytes, and its caller knows where the folder is.
 * Arrays and names are in `a`. Fails as sidecar_read() does, and if a name leads out of
 * the folder. */
MUST_CHECK bool sidecar_list(struct bytes in, const char *name, struct arena *a,
                             struct sidecar_profiles *out, struct err *e);

/* Reads a whole sidecar into a zeroed *out, as a recording of one process: stacks as samples (or
 * the histograms of `profiles`, if there are no stacks), calls and blocks of `profiles`, calls
 * between objects. Fails for a wrong checksum, records that do not fit, a sidecar without an
 * executable; then *out must still be freed. `profiles` are those of sidecar_list() for the same
 * bytes; a profile that is missing is left zeroed. Times become relative to the process's start. */
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

/* All objects of a process; sorted by `start` after process_objects_sort(). Where ranges
 * overlap, because one file was loaded after another was unloaded, the one that starts last is
 * found. */
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

/* The PROCESS record. Numbers are as the recorder has them: `event` and `clock` are its
 * enumerators, `written` is why it wrote the file (add_process_texts() in sidecar.c knows their
 * names). */
struct process_facts {
    uint32_t pid, parent;
    uint64_t start_real_ns, start_ns, end_ns, cpu_ns; /* all but the first: CLOCK_MONOTONIC, CPU */
    uint64_t samples, sampled_ns;
    uint64_t millihertz; /* measured; 0 for events that are no clocks */
    uint32_t rate;       /* requested */
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
/* Adds up equal keys, sorts objects, separates calls between objects from those within one, moves
 * blocks to their starts, and works out the measured rate. Once, before live_profile() and
 * live_sidecar(). */
void live_finish(struct live_tables *t);
void live_deinit(struct live_tables *t);

/* The profile of object `i` with link addresses, into a zeroed *out: fails if there is nothing in
 * it, or if an object before it has the same file. */
MUST_CHECK bool live_profile(const struct live_tables *t, size_t i, struct profile *out);

/* Appends the sidecar to `w`, in the byte order and pointer size of the recorder: the same that it
 * would have written at its end, but for losses that only the running recorder knew. */
void live_sidecar(const struct live_tables *t, struct writer *w);

/* The path of the executable, or NULL. */
const char *live_executable(const struct live_tables *t);

/* ---- of both files */

/* Takes the next record, without what it is padded with: *payload is a cursor over it alone. Fails
 * if the file ends before the record does. Unknown tags are taken like any other. */
MUST_CHECK bool sidecar_next(struct cursor *in, uint32_t *tag, struct cursor *payload);

/* Takes the payload of an OBJECT record; a later one of an id replaces the earlier one. Fails for
 * objects that end before they start, build-ids that are too long, and the 65,537th object:
 *
 *     u32 id, flags (1: executable) | u64 start, end, bias, text low, text high
 *     u32 build-id bytes, 0 | 32 bytes of build-id | path NUL | name of its profile NUL */
MUST_CHECK bool process_objects_read(struct process_objects *objects, struct cursor payload,
                                     struct arena *a);

/* Puts them in the order of addresses, which process_object_at() needs. */
void process_objects_sort(struct process_objects *objects);

/* The object that holds an address, or NULL. Objects must be sorted; time log n. */
const struct process_object *process_object_at(const struct process_objects *objects,
                                               uint64_t address);

/* Whether the two are one file: loaded again after it was unloaded. */
bool process_object_same(const struct process_object *a, const struct process_object *b);

/* FNV-1a of 64 bits: what END has of all bytes before it, and a live file's headers of their first
 * 56. It finds damage, not malice. */
uint64_t sidecar_checksum(struct bytes b);

#endif
