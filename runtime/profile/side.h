/* The sidecar: what gmon.out cannot say. Specification: docs/formats/sidecar.md. The same records
 * go into the live file's notes as they become known. */
#ifndef MONARC_HOSTED_SIDE_H
#define MONARC_HOSTED_SIDE_H

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

/* Command line and environment into memory, once, before the program can change them. */
void side_read_command(void);
/* Losses, command line and load map as known so far, into a new live file. Lock held. */
void side_note_all(struct process *p);
void side_note_object(struct process *p, struct object *o);
void side_mark(struct process *p, enum mark_kind kind, const char *name);

bool side_write(struct process *p, struct output *out, const char *path, const struct measured *m,
                uint32_t written);
/* The file name of an object's gmon.out. Built in p->other. */
const char *side_gmon_name(struct process *p, const struct object *o);

#endif
