/* The lists of a recording, described once: what each field of an item means, and how the file has
 * it. From this come writing and reading (format/recording_write.c, recording_read.c), checking
 * (recording_check()), merging (recording_merge()), freeing, what libmonarc adds, and the numbers
 * of a run in `monarc info --json`. tests/checks/lists.py compares the page. A new list is a struct
 * and its member in recording.h, its fields and rows in recording_lists.c, and a paragraph in
 * docs/formats/recording.md.
 *
 * Nodes, samples, objects, symbols, excerpts, labels and wakers have codings of their own: their
 * rows have no fields, and what follows from fields is written by hand, in those same files. */
#ifndef MONARC_PROFILE_MODEL_RECORDING_LISTS_H
#define MONARC_PROFILE_MODEL_RECORDING_LISTS_H

#include "profile/model/recording.h"

/* The lists of struct recording. */
enum recording_list {
    RECORDING_LIST_NONE,
    RECORDING_LIST_TEXTS,
    RECORDING_LIST_OBJECTS,
    RECORDING_LIST_SYMBOLS,
    RECORDING_LIST_EXCERPTS,
    RECORDING_LIST_NODES,
    RECORDING_LIST_PROCESSES,
    RECORDING_LIST_THREADS,
    RECORDING_LIST_EVENTS,
    RECORDING_LIST_SAMPLES,
    RECORDING_LIST_MARKS,
    RECORDING_LIST_LOSSES,
    RECORDING_LIST_PARTS,
    RECORDING_LIST_RANKS,
    RECORDING_LIST_ARCS,
    RECORDING_LIST_BLOCKS,
    RECORDING_LIST_BRANCHES,
    RECORDING_LIST_TURNS,
    RECORDING_LIST_PARALLEL,
    RECORDING_LIST_WAITS,
    RECORDING_LIST_CREATORS,
    RECORDING_LIST_RESOURCES,
    RECORDING_LIST_LINKS,
    RECORDING_LIST_TRANSFERS,
    RECORDING_LIST_TRANSFERRED,
    RECORDING_LIST_LABELS,
    RECORDING_LIST_LABEL_SETS,
    RECORDING_LISTS
};

/* Tags of records; the order in the file is that of recording_records. A reader passes over those
 * that it does not know. */
enum recording_tag {
    RECORDING_TAG_END,
    RECORDING_TAG_STRINGS,
    RECORDING_TAG_RUN,
    RECORDING_TAG_TEXTS,
    RECORDING_TAG_OBJECTS,
    RECORDING_TAG_SYMBOLS,
    RECORDING_TAG_NODES,
    RECORDING_TAG_PROCESSES,
    RECORDING_TAG_THREADS,
    RECORDING_TAG_EVENTS,
    RECORDING_TAG_SAMPLES,
    RECORDING_TAG_MARKS,
    RECORDING_TAG_LOSSES,
    RECORDING_TAG_ARCS,
    RECORDING_TAG_BLOCKS,
    RECORDING_TAG_EXCERPTS = 15,
    RECORDING_TAG_PEAKS = 18,
    RECORDING_TAG_PARTS = 21,
    RECORDING_TAG_COMMANDS = 22,
    RECORDING_TAG_TURNS = 30,
    RECORDING_TAG_PARALLEL = 31,
    RECORDING_TAG_WAITS = 32,
    RECORDING_TAG_CREATORS = 33,
    RECORDING_TAG_WAKERS = 34,
    RECORDING_TAG_RESOURCES = 40,
    RECORDING_TAG_LINKS = 41,
    RECORDING_TAG_LABELS = 42,
    RECORDING_TAG_LABELLED = 43,
    RECORDING_TAG_LINK_ERRORS = 44,
    RECORDING_TAG_RANKS = 50,
    RECORDING_TAG_TRANSFERS = 52,
    RECORDING_TAG_TRANSFERRED = 53,
    RECORDING_TAG_TRANSFER_ERRORS = 54,
    RECORDING_TAG_BRANCHES = 60,
    RECORDING_TAGS
};

/* How the file has a field. v is an unsigned number in LEB128, z one with a sign; differences are
 * modulo 2^64, and cut to the field's size when they are added up. */
enum recording_coding {
    RECORDING_AS_NUMBER,    /* v */
    RECORDING_AS_SIGNED,    /* z */
    RECORDING_AS_FLAG,      /* v 0 or 1, of a bool */
    RECORDING_AS_TWO_FLAGS, /* v, bit 0 this bool, bit 1 the one at `other` */
    RECORDING_AS_INDEX,     /* v: the index plus one; 0 is RECORDING_NONE */
    RECORDING_AS_STEP,      /* z: the difference to the item before, to 0 for the first */
    RECORDING_AS_RISE,      /* v: the same where it is never negative */
    RECORDING_AS_NEAR,      /* z: the difference to the field at `other` */
    RECORDING_AS_BEYOND,    /* v: 0 is 0; else by how much it is beyond that at `other`, plus 1 */
    RECORDING_AS_STRING,    /* a text, which is there */
    RECORDING_AS_MAYBE_STRING, /* a text or NULL */
    RECORDING_AS_CHARACTERS    /* a text that lies in the item, an array with NUL at its end */
};

