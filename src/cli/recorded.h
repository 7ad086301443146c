/* Opening a recording: the folder that the hosted recorder leaves for one process. */
#ifndef MONARC_CLI_RECORDED_H
#define MONARC_CLI_RECORDED_H

#include "analysis/stacks.h"
#include "cli/profiles.h"

/* Everything in a folder, and the files it speaks of. */
struct recorded {
    struct arena arena;
    struct recording recording;
    struct space space;
    struct profile profile; /* of all objects, at their places */
    struct stacks stacks;
    VEC(const char *) notes; /* what the recording lacks, as sentences */
    const char *missing;  /* an object with samples or calls whose file is not to be had, or NULL */
    const char *mismatch; /* why a file is not the recorded one, or NULL: all are */
};

struct recorded_options {
    struct profile_options read;
    const char *debug_dir;
    bool is_forced; /* files may differ from the recorded ones */
};

/* Whether the path is a folder. */
bool is_folder(const char *path);

/* DIR/monarc.side alone. The failure tells a folder without one what to do. */
MUST_CHECK bool recorded_read_sidecar(const char *folder, struct recording *r, struct err *e);

/* Reads the folder, opens the objects' files and compares build-ids, puts all functions into *f.
 * recorded_close() after failure, too; *f lives until then. */
MUST_CHECK bool recorded_open(struct recorded *r, const char *folder,
                              const struct recorded_options *o, struct functions *f, struct err *e);

/* Fills r->notes. */
void recorded_take_notes(struct recorded *r, const struct profile *p);
void recorded_close(struct recorded *r);

#endif
