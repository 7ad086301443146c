/* What depends on the machine: which core this is, and how a step of recording is protected from
 * interrupts. Internal to the recorder.
 *
 * Where the machine can swap a word in one step (LDREX, LR, CAS), nothing is masked: a step that
 * was interrupted is repeated, and NMIs may record. Elsewhere interrupts are masked for the length
 * of a step; what an NMI would record meanwhile is counted as lost. Never both. Other cores have
 * tables of their own. */
#ifndef MONARC_EMBEDDED_PORT_H
#define MONARC_EMBEDDED_PORT_H

#include <monarc/embedded.h>

#if defined(__cplusplus)
#error "the recorder is C"
#endif

#define MONARC_INLINE static inline MONARC_QUIET __attribute__((always_inline))

#if MONARC_CORES > 1
unsigned monarc_embedded_core(void);
#define MONARC_CORE() monarc_embedded_core()
#else
#define MONARC_CORE() 0
#endif

/* On AArch64 exclusive accesses need memory that is cached, so an MMU that is on: interrupts are
 * masked there, too. */
#ifndef MONARC_MASKS
#if defined(__aarch64__) || !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4)
#define MONARC_MASKS 1
#else
#define MONARC_MASKS 0
#endif
#endif

/* The ends of what must not be reordered where an interrupt may look. */
#define MONARC_BARRIER() __asm__ volatile("" ::: "memory")

#if MONARC_MASKS

/* Masks interrupts; the value puts back what was before. */
MONARC_INLINE uintptr_t monarc_mask(void)
{
    uintptr_t before = 0;
#if defined(__arm__) && __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
#elif defined(__arm__) && __ARM_ARCH >= 6 && (defined(__thumb2__) || !defined(__thumb__))
    __asm__ volatile("mrs %0, cpsr\n\tcpsid if" : "=r"(before)::"memory");
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, daif\n\tmsr daifset, #3" : "=r"(before)::"memory");
#elif defined(__riscv)
    __asm__ volatile(MONARC_ZICSR("csrrci %0, mstatus, 8") : "=r"(before)::"memory");
#else
    MONARC_BARRIER();
#endif
    return before;
}

MONARC_INLINE void monarc_unmask(uintptr_t before)
{
#if defined(__arm__) && __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("msr primask, %0" ::"r"(before) : "memory");
#elif defined(__arm__) && __ARM_ARCH >= 6 && (defined(__thumb2__) || !defined(__thumb__))
    __asm__ volatile("msr cpsr_c, %0" ::"r"(before) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr daif, %0" ::"r"(before) : "memory");
#elif defined(__riscv)
    __asm__ volatile(MONARC_ZICSR("csrs mstatus, %0")::"r"(before & 8) : "memory");
#else
    (void)before;
    MONARC_BARRIER();
#endif
}

MONARC_INLINE bool monarc_swap(uintptr_t *at, uintptr_t old, uintptr_t value)
{
    if (*at != old)
        return false;
    *at = value;
    return true;
}

MONARC_INLINE bool monarc_swap_32(uint32_t *at, uint32_t old, uint32_t value)
{
    if (*at != old)
        return false;
    *at = value;
    return true;
}

#else

MONARC_INLINE uintptr_t monarc_mask(void)
{
    return 0;
}

MONARC_INLINE void monarc_unmask(uintptr_t before)
{
    (void)before;
}

MONARC_INLINE bool monarc_swap(uintptr_t *at, uintptr_t old, uintptr_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

MONARC_INLINE bool monarc_swap_32(uint32_t *at, uint32_t old, uint32_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif

/* Where in a table of `slots` an arc is looked for first. The stub of Thumb-2 computes the same. */
MONARC_INLINE uint32_t monarc_slot(uintptr_t from, uintptr_t self, uint32_t slots)
{
    uint32_t low = (uint32_t)self, mixed = ((uint32_t)from ^ (low << 5 | low >> 27)) * 0x9e3779b1u;
#if defined(__thumb__) && !defined(__thumb2__)
    return (mixed >> 16) * slots >> 16; /* there is no long multiplication; slots fit 16 bits */
#else
    return (uint32_t)((uint64_t)mixed * slots >> 32);
#endif
}

#endif
