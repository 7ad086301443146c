/* Writes wide.out by hand: a bin beyond 16 bits, a call count beyond 32. Linked with the recorder's
 * own objects. */
#include "counting.h"

#include "gmon.h"
#include "start.h"
#include "../common/sys.h"

COUNTED(target)
COUNTED(caller)

int main(void)
{
    struct object *o = process_get() ? objects : NULL;
    while (o && !o->is_main)
        o = o->next;
    uint64_t at = (uint64_t)(uintptr_t)target + 4, from = (uint64_t)(uintptr_t)caller + 4;
    struct cell arc = {from, at, ((uint64_t)1 << 33) + 5, 0};
    struct cell samples[] = {{1, at, 200000, 0}, {1, from, 65535, 0}};
    struct measured m = {.arcs = {.at = &arc, .count = 1},
                         .stacks = {.at = samples, .count = 2},
                         .totals = {.rate = 1000}};
    struct output *out = sys_pages(sizeof *out);
    if (!o || !out || !gmon_write(out, "wide.out", o, &m))
        return 1;
    return 0;
}
