/* A profile by source position, as compilers take it: functions, lines counted from where a
 * function is declared, and what was inlined where, each with how often it ran.
 *
 *     work              head 1            a function of its own: an instance without a parent
 *       3      1001                       position: 3 lines below its declaration
 *       3.2    1000                       the same line, the block with discriminator 2
 *       5      900   -> twice 700, f 200  a call, with whom it reached: targets
 *       7:     clamp                      an instance in it: clamp was inlined at line 7
 *         1      900
 *
 * An instance is known by its parent, its place there and its name; a position by its instance and
 * place. All lists grow at their ends and only sums change, so that adding one profile to another
 * is commutative but for the order of the lists, which writers do not go by: source_profile_sort()
 * gives one that depends on what is in them alone. Sums saturate. */
#ifndef MONARC_PROFILE_MODEL_SOURCE_PROFILE_H
#define MONARC_PROFILE_MODEL_SOURCE_PROFILE_H

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

#define NO_INSTANCE UINT32_MAX

/* Where in a function: lines below its declaration, and which block of that line. */
struct source_offset {
    uint32_t line, discriminator;
};

struct source_instance {
    uint32_t name;           /* in `names` */
    uint32_t parent;         /* NO_INSTANCE: a function of its own */
    struct source_offset at; /* in the parent: where it was inlined */
    uint64_t head;           /* how often it was entered; of a function of its own */
    uint64_t first_ns;       /* when first, since the start of the run; 0: not known */
    uint64_t checksum;       /* of its blocks, as LLVM's probes have it; 0: none */
    uint32_t attributes;     /* LLVM's flags, kept as they are */
};

struct source_position {
    uint32_t instance;
    struct source_offset at;
    uint64_t count;
};

/* Whom a call at a position reached. */
struct source_target {
    uint32_t position, name;
    uint64_t count;
};

/* A zeroed one is empty. */
struct source_profile {
    struct intern names;
    VEC(uint32_t) files; /* by name: its source file in `file_names`, plus one; 0 or beyond: none */
    struct intern file_names;
    VEC(struct source_instance) instances; /* parents before what is inlined in them */
    VEC(struct source_position) positions;
    VEC(struct source_target) targets;
    struct map instance_of, position_of, target_of;
};

void source_profile_deinit(struct source_profile *p);

/* The index of an instance, a position, a target, made where there is none. */
uint32_t source_profile_instance(struct source_profile *p, uint32_t parent, struct source_offset at,
                                 const char *name, size_t len);
uint32_t source_profile_position(struct source_profile *p, uint32_t instance,
                                 struct source_offset at);

/* Add to what is there. */
void source_profile_add_count(struct source_profile *p, uint32_t position, uint64_t count);
void source_profile_add_target(struct source_profile *p, uint32_t position, const char *name,
                               size_t len, uint64_t count);
void source_profile_add_head(struct source_profile *p, uint32_t instance, uint64_t count);

/* Says of which source file the function of that name is. */
void source_profile_set_file(struct source_profile *p, uint32_t name, const char *file, size_t len);

/* Adds all of `from`; of times the earliest stays. */
void source_profile_add(struct source_profile *p, const struct source_profile *from);

/* The lists in one order, by number in those of the profile: positions of an instance by place,
 * instances in it by place and name, targets by count, most first, and name. `total`: of each
 * instance, of its positions and all that is inlined in it. */
struct source_order {
    struct arena arena;
    uint32_t *functions; /* instances without a parent: by total, most first, then by name */
    size_t functions_len;
    uint32_t *children, *positions, *targets;
    uint32_t *first_child,
        *first_position;    /* per instance: where its own begin; one more at the end */
    uint32_t *first_target; /* per position, likewise */
    uint64_t *total;
};
void source_profile_sort(const struct source_profile *p, struct source_order *order);
void source_order_deinit(struct source_order *order);

/* A walk from a function inwards, as files nest instances: from the outside in, each after the one
 * that it is in. Who writes enters a function, and then each child that belongs into the file:
 *
 *     source_walk_enter(&walk, function);
 *     while (walk.open.len)
 *         if (source_walk_next(&walk, &instance)) // a child of the innermost one that is open
 *             source_walk_enter(&walk, instance);
 *         else ...                                // which has no more: `instance` was closed */
struct source_walk_open {
    uint32_t instance, next; /* next: of the order's children */
};
struct source_walk {
    const struct source_order *order;
    VEC(struct source_walk_open) open; /* freed by the caller */
};
void source_walk_enter(struct source_walk *w, uint32_t instance);
bool source_walk_next(struct source_walk *w, uint32_t *instance);

/* What a profile is about, in one look; LLVM's summary and gcc's of version 3 are of this. */
struct source_summary {
    uint64_t total, max_count, max_head; /* of positions; the largest of them; of heads */
    uint64_t counts, functions;          /* positions; functions of their own */
    uint64_t instances, targets;
    struct source_cutoff {
        uint32_t parts; /* of a million of `total` */
        uint64_t least; /* the smallest count among the largest that make up that share */
        uint64_t counts;
    } cutoffs[16];
};
enum { SOURCE_CUTOFFS = 16 };
void source_profile_summarize(const struct source_profile *p, struct source_summary *out);

/* The laws: parents precede their instances, every place is known once, names are not empty.
 */
MUST_CHECK bool source_profile_check(const struct source_profile *p, struct err *e);

/* How much two profiles have in common: the sum, over all positions, of the smaller of its shares
 * in the two. 1: the same distribution; 0: nothing in common. By function, of those that either
 * has: its shares, and what of them is common. */
struct source_shift {
    const char *name;
    double old_share, new_share, common;
};
struct source_overlap {
    double common;
    struct source_shift *functions; /* largest share in either first */
    size_t len;
};
void source_profile_overlap(const struct source_profile *old, const struct source_profile *new,
                            struct source_overlap *out, struct arena *a);

#endif
