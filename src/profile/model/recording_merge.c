/* Merging recordings, and adding the calls that recorders inside processes counted.
 *
 * What is a list of its own (processes, threads, marks, losses) is appended with its indices moved;
 * objects and events that both have are one, and so are stacks of the same frames: a map from each
 * old number to the new one is made list by list, in the order in which lists refer to each other.
 * An object is known by its build-id, else by its path. In time the recordings stand one after the
 * other, except for ranks of one job, which ran together: those stand side by side, as below. Time
 * is linear in both; `into` is changed in place, so a failure is found before it is
 * touched: machines and units are compared first.
 *
 *     list           of `into`   of `from`   becomes
 *     processes      0 1 2       0 1         0 1 2 3 4        (+ had)
 *     objects        0 1         0 1         0 1 2            (a map: 1 -> 0, say, 0 -> 2)
 *
 * Merging keeps sums of samples, weights, calls and losses. It is not commutative in the order
 * of lists: what the first run says (machine, command, method) stands for all. */
#include "profile/model/recording_lists.h"

#include "base/sort.h"
#include "base/build_id.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SLICES = 1000 };

/* A merge that is going on; maps are by the numbers of `from`. */
struct recording_merging {
    struct recording *into;
    const struct recording *from;
    struct arena scratch;
    /* By list: of each item of `from`, its number in `into`; without a map, it is that many more.
     */
    uint32_t *maps[RECORDING_LISTS], had[RECORDING_LISTS];
    recording_agree *agree; /* or NULL */
    bool is_one_job;        /* they ran together */
    uint64_t begin_ns;      /* of `from`, in the time of `into` */
};

static const char *merge_text(struct recording_merging *m, const char *text)
{
    return text ? arena_copy(&m->into->arena, text, strlen(text)) : NULL;
}

_Static_assert((int)RECORDING_BUILD_ID_BYTES == (int)BUILD_ID_MOST_BYTES,
               "what recordings keep of one");

bool recording_object_same(const struct recording_object *a, const struct recording_object *b)
{
    if (a->kind != b->kind || a->kind == RECORDING_OBJECT_GENERATED)
        return false;
    if (a->kind != RECORDING_OBJECT_FILE)
        return true;
    bool has_ids = a->build_id_bytes && b->build_id_bytes;
    return !strcmp(a->path, b->path) && a->is_listed == b->is_listed &&
           (!has_ids || build_id_same((struct bytes){a->build_id, a->build_id_bytes},
                                      (struct bytes){b->build_id, b->build_id_bytes}));
}

/* By what else is known of two files of one path, where build-ids do not decide. */
static bool merge_agree(const struct recording_merging *m, uint32_t old, uint32_t new)
{
    const struct recording_object *a = &m->into->objects.at[old], *b = &m->from->objects.at[new];
    bool is_decided =
        a->kind != RECORDING_OBJECT_FILE || (a->build_id_bytes && b->build_id_bytes) || !m->agree;
    return is_decided || m->agree(m->into, old, m->from, new);
}

static uint32_t merge_object(struct recording_merging *m, uint32_t number)
{
    struct recording *into = m->into;
    const struct recording_object *o = &m->from->objects.at[number];
    for (uint32_t i = 0; i < into->objects.len; i++) {
        struct recording_object *same = &into->objects.at[i];
        if (!recording_object_same(same, o) || !merge_agree(m, i, number))
            continue;
        same->low = o->low < same->low ? o->low : same->low;
        same->high = o->high > same->high ? o->high : same->high;
        if (build_id_says_more((struct bytes){o->build_id, o->build_id_bytes},
                               (struct bytes){same->build_id, same->build_id_bytes})) {
            same->build_id_bytes = o->build_id_bytes;
            memcpy(same->build_id, o->build_id, sizeof o->build_id);
        }
        return i;
    }
    struct recording_object added = *o;
    added.path = merge_text(m, o->path);
    added.process = o->process == RECORDING_NONE ? RECORDING_NONE
                                                 : o->process + m->had[RECORDING_LIST_PROCESSES];
    vec_push(&into->objects, added);
    return (uint32_t)into->objects.len - 1;
}

static int merge_by_start(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    if (l->start != r->start)
        return l->start < r->start ? -1 : 1;
    return l->size != r->size ? (l->size < r->size ? -1 : 1) : strcmp(l->name, r->name);
}

