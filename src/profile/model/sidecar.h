/* What a hosted recorder knows of one process besides its gmon.out files: the process, the objects
 * that were mapped, threads, call stacks, calls between objects, what was lost.
 *
 * Addresses are as recorded. docs/formats/sidecar.md says what each means. A recording owns its
 * memory: recording_deinit() frees it. */
#ifndef MONARC_PROFILE_MODEL_SIDECAR_H
#define MONARC_PROFILE_MODEL_SIDECAR_H

#include "profile/model/profile.h"

enum sidecar_event {
    EVENT_CPU,
    EVENT_WALL,
    EVENT_PAGE_FAULTS,
    EVENT_CONTEXT_SWITCHES,
    EVENT_CYCLES,
    EVENT_INSTRUCTIONS,
    EVENT_CACHE_MISSES,
    EVENT_BRANCH_MISSES,
    EVENTS
};

struct process_facts {
    uint32_t pid, parent;
    uint64_t start_real_ns, start_ns, end_ns, cpu_ns; /* all but the first: CLOCK_MONOTONIC, CPU */
    uint64_t samples, sampled_ns;
    uint64_t millihertz; /* measured; 0 for events that are no clocks */
    uint32_t rate;       /* asked for */
    uint32_t event;      /* enum recorded_event */
    uint32_t clock;      /* 0 none, 1 perf_event_open, 2 timer of each thread, 3 ITIMER_PROF */
    uint32_t written; /* because: 0 it was recovered, 1 exit, 2 exec, 3 request, 256 + n signal n */
};

enum { BUILD_ID_BYTES = 32 };

struct sidecar_object {
    uint32_t id;
    bool is_executable, is_unloaded;
    uint64_t start, end, bias; /* link address = address - bias */
    uint64_t text_low, text_high;
    uint32_t build_id_bytes;
    uint8_t build_id[BUILD_ID_BYTES];
    const char *path; /* "" for the vdso */
    const char *gmon; /* a name in the recording's folder */
};

struct sidecar_thread {
    uint32_t id, state; /* 1 running, 2 ended */
    uint64_t start_ns, end_ns, cpu_ns, samples;
    char name[17];
    uint64_t root; /* parent of its outermost frames; 0 or 1: not told from other threads' */
};

/* One frame in one context. */
struct stack_node {
    uint64_t id, parent; /* outermost: 1, or a thread's root */
    uint64_t address;    /* 0: all frames beyond the innermost ones */
    uint64_t hits;       /* samples with this frame innermost */
};

struct sidecar_loss {
    uint32_t reason;
    uint64_t count;
    const char *text;
};

struct sidecar_mark {
    uint64_t at_ns, cpu_ns, samples;
    uint32_t kind, thread; /* kind: 0 phase, 1 region begins, 2 region ends */
    char name[65];
};

struct sidecar_text {
    const char *key, *value;
};

struct sidecar {
    struct arena arena; /* texts */
    uint8_t word;
    bool big_endian;
    struct process_facts process;
    VEC(struct sidecar_text) texts;
    VEC(struct sidecar_object) objects;
    VEC(struct arc) arcs; /* whose ends lie in different objects, or in none */
    VEC(struct sidecar_thread) threads;
    VEC(struct stack_node) nodes;
    VEC(struct sidecar_loss) losses;
    VEC(struct sidecar_mark) marks;
};

void sidecar_deinit(struct sidecar *r);

/* Puts objects in the order of addresses, once all are known; readers do. */
void sidecar_sort_objects(struct sidecar *r);

/* The object that holds an address, or NULL. Objects must be in order. */
const struct sidecar_object *sidecar_object_at(const struct sidecar *r, uint64_t address);

const struct sidecar_object *sidecar_executable(const struct sidecar *r); /* or NULL */

/* Whether the two are one file: loaded again after it was unloaded. */
bool sidecar_object_same(const struct sidecar_object *a, const struct sidecar_object *b);

/* The first value of a key, or NULL. */
const char *sidecar_text(const struct sidecar *r, const char *key);

/* The name of an event, as MONARC_EVENT takes it; the dimension and abbreviation in gmon.out.
 * Events that nobody knows are NULL. */
const char *event_name(uint32_t event);
const char *event_dimension(uint32_t event, char *abbreviation);

/* Lost calls and samples, all reasons together. */
uint64_t sidecar_lost(const struct sidecar *r);

#endif
