/* What a recording's lists are made of: tables of fields, and access to items by them.
 *
 * A row of a table is a field of a struct in recording.h. Rows of one table are in the order in
 * which the file has the fields. Numbers of an item are read and written by their size alone, and a
 * list by its place in struct recording: all of them are VECs, which differ in the type of `at`
 * only. */
#include "profile/model/recording_lists.h"

#include <stddef.h>

/* `other` is a further member; most fields need none. */
#define FIELD(type, member) \
    .at = offsetof(struct type, member), .bytes = sizeof(((struct type *)NULL)->member)
#define OTHER(type, member) .other = offsetof(struct type, member)

/* A number that is an index into a list; the same of one that may be missing. */
#define REFERS_TO(name)    .coding = RECORDING_AS_NUMBER, .refers_to = RECORDING_LIST_##name
#define MAY_REFER_TO(name) .coding = RECORDING_AS_INDEX, .refers_to = RECORDING_LIST_##name
#define STEPS_TO(name)     .coding = RECORDING_AS_STEP, .refers_to = RECORDING_LIST_##name
#define NUMBER             .coding = RECORDING_AS_NUMBER
#define STEP               .coding = RECORDING_AS_STEP
#define TEXT               .coding = RECORDING_AS_STRING
#define MAYBE_TEXT         .coding = RECORDING_AS_MAYBE_STRING
#define BELOW(n)           .coding = RECORDING_AS_NUMBER, .below = (n)
#define TIME               .coding = RECORDING_AS_NUMBER, .meaning = RECORDING_IS_TIME
#define END                .coding = RECORDING_AS_NUMBER, .meaning = RECORDING_IS_END
#define ADDS_UP            .coding = RECORDING_AS_NUMBER, .adds_up = true
#define FIRST              .coding = RECORDING_AS_NUMBER, .meaning = RECORDING_IS_FIRST
#define LARGEST            .coding = RECORDING_AS_NUMBER, .meaning = RECORDING_IS_LARGEST
#define SUM                .coding = RECORDING_AS_NUMBER, .meaning = RECORDING_IS_SUM

/* clang-format off */

/* These facts and no others: a reader refuses a record with a rest. What comes later gets a record
 * of its own, as peaks have, which older readers pass over. */
static const struct recording_field RUN[] = {
    {FIELD(recording, machine), FIRST, .key = "machine"},
    {FIELD(recording, method), FIRST},
    {FIELD(recording, rate), FIRST, .key = "rate_asked_for"},
    {FIELD(recording, cpus), LARGEST, .key = "cpus"},
    {FIELD(recording, start_real_ns), FIRST, .key = "start_ns"},
    {FIELD(recording, length_ns), NUMBER, .key = "length_ns"},
    {FIELD(recording, slice_ns), NUMBER, .key = "slice_ns"},
    {FIELD(recording, user_ns), SUM, .key = "user_ns"},
    {FIELD(recording, system_ns), SUM, .key = "system_ns"},
    {FIELD(recording, cpu_ns), SUM, .key = "cpu_ns"},
    {FIELD(recording, monitor_ns), SUM, .key = "recorder_ns"},
    {FIELD(recording, cost_ns), SUM, .key = "cost_ns"},
    {FIELD(recording, stacks), SUM, .key = "stacks"},
    {FIELD(recording, whole), SUM, .key = "whole_stacks"},
};

/* Keys repeat: each argument of the program is one pair. */
static const struct recording_field TEXTS[] = {
    {FIELD(recording_text, key), TEXT},
    {FIELD(recording_text, value), TEXT},
};

/* What few processes have (peaks, arguments) is in records of its own, so that it costs the others
 * no byte. */
static const struct recording_field PROCESSES[] = {
    {FIELD(recording_process, pid), NUMBER},
    {FIELD(recording_process, parent_pid), NUMBER},
    {FIELD(recording_process, program), MAY_REFER_TO(OBJECTS)},
    {FIELD(recording_process, start_ns), TIME},
    {FIELD(recording_process, end_ns), END},
    {FIELD(recording_process, user_ns), NUMBER},
    {FIELD(recording_process, system_ns), NUMBER},
    {FIELD(recording_process, has_cpu), .coding = RECORDING_AS_TWO_FLAGS,
     OTHER(recording_process, has_ended)},
    {FIELD(recording_process, status), .coding = RECORDING_AS_SIGNED},
    {FIELD(recording_process, name), TEXT},
    {FIELD(recording_process, why_unseen), MAYBE_TEXT},
};
static const struct recording_field PEAKS[] = {{FIELD(recording_process, peak_bytes), NUMBER}};
static const struct recording_field COMMANDS[] = {{FIELD(recording_process, command), MAYBE_TEXT}};

