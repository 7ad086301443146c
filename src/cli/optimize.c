/* monarc optimize: what was measured, as the file that a compiler, a linker or BOLT optimises with.
 *
 * Linkers get an order of functions, compilers a profile by source position or counters, BOLT the
 * samples by function and offset. With --build and --run the last step is taken as well. The
 * command is at the end: one table says for each target whose file it is.
 *
 * The exit status is 0 if the file was written; samples without a place are no failure, as there
 * are always some. */
#include "cli/cli.h"

#include "base/path.h"
#include "base/sort.h"
#include "profile/analysis/compare/significance.h"
#include "profile/report/report.h"
#include "session/imported.h"
#include "session/recorded.h"
#include "session/source_profiles.h"
#include "session/use_counters.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Compilers take positions in sources, BOLT addresses, linkers names: what is read, and how far it
 * is mapped, follows from that. The order is that of --for's values. */
enum optimize_target {
    TARGET_NONE,
    TARGET_GCC,
    TARGET_CLANG,
    TARGET_BOLT,
    TARGET_GCDA,
    TARGET_LLD,
    TARGET_GOLD,
    TARGET_LD,
    TARGET_MOLD,
    TARGET_CALLS,
    TARGET_NAMES
};

/* `limit` is of the tables of --explain. Linkers are the last targets, from TARGET_LLD on; they
 * take `object` and `cluster_bytes`, of which 0 is the best of the sizes of a page, a huge page and
 * one between. */
struct optimize_request {
    struct view_options view;
    struct source_request source;
    enum optimize_target target;
    const char *output;
    uint64_t gcc, limit;
    const char *build, *flags, *run; /* the last step; NULL: the inputs are given */
    uint64_t repeat;
    const char *against; /* of --for gcda: the new build's notes */
    const char *object;
    uint64_t cluster_bytes;
    bool is_binary, explains;
};

/* ---- monarc optimize for linkers: the order of functions.
 *
 * An order is a layout (profile/analysis) of one object, written in the linker's words: of a
 * recording the executable unless another is named, else PROGRAM. Unlike profiles for compilers it
 * takes counted calls, so it opens a session of its own with the options that were read.
 *
 *     session -> graph, stacks -> layout, its gain -> the order's file, and the gain on standard
 *                                                     output
 *
 * Functions are named, not placed: what the linker does with an order is its own affair. */

/* By target, from TARGET_LLD on: the others are made elsewhere. */
static const enum layout_format FORMATS[] = {
    [TARGET_LLD] = LAYOUT_LLD,   [TARGET_GOLD] = LAYOUT_GOLD,   [TARGET_LD] = LAYOUT_LD,
    [TARGET_MOLD] = LAYOUT_MOLD, [TARGET_CALLS] = LAYOUT_CALLS, [TARGET_NAMES] = LAYOUT_NAMES,
};

/* Of a recording, the executable or the object that was named: by its path, or the part after the
 * last slash. Without a file there is no order: names and sizes of functions come from it. */
static bool order_find_object(const struct session *s, const struct optimize_request *r,
                              struct layout_rules *rules, struct err *e)
{
    const struct space *space = &s->recorded.space;
    if (!s->folder && r->object)
        return err_set(e, "--object is for recordings; name the shared object as PROGRAM instead");
    if (!s->folder) {
        rules->file = s->object;
        return true;
    }
    /* The first that fits: a path is whole or its last part, so that the path distinguishes two
     * libraries of one name. */
    for (uint32_t i = 0; i < space->len; i++) {
        const char *path = space_object_name(space, i);
        if (r->object ? strcmp(path, r->object) && strcmp(path_base_name(path), r->object)
                      : i != space->main)
            continue;
        rules->object = i;
        rules->file = space->objects[i].file;
        return rules->file || err_in(e, s->folder, "%s ran, but its file cannot be read", path);
    }
    return err_in(e, s->folder, "has no object '%s'", r->object ? r->object : "of the program");
}

/* What an output_writer is given: the order, what it brings, and whose words to write it in. */
struct order_written {
    const struct layout *layout;
    const struct layout_gain *gain;
    enum layout_format format;
};

/* An output_writer. */
static bool order_write(void *context, struct out *out, struct err *e)
{
    const struct order_written *w = context;
    (void)e;
    layout_file(out, w->layout, w->gain, w->format);
    return true;
}

/* With -o the order goes to the file, and standard output says what it should bring; without,
 * the order is standard output, and what it brings stands in its comments. */
static bool order_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct optimize_request *r = request;
    enum layout_format format = FORMATS[r->target];
    struct layout order;
    struct layout_gain gain = {0};
    struct layout_rules rules = {.cluster_bytes = r->cluster_bytes};
    if (!order_find_object(s, r, &rules, e))
        return false;
    rules.stacks = s->folder ? &s->recorded.stacks : NULL;
    /* A profile has counted calls of its own; only a recording may lack them. */
    layout_make(&order, &gain, &s->functions, &s->graph, &rules, &s->arena);
    if (!s->folder)
        layout_gain_others(&gain, &order, &s->summary.others, &s->arena);
    if (!order.len)
        return err_set(e, "%s: no function that could be moved was sampled or called",
                       object_path(rules.file));
    if (format == LAYOUT_CALLS && !order.calls_len)
        return err_set(
            e, "%s: lld's ordering needs calls between functions, and this profile has none",
            object_path(rules.file));
    /* JSON is the report itself: without a file it takes the order's place on standard output. */
    bool has_file = r->output && strcmp(r->output, "-");
    struct order_written written = {&order, &gain, format};
    if ((has_file || !r->view.print.format) &&
        !(session_is_read(s, e) && output_to(r->output, order_write, &written, out, e)))
        return false;
    struct report_input in = {.names = &s->names,
                              .summary = &s->summary,
                              .layout = &order,
                              .gain = &gain,
                              .layout_path = r->output};
    if (has_file || r->view.print.format)
        print_report(REPORT_LAYOUT, &in, &r->view.print, out);
    return true;
}

/* Pieces (.cold, .part) are functions of their own here: the linker places them apart. A recording
 * knows which program ran, so that one beside it, which other targets take, has no use. */
