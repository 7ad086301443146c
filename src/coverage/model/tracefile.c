/* The end of a tracefile's life. */
#include "coverage/model/tracefile.h"

void tracefile_deinit(struct tracefile *t)
{
    arena_deinit(&t->arena);
    vec_free(&t->sections);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->branches);
    vec_free(&t->conditions);
    *t = (struct tracefile){0};
}
