/* Formatting of the one-line errors.
 *
 * A message is put together in place: the input's name (500 bytes of it at most, so that a hostile
 * name leaves room for the sentence), the offset, the sentence. What does not fit is cut; control
 * bytes become `?`, as names come from archives, debug information and command lines, and a
 * terminal obeys what it is sent. UTF-8 goes through.
 *
 * All return false, so that `return err_in(...)` is the whole failure path of a caller. */
#include "base/err.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends to e->line, truncating. No controls, tabs and newlines among them: tools read messages
 * line by line. */
static void append(struct err *e, const char *format, va_list args)
{
    size_t used = strlen(e->line);
    vsnprintf(e->line + used, sizeof e->line - used, format, args);
    hide_controls(e->line, strlen(e->line));
}

/* What precedes the sentence. */
static void PRINTF_LIKE(2, 3) start(struct err *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    e->line[0] = '\0';
    e->system = 0;
    append(e, format, args);
    va_end(args);
}

bool err_set(struct err *e, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    e->line[0] = '\0';
    e->system = 0;
    append(e, format, args);
    va_end(args);
    return false;
}

bool err_in(struct err *e, const char *input, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    start(e, "%.500s: ", input);
    append(e, format, args);
    va_end(args);
    return false;
}

bool err_at(struct err *e, const struct cursor *in, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    start(e, "%.500s: at offset %zu: ", in->name, cursor_offset(in));
    append(e, format, args);
    va_end(args);
    return false;
}

bool err_errno(struct err *e, const char *input, int errno_value)
{
    err_in(e, input, "%s", strerror(errno_value));
    if (e)
        e->system = errno_value;
    return false;
}

/* ENOENT, EACCES, ENOTDIR and the like are answers about the file; these are not. */
bool errno_is_trouble(int errno_value)
{
    switch (errno_value) {
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ESTALE:
    case ETIMEDOUT: return true;
    default: return false;
    }
}

bool errno_hides_file(int errno_value)
{
    return errno_value == EACCES || errno_value == EPERM || errno_is_trouble(errno_value);
}
