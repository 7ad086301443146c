/* monarc gcov-dump, or monarc started as gcov-dump: the records of gcno and gcda files, as gcov-
 * dump 12 prints them, and of the proposal's bbg and da, in a layout like it.
 *
 * A line starts with the file's name, the offset if requested (-p), and two spaces for each level
 * of the record's tag: 01000000 is a function, 01410000 below it. With -l, the contents follow, in
 * lines of their own:
 *
 *   a.gcno:    01410000:   2:BLOCKS 5 blocks
 *   a.gcno:    01430000:   5:ARCS 2 arcs
 *   a.gcno:                      block 0: 2:0005(tree,fall) 4:0003(tree,fake)
 *
 * Files of other versions are printed in their own layout, as their own gcov-dump does. A file
 * that breaks off is printed up to its last whole record, then said to be broken; GNU's goes on
 * with zeros (docs/compat.md). All reading is by the bounded cursor of a record: no count is
 * believed that the record's length does not have room for. */

#include "base/bytes.h"
#include "base/err.h"
#include "base/path.h"
#include "gnu/gnu_compat.h"
#include "output/out.h"
#include "base/file.h"
#include "command/command.h"
#include "coverage/format/arcfile.h"
#include "coverage/format/format.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the options say, and where output goes. */
struct gcov_dump {
    struct out *out, *complaints;
    bool is_long, has_positions, is_raw;
};

enum { VALUES_INDENT = 14, ARCS_A_LINE = 4, COUNTS_A_LINE = 8, MOST_ZEROS = 1 << 24 };

/* --- bbg and da ------------------------------------------------------------------------------ */

/* The lines of gcov-dump for bbg and da, which GNU's does not know, in the layout of the others. A
 * record has no number of its block: blocks follow each other, and are counted here. */
struct rfc_dump {
    const struct gcov_dump *d;
    struct out *out;
    const char *name;
    int depth;
    uint32_t arc_records, line_records; /* of the function: the blocks that they are of */
};

/* The name, the offset with -p, and two blanks for each level of the record. */
static void rfc_start_line(struct rfc_dump *p, uint64_t offset)
{
    out_printf(p->out, "%s:", p->name);
    if (p->d->has_positions)
        out_printf(p->out, "%5" PRIu64 ":", offset);
    out_spaces(p->out, (size_t)p->depth * 2);
}

/* `number` says which block, or which counter, the values begin with. */
static void rfc_start_values(struct rfc_dump *p, uint64_t offset, uint32_t number)
{
    out_char(p->out, '\n');
    rfc_start_line(p, offset);
    out_spaces(p->out, VALUES_INDENT);
    out_printf(p->out, "%2" PRIu32 ":", number);
}

/* Its blocks are counted from 0 again. */
static void rfc_print_function(struct rfc_dump *p, struct cursor *in)
{
    const char *name = bbg_string(in);
    p->arc_records = p->line_records = 0;
    if (name)
        out_printf(p->out, " `%s', checksum=0x%08" PRIx32, name, cursor_u32(in));
}

/* A word of flags for each block. */
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

/* Target and flags, two words an arc. */
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

/* As in gcno: a line number, or 0 and the name of the file that the following ones are of. */
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

/* 64-bit counts; with -r on one line. */
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

/* The number of counters, their sum, and the largest. */
static void rfc_print_summary(struct rfc_dump *p, struct cursor *in)
{
    uint32_t counters = cursor_u32(in);
    uint64_t sum = cursor_u64(in), largest = cursor_u64(in);
    out_printf(p->out, " counters=%" PRIu32 ", sum=%" PRIu64 ", largest=%" PRIu64, counters, sum,
               largest);
}

/* By tag: the record's name, its level, and who prints its contents. */
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

/* Records of unknown tags have a line, but no contents. */
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
               : tag == BBG_GCNO ? "GCNO"
               : tag == BBG_GCDA ? "GCDA"
                                 : "unknown");
    if (is_known)
        RECORDS[tag].print(p, in);
    out_char(p->out, '\n');
    return !in->failed || err_at(e, &start, "the record's contents do not fit its length");
}

static bool gcov_dump_is_rfc(struct bytes in)
{
    return bbg_has_magic(in) || da_has_magic(in);
}

/* A da may hold several runs, each with a header of its own: a header between records is printed as
 * one. */
