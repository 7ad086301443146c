/* Writing LLVM's profiles: raw (versions 5, 7 to 11), indexed (4 to 13) and text.
 *
 * Functions come sorted by name, then by hash, so that the bytes do not depend on the order in
 * which files were added up. A raw profile is laid out as a runtime does it, with made-up addresses
 * that differ by what the parts are long; counters are 64 bits, or one byte that is 0 where the
 * code ran. An indexed one is the hash table that LLVM looks names up in:
 *
 *     header │ summary │ buckets: u16 entries, entries │ pad │ buckets, names, offset of each
 * bucket
 *
 * with a power of two of buckets, chosen by the low bits of the name's MD5. Its summary, which the
 * optimiser reads, is made of the counts: sums, maxima, and how many of the largest counters hold
 * such a share of all executions.
 *
 * What a version cannot hold is refused: bits of MC/DC before LLVM 18; LLVM 18's own bits in any
 * other version, and the other way round, as it numbers test vectors in its own way. Build-ids are
 * left out where a version has no place for them, and the order of first calls always. Linear but
 * for sorting. Source: llvm/lib/ProfileData/InstrProfWriter.cpp, ProfileSummaryBuilder.cpp. */
#include "coverage/format/llvm.h"

#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- versions */

/* A release, and what it writes: containers of later versions are refused by it. */
static const struct {
    uint32_t release, raw, indexed;
} RELEASES[] = {
    {11, 5, 6},  {12, 5, 7},   {13, 7, 7},   {14, 8, 7},   {15, 8, 8},   {16, 8, 9},   {17, 8, 10},
    {18, 9, 11}, {19, 10, 12}, {20, 10, 12}, {21, 10, 12}, {22, 10, 13}, {23, 11, 13},
};

/* The version of a container that a release of LLVM writes; 0: of a release before the first or
 * after the last that is known here, so that no file is written that no reader takes. */
uint32_t llvm_version_of_release(enum llvm_container container, uint32_t release)
{
    for (size_t i = 0; i < sizeof RELEASES / sizeof *RELEASES; i++)
        if (RELEASES[i].release == release)
            return container == LLVM_RAW ? RELEASES[i].raw : RELEASES[i].indexed;
    return 0;
}

/* Raw to indexed: as the oldest release with that raw version, since later ones read what it
 * writes. Indexed to raw: as the newest, since a raw version is read by its own releases alone. Of
 * text nothing is known but whether there are bits. */
uint32_t llvm_version_like(const struct llvm_profile *p, enum llvm_container container)
{
    uint32_t release = p->bits.len ? 19 : 14;
    if (container == p->container || container == LLVM_TEXT)
        return p->version;
    for (size_t k = sizeof RELEASES / sizeof *RELEASES; p->container == LLVM_RAW && k--;)
        if (RELEASES[k].raw == p->version)
            release = RELEASES[k].release;
    for (size_t i = 0; i < sizeof RELEASES / sizeof *RELEASES && p->container == LLVM_INDEXED; i++)
        if (RELEASES[i].indexed <= p->version || !i)
            release = RELEASES[i].release;
    return llvm_version_of_release(container, release);
}

/* ---- what all three write */

/* Functions in the order in which they are written, with their names. */
struct writing {
    const struct llvm_profile *from;
    VEC(uint32_t) order;
};

/* A function's name, in the profile's list of them; not ended by a NUL. */
static const char *name_of(const struct llvm_profile *p, uint32_t i, size_t *len)
{
    uint32_t name = p->functions.at[i].name;
    *len = p->names.lengths.at[name];
    return p->names.texts.at[name];
}

/* By bytes, as LLVM compares; then by hash, of which one name may have several: of static functions
 * in two files, or of builds before and after a change. */
static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct llvm_profile *p = context;
    size_t a, b;
    const char *first = name_of(p, left, &a), *second = name_of(p, right, &b);
    int order = memcmp(first, second, a < b ? a : b);
    if (order || a != b)
        return order ? order : a < b ? -1 : 1;
    uint64_t x = p->functions.at[left].hash, y = p->functions.at[right].hash;
    return x < y ? -1 : x > y;
}

/* Whether a container can hold the name: raw ones join names by the byte 1, text has one a line,
 * between headers, comments and numbers. */
