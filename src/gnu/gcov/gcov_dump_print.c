/* The lines of gcov-dump. A line starts with the file's name, the offset if asked for, and two
 * spaces for each level of the record's tag (01xx is below 01). */
#include "gnu/gcov/gcov_dump.h"

#include "coverage/format/arcfile.h"
#include "coverage/format/gcov.h"
#include "gnu/gcov/gcov_dump_rfc.h"

#include <inttypes.h>

enum { VALUES_INDENT = 14, ARCS_A_LINE = 4, COUNTS_A_LINE = 8, MOST_ZEROS = 1 << 24 };

struct printing {
    struct gcov_dump *d;
    struct out *out;
    const char *name;
    struct arcfile file;
    int depth;
};

static void dump_start_line(struct printing *p, size_t offset)
{
    out_printf(p->out, "%s:", p->name);
    if (p->d->has_positions)
        out_printf(p->out, "%5zu:", offset);
    out_spaces(p->out, (size_t)p->depth * 2);
}

static void dump_start_values(struct printing *p, size_t offset)
{
    out_char(p->out, '\n');
    dump_start_line(p, offset);
    out_spaces(p->out, VALUES_INDENT);
}

static const char *dump_shown(const char *text)
{
    return text ? text : "NULL";
}

static void print_function(struct printing *p, struct arcfile_record *r, bool is_notes)
{
    const struct gcov_dialect *dialect = p->file.dialect;
    bool has_bytes = p->file.origin.has_byte_lengths;
    struct cursor *in = &r->in;
    if (!r->length) {
        out_str(p->out, " placeholder");
        return;
    }
    out_printf(p->out, " ident=%" PRIu32, cursor_u32(in));
    out_printf(p->out, ", lineno_checksum=0x%08" PRIx32, cursor_u32(in));
    if (dialect->has_cfg_checksum)
        out_printf(p->out, ", cfg_checksum=0x%08" PRIx32, cursor_u32(in));
    if (!is_notes)
        return;
    out_printf(p->out, ", `%s'", dump_shown(arcfile_text(in, has_bytes)));
    bool is_artificial = dialect->has_columns && cursor_u32(in);
    out_printf(p->out, " %s", dump_shown(arcfile_text(in, has_bytes)));
    out_printf(p->out, ":%" PRIu32, cursor_u32(in));
    if (dialect->has_columns) {
        out_printf(p->out, ":%" PRIu32, cursor_u32(in));
        out_printf(p->out, dialect->has_directory ? "-%" PRIu32 : ":%" PRIu32, cursor_u32(in));
    }
    if (dialect->has_directory)
        out_printf(p->out, ":%" PRIu32, cursor_u32(in));
    if (is_artificial)
        out_str(p->out, ", artificial");
}

static void print_blocks(struct printing *p, struct arcfile_record *r)
{
    struct cursor *in = &r->in;
    if (p->file.dialect->has_columns) {
        out_printf(p->out, " %" PRIu32 " blocks", cursor_u32(in));
        return;
    }
    size_t blocks = cursor_left(in) / 4;
    out_printf(p->out, " %zu blocks", blocks);
    for (size_t i = 0; i < blocks && p->d->is_long; i++) {
        if (!(i & 7)) {
            dump_start_values(p, cursor_offset(in));
            out_printf(p->out, "%2zu:", i);
        }
        out_printf(p->out, " %04" PRIx32, cursor_u32(in));
    }
}

static void print_flags(struct out *out, uint32_t flags)
{
    static const char *const NAMES[] = {"tree", "fake", "fall"};
    const char *separator = "(";
    out_printf(out, ":%04" PRIx32, flags);
    for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (flags & 1u << i) {
            out_printf(out, "%s%s", separator, NAMES[i]);
            separator = ",";
        }
    if (flags) /* even when none of them has a name: gcc 16 prints "0008)" */
        out_char(out, ')');
}

static void print_arcs(struct printing *p, struct arcfile_record *r)
{
    struct cursor *in = &r->in;
    uint32_t block = cursor_u32(in);
    size_t arcs = cursor_left(in) / 8;
    out_printf(p->out, " %zu arcs", arcs);
    for (size_t i = 0; i < arcs && p->d->is_long; i++) {
        if (!(i % ARCS_A_LINE)) {
            dump_start_values(p, cursor_offset(in));
            out_printf(p->out, "block %" PRIu32 ":", block);
        }
        out_printf(p->out, " %" PRIu32, cursor_u32(in));
        print_flags(p->out, cursor_u32(in));
    }
}

