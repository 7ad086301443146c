/* What a test draws comes from one number, so that a failure can be repeated: MONARC_SEED, which
 * run_all.py sets, or one that is drawn and printed. seeds.py is the same for scripts.
 *
 *     struct draws d = draws_of("mappings");
 *     uint64_t start = draws_below(&d, 200);
 *
 * The generator is splitmix64 (Steele, Lea and Flood, OOPSLA 2014): a state of 64 bits, whatever
 * the seed. Each purpose has one of its own: what one case draws does not depend on which others
 * run. */
#ifndef MONARC_TESTS_SEEDS_H
#define MONARC_TESTS_SEEDS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

struct draws {
    uint64_t state;
};

static inline uint64_t draws_next(struct draws *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* From 0 to `end` - 1; `end` is small enough that nobody sees that the first are a bit more
 * frequent. */
static inline uint64_t draws_below(struct draws *d, uint64_t end)
{
    return draws_next(d) % end;
}

/* This program's seed. The first time, it is printed: to stderr, which nobody reads a report from.
 */
static inline uint64_t draws_seed(void)
{
    static bool is_known;
    static uint64_t number;
    if (is_known)
        return number;
    const char *text = getenv("MONARC_SEED");
    char *end = NULL;
    if (text)
        number = strtoull(text, &end, 10);
    if (text && (!*text || *end)) {
        fprintf(stderr, "MONARC_SEED is no number: %s\n", text);
        abort();
    }
    if (!text && getrandom(&number, sizeof(uint32_t), 0) != sizeof(uint32_t))
        abort();
    is_known = true;
    fprintf(stderr, "# seed %" PRIu64 "\n", number);
    return number;
}

/* A generator of this seed and purpose. */
static inline struct draws draws_of(const char *what)
{
    struct draws d = {draws_seed()};
    for (; *what; what++)
        d.state = draws_next(&d) ^ (unsigned char)*what;
    return d;
}

/* The same for rand(). */
static inline void draws_start_rand(const char *what)
{
    struct draws d = draws_of(what);
    srand((unsigned)draws_next(&d));
}

#endif