static bool name_fits(const char *name, size_t len, enum llvm_container container)
{
    bool is_number = true;
    for (size_t i = 0; i < len; i++)
        is_number &= name[i] >= '0' && name[i] <= '9';
    if (container == LLVM_RAW)
        return len && !memchr(name, 1, len);
    return len && (container != LLVM_TEXT ||
                   (!is_number && *name != '#' && *name != ':' && name[len - 1] != '\r' &&
                    !memchr(name, '\n', len) && !memchr(name, 0, len)));
}

/* Every function needs a name; profiles are read with theirs for that. Functions without counters
 * hold nothing, and are left out. */
static bool put_in_order(const struct llvm_profile *p, struct writing *w,
                         enum llvm_container container, struct err *e)
{
    uint64_t nameless = 0, odd = 0;
    size_t len = 0;
    w->from = p;
    for (uint32_t i = 0; i < p->functions.len; i++) {
        bool has_name = p->functions.at[i].name != LLVM_NO_NAME;
        if (!p->functions.at[i].counts)
            continue;
        nameless += !has_name;
        const char *name = has_name ? name_of(p, i, &len) : NULL;
        odd += name && !name_fits(name, len, container);
        vec_push(&w->order, i);
    }
    if (nameless)
        return err_set(e, "%" PRIu64 " functions have no name in it", nameless);
    if (odd)
        return err_set(e, "%" PRIu64 " functions have names that such a file cannot hold", odd);
    sort_u32(w->order.at, w->order.len, by_name, p);
    return true;
}

/* Sections of a raw profile begin at multiples of eight, counted from its header. */
static void pad_to_8(struct writer *w, size_t from)
{
    static const uint8_t ZEROS[8];
    writer_bytes(w, ZEROS, -(w->out.len - from) & 7);
}

/* By their bytes. */
static int by_id(uint32_t left, uint32_t right, const void *context)
{
    const struct intern *ids = context;
    size_t a = ids->lengths.at[left], b = ids->lengths.at[right];
    int order = memcmp(ids->texts.at[left], ids->texts.at[right], a < b ? a : b);
    return order ? order : a < b ? -1 : a > b;
}

/* { u64 length, bytes, padding }* */
static void put_ids(struct writer *w, const struct intern *ids)
{
    VEC(uint32_t) order = {0};
    for (uint32_t i = 0; i < ids->texts.len; i++)
        vec_push(&order, i);
    sort_u32(order.at, order.len, by_id, ids);
    for (size_t i = 0; i < order.len; i++) {
        size_t from = w->out.len;
        writer_u64(w, ids->lengths.at[order.at[i]]);
        writer_bytes(w, ids->texts.at[order.at[i]], ids->lengths.at[order.at[i]]);
        pad_to_8(w, from);
    }
    vec_free(&order);
}

/* Bits that say how the counters came about stay; those of parts that are not kept go. */
static uint64_t version_word(const struct llvm_profile *p, uint32_t version)
{
    uint32_t variants = p->variants & ~(uint32_t)(LLVM_TEMPORAL | LLVM_MEMORY | LLVM_CORRELATED);
    return version | (uint64_t)variants << LLVM_VARIANT_SHIFT;
}

/* ---- raw */

/* Sizes that the header states, and addresses that pointers are made of. */
struct raw_plan {
    uint32_t version;
    size_t record, records, counter_size;
    uint64_t counters, data_at, counters_at, bitmap_at, names_at;
    uint64_t functions_at; /* of the record that is written; 0: not wanted */
};

/* Joined by the byte 1, packed. Names are read back before they are needed, so one blob does. */
static void put_names(struct writer *w, const struct writing *from)
{
    struct writer plain = {0};
    for (size_t i = 0; i < from->order.len; i++) {
        size_t len, before = 0;
        const char *name = name_of(from->from, from->order.at[i], &len);
        const char *last = i ? name_of(from->from, from->order.at[i - 1], &before) : NULL;
        if (last && before == len && !memcmp(last, name, len))
            continue;
        if (i)
            writer_u8(&plain, 1);
        writer_bytes(&plain, name, len);
    }
    uLongf room = compressBound(plain.out.len);
    uint8_t *packed = malloc(room);
    if (!packed)
        memory_exhausted(room);
    writer_leb128(w, plain.out.len);
    if (plain.out.len && compress(packed, &room, plain.out.at, plain.out.len) == Z_OK &&
        room < plain.out.len) {
        writer_leb128(w, room);
        writer_bytes(w, packed, room);
    } else {
        writer_leb128(w, 0);
        writer_bytes(w, plain.out.at, plain.out.len);
    }
    free(packed);
    writer_deinit(&plain);
}

