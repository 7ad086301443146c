/* What a profile file holds: histograms, arcs, blocks, and the order of its records.
 *
 * The text is for reading: one line a histogram and a run of records, totals, then all that is odd,
 * by the laws that check_profile() holds a profile to. JSON has the same facts and whole lists. The
 * busiest bin is searched for; everything else is one pass over the lists. A file that breaks off
 * is described as far as it was complete, and the error says where that is.
 *
 *     gmon.out: GNU profile, 64-bit little-endian, 4096 bytes
 *       histogram 0: 0x401000-0x402000, 1024 bins of 4 bytes, counters of 16 bits
 *         80 samples of rate 100: 0.80 seconds (s), most (40) at 0x401136
 *       arcs: 3, 1000 calls, callees 0x401136-0x401200, largest count 998
 *       records: 1 histogram, 3 arc, 0 block list
 *         at 20         histogram 0, 1024 bins
 *         at 2109        3 arcs
 *       note: ... */
#include "profile/report/info.h"

#include "output/out.h"

#include "profile/model/profile.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_LINES = 100 }; /* of one list in text; JSON has all */

/* By the records that a gmon.out may have. */
static const char *info_kind_name(enum record_kind kind)
{
    return kind == RECORD_HISTOGRAM ? "histogram" : kind == RECORD_ARC ? "arcs" : "blocks";
}

/* Lowest and highest address of a list, and the sum of its counts. Of an empty list `lowest` stays
 * UINT64_MAX: callers print neither then. Sums stop at the largest number. */
struct extent {
    uint64_t lowest, highest, total, largest;
};

/* Where records lie, the sum of their counts, which saturates, and the largest of them. */
static void info_extend(struct extent *x, uint64_t address, uint64_t count)
{
    x->lowest = address < x->lowest ? address : x->lowest;
    x->highest = address > x->highest ? address : x->highest;
    x->total = add_saturating(x->total, count);
    x->largest = count > x->largest ? count : x->largest;
}

/* Callees alone: a call site is an address inside of its caller and says nothing about the range of
 * functions. */
static struct extent info_callees(const struct profile *p)
{
    struct extent x = {.lowest = UINT64_MAX};
    for (size_t i = 0; i < p->arcs.len; i++)
        info_extend(&x, p->arcs.at[i].self, p->arcs.at[i].count);
    return x;
}

/* Addresses of blocks are where they begin. */
static struct extent info_blocks(const struct profile *p)
{
    struct extent x = {.lowest = UINT64_MAX};
    for (size_t i = 0; i < p->blocks.len; i++)
        info_extend(&x, p->blocks.at[i].address, p->blocks.at[i].count);
    return x;
}

/* Where the busiest bin begins. The first of several that are as busy. A bin may have a broken
 * number of bytes (histograms of any range and number of bins), so that the address is rounded
 * down. */
static uint64_t info_peak_address(const struct histogram *h, uint64_t peak)
{
    uint32_t i = 0;
    while (i < h->bins && histogram_get(h, i) != peak)
        i++;
    return h->low + (uint64_t)(histogram_bin_bytes(h) * i);
}

/* --- text ------------------------------------------------------------------------------------ */

/* What is not listed is counted: a list that just stops looks complete. */
static void info_text_more(struct out *out, size_t len)
{
    if (len > MOST_LINES) {
        out_str(out, "  ");
        text_more(out, len - MOST_LINES, "", "--json");
    }
}

/* Samples, and as time where the rate is known. Without a rate the samples are no time. The
 * abbreviation is a byte of the file, of which anything may have been made: what is no visible
 * ASCII character is printed as `?`. */
static void info_text_samples(struct out *out, const struct histogram *h, uint64_t samples)
{
    bool is_visible = h->abbreviation > ' ' && h->abbreviation <= '~';
    out_printf(out, "%" PRIu64 " samples of rate %" PRIu32, samples, h->rate);
    if (!h->rate)
        return;
    out_printf(out, ": %.2f ", (double)samples / h->rate);
    text_name(out, h->dimension[0] ? h->dimension : "units");
    out_printf(out, " (%c)", is_visible ? h->abbreviation : '?');
}

