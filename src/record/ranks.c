/* Which rank of a parallel job a process is, told from its environment, without any MPI library.
 *
 * Launchers tell a process who it is in variables: a table has one row a launcher, the innermost
 * launchers first, as an mpirun inside of a Slurm allocation leaves the variables of both, and its
 * own are right. The first row whose rank is a number, and below the size where that is known,
 * counts. What a variable says beyond that is not believed: a rank or size that is no plain number,
 * or larger than any machine has, is as good as none.
 *
 * Two traps. A batch script (sbatch) has SLURM_PROCID=0, and is no rank: Slurm's row needs the
 * number of a step, which srun gives. And a child of a rank (system(), a wrapper script) inherits
 * the variables: so a rank is a set of processes, and nobody here says otherwise.
 *
 * Sources: docs.open-mpi.org (environment variables of 4.1 and 5.0), MPICH's hydra, srun(1),
 * flux-environment(7), HPE PALS' aprun(1), IBM jsrun. */
#include "record/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_NAMES = 3, MOST_RANKS = 1 << 28, MOST_ENVIRONMENT = 1 << 21 };

/* Of several names the first that is there counts; `needs`: a variable without which the row does
 * not hold, or NULL. */
static const struct launcher {
    const char *name;
    const char *rank, *size[MOST_NAMES], *local[MOST_NAMES], *needs;
} LAUNCHERS[] = {
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     NULL},
    {"MVAPICH",
     "MV2_COMM_WORLD_RANK",
     {"MV2_COMM_WORLD_SIZE"},
     {"MV2_COMM_WORLD_LOCAL_RANK"},
     NULL},
    {"PMI", "PMI_RANK", {"PMI_SIZE"}, {"PMI_LOCAL_RANK", "MPI_LOCALRANKID"}, NULL},
    {"PALS", "PALS_RANKID", {"PALS_SIZE"}, {"PALS_LOCAL_RANKID"}, NULL},
    {"Flux", "FLUX_TASK_RANK", {"FLUX_JOB_SIZE"}, {"FLUX_TASK_LOCAL_ID"}, NULL},
    {"LSF", "JSM_NAMESPACE_RANK", {"JSM_NAMESPACE_SIZE"}, {"JSM_NAMESPACE_LOCAL_RANK"}, NULL},
    {"ALPS", "ALPS_APP_PE", {NULL}, {NULL}, NULL},
    {"PMIx", "PMIX_RANK", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, {"SLURM_LOCALID"}, NULL},
    {"Slurm",
     "SLURM_PROCID",
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     {"SLURM_LOCALID"},
     "SLURM_STEP_ID"},
    {"PMI", "PMI_ID", {"PMI_SIZE"}, {NULL}, NULL},
    {"MPI", "MPIRUN_RANK", {"MPIRUN_NPROCS"}, {NULL}, NULL},
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

static uint32_t rank_first_number(struct bytes environment, const char *const *names, uint32_t most)
{
    uint32_t found = RECORDING_NONE;
    for (size_t i = 0; i < MOST_NAMES && names[i] && found == RECORDING_NONE; i++)
        found = rank_number(environment, names[i], most);
    return found;
}

bool rank_of_environment(struct bytes environment, struct rank_told *out)
{
    for (unsigned i = 0; i < sizeof LAUNCHERS / sizeof *LAUNCHERS; i++) {
        const struct launcher *l = &LAUNCHERS[i];
        uint32_t rank = rank_number(environment, l->rank, MOST_RANKS);
        uint32_t size = rank_first_number(environment, l->size, MOST_RANKS);
        if (rank == RECORDING_NONE || (l->needs && !rank_variable(environment, l->needs)))
            continue;
        bool is_size = size != RECORDING_NONE && size > rank;
        if (size != RECORDING_NONE && !is_size && strncmp(l->size[0], "SLURM_", 6) != 0)
            continue; /* Slurm's size may be that of an allocation around the job */
        *out = (struct rank_told){
            .order = i,
            .rank = {.rank = rank,
                     .size = is_size ? size : 0,
                     .local = rank_first_number(environment, l->local, MOST_RANKS),
                     .launcher = l->name}};
        return true;
    }
    return false;
}

/* Reads to the end, or as far as an environment may reasonably go. */
static bool rank_of_file(const char *path, struct rank_told *out, bool *is_read)
{
    enum { STEP = 1 << 16 };
    char *text = NULL;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = fd; got >= 0 && len < MOST_ENVIRONMENT; len += (size_t)got) {
        char *more = realloc(text, len + STEP);
        if (!more)
            break;
        text = more;
        if ((got = read(fd, text + len, STEP)) <= 0)
            break;
    }
    if (fd >= 0)
        close(fd);
    *is_read = len > 0;
    bool found = rank_of_environment((struct bytes){(const uint8_t *)text, len}, out);
    free(text);
    return found;
}

bool rank_of_own(struct rank_told *out)
{
    bool is_read;
    return rank_of_file("/proc/self/environ", out, &is_read);
}

bool rank_of_process(pid_t pid, struct rank_told *out, bool *is_read)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/environ", (int32_t)pid);
    return rank_of_file(path, out, is_read);
}

const char *rank_host(struct arena *a)
{
    struct utsname name = {.nodename = ""};
    uname(&name);
    return arena_copy(a, name.nodename, strlen(name.nodename));
}
