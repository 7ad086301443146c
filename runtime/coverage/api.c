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

/* An object whose functions claim more counts than its array holds is refused here, once: what
 * writes files may then trust that the slices lie within the array. */
void monarc_cover_register(struct coverage_info *info)
{
    struct object o = {.family = &da_family, .da = info};
    uint64_t mask, claimed = 0;
    for (uint32_t i = 0; i < info->n_functions; i++)
        claimed += info->functions[i].n_arc_counts;
    life_begin();
    objects_lock(&mask);
    if (claimed > info->n_arc_counts)
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
