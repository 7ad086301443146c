/* Reads and writes gcda files of every version, and gcfn streams. The bytes: docs/formats/gcda.md.
 *
 * Counters follow the FUNCTION record that they belong to. Those that follow none make the file
 * fail when it has been read, with the offset of the first. A record of all zeros has a negative
 * length and no bytes, so a few bytes can claim 2^28 counters: MOST_ZEROS is far beyond any
 * function and what is above is a defect of the function.
 *
 * A file ends with a zero tag. One without is cut: what it holds is read, and it fails. Bytes after
 * the end are the rest of an older, longer file and are only measured (trailing_bytes).
 *
 * A gcfn stream is pairs of a file name and the bytes of that gcda file, as a freestanding target
 * sends them (__gcov_filename_to_gcfn of gcc 13 and later writes the names).
 *
 *     header | FUNCTION ident, checksum, checksum of the graph from gcc 4.7 on
 *            | COUNTERS of each kind: u64 each, or a negative length and nothing
 *            | OBJECT_SUMMARY from gcc 9 on: runs, sum of largest
 *            | PROGRAM_SUMMARY before: checksum, counters, runs, sum, largest, sum of largest
 *            | 0
 *
 * A FUNCTION of no length stands for one that another object holds. Linear, one copy of the
 * counters. */
#include "coverage/format/format.h"

#include "coverage/format/arcfile.h"

#include <inttypes.h>

/* --- reading --------------------------------------------------------------------------------- */

/* Twelve bytes can claim 2^28 counters that are all zero; no function has so many. */
enum { MOST_ZEROS = 1 << 24 };

/* State of one file. A `stray` does not end the reading: what is whole is wanted too. */
struct gcda_reading {
    struct arcfile file;
    struct counters *out;
    bool is_open; /* within a function */
    bool has_stray;
    uint64_t stray; /* offset of the first counters that are of no function */
};

/* Whatever follows a function, up to the next one or a summary, is its own. */
static void push(struct gcda_reading *r, struct counted_record record)
{
    struct counters *c = r->out;
    vec_push(&c->records, record);
    if (r->is_open)
        c->functions.at[c->functions.len - 1].records++;
}

/* The first defect of a function stays: what follows is mostly its consequence. */
static void note_defect(struct gcda_reading *r, enum arcs_defect what)
{
    struct counters *c = r->out;
    if (r->is_open && !c->functions.at[c->functions.len - 1].defect)
        c->functions.at[c->functions.len - 1].defect = (uint8_t)what;
}

/* The identity is the compiler's: only the notes say which function it is. */
static void read_function(struct gcda_reading *r, struct arcfile_record *record)
{
    struct counters *c = r->out;
    struct cursor *in = &record->in;
    r->is_open = false;
    if (!record->length)
        return push(r, (struct counted_record){.what = COUNTED_ABSENT});
    struct counted_function f = {.offset = record->offset};
    f.ident = cursor_u32(in);
    f.lineno_checksum = cursor_u32(in);
    f.cfg_checksum = r->file.dialect->has_cfg_checksum ? cursor_u32(in) : 0;
    f.defect = in->failed ? DEFECT_BAD_RECORD : DEFECT_NONE;
    push(r, (struct counted_record){.what = COUNTED_FUNCTION, .index = (uint32_t)c->functions.len});
    f.first_record = (uint32_t)c->records.len;
    vec_push(&c->functions, f);
    r->is_open = true;
}

/* Little-endian values are copied at once. A broken last value is a defect. */
static void read_values(struct gcda_reading *r, struct arcfile_record *record)
{
    struct counters *c = r->out;
    struct cursor *in = &record->in;
    uint32_t values = record->zeros ? record->zeros : (uint32_t)(cursor_left(in) / 8);
    push(r, (struct counted_record){.what = COUNTED_VALUES,
                                    .kind = (uint8_t)arcfile_kind(r->file.dialect, record->tag),
                                    .is_zero = record->zeros != 0,
                                    .tag = record->tag,
                                    .len = values,
                                    .first = c->values.len});
    if (record->zeros > MOST_ZEROS)
        note_defect(r, DEFECT_BAD_RECORD);
    if (record->zeros)
        return;
    if (cursor_left(in) % 8)
        note_defect(r, DEFECT_BAD_RECORD);
    vec_reserve(&c->values, c->values.len + values);
    uint64_t *value = c->values.at + c->values.len;
    if (!in->big_endian && values)
        memcpy(value, in->at, (size_t)values * 8);
    else
        for (uint32_t i = 0; i < values; i++)
            value[i] = arcfile_u64(in);
    c->values.len += values;
}

