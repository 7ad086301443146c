/* eCos's interface: buckets and periods mean what they mean there, and what is written has the
 * layout of eCos's own structures. */
#include "../../runtime/embedded/ecos.h"
#include "cases.h"
#include "ecos_gmon_out.h"

#include <stddef.h>
#include <string.h>

enum { TEXT = 64 };

static uint32_t text[TEXT / 4];
static int asked_period;

/* A timer that can only do whole milliseconds. */
int hal_enable_profile_timer(int period)
{
    asked_period = period;
    return (period + 999) / 1000 * 1000;
}

struct file {
    unsigned char bytes[4096];
    size_t len;
};

static bool collect(void *context, const void *bytes, uint32_t length)
{
    struct file *f = context;
    memcpy(f->bytes + f->len, bytes, length);
    f->len += length;
    return true;
}

CASE(test_what_ecos_writes)
{
    struct file f = {.len = 0};
    struct gmon_hdr header;
    struct gmon_hist_hdr histogram;
    struct gmon_cg_arc_record arc;
    uintptr_t start = (uintptr_t)text;
    profile_on(text, text + TEXT / 4, 10, 3500);
    assert_int_equal(asked_period, 3500);
    for (unsigned i = 0; i < 3; i++)
        __profile_hit(start + 20);
    __profile_mcount(start + 4, start + 40);
    __profile_mcount(start + 4, start + 40);
    profile_off();
    __profile_hit(start + 20);
    assert_true(monarc_embedded_write_gmon(collect, &f));

    memcpy(&header, f.bytes, sizeof header);
    assert_memory_equal(header.cookie, "gmon", 4);
    assert_int_equal(header.version[0], 1);
    assert_int_equal(f.bytes[sizeof header], 0); /* a histogram */
    memcpy(&histogram, f.bytes + sizeof header + 1, sizeof histogram);
    assert_ptr_equal(histogram.low_pc, text);
    assert_ptr_equal(histogram.high_pc, text + TEXT / 4);
    assert_int_equal(histogram.hist_size, TEXT / 16); /* 10 becomes 16 */
    assert_int_equal(histogram.prof_rate, 250);       /* 4 ms is what the timer does */
    assert_string_equal(histogram.dimen, "seconds");
    assert_int_equal(histogram.dimen_abbrev, 's');
    const unsigned char *at = f.bytes + sizeof header + 1 + sizeof histogram;
    assert_int_equal(at[2], 3); /* the second bin */
    at += TEXT / 16 * 2;
    assert_int_equal(*at, 1); /* an arc */
    memcpy(&arc, at + 1, 2 * sizeof(void *) + 4);
    assert_int_equal((uintptr_t)arc.from_pc, start + 4);
    assert_int_equal((uintptr_t)arc.self_pc, start + 40);
    assert_int_equal(arc.count, 2);
    profile_reset();
    f.len = 0;
    assert_true(monarc_embedded_write_gmon(collect, &f));
    assert_int_equal(f.len, sizeof header + 1 + sizeof histogram + TEXT / 16 * 2);
}
