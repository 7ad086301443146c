/* OpenTelemetry's profiles, package opentelemetry.proto.profiles.v1development of its
 * protocol 1.11: the message ProfilesData, as collectors take it. The format is in the making and
 * may change.
 *
 * One profile, of the event. Each path with time is a sample with a stack of its own; locations are
 * whole functions, as in pprof.c. Calls have no place: a profile has one type of values. The first
 * entry of each table of the dictionary stands for none. Where the program published labels, a path
 * is a sample for each set of them: they are its attributes, and the span is its link.
 *
 *     ProfilesData
 *       resource profiles -> resource (the program's path)
 *                         -> scope (monarc) -> one profile -> samples { stack, values }
 *       dictionary: mappings, locations, functions, links, texts, attributes, stacks
 *
 * Location and function i + 1 are function i of the exchange, mapping i + 1 is its object i;
 * stack n is that of the nth frame with time. Attributes are numbered: 1 estimates, then build-ids,
 * then the pairs of labels in the order of the recording's sets; links in that order, too. Source:
 * opentelemetry-proto, profiles/v1development/profiles.proto. */
#include "base/map.h"
#include "base/path.h"
#include "output/formats.h"
#include "profile/export/exports.h"

/* Field numbers, message by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES };
enum { SCOPE_NAME = 1, SCOPE_VERSION };
enum { RESOURCE_ATTRIBUTES = 1, KEY_VALUE_KEY = 1, KEY_VALUE_VALUE, VALUE_STRING = 1 };
enum {
    DICTIONARY_MAPPINGS = 1,
    DICTIONARY_LOCATIONS,
    DICTIONARY_FUNCTIONS,
    DICTIONARY_LINKS,
    DICTIONARY_STRINGS,
    DICTIONARY_ATTRIBUTES,
    DICTIONARY_STACKS
};
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLES,
    PROFILE_TIME,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_ID
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { MAPPING_START = 1, MAPPING_LIMIT, MAPPING_FILE = 4, MAPPING_ATTRIBUTES };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { STACK_LOCATIONS = 1 };
enum { ID_BYTES = 16, ESTIMATED = 1 /* the attribute's number */ };

/* What is being written. Tables refer to texts by number, so `texts` grows while they are written
 * and goes out last. */
struct otlp {
    const struct exchange *x;
    struct protobuf out;
    struct intern texts;              /* number 0 is "" */
    const struct recording *labelled; /* whose sets of labels are exported; NULL: none are */
    struct arena arena;
    uint32_t *links;    /* by set; 0: it has no span */
    uint32_t *pairs;    /* by label of the recording: the number of its attribute */
    struct intern pair; /* key, NUL, value */
};

/* The number of a text, which must live until the export ends. */
static uint32_t otlp_text(struct otlp *o, const char *text)
{
    return intern_kept(&o->texts, text, strlen(text));
}

/* The empty first entry of a table. */
static void otlp_none(struct otlp *o, uint32_t table)
{
    protobuf_end(&o->out, protobuf_begin(&o->out, table));
}

/* --- the profile ----------------------------------------------------------------------------- */

/* What the values count, and in which unit. */
static void otlp_type(struct otlp *o, const struct exchange *x, uint32_t field)
{
    size_t at = protobuf_begin(&o->out, field);
    protobuf_u64(&o->out, TYPE_TYPE, otlp_text(o, x->event));
    protobuf_u64(&o->out, TYPE_UNIT, otlp_text(o, x->unit));
    protobuf_end(&o->out, at);
}

/* Numbers the pairs and spans of all sets, after the attributes of objects. A pair that many sets
 * have is one attribute: routes are few, requests many. Sets that no part of the exchange has keep
 * their numbers, so that a link is known by its set. */
