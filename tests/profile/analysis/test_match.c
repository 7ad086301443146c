/* Which function of an old build is which of a new one, on identities made by hand. */
#include "cases.h"
#include "profile/analysis/compare/comparison.h"

/* A function that is inlined in one place and called in another has two rows. However the tables
 * are ordered, and whatever else differs, like goes with like. */
CASE(inlined_copies_stay_apart)
{
    static const char *const files[] = {"/a/src/table.c", "/b/src/table.c", "/b/other/table.c",
                                        NULL};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (uint32_t turned = 0; turned < 2; turned++) {
            struct arena a = {0};
            struct identity old[] = {
                {.name = "get", .file = "/a/src/table.c", .size = 40},
                {.name = "get", .file = "/a/src/table.c", .size = 1, .is_inlined = true}};
            struct identity new[2];
            new[turned] = (struct identity){.name = "get", .file = files[f], .size = 52};
            new[!turned] =
                (struct identity){.name = "get", .file = files[f], .size = 3, .is_inlined = true};
            struct identities olds = {old, 2}, news = {new, 2};
            struct match m;
            match_identities(&m, &olds, &news, &a);
            for (uint32_t i = 0; i < 2; i++) {
                assert_true(m.old_of[i] < 2);
                assert_int_equal(old[m.old_of[i]].is_inlined, new[i].is_inlined);
            }
            arena_deinit(&a);
        }
}

/* What the compiler inlines now, and called before, is still the same function. */
CASE(what_is_inlined_now)
{
    struct arena a = {0};
    struct identity old = {.name = "get", .file = "/a/table.c", .size = 40};
    struct identity new = {.name = "get", .file = "/a/table.c", .size = 1, .is_inlined = true};
    struct identities olds = {&old, 1}, news = {&new, 1};
    struct match m;
    match_identities(&m, &olds, &news, &a);
    assert_int_equal(m.old_of[0], 0);
    assert_int_equal(m.kind[0], MATCH_SAME);
    arena_deinit(&a);
}
