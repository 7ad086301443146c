/* Small questions to a recording, the CPU time that it accounts for, and its program's samples as a
 * profile. Each takes one pass over a list or two. */
#include "profile/model/recording.h"

#include "base/err.h"
#include "base/map.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Kept in the order of objects. Objects mostly get theirs in that order, so that the place is found
 * from the end. */
void recording_add_excerpt(struct recording *r, uint32_t object, struct bytes bytes)
{
    size_t at = r->excerpts.len;
    for (; at > 0 && r->excerpts.at[at - 1].object >= object; at--) {
        const struct recording_excerpt *x = &r->excerpts.at[at - 1];
        if (x->object == object && x->bytes.len == bytes.len &&
            !memcmp(x->bytes.at, bytes.at, bytes.len))
            return;
    }
    uint8_t *copy = arena_alloc(&r->arena, bytes.len);
    memcpy(copy, bytes.at, bytes.len);
    vec_push(&r->excerpts, (struct recording_excerpt){0});
    for (at = r->excerpts.len - 1; at > 0 && r->excerpts.at[at - 1].object > object; at--)
        r->excerpts.at[at] = r->excerpts.at[at - 1];
    r->excerpts.at[at] = (struct recording_excerpt){object, {copy, bytes.len}};
}

void recording_drop_excerpts(struct recording *r, uint32_t object)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->excerpts.len; i++)
        if (r->excerpts.at[i].object != object)
            r->excerpts.at[kept++] = r->excerpts.at[i];
    r->excerpts.len = kept;
}

const char *recording_text(const struct recording *r, const char *key)
{
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, key))
            return r->texts.at[i].value;
    return NULL;
}

bool recording_has_names_alone(const struct recording *r)
{
    size_t listed = 0, files = 0;
    for (size_t i = 0; i < r->objects.len; i++) {
        files += r->objects.at[i].kind == RECORDING_OBJECT_FILE;
        listed += r->objects.at[i].kind == RECORDING_OBJECT_FILE && r->objects.at[i].is_listed;
    }
    return files && files == listed;
}

bool recording_is_wait(const struct recording *r, uint32_t node)
{
    uint32_t object = node ? r->nodes.at[node].object : RECORDING_NONE;
    return object != RECORDING_NONE && r->objects.at[object].kind == RECORDING_OBJECT_WAIT;
}

bool recording_is_throttled(const struct recording *r)
{
    bool is_throttled = false;
    for (size_t i = 0; i < r->losses.len; i++)
        is_throttled |= r->losses.at[i].kind == RECORDING_LOST_THROTTLED;
    return is_throttled;
}

uint64_t recording_weight(const struct recording *r, uint32_t event)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        if (r->samples.at[i].event == event)
            sum += r->samples.at[i].weight;
    return sum;
}

static bool recording_rises(const struct recording_sample *s, const struct recording_sample *next)
{
    return s->node < next->node || (s->node == next->node && s->labels < next->labels);
}

/* In long slices, all but the longest end of rising numbers. An ordered entry that happens to fit
 * in front of these is taken for one of them: one or two of many. */
bool *recording_find_ordered(const struct recording *r, struct arena *a)
{
    bool *is_ordered = ARENA_NEW(a, bool, r->samples.len), is_rising = false;
    for (size_t i = r->samples.len; i--;) {
        const struct recording_sample *s = &r->samples.at[i];
        const struct recording_sample *next = i + 1 < r->samples.len ? s + 1 : NULL;
        bool is_last = !next || next->slice != s->slice || next->thread != s->thread ||
                       next->event != s->event;
        is_rising = is_last || (is_rising && recording_rises(s, next));
        is_ordered[i] = r->slice_ns <= RECORDING_ORDERED_NS || !is_rising;
    }
    return is_ordered;
}

/* Entries of one sample have its weight. Those of several have a mean, which is new as well where
 * samples of two clocks are added up, so they are asked only if there are hardly any others. */
