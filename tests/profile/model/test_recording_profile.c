/* What gmon.out gets of a recording: samples of the program alone, in one histogram if its text is
 * small, else in pieces that follow what was sampled. */
#include "cases.h"
#include "profile/model/recording.h"

#include <stdlib.h>
#include <string.h>

enum { APP, LIBRARY };

/* Samples of 1 ms: one at each address of the program, and three in a library. */
static struct recording sampled_at(const uint64_t *addresses, size_t len)
{
    struct recording r = {0};
    vec_push(&r.objects, ((struct recording_object){.kind = RECORDING_OBJECT_FILE}));
    vec_push(&r.objects, ((struct recording_object){.kind = RECORDING_OBJECT_FILE}));
    vec_push(&r.processes, ((struct recording_process){.program = APP}));
    vec_push(&r.events, ((struct recording_event){.name = "cpu", .period = 1000000}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_NONE, RECORDING_NONE, 0}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_ROOT, LIBRARY, 0x5000}));
    vec_push(&r.samples, ((struct recording_sample){.node = 1, .weight = 3000000, .count = 3}));
    for (size_t i = 0; i < len; i++) {
        vec_push(&r.nodes, ((struct recording_node){RECORDING_ROOT, APP, addresses[i]}));
        vec_push(&r.samples, ((struct recording_sample){
                                 .node = (uint32_t)i + 2, .weight = 1000000, .count = 1}));
    }
    return r;
}

static uint64_t hits_at(const struct profile *p, uint64_t address)
{
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        if (address >= h->low && address < h->high)
            return histogram_get(h, (uint32_t)((address - h->low) / 2));
    }
    return 0;
}

CASE(small_text_is_one_histogram)
{
    uint64_t addresses[] = {0x1f00, 0x1003, 0x1003, 0x90000};
    struct recording r = sampled_at(addresses, 4);
    struct profile p = {0};
    assert_true(recording_profile(&r, &p));
    assert_int_equal(p.histograms.len, 1);
    assert_int_equal(p.histograms.at[0].low, 0x1002);
    assert_int_equal(p.histograms.at[0].high, 0x90002);
    assert_int_equal(hits_at(&p, 0x1003), 2);
    assert_int_equal(histogram_total(&p.histograms.at[0]), 4);
    profile_deinit(&p);
    recording_deinit(&r);
}

CASE(large_text_is_pieces_on_a_grid)
{
    uint64_t addresses[] = {0xe000401, 0x1003, 0x13ff, 0x1400, 0xe0007ff, 0x1003};
    struct recording r = sampled_at(addresses, 6);
    struct profile p = {0};
    assert_true(recording_profile(&r, &p));
    assert_int_equal(p.histograms.len, 3);
    uint64_t low[] = {0x1000, 0x1400, 0xe000400}, total[] = {3, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(p.histograms.at[i].low, low[i]);
        assert_int_equal(p.histograms.at[i].high, low[i] + 1024);
        assert_int_equal(histogram_total(&p.histograms.at[i]), total[i]);
    }
    assert_int_equal(hits_at(&p, 0x1003), 2);
    assert_int_equal(hits_at(&p, 0xe0007ff), 1);
    profile_deinit(&p);
    recording_deinit(&r);
}

CASE(nothing_of_the_program)
{
    struct recording r = sampled_at(NULL, 0);
    struct profile p = {0};
    assert_false(recording_profile(&r, &p));
    profile_deinit(&p);
    recording_deinit(&r);
}