/* Symbols that both have are kept once. */
static void merge_symbols(struct recording_merging *m)
{
    struct recording *into = m->into;
    for (size_t i = 0; i < m->from->symbols.len; i++) {
        struct recording_symbol s = m->from->symbols.at[i];
        s.object = m->maps[RECORDING_LIST_OBJECTS][s.object];
        s.name = merge_text(m, s.name);
        vec_push(&into->symbols, s);
    }
    if (into->symbols.len)
        qsort(into->symbols.at, into->symbols.len, sizeof *into->symbols.at, merge_by_start);
    size_t kept = 0;
    for (size_t i = 0; i < into->symbols.len; i++)
        if (!kept || merge_by_start(&into->symbols.at[kept - 1], &into->symbols.at[i]))
            into->symbols.at[kept++] = into->symbols.at[i];
    into->symbols.len = kept;
}

/* Events of one name become one, if they count the same unit; where a run has several of a name,
 * the first is the first and the second the second. Fails before any other list is touched. */
static bool merge_events(struct recording_merging *m, struct err *e)
{
    struct recording *into = m->into;
    bool *is_taken = ARENA_NEW(&m->scratch, bool, into->events.len + m->from->events.len);
    m->maps[RECORDING_LIST_EVENTS] = ARENA_NEW(&m->scratch, uint32_t, m->from->events.len);
    for (size_t i = 0; i < m->from->events.len; i++) {
        struct recording_event event = m->from->events.at[i];
        uint32_t number = 0;
        while (number < into->events.len &&
               (is_taken[number] || strcmp(into->events.at[number].name, event.name)))
            number++;
        m->maps[RECORDING_LIST_EVENTS][i] = number;
        is_taken[number] = true;
        if (number == into->events.len) {
            event.name = merge_text(m, event.name);
            vec_push(&into->events, event);
        } else if (into->events.at[number].unit != event.unit) {
            return err_set(e, "the event '%s' has different units in another run", event.name);
        }
        into->events.at[number].user_only |= event.user_only;
    }
    return true;
}

/* Stacks of `into` are numbered by parent, object and address; those of `from` find theirs. */
static void merge_nodes(struct recording_merging *m)
{
    struct recording *into = m->into;
    struct map known = {0};
    map_reserve(&known, into->nodes.len + m->from->nodes.len);
    for (uint32_t i = 1; i < into->nodes.len; i++)
        map_at(&known, map_two(into->nodes.at[i].parent, into->nodes.at[i].object),
               into->nodes.at[i].address, i, NULL);
    uint32_t *nodes = m->maps[RECORDING_LIST_NODES] =
        ARENA_NEW(&m->scratch, uint32_t, m->from->nodes.len);
    for (uint32_t i = 1; i < m->from->nodes.len; i++) {
        struct recording_node n = m->from->nodes.at[i];
        bool is_new;
        n.parent = nodes[n.parent];
        n.object = m->maps[RECORDING_LIST_OBJECTS][n.object];
        nodes[i] =
            map_index(&known, map_two(n.parent, n.object), n.address, into->nodes.len, &is_new);
        if (is_new)
            vec_push(&into->nodes, n);
    }
    map_deinit(&known);
}

/* --- ranks of a job -------------------------------------------------------------------------- */

/* Ranks of one job stand at the time at which they ran. That is exact, whatever is merged with what
 * first, so that ranks may be reduced in a tree and give the bytes of one merge after the other:
 *
 *     slices      are powers of two, and lie on a grid that begins in 1970: making them longer
 *                 rounds down, as often as one likes. A recording whose slices are none is put on
 *                 the grid by the middle of each when it is added first
 *     the start   is the earliest one, the end the latest
 *     lists       are in the order of what is merged
 *
 *          1970 |-------|-------|-------|-------|-------|
 *     into           ^start, slice 0    1       2
 *     from                  ^start, slice 0     1             begins in slice 1 of `into`
 */

/* Where in the grid of 1970 a slice of the recording lies. */
static uint64_t merge_grid_at(const struct recording *r, uint32_t slice, uint64_t grid_ns)
{
    uint64_t end_ns = r->start_real_ns + r->length_ns, at_ns;
    if (r->slice_ns & (r->slice_ns - 1))
        at_ns = r->start_real_ns + r->slice_ns * slice + r->slice_ns / 2;
    else
        at_ns = (r->start_real_ns / r->slice_ns + slice) * r->slice_ns;
    at_ns = at_ns < end_ns ? at_ns : end_ns;
    return (at_ns > r->start_real_ns ? at_ns : r->start_real_ns) / grid_ns;
}

