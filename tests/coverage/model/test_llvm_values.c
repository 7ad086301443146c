/* Sums of values in LLVM's profiles: memory is that of the sum.
 *
 * Two builds of a function may have sites of different kinds: those of both stay. Of a kind with
 * another number of sites those with more stay, what was there before belongs to nobody and must
 * not stay in memory, and the function says that values were left out. */
#include "cases.h"
#include "coverage/model/llvm.h"

#include <stdlib.h>

/* One function with so many sites of a kind, of two values each. */
static struct llvm_profile profile_of(int kind, uint32_t sites)
{
    struct llvm_profile p = {.keeps_values = true, .runs = 1};
    struct llvm_function f = {.name_ref = 1, .hash = 2, .name = LLVM_NO_NAME};
    for (uint32_t i = 0; i < sites; i++) {
        llvm_site_push(&p, 2);
        vec_push(&p.values, ((struct llvm_value){1, 5}));
        vec_push(&p.values, ((struct llvm_value){2, 3}));
    }
    f.sites[kind] = sites;
    vec_push(&p.functions, f);
    return p;
}

CASE(test_sites_of_two_kinds_stay)
{
    enum { SITES = 500, ROUNDS = 400 };
    (void)state;
    struct llvm_profile sum = {0}, targets = profile_of(VALUES_TARGETS, SITES),
                        sizes = profile_of(VALUES_SIZES, SITES);
    for (int i = 0; i < ROUNDS; i++) {
        llvm_profile_add(&sum, &sizes);
        llvm_profile_add(&sum, &targets);
    }
    const struct llvm_function *f = &sum.functions.at[0];
    assert_int_equal(f->sites[VALUES_TARGETS], SITES);
    assert_int_equal(f->sites[VALUES_SIZES], SITES);
    assert_false(f->has_unlike_sites);
    assert_int_equal(sum.live_values, 4 * SITES);
    for (uint64_t i = 0; i < 2 * SITES; i++)
        assert_int_equal(sum.values.at[sum.sites.at[f->first_site + i].first].count, 5 * ROUNDS);
    assert_in_range(sum.sites.len, 2 * SITES, 32 * SITES);
    assert_in_range(sum.values.len, 4 * SITES, 32 * SITES);
    llvm_profile_deinit(&sum);
    llvm_profile_deinit(&targets);
    llvm_profile_deinit(&sizes);
}

CASE(test_sites_that_were_replaced_do_not_stay)
{
    enum { SITES = 800 };
    (void)state;
    struct llvm_profile sum = {0}, sizes = profile_of(VALUES_SIZES, 3);
    llvm_profile_add(&sum, &sizes);
    for (uint32_t i = 1; i <= SITES; i++) {
        struct llvm_profile targets = profile_of(VALUES_TARGETS, i);
        llvm_profile_add(&sum, &targets);
        llvm_profile_deinit(&targets);
    }
    assert_int_equal(sum.functions.at[0].sites[VALUES_TARGETS], SITES);
    assert_int_equal(sum.functions.at[0].sites[VALUES_SIZES], 3);
    assert_true(sum.functions.at[0].has_unlike_sites);
    assert_int_equal(sum.live_values, 2 * (SITES + 3));
    assert_in_range(sum.sites.len, SITES, 32 * SITES);
    assert_in_range(sum.values.len, 2 * SITES, 32 * SITES);
    llvm_profile_deinit(&sum);
    llvm_profile_deinit(&sizes);
}
