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

/* One field of all items of a list: what it refers to is there, as is its text, and it has a
 * sum. */
static bool check_field(const struct recording *r, enum recording_list list,
                        const struct recording_field *f, struct err *e)
{
    struct recording_items items = recording_items_of(r, list);
    size_t others = f->refers_to ? recording_items_of(r, f->refers_to).len : 0;
    uint64_t sum = 0;
    bool is_text = f->coding == RECORDING_AS_STRING || f->coding == RECORDING_AS_CHARACTERS;
    if (!is_text && !f->refers_to && !f->below && !f->adds_up)
        return true;
    for (size_t i = 0; i < items.len; i++) {
        const uint8_t *item = items.at + i * items.item_bytes;
        bool holds = true;
        if (f->coding == RECORDING_AS_STRING)
            holds = recording_field_text(item, f) != NULL;
        else if (f->coding == RECORDING_AS_CHARACTERS)
            holds = !recording_field_text(item, f)[f->bytes - 1];
        else {
            uint64_t value = recording_field_get(item, f);
            bool may_be_none = f->coding == RECORDING_AS_INDEX && value == RECORDING_NONE;
            holds = (!f->refers_to || value < others || may_be_none) &&
                    (!f->below || value < f->below) &&
                    (!f->adds_up || !__builtin_add_overflow(sum, value, &sum));
        }
        if (!holds)
            return check_fails(e, list, i);
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
