/* Variables in which launchers of parallel jobs give a process its rank: one row each.
 *
 * Rows are tried in their order, innermost launchers first: an mpirun inside of a Slurm allocation
 * leaves the variables of both, and its own are right. The analyser reads them from the environment
 * of a process, or from what the recorder inside it has noted; the recorder names its folder by the
 * rank. NULL: there is no such variable. `needs` is one without which the row does not hold: a
 * batch script (sbatch) has SLURM_PROCID=0, and is no rank; srun gives the number of a step.
 *
 * Sources: docs.open-mpi.org (environment variables of 4.1 and 5.0), MPICH's hydra, srun(1),
 * flux-environment(7), HPE PALS' aprun(1), IBM jsrun. */
#ifndef MONARC_LAUNCHERS_H
#define MONARC_LAUNCHERS_H

/* X(launcher, rank, size, other size, local rank, other local rank, needs) */
#define MONARC_LAUNCHERS(X)                                                                       \
    X("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL,                           \
      "OMPI_COMM_WORLD_LOCAL_RANK", NULL, NULL)                                                   \
    X("MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL, "MV2_COMM_WORLD_LOCAL_RANK", \
      NULL, NULL)                                                                                 \
    X("PMI", "PMI_RANK", "PMI_SIZE", NULL, "PMI_LOCAL_RANK", "MPI_LOCALRANKID", NULL)             \
    X("PALS", "PALS_RANKID", "PALS_SIZE", NULL, "PALS_LOCAL_RANKID", NULL, NULL)                  \
    X("Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL, "FLUX_TASK_LOCAL_ID", NULL, NULL)          \
    X("LSF", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", NULL, "JSM_NAMESPACE_LOCAL_RANK", NULL,  \
      NULL)                                                                                       \
    X("ALPS", "ALPS_APP_PE", NULL, NULL, NULL, NULL, NULL)                                        \
    X("PMIx", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_LOCALID", NULL, NULL)   \
    X("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_LOCALID", NULL,     \
      "SLURM_STEP_ID")                                                                            \
    X("PMI", "PMI_ID", "PMI_SIZE", NULL, NULL, NULL, NULL)                                        \
    X("MPI", "MPIRUN_RANK", "MPIRUN_NPROCS", NULL, NULL, NULL, NULL)

#endif
