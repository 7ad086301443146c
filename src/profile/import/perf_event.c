/* The descriptions of events and of the kernel's code in a perf.data file.
 *
 * Attributes are as perf_event_open(2) draws them. Fields that a file's older attributes do not
 * have are 0; what newer ones have after those we know is ignored. Records name the event they are
 * of by a 64-bit id, whose place in a record follows from the attributes: all of one file agree on
 * it, or records could not be distinguished. An event without a name gets the one that perf would
 * print for its type and number.
 *
 * The kernel's functions are in no file that a recording could hold. If this machine still runs the
 * kernel that was recorded, /proc/kallsyms has them: each address with samples becomes a symbol of
 * the recording, relative to where the kernel's mapping began, since it begins elsewhere at each
 * boot.
 *
 *     attr:  0 u32 type    4 u32 size    8 u64 config   16 u64 period or rate   24 u64 sample_type
 *           32 u64 read_format   40 u64 flags   72 u64 branch_sample_type   80 u64 user registers
 *          108 u16 most frames */
#include "profile/import/perf.h"

#include "base/build_id.h"
#include "base/file.h"
#include "base/sort.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
    ATTR_BYTES_FIRST = 64, /* of the first version */
    FLAG_INHERIT = 1,
    FLAG_EXCLUDE_KERNEL = 5,
    FLAG_FREQ = 10,
    FLAG_SAMPLE_ID_ALL = 18,
    DEFAULT_FRAMES = 127, /* kernel.perf_event_max_stack */
    UPDATE_NAME = 2,
};

/* Bit fields begin at the word's other end on machines of the other order. So a flag has the
 * number that it has in the C declaration, counted from 0. */
static bool event_flag(uint64_t flags, unsigned number, bool big_endian)
{
    return flags >> (big_endian ? 63 - number : number) & 1;
}

/* The word at an offset; 0 if the attributes are older than that field. */
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
    out->inherits = event_flag(flags, FLAG_INHERIT, big_endian);
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
 * kinds have their ids by now, or get them here: a file in a pipe has them with the attributes.
 */
