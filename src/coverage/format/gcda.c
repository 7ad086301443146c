/* Reads gcda files of every version. The bytes: docs/formats/gcda.md. */
#include "coverage/format/gcda.h"

#include "coverage/format/arcfile.h"

#include <inttypes.h>

/* Twelve bytes can claim 2^28 counters that are all zero; no function has so many. */
enum { MOST_ZEROS = 1 << 24 };

struct gcda_reading {
    struct arcfile file;
    struct counters *out;
    bool is_open; /* within a function */
    bool has_stray;
    uint64_t stray; /* offset of the first counters that are of no function */
};

static void push(struct gcda_reading *r, struct counted_record record)
{
    struct counters *c = r->out;
    vec_push(&c->records, record);
    if (r->is_open)
        c->functions.at[c->functions.len - 1].records++;
}

static void note_defect(struct gcda_reading *r, enum arcs_defect what)
{
    struct counters *c = r->out;
    if (r->is_open && !c->functions.at[c->functions.len - 1].defect)
        c->functions.at[c->functions.len - 1].defect = (uint8_t)what;
}

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

static uint64_t left_u64(struct cursor *in)
{
    return cursor_left(in) >= 8 ? arcfile_u64(in) : 0;
}

static uint32_t left_u32(struct cursor *in)
{
    return cursor_left(in) >= 4 ? cursor_u32(in) : 0;
}

/* gcc 9 and later: runs and the sum of maxima. Before: nine words and perhaps a histogram. clang
 * writes as many words as it likes to, zeros but for the runs. */
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

/* Every writer ends with a zero word: a file without one was cut, if only between records. */
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
