/* Leaving out all that gmon.out cannot hold. */
#include "profile/model/recording_profile.h"

#include <string.h>

enum { BIN_BYTES = 2, MOST_TEXT = 1 << 30 };

struct profile_range {
    uint64_t low, high;
};

static bool is_of_program(const struct recording *r, const struct recording_sample *s)
{
    return s->event == 0 && r->nodes.at[s->node].object == r->processes.at[0].program;
}

static struct profile_range range_of(const struct recording *r)
{
    struct profile_range range = {UINT64_MAX, 0};
    for (size_t i = 0; i < r->samples.len; i++) {
        uint64_t address = r->nodes.at[r->samples.at[i].node].address;
        if (!is_of_program(r, &r->samples.at[i]))
            continue;
        range.low = address < range.low ? address : range.low;
        range.high = address >= range.high ? address + 1 : range.high;
    }
    range.low &= -(uint64_t)BIN_BYTES;
    range.high = (range.high + BIN_BYTES - 1) & -(uint64_t)BIN_BYTES;
    return range;
}

bool recording_profile(const struct recording *r, struct profile *out)
{
    if (!r->processes.len || !r->events.len || !r->events.at[0].period ||
        r->processes.at[0].program == RECORDING_NONE)
        return false;
    struct profile_range range = range_of(r);
    const struct recording_event *event = &r->events.at[0];
    if (range.high <= range.low || range.high - range.low > MOST_TEXT)
        return false;
    bool is_time = event->unit == RECORDING_UNIT_NS;
    struct histogram h = {.low = range.low,
                          .high = range.high,
                          .bins = (uint32_t)((range.high - range.low) / BIN_BYTES),
                          .rate = is_time ? (uint32_t)(1000000000 / event->period) : 1,
                          .abbreviation = is_time ? 's' : 'e'};
    strcpy(h.dimension, is_time ? "seconds" : "events");
    h.rate = h.rate ? h.rate : 1;
    histogram_alloc(&h);
    out->format = PROFILE_GNU;
    out->version = 1;
    out->word = 8;
    vec_push(&out->histograms, h);
    struct histogram *kept = &out->histograms.at[0];
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (is_of_program(r, s))
            histogram_add(kept, (uint32_t)((r->nodes.at[s->node].address - range.low) / BIN_BYTES),
                          (s->weight + event->period / 2) / event->period);
    }
    return true;
}
