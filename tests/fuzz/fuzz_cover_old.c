/* libFuzzer: an old counter file as libmonarc_cover meets it, gcda or (first byte odd) da. Whatever
 * it holds is refused or merged; what was merged can be merged with again. */
#include "../../runtime/coverage/objects.h"

#include <stdlib.h>
#include <string.h>

#define GCC_12 0x4232322au /* "B22*" */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const enum gcov_rule rules[GCOV_SLOTS] = {
    GCOV_RULE_ADD,   GCOV_RULE_ADD, GCOV_RULE_ADD, GCOV_RULE_LISTS,
    GCOV_RULE_LISTS, GCOV_RULE_ADD, GCOV_RULE_IOR, GCOV_RULE_FIRST,
};
static gcov_type arcs[6] = {1, 2, 3, 4, 5, 6};
static struct function_info functions[] = {
    {"main", 0x1234, 2},
    {"same", 0x77, 1},
    {"same", 0x77, 3},
};
static const struct coverage_info registered = {0x65343033, NULL, "x.da", functions, 3, arcs, 6};

static void put(struct buffer *b, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buffer_u32(b, words[i]);
}

/* One function with three arcs, a list of two values and a first time; one that is elsewhere. */
static void gcda_image(struct buffer *b)
{
    static const uint32_t head[] = {GCOV_MAGIC_COUNTERS,
                                    GCC_12,
                                    1,
                                    2,
                                    GCOV_TAG_OBJECT_SUMMARY,
                                    8,
                                    1,
                                    9,
                                    GCOV_TAG_FUNCTION,
                                    12,
                                    3,
                                    4,
                                    5,
                                    GCOV_TAG_OF_SLOT(0),
                                    24};
    static const uint32_t end[] = {GCOV_TAG_FUNCTION, 0, 0};
    put(b, head, sizeof head / sizeof *head);
    for (uint64_t i = 7; i < 10; i++)
        buffer_u64(b, i);
    put(b, (const uint32_t[]){GCOV_TAG_OF_SLOT(3), 48}, 2);
    for (uint64_t i = 0; i < 6; i++)
        buffer_u64(b, i == 1 ? 2 : i + 10);
    put(b, (const uint32_t[]){GCOV_TAG_OF_SLOT(7), 8, 6, 0}, 4);
    put(b, end, 3);
}

static enum verdict merge(bool is_da, struct cursor now, struct cursor old, struct buffer *out)
{
    struct form form = {dialect_of_word(GCC_12), rules};
    struct object da = {.family = &da_family, .da = &registered};
    const char *why = NULL;
    enum verdict v =
        is_da ? da_family.add(&da, now, old, out, &why) : gcda_add(&form, now, old, out, &why);
    if (v != VERDICT_FINE && v != VERDICT_NO_ROOM && !why)
        abort();
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    unsigned char bytes[1024];
    struct buffer now = {.at = bytes, .size = sizeof bytes};
    struct object da = {.family = &da_family, .da = &registered};
    struct totals none = {0};
    bool is_da = len > 0 && data[0] % 2;
    if (len == 0)
        return 0;
    if (is_da)
        da_family.image(&da, &none, &now);
    else
        gcda_image(&now);
    size_t size = now.used + len + 64; /* what store.c provides */
    struct buffer once = {.at = malloc(size), .size = size};
    struct buffer twice = {.at = malloc(size + now.used), .size = size + now.used};
    struct cursor image = cursor_on(bytes, now.used);
    if (once.at && twice.at &&
        merge(is_da, image, cursor_on(data + 1, len - 1), &once) == VERDICT_FINE &&
        merge(is_da, image, cursor_on(once.at, once.used), &twice) != VERDICT_FINE)
        abort();
    free(once.at);
    free(twice.at);
    return 0;
}
