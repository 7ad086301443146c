/* Fuzzes the readers of the files of a recorder inside a process and what is made of them: the
 * sidecar, or, with FUZZ_LIVE, the live tables. Checksums are put right first, so that damage gets
 * behind them.
 *
 * Laws: what was read is a recording that can be written and read back the same; inclusive samples
 * are no more than there are; a recovered profile has no more samples than the stacks; the sidecar
 * that is made of live tables can be read; JSON is JSON. */
#include "law.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/format/recording_file.h"
#include "profile/report/info.h"
#include "wire/sidecar.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u64(uint8_t *at, uint64_t value, bool big_endian)
{
    value = big_endian ? __builtin_bswap64(value) : value;
    memcpy(at, &value, sizeof value);
}

static void check_report(const struct recording *r)
{
    struct out out;
    out_init(&out, -1);
    recording_facts(&(struct facts){.out = &out}, "fuzz\xff\n", r);
    out.len = 0;
    struct json j = {.out = &out};
    json_begin(&j, '{');
    recording_facts(&(struct facts){.json = &j}, "fuzz\xff\n", r);
    json_end(&j);
    json_error_t why;
    json_t *parsed = json_loadb(out.at, out.len, JSON_DECODE_INT_AS_REAL, &why);
    expect(parsed != NULL, "the report is JSON");
    json_decref(parsed);
    out_deinit(&out);
}

/* As a report resolves it, with no object file to be had. */
static void check_stacks(const struct recording *r)
{
    struct arena a = {0};
    struct space space;
    struct functions functions;
    struct recording_weights weights;
    struct stacks stacks;
    struct profile p = {0};
    if (space_lay_out(&space, r, &a, NULL)) {
        space_functions(&space, &functions, &a);
        recording_weigh(&weights, r, &(struct recording_choice){0}, &a);
        stacks_measure(&stacks, &space, &functions, NULL, weights.node, &a);
        space_add_calls(&space, &p);
        expect(p.arcs.len == r->arcs.len, "arcs are kept");
        for (uint32_t i = 0; i < functions.len; i++)
            expect(stacks.inclusive[i] <= stacks.samples * 1.000001, "inclusive is at most all");
    }
    profile_deinit(&p);
    arena_deinit(&a);
}

static void check_round_trip(const struct recording *r)
{
    struct recording back = {0};
    struct err e = {0};
    struct writer once = {.word = 8}, twice = {.word = 8};
    recording_write(&once, r);
    expect(recording_read((struct bytes){once.out.at, once.out.len}, "back", &back, &e),
           "what is written can be read");
    recording_write(&twice, &back);
    expect(once.out.len == twice.out.len && !memcmp(once.out.at, twice.out.at, once.out.len),
           "what is written is read back the same");
    writer_deinit(&once);
    writer_deinit(&twice);
    recording_deinit(&back);
}

/* Reads it as a report does, without the profiles of objects. Returns whether it is a sidecar. */
static bool check_sidecar(struct bytes in)
{
    struct arena a = {0};
    struct sidecar_profiles none = {0};
    struct recording r = {0};
    struct err e = {0};
    bool ok = sidecar_list(in, "fuzz", &a, &none, &e) && sidecar_read(in, "fuzz", &none, &r, &e);
    expect(ok || e.line[0], "a failure has a message");
    if (ok) {
        check_report(&r);
        check_stacks(&r);
        check_round_trip(&r);
    }
    recording_deinit(&r);
    arena_deinit(&a);
    return ok;
}

#ifdef FUZZ_LIVE

static void repair(uint8_t *data, size_t size)
{
    bool big_endian = size >= 4 && bytes_u32(data, true) == MONARC_LIVE_MAGIC;
    for (size_t at = 0; at + 64 <= size; at += MONARC_LIVE_PAGE)
        if (!at || bytes_u32(data + at, big_endian) == MONARC_EXTENT_MAGIC)
            put_u64(data + at + 56, sidecar_checksum((struct bytes){data + at, 56}), big_endian);
}

static void check(struct bytes in)
{
    struct live_tables t = {0};
    struct err e = {0};
    struct writer w = {.word = 8};
    uint64_t hits = 0;
    bool ok = live_read(in, "fuzz", &t, &e), are_named = live_executable(&t);
    expect(ok || e.line[0], "a failure has a message");
    live_finish(&t);
    for (size_t i = 0; i < t.nodes.list.len; i++)
        hits = add_saturating(hits, t.nodes.list.at[i].hits);
    for (size_t i = 0; i < t.objects.list.len; i++) {
        const struct process_object *o = &t.objects.list.at[i];
        struct profile p = {0};
        if (o->text_high - o->text_low < 1 << 16 && live_profile(&t, i, &p))
            expect(profile_samples(&p) <= hits, "no more samples than in the stacks");
        are_named = are_named && *o->gmon && !strchr(o->gmon, '/');
        profile_deinit(&p);
    }
    live_sidecar(&t, &w);
    bool is_recording = check_sidecar((struct bytes){w.out.at, w.out.len});
    expect(!ok || is_recording == are_named || t.process.samples > INT64_MAX / 1000000000,
           "what is recovered can be read");
    writer_deinit(&w);
    live_deinit(&t);
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
    (void)check_sidecar(in);
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