static int optimize_order(struct optimize_request *r, const struct command *self,
                          struct operands *operands, struct out *out, struct err *e)
{
    struct operand_mix mix = operand_mix_of(operands->at, operands->len);
    bool has_recording = false;
    for (size_t i = 0; i < operands->len; i++) /* folders may be of counters */
        has_recording |=
            is_recording(operands->at[i]) && !operand_is_of_coverage(&mix, operands->at[i]);
    if (has_recording && is_program(operands->at[0]))
        *operands = (struct operands){operands->at + 1, operands->len - 1};
    struct session_options *o = &r->view.session;
    o->takes_counters = o->wants_files = o->keeps_pieces = true;
    o->others = OTHERS_SELF;
    struct view_job job = {r, &r->view, order_report, .output = &r->output};
    return view_show(self, operands, &job, out, e);
}

/* ---- monarc optimize: the profile for a compiler, by source position (session/source_profiles.h)
 * or by counter, or for BOLT, by function and offset; and how the samples were used.
 *
 *     prog.afdo: AutoFDO profile, version 2            what was written, and its version
 *     prog was compiled by GNU C17 12.2.0 ...          from which that follows
 *     functions: 4, inlined copies: 2, places: 10      how much the compiler gets
 *     98.35 % of all samples, 100.00 % of its own      how much of the time that is about
 *         1.65 %  in other objects                     and the rest, by reason
 *     next: gcc -O2 -g -fauto-profile=prog.afdo
 *
 * A file is written only when it is complete.
 *
 * The use of the samples is reported on standard output, in a few lines, or with --explain in
 * tables; with -o - the profile is standard output, and nothing else is said. */

/* ---- writing */

/* What output_to()'s writers are given. */
struct optimize_written {
    const struct optimize_request *request;
    const struct source_inputs *inputs;
    uint32_t version;  /* of AutoFDO */
    uint64_t left_out; /* positions that the format has no room for */
};

/* An output_writer, of both compilers. The bytes are made whole first: a name that text cannot hold
 * is found before anything is written. */
static bool write_source_profile(void *context, struct out *out, struct err *e)
{
    struct optimize_written *w = context;
    struct writer bytes = {0};
    const struct source_profile *p = &w->inputs->profile;
    bool ok = true;
    if (w->request->target == TARGET_GCC)
        ok = afdo_write(&bytes, p, w->version, &w->left_out, e);
    else if (w->request->is_binary)
        llvm_binary_write(&bytes, p);
    else
        ok = llvm_text_write(&bytes, p, e);
    /* Only a whole profile goes out, never a part of one. */
    if (ok)
        out_bytes(out, (const char *)bytes.out.at, bytes.out.len);
    writer_deinit(&bytes);
    return ok;
}

/* ---- BOLT
 *
 * What BOLT takes: samples by function and offset, or, where the CPU noted branches, these by
 * address.
 *
 *     no_lbr cpu                     fdata: llvm-bolt -data=FILE
 *     1 work 23 7                    1 (a name follows), function, offset, samples
 *
 *     B 401156 40114e 950 12         pre-aggregated: perf2bolt --pa -p FILE makes fdata of it;
 *     F 40114e 401156 949            from, to, count, wrongly expected; straight from, to, count
 *     B X:0 401130 1 0               from elsewhere: a library, the kernel
 *
 * Only BOLT itself knows its blocks, by which fdata describes code that ran straight through; so
 * branches are left to perf2bolt, which reads no program of others for it. Equal lines are added
 * up, and come in the order of addresses. Sorting is what it costs.
 *
 * Sources: bolt/include/bolt/Profile/DataAggregator.h and DataReader.h of LLVM. */

/* BOLT knows a static function by its name and which of that name it is, counted by address. */
static const uint32_t *number_statics(const struct functions *f, struct arena *a)
{
    uint32_t *number = ARENA_NEW(a, uint32_t, f->len + 1u);
    /* Counters by the number of the name, 0 at first. Functions come by address, as BOLT counts. */
    uint32_t *of_name = ARENA_NEW(a, uint32_t, f->len + 1u);
    struct intern names = {0};
    for (uint32_t i = 0; i < f->len; i++)
        if (f->at[i].is_static)
            number[i] = ++of_name[intern_kept(&names, f->at[i].name, strlen(f->at[i].name))];
    intern_deinit(&names);
    return number;
}

/* Samples without branches, hits of one address as one line.
 *
 *     no_lbr cpu
 *     1 work 23 7          function, offset, samples
 *     1 often/2 0 4        the second static function of that name
 *
 * A linker script or --emit-relocs is not needed to read it, but BOLT moves functions only with the
 * latter. */
static void write_samples(const struct source_inputs *s, struct out *out)
{
    const struct functions *f = &s->functions;
    const struct code_measured *m = &s->measured;
    struct arena scratch = {0};
    const uint32_t *number = number_statics(f, &scratch);
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, m->hits.len + 1);
    /* Sorted by address, so that all hits of one place are neighbours and become one line. */
    for (uint32_t i = 0; i < m->hits.len; i++)
        order[i] = (struct keyed){m->hits.at[i].address, i};
    sort_keyed(order, m->hits.len);
    out_str(out, "no_lbr cpu\n");
    for (size_t i = 0, end; i < m->hits.len; i = end) {
        double sum = 0;
        for (end = i; end < m->hits.len && order[end].key == order[i].key; end++)
            sum += m->hits.at[order[end].item].weight;
        /* Parts of samples, of spread bins, are summed up first and rounded once. */
        uint32_t function = functions_find(f, order[i].key);
        /* Names of ours, for code without a symbol, mean nothing to BOLT. */
        uint64_t samples = (uint64_t)llround(sum);
        if (function == NO_FUNCTION || !samples || f->at[function].name[0] == '[')
            continue;
        out_printf(out, "1 %s", f->at[function].name);
        if (number[function])
            out_printf(out, "/%" PRIu32, number[function]);
        /* The offset is hexadecimal, the samples are decimal: so BOLT reads them. */
        out_printf(out, " %" PRIx64 " %" PRIu64 "\n", order[i].key - f->at[function].start,
                   samples);
    }
    arena_deinit(&scratch);
}

struct bolt_line {
    uint64_t from, to, count, missed;
};

