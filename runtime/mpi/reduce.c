/* libmonarc_mpi: the recordings of all ranks of a job become one, before MPI is finalised.
 *
 * A job of 10,000 ranks would leave as many folders. Of MPI's profiling interface MPI_Finalize
 * alone is replaced: there each rank has its files written, as at the end of a process, and reads
 * them back as a recording, in which code is an object (build-id) and an offset in it and names are
 * listed once. Recordings are merged along a binomial tree, and rank 0 writes the sum beside the
 * folders of the ranks:
 *
 *     rank    0   1   2   3   4   5   6
 *     step 1  0 <-1   2 <-3   4 <-5   6       log2(ranks) steps; a rank that has sent is done
 *     step 2  0 <------ 2     4 <------6
 *     step 4  0 <-------------4               OUT/monarc.side
 *
 * Ranks that are merged stand in the order of their numbers, and merging gives the same in any
 * grouping: so the sum is that of `monarc merge` over the folders, byte for byte.
 *
 * Nothing depends on it. A rank's folder is removed only when the sum has its name; if a rank dies,
 * or anything fails here, the folders stay, and recording goes on. A reader that finds both takes
 * what the sum has from the sum. What runs after MPI_Finalize is not recorded.
 *
 * The library is not linked with MPI, whose symbols are weak: it may be preloaded into a program
 * without. It waits in a barrier first, so that waiting for late ranks is recorded as such. */
#include <mpi.h>

#include <monarc/recording.h>
#include <monarc/runtime.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma weak PMPI_Barrier
#pragma weak PMPI_Bcast
#pragma weak PMPI_Comm_dup
#pragma weak PMPI_Comm_free
#pragma weak PMPI_Comm_get_parent
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_set_errhandler
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Finalize
#pragma weak PMPI_Recv
#pragma weak PMPI_Send
#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_uint64_t
#endif

enum { TAG = 1, MOST_BYTES = 1 << 30 }; /* of one message: counts are int */

/* What a rank knows on its way. */
struct reduction {
    MPI_Comm comm;
    int rank, size;
    const char *folder;           /* of this rank; NULL: it recorded nothing */
    struct monarc_recording *sum; /* of the ranks that were merged here; NULL: of none */
    bool has_failed;              /* here, or at a rank that was merged here */
    struct monarc_error why;
};

static bool reduction_fail(struct reduction *r, const char *why)
{
    r->has_failed = true;
    if (why)
        snprintf(r->why.text, sizeof r->why.text, "%s", why);
    return false;
}

/* --- messages -------------------------------------------------------------------------------- */

/* The length first, then the bytes in pieces. Each of the two ends does all of its calls, whatever
 * fails, so that no rank waits for ever. */
static bool send_bytes(const struct reduction *r, int to, const char *bytes, uint64_t len)
{
    bool ok = PMPI_Send(&len, 1, MPI_UINT64_T, to, TAG, r->comm) == MPI_SUCCESS;
    for (uint64_t at = 0; ok && at < len; at += MOST_BYTES) {
        int n = (int)(len - at < MOST_BYTES ? len - at : MOST_BYTES);
        ok = PMPI_Send((void *)(bytes + at), n, MPI_BYTE, to, TAG, r->comm) == MPI_SUCCESS;
    }
    return ok;
}

/* The caller frees the bytes. Without memory for them they are received and dropped: a piece that
 * is larger than its buffer is cut off with an error, and the sender goes on. */
