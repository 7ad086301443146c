/* Fuzzes BOLT's fdata, and with FUZZ_PREAGGREGATED its pre-aggregated profiles.
 *
 * Laws: what is written of what was read is read back, and written again as the same bytes; a file
 * added to itself has the same lines, with each count twice; what is compared of it is consistent.
 */
#include "law.h"
#include "profile/format/source_formats.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_PREAGGREGATED
#define PROFILE        struct preaggregated
#define PROFILE_(verb) preaggregated_##verb
#else
#define PROFILE        struct fdata
#define PROFILE_(verb) fdata_##verb
#endif

static struct bytes written(const struct writer *w)
{
    return (struct bytes){w->out.at, w->out.len};
}

static void check_writing(const PROFILE *f)
{
    struct writer once = {0}, twice = {0};
    PROFILE again = {.lines = {0}};
    struct err e = {0};
    PROFILE_(write)(&once, f);
    expect(PROFILE_(read)(written(&once), "again", &again, &e), "what is written is read");
    expect(again.lines.len == f->lines.len, "all lines come back");
    PROFILE_(write)(&twice, &again);
    expect(once.out.len == twice.out.len &&
               (!once.out.len || !memcmp(once.out.at, twice.out.at, once.out.len)),
           "what is read back is written as the same");
    expect(PROFILE_(read)(written(&twice), "again", &again, &e), "a profile is added to itself");
    expect(again.lines.len == f->lines.len, "a sum has the same lines");
    for (size_t i = 0; i < again.lines.len; i++)
        expect(again.lines.at[i].count == UINT64_MAX || again.lines.at[i].count % 2 == 0,
               "a sum has each count twice");
    PROFILE_(deinit)(&again);
    writer_deinit(&once);
    writer_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    PROFILE f = {.lines = {0}};
    struct source_profile p = {0};
    struct err e = {0}, broken = {0};
    PROFILE_(probe)(in);
    bool ok = PROFILE_(read)(in, "fuzz", &f, &e);
    expect(ok || e.line[0], "a failure has a reason");
    if (ok)
        check_writing(&f);
    expect(PROFILE_(read_positions)(in, "fuzz", &p, &e) == ok, "both ways to read it agree");
    expect(source_profile_check(&p, &broken), broken.line);
    PROFILE_(deinit)(&f);
    source_profile_deinit(&p);
    return 0;
}