static int by_bolt_line(const void *left, const void *right)
{
    const struct bolt_line *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Sorts, and adds up equal ones. */
static size_t sum_lines(struct bolt_line *at, size_t len)
{
    size_t sums = 0;
    qsort(at, len, sizeof *at, by_bolt_line);
    for (size_t i = 0; i < len; i++)
        if (sums && !by_bolt_line(&at[sums - 1], &at[i])) {
            at[sums - 1].count = add_saturating(at[sums - 1].count, at[i].count);
            at[sums - 1].missed = add_saturating(at[sums - 1].missed, at[i].missed);
        } else {
            at[sums++] = at[i];
        }
    return sums;
}

static void bolt_place(struct out *out, uint64_t address)
{
    if (address)
        out_printf(out, " %" PRIx64, address);
    else
        out_str(out, " X:0");
}

/* Addresses are as linked, which BOLT takes as they are. */
static void write_branches(const struct source_inputs *s, struct out *out)
{
    struct arena scratch = {0};
    size_t all = s->measured.branches.len, len = 0;
    struct bolt_line *lines = ARENA_NEW(&scratch, struct bolt_line, all + 1);
    for (size_t i = 0; i < all; i++) {
        const struct code_branch *b = &s->measured.branches.at[i];
        if (!b->is_stretch)
            lines[len++] = (struct bolt_line){b->from, b->to, b->count, b->missed};
    }
    len = sum_lines(lines, len);
    for (size_t i = 0; i < len; i++) {
        out_char(out, 'B');
        bolt_place(out, lines[i].from);
        bolt_place(out, lines[i].to);
        out_printf(out, " %" PRIu64 " %" PRIu64 "\n", lines[i].count, lines[i].missed);
    }
    len = 0;
    for (size_t i = 0; i < all; i++) {
        const struct code_branch *b = &s->measured.branches.at[i];
        if (b->end)
            lines[len++] = (struct bolt_line){b->to, b->end, b->count, 0};
    }
    len = sum_lines(lines, len);
    for (size_t i = 0; i < len; i++)
        out_printf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", lines[i].from, lines[i].to,
                   lines[i].count);
    arena_deinit(&scratch);
}

/* An output_writer, of a struct source_inputs. */
static bool write_bolt(void *context, struct out *out, struct err *e)
{
    const struct source_inputs *s = context;
    (void)e;
    if (s->measured.branches.len)
        write_branches(s, out);
    else
        write_samples(s, out);
    return true;
}

/* ---- the use of the samples */

/* Of nothing, nothing. */
static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Samples of PROGRAM that are not in the profile, by reason; and all others. */
static void explain_unmapped(const struct source_inputs *s, struct out *out)
{
    const struct source_mapping *m = &s->mapping;
    /* Shares are of all samples, so that they add up to 100 % with what is in the profile. */
    double all = m->samples + s->elsewhere;
    for (int i = 0; i < UNMAPPED_REASONS; i++)
        if (m->why[i] > 0)
            out_printf(out, "  %6.2f %%  %s\n", percent(m->why[i], all), unmapped_text(i));
    if (s->elsewhere > 0)
        out_printf(out, "  %6.2f %%  in other objects: libraries, the kernel\n",
                   percent(s->elsewhere, all));
    /* Of coverage: one such line is named, as a start for whoever looks into it. */
    if (s->lines.unplaced)
        out_printf(out,
                   "  %" PRIu64 " of %" PRIu64 " counted lines are in no function, or in one of "
                   "several of a template, such as %s:%" PRIu32 "\n",
                   s->lines.unplaced, s->lines.lines, s->lines.file, s->lines.line);
    if (s->passed_over)
        out_printf(out, "  %s is passed over: %s has no coverage mapping of clang\n",
                   s->passed_over, s->program);
    /* All units are checked for it, so only if something is missing. */
    struct object_debug_gaps gaps = {.missing_units = 0};
    if (s->object && m->why[UNMAPPED_NO_DECLARATION] > 0)
        object_debug_gaps(s->object, &gaps);
    if (gaps.missing_units)
        out_printf(
            out,
            "  of %zu files of debug information that was split off, %zu are not there, such "
            "as %s\n",
            gaps.split_units, gaps.missing_units,
            gaps.first_missing ? gaps.first_missing : "one without a name");
    if (s->strangers)
        out_printf(out,
                   "  %" PRIu64
                   " branches or samples of fdata are in functions that %s does not have\n",
                   s->strangers, s->program);
    if (m->far_lines)
        out_printf(out,
                   "  %" PRIu64 " places are before the function's declaration or 65536 lines "
                   "after it; compilers look them up modulo 65536\n",
                   m->far_lines);
}

/* The most frequent reason, if it matters: half a percent of the function's samples. */
static const char *why_of(const struct mapped_function *f)
{
    int most = 0;
    for (int i = 1; i < UNMAPPED_REASONS; i++)
        most = f->why[i] > f->why[most] ? i : most;
    return f->why[most] > 0.005 * f->samples ? unmapped_text(most) : "";
}

/* Two tables, as far as the limit: functions by their symbols, of which the compiler got a part,
 * and lines, by the innermost function, with the count that it got. */
static void explain_text(const struct source_inputs *s, uint64_t limit, struct out *out)
{
    const struct source_mapping *m = &s->mapping;
    double all = m->samples + s->elsewhere;
    if (m->functions.len)
        out_str(out, "\n   share     used  function\n");
    for (size_t i = 0; i < m->functions.len && i < limit; i++) {
        const struct mapped_function *f = &m->functions.at[i];
        const char *why = why_of(f);
        out_printf(out, "%6.2f %%  %5.1f %%  ", percent(f->samples, all),
                   percent(f->mapped, f->samples));
        text_name(out, s->functions.at[f->function].name);
        if (*why)
            out_printf(out, "  (%s)", why);
        out_char(out, '\n');
    }
    if (m->lines.len)
        out_str(out, "\n   share        count  line\n");
    for (size_t i = 0; i < m->lines.len && i < limit; i++) {
        const struct mapped_line *l = &m->lines.at[i];
        out_printf(out, "%6.2f %%  %11" PRIu64 "  ", percent(l->samples, all), l->count);
        text_name(out, l->file);
        out_printf(out, ":%" PRIu32 "  ", l->line);
        text_name(out, l->function);
        out_char(out, '\n');
    }
}

/* What the file is given to: the user appends the file's name and the sources. */
static const char *compiler_options(const struct optimize_request *r, bool has_branches)
{
    return r->target == TARGET_GCC     ? "gcc -O2 -g -fauto-profile="
           : r->target == TARGET_CLANG ? "clang -O2 -g -fprofile-sample-use="
           : has_branches              ? "perf2bolt PROGRAM -o FDATA --pa -p "
                                       : "llvm-bolt PROGRAM -o NEW -reorder-blocks=ext-tsp "
                                         "-reorder-functions=cdsort -split-functions -data=";
}

