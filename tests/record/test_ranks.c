/* Which rank an environment tells, launcher by launcher, and what it must not believe. */
#include "cases.h"
#include "record/ranks.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NONE = -1 };

/* Variables as a launcher leaves them, with `|` for the NUL behind each. */
static const struct {
    const char *environment, *launcher; /* NULL: no rank */
    uint32_t rank, size;
    int local;
} CASES[] = {
    {"HOME=/|OMPI_COMM_WORLD_RANK=3|OMPI_COMM_WORLD_SIZE=8|OMPI_COMM_WORLD_LOCAL_RANK=1|",
     "Open MPI", 3, 8, 1},
    {"PMIX_RANK=3|", "PMIx", 3, 0, NONE},
    {"PMIX_RANK=3|SLURM_PROCID=3|SLURM_NTASKS=8|SLURM_STEP_ID=0|SLURM_LOCALID=1|", "PMIx", 3, 8, 1},
    {"PMI_RANK=511|PMI_SIZE=512|MPI_LOCALRANKID=7|MPI_LOCALNRANKS=8|", "PMI", 511, 512, 7},
    {"PMI_RANK=0|PMI_SIZE=1|PMI_LOCAL_RANK=0|", "PMI", 0, 1, 0},
    {"MV2_COMM_WORLD_RANK=2|MV2_COMM_WORLD_SIZE=4|MV2_COMM_WORLD_LOCAL_RANK=0|PMI_RANK=9|",
     "MVAPICH", 2, 4, 0},
    {"SLURM_PROCID=5|SLURM_NTASKS=6|SLURM_LOCALID=5|SLURM_STEP_ID=0|", "Slurm", 5, 6, 5},
    {"SLURM_PROCID=5|SLURM_NTASKS=2|SLURM_STEP_NUM_TASKS=6|SLURM_STEP_ID=0|", "Slurm", 5, 6, NONE},
    {"PALS_RANKID=4|PALS_LOCAL_RANKID=2|PALS_NODEID=1|", "PALS", 4, 0, 2},
    {"FLUX_TASK_RANK=1|FLUX_JOB_SIZE=2|FLUX_TASK_LOCAL_ID=1|", "Flux", 1, 2, 1},
    {"JSM_NAMESPACE_RANK=1|JSM_NAMESPACE_SIZE=2|JSM_NAMESPACE_LOCAL_RANK=0|", "LSF", 1, 2, 0},
    {"ALPS_APP_PE=7|", "ALPS", 7, 0, NONE},
    {"MPIRUN_RANK=1|MPIRUN_NPROCS=2|", "MPI", 1, 2, NONE},
    /* An mpirun within a step of Slurm's: its own variables are right. */
    {"SLURM_PROCID=0|SLURM_STEP_ID=0|SLURM_NTASKS=1|OMPI_COMM_WORLD_RANK=6|"
     "OMPI_COMM_WORLD_SIZE=8|",
     "Open MPI", 6, 8, NONE},
    /* A batch script is no rank. */
    {"SLURM_PROCID=0|SLURM_NTASKS=8|SLURM_LOCALID=0|SLURM_JOB_ID=5|", NULL, 0, 0, NONE},
    {"", NULL, 0, 0, NONE},
    {"OMPI_COMM_WORLD_RANK=|", NULL, 0, 0, NONE},
    {"OMPI_COMM_WORLD_RANK=-1|OMPI_COMM_WORLD_SIZE=8|", NULL, 0, 0, NONE},
    {"OMPI_COMM_WORLD_RANK=3x|", NULL, 0, 0, NONE},
    {"OMPI_COMM_WORLD_RANK=8|OMPI_COMM_WORLD_SIZE=8|", NULL, 0, 0, NONE},
    {"PMIX_RANK=4294967295|", NULL, 0, 0, NONE},
    {"PMI_RANK=99999999999999999999|", NULL, 0, 0, NONE},
    {"XOMPI_COMM_WORLD_RANK=1|A=PMI_RANK=1|", NULL, 0, 0, NONE},
    {"PMI_RANK=1", NULL, 0, 0, NONE}, /* cut off: it may have been 10 */
};

CASE(launchers_are_known)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[256];
        size_t len = strlen(CASES[i].environment);
        struct rank_told told;
        memcpy(text, CASES[i].environment, len);
        for (size_t k = 0; k < len; k++)
            if (text[k] == '|')
                text[k] = '\0';
        bool found = rank_of_environment((struct bytes){(const uint8_t *)text, len}, &told);
        assert_int_equal(found, CASES[i].launcher != NULL);
        if (!found)
            continue;
        assert_string_equal(told.rank.launcher, CASES[i].launcher);
        assert_int_equal(told.rank.rank, CASES[i].rank);
        assert_int_equal(told.rank.size, CASES[i].size);
        assert_int_equal((int)told.rank.local, CASES[i].local);
    }
}

/* Who is gone is not asked again; who is in the middle of an exec would be. */
CASE(who_is_gone_has_been_read)
{
    struct rank_told told;
    bool is_read = false;
    rank_of_process(getpid(), &told, &is_read);
    assert_true(is_read);
    pid_t pid = fork();
    if (!pid)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    is_read = false;
    assert_false(rank_of_process(pid, &told, &is_read));
    assert_true(is_read);
}
