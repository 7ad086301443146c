/* What every recording must hold.
 *
 * recording_check() is what readers check and writers promise: all indices in range, parents before
 * children, so that a walk up a stack ends, weights that have a sum. All later code relies on that
 * and checks no index again. It takes one pass over each list for what the tables of fields say,
 * and one for what no field says alone. */
#include "profile/model/recording_lists.h"

#include "base/err.h"

enum { MOST_SLICES = 1 << 20 };

/* For indices that may be missing. */
static bool is_index_or_none(uint32_t index, size_t len)
{
    return index < len || index == RECORDING_NONE;
}

static bool check_fails(struct err *e, enum recording_list list, size_t item)
{
    return err_set(e, "%s %zu of the recording is not possible", recording_list_name(list), item);
}

/* A field of an item: what it refers to is there, as is its text, and *sum has room for it. */
static bool field_holds(const struct recording_field *f, const void *item, size_t others,
                        uint64_t *sum)
{
    if (f->coding == RECORDING_AS_STRING)
        return recording_field_text(item, f) != NULL;
    if (f->coding == RECORDING_AS_CHARACTERS)
        return !recording_field_text(item, f)[f->bytes - 1];
    if (recording_field_is_text(f))
        return true;
    uint64_t value = recording_field_get(item, f);
    bool may_be_none = f->coding == RECORDING_AS_INDEX && value == RECORDING_NONE;
    return (!f->refers_to || value < others || may_be_none) && (!f->below || value < f->below) &&
           (!f->adds_up || !__builtin_add_overflow(*sum, value, sum));
}

/* How many items there are for a field to refer to. */
static size_t field_others(const struct recording *r, const struct recording_field *f)
{
    return f->refers_to ? recording_items_of(r, f->refers_to).len : 0;
}

/* One field of all items of a list. */
static bool check_field(const struct recording *r, enum recording_list list,
                        const struct recording_field *f, struct err *e)
{
    struct recording_items items = recording_items_of(r, list);
    size_t others = field_others(r, f);
    uint64_t sum = 0;
    bool is_text = f->coding == RECORDING_AS_STRING || f->coding == RECORDING_AS_CHARACTERS;
    if (!is_text && !f->refers_to && !f->below && !f->adds_up)
        return true;
    for (size_t i = 0; i < items.len; i++)
        if (!field_holds(f, items.at + i * items.item_bytes, others, &sum))
            return check_fails(e, list, i);
    return true;
}

bool recording_item_holds(const struct recording *r, enum recording_list list, const void *item)
{
    for (size_t i = 0; i < recording_records_len; i++)
        for (uint32_t k = 0; recording_records[i].list == list && k < recording_records[i].len;
             k++) {
            const struct recording_field *f = &recording_records[i].fields[k];
            if (!field_holds(f, item, field_others(r, f), &(uint64_t){0}))
                return false;
        }
    return true;
}

static bool check_fields(const struct recording *r, struct err *e)
{
    for (size_t i = 0; i < recording_records_len; i++) {
        const struct recording_record *record = &recording_records[i];
        for (uint32_t k = 0; k < record->len && record->list; k++)
            if (!check_field(r, record->list, &record->fields[k], e))
                return false;
    }
    return true;
}

/* The first item of a list, `at`, for which `holds` is false makes the message. */
#define EACH(list, name, type, holds)                        \
    for (size_t i = 0; i < r->list.len; i++) {               \
        const struct type *at = &r->list.at[i];              \
        if (!(holds))                                        \
            return check_fails(e, RECORDING_LIST_##name, i); \
    }

/* What a field alone does not say; and all of those lists that have no table of fields. The root
 * has no parent and no object; all other nodes have both. Weights must have a sum over all events
 * together, which is more than any report adds up. */
bool recording_check(const struct recording *r, struct err *e)
{
    size_t objects = r->objects.len, processes = r->processes.len;
    uint64_t sum = 0; /* of weights, which must have one */
    if (!r->nodes.len)
        return err_set(e, "the recording has no root of its stacks");
    if (r->samples.len && !r->slice_ns)
        return err_set(e, "the recording has samples, but no length of its slices");
    if (!check_fields(r, e))
        return false;
    EACH(objects, OBJECTS, recording_object,
         at->kind < RECORDING_OBJECT_KINDS && at->build_id_bytes <= RECORDING_BUILD_ID_BYTES &&
             at->low <= at->high && (at->path || at->kind != RECORDING_OBJECT_FILE) &&
             is_index_or_none(at->process, processes) &&
             (at->kind != RECORDING_OBJECT_GENERATED || at->process != RECORDING_NONE))
    EACH(symbols, SYMBOLS, recording_symbol,
         at->object < objects && at->name && at->start + at->size >= at->start &&
             (!i || at[-1].object < at->object ||
              (at[-1].object == at->object && at[-1].start <= at->start)))
    EACH(excerpts, EXCERPTS, recording_excerpt,
         at->object < objects && r->objects.at[at->object].kind == RECORDING_OBJECT_FILE &&
             at->bytes.len && (!i || at[-1].object <= at->object))
    EACH(nodes, NODES, recording_node, !i || (at->parent < i && at->object < objects))
    EACH(processes, PROCESSES, recording_process,
         (at->program == RECORDING_NONE ||
          r->objects.at[at->program].kind == RECORDING_OBJECT_FILE) &&
             (!at->end_ns || at->start_ns <= at->end_ns))
    EACH(threads, THREADS, recording_thread, !at->end_ns || at->start_ns <= at->end_ns)
    EACH(samples, SAMPLES, recording_sample,
         at->slice < MOST_SLICES && at->thread < r->threads.len && at->event < r->events.len &&
             at->node < r->nodes.len && (!at->labels || at->labels < r->label_sets.len) &&
             !__builtin_add_overflow(sum, at->weight, &sum))
    EACH(labels, LABELS, recording_label, at->key && at->value)
    EACH(label_sets, LABEL_SETS, recording_label_set,
         at->first <= r->labels.len && at->len <= r->labels.len - at->first &&
             (i || (!at->len && !at->has_span)))
    /* Each part has a process of its own, and the first begins with the first. */
    EACH(parts, PARTS, recording_part, i ? at[-1].process < at->process : at->process == 0)
    EACH(ranks, RANKS, recording_rank,
         (!i || at[-1].process < at->process) && (!at->size || at->rank < at->size))
    /* Parents before their children; the first step of a chain waits for something. */
    EACH(links, LINKS, recording_link,
         at->parent < i || (at->parent == RECORDING_NONE && at->resource != RECORDING_NONE))
    EACH(branches, BRANCHES, recording_branch,
         at->missed <= at->count &&
             (!at->end || (at->to_object != RECORDING_NONE && at->end >= at->to)))
    EACH(turns, TURNS, recording_turn, r->slice_ns && at->slice < MOST_SLICES)
    EACH(parallel, PARALLEL, recording_parallel,
         r->slice_ns && at->slice < MOST_SLICES && at->threads)
    EACH(waits, WAITS, recording_wait,
         at->from_ns + at->length_ns >= at->from_ns && at->woken < RECORDING_WAKERS &&
             at->waker < r->threads.len && at->woke_ns <= at->length_ns &&
             (!i || at[-1].thread < at->thread ||
              (at[-1].thread == at->thread && at[-1].from_ns <= at->from_ns)))
    EACH(creators, CREATORS, recording_creator, !i || at[-1].thread < at->thread)
    return true;
}
