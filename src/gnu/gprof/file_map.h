/* GNU gprof's -R map: which file each function came from, `FILE: ... FUNCTION` a line.
 *
 * What GNU makes of such a line: the file is the text up to the first colon, the function what
 * follows the last space. Of neighbouring lines with the same file only the first one counts; the
 * functions of the others vanish. If a function is named twice, a binary search decides which line
 * it meets. Files and rests of lines are cut at 1023 bytes. */
#ifndef MONARC_GNU_GPROF_FILE_MAP_H
#define MONARC_GNU_GPROF_FILE_MAP_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct mapped {
    const char *file, *function;
    bool is_first; /* of a run of lines with this file */
};

struct file_map {
    struct mapped *at; /* by function; equal ones as they came */
    uint32_t len;
};

/* False if a line has no colon, no space behind it, or no file, or there is no line at all. (GNU
 * gprof says so of some of these and crashes on others.) */
MUST_CHECK bool file_map_read(struct file_map *m, struct bytes text, struct arena *a);

/* The line of a function, or NULL. */
const struct mapped *file_map_find(const struct file_map *m, const char *function);

#endif
