/* What a perf.data file tells, told to the collector of our own recordings: it keeps processes and
 * mappings, unwinds, and makes a run of it all. */
#ifndef MONARC_PROFILE_IMPORT_PERF_REPLAY_H
#define MONARC_PROFILE_IMPORT_PERF_REPLAY_H

#include "base/map.h"
#include "profile/import/perf_event.h"
#include "record/collector.h"

/* Files by path, and the build-ids of what was recorded under it. */
struct perf_build_ids {
    struct intern paths;
    VEC(struct bytes) ids;
};

struct perf_module {
    const char *name; /* [NAME] */
    uint64_t start;
};

/* Where the kernel's code was. */
struct perf_kernel {
    bool is_told;
    uint64_t start, anchor; /* of its mapping; and of the symbol that it is named after */
    char symbol[16];
    VEC(struct perf_module) modules;
};

struct perf_replay {
    struct arena arena;
    struct perf_kinds kinds;
    struct perf_build_ids build_ids;
    struct perf_kernel kernel;
    const struct arch *arch;
    bool opens_no_files;
    uint64_t start_ns, end_ns;   /* 0: not known */
    struct collector *collector; /* made with the first record */
    uint64_t samples, taken;     /* that the file has; that are in the run. The rest is lost */
    bool has_stacks, has_ids;    /* of stacks; of files */
};

void perf_replay_deinit(struct perf_replay *p);

/* A record as it stands in the file, in the order of time. */
void perf_replay_record(struct perf_replay *p, struct bytes record);

/* Fills a zeroed run. */
void perf_replay_finish(struct perf_replay *p, struct recording *out);

/* A file's build-id, by the path under which it was mapped. */
void perf_replay_build_id(struct perf_replay *p, const char *path, struct bytes id);
struct bytes perf_replay_known_id(const struct perf_replay *p, const char *path);

/* perf_kernel.c: lists the names of the kernel's code in the run, if this machine runs the kernel
 * that was recorded. */
void perf_kernel_names(const struct perf_replay *p, struct recording *out);

#endif
