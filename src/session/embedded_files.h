/* What came from an embedded target, as bytes, and the files that are made of it in a folder:
 *
 *     gmon.out            calls and samples
 *     gmon.stack.out      stack depths, if they were sampled
 *     monarc.memory       the recorder's memory as it came: its report on itself
 *     PATH.gcda, .gcno    coverage, below the folder under the names they were compiled with
 */
#ifndef MONARC_SESSION_EMBEDDED_FILES_H
#define MONARC_SESSION_EMBEDDED_FILES_H

#include "base/bytes.h"
#include "base/err.h"
#include "objfile/object.h"
#include "output/out.h"
#include "profile/model/profile.h"

#include <termios.h>

#define EMBEDDED_MEMORY_NAME "monarc.memory"

/* The folder is made if need be. */
struct embedded_request {
    const char *folder;
    struct object *program; /* or NULL */
    bool is_forced;         /* also if the program is another one */
};

/* Recognises what the bytes are (memory images, alone or in a dump; a stream of coverage; both, one
 * after the other; a gmon.out) and writes the files; says on `out` what was written and what was
 * lost. Nothing is written if anything is damaged. */
MUST_CHECK bool embedded_files_write(struct bytes in, const char *name,
                                     const struct embedded_request *request, struct out *out,
                                     struct err *e);

/* The recorder's memory beside a profile, for its report on itself; false if there is none. */
bool embedded_beside(const char *profile, struct embedded *out);

/* Reading from a serial line. */

/* An open line. Zeroed it is no line: serial_open() fills it. */
struct serial {
    int fd;
    const char *path;
    uint32_t timeout_seconds; /* 0: none */
    bool has_before;
    struct termios before; /* put back by serial_close() */
};

/* Whether the path is a terminal device other than the one that standard input is. */
bool serial_is_line(const char *path);

/* Opens it raw, with 8 bits and no parity. serial_close() after failure, too. */
MUST_CHECK bool serial_open(struct serial *s, const char *path, uint32_t baud,
                            uint32_t timeout_seconds, struct err *e);

/* Waits for bytes. *n is 0 at the end of the line, or when nothing came in time. */
MUST_CHECK bool serial_read(struct serial *s, uint8_t *to, size_t size, size_t *n, struct err *e);
void serial_close(struct serial *s);

#endif
