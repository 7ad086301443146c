/* Who called whom: two callers that reach two leaves through one function, recursion, deep stacks.
 */
#include "truth.h"

TRUTH_WORK(leaf_of_left)
TRUTH_WORK(leaf_of_right)
TRUTH_WORK(at_bottom)
TRUTH_WORK(even_work)
TRUTH_WORK(odd_work)

/* --- each caller has its leaf, and pair by pair nobody can tell ------------------------------- */

static APART double middle(void (*leaf)(unsigned), double seconds)
{
    double s = truth_spend(leaf, seconds);
    __asm__ volatile("");
    return s;
}

static APART double left(void)
{
    double s = middle(leaf_of_left, 0.12);
    __asm__ volatile("");
    return s;
}

static APART double right(void)
{
    double s = middle(leaf_of_right, 0.04);
    __asm__ volatile("");
    return s;
}

static void paths(void)
{
    for (int i = 0; i < 4; i++) {
        double s = left();
        truth_say("self", "leaf_of_left", s);
        truth_say("total", "left", s);
        truth_say("path", "left;middle;leaf_of_left", s);
        truth_say("total", "middle", s);
        s = right();
        truth_say("self", "leaf_of_right", s);
        truth_say("total", "right", s);
        truth_say("path", "right;middle;leaf_of_right", s);
        truth_say("total", "middle", s);
    }
    truth_say("path", "left;middle;leaf_of_right", 0);
    truth_say("path", "right;middle;leaf_of_left", 0);
}

/* --- recursion: a function's total is counted once, however often it is on the stack -----------
 */

static APART double down(int depth, double seconds)
{
    double s = depth ? down(depth - 1, seconds) : truth_spend(at_bottom, seconds);
    __asm__ volatile("");
    return s;
}

static void direct(void)
{
    for (int i = 0; i < 3; i++) {
        double s = down(30, 0.10);
        truth_say("self", "at_bottom", s);
        truth_say("total", "down", s);
        truth_self("even_work", even_work, 0.05);
    }
}

static APART double odd(int depth, double seconds);

static APART double even(int depth, double seconds)
{
    double s = truth_spend(even_work, seconds);
    s += depth ? odd(depth - 1, seconds) : 0;
    __asm__ volatile("");
    return s;
}

static APART double odd(int depth, double seconds)
{
    double s = truth_spend(odd_work, 2 * seconds);
    truth_say("self", "odd_work", s);
    s += depth ? even(depth - 1, seconds) : 0;
    __asm__ volatile("");
    return s;
}

static void mutual(void)
{
    double s = 0;
    for (int i = 0; i < 3; i++)
        s += even(9, 0.01);
    truth_say("total", "even", s);
    truth_self("at_bottom", at_bottom, 0.15);
}

/* --- stacks larger than what is copied of them -------------------------------------------------
 */

static APART double wide(int depth, double seconds)
{
    volatile char room[1024];
    room[0] = room[sizeof room - 1] = (char)depth;
    double s = depth ? wide(depth - 1, seconds) : truth_spend(at_bottom, seconds);
    return s + room[0] - room[sizeof room - 1];
}

static APART double outermost_of_deep(int depth)
{
    double s = wide(depth, 0.3);
    __asm__ volatile("");
    return s;
}

static void deep(int depth)
{
    double s = outermost_of_deep(depth);
    truth_say("self", "at_bottom", s);
    truth_say("total", "outermost_of_deep", s);
    truth_self("even_work", even_work, 0.1);
}

/* One frame larger than any copy of a stack. */
static APART double huge(double seconds)
{
    volatile char room[200 << 10];
    room[0] = room[sizeof room - 1] = 1;
    double s = truth_spend(at_bottom, seconds);
    return s + room[0] - room[sizeof room - 1];
}

static APART double outermost_of_huge(void)
{
    double s = huge(0.3);
    __asm__ volatile("");
    return s;
}

static void large(void)
{
    double s = outermost_of_huge();
    truth_say("self", "at_bottom", s);
    truth_say("total", "outermost_of_huge", s);
    truth_self("even_work", even_work, 0.1);
}

/* Two callers of a stack that is deeper than any copy of it, by turns, each with its leaf. */
typedef double descent(int depth, void (*leaf)(unsigned), double seconds);

#define DESCENT(name, bytes)                                                                \
    static APART double name(int depth, void (*leaf)(unsigned), double seconds)             \
    {                                                                                       \
        volatile char room[bytes];                                                          \
        room[0] = room[sizeof room - 1] = (char)depth;                                      \
        double s = depth > 1 ? name(depth - 1, leaf, seconds) : truth_spend(leaf, seconds); \
        return s + room[0] - room[sizeof room - 1];                                         \
    }

DESCENT(by_8, 8)
DESCENT(by_150, 150)
DESCENT(by_20k, 20000)
DESCENT(by_64k, 64 << 10)
DESCENT(by_1m, 1 << 20)

static const struct {
    const char *name;
    descent *go;
    int depth;
} descents[] = {
    {"50 bytes x 4000", by_8, 4000},
    {"200 bytes x 1000", by_150, 1000},
    {"20 kB x 10", by_20k, 10},
    {"64 kB", by_64k, 1},
    {"1 MB", by_1m, 1},
    {"50 bytes x 100000", by_8, 100000},
};

static APART double left_of_descent(descent *go, int depth)
{
    double s = go(depth, leaf_of_left, 0.012);
    __asm__ volatile("");
    return s;
}

static APART double right_of_descent(descent *go, int depth)
{
    double s = go(depth, leaf_of_right, 0.004);
    __asm__ volatile("");
    return s;
}

static void descend(const char *name)
{
    enum { ROUNDS = 75 };
    double left_s = 0, right_s = 0;
    for (size_t i = 0; i < sizeof descents / sizeof *descents; i++)
        for (int round = 0; round < ROUNDS && !strcmp(name, descents[i].name); round++) {
            left_s += left_of_descent(descents[i].go, descents[i].depth);
            right_s += right_of_descent(descents[i].go, descents[i].depth);
        }
    truth_say("self", "leaf_of_left", left_s);
    truth_say("self", "leaf_of_right", right_s);
    truth_say("total", "left_of_descent", left_s);
    truth_say("total", "right_of_descent", right_s);
    truth_say("path", "left_of_descent;leaf_of_left", left_s);
    truth_say("path", "right_of_descent;leaf_of_right", right_s);
    truth_say("path", "left_of_descent;leaf_of_right", 0);
    truth_say("path", "right_of_descent;leaf_of_left", 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "paths";
    if (!strcmp(how, "paths"))
        paths();
    else if (!strcmp(how, "direct"))
        direct();
    else if (!strcmp(how, "mutual"))
        mutual();
    else if (!strcmp(how, "large"))
        large();
    else if (!strcmp(how, "descend"))
        descend(argc > 2 ? argv[2] : "");
    else
        deep(atoi(how));
    truth_end();
    return 0;
}
