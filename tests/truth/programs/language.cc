// C++: work in a template's instances, below a function that throws through several frames, and in
// a handler of an exception.
#include "truth.h"

#include <stdexcept>

namespace shapes
{
template <typename T, int Which> struct worker {
    APART static void run(unsigned steps)
    {
        uint64_t x = steps | 1u;
        for (unsigned i = 0; i < steps; i++) {
            x = x * UINT64_C(6364136223846793005) + Which;
            __asm__ volatile("" : "+r"(x));
        }
    }
};
} // namespace shapes

TRUTH_WORK(in_handler)

static APART void throws(double seconds)
{
    truth_say("self", "shapes::worker<int, 1>::run",
              truth_spend(shapes::worker<int, 1>::run, seconds));
    throw std::runtime_error("as it must");
}

struct guard {
    ~guard()
    {
        __asm__ volatile("");
    }
};

static APART void passes_on(double seconds)
{
    guard g;
    throws(seconds);
}

int main()
{
    for (int i = 0; i < 4; i++) {
        try {
            passes_on(0.06);
        } catch (const std::exception &) {
            truth_self("in_handler", in_handler, 0.03);
        }
        truth_say("self", "shapes::worker<double, 2>::run",
                  truth_spend(shapes::worker<double, 2>::run, 0.03));
    }
    truth_end();
    return 0;
}
