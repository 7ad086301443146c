/* Sorting functions by linkage name. */
#include "profile/analysis/functions.h"

#include "base/sort.h"
#include "base/vec.h"

#include <string.h>

/* Eight bytes of a name from `skip` on, as a number that sorts like them; 0 where it has ended. */
static uint64_t name_part(const char *name, size_t skip)
{
    uint64_t part = 0;
    size_t i = 0;
    for (; i < 8 && name[skip + i]; i++)
        part = part << 8 | (unsigned char)name[skip + i];
    return i ? part << 8 * (8 - i) : 0;
}

/* A run of names that are equal up to `skip`. */
struct name_run {
    size_t start, len, skip;
};

/* Lines of one function follow each other: only the first one's name is sorted. */
enum { SAME_AS_BEFORE = UINT32_MAX };

static bool is_same(const char *left, const char *right)
{
    return left == right || !strcmp(left, right);
}

/* Numbers equal names equally, in sorted order: eight bytes at a time, runs of names that agree in
 * them again by the next eight. The runs still to do wait on a stack, the first one on top. */
void functions_order_names(struct functions *f, struct arena *a)
{
    if (f->name_order)
        return;
    uint32_t *order = ARENA_NEW(a, uint32_t, f->len), number = 0, len = 0;
    struct arena scratch = {0};
    struct keyed *names = ARENA_NEW(&scratch, struct keyed, f->len);
    VEC(struct name_run) todo = {0};
    for (uint32_t i = 0; i < f->len; i++) {
        order[i] = SAME_AS_BEFORE;
        if (!i || !is_same(f->at[i - 1].name, f->at[i].name))
            names[len++].item = i;
    }
    vec_push(&todo, ((struct name_run){0, len, 0}));
    while (todo.len) {
        struct name_run run = todo.at[--todo.len];
        struct keyed *at = names + run.start;
        bool is_final = run.len == 1 || (run.skip && !(at[0].key & 0xff));
        if (is_final) {
            for (size_t i = 0; i < run.len; i++)
                order[at[i].item] = number;
            number++;
            continue;
        }
        for (size_t i = 0; i < run.len; i++)
            at[i].key = name_part(f->at[at[i].item].name, run.skip);
        sort_keyed(at, run.len);
        for (size_t end = run.len, start; end > 0; end = start) {
            for (start = end - 1; start && at[start - 1].key == at[end - 1].key;)
                start--;
            vec_push(&todo, ((struct name_run){run.start + start, end - start, run.skip + 8}));
        }
    }
    vec_free(&todo);
    arena_deinit(&scratch);
    for (uint32_t i = 1; i < f->len; i++)
        order[i] = order[i] == SAME_AS_BEFORE ? order[i - 1] : order[i];
    f->name_order = order;
}
