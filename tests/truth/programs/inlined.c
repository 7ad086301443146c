/* Functions that the compiler puts into their callers: they have no code of their own, and a name
 * all the same. The callers are told apart by path. */
#include "truth.h"

#define INLINED static inline __attribute__((always_inline))

INLINED uint64_t innermost_inlined(unsigned steps)
{
    uint64_t x = steps | 1u;
    for (unsigned i = 0; i < steps; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

INLINED uint64_t outer_inlined(unsigned steps)
{
    uint64_t x = innermost_inlined(steps);
    __asm__ volatile("" : "+r"(x));
    return x;
}

static APART void through_one(unsigned steps)
{
    uint64_t x = innermost_inlined(steps);
    __asm__ volatile("# one" : "+r"(x));
}

static APART void through_two(unsigned steps)
{
    uint64_t x = outer_inlined(steps);
    __asm__ volatile("# two" : "+r"(x));
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        double s = truth_spend(through_one, 0.03);
        truth_say("total", "through_one", s);
        truth_say("path", "through_one;innermost_inlined", s);
        s = truth_spend(through_two, 0.09);
        truth_say("total", "through_two", s);
        truth_say("path", "through_two;outer_inlined;innermost_inlined", s);
    }
    truth_end();
    return 0;
}
