/* pprof's profile.proto, bare or packed by gzip (google/pprof, proto/profile.proto). Lists come in
 * any order, so that the message is gone through twice: tables first, samples then.
 *
 * A run gets all types of samples as events, in nanoseconds, bytes or numbers, functions by their
 * linkage names, inlined ones too, and threads by their labels. It has no place for other labels
 * and lines, which are named, nor for negative values, which are those of differences.
 *
 *     sample -> locations, innermost first -> lines, innermost first -> function -> name (a text)
 *            -> values, one for each type
 *            -> labels
 *     location -> mapping -> file (a text)
 *
 * A profile without functions has addresses, which become functions through the files that were
 * mapped, by the collector of our own recordings, as in perf.data.
 *
 * Field numbers are in model/pprof_fields.h. Ids are any numbers, and found by maps; texts are
 * known by their place in the list. Refused: messages that end beyond their frame, ids that nothing
 * has, more than 64 types or 65,536 frames, sums beyond 64 bits, packed files of more than 200
 * times their size and 64 MiB. Time is linear in samples times frames. */
#include "profile/import/named_recording.h"

#include "base/path.h"
#include "base/protobuf_read.h"
#include "profile/model/pprof_fields.h"
#include "record/collector.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

enum { MOST_TYPES = 64, MOST_FRAMES = 1 << 16, PID = 1 };

#define UNDEFINED     "a sample is at location %" PRIu64 ", which is undefined"
#define LOST_LABELS   "labels of samples"
#define LOST_NEGATIVE "values below zero: those of a difference of two profiles"

struct pprof_bytes {
    VEC(uint8_t) all;
};

/* A place in the code. Most have one line; what was inlined there adds more. */
struct pprof_location {
    uint64_t mapping, address;
    struct bytes message; /* its lines are read when a sample has it */
};

/* What lay where. */
struct pprof_mapping {
    uint64_t start, end, offset, file, build_id; /* file, build_id: texts */
};

struct pprof_type {
    uint64_t type, unit; /* texts */
    uint32_t event;
    uint64_t factor; /* what a value of 1 stands for in the event's unit */
    bool is_samples;
};

/* Labels that distinguish threads. */
enum pprof_label { PPROF_THREAD, PPROF_THREAD_ID, PPROF_PROCESS_ID, PPROF_LABELS };
static const char *const PPROF_LABEL_KEYS[PPROF_LABELS] = {"thread", "thread_id", "process_id"};

/* The message, its tables, and lists that each sample uses again. All spans point into the
 * message. */
struct pprof_file {
    struct named_run n;
    const char *name;
    struct bytes message;
    VEC(struct bytes) texts;
    VEC(struct pprof_location) locations;
    VEC(uint64_t) function_names, function_files, mapping_names; /* texts */
    VEC(struct pprof_mapping) mappings;
    struct collector *collector; /* of a profile without functions */
    uint64_t start_real_ns, length_ns;
    uint64_t totals[MOST_TYPES];
    struct map location_of, function_of, mapping_of; /* ids */
    struct pprof_type types[MOST_TYPES];
    uint32_t types_len;
    uint64_t default_type, period, period_type, period_unit; /* types and unit: texts */
    uint64_t label_keys[PPROF_LABELS];                       /* numbers of texts; 0: none */
    VEC(uint64_t) frames, values;
};

static struct cursor pprof_cursor(const struct pprof_file *f, struct bytes b)
{
    return cursor_over(b, f->name);
}

/* Up to a NUL: names end there. */
static struct bytes pprof_text(const struct pprof_file *f, uint64_t number)
{
    struct bytes text = {(const uint8_t *)"", 0};
    if (number < f->texts.len)
        text = f->texts.at[number];
    text.len = text.len ? strnlen((const char *)text.at, text.len) : 0;
    return text;
}

