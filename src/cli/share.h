/* One command shared by the ranks of a job, through files. */
#ifndef MONARC_CLI_SHARE_H
#define MONARC_CLI_SHARE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct share;

/* What is shared; ranks that were started with the same arguments in the same folder share it. */
struct share_request {
    const char *output;
    char *const *inputs;
    size_t len;    /* 0: share_count() tells it */
    uint64_t hash; /* of the command line, from share_hash() */
};

/* Of a command line as it was given, before its options are read, and the folder. */
uint64_t share_hash(int argc, char *const *argv);

/* *out is NULL if there is nothing to share: no rank of a job, a single input, standard output. */
MUST_CHECK bool share_begin(struct share **out, const struct share_request *request, struct err *e);

/* How many inputs there are, and for how many of them the work stands that is left when all parts
 * are there, as the first rank has less of the rest for it; the same for all ranks: before
 * share_next(). */
void share_count(struct share *s, size_t inputs, size_t ahead);

/* What to do next: a part, which goes where share_part() says; or to put all parts together; or
 * nothing more, as somebody has. Waits as long as others are at work. */
enum share_turn { SHARE_PART, SHARE_FINISH, SHARE_DONE };
enum share_turn share_next(struct share *s, uint32_t *part);

/* The inputs of a part, where it goes, and how many there are. */
void share_slice(const struct share *s, uint32_t part, size_t *first, size_t *len);
const char *share_part(struct share *s, uint32_t part);
uint32_t share_parts(const struct share *s);

/* Frees all; `is_finished`: the output is there. */
void share_end(struct share *s, bool is_finished);

#endif
