/* A recording as gmon.out: the samples of its program, and nothing of what that format cannot hold.
 *
 * Bins are two bytes wide, so that one never lies over two functions, and a histogram of a large
 * program would be as long as its text: 236 MB for a browser of which 700 places were sampled.
 * Therefore only a text of up to WHOLE_BYTES is one histogram. Of a larger one, each piece of
 * PIECE_BYTES in which something was sampled has a histogram of its own, so that the file takes at
 * most that much for each sampled address. Pieces lie on a fixed grid: those of two recordings of
 * one program are equal or apart, as GNU gprof wants them when it adds files up (-s). */
#include "profile/model/recording_profile.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { BIN_BYTES = 2, PIECE_BYTES = 1024, WHOLE_BYTES = 1 << 20 };

static bool is_of_program(const struct recording *r, const struct recording_sample *s)
{
    return s->event == 0 && r->nodes.at[s->node].object == r->processes.at[0].program;
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool recording_profile(const struct recording *r, struct profile *out)
{
    if (!r->processes.len || !r->events.len || !r->events.at[0].period ||
        r->processes.at[0].program == RECORDING_NONE)
        return false;
    VEC(uint64_t) sampled = {0};
    for (size_t i = 0; i < r->samples.len; i++)
        if (is_of_program(r, &r->samples.at[i]))
            vec_push(&sampled, r->nodes.at[r->samples.at[i].node].address);
    if (!sampled.len) {
        vec_free(&sampled);
        return false;
    }
    qsort(sampled.at, sampled.len, sizeof *sampled.at, compare_addresses);
    uint64_t first = sampled.at[0] & -(uint64_t)BIN_BYTES, last = sampled.at[sampled.len - 1];
    bool is_whole = last - first < WHOLE_BYTES;

    const struct recording_event *event = &r->events.at[0];
    bool is_time = event->unit == RECORDING_UNIT_NS;
    out->format = PROFILE_GNU;
    out->version = 1;
    out->word = 8;
    for (size_t i = 0; i < sampled.len; i++) {
        uint64_t low = is_whole ? first : sampled.at[i] & -(uint64_t)PIECE_BYTES;
        uint64_t bytes =
            is_whole ? (last - first) / BIN_BYTES * BIN_BYTES + BIN_BYTES : PIECE_BYTES;
        if (out->histograms.len && sampled.at[i] < out->histograms.at[out->histograms.len - 1].high)
            continue;
        struct histogram h = {.low = low,
                              .high = low + bytes,
                              .bins = (uint32_t)(bytes / BIN_BYTES),
                              .rate = is_time ? (uint32_t)(1000000000 / event->period) : 1,
                              .abbreviation = is_time ? 's' : 'e'};
        strcpy(h.dimension, is_time ? "seconds" : "events");
        h.rate = h.rate ? h.rate : 1;
        histogram_alloc(&h);
        vec_push(&out->histograms, h);
    }
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (!is_of_program(r, s))
            continue;
        uint64_t address = r->nodes.at[s->node].address;
        size_t piece =
            PARTITION_POINT(out->histograms.len, k, out->histograms.at[k].high <= address);
        struct histogram *h = &out->histograms.at[piece];
        histogram_add(h, (uint32_t)((address - h->low) / BIN_BYTES),
                      (s->weight + event->period / 2) / event->period);
    }
    vec_free(&sampled);
    return true;
}