/* The C struct of the version, aligned to 8 bytes: see llvm_profile.c. */
static void put_record(struct writer *w, const struct llvm_function *f, const struct raw_plan *plan,
                       uint64_t counters_at, uint64_t bitmap_at)
{
    uint32_t version = plan->version;
    size_t from = w->out.len;
    writer_u64(w, f->name_ref);
    writer_u64(w, f->hash);
    writer_word(w, counters_at);
    if (version >= 11)
        writer_word(w, 0);
    if (version >= 9)
        writer_word(w, bitmap_at);
    writer_word(w, plan->functions_at);
    writer_word(w, 0); /* its values, in the process */
    writer_u32(w, f->counts);
    for (uint32_t kind = 0; kind < (version >= 10 ? 3 : 2); kind++)
        writer_u16(w, (uint16_t)f->sites[kind]);
    if (version >= 11)
        writer_u16(w, 0);
    if (version >= 9) {
        while ((w->out.len - from) % 4)
            writer_u8(w, 0);
        writer_u32(w, f->bits);
    }
    pad_to_8(w, from);
}

/* Addresses grow in the order of the parts, so that differences are what LLVM expects. */
static struct raw_plan plan_raw(const struct writing *from, uint32_t version, uint8_t word)
{
    const struct llvm_profile *p = from->from;
    struct writer one = {.word = word};
    struct raw_plan plan = {.version = version, .records = from->order.len, .data_at = 0x4000};
    put_record(&one, &(struct llvm_function){0}, &plan, 0, 0);
    plan.record = one.out.len;
    writer_deinit(&one);
    plan.counter_size = p->variants & LLVM_SINGLE_BYTE ? 1 : 8;
    for (size_t i = 0; i < from->order.len; i++)
        plan.counters += p->functions.at[from->order.at[i]].counts;
    plan.counters_at = plan.data_at + plan.records * plan.record;
    plan.bitmap_at = plan.counters_at + ((plan.counters * plan.counter_size + 7) & ~UINT64_C(7));
    return plan;
}

/* All words that the version has, in the order of the reader's table. */
static void put_raw_header(struct writer *w, uint64_t version_and_variants,
                           const struct raw_plan *plan, uint64_t ids, uint64_t names,
                           uint64_t bitmap)
{
    uint32_t version = plan->version;
    uint64_t base = version >= 8 ? plan->data_at : 0;
    uint64_t counters = plan->counters * plan->counter_size;
    writer_u64(w, w->word == 8 ? UINT64_C(0xff6c70726f667281) : UINT64_C(0xff6c70726f665281));
    writer_u64(w, version_and_variants);
    if (version >= 7)
        writer_u64(w, ids);
    writer_u64(w, plan->records);
    writer_u64(w, 0);
    writer_u64(w, plan->counters);
    writer_u64(w, -counters & 7);
    if (version >= 9) {
        writer_u64(w, bitmap);
        writer_u64(w, -bitmap & 7);
    }
    for (int i = 0; i < 3 && version >= 11; i++)
        writer_u64(w, 0);
    writer_u64(w, names);
    writer_u64(w, plan->counters_at - base);
    if (version >= 9)
        writer_u64(w, plan->bitmap_at - base);
    writer_u64(w, plan->names_at);
    for (int i = 0; i < 2 && version >= 10; i++)
        writer_u64(w, 0);
    writer_u64(w, version >= 10 ? 2 : 1); /* the last kind of values */
}

