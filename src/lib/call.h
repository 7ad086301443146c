/* What all functions of the library do: fill in errors, read sources, write targets. */
#ifndef MONARC_LIB_CALL_H
#define MONARC_LIB_CALL_H

#include "base/bytes.h"
#include "base/err.h"
#include "lib/heap.h"

#include "monarc/formats.h"

/* Each returns false. */
bool call_fail(struct monarc_error *e, enum monarc_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool call_fail_err(struct monarc_error *e, enum monarc_status status, const struct err *why);
bool call_fail_memory(struct monarc_error *e);

/* What a call returns; `status` is what its failing means. */
bool call_result(enum heap_outcome outcome, enum monarc_status status, const struct err *why,
                 struct monarc_error *e);

/* The bytes of a source: its own memory, or read into `h`. */
struct call_input {
    struct bytes bytes;
    char name[512]; /* for messages */
};

MUST_CHECK bool call_read(const struct monarc_source *in, struct heap *h, struct call_input *out,
                          struct monarc_error *e);

/* Runs `encode`, which writes into *w, in a heap of its own; then writes what came of it. */
struct call_writing {
    struct writer w;
    struct err why;
    bool (*encode)(struct call_writing *writing);
    const void *what;
    uint64_t how;
};

MUST_CHECK bool call_write(struct call_writing *writing, const struct monarc_memory *memory,
                           struct monarc_target *to, struct monarc_error *e);

#endif
