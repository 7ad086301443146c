/* Address spaces of programs that are followed (follow.h): what is mapped in them, and their bytes.
 *
 * A space is what a program's memory is from its exec, or its copy by fork, until the last process
 * has left it. Threads share one, and so do vfork() and clone(CLONE_VM): what counts in memory
 * counts once, however many processes do. */
#ifndef MONARC_RECORD_SPACE_H
#define MONARC_RECORD_SPACE_H

#include "base/map.h"
#include "base/vec.h"
#include "objfile/object.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Functions at which a breakpoint stands. */
enum space_place {
    SPACE_LINKER, /* the dynamic linker is about to unmap objects, or has mapped some */
    SPACE_EXEC,   /* the C library is about to execute a program */
    SPACE_PLACES
};
enum { SPACE_CODE = 8 };

/* A program or shared object. Read once, however many processes map it. */
struct space_file {
    char *path; /* as its first process has it */
    VEC(struct object_segment) code;
    struct space_function {
        uint64_t address; /* where it is linked; 0: the file has none */
        uint8_t code[SPACE_CODE];
    } places[SPACE_PLACES];
    uint8_t word; /* of a pointer */
    void *facts;  /* the caller's, or NULL */
};

struct space_files {
    struct map numbers; /* device and inode, time of change -> index */
    VEC(struct space_file *) at;
    /* What the caller keeps of a file; `o` is NULL if it cannot be read. *keeps: it closes it. */
    void *(*read)(void *context, struct object *o, const char *path, bool *keeps);
    void *context;
};
void space_files_deinit(struct space_files *files);

/* A file's code in a space. */
struct space_image {
    struct space_file *file;
    uint64_t start, end, bias; /* bias: how far from where it was linked */
    bool is_private;           /* what is written there is the space's alone */
};

struct space_range {
    uint64_t start, end;
    bool is_private; /* and may be written to by the program */
};

struct space {
    int memory, maps; /* of the kernel's files; -1: refused. They outlive the first thread, and
                         rights that a process gives up */
    unsigned users;   /* processes */
    unsigned running; /* threads that have not come to their end */
    bool is_program;  /* no copy of ours, which has not executed the program yet */
    VEC(struct space_image) images;
    VEC(struct space_range) ranges; /* what can be read, by address */
    void *state;                    /* the caller's */
};

/* Opens the space of a thread that is stopped. */
struct space *space_open(pid_t tid);
void space_close(struct space *s);

/* Lists what is mapped by now. `tid`: a living thread of it. False: that cannot be known. */
bool space_look(struct space *s, pid_t tid, struct space_files *files);

/* Whether all of it was mapped at the last look; `is_private`: and is the program's own to change.
 */
bool space_holds(const struct space *s, uint64_t at, uint64_t len, bool is_private);
uint64_t space_size(const struct space *s); /* bytes that can be read */

/* All of it or nothing. */
bool space_read(const struct space *s, uint64_t at, void *to, size_t len);
bool space_write(const struct space *s, uint64_t at, const void *bytes, size_t len);

/* Sets the breakpoints of all files that are mapped, and takes them away. */
void space_set_breakpoints(struct space *s);
void space_clear_breakpoints(struct space *s);

/* The breakpoint at an address: its image, or NULL; and what it is for. */
const struct space_image *space_breakpoint(const struct space *s, uint64_t at,
                                           enum space_place *place);

/* Goes on after it as its first instruction would, for a thread that it has stopped. One whose
 * instruction is not known gets its code back; the breakpoint is then gone until the next look. */
bool space_pass_breakpoint(struct space *s, const struct space_image *image, enum space_place place,
                           pid_t tid);

#endif