/* Header, ids, records, counters, bits, names, values. */
static void write_raw(struct writer *w, const struct writing *from, uint32_t version)
{
    const struct llvm_profile *p = from->from;
    struct raw_plan plan = plan_raw(from, version, w->word);
    struct writer ids = {.big_endian = w->big_endian}, names = {0};
    uint64_t count = 0, bit = 0;
    struct map places = {0};
    if (version >= 7)
        put_ids(&ids, &p->ids);
    put_names(&names, from);
    uint64_t bitmap = 0;
    for (size_t i = 0; i < from->order.len; i++)
        bitmap += p->functions.at[from->order.at[i]].bits;
    plan.names_at = plan.bitmap_at + bitmap;
    put_raw_header(w, version_word(p, version), &plan, ids.out.len, names.out.len, bitmap);
    writer_bytes(w, ids.out.at, ids.out.len);
    for (size_t i = 0; i < from->order.len; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        uint64_t own = version >= 8 ? plan.data_at + i * plan.record : 0;
        map_at(&places, f->name_ref, 0, (uint32_t)i, NULL);
        plan.functions_at = p->sites.len ? llvm_values_address(i) : 0;
        put_record(w, f, &plan, plan.counters_at + count * plan.counter_size - own,
                   plan.bitmap_at + bit - own);
        count += f->counts;
        bit += f->bits;
    }
    size_t begin = w->out.len;
    for (size_t i = 0; i < from->order.len; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        const uint64_t *counts = p->counts.at + f->first_count;
        for (uint32_t k = 0; k < f->counts; k++)
            if (plan.counter_size == 8)
                writer_u64(w, counts[k]);
            else
                writer_u8(w, counts[k] ? 0 : 0xff);
    }
    pad_to_8(w, begin);
    begin = w->out.len;
    for (size_t i = 0; i < from->order.len && version >= 9; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        writer_bytes(w, p->bits.at + f->first_bit, f->bits);
    }
    pad_to_8(w, begin);
    begin = w->out.len;
    writer_bytes(w, names.out.at, names.out.len);
    pad_to_8(w, begin);
    for (size_t i = 0; i < from->order.len; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        if (llvm_function_sites(f))
            llvm_values_put(w, p, f, &places);
    }
    map_deinit(&places);
    writer_deinit(&ids);
    writer_deinit(&names);
}

/* Descriptions hold pointers of the process, or differences of such: the header says what they are
 * relative to. */
bool llvm_raw_from_memory(struct writer *w, const struct llvm_memory *m, struct err *e)
{
    uint32_t version = (uint32_t)m->version;
    bool is_known = false;
    struct writer one = {.word = m->word};
    for (size_t i = 0; i < sizeof RELEASES / sizeof *RELEASES; i++)
        is_known |= RELEASES[i].raw == version;
    if (!is_known)
        return err_set(e, "its counters have the unknown raw version %" PRIu32 "", version);
    if (m->version >> LLVM_VARIANT_SHIFT & (LLVM_IR_LEVEL | LLVM_CORRELATED))
        return err_set(e, "its counters are the optimiser's, or are described in its file alone");
    struct raw_plan plan = {.version = version,
                            .counter_size =
                                m->version >> LLVM_VARIANT_SHIFT & LLVM_SINGLE_BYTE ? 1 : 8,
                            .data_at = m->data_at,
                            .counters_at = m->counters_at,
                            .bitmap_at = m->bitmap.len ? m->bitmap_at : m->data_at,
                            .names_at = m->names_at};
    put_record(&one, &(struct llvm_function){0}, &plan, 0, 0);
    plan.record = one.out.len;
    plan.records = m->data.len / plan.record;
    plan.counters = m->counters.len / plan.counter_size;
    writer_deinit(&one);
    if (m->data.len % plan.record || m->counters.len % plan.counter_size)
        return err_set(e, "the descriptions of its counters are not those of raw version %" PRIu32,
                       version);
    uint64_t ids = m->id.len && version >= 7 ? 8 + ((m->id.len + 7) & ~(size_t)7) : 0;
    w->word = m->word;
    w->big_endian = m->is_big_endian;
    put_raw_header(w, m->version, &plan, ids, m->names.len, version >= 9 ? m->bitmap.len : 0);
    size_t begin = w->out.len;
    if (ids) {
        writer_u64(w, m->id.len);
        writer_bytes(w, m->id.at, m->id.len);
        pad_to_8(w, begin);
    }
    writer_bytes(w, m->data.at, m->data.len);
    const struct bytes parts[] = {m->counters, version >= 9 ? m->bitmap : (struct bytes){0},
                                  m->names};
    for (int i = 0; i < 3; i++) {
        begin = w->out.len;
        writer_bytes(w, parts[i].at, parts[i].len);
        pad_to_8(w, begin);
    }
    return true;
}

/* ---- indexed */

