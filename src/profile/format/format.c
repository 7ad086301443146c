/* The formats we know, and which of them a file is.
 *
 * A row is found by asking each in turn whether the bytes are its own; the first one that says yes
 * reads them. So the order matters: formats with a magic precede those that are known by the
 * consistency of their header alone, or a GNU file could pass for one of BSD. A probe may walk the
 * whole file, since that is the only evidence an old BSD file offers; it keeps nothing.
 *
 * Refused, with what was seen instead: fewer bytes than a header has, a "gmon" of a version that no
 * system writes, and bytes that fit no row. */
#include "profile/format/format.h"

#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

extern const struct format format_gmon, format_gmon0, format_sprof, format_bsd44, format_bsd;

const struct format *const formats[] = {&format_gmon, &format_gmon0, &format_sprof, &format_bsd44,
                                        &format_bsd};
const size_t formats_len = sizeof formats / sizeof *formats;

const struct format *format_named(const char *name)
{
    for (size_t i = 0; i < formats_len; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

/* A profile knows its format and, of GNU's, the version; that is a row. One made in memory has
 * neither and gets the first row, which can hold everything. */
const struct format *format_of(const struct profile *p)
{
    for (size_t i = 0; i < formats_len; i++)
        if (formats[i]->id == p->format && formats[i]->version == p->version)
            return formats[i];
    return formats[0];
}

/* Says what was seen instead; returns NULL. A file that begins with "gmon" is named apart from
 * others: its version is what is wrong with it, or the byte order that a hint asks for. */
static const struct format *no_format(struct bytes in, const char *name, struct err *e)
{
    char seen[3 * 8 + 1] = "";
    for (size_t i = 0; i < 8 && i < in.len; i++)
        snprintf(seen + 3 * i, 4, "%02x ", in.at[i]);
    if (in.len < 12)
        err_in(e, name, "%zu bytes are too few for a profile", in.len);
    else if (!memcmp(in.at, "gmon", 4))
        err_in(e, name,
               "begins with \"gmon\", but its version (bytes %.11s) is unknown or in the "
               "other byte order",
               seen + 12);
    else
        err_in(e, name,
               "unrecognised profile format: it begins with %sand its header fits no BSD system",
               seen);
    return NULL;
}

const struct format *format_probe(struct bytes in, const char *name, const struct format_hint *hint,
                                  struct err *e)
{
    for (size_t i = 0; i < formats_len; i++)
        if (formats[i]->probe(in, hint))
            return formats[i];
    return no_format(in, name, e);
}

/* Looks at 20 bytes: GNU's header, or old BSD's with words of 8 bytes. */
bool format_may_be(struct bytes first)
{
    enum { SHORTEST_HEADER = 20 };
    for (size_t i = 0; i < first.len && i < SHORTEST_HEADER; i++)
        if (first.at[i])
            return true;
    return false;
}

bool format_read(struct bytes in, const char *name, const struct format_hint *hint,
                 struct profile *out, struct err *e)
{
    const struct format *format = format_probe(in, name, hint, e);
    return format && format->read(in, name, hint, out, e);
}