/* What merging has to do with a number, beyond copying it. What refers to a list is renumbered. */
enum recording_meaning {
    RECORDING_IS_PLAIN,
    RECORDING_IS_TIME,  /* nanoseconds since the run's start, which moves */
    RECORDING_IS_END,   /* the same, but 0 is no time */
    RECORDING_IS_SLICE, /* of the run's time */
    /* Facts of a run: that of the first run that has it, the largest, or all together. */
    RECORDING_IS_FIRST,
    RECORDING_IS_LARGEST,
    RECORDING_IS_SUM,
};

struct recording_field {
    uint16_t at, bytes; /* in the item; 1, 2, 4 or 8 bytes of numbers */
    uint8_t coding;     /* enum recording_coding */
    uint8_t refers_to;  /* enum recording_list: is an index into that list */
    uint8_t meaning;    /* enum recording_meaning */
    bool adds_up;       /* reports add it up: the list's sum must have 64 bits */
    uint32_t below;     /* the number is below this; 0: any */
    uint16_t other;     /* in the item, as the coding says */
    const char *key;    /* in the JSON of `monarc info`, if it is there */
};

/* Which items a record has. */
enum recording_form {
    RECORDING_BY_HAND, /* see the top */
    RECORDING_ONE,     /* no list: the fields are those of struct recording */
    RECORDING_ITEMS,   /* it makes them */
    RECORDING_BESIDE,  /* further fields of all items of a list, in their order */
    RECORDING_SPARSE   /* a further field of those where it is not 0: v index, field */
};

struct recording_record {
    uint32_t tag;
    uint8_t form; /* enum recording_form */
    uint8_t list; /* enum recording_list */
    bool always;  /* written without items, too */
    uint16_t len;
    const struct recording_field *fields;
};

/* All records but STRINGS and END, in the order in which they are written: a list follows those
 * that its file refers to. */
extern const struct recording_record recording_records[];
extern const size_t recording_records_len;

/* The record of a tag, or NULL. */
const struct recording_record *recording_record_of(uint32_t tag);

/* Whether the items of a list are those of one run each: merging puts them side by side, as what
 * two runs have is not one thing, like processes and what their threads waited for. */
bool recording_list_is_own(enum recording_list list);

/* What an item of a list is called in messages. */
const char *recording_list_name(enum recording_list list);

/* A list, whatever its items are. */
struct recording_items {
    uint8_t *at; /* NULL only without items */
    size_t len, item_bytes;
};
struct recording_items recording_items_of(const struct recording *r, enum recording_list list);

/* `n` new items at the end of a list, zeroed; they stay where they are until the next call. */
void *recording_items_add(struct recording *r, enum recording_list list, size_t n);

/* Appends an item that was made elsewhere, after its texts became copies that the recording owns.
 */
void recording_item_append(struct recording *r, enum recording_list list, void *item);

/* Whether the fields of an item hold what the tables say (recording_check.c). */
bool recording_item_holds(const struct recording *r, enum recording_list list, const void *item);

/* A number, flag or index of an item, by its size. */
static inline uint64_t recording_field_get(const void *item, const struct recording_field *f)
{
    const char *at = (const char *)item + f->at;
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (f->bytes) {
    case sizeof eight: memcpy(&eight, at, sizeof eight); return eight;
    case sizeof four: memcpy(&four, at, sizeof four); return four;
    case sizeof two: memcpy(&two, at, sizeof two); return two;
    default: return *(const bool *)at;
    }
}

static inline void recording_field_set(void *item, const struct recording_field *f, uint64_t value)
{
    char *at = (char *)item + f->at;
    uint32_t four = (uint32_t)value;
    uint16_t two = (uint16_t)value;
    switch (f->bytes) {
    case sizeof value: memcpy(at, &value, sizeof value); break;
    case sizeof four: memcpy(at, &four, sizeof four); break;
    case sizeof two: memcpy(at, &two, sizeof two); break;
    default: *(bool *)at = value;
    }
}

/* A text of an item. */
const char *recording_field_text(const void *item, const struct recording_field *f);
void recording_field_set_text(void *item, const struct recording_field *f, const char *text);

/* Is the field a text? */
static inline bool recording_field_is_text(const struct recording_field *f)
{
    return f->coding >= RECORDING_AS_STRING;
}

#endif
