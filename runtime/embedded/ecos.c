/* eCos's calling interface, as a thin layer. Its structures of gmon.out are those that
 * monarc_embedded_write_gmon() writes: compiled inside eCos, with MONARC_ECOS_GMON_OUT naming
 * eCos's own header, the places of their fields are checked against what is written here.
 *
 * eCos allocates its tables; here they are of MONARC_MEMORY_BYTES. Counts of arcs saturate there at
 * 2^32 and a full table drops calls with one warning; here counts go on and lost calls are counted.
 */
#include "ecos.h"

#include <monarc/gmon_out.h>

#include <stddef.h>

#ifdef MONARC_ECOS_GMON_OUT
#include MONARC_ECOS_GMON_OUT

#define PLACE(name, type, field, place) \
    typedef char name[offsetof(struct type, field) == (place) ? 1 : -1]
PLACE(header_version, gmon_hdr, version, 4);
PLACE(header_spare, gmon_hdr, spare, 8);
PLACE(histogram_high, gmon_hist_hdr, high_pc, sizeof(void *));
PLACE(histogram_size, gmon_hist_hdr, hist_size, 2 * sizeof(void *));
PLACE(histogram_rate, gmon_hist_hdr, prof_rate, 2 * sizeof(void *) + 4);
PLACE(histogram_dimension, gmon_hist_hdr, dimen, 2 * sizeof(void *) + 8);
PLACE(histogram_letter, gmon_hist_hdr, dimen_abbrev,
      2 * sizeof(void *) + 8 + GMON_OUT_DIMENSION_BYTES);
PLACE(arc_self, gmon_cg_arc_record, self_pc, sizeof(void *));
PLACE(arc_count, gmon_cg_arc_record, count, 2 * sizeof(void *));
typedef char header_size[sizeof(struct gmon_hdr) == GMON_OUT_HEADER_BYTES ? 1 : -1];
#endif

/* Optional in a HAL. NOLINTNEXTLINE(readability-redundant-declaration) */
int hal_enable_profile_timer(int period) __attribute__((weak));

MONARC_QUIET void profile_on(void *start, void *end, int bucket_size, int hist_sample_period)
{
    int period = hist_sample_period;
    monarc_embedded_stop();
    if (hal_enable_profile_timer)
        period = hal_enable_profile_timer(hist_sample_period);
    monarc_embedded_on(start, end, bucket_size > 0 ? (uint32_t)bucket_size : 1,
                       period > 0 ? 1000000u / (uint32_t)period : 0);
}

MONARC_QUIET void profile_off(void)
{
    monarc_embedded_stop();
}

MONARC_QUIET void profile_reset(void)
{
    monarc_embedded_reset();
}

MONARC_QUIET void __profile_hit(uintptr_t pc)
{
    monarc_embedded_sample(pc);
}

MONARC_QUIET void __profile_mcount(uintptr_t caller_pc, uintptr_t callee_pc)
{
    monarc_embedded_call(caller_pc, callee_pc);
}
