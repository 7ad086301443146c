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
    else
        deep(atoi(how));
    truth_end();
    return 0;
}
