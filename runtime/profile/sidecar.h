/* The sidecar: what gmon.out cannot say. Specification: docs/formats/sidecar.md. Many
 * of its records stand in the live file already: see notes.h. */
#ifndef MONARC_PROFILE_SIDECAR_H
#define MONARC_PROFILE_SIDECAR_H

#include "gmon.h"

/* Why the files were written; a wire value. From WRITTEN_SIGNAL up: that plus the signal. */
enum written { WRITTEN_EXIT = 1, WRITTEN_EXEC = 2, WRITTEN_REQUEST = 3, WRITTEN_SIGNAL = 256 };

enum mark_kind { MARK_PHASE, MARK_REGION_BEGIN, MARK_REGION_END };

struct mark {
    uint64_t mono_ns, cpu_ns, samples;
    uint32_t kind, tid;
    char name[64];
    struct mark *next; /* newest first */
};

void side_mark(struct process *p, enum mark_kind kind, const char *name);

bool side_write(struct process *p, struct output *out, const char *path, const struct measured *m,
                uint32_t written);

#endif