static char *receive_bytes(const struct reduction *r, int from, uint64_t *len)
{
    static char dropped[1 << 16];
    uint64_t n = 0;
    *len = 0;
    if (PMPI_Recv(&n, 1, MPI_UINT64_T, from, TAG, r->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return NULL;
    char *bytes = malloc(n ? n : 1);
    for (uint64_t at = 0; at < n; at += MOST_BYTES) {
        int piece = (int)(n - at < MOST_BYTES ? n - at : MOST_BYTES);
        int room = bytes || piece < (int)sizeof dropped ? piece : (int)sizeof dropped;
        if (PMPI_Recv(bytes ? bytes + at : dropped, room, MPI_BYTE, from, TAG, r->comm,
                      MPI_STATUS_IGNORE) != MPI_SUCCESS &&
            bytes) {
            free(bytes);
            return NULL;
        }
    }
    *len = n;
    return bytes;
}

/* --- the tree -------------------------------------------------------------------------------- */

/* The files of this rank, written and read back, as a merge of the folders would read them. */
static bool take_own(struct reduction *r)
{
    char path[4200];
    r->folder = monarc_rt_folder();
    if (!r->folder)
        return true;
    monarc_rt_stop();
    if (monarc_rt_dump(NULL) != 0)
        return reduction_fail(r, "a rank could not write its files");
    snprintf(path, sizeof path, "%s/monarc.side", r->folder);
    struct monarc_source from = monarc_source_from_path(path);
    r->sum = monarc_recording_new(NULL, &r->why);
    return (r->sum && monarc_recording_read(r->sum, &from, &r->why)) || reduction_fail(r, NULL);
}

/* What a rank has to say: one byte, 1 if it failed, and its recording, if it has any. */
static void send_sum(struct reduction *r, int to)
{
    struct monarc_target target = monarc_target_to_memory();
    if (r->sum && !r->has_failed && !monarc_recording_write(r->sum, &target, &r->why))
        r->has_failed = true;
    monarc_recording_free(r->sum);
    r->sum = NULL;
    const char *text = r->why.text;
    char failed = r->has_failed;
    send_bytes(r, to, &failed, 1);
    if (failed)
        send_bytes(r, to, text, strlen(text) + 1);
    else
        send_bytes(r, to, target.bytes, target.len);
    monarc_target_free(&target);
}

static void receive_sum(struct reduction *r, int from)
{
    uint64_t flag_len, len;
    char *failed = receive_bytes(r, from, &flag_len), *bytes = receive_bytes(r, from, &len);
    struct monarc_recording *theirs = NULL;
    if (!failed || flag_len != 1 || !bytes) {
        reduction_fail(r, "a rank did not send its recording");
    } else if (*failed) {
        if (!r->has_failed)
            reduction_fail(r, len && !bytes[len - 1] ? bytes : NULL);
    } else if (len && !r->has_failed) {
        struct monarc_source source = monarc_source_from_bytes(bytes, len);
        theirs = monarc_recording_new(NULL, &r->why);
        if (!theirs || !monarc_recording_read(theirs, &source, &r->why))
            reduction_fail(r, NULL);
    }
    free(failed);
    free(bytes);
    if (theirs && !r->has_failed && !r->sum) {
        r->sum = theirs;
        return;
    }
    if (theirs && !r->has_failed && !monarc_recording_merge(r->sum, theirs, &r->why))
        reduction_fail(r, NULL);
    monarc_recording_free(theirs);
}

static void reduce(struct reduction *r)
{
    for (int step = 1; step < r->size; step *= 2) {
        if (r->rank % (2 * step)) {
            send_sum(r, r->rank - step);
            break;
        }
        if (step < r->size - r->rank)
            receive_sum(r, r->rank + step);
    }
}

/* Rank 0: the sum in the folder around those of the ranks. A sum that is there already is another
 * job's, and stays. */
static bool write_sum(struct reduction *r)
{
    char path[4200];
    if (!r->sum)
        return false;
    if (!r->folder)
        return reduction_fail(r, "rank 0 recorded nothing");
    snprintf(path, sizeof path, "%s", r->folder);
    snprintf(strrchr(path, '/'), 16, "/monarc.side");
    if (access(path, F_OK) == 0)
        return reduction_fail(r, "another job's recording is there already");
    struct monarc_target to = monarc_target_to_path(path);
    return monarc_recording_write(r->sum, &to, &r->why) || reduction_fail(r, NULL);
}

/* --- the end --------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && !strcmp(name + n - k, end);
}

/* The recorder's files alone: recordings of children, and what the user put there, stay. */
static void remove_own(const char *folder)
{
    char path[4600];
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *name = entry->d_name;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (!strcmp(name, "monarc.side") || !strcmp(name, "gmon.out") || ends_with(name, ".gmon"))
            unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

/* The folder's name is freed with the recorder, so it is copied first. */
static void end_own(const struct reduction *r)
{
    const char *keeps = getenv("MONARC_MPI");
    char folder[4100];
    snprintf(folder, sizeof folder, "%s", r->folder);
    monarc_rt_discard();
    if (!keeps || strcmp(keeps, "keep") != 0)
        remove_own(folder);
}

/* All ranks get here, or none leaves: MPI_Finalize is collective. A job that another one started
 * (MPI_Comm_spawn) has ranks of the same numbers, and keeps its folders. */
static void reduce_job(void)
{
    struct reduction r = {.comm = MPI_COMM_NULL};
    MPI_Comm parent = MPI_COMM_NULL;
    int done = 0;
    if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL ||
        PMPI_Comm_dup(MPI_COMM_WORLD, &r.comm) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(r.comm, &r.rank);
    PMPI_Comm_size(r.comm, &r.size);
    PMPI_Barrier(r.comm);
    take_own(&r);
    reduce(&r);
    if (r.rank == 0)
        done = !r.has_failed && write_sum(&r);
    PMPI_Bcast(&done, 1, MPI_INT, 0, r.comm);
    PMPI_Comm_free(&r.comm);
    if (r.folder && done)
        end_own(&r);
    else if (r.folder)
        monarc_rt_start();
    if (r.rank == 0 && r.has_failed)
        fprintf(stderr, "monarc: the recordings of the ranks stay as they are: %s\n", r.why.text);
    monarc_recording_free(r.sum);
}

/* --- the interface --------------------------------------------------------------------------- */

int MPI_Finalize(void)
{
    static bool is_done;
    if (!is_done) {
        is_done = true;
        reduce_job();
    }
    return PMPI_Finalize();
}

/* Fortran's names, by compiler; that of mpi_f08 has no argument unless the program passes one. The
 * libraries' own may call either C function. */
#define FORTRAN_FINALIZE(name)  \
    void name(MPI_Fint *error); \
    void name(MPI_Fint *error)  \
    {                           \
        int e = MPI_Finalize(); \
        if (error)              \
            *error = e;         \
    }
FORTRAN_FINALIZE(mpi_finalize)
FORTRAN_FINALIZE(mpi_finalize_)
FORTRAN_FINALIZE(mpi_finalize__)
FORTRAN_FINALIZE(MPI_FINALIZE)
FORTRAN_FINALIZE(mpi_finalize_f08_)
