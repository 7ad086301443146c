/* Fuzzes the readers of a hosted recorder's files and what is made of them: the sidecar, or, with
 * FUZZ_LIVE, the live tables. Checksums are put right first, so that damage gets behind them.
 *
 * Laws: a sidecar that was read can be written and read back the same; inclusive samples are no
 * more than there are; a recovered profile has no more samples than the stacks; JSON is JSON. */
#include "profile/analysis/recording/stacks.h"
#include "profile/format/live.h"
#include "profile/format/sidecar.h"
#include "profile/model/recording_convert.h"
#include "monarc/sidecar.h"
#include "profile/report/sidecar.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds, const char *law)
{
    if (holds)
        return;
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

static void put_u64(uint8_t *at, uint64_t value, bool big_endian)
{
    value = big_endian ? __builtin_bswap64(value) : value;
    memcpy(at, &value, sizeof value);
}

static void check_report(const struct sidecar *r)
{
    struct out out;
    out_init(&out, -1);
    sidecar_text_report(&out, "fuzz\xff\n", r, true);
    out.len = 0;
    struct json j = {.out = &out};
    sidecar_json_report(&j, "fuzz\xff\n", r);
    json_error_t why;
    json_t *parsed = json_loadb(out.at, out.len, JSON_DECODE_INT_AS_REAL, &why);
    expect(parsed != NULL, "the report is JSON");
    json_decref(parsed);
    out_deinit(&out);
}

/* As a report resolves it, with no object file to be had. */
static void check_stacks(const struct sidecar *r)
{
    struct arena a = {0};
    struct recording recording = {0};
    struct space space;
    struct functions functions;
    struct recording_weights weights;
    struct stacks stacks;
    struct profile p = {0}, *none = ARENA_NEW(&a, struct profile, r->objects.len);
    if (recording_from_recording(&recording, r, none, NULL) &&
        space_lay_out(&space, &recording, &a, NULL)) {
        space_functions(&space, &functions, &a);
        recording_weigh(&weights, &recording, &(struct recording_choice){0}, &a);
        stacks_measure(&stacks, &space, &functions, NULL, weights.node, &a);
        space_add_calls(&space, &p);
        expect(p.arcs.len == r->arcs.len, "arcs are kept");
        for (uint32_t i = 0; i < functions.len; i++)
            expect(stacks.inclusive[i] <= stacks.samples * 1.000001, "inclusive is at most all");
    }
    profile_deinit(&p);
    recording_deinit(&recording);
    arena_deinit(&a);
}

static struct writer written(const struct sidecar *r)
{
    struct writer w = {.word = 8};
    sidecar_write(&w, r);
    return w;
}

static void check_round_trip(const struct sidecar *r)
{
    struct sidecar back = {0};
    struct err e = {0};
    struct writer once = written(r);
    expect(sidecar_read((struct bytes){once.out.at, once.out.len}, "back", &back, &e),
           "what is written can be read");
    struct writer twice = written(&back);
    expect(once.out.len == twice.out.len && !memcmp(once.out.at, twice.out.at, once.out.len),
           "what is written is read back the same");
    writer_deinit(&once);
    writer_deinit(&twice);
    sidecar_deinit(&back);
}

#ifdef FUZZ_LIVE

static void repair(uint8_t *data, size_t size)
{
    bool big_endian = size >= 4 && bytes_u32(data, true) == MONARC_LIVE_MAGIC;
    for (size_t at = 0; at + 64 <= size; at += MONARC_LIVE_PAGE)
        if (!at || bytes_u32(data + at, big_endian) == MONARC_EXTENT_MAGIC)
            put_u64(data + at + 56, sidecar_checksum((struct bytes){data + at, 56}), big_endian);
}

static void check_profiles(const struct unfinished *u)
{
    uint64_t hits = 0;
    for (size_t i = 0; i < u->recording.nodes.len; i++)
        hits = add_saturating(hits, u->recording.nodes.at[i].hits);
    for (size_t i = 0; i < u->recording.objects.len; i++) {
        const struct sidecar_object *o = &u->recording.objects.at[i];
        struct profile p = {0};
        if (o->text_high - o->text_low < 1 << 16 && unfinished_profile(u, o, &p))
            expect(profile_samples(&p) <= hits, "no more samples than in the stacks");
        profile_deinit(&p);
    }
}

static void check(struct bytes in)
{
    struct unfinished u = {0};
    struct err e = {0};
    bool ok = live_read(in, "fuzz", &u, &e);
    expect(ok || e.line[0], "a failure has a message");
    unfinished_finish(&u);
    check_profiles(&u);
    check_report(&u.recording);
    check_stacks(&u.recording);
    if (ok)
        check_round_trip(&u.recording);
    unfinished_deinit(&u);
}

#else

static void repair(uint8_t *data, size_t size)
{
    bool big_endian = size >= 4 && bytes_u32(data, true) == MONARC_SIDE_MAGIC;
    if (size >= 16)
        put_u64(data + size - 8, sidecar_checksum((struct bytes){data, size - 16}), big_endian);
}

static void check(struct bytes in)
{
    struct sidecar r = {0};
    struct err e = {0};
    bool ok = sidecar_read(in, "fuzz", &r, &e);
    expect(ok || e.line[0], "a failure has a message");
    check_report(&r);
    sidecar_sort_objects(&r);
    check_stacks(&r);
    if (ok)
        check_round_trip(&r);
    sidecar_deinit(&r);
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    check((struct bytes){copy, size});
    repair(copy, size);
    check((struct bytes){copy, size});
    free(copy);
    return 0;
}
