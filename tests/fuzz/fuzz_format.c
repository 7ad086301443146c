/* Fuzzes the reader FUZZ_FORMAT of the table and, through what it reads, merging, writing in every
 * format, and the reports of `monarc info`. Built once for each row.
 *
 * Not only crashes are findings: whatever was read must obey the laws. Writing and reading back
 * changes nothing; merging commutes, associates and keeps sums; the JSON is JSON. */
#include "law.h"
#include "profile/format/format.h"
#include "profile/model/profile.h"
#include "profile/report/info.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes that writing may take; beyond, a test would only be slow. */
enum { MOST_BYTES = 1 << 15 };

/* Records repeated for large counts could need gigabytes. */
static bool is_small(const struct profile *p)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        uint64_t passes = histogram_peak(h) / UINT16_MAX + 1;
        if (passes > MOST_BYTES)
            return false;
        bytes += passes * (h->bins * UINT64_C(2) + 64);
        if (bytes > MOST_BYTES)
            return false;
    }
    for (size_t i = 0; i < p->arcs.len && bytes < MOST_BYTES; i++)
        bytes += (p->arcs.at[i].count / UINT32_MAX + 1) * 24;
    for (size_t i = 0; i < p->blocks.len && bytes < MOST_BYTES; i++)
        bytes += (p->blocks.at[i].count / UINT32_MAX + 1) * 24;
    return bytes < MOST_BYTES;
}

static struct profile copy_of(const struct profile *p)
{
    struct profile copy = {0};
    if (!profile_merge(&copy, p, NULL))
        return copy;
    profile_normalize(&copy);
    return copy;
}

/* `p` is normalized. The hint says what old BSD files leave unsaid, the bytes of their header too:
 * two empty bins at the front may look like the padding of Alphas. */
static void check_round_trip(const struct format *f, const struct profile *p, unsigned word,
                             bool big_endian)
{
    struct writer w = {.word = (uint8_t)word, .big_endian = big_endian};
    struct format_hint hint = {.word = (uint8_t)word,
                               .order = big_endian ? ORDER_BIG : ORDER_LITTLE,
                               .bsd_header = BSD_HEADER};
    struct profile back = {0};
    struct err e = {0};
    if (f->write(&w, p, &e)) {
        struct bytes bytes = {w.out.at, w.out.len};
        expect(f->read(bytes, "back", &hint, &back, &e), "what is written can be read");
        profile_normalize(&back);
        expect(profile_same(p, &back), "what is written is read back the same");
    }
    profile_deinit(&back);
    writer_deinit(&w);
}

static void check_writing(const struct profile *p)
{
    struct profile copy = copy_of(p);
    bool is_empty = !copy.histograms.len && !copy.arcs.len && !copy.blocks.len;
    for (size_t i = 0; i < formats_len && !is_empty && is_small(&copy); i++)
        for (unsigned layout = 0; layout < 4; layout++)
            check_round_trip(formats[i], &copy, layout & 1 ? 4 : 8, layout >> 1);
    profile_deinit(&copy);
}

static void check_merging(const struct profile *p, struct bytes rest)
{
    struct profile other = {0};
    struct format_hint hint = {.word = p->word, .order = p->big_endian ? ORDER_BIG : ORDER_LITTLE};
    struct err e = {0};
    bool is_whole = format_read(rest, "rest", &hint, &other, &e);
    expect(is_whole == (other.failure.what == READ_COMPLETE && !e.line[0]), "failure is recorded");
    struct profile arcs = {.word = p->word, .big_endian = p->big_endian};
    for (size_t i = p->arcs.len; i-- > 0;)
        vec_push(&arcs.arcs, p->arcs.at[i]);
    expect(check_merge_laws(p, &other, &arcs, &e), "merging");
    profile_deinit(&arcs);
    profile_deinit(&other);
}

static void check_report(const struct profile *p, size_t size)
{
    struct out out;
    struct file_info file = {"fuzz\xff\n", size, "fuzz", "fuzz", NULL, p};
    out_init(&out, -1);
    file_facts(&(struct facts){.out = &out}, &file);
    out.len = 0;
    struct json j = {.out = &out};
    json_begin(&j, '{');
    file_facts(&(struct facts){.json = &j}, &file);
    json_end(&j);
    json_error_t why;
    /* As reals: jansson knows no integers above 2^63. */
    json_t *parsed = json_loadb(out.at, out.len, JSON_DECODE_INT_AS_REAL, &why);
    expect(parsed != NULL, "the report is JSON");
    json_decref(parsed);
    out_deinit(&out);
}

static void check_reading(const struct format *f, struct bytes in, const struct format_hint *hint)
{
    struct profile p = {0};
    struct err e = {0};
    bool ok = f->read(in, "fuzz", hint, &p, &e);
    expect(ok || e.line[0], "a failure has a message");
    expect(p.arcs.len == p.arc_records, "every arc record is one arc");
    expect(p.histograms.len <= p.histogram_records, "histograms come from records");
    if (p.word) {
        check_report(&p, in.len);
        check_writing(&p);
        size_t half = in.len / 2;
        check_merging(&p, (struct bytes){in.at + half, in.len - half});
        check_merging(&p, in);
    }
    profile_deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct format_hint HINTS[] = {{.word = 0}, {.word = 8, .order = ORDER_BIG}};
    struct bytes in = {data, size};
    const struct format *f = format_named(FUZZ_FORMAT);
    expect(f != NULL, "there is such a format");
    (void)f->probe(in, &HINTS[0]);
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        check_reading(f, in, &HINTS[i]);
    return 0;
}