static bool gcov_dump_print_rfc(const struct gcov_dump *d, const char *name, struct bytes in,
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

/* --- gcno and gcda --------------------------------------------------------------------------- */

/* The lines of gcov-dump. A line starts with the file's name, the offset if requested, and two
 * spaces for each level of the record's tag (01xx is below 01). */
struct printing {
    struct gcov_dump *d;
    struct out *out;
    const char *name;
    struct arcfile file;
    int depth;
};

/* Offsets are in bytes, in five columns. */
static void dump_start_line(struct printing *p, size_t offset)
{
    out_printf(p->out, "%s:", p->name);
    if (p->d->has_positions)
        out_printf(p->out, "%5zu:", offset);
    out_spaces(p->out, (size_t)p->depth * 2);
}

/* Contents begin on a new line, after a fixed indent. */
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

/* The record of a function grew from version to version: two checksums since 4.7, columns and
 * artificial functions since 8, an end column since 9. */
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

/* Flags of each block up to gcc 7, their number alone since. */
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

/* Bits of GCOV_ARC_*: on the tree, fake, fall-through (gcc/gcov-io.h). */
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

/* From one block: target and flags of each. */
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

/* Pairs of a block's lines: a line number, or 0 and a file that the following numbers are of; 0
 * and no file end it. */
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

/* Pairs of a block and its number of terms (gcc 14). */
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

/* A negative length stands for counters that are all 0. */
static void print_counters(struct printing *p, struct arcfile_record *r, enum counter_kind kind)
{
    struct cursor *in = &r->in;
    size_t counts = r->zeros ? r->zeros : cursor_left(in) / 8;
    bool is_raw = p->d->is_raw;
    /* gcov-dump's own names: slot 9 of gcc 15 and 16 is taken for "ior". */
    out_printf(p->out, " %s %zu counts%s",
               kind == KIND_PATHS           ? "ior"
               : kind == KIND_INDIRECT_TOPN ? "indirect_call"
                                            : counter_kind_name(kind),
               counts, r->zeros ? " (all zero)" : "");
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

/* Of the object since gcc 9: runs and a maximum. Before, of a program, with a histogram since 4.8.
 */
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
    if (cursor_left(in) >= 4 * GCOV_HISTOGRAM_WORDS) {
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
}

static void print_paths(struct printing *p, struct arcfile_record *r)
{
    out_printf(p->out, " %" PRIu32 " paths", cursor_u32(&r->in));
}

/* By tag; a counter's tag says which kind it is, by the dialect of the file. */
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

/* Notes since gcc 9 say where the compiler ran, since 8 whether blocks that did not run are
 * marked. */
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

static bool gcov_dump_is_file(struct bytes in)
{
    return gcno_probe(in) || gcda_probe(in) || gcov_dump_is_rfc(in);
}

/* Two lines of heading (magic and version, stamp), then a line for each record. What was printed
 * before an error stays. */
static bool gcov_dump_print(struct gcov_dump *d, const char *name, struct bytes in, struct err *e)
{
    if (gcov_dump_is_rfc(in))
        return gcov_dump_print_rfc(d, name, in, e);
    struct printing p = {.d = d, .out = d->out, .name = name};
    bool is_notes = gcno_probe(in);
    if (!arcfile_open(&p.file, is_notes ? GCOV_MAGIC_NOTES : GCOV_MAGIC_COUNTERS, in, name, e))
        return false;
    const struct arcs_origin *origin = &p.file.origin;
    bool is_big = origin->big_endian;
    const char *magic = is_notes ? (is_big ? "oncg" : "gcno") : (is_big ? "adcg" : "gcda");
    char version[4];
    for (int i = 0; i < 4; i++)
        version[i] = (char)(origin->version >> (24 - 8 * i));
    out_printf(p.out, "%s:%s:magic `%s':version `%.4s'%s\n", p.name, is_notes ? "note" : "data",
               magic, version, is_big ? " (swapped endianness)" : "");
    out_printf(p.out, "%s:stamp %" PRIu32 "\n", p.name, origin->stamp);
    if (p.file.dialect->has_byte_lengths && !p.file.origin.lacks_checksum)
        out_printf(p.out, "%s:checksum %" PRIu32 "\n", p.name, origin->checksum);
    if (!print_header(&p, is_notes, e))
        return false;
    struct arcfile_record r = {0};
    enum arcfile_step step;
    while ((step = arcfile_next(&p.file, &r, e)) == ARCFILE_RECORD) {
        int32_t length = (int32_t)r.length;
        /* How many bytes of the tag are in use, from the left. */
        p.depth = 0;
        for (uint32_t tag = r.tag; tag; tag <<= 8)
            p.depth++;
        dump_start_line(&p, r.offset);
        out_printf(p.out, "%08" PRIx32 ":%4" PRIu32 ":", r.tag,
                   r.zeros ? -(uint32_t)length : r.length);
        print_contents(&p, &r, is_notes);
        out_char(p.out, '\n');
    }
    if (step == ARCFILE_END && !is_notes && r.offset == cursor_offset(&p.file.in))
        return err_at(e, &p.file.in, "the end mark is missing; the file was cut off here");
    return step == ARCFILE_END;
}

/* --- the command ----------------------------------------------------------------------------- */

/* For --help and completions; getopt parses by LONG, as GNU's does. */
static const struct option_row OPTIONS[] = {
    {'l', "long", NULL, "dump the contents of records too"},
    {'p', "positions", NULL, "print the offset of each record"},
    {'r', "raw", NULL, "print the counters of a record on one line"},
    {'v', "version", NULL, "print the version"},
};

static const struct option LONG[] = {
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'},
    {"long", no_argument, NULL, 'l'}, {"positions", no_argument, NULL, 'p'},
    {"raw", no_argument, NULL, 'r'},  {0}};

static const char VERSION[] = "gcov-dump (monarc) %s\n" STANDS_IN NO_WARRANTY "\n";

/* Unknown letters are complained about and passed over, as by GNU's. -1: go on. */
static int parse(int argc, char **argv, const struct command *self, struct gcov_dump *d)
{
    struct gnu_version version = {0};
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "hlprvw", LONG, NULL)) != -1;) {
        switch (code) {
        case 'h': command_help(self, d->out); return EXIT_FINE;
        case 'v':
            lookalike_version(&version, GNU_GCC, "gcov-dump");
            out_printf(d->out, VERSION, version.text);
            return EXIT_FINE;
        case 'l': d->is_long = true; break;
        case 'p': d->has_positions = true; break;
        case 'r': d->is_raw = true; break;
        default: out_printf(d->complaints, "unknown flag `%c'\n", code);
        }
    }
    return -1;
}

