/* Reads and writes da files: a group of counters for each run, or one for their sum.
 *
 *     header           "gcov" | version
 *     FUNCTION         string name | checksum          a group: functions with their counts,
 *     ARC_COUNTS       u64 each                        then both summaries
 *     "gcda"           ours: header, runs, sum of largest, { ident | checksums }
 *     OBJECT_SUMMARY   counters | u64 sum | u64 largest of a run
 *     PROGRAM_SUMMARY  the same
 *
 * Where the proposal is silent, docs/formats/da.md says what is done: groups end with their program
 * summary, may be concatenated with their headers, and are summed. A group that is cut off is
 * refused as a whole unless it is the first, of which the whole functions are kept. Linear; two
 * groups in memory. The bytes: docs/formats/da.md. */
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <inttypes.h>

enum { SUMMARY_BYTES = 20 };

/* State within one group. The function that is open is the last of `out`. */
struct da_reading {
    struct counters *out; /* of this group */
    bool is_open;         /* within a function */
    bool has_runs;        /* a record of ours said how many: */
    uint32_t runs;
    uint64_t sum_max; /* of each run's largest count */
};

/* Records within a function are its own. */
static void da_push(struct da_reading *r, struct counted_record record)
{
    vec_push(&r->out->records, record);
    if (r->is_open)
        r->out->functions.at[r->out->functions.len - 1].records++;
}

/* Its record is pushed as closed, so that the one before does not count it. */
static void da_read_function(struct da_reading *r, struct cursor *in, uint64_t offset)
{
    struct counters *c = r->out;
    struct counted_function f = {.offset = offset};
    f.name = bbg_string(in);
    f.lineno_checksum = cursor_u32(in);
    f.defect = in->failed ? DEFECT_BAD_RECORD : DEFECT_NONE;
    f.ident = in->failed ? 0 : name_ident(f.name);
    r->is_open = false;
    da_push(r,
            (struct counted_record){.what = COUNTED_FUNCTION, .index = (uint32_t)c->functions.len});
    f.first_record = (uint32_t)c->records.len;
    vec_push(&c->functions, f);
    r->is_open = true;
}

/* A second list of counts for one function is a defect, as is a broken last counter. Counters are
 * little-endian, as this machine is. */
static void da_read_counts(struct da_reading *r, struct cursor *in)
{
    struct counters *c = r->out;
    struct counted_function *f = &c->functions.at[c->functions.len - 1];
    if (cursor_left(in) % 8 || f->records)
        f->defect = DEFECT_BAD_RECORD;
    uint32_t values = (uint32_t)(cursor_left(in) / 8);
    da_push(r, (struct counted_record){.what = COUNTED_VALUES,
                                       .kind = KIND_ARCS,
                                       .tag = BBG_ARC_COUNTS,
                                       .len = values,
                                       .first = c->values.len});
    vec_reserve(&c->values, c->values.len + values);
    if (values)
        memcpy(c->values.at + c->values.len, in->at, (size_t)values * 8);
    /* Sums of what is too large would be smaller than their parts. */
    for (size_t i = c->values.len; i < c->values.len + values; i++)
        if (c->values.at[i] > INT64_MAX) {
            c->values.at[i] = INT64_MAX;
            f->defect = DEFECT_TOO_LARGE;
        }
    c->values.len += values;
}

/* What the group's gcda had besides: its header, the number of runs and the sum of their largest
 * counts, and the numbers of the functions in their order. */
static void da_read_gcda(struct da_reading *r, struct cursor *in)
{
    struct counters *c = r->out;
    struct arcs_native native;
    bbg_read_native(in, &native);
    uint32_t runs = cursor_u32(in);
    uint64_t sum_max = cursor_u64(in);
    r->is_open = false;
    if (in->failed || cursor_left(in) != c->functions.len * (uint64_t)12 ||
        !dialect_of_word(native.version) || r->has_runs) {
        c->unknown_records++;
        return;
    }
    c->origin.native = native;
    r->has_runs = true;
    r->runs = runs;
    r->sum_max = sum_max;
    for (size_t i = 0; i < c->functions.len; i++) {
        struct counted_function *f = &c->functions.at[i];
        f->has_native = true;
        f->native.ident = cursor_u32(in);
        f->native.lineno_checksum = cursor_u32(in);
        f->native.cfg_checksum = cursor_u32(in);
    }
}