/* All that were noted, the same ones as often. */
static uint64_t count_branches(const struct source_inputs *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->measured.branches.len; i++)
        sum = add_saturating(sum, s->measured.branches.at[i].count);
    return sum;
}

/* What is written, in one line; how much of the time it is about; how to use it. The lines that a
 * user acts on come first and last: nothing between them needs to be read if the share is high. */
static void optimize_text(const struct optimize_written *w, struct out *out)
{
    enum { TOO_FEW = 2000 }; /* with 880, zstd gained half of what it gained with 16,600 */
    const struct optimize_request *r = w->request;
    const struct source_inputs *s = w->inputs;
    const struct source_mapping *m = &s->mapping;
    struct source_summary sum;
    source_profile_summarize(&s->profile, &sum);
    /* What was written; with --explain alone, nothing was, and with --build nothing is for good. */
    bool is_written = r->output && !r->build;
    if (is_written && r->target == TARGET_GCC)
        out_printf(out, "%s: AutoFDO profile, version %" PRIu32 "\n", r->output, w->version);
    else if (is_written)
        out_printf(
            out, "%s: %s\n", r->output,
            r->target == TARGET_BOLT
                ? s->measured.branches.len ? "branches for perf2bolt, pre-aggregated"
                                           : "samples for BOLT, without branches"
                : source_formats[r->is_binary ? SOURCE_LLVM_BINARY : SOURCE_LLVM_TEXT].title);
    if (s->producer)
        out_printf(out, "%s was compiled by %s\n", s->program, s->producer);
    if (s->measured.branches.len)
        out_printf(out, "branches that were noted: %" PRIu64 "; counts are theirs\n",
                   count_branches(s));
    /* BOLT gets addresses, of which nothing can be without a place. */
    if (r->target == TARGET_BOLT) {
        out_printf(out, "%zu places\n",
                   s->measured.branches.len ? s->measured.branches.len : s->measured.hits.len);
    } else {
        out_printf(out,
                   "functions: %" PRIu64 ", inlined copies: %" PRIu64 ", places: %" PRIu64
                   ", targets of calls: %" PRIu64 "\n",
                   sum.functions, sum.instances - sum.functions, sum.counts, sum.targets);
        if (m->samples > 0)
            out_printf(out, "%.2f %% of all samples, %.2f %% of the program's own\n",
                       percent(m->mapped, m->samples + s->elsewhere),
                       percent(m->mapped, m->samples));
        /* What no sample hit is made small and slow. Branches and counters need no hint. */
        if (m->samples > 0 && m->samples < TOO_FEW && !s->measured.branches.len && !s->coverage_len)
            out_printf(out,
                       "only %.0f samples: code without a sample counts as cold; run longer, or "
                       "with 'monarc run -r 10000'\n",
                       m->samples);
        explain_unmapped(s, out);
        if (w->left_out)
            out_printf(out, "  %" PRIu64 " places are left out: the format has 16 bits for lines\n",
                       w->left_out);
    }
    if (r->explains)
        explain_text(s, r->limit, out);
    if (is_written)
        out_printf(out, "next: %s%s\n", compiler_options(r, s->measured.branches.len), r->output);
}

/* The same facts for programs (docs/schema/optimize.schema.json), and always the two tables: a
 * reader of JSON passes over what it does not want. */
static void optimize_json(const struct optimize_written *w, struct out *out)
{
    const struct source_inputs *s = w->inputs;
    const struct source_mapping *m = &s->mapping;
    struct source_summary sum;
    struct json j = {.out = out};
    source_profile_summarize(&s->profile, &sum);
    json_document_begin(&j, "optimize");
    json_pair_str(&j, "program", s->program);
    json_pair_str(&j, "compiler", s->producer);
    json_pair_str(&j, "output", w->request->output);
    json_pair_u64(&j, "afdo_version", w->version);
    json_pair_u64(&j, "functions", sum.functions);
    json_pair_u64(&j, "inlined", sum.instances - sum.functions);
    json_pair_u64(&j, "positions", sum.counts);
    json_pair_u64(&j, "targets", sum.targets);
    json_pair_u64(&j, "total_count", sum.total);
    json_pair_u64(&j, "branches", count_branches(s));
    json_pair_u64(&j, "branches_of_strangers", s->strangers);
    json_pair_u64(&j, "lines_without_function", s->lines.unplaced);
    json_pair_u64(&j, "lines_modulo_65536", m->far_lines);
    json_pair_str(&j, "passed_over", s->passed_over);
    json_pair_double(&j, "samples", m->samples);
    json_pair_double(&j, "samples_mapped", m->mapped);
    json_pair_double(&j, "samples_elsewhere", s->elsewhere);
    JSON_ITEMS(&j, "unmapped", i, UNMAPPED_REASONS) {
        if (m->why[i] <= 0)
            continue;
        json_begin(&j, '{');
        json_pair_str(&j, "why", unmapped_text(i));
        json_pair_double(&j, "samples", m->why[i]);
        json_end(&j);
    }
    /* By symbols, as the linker has them: clones stand for themselves here. */
    size_t limit = w->request->limit;
    JSON_ROWS(&j, "measured_functions", i, m->functions.len < limit ? m->functions.len : limit) {
        const struct mapped_function *f = &m->functions.at[i];
        const char *why = why_of(f);
        json_pair_str(&j, "name", s->functions.at[f->function].name);
        json_pair_double(&j, "samples", f->samples);
        json_pair_double(&j, "mapped", f->mapped);
        json_pair_str(&j, "why_not", *why ? why : NULL);
    }
    /* Files as debug information names them. */
    JSON_ROWS(&j, "measured_lines", i, m->lines.len < limit ? m->lines.len : limit) {
        const struct mapped_line *l = &m->lines.at[i];
        json_pair_str(&j, "file", l->file);
        json_pair_u64(&j, "line", l->line);
        json_pair_str(&j, "function", l->function);
        json_pair_double(&j, "samples", l->samples);
        json_pair_u64(&j, "count", l->count);
    }
    json_end(&j);
}

/* gcc's version is that of PROGRAM's compiler, unless an option names it: a file of another one
 * would be refused too late. */
