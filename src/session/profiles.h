/* Profiles as commands take them: options that say what the files do not, and reading many files
 * into one sum. */
#ifndef MONARC_SESSION_PROFILES_H
#define MONARC_SESSION_PROFILES_H

#include "base/file.h"
#include "command/command.h"
#include "output/out.h"
#include "profile/format/format.h"

/* Facts from the command line that files lack; zeroed: nothing. */
struct profile_options {
    struct format_hint hint;
    const struct format *format; /* NULL: ask the bytes */
    const char *dimension;       /* histograms of others are left out; NULL: none are */
    struct progress *progress;   /* counts finished work; NULL: not wanted */
};

struct object;

/* The same with a program's word size and byte order where the options do not. */
struct profile_options profile_options_of(const struct profile_options *o,
                                          const struct object *program);

/* The values of options about formats; messages name `option`, without its dashes. */
MUST_CHECK bool parse_word(const char *option, const char *value, uint8_t *word, struct err *e);
MUST_CHECK bool parse_format(const char *option, const char *value, const struct format **format,
                             struct err *e);

/* A format to read, which may be bsd-alpha as well. */
MUST_CHECK bool parse_read_format(const char *option, const char *value, struct profile_options *o,
                                  struct err *e);

/* Reads one file ("-": standard input) through `b`. On failure *out holds what was complete. */
MUST_CHECK bool profile_load(const struct profile_options *o, const char *path,
                             struct file_buffer *b, struct profile *out, struct err *e);

/* Reads and sums many files, on a few threads. The sum and its order are those of merging them one
 * by one; so is the error. Memory does not grow with the number of files. */
MUST_CHECK bool profiles_load(const struct profile_options *o, char *const *paths, size_t len,
                              struct profile *sum, struct err *e);

/* Encodes `p` and replaces `path` by it. */
MUST_CHECK bool profile_save(const struct format *format, const struct profile *p, uint8_t word,
                             bool big_endian, const char *path, struct err *e);

#endif
