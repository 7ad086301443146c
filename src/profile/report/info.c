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

/* Samples, and as time where the rate is known. Without a rate the samples are no time. The
 * abbreviation is a byte of the file, of which anything may have been made: what is no visible
 * ASCII character is printed as `?`. */
static void info_samples_text(struct out *out, const struct histogram *h, uint64_t samples)
{
    bool is_visible = h->abbreviation > ' ' && h->abbreviation <= '~';
    out_printf(out, "    %" PRIu64 " samples of rate %" PRIu32, samples, h->rate);
    if (h->rate) {
        out_printf(out, ": %.2f ", (double)samples / h->rate);
        text_name(out, h->dimension[0] ? h->dimension : "units");
        out_printf(out, " (%c)", is_visible ? h->abbreviation : '?');
    }
}

/* A line or two each: range, bins, samples, and where most of them are. The address of the peak is
 * the lower bound where no bin has a sample. An abbreviation of a zero byte becomes the empty
 * string. */
static void info_histograms(struct facts *w, const struct profile *p)
{
    FACT_ROWS(w, "histograms", 2, i, p->histograms.len) {
        const struct histogram *h = &p->histograms.at[i];
        uint64_t samples = histogram_total(h), peak = histogram_peak(h);
        uint64_t place = peak ? info_peak_address(h, peak) : h->low;
        char abbreviation[2] = {h->abbreviation};
        fact(w, NULL, field_u64(i), "  histogram *: ");
        fact(w, "low", field_address(h->low), "*-");
        fact(w, "high", field_address(h->high), "*, ");
        fact(w, "bins", field_u64(h->bins), "* bins of ");
        fact(w, "bytes_per_bin", field_double(histogram_bin_bytes(h)), "* bytes, counters of ");
        fact(w, "rate", field_u64(h->rate), NULL);
        fact(w, "dimension", field_text(h->dimension), NULL);
        fact(w, "abbreviation", field_text(abbreviation), NULL);
        fact(w, "counter_bits", field_u64(8 * h->width), "* bits\n");
        if (w->out)
            info_samples_text(w->out, h, samples);
        fact(w, "samples", field_u64(samples), NULL);
        fact(w, "peak_samples", field_u64(peak), peak ? ", most (*)" : NULL);
        fact(w, "peak_address", field_address(place), peak ? " at *" : NULL);
        fact_text(w, "\n");
    }
}

/* A line each for arcs and blocks, none where the file has none. `total` is the sum of counts:
 * "calls". */
static void info_extent(struct facts *w, const char *key, size_t len, const struct extent *x,
                        const char *total, const char *range)
{
    if (w->out && !len)
        return;
    facts_begin(w, key);
    fact_text(w, "  "), fact_text(w, key);
    fact(w, "number", field_u64(len), ": *");
    fact(w, total, field_u64(x->total), ", * ");
    fact_text(w, total);
    fact(w, "largest_count", field_u64(x->largest), NULL);
    if (len) {
        fact_text(w, range);
        fact(w, "lowest", field_address(x->lowest), "*-");
        fact(w, "highest", field_address(x->highest), "*");
    }
    fact(w, NULL, field_u64(x->largest), ", largest count *\n");
    facts_end(w);
}

/* Numbers of records, and their layout: authors of such files look for the order. Runs of one kind,
 * with their offset. */
static void info_runs(struct facts *w, const struct profile *p)
{
    facts_begin(w, "records");
    fact(w, "histogram", field_u64(p->histogram_records), "  records: * histogram");
    fact(w, "arc", field_u64(p->arc_records), ", * arc");
    fact(w, "block_list", field_u64(p->block_records), ", * block list\n");
    facts_end(w);
    FACT_ROWS(w, "layout", 2, i, p->runs.len) {
        const struct record_run *run = &p->runs.at[i];
        bool is_histogram = run->kind == RECORD_HISTOGRAM;
        if (w->out)
            out_printf(w->out, "    at %-10" PRIu64 " ", run->offset);
        if (w->out && is_histogram)
            out_printf(w->out, "histogram %" PRIu32 ", ", run->first);
        fact(w, "offset", field_u64(run->offset), NULL);
        fact(w, "kind", field_text(info_kind_name(run->kind)), NULL);
        fact(w, "length", field_u64(run->len), is_histogram ? "* bins\n" : "* ");
        if (is_histogram)
            fact(w, "histogram", field_u64(run->first), NULL);
        else
            fact_text(w, info_kind_name(run->kind)), fact_text(w, "\n");
    }
}