/* 0 where the record is too short: clang's are. */
static uint64_t left_u64(struct cursor *in)
{
    return cursor_left(in) >= 8 ? arcfile_u64(in) : 0;
}

static uint32_t left_u32(struct cursor *in)
{
    return cursor_left(in) >= 4 ? cursor_u32(in) : 0;
}

/* gcc 9 and later: runs and the sum of maxima. Before: nine words and perhaps a histogram. clang
 * writes as many words as it likes to, zeros but for the runs. The rest of the record, a histogram
 * up to gcc 8, is kept as bytes and written as such. */
static void read_summary(struct gcda_reading *r, struct arcfile_record *record)
{
    struct counters *c = r->out;
    struct cursor *in = &record->in;
    struct counters_summary s = {.len = (uint32_t)cursor_left(in)};
    bool is_object = record->tag == GCOV_TAG_OBJECT_SUMMARY;
    if (is_object && r->file.dialect->summary == GCOV_SUMMARY_OBJECT) {
        s.runs = left_u32(in);
        s.sum_max = left_u32(in);
    } else {
        s.checksum = left_u32(in);
        s.counters = left_u32(in);
        s.runs = left_u32(in);
        s.sum = left_u64(in);
        s.run_max = left_u64(in);
        s.sum_max = left_u64(in);
    }
    s.rest = (struct bytes){in->at, cursor_left(in)};
    r->is_open = false;
    push(r, (struct counted_record){.what = is_object ? COUNTED_OBJECT_SUMMARY
                                                      : COUNTED_PROGRAM_SUMMARY,
                                    .tag = record->tag,
                                    .index = (uint32_t)c->summaries.len});
    vec_push(&c->summaries, s);
}

/* Whether counters are of the function before them: each kind comes once. */
static bool has_function(const struct gcda_reading *r, uint32_t tag)
{
    const struct counters *c = r->out;
    if (!r->is_open)
        return false;
    const struct counted_function *f = &c->functions.at[c->functions.len - 1];
    for (uint32_t i = f->first_record; i < f->first_record + f->records; i++)
        if (c->records.at[i].what == COUNTED_VALUES && c->records.at[i].tag == tag)
            return false;
    return true;
}

/* Unknown records are kept by offset and length, so that a file is written as it was. */
static void read_record(struct gcda_reading *r, struct arcfile_record *record)
{
    if (record->tag == GCOV_TAG_FUNCTION)
        return read_function(r, record);
    if (record->tag == GCOV_TAG_OBJECT_SUMMARY || record->tag == GCOV_TAG_PROGRAM_SUMMARY)
        return read_summary(r, record);
    if (arcfile_is_counters(record->tag) && !has_function(r, record->tag) && !r->has_stray) {
        r->has_stray = true;
        r->stray = record->offset;
    }
    if (r->is_open && arcfile_is_counters(record->tag))
        return read_values(r, record);
    r->out->unknown_records++;
    push(r, (struct counted_record){.what = COUNTED_OTHER,
                                    .tag = record->tag,
                                    .len = (uint32_t)cursor_left(&record->in),
                                    .first = cursor_offset(&record->in)});
}

/* Every writer ends with a zero word: a file without one was cut, if only between records. clang
 * writes two zero words, which distinguishes its files from gcc's. */
static bool read_records(struct gcda_reading *r, struct err *e)
{
    struct arcfile_record record = {0};
    struct counters *c = r->out;
    struct cursor *in = &r->file.in;
    enum arcfile_step step;
    while ((step = arcfile_next(&r->file, &record, e)) == ARCFILE_RECORD)
        read_record(r, &record);
    bool is_whole = step == ARCFILE_END && record.offset < cursor_offset(in);
    if (is_whole) {
        c->end_words = 1 + arcfile_zeros(in, 1);
        c->origin.is_llvm |= c->end_words == 2;
    } else {
        note_defect(r, DEFECT_CUT);
        c->failure = (struct arcs_failure){DEFECT_CUT, record.offset};
        if (step == ARCFILE_END)
            err_at(e, in, "the end mark is missing; the file was cut off here");
    }
    if (is_whole && r->has_stray) {
        is_whole = false;
        c->failure = (struct arcs_failure){DEFECT_BAD_RECORD, r->stray};
        err_set(e, "%s: offset %" PRIu64 ": these counters belong to no function", in->name,
                r->stray);
    }
    c->size_bytes = cursor_offset(in);
    c->trailing_bytes = cursor_left(in);
    return is_whole;
}