static void otlp_number_labels(struct otlp *o)
{
    const struct recording *r = o->x->summary->run ? o->x->summary->run->recording : NULL;
    uint32_t links = 0, first = ESTIMATED + 1;
    bool has_labels = false;
    for (size_t i = 0; i < o->x->parts.len; i++)
        has_labels |= o->x->parts.at[i].labels != 0;
    if (!r || !has_labels)
        return;
    o->labelled = r;
    o->links = ARENA_NEW(&o->arena, uint32_t, r->label_sets.len);
    o->pairs = ARENA_NEW(&o->arena, uint32_t, r->labels.len + 1);
    for (size_t i = 0; i < o->x->objects.len; i++)
        first += o->x->objects.at[i].build_id_len != 0;
    for (size_t i = 0; i < r->label_sets.len; i++)
        o->links[i] = r->label_sets.at[i].has_span ? ++links : 0;
    for (size_t i = 0; i < r->labels.len; i++) {
        size_t key = strlen(r->labels.at[i].key), value = strlen(r->labels.at[i].value);
        char *both = ARENA_NEW(&o->arena, char, key + value + 2);
        memcpy(both, r->labels.at[i].key, key + 1);
        memcpy(both + key + 1, r->labels.at[i].value, value + 1);
        o->pairs[i] = first + intern_kept(&o->pair, both, key + value + 1);
    }
}

/* A path's time. That the path is estimated is an attribute of the sample. */
static void otlp_sample(struct otlp *o, const struct exchange_frame *frame, uint64_t stack,
                        uint64_t self, uint32_t labels)
{
    const struct recording_label_set *set = labels ? &o->labelled->label_sets.at[labels] : NULL;
    size_t at = protobuf_begin(&o->out, PROFILE_SAMPLES);
    protobuf_u64(&o->out, SAMPLE_STACK, stack);
    if (frame->is_estimate || (set && set->len)) {
        size_t list = protobuf_begin(&o->out, SAMPLE_ATTRIBUTES);
        if (frame->is_estimate)
            protobuf_varint(&o->out, ESTIMATED);
        for (uint32_t i = 0; set && i < set->len; i++)
            protobuf_varint(&o->out, o->pairs[set->first + i]);
        protobuf_end(&o->out, list);
    }
    protobuf_u64(&o->out, SAMPLE_LINK, set ? o->links[labels] : 0);
    size_t values = protobuf_begin(&o->out, SAMPLE_VALUES);
    protobuf_varint(&o->out, self);
    protobuf_end(&o->out, values);
    protobuf_end(&o->out, at);
}

/* Its id is that of what it holds: the same profile is not taken for two. */
static void otlp_profile(struct otlp *o, const struct exchange *x)
{
    const struct recording_summary *run = x->summary->run;
    uint8_t id[ID_BYTES];
    uint64_t stack = 0;
    size_t part = 0; /* of a frame: parts stand in the order of frames */
    size_t at = protobuf_begin(&o->out, SCOPE_PROFILES_PROFILES);
    otlp_type(o, x, PROFILE_SAMPLE_TYPE);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *frame = &x->frames.at[i];
        stack += exchange_frame_has_any(o->x, i);
        if (frame->self && !x->parts.len)
            otlp_sample(o, frame, stack, frame->self, 0);
        for (; part < x->parts.len && x->parts.at[part].frame == i; part++)
            otlp_sample(o, frame, stack, x->parts.at[part].self, x->parts.at[part].labels);
    }
    protobuf_fixed64(&o->out, PROFILE_TIME, run ? run->recording->start_real_ns : 0);
    protobuf_u64(&o->out, PROFILE_DURATION, run ? run->recording->length_ns : 0);
    otlp_type(o, x, PROFILE_PERIOD_TYPE);
    protobuf_u64(&o->out, PROFILE_PERIOD, x->period);
    md5((struct bytes){o->out.out.at + at, o->out.out.len - at}, id);
    protobuf_bytes(&o->out, PROFILE_ID, id, sizeof id);
    protobuf_end(&o->out, at);
}

