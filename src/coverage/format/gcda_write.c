/* Writes gcda files of every version. The bytes: docs/formats/gcda.md. */
#include "coverage/format/arcfile.h"
#include "coverage/format/arcfile_write.h"
#include "coverage/format/gcda.h"

static void write_function(struct writer *w, const struct gcov_dialect *dialect, unsigned unit,
                           const struct counted_function *f)
{
    writer_u32(w, GCOV_TAG_FUNCTION);
    writer_u32(w, (dialect->has_cfg_checksum ? 12 : 8) / unit);
    writer_u32(w, f->ident);
    writer_u32(w, f->lineno_checksum);
    if (dialect->has_cfg_checksum)
        writer_u32(w, f->cfg_checksum);
}

static void write_values(struct writer *w, const struct counters *c, unsigned unit,
                         const struct counted_record *r, uint32_t tag)
{
    uint32_t length = (uint32_t)(r->len * UINT64_C(8) / unit);
    writer_u32(w, tag);
    writer_u32(w, r->is_zero ? -length : length);
    if (r->is_zero)
        return;
    const uint64_t *values = c->values.at + r->first;
    if (!w->big_endian)
        writer_bytes(w, values, (size_t)r->len * 8);
    else
        for (uint32_t i = 0; i < r->len; i++)
            arcfile_write_u64(w, values[i]);
}

static uint32_t clamped(uint64_t sum)
{
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* The words that the record had, and what was behind them. */
static void write_summary(struct writer *w, const struct counters *c,
                          const struct gcov_dialect *dialect, unsigned unit,
                          const struct counted_record *r)
{
    const struct counters_summary *s = &c->summaries.at[r->index];
    bool is_short = r->what == COUNTED_OBJECT_SUMMARY && dialect->summary == GCOV_SUMMARY_OBJECT;
    const uint32_t words[] = {
        is_short ? s->runs : s->checksum,
        is_short ? clamped(s->sum_max) : s->counters,
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
    case COUNTED_FUNCTION:
        write_function(w, dialect, unit, &c->functions.at[r->index]);
        return true;
    case COUNTED_VALUES:
        if (r->len * UINT64_C(8) / unit > INT32_MAX)
            return err_set(e, "%u counters do not fit into one record of this version", r->len);
        if (r->kind != KIND_UNKNOWN && arcfile_slot(dialect, r->kind) == GCOV_SLOTS)
            return err_set(e, "this version has no %s counters", counter_kind_name(r->kind));
        write_values(w, c, unit, r,
                     r->kind == KIND_UNKNOWN ? r->tag
                                             : GCOV_TAG_OF_SLOT(arcfile_slot(dialect, r->kind)));
        return true;
    case COUNTED_OTHER:
        writer_u32(w, r->tag);
        writer_u32(w, r->len / unit);
        writer_bytes(w, c->bytes.at + r->first, r->len);
        return true;
    default: write_summary(w, c, dialect, unit, r); return true;
    }
}

bool gcda_write(struct writer *w, const struct counters *c, struct err *e)
{
    const struct gcov_dialect *dialect = dialect_of_word(c->origin.version);
    if (!dialect || c->origin.family != ARCS_GCOV)
        return err_set(e, "these counters have no gcc version to be written as");
    w->big_endian = c->origin.big_endian;
    arcfile_write_header(w, GCOV_MAGIC_COUNTERS, &c->origin, dialect);
    for (size_t i = 0; i < c->records.len; i++)
        if (!write_record(w, c, dialect, &c->records.at[i], e))
            return false;
    for (uint32_t i = 0; i < (c->end_words ? c->end_words : 1); i++)
        writer_u32(w, 0);
    return true;
}