static void print_lines(struct printing *p, struct arcfile_record *r)
{
    struct cursor *in = &r->in;
    uint32_t block = cursor_u32(in);
    const char *separator = NULL;
    while (p->d->is_long && !in->failed) {
        size_t offset = cursor_offset(in);
        uint32_t line = cursor_u32(in);
        const char *file = line ? NULL : arcfile_text(in, p->file.origin.has_byte_lengths);
        if (!line && !file)
            break;
        if (file || !separator) {
            dump_start_values(p, offset);
            out_printf(p->out, "block %" PRIu32 ":", block);
            separator = "";
        }
        if (file)
            out_printf(p->out, "`%s'", file);
        else
            out_printf(p->out, "%s%" PRIu32, separator, line);
        separator = file ? ":" : ", ";
    }
}

static void print_conditions(struct printing *p, struct arcfile_record *r)
{
    struct cursor *in = &r->in;
    size_t conditions = cursor_left(in) / 8;
    out_printf(p->out, " %zu conditions", conditions);
    for (size_t i = 0; i < conditions && p->d->is_long; i++) {
        dump_start_values(p, cursor_offset(in));
        out_printf(p->out, "block %" PRIu32 ":", cursor_u32(in));
        out_printf(p->out, " %" PRIu32, cursor_u32(in));
    }
}

/* gcov-dump's own names: slot 9 of gcc 15 and 16 is taken for "ior". */
static const char *dump_kind_label(enum counter_kind kind)
{
    return kind == KIND_PATHS           ? "ior"
           : kind == KIND_INDIRECT_TOPN ? "indirect_call"
                                        : counter_kind_name(kind);
}

static void print_counters(struct printing *p, struct arcfile_record *r, enum counter_kind kind)
{
    struct cursor *in = &r->in;
    size_t counts = r->zeros ? r->zeros : cursor_left(in) / 8;
    bool is_raw = p->d->is_raw;
    out_printf(p->out, " %s %zu counts%s", dump_kind_label(kind), counts,
               r->zeros ? " (all zero)" : "");
    if (r->zeros > MOST_ZEROS) /* no function has so many: the length is damaged */
        return;
    for (size_t i = 0; i < counts && p->d->is_long; i++) {
        if (!is_raw && !(i % COUNTS_A_LINE)) {
            dump_start_values(p, cursor_offset(in));
            out_printf(p->out, "%2zu: ", i);
        } else if (is_raw && i == 0) {
            out_str(p->out, ": ");
        }
        out_printf(p->out, "%" PRId64 " ", r->zeros ? 0 : (int64_t)arcfile_u64(in));
    }
}

static void print_histogram(struct printing *p, struct cursor *in)
{
    uint32_t used[GCOV_HISTOGRAM_WORDS];
    dump_start_values(p, cursor_offset(in));
    out_str(p->out, "counter histogram:");
    for (unsigned i = 0; i < GCOV_HISTOGRAM_WORDS; i++)
        used[i] = cursor_u32(in);
    for (unsigned i = 0; i < GCOV_HISTOGRAM_WORDS * 32 && !in->failed; i++) {
        if (!(used[i / 32] & UINT32_C(1) << i % 32))
            continue;
        dump_start_values(p, cursor_offset(in));
        out_printf(p->out, "%2u: num counts=%" PRIu32, i, cursor_u32(in));
        out_printf(p->out, ", min counter=%" PRId64, (int64_t)arcfile_u64(in));
        out_printf(p->out, ", cum_counter=%" PRId64, (int64_t)arcfile_u64(in));
    }
}

static void print_summary(struct printing *p, struct arcfile_record *r)
{
    struct cursor *in = &r->in;
    if (p->file.dialect->summary == GCOV_SUMMARY_OBJECT && r->tag == GCOV_TAG_OBJECT_SUMMARY) {
        out_printf(p->out, " runs=%" PRId32, (int32_t)cursor_u32(in));
        out_printf(p->out, ", sum_max=%" PRId32, (int32_t)cursor_u32(in));
        return;
    }
    out_printf(p->out, " checksum=0x%08" PRIx32, cursor_u32(in));
    dump_start_values(p, cursor_offset(in));
    out_printf(p->out, "counts=%" PRIu32, cursor_u32(in));
    out_printf(p->out, ", runs=%" PRIu32, cursor_u32(in));
    if (cursor_left(in) < 24)
        return;
    out_printf(p->out, ", sum_all=%" PRId64, (int64_t)arcfile_u64(in));
    out_printf(p->out, ", run_max=%" PRId64, (int64_t)arcfile_u64(in));
    out_printf(p->out, ", sum_max=%" PRId64, (int64_t)arcfile_u64(in));
    if (cursor_left(in) >= 4 * GCOV_HISTOGRAM_WORDS)
        print_histogram(p, in);
}

static void print_paths(struct printing *p, struct arcfile_record *r)
{
    out_printf(p->out, " %" PRIu32 " paths", cursor_u32(&r->in));
}