bool *recording_redrawn_threads(const struct recording *r, uint32_t event, struct arena *a)
{
    enum { KNOWN = 8, LEAST_NEW = 8, PART_NEW = 32, ENOUGH = 64 };
    struct arena scratch = {0};
    struct weights {
        uint64_t known[KNOWN], samples, fresh, single, fresh_single;
    } *of = ARENA_NEW(&scratch, struct weights, r->threads.len);
    bool *is_redrawn = ARENA_NEW(a, bool, r->threads.len);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        struct weights *w = &of[s->thread];
        bool is_known = false;
        if (s->event != event || !s->count || !s->weight || recording_is_wait(r, s->node))
            continue;
        w->samples += s->count;
        w->single += s->count == 1;
        for (int k = 0; k < KNOWN; k++)
            is_known |= w->known[k] == s->weight / s->count;
        w->fresh_single += !is_known && s->count == 1;
        if (!is_known)
            w->known[w->fresh++ % KNOWN] = s->weight / s->count;
    }
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct weights *w = &of[i];
        bool is_single = w->single >= ENOUGH;
        uint64_t fresh = is_single ? w->fresh_single : w->fresh;
        is_redrawn[i] =
            fresh > LEAST_NEW && fresh > (is_single ? w->single : w->samples) / PART_NEW;
    }
    arena_deinit(&scratch);
    return is_redrawn;
}

const char *recording_label_value(const struct recording *r, uint32_t set, const char *key)
{
    for (uint32_t i = 0; set && i < r->label_sets.at[set].len; i++) {
        const struct recording_label *label = &r->labels.at[r->label_sets.at[set].first + i];
        if (!strcmp(label->key, key))
            return label->value;
    }
    return NULL;
}

const struct recording_rank *recording_rank_of(const struct recording *r, uint32_t process)
{
    size_t at = PARTITION_POINT(r->ranks.len, k, r->ranks.at[k].process < process);
    return at < r->ranks.len && r->ranks.at[at].process == process ? &r->ranks.at[at] : NULL;
}

/* Ranks go into one map, machines into another by their names. */
struct recording_ranks_sum recording_sum_ranks(const struct recording *r)
{
    struct recording_ranks_sum sum = {.first = RECORDING_NONE, .host = ""};
    struct map seen = {0};
    struct intern hosts = {0};
    for (size_t i = 0; i < r->ranks.len; i++) {
        const struct recording_rank *rank = &r->ranks.at[i];
        bool is_new;
        map_index(&seen, rank->rank, 0, i, &is_new);
        sum.ranks += is_new;
        sum.size = rank->size > sum.size ? rank->size : sum.size;
        sum.first = rank->rank < sum.first ? rank->rank : sum.first;
        intern(&hosts, rank->host, strlen(rank->host));
    }
    sum.host = r->ranks.len ? r->ranks.at[0].host : "";
    sum.hosts = (uint32_t)hosts.texts.len;
    map_deinit(&seen);
    intern_deinit(&hosts);
    return sum;
}

/* The last part whose first process is not after this one: parts are in the order of processes. */
uint32_t recording_part_of(const struct recording *r, uint32_t process)
{
    uint32_t low = 0, high = recording_count(r);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->parts.at[middle].process <= process)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The events that the recorder can sample by, by their numbers in its files. */
static const struct {
    const char *name, *dimension;
    char abbreviation;
} EVENTS[] = {
    {"cpu", "seconds", 's'},
    {"wall", "seconds", 's'},
    {"page-faults", "page faults", 'f'},
    {"context-switches", "switches", 'w'},
    {"cycles", "cycles", 'c'},
    {"instructions", "instructions", 'i'},
    {"cache-misses", "cache misses", 'm'},
    {"branch-misses", "branch misses", 'b'},
};

enum { EVENTS_LEN = sizeof EVENTS / sizeof *EVENTS };

const char *event_name(uint32_t event)
{
    return event < EVENTS_LEN ? EVENTS[event].name : NULL;
}

const char *event_dimension(uint32_t event, char *abbreviation)
{
    *abbreviation = event < EVENTS_LEN ? EVENTS[event].abbreviation : '?';
    return event < EVENTS_LEN ? EVENTS[event].dimension : NULL;
}

/* ---- What CPU time a run's processes had, by the accounts that the kernel gives to who waits for
 * them, and where no process waited, by its counters.
 *
 * Counters run on while the machine's host runs something else; accounts do not. Accounts lack
 * children for which no process waited: SIGCHLD was ignored, or their parent was gone. */

/* Outlived its parent, so that its time is in no account. */
static bool is_orphan(const struct recording *r, const struct map *ends, uint32_t process)
{
    const uint32_t *own = map_find(ends, r->processes.at[process].pid, 0);
    const uint32_t *parent = map_find(ends, r->processes.at[process].parent_pid, 0);
    uint64_t own_end = r->processes.at[*own].end_ns;
    uint64_t parent_end = parent ? r->processes.at[*parent].end_ns : 0;
    return process && parent_end && (!own_end || own_end > parent_end);
}