/* The shortest slices that a recording of ranks may have; one long slice has no times. */
static uint64_t merge_grid_of(const struct recording *r, uint64_t grid_ns)
{
    while (r->length_ns > r->slice_ns && grid_ns < r->slice_ns)
        grid_ns *= 2;
    return grid_ns;
}

/* The start of a rank's process; with its number and its machine it is that one. */
static uint64_t merge_rank_start(const struct recording *r, const struct recording_rank *rank)
{
    return r->start_real_ns + r->processes.at[rank->process].start_ns;
}

static uint32_t merge_rank_pid(const struct recording *r, const struct recording_rank *rank)
{
    return r->processes.at[rank->process].pid;
}

/* How the two stand to each other. */
enum merge_relation { MERGE_APART, MERGE_ONE_JOB, MERGE_KNOWN, MERGE_MIXED };

/* Ranks of one job: as many ranks in all, none in both. KNOWN: `from` is part of `into` already.
 * MIXED: some of it is, which is neither to be added nor to be left out. */
static enum merge_relation merge_relation_of(const struct recording *into,
                                             const struct recording *from)
{
    const uint64_t latest = UINT64_C(1) << 62;
    if (!from->ranks.len || !from->start_real_ns || from->start_real_ns >= latest ||
        from->length_ns >= latest)
        return MERGE_APART;
    if (!into->processes.len)
        return MERGE_ONE_JOB;
    if (!into->ranks.len || into->ranks.at[0].size != from->ranks.at[0].size)
        return MERGE_APART;
    struct map ranks = {0}, processes = {0};
    size_t same = 0, other = 0;
    for (uint32_t i = 0; i < into->ranks.len; i++) {
        const struct recording_rank *rank = &into->ranks.at[i];
        map_at(&ranks, rank->rank, 0, i, NULL);
        map_at(&processes, merge_rank_start(into, rank), merge_rank_pid(into, rank), i, NULL);
    }
    for (size_t i = 0; i < from->ranks.len; i++) {
        const struct recording_rank *rank = &from->ranks.at[i];
        const uint32_t *at =
            map_find(&processes, merge_rank_start(from, rank), merge_rank_pid(from, rank));
        bool is_same = at && !strcmp(into->ranks.at[*at].host, rank->host);
        same += is_same;
        other += !is_same && map_find(&ranks, rank->rank, 0);
    }
    map_deinit(&ranks);
    map_deinit(&processes);
    if (same == from->ranks.len)
        return MERGE_KNOWN;
    return same ? MERGE_MIXED : other ? MERGE_APART : MERGE_ONE_JOB;
}

/* All times of `into`, later by that much; an end of 0 is none. */
static void merge_shift(struct recording *into, uint64_t by_ns)
{
    for (size_t i = 0; i < recording_records_len; i++)
        for (uint32_t k = 0; k < recording_records[i].len; k++) {
            const struct recording_field *f = &recording_records[i].fields[k];
            struct recording_items items = recording_items_of(into, recording_records[i].list);
            bool is_time = f->meaning == RECORDING_IS_TIME || f->meaning == RECORDING_IS_END;
            for (size_t n = 0; n < items.len && is_time; n++) {
                uint8_t *item = items.at + n * items.item_bytes;
                uint64_t at_ns = recording_field_get(item, f);
                if (at_ns || f->meaning == RECORDING_IS_TIME)
                    recording_field_set(item, f, at_ns + by_ns);
            }
        }
}

/* Side by side: start, end and slices of both together, and the samples of `into` in those. How
 * many threads ran at a time is not known of both together. */
