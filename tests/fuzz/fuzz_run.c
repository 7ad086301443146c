/* Fuzzes the reader of runs. The checksum is put right first, so that damage gets behind it.
 *
 * Laws: a run that was read passes run_check(); it can be written and read back the same; self
 * times and what is in no function are all of the samples; waiters of a lock, and its holders, have
 * its time among them; a run added to itself has twice its
 * weight; objects over excerpts tell their places in order, and the same again once they are
 * written anew. */
#include "law.h"
#include "profile/analysis/recording/excerpts.h"
#include "profile/analysis/recording/locks.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/format/recording_file.h"
#include "profile/model/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct writer written(const struct recording *r)
{
    struct writer w = {0};
    recording_write(&w, r);
    return w;
}

static void check_round_trip(const struct recording *r)
{
    struct recording back = {0};
    struct err e = {0};
    struct writer once = written(r);
    expect(recording_read((struct bytes){once.out.at, once.out.len}, "back", &back, &e),
           "what is written can be read");
    struct writer twice = written(&back);
    expect(once.out.len == twice.out.len && !memcmp(once.out.at, twice.out.at, once.out.len),
           "what is written is read back the same");
    writer_deinit(&once);
    writer_deinit(&twice);
    recording_deinit(&back);
}

static void check_locks(const struct recording *r, const struct space *space,
                        const struct functions *functions, bool is_io, struct arena *a)
{
    struct named_frames frames;
    struct names names;
    struct locks t;
    uint64_t all = 0, seen = 0;
    named_frames_make(&frames,
                      &(struct call_frames_input){.recording = r,
                                                  .functions = functions,
                                                  .function = space->function,
                                                  .is_piece = space->is_piece},
                      a);
    names_init(&names, &frames.functions, "auto", a);
    locks_make(&t,
               &(struct locks_input){.recording = r,
                                     .choice = &(struct recording_choice){0},
                                     .frames = &frames,
                                     .names = &names,
                                     .demangle = "auto",
                                     .is_io = is_io},
               a);
    for (size_t i = 0; i < r->links.len; i++)
        all += r->links.at[i].ns;
    all += t.waited_ns; /* of which rows have what the links have not */
    for (size_t i = 0; i < t.len; i++) {
        const struct lock *lock = &t.rows[i];
        uint64_t waited = 0, held = 0;
        for (size_t k = 0; k < lock->waiters_len; k++)
            waited += lock->waiters[k].ns;
        for (size_t k = 0; k < lock->holders_len; k++)
            held += lock->holders[k].depth ? 0 : lock->holders[k].ns;
        expect(waited == lock->ns, "waiters have all of a lock's time");
        expect(held == lock->held_ns && held <= lock->ns, "holders have the time that was held");
        seen += lock->ns;
    }
    expect(seen == t.seen_ns && seen <= all, "rows have no more time than there is");
}

/* As a report resolves it, with no object file to be had; and added to itself. */
static void check_stacks(const struct recording *r)
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
        for (uint32_t i = 0; i < functions.len; i++) {
            expect(stacks.inclusive[i] <= stacks.samples * 1.000001, "inclusive is at most all");
            self += stacks.self[i];
        }
        check_locks(r, &space, &functions, false, &a);
        check_locks(r, &space, &functions, true, &a);
        expect(fabs(self + stacks.unplaced - weights.total) <= weights.total * 1e-6,
               "self and unplaced samples are all");
    }
    arena_deinit(&a);
}

struct places {
    uint64_t end, sum;
};

static void take_place(const struct object_place *p, void *context)
{
    struct places *places = context;
    expect(places->end <= p->start && p->start < p->end, "places of excerpts ascend");
    places->end = p->end;
    places->sum = (places->sum ^ p->start) * UINT64_C(0x100000001b3);
    places->sum = (places->sum ^ p->end ^ p->line) * UINT64_C(0x100000001b3);
}

static void walk_places(struct object *o, struct places *out)
{
    *out = (struct places){0};
    object_each_inlining_within(o, &(struct object_range){0, UINT64_MAX}, 1, take_place, out);
}

static void check_excerpts(const struct recording *r)
{
    for (uint32_t i = 0; i < r->objects.len; i++) {
        struct excerpt_facts facts, again;
        struct places told, retold;
        struct writer w = {0};
        struct err e = {0};
        struct object *o = excerpts_open(r, i, &facts, &e);
        if (!o)
            continue;
        walk_places(o, &told);
        excerpt_rewrite(&w, o);
        struct bytes bytes = {w.out.at, w.out.len};
        struct object *back =
            object_open_excerpts(&bytes, 1, "back", (struct bytes){0}, &again, &e);
        expect(back, "an excerpt that is written anew can be read");
        walk_places(back, &retold);
        expect(again.functions == facts.functions && told.sum == retold.sum,
               "an excerpt that is written anew says the same");
        object_close(back);
        object_close(o);
        writer_deinit(&w);
    }
}

static void check_merge(const struct recording *r)
{
    struct recording sum = {0};
    if (recording_merge(&sum, r, NULL) && recording_merge(&sum, r, NULL))
        for (uint32_t i = 0; i < r->events.len && i < 8; i++)
            expect(recording_weight(&sum, i) <= 2 * recording_weight(r, i) || r->events.len > 1,
                   "a run and itself have twice its weight");
    recording_deinit(&sum);
}

static void check(struct bytes in)
{
    struct recording r = {0};
    struct err e = {0};
    bool ok = recording_read(in, "fuzz", &r, &e);
    expect(ok || e.line[0], "a failure has a message");
    if (ok) {
        expect(recording_check(&r, &e), "what was read is a run");
        check_round_trip(&r);
        check_stacks(&r);
        check_merge(&r);
        check_excerpts(&r);
    }
    recording_deinit(&r);
}

/* The end is a record of 12 and 8 bytes. */
static void repair(uint8_t *data, size_t size)
{
    enum { END = 20 };
    uint64_t sum = size >= END ? recording_checksum((struct bytes){data, size - END}) : 0;
    if (size >= END)
        memcpy(data + size - sizeof sum, &sum, sizeof sum);
}

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
