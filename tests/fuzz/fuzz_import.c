/* Fuzzes the imports that tell functions by name.
 *
 * Laws: what was read is a run; self times and what is in no function are all of its samples; a run
 * added to itself has twice its weight; a failure has a message. */
#include "law.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/import/import.h"
#include "profile/import/named_recording.h"
#include "profile/model/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct importer *importer(void)
{
    for (size_t i = 0; i < importers_len; i++)
        if (!strcmp(importers[i].name, FUZZ_IMPORT))
            return &importers[i];
    abort();
}

static void check_report(const struct recording *r)
{
    struct arena a = {0};
    struct space space;
    struct functions functions;
    struct recording_weights weights;
    struct stacks stacks;
    recording_weigh(&weights, r, &(struct recording_choice){0}, &a);
    if (space_lay_out(&space, r, &a, NULL)) {
        double self = 0;
        space_functions(&space, &functions, &a);
        stacks_measure(&stacks, &space, &functions, NULL, weights.node, &a);
        for (uint32_t i = 0; i < functions.len; i++)
            self += stacks.self[i];
        expect(fabs(self + stacks.unplaced - weights.total) <= weights.total * 1e-6,
               "self and unplaced samples are all");
    }
    arena_deinit(&a);
}

static void check_merge(const struct recording *r)
{
    struct recording sum = {0};
    if (recording_merge(&sum, r, NULL) && recording_merge(&sum, r, NULL))
        for (uint32_t i = 0; i < r->events.len && i < 8; i++)
            expect(recording_weight(&sum, i) == 2 * recording_weight(r, i),
                   "twice a run is twice its weight");
    recording_deinit(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording r = {0};
    struct err e = {0};
    struct bytes in = {data, size};
#ifdef FUZZ_TAKE
    bool ok = FUZZ_TAKE(in, "fuzz", true, &r, &e);
#else
    bool ok = importer()->read(in, "fuzz", &r, &e);
#endif
    (void)importer()->probe(in);
    expect(ok || e.line[0], "a failure has a message");
    if (ok) {
        expect(recording_check(&r, &e), "what was read is a run");
        check_report(&r);
        check_merge(&r);
    }
    recording_deinit(&r);
    return 0;
}
