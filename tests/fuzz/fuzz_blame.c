/* Fuzzes the reader of what `git blame` prints. Laws: each line has a commit, and each commit an
 * author that is one, or none; a file that is what the commit has keeps each line's commit. */
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
    VEC(uint32_t) before = {0};
    VEC(uint8_t) text = {0};
    for (size_t i = 0; i < b.lines.len; i++) {
        vec_push(&before, b.lines.at[i]);
        for (size_t k = 0; k < b.texts.at[i].len; k++)
            vec_push(&text, b.texts.at[i].at[k]);
        vec_push(&text, '\r'); /* one is no part of a line's text */
        vec_push(&text, '\n');
    }
    blame_match(&b, (struct bytes){text.at, text.len});
    expect(b.lines.len == before.len, "lines are those of the file");
    for (size_t i = 0; i < before.len; i++)
        expect(b.lines.at[i] == before.at[i], "the same line has the same commit");
    vec_free(&before);
    vec_free(&text);
    blame_deinit(&b);
    return 0;
}