/* A line or two each: range, bins, samples, and where most of them are. */
static void info_text_histograms(struct out *out, const struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len && i < MOST_LINES; i++) {
        const struct histogram *h = &p->histograms.at[i];
        uint64_t peak = histogram_peak(h);
        out_printf(out,
                   "  histogram %zu: 0x%" PRIx64 "-0x%" PRIx64 ", %" PRIu32
                   " bins of %.6g bytes, counters of %d bits\n    ",
                   i, h->low, h->high, h->bins, histogram_bin_bytes(h), 8 * h->width);
        info_text_samples(out, h, histogram_total(h));
        if (peak)
            out_printf(out, ", most (%" PRIu64 ") at 0x%" PRIx64, peak, info_peak_address(h, peak));
        out_char(out, '\n');
    }
    info_text_more(out, p->histograms.len);
}

/* A line each for arcs and blocks, none where the file has none. */
static void info_text_extents(struct out *out, const struct profile *p)
{
    struct extent x = info_callees(p);
    if (p->arcs.len)
        out_printf(out,
                   "  arcs: %zu, %" PRIu64 " calls, callees 0x%" PRIx64 "-0x%" PRIx64
                   ", largest count %" PRIu64 "\n",
                   p->arcs.len, x.total, x.lowest, x.highest, x.largest);
    x = info_blocks(p);
    if (p->blocks.len)
        out_printf(out,
                   "  blocks: %zu, %" PRIu64 " executions, 0x%" PRIx64 "-0x%" PRIx64
                   ", largest count %" PRIu64 "\n",
                   p->blocks.len, x.total, x.lowest, x.highest, x.largest);
}

/* Records as they stand in the file: runs of one kind, with their offset. */
static void info_text_runs(struct out *out, const struct profile *p)
{
    out_printf(out, "  records: %" PRIu64 " histogram, %" PRIu64 " arc, %" PRIu64 " block list\n",
               p->histogram_records, p->arc_records, p->block_records);
    for (size_t i = 0; i < p->runs.len && i < MOST_LINES; i++) {
        const struct record_run *run = &p->runs.at[i];
        out_printf(out, "    at %-10" PRIu64 " ", run->offset);
        if (run->kind == RECORD_HISTOGRAM)
            out_printf(out, "histogram %" PRIu32 ", %" PRIu64 " bins\n", run->first, run->len);
        else
            out_printf(out, "%" PRIu64 " %s\n", run->len, info_kind_name(run->kind));
    }
    info_text_more(out, p->runs.len);
}

/* What is odd by the laws of profiles, though it could be read. The file is described all the same:
 * a wrong order of bounds or an arc of no calls is what one looks here for. */
static void info_text_findings(struct out *out, const struct profile *p)
{
    struct finding_list list = check_profile(p);
    for (size_t i = 0; i < list.len; i++) {
        bool is_counted;
        out_printf(out, "  note: %s", finding_sentence(list.at[i].kind, &is_counted));
        if (is_counted)
            out_printf(out, ": %" PRIu64, list.at[i].count);
        out_char(out, '\n');
    }
}

/* `title` is NULL where no reader knew the format: then only the name, the size and the error are
 * said. */