static bool choose_version(const struct optimize_request *r, const struct source_inputs *s,
                           uint32_t *version, struct err *e)
{
    /* The option beats the program's own entry; a program of clang names no gcc. */
    uint32_t release = r->gcc ? (uint32_t)r->gcc : s->is_gcc ? s->release : 0;
    *version = afdo_version_of_gcc(release);
    if (*version)
        return true;
    return s->producer && !r->gcc
               ? err_set(e,
                         "%s was compiled by %s: say with --gcc RELEASE which gcc is to read the "
                         "profile",
                         s->program, s->producer)
               : err_set(
                     e, "which gcc is to read the profile is not known: say so with --gcc RELEASE");
}

/* The file first: if it cannot be written, nothing is said of it. With -o - the profile has
 * standard output for itself. */
static bool optimize_write(struct optimize_request *r, struct source_inputs *s, struct out *out,
                           struct err *e)
{
    struct optimize_written w = {.request = r, .inputs = s};
    /* Needed before anything is written: which gcc it is for. */
    bool is_standard = r->output && !strcmp(r->output, "-");
    if (r->target == TARGET_GCC && !choose_version(r, s, &w.version, e))
        return false;
    if (r->output &&
        !(r->target == TARGET_BOLT ? output_to(r->output, write_bolt, s, out, e)
                                   : output_to(r->output, write_source_profile, &w, out, e)))
        return false;
    if (is_standard)
        return true;
    if (r->view.print.format)
        optimize_json(&w, out);
    else
        optimize_text(&w, out);
    return true;
}

/* Reads r->source, writes the profile and reports on `out` how the samples were used. */
static bool optimize_profile(struct optimize_request *r, struct out *out, struct err *e)
{
    struct source_inputs s = {0};
    r->source.session = &r->view.session;
    r->source.target = r->target == TARGET_GCC ? COMPILER_GCC : COMPILER_LLVM;
    r->source.keeps_addresses = r->target == TARGET_BOLT;
    bool ok = source_inputs_read(&s, &r->source, e) && optimize_write(r, &s, out, e);
    source_inputs_deinit(&s);
    return ok;
}

/* ---- gcc, by counters
 *
 * Counters for gcc's -fprofile-use, --for gcda.
 *
 *     use: counters of 12 objects, 340 functions, 3 runs       what was written
 *     2 functions lost theirs, 1.61 % of all counts            what gcc will not know
 *       share  function
 *      1.61 %  work  (changed)  main.c:12
 *     also: use/drifted.afdo ...                              what of it a profile by line can say
 *     next: gcc -O2 -fprofile-use=use
 *
 * The first and the last line are what a user acts on. With --explain, functions that only moved
 * are listed as well: their counters are kept. */

static const char *state_text(enum use_state state)
{
    static const char *const TEXTS[] = {
        [USE_MOVED] = "moved", [USE_CHANGED] = "changed", [USE_GONE] = "gone"};
    return TEXTS[state];
}

/* Functions that are not as they were: those that lost counters and those that moved, which are the
 * last ones of the list, and which text has on request. */
static void counters_drift(struct facts *w, const struct use_counters *u,
                           const struct optimize_request *r)
{
    size_t rows = facts_rows(w, "drift");
    for (size_t i = 0; i < u->functions.len && (w->json || i < r->limit); i++) {
        const struct use_function *f = &u->functions.at[i];
        if (w->out && f->state == USE_MOVED && !r->explains)
            break;
        fact_text(w, i ? "" : "    share  function\n");
        facts_row(w, &rows);
        if (w->out)
            out_printf(w->out, "%7.2f %%  ", percent((double)f->count, (double)u->count));
        fact(w, "name", field_text(f->name), "*");
        fact(w, NULL, field_text(state_text(f->state)), "  (*)  ");
        fact(w, "file", field_text(f->source), "*");
        fact(w, "line", field_u64(f->line), ":*");
        fact(w, "state", field_text(state_text(f->state)), NULL);
        fact(w, "count", field_u64(f->count), NULL);
        if (f->new_line && f->new_line != f->line)
            fact(w, NULL, field_u64(f->new_line), ", now :*");
        fact_text(w, "\n");
    }
    if (w->json)
        facts_rows_end(w, 0, rows);
}

/* What there is comes first, then what is missing of it, and what to do last
 * (docs/schema/optimize_counters.schema.json). */
static void counters_facts(struct facts *w, const struct use_counters *u,
                           const struct optimize_request *r)
{
    uint64_t lost = u->changed + u->gone;
    if (w->json)
        json_document_begin(w->json, "optimize_counters");
    fact(w, "output", field_text(r->output), "*: ");
    fact(w, "objects", field_u64(u->written), "counters of * object~, ");
    fact(w, "functions", field_u64(u->kept), "* function~, ");
    fact(w, "runs", field_u64(u->runs), "* run~ with ");
    fact(w, "sum_max", field_u64(u->sum_max), "* as the sum of their largest counts\n");
    fact_nonzero(w, "objects_without_notes", u->unmatched,
                 u->unmatched == 1 ? "* object is left out: " : "* objects are left out: ");
    if (w->out && u->unmatched)
        out_printf(w->out, "%s has no notes of %s\n", r->against, u->unmatched_path);
    fact_nonzero(w, "functions_moved", u->moved,
                 u->moved == 1 ? "* function moved, and kept its counters\n"
                               : "* functions moved, and kept their counters\n");
    fact(w, "functions_changed", field_u64(u->changed), NULL);
    fact(w, "functions_gone", field_u64(u->gone), NULL);
    fact_nonzero(w, NULL, lost, lost == 1 ? "* function lost its" : "* functions lost their");
    if (lost)
        fact(w, NULL, field_double(percent((double)u->lost, (double)u->count)),
             " counters, *2 % of all counts\n");
    fact(w, "counts", field_u64(u->count), NULL);
    fact(w, "counts_lost", field_u64(u->lost), NULL);
    counters_drift(w, u, r);
    fact(w, "drifted", field_text(u->drifted), "also: *, by function and line; ");
    if (u->drifted)
        fact(w, NULL, field_u64(u->drifted_objects),
             "for the * object~ with such functions: -fauto-profile=FILE instead of "
             "-fprofile-use\n");
    if (w->json)
        json_end(w->json);
    else if (r->output && path_has_suffix(r->output, ".gcda"))
        fact_text(w, "next: gcc -O2 -fprofile-use, with the file next to the object\n");
    else
        fact(w, NULL, field_text(r->output), "next: gcc -O2 -fprofile-use=*\n");
}

