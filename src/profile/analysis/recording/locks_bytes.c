/* What was read from files and written to them, as rows and stacks of the table of files.
 *
 * The recorder has shared out the growth of each thread's account among the calls that it saw
 * (record/waits/waits_io.c). Here they are added up by file and stack, with the error of drawing.
 */
#include "profile/analysis/recording/locks_private.h"
#include "profile/analysis/recording/part_errors.h"

#include <stdlib.h>

/* A call that was seen stands for those beside it that were not: of many small files a few are seen
 * once or twice each, with the bytes of all. */
enum { CALLS_TO_BE_NAMED = 5 };

/* The row of what was transferred; `seen`: the calls of each row of a named thing. */
static uint32_t locks_transfer_row(struct locks_making *m, const struct recording_transfer *t,
                                   uint32_t stack, const uint64_t *seen)
{
    uint32_t row = locks_row(m, t->resource, stack);
    bool is_file = t->resource != RECORDING_NONE &&
                   m->in->recording->resources.at[t->resource].kind == RECORDING_RESOURCE_FILE;
    if (!is_file || !m->rows.at[row].row.name || seen[row] >= CALLS_TO_BE_NAMED)
        return row;
    row = locks_row_with(m, RECORDING_NONE, stack, t->resource);
    m->rows.at[row].row.is_seldom = true;
    return row;
}

/* By row. There are no more rows than there were and one for each of these. */
static uint64_t *locks_seen_calls(struct locks_making *m, struct arena *scratch)
{
    const struct recording *r = m->in->recording;
    uint64_t *seen = ARENA_NEW(scratch, uint64_t, m->rows.len + r->transfers.len + 1);
    for (size_t i = 0; i < r->transfers.len; i++) {
        const struct recording_transfer *t = &r->transfers.at[i];
        if (locks_takes(m->in, t->thread, t->node))
            seen[locks_row(m, t->resource, locks_stack(m, t->node))] += t->calls;
    }
    return seen;
}

/* Wholes are the two directions, and what samples stand for is drawn. Each stack gets the variance
 * of one sample more: where it begins and ends may lie between samples. */
static void locks_add_transfer_error(struct part_errors *errors, uint32_t row,
                                     const struct recording_transfer *t)
{
    double drawn = (double)t->squares, one = t->calls ? drawn / (double)t->calls : 0;
    part_errors_add(&errors[t->is_write], 0, row, t->thread, one, drawn);
}

/* Errors are of kB^2. Programs of known truth scatter by half as much again as drawing explains
 * (bench/wall-time); why is not known. What was transferred in all is: a row has no more than that
 * and no less than nothing. */
static void locks_sum_transfer_errors(struct locks_making *m, struct part_errors *errors,
                                      const uint64_t all[2])
{
    struct arena scratch = {0};
    const double kilo = 1000, uneven = 1.5;
    double *widths = ARENA_NEW(&scratch, double, m->rows.len + 1);
    for (int is_write = 0; is_write < 2; is_write++) {
        part_errors_sum(&errors[is_write], false, widths, m->rows.len);
        for (size_t i = 0; i < m->rows.len; i++) {
            struct lock *of = &m->rows.at[i].row;
            uint64_t bytes = is_write ? of->written : of->read, others = all[is_write] - bytes;
            double farthest = (double)(bytes > others ? bytes : others);
            double error = kilo * uneven * widths[i];
            *(is_write ? &of->written_error : &of->read_error) =
                error < farthest ? error : farthest;
        }
        part_errors_deinit(&errors[is_write]);
    }
    arena_deinit(&scratch);
}

void locks_add_transfers(struct locks_making *m, struct locks *out)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    const uint64_t *seen = locks_seen_calls(m, &scratch);
    struct part_errors errors[2] = {0};
    for (size_t i = 0; i < r->transferred.len; i++) {
        const struct recording_transferred *all = &r->transferred.at[i];
        out->has_total = true;
        out->total.read += all->read;
        out->total.written += all->written;
        out->total.read_calls += all->read_calls;
        out->total.write_calls += all->write_calls;
        out->total.disk_read += all->disk_read;
        out->total.disk_written += all->disk_written;
    }
    for (size_t i = 0; i < r->transfers.len; i++) {
        const struct recording_transfer *t = &r->transfers.at[i];
        bool is_new;
        if (!locks_takes(m->in, t->thread, t->node))
            continue;
        uint32_t stack = locks_stack(m, t->node), row = locks_transfer_row(m, t, stack, seen);
        uint32_t at =
            map_index(&m->transfer_of, map_two(row, t->is_write), stack, m->transfers.len, &is_new);
        if (is_new)
            vec_push(&m->transfers,
                     ((struct lock_transferring){{.stack = stack, .is_write = t->is_write}, row}));
        struct lock_transfer *one = &m->transfers.at[at].transfer;
        struct lock *of = &m->rows.at[row].row;
        one->calls += t->calls;
        one->bytes += t->bytes;
        one->disk_bytes += t->disk_bytes;
        *(t->is_write ? &of->written : &of->read) += t->bytes;
        *(t->is_write ? &of->disk_written : &of->disk_read) += t->disk_bytes;
        *(t->is_write ? &out->placed_written : &out->placed_read) += t->bytes;
        locks_add_transfer_error(errors, row, t);
    }
    locks_sum_transfer_errors(m, errors, (uint64_t[]){out->placed_read, out->placed_written});
    arena_deinit(&scratch);
}

/* By row first, as waiters are. */
static int locks_transfers_by_bytes(const void *left, const void *right)
{
    const struct lock_transferring *l = left, *r = right;
    if (l->row != r->row)
        return l->row < r->row ? -1 : 1;
    if (l->transfer.bytes != r->transfer.bytes)
        return l->transfer.bytes < r->transfer.bytes ? 1 : -1;
    if (l->transfer.is_write != r->transfer.is_write)
        return l->transfer.is_write ? 1 : -1;
    return (l->transfer.stack > r->transfer.stack) - (l->transfer.stack < r->transfer.stack);
}

void locks_sort_transfers(struct locks_making *m)
{
    if (m->transfers.len)
        qsort(m->transfers.at, m->transfers.len, sizeof *m->transfers.at, locks_transfers_by_bytes);
}