void perf_kinds_describe(struct perf_kinds *k, struct cursor in)
{
    uint32_t events = cursor_u32(&in), attr_bytes = cursor_u32(&in);
    for (uint32_t i = 0; i < events && !in.failed; i++) {
        cursor_take(&in, attr_bytes);
        uint32_t ids = cursor_u32(&in), len = cursor_u32(&in);
        const uint8_t *name = cursor_take(&in, len);
        if (!ids && name && i < k->all.len) /* records of a single event have none */
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

/* PERF_COUNT_HW_... and PERF_COUNT_SW_... by number, as perf prints them; NULL for other types. The
 * upper half of a hardware event's number says which kind of core it is of. */
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

/* Where a sample's id stands, in bytes from the record's start; 0: it has none. Requested fields
 * stand in a fixed order: identifier, ip, tid, time, addr, id, ... */
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

/* The same from its end for others: after it come stream, cpu and, as the last, the identifier. */
static size_t event_id_from_end(uint64_t type)
{
    if (type & PERF_SAMPLE_IDENTIFIER)
        return 8;
    if (!(type & PERF_SAMPLE_ID))
        return 0;
    return 8 + 8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

/* With one kind in the file every record is of it. Else the first kind's attributes say where ids
 * stand, which must be the same for all. Records other than samples that name no known id are read
 * as the first kind's are. */
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

/* In a sample the time follows identifier, ip and tid; in the trailer of other records, where all
 * of them have the same fields at their end, it precedes id, stream, CPU and identifier. */
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

/* ---- Names of the kernel's functions, from /proc/kallsyms: the kernel that was recorded must be
 * the one that runs, by its build-id, or by where its code is. Modules are where they were only
 * since the same boot. Only root sees addresses there. */

/* A line of /proc/kallsyms; texts point into `text` of the list. */
struct kernel_symbol {
    uint64_t address;
    const char *name, *module; /* module: "" of the kernel itself; no NUL after either */
    uint32_t name_len, module_len;
};

struct kernel_symbols {
    struct file_buffer text;
    VEC(struct kernel_symbol) all;
};

/* Up to a blank, the line's end, or the bracket that ends a module's name. */
static uint32_t kernel_word_len(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at != ' ' && *at != '\t' && *at != '\n' && *at != ']')
        at++;
    return (uint32_t)(at - start);
}

/* "ffffffff81000000 T _text" or "... t nf_x [nf_tables]". Only code is kept: types t, T, w and
 * W. Addresses that are hidden from this user read as 0, and are dropped. */
static void kernel_take_line(struct kernel_symbols *s, const char *at, const char *end)
{
    struct kernel_symbol symbol = {.module = ""};
    char type;
    for (; at < end && *at != ' '; at++) {
        int digit = *at >= 'a' ? *at - 'a' + 10 : *at - '0';
        if (digit < 0 || digit > 15)
            return;
        symbol.address = symbol.address << 4 | (unsigned)digit;
    }
    if (end - at < 4 || !symbol.address)
        return;
    type = (char)(at[1] | 0x20);
    symbol.name = at + 3;
    symbol.name_len = kernel_word_len(symbol.name, end);
    const char *module = symbol.name + symbol.name_len;
    if (end - module > 2 && module[1] == '[') {
        symbol.module = module + 2;
        symbol.module_len = kernel_word_len(symbol.module, end);
    }
    if (type == 't' || type == 'w')
        vec_push(&s->all, symbol);
}

/* All symbols of the kernel's code, by address. false: there are none to be seen. */
static bool kernel_read(struct kernel_symbols *s)
{
    if (!file_read("/proc/kallsyms", &s->text, NULL))
        return false;
    const char *at = (const char *)s->text.at, *end = at + s->text.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        kernel_take_line(s, at, newline ? newline : end);
        at = newline ? newline + 1 : end;
    }
    /* By address; those of one as they stand in the list. */
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, s->all.len);
    struct kernel_symbol *unsorted = ARENA_NEW(&scratch, struct kernel_symbol, s->all.len);
    for (uint32_t i = 0; i < s->all.len; i++) {
        unsorted[i] = s->all.at[i];
        order[i] = (struct keyed){unsorted[i].address, i};
    }
    sort_keyed(order, s->all.len);
    for (size_t i = 0; i < s->all.len; i++)
        s->all.at[i] = unsorted[order[i].item];
    arena_deinit(&scratch);
    return s->all.len;
}

/* Notes of the kernel that runs: its build-id is in one of type 3, by "GNU"; before the type stands
 * its size. */
static bool kernel_is_this(struct bytes id)
{
    struct file_buffer notes = {0};
    bool is_this = false;
    if (!id.len || !file_read("/sys/kernel/notes", &notes, NULL))
        return false;
    for (size_t i = 8; i + 8 <= notes.len && !is_this; i += 4) {
        uint32_t size;
        memcpy(&size, notes.at + i - 4, sizeof size);
        is_this = !memcmp(notes.at + i, "\3\0\0\0GNU", 8) && size <= notes.len - i - 8 &&
                  build_id_same((struct bytes){notes.at + i + 8, size}, id);
    }
    file_buffer_deinit(&notes);
    return is_this;
}

/* Where the symbol of the kernel itself is now; 0: there is none of that name. */
static uint64_t kernel_address_of(const struct kernel_symbols *s, const char *name)
{
    for (size_t i = 0; i < s->all.len; i++)
        if (s->all.at[i].name_len == strlen(name) &&
            !memcmp(s->all.at[i].name, name, s->all.at[i].name_len) && !s->all.at[i].module_len)
            return s->all.at[i].address;
    return 0;
}

/* Whether the symbol is in the object "[kernel.kallsyms]" or in the module "[NAME]". */
static bool kernel_is_of(const struct kernel_symbol *s, const char *object)
{
    if (!strcmp(object, "[kernel.kallsyms]"))
        return !s->module_len;
    return strlen(object) == s->module_len + 2 && !memcmp(object + 1, s->module, s->module_len);
}

