/* Fuzzes the reader of what `git blame` prints. Law: each line has a commit, and each commit an
 * author that is one, or none. */
#include "law.h"
#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct blame b = {0};
    struct err e = {0};
    if (!blame_read((struct bytes){data, size}, "fuzz", &b, &e))
        expect(e.line[0] != 0, "a failure says why");
    for (size_t i = 0; i < b.lines.len; i++) {
        expect(b.lines.at[i] < b.commits.len, "lines have commits");
        uint32_t author = b.commits.at[b.lines.at[i]].author;
        expect(author == INTERN_NONE || author < b.authors.texts.len, "commits have authors");
    }
    /* "c 1 1\n\t\n" is the least, and the last line may end without its line feed. */
    expect(b.lines.len <= (size + 1) / 8, "lines are vouched for");
    blame_deinit(&b);
    return 0;
}