/* Counters of threads, split by whether the process's time is in its parent's account as well. */
struct recording_cpu recording_cpu(const struct recording *r)
{
    struct recording_cpu sum = {0};
    struct map ends = {0}; /* by pid: its last program, which says when it ended */
    for (uint32_t i = 0; i < r->processes.len; i++)
        map_set(&ends, r->processes.at[i].pid, 0, i);
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        if (t->has_cpu)
            *(is_orphan(r, &ends, t->process) ? &sum.orphans_ns : &sum.others_ns) += t->cpu_ns;
    }
    map_deinit(&ends);
    return sum;
}

bool event_name_is(const char *event, const char *name)
{
    size_t len = strlen(name);
    return !strncmp(event, name, len) && (!event[len] || event[len] == ':');
}

/* "cpu:u" and "cpu:k" are two. */
uint32_t recording_find_event(const struct recording *r, const char *name)
{
    uint32_t found = RECORDING_NONE, alike = 0;
    for (uint32_t i = 0; i < r->events.len; i++) {
        if (!name || !strcmp(r->events.at[i].name, name))
            return i;
        if (event_name_is(r->events.at[i].name, name)) {
            found = i;
            alike++;
        }
    }
    return alike == 1 ? found : RECORDING_NONE;
}

bool recording_covers_waits(const struct recording *r)
{
    return r->waits.len || (r->events.len && event_name_is(r->events.at[0].name, "wall"));
}

uint64_t recording_last_end_ns(const struct recording *r)
{
    const uint64_t LEAST_NS = 1000 * 1000; /* ends are seen a little late */
    uint64_t last_ns = 0;
    for (size_t i = 0; i < r->processes.len; i++)
        last_ns = r->processes.at[i].end_ns > last_ns ? r->processes.at[i].end_ns : last_ns;
    return last_ns > r->length_ns + LEAST_NS ? last_ns : r->length_ns;
}

uint64_t recording_peak_bytes(const struct recording *r)
{
    uint32_t runs = recording_count(r);
    uint64_t sum = 0;
    for (uint32_t run = 0, i = 0; run < runs; run++) {
        uint64_t most = 0;
        for (; i < r->processes.len && recording_part_of(r, i) == run; i++)
            most = r->processes.at[i].peak_bytes > most ? r->processes.at[i].peak_bytes : most;
        sum += most / runs;
    }
    return sum;
}

/* Each source may lack something: accounts the children that were not waited for, counters the
 * processes that were not watched. The one that has more is nearer to the truth. What threads have
 * each may be a sum of samples, which is right on average: a counter of all is better. */
uint64_t recording_used_ns(const struct recording *r)
{
    uint64_t waited = r->user_ns + r->system_ns;
    struct recording_cpu counted = recording_cpu(r);
    uint64_t accounts = (waited ? waited : counted.others_ns) + counted.orphans_ns;
    uint64_t counters = r->cpu_ns ? r->cpu_ns : counted.others_ns + counted.orphans_ns;
    return accounts > counters ? accounts : counters;
}

/* Counters and accounts differ by up to a tenth and a few clock ticks without anything missing;
 * less than that could be rounding. */
uint64_t recording_unaccounted_ns(const struct recording *r)
{
    enum { TICKS_NS = 12 * 1000 * 1000 };
    uint64_t waited = r->user_ns + r->system_ns;
    struct recording_cpu counted = recording_cpu(r);
    uint64_t all = counted.others_ns + counted.orphans_ns;
    all = all > r->cpu_ns ? all : r->cpu_ns;
    bool is_more = waited && r->processes.len > 1 && all > waited + waited / 10 + TICKS_NS;
    return is_more ? all - waited : 0;
}

/* ---- A recording as gmon.out: the samples of its program, and nothing of what that format cannot
 * hold.
 *
 * Bins are two bytes wide, so that one never lies over two functions, and a histogram of a large
 * program would be as long as its text: 236 MB for a browser of which 700 places were sampled.
 * Therefore only a text of up to WHOLE_BYTES is one histogram. Of a larger one, each piece of
 * PIECE_BYTES in which something was sampled has a histogram of its own, so that the file takes at
 * most that much for each sampled address. Pieces lie on a fixed grid: those of two recordings of
 * one program are equal or apart, as GNU gprof wants them when it adds files up (-s). */

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

/* Three passes: addresses that were sampled, histograms that cover them, counts. A sample's weight
 * becomes as many hits as the event's period goes into it, rounded. */
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
