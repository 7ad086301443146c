/* eCos's interface to a recorder on the target, over this one: what CYGPKG_PROFILE_GPROF offers to
 * programs and to the HAL, so that either need not change. */
#ifndef MONARC_EMBEDDED_ECOS_H
#define MONARC_EMBEDDED_ECOS_H

#include <monarc/embedded.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `bucket_size` in bytes, taken as the next power of two; `hist_sample_period` in microseconds:
 * the request to the HAL's timer, which may use a near value. */
void profile_on(void *start, void *end, int bucket_size, int hist_sample_period);
void profile_off(void);
void profile_reset(void);

/* Called by the HAL: from the timer's interrupt, and from its mcount. */
void __profile_hit(uintptr_t pc);
void __profile_mcount(uintptr_t caller_pc, uintptr_t callee_pc);

/* Provided by the HAL: starts the timer and returns the period it will have. Where there is none,
 * the requested period is assumed. */
int hal_enable_profile_timer(int period);

#ifdef __cplusplus
}
#endif

#endif