/* Writes the counters, and reports; without an output it only reports what would be written. */
static bool optimize_counters(const struct optimize_request *r, struct out *out, struct err *e)
{
    struct use_counters u = {.objects = 0};
    const struct use_request request = {.inputs = r->source.inputs,
                                        .inputs_len = r->source.inputs_len,
                                        .against = r->against,
                                        .output = r->output,
                                        .gcc = (uint32_t)r->gcc,
                                        .is_forced = r->view.session.is_forced};
    if (r->source.program)
        return err_in(e, r->source.program, "is not needed: notes say whose counters they are");
    bool ok = use_counters_write(&u, &request, e);
    struct json j = {.out = out};
    bool is_json = r->view.print.format;
    if (ok)
        counters_facts(&(struct facts){is_json ? NULL : out, is_json ? &j : NULL}, &u, r);
    use_counters_deinit(&u);
    return ok;
}

/* ---- monarc optimize --build --run: the last step as well. Is the program faster with the
 * profile?
 *
 *     build, plain         COMMAND with {flags} = FLAGS -g              ─► PROGRAM, copied aside
 *     measure              monarc run PROGRAM ARGUMENTS                 ─► the profile
 *     build with it        {flags} = FLAGS -g -fauto-profile=PROFILE    ─► PROGRAM, copied aside
 *     compare              monarc run --compare, both in turn           ─► CPU time of each run
 *
 * The gain is the part of the plain build's CPU time that is saved, with the 95 % interval that
 * Welch's test gives to the difference of the means. Only if the interval is above zero are the
 * profile and the build with it kept; otherwise the plain build takes PROGRAM's place again, and a
 * profile that was there before stays.
 *
 * The build's command must compile everything again when options change, which make does not do by
 * itself. Copies, recordings and the new profile are in a folder beside the output, which is
 * removed in the end, whatever happens. Commands are run by /bin/sh; their output is not ours. */

extern const struct command command_run;

/* Of one call. Paths are the arena's. */
struct building {
    struct optimize_request *request;
    struct arena arena;
    const char *folder;        /* working folder */
    const char *program;       /* what the command builds: the first word of --run */
    const char *arguments;     /* the rest of --run, with the blank before it; or "" */
    const char *plain, *tuned; /* copies of it */
    const char *profile;       /* new one, absolute */
    struct out quiet;          /* what the commands within would say */
};

/* CPU time of the runs of one build. */
struct build_times {
    double mean, squares; /* seconds; sum of squared deviations */
    uint32_t runs;
};

/* The command with every {flags} replaced. Nothing is quoted: flags are words of the command, and a
 * path with blanks in it is not for compilers' options anyway. */
static const char *with_flags(struct building *b, const char *flags)
{
    static const char MARK[] = "{flags}";
    const char *command = "", *at = b->request->build;
    for (const char *found; (found = strstr(at, MARK)); at = found + strlen(MARK))
        command = arena_printf(&b->arena, "%s%.*s%s", command, (int)(found - at), at, flags);
    return arena_printf(&b->arena, "%s%s", command, at);
}

/* Builds, and copies what was built to `copy`. What the command has for standard output goes to
 * standard error: the former is the report's. */
static bool build(struct building *b, const char *flags, const char *copy, struct err *e)
{
    struct file_buffer bytes = {0};
    char *command = arena_printf(&b->arena, "exec 1>&2; %s", with_flags(b, flags));
    char *argv[] = {arena_printf(&b->arena, "sh"), arena_printf(&b->arena, "-c"), command, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ))
        return err_set(e, "the build cannot be started");
    /* A signal may interrupt the wait; the child is ours, so it can fail for no other reason. */
    while (waitpid(child, &status, 0) < 0)
        ; /* a signal that ends us ends the build, too: it is of our group */
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(e, "the build failed: %s", command + strlen("exec 1>&2; "));
    if (!is_program(b->program))
        return err_in(e, b->program,
                      "is not a program that --build made; --run begins with it, and scripts are "
                      "not followed");
    bool ok = file_read(b->program, &bytes, e) && file_replace(copy, file_bytes(&bytes), e);
    file_buffer_deinit(&bytes);
    return ok && (!chmod(copy, 0755) || err_set(e, "%s: cannot be made executable", copy));
}

/* One of our own commands, whose report is of no interest. It has put its own reason into *e,
 * unless what it ran failed, which it leaves to its caller. */
static bool run_monarc(struct building *b, const char *const *words, struct err *e)
{
    char *argv[16];
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = arena_copy(&b->arena, words[argc], strlen(words[argc]));
    argv[argc] = NULL;
    int status = command_run.run(&command_run, argc, argv, &b->quiet, e);
    return !status || e->line[0] != '\0' ? !status
                                         : err_set(e,
                                                   "%s ended with status %d: its runs must "
                                                   "succeed to be compared",
                                                   b->request->run, status);
}

/* By the shell, so that arguments are split as they would be there. The plain build is measured
 * where it was built: its debug information is in it. */
static bool measure(struct building *b, struct out *out, struct err *e)
{
    const char *recording = arena_printf(&b->arena, "%s/plain.monarc", b->folder);
    const char *output = b->request->output;
    const char *const words[] = {
        "run",
        "--no-report",
        "--rate=10000", /* samples are few for so many blocks; the comparison does without */
        "-o",
        recording,
        "sh",
        "-c",
        arena_printf(&b->arena, "exec %s%s >/dev/null", b->program, b->arguments),
        NULL};
    char *input = (char *)recording;
    if (!run_monarc(b, words, e))
        return false;
    b->request->source.program = b->program;
    b->request->source.inputs = &input;
    b->request->source.inputs_len = 1;
    b->request->output = b->profile;
    bool ok = optimize_profile(b->request, b->request->view.print.format ? &b->quiet : out, e);
    b->request->output = output;
    return ok;
}

/* The times of a series' runs: the kernel's counters of all its processes, which sampling does not
 * blur. Mean and squares are updated run by run (Welford), so that nothing is lost to rounding. */
static bool read_times(const struct building *b, const char *side, struct build_times *times,
                       struct err *e)
{
    struct arena scratch = {0};
    struct recording rec = {0};
    const char *path = arena_printf(&scratch, "%s/both-%s.monarc", b->folder, side);
    bool ok = recorded_read(path, &b->request->view.session.read, &rec, e);
    *times = (struct build_times){0};
    for (size_t i = 0; ok && i < rec.parts.len; i++) {
        double seconds = (double)rec.parts.at[i].cpu_ns / 1e9;
        double off = seconds - times->mean;
        times->mean += off / ++times->runs;
        times->squares += off * (seconds - times->mean);
    }
    if (ok && (times->runs < 2 || times->mean <= 0))
        ok = err_set(e, "%s: took no CPU time that could be compared", b->request->run);
    recording_deinit(&rec);
    arena_deinit(&scratch);
    return ok;
}