/* Counts of this and above stand for "hot" and "warm" in profiles of other kinds. */
#define LEAST_PSEUDO (UINT64_MAX - 1)

/* The shares of all executions, in millionths, for which the summary says how many counters have
 * them. */
static const uint32_t CUTOFFS[] = {10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
                                   800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};
enum { CUTOFF_LEN = sizeof CUTOFFS / sizeof *CUTOFFS, CUTOFF_SCALE = 1000000 };

/* Counters, largest first: the summary says how many of the largest make a share of all. */
static int descending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a > b ? -1 : a < b;
}

/* Fields: functions, counters, the largest entry, the largest of all, the largest inside, the sum.
 * Then for each cutoff the least of the counters that together have this share, and how many. A bit
 * of the hash says that the function is of the second summary, that of counters with contexts; in
 * other profiles the bit is set by chance, and LLVM leaves such functions out. */
static void put_summary(struct writer *w, const struct llvm_profile *p, bool has_contexts)
{
    uint64_t functions = 0, entry = 0, inside = 0, sum = 0, reached = 0;
    VEC(uint64_t) counts = {0};
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i];
        const uint64_t *at = p->counts.at + f->first_count;
        if (!f->counts || at[0] >= LEAST_PSEUDO || (f->hash >> 60 & 1) != has_contexts)
            continue;
        functions++;
        entry = at[0] > entry ? at[0] : entry;
        for (uint32_t k = 0; k < f->counts; k++) {
            inside = k && at[k] > inside ? at[k] : inside;
            sum = add_saturating(sum, at[k]);
            vec_push(&counts, at[k]);
        }
    }
    if (counts.len)
        qsort(counts.at, counts.len, sizeof *counts.at, descending);
    const uint64_t fields[] = {functions, counts.len, entry, entry > inside ? entry : inside,
                               inside,    sum};
    writer_u64(w, 6);
    writer_u64(w, CUTOFF_LEN);
    for (int i = 0; i < 6; i++)
        writer_u64(w, fields[i]);
    uint64_t least = 0;
    size_t seen = 0;
    for (int i = 0; i < CUTOFF_LEN; i++) {
        /* sum * CUTOFFS[i] / CUTOFF_SCALE, in 64 bits, which is all that 32-bit machines have. */
        uint64_t wanted =
            sum / CUTOFF_SCALE * CUTOFFS[i] + sum % CUTOFF_SCALE * CUTOFFS[i] / CUTOFF_SCALE;
        while (reached < wanted && seen < counts.len) {
            least = counts.at[seen];
            for (; seen < counts.len && counts.at[seen] == least; seen++)
                reached = add_saturating(reached, least);
        }
        writer_u64(w, CUTOFFS[i]);
        writer_u64(w, least);
        writer_u64(w, seen);
    }
    vec_free(&counts);
}

/* One hash of a name: counts, bits (one a word), values. */
static void put_indexed_function(struct writer *w, const struct llvm_profile *p,
                                 const struct llvm_function *f, uint32_t version)
{
    writer_u64(w, f->hash);
    writer_u64(w, f->counts);
    for (uint32_t k = 0; k < f->counts; k++)
        writer_u64(w, p->counts.at[f->first_count + k]);
    if (version >= 11) {
        writer_u64(w, f->bits);
        for (uint32_t k = 0; k < f->bits; k++)
            writer_u64(w, p->bits.at[f->first_bit + k]);
    }
    llvm_values_put(w, p, f, NULL);
}

/* The functions of one name, which begin at `i` in the order; where the next name begins. */
static size_t put_entry(struct writer *w, const struct writing *from, size_t i, uint32_t version)
{
    const struct llvm_profile *p = from->from;
    struct writer data = {0};
    size_t len, other, end = i;
    const char *name = name_of(p, from->order.at[i], &len);
    for (; end < from->order.len; end++) {
        const char *next = name_of(p, from->order.at[end], &other);
        if (other != len || memcmp(next, name, len))
            break;
        put_indexed_function(&data, p, &p->functions.at[from->order.at[end]], version);
    }
    writer_u64(w, p->functions.at[from->order.at[i]].name_ref);
    writer_u64(w, len);
    writer_u64(w, data.out.len);
    writer_bytes(w, name, len);
    writer_bytes(w, data.out.at, data.out.len);
    writer_deinit(&data);
    return end;
}

