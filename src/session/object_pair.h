/* Notes and counters of one object: loaded, solved, and what is wrong with them said. */
#ifndef MONARC_SESSION_OBJECT_PAIR_H
#define MONARC_SESSION_OBJECT_PAIR_H

#include "coverage/analysis/flow.h"
#include "coverage/analysis/coverage_result.h"
#include "session/arcs_file.h"

/* Zeroed at first; whatever is loaded next uses its memory again. */
struct object_pair {
    struct arcs_file notes, counters;
    struct counters sum; /* of several runs */
    struct flow flow;
    bool notes_are_whole;
};

/* Load a file as that kind, or, with ARCS_NONE, as its bytes say. What is wrong is a problem; false
 * if nothing of it can be used. Counters then hold no functions, which are unknown, not at 0. */
MUST_CHECK bool object_pair_load_notes(struct object_pair *p, const char *path, enum arcs_kind as,
                                       struct problems *problems);
MUST_CHECK bool object_pair_load_counters(struct object_pair *p, const char *path,
                                          enum arcs_kind as, struct problems *problems);

/* Fills `flow` from both; damaged functions are repaired if wanted, or unknown. */
void object_pair_solve(struct object_pair *p, bool repairs);

/* Fills it from notes alone: nothing ran. */
void object_pair_solve_unrun(struct object_pair *p);

/* Says if the files were not made for each other. */
void object_pair_report_pairing(const struct object_pair *p, const char *notes,
                                const char *counters, struct problems *problems);

/* Names the first function that is unknown and says how many there are, who are `what` for that:
 * "unknown", "left out". Returns their number. */
uint64_t object_pair_report_unknown(const struct object_pair *p, const char *path, const char *what,
                                    struct problems *problems);

/* Adds the counters that were loaded to those of the runs before, which lie in p->sum. false: they
 * are not alike. */
bool object_pair_add_run(struct object_pair *p, bool is_first);

/* The sum takes the place of the counters that were loaded. */
void object_pair_take_sum(struct object_pair *p);

/* After solving: nothing is to be said about how the files fit, nor about a function. */
bool object_pair_is_sound(const struct object_pair *p);

void object_pair_deinit(struct object_pair *p);

#endif
