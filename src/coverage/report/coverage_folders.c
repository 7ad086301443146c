/* Sources by folder, for formats that put them into packages. */
#include "base/path.h"
#include "base/sort.h"
#include "coverage/report/coverage_report.h"

#include <string.h>

static int by_folder(uint32_t left, uint32_t right, const void *context)
{
    const struct coverage_result *r = context;
    const char *a = r->sources.at[left].path, *b = r->sources.at[right].path;
    size_t first = path_folder_length(a), second = path_folder_length(b);
    int order = memcmp(a, b, first < second ? first : second);
    return order ? order : first < second ? -1 : first > second;
}

uint32_t *sources_by_folder(const struct coverage_result *r, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, r->sources.len + 1);
    for (uint32_t i = 0; i < r->sources.len; i++)
        order[i] = i;
    sort_u32(order, r->sources.len, by_folder, r);
    return order;
}

size_t sources_folder_end(const struct coverage_result *r, const uint32_t *order, size_t i)
{
    size_t end = i + 1;
    while (end < r->sources.len && !by_folder(order[i], order[end], r))
        end++;
    return end;
}

static void ratio_add(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

void ratios_add(struct coverage_ratios *sum, const struct coverage_ratios *part)
{
    ratio_add(&sum->lines, &part->lines);
    ratio_add(&sum->functions, &part->functions);
    ratio_add(&sum->branches, &part->branches);
    ratio_add(&sum->conditions, &part->conditions);
    ratio_add(&sum->calls, &part->calls);
}
