/* Runs a program that was not compiled for coverage, and reports which of its basic blocks ran. */
#ifndef MONARC_RECORD_COVER_BLOCKS_H
#define MONARC_RECORD_COVER_BLOCKS_H

#include "base/err.h"
#include "base/map.h"
#include "objfile/object.h"

/* A program or shared object that some process had mapped. */
struct covered_object {
    char *path;
    struct object *object; /* NULL: could not be read */
    struct code_blocks blocks;
    bool *has_run;    /* of each block */
    bool is_left_out; /* the system's, which the user did not request */
    const char *why;  /* half a sentence why there are no blocks, or NULL */
    uint64_t unset;   /* blocks whose code in memory was not that of the file, or is not ours to
                         change */
};

struct covered_blocks {
    int status; /* the program's, as a shell has it */
    VEC(struct covered_object) objects;
    uint64_t processes;
    uint64_t left_alone;  /* programs that would not work while they are followed */
    const char *left_why; /* the last one's reason */
    uint64_t with_rights; /* of these, programs with rights of their files, which they kept */
    uint64_t
        tracers; /* programs with ptrace() in their code, which fails while they are followed */
};

/* Objects in folders of the system are left out, but for the program itself, unless `takes_all`.
 * False: the program could not be run or followed; the result is to be freed all the same. */
MUST_CHECK bool cover_blocks_run(char **argv, bool takes_all, struct covered_blocks *out,
                                 struct err *e);
void covered_blocks_deinit(struct covered_blocks *b);

#endif
