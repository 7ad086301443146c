/* Doing what the recorder does when it writes: sums, and each object's share of them. */
#include "profile/model/unfinished.h"

#include <stdlib.h>
#include <string.h>

enum {
    BIN_BYTES = 2,
    PIECE_BYTES = 4096,     /* of text, where it is too large for one histogram */
    WHOLE_BYTES = 16 << 20, /* up to this it is not */
    FARTHEST_BLOCK = 1023,  /* from a block's start to the return address of its hook */
};

void unfinished_deinit(struct unfinished *u)
{
    sidecar_deinit(&u->recording);
    vec_free(&u->arcs);
    vec_free(&u->taken);
    vec_free(&u->blocks);
    vec_free(&u->block_starts);
}

/* --- sums ------------------------------------------------------------------------------------ */

static int unfinished_by_ends(const void *left, const void *right)
{
    const struct arc *l = left, *r = right;
    if (l->from != r->from)
        return l->from < r->from ? -1 : 1;
    return (l->self > r->self) - (l->self < r->self);
}

static int unfinished_by_address(const void *left, const void *right)
{
    const struct block *l = left, *r = right;
    return (l->address > r->address) - (l->address < r->address);
}

static int unfinished_by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

/* Negated counts wrap around, and so does the sum, to what is left. A sum below zero is damage. */
static uint64_t unfinished_plausible(uint64_t sum)
{
    return sum <= INT64_MAX ? sum : 0;
}

static void unfinished_sum_arcs(struct unfinished *u)
{
    size_t kept = 0;
    if (u->arcs.len)
        qsort(u->arcs.at, u->arcs.len, sizeof *u->arcs.at, unfinished_by_ends);
    for (size_t i = 0, end; i < u->arcs.len; i = end) {
        struct arc sum = u->arcs.at[i];
        for (end = i + 1; end < u->arcs.len && !unfinished_by_ends(&sum, &u->arcs.at[end]); end++)
            sum.count += u->arcs.at[end].count;
        sum.count = unfinished_plausible(sum.count);
        if (sum.count)
            u->arcs.at[kept++] = sum;
    }
    u->arcs.len = kept;
}

/* Returns the new length. */
static size_t unfinished_sum_blocks(struct block *at, size_t len)
{
    size_t kept = 0;
    if (len)
        qsort(at, len, sizeof *at, unfinished_by_address);
    for (size_t i = 0, end; i < len; i = end) {
        struct block sum = at[i];
        for (end = i + 1; end < len && at[end].address == sum.address; end++)
            sum.count += at[end].count;
        at[kept++] = (struct block){sum.address, unfinished_plausible(sum.count)};
    }
    return kept;
}

/* Moves counts from return addresses to the blocks they are of. */
static void unfinished_place_blocks(struct unfinished *u)
{
    if (u->block_starts.len)
        qsort(u->block_starts.at, u->block_starts.len, sizeof *u->block_starts.at,
              unfinished_by_value);
    size_t next = 0;
    for (size_t i = 0; i < u->blocks.len; i++) {
        struct block *b = &u->blocks.at[i];
        while (next < u->block_starts.len && u->block_starts.at[next] < b->address)
            next++;
        uint64_t start = next ? u->block_starts.at[next - 1] : 0;
        bool is_known = next && b->address - start <= FARTHEST_BLOCK &&
                        sidecar_object_at(&u->recording, start) ==
                            sidecar_object_at(&u->recording, b->address - 1);
        b->address = is_known ? start : b->address - 1;
    }
    for (size_t i = 0; i < u->block_starts.len; i++)
        vec_push(&u->blocks, (struct block){u->block_starts.at[i], 0});
    u->blocks.len = unfinished_sum_blocks(u->blocks.at, u->blocks.len);
}

/* --- the recording --------------------------------------------------------------------------- */

static bool unfinished_is_inside(const struct unfinished *u, const struct sidecar_object *o,
                                 uint64_t address, uint64_t *link)
{
    const struct sidecar_object *at = sidecar_object_at(&u->recording, address);
    if (!at || !(at == o || sidecar_object_same(at, o)))
        return false;
    *link = address - at->bias;
    return true;
}

static void unfinished_keep_arcs_between(struct unfinished *u)
{
    for (size_t i = 0; i < u->arcs.len; i++) {
        const struct arc *arc = &u->arcs.at[i];
        const struct sidecar_object *from = sidecar_object_at(&u->recording, arc->from);
        uint64_t link;
        if (!from || !unfinished_is_inside(u, from, arc->self, &link))
            vec_push(&u->recording.arcs, *arc);
    }
}

/* Threads that ran to the last have no times: the rate is that of the ended ones, or the one that
 * was asked for. */
static void unfinished_measure(struct unfinished *u)
{
    struct process_facts *p = &u->recording.process;
    uint64_t samples = 0, ns = 0;
    for (size_t i = 0; i < u->recording.threads.len; i++) {
        const struct sidecar_thread *t = &u->recording.threads.at[i];
        samples = add_saturating(samples, t->samples);
        ns = add_saturating(ns, t->samples ? t->cpu_ns : 0);
        p->end_ns = t->end_ns > p->end_ns ? t->end_ns : p->end_ns;
    }
    p->end_ns = p->end_ns > p->start_ns ? p->end_ns : p->start_ns;
    for (size_t i = 0; i < u->recording.nodes.len; i++)
        p->samples = add_saturating(p->samples, u->recording.nodes.at[i].hits);
    bool is_measured = p->event == EVENT_CPU && ns >= 1000 && samples <= UINT32_MAX;
    p->millihertz = is_measured ? samples * 1000000000u / (ns / 1000) : p->rate * UINT64_C(1000);
    if (p->event > EVENT_WALL)
        p->millihertz = 0;
}

