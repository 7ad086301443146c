/* Fuzzes BOLT's fdata.
 *
 * Laws: what is written of what was read is read back, and written again as the same bytes; a file
 * added to itself has the same lines, with each count twice; what is compared of it is consistent.
 */
#include "law.h"
#include "profile/format/source_formats.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes written(const struct writer *w)
{
    return (struct bytes){w->out.at, w->out.len};
}

static void check_writing(const struct fdata *f)
{
    struct writer once = {0}, twice = {0};
    struct fdata again = {0};
    struct err e = {0};
    fdata_write(&once, f);
    expect(fdata_read(written(&once), "again", &again, &e), "what is written is read");
    expect(again.lines.len == f->lines.len, "all lines come back");
    fdata_write(&twice, &again);
    expect(once.out.len == twice.out.len &&
               (!once.out.len || !memcmp(once.out.at, twice.out.at, once.out.len)),
           "what is read back is written as the same");
    expect(fdata_read(written(&twice), "again", &again, &e), "a profile is added to itself");
    expect(again.lines.len == f->lines.len, "a sum has the same lines");
    for (size_t i = 0; i < again.lines.len; i++)
        expect(again.lines.at[i].count == UINT64_MAX || again.lines.at[i].count % 2 == 0,
               "a sum has each count twice");
    fdata_deinit(&again);
    writer_deinit(&once);
    writer_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    struct fdata f = {0};
    struct source_profile p = {0};
    struct err e = {0}, broken = {0};
    fdata_probe(in);
    bool ok = fdata_read(in, "fuzz", &f, &e);
    expect(ok || e.line[0], "a failure has a reason");
    if (ok)
        check_writing(&f);
    expect(fdata_read_positions(in, "fuzz", &p, &e) == ok, "both ways to read it agree");
    expect(source_profile_check(&p, &broken), broken.line);
    fdata_deinit(&f);
    source_profile_deinit(&p);
    return 0;
}
