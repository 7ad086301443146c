/* The lines of gcov-dump for bbg and da, which GNU's does not know, in the layout of the others. */
#include "gnu/gcov/gcov_dump_rfc.h"

#include "coverage/format/bbg.h"

#include <inttypes.h>

enum { VALUES_INDENT = 14, ARCS_A_LINE = 4, COUNTS_A_LINE = 8 };

struct rfc_dump {
    const struct gcov_dump *d;
    struct out *out;
    const char *name;
    int depth;
    uint32_t arc_records, line_records; /* of the function: the blocks that they are of */
};

static void rfc_start_line(struct rfc_dump *p, uint64_t offset)
{
    out_printf(p->out, "%s:", p->name);
    if (p->d->has_positions)
        out_printf(p->out, "%5" PRIu64 ":", offset);
    out_spaces(p->out, (size_t)p->depth * 2);
}

static void rfc_start_values(struct rfc_dump *p, uint64_t offset, uint32_t number)
{
    out_char(p->out, '\n');
    rfc_start_line(p, offset);
    out_spaces(p->out, VALUES_INDENT);
    out_printf(p->out, "%2" PRIu32 ":", number);
}

static void rfc_print_function(struct rfc_dump *p, struct cursor *in)
{
    const char *name = bbg_string(in);
    p->arc_records = p->line_records = 0;
    if (name)
        out_printf(p->out, " `%s', checksum=0x%08" PRIx32, name, cursor_u32(in));
}

static void rfc_print_blocks(struct rfc_dump *p, struct cursor *in)
{
    size_t blocks = cursor_left(in) / 4;
    out_printf(p->out, " %zu blocks", blocks);
    for (uint32_t i = 0; i < blocks && p->d->is_long; i++) {
        if (!(i % COUNTS_A_LINE))
            rfc_start_values(p, cursor_offset(in), i);
        out_printf(p->out, " %04" PRIx32, cursor_u32(in));
    }
}

static void rfc_print_arcs(struct rfc_dump *p, struct cursor *in)
{
    uint32_t block = p->arc_records++;
    size_t arcs = cursor_left(in) / 8;
    out_printf(p->out, " %zu arcs", arcs);
    for (size_t i = 0; i < arcs && p->d->is_long; i++) {
        if (!(i % ARCS_A_LINE))
            rfc_start_values(p, cursor_offset(in), block);
        uint32_t target = cursor_u32(in), flags = cursor_u32(in);
        out_printf(p->out, " %" PRIu32 ":%04" PRIx32, target, flags);
    }
}

static void rfc_print_lines(struct rfc_dump *p, struct cursor *in)
{
    uint32_t block = p->line_records++;
    const char *separator = " ";
    if (!p->d->is_long || !cursor_left(in))
        return;
    rfc_start_values(p, cursor_offset(in), block);
    while (cursor_left(in) && !in->failed) {
        uint32_t line = cursor_u32(in);
        const char *file = line ? NULL : bbg_string(in);
        if (line)
            out_printf(p->out, "%s%" PRIu32, separator, line);
        else if (file)
            out_printf(p->out, "%s`%s':", separator, file);
        separator = line ? ", " : "";
    }
}

static void rfc_print_counts(struct rfc_dump *p, struct cursor *in)
{
    size_t counts = cursor_left(in) / 8;
    out_printf(p->out, " %zu counts", counts);
    for (uint32_t i = 0; i < counts && p->d->is_long; i++) {
        if (!(i % COUNTS_A_LINE) && !p->d->is_raw)
            rfc_start_values(p, cursor_offset(in), i);
        out_printf(p->out, " %" PRIu64, cursor_u64(in));
    }
}

static void rfc_print_summary(struct rfc_dump *p, struct cursor *in)
{
    uint32_t counters = cursor_u32(in);
    uint64_t sum = cursor_u64(in), largest = cursor_u64(in);
    out_printf(p->out, " counters=%" PRIu32 ", sum=%" PRIu64 ", largest=%" PRIu64, counters, sum,
               largest);
}

static const struct rfc_record {
    const char *name;
    int depth;
    void (*print)(struct rfc_dump *p, struct cursor *in);
} RECORDS[] = {
    [BBG_FUNCTION] = {"FUNCTION", 1, rfc_print_function},
    [BBG_BLOCKS] = {"BLOCKS", 2, rfc_print_blocks},
    [BBG_ARCS] = {"ARCS", 2, rfc_print_arcs},
    [BBG_LINES] = {"LINES", 2, rfc_print_lines},
    [BBG_ARC_COUNTS] = {"ARC_COUNTS", 2, rfc_print_counts},
    [BBG_OBJECT_SUMMARY] = {"OBJECT_SUMMARY", 1, rfc_print_summary},
    [BBG_PROGRAM_SUMMARY] = {"PROGRAM_SUMMARY", 1, rfc_print_summary},
};

static bool rfc_print_record(struct rfc_dump *p, uint64_t offset, uint32_t tag, struct cursor *in,
                             struct err *e)
{
    bool is_known = tag >= BBG_FUNCTION && tag <= BBG_PROGRAM_SUMMARY;
    struct cursor start = *in;
    p->depth = is_known ? RECORDS[tag].depth : 1;
    rfc_start_line(p, offset);
    out_printf(p->out, "%08" PRIx32 ":%4zu:%s", tag, cursor_left(in),
               is_known          ? RECORDS[tag].name
               : tag == BBG_LLVM ? "LLVM"
                                 : "unknown");
    if (is_known)
        RECORDS[tag].print(p, in);
    out_char(p->out, '\n');
    return !in->failed || err_at(e, &start, "the record's contents do not fit its length");
}

bool gcov_dump_is_rfc(struct bytes in)
{
    return bbg_has_magic(in) || da_has_magic(in);
}

bool gcov_dump_print_rfc(const struct gcov_dump *d, const char *name, struct bytes in,
                         struct err *e)
{
    struct rfc_dump p = {.d = d, .out = d->out, .name = name};
    struct cursor at = cursor_over(in, name), record;
    struct arcs_origin origin = {0};
    bool is_notes = bbg_has_magic(in), ok = true;
    uint32_t tag;
    e->line[0] = '\0';
    while (ok && (cursor_left(&at) || !origin.version)) {
        if (!origin.version || (da_has_magic((struct bytes){at.at, cursor_left(&at)}))) {
            ok = bbg_open(&at, is_notes ? BBG_MAGIC : DA_MAGIC, &origin, e);
            if (ok)
                out_printf(p.out, "%s:%s:magic `%s':version `%s'\n", name,
                           is_notes ? "note" : "data", is_notes ? "gbbg" : "gcov",
                           arcs_version_text(&origin).text);
            continue;
        }
        uint64_t offset = cursor_offset(&at);
        ok = bbg_next(&at, &tag, &record, e) && rfc_print_record(&p, offset, tag, &record, e);
    }
    return ok;
}
