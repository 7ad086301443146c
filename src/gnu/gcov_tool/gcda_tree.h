/* All gcda files below a folder, read, and written below another under the same names. */
#ifndef MONARC_GNU_GCOV_TOOL_GCDA_TREE_H
#define MONARC_GNU_GCOV_TOOL_GCDA_TREE_H

#include "base/file.h"
#include "output/out.h"
#include "coverage/model/coverage.h"

struct gcda_file {
    char *name; /* relative: "./sub/a.gcda" */
    struct file_buffer buffer;
    struct counters counters;
    uint32_t partner; /* for whoever pairs two trees */
    bool is_bad;      /* could not be read whole; said so already */
};

struct gcda_tree {
    VEC(struct gcda_file) files;
    unsigned bad;
};

/* Reads the files below `folder`, in the order in which the system lists them. What is wrong with
 * one is a line on `complaints`. Fails if the folder cannot be entered. */
MUST_CHECK bool gcda_tree_read(const char *folder, struct gcda_tree *out, struct out *complaints,
                               struct out *verbose, struct err *e);

/* Writes all but the bad ones below `folder`, which is made if need be. */
MUST_CHECK bool gcda_tree_write(const char *folder, const struct gcda_tree *tree, struct err *e);
void gcda_tree_deinit(struct gcda_tree *tree);

/* Writes one file; makes the folders on its way. */
MUST_CHECK bool gcda_file_write(const char *path, const struct counters *c, struct err *e);

#endif
