/* Collects the rows of a line program and orders them.
 *
 * Where a table contradicts itself, it is read as BFD reads it, because addr2line is what people
 * compare with: of several rows at one address the last counts; of overlapping sequences the one
 * that starts first does, and what another has beyond it. */
#include "objfile/linetable.h"

#include "base/search.h"
#include "base/sort.h"

#include <string.h>

/* For compilers that step back within a sequence. */
static void sort_rows(struct line_row *rows, size_t len)
{
    if (len > UINT32_MAX)
        return;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct line_row *copy = ARENA_NEW(&scratch, struct line_row, len);
    memcpy(copy, rows, len * sizeof *rows);
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){rows[i].address, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        rows[i] = copy[order[i].item];
    arena_deinit(&scratch);
}

/* Ends the sequence that began at row `first`; empty ones leave no trace. */
static void end_sequence(struct line_table *t, size_t first, bool is_sorted, uint64_t high)
{
    size_t len = t->rows.len - first;
    if (!is_sorted)
        sort_rows(t->rows.at + first, len);
    if (len && t->rows.at[first].address < high)
        vec_push(&t->sequences,
                 (struct line_sequence){
                     .low = t->rows.at[first].address, .high = high, .first = first, .len = len});
    else
        t->rows.len = first;
}

static void add_row(struct line_table *t, size_t first, const struct line_row *row, bool *is_sorted)
{
    if (t->rows.len > first) {
        struct line_row *last = &t->rows.at[t->rows.len - 1];
        if (last->address == row->address) {
            *last = *row;
            return;
        }
        *is_sorted &= last->address < row->address;
    }
    vec_push(&t->rows, *row);
}

/* A program that stops inside a sequence has told us no end for its last row: that row is lost. */
static void collect(struct line_table *t)
{
    enum { BYTES_A_ROW = 4 }; /* or fewer, then it grows */
    struct line_row row;
    size_t first = 0;
    bool is_sorted = true;
    enum line_event event;
    vec_reserve(&t->rows, cursor_left(&t->program.code) / BYTES_A_ROW + 1);
    while ((event = line_program_next(&t->program, &row)) != LINE_STOP) {
        if (event == LINE_ROW) {
            add_row(t, first, &row, &is_sorted);
            t->rows.len += line_program_run(&t->program, &t->rows.at[t->rows.len - 1],
                                            t->rows.cap - t->rows.len);
            continue;
        }
        end_sequence(t, first, is_sorted, row.address);
        first = t->rows.len;
        is_sorted = true;
    }
    if (t->rows.len > first)
        end_sequence(t, first, is_sorted, t->rows.at[t->rows.len - 1].address);
}

static int by_range(uint32_t left, uint32_t right, const void *context)
{
    const struct line_sequence *l = (const struct line_sequence *)context + left;
    const struct line_sequence *r = (const struct line_sequence *)context + right;
    if (l->low != r->low)
        return l->low < r->low ? -1 : 1;
    return (l->high < r->high) - (l->high > r->high); /* the longer one first */
}

static void order_sequences(struct line_table *t)
{
    size_t len = t->sequences.len;
    if (!len || len > UINT32_MAX)
        return;
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    struct line_sequence *copy = ARENA_NEW(&scratch, struct line_sequence, len);
    memcpy(copy, t->sequences.at, len * sizeof *copy);
    for (size_t i = 0; i < len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, len, by_range, copy);
    uint64_t covered = 0;
    t->sequences.len = 0;
    for (size_t i = 0; i < len; i++) {
        struct line_sequence s = copy[order[i]];
        if (s.high <= covered)
            continue;
        s.low = s.low < covered ? covered : s.low;
        covered = s.high;
        t->sequences.at[t->sequences.len++] = s;
    }
    arena_deinit(&scratch);
}

void line_table_read(struct line_table *t, const struct line_sections *sections, uint64_t offset,
                     const char *comp_dir)
{
    line_program_close(&t->program);
    t->comp_dir = comp_dir;
    t->is_known = t->is_decoded = true;
    if (!line_program_open(&t->program, sections, offset))
        return;
    collect(t);
    order_sequences(t);
}

void line_table_forget(struct line_table *t)
{
    vec_free(&t->rows);
    vec_free(&t->sequences);
    t->is_decoded = false;
}

void line_table_deinit(struct line_table *t)
{
    line_table_forget(t);
    line_program_close(&t->program);
    vec_free(&t->paths);
}

size_t line_table_sequence_from(const struct line_table *t, uint64_t address)
{
    return PARTITION_POINT(t->sequences.len, i, t->sequences.at[i].high <= address);
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t address)
{
    size_t from = line_table_sequence_from(t, address);
    if (from == t->sequences.len || t->sequences.at[from].low > address)
        return NULL;
    const struct line_sequence *s = &t->sequences.at[from];
    const struct line_row *rows = t->rows.at + s->first;
    size_t behind = PARTITION_POINT(s->len, i, rows[i].address <= address);
    return behind ? &rows[behind - 1] : NULL;
}

const char *line_table_path(struct line_table *t, uint32_t file, struct arena *a)
{
    if (file >= t->program.files.len)
        return NULL;
    if (!t->paths.len) {
        vec_reserve(&t->paths, t->program.files.len);
        t->paths.len = t->program.files.len;
        memset(t->paths.at, 0, t->paths.len * sizeof *t->paths.at);
    }
    if (!t->paths.at[file])
        t->paths.at[file] = line_program_path(&t->program, file, t->comp_dir, a);
    return t->paths.at[file];
}