/* Runs both copies in turn. Welch: the variances of the two means add up, with as many degrees of
 * freedom as their shares allow. The gain and its margin are parts of the plain build's time. */
static bool compare(struct building *b, double *gain, double *margin, struct build_times *times,
                    struct err *e)
{
    const char *const words[] = {"run",
                                 "--no-report",
                                 "--warm-up",
                                 "--compare",
                                 arena_printf(&b->arena, "--repeat=%" PRIu64, b->request->repeat),
                                 "-o",
                                 arena_printf(&b->arena, "%s/both", b->folder),
                                 arena_printf(&b->arena, "%s%s", b->plain, b->arguments),
                                 arena_printf(&b->arena, "%s%s", b->tuned, b->arguments),
                                 NULL};
    if (!run_monarc(b, words, e) || !read_times(b, "old", &times[0], e) ||
        !read_times(b, "new", &times[1], e))
        return false;
    enum { PERMILLE_BESIDE = 25 }; /* of a 95 % interval, on each side */
    const struct build_times *plain = &times[0], *tuned = &times[1];
    /* Variances of the means: squares / (n - 1) is the variance of one run, and / n that of n. */
    double c = plain->squares / (plain->runs - 1) / plain->runs;
    double d = tuned->squares / (tuned->runs - 1) / tuned->runs;
    double freedom = (c + d) * (c + d) / (c * c / (plain->runs - 1) + d * d / (tuned->runs - 1));
    *gain = (plain->mean - tuned->mean) / plain->mean;
    *margin = c + d > 0
                  ? student_quantile(PERMILLE_BESIDE / 1000.0, freedom) * sqrt(c + d) / plain->mean
                  : 0;
    return true;
}

/* One sentence a decision needs: times, the gain, how sure it is, and what was done about it.
 * The interval above zero is what "faster" means here; below it, the profile did harm. */
static void tell(const struct building *b, double gain, double margin,
                 const struct build_times *times, struct out *out)
{
    bool is_kept = gain - margin > 0;
    const char *output = b->request->output;
    if (b->request->view.print.format) {
        struct json j = {.out = out};
        json_document_begin(&j, "optimize_build");
        json_pair_double(&j, "plain_seconds", times[0].mean);
        json_pair_double(&j, "tuned_seconds", times[1].mean);
        json_pair_u64(&j, "runs", times[0].runs);
        json_pair_double(&j, "gain", gain);
        json_pair_double(&j, "margin", margin);
        json_pair_bool(&j, "is_kept", is_kept);
        json_pair_str(&j, "output", is_kept ? output : NULL);
        json_end(&j);
        return;
    }
    out_printf(out,
               "\nplain %.3f s, with the profile %.3f s of CPU time, each the mean of %" PRIu32
               " runs\n",
               times[0].mean, times[1].mean, times[0].runs);
    /* A build that is surely slower has no gain: what it takes beyond the plain one is said. */
    bool is_slower = gain + margin < 0;
    double sign = is_slower ? -100 : 100;
    out_printf(out, "%s %.1f %%, between %.1f and %.1f with 95 %% confidence\n",
               is_slower ? "slower by" : "gain", sign * gain,
               is_slower ? sign * (gain + margin) : sign * (gain - margin),
               is_slower ? sign * (gain - margin) : sign * (gain + margin));
    if (is_kept)
        out_printf(out, "kept: %s, and %s is the build with it\n", output, b->program);
    else
        out_printf(out, "not kept: %s is the plain build\n", b->program);
}

/* All steps, in the working folder. The exit status is that of a gate: 1 if there was no gain. */
static int build_and_compare(struct building *b, struct out *out, struct err *e)
{
    /* -g in both builds: it changes no code, and the profile needs it. Clang numbers the blocks of
     * a line only if it is asked to. */
    const struct optimize_request *r = b->request;
    bool is_gcc = r->target == TARGET_GCC;
    const char *plain =
        arena_printf(&b->arena, "%s -g%s", r->flags, is_gcc ? "" : " -fdebug-info-for-profiling");
    const char *tuned =
        arena_printf(&b->arena, "%s %s%s", plain,
                     is_gcc ? "-fauto-profile=" : "-fprofile-sample-use=", b->profile);
    struct build_times times[2];
    double gain = 0, margin = 0;
    if (!build(b, plain, b->plain, e) || !measure(b, out, e))
        return EXIT_BAD;
    /* What the profile is about is on the screen before the second build, which may take long. */
    out_flush(out);
    bool ok = build(b, tuned, b->tuned, e) && compare(b, &gain, &margin, times, e);
    bool is_kept = ok && gain - margin > 0;
    /* The profile gets its name, or the plain build its place, whatever failed after it. */
    struct file_buffer bytes = {0};
    struct err second;
    if (is_kept)
        ok = file_read(b->profile, &bytes, e) && file_replace(r->output, file_bytes(&bytes), e);
    else if (!(file_read(b->plain, &bytes, &second) &&
               file_replace(b->program, file_bytes(&bytes), &second)) &&
             ok)
        ok = err_set(e, "%s", second.line);
    file_buffer_deinit(&bytes);
    if (ok)
        tell(b, gain, margin, times, out);
    return !ok ? EXIT_BAD : is_kept ? EXIT_FINE : EXIT_DIFFERS;
}

/* An nftw() function: copies, recordings and what is in them, of a folder that is ours alone. */
static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

/* --build and --run: builds plain, measures, builds with the profile, runs both in turn, and keeps
 * the profile only if it gained something. An exit status. */
