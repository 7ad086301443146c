/* What a program may call by itself: GCC's interface and monarc's. */
#include "dump.h"
#include "export.h"
#include "life.h"
#include "objects.h"
#include "report.h"

GCOV_API void __gcov_dump(void);
GCOV_API void __gcov_reset(void);
GCOV_API void __gcov_flush(void);

int monarc_cover_dump(void)
{
    return dump(DUMP_MORE | DUMP_ASYNC) ? 0 : -1;
}

void monarc_cover_reset(void)
{
    uint64_t mask;
    objects_lock(&mask);
    dump_adopt();
    objects_check(true);
    objects_reset();
    objects_unlock(&mask);
}

/* An object whose functions claim more counts than its array holds, or a number of them below
 * zero (the proposal's are signed), is refused here, once: what writes files may then trust that
 * the slices lie within the array. */
void monarc_cover_register(struct coverage_info *info)
{
    struct object o = {.family = &da_family, .da = info};
    uint64_t mask;
    bool is_below_zero = info->n_functions < 0;
    int64_t claimed = 0;
    for (long i = 0; i < info->n_functions; i++) {
        is_below_zero |= info->functions[i].n_arc_counts < 0;
        claimed += info->functions[i].n_arc_counts;
    }
    life_begin();
    objects_lock(&mask);
    if (is_below_zero)
        report(info->filename, "it has a negative number of functions or counts; not recorded",
               NULL);
    else if (claimed > info->n_arc_counts)
        report(info->filename, "its functions claim more counts than the object has; not recorded",
               NULL);
    else
        objects_add(&o);
    objects_unlock(&mask);
}

void __gcov_dump(void)
{
    dump(DUMP_MORE);
}

void __gcov_reset(void)
{
    monarc_cover_reset();
}

/* Until GCC 10: write, then count from zero. What was written is not written again anyway. */
void __gcov_flush(void)
{
    dump(DUMP_MORE);
}