/* What is odd by the laws of profiles, though it could be read. The file is described all the same:
 * a wrong order of bounds or an arc of no calls is what one looks here for. `kind` is for scripts.
 */
static void info_findings(struct facts *w, const struct profile *p)
{
    struct finding_list list = check_profile(p);
    FACT_ROWS(w, "findings", 2, i, list.len) {
        bool is_counted;
        const char *sentence = finding_sentence(list.at[i].kind, &is_counted);
        fact(w, NULL, field_text(sentence), "  note: *");
        fact(w, "kind", field_text(finding_name(list.at[i].kind)), NULL);
        fact(w, "count", field_u64(list.at[i].count), is_counted ? ": *" : NULL);
        fact(w, "text", field_text(sentence), "\n");
    }
}

/* `title`, `format` and `error` are null where there is none. `title` is NULL where no reader knew
 * the format: then only the name, the size and the error are known. */
void file_facts(struct facts *w, const struct file_info *file)
{
    const struct profile *p = file->found;
    fact(w, "name", field_text(file->name), "*: ");
    fact(w, "size_bytes", field_u64(file->size_bytes), NULL);
    fact(w, "format", field_text(file->format), NULL);
    fact(w, "title", field_text(file->title), "*, ");
    fact(w, "error", field_text(file->error), NULL);
    if (file->title) {
        fact(w, "word_bits", field_u64(8 * p->word), "*-bit ");
        fact(w, "byte_order", field_text(p->big_endian ? "big" : "little"), "*-endian, ");
    }
    fact(w, NULL, field_u64(file->size_bytes), "* bytes\n");
    if (file->title) {
        struct extent arcs = {.lowest = UINT64_MAX}, blocks = {.lowest = UINT64_MAX};
        /* Callees alone: a call site is an address inside of its caller and says nothing about the
         * range of functions. Addresses of blocks are where they begin. */
        for (size_t i = 0; i < p->arcs.len; i++)
            info_extend(&arcs, p->arcs.at[i].self, p->arcs.at[i].count);
        for (size_t i = 0; i < p->blocks.len; i++)
            info_extend(&blocks, p->blocks.at[i].address, p->blocks.at[i].count);
        info_histograms(w, p);
        info_extent(w, "arcs", p->arcs.len, &arcs, "calls", ", callees ");
        info_extent(w, "blocks", p->blocks.len, &blocks, "executions", ", ");
        info_runs(w, p);
        fact(w, "trailing_bytes", field_u64(p->trailing_bytes), NULL);
        info_findings(w, p);
    }
    fact(w, NULL, field_text(file->error), "  error: *\n");
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

void source_facts(struct facts *w, const struct source_info *file)
{
    struct source_summary sum;
    source_profile_summarize(file->found, &sum);
    fact(w, "name", field_text(file->name), "*: ");
    fact(w, NULL, field_text(file->title), "*, ");
    fact(w, "size_bytes", field_u64(file->size_bytes), "* bytes\n");
    fact(w, "format", field_text(file->format), NULL);
    fact(w, "error", field_text(file->error), NULL);
    fact_nonzero(w, "version", file->version,
                 file->version == 1   ? "  version *, of gcc 5 to 11\n"
                 : file->version == 2 ? "  version *, of gcc 12 to 15\n"
                                      : "  version *, of gcc 16\n");
    fact(w, "functions", field_u64(sum.functions), "  functions: *");
    fact(w, "inlined", field_u64(sum.instances - sum.functions), ", inlined copies: *");
    fact(w, NULL, field_u64(sum.max_head), "; largest head *\n");
    fact(w, "positions", field_u64(sum.counts), "  positions: *; sum ");
    fact(w, NULL, field_u64(sum.total), "*, largest ");
    fact(w, NULL, field_u64(sum.max_count), "*");
    fact(w, "hot_positions", field_u64(source_hot_positions(&sum)), "; 99 % are in *\n");
    fact(w, "targets", field_u64(sum.targets), "  targets of calls: *\n");
    fact(w, "sum", field_u64(sum.total), NULL);
    fact(w, "largest", field_u64(sum.max_count), NULL);
    fact(w, "largest_head", field_u64(sum.max_head), NULL);
    fact(w, NULL, field_text(file->error), "  error: *\n");
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