/* The words of the header whose values are known only later. */
static void set_u64(struct writer *w, size_t at, uint64_t value)
{
    memcpy(w->out.at + at, &value, sizeof value);
}

/* Buckets in the order of their numbers, names within one in the order of writing. */
static bool put_table(struct writer *w, const struct writing *from, uint32_t version,
                      size_t directory_at, struct err *e)
{
    const struct llvm_profile *p = from->from;
    VEC(struct keyed) names = {0}; /* bucket, and the first function of the name in the order */
    VEC(uint64_t) offsets = {0};
    uint64_t buckets = 1;
    size_t len, other;
    bool ok = true;
    for (uint32_t i = 0; i < from->order.len; i++) {
        const char *name = name_of(p, from->order.at[i], &len);
        const char *last = i ? name_of(p, from->order.at[i - 1], &other) : NULL;
        if (!last || other != len || memcmp(last, name, len))
            vec_push(&names, (struct keyed){p->functions.at[from->order.at[i]].name_ref, i});
    }
    while (names.len > 2 && buckets <= names.len * 4 / 3)
        buckets *= 2;
    for (size_t i = 0; i < names.len; i++)
        names.at[i].key &= buckets - 1;
    sort_keyed(names.at, names.len);
    size_t next = 0;
    for (uint64_t bucket = 0; bucket < buckets && ok; bucket++) {
        size_t end = next;
        while (end < names.len && names.at[end].key == bucket)
            end++;
        vec_push(&offsets, end > next ? w->out.len : 0);
        ok = end - next <= UINT16_MAX ||
             err_set(e, "%zu names have the same hash: more than an indexed profile can hold",
                     end - next);
        if (end > next)
            writer_u16(w, (uint16_t)(end - next));
        for (; next < end && ok; next++)
            put_entry(w, from, names.at[next].item, version);
    }
    pad_to_8(w, 0);
    set_u64(w, directory_at, w->out.len);
    writer_u64(w, buckets);
    writer_u64(w, names.len);
    for (size_t i = 0; i < offsets.len; i++)
        writer_u64(w, offsets.at[i]);
    vec_free(&names);
    vec_free(&offsets);
    return ok;
}

/* Always little-endian. Offsets in the header lead to parts after the table, which are empty but
 * for the ids. */
static bool write_indexed(struct writer *w, const struct writing *from, uint32_t version,
                          struct err *e)
{
    const struct llvm_profile *p = from->from;
    enum { DIRECTORY = 4 * 8, MEMORY = 5 * 8, IDS = 6 * 8, TRACES = 7 * 8, VTABLES = 8 * 8 };
    w->big_endian = false;
    writer_u64(w, UINT64_C(0x8169666f72706cff));
    writer_u64(w, version_word(p, version));
    for (int i = 0; i < 3 + (version >= 8) + (version >= 9) + (version >= 10) + (version >= 12);
         i++)
        writer_u64(w, 0); /* unused, the hash is MD5, then offsets */
    put_summary(w, p, false);
    if (p->variants & LLVM_CONTEXT_SENSITIVE)
        put_summary(w, p, true);
    if (!put_table(w, from, version, DIRECTORY, e))
        return false;
    if (version >= 9) {
        struct writer ids = {0};
        put_ids(&ids, &p->ids);
        set_u64(w, IDS, w->out.len);
        writer_u64(w, ids.out.len);
        writer_bytes(w, ids.out.at, ids.out.len);
        writer_deinit(&ids);
    }
    if (version >= 12) {
        set_u64(w, VTABLES, w->out.len);
        writer_u64(w, 0);
    }
    return true;
}

/* ---- text */

/* Whether a name in front is taken for text: readers look at the first eight bytes. */
static bool begins_as_text(const char *at, size_t len)
{
    for (size_t i = 0; i < len && i < 8; i++)
        if (at[i] < ' ' || at[i] > '~')
            return false;
    return true;
}

/* The comments are llvm-profdata's, but for the one of :fe: it makes a profile that begins with
 * `übung`, say, one that llvm-profdata reads, too. */