static bool pprof_text_same(const struct pprof_file *f, uint64_t number, uint64_t other)
{
    struct bytes a = pprof_text(f, number), b = pprof_text(f, other);
    return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

static bool pprof_text_is(const struct pprof_file *f, uint64_t number, const char *what)
{
    struct bytes text = pprof_text(f, number);
    return text.len == strlen(what) && !memcmp(text.at, what, text.len);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Fields of a message that are numbers, below `len`: value[i] is that of field i. */
static bool pprof_numbers(const struct pprof_file *f, struct bytes message, uint64_t *value,
                          uint32_t len)
{
    struct cursor in = pprof_cursor(f, message);
    struct proto_field field;
    memset(value, 0, len * sizeof *value);
    while (proto_next(&in, &field))
        if (field.number < len && !field.bytes.at)
            value[field.number] = field.value;
    return !in.failed;
}

/* ValueType { type, unit }: what the values at this place of each sample mean. */
static bool pprof_take_type(struct pprof_file *f, struct bytes message)
{
    uint64_t v[TYPE_UNIT + 1];
    if (f->types_len == MOST_TYPES || !pprof_numbers(f, message, v, TYPE_UNIT + 1))
        return false;
    f->types[f->types_len++] = (struct pprof_type){.type = v[TYPE_TYPE], .unit = v[TYPE_UNIT]};
    return true;
}

/* Mapping { id, ..., file }: an object. */
static bool pprof_take_mapping(struct pprof_file *f, struct bytes message)
{
    uint64_t v[MAPPING_BUILD_ID + 1];
    if (!pprof_numbers(f, message, v, MAPPING_BUILD_ID + 1))
        return false;
    map_set(&f->mapping_of, v[MAPPING_ID], 0, f->mapping_names.len);
    vec_push(&f->mapping_names, v[MAPPING_FILE]);
    vec_push(&f->mappings,
             (struct pprof_mapping){v[MAPPING_START], v[MAPPING_LIMIT], v[MAPPING_OFFSET],
                                    v[MAPPING_FILE], v[MAPPING_BUILD_ID]});
    return true;
}

/* Location { id, mapping, address, lines }. */
static bool pprof_take_location(struct pprof_file *f, struct bytes message)
{
    uint64_t v[LOCATION_ADDRESS + 1];
    if (!pprof_numbers(f, message, v, LOCATION_ADDRESS + 1))
        return false;
    map_set(&f->location_of, v[LOCATION_ID], 0, f->locations.len);
    vec_push(&f->locations,
             (struct pprof_location){v[LOCATION_MAPPING], v[LOCATION_ADDRESS], message});
    return true;
}

/* The linkage name, where there is one. */
static bool pprof_take_function(struct pprof_file *f, struct bytes message)
{
    uint64_t v[FUNCTION_FILE + 1];
    if (!pprof_numbers(f, message, v, FUNCTION_FILE + 1))
        return false;
    map_set(&f->function_of, v[FUNCTION_ID], 0, f->function_names.len);
    vec_push(&f->function_names,
             v[FUNCTION_SYSTEM_NAME] ? v[FUNCTION_SYSTEM_NAME] : v[FUNCTION_NAME]);
    vec_push(&f->function_files, v[FUNCTION_FILE]);
    return true;
}

/* Everything but samples. Fields that are not known, or that a run has no use for, are passed
 * over. */
static bool pprof_take_table(struct pprof_file *f, const struct proto_field *field)
{
    switch (field->number) {
    case PROFILE_SAMPLE_TYPE: return pprof_take_type(f, field->bytes);
    case PROFILE_MAPPING: return pprof_take_mapping(f, field->bytes);
    case PROFILE_LOCATION: return pprof_take_location(f, field->bytes);
    case PROFILE_FUNCTION: return pprof_take_function(f, field->bytes);
    case PROFILE_STRINGS: vec_push(&f->texts, field->bytes); return true;
    case PROFILE_TIME: f->start_real_ns = field->value; return true;
    case PROFILE_DURATION: f->length_ns = field->value; return true;
    case PROFILE_PERIOD_TYPE: {
        uint64_t v[TYPE_UNIT + 1];
        if (!pprof_numbers(f, field->bytes, v, TYPE_UNIT + 1))
            return false;
        f->period_type = v[TYPE_TYPE];
        f->period_unit = v[TYPE_UNIT];
        return true;
    }
    case PROFILE_PERIOD: f->period = field->value; return true;
    case PROFILE_DEFAULT_TYPE: f->default_type = field->value; return true;
    default: return true;
    }
}

/* Fields of a profile whose values are messages or texts. */
static bool pprof_is_message(uint32_t number)
{
    return (number >= PROFILE_SAMPLE_TYPE && number <= PROFILE_STRINGS) ||
           number == PROFILE_PERIOD_TYPE;
}

static bool pprof_tables(struct pprof_file *f, struct err *e)
{
    struct cursor in = pprof_cursor(f, f->message);
    struct proto_field field;
    while (proto_next(&in, &field))
        if (pprof_is_message(field.number) && !field.bytes.at)
            return err_at(e, &in, "field %" PRIu32 " is not a message", field.number);
        else if (!pprof_take_table(f, &field))
            return err_at(e, &in, "a message of field %" PRIu32 " is damaged", field.number);
    /* Texts may follow their references. */
    for (uint64_t i = 0; i < f->texts.len; i++)
        for (int k = 0; k < PPROF_LABELS; k++)
            if (pprof_text_is(f, i, PPROF_LABEL_KEYS[k]))
                f->label_keys[k] = i;
    return !in.failed || err_at(e, &in, "a field runs past the end of the profile");
}

/* --- events ---------------------------------------------------------------------------------- */

/* Units as pprof itself knows them (internal/measurement): of time and of memory, one or several of
 * them; all others are numbers. Weights are in the smallest one. */
static enum recording_event_unit pprof_unit(struct bytes name, uint64_t *factor)
{
    static const struct {
        const char *names; /* words, a blank around each */
        enum recording_event_unit unit;
        uint64_t factor;
    } units[] = {
        {" ns nanosecond ", RECORDING_UNIT_NS, 1},
        {" us \316\274s \302\265s microsecond ", RECORDING_UNIT_NS, 1000},
        {" ms millisecond ", RECORDING_UNIT_NS, 1000000},
        {" s sec second ", RECORDING_UNIT_NS, 1000000000},
        {" min minute ", RECORDING_UNIT_NS, UINT64_C(60000000000)},
        {" h hr hour ", RECORDING_UNIT_NS, UINT64_C(3600000000000)},
        {" d day ", RECORDING_UNIT_NS, UINT64_C(86400000000000)},
        {" b byte ", RECORDING_UNIT_BYTES, 1},
        {" kb kbyte kib kilobyte kibibyte ", RECORDING_UNIT_BYTES, 1 << 10},
        {" mb mbyte mib megabyte mebibyte ", RECORDING_UNIT_BYTES, 1 << 20},
        {" gb gbyte gib gigabyte gibibyte ", RECORDING_UNIT_BYTES, 1 << 30},
    };
    char word[24];
    *factor = 1;
    if (!name.len || name.len > sizeof word - 4)
        return RECORDING_UNIT_COUNT;
    for (int plural = 0; plural < 2 && (!plural || name.at[name.len - 1] == 's'); plural++) {
        snprintf(word, sizeof word, " %.*s ", (int)name.len - plural, (const char *)name.at);
        for (char *c = word; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strstr(units[i].names, word)) {
                *factor = units[i].factor;
                return units[i].unit;
            }
    }
    return RECORDING_UNIT_COUNT;
}

/* Types of the same name become one event. */
static void pprof_add_event(struct pprof_file *f, struct pprof_type *t)
{
    struct bytes name = pprof_text(f, t->type);
    enum recording_event_unit unit = pprof_unit(pprof_text(f, t->unit), &t->factor);
    t->is_samples = pprof_text_is(f, t->type, "samples") && pprof_text_is(f, t->unit, "count");
    t->event = named_run_event(&f->n, (const char *)name.at, name.len, unit);
    uint64_t period, factor;
    bool is_its = pprof_text_same(f, f->period_type, t->type) &&
                  pprof_unit(pprof_text(f, f->period_unit), &factor) == unit;
    if (is_its && !__builtin_mul_overflow(f->period, factor, &period))
        f->n.recording->events.at[t->event].period = period;
}

/* The one that is shown unless another is requested: pprof's is the last. */
static uint32_t pprof_first_type(const struct pprof_file *f)
{
    uint32_t first = f->types_len ? f->types_len - 1 : 0;
    for (uint32_t i = 0; i < f->types_len; i++)
        if (f->default_type && f->types[i].type == f->default_type)
            first = i;
    return first;
}

/* The one that is shown comes first. */
static void pprof_add_events(struct pprof_file *f)
{
    uint32_t first = pprof_first_type(f);
    if (f->types_len)
        pprof_add_event(f, &f->types[first]);
    for (uint32_t i = 0; i < f->types_len; i++)
        pprof_add_event(f, &f->types[i]);
}

/* --- samples --------------------------------------------------------------------------------- */

/* A list may be packed, or be several fields. */
static bool pprof_take_list(struct pprof_file *f, const struct proto_field *field, bool is_frames)
{
    struct cursor in = pprof_cursor(f, field->bytes);
    if (!field->bytes.at) {
        if (is_frames)
            vec_push(&f->frames, field->value);
        else
            vec_push(&f->values, field->value);
        return true;
    }
    while (cursor_left(&in) && !in.failed) {
        uint64_t value = proto_varint(&in);
        if (is_frames)
            vec_push(&f->frames, value);
        else
            vec_push(&f->values, value);
    }
    return !in.failed;
}

static uint32_t pprof_object_of_text(struct pprof_file *f, uint64_t text)
{
    struct bytes path = pprof_text(f, text);
    return path.len ? named_run_object(&f->n, (const char *)path.at, path.len)
                    : named_run_object(&f->n, f->name, strlen(f->name));
}

/* Lines of one location make one frame each, from the last, which is the function that has code, to
 * the first, which was inlined innermost. */
static bool pprof_location(struct pprof_file *f, uint64_t id, uint32_t *node)
{
    enum { MOST_LINES = 512 };
    uint64_t functions[MOST_LINES], lines[MOST_LINES], v[LINE_LINE + 1];
    uint32_t len = 0;
    const uint32_t *known = map_find(&f->location_of, id, 0);
    if (!known)
        return false;
    const struct pprof_location *l = &f->locations.at[*known];
    struct cursor in = pprof_cursor(f, l->message);
    struct proto_field field;
    /* The object of a mapping; without one, an object named after the file. */
    const uint32_t *mapping = map_find(&f->mapping_of, l->mapping, 0);
    uint32_t object = pprof_object_of_text(f, mapping ? f->mapping_names.at[*mapping] : 0);
    while (proto_next(&in, &field))
        if (field.number == LOCATION_LINE && field.bytes.at && len < MOST_LINES) {
            if (!pprof_numbers(f, field.bytes, v, LINE_LINE + 1))
                return false;
            lines[len] = v[LINE_LINE];
            functions[len++] = v[LINE_FUNCTION];
        }
    if (!len)
        *node = named_run_frame(&f->n, *node, object, "", 0);
    while (len-- > 0) {
        /* One function below `node`; one without a source has no name. */
        const uint32_t *function = map_find(&f->function_of, functions[len], 0);
        struct bytes name = pprof_text(f, function ? f->function_names.at[*function] : UINT64_MAX);
        struct bytes file = pprof_text(f, function ? f->function_files.at[*function] : UINT64_MAX);
        uint64_t address = 0;
        if (name.len) {
            address = named_run_function_in(&f->n, object, (const char *)name.at, name.len,
                                            (const char *)file.at, file.len);
            address = named_run_line(&f->n, object, address, (const char *)file.at, file.len,
                                     lines[len] <= UINT32_MAX ? (uint32_t)lines[len] : 0);
        }
        *node = named_run_node(&f->n, *node, object, address);
    }
    return true;
}

/* What has no place in the run. */
static void pprof_lose(struct pprof_file *f, const char *text)
{
    if (f->collector)
        collector_lose(f->collector, RECORDING_LOST_OTHER, text, 1, 0);
    else
        named_run_lose(&f->n, text, 1);
}

/* The thread of a sample, from its labels. */
struct pprof_thread {
    uint64_t texts[PPROF_LABELS], numbers[PPROF_LABELS];
    bool is_told;
};

/* Notes a label about threads; others are lost and counted. A value is a text or a number. */
static void pprof_take_label(struct pprof_file *f, struct bytes label, struct pprof_thread *t)
{
    uint64_t v[LABEL_NUMBER + 1];
    int key = 0;
    if (!pprof_numbers(f, label, v, LABEL_NUMBER + 1))
        return;
    while (key < PPROF_LABELS && (!f->label_keys[key] || v[LABEL_KEY] != f->label_keys[key]))
        key++;
    if (key == PPROF_LABELS) {
        pprof_lose(f, LOST_LABELS);
        return;
    }
    t->texts[key] = v[LABEL_TEXT];
    t->numbers[key] = v[LABEL_NUMBER];
    t->is_told = true;
}

/* A number stands as one or is spelled out; 0: absent. */
static uint32_t pprof_label_number(const struct pprof_file *f, const struct pprof_thread *t,
                                   enum pprof_label key)
{
    struct bytes text = pprof_text(f, t->texts[key]);
    uint32_t number = 0;
    for (size_t i = 0; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        number = number * 10 + (text.at[i] - '0');
    return text.len ? number : (uint32_t)t->numbers[key];
}

/* Threads without a number are distinguished by their name, beyond all numbers that a system
 * gives. */
static uint32_t pprof_thread(struct pprof_file *f, const struct pprof_thread *t)
{
    if (!t->is_told)
        return named_run_thread(&f->n, 0, 0, "", 0);
    struct bytes name = pprof_text(f, t->texts[PPROF_THREAD]);
    uint32_t tid = pprof_label_number(f, t, PPROF_THREAD_ID);
    if (!tid)
        tid = (uint32_t)t->numbers[PPROF_THREAD];
    if (!tid) /* texts are numbered */
        tid = (uint32_t)(t->texts[PPROF_THREAD] + (UINT64_C(1) << 31));
    return named_run_thread(&f->n, pprof_label_number(f, t, PPROF_PROCESS_ID), tid,
                            (const char *)name.at, name.len);
}

/* How many samples a value is: one for each period, if there is one, as files have a stack once. */
static uint64_t pprof_count(uint64_t value, uint64_t period)
{
    uint64_t count = period ? value / period : 0;
    return count && count < UINT32_MAX ? count : 1;
}

/* A sample for each type with a value above 0. How many samples it stands for is the value of the
 * type `samples`, if there is one, else a matter of the period. false: a sum exceeds 64 bits. */
static bool pprof_weigh(struct pprof_file *f, uint32_t node, uint32_t thread)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < f->types_len && i < f->values.len; i++)
        if (f->types[i].is_samples && f->values.at[i] && f->values.at[i] < UINT32_MAX)
            samples = f->values.at[i];
    for (uint32_t i = 0; i < f->types_len && i < f->values.len; i++) {
        uint64_t value = f->values.at[i];
        if (value >> 63) {
            pprof_lose(f, LOST_NEGATIVE);
            continue;
        }
        if (__builtin_mul_overflow(value, f->types[i].factor, &value))
            return false;
        uint32_t event = f->types[i].event;
        uint64_t period = f->n.recording->events.at[event].period;
        uint64_t count = samples ? samples : pprof_count(value, period);
        if (value && !named_run_sample(&f->n, thread, event, node, value, count))
            return false;
    }
    return true;
}

/* The same of addresses; f->frames are the stack's, callers as the collector wants them. Each type
 * of samples has the stack once, with its own weight. Sums are checked here, where the sample to
 * blame is known. */
static bool pprof_weigh_code(struct pprof_file *f, pid_t tid)
{
    const struct collector_chain chain = {.user = f->frames.at,
                                          .user_len = (uint32_t)f->frames.len};
    struct collector_sample s = {
        .pid = PID, .tid = tid, .at_ns = 1, .syscall = -1, .chain = &chain};
    for (uint32_t i = 0; i < f->types_len && i < f->values.len; i++) {
        uint64_t value = f->values.at[i], *total = &f->totals[f->types[i].event];
        if (value >> 63) {
            pprof_lose(f, LOST_NEGATIVE);
            continue;
        }
        if (__builtin_mul_overflow(value, f->types[i].factor, &value) ||
            __builtin_add_overflow(*total, value, total))
            return false;
        s.event = f->types[i].event;
        s.weight = value;
        if (value)
            collector_sample(f->collector, &s);
    }
    return true;
}

/* Gathers lists and labels first, which may come in any order; then makes the stack from the
 * outermost location inwards. */
static bool pprof_sample(struct pprof_file *f, struct bytes message, struct err *e)
{
    struct cursor in = pprof_cursor(f, message);
    struct proto_field field;
    struct pprof_thread thread = {0};
    uint32_t node = RECORDING_ROOT;
    bool ok = true;
    f->frames.len = f->values.len = 0;
    while (ok && proto_next(&in, &field))
        if (field.number == SAMPLE_LOCATION || field.number == SAMPLE_VALUE)
            ok = pprof_take_list(f, &field, field.number == SAMPLE_LOCATION);
        else if (field.number == SAMPLE_LABEL && field.bytes.at)
            pprof_take_label(f, field.bytes, &thread);
    if (!ok || in.failed || f->frames.len > MOST_FRAMES)
        return err_in(e, f->name, "a sample is damaged");
    if (f->collector) {
        /* Addresses take the place of ids. For callers pprof has an address within the call, where
         * unwinding has the one after it. */
        pid_t tid = thread.is_told ? (pid_t)pprof_label_number(f, &thread, PPROF_THREAD_ID) : PID;
        for (size_t i = 0; i < f->frames.len; i++) {
            const uint32_t *known = map_find(&f->location_of, f->frames.at[i], 0);
            if (!known)
                return err_in(e, f->name, UNDEFINED, f->frames.at[i]);
            f->frames.at[i] = f->locations.at[*known].address + (i > 0);
        }
        return pprof_weigh_code(f, tid > 0 ? tid : PID) || err_in(e, f->name, NO_SUM);
    }
    for (size_t i = f->frames.len; i-- > 0;)
        if (!pprof_location(f, f->frames.at[i], &node))
            return err_in(e, f->name, UNDEFINED, f->frames.at[i]);
    return pprof_weigh(f, node, pprof_thread(f, &thread)) || err_in(e, f->name, NO_SUM);
}

static bool pprof_samples(struct pprof_file *f, struct err *e)
{
    struct cursor in = pprof_cursor(f, f->message);
    struct proto_field field;
    bool ok = true;
    while (ok && proto_next(&in, &field))
        if (field.number == PROFILE_SAMPLE)
            ok = pprof_sample(f, field.bytes, e);
    return ok;
}

/* --- packing --------------------------------------------------------------------------------- */

/* By gzip's magic. */
static bool pprof_is_packed(struct bytes in)
{
    return in.len > 2 && in.at[0] == 0x1f && in.at[1] == 0x8b;
}

/* Unpacks as much as there is, at most `most` bytes. false: it is damaged, cut short, or more. */
static bool pprof_unpack(struct bytes in, size_t most, struct pprof_bytes *out)
{
    z_stream z = {.next_in = (uint8_t *)in.at, .avail_in = (uInt)in.len};
    int status = in.len < UINT32_MAX ? inflateInit2(&z, 15 + 16) : Z_DATA_ERROR;
    if (status != Z_OK)
        return false;
    while (status == Z_OK && out->all.len < most) {
        vec_reserve(&out->all, out->all.len + (1 << 16));
        size_t room = out->all.cap - out->all.len;
        z.avail_out = (uInt)(room < most - out->all.len ? room : most - out->all.len);
        size_t before = z.avail_out;
        z.next_out = out->all.at + out->all.len;
        status = inflate(&z, Z_NO_FLUSH);
        out->all.len += before - z.avail_out;
        if (status == Z_STREAM_END && z.avail_in && inflateReset(&z) == Z_OK)
            status = Z_OK; /* a file may be several, one after the other */
    }
    inflateEnd(&z);
    return status == Z_STREAM_END;
}

/* The beginning of a message with nothing but fields of a profile, in any order: a type among them,
 * or so many that it can be nothing else. `is_cut`: there is more of it. */
static bool pprof_begins(struct bytes message, bool is_cut)
{
    struct cursor in = cursor_over(message, NULL);
    struct proto_field field;
    uint32_t fields = 0, types = 0;
    enum { SOME = 20, ENOUGH = 200 };
    while ((fields < SOME || !types) && fields < ENOUGH && proto_next(&in, &field)) {
        bool is_message = pprof_is_message(field.number) || field.number == PROFILE_PERIOD_TYPE;
        bool is_right = is_message == !!field.bytes.at || field.number == PROFILE_COMMENT;
        if (field.number > PROFILE_LAST || !is_right)
            return false;
        types += field.number == PROFILE_SAMPLE_TYPE;
        fields++;
    }
    return (types || fields == ENOUGH) && (!in.failed || is_cut);
}

/* Letters and digits are numbers and types of fields, too, so that text can look like a message.
 * But all messages of a profile begin with small numbers, which are control characters. */
static bool pprof_may_be_text(struct bytes first)
{
    enum { ENOUGH = 64 };
    for (size_t i = 0; i < first.len && i < ENOUGH; i++)
        if (first.at[i] < ' ' && !strchr("\t\n\f\r", first.at[i] ? first.at[i] : 1))
            return false;
    return true;
}

/* Unpacks up to 16 KiB of a packed file. A bare one is known by its fields; as most writers begin
 * with a type, a short one that does may be cut off. */
bool pprof_probe(struct bytes first)
{
    enum { MOST = 1 << 14 };
    struct pprof_bytes head = {0};
    if (!pprof_is_packed(first))
        return first.len && !pprof_may_be_text(first) &&
               pprof_begins(first, first.at[0] == 0x0a || first.len >= MOST);
    (void)pprof_unpack(first, MOST, &head);
    bool is_one = head.all.len && pprof_begins((struct bytes){head.all.at, head.all.len}, true);
    vec_free(&head.all);
    return is_one;
}

/* --- profiles without functions -------------------------------------------------------------- */

/* A build-id in hex, as `file` prints it. Go's own ids are other texts (ACTION/CONTENT), which say
 * nothing of the file's notes, and count as none. */
static struct bytes pprof_build_id(struct pprof_file *f, uint64_t text, uint8_t id[32])
{
    struct bytes hex = pprof_text(f, text);
    size_t len = hex.len / 2;
    if (hex.len % 2 || len > 32)
        return (struct bytes){id, 0};
    for (size_t i = 0; i < 2 * len; i++) {
        int digit = hex_digit(hex.at[i]);
        if (digit < 0)
            return (struct bytes){id, 0};
        id[i / 2] = (uint8_t)(i % 2 ? id[i / 2] | digit : digit << 4);
    }
    return (struct bytes){id, len};
}

/* An event of the collector for each name of a type; that which is shown comes first. */
static void pprof_add_code_events(struct pprof_file *f)
{
    const struct pprof_type *added[MOST_TYPES];
    uint32_t first = pprof_first_type(f), len = 0;
    struct arena scratch = {0};
    for (uint32_t k = 0; k <= f->types_len; k++) {
        uint32_t i = k ? k - 1 : first, same = 0;
        struct pprof_type *t = &f->types[i];
        if (i >= f->types_len || (k && i == first))
            continue;
        struct bytes name = pprof_text(f, t->type);
        enum recording_event_unit unit = pprof_unit(pprof_text(f, t->unit), &t->factor);
        uint64_t period = 0, factor;
        if (!pprof_text_same(f, f->period_type, t->type) ||
            pprof_unit(pprof_text(f, f->period_unit), &factor) != unit ||
            __builtin_mul_overflow(f->period, factor, &period))
            period = 0;
        t->is_samples = pprof_text_is(f, t->type, "samples") && unit == RECORDING_UNIT_COUNT;
        while (same < len && !pprof_text_same(f, added[same]->type, t->type))
            same++;
        t->event = same;
        if (same < len)
            continue;
        added[len++] = t;
        collector_add_event(f->collector, arena_copy(&scratch, (const char *)name.at, name.len),
                            unit, period, false);
    }
    arena_deinit(&scratch);
}

/* Mappings first, which make the program and its files known; then samples, whose addresses are
 * looked up in these. Files are taken by their build-ids where the profile has them, else by their
 * paths, and names are read when a report asks for them: a file that is gone may still be found in
 * the folders of --symbols.
 *
 *     mapping     0x555555555000 to 0x555555556000 is s from offset 0x1000 on; the first one is the
 *                 program's, as pprof has it
 *     location    0x555555555131 becomes offset 0x1131 of s, where `deep_one` is reported
 *     sample      at locations 1, 2: deep_one, called by what is before the address of 2
 *
 * A location without a mapping, or outside of all, is unknown code, as in our own recordings: its
 * weight is kept. There is one process, and threads are those that labels name. */
static bool pprof_read_code(struct pprof_file *f, bool opens_no_files, struct recording *out,
                            struct err *e)
{
    struct arena scratch = {0};
    f->collector = collector_new(&(struct collector_options){
        .start_ns = 1, .is_replayed = true, .opens_no_files = opens_no_files});
    pprof_add_code_events(f);
    for (size_t i = 0; i < f->mappings.len; i++) {
        const struct pprof_mapping *m = &f->mappings.at[i];
        struct bytes file = pprof_text(f, m->file);
        uint8_t id[32];
        const char *path = arena_copy(&scratch, (const char *)file.at, file.len);
        if (!i) /* the program's */
            collector_exec(f->collector, PID, path_base_name(path), 1);
        struct collector_mapping one = {.pid = PID,
                                        .start = m->start,
                                        .end = m->end,
                                        .offset = m->offset,
                                        .path = path,
                                        .build_id = pprof_build_id(f, m->build_id, id),
                                        .is_executable = true};
        if (m->end > m->start)
            collector_map(f->collector, &one, 1);
    }
    bool ok = pprof_samples(f, e);
    if (ok)
        collector_finish(f->collector, 1, out);
    /* The collector has seen each stack once. */
    for (size_t i = 0; ok && i < out->samples.len; i++) {
        uint64_t period = out->events.at[out->samples.at[i].event].period;
        for (uint32_t k = 0; k < f->types_len; k++)
            if (f->types[k].is_samples && f->types[k].event == out->samples.at[i].event)
                period = 1;
        if (period)
            out->samples.at[i].count = (uint32_t)pprof_count(out->samples.at[i].weight, period);
    }
    collector_free(f->collector);
    arena_deinit(&scratch);
    return ok;
}

bool pprof_take(struct bytes in, const char *name, bool opens_no_files, struct recording *out,
                struct err *e)
{
    struct pprof_file f = {.name = name, .message = in};
    struct pprof_bytes unpacked = {0};
    struct err why = {0};
    bool ok = true;
    if (pprof_is_packed(in)) {
        /* Tables of a profile shrink to a tenth or so; deflate could hold a thousand times its
         * size, which would be memory for nothing. */
        size_t most = in.len < SIZE_MAX / 256 ? 200 * in.len + (64 << 20) : SIZE_MAX;
        ok = pprof_unpack(in, most, &unpacked) ||
             (unpacked.all.len == most
                  ? err_in(e, name, "the gzip data unpacks to more than 200 times its size")
                  : err_in(e, name, "the gzip data is damaged"));
        f.message = (struct bytes){unpacked.all.at, unpacked.all.len};
    }
    ok = ok && pprof_tables(&f, e);
    /* Reported functions are right; addresses beside them may be of another build. */
    bool has_code = false;
    for (size_t i = 0; i < f.locations.len; i++)
        has_code |= f.locations.at[i].address != 0;
    if (ok && has_code && !f.function_names.len && f.mappings.len && f.types_len) {
        ok = pprof_read_code(&f, opens_no_files, out, e);
    } else {
        named_run_begin(&f.n, out, true);
        if (ok)
            pprof_add_events(&f);
        if (ok && f.mapping_names.len) /* the first one is the program's */
            pprof_object_of_text(&f, f.mapping_names.at[0]);
        ok = ok && pprof_samples(&f, e);
        if (!out->threads.len)
            named_run_thread(&f.n, 0, 0, "", 0);
        named_run_finish(&f.n);
    }
    out->start_real_ns = f.start_real_ns;
    out->length_ns = f.length_ns;
    vec_free(&unpacked.all);
    vec_free(&f.texts);
    vec_free(&f.locations);
    vec_free(&f.function_names);
    vec_free(&f.function_files);
    vec_free(&f.mapping_names);
    vec_free(&f.mappings);
    vec_free(&f.frames);
    vec_free(&f.values);
    map_deinit(&f.location_of);
    map_deinit(&f.function_of);
    map_deinit(&f.mapping_of);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}

bool pprof_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    return pprof_take(in, name, false, out, e);
}