static int optimize_build(struct optimize_request *r, struct out *out, struct err *e)
{
    enum { MOST_OPEN = 16 };
    struct building b = {.request = r};
    int status = EXIT_BAD;
    if (!r->build || !r->run)
        err_set(e, "--build needs --run, and --run needs --build");
    else if (!strstr(r->build, "{flags}"))
        err_set(e, "--build has no {flags}: where do the compiler's options go?");
    else if (!r->output || !strcmp(r->output, "-"))
        err_set(e, "--build needs -o FILE for the profile");
    else if (r->target != TARGET_GCC && r->target != TARGET_CLANG)
        err_set(e, "--build works only with --for gcc and --for clang");
    else {
        char *folder = arena_printf(&b.arena, "%s.work-XXXXXX", r->output);
        size_t word = strcspn(r->run, " ");
        out_init(&b.quiet, -1);
        /* The first blank ends the program's path, which therefore has none. */
        b.program = arena_copy(&b.arena, r->run, word);
        b.arguments = r->run + word;
        char *absolute = mkdtemp(folder) ? realpath(folder, NULL) : NULL;
        b.folder = absolute ? arena_printf(&b.arena, "%s", absolute) : folder;
        b.plain = arena_printf(&b.arena, "%s/plain", b.folder);
        b.tuned = arena_printf(&b.arena, "%s/tuned", b.folder);
        b.profile = arena_printf(&b.arena, "%s/profile", b.folder);
        if (absolute)
            status = build_and_compare(&b, out, e);
        else
            err_set(e, "%s: cannot be made as a folder to work in", folder);
        if (absolute)
            nftw(b.folder, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
        free(absolute);
        out_deinit(&b.quiet);
    }
    arena_deinit(&b.arena);
    return status;
}

/* The release of gcc decides on the version of its file; no user should have to know the latter. */
static const struct option_row OPTIMIZE_OPTIONS[] = {
    {0, "for", "gcc|clang|bolt|gcda|lld|gold|ld|mold|calls|names",
     "the tool that will read the file (required)", CHOOSES(struct optimize_request, target),
     .first = TARGET_GCC},
    {'o', "output", "FILE", "where to write it; - is standard output (default for linkers)",
     FILLS(struct optimize_request, output)},
    {0, "explain", NULL, "list functions and lines with their shares, and samples without a place",
     FILLS(struct optimize_request, explains)},
    {'n', "limit", "N", "with --explain: list N functions and N lines (default: 20)",
     FILLS(struct optimize_request, limit)},
    {0, "gcc", "RELEASE", "write the version that this gcc reads: 5 to 17 (default: PROGRAM's)",
     FILLS(struct optimize_request, gcc), .least = 5, .most = 17},
    {0, "against", "NOTES", "for gcda: notes of the build that will use it, a file or a folder",
     FILLS(struct optimize_request, against)},
    {0, "build", "COMMAND",
     "build with this command; {flags} is replaced by the compiler's options",
     FILLS(struct optimize_request, build)},
    {0, "run", "COMMAND", "measure and compare the builds with this command, PROGRAM and arguments",
     FILLS(struct optimize_request, run)},
    {0, "flags", "FLAGS", "options of both builds, in addition to -g (default: -O2)",
     FILLS(struct optimize_request, flags)},
    {0, "repeat", "N", "compare N runs of each build (default: 10)",
     FILLS(struct optimize_request, repeat), .least = 2, .most = 1000},
    {0, "object", "NAME",
     "for linkers: order this shared object of a recording, not the executable",
     FILLS(struct optimize_request, object)},
    {0, "cluster", "BYTES",
     "for linkers: the largest cluster (default: the best of 4096, 65536 and 2097152)",
     FILLS(struct optimize_request, cluster_bytes)},
    {0, "binary", NULL, "for clang: the extensible binary form, not text",
     FILLS(struct optimize_request, is_binary)},
};

/* Operands are a program, if the first is an ELF file, and what was measured; options that do not
 * fit the target are refused, not passed over. */
static int optimize_run(const struct command *self, int argc, char **argv, struct out *out,
                        struct err *e)
{
    enum { DEFAULT_LIMIT = 20 };
    struct optimize_request r = {.limit = DEFAULT_LIMIT, .flags = "-O2", .repeat = 10};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    /* Mistakes of usage first, before anything is opened. */
    bool has_program = operands.len && is_program(operands.at[0]);
    int status = EXIT_BAD;
    r.source.program = has_program ? operands.at[0] : NULL;
    r.source.inputs = operands.at + has_program;
    r.source.inputs_len = operands.len - has_program;
    if (!r.target)
        err_set(e, "optimize needs --for NAME; see 'monarc optimize --help'");
    else if (r.build || r.run)
        status = operands.len ? (err_set(e, "--build and --run measure by themselves: no operands"),
                                 EXIT_BAD)
                              : optimize_build(&r, out, e);
    else if (!r.source.inputs_len && r.target < TARGET_LLD)
        err_set(e, "optimize needs a measurement: a recording, gmon.out, counters or coverage; "
                   "see 'monarc optimize --help'");
    else if (!r.output && !r.explains && !r.view.print.format && r.target < TARGET_LLD)
        err_set(e, "optimize needs -o FILE, or --explain; see 'monarc optimize --help'");
    else if (r.is_binary && r.target != TARGET_CLANG)
        err_set(e, "--binary works only with --for clang");
    else if (r.gcc && r.target != TARGET_GCC && r.target != TARGET_GCDA)
        err_set(e, "--gcc works only with --for gcc and --for gcda");
    else if (r.target >= TARGET_LLD && r.explains)
        err_set(
            e, "--explain is for profiles of compilers; what an order gains is on standard output");
    else if ((r.object || r.cluster_bytes) && r.target < TARGET_LLD)
        err_set(e, "--%s works only with an order of functions, such as --for lld",
                r.object ? "object" : "cluster");
    else if (r.against && r.target != TARGET_GCDA)
        err_set(e, "--against works only with --for gcda");
    else if (r.target == TARGET_GCDA)
        status = optimize_counters(&r, out, e) ? EXIT_FINE : EXIT_BAD;
    else if (r.target >= TARGET_LLD)
        status = optimize_order(&r, self, &operands, out, e);
    else if (optimize_profile(&r, out, e))
        status = EXIT_FINE;
    return status;
}

static const struct option_group OPTIMIZE_GROUPS[] = {
    GROUP(json_set, struct optimize_request, view.print),
    GROUP(part_set, struct optimize_request, view.session),
    FILE_GROUPS(struct optimize_request, view.session),
    GROUP(read_set, struct optimize_request, view.session.read),
};
const struct command command_optimize = {
    .name = "optimize",
    .synopsis = "--for WHO [OPTION...] [PROGRAM] INPUT... -o FILE",
    .summary = "Turn a measurement into a profile for a compiler or a linker",
    OPTIONS_OF(OPTIMIZE_OPTIONS, OPTIMIZE_GROUPS),
    .run = optimize_run,
};
