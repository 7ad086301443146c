/* The functions that the nodes of a run stand for, those among them whose code was inlined.
 *
 * What is called what outside of inlining is decided elsewhere (functions of objects, kernel,
 * generated code, why a stack is cut): callers bring one function for each node. Here the chains of
 * inlined functions join, as the objects' debug information tells them. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_CALL_FRAMES_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_CALL_FRAMES_H

#include "profile/analysis/recording/call_tree.h"
#include "profile/analysis/functions.h"

struct call_frames_input {
    const struct recording *recording;
    const struct functions *functions;
    const uint32_t *function;    /* per node of the run; NO_FUNCTION: it has no frame */
    struct object *const *files; /* per object of the run, whose debug information tells of inlined
                                    code; NULL: leave it out. So has the whole list */
    const bool *is_piece;        /* per node, as in struct call_frames; NULL: none is */
};

struct named_frames {
    struct call_frames frames;
    struct functions functions; /* the same ones with the same numbers, and inlined ones behind
                                   them: for names, not for functions_find() */
    uint32_t first_inlined;     /* functions from this number on are inlined ones */
};

/* Asks each object once for each address. All lives in the arena; strings in objects and `in`. */
void named_frames_make(struct named_frames *out, const struct call_frames_input *in,
                       struct arena *a);

/* Whether two numbers are one function of one object, inlined or not. */
bool named_frames_same(const struct named_frames *n, uint32_t left, uint32_t right);

#endif
