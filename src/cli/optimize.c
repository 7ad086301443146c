/* monarc optimize: what was measured, as the file that a compiler, a linker or BOLT optimises with.
 *
 * One table says for each target whose file it is, and what to do with it. Compilers get a profile
 * by source position (session/source_profiles.h), BOLT the samples by function and offset, linkers
 * an order of functions (optimize_order.c).
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
#include "cli/optimize.h"
#include "session/imported.h"

#include "base/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* ---- the command
 *
 *     operands ─► source_inputs_read() ─► profile ─► file, then the use of the samples
 *              └► optimize_order()                   for linkers
 *
 * The exit status is 0 if the file was written; samples without a place are no failure, as there
 * are always some. */

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
        !(r->target == TARGET_BOLT ? output_to(r->output, optimize_write_bolt, s, out, e)
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

bool optimize_profile(struct optimize_request *r, struct out *out, struct err *e)
{
    struct source_inputs s = {0};
    r->source.session = &r->view.session;
    r->source.target = r->target == TARGET_GCC ? COMPILER_GCC : COMPILER_LLVM;
    r->source.keeps_addresses = r->target == TARGET_BOLT;
    bool ok = source_inputs_read(&s, &r->source, e) && optimize_write(r, &s, out, e);
    source_inputs_deinit(&s);
    return ok;
}

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