static void merge_together(struct recording_merging *m)
{
    struct recording *into = m->into;
    const struct recording *from = m->from;
    bool is_first = !into->processes.len;
    uint64_t start = from->start_real_ns, end = start + from->length_ns, grid;
    uint64_t into_end = into->start_real_ns + into->length_ns;
    if (!is_first && into->start_real_ns < start)
        start = into->start_real_ns;
    end = !is_first && into_end > end ? into_end : end;
    for (grid = merge_grid_of(from, is_first || !into->slice_ns ? 1 : into->slice_ns);
         end / grid - start / grid >= MOST_SLICES;)
        grid *= 2;
    for (size_t i = 0;
         i < into->samples.len && (grid != into->slice_ns || into->start_real_ns != start); i++) {
        struct recording_sample *s = &into->samples.at[i];
        s->slice = (uint32_t)(merge_grid_at(into, s->slice, grid) - start / grid);
    }
    if (!is_first)
        merge_shift(into, into->start_real_ns - start);
    into->turns.len = into->parallel.len = 0;
    into->start_real_ns = start;
    into->length_ns = end - start;
    into->slice_ns = grid;
    m->begin_ns = from->start_real_ns - start;
}

/* --- time ------------------------------------------------------------------------------------ */

/* The slice of a moment; the last one takes what is beyond it. */
static uint32_t merge_slice_at(const struct recording *r, uint64_t at_ns)
{
    uint64_t slice = at_ns / r->slice_ns;
    return slice < MOST_SLICES ? (uint32_t)slice : MOST_SLICES - 1;
}

/* Slices become so long that both runs have room in MOST_SLICES of them. Old samples go to the
 * slice of their middle. */
static void merge_slices(struct recording_merging *m)
{
    struct recording *into = m->into;
    if (m->is_one_job) {
        merge_together(m);
        return;
    }
    m->begin_ns = into->length_ns;
    uint64_t was = into->slice_ns, length = into->length_ns + m->from->length_ns;
    into->slice_ns = was > m->from->slice_ns ? was : m->from->slice_ns;
    into->slice_ns = into->slice_ns ? into->slice_ns : 1;
    while (length / into->slice_ns >= MOST_SLICES)
        into->slice_ns *= 2;
    for (size_t i = 0; i < into->samples.len; i++)
        into->samples.at[i].slice = merge_slice_at(into, was * into->samples.at[i].slice + was / 2);
    for (size_t i = 0; i < into->turns.len; i++)
        into->turns.at[i].slice = merge_slice_at(into, was * into->turns.at[i].slice + was / 2);
    for (size_t i = 0; i < into->parallel.len; i++)
        into->parallel.at[i].slice =
            merge_slice_at(into, was * into->parallel.at[i].slice + was / 2);
}

/* The slice of `into` in which the middle of one of `from` lies. */
static uint32_t merge_moved_slice(const struct recording_merging *m, uint32_t slice)
{
    const struct recording *from = m->from, *into = m->into;
    if (m->is_one_job)
        return (uint32_t)(merge_grid_at(from, slice, into->slice_ns) -
                          into->start_real_ns / into->slice_ns);
    return merge_slice_at(into, into->length_ns + from->slice_ns * slice + from->slice_ns / 2);
}

/* --- lists by their fields ------------------------------------------------------------------- */

/* The number in `into` of what has a number in `from`. */
static uint64_t merge_renumbered(const struct recording_merging *m, uint32_t list, uint64_t number)
{
    return m->maps[list] ? m->maps[list][number] : number + m->had[list];
}

/* What a number of `from` becomes in `into`. */
static uint64_t merge_number(const struct recording_merging *m, const struct recording_field *f,
                             uint64_t value)
{
    if (f->refers_to && f->coding == RECORDING_AS_INDEX && value == RECORDING_NONE)
        return value;
    if (f->refers_to)
        return merge_renumbered(m, f->refers_to, value);
    if (f->meaning == RECORDING_IS_SLICE)
        return merge_moved_slice(m, (uint32_t)value);
    return f->meaning == RECORDING_IS_END && !value ? 0 : value + m->begin_ns;
}

/* One field of the items that have just come from `from`. */
static void merge_field(struct recording_merging *m, const struct recording_field *f,
                        struct recording_items items)
{
    bool is_text = f->coding == RECORDING_AS_STRING || f->coding == RECORDING_AS_MAYBE_STRING;
    if (!is_text && !f->refers_to && !f->meaning)
        return;
    for (uint8_t *item = items.at, *end = item + items.len * items.item_bytes; item < end;
         item += items.item_bytes)
        if (is_text)
            recording_field_set_text(item, f, merge_text(m, recording_field_text(item, f)));
        else
            recording_field_set(item, f, merge_number(m, f, recording_field_get(item, f)));
}

