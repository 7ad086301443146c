/* Every format, pointer size and byte order: what is written is read back the same, deduced without
 * a hint, and truncation at any byte is an error or leaves fewer records, never a crash. */
#include "cases.h"
#include "profile/format/samples.h"

#include <stdlib.h>
#include <string.h>

static const struct format_hint NO_HINT;

static struct bytes written(const struct writer *w)
{
    return (struct bytes){w->out.at, w->out.len};
}

static void for_each_layout(void (*check)(const struct format *f, struct profile *p,
                                          struct bytes bytes))
{
    for (size_t f = 0; f < formats_len; f++)
        for (unsigned layout = 0; layout < 4; layout++) {
            struct writer w = {.word = layout & 1 ? 4 : 8, .big_endian = layout >> 1};
            struct profile p = sample_profile(formats[f], w.word, w.big_endian);
            struct err e = {0};
            if (!formats[f]->write(&w, &p, &e))
                fail_msg("%s: %s", formats[f]->name, e.line);
            check(formats[f], &p, written(&w));
            profile_deinit(&p);
            writer_deinit(&w);
        }
}

static void check_round_trip(const struct format *f, struct profile *p, struct bytes bytes)
{
    struct profile back = {0};
    struct err e = {0};
    assert_ptr_equal(format_probe(bytes, "sample", &NO_HINT, &e), f);
    if (!format_read(bytes, "sample", &NO_HINT, &back, &e))
        fail_msg("%s: %s", f->name, e.line);
    assert_int_equal(back.word, p->word);
    assert_int_equal(back.big_endian, p->big_endian);
    assert_int_equal(back.format, p->format);
    assert_int_equal(back.version, p->version);
    assert_int_equal(back.failure.what, READ_COMPLETE);
    assert_int_equal(back.trailing_bytes, 0);
    assert_true(back.arc_records >= p->arcs.len);
    profile_normalize(p);
    profile_normalize(&back);
    assert_true(profile_same(p, &back));
    profile_deinit(&back);
}

CASE(test_round_trip)
{
    for_each_layout(check_round_trip);
}

/* The bytes are copied so that a sanitizer sees a read beyond them. */
static void check_truncation(const struct format *f, struct profile *p, struct bytes bytes)
{
    uint64_t most = profile_samples(p);
    for (size_t len = 0; len < bytes.len; len++) {
        uint8_t *cut = malloc(len ? len : 1);
        memcpy(cut, bytes.at, len);
        struct profile back = {0};
        struct err e = {0};
        struct format_hint hint = {p->word, p->big_endian ? ORDER_BIG : ORDER_LITTLE, 0};
        bool ok = f->read((struct bytes){cut, len}, "cut", &hint, &back, &e);
        assert_int_equal(ok, back.failure.what == READ_COMPLETE);
        assert_int_equal(ok, !e.line[0]);
        assert_true(profile_samples(&back) <= most);
        profile_deinit(&back);
        e.line[0] = '\0';
        ok = format_read((struct bytes){cut, len}, "cut", &NO_HINT, &back, &e);
        assert_int_equal(ok, !e.line[0]);
        if (back.histogram_records) {
            assert_int_equal(back.word, p->word);
            assert_int_equal(back.big_endian, p->big_endian);
            assert_true(profile_samples(&back) <= most);
        }
        profile_deinit(&back);
        free(cut);
    }
}

CASE(test_truncation)
{
    for_each_layout(check_truncation);
}
