/* Ranks beside each other: exact values, bounded memory, and what is made of them. */
#include "cases.h"
#include "profile/analysis/ranks/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void feed(struct rank_set *s, uint32_t rank, const double *seconds, size_t regions)
{
    struct rank_info info = {.rank = rank, .host = "", .source = ""};
    char name[24];
    for (size_t i = 0; i < regions; i++)
        info.total += seconds[i];
    rank_set_open(s, &info);
    for (size_t i = 0; i < regions; i++) {
        snprintf(name, sizeof name, "f%zu", i);
        struct rank_region_key key = {.kind = RANK_REGION_FUNCTION, .name = name};
        rank_set_add(s, rank_set_region(s, &key), seconds[i]);
    }
    rank_set_close(s);
    s->samples += (uint64_t)(info.total * 1000);
}

static const struct rank_row *row_of(const struct rank_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->rows_len; i++)
        if (!strcmp(t->rows[i].region->key.name, name))
            return &t->rows[i];
    return NULL;
}

/* The same ranks once with room for all values and once with hardly any: sums, extremes and who has
 * them are the same, medians within 7 %, and what is largest is exact still. */
CASE(memory_is_bounded)
{
    enum { RANKS = 5000, REGIONS = 40 };
    struct rank_set exact, bounded;
    struct rank_table all, few;
    struct arena a = {0};
    uint64_t random = 1;
    (void)state;
    rank_set_init(&exact, RANK_NONE, RANK_NONE);
    rank_set_init(&bounded, 17, RANK_NONE);
    bounded.most_values = 4 * RANKS;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        double seconds[REGIONS];
        for (size_t i = 0; i < REGIONS; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            seconds[i] = (double)(REGIONS - i) * (1 + (double)(random >> 40) / 0x1p24);
        }
        feed(&exact, rank, seconds, REGIONS);
        feed(&bounded, rank, seconds, REGIONS);
        assert_true(bounded.values <= bounded.most_values);
    }
    rank_table_make(&all, &exact, &(struct rank_rules){.period = 1e-3}, &a);
    rank_table_make(&few, &bounded, &(struct rank_rules){.has_pair = true, .is_median = true}, &a);
    size_t folded = 0;
    for (uint32_t i = 0; i < all.rows_len; i++) {
        const struct rank_row *row = &all.rows[i], *other = row_of(&few, row->region->key.name);
        assert_true(other && other->mean == row->mean && other->most == row->most);
        assert_true(other->most_rank == row->most_rank && other->least == row->least);
        assert_true(fabs(other->median - row->median) <= 0.16 * row->median);
        assert_true(other->median_rank != RANK_NONE);
        folded += other->region->histogram != NULL;
    }
    assert_true(folded > REGIONS / 2 && row_of(&few, "f0")->sorted && few.rows[0].sorted &&
                few.rows[1].sorted);
    assert_int_equal(few.pairs_len, REGIONS + 1); /* the rank that was asked for is exact */
    assert_true(row_of(&few, "f39")->region->asked[0] > 0);
    rank_table_deinit(&all);
    rank_table_deinit(&few);
    rank_set_deinit(&exact);
    rank_set_deinit(&bounded);
    arena_deinit(&a);
}

/* Times that grow from rank to rank are one group; a step makes two. */
CASE(groups_need_gaps)
{
    for (int has_step = 0; has_step < 2; has_step++) {
        struct rank_set s;
        struct rank_table t;
        struct arena a = {0};
        rank_set_init(&s, RANK_NONE, RANK_NONE);
        for (uint32_t rank = 0; rank < 64; rank++)
            feed(&s, 63 - rank, (double[]){1 + rank / 64.0 + (has_step && rank > 39)}, 1);
        rank_table_make(&t, &s, &(struct rank_rules){0}, &a);
        assert_int_equal(t.groups_len, 1 + has_step);
        assert_int_equal(t.groups[0].len, has_step ? 40 : 64);
        assert_true(fabs(t.period - 1e-3) < 1e-5);
        rank_table_deinit(&t);
        rank_set_deinit(&s);
        arena_deinit(&a);
    }
}

CASE(calls_have_one_name)
{
    static const char *const CASES[][2] = {
        {"MPI_Send", "MPI_Send"},
        {"PMPI_Send", "MPI_Send"},
        {"mpi_send_", "MPI_Send"},
        {"mpi_init_thread__", "MPI_Init_thread"},
        {"pmpi_send", "MPI_Send"},
        {"MPI_SEND", "MPI_Send"},
        {"MPI_Send@@LIBMPI", "MPI_Send"},
        {"MPI_File_write_at_all", "MPI_File_write_at_all"},
        {"MPI_", NULL},
        {"MPIR_Wait", NULL},
        {"MPI_send", NULL},
        {"mpich", NULL},
        {"MPI_Send::f", NULL},
        {"", NULL},
        {"P", NULL},
        {"mpi_1", NULL},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *call = rank_mpi_call(CASES[i][0], &a);
        if (CASES[i][1])
            assert_string_equal(call, CASES[i][1]);
        else
            assert_null(call);
    }
    arena_deinit(&a);
}