bool gcda_probe(struct bytes in)
{
    return in.len >= 4 && (bytes_u32(in.at, false) == GCOV_MAGIC_COUNTERS ||
                           bytes_u32(in.at, true) == GCOV_MAGIC_COUNTERS);
}

/* The unit of lengths, the byte order and the dialect are known from the header on. */
bool gcda_read(struct bytes in, const char *name, struct counters *out, struct err *e)
{
    struct gcda_reading r = {.out = out};
    if (!arcfile_open(&r.file, GCOV_MAGIC_COUNTERS, in, name, e)) {
        out->failure.what = DEFECT_CUT;
        return false;
    }
    out->origin = r.file.origin;
    out->bytes = in;
    counters_prepare(out);
    return read_records(&r, e);
}

/* --- writing --------------------------------------------------------------------------------- */

/* The words that the record had, and what followed them. The fields in their order are a prefix of
 * `words`: so long as the record was. */
static void write_summary(struct writer *w, const struct counters *c,
                          const struct gcov_dialect *dialect, unsigned unit,
                          const struct counted_record *r)
{
    const struct counters_summary *s = &c->summaries.at[r->index];
    bool is_short = r->what == COUNTED_OBJECT_SUMMARY && dialect->summary == GCOV_SUMMARY_OBJECT;
    const uint32_t words[] = {
        /* Short summaries have 32 bits for a sum that is kept in 64. */
        is_short ? s->runs : s->checksum,
        is_short ? (s->sum_max < UINT32_MAX ? (uint32_t)s->sum_max : UINT32_MAX) : s->counters,
        s->runs,
        (uint32_t)s->sum,
        (uint32_t)(s->sum >> 32),
        (uint32_t)s->run_max,
        (uint32_t)(s->run_max >> 32),
        (uint32_t)s->sum_max,
        (uint32_t)(s->sum_max >> 32),
    };
    size_t fields = (s->len - s->rest.len) / 4;
    writer_u32(w, r->tag);
    writer_u32(w, s->len / unit);
    for (size_t i = 0; i < fields; i++)
        writer_u32(w, words[i]);
    writer_bytes(w, s->rest.at, s->rest.len);
}

/* A length is signed where zeros are: more than INT32_MAX would read as zeros. */
static bool write_record(struct writer *w, const struct counters *c,
                         const struct gcov_dialect *dialect, const struct counted_record *r,
                         struct err *e)
{
    unsigned unit = c->origin.has_byte_lengths ? 1 : 4;
    switch (r->what) {
    case COUNTED_ABSENT:
        writer_u32(w, GCOV_TAG_FUNCTION);
        writer_u32(w, 0);
        return true;
    case COUNTED_FUNCTION: {
        const struct counted_function *f = &c->functions.at[r->index];
        writer_u32(w, GCOV_TAG_FUNCTION);
        writer_u32(w, (dialect->has_cfg_checksum ? 12 : 8) / unit);
        writer_u32(w, f->ident);
        writer_u32(w, f->lineno_checksum);
        if (dialect->has_cfg_checksum)
            writer_u32(w, f->cfg_checksum);
        return true;
    }
    case COUNTED_VALUES:
        if (r->len * UINT64_C(8) / unit > INT32_MAX)
            return err_set(e, "%u counters do not fit into one record of this version", r->len);
        if (r->kind != KIND_UNKNOWN && arcfile_slot(dialect, r->kind) == GCOV_SLOTS)
            return err_set(e, "this version has no %s counters", counter_kind_name(r->kind));
        uint32_t tag =
            r->kind == KIND_UNKNOWN ? r->tag : GCOV_TAG_OF_SLOT(arcfile_slot(dialect, r->kind));
        uint32_t length = (uint32_t)(r->len * UINT64_C(8) / unit);
        writer_u32(w, tag);
        writer_u32(w, r->is_zero ? -length : length);
        if (!(r->is_zero)) {
            const uint64_t *values = c->values.at + r->first;
            if (!w->big_endian)
                writer_bytes(w, values, (size_t)r->len * 8);
            else
                for (uint32_t i = 0; i < r->len; i++)
                    arcfile_write_u64(w, values[i]);
        }

        return true;
    case COUNTED_OTHER:
        writer_u32(w, r->tag);
        writer_u32(w, r->len / unit);
        writer_bytes(w, c->bytes.at + r->first, r->len);
        return true;
    default: write_summary(w, c, dialect, unit, r); return true;
    }
}

/* NULL with *e: they are of no version of gcc. */
static const struct gcov_dialect *gcda_dialect(const struct counters *c, struct err *e)
{
    bool is_gcov = c->origin.family == ARCS_GCOV;
    const struct gcov_dialect *dialect = is_gcov ? dialect_of_word(c->origin.version) : NULL;
    if (!dialect)
        err_set(e, "these counters have no gcc version to be written as");
    return dialect;
}

