/* The end of a patch's life. */
#include "coverage/model/patch.h"

void patch_deinit(struct patch *p)
{
    arena_deinit(&p->arena);
    vec_free(&p->files);
    vec_free(&p->ranges);
    vec_free(&p->old_files);
    vec_free(&p->old_ranges);
    *p = (struct patch){0};
}