/* A live file has a row for each reason; what never happened is not told of, but for calls. */
static void unfinished_keep_losses(struct sidecar *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->losses.len; i++)
        if (r->losses.at[i].count || r->losses.at[i].reason == 0)
            r->losses.at[kept++] = r->losses.at[i];
    r->losses.len = kept;
    if (!kept)
        vec_push(&r->losses, (struct sidecar_loss){
                                 0, 0, "calls; a recording that was recovered does not tell"});
}

void unfinished_finish(struct unfinished *u)
{
    struct sidecar *r = &u->recording;
    char abbreviation;
    sidecar_sort_objects(r);
    unfinished_sum_arcs(u);
    u->taken.len = unfinished_sum_blocks(u->taken.at, u->taken.len);
    u->blocks.len = unfinished_sum_blocks(u->blocks.at, u->blocks.len);
    unfinished_place_blocks(u);
    unfinished_keep_arcs_between(u);
    unfinished_measure(u);
    if (event_name(r->process.event)) {
        vec_push(&r->texts, (struct sidecar_text){"event", event_name(r->process.event)});
        vec_push(&r->texts, (struct sidecar_text){
                                "dimension", event_dimension(r->process.event, &abbreviation)});
    }
    unfinished_keep_losses(r);
}

/* --- an object's share ----------------------------------------------------------------------- */

/* Samples by link address in the object's text, those to be taken off negated. */
struct samples {
    VEC(struct block) at;
};

static void unfinished_add_sample(struct samples *s, const struct unfinished *u,
                                  const struct sidecar_object *o, uint64_t address, uint64_t hits)
{
    uint64_t link;
    if (hits && unfinished_is_inside(u, o, address, &link) && link >= o->text_low - o->bias &&
        link < o->text_high - o->bias)
        vec_push(&s->at, (struct block){link, hits});
}

static void unfinished_gather_samples(struct samples *s, const struct unfinished *u,
                                      const struct sidecar_object *o)
{
    for (size_t i = 0; i < u->recording.nodes.len; i++)
        unfinished_add_sample(s, u, o, u->recording.nodes.at[i].address,
                              u->recording.nodes.at[i].hits);
    for (size_t i = 0; i < u->taken.len; i++)
        unfinished_add_sample(s, u, o, u->taken.at[i].address, 0 - u->taken.at[i].count);
    s->at.len = unfinished_sum_blocks(s->at.at, s->at.len);
}

static struct histogram *unfinished_new_histogram(const struct unfinished *u, struct profile *out,
                                                  uint64_t low, uint64_t high)
{
    const struct process_facts *p = &u->recording.process;
    uint64_t rate = (p->millihertz + 500) / 1000;
    struct histogram h = {.low = low, .bins = (uint32_t)((high - low) / BIN_BYTES), .width = 8};
    const char *dimension = event_dimension(p->event, &h.abbreviation);
    h.high = low + (uint64_t)h.bins * BIN_BYTES;
    h.rate = rate && rate <= UINT32_MAX ? (uint32_t)rate : 1;
    if (dimension)
        strncpy(h.dimension, dimension, sizeof h.dimension - 1);
    histogram_alloc(&h);
    vec_push(&out->histograms, h);
    out->histogram_records++;
    return &out->histograms.at[out->histograms.len - 1];
}

/* One histogram of all text, or of each piece with samples in it. */
static void unfinished_put_samples(const struct unfinished *u, const struct sidecar_object *o,
                                   const struct samples *s, struct profile *out)
{
    uint64_t low = o->text_low - o->bias, high = o->text_high - o->bias;
    bool is_whole = high - low <= WHOLE_BYTES;
    struct histogram *h = NULL;
    if (high - low < BIN_BYTES)
        return;
    if (is_whole || !s->at.len)
        h = unfinished_new_histogram(u, out, low, is_whole ? high : low + BIN_BYTES);
    for (size_t i = 0; i < s->at.len; i++) {
        uint64_t link = s->at.at[i].address, piece = low + (link - low) / PIECE_BYTES * PIECE_BYTES;
        if (!h || link >= h->high + (is_whole ? BIN_BYTES : 0))
            h = unfinished_new_histogram(u, out, piece,
                                         piece + PIECE_BYTES < high ? piece + PIECE_BYTES : high);
        uint64_t bin = (link - h->low) / BIN_BYTES;
        if (bin < h->bins)
            histogram_add(h, (uint32_t)bin, s->at.at[i].count);
    }
}

bool unfinished_profile(const struct unfinished *u, const struct sidecar_object *o,
                        struct profile *out)
{
    struct samples samples = {0};
    uint64_t from, self;
    out->format = PROFILE_GNU;
    out->version = 1;
    out->word = u->recording.word;
    out->big_endian = u->recording.big_endian;
    for (size_t i = 0; i < u->arcs.len; i++)
        if (unfinished_is_inside(u, o, u->arcs.at[i].from, &from) &&
            unfinished_is_inside(u, o, u->arcs.at[i].self, &self))
            vec_push(&out->arcs, (struct arc){from, self, u->arcs.at[i].count});
    for (size_t i = 0; i < u->blocks.len; i++)
        if (unfinished_is_inside(u, o, u->blocks.at[i].address, &self))
            vec_push(&out->blocks, (struct block){self, u->blocks.at[i].count});
    unfinished_gather_samples(&samples, u, o);
    bool has_any = out->arcs.len || out->blocks.len || samples.at.len;
    if (has_any || o->is_executable)
        unfinished_put_samples(u, o, &samples, out);
    vec_free(&samples.at);
    return has_any || o->is_executable;
}