/* The items of `from` come after those of `into`. What they refer to has its numbers already. */
static void merge_list(struct recording_merging *m, enum recording_list list)
{
    struct recording_items items = recording_items_of(m->from, list);
    if (!items.len)
        return;
    const uint8_t *from = items.at;
    items.at = recording_items_add(m->into, list, items.len);
    memcpy(items.at, from, items.len * items.item_bytes);
    for (size_t i = 0; i < recording_records_len; i++)
        for (uint32_t k = 0; recording_records[i].list == list && k < recording_records[i].len; k++)
            merge_field(m, &recording_records[i].fields[k], items);
}

/* Times by slices: only if all that is merged has them. */
static void merge_turns(struct recording_merging *m)
{
    struct recording *into = m->into;
    bool is_first = !m->had[RECORDING_LIST_PROCESSES];
    if (m->from->turns.len && !m->is_one_job && (into->turns.len || is_first)) {
        merge_list(m, RECORDING_LIST_TURNS);
        merge_list(m, RECORDING_LIST_PARALLEL);
    } else {
        into->turns.len = into->parallel.len = 0;
    }
}

/* A waker is a thread only of the last two kinds. */
static void merge_waits(struct recording_merging *m)
{
    size_t first = m->into->waits.len;
    m->into->reports_wakes |= m->from->reports_wakes;
    merge_list(m, RECORDING_LIST_WAITS);
    for (size_t i = first; i < m->into->waits.len; i++)
        if (m->into->waits.at[i].woken >= RECORDING_WAKER_SOFT)
            m->into->waits.at[i].waker += m->had[RECORDING_LIST_THREADS];
}

/* Sets of both side by side: users want a value of a key, not a set. */
static void merge_labels(struct recording_merging *m)
{
    struct recording *into = m->into;
    m->maps[RECORDING_LIST_LABEL_SETS] =
        ARENA_NEW(&m->scratch, uint32_t, m->from->label_sets.len + 1);
    if (m->from->label_sets.len && !into->label_sets.len)
        vec_push(&into->label_sets, (struct recording_label_set){0});
    uint32_t first = (uint32_t)into->labels.len;
    for (size_t i = 0; i < m->from->labels.len; i++)
        vec_push(&into->labels,
                 (struct recording_label){merge_text(m, m->from->labels.at[i].key),
                                          merge_text(m, m->from->labels.at[i].value)});
    for (size_t i = 1; i < m->from->label_sets.len; i++) {
        struct recording_label_set set = m->from->label_sets.at[i];
        set.first += first;
        m->maps[RECORDING_LIST_LABEL_SETS][i] = (uint32_t)into->label_sets.len;
        vec_push(&into->label_sets, set);
    }
}

/* Times of `from` begin where `into` ends. Equal samples stay apart: threads differ. */
static void merge_samples(struct recording_merging *m)
{
    const struct recording *from = m->from;
    struct recording *into = m->into;
    vec_reserve(&into->samples, into->samples.len + from->samples.len);
    for (size_t i = 0; i < from->samples.len; i++) {
        struct recording_sample s = from->samples.at[i];
        s.slice = merge_moved_slice(m, s.slice);
        s.thread += m->had[RECORDING_LIST_THREADS];
        s.event = m->maps[RECORDING_LIST_EVENTS][s.event];
        s.node = m->maps[RECORDING_LIST_NODES][s.node];
        s.labels = m->maps[RECORDING_LIST_LABEL_SETS][s.labels];
        vec_push(&into->samples, s);
    }
}

