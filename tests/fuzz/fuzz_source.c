/* Fuzzes profiles by source position: gcc's AutoFDO, and with FUZZ_LLVM both of LLVM's forms.
 *
 * Laws: what was read, whole or not, is consistent; what is written of it is read back as the same
 * (a second writing has the same bytes), or refused with a reason; a profile added to itself has
 * each count twice, whichever is added to which; it has all of itself in common with itself. */
#include "law.h"
#include "profile/format/source_formats.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes written(const struct writer *w)
{
    return (struct bytes){w->out.at, w->out.len};
}

/* Forms by number: text, binary, versions 1 to 3. The binary one lists names in the order in which
 * they were met, so that only its length is the same. */
static bool write_as(struct writer *w, const struct source_profile *p, size_t form)
{
    struct err e = {0};
    uint64_t left_out = 0;
    bool ok = true;
    if (form == 0)
        ok = llvm_text_write(w, p, &e);
    else if (form == 1)
        llvm_binary_write(w, p);
    else
        ok = afdo_write(w, p, (uint32_t)form - 1, &left_out, &e) && !left_out;
    expect(ok || left_out || e.line[0], "a refusal has a reason");
    return ok;
}

/* Lines that need more than 16 bits are what a format cuts down. */
static bool is_narrow(const struct source_profile *p)
{
    bool ok = true;
    for (size_t i = 0; i < p->positions.len; i++)
        ok &= p->positions.at[i].at.line <= 0xffff;
    for (size_t i = 0; i < p->instances.len; i++)
        ok &= p->instances.at[i].at.line <= 0xffff;
    return ok;
}

static void check_writing(const struct source_profile *p)
{
    enum { FORMS = 5 };
    static const size_t ROWS[FORMS] = {SOURCE_LLVM_TEXT, SOURCE_LLVM_BINARY, SOURCE_AFDO,
                                       SOURCE_AFDO, SOURCE_AFDO};
    for (size_t form = 0; form < FORMS && p->instances.len && is_narrow(p); form++) {
        struct writer once = {0}, twice = {0};
        struct source_profile again = {0};
        struct err e = {0};
        if (write_as(&once, p, form)) {
            bool is_read = source_formats[ROWS[form]].read(written(&once), "again", &again, &e);
            expect(is_read, "what is written is read");
            expect(again.positions.len == p->positions.len, "all positions come back");
            expect(again.targets.len == p->targets.len, "all targets come back");
            bool same = write_as(&twice, &again, form) && twice.out.len == once.out.len &&
                        (form == 1 || !memcmp(once.out.at, twice.out.at, once.out.len));
            expect(same, "what is read back is written as the same");
        }
        source_profile_deinit(&again);
        writer_deinit(&once);
        writer_deinit(&twice);
    }
}

static void check_sums(const struct source_profile *p)
{
    struct source_profile once = {0}, twice = {0};
    struct source_summary one, two;
    struct err e = {0};
    source_profile_add(&once, p);
    source_profile_add(&twice, &once);
    source_profile_add(&twice, p);
    expect(source_profile_check(&twice, &e), "a sum is consistent");
    expect(once.positions.len == p->positions.len && twice.positions.len == p->positions.len,
           "a sum has the same positions");
    source_profile_summarize(p, &one);
    source_profile_summarize(&twice, &two);
    expect(two.total == add_saturating(one.total, one.total) || one.max_count > UINT64_MAX / 4,
           "a profile added to itself has each count twice");
    struct arena scratch = {0};
    struct source_overlap overlap;
    source_profile_overlap(p, p, &overlap, &scratch);
    expect(one.total == 0 || (overlap.common > 0.999 && overlap.common < 1.001),
           "all is in common with itself");
    arena_deinit(&scratch);
    source_profile_deinit(&once);
    source_profile_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    struct source_profile p = {0};
    struct err e = {0};
#ifdef FUZZ_LLVM
    bool is_binary = llvm_binary_probe(in);
    bool ok = is_binary ? llvm_binary_read(in, "fuzz", &p, &e) : llvm_text_read(in, "fuzz", &p, &e);
#else
    bool ok = afdo_read(in, "fuzz", &p, &e);
#endif
    expect(ok || e.line[0], "a failure has a reason");
    struct err broken = {0};
    expect(source_profile_check(&p, &broken), broken.line);
    if (ok) {
        check_writing(&p);
        check_sums(&p);
    }
    source_profile_deinit(&p);
    return 0;
}
