/* The files that processes have mapped to run code from, each once, and what unwinding needs of
 * them.
 *
 * A file is opened when its first sample comes, while the process that mapped it is likely to live:
 * a file that was deleted or replaced since is looked for through /proc. Objects of a run and
 * images have the same numbers. */
#ifndef MONARC_RECORD_IMAGES_H
#define MONARC_RECORD_IMAGES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/model/recording.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct object;

/* A file, or a stand-in for code in no file, and its opened parts. Owned by struct images. */
struct image {
    struct recording_object object; /* what the run will say */
    uint64_t device, inode;         /* 0: by build-id */
    uint32_t told_bytes; /* of the build-id, by who mapped it; may come from the file later */

    /* For opening: one process that had it, and where. */
    pid_t pid;
    uint64_t start, end, offset;

    bool is_opened;                       /* has been tried */
    uint64_t opened_device, opened_inode; /* 0: not under its own path */
    struct object *file;                  /* NULL: not to be had */
    struct unwind_tables *tables;
    VEC(struct image_segment) segments;
};

/* Of the file's executable segments: what turns offsets in the file into link addresses. */
struct image_segment {
    uint64_t offset, size, address;
};

/* All that was mapped. Numbers are places in `all`, and those of the run's objects. */
struct images {
    struct arena arena; /* paths */
    VEC(struct image *) all;
    struct map by_identity;
    const struct arch *arch;
    bool is_replayed; /* files are looked for under their paths and among those that perf keeps,
                         and known by their build-ids alone */
    bool opens_nothing;
    uint64_t too_few_descriptors; /* files that could not be opened for want of one */
    struct bytes vdso_id;         /* replayed: of the vDSO that was mapped */
};

/* A file as a mapping describes it. */
struct image_identity {
    const char *path;
    struct bytes build_id;
    uint64_t device, inode;
    pid_t pid;
    uint64_t start, end, offset; /* where, and of what is there in the file */
};

void images_init(struct images *s, const struct arch *arch);
void images_deinit(struct images *s);

/* The number of a file, or of an object that is no file. */
uint32_t images_file(struct images *s, const struct image_identity *id);
/* The same for one whose functions the caller will list: it is not opened. */
uint32_t images_listed(struct images *s, const struct image_identity *id);
uint32_t images_other(struct images *s, enum recording_object_kind kind, uint32_t process);

/* Whether what a process has mapped is an ELF file, as the process shows it now. */
bool images_is_elf(const struct image_identity *id);

/* Opens it, once; NULL if it cannot be had. The vDSO is read out of our own memory. */
struct object *images_open(struct images *s, uint32_t image);

/* Gives away the file that was opened of an image, or NULL; nothing of the image is unwound after.
 */
struct object *images_take_file(struct images *s, uint32_t image);

/* Marks a file that has been opened and is no more where it was. */
void images_look_again(struct images *s, uint32_t image);

/* The link address of what is at `offset` in the file; where the file is not to be had, where
 * linkers put programs that are no PIE, or the offset itself. */
uint64_t images_link_address(struct images *s, uint32_t image, uint64_t offset);

/* --- what is mapped where in a process, as far as code goes --------------------------------------
 */

/* A list for each process, disjoint and by address.
 *
 * A forked child starts with its parent's mappings; they share one list until either changes it. */

struct mapping {
    uint64_t start, end; /* [start, end) */
    uint64_t offset;     /* of `start` in the image */
    uint32_t image;
};

struct mappings {
    uint32_t users;
    VEC(struct mapping) all; /* by address, disjoint */
};

struct mappings *mappings_new(void);
/* One more user of the list; each calls mappings_release(). */
struct mappings *mappings_share(struct mappings *m);
void mappings_release(struct mappings *m); /* NULL is none */

/* Puts one in, in place of whatever was in its range. *m may be replaced by a copy. */
void mappings_put(struct mappings **m, const struct mapping *one);

/* The mapping that holds the address, or NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);

#endif