static void otlp_profiles(struct otlp *o)
{
    size_t all = protobuf_begin(&o->out, DATA_RESOURCE_PROFILES);
    /* Attributes of what was measured: the program's path. */
    const char *program = o->x->summary->program;
    size_t resource = protobuf_begin(&o->out, RESOURCE_PROFILES_RESOURCE);
    size_t pair = protobuf_begin(&o->out, RESOURCE_ATTRIBUTES);
    protobuf_bytes(&o->out, KEY_VALUE_KEY, "process.executable.path", 23);
    size_t value = protobuf_begin(&o->out, KEY_VALUE_VALUE);
    protobuf_bytes(&o->out, VALUE_STRING, program, strlen(program));
    protobuf_end(&o->out, value);
    protobuf_end(&o->out, pair);
    protobuf_end(&o->out, resource);
    size_t scopes = protobuf_begin(&o->out, RESOURCE_PROFILES_SCOPES);
    size_t scope = protobuf_begin(&o->out, SCOPE_PROFILES_SCOPE);
    protobuf_bytes(&o->out, SCOPE_NAME, "monarc", 6);
    protobuf_bytes(&o->out, SCOPE_VERSION, MONARC_VERSION, strlen(MONARC_VERSION));
    protobuf_end(&o->out, scope);
    for (size_t i = 0; i <= o->x->others_len; i++)
        otlp_profile(o, exchange_measure(o->x, i));
    protobuf_end(&o->out, scopes);
    protobuf_end(&o->out, all);
}

/* --- the dictionary -------------------------------------------------------------------------- */

/* A pair in the table of attributes, whose values are not in the table of texts. */
static void otlp_attribute(struct otlp *o, const char *key, const char *value, size_t len)
{
    size_t at = protobuf_begin(&o->out, DICTIONARY_ATTRIBUTES);
    protobuf_u64(&o->out, ATTRIBUTE_KEY, otlp_text(o, key));
    size_t inner = protobuf_begin(&o->out, ATTRIBUTE_VALUE);
    protobuf_bytes(&o->out, VALUE_STRING, value, len);
    protobuf_end(&o->out, inner);
    protobuf_end(&o->out, at);
}

/* Build-ids of objects are attributes, numbered after the one of estimates. */
static void otlp_attributes(struct otlp *o)
{
    static const char HEX[] = "0123456789abcdef";
    static const char ESTIMATE[] = "estimated by call counts";
    otlp_none(o, DICTIONARY_ATTRIBUTES);
    otlp_attribute(o, "monarc.path", ESTIMATE, sizeof ESTIMATE - 1);
    for (size_t i = 0; i < o->x->objects.len; i++) {
        const struct exchange_object *object = &o->x->objects.at[i];
        char id[2 * 64];
        size_t len = object->build_id_len < 64 ? object->build_id_len : 64;
        for (size_t k = 0; k < len; k++) {
            id[2 * k] = HEX[object->build_id[k] >> 4];
            id[2 * k + 1] = HEX[object->build_id[k] & 15];
        }
        if (len)
            otlp_attribute(o, "process.executable.build_id.gnu", id, 2 * len);
    }
    /* Pairs of labels, in the order in which otlp_number_labels() has numbered them. */
    for (size_t i = 0; i < o->pair.texts.len; i++) {
        const char *key = o->pair.texts.at[i], *value = key + strlen(key) + 1;
        otlp_attribute(o, key, value, strlen(value));
    }
}

/* The spans of the traces that samples were in. */
static void otlp_links(struct otlp *o)
{
    otlp_none(o, DICTIONARY_LINKS);
    for (size_t i = 0; o->labelled && i < o->labelled->label_sets.len; i++) {
        const struct recording_label_set *set = &o->labelled->label_sets.at[i];
        if (!set->has_span)
            continue;
        size_t at = protobuf_begin(&o->out, DICTIONARY_LINKS);
        protobuf_bytes(&o->out, LINK_TRACE, set->trace, sizeof set->trace);
        protobuf_bytes(&o->out, LINK_SPAN, set->span, sizeof set->span);
        protobuf_end(&o->out, at);
    }
}

/* Objects. Numbers of attributes are given out in the same order as in otlp_attributes(). */
static void otlp_mappings(struct otlp *o)
{
    uint64_t attribute = ESTIMATED;
    otlp_none(o, DICTIONARY_MAPPINGS);
    for (size_t i = 0; i < o->x->objects.len; i++) {
        const struct exchange_object *object = &o->x->objects.at[i];
        size_t at = protobuf_begin(&o->out, DICTIONARY_MAPPINGS);
        protobuf_u64(&o->out, MAPPING_START, object->low);
        protobuf_u64(&o->out, MAPPING_LIMIT, object->high);
        protobuf_u64(&o->out, MAPPING_FILE, otlp_text(o, object->path));
        if (object->build_id_len) {
            size_t list = protobuf_begin(&o->out, MAPPING_ATTRIBUTES);
            protobuf_varint(&o->out, ++attribute);
            protobuf_end(&o->out, list);
        }
        protobuf_end(&o->out, at);
    }
}