/* A summary ends the function before it. A group is one run if it does not say more. */
static void da_read_summary(struct da_reading *r, struct cursor *in, uint32_t tag)
{
    struct counters *c = r->out;
    struct counters_summary s = {.len = SUMMARY_BYTES};
    s.counters = cursor_u32(in);
    s.sum = cursor_u64(in);
    s.run_max = cursor_u64(in);
    s.runs = r->has_runs ? r->runs : 1;
    s.sum_max = r->has_runs ? r->sum_max : s.run_max;
    r->is_open = false;
    da_push(r, (struct counted_record){.what = tag == BBG_OBJECT_SUMMARY ? COUNTED_OBJECT_SUMMARY
                                                                         : COUNTED_PROGRAM_SUMMARY,
                                       .tag = tag,
                                       .index = (uint32_t)c->summaries.len});
    vec_push(&c->summaries, s);
}

/* Reads up to and with the program summary, which ends a group. Fails, with the group's functions
 * as far as they are whole, if it is not there. */
static bool da_read_group(struct cursor *in, struct counters *out, struct err *e)
{
    struct da_reading r = {.out = out};
    counters_prepare(out);
    struct cursor record;
    uint64_t offset;
    uint32_t tag = 0;
    while (offset = cursor_offset(in), tag != BBG_PROGRAM_SUMMARY) {
        if (!bbg_next(in, &tag, &record, e)) {
            if (!cursor_left(in))
                err_at(e, in, "the program summary is missing; the file was cut off here");
            if (r.is_open && !out->functions.at[out->functions.len - 1].records)
                out->functions.at[out->functions.len - 1].defect = DEFECT_CUT;
            out->failure = (struct arcs_failure){DEFECT_CUT, offset};
            return false;
        }
        switch (tag) {
        case BBG_FUNCTION: da_read_function(&r, &record, offset); break;
        case BBG_OBJECT_SUMMARY:
        case BBG_PROGRAM_SUMMARY: da_read_summary(&r, &record, tag); break;
        case BBG_GCDA: da_read_gcda(&r, &record); break;
        default:
            if (tag == BBG_ARC_COUNTS && r.is_open)
                da_read_counts(&r, &record);
            else
                out->unknown_records++;
        }
    }
    return true;
}

/* Files that were literally concatenated have another header in between. A group of another version
 * ends the reading: which of the two compilers counted how is not known. */
static bool da_pass_header(struct cursor *in, const struct arcs_origin *origin, struct err *e)
{
    struct arcs_origin again = *origin;
    struct cursor where = *in;
    if (cursor_left(in) < 4 || bytes_u32(in->at, false) != DA_MAGIC)
        return true;
    if (!bbg_open(in, DA_MAGIC, &again, e))
        return false;
    return again.version == origin->version ||
           err_at(e, &where, "this group has version %s, the first has %s",
                  arcs_version_text(&again).text, arcs_version_text(origin).text);
}

/* Skips, before a group or after the last, headers and records of tags that are not known. A record
 * that is cut off stays: reading the group says so. */
static bool da_pass_unknown(struct cursor *in, struct counters *out, struct err *e)
{
    struct cursor ahead, record;
    struct err ignored;
    uint32_t tag;
    while (da_pass_header(in, &out->origin, e)) {
        ahead = *in;
        if (!bbg_next(&ahead, &tag, &record, &ignored) ||
            (tag >= BBG_FUNCTION && tag <= BBG_PROGRAM_SUMMARY) || tag == BBG_GCDA)
            return true;
        out->unknown_records++;
        *in = ahead;
    }
    return false;
}

bool da_has_magic(struct bytes in)
{
    return in.len >= 4 && bytes_u32(in.at, false) == DA_MAGIC;
}

bool da_probe(struct bytes in)
{
    return da_has_magic(in) || bb_counters_probe(in);
}

/* The first group goes into *out itself, others are merged into it. */
bool da_read(struct bytes in, const char *name, struct counters *out, struct err *e)
{
    struct cursor at = cursor_over(in, name);
    if (!da_has_magic(in) && bb_counters_probe(in))
        return bb_counters_read(in, name, out, e);
    bool ok = bbg_open(&at, DA_MAGIC, &out->origin, e);
    if (ok) {
        out->bytes = in;
        ok = da_read_group(&at, out, e);
        out->groups = 1;
    }
    while (ok && cursor_left(&at)) {
        struct counters group = {.origin = out->origin, .bytes = in};
        uint64_t offset = cursor_offset(&at);
        ok = da_pass_unknown(&at, out, e);
        if (ok && cursor_left(&at)) {
            ok = arcs_add_group(out, &group, da_read_group(&at, &group, e), e);
            out->unknown_records += group.unknown_records;
            out->groups += ok;
        }
        if (!ok)
            out->failure = (struct arcs_failure){DEFECT_CUT, offset};
        counters_deinit(&group);
    }
    if (!ok && !out->failure.what)
        out->failure.what = DEFECT_CUT;
    out->size_bytes = cursor_offset(&at);
    out->trailing_bytes = cursor_left(&at);
    return ok;
}