static void print_contents(struct printing *p, struct arcfile_record *r, bool is_notes)
{
    enum counter_kind kind = arcfile_kind(p->file.dialect, r->tag);
    switch (r->tag) {
    case GCOV_TAG_FUNCTION: out_str(p->out, "FUNCTION"); return print_function(p, r, is_notes);
    case GCOV_TAG_BLOCKS: out_str(p->out, "BLOCKS"); return print_blocks(p, r);
    case GCOV_TAG_ARCS: out_str(p->out, "ARCS"); return print_arcs(p, r);
    case GCOV_TAG_LINES: out_str(p->out, "LINES"); return print_lines(p, r);
    case GCOV_TAG_CONDITIONS: out_str(p->out, "CONDITIONS"); return print_conditions(p, r);
    case GCOV_TAG_PATHS: out_str(p->out, "PATHS"); return print_paths(p, r);
    case GCOV_TAG_OBJECT_SUMMARY: out_str(p->out, "OBJECT_SUMMARY"); return print_summary(p, r);
    case GCOV_TAG_PROGRAM_SUMMARY: out_str(p->out, "PROGRAM_SUMMARY"); return print_summary(p, r);
    default: out_str(p->out, kind == KIND_UNKNOWN ? "UNKNOWN" : "COUNTERS");
    }
    if (kind != KIND_UNKNOWN)
        print_counters(p, r, kind);
}

static int dump_depth_of(uint32_t tag)
{
    int depth = 0;
    for (; tag; tag <<= 8)
        depth++;
    return depth;
}

static bool print_records(struct printing *p, bool is_notes, struct err *e)
{
    struct arcfile_record r = {0};
    enum arcfile_step step;
    while ((step = arcfile_next(&p->file, &r, e)) == ARCFILE_RECORD) {
        int32_t length = (int32_t)r.length;
        p->depth = dump_depth_of(r.tag);
        dump_start_line(p, r.offset);
        out_printf(p->out, "%08" PRIx32 ":%4" PRIu32 ":", r.tag,
                   r.zeros ? -(uint32_t)length : r.length);
        print_contents(p, &r, is_notes);
        out_char(p->out, '\n');
    }
    if (step == ARCFILE_END && !is_notes && r.offset == cursor_offset(&p->file.in))
        return err_at(e, &p->file.in, "the end mark is missing; the file was cut off here");
    return step == ARCFILE_END;
}

static void print_words(struct printing *p, bool is_notes)
{
    const struct arcs_origin *origin = &p->file.origin;
    bool is_big = origin->big_endian;
    const char *magic = is_notes ? (is_big ? "oncg" : "gcno") : (is_big ? "adcg" : "gcda");
    char version[4];
    for (int i = 0; i < 4; i++)
        version[i] = (char)(origin->version >> (24 - 8 * i));
    out_printf(p->out, "%s:%s:magic `%s':version `%.4s'%s\n", p->name, is_notes ? "note" : "data",
               magic, version, is_big ? " (swapped endianness)" : "");
    out_printf(p->out, "%s:stamp %" PRIu32 "\n", p->name, origin->stamp);
    if (p->file.dialect->has_byte_lengths && !p->file.origin.lacks_checksum)
        out_printf(p->out, "%s:checksum %" PRIu32 "\n", p->name, origin->checksum);
}

static bool print_header(struct printing *p, bool is_notes, struct err *e)
{
    struct cursor *in = &p->file.in;
    if (is_notes && p->file.dialect->has_directory) {
        const char *directory = arcfile_text(in, p->file.origin.has_byte_lengths);
        if (!in->failed)
            out_printf(p->out, "%s:cwd: %s\n", p->name, directory ? directory : "(null)");
    }
    if (is_notes && p->file.dialect->has_columns && !cursor_u32(in) && !in->failed)
        out_printf(p->out, "%s: has_unexecuted_block is not supported\n", p->name);
    return !in->failed || err_at(e, in, "the header of this gcno file is cut off");
}

bool gcov_dump_is_file(struct bytes in)
{
    return gcno_probe(in) || gcda_probe(in) || gcov_dump_is_rfc(in);
}

bool gcov_dump_print(struct gcov_dump *d, const char *name, struct bytes in, struct err *e)
{
    if (gcov_dump_is_rfc(in))
        return gcov_dump_print_rfc(d, name, in, e);
    struct printing p = {.d = d, .out = d->out, .name = name};
    bool is_notes = gcno_probe(in);
    if (!arcfile_open(&p.file, is_notes ? GCOV_MAGIC_NOTES : GCOV_MAGIC_COUNTERS, in, name, e))
        return false;
    print_words(&p, is_notes);
    return print_header(&p, is_notes, e) && print_records(&p, is_notes, e);
}