static const struct recording_field THREADS[] = {
    {FIELD(recording_thread, process), REFERS_TO(PROCESSES)},
    {FIELD(recording_thread, tid), NUMBER},
    {FIELD(recording_thread, start_ns), TIME},
    {FIELD(recording_thread, end_ns), END},
    {FIELD(recording_thread, has_cpu), .coding = RECORDING_AS_FLAG},
    {FIELD(recording_thread, cpu_ns), NUMBER},
    {FIELD(recording_thread, name), .coding = RECORDING_AS_CHARACTERS},
};

/* A period of 0 is right: samples of this event differ, and each has its weight. */
static const struct recording_field EVENTS[] = {
    {FIELD(recording_event, name), TEXT},
    {FIELD(recording_event, unit), BELOW(RECORDING_UNIT_BYTES + 1)},
    {FIELD(recording_event, period), NUMBER},
    {FIELD(recording_event, user_only), .coding = RECORDING_AS_FLAG},
};

static const struct recording_field MARKS[] = {
    {FIELD(recording_mark, at_ns), TIME},
    {FIELD(recording_mark, kind), NUMBER},
    {FIELD(recording_mark, process), MAY_REFER_TO(PROCESSES)},
    {FIELD(recording_mark, tid), NUMBER},
    {FIELD(recording_mark, name), TEXT},
};

/* In which of the two the amount is follows from the kind; the other is 0. */
static const struct recording_field LOSSES[] = {
    {FIELD(recording_loss, kind), BELOW(RECORDING_LOSSES)},
    {FIELD(recording_loss, count), NUMBER},
    {FIELD(recording_loss, ns), NUMBER},
    {FIELD(recording_loss, text), TEXT},
};

/* A seed has all 64 bits: ten bytes in LEB128, once a run. */
static const struct recording_field PARTS[] = {
    {FIELD(recording_part, process), REFERS_TO(PROCESSES)},
    {FIELD(recording_part, number), NUMBER},
    {FIELD(recording_part, status), .coding = RECORDING_AS_SIGNED},
    {FIELD(recording_part, padding), NUMBER},
    {FIELD(recording_part, seed), NUMBER},
    {FIELD(recording_part, elapsed_ns), NUMBER},
    {FIELD(recording_part, cpu_ns), NUMBER},
};

/* The host is "" where it is not known. */
static const struct recording_field RANKS[] = {
    {FIELD(recording_rank, process), REFERS_TO(PROCESSES)},
    {FIELD(recording_rank, rank), BELOW(RECORDING_NONE)},
    {FIELD(recording_rank, size), NUMBER},
    {FIELD(recording_rank, local), .coding = RECORDING_AS_INDEX},
    {FIELD(recording_rank, launcher), TEXT},
    {FIELD(recording_rank, host), TEXT},
};

/* Arcs, blocks and branches mostly come in the order of addresses. */
static const struct recording_field ARCS[] = {
    {FIELD(recording_arc, from_object), MAY_REFER_TO(OBJECTS)},
    {FIELD(recording_arc, from), STEP},
    {FIELD(recording_arc, self_object), MAY_REFER_TO(OBJECTS)},
    {FIELD(recording_arc, self), STEP},
    {FIELD(recording_arc, count), NUMBER},
};
static const struct recording_field BLOCKS[] = {
    {FIELD(recording_block, object), REFERS_TO(OBJECTS)},
    {FIELD(recording_block, address), STEP},
    {FIELD(recording_block, count), NUMBER},
};
/* The code that ran after a branch is short, so that its length is written. */
static const struct recording_field BRANCHES[] = {
    {FIELD(recording_branch, from_object), MAY_REFER_TO(OBJECTS)},
    {FIELD(recording_branch, from), STEP},
    {FIELD(recording_branch, to_object), MAY_REFER_TO(OBJECTS)},
    {FIELD(recording_branch, to), STEP},
    {FIELD(recording_branch, end), .coding = RECORDING_AS_BEYOND, OTHER(recording_branch, to)},
    {FIELD(recording_branch, count), NUMBER},
    {FIELD(recording_branch, missed), NUMBER},
};

