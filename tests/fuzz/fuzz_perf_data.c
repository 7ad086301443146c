/* Fuzzes the reader of perf.data. No file is opened.
 *
 * Laws: what was read is a run; samples of the file are in the run or among its losses; a failure
 * has a message. */
#include "law.h"
#include "profile/import/perf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_counts(const struct recording *r, const struct perf_data_counts *c)
{
    uint64_t taken = 0, lost = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        taken += r->samples.at[i].count;
    for (size_t i = 0; i < r->losses.len; i++)
        lost += r->losses.at[i].kind == RECORDING_LOST_OTHER ? r->losses.at[i].count : 0;
    expect(taken == c->taken, "samples that were taken are in the run");
    expect(c->samples - c->taken <= lost, "samples that were not taken are among the losses");
}

static void check_reading(struct bytes in, const struct perf_data_options *o)
{
    struct recording r = {0};
    struct err e = {0};
    struct perf_data_counts counts;
    bool ok = perf_data_read(in, "fuzz", o, &r, &counts, &e);
    expect(ok || e.line[0], "a failure has a message");
    if (ok) {
        expect(recording_check(&r, &e), "what was read is a run");
        check_counts(&r, &counts);
    }
    recording_deinit(&r);
}

/* As it is, and with its second half as the stream of a folder beside it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    struct perf_data_stream half = {{data + size / 2, size - size / 2}, "half"};
    check_reading(in, &(struct perf_data_options){.opens_no_files = true});
    check_reading(in, &(struct perf_data_options){&half, 1, true});
    return 0;
}
