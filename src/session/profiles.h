/* Profiles as commands take them: options that say what the files do not, and reading many files
 * into one sum.
 *
 * A command puts PROFILE_OPTION_ROWS first in its option table and hands the rows below
 * PROFILE_OPTIONS to profile_option(). */
#ifndef MONARC_SESSION_PROFILES_H
#define MONARC_SESSION_PROFILES_H

#include "base/file.h"
#include "command/command.h"
#include "output/progress.h"
#include "profile/format/format.h"

enum {
    PROFILE_OPTION_WORD,
    PROFILE_OPTION_ENDIAN,
    PROFILE_OPTION_FORMAT,
    PROFILE_OPTION_DIMENSION,
    PROFILE_OPTIONS
};

/* clang-format off */
#define PROFILE_OPTION_ROWS                                                                        \
    {0, "word", "32|64", "pointer size of the profiled machine (default: deduce)"},                \
    {0, "endian", "little|big", "its byte order (default: deduce)"},                               \
    {'O', "format", "gmon|gmon0|sprof|bsd44|bsd|bsd-alpha", "read the files as this format"},                \
    {0, "dimension", "NAME", "of a file with several (seconds, cache-misses): this one"}
/* clang-format on */

struct profile_options {
    struct format_hint hint;
    const struct format *format; /* NULL: ask the bytes */
    const char *dimension;       /* histograms of others are left out; NULL: none are */
    struct progress *progress;   /* told what is done; NULL: nobody is */
};

/* Takes option number `row`. */
MUST_CHECK bool profile_option(struct profile_options *o, int row, const char *value,
                               struct err *e);

struct object;

/* The same with what a program says of word size and byte order where the options do not. */
struct profile_options profile_options_of(const struct profile_options *o,
                                          const struct object *program);

/* The values of --word, --endian and --format, also of options named otherwise. */
MUST_CHECK bool parse_word(const char *option, const char *value, uint8_t *word, struct err *e);
MUST_CHECK bool parse_byte_order(const char *option, const char *value, enum byte_order *order,
                                 struct err *e);
MUST_CHECK bool parse_format(const char *option, const char *value, const struct format **format,
                             struct err *e);

/* Of --format for reading, which is bsd-alpha as well. */
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
