/* Paths as texts: nothing here asks the file system. */
#ifndef MONARC_BASE_PATH_H
#define MONARC_BASE_PATH_H

#include "base/arena.h"
#include "base/bytes.h"

/* Whether there is a folder; NULL is none. */
bool path_is_folder(const char *path);

/* What follows the last slash; the whole path if there is none. */
const char *path_base_name(const char *path);

/* The length of the part before the last slash; 0 if there is none, and of "/". */
size_t path_folder_length(const char *path);

/* The last `parts` components; "" of NULL. */
const char *path_tail(const char *path, unsigned parts);

/* Whether its name is that of a shared library: libc.so.6, plugin.so. */
bool path_is_library(const char *path);

bool path_has_suffix(const char *path, const char *suffix);

/* The length of the path without the suffix of its last component; all of it if that has none. */
size_t path_stem_length(const char *path);

/* Whether it begins with one of the texts, the last of which is NULL: folders, or names of files
 * that a version follows. */
bool path_begins_with(const char *path, const char *const *beginnings);

/* Whether `path` is `end` or ends in it after a slash. */
bool path_ends_in(const char *path, const char *end);

/* What follows `folder` in `path`: from the slash on, or "" where they are the same; NULL if it is
 * not below it. A slash at the end of `folder` is no part of it: "/" has all that is absolute. */
const char *path_below(const char *path, const char *folder);

/* How many bytes at the end of two paths are equal, by whole names; 0: not even the last name is.
 */
size_t path_alike(const char *left, const char *right);

/* The path with `//`, `.` and `..` taken out as far as text alone allows; in `a`. */
char *path_tidy(const char *path, struct arena *a);

/* What was recorded below `from` is below `to`. Neither ends in a slash: the root is "". */
struct path_map {
    const char *from, *to;
};

/* FROM=TO, FROM not empty; else false. The texts are copied into `a`. */
bool path_map_parse(const char *rule, struct arena *a, struct path_map *out);

/* The path below `to`, in `a`; NULL if it is not below `from`. */
char *path_map_apply(const struct path_map *m, const char *path, struct arena *a);

/* MD5 (RFC 1321), for names alone: it protects nothing. */

void md5(struct bytes in, uint8_t digest[16]);

#endif
