/* What gcc calls for atomic operations on 64-bit words of a 32-bit x86 when it is kept from vector
 * registers. libatomic has them as well, but the recorder needs no other library.
 * On other machines the file is empty.
 *
 * Specification: gcc's "Library interface" of atomics; CMPXCHG8B of the Pentium. */
#include <stdbool.h>
#include <stdint.h>

#if defined(__i386__)

#define CALLED(name) __asm__(#name) __attribute__((visibility("hidden")))

uint64_t load(const volatile uint64_t *at, int order) CALLED(__atomic_load_8);
void store(volatile uint64_t *at, uint64_t value, int order) CALLED(__atomic_store_8);
uint64_t fetch_add(volatile uint64_t *at, uint64_t more, int order) CALLED(__atomic_fetch_add_8);
uint64_t fetch_or(volatile uint64_t *at, uint64_t bits, int order) CALLED(__atomic_fetch_or_8);
bool compare_exchange(volatile uint64_t *at, uint64_t *expected, uint64_t wanted, int success,
                      int failure) CALLED(__atomic_compare_exchange_8);

/* What was there; it is `next` now if that was `last`. */
static uint64_t swap_if(volatile uint64_t *at, uint64_t last, uint64_t next)
{
    __asm__ volatile("lock cmpxchg8b %1"
                     : "+A"(last), "+m"(*at)
                     : "b"((uint32_t)next), "c"((uint32_t)(next >> 32))
                     : "memory", "cc");
    return last;
}

/* Nothing is written where 0 takes the place of 0, but the page has to be writable. */
uint64_t load(const volatile uint64_t *at, int order)
{
    (void)order;
    return swap_if((volatile uint64_t *)at, 0, 0);
}

void store(volatile uint64_t *at, uint64_t value, int order)
{
    (void)order;
    for (uint64_t last = 0, was; (was = swap_if(at, last, value)) != last;)
        last = was;
}

uint64_t fetch_add(volatile uint64_t *at, uint64_t more, int order)
{
    (void)order;
    uint64_t last = 0, was;
    while ((was = swap_if(at, last, last + more)) != last)
        last = was;
    return last;
}

uint64_t fetch_or(volatile uint64_t *at, uint64_t bits, int order)
{
    (void)order;
    uint64_t last = 0, was;
    while ((was = swap_if(at, last, last | bits)) != last)
        last = was;
    return last;
}

bool compare_exchange(volatile uint64_t *at, uint64_t *expected, uint64_t wanted, int success,
                      int failure)
{
    (void)success;
    (void)failure;
    uint64_t last = *expected, was = swap_if(at, last, wanted);
    *expected = was;
    return was == last;
}

#endif
