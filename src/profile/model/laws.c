/* The laws of merging, checked on three profiles: what tests and fuzz targets hold it to. */
#include "profile/model/laws.h"

#include <inttypes.h>
#include <string.h>

/* a + b, or a + (b + c), in normal form. */
static bool sum_of(struct profile *sum, const struct profile *a, const struct profile *b,
                   const struct profile *c)
{
    struct profile right = {0};
    bool ok = profile_merge(&right, b, NULL) && (!c || profile_merge(&right, c, NULL)) &&
              profile_merge(sum, a, NULL) && profile_merge(sum, &right, NULL);
    profile_deinit(&right);
    profile_normalize(sum);
    return ok;
}

static bool keeps_sums(const struct profile *sum, const struct profile *a, const struct profile *b)
{
    return profile_samples(sum) == add_saturating(profile_samples(a), profile_samples(b)) &&
           profile_calls(sum) == add_saturating(profile_calls(a), profile_calls(b));
}

bool check_merge_laws(const struct profile *a, const struct profile *b, const struct profile *c,
                      struct err *e)
{
    struct profile ab = {0}, ba = {0}, ab_c = {0}, a_bc = {0};
    bool can_two = sum_of(&ab, a, b, NULL);
    bool can_three = can_two && sum_of(&ab_c, c, &ab, NULL);
    bool ok = true;
    if (can_two != sum_of(&ba, b, a, NULL) || (can_two && !profile_same(&ab, &ba)))
        ok = err_set(e, "merging does not commute");
    else if (can_two && !keeps_sums(&ab, a, b))
        ok = err_set(e, "merging changes the sum of samples or calls");
    else if (can_three && (!sum_of(&a_bc, a, b, c) || !profile_same(&ab_c, &a_bc)))
        ok = err_set(e, "merging does not associate");
    profile_deinit(&ab);
    profile_deinit(&ba);
    profile_deinit(&ab_c);
    profile_deinit(&a_bc);
    return ok;
}