static uint64_t merge_sum_of(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* What several runs lost for the same reason is said once. Reasons are few; of those that a file
 * invents the first are compared. */
static void merge_loss(struct recording_merging *m, const struct recording_loss *lost)
{
    enum { MOST_REASONS = 64 };
    struct recording *into = m->into;
    for (size_t i = 0; i < into->losses.len && i < MOST_REASONS; i++) {
        struct recording_loss *same = &into->losses.at[i];
        if (same->kind != lost->kind || strcmp(same->text, lost->text))
            continue;
        same->count = merge_sum_of(same->count, lost->count);
        same->ns = merge_sum_of(same->ns, lost->ns);
        return;
    }
    struct recording_loss added = *lost;
    added.text = merge_text(m, lost->text);
    vec_push(&into->losses, added);
}

/* Texts are those of the first run that has any; losses are of both. */
static void merge_notes(struct recording_merging *m)
{
    if (!m->into->texts.len)
        merge_list(m, RECORDING_LIST_TEXTS);
    for (size_t i = 0; i < m->from->losses.len; i++)
        merge_loss(m, &m->from->losses.at[i]);
}

/* The sum is of runs of a series if both are. Before the first there is nothing. */
static void merge_parts(struct recording_merging *m)
{
    struct recording *into = m->into;
    if (m->had[RECORDING_LIST_PROCESSES] && !into->parts.len)
        return;
    if (!m->from->parts.len)
        into->parts.len = 0;
    merge_list(m, RECORDING_LIST_PARTS);
}

static void merge_branches(struct recording_merging *m)
{
    merge_list(m, RECORDING_LIST_BRANCHES);
    if (m->from->branches.len)
        m->into->branches.len = recording_sum_branches(m->into->branches.at, m->into->branches.len);
}

/* Sums, and what the first run says for all. */
static void merge_facts(struct recording_merging *m)
{
    const struct recording_record *run = recording_record_of(RECORDING_TAG_RUN);
    if (!m->is_one_job)
        m->into->length_ns += m->from->length_ns;
    for (uint32_t i = 0; i < run->len; i++) {
        const struct recording_field *f = &run->fields[i];
        uint64_t old = recording_field_get(m->into, f), more = recording_field_get(m->from, f);
        if (f->meaning == RECORDING_IS_SUM)
            recording_field_set(m->into, f, old + more);
        else if ((f->meaning == RECORDING_IS_FIRST && !old) ||
                 (f->meaning == RECORDING_IS_LARGEST && old < more))
            recording_field_set(m->into, f, more);
    }
}

/* A zeroed `into` gets its root first. */
static struct recording_merging merge_merging_of(struct recording *into,
                                                 const struct recording *from)
{
    if (!into->nodes.len)
        vec_push(&into->nodes,
                 (struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE});
    struct recording_merging m = {.into = into, .from = from};
    for (uint32_t list = RECORDING_LIST_NONE + 1; list < RECORDING_LISTS; list++)
        m.had[list] = (uint32_t)recording_items_of(into, list).len;
    return m;
}

/* The order of the calls matters: maps of objects and events are needed by what follows, as is
 * begin_ns, and into->length_ns is where the next begins until merge_facts() moves it. */
bool recording_merge_by(struct recording *into, const struct recording *from,
                        recording_agree *agree, struct err *e)
{
    struct recording_merging m = merge_merging_of(into, from);
    m.agree = agree;
    bool is_one_machine = !into->machine || !from->machine || into->machine == from->machine;
    if (!is_one_machine)
        return err_set(e, "the runs are from different machines (ELF numbers %u and %u)",
                       into->machine, from->machine);
    enum merge_relation relation = merge_relation_of(into, from);
    if (relation == MERGE_KNOWN)
        return true;
    if (relation == MERGE_MIXED)
        return err_set(e, "some of the job's ranks, but not all, are added already");
    m.is_one_job = relation == MERGE_ONE_JOB;
    bool ok = merge_events(&m, e);
    if (ok) {
        uint32_t *objects = m.maps[RECORDING_LIST_OBJECTS] =
            ARENA_NEW(&m.scratch, uint32_t, m.from->objects.len);
        for (uint32_t i = 0; i < m.from->objects.len; i++)
            objects[i] = merge_object(&m, i);
        merge_symbols(&m);
        /* Excerpts of one object that both have are kept once. */
        for (size_t i = 0; i < m.from->excerpts.len; i++)
            recording_add_excerpt(m.into, objects[m.from->excerpts.at[i].object],
                                  m.from->excerpts.at[i].bytes);
        merge_nodes(&m);
        merge_slices(&m);
        merge_labels(&m);
        merge_samples(&m);
        merge_turns(&m);
        merge_waits(&m);
        merge_notes(&m);
        merge_parts(&m);
        merge_branches(&m);
        for (uint32_t list = RECORDING_LIST_NONE + 1; list < RECORDING_LISTS; list++)
            if (recording_list_is_own(list))
                merge_list(&m, list);
        merge_facts(&m);
        if (m.is_one_job)
            recording_sum_calls(into);
    }
    arena_deinit(&m.scratch);
    return ok && recording_check(into, e);
}

bool recording_merge(struct recording *into, const struct recording *from, struct err *e)
{
    return recording_merge_by(into, from, NULL, e);
}

/* --- calls alone ----------------------------------------------------------------------------- */

/* Orders in which equal keys are adjacent. */
static int merge_by_ends(const void *left, const void *right)
{
    const struct recording_arc *l = left, *r = right;
    if (l->from_object != r->from_object)
        return l->from_object < r->from_object ? -1 : 1;
    if (l->from != r->from)
        return l->from < r->from ? -1 : 1;
    if (l->self_object != r->self_object)
        return l->self_object < r->self_object ? -1 : 1;
    return (l->self > r->self) - (l->self < r->self);
}

static int merge_by_address(const void *left, const void *right)
{
    const struct recording_block *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->address > r->address) - (l->address < r->address);
}

