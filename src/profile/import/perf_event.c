/* Attributes of events, as perf_event_open(2) draws them. Fields that a file's older attributes do
 * not have are 0; what newer ones have behind those we know is not looked at. */
#include "profile/import/perf_event.h"

#include <inttypes.h>
#include <linux/perf_event.h>

enum {
    ATTR_BYTES_FIRST = 64, /* of the first version */
    FLAG_EXCLUDE_KERNEL = 5,
    FLAG_FREQ = 10,
    FLAG_SAMPLE_ID_ALL = 18,
    DEFAULT_FRAMES = 127, /* kernel.perf_event_max_stack */
    UPDATE_NAME = 2,
};

/* Bit fields begin at the word's other end on machines of the other order. */
static bool event_flag(uint64_t flags, unsigned number, bool big_endian)
{
    return flags >> (big_endian ? 63 - number : number) & 1;
}

static uint64_t event_word_at(struct bytes attr, size_t at, bool big_endian)
{
    return at + 8 <= attr.len ? bytes_u64(attr.at + at, big_endian) : 0;
}

bool perf_kind_read(struct cursor *in, size_t room, struct perf_event_kind *out)
{
    bool big_endian = in->big_endian;
    *out = (struct perf_event_kind){.layout = {.is_big_endian = big_endian}};
    if (cursor_left(in) < ATTR_BYTES_FIRST || room < ATTR_BYTES_FIRST)
        return false;
    uint32_t size = bytes_u32(in->at + 4, big_endian);
    size = size ? size : ATTR_BYTES_FIRST;
    if (size < ATTR_BYTES_FIRST || size > room || size > cursor_left(in))
        return false;
    struct bytes attr = {cursor_take(in, size), size};
    uint64_t flags = event_word_at(attr, 40, big_endian);
    out->type = bytes_u32(attr.at, big_endian);
    out->config = event_word_at(attr, 8, big_endian);
    out->period = event_word_at(attr, 16, big_endian);
    out->is_rate = event_flag(flags, FLAG_FREQ, big_endian);
    out->excludes_kernel = event_flag(flags, FLAG_EXCLUDE_KERNEL, big_endian);
    out->layout.sample_type = event_word_at(attr, 24, big_endian);
    out->layout.read_format = event_word_at(attr, 32, big_endian);
    out->layout.has_trailer = event_flag(flags, FLAG_SAMPLE_ID_ALL, big_endian);
    out->layout.branch_sample_type = event_word_at(attr, 72, big_endian);
    out->layout.registers = event_word_at(attr, 80, big_endian);
    out->most_frames = size >= 110 ? bytes_u16(attr.at + 108, big_endian) : 0;
    out->most_frames = out->most_frames ? out->most_frames : DEFAULT_FRAMES;
    return true;
}

void perf_kinds_add_ids(struct perf_kinds *k, struct cursor in, uint32_t kind)
{
    while (cursor_left(&in) >= 8 && !in.failed)
        map_set(&k->of_id, cursor_u64(&in), 0, kind);
}

/* --- names ----------------------------------------------------------------------------------- */

static void event_set_name(struct perf_kinds *k, uint64_t id, const char *name, size_t len)
{
    const uint32_t *kind = map_find(&k->of_id, id, 0);
    len = strnlen(name, len);
    if (kind && len)
        k->all.at[*kind].name = arena_copy(k->names, name, len);
}

/* { u32 events; u32 attr_bytes; { attr; u32 ids; u32 len; char name[len]; u64 id[ids] }... }. The
 * kinds have their ids by now, or get them here: a file in a pipe tells them with the attributes.
 */
void perf_kinds_describe(struct perf_kinds *k, struct cursor in)
{
    uint32_t events = cursor_u32(&in), attr_bytes = cursor_u32(&in);
    for (uint32_t i = 0; i < events && !in.failed; i++) {
        cursor_take(&in, attr_bytes);
        uint32_t ids = cursor_u32(&in), len = cursor_u32(&in);
        const uint8_t *name = cursor_take(&in, len);
        if (!ids && name && i < k->all.len) /* of a single event records tell none */
            k->all.at[i].name =
                arena_copy(k->names, (const char *)name, strnlen((const char *)name, len));
        for (uint32_t n = 0; n < ids && !in.failed; n++) {
            uint64_t id = cursor_u64(&in);
            if (!in.failed && name)
                event_set_name(k, id, (const char *)name, len);
        }
    }
}