void info_text(struct out *out, const struct file_info *file, bool is_first)
{
    const struct profile *p = file->found;
    out_str(out, is_first ? "" : "\n");
    text_name(out, file->name);
    out_str(out, ": ");
    if (file->title)
        out_printf(out, "%s, %d-bit %s-endian, ", file->title, 8 * p->word,
                   p->big_endian ? "big" : "little");
    out_printf(out, "%" PRIu64 " bytes\n", file->size_bytes);
    if (file->title) {
        info_text_histograms(out, p);
        info_text_extents(out, p);
        info_text_runs(out, p);
        info_text_findings(out, p);
    }
    if (file->error)
        out_printf(out, "  error: %s\n", file->error);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* The address of the peak is the lower bound where no bin has a sample. An abbreviation of a zero
 * byte becomes the empty string. */
static void info_json_histogram(struct json *j, const struct histogram *h)
{
    uint64_t peak = histogram_peak(h);
    json_pair_address(j, "low", h->low);
    json_pair_address(j, "high", h->high);
    json_pair_u64(j, "bins", h->bins);
    json_key(j, "bytes_per_bin");
    json_double(j, histogram_bin_bytes(h));
    json_pair_u64(j, "rate", h->rate);
    json_pair_str(j, "dimension", h->dimension);
    json_key(j, "abbreviation");
    json_str_n(j, &h->abbreviation, h->abbreviation ? 1 : 0);
    json_pair_u64(j, "counter_bits", 8 * h->width);
    json_pair_u64(j, "samples", histogram_total(h));
    json_pair_u64(j, "peak_samples", peak);
    json_pair_address(j, "peak_address", peak ? info_peak_address(h, peak) : h->low);
}

/* All of them, each with its range, bins and unit. */
static void info_json_histograms(struct json *j, const struct profile *p)
{
    JSON_ROWS(j, "histograms", i, p->histograms.len)
        info_json_histogram(j, &p->histograms.at[i]);
}

/* `total`: the name of the sum of counts. */
static void info_json_extent(struct json *j, const char *key, size_t len, const struct extent *x,
                             const char *total)
{
    json_key(j, key);
    json_begin(j, '{');
    json_pair_u64(j, "number", len);
    json_pair_u64(j, total, x->total);
    json_pair_u64(j, "largest_count", x->largest);
    if (len) {
        json_pair_address(j, "lowest", x->lowest);
        json_pair_address(j, "highest", x->highest);
    }
    json_end(j);
}

/* Numbers of records, and their layout: authors of such files look for the order. */
static void info_json_runs(struct json *j, const struct profile *p)
{
    json_key(j, "records"), json_begin(j, '{');
    json_pair_u64(j, "histogram", p->histogram_records);
    json_pair_u64(j, "arc", p->arc_records);
    json_pair_u64(j, "block_list", p->block_records);
    json_end(j);
    JSON_ROWS(j, "layout", i, p->runs.len) {
        const struct record_run *run = &p->runs.at[i];
        json_pair_u64(j, "offset", run->offset);
        json_pair_str(j, "kind", info_kind_name(run->kind));
        json_pair_u64(j, "length", run->len);
        if (run->kind == RECORD_HISTOGRAM)
            json_pair_u64(j, "histogram", run->first);
    }
}

/* `kind` is for scripts; `text` is the sentence of the text form. */
static void info_json_findings(struct json *j, const struct profile *p)
{
    struct finding_list list = check_profile(p);
    JSON_ROWS(j, "findings", i, list.len) {
        bool is_counted;
        json_pair_str(j, "kind", finding_name(list.at[i].kind));
        json_pair_u64(j, "count", list.at[i].count);
        json_pair_str(j, "text", finding_sentence(list.at[i].kind, &is_counted));
    }
}

/* All that is known where the format is; a file of none has only the first five members. */
static void info_json_profile(struct json *j, const struct profile *p)
{
    struct extent arc_extent = info_callees(p), block_extent = info_blocks(p);
    json_pair_u64(j, "word_bits", 8 * p->word);
    json_pair_str(j, "byte_order", p->big_endian ? "big" : "little");
    info_json_histograms(j, p);
    info_json_extent(j, "arcs", p->arcs.len, &arc_extent, "calls");
    info_json_extent(j, "blocks", p->blocks.len, &block_extent, "executions");
    info_json_runs(j, p);
    json_pair_u64(j, "trailing_bytes", p->trailing_bytes);
    info_json_findings(j, p);
}

/* `title`, `format` and `error` are null where there is none. */
void info_json(struct json *j, const struct file_info *file)
{
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", file->format);
    json_pair_str(j, "title", file->title);
    json_pair_str(j, "error", file->error);
    if (file->title)
        info_json_profile(j, file->found);
    json_end(j);
}

/* ---- profiles by source position */

/* What of it most of the time goes to is what a compiler treats as hot. */
enum { HOT_PARTS = 990000 };

/* How many counts make up the hot part; 0: the file has no such figure. */
static uint64_t source_hot_positions(const struct source_summary *sum)
{
    for (size_t i = 0; i < SOURCE_CUTOFFS; i++)
        if (sum->cutoffs[i].parts == HOT_PARTS)
            return sum->cutoffs[i].counts;
    return 0;
}

void source_info_text(struct out *out, const struct source_info *file, bool is_first)
{
    struct source_summary sum;
    source_profile_summarize(file->found, &sum);
    out_str(out, is_first ? "" : "\n");
    text_name(out, file->name);
    out_printf(out, ": %s, %" PRIu64 " bytes\n", file->title, file->size_bytes);
    if (file->version)
        out_printf(out, "  version %" PRIu32 ", of gcc %s\n", file->version,
                   file->version == 1   ? "5 to 11"
                   : file->version == 2 ? "12 to 15"
                                        : "16");
    out_printf(out,
               "  functions: %" PRIu64 ", inlined copies: %" PRIu64 "; largest head %" PRIu64 "\n",
               sum.functions, sum.instances - sum.functions, sum.max_head);
    out_printf(out,
               "  positions: %" PRIu64 "; sum %" PRIu64 ", largest %" PRIu64
               "; 99 %% are in %" PRIu64 "\n",
               sum.counts, sum.total, sum.max_count, source_hot_positions(&sum));
    out_printf(out, "  targets of calls: %" PRIu64 "\n", sum.targets);
    if (file->error)
        out_printf(out, "  error: %s\n", file->error);
}

void source_info_json(struct json *j, const struct source_info *file)
{
    struct source_summary sum;
    source_profile_summarize(file->found, &sum);
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", file->format);
    json_pair_str(j, "error", file->error);
    json_pair_u64(j, "version", file->version);
    json_pair_u64(j, "functions", sum.functions);
    json_pair_u64(j, "inlined", sum.instances - sum.functions);
    json_pair_u64(j, "positions", sum.counts);
    json_pair_u64(j, "hot_positions", source_hot_positions(&sum));
    json_pair_u64(j, "targets", sum.targets);
    json_pair_u64(j, "sum", sum.total);
    json_pair_u64(j, "largest", sum.max_count);
    json_pair_u64(j, "largest_head", sum.max_head);
    json_end(j);
}

/* Lost: the compiler knew it, and no longer does; that is what an edit does to a function. */
static const char *source_shift_word(const struct source_shift *c)
{
    return c->new_share <= 0 ? "  (lost)" : c->old_share <= 0 ? "  (new)" : "";
}

void source_compared_text(struct out *out, const struct source_compared *c, uint64_t limit)
{
    const struct source_overlap *o = c->overlap;
    out_str(out, "Old  ");
    text_name(out, c->old);
    out_str(out, "\nNew  ");
    text_name(out, c->new);
    out_printf(out, "\n%.2f %% of the counts are at the same places\n\n", 100 * o->common);
    out_str(out, "     old       new    common  function\n");
    for (size_t i = 0; i < o->len && (!limit || i < limit); i++) {
        const struct source_shift *f = &o->functions[i];
        out_printf(out, "%6.2f %%  %6.2f %%  %6.2f %%  ", 100 * f->old_share, 100 * f->new_share,
                   100 * f->common);
        text_name(out, f->name);
        out_printf(out, "%s\n", source_shift_word(f));
    }
    if (limit && o->len > limit) {
        out_spaces(out, 30);
        text_more(out, o->len - limit, "function", "--all");
    }
}

void source_compared_json(struct json *j, const struct source_compared *c)
{
    json_document_begin(j, "diff_source_profiles");
    json_pair_str(j, "old", c->old);
    json_pair_str(j, "new", c->new);
    json_pair_double(j, "common", c->overlap->common);
    JSON_ROWS(j, "functions", i, c->overlap->len) {
        const struct source_shift *f = &c->overlap->functions[i];
        json_pair_str(j, "name", f->name);
        json_pair_double(j, "old_share", f->old_share);
        json_pair_double(j, "new_share", f->new_share);
        json_pair_double(j, "common", f->common);
    }
    json_end(j);
}
