/* Sums over what the embedded recorder says of itself. */
#include "profile/model/embedded.h"

#include "base/bytes.h"

void embedded_deinit(struct embedded *m)
{
    vec_free(&m->cores);
    profile_deinit(&m->time);
    profile_deinit(&m->stacks);
}

uint64_t embedded_lost_calls(const struct embedded *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->cores.len; i++)
        sum += m->cores.at[i].lost_calls + m->cores.at[i].nested_calls;
    return sum;
}

uint64_t embedded_lost_samples(const struct embedded *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->cores.len; i++)
        sum += m->cores.at[i].outside_samples + m->cores.at[i].saturated_samples;
    return sum;
}

uint32_t embedded_text_sum(uint32_t before, struct bytes text, bool big_endian)
{
    uint32_t sum = before;
    for (size_t i = 0; i + 4 <= text.len; i += 4)
        sum = (sum << 5 | sum >> 27) + bytes_u32(text.at + i, big_endian);
    return sum;
}