/* At least one zero word ends the file, whatever was read. */
bool gcda_write(struct writer *w, const struct counters *c, struct err *e)
{
    const struct gcov_dialect *dialect = gcda_dialect(c, e);
    if (!dialect)
        return false;
    w->big_endian = c->origin.big_endian;
    arcfile_write_header(w, GCOV_MAGIC_COUNTERS, &c->origin, dialect);
    for (size_t i = 0; i < c->records.len; i++)
        if (!write_record(w, c, dialect, &c->records.at[i], e))
            return false;
    for (uint32_t i = 0; i < (c->end_words ? c->end_words : 1); i++)
        writer_u32(w, 0);
    return true;
}

/* --- streams of freestanding targets --------------------------------------------------------- */

static bool is_named(struct bytes in, bool *big_endian)
{
    for (unsigned order = 0; order < 2 && in.len >= 4; order++)
        if (bytes_u32(in.at, order) == GCOV_MAGIC_NAME) {
            *big_endian = order;
            return true;
        }
    return false;
}

bool gcfn_probe(struct bytes in)
{
    bool big_endian;
    return is_named(in, &big_endian);
}

/* The byte order is found anew for each pair: a stream may come from several targets. */
static bool read_name(struct cursor *in, const char **name, struct err *e)
{
    struct cursor where = *in;
    struct bytes rest = {in->at, cursor_left(in)};
    if (!is_named(rest, &in->big_endian))
        return err_at(e, &where, "expected a gcfn record");
    in->at += 4;
    const struct gcov_dialect *dialect = dialect_of_word(cursor_u32(in));
    if (in->failed || !dialect)
        return err_at(e, &where, "the version of this gcfn record is not that of a compiler");
    *name = arcfile_text(in, dialect->has_byte_lengths);
    if (in->failed || !*name)
        return err_at(e, &where, "the file name of this gcfn record is incomplete");
    return true;
}

/* The gcda's end mark says where the next pair begins. */
bool gcfn_next(struct cursor *in, const char **name, struct counters *out, struct err *e)
{
    if (!read_name(in, name, e))
        return false;
    struct bytes rest = {in->at, cursor_left(in)};
    if (!gcda_read(rest, *name, out, e))
        return false;
    in->at += out->size_bytes;
    return true;
}

/* The name has the form of the dialect, like texts of the file after it. */
bool gcfn_write(struct writer *w, const char *name, const struct counters *c, struct err *e)
{
    const struct gcov_dialect *dialect = gcda_dialect(c, e);
    if (!dialect)
        return false;
    w->big_endian = c->origin.big_endian;
    writer_u32(w, GCOV_MAGIC_NAME);
    writer_u32(w, c->origin.version);
    arcfile_write_text(w, name, dialect->has_byte_lengths);
    return gcda_write(w, c, e);
}

/* --- on a console ---------------------------------------------------------------------------- */

/* The digits from `at` on; an odd one at the end is dropped. */
static struct bytes console_bytes(const uint8_t *at, const uint8_t *end, struct arena *a)
{
    size_t most = 0, len = 0;
    const uint8_t *stop = at;
    for (; stop < end && (hex_digit(*stop) >= 0 || memchr(" \t\r\n", *stop, 4)); stop++)
        most += hex_digit(*stop) >= 0;
    uint8_t *out = arena_alloc(a, most / 2 + 1);
    for (int high = -1; at < stop; at++) {
        int digit = hex_digit(*at);
        if (digit >= 0 && high >= 0)
            out[len++] = (uint8_t)(high << 4 | digit);
        high = digit < 0 ? high : high < 0 ? digit : -1;
    }
    return (struct bytes){out, len};
}

/* A name begins after the last star before it in its line. */
bool console_next(struct cursor *in, struct arena *a, const char **name, struct bytes *gcda)
{
    static const char END[] = ".gcda<";
    const uint8_t *begin = in->at, *end = in->at + cursor_left(in);
    const uint8_t *found;
    while ((found = memmem(in->at, cursor_left(in), END, sizeof END - 1))) {
        const uint8_t *star = found;
        in->at = found + sizeof END - 1;
        while (star > begin && star[-1] != '*' && star[-1] != '\n' && star[-1])
            star--;
        if (star == begin || star[-1] != '*')
            continue;
        *name = arena_copy(a, (const char *)star, (size_t)(found - star) + sizeof END - 2);
        *gcda = console_bytes(in->at, end, a);
        return true;
    }
    return false;
}