/* One file. What is not there, or no such file, is said, and is no failure, as with GNU's. */
static bool dump(struct gcov_dump *d, const char *path, struct file_buffer *b)
{
    struct err e = {0};
    if (access(path, R_OK) && !errno_is_trouble(errno)) {
        out_printf(d->complaints, "%s:cannot open\n", path);
        return true;
    }
    b->len = 0;
    bool is_folder = path_is_folder(path);
    if (!is_folder && !file_read_if(path, gcov_dump_is_file, b, &e)) {
        out_printf(d->complaints, "%s\n", e.line);
        return false;
    }
    if (is_folder || !gcov_dump_is_file(file_bytes(b))) {
        out_printf(d->out, "%s:not a gcov file\n", path);
        return true;
    }
    if (gcov_dump_print(d, path, file_bytes(b), &e))
        return true;
    out_printf(d->complaints, "%s\n", e.line);
    return false;
}

/* Every file is printed, whatever was wrong with those before it. */
static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct out complaints;
    struct file_buffer b = {0};
    out_init(&complaints, STDERR_FILENO);
    struct gcov_dump d = {.out = out, .complaints = &complaints};
    int status = parse(argc, argv, self, &d);
    if (status < 0) {
        status = EXIT_FINE;
        for (int i = optind; i < argc; i++)
            if (!dump(&d, argv[i], &b))
                status = EXIT_DIFFERS;
    }
    file_buffer_deinit(&b);
    if (!out_finish(&complaints, "standard error", e))
        status = EXIT_BAD;
    out_deinit(&complaints);
    return status;
}

const struct command command_gcov_dump = {
    .name = "gcov-dump",
    .synopsis = "[OPTION...] FILE...",
    .summary = "Print the records of gcno and gcda files, as gcov-dump 12 does",
    .is_lookalike = true,
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
