/* The table of file formats: bytes to model and back.
 *
 * A reader gets a span of bytes, never a path, and asks nothing of the program. The files do not
 * say their pointer size and most not their byte order: a hint is passed in and obeyed, or both are
 * deduced from the bytes and checked.
 *
 * A format is one row: `probe`, `read` and `write`, all pure functions of their arguments. A new
 * one is a file beside these, a row in format.c, a page docs/formats/NAME.md, and a seed of its
 * name in the corpus; a test walks the table and misses what is not there. */
#ifndef MONARC_PROFILE_FORMAT_FORMAT_H
#define MONARC_PROFILE_FORMAT_FORMAT_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/profile.h"

/* ORDER_UNKNOWN is 0, so that a zeroed hint leaves everything to be deduced. */
enum byte_order { ORDER_UNKNOWN, ORDER_LITTLE, ORDER_BIG };

/* Where records go that are not to be kept. A reader with a sink needs memory for one batch of
 * records, whatever the file's size. *out is then empty but for what describes the file as a
 * whole. */
struct format_sink {
    void *context;

    /* `p` holds what was just read: one histogram, or some arcs, or a block; it is the reader's,
     * and emptied after the call. false ends the reading. */
    bool (*take)(void *context, enum record_kind kind, const struct profile *p);
};

/* Bytes of the header of old BSD files whose pointers have 8 bytes, and on Alphas. */
enum { BSD_HEADER = 20, BSD_PADDED_HEADER = 24 };

/* What is known from elsewhere: options, or the program's ELF header. A hint is obeyed, not
 * weighed: a file that contradicts it fails, with the message of what was read wrongly. */
struct format_hint {
    uint8_t word;                   /* 4, 8, or 0: deduce */
    enum byte_order order;          /* or ORDER_UNKNOWN: deduce */
    uint32_t default_rate;          /* for old BSD files, which have none; 0: 100 */
    uint8_t bsd_header;             /* BSD_HEADER or BSD_PADDED_HEADER; 0: deduce */
    const struct format_sink *sink; /* NULL: the reader keeps all records in *out */
};

/* One row of the table. */
struct format {
    const char *name;  /* for --to and --format, and of the page docs/formats/NAME.md */
    const char *title; /* for people: "GNU gmon.out, version 1" */
    enum profile_format id;
    uint32_t version; /* of PROFILE_GNU; otherwise 0 */

    /* Whether the bytes look like this format, judged by magic or, without one, by consistency. */
    bool (*probe)(struct bytes in, const struct format_hint *hint);

    /* Reads into a zeroed (or cleared) *out. On failure *out holds the records that were complete
     * and says in out->failure what ended them; it must still be freed with profile_deinit(). */
    bool (*read)(struct bytes in, const char *name, const struct format_hint *hint,
                 struct profile *out, struct err *e);

    /* Writes with w->word and w->big_endian. Fails, with nothing useful in `w`, if the format
     * cannot hold what the profile has. A count too large for its field is written as several
     * records where the format sums them. */
    bool (*write)(struct writer *w, const struct profile *p, struct err *e);
};

extern const struct format *const formats[];
extern const size_t formats_len;

/* By name, or NULL. Names are those of `name`, spelled exactly so. */
const struct format *format_named(const char *name);

/* The format a profile was read from; "gmon" for one made in memory. */
const struct format *format_of(const struct profile *p);

/* Whether these first bytes of a file can begin a profile of any format. Formats without a magic
 * leave little to judge by, but none begins with zeros alone. */
bool format_may_be(struct bytes first);

/* The format of the bytes, or NULL with a message that says what was seen instead. `name` is the
 * file's, for that message. */
const struct format *format_probe(struct bytes in, const char *name, const struct format_hint *hint,
                                  struct err *e);

/* Probes and reads into a zeroed *out, which is to be freed after failure, too. What was whole
 * before the fault is in it, as `read` says. */
MUST_CHECK bool format_read(struct bytes in, const char *name, const struct format_hint *hint,
                            struct profile *out, struct err *e);

#endif