/* ---- writing */

/* 20 bytes: counters, sum, largest. */
static void da_write_summary(struct writer *w, enum bbg_tag tag, const struct counters_summary *s)
{
    writer_u32(w, tag);
    writer_u32(w, SUMMARY_BYTES);
    writer_u32(w, s->counters);
    writer_u64(w, s->sum);
    writer_u64(w, s->run_max);
}

/* Only counts of arcs have a place in the format. A function without is written as it was. */
static bool da_write_function(struct writer *w, const struct counters *c,
                              const struct counted_function *f, struct err *e)
{
    const struct counted_record *r = counters_find(c, f, KIND_ARCS);
    if (f->defect || !f->name)
        return err_set(e, f->name ? "the counters of '%s' are damaged" : "a function has no name%s",
                       f->name ? f->name : "");
    if (r && r->len > UINT32_MAX / 8)
        return err_set(e, "'%s' has more counters than a record holds", f->name);
    size_t start = w->out.len + 8;
    writer_u32(w, BBG_FUNCTION);
    writer_u32(w, 0);
    bbg_write_string(w, f->name);
    writer_u32(w, f->lineno_checksum);
    uint32_t length = (uint32_t)(w->out.len - start);
    memcpy(w->out.at + start - 4, &length, sizeof length);
    if (r) {
        /* a function without is written as it was */ writer_u32(w, BBG_ARC_COUNTS);
        writer_u32(w, r->len * 8);
        for (uint32_t i = 0; i < r->len; i++)
            writer_u64(w, counters_value(c, r, i));
    }

    return true;
}

/* The file's totals for the object or program, or the sum of its counters. Files of gcc have other
 * summaries, which are no use here: those are added up anew. */
static struct counters_summary da_summary_of(const struct counters *c, enum counted_what what)
{
    struct counters_summary s = {.sum = counters_sum(c), .run_max = counters_max(c)};
    for (size_t i = 0; i < c->records.len; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what == what && c->origin.family == ARCS_RFC)
            return c->summaries.at[r->index];
        s.counters += r->what == COUNTED_VALUES && r->kind == KIND_ARCS ? r->len : 0;
    }
    return s;
}

/* The record that da_read_gcda() reads, if these counters were a gcda's. */
static void da_write_gcda(struct writer *w, const struct counters *c,
                          const struct counters_summary *s)
{
    bool has_all = c->origin.native.version;
    for (size_t i = 0; i < c->functions.len && has_all; i++)
        has_all = c->functions.at[i].has_native;
    if (!has_all || c->functions.len > (UINT32_MAX - 64) / 12)
        return;
    writer_u32(w, BBG_GCDA);
    writer_u32(w, (uint32_t)(28 + 12 * c->functions.len));
    bbg_write_native(w, &c->origin.native, 0);
    writer_u32(w, s->runs);
    writer_u64(w, s->sum_max);
    for (size_t i = 0; i < c->functions.len; i++) {
        writer_u32(w, c->functions.at[i].native.ident);
        writer_u32(w, c->functions.at[i].native.lineno_checksum);
        writer_u32(w, c->functions.at[i].native.cfg_checksum);
    }
}

bool da_write(struct writer *w, const struct counters *c, struct err *e)
{
    w->big_endian = false;
    writer_u32(w, DA_MAGIC);
    writer_u32(w, c->origin.family == ARCS_RFC ? c->origin.version : (uint32_t)BBG_VERSION);
    for (size_t i = 0; i < c->functions.len; i++)
        if (!da_write_function(w, c, &c->functions.at[i], e))
            return false;
    struct counters_summary object = da_summary_of(c, COUNTED_OBJECT_SUMMARY);
    struct counters_summary program = da_summary_of(c, COUNTED_PROGRAM_SUMMARY);
    da_write_gcda(w, c, &program);
    da_write_summary(w, BBG_OBJECT_SUMMARY, &object);
    da_write_summary(w, BBG_PROGRAM_SUMMARY, &program);
    return true;
}