/* Addresses of mutexes are scattered over a process's memory: they are written whole. */
static const struct recording_field RESOURCES[] = {
    {FIELD(recording_resource, kind), BELOW(RECORDING_RESOURCE_KINDS)},
    {FIELD(recording_resource, process), MAY_REFER_TO(PROCESSES)},
    {FIELD(recording_resource, address), NUMBER},
    {FIELD(recording_resource, name), MAYBE_TEXT},
};

/* Links are a tree as nodes are: chains of waiting threads that begin alike share steps. A node
 * needs no RECORDING_NONE: the root stands for none. */
static const struct recording_field LINKS[] = {
    {FIELD(recording_link, parent), MAY_REFER_TO(LINKS)},
    {FIELD(recording_link, thread), MAY_REFER_TO(THREADS)},
    {FIELD(recording_link, node), REFERS_TO(NODES)},
    {FIELD(recording_link, resource), MAY_REFER_TO(RESOURCES)},
    {FIELD(recording_link, doing), BELOW(RECORDING_DOINGS)},
    {FIELD(recording_link, waits), NUMBER},
    {FIELD(recording_link, ns), ADDS_UP},
};
static const struct recording_field LINK_ERRORS[] = {
    {FIELD(recording_link, error), NUMBER},
    {FIELD(recording_link, single), NUMBER},
};

static const struct recording_field TRANSFERS[] = {
    {FIELD(recording_transfer, thread), REFERS_TO(THREADS)},
    {FIELD(recording_transfer, resource), MAY_REFER_TO(RESOURCES)},
    {FIELD(recording_transfer, node), REFERS_TO(NODES)},
    {FIELD(recording_transfer, is_write), BELOW(2)},
    {FIELD(recording_transfer, calls), NUMBER},
    {FIELD(recording_transfer, bytes), ADDS_UP},
    {FIELD(recording_transfer, disk_bytes), NUMBER},
};
static const struct recording_field TRANSFER_ERRORS[] = {
    {FIELD(recording_transfer, squares), NUMBER},
};

static const struct recording_field TRANSFERRED[] = {
    {FIELD(recording_transferred, read), NUMBER},
    {FIELD(recording_transferred, written), NUMBER},
    {FIELD(recording_transferred, read_calls), NUMBER},
    {FIELD(recording_transferred, write_calls), NUMBER},
    {FIELD(recording_transferred, disk_read), NUMBER},
    {FIELD(recording_transferred, disk_written), NUMBER},
};

/* Sorted by slice and thread, so that the slice's difference is mostly 0. */
static const struct recording_field TURNS[] = {
    {FIELD(recording_turn, slice), STEP, .meaning = RECORDING_IS_SLICE},
    {FIELD(recording_turn, thread), STEPS_TO(THREADS)},
    {FIELD(recording_turn, ran_ns), NUMBER},
    {FIELD(recording_turn, shared_ns), NUMBER},
};
static const struct recording_field PARALLEL[] = {
    {FIELD(recording_parallel, slice), STEP, .meaning = RECORDING_IS_SLICE},
    {FIELD(recording_parallel, threads), NUMBER},
    {FIELD(recording_parallel, ns), NUMBER},
};

/* Sorted by thread and time. With the next thread the time jumps back: the difference has a
 * sign. */
static const struct recording_field WAITS[] = {
    {FIELD(recording_wait, thread), STEPS_TO(THREADS)},
    {FIELD(recording_wait, from_ns), STEP, .meaning = RECORDING_IS_TIME},
    {FIELD(recording_wait, length_ns), NUMBER},
    {FIELD(recording_wait, node), MAY_REFER_TO(NODES)},
};

/* A creator is mostly a thread near its own: a program makes its threads one after the other. */
static const struct recording_field CREATORS[] = {
    {FIELD(recording_creator, thread), .coding = RECORDING_AS_RISE,
     .refers_to = RECORDING_LIST_THREADS},
    {FIELD(recording_creator, creator), .coding = RECORDING_AS_NEAR,
     OTHER(recording_creator, thread), .refers_to = RECORDING_LIST_THREADS},
};

