/* Where in the code the figures of an exchange come from: what functions spent, by instruction, and
 * calls, by the instruction that makes them. It stands beside an exchange, for those who ask.
 *
 * The laws: the spots of a function cost its `self` together, those of an arc its `cost`, and they
 * make its `calls`. Addresses are link addresses in the function's object. Calls that were counted
 * are on the instructions that they were counted at; what they cost is shared out by stacks, or, of
 * the model, by counts. Calls that were not counted are on those that stacks show. */
#ifndef MONARC_PROFILE_ANALYSIS_EXCHANGE_EXCHANGE_CODE_H
#define MONARC_PROFILE_ANALYSIS_EXCHANGE_EXCHANGE_CODE_H

#include "profile/analysis/exchange/exchange.h"

struct exchange_spot {
    uint64_t address; /* 0: in no file */
    uint64_t calls, cost;
    uint32_t line; /* in the function's own file; where that has none: the function's first */
};

/* Those of owner i are from first[i] up to first[i + 1], by address. */
struct exchange_spots {
    VEC(struct exchange_spot) all;
    uint32_t *first;
};

struct exchange_code {
    uint64_t *entry;             /* per function; 0: not known */
    struct exchange_spots self;  /* per function */
    struct exchange_spots calls; /* per arc */
};

struct exchange_code_input {
    const struct exchange_input *from; /* of the exchange */
    const struct functions *functions; /* native */
    const struct profile *profile;     /* calls; and samples, if there is no run */
    const struct recording *recording; /* NULL: no recording */
    const double *weights;             /* per node of the run */
    const uint32_t *merged;            /* likewise: its node of the tree; NULL: of the model */
};

/* Of an exchange that exchange_make() made with `keeps_frames`. */
void exchange_code_make(struct exchange_code *c, const struct exchange *x,
                        const struct exchange_code_input *in, struct arena *a);
void exchange_code_deinit(struct exchange_code *c);

#endif