static void write_text(struct writer *w, const struct writing *from)
{
    const struct llvm_profile *p = from->from;
    struct map names = {0}; /* of called functions */
    size_t begin = w->out.len;
    for (size_t i = 0; i < from->order.len && p->sites.len; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        map_at(&names, f->name_ref, 0, f->name, NULL);
    }
    if (p->variants & LLVM_CONTEXT_SENSITIVE)
        writer_printf(w, "# CSIR level Instrumentation Flag\n:csir\n");
    else if (p->variants & LLVM_IR_LEVEL)
        writer_printf(w, "# IR level Instrumentation Flag\n:ir\n");
    if (p->variants & LLVM_ENTRY_FIRST)
        writer_printf(w, "# Always instrument the function entry block\n:entry_first\n");
    if (p->variants & LLVM_SINGLE_BYTE)
        writer_printf(w, "# Instrument block coverage\n:single_byte_coverage\n");
    if (p->variants & LLVM_LOOP_ENTRIES)
        writer_printf(w, "# Always instrument the loop entry blocks\n:instrument_loop_entries\n");
    if (w->out.len == begin && from->order.len) {
        size_t len;
        const char *name = name_of(p, from->order.at[0], &len);
        if (!begins_as_text(name, len))
            writer_printf(w, "# Front-end level instrumentation\n:fe\n");
    }
    for (size_t i = 0; i < from->order.len; i++) {
        const struct llvm_function *f = &p->functions.at[from->order.at[i]];
        size_t len;
        const char *name = name_of(p, from->order.at[i], &len);
        writer_bytes(w, name, len);
        writer_printf(
            w, "\n# Func Hash:\n%" PRIu64 "\n# Num Counters:\n%" PRIu32 "\n# Counter Values:\n",
            f->hash, f->counts);
        for (uint32_t k = 0; k < f->counts; k++)
            writer_printf(w, "%" PRIu64 "\n", p->counts.at[f->first_count + k]);
        if (f->bits)
            writer_printf(w, "# Num Bitmap Bytes:\n$%" PRIu32 "\n# Bitmap Byte Values:\n", f->bits);
        for (uint32_t k = 0; k < f->bits; k++)
            writer_printf(w, "0x%x\n", p->bits.at[f->first_bit + k]);
        writer_printf(w, f->bits ? "\n" : "");
        if (llvm_function_sites(f))
            llvm_values_text(w, p, f, &names);
        writer_printf(w, "\n");
    }
    map_deinit(&names);
}

/* ---- all */

/* Bits have a meaning in some versions alone. */
static bool can_hold(const struct llvm_profile *p, const struct llvm_target *to, struct err *e)
{
    bool is_old = p->has_old_bits;
    uint32_t first = to->container == LLVM_RAW ? 9 : 11;
    bool is_old_target = to->container != LLVM_TEXT && to->version == first;
    if (p->value_records)
        return err_set(e, "%" PRIu64 " functions have profiles of values, which would be lost",
                       p->value_records);
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i];
        if (f->sites[VALUES_VTABLES])
            return err_set(e, "it has profiles of vtables, which are not kept; llvm-profdata 19 "
                              "and later keep them");
        if (to->container == LLVM_RAW &&
            (f->sites[VALUES_TARGETS] | f->sites[VALUES_SIZES]) > UINT16_MAX)
            return err_set(e, "a function has more sites of values than a raw profile can hold");
    }
    if (!p->bits.len || (to->container == LLVM_TEXT && !is_old))
        return true;
    if (to->container != LLVM_TEXT && to->version < first)
        return err_set(e, "it has conditions (MC/DC), which only LLVM 18 and later have");
    return is_old == is_old_target ||
           err_set(e, "its conditions (MC/DC) are numbered as %s; LLVM 18 has a way of its own",
                   is_old ? "LLVM 18 does it" : "LLVM 19 and later do it");
}

/* What the version cannot hold is refused before anything is written. */
bool llvm_profile_write(struct writer *w, const struct llvm_profile *p,
                        const struct llvm_target *to, struct err *e)
{
    struct writing from = {0};
    bool ok = can_hold(p, to, e) && put_in_order(p, &from, to->container, e);
    w->word = to->word ? to->word : 8;
    w->big_endian = to->is_big_endian;
    if (ok && to->container == LLVM_RAW)
        write_raw(w, &from, to->version);
    else if (ok && to->container == LLVM_INDEXED)
        ok = write_indexed(w, &from, to->version, e);
    else if (ok)
        write_text(w, &from);
    vec_free(&from.order);
    return ok;
}