static int kernel_by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

/* The symbols in which there is one of the addresses; `moved` is what is to be added to where they
 * are to get what stands in nodes. */
static void kernel_name_object(const struct kernel_symbols *s, uint32_t object, uint64_t moved,
                               struct recording *out)
{
    struct arena scratch = {0};
    size_t len = 0, next = 0;
    /* Addresses that stand in nodes of the object, each once. */
    uint64_t *sampled = ARENA_NEW(&scratch, uint64_t, out->nodes.len);
    for (size_t i = 1; i < out->nodes.len; i++)
        if (out->nodes.at[i].object == object)
            sampled[len++] = out->nodes.at[i].address;
    qsort(sampled, len, sizeof *sampled, kernel_by_value);
    const char *path = out->objects.at[object].path;
    for (size_t i = 0; i < s->all.len && next < len; i++) {
        const struct kernel_symbol *symbol = &s->all.at[i];
        uint64_t start = symbol->address + moved;
        uint64_t end = i + 1 < s->all.len ? symbol[1].address + moved : start + 4096;
        if (!kernel_is_of(symbol, path) || end <= start)
            continue;
        while (next < len && sampled[next] < start)
            next++;
        if (next == len || sampled[next] >= end)
            continue;
        vec_push(&out->symbols, (struct recording_symbol){
                                    object, start, end - start,
                                    arena_copy(&out->arena, symbol->name, symbol->name_len)});
        struct recording_object *o = &out->objects.at[object];
        o->low = start < o->low ? start : o->low;
        o->high = end > o->high ? end : o->high;
    }
    arena_deinit(&scratch);
}

/* What is to be added to an address now for that of a node; false: not known. Of the kernel:
 * from now's address to that of the recording, by the anchor in both, then relative to the start
 * of its mapping. Of a module only since the same boot, as it is loaded elsewhere each time:
 * then the anchor is where it was. */
static bool kernel_moved(const struct perf_kernel *k, uint64_t anchor, const char *object,
                         uint64_t *moved)
{
    *moved = k->anchor - anchor - k->start;
    if (!strcmp(object, "[kernel.kallsyms]"))
        return true;
    for (size_t i = 0; i < k->modules.len && anchor == k->anchor; i++)
        if (!strcmp(k->modules.at[i].name, object)) {
            *moved = -k->modules.at[i].start;
            return true;
        }
    return false;
}

/* Whether a listed object has a node: the list is long, and often not needed. */
static bool kernel_is_sampled(const struct recording *r)
{
    for (size_t i = 1; i < r->nodes.len; i++) {
        uint32_t object = r->nodes.at[i].object;
        if (object < r->objects.len && r->objects.at[object].is_listed)
            return true;
    }
    return false;
}

/* Of the same release as the one that runs. */
static bool kernel_is_release(const char *release)
{
    struct utsname here;
    return release && !uname(&here) && !strcmp(release, here.release);
}

/* Build-ids decide whether this is the kernel that was recorded; without one, it must lie where
 * that one lay and have its release: kernels that are not moved about all lie at one place. */
void perf_kernel_names(const struct perf_replay *p, struct bytes id, struct recording *out)
{
    struct kernel_symbols s = {0};
    const struct perf_kernel *k = &p->kernel;
    bool is_here = k->is_told && !p->opens_no_files && kernel_is_sampled(out) && kernel_read(&s);
    uint64_t anchor = is_here ? kernel_address_of(&s, k->symbol) : 0, moved;
    bool is_it = anchor && (id.len ? kernel_is_this(id)
                                   : anchor == k->anchor && kernel_is_release(k->release));
    for (uint32_t i = 0; is_it && i < out->objects.len; i++)
        if (out->objects.at[i].is_listed &&
            kernel_moved(k, anchor, out->objects.at[i].path, &moved))
            kernel_name_object(&s, i, moved, out);
    vec_free(&s.all);
    file_buffer_deinit(&s.text);
}