/* A line of a function, or where that begins. What is in no object has no mapping, which is 0 as
 * any number that is left out. */
static void otlp_location(struct otlp *o, uint32_t number)
{
    const struct exchange_place *place = &o->x->places.at[number];
    const struct exchange_function *f = &o->x->functions.at[place->function];
    size_t at = protobuf_begin(&o->out, DICTIONARY_LOCATIONS);
    if (f->object < o->x->objects.len)
        protobuf_u64(&o->out, LOCATION_MAPPING, f->object + UINT64_C(1));
    protobuf_u64(&o->out, LOCATION_ADDRESS, place->address);
    size_t line = protobuf_begin(&o->out, LOCATION_LINES);
    protobuf_u64(&o->out, LINE_FUNCTION, place->function + UINT64_C(1));
    protobuf_u64(&o->out, LINE_LINE, place->line);
    protobuf_end(&o->out, line);
    protobuf_end(&o->out, at);
}

/* Leaf first; in the order of the samples. */
static void otlp_stacks(struct otlp *o)
{
    const struct exchange_frame *frames = o->x->frames.at;
    otlp_none(o, DICTIONARY_STACKS);
    for (uint32_t i = 1; i < o->x->frames.len; i++) {
        if (!exchange_frame_has_any(o->x, i))
            continue;
        size_t at = protobuf_begin(&o->out, DICTIONARY_STACKS);
        size_t list = protobuf_begin(&o->out, STACK_LOCATIONS);
        for (uint32_t k = i; k; k = frames[k].parent)
            protobuf_varint(&o->out, frames[k].place + UINT64_C(1));
        protobuf_end(&o->out, list);
        protobuf_end(&o->out, at);
    }
}

/* Tables in the order of their fields; texts last, when all that refers to them is written. */
static void otlp_dictionary(struct otlp *o)
{
    size_t at = protobuf_begin(&o->out, DATA_DICTIONARY);
    otlp_mappings(o);
    otlp_none(o, DICTIONARY_LOCATIONS);
    for (uint32_t i = 0; i < o->x->places.len; i++)
        otlp_location(o, i);
    otlp_none(o, DICTIONARY_FUNCTIONS);
    for (uint32_t i = 0; i < o->x->functions.len; i++) {
        const struct exchange_function *f = &o->x->functions.at[i];
        size_t function = protobuf_begin(&o->out, DICTIONARY_FUNCTIONS);
        protobuf_u64(&o->out, FUNCTION_NAME, otlp_text(o, f->name));
        protobuf_u64(&o->out, FUNCTION_SYSTEM_NAME, otlp_text(o, f->linkage));
        if (f->file)
            protobuf_u64(&o->out, FUNCTION_FILE, otlp_text(o, f->file));
        protobuf_u64(&o->out, FUNCTION_LINE, f->line);
        protobuf_end(&o->out, function);
    }
    otlp_links(o);
    otlp_attributes(o);
    otlp_stacks(o);
    for (size_t i = 0; i < o->texts.texts.len; i++)
        protobuf_bytes(&o->out, DICTIONARY_STRINGS, o->texts.texts.at[i], o->texts.lengths.at[i]);
    protobuf_end(&o->out, at);
}

void otlp_export(struct out *out, const struct exchange *x)
{
    struct otlp o = {.x = x};
    intern(&o.texts, "", 0);
    otlp_number_labels(&o);
    otlp_profiles(&o);
    otlp_dictionary(&o);
    out_bytes(out, (const char *)o.out.out.at, o.out.out.len);
    protobuf_deinit(&o.out);
    intern_deinit(&o.texts);
    intern_deinit(&o.pair);
    arena_deinit(&o.arena);
}