/* Sorts both lists and adds up neighbours: n log n. */
void recording_sum_calls(struct recording *r)
{
    size_t arcs = 0, blocks = 0;
    if (r->arcs.len)
        qsort(r->arcs.at, r->arcs.len, sizeof *r->arcs.at, merge_by_ends);
    for (size_t i = 0; i < r->arcs.len; i++)
        if (arcs && !merge_by_ends(&r->arcs.at[arcs - 1], &r->arcs.at[i]))
            r->arcs.at[arcs - 1].count =
                merge_sum_of(r->arcs.at[arcs - 1].count, r->arcs.at[i].count);
        else
            r->arcs.at[arcs++] = r->arcs.at[i];
    if (r->blocks.len)
        qsort(r->blocks.at, r->blocks.len, sizeof *r->blocks.at, merge_by_address);
    for (size_t i = 0; i < r->blocks.len; i++)
        if (blocks && !merge_by_address(&r->blocks.at[blocks - 1], &r->blocks.at[i]))
            r->blocks.at[blocks - 1].count =
                merge_sum_of(r->blocks.at[blocks - 1].count, r->blocks.at[i].count);
        else
            r->blocks.at[blocks++] = r->blocks.at[i];
    r->arcs.len = arcs;
    r->blocks.len = blocks;
}

static int merge_by_branch(const void *left, const void *right)
{
    const struct recording_branch *l = left, *r = right;
    if (l->from != r->from)
        return l->from < r->from ? -1 : 1;
    if (l->from_object != r->from_object)
        return l->from_object < r->from_object ? -1 : 1;
    if (l->to_object != r->to_object)
        return l->to_object < r->to_object ? -1 : 1;
    if (l->to != r->to)
        return l->to < r->to ? -1 : 1;
    return (l->end > r->end) - (l->end < r->end);
}

size_t recording_sum_branches(struct recording_branch *at, size_t len)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len + 1);
    struct recording_branch *copy = ARENA_NEW(&scratch, struct recording_branch, len + 1);
    size_t sums = 0;
    /* Few branches begin at one address: numbers alone bring them together. */
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){at[i].from, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        copy[i] = at[order[i].item];
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i; end < len && copy[end].from == copy[i].from; end++)
            at[end] = copy[end];
        if (end > i + 1)
            qsort(at + i, end - i, sizeof *at, merge_by_branch);
    }
    arena_deinit(&scratch);
    for (size_t i = 0; i < len; i++)
        if (sums && !merge_by_branch(&at[sums - 1], &at[i])) {
            at[sums - 1].count = merge_sum_of(at[sums - 1].count, at[i].count);
            at[sums - 1].missed = merge_sum_of(at[sums - 1].missed, at[i].missed);
        } else {
            at[sums++] = at[i];
        }
    return sums;
}

/* Only files and the vDSO have calls; the objects of other kinds stay out. */
void recording_add_calls(struct recording *into, const struct recording *from)
{
    struct recording_merging m = merge_merging_of(into, from);
    uint32_t *objects = m.maps[RECORDING_LIST_OBJECTS] =
        ARENA_NEW(&m.scratch, uint32_t, from->objects.len);
    for (size_t i = 0; i < from->objects.len; i++) {
        uint32_t kind = from->objects.at[i].kind;
        bool has_calls = kind == RECORDING_OBJECT_FILE || kind == RECORDING_OBJECT_VDSO;
        objects[i] = has_calls ? merge_object(&m, (uint32_t)i) : RECORDING_NONE;
    }
    merge_list(&m, RECORDING_LIST_ARCS);
    merge_list(&m, RECORDING_LIST_BLOCKS);
    recording_sum_calls(into);
    arena_deinit(&m.scratch);
}