#define RECORD(form, tag, list, fields)                                                       \
    {RECORDING_TAG_##tag, RECORDING_##form, RECORDING_LIST_##list, false,                     \
     sizeof(fields) / sizeof *(fields), fields}
#define ALWAYS(form, tag, list, fields)                                                       \
    {RECORDING_TAG_##tag, RECORDING_##form, RECORDING_LIST_##list, true,                      \
     sizeof(fields) / sizeof *(fields), fields}
#define BY_HAND(tag, list, always) \
    {RECORDING_TAG_##tag, RECORDING_BY_HAND, RECORDING_LIST_##list, always, 0, NULL}

/* Processes before their peaks and commands, objects before nodes, events before samples, whose
 * nominal weight needs the period. */
const struct recording_record recording_records[] = {
    ALWAYS(ONE, RUN, NONE, RUN),
    ALWAYS(ITEMS, TEXTS, TEXTS, TEXTS),
    ALWAYS(ITEMS, PROCESSES, PROCESSES, PROCESSES),
    RECORD(SPARSE, PEAKS, PROCESSES, PEAKS),
    RECORD(SPARSE, COMMANDS, PROCESSES, COMMANDS),
    BY_HAND(OBJECTS, OBJECTS, true),
    BY_HAND(SYMBOLS, SYMBOLS, true),
    ALWAYS(ITEMS, THREADS, THREADS, THREADS),
    ALWAYS(ITEMS, EVENTS, EVENTS, EVENTS),
    ALWAYS(ITEMS, MARKS, MARKS, MARKS),
    ALWAYS(ITEMS, LOSSES, LOSSES, LOSSES),
    RECORD(ITEMS, PARTS, PARTS, PARTS),
    RECORD(ITEMS, RANKS, RANKS, RANKS),
    RECORD(ITEMS, ARCS, ARCS, ARCS),
    RECORD(ITEMS, BLOCKS, BLOCKS, BLOCKS),
    RECORD(ITEMS, BRANCHES, BRANCHES, BRANCHES),
    BY_HAND(EXCERPTS, EXCERPTS, false),
    BY_HAND(NODES, NODES, true),
    RECORD(ITEMS, RESOURCES, RESOURCES, RESOURCES),
    RECORD(ITEMS, LINKS, LINKS, LINKS),
    RECORD(BESIDE, LINK_ERRORS, LINKS, LINK_ERRORS),
    RECORD(ITEMS, TRANSFERS, TRANSFERS, TRANSFERS),
    RECORD(BESIDE, TRANSFER_ERRORS, TRANSFERS, TRANSFER_ERRORS),
    RECORD(ITEMS, TRANSFERRED, TRANSFERRED, TRANSFERRED),
    BY_HAND(SAMPLES, SAMPLES, true),
    BY_HAND(LABELS, LABEL_SETS, false),
    BY_HAND(LABELLED, LABEL_SETS, false),
    RECORD(ITEMS, TURNS, TURNS, TURNS),
    RECORD(ITEMS, PARALLEL, PARALLEL, PARALLEL),
    RECORD(ITEMS, WAITS, WAITS, WAITS),
    BY_HAND(WAKERS, WAITS, false),
    RECORD(ITEMS, CREATORS, CREATORS, CREATORS),
};
const size_t recording_records_len = sizeof recording_records / sizeof *recording_records;

#define LIST_OF(name, member, what, is_own)                                                   \
    [RECORDING_LIST_##name] = {what, offsetof(struct recording, member),                      \
                               sizeof *((struct recording *)NULL)->member.at, is_own}
#define LIST(name, member, what) LIST_OF(name, member, what, false)
#define OWN_LIST(name, member, what) LIST_OF(name, member, what, true)
static const struct {
    const char *what;
    size_t at, item_bytes;
    bool is_own;
} LISTS[RECORDING_LISTS] = {
    LIST(TEXTS, texts, "text"),
    LIST(OBJECTS, objects, "object"),
    LIST(SYMBOLS, symbols, "symbol"),
    LIST(EXCERPTS, excerpts, "excerpt"),
    LIST(NODES, nodes, "node"),
    OWN_LIST(PROCESSES, processes, "process"),
    OWN_LIST(THREADS, threads, "thread"),
    LIST(EVENTS, events, "event"),
    LIST(SAMPLES, samples, "sample"),
    OWN_LIST(MARKS, marks, "mark"),
    LIST(LOSSES, losses, "loss"),
    LIST(PARTS, parts, "part"),
    OWN_LIST(RANKS, ranks, "rank"),
    OWN_LIST(ARCS, arcs, "arc"),
    OWN_LIST(BLOCKS, blocks, "block"),
    LIST(BRANCHES, branches, "branch"),
    LIST(TURNS, turns, "turn"),
    LIST(PARALLEL, parallel, "number of threads that ran"),
    LIST(WAITS, waits, "wait"),
    OWN_LIST(CREATORS, creators, "creator"),
    OWN_LIST(RESOURCES, resources, "resource"),
    OWN_LIST(LINKS, links, "link"),
    OWN_LIST(TRANSFERS, transfers, "transfer"),
    OWN_LIST(TRANSFERRED, transferred, "sum of transfers"),
    LIST(LABELS, labels, "label"),
    LIST(LABEL_SETS, label_sets, "set of labels"),
};
/* clang-format on */

const struct recording_record *recording_record_of(uint32_t tag)
{
    for (size_t i = 0; i < recording_records_len; i++)
        if (recording_records[i].tag == tag)
            return &recording_records[i];
    return NULL;
}

bool recording_list_is_own(enum recording_list list)
{
    return LISTS[list].is_own;
}

const char *recording_list_name(enum recording_list list)
{
    return LISTS[list].what;
}

/* --- access ---------------------------------------------------------------------------------- */

/* What every VEC is. It is copied in and out: C has no way to look at one as another type. */
struct any_vec {
    void *at;
    size_t len, cap;
};

struct recording_items recording_items_of(const struct recording *r, enum recording_list list)
{
    struct any_vec v;
    memcpy(&v, (const char *)r + LISTS[list].at, sizeof v);
    return (struct recording_items){v.at, v.len, LISTS[list].item_bytes};
}

void *recording_items_add(struct recording *r, enum recording_list list, size_t n)
{
    size_t bytes = LISTS[list].item_bytes;
    struct any_vec v;
    memcpy(&v, (char *)r + LISTS[list].at, sizeof v);
    vec_reserve_bytes(&v.at, &v.cap, v.len + n, bytes);
    void *items = (char *)v.at + v.len * bytes;
    memset(items, 0, n * bytes);
    v.len += n;
    memcpy((char *)r + LISTS[list].at, &v, sizeof v);
    return items;
}

void recording_item_append(struct recording *r, enum recording_list list, void *item)
{
    for (size_t i = 0; i < recording_records_len; i++)
        for (uint32_t k = 0; recording_records[i].list == list && k < recording_records[i].len;
             k++) {
            const struct recording_field *f = &recording_records[i].fields[k];
            bool is_pointer = recording_field_is_text(f) && f->coding != RECORDING_AS_CHARACTERS;
            const char *text = is_pointer ? recording_field_text(item, f) : NULL;
            if (text)
                recording_field_set_text(item, f, arena_copy(&r->arena, text, strlen(text)));
        }
    memcpy(recording_items_add(r, list, 1), item, LISTS[list].item_bytes);
}

/* Frees a list's items. */
static void recording_items_free(struct recording *r, enum recording_list list)
{
    static const struct any_vec none;
    struct any_vec v;
    memcpy(&v, (char *)r + LISTS[list].at, sizeof v);
    memory_free(v.at);
    memcpy((char *)r + LISTS[list].at, &none, sizeof none);
}

const char *recording_field_text(const void *item, const struct recording_field *f)
{
    const char *at = (const char *)item + f->at, *text = at;
    if (f->coding != RECORDING_AS_CHARACTERS)
        memcpy(&text, at, sizeof text);
    return text;
}

void recording_field_set_text(void *item, const struct recording_field *f, const char *text)
{
    char *at = (char *)item + f->at;
    if (f->coding == RECORDING_AS_CHARACTERS)
        memcpy(at, text, strlen(text) + 1);
    else
        memcpy(at, &text, sizeof text);
}

void recording_deinit(struct recording *r)
{
    for (uint32_t list = RECORDING_LIST_NONE + 1; list < RECORDING_LISTS; list++)
        recording_items_free(r, list);
    arena_deinit(&r->arena);
}
