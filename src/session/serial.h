/* Reading from a serial line. */
#ifndef MONARC_SESSION_SERIAL_H
#define MONARC_SESSION_SERIAL_H

#include "base/err.h"

#include <termios.h>

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
