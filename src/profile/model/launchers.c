/* The rank of a process in a parallel job, from its environment, without any MPI library.
 *
 * The table of launchers and the order of its rows is wire/launchers.h; the first row whose rank
 * is a number, and below the size where that is known, counts. What a variable says beyond that is
 * not believed: a rank or size that is no plain number, or larger than any machine has, is as good
 * as none.
 *
 * A child of a rank (system(), a wrapper script) inherits the variables: so a rank is a set of
 * processes. */
#include "profile/model/launchers.h"

#include <wire/launchers.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 3, MOST_RANKS = 1 << 28 };

/* Of several names the first that is there counts; `needs`: a variable without which the row does
 * not hold, or NULL. */
static const struct launcher {
    const char *name;
    const char *rank, *size[MOST_NAMES], *local[MOST_NAMES], *needs;
} LAUNCHERS[] = {
#define LAUNCHER_ROW(name, rank, size, other_size, local, other_local, needs) \
    {name, rank, {size, other_size}, {local, other_local}, needs},
    MONARC_LAUNCHERS(LAUNCHER_ROW)
#undef LAUNCHER_ROW
};

/* The value of a variable, which ends in a NUL byte; NULL: it is not there. What is cut off at the
 * end of the bytes is not there either. */
static const char *rank_variable(struct bytes environment, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    if (!environment.len)
        return NULL;
    const char *at = (const char *)environment.at, *end = at + environment.len;
    for (const char *nul; len && at < end && (nul = memchr(at, 0, (size_t)(end - at)));
         at = nul + 1)
        if (!strncmp(at, name, len) && at[len] == '=')
            return at + len + 1;
    return NULL;
}

/* A plain decimal number below `most`; RECORDING_NONE: it is not one. */
static uint32_t rank_number(struct bytes environment, const char *name, uint32_t most)
{
    const char *value = rank_variable(environment, name);
    size_t digits = value ? strspn(value, "0123456789") : 0;
    if (!digits || digits > 9 || value[digits])
        return RECORDING_NONE;
    unsigned long number = strtoul(value, NULL, 10);
    return number < most ? (uint32_t)number : RECORDING_NONE;
}

static uint32_t rank_first_number(struct bytes environment, const char *const *names)
{
    uint32_t found = RECORDING_NONE;
    for (size_t i = 0; i < MOST_NAMES && names[i] && found == RECORDING_NONE; i++)
        found = rank_number(environment, names[i], MOST_RANKS);
    return found;
}

bool rank_of_environment(struct bytes environment, struct rank_told *out)
{
    for (unsigned i = 0; i < sizeof LAUNCHERS / sizeof *LAUNCHERS; i++) {
        const struct launcher *l = &LAUNCHERS[i];
        uint32_t rank = rank_number(environment, l->rank, MOST_RANKS);
        uint32_t size = rank_first_number(environment, l->size);
        if (rank == RECORDING_NONE || (l->needs && !rank_variable(environment, l->needs)))
            continue;
        bool is_size = size != RECORDING_NONE && size > rank;
        if (size != RECORDING_NONE && !is_size && strncmp(l->size[0], "SLURM_", 6) != 0)
            continue; /* Slurm's size may be that of an allocation around the job */
        *out = (struct rank_told){.order = i,
                                  .rank = {.rank = rank,
                                           .size = is_size ? size : 0,
                                           .local = rank_first_number(environment, l->local),
                                           .launcher = l->name}};
        return true;
    }
    return false;
}
