/* monarc optimize: the profile for a compiler, by source position (session/source_profiles.h) or by
 * counter, or for BOLT, by function and offset; and how the samples were used.
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

#include "base/path.h"
#include "base/sort.h"
#include "session/use_counters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Functions that are not as they were: those that lost counters and, on request, those that moved,
 * which are the last ones of the list. */
static void counters_table(const struct use_counters *u, const struct optimize_request *r,
                           struct out *out)
{
    bool has_head = false;
    for (size_t i = 0; i < u->functions.len && i < r->limit; i++) {
        const struct use_function *f = &u->functions.at[i];
        if (f->state == USE_MOVED && !r->explains)
            break;
        if (!has_head)
            out_str(out, "    share  function\n");
        has_head = true;
        out_printf(out, "%7.2f %%  ", percent((double)f->count, (double)u->count));
        text_name(out, f->name);
        out_printf(out, "  (%s)  ", state_text(f->state));
        text_name(out, f->source);
        out_printf(out, ":%" PRIu32, f->line);
        if (f->new_line && f->new_line != f->line)
            out_printf(out, ", now :%" PRIu32, f->new_line);
        out_char(out, '\n');
    }
}

/* What there is comes first, then what is missing of it, and what to do last. */
static void counters_text(const struct use_counters *u, const struct optimize_request *r,
                          struct out *out)
{
    uint64_t lost = u->changed + u->gone;
    if (r->output)
        out_printf(out, "%s: counters", r->output);
    else
        out_str(out, "counters");
    out_printf(out,
               " of %" PRIu64 " object%s, %" PRIu64 " function%s, %" PRIu32 " run%s with %" PRIu64
               " as the sum of their largest counts\n",
               u->written, text_plural(u->written), u->kept, text_plural(u->kept), u->runs,
               text_plural(u->runs), u->sum_max);
    if (u->unmatched)
        out_printf(out, "%" PRIu64 " object%s left out: %s has no notes of %s\n", u->unmatched,
                   u->unmatched == 1 ? " is" : "s are", r->against, u->unmatched_path);
    if (u->moved)
        out_printf(out, "%" PRIu64 " function%s moved, and kept %s counters\n", u->moved,
                   text_plural(u->moved), u->moved == 1 ? "its" : "their");
    if (lost)
        out_printf(out, "%" PRIu64 " function%s lost %s counters, %.2f %% of all counts\n", lost,
                   text_plural(lost), lost == 1 ? "its" : "their",
                   percent((double)u->lost, (double)u->count));
    counters_table(u, r, out);
    if (u->drifted)
        out_printf(out,
                   "also: %s, by function and line; for the %" PRIu64
                   " object%s with such functions: -fauto-profile=FILE instead of -fprofile-use\n",
                   u->drifted, u->drifted_objects, text_plural(u->drifted_objects));
    if (r->output && path_has_suffix(r->output, ".gcda"))
        out_str(out, "next: gcc -O2 -fprofile-use, with the file next to the object\n");
    else if (r->output)
        out_printf(out, "next: gcc -O2 -fprofile-use=%s\n", r->output);
}

/* docs/schema/optimize_counters.schema.json. */
static void counters_json(const struct use_counters *u, const struct optimize_request *r,
                          struct out *out)
{
    struct json j = {.out = out};
    json_document_begin(&j, "optimize_counters");
    json_pair_str(&j, "output", r->output);
    json_pair_u64(&j, "objects", u->written);
    json_pair_u64(&j, "objects_without_notes", u->unmatched);
    json_pair_u64(&j, "functions", u->kept);
    json_pair_u64(&j, "functions_moved", u->moved);
    json_pair_u64(&j, "functions_changed", u->changed);
    json_pair_u64(&j, "functions_gone", u->gone);
    json_pair_u64(&j, "runs", u->runs);
    json_pair_u64(&j, "sum_max", u->sum_max);
    json_pair_u64(&j, "counts", u->count);
    json_pair_u64(&j, "counts_lost", u->lost);
    json_pair_str(&j, "drifted", u->drifted);
    JSON_ROWS(&j, "drift", i, u->functions.len) {
        const struct use_function *f = &u->functions.at[i];
        json_pair_str(&j, "name", f->name);
        json_pair_str(&j, "file", f->source);
        json_pair_u64(&j, "line", f->line);
        json_pair_str(&j, "state", state_text(f->state));
        json_pair_u64(&j, "count", f->count);
    }
    json_end(&j);
}

/* Writes the counters, and reports; without an output it only reports what would be written. */
bool optimize_counters(const struct optimize_request *r, struct out *out, struct err *e)
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
    if (ok && r->view.print.format)
        counters_json(&u, r, out);
    else if (ok)
        counters_text(&u, r, out);
    use_counters_deinit(&u);
    return ok;
}