void perf_kinds_update(struct perf_kinds *k, struct cursor in)
{
    uint64_t what = cursor_u64(&in), id = cursor_u64(&in);
    if (!in.failed && what == UPDATE_NAME)
        event_set_name(k, id, (const char *)in.at, cursor_left(&in));
}

static const char *event_known_name(const struct perf_event_kind *k)
{
    static const char *const hardware[] = {"cycles",
                                           "instructions",
                                           "cache-references",
                                           "cache-misses",
                                           "branches",
                                           "branch-misses",
                                           "bus-cycles",
                                           "stalled-cycles-frontend",
                                           "stalled-cycles-backend",
                                           "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
    enum { HARDWARE = sizeof hardware / sizeof *hardware };
    enum { SOFTWARE = sizeof software / sizeof *software };
    if (k->type == PERF_TYPE_HARDWARE && (k->config & UINT32_MAX) < HARDWARE)
        return hardware[k->config & UINT32_MAX];
    return k->type == PERF_TYPE_SOFTWARE && k->config < SOFTWARE ? software[k->config] : NULL;
}

const char *perf_kind_name(const struct perf_kinds *k, uint32_t kind)
{
    const struct perf_event_kind *event = &k->all.at[kind];
    const char *known = event_known_name(event);
    if (event->name || known)
        return event->name ? event->name : known;
    return arena_printf(k->names, "type %" PRIu32 " config 0x%" PRIx64, event->type, event->config);
}

bool perf_kind_is_clock(const struct perf_event_kind *k)
{
    return k->type == PERF_TYPE_SOFTWARE &&
           (k->config == PERF_COUNT_SW_CPU_CLOCK || k->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* --- of a record ----------------------------------------------------------------------------- */

/* Where a sample's id stands, in bytes from the record's start; 0: it has none. */
static size_t event_id_in_sample(uint64_t type)
{
    size_t before = sizeof(struct perf_event_header);
    if (type & PERF_SAMPLE_IDENTIFIER)
        return before;
    if (!(type & PERF_SAMPLE_ID))
        return 0;
    static const uint64_t fields =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
    return before + 8 * (size_t)__builtin_popcountll(type & fields);
}

/* The same from its end for others: behind it come stream, cpu and, as the last, the identifier. */
static size_t event_id_from_end(uint64_t type)
{
    if (type & PERF_SAMPLE_IDENTIFIER)
        return 8;
    if (!(type & PERF_SAMPLE_ID))
        return 0;
    return 8 + 8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

uint32_t perf_kinds_of(const struct perf_kinds *k, struct bytes record, bool big_endian)
{
    if (!k->all.len)
        return RECORDING_NONE;
    const struct perf_event_kind *first = &k->all.at[0];
    bool is_sample = bytes_u32(record.at, big_endian) == PERF_RECORD_SAMPLE;
    size_t from_end = event_id_from_end(first->layout.sample_type);
    size_t at = event_id_in_sample(first->layout.sample_type);
    if (k->all.len == 1)
        return 0;
    if (!is_sample)
        at = first->layout.has_trailer && from_end && from_end <= record.len ? record.len - from_end
                                                                             : 0;
    if (at < sizeof(struct perf_event_header) || at + 8 > record.len)
        return is_sample ? RECORDING_NONE : 0;
    uint64_t id = bytes_u64(record.at + at, big_endian);
    const uint32_t *found = map_find(&k->of_id, id, 0);
    return found ? *found : is_sample ? RECORDING_NONE : 0; /* what perf made up itself has none */
}

uint64_t perf_kind_time(const struct perf_event_kind *k, struct bytes record)
{
    uint64_t type = k->layout.sample_type, behind = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                                    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    size_t header = sizeof(struct perf_event_header);
    bool is_sample = bytes_u32(record.at, k->layout.is_big_endian) == PERF_RECORD_SAMPLE;
    size_t before = 8 * (size_t)__builtin_popcountll(
                            type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
    size_t from_end = 8 + 8 * (size_t)__builtin_popcountll(type & behind);
    if (!(type & PERF_SAMPLE_TIME) || (!is_sample && !k->layout.has_trailer))
        return 0;
    if (is_sample ? header + before + 8 > record.len : header + from_end > record.len)
        return 0;
    return bytes_u64(record.at + (is_sample ? header + before : record.len - from_end),
                     k->layout.is_big_endian);
}
